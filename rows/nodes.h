/* nodes -- private to rows/: a growing set of nodes without duplicates, and its conversion to a graph.
 *
 * The set knows for each node on which ROOT variables (VAR) it depends. nodes_finish can thus place the body
 * of a ROOT between its VAR and the ROOT, and everything that does not depend on the VAR before it.
 * Operands must be added before the node that uses them. */
#ifndef ROWS_NODES_H
#define ROWS_NODES_H

#include "rows/rows.h"

/* The rare case of a recursive walk. Its locals, and the check of its frame, stay out of every step. */
#define SELDOM __attribute__((noinline))

enum { NODES_TALLEST = 10000 };     /* walks over nodes are recursive */

struct known_node {                      /* properties of a node */
    uint64_t moves;                 /* bits of the VARs that it depends on */
    double value;                   /* under the inputs' values, if `valued`; inside a ROOT, at its solution */
    int height;                     /* longest path down to an input */
    int named;                      /* the question that gave it its row, where questions are counted */
    int place;                      /* in the graph that is being finished, + 1; 0: in none */
    bool plain;                     /* its value is never -0 */
    bool valued;
};

struct nodes {
    struct arena *arena;
    struct arena *arrays;           /* inside of it: those of `room` */
    struct node *nodes;
    struct known_node *known;
    size_t count, room;             /* of both */
    bool too_tall;
    int *same;                      /* hash of nodes + 1 */
    size_t same_size;
    struct input *inputs;
    size_t input_count, input_room;
    int *input_same;                /* hash of inputs + 1 */
    size_t input_size;
    int *list;                      /* [room] nodes of the graph that is being finished, in its order */
    size_t listed;
    int question;                   /* as of which question graphs are finished; 0: questions are not counted */
};

static inline struct node node_of(enum op op, int a, int b, int c)
{
    return (struct node){ .op = op, .a = a, .b = b, .c = c, .first = -1, .row = -1, .input = -1 };
}

/* Add a node, or find the equal one that exists; its index. */
int nodes_add(struct nodes *set, const struct node *node);
int nodes_number(struct nodes *set, double value);
/* The node of the input of that row and entry; -1: not made yet. */
int nodes_input_find(const struct nodes *set, int row, int entry);
int nodes_input(struct nodes *set, struct input input);
/* Make the graph of the wanted nodes, in `arena`: all nodes that they need, each after its operands. Inputs that no
 * node needs are dropped. If `values` is not NULL, it becomes the values of the graph's nodes, which must be known
 * (nodes_value). */
void nodes_finish(struct nodes *set, const int *wanted, size_t count, struct arena *arena,
                  struct graph *graph, double **values);
/* Compute the values of the wanted nodes, and of those they need, that are not known yet. */
void nodes_value(struct nodes *set, const int *wanted, size_t count);

#endif
