/* nodes -- private to rows/: a growing set of nodes, equal ones once, and its finish.
 *
 * A node knows which VARs of ROOTs it moves with, so that finish can put the body of a
 * ROOT between its VAR and its ROOT, and all that does not move with the VAR before it. */
#ifndef ROWS_NODES_H
#define ROWS_NODES_H

#include "rows/rows.h"

enum { NODES_TALLEST = 10000 };     /* walks over nodes are recursive */

struct known {                      /* of a node */
    uint64_t moves;                 /* which VARs it moves with */
    int height;                     /* over the inputs */
    bool plain;                     /* surely never -0 */
};

struct nodes {
    struct arena *arena;
    struct node *nodes;
    struct known *known;
    size_t count, room;             /* of both */
    bool too_tall;
    int *same;                      /* hash of nodes + 1 */
    size_t same_size;
    struct input *inputs;
    size_t input_count, input_room;
    int *input_same;                /* hash of inputs + 1 */
    size_t input_size;
};

static inline struct node node_of(enum op op, int a, int b, int c)
{
    return (struct node){ .op = op, .a = a, .b = b, .c = c, .first = -1, .row = -1, .input = -1 };
}

/* The index of the node, which may have been there already. */
int nodes_add(struct nodes *set, const struct node *node);
int nodes_number(struct nodes *set, double value);
/* The node of the input of that row and entry; -1: there is none yet. */
int nodes_input_find(const struct nodes *set, int row, int entry);
int nodes_input(struct nodes *set, struct input input);
/* The list of the wanted nodes, in `arena`: what they reach, in order; inputs that nothing needs
 * are dropped. */
void nodes_finish(struct nodes *set, const int *wanted, size_t count, struct arena *arena,
                  struct list *list);

#endif
