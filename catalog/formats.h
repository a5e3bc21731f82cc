/* formats -- number formats of weights and caches, as data/formats.csv has them. */
#ifndef CATALOG_FORMATS_H
#define CATALOG_FORMATS_H

#include "base/base.h"

#define FORMATS_FILE "data/formats.csv"

struct format {
    const char *name;           /* "fp8-block" */
    double bytes;               /* of one weight, scales included */
    double matrix;              /* bytes of each matrix beside its weights: code books */
    double block;               /* rows and columns of weights that share one scale; 1: no blocks */
    /* rows: the rate it computes at ("peak_fp8"), and what servers and training runs reach of it */
    const char *peak, *reached, *launch, *trained;
};

struct formats {
    size_t count;
    const struct format *format;
};

/* data/formats.csv, read when the program is built. */
const struct formats *formats_built_in(void);

bool formats_read(struct arena *arena, const struct csv *csv, struct formats *formats,
                  struct error *error);
/* The place of a format in the sheet, from 1; 0: it is not of it. */
double formats_place(const struct formats *formats, const struct format *format);
/* NULL: no such format. Names compare as in name_same. */
const struct format *formats_find(const struct formats *formats, const char *name);
/* The same, but an unknown name is an error; `what` says where the name was read. */
bool formats_need(const struct formats *formats, const char *name, const char *what,
                  const struct format **format, struct error *error);
/* The format that a producer's word stands for, by data/format_words.csv: "fp8" for "fp8_e4m3"; "": the word does not
 * give a format by itself; NULL: not known. */
const char *format_word(const char *word);
/* The formats of a KV cache: one name for both, or two as in "q8_0/f16", keys first (-ctk and -ctv of llama.cpp). */
bool formats_cache(const struct formats *formats, const char *name, const char *what, const struct format *cache[2],
                   struct error *error);
/* ExLlama's bits of a weight, and of a weight of the head: "4.25bpw-h6", "4bpw", "exl" (defaults). False: not such a name. */
bool format_bits(const char *name, double *bits, double *head);
/* One side of a cache's formats, as in "q8_0/f16", in `part`: 0 keys, 1 values. */
const char *format_side(const char *name, int side, char part[64]);

#endif
