#include "sim/engine.h"

#include <math.h>

/* ---- queues ------------------------------------------------------------------------------ */

void queue_first(struct world *world, struct queue *queue, uint32_t id)
{
    world->next[id] = queue->head;
    queue->head = id;
    if (queue->tail == NOBODY)
        queue->tail = id;
    queue->count++;
}

void queue_last(struct world *world, struct queue *queue, uint32_t id)
{
    world->next[id] = NOBODY;
    *(queue->tail == NOBODY ? &queue->head : &world->next[queue->tail]) = id;
    queue->tail = id;
    queue->count++;
}

uint32_t queue_pop(struct world *world, struct queue *queue)
{
    uint32_t id = queue->head;
    queue->head = world->next[id];
    if (queue->head == NOBODY)
        queue->tail = NOBODY;
    queue->count--;
    return id;
}

bool queue_remove(struct world *world, struct queue *queue, uint32_t id)
{
    uint32_t before = NOBODY, at = queue->head;
    for (; at != NOBODY && at != id; at = world->next[at])
        before = at;
    if (at == NOBODY)
        return false;
    *(before == NOBODY ? &queue->head : &world->next[before]) = world->next[id];
    if (queue->tail == id)
        queue->tail = before;
    queue->count--;
    return true;
}

/* ---- stretches --------------------------------------------------------------------------- */

double stretch_seconds(const struct stretch *stretch, double steps)
{
    return steps * stretch->first + stretch->growth * steps * (steps - 1) / 2;
}

/* A convex step that is on the line between its ends in the middle is on it everywhere. */
struct stretch stretch_of(const struct sim_server *server, double from, const struct sim_step *first,
                          uint64_t most)
{
    const double close = 1e-12;
    struct sim_step step = *first;
    struct stretch stretch = { .from = from, .step = *first, .steps = most,
                               .first = server->seconds(server->context, first) };
    for (; stretch.steps > 1; stretch.steps = (stretch.steps + 1) / 2) {
        double last = (double)(stretch.steps - 1), middle = floor(last / 2), at[2];
        const double turn[2] = { middle, last };
        for (int i = 0; i < 2; i++) {
            step.decode_cached = first->decode_cached + turn[i] * step.decoding;
            at[i] = server->seconds(server->context, &step);
        }
        stretch.growth = (at[1] - stretch.first) / last;
        if (fabs(stretch.first + stretch.growth * middle - at[0]) <= close * at[0])
            return stretch;
    }
    stretch.growth = 0;
    return stretch;
}

uint64_t stretch_before(const struct stretch *stretch, double now)
{
    if (moment_before(stretch->from + stretch_seconds(stretch, (double)stretch->steps), now))
        return stretch->steps;
    uint64_t low = 0, high = stretch->steps;        /* low ends before, high does not */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (moment_before(stretch->from + stretch_seconds(stretch, (double)middle), now))
            low = middle;
        else
            high = middle;
    }
    return low;
}
