/* A set of nodes in which equal nodes exist once, and its conversion to a graph.
 *
 * A node is found by a hash over operator and operands. -0 is distinguished from 0 where it could
 * appear, so that sharing never changes a bit. Each node knows which ROOT variables it depends on.
 * nodes_finish places reachable nodes after their operands; the body of a ROOT stands between its
 * variable and the ROOT, and whatever does not depend on the variable is placed before it, outside
 * of the loop. */
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

/* Room for twice the nodes, whose hash then is at most half full. */
static void grow(struct nodes *set)
{
    struct node *nodes = set->nodes;
    struct known *known = set->known;
    set->room = set->room ? 4 * set->room : 512;
    set->nodes = arena_array(set->arena, set->room, sizeof *set->nodes);
    set->known = arena_array(set->arena, set->room, sizeof *set->known);
    set->same_size = 2 * set->room;
    set->same = arena_array(set->arena, set->same_size, sizeof *set->same);
    for (size_t i = 0; i < set->count; i++) {
        size_t at = node_hash(&nodes[i]) & (set->same_size - 1);
        while (set->same[at])
            at = (at + 1) & (set->same_size - 1);
        set->same[at] = (int)i + 1;
        set->nodes[i] = nodes[i];
        set->known[i] = known[i];
    }
}

/* A sum is -0 only where both parts are, a difference where the first is. */
static bool never_minus_zero(const struct known *known, const struct node *node)
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

static struct known known_of(const struct nodes *set, const struct node *node)
{
    const int kids[] = { node->a, node->b, node->c };
    struct known known = { .moves = 0 };
    for (int k = 0; k < 3; k++)
        if (kids[k] >= 0) {
            const struct known *of = &set->known[kids[k]];
            known.moves |= of->moves;
            known.height = known.height > of->height ? known.height : of->height;
        }
    known.height++;
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

struct order {
    struct nodes *set;
    struct node *nodes;
    size_t count;
    int *place;                     /* old -> new, -1 not yet */
};

static void order_node(struct order *order, int node, uint64_t inside);

static int placed(const struct order *order, int node)
{
    return node < 0 ? -1 : order->place[node];
}

static void place_node(struct order *order, int node)
{
    struct node copy = order->set->nodes[node];
    copy.a = placed(order, copy.a);
    copy.b = placed(order, copy.b);
    copy.c = placed(order, copy.c);
    copy.first = placed(order, copy.first);
    order->place[node] = (int)order->count;
    order->nodes[order->count++] = copy;
}

/* Place everything under `node` that does not move with `var`. */
static void order_still(struct order *order, int node, uint64_t var, uint64_t inside,
                        uint8_t *seen)
{
    if (node < 0 || order->place[node] >= 0 || seen[node])
        return;
    seen[node] = 1;
    const struct node *the = &order->set->nodes[node];
    if (!(order->set->known[node].moves & var)) {
        order_node(order, node, inside);
        return;
    }
    if (the->op == OP_ROOT)                         /* nor what moves with a VAR further in */
        var |= order->set->known[the->first].moves;
    order_still(order, the->a, var, inside, seen);
    order_still(order, the->b, var, inside, seen);
    order_still(order, the->c, var, inside, seen);
}

static void order_node(struct order *order, int node, uint64_t inside)
{
    if (node < 0 || order->place[node] >= 0)
        return;
    const struct node the = order->set->nodes[node];
    order_node(order, the.a, inside);
    order_node(order, the.b, inside);
    if (the.op == OP_ROOT) {
        uint64_t var = order->set->known[the.first].moves;
        uint8_t *seen = arena_alloc(order->set->arena, order->set->count);
        order_still(order, the.c, var, inside, seen);
        place_node(order, the.first);
        inside |= var;
    }
    order_node(order, the.c, inside);
    place_node(order, node);
}

/* Inputs that no node needs any more are dropped; the rest keep their order. */
void nodes_finish(struct nodes *set, const int *wanted, size_t count, struct arena *arena,
                  struct graph *graph)
{
    struct order order = { .set = set };
    order.nodes = arena_array(arena, set->count + 1, sizeof *order.nodes);
    order.place = arena_array(set->arena, set->count + 1, sizeof *order.place);
    for (size_t i = 0; i < set->count; i++)
        order.place[i] = -1;
    for (size_t i = 0; i < count; i++)
        order_node(&order, wanted[i], 0);
    *graph = (struct graph){ .nodes = order.nodes, .count = order.count, .output_count = count };
    graph->outputs = arena_array(arena, count + 1, sizeof *graph->outputs);
    for (size_t i = 0; i < count; i++)
        graph->outputs[i] = order.place[wanted[i]];
    graph->inputs = arena_array(arena, set->input_count + 1, sizeof *graph->inputs);
    for (size_t i = 0; i < set->input_count; i++) {
        int node = order.place[set->inputs[i].node];
        if (node < 0)
            continue;
        graph->nodes[node].input = (int)graph->input_count;
        graph->inputs[graph->input_count] = set->inputs[i];
        graph->inputs[graph->input_count++].node = node;
    }
}
