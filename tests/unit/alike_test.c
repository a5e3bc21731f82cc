/* No two rows of one meaning. Every row is read in scenarios whose inputs are all different; two
 * names whose numbers are the same to the last bit in all of them are one quantity: one of the two
 * becomes an alias, or tests/alike.txt says why there are both. A line there that nothing needs is
 * an error too. */
#include "scenario/values.h"
#include "test.h"

#include "ask/ask.h"

#include <math.h>

static const struct { const char *model, *machine, *precision; } scenarios[] = {
    { NULL, NULL, NULL }, { NULL, "h200-sxm", NULL }, { "deepseek-v3", "gb200-nvl72", NULL },
    { "llama-3.3-70b", "h100-sxm", "fp8" }, { "gemma-3-27b", "tpu-v5p", NULL },
    { "qwen3.5-35b-a3b", "b200-sxm", "nvfp4" }, { "mixtral-8x7b", "mi300x", "bf16" },
};
enum { ROUNDS = 20 * COUNT(scenarios), ENTRIES = 6, VALUES = ROUNDS * ENTRIES, CHUNK = 48, LISTED = 256 };

struct world {
    struct arena arena;
    struct scenario scenario;
    struct command command;
};

/* A value like no other input's: `doublings` up and down from the one that holds, or anywhere where
 * that is 0; a switch is on or off or between, 1 often stays 1, what may be nothing sometimes is,
 * counts are seldom whole. */
static double other_value(const struct row *row, double value, double doublings, uint64_t *state)
{
    const double share = draw(state);
    const bool even = draw(state) < 0.5;
    if (row->low == row->high)
        return row->value;
    if (row->low == 0 && row->high <= 3 && value == floor(value))
        return even ? floor(share * (row->high + 1)) : share * row->high;
    if (even && value == 1)
        return value;
    if (row->low == 0 && draw(state) < 0.1)
        return 0;
    value = value != 0 ? value * exp2(doublings * (value < row->high ? 2 * share - 1 : -share)) : even ? 0 : share;
    value = value > row->high && row->low > 0 ? row->high * exp2(-share) : value;
    return fmax(row->low, fmin(row->high, value));
}

static void open(struct world *world, size_t round)
{
    struct error error;
    const size_t which = round % COUNT(scenarios);
    const struct subject subject = { .model = scenarios[which].model,
                                     .machine = scenarios[which].machine,
                                     .precision = scenarios[which].precision };
    struct scenario *scenario = &world->scenario;
    uint64_t state = round;
    *world = (struct world){ 0 };
    if (!scenario_read(scenario, &world->arena, &world->command, subject, &error))
        fail_msg("%s (%s)", error.what, error.hint);
    for (size_t i = 0; i < scenario->formulas.count; i++) {
        const struct row *row = formulas_row(&scenario->formulas, i);
        const struct fact *fact = facts_find(&scenario->facts, row_name(row));
        uint64_t own = hash_text(HASH_START ^ (round + 1) * 0x9e3779b97f4a7c15u, row_name(row));     /* whatever other rows there are */
        if (row_table(row) || (fact ? fact->expression != NULL : row_expr(row) != NULL) || draw(&own) < 0.1)
            continue;                               /* what is not given may have a rule of its own */
        facts_set(&scenario->facts, row_name(row),
                  other_value(row, fact ? fact->value : row->value,
                              1 + (double)(round / COUNT(scenarios) % 8), &own), ORIGIN_GIVEN, "test");
    }
    facts_set(&scenario->facts, "deployment_chips", 1000 * draw(&state), ORIGIN_GIVEN, "test");
    facts_set(&scenario->facts, "chips", 100 * draw(&state), ORIGIN_GIVEN, "test");
    facts_set(&scenario->facts, "step_tokens", exp2(17 * draw(&state)), ORIGIN_GIVEN, "test");
    facts_set(&scenario->facts, "attention_dp", 3 * draw(&state), ORIGIN_GIVEN, "test");
    facts_set(&scenario->facts, "prompt_limit", 1e5 * draw(&state), ORIGIN_GIVEN, "test");
    facts_set(&scenario->facts, "stages_balanced", (double)(round / COUNT(scenarios) % 2), ORIGIN_GIVEN, "test");
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Of `count` rows at an entry of their tables; more ROOTs than a list takes: in halves. */
static void read(struct world *world, const size_t *rows, size_t count, size_t entry, double *values)
{
    struct scenario *scenario = &world->scenario;
    const struct expr *wanted[CHUNK] = { NULL };
    double at[CHUNK];
    struct arena arena = { 0 };
    struct graph graph;
    struct error error;
    for (size_t i = 0; i < count; i++) {
        const struct row *row = formulas_row(&scenario->formulas, rows[i]);
        const struct fact_table *table = row_table(row) ? facts_table_find(&scenario->facts, row_table(row))
                                                    : NULL;
        const char *name = !table ? "default" : table->entry[entry * (table->entries - 1)
                                                                / (ENTRIES - 1)];
        const char *text = row_table(row) ? arena_print(&world->arena, "%s[%s]", row_name(row), name)
                                      : row_name(row);
        assert_true(expr_parse(&scenario->formulas, NULL, 0, text_of(text), &wanted[i], &error));
    }
    if (!graph_build(&arena, &scenario->formulas, &scenario->facts, wanted, count, &graph, &error)) {
        if (count == 1)
            fail_msg("%s: %s", row_name(formulas_row(&scenario->formulas, *rows)), error.what);
        read(world, rows, count / 2, entry, values);
        read(world, rows + count / 2, count - count / 2, entry, values);
    } else {
        double *inputs = arena_array(&arena, graph.input_count + 1, sizeof *inputs);
        for (size_t i = 0; i < graph.input_count; i++)
            inputs[i] = graph.inputs[i].value;
        graph_value(&arena, &graph, inputs, NULL, at);
        for (size_t i = 0; i < count; i++)
            values[rows[i]] = isfinite(at[i]) ? at[i] : 0;
    }
    arena_free(&arena);
}

/* Two rows that no unit tells apart, and not both inputs. */
static bool may_be_one(const struct formulas *formulas, size_t i, size_t j)
{
    const struct row *row = formulas_row(formulas, i), *other = formulas_row(formulas, j);
    return (row_expr(row) || row_expr(other)) && unit_same(row->unit, other->unit);
}

/* Keep in `alike` the rows whose first `seen` values equal another row's; the others are told apart and not read again. */
static void keep_alike(const struct formulas *formulas, const double *all, size_t seen, bool *alike)
{
    for (size_t i = 0; i < formulas->count; i++) {
        bool found = false;
        for (size_t j = 0; alike[i] && j < formulas->count && !found; j++)
            found = j != i && alike[j] && may_be_one(formulas, i, j) &&
                    !memcmp(all + i * VALUES, all + j * VALUES, seen * sizeof *all);
        alike[i] = found;
    }
}

/* values[row * VALUES + ...], of rows that are `alike` to the end; what has no value is 0, which no row tells from another. */
static double *all_values(struct arena *arena, size_t *rows, bool **alike)
{
    double *all = NULL;
    for (size_t round = 0; round < ROUNDS; round++) {
        struct world world;
        open(&world, round);
        const size_t count = *rows = world.scenario.formulas.count;
        double *values = arena_array(&world.arena, count, sizeof *values);
        if (!all) {
            all = arena_array(arena, count * VALUES, sizeof *all);
            *alike = arena_array(arena, count, sizeof **alike);
            memset(*alike, true, count);
        } else if (round % COUNT(scenarios) == 0) {
            keep_alike(&world.scenario.formulas, all, round * ENTRIES, *alike);
        }
        size_t *some = arena_array(&world.arena, count, sizeof *some);
        for (size_t entry = 0; entry < ENTRIES; entry++) {
            size_t wanted = 0;                      /* once entry 0 is read, only rows of tables */
            for (size_t i = 0; i < count; i++)
                if ((*alike)[i] && (!entry || row_table(formulas_row(&world.scenario.formulas, i))))
                    some[wanted++] = i;
            for (size_t from = 0; from < wanted; from += CHUNK)
                read(&world, some + from, from + CHUNK < wanted ? CHUNK : wanted - from, entry, values);
            for (size_t i = 0; i < count; i++)
                if ((*alike)[i])
                    all[i * VALUES + round * ENTRIES + entry] = values[i];
        }
        arena_free(&world.arena);
    }
    return all;
}

/* ---- rows that are alike ---------------------------------------------------------------------- */

struct listed {
    char a[64], b[64];
    bool used;
};

static size_t read_listed(struct listed *listed)
{
    FILE *file = fopen("tests/alike.txt", "r");
    char line[256], reason[8];
    size_t count = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (count == LISTED || sscanf(line, "%63s = %63s %7s", listed[count].a, listed[count].b,
                                      reason) != 3)
            fail_msg("tests/alike.txt: '%s' is not ROW = ROW, and why", line);
        listed[count++].used = false;
    }
    fclose(file);
    return count;
}

static bool is_listed(struct listed *listed, size_t count, const char *a, const char *b)
{
    for (size_t i = 0; i < count; i++)
        if ((!strcmp(listed[i].a, a) && !strcmp(listed[i].b, b)) ||
            (!strcmp(listed[i].a, b) && !strcmp(listed[i].b, a)))
            return listed[i].used = true;
    return false;
}

/* How many different values; a row that has few is told from no other. */
static size_t different(const double *values)
{
    size_t count = 0;
    for (size_t i = 0; i < VALUES; i++) {
        size_t j = 0;
        while (j < i && values[j] != values[i])
            j++;
        count += j == i;
    }
    return count;
}

static void no_two_rows_of_one_meaning(void **unused)
{
    (void)unused;
    static struct listed listed[LISTED];
    struct arena arena = { 0 };
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    const size_t count = read_listed(listed);
    size_t rows, wrong = 0, told = 0;
    bool *alike;
    const double *values = all_values(&arena, &rows, &alike);
    assert_int_equal(rows, formulas->count);
    for (size_t i = 0; i < rows; i++) {
        const struct row *row = formulas_row(formulas, i);
        if (alike[i] && different(values + i * VALUES) < 3)
            continue;
        told++;
        for (size_t j = 0; alike[i] && j < i; j++) {
            const struct row *other = formulas_row(formulas, j);
            if (!alike[j] || !may_be_one(formulas, i, j) ||
                memcmp(values + i * VALUES, values + j * VALUES, VALUES * sizeof *values) ||
                is_listed(listed, count, row_name(row), row_name(other)))
                continue;
            print_message("%s = %s\n", row_name(row), row_name(other));
            wrong++;
        }
    }
    print_message("%zu of %zu rows are told apart, %zu pairs are listed\n", told, rows, count);
    for (size_t i = 0; i < count; i++)
        if (!listed[i].used) {
            print_message("tests/alike.txt: %s and %s are no longer alike\n", listed[i].a, listed[i].b);
            wrong++;
        }
    assert_true(told > 1200);
    assert_int_equal(wrong, 0);
    arena_free(&arena);
}

/* ---- aliases ----------------------------------------------------------------------------------- */

/* Every alias leads to its row, in expressions and where a row is set; both at once are refused. */
static void an_alias_is_its_row(void **unused)
{
    (void)unused;
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    assert_true(formulas->alias_count >= 15);
    for (size_t i = 0; i < formulas->alias_count; i++) {
        const struct row *row = formulas_row(formulas, formulas->aliases[i].row);
        const char *alias = formulas->aliases[i].name, *name = row_name(row);
        const double fits = row->input ? fmin(fmax(3, row->low), row->high) : 3;
        struct world world = { 0 };
        struct error error;
        double value;
        const struct subject subject = { .model = "mixtral-8x7b", .machine = "h100-sxm" };
        assert_int_equal(formulas_find(formulas, alias), formulas_find(formulas, name));
        assert_string_equal(formulas_name(formulas, &world.arena, alias), name);
        assert_true(scenario_open(&world.scenario, &world.arena, &world.command, subject, &error));
        assert_true(scenario_set(&world.scenario, arena_print(&world.arena, "%s=%.17g", alias, fits), &error));
        assert_true(value_of(&world.scenario, name, &value, &error) && value == fits);
        assert_true(value_of(&world.scenario, alias, &value, &error) && value == fits);
        assert_false(scenario_set(&world.scenario, arena_print(&world.arena, "%s=%.17g", name, fits), &error));
        assert_string_equal(error.what, arena_print(&world.arena, "%s is set twice: by --set %s and "
                                                    "by --set %s", name, alias, name));
        arena_free(&world.arena);
    }
}

static void read_file(const char *text, const char *wrong)
{
    struct arena arena = { 0 };
    struct formulas formulas;
    struct error error = { .what = "" };
    formulas_open(&formulas, &arena, 0);
    if (formulas_read(&formulas, "a.chalk", text_of(text), &error) != !wrong ||
        (wrong && strcmp(error.what, wrong)))
        fail_msg("%s: '%s', not '%s'", text, error.what, wrong ? wrong : "");
    arena_free(&arena);
}

static void aliases_are_read(void **unused)
{
    (void)unused;
    read_file("== A\nx : 1 = 2\n    meaning\n    alias: y z\nw : 1\n    = y * z\n", NULL);
    read_file("== A\nx : 1 = 2\n    alias: y y\n", "a.chalk:2: 'y' cannot be an alias of 'x'");
    read_file("== A\nx : 1 = 2\n    alias: x\n", "a.chalk:2: 'x' cannot be an alias of 'x'");
    read_file("== A\nx : 1 = 2\n    alias: 2y\n", "a.chalk:2: '2y' cannot be an alias of 'x'");
    read_file("== A\nx : 1 = 2\n    alias: y\ny : 1 = 3\n", "a.chalk:4: 'y' is an alias of 'x'");
    read_file("== A\nx : 1 = 2\ny : 1 = 3\n    alias: x\n", "a.chalk:3: 'x' cannot be an alias of 'y'");
}

/* A user's file may define a row under its alias, and give a row another. */
static void a_file_may_use_an_alias(void **unused)
{
    (void)unused;
    struct arena arena = { 0 };
    struct formulas formulas;
    struct error error;
    formulas_copy(&formulas, &arena, formulas_built_in(0));
    formulas.open = true;
    assert_true(formulas_read(&formulas, "my.chalk", text_of("== Mine\npp : 1\n    = 3\n    \n"
                "chips : 1 = 5\n    alias: gpus\n"), &error));
    const int row = formulas_find(&formulas, "pipeline_parallel"),
    chips = formulas_find(&formulas, "gpus");
    assert_string_equal(row_name(formulas_row(&formulas, row)), "pipeline_parallel");
    assert_string_equal(row_file(formulas_row(&formulas, row)), "my.chalk");
    assert_int_equal(chips, formulas_find(&formulas, "chips"));
    assert_true(formulas_row(&formulas, chips)->value == 5);
    assert_int_equal(formulas_find(formulas_built_in(0), "gpus"), -1);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_alias_is_its_row),
        cmocka_unit_test(aliases_are_read),
        cmocka_unit_test(a_file_may_use_an_alias),
        cmocka_unit_test(no_two_rows_of_one_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
