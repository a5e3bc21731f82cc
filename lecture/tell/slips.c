/* lecture --slips: where published summaries contradict each other or the lecture, and what is right.
 *
 * data/slips.csv has what the summaries say and, for each figure that decides, words of `eval`, the row or expression that is
 * asked, and the expression over other rows that it is derived by. Nothing here is a number of its own: every figure is asked
 * in the scenario of its words, its derivation is evaluated beside it, and the operands of that are listed. */
#include "lecture/tell/lecture.h"
#include "catalog/sheet.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { DIGITS = 4, WORDS_MOST = 32 };

struct slip_row {
    const char *slip, *point, *said, *statement, *right, *of, *words, *figure, *derived;
};

static struct slip_row row_at(const struct csv *csv, size_t row)
{
#define CELL(name) csv_cell(csv, row, csv_column(csv, name))
    return (struct slip_row){ CELL("slip"), CELL("point"), CELL("said"), CELL("statement"), CELL("right"), CELL("of"),
                              CELL("words"), CELL("figure"), CELL("derived") };
#undef CELL
}

/* The scenario of `eval FIGURE WORDS`, with its layout and load. */
static bool open_words(struct arena *arena, const struct command *asking, const struct slip_row *row, struct command *command,
                       struct scenario *scenario, struct error *error)
{
    char *words[WORDS_MOST] = { "chalkline", "eval", arena_copy(arena, row->figure, strlen(row->figure)) };
    const char *const texts[] = { row->figure, *row->derived ? row->derived : row->figure };
    int count = 3;
    for (const char *at = row->words; *at && count < WORDS_MOST;) {
        const size_t size = strcspn(at, " ");
        words[count++] = arena_copy(arena, at, size);
        at += size + strspn(at + size, " ");
    }
    *command = (struct command){ .verbs = asking->verbs };
    return command_read(arena, count, words, command, error) &&
           scenario_open(scenario, arena, command, command_subject(command), error) &&
           scenario_choose(scenario, texts, 2, error);
}

/* The size of an operand that begins here: "row", "row[entry]", or "AT(row, input=value)" as a whole; 0: none does. */
static size_t operand_size(const struct scenario *scenario, const char *at)
{
    size_t size = 0;
    while (isalnum((unsigned char)at[size]) || at[size] == '_')
        size++;
    if (size == 2 && !strncmp(at, "AT(", 3)) {
        int depth = 0;
        do
            depth += (at[size] == '(') - (at[size] == ')');
        while (at[size++] && depth);
        return size;
    }
    if (!size || formulas_find(&scenario->formulas, arena_copy(scenario->arena, at, size)) < 0)
        return 0;
    return at[size] == '[' ? size + strcspn(at + size, "]") + 1 : size;
}

/* "params_active = 100 B": each operand of an expression, once. */
static void add_operands(struct scenario *scenario, const char *text, struct section *section)
{
    struct buffer out = { .arena = section->arena };
    struct section *list = section_add(section, "operands", SECTION_RECORD);
    for (const char *at = text; *at;) {
        const size_t size = operand_size(scenario, at);
        const char *name = arena_copy(section->arena, at, size);
        if (size && !section_find(list, name)) {
            const struct unit unit = scenario_unit(scenario, name);
            const double value = value_or_nan(scenario, name);
            section_number(list, name, value, unit);
            buffer_print(&out, "%s%s = %s", out.size ? "; " : "", name, quantity_text(section->arena, value, unit, DIGITS));
        }
        at += size;
        while (!size && (isalnum((unsigned char)*at) || *at == '_'))
            at++;
        at += !size && *at;
    }
    if (strpbrk(text, "*/"))                  /* more than a row alone */
        section_word(section, "with", out.data)->text_only = true;
}

static bool add_figure(struct arena *arena, const struct command *asking, const struct slip_row *row, struct section *list,
                       struct error *error)
{
    struct command *command = arena_alloc(arena, sizeof *command);
    struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
    double value, derived;
    if (!open_words(arena, asking, row, command, scenario, error) || !value_of(scenario, row->figure, &value, error) ||
        (*row->derived && !value_of(scenario, row->derived, &derived, error)))
        return false;
    const struct unit unit = scenario_unit(scenario, row->figure);
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    section_word(one, "of", row->of);
    section_word(one, "figure", row->figure);
    section_number(one, "value", value, unit);
    section_word(one, "unit", unit_name(arena, unit));
    section_word(one, "derivation", *row->derived ? row->derived : row->figure);
    section_number(one, "derived", *row->derived ? derived : value, unit);
    add_operands(scenario, *row->derived ? row->derived : row->figure, one);
    figures_words(scenario, one);
    if (*row->derived)
        section_word(one, "through", row->derived)->text_only = true;
    return true;
}

bool lecture_slips(struct arena *arena, const struct command *command, struct section *section, struct error *error)
{
    const struct csv *csv = csv_built_in("data/slips.csv");
    const char *wanted = command->word_count ? command->words[0] : NULL;
    struct section *slips = section_add(section, "slips", SECTION_LIST), *figures = NULL;
    struct buffer names = { .arena = arena };
    struct lecture lecture;
    statements_read(arena, &lecture);
    if (command_given(command, "model") || command_given(command, "on")) {
        error_set(error, "lecture: --slips has models and machines of its own");
        return error_expected(error, "no --model and no --on, as in `chalkline lecture --slips`");
    }
    for (size_t i = 0; i < csv->rows; i++) {
        const struct slip_row row = row_at(csv, i);
        if (*row.slip) {
            const bool asked = !wanted || !strcmp(wanted, row.slip);
            struct section *one = asked ? section_add(slips, NULL, SECTION_RECORD) : NULL;
            figures = NULL;
            buffer_print(&names, "%s%s", names.size ? ", " : "", row.slip);
            for (size_t k = 0; one && k < lecture.count; k++)
                if (!strcmp(lecture.at[k].id, row.statement))
                    section_word(one, "time", lecture.at[k].time);
            if (one) {
                section_word(one, "id", row.slip);
                section_word(one, "point", row.point);
                section_word(one, "said", row.said);
                section_word(one, "statement", row.statement);
                section_word(one, "right", row.right);
                figures = section_add(one, "figures", SECTION_LIST);
            }
        }
        if (figures && !add_figure(arena, command, &row, figures, error))
            return false;
    }
    if (slips->inside_count)
        return true;
    error_set(error, "lecture: no slip is called '%.60s'", wanted);
    return error_expected(error, "%s", names.data);
}

/* ---- the keys ---------------------------------------------------------------------------------------- */

static const struct record operands_record = { "SlipOperands", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a row of the derivation: its value in base units" },
    { 0 } } };

static const struct record slip_figure_record = { "SlipFigure", (const struct answer_field[]){
    { FIELD_TEXT, "of", .help = "what the figure is of", .always = true },
    { FIELD_TEXT, "figure", .help = "the row or expression that is asked", .always = true },
    { FIELD_NUMBER, "value", .help = "its value, in base units", .unit = "", .always = true },
    { FIELD_TEXT, "unit", .help = "unit of the value", .always = true },
    { FIELD_TEXT, "derivation", .help = "the expression over other rows that it follows from; an input: the row itself", .always = true },
    { FIELD_NUMBER, "derived", .help = "value of that expression", .unit = "", .always = true },
    { FIELD_RECORD, "operands", .help = "rows of that expression", .record = &operands_record, .always = true },
    { FIELD_TEXTS, "words", .help = "words of `eval` that give the figure again", .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "with", "through" }, .count = 2 },
    { 0 } } };

const struct record slip_record = { "LectureSlip", (const struct answer_field[]){
    { FIELD_TEXT, "id", .help = "name", .always = true },
    { FIELD_TEXT, "point", .help = "what it is about", .always = true },
    { FIELD_TEXT, "said", .help = "what published summaries say", .always = true },
    { FIELD_TEXT, "statement", .help = "id of the lecture's statement about it", .always = true },
    { FIELD_TEXT, "time", .help = "where that is said; empty: it follows from what is said", .always = true },
    { FIELD_TEXT, "right", .help = "what is right", .always = true },
    { FIELD_LIST, "figures", .help = "the figures that decide", .record = &slip_figure_record, .always = true },
    { 0 } } };
