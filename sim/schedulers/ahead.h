/* ahead -- the steps in flight, that is, launched by a replica and not read yet: one, or two with an
 * overlapped schedule; and the fast-forward of equal steps behind them, one of which is launched
 * whenever a step ends.
 *
 *     end[0]    end[1]    | fast-forward: step 1 | step 2 | ...
 *        ^ step 1 is launched here, step 2 at end[1], and so on. The fast-forward is over when all of its
 *          steps are launched. */
#ifndef SIM_SCHEDULERS_AHEAD_H
#define SIM_SCHEDULERS_AHEAD_H

#include "sim/replica.h"

enum { AHEAD_MOST = 2 };

struct ahead {
    size_t depth, count;            /* most steps in flight; steps in flight now */
    double end[AHEAD_MOST];         /* [count] when each will end, s */
    struct fast_forward forward;    /* steps 0: none */
    size_t waiting;                 /* requests that waited when the fast-forward began */
};

/* When a step that is launched now will start: after those in flight. */
static inline double ahead_from(const struct ahead *ahead, double now)
{
    return ahead->count && ahead->end[ahead->count - 1] > now ? ahead->end[ahead->count - 1] : now;
}

/* When a step will end; those in flight are counted first, then those of the fast-forward. */
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

/* Launch the first `steps` steps of the fast-forward; as many steps end meanwhile. */
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
