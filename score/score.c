/* Scores of predictions: errors against measurements by group and metric, and what summarizes them
 * (score.h).
 *
 * Groups are sorted by name with runs of digits as numbers. */
#include "score/score.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const metric_units[METRICS] = {
    [METRIC_TPOT] = "s",          [METRIC_TTFT] = "s",          [METRIC_E2E] = "s",
    [METRIC_THROUGHPUT] = "token/s", [METRIC_PREFILL] = "token/s", [METRIC_DECODE] = "token/s",
    [METRIC_ENERGY] = "J/token",  [METRIC_KERNEL] = "s",          [METRIC_STEP] = "s",
};

static struct score *score_find(struct scores *scores, const char *group, int metric)
{
    for (size_t i = 0; i < scores->count; i++)
        if (scores->scores[i].metric == metric && !strcmp(scores->scores[i].group, group))
            return &scores->scores[i];
    struct score *score = arena_push(scores->arena, &scores->scores, &scores->count,
                                     &scores->room, sizeof *score);
    *score = (struct score){ .group = group, .metric = metric };
    return score;
}

void score_add(struct scores *scores, const char *group, int metric,
               const struct outcome *outcome)
{
    struct score *score = score_find(scores, group, metric);
    double measured = outcome->measured->value;
    *(double *)arena_push(scores->arena, &score->errors, &score->count, &score->room,
                          sizeof(double)) = outcome->error;
    const double low = outcome->predicted.low, high = outcome->predicted.high;
    score->inside += measured >= low && measured <= high;
    score->interval_sum += scalar_log(high / low) + 10 * fmax(0, scalar_log(low / measured)) +
                           10 * fmax(0, scalar_log(measured / high));
}

struct figures score_figures(struct arena *arena, const struct score *score)
{
    if (!score->count)
        return (struct figures){ NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    double *sizes = arena_array(arena, score->count, sizeof *sizes);
    double n = (double)score->count, sum = 0, error = 0;
    for (size_t i = 0; i < score->count; i++) {
        sizes[i] = fabs(scalar_exp(score->errors[i]) - 1);
        sum += sizes[i];
        error += score->errors[i];
    }
    struct figures figures = { .median = sizes_quantile(sizes, score->count, 0.5), .mean = sum / n,
                               .p90 = sizes_quantile(sizes, score->count, 0.9), .bias = scalar_exp(error / n) - 1,
                               .coverage = (double)score->inside / n, .interval_score = score->interval_sum / n };
    memcpy(sizes, score->errors, score->count * sizeof *sizes);
    const double middle = sizes_quantile(sizes, score->count, 0.5);
    for (size_t i = 0; i < score->count; i++)
        sizes[i] = fabs(score->errors[i] - middle);
    figures.scatter = sizes_quantile(sizes, score->count, 0.5);
    return figures;
}

/* Runs of digits compare as numbers, letters without their case. */
static int natural(const char *a, const char *b)
{
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            char *a_end, *b_end;
            unsigned long x = strtoul(a, &a_end, 10), y = strtoul(b, &b_end, 10);
            if (x != y)
                return x < y ? -1 : 1;
            a = a_end, b = b_end;
        } else if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) {
            break;
        } else {
            a++, b++;
        }
    }
    return tolower((unsigned char)*a) - tolower((unsigned char)*b);
}

static int by_name(const void *a, const void *b)
{
    const struct score *x = a, *y = b;
    int order = natural(x->group, y->group);
    order = order ? order : strcmp(x->group, y->group);
    return order ? order : x->metric - y->metric;
}

void scores_sort(struct scores *scores)
{
    if (scores->count)
        qsort(scores->scores, scores->count, sizeof *scores->scores, by_name);
}
