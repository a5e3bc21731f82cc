/* The schedulers sarathi and vllm-2023: end a step, fast-forward, and answer the simulation's
 * calls.
 *
 * turns_form.c decides which requests a step has; this file counts what each request got when a
 * step ends, and sums runs of steps in which nobody enters or leaves in closed form. A run ends
 * before the first event that could change the batch: a request that ends, an arrival that could
 * enter, a cache without room. `stepping` disables it, and a test shows that both agree. */
#include "sim/schedulers/turns.h"
#include "sim/schedulers/schedulers.h"

#include <math.h>

/* ---- ends ----------------------------------------------------------------------------------- */

static void complete(struct replica *replica, uint32_t id, uint64_t done)
{
    world_done(replica->engine.world, id, replica->engine.next);
    replica->free_blocks += turns_blocks_held(replica, id, done);
    turns_list_remove(replica->running, &replica->running_count, id);
}

static void first_token(const struct replica *replica, uint32_t id)
{
    world_first_token(replica->engine.world, id, replica->engine.next);
}

/* The last turn's blocks were taken for what was done before it. */
static void complete_turn(struct replica *replica)
{
    while (replica->decoding && replica->finishes[0].turn == replica->turns) {
        uint32_t id = turns_heap_pop(replica);
        uint64_t done = replica->requests->total[id];
        replica->takes[turns_take_class(replica, id, done)]--;
        replica->done_sum -= replica->requests->done[id];
        complete(replica, id, done);
    }
}

static void end_prompt_part(struct replica *replica, const struct part *part)
{
    struct requests *requests = replica->requests;
    uint64_t done = (uint64_t)(requests->done[part->id] += part->tokens);
    if (done < requests->prompt[part->id])
        return;
    first_token(replica, part->id);
    done++;
    turns_list_remove(replica->prefills, &replica->prefill_count, part->id);
    if (done == requests->total[part->id])
        complete(replica, part->id, done);
    else
        turns_join_decoding(replica, part->id, done);
}

/* After a step through all: what each has done is a number again; the decoding ones join. */
static void end_exact(struct replica *replica)
{
    struct requests *requests = replica->requests;
    for (size_t i = 0; i < replica->part_count; i++)
        requests->done[replica->parts[i].id] += replica->parts[i].tokens;
    for (size_t i = 0; i < replica->part_count; i++) {
        uint32_t id = replica->parts[i].id;
        if (requests->done[id] == requests->prompt[id]) {
            first_token(replica, id);
            requests->done[id]++;
        }
        if (requests->done[id] == requests->total[id])
            complete(replica, id, requests->total[id]);
    }
    replica->prefill_count = 0;
    for (size_t i = 0; i < replica->running_count; i++) {
        uint32_t id = replica->running[i];
        if (requests->done[id] < requests->prompt[id])
            replica->prefills[replica->prefill_count++] = id;
        else
            turns_join_decoding(replica, id, (uint64_t)requests->done[id]);
    }
}

static void end_batch(struct replica *replica)
{
    replica->busy = false;
    if (replica->exact) {
        replica->exact = false;
        end_exact(replica);
        return;
    }
    if (replica->turn) {
        replica->turns++;
        complete_turn(replica);
    }
    for (size_t i = 0; i < replica->part_count; i++)
        end_prompt_part(replica, &replica->parts[i]);
}

/* ---- stretches ------------------------------------------------------------------------------ */

/* Whether the one that waits first will still wait after a turn of those who decode. */
static bool nobody_enters(const struct replica *replica)
{
    const struct sim_server *server = replica->engine.server;
    if (!replica->queue.count || replica->running_count >= server->max_num_seqs)
        return true;
    if (replica->cuts && replica->decoding >= server->chunk)
        return true;
    return replica->free_blocks <
           turns_blocks_for(replica, replica->requests->prompt[replica->queue.head]) +
           turns_spare_blocks(server);
}

/* As many turns as come before anything else can happen, unless somebody arrives. */
static void try_stretch(struct replica *replica, double now)
{
    replica->stretch.steps = 0;
    if (!replica->decoding || replica->prefill_count || !turns_are_safe(replica) ||
        !nobody_enters(replica))
        return;
    uint64_t most = replica->finishes[0].turn - replica->turns - 1;
    uint64_t blocks = turns_with_blocks(replica);
    struct sim_step step = { .decoding = (double)replica->decoding,
                             .decode_cached = (double)turns_cached_sum(replica),
                             .sequences = (double)replica->decoding };
    most = most < blocks ? most : blocks;
    if (most)
        replica->stretch = stretch_of(replica->engine.server, now, &step, most);
}

/* The first turns of the stretch have been. */
static void settle_turns(struct replica *replica, uint64_t turns)
{
    struct stretch *stretch = &replica->stretch;
    const double seconds = stretch_seconds(stretch, (double)turns);
    if (!turns)
        return;
    world_stretched(&replica->engine, stretch, turns);
    turns_take_blocks(replica, turns);
    replica->turns += turns;
    replica->engine.tokens_left -= turns * replica->decoding;
    replica->engine.blocks_used = replica->engine.server->blocks - replica->free_blocks;
    stretch->from += seconds;
    stretch->first += stretch->growth * (double)turns;
    stretch->step.decode_cached += (double)(turns * replica->decoding);
    stretch->steps -= turns;
}

/* ---- what the world asks -------------------------------------------------------------------- */

static void counts(struct replica *replica)
{
    replica->engine.waiting = replica->queue.count;
    replica->engine.running = replica->running_count;
}

static void turns_start(struct engine *engine, double now)
{
    struct replica *replica = (struct replica *)engine;
    counts(replica);
    try_stretch(replica, now);
    if (replica->stretch.steps)
        engine->next = now + stretch_seconds(&replica->stretch, (double)replica->stretch.steps);
    else
        turns_form_batch(replica, now);
    counts(replica);
}

static void turns_end(struct engine *engine, double now)
{
    struct replica *replica = (struct replica *)engine;
    (void)now;
    if (replica->busy)
        end_batch(replica);
    else
        settle_turns(replica, replica->stretch.steps);
    counts(replica);
}

/* A turn counts from its start. */
static uint64_t turns_left(const struct engine *engine, double now)
{
    const struct replica *replica = (const struct replica *)engine;
    const struct stretch *stretch = &replica->stretch;
    uint64_t turns = stretch->steps ? stretch_before(stretch, now) : 0;
    return engine->tokens_left - (turns + (turns < stretch->steps)) * replica->decoding;
}

static void turns_settle(struct engine *engine, double now)
{
    struct replica *replica = (struct replica *)engine;
    if (replica->stretch.steps)
        settle_turns(replica, stretch_before(&replica->stretch, now));
}

/* The turn that runs goes on by itself: after it somebody else may enter. */
static void leave_stretch(struct replica *replica)
{
    if (!replica->stretch.steps)
        return;
    replica->stretch.steps = 0;
    turns_form_batch(replica, replica->stretch.from);
}

static void turns_take(struct engine *engine, uint32_t id, double now)
{
    struct replica *replica = (struct replica *)engine;
    struct world *world = engine->world;
    turns_settle(engine, now);
    leave_stretch(replica);
    replica->requests->prompt[id] = (uint32_t)world_prompt(world, id);
    replica->requests->total[id] = (uint32_t)world_total(world, id);
    engine->tokens_left += world_total(world, id) - 1;      /* its last token is not an input */
    queue_last(world, &replica->queue, id);
    counts(replica);
}

static bool turns_drop(struct engine *engine, uint32_t id)
{
    struct replica *replica = (struct replica *)engine;
    leave_stretch(replica);                         /* its turn was formed while this one waited */
    if (!queue_remove(engine->world, &replica->queue, id))
        return false;
    engine->tokens_left -= replica->requests->total[id] - 1;
    counts(replica);
    return true;
}

/* What was processed beyond the prompt of the trace its user has. */
static void forget(struct replica *replica, uint32_t id, uint64_t done)
{
    const struct requests *requests = replica->requests;
    uint64_t most = done > requests->prompt[id] ? done : requests->prompt[id];
    replica->engine.world->got[id] = (uint32_t)(most - replica->engine.world->trace->prompt[id]);
}

static void turns_clear(struct engine *engine, double now)
{
    struct replica *replica = (struct replica *)engine;
    turns_settle(engine, now);
    leave_stretch(replica);                         /* the turn that runs is lost, but it ran */
    if (!replica->exact)
        turns_leave(replica);
    for (size_t i = 0; i < replica->running_count; i++)
        forget(replica, replica->running[i],
               (uint64_t)replica->requests->done[replica->running[i]]);
    while (replica->queue.count)
        forget(replica, queue_pop(engine->world, &replica->queue), 0);
    replica->running_count = replica->prefill_count = replica->part_count = 0;
    replica->free_blocks = engine->server->blocks;
    replica->stretch.steps = 0;
    replica->busy = false;
    engine->next = INFINITY;
    engine->tokens_left = engine->blocks_used = 0;
    counts(replica);
}

static struct engine *turns_open(struct arena *arena, struct world *world,
                                 const struct sim_server *server)
{
    size_t most = server->max_num_seqs + 1, count = world->trace->count;
    struct replica *replica = arena_alloc(arena, sizeof *replica);
    if (!world->shared) {
        struct requests *requests = world->shared = arena_alloc(arena, sizeof *requests);
        *requests = (struct requests){ arena_array(arena, count, sizeof(uint32_t)),
                                       arena_array(arena, count, sizeof(uint32_t)),
                                       arena_array(arena, count, sizeof(int64_t)) };
    }
    *replica = (struct replica){
        .requests = world->shared, .queue = QUEUE_EMPTY, .free_blocks = server->blocks,
        .cuts = server->scheduler->can & SCHEDULER_CHUNK,
        .running = arena_array(arena, most, sizeof(uint32_t)),
        .prefills = arena_array(arena, most, sizeof(uint32_t)),
        .finishes = arena_array(arena, most, sizeof(struct finish)),
        .takes = arena_array(arena, server->block, sizeof(size_t)),
        .parts = arena_array(arena, 2 * most, sizeof(struct part)),
    };
    return &replica->engine;
}

#define TURNS .open = turns_open, .take = turns_take, .end = turns_end, .start = turns_start, \
    .clear = turns_clear, .settle = turns_settle, .left = turns_left, .drop = turns_drop, \
    .spare = turns_spare_blocks

const struct scheduler scheduler_sarathi = {
    .name = "sarathi", .router = ROUTER_LEAST_PENDING,
    .can = SCHEDULER_STEP_TIME | SCHEDULER_BLOCKS | SCHEDULER_CHUNK | SCHEDULER_WATERMARK,
    .usual = { SIM_USUAL, .watermark = 0.01 }, TURNS };

const struct scheduler scheduler_vllm_2023 = {
    .name = "vllm-2023", .router = ROUTER_LEAST_PENDING,
    .can = SCHEDULER_STEP_TIME | SCHEDULER_BLOCKS | SCHEDULER_BATCH_TOKENS | SCHEDULER_WATERMARK,
    .usual = { SIM_USUAL, .watermark = 0.01, .batch_tokens_most = 4096 }, TURNS };
