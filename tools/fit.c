/* fit -- the constants of the prediction from open measurements.
 *
 *     fit POINTS.csv [model|machine]
 *
 * Minimises, over the logarithms of the constants, soft-L1 of ln(predicted / measured) of
 * TPOT and (at half weight) TTFT by Levenberg and Marquardt, with our own derivatives. A
 * configuration that many rows repeat weighs less than its rows; every constant is held
 * near what was thought of it before (the weight was chosen with models left out), and inside bounds.
 *
 * Prints the constants and the score. With `model` or `machine`, each in turn is left out
 * of the fit and scored by it: the error a user must expect. */
#include "ask/predictor.h"

#include <cminpack-1/cminpack.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONSTANTS = 24 };

static const double soft = 0.15, prior_weight = 0.5;
static const double weight_of[METRICS] = { [METRIC_TPOT] = 1, [METRIC_TTFT] = 0.35 };

/* A constant, the engine whose rows it is of (NULL: all), its bounds, and what is thought
 * of it before any server was seen: single kernels, or a round figure. */
struct constant {
    const char *name, *engine;
    double low, high, prior;
};

static const struct constant constants[CONSTANTS] = {
    { "reach_bf16", NULL, 0.3, 0.92, 0.75 },       /* kernels: 0.67 to 0.79 */
    { "reach_fp8", NULL, 0.2, 0.9, 0.54 },         /* kernels: 0.50 to 0.57 */
    { "reach_fp4", NULL, 0.1, 0.9, 0.37 },         /* kernels */
    { "reach_experts", NULL, 0.1, 1, 0.5 },        /* kernels: 0.4 to 0.7 */
    { "reach_weights", NULL, 0.4, 0.95, 0.77 },    /* kernels: 0.69 to 0.83 */
    { "reach_kv", NULL, 0.3, 0.95, 0.88 },         /* kernels: 0.85 to 0.89 */
    { "reach_attention", NULL, 0.2, 0.9, 0.6 },    /* kernels: 0.47 to 0.87 */
    { "reach_link", NULL, 0.2, 0.95, 0.6 },        /* kernels: 0.45 to 0.77 */
    { "launch_large", NULL, 1e-6, 3e-5, 6e-6 },    /* kernels: 4 to 13 us */
    { "launch_experts", NULL, 5e-6, 2e-4, 30e-6 }, /* kernels: 26 to 32 us */
    { "reduce_start", NULL, 2e-7, 2e-5, 3e-6 },    /* kernels: 2.6 to 4.6 us */
    { "reduce_per_chip", NULL, 5e-8, 5e-6, 0.3e-6 },
    { "host_sequence", NULL, 1e-6, 1e-4, 1e-5 },
    { "host_request", NULL, 2e-4, 3e-2, 2e-3 },
    { "first_token_per_token", NULL, 1e-7, 2e-5, 1e-6 },
    { "host_step", "vllm", 1e-5, 5e-3, 3e-4 },
    { "host_step", "sglang", 1e-5, 5e-3, 3e-4 },
    { "host_step", "trtllm", 1e-5, 5e-3, 3e-4 },
    { "first_token_base", "vllm", 1e-3, 1, 0.1 },
    { "first_token_base", "sglang", 1e-3, 1, 0.1 },
    { "first_token_base", "trtllm", 1e-3, 1, 0.1 },
    { "first_wave", "vllm", 0.01, 0.5, 0.05 },
    { "first_wave", "sglang", 0.01, 0.5, 0.05 },
    { "first_wave", "trtllm", 0.01, 0.5, 0.05 },
};

struct fitted {
    const struct measured *point;
    struct setup *setup;
    double weight;
    bool left_out;
};

struct fit {
    struct arena arena, scratch;
    struct predictor predictor;
    struct fitted *rows;
    size_t count, room;
    double start[CONSTANTS], x[CONSTANTS];      /* logarithms */
};

static void give_up(const char *what)
{
    fprintf(stderr, "fit: %s\n", what);
    exit(1);
}

static bool applies(const struct constant *constant, const struct measured *point)
{
    return !constant->engine || (point->engine && !strcmp(constant->engine, point->engine));
}

/* Inside its bounds a constant is e^x; beyond, it stays at the bound. */
static double value_of_constant(int k, double x)
{
    return fmin(fmax(exp(x), constants[k].low), constants[k].high);
}

static void row_inputs(const struct fitted *row, const double *x, double *inputs)
{
    predictor_inputs(row->setup, row->point, inputs);
    for (int k = 0; k < CONSTANTS; k++) {
        int input = applies(&constants[k], row->point) ? list_input(&row->setup->list,
                                                                    constants[k].name) : -1;
        if (input >= 0)
            inputs[input] = value_of_constant(k, x[k]);
    }
}

/* soft-L1 as a residual: its square is 2 s^2 (sqrt(1 + (e/s)^2) - 1). */
static double soften(double error, double *slope)
{
    double root = sqrt(1 + error * error / (soft * soft));
    double size = soft * sqrt(2 * (root - 1));
    *slope = size > 1e-12 ? fabs(error) / (root * size) : 1;
    return error < 0 ? -size : size;
}

/* The weight of a value in the fit; 0: not in it. */
static double weight_of_value(const struct fitted *row, int i)
{
    return row->left_out ? 0 : row->weight * weight_of[row->point->values[i].metric];
}

static int residuals(void *context, int m, int n, const double *x, double *values, double *jacobian,
                     int stride, int flag)
{
    struct fit *fit = context;
    double inputs[8192], gradient[8192];
    int at = 0;
    if (flag == 2)
        memset(jacobian, 0, (size_t)stride * (size_t)n * sizeof *jacobian);
    for (size_t i = 0; i < fit->count; i++) {
        const struct fitted *row = &fit->rows[i];
        struct prediction predictions[MEASURED_VALUES];
        row_inputs(row, x, inputs);
        if (flag != 2 && !row->left_out)
            predictor_predict(&fit->scratch, row->setup, row->point, inputs, predictions);
        for (int j = 0; j < row->point->value_count; j++, at++) {
            double weight = weight_of_value(row, j), slope, predicted = 1;
            if (flag == 2 && weight > 0)
                predicted = predictor_gradient(&fit->scratch, row->setup, j, inputs, gradient);
            else if (weight > 0)
                predicted = predictions[j].value;
            double error = weight > 0 ? log(predicted / row->point->values[j].value) : 0;
            double soft_error = soften(isfinite(error) ? error : 0, &slope);
            if (flag != 2)
                values[at] = weight * soft_error;
            for (int k = 0; k < n && flag == 2 && weight > 0; k++) {
                int input = applies(&constants[k], row->point)
                            ? list_input(&row->setup->list, constants[k].name) : -1;
                if (input >= 0)
                    jacobian[at + k * stride] = weight * slope * gradient[input] * inputs[input] /
                                                predicted;
            }
        }
    }
    for (int k = 0; k < n; k++, at++) {
        if (flag == 2)
            jacobian[at + k * stride] = prior_weight;
        else
            values[at] = prior_weight * (x[k] - fit->start[k]);
    }
    return at == m ? 0 : -1;
}

static void minimise(struct fit *fit)
{
    int m = CONSTANTS, n = CONSTANTS, pivots[CONSTANTS];
    for (size_t i = 0; i < fit->count; i++)
        m += fit->rows[i].point->value_count;
    int work_size = 5 * n + m;
    double *values = calloc((size_t)m, sizeof *values);
    double *jacobian = calloc((size_t)m * (size_t)n, sizeof *jacobian);
    double *work = calloc((size_t)work_size, sizeof *work);
    if (!values || !jacobian || !work)
        give_up("out of memory");
    memcpy(fit->x, fit->start, sizeof fit->x);
    int reason = lmder1(residuals, fit, m, n, fit->x, values, jacobian, m, 1e-6, pivots, work,
                        work_size);
    if (reason < 1 || reason > 3)
        fprintf(stderr, "fit: Levenberg-Marquardt stopped with %d\n", reason);
    free(values);
    free(jacobian);
    free(work);
}

/* ---- scores -------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct scores {
    double *errors[METRICS];
    size_t count[METRICS];
};

static void collect(struct fit *fit, bool left_out, struct scores *scores)
{
    double inputs[8192];
    struct prediction predictions[MEASURED_VALUES];
    for (size_t i = 0; i < fit->count; i++) {
        const struct fitted *row = &fit->rows[i];
        if (row->left_out != left_out)
            continue;
        row_inputs(row, fit->x, inputs);
        predictor_predict(&fit->scratch, row->setup, row->point, inputs, predictions);
        for (int j = 0; j < row->point->value_count; j++) {
            int metric = row->point->values[j].metric;
            scores->errors[metric][scores->count[metric]++] =
                log(predictions[j].value / row->point->values[j].value);
        }
    }
}

static void print_scores(const char *name, const struct scores *scores)
{
    for (int metric = 0; metric < METRICS; metric++) {
        size_t n = scores->count[metric];
        double *sizes = calloc(n + 1, sizeof *sizes), mean = 0, bias = 0;
        double *sorted = calloc(n + 1, sizeof *sorted);
        for (size_t i = 0; i < n; i++) {
            sizes[i] = fabs(exp(scores->errors[metric][i]) - 1);
            sorted[i] = scores->errors[metric][i];
            mean += sizes[i] / (double)n;
            bias += scores->errors[metric][i] / (double)n;
        }
        qsort(sizes, n, sizeof *sizes, by_size);
        qsort(sorted, n, sizeof *sorted, by_size);
        if (n)
            printf("%-36s %-5s %5zu  median %5.1f  mean %5.1f  p90 %5.1f  bias %+5.1f  "
                   "10 %% %+.3f  90 %% %+.3f\n", name, metric_names[metric], n,
                   100 * sizes[n / 2], 100 * mean, 100 * sizes[n * 9 / 10], 100 * (exp(bias) - 1),
                   sorted[n / 10], sorted[n * 9 / 10]);
        free(sizes);
        free(sorted);
    }
}

static struct scores scores_new(size_t count)
{
    struct scores scores = { 0 };
    for (int metric = 0; metric < METRICS; metric++)
        scores.errors[metric] = calloc(count, sizeof(double));
    return scores;
}

/* ---- points ------------------------------------------------------------------------------------ */

static void read_points(struct fit *fit, const char *path)
{
    static struct question question;
    struct measured_list *list = arena_alloc(&fit->arena, sizeof *list);
    struct error error;
    struct text text;
    struct csv csv;
    enum { LIMIT = 64 << 20 };
    if (!file_read(&fit->arena, path, LIMIT, &text, &error) ||
        !csv_read(&fit->arena, path, text, &csv, &error) ||
        !measured_read(&fit->arena, &csv, list, &error))
        give_up(error.what);
    fit->predictor = (struct predictor){ .arena = &fit->arena, .question = &question };
    for (size_t i = 0; i < list->count; i++)
        if (!list->points[i].refused)
            *(struct fitted *)arena_push(&fit->arena, &fit->rows, &fit->count, &fit->room,
                                      sizeof(struct fitted)) = (struct fitted){ &list->points[i], NULL, 1,
                                                                          false };
}

/* Setups move while they are added, so rows get theirs when all are there. A family of
 * n rows weighs as (60 n^3)^(1/4). */
static void link_setups(struct fit *fit)
{
    for (size_t i = 0; i < fit->count; i++)
        predictor_find(&fit->predictor, fit->rows[i].point);
    for (size_t i = 0; i < fit->count; i++)
        fit->rows[i].setup = predictor_find(&fit->predictor, fit->rows[i].point);
    for (size_t i = 0; i < fit->count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < fit->count; j++)
            same += fit->rows[j].setup == fit->rows[i].setup;
        fit->rows[i].weight = pow(60.0 / (double)same, 0.25);
        if (fit->rows[i].setup->refused)
            give_up(fit->rows[i].setup->refused);
    }
}

static void find_starts(struct fit *fit)
{
    for (int k = 0; k < CONSTANTS; k++)
        fit->start[k] = log(constants[k].prior);
}

static const char *group_of(const struct measured *point, bool machine)
{
    const char *name = machine ? point->machine : point->model;
    return strstr(name, "DeepSeek") ? "DeepSeek" : name;
}

static void leave_out(struct fit *fit, bool machine)
{
    struct scores all = scores_new(fit->count);
    char *done = calloc(fit->count, 1);
    for (size_t i = 0; i < fit->count; i++) {
        const char *name = group_of(fit->rows[i].point, machine);
        if (done[i])
            continue;
        for (size_t j = 0; j < fit->count; j++) {
            fit->rows[j].left_out = !strcmp(group_of(fit->rows[j].point, machine), name);
            done[j] |= fit->rows[j].left_out;
        }
        minimise(fit);
        struct scores one = scores_new(fit->count);
        collect(fit, true, &one);
        collect(fit, true, &all);
        print_scores(name, &one);
    }
    print_scores(machine ? "machine left out, all" : "model left out, all", &all);
}

int main(int count, char **words)
{
    static struct fit fit;
    if (count < 2)
        give_up("fit POINTS.csv [model|machine]");
    read_points(&fit, words[1]);
    link_setups(&fit);
    find_starts(&fit);
    minimise(&fit);
    for (int k = 0; k < CONSTANTS; k++)
        printf("%-22s %-7s %12.5g   thought %12.5g\n", constants[k].name,
               constants[k].engine ? constants[k].engine : "any", value_of_constant(k, fit.x[k]),
               exp(fit.start[k]));
    struct scores scores = scores_new(fit.count);
    collect(&fit, false, &scores);
    print_scores("all in the fit", &scores);
    if (count > 2)
        leave_out(&fit, !strcmp(words[2], "machine"));
    return 0;
}
