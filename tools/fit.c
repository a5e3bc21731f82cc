/* fit -- the constants of the prediction from open measurements.
 *
 *     fit POINTS.csv [model|machine]      of servers: tools/fit.def
 *     fit kernels KERNELS.csv             of single kernels: import/kernels.def
 *
 * Minimises, over the logarithms of the constants, soft-L1 of ln(predicted / measured) by
 * Levenberg and Marquardt, with our own derivatives. Every constant is held near what was
 * thought of it before, and inside bounds.
 *
 * Of servers it fits TPOT and (at less weight) TTFT; a configuration that many rows repeat
 * weighs less than its rows. With `model` or `machine`, each in turn is left out of the fit
 * and scored by it: the error a user must expect.
 *
 * Of kernels it fits one set of constants to all chips and one to each family, printed as
 * rows for data/efficiency.csv; and to all families but one, which scores that one and
 * gives the band. */
#include "ask/predictor.h"

#include "engine/engine.h"

#include <cminpack-1/cminpack.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CONSTANTS_MOST = 96, INPUTS_MOST = 8192 };

/* A constant, the engine whose rows it is of (NULL: all), its bounds, and what is thought
 * of it before; all in `unit`. */
struct constant {
    const char *name, *engine, *unit;
    double low, high, prior;
};

struct problem {
    const struct constant *constants;
    int count;
    double soft, prior_weight, weight_of[METRICS];
};

static const struct constant server_constants[] = {
#define CONSTANT(name, engine, low, high, prior) { #name, engine, "", low, high, prior },
#include "tools/fit.def"
#undef CONSTANT
};

static const struct constant kernel_constants[] = {
#define KERNEL(name, unit, low, high, prior) { #name, NULL, unit, low, high, prior },
#include "import/kernels.def"
#undef KERNEL
};

#define LIST(array) array, sizeof array / sizeof *array

static const struct problem servers = {
    LIST(server_constants), 0.15, 0.5, { [METRIC_TPOT] = 1, [METRIC_TTFT] = 0.35 },
};

static const struct problem kernels = {
    LIST(kernel_constants), 0.1, 0.05, { [METRIC_KERNEL] = 1 },
};

struct fitted {
    const struct measured *point;
    struct setup *setup;
    const char *family;             /* of the machine; "" where there is none */
    int input[CONSTANTS_MOST];      /* of each constant in the setup's list; -1: not read */
    double weight;
    bool left_out;
};

struct fit {
    const struct problem *problem;
    struct arena arena, scratch;
    struct predictor predictor;
    struct fitted *rows;
    size_t count, room;
    double scale[CONSTANTS_MOST];                           /* of a constant's unit */
    double start[CONSTANTS_MOST], x[CONSTANTS_MOST];        /* logarithms, in that unit */
};

static void give_up(const char *what)
{
    fprintf(stderr, "fit: %s\n", what);
    exit(1);
}

/* Inside its bounds a constant is e^x; beyond, it stays at the bound. */
static double value_of_constant(const struct fit *fit, int k, double x)
{
    const struct constant *constant = &fit->problem->constants[k];
    return fmin(fmax(exp(x), constant->low), constant->high);
}

static void row_inputs(const struct fit *fit, const struct fitted *row, const double *x,
                       double *inputs)
{
    predictor_inputs(row->setup, row->point, inputs);
    for (int k = 0; k < fit->problem->count; k++)
        if (row->input[k] >= 0)
            inputs[row->input[k]] = value_of_constant(fit, k, x[k]) * fit->scale[k];
}

/* soft-L1 as a residual: its square is 2 s^2 (sqrt(1 + (e/s)^2) - 1). */
static double soften(double error, double soft, double *slope)
{
    double root = sqrt(1 + error * error / (soft * soft));
    double size = soft * sqrt(2 * (root - 1));
    *slope = size > 1e-12 ? fabs(error) / (root * size) : 1;
    return error < 0 ? -size : size;
}

/* The weight of a value in the fit; 0: not in it. */
static double weight_of_value(const struct fit *fit, const struct fitted *row, int i)
{
    return row->left_out ? 0
                         : row->weight * fit->problem->weight_of[row->point->values[i].metric];
}

/* Value j of a row as a residual, into `value`, or its derivatives, into `jacobian`. */
static void residual(struct fit *fit, const struct fitted *row, int j, double predicted,
                     double *value)
{
    double weight = weight_of_value(fit, row, j), slope;
    double error = weight > 0 ? log(predicted / row->point->values[j].value) : 0;
    *value = weight * soften(isfinite(error) ? error : 0, fit->problem->soft, &slope);
}

static void residual_slopes(struct fit *fit, const struct fitted *row, int j,
                            const double *inputs, double *jacobian, int stride)
{
    double weight = weight_of_value(fit, row, j), slope, gradient[INPUTS_MOST];
    if (!(weight > 0))
        return;
    double predicted = predictor_gradient(&fit->scratch, row->setup, j, inputs, gradient);
    double error = log(predicted / row->point->values[j].value);
    soften(isfinite(error) ? error : 0, fit->problem->soft, &slope);
    for (int k = 0; k < fit->problem->count; k++) {
        int input = row->input[k];
        if (input >= 0)
            jacobian[k * stride] = weight * slope * gradient[input] * inputs[input] / predicted;
    }
}

static int residuals(void *context, int m, int n, const double *x, double *values, double *jacobian,
                     int stride, int flag)
{
    struct fit *fit = context;
    double inputs[INPUTS_MOST];
    int at = 0;
    if (flag == 2)
        memset(jacobian, 0, (size_t)stride * (size_t)n * sizeof *jacobian);
    for (size_t i = 0; i < fit->count; i++) {
        const struct fitted *row = &fit->rows[i];
        struct prediction predictions[MEASURED_VALUES] = { { 0 } };
        row_inputs(fit, row, x, inputs);
        if (flag != 2 && !row->left_out)
            predictor_predict(&fit->scratch, row->setup, row->point, inputs, predictions);
        for (int j = 0; j < row->point->value_count; j++, at++) {
            if (flag == 2)
                residual_slopes(fit, row, j, inputs, jacobian + at, stride);
            else
                residual(fit, row, j, predictions[j].value, &values[at]);
        }
    }
    for (int k = 0; k < n; k++, at++) {
        if (flag == 2)
            jacobian[at + k * stride] = fit->problem->prior_weight;
        else
            values[at] = fit->problem->prior_weight * (x[k] - fit->start[k]);
    }
    return at == m ? 0 : -1;
}

/* A first step of the logarithms no longer than a tenth: they are large numbers, and the
 * default, of a hundred times their length, jumps out of all bounds. */
static void minimise(struct fit *fit)
{
    enum { CALLS = 400 };
    int n = fit->problem->count, m = n, calls, slope_calls, pivots[CONSTANTS_MOST];
    double scales[CONSTANTS_MOST], work[4][CONSTANTS_MOST];
    for (size_t i = 0; i < fit->count; i++)
        m += fit->rows[i].point->value_count;
    double *values = calloc((size_t)m, sizeof *values);
    double *jacobian = calloc((size_t)m * (size_t)n, sizeof *jacobian);
    double *more = calloc((size_t)m, sizeof *more);
    if (!values || !jacobian || !more)
        give_up("out of memory");
    memcpy(fit->x, fit->start, sizeof fit->x);
    int reason = lmder(residuals, fit, m, n, fit->x, values, jacobian, m, 1e-6, 1e-6, 0, CALLS,
                       scales, 1, 0.1, 0, &calls, &slope_calls, pivots, work[0], work[1],
                       work[2], work[3], more);
    if (reason < 1 || reason > 3)
        fprintf(stderr, "fit: Levenberg-Marquardt stopped with %d\n", reason);
    free(values);
    free(jacobian);
    free(more);
}

/* ---- scores ------------------------------------------------------------------------------ */

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
    double inputs[INPUTS_MOST];
    struct prediction predictions[MEASURED_VALUES];
    for (size_t i = 0; i < fit->count; i++) {
        const struct fitted *row = &fit->rows[i];
        if (row->left_out != left_out)
            continue;
        row_inputs(fit, row, fit->x, inputs);
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

/* ---- points ------------------------------------------------------------------------------ */

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
        if (!list->points[i].refused) {
            struct fitted *row = arena_push(&fit->arena, &fit->rows, &fit->count, &fit->room,
                                            sizeof *row);
            *row = (struct fitted){ .point = &list->points[i], .family = "", .weight = 1 };
        }
}

static bool applies(const struct constant *constant, const struct measured *point)
{
    return !constant->engine || (point->engine && !strcmp(constant->engine, point->engine));
}

/* Setups move while they are added, so rows get theirs when all are there. */
static void link_setups(struct fit *fit)
{
    for (size_t i = 0; i < fit->count; i++)
        predictor_find(&fit->predictor, fit->rows[i].point);
    for (size_t i = 0; i < fit->count; i++) {
        struct fitted *row = &fit->rows[i];
        row->setup = predictor_find(&fit->predictor, row->point);
        if (row->setup->refused)
            give_up(row->setup->refused);
        for (int k = 0; k < fit->problem->count; k++) {
            const struct constant *constant = &fit->problem->constants[k];
            row->input[k] = applies(constant, row->point)
                            ? list_input(&row->setup->list, constant->name) : -1;
        }
    }
}

static void find_starts(struct fit *fit)
{
    for (int k = 0; k < fit->problem->count; k++) {
        const struct constant *constant = &fit->problem->constants[k];
        fit->start[k] = log(constant->prior);
        fit->scale[k] = 1;
        if (*constant->unit && !unit_scale(constant->unit, &fit->scale[k]))
            give_up(constant->unit);
    }
}

static void fit_open(struct fit *fit, const struct problem *problem, const char *path)
{
    fit->problem = problem;
    read_points(fit, path);
    link_setups(fit);
    find_starts(fit);
}

/* ---- servers ----------------------------------------------------------------------------- */

/* A family of n rows weighs as (60 n^3)^(1/4). */
static void weigh(struct fit *fit)
{
    for (size_t i = 0; i < fit->count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < fit->count; j++)
            same += fit->rows[j].setup == fit->rows[i].setup;
        fit->rows[i].weight = pow(60.0 / (double)same, 0.25);
    }
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

static void fit_servers(struct fit *fit, const char *path, const char *leave)
{
    fit_open(fit, &servers, path);
    weigh(fit);
    minimise(fit);
    for (int k = 0; k < fit->problem->count; k++) {
        const struct constant *constant = &fit->problem->constants[k];
        printf("%-22s %-7s %12.5g   thought %12.5g\n", constant->name,
               constant->engine ? constant->engine : "any", value_of_constant(fit, k, fit->x[k]),
               constant->prior);
    }
    struct scores scores = scores_new(fit->count);
    collect(fit, false, &scores);
    print_scores("all in the fit", &scores);
    if (leave)
        leave_out(fit, !strcmp(leave, "machine"));
}

/* ---- kernels ----------------------------------------------------------------------------- */

enum { FITS = 3 };                  /* the row's family alone, all families, all but the row's */

struct kernel_errors {
    double *log[FITS];              /* ln(predicted / measured) of each row; NAN: not known */
};

static void find_families(struct fit *fit)
{
    struct catalog *catalog = arena_alloc(&fit->arena, sizeof *catalog);
    struct error error;
    if (!scenario_catalog(&fit->arena, catalog, &error))
        give_up(error.what);
    for (size_t i = 0; i < fit->count; i++) {
        const struct catalog_entry *entry =
            catalog_find(catalog, CATALOG_MACHINE, fit->rows[i].point->machine, &error);
        const char *family = entry ? catalog_text(entry, "family") : NULL;
        fit->rows[i].family = family ? family : "";
    }
}

/* Fits to the rows of one family, to all (NULL), or to all but it. */
static void fit_family(struct fit *fit, const char *family, bool but)
{
    for (size_t i = 0; i < fit->count; i++)
        fit->rows[i].left_out = family && but == !strcmp(fit->rows[i].family, family);
    minimise(fit);
}

static double error_of(struct fit *fit, const struct fitted *row)
{
    double inputs[INPUTS_MOST];
    struct prediction predictions[MEASURED_VALUES];
    row_inputs(fit, row, fit->x, inputs);
    predictor_predict(&fit->scratch, row->setup, row->point, inputs, predictions);
    return log(predictions[0].value / row->point->values[0].value);
}

/* Whether a row in the fit asks for the same prediction. */
static bool known(const struct fit *fit, const struct fitted *row)
{
    for (size_t i = 0; i < fit->count; i++)
        if (!fit->rows[i].left_out &&
            !strcmp(fit->rows[i].point->values[0].row, row->point->values[0].row))
            return true;
    return false;
}

static void keep_errors(struct fit *fit, const char *family, double *errors)
{
    for (size_t i = 0; i < fit->count; i++)
        if (!family || !strcmp(fit->rows[i].family, family))
            errors[i] = known(fit, &fit->rows[i]) ? error_of(fit, &fit->rows[i]) : NAN;
}

/* Quantile of some sizes, which are sorted. */
static double quantile(double *sizes, size_t count, double share)
{
    qsort(sizes, count, sizeof *sizes, by_size);
    return count ? sizes[(size_t)fmin(share * (double)count, (double)count - 1)] : NAN;
}

static const char *today(void)
{
    static char date[16];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    return date;
}

/* Whether a constant moves a row's prediction: a row may read it and multiply by nothing. */
static bool moves(struct fit *fit, const struct fitted *row, int k)
{
    double inputs[INPUTS_MOST], gradient[INPUTS_MOST];
    if (row->input[k] < 0)
        return false;
    row_inputs(fit, row, fit->x, inputs);
    double value = predictor_gradient(&fit->scratch, row->setup, 0, inputs, gradient);
    return fabs(gradient[row->input[k]] * inputs[row->input[k]]) > 1e-9 * value;
}

/* Rows for data/efficiency.csv: the constants that move a row in the fit, each with the
 * error of the rows it moves. */
static void print_constants(struct fit *fit, const char *entry)
{
    double *sizes = calloc(fit->count, sizeof *sizes);
    size_t all = 0;
    for (size_t i = 0; i < fit->count; i++)
        all += !fit->rows[i].left_out;
    for (int k = 0; k < fit->problem->count; k++) {
        const struct constant *constant = &fit->problem->constants[k];
        size_t count = 0;
        for (size_t i = 0; i < fit->count; i++)
            if (!fit->rows[i].left_out && moves(fit, &fit->rows[i], k))
                sizes[count++] = fabs(exp(error_of(fit, &fit->rows[i])) - 1);
        if (count)
            printf("%s,%s,%.4g,%s,`make fit` on %zu open kernels,%s,,median %.1f %% of %zu\n",
                   entry, constant->name, value_of_constant(fit, k, fit->x[k]), constant->unit,
                   all, today(), 100 * quantile(sizes, count, 0.5), count);
    }
    free(sizes);
}

static bool first_of_family(const struct fit *fit, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (!strcmp(fit->rows[i].family, fit->rows[row].family))
            return false;
    return true;
}

static void fit_families(struct fit *fit, struct kernel_errors *errors)
{
    fit_family(fit, NULL, false);
    keep_errors(fit, NULL, errors->log[1]);
    print_constants(fit, "any");
    for (size_t i = 0; i < fit->count; i++) {
        const char *family = fit->rows[i].family;
        if (!first_of_family(fit, i))
            continue;
        fit_family(fit, family, false);
        keep_errors(fit, family, errors->log[0]);
        print_constants(fit, family);
        fit_family(fit, family, true);
        keep_errors(fit, family, errors->log[2]);
    }
}

static bool same_group(const struct measured *a, const struct measured *b)
{
    return !strcmp(a->kind, b->kind) && !strcmp(a->machine, b->machine);
}

static void print_group(const struct fit *fit, size_t first, const struct kernel_errors *errors)
{
    const struct measured *point = fit->rows[first].point;
    double *sizes = calloc(fit->count, sizeof *sizes);
    printf("%-40s %-10s", point->kind, point->machine);
    for (int f = 0; f < FITS; f++) {
        size_t count = 0;
        for (size_t i = first; i < fit->count; i++)
            if (same_group(point, fit->rows[i].point) && isfinite(errors->log[f][i]))
                sizes[count++] = fabs(exp(errors->log[f][i]) - 1);
        if (count)
            printf(" | %3zu %5.1f %5.1f", count, 100 * quantile(sizes, count, 0.5),
                   100 * quantile(sizes, count, 0.9));
        else
            printf(" |   -     -     -");
    }
    printf("\n");
    free(sizes);
}

/* The band: measured over predicted, of chips not in the fit. */
static void print_band(const struct fit *fit, const double *errors)
{
    double *ratios = calloc(fit->count, sizeof *ratios);
    size_t count = 0;
    for (size_t i = 0; i < fit->count; i++)
        if (isfinite(errors[i]))
            ratios[count++] = exp(-errors[i]);
    static const struct { const char *name; double share; } ends[] = { { "kernel_low", 0.1 },
                                                                       { "kernel_high", 0.9 } };
    for (int i = 0; i < 2; i++)
        printf("any,%s,%.3f,1,\"`make fit`, family left out: %.0f %% of the residuals\",%s,,"
               "of %zu\n", ends[i].name, quantile(ratios, count, ends[i].share),
               100 * ends[i].share, today(), count);
    free(ratios);
}

static void fit_kernels(struct fit *fit, const char *path)
{
    struct kernel_errors errors;
    fit_open(fit, &kernels, path);
    find_families(fit);
    for (int f = 0; f < FITS; f++)
        errors.log[f] = arena_array(&fit->arena, fit->count, sizeof(double));
    fit_families(fit, &errors);
    print_band(fit, errors.log[2]);
    printf("\nerror, %%: rows, median, 90 %% | its family fitted | all families | all others\n");
    for (size_t i = 0; i < fit->count; i++) {
        bool first = true;
        for (size_t j = 0; j < i; j++)
            first &= !same_group(fit->rows[i].point, fit->rows[j].point);
        if (first)
            print_group(fit, i, &errors);
    }
}

int main(int count, char **words)
{
    static struct fit fit;
    if (count < 2)
        give_up("fit POINTS.csv [model|machine], or fit kernels KERNELS.csv");
    if (!strcmp(words[1], "kernels") && count > 2)
        fit_kernels(&fit, words[2]);
    else
        fit_servers(&fit, words[1], count > 2 ? words[2] : NULL);
    return 0;
}
