/* check: predicted against measured, scored.
 *
 *     files -> points -> outcomes -> scores, tables, lines, picture */
#include "ask/ask.h"
#include "ask/check/check.h"

#include "catalog/sheet.h"

#include <math.h>
#include <string.h>

enum { MOST_WORST = 10000 };

/* ---- the question ------------------------------------------------------------------------ */

static bool read_by(struct check *check)
{
    static const char *const words[] = { [BY_MODEL] = "model", [BY_HARDWARE] = "hardware",
                                         [BY_SOURCE] = "source" };
    const char *by = check->question->option[OPTION_BY];
    for (int i = 0; by && i < 3; i++)
        if (!strcmp(by, words[i])) {
            check->by = (enum grouping)i;
            return true;
        }
    if (!by)
        return true;
    error_set(check->error, "--by: '%.60s'", by);
    return error_hint(check->error, "source, model or hardware");
}

static bool read_worst(struct check *check, size_t *worst)
{
    const char *text = check->question->option[OPTION_WORST];
    struct quantity quantity;
    struct error ignored;
    if (!text)
        return true;
    if (!quantity_parse(text_of(text), (struct unit){ { 0 } }, &quantity, &ignored) ||
        !(quantity.value >= 1) || quantity.value > MOST_WORST) {
        error_set(check->error, "--worst: '%.60s'", text);
        return error_hint(check->error, "1 to %d", MOST_WORST);
    }
    *worst = (size_t)quantity.value;
    return true;
}

/* ---- points ------------------------------------------------------------------------------ */

/* Who published a row, as the first word of its source says: "NVIDIA/TensorRT-LLM". Only
 * sheets that collect from several publishers have both columns. */
static void read_publishers(struct check *check, const struct csv *csv)
{
    bool collected = csv_column(csv, "source") >= 0 && csv_column(csv, "model") >= 0;
    while (check->publisher_count < check->points.count) {
        const char *source = check->points.points[check->publisher_count].source;
        size_t size = collected ? strcspn(source, " ,;") : 0;
        *(const char **)arena_push(check->arena, &check->publishers, &check->publisher_count,
                                   &check->publisher_room, sizeof source) =
            size ? arena_copy(check->arena, source, size) : NULL;
    }
}

static bool read_sheet(struct check *check, const struct csv *csv)
{
    if (!measured_read(check->arena, csv, &check->points, check->error))
        return false;
    read_publishers(check, csv);
    return true;
}

static bool read_points(struct check *check)
{
    enum { LIMIT = 64 << 20 };
    const struct question *question = check->question;
    struct text text;
    struct csv csv;
    for (size_t i = 0; i < question->measured_count; i++)
        if (!file_read(check->arena, question->measured[i], LIMIT, &text, check->error) ||
            !csv_read(check->arena, question->measured[i], text, &csv, check->error) ||
            !read_sheet(check, &csv))
            return false;
    return question->measured_count || read_sheet(check, csv_built_in("data/measured.csv"));
}

/* ---- groups ------------------------------------------------------------------------------ */

/* Files spell one machine in several ways ("h100_sxm", "H100-SXM"): one group, named as
 * it was met first. */
const char *check_label(struct check *check, enum catalog_kind kind, const char *spelling)
{
    struct error ignored;
    for (size_t i = 0; i < check->label_count; i++)
        if (!strcmp(check->labels[i].spelling, spelling))
            return check->labels[i].label;
    const struct catalog_entry *entry = catalog_find(&check->catalog, kind, spelling, &ignored);
    const char *label = spelling;
    for (size_t i = check->label_count; entry && i-- > 0;)
        if (check->labels[i].entry == entry)
            label = check->labels[i].label;
    *(struct label *)arena_push(check->arena, &check->labels, &check->label_count,
                                &check->label_room, sizeof(struct label)) =
        (struct label){ spelling, label, entry };
    return label;
}

static const char *group_of(struct check *check, size_t i)
{
    const struct measured *point = &check->points.points[i];
    if (check->by == BY_HARDWARE)
        return check_label(check, CATALOG_MACHINE, point->machine);
    if (check->by == BY_MODEL && point->model)
        return check_label(check, CATALOG_MODEL, point->model);
    if (check->by == BY_SOURCE && check->publishers[i])
        return check->publishers[i];
    return point->kind;
}

/* ---- outcomes ---------------------------------------------------------------------------- */

static struct outcome *add_outcome(struct check *check, const struct measured *point)
{
    struct outcome *outcome = arena_push(check->arena, &check->outcomes, &check->outcome_count,
                                         &check->outcome_room, sizeof *outcome);
    *outcome = (struct outcome){ .point = point };
    return outcome;
}

static void refuse(struct check *check, const struct measured *point, const char *reason)
{
    add_outcome(check, point)->refused = reason;
    check->refused++;
    for (size_t i = 0; i < check->refusal_count; i++)
        if (!strcmp(check->refusals[i].reason, reason)) {
            check->refusals[i].count++;
            return;
        }
    struct refusal *refusal = arena_push(check->arena, &check->refusals, &check->refusal_count,
                                         &check->refusal_room, sizeof *refusal);
    *refusal = (struct refusal){ reason, 1, check->refusal_count };
}

/* Why a row has no prediction, or NULL. One of its values without a prediction refuses the
 * row, so that rows are those scored and those refused. */
static const char *predict(struct check *check, const struct measured *point,
                           struct prediction predictions[MEASURED_VALUES])
{
    if (point->refused)
        return point->refused;
    const struct setup *setup = predictor_find(&check->predictor, point);
    if (setup->refused)
        return setup->refused;
    if (!point->value_count)
        return "nothing measured";
    double *inputs = arena_array(check->arena, setup->list.input_count + 1, sizeof *inputs);
    predictor_inputs(setup, point, inputs);
    predictor_predict(check->arena, setup, point, inputs, predictions);
    for (int i = 0; i < point->value_count; i++)
        if (!(predictions[i].value > 0) || !isfinite(predictions[i].value) ||
            !(predictions[i].measured > 0) || !isfinite(predictions[i].measured))
            return arena_print(check->arena, "no finite prediction of %s",
                               metric_names[point->values[i].metric]);
    return NULL;
}

static void check_point(struct check *check, size_t at)
{
    const struct measured *point = &check->points.points[at];
    struct prediction predictions[MEASURED_VALUES];
    const char *refused = predict(check, point, predictions);
    if (refused) {
        refuse(check, point, refused);
        return;
    }
    for (int i = 0; i < point->value_count; i++) {
        struct outcome *outcome = add_outcome(check, point);
        int metric = (int)point->values[i].metric;
        outcome->group = group_of(check, at);
        struct measured_value *measured = arena_alloc(check->arena, sizeof *measured);
        *measured = point->values[i];
        measured->value = predictions[i].measured;
        outcome->measured = measured;
        outcome->predicted = predictions[i];
        outcome->error = scalar_log(predictions[i].value / measured->value);
        score_add(&check->all, "total", -1, outcome);
        score_add(&check->metrics, "total", metric, outcome);
        score_add(&check->groups, outcome->group, metric, outcome);
    }
}

/* ---- all of it --------------------------------------------------------------------------- */

/* Words and options, before anything is read; --set and --rows are wrong here, or nowhere. */
static bool read_question(struct check *check, size_t *worst)
{
    const struct question *question = check->question;
    struct scenario *scenario = arena_alloc(check->arena, sizeof *scenario);
    if (question->word_count) {
        error_set(check->error, "check takes no words, '%.60s' was given", question->words[0]);
        return error_hint(check->error, "--measured FILE");
    }
    for (size_t i = 0; i < question->rows_count; i++)
        if (!strcmp(question->rows[i], "-")) {
            error_set(check->error, "check reads --rows for every model, '-' can be read once");
            return error_hint(check->error, "the path of a file");
        }
    catalog_open(&check->catalog, check->arena);
    return read_by(check) && read_worst(check, worst) &&
           scenario_read(scenario, check->arena, question, NULL, NULL, check->error);
}

bool ask_check(struct arena *arena, const struct question *question, struct answer *answer,
               struct error *error)
{
    struct check check = { .arena = arena, .question = question, .answer = answer, .error = error,
                           .predictor = { .arena = arena, .question = question },
                           .all.arena = arena, .metrics.arena = arena, .groups.arena = arena };
    const char *picture = question->option[OPTION_PLOT];
    size_t worst = 0;
    if (!read_question(&check, &worst) || !read_points(&check))
        return false;
    for (size_t i = 0; i < check.points.count; i++)
        check_point(&check, i);
    scores_sort(&check.metrics);
    scores_sort(&check.groups);
    check_scores(&check);
    check_counts(&check);
    if (worst)
        check_worst(&check, worst);
    check_lines(&check);
    if (question->option[OPTION_RANK] && !check_rank(&check))
        return false;
    return !picture || scatter_plot(arena, picture, check.outcomes, check.outcome_count, error);
}
