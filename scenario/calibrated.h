/* calibrated -- a scenario whose server was measured: factors on the prediction, with their covariance.
 *
 *     chalkline calibrate --> my-server.csv --calibration--> facts of a scenario, intervals of its figures
 *
 * The file has facts in the columns of a catalog sheet: what server it was, the factors, their covariance, and
 * each value that was given with its slopes, from which the field of what the form misses is computed. */
#ifndef SCENARIO_CALIBRATED_H
#define SCENARIO_CALIBRATED_H

#include "infer/posterior.h"
#include "scenario/scenario.h"

/* The rows whose logarithms are fitted; of each field the factor that moves with it, the factor that is set
 * to it, the row that computes that, and the columns of the table of loads. */
extern const char *const calibrated_factors[POSTERIOR_FACTORS];
extern const struct calibrated_field {
    const char *anchor, *residual, *found, *weight;
} calibrated_fields[POSTERIOR_FIELDS];
extern const char *const calibrated_axes[POSTERIOR_AXES];       /* rows: the load */

/* What is thought of a server before it is measured (data/calibration.csv). */
void calibrated_prior(struct posterior_prior *prior);
/* A number of that sheet. */
double calibrated_number(const char *name, const char *fact);

#endif
