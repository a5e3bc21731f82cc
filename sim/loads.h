/* loads -- an index of replicas by load, for routers that send a request to the least loaded one.
 *
 * The load of least-tokens falls by itself while a replica fast-forwards (struct course), so that minima go stale. From any
 * moment on it stays above a line, until the replica is called again. The least of several lines is concave, hence above
 * its chord: a tree keeps, for the replicas below each place, the least of their lines at two times, and the chord between
 * those is a lower limit for all of them. Only replicas whose own limit could win are asked. A load that stays, as that of
 * least-pending, is a level line. Ties go to the first replica.
 *
 * tests/plain/loads.c has no index: the router asks every replica. */
#ifndef SIM_LOADS_H
#define SIM_LOADS_H

#include "sim/replica.h"

struct loads_line {
    double at[2];                   /* a lower limit of the load at the two times; INFINITY: it takes nothing */
};

struct loads_level {
    double load, until;             /* what it is until a later moment than that */
};

struct loads {
    struct replica *const *replicas;    /* of the pool */
    size_t count, leaves;               /* replicas; room for them, a power of two; 0: there is no index */
    bool tokens;                        /* the load is tokens to process, else requests that wait */
    struct loads_line *tree;            /* [2 * leaves] tree[leaves + i] is of replica i, tree[i] of those below it */
    struct course *courses;             /* [count] of those that are up, for tokens */
    struct loads_level *levels;         /* [count] */
    double from, until;                 /* the two times, s */
    uint32_t *touched;                  /* replicas whose lines are out of date */
    bool *is_touched, *up;              /* [count] */
    size_t touched_count, asked;        /* asked: how often, since the two times were set */
};

/* An index, if it pays: few replicas are asked one by one, and so are those that do not know their course. */
void loads_open(struct loads *loads, struct arena *arena, struct replica *const *replicas, size_t count, enum router router);
/* A replica of the pool may have changed; is it up? */
void loads_touch(struct loads *loads, size_t i, bool up);
/* The least loaded replica that is up; NULL: none is. There must be an index. */
struct replica *loads_least(struct loads *loads, double now);

/* Is there an index? */
static inline bool loads_known(const struct loads *loads)
{
    return loads->leaves > 0;
}

#endif
