#include "base/clock.h"

double clock_seconds(clockid_t clock)
{
    struct timespec time = { 0 };
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
