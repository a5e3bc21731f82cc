/* radix -- a cache as a tree of prefixes, shared by requests that begin alike.
 *
 *     root -- names 1 2 3 --+-- the rest of request 7's prompt -- what it was answered
 *                           +-- names 4 5 -- ...
 *
 * Counted in units of so many tokens. Two requests have a unit in common when they have all
 * before it and the trace says so: it lies in a prefix block of the same name, or in the turn
 * before of a session. A request that runs locks the path to where its own part begins. What
 * nobody locks stays until its room is needed; then units go one by one, each time the last one
 * of the leaf that was locked longest ago. */
#ifndef SIM_CACHE_RADIX_H
#define SIM_CACHE_RADIX_H

#include "sim/traffic/trace.h"

struct radix;
enum { RADIX_ROOT = 0 };

/* Lives, and grows, in the arena; reads the trace. */
struct radix *radix_open(struct arena *arena, const struct trace *trace, size_t unit);
size_t radix_used(const struct radix *radix);       /* units that are locked */
size_t radix_idle(const struct radix *radix);       /* and those that are not */

/* Of a request's first `most` units the run that is there, and how many of it nobody locks. */
struct radix_hit {
    size_t units, idle;
};
struct radix_hit radix_find(const struct radix *radix, uint32_t id, size_t most);
/* From a node that the request has locked, or the root, its units up to `until` are locked, after
 * those that lack are put in. The node where they end. */
uint32_t radix_lock(struct radix *radix, uint32_t id, uint32_t node, size_t until);
void radix_unlock(struct radix *radix, uint32_t node);
size_t radix_end(const struct radix *radix, uint32_t node);     /* units from the root to its end */
void radix_evict(struct radix *radix, size_t units);            /* of those that are idle */
void radix_clear(struct radix *radix);

/* Whether two requests have so many units in common. */
bool radix_same(const struct radix *radix, uint32_t a, uint32_t b, size_t units);

#endif
