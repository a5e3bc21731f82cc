/* check --rank: would who chose by the prediction have chosen well?
 *
 * A sweep is one model on one machine under one engine, with the same formats and lengths. For
 * each of some speeds that a user might want, the choice is the configuration with the highest
 * predicted throughput per GPU among those predicted to be so fast, once as predicted and once times the
 * trust in its layout, as `plan` ranks; beside it stands the best of those measured to be so fast. */
#include "lab/check/check.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "deploy/published.h"

#include <math.h>
#include <string.h>

static const double speeds[] = { 10, 20, 30, 50, 75, 100, 150 };
static const double close_enough = 0.05;    /* of the speed, and of the best throughput */

/* By what the best is chosen. */
enum { MEASURED, PREDICTED, TRUSTED, WAYS };

struct ranked_point {                       /* of one point */
    const struct measured *point;
    double speed[WAYS], per_gpu[WAYS];
    const char *sweep;
};

enum { DISTANCES = PUBLISHED_NEVER + 1 };

struct ranked {
    struct check *check;
    struct ranked_point *turns;
    size_t count, room;
    const char *sweep;              /* of the last point, and what its engine and machine know of layouts: */
    const struct published *published;
    double trust[DISTANCES];        /* by the distance of a layout */
};

static const char *sweep_of(struct check *check, const struct measured *point)
{
    return arena_print(check->arena, "%s on %s, %s, %s, %s, %.0f in, %.0f out",
                       check_label(check, CATALOG_MODEL, point->model),
                       check_label(check, CATALOG_MACHINE, point->machine), point->engine,
                       point->precision ? point->precision : "as is", point->kv ? point->kv : "",
                       measured_input(point, NAME_prompt_tokens, 0), measured_input(point, NAME_output_tokens, 0));
}

/* Read for a sweep which layouts were published, and how far others are trusted. */
static bool open_sweep(struct ranked *ranked, const struct ranked_point *turn)
{
    struct check *check = ranked->check;
    struct scenario *scenario = arena_alloc(check->arena, sizeof *scenario);
    struct subject subject = command_no_subject(check->command);
    subject.model = turn->point->model, subject.machine = turn->point->machine, subject.engine = turn->point->engine;
    if (!scenario_read(scenario, check->arena, check->command, subject, check->error))
        return false;
    ranked->sweep = turn->sweep;
    ranked->published = published_open(scenario);
    for (int at = 0; at < DISTANCES; at++) {
        facts_set(&scenario->facts, NAME_layout_distance, at, ORIGIN_AXIS, "check");
        if (!value_of(scenario, NAME_layout_trust, &ranked->trust[at], check->error))
            return false;
    }
    return true;
}

static struct published_layout layout_of(const struct measured *point, const char *chips, const char *ranks,
                                         const char *stages, const char *experts)
{
    struct published_layout layout = { measured_input(point, chips, 1), measured_input(point, ranks, 1),
                                       measured_input(point, stages, 1), 1 };
    layout.expert_parallel = measured_input(point, experts, layout.attention_dp > 1
                                            ? layout.chips / layout.pipeline_parallel : 1);
    return layout;
}

static bool trust_in(struct ranked *ranked, const struct ranked_point *turn, double *trust)
{
    const struct measured *point = turn->point;
    const bool pools = measured_input(point, NAME_prefill_chips, 0) > 0;
    if ((!ranked->sweep || strcmp(ranked->sweep, turn->sweep)) && !open_sweep(ranked, turn))
        return false;
    struct published_layout layout = layout_of(point, NAME_chips, NAME_attention_dp, NAME_pipeline_parallel,
                                               NAME_expert_parallel);
    double distance = published_distance(ranked->published, pools ? PUBLISHED_DECODE : PUBLISHED_TOGETHER, &layout);
    layout = layout_of(point, NAME_prefill_chips, NAME_prefill_attention_dp, NAME_prefill_pipeline_parallel,
                       NAME_prefill_expert_parallel);
    if (pools)
        distance = fmax(distance, published_distance(ranked->published, PUBLISHED_PREFILL, &layout));
    *trust = ranked->trust[(int)distance];
    return true;
}

/* Speed and throughput of each point whose TPOT and TTFT were scored, one behind the other. */
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
        const struct outcome *times = &check->outcomes[i];
        if (times->refused || i + 1 >= check->outcome_count || times[1].point != times->point ||
            times->measured->metric != METRIC_TPOT || times[1].measured->metric != METRIC_TTFT ||
            !times->point->engine)
            continue;
        struct ranked_point turn = { .point = times->point, .sweep = sweep_of(check, times->point) };
        for (int predicted = MEASURED; predicted <= PREDICTED; predicted++) {
            const double at[INPUTS] = {
                measured_input(times->point, NAME_concurrency, 0), measured_input(times->point, NAME_output_tokens, 0),
                predicted ? times[1].predicted.value : times[1].measured->value,
                predicted ? times[0].predicted.value : times[0].measured->value,
                measured_chips(times->point) };
            double out[2];
            for (int k = 0; k < INPUTS; k++)
                if (graph_input(&values.graph, inputs[k]) >= 0)
                    values.inputs[graph_input(&values.graph, inputs[k])] = at[k];
            graph_value(check->arena, &values.graph, values.inputs, NULL, out);
            turn.speed[predicted] = out[0];
            turn.per_gpu[predicted] = out[1];
        }
        double trust;
        if (!trust_in(ranked, &turn, &trust))
            return false;
        turn.speed[TRUSTED] = turn.speed[PREDICTED];
        turn.per_gpu[TRUSTED] = turn.per_gpu[PREDICTED] * trust;
        *(struct ranked_point *)arena_push(check->arena, &ranked->turns, &ranked->count, &ranked->room,
                                   sizeof turn) = turn;
    }
    return true;
}

/* The point of the sweep with the highest throughput among those at least as fast as `speed`, by one of the
 * ways. */
static const struct ranked_point *best_of(const struct ranked *ranked, const char *sweep, double speed,
                                  int by)
{
    const struct ranked_point *best = NULL;
    for (size_t i = 0; i < ranked->count; i++) {
        const struct ranked_point *turn = &ranked->turns[i];
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
            if (measured_input(point, layout[k], 0) != measured_input(first, layout[k], 0))
                return true;
    }
    return false;
}

struct rank_tally {
    size_t sweeps, choices, none, slower, close;
    double *regrets;
    size_t count, room;
};

/* At one speed: what would be chosen of a sweep, beside the best that was measured. */
static void judge(const struct ranked *ranked, const char *sweep, double speed, int by, struct rank_tally *tally,
                  struct section *list)
{
    const struct ranked_point *best = best_of(ranked, sweep, speed, MEASURED);
    const struct ranked_point *chosen = best_of(ranked, sweep, speed, by);
    size_t fast_enough = 0;
    for (size_t i = 0; i < ranked->count; i++)
        fast_enough += !strcmp(ranked->turns[i].sweep, sweep) && ranked->turns[i].speed[MEASURED] >= speed;
    if (fast_enough < 2)
        return;                     /* no choice */
    tally->choices++;
    const bool slower = chosen && chosen->speed[MEASURED] < speed * (1 - close_enough);
    const double regret = chosen ? fmax(0, 1 - chosen->per_gpu[MEASURED] / best->per_gpu[MEASURED]) : NAN;
    tally->none += !chosen;
    tally->slower += slower;
    if (chosen && !slower) {
        tally->close += regret <= close_enough;
        *(double *)arena_push(ranked->check->arena, &tally->regrets, &tally->count, &tally->room,
                              sizeof regret) = regret;
    }
    if (by != TRUSTED)
        return;
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    section_word(one, "sweep", sweep);
    section_number(one, "speed", speed, unit_one);
    section_number(one, "best", best->per_gpu[MEASURED], unit_one);
    section_number(one, "chosen", chosen ? chosen->per_gpu[MEASURED] : NAN, unit_one);
    section_number(one, "chosen_speed", chosen ? chosen->speed[MEASURED] : NAN, unit_one);
    section_word(one, "note", !chosen ? "none predicted so fast" : slower ? "slower than wanted" : "");
}

static void add_figures(const struct rank_tally *tally, struct section *section)
{
    const double all = (double)tally->choices;
    const struct { const char *name; double value; } figures[] = {
        { "sweeps", (double)tally->sweeps }, { "choices", all },
        { "within_5_percent", (double)tally->close / all },
        { "slower_than_wanted", (double)tally->slower / all },
        { "none_predicted", (double)tally->none / all },
        { "regret_median", sizes_quantile(tally->regrets, tally->count, 0.5) },
        { "regret_p90", sizes_quantile(tally->regrets, tally->count, 0.9) } };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        section_number(section, figures[i].name, figures[i].value, unit_one);
}

bool check_rank(struct check *check, struct buffer *csv)
{
    struct ranked ranked = { .check = check };
    struct rank_tally tally[WAYS] = { { 0 } };
    struct section *list = section_add(section_new(check->arena), NULL, SECTION_LIST);
    if (!add_turns(&ranked))
        return false;
    for (size_t i = 0; i < ranked.count; i++) {
        const char *sweep = ranked.turns[i].sweep;
        bool met = false;
        for (size_t j = 0; j < i && !met; j++)
            met = !strcmp(ranked.turns[j].sweep, sweep);
        if (met || !choice(&ranked, sweep))
            continue;
        for (int by = PREDICTED; by < WAYS; by++) {
            tally[by].sweeps++;
            for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++)
                judge(&ranked, sweep, speeds[k], by, &tally[by], list);
        }
    }
    if (!tally[PREDICTED].count) {
        error_set(check->error, "--rank: no measurements of several layouts to choose from");
        return error_expected(check->error, "measurements of TTFT and TPOT, for several layouts of a model "
                              "on a machine");
    }
    section_csv(list, csv);
    struct section *rank = section_add(check->section, "rank", SECTION_RECORD);
    add_figures(&tally[TRUSTED], rank);
    add_figures(&tally[PREDICTED], section_add(rank, "untrusted", SECTION_RECORD));
    return true;
}

#define RANKED                                                                                       \
{ FIELD_NUMBER, "sweeps", .help = "of more than one layout", .always = true }, \
    { FIELD_NUMBER, "choices", .help = "at some speeds of them", .always = true }, \
    { FIELD_NUMBER, "within_5_percent", .help = "share within 5 % of the best measured configuration", \
      .always = true }, \
    { FIELD_NUMBER, "slower_than_wanted", .help = "share slower than wanted by more than 5 %", \
      .always = true }, \
    { FIELD_NUMBER, "none_predicted", .help = "share where none is predicted so fast", .always = true }, \
    { FIELD_NUMBER, "regret_median", .help = "throughput lost where as fast as wanted", .always = true }, \
    { FIELD_NUMBER, "regret_p90", .help = "the same of nine in ten", .always = true }

static const struct record untrusted_record = { "RankUntrusted", (const struct answer_field[]){ RANKED, { 0 } } };

const struct record check_rank_record = { "Rank", (const struct answer_field[]){
    RANKED,
    { FIELD_RECORD, "untrusted", .help = "the same where the highest prediction is chosen, whoever has run the layout",
      .record = &untrusted_record, .always = true },
    { 0 } } };
