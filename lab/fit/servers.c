/* Servers: TPOT, TTFT, throughput and energy of whole deployments. A setup that many rows
 * repeat weighs less than its rows. With `cluster` each cluster (clusters.c) in turn is left out of the fit and scored
 * by it, with `pair` all of a model on a machine: the error a user must expect. What is left of them is the interval. */
#include "lab/fit/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct problem servers = {
    "servers", 0.15, 0.5,
    { [METRIC_TPOT] = 1, [METRIC_TTFT] = 0.35, [METRIC_THROUGHPUT] = 0.5, [METRIC_PREFILL] = 0.5,
      [METRIC_DECODE] = 0.5, [METRIC_ENERGY] = 0.5 }, false, false,
};

bool fit_for_checking(const struct measured *point)
{
    static const char *const kinds[] = { "open loop", "production", "personal" };
    return name_listed(kinds, sizeof kinds / sizeof *kinds, point->kind);
}

/* A setup of n rows weighs as sqrt(60 n) in the sum of squares. */
static void weigh(struct fit *fit)
{
    for (size_t i = 0; i < fit->count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < fit->count; j++)
            same += fit->rows[j].setup == fit->rows[i].setup;
        fit->rows[i].weight = fit_for_checking(fit->rows[i].point) ? 0 : pow(60.0 / (double)same, 0.25);
    }
}

/* ---- scores ------------------------------------------------------------------------------ */

/* Of a kind; NULL: of all that are not for checking. */
static size_t pick(const struct fit *fit, const double *errors, const char *kind,
                   int metric, double *picked)
{
    size_t count = 0;
    for (size_t i = 0; i < fit->count; i++)
        for (int j = 0; j < fit->rows[i].point->value_count; j++) {
            double error = errors[i * MEASURED_VALUES + (size_t)j];
            if (isfinite(error) && (int)fit->rows[i].point->values[j].metric == metric &&
                (kind ? !strcmp(fit->rows[i].point->kind, kind)
                      : !fit_for_checking(fit->rows[i].point)))
                picked[count++] = error;
        }
    return count;
}

/* A line of a kind and metric; kind NULL: of all that are not for checking. */
static void print_score(const struct fit *fit, const char *name, const double *errors, const char *kind, int metric)
{
    double *sizes = calloc(fit->count * MEASURED_VALUES + 1, sizeof *sizes), mean = 0;
    const size_t n = pick(fit, errors, kind, metric, sizes);
    for (size_t i = 0; i < n; i++) {
        sizes[i] = fabs(exp(sizes[i]) - 1);
        mean += sizes[i] / (double)n;
    }
    if (n)
        printf("%-18s %-28s %-10s %5zu  median %5.1f  mean %5.1f  p90 %5.1f\n", name, kind ? kind : "all",
               metric_names[metric], n, 100 * sizes_quantile(sizes, n, 0.5), 100 * mean,
               100 * sizes_quantile(sizes, n, 0.9));
    free(sizes);
}

static void print_scores(const struct fit *fit, const char *name, const double *errors)
{
    for (int metric = 0; metric < METRICS; metric++) {
        print_score(fit, name, errors, NULL, metric);
        for (size_t first = 0; first < fit->count; first++) {
            const char *kind = fit->rows[first].point->kind;
            bool again = false;
            for (size_t i = 0; i < first; i++)
                again |= !strcmp(fit->rows[i].point->kind, kind);
            if (!again)
                print_score(fit, name, errors, kind, metric);
        }
    }
}

/* ---- somebody's own sheet ------------------------------------------------------------------ */

/* Fits without the sheets of --with, then with them: the constants that move by more than the standard error that they
 * had, and each cluster before and after. False: no row is of such a sheet. */
static bool fit_with(struct fit *fit)
{
    double before[CONSTANTS_MOST], deviation[CONSTANTS_MOST];
    size_t added = 0;
    int moved = 0;
    for (size_t i = 0; i < fit->count; i++)
        added += fit->rows[i].left_out = fit->rows[i].added;
    if (!added)
        return false;
    fit_minimise(fit);
    fit_deviations(fit);
    memcpy(before, fit->x, sizeof before);
    memcpy(deviation, fit->deviation, sizeof deviation);
    const double *errors = fit_errors(fit);
    for (size_t i = 0; i < fit->count; i++)
        fit->rows[i].left_out = false;
    fit->warm = true;
    fit_minimise(fit);
    printf("%zu rows of one's own\n", added);
    for (int k = 0; k < fit->constant_count; k++)
        if (fabs(fit->x[k] - before[k]) > fmax(0.01, deviation[k])) {
            const struct constant *constant = &fit->constants[k];
            printf("moved %-16s %-36s %.4g %s, was %.4g +- %.0f %%\n", constant->entry ? constant->entry : "any",
                   constant->name, fit_constant(fit, k), constant->unit, exp(before[k]), 100 * deviation[k]);
            moved++;
        }
    printf("%d of %d constants moved by more than their standard error\n", moved, fit->constant_count);
    fit_cluster_lines(fit, errors, fit_errors(fit));
    return true;
}

/* ---- the program ---------------------------------------------------------------------------- */

void fit_open_servers(struct fit *fit, char **words, int count)
{
    fit_open(fit, &servers, words, count);
    for (size_t i = 0; i < fit->count; i++)
        if (!fit->rows[i].point->model)
            fit_give_up("kernels among the servers: fit kernels FILE");
    weigh(fit);
}

void fit_servers(struct fit *fit, char **words, int count)
{
    static const struct { const char *word, *title; fit_alike *alike; } ways[] = {
        { "cluster", "cluster", fit_same_cluster }, { "pair", "pair of model and machine", fit_same_pair } };
    int way = -1;
    for (int i = 0; i < (int)(sizeof ways / sizeof *ways); i++)
        way = strcmp(words[0], ways[i].word) ? way : i;
    if (count <= (way >= 0))
        fit_give_up("fit servers [cluster|pair] FILE...");
    fit_open_servers(fit, words + (way >= 0), count - (way >= 0));
    if (way < 0 && fit_with(fit))
        return;
    fit_minimise(fit);
    if (way < 0) {
        fit_deviations(fit);
        fit_print_constants(fit, "any", "figures of servers");
        print_scores(fit, "all in the fit", fit_errors(fit));
        fit_cluster_lines(fit, NULL, fit_errors(fit));
    } else {
        const double *seen = fit_errors(fit);
        fit->warm = true;
        const double *errors = fit_leave_out(fit, ways[way].alike, ways[way].alike);
        fit_clusters(fit, errors, seen, ways[way].title);
        fit_cluster_lines(fit, NULL, errors);
    }
}
