/* Stages give the bits that a list gives point by point, for random lists, random axes and any
 * order in which values change, in every instruction set. */
#include "test.h"

#include "rows/rows.h"

#include <stdio.h>

static const char rows[] =
    "a : 1 = 2 in 0..1e9\n    on an axis\n\n"
    "b : 1 = 3 in 0..1e9\n    on an axis\n\n"
    "c : 1 = 4 in 0..1e9\n    on an axis\n\n"
    "d : 1 = 5 in 0..1e9\n    on an axis\n\n"
    "x : 1 = 6 in 0..1e9\n    the column\n\n";

enum { NAMES = 5, WANTED = 4, AXES = 3, LISTS = 150, POINTS = 2 * LOOP_NEST_POINTS + 33 };
static const char *const names[NAMES] = { "a", "b", "c", "d", "x" };

/* "(a + (x * 3))" */
static void write_expression(struct buffer *out, uint64_t *seed, int depth)
{
    static const char *const pairs[] = { "+", "-", "*", "/" };
    static const char *const calls[] = { "max", "min", "pow" };
    if (depth == 0) {
        if (draw(seed) < 0.15)
            buffer_print(out, "%d", (int)draw_in(seed, 1, 9));
        else
            buffer_print(out, "%s", names[(int)draw_in(seed, 0, NAMES)]);
        return;
    }
    const double kind = draw(seed);
    const char *between = kind < 0.6 ? pairs[(int)draw_in(seed, 0, 4)] : ",";
    buffer_print(out, "%s(", kind < 0.6 ? "" : kind < 0.9 ? calls[(int)draw_in(seed, 0, 3)] : "select");
    if (kind >= 0.9) {
        write_expression(out, seed, depth - 1);
        buffer_print(out, " < ");
        write_expression(out, seed, depth - 1);
        buffer_print(out, ", ");
    }
    write_expression(out, seed, depth - 1);
    buffer_print(out, " %s ", between);
    write_expression(out, seed, depth - 1);
    buffer_print(out, ")");
}

static void make_list(struct arena *arena, const struct formulas *formulas, uint64_t *seed,
                      struct graph *graph)
{
    struct facts facts = { .arena = arena };
    const struct expr *wanted[WANTED];
    struct error error;
    for (int i = 0; i < WANTED; i++) {
        struct buffer text = { .arena = arena };
        write_expression(&text, seed, (int)draw_in(seed, 1, 6));
        if (!expr_parse(formulas, "test", 1, text_of(text.data), &wanted[i], &error))
            fail_msg("%s: %s", text.data, error.what);
    }
    if (!graph_build(arena, formulas, &facts, wanted, WANTED, graph, &error))
        fail_msg("%s", error.what);
}

struct nest {
    const struct graph *graph;
    const int *at;
    struct loop_nest *loop_nest;
    double *inputs;                 /* [input_count] where the column's value comes later */
    const double *x;
    uint64_t *seed;
    size_t compared;
};

static void compare_block(struct nest *nest, size_t first, size_t count)
{
    double want[WANTED];
    struct arena scratch = { 0 };
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < nest->graph->input_count; i++)
            if (nest->at[i] == LOOP_NEST_COLUMN)
                nest->inputs[i] = nest->x[first + k];
        graph_value(&scratch, nest->graph, nest->inputs, NULL, want);
        for (size_t i = 0; i < WANTED; i++, nest->compared++) {
            struct column out = loop_nest_output(nest->loop_nest, i);
            assert_true(same_bits(out.data[k * out.stride], want[i]));
        }
    }
    arena_free(&scratch);
}

/* The axes inside `axis`, a few values each, then the points of this block. */
static void visit(struct nest *nest, int axis, size_t first, size_t count)
{
    if (axis == AXES) {
        compare_block(nest, first, count);
        return;
    }
    for (int turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < nest->graph->input_count; i++)
            if (nest->at[i] == axis && draw(nest->seed) < 0.5)          /* the others keep their number */
                loop_nest_number(nest->loop_nest, i, nest->inputs[i] = draw_in(nest->seed, 0.1, 20));
        loop_nest_enter(nest->loop_nest, axis);
        loop_nest_block(nest->loop_nest, axis);
        visit(nest, axis + 1, first, count);
    }
}

static void check_list(const struct graph *graph, const char *set, uint64_t *seed, size_t *compared)
{
    struct arena arena = { 0 };
    int *at = arena_array(&arena, graph->input_count + 1, sizeof *at);
    double x[POINTS];
    for (size_t i = 0; i < graph->input_count; i++)
        at[i] = !strcmp(graph->inputs[i].name, "x") ? LOOP_NEST_COLUMN : (int)draw_in(seed, 0, AXES);
    for (size_t k = 0; k < POINTS; k++)
        x[k] = draw_in(seed, 0.1, 20);
    struct nest nest = { .graph = graph, .at = at, .x = x, .seed = seed };
    nest.inputs = arena_array(&arena, graph->input_count + 1, sizeof *nest.inputs);
    for (size_t i = 0; i < graph->input_count; i++)
        nest.inputs[i] = graph->inputs[i].value;
    nest.loop_nest = loop_nest_make(&arena, set, graph, at);
    assert_non_null(nest.loop_nest);
    for (size_t first = 0; first < POINTS; first += LOOP_NEST_POINTS) {
        size_t count = POINTS - first < LOOP_NEST_POINTS ? POINTS - first : LOOP_NEST_POINTS;
        loop_nest_column(nest.loop_nest, x + first, count);
        visit(&nest, 0, first, count);
    }
    *compared += nest.compared;
    arena_free(&arena);
}

static void same_bits_as_points(void **state)
{
    (void)state;
    static const char *const sets[] = { "portable", "avx2", "avx512" };
    struct arena arena = { 0 };
    struct formulas formulas;
    struct error error;
    uint64_t seed = 20261122;
    size_t compared = 0;
    formulas_open(&formulas, &arena, 0);
    if (!formulas_read(&formulas, "test", text_of(rows), &error))
        fail_msg("%s", error.what);
    for (int n = 0; n < rounds(LISTS); n++) {
        struct graph graph;
        make_list(&arena, &formulas, &seed, &graph);
        if (graph_run_has(sets[n % 3]))
            check_list(&graph, sets[n % 3], &seed, &compared);
    }
    print_message("%zu values compared\n", compared);
    arena_free(&arena);
}

static void roots_are_refused(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct formulas formulas;
    struct facts facts = { .arena = &arena };
    const struct expr *wanted;
    struct graph graph;
    struct error error;
    const int at[NAMES] = { LOOP_NEST_COLUMN, 0, 0, 0, 0 };
    formulas_open(&formulas, &arena, 0);
    assert_true(formulas_read(&formulas, "test", text_of(rows), &error));
    assert_true(expr_parse(&formulas, "test", 1, text_of("ROOT(a, 0, 10, a - x)"), &wanted, &error));
    assert_true(graph_build(&arena, &formulas, &facts, &wanted, 1, &graph, &error));
    assert_null(loop_nest_make(&arena, NULL, &graph, at));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_bits_as_points),
                                        cmocka_unit_test(roots_are_refused) };
    return cmocka_run_group_tests_name("stages", tests, NULL, NULL);
}
