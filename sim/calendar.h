/* calendar -- the replicas that a moment has to look at: those whose step ends in it, and those that may start one.
 *
 * Replicas that run a step are in a heap by its end. After a call of a scheduler's function that may change its replica,
 * call calendar_touch: the replica is then looked at before the moment is over. A touched replica that wants a step and gets
 * none stays touched, for room may come with any moment. Replicas are always looked at in the order of their numbers,
 * since sums of what they report depend on it. tests/plain/calendar.c looks at every replica in every moment instead. */
#ifndef SIM_CALENDAR_H
#define SIM_CALENDAR_H

#include "sim/replica.h"

#include <math.h>

struct calendar {
    struct replica *const *replicas;
    double *time;                   /* [replicas] the end of its step as the heap has it, s; INFINITY: not in the heap */
    uint32_t *heap, *place;         /* replicas, the soonest first; [replicas] its place in the heap */
    uint32_t *touched, *due;        /* replicas to look at before the moment is over; room for those whose step ends */
    bool *is_touched;               /* [replicas] */
    size_t count, replica_count, replica_size, touched_count;   /* replica_size: B, the same for all */
};

void calendar_open(struct calendar *calendar, struct arena *arena, struct replica *const *replicas, size_t count);
/* When the next step of any replica ends, s; INFINITY: all are idle. */
double calendar_next(const struct calendar *calendar);
/* The replicas whose step ends by then, by number; they leave the heap until they are touched. */
const uint32_t *calendar_due(struct calendar *calendar, double until, size_t *count);
/* A replica may have changed: its step ends at this time now. */
void calendar_touch(struct calendar *calendar, const struct replica *replica, double end);
/* The touched replicas, by number. Each is asked for a step if it wants one; calendar_looked then takes in what came of it. */
const uint32_t *calendar_touched(struct calendar *calendar, size_t *count);
void calendar_looked(struct calendar *calendar);

/* Does an idle replica, or one that forms steps ahead, want `start` to be called? */
static inline bool calendar_wants(const struct replica *replica)
{
    return replica->asks || (replica->next == INFINITY && replica->waiting);
}

#endif
