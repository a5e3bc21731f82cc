/* train --sweep: the best layout at each of some values of a row: what more GPUs, a larger batch,
 * longer sequences or a faster network buy. */
#include "scenario/sweep.h"
#include "ask/train/train.h"

static void add_best(struct train *one, const struct train_point *best, struct table *table,
                     struct doc *doc)
{
    table_cell(table, "%s", train_text(one, best, TRAIN_train_step, 4));
    table_cell(table, "%s", train_text(one, best, TRAIN_train_tokens_per_chip, 4));
    table_cell(table, "%.1f", 100 * best->figures[TRAIN_train_mfu]);
    table_cell(table, "%s", train_text(one, best, TRAIN_train_memory, 3));
    table_cell(table, "%s", train_text(one, best, TRAIN_train_duration, 3));
    table_cell(table, "%s", train_text(one, best, TRAIN_train_run_cost, 3));
    table_cell(table, "%s", breakdown_largest(one->arena, &best->parts, 2));
    table_cell(table, "%s", train_layout(one, best));
    doc_add_string(table->arena, doc, "layout", train_layout(one, best));
    for (int i = 0; i < TRAIN_FIGURE_COUNT; i++)
        doc_add_number(table->arena, doc, train_figures[i], best->figures[i]);
}

static bool add_value(struct train *train, const struct sweep *sweep, size_t i,
                      struct table *table, struct doc *list)
{
    struct arena arena = arena_beside(train->arena);
    struct train one = { .arena = &arena, .command = train->command,
                         .swept = sweep_value(sweep, i), .answer = train->answer,
                         .error = train->error };
    struct doc *doc = doc_add(train->arena, list, NULL, DOC_OBJECT);
    doc_add_number(train->arena, doc, sweep->row, sweep->values[i]);
    table_cell(table, "%s", quantity_text(train->arena, sweep->values[i], sweep->unit, 6));
    bool good = train_open(&one) &&
                search_run(&arena, &one.space, 1, &one.result, train->error);
    if (good && one.result.front.count) {
        struct train_point best;
        train_read_point(&one, one.result.front.points, &best);
        add_best(&one, &best, table, doc);
        train->answer->status = 0;
    } else if (good) {
        for (int k = 0; k < 7; k++)
            table_cell(table, "-");
        table_cell(table, "no layout fits in memory");
    }
    if (good && !train->title)
        train->title = arena_print(train->arena, "%s on %s", one.scenario.model,
                                   one.scenario.machine);
    arena_free(&arena);
    return good;
}

bool train_sweep(struct train *train)
{
    static const char *const head[] = { "step", "per GPU", "MFU %", "memory", "run", "cost",
                                        "largest parts", "best layout" };
    struct table table = { .arena = train->arena, .columns = 9, .left = "rrrrrrrll" };
    struct doc *list = doc_add(train->arena, train->answer->doc, "sweep", DOC_ARRAY);
    struct sweep sweep;
    if (!sweep_read(train->arena, train->command, &sweep, train->error))
        return false;
    table_cell(&table, "%s", sweep.row);
    for (int i = 0; i < 8; i++)
        table_cell(&table, "%s", head[i]);
    train->answer->status = 1;
    for (size_t i = 0; i < sweep.count; i++)
        if (!add_value(train, &sweep, i, &table, list))
            return false;
    buffer_print(&train->answer->text, "%s: the best layout for each %s\n\n", train->title,
                 sweep.row);
    table_print(&table, &train->answer->text, "  ");
    table_csv(&table, &train->answer->csv);
    return true;
}
