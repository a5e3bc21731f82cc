/* ahead -- the steps that a replica has launched and not read: one, or two with overlap; and the
 * stretch of equal steps that it will launch behind them, one whenever one of them ends.
 *
 *     end[0]    end[1]    | stretch: step 1 | step 2 | ...
 *        ^ here step 1 is launched, at end[1] step 2, and so on: the stretch is over when all of
 *          its steps are launched, as many ends after the first. */
#ifndef SIM_SCHEDULERS_AHEAD_H
#define SIM_SCHEDULERS_AHEAD_H

#include "sim/engine.h"

enum { AHEAD_MOST = 2 };

struct ahead {
    size_t depth, count;
    double end[AHEAD_MOST];
    struct stretch stretch;         /* steps 0: none */
    size_t waiting;                 /* requests, when it began */
};

/* When a step that is launched now will start: behind those before it. */
static inline double ahead_from(const struct ahead *ahead, double now)
{
    return ahead->count && ahead->end[ahead->count - 1] > now ? ahead->end[ahead->count - 1] : now;
}

static inline double ahead_end(const struct ahead *ahead, uint64_t step)
{
    if (step < ahead->count)
        return ahead->end[step];
    return ahead->stretch.from +
           stretch_seconds(&ahead->stretch, (double)(step - ahead->count + 1));
}

/* Steps of the stretch that are launched before now. */
static inline uint64_t ahead_before(const struct ahead *ahead, double now)
{
    uint64_t ends = 0;
    while (ends < ahead->count && moment_before(ahead->end[ends], now))
        ends++;
    if (ends == ahead->count)
        ends += stretch_before(&ahead->stretch, now);
    return ends < ahead->stretch.steps ? ends : ahead->stretch.steps;
}

/* The stretch's first steps are launched, as many are read. */
static inline void ahead_move(struct ahead *ahead, struct engine *engine, uint64_t steps)
{
    struct stretch *stretch = &ahead->stretch;
    const size_t waiting = engine->waiting;
    double end[AHEAD_MOST];
    engine->waiting = ahead->waiting;
    world_stretched(engine, stretch, steps);
    engine->waiting = waiting;
    for (size_t i = 0; i < ahead->count; i++)
        end[i] = ahead_end(ahead, steps + i);
    for (size_t i = 0; i < ahead->count; i++)
        ahead->end[i] = end[i];
    stretch->from += stretch_seconds(stretch, (double)steps);
    stretch->first += stretch->growth * (double)steps;
    stretch->step.decode_cached += (double)steps * stretch->step.decoding;
    stretch->steps -= steps;
}

#endif
