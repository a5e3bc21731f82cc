/* Personal machines: llama.cpp on one card, chip or processor, with one sequence or a few. Rows of one machine,
 * model and load weigh together as one. With `device` a tenth of the machines at a time is left out of the fit and
 * scored by it, with `model` each model: for backends that were measured on one machine. Their residuals make
 * the intervals, of which each is scored on what did not make it, and beside them stands the rule of thumb: bandwidth
 * over size, times the factor that suits the others best.
 *
 * A constant is fitted to three machines at least, or to the only one of its backend; else its value holds. */
#include "lab/fit/fit.h"

#include "base/quantile.h"
#include "build/row_names.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct problem personal = {
    .group = "personal", .soft = 0.15, .prior_weight = 0.4, .cauchy = true, .given = true,
    .weight_of = { [METRIC_TTFT] = 0.6, [METRIC_PREFILL] = 0.6, [METRIC_DECODE] = 1 },
};

enum { FOLDS = 10, MACHINES_LEAST = 3, ROWS_MOST = 4 };

/* ---- what is left out together --------------------------------------------------------------- */

/* A machine without the size of its memory, which drivers round: "NVIDIA GeForce RTX 5080 15GB". */
static size_t machine_size(const struct fitted *row)
{
    const char *name = row->point->machine, *space = strrchr(name, ' ');
    const size_t digits = space ? strspn(space + 1, "0123456789") : 0;
    return digits && !strcmp(space + 1 + digits, "GB") ? (size_t)(space - name) : strlen(name);
}

static bool same_machine(const struct fitted *a, const struct fitted *b)
{
    const size_t size = machine_size(a);
    return size == machine_size(b) && !strncmp(a->point->machine, b->point->machine, size);
}

/* By name (FNV-1a), so that more rows leave a machine where it is. */
static unsigned fold_of(const struct fitted *row)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < machine_size(row); i++)
        hash = (hash ^ (unsigned char)row->point->machine[i]) * 1099511628211u;
    return (unsigned)((hash >> 32) % FOLDS);
}

static bool same_fold(const struct fitted *a, const struct fitted *b)
{
    return fold_of(a) == fold_of(b);
}

/* A model without what was done to its weights: "gpt-oss-20b-mxfp4". */
static size_t model_size(const struct fitted *row)
{
    static const char *const types[] = { "-UD-", "-BF16", "-mxfp4", ".Q" };
    const char *name = row->point->model;
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *at = strstr(name, types[i]);
        size = at && (size_t)(at - name) < size ? (size_t)(at - name) : size;
    }
    return size;
}

static bool same_model(const struct fitted *a, const struct fitted *b)
{
    const size_t size = model_size(a);
    return size == model_size(b) && !strncmp(a->point->model, b->point->model, size);
}

/* ---- rows and constants -------------------------------------------------------------------------- */

static bool same_load(const struct fitted *a, const struct fitted *b)
{
    bool same = a->setup == b->setup;
    for (int i = 0; same && i < a->point->input_count; i++)
        same = a->point->inputs[i].value == b->point->inputs[i].value;
    return same;
}

/* Rows of one load weigh as one, and those of a machine as ROWS_MOST at most where the engine ran on others too. */
static void weigh(struct fit *fit)
{
    for (size_t i = 0; i < fit->count; i++) {
        struct fitted *row = &fit->rows[i];
        double same = 0, machine = 0;
        bool others = false;
        for (size_t j = 0; j < fit->count; j++) {
            same += same_load(row, &fit->rows[j]);
            machine += same_machine(row, &fit->rows[j]);
            others |= !same_machine(row, &fit->rows[j]) && !strcmp(row->point->engine, fit->rows[j].point->engine);
        }
        row->weight = sqrt((others ? fmin(1, ROWS_MOST / machine) : 1) / same);
    }
}

static bool of_backend(const struct fit *fit, const struct fitted *row, int k)
{
    for (int i = 0; i < ENTRIES; i++)
        if (row->entries[i] && fit->constants[k].entry && !strcmp(row->entries[i]->name, fit->constants[k].entry))
            return catalog_text(row->entries[i], "backend_of") != NULL;
    return false;
}

/* How many machines have rows that constant k moves; `backend` tells whether it is one's of a backend. */
static size_t machines_moved(const struct fit *fit, const bool *moves, int k, bool *backend)
{
    const size_t constants = (size_t)fit->constant_count;
    const struct fitted **seen = calloc(fit->count + 1, sizeof *seen);
    size_t count = 0;
    for (size_t i = 0; i < fit->count; i++) {
        const struct fitted *row = &fit->rows[i];
        bool again = false, moved = false;
        for (size_t j = 0; j < count; j++)
            again |= same_machine(seen[j], row);
        for (size_t j = 0; j < MEASURED_VALUES; j++)
            moved |= moves[(i * MEASURED_VALUES + j) * constants + (size_t)k];
        if (!again && moved) {
            *backend = of_backend(fit, row, k);
            seen[count++] = row;
        }
    }
    free(seen);
    return count;
}

static void hold_what_few_tell(struct fit *fit)
{
    memcpy(fit->x, fit->start, sizeof fit->x);
    const bool *moves = fit_moves(fit);
    for (int k = 0; k < fit->constant_count; k++) {
        bool backend = false;
        const size_t machines = machines_moved(fit, moves, k, &backend);
        if (machines >= MACHINES_LEAST || (machines == 1 && backend))
            continue;
        if (machines && !fit->ranks->rank)
            fprintf(stderr, "fit: %s of %s holds: %zu machines\n", fit->constants[k].name,
                    fit->constants[k].entry ? fit->constants[k].entry : "any", machines);
        for (size_t i = 0; i < fit->count; i++)
            fit->rows[i].input[k] = -1;
    }
}

/* ---- residuals --------------------------------------------------------------------------------- */

/* Machines whose errors make one interval. */
enum group { LOCALSCORE_GPU, LOCALSCORE_CPU, CURRENT, GROUPS };
static const char *const group_names[GROUPS] = { "LocalScore, GPUs", "LocalScore, processors", "llama.cpp" };

struct personal_residual {
    const struct fitted *row;
    enum group group;
    int metric;
    double error;                   /* ln(measured / predicted) */
    double rule;                    /* the same of bandwidth over size; NAN: it says nothing of this metric */
};

struct personal_residuals {
    struct personal_residual *at;
    size_t count;
    fit_alike *out;
};

static enum group group_of(const struct fitted *row)
{
    double cores;
    if (strcmp(row->point->engine, "localscore"))
        return CURRENT;
    return catalog_number(row->machine, NAME_cpu_cores, &cores) && cores > 0 ? LOCALSCORE_CPU : LOCALSCORE_GPU;
}

/* Speeds of bandwidth over size. */
static double *rules_of(struct fit *fit)
{
    static const char *const rows[] = { NAME_peer_size_decode };
    struct predictor rule = { .arena = &fit->arena, .command = fit->predictor.command, .rows = rows, .row_count = 1 };
    double *speeds = arena_array(&fit->arena, fit->count, sizeof *speeds);
    for (size_t i = 0; i < fit->count; i++) {
        const struct setup *setup = predictor_find(&rule, fit->rows[i].point);
        if (setup->refused)
            fit_give_up(setup->refused);
        predictor_rows(&fit->scratch, setup, fit->rows[i].point, &speeds[i]);
    }
    return speeds;
}

static struct personal_residuals residuals_of(struct fit *fit, const double *errors, fit_alike *out)
{
    const double *rules = rules_of(fit);
    struct personal_residuals all = { .out = out };
    all.at = arena_array(&fit->arena, fit->count * MEASURED_VALUES, sizeof *all.at);
    for (size_t i = 0; i < fit->count; i++)
        for (int j = 0; j < fit->rows[i].point->value_count; j++) {
            const struct fitted *row = &fit->rows[i];
            const int metric = (int)row->point->values[j].metric;
            all.at[all.count++] = (struct personal_residual){ row, group_of(row), metric,
                                                              -errors[i * MEASURED_VALUES + (size_t)j],
                                                              metric == METRIC_DECODE ? log(row->measured[j] / rules[i]) : NAN };
        }
    return all;
}

/* The quantile of the residuals of a group and metric, of bandwidth over size where `rule`, without those left out
 * with a row (NULL: of all). */
static double residual_quantile(const struct personal_residuals *all, const struct personal_residual *like,
                                const struct fitted *without, bool rule, double share)
{
    double *values = calloc(all->count + 1, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct personal_residual *one = &all->at[i];
        if (one->group == like->group && one->metric == like->metric && !(without && all->out(one->row, without)))
            values[count++] = rule ? one->rule : one->error;
    }
    numbers_sort(values, count);
    const double value = quantile_of(values, count, share);
    free(values);
    return value;
}

/* ---- scores --------------------------------------------------------------------------------- */

static void print_sizes(const char *what, double *sizes, size_t count)
{
    double mean = 0;
    for (size_t i = 0; i < count; i++)
        mean += sizes[i] / (double)count;
    printf("%-24s  median %5.1f  mean %5.1f  p90 %5.1f", what, 100 * sizes_quantile(sizes, count, 0.5), 100 * mean,
           100 * sizes_quantile(sizes, count, 0.9));
}

typedef bool within(const struct personal_residual *one, const char *name);

static bool in_group(const struct personal_residual *one, const char *name)
{
    return !strcmp(group_names[one->group], name);
}

static bool on_backend(const struct personal_residual *one, const char *name)
{
    for (int i = ENTRIES; i-- > 0;)
        if (one->row->entries[i])
            return !strcmp(catalog_text(one->row->entries[i], "title"), name);
    return false;
}

/* All of LocalScore, or all of current builds. */
static bool in_study(const struct personal_residual *one, const char *name)
{
    return !strcmp(one->group == CURRENT ? "llama.cpp, all" : "LocalScore, all", name);
}

/* One line of a metric: errors, the share inside an interval made of the others, and of bandwidth over size. */
static void print_line(const struct personal_residuals *all, within *is, const char *name, int metric)
{
    double *sizes = calloc(all->count + 1, sizeof *sizes), *rules = calloc(all->count + 1, sizeof *rules);
    size_t count = 0, inside = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct personal_residual *one = &all->at[i];
        if (one->metric != metric || !is(one, name))
            continue;
        const double low = residual_quantile(all, one, one->row, false, 0.1);
        const double high = residual_quantile(all, one, one->row, false, 0.9);
        inside += one->error >= low && one->error <= high;
        rules[count] = metric != METRIC_DECODE ? 0
            : fabs(exp(residual_quantile(all, one, one->row, true, 0.5) - one->rule) - 1);
        sizes[count++] = fabs(exp(-one->error) - 1);
    }
    if (count) {
        printf("%-8s %4zu  ", metric_names[metric], count);
        print_sizes(name, sizes, count);
        printf("  in band %3.0f %%\n", 100 * (double)inside / (double)count);
        if (metric == METRIC_DECODE) {
            printf("%-8s %4zu  ", "", count);
            print_sizes("  bandwidth over size", rules, count);
            printf("\n");
        }
    }
    free(sizes);
    free(rules);
}

static void print_lines(const struct personal_residuals *all, within *is, const char *name)
{
    static const int metrics[] = { METRIC_DECODE, METRIC_PREFILL, METRIC_TTFT };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        print_line(all, is, name, metrics[i]);
}

static void print_backends(const struct personal_residuals *all)
{
    for (size_t i = 0; i < all->count; i++) {
        const char *name = NULL;
        bool again = false;
        for (int e = ENTRIES; !name && e-- > 0;)
            name = all->at[i].row->entries[e] ? catalog_text(all->at[i].row->entries[e], "title") : NULL;
        for (size_t j = 0; name && j < i; j++)
            again |= on_backend(&all->at[j], name);
        if (name && !again)
            print_lines(all, on_backend, name);
    }
}

static void print_scores(const struct personal_residuals *all)
{
    print_lines(all, in_study, "LocalScore, all");
    print_lines(all, in_study, "llama.cpp, all");
    print_lines(all, in_group, group_names[LOCALSCORE_GPU]);
    print_backends(all);
}

/* ---- intervals --------------------------------------------------------------------------------- */

/* Rows for data/efficiency.csv: the interval of which group and metric serves an entry. A time has the inverse of
 * the interval of its speed. */
static const struct served {
    enum group group;
    int metric;
    const char *entry, *ends[2];
    bool time;
} served[] = {
    { LOCALSCORE_GPU, METRIC_DECODE, "llamacpp", { NAME_decode_low, NAME_decode_high }, false },
    { LOCALSCORE_GPU, METRIC_DECODE, "llamacpp", { NAME_throughput_low, NAME_throughput_high }, false },
    { LOCALSCORE_GPU, METRIC_DECODE, "llamacpp", { NAME_tpot_low, NAME_tpot_high }, true },
    { CURRENT, METRIC_PREFILL, "llamacpp", { NAME_prefill_low, NAME_prefill_high }, false },
    { CURRENT, METRIC_PREFILL, "llamacpp", { NAME_ttft_low, NAME_ttft_high }, true },
    { LOCALSCORE_CPU, METRIC_DECODE, "llamacpp-cpu", { NAME_decode_low, NAME_decode_high }, false },
    { LOCALSCORE_CPU, METRIC_DECODE, "llamacpp-cpu", { NAME_throughput_low, NAME_throughput_high }, false },
    { LOCALSCORE_CPU, METRIC_DECODE, "llamacpp-cpu", { NAME_tpot_low, NAME_tpot_high }, true },
    { LOCALSCORE_CPU, METRIC_PREFILL, "llamacpp-cpu", { NAME_prefill_low, NAME_prefill_high }, false },
    { LOCALSCORE_CPU, METRIC_PREFILL, "llamacpp-cpu", { NAME_ttft_low, NAME_ttft_high }, true },
    { LOCALSCORE_GPU, METRIC_PREFILL, "localscore", { NAME_prefill_low, NAME_prefill_high }, false },
    { LOCALSCORE_GPU, METRIC_TTFT, "localscore", { NAME_ttft_low, NAME_ttft_high }, false },
    { LOCALSCORE_CPU, METRIC_PREFILL, "localscore-cpu", { NAME_prefill_low, NAME_prefill_high }, false },
    { LOCALSCORE_CPU, METRIC_TTFT, "localscore-cpu", { NAME_ttft_low, NAME_ttft_high }, false },
};

static void print_bands(const struct personal_residuals *all, const char *left_out)
{
    for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
        const struct personal_residual like = { .group = served[i].group, .metric = served[i].metric };
        const double low = residual_quantile(all, &like, NULL, false, 0.1), high = residual_quantile(all, &like, NULL, false, 0.9);
        const double ends[] = { served[i].time ? -high : low, served[i].time ? -low : high };
        for (int e = 0; isfinite(low) && e < 2; e++)
            printf("%s,%s,%.3f,1,\"`make fit`, %s left out: %d %% of the residuals of %s\",%s,,\n", served[i].entry,
                   served[i].ends[e], exp(ends[e]), left_out, e ? 90 : 10, group_names[served[i].group], fit_today());
    }
}

/* ---- the program --------------------------------------------------------------------------------- */

void fit_personal(struct fit *fit, char **words, int count)
{
    static const struct { const char *word, *title; fit_alike *out; } ways[] = {
        { "device", "devices", same_fold }, { "model", "models", same_model } };
    int way = -1;
    for (int i = 0; i < (int)(sizeof ways / sizeof *ways); i++)
        way = strcmp(words[0], ways[i].word) ? way : i;
    if (count <= (way >= 0))
        fit_give_up("fit personal [device|model] FILE...");
    fit_open(fit, &personal, words + (way >= 0), count - (way >= 0));
    weigh(fit);
    hold_what_few_tell(fit);
    fit_minimise(fit);
    fit->warm = true;
    if (way >= 0) {
        const struct personal_residuals all = residuals_of(fit, fit_leave_out(fit, ways[way].out, ways[way].out), ways[way].out);
        print_bands(&all, ways[way].title);
        print_scores(&all);
        return;
    }
    fit_deviations(fit);
    fit_print_constants(fit, "llamacpp", "figures of personal machines");
}
