/* What a statement comes to in a scenario: its figures, its verdict in a sentence, where it turns.
 *
 * The rule has four cases. A statement about routed experts does not apply to a model without any. One
 * whose `fails` is "-" is true of every model. A number holds where the value is within the lecture's
 * own rounding. Any other holds where the two sides of its equation compare as they do in the
 * lecture's deck. */
#include "lecture/statements.h"

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

struct command command_rows_only(struct arena *arena, const struct command *command)
{
    struct command bare = *command;
    bare.values = arena_array(arena, bare.value_count + 1, sizeof *bare.values);
    bare.value_count = 0;
    for (size_t i = 0; i < command->value_count; i++)
        if (!strcmp(command->values[i].option->name, "rows"))
            bare.values[bare.value_count++] = command->values[i];
    return bare;
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

static double value_or_nan(struct scenario *scenario, const char *text)
{
    struct error ignored;
    double value;
    return *text && value_of(scenario, text, &value, &ignored) ? value : NAN;
}

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
    *verdict = (struct verdict){ .applies = true, .holds = HOLDS_UNKNOWN };
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

/* The branch that a select takes here. */
static const struct expr *taken(struct scenario *scenario, const struct expr *expr)
{
    while (expr && expr->op == OP_SELECT) {
        const struct text condition = expr->kid[0]->text;
        const double holds = value_or_nan(scenario, arena_print(scenario->arena, "select(%.*s, 1, 0)",
                                                                (int)condition.size, condition.data));
        expr = isnan(holds) ? NULL : expr->kid[holds != 0 ? 1 : 2];
    }
    return expr;
}

/* The operand that decides a max or min, in words: its row's meaning up to the first comma. */
static const char *binds_text(struct scenario *scenario, const char *name)
{
    const int index = formulas_find(&scenario->formulas, name);
    const struct expr *expr = index < 0 ? NULL : taken(scenario, scenario->formulas.rows[index]->expr);
    const struct row *best = NULL;
    double most = -INFINITY;
    while (expr && (expr->op == OP_MAX || expr->op == OP_MIN || expr->op == OP_ADD)) {
        for (int i = 0; i < 2; i++) {
            const struct expr *kid = expr->kid[i];
            if (kid->op != OP_ROW)
                continue;
            const struct row *row = scenario->formulas.rows[kid->row];
            const double value = value_or_nan(scenario, row->name) * (expr->op == OP_MIN ? -1 : 1);
            if (value > most) {
                most = value;
                best = row;
            }
        }
        expr = expr->kid[0]->op != OP_ROW ? expr->kid[0] : expr->kid[1]->op != OP_ROW ? expr->kid[1] : NULL;
    }
    if (!best)
        return name;
    return arena_copy(scenario->arena, best->meaning, strcspn(best->meaning, ",;:("));
}

/* "{row}", "{row.binds}" or "{expression}" as text. */
static void print_mark(struct scenario *scenario, struct text mark, struct buffer *out)
{
    const char *name = arena_copy(scenario->arena, mark.data, mark.size);
    const size_t ending = strlen(".binds");
    if (mark.size > ending && !strcmp(name + mark.size - ending, ".binds")) {
        buffer_print(out, "%s", binds_text(scenario, arena_copy(scenario->arena, name, mark.size - ending)));
        return;
    }
    const double value = value_or_nan(scenario, name);
    if (isnan(value)) {
        buffer_print(out, "unknown");
        return;
    }
    const char *written = quantity_text(scenario->arena, value, scenario_unit(scenario, name), DIGITS);
    const size_t size = strlen(written), word = strlen(" token");
    const bool tokens = size > word && !strcmp(written + size - word, " token") && strcmp(written, "1 token");
    buffer_print(out, "%s%s", written, tokens ? "s" : "");
}

static const char *fill(struct scenario *scenario, const char *template)
{
    struct buffer out = { .arena = scenario->arena };
    buffer_add(&out, "", 0);
    for (const char *at = template; *at;) {
        const char *close = *at == '{' ? strchr(at, '}') : NULL;
        if (close) {
            print_mark(scenario, (struct text){ at + 1, (size_t)(close - at - 1) }, &out);
            at = close + 1;
        } else {
            const size_t size = 1 + strcspn(at + 1, "{");
            buffer_add(&out, at, size);
            at += size;
        }
    }
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

void verdict_of(struct scenario *scenario, const struct statement *statement, int sign, struct verdict *verdict)
{
    figures_of_statement(scenario, statement, verdict);
    if (scenario->model && !strcmp(statement->about, NAME_experts) && !(value_or_nan(scenario, NAME_experts) > 1)) {
        verdict->applies = false;
        return;
    }
    verdict->holds = holds_here(scenario, statement, sign, verdict);
    if (verdict->holds != HOLDS_UNKNOWN)
        verdict->conclusion = fill(scenario, verdict->holds == HOLDS ? statement->holds : statement->fails);
}

/* ---- where it turns ------------------------------------------------------------------------------ */

static double nearest_end(const struct extent *extent, double now)
{
    return fabs(log(extent->low / now)) <= fabs(log(extent->high / now)) ? extent->low : extent->high;
}

void verdict_turns(struct scenario *scenario, const struct statement *statement, struct verdict *verdict)
{
    struct scenario other = *scenario;
    struct equation equation;
    struct graph graph;
    struct solution found;
    struct error ignored;
    double low, high, best = INFINITY;
    other.facts = facts_copy(&scenario->facts);
    if (!verdict->applies || !equation_of(&other, statement, &equation) ||
        !equation_unknown(&other, statement->input, &low, &high, &ignored) ||
        !equation_graph(&other, &equation, &graph, &ignored))
        return;
    const int input = graph_input(&graph, formulas_name(&other.formulas, other.arena, statement->input));
    if (input < 0)
        return;
    graph_solve(other.arena, &graph, 0, (size_t)input, RELATION_EQUAL, low, high, &found);
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
    struct buffer unit_text = { .arena = section->arena };
    unit_print(&unit_text, unit);
    section_word(flips, "input", statement->input);
    section_word(flips, "equation", statement->turns);
    section_word(flips, "unit", unit_text.data);
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
