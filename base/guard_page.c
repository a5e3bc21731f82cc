/* Guarded calls (guard.h) in the page, which has one thread and leaves no call. */
#include "base/guard.h"

void guard_tell(double share)
{
    (void)share;
}

void parallel_each(size_t count, bool threads, void (*body)(void *context, size_t i), void *context)
{
    (void)threads;
    for (size_t i = 0; i < count; i++)
        body(context, i);
}

size_t parallel_threads(void)
{
    return 1;
}
