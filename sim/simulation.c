/* The clock. At every moment: who arrives is given to a replica, batches that end give their
 * tokens, who asks again because of an answer is given to a replica too, and replicas that have
 * nothing to run form a batch. */
#include "sim/replica.h"
#include "sim/fleet.h"

#include <assert.h>
#include <math.h>

/* ---- what replicas tell --------------------------------------------------------------------- */

/* The sum of the sizes is the replica's, the rest of the sketch is everybody's. */
static void add_gap_line(struct replica *replica, double first, double growth, uint64_t count, uint64_t weight)
{
    struct sketch *gaps = replica->simulation->result->gaps;
    sketch_add_line(gaps, first, growth, count, weight);
    replica->sums.gaps += gaps->sum;
    gaps->sum = 0;
}

/* Of requests that decode in two steps one behind the other, whatever ran between. Those that
 * came in between count as if they had been there. */
static void add_gaps(struct replica *replica, const struct fast_forward *forward, uint64_t steps)
{
    const uint64_t requests = (uint64_t)forward->step.decoding;
    if (!requests) {
        replica->between = replica->stalls
                           ? replica->between + fast_forward_seconds(forward, (double)steps) : 0;
        return;
    }
    add_gap_line(replica, forward->first + replica->between, 0, 1, requests);
    add_gap_line(replica, forward->first + forward->growth, forward->growth, steps - 1, requests);
    replica->between = 0;
}

void simulation_fast_forwarded(struct replica *replica, const struct fast_forward *forward,
                               uint64_t steps)
{
    struct sim_result *result = replica->simulation->result;
    const struct sim_options *options = replica->simulation->options;
    const double seconds = fast_forward_seconds(forward, (double)steps);
    struct window *window = &replica->simulation->window;
    struct replica_sums *sums = &replica->sums;
    window->steps_end = moment_later(window->steps_end, forward->from + seconds);
    sums->busy += seconds;
    sums->sequence_seconds += seconds * forward->step.sequences;
    sums->queued += replica->waiting ? seconds : 0;
    result->iterations += steps;
    result->batch_tokens += steps * (uint64_t)(forward->step.decoding + forward->step.drafts +
                                               forward->step.prompt);
    if (!replica->tells_gaps)
        add_gaps(replica, forward, steps);
    if (options->watch.ran)
        options->watch.ran(options->watch.context, replica->index, forward->from, seconds, steps,
                           &forward->step);
}

void simulation_ran(struct replica *replica, double from, double seconds, const struct sim_step *step)
{
    const struct fast_forward one = { .from = from, .first = seconds, .steps = 1, .step = *step };
    simulation_fast_forwarded(replica, &one, 1);
}

void simulation_gap(struct replica *replica, double seconds)
{
    add_gap_line(replica, seconds, 0, 1, 1);
}

void simulation_first_token(struct simulation *simulation, uint32_t id, double now)
{
    const struct sim_split *split = &simulation->options->split;
    const bool read_later = split->replicas && split->first_after && simulation->want[id] < simulation->trace->output[id];
    if (!(simulation->result->first_token[id] >= 0) && !read_later)
        simulation->result->first_token[id] = now;
}

void simulation_done(struct simulation *simulation, uint32_t id, double now)
{
    simulation->result->completed[id] = now;
    *(uint32_t *)arena_push(simulation->arena, &simulation->ended, &simulation->ended_count, &simulation->ended_room,
                            sizeof id) = id;
    simulation->restarts = simulation->broken = simulation->lost = 0;
}

void simulation_restarted(struct simulation *simulation, uint32_t id)
{
    simulation->result->restarts[id]++;
    simulation->result->preemptions++;
    simulation->restarts++;
}

static void ask(struct fleet_run *run, uint32_t id, double now)
{
    run->simulation.result->arrival[id] = now;
    fleet_route(run, id, now);
}

/* ---- one moment ----------------------------------------------------------------------------- */

static double trace_next(const struct fleet_run *run)
{
    const struct trace *trace = run->simulation.trace;
    bool comes = !run->simulation.options->users && run->arrived < trace->count;
    return comes ? trace->arrival[run->arrived] : INFINITY;
}

static double trace_or_engines_next(const struct fleet_run *run)
{
    const double next = trace_next(run), ends = calendar_next(&run->calendar);
    return ends < next ? ends : next;
}

static void skip_later_turns(struct fleet_run *run)
{
    const struct trace *trace = run->simulation.trace;
    while (trace->before && run->arrived < trace->count &&
           trace->before[run->arrived] != NOBODY)
        run->arrived++;
}

/* Nobody has them yet. */
void run_draw(struct fleet_run *run)
{
    struct simulation *simulation = &run->simulation;
    const struct trace *trace = simulation->trace;
    for (size_t i = window_draw(&simulation->window, trace); i < simulation->window.drawn; i++) {
        simulation->want[i] = trace->output[i];
        simulation->result->arrival[i] = trace->arrival[i];
        simulation->result->first_token[i] = simulation->result->completed[i] = -1;
        run->where[i] = FLEET_NOWHERE;
    }
}

static void come(struct fleet_run *run, double until)
{
    const struct trace *trace = run->simulation.trace;
    while (!run->simulation.options->users && run->arrived < trace->count &&
           trace->arrival[run->arrived] <= until) {
        run->now = moment_later(run->now, trace->arrival[run->arrived]);
        ask(run, (uint32_t)run->arrived++, run->now);
        skip_later_turns(run);
        if (run->arrived == run->simulation.window.drawn)
            run_draw(run);
        run->last_came = run->arrived == trace->count;
    }
    for (struct event event; fleet_due(run, until, &event);)
        if (event.kind == EVENT_ASK)
            ask(run, event.id, run->now);
        else
            fleet_act(run, &event, run->now);
}

static inline void end_one(struct fleet_run *run, size_t i, double until)
{
    struct replica *replica = run->replicas[i];
    if (replica->next > until || run->stirred[i])
        return;
    run->stirred[i] = true;
    replica->now = moment_later(replica->now, replica->next);
    replica->scheduler->end(replica, replica->now);
    run->now = moment_later(run->now, replica->now);
    fleet_touch(run, replica, replica->now);
}

static void end_due(struct fleet_run *run, double until)
{
    size_t count;
    const uint32_t *due = calendar_due(&run->calendar, until, &count);
    for (size_t k = 0; k < count; k++)
        end_one(run, due[k], until);
}

static void start_touched(struct fleet_run *run, double from)
{
    size_t count;
    const uint32_t *touched = calendar_touched(&run->calendar, &count);
    for (size_t k = 0; k < count; k++) {
        struct replica *replica = run->replicas[touched[k]];
        if (!run->stirred[touched[k]] && !calendar_wants(replica))
            continue;
        run->stirred[touched[k]] = false;
        replica->now = moment_later(replica->now, from);
        replica->scheduler->start(replica, replica->now);
        fleet_touch(run, replica, replica->now);
    }
    calendar_looked(&run->calendar);
}

static void settle_ended(struct fleet_run *run)
{
    struct simulation *simulation = &run->simulation;
    for (size_t i = 0; i < simulation->ended_count; i++) {
        uint32_t id = simulation->ended[i];
        if (simulation->want[id] < simulation->trace->output[id])
            fleet_move(run, id, run->now);
        else
            run_leave(run, id, true, run->now);
    }
    simulation->ended_count = 0;
}

/* A step in the middle of a fast-forward may end in this moment too. It is told like the ends that are
 * `next` before a router looks again at what is left to do and cached. */
static void end_amid_stretches(struct fleet_run *run, double until)
{
    const enum router router = run->simulation.options->router;
    if (router != ROUTER_LEAST_TOKENS && router != ROUTER_PREFIX)
        return;
    for (size_t i = 0; i < run->replica_count; i++) {
        struct replica *replica = run->replicas[i];
        const struct scheduler *scheduler = replica->scheduler;
        if (run->stirred[i] || !scheduler->course)
            continue;
        const struct course course = scheduler->course(replica);
        if (course_left(&course, run->now) != course_left(&course, moment_end(until))) {
            scheduler->settle(replica, run->now);
            fleet_touch(run, replica, run->now);
            end_one(run, i, until);
        }
    }
}

/* All that happens in the moment that begins now. */
static void moment(struct fleet_run *run)
{
    const double from = run->now, until = moment_end(from);
    for (;;) {
        come(run, until);
        end_due(run, until);
        settle_ended(run);
        if (fleet_next(run) > until || !run->left)
            break;
        end_amid_stretches(run, until);                     /* who asks again without thinking */
    }
    start_touched(run, from);
}

/* ---- the run -------------------------------------------------------------------------------- */

/* A batch that does not cut prompts has to hold the longest one, with the outputs that it had
 * before it started again. */
bool run_fits(const struct sim_server *server, size_t id, uint64_t tokens, struct error *error)
{
    const struct scheduler *scheduler = server->scheduler;
    if (scheduler->can & SCHEDULER_BLOCKS) {
        size_t spare = scheduler->spare ? scheduler->spare(server) : 0;
        size_t needed = (size_t)((tokens + server->block - 1) / server->block) + spare;
        if (needed > server->blocks) {
            error_set(error, "request %zu needs %zu KV blocks for %llu tokens, a replica has "
                      "%zu, %zu of them in reserve", id, needed, (unsigned long long)tokens,
                      server->blocks, spare);
            return error_expected(error, "--blocks %zu or more", needed);
        }
    }
    if ((scheduler->can & SCHEDULER_BATCH_TOKENS) && !(scheduler->can & SCHEDULER_CHUNK) &&
        tokens > server->batch_tokens_most) {
        error_set(error, "request %zu has %llu tokens, a batch takes %zu at most", id,
                  (unsigned long long)tokens, server->batch_tokens_most);
        return error_expected(error, "--max-batched-tokens %llu or more", (unsigned long long)tokens);
    }
    return true;
}

/* The longest one speaks for all. */
static bool all_fit(const struct trace *trace, const struct sim_options *options,
                    struct error *error)
{
    const struct trace_sums sums = trace_sums_of(trace);
    return run_fits(&options->server, sums.longest, sums.most, error) &&
           (!options->split.replicas ||
            run_fits(&options->split.server, sums.longest_prompt, (uint64_t)sums.most_prompt + 1, error));
}

/* A replica that runs apart is visited once for so many requests. */
static void open_world(struct arena *arena, struct simulation *simulation, bool apart)
{
    const size_t each = 16;
    struct window *window = &simulation->window;
    window_open(window, arena, simulation->trace, apart ? each * simulation->options->replicas : 0);
    *simulation->result = (struct sim_result){ .arrival = window_array(window, arena, sizeof(double)),
                                               .first_token = window_array(window, arena, sizeof(double)),
                                               .completed = window_array(window, arena, sizeof(double)),
                                               .restarts = window_array(window, arena, sizeof(uint32_t)),
                                               .gaps = arena_alloc(arena, sizeof(struct sketch)) };
    simulation->want = window_array(window, arena, sizeof *simulation->want);
    simulation->got = window_array(window, arena, sizeof *simulation->got);
    simulation->ready = window_array(window, arena, sizeof *simulation->ready);
    simulation->next = window_array(window, arena, sizeof *simulation->next);
}

static void open_sessions(struct arena *arena, struct fleet_run *run)
{
    const struct trace *trace = run->simulation.trace;
    if (!trace->before || run->simulation.options->users)
        return;
    run->after = arena_array(arena, trace->count, sizeof *run->after);
    run->beside = arena_array(arena, trace->count, sizeof *run->beside);
    for (size_t i = 0; i < trace->count; i++)
        run->after[i] = run->beside[i] = NOBODY;
    for (size_t i = trace->count; i-- > 0;)             /* the first of them is planned first */
        if (trace->before[i] != NOBODY) {
            run->beside[i] = run->after[trace->before[i]];
            run->after[trace->before[i]] = (uint32_t)i;
        }
    skip_later_turns(run);
}

static void open_engines(struct arena *arena, struct fleet_run *run)
{
    const struct sim_options *options = run->simulation.options;
    run->replica_count = fleet_size(options);
    run->replicas = arena_array(arena, run->replica_count, sizeof *run->replicas);
    run->stirred = arena_array(arena, run->replica_count, sizeof *run->stirred);
    struct strand *strand = run->strands;
    for (size_t i = 0; i < run->replica_count; i++) {
        if (strand && i == strand->end)
            strand++;
        const struct sim_server *server = strand ? &strand->server : fleet_server(options, i);
        struct replica *replica = server->scheduler->open(strand ? strand->arena : arena, &run->simulation, server);
        run->replicas[i] = replica;
        replica->scheduler = server->scheduler;
        replica->server = server;
        replica->simulation = &run->simulation;
        replica->index = i;
        replica->next = INFINITY;
    }
    calendar_open(&run->calendar, arena, run->replicas, run->replica_count);
}

/* Failures that broke requests off, and none was done in between: of a request that lasts nine mean times between failures,
 * one try in 10,000 would end. Fewer tries of very many requests are as hopeless. */
static bool only_fails(const struct simulation *simulation)
{
    return simulation->broken >= 10000 || simulation->lost >= 10000000;
}

bool run_loops(const struct simulation *simulation)
{
    const uint64_t most = simulation->options->restarts_most;
    return only_fails(simulation) || simulation->restarts >= (most ? most : 1000000);
}

bool run_stuck(const struct fleet_run *run, double now, struct error *error)
{
    const struct simulation *simulation = &run->simulation;
    if (only_fails(simulation)) {
        error_set(error, "at %.3f s replicas have failed %llu times with requests, and no request was done: each fails every %g s on average",
                  now, (unsigned long long)simulation->broken, simulation->options->fails_every);
        return error_expected(error, "--fails-every TIME, several times as long as a request takes");
    }
    if (run_loops(simulation))
        error_set(error, "at %.3f s requests started again %llu times, for lack of blocks or for "
                  "failures, and none was done: they throw each other out", now,
                  (unsigned long long)simulation->restarts);
    else
        error_set(error, "%zu requests wait and no replica can ever take one", run->left);
    return error_expected(error, "more --blocks, or a lower --max-seqs");
}

/* Seats that nobody could ever take need no room. */
static const struct sim_options *with_seats(struct arena *arena, const struct sim_options *options,
                                            size_t requests)
{
    struct sim_options *own = arena_alloc(arena, sizeof *own);
    *own = *options;
    if (own->server.max_num_seqs > requests)
        own->server.max_num_seqs = requests;
    if (own->split.server.max_num_seqs > requests)
        own->split.server.max_num_seqs = requests;
    return own;
}

bool run_open(struct arena *arena, const struct trace *trace, const struct sim_options *options,
              struct sim_result *result, struct fleet_run *run, struct error *error)
{
    run->simulation = (struct simulation){ .arena = arena, .trace = trace, .result = result,
                                           .options = with_seats(arena, options, trace->count) };
    run->left = trace->count;
    assert(options->server.scheduler && (!trace->source || !options->users));
    assert(!options->split.replicas ||              /* they share what they keep of requests */
           options->split.server.scheduler == options->server.scheduler);
    if (fleet_size(options) > FLEET_MOST) {
        error_set(error, "%zu servers", fleet_size(options));
        return error_expected(error, "%d at most", FLEET_MOST);
    }
    open_world(arena, &run->simulation, run->strand_count > 0);
    open_sessions(arena, run);
    open_engines(arena, run);
    fleet_open(arena, run);
    run_draw(run);
    return true;
}

double run_next(const struct fleet_run *run)
{
    const double own = trace_or_engines_next(run), planned = fleet_next(run);
    return own < planned ? own : planned;
}

void run_moment(struct fleet_run *run, double next)
{
    run->now = moment_later(run->now, next);
    moment(run);
}

bool run_begin(struct arena *arena, const struct trace *trace, const struct sim_options *options,
               struct sim_result *result, struct fleet_run *run, struct error *error)
{
    if (!all_fit(trace, options, error) || !run_open(arena, trace, options, result, run, error))
        return false;
    for (; run->arrived < options->users && run->arrived < trace->count; run->arrived++)
        fleet_plan(run, options->stagger * (double)run->arrived / (double)options->users, EVENT_ASK,
                   (uint32_t)run->arrived);
    return true;
}

bool run_go_on(struct fleet_run *run, struct error *error)
{
    struct sim_result *result = run->simulation.result;
    const double next = run_next(run);
    if (run_loops(&run->simulation) || !(trace_or_engines_next(run) < INFINITY || fleet_expects(run)))
        return run_stuck(run, next, error);
    run_moment(run, next);
    if (run->last_came)
        for (size_t i = 0; i < run->replica_count; i++)
            result->waiting_at_last += (double)run->replicas[i]->waiting;
    run->last_came = false;
    result->makespan = run->now;
    window_look(&run->simulation.window);
    window_move(&run->simulation.window, run->simulation.options, run->now);
    return true;
}

bool run_end(struct fleet_run *run, struct error *error)
{
    struct sim_result *result = run->simulation.result;
    while (run->left)
        if (!run_go_on(run, error))
            return false;
    window_close(&run->simulation.window, run->simulation.options);
    if (run->simulation.trace->source) {        /* their pages are gone, and would read as zeros */
        result->arrival = result->first_token = result->completed = NULL;
        result->restarts = result->cached = NULL;
    }
    fleet_close(run);
    return true;
}
