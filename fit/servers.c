/* Servers: TPOT, TTFT, throughput and energy of whole deployments. A setup that many rows
 * repeat weighs less than its rows. With `model` or `machine` each in turn is left out of
 * the fit and scored by it, with `both` each model on each machine by a fit without either:
 * the error a user must expect. */
#include "fit/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct constant constants[] = {
#define CONSTANT(name, entry, unit, low, high, prior) { #name, entry, unit, low, high, prior },
#include "fit/servers.def"
#undef CONSTANT
};

static const struct problem servers = {
    constants, sizeof constants / sizeof *constants, 0.15, 0.5,
    { [METRIC_TPOT] = 1, [METRIC_TTFT] = 0.35, [METRIC_THROUGHPUT] = 0.5, [METRIC_PREFILL] = 0.5,
      [METRIC_DECODE] = 0.5, [METRIC_ENERGY] = 0.5 },
};

/* Stages of constant rate, what production servers did on average, and guesses of a depth
 * that nobody states are for checking. */
static bool for_checking(const struct measured *point)
{
    static const char *const kinds[] = { "open loop", "production",
                                         "multi-token prediction, depth assumed" };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(point->kind, kinds[i]))
            return true;
    return false;
}

/* A setup of n rows weighs as sqrt(60 n) in the sum of squares. */
static void weigh(struct fit *fit)
{
    for (size_t i = 0; i < fit->count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < fit->count; j++)
            same += fit->rows[j].setup == fit->rows[i].setup;
        fit->rows[i].weight = for_checking(fit->rows[i].point) ? 0 : pow(60.0 / (double)same, 0.25);
    }
}

/* ---- scores ------------------------------------------------------------------------------ */

struct errors {
    double *log;                    /* of each value of each row, [MEASURED_VALUES] a row; NAN */
};

static void keep_errors(struct fit *fit, bool left_out, struct errors *errors)
{
    for (size_t i = 0; i < fit->count; i++)
        for (int j = 0; j < fit->rows[i].point->value_count; j++)
            if (fit->rows[i].left_out == left_out)
                errors->log[i * MEASURED_VALUES + (size_t)j] = fit_error(fit, &fit->rows[i], j);
}

static struct errors errors_new(const struct fit *fit)
{
    struct errors errors = { calloc(fit->count * MEASURED_VALUES + 1, sizeof(double)) };
    for (size_t i = 0; i < fit->count * MEASURED_VALUES; i++)
        errors.log[i] = NAN;
    return errors;
}

/* Of a kind; NULL: of all that are not for checking. */
static size_t pick(const struct fit *fit, const struct errors *errors, const char *kind,
                   int metric, double *picked)
{
    size_t count = 0;
    for (size_t i = 0; i < fit->count; i++)
        for (int j = 0; j < fit->rows[i].point->value_count; j++) {
            double error = errors->log[i * MEASURED_VALUES + (size_t)j];
            if (isfinite(error) && (int)fit->rows[i].point->values[j].metric == metric &&
                (kind ? !strcmp(fit->rows[i].point->kind, kind)
                      : !for_checking(fit->rows[i].point)))
                picked[count++] = error;
        }
    return count;
}

static void print_scores(const struct fit *fit, const char *name, const struct errors *errors)
{
    double *sizes = calloc(fit->count * MEASURED_VALUES + 1, sizeof *sizes);
    for (int metric = 0; metric < METRICS; metric++)
        for (size_t first = 0; first < fit->count; first++) {
            const char *kind = fit->rows[first].point->kind;
            bool again = false;
            for (size_t i = 0; i < first; i++)
                again |= !strcmp(fit->rows[i].point->kind, kind);
            size_t n = again ? 0 : pick(fit, errors, kind, metric, sizes);
            double mean = 0;
            for (size_t i = 0; i < n; i++) {
                sizes[i] = fabs(exp(sizes[i]) - 1);
                mean += sizes[i] / (double)n;
            }
            if (n)
                printf("%-18s %-24s %-10s %5zu  median %5.1f  mean %5.1f  p90 %5.1f\n", name, kind,
                       metric_names[metric], n, 100 * fit_quantile(sizes, n, 0.5), 100 * mean,
                       100 * fit_quantile(sizes, n, 0.9));
        }
    free(sizes);
}

/* Rows for data/efficiency.csv: measured over predicted of what was left out. */
static void print_bands(const struct fit *fit, const struct errors *errors)
{
    static const struct { int metric; const char *name; } bands[] = {
        { METRIC_TPOT, "tpot" }, { METRIC_TTFT, "ttft" }, { METRIC_THROUGHPUT, "throughput" },
        { METRIC_PREFILL, "prefill" }, { METRIC_DECODE, "decode" }, { METRIC_ENERGY, "energy" },
    };
    static const struct { const char *name; double share; } ends[] = { { "low", 0.1 },
                                                                       { "high", 0.9 } };
    double *ratios = calloc(fit->count * MEASURED_VALUES + 1, sizeof *ratios);
    for (size_t b = 0; b < sizeof bands / sizeof *bands; b++)
        for (int e = 0; e < 2; e++) {
            size_t n = pick(fit, errors, NULL, bands[b].metric, ratios);
            for (size_t i = 0; i < n; i++)
                ratios[i] = exp(-ratios[i]);
            if (n)
                printf("any,%s_%s,%.3f,1,\"`make fit`, model left out: %.0f %% of the residuals\","
                       "%s,,of %zu\n", bands[b].name, ends[e].name,
                       fit_quantile(ratios, n, ends[e].share), 100 * ends[e].share, fit_today(), n);
        }
    free(ratios);
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

static bool same_model(const struct measured *a, const struct measured *b)
{
    return !strcmp(kin(a->model), kin(b->model));
}

static bool same_chip(const struct measured *a, const struct measured *b)
{
    return !strcasecmp(chip(a->machine), chip(b->machine));
}

static void leave_out(struct fit *fit, bool model, bool machine, struct errors *errors)
{
    char *done = calloc(fit->count + 1, 1);
    for (size_t i = 0; i < fit->count; i++) {
        const struct measured *point = fit->rows[i].point;
        if (done[i])
            continue;
        for (size_t j = 0; j < fit->count; j++) {
            const struct measured *other = fit->rows[j].point;
            fit->rows[j].left_out = (model && same_model(point, other)) ||
                                    (machine && same_chip(point, other));
        }
        fit_minimise(fit);
        for (size_t j = 0; j < fit->count; j++) {
            const struct measured *other = fit->rows[j].point;
            bool scored = (!model || same_model(point, other)) &&
                          (!machine || same_chip(point, other));
            fit->rows[j].left_out = scored;
            done[j] |= scored;
        }
        keep_errors(fit, true, errors);
    }
    free(done);
}

void fit_servers(struct fit *fit, char **words, int count)
{
    bool model = !strcmp(words[0], "model"), machine = !strcmp(words[0], "machine");
    bool both = !strcmp(words[0], "both"), leave = model || machine || both;
    if (count <= leave)
        fit_give_up("fit servers [model|machine|both] FILE...");
    fit_open(fit, &servers, words + leave, count - leave);
    for (size_t i = 0; i < fit->count; i++)
        if (!fit->rows[i].point->model)
            fit_give_up("kernels among the servers: fit kernels FILE");
    weigh(fit);
    struct errors errors = errors_new(fit);
    if (!leave) {
        fit_minimise(fit);
        fit_print_constants(fit, "any", "figures of servers");
        keep_errors(fit, false, &errors);
        print_scores(fit, "all in the fit", &errors);
    } else {
        leave_out(fit, model || both, machine || both, &errors);
        if (model)
            print_bands(fit, &errors);
        print_scores(fit, model ? "model left out" : machine ? "machine left out"
                                                             : "both left out", &errors);
    }
}
