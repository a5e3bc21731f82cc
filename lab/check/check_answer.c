/* The answer of `check`, as figures: scores of the predictions against published measurements, by group
 * and metric, what was refused and why, and the measurements that are predicted worst.
 * check.template is its text.
 *
 * Errors and their quantiles are computed in score/; this file groups and sorts them. The CSV has a
 * line for each value, or refused row. */
#include "lab/check/check.h"

#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- scores ------------------------------------------------------------------ */

static struct section *add_figures(struct section *section, const char *name, double count, const struct figures *figures,
                                   bool banded)
{
    struct section *one = section_add(section, name, SECTION_RECORD);
    section_number(one, "n", count, unit_one);
    section_number(one, "median", figures->median, unit_one);
    section_number(one, "mean", figures->mean, unit_one);
    section_number(one, "p90", figures->p90, unit_one);
    section_number(one, "bias", figures->bias, unit_one);
    section_number(one, "scatter", figures->scatter, unit_one);
    section_number(one, "coverage", banded ? figures->coverage : NAN, unit_one);
    section_number(one, "interval_score", banded ? figures->interval_score : NAN, unit_one);
    return one;
}

struct section *check_score(const struct check *check, const struct score *score, const char *name,
                            struct section *section, struct section *lines, bool banded)
{
    const struct figures figures = score_figures(check->arena, score);
    struct section *one = add_figures(section, name, (double)score->count, &figures, banded);
    if (!score->count)
        return one;
    section_word(one, "group", score->group)->text_only = true;
    section_word(one, "metric", score->metric < 0 ? "all" : metric_names[score->metric])->text_only = true;
    section_share(lines, one);
    return one;
}
/* Each cluster alike, however many its values: the means over clusters of a metric. */
static void add_clusters(struct check *check, struct section *by, struct section *lines)
{
    struct section *group = section_add(by, "cluster", SECTION_KEYED);
    for (int metric = 0; metric < METRICS; metric++) {
        struct figures sum = { 0, 0, 0, 0, 0, 0, 0 };
        double clusters = 0;
        for (size_t i = 0; i < check->groups.count; i++) {
            if (check->groups.scores[i].metric != metric)
                continue;
            const struct figures one = score_figures(check->arena, &check->groups.scores[i]);
            double *const to[] = { &sum.median, &sum.mean, &sum.p90, &sum.bias, &sum.scatter, &sum.coverage,
                                   &sum.interval_score };
            const double from[] = { one.median, one.mean, one.p90, one.bias, one.scatter, one.coverage, one.interval_score };
            clusters++;
            for (size_t k = 0; k < sizeof from / sizeof *from; k++)
                *to[k] += (from[k] - *to[k]) / clusters;
        }
        if (!(clusters > 0))
            continue;
        struct section *line = add_figures(group, metric_names[metric], clusters, &sum, true);
        section_word(line, "group", "cluster")->text_only = true;
        section_word(line, "metric", metric_names[metric])->text_only = true;
        section_share(lines, line);
    }
}

void check_scores(struct check *check)
{
    static const struct score nothing = { .metric = -1 };
    struct section *lines = section_add(check->section, "scores", SECTION_LIST), *group = NULL;
    lines->text_only = true;
    check_score(check, check->all.count ? check->all.scores : &nothing, "total", check->section, lines, true);
    struct section *metrics = section_add(check->section, "metrics", SECTION_KEYED);
    for (size_t i = 0; i < check->metrics.count; i++) {
        const struct score *score = &check->metrics.scores[i];
        check_score(check, score, metric_names[score->metric], metrics, lines, true);
    }
    struct section *by = section_add(check->section, "by", SECTION_KEYED);
    for (size_t i = 0; i < check->groups.count; i++) {
        const struct score *score = &check->groups.scores[i];
        if (!group || strcmp(group->name, score->group))
            group = section_add(by, score->group, SECTION_KEYED);
        check_score(check, score, metric_names[score->metric], group, lines, true);
    }
    if (check->by == BY_CLUSTER)
        add_clusters(check, by, lines);
}

/* ---- what was refused -------------------------------------------------------- */

static int by_count(const void *a, const void *b)
{
    const struct refused_rows *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Of a report: the group with the largest median error, of those with some values of all metrics. */
static void add_worst_group(struct check *check)
{
    enum { SOME = 3 };
    const struct score *worst = NULL;
    double most = 0;
    for (size_t i = 0; i < check->groups.count; i++) {
        const struct score *score = &check->groups.scores[i];
        const struct figures figures = score_figures(check->arena, score);
        if (score->count < SOME || !(figures.median > most))
            continue;
        most = figures.median;
        worst = score;
    }
    if (!worst)
        return;
    section_word(check->section, "worst_group", worst->group)->text_only = true;
    section_word(check->section, "worst_metric", worst->metric < 0 ? "" : metric_names[worst->metric])
        ->text_only = true;
    section_number(check->section, "worst_median", most, unit_one)->text_only = true;
}

static void add_reason(struct section *reasons, size_t rows, const char *reason)
{
    struct section *one = section_add(reasons, NULL, SECTION_RECORD);
    section_number(one, "rows_of_it", (double)rows, unit_one);
    section_word(one, "reason", reason);
}

/* The reason, and the rows that it is of. */
static const char *reason_told(struct arena *arena, const struct refused_rows *rows)
{
    const char *more = rows->count > REFUSED_SHOWN ? arena_print(arena, " and %zu more", rows->count - REFUSED_SHOWN) : "";
    return arena_print(arena, "%s (%s%s)", rows->reason, rows->lines, more);
}

void check_counts(struct check *check)
{
    enum { REASONS_SHOWN = 20 };
    if (command_reports(check->command))
        add_worst_group(check);
    struct section *section = check->section;
    const size_t rows = check->points.count;
    section_number(section, "rows", (double)rows, unit_one);
    section_number(section, "scored", (double)(rows - check->refused), unit_one);
    section_number(section, "values_scored", (double)(check->outcome_count - check->refused), unit_one)
        ->text_only = true;
    section_number(section, "rows_refused", (double)check->refused, unit_one)->text_only = true;
    struct section *refused = section_add(section, "refused", SECTION_LIST);
    struct section *reasons = section_add(section, "reasons", SECTION_LIST);
    reasons->text_only = true;
    for (size_t i = 0; i < check->outcome_count; i++) {
        const struct outcome *outcome = &check->outcomes[i];
        if (!outcome->refused)
            continue;
        struct section *one = section_add(refused, NULL, SECTION_RECORD);
        section_word(one, "file", outcome->point->file);
        section_number(one, "line", (double)outcome->point->line, unit_one);
        section_word(one, "reason", outcome->refused);
    }
    if (check->refusal_count)
        qsort(check->refusals, check->refusal_count, sizeof *check->refusals, by_count);
    const bool many = check->refusal_count > REASONS_SHOWN;
    const size_t shown = many ? REASONS_SHOWN - 1 : check->refusal_count;
    size_t others = 0;
    for (size_t i = 0; i < check->refusal_count; i++)
        if (i < shown)
            add_reason(reasons, check->refusals[i].count, reason_told(check->arena, &check->refusals[i]));
        else
            others += check->refusals[i].count;
    if (many)
        add_reason(reasons, others, arena_print(check->arena, "%zu other reasons: --csv has each row's",
                                                check->refusal_count - shown));
}

/* ---- value by value ---------------------------------------------------------- */

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

void check_csv(const struct check *check, struct buffer *out)
{
    static const char *const columns[] = { "file", "line", "kind", "model", "machine", "engine", "metric",
                                           "measured", "predicted", "low", "high", "refused" };
    struct section *list = section_add(section_new(check->arena), NULL, SECTION_LIST);
    for (size_t i = 0; i < check->outcome_count; i++) {
        const struct outcome *outcome = &check->outcomes[i];
        const struct measured *point = outcome->point;
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_word(one, "file", point->file);
        section_number(one, "line", point->line, unit_one);
        section_word(one, "kind", or_empty(point->kind));
        section_word(one, "model", or_empty(point->model));
        section_word(one, "machine", or_empty(point->machine));
        section_word(one, "engine", or_empty(point->engine));
        section_word(one, "refused", or_empty(outcome->refused));
        if (outcome->refused)
            continue;
        section_word(one, "metric", metric_names[outcome->measured->metric]);
        section_number(one, "measured", outcome->measured->value, unit_one);
        section_number(one, "predicted", outcome->predicted.value, unit_one);
        section_number(one, "low", outcome->predicted.low, unit_one);
        section_number(one, "high", outcome->predicted.high, unit_one);
    }
    section_csv_of(list, columns, sizeof columns / sizeof *columns, out);
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

void check_worst(struct check *check, size_t most)
{
    const struct outcome **order = arena_array(check->arena, check->outcome_count + 1, sizeof *order);
    struct section *worst = section_add(check->section, "worst", SECTION_LIST);
    size_t count = 0;
    for (size_t i = 0; i < check->outcome_count; i++)
        if (!check->outcomes[i].refused)
            order[count++] = &check->outcomes[i];
    qsort(order, count, sizeof *order, by_error);
    for (size_t i = 0; i < count && i < most; i++) {
        const struct measured *point = order[i]->point;
        const char *slash = strrchr(point->file, '/'), *unit = metric_units[order[i]->measured->metric];
        const double measured = order[i]->measured->value, predicted = order[i]->predicted.value;
        struct section *one = section_add(worst, NULL, SECTION_RECORD);
        section_word(one, "file", point->file);
        section_number(one, "line", point->line, unit_one);
        section_word(one, "source", point->source);
        if (point->model)
            section_word(one, "model", point->model);
        section_word(one, "machine", point->machine);
        section_number(one, NAME_chips, measured_chips(point), unit_one);
        section_number(one, NAME_concurrency, measured_input(point, NAME_concurrency, 0), unit_one);
        struct section *inputs = section_add(one, "inputs", SECTION_RECORD);
        for (int k = 0; k < point->input_count; k++)
            section_number(inputs, point->inputs[k].name, point->inputs[k].value, unit_one);
        section_word(one, "metric", metric_names[order[i]->measured->metric]);
        section_quantity(one, "measured", measured, unit);
        section_quantity(one, "predicted", predicted, unit);
        section_word(one, "where", arena_print(check->arena, "%s:%d", slash ? slash + 1 : point->file,
                                               point->line))->text_only = true;
        section_word(one, "subject", point->model ? point->model : point->kind)->text_only = true;
        section_number(one, "ratio", predicted / measured, unit_one)->text_only = true;
    }
}

/* ---- keys -------------------------------------------------------------------- */

static const struct record score_record = { "Score", (const struct answer_field[]){
    { FIELD_NUMBER, "n", .help = "values", .always = true },
    { FIELD_NUMBER, "median", .help = "of the relative error", .always = true, .null = true },
    { FIELD_NUMBER, "mean", .help = "of the relative error", .always = true, .null = true },
    { FIELD_NUMBER, "p90", .help = "of the relative error", .always = true, .null = true },
    { FIELD_NUMBER, "bias", .help = "above 0: predicted too long", .always = true, .null = true },
    { FIELD_NUMBER, "scatter", .help = "median distance of the logarithms from their median", .always = true, .null = true },
    { FIELD_NUMBER, "coverage", .help = "share inside of the 80 % interval", .always = true, .null = true },
    { FIELD_NUMBER, "interval_score", .help = "of that interval (Winkler), in logarithms", .always = true, .null = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "group", "metric", "formula" }, .count = 3 },
    { 0 } } };
static const struct record metrics_record = { "Scores", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "of a metric", .record = &score_record },
    { 0 } } };
static const struct record groups_record = { "ScoresBy", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "of a group", .record = &metrics_record },
    { 0 } } };

static const struct record refused_record = { "Refused", (const struct answer_field[]){
    { FIELD_TEXT, "file", .help = "file of the measurement", .always = true },
    { FIELD_NUMBER, "line", .help = "line of that file", .always = true },
    { FIELD_TEXT, "reason", .help = "why the row has no prediction", .always = true },
    { 0 } } };
static const struct record reason_record = { "RefusedLine", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "rows_of_it", "reason" }, .count = 2 },
    { 0 } } };

static const struct record revealed_record = { "RevealedLine", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "rows_of_it", "what" }, .count = 2 },
    { 0 } } };

static const struct record inputs_record = { "MeasuredInputs", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "inputs that the row of measurements states", .unit = "" },
    { 0 } } };
static const struct record worst_record = { "WorstPrediction", (const struct answer_field[]){
    { FIELD_TEXT, "file", .help = "of measurements", .always = true },
    { FIELD_NUMBER, "line", .help = "of the file", .always = true },
    { FIELD_TEXT, "source", .help = "who measured it", .always = true },
    { FIELD_TEXT, "model", .help = "as the file spells it" },
    { FIELD_TEXT, "machine", .help = "as the file spells it", .always = true },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_chips, NAME_concurrency }, .count = 2,
      .always = true },
    { FIELD_RECORD, "inputs", .help = "of the row", .record = &inputs_record, .always = true },
    { FIELD_TEXT, "metric", .help = "what was measured", .always = true },
    { FIELD_NUMBER, "measured", .help = "its value", .unit = "", .always = true },
    { FIELD_NUMBER, "predicted", .help = "the prediction", .unit = "", .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "where", "subject", "ratio" }, .count = 3 },
    { 0 } } };

const struct record answer_check = { "Check", (const struct answer_field[]){
    { FIELD_RECORD, "total", .help = "all values", .record = &score_record, .always = true },
    { FIELD_RECORD, "metrics", .help = "by metric", .record = &metrics_record, .always = true },
    { FIELD_RECORD, "by", .help = "by group and metric", .record = &groups_record, .always = true },
    { FIELD_NUMBER, "rows", .help = "read", .always = true },
    { FIELD_NUMBER, "scored", .help = "of them", .always = true },
    { FIELD_LIST, "refused", .help = "rows that were not scored", .record = &refused_record,
      .always = true },
    { FIELD_TEXTS, "assumed", .help = "behind the predictions", .always = true },
    { FIELD_RECORD, "calibration", .help = "--calibrate", .record = &check_calibrate_record },
    { FIELD_RECORD, "peers", .help = "--peers: by formula and metric, over the same values; coverage of the "
      "prediction alone", .record = &groups_record },
    { FIELD_LIST, "worst", .help = "--worst", .record = &worst_record },
    { FIELD_RECORD, "rank", .help = "--rank", .record = &check_rank_record },
    { FIELD_LIST, "explained", .help = "--explain: rows that reveal something",
      .record = &check_explain_record },
    { FIELD_NUMBER, "silent", .help = "--explain: rows that reveal nothing" },
    { FIELD_NUMBER, "unexamined", .help = "--explain: rows that are not a server that can be modelled" },
    { FIELD_TEXT_ONLY, "revealed", .record = &revealed_record },
    { FIELD_TEXT_ONLY, "scores", .record = &score_record },
    { FIELD_TEXT_ONLY, "peer_scores", .record = &score_record },
    { FIELD_TEXT_ONLY, "reasons", .record = &reason_record },
    { FIELD_TEXT_ONLY, .count = 7, .names = (const char *const[]){
          "values_scored", "nothing", "rows_refused", "rows_told", "worst_group", "worst_metric", "worst_median" } },
    { 0 } } };
