/* Prediction intervals: how measured and predicted differ on sources that a fit has not seen.
 *
 * A residual is ln(measured / predicted), over the exponent of its row, which widens the interval of what is
 * less well known: a model that no other source measured, or prefill and decode on servers apart; a server that
 * is both has the product, as the rows do. Each exponent is the spread of such residuals over that of the plain
 * ones. The interval is made of quantiles of what is left; each series has the weight of one, however many its
 * loads. */
#include "lab/fit/fit.h"

#include "build/row_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum group { PLAIN, UNMEASURED, SPLIT, GROUPS, SPLIT_UNMEASURED = GROUPS, EXPONENTS };

struct residual {
    const char *publisher;
    int metric;
    double error;                   /* ln(predicted / measured) */
    double value;                   /* -error over the exponent */
    double weight;                  /* of a series: 1 in all */
    enum group group;
    size_t order;                   /* among all, as read */
};

struct residuals {
    struct residual *at;
    size_t count;
    const char **publishers;        /* each once, in the order of the rows */
    size_t publisher_count;
    double exponent[EXPONENTS];
};

/* ---- residuals ----------------------------------------------------------------------------- */

static bool measured_elsewhere(const struct fit *fit, const struct fitted *row, fit_alike *same_model)
{
    for (size_t i = 0; i < fit->count; i++)
        if (!fit_for_checking(fit->rows[i].point) && same_model(&fit->rows[i], row) &&
            strcmp(fit->rows[i].point->publisher, row->point->publisher))
            return true;
    return false;
}

static enum group group_of(const struct fit *fit, const struct fitted *row, fit_alike *same_model)
{
    const bool known = measured_elsewhere(fit, row, same_model);
    if (measured_input(row->point, NAME_prefill_workers, 0) > 0)
        return known ? SPLIT : SPLIT_UNMEASURED;
    return known ? PLAIN : UNMEASURED;
}

/* Rows of the series of row i; 1 where it has none. */
static double in_series(const struct fit *fit, size_t i)
{
    const char *series = fit->rows[i].point->series;
    double count = 0;
    for (size_t j = 0; j < fit->count; j++)
        count += *series ? !strcmp(fit->rows[j].point->series, series) : i == j;
    return count;
}

static void add_publisher(struct residuals *all, const char *publisher)
{
    for (size_t i = 0; i < all->publisher_count; i++)
        if (!strcmp(all->publishers[i], publisher))
            return;
    all->publishers[all->publisher_count++] = publisher;
}

static struct residuals residuals_of(const struct fit *fit, const double *errors,
                                     fit_alike *same_model)
{
    struct residuals all = { .at = calloc(fit->count * MEASURED_VALUES + 1, sizeof *all.at),
                             .publishers = calloc(fit->count + 1, sizeof *all.publishers),
                             .exponent = { 1, 1, 1, 1 } };
    for (size_t i = 0; i < fit->count; i++) {
        const struct measured *point = fit->rows[i].point;
        if (fit_for_checking(point))
            continue;
        const double weight = 1 / in_series(fit, i);
        const enum group group = group_of(fit, &fit->rows[i], same_model);
        add_publisher(&all, point->publisher);
        for (int j = 0; j < point->value_count; j++) {
            const double error = errors[i * MEASURED_VALUES + (size_t)j];
            if (!isfinite(error))
                continue;
            all.at[all.count] = (struct residual){ point->publisher, (int)point->values[j].metric, error,
                                                   -error, weight, group, all.count };
            all.count++;
        }
    }
    return all;
}

/* ---- exponents ----------------------------------------------------------------------------- */

/* From the 10 % to the 90 % quantile of TPOT. */
static double spread_of(const struct residuals *all, enum group group, size_t *count)
{
    double *values = calloc(all->count + 1, sizeof *values);
    *count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].group == group && all->at[i].metric == METRIC_TPOT)
            values[(*count)++] = all->at[i].error;
    const double spread = sizes_quantile(values, *count, 0.9) - sizes_quantile(values, *count, 0.1);
    free(values);
    return spread;
}

/* Prints the exponents as rows of data/efficiency.csv. */
static void find_exponents(struct residuals *all)
{
    static const struct { const char *name, *what; } lines[GROUPS] = {
        [UNMEASURED] = { NAME_unmeasured_band_exponent, "models that no other source measured" },
        [SPLIT] = { NAME_split_band_exponent, "servers with prefill and decode apart" },
    };
    size_t plain, count;
    const double spread = spread_of(all, PLAIN, &plain);
    for (enum group group = UNMEASURED; group < GROUPS; group++) {
        const double wider = spread_of(all, group, &count);
        if (!count || !plain)
            continue;
        all->exponent[group] = fmax(1, wider / spread);
        printf("any,%s,%.2f,1,\"`make fit`, source left out: spread of TPOT of %s over that of the rest\","
               "%s,,%zu and %zu\n", lines[group].name, all->exponent[group], lines[group].what, fit_today(),
               count, plain);
    }
    all->exponent[SPLIT_UNMEASURED] = all->exponent[UNMEASURED] * all->exponent[SPLIT];
    for (size_t i = 0; i < all->count; i++)
        all->at[i].value /= all->exponent[all->at[i].group];
}

/* ---- intervals ----------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const struct residual *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->order > y->order) - (x->order < y->order);
}

/* Of the sorted residuals of a metric, without those of a publisher if one is given; their number. */
static size_t weighted_quantile(const struct residuals *all, int metric, const char *without, double share,
                               double *quantile)
{
    double sum = 0, below = 0;
    size_t count = 0;
    *quantile = NAN;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < all->count; i++) {
            const struct residual *one = &all->at[i];
            if (one->metric != metric || (without && !strcmp(one->publisher, without)))
                continue;
            *(pass ? &below : &sum) += one->weight;
            count += !pass;
            if (pass && isnan(*quantile) && below >= share * sum)
                *quantile = one->value;
        }
    return count;
}

static size_t count_of(const struct residuals *all, int metric, const char *publisher)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        count += all->at[i].metric == metric && !strcmp(all->at[i].publisher, publisher);
    return count;
}

/* What an interval leaves out at each end. If a new source is exchangeable with the K that were fitted, the
 * interval must hold 0.8 (K + 1) / K of those K to hold 80 % of the new one (conformal prediction over
 * groups). `without` is not counted. */
static double tail_of(const struct residuals *all, int metric, const char *without)
{
    const double held = 0.8, most = 0.88;
    enum { SOME = 10 };
    double sources = 0;
    for (size_t i = 0; i < all->publisher_count; i++)
        sources += !(without && !strcmp(all->publishers[i], without)) &&
                   count_of(all, metric, all->publishers[i]) >= SOME;
    return sources > 0 ? (1 - fmin(most, held * (sources + 1) / sources)) / 2 : (1 - most) / 2;
}

/* How much of a source an interval holds that was made of the others. */
static void print_coverage(const struct residuals *all, int metric, const char *publisher)
{
    const double tail = tail_of(all, metric, publisher);
    double low, high, mean = 0;
    if (!count_of(all, metric, publisher) || !weighted_quantile(all, metric, publisher, tail, &low))
        return;
    weighted_quantile(all, metric, publisher, 1 - tail, &high);
    double *sizes = calloc(all->count + 1, sizeof *sizes);
    size_t count = 0, inside = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct residual *one = &all->at[i];
        if (one->metric != metric || strcmp(one->publisher, publisher))
            continue;
        inside += one->value >= low && one->value <= high;
        sizes[count] = fabs(exp(one->error) - 1);
        mean += sizes[count++];
    }
    printf("%-44s %-10s %5zu  median %5.1f  mean %5.1f  p90 %5.1f  in %.3f..%.3f %3.0f %%\n", publisher,
           metric_names[metric], count, 100 * sizes_quantile(sizes, count, 0.5), 100 * mean / (double)count,
           100 * sizes_quantile(sizes, count, 0.9), exp(low), exp(high),
           100 * (double)inside / (double)count);
    free(sizes);
}

/* Rows for data/efficiency.csv. */
static void print_band(const struct residuals *all, int metric)
{
    static const char *const ends[] = { "low", "high" };
    const double tail = tail_of(all, metric, NULL);
    for (int e = 0; e < 2; e++) {
        const double share = e ? 1 - tail : tail;
        double end;
        const size_t count = weighted_quantile(all, metric, NULL, share, &end);
        if (count)
            printf("any,%s_%s,%.3f,1,\"`make fit`, source left out: %.1f %% of the residuals, each series "
                   "with equal weight\",%s,,of %zu\n", metric_names[metric], ends[e], exp(end), 100 * share,
                   fit_today(), count);
    }
}

void fit_intervals(const struct fit *fit, const double *errors, fit_alike *same_model)
{
    static const int with_band[] = { METRIC_TPOT, METRIC_TTFT, METRIC_THROUGHPUT, METRIC_PREFILL,
                                     METRIC_DECODE, METRIC_ENERGY };
    struct residuals all = residuals_of(fit, errors, same_model);
    find_exponents(&all);
    qsort(all.at, all.count, sizeof *all.at, by_value);
    for (int metric = 0; metric < METRICS; metric++)
        for (size_t i = 0; i < all.publisher_count; i++)
            print_coverage(&all, metric, all.publishers[i]);
    for (size_t i = 0; i < sizeof with_band / sizeof *with_band; i++)
        print_band(&all, with_band[i]);
    free(all.publishers);
    free(all.at);
}
