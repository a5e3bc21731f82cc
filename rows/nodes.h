/* nodes -- private to rows/: a growing set of nodes, equal ones once, and its finish.
 *
 * A node knows which VARs of ROOTs it moves with, so that finish can put the body of a
 * ROOT between its VAR and its ROOT, and all that does not move with the VAR before it. */
#ifndef ROWS_NODES_H
#define ROWS_NODES_H

#include "rows/rows.h"

enum { NODES_TALLEST = 10000 };     /* walks over nodes are recursive */

struct nodes {
    struct arena *arena;
    struct node *nodes;
    size_t count, room;
    uint64_t *moves;                /* [count] which VARs a node moves with */
    size_t moves_count, moves_room;
    int *height;                    /* [count] over the inputs */
    size_t height_count, height_room;
    bool too_tall;
    bool *plain;                    /* [count] surely never -0 */
    size_t plain_count, plain_room;
    int *same;                      /* hash of nodes + 1 */
    size_t same_size;
    struct input *inputs;
    size_t input_count, input_room;
};

struct node node_of(enum op op, int a, int b, int c);
/* The index of the node, which may have been there already. */
int nodes_add(struct nodes *set, struct node node);
int nodes_number(struct nodes *set, double value);
int nodes_input(struct nodes *set, struct input input);
/* The list of the wanted nodes: what they reach, in order; inputs that nothing needs are
 * dropped. */
void nodes_finish(struct nodes *set, const int *wanted, size_t count, struct list *list);

#endif
