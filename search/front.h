/* front -- private to search/: collects the points of the Pareto front from points in any order.
 *
 * Most dominated points are rejected when they are offered, by comparing them with the best point of
 * their narrow step of speed and with the best throughput of all faster steps. The rest are sorted and
 * filtered at the end. */
#ifndef SEARCH_FRONT_H
#define SEARCH_FRONT_H

#include "search/search.h"

enum { FRONT_STEPS = 64 << 6 };      /* 64 powers of two, 64 steps each */

struct front {
    double *beyond;                 /* [FRONT_STEPS + 2] the highest throughput of this step and later */
    int low;                        /* the lowest step of any point, where `beyond` begins */
    struct search_point *best;      /* [FRONT_STEPS] the best point of each step, if seen[step] */
    bool *seen;
    struct search_point *points;
    size_t count, room;
};

void front_open(struct front *front, struct arena *arena);
void front_offer(struct front *front, struct arena *arena, const struct search_point *point);
/* Reduce front->points to the Pareto front, in order of rising speed. */
void front_close(struct front *front);

/* Of equal points the earlier one stays: by space, then setting, then load. */
bool point_earlier(const struct search_point *a, const struct search_point *b);

#endif
