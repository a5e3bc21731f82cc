/* vLLM v1, as of 0.19: one budget of tokens for decodes and prompts, the last admitted starts
 * again when blocks end, prefixes are found in the cache, and two steps are in flight: the next
 * but one is formed when a step ends (asynchronous scheduling). Every step is run by itself. */
#include "sim/vllm.h"

#include "sim/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = UINT32_MAX, FLIGHT = 2 };

struct request {
    uint64_t known;                 /* prompt and outputs received */
    uint64_t computed;              /* tokens whose cache is scheduled */
    uint32_t coming;                /* outputs scheduled and not received */
    uint32_t next;                  /* in the queue that waits */
    uint32_t *blocks;               /* of a running one; [its most] */
    size_t block_count, named;      /* the first `named` have names */
};

struct part {
    uint32_t id;
    bool yields;                    /* its step gives a token */
};

struct flight {                     /* a step that was launched */
    struct part *parts;
    size_t count;
    double end;
};

struct engine {
    const struct trace *trace;
    const struct sim_options *options;
    struct sim_result *result;
    struct request *requests;       /* of all engines */
    struct blocks *blocks;
    uint32_t head, tail, *running, **spare;
    size_t waiting, running_count, spare_count;
    uint64_t tokens_left;           /* of its requests: prompt and output not received yet */
    struct flight flights[FLIGHT];
    size_t flight_count;
    double free_at;                 /* when the chips end what they have */
};

/* ---- names of blocks ------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t a, uint64_t b)
{
    uint64_t x = (a + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u ^ b;
    x = (x ^ x >> 31) * 0x94d049bb133111ebu;
    return x ^ x >> 29;
}

/* The trace's name of the prefix that ends here, or one that no other request has. */
static uint64_t name_of(const struct engine *engine, uint32_t id, size_t index)
{
    const struct trace *trace = engine->trace;
    size_t block = engine->options->block;
    if (trace->block && trace->block % block == 0 &&
        (index + 1) * block <= trace->prompt[id]) {
        size_t parts = trace->block / block, at = trace->first[id] + index / parts;
        if (at < trace->first[id + 1])
            return mixed(2 * trace->blocks[at], index % parts);
    }
    return mixed(2 * (uint64_t)id + 1, index);
}

/* Full blocks whose tokens are known and scheduled get their names. */
static void name_blocks(struct engine *engine, uint32_t id)
{
    struct request *request = &engine->requests[id];
    uint64_t sure = request->computed < request->known ? request->computed : request->known;
    for (size_t full = (size_t)(sure / engine->options->block); request->named < full; request->named++)
        blocks_name(engine->blocks, request->blocks[request->named],
                    name_of(engine, id, request->named));
}

/* ---- queues ---------------------------------------------------------------------------------- */

static void wait_first(struct engine *engine, uint32_t id)
{
    engine->requests[id].next = engine->head;
    engine->head = id;
    if (engine->tail == NOBODY)
        engine->tail = id;
    engine->waiting++;
}

static void wait_last(struct engine *engine, uint32_t id)
{
    engine->requests[id].next = NOBODY;
    *(engine->tail == NOBODY ? &engine->head : &engine->requests[engine->tail].next) = id;
    engine->tail = id;
    engine->waiting++;
}

static void stop_running(struct engine *engine, size_t at)
{
    uint32_t id = engine->running[at];
    struct request *request = &engine->requests[id];
    while (request->block_count)                    /* the tail first: roots are found longest */
        blocks_release(engine->blocks, request->blocks[--request->block_count]);
    engine->spare[engine->spare_count++] = request->blocks;
    request->blocks = NULL;
    request->named = 0;
    memmove(&engine->running[at], &engine->running[at + 1],
            (--engine->running_count - at) * sizeof *engine->running);
}

static void preempt_last(struct engine *engine)
{
    uint32_t id = engine->running[engine->running_count - 1];
    stop_running(engine, engine->running_count - 1);
    engine->requests[id].computed = 0;
    engine->result->restarts[id]++;
    engine->result->preemptions++;
    wait_first(engine, id);
}

/* ---- forming a step ---------------------------------------------------------------------------- */

static uint64_t limit_of(const struct engine *engine, uint32_t id)
{
    return (uint64_t)engine->trace->prompt[id] + engine->trace->output[id];
}

static uint64_t tokens_left(const struct engine *engine, uint32_t id)
{
    const struct request *request = &engine->requests[id];
    if (request->known + request->coming >= limit_of(engine, id))
        return 0;                                   /* what is in flight ends it */
    return request->known + request->coming - request->computed;
}

static size_t blocks_for(const struct engine *engine, uint64_t tokens)
{
    return (size_t)((tokens + engine->options->block - 1) / engine->options->block);
}

static void take_blocks(struct engine *engine, uint32_t id, uint64_t tokens)
{
    struct request *request = &engine->requests[id];
    while (request->block_count < blocks_for(engine, tokens))
        request->blocks[request->block_count++] = blocks_take(engine->blocks);
}

static void add_part(struct engine *engine, struct flight *flight, struct sim_step *step,
                     uint32_t id, uint64_t tokens)
{
    struct request *request = &engine->requests[id];
    double before = (double)request->computed, now = (double)tokens;
    if (tokens == 1 && request->computed >= engine->trace->prompt[id]) {
        step->decoding++;
        step->decode_cached += before;
    } else {
        step->prompt += now;
        step->prompt_cached += before;
        step->prompt_pairs += now * (before + now / 2);
    }
    step->sequences++;
    request->computed += tokens;
    bool yields = request->computed == request->known + request->coming;
    request->coming += yields;
    flight->parts[flight->count++] = (struct part){ id, yields };
    name_blocks(engine, id);
}

/* False: the request itself had to go. */
static bool make_room(struct engine *engine, size_t at, uint64_t tokens)
{
    uint32_t id = engine->running[at];
    const struct request *request = &engine->requests[id];
    for (;;) {
        size_t needed = blocks_for(engine, request->computed + tokens) - request->block_count;
        if (needed <= blocks_free(engine->blocks))
            return true;
        bool itself = engine->running_count == at + 1;
        preempt_last(engine);
        if (itself)
            return false;
    }
}

static uint64_t go_on(struct engine *engine, struct flight *flight, struct sim_step *step,
                      uint64_t budget)
{
    for (size_t at = 0; at < engine->running_count && budget; at++) {
        uint32_t id = engine->running[at];
        uint64_t tokens = tokens_left(engine, id);
        tokens = tokens < budget ? tokens : budget;
        if (!tokens)
            continue;
        if (!make_room(engine, at, tokens))
            break;
        take_blocks(engine, id, engine->requests[id].computed + tokens);
        add_part(engine, flight, step, id, tokens);
        budget -= tokens;
    }
    return budget;
}

/* Blocks of its prefix that are there, up to the one before its last token; how many idle. */
static size_t find_prefix(struct engine *engine, uint32_t id, size_t *idle)
{
    size_t most = (size_t)((engine->requests[id].known - 1) / engine->options->block), run = 0;
    for (*idle = 0; run < most; run++) {
        uint32_t block = blocks_find(engine->blocks, name_of(engine, id, run));
        if (block == BLOCKS_NONE)
            break;
        *idle += blocks_idle(engine->blocks, block);
    }
    return run;
}

static bool admit_one(struct engine *engine, struct flight *flight, struct sim_step *step,
                      uint64_t *budget)
{
    if (!engine->waiting || !*budget || engine->running_count >= engine->options->sequences_most)
        return false;
    uint32_t id = engine->head;
    struct request *request = &engine->requests[id];
    size_t idle, run = find_prefix(engine, id, &idle), all = blocks_for(engine, request->known);
    if (all - run + idle > blocks_free(engine->blocks))     /* the whole prompt must fit */
        return false;
    engine->head = request->next;
    if (engine->head == NOBODY)
        engine->tail = NOBODY;
    engine->waiting--;
    request->blocks = engine->spare[--engine->spare_count];
    for (size_t i = 0; i < run; i++) {
        uint32_t block = blocks_find(engine->blocks, name_of(engine, id, i));
        blocks_share(engine->blocks, block);
        request->blocks[request->block_count++] = block;
    }
    request->named = run;
    request->computed = (uint64_t)run * engine->options->block;
    engine->running[engine->running_count++] = id;
    uint64_t tokens = request->known - request->computed;
    tokens = tokens < *budget ? tokens : *budget;
    take_blocks(engine, id, request->computed + tokens);
    add_part(engine, flight, step, id, tokens);
    *budget -= tokens;
    return true;
}

/* Forms a step at a time and launches it behind what the chips have; false: nothing to do. */
static bool launch(struct engine *engine, double now)
{
    struct flight *flight = &engine->flights[engine->flight_count];
    struct sim_step step = { 0 };
    uint64_t preempted = engine->result->preemptions, budget = engine->options->chunk;
    flight->count = 0;
    budget = go_on(engine, flight, &step, budget);
    while (engine->result->preemptions == preempted && admit_one(engine, flight, &step, &budget))
        ;
    if (!flight->count)
        return false;
    double seconds = engine->options->seconds(engine->options->context, &step);
    double start = now > engine->free_at ? now : engine->free_at;
    engine->free_at = flight->end = start + seconds;
    engine->flight_count++;
    engine->result->iterations++;
    engine->result->batch_tokens += (uint64_t)(step.decoding + step.prompt);
    engine->result->busy += seconds;
    engine->result->queued += engine->waiting ? seconds : 0;
    return true;
}

/* ---- what a step gives -------------------------------------------------------------------------- */

/* One that had to start again may get its last token from a step that was in flight. */
static void stop_waiting(struct engine *engine, uint32_t id)
{
    uint32_t before = NOBODY, at = engine->head;
    for (; at != id; at = engine->requests[at].next)
        before = at;
    *(before == NOBODY ? &engine->head : &engine->requests[before].next) = engine->requests[id].next;
    if (engine->tail == id)
        engine->tail = before;
    engine->waiting--;
}

static void finish(struct engine *engine, uint32_t id, double now)
{
    size_t at = 0;
    engine->result->completed[id] = now;
    engine->result->makespan = fmax(engine->result->makespan, now);
    engine->tokens_left -= engine->trace->prompt[id];
    while (at < engine->running_count && engine->running[at] != id)
        at++;
    if (at < engine->running_count)
        stop_running(engine, at);
    else
        stop_waiting(engine, id);
}

static void receive(struct engine *engine)
{
    struct flight done = engine->flights[0];
    engine->flights[0] = engine->flights[1];
    engine->flights[1].parts = done.parts;
    engine->flight_count--;
    for (size_t i = 0; i < done.count; i++) {
        uint32_t id = done.parts[i].id;
        struct request *request = &engine->requests[id];
        if (!done.parts[i].yields)
            continue;
        request->coming--;
        request->known++;
        if (!(engine->result->first_token[id] >= 0))
            engine->result->first_token[id] = done.end;
        if (request->blocks && request->computed)
            name_blocks(engine, id);
        engine->tokens_left--;
        if (request->known == limit_of(engine, id))
            finish(engine, id, done.end);
    }
}

/* ---- the run ------------------------------------------------------------------------------------ */

static size_t most_blocks(const struct engine *engine)
{
    size_t most = 0;
    for (size_t i = 0; i < engine->trace->count; i++) {
        size_t blocks = blocks_for(engine, limit_of(engine, (uint32_t)i)) + 1;
        most = blocks > most ? blocks : most;
    }
    return most;
}

static void open_engine(struct arena *arena, struct engine *engine)
{
    size_t seats = engine->options->sequences_most, most = most_blocks(engine);
    engine->head = engine->tail = NOBODY;
    engine->running = arena_array(arena, seats + 1, sizeof *engine->running);
    engine->spare = arena_array(arena, seats + 1, sizeof *engine->spare);
    for (engine->spare_count = 0; engine->spare_count < seats; engine->spare_count++)
        engine->spare[engine->spare_count] = arena_array(arena, most, sizeof(uint32_t));
    engine->blocks = blocks_open(arena, engine->options->blocks);
    for (int i = 0; i < FLIGHT; i++)
        engine->flights[i].parts = arena_array(arena, seats + 1, sizeof(struct part));
}

static uint64_t load_of(const struct engine *engine)
{
    return engine->options->router == ROUTER_LEAST_PENDING ? engine->waiting : engine->tokens_left;
}

static void route(struct engine *engines, uint32_t id)
{
    const struct sim_options *options = engines->options;
    struct engine *chosen = &engines[0];
    if (options->router == ROUTER_ROUND_ROBIN)
        chosen = &engines[id % options->replicas];
    else
        for (size_t r = 1; r < options->replicas; r++)
            if (load_of(&engines[r]) < load_of(chosen))
                chosen = &engines[r];
    chosen->requests[id].known = chosen->trace->prompt[id];
    chosen->tokens_left += limit_of(chosen, id);
    wait_last(chosen, id);
}

/* The next arrival or end of a step; INFINITY: nothing is left to happen. */
static double next_event(const struct engine *engines, size_t arrived)
{
    const struct trace *trace = engines->trace;
    double now = arrived < trace->count ? trace->arrival[arrived] : INFINITY;
    for (size_t r = 0; r < engines->options->replicas; r++)
        if (engines[r].flight_count)
            now = fmin(now, engines[r].flights[0].end);
    return now;
}

/* An engine looks at what came when a step of its ends, or at once when it has nothing to do. */
static void turn(struct engine *engine, bool ended, double now)
{
    const size_t depth = engine->options->synchronous ? 1 : FLIGHT;
    if (ended || !engine->flight_count)
        while (engine->flight_count < depth && launch(engine, now))
            ;
}

void sim_run_vllm(struct arena *arena, const struct trace *trace,
                  const struct sim_options *options, struct sim_result *result)
{
    struct engine *engines = arena_array(arena, options->replicas, sizeof *engines);
    bool *ended = arena_array(arena, options->replicas, sizeof *ended);
    struct request *requests = arena_array(arena, trace->count, sizeof *requests);
    size_t arrived = 0;
    for (size_t r = 0; r < options->replicas; r++) {
        engines[r] = (struct engine){ .trace = trace, .options = options, .result = result,
                                      .requests = requests };
        open_engine(arena, &engines[r]);
    }
    for (double now; (now = next_event(engines, arrived)) < INFINITY;) {
        for (size_t r = 0; r < options->replicas; r++) {
            ended[r] = engines[r].flight_count && engines[r].flights[0].end == now;
            if (ended[r])
                receive(&engines[r]);
        }
        bool last = arrived < trace->count;
        for (; arrived < trace->count && trace->arrival[arrived] <= now; arrived++)
            route(engines, (uint32_t)arrived);
        last = last && arrived == trace->count;
        for (size_t r = 0; r < options->replicas; r++) {
            turn(&engines[r], ended[r], now);
            result->waiting_at_last += last ? (double)engines[r].waiting : 0;
        }
    }
}
