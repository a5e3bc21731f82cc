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

struct run_step {
    enum op op;
    enum form form;
    double *to;
    const double *a, *b, *c;
    int last;                       /* VAR: number of steps from here to its ROOT */
};

/* The first `points` of each block. */
typedef void run_steps(const struct run_step *steps, size_t count, size_t points);
run_steps run_steps_scalar, run_steps_portable, run_steps_avx2, run_steps_avx512;
/* The logarithm of |x| in two parts, which a power step with a constant base may have at `c`. */
void run_log(double x, double parts[2]);
/* Do all `count` values lie in the range? */
typedef bool run_inside(const double *x, size_t count, struct interval range);
run_inside run_inside_portable, run_inside_avx2, run_inside_avx512;

struct instruction_set {                        /* an instruction set */
    const char *name;
    run_steps *run;
    run_inside *inside;
};
const struct instruction_set *set_find(const char *name);           /* NULL: the best one here */

/* Write to `nodes` the values at one point, except of nodes whose bit is set in `skip` and of those
 * inside the loop of a ROOT, which have a value only within the loop. */
void graph_value_of(struct arena *arena, const struct graph *graph, const double *inputs,
                    const uint64_t *skip, double *nodes);

/* Interval arithmetic for one output over boxes of inputs, one after another, without new memory. The
 * value encloses the output everywhere in the box; the slope encloses its derivative everywhere in the
 * last box. At a discontinuity the slope is infinite in the direction of the jump, or unbounded. */
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
/* As graph_rounding, for the whole box whose slope was read last. */
double bounds_rounding(const struct bounds *bounds);
/* Is the output the difference of one term and itself wherever the inputs lie in the box? */
bool bounds_same(struct arena *arena, struct bounds *bounds, const struct interval *inputs);
/* The largest error of an output that the rounding of all nodes, including constants, can add up to,
 * from the nodes[count] that graph_value computed; and the output's slope along an input. */
double graph_rounding(struct arena *arena, const struct graph *graph, size_t output,
                      const double *nodes, size_t input, double *slope);

/* As graph_slopes, but with the solution of every ROOT held fixed. */
void graph_slopes_held(struct arena *arena, const struct graph *graph, size_t output,
                       const double *nodes, double *gradient);

/* Nodes in `single` are the same for all points and stored as one vector; mark_wide finds those that
 * some node reads as a block, which need a whole block. */
enum form form_of(const struct node *node, const bool *single);
void mark_wide(const struct node *node, const bool *single, bool *wide);
void fill(double *block, double value, size_t size);     /* `size`: a multiple of VECTOR */

#endif
