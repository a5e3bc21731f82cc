/* TensorRT-LLM with its PyTorch executor. Prompts and decodes share a batch; two batches are in
 * flight (overlap): the next but one is formed when a batch ends, and a request whose last output
 * is in flight is passed over.
 *
 * Steps of forming a batch of at most `chunk` tokens:
 *
 * 1. All that decode take one token. GUARANTEED_NO_EVICT gave each the blocks for all its outputs
 *    when it began. MAX_UTILIZATION (`eager`) gives them one by one: where they do not suffice the
 *    last that began is paused, until they do; it is first in the queue again.
 * 2. Prompts share the tokens that are left: the one that was cut, then the queue in order while
 *    seats and blocks suffice and nobody was paused. All but the last are whole, that one is cut
 *    to a multiple of a block.
 * 3. A prompt whose first block that lacks is being computed for another one is passed over.
 *
 * Blocks are kept for reuse in a tree (radix.h) when a prompt has been read, when a request is
 * paused and when it is done. Seats are no more than the tokens of a batch. */
#include "sim/schedulers/ahead.h"
#include "sim/schedulers/decodes.h"
#include "sim/cache/radix.h"

#include <assert.h>
#include <math.h>

struct request {
    int64_t cached;                 /* tokens cached; while it decodes, less the turns launched */
    uint64_t turn;                  /* that of its last output */
    uint32_t had;                   /* outputs received when it began */
    uint32_t node;                  /* what it locks of the tree */
    uint32_t later, earlier;        /* of those that can be paused, by when they began */
    bool fresh;                     /* its prompt is in flight */
};

struct flight {                     /* a batch that was launched */
    uint32_t *prompts, *ends;       /* read to their end by it; done with it */
    size_t prompt_count, end_count;
    bool turn;                      /* requests decode in it */
};

struct replica {
    struct engine engine;
    struct request *requests;
    struct queue queue;
    struct decodes decodes;
    size_t *takes;                  /* eager: [block] those that take a block in such turns */
    uint32_t newest;                /* of those that can be paused */
    bool reuse;
    struct radix *cache;
    size_t outside;                 /* blocks held by running requests outside of the tree */
    int64_t left;                   /* tokens to process */
    uint32_t cut;                   /* the prompt that goes on; NOBODY */
    bool steady;                    /* who waits now waits until something happens */
    struct ahead ahead;
    struct flight flights[AHEAD_MOST];
};

static struct world *world_of(const struct replica *replica)
{
    return replica->engine.world;
}

static const struct sim_server *server_of(const struct replica *replica)
{
    return replica->engine.server;
}

static size_t blocks_for(const struct replica *replica, uint64_t tokens)
{
    return (size_t)((tokens + server_of(replica)->block - 1) / server_of(replica)->block);
}

static size_t in_use(const struct replica *replica)
{
    return replica->outside + radix_used(replica->cache);
}

static void make_room(struct replica *replica)
{
    size_t held = in_use(replica) + radix_idle(replica->cache);
    if (held > server_of(replica)->blocks)
        radix_evict(replica->cache, held - server_of(replica)->blocks);
}

/* Tokens to read before its next output; of these cached by another pool. */
static uint64_t known_of(const struct replica *replica, uint32_t id)
{
    return (uint64_t)world_of(replica)->trace->prompt[id] + replica->requests[id].had;
}

static uint64_t ready_of(const struct replica *replica, uint32_t id)
{
    uint64_t known = known_of(replica, id), ready = world_of(replica)->ready[id];
    return ready < known ? ready : known - 1;
}

static uint64_t last_of(const struct replica *replica, uint32_t id)
{
    return world_total(world_of(replica), id) - 1;      /* its last token is not an input */
}

/* ---- requests come and go ------------------------------------------------------------------- */

/* The class of turns in which a request that decodes takes a block. */
static size_t *takes_of(const struct replica *replica, uint32_t id)
{
    const int64_t block = (int64_t)server_of(replica)->block;
    return &replica->takes[((1 - replica->requests[id].cached) % block + block) % block];
}

static uint32_t received(const struct replica *replica, uint32_t id)
{
    const struct request *request = &replica->requests[id];
    uint32_t want = world_of(replica)->want[id];
    return request->fresh ? request->had : want - (uint32_t)(request->turn - replica->decodes.read);
}

static void can_be_paused(struct replica *replica, uint32_t id)
{
    replica->requests[id].earlier = replica->newest;
    replica->requests[id].later = NOBODY;
    if (replica->newest != NOBODY)
        replica->requests[replica->newest].later = id;
    replica->newest = id;
}

static void cannot_be_paused(struct replica *replica, uint32_t id)
{
    const struct request *request = &replica->requests[id];
    *(request->later == NOBODY ? &replica->newest
                               : &replica->requests[request->later].earlier) = request->earlier;
    if (request->earlier != NOBODY)
        replica->requests[request->earlier].later = request->later;
}

/* From the next turn on. */
static void join(struct replica *replica, uint32_t id)
{
    struct request *request = &replica->requests[id];
    struct decodes *decodes = &replica->decodes;
    request->cached -= (int64_t)decodes->launched;
    decodes->cached += request->cached;
    ++*takes_of(replica, id);
    decodes_push(decodes, (struct decode){ .turn = request->turn, .id = id });
}

static void leave(struct replica *replica, uint32_t id)
{
    struct request *request = &replica->requests[id];
    --*takes_of(replica, id);
    replica->decodes.cached -= request->cached;
    request->cached += (int64_t)replica->decodes.launched;
}

static void put_in_tree(struct replica *replica, uint32_t id, uint64_t tokens)
{
    struct request *request = &replica->requests[id];
    size_t before = radix_end(replica->cache, request->node);
    size_t blocks = (size_t)(tokens / server_of(replica)->block);
    if (!replica->reuse || blocks <= before)
        return;
    replica->outside -= blocks - before;
    request->node = radix_lock(replica->cache, id, request->node, blocks);
}

static size_t blocks_of(const struct replica *replica, uint32_t id)
{
    uint64_t known = known_of(replica, id), cached = (uint64_t)replica->requests[id].cached;
    if (!server_of(replica)->eager)
        return blocks_for(replica, last_of(replica, id) + 1);
    return blocks_for(replica, known > cached ? known : cached);
}

static void let_go(struct replica *replica, uint32_t id)
{
    struct request *request = &replica->requests[id];
    replica->outside -= blocks_of(replica, id) - radix_end(replica->cache, request->node);
    radix_unlock(replica->cache, request->node);
    request->node = RADIX_ROOT;
    replica->engine.running--;
}

static void pause_newest(struct replica *replica)
{
    uint32_t id = replica->newest;
    struct request *request = &replica->requests[id];
    uint32_t outputs = id == replica->cut ? request->had : received(replica, id);
    cannot_be_paused(replica, id);
    if (id == replica->cut) {
        replica->cut = NOBODY;
    } else {
        decodes_remove(&replica->decodes, decodes_find(&replica->decodes, id));
        leave(replica, id);
    }
    put_in_tree(replica, id, (uint64_t)request->cached);
    let_go(replica, id);
    replica->left += request->cached;
    request->had = outputs;
    request->fresh = false;
    world_of(replica)->ready[id] = 0;
    world_restarted(world_of(replica), id);
    queue_first(world_of(replica), &replica->queue, id);
}

/* ---- forming a batch ------------------------------------------------------------------------ */

struct batch {
    struct flight *flight;
    struct sim_step step;
    uint64_t room;                  /* tokens */
};

static size_t seats(const struct replica *replica)
{
    const struct sim_server *server = server_of(replica);
    return server->sequences_most < server->chunk ? server->sequences_most : server->chunk;
}

static size_t taken_in(const struct replica *replica, uint64_t turn)
{
    return server_of(replica)->eager ? replica->takes[turn % server_of(replica)->block] : 0;
}

/* False: some had to be paused. */
static bool have_blocks(struct replica *replica)
{
    const struct decodes *decodes = &replica->decodes;
    bool enough = true;
    while (decodes->count && in_use(replica) + taken_in(replica, decodes->launched + 1) >
                                 server_of(replica)->blocks) {
        pause_newest(replica);
        enough = false;
    }
    return enough;
}

static void add_turn(struct replica *replica, struct batch *batch)
{
    struct decodes *decodes = &replica->decodes;
    batch->step = decodes_step(decodes);
    batch->room -= decodes->count;
    batch->flight->turn = true;
    replica->left -= (int64_t)decodes->count;
    decodes->launched++;
    replica->outside += taken_in(replica, decodes->launched);
    while (decodes->count && decodes->heap[0].turn == decodes->launched) {
        uint32_t id = decodes_pop(decodes).id;
        leave(replica, id);
        cannot_be_paused(replica, id);
        batch->flight->ends[batch->flight->end_count++] = id;
    }
}

/* Of so many tokens those that the batch has room for. */
static uint64_t tokens_of(const struct replica *replica, const struct batch *batch, uint64_t rest)
{
    const struct sim_server *server = server_of(replica);
    if (rest <= batch->room)
        return rest;
    return server->block <= server->chunk ? batch->room / server->block * server->block
                                          : batch->room;
}

static void read_to_its_end(struct replica *replica, struct batch *batch, uint32_t id)
{
    struct request *request = &replica->requests[id];
    struct flight *flight = batch->flight;
    uint32_t lacks = world_of(replica)->want[id] - request->had - 1;
    request->fresh = true;
    request->turn = replica->decodes.launched + lacks;
    flight->prompts[flight->prompt_count++] = id;
    if (lacks) {
        join(replica, id);
    } else {
        cannot_be_paused(replica, id);
        flight->ends[flight->end_count++] = id;
    }
}

/* False: it was cut. */
static bool add_prompt(struct replica *replica, struct batch *batch, uint32_t id, uint64_t tokens)
{
    struct request *request = &replica->requests[id];
    double before = (double)request->cached, now = (double)tokens;
    batch->step.prompt += now;
    batch->step.prompt_cached += before;
    batch->step.prompt_pairs += now * (before + now / 2);
    batch->step.sequences++;
    batch->room -= tokens;
    replica->left -= (int64_t)tokens;
    request->cached += (int64_t)tokens;
    bool ends = (uint64_t)request->cached == known_of(replica, id);
    replica->cut = ends ? NOBODY : id;
    if (ends)
        read_to_its_end(replica, batch, id);
    return ends;
}

/* Its prompt is being read, and its first block that lacked is what another one needs. */
static bool computes(const struct replica *replica, uint32_t id, uint32_t other, size_t at)
{
    return radix_end(replica->cache, replica->requests[id].node) == at &&
           at < known_of(replica, id) / server_of(replica)->block &&
           radix_same(replica->cache, id, other, at + 1);
}

static bool is_being_computed(const struct replica *replica, uint32_t other, size_t at)
{
    if (!replica->reuse || at >= (known_of(replica, other) - 1) / server_of(replica)->block)
        return false;
    for (size_t f = 0; f <= replica->ahead.count; f++) {        /* the last is this batch */
        const struct flight *flight = &replica->flights[f];
        for (size_t i = 0; i < flight->prompt_count; i++)
            if (replica->requests[flight->prompts[i]].fresh &&
                computes(replica, flight->prompts[i], other, at))
                return true;
    }
    return replica->cut != NOBODY && computes(replica, replica->cut, other, at);
}

static struct radix_hit find(const struct replica *replica, uint32_t id, uint64_t known)
{
    if (!replica->reuse)
        return (struct radix_hit){ 0, 0 };
    return radix_find(replica->cache, id, (size_t)((known - 1) / server_of(replica)->block));
}

static void begin(struct replica *replica, uint32_t id, const struct radix_hit *hit, uint64_t start)
{
    struct world *world = world_of(replica);
    struct request *request = &replica->requests[id];
    queue_remove(world, &replica->queue, id);
    replica->engine.running++;
    replica->left -= (int64_t)(start - ready_of(replica, id));
    if (!world->result->restarts[id] && !world->got[id])
        world->result->cached_tokens += hit->units * server_of(replica)->block;
    *request = (struct request){ .had = request->had, .cached = (int64_t)start };
    request->node = radix_lock(replica->cache, id, RADIX_ROOT, hit->units);
    replica->outside += blocks_of(replica, id) - hit->units;
    can_be_paused(replica, id);
}

enum admitted { ADMITTED, PASSED_OVER, NO_MORE };

static enum admitted admit_one(struct replica *replica, struct batch *batch, uint32_t id)
{
    const struct sim_server *server = server_of(replica);
    uint64_t known = known_of(replica, id), ready = ready_of(replica, id);
    struct radix_hit hit = find(replica, id, known);
    if (is_being_computed(replica, id, hit.units))
        return PASSED_OVER;
    uint64_t there = (uint64_t)hit.units * server->block, start = there > ready ? there : ready;
    size_t all = blocks_for(replica, server->eager ? known : last_of(replica, id) + 1);
    if (in_use(replica) + all - hit.units + hit.idle > server->blocks)
        return NO_MORE;
    uint64_t tokens = tokens_of(replica, batch, known - start);
    if (!tokens)
        return NO_MORE;
    begin(replica, id, &hit, start);
    return add_prompt(replica, batch, id, tokens) ? ADMITTED : NO_MORE;
}

static void admit(struct replica *replica, struct batch *batch)
{
    size_t passed = 0;
    for (uint32_t id = replica->queue.head, next; id != NOBODY; id = next) {
        next = world_of(replica)->next[id];
        if (!batch->room || replica->engine.running + passed >= seats(replica))
            break;
        enum admitted admitted = admit_one(replica, batch, id);
        if (admitted == NO_MORE)
            break;
        passed += admitted == PASSED_OVER;
    }
}

static void counts(struct replica *replica)
{
    replica->engine.waiting = replica->queue.count;
    replica->engine.tokens_left = replica->left > 0 ? (uint64_t)replica->left : 0;
    replica->engine.blocks_used = in_use(replica);
}

/* False: nothing to do. */
static bool form(struct replica *replica, double now)
{
    const struct sim_server *server = server_of(replica);
    struct ahead *ahead = &replica->ahead;
    struct flight *flight = &replica->flights[ahead->count];
    struct batch batch = { .flight = flight, .room = server->chunk };
    flight->prompt_count = flight->end_count = 0;
    flight->turn = false;
    bool enough = replica->steady = have_blocks(replica), whole = true;
    if (replica->decodes.count)
        add_turn(replica, &batch);
    if (replica->cut != NOBODY) {
        uint32_t id = replica->cut;
        uint64_t rest = known_of(replica, id) - (uint64_t)replica->requests[id].cached;
        uint64_t tokens = tokens_of(replica, &batch, rest);
        whole = tokens && add_prompt(replica, &batch, id, tokens);
    }
    if (enough && whole)
        admit(replica, &batch);
    make_room(replica);
    counts(replica);
    if (!(batch.step.sequences > 0))
        return false;
    const double from = ahead_from(ahead, now);
    const double seconds = server->seconds(server->context, &batch.step);
    ahead->end[ahead->count++] = from + seconds;
    world_ran(&replica->engine, from, seconds, &batch.step);
    return true;
}

/* ---- stretches ------------------------------------------------------------------------------ */

/* Blocks that those who decode take in the next turns. */
static size_t taken_by(const struct replica *replica, uint64_t turns)
{
    const size_t block = server_of(replica)->block;
    size_t taken = replica->decodes.count * (size_t)(turns / block);
    if (!server_of(replica)->eager)
        return 0;
    for (uint64_t i = 1; i <= turns % block; i++)
        taken += replica->takes[(replica->decodes.launched + i) % block];
    return taken;
}

static uint64_t turns_with_blocks(const struct replica *replica, uint64_t most)
{
    const size_t block = server_of(replica)->block;
    size_t free = server_of(replica)->blocks - in_use(replica);
    if (!server_of(replica)->eager)
        return most;
    uint64_t turns = (uint64_t)(free / replica->decodes.count) * block;
    for (free %= replica->decodes.count; turns < most; turns++) {
        size_t takes = replica->takes[(replica->decodes.launched + turns + 1) % block];
        if (takes > free)
            return turns;
        free -= takes;
    }
    return most;
}

static void try_stretch(struct replica *replica)
{
    const struct decodes *decodes = &replica->decodes;
    struct ahead *ahead = &replica->ahead;
    if (world_of(replica)->options->stepping || ahead->count < ahead->depth || !decodes->count ||
        replica->cut != NOBODY || (replica->queue.count && !replica->steady))
        return;
    for (size_t f = 0; f < ahead->count; f++) {
        const struct flight *flight = &replica->flights[f];
        if (flight->prompt_count || flight->end_count || !flight->turn)
            return;
    }
    uint64_t most = turns_with_blocks(replica, decodes->heap[0].turn - decodes->launched - 1);
    if (!most)
        return;
    struct sim_step step = decodes_step(decodes);
    ahead->stretch = stretch_of(server_of(replica), ahead->end[ahead->count - 1], &step, most);
    ahead->waiting = replica->queue.count;
    replica->engine.next = ahead_end(ahead, ahead->stretch.steps);
}

static void go_on(struct replica *replica, uint64_t turns)
{
    struct decodes *decodes = &replica->decodes;
    if (!turns)
        return;
    replica->outside += taken_by(replica, turns);
    replica->left -= (int64_t)(turns * decodes->count);
    decodes->launched += turns;
    decodes->read += turns;
    make_room(replica);
    ahead_move(&replica->ahead, &replica->engine, turns);
    counts(replica);
}

/* ---- what the world asks -------------------------------------------------------------------- */

static void trtllm_start(struct engine *engine, double now)
{
    struct replica *replica = (struct replica *)engine;
    while (replica->ahead.count < replica->ahead.depth && form(replica, now))
        ;
    engine->next = replica->ahead.count ? replica->ahead.end[0] : INFINITY;
    assert(engine->running || (!replica->left && !in_use(replica)) || replica->queue.count);
    try_stretch(replica);
}

static void finish(struct replica *replica, uint32_t id, double now)
{
    put_in_tree(replica, id, last_of(replica, id));
    let_go(replica, id);
    world_done(world_of(replica), id, now);
}

static void trtllm_settle(struct engine *engine, double now)
{
    struct replica *replica = (struct replica *)engine;
    if (replica->ahead.stretch.steps)
        go_on(replica, ahead_before(&replica->ahead, now));
}

/* The batch that is formed next may be another one. */
static void leave_stretch(struct replica *replica, double now)
{
    trtllm_settle(&replica->engine, now);
    replica->ahead.stretch.steps = 0;
    replica->engine.next = replica->ahead.end[0];
    replica->steady = false;
}

static void trtllm_end(struct engine *engine, double now)
{
    struct replica *replica = (struct replica *)engine;
    if (!engine->next) {                            /* called at once: somebody left the queue */
        leave_stretch(replica, now);
        if (engine->next > now)
            return;
    }
    go_on(replica, replica->ahead.stretch.steps);
    struct flight ended = replica->flights[0];
    replica->flights[0] = replica->flights[1];
    replica->flights[1] = ended;
    replica->ahead.end[0] = replica->ahead.end[1];
    replica->ahead.count--;
    replica->decodes.read += ended.turn;
    for (size_t i = 0; i < ended.prompt_count; i++) {
        uint32_t id = ended.prompts[i];
        if (!replica->requests[id].fresh)           /* it was paused */
            continue;
        replica->requests[id].fresh = false;
        world_first_token(engine->world, id, now);
        put_in_tree(replica, id, known_of(replica, id));
    }
    for (size_t i = 0; i < ended.end_count; i++)
        finish(replica, ended.ends[i], now);
    counts(replica);
}

static void trtllm_take(struct engine *engine, uint32_t id, double now)
{
    struct replica *replica = (struct replica *)engine;
    if (replica->ahead.stretch.steps)
        leave_stretch(replica, now);
    replica->requests[id] = (struct request){ .had = engine->world->got[id] };
    replica->left += (int64_t)(last_of(replica, id) - ready_of(replica, id));
    queue_last(engine->world, &replica->queue, id);
    counts(replica);
}

static bool trtllm_drop(struct engine *engine, uint32_t id)
{
    struct replica *replica = (struct replica *)engine;
    if (!queue_remove(engine->world, &replica->queue, id))
        return false;
    replica->left -= (int64_t)(last_of(replica, id) - ready_of(replica, id));
    if (replica->ahead.stretch.steps)
        engine->next = 0;
    counts(replica);
    return true;
}

static size_t trtllm_cached(struct engine *engine, uint32_t id, double now)
{
    struct replica *replica = (struct replica *)engine;
    trtllm_settle(engine, now);
    return find(replica, id, world_prompt(engine->world, id)).units * engine->server->block;
}

static void empty(struct replica *replica)
{
    replica->queue = QUEUE_EMPTY;
    replica->decodes.count = replica->outside = replica->ahead.count = 0;
    replica->decodes.cached = replica->left = 0;
    replica->decodes.read = replica->decodes.launched;
    for (size_t i = 0; i < server_of(replica)->block; i++)
        replica->takes[i] = 0;
    replica->newest = replica->cut = NOBODY;
    replica->ahead.stretch.steps = 0;
    radix_clear(replica->cache);
    replica->engine.running = 0;
    replica->engine.next = INFINITY;
    counts(replica);
}

static void trtllm_clear(struct engine *engine, double now)
{
    struct replica *replica = (struct replica *)engine;
    uint32_t *got = engine->world->got;
    trtllm_settle(engine, now);
    for (uint32_t id = replica->newest; id != NOBODY; id = replica->requests[id].earlier)
        got[id] = id == replica->cut ? replica->requests[id].had : received(replica, id);
    for (size_t f = 0; f < replica->ahead.count; f++)
        for (size_t i = 0; i < replica->flights[f].end_count; i++)
            got[replica->flights[f].ends[i]] = received(replica, replica->flights[f].ends[i]);
    while (replica->queue.count) {
        uint32_t id = queue_pop(engine->world, &replica->queue);
        got[id] = replica->requests[id].had;
    }
    empty(replica);
}

static struct engine *trtllm_open(struct arena *arena, struct world *world,
                                  const struct sim_server *server)
{
    size_t most = server->sequences_most + 1;
    struct replica *replica = arena_alloc(arena, sizeof *replica);
    if (!world->shared)
        world->shared = arena_array(arena, world->trace->count, sizeof(struct request));
    replica->engine = (struct engine){ .server = server, .world = world };
    replica->requests = world->shared;
    replica->reuse = world->trace->block || world->trace->before || server->eager;
    replica->cache = radix_open(arena, world->trace, server->block);
    replica->decodes.heap = arena_array(arena, most, sizeof(struct decode));
    replica->takes = arena_array(arena, server->block, sizeof *replica->takes);
    for (size_t i = 0; i < AHEAD_MOST; i++) {
        replica->flights[i].prompts = arena_array(arena, most, sizeof(uint32_t));
        replica->flights[i].ends = arena_array(arena, most, sizeof(uint32_t));
    }
    replica->ahead.depth = server->synchronous ? 1 : AHEAD_MOST;
    empty(replica);
    return &replica->engine;
}

const struct rule_set rules_trtllm = {
    .name = "trtllm", .open = trtllm_open, .take = trtllm_take, .end = trtllm_end,
    .start = trtllm_start, .settle = trtllm_settle, .drop = trtllm_drop, .cached = trtllm_cached,
    .clear = trtllm_clear };
