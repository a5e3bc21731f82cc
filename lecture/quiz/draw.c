/* Drawn numbers, and the mistakes that would move an answer by a known factor.
 *
 * A problem states every input that moves its answer, except those that are 0 or 1 by default
 * and so say nothing: no reserve, one pipeline stage, one token per pass. The others are drawn:
 * from the row's plausible range, or within a factor of two of what the lecture or the row has, in two
 * digits, so that one can calculate on paper. */
#include "lecture/quiz/quiz.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* ---- inputs ---------------------------------------------------------------------------------- */

static bool is_switch(const struct row *row)
{
    return row->low == 0 && (row->high == 1 || row->high == 2) && row->value == floor(row->value) &&
           row->likely_low == row->likely_high && unit_same(row->unit, unit_one);
}

static bool neutral(const struct input *input, const struct row *row, double value)
{
    return !input->source && (value == 0 || (value == 1 && unit_counts(row->unit)));
}

/* The elasticity of the output. Where the derivative is zero, as that of ceil, it is taken over a step of 1.5. */
static double elasticity_of(struct arena *arena, const struct values *values, const double *gradient,
                            size_t i)
{
    const struct graph *graph = &values->graph;
    const double x = values->inputs[i], y = values->at[0];
    if (gradient[i] != 0 || x == 0 || y == 0)
        return gradient[i] * x / y;
    double *moved = arena_array(arena, graph->input_count + 1, sizeof *moved), there;
    memcpy(moved, values->inputs, graph->input_count * sizeof *moved);
    moved[i] = 1.5 * x;
    graph_value(arena, graph, moved, NULL, &there);
    return there > 0 && y > 0 ? scalar_log(there / y) / scalar_log(1.5) : 0;
}

size_t levers_of(struct scenario *scenario, const char *asks, struct lever **levers)
{
    struct arena *arena = scenario->arena;
    struct values values;
    struct error ignored;
    size_t count = 0;
    *levers = NULL;
    if (!values_of(scenario, &asks, 1, &values, &ignored))
        return 0;
    const struct graph *graph = &values.graph;
    double *gradient = arena_array(arena, graph->input_count + 1, sizeof *gradient);
    double *nodes = arena_array(arena, graph->count + 1, sizeof *nodes);
    *levers = arena_array(arena, graph->input_count + 1, sizeof **levers);
    graph_value(arena, graph, values.inputs, nodes, NULL);
    graph_gradient(arena, graph, 0, values.inputs, gradient);
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct input *input = &graph->inputs[i];
        if (!graph_moves(arena, graph, nodes, i))
            continue;
        const struct row *row = formulas_row(&scenario->formulas, input->row);
        const double value = values.inputs[i];
        struct lever *lever = &(*levers)[count++];
        *lever = (struct lever){ .name = input->name, .row = row, .value = value,
                                 .elasticity = elasticity_of(arena, &values, gradient, i) };
        lever->stated = !(row->input && row->low == row->high) && !neutral(input, row, value);
        lever->drawn = lever->stated && value > 0 && !is_switch(row) && fabs(lever->elasticity) > 1e-6;
    }
    return count;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static double two_digits(double value)
{
    const double scale = scalar_pow(10, floor(scalar_log(value) / scalar_log(10)) - 1);
    return scale >= 1 ? floor(value / scale + 0.5) * scale
                      : floor(value / scale + 0.5) / floor(1 / scale + 0.5);
}

/* The value that its printed form reads back as: 32 min for 1,900 s. */
static double shown(struct arena *arena, double value, struct unit unit)
{
    struct quantity quantity;
    struct error ignored;
    return !unit_counts(unit) &&
           quantity_parse(text_of(quantity_text(arena, value, unit, 2)), unit, &quantity, &ignored)
               ? quantity.value : value;
}

static bool comes_whole(const struct row *row, double value)
{
    return unit_counts(row->unit) && value == floor(value) && value >= 2 &&
           (!row->input || (row->low == floor(row->low) && row->high > 2));
}

/* Is it the bytes of a number, of which there are few formats? */
static bool is_format(const struct row *row, double value)
{
    struct unit bytes = { { 0 } };
    bytes.half[UNIT_B] = 2;
    return unit_same(row->unit, bytes) && value <= 2;
}

double lever_draw(struct arena *arena, const struct lever *lever, struct random *random)
{
    static const double formats[] = { 0.5, 1, 2 };
    const struct row *row = lever->row;
    const double now = lever->value, share = random_uniform(random);
    if (is_format(row, now))
        return formats[(int)(3 * share)];
    const bool likely = row->likely_low > 0 && row->likely_low < row->likely_high;
    double value = likely ? log_between(row->likely_low, row->likely_high, share)
                          : log_between(now / 2, now * 2, share);
    value = shown(arena, two_digits(value), row->unit);
    if (comes_whole(row, now))
        value = fmax(1, floor(value + 0.5));
    if (row->input && (value < row->low || value > row->high))
        value = now;
    return value;
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static void add_slip(struct quiz_problem *problem, double factor, const char *words)
{
    if (problem->slip_count + 2 > SLIPS || !(fabs(scalar_log(factor)) > 1e-9))
        return;
    problem->slips[problem->slip_count++] = (struct slip){ factor, words };
    problem->slips[problem->slip_count++] = (struct slip){ 1 / factor, words };
}

static double lever_value(const struct lever *levers, size_t count, const char *name, bool must_move)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(levers[i].name, name) && (!must_move || fabs(levers[i].elasticity) > 1e-6))
            return levers[i].value;
    return NAN;
}

void slips_find(struct quiz_problem *problem, const struct lever *levers, size_t count)
{
    static const struct {
        const char *row, *words;
        double factor;                          /* 0: the value of the row */
    } of_rows[] = {
        { NAME_flop_per_mac, "multiply-adds and FLOPs: each multiply-add is two FLOPs", 2 },
        { NAME_keys_and_values, "keys without values, or the reverse", 2 },
        { NAME_exchange_directions, "one direction of the all-to-all where both count", 2 },
        { NAME_weight_bytes, "bytes per weight", 0 },
        { NAME_chips, "one chip against all of them", 0 },
        { NAME_pipeline_stages, "one pipeline stage against all of them", 0 },
        { NAME_batch, "one sequence against the batch", 0 },
        { NAME_layers, "one layer against all of them", 0 },
        { NAME_family_size, "one model against the family", 0 },
    };
    static const struct {
        int base;
        double factor;
        const char *words;
    } of_units[] = {
        { UNIT_B, 8, "bits and bytes" },
        { UNIT_B, 1.073741824, "GiB and GB: 1024 against 1000" },
        { UNIT_S, 60, "minutes" },
        { UNIT_S, 3600, "hours and seconds" },
        { UNIT_S, 86400, "days and seconds" },
        { UNIT_USD, 1e6, "a price per million" },
    };
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) {
        const double value = lever_value(levers, count, of_rows[i].row, true);
        if (value > 0)
            add_slip(problem, of_rows[i].factor > 0 ? of_rows[i].factor : value, of_rows[i].words);
    }
    const double total = lever_value(levers, count, NAME_params_total, false);
    const double active = lever_value(levers, count, NAME_params_active, false);
    if (total > active)
        add_slip(problem, total / active, "total against active parameters");
    for (size_t i = 0; i < sizeof of_units / sizeof *of_units; i++)
        if (problem->unit.half[of_units[i].base])
            add_slip(problem, of_units[i].factor, of_units[i].words);
    if (!unit_same(problem->unit, unit_one)) {
        add_slip(problem, 1e3, "a prefix: a factor of a thousand");
        add_slip(problem, 1e6, "a prefix: a factor of a million");
    }
}

bool slips_hide(const struct quiz_problem *problem)
{
    for (size_t i = 0; i < problem->slip_count; i++)
        if (fabs(scalar_log(problem->slips[i].factor)) <= 1.1 * scalar_log(problem->tolerance))
            return true;
    return false;
}
