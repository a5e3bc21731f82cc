/* Many steps of vLLM's scheduler in one, while only decodes run: nobody enters or ends, and the blocks
 * last. The outcome is that of the single steps, to the bit; when anything else happens, the steps that
 * ended before are counted and the scheduler goes on step by step. */
#include "sim/schedulers/vllm.h"

#include <assert.h>
#include <string.h>

static size_t running_of(const struct vllm *vllm, const struct rank *rank, size_t priority_class)
{
    size_t count = vllm->priority_classes > 1 ? 0 : rank->running_count;
    for (size_t i = 0; vllm->priority_classes > 1 && i < rank->running_count; i++)
        count += vllm_class_of(vllm, rank->running[i]) == priority_class;
    return count;
}

/* What a step that is formed now would be, of a rank: all that run decode, class by class, and the first
 * of no class enters, nor pushes anybody out. As long as that is so nothing of it changes: blocks only
 * become fewer. */
static bool nobody_enters(const struct vllm *vllm, const struct rank *rank)
{
    const struct sim_server *server = vllm->replica.server;
    size_t count = 0, most = server->max_num_seqs, run;
    for (size_t priority_class = 0; priority_class < vllm->priority_classes; priority_class++) {
        const struct queue *queue = &rank->queue[priority_class];
        const size_t running = running_of(vllm, rank, priority_class);
        if (running && count >= most)
            return false;
        if (running && vllm_class_most(vllm, priority_class) < most)
            most = vllm_class_most(vllm, priority_class);
        count += running;
        if (running > 1 && count > most)
            return false;
        if (!queue->count || count >= most || count >= vllm_class_most(vllm, priority_class))
            continue;
        if (rank->running_count && vllm->priority_classes > 1 &&
            vllm_class_of(vllm, rank->running[vllm_last_of_all(vllm, rank)]) > priority_class)
            return false;
        if (rank->running_count >= server->max_num_seqs)
            continue;
        if (vllm->replica.simulation->trace->before && vllm->replica.simulation->options->users)
            return false;                           /* turns of a session beside each other: what one
                                                       decodes another may find */
        if (vllm_has_room(vllm, rank, queue->head, &run))
            return false;
    }
    return true;
}

/* The step in flight, if any, has each of the running ones decode; nobody can enter. */
static bool only_decodes(const struct vllm *vllm)
{
    if (vllm->replica.simulation->options->stepping || vllm->stages > 1 || vllm->replica.server->draft ||
        !vllm->replica.running || vllm->flight_count != vllm_depth(vllm) - 1)
        return false;
    for (size_t r = 0; r < vllm->rank_count; r++) {
        const struct rank *rank = &vllm->ranks[r];
        if (rank->fetched.count || rank->running_count > vllm->replica.server->chunk ||
            (vllm->flight_count && (!rank->flights[0].decode ||
                                    vllm_sequences(&rank->flights[0]) != rank->running_count)) ||
            !nobody_enters(vllm, rank))
            return false;
    }
    return true;
}

/* Steps that each of the running ones of a rank can take, before one of them ends. */
static uint64_t steps_left(struct vllm *vllm, struct rank *rank, struct sim_step *step)
{
    uint64_t most = UINT64_MAX;
    if (vllm->groups) {
        const bool all = vllm_group_join(vllm, rank);
        *step = decodes_step(&rank->group);
        return !all ? 0 : rank->group.count ? rank->group.heap[0].turn - rank->group.launched + 1 : most;
    }
    for (size_t i = 0; i < rank->running_count; i++) {
        uint32_t id = rank->running[i];
        const struct vllm_request *request = &vllm->shared->requests[id];
        uint64_t total = simulation_total(vllm->replica.simulation, id);
        if (request->known + request->in_flight >= total ||
            request->known + request->pending != request->computed + 1 ||
            request->computed < vllm->replica.simulation->trace->prompt[id])
            return 0;
        uint64_t left = total - request->known - request->in_flight;
        most = left < most ? left : most;
        step->decode_cached += request->computed;
    }
    step->decoding = step->sequences = (double)rank->running_count;
    return most;
}

/* The running ones in order of the turn in which they need a block next: in turn t, and again
 * every `block` turns, those from due[t] to due[t + 1]. */
static void sort_by_need(const struct vllm *vllm, struct rank *rank)
{
    const size_t block = vllm->replica.server->block;
    memset(rank->due, 0, (block + 2) * sizeof *rank->due);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < rank->running_count; i++) {
            const struct vllm_request *request = &vllm->shared->requests[rank->running[i]];
            size_t turn = request->block_count * block - request->computed;
            if (pass)
                rank->turns[rank->due[turn]++] = rank->running[i];
            else
                rank->due[turn + 1]++;
        }
        if (!pass)
            for (size_t turn = 0; turn < block; turn++)
                rank->due[turn + 1] += rank->due[turn];
    }
    memmove(&rank->due[1], rank->due, block * sizeof *rank->due);   /* ends are beginnings again */
    rank->due[0] = 0;
}

static uint64_t steps_with_blocks(const struct vllm *vllm, const struct rank *rank, uint64_t most)
{
    const size_t block = vllm->replica.server->block;
    size_t free = vllm->replica.simulation->tiers ? blocks_nameless(rank->blocks)
                                                  : blocks_free(rank->blocks);
    size_t rounds = free / rank->running_count;
    uint64_t steps = (uint64_t)rounds * block;
    free -= rounds * rank->running_count;
    for (size_t turn = 0; steps < most && turn < block; turn++, steps++) {
        size_t takes = vllm->groups ? vllm_group_takes(vllm, rank, turn) : rank->due[turn + 1] - rank->due[turn];
        if (takes > free)
            break;
        free -= takes;
    }
    return steps < most ? steps : most;
}

/* Ranks with as many requests grow alike: the fullest one stays the fullest. */
bool vllm_try_fast_forward(struct vllm *vllm, double now)
{
    struct sim_step all = { 0 }, fullest = { 0 };
    uint64_t most = UINT64_MAX;
    if (!only_decodes(vllm))
        return false;
    for (size_t r = 0; r < vllm->rank_count; r++) {
        struct sim_step step = { 0 };
        const uint64_t left = steps_left(vllm, &vllm->ranks[r], &step);
        most = left < most ? left : most;
        vllm_add_step(&all, &fullest, &step);
    }
    for (size_t r = 0; r < vllm->rank_count && most >= 2; r++) {
        struct rank *rank = &vllm->ranks[r];
        if (!vllm->groups)
            sort_by_need(vllm, rank);
        if (rank->running_count)
            most = steps_with_blocks(vllm, rank, most);
    }
    if (most < 2)
        return false;
    fullest.imbalance = vllm_imbalance(vllm, &all, &fullest);
    vllm->forward = fast_forward_of(vllm->replica.server, vllm->flight_count ? vllm->free_at : now,
                                    &fullest, most);
    vllm->forward.step = all;
    if (vllm->forward.steps < 2)
        vllm->forward.steps = 0;
    return vllm->forward.steps > 0;
}

/* A request that needs a block has filled the one before, which gets its name in that turn and not
 * when the fast-forward is over: of two blocks of one name (turns of a session beside each other) the
 * last named is found. */
static void take_due_blocks(struct vllm *vllm, struct rank *rank, uint64_t steps)
{
    const size_t block = vllm->replica.server->block;
    for (uint64_t turn = 0; turn < steps; turn++)
        for (size_t i = rank->due[turn % block]; i < rank->due[turn % block + 1]; i++) {
            struct vllm_request *request = &vllm->shared->requests[rank->turns[i]];
            if (!vllm->shared->own_names)
                vllm_name_first(vllm, rank, rank->turns[i], request->computed + turn);
            vllm_take_blocks(vllm, rank, rank->turns[i], request->computed + turn + 1);
        }
}

static void fly(const struct vllm *vllm, struct rank *rank, size_t at, double end)
{
    struct vllm_flight *flight = &rank->flights[at];
    flight->count = 0;
    flight->grouped = rank->group.count;
    flight->decode = true;
    flight->end = end;
    if (flight->grouped)
        return;
    for (size_t priority_class = 0; priority_class < vllm->priority_classes; priority_class++)
        for (size_t i = 0; i < rank->running_count; i++)
            if (vllm_class_of(vllm, rank->running[i]) == priority_class)
                flight->parts[flight->count++] = (struct vllm_part){
                    .id = rank->running[i], .decode = true, .yields = true };
}

/* Requests that joined the group while a step with parts of their own flew, which has ended. */
static void receive_flown(const struct vllm *vllm, const struct vllm_flight *flown)
{
    for (size_t i = 0; i < flown->count; i++) {
        struct vllm_request *request = &vllm->shared->requests[flown->parts[i].id];
        assert(vllm->replica.simulation->result->first_token[flown->parts[i].id] >= 0);
        request->known++;
        request->pending--;
        request->in_flight--;
    }
}

/* A rank's requests after as many steps. */
static void advance(struct vllm *vllm, struct rank *rank, uint64_t launched, uint64_t received)
{
    if (vllm->groups) {
        vllm_group_take(vllm, rank, launched, true);
        vllm_group_launched(vllm, rank, launched);
        return;
    }
    take_due_blocks(vllm, rank, launched);
    for (size_t i = 0; i < rank->running_count; i++) {
        struct vllm_request *request = &vllm->shared->requests[rank->running[i]];
        request->computed += (uint32_t)launched;
        request->known += (uint32_t)received;
        request->pending++;
        request->in_flight++;
        vllm_name_blocks(vllm, rank, rank->running[i]);
    }
}

void vllm_leave_fast_forward(struct vllm *vllm, uint64_t received)
{
    const struct fast_forward forward = vllm->forward;
    const bool two = vllm->flight_count == 1;       /* one flew before */
    const uint64_t launched = received + 1;
    const double seconds = fast_forward_seconds(&forward, (double)launched);
    vllm->forward.steps = 0;
    vllm->flight_count = 1 + two;
    simulation_fast_forwarded(&vllm->replica, &forward, launched);
    vllm->free_at = forward.from + seconds;
    vllm->replica.tokens_left -= received * vllm->replica.running;
    for (size_t r = 0; r < vllm->rank_count; r++) {
        struct rank *rank = &vllm->ranks[r];
        if (vllm->groups && two && received)
            receive_flown(vllm, &rank->flights[0]);
        advance(vllm, rank, launched, received);
        if (two && received)
            fly(vllm, rank, 0, forward.from + fast_forward_seconds(&forward, (double)received));
        fly(vllm, rank, two, vllm->free_at);
        vllm_group_shed(vllm, rank);
    }
    vllm_share_seconds(vllm, seconds, forward.step.sequences);
    vllm->replica.next = vllm->ranks[0].flights[0].end;
    vllm_count_requests(vllm);
}

uint64_t vllm_received_before(const struct vllm *vllm, double now)
{
    const struct fast_forward *forward = &vllm->forward;
    uint64_t ended = fast_forward_before(forward, now);
    if (vllm->flight_count)                         /* the one that flew before */
        ended = moment_before(vllm->ranks[0].flights[0].end, now) ? ended + 1 : 0;
    return ended < forward->steps - 1 ? ended : forward->steps - 1;
}
