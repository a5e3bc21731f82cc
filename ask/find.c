/* find: rows and statements by the words that people use for them.
 *
 * The words are looked up in the rows' names and other names, symbols, units and meanings, and in the
 * lecture's statements (rows/lookup.c). Each is shown with its chapter, equation, value and the command
 * that explains it. find.template is the text. */
#include "ask/ask.h"
#include "scenario/values.h"

#include "lecture/statements.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* All words of the command as one text. */
static const char *asked_text(struct arena *arena, const struct command *command)
{
    struct buffer out = { .arena = arena };
    buffer_add(&out, "", 0);
    for (size_t i = 0; i < command->word_count; i++)
        buffer_print(&out, "%s%s", i ? " " : "", command->words[i]);
    return out.data;
}

/* A formula on one line, however many it takes in its file. */
static const char *equation_text(struct arena *arena, const struct row *row)
{
    struct buffer out = { .arena = arena };
    buffer_add(&out, "", 0);
    for (size_t i = 0; row_expr(row) && i < row_text(row).size; i++) {
        const bool space = isspace((unsigned char)row_text(row).data[i]);
        if (!space || (out.size && out.data[out.size - 1] != ' '))
            buffer_add(&out, space ? " " : &row_text(row).data[i], 1);
    }
    return out.data;
}

/* The lecture's statements, to be looked up beside the rows. */
static struct passages statements(struct arena *arena, const struct formulas *formulas, struct lecture *lecture)
{
    statements_read(arena, lecture);
    struct passage *at = arena_array(arena, lecture->count + 1, sizeof *at);
    for (size_t i = 0; i < lecture->count; i++) {
        const struct statement *of = &lecture->at[i];
        at[i] = (struct passage){ of->id, of->sentence, of->reason, formulas_find(formulas, of->asks) };
    }
    return (struct passages){ at, lecture->count };
}

static void add_aliases(struct arena *arena, const struct row *row, struct section *section)
{
    struct section *list = section_add(section, "aliases", SECTION_TEXTS);
    for (const char *at = row_aliases(row) ? row_aliases(row) : ""; *at;) {
        const size_t size = strcspn(at, " ");
        section_word(list, "text", arena_copy(arena, at, size));
        at += size + strspn(at + size, " ");
    }
}

/* The command with the names of model and machine, where they were given. */
static const char *with_names(const struct scenario *scenario, const char *verb, const char *name)
{
    const char *const begins = arena_print(scenario->arena, "chalkline %s %s", verb, name);
    return scenario->model && scenario->machine
               ? arena_print(scenario->arena, "%s --model %s --on %s", begins, command_text(scenario->command, "model"),
                             command_text(scenario->command, "on"))
               : begins;
}

/* A statement is told as a row is, under its own name. It has no value: its command tells its figures. */
static void add_statement(struct scenario *scenario, const struct statement *statement, struct section *list)
{
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    section_word(one, "row", statement->id);
    section_add(one, "aliases", SECTION_TEXTS);
    section_word(one, "symbol", "");
    section_word(one, "chapter", lecture_chapters(scenario->arena)[statement->chapter - 1].title);
    section_word(one, "equation", statement->equation);
    section_nothing(one, "value");
    section_word(one, "unit", "");
    section_word(one, "meaning", statement->sentence);
    section_word(one, "command", with_names(scenario, "lecture", statement->id));
    section_word(one, "statement", statement->id);
}

static void add_row(struct scenario *scenario, const struct row *row, struct section *list)
{
    struct arena *arena = scenario->arena;
    struct error ignored;
    double value;
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    section_word(one, "row", row_name(row));
    add_aliases(arena, row, one);
    section_word(one, "symbol", row_symbol(row));
    const bool headed = row->chapter >= 0 && (size_t)row->chapter < scenario->formulas.chapter_count;
    section_word(one, "chapter", headed ? scenario->formulas.chapters[row->chapter].title : "");
    section_word(one, "equation", equation_text(arena, row));
    if (!row_table(row) && value_of(scenario, row_name(row), &value, &ignored) && isfinite(value))
        section_number(one, "value", value, row->unit);
    else
        section_nothing(one, "value");
    section_word(one, "unit", unit_name(arena, row->unit));
    section_word(one, "meaning", row_meaning(row));
    section_word(one, "command", with_names(scenario, "why", row_name(row)));
    section_word(one, "statement", "");
}

/* "throughput" means a server's before any other: predicted_throughput stands first. */
static size_t predicted_first(const struct formulas *formulas, const char *asked, struct row_match *matches,
                              size_t count, size_t most)
{
    const char *name = formulas_predicted(formulas, asked);
    const int row = name ? formulas_find(formulas, name) : -1;
    size_t at = 0;
    if (row < 0 || !most)
        return count;
    while (at < count && matches[at].row != row)
        at++;
    const size_t shifted = at < count ? at : count < most ? count++ : count - 1;
    memmove(matches + 1, matches, shifted * sizeof *matches);
    matches[0].row = row;
    return count;
}

bool ask_find(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    struct scenario scenario;
    if (!command->word_count) {
        error_set(error, "find needs words to look for");
        return error_expected(error, "one or more words, as in `%s`", command->verb->examples[0]);
    }
    if (!scenario_open(&scenario, arena, command, command_subject(command), error))
        return false;
    const size_t most = command_count(command, "most"), rows = scenario.formulas.count;
    const char *asked = asked_text(arena, command);
    struct row_match *matches = arena_array(arena, most + 1, sizeof *matches);
    struct section *section = section_new(arena);
    struct section *list = section_add(section, "results", SECTION_LIST);
    struct lecture lecture;
    const size_t found = formulas_lookup(&scenario.formulas, asked, statements(arena, &scenario.formulas, &lecture),
                                         matches, most);
    const size_t count = predicted_first(&scenario.formulas, asked, matches, found, most);
    const char **names = arena_array(arena, count + 1, sizeof *names);
    size_t valued = 0;
    for (size_t i = 0; i < count; i++)
        if (matches[i].row < (int)rows && !row_table(formulas_row(&scenario.formulas, matches[i].row)))
            names[valued++] = row_name(formulas_row(&scenario.formulas, matches[i].row));
    if (!scenario_choose(&scenario, names, valued, error))
        return false;
    for (size_t i = 0; i < count; i++)
        if (matches[i].row < (int)rows)
            add_row(&scenario, formulas_row(&scenario.formulas, matches[i].row), list);
        else
            add_statement(&scenario, &lecture.at[matches[i].row - (int)rows], list);
    section_word(section, "asked", asked)->text_only = true;
    answer->status = !count;
    section_document(section, answer->doc);
    template_print(template_built_in(arena, "ask/find.template"), section, &answer->text);
    return true;
}

static const struct record result_record = { "FindResult", (const struct answer_field[]){
    { FIELD_TEXT, "row", .help = "name of the row, or id of the statement", .always = true },
    { FIELD_TEXTS, "aliases", .help = "its other names", .always = true },
    { FIELD_TEXT, "symbol", .help = "its letter in the lecture, or empty", .always = true },
    { FIELD_TEXT, "chapter", .help = "the heading that it stands under", .always = true },
    { FIELD_TEXT, "equation", .help = "its formula, on one line; empty: an input", .always = true },
    { FIELD_NUMBER, "value", .help = "its value, in base units; null: it has one per entry of a table, or none",
      .unit = "", .always = true, .null = true },
    { FIELD_TEXT, "unit", .help = "unit of the value", .always = true },
    { FIELD_TEXT, "meaning", .help = "meaning of the row", .always = true },
    { FIELD_TEXT, "command", .help = "the command that explains it", .always = true },
    { FIELD_TEXT, "statement", .help = "id of the statement; empty: a row", .always = true },
    { 0 } } };

static const struct record answer_find = { "Find", (const struct answer_field[]){
    { FIELD_LIST, "results", .help = "best first", .record = &result_record, .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "asked" }, .count = 1 },
    { 0 } } };

static const struct option find_list[] = {
    { "most", "N", OPTION_COUNT, .low = 1, .high = 1000, .fallback = "5", .help = "how many rows to show" },
    { 0 } };
static const struct option_group find_options = { "Search", find_list };

const struct verb verb_find = {
    "find", "WORDS...", "Find rows by what people call them, by meaning, symbol or unit.",
    { "chalkline find arithmetic intensity", "chalkline find cost of a cache hit --most 3",
      "chalkline find memory wall --model deepseek-v3 --on gb200-nvl72" },
    { &find_options, ANSWER_OPTIONS, &output_options }, ANSWERS(answer_find), .ask = ask_find };
