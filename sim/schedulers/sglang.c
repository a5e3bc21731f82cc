/* The scheduler of SGLang 0.5.18. A batch has either prompts or one token of each decoding request;
 * prompts go first. Memory is counted in tokens (pages of 1). Admission estimates how many output
 * tokens the decoding requests still need (new_token_ratio); if the estimate was too low, the requests
 * with the fewest outputs are retracted and start again. Two batches are in flight (overlap schedule):
 * a batch is formed when the one before its predecessor ends, and does not know the results of its
 * predecessor. A request that ends in one batch is therefore in the next one too; that token is
 * dropped.
 *
 * Steps of forming a batch:
 *
 * 1. Requests whose prompt the last formed batch completes join the decoding requests.
 * 2. Take prompts: first the one that was cut, then the queue in order, as long as the tokens of a
 *    batch, the slots and the estimate of memory permit. Skip this if memory or slots ran out at the
 *    last attempt (`full`) and no prompt was cut; `full` is cleared when the decoding requests become
 *    fewer, or others.
 * 3. If no prompt was taken, all decoding requests take one token; if there is no room for it, some
 *    are retracted.
 *
 * Requests that ended leave the decoding batch when the next one is formed, and hold a slot until
 * then. The prefix tree (radix.h) identifies tokens by the prefix names and sessions of the trace, and
 * evicts one token at a time. A request that would be alone is always admitted. */
#include "sim/schedulers/radix_batch.h"
#include "sim/schedulers/schedulers.h"

#include <math.h>
#include <string.h>

enum { CLIP = 4096, BATCH_TOKENS = 16384, RETRACT_TOKENS = 20, RATIO_STEPS = 600 };
static const double ratio_first = 0.7, ratio_least = 0.14;     /* least: as a share of the first */

/* Settings: decodes join prefill batches; factor on the memory reserved for future output tokens. */
enum { MIXED_CHUNK, CONSERVATIVENESS };

struct sglang {
    struct radix_batch core;
    bool mixed_chunk;
    uint32_t *last;                 /* requests whose prompt the last formed batch completes */
    size_t last_count;
    bool last_cut, last_mixed;      /* that batch has a prompt that continues; decoding requests */
    size_t gone;                    /* requests that ended and are still in the decoding batch */
    bool full;                      /* no room for prompts at the last attempt */
    double ratio;                   /* expected share of the remaining outputs, when it was last set; */
    uint64_t ratio_turns;           /*   decoding batches since then, in each of which it falls */
};

static uint32_t want(const struct sglang *sglang, uint32_t id)
{
    return sglang->core.replica.simulation->want[id];
}

/* ---- the estimate of future output tokens --------------------------------------------------- */

static double first_ratio(const struct sglang *sglang)
{
    double conservativeness = sglang->core.replica.server->own[CONSERVATIVENESS];
    return fmin(1, ratio_first * (conservativeness > 0 ? conservativeness : 1));
}

/* The ratio falls linearly, over RATIO_STEPS decoding batches, to its least value. */
static double ratio_now(const struct sglang *sglang)
{
    const double first = first_ratio(sglang), least = first * ratio_least;
    const double fall = (first - least) / RATIO_STEPS * (double)sglang->ratio_turns;
    return sglang->ratio_turns ? fmax(sglang->ratio - fall, least) : sglang->ratio;
}

static void set_ratio(struct sglang *sglang, double ratio)
{
    sglang->ratio = ratio;
    sglang->ratio_turns = 0;
}

/* Outputs that one who decodes still lacks, clipped; of the tokens in flight none counts. */
static uint64_t lacks(const struct decodes *decodes, const struct decode *decode)
{
    uint64_t rest = decode->turn - decodes->read;
    rest = rest < decode->most ? rest : decode->most;
    return rest < CLIP ? rest : CLIP;
}

static uint64_t expected(const struct sglang *sglang)
{
    const struct radix_batch *core = &sglang->core;
    const struct decodes *decodes = &core->decodes;
    uint64_t sum = 0;
    for (size_t i = 0; i < decodes->count; i++)
        sum += lacks(decodes, &decodes->heap[i]);
    for (size_t f = 0; f < core->ahead.count; f++)
        for (size_t i = 0; i < core->flights[f].prompt_count; i++) {
            uint32_t id = core->flights[f].prompts[i];
            const struct radix_request *request = &core->requests[id];
            uint32_t most = want(sglang, id) - request->had;
            if (request->fresh)                     /* its first output is one of those in flight */
                sum += (most < CLIP ? most : CLIP) -
                       lacks(decodes, &(struct decode){ request->turn, id, most });
        }
    return sum;
}

/* ---- requests come and go ------------------------------------------------------------------- */

/* From the next turn on; `pending` outputs are known or in flight. */
static void join(struct sglang *sglang, uint32_t id, uint32_t pending)
{
    radix_batch_join(&sglang->core, id,
                     sglang->core.decodes.launched + want(sglang, id) - pending);
}

static void finish(struct sglang *sglang, uint32_t id, double now)
{
    const int64_t cached = sglang->core.requests[id].cached;
    sglang->core.left += cached - (int64_t)radix_batch_last(&sglang->core, id);
    radix_batch_finish(&sglang->core, id, (size_t)cached, now);     /* with the token too many */
}

/* Those with the fewest outputs, of these the longest prompt, of these the last. */
static size_t to_retract(const struct radix_batch *core)
{
    const struct decodes *decodes = &core->decodes;
    const uint32_t *prompt = core->replica.simulation->trace->prompt;
    size_t chosen = 0;
    for (size_t i = 1; i < decodes->count; i++) {
        uint32_t id = decodes->heap[i].id, other = decodes->heap[chosen].id;
        uint32_t outputs = radix_batch_received(core, id);
        uint32_t others = radix_batch_received(core, other);
        if (outputs < others ||
            (outputs == others && (prompt[id] > prompt[other] ||
                                   (prompt[id] == prompt[other] && id > other))))
            chosen = i;
    }
    return chosen;
}

static void retract(struct radix_batch *core)
{
    const size_t at = to_retract(core);
    const uint32_t id = core->decodes.heap[at].id, had = radix_batch_received(core, id);
    decodes_remove(&core->decodes, at);
    radix_batch_leave(core, id);
    radix_batch_restart(core, id, had, (size_t)core->requests[id].cached);
    queue_last(core->replica.simulation, &core->queue, id);
}

/* Until so many tokens, and one of each that decodes if they take a turn, have room, or only
 * `stay` of them are left. True: some start again. */
static bool retract_for(struct sglang *sglang, size_t tokens, bool turn, size_t stay)
{
    struct radix_batch *core = &sglang->core;
    const struct decodes *decodes = &core->decodes;
    uint64_t had = 0, all = 0;
    bool enough = true;
    while (radix_batch_in_use(core) + tokens + (turn ? decodes->count : 0) > core->capacity &&
           decodes->count > stay) {
        retract(core);
        enough = false;
    }
    if (enough)
        return false;
    for (size_t i = 0; i < decodes->count; i++) {
        had += radix_batch_received(core, decodes->heap[i].id);
        all += want(sglang, decodes->heap[i].id);
    }
    set_ratio(sglang, fmin(1, (double)(had + RETRACT_TOKENS * decodes->count) /
                              (double)(all + 1)));
    return true;
}

/* ---- forming a batch ------------------------------------------------------------------------ */

struct sglang_forming {
    struct radix_flight *flight;
    struct sim_step step;
    int64_t prompt_room, chunk_room;        /* prompt tokens that may still join, of all; of a chunk */
    double room;                            /* tokens free after the expected future outputs */
    size_t parts;
};

static void merge(struct sglang *sglang)
{
    bool fewer = sglang->last_cut || (sglang->last_mixed && sglang->gone);
    bool others = sglang->last_mixed || sglang->core.decodes.count + sglang->gone == 0;
    if (sglang->last_mixed)
        sglang->gone = 0;
    for (size_t i = 0; i < sglang->last_count; i++) {
        uint32_t id = sglang->last[i];
        if (sglang->core.requests[id].over)
            fewer = true;
        else
            join(sglang, id, sglang->core.requests[id].had + 1);
    }
    if (fewer ||
        (others && (sglang->last_count || sglang->last_mixed) && sglang->core.decodes.count))
        sglang->full = false;
    sglang->last_count = 0;
    sglang->last_cut = sglang->last_mixed = false;
}

static void add_prompt(struct sglang *sglang, struct sglang_forming *forming, uint32_t id,
                       uint64_t tokens)
{
    radix_batch_add_prompt(&sglang->core, forming->flight, &forming->step, id, tokens);
    forming->parts++;
    sglang->core.outside += tokens;
    forming->prompt_room -= (int64_t)tokens;
    forming->chunk_room -= (int64_t)tokens;
}

static uint64_t outputs_to_keep(const struct sglang *sglang, uint32_t id)
{
    uint32_t rest = want(sglang, id) - sglang->core.requests[id].had;
    return rest < CLIP ? rest : CLIP;
}

/* The one that was cut goes on, whatever the guess. False: some had to make room for it. */
static bool add_cut(struct sglang *sglang, struct sglang_forming *forming)
{
    const struct radix_batch *core = &sglang->core;
    const uint32_t id = core->cut;
    int64_t rest = (int64_t)radix_batch_known(core, id) - core->requests[id].cached;
    int64_t room = forming->chunk_room;
    if (forming->room >= 1 && forming->room < (double)room)
        room = (int64_t)forming->room;
    int64_t tokens = rest < room ? rest : room;
    if (tokens <= 0)
        return true;
    bool fits = !retract_for(sglang, (size_t)tokens, sglang->mixed_chunk, 0);
    add_prompt(sglang, forming, id, (uint64_t)tokens);
    forming->room -= (double)tokens;
    if (tokens == rest)
        forming->room -= (double)(outputs_to_keep(sglang, id) + 1);
    return fits;
}

/* False: nobody behind it is looked at. */
static bool admit_one(struct sglang *sglang, struct sglang_forming *forming)
{
    struct radix_batch *core = &sglang->core;
    const uint32_t id = core->queue.head;
    const uint64_t known = radix_batch_known(core, id), ready = radix_batch_ready(core, id);
    const struct radix_hit hit = radix_batch_find(core, id, known);
    const uint64_t start = hit.units > ready ? hit.units : ready, rest = known - start;
    const uint64_t takes = hit.idle + start - hit.units;    /* of what is there, to be in use */
    const uint64_t keep = outputs_to_keep(sglang, id) + 1;
    const bool alone = !core->decodes.count && !forming->parts && core->cut == NOBODY;
    const bool decodes = ready && ready + 1 == known;       /* no prompt to read */
    const bool whole = decodes || (int64_t)rest <= forming->chunk_room;
    if (!alone && (double)(rest + keep + takes) >= forming->room) {
        sglang->full = true;
        return false;
    }
    if (!whole && forming->chunk_room <= 0)
        return false;
    uint64_t tokens = whole ? rest : (uint64_t)forming->chunk_room;
    radix_batch_begin(core, id, &hit, start, (size_t)start);
    forming->room -= (double)(takes + tokens + (whole ? keep : 0));
    if (decodes)
        join(sglang, id, core->requests[id].had);
    else
        add_prompt(sglang, forming, id, tokens);
    sglang->full |= forming->room <= 0;
    return forming->room > 0 && forming->prompt_room > 0 && forming->chunk_room > 0;
}

static void admit(struct sglang *sglang, struct sglang_forming *forming, size_t seats)
{
    const struct radix_batch *core = &sglang->core;
    size_t before = core->decodes.count;
    while (core->queue.count) {
        if (forming->parts + core->decodes.count - before >= seats)
            sglang->full = true;
        if (sglang->full || !admit_one(sglang, forming))
            return;
    }
}

static void add_turn(struct sglang *sglang, struct sglang_forming *forming)
{
    struct radix_batch *core = &sglang->core;
    radix_batch_add_turn(core, forming->flight, &forming->step, core->decodes.count);
}

static bool form_prompts(struct sglang *sglang, struct sglang_forming *forming)
{
    const struct radix_batch *core = &sglang->core;
    const struct sim_server *server = core->replica.server;
    if ((sglang->full || !core->queue.count) && core->cut == NOBODY)
        return false;
    size_t listed = core->decodes.count + sglang->gone;
    size_t seats = server->max_num_seqs > listed ? server->max_num_seqs - listed : 0;
    size_t mixed = sglang->mixed_chunk ? listed : 0;
    if (!seats && core->cut == NOBODY) {
        sglang->full = true;
        return false;
    }
    forming->chunk_room = (int64_t)server->chunk - (int64_t)mixed;
    forming->prompt_room = (int64_t)(server->batch_tokens_most ? server->batch_tokens_most
                                                               : BATCH_TOKENS) - (int64_t)mixed;
    forming->room = (double)core->capacity - (double)(radix_batch_in_use(core) + mixed) -
                    ratio_now(sglang) * (double)expected(sglang);
    if (core->cut == NOBODY || add_cut(sglang, forming))
        admit(sglang, forming, seats);
    if (!forming->parts)
        return false;
    if (sglang->mixed_chunk && listed) {
        sglang->gone = 0;
        sglang->last_mixed = true;
        retract_for(sglang, 0, true, 0);
        if (core->decodes.count)
            add_turn(sglang, forming);
    }
    return true;
}

static bool form_turn(struct sglang *sglang, struct sglang_forming *forming)
{
    const struct radix_batch *core = &sglang->core;
    size_t listed = core->decodes.count + sglang->gone;
    sglang->gone = 0;
    if (core->decodes.count && !retract_for(sglang, 0, true, core->cut == NOBODY))
        sglang->ratio_turns++;
    if (core->decodes.count < listed)
        sglang->full = false;
    if (!core->decodes.count)
        return false;
    add_turn(sglang, forming);
    return true;
}

/* False: nothing to do. */
static bool form(struct sglang *sglang, double now)
{
    struct radix_batch *core = &sglang->core;
    struct sglang_forming forming = { .flight = radix_batch_flight(core) };
    const struct radix_flight *flight = forming.flight;
    if (core->cut != NOBODY)
        radix_batch_keep(core, core->cut, (uint64_t)core->requests[core->cut].cached);
    merge(sglang);
    if (!form_prompts(sglang, &forming) && !form_turn(sglang, &forming))
        return false;
    radix_batch_make_room(core);
    memcpy(sglang->last, flight->prompts, flight->prompt_count * sizeof *sglang->last);
    sglang->last_count = flight->prompt_count;
    sglang->last_cut = forming.parts && core->cut != NOBODY;
    radix_batch_count(core);
    core->replica.stalls = core->decodes.count > 0;
    radix_batch_launch(core, &forming.step, now);
    return true;
}

/* ---- fast-forwards -------------------------------------------------------------------------- */

/* As many turns as are formed before anybody ends, enters or starts again. */
static void try_fast_forward(struct sglang *sglang)
{
    struct radix_batch *core = &sglang->core;
    if (sglang->gone || (core->queue.count && !sglang->full) || !radix_batch_only_decodes(core))
        return;
    uint64_t most = core->decodes.heap[0].turn - core->decodes.read - 1;
    uint64_t room = (core->capacity - radix_batch_in_use(core)) / core->decodes.count;
    radix_batch_fast_forward(core, most < room ? most : room);
}

static void grow(struct radix_batch *core, uint64_t turns)
{
    struct sglang *sglang = (struct sglang *)core;
    core->outside += turns * core->decodes.count;
    sglang->ratio_turns += turns;
}

/* ---- what the simulation asks --------------------------------------------------------------- */

static void fill_ahead(struct sglang *sglang, double now)
{
    while (sglang->core.ahead.count < sglang->core.ahead.depth && form(sglang, now))
        ;
}

static void sglang_start(struct replica *replica, double now)
{
    struct sglang *sglang = (struct sglang *)replica;
    fill_ahead(sglang, now);
    if (!sglang->core.ahead.count) {
        set_ratio(sglang, first_ratio(sglang));
        fill_ahead(sglang, now);                          /* who ended is out of the batch only now */
    }
    radix_batch_wait(&sglang->core);
    try_fast_forward(sglang);
    radix_batch_count(&sglang->core);
}

static void sglang_end(struct replica *replica, double now)
{
    struct sglang *sglang = (struct sglang *)replica;
    struct radix_batch *core = &sglang->core;
    struct decodes *decodes = &core->decodes;
    const struct radix_flight *ended = radix_batch_end(core, now);
    if (!ended)
        return;
    for (size_t i = 0; i < ended->prompt_count; i++) {
        uint32_t id = ended->prompts[i];
        if (radix_batch_read(core, id, now) && core->ahead.depth == 1 &&
            core->requests[id].had + 1 == want(sglang, id))
            finish(sglang, id, now);                /* with overlap it decodes already */
    }
    while (decodes->count && decodes->heap[0].turn <= decodes->read) {
        uint32_t id = decodes_pop(decodes).id;
        radix_batch_leave(core, id);
        finish(sglang, id, now);
        sglang->gone++;
    }
    radix_batch_count(core);
}

static void empty(struct sglang *sglang)
{
    radix_batch_empty(&sglang->core);
    sglang->last_count = sglang->gone = 0;
    sglang->last_cut = sglang->last_mixed = sglang->full = false;
    set_ratio(sglang, first_ratio(sglang));
}

static void sglang_clear(struct replica *replica, double now)
{
    struct sglang *sglang = (struct sglang *)replica;
    radix_batch_forget(&sglang->core, now);
    for (size_t i = 0; i < sglang->last_count; i++)
        replica->simulation->got[sglang->last[i]] = sglang->core.requests[sglang->last[i]].had;
    empty(sglang);
}

static struct replica *sglang_open(struct arena *arena, struct simulation *simulation,
                                   const struct sim_server *server)
{
    struct sglang *sglang = arena_alloc(arena, sizeof *sglang);
    radix_batch_open(&sglang->core, arena, simulation, server, 1, server->blocks * server->block);
    sglang->core.grow = grow;
    sglang->mixed_chunk = server->own[MIXED_CHUNK] > 0;
    sglang->last = arena_array(arena, server->max_num_seqs + 1, sizeof *sglang->last);
    empty(sglang);
    return &sglang->core.replica;
}

const struct scheduler scheduler_sglang = {
    .name = "sglang", .engine = "sglang", .router = ROUTER_LEAST_TOKENS,
    .can = SCHEDULER_STEP_TIME | SCHEDULER_BLOCKS | SCHEDULER_CHUNK | SCHEDULER_BATCH_TOKENS |
           SCHEDULER_AHEAD | SCHEDULER_POOLS,
    .usual = { SIM_USUAL, .own[CONSERVATIVENESS] = 1 },
    .setting = { [MIXED_CHUNK] = { .name = "mixed-chunk" },
                 [CONSERVATIVENESS] = { .name = "conservativeness", .unit = "1" } },
    .size = sizeof(struct sglang), .open = sglang_open, .take = radix_batch_take, .end = sglang_end, .start = sglang_start,
    .clear = sglang_clear, .settle = radix_batch_settle, .course = radix_batch_course, .drop = radix_batch_drop,
    .received = radix_batch_had,
    .cached = radix_batch_cached };
