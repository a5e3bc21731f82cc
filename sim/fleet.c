/* The fleet of a simulation: the router, pools, KV transfers, failures and scaling of replicas.
 *
 * Planned events are kept in a binary heap ordered by time and, within one moment, by the order in
 * which they were planned. Times that differ only by rounding are one moment (replica.h): all
 * events due in it are collected first and then acted on in a fixed order, transfers by request
 * number, so that the result does not depend on the last bits of sums. A request that finds no
 * replica up waits in `homeless` until one is. A failed replica loses its batches and its cache;
 * its requests are routed again from their start, and tokens that their users already have are not
 * counted twice. */
#include "sim/fleet.h"

#include <math.h>

const char *const router_names[ROUTER_COUNT + 1] = {
    "round-robin", "least-pending", "least-tokens", "prefix" };

/* ---- events --------------------------------------------------------------------------------- */

static bool sooner(const struct event *a, const struct event *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static bool brings_something(enum event_kind kind)
{
    return kind == EVENT_ASK || kind == EVENT_RETURN || kind == EVENT_READY;
}

void fleet_plan(struct fleet_run *run, double time, enum event_kind kind, uint32_t id)
{
    struct event event = { time, run->planned++, kind, id };
    arena_push(run->arena, &run->heap, &run->event_count, &run->event_room, sizeof event);
    size_t at = run->event_count - 1;
    for (; at && sooner(&event, &run->heap[(at - 1) / 2]); at = (at - 1) / 2)
        run->heap[at] = run->heap[(at - 1) / 2];
    run->heap[at] = event;
    run->promised += brings_something(kind);
}

static struct event pop(struct fleet_run *run)
{
    struct event *heap = run->heap, top = heap[0], last = heap[--run->event_count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < run->event_count) {
        if (child + 1 < run->event_count && sooner(&heap[child + 1], &heap[child]))
            child++;
        if (!sooner(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    run->promised -= brings_something(top.kind);
    return top;
}

double fleet_next(const struct fleet_run *run)
{
    double next = run->event_count ? run->heap[0].time : INFINITY;
    if (run->links)
        next = fmin(next, run->moved_next);
    return run->simulation.tiers ? fmin(next, tiers_next(run->simulation.tiers)) : next;
}

/* Insert an event among those due from index `from` on, by order. */
static void add_due(struct fleet_run *run, size_t from, struct event event)
{
    arena_push(run->arena, &run->due, &run->due_count, &run->due_room, sizeof event);
    size_t at = run->due_count - 1;
    for (; at > from && run->due[at - 1].order > event.order; at--)
        run->due[at] = run->due[at - 1];
    run->due[at] = event;
}

static void find_next_moved(struct fleet_run *run)
{
    run->moved_next = INFINITY;
    for (size_t i = 0; i < run->link_count; i++)
        run->moved_next = fmin(run->moved_next, link_next(run->links[i]));
}

/* What is due in one moment, whatever its last bits: transfers by request, and then what was
 * planned, in that order. */
static void gather_due(struct fleet_run *run, double until)
{
    struct tiers *tiers = run->simulation.tiers;
    struct event event = { .kind = EVENT_MOVED };
    run->due_at = run->due_count = 0;
    for (size_t i = 0; i < run->link_count && run->moved_next <= until; i++)
        while ((event.time = link_next(run->links[i])) <= until &&
               link_end(run->links[i], event.time, &event.id)) {
            event.order = event.id;
            add_due(run, 0, event);
        }
    if (run->due_count)
        find_next_moved(run);
    const size_t moved = run->due_count;
    event.kind = EVENT_FETCHED;
    while (tiers && (event.time = tiers_next(tiers)) <= until)
        if (tiers_end(tiers, event.time, &event.id)) {
            event.order = event.id;
            add_due(run, moved, event);
        }
    const size_t fetched = run->due_count;
    while (run->event_count && run->heap[0].time <= until)
        add_due(run, fetched, pop(run));
}

bool fleet_due(struct fleet_run *run, double until, struct event *event)
{
    if (run->due_at == run->due_count) {
        if (fleet_next(run) > until)
            return false;
        gather_due(run, until);
        if (!run->due_count)
            return false;
    }
    *event = run->due[run->due_at++];
    if (event->kind != EVENT_SAMPLE)                /* who watches changes nothing */
        run->now = moment_later(run->now, event->time);
    return true;
}

bool fleet_expects(const struct fleet_run *run)
{
    return run->promised || (run->links && run->moved_next < INFINITY) ||
           (run->simulation.tiers && tiers_next(run->simulation.tiers) < INFINITY);
}

/* ---- the router ----------------------------------------------------------------------------- */

static struct replica_pool *pool_with(struct fleet_run *run, size_t replica)
{
    return replica < run->prompts.count ? &run->prompts : &run->decodes;
}

static void touch_loads(struct fleet_run *run, size_t replica)
{
    struct replica_pool *pool = pool_with(run, replica);
    loads_touch(&pool->loads, replica - pool->first, run->state[replica] == REPLICA_UP);
}

/* A replica that has ended its step is started before its next end counts. */
void fleet_touch(struct fleet_run *run, struct replica *replica, double now)
{
    replica->now = moment_later(replica->now, now);
    calendar_touch(&run->calendar, replica, run->stirred[replica->index] ? INFINITY : replica->next);
    touch_loads(run, replica->index);
}

static void settle(struct fleet_run *run, struct replica *replica, double now)
{
    if (!replica->scheduler->settle)
        return;
    replica->scheduler->settle(replica, now);
    fleet_touch(run, replica, now);
}

/* The load by which the router compares replicas; the smallest is chosen. */
static uint64_t load_of(struct fleet_run *run, struct replica *replica, enum router router, double now)
{
    if (router == ROUTER_LEAST_PENDING)
        return replica->waiting;
    if (replica->scheduler->course && (router == ROUTER_LEAST_TOKENS || !replica->scheduler->cached)) {
        const struct course course = replica->scheduler->course(replica);
        return course_left(&course, now);
    }
    settle(run, replica, now);
    return replica->tokens_left;
}

/* The router sees at once whether a replica is up. One that comes up has nothing to do: the router looks at all
 * others too, whose loads would else hold all that was sent since the last look. */
static void set_state(struct fleet_run *run, size_t replica, enum replica_state state, double now)
{
    struct replica_pool *pool = pool_with(run, replica);
    run->state[replica] = state;
    touch_loads(run, replica);
    if (state == REPLICA_UP)
        pool->seen.due = now;
    else if (run->simulation.options->refresh > 0)
        snapshot_set(&pool->seen, replica - pool->first, UINT64_MAX);
}

/* Look at all replicas, unless the last look is young enough. */
static void look_around(struct fleet_run *run, struct replica_pool *pool, double now)
{
    if (now < pool->seen.due)
        return;
    for (size_t i = 0; i < pool->count; i++)
        if (run->state[pool->first + i] == REPLICA_UP)
            snapshot_set(&pool->seen, i,
                         load_of(run, run->replicas[pool->first + i], run->simulation.options->router, now));
    pool->seen.due = now + run->simulation.options->refresh;
}

/* The router knows what it sends: tokens without the last, as iteration.c counts them; vllm.c counts that too. */
static struct replica *by_snapshot(struct fleet_run *run, struct replica_pool *pool, uint32_t id, double now)
{
    const struct simulation *simulation = &run->simulation;
    look_around(run, pool, now);
    const size_t chosen = snapshot_least(&pool->seen);
    if (chosen == pool->count)
        return NULL;
    const uint64_t tokens = simulation_total(simulation, id) - simulation->ready[id] - 1;
    snapshot_set(&pool->seen, chosen, snapshot_load(&pool->seen, chosen) +
                 (simulation->options->router == ROUTER_LEAST_TOKENS ? tokens : 1));
    return run->replicas[pool->first + chosen];
}

static struct replica *round_robin(struct fleet_run *run, struct replica_pool *pool)
{
    for (size_t tries = 0; tries < pool->count; tries++) {
        size_t at = pool->first + pool->turn++ % pool->count;
        if (run->state[at] == REPLICA_UP)
            return run->replicas[at];
    }
    return NULL;
}

/* Most of its prompt in the cache, of those with no more to do than a quarter above the mean
 * (bounded loads: Mirrokni, Thorup, Zadimoghaddam 2016); of equals the least to do. */
static struct replica *by_prefix(struct fleet_run *run, struct replica_pool *pool, uint32_t id, double now)
{
    const double most_load = 1.25;
    double mean = 0, up = 0;
    struct replica *chosen = NULL;
    uint64_t chosen_load = 0;
    size_t most = 0;
    for (size_t i = pool->first; i < pool->first + pool->count; i++)
        if (run->state[i] == REPLICA_UP) {
            mean += (double)load_of(run, run->replicas[i], ROUTER_PREFIX, now);
            up++;
        }
    mean = (mean + (double)simulation_total(&run->simulation, id)) / up;
    for (size_t i = pool->first; i < pool->first + pool->count; i++) {
        struct replica *replica = run->replicas[i];
        if (run->state[i] != REPLICA_UP)
            continue;
        uint64_t load = load_of(run, replica, ROUTER_PREFIX, now);
        if ((double)load > most_load * mean)
            continue;
        size_t cached = replica->scheduler->cached ? replica->scheduler->cached(replica, id, now) : 0;
        if (!chosen || cached > most ||
            (cached == most && load < chosen_load)) {
            most = cached;
            chosen = replica;
            chosen_load = load;
        }
    }
    return chosen;
}

/* The replica that takes a request, or NULL if none is up. */
static struct replica *choose_replica(struct fleet_run *run, struct replica_pool *pool, uint32_t id, double now)
{
    const enum router router = run->simulation.options->router;
    struct replica *chosen = NULL;
    uint64_t least = UINT64_MAX;
    if (router == ROUTER_ROUND_ROBIN)
        return round_robin(run, pool);
    if (router == ROUTER_PREFIX)
        return by_prefix(run, pool, id, now);
    if (run->simulation.options->refresh > 0)
        return by_snapshot(run, pool, id, now);
    if (loads_known(&pool->loads))
        return loads_least(&pool->loads, now);
    for (size_t i = pool->first; i < pool->first + pool->count; i++) {
        if (run->state[i] != REPLICA_UP)
            continue;
        if (pool->count == 1)
            return run->replicas[i];
        uint64_t load = load_of(run, run->replicas[i], router, now);
        if (load < least) {
            least = load;
            chosen = run->replicas[i];
        }
    }
    return chosen;
}

bool fleet_looks(const struct fleet_run *run, double now)
{
    const struct sim_options *options = run->simulation.options;
    return options->refresh > 0 && options->router != ROUTER_ROUND_ROBIN && now >= run->decodes.seen.due;
}

struct replica *fleet_choose(struct fleet_run *run, uint32_t id, double now)
{
    return choose_replica(run, &run->decodes, id, now);
}

static void send(struct fleet_run *run, struct replica_pool *pool, uint32_t id, double now)
{
    struct replica *replica = choose_replica(run, pool, id, now);
    run->where[id] = FLEET_NOWHERE;
    if (!replica) {
        queue_last(&run->simulation, &run->homeless, id);
        return;
    }
    run->where[id] = (uint16_t)replica->index;
    replica->scheduler->take(replica, id, now);
    fleet_touch(run, replica, now);
    const struct sim_watch *watch = &run->simulation.options->watch;
    if (watch->sent)
        watch->sent(watch->context, id, replica->index, now, &(struct sim_sample){
            .waiting = replica->waiting - 1, .running = replica->running, .replicas = 1, .blocks_used = replica->blocks_used });
}

/* ---- the next questions --------------------------------------------------------------------- */

/* A user who has an answer, or none to wait for, thinks and asks the next of the trace. */
static void user_asks_next(struct fleet_run *run, double now)
{
    if (run->arrived < run->simulation.trace->count)
        fleet_plan(run, now + run->simulation.options->think, EVENT_ASK, (uint32_t)run->arrived++);
}

static void session_goes_on(struct fleet_run *run, uint32_t id, double now)
{
    const struct trace *trace = run->simulation.trace;
    for (uint32_t next = run->after ? run->after[id] : NOBODY; next != NOBODY;
         next = run->beside[next])
        fleet_plan(run, isnan(trace->wait[next]) ? fmax(trace->arrival[next], now)
                                                 : now + trace->wait[next], EVENT_ASK, next);
}

/* What was not answered has no next turn, nor have those. Turns follow in depth: the one after,
 * or the one beside it, or beside the one that it follows. */
static void session_ends(struct fleet_run *run, uint32_t id)
{
    for (uint32_t at = run->after ? run->after[id] : NOBODY, next; at != NOBODY; at = next) {
        run->simulation.result->unasked++;
        run->left--;
        for (next = run->after[at]; next == NOBODY && at != id; at = run->simulation.trace->before[at])
            next = run->beside[at];
    }
}

void run_leave(struct fleet_run *run, uint32_t id, bool answered, double now)
{
    const struct sim_watch *watch = &run->simulation.options->watch;
    const size_t some = 256, gone = run->simulation.trace->count - --run->left;
    window_left(&run->simulation.window, id);
    if (watch->left && gone % some == 0)
        watch->left(watch->context, gone);
    if (answered) {
        run->done++;
        run->tokens += run->simulation.trace->output[id];
        session_goes_on(run, id, now);
    } else {
        session_ends(run, id);
    }
    if (run->simulation.options->users)
        user_asks_next(run, now);
}

/* ---- where a request goes ------------------------------------------------------------------- */

static struct replica_pool *pool_of(struct fleet_run *run, uint32_t id)
{
    bool prompt = run->simulation.options->split.replicas && run->simulation.result->first_token[id] < 0;
    return prompt ? &run->prompts : &run->decodes;
}

void fleet_route(struct fleet_run *run, uint32_t id, double now)
{
    const struct sim_options *options = run->simulation.options;
    struct replica_pool *pool = pool_of(run, id);
    size_t waiting = 0, up = 0;
    for (size_t i = pool->first; options->waiting_most && i < pool->first + pool->count; i++)
        if (run->state[i] == REPLICA_UP) {
            waiting += run->replicas[i]->waiting;
            up++;
        }
    if (options->waiting_most && waiting >= up * options->waiting_most) {
        run->simulation.result->refused++;
        run_leave(run, id, false, now);
        return;
    }
    if (pool == &run->prompts)
        run->simulation.want[id] = 1;
    if (options->patience > 0)
        fleet_plan(run, now + options->patience, EVENT_GIVE_UP, id);
    send(run, pool, id, now);
}

/* Take a request back from the queue of a replica; a fast-forward ends, since the one behind may
 * enter. */
static bool take_back(struct fleet_run *run, struct replica *replica, uint32_t id, double now)
{
    const struct scheduler *scheduler = replica->scheduler;
    settle(run, replica, now);
    if (!scheduler->drop)
        return false;
    const bool waited = scheduler->drop(replica, id);
    fleet_touch(run, replica, now);
    return waited;
}

void fleet_forget(struct fleet_run *run, uint32_t id, double now)
{
    run->where[id] = FLEET_NOWHERE;
    run->simulation.result->gave_up++;
    run_leave(run, id, false, now);
}

bool fleet_take_back(struct fleet_run *run, uint32_t id, double now)
{
    struct simulation *simulation = &run->simulation;
    uint16_t at = run->where[id];
    if (window_gone(&simulation->window, id) || simulation->result->first_token[id] >= 0 ||
        (at == FLEET_NOWHERE ? !queue_remove(simulation, &run->homeless, id)
                       : !take_back(run, run->replicas[at], id, now)))
        return false;
    fleet_forget(run, id, now);
    return true;
}

static void house_homeless(struct fleet_run *run, double now)
{
    struct queue waiting = run->homeless;
    run->homeless = QUEUE_EMPTY;
    while (waiting.count) {
        uint32_t id = queue_pop(&run->simulation, &waiting);
        send(run, pool_of(run, id), id, now);
    }
}

/* ---- two pools ------------------------------------------------------------------------------ */

void fleet_move(struct fleet_run *run, uint32_t id, double now)
{
    struct simulation *simulation = &run->simulation;
    double bytes = simulation->trace->prompt[id] * simulation->options->split.token_bytes;
    const size_t from = run->where[id], ranks = run->link_count / run->prompts.count;
    run->where[id] = FLEET_NOWHERE;
    simulation->result->completed[id] = -1;         /* only its prompt is */
    link_add(run->links[from * ranks + run->moves[from]++ % ranks], now, bytes, id);
    find_next_moved(run);
    simulation->result->moved_bytes += bytes;
    simulation->result->moving -= now;
}

static void arrive_moved(struct fleet_run *run, uint32_t id, double now)
{
    struct simulation *simulation = &run->simulation;
    simulation->result->moving += now;
    if (!(simulation->result->first_token[id] >= 0))
        simulation->result->first_token[id] = now;
    simulation->want[id] = simulation->trace->output[id];
    simulation->got[id] = 1;
    simulation->ready[id] = simulation->trace->prompt[id];
    send(run, &run->decodes, id, now);
}

/* ---- tiers ---------------------------------------------------------------------------------- */

static void fetched(struct fleet_run *run, uint32_t id, double now)
{
    struct replica *replica = run->replicas[run->where[id] == FLEET_NOWHERE ? 0 : run->where[id]];
    replica->scheduler->fetched(replica, id, now);
    fleet_touch(run, replica, now);
}

static void open_tiers(struct arena *arena, struct fleet_run *run)
{
    const struct sim_options *options = run->simulation.options;
    if (options->tiers)
        run->simulation.tiers = tiers_open(arena, options->tier, options->tiers, run->replica_count,
                                           options->token_bytes * (double)options->server.block);
}

static void add_use(struct tier_use *all, const struct tier_use *use)
{
    all->fetched += use->fetched;
    all->written += use->written;
    all->known += use->known;
    all->evicted += use->evicted;
    all->expired += use->expired;
    all->lost += use->lost;
    all->used += use->used;
    all->used_most += use->used_most;
    all->held += use->held;
    all->read_bytes += use->read_bytes;
    all->written_bytes += use->written_bytes;
    all->behind_most = fmax(all->behind_most, use->behind_most);
    all->busy += use->busy;
    all->wear = fmax(all->wear, use->wear);
    all->hold_cost += use->hold_cost;
    all->write_cost += use->write_cost;
}

static void close_tiers(struct fleet_run *run)
{
    const struct sim_options *options = run->simulation.options;
    struct sim_result *result = run->simulation.result;
    for (size_t tier = 0; tier < options->tiers; tier++)
        for (size_t i = 0; i < (options->tier[tier].shared ? 1 : run->replica_count); i++) {
            struct tier_use use = tiers_use(run->simulation.tiers, i, tier, result->makespan);
            add_use(&result->tier[tier], &use);
        }
}

/* ---- failures ------------------------------------------------------------------------------- */

static void plan_failure(struct fleet_run *run, uint32_t replica, double now)
{
    const struct sim_options *options = run->simulation.options;
    if (options->fails_every > 0 && !run->doomed[replica])
        fleet_plan(run, now + options->fails_every * random_exponential(&run->random), EVENT_FAIL,
                   replica);
    run->doomed[replica] = true;
}

static void comes_up(struct fleet_run *run, uint32_t replica, double now)
{
    set_state(run, replica, REPLICA_UP, now);
    plan_failure(run, replica, now);
    house_homeless(run, now);
}

/* A start that was called off, and perhaps begun again, is not ready yet. */
static void ready(struct fleet_run *run, uint32_t replica, double now)
{
    const double start_up = run->simulation.options->scaling.start_up;
    if (run->state[replica] == REPLICA_STARTING && now >= run->since[replica] + start_up)
        comes_up(run, replica, now);
}

/* Its requests go to others, from their start; their users keep what they have. */
static void fail(struct fleet_run *run, uint32_t at, double now)
{
    struct simulation *simulation = &run->simulation;
    struct replica *replica = run->replicas[at];
    run->doomed[at] = false;
    if (run->state[at] != REPLICA_UP)
        return;
    set_state(run, at, REPLICA_FAILED, now);
    simulation->result->failures++;
    simulation->restarts++;                         /* a fleet that only fails is a loop too */
    replica->scheduler->clear(replica, now);
    fleet_touch(run, replica, now);
    if (simulation->tiers)
        tiers_clear(simulation->tiers, at, now);
    fleet_plan(run, now + simulation->options->restart, EVENT_RETURN, at);
    const uint64_t lost = simulation->result->lost;
    for (uint32_t id = (uint32_t)simulation->window.oldest; id < simulation->window.drawn; id++)
        if (run->where[id] == at && !(simulation->result->completed[id] >= 0)) {
            simulation->result->lost++;
            simulation->ready[id] = 0;
            send(run, pool_of(run, id), id, now);
        }
    simulation->broken += simulation->result->lost > lost;
    simulation->lost += simulation->result->lost - lost;
}

/* ---- scaling -------------------------------------------------------------------------------- */

static void stop(struct fleet_run *run, size_t replica, double now)
{
    set_state(run, replica, REPLICA_DOWN, now);
    run->simulation.result->pool_there[replica < run->prompts.count] += now - run->since[replica];
    run->since[replica] = NAN;
}

static void start_one(struct fleet_run *run, double now)
{
    const struct sim_scaling *scaling = &run->simulation.options->scaling;
    struct replica_pool *pool = &run->decodes;
    for (size_t i = pool->first; i < pool->first + pool->count; i++)
        if (run->state[i] == REPLICA_LEAVING) {
            set_state(run, i, REPLICA_UP, now);
            plan_failure(run, (uint32_t)i, now);
            return;
        }
    for (size_t i = pool->first; i < pool->first + pool->count; i++)
        if (run->state[i] == REPLICA_DOWN) {
            set_state(run, i, REPLICA_STARTING, now);
            run->since[i] = now;
            fleet_plan(run, now + scaling->start_up, EVENT_READY, (uint32_t)i);
            return;
        }
}

/* Stop a replica, preferably one that is still starting. */
static void send_one_away(struct fleet_run *run, double now)
{
    struct replica_pool *pool = &run->decodes;
    for (size_t i = pool->first + pool->count; i-- > pool->first;)
        if (run->state[i] == REPLICA_STARTING) {
            stop(run, i, now);                          /* its EVENT_READY finds it gone */
            return;
        }
    for (size_t i = pool->first + pool->count; i-- > pool->first;)
        if (run->state[i] == REPLICA_UP) {
            set_state(run, i, REPLICA_LEAVING, now);
            return;
        }
}

static void look(struct fleet_run *run, double now)
{
    const struct sim_options *options = run->simulation.options;
    struct replica_pool *pool = &run->decodes;
    size_t requests = run->homeless.count, there = 0;
    for (size_t i = pool->first; i < pool->first + pool->count; i++) {
        const struct replica *replica = run->replicas[i];
        requests += replica->waiting + replica->running;
        if (run->state[i] == REPLICA_LEAVING && !replica->waiting && !replica->running)
            stop(run, i, now);
        there += run->state[i] == REPLICA_UP || run->state[i] == REPLICA_STARTING ||
                 run->state[i] == REPLICA_FAILED;
    }
    const struct sim_scaling *scaling = &options->scaling;
    size_t wanted = scaling->wanted ? scaling->wanted(scaling->context, now)
                                    : (size_t)fmin(ceil((double)requests / scaling->load), (double)scaling->most);
    wanted = wanted > scaling->most ? scaling->most : wanted;
    wanted = wanted < options->replicas ? options->replicas : wanted;
    for (; there < wanted; there++)
        start_one(run, now);
    for (; there > wanted; there--)
        send_one_away(run, now);
    fleet_plan(run, now + options->scaling.every, EVENT_LOOK, 0);
}

/* ---- samples -------------------------------------------------------------------------------- */

static void sample(struct fleet_run *run, double now)
{
    const struct sim_watch *watch = &run->simulation.options->watch;
    struct sim_sample sample = { .done = run->done, .tokens = run->tokens,
                                 .waiting = run->homeless.count };
    for (size_t i = 0; i < run->replica_count; i++) {
        sample.waiting += run->replicas[i]->waiting;
        sample.running += run->replicas[i]->running;
        sample.blocks_used += run->replicas[i]->blocks_used;
        sample.replicas += run->state[i] == REPLICA_UP;
    }
    watch->sample(watch->context, now, &sample);
    fleet_plan(run, now + watch->every, EVENT_SAMPLE, 0);
}

/* ---- the fleet ------------------------------------------------------------------------------ */

void fleet_act(struct fleet_run *run, const struct event *event, double now)
{
    switch (event->kind) {
    case EVENT_ASK:     fleet_route(run, event->id, now); break;
    case EVENT_GIVE_UP: fleet_take_back(run, event->id, now); break;
    case EVENT_MOVED:   arrive_moved(run, event->id, now); break;
    case EVENT_FETCHED: fetched(run, event->id, now); break;
    case EVENT_FAIL:    fail(run, event->id, now); break;
    case EVENT_RETURN:  comes_up(run, event->id, now); break;
    case EVENT_READY:   ready(run, event->id, now); break;
    case EVENT_LOOK:    look(run, now); break;
    case EVENT_SAMPLE:  sample(run, event->time); break;
    }
}

static size_t decode_replicas(const struct sim_options *options)
{
    return options->scaling.most > options->replicas ? options->scaling.most : options->replicas;
}

size_t fleet_size(const struct sim_options *options)
{
    return options->split.replicas + decode_replicas(options);
}

const struct sim_server *fleet_server(const struct sim_options *options, size_t index)
{
    return index < options->split.replicas ? &options->split.server : &options->server;
}

static void open_links(struct arena *arena, struct fleet_run *run)
{
    const struct sim_split *split = &run->simulation.options->split;
    run->link_count = split->replicas * (split->server.ranks ? split->server.ranks : 1);
    run->links = arena_array(arena, run->link_count, sizeof *run->links);
    run->moves = arena_array(arena, split->replicas, sizeof *run->moves);
    run->moved_next = INFINITY;
    for (size_t i = 0; i < run->link_count; i++)
        run->links[i] = link_open(arena, split->bandwidth, split->latency);
}

void fleet_open(struct arena *arena, struct fleet_run *run)
{
    const struct sim_options *options = run->simulation.options;
    const size_t prompts = options->split.replicas;
    run->arena = arena;
    run->prompts = (struct replica_pool){ .first = 0, .count = prompts };
    run->decodes = (struct replica_pool){ .first = prompts, .count = decode_replicas(options) };
    run->state = arena_array(arena, run->replica_count, sizeof *run->state);
    for (size_t i = 0; i < 2; i++) {
        struct replica_pool *pool = i ? &run->decodes : &run->prompts;
        if (options->refresh > 0)
            snapshot_open(&pool->seen, arena, pool->count);
        else
            loads_open(&pool->loads, arena, run->replicas + pool->first, pool->count, options->router);
    }
    run->doomed = arena_array(arena, run->replica_count, sizeof *run->doomed);
    run->since = arena_array(arena, run->replica_count, sizeof *run->since);
    run->where = window_array(&run->simulation.window, arena, sizeof *run->where);
    run->homeless = QUEUE_EMPTY;
    random_stream(&run->random, options->seed, "failures", 0);
    open_tiers(arena, run);
    if (prompts)
        open_links(arena, run);
    for (size_t i = 0; i < run->replica_count; i++)
        run->since[i] = i < prompts + options->replicas ? 0 : NAN;
    for (size_t i = 0; i < prompts + options->replicas; i++)
        comes_up(run, (uint32_t)i, 0);
    if (options->scaling.most)
        fleet_plan(run, options->scaling.every, EVENT_LOOK, 0);
    if (options->watch.sample)
        fleet_plan(run, 0, EVENT_SAMPLE, 0);
}

static void add_sums(struct fleet_run *run, size_t i)
{
    struct sim_result *result = run->simulation.result;
    const struct replica_sums *sums = &run->replicas[i]->sums;
    result->busy += sums->busy;
    result->pool_busy[i < run->prompts.count] += sums->busy;
    result->sequence_seconds += sums->sequence_seconds;
    result->queued += sums->queued;
    result->gaps->sum += sums->gaps;
    for (size_t k = 0; k < TRACE_CLASSES; k++)
        result->class_seconds[k] += sums->class_seconds[k];
}

void fleet_close(struct fleet_run *run)
{
    for (size_t i = 0; i < run->replica_count; i++)
        add_sums(run, i);
    for (size_t i = 0; i < run->replica_count; i++)
        if (!isnan(run->since[i]))
            stop(run, i, run->simulation.result->makespan);
    close_tiers(run);
}
