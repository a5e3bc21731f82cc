/* plan --sweep: the best deployment at each of some values of a row: what a larger scale-up domain,
 * faster memory, longer prompts or more GPUs buy. */
#include "ask/plan.h"

#include <math.h>
#include <string.h>

enum { VALUES = 64, POINTS = 7 };

struct sweep {
    const char *row;
    struct unit unit;
    double values[VALUES];
    size_t count;
};

static bool no_sweep(struct plan *plan, const char *text)
{
    error_set(plan->error, "--sweep: '%.80s'", text);
    return error_hint(plan->error, "ROW=LOW..HIGH or ROW=A,B,C: scale_up_chips=8,72,144, "
                      "hbm_bandwidth=4TB/s..16TB/s");
}

static bool read_points(struct plan *plan, size_t *points)
{
    const char *text = plan->question->option[OPTION_POINTS];
    double number;
    *points = POINTS;
    if (!text)
        return true;
    if (text_number(text_of(text), &number) && number >= 2 && number <= VALUES &&
        number == floor(number)) {
        *points = (size_t)number;
        return true;
    }
    error_set(plan->error, "--points: '%.60s'", text);
    return error_hint(plan->error, "2 to %d", VALUES);
}

/* Whole numbers where only these make sense; even in the logarithm over more than a factor of 8. */
static bool fill_range(struct plan *plan, struct sweep *sweep, double low, double high)
{
    size_t points;
    if (!read_points(plan, &points))
        return false;
    for (size_t i = 0; i < points; i++) {
        double share = (double)i / (double)(points - 1);
        double value = low > 0 && high > 8 * low ? log_between(low, high, share)
                                                 : low + (high - low) * share;
        if (unit_counts(sweep->unit) && low == floor(low))
            value = floor(value + 0.5);
        if (!sweep->count || value > sweep->values[sweep->count - 1])
            sweep->values[sweep->count++] = value;
    }
    return true;
}

static bool read_list(struct plan *plan, struct sweep *sweep, const char *text)
{
    for (const char *at = text; *at;) {
        size_t size = strcspn(at, ",");
        struct quantity quantity;
        if (sweep->count == VALUES || !size ||
            !quantity_parse((struct text){ at, size }, sweep->unit, &quantity, plan->error) ||
            (quantity.spread != SPREAD_NONE && sweep->count))
            return no_sweep(plan, text);
        if (quantity.spread == SPREAD_RANGE)
            return !at[size] ? fill_range(plan, sweep, quantity.low, quantity.high)
                             : no_sweep(plan, text);
        if (quantity.spread != SPREAD_NONE)
            return no_sweep(plan, text);
        sweep->values[sweep->count++] = quantity.value;
        at += size + (at[size] == ',');
    }
    return sweep->count > 0 || no_sweep(plan, text);
}

static bool read_sweep(struct plan *plan, struct sweep *sweep)
{
    const char *text = plan->question->option[OPTION_SWEEP], *equals = strchr(text, '=');
    struct book book;
    *sweep = (struct sweep){ .row = NULL };
    if (!equals || equals == text)
        return no_sweep(plan, text);
    sweep->row = arena_copy(plan->arena, text, (size_t)(equals - text));
    if (!scenario_book(plan->arena, BOOK_ALL, &book, plan->error))
        return false;
    int row = book_find(&book, sweep->row);
    if (row < 0)
        return book_unknown(&book, sweep->row, plan->error);
    sweep->unit = book.rows[row].unit;
    return read_list(plan, sweep, equals + 1);
}

/* The question with the row set, and none of what is told once. */
static void set_value(struct plan *plan, const struct sweep *sweep, double value,
                      struct question *question)
{
    const struct question *from = plan->question;
    *question = *from;
    question->sets = arena_array(plan->arena, from->set_count + 1, sizeof *question->sets);
    if (from->set_count)
        memcpy(question->sets, from->sets, from->set_count * sizeof *question->sets);
    question->sets[from->set_count] = arena_print(plan->arena, "%s=%.17g", sweep->row, value);
    question->set_count = from->set_count + 1;
    question->option[OPTION_SWEEP] = NULL;
}

static void add_figures(struct plan *one, const struct plan_point *best, struct table *table,
                        struct doc *doc)
{
    table_cell(table, "%s", plan_text(one, best, PLAN_per_gpu, 4));
    table_cell(table, "%s", plan_text(one, best, PLAN_speed_per_user, 3));
    table_cell(table, "%s", plan_text(one, best, PLAN_ttft, 3));
    table_cell(table, "%s", best->figures[PLAN_cost] > 0 ? plan_text(one, best, PLAN_cost, 3) : "");
    table_cell(table, "%s", plan_binds(one, best));
    const char *variant = plan_variant(one, best);
    table_cell(table, "%s%s%s", plan_deployment(one, best), *variant ? "; " : "", variant);
    doc_add_string(table->arena, doc, "deployment", plan_deployment(one, best));
    for (int i = 0; i < PLAN_FIGURE_COUNT; i++)
        doc_add_number(table->arena, doc, plan_figures[i], best->figures[i]);
}

static bool add_value(struct plan *plan, const struct sweep *sweep, double value,
                      struct table *table, struct doc *list, bool *any)
{
    struct arena arena = { .exhausted = plan->arena->exhausted, .context = plan->arena->context };
    struct question question;
    struct plan one = { .arena = &arena, .question = &question, .answer = plan->answer,
                        .error = plan->error, .model = plan->model };
    struct plan_point best;
    struct doc *doc = doc_add(plan->arena, list, NULL, DOC_OBJECT);
    doc_add_number(plan->arena, doc, sweep->row, value);
    set_value(plan, sweep, value, &question);
    table_cell(table, "%s", quantity_text(plan->arena, value, sweep->unit, 6));
    bool good = plan_spaces(&one) &&
                search_run(&arena, one.spaces, one.count, &one.result, plan->error);
    if (good && !one.result.front.count) {
        for (int i = 0; i < 5; i++)
            table_cell(table, "-");
        table_cell(table, "none within the limits");
    } else if (good && (good = plan_tell(&one, &one.result.front.points[0], &best))) {
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
    static const char *const head[] = { "a GPU", "a user", "TTFT", "output", "binds",
                                        "best deployment" };
    struct table table = { .arena = plan->arena, .columns = 7, .left = "rrrrrll" };
    struct doc *list = doc_add(plan->arena, plan->answer->doc, "sweep", DOC_ARRAY);
    struct sweep sweep;
    bool any = false;
    if (!read_sweep(plan, &sweep))
        return false;
    table_cell(&table, "%s", sweep.row);
    for (int i = 0; i < 6; i++)
        table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < sweep.count; i++)
        if (!add_value(plan, &sweep, sweep.values[i], &table, list, &any))
            return false;
    buffer_print(&plan->answer->text, "%s: the best deployment for each %s\n\n", plan->scope,
                 sweep.row);
    table_print(&table, &plan->answer->text, "  ");
    table_csv(&table, &plan->answer->csv);
    plan->answer->status = !any;
    return true;
}
