/* plan --sweep: the best deployment at each of some values of a row, which shows what a larger scale-up
 * domain, faster memory, longer prompts or more GPUs buy.
 *
 * Each value is a plan of its own, searched in an arena that is freed after it; what the answer keeps
 * of it is copied. The notes are those of all values, each once, and a default counts by the largest
 * effect that it has on any of the best deployments. */
#include "ask/plan/plan.h"
#include "scenario/basis.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include <string.h>

/* What the answer keeps of the plans at all values. */
struct swept_plans {
    struct plan *plan;
    struct section *section;
    struct sweep_notes notes;
    bool any;                       /* a deployment is within the limits at some value */
};

/* The words that ask for a point of the plan at one value again, which outlive that plan. */
static void add_words(struct plan *one, const struct plan_point *best, struct sweep_value value, struct section *record)
{
    struct scenario read = plan_read_scenario(one, best);
    struct section *list = section_add(record, "words", SECTION_TEXTS);
    size_t count;
    facts_set(&read.facts, value.row, value.value, ORIGIN_AXIS, "--sweep");
    const char *const *words = scenario_words(&read, &count);
    for (size_t i = 0; i < count; i++)
        section_word(list, NULL, arena_copy(list->arena, words[i], strlen(words[i])));
}

/* The plan at one value. */
static bool add_value(struct swept_plans *swept, struct sweep_value value, struct unit unit, struct section *list)
{
    struct plan *plan = swept->plan;
    struct arena arena = arena_beside(plan->arena);
    struct plan one = { .arena = &arena, .command = plan->command, .swept = value,
                        .answer = plan->answer, .error = plan->error, .model = plan->model,
                        .subject = plan->subject };
    struct section *record = section_add(list, NULL, SECTION_RECORD);
    struct plan_point best;
    section_number(record, value.row, value.value, unit);
    section_number(record, "value", value.value, unit)->text_only = true;
    bool good = plan_search(&one);
    if (good) {
        plan_note_question(&one);
        plan_note_idle(&one);
        good = sweep_note(&swept->notes, plan->arena, &one.variants->scenario, plan->error);
    }
    const bool found = good && one.result.front.count;
    if (found && (good = plan_read_point(&one, &one.result.front.points[0], &best))) {
        struct plan kept = one;
        kept.arena = plan->arena;       /* for words that outlive this value */
        add_words(&one, &best, value, record);
        section_word(record, "deployment", plan_deployment(&kept, &best));
        section_word(record, "variant", plan_variant(&kept, &best))->text_only = true;
        section_word(record, "binds", plan_binds(&one, &best))->text_only = true;
        for (int i = 0; i < PLAN_FIGURE_COUNT; i++)
            section_number(record, plan_figures[i], best.figures[i], scenario_unit(
                &one.variants->scenario, plan_row(&one, one.variants[best.at.space].kind, i)));
        plan_basis(&one, &best, &swept->notes.scenario, &swept->notes.basis);
        swept->any = true;
    }
    if (good && !section_find(swept->section, "scope"))
        section_word(swept->section, "scope", arena_print(
            plan->arena, "%s on %s", one.variants->scenario.model, one.scope))->text_only = true;
    arena_free(&arena);
    return good;
}

bool plan_sweep(struct plan *plan)
{
    struct swept_plans swept = { .plan = plan, .section = section_new(plan->arena) };
    struct section *list = section_add(swept.section, "sweep", SECTION_LIST);
    const char *columns[PLAN_FIGURE_COUNT + 2] = { NULL, "deployment" };
    struct sweep sweep;
    if (!sweep_read(plan->arena, plan->command, &sweep, plan->error))
        return false;
    section_word(swept.section, "swept", sweep.row)->text_only = true;
    for (size_t i = 0; i < sweep.count; i++)
        if (!add_value(&swept, sweep_value(&sweep, i), sweep.unit, list))
            return false;
    basis_notes(&swept.notes.scenario, &swept.notes.basis);
    figures_notes(&swept.notes.scenario, swept.section);
    section_document(swept.section, plan->answer->doc);
    template_print(template_built_in(plan->arena, "ask/plan/plan.template"), swept.section,
                   &plan->answer->text);
    columns[0] = sweep.row;
    memcpy(columns + 2, plan_figures, sizeof plan_figures);
    section_csv_of(list, columns, PLAN_FIGURE_COUNT + 2, &plan->answer->csv);
    plan->answer->status = !swept.any;
    return true;
}

const struct record plan_swept = { "PlanSweep", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again" },
    { FIELD_TEXT, "deployment", .help = "the best deployment, in words; absent where none is feasible" },
    { FIELD_ROWS, .names = plan_figure_rows[PLAN_TOGETHER], .count = PLAN_FIGURE_COUNT,
      .keys = plan_figures },
    { FIELD_OTHERS, .help = "the row that is swept, and its value", .unit = "" },
    { FIELD_TEXT_ONLY, .names = plan_figures, .count = PLAN_FIGURE_COUNT },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "value", "variant", "binds" }, .count = 3 },
    { 0 } } };
