/* The scheduler of TensorRT-LLM's PyTorch executor. Prompts and decodes share a batch. Two batches are
 * in flight (overlap): a batch is formed when the one before its predecessor ends, and leaves out
 * requests whose last output is in flight.
 *
 * Steps of forming a batch of at most `chunk` tokens:
 *
 * 1. All decoding requests take one token. GUARANTEED_NO_EVICT allocated the blocks for all outputs of
 *    a request when it began. MAX_UTILIZATION (`eager`) allocates them one by one; while blocks are
 *    short, the request that began last is paused and goes to the head of the queue.
 * 2. Prompts share the remaining tokens: first the one that was cut, then the queue in order while
 *    slots and blocks suffice and no request was paused. All prompts but the last are whole; the last
 *    is cut to a multiple of a block.
 * 3. A prompt is passed over if its first missing block is being computed for another request.
 *
 * Blocks are kept for reuse in a tree (radix.h) when a prompt has been processed, when a request is
 * paused and when it is done. There are at most as many slots as tokens of a batch. */
#include "sim/schedulers/radix_batch.h"
#include "sim/schedulers/schedulers.h"

#include <string.h>

enum { MAX_UTILIZATION };           /* a setting: instead of GUARANTEED_NO_EVICT */

struct trtllm {
    struct radix_batch core;
    bool eager;                     /* MAX_UTILIZATION */
    uint32_t *began;                /* requests that can be paused, in the order in which they began */
    size_t began_count;
    size_t *takes;                  /* eager: [turn modulo block] requests that need a block then */
    bool steady;                    /* no waiting request can enter before a request ends or arrives */
};

static const struct sim_server *server_of(const struct trtllm *trtllm)
{
    return trtllm->core.replica.server;
}

static size_t blocks_for(const struct trtllm *trtllm, uint64_t tokens)
{
    return (size_t)((tokens + server_of(trtllm)->block - 1) / server_of(trtllm)->block);
}

/* ---- requests come and go ------------------------------------------------------------------- */

/* The class of turns in which a request that decodes takes a block. */
static size_t *takes_of(const struct trtllm *trtllm, uint32_t id)
{
    const int64_t block = (int64_t)server_of(trtllm)->block;
    return &trtllm->takes[((1 - trtllm->core.requests[id].cached) % block + block) % block];
}

static void cannot_be_paused(struct trtllm *trtllm, uint32_t id)
{
    size_t at = 0;
    while (trtllm->began[at] != id)
        at++;
    trtllm->began_count--;
    memmove(&trtllm->began[at], &trtllm->began[at + 1],
            (trtllm->began_count - at) * sizeof *trtllm->began);
}

static void leave(struct trtllm *trtllm, uint32_t id)
{
    --*takes_of(trtllm, id);
    radix_batch_leave(&trtllm->core, id);
}

/* Blocks that it holds. */
static size_t blocks_of(const struct trtllm *trtllm, uint32_t id)
{
    const struct radix_batch *core = &trtllm->core;
    uint64_t known = radix_batch_known(core, id), cached = (uint64_t)core->requests[id].cached;
    if (!trtllm->eager)
        return blocks_for(trtllm, radix_batch_last(core, id) + 1);
    return blocks_for(trtllm, known > cached ? known : cached);
}

static void pause_newest(struct trtllm *trtllm)
{
    struct radix_batch *core = &trtllm->core;
    const uint32_t id = trtllm->began[--trtllm->began_count];
    const bool cut = id == core->cut;
    const uint32_t had = cut ? core->requests[id].had : radix_batch_received(core, id);
    if (cut) {
        core->cut = NOBODY;
    } else {
        decodes_remove(&core->decodes, decodes_find(&core->decodes, id));
        leave(trtllm, id);
    }
    radix_batch_keep(core, id, (uint64_t)core->requests[id].cached);
    radix_batch_restart(core, id, had, blocks_of(trtllm, id));
    queue_first(core->replica.simulation, &core->queue, id);
}

/* ---- forming a batch ------------------------------------------------------------------------ */

struct trtllm_forming {
    struct radix_flight *flight;
    struct sim_step step;
    uint64_t room;                  /* tokens */
};

static size_t seats(const struct trtllm *trtllm)
{
    const struct sim_server *server = server_of(trtllm);
    return server->max_num_seqs < server->chunk ? server->max_num_seqs : server->chunk;
}

/* Blocks that those who decode take in the turn launched next. */
static size_t taken_next(const struct trtllm *trtllm)
{
    const struct radix_batch *core = &trtllm->core;
    return trtllm->eager ? trtllm->takes[(core->decodes.launched + 1) % core->unit] : 0;
}

/* False: some had to be paused. */
static bool have_blocks(struct trtllm *trtllm)
{
    const struct radix_batch *core = &trtllm->core;
    bool enough = true;
    while (core->decodes.count &&
           radix_batch_in_use(core) + taken_next(trtllm) > core->capacity) {
        pause_newest(trtllm);
        enough = false;
    }
    return enough;
}

static void add_turn(struct trtllm *trtllm, struct trtllm_forming *forming)
{
    struct radix_batch *core = &trtllm->core;
    struct decodes *decodes = &core->decodes;
    struct radix_flight *flight = forming->flight;
    forming->room -= decodes->count;
    radix_batch_add_turn(core, flight, &forming->step, taken_next(trtllm));
    while (decodes->count && decodes->heap[0].turn == decodes->launched) {
        uint32_t id = decodes_pop(decodes).id;
        leave(trtllm, id);
        cannot_be_paused(trtllm, id);
        flight->ends[flight->end_count++] = id;
    }
}

/* Of so many tokens those that the batch has room for. */
static uint64_t tokens_of(const struct trtllm *trtllm, const struct trtllm_forming *forming, uint64_t rest)
{
    const struct sim_server *server = server_of(trtllm);
    if (rest <= forming->room)
        return rest;
    return server->block <= server->chunk ? forming->room / server->block * server->block
                                          : forming->room;
}

/* False: it was cut. */
static bool add_prompt(struct trtllm *trtllm, struct trtllm_forming *forming, uint32_t id, uint64_t tokens)
{
    struct radix_batch *core = &trtllm->core;
    struct radix_request *request = &core->requests[id];
    struct radix_flight *flight = forming->flight;
    forming->room -= tokens;
    if (!radix_batch_add_prompt(core, flight, &forming->step, id, tokens))
        return false;
    const uint32_t lacks = core->replica.simulation->want[id] - request->had - 1;
    request->turn = core->decodes.launched + lacks;
    if (lacks) {
        radix_batch_join(core, id, request->turn);
        ++*takes_of(trtllm, id);
    } else {
        cannot_be_paused(trtllm, id);
        flight->ends[flight->end_count++] = id;
    }
    return true;
}

/* Its prompt is being read, and its first block that lacked is what another one needs. */
static bool computes(const struct radix_batch *core, uint32_t id, uint32_t other, size_t at)
{
    return radix_end(core->cache, core->requests[id].node) == at &&
           at < radix_batch_known(core, id) / core->unit &&
           radix_same(core->cache, id, other, at + 1);
}

static bool is_being_computed(const struct radix_batch *core, uint32_t other, size_t at)
{
    if (!core->reuse || at >= (radix_batch_known(core, other) - 1) / core->unit)
        return false;
    for (size_t f = 0; f <= core->ahead.count; f++) {           /* the last is this batch */
        const struct radix_flight *flight = &core->flights[f];
        for (size_t i = 0; i < flight->prompt_count; i++)
            if (core->requests[flight->prompts[i]].fresh &&
                computes(core, flight->prompts[i], other, at))
                return true;
    }
    return core->cut != NOBODY && computes(core, core->cut, other, at);
}

enum admitted { ADMITTED, PASSED_OVER, NO_MORE };

static enum admitted admit_one(struct trtllm *trtllm, struct trtllm_forming *forming, uint32_t id)
{
    struct radix_batch *core = &trtllm->core;
    const uint64_t known = radix_batch_known(core, id), ready = radix_batch_ready(core, id);
    const struct radix_hit hit = radix_batch_find(core, id, known);
    if (is_being_computed(core, id, hit.units))
        return PASSED_OVER;
    const uint64_t there = (uint64_t)hit.units * core->unit, start = there > ready ? there : ready;
    const size_t all = blocks_for(trtllm, trtllm->eager
                                          ? known : radix_batch_last(core, id) + 1);
    if (radix_batch_in_use(core) + all - hit.units + hit.idle > core->capacity)
        return NO_MORE;
    uint64_t tokens = tokens_of(trtllm, forming, known - start);
    if (!tokens)
        return NO_MORE;
    radix_batch_begin(core, id, &hit, start, all);
    trtllm->began[trtllm->began_count++] = id;
    return add_prompt(trtllm, forming, id, tokens) ? ADMITTED : NO_MORE;
}

static void admit(struct trtllm *trtllm, struct trtllm_forming *forming)
{
    const struct radix_batch *core = &trtllm->core;
    size_t passed = 0;
    for (uint32_t id = core->queue.head, next; id != NOBODY; id = next) {
        next = core->replica.simulation->next[id];
        if (!forming->room || core->replica.running + passed >= seats(trtllm))
            break;
        enum admitted admitted = admit_one(trtllm, forming, id);
        if (admitted == NO_MORE)
            break;
        passed += admitted == PASSED_OVER;
    }
}

/* False: nothing to do. */
static bool form(struct trtllm *trtllm, double now)
{
    struct radix_batch *core = &trtllm->core;
    struct trtllm_forming forming = { .flight = radix_batch_flight(core),
                               .room = server_of(trtllm)->chunk };
    bool enough = trtllm->steady = have_blocks(trtllm), whole = true;
    if (core->decodes.count)
        add_turn(trtllm, &forming);
    if (core->cut != NOBODY) {
        uint32_t id = core->cut;
        uint64_t rest = radix_batch_known(core, id) - (uint64_t)core->requests[id].cached;
        uint64_t tokens = tokens_of(trtllm, &forming, rest);
        whole = tokens && add_prompt(trtllm, &forming, id, tokens);
    }
    if (enough && whole)
        admit(trtllm, &forming);
    radix_batch_make_room(core);
    radix_batch_count(core);
    if (!(forming.step.sequences > 0))
        return false;
    radix_batch_launch(core, &forming.step, now);
    return true;
}

/* ---- fast-forwards -------------------------------------------------------------------------- */

/* The blocks that those who decode take in the next turns. */
static void grow(struct radix_batch *core, uint64_t turns)
{
    const struct trtllm *trtllm = (const struct trtllm *)core;
    const size_t block = core->unit;
    if (!trtllm->eager)
        return;
    core->outside += core->decodes.count * (size_t)(turns / block);
    for (uint64_t i = 1; i <= turns % block; i++)
        core->outside += trtllm->takes[(core->decodes.launched + i) % block];
}

static uint64_t turns_with_blocks(const struct trtllm *trtllm, uint64_t most)
{
    const struct radix_batch *core = &trtllm->core;
    const size_t block = core->unit;
    size_t free = core->capacity - radix_batch_in_use(core);
    if (!trtllm->eager)
        return most;
    uint64_t turns = (uint64_t)(free / core->decodes.count) * block;
    for (free %= core->decodes.count; turns < most; turns++) {
        size_t takes = trtllm->takes[(core->decodes.launched + turns + 1) % block];
        if (takes > free)
            return turns;
        free -= takes;
    }
    return most;
}

static void try_fast_forward(struct trtllm *trtllm)
{
    struct radix_batch *core = &trtllm->core;
    const struct decodes *decodes = &core->decodes;
    if ((core->queue.count && !trtllm->steady) || !radix_batch_only_decodes(core))
        return;
    radix_batch_fast_forward(core, turns_with_blocks(trtllm,
                                                     decodes->heap[0].turn - decodes->launched - 1));
}

/* ---- what the simulation asks --------------------------------------------------------------- */

static void trtllm_start(struct replica *replica, double now)
{
    struct trtllm *trtllm = (struct trtllm *)replica;
    while (trtllm->core.ahead.count < trtllm->core.ahead.depth && form(trtllm, now))
        ;
    radix_batch_wait(&trtllm->core);
    try_fast_forward(trtllm);
}

static void trtllm_end(struct replica *replica, double now)
{
    struct trtllm *trtllm = (struct trtllm *)replica;
    struct radix_batch *core = &trtllm->core;
    const struct radix_flight *ended = radix_batch_end(core, now);
    trtllm->steady = false;
    if (!ended)
        return;
    for (size_t i = 0; i < ended->prompt_count; i++)
        radix_batch_read(core, ended->prompts[i], now);
    for (size_t i = 0; i < ended->end_count; i++)
        radix_batch_finish(core, ended->ends[i], blocks_of(trtllm, ended->ends[i]), now);
    radix_batch_count(core);
}

static void trtllm_take(struct replica *replica, uint32_t id, double now)
{
    ((struct trtllm *)replica)->steady = false;
    radix_batch_take(replica, id, now);
}

static void empty(struct trtllm *trtllm)
{
    radix_batch_empty(&trtllm->core);
    for (size_t i = 0; i < server_of(trtllm)->block; i++)
        trtllm->takes[i] = 0;
    trtllm->began_count = 0;
}

static void trtllm_clear(struct replica *replica, double now)
{
    struct trtllm *trtllm = (struct trtllm *)replica;
    const struct radix_batch *core = &trtllm->core;
    radix_batch_forget(&trtllm->core, now);
    for (size_t f = 0; f < core->ahead.count; f++)
        for (size_t i = 0; i < core->flights[f].end_count; i++) {
            uint32_t id = core->flights[f].ends[i];
            replica->simulation->got[id] = radix_batch_received(core, id);
        }
    empty(trtllm);
}

static struct replica *trtllm_open(struct arena *arena, struct simulation *simulation,
                                   const struct sim_server *server)
{
    struct trtllm *trtllm = arena_alloc(arena, sizeof *trtllm);
    radix_batch_open(&trtllm->core, arena, simulation, server, server->block, server->blocks);
    trtllm->eager = server->own[MAX_UTILIZATION] > 0;
    trtllm->core.reuse = simulation->trace->block || simulation->trace->before || trtllm->eager;
    trtllm->core.grow = grow;
    trtllm->began = arena_array(arena, server->max_num_seqs + 1, sizeof *trtllm->began);
    trtllm->takes = arena_array(arena, server->block, sizeof *trtllm->takes);
    return &trtllm->core.replica;
}

const struct scheduler scheduler_trtllm = {
    .name = "trtllm", .engine = "trtllm", .router = ROUTER_LEAST_TOKENS, .usual = { SIM_USUAL },
    .can = SCHEDULER_STEP_TIME | SCHEDULER_BLOCKS | SCHEDULER_CHUNK | SCHEDULER_AHEAD |
           SCHEDULER_POOLS,
    .setting = { [MAX_UTILIZATION] = { .name = "max-utilization" } },
    .size = sizeof(struct trtllm), .open = trtllm_open, .take = trtllm_take, .end = trtllm_end, .start = trtllm_start,
    .clear = trtllm_clear, .settle = radix_batch_settle, .course = radix_batch_course, .drop = radix_batch_drop,
    .received = radix_batch_had,
    .cached = radix_batch_cached };
