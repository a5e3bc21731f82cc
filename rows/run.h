/* run -- private to rows/: a graph compiled to steps over blocks of points.
 *
 * Each step reads and writes blocks of BLOCK doubles. A block is reused when no later step reads it,
 * so that the working set stays in the first-level cache. For the same reason a number that is the
 * same for all points is stored as a single vector, where its readers are `+ - * / max min` or a
 * power with it as the base, and as a whole block otherwise. */
#ifndef ROWS_RUN_H
#define ROWS_RUN_H

#include "rows/rows.h"

enum { BLOCK = 128, VECTOR = 8 };    /* doubles; VECTOR: of the widest set */
enum form { FORM_BLOCKS, FORM_NUMBER_A, FORM_NUMBER_B };  /* which operand is one vector */

struct step {
    enum op op;
    enum form form;
    double *to;
    const double *a, *b, *c;
    int last;                       /* VAR: so many steps on stands its ROOT */
};

typedef void run_steps(const struct step *steps, size_t count);
run_steps run_steps_scalar, run_steps_portable, run_steps_avx2, run_steps_avx512;
/* What a step of a power, as FORM_NUMBER_A of one point, may have at `c`: the logarithm of |a|. */
void run_log(double x, double parts[2]);
/* Do all `count` values lie in the range? */
typedef bool run_inside(const double *x, size_t count, struct interval range);
run_inside run_inside_portable, run_inside_avx2, run_inside_avx512;

struct set {                        /* an instruction set */
    const char *name;
    run_steps *run;
    run_inside *inside;
};
const struct set *set_find(const char *name);           /* NULL: the best one here */

/* Into `nodes`, the values at one point of the nodes that are not to be skipped. Those inside the
 * loop of a ROOT are: they have none but in the loop. */
void graph_value_of(struct arena *arena, const struct graph *graph, const double *inputs,
                    const uint64_t *skip, double *nodes);

/* Readings of one output over boxes of inputs, one after another, without new memory. The value
 * encloses what the output computes to anywhere in the box, and the slope, which is that of the box
 * read last, every derivative there; a jump has the slope of its direction or claims nothing. */
struct bounds {
    const struct graph *graph;
    size_t top;
    bool *needed;
    struct interval *values, *adjoint;      /* [graph->count] */
};
void bounds_open(struct bounds *bounds, struct arena *arena, const struct graph *graph, size_t output);
struct interval bounds_read(struct bounds *bounds, const struct interval *inputs);
void bounds_node(struct bounds *bounds, size_t node);           /* from the values of its operands */
struct interval bounds_slope(struct bounds *bounds, size_t input);
/* As graph_rounding, for all of the box whose slope was read last. */
double bounds_rounding(const struct bounds *bounds);
/* Is the output the difference of one term and itself wherever the inputs lie in the box? */
bool bounds_same(struct arena *arena, struct bounds *bounds, const struct interval *inputs);
/* What the last digits of all nodes, numbers among them, may add up to in an output, from the
 * nodes[count] that graph_value gave; and its slope along an input. */
double graph_rounding(struct arena *arena, const struct graph *graph, size_t output,
                      const double *nodes, size_t input, double *slope);

/* As graph_slopes, but every ROOT is the number that it is. */
void graph_slopes_held(struct arena *arena, const struct graph *graph, size_t output,
                       const double *nodes, double *gradient);

/* `single` nodes are one vector, but those that some node reads as a block, which get one. */
enum form form_of(const struct node *node, const bool *single);
void mark_wide(const struct node *node, const bool *single, bool *wide);
void fill(double *block, double value, size_t size);

#endif
