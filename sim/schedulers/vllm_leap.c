#include "sim/schedulers/vllm.h"

#include <string.h>

/* The step in flight, if any, has each of the running ones decode; nobody can enter. */
static bool only_decodes(const struct vllm *vllm)
{
    const struct rank *rank = &vllm->ranks[0];
    size_t run;
    if (vllm->engine.world->options->stepping || vllm->rank_count > 1 || vllm->lanes > 1 ||
        vllm->engine.server->draft || !rank->running_count || rank->fetched.count ||
        rank->running_count > vllm->engine.server->chunk ||
        vllm->flight_count != vllm_depth(vllm) - 1 ||
        (vllm->flight_count && (!rank->flights[0].decode ||
                                rank->flights[0].count != rank->running_count)))
        return false;
    if (!rank->waiting || rank->running_count >= vllm->engine.server->sequences_most)
        return true;
    if (vllm->engine.world->trace->before && vllm->engine.world->options->users)
        return false;                               /* turns of a session beside each other: what one
                                                       decodes another may find */
    return !vllm_has_room(vllm, rank, rank->queue[0].head, &run);
}

/* Steps that each of the running ones can take, before one of them ends. */
static uint64_t steps_left(const struct vllm *vllm, struct sim_step *step)
{
    const struct rank *rank = &vllm->ranks[0];
    uint64_t most = UINT64_MAX;
    for (size_t i = 0; i < rank->running_count; i++) {
        uint32_t id = rank->running[i];
        const struct request *request = &vllm->shared->requests[id];
        uint64_t total = world_total(vllm->engine.world, id);
        if (request->known + request->flying >= total ||
            request->known + request->coming != request->computed + 1 ||
            request->computed < vllm->engine.world->trace->prompt[id])
            return 0;
        uint64_t left = total - request->known - request->flying;
        most = left < most ? left : most;
        step->decode_cached += request->computed;
    }
    step->decoding = step->sequences = (double)rank->running_count;
    step->imbalance = 1;
    return most;
}

/* The running ones in order of the turn in which they need a block next: in turn t, and again
 * every `block` turns, those from due[t] to due[t + 1]. */
static void sort_by_need(struct vllm *vllm)
{
    const struct rank *rank = &vllm->ranks[0];
    const size_t block = vllm->engine.server->block;
    memset(vllm->due, 0, (block + 2) * sizeof *vllm->due);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < rank->running_count; i++) {
            const struct request *request = &vllm->shared->requests[rank->running[i]];
            size_t turn = request->block_count * block - request->computed;
            if (pass)
                vllm->turns[vllm->due[turn]++] = rank->running[i];
            else
                vllm->due[turn + 1]++;
        }
        if (!pass)
            for (size_t turn = 0; turn < block; turn++)
                vllm->due[turn + 1] += vllm->due[turn];
    }
    memmove(&vllm->due[1], vllm->due, block * sizeof *vllm->due);   /* ends are beginnings again */
    vllm->due[0] = 0;
}

static uint64_t steps_with_blocks(const struct vllm *vllm, uint64_t most)
{
    const struct rank *rank = &vllm->ranks[0];
    const size_t block = vllm->engine.server->block;
    size_t free = vllm->engine.world->tiers ? blocks_nameless(rank->blocks)
                                            : blocks_free(rank->blocks);
    size_t rounds = free / rank->running_count;
    uint64_t steps = (uint64_t)rounds * block;
    free -= rounds * rank->running_count;
    for (size_t turn = 0; steps < most && turn < block; turn++, steps++) {
        size_t takes = vllm->due[turn + 1] - vllm->due[turn];
        if (takes > free)
            break;
        free -= takes;
    }
    return steps < most ? steps : most;
}

bool vllm_try_stretch(struct vllm *vllm, double now)
{
    struct sim_step step = { 0 };
    if (!only_decodes(vllm))
        return false;
    uint64_t most = steps_left(vllm, &step);
    if (most < 2)
        return false;
    sort_by_need(vllm);
    most = steps_with_blocks(vllm, most);
    if (most < 2)
        return false;
    vllm->stretch = stretch_of(vllm->engine.server, vllm->flight_count ? vllm->free_at : now, &step,
                               most);
    if (vllm->stretch.steps < 2)
        vllm->stretch.steps = 0;
    return vllm->stretch.steps > 0;
}

/* A request that needs a block has filled the one before, which gets its name in that turn and not
 * when the stretch is over: of two blocks of one name (turns of a session beside each other) the
 * last named is found. */
static void take_due_blocks(struct vllm *vllm, uint64_t steps)
{
    struct rank *rank = &vllm->ranks[0];
    const size_t block = vllm->engine.server->block;
    for (uint64_t turn = 0; turn < steps; turn++)
        for (size_t i = vllm->due[turn % block]; i < vllm->due[turn % block + 1]; i++) {
            struct request *request = &vllm->shared->requests[vllm->turns[i]];
            if (!vllm->shared->own_names)
                vllm_name_first(vllm, rank, vllm->turns[i], request->computed + turn);
            vllm_add_block(vllm->shared, request, vllm_take_block(vllm, rank));
        }
}

static void fly(struct rank *rank, size_t at, double end)
{
    struct flight *flight = &rank->flights[at];
    flight->count = rank->running_count;
    flight->decode = true;
    flight->end = end;
    for (size_t i = 0; i < rank->running_count; i++)
        flight->parts[i] = (struct part){ .id = rank->running[i], .yields = true };
}

void vllm_leave_stretch(struct vllm *vllm, uint64_t received)
{
    struct rank *rank = &vllm->ranks[0];
    const struct stretch stretch = vllm->stretch;
    const bool two = vllm->flight_count == 1;       /* one flew before */
    const uint64_t launched = received + 1;
    const double seconds = stretch_seconds(&stretch, (double)launched);
    vllm->stretch.steps = 0;
    world_stretched(&vllm->engine, &stretch, launched);
    take_due_blocks(vllm, launched);
    vllm->free_at = stretch.from + seconds;
    vllm->engine.tokens_left -= received * rank->running_count;
    for (size_t i = 0; i < rank->running_count; i++) {
        struct request *request = &vllm->shared->requests[rank->running[i]];
        request->computed += (uint32_t)launched;
        request->known += (uint32_t)received;
        request->coming++;
        request->flying++;
        vllm_name_blocks(vllm, rank, rank->running[i]);
    }
    if (two && received)
        fly(rank, 0, stretch.from + stretch_seconds(&stretch, (double)received));
    fly(rank, two, vllm->free_at);
    vllm->flight_count = 1 + two;
    vllm->engine.next = rank->flights[0].end;
    vllm_count_requests(vllm);
}

uint64_t vllm_received_before(const struct vllm *vllm, double now)
{
    const struct stretch *stretch = &vllm->stretch;
    uint64_t ended = stretch_before(stretch, now);
    if (vllm->flight_count)                         /* the one that flew before */
        ended = moment_before(vllm->ranks[0].flights[0].end, now) ? ended + 1 : 0;
    return ended < stretch->steps - 1 ? ended : stretch->steps - 1;
}
