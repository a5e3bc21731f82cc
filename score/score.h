/* score -- how far predictions are from what was measured.
 *
 *     outcome   one measured value with its prediction, or a row that was refused
 *     score     of all outcomes of a group and metric:
 *                   e = ln(predicted / measured),  |x| = |predicted / measured - 1|
 *                   median, mean, 90th percentile of |x|; bias = exp(mean e) - 1;
 *                   coverage = the share of values inside the band of their prediction
 */
#ifndef SCORE_H
#define SCORE_H

#include "score/predictor.h"

struct outcome {
    const struct measured *point;
    const char *group;
    const char *refused;            /* why nothing below holds, or NULL */
    const struct measured_value *measured;
    struct prediction predicted;
    double error;                   /* e, as above */
};

struct score {
    const char *group;
    int metric;                     /* -1: all */
    double *errors;
    size_t count, room;
    size_t inside;                  /* values inside the band of their prediction */
};

struct scores {
    struct arena *arena;
    struct score *scores;
    size_t count, room;
};

struct figures {                    /* NaN where nothing was scored */
    double median, mean, p90, bias, coverage;
};

extern const char *const metric_units[METRICS];     /* base units, as text */

void score_add(struct scores *scores, const char *group, int metric,
               const struct outcome *outcome);
/* Sorts them; straight between neighbours. NaN of none. */
double sizes_quantile(double *sizes, size_t count, double share);
struct figures score_figures(struct arena *arena, const struct score *score);
/* By group, "9" before "10", then by metric. */
void scores_sort(struct scores *scores);

/* A panel per metric: predicted against measured, the diagonal, the edges of the band. */
bool scatter_plot(struct arena *arena, const char *path, const struct outcome *outcomes,
                  size_t count, struct error *error);

#endif
