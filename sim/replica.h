/* replica -- the interface between the simulation and a scheduler.
 *
 *     simulation: the clock, arrivals, the router        replica: one copy, its queue and batches
 *
 *        take(id)    --->  puts the request into its queue
 *        next        <---  when the step, or the fast-forward of steps, that runs will end
 *        end(now)    --->  reports tokens of that step:  simulation_first_token, simulation_done
 *        start(now)  --->  forms and reports the next:   simulation_ran
 *
 * Only these calls change a replica. A request may arrive in the middle of a fast-forward: the replica
 * then settles first, that is, it counts the steps that have ended before now. */
#ifndef SIM_REPLICA_H
#define SIM_REPLICA_H

#include "sim/sim.h"
#include "sim/window.h"
#include "sim/cache/tiers.h"

enum { NOBODY = UINT32_MAX };       /* no request */

/* The state of a run that schedulers see. Arrays have an element per request of the trace (window_array). */
struct simulation {
    struct arena *arena;
    struct window window;
    const struct trace *trace;
    const struct sim_options *options;
    struct sim_result *result;
    uint32_t *want;         /* output tokens after which a request leaves its replica */
    uint32_t *got;          /* output tokens that its user already had when the replica took it */
    uint32_t *ready;        /* tokens whose KV cache was transferred with it from the prefill pool */
    uint32_t *next;         /* the request behind it in its queue */
    struct tiers *tiers;    /* KV tiers below the GPU memory of all replicas; NULL: none */
    void *shared;           /* per-request data of the scheduler; its first replica allocates it */
    uint32_t *ended;        /* requests that completed at the present time */
    size_t ended_count, ended_room;
    uint64_t restarts;      /* restarts since the last request completed */
    uint64_t broken, lost;  /* and failures of replicas that had requests, and those requests */
};

/* Sums over the steps of a replica, as in struct sim_result. Each replica has its own, which are added up in the order of the
 * replicas at the end, so that the sums do not depend on which of two replicas ends a step first. */
struct replica_sums {
    double busy, sequence_seconds, queued, gaps, class_seconds[TRACE_CLASSES];
};

/* One copy of the model. A scheduler puts this first in a struct of its own. */
struct replica {
    const struct scheduler *scheduler;
    const struct sim_server *server;
    struct simulation *simulation;
    size_t index;                   /* among all replicas */
    double next;                    /* when the running step ends, s; INFINITY: it is idle */
    double now;                     /* its clock: when it was last called, s */
    bool asks;                      /* `start` must be called: a request that arrived may enter a step
                                       now, although another step runs */
    size_t waiting, running;        /* requests */
    uint64_t tokens_left;           /* prompt and output tokens of both that no step has processed to its end */
    size_t blocks_used;             /* blocks of the cache in use */
    bool stalls;                    /* running requests wait during a step without decodes */
    double between;                 /* s of such steps since the last step with decodes */
    bool tells_gaps;                /* it reports the gaps between tokens itself (simulation_gap), since
                                       they do not follow from its steps */
    struct replica_sums sums;
};

/* Settings of the reference runs; a scheduler adds its own. */
#define SIM_USUAL .block = 16, .chunk = 512, .max_num_seqs = 128, .accepted = 0.6

/* ---- moments -------------------------------------------------------------------------------- */

/* Sums of the same seconds in a different order differ by rounding, and so do the ends of
 * fast-forwarded runs and of single steps. Times that are this close count as one moment, in which
 * the simulation decides the order. If they were compared exactly, the last bits would decide which
 * of two replicas ends first, and whether a user who reacts to one finds the other's next batch
 * formed. */
static inline double moment_end(double start)
{
    return start + 1e-12 * start;
}

static inline double moment_start(double end)
{
    return end - 1e-12 * end;
}

static inline bool moment_before(double time, double now)   /* in an earlier moment than now */
{
    return time < moment_start(now);
}

static inline double moment_later(double a, double b)       /* fmax is a call */
{
    return a > b ? a : b;
}

/* ---- fast-forwards: steps of the same decoding requests, whose contexts grow ---------------- */

/* Steps whose times are an arithmetic progression. */
struct fast_forward {
    double from;                    /* when the first step starts, s */
    double first, growth;           /* time of the first step; increase from step to step; s */
    uint64_t steps;
    struct sim_step step;           /* the work of the first step */
};
/* The longest run of at most `most` steps, each with one more cached token per request, over which
 * the step time grows linearly, so that its sum has a closed form. */
struct fast_forward fast_forward_of(const struct sim_server *server, double from,
                                    const struct sim_step *step, uint64_t most);
/* Seconds of the first `steps` steps; number of steps that end before `now`. */
double fast_forward_seconds(const struct fast_forward *forward, double steps);
uint64_t fast_forward_before(const struct fast_forward *forward, double now);

/* The tokens_left of a replica until it is called again: they fall when a step ends, first the steps in flight, then those
 * of the fast-forward behind them. In a line of the cache. */
enum { COURSE_AHEAD = 2 };
struct course {
    uint64_t tokens;                /* now */
    uint32_t each, most;            /* by how many they fall at the end of a step; number of falls, 0: they stay */
    uint32_t fall[COURSE_AHEAD];    /* the same for the steps in flight */
    double end[COURSE_AHEAD];       /* their ends, s; NAN: there are fewer */
    double from, first, growth;     /* the steps of the fast-forward */
};
uint64_t course_left(const struct course *course, double now);
/* When they fall next: until a later moment than this they stay. */
double course_next(const struct course *course, double now);
/* Lower limit of what is left at any time from now on: at `at` and before it `left`, and from there on less by `pace`
 * tokens a second. */
struct course_limit {
    double at, left, pace;
};
struct course_limit course_limit_of(const struct course *course, double now);

/* ---- what replicas tell the simulation ---------------------------------------------------- */

/* Report a step that starts at `from` and takes `seconds`, or that the first `steps` steps of a
 * fast-forward have run. replica->waiting is the queue's length in the meantime. */
void simulation_ran(struct replica *replica, double from, double seconds, const struct sim_step *step);
void simulation_fast_forwarded(struct replica *replica, const struct fast_forward *forward,
                               uint64_t steps);

/* Report the time between two tokens of a request. */
void simulation_gap(struct replica *replica, double seconds);
/* Report a request's first token; after a restart the call has no effect, since the user has one. */
void simulation_first_token(struct simulation *simulation, uint32_t id, double now);
void simulation_done(struct simulation *simulation, uint32_t id, double now);
void simulation_restarted(struct simulation *simulation, uint32_t id);

/* Tokens of a request that must be processed before its next output token: its prompt, and after a
 * restart also the output that it had. */
static inline uint64_t simulation_prompt(const struct simulation *simulation, uint32_t id)
{
    return (uint64_t)simulation->trace->prompt[id] + simulation->got[id];
}

/* Prompt and output tokens of a request when it is done. */
static inline uint64_t simulation_total(const struct simulation *simulation, uint32_t id)
{
    return (uint64_t)simulation->trace->prompt[id] + simulation->want[id];
}

/* ---- queues of requests, linked through simulation->next ----------------------------------- */

struct queue {
    uint32_t head, tail;
    size_t count;
};
#define QUEUE_EMPTY (struct queue){ NOBODY, NOBODY, 0 }
void queue_first(struct simulation *simulation, struct queue *queue, uint32_t id); /* put at its head */
void queue_last(struct simulation *simulation, struct queue *queue, uint32_t id);
uint32_t queue_pop(struct simulation *simulation, struct queue *queue);
bool queue_remove(struct simulation *simulation, struct queue *queue, uint32_t id);

#endif
