/* Runs several variations of a simulation in parallel, and tells of each run in one record.
 *
 * The runs share everything but what is varied, and each has its own arena. Cost per token is a
 * row, evaluated for each run at what it counted, one run after the other, since rows share the
 * scenario. The table has columns for limits and rent only where limits and a machine are given.
 * Which variations are run is decided in simulate_search.c. */
#include "ask/simulate/trials.h"
#include "base/guard.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "scenario/calibrated.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const number_names[NUMBER_COUNT] = {
#define X(name, unit) #name,
    NUMBERS(X)
#undef X
};
const char *const number_units[NUMBER_COUNT] = {
#define X(name, unit) unit,
    NUMBERS(X)
#undef X
};

/* What is told of a run; all but the rent, which is a row. */
static void tell(const struct simulate *simulate, const struct simulated *outcome, struct trial *run)
{
    const struct sketch *times = outcome->all.times;
    const struct sim_result *result = &outcome->result;
    const double numbers[NUMBER_COUNT] = {
        [NUMBER_requests_per_s] = outcome->rate,
        [NUMBER_ttft_mean] = sketch_mean(&times[SIMULATE_TTFT]),
        [NUMBER_ttft_p50] = sketch_quantile(&times[SIMULATE_TTFT], 0.5),
        [NUMBER_ttft_p99] = sketch_quantile(&times[SIMULATE_TTFT], 0.99),
        [NUMBER_tpot_mean] = sketch_mean(&times[SIMULATE_TPOT]),
        [NUMBER_tpot_p99] = sketch_quantile(&times[SIMULATE_TPOT], 0.99),
        [NUMBER_e2e_mean] = sketch_mean(&times[SIMULATE_E2E]),
        [NUMBER_e2e_p99] = sketch_quantile(&times[SIMULATE_E2E], 0.99),
        [NUMBER_output_rate] = outcome->output_rate,
        [NUMBER_good_requests_per_s] = outcome->goodput,
        [NUMBER_met] = (double)outcome->all.met / (double)outcome->all.requests,
        [NUMBER_utilisation] = result->busy / (result->pool_there[0] + result->pool_there[1]) };
    memcpy(run->numbers, numbers, sizeof numbers);
    for (int pool = 0; pool < 2; pool++)
        run->there[pool] = result->pool_there[pool] * outcome->counted.time_share;
    run->outputs = (double)outcome->all.outputs;
    snprintf(run->verdict, sizeof run->verdict, "%s", outcome->verdict ? outcome->verdict : "");
    run->meets = simulate_meets(simulate, outcome);
}

struct trials {
    const struct simulate *simulate;
    const struct ranks *ranks;
    struct trial *runs;
};

static void run_one(void *context, size_t i)
{
    const struct trials *trials = context;
    const struct simulate *simulate = trials->simulate;
    struct trial *run = &trials->runs[i];
    struct arena arena = { 0 };
    if (!ranks_mine(trials->ranks, i))
        return;
    struct simulated *outcome = arena_alloc(&arena, sizeof *outcome);
    run->error = (struct error){ .what = "" };
    if (simulate_run(&arena, simulate, &run->variation, NULL, outcome, &run->error))
        tell(simulate, outcome, run);
    arena_free(&arena);
}

/* Evaluate a row for each run, at what it counted. */
static bool row_of_each(const struct simulate *simulate, int pool, const char *row,
                        const struct trial *runs, const double *beside, size_t count, double *out,
                        struct error *error)
{
    enum { THERE, OUTPUTS, BESIDE, COUNTED };
    static const char *const counted[COUNTED] = { NAME_replica_seconds, NAME_run_outputs, NAME_prefill_pool_cost };
    struct scenario scenario = pool ? simulate->prompts : simulate->scenario;
    struct values values;
    facts_set(&scenario.facts, NAME_replicas,
              (double)(pool ? simulate->options.split.replicas : simulate->options.replicas), ORIGIN_DERIVED, "simulated");
    for (int i = 0; i < COUNTED; i++)
        facts_set(&scenario.facts, counted[i], 1, ORIGIN_DERIVED, "simulated");
    if (!values_of(&scenario, &row, 1, &values, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        const double at[COUNTED] = { runs[i].there[pool], fmax(runs[i].outputs, 1),
                                     beside ? beside[i] : 0 };
        for (int k = 0; k < COUNTED; k++)
            if (graph_input(&values.graph, counted[k]) >= 0)
                values.inputs[graph_input(&values.graph, counted[k])] = at[k];
        graph_value(simulate->arena, &values.graph, values.inputs, NULL, &out[i]);
    }
    return true;
}

/* The rent per token of each; without a machine there is none: it stays 0. */
static bool add_rent(const struct simulate *simulate, struct trial *runs, size_t count,
                     struct error *error)
{
    if (!simulate->predicted)
        return true;
    double *beside = arena_array(simulate->arena, count, sizeof *beside);
    double *cost = arena_array(simulate->arena, count, sizeof *cost);
    if ((simulate->options.split.replicas &&
         !row_of_each(simulate, 1, NAME_run_cost, runs, NULL, count, beside, error)) ||
        !row_of_each(simulate, 0, NAME_run_cost_per_token, runs, beside, count, cost, error))
        return false;
    for (size_t i = 0; i < count; i++)
        runs[i].numbers[NUMBER_rent_per_token] = cost[i];
    return true;
}

/* A hash of everything that the runs read: the facts, the requests and the variations. */
static uint64_t question_of(const struct simulate *simulate, const struct trial *runs, size_t count)
{
    const struct trace *trace = &simulate->trace;
    const struct trace_sums sums = trace_sums_of(trace);
    const double drawn[] = { sums.prompts, sums.outputs, sums.last };
    uint64_t hash = scenario_hash(&simulate->scenario);
    hash = trace->source ? hash_numbers(hash, drawn, 3) : hash_numbers(hash, trace->arrival, trace->count);
    for (size_t i = 0; i < trace->count && !trace->source; i++)
        hash = hash_mix(hash_mix(hash, trace->prompt[i]), trace->output[i]);
    for (size_t i = 0; i < count; i++)
        hash = hash_numbers(hash, &runs[i].variation.scale, 1);
    return hash_mix(hash, count);
}

bool trials_run(const struct simulate *simulate, const struct ranks *ranks, struct trial *runs, size_t count,
                struct error *error)
{
    if (!ranks_alone(ranks) && !ranks_same(ranks, simulate->arena, question_of(simulate, runs, count), error))
        return false;
    struct trials trials = { simulate, ranks, runs };
    parallel_each(count, true, run_one, &trials);
    ranks_share(ranks, simulate->arena, runs, count, sizeof *runs);
    for (size_t i = 0; i < count; i++)
        if (*runs[i].error.what) {
            *error = runs[i].error;
            return false;
        }
    return add_rent(simulate, runs, count, error);
}

/* ---- at the ends of the interval ------------------------------------------------------------ */

bool simulate_band_ends(const struct simulate *simulate, double ends[2], struct error *error)
{
    static const char *const rows[] = { NAME_tpot_band_low, NAME_tpot_band_high };
    struct scenario scenario = simulate->scenario;
    struct values values;
    if (!simulate->predicted || command_given(simulate->command, "step-time")) {
        error_set(error, "--band: the step time is not predicted, it has no interval");
        return error_expected(error, "--model MODEL --on HARDWARE, without --step-time");
    }
    static const char *const tpot[] = { NAME_predicted_tpot };
    if (calibrated_bands(&scenario, tpot, 1, &ends[0], &ends[1]))
        return true;
    if (!values_of(&scenario, rows, 2, &values, error))
        return false;
    memcpy(ends, values.at, 2 * sizeof *ends);
    return true;
}

struct section *trials_band(struct section *band, const char *name, double value, double low, double high,
                            const char *unit)
{
    struct section *one = section_add(band, name, SECTION_RECORD);
    section_quantity(one, "value", value, unit);
    section_quantity(one, "low", low, unit);
    section_quantity(one, "high", high, unit);
    return one;
}

static void add_verdict(struct section *section, const char *name, const char *verdict)
{
    if (*verdict)
        section_word(section, name, verdict);
    else
        section_nothing(section, name);
}

/* A value's interval is the hull of the three runs. */
bool simulate_band(struct simulate *simulate, const struct simulated *outcome, struct section *section,
                   struct error *error)
{
    static const enum number told[] = {
        NUMBER_ttft_mean, NUMBER_ttft_p50, NUMBER_ttft_p99, NUMBER_tpot_mean, NUMBER_tpot_p99,
        NUMBER_e2e_mean, NUMBER_e2e_p99, NUMBER_output_rate, NUMBER_rent_per_token,
        NUMBER_good_requests_per_s, NUMBER_met };           /* the last two with limits */
    const size_t count = sizeof told / sizeof *told - (simulate_has_limits(simulate) ? 0 : 2);
    struct trial *runs = arena_array(simulate->arena, 3, sizeof *runs);
    double ends[2];
    if (!simulate_band_ends(simulate, ends, error))
        return false;
    for (int i = 0; i < 2; i++)
        runs[i].variation = (struct variation){ .scale = 1, .band = ends[i] };
    tell(simulate, outcome, &runs[2]);
    if (!trials_run(simulate, NULL, runs, 2, error) || !add_rent(simulate, &runs[2], 1, error))
        return false;
    struct section *band = section_add(section, "band", SECTION_RECORD);
    struct section *lines = section_add(section, "band_lines", SECTION_LIST);
    lines->text_only = true;
    section_number(band, "factor_low", ends[0], unit_one);
    section_number(band, "factor_high", ends[1], unit_one);
    add_verdict(band, "verdict_low", runs[0].verdict);
    add_verdict(band, "verdict_high", runs[1].verdict);
    for (size_t i = 0; i < count; i++) {
        const char *name = number_names[told[i]];
        const double fast = runs[0].numbers[told[i]], slow = runs[1].numbers[told[i]],
                     value = runs[2].numbers[told[i]];
        struct section *one = trials_band(band, name, value, fmin(value, fmin(fast, slow)),
                                          fmax(value, fmax(fast, slow)), number_units[told[i]]);
        section_word(one, "name", name)->text_only = true;
        section_word(one, "is_share", told[i] == NUMBER_met ? "share" : "")->text_only = true;
        section_share(lines, one);
    }
    return true;
}

void trials_sections(const struct simulate *simulate, const char *name, const double *values,
                     const struct trial *runs, size_t count, struct section *section)
{
    const bool limited = simulate_has_limits(simulate);
    struct section *list = section_add(section, "runs", SECTION_LIST);
    section_word(section, "varied", name)->text_only = true;
    section_word(section, "limited", limited ? "limited" : "")->text_only = true;
    section_word(section, "priced", simulate->predicted ? "priced" : "")->text_only = true;
    for (size_t i = 0; i < count; i++) {
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_number(one, name, values[i], unit_one);
        if (!strcmp(name, "replicas")) {        /* a row, as which no key of a statistic is called */
            section_number(one, name, values[i], unit_one)->text_only = true;
            section_number(one, "servers", values[i], unit_one);
        }
        for (int k = 0; k < NUMBER_COUNT; k++)
            section_quantity(one, number_names[k], runs[i].numbers[k], number_units[k]);
        add_verdict(one, "verdict", runs[i].verdict);
        section_number(one, "at", values[i], unit_one)->text_only = true;
        section_word(one, "misses", limited && !runs[i].meets ? "misses" : "")->text_only = true;
    }
}

void trials_csv(const char *name, const struct section *runs, struct buffer *out)
{
    const char *columns[NUMBER_COUNT + 2] = { name };
    memcpy(columns + 1, number_names, sizeof number_names);
    columns[NUMBER_COUNT + 1] = "verdict";
    section_csv_of(runs, columns, NUMBER_COUNT + 2, out);
}
