/* weights -- likelihoods as tables, and draws made again. Private to infer/. */
#ifndef INFER_WEIGHTS_H
#define INFER_WEIGHTS_H

#include "infer/draws.h"

struct weights {
    size_t count;                               /* of fields that are seen */
    int field[FIELD_COUNT];
    double asked[FIELD_COUNT];                  /* policy's part of the likelihood */
    double table[FIELD_COUNT][DEDUCE_CELLS];    /* likelihood by the cell of the cost */
};

double belief_policy(const struct belief *belief, double seen);     /* density in ln */
void weights_open(struct weights *weights, const double *logs, const struct belief *beliefs,
                  const struct evidence *evidence);
/* The likelihood of each draw, times its share; their sum. */
double weights_run(const struct weights *weights, const struct draws *draws, double *weight);
/* Draws from where the posterior lies, with what the prior is over that as their share. Some
 * draw must have a weight. */
const struct draws *draws_reweight(struct arena *arena, const struct posterior *posterior,
                                   uint64_t round);

#endif
