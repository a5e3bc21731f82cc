/* A run whose replicas run side by side in threads, each by itself from one look of the router to the next.
 *
 *     look -> route all that arrive before the next look -> every replica advances to that look -> look -> ...
 *             (one thread)                                  (strands of replicas, in threads; beside them the
 *                                                            next requests are drawn and those that left are read)
 *
 * A router that takes replicas in turn looks at none: its run is one span. Other routers look every options->refresh. What
 * couples replicas otherwise keeps a run together: users and sessions, who wait for answers; a second pool; tiers;
 * failures, scaling, patience and a limit of the queue; and whoever watches, for whom events have an order.
 *
 * A replica does the same here as in the calendar of a whole run: its clock and its sums are its own (replica.h), and
 * what strands count is whole numbers. So the bits depend neither on the number of strands nor on whether there are any:
 * tests/plain/apart.c never has any. Only the time in the message of a run that restarts for ever may differ. One thread
 * gains too: a replica and its requests stay in the caches. */
#include "sim/fleet.h"

#include "base/guard.h"

#include <math.h>

/* Few requests are not worth another strand, nor the waking of threads. More strands than threads, since some take longer. */
enum { FEW = 64, STRANDS_EACH = 4 };

/* 0: the replicas are coupled. */
static size_t strands_of(const struct trace *trace, const struct sim_options *options)
{
    const struct sim_watch *watch = &options->watch;
    const bool looks = options->refresh > 0 && options->router != ROUTER_PREFIX;
    if ((options->router != ROUTER_ROUND_ROBIN && !looks) || options->users || trace->before || options->split.replicas ||
        options->tiers || options->fails_every > 0 || options->scaling.most || options->patience > 0 || options->waiting_most ||
        watch->ran || watch->sent || watch->sample)
        return 0;
    const size_t threads = options->own ? parallel_threads() : 1, worth = trace->count / FEW + 1;
    const size_t most = threads > 1 ? STRANDS_EACH * threads : 1, some = most < worth ? most : worth;
    return some < options->replicas ? some : options->replicas;
}

static void open_strands(struct arena *arena, const struct trace *trace, const struct sim_options *options,
                         struct fleet_run *run)
{
    const size_t count = run->strand_count = strands_of(trace, options), replicas = options->replicas;
    if (!count)
        return;
    run->strands = arena_array(arena, count, sizeof *run->strands);
    run->coming = arena_array(arena, replicas, sizeof *run->coming);
    for (size_t i = 0; i < replicas; i++)
        run->coming[i].queue = QUEUE_EMPTY;
    for (size_t s = 0; s < count; s++) {
        struct strand *strand = &run->strands[s];
        strand->arena = arena_inner(arena);
        strand->server = options->own ? options->own(strand->arena, &options->server) : options->server;
        if (strand->server.max_num_seqs > trace->count)
            strand->server.max_num_seqs = trace->count;
        strand->first = replicas * s / count;
        strand->end = replicas * (s + 1) / count;
        strand->stuck = NAN;
    }
}

/* From here on each strand counts by itself. */
static void part(struct fleet_run *run)
{
    for (size_t s = 0; s < run->strand_count; s++) {
        struct strand *strand = &run->strands[s];
        strand->simulation = run->simulation;
        strand->simulation.arena = strand->arena;
        strand->simulation.result = &strand->result;
        strand->result = *run->simulation.result;
        strand->result.gaps = arena_alloc(strand->arena, sizeof *strand->result.gaps);
        for (size_t i = strand->first; i < strand->end; i++)
            run->replicas[i]->simulation = &strand->simulation;
    }
}

/* All that are drawn and arrive before the router looks again, for which replicas have to have reached that moment. Returns
 * the time up to which they may go on, s. */
static double route(struct fleet_run *run, double reached)
{
    const struct trace *trace = run->simulation.trace;
    double now = 0;
    while (run->arrived < run->simulation.window.drawn) {
        const uint32_t id = (uint32_t)run->arrived;
        now = trace->arrival[id];
        if (fleet_looks(run, now) && reached < moment_start(now))
            return moment_start(now);
        struct coming *coming = &run->coming[fleet_choose(run, id, now)->index];
        queue_last(&run->simulation, &coming->queue, id);
        coming->left++;
        run->arrived++;
    }
    return run->arrived < trace->count ? moment_start(now) : moment_end(now);
}

/* ---- a replica by itself ------------------------------------------------------------------------ */

static void settle_ended(struct strand *strand, struct coming *coming)
{
    struct simulation *simulation = &strand->simulation;
    for (size_t k = 0; k < simulation->ended_count; k++)
        window_left(&simulation->window, simulation->ended[k]);
    strand->done += simulation->ended_count;
    coming->left -= simulation->ended_count;
    simulation->ended_count = 0;
}

/* As `moment` in simulation.c. */
static void moment(struct strand *strand, struct replica *replica, struct coming *coming, double from)
{
    const struct scheduler *scheduler = replica->scheduler;
    const double *arrival = strand->simulation.trace->arrival, until = moment_end(from);
    while (coming->queue.count && arrival[coming->queue.head] <= until) {
        const uint32_t id = queue_pop(&strand->simulation, &coming->queue);
        replica->now = moment_later(replica->now, arrival[id]);
        scheduler->take(replica, id, replica->now);
    }
    const bool ends = replica->next <= until;
    if (ends) {
        replica->now = moment_later(replica->now, replica->next);
        scheduler->end(replica, replica->now);
        settle_ended(strand, coming);
    }
    if (ends || calendar_wants(replica))
        scheduler->start(replica, replica->now);
}

/* All moments that begin before `until`, or, if that is INFINITY, until its last request has left. */
static void advance(struct strand *strand, struct replica *replica, struct coming *coming, double until)
{
    struct simulation *simulation = &strand->simulation;
    simulation->restarts = 0;
    while (until < INFINITY || coming->left) {
        const double comes = coming->queue.count ? simulation->trace->arrival[coming->queue.head] : INFINITY;
        const double next = comes < replica->next ? comes : replica->next;
        if (!(next < until))
            return;
        moment(strand, replica, coming, next);
        if (run_loops(simulation)) {
            strand->stuck = next;
            return;
        }
    }
}

struct advance {
    struct fleet_run *run;
    double reached, until;
};

/* Beside the strands, whoever has left is read and whoever comes next is drawn. */
static void advance_strand(void *context, size_t s)
{
    const struct advance *to = context;
    struct fleet_run *run = to->run;
    struct window *window = &run->simulation.window;
    if (!s) {
        window_move(window, run->simulation.options, to->reached);
        if (run->arrived == window->drawn && window->drawn < window->count)
            run_draw(run);
        return;
    }
    struct strand *strand = &run->strands[s - 1];
    for (size_t i = strand->first; i < strand->end && isnan(strand->stuck); i++) {
        advance(strand, run->replicas[i], &run->coming[i], to->until);
        strand->now = moment_later(strand->now, run->replicas[i]->now);
    }
}

/* ---- the run ------------------------------------------------------------------------------------ */

/* Every replica from `reached` to `until`. */
static bool advance_all(struct fleet_run *run, double reached, double until, bool threads, struct error *error)
{
    struct advance to = { run, reached, until };
    struct window *window = &run->simulation.window;
    const struct sim_watch *watch = &run->simulation.options->watch;
    parallel_each(1 + run->strand_count, threads && run->strand_count > 1, advance_strand, &to);
    for (size_t s = 0; s < run->strand_count; s++) {
        struct strand *strand = &run->strands[s];
        run->left -= strand->done;
        strand->done = 0;
        run->now = moment_later(run->now, strand->now);
        window->steps_end = moment_later(window->steps_end, strand->simulation.window.steps_end);
        if (!isnan(strand->stuck)) {
            run->simulation.restarts = strand->simulation.restarts;
            return run_stuck(run, strand->stuck, error);
        }
    }
    window_look(window);
    if (watch->left)
        watch->left(watch->context, run->simulation.trace->count - run->left);
    return true;
}

static void add_counts(struct sim_result *all, const struct sim_result *one)
{
    all->iterations += one->iterations;
    all->batch_tokens += one->batch_tokens;
    all->preemptions += one->preemptions;
    all->cached_tokens += one->cached_tokens;
    sketch_merge(all->gaps, one->gaps);
}

/* The last request leaves at run->now: until then the steps of other replicas go on. */
static bool run_apart(struct fleet_run *run, struct error *error)
{
    struct sim_result *result = run->simulation.result;
    part(run);
    for (double reached = 0, until; run->arrived < run->simulation.trace->count; reached = until) {
        const size_t before = run->arrived;
        until = route(run, reached);
        if (!advance_all(run, reached, until, run->arrived - before > FEW, error))
            return false;
    }
    for (size_t i = 0; i < run->replica_count; i++)
        result->waiting_at_last += (double)run->replicas[i]->waiting;
    if (!advance_all(run, 0, INFINITY, true, error) || (run->left && !run_stuck(run, INFINITY, error)) ||
        !advance_all(run, 0, moment_end(run->now), false, error))
        return false;
    result->makespan = run->now;
    for (size_t s = 0; s < run->strand_count; s++)
        add_counts(result, &run->strands[s].result);
    return true;
}

bool sim_run(struct arena *arena, const struct trace *trace, const struct sim_options *options, struct sim_result *result,
             struct error *error)
{
    struct fleet_run *run = arena_alloc(arena, sizeof *run);
    open_strands(arena, trace, options, run);
    return run_begin(arena, trace, options, result, run, error) && (!run->strand_count || run_apart(run, error)) &&
           run_end(run, error);
}
