/* Single points of a plan: their figures, as `eval` gives them.
 *
 * The search stores only speed and throughput. For every point that is shown, the rows are
 * evaluated again with the point's settings as given inputs: first through a graph shared by all
 * points of a variant, then, for the breakdown of TPOT, through one that has a scale on each part.
 * The number of decoding sequences is the solution of a ROOT and is held while parts are taken.
 * The inputs set here are those that the `check` line prints, which makes the figures
 * reproducible; plan_deployment.c puts them into words and records. */
#include "ask/plan/plan.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

const char *const plan_figures[PLAN_FIGURE_COUNT] = {
#define X(name, together, pools) #name,
    PLAN_FIGURES(X)
#undef X
};

const char *const plan_figure_rows[PLAN_KINDS][PLAN_FIGURE_COUNT] = {
    {
#define X(name, together, pools) together,
        PLAN_FIGURES(X)
#undef X
    }, {
#define X(name, together, pools) pools,
        PLAN_FIGURES(X)
#undef X
    } };

/* With a demand the chips of pools are those that it needs, not those that there are. */
const char *const plan_demand_rows[PLAN_FIGURE_COUNT] = {
    [PLAN_per_gpu] = NAME_pool_needed_per_gpu, [PLAN_cost] = NAME_pool_needed_cost,
    [PLAN_deployment_rate] = NAME_request_demand, [PLAN_replicas] = NAME_pool_pairs_needed };

const char *plan_row(const struct plan *plan, enum plan_kind kind, int figure)
{
    const bool demand = plan->by_demand && kind == PLAN_POOLS && plan_demand_rows[figure];
    return demand ? plan_demand_rows[figure] : plan_figure_rows[kind][figure];
}

/* ---- a point as a question of its own --------------------------------------------------------- */

/* Inputs of that question. The load of servers that do both is a rate, to four digits; pools have
 * the load that was searched. */
static const char *const read_together[] = {
    NAME_chips, NAME_attention_dp, NAME_pipeline_parallel, NAME_expert_parallel, NAME_draft_tokens,
    NAME_chunked_prefill_size, NAME_replicas, NAME_request_demand, NAME_batch, NAME_layout_distance };
static const char *const read_pools[] = {
    NAME_chips, NAME_attention_dp, NAME_pipeline_parallel, NAME_expert_parallel, NAME_draft_tokens,
    NAME_prefill_chips, NAME_prefill_attention_dp, NAME_prefill_pipeline_parallel,
    NAME_decode_workers, NAME_prefill_workers, NAME_rank_running_target,
    NAME_deployment_chips, NAME_batch, NAME_layout_distance };
enum { TOGETHER_REPLICAS = 6, TOGETHER_DEMAND, TOGETHER_BATCH, TOGETHER_DISTANCE, TOGETHER_COUNT,
       POOLS_SEARCHED = 11, POOLS_CHIPS = POOLS_SEARCHED, POOLS_BATCH, POOLS_DISTANCE, POOLS_COUNT };

static const char *const *read_inputs(enum plan_kind kind, size_t *count)
{
    *count = kind == PLAN_POOLS ? POOLS_COUNT : TOGETHER_COUNT;
    return kind == PLAN_POOLS ? read_pools : read_together;
}

/* Rate of a replica, replicas that there are chips for, replicas that a demand needs. */
enum { SIZE_RATE, SIZE_COPIES, SIZE_NEEDED, SIZES };
static const char *const size_rows[PLAN_KINDS][SIZES] = {
    { NAME_rate_at_target, NAME_replicas, NAME_replicas_needed },
    { NAME_disaggregated_chips, NAME_pool_replicas, NAME_pool_pairs_needed } };

/* Is the input set from the point? What the user gave, as a number or an expression, stays. */
static bool is_read(const struct variant *variant, const char *name)
{
    const struct fact *fact = facts_find(&variant->read.facts, name);
    return fact && fact->origin == ORIGIN_AXIS && !fact->expression;
}

/* Of the report: the figures, then the sequences that decode. */
enum { RUNNING = PLAN_FIGURE_COUNT, OUTPUTS };

/* The sequences that decode: a ROOT, which a breakdown holds at its value. */
static const char *const running_rows[PLAN_KINDS] = { NAME_rank_running_mean, NAME_disagg_rank_running };

/* The graphs of a variant. That of its figures starts at the numbers of a point that was found: it is
 * evaluated once while it is built, and there are layouts for which a row has no value. That of TPOT has
 * only what a point tells, the sequences that decode and the scales of the parts left to vary. */
static bool open_report(struct plan *plan, struct variant *variant, const double *read)
{
    const char *texts[OUTPUTS], *tpot = plan_row(plan, variant->kind, PLAN_tpot);
    const char *running = running_rows[variant->kind];
    struct facts *facts = &variant->read.facts;
    struct values values, parts;
    size_t count;
    const char *const *names = read_inputs(variant->kind, &count);
    if (variant->kind == PLAN_POOLS) {
        variant->read.facts = facts_copy(&variant->scenario.facts);
        facts_remove(facts, NAME_disagg_prefill_time);  /* it follows from the prefill workers */
    } else
        facts_remove(facts, NAME_deployment_chips);     /* those of its own replicas */
    for (size_t i = 0; i < count; i++)
        if (!fact_given(facts_find(facts, names[i])) || !strcmp(names[i], NAME_deployment_chips))
            facts_set(facts, names[i], read[i], ORIGIN_AXIS, "plan");
    for (int i = 0; i < PLAN_FIGURE_COUNT; i++)
        texts[i] = plan_row(plan, variant->kind, i);
    texts[RUNNING] = running;
    if (!values_of(&variant->read, texts, OUTPUTS, &values, plan->error))
        return false;
    struct scenario held = variant->read;
    held.facts = facts_copy(&held.facts);
    facts_set(&held.facts, running, 1, ORIGIN_AXIS, "plan");
    if (!values_of_parts(&held, &tpot, 1, &parts, plan->error))
        return false;
    bool *vary = arena_array(plan->arena, parts.graph.input_count + 1, sizeof *vary);
    for (size_t i = 0; i < parts.graph.input_count; i++)
        vary[i] = parts.graph.inputs[i].entry == INPUT_SCALE || !strcmp(parts.graph.inputs[i].name, running);
    for (size_t k = 0; k < count; k++) {
        const int input = graph_input(&parts.graph, names[k]);
        if (input >= 0 && is_read(variant, names[k]))
            vary[input] = true;
    }
    graph_specialize(plan->arena, &parts.graph, parts.inputs, vary, &variant->parts);
    variant->report = values.graph;
    variant->reported = true;
    return true;
}

bool plan_sizes(struct plan *plan, struct variant *variant)
{
    return plan_list(plan, variant, size_rows[variant->kind], SIZES, &variant->sizes);
}

/* The inputs with which points are asked again. */
static void set_read(struct plan *plan, const struct variant *variant, struct plan_point *points, const size_t *which,
                     size_t found)
{
    struct arena scratch = arena_beside(plan->arena);
    const struct graph *graph = &variant->sizes;
    struct column *inputs = arena_array(&scratch, graph->input_count + 1, sizeof *inputs);
    double *sizes[SIZES];
    size_t count;
    const char *const *names = read_inputs(variant->kind, &count);
    for (size_t i = 0; i < graph->input_count; i++) {
        double *column = arena_array(&scratch, found, sizeof *column);
        for (size_t k = 0; k < found; k++)
            column[k] = plan_input(plan, &points[which[k]].at, graph->inputs[i].name);
        inputs[i] = (struct column){ column, 1 };
    }
    for (int i = 0; i < SIZES; i++)
        sizes[i] = arena_array(&scratch, found, sizeof *sizes[i]);
    graph_run(graph, inputs, sizes, found);
    for (size_t k = 0; k < found; k++) {
        struct plan_point *point = &points[which[k]];
        const struct search_point *at = &point->at;
        const double copies = sizes[plan->by_demand ? SIZE_NEEDED : SIZE_COPIES][k];
        const double batch = fmax(1, plan_input(plan, at, NAME_rank_running_target) *
                                     plan_input(plan, at, NAME_attention_dp) /
                                     plan_input(plan, at, NAME_pipeline_parallel));
        for (size_t i = 0; i < count; i++)
            point->read[i] = plan_input(plan, at, names[i]);
        if (variant->kind == PLAN_POOLS) {
            point->read[POOLS_CHIPS] = copies * sizes[SIZE_RATE][k];
            point->read[POOLS_BATCH] = batch;
        } else {
            point->read[TOGETHER_REPLICAS] = copies;
            point->read[TOGETHER_DEMAND] = rate_down(copies * sizes[SIZE_RATE][k]);
            point->read[TOGETHER_BATCH] = batch;
        }
    }
    arena_free(&scratch);
}

/* The figures of the points of one variant, all at once. */
static void run_report(struct plan *plan, const struct variant *variant, struct plan_point *points,
                       const size_t *which, size_t count)
{
    struct arena scratch = arena_beside(plan->arena);
    const struct graph *graph = &variant->report;
    struct column *inputs = arena_array(&scratch, graph->input_count + 1, sizeof *inputs);
    double *outputs[OUTPUTS];
    size_t read;
    const char *const *names = read_inputs(variant->kind, &read);
    for (size_t i = 0; i < graph->input_count; i++)
        inputs[i] = (struct column){ &graph->inputs[i].value, 0 };
    for (size_t k = 0; k < read; k++) {
        const int input = graph_input(graph, names[k]);
        double *column = arena_array(&scratch, count, sizeof *column);
        for (size_t i = 0; i < count; i++)
            column[i] = points[which[i]].read[k];
        if (input >= 0 && is_read(variant, names[k]))
            inputs[input] = (struct column){ column, 1 };
    }
    for (int i = 0; i < OUTPUTS; i++)
        outputs[i] = arena_array(&scratch, count, sizeof *outputs[i]);
    graph_run(graph, inputs, outputs, count);
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < PLAN_FIGURE_COUNT; k++)
            points[which[i]].figures[k] = outputs[k][i];
        points[which[i]].running = outputs[RUNNING][i];
    }
    arena_free(&scratch);
}

struct breakdown plan_parts(struct plan *plan, const struct plan_point *point)
{
    struct arena scratch = arena_beside(plan->arena);
    const struct variant *variant = &plan->variants[point->at.space];
    const struct graph *graph = &variant->parts;
    struct breakdown parts = { .whole = point->figures[PLAN_tpot] };
    double *inputs = arena_array(&scratch, graph->input_count + 1, sizeof *inputs);
    double *nodes = arena_array(&scratch, graph->count + 1, sizeof *nodes);
    size_t read;
    const char *const *names = read_inputs(variant->kind, &read);
    for (size_t k = 0; k < graph->input_count; k++)
        inputs[k] = graph->inputs[k].entry == INPUT_SCALE ? 1 : point->running;
    for (size_t k = 0; k < read; k++) {
        const int input = graph_input(graph, names[k]);
        if (input >= 0)
            inputs[input] = point->read[k];
    }
    graph_value(&scratch, graph, inputs, nodes, NULL);
    parts.at = graph_breakdown(plan->arena, &variant->read.formulas, graph, 0, nodes, &parts.count);
    arena_free(&scratch);
    return parts;
}

bool plan_read_points(struct plan *plan, const struct search_point *at, size_t count, struct plan_point *points)
{
    size_t *which = arena_array(plan->arena, count + 1, sizeof *which);
    for (size_t v = 0; v < plan->count; v++) {
        struct variant *variant = &plan->variants[v];
        size_t found = 0;
        for (size_t i = 0; i < count; i++)
            if (at[i].space == v)
                which[found++] = i;
        if (!found)
            continue;
        for (size_t i = 0; i < found; i++)
            points[which[i]].at = at[which[i]];
        set_read(plan, variant, points, which, found);
        if (!variant->reported && !open_report(plan, variant, points[which[0]].read))
            return false;
        run_report(plan, variant, points, which, found);
    }
    return true;
}

bool plan_read_point(struct plan *plan, const struct search_point *at, struct plan_point *point)
{
    return plan_read_points(plan, at, 1, point);
}

bool plan_keeps(const struct plan *plan, const struct plan_point *point)
{
    return point->figures[PLAN_ttft] <= plan->variants[point->at.space].ttft &&
           point->figures[PLAN_tpot] <= plan->tpot;
}

struct scenario plan_read_scenario(struct plan *plan, const struct plan_point *point)
{
    const struct variant *variant = &plan->variants[point->at.space];
    struct scenario scenario = variant->read;
    size_t count;
    const char *const *names = read_inputs(variant->kind, &count);
    scenario.facts = facts_copy(&scenario.facts);
    for (size_t i = 0; i < count; i++)
        if (is_read(variant, names[i]))
            facts_set(&scenario.facts, names[i], point->read[i],        /* the distance follows from the layout */
                      strcmp(names[i], NAME_layout_distance) ? ORIGIN_AXIS : ORIGIN_SHEET, "plan");
    return scenario;
}
