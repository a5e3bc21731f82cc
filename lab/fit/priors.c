/* What a calibration thinks of a server before it reads: the widths of the factors, of the fields and of the noise.
 *
 * They are those under which the values that were not given are most probable, once 1, 2, 3 and 5 points of a
 * server are given: the mean logarithm of their probability density, which rewards small errors and intervals
 * that say how large the errors are. Constants are those of a fit without the server's source, each source counts
 * the same, and of a source each server, and of a server each kind of value. */
#include "lab/fit/series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH = POSTERIOR_FACTORS + 2 * POSTERIOR_FIELDS, NUMBERS };

static const int given_counts[] = { 1, 2, 3, 5 };
enum { GIVEN_COUNTS = sizeof given_counts / sizeof *given_counts };

/* ---- a prior as logarithms of its widths --------------------------------------------------------------- */

static struct posterior_prior prior_of(const double *at)
{
    struct posterior_prior prior = { .length = exp(at[LENGTH]), .freedom = calibrated_number("scale", "freedom") };
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        prior.covariance[k][k] = exp(2 * at[k]);
    for (int m = 0; m < POSTERIOR_FIELDS; m++) {
        prior.field[m] = exp(at[POSTERIOR_FACTORS + m]);
        prior.noise[m] = exp(at[POSTERIOR_FACTORS + POSTERIOR_FIELDS + m]);
    }
    return prior;
}

/* ---- scores ---------------------------------------------------------------------------------------------- */

struct tally {
    double log[POSTERIOR_FIELDS];               /* of the density, summed */
    double ranked[POSTERIOR_FIELDS];
    double *errors[POSTERIOR_FIELDS];           /* |predicted / measured - 1|; NULL: not kept */
    size_t count[POSTERIOR_FIELDS], inside[POSTERIOR_FIELDS];
};

/* The share of Student's distribution below t. */
static double below(double t, double freedom)
{
    enum { STEPS = 64 };
    const double end = atan(t / sqrt(freedom)), step = end / STEPS;
    const double top = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(acos(-1.0));
    double sum = 0;
    for (int i = 0; i <= STEPS; i++)
        sum += pow(cos(step * i), freedom - 1) * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
    return 0.5 + top * sum * step / 3;
}

/* The continuous ranked probability score of a residual under Student's distribution of this deviation: the
 * absolute error, less what a distribution that admits it gets back. */
static double ranked(double residual, double deviation, double freedom)
{
    const double z = residual / deviation;
    const double density = exp(student_density(z, 1, freedom));
    const double beta = lgamma(0.5) + lgamma(freedom - 0.5) - lgamma(freedom) -
                        2 * (lgamma(freedom / 2) + lgamma(0.5) - lgamma((freedom + 1) / 2));
    return deviation * (z * (2 * below(z, freedom) - 1) + 2 * density * (freedom + z * z) / (freedom - 1) -
                        2 * sqrt(freedom) / (freedom - 1) * exp(beta));
}

static void score_value(const struct factor_posterior *posterior, const struct posterior_value *value, struct tally *tally)
{
    const int kind = value->kind;
    const double noise = posterior->prior->noise[kind], freedom = posterior->freedom[kind];
    const double variance = posterior->scale[kind] * (posterior_variance(posterior, value) + noise * noise);
    double expected = value->expected;
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        expected += value->slope[k] * posterior->x[k];
    for (int m = 0; m < POSTERIOR_FIELDS; m++)
        expected += value->reach[m] * posterior_field(posterior, value->at, m);
    tally->log[kind] += student_density(value->seen - expected, variance, freedom);
    tally->ranked[kind] += ranked(value->seen - expected, sqrt(variance), freedom);
    if (tally->errors[kind]) {
        tally->errors[kind][tally->count[kind]] = fabs(exp(expected - value->seen) - 1);
        tally->inside[kind] += fabs(value->seen - expected) <= student_half_width(freedom) * sqrt(variance);
    }
    tally->count[kind]++;
}

/* The values that were not given, where `given` points were; false: there are too few. */
static bool score_series(const struct series *series, const struct posterior_prior *prior, size_t given,
                         struct tally *tally)
{
    static const double nowhere[POSTERIOR_FACTORS];
    struct arena scratch = { 0 };
    struct factor_posterior posterior;
    if (series->points < given + SERIES_SPARE || series->ordered < given)
        return false;
    struct posterior_value *values = arena_array(&scratch, series->count + 1, sizeof *values);
    const size_t count = series_values(series, given, values);
    const bool solved = posterior_solve(&scratch, prior, values, count, nowhere, NULL, &posterior);
    for (size_t i = 0; solved && i < series->count; i++)
        if (!series_is_given(series, i, given))
            score_value(&posterior, &series->values[i], tally);
    arena_free(&scratch);
    return solved;
}

/* The mean log density of a series over its kinds of values and over how many points are given. */
static bool worth(const struct series *series, const struct posterior_prior *prior, double *mean)
{
    double sum = 0, counts = 0;
    for (int n = 0; n < GIVEN_COUNTS; n++) {
        struct tally tally = { 0 };
        if (!score_series(series, prior, (size_t)given_counts[n], &tally))
            continue;
        for (int kind = 0; kind < POSTERIOR_FIELDS; kind++)
            sum += tally.count[kind] ? tally.log[kind] / (double)tally.count[kind] : 0;
        counts++;
    }
    *mean = sum / counts;
    return counts > 0;
}

struct question {
    const struct series_list *list;
    const char *without;                        /* a source that does not count, or NULL */
};

/* What is thought of the width of a factor before any server: about a third, within a factor of e, as one
 * server's say. Servers do not tell every factor. */
static double thought(const struct series_list *list, const double *at)
{
    const double third = log(1.0 / 3);
    double sum = 0;
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        sum += (at[k] - third) * (at[k] - third) / 2;
    return sum / (double)list->count;
}

/* Minus the mean over sources. A source of few servers says less than one of many: of n, n / (n + 3). */
static double cost(void *context, const double *at)
{
    const struct question *question = context;
    const struct series_list *list = question->list;
    const struct posterior_prior prior = prior_of(at);
    const double few = 3, low = log(0.01), high = log(30);
    double sum = 0, weights = 0;
    for (int i = 0; i < NUMBERS; i++)
        if (at[i] < low || at[i] > high)
            return INFINITY;
    struct arena scratch = { 0 };
    struct one { bool known; double mean; } *ones = arena_array(&scratch, list->count + 1, sizeof *ones);
    for (size_t i = 0; i < list->count; i++)
        if (ranks_mine(list->ranks, i))
            ones[i].known = worth(&list->series[i], &prior, &ones[i].mean);
    ranks_share(list->ranks, &scratch, ones, list->count, sizeof *ones);
    for (size_t p = 0; p < list->publisher_count; p++) {
        double here = 0, count = 0;
        if (question->without && series_of_one_source(list->publishers[p], question->without))
            continue;
        for (size_t i = 0; i < list->count; i++)
            if (ones[i].known && series_of_one_source(list->series[i].publisher, list->publishers[p])) {
                here += ones[i].mean;
                count++;
            }
        const double weight = count / (count + few);
        sum += count > 0 ? weight * here / count : 0;
        weights += weight;
    }
    arena_free(&scratch);
    return isfinite(sum) ? thought(list, at) - sum / weights : INFINITY;
}

static double estimate(const struct series_list *list, const char *without, int rounds, double *at)
{
    enum { CALLS = 300 };
    struct question question = { list, without };
    double least = INFINITY;
    for (int round = 0; round < rounds; round++)
        least = simplex_minimise(cost, &question, NUMBERS, 0.3, CALLS, at);
    return least;
}

/* The points to give are those that a calibration would choose by the widths that were found so far. */
static void search(struct series_list *list, double *at)
{
    enum { CHOICES = 2, FIRST = 3 };
    for (int i = 0; i < NUMBERS; i++)
        at[i] = log(i < POSTERIOR_FACTORS ? 1.0 / 3 : i < LENGTH ? 0.1 : 1.5);
    for (int choice = 0; choice < CHOICES; choice++) {
        const struct posterior_prior prior = prior_of(at);
        for (size_t i = 0; i < list->count; i++)
            series_choose(&list->series[i], &prior);
        estimate(list, NULL, choice ? 1 : FIRST, at);
    }
}

/* ---- what is printed --------------------------------------------------------------------------------------- */

static const char *const kinds[POSTERIOR_FIELDS] = { "tpot", "ttft" };

static void print_line(const struct series_list *list, const char *publisher, const char *prior_name,
                       const struct posterior_prior *prior, size_t given)
{
    struct arena scratch = { 0 };
    struct tally tally = { 0 };
    size_t most = 1;
    for (size_t i = 0; i < list->count; i++)
        most += list->series[i].count;
    for (int kind = 0; kind < POSTERIOR_FIELDS; kind++)
        tally.errors[kind] = arena_array(&scratch, most, sizeof **tally.errors);
    for (size_t i = 0; i < list->count; i++)
        if (series_of_one_source(list->series[i].publisher, publisher))
            score_series(&list->series[i], prior, given, &tally);
    for (int kind = 0; kind < POSTERIOR_FIELDS; kind++) {
        double mean = 0, n = (double)tally.count[kind];
        for (size_t i = 0; i < tally.count[kind]; i++)
            mean += tally.errors[kind][i] / n;
        if (tally.count[kind])
            printf("%-22s %-8s %zu given  %s %5zu  median %5.1f  mean %5.1f  p90 %5.1f  inside %3.0f %%  log %6.3f\n",
                   publisher, prior_name, given, kinds[kind], tally.count[kind],
                   100 * sizes_quantile(tally.errors[kind], tally.count[kind], 0.5), 100 * mean,
                   100 * sizes_quantile(tally.errors[kind], tally.count[kind], 0.9),
                   100 * (double)tally.inside[kind] / n, tally.log[kind] / n);
    }
    arena_free(&scratch);
}

/* Rows of data/calibration.csv. */
static void print_rows(const struct series_list *list, const double *at)
{
    static const char *const others[NUMBERS - POSTERIOR_FACTORS] = {
        "tpot_field,spread", "ttft_field,spread", "tpot_noise,spread", "ttft_noise,spread", "field,length" };
    for (int i = 0; i < NUMBERS; i++)
        printf("%s,%.3g,1,\"`make fit`, sources left out: %zu servers of %zu sources, the others' loads after 1 to 5 "
               "points\",%s,,%s\n",
               i < POSTERIOR_FACTORS ? arena_print(list->arena, "%s,spread", calibrated_factors[i])
                                     : others[i - POSTERIOR_FACTORS],
               exp(at[i]), list->count, list->publisher_count, fit_today(),
               i == LENGTH ? "in ln of concurrency and of prompt and output tokens" : "of ln");
}

struct posterior_prior priors_print(struct series_list *list)
{
    struct posterior_prior before;
    double at[NUMBERS];
    calibrated_prior(&before);
    search(list, at);
    print_rows(list, at);
    const struct posterior_prior after = prior_of(at);
    for (size_t p = 0; p < list->publisher_count; p++) {
        double without[NUMBERS];
        memcpy(without, at, sizeof without);
        estimate(list, list->publishers[p], 1, without);
        const struct posterior_prior others = prior_of(without);
        for (int n = 1; n <= 3; n += 2) {
            print_line(list, list->publishers[p], "before", &before, (size_t)n);
            print_line(list, list->publishers[p], "all", &after, (size_t)n);
            print_line(list, list->publishers[p], "others'", &others, (size_t)n);
        }
        printf("%-22s others':", list->publishers[p]);
        for (int i = 0; i < NUMBERS; i++)
            printf(" %.3g", exp(without[i]));
        printf("\n");
    }
    return after;
}
