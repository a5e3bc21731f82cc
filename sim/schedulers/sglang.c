/* SGLang, as of 0.5.18. A batch is prompts alone, or one token of each that decodes; prompts go
 * first. Memory is counted in tokens (pages of 1), and whether a request is admitted is a guess
 * of what those that decode will still need. Where that was too low, the ones with the fewest
 * outputs start again. Two batches are in flight (overlap): the next but one is formed when a
 * batch ends, before its results are known to it, so that a request that ends in one batch is in
 * the next too; that token is dropped.
 *
 * Steps of forming a batch:
 *
 * 1. Prompts that the batch formed last has ended join those that decode.
 * 2. Prompts, unless memory or seats ran out when it was tried last (`full`) and none is cut: the
 *    one that was cut, then the queue in order, while tokens of a batch, seats and the guess
 *    permit. `full` falls when those that decode are fewer, or others.
 * 3. No prompts: all that decode take one token; without room for it some start again.
 *
 * Those that ended leave the decoding batch when the next one is formed, and hold a seat till
 * then. The tree of prefixes (radix.h) knows tokens by the names and sessions of the trace, and
 * gives up one token at a time. A request alone is admitted whatever the guess. */
#include "sim/schedulers/ahead.h"
#include "sim/schedulers/decodes.h"
#include "sim/cache/radix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { CLIP = 4096, BATCH_TOKENS = 16384, RETRACT_TOKENS = 20, RATIO_STEPS = 600 };
static const double ratio_first = 0.7, ratio_least = 0.14;     /* least: of the first */

struct request {
    int64_t cached;                 /* tokens cached; while it decodes, less the turns launched */
    uint64_t turn;                  /* while it decodes: that of its last output */
    uint32_t had;                   /* outputs received when it was admitted */
    uint32_t node;                  /* what it locks of the tree */
    bool fresh;                     /* its prompt is in flight */
    bool over;
};

struct flight {                     /* a batch that was launched */
    uint32_t *prompts;              /* that it ends */
    size_t count;
    bool turn;                      /* those that decode are in it */
};

struct replica {
    struct engine engine;
    struct request *requests;
    struct queue queue;
    struct decodes decodes;
    struct radix *cache;
    size_t outside;                 /* tokens cached by running requests outside of the tree */
    int64_t left;                   /* tokens to process */
    uint32_t cut;                   /* the prompt that goes on; NOBODY */
    uint32_t *last;                 /* prompts ended by the batch formed last */
    size_t last_count;
    bool last_cut, last_mixed;      /* it has one that goes on; those that decode */
    size_t gone;                    /* ended, and not yet out of the decoding batch */
    bool full;
    double ratio;                   /* of outputs to come that are expected, and after which */
    uint64_t ratio_turns;           /* decoding batches it has fallen */
    struct ahead ahead;
    struct flight flights[AHEAD_MOST];
};

static uint32_t want(const struct replica *replica, uint32_t id)
{
    return replica->engine.world->want[id];
}

static size_t capacity(const struct replica *replica)
{
    return replica->engine.server->blocks * replica->engine.server->block;
}

/* Tokens to read before its next output; of these cached by another pool. */
static uint64_t known_of(const struct replica *replica, uint32_t id)
{
    return (uint64_t)replica->engine.world->trace->prompt[id] + replica->requests[id].had;
}

static uint64_t ready_of(const struct replica *replica, uint32_t id)
{
    uint64_t known = known_of(replica, id), ready = replica->engine.world->ready[id];
    return ready < known ? ready : known - 1;
}

static uint64_t last_of(const struct replica *replica, uint32_t id)
{
    return world_total(replica->engine.world, id) - 1;  /* its last token is not an input */
}

static size_t in_use(const struct replica *replica)
{
    return replica->outside + radix_used(replica->cache);
}

/* What nobody uses makes room. */
static void make_room(struct replica *replica)
{
    size_t held = in_use(replica) + radix_idle(replica->cache), most = capacity(replica);
    if (held > most)
        radix_evict(replica->cache, held - most);
}

/* ---- the guess ------------------------------------------------------------------------------ */

static double first_ratio(const struct replica *replica)
{
    double conservativeness = replica->engine.server->conservativeness;
    return fmin(1, ratio_first * (conservativeness > 0 ? conservativeness : 1));
}

/* It falls evenly. */
static double ratio_now(const struct replica *replica)
{
    const double first = first_ratio(replica), least = first * ratio_least;
    const double fall = (first - least) / RATIO_STEPS * (double)replica->ratio_turns;
    return replica->ratio_turns ? fmax(replica->ratio - fall, least) : replica->ratio;
}

static void set_ratio(struct replica *replica, double ratio)
{
    replica->ratio = ratio;
    replica->ratio_turns = 0;
}

/* Outputs that one who decodes still lacks, clipped; of the tokens in flight none counts. */
static uint64_t lacks(const struct decodes *decodes, const struct decode *decode)
{
    uint64_t rest = decode->turn - decodes->read;
    rest = rest < decode->most ? rest : decode->most;
    return rest < CLIP ? rest : CLIP;
}

static uint64_t expected(const struct replica *replica)
{
    const struct decodes *decodes = &replica->decodes;
    uint64_t sum = 0;
    for (size_t i = 0; i < decodes->count; i++)
        sum += lacks(decodes, &decodes->heap[i]);
    for (size_t f = 0; f < replica->ahead.count; f++)
        for (size_t i = 0; i < replica->flights[f].count; i++) {
            uint32_t id = replica->flights[f].prompts[i];
            const struct request *request = &replica->requests[id];
            uint32_t most = want(replica, id) - request->had;
            if (request->fresh)                     /* its first output is one of those in flight */
                sum += (most < CLIP ? most : CLIP) -
                       lacks(decodes, &(struct decode){ request->turn, id, most });
        }
    return sum;
}

/* ---- requests come and go ------------------------------------------------------------------- */

static uint32_t received(const struct replica *replica, uint32_t id)
{
    const struct request *request = &replica->requests[id];
    uint64_t lack = request->turn - replica->decodes.read, all = want(replica, id);
    return request->fresh || lack > all - request->had ? request->had : (uint32_t)(all - lack);
}

/* From the next turn on; `coming` outputs are known or in flight. */
static void join(struct replica *replica, uint32_t id, uint32_t coming)
{
    struct request *request = &replica->requests[id];
    struct decodes *decodes = &replica->decodes;
    request->turn = decodes->launched + want(replica, id) - coming;
    request->cached -= (int64_t)decodes->launched;
    decodes->cached += request->cached;
    decodes_push(decodes, (struct decode){ request->turn, id, want(replica, id) - request->had });
}

static void leave(struct replica *replica, uint32_t id)
{
    struct request *request = &replica->requests[id];
    replica->decodes.cached -= request->cached;
    request->cached += (int64_t)replica->decodes.launched;
}

/* Its prefix, up to so many tokens, is in the tree from now on. */
static void put_in_tree(struct replica *replica, uint32_t id, size_t tokens)
{
    struct request *request = &replica->requests[id];
    size_t before = radix_end(replica->cache, request->node);
    if (tokens <= before)
        return;
    replica->outside -= tokens - before;
    request->node = radix_lock(replica->cache, id, request->node, tokens);
}

static void let_go(struct replica *replica, uint32_t id)
{
    struct request *request = &replica->requests[id];
    replica->outside -= (size_t)request->cached - radix_end(replica->cache, request->node);
    radix_unlock(replica->cache, request->node);
    request->node = RADIX_ROOT;
    replica->engine.running--;
}

static void finish(struct replica *replica, uint32_t id, double now)
{
    struct request *request = &replica->requests[id];
    uint64_t all = last_of(replica, id);
    replica->left += request->cached - (int64_t)all;            /* the token too many */
    put_in_tree(replica, id, (size_t)all);
    let_go(replica, id);
    request->over = true;
    world_done(replica->engine.world, id, now);
}

/* Those with the fewest outputs, of these the longest prompt, of these the last. */
static size_t to_retract(const struct replica *replica)
{
    const struct decodes *decodes = &replica->decodes;
    const uint32_t *prompt = replica->engine.world->trace->prompt;
    size_t chosen = 0;
    for (size_t i = 1; i < decodes->count; i++) {
        uint32_t id = decodes->heap[i].id, other = decodes->heap[chosen].id;
        uint32_t outputs = received(replica, id), others = received(replica, other);
        if (outputs < others ||
            (outputs == others && (prompt[id] > prompt[other] ||
                                   (prompt[id] == prompt[other] && id > other))))
            chosen = i;
    }
    return chosen;
}

static void retract(struct replica *replica)
{
    size_t at = to_retract(replica);
    uint32_t id = replica->decodes.heap[at].id;
    struct request *request = &replica->requests[id];
    request->had = received(replica, id);
    request->fresh = false;
    decodes_remove(&replica->decodes, at);
    leave(replica, id);
    replica->left += request->cached;
    let_go(replica, id);
    replica->engine.world->ready[id] = 0;
    world_restarted(replica->engine.world, id);
    queue_last(replica->engine.world, &replica->queue, id);
}

/* Until so many tokens, and one of each that decodes if they take a turn, have room, or only
 * `stay` of them are left. True: some start again. */
static bool retract_for(struct replica *replica, size_t tokens, bool turn, size_t stay)
{
    struct decodes *decodes = &replica->decodes;
    uint64_t had = 0, all = 0;
    bool enough = true;
    while (in_use(replica) + tokens + (turn ? decodes->count : 0) > capacity(replica) &&
           decodes->count > stay) {
        retract(replica);
        enough = false;
    }
    if (enough)
        return false;
    for (size_t i = 0; i < decodes->count; i++) {
        had += received(replica, decodes->heap[i].id);
        all += want(replica, decodes->heap[i].id);
    }
    set_ratio(replica, fmin(1, (double)(had + RETRACT_TOKENS * decodes->count) /
                               (double)(all + 1)));
    return true;
}

/* ---- forming a batch ------------------------------------------------------------------------ */

struct batch {
    struct flight *flight;
    struct sim_step step;
    int64_t prompt_room, chunk_room;        /* tokens */
    double room;                            /* the guess of memory that is free for good */
    size_t parts;
};

static void merge(struct replica *replica)
{
    bool fewer = replica->last_cut || (replica->last_mixed && replica->gone);
    bool others = replica->last_mixed || replica->decodes.count + replica->gone == 0;
    if (replica->last_mixed)
        replica->gone = 0;
    for (size_t i = 0; i < replica->last_count; i++) {
        uint32_t id = replica->last[i];
        if (replica->requests[id].over)
            fewer = true;
        else
            join(replica, id, replica->requests[id].had + 1);
    }
    if (fewer || (others && (replica->last_count || replica->last_mixed) && replica->decodes.count))
        replica->full = false;
    replica->last_count = 0;
    replica->last_cut = replica->last_mixed = false;
}

static void add_prompt(struct replica *replica, struct batch *batch, uint32_t id, uint64_t tokens)
{
    struct request *request = &replica->requests[id];
    double before = (double)request->cached, now = (double)tokens;
    batch->step.prompt += now;
    batch->step.prompt_cached += before;
    batch->step.prompt_pairs += now * (before + now / 2);
    batch->step.sequences++;
    batch->parts++;
    request->cached += (int64_t)tokens;
    replica->outside += tokens;
    replica->left -= (int64_t)tokens;
    batch->prompt_room -= (int64_t)tokens;
    batch->chunk_room -= (int64_t)tokens;
    bool ends = (uint64_t)request->cached == known_of(replica, id);
    replica->cut = ends ? NOBODY : id;
    request->fresh = ends;
    if (ends)
        batch->flight->prompts[batch->flight->count++] = id;
}

static uint64_t outputs_to_keep(const struct replica *replica, uint32_t id)
{
    uint32_t rest = want(replica, id) - replica->requests[id].had;
    return rest < CLIP ? rest : CLIP;
}

/* The one that was cut goes on, whatever the guess. False: some had to make room for it. */
static bool add_cut(struct replica *replica, struct batch *batch)
{
    uint32_t id = replica->cut;
    int64_t rest = (int64_t)known_of(replica, id) - replica->requests[id].cached;
    int64_t room = batch->chunk_room;
    if (batch->room >= 1 && batch->room < (double)room)
        room = (int64_t)batch->room;
    int64_t tokens = rest < room ? rest : room;
    if (tokens <= 0)
        return true;
    bool fits = !retract_for(replica, (size_t)tokens, replica->engine.server->mixed_chunk, 0);
    add_prompt(replica, batch, id, (uint64_t)tokens);
    batch->room -= (double)tokens;
    if (tokens == rest)
        batch->room -= (double)(outputs_to_keep(replica, id) + 1);
    return fits;
}

/* What is there of its cache when it is admitted. */
struct found {
    size_t tree, takes;             /* tokens in the tree; what becomes in use of what is there */
    uint64_t start, rest;           /* tokens that are there, in the tree or came with it; others */
};

static struct found find(const struct replica *replica, uint32_t id)
{
    uint64_t known = known_of(replica, id), ready = ready_of(replica, id);
    struct radix_hit hit = radix_find(replica->cache, id, (size_t)known - 1);
    uint64_t start = hit.units > ready ? hit.units : ready;
    return (struct found){ hit.units, hit.idle + (size_t)start - hit.units, start, known - start };
}

static void begin(struct replica *replica, uint32_t id, const struct found *found)
{
    struct world *world = replica->engine.world;
    struct request *request = &replica->requests[id];
    queue_pop(world, &replica->queue);
    replica->engine.running++;
    replica->left -= (int64_t)(found->start - ready_of(replica, id));
    replica->outside += found->start - found->tree;
    if (!world->result->restarts[id] && !world->got[id])
        world->result->cached_tokens += found->tree;
    *request = (struct request){ .had = request->had, .cached = (int64_t)found->start };
    request->node = radix_lock(replica->cache, id, RADIX_ROOT, found->tree);
}

/* False: nobody behind it is looked at. */
static bool admit_one(struct replica *replica, struct batch *batch)
{
    uint32_t id = replica->queue.head;
    const struct found found = find(replica, id);
    const uint64_t keep = outputs_to_keep(replica, id) + 1, ready = ready_of(replica, id);
    const bool alone = !replica->decodes.count && !batch->parts && replica->cut == NOBODY;
    const bool decodes = ready && ready + 1 == known_of(replica, id);   /* no prompt to read */
    const bool whole = decodes || (int64_t)found.rest <= batch->chunk_room;
    if (!alone && (double)(found.rest + keep + found.takes) >= batch->room) {
        replica->full = true;
        return false;
    }
    if (!whole && batch->chunk_room <= 0)
        return false;
    uint64_t tokens = whole ? found.rest : (uint64_t)batch->chunk_room;
    begin(replica, id, &found);
    batch->room -= (double)(found.takes + tokens + (whole ? keep : 0));
    if (decodes)
        join(replica, id, replica->requests[id].had);
    else
        add_prompt(replica, batch, id, tokens);
    replica->full |= batch->room <= 0;
    return batch->room > 0 && batch->prompt_room > 0 && batch->chunk_room > 0;
}

static void admit(struct replica *replica, struct batch *batch, size_t seats)
{
    size_t before = replica->decodes.count;
    while (replica->queue.count) {
        if (batch->parts + replica->decodes.count - before >= seats)
            replica->full = true;
        if (replica->full || !admit_one(replica, batch))
            return;
    }
}

static void add_turn(struct replica *replica, struct batch *batch)
{
    struct sim_step turn = decodes_step(&replica->decodes);
    batch->step.decoding = turn.decoding;
    batch->step.decode_cached = turn.decode_cached;
    batch->step.sequences += turn.sequences;
    batch->flight->turn = true;
    replica->decodes.launched++;
    replica->outside += replica->decodes.count;
    replica->left -= (int64_t)replica->decodes.count;
}

static bool form_prompts(struct replica *replica, struct batch *batch)
{
    const struct sim_server *server = replica->engine.server;
    if ((replica->full || !replica->queue.count) && replica->cut == NOBODY)
        return false;
    size_t listed = replica->decodes.count + replica->gone;
    size_t seats = server->sequences_most > listed ? server->sequences_most - listed : 0;
    size_t mixed = server->mixed_chunk ? listed : 0;
    if (!seats && replica->cut == NOBODY) {
        replica->full = true;
        return false;
    }
    batch->chunk_room = (int64_t)server->chunk - (int64_t)mixed;
    batch->prompt_room = (int64_t)(server->batch_tokens_most ? server->batch_tokens_most
                                                             : BATCH_TOKENS) - (int64_t)mixed;
    batch->room = (double)capacity(replica) - (double)(in_use(replica) + mixed) -
                  ratio_now(replica) * (double)expected(replica);
    if (replica->cut == NOBODY || add_cut(replica, batch))
        admit(replica, batch, seats);
    if (!batch->parts)
        return false;
    if (server->mixed_chunk && listed) {
        replica->gone = 0;
        replica->last_mixed = true;
        retract_for(replica, 0, true, 0);
        if (replica->decodes.count)
            add_turn(replica, batch);
    }
    return true;
}

static bool form_turn(struct replica *replica, struct batch *batch)
{
    size_t listed = replica->decodes.count + replica->gone;
    replica->gone = 0;
    if (replica->decodes.count &&
        !retract_for(replica, 0, true, replica->cut == NOBODY))
        replica->ratio_turns++;
    if (replica->decodes.count < listed)
        replica->full = false;
    if (!replica->decodes.count)
        return false;
    add_turn(replica, batch);
    return true;
}

static void counts(struct replica *replica)
{
    replica->engine.waiting = replica->queue.count;
    replica->engine.tokens_left = replica->left > 0 ? (uint64_t)replica->left : 0;
    replica->engine.blocks_used = (in_use(replica) + replica->engine.server->block - 1) /
                                  replica->engine.server->block;
}

/* False: nothing to do. */
static bool form(struct replica *replica, double now)
{
    const struct sim_server *server = replica->engine.server;
    struct ahead *ahead = &replica->ahead;
    struct batch batch = { .flight = &replica->flights[ahead->count] };
    batch.flight->count = 0;
    batch.flight->turn = false;
    if (replica->cut != NOBODY)
        put_in_tree(replica, replica->cut, (size_t)replica->requests[replica->cut].cached);
    merge(replica);
    if (!form_prompts(replica, &batch) && !form_turn(replica, &batch))
        return false;
    make_room(replica);
    memcpy(replica->last, batch.flight->prompts, batch.flight->count * sizeof *replica->last);
    replica->last_count = batch.flight->count;
    replica->last_cut = batch.parts && replica->cut != NOBODY;
    const double from = ahead_from(ahead, now);
    const double seconds = server->seconds(server->context, &batch.step);
    ahead->end[ahead->count++] = from + seconds;
    counts(replica);
    replica->engine.stalls = replica->decodes.count > 0;
    world_ran(&replica->engine, from, seconds, &batch.step);
    return true;
}

/* ---- stretches ------------------------------------------------------------------------------ */

/* As many turns as are formed before anybody ends, enters or starts again. */
static void try_stretch(struct replica *replica)
{
    const struct decodes *decodes = &replica->decodes;
    struct ahead *ahead = &replica->ahead;
    if (replica->engine.world->options->stepping || ahead->count < ahead->depth ||
        !decodes->count || replica->gone || replica->cut != NOBODY ||
        (replica->queue.count && !replica->full))
        return;
    for (size_t f = 0; f < ahead->count; f++)
        if (replica->flights[f].count || !replica->flights[f].turn)
            return;
    uint64_t most = decodes->heap[0].turn - decodes->read - 1;
    uint64_t room = (capacity(replica) - in_use(replica)) / decodes->count;
    most = most < room ? most : room;
    if (!most)
        return;
    struct sim_step step = decodes_step(decodes);
    ahead->stretch = stretch_of(replica->engine.server, ahead->end[ahead->count - 1], &step, most);
    ahead->waiting = replica->queue.count;
    replica->engine.next = ahead_end(ahead, ahead->stretch.steps);
}

static void go_on(struct replica *replica, uint64_t turns)
{
    struct decodes *decodes = &replica->decodes;
    if (!turns)
        return;
    decodes->launched += turns;
    decodes->read += turns;
    replica->ratio_turns += turns;
    replica->outside += turns * decodes->count;
    replica->left -= (int64_t)(turns * decodes->count);
    make_room(replica);
    ahead_move(&replica->ahead, &replica->engine, turns);
    counts(replica);
}

/* ---- what the world asks -------------------------------------------------------------------- */

static void fill(struct replica *replica, double now)
{
    while (replica->ahead.count < replica->ahead.depth && form(replica, now))
        ;
}

static void sglang_start(struct engine *engine, double now)
{
    struct replica *replica = (struct replica *)engine;
    fill(replica, now);
    if (!replica->ahead.count) {
        set_ratio(replica, first_ratio(replica));
        fill(replica, now);                         /* who ended is out of the batch only now */
    }
    engine->next = replica->ahead.count ? replica->ahead.end[0] : INFINITY;
    assert(engine->running || (!replica->left && !in_use(replica)) || replica->queue.count);
    try_stretch(replica);
    counts(replica);
}

/* A prompt has been read, and gave a token. */
static void read_prompt(struct replica *replica, uint32_t id, double now)
{
    struct request *request = &replica->requests[id];
    if (!request->fresh)                            /* it has to start again */
        return;
    request->fresh = false;
    world_first_token(replica->engine.world, id, now);
    put_in_tree(replica, id, (size_t)known_of(replica, id));
    if (replica->ahead.depth == 1 && request->had + 1 == want(replica, id))
        finish(replica, id, now);                   /* with overlap it decodes already */
}

static void sglang_settle(struct engine *engine, double now)
{
    struct replica *replica = (struct replica *)engine;
    if (replica->ahead.stretch.steps)
        go_on(replica, ahead_before(&replica->ahead, now));
}

/* The batch that is formed next may be another one. */
static void leave_stretch(struct replica *replica, double now)
{
    sglang_settle(&replica->engine, now);
    replica->ahead.stretch.steps = 0;
    replica->engine.next = replica->ahead.end[0];
}

static void sglang_end(struct engine *engine, double now)
{
    struct replica *replica = (struct replica *)engine;
    if (!engine->next) {                            /* called at once: somebody left the queue */
        leave_stretch(replica, now);
        if (engine->next > now)
            return;
    }
    struct decodes *decodes = &replica->decodes;
    go_on(replica, replica->ahead.stretch.steps);
    struct flight ended = replica->flights[0];
    replica->flights[0] = replica->flights[1];
    replica->flights[1] = ended;
    replica->ahead.end[0] = replica->ahead.end[1];
    replica->ahead.count--;
    for (size_t i = 0; i < ended.count; i++)
        read_prompt(replica, ended.prompts[i], now);
    decodes->read += ended.turn;
    while (decodes->count && decodes->heap[0].turn <= decodes->read) {
        uint32_t id = decodes_pop(decodes).id;
        leave(replica, id);
        finish(replica, id, now);
        replica->gone++;
    }
    counts(replica);
}

static void sglang_take(struct engine *engine, uint32_t id, double now)
{
    struct replica *replica = (struct replica *)engine;
    if (replica->ahead.stretch.steps)
        leave_stretch(replica, now);
    replica->requests[id] = (struct request){ .had = engine->world->got[id] };
    replica->left += (int64_t)(last_of(replica, id) - ready_of(replica, id));
    queue_last(engine->world, &replica->queue, id);
    counts(replica);
}

static bool sglang_drop(struct engine *engine, uint32_t id)
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

static size_t sglang_cached(struct engine *engine, uint32_t id, double now)
{
    struct replica *replica = (struct replica *)engine;
    sglang_settle(engine, now);
    return radix_find(replica->cache, id, (size_t)world_prompt(engine->world, id) - 1).units;
}

static void forget(struct replica *replica, uint32_t id)
{
    replica->engine.world->got[id] = replica->requests[id].had;
}

static void empty(struct replica *replica)
{
    struct replica *r = replica;
    r->queue = QUEUE_EMPTY;
    r->decodes.count = r->last_count = r->gone = r->outside = r->ahead.count = 0;
    r->decodes.cached = r->left = 0;
    r->decodes.read = r->decodes.launched;
    r->last_cut = r->last_mixed = r->full = false;
    r->cut = NOBODY;
    r->ahead.stretch.steps = 0;
    radix_clear(r->cache);
    set_ratio(r, first_ratio(r));
    r->engine.running = 0;
    r->engine.next = INFINITY;
    counts(r);
}

static void sglang_clear(struct engine *engine, double now)
{
    struct replica *replica = (struct replica *)engine;
    sglang_settle(engine, now);
    for (size_t i = 0; i < replica->decodes.count; i++) {
        uint32_t id = replica->decodes.heap[i].id;
        engine->world->got[id] = received(replica, id);
    }
    for (size_t i = 0; i < replica->last_count; i++)
        forget(replica, replica->last[i]);
    if (replica->cut != NOBODY)
        forget(replica, replica->cut);
    while (replica->queue.count)
        forget(replica, queue_pop(engine->world, &replica->queue));
    empty(replica);
}

static struct engine *sglang_open(struct arena *arena, struct world *world,
                                  const struct sim_server *server)
{
    size_t most = server->sequences_most + 1;
    struct replica *replica = arena_alloc(arena, sizeof *replica);
    if (!world->shared)
        world->shared = arena_array(arena, world->trace->count, sizeof(struct request));
    replica->engine = (struct engine){ .server = server, .world = world };
    replica->requests = world->shared;
    replica->cache = radix_open(arena, world->trace, 1);
    replica->decodes.heap = arena_array(arena, most, sizeof(struct decode));
    replica->last = arena_array(arena, most, sizeof *replica->last);
    for (size_t i = 0; i < AHEAD_MOST; i++)
        replica->flights[i].prompts = arena_array(arena, most, sizeof(uint32_t));
    replica->ahead.depth = server->synchronous ? 1 : AHEAD_MOST;
    empty(replica);
    return &replica->engine;
}

const struct rule_set rules_sglang = {
    .name = "sglang", .open = sglang_open, .take = sglang_take, .end = sglang_end,
    .start = sglang_start, .settle = sglang_settle, .drop = sglang_drop, .cached = sglang_cached,
    .clear = sglang_clear };
