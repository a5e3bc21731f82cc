/* A run of the simulator that goes on while its requests arrive.
 *
 * The trace has room for as many requests as may ever come, all of which arrive at no time until they
 * are asked. The clock is that of sim_run, a moment after the other, without fast-forwards. After a
 * moment, the tokens of every open request that has its first are compared with those already told:
 * the scheduler knows them (`received`), whatever was preempted, drafted or moved to another pool. */
#include "sim/live.h"
#include "sim/fleet.h"

#include <assert.h>
#include <math.h>

struct live {
    struct arena *arena;
    struct sim_options options;
    struct trace trace;
    struct sim_result result;
    struct fleet_run run;
    size_t asked, block_count, block_room;      /* of all names of prefix blocks */
    uint32_t *open, *told_so_far;   /* open requests, in order of arrival; [most] tokens told */
    bool *gone;                     /* [most] their users went before they arrived */
    size_t open_count;
    live_told *told;
    void *context;
};

struct live *live_open(struct arena *arena, const struct sim_options *options, size_t most,
                       live_told *told, void *context, struct error *error)
{
    struct live *live = arena_alloc(arena, sizeof *live);
    struct trace *trace = &live->trace;
    assert(!options->users && !options->waiting_most && !(options->patience > 0));
    live->options = *options;
    live->options.stepping = true;
    live->told = told;
    live->context = context;
    *trace = (struct trace){ .count = most, .arrival = arena_array(arena, most, sizeof(double)),
                             .prompt = arena_array(arena, most, sizeof(uint32_t)),
                             .output = arena_array(arena, most, sizeof(uint32_t)) };
    for (size_t i = 0; i < most; i++)
        trace->arrival[i] = INFINITY;
    live->open = arena_array(arena, most, sizeof *live->open);
    live->told_so_far = arena_array(arena, most, sizeof *live->told_so_far);
    live->gone = arena_array(arena, most, sizeof *live->gone);
    if (options->server.scheduler->cached) {
        trace->block = options->server.block;
        trace->first = arena_array(arena, most + 1, sizeof *trace->first);
        arena_push(arena, &trace->blocks, &live->block_count, &live->block_room, sizeof *trace->blocks);
        live->block_count = 0;
    }
    if (!run_open(arena, trace, &live->options, &live->result, &live->run, error))
        return NULL;
    live->result.cached = arena_array(arena, most, sizeof *live->result.cached);
    live->arena = arena;
    return live;
}

size_t live_block(const struct live *live)
{
    return live->trace.block;
}

size_t live_where(const struct live *live, uint32_t id)
{
    return live->run.where[id] < live->run.replica_count ? live->run.where[id] : 0;
}

bool live_fits(const struct live *live, uint32_t prompt, uint32_t output, struct error *error)
{
    const struct sim_options *options = &live->options;
    return run_fits(&options->server, live->asked, (uint64_t)prompt + output, error) &&
           (!options->split.replicas ||
            run_fits(&options->split.server, live->asked, (uint64_t)prompt + 1, error));
}

/* Names of the prefix blocks of the request that is asked next. */
static void name_blocks(struct live *live, const uint64_t *blocks, size_t count)
{
    struct trace *trace = &live->trace;
    for (size_t i = 0; i < count && trace->block; i++)
        *(uint64_t *)arena_push(live->arena, &trace->blocks, &live->block_count, &live->block_room,
                                sizeof *trace->blocks) = blocks[i];
    if (trace->block)
        trace->first[live->asked + 1] = live->block_count;
}

bool live_ask(struct live *live, double at, uint32_t prompt, uint32_t output, const uint64_t *blocks, size_t count,
              uint32_t *id)
{
    struct trace *trace = &live->trace;
    if (live->asked == trace->count)
        return false;
    assert(prompt && output);
    name_blocks(live, blocks, count);
    at = moment_later(at, live->run.now);           /* its last bits */
    *id = (uint32_t)live->asked++;
    trace->arrival[*id] = live->result.arrival[*id] = at;
    trace->prompt[*id] = prompt;
    trace->output[*id] = live->run.simulation.want[*id] = output;
    live->open[live->open_count++] = *id;
    return true;
}

static void close_request(struct live *live, size_t at)
{
    live->open_count--;
    for (; at < live->open_count; at++)
        live->open[at] = live->open[at + 1];
}

/* True: the request has left. One of disaggregated serving is left alone: where it goes next depends on what it wants. */
static bool cut(struct live *live, uint32_t id, double now)
{
    struct fleet_run *run = &live->run;
    const size_t at = run->where[id];
    if (live->options.split.replicas || at >= run->replica_count || !run->replicas[at]->scheduler->cut)
        return false;
    live->trace.output[id] = run->replicas[at]->scheduler->cut(run->replicas[at], id);
    fleet_touch(run, run->replicas[at], now);
    if (!live->trace.output[id])
        fleet_forget(run, id, now);
    return !live->trace.output[id];
}

static bool take_back(struct live *live, uint32_t id, double now)
{
    live->gone[id] = id >= live->run.arrived;
    return !live->gone[id] && (fleet_take_back(&live->run, id, now) || cut(live, id, now));
}

bool live_take_back(struct live *live, uint32_t id, double now)
{
    for (size_t i = 0; i < live->open_count; i++)
        if (live->open[i] == id && take_back(live, id, now)) {
            close_request(live, i);
            return true;
        }
    return false;
}

/* What has come in the moment that has just been. */
static void tell(struct live *live)
{
    const struct fleet_run *run = &live->run;
    size_t kept = 0;
    for (size_t i = 0; i < live->open_count; i++) {
        const uint32_t id = live->open[i];
        if (live->gone[id] && take_back(live, id, run->now))
            continue;
        const size_t at = run->where[id];
        const bool there = at < run->replica_count;
        uint32_t tokens = 0;
        if (live->result.completed[id] >= 0)
            tokens = live->trace.output[id];
        else if (live->result.first_token[id] >= 0 && there)
            tokens = run->replicas[at]->scheduler->received(run->replicas[at], id);
        if (tokens < 1 && live->result.first_token[id] >= 0)
            tokens = 1;
        if (tokens > live->told_so_far[id]) {
            const uint32_t fresh = tokens - live->told_so_far[id];
            live->told_so_far[id] = tokens;
            live->told(live->context, id, there ? at : 0, tokens, fresh, run->now);
        }
        if (live->told_so_far[id] < live->trace.output[id])
            live->open[kept++] = id;
    }
    live->open_count = kept;
}

double live_next(const struct live *live)
{
    return run_next(&live->run);
}

void live_advance(struct live *live, double until)
{
    for (double next; (next = run_next(&live->run)) <= until;) {
        run_moment(&live->run, next);
        tell(live);
    }
}

size_t live_asked(const struct live *live)
{
    return live->asked;
}

size_t live_open_requests(const struct live *live)
{
    return live->open_count;
}

size_t live_replicas(const struct live *live)
{
    return live->run.replica_count;
}

struct live_replica live_replica(const struct live *live, size_t replica)
{
    const struct replica *at = live->run.replicas[replica];
    return (struct live_replica){ at->waiting, at->running, at->blocks_used, at->server->blocks };
}

const struct sim_result *live_result(const struct live *live)
{
    return &live->result;
}
