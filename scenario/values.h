/* values -- the values of expressions under the facts of a scenario. */
#ifndef SCENARIO_VALUES_H
#define SCENARIO_VALUES_H

#include "scenario/scenario.h"

/* The graph of some expressions, with its values under the facts. A value that is not finite is an
 * error that names the row which has none; NAN is a value that depends on an unknown price. */
struct values {
    struct graph graph;
    double *at, *inputs, *nodes;    /* values of the outputs, of the inputs, of all nodes */
    const char **names;             /* of outputs: what was asked; NULL: not kept */
    double (*drawn)[2];             /* of outputs: 5 and 95 % of draws; NULL: values_range has not drawn yet */
    double (*ends)[2];              /* of outputs: least and most over the box of ranges; NULL: not found yet */
};

/* Set the outputs that depend on an unknown price to NAN, even if a min or a comparison made them a
 * number. */
void values_unpriced(const struct graph *graph, const double *inputs, double *at);
bool values_of(struct scenario *scenario, const char *const *texts, size_t count,
               struct values *values, struct error *error);
/* The same values, from a graph with scale factors on parts (graph_build_parts). */
bool values_of_parts(struct scenario *scenario, const char *const *texts, size_t count,
                     struct values *values, struct error *error);
/* The same, but an output without a finite value is NAN instead of an error. */
bool values_known(struct scenario *scenario, const char *const *texts, size_t count,
                  struct values *values, struct error *error);
bool value_of(struct scenario *scenario, const char *text, double *value, struct error *error);
/* The same; NAN where the expression has no value, or is empty. */
double value_or_nan(struct scenario *scenario, const char *text);
/* Read the number that the user gave for a row, perhaps as an expression; false if none was given. */
bool given_number(const struct scenario *scenario, const char *row, double *value);
/* Which branch of a select the scenario takes, 1 or 2; 0: its condition has no value there. */
int select_branch(struct scenario *scenario, const struct expr *select);
/* The expression that selects come to; NULL where a condition has no value. */
const struct expr *select_taken(struct scenario *scenario, const struct expr *expr);
/* The expressions along a row, all else held: y[count][points] for x[points]. False where one has no
 * value. */
bool values_along(const struct scenario *scenario, const char *const *texts, size_t count, const char *row,
                  const double *x, size_t points, double *const *y, struct error *error);
bool values_finite(const struct scenario *scenario, const struct graph *graph,
                   const double *inputs, struct error *error);
/* Does an input carry a range or a distribution? */
bool values_uncertain(struct scenario *scenario, struct values *values);
struct range values_range(struct scenario *scenario, struct values *values, size_t output);
/* The origin of an input's own default: fitted to measurements, or chosen. Factors that a calibration sets
 * are 1 without one. */
enum origin default_origin(const struct row *row);
struct unit scenario_unit(const struct scenario *scenario, const char *text);
/* The point at `share` of the way from low to high on a logarithmic axis. */
double log_between(double low, double high, double share);
/* Does any output depend on the input while all others are fixed? values_depend uses the nodes that are already evaluated. */
bool values_depend(struct arena *arena, const struct values *values, const char *input);
bool graph_depends(struct arena *arena, const struct graph *graph, const char *input);

#endif
