/* Partial evaluation: what is left of a list when inputs are fixed. */
#include "engine/nodes.h"

enum { FREE_INPUT = 63 };            /* the bit beside those of the ROOTs' VARs */

/* What a node moves with: an input that varies, the VAR of a ROOT around it. */
static uint64_t free_with(const struct list *list, size_t i, const bool *vary,
                          const uint64_t *free)
{
    const struct node *node = &list->nodes[i];
    if (node->op == OP_INPUT)
        return vary[node->input] ? (uint64_t)1 << FREE_INPUT : 0;
    if (node->op == OP_VAR)
        return (uint64_t)1 << (int)node->value;
    uint64_t with = (node->a < 0 ? 0 : free[node->a]) | (node->b < 0 ? 0 : free[node->b]) |
                    (node->c < 0 ? 0 : free[node->c]);
    return node->op == OP_ROOT ? with & ~free[node->first] : with;
}

/* Fixed nodes become numbers, computed by the same operators; a select whose condition
 * is fixed becomes its branch; then what nobody needs goes. */
void list_fix(struct arena *arena, const struct list *list, const double *values,
              const bool *vary, struct list *left)
{
    struct nodes set = { .arena = arena };
    double *known = arena_array(arena, list->count + 1, sizeof *known);
    int *moved = arena_array(arena, list->count + 1, sizeof *moved);
    uint64_t *free = arena_array(arena, list->count + 1, sizeof *free);
    list_value(arena, list, values, known, NULL);
    for (size_t i = 0; i < list->count; i++) {
        struct node node = list->nodes[i];
        free[i] = free_with(list, i, vary, free);
        int a = node.a < 0 ? -1 : moved[node.a], b = node.b < 0 ? -1 : moved[node.b];
        int c = node.c < 0 ? -1 : moved[node.c];
        if (!free[i]) {
            moved[i] = nodes_number(&set, known[i]);
        } else if (node.op == OP_SELECT && !free[node.a]) {
            moved[i] = set.nodes[a].value != 0 ? b : c;
        } else if (node.op == OP_INPUT) {
            struct input input = list->inputs[node.input];
            moved[i] = nodes_input(&set, input);
        } else {
            struct node copy = node_of(node.op, a, b, c);
            copy.value = node.value;
            copy.first = node.first < 0 ? -1 : moved[node.first];
            moved[i] = nodes_add(&set, copy);
        }
        if (set.nodes[moved[i]].row < 0)
            set.nodes[moved[i]].row = node.row;
    }
    int *wanted = arena_array(arena, list->output_count + 1, sizeof *wanted);
    for (size_t i = 0; i < list->output_count; i++)
        wanted[i] = moved[list->outputs[i]];
    nodes_finish(&set, wanted, list->output_count, left);
}
