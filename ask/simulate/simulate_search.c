/* Several runs of one simulation: sweeps, repetitions with other seeds, the highest sustainable
 * rate, the fewest GPUs.
 *
 * A search brackets a limit by doubling or halving from a start value and then narrows it with
 * SECTIONS values at a time. It assumes that meeting the limits is monotonic in the searched
 * value, and stops at neighbouring counts, or at rates 1 % apart. Repetitions change the seeds of
 * arrivals and failures; their interval is Student's t over the runs. Each run is simulate_run
 * with one thing varied, so that a single run with the same words gives the same numbers. */
#include "ask/simulate/trials.h"

#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a sweep -------------------------------------------------------------------------------- */

static const char *const sweep_names[] = { "time-scale", "replicas", "chunk", "max-seqs", "blocks",
                                           "users", "max-waiting" };
enum { SWEEP_TIME_SCALE, SWEEP_REPLICAS, SWEEP_USERS = 5,
       SWEEPS = sizeof sweep_names / sizeof *sweep_names };

static void vary(struct variation *variation, int what, double value)
{
    size_t count = (size_t)value;
    *variation = (struct variation){ .scale = 1 };
    switch (what) {
    case 0: variation->scale = value; break;
    case 1: variation->replicas = count; break;
    case 2: variation->chunk = count; break;
    case 3: variation->max_num_seqs = count; break;
    case 4: variation->blocks = count; break;
    case 5: variation->users = count; break;
    default: variation->waiting_most = count; break;
    }
}

static bool read_sweep(const char *text, int *what, double *low, double *high,
                       struct error *error)
{
    const char *equals = strchr(text, '='), *dots = equals ? strstr(equals, "..") : NULL;
    for (*what = 0; equals && *what < SWEEPS; ++*what)
        if (strlen(sweep_names[*what]) == (size_t)(equals - text) &&
            !memcmp(sweep_names[*what], text, (size_t)(equals - text)))
            break;
    if (!equals || *what == SWEEPS) {
        error_set(error, "--sweep: unknown quantity '%.60s'", text);
        return error_hint(error, "time-scale, replicas, chunk, max-seqs, blocks, users, "
                                 "max-waiting: --sweep replicas=1..8");
    }
    if (!dots || !text_number((struct text){ equals + 1, (size_t)(dots - equals - 1) }, low) ||
        !text_number(text_of(dots + 2), high) || !(*low > 0) || !(*high >= *low) ||
        (*what && !(*low >= 1 && *high <= 1e9))) {
        error_set(error, "--sweep: invalid range '%.60s'", equals + 1);
        return error_hint(error, *what ? "counts: 1..8" : "above 0: 0.5..4");
    }
    return true;
}

/* Even steps, of the logarithm where the range is wide; counts are whole and differ. */
static size_t sweep_values(double low, double high, size_t points, bool counts, double *values)
{
    const double wide = 10;
    size_t count = 0;
    for (size_t i = 0; i < points; i++) {
        double share = points > 1 ? (double)i / (double)(points - 1) : 0;
        double value = high > wide * low ? low * pow(high / low, share) : low + (high - low) * share;
        value = counts ? round(value) : value;
        if (!count || value > values[count - 1])
            values[count++] = value;
    }
    return count;
}

static bool sweep(const struct simulate *simulate, struct answer *answer, struct error *error)
{
    int what;
    double low, high;
    const size_t points = command_count(simulate->command, "points");
    if (!read_sweep(command_text(simulate->command, "sweep"), &what, &low, &high, error))
        return false;
    double *values = arena_array(simulate->arena, points, sizeof *values);
    size_t count = sweep_values(low, high, points, what > 0, values);
    struct trial *runs = arena_array(simulate->arena, count, sizeof *runs);
    for (size_t i = 0; i < count; i++)
        vary(&runs[i].variation, what, values[i]);
    if (!trials_run(simulate, runs, count, error))
        return false;
    trials_answer(simulate, sweep_names[what], values, runs, count, answer);
    return true;
}

/* ---- repeats -------------------------------------------------------------------------------- */

/* 97.5 % of Student's t, by degrees of freedom; beyond: Cornish-Fisher's first terms. */
static double student(size_t freedom)
{
    static const double table[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262 };
    const double normal = 1.959964, n = (double)freedom;
    if (freedom <= sizeof table / sizeof *table)
        return table[freedom - 1];
    return normal + (pow(normal, 3) + normal) / (4 * n) +
           (5 * pow(normal, 5) + 16 * pow(normal, 3) + 3 * normal) / (96 * n * n);
}

static bool repeats_differ(const struct simulate *simulate, size_t count, struct error *error)
{
    const struct sim_options *sim = &simulate->options;
    if (count > 1 && (simulate->drawn || sim->fails_every > 0 || sim->server.draft))
        return true;
    if (count > 1)
        error_set(error, "--repeat: nothing is random, every run would be the same");
    else
        error_set(error, "--repeat: one run has no interval");
    return error_hint(error, count > 1
                      ? "a trace by description (poisson:...), --fails-every or --draft"
                      : "2 or more");
}

static bool repeat(const struct simulate *simulate, struct answer *answer, struct error *error)
{
    struct arena *arena = simulate->arena;
    struct table table = { .arena = arena, .columns = 3, .left = "lrr" };
    const size_t count = command_count(simulate->command, "repeat");
    if (!repeats_differ(simulate, count, error))
        return false;
    struct trial *runs = arena_array(arena, count, sizeof *runs);
    for (size_t i = 0; i < count; i++)
        runs[i].variation = (struct variation){ .scale = 1, .seed = i };
    if (!trials_run(simulate, runs, count, error))
        return false;
    doc_add_number(arena, answer->doc, "repeats", (double)count);
    buffer_print(&answer->csv, "name,mean,half_interval\n");
    table_cell(&table, "%zu runs", count);
    table_cell(&table, "mean");
    table_cell(&table, "95 %% interval");
    for (int j = 0; j < NUMBER_COUNT; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < count; i++)
            mean += runs[i].numbers[j] / (double)count;
        for (size_t i = 0; i < count; i++)
            square += (runs[i].numbers[j] - mean) * (runs[i].numbers[j] - mean);
        double half = student(count - 1) * sqrt(square / (double)(count - 1) / (double)count);
        struct doc *one = doc_add(arena, answer->doc, number_names[j], DOC_OBJECT);
        doc_add_number(arena, one, "mean", mean);
        doc_add_number(arena, one, "half_interval", half);
        buffer_print(&answer->csv, "%s,%.9g,%.9g\n", number_names[j], mean, half);
        table_cell(&table, "%s", number_names[j]);
        table_cell(&table, "%s", trials_number(arena, (enum number)j, mean));
        table_cell(&table, "+- %s", trials_number(arena, (enum number)j, half));
    }
    table_print(&table, &answer->text, "  ");
    return true;
}

/* ---- searches ------------------------------------------------------------------------------- */

enum { TRIES = 256, SECTIONS = 3 };

struct search {
    const struct simulate *simulate;
    int what;                       /* of sweep_names */
    bool more_is_worse;
    double values[TRIES];           /* of all runs, in the order they were made */
    struct trial runs[TRIES];
    size_t count;
};

static bool try_values(struct search *search, const double *values, size_t count,
                       struct error *error)
{
    struct trial *runs = &search->runs[search->count];
    if (search->count + count > TRIES) {
        error_set(error, "%d runs did not find the limit", TRIES);
        return error_hint(error, "other --ttft and --tpot, or another --time-scale");
    }
    for (size_t i = 0; i < count; i++) {
        search->values[search->count + i] = values[i];
        vary(&runs[i].variation, search->what, values[i]);
    }
    search->count += count;
    return trials_run(search->simulate, runs, count, error);
}

/* Is the run on the side of the limit from which the search approaches it? */
static bool good(const struct search *search, size_t run)
{
    return search->runs[run].meets;
}

/* Between a value that meets the limits and one that does not, by three at a time. */
static bool narrow(struct search *search, double *meets, double *misses, struct error *error)
{
    const bool counts = search->what > 0;
    const double close = 0.01;
    for (;;) {
        double gap = fabs(*misses - *meets), values[SECTIONS];
        size_t count = 0;
        if (counts ? gap <= 1 : gap <= close * fmin(*misses, *meets))
            return true;
        for (int i = 1; i <= SECTIONS; i++) {
            double value = *meets + (*misses - *meets) * i / (SECTIONS + 1);
            value = counts ? round(value) : value;
            if (value != *meets && value != *misses && (!count || value != values[count - 1]))
                values[count++] = value;
        }
        size_t first = search->count;
        if (!try_values(search, values, count, error))
            return false;
        for (size_t i = 0; i < count; i++) {
            if (!good(search, first + i)) {
                *misses = values[i];
                break;
            }
            *meets = values[i];
        }
    }
}

/* Is the last run the same as the one before, so that a further step will not help? */
static bool changed_nothing(const struct search *search)
{
    const struct trial *last = &search->runs[search->count - 1];
    const size_t times = (NUMBER_e2e_p99 - NUMBER_ttft_mean + 1) * sizeof *last->numbers;
    return search->what == SWEEP_REPLICAS && search->count > 1 &&
           !memcmp(&last[0].numbers[NUMBER_ttft_mean], &last[-1].numbers[NUMBER_ttft_mean], times);
}

/* From `start` on, twice or half as much each time, until both sides are known. `floor`: it may
 * not go lower; *misses NAN: everything down to there meets. */
static bool bracket(struct search *search, double start, double lowest, double highest,
                    double *meets, double *misses, bool *found, struct error *error)
{
    double value = start;
    *meets = *misses = NAN;
    *found = false;
    while (isnan(*meets) || isnan(*misses)) {
        if (!try_values(search, &value, 1, error))
            return false;
        bool met = good(search, search->count - 1);
        *(met ? meets : misses) = value;
        bool up = met == search->more_is_worse;
        if ((up && value >= highest) || (!up && value <= lowest) || changed_nothing(search)) {
            *found = met;
            return true;
        }
        value = up ? fmin(2 * value, highest) : fmax(value / 2, lowest);
        value = search->what ? fmax(floor(value), 1) : value;
    }
    *found = true;
    return narrow(search, meets, misses, error);
}

static int by_value(const void *a, const void *b)
{
    double x = **(const double *const *)a, y = **(const double *const *)b;
    return (x > y) - (x < y);
}

static void answer_search(struct search *search, struct answer *answer)
{
    struct arena *arena = search->simulate->arena;
    const double **order = arena_array(arena, search->count, sizeof *order);
    double *values = arena_array(arena, search->count, sizeof *values);
    struct trial *runs = arena_array(arena, search->count, sizeof *runs);
    for (size_t i = 0; i < search->count; i++)
        order[i] = &search->values[i];
    qsort(order, search->count, sizeof *order, by_value);
    for (size_t i = 0; i < search->count; i++) {
        values[i] = *order[i];
        runs[i] = search->runs[order[i] - search->values];
    }
    trials_answer(search->simulate, sweep_names[search->what], values, runs, search->count, answer);
}

static const struct trial *run_at(const struct search *search, double value)
{
    size_t i = 0;
    while (search->values[i] != value)
        i++;
    return &search->runs[i];
}

static bool find_saturation(const struct simulate *simulate, struct answer *answer,
                            struct error *error)
{
    enum { MOST = 1 << 20 };
    struct search *search = arena_alloc(simulate->arena, sizeof *search);
    const bool users = simulate->options.users > 0;
    double meets, misses;
    bool found;
    *search = (struct search){ .simulate = simulate, .more_is_worse = true,
                               .what = users ? SWEEP_USERS : SWEEP_TIME_SCALE };
    if (!bracket(search, users ? (double)simulate->options.users : 1, users ? 1 : 1.0 / MOST,
                 MOST, &meets, &misses, &found, error))
        return false;
    if (found && isnan(misses)) {
        buffer_print(&answer->text, "never saturates: these %zu requests meet the limits even as one "
                     "burst; a longer trace may not\n\n", simulate->trace.count);
        answer->status = 1;
    } else if (!found) {
        buffer_print(&answer->text, "no rate meets the limits, not even one %.3g times lower\n\n",
                     1 / search->values[search->count - 1]);
        answer->status = 1;
    } else if (users) {
        doc_add_number(simulate->arena, answer->doc, "users", meets);
        buffer_print(&answer->text, "%.0f users: as many as meet the limits\n\n", meets);
    } else {
        const double rate = run_at(search, meets)->numbers[NUMBER_requests_per_s];
        doc_add_number(simulate->arena, answer->doc, "time_scale", meets * simulate->scale);
        doc_add_number(simulate->arena, answer->doc, "requests_per_s", rate);
        buffer_print(&answer->text, "saturates at %.4g requests/s, %.4g times the trace: the highest "
                     "rate tried that meets the limits, within 1 %%\n\n", rate,
                     meets * simulate->scale);
    }
    answer_search(search, answer);
    return true;
}

static bool min_gpus(const struct simulate *simulate, struct answer *answer,
                     struct error *error)
{
    enum { MOST = 4096 };
    struct search *search = arena_alloc(simulate->arena, sizeof *search);
    double meets, misses, chips = 1, beside = 0;
    bool found;
    *search = (struct search){ .simulate = simulate, .what = SWEEP_REPLICAS };
    if (!bracket(search, (double)simulate->options.replicas, 1, MOST, &meets, &misses, &found,
                 error))
        return false;
    if (!found) {
        buffer_print(&answer->text, "not even %.0f replicas meet the limits: %s\n\n",
                     search->values[search->count - 1], simulate->options.split.replicas
                     ? "the prefill pool is too small, or a single request takes longer"
                     : "a single request takes longer");
        answer->status = 1;
    } else {
        struct scenario scenario = simulate->scenario;
        const size_t prompts = simulate->options.split.replicas;
        if (simulate->predicted && !value_of(&scenario, NAME_chips, &chips, error))
            return false;
        scenario = simulate->prompts;
        if (prompts && !value_of(&scenario, NAME_chips, &beside, error))
            return false;
        const double gpus = meets * chips + (double)prompts * beside;
        doc_add_number(simulate->arena, answer->doc, "servers", meets);
        doc_add_number(simulate->arena, answer->doc, "gpus", gpus);
        buffer_print(&answer->text, "%.0f replica%s", meets, meets == 1 ? "" : "s");
        if (prompts)
            buffer_print(&answer->text, " with %zu for prefill", prompts);
        buffer_print(&answer->text, ", %.0f GPU%s: the fewest that meet the limits%s\n\n", gpus,
                     gpus == 1 ? "" : "s", isnan(misses) ? "" : "; one fewer does not");
    }
    answer_search(search, answer);
    return true;
}

bool simulate_search(const struct simulate *simulate, struct answer *answer, bool *asked,
                     struct error *error)
{
    static const struct {
        const char *option;
        bool (*search)(const struct simulate *, struct answer *, struct error *);
    } searches[] = { { "sweep", sweep }, { "repeat", repeat }, { "find-saturation", find_saturation },
                     { "min-gpus", min_gpus } };
    static const char *const files[] = { "requests", "series", "trace", "plot" };
    int chosen = -1;
    for (int i = 0; i < 4; i++) {
        if (!command_given(simulate->command, searches[i].option))
            continue;
        if (chosen >= 0) {
            error_set(error, "--%s and --%s exclude each other", searches[chosen].option,
                      searches[i].option);
            return error_hint(error, "one of them");
        }
        chosen = i;
    }
    *asked = chosen >= 0;
    for (int i = 0; *asked && i < 4; i++)
        if (command_given(simulate->command, files[i])) {
            error_set(error, "--%s needs a single run, --%s makes many", files[i],
                      searches[chosen].option);
            return error_hint(error, "one of them");
        }
    return !*asked || searches[chosen].search(simulate, answer, error);
}
