/* Single points of a plan: their figures, and words for them. */
#include "ask/plan/plan.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

const char *const plan_figures[PLAN_FIGURE_COUNT] = {
#define X(name, together, pools) #name,
    PLAN_FIGURES(X)
#undef X
};
const char *const plan_parts[PLAN_PART_COUNT] = {
#define X(name, together, pools) name,
    PLAN_PARTS(X)
#undef X
};

static const char *const figure_rows[PLAN_KINDS][PLAN_FIGURE_COUNT] = {
    {
#define X(name, together, pools) together,
        PLAN_FIGURES(X)
#undef X
    }, {
#define X(name, together, pools) pools,
        PLAN_FIGURES(X)
#undef X
    } };
static const char *const part_rows[PLAN_KINDS][PLAN_PART_COUNT] = {
    {
#define X(name, together, pools) together,
        PLAN_PARTS(X)
#undef X
    }, {
#define X(name, together, pools) pools,
        PLAN_PARTS(X)
#undef X
    } };

/* With a demand the chips are those that it needs, not those that there are. */
static const char *row_of(const struct plan *plan, enum plan_kind kind, int figure)
{
    static const struct { int figure; const char *rows[PLAN_KINDS]; } needed[] = {
        { PLAN_per_gpu, { NAME_needed_per_gpu, NAME_pool_needed_per_gpu } },
        { PLAN_cost, { NAME_needed_cost, NAME_pool_needed_cost } },
        { PLAN_rate, { NAME_demand, NAME_demand } },
        { PLAN_replicas, { NAME_replicas_needed, NAME_pool_pairs_needed } } };
    for (size_t i = 0; plan->by_demand && i < sizeof needed / sizeof *needed; i++)
        if (needed[i].figure == figure)
            return needed[i].rows[kind];
    return figure_rows[kind][figure];
}

static bool open_report(struct plan *plan, struct variant *variant)
{
    enum { TEXTS = PLAN_FIGURE_COUNT + PLAN_PART_COUNT };
    const char *texts[TEXTS];
    for (int i = 0; i < PLAN_FIGURE_COUNT; i++)
        texts[i] = row_of(plan, variant->kind, i);
    memcpy(texts + PLAN_FIGURE_COUNT, part_rows[variant->kind], sizeof part_rows[0]);
    variant->reported = true;
    return plan_list(plan, variant, texts, TEXTS, &variant->report);
}

bool plan_tell(struct plan *plan, const struct search_point *at, struct plan_point *point)
{
    struct variant *variant = &plan->variants[at->space];
    struct arena scratch = arena_beside(plan->arena);
    double outputs[PLAN_FIGURE_COUNT + PLAN_PART_COUNT];
    if (!variant->reported && !open_report(plan, variant))
        return false;
    const struct list *list = &variant->report;
    double *inputs = arena_array(&scratch, list->input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < list->input_count; i++)
        inputs[i] = plan_input(plan, at, list->inputs[i].name);
    list_value(&scratch, list, inputs, NULL, outputs);
    arena_free(&scratch);
    point->at = *at;
    memcpy(point->figures, outputs, sizeof point->figures);
    memcpy(point->parts, outputs + PLAN_FIGURE_COUNT, sizeof point->parts);
    return true;
}

/* ---- words ------------------------------------------------------------------------------------ */

const char *plan_text(const struct plan *plan, const struct plan_point *point,
                      enum plan_figure figure, int digits)
{
    const struct variant *variant = &plan->variants[point->at.space];
    struct unit unit = scenario_unit(&variant->scenario, row_of(plan, variant->kind, figure));
    return quantity_text(plan->arena, point->figures[figure], unit, digits);
}

static const char *sizes(struct arena *arena, double chips, double dp, double pp, double experts)
{
    struct buffer out = { .arena = arena };
    buffer_print(&out, "TP %.0f", chips / dp / pp);
    if (dp > 1)
        buffer_print(&out, " x DP %.0f", dp);
    if (pp > 1)
        buffer_print(&out, " x PP %.0f", pp);
    if (experts > 1)
        buffer_print(&out, " x EP %.0f", experts);
    return out.data;
}

const char *plan_deployment(const struct plan *plan, const struct plan_point *point)
{
    const struct search_point *at = &point->at;
    const bool pools = plan->variants[at->space].kind == PLAN_POOLS;
    struct buffer out = { .arena = plan->arena };
    const char *server = sizes(plan->arena, plan_input(plan, at, NAME_chips),
                               plan_input(plan, at, NAME_attention_dp),
                               plan_input(plan, at, NAME_pipeline_parallel),
                               plan_input(plan, at, NAME_expert_parallel));
    const double draft = plan_input(plan, at, NAME_draft_tokens), held = plan_input(plan, at, NAME_held);
    const double copies = point->figures[PLAN_replicas];
    if (pools && copies > 1)
        buffer_print(&out, "%.0f x (", copies);
    if (pools)
        buffer_print(&out, "%.0f x %s prefill + %.0f x %s decode",
                     plan_input(plan, at, NAME_prefill_workers),
                     sizes(plan->arena, plan_input(plan, at, NAME_prefill_chips),
                           plan_input(plan, at, NAME_prefill_attention_dp),
                           plan_input(plan, at, NAME_prefill_pipeline_parallel), 1),
                     plan_input(plan, at, NAME_decode_workers), server);
    else
        buffer_print(&out, "%.0f x %s", copies, server);
    if (pools && copies > 1)
        buffer_print(&out, ")");
    buffer_print(&out, ", %.4g at once", held * plan_input(plan, at, NAME_attention_dp));
    if (!pools)
        buffer_print(&out, ", chunks of %.0f", plan_input(plan, at, NAME_prefill_size));
    if (draft > 0)
        buffer_print(&out, ", %.0f guess%s", draft, draft > 1 ? "es" : "");
    return out.data;
}

const char *plan_variant(const struct plan *plan, const struct plan_point *point)
{
    const struct variant *one = &plan->variants[point->at.space], *first = plan->variants;
    struct buffer out = { .arena = plan->arena };
    bool machines = false, precisions = false, kvs = false;
    for (size_t i = 1; i < plan->count; i++) {
        machines |= plan->variants[i].machine != first->machine;
        precisions |= plan->variants[i].precision != first->precision;
        kvs |= plan->variants[i].kv != first->kv;
    }
    buffer_add(&out, "", 0);
    if (machines)
        buffer_print(&out, "%s", one->scenario.machine);
    if (precisions)
        buffer_print(&out, "%s%s", out.size ? ", " : "", one->precision);
    if (kvs)
        buffer_print(&out, "%s%s cache", out.size ? ", " : "", one->kv);
    return out.data;
}

/* One more sequence in each rank, all else as it is. */
const char *plan_binds(struct plan *plan, const struct plan_point *point)
{
    const struct search_space *space = &plan->spaces[point->at.space];
    struct arena scratch = arena_beside(plan->arena);
    struct search_point next = point->at;
    const char *binds = "";
    double *outputs = arena_array(&scratch, space->list.output_count, sizeof *outputs);
    if (++next.load == space->load_count) {
        arena_free(&scratch);
        return space->load_count > 1 ? "seats" : "";
    }
    search_values(&scratch, plan->spaces, &next, outputs);
    for (size_t l = space->limit_count; l-- > 0;)
        if (outputs[space->limits[l].output] > space->limits[l].bound)
            binds = space->limits[l].name;
    if (outputs[space->most] < space->loads[next.load])
        binds = "memory";
    arena_free(&scratch);
    return binds;
}
