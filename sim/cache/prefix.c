#include "sim/cache/prefix.h"

#include "sim/cache/blocks.h"

#include <math.h>

/* Nobody uses a block for longer than it takes to touch it: then it is the most recent. */
static void touch(struct blocks *blocks, uint64_t name)
{
    uint32_t block = blocks_find(blocks, name);
    if (block != BLOCKS_NONE) {
        blocks_share(blocks, block);
    } else {
        block = blocks_take(blocks);
        blocks_name(blocks, block, name);
    }
    blocks_release(blocks, block);
}

double trace_hit_ratio(struct arena *arena, const struct trace *trace, size_t capacity)
{
    size_t most = trace->block ? trace->first[trace->count] : 0;
    size_t room = capacity && capacity < most ? capacity : most;
    double hits = 0, all = 0;
    if (!room)
        return 0;
    struct blocks *blocks = blocks_open(arena, room + 1);       /* one is never given out */
    for (size_t i = 0; i < trace->count; i++) {
        const uint64_t *names = &trace->blocks[trace->first[i]];
        size_t count = trace->first[i + 1] - trace->first[i], run = 0;
        while (run < count && blocks_find(blocks, names[run]) != BLOCKS_NONE)
            run++;
        hits += fmin((double)(run * trace->block), trace->prompt[i]);
        all += trace->prompt[i];
        while (count)
            touch(blocks, names[--count]);
    }
    return hits / all;
}
