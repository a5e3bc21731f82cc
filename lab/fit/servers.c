/* Servers: TPOT, TTFT, throughput and energy of whole deployments. A setup that many rows
 * repeat weighs less than its rows. With `source`, `model` or `machine` each in turn is left out of
 * the fit and scored by it, with `both` each model on each machine by a fit without either:
 * the error a user must expect. What is left of the sources left out is the prediction interval. */
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

/* ---- leaving out --------------------------------------------------------------------------- */

/* Models that share an architecture are left out together. */
static const char *kin(const char *model)
{
    static const char *const words[] = { "DeepSeek", "Llama-3.1-70B", "Llama-3.3-70B", "MiniMax",
                                         "Qwen3.5", "Llama-2", "Llama-3.1-405B", "Llama-3.1-8B" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(model, words[i]))
            return strstr(words[i], "70B") ? "Llama 3 70B" : words[i];
    return model;
}

/* Grace-Blackwell is the same chip. */
static const char *chip(const char *machine)
{
    return strstr(machine, "b200") || strstr(machine, "B200") ? "B200" : machine;
}

static bool same_model(const struct fitted *a, const struct fitted *b)
{
    return !strcmp(kin(a->point->model), kin(b->point->model));
}

static bool same_chip(const struct fitted *a, const struct fitted *b)
{
    return !strcasecmp(chip(a->point->machine), chip(b->point->machine));
}

static bool same_source(const struct fitted *a, const struct fitted *b)
{
    return !strcmp(a->point->publisher, b->point->publisher);
}

static bool either(const struct fitted *a, const struct fitted *b)
{
    return same_model(a, b) || same_chip(a, b);
}

static bool both(const struct fitted *a, const struct fitted *b)
{
    return same_model(a, b) && same_chip(a, b);
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
    static const struct { const char *word, *title; fit_alike *out, *scored; } ways[] = {
        { "source", "source left out", same_source, same_source },
        { "model", "model left out", same_model, same_model },
        { "machine", "machine left out", same_chip, same_chip },
        { "both", "both left out", either, both } };
    int way = -1;
    for (int i = 0; i < (int)(sizeof ways / sizeof *ways); i++)
        way = strcmp(words[0], ways[i].word) ? way : i;
    if (count <= (way >= 0))
        fit_give_up("fit servers [source|model|machine|both] FILE...");
    fit_open_servers(fit, words + (way >= 0), count - (way >= 0));
    if (way < 0) {
        fit_minimise(fit);
        fit_deviations(fit);
        fit_print_constants(fit, "any", "figures of servers");
        print_scores(fit, "all in the fit", fit_errors(fit));
    } else {
        const double *errors = fit_leave_out(fit, ways[way].out, ways[way].scored);
        if (ways[way].out == same_source)
            fit_intervals(fit, errors, same_model);
        print_scores(fit, ways[way].title, errors);
    }
}
