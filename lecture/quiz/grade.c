/* Answers: read, graded, explained.
 *
 * A number may have any unit of the right kind and is in base units without one; it is right within the
 * problem's tolerance. Where it is wrong by a factor that a known mistake explains, the grade names
 * the mistake. A quantity of another kind is wrong, and what cannot be read is an error. */
#include "lecture/quiz/quiz.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- choices --------------------------------------------------------------------------------- */

/* Is the text all of the choice, or all of its beginning: "bound_kv" of "bound_kv (T_kv): ..."? */
static bool begins(const char *choice, struct text text)
{
    return !strncmp(choice, text.data, text.size) && strchr(" :(", choice[text.size]) != NULL;
}

static bool grade_choice(const struct quiz_problem *problem, struct text text, struct grade *grade,
                         struct error *error)
{
    size_t chosen = problem->choice_count;
    if (text.size == 1)
        chosen = (size_t)(tolower((unsigned char)*text.data) - 'a');
    for (size_t i = 0; i < problem->choice_count && text.size > 1; i++)
        if (text_is(text, problem->choices[i]) || begins(problem->choices[i], text))
            chosen = i;
    if (chosen >= problem->choice_count) {
        error_set(error, "%s: '%.*s' is not one of its choices", problem->id, (int)text.size, text.data);
        return error_expected(error, "a letter from a to %c, or the words of a choice",
                              (int)('a' + problem->choice_count - 1));
    }
    grade->right = chosen == problem->right;
    return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static const double slip_tolerance = 1.02;

static bool within(double value, double answer, double tolerance)
{
    return value > 0 && fabs(scalar_log(value / answer)) <= scalar_log(tolerance) * (1 + 1e-9);
}

static size_t number_size(struct text text)
{
    size_t size = 0;
    while (size < text.size && strchr("0123456789.,+-eE", text.data[size]))
        size++;
    while (size && strchr("eE", text.data[size - 1]))
        size--;
    return size;
}

/* "28.6 %" */
static bool per_cent(struct text text, double *value)
{
    double share;
    if (!text.size || text.data[text.size - 1] != '%' ||
        !text_number(text_trim((struct text){ text.data, text.size - 1 }), &share))
        return false;
    *value = share / 100;
    return true;
}

static bool other_kind(const struct quiz_problem *problem, struct text text)
{
    struct error ignored;
    struct unit unit;
    double scale;
    const size_t size = number_size(text);
    const struct text rest = text_trim((struct text){ text.data + size, text.size - size });
    return size && rest.size && unit_parse(rest, &unit, &scale, &ignored) && !unit_same(unit, problem->unit);
}

static bool grade_number(const struct quiz_problem *problem, struct arena *arena, struct text text,
                         struct grade *grade, struct error *error)
{
    struct quantity quantity = { 0 };
    struct error inner;
    double value;
    if (unit_same(problem->unit, unit_one) && per_cent(text, &value)) {
        quantity.value = value;
    } else if (!quantity_parse(text, problem->unit, &quantity, &inner) ||
               quantity.distribution != DISTRIBUTION_NONE) {
        if (other_kind(problem, text)) {
            grade->wrong_unit = unit_name(arena, problem->unit);
            return true;
        }
        error_set(error, "%s: '%.*s' is not a number in %s", problem->id, (int)text.size, text.data,
                  unit_name(arena, problem->unit));
        return error_expected(error, "a number such as %s",
                              quantity_text(arena, 2, problem->unit, 3));
    }
    grade->right = within(quantity.value, problem->answer, problem->tolerance);
    for (size_t i = 0; i < problem->slip_count && !grade->right && !grade->slip; i++)
        if (within(quantity.value, problem->answer * problem->slips[i].factor, slip_tolerance))
            grade->slip = problem->slips[i].words;
    return true;
}

bool problem_grade(const struct quiz_problem *problem, struct arena *arena, const char *text, struct grade *grade,
                   struct error *error)
{
    const struct text trimmed = text_trim(text_of(text));
    *grade = (struct grade){ 0 };
    return problem->choice_count ? grade_choice(problem, trimmed, grade, error)
                                 : grade_number(problem, arena, trimmed, grade, error);
}

/* ---- why ------------------------------------------------------------------------------------- */

/* The row of "tier_total[flash]". */
static const struct row *row_of(struct arena *arena, const char *name)
{
    const struct formulas *formulas = formulas_built_in(0);
    return formulas_row(formulas, formulas_find(formulas, arena_copy(arena, name, strcspn(name, "["))));
}

/* What `why` says of the row at the numbers of the problem. */
static const struct doc *why_of(struct quiz *quiz, const struct quiz_problem *problem)
{
    struct arena *arena = quiz->arena;
    struct command *command = arena_alloc(arena, sizeof *command);
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    struct error ignored;
    const struct verb *const why = verb_named(quiz->command->verbs, "why");
    *command = (struct command){ .verb = why, .verbs = quiz->command->verbs, .ranks = quiz->command->ranks };
    command_put_word(arena, command, problem->explain);
    const struct option *set = verb_option(why, "set");
    for (size_t i = 0; i < problem->given_count; i++) {
        const struct problem_given *given = &problem->given[i];
        const bool output = problem->kind == PROBLEM_INVERSE && !strcmp(given->row, problem->explain);
        const char *text = output ? arena_print(arena, "%s=%.17g", problem->asks, problem->answer)
                                  : arena_print(arena, "%s=%s", given->row, given->text);
        if (!command_put(arena, command, set, text, &ignored))
            return NULL;
    }
    return why->ask(arena, command, &answer, &ignored) ? answer.doc : NULL;
}

const char *problem_why(struct quiz *quiz, const struct quiz_problem *problem)
{
    struct buffer out = { .arena = quiz->arena };
    const struct doc *why = problem->explain ? why_of(quiz, problem) : NULL;
    const char *reason = problem->source->reason;
    buffer_add(&out, "", 0);
    if (why) {
        const struct doc *value = doc_get(why, "value");
        const char *algebra = doc_text(why, "algebra", NULL), *numbers = doc_text(why, "numbers", NULL);
        const char *binds = doc_text(why, "binds", NULL);
        const struct row *row = row_of(quiz->arena, problem->explain);
        buffer_print(&out, "%s", problem->explain);
        if (algebra && strncmp(algebra, "select(", 7))
            buffer_print(&out, " = %s", algebra);
        if (numbers)
            buffer_print(&out, " = %s", numbers);
        if (value && value->kind == DOC_NUMBER)
            buffer_print(&out, " = %s", quantity_text(quiz->arena, value->number, row->unit, 4));
        buffer_print(&out, "%s%s.", binds ? "; it is set by " : "", binds ? binds : "");
    }
    if (*reason)
        buffer_print(&out, "%s%s", out.size ? " " : "", reason);
    return out.data;
}
