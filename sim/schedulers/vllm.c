/* vLLM v1 as a simulated scheduler: receives what a step computed, and answers the simulation's
 * calls.
 *
 * A step is formed by vllm_form.c, its blocks are managed by vllm_cache.c, and runs of steps that
 * only decode are summed in closed form by vllm_fast_forward.c. With asynchronous scheduling two
 * steps are
 * in flight, and the next is formed before the tokens of the last are known. Accepted draft tokens
 * are drawn per request and position, so that the same request gets the same tokens in whatever
 * batch it runs. A new request goes to the rank with the least 4 x waiting + running, as vLLM's
 * data-parallel balancer does. Source: vLLM v1 scheduler. */
#include "sim/schedulers/vllm.h"
#include "sim/schedulers/schedulers.h"

#include "rows/random.h"

#include <math.h>
#include <string.h>

/* Number of steps for whose parts each rank has room. */
static size_t vllm_room(const struct vllm *vllm)
{
    return vllm->stages > FLIGHT ? vllm->stages : FLIGHT;
}

/* ---- what a step gives -------------------------------------------------------------------- */

/* End a request. One that was preempted may get its last token from a step that was in flight. */
static void finish(struct vllm *vllm, struct rank *rank, uint32_t id, double now)
{
    size_t at = 0;
    vllm->replica.tokens_left -= vllm->shared->requests[id].owed;
    simulation_done(vllm->replica.simulation, id, now);
    while (at < rank->running_count && rank->running[at] != id)
        at++;
    if (at < rank->running_count) {
        vllm_stop_running(vllm, rank, at);
    } else {
        queue_remove(vllm->replica.simulation, &rank->queue[vllm_class_of(vllm, id)], id);
        rank->waiting--;
    }
}

/* Number of accepted draft tokens, the same for the same position of a request in any batch. */
static uint32_t accepted_of(const struct vllm *vllm, uint32_t id, uint32_t known, uint32_t draft)
{
    const struct sim_server *server = vllm->replica.server;
    struct random draws;
    uint32_t count = 0;
    random_open(&draws, vllm_mixed(id, known), vllm->replica.simulation->options->seed);
    while (count < draft && random_uniform(&draws) < server->accepted)
        count++;
    return count;
}

static void receive_part(struct vllm *vllm, struct rank *rank, const struct vllm_part *part, double now)
{
    struct vllm_request *request = &vllm->shared->requests[part->id];
    uint64_t total = simulation_total(vllm->replica.simulation, part->id);
    uint32_t draft = part->draft, extra = 0;
    if (request->known >= total)                    /* its guesses ended it while this step flew */
        return;
    if (draft) {
        extra = accepted_of(vllm, part->id, request->known, draft);
        if (request->computed)                      /* nothing to take back after a restart */
            request->computed -= draft - extra;
        if (request->known + 1 + extra > total)
            extra = (uint32_t)(total - request->known - 1);
    }
    request->pending -= (uint16_t)(1 + draft);
    request->in_flight--;
    request->known += 1 + extra;
    simulation_first_token(vllm->replica.simulation, part->id, now);
    if (vllm->stages > 1) {
        double *told = &vllm->shared->told[part->id];
        if (part->decode)                           /* the first token may be from the other pool */
            simulation_gap(&vllm->replica,
                           now - moment_later(*told, vllm->replica.simulation->result->first_token[part->id]));
        *told = now;
    }
    if (request->blocks && request->computed)
        vllm_name_blocks(vllm, rank, part->id);
    vllm->replica.tokens_left -= 1 + extra;
    if (request->known == total)
        finish(vllm, rank, part->id, now);
}

static void read_prompt(struct vllm *vllm, const struct vllm_part *part)
{
    uint32_t *owed = &vllm->shared->requests[part->id].owed;
    const uint32_t tokens = part->prompt < *owed ? part->prompt : *owed;
    vllm->replica.tokens_left -= tokens;
    *owed -= tokens;
}

static void receive(struct vllm *vllm, double now)
{
    for (size_t r = 0; r < vllm->rank_count; r++) {
        struct rank *rank = &vllm->ranks[r];
        struct vllm_flight done = rank->flights[0];
        const size_t last = vllm_room(vllm) - 1;
        memmove(&rank->flights[0], &rank->flights[1], last * sizeof done);
        rank->flights[last].parts = done.parts;
        vllm->replica.tokens_left -= done.grouped;
        for (size_t i = 0; i < done.count; i++) {
            if (done.parts[i].prompt)
                read_prompt(vllm, &done.parts[i]);
            if (done.parts[i].yields)
                receive_part(vllm, rank, &done.parts[i], now);
        }
    }
    vllm->flight_count--;
    for (size_t r = 0; r < vllm->rank_count; r++)
        vllm_group_name(vllm, &vllm->ranks[r]);
    vllm_count_requests(vllm);
}

/* ---- what the simulation asks ------------------------------------------------------------- */

static void vllm_settle(struct replica *replica, double now)
{
    struct vllm *vllm = (struct vllm *)replica;
    if (vllm->forward.steps)
        vllm_leave_fast_forward(vllm, vllm_received_before(vllm, now));
}

static struct course vllm_course(const struct replica *replica)
{
    const struct vllm *vllm = (const struct vllm *)replica;
    const struct fast_forward *forward = &vllm->forward;
    const uint32_t each = (uint32_t)replica->running;
    return (struct course){ .tokens = replica->tokens_left, .each = each, .fall = { each },
                            .most = forward->steps ? (uint32_t)forward->steps - 1 : 0,
                            .end = { forward->steps && vllm->flight_count ? vllm->ranks[0].flights[0].end : NAN, NAN },
                            .from = forward->from, .first = forward->first, .growth = forward->growth };
}

/* A step is formed when one ends, and at once when there is nothing to do. */
static void vllm_start(struct replica *replica, double now)
{
    struct vllm *vllm = (struct vllm *)replica;
    replica->asks = false;
    if (vllm_try_fast_forward(vllm, now)) {
        uint64_t steps = vllm->forward.steps - (vllm->flight_count == 1);
        replica->next = vllm->forward.from + fast_forward_seconds(&vllm->forward, (double)steps);
        return;
    }
    while (vllm->flight_count < vllm_depth(vllm) && vllm_launch(vllm, now))
        ;
    replica->next = vllm->flight_count ? vllm->ranks[0].flights[0].end : INFINITY;
}

static void vllm_end(struct replica *replica, double now)
{
    struct vllm *vllm = (struct vllm *)replica;
    if (vllm->forward.steps)
        vllm_leave_fast_forward(vllm, vllm->forward.steps - 1);
    receive(vllm, now);
}

/* Inside the server: the rank with the smallest 4 times those that wait and those that run. */
static struct rank *rank_for(struct vllm *vllm)
{
    struct rank *chosen = &vllm->ranks[0];
    for (size_t r = 1; r < vllm->rank_count; r++)
        if (4 * vllm->ranks[r].waiting + vllm->ranks[r].running_count <
            4 * chosen->waiting + chosen->running_count)
            chosen = &vllm->ranks[r];
    return chosen;
}

static uint64_t left_of(const struct vllm *vllm, uint32_t id)
{
    const struct vllm_request *request = &vllm->shared->requests[id];
    return request->owed + simulation_total(vllm->replica.simulation, id) - request->known;
}

static void vllm_take(struct replica *replica, uint32_t id, double now)
{
    struct vllm *vllm = (struct vllm *)replica;
    struct rank *rank = rank_for(vllm);
    vllm_settle(replica, now);
    const uint32_t known = (uint32_t)simulation_prompt(replica->simulation, id);
    vllm->shared->requests[id] = (struct vllm_request){
        .known = known, .owed = known - replica->simulation->ready[id], .stale = vllm->shared->requests[id].stale };
    replica->tokens_left += left_of(vllm, id);
    queue_last(replica->simulation, &rank->queue[vllm_class_of(vllm, id)], id);
    rank->waiting++;
    replica->waiting++;
    replica->asks = vllm->stages > 1;
}

/* The blocks of a request have arrived from a tier. */
static void vllm_fetched(struct replica *replica, uint32_t id, double now)
{
    struct vllm *vllm = (struct vllm *)replica;
    struct vllm_request *request = &vllm->shared->requests[id];
    if (request->stale) {
        request->stale--;
        return;
    }
    vllm_settle(replica, now);
    for (size_t r = 0; r < vllm->rank_count; r++)
        if (queue_remove(replica->simulation, &vllm->ranks[r].fetching, id)) {
            queue_last(replica->simulation, &vllm->ranks[r].fetched, id);
            vllm_name_blocks(vllm, &vllm->ranks[r], id);
        }
    replica->asks = vllm->stages > 1;
}

static bool vllm_drop(struct replica *replica, uint32_t id)
{
    struct vllm *vllm = (struct vllm *)replica;
    if (vllm->shared->requests[id].in_flight)       /* it had to go, and its token comes yet */
        return false;
    for (size_t r = 0; r < vllm->rank_count; r++)
        if (queue_remove(replica->simulation, &vllm->ranks[r].queue[vllm_class_of(vllm, id)], id)) {
            vllm->ranks[r].waiting--;
            replica->waiting--;
            replica->tokens_left -= left_of(vllm, id);
            return true;
        }
    return false;
}

static size_t vllm_cached(struct replica *replica, uint32_t id, double now)
{
    struct vllm *vllm = (struct vllm *)replica;
    size_t most = 0, idle, per_tier[TIERS_MOST];
    vllm->shared->requests[id].known = (uint32_t)simulation_prompt(replica->simulation, id);
    vllm->now = now;
    for (size_t r = 0; r < vllm->rank_count; r++) {
        size_t run = vllm_find_prefix(vllm, &vllm->ranks[r], id, &idle);
        run += vllm_find_below(vllm, id, run, per_tier);
        most = run > most ? run : most;
    }
    return most * replica->server->block;
}

static void open_rank(struct arena *arena, struct vllm *vllm, struct rank *rank)
{
    const struct sim_server *server = vllm->replica.server;
    *rank = (struct rank){ .fetching = QUEUE_EMPTY, .fetched = QUEUE_EMPTY,
                           .flights = arena_array(arena, vllm_room(vllm), sizeof *rank->flights),
                           .blocks = blocks_open(arena, server->blocks),
                           .running = arena_array(arena, server->max_num_seqs + 1,
                                                  sizeof *rank->running) };
    for (size_t priority_class = 0; priority_class < TRACE_CLASSES; priority_class++)
        rank->queue[priority_class] = QUEUE_EMPTY;
    if (vllm->groups) {
        vllm_group_open(arena, vllm, rank);
    } else {
        rank->turns = arena_array(arena, server->max_num_seqs + 1, sizeof *rank->turns);
        rank->due = arena_array(arena, server->block + 2, sizeof *rank->due);
    }
    for (size_t i = 0; i < vllm_room(vllm); i++)
        rank->flights[i].parts = arena_array(arena, server->max_num_seqs + 1,
                                             sizeof(struct vllm_part));
}

/* ---- failure ------------------------------------------------------------------------------ */

static void forget(struct vllm *vllm, uint32_t id)
{
    struct simulation *simulation = vllm->replica.simulation;
    simulation->got[id] = vllm->shared->requests[id].known - simulation->trace->prompt[id];
}

static void give_back(struct vllm *vllm, struct rank *rank, uint32_t id)
{
    forget(vllm, id);
    vllm_leave_cache(vllm, rank, id);
}

static uint32_t vllm_received(const struct replica *replica, uint32_t id)
{
    const struct vllm *vllm = (const struct vllm *)replica;
    return vllm->shared->requests[id].known - replica->simulation->trace->prompt[id];
}

/* A request whose prompt is still being computed, without a token in flight, leaves at once. */
static bool leave_prompt(struct vllm *vllm, uint32_t id)
{
    for (size_t r = 0; r < vllm->rank_count; r++)
        for (size_t at = 0; at < vllm->ranks[r].running_count; at++)
            if (vllm->ranks[r].running[at] == id) {
                vllm->replica.tokens_left -= left_of(vllm, id);
                vllm->shared->requests[id].owed = 0;    /* by its parts in flight */
                vllm_stop_running(vllm, &vllm->ranks[r], at);
                vllm_count_requests(vllm);
                return true;
            }
    return false;
}

static uint32_t vllm_cut(struct replica *replica, uint32_t id)
{
    struct vllm *vllm = (struct vllm *)replica;
    const struct vllm_request *request = &vllm->shared->requests[id];
    uint32_t *want = &replica->simulation->want[id];
    if (!vllm_received(replica, id) && !request->in_flight && leave_prompt(vllm, id))
        return 0;
    const uint32_t ends = vllm_received(replica, id) + (request->in_flight ? request->in_flight : 1);
    if (ends < *want) {
        replica->tokens_left -= *want - ends;
        *want = ends;
    }
    return *want;
}

/* Failure: drop the steps in flight and the cache. */
static void vllm_clear(struct replica *replica, double now)
{
    struct vllm *vllm = (struct vllm *)replica;
    vllm_settle(replica, now);
    for (size_t r = 0; r < vllm->rank_count; r++) {
        struct rank *rank = &vllm->ranks[r];
        while (rank->group.count)
            vllm_group_leave(vllm, rank, rank->group.heap[0].id);
        while (rank->running_count) {
            forget(vllm, rank->running[rank->running_count - 1]);
            vllm_stop_running(vllm, rank, rank->running_count - 1);
        }
        for (size_t priority_class = 0; priority_class < vllm->priority_classes; priority_class++)
            while (rank->queue[priority_class].count)
                forget(vllm, queue_pop(replica->simulation, &rank->queue[priority_class]));
        while (rank->fetched.count)
            give_back(vllm, rank, queue_pop(replica->simulation, &rank->fetched));
        while (rank->fetching.count) {
            vllm->shared->requests[rank->fetching.head].stale++;
            give_back(vllm, rank, queue_pop(replica->simulation, &rank->fetching));
        }
        rank->waiting = 0;
        blocks_forget(rank->blocks);
    }
    vllm->flight_count = 0;
    vllm->free_at = now;
    for (size_t s = 0; s < vllm->stages; s++)
        vllm->stage_free[s] = now;
    replica->tokens_left = 0;
    replica->next = INFINITY;
    vllm_count_requests(vllm);
}

/* ---- opening ------------------------------------------------------------------------------ */

static struct shared *open_shared(struct arena *arena, struct simulation *simulation)
{
    const struct trace *trace = simulation->trace;
    struct shared *shared = arena_alloc(arena, sizeof *shared);
    shared->requests = window_array(&simulation->window, arena, sizeof *shared->requests);
    shared->own_names = !trace->block && !trace->before && !simulation->options->tiers;
    return shared;
}

static struct replica *vllm_open(struct arena *arena, struct simulation *simulation,
                                 const struct sim_server *server)
{
    struct vllm *vllm = arena_alloc(arena, sizeof *vllm);
    if (!simulation->shared)
        simulation->shared = open_shared(arena, simulation);
    *vllm = (struct vllm){ .replica = { .simulation = simulation, .server = server },
                           .shared = simulation->shared, .arena = arena,
                           .rank_count = server->ranks ? server->ranks : 1,
                           .priority_classes = simulation->trace->priority_classes
                               ? simulation->trace->priority_classes : 1,
                           .stages = server->stages ? server->stages : 1 };
    vllm->stage_free = arena_array(arena, vllm->stages, sizeof *vllm->stage_free);
    vllm->replica.tells_gaps = vllm->stages > 1;
    if (vllm->stages > 1 && !vllm->shared->told)
        vllm->shared->told = window_array(&simulation->window, arena, sizeof *vllm->shared->told);
    vllm->groups = vllm_groups(vllm);
    vllm->ranks = arena_array(arena, vllm->rank_count, sizeof *vllm->ranks);
    for (size_t r = 0; r < vllm->rank_count; r++)
        open_rank(arena, vllm, &vllm->ranks[r]);
    return &vllm->replica;
}

/* One block is never given out. */
static size_t vllm_spare(const struct sim_server *server)
{
    (void)server;
    return 1;
}

const struct scheduler scheduler_vllm_v1 = {
    .name = "vllm-v1", .engine = "vllm", .router = ROUTER_LEAST_TOKENS, .usual = { SIM_USUAL },
    .can = SCHEDULER_STEP_TIME | SCHEDULER_BLOCKS | SCHEDULER_CHUNK | SCHEDULER_WATERMARK |
           SCHEDULER_AHEAD | SCHEDULER_POOLS | SCHEDULER_RANKS | SCHEDULER_DRAFTS |
           SCHEDULER_CLASSES | SCHEDULER_STAGES,
    .setting = { [VLLM_EVEN_STAGES] = { .name = "even-stages" } },
    .size = sizeof(struct vllm), .open = vllm_open, .take = vllm_take, .end = vllm_end, .start = vllm_start,
    .clear = vllm_clear, .settle = vllm_settle, .course = vllm_course, .drop = vllm_drop,
    .cached = vllm_cached, .fetched = vllm_fetched, .received = vllm_received, .cut = vllm_cut, .spare = vllm_spare };
