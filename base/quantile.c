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
    size_t sorted = 1;
    while (sorted < count && values[sorted - 1] <= values[sorted])
        sorted++;
    if (sorted < count)
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

/* Beyond the table: Cornish-Fisher's first terms. */
double student(size_t freedom)
{
    static const double table[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262 };
    const double normal = 1.959964, n = (double)freedom;
    if (freedom <= sizeof table / sizeof *table)
        return table[freedom - 1];
    return normal + (pow(normal, 3) + normal) / (4 * n) +
           (5 * pow(normal, 5) + 16 * pow(normal, 3) + 3 * normal) / (96 * n * n);
}
