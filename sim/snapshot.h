/* snapshot -- the load of replicas as a router last saw it, for one that does not see every queue at every moment.
 *
 * The router looks at all replicas when a request arrives and its last look is `refresh` old. Until it looks again it
 * adds to each load what it sends there itself; steps that end in between it does not see. A refresh of 0 would be the
 * router that knows every queue. Loads stay as they are until they are set, so that the least is kept in a tree of minima;
 * ties go to the first replica. tests/plain/snapshot.c has no tree. */
#ifndef SIM_SNAPSHOT_H
#define SIM_SNAPSHOT_H

#include "base/base.h"

struct snapshot {
    double due;                     /* when the next look is due, s */
    size_t count, leaves;           /* replicas; room for them, a power of two */
    uint64_t *least;                /* [2 * leaves] of the replicas below each place; UINT64_MAX: none is up */
};

void snapshot_open(struct snapshot *snapshot, struct arena *arena, size_t count);
void snapshot_set(struct snapshot *snapshot, size_t i, uint64_t load);
/* The first of the replicas with the least load; `count`: none is up. */
size_t snapshot_least(const struct snapshot *snapshot);

static inline uint64_t snapshot_load(const struct snapshot *snapshot, size_t i)
{
    return snapshot->least[snapshot->leaves + i];
}

#endif
