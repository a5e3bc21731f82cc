/* ahead -- the steps that a replica has launched and not read: one, or two with overlap; and the
 * fast-forward of equal steps that it will launch behind them, one whenever one of them ends.
 *
 *     end[0]    end[1]    | fast-forward: step 1 | step 2 | ...
 *        ^ here step 1 is launched, at end[1] step 2, and so on: the fast-forward is over when all of
 *          its steps are launched, as many ends after the first. */
#ifndef SIM_SCHEDULERS_AHEAD_H
#define SIM_SCHEDULERS_AHEAD_H

#include "sim/replica.h"

enum { AHEAD_MOST = 2 };

struct ahead {
    size_t depth, count;
    double end[AHEAD_MOST];
    struct fast_forward forward;    /* steps 0: none */
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
    return ahead->forward.from +
           fast_forward_seconds(&ahead->forward, (double)(step - ahead->count + 1));
}

/* Steps of the fast-forward that are launched before now. */
static inline uint64_t ahead_before(const struct ahead *ahead, double now)
{
    uint64_t ends = 0;
    while (ends < ahead->count && moment_before(ahead->end[ends], now))
        ends++;
    if (ends == ahead->count)
        ends += fast_forward_before(&ahead->forward, now);
    return ends < ahead->forward.steps ? ends : ahead->forward.steps;
}

/* The fast-forward's first steps are launched, as many are read. */
static inline void ahead_move(struct ahead *ahead, struct replica *replica, uint64_t steps)
{
    struct fast_forward *forward = &ahead->forward;
    const size_t waiting = replica->waiting;
    double end[AHEAD_MOST];
    replica->waiting = ahead->waiting;
    simulation_fast_forwarded(replica, forward, steps);
    replica->waiting = waiting;
    for (size_t i = 0; i < ahead->count; i++)
        end[i] = ahead_end(ahead, steps + i);
    for (size_t i = 0; i < ahead->count; i++)
        ahead->end[i] = end[i];
    forward->from += fast_forward_seconds(forward, (double)steps);
    forward->first += forward->growth * (double)steps;
    forward->step.decode_cached += (double)steps * forward->step.decoding;
    forward->steps -= steps;
}

#endif
