/* The answer of `plan`: the best deployment, the limit that binds it, what a wider limit would gain,
 * the Pareto front, and how much of the space was searched. plan.template is its text.
 *
 * JSON has the whole front; the text shows about a dozen points of it, spaced evenly in the logarithm
 * of speed. Records of points come from plan_deployment.c, their figures from plan_point.c, which
 * evaluates the rows again at each point, so that `eval` with the words of `check` gives the same
 * bits. Where no deployment meets the limits, the answer is the nearest one and the limits that it
 * exceeds. With --sweep there is one best point for each value instead (plan_sweep.c). The
 * records at the end declare the keys for the API. */
#include "ask/plan/plan.h"
#include "scenario/basis.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "deploy/published.h"
#include "deploy/server.h"

#include <math.h>
#include <string.h>

/* ---- what was asked and searched ------------------------------------------------------------------ */

static const char *const limit_rows[] = {
    NAME_ttft_limit, NAME_tpot_limit, NAME_load_margin, NAME_prefill_utilization_max,
    NAME_gpu_memory_utilization, NAME_hbm_reported, NAME_replica_chips_max,
    NAME_pipeline_parallel_max, NAME_max_num_seqs, NAME_tensor_parallel_most };
enum { LIMIT_ROWS = sizeof limit_rows / sizeof *limit_rows };
static const char *const asked_limit_rows[] = { NAME_deployment_chips, NAME_request_demand, NAME_users_demand,
                                                NAME_concurrency_most, NAME_site_power, NAME_ttft_limit_percentile, NAME_tpot_limit_percentile };

/* The limits that deployments had to keep, of the first machine: the words of the question ask for
 * them again. There is no TTFT limit where no layout meets the usual one, and no number of GPUs
 * where the deployment takes as many as it needs. */
static void add_limits(struct plan *plan, struct section *section)
{
    struct scenario *asked = &plan->variants->asked;
    const struct fact *chips = facts_find(&asked->facts, NAME_deployment_chips);
    struct section *limits = section_add(section, "limits", SECTION_RECORD);
    struct error ignored;
    double value;
    figures_words(asked, limits);
    for (int i = 0; i < LIMIT_ROWS; i++)
        if (i == 0 && isinf(plan->variants->ttft))
            section_nothing(limits, limit_rows[i]);
        else if (value_of(asked, limit_rows[i], &value, &ignored))
            section_number(limits, limit_rows[i], value, scenario_unit(asked, limit_rows[i]));
    if (plan->ttft_share > 0)
        section_number(limits, NAME_ttft_limit_percentile, plan->ttft_share, unit_one);
    if (plan->tpot_share > 0)
        section_number(limits, NAME_tpot_limit_percentile, plan->tpot_share, unit_one);
    section_word(limits, "ttft_at", plan->ttft_share > 0 ? arena_print(plan->arena, " at p%.6g", 100 * plan->ttft_share) : "")
        ->text_only = true;
    section_word(limits, "tpot_at", plan->tpot_share > 0 ? arena_print(plan->arena, " at p%.6g", 100 * plan->tpot_share) : "")
        ->text_only = true;
    if (isinf(plan->variants->ttft))
        section_word(limits, "reason", "no layout meets the default TTFT");
    if (chips && !plan->alone && (fact_given(chips) || !plan->by_demand))
        section_number(limits, NAME_deployment_chips, plan->variants->gpus, unit_one);
    if (fact_given(facts_find(&asked->facts, NAME_site_power)))
        section_number(limits, NAME_site_power, value_or_nan(asked, NAME_site_power), scenario_unit(asked, NAME_site_power));
    if (plan->in_flight)
        section_number(limits, NAME_concurrency_most, value_or_nan(asked, NAME_concurrency_most), unit_one);
    if (fact_given(facts_find(&asked->facts, NAME_users_demand)))
        section_number(limits, NAME_users_demand, value_or_nan(asked, NAME_users_demand), unit_one);
    else if (plan->by_demand && value_of(asked, NAME_request_demand, &value, &ignored))
        section_number(limits, NAME_request_demand, value, scenario_unit(asked, NAME_request_demand));
}

static const char *const infeasible[SEARCH_LIMITS] = {
    "infeasible_prefill", "infeasible_stability", "infeasible_ttft", "infeasible_tpot",
    "infeasible_concurrency", "infeasible_chips" };

static void add_counts(struct plan *plan, struct section *section)
{
    const struct search_count *count = &plan->result.count;
    struct section *points = section_add(section, "points", SECTION_RECORD);
    section_number(points, "all", (double)count->points, unit_one);
    section_number(points, "evaluated", (double)count->seen, unit_one);
    section_number(points, "infeasible_weights", (double)count->no_fit, unit_one);
    section_number(points, "infeasible_kv", (double)count->no_room, unit_one);
    for (size_t l = 0; l < plan->spaces->limit_count; l++)
        section_number(points, infeasible[l], (double)count->broken[l], unit_one);
    section_number(points, "feasible", (double)count->met, unit_one);
    section_number(points, "pareto", (double)plan->result.front.count, unit_one);
    section_number(points, "layouts", (double)count->settings, unit_one)->text_only = true;
    section_number(points, "loads", (double)plan->spaces->load_count, unit_one)->text_only = true;
}

/* What the first line says of the question. */
static bool add_question(struct plan *plan, struct section *section)
{
    static const char *const lengths[] = { NAME_prompt_tokens, NAME_output_tokens };
    struct scenario *scenario = &plan->variants->scenario;
    struct values values;
    if (!values_of(scenario, lengths, 2, &values, plan->error))
        return false;
    section_word(section, "model", scenario->model);
    section_word(section, "scope", plan->scope)->text_only = true;
    for (int i = 0; i < 2; i++)
        section_number(section, lengths[i], values.at[i], scenario_unit(scenario, lengths[i]))
            ->text_only = true;
    section_number(section, "ttft_missed", plan->ttft, unit_second)->text_only = true;
    section_switch(section, "by_demand", plan->by_demand)->text_only = true;
    return true;
}

/* How the best deployment is rented, and which of the GPUs that it may have it leaves. */
static void add_hosts(struct plan *plan, const struct plan_point *best, struct section *section)
{
    struct scenario *scenario = &plan->variants[best->at.space].scenario;
    const double *at = best->figures, gpus = plan->variants[best->at.space].gpus;
    const bool all = !plan->by_demand && gpus < ENDLESS;
    scenario_hosts(scenario, at[PLAN_deployment_chips], at[PLAN_hosts], at[PLAN_host_chips], section);
    section_number(section, "gpus", gpus, unit_one)->text_only = true;
    section_number(section, "left_over", all ? gpus - at[PLAN_deployment_chips] : 0, unit_one)->text_only = true;
}

/* ---- deployments ---------------------------------------------------------------------------------- */

/* Does the prediction interval of the better point include the other? */
static bool within_interval(const struct plan_point *better, const struct plan_point *point)
{
    return better->figures[PLAN_per_gpu] * better->figures[PLAN_throughput_low] <=
           point->figures[PLAN_per_gpu];
}

/* Show a deployment of the answer in the text as well, where the best one is another. */
static void add_shown(struct plan *plan, struct section *section, const char *name, struct section *record,
                      const struct plan_point *point)
{
    struct section *shown = section_add(section, name, SECTION_LIST);
    shown->text_only = true;
    section_share(shown, record);
    section_word(record, "alike", within_interval(plan->best, point) ? "~" : "")->text_only = true;
}

/* The simplest deployment: the best of aggregated replicas without pipeline stages. */
static bool add_simplest(struct plan *plan, struct section *section)
{
    const struct search_front *tops = &plan->result.tops;
    const struct plan_point *best = plan->best;
    struct plan_point point;
    size_t i = 0;
    while (i < tops->count && (plan->variants[tops->points[i].space].kind != PLAN_TOGETHER ||
                               plan_input(plan, &tops->points[i], NAME_pipeline_parallel) > 1))
        i++;
    if (i < tops->count && !plan_read_point(plan, &tops->points[i], &point))
        return false;
    if (i == tops->count || !plan_keeps(plan, &point)) {
        section_nothing(section, "simplest");
        return true;
    }
    struct section *simplest = section_add(section, "simplest", SECTION_RECORD);
    plan_record(plan, &point, simplest);
    if (point.at.space != best->at.space || point.at.setting != best->at.setting ||
        point.at.load != best->at.load)
        add_shown(plan, section, "simpler", simplest, &point);
    return true;
}

/* The best deployment whose layouts published servers have, here or elsewhere. */
static bool add_known(struct plan *plan, struct section *section)
{
    const struct search_front *tops = &plan->result.tops;
    struct plan_point point;
    size_t i = 0;
    while (i < tops->count && plan_input(plan, &tops->points[i], NAME_layout_distance) > PUBLISHED_ELSEWHERE)
        i++;
    if (i < tops->count && !plan_read_point(plan, &tops->points[i], &point))
        return false;
    if (i == tops->count || !plan_keeps(plan, &point)) {
        section_nothing(section, "measured");
        section_word(section, "measured_reason", "no layout within the limits is one that published servers have");
        return true;
    }
    struct section *known = section_add(section, "measured", SECTION_RECORD);
    plan_record(plan, &point, known);
    if (plan_input(plan, &plan->best->at, NAME_layout_distance) > PUBLISHED_ELSEWHERE)
        add_shown(plan, section, "known", known, &point);
    return true;
}

/* For each limit that a quarter more would move: the best deployment within the wider one, where rows know the limits. */
static bool add_moves(struct plan *plan, struct section *section)
{
    const struct search_point *best = plan->result.front.points;
    const int by = !plan->by_demand ? plan->by_cost ? PLAN_cost : PLAN_per_gpu
                                    : plan->by_cost ? PLAN_rent : PLAN_deployment_chips;
    struct section *list = section_add(section, "moves", SECTION_LIST);
    section_word(section, "worth", !plan->by_demand ? plan->by_cost ? "tokens per USD" : "tokens/s per GPU"
                                   : plan->by_cost ? "rent" : "GPUs")->text_only = true;
    for (size_t l = 0; l < plan->spaces->limit_count && !plan->tails; l++) {
        const struct search_limit *limit = &plan->spaces->limits[l];
        const struct search_point *moved = &plan->result.moved[l];
        struct plan_point point, first;
        if (!(plan->result.moved_found & 1u << l) || !(moved->throughput > best->throughput))
            continue;
        if (!plan_read_point(plan, moved, &point) || !plan_read_point(plan, best, &first))
            return false;
        const double ratio = point.figures[by] / first.figures[by];
        const double gain = by == PLAN_cost ? 1 / ratio - 1 : ratio - 1;
        if (!(plan->by_demand ? gain < 0 : gain > 0))
            continue;                           /* the search also weighs how far the layout is from published ones */
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_word(one, "limit", limit->name);
        section_number(one, "bound", limit->wider, unit_second);
        section_number(one, "gain", gain, unit_one)->text_only = true;
        plan_record(plan, &point, section_add(one, "best", SECTION_RECORD));
    }
    return true;
}

/* The front, whole for a document and for CSV; in "shown" about a dozen of its points, evenly spaced in the logarithm
 * of speed, with the first and the last. A record that nobody reads is not made. */
static void add_front(struct plan *plan, struct section *section)
{
    enum { SHOWN = 12 };
    const struct search_front *front = &plan->result.front;
    const bool whole = plan->answer->doc || plan->answer->csv.arena, asked = command_given(plan->command, "front");
    struct section *list = section_add(section, "front", SECTION_LIST);
    struct section *shown = section_add(section, "shown", SECTION_LIST);
    const struct plan_point *before = NULL;
    double next = 0;
    shown->text_only = true;
    section_word(section, "asked_front", asked ? "front" : "")->text_only = true;
    section_quantity(section, "fastest", front->count > 1 ? front->points[front->count - 1].speed : NAN, "token/s")->text_only =
        true;
    for (size_t i = 0; i < front->count && (whole || asked); i++) {
        const struct plan_point *point = &plan->front[i];
        const double speed = front->points[i].speed;
        const bool skipped = i && speed < next && i + 1 < front->count;
        if (skipped && !whole)
            continue;
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        plan_record(plan, point, one);
        if (skipped)
            continue;
        next = speed * pow(front->points[front->count - 1].speed / front->points[0].speed, 1.0 / (SHOWN - 1));
        section_share(shown, one);
        section_word(one, "alike", before && within_interval(before, point) ? "~" : "")->text_only = true;
        before = point;
    }
    plan_csv(list, &plan->answer->csv);
}

/* "TTFT relaxed to 6.68 x, TPOT by 20 %": the limit that is exceeded most, and the others that the figures shown exceed. */
static const char *relaxed_limits(const struct plan *plan, const struct search_space *space, size_t worst,
                                  const struct section *nearest)
{
    static const char *const shown[][2] = { { "TTFT", "ttft" }, { "TPOT", "tpot" }, { "GPUs", NAME_deployment_chips } };
    struct buffer out = { .arena = plan->arena };
    for (size_t i = 0; i < space->limit_count; i++) {
        const struct search_limit *limit = &space->limits[(worst + i) % space->limit_count];
        double times = i ? 0 : plan->result.miss_by;
        for (size_t k = 0; i && k < sizeof shown / sizeof *shown; k++)
            if (!strcmp(limit->name, shown[k][0]))
                times = section_value(nearest, shown[k][1]) / limit->bound;
        if (i && !(times > 1))
            continue;
        buffer_print(&out, "%s%s%s ", i ? ", " : "", !strcmp(limit->name, "prompts") ? "the prefill load"
                     : !strcmp(limit->name, "stability") ? "the decode load" : limit->name, i ? "" : " relaxed");
        if (times > 3)
            buffer_print(&out, "to %s x", quantity_text(plan->arena, times, unit_one, 3));
        else if (times > 1.005)
            buffer_print(&out, "by "), share_print(&out, times - 1, 0);
        else
            buffer_print(&out, "by less than 1 %%");
    }
    return out.data;
}

/* No deployment is within the limits: the nearest one and the limits that it exceeds, or else why there is not even that. */
static bool add_nearest(struct plan *plan, struct section *section, struct plan_point *nearest, bool *found)
{
    static const char *const memory[] = { NAME_weights_stored, NAME_deployment_memory };
    struct scenario *scenario = &plan->variants->scenario;
    const struct search_point *at = &plan->result.miss;
    const struct search_space *space = &plan->spaces[at->space];
    *found = plan->result.miss_found;
    if (!plan->result.count.points)
        return true;
    for (int i = 0; i < 2 && !*found; i++) {
        double value;
        if (!value_of(scenario, memory[i], &value, plan->error))
            return false;
        section_number(section, memory[i], value, scenario_unit(scenario, memory[i]))->text_only = true;
    }
    if (!*found) {
        section_number(section, "memory_share", section_value(section, memory[0]) / section_value(section, memory[1]),
                       unit_one)->text_only = true;
        section_number(section, "gpus_holding", chips_holding(section_value(section, "memory_share"),
                       value_or_nan(scenario, NAME_deployment_chips)), unit_one)->text_only = true;
        return true;
    }
    if (!plan_read_point(plan, at, nearest))
        return false;
    double *outputs = arena_array(plan->arena, space->graph.output_count, sizeof *outputs);
    size_t worst = 0;
    search_values(plan->arena, plan->spaces, at, outputs);
    for (size_t l = 1; l < space->limit_count; l++)
        if (outputs[space->limits[l].output] / space->limits[l].bound >
            outputs[space->limits[worst].output] / space->limits[worst].bound)
            worst = l;
    struct section *one = section_add(section, "nearest", SECTION_RECORD);
    plan_record(plan, nearest, one);
    section_number(one, "wider_by", plan->result.miss_by, unit_one);
    section_word(one, "relaxed", relaxed_limits(plan, space, worst, one))->text_only = true;
    return true;
}

/* ---- notes ---------------------------------------------------------------------------------------- */

void plan_note_question(struct plan *plan)
{
    static const struct { const char *option, *name; } limits[] = { { "ttft", "TTFT" }, { "tpot", "TPOT" } };
    const double bounds[] = { plan->ttft, plan->tpot };
    struct facts *facts = &plan->variants->scenario.facts;
    const struct fact *weights = facts_find(facts, NAME_weight_bytes);
    const bool rents = plan->swept.row && !strcmp(plan->swept.row, NAME_chip_price);
    const char *before = NULL;
    for (size_t i = 0; i < 2; i++)
        if (!command_given(plan->command, limits[i].option))
            facts_note(facts, "%s within %s by default%s", limits[i].name,
                       quantity_text(plan->arena, bounds[i], unit_second, 9),
                       i == 0 && isinf(plan->variants->ttft) ? ": no layout meets it" : "");
    if (!command_given(plan->command, "precision") && weights)
        facts_note(facts, "weights as in the checkpoint, %.3g byte%s each: --precision fp8,fp4 "
                   "compares others", weights->value, weights->value > 1.01 ? "s" : "");
    if (!command_given(plan->command, "kv-precision"))
        facts_note(facts, "KV cache in bf16: --kv-precision bf16,fp8 compares both");
    for (size_t i = 0; i < plan->count; i++) {
        const struct fact *rent = facts_find(&plan->variants[i].scenario.facts, NAME_chip_price);
        if (plan->variants[i].machine != before && rent && !rents)
            facts_note(facts, "%s", rental_text(&plan->variants[i].scenario, rent->value,
                                                plan->variants[i].scenario.machine));
        before = plan->variants[i].machine;
    }
    scenario_note_length(&plan->variants->scenario);
}

void plan_basis(struct plan *plan, const struct plan_point *point, struct scenario *noted, struct basis *basis)
{
    static const enum plan_figure shown[] = {
        PLAN_tpot, PLAN_ttft, PLAN_per_gpu, PLAN_rate, PLAN_input_cost_per_token,
        PLAN_output_cost_per_token, PLAN_blended_cost_per_token };
    enum { COUNT = sizeof shown / sizeof *shown };
    struct scenario read = plan_read_scenario(plan, point);
    const char *rows[COUNT];
    for (int i = 0; i < COUNT; i++)
        rows[i] = plan_row(plan, plan->variants[point->at.space].kind, shown[i]);
    read.arena = noted->arena;
    read.formulas = noted->formulas;
    basis_texts(&read, rows, COUNT, basis);
    if (plan->variants[point->at.space].kind != PLAN_POOLS)
        server_note_load(&read, &noted->facts);
}

void plan_note_idle(struct plan *plan)
{
    static const char *const rows[] = {         /* those that cost least go first: the last ones are seldom asked */
        NAME_ttft_limit, NAME_tpot_limit, NAME_request_demand, NAME_replica_chips_max, NAME_pipeline_parallel_max,
        NAME_max_num_seqs, NAME_prefill_utilization_max, NAME_concurrency_most, NAME_budget_chips, NAME_hosts,
        NAME_layout_valid,
        NAME_deployment_throughput_per_chip, NAME_blended_cost_per_token, NAME_gpus_needed, NAME_predicted_tpot,
        NAME_predicted_ttft, NAME_disagg_throughput_per_chip, NAME_disagg_deployment_ttft, NAME_disagg_tpot };
    given_note(&plan->variants->scenario, rows, sizeof rows / sizeof *rows, "the plan");
}

/* ---- the answer ----------------------------------------------------------------------------------- */

bool plan_answer(struct plan *plan)
{
    const struct search_front *front = &plan->result.front;
    struct scenario *scenario = &plan->variants->scenario;
    struct section *section = section_new(plan->arena);
    struct basis basis = { 0 };
    struct plan_point shown;            /* the best, or the nearest */
    bool found = front->count > 0;
    if (!add_question(plan, section))
        return false;
    add_counts(plan, section);
    add_limits(plan, section);
    plan->best = plan->front;
    if (front->count && plan->validated && !plan_validate(plan, section))
        return false;
    if (front->count && plan->best) {
        shown = *plan->best;
        struct section *best = section_add(section, "best", SECTION_RECORD);
        plan_record(plan, &shown, best);
        section_word(best, "binds", plan->best_binds ? plan->best_binds : plan_binds(plan, &shown));
        add_hosts(plan, &shown, best);
        section_word(best, "sentence", plan_sentence(plan, &shown))->text_only = true;
        section_number(best, "users_at_once",
                       shown.figures[PLAN_per_gpu] * shown.figures[PLAN_deployment_chips] /
                       shown.figures[PLAN_speed_per_user], unit_one)->text_only = true;
        if (!add_known(plan, section) || !add_simplest(plan, section) || !add_moves(plan, section))
            return false;
        plan_check(plan, section);
    } else {
        section_nothing(section, "best");
        section_nothing(section, "measured");
        section_word(section, "measured_reason", "no deployment is within the limits");
        section_nothing(section, "simplest");
        plan->answer->status = 1;
        found = false;
        if (!front->count && !add_nearest(plan, section, &shown, &found))
            return false;
    }
    add_front(plan, section);
    if (command_draws(plan->command))
        plan->answer->picture = plan_picture(plan);
    plan_note_question(plan);
    if (found)
        plan_basis(plan, &shown, scenario, &basis);
    scenario->layouts = true;
    basis_notes(scenario, &basis);
    plan_note_idle(plan);
    figures_notes(scenario, section);
    section_document(section, plan->answer->doc);
    plan->answer->section = section;
    template_print(template_built_in(plan->arena, "ask/plan/plan.template"), section, &plan->answer->text);
    return !command_given(plan->command, "emit") || plan_emit(plan);
}

/* ---- the keys -------------------------------------------------------------------------------------- */

static const struct record best_record = { "PlanBest", (const struct answer_field[]){
    { FIELD_ALSO, .record = &plan_deployment_record },
    { FIELD_TEXT, "binds", .help = "the limit that a little more load violates", .always = true },
    { FIELD_TEXT_ONLY, .count = 7, .names = (const char *const[]){
          "sentence", "users_at_once", "hosts_paid", "hosts_why", "hosts_idle", "gpus", "left_over" } },
    { 0 } } };

static const struct record nearest_record = { "PlanNearest", (const struct answer_field[]){
    { FIELD_ALSO, .record = &plan_deployment_record },
    { FIELD_NUMBER, "wider_by", .help = "a limit relaxed by this factor admits it",
      .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "relaxed" }, .count = 1 },
    { 0 } } };

static const struct record move_record = { "PlanMove", (const struct answer_field[]){
    { FIELD_TEXT, "limit", .help = "the limit that is relaxed", .always = true },
    { FIELD_NUMBER, "bound", .help = "its relaxed value", .unit = "", .always = true },
    { FIELD_RECORD, "best", .help = "the best deployment within it",
      .record = &plan_deployment_record, .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "gain" }, .count = 1 },
    { 0 } } };

static const struct record points_record = { "PlanPoints", (const struct answer_field[]){
    { FIELD_NUMBER, "all", .help = "points of the search: layouts at loads", .always = true },
    { FIELD_NUMBER, "evaluated", .help = "points that were evaluated", .always = true },
    { FIELD_NUMBER, "infeasible_weights", .help = "the weights do not fit", .always = true },
    { FIELD_NUMBER, "infeasible_kv", .help = "KV cache full", .always = true },
    { FIELD_NUMBER, .help = "points that break this limit", .names = infeasible, .count = SEARCH_LIMITS },
    { FIELD_NUMBER, "feasible", .help = "points within all limits", .always = true },
    { FIELD_NUMBER, "pareto", .help = "Pareto-optimal", .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "layouts", "loads" }, .count = 2 },
    { 0 } } };

static const struct record limits_record = { "PlanLimits", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives these limits again", .always = true },
    { FIELD_ROWS, .names = limit_rows, .count = LIMIT_ROWS, .always = true },
    { FIELD_ROWS, .names = asked_limit_rows, .count = sizeof asked_limit_rows / sizeof *asked_limit_rows },
    { FIELD_TEXT, "reason", .help = "why a limit is null" },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "ttft_at", "tpot_at" }, .count = 2 },
    { 0 } } };

/* With a sweep that alone, and what was assumed; else all of those that no option asks for. */
const struct record answer_plan = { "Plan", (const struct answer_field[]){
    { FIELD_TEXT, "model", .help = "title of the model" },
    { FIELD_RECORD, "points", .help = "the range that was searched", .record = &points_record },
    { FIELD_RECORD, "best", .help = "the best deployment; null: none is feasible", .record = &best_record,
      .null = true },
    { FIELD_RECORD, "nearest", .help = "the deployment nearest to the limits, where none is feasible",
      .record = &nearest_record },
    { FIELD_RECORD, "measured", .help = "the best deployment whose layouts published servers have",
      .record = &plan_deployment_record, .null = true },
    { FIELD_TEXT, "measured_reason", .help = "why there is no measured one" },
    { FIELD_RECORD, "simplest", .help = "the best aggregated replicas without pipeline stages",
      .record = &plan_deployment_record, .null = true },
    { FIELD_RECORD, "limits", .help = "the limits that deployments had to keep", .record = &limits_record },
    { FIELD_LIST, "moves", .help = "the best deployment under each relaxed limit", .record = &move_record },
    { FIELD_LIST, "front", .help = "Pareto front of throughput per GPU over speed per user, the best first",
      .record = &plan_deployment_record },
    { FIELD_LIST, "validated", .help = "--validate: simulated results of the best layouts",
      .record = &plan_validated },
    { FIELD_TEXT, "check", .help = "words of the command that reproduces the best" },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer" },
    { FIELD_RECORD, "emit", .help = "--emit: commands or manifests that start the best" },
    { FIELD_LIST, "sweep", .help = "--sweep: the best deployment at each value", .record = &plan_swept },
    { FIELD_TEXT_ONLY, "shown", .record = &plan_deployment_record },
    { FIELD_TEXT_ONLY, "known", .record = &plan_deployment_record },
    { FIELD_TEXT_ONLY, "simpler", .record = &plan_deployment_record },
    { FIELD_TEXT_ONLY, .count = 13, .names = (const char *const[]){
          "asked_front", "fastest", "scope", "swept", NAME_prompt_tokens, NAME_output_tokens, "ttft_missed", "by_demand", "worth",
          NAME_weights_stored, NAME_deployment_memory, "memory_share", "gpus_holding" } },
    { 0 } } };
