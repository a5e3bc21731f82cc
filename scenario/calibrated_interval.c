/* The 80 % intervals of a calibrated scenario: what is not known of a row after the measurements of its server, and
 * the rows computed again at both ends of it. */
#include "scenario/calibrated.h"

#include <math.h>
#include <string.h>

double calibrated_carried(const struct posterior_prior *prior,
                          const double (*covariance)[POSTERIOR_FACTORS], const double *rho,
                          const struct posterior_value *value)
{
    double sum = 0;
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        for (int l = 0; l < POSTERIOR_FACTORS; l++)
            sum += value->slope[k] * value->slope[l] *
                   (rho[k] * rho[l] * covariance[k][l] +
                    (k == l ? (1 - rho[k] * rho[k]) * prior->covariance[k][k] : 0));
    for (int m = 0; m < POSTERIOR_FIELDS; m++)
        sum += value->reach[m] * value->reach[m] * prior->field[m] * prior->field[m];
    return sum;
}

/* What is not known of a value: the deviation of its logarithm, and the shares in it of the logarithms of the
 * factors and the fields and of the noise, each as its covariance with the value. */
struct doubt {
    double factor[POSTERIOR_FACTORS], field[POSTERIOR_FIELDS], noise, variance, half_width;
};

static void add_own(const struct calibrated *calibrated, const struct posterior_value *value, struct doubt *doubt)
{
    for (int i = 0; i < POSTERIOR_FACTORS + POSTERIOR_FIELDS; i++) {
        struct posterior_value one = { .kind = value->kind };
        const bool factor = i < POSTERIOR_FACTORS;
        memcpy(one.at, value->at, sizeof one.at);
        *(factor ? &one.slope[i] : &one.reach[i - POSTERIOR_FACTORS]) = 1;
        *(factor ? &doubt->factor[i] : &doubt->field[i - POSTERIOR_FACTORS]) =
            posterior_left(&calibrated->posterior, &one, value);
    }
    doubt->variance += posterior_variance(&calibrated->posterior, value);
}

static void add_carried(const struct calibrated *calibrated, const double *rho, const struct posterior_value *value,
                        struct doubt *doubt)
{
    const struct posterior_prior *prior = &calibrated->prior;
    for (int k = 0; k < POSTERIOR_FACTORS; k++) {
        doubt->factor[k] = (1 - rho[k] * rho[k]) * prior->covariance[k][k] * value->slope[k];
        for (int l = 0; l < POSTERIOR_FACTORS; l++)
            doubt->factor[k] += rho[k] * rho[l] * calibrated->covariance[k][l] * value->slope[l];
    }
    for (int m = 0; m < POSTERIOR_FIELDS; m++)
        doubt->field[m] = prior->field[m] * prior->field[m] * value->reach[m];
    doubt->variance += calibrated_carried(prior, (const double (*)[POSTERIOR_FACTORS])calibrated->covariance,
                                          rho, value);
}

static struct doubt doubt_of(const struct calibrated *calibrated, bool layout, const struct posterior_value *value)
{
    const double noise = calibrated->prior.noise[value->kind];
    const bool same = layout && !calibrated->relation;
    struct doubt doubt = { .noise = noise * noise, .variance = noise * noise };
    if (same)
        add_own(calibrated, value, &doubt);
    else
        add_carried(calibrated, layout ? calibrated->own : calibrated->carried, value, &doubt);
    const double scale = same ? calibrated->scale[value->kind] : 1;
    doubt.half_width = (same ? calibrated->half_width[value->kind] : calibrated->carried_half_width)
                       * sqrt(scale / doubt.variance);
    return doubt;
}

static void carry_factors(const struct calibrated *calibrated, const struct calibrated_graph *graph, const double *rho,
                        double *inputs)
{
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        if (graph->factor[k] >= 0)
            inputs[graph->factor[k]] = scalar_exp(rho[k] * calibrated->x[k]);
}

static void evaluate(struct arena *scratch, const struct calibrated *calibrated,
                     const struct calibrated_graph *graph, double *inputs, double *nodes, bool *layout)
{
    carry_factors(calibrated, graph, calibrated->own, inputs);
    graph_value(scratch, &graph->graph, inputs, nodes, NULL);
    *layout = nodes[graph->graph.outputs[graph->rows]] > 0;         /* which no factor changes */
    if (*layout)
        return;
    carry_factors(calibrated, graph, calibrated->carried, inputs);
    graph_value(scratch, &graph->graph, inputs, nodes, NULL);
}

/* The slopes of the logarithm of row i. */
static struct posterior_value linearise(struct arena *scratch, const struct calibrated_graph *graph, size_t i,
                                        const double *inputs, const double *nodes)
{
    const struct graph *of = &graph->graph;
    double *gradient = arena_array(scratch, of->input_count + 1, sizeof *gradient);
    const double at = nodes[of->outputs[i]];
    struct posterior_value value = { 0 };
    graph_slopes(scratch, of, i, nodes, gradient);
    for (int axis = 0; axis < POSTERIOR_AXES; axis++)
        value.at[axis] = scalar_log(fmax(nodes[of->outputs[graph->rows + 1 + (size_t)axis]], 1e-3));
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        value.slope[k] = graph->factor[k] < 0 ? 0 : gradient[graph->factor[k]] * inputs[graph->factor[k]] / at;
    for (int m = 0; m < POSTERIOR_FIELDS; m++)
        value.reach[m] = graph->anchor[m] < 0 ? 0 : gradient[graph->anchor[m]] * inputs[graph->anchor[m]] / at;
    value.kind = fabs(value.reach[1]) > fabs(value.reach[0]);
    return value;
}

/* To one end of a row: there the factors and fields are as far off as is most probable. */
static void move_inputs(const struct calibrated_graph *graph, const struct doubt *doubt, double far,
                        double *const *moved, size_t point)
{
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        if (graph->factor[k] >= 0)
            moved[graph->factor[k]][point] *= scalar_exp(far * doubt->factor[k]);
    for (int m = 0; m < POSTERIOR_FIELDS; m++)
        if (graph->anchor[m] >= 0)
            moved[graph->anchor[m]][point] *= scalar_exp(far * doubt->field[m]);
}

static bool is_moved(const struct calibrated_graph *graph, size_t input)
{
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        if (graph->factor[k] == (int)input)
            return true;
    for (int m = 0; m < POSTERIOR_FIELDS; m++)
        if (graph->anchor[m] == (int)input)
            return true;
    return false;
}

/* after[i][point]: output i at the low end of row `point` / 2, or at the high one. The rows are computed again, since
 * near saturation times are far from what their slopes say. */
static double **values_at_ends(struct arena *scratch, const struct calibrated_graph *graph, const double *inputs,
                               const struct doubt *doubts)
{
    const struct graph *of = &graph->graph;
    const size_t points = 2 * graph->rows;
    struct column *columns = arena_array(scratch, of->input_count + 1, sizeof *columns);
    double **moved = arena_array(scratch, of->input_count + 1, sizeof *moved);
    double **after = arena_array(scratch, of->output_count + 1, sizeof *after);
    for (size_t i = 0; i < of->input_count; i++) {
        const size_t count = is_moved(graph, i) ? points : 1;
        moved[i] = arena_array(scratch, count, sizeof **moved);
        for (size_t point = 0; point < count; point++)
            moved[i][point] = inputs[i];
        columns[i] = (struct column){ moved[i], count > 1 };
    }
    for (size_t point = 0; point < points; point++)
        move_inputs(graph, &doubts[point / 2], (point % 2 ? 1 : -1) * doubts[point / 2].half_width, moved, point);
    for (size_t i = 0; i < of->output_count; i++)
        after[i] = arena_array(scratch, points, sizeof **after);
    graph_run(of, columns, after, points);
    return after;
}

/* The end over the value; where it has none, by the slopes alone. */
static double end_over(double end, double value, const struct doubt *doubt, double side)
{
    const double far = side * doubt->half_width, over = end / value * scalar_exp(far * doubt->noise);
    return isfinite(over) && over > 0 ? over : scalar_exp(far * doubt->variance);
}

void calibrated_intervals(struct arena *scratch, const struct calibrated *calibrated,
                          const struct calibrated_graph *graph, double *inputs, double *low, double *high)
{
    const struct graph *of = &graph->graph;
    double *nodes = arena_array(scratch, of->count + 1, sizeof *nodes);
    struct doubt *doubts = arena_array(scratch, graph->rows + 1, sizeof *doubts);
    bool layout;
    evaluate(scratch, calibrated, graph, inputs, nodes, &layout);
    for (size_t i = 0; i < graph->rows; i++) {
        const struct posterior_value value = linearise(scratch, graph, i, inputs, nodes);
        doubts[i] = doubt_of(calibrated, layout, &value);
    }
    double **after = values_at_ends(scratch, graph, inputs, doubts);
    for (size_t i = 0; i < graph->rows; i++) {
        const double value = nodes[of->outputs[i]];
        const double bound = nodes[of->outputs[graph->rows + 1 + POSTERIOR_AXES + i]] / value;
        low[i] = fmin(1, end_over(after[i][2 * i], value, &doubts[i], -1));
        high[i] = fmax(1, end_over(after[i][2 * i + 1], value, &doubts[i], 1));
        low[i] = bound > low[i] ? fmin(1, bound) : low[i];
    }
}

bool calibrated_bands(const struct scenario *scenario, const char *const *rows, size_t count, double *low,
                      double *high)
{
    struct calibrated_graph graph;
    struct error ignored;
    if (!scenario->calibrated || !count || !calibrated_graph_build(scenario, rows, count, &graph, &ignored))
        return false;
    double *inputs = arena_array(scenario->arena, graph.graph.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < graph.graph.input_count; i++)
        inputs[i] = graph.graph.inputs[i].value;
    calibrated_intervals(scenario->arena, scenario->calibrated, &graph, inputs, low, high);
    return true;
}
