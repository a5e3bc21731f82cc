/* prefix -- which blocks of prefixes are in a cache: a set of names, the least recent leaves. */
#ifndef SIM_PREFIX_H
#define SIM_PREFIX_H

#include "sim/trace.h"

struct prefix_cache;

/* Room for `capacity` blocks; 0: without end, as many as `most`. */
struct prefix_cache *prefix_open(struct arena *arena, size_t capacity, size_t most);
/* How many of the names, from the first on, are there. */
size_t prefix_run(const struct prefix_cache *cache, const uint64_t *names, size_t count);
/* They are there now, the first of them the most recent; what is too much leaves. */
void prefix_touch(struct prefix_cache *cache, const uint64_t *names, size_t count);

/* Prompt tokens that a cache of so many blocks would have had, of all, requests in order. */
double trace_hit_ratio(struct arena *arena, const struct trace *trace, size_t capacity);

#endif
