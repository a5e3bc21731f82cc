/* point -- an output of a graph at one point after another, of which few inputs differ from the point before: the clock of
 * a simulation, or of whoever asks for the time of a step.
 *
 * Inputs that stay are fixed first, and the graph is made smaller by them. It is made smaller once more for each kind of
 * points of which there are many, whose inputs lie in a range (steps without a prompt, steps with decodes and a prompt). Of
 * all these graphs, only the nodes that depend on a changed input are computed. Values have the bits of graph_value at the same inputs.
 *
 * Inputs and value are in base units, as the rows have them: s, B, token. An evaluator keeps the values of the point
 * before, so each thread needs one of its own; the graph may be shared. It is made in an arena, and asks for no memory
 * afterwards. tests/plain/point.c evaluates the whole graph at each point. */
#ifndef ROWS_POINT_H
#define ROWS_POINT_H

#include "rows/rows.h"

struct point;

/* An evaluator of the graph's first output. Inputs [graph->input_count] vary, or are fixed at their values. For each of
 * `count` kinds of points, usual[k] has the range of each input that varies; the first kind that a point is of counts. */
enum { POINT_KINDS = 2 };           /* at most */
struct point *point_open(struct arena *arena, const struct graph *graph, const double *values, const bool *vary,
                         const struct interval *const *usual, size_t count);

/* The output where the inputs are these, in the order of the graph; those that are fixed are not read. */
double point_value(struct point *point, const double *inputs);

#endif
