/* Every row of the formulas, under every reading: what the readings claim of each other.
 *
 * A world is the formulas with the facts of one model on one machine, and one list of all its
 * rows, those of tables once per entry. Runs anywhere: formulas and data are built in. */
#include "test.h"

#include "ask/ask.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

struct world {
    const char *model, *machine;
    struct arena arena;
    struct command command;
    struct scenario scenario;
    struct graph graph;
    const char **names;             /* of the outputs: "bound_step", "layer_read[moe]" */
    double *inputs;                 /* the facts and defaults */
};

static struct world worlds[] = {
    { .model = NULL },
    { .model = "deepseek-v3" },
    { .model = "llama-3.1-70b" },
    { .model = "gpt-oss-120b" },
    { .machine = "h100-sxm" },
    { .machine = "gb200-nvl72" },
    { .model = "deepseek-v3", .machine = "h100-sxm" },
    { .model = "llama-3.1-70b", .machine = "h100-sxm" },
    { .model = "gpt-oss-120b", .machine = "h100-sxm" },
    { .model = "deepseek-v3", .machine = "gb200-nvl72" },
    { .model = "llama-3.1-70b", .machine = "gb200-nvl72" },
    { .model = "gpt-oss-120b", .machine = "gb200-nvl72" },
};

/* Every world, or of a sample every third, the last among them. */
static size_t world_step(void)
{
    return sample_only() ? 3 : 1;
}

static size_t first_world(void)
{
    return (COUNT(worlds) - 1) % world_step();
}

static const char *world_name(const struct world *world)
{
    static char name[100];
    snprintf(name, sizeof name, "%s on %s", world->model ? world->model : "the lecture's model",
             world->machine ? world->machine : "the lecture's machine");
    return name;
}

static const struct fact_table *table_of(const struct world *world, const char *table)
{
    for (size_t i = 0; table && i < world->scenario.facts.table_count; i++)
        if (!strcmp(world->scenario.facts.tables[i].name, table))
            return &world->scenario.facts.tables[i];
    return NULL;
}

static void world_add(struct world *world, const struct row *row, size_t *count, size_t *room)
{
    const struct fact_table *table = table_of(world, row_table(row));
    for (size_t i = 0; i < (table ? table->entries : 1); i++) {
        const char *entry = table ? table->entry[i] : "default";
        const char **name = arena_push(&world->arena, &world->names, count, room,
                                       sizeof *world->names);
        *name = row_table(row) ? arena_print(&world->arena, "%s[%s]", row_name(row), entry) : row_name(row);
    }
}

static void world_open(struct world *world)
{
    struct error error;
    size_t count = 0, room = 0;
    struct formulas *formulas = &world->scenario.formulas;
    if (!scenario_open(&world->scenario, &world->arena, &world->command,
                       (struct subject){ .model = world->model, .machine = world->machine },
                       &error))
        fail_msg("%s: %s (%s)", world_name(world), error.what, error.hint);
    for (size_t i = 0; i < formulas->count; i++)
        world_add(world, formulas_row(formulas, i), &count, &room);
    const struct expr **wanted = arena_array(&world->arena, count, sizeof *wanted);
    for (size_t i = 0; i < count; i++)
        if (!expr_parse(formulas, "test", 1, text_of(world->names[i]), &wanted[i], &error))
            fail_msg("%s: %s (%s)", world_name(world), error.what, error.hint);
    if (!graph_build(&world->arena, formulas, &world->scenario.facts, wanted, count, &world->graph,
                     &error))
        fail_msg("%s: %s (%s)", world_name(world), error.what, error.hint);
    world->inputs = arena_array(&world->arena, world->graph.input_count, sizeof(double));
    for (size_t i = 0; i < world->graph.input_count; i++)
        world->inputs[i] = world->graph.inputs[i].value;
}

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(worlds); i++)
        world_open(&worlds[i]);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(worlds); i++)
        arena_free(&worlds[i].arena);
    return 0;
}

/* ---- random points and boxes ----------------------------------------------------------- */

static const struct row *input_row(const struct world *world, size_t input)
{
    return formulas_row(&world->scenario.formulas, world->graph.inputs[input].row);
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Near the default: a factor of up to `spread`; a zero becomes something small. */
static double draw_near(const struct world *world, size_t input, double spread, uint64_t *state)
{
    const struct row *row = input_row(world, input);
    double x = world->inputs[input], t = 2 * draw(state) - 1;
    x = x == 0 ? draw(state) * fmin(row->high, 1) : x * exp(t * log(spread));
    return clamp(x, row->low, row->high);
}

static void draw_point(const struct world *world, double spread, uint64_t *state, double *point)
{
    for (size_t i = 0; i < world->graph.input_count; i++)
        point[i] = draw_near(world, i, spread, state);
}

/* A third of the inputs keep one value, the others a range around the default. */
static void draw_box(const struct world *world, double spread, uint64_t *state,
                     struct interval *box)
{
    for (size_t i = 0; i < world->graph.input_count; i++) {
        double a = draw_near(world, i, spread, state), b = draw_near(world, i, spread, state);
        if (draw_bits(state) % 3 == 0)
            a = b = world->inputs[i];
        box[i] = (struct interval){ fmin(a, b), fmax(a, b) };
    }
}

/* ---- every row ---------------------------------------------------------------------------- */

static void units_agree(void **state)
{
    (void)state;
    struct error error;
    for (size_t i = 0; i < COUNT(worlds); i++)
        if (!formulas_check_units(&worlds[i].scenario.formulas, &error))
            fail_msg("%s: %s (%s)", world_name(&worlds[i]), error.what, error.hint);
}

static void sources_stand(void **state)
{
    (void)state;
    const struct world *world = &worlds[COUNT(worlds) - 1];
    size_t expressions = 0, missing = 0;
    for (size_t i = 0; i < world->scenario.formulas.count; i++)
        for (const struct row *row = formulas_row(&world->scenario.formulas, i); row; row = row_before(row)) {
            expressions += row_expr(row) != NULL;
            if (!row_expr(row) || (*row_source(row) && *row_meaning(row)))
                continue;
            missing++;
            fprintf(stderr, "%s:%d: %s lacks its meaning or source\n", row_file(row), row->line,
                    row_name(row));
        }
    printf("%zu rows, %zu formulas\n", world->scenario.formulas.count, expressions);
    assert_int_equal(missing, 0);
}

static void values_are_finite(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = first_world(); i < COUNT(worlds); i += world_step()) {
        struct world *world = &worlds[i];
        double *outputs = arena_array(&world->arena, world->graph.output_count, sizeof(double));
        graph_value(&world->arena, &world->graph, world->inputs, NULL, outputs);
        for (size_t k = 0; k < world->graph.output_count; k++)
            if (!isfinite(outputs[k])) {
                wrong++;
                fprintf(stderr, "%s: %s = %g\n", world_name(world), world->names[k], outputs[k]);
            }
    }
    assert_int_equal(wrong, 0);
}

static void gradients_are_finite(void **state)
{
    (void)state;
    size_t wrong = 0, derivatives = 0;
    static const size_t some[] = { 0, 6, 11 };
    for (size_t i = 0; i < COUNT(some); i++) {
        struct world *world = &worlds[some[i]];
        double *gradient = arena_array(&world->arena, world->graph.input_count, sizeof(double));
        double *nodes = arena_array(&world->arena, world->graph.count + 1, sizeof(double));
        graph_value(&world->arena, &world->graph, world->inputs, nodes, NULL);
        for (size_t k = 0; k < world->graph.output_count; k++) {
            graph_slopes(&world->arena, &world->graph, k, nodes, gradient);
            for (size_t j = 0; j < world->graph.input_count; j++, derivatives++)
                if (!isfinite(gradient[j]) && wrong++ < 20)
                    fprintf(stderr, "%s: d %s / d %s = %g\n", world_name(world), world->names[k],
                            world->graph.inputs[j].name, gradient[j]);
        }
    }
    printf("%zu derivatives\n", derivatives);
    assert_int_equal(wrong, 0);
}

/* The printed expression, read again, against the expression as it was written. */
static size_t reads_back(struct world *world, const struct row *row)
{
    struct arena *arena = &world->arena;
    struct algebra how = { .formulas = &world->scenario.formulas };
    struct buffer printed = { .arena = arena };
    const struct expr *both[2];
    struct graph graph;
    struct error error;
    algebra_print(&printed, &how, row_expr(row));
    const char *texts[2] = { printed.data, arena_copy(arena, row_text(row).data, row_text(row).size) };
    for (int i = 0; i < 2; i++) {
        const char *text = row_table(row) ? arena_print(arena, "SUM(%s, %s)", row_table(row), texts[i])
                                      : texts[i];
        if (!expr_parse(how.formulas, "printed", 1, text_of(text), &both[i], &error)) {
            fprintf(stderr, "%s: %s: %s\n    %s\n", world_name(world), row_name(row), error.what, text);
            return 1;
        }
    }
    if (!graph_build(arena, how.formulas, &world->scenario.facts, both, 2, &graph, &error)) {
        fprintf(stderr, "%s: %s: %s\n", world_name(world), row_name(row), error.what);
        return 1;
    }
    double values[2], *inputs = arena_array(arena, graph.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < graph.input_count; i++)
        inputs[i] = graph.inputs[i].value;
    graph_value(arena, &graph, inputs, NULL, values);
    if (same_bits(values[0], values[1]))
        return 0;
    fprintf(stderr, "%s: %s is %.17g, read back %.17g\n    %s\n", world_name(world), row_name(row),
            values[1], values[0], printed.data);
    return 1;
}

static void algebra_reads_back(void **state)
{
    (void)state;
    size_t wrong = 0, read = 0;
    static const size_t some[] = { 0, 1, 9, 11 };
    for (size_t w = 0; w < COUNT(some); w++) {
        struct world *world = &worlds[some[w]];
        for (size_t i = 0; i < world->scenario.formulas.count; i++)
            if (row_expr(formulas_row(&world->scenario.formulas, i))) {
                wrong += reads_back(world, formulas_row(&world->scenario.formulas, i));
                read++;
            }
    }
    printf("%zu expressions read back\n", read);
    assert_int_equal(wrong, 0);
}

/* ---- gradient against finite differences ------------------------------------------------- */

struct differences {
    size_t compared, kinks, wrong, flat;
};

enum verdict { FLAT, KINK, AGREES, DIFFERS };

/* Elasticities, roughly: derivatives times `step` over the value. Two one-sided
 * differences that disagree say that there is a kink (or a sharp bend) within the step;
 * what they disagree by is also how far the central one may be off. */
static enum verdict judge(double slope, double step, double exact, const double value[3], double *central)
{
    double scale = fmax(fabs(value[0]), fmax(fabs(value[1]), fabs(value[2])));
    double noise = exact / step;            /* rows that are small differences lose digits */
    if (scale == 0)
        return FLAT;
    double up = (value[2] - value[1]) / scale / step, down = (value[1] - value[0]) / scale / step;
    double bend = fabs(up - down);
    *central = (up + down) / 2;
    if (bend > 1e-3 * fmax(fabs(up), fabs(down)) + 10 * noise)
        return KINK;
    return fabs(slope / scale - *central) <= bend + 1e-6 * fabs(*central) + noise ? AGREES
                                                                                 : DIFFERS;
}

/* Values at x - step, x, x + step along one input. */
static void values_beside(const struct world *world, const double *point, size_t input,
                          double step, double *const values[3])
{
    struct arena arena = { 0 };
    double *moved = arena_array(&arena, world->graph.input_count, sizeof *moved);
    memcpy(moved, point, world->graph.input_count * sizeof *moved);
    for (int side = 0; side < 3; side++) {
        moved[input] = point[input] + (side - 1) * step;
        graph_value(&arena, &world->graph, moved, NULL, values[side]);
    }
    arena_free(&arena);
}

/* A staircase as steep as the step is long looks smooth; a shorter step sees it, or its values are whole
 * numbers. What a search found is exact to some 1e-10 of it, which a short step divides by its length: then a longer
 * one has to agree. */
static enum verdict judge_again(const struct world *world, const double *point, size_t output,
                                size_t input, double slope, double size)
{
    struct arena arena = { 0 };
    double *values[3], central;
    for (int side = 0; side < 3; side++)
        values[side] = arena_array(&arena, world->graph.output_count, sizeof(double));
    values_beside(world, point, input, 1e-7 * size, values);
    const double here[3] = { values[0][output], values[1][output], values[2][output] };
    enum verdict verdict = judge(slope * size, 1e-7, 1e-12, here, &central);
    const bool whole = here[0] == floor(here[0]) && here[1] == floor(here[1]) && here[2] == floor(here[2]);
    if (verdict == AGREES || (whole && slope == 0))
        verdict = KINK;
    if (verdict == DIFFERS) {
        values_beside(world, point, input, 1e-3 * size, values);
        verdict = judge(slope * size, 1e-3, 3e-10, (const double[]){ values[0][output], values[1][output], values[2][output] },
                        &central) == AGREES ? AGREES : DIFFERS;
    }
    arena_free(&arena);
    return verdict;
}

static void compare_slope(const struct world *world, const double *point, size_t output,
                          size_t input, double slope, const double value[3],
                          struct differences *count)
{
    double size = point[input] == 0 ? 1 : fabs(point[input]), central = 0;
    enum verdict verdict = judge(slope * size, 1e-5, 1e-12, value, &central);
    if (verdict == DIFFERS)
        verdict = judge_again(world, point, output, input, slope, size);
    count->flat += verdict == FLAT;
    count->kinks += verdict == KINK;
    count->compared += verdict == AGREES || verdict == DIFFERS;
    if (verdict == DIFFERS && count->wrong++ < 20)
        fprintf(stderr, "%s: d %s / d %s: elasticity %.9g, by differences %.9g\n",
                world_name(world), world->names[output], world->graph.inputs[input].name,
                slope * size / value[1], central);
}

/* By a tenth of the inputs, drawn anew for each point: all of them would take minutes. Of a sample, each fourth output. */
static void compare_gradients(const struct world *world, const double *point, uint64_t *random,
                              struct differences *count)
{
    const struct graph *graph = &world->graph;
    struct arena arena = { 0 };
    double *values[3], *slopes = arena_array(&arena, graph->output_count * graph->input_count,
                                             sizeof *slopes);
    for (int side = 0; side < 3; side++)
        values[side] = arena_array(&arena, graph->output_count, sizeof(double));
    double *nodes = arena_array(&arena, graph->count + 1, sizeof *nodes);
    graph_value(&arena, graph, point, nodes, NULL);
    const size_t stride = sample_only() ? 4 : 1, first = stride > 1 ? draw_bits(random) % stride : 0;
    for (size_t k = first; k < graph->output_count; k += stride)
        graph_slopes(&arena, graph, k, nodes, &slopes[k * graph->input_count]);
    for (size_t j = 0; j < graph->input_count; j++) {
        if (draw(random) > 0.1 * rounds(1))
            continue;
        values_beside(world, point, j, 1e-5 * (point[j] == 0 ? 1 : fabs(point[j])), values);
        for (size_t k = first; k < graph->output_count; k += stride) {
            double value[3] = { values[0][k], values[1][k], values[2][k] };
            if (isfinite(value[0]) && isfinite(value[1]) && isfinite(value[2]))
                compare_slope(world, point, k, j, slopes[k * graph->input_count + j], value, count);
        }
    }
    arena_free(&arena);
}

static void gradient_is_the_slope(void **state)
{
    (void)state;
    struct differences count = { 0 };
    uint64_t random = 1;
    static const size_t some[] = { 0, 5, 9 };
    for (size_t i = 0; i < COUNT(some); i++) {
        struct world *world = &worlds[some[i]];
        double *point = arena_array(&world->arena, world->graph.input_count, sizeof *point);
        for (int turn = 0; turn < (world->model ? 1 : 3); turn++) {
            draw_point(world, 1.2, &random, point);
            compare_gradients(world, point, &random, &count);
        }
    }
    printf("%zu derivatives compared, %zu at kinks, %zu of zeros\n", count.compared, count.kinks,
           count.flat);
    /* Kinks that three points did not show. One of them spoils several outputs, for which a sample is small. */
    assert_true(count.wrong * (sample_only() ? 100000 : 250000) <= count.compared);
    assert_true(count.compared > 99 * count.kinks);
}

/* ---- intervals ------------------------------------------------------------------------------ */

enum { INSIDE = 64 };

/* Columns of random points of a box; their values are in outputs. */
static void run_inside(struct arena *arena, const struct graph *graph, const struct interval *box,
                       uint64_t *random, double **outputs)
{
    struct column *columns = arena_array(arena, graph->input_count, sizeof *columns);
    for (size_t i = 0; i < graph->input_count; i++) {
        double *data = arena_array(arena, INSIDE, sizeof *data);
        for (int p = 0; p < INSIDE; p++)
            data[p] = clamp(draw_in(random, box[i].low, box[i].high), box[i].low, box[i].high);
        columns[i] = (struct column){ data, 1 };
    }
    for (size_t k = 0; k < graph->output_count; k++)
        outputs[k] = arena_array(arena, INSIDE, sizeof(double));
    graph_run(graph, columns, outputs, INSIDE);
}

struct contained {
    size_t points, outside, unbounded, rows, nothing;
};

/* Every SHARE-th row, from `first` on. */
enum { SHARE = 27 };

static void contain(struct world *world, double spread, size_t first, uint64_t *random,
                    struct contained *count)
{
    const struct graph *graph = &world->graph;
    const size_t stride = rounds(1) < SHARE ? SHARE / (size_t)rounds(1) : 1;
    struct arena arena = { 0 };
    struct interval *box = arena_array(&arena, graph->input_count, sizeof *box);
    double **outputs = arena_array(&arena, graph->output_count, sizeof *outputs);
    draw_box(world, spread, random, box);
    run_inside(&arena, graph, box, random, outputs);
    for (size_t k = first; k < graph->output_count; k += stride) {
        struct interval bounds = graph_interval(&arena, graph, k, box);
        count->rows++;
        count->unbounded += !isfinite(bounds.low) || !isfinite(bounds.high);
        for (int p = 0; p < INSIDE; p++) {
            double x = outputs[k][p];
            count->points++;
            count->nothing += isnan(x);
            if (isnan(x) || (x >= bounds.low && x <= bounds.high))
                continue;
            if (count->outside++ < 20)
                fprintf(stderr, "%s: %s = %.17g, not in %.17g..%.17g\n", world_name(world),
                        world->names[k], x, bounds.low, bounds.high);
        }
    }
    arena_free(&arena);
}

static void intervals_contain(void **state)
{
    (void)state;
    static const double spreads[] = { 1.01, 1.3, 3 };
    struct contained count = { 0 };
    uint64_t random = 2;
    for (size_t i = first_world(); i < COUNT(worlds); i += world_step())
        for (size_t s = 0; s < COUNT(spreads); s++)
            contain(&worlds[i], spreads[s], (5 * s + i) % SHARE, &random, &count);
    printf("%zu values in %zu intervals; %zu had no bound on a side, %zu values were none\n",
           count.points, count.rows, count.unbounded, count.nothing);
    assert_int_equal(count.outside, 0);
    assert_true(count.points >= (sample_only() ? 50000 : 100000));
}

/* Rows that grow or fall along every input: the bounds are the least and the largest of
 * all corners, to the last digits. Where an input stands both above and below a line its
 * sign is not proved, and the bounds are only as good as they must be. */
struct corner_case {
    const char *row;
    bool exact;
};

static const struct corner_case corner_cases[] = {
    { "weights_stored", true }, { "kv_stored", true }, { "bound_weights", true },
    { "bound_kv", true }, { "bound_memory", true }, { "matmul_time", true },
    { "bound_step", true }, { "serial_step", true }, { "latency_floor", true },
    { "flops_per_byte", true }, { "machine_balance", true }, { "batch_crossover", true },
    { "drain_time", true }, { "bound_throughput", false }, { "bound_cost_per_token", false },
    { "compute_cost", false }, { "cost_floor", false }, { "context_crossover", false },
};

enum { FREE = 14 };

/* Ranges for up to FREE inputs; constants and switches keep their value. */
static size_t corner_box(const struct formulas *formulas, const struct graph *graph, uint64_t *random,
                         struct interval *box, size_t free[FREE])
{
    size_t count = 0;
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct row *row = formulas_row(formulas, graph->inputs[i].row);
        double x = graph->inputs[i].value;
        box[i] = (struct interval){ x, x };
        if (row->low == row->high || x == 0 || row->high < 3 || count == FREE)
            continue;
        box[i].low = clamp(x * draw_in(random, 0.2, 1), row->low, row->high);
        box[i].high = clamp(x * draw_in(random, 1, 5), row->low, row->high);
        free[count++] = i;
    }
    return count;
}

static struct interval corner_hull(struct arena *arena, const struct graph *graph,
                                   const struct interval *box, const size_t *free, size_t count)
{
    struct interval hull = { INFINITY, -INFINITY };
    double value, *point = arena_array(arena, graph->input_count, sizeof *point);
    for (size_t i = 0; i < graph->input_count; i++)
        point[i] = box[i].low;
    for (size_t mask = 0; mask < (size_t)1 << count; mask++) {
        for (size_t i = 0; i < count; i++)
            point[free[i]] = mask >> i & 1 ? box[free[i]].high : box[free[i]].low;
        graph_value(arena, graph, point, NULL, &value);
        hull = (struct interval){ fmin(hull.low, value), fmax(hull.high, value) };
    }
    return hull;
}

static void check_corners(struct world *world, const struct corner_case *the, uint64_t *random)
{
    struct arena arena = { 0 };
    struct error error;
    const struct expr *expr;
    struct graph graph;
    size_t free[FREE];
    if (!expr_parse(&world->scenario.formulas, "test", 1, text_of(the->row), &expr, &error) ||
        !graph_build(&arena, &world->scenario.formulas, &world->scenario.facts, &expr, 1, &graph,
                     &error))
        fail_msg("%s", error.what);
    struct interval *box = arena_array(&arena, graph.input_count, sizeof *box);
    size_t count = corner_box(&world->scenario.formulas, &graph, random, box, free);
    struct interval hull = corner_hull(&arena, &graph, box, free, count);
    struct interval bounds = graph_interval(&arena, &graph, 0, box);
    bool inside = bounds.low <= hull.low && hull.high <= bounds.high;
    bool tight = hull.low - bounds.low <= 1e-13 * hull.low &&
                 bounds.high - hull.high <= 1e-13 * hull.high;
    if (!count || !inside || (the->exact && !tight))
        fail_msg("%s: corners %.17g..%.17g, interval %.17g..%.17g", the->row, hull.low, hull.high,
                 bounds.low, bounds.high);
    arena_free(&arena);
}

static void corners_are_exact(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (size_t i = 0; i < COUNT(corner_cases); i++)
        for (int turn = 0; turn < 4; turn++)
            check_corners(&worlds[0], &corner_cases[i], &random);
}

/* ---- what is left when inputs are fixed ----------------------------------------------------- */

static size_t fixed_differs(struct world *world, uint64_t *random, size_t *smaller)
{
    const struct graph *graph = &world->graph;
    struct arena arena = { 0 };
    struct graph left;
    double *point = arena_array(&arena, graph->input_count, sizeof *point);
    double *some = arena_array(&arena, graph->input_count + 1, sizeof *some);
    double *full_values = arena_array(&arena, graph->output_count, sizeof(double));
    double *left_values = arena_array(&arena, graph->output_count, sizeof(double));
    bool *vary = arena_array(&arena, graph->input_count, sizeof *vary);
    size_t differ = 0;
    unsigned share = 1 + draw_bits(random) % 20;
    draw_point(world, 1.5, random, point);
    for (size_t i = 0; i < graph->input_count; i++)
        vary[i] = draw_bits(random) % 20 < share;
    graph_specialize(&arena, graph, point, vary, &left);
    *smaller += left.count < graph->count;
    for (int turn = 0; turn < 4; turn++) {
        for (size_t i = 0; i < graph->input_count; i++)
            if (vary[i])
                point[i] = draw_near(world, i, 2, random);
        for (size_t i = 0; i < left.input_count; i++)
            some[i] = point[graph_input(graph, left.inputs[i].name)];
        graph_value(&arena, graph, point, NULL, full_values);
        graph_value(&arena, &left, some, NULL, left_values);
        for (size_t k = 0; k < graph->output_count; k++)
            if (!same_bits(full_values[k], left_values[k]) && differ++ < 5)
                fprintf(stderr, "%s: %s = %.17g, fixed %.17g\n", world_name(world),
                        world->names[k], full_values[k], left_values[k]);
    }
    arena_free(&arena);
    return differ;
}

static void fixing_keeps_the_bits(void **state)
{
    (void)state;
    uint64_t random = 4;
    size_t differ = 0, smaller = 0, turns = 0;
    for (size_t i = first_world(); i < COUNT(worlds); i += world_step())
        for (int turn = 0; turn < 6; turn++, turns++)
            differ += fixed_differs(&worlds[i], &random, &smaller);
    assert_int_equal(differ, 0);
    assert_int_equal(smaller, turns);
}

static void fixing_all_leaves_numbers(void **state)
{
    (void)state;
    for (size_t i = first_world(); i < COUNT(worlds); i += world_step()) {
        struct world *world = &worlds[i];
        struct graph left;
        bool *vary = arena_array(&world->arena, world->graph.input_count, sizeof *vary);
        graph_specialize(&world->arena, &world->graph, world->inputs, vary, &left);
        assert_int_equal(left.input_count, 0);
        for (size_t k = 0; k < left.count; k++)
            assert_int_equal(left.nodes[k].op, OP_NUMBER);
    }
}

/* An input under a node, by the way that falls out; -1: it ends in a number. */
static int input_under(const struct graph *graph, int node, uint64_t *random)
{
    while (graph->nodes[node].op != OP_INPUT && graph->nodes[node].op != OP_NUMBER) {
        const int kids[] = { graph->nodes[node].a, graph->nodes[node].b, graph->nodes[node].c };
        int kid = kids[draw_bits(random) % 3];
        node = kid < 0 ? kids[0] : kid;
    }
    return graph->nodes[node].input;
}

/* An output moves with an input below it where graph_specialize leaves the input to it. */
static void moves_are_what_fixing_leaves(void **state)
{
    enum { TURNS = 200 };
    (void)state;
    uint64_t random = 5;
    size_t tried = 0, moved = 0, differ = 0;
    for (size_t i = first_world(); i < COUNT(worlds); i += world_step()) {
        struct arena arena = { 0 };
        struct graph one = worlds[i].graph, left;
        double *nodes = arena_array(&arena, one.count, sizeof *nodes);
        bool *vary = arena_array(&arena, one.input_count, sizeof *vary);
        graph_value(&arena, &one, worlds[i].inputs, nodes, NULL);
        one.output_count = 1;
        for (int turn = 0; turn < TURNS; turn++) {
            one.outputs = &worlds[i].graph.outputs[draw_bits(&random) % worlds[i].graph.output_count];
            int input = input_under(&one, one.outputs[0], &random);
            if (input < 0)
                continue;
            vary[input] = true;
            graph_specialize(&arena, &one, worlds[i].inputs, vary, &left);
            vary[input] = false;
            tried++;
            moved += left.input_count;
            differ += graph_moves(&arena, &one, nodes, (size_t)input) != (left.input_count > 0);
        }
        arena_free(&arena);
    }
    printf("%zu of %zu inputs move the output above them\n", moved, tried);
    assert_true(moved > 0 && moved < tried);
    assert_int_equal(differ, 0);
}

/* ---- instruction sets ----------------------------------------------------------------------- */

enum { LONGEST = 200 };

struct batch {
    struct arena arena;
    struct column *columns;
    double **expected, **outputs;
};

static void batch_open(struct batch *batch, const struct world *world, unsigned fixed,
                       uint64_t *random)
{
    const struct graph *graph = &world->graph;
    struct arena *arena = &batch->arena;
    batch->columns = arena_array(arena, graph->input_count, sizeof *batch->columns);
    batch->expected = arena_array(arena, graph->output_count, sizeof(double *));
    batch->outputs = arena_array(arena, graph->output_count, sizeof(double *));
    for (size_t k = 0; k < graph->output_count; k++) {
        batch->expected[k] = arena_array(arena, LONGEST, sizeof(double));
        batch->outputs[k] = arena_array(arena, LONGEST + 1, sizeof(double));
    }
    for (size_t i = 0; i < graph->input_count; i++) {
        double *data = arena_array(arena, LONGEST, sizeof *data);
        bool one = fixed && draw_bits(random) % fixed;
        for (size_t p = 0; p < LONGEST; p++)
            data[p] = draw_near(world, i, 2, random);
        batch->columns[i] = (struct column){ data, !one };
    }
}

static void batch_expect(struct batch *batch, const struct graph *graph)
{
    double *point = arena_array(&batch->arena, graph->input_count, sizeof *point);
    double *values = arena_array(&batch->arena, graph->output_count, sizeof *values);
    for (size_t p = 0; p < LONGEST; p++) {
        for (size_t i = 0; i < graph->input_count; i++)
            point[i] = batch->columns[i].data[p * batch->columns[i].stride];
        graph_value(&batch->arena, graph, point, NULL, values);
        for (size_t k = 0; k < graph->output_count; k++)
            batch->expected[k][p] = values[k];
    }
}

static void batch_compare(struct batch *batch, const struct world *world, const char *set,
                          size_t points)
{
    const double untouched = -12345;
    for (size_t k = 0; k < world->graph.output_count; k++)
        batch->outputs[k][points] = untouched;
    graph_run_with(set, &world->graph, batch->columns, batch->outputs, points);
    for (size_t k = 0; k < world->graph.output_count; k++) {
        assert_true(batch->outputs[k][points] == untouched);
        for (size_t p = 0; p < points; p++)
            if (!same_bits(batch->outputs[k][p], batch->expected[k][p]))
                fail_msg("%s, %s, point %zu of %zu: %s = %.17g, alone %.17g", world_name(world),
                         set ? set : "graph_run", p, points, world->names[k], batch->outputs[k][p],
                         batch->expected[k][p]);
    }
}

static void sets_agree(void **state)
{
    (void)state;
    static const char *const sets[] = { NULL, "portable", "avx2", "avx512" };     /* NULL: the one that graph_run takes */
    static const size_t lengths[] = { 1, 63, 64, 65, LONGEST };
    static const size_t some[] = { 0, 11 };
    uint64_t random = 5;
    for (size_t w = sample_only() ? 1 : 0; w < COUNT(some); w++) {
        const struct world *world = &worlds[some[w]];
        struct batch batch = { 0 };
        batch_open(&batch, world, w % 3 * 3, &random);
        batch_expect(&batch, &world->graph);
        for (size_t s = 0; s < COUNT(sets); s++)
            for (size_t l = 0; (!sets[s] || graph_run_has(sets[s])) && l < COUNT(lengths); l++)
                batch_compare(&batch, world, sets[s], lengths[l]);
        arena_free(&batch.arena);
    }
    for (size_t s = 1; s < COUNT(sets); s++)
        printf("%s: %s\n", sets[s], graph_run_has(sets[s]) ? "same bits" : "not on this machine");
}

/* ---- small formulas ------------------------------------------------------------------------- */

struct small {
    struct arena arena;
    struct formulas formulas;
    struct facts facts;
    struct graph graph;
    struct error error;
    double inputs[16], gradient[16], value;
};

static void small_open(struct small *small, const char *text)
{
    *small = (struct small){ .facts.arena = &small->arena };
    formulas_open(&small->formulas, &small->arena, 0);
    if (!formulas_read(&small->formulas, "small.chalk", text_of(text), &small->error))
        fail_msg("%s (%s)", small->error.what, small->error.hint);
}

static bool small_build(struct small *small, const char *expression)
{
    const struct expr *expr;
    if (!expr_parse(&small->formulas, "test", 1, text_of(expression), &expr, &small->error) ||
        !graph_build(&small->arena, &small->formulas, &small->facts, &expr, 1, &small->graph,
                     &small->error))
        return false;
    assert_true(small->graph.input_count <= COUNT(small->inputs));
    for (size_t i = 0; i < small->graph.input_count; i++)
        small->inputs[i] = small->graph.inputs[i].value;
    small->value = graph_gradient(&small->arena, &small->graph, 0, small->inputs, small->gradient);
    return true;
}

static double small_value(struct small *small, const char *expression)
{
    if (!small_build(small, expression))
        fail_msg("%s: %s (%s)", expression, small->error.what, small->error.hint);
    return small->value;
}

static double small_slope(const struct small *small, const char *input)
{
    int i = graph_input(&small->graph, input);
    assert_true(i >= 0);
    return small->gradient[i];
}

static void small_fails(struct small *small, const char *expression, const char *what)
{
    assert_false(small_build(small, expression));
    if (!strstr(small->error.what, what))
        fail_msg("%s: '%s' lacks '%s'", expression, small->error.what, what);
}

static void small_refuses(const char *text, const char *what)
{
    struct small small = { .facts.arena = &small.arena };
    formulas_open(&small.formulas, &small.arena, 0);
    bool read = formulas_read(&small.formulas, "small.chalk", text_of(text), &small.error) &&
                formulas_check_units(&small.formulas, &small.error);
    if (read || !strstr(small.error.what, what))
        fail_msg("'%s' was %s: '%s' lacks '%s'", text, read ? "read" : "refused",
                 read ? "" : small.error.what, what);
    arena_free(&small.arena);
}

static void at_reads_elsewhere(void **state)
{
    (void)state;
    struct small small;
    small_open(&small, "x : 1 = 3 in 0..100\ny : 1 = 5 in 0..100\n"
               "product : 1\n    = x * y\n\ntwice : 1\n    = product + product\n");
    assert_true(small_value(&small, "AT(twice, x = 10)") == 100);
    assert_true(small_value(&small, "AT(product, x = y, y = x)") == 15);    /* at once */
    assert_true(small_value(&small, "AT(product, x = y, y = y + 1)") == 30);
    assert_true(small_value(&small, "AT(AT(product, x = 7), y = x)") == 21); /* outer x */
    assert_true(small_value(&small, "AT(AT(product, y = x), x = 4)") == 16);
    assert_true(small_value(&small, "AT(twice, product = 8)") == 16);       /* a formula too */
    assert_true(small_value(&small, "twice - AT(twice, y = 0)") == 30);
    assert_true(small_value(&small, "AT(twice, x = 2 * x)") == 60);
    assert_true(small_slope(&small, "x") == 20);
    assert_true(small_slope(&small, "y") == 12);
    facts_bind(&small.facts, "x", "y + 1", ORIGIN_GIVEN, "test");
    assert_true(small_value(&small, "product") == 30);
    assert_true(small_value(&small, "AT(product, y = 2)") == 6);
    assert_true(small_value(&small, "AT(product, x = 2)") == 10);
    arena_free(&small.arena);
}

static const char *const tiers =
    "scale : 1 = 2 in 0..100\n"
    "== Tiers                        EACH tier\n"
    "size : 1 = 10 in 0..1000\nprice : 1 = 4 in 0..1000\n"
    "cost : 1\n    = scale * size * price\n\n"
    "== After\n"
    "total : 1\n    = SUM(tier, cost)\n\n"
    "cheapest : 1\n    = LEAST(tier, cost)\n\n"
    "dearest : 1\n    = MOST(tier, cost)\n\n";

static void tables_are_folded(void **state)
{
    (void)state;
    struct small small;
    small_open(&small, tiers);
    assert_true(small_value(&small, "total") == 80);            /* one default entry */
    assert_true(small_value(&small, "cost[default]") == 80);
    struct fact_table *table = facts_table(&small.facts, "tier");
    const double sizes[] = { 1, 5, 2 };
    static const char *const names[] = { "hbm", "ddr", "disk" };
    for (int i = 0; i < 3; i++)
        facts_cell(&small.facts, table, facts_entry(&small.facts, table, names[i]), "size",
                   sizes[i], ORIGIN_GIVEN, "test");
    assert_true(small_value(&small, "total") == 64);
    assert_true(small_value(&small, "cheapest") == 8);
    assert_true(small_value(&small, "dearest") == 40);
    assert_true(small_value(&small, "cost[disk]") == 16);
    assert_true(small_value(&small, "SUM(tier, 1)") == 3);
    assert_true(small_value(&small, "SUM(tier, size / total)") == 8.0 / 64);
    assert_true(small_value(&small, "SUM(tier, SUM(tier, size))") == 24);   /* the inner tier */
    assert_true(small_value(&small, "AT(total, scale = 1)") == 32);
    assert_true(small_value(&small, "AT(total, size = 1)") == 24);          /* at every entry */
    small_value(&small, "total");
    assert_true(small_slope(&small, "size[ddr]") == 8);
    assert_true(small_slope(&small, "scale") == 32);
    facts_set(&small.facts, "size[ddr]", 6, ORIGIN_GIVEN, "test");                        /* before the table's */
    assert_true(small_value(&small, "total") == 72);
    facts_set(&small.facts, "price", 1, ORIGIN_GIVEN, "test");                            /* all entries */
    assert_true(small_value(&small, "total") == 18);
    facts_cell_bind(&small.facts, table, 0, "size", "scale * 7", ORIGIN_GIVEN, "test");
    assert_true(small_value(&small, "cost[hbm]") == 28);
    small_fails(&small, "cost", "one value per tier");
    small_fails(&small, "cost[tape]", "no entry 'tape'");
    small_fails(&small, "SUM(tire, cost)", "unknown table");
    arena_free(&small.arena);
}

static void an_empty_table(void **state)
{
    (void)state;
    struct small small;
    small_open(&small, tiers);
    facts_table(&small.facts, "tier");
    assert_true(small_value(&small, "total") == 0);
    small_fails(&small, "cheapest", "no entries");
    arena_free(&small.arena);
}

static void cycles_are_named(void **state)
{
    (void)state;
    struct small small;
    small_open(&small, "a : 1 = 1 in 0..9\nb : 1\n    = a + 1\n\nc : 1\n    = b * 2\n");
    facts_bind(&small.facts, "a", "c - 1", ORIGIN_GIVEN, "test");
    small_fails(&small, "c", "a row depends on itself: c <- b <- a <- c");
    facts_bind(&small.facts, "a", "a + 1", ORIGIN_GIVEN, "test");
    small_fails(&small, "b", "a <- a");
    facts_set(&small.facts, "a", 4, ORIGIN_GIVEN, "test");
    assert_true(small_value(&small, "c") == 10);
    arena_free(&small.arena);
}

static void rows_are_redefined(void **state)
{
    (void)state;
    struct small small;
    small_open(&small, "x : s = 2s in 0..10\ny : s                    Y\n"
               "    twice\n    = 2 * x\n\nz : s\n    = y + x\n");
    assert_true(small_value(&small, "z") == 6);
    assert_false(formulas_read(&small.formulas, "mine.chalk", text_of("y : s\n    = 10 * x\n"),
                               &small.error));
    assert_string_equal(small.error.what, "mine.chalk:1: 'y' is defined twice");
    small.formulas.open = true;
    assert_true(formulas_read(&small.formulas, "mine.chalk", text_of("y : s\n    = 10 * x\n"),
                              &small.error));
    assert_true(small_value(&small, "z") == 22);
    const struct row *row = formulas_row(&small.formulas, formulas_find(&small.formulas, "y"));
    assert_string_equal(row_symbol(row), "Y");
    assert_string_equal(row_meaning(row), "twice");
    assert_string_equal(row_file(row_before(row)), "small.chalk");
    assert_true(formulas_read(&small.formulas, "more.chalk", text_of("y : s = 1ms in 0..1\n"),
                              &small.error));
    assert_true(small_value(&small, "z") == 2.001);
    arena_free(&small.arena);
}

static void conditions_count(void **state)
{
    (void)state;
    static const char *const text = "x : 1 = 1 in 0..9\n== Real            WITH model\n"
                                    "x : 1\n    = 2\n\n== Machine    WITH machine\nx : 1\n    = 3\n";
    for (unsigned conditions = 0; conditions <= FORMULAS_ALL; conditions++) {
        struct small small = { .facts.arena = &small.arena };
        formulas_open(&small.formulas, &small.arena, conditions);
        assert_true(formulas_read(&small.formulas, "small.chalk", text_of(text), &small.error));
        assert_true(small_value(&small, "x") == (conditions & FORMULAS_MACHINE ? 3
                                                 : conditions & FORMULAS_MODEL ? 2 : 1));
        arena_free(&small.arena);
    }
}

static void books_are_refused(void **state)
{
    (void)state;
    small_refuses("x = 1\n", "small.chalk:1: a row without a unit");
    small_refuses("x : 1\n", "small.chalk:1: neither a default nor an expression");
    small_refuses("x : parsec = 1 in 0..2\n", "unit 'parsec' of 'x'");
    small_refuses("x : ms = 1 in 0..2\n", "unit 'ms' of 'x'");
    small_refuses("x : 1 = 5 in 0..2\n", "out of range");
    small_refuses("x : 1 = 5 in 2\n", "'2' is not a range");
    small_refuses("x : s = 5B in 0..9\n", "'5B' is in B");
    small_refuses("x y : 1 = 5 in 0..9\n", "characters other than");
    small_refuses("x : 1 = 1 in 0..2\nx : 1 = 1 in 0..2\n", "'x' is defined twice");
    small_refuses("x : 1 = 1 in 0..2\n    = 1 + 1\n", "an input with a number and an expression");
    small_refuses("    x : 1\n", "an indented line");
    small_refuses("y : 1\n    = x + 1\n", "unknown row 'x'");
    small_refuses("y : 1\n    = (1 + 2\n", "small.chalk:2: syntax error");
    small_refuses("y : 1\n    = 1 +\n      2 3\n", "small.chalk:3: unexpected text after the expression");
    small_refuses("y : 1\n    = pow(2)\n", "the wrong number of arguments");
    small_refuses("y : 1\n    = sin(2)\n", "unknown operator");
    small_refuses("y : 1\n    = select(1, 2, 3)\n", "a comparison is missing");
    small_refuses("== A      EACH\n", "words after the chapter's title");
    small_refuses("== A      WITH luck\n", "an unknown condition");
    small_refuses("y : s\n    = 2 * 3\n", "declared in s, its expression gives 1");
    small_refuses("x : s = 1 in 0..2\ny : s\n    = x + 3\n", "unit mismatch in 'x + 3': s and 1");
    small_refuses("x : s = 1 in 0..2\ny : 1\n    = exp(x)\n", "unit mismatch");
    small_refuses("x : s = 1 in 0..2\ny : 1\n    = AT(2 * x / x, x = 3)\n", "unit mismatch");
}

static const char *const deepest = "x : 1 = 1 in 0..2\ny : 1\n    = %s\n";

/* Nesting and expansion end in an error, not in the stack or the memory. */
static void depth_is_limited(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    static const char *const opens[] = { "(", "-", "exp(", "max(x, ", "select(x < ", "AT(x, x = " };
    for (size_t i = 0; i < COUNT(opens); i++) {
        struct buffer text = { .arena = &arena };
        for (int k = 0; k < 100000; k++)
            buffer_print(&text, "%s", opens[i]);
        small_refuses(arena_print(&arena, deepest, text.data), "nested too deep");
    }
    arena_free(&arena);
}

static void chains_are_short(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct buffer text = { .arena = &arena };
    buffer_print(&text, "x0 : 1 = 1 in 0..2\n");
    for (int i = 1; i < 10000; i++)
        buffer_print(&text, "x%d : 1\n    = x%d + 1\n\n", i, i - 1);
    struct small small;
    small_open(&small, text.data);
    small_fails(&small, "x9999", "too deep");
    arena_free(&small.arena);
    arena_free(&arena);
}

/* Tables in each other, rows at ever other points: what would unfold without end. */
static void unfolding_is_limited(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct small small;
    struct buffer sums = { .arena = &arena }, rows = { .arena = &arena };
    small_open(&small, tiers);
    struct fact_table *table = facts_table(&small.facts, "tier");
    for (int i = 0; i < 4; i++)
        facts_entry(&small.facts, table, "one");
    for (int i = 0; i < 50; i++)
        buffer_print(&sums, "SUM(tier, ");
    buffer_print(&sums, "size");
    for (int i = 0; i < 50; i++)
        buffer_print(&sums, ")");
    small_fails(&small, sums.data, "unfold to more than");
    arena_free(&small.arena);
    for (int i = 0; i < 40; i++)
        buffer_print(&rows, "v%d : 1 = 1 in 0..9\n", i);
    buffer_print(&rows, "r0 : 1\n    = v0");
    for (int i = 1; i < 40; i++)
        buffer_print(&rows, " + v%d", i);
    for (int i = 1; i < 40; i++)
        buffer_print(&rows, "\n\nr%d : 1\n    = AT(r%d, v%d = 2) + AT(r%d, v%d = 3)", i, i - 1, i,
                     i - 1, i);
    small_open(&small, rows.data);
    small_fails(&small, "r39", "");
    arena_free(&small.arena);
    arena_free(&arena);
}

static void books_are_limited(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct buffer rows = { .arena = &arena }, chapters = { .arena = &arena };
    for (int i = 0; i < 20000; i++)
        buffer_print(&rows, "x%d : 1 = 1 in 0..2\n", i);
    small_refuses(rows.data, "row 16385");
    for (int i = 0; i < 5000; i++)
        buffer_print(&chapters, "== A\n");
    small_refuses(chapters.data, "chapter 4097");
    struct buffer sum = { .arena = &arena };
    buffer_print(&sum, "x : 1\n    = 1");
    for (int i = 0; i < 100000; i++)
        buffer_print(&sum, " + 1");
    small_refuses(sum.data, "the expression is too long");
    arena_free(&arena);
}

/* ---- ROOT ----------------------------------------------------------------------------------- */

static const char *const powers =
    "x : 1 = 0 in 0..1e9\na : 1 = 2 in 0..1e9\nb : 1 = 3 in 0..1e9\n"
    "f : 1\n    = x * x * x + b * x - a\n\n"
    "cubic : 1\n    = ROOT(x, 0, 10, f)\n\n"
    "wide : 1\n    = ROOT(x, 0.001, 1e9, pow(x, b) - a)\n\n"
    "inner : 1\n    = ROOT(x, 0, 100, x + ROOT(b, 0, 100, b * b - x) - a)\n";

static void roots_hold(void **state)
{
    (void)state;
    struct small small;
    small_open(&small, powers);
    double x = small_value(&small, "cubic");
    assert_true(fabs(x * x * x + 3 * x - 2) < 1e-14);
    assert_true(fabs(small_slope(&small, "a") - 1 / (3 * x * x + 3)) < 1e-12);
    assert_true(fabs(small_slope(&small, "b") + x / (3 * x * x + 3)) < 1e-12);
    assert_true(fabs(small_value(&small, "wide") - cbrt(2)) < 4e-16);
    assert_true(fabs(small_slope(&small, "a") - cbrt(2) / 6) < 1e-12);
    x = small_value(&small, "inner");                           /* x + sqrt(x) = 2 */
    assert_true(fabs(x - 1) < 1e-14);
    assert_true(fabs(small_slope(&small, "a") - 1 / 1.5) < 1e-9);
    assert_true(small_value(&small, "ROOT(x, 0, 3, x)") == 0);  /* at an end */
    assert_true(small_value(&small, "ROOT(x, 0, 3, x - 3)") == 3);
    assert_true(isnan(small_value(&small, "ROOT(x, 4, 5, x - 3)")));
    assert_true(isnan(small_value(&small, "ROOT(x, 0, 5, log(x - 3))")));   /* none at an end */
    assert_true(small_value(&small, "ROOT(x, 10, 0, f)") == small_value(&small, "cubic"));
    arena_free(&small.arena);
}

static void root_slopes(void **state)
{
    (void)state;
    static const char *const names[] = { "cubic", "wide", "inner", "cubic * inner + AT(wide, a = b)" };
    struct small small;
    uint64_t random = 6;
    small_open(&small, powers);
    for (size_t n = 0; n < COUNT(names); n++)
        for (int turn = 0; turn < 50; turn++) {
            facts_set(&small.facts, "a", draw_in(&random, 1.1, 5), ORIGIN_GIVEN, "test");
            facts_set(&small.facts, "b", draw_in(&random, 1, 4), ORIGIN_GIVEN, "test");
            small_value(&small, names[n]);
            for (size_t i = 0; i < small.graph.input_count; i++) {
                double low, high, step = 1e-5, kept = small.inputs[i];
                small.inputs[i] = kept - step;
                graph_value(&small.arena, &small.graph, small.inputs, NULL, &low);
                small.inputs[i] = kept + step;
                graph_value(&small.arena, &small.graph, small.inputs, NULL, &high);
                small.inputs[i] = kept;
                double slope = (high - low) / (2 * step);
                if (fabs(slope - small.gradient[i]) > 1e-6 * fmax(1, fabs(slope)))
                    fail_msg("%s along %s: %.12g, by differences %.12g", names[n],
                             small.graph.inputs[i].name, small.gradient[i], slope);
            }
        }
    arena_free(&small.arena);
}

static void root_intervals(void **state)
{
    (void)state;
    static const char *const names[] = { "cubic", "wide", "inner" };
    struct small small;
    uint64_t random = 7;
    small_open(&small, powers);
    for (size_t n = 0; n < COUNT(names); n++)
        for (int turn = 0; turn < 50; turn++) {
            struct interval box[8];
            small_value(&small, names[n]);
            for (size_t i = 0; i < small.graph.input_count; i++) {
                double a = draw_in(&random, 1.1, 5), b = draw_in(&random, 1.1, 5);
                box[i] = (struct interval){ fmin(a, b), fmax(a, b) };
            }
            struct interval bounds = graph_interval(&small.arena, &small.graph, 0, box);
            for (int p = 0; p < 50; p++) {
                double value;
                for (size_t i = 0; i < small.graph.input_count; i++)
                    small.inputs[i] = draw_in(&random, box[i].low, box[i].high);
                graph_value(&small.arena, &small.graph, small.inputs, NULL, &value);
                if (!(value >= bounds.low && value <= bounds.high))
                    fail_msg("%s = %.17g, not in %.17g..%.17g", names[n], value, bounds.low,
                             bounds.high);
            }
        }
    arena_free(&small.arena);
}

static void too_many_roots(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct buffer text = { .arena = &arena };
    struct small small;
    small_open(&small, powers);
    for (int i = 0; i < 100; i++)
        buffer_print(&text, "%sROOT(x, 0, 10, x - %d)", i ? " + " : "", i % 10);
    small_fails(&small, text.data, "more than 60 ROOTs");
    arena_free(&small.arena);
    arena_free(&arena);
}

/* ---- units in expressions -------------------------------------------------------------------- */

static const struct { const char *text, *unit; double value; } with_units[] = {
    { "0.91*1s", "s", 0.91 },
    { "0.91 * 1 s", "s", 0.91 },
    { "6 GB / 2 GB/s", "s", 3 },
    { "20ms", "s", 0.02 },
    { "1.5e3ms", "s", 1.5 },
    { "x * 20ms / 1h", "1", 3 * 0.02 / 3600 },
    { "8TB/s", "B/s", 8e12 },
    { "8TB/s/4e12B", "1/s", 2 },
    { "6TB/x", "B", 2e12 },                         /* no unit is called x */
    { "12s/min(x, 4)", "s", 4 },                    /* nor is min, before a parenthesis */
    { "2h/3", "s", 2400 },
    { "-1GB + 2GB", "B", 1e9 },
    { "4s^2/1s", "s", 4 },
    { "3USD/Mtoken * 2e6token", "USD", 6 },
    { "select(x < 2h / 1s, 1ms, 2ms)", "s", 0.001 },
    { "1EFLOP/s", "FLOP/s", 1e18 },                 /* no exponent */
};

static void units_in_expressions(void **state)
{
    (void)state;
    struct small small;
    small_open(&small, "x : 1 = 3 in 0..1e9\n");
    for (size_t i = 0; i < COUNT(with_units); i++) {
        const char *text = with_units[i].text;
        struct buffer again = { .arena = &small.arena }, words = { .arena = &small.arena };
        struct algebra how = { .formulas = &small.formulas };
        const struct expr *expr;
        struct unit unit;
        const double value = small_value(&small, text);
        if (!(fabs(value - with_units[i].value) <= 4e-16 * fabs(value)))
            fail_msg("%s = %.17g, expected %.17g", text, value, with_units[i].value);
        assert_true(expr_parse(&small.formulas, NULL, 0, text_of(text), &expr, &small.error));
        assert_true(expr_unit(&small.formulas, expr, &unit, &small.error));
        unit_print(&words, unit);
        assert_string_equal(words.data, with_units[i].unit);
        algebra_print(&again, &how, expr);
        assert_true(same_bits(small_value(&small, again.data), value));
    }
    small_fails(&small, "x + 2foo", "unknown unit");
    small_fails(&small, "2 x", "unexpected text after the expression");
    small_refuses("y : s\n    = 1s + 1B\n", "unit mismatch");
    small_refuses("y : s\n    = 20\n    + 1ms\n", "unit mismatch");
    small_refuses("y : s\n    = 2 * 20MB\n", "its expression gives B");
    arena_free(&small.arena);
}

/* ---- solve ---------------------------------------------------------------------------------- */

struct equation {
    const char *f;
    double low, high;
    size_t count;
    double at[8];
    double beyond;                  /* 0: none */
};

static const struct equation equations[] = {
    { "x - 3", 0, 10, 1, { 3 }, 0 },
    { "x * x - 2", 0, 10, 1, { M_SQRT2 }, 0 },
    { "(x - 1) * (x - 2) * (x - 3)", 0, 10, 3, { 1, 2, 3 }, 0 },
    { "(x - 1) * (x - 4) * (x - 1000) * (x - 5e5)", 0, 1e6, 4, { 1, 4, 1000, 5e5 }, 0 },
    { "x * x + 1", -10, 10, 0, { 0 }, 0 },
    { "x - 30", 1, 10, 0, { 0 }, 30 },
    { "(x + 2) * (x - 5)", -10, 10, 2, { -2, 5 }, 0 },
    { "exp(x) - 1e100", 0, 700, 1, { 230.25850929940458 }, 0 },
    { "pow(x, 3) - 1e-27", 1e-12, 1, 1, { 1e-9 }, 0 },
    { "max(x, 4) - 5", 0, 10, 1, { 5 }, 0 },
    { "1 / (x - 3)", 0, 10, 0, { 0 }, 0 },          /* a pole is no root */
    { "select(x < 3, -1, 1)", 0, 10, 0, { 0 }, 0 }, /* nor is a jump */
    { "x", 0, 10, 1, { 0 }, 0 },                    /* at an end */
    { "x - 10", 0, 10, 1, { 10 }, 0 },
    { "x * x * x", -1, 1, 1, { 0 }, 0 },
};

static void equations_are_solved(void **state)
{
    (void)state;
    struct small small;
    small_open(&small, "x : 1 = 1 in 0..1e9\n");
    for (size_t e = 0; e < COUNT(equations); e++) {
        const struct equation *equation = &equations[e];
        struct solution roots;
        small_value(&small, equation->f);
        graph_solve(&small.arena, &small.graph, 0, 0, RELATION_EQUAL, equation->low, equation->high,
                    &roots);
        if (roots.count != equation->count)
            fail_msg("%s = 0: %zu roots, first %.17g, expected %zu", equation->f, roots.count,
                     roots.count ? roots.extents[0].low : 0, equation->count);
        for (size_t i = 0; i < roots.count; i++) {
            const double root = roots.extents[i].low;
            assert_true(root == roots.extents[i].high);
            if (fabs(root - equation->at[i]) > 4e-15 * fmax(fabs(equation->at[i]), 1e-9))
                fail_msg("%s = 0 at %.17g, expected %.17g", equation->f, root, equation->at[i]);
        }
        assert_int_equal(roots.beyond_found, equation->beyond != 0);
        assert_true(fabs(roots.beyond - equation->beyond) <= 1e-13 * equation->beyond);
    }
    arena_free(&small.arena);
}

static void many_roots(void **state)
{
    (void)state;
    struct small small;
    struct solution roots;
    small_open(&small, "x : 1 = 1 in 0..100\n");
    small_value(&small, "x - 2 * floor(x / 2) - 0.5");          /* 0.5, 2.5, ... 18.5 */
    graph_solve(&small.arena, &small.graph, 0, 0, RELATION_EQUAL, 0, 20, &roots);
    assert_int_equal(roots.count, 10);
    assert_int_equal(roots.jump_count, 10);
    for (size_t i = 0; i < roots.count; i++)
        assert_true(fabs(roots.extents[i].low - (0.5 + 2 * (double)i)) < 1e-12);
    arena_free(&small.arena);
}

/* ---- draws ---------------------------------------------------------------------------------- */

struct spread_case {
    const char *value;
    double at[5];                   /* quantiles 0.05 0.25 0.5 0.75 0.95 in theory */
    double tolerance;
};

static const struct spread_case spreads[] = {
    { "uniform(10, 30)", { 11, 15, 20, 25, 29 }, 0.1 },
    { "10..30",          { 11, 15, 20, 25, 29 }, 0.1 },
    { "1..10000",        { 1.58489, 10, 100, 1000, 6309.57 }, 0 },      /* in the logarithm */
    { "normal(100, 10)", { 83.5515, 93.2551, 100, 106.7449, 116.4485 }, 0.15 },
    { "lognormal(50, 2)", { 15.9873, 31.3280, 50, 79.8009, 156.374 }, 0 },
};

static void quantiles_follow(void **state)
{
    (void)state;
    static const double at[5] = { 0.05, 0.25, 0.5, 0.75, 0.95 };
    static const struct unit one = { { 0 } };
    struct small small;
    small_open(&small, "x : 1 = 1 in 0..1e9\n");
    for (size_t i = 0; i < COUNT(spreads); i++) {
        double got[5];
        struct quantity quantity;
        small_value(&small, "2 * x");
        if (!quantity_parse(text_of(spreads[i].value), one, &quantity, &small.error))
            fail_msg("%s", small.error.what);
        struct input *input = &small.graph.inputs[0];
        input->distribution = quantity.distribution;
        input->low = quantity.low;
        input->high = quantity.high;
        graph_quantiles(&small.arena, &small.graph, 42, 1 << 17, at, 5, got);
        for (int q = 0; q < 5; q++) {
            double expected = 2 * spreads[i].at[q];
            double off = spreads[i].tolerance > 0 ? 2 * spreads[i].tolerance : 0.025 * expected;
            if (fabs(got[q] - expected) > off)
                fail_msg("%s: quantile %g is %g, expected %g", spreads[i].value, at[q], got[q],
                         expected);
        }
    }
    arena_free(&small.arena);
}

static void draws_are_independent(void **state)
{
    (void)state;
    static const double at[3] = { 0.5, 0.8413447, 0.02275013 };
    struct small small;
    double got[3], again[3];
    small_open(&small, "x : 1 = 1 in -99..99\ny : 1 = 1 in -99..99\n");
    small_value(&small, "x - y");
    for (int i = 0; i < 2; i++) {
        small.graph.inputs[i].distribution = DISTRIBUTION_NORMAL;
        small.graph.inputs[i].low = 5;
        small.graph.inputs[i].high = i ? 4 : 3;
    }
    graph_quantiles(&small.arena, &small.graph, 7, 1 << 17, at, 3, got);
    assert_true(fabs(got[0]) < 0.06);
    assert_true(fabs(got[1] - 5) < 0.06);           /* sqrt(3^2 + 4^2) */
    assert_true(fabs(got[2] + 10) < 0.15);
    graph_quantiles(&small.arena, &small.graph, 7, 1 << 17, at, 3, again);
    assert_memory_equal(got, again, sizeof got);    /* the seed decides */
    arena_free(&small.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_agree),
        cmocka_unit_test(sources_stand),
        cmocka_unit_test(values_are_finite),
        cmocka_unit_test(gradients_are_finite),
        cmocka_unit_test(algebra_reads_back),
        cmocka_unit_test(gradient_is_the_slope),
        cmocka_unit_test(intervals_contain),
        cmocka_unit_test(corners_are_exact),
        cmocka_unit_test(fixing_keeps_the_bits),
        cmocka_unit_test(fixing_all_leaves_numbers),
        cmocka_unit_test(moves_are_what_fixing_leaves),
        cmocka_unit_test(sets_agree),
        cmocka_unit_test(at_reads_elsewhere),
        cmocka_unit_test(tables_are_folded),
        cmocka_unit_test(an_empty_table),
        cmocka_unit_test(cycles_are_named),
        cmocka_unit_test(rows_are_redefined),
        cmocka_unit_test(conditions_count),
        cmocka_unit_test(books_are_refused),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(chains_are_short),
        cmocka_unit_test(unfolding_is_limited),
        cmocka_unit_test(books_are_limited),
        cmocka_unit_test(roots_hold),
        cmocka_unit_test(root_slopes),
        cmocka_unit_test(root_intervals),
        cmocka_unit_test(too_many_roots),
        cmocka_unit_test(units_in_expressions),
        cmocka_unit_test(equations_are_solved),
        cmocka_unit_test(many_roots),
        cmocka_unit_test(quantiles_follow),
        cmocka_unit_test(draws_are_independent),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
