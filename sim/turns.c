/* Rule sets sarathi and vllm-2023: arrival order, whole requests, blocks without names. */
#include "sim/engine.h"

#include <math.h>
#include <string.h>

/* What a request has done. A request is named by its place in the trace, so that order of
 * arrival is order of numbers. */
struct requests {
    uint32_t *prompt;       /* grows when a request starts again: what it had is its prompt */
    uint32_t *total;        /* prompt and output */
    int64_t *done;          /* tokens processed; while it decodes, less the replica's turns */
};

struct finish {             /* of a decoding request: the turn that completes it */
    uint64_t turn;
    uint32_t id;
};

struct part {               /* of a batch: a prompt's chunk, or a step of `stepping` */
    uint32_t id, tokens;
};

/* The decoding requests of a replica advance together, one token a turn, so that what they
 * have done is a difference to the count of turns, and a turn costs nothing by request. When
 * blocks run short the order in which they take one decides: then a step goes through them. */
struct replica {
    struct engine engine;
    struct requests *requests;
    struct queue queue;             /* those that wait */
    uint32_t *running;              /* in order of arrival: decoding and in their prompt */
    size_t running_count;
    uint32_t *prefills;             /* in order of arrival: those in their prompt */
    size_t prefill_count;
    struct finish *finishes;        /* heap: the next to complete first */
    size_t decoding;
    int64_t done_sum;               /* of the decoding ones, less the turns */
    uint64_t turns;
    size_t *takes;                  /* [block]: those that take a block when turns % block is so */
    size_t free_blocks;
    struct part *parts;             /* of the batch that runs */
    size_t part_count;
    bool busy, turn, exact;         /* a batch runs; it is a turn; it went through all */
    struct stretch stretch;         /* of turns that run instead of a batch; steps 0: none */
};

/* ---- blocks ------------------------------------------------------------------------------ */

static size_t blocks_for(const struct replica *replica, uint64_t tokens)
{
    return (size_t)((tokens + replica->engine.server->block - 1) / replica->engine.server->block);
}

/* A decoding request takes a block when what it has done is more than its blocks hold. */
static size_t blocks_held(const struct replica *replica, uint32_t id, uint64_t done)
{
    size_t prompt = blocks_for(replica, replica->requests->prompt[id]);
    size_t now = done ? blocks_for(replica, done - 1) : 0;
    return now > prompt ? now : prompt;
}

static size_t spare_blocks(const struct replica *replica)
{
    return (size_t)floor(replica->engine.server->watermark * (double)replica->engine.server->blocks);
}

/* Into a list in order of arrival, mostly at its end. */
static void list_insert(uint32_t *list, size_t *count, uint32_t id)
{
    size_t at = (*count)++;
    for (; at && list[at - 1] > id; at--)
        list[at] = list[at - 1];
    list[at] = id;
}

static void list_remove(uint32_t *list, size_t *count, uint32_t id)
{
    size_t low = 0, high = *count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&list[low], &list[low + 1], (*count - low - 1) * sizeof *list);
    (*count)--;
}

/* ---- decoding ------------------------------------------------------------------------------ */

static void heap_push(struct replica *replica, struct finish finish)
{
    size_t at = replica->decoding++;
    while (at && replica->finishes[(at - 1) / 2].turn > finish.turn) {
        replica->finishes[at] = replica->finishes[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    replica->finishes[at] = finish;
}

static uint32_t heap_pop(struct replica *replica)
{
    struct finish *heap = replica->finishes, last = heap[--replica->decoding];
    uint32_t id = heap[0].id;
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= replica->decoding)
            break;
        if (child + 1 < replica->decoding && heap[child + 1].turn < heap[child].turn)
            child++;
        if (last.turn <= heap[child].turn)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return id;
}

/* The class of turns in which a request that has done so much takes its next blocks. */
static size_t take_class(const struct replica *replica, uint32_t id,
                         uint64_t done)
{
    size_t block = replica->engine.server->block;
    uint64_t room = (uint64_t)blocks_held(replica, id, done) * block;
    return (size_t)((replica->turns + room - done + 1) % block);
}

static void join_decoding(struct replica *replica, uint32_t id, uint64_t done)
{
    struct requests *requests = replica->requests;
    requests->done[id] = (int64_t)done - (int64_t)replica->turns;
    replica->done_sum += requests->done[id];
    replica->takes[take_class(replica, id, done)]++;
    heap_push(replica, (struct finish){ replica->turns + requests->total[id] - done, id });
}

static uint64_t done_by(const struct replica *replica, uint32_t id)
{
    return (uint64_t)(replica->requests->done[id] + (int64_t)replica->turns);
}

static uint64_t cached_sum(const struct replica *replica)
{
    return (uint64_t)(replica->done_sum + (int64_t)(replica->decoding * replica->turns));
}

/* ---- ends ---------------------------------------------------------------------------------- */

static void complete(struct replica *replica, uint32_t id, uint64_t done)
{
    world_done(replica->engine.world, id, replica->engine.next);
    replica->free_blocks += blocks_held(replica, id, done);
    list_remove(replica->running, &replica->running_count, id);
}

static void first_token(const struct replica *replica, uint32_t id)
{
    world_first_token(replica->engine.world, id, replica->engine.next);
}

/* The last turn's blocks were taken for what was done before it. */
static void complete_turn(struct replica *replica)
{
    while (replica->decoding && replica->finishes[0].turn == replica->turns) {
        uint32_t id = heap_pop(replica);
        uint64_t done = replica->requests->total[id];
        replica->takes[take_class(replica, id, done)]--;
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
    list_remove(replica->prefills, &replica->prefill_count, part->id);
    if (done == requests->total[part->id])
        complete(replica, part->id, done);
    else
        join_decoding(replica, part->id, done);
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
            join_decoding(replica, id, (uint64_t)requests->done[id]);
    }
}

static void end_batch(struct replica *replica)
{
    replica->busy = false;
    if (replica->exact) {
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

/* ---- forming a batch ----------------------------------------------------------------------- */

struct batch {
    struct sim_step step;
    size_t prompt_most;
};

static size_t batch_tokens(const struct batch *batch)
{
    return (size_t)(batch->step.decoding + batch->step.prompt);
}

static void add_part(struct replica *replica, struct batch *batch, uint32_t id, uint64_t tokens)
{
    replica->parts[replica->part_count++] = (struct part){ id, (uint32_t)tokens };
    batch->step.sequences++;
}

static void add_decode(struct replica *replica, struct batch *batch, uint32_t id)
{
    batch->step.decoding++;
    batch->step.decode_cached += (double)replica->requests->done[id];
    add_part(replica, batch, id, 1);
}

static void add_prompt(struct replica *replica, struct batch *batch, uint32_t id,
                       uint64_t tokens)
{
    double before = (double)replica->requests->done[id], now = (double)tokens;
    batch->step.prompt += now;
    batch->step.prompt_cached += before;
    batch->step.prompt_pairs += now * (before + now / 2);
    add_part(replica, batch, id, tokens);
}

/* The next that waits, with as much of its prompt as the batch has room for. */
static bool admit_one(struct replica *replica, struct batch *batch)
{
    const struct sim_server *server = replica->engine.server;
    if (!replica->queue.count || replica->running_count >= server->sequences_most ||
        batch->step.sequences >= (double)server->sequences_most)
        return false;
    uint32_t id = replica->queue.head;
    uint64_t prompt = replica->requests->prompt[id], tokens = prompt;
    size_t needed = blocks_for(replica, prompt);
    if (replica->free_blocks < needed + spare_blocks(replica))
        return false;
    if (server->rules == RULES_SARATHI) {
        size_t used = batch_tokens(batch), room = server->chunk > used ? server->chunk - used : 0;
        tokens = prompt < room ? prompt : room;
        if (!tokens)
            return false;
    } else {
        size_t most = prompt > batch->prompt_most ? prompt : batch->prompt_most;
        if (((size_t)batch->step.sequences + 1) * most > server->batch_tokens_most)
            return false;
        batch->prompt_most = most;
    }
    queue_pop(replica->engine.world, &replica->queue);
    replica->free_blocks -= needed;
    replica->requests->done[id] = 0;
    list_insert(replica->running, &replica->running_count, id);
    list_insert(replica->prefills, &replica->prefill_count, id);
    add_prompt(replica, batch, id, tokens);
    return true;
}

static void admit(struct replica *replica, struct batch *batch)
{
    while (admit_one(replica, batch))
        ;
}

/* Prompts that were begun: as much as the chunk has room for. */
static void go_on_with_prompts(struct replica *replica, struct batch *batch,
                               const uint32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t rest = replica->requests->prompt[ids[i]] - (uint64_t)replica->requests->done[ids[i]];
        size_t used = batch_tokens(batch), chunk = replica->engine.server->chunk;
        if (rest && chunk > used)
            add_prompt(replica, batch, ids[i], rest < chunk - used ? rest : chunk - used);
    }
}

/* It starts again, from the head of the queue: what it had is its prompt now. */
static void restart(struct replica *replica, uint32_t id)
{
    struct requests *requests = replica->requests;
    replica->free_blocks += blocks_held(replica, id, (uint64_t)requests->done[id]);
    replica->engine.tokens_left += (uint64_t)requests->done[id];        /* to be processed again */
    list_remove(replica->running, &replica->running_count, id);
    requests->prompt[id] = (uint32_t)requests->done[id];
    requests->done[id] = 0;
    world_restarted(replica->engine.world, id);
    queue_first(replica->engine.world, &replica->queue, id);
}

/* Through the running ones in order of arrival: who decodes needs a free block to go on; when
 * there is none the last of those not yet looked at starts again, or else the one itself. */
static void decode_one_by_one(struct replica *replica, struct batch *batch,
                              uint32_t *prefills, size_t *prefill_count)
{
    struct requests *requests = replica->requests;
    for (size_t i = 0; i < replica->running_count &&
                       batch->step.sequences < (double)replica->engine.server->sequences_most; i++) {
        uint32_t id = replica->running[i];
        if (requests->done[id] < requests->prompt[id]) {
            prefills[(*prefill_count)++] = id;
            continue;
        }
        while (!replica->free_blocks && replica->running_count > i + 1)
            restart(replica, replica->running[replica->running_count - 1]);
        if (!replica->free_blocks) {
            restart(replica, id);
            break;
        }
        uint64_t done = (uint64_t)requests->done[id];
        replica->free_blocks -= done > (uint64_t)blocks_held(replica, id, done) * replica->engine.server->block;
        add_decode(replica, batch, id);
    }
}

/* All that decode leave the common count: what each has done is a number. */
static void leave_turns(struct replica *replica)
{
    for (size_t i = 0; i < replica->decoding; i++) {
        uint32_t id = replica->finishes[i].id;
        replica->requests->done[id] = (int64_t)done_by(replica, id);
    }
    replica->decoding = 0;
    replica->done_sum = 0;
    memset(replica->takes, 0, replica->engine.server->block * sizeof *replica->takes);
}

static void form_exact(struct replica *replica, struct batch *batch)
{
    size_t prefills = 0;
    leave_turns(replica);
    replica->exact = true;
    /* `prefills` is made again when the step ends */
    decode_one_by_one(replica, batch, replica->prefills, &prefills);
    if (replica->engine.server->rules == RULES_SARATHI) {
        go_on_with_prompts(replica, batch, replica->prefills, prefills);
        replica->prefill_count = 0;
        admit(replica, batch);
    }
}

/* Whether all that decode can take a turn without anybody looking at blocks. */
static bool turn_is_safe(const struct replica *replica)
{
    return !replica->engine.world->options->stepping && replica->decoding <= replica->engine.server->sequences_most &&
           replica->free_blocks > replica->takes[replica->turns % replica->engine.server->block];
}

static void form_turn(struct replica *replica, struct batch *batch)
{
    replica->turn = true;
    replica->free_blocks -= replica->takes[replica->turns % replica->engine.server->block];
    batch->step.decoding = batch->step.sequences = (double)replica->decoding;
    batch->step.decode_cached = (double)cached_sum(replica);
}

static void form(struct replica *replica, struct batch *batch)
{
    *batch = (struct batch){ 0 };
    replica->part_count = 0;
    replica->turn = replica->exact = false;
    if (replica->engine.server->rules == RULES_VLLM_2023) {
        admit(replica, batch);                 /* prompts before any decode */
        if (batch->step.sequences > 0)
            return;
    }
    if (replica->decoding && !turn_is_safe(replica)) {
        form_exact(replica, batch);
        return;
    }
    if (replica->decoding)
        form_turn(replica, batch);
    if (replica->engine.server->rules == RULES_SARATHI) {
        go_on_with_prompts(replica, batch, replica->prefills, replica->prefill_count);
        admit(replica, batch);
    }
}


/* ---- stretches ------------------------------------------------------------------------------- */

/* Turns for which blocks suffice whoever takes them. */
static uint64_t turns_with_blocks(const struct replica *replica)
{
    size_t block = replica->engine.server->block;
    size_t rounds = (replica->free_blocks - 1) / replica->decoding;
    size_t left = replica->free_blocks - 1 - rounds * replica->decoding;
    uint64_t turns = (uint64_t)rounds * block;
    for (size_t i = 0; i < block; i++, turns++) {
        size_t takes = replica->takes[(replica->turns + i) % block];
        if (takes > left)
            break;
        left -= takes;
    }
    return turns;
}

/* Whether the one that waits first will still wait after a turn of those who decode. */
static bool nobody_enters(const struct replica *replica)
{
    const struct sim_server *server = replica->engine.server;
    if (!replica->queue.count || replica->running_count >= server->sequences_most)
        return true;
    if (server->rules == RULES_SARATHI && replica->decoding >= server->chunk)
        return true;
    return replica->free_blocks <
           blocks_for(replica, replica->requests->prompt[replica->queue.head]) +
           spare_blocks(replica);
}

/* As many turns as come before anything else can happen, unless somebody arrives. */
static void try_stretch(struct replica *replica, double now)
{
    replica->stretch.steps = 0;
    if (!replica->decoding || replica->prefill_count || !turn_is_safe(replica) ||
        !nobody_enters(replica))
        return;
    uint64_t most = replica->finishes[0].turn - replica->turns - 1;
    uint64_t blocks = turns_with_blocks(replica);
    struct sim_step step = { .decoding = (double)replica->decoding,
                             .decode_cached = (double)cached_sum(replica),
                             .sequences = (double)replica->decoding };
    most = most < blocks ? most : blocks;
    if (most)
        replica->stretch = stretch_of(replica->engine.server, now, &step, most);
}

static void take_blocks(struct replica *replica, uint64_t turns)
{
    size_t block = replica->engine.server->block;
    replica->free_blocks -= replica->decoding * (size_t)(turns / block);
    for (uint64_t i = 0; i < turns % block; i++)
        replica->free_blocks -= replica->takes[(replica->turns + i) % block];
}

/* The first turns of the stretch have been. */
static void settle_turns(struct replica *replica, uint64_t turns)
{
    struct stretch *stretch = &replica->stretch;
    const double seconds = stretch_seconds(stretch, (double)turns);
    if (!turns)
        return;
    world_stretched(&replica->engine, stretch, turns);
    take_blocks(replica, turns);
    replica->turns += turns;
    replica->engine.tokens_left -= turns * replica->decoding;
    replica->engine.blocks_used = replica->engine.server->blocks - replica->free_blocks;
    stretch->from += seconds;
    stretch->first += stretch->growth * (double)turns;
    stretch->step.decode_cached += (double)(turns * replica->decoding);
    stretch->steps -= turns;
}

/* ---- what the world asks ------------------------------------------------------------------------ */

static void form_batch(struct replica *replica, double now)
{
    struct batch batch;
    form(replica, &batch);
    replica->engine.next = INFINITY;
    if (batch.step.sequences > 0) {
        const struct sim_server *server = replica->engine.server;
        const double seconds = server->seconds(server->context, &batch.step);
        replica->busy = true;
        replica->engine.next = now + seconds;
        replica->engine.tokens_left -= batch_tokens(&batch);
        replica->engine.waiting = replica->queue.count;
        replica->engine.stalls = replica->decoding > 0;
        world_ran(&replica->engine, now, seconds, &batch.step);
    }
    replica->engine.blocks_used = replica->engine.server->blocks - replica->free_blocks;
}

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
        form_batch(replica, now);
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
    form_batch(replica, replica->stretch.from);
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
    if (!queue_remove(engine->world, &replica->queue, id))
        return false;
    leave_stretch(replica);
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
    if (!replica->exact)
        leave_turns(replica);
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
    size_t most = server->sequences_most + 1, count = world->trace->count;
    struct replica *replica = arena_alloc(arena, sizeof *replica);
    if (!world->shared) {
        struct requests *requests = world->shared = arena_alloc(arena, sizeof *requests);
        *requests = (struct requests){ arena_array(arena, count, sizeof(uint32_t)),
                                       arena_array(arena, count, sizeof(uint32_t)),
                                       arena_array(arena, count, sizeof(int64_t)) };
    }
    *replica = (struct replica){
        .requests = world->shared, .queue = QUEUE_EMPTY, .free_blocks = server->blocks,
        .running = arena_array(arena, most, sizeof(uint32_t)),
        .prefills = arena_array(arena, most, sizeof(uint32_t)),
        .finishes = arena_array(arena, most, sizeof(struct finish)),
        .takes = arena_array(arena, server->block, sizeof(size_t)),
        .parts = arena_array(arena, 2 * most, sizeof(struct part)),
    };
    return &replica->engine;
}

const struct rule_set rules_sarathi = {
    .name = "sarathi", .open = turns_open, .take = turns_take, .end = turns_end,
    .start = turns_start, .settle = turns_settle, .drop = turns_drop, .clear = turns_clear };
const struct rule_set rules_vllm_2023 = {
    .name = "vllm-2023", .open = turns_open, .take = turns_take, .end = turns_end,
    .start = turns_start, .settle = turns_settle, .drop = turns_drop, .clear = turns_clear };
