/* A binary heap in which each replica knows its place, so that a step that ends sooner or later than was thought moves up or
 * down from there, and a list of the replicas touched since the last moment. */
#include "sim/calendar.h"

#include <stdlib.h>

void calendar_open(struct calendar *calendar, struct arena *arena, struct replica *const *replicas, size_t count)
{
    *calendar = (struct calendar){ .replicas = replicas, .replica_count = count,
                                   .replica_size = count ? replicas[0]->scheduler->size : 0,
                                   .time = arena_array(arena, count, sizeof *calendar->time),
                                   .heap = arena_array(arena, count, sizeof *calendar->heap),
                                   .place = arena_array(arena, count, sizeof *calendar->place),
                                   .touched = arena_array(arena, count, sizeof *calendar->touched),
                                   .due = arena_array(arena, count, sizeof *calendar->due),
                                   .is_touched = arena_array(arena, count, sizeof *calendar->is_touched) };
    for (size_t i = 0; i < count; i++)
        calendar->time[i] = INFINITY;
}

double calendar_next(const struct calendar *calendar)
{
    return calendar->count ? calendar->time[calendar->heap[0]] : INFINITY;
}

static void put(struct calendar *calendar, size_t at, uint32_t replica)
{
    calendar->heap[at] = replica;
    calendar->place[replica] = (uint32_t)at;
}

/* Put a replica into the hole at `at`, or above or below it where its time belongs. */
static void sift(struct calendar *calendar, size_t at, uint32_t replica)
{
    const uint32_t *heap = calendar->heap;
    const double *times = calendar->time, time = times[replica];
    for (; at && time < times[heap[(at - 1) / 2]]; at = (at - 1) / 2)
        put(calendar, at, heap[(at - 1) / 2]);
    for (size_t child; (child = 2 * at + 1) < calendar->count; at = child) {
        if (child + 1 < calendar->count && times[heap[child + 1]] < times[heap[child]])
            child++;
        if (times[heap[child]] >= time)
            break;
        put(calendar, at, heap[child]);
    }
    put(calendar, at, replica);
}

static void set(struct calendar *calendar, size_t replica, double time)
{
    const double before = calendar->time[replica];
    if (before == time)
        return;
    calendar->time[replica] = time;
    if (before == INFINITY) {
        sift(calendar, calendar->count++, (uint32_t)replica);
    } else if (time < INFINITY) {
        sift(calendar, calendar->place[replica], (uint32_t)replica);
    } else {
        const uint32_t last = calendar->heap[--calendar->count];
        if (last != replica)
            sift(calendar, calendar->place[replica], last);
    }
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sort(uint32_t *replicas, size_t count)
{
    enum { FEW = 16 };
    if (count > FEW) {
        qsort(replicas, count, sizeof *replicas, by_number);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const uint32_t one = replicas[i];
        size_t at = i;
        for (; at && replicas[at - 1] > one; at--)
            replicas[at] = replicas[at - 1];
        replicas[at] = one;
    }
}

/* Of thousands of replicas none is in the caches when its step ends: the one that is due after these is read meanwhile. */
static void fetch_ahead(const struct replica *replica, size_t size)
{
    enum { LINE = 64 };
    for (size_t i = 0; i < size; i += LINE)
        __builtin_prefetch((const char *)replica + i);
}

const uint32_t *calendar_due(struct calendar *calendar, double until, size_t *count)
{
    *count = 0;
    while (calendar_next(calendar) <= until) {
        const uint32_t replica = calendar->heap[0];
        set(calendar, replica, INFINITY);
        calendar->due[(*count)++] = replica;
    }
    sort(calendar->due, *count);
    if (calendar->count)
        fetch_ahead(calendar->replicas[calendar->heap[0]], calendar->replica_size);
    return calendar->due;
}

void calendar_touch(struct calendar *calendar, const struct replica *replica, double end)
{
    const size_t i = replica->index;
    set(calendar, i, end);
    if (!calendar->is_touched[i]) {
        calendar->is_touched[i] = true;
        calendar->touched[calendar->touched_count++] = (uint32_t)i;
    }
}

const uint32_t *calendar_touched(struct calendar *calendar, size_t *count)
{
    sort(calendar->touched, calendar->touched_count);
    *count = calendar->touched_count;
    return calendar->touched;
}

void calendar_looked(struct calendar *calendar)
{
    size_t left = 0;
    for (size_t k = 0; k < calendar->touched_count; k++) {
        const uint32_t i = calendar->touched[k];
        const struct replica *replica = calendar->replicas[i];
        set(calendar, i, replica->next);
        calendar->is_touched[i] = calendar_wants(replica);
        if (calendar->is_touched[i])
            calendar->touched[left++] = i;
    }
    calendar->touched_count = left;
}
