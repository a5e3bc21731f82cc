#include "rows/nodes.h"

#include <math.h>
#include <string.h>

/* ---- adding ------------------------------------------------------------------------------- */

static uint64_t node_hash(const struct node *node)
{
    uint64_t bits;
    memcpy(&bits, &node->value, sizeof bits);
    uint64_t hash = 14695981039346656037u;
    const uint64_t parts[] = { (uint64_t)node->op, (uint64_t)node->a, (uint64_t)node->b,
                               (uint64_t)node->c, bits, (uint64_t)node->input,
                               (uint64_t)node->first };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        hash = (hash ^ parts[i]) * 1099511628211u ^ hash >> 29;
    return hash;
}

static bool node_equal(const struct node *a, const struct node *b)
{
    return a->op == b->op && a->a == b->a && a->b == b->b && a->c == b->c &&
           a->input == b->input && a->first == b->first &&
           !memcmp(&a->value, &b->value, sizeof a->value);
}

static void same_grow(struct nodes *set)
{
    set->same_size = set->same_size ? 2 * set->same_size : 1024;
    set->same = arena_array(set->arena, set->same_size, sizeof *set->same);
    for (size_t i = 0; i < set->count; i++) {
        size_t at = node_hash(&set->nodes[i]) & (set->same_size - 1);
        while (set->same[at])
            at = (at + 1) & (set->same_size - 1);
        set->same[at] = (int)i + 1;
    }
}

static int height_of(const struct nodes *set, int node)
{
    return node < 0 ? 0 : set->height[node];
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static uint64_t moves_with(const struct nodes *set, int node)
{
    return node < 0 ? 0 : set->moves[node];
}

/* A sum is -0 only where both parts are, a difference where the first is. */
static bool never_minus_zero(const struct nodes *set, const struct node *node)
{
    switch (node->op) {
    case OP_NUMBER: return !(node->value == 0 && signbit(node->value));
    case OP_ADD:    return set->plain[node->a] || set->plain[node->b];
    case OP_SUB:    return set->plain[node->a];
    case OP_MAX: case OP_MIN: return set->plain[node->a] && set->plain[node->b];
    case OP_SELECT: return set->plain[node->b] && set->plain[node->c];
    case OP_ABS: case OP_LESS: case OP_ATMOST: case OP_BOTH: case OP_EITHER: return true;
    default:        return false;
    }
}

int nodes_add(struct nodes *set, struct node node)
{
    if (2 * set->count >= set->same_size)
        same_grow(set);
    size_t at = node_hash(&node) & (set->same_size - 1);
    for (; set->same[at]; at = (at + 1) & (set->same_size - 1))
        if (node_equal(&set->nodes[set->same[at] - 1], &node))
            return set->same[at] - 1;
    *(struct node *)arena_push(set->arena, &set->nodes, &set->count,
                               &set->room, sizeof node) = node;
    set->same[at] = (int)set->count;
    uint64_t moves = moves_with(set, node.a) | moves_with(set, node.b) |
                     moves_with(set, node.c);
    if (node.op == OP_VAR)
        moves = (uint64_t)1 << (int)node.value;
    if (node.op == OP_ROOT)
        moves &= ~moves_with(set, node.first);
    *(uint64_t *)arena_push(set->arena, &set->moves, &set->moves_count,
                            &set->moves_room, sizeof moves) = moves;
    int height = 1 + larger(height_of(set, node.a), larger(height_of(set, node.b),
                                                               height_of(set, node.c)));
    set->too_tall |= height > NODES_TALLEST;
    *(int *)arena_push(set->arena, &set->height, &set->height_count,
                       &set->height_room, sizeof height) = height;
    bool plain = never_minus_zero(set, &node);
    *(bool *)arena_push(set->arena, &set->plain, &set->plain_count, &set->plain_room,
                        sizeof plain) = plain;
    return (int)set->count - 1;
}

struct node node_of(enum op op, int a, int b, int c)
{
    return (struct node){ .op = op, .a = a, .b = b, .c = c, .first = -1, .row = -1,
                          .input = -1 };
}

int nodes_number(struct nodes *set, double value)
{
    struct node node = node_of(OP_NUMBER, -1, -1, -1);
    node.value = value;
    return nodes_add(set, node);
}

int nodes_input(struct nodes *set, struct input input)
{
    for (size_t i = 0; i < set->input_count; i++)
        if (set->inputs[i].row == input.row && set->inputs[i].entry == input.entry)
            return set->inputs[i].node;
    struct node node = node_of(OP_INPUT, -1, -1, -1);
    node.input = (int)set->input_count;
    input.node = nodes_add(set, node);
    set->nodes[input.node].row = input.row;
    *(struct input *)arena_push(set->arena, &set->inputs, &set->input_count,
                                &set->input_room, sizeof input) = input;
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
    if (!(order->set->moves[node] & var)) {
        order_node(order, node, inside);
        return;
    }
    if (the->op == OP_ROOT)                         /* nor what moves with a VAR further in */
        var |= order->set->moves[the->first];
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
        uint64_t var = order->set->moves[the.first];
        uint8_t *seen = arena_alloc(order->set->arena, order->set->count);
        order_still(order, the.c, var, inside, seen);
        place_node(order, the.first);
        inside |= var;
    }
    order_node(order, the.c, inside);
    place_node(order, node);
}

/* Inputs that no node needs any more are dropped; the rest keep their order. */
void nodes_finish(struct nodes *set, const int *wanted, size_t count, struct list *list)
{
    struct order order = { .set = set };
    order.nodes = arena_array(set->arena, set->count + 1, sizeof *order.nodes);
    order.place = arena_array(set->arena, set->count + 1, sizeof *order.place);
    for (size_t i = 0; i < set->count; i++)
        order.place[i] = -1;
    list->outputs = arena_array(set->arena, count, sizeof *list->outputs);
    for (size_t i = 0; i < count; i++)
        order_node(&order, wanted[i], 0);
    for (size_t i = 0; i < count; i++)
        list->outputs[i] = order.place[wanted[i]];
    list->nodes = order.nodes;
    list->count = order.count;
    list->output_count = count;
    list->inputs = arena_array(set->arena, set->input_count + 1, sizeof *list->inputs);
    list->input_count = 0;
    for (size_t i = 0; i < set->input_count; i++) {
        int node = order.place[set->inputs[i].node];
        if (node < 0)
            continue;
        list->nodes[node].input = (int)list->input_count;
        list->inputs[list->input_count] = set->inputs[i];
        list->inputs[list->input_count++].node = node;
    }
}
