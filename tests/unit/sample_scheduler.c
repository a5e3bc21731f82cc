/* A sample scheduler, to start another one from: first come, first served, and nobody who runs has
 * to go.
 *
 * A request enters when a seat and the blocks for all of its tokens are free, after those that came
 * before it. A step holds everybody who runs: the whole prompt of those who entered with it, one
 * token of the others. Each step is formed when the one before has ended, and runs by itself; the
 * schedulers of sim/schedulers/ fast-forward over steps of the same requests (`fast_forward_of`). */
#include "sim/replica.h"

#include <math.h>

extern const struct scheduler scheduler_fcfs;

struct running {
    uint32_t id;
    uint32_t outputs;               /* given since it entered; 0: its prompt is being read */
};

struct fcfs {
    struct replica replica;
    struct queue queue;
    struct running *running;        /* in the order in which they entered */
    size_t free;                    /* blocks */
};

static size_t blocks_for(const struct fcfs *fcfs, uint32_t id)
{
    const size_t block = fcfs->replica.server->block;
    return (size_t)((simulation_total(fcfs->replica.simulation, id) + block - 1) / block);
}

static void count(struct fcfs *fcfs)
{
    fcfs->replica.waiting = fcfs->queue.count;
    fcfs->replica.blocks_used = fcfs->replica.server->blocks - fcfs->free;
}

/* Tokens to process: its last output is not an input. */
static uint64_t work_of(const struct fcfs *fcfs, uint32_t id)
{
    return simulation_total(fcfs->replica.simulation, id) - 1;
}

static void fcfs_take(struct replica *replica, uint32_t id, double now)
{
    struct fcfs *fcfs = (struct fcfs *)replica;
    (void)now;
    queue_last(replica->simulation, &fcfs->queue, id);
    replica->tokens_left += work_of(fcfs, id);
    count(fcfs);
}

static bool fcfs_drop(struct replica *replica, uint32_t id)
{
    struct fcfs *fcfs = (struct fcfs *)replica;
    if (!queue_remove(replica->simulation, &fcfs->queue, id))
        return false;
    replica->tokens_left -= work_of(fcfs, id);
    count(fcfs);
    return true;
}

static void admit(struct fcfs *fcfs)
{
    struct replica *replica = &fcfs->replica;
    while (fcfs->queue.count && replica->running < replica->server->max_num_seqs &&
           blocks_for(fcfs, fcfs->queue.head) <= fcfs->free) {
        const uint32_t id = queue_pop(replica->simulation, &fcfs->queue);
        fcfs->free -= blocks_for(fcfs, id);
        fcfs->running[replica->running++] = (struct running){ .id = id };
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

static void fcfs_start(struct replica *replica, double now)
{
    struct fcfs *fcfs = (struct fcfs *)replica;
    struct sim_step step = { 0 };
    admit(fcfs);
    for (size_t i = 0; i < replica->running; i++)
        add(&step, simulation_prompt(replica->simulation, fcfs->running[i].id),
            fcfs->running[i].outputs);
    count(fcfs);
    replica->next = INFINITY;
    if (!replica->running)
        return;
    const double seconds = replica->server->seconds(replica->server->context, &step);
    replica->next = now + seconds;
    simulation_ran(replica, now, seconds, &step);
}

static void fcfs_end(struct replica *replica, double now)
{
    struct fcfs *fcfs = (struct fcfs *)replica;
    struct simulation *simulation = replica->simulation;
    size_t stay = 0;
    for (size_t i = 0; i < replica->running; i++) {
        struct running *running = &fcfs->running[i];
        replica->tokens_left -= running->outputs ? 1 : simulation_prompt(simulation, running->id);
        running->outputs++;
        simulation_first_token(simulation, running->id, now);
        if (simulation->got[running->id] + running->outputs < simulation->want[running->id]) {
            fcfs->running[stay++] = *running;
            continue;
        }
        fcfs->free += blocks_for(fcfs, running->id);
        simulation_done(simulation, running->id, now);
    }
    replica->running = stay;
    count(fcfs);
}

static void fcfs_clear(struct replica *replica, double now)
{
    struct fcfs *fcfs = (struct fcfs *)replica;
    (void)now;
    for (size_t i = 0; i < replica->running; i++)
        replica->simulation->got[fcfs->running[i].id] += fcfs->running[i].outputs;
    fcfs->queue = QUEUE_EMPTY;
    fcfs->free = replica->server->blocks;
    replica->running = replica->tokens_left = 0;
    replica->next = INFINITY;
    count(fcfs);
}

static struct replica *fcfs_open(struct arena *arena, struct simulation *simulation,
                                 const struct sim_server *server)
{
    struct fcfs *fcfs = arena_alloc(arena, sizeof *fcfs);
    *fcfs = (struct fcfs){ .replica = { .simulation = simulation, .server = server },
                           .queue = QUEUE_EMPTY, .running = arena_array(arena, server->max_num_seqs,
                                                  sizeof *fcfs->running),
                           .free = server->blocks };
    return &fcfs->replica;
}

const struct scheduler scheduler_fcfs = {
    .name = "fcfs", .router = ROUTER_LEAST_TOKENS, .usual = { SIM_USUAL },
    .can = SCHEDULER_STEP_TIME | SCHEDULER_BLOCKS,
    .open = fcfs_open, .take = fcfs_take, .end = fcfs_end, .start = fcfs_start,
    .clear = fcfs_clear, .drop = fcfs_drop };
