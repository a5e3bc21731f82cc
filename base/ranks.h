/* ranks -- the processes that answer one question together: mpirun's, or this one alone.
 *
 *     question -> items of work -> those of this rank -> ranks_share -> answer
 *                 (numbered)       (ranks_mine)          everybody's
 *
 * Each rank is asked the same question and comes to the same answer, which the first one prints. Work that
 * takes long is cut into items that do not depend on each other; which rank does an item must not
 * change the answer. All ranks call the last four functions in the same order. Where `ranks` is
 * NULL, this process is alone. Only the program that is built with MPI=1 knows of others; there a
 * single process never starts MPI. */
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

static inline bool ranks_alone(const struct ranks *ranks)
{
    return !ranks || ranks->count == 1;
}

/* The rank that does an item: steps of the golden ratio, the most even of all for any number of ranks, which
 * coincide with no period of the items. */
static inline int ranks_of(const struct ranks *ranks, size_t item)
{
    const uint32_t golden = 0x9E3779B9;
    return ranks_alone(ranks) ? 0 : (int)(((uint64_t)((uint32_t)item * golden) * (uint64_t)ranks->count) >> 32);
}

static inline bool ranks_mine(const struct ranks *ranks, size_t item)
{
    return ranks_alone(ranks) || ranks_of(ranks, item) == ranks->rank;
}

/* The error of the lowest rank that has one becomes everybody's, with the rank's number unless all have one. */
bool ranks_agree(const struct ranks *ranks, bool good, struct error *error);
/* Were all asked the same? Their files may differ, where each reads those of its own machine. `question` is a hash of
 * all that the work reads. */
bool ranks_same(const struct ranks *ranks, struct arena *arena, uint64_t question, struct error *error);
/* An array of `count` items of `size` bytes, without pointers: each rank has filled its own, and receives the others'. */
void ranks_share(const struct ranks *ranks, struct arena *arena, void *items, size_t count, size_t size);
/* Everybody's bytes, one rank after the other: [count]. */
struct text *ranks_gather(const struct ranks *ranks, struct arena *arena, struct text mine);

#endif
