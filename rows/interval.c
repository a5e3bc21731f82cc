/* Intervals: bounds of a graph over a box of inputs.
 *
 * 1. Every node's interval, forward. Rounding to nearest is monotone, so the ends need
 *    no widening except for exp, log and pow, whose last digit is not guaranteed.
 * 2. Every node's derivative interval, backward.
 *    (A ROOT claims nothing about its derivative.)
 * 3. Inputs along which the derivative keeps its sign are put to the end that makes the
 *    output least (then largest), and 1 is repeated: exact when that is all of them, but
 *    for the last digits, by which points inside may round past a corner. */
#include "rows/run.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct interval span;

static const span all = { -INFINITY, INFINITY };
static const span zero = { 0, 0 };

static span hull(span a, span b)
{
    return (span){ fmin(a.low, b.low), fmax(a.high, b.high) };
}

static double times(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b;            /* 0 * inf is 0 here */
}

static span span_mul(span a, span b)
{
    double p = times(a.low, b.low), q = times(a.low, b.high);
    double r = times(a.high, b.low), s = times(a.high, b.high);
    return (span){ fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s)) };
}

static span span_div(span a, span b)
{
    if (b.low < 0 && b.high > 0)
        return (span){ -INFINITY, INFINITY };
    if (b.low == 0 && b.high == 0)
        return (span){ -INFINITY, INFINITY };
    if (b.low == 0 || b.high == 0) {                /* touches zero on one side */
        double end = b.low == 0 ? b.high : b.low, far = b.low == 0 ? INFINITY : -INFINITY;
        double p = a.low / end, q = a.high / end, r = times(a.low, far), s = times(a.high, far);
        return (span){ fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s)) };
    }
    double p = a.low / b.low, q = a.low / b.high, r = a.high / b.low, s = a.high / b.high;
    return (span){ fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s)) };
}

static span widen(span a)
{
    return (span){ a.low - fabs(a.low) * 4 * DBL_EPSILON, a.high + fabs(a.high) * 4 * DBL_EPSILON };
}

static span span_pow(span a, span b)
{
    if (a.low > 0) {
        double p = scalar_pow(a.low, b.low), q = scalar_pow(a.low, b.high);
        double r = scalar_pow(a.high, b.low), s = scalar_pow(a.high, b.high);
        return widen((span){ fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s)) });
    }
    if (a.low == 0 && b.low > 0)
        return widen((span){ 0, fmax(scalar_pow(a.high, b.low), scalar_pow(a.high, b.high)) });
    bool even = b.low == b.high && fmod(b.low, 2) == 0 && b.low > 0;
    bool odd = b.low == b.high && fabs(fmod(b.low, 2)) == 1 && b.low > 0;
    if (odd)
        return widen((span){ scalar_pow(a.low, b.low), scalar_pow(a.high, b.low) });
    if (even) {
        double p = scalar_pow(a.low, b.low), q = scalar_pow(a.high, b.low);
        return widen((span){ a.low <= 0 && a.high >= 0 ? 0 : fmin(p, q), fmax(p, q) });
    }
    return (span){ -INFINITY, INFINITY };
}

static span span_abs(span a)
{
    if (a.low >= 0)
        return a;
    return a.high <= 0 ? (span){ -a.high, -a.low } : (span){ 0, fmax(-a.low, a.high) };
}

/* Is `b`, of which nothing is known, multiplied by 0? It may be infinite, as after a division by 0; then the product is
 * no number, and a comparison with it is false. */
static bool nothing_known(span a, span b)
{
    return a.low == 0 && a.high == 0 && b.low == -INFINITY && b.high == INFINITY;
}

/* Conditions: {1,1} surely, {0,0} surely not, {0,1} either. */
static span truth(bool surely, bool never)
{
    return (span){ surely ? 1 : 0, never ? 0 : 1 };
}

static span root_span(const struct graph *graph, size_t root, const bool *needed, span *values);

static span forward_node(const struct graph *graph, size_t i, const span *v)
{
    const struct node *node = &graph->nodes[i];
    const span none = { 0, 0 };
    const span a = node->a < 0 ? none : v[node->a], b = node->b < 0 ? none : v[node->b];
    const span c = node->c < 0 ? none : v[node->c];
    switch (node->op) {
    case OP_NUMBER: return (span){ node->value, node->value };
    case OP_ADD:    return (span){ a.low + b.low, a.high + b.high };
    case OP_SUB:    return (span){ a.low - b.high, a.high - b.low };
    case OP_MUL:    return nothing_known(a, b) || nothing_known(b, a) ? all : span_mul(a, b);
    case OP_DIV:    return span_div(a, b);
    case OP_NEG:    return (span){ -a.high, -a.low };
    case OP_MAX:    return (span){ fmax(a.low, b.low), fmax(a.high, b.high) };
    case OP_MIN:    return (span){ fmin(a.low, b.low), fmin(a.high, b.high) };
    case OP_EXP:    return widen((span){ scalar_exp(a.low), scalar_exp(a.high) });
    case OP_LOG:    return widen((span){ a.low > 0 ? scalar_log(a.low) : -INFINITY,
                                         a.high > 0 ? scalar_log(a.high) : -INFINITY });
    case OP_SQRT:   return (span){ sqrt(fmax(a.low, 0)), sqrt(fmax(a.high, 0)) };
    case OP_POW:    return span_pow(a, b);
    case OP_FLOOR:  return (span){ floor(a.low), floor(a.high) };
    case OP_CEIL:   return (span){ ceil(a.low), ceil(a.high) };
    case OP_ABS:    return span_abs(a);
    case OP_LESS:   return truth(a.high < b.low, a.low >= b.high);
    case OP_ATMOST: return truth(a.high <= b.low, a.low > b.high);
    case OP_BOTH:   return (span){ fmin(a.low, b.low), fmin(a.high, b.high) };
    case OP_EITHER: return (span){ fmax(a.low, b.low), fmax(a.high, b.high) };
    case OP_SELECT: return a.low == 1 ? b : a.high == 0 ? c : hull(b, c);
    default:        return none;
    }
}

static void forward_range(const struct graph *graph, size_t first, size_t last,
                          const bool *needed, span *values)
{
    for (size_t i = first; i <= last; i++) {
        const struct node *node = &graph->nodes[i];
        if (node->op == OP_INPUT || !needed[i])
            continue;
        if (node->op == OP_VAR)                     /* its body belongs to the ROOT */
            values[i] = hull(values[node->a], values[node->b]);
        else if (node->op == OP_ROOT)
            values[i] = root_span(graph, i, needed, values);
        else
            values[i] = forward_node(graph, i, values);
        if (isnan(values[i].low) || isnan(values[i].high))
            values[i] = (span){ -INFINITY, INFINITY };
    }
}

/* Pieces of the bracket whose f cannot be zero are cut off at both ends. */
static span root_span(const struct graph *graph, size_t root, const bool *needed, span *values)
{
    const struct node *node = &graph->nodes[root];
    const size_t first = (size_t)node->first, f = (size_t)node->c;
    enum { PIECES = 16, TURNS = 12 };
    span bracket = hull(values[node->a], values[node->b]);
    for (int turn = 0; turn < TURNS; turn++) {
        span kept = { INFINITY, -INFINITY };
        for (int k = 0; k < PIECES; k++) {
            double width = bracket.high - bracket.low;
            span piece = { bracket.low + width * k / PIECES,
                           k == PIECES - 1 ? bracket.high
                                           : bracket.low + width * (k + 1) / PIECES };
            values[first] = piece;
            if (f > first)
                forward_range(graph, first + 1, root - 1, needed, values);
            if (values[f].low <= 0 && values[f].high >= 0)
                kept = hull(kept, piece);
        }
        if (kept.low > kept.high)
            break;                                  /* no root; keep what we had */
        bracket = kept;
    }
    values[first] = bracket;
    if (f > first)
        forward_range(graph, first + 1, root - 1, needed, values);
    return widen(bracket);
}

/* ---- derivatives --------------------------------------------------------------------------- */

static void give_adjoint(span *adjoint, int node, span amount)
{
    if (node < 0)
        return;
    adjoint[node].low += amount.low;
    adjoint[node].high += amount.high;
    if (isnan(adjoint[node].low) || isnan(adjoint[node].high))
        adjoint[node] = all;
}

static void backward_pow(const struct node *node, const span *v, span own, span d, span *adjoint)
{
    const span a = v[node->a], b = v[node->b];
    if (a.low > 0) {
        give_adjoint(adjoint, node->a, span_mul(d, span_div(span_mul(b, own), a)));
        give_adjoint(adjoint, node->b,
                     span_mul(d, span_mul(own, (span){ scalar_log(a.low), scalar_log(a.high) })));
    } else {
        bool grows = a.low == 0 && b.low > 0;       /* x^y grows with x when y > 0 */
        give_adjoint(adjoint, node->a, grows ? span_mul(d, (span){ 0, INFINITY }) : all);
        bool below_one = a.low == 0 && a.high <= 1 && b.low > 0;
        give_adjoint(adjoint, node->b, below_one ? span_mul(d, (span){ -INFINITY, 0 }) : all);
    }
}

static void backward_node(const struct graph *graph, size_t i, const span *v, span *adjoint)
{
    const struct node *node = &graph->nodes[i];
    const span d = adjoint[i];
    const int ia = node->a, ib = node->b;
    const span a = ia < 0 ? zero : v[ia], b = ib < 0 ? zero : v[ib];
    if (d.low == 0 && d.high == 0)
        return;
    switch (node->op) {
    case OP_ADD: give_adjoint(adjoint, ia, d); give_adjoint(adjoint, ib, d); break;
    case OP_SUB: give_adjoint(adjoint, ia, d); give_adjoint(adjoint, ib, (span){ -d.high, -d.low }); break;
    case OP_MUL: give_adjoint(adjoint, ia, span_mul(d, b)); give_adjoint(adjoint, ib, span_mul(d, a)); break;
    case OP_DIV:
        give_adjoint(adjoint, ia, span_div(d, b));
        give_adjoint(adjoint, ib, span_mul((span){ -d.high, -d.low }, span_div(v[i], b)));
        break;
    case OP_NEG: give_adjoint(adjoint, ia, (span){ -d.high, -d.low }); break;
    case OP_MAX: case OP_MIN: {
        bool max = node->op == OP_MAX;
        bool first = max ? a.low > b.high : a.high < b.low;
        bool second = max ? b.low > a.high : b.high < a.low;
        give_adjoint(adjoint, ia, first ? d : second ? zero : hull(zero, d));
        give_adjoint(adjoint, ib, second ? d : first ? zero : hull(zero, d));
        break;
    }
    case OP_EXP:  give_adjoint(adjoint, ia, span_mul(d, v[i])); break;
    case OP_LOG:  give_adjoint(adjoint, ia, a.low > 0 ? span_div(d, a) : all); break;
    case OP_SQRT: give_adjoint(adjoint, ia, v[i].low > 0
                                    ? span_div(d, span_mul((span){ 2, 2 }, v[i])) : all); break;
    case OP_POW:  backward_pow(node, v, v[i], d, adjoint); break;
    case OP_ABS:
        give_adjoint(adjoint, ia, a.low >= 0 ? d : a.high <= 0 ? (span){ -d.high, -d.low }
                                                       : span_mul(d, (span){ -1, 1 }));
        break;
    case OP_FLOOR: case OP_CEIL:                    /* steps, but never the other way */
        if (a.low != a.high)
            give_adjoint(adjoint, ia, span_mul(d, (span){ 0, INFINITY }));
        break;
    case OP_SELECT:
        if (v[ia].low != v[ia].high)                /* the condition may flip: it may jump */
            give_adjoint(adjoint, ia, all);
        give_adjoint(adjoint, ib, v[ia].low == 1 ? d : v[ia].high == 0 ? zero : hull(zero, d));
        give_adjoint(adjoint, node->c, v[ia].high == 0 ? d : v[ia].low == 1 ? zero : hull(zero, d));
        break;
    case OP_LESS: case OP_ATMOST: case OP_BOTH: case OP_EITHER: case OP_ROOT:
        give_adjoint(adjoint, ia, all);                     /* no claim */
        give_adjoint(adjoint, ib, all);
        give_adjoint(adjoint, node->c, node->op == OP_ROOT ? all : zero);
        break;
    default: break;
    }
}

static void backward(const struct graph *graph, size_t top, const span *values, span *adjoint)
{
    memset(adjoint, 0, graph->count * sizeof *adjoint);
    adjoint[top] = (span){ 1, 1 };
    for (size_t i = top + 1; i-- > 0;)
        backward_node(graph, i, values, adjoint);
}

/* Which end of each input makes the output least: -1 the low, +1 the high, 0 unknown. */
static void signs(const struct graph *graph, size_t top, const span *values, span *adjoint,
                  int *sign)
{
    backward(graph, top, values, adjoint);
    for (size_t i = 0; i < graph->input_count; i++) {
        span d = adjoint[graph->inputs[i].node];
        sign[i] = d.low >= 0 ? -1 : d.high <= 0 ? 1 : 0;
    }
}

/* What the last digits of all nodes that vary, or of the numbers too, may add up to in the output. */
static double rounding(const struct graph *graph, size_t top, const span *values,
                       const span *adjoint, bool numbers_too)
{
    double sum = 0;
    for (size_t i = 0; i <= top; i++) {
        double size = fmax(fabs(values[i].low), fabs(values[i].high));
        double weight = fmax(fabs(adjoint[i].low), fabs(adjoint[i].high));
        if (graph->nodes[i].op != OP_INPUT && (numbers_too || values[i].low != values[i].high) &&
            isfinite(size * weight))
            sum += size * weight * 2 * DBL_EPSILON;
    }
    return sum;
}

static span corner(const struct graph *graph, size_t top, const span *inputs, const int *sign,
                   int side, const bool *needed, span *values)
{
    for (size_t i = 0; i < graph->input_count; i++) {
        double end = sign[i] * side < 0 ? inputs[i].low : inputs[i].high;
        values[graph->inputs[i].node] = sign[i] ? (span){ end, end } : inputs[i];
    }
    forward_range(graph, 0, top, needed, values);
    return values[top];
}

/* What the output reads: a graph may hold many others. */
static void mark_needed(const struct graph *graph, size_t top, bool *needed)
{
    needed[top] = true;
    for (size_t i = top + 1; i-- > 0;) {
        const int kids[] = { graph->nodes[i].a, graph->nodes[i].b, graph->nodes[i].c };
        for (int k = 0; k < 3 && needed[i]; k++)
            if (kids[k] >= 0)
                needed[kids[k]] = true;
    }
}

void bounds_open(struct bounds *bounds, struct arena *arena, const struct graph *graph, size_t output)
{
    *bounds = (struct bounds){ .graph = graph, .top = (size_t)graph->outputs[output] };
    bounds->values = arena_array(arena, graph->count + 1, sizeof *bounds->values);
    bounds->adjoint = arena_array(arena, graph->count + 1, sizeof *bounds->adjoint);
    bounds->needed = arena_array(arena, graph->count + 1, sizeof *bounds->needed);
    mark_needed(graph, bounds->top, bounds->needed);
}

struct interval bounds_read(struct bounds *bounds, const struct interval *inputs)
{
    const struct graph *graph = bounds->graph;
    for (size_t i = 0; i < graph->input_count; i++)
        bounds->values[graph->inputs[i].node] = inputs[i];
    forward_range(graph, 0, bounds->top, bounds->needed, bounds->values);
    return bounds->values[bounds->top];
}

void bounds_node(struct bounds *bounds, size_t node)
{
    forward_range(bounds->graph, node, node, bounds->needed, bounds->values);
}

struct interval bounds_slope(struct bounds *bounds, size_t input)
{
    backward(bounds->graph, bounds->top, bounds->values, bounds->adjoint);
    return bounds->adjoint[bounds->graph->inputs[input].node];
}

double bounds_rounding(const struct bounds *bounds)
{
    return rounding(bounds->graph, bounds->top, bounds->values, bounds->adjoint, true);
}

struct interval graph_interval(struct arena *arena, const struct graph *graph, size_t output,
                               const struct interval *inputs)
{
    struct arena scratch = arena_beside(arena);
    struct bounds bounds;
    bounds_open(&bounds, &scratch, graph, output);
    const size_t top = bounds.top;
    int *sign = arena_array(&scratch, graph->input_count + 1, sizeof *sign);
    span plain = bounds_read(&bounds, inputs);
    signs(graph, top, bounds.values, bounds.adjoint, sign);
    double slack = rounding(graph, top, bounds.values, bounds.adjoint, false);
    span low = corner(graph, top, inputs, sign, 1, bounds.needed, bounds.values);
    span high = corner(graph, top, inputs, sign, -1, bounds.needed, bounds.values);
    arena_free(&scratch);
    return (span){ fmax(plain.low, low.low - slack), fmin(plain.high, high.high + slack) };
}
