/* The fit of training steps. Each source, or each generation of chips, in turn is left out of the
 * fit and scored by it: the error that a user must expect for a stack, or a chip, that is new.
 *
 * A source is a publisher: rows of one paper, or of one container, are left out together. The
 * quantiles of what was left out become the prediction interval in data/efficiency.csv. */
#include "lab/fit/fit.h"

#include "build/row_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct problem training = {
    "training", 0.05, 0.2, { [METRIC_STEP] = 1 }, false, false,
};

/* Who published, up to the first space or comma: "MegaScale, arXiv 2402.15627 Table 2 (NSDI
 * 2024), row Megatron-LM" is two, by its rows; NVIDIA's two containers are two. */
static const char *publisher(const struct measured *point, size_t *length)
{
    static const char *const apart[] = { "row Megatron-LM", "NeMo 24.07", "NeMo 25.04" };
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (strstr(point->source, apart[i])) {
            *length = strlen(apart[i]);
            return apart[i];
        }
    *length = strcspn(point->source, " ,");
    return point->source;
}

static bool same_source(const struct fitted *a, const struct fitted *b)
{
    size_t one, other;
    const char *first = publisher(a->point, &one), *second = publisher(b->point, &other);
    return one == other && !strncmp(first, second, one);
}

static bool same_generation(const struct fitted *a, const struct fitted *b)
{
    return !strcmp(a->family, b->family);
}

/* ---- scores ------------------------------------------------------------------------------ */

static void print_line(struct fit *fit, const char *name, const double *errors,
                       fit_alike *alike, const struct fitted *of)
{
    double *sizes = arena_array(&fit->scratch, fit->count, sizeof *sizes);
    double mean = 0;
    size_t count = 0;
    for (size_t i = 0; i < fit->count; i++) {
        double error = errors[i * MEASURED_VALUES];
        if (!isfinite(error) || (of && !alike(of, &fit->rows[i])))
            continue;
        sizes[count++] = fabs(exp(error) - 1);
        mean += sizes[count - 1];
    }
    printf("%-34s %4zu  median %5.1f  mean %5.1f  p90 %5.1f  max %5.1f\n", name, count,
           100 * sizes_quantile(sizes, count, 0.5), 100 * mean / (double)count,
           100 * sizes_quantile(sizes, count, 0.9), 100 * sizes_quantile(sizes, count, 1));
}

static void print_scores(struct fit *fit, const char *name, const double *errors, fit_alike *alike)
{
    print_line(fit, name, errors, NULL, NULL);
    for (size_t i = 0; i < fit->count; i++) {
        const struct fitted *row = &fit->rows[i];
        bool first = true;
        for (size_t j = 0; j < i; j++)
            first &= !alike(row, &fit->rows[j]);
        size_t length;
        const char *source = publisher(row->point, &length);
        if (!first)
            continue;
        const char *title = alike == same_generation
            ? arena_print(&fit->arena, "  %s", row->family)
            : arena_print(&fit->arena, "  %.*s", (int)length, source);
        print_line(fit, title, errors, alike, row);
    }
}

/* Rows for data/efficiency.csv: measured over predicted of what was left out. */
static void print_band(struct fit *fit, const double *errors)
{
    static const struct { const char *name; double share; } ends[] = { { NAME_step_low, 0.1 },
                                                                       { NAME_step_high, 0.9 } };
    double *ratios = arena_array(&fit->scratch, fit->count, sizeof *ratios);
    for (size_t i = 0; i < fit->count; i++)
        ratios[i] = exp(-errors[i * MEASURED_VALUES]);
    for (int e = 0; e < 2; e++)
        printf("any,%s,%.3f,1,\"`make fit`, source left out: %.0f %% of the residuals\",%s,,of %zu\n",
               ends[e].name, sizes_quantile(ratios, fit->count, ends[e].share), 100 * ends[e].share,
               fit_today(), fit->count);
}

void fit_training(struct fit *fit, char **words, int count)
{
    bool source = !strcmp(words[0], "source"), generation = !strcmp(words[0], "generation");
    bool leave = source || generation;
    if (count <= leave)
        fit_give_up("fit training [source|generation] FILE...");
    fit_open(fit, &training, words + leave, count - leave);
    if (!leave) {
        fit_minimise(fit);
        fit_print_constants(fit, "any", "training runs");
        print_scores(fit, "all in the fit", fit_errors(fit), same_source);
    } else if (source) {
        const double *errors = fit_leave_out(fit, same_source, same_source);
        print_band(fit, errors);
        print_scores(fit, "source left out", errors, same_source);
    } else {
        print_scores(fit, "generation left out",
                     fit_leave_out(fit, same_generation, same_generation), same_generation);
    }
}
