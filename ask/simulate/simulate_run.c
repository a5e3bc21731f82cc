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

/* An open loop's, by its queue once the servers have filled: behind the first quarter. */
static const char *verdict_of(const struct simulated *outcome)
{
    const size_t count = outcome->trace.count;
    const char *trend = steady_verdict(&outcome->result, count / 4, count);
    return outcome->options.users ? NULL : outcome->overloaded ? "overloaded" : trend ? trend : "stable";
}

static void score(struct arena *arena, const struct simulate *simulate, struct simulated *outcome)
{
    const struct trace *trace = &outcome->trace;
    const struct sim_result *result = &outcome->result;
    const struct counted *counted = &outcome->counted;
    double first = INFINITY, last = 0;
    outcome->priority_classes = arena_array(arena, trace->priority_classes + 1,
                                            sizeof *outcome->priority_classes);
    for (size_t i = counted->first; i < counted->end; i++) {
        score_request(&outcome->all, simulate, outcome, i);
        if (trace->priority_classes)
            score_request(&outcome->priority_classes[trace->priority_class[i]], simulate, outcome, i);
        first = fmin(first, result->arrival[i]);
        last = fmax(last, result->arrival[i]);
    }
    const size_t count = counted->end - counted->first;
    outcome->rate = last > first ? (double)(count - 1) / (last - first) : 0;
    if (count < trace->count)
        outcome->counted.time_share = (double)count / outcome->rate / result->makespan;
    const double seconds = result->makespan * counted->time_share;
    outcome->goodput = (double)outcome->all.met / seconds;
    outcome->output_rate = (double)outcome->all.outputs / seconds;
    outcome->input_rate = (double)outcome->all.inputs / seconds;
    outcome->overloaded = is_overloaded(outcome);
    outcome->verdict = verdict_of(outcome);
}

/* The trace of a variation: arrivals are its own, the rest is shared. Of a description the seed is
 * raised, or written behind its other words. */
static bool vary_trace(struct arena *arena, const struct simulate *simulate,
                       const struct variation *variation, struct trace *trace, struct error *error)
{
    const double scale = simulate->scale * variation->scale;
    *trace = simulate->trace;
    if (simulate->drawn && variation->seed) {
        const char *words = simulate->drawn, *seed = strstr(words, ",seed=");
        double number = 1;
        seed = seed ? seed : strstr(words, ":seed=");
        const char *digits = seed ? seed + strlen(",seed=") : words + strlen(words);
        const size_t size = seed ? strspn(digits, "0123456789") : 0;
        if (seed)
            text_number((struct text){ digits, size }, &number);
        words = arena_print(arena, "%.*s%s%.0f%s", (int)(digits - words), words,
                            seed ? "" : strchr(words, ':') ? ",seed=" : ":seed=",
                            number + (double)variation->seed, digits + size);
        if (!generate_trace(arena, words, trace, error))
            return false;
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
    if (watch)
        sim->watch = *watch;
    double turn;
    bool ran = vary_trace(arena, simulate, variation, &outcome->trace, error) &&
               stagger_users(simulate, outcome, &turn, error) &&
               sim_run(arena, &outcome->trace, sim, &outcome->result, error);
    outcome->counted = (struct counted){ .end = outcome->trace.count, .time_share = 1 };
    if (ran)
        count_requests(simulate, turn, outcome);
    if (ran)
        score(arena, simulate, outcome);
    return ran;
}

bool simulate_steady(struct arena *arena, const struct simulate *simulate, const struct steady_figure *figures,
                     size_t count, struct steady *steady, struct error *error)
{
    const struct variation as_asked = { .scale = 1 };
    struct sim_options sim = simulate->options;
    struct trace trace;
    sim.server = simulate_own(arena, &simulate->options.server, 0);
    sim.split.server = simulate_own(arena, &simulate->options.split.server, 0);
    return vary_trace(arena, simulate, &as_asked, &trace, error) &&
           sim_steady(arena, &trace, &sim, figures, count, steady, error);
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
