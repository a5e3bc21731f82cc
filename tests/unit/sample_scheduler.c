/* A sample scheduler, to start another one from: first come, first served, and nobody who runs has
 * to go.
 *
 * A request enters when a seat and the blocks for all of its tokens are free, after those that came
 * before it. A step holds everybody who runs: the whole prompt of those who entered with it, one
 * token of the others. Each step is formed when the one before has ended, and runs by itself; the
 * schedulers of sim/schedulers/ leap over steps of the same requests (`stretch_of`). */
#include "sim/engine.h"

#include <math.h>

extern const struct scheduler scheduler_fcfs;

struct running {
    uint32_t id;
    uint32_t outputs;               /* given since it entered; 0: its prompt is being read */
};

struct fcfs {
    struct engine engine;
    struct queue queue;
    struct running *running;        /* in the order in which they entered */
    size_t free;                    /* blocks */
};

static size_t blocks_for(const struct fcfs *fcfs, uint32_t id)
{
    const size_t block = fcfs->engine.server->block;
    return (size_t)((world_total(fcfs->engine.world, id) + block - 1) / block);
}

static void count(struct fcfs *fcfs)
{
    fcfs->engine.waiting = fcfs->queue.count;
    fcfs->engine.blocks_used = fcfs->engine.server->blocks - fcfs->free;
}

/* Tokens to process: its last output is not an input. */
static uint64_t work_of(const struct fcfs *fcfs, uint32_t id)
{
    return world_total(fcfs->engine.world, id) - 1;
}

static void fcfs_take(struct engine *engine, uint32_t id, double now)
{
    struct fcfs *fcfs = (struct fcfs *)engine;
    (void)now;
    queue_last(engine->world, &fcfs->queue, id);
    engine->tokens_left += work_of(fcfs, id);
    count(fcfs);
}

static bool fcfs_drop(struct engine *engine, uint32_t id)
{
    struct fcfs *fcfs = (struct fcfs *)engine;
    if (!queue_remove(engine->world, &fcfs->queue, id))
        return false;
    engine->tokens_left -= work_of(fcfs, id);
    count(fcfs);
    return true;
}

static void admit(struct fcfs *fcfs)
{
    struct engine *engine = &fcfs->engine;
    while (fcfs->queue.count && engine->running < engine->server->max_num_seqs &&
           blocks_for(fcfs, fcfs->queue.head) <= fcfs->free) {
        const uint32_t id = queue_pop(engine->world, &fcfs->queue);
        fcfs->free -= blocks_for(fcfs, id);
        fcfs->running[engine->running++] = (struct running){ .id = id };
    }
}

static void add(struct sim_step *step, uint64_t prompt, uint32_t outputs)
{
    const double tokens = (double)prompt;
    step->sequences++;
    if (outputs) {
        step->decoding++;
        step->decode_cached += tokens + outputs - 1;
    } else {
        step->prompt += tokens;
        step->prompt_pairs += tokens * tokens / 2;
    }
}

static void fcfs_start(struct engine *engine, double now)
{
    struct fcfs *fcfs = (struct fcfs *)engine;
    struct sim_step step = { 0 };
    admit(fcfs);
    for (size_t i = 0; i < engine->running; i++)
        add(&step, world_prompt(engine->world, fcfs->running[i].id), fcfs->running[i].outputs);
    count(fcfs);
    engine->next = INFINITY;
    if (!engine->running)
        return;
    const double seconds = engine->server->seconds(engine->server->context, &step);
    engine->next = now + seconds;
    engine->tokens_left -= (uint64_t)(step.decoding + step.prompt);
    world_ran(engine, now, seconds, &step);
}

static void fcfs_end(struct engine *engine, double now)
{
    struct fcfs *fcfs = (struct fcfs *)engine;
    struct world *world = engine->world;
    size_t stay = 0;
    for (size_t i = 0; i < engine->running; i++) {
        struct running *running = &fcfs->running[i];
        running->outputs++;
        world_first_token(world, running->id, now);
        if (world->got[running->id] + running->outputs < world->want[running->id]) {
            fcfs->running[stay++] = *running;
            continue;
        }
        fcfs->free += blocks_for(fcfs, running->id);
        world_done(world, running->id, now);
    }
    engine->running = stay;
    count(fcfs);
}

static void fcfs_clear(struct engine *engine, double now)
{
    struct fcfs *fcfs = (struct fcfs *)engine;
    (void)now;
    for (size_t i = 0; i < engine->running; i++)
        engine->world->got[fcfs->running[i].id] += fcfs->running[i].outputs;
    fcfs->queue = QUEUE_EMPTY;
    fcfs->free = engine->server->blocks;
    engine->running = engine->tokens_left = 0;
    engine->next = INFINITY;
    count(fcfs);
}

static struct engine *fcfs_open(struct arena *arena, struct world *world,
                                const struct sim_server *server)
{
    struct fcfs *fcfs = arena_alloc(arena, sizeof *fcfs);
    *fcfs = (struct fcfs){ .engine = { .world = world, .server = server }, .queue = QUEUE_EMPTY,
                           .running = arena_array(arena, server->max_num_seqs,
                                                  sizeof *fcfs->running),
                           .free = server->blocks };
    return &fcfs->engine;
}

const struct scheduler scheduler_fcfs = {
    .name = "fcfs", .router = ROUTER_LEAST_TOKENS, .usual = { SIM_USUAL },
    .can = SCHEDULER_STEP_TIME | SCHEDULER_BLOCKS,
    .open = fcfs_open, .take = fcfs_take, .end = fcfs_end, .start = fcfs_start,
    .clear = fcfs_clear, .drop = fcfs_drop };
