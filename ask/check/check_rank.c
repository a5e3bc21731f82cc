/* check --rank: would who chose by the prediction have chosen well?
 *
 * A sweep is one model on one machine under one engine, with the same formats and lengths. For
 * each of some speeds that a user might want, the choice is the configuration with the highest
 * predicted throughput per GPU among those predicted to be so fast; beside it stands the best of
 * those measured to be so fast. */
#include "ask/check/check.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

static const double speeds[] = { 10, 20, 30, 50, 75, 100, 150 };
static const double close_enough = 0.05;    /* of the speed, and of the best throughput */

struct turn {                       /* of one point, as measured and as predicted */
    const struct measured *point;
    double speed[2], per_gpu[2];
    const char *sweep;
};

struct ranked {
    struct check *check;
    struct turn *turns;
    size_t count, room;
};

static double input_of(const struct measured *point, const char *name)
{
    for (int i = 0; i < point->input_count; i++)
        if (!strcmp(point->inputs[i].name, name))
            return point->inputs[i].value;
    return 0;
}

static const char *sweep_of(struct check *check, const struct measured *point)
{
    return arena_print(check->arena, "%s on %s, %s, %s, %s, %.0f in, %.0f out",
                       check_label(check, CATALOG_MODEL, point->model),
                       check_label(check, CATALOG_MACHINE, point->machine), point->engine,
                       point->precision ? point->precision : "as is", point->kv ? point->kv : "",
                       input_of(point, NAME_prompt_tokens), input_of(point, NAME_output_tokens));
}

/* The two outcomes of a point, or none. */
static const struct outcome *times_of(const struct check *check, size_t i)
{
    const struct outcome *outcome = &check->outcomes[i];
    if (outcome->refused || i + 1 >= check->outcome_count || outcome[1].point != outcome->point ||
        outcome->measured->metric != METRIC_TPOT || outcome[1].measured->metric != METRIC_TTFT ||
        !outcome->point->engine)
        return NULL;
    return outcome;
}

static bool add_turns(struct ranked *ranked)
{
    struct check *check = ranked->check;
    static const char *const rows[] = { NAME_turn_speed, NAME_measured_throughput_per_chip };
    static const char *const inputs[] = { NAME_concurrency, NAME_output_tokens, NAME_measured_ttft, NAME_measured_tpot,
                                          NAME_turn_chips };
    enum { INPUTS = sizeof inputs / sizeof *inputs };
    struct scenario scenario;
    struct values values;
    if (!scenario_read(&scenario, check->arena, check->command, command_no_subject(check->command),
                       check->error))
        return false;
    for (int i = 0; i < INPUTS; i++)
        facts_set(&scenario.facts, inputs[i], 1, ORIGIN_AXIS, "measured");
    if (!values_of(&scenario, rows, 2, &values, check->error))
        return false;
    for (size_t i = 0; i < check->outcome_count; i++) {
        const struct outcome *times = times_of(check, i);
        if (!times)
            continue;
        struct turn turn = { .point = times->point, .sweep = sweep_of(check, times->point) };
        for (int predicted = 0; predicted < 2; predicted++) {
            const double at[INPUTS] = {
                times->point->concurrency, input_of(times->point, NAME_output_tokens),
                predicted ? times[1].predicted.value : times[1].measured->value,
                predicted ? times[0].predicted.value : times[0].measured->value,
                times->point->chips };
            double out[2];
            for (int k = 0; k < INPUTS; k++)
                if (graph_input(&values.graph, inputs[k]) >= 0)
                    values.inputs[graph_input(&values.graph, inputs[k])] = at[k];
            graph_value(check->arena, &values.graph, values.inputs, NULL, out);
            turn.speed[predicted] = out[0];
            turn.per_gpu[predicted] = out[1];
        }
        *(struct turn *)arena_push(check->arena, &ranked->turns, &ranked->count, &ranked->room,
                                   sizeof turn) = turn;
    }
    return true;
}

/* The point of the sweep with the highest throughput among those at least as fast as `speed`, as measured (0)
 * or predicted (1). */
static const struct turn *best_of(const struct ranked *ranked, const char *sweep, double speed,
                                  int by)
{
    const struct turn *best = NULL;
    for (size_t i = 0; i < ranked->count; i++) {
        const struct turn *turn = &ranked->turns[i];
        if (!strcmp(turn->sweep, sweep) && turn->speed[by] >= speed &&
            (!best || turn->per_gpu[by] > best->per_gpu[by]))
            best = turn;
    }
    return best;
}

/* More than one layout, or there is nothing to choose. */
static bool choice(const struct ranked *ranked, const char *sweep)
{
    static const char *const layout[] = { NAME_chips, NAME_attention_dp, NAME_expert_parallel,
                                          NAME_decode_workers, NAME_prefill_workers, NAME_draft_tokens };
    const struct measured *first = NULL;
    for (size_t i = 0; i < ranked->count; i++) {
        const struct measured *point = ranked->turns[i].point;
        if (strcmp(ranked->turns[i].sweep, sweep))
            continue;
        first = first ? first : point;
        for (size_t k = 0; k < sizeof layout / sizeof *layout; k++)
            if (input_of(point, layout[k]) != input_of(first, layout[k]))
                return true;
    }
    return false;
}

struct tally {
    size_t sweeps, choices, none, slower, close;
    double *regrets;
    size_t count, room;
};

/* Those of the sweep that are measured to be so fast. */
static size_t fast_enough(const struct ranked *ranked, const char *sweep, double speed)
{
    size_t count = 0;
    for (size_t i = 0; i < ranked->count; i++)
        count += !strcmp(ranked->turns[i].sweep, sweep) && ranked->turns[i].speed[0] >= speed;
    return count;
}

static void judge(struct ranked *ranked, const char *sweep, double speed, struct tally *tally,
                  struct table *table)
{
    struct check *check = ranked->check;
    const struct turn *best = best_of(ranked, sweep, speed, 0);
    const struct turn *chosen = best_of(ranked, sweep, speed, 1);
    if (fast_enough(ranked, sweep, speed) < 2)
        return;                     /* no choice */
    tally->choices++;
    bool slower = chosen && chosen->speed[0] < speed * (1 - close_enough);
    double regret = chosen ? fmax(0, 1 - chosen->per_gpu[0] / best->per_gpu[0]) : NAN;
    tally->none += !chosen;
    tally->slower += slower;
    if (chosen && !slower) {
        tally->close += regret <= close_enough;
        *(double *)arena_push(check->arena, &tally->regrets, &tally->count, &tally->room,
                              sizeof regret) = regret;
    }
    table_cell(table, "%s", sweep);
    table_cell(table, "%g", speed);
    table_cell(table, "%.1f", best->per_gpu[0]);
    const char *none = "";
    table_cell(table, "%s", chosen ? arena_print(check->arena, "%.1f", chosen->per_gpu[0]) : none);
    table_cell(table, "%s", chosen ? arena_print(check->arena, "%.1f", chosen->speed[0]) : none);
    table_cell(table, "%s", !chosen ? "none predicted so fast" : slower ? "slower than wanted" : "");
}

static void tell(struct check *check, const struct tally *tally)
{
    struct doc *doc = doc_add(check->arena, check->answer->doc, "rank", DOC_OBJECT);
    const double all = (double)tally->choices;
    const double median = sizes_quantile(tally->regrets, tally->count, 0.5);
    const double p90 = sizes_quantile(tally->regrets, tally->count, 0.9);
    const struct { const char *name; double value; } figures[] = {
        { "sweeps", (double)tally->sweeps }, { "choices", all },
        { "within_5_percent", (double)tally->close / all },
        { "slower_than_wanted", (double)tally->slower / all },
        { "none_predicted", (double)tally->none / all }, { "regret_median", median },
        { "regret_p90", p90 } };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        doc_add_number(check->arena, doc, figures[i].name, figures[i].value);
    buffer_print(&check->answer->text,
                 "\nchoices by the prediction: %zu in %zu sweeps of more than one layout\n"
                 "  within 5 %% of the best measured configuration: %.0f %%\n"
                 "  throughput lost where as fast as wanted: median %.1f %%, p90 %.1f %%\n"
                 "  slower than wanted by more than 5 %%: %.0f %%; none predicted so fast: %.0f %%\n",
                 tally->choices, tally->sweeps, 100 * (double)tally->close / all, 100 * median,
                 100 * p90, 100 * (double)tally->slower / all, 100 * (double)tally->none / all);
}

bool check_rank(struct check *check)
{
    static const char *const head[] = { "sweep", "speed", "best", "chosen", "speed of it", "" };
    struct ranked ranked = { .check = check };
    struct tally tally = { 0 };
    struct table table = { .arena = check->arena, .columns = 6, .left = "lrrrrl" };
    if (!add_turns(&ranked))
        return false;
    for (int i = 0; i < 6; i++)
        table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < ranked.count; i++) {
        const char *sweep = ranked.turns[i].sweep;
        bool met = false;
        for (size_t j = 0; j < i && !met; j++)
            met = !strcmp(ranked.turns[j].sweep, sweep);
        if (met || !choice(&ranked, sweep))
            continue;
        tally.sweeps++;
        for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++)
            judge(&ranked, sweep, speeds[k], &tally, &table);
    }
    if (!tally.count) {
        error_set(check->error, "--rank: no measurements of several layouts to choose from");
        return error_expected(check->error, "measurements of TTFT and TPOT, for several layouts of a model "
                              "on a machine");
    }
    check->answer->csv.size = 0;
    table_csv(&table, &check->answer->csv);
    tell(check, &tally);
    return true;
}
