/* The fit of single kernels: one set of constants for all chips, and one per family.
 *
 * Each family is also scored by constants fitted on all other families, which gives the prediction
 * interval for chips that nobody measured. A row is scored only by a fit that includes some row of
 * the same prediction. */
#include "lab/fit/fit.h"

#include "build/row_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct problem kernels = {
    "kernels", 0.1, 0.05, { [METRIC_KERNEL] = 1 }, false, false,
};

enum { FITS = 3 };                  /* the row's family alone, all families, all but the row's */

struct kernel_errors {
    double *log[FITS];              /* ln(predicted / measured) of each row; NAN: not known */
};

/* A fit to the rows of one family, to all (NULL), or to all but it. */
static void add_family(struct fit *fit, struct fits *fits, const char *family, bool but)
{
    bool *out = fits_add(fit, fits);
    for (size_t i = 0; i < fit->count; i++)
        out[i] = family && but == !strcmp(fit->rows[i].family, family);
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
            errors[i] = known(fit, &fit->rows[i]) ? fit_error(fit, &fit->rows[i], 0) : NAN;
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
    struct fits fits = { 0 };
    const char **families = arena_array(&fit->arena, fit->count + 1, sizeof *families);
    size_t count = 0;
    add_family(fit, &fits, NULL, false);
    for (size_t i = 0; i < fit->count; i++)
        if (first_of_family(fit, i)) {
            families[count++] = fit->rows[i].family;
            add_family(fit, &fits, fit->rows[i].family, false);
            add_family(fit, &fits, fit->rows[i].family, true);
        }
    fit_each(fit, &fits);
    fit_take(fit, &fits, 0);
    keep_errors(fit, NULL, errors->log[1]);
    fit_print_constants(fit, "any", "kernels");
    for (size_t i = 0; i < count; i++) {
        fit_take(fit, &fits, 1 + 2 * i);
        keep_errors(fit, families[i], errors->log[0]);
        fit_print_constants(fit, families[i], "kernels");
        fit_take(fit, &fits, 2 + 2 * i);
        keep_errors(fit, families[i], errors->log[2]);
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
            printf(" | %3zu %5.1f %5.1f", count, 100 * sizes_quantile(sizes, count, 0.5),
                   100 * sizes_quantile(sizes, count, 0.9));
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
    static const struct { const char *name; double share; } ends[] = { { NAME_kernel_low, 0.1 },
                                                                       { NAME_kernel_high, 0.9 } };
    for (int i = 0; i < 2; i++)
        printf("any,%s,%.3f,1,\"`make fit`, family left out: %.0f %% of the residuals\",%s,,"
               "of %zu\n", ends[i].name, sizes_quantile(ratios, count, ends[i].share),
               100 * ends[i].share, fit_today(), count);
    free(ratios);
}

void fit_kernels(struct fit *fit, char **words, int count)
{
    struct kernel_errors errors;
    fit_open(fit, &kernels, words, count);
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

