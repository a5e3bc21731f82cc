/* basis -- on which defaults and fitted constants an answer depends, and which options have no effect. */
#ifndef SCENARIO_BASIS_H
#define SCENARIO_BASIS_H

#include "scenario/values.h"

/* Set `labels` to the options ("--set pp", "--batch") whose rows no expression reads, and return their
 * number. */
size_t given_idle(struct scenario *scenario, const char *const *texts, size_t count,
                  const char ***labels);
/* Add a note for each of them: "--set pp has no effect on WHAT". */
void given_note(struct scenario *scenario, const char *const *texts, size_t count,
                const char *what);
/* Add notes on the defaults that outputs of `values` depend on, those of largest elasticity first, and on
 * the number of fitted constants. `outputs` NULL: the first `output_count` outputs. */
void assumed_notes(struct scenario *scenario, const struct values *values,
                   const size_t *outputs, size_t output_count);
/* given_note for expressions whose values are known already, which needs no new graph. */
void given_note_of(struct scenario *scenario, const char *const *texts, size_t count,
                   const struct values *values, const char *what);
/* assumed_notes for several points or scenarios: gather elasticities of numbers by the inputs of a graph
 * (basis_add), or of the outputs of values (basis_values), then write the notes. Lives in the scenario's
 * arena. */
struct rested;
struct basis {
    struct rested *at;
    size_t count, room;
    struct weighed *inputs;         /* all inputs that move the answer, of any origin */
    size_t input_count, input_room;
    const char **fitted;            /* names of rows that were fitted to measurements */
    size_t fitted_count, fitted_room;
    const char *output;             /* the row that the next basis_add is about; NULL: the answer itself */
};
void basis_add(struct scenario *scenario, const struct graph *graph, const double *pulls,
               struct basis *basis);
void basis_values(struct scenario *scenario, const struct values *values, const size_t *outputs,
                  size_t count, struct basis *basis);
/* The same for those of the expressions that have a value. */
void basis_texts(struct scenario *scenario, const char *const *texts, size_t count, struct basis *basis);
void basis_notes(struct scenario *scenario, struct basis *basis);
/* assumed_notes and given_note_of for an answer that shows these texts; texts without a value are left out.
 * `what` NULL: assumed_notes only. */
void shown_notes(struct scenario *scenario, const char *const *texts, size_t count,
                 const char *what);

#endif
