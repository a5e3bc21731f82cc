/* Compiled against interpreted: the same rows, the same bits, on random inputs. */
#include "scenario/values.h"
#include "test.h"

#include "ask/ask.h"

#include <math.h>

enum { POINTS = 1003, ROUNDS = 4 };

static uint64_t seed = 20260429;

/* A value somewhere in the row's range, not too far from its default. */
static double draw_near(const struct row *row)
{
    double x = row->value * exp(2 * draw(&seed) - 1);
    if (row->value == 0)
        x = row->high == 1 ? (draw(&seed) < 0.5) : draw(&seed) * fmin(row->high, 100);
    if (row->value == floor(row->value) && row->high == 1)
        x = floor(x + 0.5);
    return fmin(fmax(x, row->low), row->high);
}

struct setting {
    struct scenario scenario;
    const struct compiled *compiled;
    struct command command;
};

static void open_setting(struct setting *setting, struct arena *arena)
{
    struct error error;
    bool model = setting->compiled->conditions & FORMULAS_MODEL;
    bool machine = setting->compiled->conditions & FORMULAS_MACHINE;
    if (!scenario_open(&setting->scenario, arena, &setting->command,
                       (struct subject){ .model = model ? "deepseek-v3" : NULL,
                                         .machine = machine ? "gb200-nvl72" : NULL }, &error))
        fail_msg("%s (%s)", error.what, error.hint);
}

/* One value per input of the compiled rows, the same as a fact of the scenario. */
static void draw_fixed(struct setting *setting, double *fixed, bool random)
{
    struct scenario *scenario = &setting->scenario;
    for (size_t i = 0; i < setting->compiled->fixed_count; i++) {
        const char *name = setting->compiled->fixed[i];
        const struct row *row = formulas_row(&scenario->formulas, formulas_find(&scenario->formulas, name));
        const struct fact *fact = facts_find(&scenario->facts, name);
        fixed[i] = random ? draw_near(row) : fact ? fact->value : row->value;
        facts_set(&scenario->facts, name, fixed[i], ORIGIN_GIVEN, "test");
    }
}

/* The tables that compiled rows sum over, as columns in the order of the formulas' rows. */
static const struct compiled_table *lay_tables(struct setting *setting, struct arena *arena)
{
    const struct compiled *compiled = setting->compiled;
    struct scenario *scenario = &setting->scenario;
    struct compiled_table *tables = arena_array(arena, compiled->table_count + 1, sizeof *tables);
    for (size_t t = 0; t < compiled->table_count; t++) {
        const struct fact_table *known = facts_table_find(&scenario->facts, compiled->tables[t]);
        size_t entries = known ? known->entries : 1, count = 0;
        const double **columns = arena_array(arena, scenario->formulas.count, sizeof *columns);
        for (size_t r = 0; r < scenario->formulas.count; r++) {
            const struct row *row = formulas_row(&scenario->formulas, r);
            if (!row_table(row) || row_expr(row) || strcmp(row_table(row), compiled->tables[t]))
                continue;
            double *column = arena_array(arena, entries, sizeof *column);
            for (size_t i = 0; i < entries; i++) {
                struct error error;
                const char *text = arena_print(arena, "%s[%s]", row_name(row),
                                               known ? known->entry[i] : "default");
                if (!value_of(scenario, text, &column[i], &error))
                    fail_msg("%s", error.what);
            }
            columns[count++] = column;
        }
        tables[t] = (struct compiled_table){ entries, columns };
    }
    return tables;
}

static size_t compare(struct setting *setting, struct arena *arena, const char *set,
                      const double *fixed)
{
    const struct compiled *compiled = compiled_find(set, setting->compiled->name);
    struct scenario *scenario = &setting->scenario;
    const double **vary = arena_array(arena, compiled->vary_count, sizeof *vary);
    double **kept = arena_array(arena, compiled->keep_count, sizeof *kept);
    double **wanted = arena_array(arena, compiled->keep_count, sizeof *wanted);
    const struct expr **exprs = arena_array(arena, compiled->keep_count, sizeof *exprs);
    struct graph graph;
    struct error error;
    for (size_t i = 0; i < compiled->vary_count; i++) {
        const struct row *row = formulas_row(&scenario->formulas, formulas_find(&scenario->formulas,
                                                                      compiled->vary[i]));
        double *column = arena_array(arena, POINTS, sizeof *column);
        for (size_t k = 0; k < POINTS; k++)
            column[k] = draw_near(row);
        vary[i] = column;
        facts_set(&scenario->facts, compiled->vary[i], column[0], ORIGIN_GIVEN, "test");
    }
    for (size_t i = 0; i < compiled->keep_count; i++) {
        kept[i] = arena_array(arena, POINTS, sizeof(double));
        wanted[i] = arena_array(arena, POINTS, sizeof(double));
        if (!expr_parse(&scenario->formulas, "keep", 1, text_of(compiled->keep[i]), &exprs[i], &error))
            fail_msg("%s", error.what);
    }
    if (!graph_build(arena, &scenario->formulas, &scenario->facts, exprs, compiled->keep_count, &graph,
                     &error))
        fail_msg("%s", error.what);
    struct column *inputs = arena_array(arena, graph.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < graph.input_count; i++)
        inputs[i] = (struct column){ &graph.inputs[i].value, 0 };
    for (size_t i = 0; i < compiled->vary_count; i++) {
        int input = graph_input(&graph, compiled->vary[i]);
        if (input >= 0)
            inputs[input] = (struct column){ vary[i], 1 };
    }
    graph_run_with(set, &graph, inputs, wanted, POINTS);
    compiled->run(fixed, lay_tables(setting, arena), vary, kept, POINTS);
    for (size_t i = 0; i < compiled->keep_count; i++)
        for (size_t k = 0; k < POINTS; k++)
            if (memcmp(&kept[i][k], &wanted[i][k], sizeof(double)) &&
                !(isnan(kept[i][k]) && isnan(wanted[i][k])))
                fail_msg("%s %s %s, point %zu: compiled %.17g, interpreted %.17g", set,
                         compiled->name, compiled->keep[i], k, kept[i][k], wanted[i][k]);
    return POINTS * compiled->keep_count;
}

static void compiled_rows_equal_the_graph(void **unused)
{
    (void)unused;
    static const char *const sets[] = { "portable", "avx2", "avx512" };
    size_t compared = 0;
    for (size_t s = 0; s < 3; s++) {
        size_t count;
        if (!graph_run_has(sets[s]))
            continue;
        compiled_list(sets[s], &count);
        assert_true(count >= 3);
        for (size_t k = 0; k < count; k++)
            for (int round = 0; round < rounds(ROUNDS); round++) {
                struct arena arena = { 0 };
                struct setting setting = { .compiled = &compiled_list(sets[s], &count)[k] };
                double fixed[512];
                open_setting(&setting, &arena);
                draw_fixed(&setting, fixed, round > 0 &&
                           !(setting.compiled->conditions & FORMULAS_MODEL));
                compared += compare(&setting, &arena, sets[s], fixed);
                arena_free(&arena);
            }
    }
    print_message("%zu values compared\n", compared);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(compiled_rows_equal_the_graph) };
    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
