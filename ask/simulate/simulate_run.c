/* A run: the requests as they were read or drawn anew, sim_run, and the score of each request against the limits.
 *
 * With users (a closed loop) they start spread over one turn, whose length Little's law gives from
 * a short run, so that the run starts near its steady state; the start and the end are left out of
 * the statistics. The verdict of an open loop says whether its queue grows (sim/steady.h); a closed loop has none. */
#include "ask/simulate/trials.h"
#include "sim/steady.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void score_request(struct class_score *priority_class, const struct simulate *simulate,
                          const struct simulated *outcome, size_t i)
{
    const struct sim_result *result = &outcome->result;
    const uint32_t output = outcome->trace.output[i];
    double first = result->first_token[i], last = result->completed[i];
    priority_class->requests++;
    if (!(last >= 0))
        return;
    double tpot = output > 1 ? (last - first) / (output - 1) : 0;
    double asked = result->arrival[i] - sim_before(&outcome->options, outcome->trace.prompt[i]);
    priority_class->answered++;
    priority_class->outputs += output;
    priority_class->inputs += outcome->trace.prompt[i];
    const bool soon = first - asked <= simulate->ttft_most, fast = tpot <= simulate->tpot_most;
    priority_class->met += soon && fast;
    priority_class->ttft_met += soon;
    priority_class->tpot_met += fast;
    sketch_add(&priority_class->times[SIMULATE_TTFT], first - asked);
    sketch_add(&priority_class->times[SIMULATE_E2E], last - asked);
    if (output > 1)
        sketch_add(&priority_class->times[SIMULATE_TPOT], tpot);
}

/* More of them wait when the last one comes than the servers run, or a twentieth of all: too many came. */
static bool is_overloaded(const struct simulated *outcome)
{
    const struct sim_options *sim = &outcome->options;
    const double too_many = 0.05;
    size_t servers = sim->scaling.most ? sim->scaling.most : sim->replicas + sim->split.replicas;
    size_t ranks = sim->server.ranks ? sim->server.ranks : 1;
    return outcome->result.waiting_at_last > fmin((double)(sim->server.max_num_seqs * servers * ranks),
                                                  fmax(too_many * (double)outcome->trace.count, 1));
}

/* What the requests of a run come to, in their order, all at once or some at a time. */
struct scoring {
    const struct simulate *simulate;
    struct simulated *outcome;
    struct steady_queue queue;              /* once the servers have filled: behind the first quarter */
    double first, last;                     /* when the first and the last arrived, s */
};

static struct scoring scoring_open(struct arena *arena, const struct simulate *simulate, struct simulated *outcome)
{
    const size_t count = outcome->trace.count;
    outcome->priority_classes = arena_array(arena, outcome->trace.priority_classes + 1, sizeof *outcome->priority_classes);
    return (struct scoring){ simulate, outcome, steady_queue_of(count / 4, count), INFINITY, 0 };
}

static void score_some(void *context, size_t first, size_t end)
{
    struct scoring *scoring = context;
    struct simulated *outcome = scoring->outcome;
    const struct trace *trace = &outcome->trace;
    for (size_t i = first; i < end; i++) {
        score_request(&outcome->all, scoring->simulate, outcome, i);
        if (trace->priority_classes)
            score_request(&outcome->priority_classes[trace->priority_class[i]], scoring->simulate, outcome, i);
        scoring->first = fmin(scoring->first, outcome->result.arrival[i]);
        scoring->last = fmax(scoring->last, outcome->result.arrival[i]);
    }
    steady_queue_add(&scoring->queue, &outcome->result, first, end);
}

static void scoring_close(const struct scoring *scoring)
{
    struct simulated *outcome = scoring->outcome;
    const double first = scoring->first, last = scoring->last;
    const struct counted *counted = &outcome->counted;
    const size_t count = counted->end - counted->first;
    outcome->rate = last > first ? (double)(count - 1) / (last - first) : 0;
    if (count < outcome->trace.count)
        outcome->counted.time_share = (double)count / outcome->rate / outcome->result.makespan;
    const double seconds = outcome->result.makespan * counted->time_share;
    outcome->goodput = (double)outcome->all.met / seconds;
    outcome->output_rate = (double)outcome->all.outputs / seconds;
    outcome->input_rate = (double)outcome->all.inputs / seconds;
    outcome->overloaded = is_overloaded(outcome);
    const char *trend = steady_queue_verdict(&scoring->queue);
    outcome->verdict = outcome->options.users ? NULL : outcome->overloaded ? "overloaded" : trend ? trend : "stable";
}

/* The trace of a variation: arrivals are its own, the rest is shared. A description is drawn anew,
 * with its seed raised. */
static bool vary_trace(struct arena *arena, const struct simulate *simulate,
                       const struct variation *variation, struct trace *trace, struct error *error)
{
    const double scale = simulate->scale * variation->scale;
    *trace = simulate->trace;
    if (simulate->drawn && variation->seed) {
        struct generate_change change = simulate->change;
        change.seed = variation->seed;
        if (!generate_changed(arena, simulate->drawn, &change, trace, error))
            return false;
    }
    if (trace->source) {
        generate_again(arena, trace, scale, false, trace);
        return true;
    }
    if (trace->priority_class != simulate->trace.priority_class && trace->priority_classes)
        simulate_order_classes(trace, &simulate->trace);
    if (scale == 1)
        return true;
    double *arrival = arena_array(arena, trace->count, sizeof *arrival);
    for (size_t i = 0; i < trace->count; i++)
        arrival[i] = trace->arrival[i] / scale;
    trace->arrival = arrival;
    if (!trace->wait)
        return true;
    double *wait = arena_array(arena, trace->count, sizeof *wait);
    for (size_t i = 0; i < trace->count; i++)
        wait[i] = trace->wait[i] / scale;
    trace->wait = wait;
    return true;
}

static size_t either(size_t varied, size_t asked)
{
    return varied ? varied : asked;
}

/* ---- users ---------------------------------------------------------------------------------- */

/* Let users start spread over the time of one turn. *turn 0: there are no users, or they all come at once. */
static bool stagger_users(const struct simulate *simulate, struct simulated *outcome,
                          double *turn, struct error *error)
{
    *turn = 0;
    if (!outcome->options.users || simulate->warm_up == 0)
        return true;
    if (!sim_round(&outcome->trace, &outcome->options, turn, error))
        return false;
    outcome->options.stagger = *turn;
    return true;
}

/* Choose which requests count: at least half of them in a short run. */
static void count_requests(const struct simulate *simulate, double turn,
                           struct simulated *outcome)
{
    const double *arrival = outcome->result.arrival;
    const size_t count = outcome->trace.count;
    const double warm_up = isnan(simulate->warm_up) ? 2 * turn : simulate->warm_up;
    struct counted *counted = &outcome->counted;
    if (!(turn > 0))
        return;
    while (counted->first < count / 2 && arrival[counted->first] < warm_up)
        counted->first++;
    while (counted->end > counted->first + count / 4 + 1 &&
           arrival[counted->end - 1] > arrival[count - 1] - turn)
        counted->end--;
    counted->warm_up = arrival[counted->first];
}

static struct sim_server own_server(struct arena *arena, const struct sim_server *server)
{
    return simulate_own(arena, server, 0);
}

bool simulate_run(struct arena *arena, const struct simulate *simulate,
                  const struct variation *variation, const struct sim_watch *watch,
                  struct simulated *outcome, struct error *error)
{
    *outcome = (struct simulated){ .options = simulate->options };
    struct sim_options *sim = &outcome->options;
    sim->server = simulate_own(arena, &simulate->options.server, variation->band);
    sim->split.server = simulate_own(arena, &simulate->options.split.server, variation->band);
    sim->server.chunk = either(variation->chunk, sim->server.chunk);
    sim->server.max_num_seqs = either(variation->max_num_seqs, sim->server.max_num_seqs);
    sim->server.blocks = either(variation->blocks, sim->server.blocks);
    sim->split.server.chunk = either(variation->chunk, sim->split.server.chunk);
    sim->split.server.max_num_seqs = either(variation->max_num_seqs,
                                              sim->split.server.max_num_seqs);
    sim->split.server.blocks = either(variation->blocks, sim->split.server.blocks);
    sim->replicas = either(variation->replicas, sim->replicas);
    sim->users = either(variation->users, simulate->users_each ? simulate->users_each * sim->replicas : sim->users);
    sim->waiting_most = either(variation->waiting_most, sim->waiting_most);
    sim->seed += variation->seed;
    sim->own = own_server;
    if (watch)
        sim->watch = *watch;
    double turn;
    if (!vary_trace(arena, simulate, variation, &outcome->trace, error) ||
        !stagger_users(simulate, outcome, &turn, error))
        return false;
    struct scoring scoring = scoring_open(arena, simulate, outcome);
    if (outcome->trace.source)
        sim->reader = (struct sim_reader){ &scoring, score_some };
    if (!sim_run(arena, &outcome->trace, sim, &outcome->result, error))
        return false;
    outcome->counted = (struct counted){ .end = outcome->trace.count, .time_share = 1 };
    count_requests(simulate, turn, outcome);
    if (!outcome->trace.source)
        score_some(&scoring, outcome->counted.first, outcome->counted.end);
    scoring_close(&scoring);
    return true;
}

bool simulate_steady(struct arena *arena, const struct simulate *simulate, const struct steady_figure *figures,
                     size_t count, struct steady *steady, struct error *error)
{
    const struct variation as_asked = { .scale = 1 };
    struct sim_options sim = simulate->options;
    struct trace trace;
    sim.server = simulate_own(arena, &simulate->options.server, 0);
    sim.split.server = simulate_own(arena, &simulate->options.split.server, 0);
    if (!vary_trace(arena, simulate, &as_asked, &trace, error))
        return false;
    if (trace.source)                       /* it looks at requests again and again */
        generate_again(arena, &trace, simulate->scale, true, &trace);
    return sim_steady(arena, &trace, &sim, figures, count, steady, error);
}

bool simulate_has_limits(const struct simulate *simulate)
{
    return isfinite(simulate->ttft_most) || isfinite(simulate->tpot_most);
}

/* A limit of the mean, which requests without an answer do not have, or of the share of all requests. */
static bool limit_met(const struct class_score *all, enum simulate_time time, double most, double share, uint64_t met)
{
    return isinf(most) || (share > 0 ? (double)met >= share * (double)all->requests
                                     : all->answered == all->requests && sketch_mean(&all->times[time]) <= most);
}

bool simulate_meets(const struct simulate *simulate, const struct simulated *outcome)
{
    const struct class_score *all = &outcome->all;
    const bool limits = simulate_has_limits(simulate), loop = outcome->options.users > 0;
    if (loop ? outcome->overloaded && !limits : strcmp(outcome->verdict, "stable") != 0)
        return false;                               /* the queue grows: a longer trace would miss any limit */
    if (!limits)
        return all->answered == all->requests;
    if (simulate->met > 0)
        return (double)all->met >= simulate->met * (double)all->requests;
    return limit_met(all, SIMULATE_TTFT, simulate->ttft_most, simulate->ttft_share, all->ttft_met) &&
           limit_met(all, SIMULATE_TPOT, simulate->tpot_most, simulate->tpot_share, all->tpot_met);
}

/* ---- what follows a run as it goes on, set by a program that listens ---------------------------- */

bool (*simulate_attach)(struct simulate *simulate, const struct simulated *outcome, struct sim_watch *watch,
                        struct error *error);

bool (*simulate_detach)(struct simulate *simulate, struct error *error);
