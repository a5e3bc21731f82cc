/* check: predicted against measured, scored. */
#include "ask/predictor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct score {
    const char *name;               /* "total", or of a group */
    int metric;                     /* -1: all */
    double *errors;                 /* ln predicted / measured */
    size_t inside;                  /* measured values inside the band of their prediction */
    size_t count, room;
};

struct refusal {
    const char *reason;
    size_t count;
};

struct check {
    struct arena *arena;
    const struct question *question;
    struct answer *answer;
    struct error *error;
    struct predictor predictor;
    struct score *scores;
    size_t score_count, score_room;
    struct refusal *refusals;
    size_t refusal_count, refusal_room;
};

/* ---- scoring ----------------------------------------------------------------------------------- */

static void refuse(struct check *check, const char *reason)
{
    for (size_t i = 0; i < check->refusal_count; i++)
        if (!strcmp(check->refusals[i].reason, reason)) {
            check->refusals[i].count++;
            return;
        }
    *(struct refusal *)arena_push(check->arena, &check->refusals, &check->refusal_count,
                                  &check->refusal_room, sizeof(struct refusal)) =
        (struct refusal){ reason, 1 };
}

static void score_add(struct check *check, const char *name, int metric, double error,
                      bool inside)
{
    struct score *score = NULL;
    for (size_t i = 0; i < check->score_count; i++)
        if (check->scores[i].metric == metric && !strcmp(check->scores[i].name, name))
            score = &check->scores[i];
    if (!score) {
        score = arena_push(check->arena, &check->scores, &check->score_count, &check->score_room,
                           sizeof *score);
        *score = (struct score){ .name = name, .metric = metric };
    }
    *(double *)arena_push(check->arena, &score->errors, &score->count, &score->room,
                          sizeof error) = error;
    score->inside += inside;
}

static const char *group_of(const struct check *check, const struct measured *point)
{
    const char *by = check->question->option[OPTION_BY];
    if (by && !strcmp(by, "hardware"))
        return point->machine;
    if (by && !strcmp(by, "source"))
        return point->kind;
    return point->model ? point->model : point->kind;
}

static void check_point(struct check *check, const struct measured *point)
{
    struct prediction predictions[MEASURED_VALUES];
    if (point->refused) {
        refuse(check, point->refused);
        return;
    }
    const struct setup *setup = predictor_find(&check->predictor, point);
    if (setup->refused) {
        refuse(check, setup->refused);
        return;
    }
    double *inputs = arena_array(check->arena, setup->list.input_count + 1, sizeof *inputs);
    predictor_inputs(setup, point, inputs);
    predictor_predict(check->arena, setup, point, inputs, predictions);
    for (int i = 0; i < point->value_count; i++) {
        double measured = point->values[i].value, predicted = predictions[i].value;
        int metric = (int)point->values[i].metric;
        if (!(predicted > 0) || !isfinite(predicted)) {
            refuse(check, "no finite prediction");
            continue;
        }
        double error = scalar_log(predicted / measured);
        bool inside = measured >= predictions[i].low && measured <= predictions[i].high;
        score_add(check, "total", -1, error, inside);
        score_add(check, "total", metric, error, inside);
        score_add(check, group_of(check, point), metric, error, inside);
    }
}

static int by_size(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

struct figures {
    double median, mean, p90, bias;
};

static struct figures figures_of(struct arena *arena, const struct score *score)
{
    double *sizes = arena_array(arena, score->count + 1, sizeof *sizes);
    struct figures figures = { 0 };
    for (size_t i = 0; i < score->count; i++) {
        sizes[i] = fabs(scalar_exp(score->errors[i]) - 1);
        figures.mean += sizes[i] / (double)score->count;
        figures.bias += score->errors[i] / (double)score->count;
    }
    qsort(sizes, score->count, sizeof *sizes, by_size);
    figures.median = sizes[score->count / 2];
    figures.p90 = sizes[score->count * 9 / 10];
    figures.bias = scalar_exp(figures.bias) - 1;
    return figures;
}

/* ---- the answer --------------------------------------------------------------------------------- */

static void answer_score(struct check *check, const struct score *score, struct doc *doc,
                         struct table *table)
{
    struct arena *arena = check->arena;
    struct figures figures = figures_of(arena, score);
    doc_add_number(arena, doc, "n", (double)score->count);
    doc_add_number(arena, doc, "median", figures.median);
    doc_add_number(arena, doc, "mean", figures.mean);
    doc_add_number(arena, doc, "p90", figures.p90);
    doc_add_number(arena, doc, "bias", figures.bias);
    doc_add_number(arena, doc, "coverage", (double)score->inside / (double)score->count);
    table_cell(table, "%s", score->name);
    table_cell(table, "%s", score->metric < 0 ? "all" : metric_names[score->metric]);
    table_cell(table, "%zu", score->count);
    table_cell(table, "%.1f", 100 * figures.median);
    table_cell(table, "%.1f", 100 * figures.mean);
    table_cell(table, "%.1f", 100 * figures.p90);
    table_cell(table, "%+.1f", 100 * figures.bias);
    table_cell(table, "%.0f", 100 * (double)score->inside / (double)score->count);
}

/* The group's object, made when it is first asked for. */
static struct doc *group_doc(struct arena *arena, struct doc *by, const char *name)
{
    for (struct doc *group = by->first; group; group = group->next)
        if (!strcmp(group->key, name))
            return group;
    return doc_add(arena, by, name, DOC_OBJECT);
}

static void answer_all(struct check *check)
{
    struct arena *arena = check->arena;
    struct doc *doc = check->answer->doc;
    struct table table = { .arena = arena, .columns = 8, .left = "llrrrrrr" };
    static const char *const head[] = { "", "metric", "n", "median %", "mean %", "p90 %", "bias %",
                                        "in band %" };
    for (int i = 0; i < 8; i++)
        table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < check->score_count; i++)
        if (check->scores[i].metric < 0)
            answer_score(check, &check->scores[i], doc_add(arena, doc, "total", DOC_OBJECT), &table);
    struct doc *by = doc_add(arena, doc, "by", DOC_OBJECT);
    for (size_t i = 0; i < check->score_count; i++)
        group_doc(arena, by, check->scores[i].name);
    for (struct doc *group = by->first; group; group = group->next)
        for (size_t i = 0; i < check->score_count; i++)
            if (check->scores[i].metric >= 0 && !strcmp(check->scores[i].name, group->key))
                answer_score(check, &check->scores[i],
                             doc_add(arena, group, metric_names[check->scores[i].metric],
                                     DOC_OBJECT), &table);
    table_print(&table, &check->answer->text, "");
    table_csv(&table, &check->answer->csv);
    struct doc *refused = doc_add(arena, doc, "refused", DOC_OBJECT);
    for (size_t i = 0; i < check->refusal_count; i++) {
        doc_add_number(arena, refused, check->refusals[i].reason, (double)check->refusals[i].count);
        buffer_print(&check->answer->text, "%s%6zu  %s\n", i ? "" : "\nnot predicted\n",
                     check->refusals[i].count, check->refusals[i].reason);
    }
}

bool ask_check(struct arena *arena, const struct question *question, struct answer *answer,
               struct error *error)
{
    struct check check = { .arena = arena, .question = question, .answer = answer, .error = error,
                           .predictor = { .arena = arena, .question = question } };
    struct measured_list list = { 0 };
    const char *path = question->option[OPTION_MEASURED];
    struct text text;
    struct csv csv;
    enum { LIMIT = 64 << 20 };
    if (question->word_count) {
        error_set(error, "check takes no words, '%.60s' was given", question->words[0]);
        return error_hint(error, "--measured FILE");
    }
    if (!path) {
        error_set(error, "check needs measurements");
        return error_hint(error, "--measured FILE, with the columns of serving_points.csv");
    }
    if (!file_read(arena, path, LIMIT, &text, error) || !csv_read(arena, path, text, &csv, error) ||
        !measured_read(arena, &csv, &list, error))
        return false;
    for (size_t i = 0; i < list.count; i++)
        check_point(&check, &list.points[i]);
    answer_all(&check);
    return true;
}
