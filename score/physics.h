/* physics -- what a measurement says of itself, before it is compared with a prediction.
 *
 * A point is refused where no server could have shown it: faster than memory and peak allow, a server that
 * does not fit, fewer sequences decoding than were sent. The rows are those of "What a measurement reveals"
 * (formulas/serving/measured.chalk). */
#ifndef SCORE_PHYSICS_H
#define SCORE_PHYSICS_H

#include "score/predictor.h"

struct physics {
    struct arena *arena;
    struct predictor servers;       /* points with a model */
    struct predictor kernels;       /* single operations */
};

struct revealed {                   /* of a server; NaN where its figures do not say */
    bool fits;
    double running, running_share;  /* sequences that decode in a worker, and as a share of those offered */
    double seats, seats_distance;   /* the power of two next to that, and the distance from it, a share */
    double wait_tokens;             /* from the end of the prompt to the first token, in tokens */
    double bound[MEASURED_VALUES];  /* what the figure cannot be below; 0: none */
};

void physics_open(struct physics *physics, struct arena *arena, const struct command *command);
/* What the point's figures reveal; false if its server cannot be modelled. */
bool physics_reveal(struct physics *physics, const struct measured *point, struct revealed *revealed);
/* Why no server showed these figures, with the figure that says so, or NULL. */
const char *physics_refuse(struct physics *physics, const struct measured *point);

#endif
