/* score -- compare predictions with measurements.
 *
 *     outcome   a measured value with its prediction, or a row of a sheet that cannot be predicted
 *     score     the errors of all outcomes of one group (a model, a machine, a source) and metric:
 *                   e = ln(predicted / measured),  |x| = |predicted / measured - 1|
 *                   median, mean, 90th percentile of |x|; bias = exp(mean e) - 1;
 *                   scatter = the median of |e - median of e|: what is left of a server's errors without its bias
 *                   coverage = the share of values inside the 80 % interval [l, h] of their prediction
 *                   interval score (Winkler 1972) = the mean of ln(h/l) + 10 ln(l/x) if x < l, + 10 ln(x/h) if x > h,
 *                   of a measured value x: small where an interval is narrow and holds what was measured
 */
#ifndef SCORE_H
#define SCORE_H

#include "score/predictor.h"

struct outcome {
    const struct measured *point;   /* the row of the sheet */
    const char *group;
    const char *refused;            /* why it cannot be predicted: the rest is not set; else NULL */
    const struct measured_value *measured;
    struct prediction predicted;
    double error;                   /* e, as above */
};

struct score {
    const char *group;
    int metric;                     /* -1: all metrics */
    double *errors;                 /* [count] e of each outcome */
    size_t count, room;
    size_t inside;                  /* values inside the interval of their prediction */
    double interval_sum;            /* of their interval scores */
};

/* The scores of all groups and metrics. */
struct scores {
    struct arena *arena;
    struct score *scores;
    size_t count, room;
};

struct figures {                    /* the statistics above; NaN if nothing was scored */
    double median, mean, p90, bias, scatter, coverage, interval_score;
};

extern const char *const metric_units[METRICS];     /* base units, as text */

void score_add(struct scores *scores, const char *group, int metric,
               const struct outcome *outcome);
struct figures score_figures(struct arena *arena, const struct score *score);
/* Sort by group, with "9" before "10", then by metric. */
void scores_sort(struct scores *scores);

#endif
