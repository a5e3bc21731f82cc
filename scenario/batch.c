/* The lecture's operating point: a whole scale-up domain as one machine, at the batch from which
 * more sequences make a token hardly cheaper. */
#include "scenario/scenario.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

enum { GRID = 384 };
static const double near_lowest = 1.25;

/* The smallest batch, among those that fit, within 25 % of the lowest cost. The grid is
 * even in the logarithm; the whole number is then found between two of its points. */
static double cheap_batch(const struct values *values, size_t input, double most)
{
    double x[GRID], cost[GRID], least = INFINITY;
    struct arena scratch = { 0 };
    const struct graph *graph = &values->graph;
    struct column *columns = arena_array(&scratch, graph->input_count, sizeof *columns);
    double *outputs[1] = { cost };
    for (size_t i = 0; i < graph->input_count; i++)
        columns[i] = (struct column){ &values->inputs[i], 0 };
    columns[input] = (struct column){ x, 1 };
    for (int i = 0; i < GRID; i++)
        x[i] = floor(log_between(1, most, (double)i / (GRID - 1)) + 0.5);
    graph_run(graph, columns, outputs, GRID);
    for (int i = 0; i < GRID; i++)
        least = cost[i] < least ? cost[i] : least;
    int first = 0;
    while (first < GRID - 1 && !(cost[first] <= near_lowest * least))
        first++;
    double low = first ? x[first - 1] : x[first], high = x[first];
    double *inputs = arena_array(&scratch, graph->input_count, sizeof *inputs);
    memcpy(inputs, values->inputs, graph->input_count * sizeof *inputs);
    while (high - low > 1) {
        double at;
        inputs[input] = floor((low + high) / 2);
        graph_value(&scratch, graph, inputs, NULL, &at);
        if (at <= near_lowest * least)
            high = inputs[input];
        else
            low = inputs[input];
    }
    arena_free(&scratch);
    return high;
}

bool scenario_batch(struct scenario *scenario, struct error *error)
{
    double room;
    if (!value_of(scenario, NAME_batch_that_fits, &room, error))
        return false;
    double most = fmin(floor(room), 1e6);
    struct values values;
    static const char *const cost[] = { NAME_bound_cost_per_token };
    facts_set(&scenario->facts, NAME_batch, 1, ORIGIN_CHOSEN, "assumed");
    if (!values_of(scenario, cost, 1, &values, error))
        return false;
    const int price = graph_input(&values.graph, NAME_chip_price);
    if (price >= 0 && isnan(values.inputs[price]))
        values.inputs[price] = 1;                   /* the same batch at any price */
    int input = graph_input(&values.graph, NAME_batch);
    double batch = input < 0 || most < 2 ? 1 : cheap_batch(&values, (size_t)input, most);
    facts_set(&scenario->facts, NAME_batch, batch, ORIGIN_CHOSEN, "assumed");
    if (most < 1)
        facts_note(&scenario->facts, "batch 1: no batch fits in memory");
    else
        facts_note(&scenario->facts, "batch %s: the smallest within 25 %% of the lowest cost",
                   quantity_text(scenario->arena, batch, unit_one, 9));
    return true;
}

bool scenario_lecture(const struct scenario *of, struct scenario *lecture, struct error *error)
{
    static const char *const whole[] = { NAME_pipeline_parallel, NAME_attention_dp };
    struct facts *facts = &lecture->facts;
    *lecture = *of;
    *facts = facts_copy(&of->facts);
    for (size_t i = 0; i < facts->scalar_count;)
        if (facts->scalars[i].origin == ORIGIN_CHOSEN)
            facts_remove(facts, facts->scalars[i].name);
        else
            i++;
    facts_remove(facts, NAME_users);            /* the lecture's load is a batch */
    facts_remove(facts, NAME_concurrency);
    if (!facts_find(facts, NAME_chips) && !facts_find(facts, NAME_tensor_parallel))
        facts_bind(facts, NAME_chips, NAME_scale_up_chips, ORIGIN_CHOSEN, "the lecture's domain");
    for (size_t i = 0; i < 2; i++)              /* so that its words leave nothing to choose */
        if (!facts_find(facts, whole[i]))
            facts_set(facts, whole[i], value_or_nan(lecture, whole[i]), ORIGIN_CHOSEN, "the lecture's domain");
    return facts_find(facts, NAME_batch) || scenario_batch(lecture, error);
}
