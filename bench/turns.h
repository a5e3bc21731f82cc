/* turns -- CPU seconds so far. */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include <time.h>

static double cpu(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
