/* The block pool without short cuts: blocks never taken first, then a queue in the order of release. */
#include "sim/cache/blocks.h"

#include <assert.h>
#include <string.h>

struct cache_block {
    uint64_t name;                  /* hash of its tokens and those before them, if `named` */
    uint32_t next, before;          /* in the queue of free blocks */
    uint32_t chain;                 /* the next block of the same slot of the hash */
    uint32_t users;                 /* requests that hold it; 0: it is free */
    bool named;
};

/* Memory is allocated for a block when it is first taken. Blocks that were never taken have no names
 * and come first in the queue of free blocks. */
struct blocks {
    struct arena *arena;
    struct cache_block *all;
    uint32_t *slots, first, last;   /* hash by name; ends of the queue of free blocks */
    size_t free, slot_count;
    size_t made, room, count;       /* blocks taken once; room for them; blocks in all */
};

static void queue_add(struct blocks *blocks, uint32_t at)
{
    struct cache_block *block = &blocks->all[at];
    block->next = BLOCKS_NONE;
    block->before = blocks->last;
    *(blocks->last == BLOCKS_NONE ? &blocks->first : &blocks->all[blocks->last].next) = at;
    blocks->last = at;
    blocks->free++;
}

static void queue_remove(struct blocks *blocks, uint32_t at)
{
    const struct cache_block *block = &blocks->all[at];
    *(block->before == BLOCKS_NONE ? &blocks->first : &blocks->all[block->before].next) = block->next;
    *(block->next == BLOCKS_NONE ? &blocks->last : &blocks->all[block->next].before) = block->before;
    blocks->free--;
}

static uint32_t *slot_of(const struct blocks *blocks, uint64_t name)
{
    uint64_t mixed = name * 0x9e3779b97f4a7c15u;
    return &blocks->slots[(mixed ^ mixed >> 32) & (blocks->slot_count - 1)];
}

static void put_first(struct blocks *blocks, uint32_t at)
{
    uint32_t *slot = slot_of(blocks, blocks->all[at].name);
    blocks->all[at].chain = *slot;
    *slot = at;
}

/* The same chain, the last one first. */
static uint32_t turned(struct cache_block *all, uint32_t at)
{
    uint32_t before = BLOCKS_NONE;
    for (uint32_t next; at != BLOCKS_NONE; at = next) {
        next = all[at].chain;
        all[at].chain = before;
        before = at;
    }
    return before;
}

/* Blocks of one name stay in their order, so that the same one is found, whenever this is. */
static void make_slots(struct blocks *blocks)
{
    const uint32_t *old = blocks->slots;
    const size_t old_count = blocks->slot_count;
    blocks->slot_count = 2 * blocks->room;
    blocks->slots = arena_array(blocks->arena, blocks->slot_count, sizeof *blocks->slots);
    memset(blocks->slots, 0xff, blocks->slot_count * sizeof *blocks->slots);    /* BLOCKS_NONE */
    for (size_t i = 0; i < old_count; i++)
        for (uint32_t at = turned(blocks->all, old[i]), next; at != BLOCKS_NONE; at = next) {
            next = blocks->all[at].chain;
            put_first(blocks, at);
        }
}

static void make_room(struct blocks *blocks)
{
    enum { FIRST = 64 };
    size_t room = blocks->room ? 2 * blocks->room : FIRST;
    struct cache_block *all = arena_array(blocks->arena, room, sizeof *all);
    if (blocks->all)
        memcpy(all, blocks->all, blocks->made * sizeof *all);
    blocks->all = all;
    blocks->room = room;
    make_slots(blocks);
}

struct blocks *blocks_open(struct arena *arena, size_t count)
{
    struct blocks *blocks = arena_alloc(arena, sizeof *blocks);
    *blocks = (struct blocks){ .arena = arena, .first = BLOCKS_NONE, .last = BLOCKS_NONE,
                               .count = count, .made = 1,       /* block 0 is never given out */
                               .free = count - 1 };
    make_room(blocks);
    return blocks;
}

size_t blocks_free(const struct blocks *blocks)
{
    return blocks->free;
}

static void forget(struct blocks *blocks, uint32_t at)
{
    if (!blocks->all[at].named)
        return;
    uint32_t *from = slot_of(blocks, blocks->all[at].name);
    while (*from != at)
        from = &blocks->all[*from].chain;
    *from = blocks->all[at].chain;
    blocks->all[at].named = false;
}

bool blocks_take_alike(struct blocks *blocks, size_t count)
{
    return (void)blocks, (void)count, false;
}

bool blocks_release_alike(struct blocks *blocks, size_t count)
{
    return (void)blocks, (void)count, false;
}

size_t blocks_number(struct blocks *blocks)
{
    return (void)blocks, 0;
}

uint32_t blocks_take(struct blocks *blocks)
{
    uint32_t at = blocks->first;
    if (blocks->made < blocks->count) {
        at = (uint32_t)blocks->made;
        if (blocks->made == blocks->room)
            make_room(blocks);
        blocks->made++;
        blocks->free--;
    } else {
        assert(at != BLOCKS_NONE);
        queue_remove(blocks, at);
        forget(blocks, at);
    }
    blocks->all[at].users = 1;
    return at;
}

bool blocks_next_name(const struct blocks *blocks, uint64_t *name)
{
    if (blocks->made < blocks->count || blocks->first == BLOCKS_NONE ||
        !blocks->all[blocks->first].named)
        return false;
    *name = blocks->all[blocks->first].name;
    return true;
}

size_t blocks_nameless(const struct blocks *blocks)
{
    size_t count = blocks->count - blocks->made;
    uint32_t at = count ? BLOCKS_NONE : blocks->first;
    for (; at != BLOCKS_NONE && !blocks->all[at].named; at = blocks->all[at].next)
        count++;
    return count;
}

void blocks_name(struct blocks *blocks, uint32_t at, uint64_t name)
{
    if (blocks->all[at].named)
        return;
    blocks->all[at].name = name;
    blocks->all[at].named = true;
    put_first(blocks, at);
}

uint32_t blocks_find(const struct blocks *blocks, uint64_t name)
{
    uint32_t at = *slot_of(blocks, name);
    while (at != BLOCKS_NONE && blocks->all[at].name != name)
        at = blocks->all[at].chain;
    return at;
}

bool blocks_idle(const struct blocks *blocks, uint32_t at)
{
    return !blocks->all[at].users;
}

void blocks_share(struct blocks *blocks, uint32_t at)
{
    if (!blocks->all[at].users++)
        queue_remove(blocks, at);
}

void blocks_release(struct blocks *blocks, uint32_t at)
{
    if (!--blocks->all[at].users)
        queue_add(blocks, at);
}

void blocks_forget(struct blocks *blocks)
{
    for (uint32_t at = blocks->first; at != BLOCKS_NONE; at = blocks->all[at].next)
        forget(blocks, at);
}
