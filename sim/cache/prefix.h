/* prefix -- what a cache of prefix blocks would have had of a trace: the least recent leave. */
#ifndef SIM_CACHE_PREFIX_H
#define SIM_CACHE_PREFIX_H

#include "sim/traffic/trace.h"

/* Prompt tokens that a cache of so many blocks would have had, of all, requests in order; the
 * first block of a request is its most recent. capacity 0: without end. A trace that names no
 * blocks: 0. */
double trace_hit_ratio(struct arena *arena, const struct trace *trace, size_t capacity);

#endif
