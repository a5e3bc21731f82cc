/* vLLM v1: forms the next step of each attention rank.
 *
 *   1. Requests that run continue in order of admission: decodes with their draft tokens, prompts with
 *      a chunk, as far as the token budget and the blocks allow. A request without a block preempts the
 *      last admitted one of the lowest priority class, which may be itself.
 *   2. Requests whose blocks have arrived from a tier are admitted.
 *   3. Waiting requests are admitted by priority class, first come first served, while sequences, tokens
 *      and blocks above the watermark are left. Cached prefixes are shared; blocks in a lower tier are
 *      fetched where that is sooner, or cheaper, than recomputing them.
 *
 * With a single priority class no request is admitted in a step that preempted one. Ranks step
 * together: the step takes the time of the fullest one. With pipeline stages a step follows the
 * ones before it through all stages and overtakes none. */
#include "sim/schedulers/vllm.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- queues ------------------------------------------------------------------------------- */

static void wait_first(struct vllm *vllm, struct rank *rank, uint32_t id)
{
    queue_first(vllm->replica.simulation, &rank->queue[vllm_class_of(vllm, id)], id);
    rank->waiting++;
}

void vllm_stop_running(struct vllm *vllm, struct rank *rank, size_t at)
{
    if (vllm->groups)
        vllm_fasten(rank, rank->running[at]);
    vllm_leave_cache(vllm, rank, rank->running[at]);
    memmove(&rank->running[at], &rank->running[at + 1],
            (--rank->running_count - at) * sizeof *rank->running);
}

static void owes(struct vllm *vllm, uint32_t id, uint32_t tokens)
{
    struct vllm_request *request = &vllm->shared->requests[id];
    vllm->replica.tokens_left += tokens;
    vllm->replica.tokens_left -= request->owed;
    request->owed = tokens;
}

static void preempt(struct vllm *vllm, struct rank *rank, size_t at)
{
    uint32_t id = rank->running[at];
    struct vllm_request *request = &vllm->shared->requests[id];
    if (request->grouped)
        vllm_group_leave(vllm, rank, id);
    vllm_name_now(vllm, rank, id);
    vllm_stop_running(vllm, rank, at);
    request->computed = 0;
    owes(vllm, id, request->known);
    vllm->replica.simulation->ready[id] = 0;
    rank->preempted++;
    simulation_restarted(vllm->replica.simulation, id);
    wait_first(vllm, rank, id);
}

size_t vllm_last_of_all(const struct vllm *vllm, const struct rank *rank)
{
    size_t last = rank->running_count - 1;
    for (size_t at = last; vllm->priority_classes > 1 && at-- > 0;)
        if (vllm_class_of(vllm, rank->running[at]) > vllm_class_of(vllm, rank->running[last]))
            last = at;
    return last;
}

/* ---- those that go on --------------------------------------------------------------------- */

struct vllm_forming {                    /* of a rank */
    struct sim_step step;
    struct vllm_flight *flight;
    size_t budget;                  /* tokens */
    size_t most;                    /* sequences, by the classes that take part */
    double decodes_most;            /* of those that run already */
};

/* Largest number of sequences of a step in which the request takes part. */
static size_t most_with(const struct vllm *vllm, const struct vllm_forming *forming, uint32_t id)
{
    const size_t most = vllm_class_most(vllm, vllm_class_of(vllm, id));
    return most < forming->most ? most : forming->most;
}

static void add_part(struct vllm *vllm, struct rank *rank, struct vllm_forming *forming, uint32_t id,
                     uint32_t tokens)
{
    struct vllm_request *request = &vllm->shared->requests[id];
    struct sim_step *step = &forming->step;
    double before = (double)request->computed, now = (double)tokens;
    const bool decode = vllm_decodes(vllm, id, tokens);
    const uint32_t draft = decode ? tokens - 1 : 0;
    if (decode) {
        step->decoding++;
        step->decode_cached += before;
        step->drafts += draft;
    } else {
        step->prompt += now;
        step->prompt_cached += before;
        step->prompt_pairs += now * (before + now / 2);
    }
    step->sequences++;
    step->begun += request->entered;
    request->entered = false;
    request->computed += tokens;
    bool yields = decode || request->computed == request->known + request->pending;
    request->pending += (uint16_t)(yields ? 1 + draft : 0);
    request->in_flight += yields;
    request->guesses |= yields;
    forming->budget -= tokens;
    forming->most = most_with(vllm, forming, id);
    forming->flight->decode &= decode && !draft;
    forming->flight->parts[forming->flight->count++] = 
        (struct vllm_part){ .id = id, .draft = (uint8_t)draft, .decode = decode, .yields = yields,
                                   .prompt = decode ? 0 : tokens };
    vllm_name_blocks(vllm, rank, id);
}

/* Free blocks for a request by preempting others. False: the request itself was preempted. */
static bool make_room(struct vllm *vllm, struct rank *rank, size_t at, uint64_t tokens)
{
    const struct vllm_request *request = &vllm->shared->requests[rank->running[at]];
    for (;;) {
        size_t needed = vllm_blocks_for(vllm, request->computed + tokens);
        size_t have = request->block_count;
        if (needed <= have || needed - have <= blocks_free(rank->blocks))
            return true;
        size_t last = vllm_last_of_all(vllm, rank);
        preempt(vllm, rank, last);
        if (last == at)
            return false;
        at -= last < at;
    }
}

/* A running request continues; false: it had to go. */
static bool go_on_with(struct vllm *vllm, struct rank *rank, struct vllm_forming *forming, size_t at, uint32_t tokens)
{
    const uint32_t id = rank->running[at];
    if (!make_room(vllm, rank, at, tokens))
        return false;
    vllm_take_blocks(vllm, rank, id, vllm->shared->requests[id].computed + tokens);
    add_part(vllm, rank, forming, id, tokens);
    return true;
}

/* The same of those that decode as a group, and then of the prompts. As one by one, the last admitted have to go until the
 * blocks are enough for those before them. */
static void go_on_together(struct vllm *vllm, struct rank *rank, struct vllm_forming *forming)
{
    while (vllm_group_takes(vllm, rank, 0) > blocks_free(rank->blocks))
        preempt(vllm, rank, rank->running_count - 1);
    vllm_group_take(vllm, rank, 1, false);
    forming->step = decodes_step(&rank->group);
    forming->budget -= rank->group.count;
    forming->flight->grouped = rank->group.count;
    if (rank->group.count)
        forming->most = most_with(vllm, forming, rank->running[0]);
    for (size_t i = 0; i < rank->loose_count && forming->budget; i++) {
        const uint32_t left = vllm_tokens_left(vllm, rank->loose[i]);
        size_t at = rank->running_count - 1;
        while (left && rank->running[at] != rank->loose[i])
            at--;
        assert(!left || at + rank->loose_count == rank->running_count + i);    /* nobody behind it decodes */
        if (left && !go_on_with(vllm, rank, forming, at, left < forming->budget ? left : (uint32_t)forming->budget))
            break;
    }
}

/* Continue the running requests of a priority class, in order of admission. */
static void go_on(struct vllm *vllm, struct rank *rank, struct vllm_forming *forming, size_t priority_class)
{
    for (size_t at = 0; at < rank->running_count && forming->budget; at++) {
        uint32_t id = rank->running[at];
        if (vllm_class_of(vllm, id) != priority_class || vllm_sequences(forming->flight) >= forming->most)
            continue;
        uint32_t tokens = vllm_tokens_left(vllm, id);
        if (forming->step.decoding >= forming->decodes_most && vllm_decodes(vllm, id, tokens))
            continue;
        tokens = tokens < forming->budget ? tokens : (uint32_t)forming->budget;
        if (!tokens)
            continue;
        if (!go_on_with(vllm, rank, forming, at, tokens))
            break;
        while (rank->running[at] != id)             /* one before it had to go */
            at--;
    }
}

/* ---- those that enter --------------------------------------------------------------------- */

static void count_cached(struct vllm *vllm, uint32_t id)
{
    struct simulation *simulation = vllm->replica.simulation;
    const uint32_t cached = vllm->shared->requests[id].computed;
    if (simulation->result->restarts[id] || simulation->got[id])
        return;
    simulation->result->cached_tokens += cached;
    if (simulation->result->cached)
        simulation->result->cached[id] = cached;
}

/* Cost, in USD, of fetching these blocks from the tiers. */
static double fetch_cost(const struct vllm *vllm, const size_t *per_tier)
{
    const struct sim_options *options = vllm->replica.simulation->options;
    const double block_bytes = options->token_bytes * (double)options->server.block;
    double cost = 0;
    for (size_t i = 0; i < options->tiers; i++)
        cost += (double)per_tier[i] * block_bytes * options->tier[i].fetch_price;
    return cost;
}

/* Whether the tiers bring so many blocks sooner, or cheaper, than a step of their own would
 * compute them. */
static bool worth_fetching(const struct vllm *vllm, size_t run, size_t found,
                           const size_t *per_tier)
{
    const struct sim_server *server = vllm->replica.server;
    const double tokens = (double)(found * server->block), before = (double)(run * server->block);
    const struct sim_step step = { .prompt = tokens, .prompt_cached = before, .sequences = 1,
                                   .prompt_pairs = tokens * (before + tokens / 2), .imbalance = 1 };
    const struct simulation *simulation = vllm->replica.simulation;
    const double again = server->seconds(server->context, &step);
    if (simulation->options->fetch_cheaper)
        return fetch_cost(vllm, per_tier) < again * simulation->options->replica_price;
    return tiers_seconds(simulation->tiers, vllm->replica.index, per_tier, vllm->now) < again;
}

/* Its blocks are taken, and it waits beside the queue until their contents have come. */
static bool set_aside(struct vllm *vllm, struct rank *rank, uint32_t id, size_t run)
{
    struct vllm_request *request = &vllm->shared->requests[id];
    struct simulation *simulation = vllm->replica.simulation;
    size_t per_tier[TIERS_MOST], found = vllm_find_below(vllm, id, run, per_tier);
    if (!found || !worth_fetching(vllm, run, found, per_tier))
        return false;
    tiers_fetch(simulation->tiers, vllm->replica.index, vllm->names, found, vllm->now, id);
    vllm_share_prefix(vllm, rank, id, run);
    count_cached(vllm, id);
    request->computed += (uint32_t)(found * vllm->replica.server->block);
    vllm_take_blocks(vllm, rank, id, request->computed);
    queue_last(simulation, &rank->fetching, id);
    simulation->result->fetched_tokens += found * vllm->replica.server->block;
    return true;
}

/* It runs, with as much of what is left as the step has room for. */
static void enter(struct vllm *vllm, struct rank *rank, struct vllm_forming *forming, uint32_t id)
{
    struct vllm_request *request = &vllm->shared->requests[id];
    uint64_t tokens = request->known - request->computed;
    tokens = tokens < forming->budget ? tokens : forming->budget;
    request->guesses = false;
    request->entered = request->computed < vllm->replica.simulation->trace->prompt[id];
    request->order = ++rank->admitted;
    rank->running[rank->running_count++] = id;
    if (vllm->groups)
        vllm_loosen(vllm, rank, id);
    owes(vllm, id, vllm_decodes(vllm, id, (uint32_t)tokens) ? 0 : request->known - request->computed);
    vllm_take_blocks(vllm, rank, id, request->computed + tokens);
    add_part(vllm, rank, forming, id, (uint32_t)tokens);
}

/* The first of those whose cache has come. Where nothing runs and it has no room, the last of
 * them gives its blocks back. */
static bool admit_fetched(struct vllm *vllm, struct rank *rank, struct vllm_forming *forming)
{
    struct queue *queue = &rank->fetched;
    if (!queue->count || !forming->budget || vllm_sequences(forming->flight) >= forming->most ||
        rank->running_count >= vllm->replica.server->max_num_seqs)
        return false;
    uint32_t id = queue->head, last = queue->tail;
    const struct vllm_request *request = &vllm->shared->requests[id];
    if (vllm_blocks_for(vllm, request->known) - request->block_count > blocks_free(rank->blocks)) {
        if (rank->running_count || last == id)
            return false;
        queue_remove(vllm->replica.simulation, queue, last);
        vllm_leave_cache(vllm, rank, last);
        vllm->shared->requests[last].computed = 0;
        simulation_restarted(vllm->replica.simulation, last);
        wait_first(vllm, rank, last);
        return true;
    }
    queue_pop(vllm->replica.simulation, queue);
    enter(vllm, rank, forming, id);
    return true;
}

static bool admit_one(struct vllm *vllm, struct rank *rank, struct vllm_forming *forming,
                      size_t priority_class)
{
    struct queue *queue = &rank->queue[priority_class];
    struct simulation *simulation = vllm->replica.simulation;
    size_t run;
    if (!queue->count || !forming->budget ||
        rank->running_count >= vllm->replica.server->max_num_seqs)
        return false;
    uint32_t id = queue->head;
    if (vllm_sequences(forming->flight) >= most_with(vllm, forming, id) ||
        !vllm_has_room(vllm, rank, id, &run))
        return false;
    queue_pop(simulation, queue);
    rank->waiting--;
    if (set_aside(vllm, rank, id, run))
        return true;
    vllm_share_prefix(vllm, rank, id, run);
    count_cached(vllm, id);
    struct vllm_request *request = &vllm->shared->requests[id];
    if (simulation->ready[id] > request->computed)  /* its cache came with it */
        request->computed = simulation->ready[id];
    enter(vllm, rank, forming, id);
    return true;
}

/* The first of a class cannot enter for want of a seat or of blocks: those of later classes make
 * room for it. */
static bool push_out(struct vllm *vllm, struct rank *rank, const struct vllm_forming *forming,
                     size_t priority_class)
{
    if (!rank->queue[priority_class].count || !rank->running_count || !forming->budget ||
        vllm_sequences(forming->flight) >= most_with(vllm, forming, rank->queue[priority_class].head))
        return false;
    size_t last = vllm_last_of_all(vllm, rank);
    if (vllm_class_of(vllm, rank->running[last]) <= priority_class)
        return false;
    preempt(vllm, rank, last);
    return true;
}

/* ---- the step ----------------------------------------------------------------------------- */

size_t vllm_depth(const struct vllm *vllm)
{
    if (vllm->stages > 1)
        return vllm->stages;
    return vllm->replica.server->synchronous ? 1 : FLIGHT;
}

static void form_rank(struct vllm *vllm, struct rank *rank, struct vllm_forming *forming)
{
    struct vllm_flight *flight = &rank->flights[vllm->flight_count];
    *forming = (struct vllm_forming){ .flight = flight, .budget = vllm->replica.server->chunk,
                                 .most = vllm->replica.server->max_num_seqs,
                                 .decodes_most = INFINITY };
    if (vllm->stages > 1 && vllm->replica.server->own[VLLM_EVEN_STAGES] > 0)
        forming->decodes_most = ceil((double)rank->running_count / (double)vllm->stages);
    flight->count = flight->grouped = 0;
    flight->decode = true;
    rank->preempted = 0;
    for (size_t priority_class = 0; priority_class < vllm->priority_classes; priority_class++) {
        if (vllm_group_form(vllm, rank))
            go_on_together(vllm, rank, forming);
        else
            go_on(vllm, rank, forming, priority_class);
        if (rank->preempted && vllm->priority_classes == 1)
            break;                                  /* nobody enters where somebody had to go */
        while (!priority_class && admit_fetched(vllm, rank, forming))
            ;
        while (admit_one(vllm, rank, forming, priority_class) ||
               (vllm->priority_classes > 1 && push_out(vllm, rank, forming, priority_class)))
            ;
    }
    flight->decode &= vllm_sequences(flight) == rank->running_count;
}

static double tokens_of(const struct sim_step *step)
{
    return step->decoding + step->drafts + step->prompt;
}

void vllm_add_step(struct sim_step *all, struct sim_step *fullest, const struct sim_step *step)
{
    if (tokens_of(step) > tokens_of(fullest) ||
        (tokens_of(step) == tokens_of(fullest) && step->decode_cached > fullest->decode_cached))
        *fullest = *step;
    all->decoding += step->decoding;
    all->decode_cached += step->decode_cached;
    all->drafts += step->drafts;
    all->prompt += step->prompt;
    all->prompt_cached += step->prompt_cached;
    all->prompt_pairs += step->prompt_pairs;
    all->sequences += step->sequences;
    all->begun += step->begun;
}

double vllm_imbalance(const struct vllm *vllm, const struct sim_step *all,
                      const struct sim_step *fullest)
{
    return (double)vllm->rank_count * tokens_of(fullest) / tokens_of(all);
}

/* A step of so many seconds enters at a time: when it has left the last stage. It follows those
 * before it and overtakes none. */
static double through_stages(struct vllm *vllm, double from, double seconds)
{
    const double each = seconds / (double)vllm->stages;
    for (size_t s = 0; s < vllm->stages; s++)
        from = vllm->stage_free[s] = moment_later(from, vllm->stage_free[s]) + each;
    return from;
}

void vllm_count_requests(struct vllm *vllm)
{
    struct replica *replica = &vllm->replica;
    replica->waiting = replica->running = replica->blocks_used = 0;
    for (size_t r = 0; r < vllm->rank_count; r++) {
        const struct rank *rank = &vllm->ranks[r];
        replica->waiting += rank->waiting + rank->fetching.count + rank->fetched.count;
        replica->running += rank->running_count;
        replica->blocks_used += replica->server->blocks - 1 - blocks_free(rank->blocks);
    }
}

void vllm_share_seconds(struct vllm *vllm, double seconds, double sequences)
{
    for (size_t r = 0; r < vllm->rank_count && vllm->priority_classes > 1; r++) {
        const struct vllm_flight *flight = &vllm->ranks[r].flights[vllm->flight_count - 1];
        for (size_t i = 0; i < flight->count; i++)
            vllm->replica.sums.class_seconds[vllm_class_of(vllm, flight->parts[i].id)] += seconds / sequences;
    }
}

bool vllm_launch(struct vllm *vllm, double now)
{
    const struct sim_server *server = vllm->replica.server;
    struct sim_step step = { 0 }, fullest = { 0 };
    struct vllm_forming forming;
    uint64_t preempted = 0;
    vllm->now = now;
    for (size_t r = 0; r < vllm->rank_count; r++) {
        form_rank(vllm, &vllm->ranks[r], &forming);
        vllm_add_step(&step, &fullest, &forming.step);
        preempted += vllm->ranks[r].preempted;
    }
    vllm_count_requests(vllm);
    if (!(step.sequences > 0))                      /* who had to go made room for others */
        return preempted && !vllm->flight_count && vllm_launch(vllm, now);
    fullest.imbalance = vllm_imbalance(vllm, &step, &fullest);
    const double seconds = server->seconds(server->context, &fullest);
    const double start = moment_later(now, vllm->stages > 1 ? vllm->stage_free[0] : vllm->free_at);
    vllm->free_at = vllm->stages > 1 ? through_stages(vllm, start, seconds) : start + seconds;
    for (size_t r = 0; r < vllm->rank_count; r++) {
        vllm->ranks[r].flights[vllm->flight_count].end = vllm->free_at;
        vllm_group_launched(vllm, &vllm->ranks[r], 1);
    }
    vllm->flight_count++;
    for (size_t r = 0; r < vllm->rank_count; r++)
        vllm_group_shed(vllm, &vllm->ranks[r]);
    simulation_ran(&vllm->replica, start, seconds / (double)vllm->stages, &step);
    vllm_share_seconds(vllm, seconds / (double)vllm->stages, step.sequences);
    return true;
}
