/* Any bytes as a file of rows on top of the formulas: an answer or an error, never a crash, a
 * leak or a wait. The rows it adds are then read in every way, and the readings compared:
 * the printed algebra has the same value, blocks of points the same bits, the interval of
 * a point contains it. */
#include "rows/rows.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { ROWS = 3, POINTS = 2 };

static bool same_bits(double a, double b)
{
    return !memcmp(&a, &b, sizeof a) || (isnan(a) && isnan(b));
}

static void add_entries(struct facts *facts)
{
    static const char *const tables[] = { "layer", "operator", "tier" };
    for (int i = 0; i < 3; i++) {
        struct fact_table *table = facts_table(facts, tables[i]);
        facts_entry(facts, table, "a");
        facts_entry(facts, table, "b");
    }
}

/* A row of a table is read as its sum. */
static bool expr_of_row(const struct formulas *formulas, const struct row *row, const char *text,
                     const struct expr **expr, struct error *error)
{
    const char *whole = row_table(row) ? arena_print(formulas->arena, "SUM(%s, %s)", row_table(row), text)
                                   : text;
    return expr_parse(formulas, "fuzz", 1, text_of(whole), expr, error);
}

static void read_back(const struct formulas *formulas, const struct facts *facts, const struct row *row,
                      const char *name)
{
    struct buffer printed = { .arena = formulas->arena };
    struct algebra how = { .formulas = formulas };
    const struct expr *both[2];
    struct graph graph;
    struct error error;
    double values[2];
    algebra_print(&printed, &how, row_expr(row));
    if (!expr_of_row(formulas, row, name, &both[0], &error))
        return;
    bool read = expr_of_row(formulas, row, printed.data, &both[1], &error);
    assert(read || strstr(error.what, "too"));      /* long or deep: it was near the limit */
    if (!read || !graph_build(formulas->arena, formulas, facts, both, 2, &graph, &error))
        return;
    double *inputs = arena_array(formulas->arena, graph.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < graph.input_count; i++)
        inputs[i] = graph.inputs[i].value;
    graph_value(formulas->arena, &graph, inputs, NULL, values);
    assert(same_bits(values[0], values[1]));
}

static void compare_readings(struct arena *arena, const struct graph *graph)
{
    double *inputs = arena_array(arena, graph->input_count + 1, sizeof *inputs);
    double *gradient = arena_array(arena, graph->input_count + 1, sizeof *gradient);
    struct interval *box = arena_array(arena, graph->input_count + 1, sizeof *box);
    struct column *columns = arena_array(arena, graph->input_count + 1, sizeof *columns);
    double values[ROWS], blocks[ROWS][POINTS], *outputs[ROWS];
    for (size_t i = 0; i < graph->input_count; i++) {
        inputs[i] = graph->inputs[i].value;
        box[i] = (struct interval){ inputs[i], inputs[i] };
        columns[i] = (struct column){ &inputs[i], 0 };
    }
    for (size_t k = 0; k < ROWS; k++)
        outputs[k] = blocks[k];
    graph_value(arena, graph, inputs, NULL, values);
    graph_run_with(graph_run_set(), graph, columns, outputs, POINTS);
    for (size_t k = 0; k < graph->output_count; k++) {
        double value = graph_gradient(arena, graph, k, inputs, gradient);
        struct interval bounds = graph_interval(arena, graph, k, box);
        assert(same_bits(value, values[k]) && same_bits(blocks[k][POINTS - 1], value));
        assert(!isfinite(value) || (bounds.low <= value && value <= bounds.high));
    }
}

static void read_rows(const struct formulas *formulas, const struct facts *facts)
{
    const struct expr *wanted[ROWS];
    struct graph graph;
    struct error error;
    size_t count = 0;
    for (size_t i = formulas->count; i-- > 0 && count < ROWS;) {
        const struct row *row = formulas_row(formulas, i);
        if (strcmp(row_file(row), "fuzz"))
            continue;
        if (row_expr(row))
            read_back(formulas, facts, row, row_name(row));
        count += expr_of_row(formulas, row, row_name(row), &wanted[count], &error);
    }
    if (count && graph_build(formulas->arena, formulas, facts, wanted, count, &graph, &error))
        compare_readings(formulas->arena, &graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = { 0 };
    struct formulas formulas;
    struct error error = { .what = "" };
    struct facts facts = { .arena = &arena };
    formulas_copy(&formulas, &arena, formulas_built_in(FORMULAS_ALL));
    formulas.open = true;
    if (formulas_read(&formulas, "fuzz", (struct text){ (const char *)data, size }, &error) &&
        formulas_check_units(&formulas, &error)) {
        add_entries(&facts);
        read_rows(&formulas, &facts);
    } else {
        assert(*error.what);
    }
    arena_free(&arena);
    return 0;
}
