#include "sim/blocks.h"

#include <assert.h>

struct block {
    uint64_t name;
    uint32_t next, before;          /* in the queue of those that nobody uses */
    uint32_t chain;                 /* the next of the same slot */
    uint32_t users;
    bool named;
};

struct blocks {
    struct block *all;
    uint32_t *slots, first, last;
    size_t free, slot_count;
};

static void queue_add(struct blocks *blocks, uint32_t at)
{
    struct block *block = &blocks->all[at];
    block->next = BLOCKS_NONE;
    block->before = blocks->last;
    *(blocks->last == BLOCKS_NONE ? &blocks->first : &blocks->all[blocks->last].next) = at;
    blocks->last = at;
    blocks->free++;
}

static void queue_remove(struct blocks *blocks, uint32_t at)
{
    const struct block *block = &blocks->all[at];
    *(block->before == BLOCKS_NONE ? &blocks->first : &blocks->all[block->before].next) = block->next;
    *(block->next == BLOCKS_NONE ? &blocks->last : &blocks->all[block->next].before) = block->before;
    blocks->free--;
}

struct blocks *blocks_open(struct arena *arena, size_t count)
{
    struct blocks *blocks = arena_alloc(arena, sizeof *blocks);
    size_t slots = 1;
    while (slots < 2 * count)
        slots *= 2;
    *blocks = (struct blocks){ .all = arena_array(arena, count + 1, sizeof *blocks->all),
                               .slots = arena_array(arena, slots, sizeof *blocks->slots),
                               .first = BLOCKS_NONE, .last = BLOCKS_NONE, .slot_count = slots };
    for (size_t i = 0; i < slots; i++)
        blocks->slots[i] = BLOCKS_NONE;
    for (size_t i = 1; i < count; i++)              /* block 0 is never given out */
        queue_add(blocks, (uint32_t)i);
    return blocks;
}

size_t blocks_free(const struct blocks *blocks)
{
    return blocks->free;
}

static uint32_t *slot_of(const struct blocks *blocks, uint64_t name)
{
    uint64_t mixed = name * 0x9e3779b97f4a7c15u;
    return &blocks->slots[(mixed ^ mixed >> 32) & (blocks->slot_count - 1)];
}

static void forget(struct blocks *blocks, uint32_t at)
{
    uint32_t *from = slot_of(blocks, blocks->all[at].name);
    if (!blocks->all[at].named)
        return;
    while (*from != at)
        from = &blocks->all[*from].chain;
    *from = blocks->all[at].chain;
    blocks->all[at].named = false;
}

uint32_t blocks_take(struct blocks *blocks)
{
    uint32_t at = blocks->first;
    assert(at != BLOCKS_NONE);
    queue_remove(blocks, at);
    forget(blocks, at);
    blocks->all[at].users = 1;
    return at;
}

void blocks_name(struct blocks *blocks, uint32_t at, uint64_t name)
{
    uint32_t *slot = slot_of(blocks, name);
    if (blocks->all[at].named)
        return;
    blocks->all[at].name = name;
    blocks->all[at].named = true;
    blocks->all[at].chain = *slot;
    *slot = at;
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
