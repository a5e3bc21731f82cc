/* The decoding requests of a rank of vLLM's scheduler as one group, so that a step does no work per request.
 *
 * 1. State: the step in which a request joined, and the steps since. Each step computes and gives a token for all.
 * 2. Join: after the first token. A heap has the step in which each request is launched for the last time.
 * 3. Leave: at that step, when preempted, or when the others need another step. It is then a part of the steps in flight.
 * 4. Blocks: a histogram has the requests that take a block in a step. Where only the preempted name blocks, blocks have no
 *    owner until somebody leaves; elsewhere requests are in lists by that step, and name a block when it is full.
 * tests/plain/vllm_group.c never has a group. */
#include "sim/schedulers/vllm.h"

#include <string.h>

bool vllm_groups(const struct vllm *vllm)
{
    const struct sim_server *server = vllm->replica.server;
    return !vllm->replica.simulation->options->stepping && vllm->stages == 1 && vllm->priority_classes == 1 &&
           !server->draft && (vllm->shared->own_names || !server->synchronous);
}

void vllm_group_open(struct arena *arena, const struct vllm *vllm, struct rank *rank)
{
    const struct sim_server *server = vllm->replica.server;
    rank->takes = arena_array(arena, server->block, sizeof *rank->takes);
    for (size_t i = 0; i < server->block; i++)
        rank->takes[i] = QUEUE_EMPTY;
    rank->loose = arena_array(arena, server->max_num_seqs + 1, sizeof *rank->loose);
    rank->group.heap = arena_array(arena, server->max_num_seqs + 1, sizeof *rank->group.heap);
}

/* ---- those that are no part of it, in order of admission ---------------------------------- */

void vllm_loosen(const struct vllm *vllm, struct rank *rank, uint32_t id)
{
    const struct vllm_request *requests = vllm->shared->requests;
    size_t at = rank->loose_count++;
    for (; at && requests[rank->loose[at - 1]].order > requests[id].order; at--)
        rank->loose[at] = rank->loose[at - 1];
    rank->loose[at] = id;
}

void vllm_fasten(struct rank *rank, uint32_t id)
{
    size_t at = 0;
    while (rank->loose[at] != id)
        at++;
    memmove(&rank->loose[at], &rank->loose[at + 1], (--rank->loose_count - at) * sizeof *rank->loose);
}

/* ---- who joins and leaves ------------------------------------------------------------------- */

/* The class of the step that is `turns` after the next. */
static size_t later_class(const struct vllm *vllm, const struct rank *rank, size_t turns)
{
    const size_t block = vllm->replica.server->block, at = rank->class + turns;
    return at < block ? at : at % block;
}

/* In order of admission. */
static void list(const struct vllm *vllm, struct queue *queue, uint32_t id)
{
    const struct vllm_request *requests = vllm->shared->requests;
    struct simulation *simulation = vllm->replica.simulation;
    uint32_t at = queue->head;
    if (at == NOBODY || requests[at].order > requests[id].order) {
        queue_first(simulation, queue, id);
    } else if (requests[queue->tail].order < requests[id].order) {
        queue_last(simulation, queue, id);
    } else {
        while (requests[simulation->next[at]].order < requests[id].order)
            at = simulation->next[at];
        simulation->next[id] = simulation->next[at];
        simulation->next[at] = id;
        queue->count++;
    }
}

static void join(struct vllm *vllm, struct rank *rank, uint32_t id)
{
    struct vllm_request *request = &vllm->shared->requests[id];
    struct decodes *group = &rank->group;
    const uint64_t left = simulation_total(vllm->replica.simulation, id) - request->known - request->in_flight;
    const size_t block = vllm->replica.server->block;
    request->grouped = true;
    request->joined = group->launched;
    group->cached += (int64_t)request->computed - (int64_t)request->joined;
    request->take = (uint32_t)later_class(vllm, rank, block - request->computed % block);
    if (vllm->shared->own_names)
        rank->takes[request->take].count++;
    else
        list(vllm, &rank->takes[request->take], id);
    decodes_push(group, (struct decode){ .turn = group->launched + left - 1, .id = id });
}

bool vllm_group_join(struct vllm *vllm, struct rank *rank)
{
    size_t kept = 0;
    for (size_t i = 0; i < rank->loose_count; i++)
        if (vllm_tokens_left(vllm, rank->loose[i]) == 1 && vllm_decodes(vllm, rank->loose[i], 1))
            join(vllm, rank, rank->loose[i]);
        else
            rank->loose[kept++] = rank->loose[i];
    rank->loose_count = kept;
    return !kept;
}

/* It is a part of its own of a step in flight. */
static void part_from(struct vllm_flight *flight, const struct vllm *vllm, uint32_t id)
{
    const struct vllm_request *requests = vllm->shared->requests;
    size_t at = flight->count++;
    flight->grouped--;
    for (; at && requests[flight->parts[at - 1].id].order > requests[id].order; at--)
        flight->parts[at] = flight->parts[at - 1];
    flight->parts[at] = (struct vllm_part){ .id = id, .decode = true, .yields = true };
}

void vllm_group_leave(struct vllm *vllm, struct rank *rank, uint32_t id)
{
    struct vllm_request *request = &vllm->shared->requests[id];
    struct decodes *group = &rank->group;
    const uint64_t joined = request->joined, ended = group->launched - vllm->flight_count;
    const uint64_t launched = group->launched - joined, received = ended > joined ? ended - joined : 0;
    decodes_remove(group, decodes_find(group, id));
    group->cached -= (int64_t)request->computed - (int64_t)joined;
    if (vllm->shared->own_names)
        rank->takes[request->take].count--;
    else
        queue_remove(vllm->replica.simulation, &rank->takes[request->take], id);
    request->grouped = false;
    request->computed += (uint32_t)launched;
    request->known += (uint32_t)received;
    request->pending += (uint16_t)(launched - received);
    request->in_flight += (uint16_t)(launched - received);
    for (size_t held = vllm_blocks_for(vllm, request->computed); request->block_count < held;)
        if (rank->taken_count)
            vllm_add_block(vllm, request, rank->taken[--rank->taken_count]);
        else
            request->block_count = (uint32_t)held;      /* counts */
    for (size_t i = 0; i < vllm->flight_count; i++)
        if (ended + i >= joined)
            part_from(&rank->flights[i], vllm, id);
    vllm_loosen(vllm, rank, id);
}

void vllm_group_shed(struct vllm *vllm, struct rank *rank)
{
    while (rank->group.count && rank->group.heap[0].turn < rank->group.launched)
        vllm_group_leave(vllm, rank, rank->group.heap[0].id);
}

/* ---- steps ---------------------------------------------------------------------------------- */

size_t vllm_group_takes(const struct vllm *vllm, const struct rank *rank, size_t turn)
{
    return rank->takes[later_class(vllm, rank, turn)].count;
}

void vllm_group_launched(const struct vllm *vllm, struct rank *rank, uint64_t steps)
{
    rank->group.launched += steps;
    rank->class = later_class(vllm, rank, (size_t)steps);
}

/* It can where each has a place. A prompt of which a part is left is behind all that decode: it took all tokens of the step in
 * which it entered. */
bool vllm_group_form(struct vllm *vllm, struct rank *rank)
{
    if (!vllm->groups)
        return false;
    if (rank->running_count <= vllm->replica.server->chunk && rank->running_count <= vllm_class_most(vllm, 0)) {
        vllm_group_join(vllm, rank);
        return true;
    }
    while (rank->group.count)
        vllm_group_leave(vllm, rank, rank->group.heap[rank->group.count - 1].id);
    return false;
}

/* Tokens of a member that a step has computed, or will have. */
static uint64_t computed_by(const struct vllm_request *request, uint64_t launched)
{
    return request->computed + (launched - request->joined);
}

static void take_each(struct vllm *vllm, struct rank *rank, size_t turn, bool name)
{
    const uint32_t *next = vllm->replica.simulation->next;
    for (uint32_t id = rank->takes[later_class(vllm, rank, turn)].head; id != NOBODY; id = next[id]) {
        const uint64_t computed = computed_by(&vllm->shared->requests[id], rank->group.launched + turn);
        if (name)
            vllm_name_first(vllm, rank, id, computed);
        vllm_take_blocks(vllm, rank, id, computed + 1);
    }
}

/* With two steps in flight, of which one has ended, what the other computes is the last token known. */
void vllm_group_name(struct vllm *vllm, struct rank *rank)
{
    const uint32_t *next = vllm->replica.simulation->next;
    if (vllm->groups && !vllm->shared->own_names)
        for (uint32_t id = rank->takes[rank->class].head; id != NOBODY; id = next[id])
            vllm_name_first(vllm, rank, id, computed_by(&vllm->shared->requests[id], rank->group.launched));
}

void vllm_group_take(struct vllm *vllm, struct rank *rank, uint64_t turns, bool name)
{
    for (uint64_t turn = 0; !vllm->shared->own_names && turn < turns; turn++)
        take_each(vllm, rank, (size_t)turn, name);
    if (!vllm->shared->own_names)
        return;
    const size_t block = vllm->replica.server->block;
    const size_t rounds = turns < block ? 0 : (size_t)(turns / block), rest = (size_t)turns - rounds * block;
    size_t blocks = rounds * rank->group.count;
    for (size_t turn = 0; turn < rest; turn++)
        blocks += vllm_group_takes(vllm, rank, turn);
    if (!blocks_take_alike(rank->blocks, blocks))
        while (blocks--)
            vllm_add_taken(vllm, rank, vllm_take_block(vllm, rank));
}
