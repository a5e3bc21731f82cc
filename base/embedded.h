/* embedded -- the files the build put into the binary, ended by one without a name. */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

#include <stddef.h>

struct embedded {
    const char *path;               /* as in the tree: "data/hardware.csv" */
    const char *data;
    size_t size;
};

/* Sheets and workloads, and the templates of answers: "ask/step.template". */
extern const struct embedded embedded_data[];
/* The one file formulas/synonyms.txt. */
extern const struct embedded embedded_words[];
/* In the page only, formulas and tables in rows/packed.h's form; the program has them as C. */
extern const char *const embedded_parts[];
extern const struct embedded embedded_page[];       /* none where it was built without its page */

#endif
