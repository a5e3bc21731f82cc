/* Sessions by name or number: open addressing, doubled at half full. */
#include "sim/traffic/trace_read.h"

#include <string.h>

struct trace_turn {
    uint64_t key;                   /* the number, or a hash of the name */
    const char *name;
    uint32_t row;
    bool used;
};

/* FNV-1a, then the finish of SplitMix64. */
static uint64_t key_of(uint64_t number, const char *name)
{
    uint64_t x = name ? 0xcbf29ce484222325u : number;
    for (; name && *name; name++)
        x = (x ^ (unsigned char)*name) * 0x100000001b3u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Its slot, or the empty one where it would go. */
static struct trace_turn *slot_of(const struct trace_turns *turns, uint64_t key, const char *name)
{
    size_t at = key & (turns->room - 1);
    for (;; at = (at + 1) & (turns->room - 1)) {
        struct trace_turn *slot = &turns->slots[at];
        if (!slot->used || (slot->key == key && (!name || !strcmp(slot->name, name))))
            return slot;
    }
}

static void grow(struct arena *arena, struct trace_turns *turns)
{
    enum { FIRST_ROOM = 64 };
    const struct trace_turns old = *turns;
    turns->room = old.room ? 2 * old.room : FIRST_ROOM;
    turns->slots = arena_array(arena, turns->room, sizeof *turns->slots);
    for (size_t i = 0; i < old.room; i++)
        if (old.slots[i].used)
            *slot_of(turns, old.slots[i].key, old.slots[i].name) = old.slots[i];
}

uint32_t trace_turns_find(const struct trace_turns *turns, uint64_t number, const char *name)
{
    const struct trace_turn *slot = turns->room ? slot_of(turns, key_of(number, name), name) : NULL;
    return slot && slot->used ? slot->row : UINT32_MAX;
}

uint32_t trace_turns_put(struct arena *arena, struct trace_turns *turns, uint64_t number,
                         const char *name, uint32_t row)
{
    if (2 * turns->count >= turns->room)
        grow(arena, turns);
    uint64_t key = key_of(number, name);
    struct trace_turn *slot = slot_of(turns, key, name);
    uint32_t before = slot->used ? slot->row : UINT32_MAX;
    turns->count += !slot->used;
    *slot = (struct trace_turn){ key, name, row, true };
    return before;
}
