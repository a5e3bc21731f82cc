/* plan --sweep: the best deployment at each of some values of a row: what a larger scale-up domain,
 * faster memory, longer prompts or more GPUs buy. */
#include "ask/plan/plan.h"
#include "scenario/sweep.h"

static void add_figures(struct plan *one, const struct plan_point *best, struct table *table,
                        struct doc *doc)
{
    table_cell(table, "%s", plan_text(one, best, PLAN_per_gpu, 4));
    table_cell(table, "%s", plan_text(one, best, PLAN_speed_per_user, 3));
    table_cell(table, "%s", plan_text(one, best, PLAN_ttft, 3));
    table_cell(table, "%s", best->figures[PLAN_blended_cost_per_token] > 0
               ? plan_text(one, best, PLAN_blended_cost_per_token, 3) : "");
    table_cell(table, "%s", plan_binds(one, best));
    const char *variant = plan_variant(one, best);
    table_cell(table, "%s%s%s", plan_deployment(one, best), *variant ? "; " : "", variant);
    doc_add_string(table->arena, doc, "deployment", plan_deployment(one, best));
    for (int i = 0; i < PLAN_FIGURE_COUNT; i++)
        doc_add_number(table->arena, doc, plan_figures[i], best->figures[i]);
}

static bool add_value(struct plan *plan, const struct sweep *sweep, size_t i,
                      struct table *table, struct doc *list, bool *any)
{
    struct arena arena = arena_beside(plan->arena);
    struct plan one = { .arena = &arena, .command = plan->command,
                         .swept = sweep_value(sweep, i), .answer = plan->answer,
                        .error = plan->error, .model = plan->model, .subject = plan->subject };
    struct plan_point best;
    struct doc *doc = doc_add(plan->arena, list, NULL, DOC_OBJECT);
    doc_add_number(plan->arena, doc, sweep->row, sweep->values[i]);
    table_cell(table, "%s", quantity_text(plan->arena, sweep->values[i], sweep->unit, 6));
    bool good = plan_spaces(&one) &&
                search_run(&arena, one.spaces, one.count, &one.result, plan->error);
    if (good && !one.result.front.count) {
        for (int k = 0; k < 5; k++)
            table_cell(table, "-");
        table_cell(table, "none within the limits");
    } else if (good && (good = plan_read_point(&one, &one.result.front.points[0], &best))) {
        *any = true;
        add_figures(&one, &best, table, doc);
    }
    if (!plan->scope && one.scope)
        plan->scope = arena_print(plan->arena, "%s on %s", one.variants->scenario.model, one.scope);
    arena_free(&arena);
    return good;
}

bool plan_sweep(struct plan *plan)
{
    static const char *const head[] = { "per GPU", "per user", "TTFT", "blended", "binding",
                                        "best deployment" };
    struct table table = { .arena = plan->arena, .columns = 7, .left = "rrrrrll" };
    struct doc *list = doc_add(plan->arena, plan->answer->doc, "sweep", DOC_ARRAY);
    struct sweep sweep;
    bool any = false;
    if (!sweep_read(plan->arena, plan->command, &sweep, plan->error))
        return false;
    table_cell(&table, "%s", sweep.row);
    for (int i = 0; i < 6; i++)
        table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < sweep.count; i++)
        if (!add_value(plan, &sweep, i, &table, list, &any))
            return false;
    buffer_print(&plan->answer->text, "%s: the best deployment for each %s\n\n", plan->scope,
                 sweep.row);
    table_print(&table, &plan->answer->text, "  ");
    table_csv(&table, &plan->answer->csv);
    plan->answer->status = !any;
    return true;
}
