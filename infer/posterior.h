/* posterior -- a few factors and a smooth field, from a few values of one server.
 *
 * The logarithm of a value is that of its prediction, which depends on the logarithms x of some factors,
 * plus a field r of the load, plus noise:
 *
 *     ln y = l(x, r(z)) + e        x ~ N(mean, covariance)      cov(r(z), r(z')) = sd^2 exp(-|z - z'|^2 / 2 length^2)
 *
 * There are two fields, of the time between tokens and of the time to the first token. What is known of l is
 * its value and its slopes at an estimate; the caller makes them again at the next one, until it stays
 * (Gauss-Newton). All variances share an unknown scale s^2, one for each kind of value, so that intervals
 * are Student's (inverse gamma prior). Every array lives in the arena that was given. */
#ifndef INFER_POSTERIOR_H
#define INFER_POSTERIOR_H

#include "base/base.h"

enum { POSTERIOR_FACTORS = 6, POSTERIOR_FIELDS = 2, POSTERIOR_AXES = 3 };

struct posterior_prior {
    double mean[POSTERIOR_FACTORS], covariance[POSTERIOR_FACTORS][POSTERIOR_FACTORS];
    double field[POSTERIOR_FIELDS];             /* standard deviation of each field */
    double length;
    double noise[POSTERIOR_FIELDS];             /* standard deviation of a value of each kind */
    double freedom;                             /* degrees of freedom of the scale before any value */
};

/* A value, seen or asked for, and its prediction at the present estimate. */
struct posterior_value {
    int kind;                                   /* whose noise and scale it has */
    double at[POSTERIOR_AXES];                  /* its load */
    double seen;                                /* ln y */
    double expected;                            /* l at the estimate */
    double slope[POSTERIOR_FACTORS];            /* of l, by x */
    double reach[POSTERIOR_FIELDS];             /* of l, by r: 1 and 0 where it is a time between tokens */
    double noise;                               /* standard deviation of its own; 0: that of its kind */
};

struct factor_posterior {
    const struct posterior_prior *prior;
    const struct posterior_value *values;       /* [count] */
    size_t count;
    double *root;                               /* [count][count] Cholesky of their covariance */
    double *weight;                             /* [count] inverse covariance times residual */
    double x[POSTERIOR_FACTORS];                /* the next estimate */
    double covariance[POSTERIOR_FACTORS][POSTERIOR_FACTORS];    /* of x, before the scale */
    double misfit[POSTERIOR_FIELDS];            /* squared residuals of the values of a kind, over their variance */
    double scale[POSTERIOR_FIELDS], freedom[POSTERIOR_FIELDS];
};

/* Cholesky of a symmetric positive matrix in place, its lower half; false: it is not positive. */
bool cholesky(double *matrix, size_t n);
/* Solve with the Cholesky root, in place. */
void cholesky_solve(const double *root, size_t n, double *vector);

/* The covariance of two values before any is seen, without noise. */
double posterior_between(const struct posterior_prior *prior, const struct posterior_value *a,
                         const struct posterior_value *b);
/* The posterior of `values`, whose predictions were made at the estimate x with the field `at_values`
 * [count][POSTERIOR_FIELDS]; NULL: at 0. False if the covariance is not positive. */
bool posterior_solve(struct arena *arena, const struct posterior_prior *prior,
                     const struct posterior_value *values, size_t count, const double *x,
                     const double (*at_values)[POSTERIOR_FIELDS], struct factor_posterior *posterior);
/* The weight of value i in a field: r(z) = sum of weight x likeness. */
double posterior_weight(const struct factor_posterior *posterior, size_t i, int field);
double posterior_likeness(const struct posterior_prior *prior, const double *a, const double *b);
double posterior_field(const struct factor_posterior *posterior, const double *at, int field);
/* The variance of ln y of a value that was not seen, without noise and before the scale. */
double posterior_variance(const struct factor_posterior *posterior, const struct posterior_value *value);
/* The covariance of two such values. */
double posterior_left(const struct factor_posterior *posterior, const struct posterior_value *a,
                      const struct posterior_value *b);
/* The standardized residual of value i by a fit without it, in closed form. */
double posterior_outlying(const struct factor_posterior *posterior, size_t i);
/* The logarithm of the probability of the values, up to a constant. */
double posterior_evidence(const struct factor_posterior *posterior);
/* The quantile of Student's distribution, or of the normal one where `freedom` is 0. */
double student_quantile(double share, double freedom);
/* Half the 80 % interval, in deviations. */
double student_half_width(double freedom);

/* By how much the weighted sum of variances of `targets` shrinks if `candidates` were seen together. */
double posterior_gain(struct arena *scratch, const struct factor_posterior *posterior,
                      const struct posterior_value *candidates, size_t candidate_count,
                      const struct posterior_value *targets, const double *weights, size_t target_count);

#endif
