/* Partial evaluation: what is left of a graph when inputs are fixed, or known to lie in a
 * range. Only what has the same bits for every input, NaN and -0 among them, is made
 * simpler; with ranges, for every input inside them. */
#include "rows/nodes.h"
#include "rows/run.h"

#include <math.h>
#include <string.h>

enum { FREE_INPUT = 63 };            /* the bit beside those of the ROOTs' VARs */

/* What a node moves with: an input that varies, the VAR of a ROOT around it. */
static uint64_t free_with(const struct graph *graph, size_t i, const bool *vary,
                          const uint64_t *free)
{
    const struct node *node = &graph->nodes[i];
    if (node->op == OP_INPUT)
        return vary[node->input] ? (uint64_t)1 << FREE_INPUT : 0;
    if (node->op == OP_VAR)
        return (uint64_t)1 << (int)node->value;
    uint64_t with = (node->a < 0 ? 0 : free[node->a]) | (node->b < 0 ? 0 : free[node->b]) |
                    (node->c < 0 ? 0 : free[node->c]);
    return node->op == OP_ROOT ? with & ~free[node->first] : with;
}

static bool is_number(const struct nodes *set, int node, double value)
{
    return node >= 0 && set->nodes[node].op == OP_NUMBER && set->nodes[node].value == value;
}

static bool all_numbers(const struct nodes *set, const struct node *node)
{
    const int kids[] = { node->a, node->b, node->c };
    for (int k = 0; k < 3; k++)
        if (kids[k] >= 0 && set->nodes[kids[k]].op != OP_NUMBER)
            return false;
    return node->a >= 0;
}

/* The operator on numbers, by the loop that graph_value uses. */
static double computed(const struct nodes *set, const struct node *node)
{
    double value[3] = { 0 }, result = 0;
    const int kids[] = { node->a, node->b, node->c };
    for (int k = 0; k < 3; k++)
        if (kids[k] >= 0)
            value[k] = set->nodes[kids[k]].value;
    const struct run_step step = { .op = node->op, .to = &result, .a = &value[0], .b = &value[1],
                               .c = &value[2] };
    run_steps_scalar(&step, 1, 1);
    return result;
}

/* The node that has the same value, or -1. */
static int same_value(const struct nodes *set, const struct node *node)
{
    const int a = node->a, b = node->b;
    switch (node->op) {
    case OP_ADD: return is_number(set, b, 0) && set->known[a].plain ? a
                      : is_number(set, a, 0) && set->known[b].plain ? b : -1;
    case OP_SUB: return is_number(set, b, 0) && set->known[b].plain ? a : -1;
    case OP_MUL: return is_number(set, b, 1) ? a : is_number(set, a, 1) ? b : -1;
    case OP_DIV: return is_number(set, b, 1) ? a : -1;
    case OP_POW: return is_number(set, a, 1) ? a : -1;
    case OP_MAX: case OP_MIN: return a == b ? a : -1;
    case OP_SELECT: return b == node->c ? b : -1;
    default: return -1;
    }
}

/* In the place of a VAR or ROOT stands nothing else. */
static int add_simple(struct nodes *set, const struct node *node)
{
    if (node->op == OP_ROOT || node->op == OP_VAR)
        return nodes_add(set, node);
    if (all_numbers(set, node))
        return nodes_number(set, computed(set, node));
    int same = same_value(set, node);
    return same >= 0 ? same : nodes_add(set, node);
}

/* What is left: the nodes that move, and the numbers that these read. */
struct left {
    const struct graph *graph;
    const double *values;           /* [count] of nodes that stand still */
    struct nodes set;
    int *moved;                     /* [count] the node that is left of each; -1: a number not read yet */
};

static int left_of(struct left *left, int node)
{
    if (node < 0)
        return -1;
    if (left->moved[node] < 0) {
        int number = left->moved[node] = nodes_number(&left->set, left->values[node]);
        if (left->set.nodes[number].row < 0)
            left->set.nodes[number].row = left->graph->nodes[node].row;
    }
    return left->moved[node];
}

/* Fixed nodes become numbers, computed by the same operators; a select whose condition
 * is fixed becomes its branch; then what nobody needs goes. */
static void fix_with(struct arena *arena, struct arena *scratch, const struct graph *graph,
                     const double *values, const uint64_t *free, struct graph *to)
{
    struct left left = { .graph = graph, .values = values, .set.arena = scratch };
    struct nodes *set = &left.set;
    left.moved = arena_array(scratch, graph->count + 1, sizeof *left.moved);
    memset(left.moved, -1, graph->count * sizeof *left.moved);
    for (size_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        if (!free[i])
            continue;
        int a = left_of(&left, node->a), b = left_of(&left, node->b), c = left_of(&left, node->c);
        if (node->op == OP_SELECT && set->nodes[a].op == OP_NUMBER) {
            left.moved[i] = set->nodes[a].value != 0 ? b : c;
        } else if (node->op == OP_INPUT) {
            left.moved[i] = nodes_input(set, graph->inputs[node->input]);
        } else {
            struct node copy = node_of(node->op, a, b, c);
            copy.value = node->value;
            copy.first = left_of(&left, node->first);
            left.moved[i] = add_simple(set, &copy);
        }
        if (set->nodes[left.moved[i]].row < 0)
            set->nodes[left.moved[i]].row = node->row;
    }
    int *wanted = arena_array(scratch, graph->output_count + 1, sizeof *wanted);
    for (size_t i = 0; i < graph->output_count; i++)
        wanted[i] = left_of(&left, graph->outputs[i]);
    nodes_finish(set, wanted, graph->output_count, arena, to, NULL);
}

static uint64_t *free_of(struct arena *arena, const struct graph *graph, const bool *vary)
{
    uint64_t *free = arena_array(arena, graph->count + 1, sizeof *free);
    for (size_t i = 0; i < graph->count; i++)
        free[i] = free_with(graph, i, vary, free);
    return free;
}

/* Nodes that no output is made of need not be looked at. */
static void forget_unread(struct arena *arena, const struct graph *graph, uint64_t *free)
{
    bool *read = arena_array(arena, graph->count + 1, sizeof *read);
    for (size_t i = 0; i < graph->output_count; i++)
        read[graph->outputs[i]] = true;
    for (size_t i = graph->count; i-- > 0;) {
        const struct node *node = &graph->nodes[i];
        const int of[] = { node->a, node->b, node->c, node->first };
        for (int k = 0; k < 4 && read[i]; k++)
            if (of[k] >= 0)
                read[of[k]] = true;
        if (!read[i])
            free[i] = 0;
    }
}

void graph_specialize_nodes(struct arena *arena, const struct graph *graph, const double *nodes,
                            const bool *vary, struct graph *left)
{
    struct arena scratch = arena_beside(arena);
    uint64_t *free = free_of(&scratch, graph, vary);
    forget_unread(&scratch, graph, free);
    fix_with(arena, &scratch, graph, nodes, free, left);
    arena_free(&scratch);
}

void graph_specialize(struct arena *arena, const struct graph *graph, const double *values,
                      const bool *vary, struct graph *left)
{
    struct arena scratch = arena_beside(arena);
    double *nodes = arena_array(&scratch, graph->count + 1, sizeof *nodes);
    graph_value_of(&scratch, graph, values, free_of(&scratch, graph, vary), nodes);
    graph_specialize_nodes(arena, graph, nodes, vary, left);
    arena_free(&scratch);
}

/* The operand that stands in the place of a select; -1: none alone. */
static int select_left(const struct node *node, const double *values, const bool *still)
{
    if (still[node->a])
        return values[node->a] != 0 ? node->b : node->c;
    bool equal = node->b == node->c ||
                 (still[node->b] && still[node->c] &&
                  !memcmp(&values[node->b], &values[node->c], sizeof *values));
    return equal ? node->b : -1;
}

/* What graph_specialize would leave, without leaving it: a node stands still where it becomes a number,
 * and moves where the input can be reached from what it becomes. In a loop it may do neither. */
bool graph_moves(const struct arena *arena, const struct graph *graph, const double *nodes,
                 size_t input)
{
    struct arena scratch = arena_beside(arena);
    bool *vary = arena_array(&scratch, graph->input_count + 1, sizeof *vary);
    bool *still = arena_array(&scratch, graph->count + 1, sizeof *still);
    bool *moves = arena_array(&scratch, graph->count + 1, sizeof *moves);
    vary[input] = true;
    const uint64_t *free = free_of(&scratch, graph, vary);
    for (size_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        const int kids[] = { node->a, node->b, node->c };
        int as = node->op == OP_SELECT && free[i] ? select_left(node, nodes, still) : -1;
        bool all_still = node->op != OP_VAR && node->op != OP_ROOT, any = node->op == OP_INPUT;
        for (int k = 0; k < 3; k++)
            if (kids[k] >= 0) {
                all_still &= still[kids[k]];
                any |= moves[kids[k]];
            }
        all_still |= node->op == OP_POW && still[node->a] && nodes[node->a] == 1;
        still[i] = !free[i] || (as >= 0 ? still[as] : node->op != OP_INPUT && all_still);
        moves[i] = !still[i] && (as >= 0 ? moves[as] : any);
    }
    bool any = false;
    for (size_t i = 0; i < graph->output_count; i++)
        any |= moves[graph->outputs[i]];
    arena_free(&scratch);
    return any;
}

/* ---- ranges ------------------------------------------------------------------------------- */

/* Bounds of a node's value as computed: + - * / and sqrt round correctly, hence never past
 * the rounded bound. Where they are not finite, the value may be anything, NaN too. */
static const struct interval anything = { -INFINITY, INFINITY };

static bool bounded(struct interval x)
{
    return isfinite(x.low) && isfinite(x.high);
}

static struct interval hull(const double *values, int count)
{
    struct interval x = { values[0], values[0] };
    for (int i = 1; i < count; i++) {
        x.low = fmin(x.low, values[i]);
        x.high = fmax(x.high, values[i]);
    }
    return x;
}

static struct interval bounds_of_pair(enum op op, struct interval a, struct interval b)
{
    const double products[] = { a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high };
    switch (op) {
    case OP_ADD: return (struct interval){ a.low + b.low, a.high + b.high };
    case OP_SUB: return (struct interval){ a.low - b.high, a.high - b.low };
    case OP_MUL: return hull(products, 4);
    case OP_DIV: {
        const double quotients[] = { a.low / b.low, a.low / b.high, a.high / b.low,
                                     a.high / b.high };
        return b.low > 0 || b.high < 0 ? hull(quotients, 4) : anything;
    }
    case OP_MAX: return (struct interval){ fmax(a.low, b.low), fmax(a.high, b.high) };
    case OP_MIN: return (struct interval){ fmin(a.low, b.low), fmin(a.high, b.high) };
    case OP_POW:        /* not rounded correctly, so a little more */
        return a.low >= 0 && a.high <= 1 && b.low >= 0 ? (struct interval){ 0, 1 + 1e-9 } : anything;
    default: return anything;
    }
}

static struct interval bounds_of(const struct node *node, const struct interval *bounds)
{
    struct interval a = node->a < 0 ? anything : bounds[node->a];
    struct interval b = node->b < 0 ? anything : bounds[node->b];
    switch (node->op) {
    case OP_NUMBER: return (struct interval){ node->value, node->value };
    case OP_NEG:    return (struct interval){ -a.high, -a.low };
    case OP_SQRT:   return a.low >= 0 ? (struct interval){ sqrt(a.low), sqrt(a.high) } : anything;
    case OP_FLOOR:  return (struct interval){ floor(a.low), floor(a.high) };
    case OP_CEIL:   return (struct interval){ ceil(a.low), ceil(a.high) };
    case OP_LESS: case OP_ATMOST: case OP_BOTH: case OP_EITHER: return (struct interval){ 0, 1 };
    case OP_SELECT: {
        struct interval c = bounds[node->c];
        return bounded(b) && bounded(c)
               ? (struct interval){ fmin(b.low, c.low), fmax(b.high, c.high) } : anything;
    }
    default: return bounded(a) && bounded(b) ? bounds_of_pair(node->op, a, b) : anything;
    }
}

/* The operand or number that has the node's value everywhere within the bounds, or -1. */
static int same_within(struct nodes *set, const struct interval *bounds, const struct node *node)
{
    const int a = node->a, b = node->b;
    if (node->op == OP_SELECT && set->nodes[a].op == OP_NUMBER)
        return set->nodes[a].value != 0 ? b : node->c;
    if (a < 0 || b < 0 || !bounded(bounds[a]) || !bounded(bounds[b]))
        return -1;
    const struct interval x = bounds[a], y = bounds[b];
    switch (node->op) {
    case OP_ADD: return is_number(set, b, 0) && x.low > 0 ? a
                      : is_number(set, a, 0) && y.low > 0 ? b : -1;
    case OP_MUL: return (is_number(set, a, 0) && y.low > 0) ? a
                      : (is_number(set, b, 0) && x.low > 0) ? b : -1;
    case OP_MAX: return x.low > y.high ? a : x.high <= y.low ? b : -1;
    case OP_MIN: return x.high < y.low ? a : x.low >= y.high ? b : -1;
    case OP_LESS: return x.high < y.low ? nodes_number(set, 1)
                       : x.low >= y.high ? nodes_number(set, 0) : -1;
    case OP_ATMOST: return x.high <= y.low ? nodes_number(set, 1)
                         : x.low > y.high ? nodes_number(set, 0) : -1;
    default: return -1;
    }
}

void graph_simplify(struct arena *arena, const struct graph *graph, const struct interval *inputs,
                    struct graph *left)
{
    struct arena scratch = arena_beside(arena);
    struct nodes set = { .arena = &scratch };
    int *moved = arena_array(&scratch, graph->count + 1, sizeof *moved);
    struct interval *bounds = arena_array(&scratch, 2 * graph->count + 4, sizeof *bounds);
    for (size_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        struct node copy = node_of(node->op, node->a < 0 ? -1 : moved[node->a],
                                   node->b < 0 ? -1 : moved[node->b],
                                   node->c < 0 ? -1 : moved[node->c]);
        copy.value = node->value;
        copy.first = node->first < 0 ? -1 : moved[node->first];
        size_t before = set.count;
        int same = node->op == OP_INPUT ? nodes_input(&set, graph->inputs[node->input])
                                        : same_within(&set, bounds, &copy);
        moved[i] = same >= 0 ? same : add_simple(&set, &copy);
        for (size_t k = before; k < set.count; k++)
            bounds[k] = node->op == OP_INPUT ? inputs[node->input]
                                             : bounds_of(&set.nodes[k], bounds);
        if (set.nodes[moved[i]].row < 0)
            set.nodes[moved[i]].row = node->row;
    }
    int *wanted = arena_array(&scratch, graph->output_count + 1, sizeof *wanted);
    for (size_t i = 0; i < graph->output_count; i++)
        wanted[i] = moved[graph->outputs[i]];
    nodes_finish(&set, wanted, graph->output_count, arena, left, NULL);
    arena_free(&scratch);
}
