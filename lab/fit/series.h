/* series -- the measured servers of the fit, each predicted by constants that have not seen its source.
 *
 *     rows of the fit, a source left out --> calibrations of its servers --> values with their slopes
 *
 * What a calibration thinks before it reads is estimated from these (priors.c), and so is how much of what it
 * finds holds for another server (carried.c). Values are those of a linear model about the best estimate of each
 * server, moved back to factors of 1, so that any prior can be tried without another prediction. */
#ifndef SCORE_FIT_SERIES_H
#define SCORE_FIT_SERIES_H

#include "score/calibration.h"
#include "lab/fit/fit.h"

enum { SERIES_GIVEN = 5,            /* points that are given to a calibration, at most */
       SERIES_SPARE = 3 };          /* and points that are left to be scored, at least */

struct series {
    const char *publisher;
    const struct measured *server;  /* its first point */
    struct posterior_value *values; /* [count] with what was seen; expected at factors of 1 */
    size_t *point;                  /* [count] which point of the series each is of, from 0 */
    size_t count, points;
    size_t order[SERIES_GIVEN];     /* points in the order in which they would be measured */
    size_t ordered;
};

struct series_list {
    const struct ranks *ranks;      /* divide the series, and their pairs */
    struct arena *arena;
    struct series *series;
    size_t count, room;
    const char **publishers;        /* each once */
    size_t publisher_count;
};

/* All servers with enough points, by sources left out of the fit of the constants in turn. */
void series_read(struct fit *fit, struct series_list *list);
/* Choose the points to give as `calibrate --next` does, by this prior. */
void series_choose(struct series *series, const struct posterior_prior *prior);
/* The values of the first `given` points, which a posterior takes; their number. */
size_t series_values(const struct series *series, size_t given, struct posterior_value *values);
/* Are these publishers one source: are they the same but for the engine? */
bool series_of_one_source(const char *a, const char *b);
bool series_is_given(const struct series *series, size_t value, size_t given);

/* The log density of a residual under Student's distribution; freedom 0: under the normal one. */
double student_density(double residual, double variance, double freedom);
/* Minimise a function of `count` numbers from `at`, which receives the best, by Nelder and Mead's method. */
enum { SIMPLEX_MOST = 16 };
double simplex_minimise(double (*of)(void *context, const double *at), void *context, int count, double step,
                        int calls, double *at);

/* Each prints its rows of data/calibration.csv, then errors with them; the prior that was found. */
struct posterior_prior priors_print(struct series_list *list);
void carried_print(const struct series_list *list, const struct posterior_prior *prior);

#endif
