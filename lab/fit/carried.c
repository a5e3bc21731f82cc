/* How much of what a calibration finds holds for another server: for each way in which two servers of one source
 * differ, the correlation of each factor.
 *
 * One server is calibrated to three of its points, and its factors, each raised to the power of its correlation,
 * predict all points of the other. The correlations are those under which the other's values are most probable.
 * Each source counts the same, and of a source each pair of servers. */
#include "lab/fit/series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GIVEN = 3 };

static const struct way {
    const char *name;
    struct calibrated_difference difference;
    bool any_layout;                    /* which may differ, too: another model needs other room */
} ways[] = {
    { "carry_layout", { .layout = true }, false },
    { "carry_version", { .version = true }, false },
    { "carry_version_layout", { .version = true, .layout = true }, false },
    { "carry_precision", { .precision = true }, false },
    { "carry_engine", { .engine = true }, false },
    { "carry_machine", { .machine = true }, false },
    { "carry_machine_layout", { .machine = true, .layout = true }, false },
    { "carry_model", { .model = true }, true },
    { "carry_model_machine", { .model = true, .machine = true }, true } };

struct pair {
    const struct series *from, *to;
    double x[POSTERIOR_FACTORS], covariance[POSTERIOR_FACTORS][POSTERIOR_FACTORS];
};

struct pairs {
    const struct ranks *ranks;
    const struct posterior_prior *prior;
    struct pair *pairs;
    size_t count, room;
    const char **sources;               /* [source_count] */
    size_t source_count;
};

static bool differ(const struct series *a, const struct series *b, const struct way *way)
{
    struct calibrated_difference one = calibration_difference(a->server, b->server);
    if (!series_of_one_source(a->publisher, b->publisher) || strcmp(a->server->kind, b->server->kind))
        return false;
    one.layout &= !way->any_layout;
    return !memcmp(&one, &way->difference, sizeof one);
}

static bool add_pair(struct arena *arena, struct pairs *pairs, const struct series *from, const struct series *to)
{
    static const double nowhere[POSTERIOR_FACTORS];
    struct factor_posterior posterior;
    struct posterior_value *values = arena_array(arena, from->count + 1, sizeof *values);
    const size_t count = series_values(from, GIVEN, values);
    if (from->points < GIVEN + SERIES_SPARE ||
        !posterior_solve(arena, pairs->prior, values, count, nowhere, NULL, &posterior))
        return false;
    struct pair *pair = arena_push(arena, &pairs->pairs, &pairs->count, &pairs->room, sizeof *pair);
    *pair = (struct pair){ .from = from, .to = to };
    memcpy(pair->x, posterior.x, sizeof pair->x);
    memcpy(pair->covariance, posterior.covariance, sizeof pair->covariance);
    for (size_t i = 0; i < pairs->source_count; i++)
        if (series_of_one_source(pairs->sources[i], from->publisher))
            return true;
    pairs->sources[pairs->source_count++] = from->publisher;
    return true;
}

/* ---- scores --------------------------------------------------------------------------------------------- */

static double expected_of(const struct pair *pair, const double *rho, const struct posterior_value *value)
{
    double expected = value->expected;
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        expected += value->slope[k] * rho[k] * pair->x[k];
    return expected;
}

/* The mean log density of the other server's values, over its kinds of values. */
static double worth(const struct pairs *pairs, const struct pair *pair, const double *rho)
{
    double sum[POSTERIOR_FIELDS] = { 0 }, count[POSTERIOR_FIELDS] = { 0 }, all = 0;
    for (size_t i = 0; i < pair->to->count; i++) {
        const struct posterior_value *value = &pair->to->values[i];
        const double noise = pairs->prior->noise[value->kind];
        const double variance = noise * noise +
            calibrated_carried(pairs->prior, (const double (*)[POSTERIOR_FACTORS])pair->covariance, rho, value);
        sum[value->kind] += student_density(value->seen - expected_of(pair, rho, value), variance,
                                            pairs->prior->freedom);
        count[value->kind]++;
    }
    for (int kind = 0; kind < POSTERIOR_FIELDS; kind++)
        all += count[kind] > 0 ? sum[kind] / count[kind] : 0;
    return all;
}

/* Correlations are logistic in the numbers that are searched. */
static void correlations(const double *at, double *rho)
{
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        rho[k] = 1 / (1 + exp(-at[k]));
}

/* Minus the mean over sources, and what is thought of correlations before: about a half, as one pair's say. */
static double cost(void *context, const double *at)
{
    const struct pairs *pairs = context;
    const double few = 3;
    double rho[POSTERIOR_FACTORS], sum = 0, weights = 0;
    struct arena scratch = { 0 };
    double *worths = arena_array(&scratch, pairs->count + 1, sizeof *worths);
    correlations(at, rho);
    for (size_t i = 0; i < pairs->count; i++)
        if (ranks_mine(pairs->ranks, i))
            worths[i] = worth(pairs, &pairs->pairs[i], rho);
    ranks_share(pairs->ranks, &scratch, worths, pairs->count, sizeof *worths);
    for (size_t s = 0; s < pairs->source_count; s++) {
        double here = 0, count = 0;
        for (size_t i = 0; i < pairs->count; i++)
            if (series_of_one_source(pairs->pairs[i].from->publisher, pairs->sources[s])) {
                here += worths[i];
                count++;
            }
        const double weight = count / (count + few);
        sum += weight * here / count;
        weights += weight;
    }
    arena_free(&scratch);
    double thought = 0;
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        thought += at[k] * at[k] / 2 / (double)pairs->count;
    return thought - sum / weights;
}

/* ---- what is printed --------------------------------------------------------------------------------------- */

/* TPOT and the like of the others by these correlations. */
static void print_errors(const struct pairs *pairs, const char *way, const char *what, const double *rho)
{
    struct arena scratch = { 0 };
    size_t most = 1;
    for (size_t i = 0; i < pairs->count; i++)
        most += pairs->pairs[i].to->count;
    for (int kind = 0; kind < POSTERIOR_FIELDS; kind++) {
        double *errors = arena_array(&scratch, most, sizeof *errors), mean = 0;
        size_t count = 0, inside = 0;
        for (size_t i = 0; i < pairs->count; i++)
            for (size_t j = 0; j < pairs->pairs[i].to->count; j++) {
                const struct posterior_value *value = &pairs->pairs[i].to->values[j];
                if (value->kind != kind)
                    continue;
                const double noise = pairs->prior->noise[kind];
                const double variance = noise * noise + calibrated_carried(
                    pairs->prior, (const double (*)[POSTERIOR_FACTORS])pairs->pairs[i].covariance, rho, value);
                const double error = expected_of(&pairs->pairs[i], rho, value) - value->seen;
                inside += fabs(error) <= student_half_width(pairs->prior->freedom) * sqrt(variance);
                errors[count] = fabs(exp(error) - 1);
                mean += errors[count++];
            }
        if (count)
            printf("%-22s %-8s %s %6zu  median %5.1f  mean %5.1f  p90 %5.1f  inside %3.0f %%\n", way, what,
                   kind ? "ttft" : "tpot", count, 100 * sizes_quantile(errors, count, 0.5),
                   100 * mean / (double)count, 100 * sizes_quantile(errors, count, 0.9),
                   100 * (double)inside / (double)count);
    }
    arena_free(&scratch);
}

static void print_way(const struct series_list *list, const struct way *way, const struct posterior_prior *prior)
{
    enum { CALLS = 400 };
    static const double none[POSTERIOR_FACTORS];
    struct arena arena = { 0 };
    double at[POSTERIOR_FACTORS] = { 0 }, rho[POSTERIOR_FACTORS];
    struct pairs pairs = { .ranks = list->ranks, .prior = prior };
    pairs.sources = arena_array(&arena, list->count + 1, sizeof *pairs.sources);
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = 0; j < list->count; j++)
            if (i != j && differ(&list->series[i], &list->series[j], way))
                add_pair(&arena, &pairs, &list->series[i], &list->series[j]);
    if (pairs.count) {
        simplex_minimise(cost, &pairs, POSTERIOR_FACTORS, 1, CALLS, at);
        correlations(at, rho);
        for (int k = 0; k < POSTERIOR_FACTORS; k++)
            printf("%s,%s,%.2f,1,\"`make fit`, sources left out: %zu pairs of servers of %zu sources, one calibrated "
                   "to 3 points\",%s,,\n", way->name, calibrated_factors[k], rho[k], pairs.count, pairs.source_count,
                   fit_today());
        print_errors(&pairs, way->name, "none", none);
        print_errors(&pairs, way->name, "found", rho);
        fflush(stdout);
    }
    arena_free(&arena);
}

void carried_print(const struct series_list *list, const struct posterior_prior *prior)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        print_way(list, &ways[i], prior);
}
