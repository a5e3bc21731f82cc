/* `quiz`: a thousand drawn problems, each answered again by another path, and graded with right,
 * wrong and mistaken answers; our own problems against figures computed elsewhere; what is remembered.
 *
 * The other path is `eval` with the given values and nothing else, for a changed input at its changed
 * value, and for an inverse problem at points over twelve decades of the input. Runs in the root of the
 * tree. */
#include "test.h"
#include "lines.h"

#include "lecture/quiz/quiz.h"
#include "catalog/sheet.h"
#include "scenario/values.h"

#include <math.h>

struct world {
    struct arena arena;
    struct command command;         /* quiz without options */
    struct quiz quiz;
    struct answer answer;
    struct error error;
};

static int world_open(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    *state = world;
    if (!world)
        return 1;
    world->command = (struct command){ .verb = &verb_quiz, .verbs = verbs };
    quiz_open(&world->quiz, &world->arena, &world->command);
    return 0;
}

static int world_close(void **state)
{
    struct world *world = *state;
    arena_free(&world->arena);
    free(world);
    return 0;
}

static void close_to(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * fabs(want)))
        fail_msg("%.17g is not %.17g", got, want);
}

/* ---- questions ------------------------------------------------------------------------------- */

static bool try(struct world *world, const char *line)
{
    return line_asked(&world->arena, line, &world->answer, &world->error);
}

static const struct doc *ask(struct world *world, const char *line)
{
    if (!try(world, line))
        fail_msg("%s: %s", line, world->error.what);
    return world->answer.doc;
}

/* `eval ASKS --set ...` with all given values but one, and one other. */
static double evaluated(const char *asks, const struct quiz_problem *problem, const char *without,
                        const char *other)
{
    enum { WORDS = 64 };
    struct arena arena = { 0 };
    struct answer answer;
    struct error error;
    char *words[WORDS] = { (char *)"chalkline", (char *)"eval", arena_print(&arena, "%s", asks) };
    int count = 3;
    for (size_t i = 0; i < problem->given_count; i++) {
        const struct problem_given *given = &problem->given[i];
        if (without && !strcmp(given->row, without))
            continue;
        words[count++] = (char *)"--set";
        words[count++] = arena_print(&arena, "%s=%s", given->row, given->text);
    }
    if (other) {
        words[count++] = (char *)"--set";
        words[count++] = arena_print(&arena, "%s", other);
    }
    assert_true(count < WORDS);
    struct command command = { .verbs = verbs };
    if (!command_read(&arena, count, words, &command, &error) || !line_answered(&arena, &command, &answer, &error))
        fail_msg("%s: eval %s: %s", problem->id, asks, error.what);
    const double value = doc_get(answer.doc->first, "value")->number;
    arena_free(&arena);
    return value;
}

/* ---- the other path -------------------------------------------------------------------------- */

static double number_given(const struct quiz_problem *problem, const char *row, struct unit *unit)
{
    const struct formulas *formulas = formulas_built_in(0);
    struct quantity quantity;
    struct error error;
    *unit = formulas_row(formulas, formulas_find(formulas, row))->unit;
    for (size_t i = 0; i < problem->given_count; i++)
        if (!strcmp(problem->given[i].row, row)) {
            assert_true(quantity_parse(text_of(problem->given[i].text), *unit, &quantity, &error));
            return quantity.value;
        }
    fail_msg("%s: %s is not given", problem->id, row);
    return NAN;
}

static void check_number(const struct quiz_problem *problem)
{
    close_to(evaluated(problem->asks, problem, NULL, NULL), problem->answer, 1e-12);
}

/* The row has the value that was given where the input is the answer, and nowhere else. */
static void check_root(struct arena *arena, const struct quiz_problem *problem)
{
    enum { POINTS = 240 };
    const struct formulas *formulas = formulas_built_in(0);
    const struct row *row = formulas_row(formulas, formulas_find(formulas, problem->asks));
    struct unit unit;
    const double target = number_given(problem, problem->explain, &unit);
    const char *at = arena_print(arena, "%s=%.17g", problem->asks, problem->answer);
    close_to(evaluated(problem->explain, problem, problem->explain, at), target, 1e-9);
    int below = 0, above = 0, crossings = 0, last = 0;
    struct arena scratch = { 0 };
    for (int i = 0; i <= POINTS; i++) {
        const double x = problem->answer * pow(10, 12.0 * (i - POINTS / 2 + 0.5) / POINTS);
        struct scenario scenario;
        struct error error;
        double value;
        if (row->input && (x < row->low || x > row->high))
            continue;
        struct quiz_problem moved = *problem;
        moved.answer = x;
        struct quiz quiz = { .command = &(struct command){ .verb = &verb_quiz, .verbs = verbs } };
        if (!problem_scenario(&quiz, &moved, &scratch, &scenario, &error) ||
            !value_of(&scenario, problem->explain, &value, &error))
            continue;
        const int side = (value > target) - (value < target);
        crossings += last && side && side != last;
        last = side ? side : last;
        below += x < problem->answer;
        above += x > problem->answer;
        arena_free(&scratch);
    }
    arena_free(&scratch);
    if (crossings != 1 && below && above)
        fail_msg("%s: %s takes its value %d times", problem->id, problem->explain, crossings);
}

/* A maximum or a minimum is one of its operands, a sum is all of them. */
static void check_operands(struct arena *arena, const struct quiz_problem *problem)
{
    double values[CHOICES] = { 0 }, sum = 0, least = INFINITY, most = 0;
    for (size_t i = 0; i < problem->choice_count; i++) {
        const char *choice = problem->choices[i];
        values[i] = evaluated(arena_copy(arena, choice, strcspn(choice, " ")), problem, NULL, NULL);
        sum += values[i];
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    const double whole = evaluated(problem->explain, problem, NULL, NULL);
    const bool minimum = fabs(whole / least - 1) < 1e-9;
    const double right = values[problem->right];
    assert_true(minimum || fabs(whole / most - 1) < 1e-9 || fabs(whole / sum - 1) < 1e-9);
    assert_true(right == (minimum ? least : most));
    for (size_t i = 0; i < problem->choice_count; i++)      /* no ties */
        assert_true(i == problem->right || (minimum ? values[i] > 1.19 * right : 1.19 * values[i] < right));
}

/* "AT(row, input=2*input)/row", the input changed in what is given. */
static void check_change(struct arena *arena, const struct quiz_problem *problem)
{
    const char *name = strstr(problem->asks, ", ") + 2, *factor = strchr(name, '=') + 1;
    const char *input = arena_copy(arena, name, strcspn(name, "="));
    struct unit unit;
    const double now = number_given(problem, input, &unit);
    const char *row = arena_copy(arena, problem->asks + 3, strcspn(problem->asks + 3, ","));
    double then = now * strtod(factor, NULL);
    if (!strchr(factor, '*')) {                             /* the new value itself */
        struct quantity quantity;
        struct error error;
        const char *text = arena_copy(arena, factor, strcspn(factor, ")"));
        assert_true(quantity_parse(text_of(text), unit, &quantity, &error));
        then = quantity.value;
    }
    const double ratio = evaluated(row, problem, input, arena_print(arena, "%s=%.17g", input, then)) /
                         evaluated(row, problem, NULL, NULL);
    const char *expected = fabs(ratio - 1) < 1e-9 ? "stays the same" : ratio > 1 ? "rises" : "falls";
    assert_string_equal(problem->choices[problem->right], expected);
    assert_true(fabs(ratio - 1) < 1e-9 || fabs(ratio - 1) > 0.049);
}

static void check_reason(const struct quiz_problem *problem)
{
    const struct csv *csv = csv_built_in("data/lecture.csv");
    const int id = csv_column(csv, "id"), reason = csv_column(csv, "reason");
    for (size_t i = 0; i < csv->rows; i++)
        if (!strcmp(csv_cell(csv, i, id), problem->source->name))
            assert_string_equal(problem->choices[problem->right], csv_cell(csv, i, reason));
    for (size_t i = 0; i < problem->choice_count; i++)
        assert_true(i == problem->right || strcmp(problem->choices[i], problem->choices[problem->right]));
}

/* Each problem twice: as it was posed, and made again from its id. */
static void check_same(const struct doc *posed, const struct quiz_problem *problem)
{
    assert_string_equal(doc_get(posed, "id")->string, problem->id);
    assert_string_equal(doc_get(posed, "question")->string, problem->question);
    assert_string_equal(doc_get(posed, "asks")->string, problem->asks);
    const struct doc *answer = doc_get(posed, "answer"), *given = doc_get(posed, "given")->first;
    if (problem->choice_count)
        assert_string_equal(answer->string, problem->choices[problem->right]);
    else
        assert_true(answer->number == problem->answer);
    for (size_t i = 0; i < problem->given_count; i++, given = given->next) {
        assert_string_equal(given->key, problem->given[i].row);
        assert_string_equal(given->string, problem->given[i].text);
    }
}

/* ---- grades ---------------------------------------------------------------------------------- */

static struct grade graded(struct world *world, const struct quiz_problem *problem, const char *text)
{
    struct grade grade;
    if (!problem_grade(problem, &world->arena, text, &grade, &world->error))
        fail_msg("%s=%s: %s", problem->id, text, world->error.what);
    return grade;
}

static struct grade graded_number(struct world *world, const struct quiz_problem *problem, double value)
{
    return graded(world, problem, arena_print(&world->arena, "%.17g", value));
}

/* Right as a number and with its unit; wrong beyond the tolerance, as another kind of quantity, and for
 * every mistake that the problem knows, which is then named. */
static void check_number_grades(struct world *world, const struct quiz_problem *problem)
{
    const double answer = problem->answer, edge = problem->tolerance;
    assert_true(graded_number(world, problem, answer).right);
    assert_true(graded(world, problem, quantity_text(&world->arena, answer, problem->unit, 6)).right);
    assert_true(graded_number(world, problem, answer * (1 + (edge - 1) * 0.99)).right);
    assert_false(graded_number(world, problem, answer * (1 + (edge - 1) * 1.01)).right);
    assert_false(graded_number(world, problem, answer / (1 + (edge - 1) * 1.01)).right);
    const struct grade other = graded(world, problem, problem->unit.half[UNIT_J] ? "1 s" : "1 J");
    assert_true(!other.right && other.wrong_unit);
    for (size_t i = 0; i < problem->slip_count; i++) {
        const struct grade slipped = graded_number(world, problem, answer * problem->slips[i].factor);
        if (slipped.right || !slipped.slip)
            fail_msg("%s: the mistake '%s' is not seen", problem->id, problem->slips[i].words);
    }
}

static void check_choice_grades(struct world *world, const struct quiz_problem *problem)
{
    for (size_t i = 0; i < problem->choice_count; i++) {
        const char letter[] = { (char)('a' + i), 0 };
        assert_true(graded(world, problem, letter).right == (i == problem->right));
        assert_true(graded(world, problem, problem->choices[i]).right == (i == problem->right));
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void problems_have_one_answer(void **state)
{
    enum { COUNT_EACH = 250, CHAPTERS = 7 };
    struct world *world = *state;
    const int seeds = sample_only() ? 1 : rounds(4);
    int kinds[PROBLEM_KINDS] = { 0 }, chapters[CHAPTERS + 1] = { 0 }, all = 0;
    for (int seed = 1; seed <= seeds; seed++) {
        const char *line = arena_print(&world->arena, "quiz --count %d --seed %d", COUNT_EACH, seed);
        const struct doc *problems = doc_get(ask(world, line), "problems");
        assert_int_equal(problems->count, COUNT_EACH);
        for (const struct doc *one = problems->first; one; one = one->next) {
            struct quiz_problem problem;
            if (!problem_again(&world->quiz, doc_get(one, "id")->string, &problem, &world->error))
                fail_msg("%s", world->error.what);
            check_same(one, &problem);
            switch (problem.kind) {
            case PROBLEM_VALUE: case PROBLEM_MAGNITUDE: check_number(&problem); break;
            case PROBLEM_INVERSE:
                if (problem.explain)
                    check_root(&world->arena, &problem);
                break;
            case PROBLEM_BINDS:     check_operands(&world->arena, &problem); break;
            case PROBLEM_DIRECTION: check_change(&world->arena, &problem); break;
            default:                check_reason(&problem);
            }
            if (problem.choice_count)
                check_choice_grades(world, &problem);
            else
                check_number_grades(world, &problem);
            kinds[problem.kind]++;
            chapters[problem.source->chapter]++;
            all++;
        }
    }
    print_message("%d problems; by kind", all);
    for (int i = 0; i < PROBLEM_KINDS; i++)
        print_message(" %s %d", problem_kinds[i], kinds[i]);
    print_message("\n");
    assert_int_equal(all, seeds * COUNT_EACH);
    for (int i = 0; i < PROBLEM_KINDS; i++)
        assert_true(kinds[i] >= 20 * seeds);
    for (int i = 1; i <= CHAPTERS; i++)
        assert_true(chapters[i] >= 5 * seeds);
}

/* Is no answer of another unit, or of a common mistake, within the tolerance? */
static void mistakes_stand_apart(void **state)
{
    struct world *world = *state;
    struct random random;
    random_stream(&random, 7, "mistakes", 0);
    size_t seen = 0;
    for (int i = 0; i < 200; i++) {
        struct quiz_problem problem;
        const enum problem_kind kind = i % 2 ? PROBLEM_VALUE : PROBLEM_MAGNITUDE;
        assert_true(problem_draw(&world->quiz, &random, kind, 0, &problem, &world->error));
        for (size_t k = 0; k < problem.slip_count; k++)
            assert_true(fabs(log(problem.slips[k].factor)) > log(problem.tolerance));
        seen += problem.slip_count > 0;
    }
    assert_true(seen > 50);
}

static void own_problems_agree(void **state)
{
    struct world *world = *state;
    const struct csv *csv = csv_built_in("data/problems.csv");
    assert_int_equal(csv->rows, 27);
    for (size_t i = 0; i < csv->rows; i++) {
        const char *id = csv_cell(csv, i, csv_column(csv, "id"));
        const char *kind = csv_cell(csv, i, csv_column(csv, "kind"));
        struct quiz_problem problem;
        struct quantity exact;
        const char *whole = arena_print(&world->arena, "%s:%s:0", kind, id);
        if (!problem_again(&world->quiz, whole, &problem, &world->error))
            fail_msg("%s: %s", id, world->error.what);
        assert_true(quantity_parse(text_of(csv_cell(csv, i, csv_column(csv, "exact"))), problem.unit, &exact,
                                   &world->error));
        if (problem.kind == PROBLEM_DIRECTION)
            close_to(evaluated(problem.asks, &problem, NULL, NULL), exact.value, 1e-5);
        else
            close_to(problem.answer, exact.value, 1e-5);
        assert_true(strlen(problem_why(&world->quiz, &problem)) > 20);
    }
}

static void misses_are_explained(void **state)
{
    struct world *world = *state;
    const struct doc *one = doc_get(ask(world, "quiz --grade value:problem.2:0=2400 --grade "
                                               "value:batch.roofline:3=9s"), "graded")->first;
    assert_false(doc_get(one, "right")->boolean);
    assert_true(doc_get(one, "answer")->number == 4800);
    assert_non_null(strstr(doc_get(one, "slip")->string, "FLOPs"));
    assert_non_null(strstr(doc_get(one, "why")->string, "batch_crossover = "));
    assert_non_null(strstr(doc_get(one->next, "why")->string, "bound_step = max("));
}

static void bad_answers_are_refused(void **state)
{
    static const char *const bad[] = {
        "quiz --grade value:problem.2:0", "quiz --grade value:problem.2=1", "quiz --grade value:nothing:0=1",
        "quiz --grade inverse:problem.2:0=1", "quiz --grade value:problem.2:0=many",
        "quiz --grade direction:problem.6:0=d", "quiz --grade value:problem.2:0=1 --count 3", "quiz 5",
        "quiz --chapter 8", "quiz --kind essay", "quiz --count 0" };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (try(world, bad[i]))
            fail_msg("%s was answered", bad[i]);
        assert_true(*world->error.what && *world->error.hint);
    }
}

static void cards_have_three_cells(void **state)
{
    struct world *world = *state;
    ask(world, "quiz --anki");
    struct text rest = { world->answer.text.data, world->answer.text.size };
    int cards = 0;
    while (rest.size) {
        const struct text line = text_line(&rest);
        int tabs = 0;
        for (size_t i = 0; i < line.size; i++)
            tabs += line.data[i] == '\t';
        assert_true(tabs == (*line.data == '#' ? 0 : 2));
        cards += *line.data != '#';
    }
    assert_int_equal(cards, 119 + 27);
}

/* A miss comes back before anything new, what was right only later. */
static void misses_come_back(void **state)
{
    struct world *world = *state;
    char folder[] = "/tmp/chalkline-quiz-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *file = arena_print(&world->arena, "%s/quiz.json", folder);
    const char *kept = arena_print(&world->arena, "--state %s", file);
    ask(world, arena_print(&world->arena, "quiz --grade value:batch.drain:1=1h %s", kept));
    for (int i = 0; i < 4; i++)
        ask(world, arena_print(&world->arena, "quiz --grade value:problem.2:0=4800 %s", kept));
    const struct doc *one = doc_get(ask(world, arena_print(&world->arena, "quiz --count 3 %s", kept)),
                                    "problems")->first;
    assert_true(!strncmp(doc_get(one, "id")->string, "value:batch.drain:", 18));
    assert_true(strncmp(doc_get(one->next, "id")->string, "value:problem.2:", 16));
    struct text text;
    struct doc *doc;
    assert_true(file_read(&world->arena, file, 1 << 20, &text, &world->error) &&
                json_read(&world->arena, file, text, &doc, &world->error));
    assert_true(doc_get(doc, "answers")->number == 5);
    assert_true(doc_get(doc_get(doc_get(doc, "items"), "value:batch.drain"), "box")->number == 1);
    assert_true(doc_get(doc_get(doc_get(doc, "items"), "value:problem.2"), "box")->number == 5);
    /* with a seed nothing that was answered matters */
    const struct doc *with = ask(world, arena_print(&world->arena, "quiz --count 1 --seed 5 %s", kept));
    const struct doc *fresh = ask(world, "quiz --count 1 --seed 5");
    assert_string_equal(doc_get(doc_get(with, "problems")->first, "id")->string,
                        doc_get(doc_get(fresh, "problems")->first, "id")->string);
    remove(file);
    remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(problems_have_one_answer, world_open, world_close),
        cmocka_unit_test_setup_teardown(mistakes_stand_apart, world_open, world_close),
        cmocka_unit_test_setup_teardown(own_problems_agree, world_open, world_close),
        cmocka_unit_test_setup_teardown(misses_are_explained, world_open, world_close),
        cmocka_unit_test_setup_teardown(bad_answers_are_refused, world_open, world_close),
        cmocka_unit_test_setup_teardown(cards_have_three_cells, world_open, world_close),
        cmocka_unit_test_setup_teardown(misses_come_back, world_open, world_close),
    };
    return cmocka_run_group_tests_name("quiz", tests, NULL, NULL);
}
