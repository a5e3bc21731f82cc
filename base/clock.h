/* clock -- the time of a system clock in seconds. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <time.h>

/* CLOCK_MONOTONIC for spans, CLOCK_REALTIME for dates, CLOCK_THREAD_CPUTIME_ID for work; s. */
double clock_seconds(clockid_t clock);

#endif
