/* Problems: from a kind, a source and a seed to a question with one answer.
 *
 * 1. The source's deck, or the defaults, say which inputs move the row (levers_of). Each that has to be
 *    stated gets a drawn value as a text.
 * 2. A scenario is read from these texts alone, as whoever solves the problem would read it. The answer
 *    is what the row is there.
 * 3. The kind makes the question of it, and refuses what would be ambiguous: a tie of operands, a change
 *    too small to see, a second root, a mistake that the tolerance would hide. */
#include "lecture/quiz/quiz.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "scenario/deck.h"
#include "scenario/equation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GIVEN_MOST = 9 };
static const double value_tolerance = 1.02, tie = 1.2, visible_change = 0.05;
static const double half_decade = 3.1622776601683795;           /* sqrt(10) */

/* ---- scenarios ------------------------------------------------------------------------------- */

static bool open_bare(const struct quiz *quiz, struct arena *arena, struct scenario *scenario,
                      struct error *error)
{
    struct command *bare = arena_alloc(arena, sizeof *bare);
    *bare = *quiz->command;
    bare->value_count = bare->word_count = 0;
    return scenario_read(scenario, arena, bare, command_no_subject(bare), error);
}

static bool is_output(const struct quiz_problem *problem, const struct problem_given *given)
{
    return problem->kind == PROBLEM_INVERSE && problem->explain && !strcmp(given->row, problem->explain);
}

static bool set_given(const struct quiz_problem *problem, struct scenario *scenario, struct error *error)
{
    for (size_t i = 0; i < problem->given_count; i++) {
        const struct problem_given *given = &problem->given[i];
        if (!is_output(problem, given) &&
            !scenario_set_row(scenario, given->row, given->text, ORIGIN_GIVEN, "the problem", error))
            return false;
    }
    return true;
}

bool problem_scenario(const struct quiz *quiz, const struct quiz_problem *problem, struct arena *arena,
                      struct scenario *scenario, struct error *error)
{
    if (!open_bare(quiz, arena, scenario, error) || !set_given(problem, scenario, error))
        return false;
    const bool hidden = problem->kind == PROBLEM_INVERSE && problem->answer > 0;
    return !hidden || scenario_set_row(scenario, problem->asks, arena_print(arena, "%.17g", problem->answer),
                                       ORIGIN_GIVEN, "the answer", error);
}

/* ---- given values ---------------------------------------------------------------------------- */

static void add_given(struct arena *arena, struct quiz_problem *problem, const char *row, const char *text)
{
    if (!problem->given)
        problem->given = arena_array(arena, GIVEN_MOST + 1, sizeof *problem->given);
    problem->given[problem->given_count++] = (struct problem_given){ row, text };
}

/* "row=value; row=value", as it is written. */
static void given_of_deck(struct arena *arena, const char *deck, struct quiz_problem *problem)
{
    struct deck_part part;
    size_t parts = 1;
    for (const char *at = deck; *at; at++)
        parts += *at == ';';
    problem->given = arena_array(arena, parts, sizeof *problem->given);
    while (deck_next(arena, &deck, &part))
        if (part.value)
            add_given(arena, problem, part.name, part.value);
}

static bool draw_given(struct scenario *scenario, struct random *random, struct quiz_problem *problem)
{
    struct arena *arena = scenario->arena;
    struct lever *levers;
    const size_t count = levers_of(scenario, problem->explain, &levers);
    size_t drawn = 0;
    for (size_t i = 0; i < count; i++) {
        const struct lever *lever = &levers[i];
        if (!lever->stated)
            continue;
        if (problem->given_count == GIVEN_MOST)
            return false;
        const double value = lever->drawn ? lever_draw(arena, lever, random) : lever->value;
        add_given(arena, problem, lever->name, quantity_text(arena, value, lever->row->unit, 6));
        drawn += lever->drawn;
    }
    return drawn > 0 && problem->given_count + (problem->source->statement != NULL) >= 2;
}

/* Refuse drawn values that contradict each other, such as more active parameters than parameters. */
static bool consistent(struct scenario *scenario)
{
    static const char *const rising[][2] = {
        { NAME_params_active, NAME_params_total }, { NAME_top_k, NAME_experts },
        { NAME_routed_reference_params, NAME_routed_reference_dense },
        { NAME_price_step_context, NAME_long_context }, { NAME_write_price_short, NAME_write_price_long },
        { NAME_time_to_live_short, NAME_time_to_live_long },
        { NAME_scale_out_bandwidth, NAME_scale_up_bandwidth },
    };
    for (size_t i = 0; i < sizeof rising / sizeof *rising; i++)
        if (!(value_or_nan(scenario, rising[i][0]) <= value_or_nan(scenario, rising[i][1])))
            return false;
    return true;
}

/* Is the answer one of the given values? */
static bool trivial(const struct lever *levers, size_t count, double value)
{
    for (size_t i = 0; i < count; i++)
        if (levers[i].stated && fabs(levers[i].value / value - 1) < 1e-9)
            return true;
    return false;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* "bound_step (T: time of one forward pass)" */
static const char *words_of_row(const struct scenario *scenario, const char *name)
{
    const char *plain = arena_copy(scenario->arena, name, strcspn(name, "["));
    const struct row *row = formulas_row(&scenario->formulas, formulas_find(&scenario->formulas, plain));
    const bool symbol = row_symbol(row) && *row_symbol(row);
    return arena_print(scenario->arena, "%s (%s%s%.*s)", name, symbol ? row_symbol(row) : "", symbol ? ": " : "",
                       (int)strcspn(row_meaning(row), ";"), row_meaning(row));
}

static void shuffle(struct random *random, struct quiz_problem *problem)
{
    for (size_t i = problem->choice_count; i > 1; i--) {
        const size_t other = random_below(random, i);
        const char *kept = problem->choices[i - 1];
        problem->choices[i - 1] = problem->choices[other];
        problem->choices[other] = kept;
        if (problem->right == i - 1 || problem->right == other)
            problem->right = problem->right == other ? i - 1 : other;
    }
}

/* ---- kinds ----------------------------------------------------------------------------------- */

struct making {
    struct quiz *quiz;
    struct scenario scenario;       /* of the given values */
    struct random random;
    struct lever *levers;           /* of the explained row there */
    size_t lever_count;
    double value;                   /* of that row there */
    struct quiz_problem *problem;
};

static bool make_value(struct making *making)
{
    struct quiz_problem *problem = making->problem;
    const bool rough = problem->kind == PROBLEM_MAGNITUDE;
    const char *words = words_of_row(&making->scenario, problem->asks);
    problem->answer = making->value;
    problem->tolerance = rough ? half_decade : value_tolerance;
    problem->question = arena_print(making->scenario.arena,
                                    rough ? "About how large is %s, to half an order of magnitude?"
                                          : "Compute %s.", words);
    slips_find(problem, making->levers, making->lever_count);
    return making->value > 0 && !trivial(making->levers, making->lever_count, making->value) &&
           !slips_hide(problem);
}

/* ---- what binds ------------------------------------------------------------------------------ */

/* Collect the rows that are operands of a maximum, minimum or sum, and return their number; 0 where an
 * operand is not a row, or there are too many. */
static size_t operands_of(const struct scenario *scenario, const struct expr *expr, enum op op,
                          const struct row **rows, size_t count)
{
    if (expr->op == OP_ROW) {
        if (count < CHOICES)
            rows[count] = formulas_row(&scenario->formulas, expr->row);
        return count < CHOICES ? count + 1 : 0;
    }
    if (expr->op != op)
        return 0;
    const size_t left = operands_of(scenario, expr_kid(expr, 0), op, rows, count);
    return left ? operands_of(scenario, expr_kid(expr, 1), op, rows, left) : 0;
}

static bool make_binds(struct making *making)
{
    struct scenario *scenario = &making->scenario;
    struct quiz_problem *problem = making->problem;
    const struct row *rows[CHOICES];
    const int index = formulas_find(&scenario->formulas, problem->asks);
    const struct expr *expr =
        index < 0 ? NULL : select_taken(scenario, row_expr(formulas_row(&scenario->formulas, index)));
    if (!expr || (expr->op != OP_MAX && expr->op != OP_MIN && expr->op != OP_ADD))
        return false;
    double first = 0, second = 0;
    problem->choice_count = operands_of(scenario, expr, expr->op, rows, 0);
    for (size_t i = 0; i < problem->choice_count; i++) {
        const double value = value_or_nan(scenario, row_name(rows[i])), rank = expr->op == OP_MIN ? 1 / value : value;
        if (!(value > 0) || row_table(rows[i]))
            return false;
        problem->choices[i] = words_of_row(scenario, row_name(rows[i]));
        second = rank > first ? first : fmax(second, rank);
        problem->right = rank > first ? i : problem->right;
        first = fmax(first, rank);
    }
    shuffle(&making->random, problem);
    problem->question = arena_print(scenario->arena, expr->op == OP_ADD ? "What is the largest part of %s?"
                                    : "What sets %s?", words_of_row(scenario, problem->asks));
    return problem->choice_count >= 2 && first >= tie * second;
}

/* ---- direction ------------------------------------------------------------------------------- */

static const char *const directions[] = { "rises", "falls", "stays the same" };

/* The index in `directions` of a change by this ratio; -1: too close to tell. */
static int direction_of(double ratio)
{
    if (fabs(ratio - 1) < 1e-9)
        return 2;
    return ratio >= 1 + visible_change ? 0 : ratio <= 1 - visible_change ? 1 : -1;
}

static bool ask_direction(struct making *making, const char *asks)
{
    struct quiz_problem *problem = making->problem;
    const int right = direction_of(value_or_nan(&making->scenario, asks));
    problem->asks = asks;
    problem->choice_count = sizeof directions / sizeof *directions;
    memcpy(problem->choices, directions, sizeof directions);
    problem->right = right < 0 ? 0 : (size_t)right;
    problem->unit = unit_one;
    return right >= 0;
}

static bool make_direction(struct making *making)
{
    struct scenario *scenario = &making->scenario;
    struct quiz_problem *problem = making->problem;
    size_t stated[GIVEN_MOST], count = 0;
    for (size_t i = 0; i < making->lever_count && count < GIVEN_MOST; i++)
        if (making->levers[i].stated && making->levers[i].value > 0 && !strchr(making->levers[i].name, '['))
            stated[count++] = i;
    if (!count || strchr(problem->explain, '['))
        return false;
    const struct lever *lever = &making->levers[stated[random_below(&making->random, count)]];
    const bool up = !lever->row->input || 2 * lever->value <= lever->row->high;
    if (!up && lever->value / 2 < lever->row->low)
        return false;
    problem->question = arena_print(scenario->arena, "%s is %s. What happens to %s?",
                                    words_of_row(scenario, lever->name), up ? "doubled" : "halved",
                                    words_of_row(scenario, problem->explain));
    return ask_direction(making, arena_print(scenario->arena, "AT(%s, %s=%s*%s)/%s", problem->explain,
                                             lever->name, up ? "2" : "0.5", lever->name, problem->explain));
}

/* ---- inverse --------------------------------------------------------------------------------- */

/* The only root of ROW=VALUE for an input that is not set; NAN where there is none or more than one, or where
 * the sides also pass each other at a jump. */
static double one_root(struct scenario *scenario, const char *input, const char *where)
{
    struct solution found;
    if (!equation_roots(scenario, where, input, &found))
        return NAN;
    const struct extent *first = found.extents;
    return found.count == 1 && !found.jump_count && first->low == first->high ? first->low : NAN;
}

/* Take an input out of what is given, and put the value of the row there instead. */
static const struct problem_given *hide(struct making *making, const struct lever *lever)
{
    struct quiz_problem *problem = making->problem;
    struct arena *arena = making->scenario.arena;
    for (size_t i = 0; i < problem->given_count; i++)
        if (!strcmp(problem->given[i].row, lever->name)) {
            problem->given[i].row = problem->explain;
            problem->given[i].text = quantity_text(arena, making->value, scenario_unit(&making->scenario,
                                                                                        problem->explain), 4);
            return &problem->given[i];
        }
    return NULL;
}

static bool make_inverse(struct making *making)
{
    struct quiz_problem *problem = making->problem;
    struct arena *arena = making->scenario.arena;
    struct scenario without;
    struct quantity shown;
    struct error ignored;
    size_t fit[GIVEN_MOST], count = 0;
    for (size_t i = 0; i < making->lever_count && count < GIVEN_MOST; i++) {
        const struct lever *lever = &making->levers[i];
        if (lever->stated && lever->value > 0 && fabs(lever->elasticity) >= 0.1 && !strchr(lever->name, '['))
            fit[count++] = i;
    }
    if (!count || !(making->value > 0) || strchr(problem->explain, '['))
        return false;
    const struct lever *lever = &making->levers[fit[random_below(&making->random, count)]];
    const struct unit unit = scenario_unit(&making->scenario, problem->explain);
    const struct problem_given *output = hide(making, lever);
    problem->asks = lever->name;
    problem->unit = lever->row->unit;
    if (!output || !quantity_parse(text_of(output->text), unit, &shown, &ignored) ||
        !open_bare(making->quiz, arena, &without, &ignored) || !set_given(problem, &without, &ignored))
        return false;
    problem->answer = one_root(&without, lever->name,
                               arena_print(arena, "%s=%.17g", problem->explain, shown.value));
    problem->tolerance = value_tolerance;
    problem->question = arena_print(arena, "How large is %s if %s is %s?",
                                    words_of_row(&making->scenario, lever->name),
                                    words_of_row(&making->scenario, problem->explain), output->text);
    slips_find(problem, making->levers, making->lever_count);
    return fabs(problem->answer / lever->value - 1) < 0.005 && !slips_hide(problem);
}

/* ---- reason ---------------------------------------------------------------------------------- */

static bool make_reason(struct making *making)
{
    struct quiz_problem *problem = making->problem;
    const struct statement *statement = problem->source->statement;
    const struct lecture *lecture = &making->quiz->lecture;
    size_t others[64], count = 0;
    for (size_t i = 0; i < lecture->count && count < sizeof others / sizeof *others; i++) {
        const struct statement *other = &lecture->at[i];
        if (other->chapter == statement->chapter && other != statement &&
            (!*other->asks || strcmp(other->asks, statement->asks)))
            others[count++] = i;
    }
    if (count < CHOICES - 1)
        return false;
    problem->choices[problem->choice_count++] = statement->reason;
    while (problem->choice_count < CHOICES) {
        const size_t at = random_below(&making->random, count);
        problem->choices[problem->choice_count++] = lecture->at[others[at]].reason;
        others[at] = others[--count];
    }
    shuffle(&making->random, problem);
    problem->question = arena_print(making->scenario.arena, "%s Why?", statement->sentence);
    return true;
}

/* ---- problems of our own --------------------------------------------------------------------- */

/* "INPUT: A=B" */
static bool own_inverse(struct making *making)
{
    struct quiz_problem *problem = making->problem;
    struct scenario *scenario = &making->scenario;
    const char *asks = problem->source->asks, *colon = strchr(asks, ':');
    problem->asks = arena_copy(scenario->arena, asks, (size_t)(colon - asks));
    problem->unit = scenario_unit(scenario, problem->asks);
    problem->answer = one_root(scenario, problem->asks, colon + 1 + strspn(colon + 1, " "));
    return problem->answer > 0;
}

/* "ROW; INPUT=VALUE" */
static bool own_direction(struct making *making)
{
    struct arena *arena = making->scenario.arena;
    const char *asks = making->problem->source->asks, *sign = strchr(asks, ';');
    const char *row = arena_copy(arena, asks, (size_t)(sign - asks));
    const char *changed = sign + 1 + strspn(sign + 1, " ");
    return ask_direction(making, arena_print(arena, "AT(%s, %s)/%s", row, changed, row));
}

static bool make_own(struct making *making)
{
    struct quiz_problem *problem = making->problem;
    problem->question = problem->source->question;
    problem->tolerance = problem->kind == PROBLEM_MAGNITUDE ? half_decade : value_tolerance;
    if (problem->kind == PROBLEM_INVERSE)
        return own_inverse(making);
    if (problem->kind == PROBLEM_DIRECTION)
        return own_direction(making);
    making->lever_count = levers_of(&making->scenario, problem->asks, &making->levers);
    problem->answer = value_or_nan(&making->scenario, problem->asks);
    if (formulas_find(&making->scenario.formulas, problem->asks) >= 0)
        problem->explain = problem->asks;
    slips_find(problem, making->levers, making->lever_count);
    return problem->answer > 0 && !slips_hide(problem);
}

/* ---- any of them ----------------------------------------------------------------------------- */

static bool make_drawn(struct making *making)
{
    static bool (*const makers[])(struct making *) = {
        [PROBLEM_VALUE] = make_value, [PROBLEM_BINDS] = make_binds, [PROBLEM_DIRECTION] = make_direction,
        [PROBLEM_INVERSE] = make_inverse, [PROBLEM_MAGNITUDE] = make_value };
    struct quiz_problem *problem = making->problem;
    struct scenario of_deck;
    struct error ignored;
    struct arena *arena = making->scenario.arena;
    problem->explain = problem->asks;
    if (!open_bare(making->quiz, arena, &of_deck, &ignored) ||
        !deck_complete(&of_deck, problem->source->deck, &ignored) ||
        !draw_given(&of_deck, &making->random, problem) || !set_given(problem, &making->scenario, &ignored) ||
        !consistent(&making->scenario))
        return false;
    problem->unit = scenario_unit(&making->scenario, problem->explain);
    making->value = value_or_nan(&making->scenario, problem->explain);
    making->lever_count = levers_of(&making->scenario, problem->explain, &making->levers);
    return making->lever_count && makers[problem->kind](making);
}

bool problem_make(struct quiz *quiz, enum problem_kind kind, const struct problem_source *source, uint64_t seed,
                  struct arena *arena, struct quiz_problem *problem)
{
    struct making making = { .quiz = quiz, .problem = problem };
    struct error ignored;
    const char *name = arena_print(arena, "%s:%s", problem_kinds[kind], source->name);
    seed = source->question ? 0 : seed;         /* its numbers are fixed */
    *problem = (struct quiz_problem){ .id = arena_print(arena, "%s:%" PRIu64, name, seed), .kind = kind,
                                 .source = source, .asks = source->asks, .tolerance = 1, .answer = NAN };
    if (!source_suits(quiz, source, kind) || !open_bare(quiz, arena, &making.scenario, &ignored))
        return false;
    random_stream(&making.random, seed, name, 0);
    if (kind == PROBLEM_REASON) {
        problem->asks = "";
        return make_reason(&making);
    }
    if (!source->question)
        return make_drawn(&making);
    given_of_deck(arena, source->deck, problem);
    problem->unit = scenario_unit(&making.scenario, source->asks);
    return set_given(problem, &making.scenario, &ignored) && make_own(&making);
}

/* ---- by id, or drawn ------------------------------------------------------------------------- */

static bool id_unknown(const char *id, struct error *error)
{
    error_set(error, "unknown problem '%.100s'", id);
    return error_expected(error, "an id that `chalkline quiz --json` gave, such as value:batch.crossover:12");
}

bool problem_again(struct quiz *quiz, const char *id, struct quiz_problem *problem, struct error *error)
{
    const char *colon = strchr(id, ':'), *last = strrchr(id, ':');
    char *end;
    if (!colon || colon == last || !strchr("0123456789", last[1]) || !last[1])
        return id_unknown(id, error);
    const char *kind = arena_copy(quiz->arena, id, (size_t)(colon - id));
    const char *name = arena_copy(quiz->arena, colon + 1, (size_t)(last - colon - 1));
    const struct problem_source *source = quiz_source(quiz, name);
    const uint64_t seed = strtoull(last + 1, &end, 10);
    for (int i = 0; i < PROBLEM_KINDS && source && !*end; i++)
        if (!strcmp(kind, problem_kinds[i]) &&
            problem_make(quiz, (enum problem_kind)i, source, seed, quiz->arena, problem))
            return true;
    return id_unknown(id, error);
}

/* A source of this kind and chapter; NULL: there is none. */
static const struct problem_source *pick(struct quiz *quiz, struct random *random, enum problem_kind kind,
                                 int chapter)
{
    const struct problem_source **fit = arena_array(quiz->arena, quiz->count + 1, sizeof *fit);
    size_t count = 0;
    for (size_t i = 0; i < quiz->count; i++)
        if ((!chapter || quiz->sources[i].chapter == chapter) && source_suits(quiz, &quiz->sources[i], kind))
            fit[count++] = &quiz->sources[i];
    return count ? fit[random_below(random, count)] : NULL;
}

static const char *kept(struct arena *arena, const char *text)
{
    return text ? arena_copy(arena, text, strlen(text)) : NULL;
}

/* What was made in another arena, in this one. */
static void keep(struct arena *arena, struct quiz_problem *problem)
{
    const char **const texts[] = { &problem->id, &problem->question, &problem->asks, &problem->explain };
    struct problem_given *given = arena_array(arena, problem->given_count + 1, sizeof *given);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = kept(arena, *texts[i]);
    for (size_t i = 0; i < problem->choice_count; i++)
        problem->choices[i] = kept(arena, problem->choices[i]);
    for (size_t i = 0; i < problem->slip_count; i++)
        problem->slips[i].words = kept(arena, problem->slips[i].words);
    for (size_t i = 0; i < problem->given_count; i++)
        given[i] = (struct problem_given){ kept(arena, problem->given[i].row), kept(arena, problem->given[i].text) };
    problem->given = given;
}

/* A problem of this kind; false where none was found. */
static bool draw_kind(struct quiz *quiz, struct random *random, enum problem_kind kind, int chapter,
                      struct quiz_problem *problem)
{
    enum { TRIES = 100, SEEDS = 1000000 };
    for (int i = 0; i < TRIES; i++) {
        const struct problem_source *source = pick(quiz, random, kind, chapter);
        const uint64_t seed = random_below(random, SEEDS);
        struct arena scratch = arena_beside(quiz->arena);
        const bool made = source && problem_make(quiz, kind, source, seed, &scratch, problem);
        if (made)
            keep(quiz->arena, problem);
        arena_free(&scratch);
        if (made)
            return true;
    }
    return false;
}

bool problem_draw(struct quiz *quiz, struct random *random, int kind, int chapter, struct quiz_problem *problem,
                  struct error *error)
{
    enum { ROUNDS = 6 };
    for (int i = 0; i < ROUNDS; i++) {
        const size_t one = kind < PROBLEM_KINDS ? (size_t)kind : random_below(random, PROBLEM_KINDS);
        if (draw_kind(quiz, random, (enum problem_kind)one, chapter, problem))
            return true;
    }
    error_set(error, "quiz: found no problem of this kind");
    return error_expected(error, "another --kind or --chapter");
}
