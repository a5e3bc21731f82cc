/* No evaluator: the whole graph is interpreted at each point. */
#include "rows/point.h"

#include <string.h>

struct point {
    const struct graph *graph;
    const double *values;
    const bool *vary;
};

struct point *point_open(struct arena *arena, const struct graph *graph, const double *values, const bool *vary,
                         const struct interval *const *usual, size_t count)
{
    struct point *point = arena_alloc(arena, sizeof *point);
    double *fixed = arena_array(arena, graph->input_count + 1, sizeof *fixed);
    bool *moves = arena_array(arena, graph->input_count + 1, sizeof *moves);
    memcpy(fixed, values, graph->input_count * sizeof *fixed);
    memcpy(moves, vary, graph->input_count * sizeof *moves);
    *point = (struct point){ graph, fixed, moves };
    (void)usual, (void)count;
    return point;
}

double point_value(struct point *point, const double *inputs)
{
    struct arena scratch = { 0 };
    double value, *at = arena_array(&scratch, point->graph->input_count + 1, sizeof *at);
    for (size_t i = 0; i < point->graph->input_count; i++)
        at[i] = point->vary[i] ? inputs[i] : point->values[i];
    graph_value(&scratch, point->graph, at, NULL, &value);
    arena_free(&scratch);
    return value;
}
