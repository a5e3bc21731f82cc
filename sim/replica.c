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

uint64_t fast_forward_before(const struct fast_forward *forward, double now)
{
    if (moment_before(forward->from + fast_forward_seconds(forward, (double)forward->steps), now))
        return forward->steps;
    uint64_t low = 0, high = forward->steps;        /* low ends before, high does not */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (moment_before(forward->from + fast_forward_seconds(forward, (double)middle), now))
            low = middle;
        else
            high = middle;
    }
    return low;
}
