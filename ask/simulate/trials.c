/* Runs several variations of a simulation in parallel and makes a table of their results.
 *
 * The runs share everything but what is varied, and each has its own arena. Cost per token is a
 * row, evaluated for each run at what it counted, one run after the other, since rows share the
 * scenario. Columns for limits and rent appear only where limits and a machine are given. */
#include "ask/simulate/trials.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

const char *const number_names[NUMBER_COUNT] = {
#define X(name) #name,
    NUMBERS(X)
#undef X
};

static void fill(struct trial *run, const struct simulate *simulate,
                 const struct simulated *outcome)
{
    const struct sketch *times = outcome->all.times;
    const struct sim_result *result = &outcome->result;
    const double there = result->pool_there[0] + result->pool_there[1];
    const double numbers[NUMBER_COUNT] = {
        outcome->rate, sketch_mean(&times[SIMULATE_TTFT]),
        sketch_quantile(&times[SIMULATE_TTFT], 0.5), sketch_quantile(&times[SIMULATE_TTFT], 0.99),
        sketch_mean(&times[SIMULATE_TPOT]), sketch_quantile(&times[SIMULATE_TPOT], 0.99),
        sketch_mean(&times[SIMULATE_E2E]), sketch_quantile(&times[SIMULATE_E2E], 0.99),
        outcome->output_rate, outcome->goodput,
        (double)outcome->all.met / (double)outcome->all.requests, result->busy / there };
    memcpy(run->numbers, numbers, sizeof numbers);
    for (int pool = 0; pool < 2; pool++)
        run->there[pool] = result->pool_there[pool] * outcome->counted.time_share;
    run->outputs = (double)outcome->all.outputs;
    run->verdict = outcome->verdict;
    run->meets = simulate_meets(simulate, outcome);
}

static void run_one(const struct simulate *simulate, struct trial *run)
{
    struct arena arena = { 0 };
    struct simulated *outcome = arena_alloc(&arena, sizeof *outcome);
    run->error = (struct error){ .what = "" };
    if (simulate_run(&arena, simulate, &run->variation, NULL, outcome, &run->error))
        fill(run, simulate, outcome);
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

/* Rent for each output token; 0 where no machine is known. */
static bool add_cost(const struct simulate *simulate, struct trial *runs, size_t count,
                     struct error *error)
{
    double *beside = arena_array(simulate->arena, count, sizeof *beside);
    double *cost = arena_array(simulate->arena, count, sizeof *cost);
    if (!simulate->predicted)
        return true;
    if ((simulate->options.split.replicas &&
         !row_of_each(simulate, 1, NAME_run_cost, runs, NULL, count, beside, error)) ||
        !row_of_each(simulate, 0, NAME_run_cost_per_token, runs, beside, count, cost, error))
        return false;
    for (size_t i = 0; i < count; i++)
        runs[i].numbers[NUMBER_rent_per_token] = cost[i];
    return true;
}

bool trials_run(const struct simulate *simulate, struct trial *runs, size_t count,
                    struct error *error)
{
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < count; i++)
        run_one(simulate, &runs[i]);
    for (size_t i = 0; i < count; i++)
        if (*runs[i].error.what) {
            *error = runs[i].error;
            return false;
        }
    return add_cost(simulate, runs, count, error);
}


static const enum number shown[] = { NUMBER_requests_per_s, NUMBER_ttft_mean, NUMBER_ttft_p99,
                                     NUMBER_tpot_mean, NUMBER_tpot_p99, NUMBER_output_rate,
                                     NUMBER_utilisation, NUMBER_met, NUMBER_rent_per_token };
enum { SHOWN = sizeof shown / sizeof *shown };

/* Columns of limits and rent are shown only if limits and a machine were given. */
static bool is_shown(const struct simulate *simulate, enum number number)
{
    return (number != NUMBER_met || isfinite(simulate->ttft_most) ||
            isfinite(simulate->tpot_most)) &&
           (number != NUMBER_rent_per_token || simulate->predicted);
}

static bool is_time(enum number number)
{
    return number >= NUMBER_ttft_mean && number <= NUMBER_e2e_p99;
}

const char *trials_number(struct arena *arena, enum number number, double value)
{
    return is_time(number) ? simulate_seconds(arena, value)
           : number == NUMBER_met || number == NUMBER_utilisation
             ? arena_print(arena, "%.2f %%", 100 * value)
           : number == NUMBER_rent_per_token ? arena_print(arena, "%.4g USD/M", 1e6 * value)
           : number == NUMBER_output_rate ? arena_print(arena, "%.0f", value)
           : arena_print(arena, "%.4g", value);
}

void trials_answer(const struct simulate *simulate, const char *name,
                        const double *values, const struct trial *runs, size_t count,
                        struct answer *answer)
{
    struct arena *arena = simulate->arena;
    struct table table = { .arena = arena, .columns = 2, .left = "rrrrrrrrrrr" };
    struct doc *list = doc_add(arena, answer->doc, "runs", DOC_ARRAY);
    table_cell(&table, "%s", name);
    for (int j = 0; j < SHOWN; j++)
        if (is_shown(simulate, shown[j])) {
            table_cell(&table, "%s", number_names[shown[j]]);
            table.columns++;
        }
    table_cell(&table, "verdict");
    buffer_print(&answer->csv, "%s", name);
    for (int j = 0; j < NUMBER_COUNT; j++)
        buffer_print(&answer->csv, ",%s", number_names[j]);
    buffer_print(&answer->csv, ",verdict\n");
    for (size_t i = 0; i < count; i++) {
        struct doc *one = doc_add(arena, list, NULL, DOC_OBJECT);
        doc_add_number(arena, one, strcmp(name, "replicas") ? name : "servers", values[i]);
        table_cell(&table, "%.6g", values[i]);
        buffer_print(&answer->csv, "%.17g", values[i]);
        for (int j = 0; j < NUMBER_COUNT; j++) {
            doc_add_number(arena, one, number_names[j], runs[i].numbers[j]);
            buffer_print(&answer->csv, ",%.17g", runs[i].numbers[j]);
        }
        for (int j = 0; j < SHOWN; j++)
            if (is_shown(simulate, shown[j]))
                table_cell(&table, "%s", trials_number(arena, shown[j], runs[i].numbers[shown[j]]));
        doc_add_string(arena, one, "verdict", runs[i].verdict);
        table_cell(&table, "%s%s", runs[i].verdict,
                   runs[i].meets || !is_shown(simulate, NUMBER_met) ? "" : ", misses");
        buffer_print(&answer->csv, ",%s\n", runs[i].verdict);
    }
    table_print(&table, &answer->text, "  ");
}
