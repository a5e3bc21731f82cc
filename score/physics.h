/* physics -- what a measurement says of itself, before it is compared with a prediction.
 *
 * A point is refused where no server could have shown it: faster than memory and peak allow, a server that
 * does not fit, fewer sequences decoding than were sent, more requests than were answered. The rows are
 * those of "What a measurement reveals" (formulas/serving/measured.chalk). */
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
    double limit;                   /* on running sequences, which is not stated; 0: none shows */
    double load;                    /* of an open loop: what is asked for over what is done */
    double excess[MEASURED_VALUES]; /* what the figure cannot be below, over the figure; 0: no bound */
};

/* A share of the offered sequences below which those that run say that something holds the others up. */
extern const double physics_few;
/* A load above which requests cannot all have been answered: one in ten is left. */
extern const double physics_overload;

void physics_open(struct physics *physics, struct arena *arena, const struct command *command);
/* What the point's figures reveal; false if its server cannot be modelled. */
bool physics_reveal(struct physics *physics, const struct measured *point, struct revealed *revealed);
/* Why no server showed these figures, with the figure that says so, or NULL. */
const char *physics_refuse(struct physics *physics, const struct measured *point);

#endif
