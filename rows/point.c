/* Numbers stand in the places of their nodes from the beginning, and each node knows the inputs on which it depends. For a
 * set of inputs that changed there is a list of the nodes to compute, made when the set is first seen, in room that was
 * taken when the evaluator was made; when all lists are taken, a set that is not among them gets every node. In a list,
 * nodes of one operator stand side by side where their operands allow, so that one loop computes them. The operators are
 * those of run_set.c for one lane. */
#include "rows/point.h"
#include "rows/run.h"

#include <string.h>

enum { POINT_INPUTS = 8, LISTS = 32, NOWHERE = UINT8_MAX };     /* more inputs, a ROOT: a program of one point instead */

struct point_node {
    uint16_t to, a, b, c;
};

/* Nodes of one operator. */
struct point_run {
    uint16_t op, count;
};

struct point_list {
    struct point_run *runs;         /* ended by one of count 0 */
    struct point_node *nodes;
};

/* One of the graphs. */
struct point_body {
    struct graph graph;
    size_t count;                   /* inputs */
    size_t *from;                   /* [count] which input of the whole graph each is */
    double at[POINT_INPUTS];        /* [count] the point before */
    size_t node[POINT_INPUTS];      /* [count] its place among the values */
    double *values;                 /* [graph.count] */
    uint8_t *depends;               /* [graph.count] bits of the inputs */
    uint8_t list_of[1 << POINT_INPUTS];     /* by bits of the inputs that changed; NOWHERE: none yet */
    struct point_list lists[LISTS];
    size_t list_count;
    bool *done;                     /* [graph.count] while a list is made */
    bool fresh;                     /* nothing was computed yet */
    struct graph_program *program;  /* of a graph that has no lists; NULL: it has */
    struct column *columns;
    double *inputs;
};

struct point {
    struct point_body any, usual[POINT_KINDS];
    size_t count;                   /* kinds */
    struct interval range[POINT_KINDS][POINT_INPUTS];   /* of the inputs of `any` */
};

/* ---- lists ---------------------------------------------------------------------------------- */

static bool computed(const struct point_body *body, size_t i, unsigned changed)
{
    const enum op op = body->graph.nodes[i].op;
    return op != OP_INPUT && op != OP_NUMBER && (body->depends[i] & changed);
}

static bool ready(const struct point_body *body, size_t i, unsigned changed)
{
    const struct node *node = &body->graph.nodes[i];
    const int kids[] = { node->a, node->b, node->c };
    for (int k = 0; k < 3; k++)
        if (kids[k] >= 0 && computed(body, (size_t)kids[k], changed) && !body->done[kids[k]])
            return false;
    return true;
}

/* All nodes of the operator whose operands are there, those that become ready meanwhile too. Returns their number; `to`
 * NULL: they are only counted. */
static size_t add_ready(struct point_body *body, enum op op, unsigned changed, struct point_node *to, bool *done)
{
    size_t count = 0;
    bool *before = body->done;
    body->done = done;
    for (size_t i = 0; i < body->graph.count; i++) {
        const struct node *node = &body->graph.nodes[i];
        if (node->op != op || done[i] || !computed(body, i, changed) || !ready(body, i, changed))
            continue;
        done[i] = true;
        if (to)
            to[count] = (struct point_node){ (uint16_t)i, (uint16_t)node->a, (uint16_t)(node->b < 0 ? 0 : node->b),
                                             (uint16_t)(node->c < 0 ? 0 : node->c) };
        count++;
    }
    body->done = before;
    return count;
}

/* The operator that most nodes are ready for goes first. */
static void list_make(struct point_body *body, struct point_list *list, unsigned changed)
{
    const size_t count = body->graph.count;
    bool *trial = body->done + count;
    size_t runs = 0, nodes = 0;
    memset(body->done, 0, count * sizeof *body->done);
    for (;;) {
        size_t most = 0;
        enum op best = OP_NUMBER;
        bool tried[OP_ROW] = { false };
        for (size_t i = 0; i < count; i++) {
            const enum op op = body->graph.nodes[i].op;
            if (tried[op] || body->done[i] || !computed(body, i, changed) || !ready(body, i, changed))
                continue;
            tried[op] = true;
            memcpy(trial, body->done, count * sizeof *trial);
            const size_t here = add_ready(body, op, changed, NULL, trial);
            if (here > most) {
                most = here;
                best = op;
            }
        }
        if (!most)
            break;
        list->runs[runs++] = (struct point_run){ (uint16_t)best, (uint16_t)most };
        nodes += add_ready(body, best, changed, list->nodes + nodes, body->done);
    }
    list->runs[runs].count = 0;
}

static const struct point_list *list_of(struct point_body *body, unsigned changed)
{
    uint8_t *at = &body->list_of[changed];
    if (*at == NOWHERE && body->list_count < LISTS) {
        *at = (uint8_t)body->list_count++;
        list_make(body, &body->lists[*at], changed);
    }
    return &body->lists[*at == NOWHERE ? 0 : *at];              /* the first list has every node */
}

/* ---- a point -------------------------------------------------------------------------------- */

#define EVERY(expression)                                                                    \
    do {                                                                                    \
        const double a = values[node->a], b = values[node->b];                              \
        (void)b;                                                                            \
        values[node->to] = (expression);                                                    \
    } while (++node < end);                                                                 \
    break

static void compute(double *restrict values, const struct point_list *list)
{
    const struct point_node *node = list->nodes;
    for (const struct point_run *run = list->runs; run->count; run++) {
        const struct point_node *end = node + run->count;
        switch ((enum op)run->op) {
        case OP_ADD:    EVERY(a + b);
        case OP_SUB:    EVERY(a - b);
        case OP_MUL:    EVERY(a * b);
        case OP_DIV:    EVERY(a / b);
        case OP_NEG:    EVERY(-a);
        case OP_MAX:    EVERY(a > b ? a : b);
        case OP_MIN:    EVERY(a < b ? a : b);
        case OP_LESS:   EVERY(a < b ? 1 : 0);
        case OP_ATMOST: EVERY(a <= b ? 1 : 0);
        case OP_BOTH:   EVERY(a != 0 && b != 0 ? 1 : 0);
        case OP_EITHER: EVERY(a != 0 || b != 0 ? 1 : 0);
        case OP_SELECT: EVERY(a != 0 ? b : values[node->c]);
        default:                                                /* a call anyway */
            for (; node < end; node++) {
                const struct run_step step = { .op = (enum op)run->op, .to = &values[node->to], .a = &values[node->a],
                                               .b = run->op == OP_POW ? &values[node->b] : NULL };
                run_steps_scalar(&step, 1, 1);
            }
        }
    }
}

static double body_value(struct point_body *body, const double *inputs)
{
    unsigned changed = 0;
    if (body->program) {
        double value, *const output = &value;
        for (size_t i = 0; i < body->count; i++)
            body->inputs[i] = inputs[body->from[i]];
        graph_program_run(body->program, body->columns, &output, 1);
        return value;
    }
    for (size_t i = 0; i < body->count; i++) {
        const double now = inputs[body->from[i]];
        if (memcmp(&now, &body->at[i], sizeof now)) {
            changed |= 1u << i;
            body->at[i] = body->values[body->node[i]] = now;
        }
    }
    if (changed || body->fresh) {
        compute(body->values, list_of(body, body->fresh ? (1u << body->count) - 1 : changed));
        body->fresh = false;
    }
    return body->values[body->graph.outputs[0]];
}

double point_value(struct point *point, const double *inputs)
{
    for (size_t k = 0; k < point->count; k++) {
        bool usual = true;
        for (size_t i = 0; usual && i < point->any.count; i++) {
            const double x = inputs[point->any.from[i]];
            usual = x >= point->range[k][i].low && x <= point->range[k][i].high;
        }
        if (usual)
            return body_value(&point->usual[k], inputs);
    }
    return body_value(&point->any, inputs);
}

/* ---- making one ----------------------------------------------------------------------------- */

/* Inputs of a smaller graph have the names that they had. */
static void body_inputs(struct arena *arena, const struct graph *whole, struct point_body *body)
{
    body->count = body->graph.input_count;
    body->from = arena_array(arena, body->count + 1, sizeof *body->from);
    for (size_t i = 0; i < body->count; i++) {
        const struct input *input = &body->graph.inputs[i];
        body->from[i] = (size_t)graph_input(whole, input->name);
        if (i < POINT_INPUTS)
            body->node[i] = (size_t)input->node;
    }
}

static void body_make(struct arena *arena, const struct graph *whole, struct point_body *body)
{
    const struct graph *graph = &body->graph;
    const size_t count = graph->count;
    bool plain = graph->input_count <= POINT_INPUTS && count <= UINT16_MAX;
    for (size_t i = 0; i < count; i++)
        plain &= graph->nodes[i].op != OP_ROOT && graph->nodes[i].op != OP_VAR;
    body_inputs(arena, whole, body);
    body->fresh = true;
    if (!plain) {
        body->inputs = arena_array(arena, body->count + 1, sizeof *body->inputs);
        body->columns = arena_array(arena, body->count + 1, sizeof *body->columns);
        for (size_t i = 0; i < body->count; i++)
            body->columns[i] = (struct column){ &body->inputs[i], 1 };
        body->program = graph_program_make(arena, NULL, graph, body->columns);
        return;
    }
    body->values = arena_array(arena, count + 1, sizeof *body->values);
    body->depends = arena_array(arena, count + 1, sizeof *body->depends);
    body->done = arena_array(arena, 2 * count + 1, sizeof *body->done);
    size_t operators = 0;
    for (size_t i = 0; i < count; i++) {
        const struct node *node = &graph->nodes[i];
        const int kids[] = { node->a, node->b, node->c };
        body->values[i] = node->op == OP_NUMBER ? node->value : 0;
        body->depends[i] = node->op == OP_INPUT ? (uint8_t)(1u << node->input) : 0;
        for (int k = 0; k < 3; k++)
            if (kids[k] >= 0)
                body->depends[i] |= body->depends[kids[k]];
        operators += computed(body, i, UINT8_MAX);
    }
    memset(body->list_of, NOWHERE, sizeof body->list_of);
    for (size_t k = 0; k < LISTS && k < 1u << body->count; k++) {
        body->lists[k].runs = arena_array(arena, operators + 1, sizeof *body->lists[k].runs);
        body->lists[k].nodes = arena_array(arena, operators + 1, sizeof *body->lists[k].nodes);
    }
}

/* The graph where the inputs lie in the ranges; a range of one number fixes its input. */
static void body_within(struct arena *arena, const struct graph *whole, const struct point_body *any,
                        const struct interval *ranges, struct point_body *body)
{
    double fixed[POINT_INPUTS];
    bool moves[POINT_INPUTS];
    struct interval range[POINT_INPUTS];
    struct graph left;
    for (size_t i = 0; i < any->count; i++) {
        fixed[i] = ranges[i].low;
        moves[i] = ranges[i].low < ranges[i].high;
    }
    graph_specialize(arena, &any->graph, fixed, moves, &left);
    for (size_t i = 0; i < left.input_count; i++)
        range[i] = ranges[graph_input(&any->graph, left.inputs[i].name)];
    graph_simplify(arena, &left, range, &body->graph);
    body_make(arena, whole, body);
}

struct point *point_open(struct arena *arena, const struct graph *graph, const double *values, const bool *vary,
                         const struct interval *const *usual, size_t count)
{
    struct point *point = arena_alloc(arena, sizeof *point);
    graph_specialize(arena, graph, values, vary, &point->any.graph);
    body_make(arena, graph, &point->any);
    point->count = point->any.count > POINT_INPUTS ? 0 : count;
    for (size_t k = 0; k < point->count; k++) {
        for (size_t i = 0; i < point->any.count; i++)
            point->range[k][i] = usual[k][point->any.from[i]];
        body_within(arena, graph, &point->any, point->range[k], &point->usual[k]);
    }
    return point;
}
