/* radix -- a cache as a tree of prefixes, shared by requests with a common prefix.
 *
 *     root -- names 1 2 3 --+-- the rest of request 7's prompt -- its output
 *                           +-- names 4 5 -- ...
 *
 * Counted in units of a fixed number of tokens. Two requests have a unit in common when they have
 * everything before it in common and the trace says so: it is in a prefix block of the same name, or in the
 * previous turn of the session. A running request locks the path to where its own part begins. Unlocked
 * units stay until their room is needed; then they are evicted one by one, each time the last unit of the
 * least recently locked leaf. */
#ifndef SIM_CACHE_RADIX_H
#define SIM_CACHE_RADIX_H

#include "sim/traffic/trace.h"

struct radix;
enum { RADIX_ROOT = 0 };

/* Lives, and grows, in the arena; reads the trace. */
struct radix *radix_open(struct arena *arena, const struct trace *trace, size_t unit);
size_t radix_used(const struct radix *radix);       /* units that are locked */
size_t radix_idle(const struct radix *radix);       /* and those that are not */

/* How many of a request's first `most` units are cached without a gap, and how many of these are unlocked. */
struct radix_hit {
    size_t units, idle;
};
struct radix_hit radix_find(const struct radix *radix, uint32_t id, size_t most);
/* Insert the missing units of a request up to `until`, and lock all of them from `node` on, which is the root
 * or a node that the request has locked. Returns the node where they end. */
uint32_t radix_lock(struct radix *radix, uint32_t id, uint32_t node, size_t until);
void radix_unlock(struct radix *radix, uint32_t node);
size_t radix_end(const struct radix *radix, uint32_t node);     /* units from the root to its end */
void radix_evict(struct radix *radix, size_t units);            /* the least recently locked first */
void radix_clear(struct radix *radix);

/* Whether two requests have their first `units` units in common. */
bool radix_same(const struct radix *radix, uint32_t a, uint32_t b, size_t units);

#endif
