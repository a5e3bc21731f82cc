/* embedded -- the files the build put into the binary, ended by one without a name. */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

#include <stddef.h>

struct embedded {
    const char *path;               /* as in the tree: "formulas/lecture/batch.chalk" */
    const char *data;
    size_t size;
};

extern const struct embedded embedded_formulas[], embedded_data[];
extern const struct embedded embedded_page[];       /* none where it was built without its page */

#endif
