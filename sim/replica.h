/* replica -- what a scheduler has to do so that the simulation can run it.
 *
 *     simulation: the clock, arrivals, the router        replica: one copy, its queue and batches
 *
 *        take(id)    --->  it waits there
 *        next        <---  when the batch, or the fast-forward of equal batches, that runs will end
 *        end(now)    --->  what ends now gives tokens:   simulation_first_token, simulation_done
 *        start(now)  --->  the next batch is formed:     simulation_ran
 *
 * Nobody else changes a replica. While it runs a fast-forward of many steps it may be asked to take
 * a request: then it settles first, that is, it counts the steps that have ended before now. */
#ifndef SIM_REPLICA_H
#define SIM_REPLICA_H

#include "sim/sim.h"
#include "sim/cache/tiers.h"

enum { NOBODY = UINT32_MAX };

struct simulation {
    const struct trace *trace;
    const struct sim_options *options;
    struct sim_result *result;
    uint32_t *want;         /* outputs after which a request leaves its replica */
    uint32_t *got;          /* outputs its user had when it came to its replica */
    uint32_t *ready;        /* tokens whose KV cache was transferred with it from the prefill pool */
    uint32_t *next;         /* the request behind it in the queue that it is in */
    struct tiers *tiers;    /* below the caches of all replicas; NULL: none */
    void *shared;           /* what a scheduler keeps of requests; its first replica opens it */
    uint32_t *ended;        /* requests done in this moment */
    size_t ended_count;
    uint64_t restarts;      /* since a request was done */
};

/* One copy of the model. A scheduler puts this first in a struct of its own. */
struct replica {
    const struct scheduler *scheduler;
    const struct sim_server *server;
    struct simulation *simulation;
    size_t index;                   /* of all replicas */
    double next;                    /* s; INFINITY: it has nothing to do */
    bool asks;                      /* a request that arrived may start another step now */
    size_t waiting, running;        /* requests */
    uint64_t tokens_left;           /* prompt and output tokens to process, of both */
    size_t blocks_used;             /* blocks of the cache in use */
    bool stalls;                    /* a step without decodes keeps some from decoding */
    double between;                 /* s of such steps since the last that decoded */
    bool tells_gaps;                /* by simulation_gap: its steps say nothing of them */
};

/* Settings of the reference runs; a scheduler adds its own. */
#define SIM_USUAL .block = 16, .chunk = 512, .max_num_seqs = 128, .accepted = 0.6

/* ---- moments -------------------------------------------------------------------------------- */

/* Sums of the same seconds in a different order differ by rounding, and so do the ends of
 * fast-forwarded runs and of single steps. Times that are this close count as one moment, in which
 * the simulation decides the order. If they were compared exactly, the last bits would decide which
 * of two
 * replicas ends first, and whether a user who reacts to one finds the other's next batch formed. */
static inline double moment_end(double start)
{
    return start + 1e-12 * start;
}

static inline bool moment_before(double time, double now)   /* in an earlier moment than now */
{
    return time < now - 1e-12 * now;
}

static inline double moment_later(double a, double b)       /* fmax is a call */
{
    return a > b ? a : b;
}

/* ---- fast-forwards: steps of the same decoding requests, whose contexts grow ---------------- */

struct fast_forward {
    double from;                    /* s, when its first step starts */
    double first, growth;           /* seconds of its first step, and more in each next one */
    uint64_t steps;
    struct sim_step step;           /* the first */
};
/* The longest run of at most `most` steps, each with one more cached token per request, over which
 * the step time grows linearly, so that its sum has a closed form. */
struct fast_forward fast_forward_of(const struct sim_server *server, double from,
                                    const struct sim_step *step, uint64_t most);
/* Seconds of the first `steps` steps; number of steps that end before `now`. */
double fast_forward_seconds(const struct fast_forward *forward, double steps);
uint64_t fast_forward_before(const struct fast_forward *forward, double now);

/* ---- what replicas tell the simulation ---------------------------------------------------- */

/* A batch starts to run at `from` for `seconds`; the first `steps` steps of a fast-forward have run.
 * `waiting` of the replica is the queue's length in the meantime. */
void simulation_ran(struct replica *replica, double from, double seconds, const struct sim_step *step);
void simulation_fast_forwarded(struct replica *replica, const struct fast_forward *forward,
                               uint64_t steps);

void simulation_gap(struct simulation *simulation, double seconds); /* between two tokens of a request */
/* the first one counts */
void simulation_first_token(struct simulation *simulation, uint32_t id, double now);
void simulation_done(struct simulation *simulation, uint32_t id, double now);
void simulation_restarted(struct simulation *simulation, uint32_t id);

/* Tokens of a request that must be processed before its next output; tokens when it is done. */
static inline uint64_t simulation_prompt(const struct simulation *simulation, uint32_t id)
{
    return (uint64_t)simulation->trace->prompt[id] + simulation->got[id];
}

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
