/* Clusters of servers: how measured and predicted differ on those that a fit has not seen.
 *
 * A cluster is all servers of one network, machine, engine and format (scenario/cluster.h); its rows err alike, so each
 * cluster has the same weight, however many its rows. A residual is ln(measured / predicted); the bias of a cluster is its
 * median, its scatter the median distance from that. Clusters that were in view while forms were chosen (data/clusters.csv)
 * are told from new ones: only these say what to expect elsewhere.
 *
 * The interval score of a band [l, h] at r (Winkler 1972, for 80 %) is h - l + 10 max(0, l - r) + 10 max(0, r - h). */
#include "lab/fit/fit.h"

#include "build/row_names.h"
#include "scenario/cluster.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS_MOST = 4 };

/* What is scored together. `band` says that its ends are rows of data/efficiency.csv. */
static const struct class {
    const char *title;
    int metric;
    const char *kinds[KINDS_MOST];          /* struct measured */
    const char *band;                       /* the row without "_low" and "_scatter_low"; NULL: none */
    bool all;                               /* the band is of all clusters, as hardly any are new */
    double tail;                            /* what it leaves out at each end; 0: TAIL */
} classes[] = {
    { "TPOT of all servers", METRIC_TPOT, { "aggregated", "disaggregated", "sampled", "sampled, experts distributed" },
      "tpot", false, 0 },
    { "TPOT aggregated", METRIC_TPOT, { "aggregated" }, NULL, false, 0 },
    { "TPOT split", METRIC_TPOT, { "disaggregated" }, NULL, false, 0 },
    { "TPOT sampled", METRIC_TPOT, { "sampled" }, NULL, false, 0 },
    { "TPOT experts spread", METRIC_TPOT, { "sampled, experts distributed" }, NULL, false, 0 },
    { "TTFT aggregated", METRIC_TTFT, { "aggregated" }, "ttft", false, 0 },
    { "TTFT split", METRIC_TTFT, { "disaggregated" }, NAME_disagg_ttft, true, 0.12 },     /* few wait for seats, up to 164 times as long */
    { "throughput", METRIC_THROUGHPUT, { "aggregated", "disaggregated" }, "throughput", true, 0 },
    { "prefill alone", METRIC_PREFILL, { "prefill alone" }, "prefill", true, 0 },
    { "decode alone", METRIC_DECODE, { "decode alone" }, "decode", true, 0 },
    { "energy", METRIC_ENERGY, { "sampled", "sampled, experts distributed", "aggregated" }, "energy", false, 0 } };

struct cluster {
    const char *name;
    bool forms, picked;                     /* in view when forms were chosen; among those that are looked at */
    size_t count;
    double bias, scatter, error;            /* error: the median of |predicted / measured - 1| */
};

struct residual {
    double value;
    size_t cluster;
};

struct residuals {
    struct residual *at;                    /* [count] sorted by value */
    size_t count;
    struct cluster *clusters;
    size_t cluster_count;
};

bool fit_same_cluster(const struct fitted *a, const struct fitted *b)
{
    const char *one = a->setup->cluster, *other = b->setup->cluster;
    return one && other && !strcmp(one, other) && fit_of_server(a->point) && fit_of_server(b->point);
}

/* The words of network and machine are alike. */
bool fit_same_pair(const struct fitted *a, const struct fitted *b)
{
    const char *one = a->setup->cluster, *other = b->setup->cluster;
    if (!one || !other || !fit_of_server(a->point) || !fit_of_server(b->point))
        return false;
    const size_t network = strcspn(one, " ") + 1, both = network + strcspn(one + network, " ") + 1;
    return !strncmp(one, other, both);
}

static bool of_class(const struct class *class, const struct measured *point)
{
    for (int i = 0; i < KINDS_MOST && class->kinds[i]; i++)
        if (!strcmp(class->kinds[i], point->kind))
            return true;
    return false;
}

bool fit_of_server(const struct measured *point)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (of_class(&classes[i], point))
            return true;
    return false;
}

static int by_value(const void *a, const void *b)
{
    const struct residual *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

static struct residuals residuals_of(const struct fit *fit, const double *errors, const struct class *class)
{
    struct residuals all = { .at = calloc(fit->count * MEASURED_VALUES + 1, sizeof *all.at),
                             .clusters = calloc(fit->count + 1, sizeof *all.clusters) };
    for (size_t i = 0; i < fit->count; i++) {
        const struct fitted *row = &fit->rows[i];
        const char *name = row->setup->cluster;
        size_t c = 0;
        for (int j = 0; name && of_class(class, row->point) && j < row->point->value_count; j++) {
            const double error = errors[i * MEASURED_VALUES + (size_t)j];
            if ((int)row->point->values[j].metric != class->metric || !isfinite(error))
                continue;
            for (c = 0; c < all.cluster_count && strcmp(all.clusters[c].name, name); c++)
                ;
            if (c == all.cluster_count) {
                struct cluster *cluster = &all.clusters[all.cluster_count++];
                cluster->name = name;
                cluster_since(name, &cluster->forms);
            }
            all.clusters[c].count++;
            all.at[all.count++] = (struct residual){ -error, c };
        }
    }
    qsort(all.at, all.count, sizeof *all.at, by_value);
    return all;
}

static void residuals_free(struct residuals *all)
{
    free(all->at);
    free(all->clusters);
}

/* ---- scores ---------------------------------------------------------------------------------- */

static void find_clusters(struct residuals *all)
{
    double *values = calloc(all->count + 1, sizeof *values);
    for (size_t c = 0; c < all->cluster_count; c++) {
        struct cluster *cluster = &all->clusters[c];
        size_t n = 0;
        for (size_t i = 0; i < all->count; i++)
            if (all->at[i].cluster == c)
                values[n++] = all->at[i].value;
        cluster->bias = sizes_quantile(values, n, 0.5);
        double *sizes = calloc(n + 1, sizeof *sizes);
        for (size_t i = 0; i < n; i++)
            sizes[i] = fabs(exp(-values[i]) - 1);
        cluster->error = sizes_quantile(sizes, n, 0.5);
        for (size_t i = 0; i < n; i++)
            sizes[i] = fabs(values[i] - cluster->bias);
        cluster->scatter = sizes_quantile(sizes, n, 0.5);
        free(sizes);
    }
    free(values);
}

/* The clusters whose `forms` is this; -1: all. Their number. */
static size_t pick(struct residuals *all, int forms)
{
    size_t picked = 0;
    for (size_t c = 0; c < all->cluster_count; c++)
        picked += all->clusters[c].picked = forms < 0 || all->clusters[c].forms == forms;
    return picked;
}

/* Of the values in sorted order, each cluster with the weight of one; `without` has none. */
static double weighted_quantile(const struct residuals *all, size_t without, double share)
{
    double sum = 0, below = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < all->count; i++) {
            const struct cluster *cluster = &all->clusters[all->at[i].cluster];
            if (!cluster->picked || all->at[i].cluster == without)
                continue;
            *(pass ? &below : &sum) += 1.0 / (double)cluster->count;
            if (pass && below >= share * sum)
                return all->at[i].value;
        }
    return NAN;
}

struct band_score { double rows, clusters, score, width; };

/* A band for each picked cluster of the other ones, or, if `own`, one of all, scored on the cluster. */
static struct band_score score_bands(struct residuals *all, double tail, bool own)
{
    struct band_score sum = { 0, 0, 0, 0 };
    double clusters = 0, rows = 0;
    for (size_t c = 0; c < all->cluster_count; c++) {
        const struct cluster *cluster = &all->clusters[c];
        if (!cluster->picked)
            continue;
        const size_t without = own ? all->cluster_count : c;
        const double low = weighted_quantile(all, without, tail), high = weighted_quantile(all, without, 1 - tail);
        double inside = 0, score = 0;
        for (size_t i = 0; i < all->count; i++) {
            const double r = all->at[i].value;
            if (all->at[i].cluster != c)
                continue;
            inside += r >= low && r <= high;
            score += high - low + 10 * fmax(0, low - r) + 10 * fmax(0, r - high);
        }
        sum.rows += inside;
        rows += (double)cluster->count;
        sum.clusters += inside / (double)cluster->count;
        sum.score += score / (double)cluster->count;
        sum.width += high - low;
        clusters++;
    }
    return (struct band_score){ sum.rows / rows, sum.clusters / clusters, sum.score / clusters, sum.width / clusters };
}

static void print_line(struct residuals *all, const char *title, const char *which, size_t clusters)
{
    double *sizes = calloc(all->count + 1, sizeof *sizes), mean = 0, of_clusters = 0;
    double *biases = calloc(all->cluster_count + 1, sizeof *biases), *scatters = calloc(all->cluster_count + 1, sizeof *scatters);
    size_t n = 0, m = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->clusters[all->at[i].cluster].picked)
            mean += sizes[n++] = fabs(exp(-all->at[i].value) - 1);
    for (size_t c = 0; c < all->cluster_count; c++) {
        const struct cluster *cluster = &all->clusters[c];
        if (!cluster->picked)
            continue;
        of_clusters += cluster->error / (double)clusters;
        biases[m] = fabs(cluster->bias);
        scatters[m++] = cluster->scatter;
    }
    if (n)
        printf("%-20s %-6s %3zu clusters %5zu rows  median %5.1f  mean %5.1f  p90 %5.1f  c %5.1f  |bias| %5.1f  "
               "scatter %5.1f\n", title, which, clusters, n, 100 * sizes_quantile(sizes, n, 0.5), 100 * mean / (double)n,
               100 * sizes_quantile(sizes, n, 0.9), 100 * of_clusters, 100 * sizes_quantile(biases, m, 0.5),
               100 * sizes_quantile(scatters, m, 0.5));
    free(sizes);
    free(biases);
    free(scatters);
}

/* A band needs others. Of a new cluster it holds less than of its own: 84 % of the residuals of some for 80 % of another. */
enum { FEW = 3 };
static const double TAIL = 0.08;

static void print_bands(struct residuals *all, const char *title, const char *which, double tail, size_t clusters)
{
    if (clusters <= FEW)
        return;
    const struct band_score others = score_bands(all, tail, false), own = score_bands(all, 0.1, true);
    printf("%-20s %-6s band of the others x%.2f: inside %.0f %% of rows, %.0f %% by clusters, interval score %.2f; one of "
           "their own x%.2f: %.2f\n", title, which, exp(others.width), 100 * others.rows, 100 * others.clusters,
           others.score, exp(own.width), own.score);
}

/* Rows of data/efficiency.csv. */
static void print_ends(struct residuals *all, const struct class *class, const char *scatter, const char *what, size_t clusters)
{
    const double tail = class->tail > 0 ? class->tail : TAIL;
    for (int e = 0; e < 2; e++)
        printf("any,%s%s_%s,%.3f,1,\"`make fit`, %s: %.0f %% of the residuals, each cluster with equal weight\",%s,,of %zu "
               "clusters\n", class->band, scatter, e ? "high" : "low", exp(weighted_quantile(all, all->cluster_count, e ? 1 - tail : tail)),
               what, 100 * (e ? 1 - tail : tail), fit_today(), clusters);
}

static void print_class(struct residuals *all, const struct class *class)
{
    static const struct { const char *name; int forms; } sets[] = { { "all", -1 }, { "before", 1 }, { "new", 0 } };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const size_t clusters = pick(all, sets[i].forms);
        print_line(all, class->title, sets[i].name, clusters);
        print_bands(all, class->title, sets[i].name, class->tail > 0 ? class->tail : TAIL, clusters);
    }
}

void fit_clusters(struct fit *fit, const double *left_out, const double *seen, const char *what)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        struct residuals all = residuals_of(fit, left_out, &classes[i]);
        struct residuals in = residuals_of(fit, seen, &classes[i]);
        find_clusters(&all);
        find_clusters(&in);
        print_class(&all, &classes[i]);
        print_line(&in, classes[i].title, "fit", pick(&in, -1));
        residuals_free(&all);
        residuals_free(&in);
    }
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const struct class *class = &classes[i];
        struct residuals out = residuals_of(fit, left_out, class), in = residuals_of(fit, seen, class);
        size_t clusters = class->band ? pick(&out, class->all ? -1 : 0) : 0;
        const bool none = clusters && clusters <= FEW;
        if (none)
            clusters = pick(&out, -1);
        if (clusters > FEW)
            print_ends(&out, class, "", arena_print(&fit->scratch, "%s, %s left out", class->all || none ? "clusters"
                       : "new clusters", what), clusters);
        if (clusters > FEW && class->metric != METRIC_PREFILL && class->metric != METRIC_DECODE)
            print_ends(&in, class, "_scatter", "clusters in the fit", pick(&in, -1));
        residuals_free(&out);
        residuals_free(&in);
    }
}

void fit_cluster_lines(struct fit *fit, const double *before, const double *errors)
{
    for (size_t i = 1; i < sizeof classes / sizeof *classes; i++) {
        struct residuals all = residuals_of(fit, errors, &classes[i]), was = { 0 };
        find_clusters(&all);
        if (before) {
            was = residuals_of(fit, before, &classes[i]);
            find_clusters(&was);
        }
        for (size_t c = 0; c < all.cluster_count; c++) {
            const struct cluster *cluster = &all.clusters[c];
            const char *since = cluster_since(cluster->name, NULL), *then = "";
            for (size_t b = 0; b < was.cluster_count; b++)
                if (!strcmp(was.clusters[b].name, cluster->name))
                    then = arena_print(&fit->scratch, ", was %5.1f", 100 * was.clusters[b].error);
            printf("cluster %-20s %-52s %4zu rows  bias %+5.1f  scatter %4.1f  median %5.1f%s  %s\n", classes[i].title,
                   cluster->name, cluster->count, 100 * (exp(-cluster->bias) - 1), 100 * cluster->scatter,
                   100 * cluster->error, then, cluster->forms ? "in view" : since ? since : "not listed");
        }
        residuals_free(&all);
        residuals_free(&was);
    }
}
