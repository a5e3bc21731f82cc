/* prefix -- hit rate of a trace in a cache of prefix blocks with LRU eviction. */
#ifndef SIM_CACHE_PREFIX_H
#define SIM_CACHE_PREFIX_H

#include "sim/traffic/trace.h"

/* Share of all prompt tokens that a cache of `capacity` blocks would hit, with requests in order; the first
 * block of a request counts as its most recent. capacity 0: unlimited. 0 for a trace without prefix
 * blocks. */
double trace_hit_ratio(struct arena *arena, const struct trace *trace, size_t capacity);

#endif
