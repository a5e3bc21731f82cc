/* The Pareto front of points as they come: both values larger is better.
 *
 * Two sieves reject most dominated points at once: the best point of each narrow step across, and
 * the best value along of all steps beyond it. The steps are the exponent and six bits of the
 * value. What passes is kept and sorted at the end. Of equal points the one with the lowest space,
 * setting and load stays, so that the order in which points come does not matter. */
#include "search/front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void front_open(struct front *front, struct arena *arena)
{
    *front = (struct front){ .beyond = arena_array(arena, FRONT_STEPS + 2, sizeof(double)) };
    front->best = arena_array(arena, FRONT_STEPS, sizeof *front->best);
    front->seen = arena_array(arena, FRONT_STEPS, sizeof *front->seen);
    front->low = FRONT_STEPS;
    for (int i = 0; i < FRONT_STEPS + 2; i++)
        front->beyond[i] = -INFINITY;
}

/* The exponent and six bits of a number from 2^-32 up to 2^32, what lies outside at the ends:
 * it never falls as the number grows. */
static int step_of(double speed)
{
    enum { BITS = 6, LOWEST = (1023 - 32) << BITS };
    uint64_t bits;
    if (!(speed > 0))
        return 0;
    memcpy(&bits, &speed, sizeof bits);
    int64_t step = (int64_t)(bits >> (52 - BITS)) - LOWEST;
    return step < 0 ? 0 : step >= FRONT_STEPS ? FRONT_STEPS - 1 : (int)step;
}

bool point_earlier(const struct search_point *a, const struct search_point *b)
{
    return a->space != b->space ? a->space < b->space
           : a->setting != b->setting ? a->setting < b->setting : a->load < b->load;
}

/* The earlier of two equal points beats the later, and itself. */
static bool beats(const struct search_point *a, const struct search_point *b)
{
    if (a->speed == b->speed && a->throughput == b->throughput)
        return !point_earlier(b, a);
    return a->speed >= b->speed && a->throughput >= b->throughput;
}

void front_offer(struct front *front, struct arena *arena, const struct search_point *point)
{
    const int step = step_of(point->speed);
    if (front->beyond[step < front->low ? front->low : step + 1] >= point->throughput ||
        (front->seen[step] && beats(&front->best[step], point)))
        return;
    *(struct search_point *)arena_push(arena, &front->points, &front->count, &front->room,
                                       sizeof *point) = *point;
    if (!front->seen[step] || point->throughput > front->best[step].throughput ||
        beats(point, &front->best[step])) {
        front->seen[step] = true;
        front->best[step] = *point;
    }
    for (; front->low > step; front->low--)
        front->beyond[front->low - 1] = front->beyond[front->low];
    for (int i = step; i >= front->low && front->beyond[i] < point->throughput; i--)
        front->beyond[i] = point->throughput;
}

static int from_the_far_end(const void *x, const void *y)
{
    const struct search_point *a = x, *b = y;
    if (a->speed != b->speed)
        return a->speed > b->speed ? -1 : 1;
    if (a->throughput != b->throughput)
        return a->throughput > b->throughput ? -1 : 1;
    return point_earlier(a, b) ? -1 : point_earlier(b, a);
}

void front_close(struct front *front)
{
    size_t kept = 0;
    double highest = -INFINITY;
    if (!front->count)
        return;
    qsort(front->points, front->count, sizeof *front->points, from_the_far_end);
    for (size_t i = 0; i < front->count; i++)
        if (front->points[i].throughput > highest) {
            highest = front->points[i].throughput;
            front->points[kept++] = front->points[i];
        }
    front->count = kept;
    for (size_t i = 0; i < kept / 2; i++) {
        struct search_point swap = front->points[i];
        front->points[i] = front->points[kept - 1 - i];
        front->points[kept - 1 - i] = swap;
    }
}
