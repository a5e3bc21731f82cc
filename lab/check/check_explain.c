/* check --explain: what measurements reveal of themselves (score/explain.h), row by row. */
#include "lab/check/check.h"

#include "build/row_names.h"
#include "score/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is furthest off first. */
static int by_factor(const void *a, const void *b)
{
    const struct explained *x = *(const struct explained *const *)a;
    const struct explained *y = *(const struct explained *const *)b;
    if (x->factor != y->factor)
        return x->factor < y->factor ? 1 : -1;
    return (x > y) - (x < y);
}

/* "llama-3.1-70b on h100-sxm, 32 requests" */
static const char *subject_of(struct check *check, const struct measured *point)
{
    const double requests = measured_input(point, NAME_concurrency, 0);
    const double rate = measured_input(point, NAME_arrival_rate, 0);
    struct buffer out = { .arena = check->arena };
    buffer_print(&out, "%s on %s", point->model ? point->model : point->kind, point->machine);
    if (rate > 0)
        buffer_print(&out, ", %.4g requests a second", rate);
    else if (requests > 0)
        buffer_print(&out, ", %.4g requests", requests);
    return out.data;
}

static void add_explained(struct check *check, const struct explained *explained, struct section *list)
{
    const struct measured *point = explained->point;
    const char *slash = strrchr(point->file, '/');
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    section_word(one, "file", point->file);
    section_number(one, "line", (double)point->line, unit_one);
    if (point->model)
        section_word(one, "model", point->model);
    section_word(one, "machine", point->machine);
    section_word(one, "where", arena_print(check->arena, "%s:%d", slash ? slash + 1 : point->file,
                                           point->line))->text_only = true;
    section_word(one, "subject", subject_of(check, point))->text_only = true;
    struct section *findings = section_add(one, "findings", SECTION_LIST);
    for (size_t i = 0; i < explained->count; i++) {
        const struct finding *finding = &explained->findings[i];
        struct section *line = section_add(findings, NULL, SECTION_RECORD);
        section_word(line, "what", revelation_words[finding->what]);
        section_number(line, "figure", finding->figure, unit_one);
        section_word(line, "text", finding->text);
    }
}

/* Rows by what they reveal; a row may reveal more than one thing. */
static void add_tally(struct check *check, const struct explained *points)
{
    struct section *tally = section_add(check->section, "revealed", SECTION_LIST);
    tally->text_only = true;
    for (int what = 0; what < REVELATIONS; what++) {
        size_t rows = 0;
        for (size_t i = 0; i < check->points.count; i++) {
            bool found = false;
            for (size_t k = 0; k < points[i].count; k++)
                found = found || (int)points[i].findings[k].what == what;
            rows += found;
        }
        if (!rows)
            continue;
        struct section *one = section_add(tally, NULL, SECTION_RECORD);
        section_number(one, "rows_of_it", (double)rows, unit_one);
        section_word(one, "what", revelation_words[what]);
    }
}

static void add_csv(const struct section *list, struct check *check, struct buffer *out)
{
    static const char *const columns[] = { "file", "line", "model", "machine", "what", "figure", "text" };
    struct section *lines = section_add(section_new(check->arena), NULL, SECTION_LIST);
    for (size_t i = 0; i < list->inside_count; i++) {
        const struct section *row = list->inside[i], *findings = section_inside(row, "findings");
        for (size_t k = 0; k < findings->inside_count; k++) {
            const struct section *finding = findings->inside[k];
            struct section *one = section_add(lines, NULL, SECTION_RECORD);
            for (size_t c = 0; c < 4; c++) {
                const struct figure *figure = section_find(row, columns[c]);
                if (figure && figure->word)
                    section_word(one, columns[c], figure->word);
                else if (figure)
                    section_number(one, columns[c], figure->value, unit_one);
            }
            section_word(one, "what", section_find(finding, "what")->word);
            section_number(one, "figure", section_value(finding, "figure"), unit_one);
            section_word(one, "text", section_find(finding, "text")->word);
        }
    }
    section_csv_of(lines, columns, sizeof columns / sizeof *columns, out);
}

bool check_explain(struct check *check, size_t most, struct buffer *csv)
{
    const size_t count = check->points.count;
    const struct explained *points = explain_points(check->arena, check->command, &check->points);
    const struct explained **order = arena_array(check->arena, count + 1, sizeof *order);
    size_t told = 0, silent = 0;
    for (size_t i = 0; i < count; i++) {
        if (points[i].count)
            order[told++] = &points[i];
        silent += points[i].examined && !points[i].count;
    }
    if (most && told)
        qsort(order, told, sizeof *order, by_factor);
    struct section *list = section_add(check->section, "explained", SECTION_LIST);
    for (size_t i = 0; i < told && (!most || i < most); i++)
        add_explained(check, order[i], list);
    section_number(check->section, "rows_told", (double)told, unit_one)->text_only = true;
    section_number(check->section, "silent", (double)silent, unit_one);
    section_number(check->section, "unexamined", (double)(count - told - silent), unit_one);
    add_tally(check, points);
    add_csv(list, check, csv);
    return true;
}

static const struct record finding_record = { "Finding", (const struct answer_field[]){
    { FIELD_TEXT, "what", .help = "one of the words of docs/accuracy.md", .always = true },
    { FIELD_NUMBER, "figure", .help = "figure of the finding: docs/accuracy.md", .unit = "", .always = true,
      .null = true },
    { FIELD_TEXT, "text", .help = "the finding in words", .always = true },
    { 0 } } };
const struct record check_explain_record = { "Explained", (const struct answer_field[]){
    { FIELD_TEXT, "file", .help = "of measurements", .always = true },
    { FIELD_NUMBER, "line", .help = "of the file", .always = true },
    { FIELD_TEXT, "model", .help = "as the file spells it" },
    { FIELD_TEXT, "machine", .help = "as the file spells it", .always = true },
    { FIELD_LIST, "findings", .help = "findings about the row", .record = &finding_record, .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "where", "subject" }, .count = 2 },
    { 0 } } };
