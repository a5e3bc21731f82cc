/* train --sweep: the best layout at each of some values of a row, which shows what more GPUs, a larger
 * batch, longer sequences or a faster network buy.
 *
 * Each value is a search of its own in an arena that is freed after it; what the answer keeps of it is
 * copied. An option is said to have no effect where it has none on the best layout of any value. */
#include "ask/train/train.h"
#include "scenario/basis.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include <string.h>

/* What the answer keeps of the searches at all values. */
struct swept_trains {
    struct train *train;
    struct section *section;
    struct sweep_notes notes;
    const char **idle;              /* options without an effect on any layout so far */
    size_t idle_count;
    bool any;                       /* a layout fits at some value */
};

static void keep_notes(struct swept_trains *swept, const struct train *one, const struct train_point *best)
{
    const char **idle;
    size_t count, kept = 0;
    train_basis(one, best, &swept->notes.scenario, &swept->notes.basis, &idle, &count);
    for (size_t i = 0; i < count && !swept->any; i++)
        idle[i] = arena_copy(swept->train->arena, idle[i], strlen(idle[i]));
    if (!swept->any) {
        swept->idle = idle;
        swept->idle_count = count;
        return;
    }
    for (size_t i = 0; i < swept->idle_count; i++)
        if (name_listed(idle, count, swept->idle[i]))
            swept->idle[kept++] = swept->idle[i];
    swept->idle_count = kept;
}

/* The best layout at one value. */
static bool add_value(struct swept_trains *swept, struct sweep_value value, struct unit unit, struct section *list)
{
    struct train *train = swept->train;
    struct arena arena = arena_beside(train->arena);
    struct train one = { .arena = &arena, .command = train->command, .swept = value,
                         .answer = train->answer, .error = train->error };
    struct section *record = section_add(list, NULL, SECTION_RECORD);
    section_number(record, value.row, value.value, unit);
    section_number(record, "value", value.value, unit)->text_only = true;
    const bool good = train_search(&one) &&
                      sweep_note(&swept->notes, train->arena, &one.scenario, train->error);
    if (good && one.result.front.count) {
        struct train kept = one;
        struct train_point best;
        kept.arena = train->arena;          /* for words that outlive this value */
        train_read_point(&one, one.result.front.points, &best);
        section_word(record, "layout", train_layout(&kept, &best));
        section_word(record, "largest_parts", breakdown_largest(train->arena, &best.parts, 2))
            ->text_only = true;
        for (int i = 0; i < TRAIN_FIGURE_COUNT; i++)
            section_number(record, train_figures[i], best.figures[i],
                           scenario_unit(&one.scenario, train_figures[i]));
        keep_notes(swept, &one, &best);
        swept->any = true;
    }
    if (good && !section_find(swept->section, "scope"))
        section_word(swept->section, "scope", arena_print(train->arena, "%s on %s", one.scenario.model,
                                                          one.scenario.machine))->text_only = true;
    arena_free(&arena);
    return good;
}

bool train_sweep(struct train *train)
{
    struct swept_trains swept = { .train = train, .section = section_new(train->arena) };
    struct section *list = section_add(swept.section, "sweep", SECTION_LIST);
    const char *columns[TRAIN_FIGURE_COUNT + 2] = { NULL, "layout" };
    struct sweep sweep;
    if (!sweep_read(train->arena, train->command, &sweep, train->error))
        return false;
    section_word(swept.section, "swept", sweep.row)->text_only = true;
    for (size_t i = 0; i < sweep.count; i++)
        if (!add_value(&swept, sweep_value(&sweep, i), sweep.unit, list))
            return false;
    basis_notes(&swept.notes.scenario, &swept.notes.basis);
    for (size_t i = 0; i < swept.idle_count; i++)
        facts_note(&swept.notes.scenario.facts, "%s has no effect on these layouts", swept.idle[i]);
    figures_notes(&swept.notes.scenario, swept.section);
    section_document(swept.section, train->answer->doc);
    template_print(template_built_in(train->arena, "ask/train/train.template"), swept.section,
                   &train->answer->text);
    columns[0] = sweep.row;
    memcpy(columns + 2, train_figures, TRAIN_FIGURE_COUNT * sizeof *columns);
    section_csv_of(list, columns, TRAIN_FIGURE_COUNT + 2, &train->answer->csv);
    train->answer->status = !swept.any;
    return true;
}

const struct record train_swept = { "TrainSweep", (const struct answer_field[]){
    { FIELD_TEXT, "layout", .help = "the best layout, in words; absent where none fits" },
    { FIELD_ROWS, .names = train_figures, .count = TRAIN_FIGURE_COUNT },
    { FIELD_OTHERS, .help = "the row that is swept, and its value", .unit = "" },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "value", "largest_parts" }, .count = 2 },
    { 0 } } };
