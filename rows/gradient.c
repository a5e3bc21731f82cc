/* Derivatives, reverse mode: one sweep back over the nodes gives d output / d input for
 * every input.
 *
 * At a kink (max of equals, floor, select) it is the derivative of the side the value
 * took. A ROOT x(p) of f(x, p) = 0 has dx/dp = -(df/dp) / (df/dx): its body is swept
 * once alone for df/dx, then again with the adjoint -1/(df/dx). Or it is held at its value. */
#include "rows/run.h"

#include <float.h>
#include <math.h>

struct gradient_sweep {
    struct arena *arena;
    const struct graph *graph;
    const double *value;
    double *adjoint;
    bool held;                      /* a ROOT is a number */
};

static void give_adjoint(struct gradient_sweep *sweep, int node, double amount)
{
    if (node >= 0 && amount != 0)
        sweep->adjoint[node] += amount;
}

static void sweep_node(struct gradient_sweep *sweep, size_t i)
{
    const struct node *node = &sweep->graph->nodes[i];
    const double *v = sweep->value;
    const double d = sweep->adjoint[i];
    const int a = node->a, b = node->b;
    if (d == 0)
        return;                                     /* a branch not taken may hold no number */
    switch (node->op) {
    case OP_ADD:  give_adjoint(sweep, a, d); give_adjoint(sweep, b, d); break;
    case OP_SUB:  give_adjoint(sweep, a, d); give_adjoint(sweep, b, -d); break;
    case OP_MUL:  give_adjoint(sweep, a, d * v[b]); give_adjoint(sweep, b, d * v[a]); break;
    case OP_DIV:  give_adjoint(sweep, a, d / v[b]); give_adjoint(sweep, b, -d * v[i] / v[b]); break;
    case OP_NEG:  give_adjoint(sweep, a, -d); break;
    case OP_MAX:  give_adjoint(sweep, v[a] > v[b] ? a : b, d); break;
    case OP_MIN:  give_adjoint(sweep, v[a] < v[b] ? a : b, d); break;
    case OP_EXP:  give_adjoint(sweep, a, d * v[i]); break;
    case OP_LOG:  give_adjoint(sweep, a, d / v[a]); break;
    case OP_SQRT: give_adjoint(sweep, a, d * 0.5 / v[i]); break;
    case OP_POW:
        give_adjoint(sweep, a, v[a] != 0 ? d * v[b] * v[i] / v[a] : v[b] == 1 ? d : 0);
        give_adjoint(sweep, b, v[a] > 0 ? d * v[i] * scalar_log(v[a]) : 0);
        break;
    case OP_ABS:    give_adjoint(sweep, a, v[a] < 0 ? -d : d); break;
    case OP_SELECT: give_adjoint(sweep, v[a] != 0 ? b : node->c, d); break;
    default: break;
    }
}

static void sweep_root(struct gradient_sweep *sweep, size_t root);

/* From `last` down to `first`, both included. */
static void sweep_range(struct gradient_sweep *sweep, size_t first, size_t last)
{
    for (size_t i = last + 1; i-- > first;) {
        if (sweep->graph->nodes[i].op != OP_ROOT) {
            sweep_node(sweep, i);
            continue;
        }
        if (!sweep->held)
            sweep_root(sweep, i);
        i = (size_t)sweep->graph->nodes[i].first;
    }
}

static void sweep_root(struct gradient_sweep *sweep, size_t root)
{
    const struct node *node = &sweep->graph->nodes[root];
    const size_t first = (size_t)node->first, f = (size_t)node->c;
    const double d = sweep->adjoint[root];
    struct arena scratch = arena_beside(sweep->arena);
    struct gradient_sweep alone = *sweep;
    if (d == 0 || f < first)
        return;
    alone.adjoint = arena_array(&scratch, sweep->graph->count, sizeof(double));
    alone.adjoint[f] = 1;
    sweep_range(&alone, first, root - 1);
    const double slope = alone.adjoint[first];
    arena_free(&scratch);
    if (slope == 0)
        return;
    for (size_t i = first; i < root; i++)
        sweep->adjoint[i] = 0;
    sweep->adjoint[f] = -d / slope;
    sweep_range(sweep, first + 1, root - 1);
}

static void slopes(struct arena *arena, const struct graph *graph, size_t output,
                   const double *nodes, bool held, double *gradient)
{
    struct arena scratch = arena_beside(arena);
    double *adjoint = arena_array(&scratch, graph->count + 1, sizeof *adjoint);
    struct gradient_sweep sweep = { arena, graph, nodes, adjoint, held };
    const size_t top = (size_t)graph->outputs[output];
    adjoint[top] = 1;
    sweep_range(&sweep, 0, top);
    for (size_t i = 0; i < graph->input_count; i++)
        gradient[i] = adjoint[graph->inputs[i].node];
    arena_free(&scratch);
}

void graph_slopes(struct arena *arena, const struct graph *graph, size_t output,
                  const double *nodes, double *gradient)
{
    slopes(arena, graph, output, nodes, false, gradient);
}

void graph_slopes_held(struct arena *arena, const struct graph *graph, size_t output,
                       const double *nodes, double *gradient)
{
    slopes(arena, graph, output, nodes, true, gradient);
}

double graph_rounding(struct arena *arena, const struct graph *graph, size_t output,
                      const double *nodes, size_t input, double *slope)
{
    struct arena scratch = arena_beside(arena);
    double *adjoint = arena_array(&scratch, graph->count + 1, sizeof *adjoint), sum = 0;
    struct gradient_sweep sweep = { arena, graph, nodes, adjoint, false };
    const size_t top = (size_t)graph->outputs[output];
    adjoint[top] = 1;
    sweep_range(&sweep, 0, top);
    for (size_t i = 0; i <= top; i++) {
        const double part = fabs(nodes[i] * adjoint[i]);
        if (graph->nodes[i].op != OP_INPUT && isfinite(part))
            sum += part * 2 * DBL_EPSILON;
    }
    *slope = adjoint[graph->inputs[input].node];
    arena_free(&scratch);
    return sum;
}

double graph_gradient(struct arena *arena, const struct graph *graph, size_t output,
                      const double *inputs, double *gradient)
{
    struct arena scratch = arena_beside(arena);
    double *nodes = arena_array(&scratch, graph->count + 1, sizeof *nodes);
    graph_value(&scratch, graph, inputs, nodes, NULL);
    graph_slopes(&scratch, graph, output, nodes, gradient);
    const double result = nodes[graph->outputs[output]];
    arena_free(&scratch);
    return result;
}
