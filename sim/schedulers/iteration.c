/* The schedulers sarathi and vllm-2023: end a step, fast-forward, and answer the simulation's
 * calls.
 *
 * iteration_form.c decides which requests a step has; this file counts what each request got when a
 * step ends, and sums runs of steps in which nobody enters or leaves in closed form. A run ends
 * before the first event that could change the batch: a request that ends, an arrival that could
 * enter, a cache without room. `stepping` disables it, and a test shows that both agree. */
#include "sim/schedulers/iteration.h"
#include "sim/schedulers/schedulers.h"

#include <math.h>

/* ---- ends ----------------------------------------------------------------------------------- */

static void complete(struct iteration *iteration, uint32_t id, uint64_t done)
{
    simulation_done(iteration->replica.simulation, id, iteration->replica.next);
    iteration->free_blocks += iteration_blocks_held(iteration, id, done);
    iteration_list_remove(iteration->running, &iteration->running_count, id);
}

static void first_token(const struct iteration *iteration, uint32_t id)
{
    simulation_first_token(iteration->replica.simulation, id, iteration->replica.next);
}

/* The last turn's blocks were taken for what was done before it. */
static void complete_turn(struct iteration *iteration)
{
    while (iteration->decoding && iteration->finishes[0].turn == iteration->turns) {
        uint32_t id = iteration_heap_pop(iteration);
        uint64_t done = iteration->requests->total[id];
        iteration->takes[iteration_take_class(iteration, id, done)]--;
        iteration->done_sum -= iteration->requests->done[id];
        complete(iteration, id, done);
    }
}

static void end_prompt_part(struct iteration *iteration, const struct batch_part *part)
{
    struct request_progress *requests = iteration->requests;
    uint64_t done = (uint64_t)(requests->done[part->id] += part->tokens);
    if (done < requests->prompt[part->id])
        return;
    first_token(iteration, part->id);
    done++;
    iteration_list_remove(iteration->prefills, &iteration->prefill_count, part->id);
    if (done == requests->total[part->id])
        complete(iteration, part->id, done);
    else
        iteration_join_decoding(iteration, part->id, done);
}

/* After a step through all: what each has done is a number again; the decoding ones join. */
static void end_exact(struct iteration *iteration)
{
    struct request_progress *requests = iteration->requests;
    for (size_t i = 0; i < iteration->part_count; i++)
        requests->done[iteration->parts[i].id] += iteration->parts[i].tokens;
    for (size_t i = 0; i < iteration->part_count; i++) {
        uint32_t id = iteration->parts[i].id;
        if (requests->done[id] == requests->prompt[id]) {
            first_token(iteration, id);
            requests->done[id]++;
        }
        if (requests->done[id] == requests->total[id])
            complete(iteration, id, requests->total[id]);
    }
    iteration->prefill_count = 0;
    for (size_t i = 0; i < iteration->running_count; i++) {
        uint32_t id = iteration->running[i];
        if (requests->done[id] < requests->prompt[id])
            iteration->prefills[iteration->prefill_count++] = id;
        else
            iteration_join_decoding(iteration, id, (uint64_t)requests->done[id]);
    }
}

static void end_batch(struct iteration *iteration)
{
    iteration->busy = false;
    iteration->replica.tokens_left -= iteration->flying;
    if (iteration->exact) {
        iteration->exact = false;
        end_exact(iteration);
        return;
    }
    if (iteration->turn) {
        iteration->turns++;
        complete_turn(iteration);
    }
    for (size_t i = 0; i < iteration->part_count; i++)
        end_prompt_part(iteration, &iteration->parts[i]);
}

/* ---- fast-forwards -------------------------------------------------------------------------- */

/* Whether the one that waits first will still wait after a turn of those who decode. */
static bool nobody_enters(const struct iteration *iteration)
{
    const struct sim_server *server = iteration->replica.server;
    if (!iteration->queue.count || iteration->running_count >= server->max_num_seqs)
        return true;
    if (iteration->cuts && iteration->decoding >= server->chunk)
        return true;
    return iteration->free_blocks <
           iteration_blocks_for(iteration, iteration->requests->prompt[iteration->queue.head]) +
           iteration_spare_blocks(server);
}

/* As many turns as come before anything else can happen, unless somebody arrives. */
static void try_fast_forward(struct iteration *iteration, double now)
{
    iteration->forward.steps = 0;
    if (!iteration->decoding || iteration->prefill_count || !iteration_is_safe(iteration) ||
        !nobody_enters(iteration))
        return;
    uint64_t most = iteration->finishes[0].turn - iteration->turns - 1;
    uint64_t blocks = iteration_with_blocks(iteration);
    struct sim_step step = { .decoding = (double)iteration->decoding,
                             .decode_cached = (double)iteration_cached_sum(iteration),
                             .sequences = (double)iteration->decoding };
    most = most < blocks ? most : blocks;
    if (most)
        iteration->forward = fast_forward_of(iteration->replica.server, now, &step, most);
}

/* The first turns of the fast-forward have been. */
static void settle_turns(struct iteration *iteration, uint64_t turns)
{
    struct fast_forward *forward = &iteration->forward;
    const double seconds = fast_forward_seconds(forward, (double)turns);
    if (!turns)
        return;
    simulation_fast_forwarded(&iteration->replica, forward, turns);
    iteration_take_blocks(iteration, turns);
    iteration->turns += turns;
    iteration->replica.tokens_left -= turns * iteration->decoding;
    iteration->replica.blocks_used = iteration->replica.server->blocks - iteration->free_blocks;
    forward->from += seconds;
    forward->first += forward->growth * (double)turns;
    forward->step.decode_cached += (double)(turns * iteration->decoding);
    forward->steps -= turns;
}

/* ---- what the simulation asks --------------------------------------------------------------- */

static void counts(struct iteration *iteration)
{
    iteration->replica.waiting = iteration->queue.count;
    iteration->replica.running = iteration->running_count;
}

static void iteration_start(struct replica *replica, double now)
{
    struct iteration *iteration = (struct iteration *)replica;
    counts(iteration);
    try_fast_forward(iteration, now);
    if (iteration->forward.steps)
        replica->next = now +
        fast_forward_seconds(&iteration->forward, (double)iteration->forward.steps);
    else
        iteration_form_batch(iteration, now);
    counts(iteration);
}

static void iteration_end(struct replica *replica, double now)
{
    struct iteration *iteration = (struct iteration *)replica;
    (void)now;
    if (iteration->busy)
        end_batch(iteration);
    else
        settle_turns(iteration, iteration->forward.steps);
    counts(iteration);
}

static struct course iteration_course(const struct replica *replica)
{
    const struct iteration *iteration = (const struct iteration *)replica;
    const struct fast_forward *forward = &iteration->forward;
    return (struct course){ .tokens = replica->tokens_left, .each = (uint32_t)iteration->decoding,
                            .most = (uint32_t)forward->steps, .end = { NAN, NAN },
                            .from = forward->from, .first = forward->first, .growth = forward->growth };
}

/* The turn that runs goes on by itself: after it somebody else may enter. */
static void leave_fast_forward(struct iteration *iteration)
{
    if (!iteration->forward.steps)
        return;
    iteration->forward.steps = 0;
    iteration_form_batch(iteration, iteration->forward.from);
}

/* A turn that ends in this moment ends by itself. */
static void iteration_settle(struct replica *replica, double now)
{
    struct iteration *iteration = (struct iteration *)replica;
    if (!iteration->forward.steps)
        return;
    settle_turns(iteration, fast_forward_before(&iteration->forward, now));
    if (!moment_before(now, iteration->forward.from + iteration->forward.first))
        leave_fast_forward(iteration);
}

static void iteration_take(struct replica *replica, uint32_t id, double now)
{
    struct iteration *iteration = (struct iteration *)replica;
    struct simulation *simulation = replica->simulation;
    iteration_settle(replica, now);
    leave_fast_forward(iteration);
    iteration->requests->prompt[id] = (uint32_t)simulation_prompt(simulation, id);
    iteration->requests->total[id] = (uint32_t)simulation_total(simulation, id);
    replica->tokens_left += simulation_total(simulation, id) - 1; /* its last token is not an input */
    queue_last(simulation, &iteration->queue, id);
    counts(iteration);
}

static bool iteration_drop(struct replica *replica, uint32_t id)
{
    struct iteration *iteration = (struct iteration *)replica;
    leave_fast_forward(iteration);                  /* its turn was formed while this one waited */
    if (!queue_remove(replica->simulation, &iteration->queue, id))
        return false;
    replica->tokens_left -= iteration->requests->total[id] - 1;
    counts(iteration);
    return true;
}

/* Without fast-forwards each request keeps its own count of tokens, and `turns` stays 0. A token that
 * a request received before it started again is in its prompt. */
static uint32_t iteration_received(const struct replica *replica, uint32_t id)
{
    const struct iteration *iteration = (const struct iteration *)replica;
    const uint64_t done = (uint64_t)iteration->requests->done[id] + iteration->turns;
    const uint64_t prompt = iteration->requests->prompt[id];
    return (uint32_t)(done > prompt ? done : prompt) - replica->simulation->trace->prompt[id];
}

/* What was processed beyond the prompt of the trace its user has. */
static void forget(struct iteration *iteration, uint32_t id, uint64_t done)
{
    const struct request_progress *requests = iteration->requests;
    uint64_t most = done > requests->prompt[id] ? done : requests->prompt[id];
    iteration->replica.simulation->got[id] =
        (uint32_t)(most - iteration->replica.simulation->trace->prompt[id]);
}

static void iteration_clear(struct replica *replica, double now)
{
    struct iteration *iteration = (struct iteration *)replica;
    iteration_settle(replica, now);
    leave_fast_forward(iteration);                  /* the turn that runs is lost, but it ran */
    if (!iteration->exact)
        iteration_leave(iteration);
    for (size_t i = 0; i < iteration->running_count; i++)
        forget(iteration, iteration->running[i],
               (uint64_t)iteration->requests->done[iteration->running[i]]);
    while (iteration->queue.count)
        forget(iteration, queue_pop(replica->simulation, &iteration->queue), 0);
    iteration->running_count = iteration->prefill_count = iteration->part_count = 0;
    iteration->free_blocks = replica->server->blocks;
    iteration->forward.steps = 0;
    iteration->busy = false;
    replica->next = INFINITY;
    replica->tokens_left = replica->blocks_used = 0;
    counts(iteration);
}

static struct replica *iteration_open(struct arena *arena, struct simulation *simulation,
                                      const struct sim_server *server)
{
    struct window *window = &simulation->window;
    size_t most = server->max_num_seqs + 1;
    struct iteration *iteration = arena_alloc(arena, sizeof *iteration);
    if (!simulation->shared) {
        struct request_progress *requests = simulation->shared = arena_alloc(arena, sizeof *requests);
        *requests = (struct request_progress){ window_array(window, arena, sizeof(uint32_t)),
                                       window_array(window, arena, sizeof(uint32_t)),
                                       window_array(window, arena, sizeof(int64_t)) };
    }
    *iteration = (struct iteration){
        .requests = simulation->shared, .queue = QUEUE_EMPTY, .free_blocks = server->blocks,
        .cuts = server->scheduler->can & SCHEDULER_CHUNK,
        .running = arena_array(arena, most, sizeof(uint32_t)),
        .prefills = arena_array(arena, most, sizeof(uint32_t)),
        .finishes = arena_array(arena, most, sizeof(struct finish)),
        .takes = arena_array(arena, server->block, sizeof(size_t)),
        .parts = arena_array(arena, 2 * most, sizeof(struct batch_part)),
    };
    return &iteration->replica;
}

#define TURNS .size = sizeof(struct iteration), .open = iteration_open, .take = iteration_take, .end = iteration_end, .start = iteration_start, \
    .clear = iteration_clear, .settle = iteration_settle, .course = iteration_course, .drop = iteration_drop, \
    .received = iteration_received, .spare = iteration_spare_blocks

const struct scheduler scheduler_sarathi = {
    .name = "sarathi", .router = ROUTER_LEAST_PENDING,
    .can = SCHEDULER_STEP_TIME | SCHEDULER_BLOCKS | SCHEDULER_CHUNK | SCHEDULER_WATERMARK,
    .usual = { SIM_USUAL, .watermark = 0.01 }, TURNS };

const struct scheduler scheduler_vllm_2023 = {
    .name = "vllm-2023", .router = ROUTER_LEAST_PENDING,
    .can = SCHEDULER_STEP_TIME | SCHEDULER_BLOCKS | SCHEDULER_BATCH_TOKENS | SCHEDULER_WATERMARK,
    .usual = { SIM_USUAL, .watermark = 0.01, .batch_tokens_most = 4096 }, TURNS };
