/* `lecture`: every statement against the figure recomputed from its deck, the equations of its
 * turning points moved across their roots, and, where they are at hand, published tables of roots
 * and verdicts for two models, which were computed elsewhere. Runs in the root of the tree. */
#include "test.h"
#include "lines.h"
#include "scenario/values.h"

#include "lecture/tell/lecture.h"
#include "scenario/equation.h"

#include <math.h>
#include <stdlib.h>

struct world {
    struct arena arena;
    struct answer answer;
    struct error error;
    struct lecture lecture;
};

static int world_open(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    *state = world;
    if (world)
        statements_read(&world->arena, &world->lecture);
    return !world;
}

static int world_close(void **state)
{
    struct world *world = *state;
    arena_free(&world->arena);
    free(world);
    return 0;
}

static struct command *command_of(struct world *world, const char *line)
{
    struct command *command = line_command(&world->arena, line, &world->error);
    assert_non_null(command);
    return command;
}

static bool try(struct world *world, const char *line)
{
    return line_answered(&world->arena, command_of(world, line), &world->answer, &world->error);
}

static const struct doc *statement_said(struct world *world, const char *id)
{
    for (const struct doc *one = doc_get(world->answer.doc, "statements")->first; one; one = one->next)
        if (!strcmp(doc_get(one, "id")->string, id))
            return one;
    fail_msg("%s is not among the statements", id);
    return NULL;
}

/* ---- figures -------------------------------------------------------------------------------------- */

static double quantity_of(const char *text, struct unit unit)
{
    struct quantity quantity;
    struct error error;
    assert_true(quantity_parse(text_of(text), unit, &quantity, &error));
    return quantity.value;
}

/* The lecture's own slips, which are told as such. */
static bool known_to_differ(const char *id)
{
    static const char *const differ[] = { "batch.balance_stable", "pipeline.capex", "training.served_one",
                                          "memory.flash", "memory.disk" };
    for (size_t i = 0; i < COUNT(differ); i++)
        if (!strcmp(id, differ[i]))
            return true;
    return false;
}

static void statements_stand(void **state)
{
    struct world *world = *state;
    const struct command *command = command_of(world, "lecture");
    size_t exact = 0, said = 0;
    assert_int_equal(world->lecture.count, 119);
    for (size_t i = 0; i < world->lecture.count; i++) {
        const struct statement *one = &world->lecture.at[i];
        struct scenario scenario;
        double value = NAN;
        assert_true(*one->sentence && *one->equation && *one->holds && *one->fails && *one->reason);
        if (!*one->asks)
            continue;
        if (!statement_open(&scenario, command, one, &world->arena, &world->error) ||
            !value_of(&scenario, one->asks, &value, &world->error))
            fail_msg("%s: %s", one->id, world->error.what);
        const double wanted = quantity_of(one->exact, scenario_unit(&scenario, one->asks));
        if (fabs(value - wanted) > 1e-5 * fabs(wanted))
            fail_msg("%s: %s is %.9g, recomputed %.9g", one->id, one->asks, value, wanted);
        exact++;
        const enum holds agrees = statement_agrees(&scenario, one, value);
        if (agrees != HOLDS_UNKNOWN && (agrees == HOLDS) == known_to_differ(one->id))
            fail_msg("%s: says %s, is %.6g", one->id, one->says, value);
        said += agrees != HOLDS_UNKNOWN;
    }
    printf("%zu statements recomputed, %zu compared with what was said\n", exact, said);
    assert_true(exact >= 108 && said >= 50);
}

/* ---- turning points ------------------------------------------------------------------------------- */

static bool side_of_root(struct world *world, const struct statement *one, double value, struct verdict *verdict)
{
    struct scenario scenario;
    assert_true(statement_open(&scenario, command_of(world, "lecture"), one, &world->arena, &world->error));
    const char *name = formulas_name(&scenario.formulas, &world->arena, one->input);
    facts_set(&scenario.facts, name, value, ORIGIN_AXIS, "test");
    verdict_of(&scenario, one, 0, verdict);
    return isfinite(verdict->left.value) && isfinite(verdict->right.value);
}

/* Where only sizes decide, the sign of the equation is the verdict. */
static void verdicts_turn(void **state)
{
    struct world *world = *state;
    size_t turned = 0, equations = 0;
    for (size_t i = 0; i < world->lecture.count; i++) {
        const struct statement *one = &world->lecture.at[i];
        struct scenario scenario;
        struct verdict verdict, below, above;
        if (!*one->turns)
            continue;
        equations++;
        assert_true(statement_open(&scenario, command_of(world, "lecture"), one, &world->arena, &world->error));
        verdict_of(&scenario, one, 0, &verdict);
        verdict_turns(&scenario, one, &verdict);
        if (!verdict.turns)
            fail_msg("%s: no root of %s", one->id, one->turns);
        const int sign = verdict_sign(&verdict);
        if (verdict.root == 0)
            continue;               /* proportional sides are equal at nothing only */
        if (!side_of_root(world, one, verdict.root * (1 - 1e-3), &below) ||
            !side_of_root(world, one, verdict.root * (1 + 1e-3), &above))
            continue;               /* the root is at the end of what has a value */
        if (verdict_sign(&below) == verdict_sign(&above))
            fail_msg("%s: %s = %.9g turns nothing", one->id, one->input, verdict.root);
        assert_true(sign == 0 || sign == verdict_sign(&below) || sign == verdict_sign(&above));
        turned++;
    }
    printf("%zu of %zu equations turn at their root\n", turned, equations);
    assert_true(turned > 80);
}

/* The same through the verb: what a user types. */
static void verb_turns(void **state)
{
    static const struct { const char *id, *set; bool holds; } tried[] = {
        { "experts.two_racks", "batch=2400", true }, { "experts.two_racks", "batch=900", false },
        { "batch.crossover", "batch=6000", true }, { "batch.crossover", "batch=2000", false },
        { "batch.slopes", "context=100000", true }, { "batch.slopes", "context=250000", false } };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(tried); i++) {
        assert_true(try(world, arena_print(&world->arena, "lecture %s --set %s", tried[i].id, tried[i].set)));
        const struct doc *said = statement_said(world, tried[i].id);
        assert_int_equal(doc_get(said, "holds")->kind, DOC_BOOL);
        assert_int_equal(doc_get(said, "holds")->boolean, tried[i].holds);
    }
}

/* ---- published tables -------------------------------------------------------------------------------- */

static bool table_read(struct world *world, const char *name, struct csv *csv)
{
    const char *folder = getenv("CHALKLINE_SHARED");
    struct text text;
    const char *path = folder && *folder ? arena_print(&world->arena, "%s/lecture/%s", folder, name) : NULL;
    if (!path || !file_there(&world->arena, path)) {
        print_message("skipped: lecture/%s\n", name);
        return false;
    }
    assert_true(file_read(&world->arena, path, 1 << 20, &text, &world->error));
    assert_true(csv_read(&world->arena, path, text, csv, &world->error));
    return true;
}

static const struct statement *find(const struct lecture *lecture, const char *id)
{
    for (size_t i = 0; i < lecture->count; i++)
        if (!strcmp(lecture->at[i].id, id))
            return &lecture->at[i];
    fail_msg("no statement %s", id);
    return NULL;
}

static void roots_published(void **state)
{
    struct world *world = *state;
    struct csv csv;
    if (!table_read(world, "flips.csv", &csv))
        return;
    for (size_t i = 0; i < csv.rows; i++) {
        const struct statement *one = find(&world->lecture, csv_cell(&csv, i, csv_column(&csv, "id")));
        const double root = strtod(csv_cell(&csv, i, csv_column(&csv, "root")), NULL);
        const char *sign = csv_cell(&csv, i, csv_column(&csv, "sign"));
        struct scenario scenario;
        struct verdict verdict;
        assert_true(statement_open(&scenario, command_of(world, "lecture"), one, &world->arena, &world->error));
        verdict_of(&scenario, one, 0, &verdict);
        verdict_turns(&scenario, one, &verdict);
        if (!verdict.turns || fabs(verdict.root - root) > 1e-4 * fabs(root))
            fail_msg("%s turns at %s = %.6g, published %.6g", one->id, one->input, verdict.root, root);
        if (verdict_sign(&verdict) != (*sign == '+') - (*sign == '-'))
            fail_msg("%s: the sides compare as %d, published %s", one->id, verdict_sign(&verdict), sign);
    }
    printf("%zu roots and signs as published\n", csv.rows);
}

/* A headline figure without inputs of one's own names the deck, with which it is what the lecture says. */
static void headlines_name_their_deck(void **state)
{
    const struct { const char *row; double says; } figures[] = {
        { "overtraining", 100 }, { "batch_crossover", 2400 }, { "bound_throughput", 128000 } };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(figures); i++) {
        const char *deck = NULL;
        assert_true(try(world, arena_print(&world->arena, "eval %s", figures[i].row)));
        for (const struct doc *one = doc_get(world->answer.doc, "assumed")->first; one; one = one->next)
            if (strstr(one->string, "--deck '"))
                deck = strstr(one->string, "--deck '") + 8;
        if (!deck)
            fail_msg("%s names no deck", figures[i].row);
        char *words[] = { "chalkline", "eval", arena_copy(&world->arena, figures[i].row, strlen(figures[i].row)), "--deck",
                                arena_copy(&world->arena, deck, strcspn(deck, "'")) };
        struct command command = { .verbs = verbs };
        assert_true(command_read(&world->arena, COUNT(words), words, &command, &world->error));
        assert_true(line_answered(&world->arena, &command, &world->answer, &world->error));
        const double value = doc_number(doc_get(world->answer.doc, figures[i].row), "value", NAN);
        if (fabs(value / figures[i].says - 1) > 1e-9)
            fail_msg("%s is %.9g, said %.9g", figures[i].row, value, figures[i].says);
        for (const struct doc *one = doc_get(world->answer.doc, "assumed")->first; one; one = one->next)
            assert_null(strstr(one->string, "--deck '"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(statements_stand, world_open, world_close),
        cmocka_unit_test_setup_teardown(verdicts_turn, world_open, world_close),
        cmocka_unit_test_setup_teardown(verb_turns, world_open, world_close),
        cmocka_unit_test_setup_teardown(headlines_name_their_deck, world_open, world_close),
        cmocka_unit_test_setup_teardown(roots_published, world_open, world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
