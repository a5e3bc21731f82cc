/* quantile -- order statistics of a sample, in one place. */
#ifndef BASE_QUANTILE_H
#define BASE_QUANTILE_H

#include <stddef.h>

/* Sort numbers, the smallest first. None may be NAN. */
void numbers_sort(double *values, size_t count);
/* The value below which `share` (0 to 1) of a sorted sample lies, by linear interpolation between order
 * statistics; NAN of no values. */
double quantile_of(const double *sorted, size_t count, double share);
/* The 97.5 % quantile of Student's t with `freedom` degrees of freedom: half of a 95 % interval, in standard errors. */
double student(size_t freedom);

#endif
