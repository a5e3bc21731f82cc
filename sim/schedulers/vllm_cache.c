/* Prefix cache of the vLLM v1 scheduler: names of full blocks, finding a cached prefix, and
 * taking, sharing and releasing blocks.
 *
 * A full block is named by the trace's prefix block if there is one, otherwise by a hash of its
 * turn and position, so that only the same prefix has the same name. Evicted blocks go to the
 * tiers below. Lists of blocks are allocated in classes of size and reused; where nobody shares a prefix there are none, but
 * counts, until a preempted request names its blocks. */
#include "sim/schedulers/vllm.h"

#include <math.h>
#include <string.h>

/* ---- names -------------------------------------------------------------------------------- */

uint64_t vllm_mixed(uint64_t a, uint64_t b)
{
    uint64_t x = (a + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u ^ b;
    x = (x ^ x >> 31) * 0x94d049bb133111ebu;
    return x ^ x >> 29;
}

/* The trace's name of the prefix that ends here, or one by the turn that it is of. */
static uint64_t name_of(const struct vllm *vllm, uint32_t id, size_t index)
{
    const struct trace *trace = vllm->replica.simulation->trace;
    size_t block = vllm->replica.server->block;
    if (trace->block && trace->block % block == 0 &&
        (index + 1) * block <= trace->prompt[id]) {
        size_t parts = trace->block / block, at = trace->first[id] + index / parts;
        if (at < trace->first[id + 1])
            return vllm_mixed(2 * trace->blocks[at], index % parts);
    }
    while (trace->before && trace->before[id] != NOBODY &&
           (index + 1) * block <= (uint64_t)trace->prompt[trace->before[id]] +
                                  trace->output[trace->before[id]])
        id = trace->before[id];                     /* the first turn that has all of it */
    return vllm_mixed(2 * (uint64_t)id + 1, index);
}

/* Blocks that were counts become lists: in whose list a number stands makes no difference. */
static void number_blocks(struct vllm *vllm, struct rank *rank)
{
    const uint32_t end = (uint32_t)blocks_number(rank->blocks) + 1;
    uint32_t block = 1;
    for (size_t i = 0; i < rank->running_count && end > 1; i++) {
        struct vllm_request *request = &vllm->shared->requests[rank->running[i]];
        const uint32_t last = block + request->block_count;
        for (request->block_count = 0; block < last; block++)
            vllm_add_block(vllm, request, block);
    }
    for (; block < end; block++)
        vllm_add_taken(vllm, rank, block);
}

void vllm_name_first(struct vllm *vllm, struct rank *rank, uint32_t id, uint64_t tokens)
{
    struct vllm_request *request = &vllm->shared->requests[id];
    const uint64_t full = tokens / vllm->replica.server->block;
    if (request->named < full)
        number_blocks(vllm, rank);
    for (; request->named < full; request->named++)
        blocks_name(rank->blocks, request->blocks[request->named],
                    name_of(vllm, id, request->named));
}

void vllm_name_now(struct vllm *vllm, struct rank *rank, uint32_t id)
{
    const struct vllm_request *request = &vllm->shared->requests[id];
    vllm_name_first(vllm, rank, id,
                    request->computed < request->known ? request->computed : request->known);
}

void vllm_name_blocks(struct vllm *vllm, struct rank *rank, uint32_t id)
{
    if (!vllm->shared->own_names)
        vllm_name_now(vllm, rank, id);
}

/* ---- lists of blocks, in rooms of a power of two ------------------------------------------ */

static void *take_room(struct vllm *vllm, uint32_t class)
{
    void *room = vllm->rooms[class];
    if (!room)
        return arena_alloc(vllm->arena, sizeof(uint32_t) << class);
    memcpy(&vllm->rooms[class], room, sizeof room);
    return room;
}

static void return_room(struct vllm *vllm, uint32_t *room, uint32_t class)
{
    if (room) {
        memcpy(room, &vllm->rooms[class], sizeof vllm->rooms[class]);
        vllm->rooms[class] = room;
    }
}

void vllm_add_block(struct vllm *vllm, struct vllm_request *request, uint32_t block)
{
    enum { FIRST = 4 };
    if (!request->blocks || request->block_count == 1u << request->room) {
        uint32_t class = request->blocks ? request->room + 1 : FIRST, *room;
        room = take_room(vllm, class);
        if (request->blocks)
            memcpy(room, request->blocks, request->block_count * sizeof *room);
        return_room(vllm, request->blocks, request->room);
        request->blocks = room;
        request->room = (uint8_t)class;
    }
    request->blocks[request->block_count++] = block;
}

void vllm_add_taken(struct vllm *vllm, struct rank *rank, uint32_t block)
{
    *(uint32_t *)arena_push(vllm->arena, &rank->taken, &rank->taken_count, &rank->taken_room,
                            sizeof *rank->taken) = block;
}

void vllm_leave_cache(struct vllm *vllm, struct rank *rank, uint32_t id)
{
    struct vllm_request *request = &vllm->shared->requests[id];
    if (blocks_release_alike(rank->blocks, request->block_count))
        request->block_count = 0;
    while (request->block_count)                    /* the tail first: roots are found longest */
        blocks_release(rank->blocks, request->blocks[--request->block_count]);
    return_room(vllm, request->blocks, request->room);
    request->blocks = NULL;
    request->named = 0;
}

/* ---- blocks of a request ------------------------------------------------------------------ */

size_t vllm_blocks_for(const struct vllm *vllm, uint64_t tokens)
{
    return (size_t)((tokens + vllm->replica.server->block - 1) / vllm->replica.server->block);
}

uint32_t vllm_take_block(struct vllm *vllm, struct rank *rank)
{
    struct simulation *simulation = vllm->replica.simulation;
    uint64_t name;
    if (simulation->tiers && blocks_next_name(rank->blocks, &name))
        tiers_put(simulation->tiers, vllm->replica.index, name, vllm->now);
    return blocks_take(rank->blocks);
}

void vllm_take_blocks(struct vllm *vllm, struct rank *rank, uint32_t id, uint64_t tokens)
{
    struct vllm_request *request = &vllm->shared->requests[id];
    const size_t needed = vllm_blocks_for(vllm, tokens);
    if (vllm->shared->own_names && needed > request->block_count &&
        blocks_take_alike(rank->blocks, needed - request->block_count))
        request->block_count = (uint32_t)needed;
    while (request->block_count < needed)
        vllm_add_block(vllm, request, vllm_take_block(vllm, rank));
}

/* ---- prefixes ----------------------------------------------------------------------------- */

size_t vllm_find_prefix(const struct vllm *vllm, const struct rank *rank, uint32_t id,
                          size_t *idle)
{
    const struct vllm_request *request = &vllm->shared->requests[id];
    size_t most = (size_t)((request->known - 1) / vllm->replica.server->block), run = 0;
    *idle = 0;
    if (!vllm->replica.simulation->trace->block && !vllm->replica.simulation->trace->before &&
        !vllm->replica.simulation->result->restarts[id])
        return 0;                                   /* nobody else has its names */
    for (; run < most; run++) {
        uint32_t block = blocks_find(rank->blocks, name_of(vllm, id, run));
        if (block == BLOCKS_NONE)
            break;
        *idle += blocks_idle(rank->blocks, block);
    }
    return run;
}

void vllm_share_prefix(struct vllm *vllm, struct rank *rank, uint32_t id, size_t run)
{
    struct vllm_request *request = &vllm->shared->requests[id];
    for (size_t i = 0; i < run; i++) {
        uint32_t block = blocks_find(rank->blocks, name_of(vllm, id, i));
        blocks_share(rank->blocks, block);
        vllm_add_block(vllm, request, block);
    }
    request->named = (uint32_t)run;
    request->computed = (uint32_t)(run * vllm->replica.server->block);
}

bool vllm_has_room(const struct vllm *vllm, const struct rank *rank, uint32_t id, size_t *run)
{
    size_t idle, all = vllm_blocks_for(vllm, vllm->shared->requests[id].known);
    size_t watermark = (size_t)floor(vllm->replica.server->watermark *
                                     (double)vllm->replica.server->blocks);
    *run = vllm_find_prefix(vllm, rank, id, &idle);
    return all - *run + idle + (rank->running_count ? watermark : 0) <= blocks_free(rank->blocks);
}

size_t vllm_find_below(struct vllm *vllm, uint32_t id, size_t run, size_t *per_tier)
{
    struct simulation *simulation = vllm->replica.simulation;
    size_t most = (vllm->shared->requests[id].known - 1) / vllm->replica.server->block, count = 0;
    if (!simulation->tiers || simulation->ready[id] || run == most)
        return 0;
    const uint64_t first = name_of(vllm, id, run);
    if (!tiers_find(simulation->tiers, vllm->replica.index, &first, 1, vllm->now, per_tier))
        return 0;
    for (size_t i = run; i < most; i++)
        *(uint64_t *)arena_push(vllm->arena, &vllm->names, &count, &vllm->name_room,
                                sizeof *vllm->names) = name_of(vllm, id, i);
    return tiers_find(simulation->tiers, vllm->replica.index, vllm->names, count, vllm->now, per_tier);
}
