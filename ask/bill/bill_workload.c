/* Reads a workload: a file of lines NAME = VALUE, where each name is a row of
 * formulas/prices/bill.chalk.
 *
 * A value may be a quantity with a unit, or an expression over other rows. --set wins over the
 * file, whose line is then only checked. Numbers are checked against the row's range when they are
 * read, expressions when all facts are there. The rest of the file is checked as a whole: a task
 * needs at least one turn, and counts must be whole. */
#include "ask/bill/bill.h"
#include "build/row_names.h"
#include "catalog/sheet.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

enum { FILE_MOST = 1 << 20 };
static const char *const CHAPTER = "A workload";
static const char *const WORDS[] = { "agent", "document-chat" };
enum { WORD_COUNT = sizeof WORDS / sizeof *WORDS };

struct workload_reader {
    struct scenario *scenario;
    struct workload *workload;
    struct error *error;
    const char *file;
    int line;
    int gap_line;                   /* the line that set "gap"; 0: none yet */
};

static bool is_workload(const struct formulas *formulas, const struct row *row)
{
    return !row_expr(row) && !strcmp(formulas->chapters[row->chapter].title, CHAPTER);
}

static const char *place(const struct workload_reader *reader)
{
    return arena_print(reader->scenario->arena, "%s:%d", reader->file, reader->line);
}

/* An error with the nearest of the names that a workload file may set, or with all of them. */
static bool name_unknown(const struct workload_reader *reader, const char *name)
{
    const struct formulas *formulas = &reader->scenario->formulas;
    struct buffer all = { .arena = reader->scenario->arena };
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; i < formulas->count && count < 63; i++)
        if (is_workload(formulas, formulas_row(formulas, i)))
            names[count++] = row_name(formulas_row(formulas, i));
    names[count++] = "gap";
    const char *near = name_nearest(name, names, count);
    for (size_t i = 0; i < count; i++)
        buffer_print(&all, "%s%s", i ? ", " : "", names[i]);
    error_set(reader->error, "%s: unknown name '%.60s'", place(reader), name);
    return near ? error_did_you_mean(reader->error, near, "")
                : error_expected(reader->error, "one of: %s", all.data);
}

static bool twice(const struct workload_reader *reader, const char *name)
{
    error_set(reader->error, "%s: %s is set twice", place(reader), name);
    return error_expected(reader->error, "one of the two lines");
}

/* A value of --set wins; the line of the file is then only checked. */
static bool read_value(struct workload_reader *reader, const char *name, const char *value)
{
    struct scenario *scenario = reader->scenario;
    const struct fact *before = facts_find(&scenario->facts, name);
    if (!before)
        return scenario_set_row(scenario, name, value, ORIGIN_AXIS, place(reader), reader->error);
    if (!fact_given(before))
        return twice(reader, name);
    struct scenario other = *scenario;
    other.facts = (struct facts){ .arena = scenario->arena };
    return scenario_set_row(&other, name, value, ORIGIN_AXIS, place(reader), reader->error);
}

static bool read_line(struct workload_reader *reader, struct text line)
{
    struct arena *arena = reader->scenario->arena;
    const struct formulas *formulas = &reader->scenario->formulas;
    const char *equals = line.size ? memchr(line.data, '=', line.size) : NULL;
    size_t at = equals ? (size_t)(equals - line.data) : 0;
    struct text name = text_trim((struct text){ line.data, at });
    struct text value = { line.data + at + 1, line.size - at - (equals != NULL) };
    if (!equals || !name.size || !text_trim(value).size) {
        error_set(reader->error, "%s: '%.*s' is not NAME = VALUE", place(reader),
                  (int)(line.size < 80 ? line.size : 80), line.data);
        return error_expected(reader->error, "turns = 20, gap = exponential(30s); # begins a comment");
    }
    value = text_trim(value);
    const char *row = arena_copy(arena, name.data, name.size);
    const char *words = arena_copy(arena, value.data, value.size);
    int index = formulas_find(formulas, row);
    if (!strcmp(row, "gap")) {
        if (reader->gap_line)
            return twice(reader, row);
        reader->gap_line = reader->line;
        return gaps_read(arena, words, arena_print(arena, "%s: gap", place(reader)),
                         &reader->workload->gaps, reader->error);
    }
    if (index < 0 || !is_workload(formulas, formulas_row(formulas, index)))
        return name_unknown(reader, row);
    return read_value(reader, row_name(formulas_row(formulas, index)), words);
}

static bool read_lines(struct workload_reader *reader, struct text rest)
{
    while (rest.size) {
        struct text line = text_line(&rest);
        const char *comment = line.size ? memchr(line.data, '#', line.size) : NULL;
        if (comment)
            line.size = (size_t)(comment - line.data);
        line = text_trim(line);
        reader->line++;
        if (memchr(line.size ? line.data : "", 0, line.size)) {
            error_set(reader->error, "%s: a byte 0", place(reader));
            return error_expected(reader->error, "text");
        }
        if (line.size && !read_line(reader, line))
            return false;
    }
    return true;
}

/* ---- what a task can be ------------------------------------------------------------------- */

static bool single_numbers(struct workload_reader *reader)
{
    const struct scenario *scenario = reader->scenario;
    for (size_t i = 0; i < scenario->facts.scalar_count; i++) {
        const struct fact *fact = &scenario->facts.scalars[i];
        int row = formulas_find(&scenario->formulas, fact->name);
        if (row < 0 || !is_workload(&scenario->formulas, formulas_row(&scenario->formulas, row)))
            continue;
        if (fact->distribution != DISTRIBUTION_NONE) {
            error_set(reader->error, "%s: %s is a range", fact->source, fact->name);
            return error_expected(reader->error, "a single number");
        }
        *(struct fact *)arena_push(scenario->arena, &reader->workload->facts,
                                   &reader->workload->fact_count, &reader->workload->fact_room,
                                   sizeof *fact) = *fact;
    }
    return true;
}

static bool whole_number(struct workload_reader *reader, const char *row)
{
    double value;
    const struct fact *fact = facts_find(&reader->scenario->facts, row);
    if (!value_of(reader->scenario, row, &value, reader->error))
        return false;
    if (value == floor(value))
        return true;
    error_set(reader->error, "%s: %s = %g is not a whole number", fact ? fact->source : reader->file, row, value);
    return error_expected(reader->error, "a whole number");
}

/* A number was looked at when it was read; an expression has its value only now. */
static bool in_range(struct workload_reader *reader)
{
    struct arena *arena = reader->scenario->arena;
    for (size_t i = 0; i < reader->scenario->facts.scalar_count; i++) {
        const struct fact fact = reader->scenario->facts.scalars[i];
        int index = fact.expression ? formulas_find(&reader->scenario->formulas, fact.name) : -1;
        const struct row *row = index < 0 ? NULL : formulas_row(&reader->scenario->formulas, index);
        double value;
        if (!row || row_expr(row))
            continue;
        if (!value_of(reader->scenario, fact.name, &value, reader->error))
            return false;
        if (value >= row->low && value <= row->high)
            continue;
        error_set(reader->error, "%s: %s = %.100s is out of range", fact.source, fact.name,
                  fact.expression);
        return error_expected(reader->error, "%s to %s", quantity_text(arena, row->low, row->unit, 4),
                          quantity_text(arena, row->high, row->unit, 4));
    }
    return true;
}

static bool check(struct workload_reader *reader)
{
    const char *gap = command_text(reader->scenario->command, "gap");
    if (gap && !gaps_read(reader->scenario->arena, gap, "--gap", &reader->workload->gaps,
                          reader->error))
        return false;
    if (!gap && !reader->gap_line) {
        error_set(reader->error, "%s: gap is not given", reader->file);
        return error_expected(reader->error, "gap = 30s, gap = exponential(2min), gap = FILE.csv");
    }
    return single_numbers(reader) && in_range(reader) && whole_number(reader, NAME_task_turns) &&
           whole_number(reader, NAME_compaction_turns);
}

bool workload_parse(struct scenario *scenario, const char *file, struct text text,
                    struct workload *workload, struct error *error)
{
    struct workload_reader reader = { .scenario = scenario, .workload = workload, .error = error,
                             .file = file };
    *workload = (struct workload){ .name = file };
    text = text_without_mark(text);
    return text_check_lines(text, file, error) && read_lines(&reader, text) && check(&reader);
}

bool workload_read(struct scenario *scenario, const char *name, struct workload *workload,
                   struct error *error)
{
    const char *built_in = arena_print(scenario->arena, "data/workloads/%s.workload", name);
    struct text text = text_built_in(built_in);
    struct error file_error;
    if (!text.data) {
        if (!file_read(scenario->arena, name, FILE_MOST, &text, &file_error)) {
            const char *near = name_nearest(name, WORDS, WORD_COUNT);
            if (strpbrk(name, "./")) {
                *error = file_error;
                return false;
            }
            error_set(error, "unknown workload '%.100s'", name);
            if (near)
                return error_did_you_mean(error, near, "");
            return error_expected(error, "agent, document-chat, or a file of lines NAME = VALUE");
        }
        built_in = name;
    }
    if (!workload_parse(scenario, built_in, text, workload, error))
        return false;
    workload->name = name;
    return true;
}

void workload_apply(const struct workload *workload, struct scenario *scenario)
{
    for (size_t i = 0; i < workload->fact_count; i++) {
        const struct fact *fact = &workload->facts[i];
        if (facts_find(&scenario->facts, fact->name))
            continue;
        if (fact->expression)
            facts_bind(&scenario->facts, fact->name, fact->expression, fact->origin, fact->source);
        else
            facts_set(&scenario->facts, fact->name, fact->value, fact->origin, fact->source);
    }
}
