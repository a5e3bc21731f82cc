/* Equal terms: is an output the difference of one term and itself within a box?
 *
 * Nodes are read in order as intervals, and each gets the first node that has the same value
 * everywhere in the box: of a max or a select whose choice is the same in all of the box the node
 * that is chosen, of a product with one the other factor, of the same operator on the same nodes
 * the first such node. Then x - x is 0 and x / x is 1, whatever x does. What is inside of the loop
 * of a ROOT stands for itself alone. */
#include "rows/run.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct same {
    const struct graph *graph;
    struct interval *values;
    int *as;                        /* [count] the first node with the same value */
    int *known;                     /* hash of nodes + 1 */
    size_t known_size;
};

static bool is_number(struct interval x)
{
    return x.low == x.high && isfinite(x.low);
}

static bool is_value(struct interval x, double value)
{
    return x.low == value && x.high == value;
}

static bool is_bounded(struct interval x)
{
    return isfinite(x.low) && isfinite(x.high);
}

static bool equal(const struct same *same, int i, int k)
{
    const struct interval x = same->values[i], y = same->values[k];
    return same->as[i] == same->as[k] || (is_number(x) && is_number(y) && x.low == y.low);
}

/* The operand whose value the node has, or -1. */
static int operand_of(const struct same *same, const struct node *node)
{
    const int a = node->a, b = node->b;
    if (a < 0 || b < 0)
        return -1;
    const struct interval x = same->values[a], y = same->values[b];
    switch (node->op) {
    case OP_ADD: return is_value(x, 0) ? b : is_value(y, 0) ? a : -1;
    case OP_SUB: return is_value(y, 0) ? a : -1;
    case OP_MUL: return is_value(x, 1) ? b : is_value(y, 1) ? a : -1;
    case OP_DIV: return is_value(y, 1) ? a : -1;
    case OP_MAX: return x.low >= y.high || equal(same, a, b) ? a : y.low >= x.high ? b : -1;
    case OP_MIN: return x.high <= y.low || equal(same, a, b) ? a : y.high <= x.low ? b : -1;
    case OP_SELECT:
        return x.low == 1 ? b : x.high == 0 ? node->c : equal(same, b, node->c) ? b : -1;
    default: return -1;
    }
}

static bool same_operation(const struct same *same, const struct node *a, const struct node *b)
{
    const int ka[] = { a->a, a->b, a->c }, kb[] = { b->a, b->b, b->c };
    if (a->op != b->op)
        return false;
    for (int k = 0; k < 3; k++)
        if ((ka[k] < 0) != (kb[k] < 0) || (ka[k] >= 0 && !equal(same, ka[k], kb[k])))
            return false;
    return true;
}

/* The first node of this operation. */
static int first_of(struct same *same, int i)
{
    const struct node *node = &same->graph->nodes[i];
    const int kids[] = { node->a, node->b, node->c };
    uint64_t hash = (uint64_t)node->op;
    for (int k = 0; k < 3; k++) {
        uint64_t bits = 0;
        if (kids[k] >= 0 && is_number(same->values[kids[k]]))
            memcpy(&bits, &same->values[kids[k]].low, sizeof bits);
        else if (kids[k] >= 0)
            bits = (uint64_t)same->as[kids[k]] + 1;
        hash = (hash ^ bits ^ bits >> 32) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    size_t at = hash & (same->known_size - 1);
    for (; same->known[at]; at = (at + 1) & (same->known_size - 1))
        if (same_operation(same, &same->graph->nodes[same->known[at] - 1], node))
            return same->known[at] - 1;
    same->known[at] = i + 1;
    return i;
}

/* A bound that is one number by rounding alone, as that of 1 + x for a tiny x, is none. */
static void part_rounded(const struct same *same, const struct node *node, struct interval *value)
{
    const int kids[] = { node->a, node->b };
    bool numbers = true, zero = false;
    if (!is_number(*value) || (node->op >= OP_FLOOR && node->op != OP_POW))
        return;
    for (int k = 0; k < 2; k++)
        if (kids[k] >= 0) {
            numbers &= is_number(same->values[kids[k]]);
            zero |= is_value(same->values[kids[k]], 0);
        }
    if (numbers || (zero && (node->op == OP_MUL || node->op == OP_DIV)))
        return;
    value->low = nextafter(value->low, -INFINITY);
    value->high = nextafter(value->high, INFINITY);
}

static void read_node(struct same *same, struct bounds *bounds, int i, bool alone)
{
    const struct node *node = &same->graph->nodes[i];
    struct interval *value = &same->values[i];
    same->as[i] = i;
    bounds_node(bounds, (size_t)i);
    if (alone || node->op == OP_NUMBER || node->op == OP_INPUT)
        return;
    const int operand = operand_of(same, node);
    if (operand >= 0) {
        same->as[i] = same->as[operand];
        *value = same->values[operand];
    } else if (node->op == OP_SUB && equal(same, node->a, node->b) &&
               is_bounded(same->values[node->a])) {
        *value = (struct interval){ 0, 0 };
    } else if (node->op == OP_DIV && equal(same, node->a, node->b) &&
               is_bounded(same->values[node->a]) &&
               (same->values[node->a].low > 0 || same->values[node->a].high < 0)) {
        *value = (struct interval){ 1, 1 };
    } else {
        part_rounded(same, node, value);
        if (!is_number(*value))
            same->as[i] = first_of(same, i);
    }
}

bool bounds_same(struct arena *arena, struct bounds *bounds, const struct interval *inputs)
{
    struct arena scratch = arena_beside(arena);
    const struct graph *graph = bounds->graph;
    struct same same = { .graph = graph, .values = bounds->values, .known_size = 16 };
    bool *alone = arena_array(&scratch, graph->count + 1, sizeof *alone);
    while (same.known_size < 2 * graph->count)
        same.known_size *= 2;
    same.as = arena_array(&scratch, graph->count + 1, sizeof *same.as);
    same.known = arena_array(&scratch, same.known_size, sizeof *same.known);
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = graph->nodes[i].op == OP_ROOT ? (size_t)graph->nodes[i].first : i + 1;
             k <= i; k++)
            alone[k] = true;
    for (size_t i = 0; i < graph->input_count; i++)
        same.values[graph->inputs[i].node] = inputs[i];
    for (size_t i = 0; i <= bounds->top; i++)
        if (bounds->needed[i])
            read_node(&same, bounds, (int)i, alone[i]);
    const struct interval value = same.values[bounds->top];
    const struct node *top = &graph->nodes[bounds->top];
    double size = 0;
    if (top->op == OP_SUB)
        size = fmax(fabs(same.values[top->a].low), fabs(same.values[top->a].high));
    arena_free(&scratch);
    /* Two numbers that were computed on different ways may differ in their last digits. */
    return is_number(value) && fabs(value.low) <= 8 * DBL_EPSILON * size;
}
