/* front -- private to search/: points that no other beats, as they come.
 *
 * Two sieves keep most of the beaten ones out at once: the best point of each narrow step
 * of speed, and the best of all steps further on. What is left is sorted at the end. */
#ifndef SEARCH_FRONT_H
#define SEARCH_FRONT_H

#include "search/search.h"

enum { FRONT_STEPS = 64 << 6 };      /* 64 powers of two, 64 steps each */

struct front {
    double *beyond;                 /* [FRONT_STEPS + 2] the highest throughput of this step and later */
    int low;                        /* the lowest step of any point, where `beyond` begins */
    struct search_point *best;      /* [FRONT_STEPS] of each step, where seen */
    bool *seen;
    struct search_point *points;
    size_t count, room;
};

void front_open(struct front *front, struct arena *arena);
void front_clear(struct front *front);          /* as opened, in the memory that it has */
void front_offer(struct front *front, struct arena *arena, const struct search_point *point);
/* Only those that nothing beats, rising speed. */
void front_close(struct front *front);

#endif
