/* What a statement comes to in the lecture's own example, its deck, as the command changes it: its figures, whether it
 * holds, its conclusion, and where that flips.
 *
 * One whose `fails` is "-" holds always. A figure that was said, and that the equation is about or that has none, holds
 * where it agrees within the lecture's own rounding. Any other statement holds where the two sides of its equation compare
 * as they do in the deck alone. What it comes to for a model is another question: question.h. */
#include "lecture/statements.h"
#include "lecture/sentence.h"
#include "scenario/values.h"

#include "scenario/deck.h"
#include "scenario/equation.h"

#include <math.h>
#include <string.h>

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

static bool said_decides(const struct statement *statement, const struct verdict *verdict)
{
    const bool compared = statement->question.kind == QUESTION_ARGUMENT ||
                          statement->question.kind == QUESTION_COMPARISON;
    return *statement->says &&
           (!verdict->left.text || (!compared && !strcmp(verdict->left.text, statement->asks)));
}

static enum holds holds_there(const struct scenario *scenario, const struct statement *statement, int sign,
                              const struct verdict *verdict)
{
    if (!strcmp(statement->fails, "-"))
        return HOLDS;
    if (said_decides(statement, verdict))
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
    verdict->holds = holds_there(scenario, statement, sign, verdict);
    if (verdict->holds != HOLDS_UNKNOWN)
        verdict->conclusion = sentence_fill(scenario, verdict->holds == HOLDS ? statement->holds : statement->fails,
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
    if (!*statement->turns ||
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

/* ---- as an answer ---------------------------------------------------------------------------------- */

void flips_section(const struct scenario *scenario, const char *input, const char *equation, bool turns, double root,
                   double now, struct section *section)
{
    if (!*equation) {
        section_nothing(section, "flips");
        return;
    }
    struct section *flips = section_add(section, "flips", SECTION_RECORD);
    const struct unit unit = scenario_unit(scenario, input);
    section_word(flips, "input", input);
    section_word(flips, "equation", equation);
    section_word(flips, "unit", unit_name(section->arena, unit));
    if (turns)
        section_number(flips, "at", root, unit);
    else
        section_nothing(flips, "at");
    section_number(flips, "now", now, unit);
}

const struct record flips_record = { "LectureFlips", (const struct answer_field[]){
    { FIELD_TEXT, "input", .help = "the input that turns the verdict", .always = true },
    { FIELD_TEXT, "equation", .help = "the equation that holds where it turns", .always = true },
    { FIELD_TEXT, "unit", .help = "unit of the input", .always = true },
    { FIELD_NUMBER, "at", .help = "where it turns, all else as it is; null: nowhere", .unit = "", .always = true,
      .null = true },
    { FIELD_NUMBER, "now", .help = "its present value", .unit = "", .always = true, .null = true },
    { 0 } } };
