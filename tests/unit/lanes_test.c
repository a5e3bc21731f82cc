/* Our exp, log and pow against the C library's in long double, and every operator with
 * the same bits at every width.
 *
 * Error is in units in the last place of the true value. Only finite answers count: what
 * the C library calls infinite or no number must not be finite here either. */
#include "test.h"

#include "rows/rows.h"

#define LANES 4
#include "rows/lanes.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { POINTS = 1 << 20 };

struct world {
    struct arena arena;
    struct formulas formulas;
    double *x, *y, *got, *again;
};

static int setup(void **state)
{
    static struct world world;
    struct error error;
    formulas_open(&world.formulas, &world.arena, 0);
    if (!formulas_read(&world.formulas, "lanes", text_of("x : 1 = 0 in 0..1\ny : 1 = 0 in 0..1\n"),
                       &error))
        fail_msg("%s", error.what);
    world.x = arena_array(&world.arena, POINTS, sizeof(double));
    world.y = arena_array(&world.arena, POINTS, sizeof(double));
    world.got = arena_array(&world.arena, POINTS, sizeof(double));
    world.again = arena_array(&world.arena, POINTS, sizeof(double));
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    arena_free(&((struct world *)*state)->arena);
    return 0;
}

/* ---- one operator as a list ------------------------------------------------------------- */

static void build(struct world *world, struct arena *arena, const char *text, struct graph *graph)
{
    struct facts facts = { .arena = arena };
    struct error error;
    const struct expr *expr;
    if (!expr_parse(&world->formulas, "lanes", 1, text_of(text), &expr, &error) ||
        !graph_build(arena, &world->formulas, &facts, &expr, 1, graph, &error))
        fail_msg("%s", error.what);
}

static void columns_of(struct world *world, const struct graph *graph, struct column columns[2])
{
    for (size_t i = 0; i < graph->input_count; i++)
        columns[i] = (struct column){ *graph->inputs[i].name == 'x' ? world->x : world->y, 1 };
}

static void run(struct world *world, const char *set, const struct graph *graph, double *to)
{
    struct column columns[2];
    columns_of(world, graph, columns);
    graph_run_with(set, graph, columns, &to, POINTS);
}

/* Two lanes, four, eight, and one. */
static void same_everywhere(struct world *world, const char *text)
{
    static const char *const sets[] = { "portable", "avx2", "avx512" };
    struct arena arena = { 0 };
    struct graph graph;
    struct column columns[2];
    build(world, &arena, text, &graph);
    columns_of(world, &graph, columns);
    run(world, "portable", &graph, world->got);
    for (size_t s = 0; s < COUNT(sets); s++) {
        if (!graph_run_has(sets[s]))
            continue;
        run(world, sets[s], &graph, world->again);
        for (size_t i = 0; i < POINTS; i++)
            if (!same_bits(world->got[i], world->again[i]))
                fail_msg("%s of %.17g, %.17g: %.17g, with %s %.17g", text, world->x[i],
                         world->y[i], world->got[i], sets[s], world->again[i]);
    }
    for (size_t i = 0; i < POINTS; i += 61) {
        double alone, inputs[2];
        for (size_t k = 0; k < graph.input_count; k++)
            inputs[k] = columns[k].data[i];
        graph_value(&arena, &graph, inputs, NULL, &alone);
        if (!same_bits(alone, world->got[i]))
            fail_msg("%s of %.17g, %.17g: %.17g, alone %.17g", text, world->x[i], world->y[i],
                     world->got[i], alone);
    }
    arena_free(&arena);
}

/* ---- error ---------------------------------------------------------------------------------- */

static long double last_place(long double value)
{
    int power;
    frexpl(value, &power);
    return ldexpl(1, (power < DBL_MIN_EXP ? DBL_MIN_EXP : power) - DBL_MANT_DIG);
}

typedef long double reference(long double x, long double y);

/* The largest error over all points; beyond the doubles ours must be infinite, or within
 * the last digits of the largest. */
static double worst_error(const struct world *world, const char *text, reference *exact)
{
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < POINTS; i++) {
        long double value = exact(world->x[i], world->y[i]);
        double got = world->got[i], error;
        if (isnan(value) || fabsl(value) > DBL_MAX) {
            bool agrees = isnan(value) ? isnan(got) : fabs(got) > DBL_MAX * (1 - 4 * DBL_EPSILON) &&
                                                      !signbit(got) == !signbit(value);
            if (!agrees)
                fail_msg("%s of %.17g, %.17g: %.17g, exactly %.17Lg", text, world->x[i],
                         world->y[i], got, value);
            continue;
        }
        if (isinf(got) && fabsl(value) > DBL_MAX * (1 - 4 * DBL_EPSILON))
            continue;
        error = (double)(fabsl(got - value) / last_place(value));
        if (!(error <= worst)) {
            worst = error;
            at = i;
        }
    }
    printf("%s: at most %.3f units in the last place, at %.17g, %.17g\n", text, worst,
           world->x[at], world->y[at]);
    return worst;
}

static long double exact_exp(long double x, long double y)
{
    (void)y;
    return expl(x);
}

static long double exact_log(long double x, long double y)
{
    (void)y;
    return x < 0 ? nanl("") : logl(x);
}

static long double exact_pow(long double x, long double y)
{
    return powl(x, y);
}

static double any_double(uint64_t *random)
{
    uint64_t bits = draw_bits(random);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double any_positive(uint64_t *random)
{
    double x = fabs(any_double(random));
    return isfinite(x) ? x : 1;
}

static void exponentials(void **state)
{
    struct world *world = *state;
    uint64_t random = 1;
    for (size_t i = 0; i < POINTS; i++) {
        double wide = draw_in(&random, -746, 711), small = draw_in(&random, -1, 1);
        world->x[i] = i % 4 == 0 ? small : i % 4 == 1 ? small * exp2(-60 * draw(&random))
                      : i % 16 == 2 ? any_double(&random) : wide;
    }
    same_everywhere(world, "exp(x)");
    assert_true(worst_error(world, "exp", exact_exp) < 1);
}

static void logarithms(void **state)
{
    struct world *world = *state;
    uint64_t random = 2;
    for (size_t i = 0; i < POINTS; i++) {
        double close = 1 + draw_in(&random, -1, 1) * exp2(-52 * draw(&random));
        world->x[i] = i % 4 == 0 ? close : i % 4 == 1 ? draw_in(&random, 0.5, 2)
                      : i % 16 == 2 ? draw(&random) * DBL_MIN : any_positive(&random);
    }
    world->x[0] = DBL_TRUE_MIN;
    world->x[1] = DBL_MAX;
    world->x[2] = DBL_MIN;
    same_everywhere(world, "log(x)");
    assert_true(worst_error(world, "log", exact_log) < 1);
}

/* The exponent is drawn so that most powers are doubles. */
static void powers(void **state)
{
    struct world *world = *state;
    uint64_t random = 3;
    for (size_t i = 0; i < POINTS; i++) {
        double x = any_positive(&random), close = 1 + draw_in(&random, -1, 1) * 1e-3;
        world->x[i] = i % 4 == 0 ? close : i % 4 == 1 ? draw_in(&random, 0, 4) : x;
        double most = 745 / fmax(fabs(log(world->x[i])), 1e-300);
        world->y[i] = draw_in(&random, -1, 1) * fmin(most, 1e300);
        if (i % 8 == 5)
            world->y[i] = floor(draw_in(&random, -20, 20));
        if (i % 8 == 5 && i % 16 == 5)
            world->x[i] = -world->x[i];
    }
    same_everywhere(world, "pow(x, y)");
    assert_true(worst_error(world, "pow", exact_pow) < 2);
}

/* Subnormal, huge, tiny: in their product, so that pairs meet. */
static void extremes(void **state)
{
    struct world *world = *state;
    static const double some[] = {
        0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1.5, -1.5, 10, 1e300, -1e300, 1e-300, DBL_MAX,
        -DBL_MAX, DBL_MIN, -DBL_MIN, DBL_TRUE_MIN, -DBL_TRUE_MIN, INFINITY, -INFINITY,
        1 + DBL_EPSILON, 1 - DBL_EPSILON / 2, 4503599627370496.0, 4503599627370497.0,
        9007199254740992.0, -4503599627370497.0, 0x1p-1073, 1023, 1024, -1074, -1075, 709.78, 745.2,
    };
    size_t n = COUNT(some);
    for (size_t i = 0; i < POINTS; i++) {
        world->x[i] = some[i % n];
        world->y[i] = some[i / n % n];
    }
    same_everywhere(world, "exp(x)");
    assert_true(worst_error(world, "exp", exact_exp) < 1);
    same_everywhere(world, "log(x)");
    assert_true(worst_error(world, "log", exact_log) < 1);
    same_everywhere(world, "pow(x, y)");
    for (size_t i = 0; i < n * n; i++) {
        double expected = pow(world->x[i], world->y[i]), got = world->got[i];
        if (isfinite(expected) ? fabs(got - expected) > 4 * (double)last_place(expected)
                               : isfinite(got))
            fail_msg("pow of %.17g, %.17g: %.17g, expected %.17g", world->x[i], world->y[i], got,
                     expected);
    }
}

/* ---- whole numbers -------------------------------------------------------------------------- */

static void whole_numbers(void **state)
{
    struct world *world = *state;
    uint64_t random = 4;
    for (size_t i = 0; i < POINTS; i++) {
        double near = floor(draw_in(&random, -100, 100)) + (double)(draw_bits(&random) % 5) / 4;
        world->x[i] = i % 2 ? near * (i % 4 == 1 ? 1 : 0x1p45 + 1) : any_double(&random);
        world->y[i] = near;
        if (isnan(world->x[i]))
            world->x[i] = nextafter(near, INFINITY);
    }
    same_everywhere(world, "floor(x)");
    for (size_t i = 0; i < POINTS; i++)
        assert_true(world->got[i] == floor(world->x[i]));
    same_everywhere(world, "ceil(x)");
    for (size_t i = 0; i < POINTS; i++)
        assert_true(world->got[i] == ceil(world->x[i]));
    for (size_t i = 0; i < POINTS; i += LANES) {
        lanes x, whole;
        memcpy(&x, &world->x[i], sizeof x);
        whole = lanes_round(x);
        for (int k = 0; k < LANES; k++)
            assert_true(whole[k] == nearbyint(x[k]));       /* halves to even */
    }
}

static void other_operators(void **state)
{
    struct world *world = *state;
    static const char *const texts[] = {
        "x + y", "x - y", "x * y", "x / y", "-x", "max(x, y)", "min(x, y)", "sqrt(x)", "abs(x)",
        "select(x < y, 1, 2)", "select(x <= y, x, y)", "select(both(x < y, x > 0), 1, 0)",
        "select(either(x < y, x >= 0), 1, 0)", "ROOT(x, 0.5, 2, x * x * x - abs(y) / (1 + abs(y)) - 1)",
    };
    uint64_t random = 5;
    for (size_t i = 0; i < POINTS; i++) {
        world->x[i] = i % 4 ? any_double(&random) : floor(draw_in(&random, -3, 3));
        world->y[i] = i % 4 ? any_double(&random) : floor(draw_in(&random, -3, 3));
    }
    for (size_t t = 0; t < COUNT(texts); t++)
        same_everywhere(world, texts[t]);
    same_everywhere(world, "sqrt(x)");
    for (size_t i = 0; i < POINTS; i++)
        assert_true(same_bits(world->got[i], sqrt(world->x[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponentials),
        cmocka_unit_test(logarithms),
        cmocka_unit_test(powers),
        cmocka_unit_test(extremes),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(other_operators),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
