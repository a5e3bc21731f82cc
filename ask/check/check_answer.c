/* The answer of `check`: scores of the predictions against published measurements, by group and
 * metric, and the measurements that are predicted worst.
 *
 * Errors and their quantiles are computed in score/; this file groups, sorts and prints them. */
#include "ask/check/check.h"

#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- scores ------------------------------------------------------------------ */

static void answer_score(struct check *check, const struct score *score, struct doc *doc,
                         struct table *table)
{
    struct arena *arena = check->arena;
    struct figures figures = score_figures(arena, score);
    doc_add_number(arena, doc, "n", (double)score->count);
    doc_add_number(arena, doc, "median", figures.median);
    doc_add_number(arena, doc, "mean", figures.mean);
    doc_add_number(arena, doc, "p90", figures.p90);
    doc_add_number(arena, doc, "bias", figures.bias);
    doc_add_number(arena, doc, "coverage", figures.coverage);
    if (!score->count)
        return;
    table_cell(table, "%s", score->group);
    table_cell(table, "%s", score->metric < 0 ? "all" : metric_names[score->metric]);
    table_cell(table, "%zu", score->count);
    table_cell(table, "%.1f", 100 * figures.median);
    table_cell(table, "%.1f", 100 * figures.mean);
    table_cell(table, "%.1f", 100 * figures.p90);
    table_cell(table, "%+.1f", 100 * figures.bias);
    table_cell(table, "%.0f", 100 * figures.coverage);
}

static void answer_metric(struct check *check, const struct score *score, struct doc *group,
                          struct table *table)
{
    answer_score(check, score,
                 doc_add(check->arena, group, metric_names[score->metric], DOC_OBJECT), table);
}

void check_scores(struct check *check)
{
    struct arena *arena = check->arena;
    struct doc *doc = check->answer->doc, *group = NULL;
    struct table table = { .arena = arena, .columns = 8, .left = "llrrrrrr" };
    static const char *const head[] = { "", "metric", "values", "median %", "mean %", "p90 %",
                                        "bias %", "in band %" };
    static const struct score nothing = { .metric = -1 };
    for (int i = 0; i < 8; i++)
        table_cell(&table, "%s", head[i]);
    answer_score(check, check->all.count ? check->all.scores : &nothing,
                 doc_add(arena, doc, "total", DOC_OBJECT), &table);
    struct doc *metrics = doc_add(arena, doc, "metrics", DOC_OBJECT);
    for (size_t i = 0; i < check->metrics.count; i++)
        answer_metric(check, &check->metrics.scores[i], metrics, &table);
    struct doc *by = doc_add(arena, doc, "by", DOC_OBJECT);
    for (size_t i = 0; i < check->groups.count; i++) {
        const struct score *score = &check->groups.scores[i];
        if (!group || strcmp(group->key, score->group))
            group = doc_add(arena, by, score->group, DOC_OBJECT);
        answer_metric(check, score, group, &table);
    }
    if (check->all.count)
        table_print(&table, &check->answer->text, "");
}

/* ---- what was refused -------------------------------------------------------- */

static int by_count(const void *a, const void *b)
{
    const struct refusal *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

void check_counts(struct check *check)
{
    struct arena *arena = check->arena;
    struct doc *doc = check->answer->doc;
    struct buffer *text = &check->answer->text;
    size_t rows = check->points.count, scored = rows - check->refused;
    size_t values = check->outcome_count - check->refused;
    doc_add_number(arena, doc, "rows", (double)rows);
    doc_add_number(arena, doc, "scored", (double)scored);
    buffer_print(text, "%s%s rows read: %s scored with %s values, %s refused\n",
                 text->size ? "\n" : "", count_text(check->arena, rows, 9), count_text(check->arena, scored, 9),
                 count_text(check->arena, values, 9), count_text(check->arena, check->refused, 9));
    struct doc *refused = doc_add(arena, doc, "refused", DOC_ARRAY);
    for (size_t i = 0; i < check->outcome_count; i++) {
        const struct outcome *outcome = &check->outcomes[i];
        if (!outcome->refused)
            continue;
        struct doc *one = doc_add(arena, refused, NULL, DOC_OBJECT);
        doc_add_string(arena, one, "file", outcome->point->file);
        doc_add_number(arena, one, "line", outcome->point->line);
        doc_add_string(arena, one, "reason", outcome->refused);
    }
    if (check->refusal_count)
        qsort(check->refusals, check->refusal_count, sizeof *check->refusals, by_count);
    for (size_t i = 0; i < check->refusal_count; i++) {
        const struct refusal *refusal = &check->refusals[i];
        buffer_print(text, "%6s  %s\n", count_text(check->arena, refusal->count, 9), refusal->reason);
    }
}

/* ---- value by value ---------------------------------------------------------- */

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

void check_lines(struct check *check)
{
    static const char *const head[] = { "file", "line", "kind", "model", "machine", "engine",
                                        "metric", "measured", "predicted", "low", "high",
                                        "refused" };
    struct table table = { .arena = check->arena, .columns = 12 };
    for (int i = 0; i < 12; i++)
        table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < check->outcome_count; i++) {
        const struct outcome *outcome = &check->outcomes[i];
        const struct measured *point = outcome->point;
        table_cell(&table, "%s", point->file);
        table_cell(&table, "%d", point->line);
        table_cell(&table, "%s", or_empty(point->kind));
        table_cell(&table, "%s", or_empty(point->model));
        table_cell(&table, "%s", or_empty(point->machine));
        table_cell(&table, "%s", or_empty(point->engine));
        if (outcome->refused) {
            for (int j = 0; j < 5; j++)
                table_cell(&table, "%s", "");
        } else {
            table_cell(&table, "%s", metric_names[outcome->measured->metric]);
            table_cell(&table, "%.9g", outcome->measured->value);
            table_cell(&table, "%.9g", outcome->predicted.value);
            table_cell(&table, "%.9g", outcome->predicted.low);
            table_cell(&table, "%.9g", outcome->predicted.high);
        }
        table_cell(&table, "%s", or_empty(outcome->refused));
    }
    table_csv(&table, &check->answer->csv);
}

/* The largest factor between predicted and measured first. */
static int by_error(const void *a, const void *b)
{
    const struct outcome *x = *(const struct outcome *const *)a;
    const struct outcome *y = *(const struct outcome *const *)b;
    if (fabs(x->error) != fabs(y->error))
        return fabs(x->error) < fabs(y->error) ? 1 : -1;
    return (x > y) - (x < y);
}

static void answer_bad(struct check *check, const struct outcome *outcome, struct doc *doc,
                       struct table *table)
{
    const struct measured *point = outcome->point;
    const char *slash = strrchr(point->file, '/');
    double measured = outcome->measured->value, predicted = outcome->predicted.value, scale;
    struct error ignored;
    struct unit unit;
    unit_parse(text_of(metric_units[outcome->measured->metric]), &unit, &scale, &ignored);
    table_cell(table, "%s:%d", slash ? slash + 1 : point->file, point->line);
    table_cell(table, "%s", point->model ? point->model : point->kind);
    table_cell(table, "%s", point->machine);
    table_cell(table, "%s", metric_names[outcome->measured->metric]);
    table_cell(table, "%s", quantity_text(check->arena, measured, unit, 3));
    table_cell(table, "%s", quantity_text(check->arena, predicted, unit, 3));
    table_cell(table, "%.2f", predicted / measured);
    doc_add_string(check->arena, doc, "file", point->file);
    doc_add_number(check->arena, doc, "line", point->line);
    doc_add_string(check->arena, doc, "source", point->source);
    if (point->model)
        doc_add_string(check->arena, doc, "model", point->model);
    doc_add_string(check->arena, doc, "machine", point->machine);
    doc_add_number(check->arena, doc, NAME_chips, point->chips);
    doc_add_number(check->arena, doc, NAME_concurrency, point->concurrency);
    struct doc *inputs = doc_add(check->arena, doc, "inputs", DOC_OBJECT);
    for (int i = 0; i < point->input_count; i++)
        doc_add_number(check->arena, inputs, point->inputs[i].name, point->inputs[i].value);
    doc_add_string(check->arena, doc, "metric", metric_names[outcome->measured->metric]);
    doc_add_number(check->arena, doc, "measured", measured);
    doc_add_number(check->arena, doc, "predicted", predicted);
}

void check_worst(struct check *check, size_t most)
{
    struct arena *arena = check->arena;
    const struct outcome **order = arena_array(arena, check->outcome_count + 1, sizeof *order);
    struct table table = { .arena = arena, .columns = 7, .left = "llllrrr" };
    struct doc *worst = doc_add(arena, check->answer->doc, "worst", DOC_ARRAY);
    static const char *const head[] = { "worst", "model", "machine", "metric", "measured",
                                        "predicted", "ratio" };
    size_t count = 0;
    for (size_t i = 0; i < check->outcome_count; i++)
        if (!check->outcomes[i].refused)
            order[count++] = &check->outcomes[i];
    qsort(order, count, sizeof *order, by_error);
    for (int i = 0; i < 7; i++)
        table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < count && i < most; i++)
        answer_bad(check, order[i], doc_add(arena, worst, NULL, DOC_OBJECT), &table);
    buffer_print(&check->answer->text, "\n");
    table_print(&table, &check->answer->text, "");
}
