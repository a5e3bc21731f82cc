/* calibration -- the factors of one server, from some of its own measured points.
 *
 *     points of a server --calibration_add--> candidates --calibration_give--> given ones
 *         --calibration_fit--> factors, their covariance, a field --calibration_predict--> the other points
 *
 * The prior, the noise and the field are data (data/calibration.csv), the derivatives those of the graphs,
 * the posterior is that of infer/posterior.h. */
#ifndef SCORE_CALIBRATION_H
#define SCORE_CALIBRATION_H

#include "scenario/calibrated.h"
#include "score/physics.h"
#include "score/predictor.h"

struct calibration_point {
    const struct measured *measured;
    struct setup *setup, *load;                 /* load: of an open loop, what runs; NULL: as stated */
    const char *refused;                        /* by physics or as an outlier, once it was given; or NULL */
    bool given;
    struct posterior_value values[MEASURED_VALUES];     /* predicted at the present estimate */
    double before[MEASURED_VALUES];             /* predicted without a calibration */
    int factor[POSTERIOR_FACTORS], anchor[POSTERIOR_FIELDS];     /* the graph's inputs; -1: no row reads it */
    double outlying[MEASURED_VALUES];           /* residual, in standard deviations of a fit without it */
    bool aside[MEASURED_VALUES];                /* not fitted */
    bool thinned;                               /* not fitted, for there are CALIBRATION_MOST others */
    double held[MEASURED_VALUES];               /* kept at what was predicted before, with this deviation; 0: not */
};

struct calibration {
    struct arena *arena;
    struct predictor predictor, loads;
    struct physics physics;
    struct posterior_prior prior;
    struct calibration_point *points;
    size_t count, room;
    const struct calibrated *start;             /* an earlier calibration of this server, whose values are given
                                                   too, by their slopes; or NULL */
    bool *start_gone;                           /* [start->count] those that a given point has anew, and the oldest
                                                   beyond CALIBRATION_STARTS */
    double x[POSTERIOR_FACTORS];                /* logarithms of the factors */
    double half_width[POSTERIOR_FIELDS];        /* half an interval, in standard deviations */
    double misfit;                  /* of the fit before values were held, for where no factors are found */
    struct factor_posterior posterior;                 /* of the values that are fitted */
    bool whole;                                 /* graphs keep all their inputs, for a fit of the constants */
    bool keep;                                  /* outliers are fitted, too */
    bool hold;                                  /* no value that was given is predicted worse than before */
    bool carried;                               /* from another server: no points are given, */
    double rho[POSTERIOR_FACTORS];              /* of its factors so much holds here, */
    double found[POSTERIOR_FACTORS][POSTERIOR_FACTORS];     /* which are known to this covariance there */
};

void calibration_open(struct calibration *calibration, struct arena *arena, const struct command *command);
/* Forget the points, so that another server can be calibrated with the same graphs. */
void calibration_clear(struct calibration *calibration);
/* Add a point, before the first fit. Why its values cannot be predicted, whatever they are, or NULL: then it was added. */
const char *calibration_add(struct calibration *calibration, const struct measured *measured);
/* Give the values of a point to the fit. Why physics refuses them, or NULL. */
const char *calibration_give(struct calibration *calibration, size_t at);
/* At most this many points are fitted, so that a fit takes less than a second: those whose loads are furthest apart. */
enum { CALIBRATION_MOST = 40, CALIBRATION_STARTS = 2 * CALIBRATION_MOST };
/* Take back points until CALIBRATION_MOST are given. Returns the number of points that were given. */
size_t calibration_thin(struct calibration *calibration);
/* Fit the factors to the points that are given, and predict all points. */
void calibration_fit(struct calibration *calibration);
/* The point, of those that are not given, that tells most of all points, by their loads and the values
 * given so far; `gain`: what it takes off the mean variance. The number of points: none is left. */
size_t calibration_next(const struct calibration *calibration, double *gain);
/* The mean of what calibration_next makes smaller: of all points, the variance of their values' logarithms. */
double calibration_spread(const struct calibration *calibration);
/* Value i of a point, with the interval of a new measurement. */
void calibration_predict(const struct calibration *calibration, const struct calibration_point *point, int i,
                         struct prediction *prediction);
/* In what the server of a point differs from another's. */
struct calibrated_difference calibration_difference(const struct measured *one, const struct measured *other);
/* Predict all points by what was found of another server. */
void calibration_carry(struct calibration *calibration, const struct calibration *from,
                       const struct calibrated_difference *difference);
/* The squared residual of a value in its variance: above the sheet's most it is another server. */
double calibration_misfit(const struct calibration *calibration);

#endif
