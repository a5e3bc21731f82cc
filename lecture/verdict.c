/* What a statement comes to in a scenario: its figures, its verdict in a sentence, where it flips.
 *
 * A statement about routed experts does not apply to a model without any; nor do those about deployments
 * that fit in memory, or that have several pipeline stages, to other deployments. For the rest the first
 * of these rules decides:
 *
 *   1. One whose `fails` is "-" holds for every model.
 *   2. A number that was said holds where the value is within the lecture's own rounding of it.
 *   3. Any other holds where the two sides of its equation compare as they do in the lecture's deck. */
#include "lecture/statements.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "scenario/deck.h"
#include "scenario/equation.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 3 };

bool statement_open(struct scenario *scenario, const struct command *command, const struct statement *statement,
                    struct arena *arena, struct error *error)
{
    return scenario_read(scenario, arena, command, command_no_subject(command), error) &&
           deck_complete(scenario, statement->deck, error);
}

static bool gives_rows(const struct option *option)
{
    return !strcmp(option->name, "rows");
}

struct command command_rows_only(struct arena *arena, const struct command *command)
{
    return *command_only(arena, command, gives_rows);
}

bool statement_sign(struct arena *arena, const struct command *command, const struct statement *statement,
                    int *sign, struct error *error)
{
    const struct command bare = command_rows_only(arena, command);
    struct scenario scenario;
    struct verdict verdict;
    if (!statement_open(&scenario, &bare, statement, arena, error))
        return false;
    verdict_of(&scenario, statement, 0, &verdict);
    *sign = verdict_sign(&verdict);
    return true;
}

/* ---- figures ---------------------------------------------------------------------------------- */

/* Both sides as the scenario has them: a quantity such as 20ms becomes a number in base units. */
static bool equation_of(struct scenario *scenario, const struct statement *statement, struct equation *equation)
{
    struct error ignored;
    return *statement->turns &&
           equation_split(scenario->arena, statement->turns, equation, &ignored) &&
           equation_read(scenario, equation, &ignored);
}

static struct side side_of(struct scenario *scenario, const char *text)
{
    return (struct side){ text, value_or_nan(scenario, text) };
}

static void figures_of_statement(struct scenario *scenario, const struct statement *statement,
                                 struct verdict *verdict)
{
    struct equation equation;
    *verdict = (struct verdict){ .holds = HOLDS_UNKNOWN };
    verdict->asks = side_of(scenario, statement->asks);
    verdict->left.value = verdict->right.value = NAN;
    if (!equation_of(scenario, statement, &equation))
        return;
    verdict->left = side_of(scenario, equation.left);
    verdict->right = side_of(scenario, equation.right);
    verdict->now = value_or_nan(scenario, statement->input);
}

int verdict_sign(const struct verdict *verdict)
{
    const double left = verdict->left.value, right = verdict->right.value;
    return (left > right) - (left < right);
}

/* ---- the verdict ------------------------------------------------------------------------------- */

enum holds statement_agrees(const struct scenario *scenario, const struct statement *statement, double value)
{
    struct quantity said;
    struct error ignored;
    if (!*statement->says ||
        !quantity_parse(text_of(statement->says), scenario_unit(scenario, statement->asks), &said, &ignored))
        return HOLDS_UNKNOWN;
    const bool near = value == said.value || fmax(value / said.value, said.value / value) <=
                                             statement->tolerance * (1 + 1e-9);
    return near ? HOLDS : HOLDS_NOT;
}

/* The operand that decides, so far. */
struct binding_part {
    const char *words;
    double value;
};

static void weigh(struct scenario *scenario, const char *text, const char *words, double sign,
                  struct binding_part *best)
{
    const double value = sign * value_or_nan(scenario, text);
    if (value > best->value)
        *best = (struct binding_part){ words, value };
}

/* Weigh the rows that a max, min or sum consists of, and the entries of a least or most. */
static void weigh_operands(struct scenario *scenario, const struct expr *expr, double sign,
                           struct binding_part *best)
{
    expr = select_taken(scenario, expr);
    if (!expr)
        return;
    if (expr->op == OP_ROW) {
        const struct row *row = formulas_row(&scenario->formulas, expr->row);
        weigh(scenario, row_name(row), arena_copy(scenario->arena, row_meaning(row), strcspn(row_meaning(row), ",;:(")),
              sign, best);
    } else if ((expr->op == OP_LEAST || expr->op == OP_MOST) && expr_kid(expr, 0)->op == OP_ROW) {
        const struct fact_table *table = facts_table(&scenario->facts, expr_name(expr));
        for (size_t i = 0; table && i < table->entries; i++)
            weigh(scenario, arena_print(scenario->arena, "%s[%s]",
                                        row_name(formulas_row(&scenario->formulas, expr_kid(expr, 0)->row)),
                                        table->entry[i]),
                  table->entry[i], sign, best);
    } else if (expr->op == OP_MAX || expr->op == OP_MIN || expr->op == OP_ADD) {
        weigh_operands(scenario, expr_kid(expr, 0), sign, best);
        weigh_operands(scenario, expr_kid(expr, 1), sign, best);
    }
}

/* What decides a row, or a row AT other values: the largest operand of its max or sum, the smallest of
 * its min, as the first words of that row's meaning or as the name of the entry. */
static const char *binds_text(const struct scenario *scenario, const char *text)
{
    struct scenario there = *scenario;
    struct binding_part best = { text, -INFINITY };
    const struct expr *expr;
    struct error ignored;
    if (!expr_parse(&there.formulas, "statement", 1, text_of(text), &expr, &ignored))
        return text;
    there.facts = facts_copy(&scenario->facts);
    if (expr->op == OP_AT) {
        for (const struct expr *at = expr_at(expr); at; at = expr_at(at)) {
            const struct text value = expr_text(expr_kid(at, 0));
            facts_set(&there.facts, row_name(formulas_row(&there.formulas, at->row)),
                      value_or_nan(&there, arena_copy(there.arena, value.data, value.size)), ORIGIN_CHOSEN,
                      "the statement");
        }
        expr = expr_kid(expr, 0);
    }
    if (expr->op != OP_ROW)
        return text;
    expr = select_taken(&there, row_expr(formulas_row(&there.formulas, expr->row)));
    if (expr)
        weigh_operands(&there, expr, expr->op == OP_MIN || expr->op == OP_LEAST ? -1 : 1, &best);
    return best.words;
}

/* " (low to high)", where an input has a range, given or plausible. */
static void print_range(struct scenario *scenario, const char *name, struct buffer *out)
{
    struct values values;
    struct error ignored;
    if (!values_of(scenario, &name, 1, &values, &ignored) || !values_uncertain(scenario, &values))
        return;
    const struct range range = values_range(scenario, &values, 0);
    const struct unit unit = scenario_unit(scenario, name);
    if (range.low < range.high)
        buffer_print(out, " (%s to %s)", quantity_text(scenario->arena, range.low, unit, DIGITS),
                     quantity_text(scenario->arena, range.high, unit, DIGITS));
}

/* A value in words: "7.23 ms", "1,000 tokens"; with '@' a large whole number, "181 M tokens"; with '!' the same of a
 * row whose 0 stands for "not known"; with '%' a share, "23.6 %". */
static const char *value_text(const struct scenario *scenario, const char *text, double value, char form)
{
    const struct unit unit = scenario_unit(scenario, text);
    struct buffer out = { .arena = scenario->arena };
    if (form == '%') {
        buffer_print(&out, "%s %%", quantity_text(scenario->arena, 100 * value, unit_one, DIGITS));
    } else if (form == '@' || form == '!') {
        buffer_print(&out, "%s", large_text(scenario->arena, value));
        if (!unit_same(unit, unit_one)) {
            buffer_print(&out, " ");
            unit_print(&out, unit);
        }
    } else {
        buffer_print(&out, "%s", quantity_text(scenario->arena, value, unit, DIGITS));
    }
    const size_t word = strlen(" token");
    const bool tokens = out.size > word && !strcmp(out.data + out.size - word, " token");
    return tokens && strcmp(out.data, "1 token") ? arena_print(scenario->arena, "%ss", out.data) : out.data;
}

/* The mark in braces as text; false: it has no value here. */
static bool print_mark(struct scenario *scenario, struct text mark, struct buffer *out)
{
    static const char binds[] = ".binds";
    const size_t ending = strlen(binds);
    const char *name = arena_copy(scenario->arena, mark.data, mark.size);
    if (mark.size > ending && !strcmp(name + mark.size - ending, binds)) {
        buffer_print(out, "%s", binds_text(scenario, arena_copy(scenario->arena, name, mark.size - ending)));
        return true;
    }
    const char last = mark.size ? mark.data[mark.size - 1] : 0;
    if (last && strchr("-@!%", last))
        name = arena_copy(scenario->arena, mark.data, mark.size - 1);
    double value = value_or_nan(scenario, name);
    if (last == '!' && !(value > 0))
        value = NAN;
    buffer_print(out, "%s", isnan(value) ? "unknown" : value_text(scenario, name, value, last));
    if (last == '-')
        print_range(scenario, name, out);
    return !isnan(value);
}

/* The text with its marks as values; `known`, if not NULL: whether each has one. */
static const char *fill_template(struct scenario *scenario, const char *template, bool *known)
{
    bool all = true;
    struct buffer out = { .arena = scenario->arena };
    buffer_add(&out, "", 0);
    for (const char *at = template; *at;) {
        const char *close = *at == '{' ? strchr(at, '}') : NULL;
        if (close) {
            all &= print_mark(scenario, (struct text){ at + 1, (size_t)(close - at - 1) }, &out);
            at = close + 1;
        } else {
            const size_t size = 1 + strcspn(at + 1, "{");
            buffer_add(&out, at, size);
            at += size;
        }
    }
    if (known)
        *known = all;
    return out.data;
}

static enum holds holds_here(struct scenario *scenario, const struct statement *statement, int sign,
                             const struct verdict *verdict)
{
    if (!strcmp(statement->fails, "-"))
        return HOLDS;
    if (statement->kind == STATEMENT_NUMBER && *statement->says)
        return isnan(verdict->asks.value) ? HOLDS_UNKNOWN
                                          : statement_agrees(scenario, statement, verdict->asks.value);
    if (!sign || !verdict->left.text)
        return HOLDS;
    if (isnan(verdict->left.value) || isnan(verdict->right.value))
        return HOLDS_UNKNOWN;
    return verdict_sign(verdict) == sign ? HOLDS : HOLDS_NOT;
}

/* What keeps a statement from applying; NULL: nothing. */
static const char *lacks(struct scenario *scenario, const struct statement *statement)
{
    if (!scenario->model)
        return NULL;
    if (statement->about_experts && !(value_or_nan(scenario, NAME_experts) > 1))
        return "the model has no routed experts";
    if (statement->about_fits && value_or_nan(scenario, NAME_hbm_share) > 1)
        return "this batch does not fit in memory";
    if (statement->about_stages && !(value_or_nan(scenario, NAME_pipeline_stages) > 1))
        return "there is a single pipeline stage";
    return NULL;
}

void verdict_of(struct scenario *scenario, const struct statement *statement, int sign, struct verdict *verdict)
{
    figures_of_statement(scenario, statement, verdict);
    verdict->lacks = lacks(scenario, statement);
    if (verdict->lacks)
        return;
    verdict->holds = holds_here(scenario, statement, sign, verdict);
    if (verdict->holds != HOLDS_UNKNOWN)
        verdict->conclusion = fill_template(scenario, verdict->holds == HOLDS ? statement->holds : statement->fails,
                                            NULL);
}

/* ---- where it turns ------------------------------------------------------------------------------ */

static double nearest_end(const struct extent *extent, double now)
{
    return fabs(log(extent->low / now)) <= fabs(log(extent->high / now)) ? extent->low : extent->high;
}

void verdict_turns(struct scenario *scenario, const struct statement *statement, struct verdict *verdict)
{
    struct scenario other = *scenario;
    struct solution found;
    double best = INFINITY;
    other.facts = facts_copy(&scenario->facts);
    if (verdict->lacks || !*statement->turns ||
        !equation_roots(&other, statement->turns, statement->input, &found))
        return;
    for (size_t i = 0; i < found.count; i++) {
        const double root = nearest_end(&found.extents[i], verdict->now);
        const double far = fabs(log(root / verdict->now));
        if (!verdict->turns || far < best) {
            best = far;
            verdict->root = root;
        }
        verdict->turns = true;
    }
}

/* ---- a summary ------------------------------------------------------------------------------------- */

bool statement_lines(struct scenario *scenario, const struct command *command, struct section *section,
                     struct error *error)
{
    struct lecture lecture;
    struct section *list = section_add(section, "lines", SECTION_LIST);
    statements_read(scenario->arena, &lecture);
    for (size_t i = 0; i < lecture.count; i++) {
        const struct statement *one = &lecture.at[i];
        struct verdict verdict;
        bool known;
        int sign = 0;
        if (!*one->label)
            continue;
        if (*one->line_fails && !statement_sign(scenario->arena, command, one, &sign, error))
            return false;
        verdict_of(scenario, one, sign, &verdict);
        if (verdict.lacks)
            continue;
        const bool fails = verdict.holds == HOLDS_NOT && *one->line_fails;
        const char *text = fill_template(scenario, fails ? one->line_fails : one->line, &known);
        if (!known)
            continue;
        struct section *line = section_add(list, NULL, SECTION_RECORD);
        section_word(line, "statement", one->id);
        section_word(line, "label", one->label);
        section_word(line, "text", text);
    }
    return true;
}

const struct record summary_line_record = { "SummaryLine", (const struct answer_field[]){
    { FIELD_TEXT, "statement", .help = "the statement it follows from: `chalkline lecture ID`", .always = true },
    { FIELD_TEXT, "label", .help = "what it is about, in a word", .always = true },
    { FIELD_TEXT, "text", .help = "what follows here", .always = true },
    { 0 } } };

/* ---- as an answer ---------------------------------------------------------------------------------- */

void statement_flips(const struct scenario *scenario, const struct statement *statement,
                     const struct verdict *verdict, struct section *section)
{
    if (!*statement->turns) {
        section_nothing(section, "flips");
        return;
    }
    struct section *flips = section_add(section, "flips", SECTION_RECORD);
    const struct unit unit = scenario_unit(scenario, statement->input);
    section_word(flips, "input", statement->input);
    section_word(flips, "equation", statement->turns);
    section_word(flips, "unit", unit_name(section->arena, unit));
    if (verdict->turns)
        section_number(flips, "at", verdict->root, unit);
    else
        section_nothing(flips, "at");
    section_number(flips, "now", verdict->now, unit);
}

const struct record flips_record = { "LectureFlips", (const struct answer_field[]){
    { FIELD_TEXT, "input", .help = "the input that turns the verdict", .always = true },
    { FIELD_TEXT, "equation", .help = "the equation that holds where it turns", .always = true },
    { FIELD_TEXT, "unit", .help = "unit of the input", .always = true },
    { FIELD_NUMBER, "at", .help = "where it turns, all else as it is; null: nowhere", .unit = "", .always = true,
      .null = true },
    { FIELD_NUMBER, "now", .help = "its present value", .unit = "", .always = true, .null = true },
    { 0 } } };
