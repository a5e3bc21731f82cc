/* A set of nodes in which equal nodes exist once, and its conversion to a graph.
 *
 * A node is found by a hash over operator and operands. -0 is distinguished from 0 where it could
 * appear, so that sharing never changes a bit. Each node knows which ROOT variables it depends on.
 * nodes_finish places reachable nodes after their operands; the body of a ROOT stands between its
 * variable and the ROOT, and whatever does not depend on the variable is placed before it, outside
 * of the loop. nodes_value does the same with the nodes whose value is not known yet; the others stand in
 * that graph as numbers. */
#include "rows/nodes.h"

#include <math.h>
#include <string.h>

/* ---- adding ------------------------------------------------------------------------------- */

static inline size_t node_hash(const struct node *node)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t bits;
    memcpy(&bits, &node->value, sizeof bits);
    uint64_t hash = ((uint64_t)(uint32_t)node->a << 32 | (uint32_t)node->b) * odd;
    hash ^= hash >> 32 ^ bits ^ bits >> 32 ^ (uint64_t)(uint32_t)node->c << 32 ^
            (uint64_t)node->op << 24 ^ (uint32_t)node->input;
    return (size_t)(hash * odd >> 32);
}

static inline bool node_equal(const struct node *a, const struct node *b)
{
    return a->op == b->op && a->a == b->a && a->b == b->b && a->c == b->c &&
           a->input == b->input && a->first == b->first &&
           !memcmp(&a->value, &b->value, sizeof a->value);
}

/* Room for four times the nodes, whose hash then is at most half full; the old arrays are freed. */
static void grow(struct nodes *set)
{
    struct node *nodes = set->nodes;
    struct known_node *known = set->known;
    struct arena *old = set->arrays;
    set->arrays = arena_inner(set->arena);
    set->room = set->room ? 4 * set->room : 512;
    set->nodes = arena_room(set->arrays, set->room * sizeof *set->nodes);
    set->known = arena_room(set->arrays, set->room * sizeof *set->known);
    set->same_size = 2 * set->room;
    set->same = arena_array(set->arrays, set->same_size, sizeof *set->same);
    set->list = arena_room(set->arrays, set->room * sizeof *set->list);
    for (size_t i = 0; i < set->count; i++) {
        size_t at = node_hash(&nodes[i]) & (set->same_size - 1);
        while (set->same[at])
            at = (at + 1) & (set->same_size - 1);
        set->same[at] = (int)i + 1;
        set->nodes[i] = nodes[i];
        set->known[i] = known[i];
    }
    if (old)
        arena_free(old);
}

/* A sum is -0 only where both parts are, a difference where the first is. */
static bool never_minus_zero(const struct known_node *known, const struct node *node)
{
    switch (node->op) {
    case OP_NUMBER: return !(node->value == 0 && signbit(node->value));
    case OP_ADD:    return known[node->a].plain || known[node->b].plain;
    case OP_SUB:    return known[node->a].plain;
    case OP_MAX: case OP_MIN: return known[node->a].plain && known[node->b].plain;
    case OP_SELECT: return known[node->b].plain && known[node->c].plain;
    case OP_ABS: case OP_LESS: case OP_ATMOST: case OP_BOTH: case OP_EITHER: return true;
    default:        return false;
    }
}

static struct known_node known_of(const struct nodes *set, const struct node *node)
{
    static const struct known_node none;
    const struct known_node *a = node->a < 0 ? &none : &set->known[node->a];
    const struct known_node *b = node->b < 0 ? &none : &set->known[node->b];
    const struct known_node *c = node->c < 0 ? &none : &set->known[node->c];
    const int taller = a->height > b->height ? a->height : b->height;
    struct known_node known = { .moves = a->moves | b->moves | c->moves,
                                .height = 1 + (taller > c->height ? taller : c->height) };
    if (node->op == OP_VAR)
        known.moves = (uint64_t)1 << (int)node->value;
    if (node->op == OP_ROOT && node->first >= 0)
        known.moves &= ~set->known[node->first].moves;
    known.plain = never_minus_zero(set->known, node);
    return known;
}

int nodes_add(struct nodes *set, const struct node *node)
{
    if (set->count == set->room)
        grow(set);
    size_t at = node_hash(node) & (set->same_size - 1);
    for (; set->same[at]; at = (at + 1) & (set->same_size - 1))
        if (node_equal(&set->nodes[set->same[at] - 1], node))
            return set->same[at] - 1;
    set->nodes[set->count] = *node;
    set->known[set->count] = known_of(set, node);
    set->too_tall |= set->known[set->count].height > NODES_TALLEST;
    set->same[at] = (int)++set->count;
    return (int)set->count - 1;
}

int nodes_number(struct nodes *set, double value)
{
    struct node node = node_of(OP_NUMBER, -1, -1, -1);
    node.value = value;
    return nodes_add(set, &node);
}

/* Where an input stands in the hash, or would. */
static size_t input_place(const struct nodes *set, int row, int entry)
{
    size_t at = ((size_t)row * 64 + (size_t)entry) * 0x9e3779b1u & (set->input_size - 1);
    for (; set->input_same[at]; at = (at + 1) & (set->input_size - 1)) {
        const struct input *input = &set->inputs[set->input_same[at] - 1];
        if (input->row == row && input->entry == entry)
            break;
    }
    return at;
}

int nodes_input_find(const struct nodes *set, int row, int entry)
{
    int at = set->input_size ? set->input_same[input_place(set, row, entry)] : 0;
    return at ? set->inputs[at - 1].node : -1;
}

int nodes_input(struct nodes *set, struct input input)
{
    int known = nodes_input_find(set, input.row, input.entry);
    if (known >= 0)
        return known;
    struct node node = node_of(OP_INPUT, -1, -1, -1);
    node.input = (int)set->input_count;
    input.node = nodes_add(set, &node);
    set->nodes[input.node].row = input.row;
    *(struct input *)arena_push(set->arena, &set->inputs, &set->input_count,
                                &set->input_room, sizeof input) = input;
    size_t first = set->input_count - 1;
    if (2 * set->input_count > set->input_size) {
        set->input_size = set->input_size ? 2 * set->input_size : 256;
        set->input_same = arena_array(set->arena, set->input_size, sizeof *set->input_same);
        first = 0;
    }
    for (size_t i = first; i < set->input_count; i++)
        set->input_same[input_place(set, set->inputs[i].row, set->inputs[i].entry)] = (int)i + 1;
    return input.node;
}

/* ---- finish: reachable nodes in order ----------------------------------------------------- */

static void order_node(struct nodes *set, int node, bool fresh);

/* A node whose value is known is a number to those whose values are computed. */
static bool is_number(const struct nodes *set, int node, bool fresh)
{
    return fresh && set->known[node].valued && !set->known[node].moves;
}

static void place_node(struct nodes *set, int node)
{
    set->list[set->listed++] = node;
    set->known[node].place = (int)set->listed;
}

/* Place everything under `node` that does not move with `var`. */
static void order_still(struct nodes *set, int node, uint64_t var, bool fresh, uint8_t *seen)
{
    if (node < 0 || set->known[node].place || seen[node])
        return;
    seen[node] = 1;
    const struct node *the = &set->nodes[node];
    if (!(set->known[node].moves & var)) {
        order_node(set, node, fresh);
        return;
    }
    if (the->op == OP_ROOT)                         /* nor what moves with a VAR further in */
        var |= set->known[the->first].moves;
    order_still(set, the->a, var, fresh, seen);
    order_still(set, the->b, var, fresh, seen);
    order_still(set, the->c, var, fresh, seen);
}

/* The part of a ROOT that does not move with its VAR, then the VAR. */
SELDOM static void order_root(struct nodes *set, const struct node *root, bool fresh)
{
    struct arena scratch = arena_beside(set->arena);
    uint8_t *seen = arena_alloc(&scratch, set->count);
    order_still(set, root->c, set->known[root->first].moves, fresh, seen);
    arena_free(&scratch);
    place_node(set, root->first);
}

static void order_node(struct nodes *set, int node, bool fresh)
{
    if (node < 0 || set->known[node].place)
        return;
    const struct node *the = &set->nodes[node];
    if (!is_number(set, node, fresh)) {
        order_node(set, the->a, fresh);
        order_node(set, the->b, fresh);
        if (the->op == OP_ROOT)
            order_root(set, the, fresh);
        order_node(set, the->c, fresh);
    }
    place_node(set, node);
}

static int placed(const struct nodes *set, int node)
{
    return node < 0 ? -1 : set->known[node].place - 1;
}

/* The nodes of the list as a graph. Inputs keep the order in which they were made. */
static void make_graph(struct nodes *set, const int *wanted, size_t count, bool fresh, struct arena *arena,
                       struct graph *graph)
{
    *graph = (struct graph){ .count = set->listed, .output_count = count };
    graph->nodes = arena_array(arena, set->listed + 1, sizeof *graph->nodes);
    graph->outputs = arena_array(arena, count + 1, sizeof *graph->outputs);
    for (size_t i = 0; i < set->listed; i++) {
        const int node = set->list[i];
        struct node *copy = &graph->nodes[i];
        if (is_number(set, node, fresh)) {
            *copy = node_of(OP_NUMBER, -1, -1, -1);
            copy->value = set->known[node].value;
            continue;
        }
        *copy = set->nodes[node];
        if (set->known[node].named > set->question)
            copy->row = -1;
        copy->a = placed(set, copy->a);
        copy->b = placed(set, copy->b);
        copy->c = placed(set, copy->c);
        copy->first = placed(set, copy->first);
        graph->input_count += copy->op == OP_INPUT;
    }
    for (size_t i = 0; i < count; i++)
        graph->outputs[i] = placed(set, wanted[i]);
    graph->inputs = arena_array(arena, graph->input_count + 1, sizeof *graph->inputs);
    graph->input_count = 0;
    for (size_t i = 0; i < set->input_count; i++) {
        const int node = placed(set, set->inputs[i].node);
        if (node < 0 || graph->nodes[node].op != OP_INPUT)
            continue;
        graph->nodes[node].input = (int)graph->input_count;
        graph->inputs[graph->input_count] = set->inputs[i];
        graph->inputs[graph->input_count++].node = node;
    }
}

static void list_end(struct nodes *set)
{
    for (size_t i = 0; i < set->listed; i++)
        set->known[set->list[i]].place = 0;
    set->listed = 0;
}

void nodes_finish(struct nodes *set, const int *wanted, size_t count, struct arena *arena,
                  struct graph *graph, double **values)
{
    for (size_t i = 0; i < count; i++)
        order_node(set, wanted[i], false);
    make_graph(set, wanted, count, false, arena, graph);
    if (values)
        *values = arena_array(arena, graph->count + 1, sizeof **values);
    for (size_t i = 0; values && i < graph->count; i++)
        (*values)[i] = set->known[set->list[i]].value;
    list_end(set);
}

void nodes_value(struct nodes *set, const int *wanted, size_t count)
{
    struct arena scratch = arena_beside(set->arena);
    struct graph graph;
    bool all = true;
    for (size_t i = 0; i < count; i++)
        all &= set->known[wanted[i]].valued;
    if (all)
        return;
    for (size_t i = 0; i < count; i++)
        order_node(set, wanted[i], true);
    make_graph(set, wanted, count, true, &scratch, &graph);
    double *inputs = arena_array(&scratch, graph.input_count + 1, sizeof *inputs);
    double *nodes = arena_array(&scratch, graph.count + 1, sizeof *nodes);
    for (size_t i = 0; i < graph.input_count; i++)
        inputs[i] = graph.inputs[i].value;
    graph_value(&scratch, &graph, inputs, nodes, NULL);
    for (size_t i = 0; i < graph.count; i++) {
        struct known_node *known = &set->known[set->list[i]];
        known->value = nodes[i];
        known->valued = true;
    }
    list_end(set);
    arena_free(&scratch);
}
