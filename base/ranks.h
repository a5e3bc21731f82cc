/* ranks -- the processes that answer one question together: mpirun's, or this one alone.
 *
 * What begins with `ranks_` is called by all of them, in the same order. Only the program that
 * is built with MPI=1 knows of others; there a single process never starts MPI. */
#ifndef BASE_RANKS_H
#define BASE_RANKS_H

#include "base/base.h"

struct ranks {
    int rank, count;                /* 0 of 1: alone */
};

void ranks_open(struct ranks *ranks);
void ranks_close(const struct ranks *ranks);
/* This one cannot go on: all end. */
void ranks_abort(const struct ranks *ranks, int status);

/* The error of the lowest rank that has one becomes everybody's. */
bool ranks_agree(const struct ranks *ranks, bool good, struct error *error);
/* Has everybody the same number? */
bool ranks_same(const struct ranks *ranks, uint64_t number);
/* Each flag that is set somewhere is set everywhere. */
void ranks_either(const struct ranks *ranks, bool *flags, size_t count);
/* Everybody's bytes, one rank after the other: [count] for rank 0; NULL for the others. */
struct text *ranks_gather(const struct ranks *ranks, struct arena *arena, struct text mine);

#endif
