/* vLLM v1, as of 0.19: one budget of tokens for decodes and prompts, the last admitted starts
 * again when blocks end, prefixes are found in the cache, and two steps are in flight: the next
 * but one is formed when a step ends (asynchronous scheduling). Attention ranks have queues and
 * caches of their own and step together. */
#include "sim/engine.h"

#include "sim/blocks.h"
#include "sim/random.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { FLIGHT = 2, CLASSES = 32 };

struct request {
    uint32_t known;                 /* prompt and outputs received */
    uint32_t computed;              /* tokens whose cache is scheduled */
    uint16_t coming, flying;        /* outputs scheduled and not received, drafts too; steps */
    uint32_t block_count, named;    /* the first `named` have names */
    uint8_t room;                   /* of `blocks`: a power of two, by its exponent */
    uint8_t stale;                  /* fetches in flight whose replica has failed */
    uint32_t *blocks;
};

struct shared {
    struct request *requests;
    uint32_t *root;                 /* the first turn of its session; NULL: no sessions */
    bool own_names;                 /* no two requests share a prefix, and there are no tiers */
    void *rooms[CLASSES];           /* lists of blocks that nobody uses, linked */
    struct arena *arena;
};

struct part {
    uint32_t id;
    bool yields;                    /* its step gives a token */
    bool drafts;                    /* and what of its drafts is accepted */
};

struct flight {                     /* a step that was launched */
    struct part *parts;
    size_t count;
    double end;
    bool decode;                    /* all that run decode, each a token */
};

struct rank {
    struct blocks *blocks;
    struct queue queue[TRACE_LANES];
    uint32_t *running;
    size_t running_count, waiting;
    struct queue fetching, fetched; /* requests whose cache comes from a tier, or has come */
    struct flight flights[FLIGHT];
    uint64_t preempted;             /* requests, in this forming */
};

struct vllm {
    struct engine engine;
    struct shared *shared;
    struct rank *ranks;
    size_t rank_count, lanes, flight_count;
    double free_at;                 /* when the chips end what they have */
    struct stretch stretch;         /* of decodes to come; steps 0: none */
    uint32_t *turns;                /* for a stretch: those that run, by when they need a block */
    size_t *due;                    /* [block + 1]: where those of a turn begin in `turns` */
    double now;                     /* when a step is formed */
    uint64_t *names;                /* of the prefix that is looked for in the tiers */
    size_t name_room;
};

/* ---- names of blocks ------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t a, uint64_t b)
{
    uint64_t x = (a + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u ^ b;
    x = (x ^ x >> 31) * 0x94d049bb133111ebu;
    return x ^ x >> 29;
}

/* The trace's name of the prefix that ends here, or the session's, or the request's own. */
static uint64_t name_of(const struct vllm *vllm, uint32_t id, size_t index)
{
    const struct trace *trace = vllm->engine.world->trace;
    size_t block = vllm->engine.server->block;
    if (trace->block && trace->block % block == 0 &&
        (index + 1) * block <= trace->prompt[id]) {
        size_t parts = trace->block / block, at = trace->first[id] + index / parts;
        if (at < trace->first[id + 1])
            return mixed(2 * trace->blocks[at], index % parts);
    }
    uint32_t root = vllm->shared->root ? vllm->shared->root[id] : id;
    return mixed(2 * (uint64_t)root + 1, index);
}

/* Full blocks whose tokens are known and scheduled get their names. */
static void name_now(struct vllm *vllm, struct rank *rank, uint32_t id)
{
    struct request *request = &vllm->shared->requests[id];
    uint32_t sure = request->computed < request->known ? request->computed : request->known;
    uint32_t full = sure / (uint32_t)vllm->engine.server->block;
    for (; request->named < full; request->named++)
        blocks_name(rank->blocks, request->blocks[request->named],
                    name_of(vllm, id, request->named));
}

/* Names that no other request has are not looked for before it starts again: then is early enough. */
static void name_blocks(struct vllm *vllm, struct rank *rank, uint32_t id)
{
    if (!vllm->shared->own_names)
        name_now(vllm, rank, id);
}

/* ---- lists of blocks, in rooms of a power of two --------------------------------------------- */

static void *take_room(struct shared *shared, uint32_t class)
{
    void *room = shared->rooms[class];
    if (!room)
        return arena_alloc(shared->arena, sizeof(uint32_t) << class);
    memcpy(&shared->rooms[class], room, sizeof room);
    return room;
}

static void return_room(struct shared *shared, uint32_t *room, uint32_t class)
{
    if (room) {
        memcpy(room, &shared->rooms[class], sizeof shared->rooms[class]);
        shared->rooms[class] = room;
    }
}

static void add_block(struct shared *shared, struct request *request, uint32_t block)
{
    enum { FIRST = 4 };
    if (!request->blocks || request->block_count == 1u << request->room) {
        uint32_t class = request->blocks ? request->room + 1 : FIRST, *room;
        room = take_room(shared, class);
        if (request->blocks)
            memcpy(room, request->blocks, request->block_count * sizeof *room);
        return_room(shared, request->blocks, request->room);
        request->blocks = room;
        request->room = (uint8_t)class;
    }
    request->blocks[request->block_count++] = block;
}

/* ---- queues ---------------------------------------------------------------------------------- */

static size_t lane_of(const struct vllm *vllm, uint32_t id)
{
    return vllm->lanes > 1 ? vllm->engine.world->trace->lane[id] : 0;
}

static void wait_first(struct vllm *vllm, struct rank *rank, uint32_t id)
{
    queue_first(vllm->engine.world, &rank->queue[lane_of(vllm, id)], id);
    rank->waiting++;
}

static void leave_cache(struct vllm *vllm, struct rank *rank, uint32_t id)
{
    struct request *request = &vllm->shared->requests[id];
    while (request->block_count)                    /* the tail first: roots are found longest */
        blocks_release(rank->blocks, request->blocks[--request->block_count]);
    return_room(vllm->shared, request->blocks, request->room);
    request->blocks = NULL;
    request->named = 0;
}

static void stop_running(struct vllm *vllm, struct rank *rank, size_t at)
{
    leave_cache(vllm, rank, rank->running[at]);
    memmove(&rank->running[at], &rank->running[at + 1],
            (--rank->running_count - at) * sizeof *rank->running);
}

static void preempt(struct vllm *vllm, struct rank *rank, size_t at)
{
    uint32_t id = rank->running[at];
    struct request *request = &vllm->shared->requests[id];
    name_now(vllm, rank, id);
    stop_running(vllm, rank, at);
    request->computed = 0;
    vllm->engine.world->ready[id] = 0;
    rank->preempted++;
    world_restarted(vllm->engine.world, id);
    wait_first(vllm, rank, id);
}

/* Who has to go: of the last lane the last admitted. */
static size_t last_of_all(const struct vllm *vllm, const struct rank *rank)
{
    size_t last = rank->running_count - 1;
    for (size_t at = last; vllm->lanes > 1 && at-- > 0;)
        if (lane_of(vllm, rank->running[at]) > lane_of(vllm, rank->running[last]))
            last = at;
    return last;
}

/* ---- forming a step ---------------------------------------------------------------------------- */

struct forming {                    /* of a rank */
    struct sim_step step;
    struct flight *flight;
    size_t budget;                  /* tokens */
    size_t most;                    /* sequences, by the lanes that take part */
};

static size_t lane_most(const struct vllm *vllm, uint32_t id)
{
    const struct sim_server *server = vllm->engine.server;
    size_t most = server->lane_most[lane_of(vllm, id)];
    return most ? most : server->sequences_most;
}

static uint32_t tokens_left(const struct vllm *vllm, uint32_t id)
{
    const struct request *request = &vllm->shared->requests[id];
    if (request->known + request->flying >= world_total(vllm->engine.world, id))
        return 0;                                   /* what is in flight ends it */
    uint32_t left = request->known + request->coming - request->computed;
    return left == 1 && request->computed >= vllm->engine.world->trace->prompt[id]
           ? left + (uint32_t)vllm->engine.server->draft : left;
}

static size_t blocks_for(const struct vllm *vllm, uint64_t tokens)
{
    return (size_t)((tokens + vllm->engine.server->block - 1) / vllm->engine.server->block);
}

/* What a block held moves to the tiers. */
static uint32_t take_block(struct vllm *vllm, struct rank *rank)
{
    struct world *world = vllm->engine.world;
    uint64_t name;
    if (world->tiers && blocks_next_name(rank->blocks, &name))
        tiers_put(world->tiers, vllm->engine.index, name, vllm->now);
    return blocks_take(rank->blocks);
}

static void take_blocks(struct vllm *vllm, struct rank *rank, uint32_t id, uint64_t tokens)
{
    struct request *request = &vllm->shared->requests[id];
    while (request->block_count < blocks_for(vllm, tokens))
        add_block(vllm->shared, request, take_block(vllm, rank));
}

static void add_part(struct vllm *vllm, struct rank *rank, struct forming *forming, uint32_t id,
                     uint32_t tokens)
{
    struct request *request = &vllm->shared->requests[id];
    struct sim_step *step = &forming->step;
    const uint32_t draft = (uint32_t)vllm->engine.server->draft;
    double before = (double)request->computed, now = (double)tokens;
    bool decodes = tokens == 1 + draft && request->computed >= vllm->engine.world->trace->prompt[id];
    if (decodes) {
        step->decoding++;
        step->decode_cached += before;
        step->drafts += draft;
    } else {
        step->prompt += now;
        step->prompt_cached += before;
        step->prompt_pairs += now * (before + now / 2);
    }
    step->sequences++;
    request->computed += tokens;
    bool yields = decodes || request->computed == request->known + request->coming;
    request->coming += (uint16_t)(yields ? (decodes ? 1 + draft : 1) : 0);
    request->flying += yields;
    forming->budget -= tokens;
    forming->most = lane_most(vllm, id) < forming->most ? lane_most(vllm, id) : forming->most;
    forming->flight->decode &= decodes && !draft;
    forming->flight->parts[forming->flight->count++] = (struct part){ id, yields, decodes && draft };
    name_blocks(vllm, rank, id);
}

/* False: the request itself had to go. */
static bool make_room(struct vllm *vllm, struct rank *rank, size_t at, uint64_t tokens)
{
    const struct request *request = &vllm->shared->requests[rank->running[at]];
    for (;;) {
        size_t needed = blocks_for(vllm, request->computed + tokens), have = request->block_count;
        if (needed <= have || needed - have <= blocks_free(rank->blocks))
            return true;
        size_t last = last_of_all(vllm, rank);
        preempt(vllm, rank, last);
        if (last == at)
            return false;
        at -= last < at;
    }
}

/* Those of a lane that run, in order of admission. */
static void go_on(struct vllm *vllm, struct rank *rank, struct forming *forming, size_t lane)
{
    for (size_t at = 0; at < rank->running_count && forming->budget; at++) {
        uint32_t id = rank->running[at];
        if (lane_of(vllm, id) != lane || forming->flight->count >= forming->most)
            continue;
        uint32_t tokens = tokens_left(vllm, id);
        tokens = tokens < forming->budget ? tokens : (uint32_t)forming->budget;
        if (!tokens)
            continue;
        if (!make_room(vllm, rank, at, tokens))
            break;
        while (rank->running[at] != id)             /* one before it had to go */
            at--;
        take_blocks(vllm, rank, id, vllm->shared->requests[id].computed + tokens);
        add_part(vllm, rank, forming, id, tokens);
    }
}

/* Blocks of its prefix that are there, up to the one before its last token; how many idle. */
static size_t find_prefix(const struct vllm *vllm, const struct rank *rank, uint32_t id,
                          size_t *idle)
{
    const struct request *request = &vllm->shared->requests[id];
    size_t most = (size_t)((request->known - 1) / vllm->engine.server->block), run = 0;
    *idle = 0;
    if (!vllm->engine.world->trace->block && !vllm->shared->root &&
        !vllm->engine.world->result->restarts[id])
        return 0;                                   /* nobody else has its names */
    for (; run < most; run++) {
        uint32_t block = blocks_find(rank->blocks, name_of(vllm, id, run));
        if (block == BLOCKS_NONE)
            break;
        *idle += blocks_idle(rank->blocks, block);
    }
    return run;
}

static void share_prefix(struct vllm *vllm, struct rank *rank, uint32_t id, size_t run)
{
    struct request *request = &vllm->shared->requests[id];
    for (size_t i = 0; i < run; i++) {
        uint32_t block = blocks_find(rank->blocks, name_of(vllm, id, i));
        blocks_share(rank->blocks, block);
        add_block(vllm->shared, request, block);
    }
    request->named = (uint32_t)run;
    request->computed = (uint32_t)(run * vllm->engine.server->block);
}

/* Whether the whole of what it knows fits, with what of it is there already. */
static bool has_room(const struct vllm *vllm, const struct rank *rank, uint32_t id, size_t *run)
{
    size_t idle, all = blocks_for(vllm, vllm->shared->requests[id].known);
    size_t watermark = (size_t)floor(vllm->engine.server->watermark *
                                     (double)vllm->engine.server->blocks);
    *run = find_prefix(vllm, rank, id, &idle);
    return all - *run + idle + (rank->running_count ? watermark : 0) <= blocks_free(rank->blocks);
}

static void count_cached(struct vllm *vllm, uint32_t id)
{
    struct world *world = vllm->engine.world;
    if (!world->result->restarts[id] && !world->got[id])
        world->result->cached_tokens += vllm->shared->requests[id].computed;
}

/* The rest of its prefix that tiers have, from block `run` on. */
static size_t find_below(struct vllm *vllm, uint32_t id, size_t run, size_t *per_tier)
{
    struct world *world = vllm->engine.world;
    size_t most = (vllm->shared->requests[id].known - 1) / vllm->engine.server->block, count = 0;
    if (!world->tiers || world->ready[id] || run == most)
        return 0;
    const uint64_t first = name_of(vllm, id, run);
    if (!tiers_find(world->tiers, vllm->engine.index, &first, 1, vllm->now, per_tier))
        return 0;
    for (size_t i = run; i < most; i++)
        *(uint64_t *)arena_push(vllm->shared->arena, &vllm->names, &count, &vllm->name_room,
                                sizeof *vllm->names) = name_of(vllm, id, i);
    return tiers_find(world->tiers, vllm->engine.index, vllm->names, count, vllm->now, per_tier);
}

/* Whether the tiers bring so many blocks sooner than a step of their own would compute them. */
static bool sooner_fetched(const struct vllm *vllm, size_t run, size_t found,
                           const size_t *per_tier)
{
    const struct sim_server *server = vllm->engine.server;
    const double tokens = (double)(found * server->block), before = (double)(run * server->block);
    const struct sim_step step = { .prompt = tokens, .prompt_cached = before, .sequences = 1,
                                   .prompt_pairs = tokens * (before + tokens / 2), .imbalance = 1 };
    return tiers_seconds(vllm->engine.world->tiers, vllm->engine.index, per_tier, vllm->now) <
           server->seconds(server->context, &step);
}

/* Its blocks are taken, and it waits beside the queue until their contents have come. */
static bool set_aside(struct vllm *vllm, struct rank *rank, uint32_t id, size_t run)
{
    struct request *request = &vllm->shared->requests[id];
    struct world *world = vllm->engine.world;
    size_t per_tier[TIERS_MOST], found = find_below(vllm, id, run, per_tier);
    if (!found || !sooner_fetched(vllm, run, found, per_tier))
        return false;
    tiers_fetch(world->tiers, vllm->engine.index, vllm->names, found, vllm->now, id);
    share_prefix(vllm, rank, id, run);
    count_cached(vllm, id);
    request->computed += (uint32_t)(found * vllm->engine.server->block);
    take_blocks(vllm, rank, id, request->computed);
    queue_last(world, &rank->fetching, id);
    world->result->fetched_tokens += found * vllm->engine.server->block;
    return true;
}

/* It runs, with as much of what is left as the step has room for. */
static void enter(struct vllm *vllm, struct rank *rank, struct forming *forming, uint32_t id)
{
    const struct request *request = &vllm->shared->requests[id];
    uint64_t tokens = request->known - request->computed;
    tokens = tokens < forming->budget ? tokens : forming->budget;
    rank->running[rank->running_count++] = id;
    take_blocks(vllm, rank, id, request->computed + tokens);
    add_part(vllm, rank, forming, id, (uint32_t)tokens);
}

/* The first of those whose cache has come. Where nothing runs and it has no room, the last of
 * them gives its blocks back. */
static bool admit_fetched(struct vllm *vllm, struct rank *rank, struct forming *forming)
{
    struct queue *queue = &rank->fetched;
    if (!queue->count || !forming->budget || forming->flight->count >= forming->most ||
        rank->running_count >= vllm->engine.server->sequences_most)
        return false;
    uint32_t id = queue->head, last = queue->tail;
    const struct request *request = &vllm->shared->requests[id];
    if (blocks_for(vllm, request->known) - request->block_count > blocks_free(rank->blocks)) {
        if (rank->running_count || last == id)
            return false;
        queue_remove(vllm->engine.world, queue, last);
        leave_cache(vllm, rank, last);
        vllm->shared->requests[last].computed = 0;
        world_restarted(vllm->engine.world, last);
        wait_first(vllm, rank, last);
        return true;
    }
    queue_pop(vllm->engine.world, queue);
    enter(vllm, rank, forming, id);
    return true;
}

static bool admit_one(struct vllm *vllm, struct rank *rank, struct forming *forming, size_t lane)
{
    struct queue *queue = &rank->queue[lane];
    struct world *world = vllm->engine.world;
    size_t run;
    if (!queue->count || !forming->budget ||
        rank->running_count >= vllm->engine.server->sequences_most)
        return false;
    uint32_t id = queue->head;
    size_t most = lane_most(vllm, id) < forming->most ? lane_most(vllm, id) : forming->most;
    if (forming->flight->count >= most || !has_room(vllm, rank, id, &run))
        return false;
    queue_pop(world, queue);
    rank->waiting--;
    if (set_aside(vllm, rank, id, run))
        return true;
    share_prefix(vllm, rank, id, run);
    count_cached(vllm, id);
    struct request *request = &vllm->shared->requests[id];
    if (world->ready[id] > request->computed)       /* its cache came with it */
        request->computed = world->ready[id];
    enter(vllm, rank, forming, id);
    return true;
}

/* The first of a lane cannot enter: those of later lanes make room for it. */
static bool push_out(struct vllm *vllm, struct rank *rank, size_t lane)
{
    if (!rank->queue[lane].count || !rank->running_count)
        return false;
    size_t last = last_of_all(vllm, rank), run;
    if (lane_of(vllm, rank->running[last]) <= lane)
        return false;
    if (rank->running_count < vllm->engine.server->sequences_most &&
        has_room(vllm, rank, rank->queue[lane].head, &run))
        return false;                               /* it is the lane's own limit that keeps it */
    preempt(vllm, rank, last);
    return true;
}

static void form_rank(struct vllm *vllm, struct rank *rank, struct forming *forming)
{
    struct flight *flight = &rank->flights[vllm->flight_count];
    *forming = (struct forming){ .flight = flight, .budget = vllm->engine.server->chunk,
                                 .most = vllm->engine.server->sequences_most };
    flight->count = 0;
    flight->decode = true;
    rank->preempted = 0;
    for (size_t lane = 0; lane < vllm->lanes; lane++) {
        go_on(vllm, rank, forming, lane);
        if (rank->preempted && vllm->lanes == 1)
            break;                                  /* nobody enters where somebody had to go */
        while (!lane && admit_fetched(vllm, rank, forming))
            ;
        while (admit_one(vllm, rank, forming, lane) || (vllm->lanes > 1 && forming->budget &&
                                                        push_out(vllm, rank, lane)))
            ;
    }
    flight->decode &= flight->count == rank->running_count;
}

static double tokens_of(const struct sim_step *step)
{
    return step->decoding + step->drafts + step->prompt;
}

/* Steps of ranks are one step of the server; the fullest decides how long it takes. */
static void add_step(struct sim_step *all, struct sim_step *fullest, const struct sim_step *step)
{
    if (tokens_of(step) > tokens_of(fullest))
        *fullest = *step;
    all->decoding += step->decoding;
    all->decode_cached += step->decode_cached;
    all->drafts += step->drafts;
    all->prompt += step->prompt;
    all->prompt_cached += step->prompt_cached;
    all->prompt_pairs += step->prompt_pairs;
    all->sequences += step->sequences;
}

static void count_requests(struct vllm *vllm)
{
    struct engine *engine = &vllm->engine;
    engine->waiting = engine->running = engine->blocks_used = 0;
    for (size_t r = 0; r < vllm->rank_count; r++) {
        const struct rank *rank = &vllm->ranks[r];
        engine->waiting += rank->waiting + rank->fetching.count + rank->fetched.count;
        engine->running += rank->running_count;
        engine->blocks_used += engine->server->blocks - 1 - blocks_free(rank->blocks);
    }
}

/* What each class pays for of a step: its part of the sequences. */
static void share_seconds(struct vllm *vllm, double seconds, double sequences)
{
    for (size_t r = 0; r < vllm->rank_count && vllm->lanes > 1; r++) {
        const struct flight *flight = &vllm->ranks[r].flights[vllm->flight_count - 1];
        for (size_t i = 0; i < flight->count; i++)
            vllm->engine.world->result->lane_seconds[lane_of(vllm, flight->parts[i].id)] +=
                seconds / sequences;
    }
}

/* Forms a step at a time and launches it behind what the chips have; false: nothing to do. */
static bool launch(struct vllm *vllm, double now)
{
    const struct sim_server *server = vllm->engine.server;
    struct sim_step step = { 0 }, fullest = { 0 };
    struct forming forming;
    vllm->now = now;
    for (size_t r = 0; r < vllm->rank_count; r++) {
        form_rank(vllm, &vllm->ranks[r], &forming);
        add_step(&step, &fullest, &forming.step);
    }
    count_requests(vllm);
    if (!(step.sequences > 0))
        return false;
    fullest.imbalance = (double)vllm->rank_count * tokens_of(&fullest) / tokens_of(&step);
    const double seconds = server->seconds(server->context, &fullest);
    const double start = now > vllm->free_at ? now : vllm->free_at;
    vllm->free_at = start + seconds;
    for (size_t r = 0; r < vllm->rank_count; r++)
        vllm->ranks[r].flights[vllm->flight_count].end = vllm->free_at;
    vllm->flight_count++;
    world_ran(&vllm->engine, start, seconds, &step);
    share_seconds(vllm, seconds, step.sequences);
    return true;
}

/* ---- what a step gives -------------------------------------------------------------------------- */

/* One that had to start again may get its last token from a step that was in flight. */
static void finish(struct vllm *vllm, struct rank *rank, uint32_t id, double now)
{
    size_t at = 0;
    vllm->engine.tokens_left -= vllm->engine.world->trace->prompt[id];
    world_done(vllm->engine.world, id, now);
    while (at < rank->running_count && rank->running[at] != id)
        at++;
    if (at < rank->running_count) {
        stop_running(vllm, rank, at);
    } else {
        queue_remove(vllm->engine.world, &rank->queue[lane_of(vllm, id)], id);
        rank->waiting--;
    }
}

/* Of its drafts the first ones that are accepted; the same for the same token of a request. */
static uint32_t accepted_of(const struct vllm *vllm, uint32_t id, uint32_t known)
{
    const struct sim_server *server = vllm->engine.server;
    struct random draws;
    uint32_t count = 0;
    random_open(&draws, mixed(id, known), vllm->engine.world->options->seed);
    while (count < server->draft && random_uniform(&draws) < server->accepted)
        count++;
    return count;
}

static void receive_part(struct vllm *vllm, struct rank *rank, const struct part *part, double now)
{
    struct request *request = &vllm->shared->requests[part->id];
    uint64_t total = world_total(vllm->engine.world, part->id);
    uint32_t draft = part->drafts ? (uint32_t)vllm->engine.server->draft : 0, extra = 0;
    if (request->known >= total)                    /* its guesses ended it while this step flew */
        return;
    if (draft) {
        extra = accepted_of(vllm, part->id, request->known);
        if (request->computed)                      /* nothing to take back after a restart */
            request->computed -= draft - extra;
        if (request->known + 1 + extra > total)
            extra = (uint32_t)(total - request->known - 1);
    }
    request->coming -= (uint16_t)(1 + draft);
    request->flying--;
    request->known += 1 + extra;
    world_first_token(vllm->engine.world, part->id, now);
    if (request->blocks && request->computed)
        name_blocks(vllm, rank, part->id);
    vllm->engine.tokens_left -= 1 + extra;
    if (request->known == total)
        finish(vllm, rank, part->id, now);
}

static void receive(struct vllm *vllm, double now)
{
    for (size_t r = 0; r < vllm->rank_count; r++) {
        struct rank *rank = &vllm->ranks[r];
        struct flight done = rank->flights[0];
        rank->flights[0] = rank->flights[1];
        rank->flights[1].parts = done.parts;
        for (size_t i = 0; i < done.count; i++)
            if (done.parts[i].yields)
                receive_part(vllm, rank, &done.parts[i], now);
    }
    vllm->flight_count--;
    count_requests(vllm);
}

/* ---- stretches: steps in which the same requests decode ------------------------------------------ */

static size_t depth(const struct vllm *vllm)
{
    return vllm->engine.server->synchronous ? 1 : FLIGHT;
}

/* The step in flight, if any, has each of the running ones decode; nobody can enter. */
static bool only_decodes(const struct vllm *vllm)
{
    const struct rank *rank = &vllm->ranks[0];
    size_t run;
    if (vllm->engine.world->options->stepping || vllm->rank_count > 1 || vllm->lanes > 1 ||
        vllm->engine.server->draft || !rank->running_count || rank->fetched.count ||
        rank->running_count > vllm->engine.server->chunk ||
        vllm->flight_count != depth(vllm) - 1 ||
        (vllm->flight_count && (!rank->flights[0].decode ||
                                rank->flights[0].count != rank->running_count)))
        return false;
    if (!rank->waiting || rank->running_count >= vllm->engine.server->sequences_most)
        return true;
    if (vllm->shared->root && vllm->engine.world->options->users)
        return false;                               /* turns of a session beside each other: what one
                                                       decodes another may find */
    return !has_room(vllm, rank, rank->queue[0].head, &run);
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

static bool try_stretch(struct vllm *vllm, double now)
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

static void take_due_blocks(struct vllm *vllm, uint64_t steps)
{
    struct rank *rank = &vllm->ranks[0];
    const size_t block = vllm->engine.server->block;
    for (uint64_t turn = 0; turn < steps; turn++)
        for (size_t i = vllm->due[turn % block]; i < vllm->due[turn % block + 1]; i++)
            add_block(vllm->shared, &vllm->shared->requests[vllm->turns[i]],
                      take_block(vllm, rank));
}

static void fly(struct rank *rank, size_t at, double end)
{
    struct flight *flight = &rank->flights[at];
    flight->count = rank->running_count;
    flight->decode = true;
    flight->end = end;
    for (size_t i = 0; i < rank->running_count; i++)
        flight->parts[i] = (struct part){ rank->running[i], true, false };
}

/* Leaves the stretch after `received` steps have given their tokens (with two in flight the one
 * that flew before is the first of them): one more step than that is launched. */
static void leave_stretch(struct vllm *vllm, uint64_t received)
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
        name_blocks(vllm, rank, rank->running[i]);
    }
    if (two && received)
        fly(rank, 0, stretch.from + stretch_seconds(&stretch, (double)received));
    fly(rank, two, vllm->free_at);
    vllm->flight_count = 1 + two;
    vllm->engine.next = rank->flights[0].end;
    count_requests(vllm);
}

/* Steps of the stretch that gave their tokens before now; not its last. */
static uint64_t received_before(const struct vllm *vllm, double now)
{
    const struct stretch *stretch = &vllm->stretch;
    uint64_t ended = stretch_before(stretch, now);
    if (vllm->flight_count)                         /* the one that flew before */
        ended = vllm->ranks[0].flights[0].end < now ? ended + 1 : 0;
    return ended < stretch->steps - 1 ? ended : stretch->steps - 1;
}

/* ---- what the world asks --------------------------------------------------------------------------- */

static void vllm_settle(struct engine *engine, double now)
{
    struct vllm *vllm = (struct vllm *)engine;
    if (vllm->stretch.steps)
        leave_stretch(vllm, received_before(vllm, now));
}

/* A step is formed when one ends, and at once when there is nothing to do. */
static void vllm_start(struct engine *engine, double now)
{
    struct vllm *vllm = (struct vllm *)engine;
    if (try_stretch(vllm, now)) {
        uint64_t steps = vllm->stretch.steps - (vllm->flight_count == 1);
        engine->next = vllm->stretch.from + stretch_seconds(&vllm->stretch, (double)steps);
        return;
    }
    while (vllm->flight_count < depth(vllm) && launch(vllm, now))
        ;
    engine->next = vllm->flight_count ? vllm->ranks[0].flights[0].end : INFINITY;
}

static void vllm_end(struct engine *engine, double now)
{
    struct vllm *vllm = (struct vllm *)engine;
    if (vllm->stretch.steps)
        leave_stretch(vllm, vllm->stretch.steps - 1);
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

static void vllm_take(struct engine *engine, uint32_t id, double now)
{
    struct vllm *vllm = (struct vllm *)engine;
    struct rank *rank = rank_for(vllm);
    vllm_settle(engine, now);
    vllm->shared->requests[id] = (struct request){
        .known = (uint32_t)world_prompt(engine->world, id),
        .stale = vllm->shared->requests[id].stale };
    engine->tokens_left += world_total(engine->world, id) - engine->world->got[id];
    queue_last(engine->world, &rank->queue[lane_of(vllm, id)], id);
    rank->waiting++;
    engine->waiting++;
}

/* Its cache has come from a tier. */
static void vllm_fetched(struct engine *engine, uint32_t id, double now)
{
    struct vllm *vllm = (struct vllm *)engine;
    struct request *request = &vllm->shared->requests[id];
    if (request->stale) {
        request->stale--;
        return;
    }
    vllm_settle(engine, now);
    for (size_t r = 0; r < vllm->rank_count; r++)
        if (queue_remove(engine->world, &vllm->ranks[r].fetching, id)) {
            queue_last(engine->world, &vllm->ranks[r].fetched, id);
            name_blocks(vllm, &vllm->ranks[r], id);
        }
}

static bool vllm_drop(struct engine *engine, uint32_t id)
{
    struct vllm *vllm = (struct vllm *)engine;
    for (size_t r = 0; r < vllm->rank_count; r++)
        if (queue_remove(engine->world, &vllm->ranks[r].queue[lane_of(vllm, id)], id)) {
            vllm->ranks[r].waiting--;
            engine->waiting--;
            engine->tokens_left -= world_total(engine->world, id) - engine->world->got[id];
            return true;
        }
    return false;
}

static size_t vllm_cached(struct engine *engine, uint32_t id, double now)
{
    struct vllm *vllm = (struct vllm *)engine;
    size_t most = 0, idle, per_tier[TIERS_MOST];
    vllm->shared->requests[id].known = (uint32_t)world_prompt(engine->world, id);
    vllm->now = now;
    for (size_t r = 0; r < vllm->rank_count; r++) {
        size_t run = find_prefix(vllm, &vllm->ranks[r], id, &idle);
        run += find_below(vllm, id, run, per_tier);
        most = run > most ? run : most;
    }
    return most * engine->server->block;
}

static void open_rank(struct arena *arena, struct vllm *vllm, struct rank *rank)
{
    const struct sim_server *server = vllm->engine.server;
    *rank = (struct rank){ .fetching = QUEUE_EMPTY, .fetched = QUEUE_EMPTY, .blocks = blocks_open(arena, server->blocks),
                           .running = arena_array(arena, server->sequences_most + 1,
                                                  sizeof *rank->running) };
    for (size_t lane = 0; lane < TRACE_LANES; lane++)
        rank->queue[lane] = QUEUE_EMPTY;
    for (int i = 0; i < FLIGHT; i++)
        rank->flights[i].parts = arena_array(arena, server->sequences_most + 1,
                                             sizeof(struct part));
}

static void forget(struct vllm *vllm, uint32_t id)
{
    struct world *world = vllm->engine.world;
    world->got[id] = vllm->shared->requests[id].known - world->trace->prompt[id];
}

static void give_back(struct vllm *vllm, struct rank *rank, uint32_t id)
{
    forget(vllm, id);
    leave_cache(vllm, rank, id);
}

/* What was in flight is lost, and the cache with it. */
static void vllm_clear(struct engine *engine, double now)
{
    struct vllm *vllm = (struct vllm *)engine;
    vllm_settle(engine, now);
    for (size_t r = 0; r < vllm->rank_count; r++) {
        struct rank *rank = &vllm->ranks[r];
        while (rank->running_count) {
            forget(vllm, rank->running[rank->running_count - 1]);
            stop_running(vllm, rank, rank->running_count - 1);
        }
        for (size_t lane = 0; lane < vllm->lanes; lane++)
            while (rank->queue[lane].count)
                forget(vllm, queue_pop(engine->world, &rank->queue[lane]));
        while (rank->fetched.count)
            give_back(vllm, rank, queue_pop(engine->world, &rank->fetched));
        while (rank->fetching.count) {
            vllm->shared->requests[rank->fetching.head].stale++;
            give_back(vllm, rank, queue_pop(engine->world, &rank->fetching));
        }
        rank->waiting = 0;
        blocks_forget(rank->blocks);
    }
    vllm->flight_count = 0;
    vllm->free_at = now;
    engine->tokens_left = 0;
    engine->next = INFINITY;
    count_requests(vllm);
}

static struct shared *open_shared(struct arena *arena, const struct world *world)
{
    const struct trace *trace = world->trace;
    struct shared *shared = arena_alloc(arena, sizeof *shared);
    shared->arena = arena;
    shared->requests = arena_array(arena, trace->count, sizeof *shared->requests);
    shared->own_names = !trace->block && !trace->before && !world->options->tiers;
    if (!trace->before)
        return shared;
    shared->root = arena_array(arena, trace->count, sizeof *shared->root);
    for (uint32_t i = 0; i < trace->count; i++)
        shared->root[i] = trace->before[i] == NOBODY ? i : shared->root[trace->before[i]];
    return shared;
}

static struct engine *vllm_open(struct arena *arena, struct world *world,
                                const struct sim_server *server)
{
    struct vllm *vllm = arena_alloc(arena, sizeof *vllm);
    if (!world->shared)
        world->shared = open_shared(arena, world);
    *vllm = (struct vllm){ .engine = { .world = world, .server = server }, .shared = world->shared,
                           .rank_count = server->ranks ? server->ranks : 1,
                           .lanes = world->trace->lanes ? world->trace->lanes : 1 };
    vllm->ranks = arena_array(arena, vllm->rank_count, sizeof *vllm->ranks);
    vllm->turns = arena_array(arena, server->sequences_most + 1, sizeof *vllm->turns);
    vllm->due = arena_array(arena, server->block + 2, sizeof *vllm->due);
    for (size_t r = 0; r < vllm->rank_count; r++)
        open_rank(arena, vllm, &vllm->ranks[r]);
    return &vllm->engine;
}

const struct rule_set rules_vllm_v1 = {
    .name = "vllm-v1", .open = vllm_open, .take = vllm_take, .end = vllm_end, .start = vllm_start,
    .settle = vllm_settle, .drop = vllm_drop, .cached = vllm_cached, .clear = vllm_clear,
    .fetched = vllm_fetched };
