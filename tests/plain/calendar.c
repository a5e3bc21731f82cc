/* The calendar without a calendar: every replica is asked, in every moment. */
#include "sim/calendar.h"

#include <math.h>

void calendar_open(struct calendar *calendar, struct arena *arena, struct replica *const *replicas, size_t count)
{
    *calendar = (struct calendar){ .replicas = replicas, .replica_count = count,
                                   .touched = arena_array(arena, count, sizeof *calendar->touched),
                                   .due = arena_array(arena, count, sizeof *calendar->due) };
    for (size_t i = 0; i < count; i++)
        calendar->touched[i] = (uint32_t)i;
}

double calendar_next(const struct calendar *calendar)
{
    double next = INFINITY;
    for (size_t i = 0; i < calendar->replica_count; i++)
        next = calendar->replicas[i]->next < next ? calendar->replicas[i]->next : next;
    return next;
}

const uint32_t *calendar_due(struct calendar *calendar, double until, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < calendar->replica_count; i++)
        if (calendar->replicas[i]->next <= until)
            calendar->due[(*count)++] = (uint32_t)i;
    return calendar->due;
}

void calendar_touch(struct calendar *calendar, const struct replica *replica, double end)
{
    (void)calendar, (void)replica, (void)end;
}

const uint32_t *calendar_touched(struct calendar *calendar, size_t *count)
{
    *count = calendar->replica_count;
    return calendar->touched;
}

void calendar_looked(struct calendar *calendar)
{
    (void)calendar;
}
