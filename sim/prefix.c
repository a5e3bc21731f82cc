#include "sim/prefix.h"

#include <math.h>

enum { NONE = UINT32_MAX };

struct entry {
    uint64_t name;
    uint32_t newer, older, chain;           /* chain: the next of the same slot */
};

struct prefix_cache {
    struct entry *entries;
    uint32_t *slots, newest, oldest, unused, used;
    size_t slot_count, capacity;
};

struct prefix_cache *prefix_open(struct arena *arena, size_t capacity, size_t most)
{
    struct prefix_cache *cache = arena_alloc(arena, sizeof *cache);
    size_t room = capacity && capacity < most ? capacity : most, slots = 1;
    while (slots < 2 * room + 2)
        slots *= 2;
    *cache = (struct prefix_cache){ .entries = arena_array(arena, room + 2, sizeof *cache->entries),
                                    .slots = arena_array(arena, slots, sizeof *cache->slots),
                                    .newest = NONE, .oldest = NONE, .unused = NONE,
                                    .slot_count = slots, .capacity = room };
    for (size_t i = 0; i < slots; i++)
        cache->slots[i] = NONE;
    return cache;
}

static uint32_t *slot_of(const struct prefix_cache *cache, uint64_t name)
{
    uint64_t mixed = name * 0x9e3779b97f4a7c15u;
    return &cache->slots[(mixed ^ mixed >> 32) & (cache->slot_count - 1)];
}

static uint32_t find(const struct prefix_cache *cache, uint64_t name)
{
    uint32_t at = *slot_of(cache, name);
    while (at != NONE && cache->entries[at].name != name)
        at = cache->entries[at].chain;
    return at;
}

static void unlink_entry(struct prefix_cache *cache, uint32_t at)
{
    struct entry *entries = cache->entries, *entry = &entries[at];
    *(entry->newer == NONE ? &cache->newest : &entries[entry->newer].older) = entry->older;
    *(entry->older == NONE ? &cache->oldest : &entries[entry->older].newer) = entry->newer;
}

static void link_newest(struct prefix_cache *cache, uint32_t at)
{
    cache->entries[at].newer = NONE;
    cache->entries[at].older = cache->newest;
    *(cache->newest == NONE ? &cache->oldest : &cache->entries[cache->newest].newer) = at;
    cache->newest = at;
}

static void drop_oldest(struct prefix_cache *cache)
{
    uint32_t at = cache->oldest, *from = slot_of(cache, cache->entries[at].name);
    while (*from != at)
        from = &cache->entries[*from].chain;
    *from = cache->entries[at].chain;
    unlink_entry(cache, at);
    cache->entries[at].chain = cache->unused;
    cache->unused = at;
}

static void touch(struct prefix_cache *cache, uint64_t name)
{
    uint32_t at = find(cache, name);
    if (at != NONE) {
        unlink_entry(cache, at);
    } else {
        if (cache->unused == NONE && cache->used == cache->capacity)
            drop_oldest(cache);
        if (cache->unused != NONE) {
            at = cache->unused;
            cache->unused = cache->entries[at].chain;
        } else {
            at = cache->used++;
        }
        uint32_t *slot = slot_of(cache, name);
        cache->entries[at].name = name;
        cache->entries[at].chain = *slot;
        *slot = at;
    }
    link_newest(cache, at);
}

size_t prefix_run(const struct prefix_cache *cache, const uint64_t *names, size_t count)
{
    size_t run = 0;
    while (run < count && find(cache, names[run]) != NONE)
        run++;
    return run;
}

void prefix_touch(struct prefix_cache *cache, const uint64_t *names, size_t count)
{
    while (count)
        touch(cache, names[--count]);
}

double trace_hit_ratio(struct arena *arena, const struct trace *trace, size_t capacity)
{
    if (!trace->block)
        return 0;
    struct prefix_cache *cache = prefix_open(arena, capacity, trace->first[trace->count]);
    double hits = 0, all = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const uint64_t *names = &trace->blocks[trace->first[i]];
        size_t count = trace->first[i + 1] - trace->first[i];
        double held = (double)(prefix_run(cache, names, count) * trace->block);
        hits += fmin(held, trace->prompt[i]);
        all += trace->prompt[i];
        prefix_touch(cache, names, count);
    }
    return hits / all;
}
