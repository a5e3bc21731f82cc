#include "sim/replica.h"

#include <math.h>

/* ---- queues ------------------------------------------------------------------------------ */

void queue_first(struct simulation *simulation, struct queue *queue, uint32_t id)
{
    simulation->next[id] = queue->head;
    queue->head = id;
    if (queue->tail == NOBODY)
        queue->tail = id;
    queue->count++;
}

void queue_last(struct simulation *simulation, struct queue *queue, uint32_t id)
{
    simulation->next[id] = NOBODY;
    *(queue->tail == NOBODY ? &queue->head : &simulation->next[queue->tail]) = id;
    queue->tail = id;
    queue->count++;
}

uint32_t queue_pop(struct simulation *simulation, struct queue *queue)
{
    uint32_t id = queue->head;
    queue->head = simulation->next[id];
    if (queue->head == NOBODY)
        queue->tail = NOBODY;
    queue->count--;
    return id;
}

bool queue_remove(struct simulation *simulation, struct queue *queue, uint32_t id)
{
    uint32_t before = NOBODY, at = queue->head;
    for (; at != NOBODY && at != id; at = simulation->next[at])
        before = at;
    if (at == NOBODY)
        return false;
    *(before == NOBODY ? &queue->head : &simulation->next[before]) = simulation->next[id];
    if (queue->tail == id)
        queue->tail = before;
    queue->count--;
    return true;
}

/* ---- fast-forwards ----------------------------------------------------------------------- */

double fast_forward_seconds(const struct fast_forward *forward, double steps)
{
    return steps * forward->first + forward->growth * steps * (steps - 1) / 2;
}

/* A convex step that is on the line between its ends in the middle is on it everywhere. */
struct fast_forward fast_forward_of(const struct sim_server *server, double from,
                                    const struct sim_step *first, uint64_t most)
{
    const double close = 1e-12;
    struct sim_step step = *first;
    struct fast_forward forward = { .from = from, .step = *first, .steps = most,
                                    .first = server->seconds(server->context, first) };
    for (; forward.steps > 1; forward.steps = (forward.steps + 1) / 2) {
        double last = (double)(forward.steps - 1), middle = floor(last / 2), at[2];
        const double turn[2] = { middle, last };
        for (int i = 0; i < 2; i++) {
            step.decode_cached = first->decode_cached + turn[i] * step.decoding;
            at[i] = server->seconds(server->context, &step);
        }
        forward.growth = (at[1] - forward.first) / last;
        if (fabs(forward.first + forward.growth * middle - at[0]) <= close * at[0])
            return forward;
    }
    forward.growth = 0;
    return forward;
}

static double end_of(double from, double first, double growth, double steps)
{
    return from + (steps * first + growth * steps * (steps - 1) / 2);
}

/* Ends come later from step to step: the last that is before now is near where the first step alone, or the growth, puts
 * it. */
static uint64_t ends_before(double from, double first, double growth, uint64_t steps, double now)
{
    if (moment_before(end_of(from, first, growth, (double)steps), now))
        return steps;
    const double line = first - growth / 2, square = line * line + 2 * growth * (now - from);
    const double guess = line > 0 && square >= 0 ? 2 * (now - from) / (line + sqrt(square)) : 0;
    uint64_t ended = guess > 0 ? guess < (double)steps ? (uint64_t)guess : steps : 0;
    while (ended + 1 < steps && moment_before(end_of(from, first, growth, (double)(ended + 1)), now))
        ended++;
    while (ended && (ended == steps || !moment_before(end_of(from, first, growth, (double)ended), now)))
        ended--;
    return ended;
}

uint64_t fast_forward_before(const struct fast_forward *forward, double now)
{
    return ends_before(forward->from, forward->first, forward->growth, forward->steps, now);
}

static size_t steps_ahead(const struct course *course)
{
    return isnan(course->end[0]) ? 0 : isnan(course->end[1]) ? 1 : 2;
}

/* How many of its falls come before now. */
static uint64_t falls_before(const struct course *course, double now)
{
    const size_t ahead = steps_ahead(course);
    uint64_t falls = 0;
    while (falls < ahead && moment_before(course->end[falls], now))
        falls++;
    if (falls == ahead && course->most > ahead)
        falls += ends_before(course->from, course->first, course->growth, course->most - ahead, now);
    return falls < course->most ? falls : course->most;
}

static uint64_t left_after(const struct course *course, uint64_t falls)
{
    const size_t ahead = steps_ahead(course);
    uint64_t ended = falls > ahead ? (falls - ahead) * course->each : 0;
    for (size_t i = 0; i < ahead && i < falls; i++)
        ended += course->fall[i];
    return course->tokens > ended ? course->tokens - ended : 0;
}

uint64_t course_left(const struct course *course, double now)
{
    return course->most ? left_after(course, falls_before(course, now)) : course->tokens;
}

static double end_of_fall(const struct course *course, uint64_t falls)
{
    const size_t ahead = steps_ahead(course);
    return falls < ahead ? course->end[falls]
                         : end_of(course->from, course->first, course->growth, (double)(falls - ahead + 1));
}

double course_next(const struct course *course, double now)
{
    const uint64_t falls = course->most ? falls_before(course, now) : 0;
    return falls < course->most ? end_of_fall(course, falls) : INFINITY;
}

/* Ends come no sooner than the next one, and then one after each time of the shortest step. What rounding can add is a
 * share of the clock, in steps. */
struct course_limit course_limit_of(const struct course *course, double now)
{
    if (!course->most)
        return (struct course_limit){ now, (double)course->tokens, 0 };
    const size_t ahead = steps_ahead(course);
    const uint64_t falls = falls_before(course, now);
    const uint64_t steps = course->most > ahead ? course->most - ahead : 1;
    const double last = course->first + course->growth * (double)(steps - 1);
    double shortest = fmin(course->first, last), left = (double)left_after(course, falls) - course->each;
    double next = end_of_fall(course, falls);
    for (size_t i = falls; i < ahead; i++) {
        const double then = i + 1 < ahead ? course->end[i + 1] : course->from + course->first;
        shortest = fmin(shortest, then - course->end[i]);
        left -= course->fall[i] > course->each ? course->fall[i] - course->each : 0;
    }
    if (!(shortest > 0))
        return (struct course_limit){ now, (double)left_after(course, course->most), 0 };
    next = fmin(next, now + shortest);
    return (struct course_limit){ next, left - course->each * (1e-11 * now / shortest) - 1e-9 * fabs(left),
                                  course->each / shortest };
}
