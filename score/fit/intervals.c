/* Prediction intervals: how measured and predicted differ on sources that a fit has not seen.
 *
 * A residual is ln(measured / predicted). It is divided by the exponent of its row, which widens the interval
 * of what is less well known: a model that no other source measured, and prompts and outputs on servers apart.
 * Each exponent is a ratio of spreads, of such rows and of the plain ones. Quantiles of what is left are the
 * interval; each series has the weight of one, however many its loads. */
#include "score/fit/fit.h"

#include "build/row_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- exponents ----------------------------------------------------------------------------- */

enum group { PLAIN, UNMEASURED, SPLIT, GROUPS };

static bool is_split(const struct fitted *row)
{
    return measured_input(row->point, NAME_prefill_workers, 0) > 0;
}

static bool measured_elsewhere(const struct fit *fit, const struct fitted *row, fit_alike *same_model)
{
    for (size_t i = 0; i < fit->count; i++)
        if (!fit_for_checking(fit->rows[i].point) && same_model(&fit->rows[i], row) &&
            strcmp(fit->rows[i].point->publisher, row->point->publisher))
            return true;
    return false;
}

/* ln of the 90 % over the 10 % quantile of TPOT. */
static double spread_of(const struct fit *fit, const double *errors, const enum group *groups, enum group group,
                        size_t *count)
{
    double *values = calloc(fit->count * MEASURED_VALUES + 1, sizeof *values);
    *count = 0;
    for (size_t i = 0; i < fit->count; i++)
        for (int j = 0; j < fit->rows[i].point->value_count; j++) {
            const double error = errors[i * MEASURED_VALUES + (size_t)j];
            if (groups[i] == group && !fit_for_checking(fit->rows[i].point) && isfinite(error) &&
                fit->rows[i].point->values[j].metric == METRIC_TPOT)
                values[(*count)++] = error;
        }
    const double spread = sizes_quantile(values, *count, 0.9) - sizes_quantile(values, *count, 0.1);
    free(values);
    return spread;
}

/* The exponent of each row; prints the rows of data/efficiency.csv. */
static double *exponents_of(const struct fit *fit, const double *errors, fit_alike *same_model)
{
    static const struct { const char *name, *what; } lines[GROUPS] = {
        [UNMEASURED] = { NAME_unmeasured_band_exponent, "models that no other source measured" },
        [SPLIT] = { NAME_split_band_exponent, "servers with prefill and decode apart" },
    };
    enum group *groups = calloc(fit->count + 1, sizeof *groups);
    double *exponents = calloc(fit->count + 1, sizeof *exponents), of[GROUPS] = { 1, 1, 1 };
    size_t plain, count;
    for (size_t i = 0; i < fit->count; i++)
        groups[i] = is_split(&fit->rows[i]) ? SPLIT
                  : measured_elsewhere(fit, &fit->rows[i], same_model) ? PLAIN : UNMEASURED;
    const double spread = spread_of(fit, errors, groups, PLAIN, &plain);
    for (enum group group = UNMEASURED; group < GROUPS; group++) {
        const double wider = spread_of(fit, errors, groups, group, &count);
        if (!count || !plain)
            continue;
        of[group] = fmax(1, wider / spread);
        printf("any,%s,%.2f,1,\"`make fit`, source left out: spread of TPOT of %s over that of the rest\",%s,,"
               "%zu and %zu\n", lines[group].name, of[group], lines[group].what, fit_today(), count, plain);
    }
    for (size_t i = 0; i < fit->count; i++)
        exponents[i] = of[groups[i]];
    free(groups);
    return exponents;
}

/* ---- quantiles ------------------------------------------------------------------------------- */

struct ratio { double ratio, weight; };       /* measured over predicted */

static int by_ratio(const void *a, const void *b)
{
    const struct ratio *x = a, *y = b;
    return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

static double weighed_quantile(struct ratio *all, size_t count, double share)
{
    double sum = 0, below = 0;
    qsort(all, count, sizeof *all, by_ratio);
    for (size_t i = 0; i < count; i++)
        sum += all[i].weight;
    for (size_t i = 0; i < count; i++) {
        below += all[i].weight;
        if (below >= share * sum)
            return all[i].ratio;
    }
    return NAN;
}

/* The ratios of a metric, to one over the row's exponent; every series has the weight of one, however many its loads. `without`: not those of
 * this publisher. */
static size_t weigh_ratios(const struct fit *fit, const double *errors, const double *exponents, int metric,
                           const char *without, struct ratio *out)
{
    size_t count = 0;
    for (size_t i = 0; i < fit->count; i++) {
        const struct measured *point = fit->rows[i].point;
        double same = 0;
        if (fit_for_checking(point) || (without && !strcmp(point->publisher, without)))
            continue;
        for (size_t j = 0; j < fit->count; j++)
            same += *point->series ? !strcmp(fit->rows[j].point->series, point->series) : i == j;
        for (int j = 0; j < point->value_count; j++)
            if ((int)point->values[j].metric == metric && isfinite(errors[i * MEASURED_VALUES + (size_t)j]))
                out[count++] = (struct ratio){ exp(-errors[i * MEASURED_VALUES + (size_t)j] / exponents[i]), 1 / same };
    }
    return count;
}

/* An interval of 80 % for a source that is not among the K of a fit: of K sources alike the new one is the
 * (K+1)-th, so it holds 0.8 (K + 1) / K of these (conformal prediction over groups). `without` is not counted. */
static double tail_of(const struct fit *fit, const double *errors, int metric, const char *without)
{
    const double held = 0.8, most = 0.88;
    enum { SOME = 10 };
    double sources = 0;
    for (size_t first = 0; first < fit->count; first++) {
        const char *publisher = fit->rows[first].point->publisher;
        bool again = fit_for_checking(fit->rows[first].point) || (without && !strcmp(publisher, without));
        for (size_t i = 0; i < first; i++)
            again |= !strcmp(fit->rows[i].point->publisher, publisher);
        size_t count = 0;
        for (size_t i = first; i < fit->count && !again; i++)
            for (int j = 0; j < fit->rows[i].point->value_count; j++)
                count += !strcmp(fit->rows[i].point->publisher, publisher) &&
                         (int)fit->rows[i].point->values[j].metric == metric &&
                         isfinite(errors[i * MEASURED_VALUES + (size_t)j]);
        sources += count >= SOME;
    }
    return sources > 0 ? (1 - fmin(most, held * (sources + 1) / sources)) / 2 : (1 - most) / 2;
}

/* How much of each source an interval holds that was made of the others. */
static void print_coverage(const struct fit *fit, const double *errors, const double *exponents, int metric)
{
    struct ratio *ratios = calloc(fit->count * MEASURED_VALUES + 1, sizeof *ratios);
    double *sizes = calloc(fit->count * MEASURED_VALUES + 1, sizeof *sizes);
    for (size_t first = 0; first < fit->count; first++) {
        const char *publisher = fit->rows[first].point->publisher;
        bool again = fit_for_checking(fit->rows[first].point);
        for (size_t i = 0; i < first; i++)
            again |= !strcmp(fit->rows[i].point->publisher, publisher);
        const size_t others = again ? 0 : weigh_ratios(fit, errors, exponents, metric, publisher, ratios);
        if (!others)
            continue;
        const double tail = tail_of(fit, errors, metric, publisher);
        const double low = weighed_quantile(ratios, others, tail), high = weighed_quantile(ratios, others, 1 - tail);
        size_t count = 0, inside = 0;
        double mean = 0;
        for (size_t i = 0; i < fit->count; i++)
            for (int j = 0; !strcmp(fit->rows[i].point->publisher, publisher) &&
                            j < fit->rows[i].point->value_count; j++) {
                const double error = errors[i * MEASURED_VALUES + (size_t)j];
                if ((int)fit->rows[i].point->values[j].metric != metric || !isfinite(error))
                    continue;
                inside += -error >= exponents[i] * log(low) && -error <= exponents[i] * log(high);
                sizes[count++] = fabs(exp(error) - 1);
                mean += sizes[count - 1];
            }
        if (count)
            printf("%-44s %-10s %5zu  median %5.1f  mean %5.1f  p90 %5.1f  in %.3f..%.3f %3.0f %%\n", publisher,
                   metric_names[metric], count, 100 * sizes_quantile(sizes, count, 0.5),
                   100 * mean / (double)count, 100 * sizes_quantile(sizes, count, 0.9), low, high,
                   100 * (double)inside / (double)count);
    }
    free(ratios);
    free(sizes);
}

/* Rows for data/efficiency.csv: measured over predicted of what was left out. */
static void print_bands(const struct fit *fit, const double *errors, const double *exponents)
{
    static const struct { int metric; const char *name; } bands[] = {
        { METRIC_TPOT, "tpot" }, { METRIC_TTFT, "ttft" }, { METRIC_THROUGHPUT, "throughput" },
        { METRIC_PREFILL, "prefill" }, { METRIC_DECODE, "decode" }, { METRIC_ENERGY, "energy" },
    };
    static const char *const ends[] = { "low", "high" };
    struct ratio *ratios = calloc(fit->count * MEASURED_VALUES + 1, sizeof *ratios);
    for (size_t b = 0; b < sizeof bands / sizeof *bands; b++)
        for (int e = 0; e < 2; e++) {
            const size_t n = weigh_ratios(fit, errors, exponents, bands[b].metric, NULL, ratios);
            const double tail = tail_of(fit, errors, bands[b].metric, NULL), share = e ? 1 - tail : tail;
            if (n)
                printf("any,%s_%s,%.3f,1,\"`make fit`, source left out: %.1f %% of the residuals, each series "
                       "with equal weight\",%s,,of %zu\n", bands[b].name, ends[e],
                       weighed_quantile(ratios, n, share), 100 * share, fit_today(), n);
        }
    free(ratios);
}

void fit_intervals(const struct fit *fit, const double *errors, fit_alike *same_model)
{
    double *exponents = exponents_of(fit, errors, same_model);
    for (int metric = 0; metric < METRICS; metric++)
        print_coverage(fit, errors, exponents, metric);
    print_bands(fit, errors, exponents);
    free(exponents);
}
