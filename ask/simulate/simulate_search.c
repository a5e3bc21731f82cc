/* Several runs of one simulation: sweeps, repetitions with other seeds, the highest sustainable
 * rate, the fewest GPUs.
 *
 * A search brackets a limit by doubling or halving from a start value and then narrows it with
 * SECTIONS values at a time. It assumes that meeting the limits is monotonic in the searched
 * value, and stops at neighbouring counts, or at rates 1 % apart. Repetitions change the seeds of
 * arrivals and failures; their interval is Student's t over the runs. Each run is simulate_run
 * with one thing varied, so that a single run with the same words gives the same numbers. */
#include "ask/simulate/trials.h"
#include "scenario/values.h"
#include "base/quantile.h"

#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a sweep -------------------------------------------------------------------------------- */

static const char *const sweep_names[] = { "time-scale", "replicas", "max-batched-tokens", "max-seqs", "blocks",
                                           "users", "max-waiting", "chunked-prefill-size", "chunk" };
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
    case 6: variation->waiting_most = count; break;
    default: variation->chunk = count; break;
    }
}

/* "NAME=LOW..HIGH" */
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
        return error_expected(error, "time-scale, replicas, max-batched-tokens, chunked-prefill-size, max-seqs, blocks, "
                                 "users, max-waiting: --sweep replicas=1..8");
    }
    if (!dots || !text_number((struct text){ equals + 1, (size_t)(dots - equals - 1) }, low) ||
        !text_number(text_of(dots + 2), high) || !(*low > 0) || !(*high >= *low) ||
        (*what && !(*low >= 1 && *high <= 1e9))) {
        error_set(error, "--sweep: invalid range '%.60s'", equals + 1);
        return error_expected(error, *what ? "counts: 1..8" : "above 0: 0.5..4");
    }
    return true;
}

/* A run at each of --points values: even steps, of the logarithm where the range is wide; counts are
 * whole and differ. */
static bool sweep(const struct simulate *simulate, struct section *section, int *status,
                  struct error *error)
{
    const double wide = 10;
    const size_t points = command_count(simulate->command, "points");
    int what;
    double low, high;
    size_t count = 0;
    (void)status;
    if (!read_sweep(command_text(simulate->command, "sweep"), &what, &low, &high, error))
        return false;
    double *values = arena_array(simulate->arena, points, sizeof *values);
    for (size_t i = 0; i < points; i++) {
        const double share = points > 1 ? (double)i / (double)(points - 1) : 0;
        double value = high > wide * low ? low * pow(high / low, share) : low + (high - low) * share;
        value = what > 0 ? round(value) : value;
        if (!count || value > values[count - 1])
            values[count++] = value;
    }
    struct trial *runs = arena_array(simulate->arena, count, sizeof *runs);
    for (size_t i = 0; i < count; i++)
        vary(&runs[i].variation, what, values[i]);
    if (!trials_run(simulate, simulate->command->ranks, runs, count, error))
        return false;
    trials_sections(simulate, sweep_names[what], values, runs, count, section);
    return true;
}

/* ---- repeats -------------------------------------------------------------------------------- */

/* The mean of each number over runs with other seeds, and half of its 95 % interval: in the document
 * under the number's name, for the table and the CSV as a list. */
static bool repeat(const struct simulate *simulate, struct section *section, int *status,
                   struct error *error)
{
    const struct sim_options *sim = &simulate->options;
    const size_t count = command_count(simulate->command, "repeat");
    (void)status;
    if (count < 2) {
        error_set(error, "--repeat: one run has no interval");
        return error_expected(error, "2 or more");
    }
    if (!simulate->drawn && !(sim->fails_every > 0) && !sim->server.draft) {
        error_set(error, "--repeat: nothing is random, every run would be the same");
        return error_expected(error, "a trace by description (poisson:...), --fails-every or --draft");
    }
    struct trial *runs = arena_array(simulate->arena, count, sizeof *runs);
    for (size_t i = 0; i < count; i++)
        runs[i].variation = (struct variation){ .scale = 1, .seed = i };
    if (!trials_run(simulate, simulate->command->ranks, runs, count, error))
        return false;
    section_number(section, "repeats", (double)count, unit_one);
    struct section *list = section_add(section, "intervals", SECTION_LIST);
    list->text_only = true;
    for (int j = 0; j < NUMBER_COUNT; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < count; i++)
            mean += runs[i].numbers[j] / (double)count;
        for (size_t i = 0; i < count; i++)
            square += (runs[i].numbers[j] - mean) * (runs[i].numbers[j] - mean);
        const double half = student(count - 1) * sqrt(square / (double)(count - 1) / (double)count);
        struct section *line = section_add(list, NULL, SECTION_RECORD);
        struct section *both[] = { section_add(section, number_names[j], SECTION_RECORD), line };
        section_word(line, "name", number_names[j]);
        for (int k = 0; k < 2; k++) {
            section_quantity(both[k], "mean", mean, number_units[j]);
            section_quantity(both[k], "half_interval", half, number_units[j]);
        }
        section_word(line, "is_share", j == NUMBER_met || j == NUMBER_utilisation ? "share" : "")
            ->text_only = true;
    }
    return true;
}

/* ---- searches ------------------------------------------------------------------------------- */

enum { TRIES = 256, SECTIONS = 3 };

struct load_search {
    const struct simulate *simulate;
    int what;                       /* of sweep_names */
    double band;                    /* factor on predicted step times */
    bool more_is_worse;
    double values[TRIES];           /* of all runs, in the order they were made */
    struct trial runs[TRIES];
    size_t count;
};

static bool try_values(struct load_search *search, const double *values, size_t count,
                       struct error *error)
{
    struct trial *runs = &search->runs[search->count];
    if (search->count + count > TRIES) {
        error_set(error, "%d runs did not find the limit", TRIES);
        return error_expected(error, "other --ttft and --tpot, or another --time-scale");
    }
    for (size_t i = 0; i < count; i++) {
        search->values[search->count + i] = values[i];
        vary(&runs[i].variation, search->what, values[i]);
        runs[i].variation.band = search->band;
    }
    search->count += count;
    return trials_run(search->simulate, search->simulate->command->ranks, runs, count, error);
}

/* Between a value that meets the limits and one that does not, by three at a time. */
static bool narrow(struct load_search *search, double *meets, double *misses, struct error *error)
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
            if (!search->runs[first + i].meets) {
                *misses = values[i];
                break;
            }
            *meets = values[i];
        }
    }
}

/* From `start` on, twice or half as much each time, until both sides are known, or a further replica
 * changes nothing. It stays between `lowest` and `highest`; *misses NAN: everything down to there
 * meets the limits. */
static bool bracket(struct load_search *search, double start, double lowest, double highest,
                    double *meets, double *misses, bool *found, struct error *error)
{
    const size_t times = (NUMBER_e2e_p99 - NUMBER_ttft_mean + 1) * sizeof(double);
    double value = start;
    *meets = *misses = NAN;
    *found = false;
    while (isnan(*meets) || isnan(*misses)) {
        if (!try_values(search, &value, 1, error))
            return false;
        const struct trial *last = &search->runs[search->count - 1];
        const bool up = last->meets == search->more_is_worse;
        const bool same = search->what == SWEEP_REPLICAS && search->count > 1 &&
                          !memcmp(&last[0].numbers[NUMBER_ttft_mean], &last[-1].numbers[NUMBER_ttft_mean],
                                  times);
        *(last->meets ? meets : misses) = value;
        if ((up && value >= highest) || (!up && value <= lowest) || same) {
            *found = last->meets;
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

/* All runs that were made, by value. */
static void add_runs(const struct load_search *search, struct section *section)
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
    trials_sections(search->simulate, sweep_names[search->what], values, runs, search->count, section);
}

/* The highest rate, or with users as many of them, that meets the limits: between *meets and *misses,
 * with steps `band` times as long. */
static bool saturate(const struct simulate *simulate, double band, struct load_search *search, double *meets,
                     double *misses, bool *found, struct error *error)
{
    enum { MOST = 1 << 20 };
    const size_t users = simulate->options.users;
    *search = (struct load_search){ .simulate = simulate, .more_is_worse = true, .band = band,
                               .what = users ? SWEEP_USERS : SWEEP_TIME_SCALE };
    return bracket(search, users ? (double)users : 1, users ? 1 : 1.0 / MOST, MOST, meets, misses, found,
                   error);
}

static double rate_at(const struct load_search *search, double value)
{
    size_t at = 0;
    while (search->values[at] != value)
        at++;
    return search->runs[at].numbers[NUMBER_requests_per_s];
}

/* The same at both ends of the interval of the step time: rates, or users; NAN: none was found. */
static bool saturate_ends(const struct simulate *simulate, double ends[2], struct error *error)
{
    struct load_search *search = arena_alloc(simulate->arena, sizeof *search);
    if (!simulate_band_ends(simulate, ends, error))
        return false;
    for (int i = 0; i < 2; i++) {
        double meets, misses;
        bool found;
        if (!saturate(simulate, ends[i], search, &meets, &misses, &found, error))
            return false;
        ends[i] = !found || isnan(misses) ? NAN
                  : search->what == SWEEP_USERS ? meets : rate_at(search, meets);
    }
    return true;
}

static bool find_saturation(const struct simulate *simulate, struct section *section, int *status,
                            struct error *error)
{
    struct load_search *search = arena_alloc(simulate->arena, sizeof *search);
    const bool users = simulate->options.users > 0, banded = command_given(simulate->command, "band");
    double meets, misses, ends[2] = { NAN, NAN };
    bool found;
    if (!saturate(simulate, 1, search, &meets, &misses, &found, error) ||
        (banded && !saturate_ends(simulate, ends, error)))
        return false;
    *status = !found || isnan(misses);
    if (found && isnan(misses)) {
        section_number(section, "never_saturates", (double)simulate->trace.count, unit_one)
            ->text_only = true;
    } else if (!found) {
        section_number(section, "times_lower", 1 / search->values[search->count - 1], unit_one)
            ->text_only = true;
    } else if (users) {
        section_number(section, NAME_users, meets, unit_one);
    } else {
        section_number(section, "time_scale", meets * simulate->scale, unit_one);
        section_number(section, "requests_per_s", rate_at(search, meets), unit_one);
    }
    if (banded && !*status)                 /* slow steps have the lower end */
        trials_band(section_add(section, "band", SECTION_RECORD), users ? "most_users" : "requests_per_s",
                    users ? meets : rate_at(search, meets), ends[1], ends[0], "1");
    add_runs(search, section);
    return true;
}

/* The fewest replicas that meet the limits; a pool for prompts stays as it is. */
static bool min_gpus(const struct simulate *simulate, struct section *section, int *status,
                     struct error *error)
{
    enum { MOST = 4096 };
    struct load_search *search = arena_alloc(simulate->arena, sizeof *search);
    const size_t prompts = simulate->options.split.replicas;
    double meets, misses, chips = 1, beside = 0;
    bool found;
    *search = (struct load_search){ .simulate = simulate, .what = SWEEP_REPLICAS };
    if (!bracket(search, (double)simulate->options.replicas, 1, MOST, &meets, &misses, &found,
                 error))
        return false;
    *status = !found;
    section_number(section, "prompt_servers", (double)prompts, unit_one)->text_only = true;
    if (!found) {
        section_number(section, "servers_tried", search->values[search->count - 1], unit_one)
            ->text_only = true;
    } else {
        struct scenario scenario = simulate->scenario, pool = simulate->prompts;
        if ((simulate->predicted && !value_of(&scenario, NAME_chips, &chips, error)) ||
            (prompts && !value_of(&pool, NAME_chips, &beside, error)))
            return false;
        section_number(section, "servers", meets, unit_one);
        section_number(section, "gpus", meets * chips + (double)prompts * beside, unit_one);
        section_word(section, "fewer_miss", isnan(misses) ? "" : "miss")->text_only = true;
    }
    add_runs(search, section);
    return true;
}

bool simulate_search(const struct simulate *simulate, struct section *section, bool *asked, int *status,
                     struct error *error)
{
    static const struct {
        const char *option;
        bool (*search)(const struct simulate *, struct section *, int *, struct error *);
    } searches[] = { { "sweep", sweep }, { "repeat", repeat }, { "find-saturation", find_saturation },
                     { "min-gpus", min_gpus } };
    enum { SATURATION = 2 };
    static const char *const files[] = { "requests", "series", "trace", "training-rows", "plot", "report" };
    int chosen = -1;
    for (int i = 0; i < 4; i++) {
        if (!command_given(simulate->command, searches[i].option))
            continue;
        if (chosen >= 0) {
            error_set(error, "--%s and --%s exclude each other", searches[chosen].option,
                      searches[i].option);
            return error_expected(error, "one of them");
        }
        chosen = i;
    }
    *asked = chosen >= 0;
    if (*asked && chosen != SATURATION && command_given(simulate->command, "band")) {
        error_set(error, "--band and --%s exclude each other", searches[chosen].option);
        return error_expected(error, "--band with a single run or with --find-saturation");
    }
    for (size_t i = 0; *asked && i < sizeof files / sizeof *files; i++)
        if (command_given(simulate->command, files[i])) {
            error_set(error, "--%s needs a single run, --%s makes many", files[i],
                      searches[chosen].option);
            return error_expected(error, "one of them");
        }
    return !*asked || searches[chosen].search(simulate, section, status, error);
}
