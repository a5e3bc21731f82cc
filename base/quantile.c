#include "base/quantile.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void numbers_sort(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof *values, by_size);
}

double quantile_of(const double *sorted, size_t count, double share)
{
    if (!count)
        return NAN;
    const double at = share * (double)(count - 1), below = floor(at);
    const size_t i = (size_t)below;
    return i + 1 < count ? sorted[i] + (at - below) * (sorted[i + 1] - sorted[i]) : sorted[count - 1];
}

double sizes_quantile(double *sizes, size_t count, double share)
{
    numbers_sort(sizes, count);
    return quantile_of(sizes, count, share);
}
