/* Breakdowns: what the rows that have a part name contribute to an output.
 *
 * Such a row stands in the graph of graph_build_parts as scale * row. The contribution of the part
 * is the derivative of the output by its scale, every ROOT held at its value. A time is made of
 * times by + - max min sqrt(a b) and by factors without time, which makes it of degree one in its
 * parts, and by Euler's theorem the contributions add up to it, overlap included. What a constant
 * outside of all parts adds is left over.
 *
 * What is saved if a part takes no time is another question: there every ROOT is solved again. It
 * is one run over a column for each part, in which only its scale is 0, after one with none. */
#include "rows/run.h"

#include <math.h>
#include <stdlib.h>

static int largest_first(const void *a, const void *b)
{
    const struct contribution *x = a, *y = b;
    const double p = fabs(x->value), q = fabs(y->value);
    return p < q ? 1 : p > q ? -1 : (x->row > y->row) - (x->row < y->row);
}

struct contribution *graph_breakdown(struct arena *arena, const struct formulas *formulas,
                                     const struct graph *graph, size_t output, const double *nodes,
                                     size_t *count)
{
    struct contribution *parts = arena_array(arena, graph->input_count + 1, sizeof *parts);
    struct arena scratch = arena_beside(arena);
    double *slope = arena_array(&scratch, graph->input_count + 1, sizeof *slope);
    graph_slopes_held(&scratch, graph, output, nodes, slope);
    *count = 0;
    for (size_t i = 0; i < graph->input_count; i++) {
        const int row = graph->inputs[i].row;
        if (graph->inputs[i].entry == INPUT_SCALE && slope[i] != 0)
            parts[(*count)++] = (struct contribution){ row, row_part(formulas_row(formulas, row)), slope[i], NAN };
    }
    arena_free(&scratch);
    qsort(parts, *count, sizeof *parts, largest_first);
    return parts;
}

/* The place of the part whose scale an input is; `count`: of none. */
static size_t part_of(const struct input *input, const struct contribution *parts, size_t count)
{
    size_t i = 0;
    while (i < count && (input->entry != INPUT_SCALE || input->row != parts[i].row))
        i++;
    return i;
}

void graph_saved(const struct graph *graph, size_t output, const double *nodes,
                 struct contribution *parts, size_t count)
{
    struct arena scratch = { 0 };
    bool *vary = arena_array(&scratch, graph->input_count + 1, sizeof *vary);
    double *values = arena_array(&scratch, count + 1, sizeof *values);
    struct graph one = *graph, left;
    one.outputs += output;
    one.output_count = 1;
    for (size_t i = 0; i < graph->input_count; i++)
        vary[i] = part_of(&graph->inputs[i], parts, count) < count;
    graph_specialize_nodes(&scratch, &one, nodes, vary, &left);
    struct column *columns = arena_array(&scratch, left.input_count + 1, sizeof *columns);
    for (size_t i = 0; i < left.input_count; i++) {
        const size_t part = part_of(&left.inputs[i], parts, count);
        double *scale = arena_array(&scratch, count + 1, sizeof *scale);
        for (size_t k = 0; k <= count; k++)
            scale[k] = k != part + 1;
        columns[i] = (struct column){ scale, 1 };
    }
    graph_run(&left, columns, &values, count + 1);
    for (size_t k = 0; k < count; k++)
        parts[k].saved = isfinite(values[k + 1]) ? values[0] - values[k + 1] : NAN;
    arena_free(&scratch);
}
