/* simulate -- the parts of the question `simulate`. */
#ifndef ASK_SIMULATE_H
#define ASK_SIMULATE_H

#include "ask/ask.h"
#include "sim/sim.h"

/* Seconds of a step by a formula that is linear in tokens, cached and sequences. */
bool simulate_formula(struct arena *arena, const char *formula, struct sim_options *sim,
                      struct error *error);
/* By the prediction; also the blocks, sequences and tokens of a batch that the engine has. */
bool simulate_predicted(struct scenario *scenario, struct sim_options *sim, struct error *error);

#endif
