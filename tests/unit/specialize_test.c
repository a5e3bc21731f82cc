/* What partial evaluation leaves has the same bits as the list it came from, for usual
 * values and for strange ones, in every instruction set. */
#include "test.h"

#include "rows/point.h"

#include <math.h>
#include <stdio.h>

static const char rows[] =
    "x : 1 = 2 in -1e300..1e300\n    a column\n\n"
    "y : 1 = 3 in -1e300..1e300\n    a column\n\n"
    "zero : 1 = 0 in 0..1\n    fixed\n\n"
    "one : 1 = 1 in 0..1\n    fixed\n\n"
    "base : 1 = 0.96875 in 0..1\n    fixed\n\n"
    "minus : 1 = -0.5 in -1..1\n    fixed\n\n";

static const char *const texts[] = {
    "x + zero", "zero + x", "x - zero", "zero - x", "x * one", "x / one", "x * zero", "zero / x",
    "zero * (x + y)", "zero * (x - y) + x", "x + y + zero", "zero * min(x, y) + x * y",
    "pow(one, x)", "pow(base, x)", "pow(x, one)", "pow(x, zero)", "pow(zero, x)", "pow(minus, x)",
    "1 - pow(base, x)", "zero * (1 - pow(base, x)) + y", "max(x, zero)", "max(zero, x)",
    "min(x, zero)", "min(zero - x, zero)", "max(x, x)", "max(x * 1e30, y)", "min(x, 1e20 * one)",
    "select(x <= zero, x, y)", "select(x < 1e12, x, zero)", "select(zero < one, x, y)",
    "select(x < y, x, x)", "select(both(x > 0, y > 0), x, zero)", "sqrt(x) + zero",
    "sqrt(x * y) * zero + y", "floor(x) + zero", "ceil(x) * one", "abs(x) + zero", "-x + zero",
    "exp(x) * zero + y", "log(x) * one", "x / y + zero * (x / (x - y))", "zero * x / y",
    "(x + zero) * (y * one) / (one + zero) - zero", "zero * (x * 1e200 * 1e200)",
};

enum { POINTS = 4 * 128 + 77 };

/* Whole blocks of usual values, and some with anything among them. */
static void fill(double *x, uint64_t *seed, bool strange)
{
    static const double odd[] = { 0, -0.0, 1, -1, 1e-300, 5e-324, -5e-324, 1e300, -1e300, INFINITY,
                                  -INFINITY, NAN, 1e11, 1.1e11, 1e-11, 0.9e-11, 1e12 };
    for (size_t k = 0; k < POINTS; k++) {
        x[k] = pow(10, draw_in(seed, -10.9, 10.9));
        if (strange && (k / 128) % 2 && draw(seed) < 0.2)
            x[k] = odd[(size_t)(draw(seed) * (double)COUNT(odd))];
    }
}

static void compare(const struct graph *graph, const char *set, const double *x, const double *y,
                    size_t *compared)
{
    struct arena arena = { 0 };
    double *out[COUNT(texts)], want[COUNT(texts)];
    struct column *inputs = arena_array(&arena, graph->input_count, sizeof *inputs);
    double *point = arena_array(&arena, graph->input_count, sizeof *point);
    int at_x = graph_input(graph, "x"), at_y = graph_input(graph, "y");
    for (size_t i = 0; i < graph->input_count; i++) {
        inputs[i] = (struct column){ &graph->inputs[i].value, 0 };
        point[i] = graph->inputs[i].value;
    }
    inputs[at_x] = (struct column){ x, 1 };
    inputs[at_y] = (struct column){ y, 1 };
    for (size_t i = 0; i < COUNT(texts); i++)
        out[i] = arena_array(&arena, POINTS, sizeof(double));
    graph_run_with(set, graph, inputs, out, POINTS);
    for (size_t k = 0; k < POINTS; k++) {
        point[at_x] = x[k];
        point[at_y] = y[k];
        graph_value(&arena, graph, point, NULL, want);
        for (size_t i = 0; i < COUNT(texts); i++, ++*compared)
            if (!same_bits(out[i][k], want[i]))
                fail_msg("%s: %s at x = %a, y = %a: %a, point by point %a", set, texts[i], x[k],
                         y[k], out[i][k], want[i]);
    }
    arena_free(&arena);
}

/* One point after another, of which now one input changes, now both, now none; within the usual range and outside. */
static void compare_points(struct formulas *formulas, const char *text, const double *x, const double *y, uint64_t *seed,
                           size_t *compared)
{
    struct arena arena = { 0 };
    struct facts facts = { .arena = &arena };
    const struct expr *expr;
    struct graph graph;
    struct error error;
    if (!expr_parse(formulas, "test", 1, text_of(text), &expr, &error) ||
        !graph_build(&arena, formulas, &facts, &expr, 1, &graph, &error))
        fail_msg("%s: %s", text, error.what);
    const int at[2] = { graph_input(&graph, "x"), graph_input(&graph, "y") };
    const double *const columns[2] = { x, y };
    double *inputs = arena_array(&arena, graph.input_count + 1, sizeof *inputs), got, want;
    bool *vary = arena_array(&arena, graph.input_count + 1, sizeof *vary);
    struct interval *narrow = arena_array(&arena, graph.input_count + 1, sizeof *narrow);
    struct interval *wide = arena_array(&arena, graph.input_count + 1, sizeof *wide);
    const struct interval *const usual[] = { narrow, wide };
    for (size_t i = 0; i < graph.input_count; i++)
        inputs[i] = graph.inputs[i].value;
    for (int i = 0; i < 2; i++)
        if (at[i] >= 0) {
            vary[at[i]] = true;
            narrow[at[i]] = (struct interval){ 1, 1e6 };
            wide[at[i]] = (struct interval){ 1e-11, 1e11 };
        }
    struct point *twice = point_open(&arena, &graph, inputs, vary, usual, COUNT(usual));
    struct point *once = point_open(&arena, &graph, inputs, vary, NULL, 0);
    for (size_t k = 0; k < POINTS; k++) {
        for (int i = 0; i < 2; i++)
            if (at[i] >= 0 && draw(seed) < 0.6)
                inputs[at[i]] = columns[i][k];
        graph_value(&arena, &graph, inputs, NULL, &want);
        for (int i = 0; i < 2; i++, ++*compared) {
            got = point_value(i ? once : twice, inputs);
            if (!same_bits(got, want))
                fail_msg("%s at point %zu: %a, alone %a", text, k, got, want);
        }
    }
    arena_free(&arena);
}

static void same_bits_everywhere(void **state)
{
    (void)state;
    static const char *const sets[] = { "portable", "avx2", "avx512" };
    struct arena arena = { 0 };
    struct formulas formulas;
    struct facts facts = { .arena = &arena };
    const struct expr *exprs[COUNT(texts)];
    struct graph graph;
    struct error error;
    uint64_t seed = 20261121;
    double x[POINTS], y[POINTS];
    size_t compared = 0;
    formulas_open(&formulas, &arena, 0);
    if (!formulas_read(&formulas, "test", text_of(rows), &error))
        fail_msg("%s", error.what);
    for (size_t i = 0; i < COUNT(texts); i++)
        if (!expr_parse(&formulas, "test", 1, text_of(texts[i]), &exprs[i], &error))
            fail_msg("%s: %s", texts[i], error.what);
    if (!graph_build(&arena, &formulas, &facts, exprs, COUNT(texts), &graph, &error))
        fail_msg("%s", error.what);
    for (int round = 0; round < 4; round++)
        for (size_t s = 0; s < COUNT(sets); s++) {
            if (!graph_run_has(sets[s]))
                continue;
            fill(x, &seed, round > 0);
            fill(y, &seed, round > 1);
            compare(&graph, sets[s], x, y, &compared);
        }
    print_message("%zu values compared\n", compared);
    arena_free(&arena);
}

static void same_bits_from_point_to_point(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct formulas formulas;
    struct error error;
    uint64_t seed = 20261129;
    double x[POINTS], y[POINTS];
    size_t compared = 0;
    formulas_open(&formulas, &arena, 0);
    if (!formulas_read(&formulas, "test", text_of(rows), &error))
        fail_msg("%s", error.what);
    for (size_t i = 0; i < COUNT(texts); i++) {
        fill(x, &seed, i % 2);
        fill(y, &seed, i % 3 == 0);
        compare_points(&formulas, texts[i], x, y, &seed, &compared);
    }
    print_message("%zu values compared\n", compared);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_bits_everywhere),
                                        cmocka_unit_test(same_bits_from_point_to_point) };
    return cmocka_run_group_tests_name("fix", tests, NULL, NULL);
}
