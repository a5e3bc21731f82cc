/* The steady state of a run, by batch means.
 *
 * 1. A request alone: the mean E2E of a few of the trace's requests, one after the other.
 * 2. Some requests run. Their E2E gives tau, and with it the warm-up and the length of batches.
 * 3. Where those need more requests, the run goes on, to twice as many at most; where it has enough of them, and some
 *    half-width is too wide, or the queue seems to grow, it goes on to twice as many counted ones.
 *
 * The run is not begun again: it stands still between two moments while its figures are computed. Requests arrive
 * until the last counted one is answered, so that the load is the same for all of them. */
#include "sim/steady.h"
#include "sim/fleet.h"
#include "base/quantile.h"

#include <assert.h>
#include <math.h>

enum { BATCHES = STEADY_BATCHES, BATCH_LEAST = 200, FIRST_RUN = 1000, ALONE = 64 };

static const double narrow[STEADY_TIMES] = { 0.05, 0.02 };      /* half-widths of TTFT and TPOT, of the value */

/* ---- pilots ----------------------------------------------------------------------------------- */

/* Requests of the trace by so many users, the first `count`: the mean time from one question of a user to the next,
 * once each has asked one. */
static bool round_of(const struct trace *trace, const struct sim_options *options, size_t count, double stagger,
                     double *round, struct error *error)
{
    struct arena arena = { 0 };
    struct trace some = *trace;
    struct sim_options pilot = *options;
    struct sim_result *result = arena_alloc(&arena, sizeof *result);
    const size_t users = options->users;
    pilot.watch = (struct sim_watch){ 0 };
    pilot.stagger = stagger;
    some.count = count < trace->count ? count : trace->count;
    const bool ran = sim_run(&arena, &some, &pilot, result, error);
    const size_t last = some.count - 1;
    if (ran && some.count > 2 * users && result->arrival[last] > result->arrival[users])
        *round = (result->arrival[last] - result->arrival[users]) / (double)(last - users) * (double)users;
    else if (ran && some.count == 1)
        *round = result->makespan + pilot.think;
    arena_free(&arena);
    return ran;
}

bool sim_round(const struct trace *trace, const struct sim_options *options, double *round, struct error *error)
{
    enum { TURNS = 3 };
    *round = 0;
    return round_of(trace, options, 1, 0, round, error) &&
           (trace->count <= 2 * options->users ||
            round_of(trace, options, TURNS * options->users, *round, round, error));
}

/* ---- figures of some requests ------------------------------------------------------------------- */

struct steady_run {
    const struct trace *trace;
    const struct steady_figure *figures;
    size_t count;
    const struct sim_options *options;
    double *sample;                 /* [requests] scratch */
    struct steady *steady;
};

static double figure_of(const struct steady_run *run, const struct steady_figure *figure, size_t first, size_t end)
{
    const struct sim_result *result = &run->steady->result;
    size_t count = 0;
    double sum = 0;
    for (size_t i = first; i < end; i++) {
        const uint32_t output = run->trace->output[i];
        if (figure->time == STEADY_TPOT && output < 2)
            continue;
        const double size = figure->time == STEADY_TTFT
                            ? result->first_token[i] - result->arrival[i] +
                              sim_before(run->options, run->trace->prompt[i])
                            : (result->completed[i] - result->first_token[i]) / (output - 1);
        run->sample[count++] = size;
        sum += size;
    }
    if (!count)
        return 0;
    return figure->share > 0 ? sizes_quantile(run->sample, count, figure->share) : sum / (double)count;
}

static double mean_e2e(const struct sim_result *result, size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += result->completed[i] - result->arrival[i];
    return sum / (double)(end - first);
}

static double rate_between(double first, double last, size_t count)
{
    return last - first > 0 ? (double)(count - 1) / (last - first) : INFINITY;
}

static double rate_of(const struct sim_result *result, size_t first, size_t end)
{
    return rate_between(result->arrival[first], result->arrival[end - 1], end - first);
}

/* Half of the 95 % interval of the mean of `count` values. */
static double half_of(const double *values, size_t count)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        square += (values[i] - mean) * (values[i] - mean);
    return student(count - 1) * sqrt(square / (double)(count - 1) / (double)count);
}

/* How much wider the interval is than that of independent batches, where each lasts `length` < 2 time constants: means
 * of adjacent parts of a process that forgets as exp(-t) correlate by r, and those further apart by less in proportion. */
static double wider_by(double length)
{
    const double lost = 1 - exp(-length), r = lost * lost / (2 * (length - lost));
    return length < 2 ? sqrt((1 + r) / (1 - r)) : 1;
}

/* All figures of the counted requests; true: each is narrow enough, or one is beyond its bound. */
static bool measure(struct steady_run *run)
{
    struct steady *steady = run->steady;
    const size_t size = (steady->end - steady->first) / BATCHES;
    const double wider = wider_by((double)size / rate_of(&steady->result, steady->first, steady->end) / steady->tau);
    bool enough = true, beyond = false;
    for (size_t k = 0; k < run->count; k++) {
        double each[BATCHES];
        for (size_t b = 0; b < BATCHES; b++)
            each[b] = figure_of(run, &run->figures[k], steady->first + b * size, steady->first + (b + 1) * size);
        steady->at[k] = (struct steady_value){ figure_of(run, &run->figures[k], steady->first, steady->end),
                                               wider * half_of(each, BATCHES) };
        enough = enough && (run->figures[k].idle || steady->at[k].half <= narrow[run->figures[k].time] * steady->at[k].value);
        beyond = beyond || (run->figures[k].bound > 0 && steady->at[k].value - steady->at[k].half > run->figures[k].bound);
    }
    return enough || beyond;
}

/* ---- the queue ---------------------------------------------------------------------------------- */

struct steady_queue steady_queue_of(size_t first, size_t end)
{
    return (struct steady_queue){ .first = first, .end = end, .size = end > first ? (end - first) / BATCHES : 0 };
}

/* Those that were refused or lost wait no more. */
void steady_queue_add(struct steady_queue *queue, const struct sim_result *result, size_t first, size_t end)
{
    first = first > queue->first ? first : queue->first;
    end = end < queue->end ? end : queue->end;
    for (size_t i = first; i < end && queue->size; i++) {
        const size_t batch = (i - queue->first) / queue->size;
        queue->came = i == queue->first ? result->arrival[i] : queue->came;
        queue->last = result->arrival[i];
        if (batch < BATCHES)
            queue->waits[batch] += result->first_token[i] >= 0 ? result->first_token[i] - result->arrival[i] : 0;
    }
}

/* Requests that wait for their first token, in each of some spans of time, by Little's law; the line through them.
 * It rises if its slope is above its 95 % interval and it rises by more than half of its mean; it is overloaded if
 * more than a twentieth of all that arrive stay in the queue. */
const char *steady_queue_verdict(const struct steady_queue *queue)
{
    const double too_many = 0.05, much = 0.5;
    const size_t size = queue->size;
    double waiting[BATCHES], mean = 0, slope = 0, rest = 0, squares = 0;
    const double rate = rate_between(queue->came, queue->last, queue->end - queue->first);
    if (size < 2 || !isfinite(rate))
        return NULL;
    for (size_t b = 0; b < BATCHES; b++) {
        waiting[b] = queue->waits[b] / (double)size * rate;
        mean += waiting[b] / BATCHES;
    }
    for (size_t b = 0; b < BATCHES; b++) {
        const double x = (double)b - (BATCHES - 1) / 2.0;
        slope += x * waiting[b];
        squares += x * x;
    }
    slope /= squares;
    for (size_t b = 0; b < BATCHES; b++) {
        const double off = waiting[b] - mean - slope * ((double)b - (BATCHES - 1) / 2.0);
        rest += off * off;
    }
    const double half = student(BATCHES - 2) * sqrt(rest / (BATCHES - 2) / squares);
    if (!(slope > half) || !(slope * BATCHES > much * mean))
        return "stable";
    return slope > too_many * (double)size ? "overloaded" : "backlogged";
}

const char *steady_verdict(const struct sim_result *result, size_t first, size_t end)
{
    struct steady_queue queue = steady_queue_of(first, end);
    steady_queue_add(&queue, result, first, end);
    return steady_queue_verdict(&queue);
}

/* ---- the run ------------------------------------------------------------------------------------ */

/* The mean E2E of requests that find an empty server. */
static bool run_alone(const struct trace *trace, const struct sim_options *options, double *e2e, struct error *error)
{
    struct arena arena = { 0 };
    struct trace some = *trace;
    struct sim_options alone = *options;
    struct sim_result *result = arena_alloc(&arena, sizeof *result);
    some.count = trace->count < ALONE ? trace->count : ALONE;
    alone.users = 1;
    alone.think = alone.stagger = 0;
    alone.watch = (struct sim_watch){ 0 };
    const bool ran = sim_run(&arena, &some, &alone, result, error);
    *e2e = ran ? mean_e2e(result, 0, some.count) : 0;
    arena_free(&arena);
    return ran;
}

/* Requests that a batch has at least: of a percentile five beyond it. */
static double batch_least(const struct steady_run *run)
{
    double least = BATCH_LEAST;
    for (size_t k = 0; k < run->count; k++)
        least = run->figures[k].idle ? least : fmax(least, 5 / (1 - run->figures[k].share));
    return least;
}

/* What the requests so far say of the time constant: how many have to be left out, and how many a batch has. */
static void look(struct steady_run *run, double *warm_up, double *batch)
{
    struct steady *steady = run->steady;
    const size_t end = steady->end, from = end / 2;
    const double rate = steady->rate = rate_of(&steady->result, from, end);
    steady->e2e = mean_e2e(&steady->result, from, end);
    steady->tau = steady->e2e * fmax(steady->e2e / steady->alone, 1);
    *warm_up = ceil(rate * fmax(3 * steady->tau, 2 * steady->e2e));
    *batch = ceil(fmax(rate * 2 * steady->tau, batch_least(run)));
}

/* Let requests arrive until the first `wanted` are answered, or the last one has arrived: then fewer are. */
static bool run_to(struct fleet_run *fleet, size_t wanted, struct steady *steady, struct error *error)
{
    const size_t all = fleet->simulation.trace->count;
    for (;;) {
        while (steady->end < wanted && steady->result.completed[steady->end] >= 0)
            steady->end++;
        if (steady->end == wanted || fleet->arrived == all || !fleet->left)
            return true;
        if (!run_go_on(fleet, error))
            return false;
    }
}

/* The run was too short: nothing is counted, but a queue that grows fast enough is told. */
static void give_up(struct steady *steady, const char *why, bool open)
{
    const size_t from = steady->end / 2;
    const bool told = open && steady->end >= 2 * BATCH_LEAST;
    const char *verdict = told ? steady_verdict(&steady->result, from, steady->end) : NULL;
    const bool filled = told && steady->result.arrival[from] >= 2 * steady->e2e;
    steady->why = why;
    steady->verdict = verdict && (*verdict == 'o' || (filled && *verdict == 'b')) ? verdict : NULL;
    steady->first = steady->end;
    for (size_t k = 0; k < STEADY_FIGURES; k++)
        steady->at[k] = (struct steady_value){ NAN, NAN };
}

/* Go on until there are enough batches, and then until they are narrow. Where the trace has no room for 20 batches of
 * two time constants, shorter ones will do, which last two of them together. The second half of the trace is for loads
 * whose warm-up is that long, and for queues that seem to grow. */
static bool run_all(struct steady_run *run, struct fleet_run *fleet, struct error *error)
{
    struct steady *steady = run->steady;
    const bool open = !fleet->simulation.options->users;
    const size_t most = run->trace->count;
    size_t wanted = FIRST_RUN < most ? FIRST_RUN : most;
    for (;;) {
        double warm_up, batch;
        if (!run_to(fleet, wanted, steady, error))
            return false;
        const bool last = steady->end < wanted || wanted == most;
        if (steady->end < BATCH_LEAST)
            return give_up(steady, "fewer than 200 requests are answered before the last one arrives", open), true;
        look(run, &warm_up, &batch);
        const double all = warm_up + BATCHES * batch, some = warm_up + fmax(batch, BATCHES * batch_least(run));
        const double needed = all > (double)most ? some : all;
        if ((double)steady->end >= (last ? some : needed)) {
            steady->first = (size_t)warm_up;
            steady->verdict = open ? steady_verdict(&steady->result, steady->first, steady->end) : NULL;
            const bool grows = steady->verdict && *steady->verdict != 's';
            if (((measure(run) || steady->end >= most / 2) && !grows) || last || (grows && *steady->verdict == 'o')) {
                steady->rate = rate_of(&steady->result, steady->first, steady->end);
                steady->why = grows ? "its queue grows" : NULL;
                return true;
            }
            wanted = steady->first + 2 * (steady->end - steady->first);
        } else {
            give_up(steady, "the warm-up and its batches are longer than the trace", open);
            if (last || (steady->verdict && *steady->verdict == 'o' && steady->end >= 4 * FIRST_RUN))
                return true;
            wanted = (size_t)fmin(needed, 2 * (double)wanted);
        }
        wanted = wanted < most ? wanted : most;
    }
}

bool sim_steady(struct arena *arena, const struct trace *trace, const struct sim_options *options,
                const struct steady_figure *figures, size_t count, struct steady *steady, struct error *error)
{
    struct fleet_run *fleet = arena_alloc(arena, sizeof *fleet);
    struct sim_options own = *options;
    struct steady_run run = { trace, figures, count, &own, arena_array(arena, trace->count, sizeof(double)), steady };
    assert(count <= STEADY_FIGURES && !options->waiting_most && !(options->patience > 0));
    *steady = (struct steady){ 0 };
    if (!run_alone(trace, options, &steady->alone, error) ||
        (own.users && !sim_round(trace, options, &own.stagger, error)) ||
        !run_begin(arena, trace, &own, &steady->result, fleet, error) || !run_all(&run, fleet, error))
        return false;
    steady->came = fleet->arrived;
    steady->steady = !steady->why;
    fleet_close(fleet);
    return true;
}
