#include "sim/sim.h"
#include "sim/vllm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const rules_names[RULES_COUNT] = { "sarathi", "vllm-2023", "vllm-v1" };
const char *const router_names[ROUTER_COUNT] = { "round-robin", "least-pending", "least-tokens" };

enum { NOBODY = UINT32_MAX };

/* What a request has done. A request is named by its place in the trace, so that order of
 * arrival is order of numbers. */
struct requests {
    uint32_t *prompt;       /* grows when a request starts again: what it had is its prompt */
    uint32_t *total;        /* prompt and output */
    int64_t *done;          /* tokens processed; while it decodes, less the replica's turns */
    uint32_t *next;         /* in the queue that waits */
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
    uint32_t head, tail;            /* of the queue that waits */
    size_t waiting;
    uint64_t tokens_given;          /* of all requests that were sent here, prompt and output */
    uint64_t tokens_done;           /* of these, processed */
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
    double end;
};

struct sim {
    const struct trace *trace;
    const struct sim_options *options;
    struct sim_result *result;
    struct requests requests;
    struct replica *replicas;
    size_t left;                            /* requests not done */
};

/* ---- blocks ------------------------------------------------------------------------------ */

static size_t blocks_for(const struct sim *sim, uint64_t tokens)
{
    return (size_t)((tokens + sim->options->block - 1) / sim->options->block);
}

/* A decoding request takes a block when what it has done is more than its blocks hold. */
static size_t blocks_held(const struct sim *sim, uint32_t id, uint64_t done)
{
    size_t prompt = blocks_for(sim, sim->requests.prompt[id]);
    size_t now = done ? blocks_for(sim, done - 1) : 0;
    return now > prompt ? now : prompt;
}

static size_t spare_blocks(const struct sim *sim)
{
    if (sim->options->rules == RULES_VLLM_V1)
        return 1;                                   /* the one that is never given out */
    return (size_t)floor(sim->options->watermark * (double)sim->options->blocks);
}

/* ---- queues ------------------------------------------------------------------------------ */

static void wait_first(struct sim *sim, struct replica *replica, uint32_t id)
{
    sim->requests.next[id] = replica->head;
    replica->head = id;
    if (replica->tail == NOBODY)
        replica->tail = id;
    replica->waiting++;
}

static void wait_last(struct sim *sim, struct replica *replica, uint32_t id)
{
    sim->requests.next[id] = NOBODY;
    if (replica->tail == NOBODY)
        replica->head = id;
    else
        sim->requests.next[replica->tail] = id;
    replica->tail = id;
    replica->waiting++;
}

static uint32_t take_first(struct sim *sim, struct replica *replica)
{
    uint32_t id = replica->head;
    replica->head = sim->requests.next[id];
    if (replica->head == NOBODY)
        replica->tail = NOBODY;
    replica->waiting--;
    return id;
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
static size_t take_class(const struct sim *sim, const struct replica *replica, uint32_t id,
                         uint64_t done)
{
    size_t block = sim->options->block;
    uint64_t room = (uint64_t)blocks_held(sim, id, done) * block;
    return (size_t)((replica->turns + room - done + 1) % block);
}

static void join_decoding(struct sim *sim, struct replica *replica, uint32_t id, uint64_t done)
{
    struct requests *requests = &sim->requests;
    requests->done[id] = (int64_t)done - (int64_t)replica->turns;
    replica->done_sum += requests->done[id];
    replica->takes[take_class(sim, replica, id, done)]++;
    heap_push(replica, (struct finish){ replica->turns + requests->total[id] - done, id });
}

static uint64_t done_by(const struct sim *sim, const struct replica *replica, uint32_t id)
{
    return (uint64_t)(sim->requests.done[id] + (int64_t)replica->turns);
}

static uint64_t cached_sum(const struct replica *replica)
{
    return (uint64_t)(replica->done_sum + (int64_t)(replica->decoding * replica->turns));
}

/* ---- ends ---------------------------------------------------------------------------------- */

static void complete(struct sim *sim, struct replica *replica, uint32_t id, uint64_t done)
{
    sim->result->completed[id] = replica->end;
    sim->result->makespan = fmax(sim->result->makespan, replica->end);
    replica->free_blocks += blocks_held(sim, id, done);
    list_remove(replica->running, &replica->running_count, id);
    sim->left--;
}

static void first_token(struct sim *sim, const struct replica *replica, uint32_t id)
{
    if (!(sim->result->first_token[id] >= 0))
        sim->result->first_token[id] = replica->end;
}

/* The last turn's blocks were taken for what was done before it. */
static void complete_turn(struct sim *sim, struct replica *replica)
{
    while (replica->decoding && replica->finishes[0].turn == replica->turns) {
        uint32_t id = heap_pop(replica);
        uint64_t done = sim->requests.total[id];
        replica->takes[take_class(sim, replica, id, done)]--;
        replica->done_sum -= sim->requests.done[id];
        complete(sim, replica, id, done);
    }
}

static void end_prompt_part(struct sim *sim, struct replica *replica, const struct part *part)
{
    struct requests *requests = &sim->requests;
    uint64_t done = (uint64_t)(requests->done[part->id] += part->tokens);
    if (done < requests->prompt[part->id])
        return;
    first_token(sim, replica, part->id);
    done++;
    list_remove(replica->prefills, &replica->prefill_count, part->id);
    if (done == requests->total[part->id])
        complete(sim, replica, part->id, done);
    else
        join_decoding(sim, replica, part->id, done);
}

/* After a step through all: what each has done is a number again; the decoding ones join. */
static void end_exact(struct sim *sim, struct replica *replica)
{
    struct requests *requests = &sim->requests;
    for (size_t i = 0; i < replica->part_count; i++)
        requests->done[replica->parts[i].id] += replica->parts[i].tokens;
    for (size_t i = 0; i < replica->part_count; i++) {
        uint32_t id = replica->parts[i].id;
        if (requests->done[id] == requests->prompt[id]) {
            first_token(sim, replica, id);
            requests->done[id]++;
        }
        if (requests->done[id] == requests->total[id])
            complete(sim, replica, id, requests->total[id]);
    }
    replica->prefill_count = 0;
    for (size_t i = 0; i < replica->running_count; i++) {
        uint32_t id = replica->running[i];
        if (requests->done[id] < requests->prompt[id])
            replica->prefills[replica->prefill_count++] = id;
        else
            join_decoding(sim, replica, id, (uint64_t)requests->done[id]);
    }
}

static void end_batch(struct sim *sim, struct replica *replica)
{
    replica->busy = false;
    if (replica->exact) {
        end_exact(sim, replica);
        return;
    }
    if (replica->turn) {
        replica->turns++;
        complete_turn(sim, replica);
    }
    for (size_t i = 0; i < replica->part_count; i++)
        end_prompt_part(sim, replica, &replica->parts[i]);
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

static void add_decode(struct sim *sim, struct replica *replica, struct batch *batch, uint32_t id)
{
    batch->step.decoding++;
    batch->step.decode_cached += (double)sim->requests.done[id];
    add_part(replica, batch, id, 1);
}

static void add_prompt(struct sim *sim, struct replica *replica, struct batch *batch, uint32_t id,
                       uint64_t tokens)
{
    double before = (double)sim->requests.done[id], now = (double)tokens;
    batch->step.prompt += now;
    batch->step.prompt_cached += before;
    batch->step.prompt_pairs += now * (before + now / 2);
    add_part(replica, batch, id, tokens);
}

/* The next that waits, with as much of its prompt as the batch has room for. */
static bool admit_one(struct sim *sim, struct replica *replica, struct batch *batch)
{
    const struct sim_options *options = sim->options;
    if (!replica->waiting || replica->running_count >= options->sequences_most ||
        batch->step.sequences >= (double)options->sequences_most)
        return false;
    uint32_t id = replica->head;
    uint64_t prompt = sim->requests.prompt[id], tokens = prompt;
    size_t needed = blocks_for(sim, prompt);
    if (replica->free_blocks < needed + spare_blocks(sim))
        return false;
    if (options->rules == RULES_SARATHI) {
        size_t used = batch_tokens(batch), room = options->chunk > used ? options->chunk - used : 0;
        tokens = prompt < room ? prompt : room;
        if (!tokens)
            return false;
    } else {
        size_t most = prompt > batch->prompt_most ? prompt : batch->prompt_most;
        if (((size_t)batch->step.sequences + 1) * most > options->batch_tokens_most)
            return false;
        batch->prompt_most = most;
    }
    take_first(sim, replica);
    replica->free_blocks -= needed;
    sim->requests.done[id] = 0;
    list_insert(replica->running, &replica->running_count, id);
    list_insert(replica->prefills, &replica->prefill_count, id);
    add_prompt(sim, replica, batch, id, tokens);
    return true;
}

static void admit(struct sim *sim, struct replica *replica, struct batch *batch)
{
    while (admit_one(sim, replica, batch))
        ;
}

/* Prompts that were begun: as much as the chunk has room for. */
static void go_on_with_prompts(struct sim *sim, struct replica *replica, struct batch *batch,
                               const uint32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t rest = sim->requests.prompt[ids[i]] - (uint64_t)sim->requests.done[ids[i]];
        size_t used = batch_tokens(batch), chunk = sim->options->chunk;
        if (rest && chunk > used)
            add_prompt(sim, replica, batch, ids[i], rest < chunk - used ? rest : chunk - used);
    }
}

/* It starts again, from the head of the queue: what it had is its prompt now. */
static void restart(struct sim *sim, struct replica *replica, uint32_t id)
{
    struct requests *requests = &sim->requests;
    replica->free_blocks += blocks_held(sim, id, (uint64_t)requests->done[id]);
    replica->tokens_given += (uint64_t)requests->done[id];      /* to be processed again */
    list_remove(replica->running, &replica->running_count, id);
    requests->prompt[id] = (uint32_t)requests->done[id];
    requests->done[id] = 0;
    sim->result->restarts[id]++;
    sim->result->preemptions++;
    wait_first(sim, replica, id);
}

/* Through the running ones in order of arrival: who decodes needs a free block to go on; when
 * there is none the last of those not yet looked at starts again, or else the one itself. */
static void decode_one_by_one(struct sim *sim, struct replica *replica, struct batch *batch,
                              uint32_t *prefills, size_t *prefill_count)
{
    struct requests *requests = &sim->requests;
    for (size_t i = 0; i < replica->running_count &&
                       batch->step.sequences < (double)sim->options->sequences_most; i++) {
        uint32_t id = replica->running[i];
        if (requests->done[id] < requests->prompt[id]) {
            prefills[(*prefill_count)++] = id;
            continue;
        }
        while (!replica->free_blocks && replica->running_count > i + 1)
            restart(sim, replica, replica->running[replica->running_count - 1]);
        if (!replica->free_blocks) {
            restart(sim, replica, id);
            break;
        }
        uint64_t done = (uint64_t)requests->done[id];
        replica->free_blocks -= done > (uint64_t)blocks_held(sim, id, done) * sim->options->block;
        add_decode(sim, replica, batch, id);
    }
}

/* All that decode leave the common count: what each has done is a number. */
static void leave_turns(struct sim *sim, struct replica *replica)
{
    for (size_t i = 0; i < replica->decoding; i++) {
        uint32_t id = replica->finishes[i].id;
        sim->requests.done[id] = (int64_t)done_by(sim, replica, id);
    }
    replica->decoding = 0;
    replica->done_sum = 0;
    memset(replica->takes, 0, sim->options->block * sizeof *replica->takes);
}

static void form_exact(struct sim *sim, struct replica *replica, struct batch *batch)
{
    size_t prefills = 0;
    leave_turns(sim, replica);
    replica->exact = true;
    /* `prefills` is made again when the step ends */
    decode_one_by_one(sim, replica, batch, replica->prefills, &prefills);
    if (sim->options->rules == RULES_SARATHI) {
        go_on_with_prompts(sim, replica, batch, replica->prefills, prefills);
        replica->prefill_count = 0;
        admit(sim, replica, batch);
    }
}

/* Whether all that decode can take a turn without anybody looking at blocks. */
static bool turn_is_safe(const struct sim *sim, const struct replica *replica)
{
    return !sim->options->stepping && replica->decoding <= sim->options->sequences_most &&
           replica->free_blocks > replica->takes[replica->turns % sim->options->block];
}

static void form_turn(struct sim *sim, struct replica *replica, struct batch *batch)
{
    replica->turn = true;
    replica->free_blocks -= replica->takes[replica->turns % sim->options->block];
    batch->step.decoding = batch->step.sequences = (double)replica->decoding;
    batch->step.decode_cached = (double)cached_sum(replica);
}

static void form(struct sim *sim, struct replica *replica, struct batch *batch)
{
    *batch = (struct batch){ 0 };
    replica->part_count = 0;
    replica->turn = replica->exact = false;
    if (sim->options->rules == RULES_VLLM_2023) {
        admit(sim, replica, batch);                 /* prompts before any decode */
        if (batch->step.sequences > 0)
            return;
    }
    if (replica->decoding && !turn_is_safe(sim, replica)) {
        form_exact(sim, replica, batch);
        return;
    }
    if (replica->decoding)
        form_turn(sim, replica, batch);
    if (sim->options->rules == RULES_SARATHI) {
        go_on_with_prompts(sim, replica, batch, replica->prefills, replica->prefill_count);
        admit(sim, replica, batch);
    }
}

/* ---- time ----------------------------------------------------------------------------------- */

static double seconds_of(const struct sim *sim, const struct sim_step *step)
{
    return sim->options->seconds(sim->options->context, step);
}

/* A stretch of turns in which nothing else happens: nobody is admitted or completes. */
struct stretch {
    double first, growth;           /* seconds of its first turn, and more in each next one */
};

static double stretch_seconds(const struct stretch *stretch, double turns)
{
    return turns * stretch->first + stretch->growth * turns * (turns - 1) / 2;
}

/* Of at most so many turns the first ones over which the step grows evenly. A convex step that
 * is on the line between its ends in the middle is on it everywhere. */
static struct stretch even_stretch(const struct sim *sim, const struct replica *replica,
                                   uint64_t *turns)
{
    struct sim_step step = { .decoding = (double)replica->decoding,
                             .sequences = (double)replica->decoding };
    const double cached = (double)cached_sum(replica), close = 1e-12;
    step.decode_cached = cached;
    const double first = seconds_of(sim, &step);
    for (; *turns > 1; *turns = (*turns + 1) / 2) {
        double last = (double)(*turns - 1), middle = floor(last / 2), at[2];
        const double turn[2] = { middle, last };
        for (int i = 0; i < 2; i++) {
            step.decode_cached = cached + turn[i] * step.decoding;
            at[i] = seconds_of(sim, &step);
        }
        double growth = (at[1] - first) / last;
        if (fabs(first + growth * middle - at[0]) <= close * at[0])
            return (struct stretch){ first, growth };
    }
    return (struct stretch){ first, 0 };
}

/* Turns for which blocks suffice whoever takes them. */
static uint64_t turns_with_blocks(const struct sim *sim, const struct replica *replica)
{
    size_t block = sim->options->block, rounds = (replica->free_blocks - 1) / replica->decoding;
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

/* Turns whose ends come before `until`. */
static uint64_t turns_before(const struct stretch *stretch, double from, double until, uint64_t most)
{
    if (from + stretch_seconds(stretch, (double)most) < until)
        return most;
    uint64_t low = 0, high = most;                  /* low ends before, high does not */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (from + stretch_seconds(stretch, (double)middle) < until)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Whether the one that waits first will still wait after a turn of those who decode. */
static bool nobody_enters(const struct sim *sim, const struct replica *replica)
{
    const struct sim_options *options = sim->options;
    if (!replica->waiting || replica->running_count >= options->sequences_most)
        return true;
    if (options->rules == RULES_SARATHI && replica->decoding >= options->chunk)
        return true;
    return replica->free_blocks < blocks_for(sim, sim->requests.prompt[replica->head]) +
                                  spare_blocks(sim);
}

static void take_blocks(const struct sim *sim, struct replica *replica, uint64_t turns)
{
    size_t block = sim->options->block;
    replica->free_blocks -= replica->decoding * (size_t)(turns / block);
    for (uint64_t i = 0; i < turns % block; i++)
        replica->free_blocks -= replica->takes[(replica->turns + i) % block];
}

static void run_for(struct sim *sim, const struct replica *replica, double seconds)
{
    sim->result->busy += seconds;
    sim->result->queued += replica->waiting ? seconds : 0;
}

/* As many turns at once as end before `until` and before anything else can happen. */
static double leap(struct sim *sim, struct replica *replica, double now, double until)
{
    if (!replica->decoding || replica->prefill_count || !turn_is_safe(sim, replica) ||
        !nobody_enters(sim, replica))
        return now;
    uint64_t most = replica->finishes[0].turn - replica->turns - 1;
    uint64_t blocks = turns_with_blocks(sim, replica);
    most = most < blocks ? most : blocks;
    struct stretch stretch = even_stretch(sim, replica, &most);
    uint64_t turns = turns_before(&stretch, now, until, most);
    take_blocks(sim, replica, turns);
    replica->turns += turns;
    sim->result->iterations += turns;
    sim->result->batch_tokens += turns * replica->decoding;
    replica->tokens_done += turns * replica->decoding;
    const double seconds = stretch_seconds(&stretch, (double)turns);
    run_for(sim, replica, seconds);
    return now + seconds;
}

static void start_batch(struct sim *sim, struct replica *replica, double now, double until)
{
    struct batch batch;
    for (double before = -1; now > before && !replica->busy;) {
        before = now;                       /* until the stretch is at its end */
        now = leap(sim, replica, now, until);
    }
    form(sim, replica, &batch);
    if (!(batch.step.sequences > 0))
        return;
    const double seconds = seconds_of(sim, &batch.step);
    replica->busy = true;
    replica->end = now + seconds;
    run_for(sim, replica, seconds);
    replica->tokens_done += batch_tokens(&batch);
    sim->result->iterations++;
    sim->result->batch_tokens += batch_tokens(&batch);
}

/* Batches that end before `until`. One that ends then waits for those who arrive then. */
static void advance(struct sim *sim, struct replica *replica, double until)
{
    while (replica->busy && replica->end < until) {
        double now = replica->end;
        end_batch(sim, replica);
        start_batch(sim, replica, now, until);
    }
}

/* ---- the run ---------------------------------------------------------------------------------- */

/* What the router looks at: the least is chosen. */
static uint64_t load_of(const struct sim *sim, const struct replica *replica)
{
    return sim->options->router == ROUTER_LEAST_PENDING
           ? replica->waiting : replica->tokens_given - replica->tokens_done;
}

static void route(struct sim *sim, uint32_t id)
{
    struct replica *chosen = &sim->replicas[0];
    if (sim->options->router == ROUTER_ROUND_ROBIN)
        chosen = &sim->replicas[id % sim->options->replicas];
    else
        for (size_t i = 1; i < sim->options->replicas; i++)
            if (load_of(sim, &sim->replicas[i]) < load_of(sim, chosen))
                chosen = &sim->replicas[i];
    chosen->tokens_given += sim->requests.total[id] - 1;        /* its last token is not an input */
    wait_last(sim, chosen, id);
}

static bool fits_nowhere(const struct sim *sim, struct error *error)
{
    const struct sim_options *options = sim->options;
    for (size_t i = 0; i < sim->trace->count; i++) {
        uint64_t prompt = sim->trace->prompt[i], total = prompt + sim->trace->output[i];
        size_t needed = blocks_for(sim, total);
        if (needed + spare_blocks(sim) > options->blocks) {
            error_set(error, "request %zu needs %zu blocks of cache for %llu tokens, a replica has "
                      "%zu, of which admission leaves %zu", i, needed, (unsigned long long)total,
                      options->blocks, spare_blocks(sim));
            return !error_hint(error, "--blocks %zu or more", needed + spare_blocks(sim));
        }
        if (options->rules == RULES_VLLM_2023 && total > options->batch_tokens_most) {
            error_set(error, "request %zu has %llu tokens, a batch takes %zu at most", i,
                      (unsigned long long)total, options->batch_tokens_most);
            return !error_hint(error, "--max-batch-tokens %llu or more", (unsigned long long)total);
        }
    }
    return false;
}

static void open_replica(struct arena *arena, const struct sim *sim, struct replica *replica)
{
    size_t most = sim->options->sequences_most + 1;
    *replica = (struct replica){
        .head = NOBODY, .tail = NOBODY, .free_blocks = sim->options->blocks,
        .running = arena_array(arena, most, sizeof(uint32_t)),
        .prefills = arena_array(arena, most, sizeof(uint32_t)),
        .finishes = arena_array(arena, most, sizeof(struct finish)),
        .takes = arena_array(arena, sim->options->block, sizeof(size_t)),
        .parts = arena_array(arena, 2 * most, sizeof(struct part)),
    };
}

static void open_sim(struct arena *arena, struct sim *sim)
{
    size_t count = sim->trace->count;
    struct requests *requests = &sim->requests;
    *requests = (struct requests){ arena_array(arena, count, sizeof(uint32_t)),
                                   arena_array(arena, count, sizeof(uint32_t)),
                                   arena_array(arena, count, sizeof(int64_t)),
                                   arena_array(arena, count, sizeof(uint32_t)) };
    *sim->result = (struct sim_result){ .first_token = arena_array(arena, count, sizeof(double)),
                                        .completed = arena_array(arena, count, sizeof(double)),
                                        .restarts = arena_array(arena, count, sizeof(uint32_t)) };
    for (size_t i = 0; i < count; i++) {
        requests->prompt[i] = sim->trace->prompt[i];
        requests->total[i] = sim->trace->prompt[i] + sim->trace->output[i];
        sim->result->first_token[i] = -1;
    }
    sim->replicas = arena_array(arena, sim->options->replicas, sizeof *sim->replicas);
    for (size_t i = 0; i < sim->options->replicas; i++)
        open_replica(arena, sim, &sim->replicas[i]);
    sim->left = count;
}

bool sim_run(struct arena *arena, const struct trace *trace, const struct sim_options *options,
             struct sim_result *result, struct error *error)
{
    struct sim sim = { .trace = trace, .options = options, .result = result };
    if (fits_nowhere(&sim, error))
        return false;
    open_sim(arena, &sim);
    if (options->rules == RULES_VLLM_V1) {
        sim_run_vllm(arena, trace, options, result);
        return true;
    }
    for (size_t i = 0; i < trace->count;) {
        double now = trace->arrival[i], next;
        for (size_t r = 0; r < options->replicas; r++)
            advance(&sim, &sim.replicas[r], now);
        for (; i < trace->count && trace->arrival[i] == now; i++)
            route(&sim, (uint32_t)i);
        next = i < trace->count ? trace->arrival[i] : INFINITY;
        for (size_t r = 0; r < options->replicas; r++) {
            struct replica *replica = &sim.replicas[r];
            if (replica->busy && replica->end == now)
                end_batch(&sim, replica);
            if (!replica->busy)
                start_batch(&sim, replica, now, next);
        }
    }
    for (size_t r = 0; r < options->replicas; r++)
        result->waiting_at_last += (double)sim.replicas[r].waiting;
    for (size_t r = 0; r < options->replicas; r++)
        advance(&sim, &sim.replicas[r], INFINITY);
    return true;
}
