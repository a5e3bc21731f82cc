/* turns -- CPU seconds so far, and the order in which a median is found. */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include <time.h>

static double cpu(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif
