/* Quantiles of numbers (base.h). */
#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

double sizes_quantile(double *sizes, size_t count, double share)
{
    if (!count)
        return NAN;
    qsort(sizes, count, sizeof *sizes, by_size);
    double at = share * (double)(count - 1);
    size_t below = (size_t)at, above = below + 1 < count ? below + 1 : below;
    return sizes[below] + (at - (double)below) * (sizes[above] - sizes[below]);
}
