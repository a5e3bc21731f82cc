/* flags -- the flags of each engine, read from data/flags.csv.
 *
 *     engine,name,form,takes,value,when,role,default,source,date,note,moves,vary
 *
 * A row is a flag, or with the form `about` a fact of the engine, such as its version. `launch` writes commands by
 * form, takes, value, when, role and default; `watch` changes the row that a flag moves, in the way that `vary` names;
 * `calibrate --next` asks the row `bench` for the load generator. data/README.md explains the columns. */
#ifndef CATALOG_FLAGS_H
#define CATALOG_FLAGS_H

#include "base/base.h"

struct flag {                       /* its cells live as long as the program; "": empty */
    const char *name, *form, *takes, *value, *when, *role, *standard, *source, *date, *note, *moves, *vary;
};

/* The cells of a row of data/flags.csv, or of data/targets.csv, which has no columns `moves` and `vary`. */
struct flag flag_at(const struct csv *csv, size_t row);
/* Take the first row of `engine` from `*row` on, and leave the row after it in `*row`; false: there is none. */
bool flag_next(const char *engine, size_t *row, struct flag *flag);
/* The first row of `engine` with this name; false: there is none. */
bool flag_find(const char *engine, const char *name, struct flag *flag);

#endif
