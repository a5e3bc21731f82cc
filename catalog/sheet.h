/* sheet -- a built in sheet of facts by name: data/priors.csv, data/caching.csv.
 *
 *     name,fact,value,unit,source,date,mark,note */
#ifndef CATALOG_SHEET_H
#define CATALOG_SHEET_H

#include "base/base.h"

struct sheet {
    struct csv csv;
    int name, fact, value, unit, mark;
};

/* A file of data/ that is built in as it is: workloads, and the price list, which is read as any
 * of its kind; data NULL: none of that path. */
struct text text_built_in(const char *path);
/* A table of data/ by its path, read when the program is built; there is one. */
const struct csv *csv_built_in(const char *path);
void sheet_open(const char *path, struct sheet *sheet);
/* NULL: not there. */
const char *sheet_text(const struct sheet *sheet, const char *name, const char *fact);
/* "memory", "assumed"; "" for none, or where there is no such fact. */
const char *sheet_mark(const struct sheet *sheet, const char *name, const char *fact);
/* In base units; NAN: not there. */
double sheet_number(const struct sheet *sheet, const char *name, const char *fact);

#endif
