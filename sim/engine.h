/* engine -- what a scheduler has to do so that the world can run it.
 *
 *     world: the clock, arrivals, the router        engine: one replica, its queue and batches
 *
 *        take(id)    --->  it waits there
 *        next        <---  when the batch, or the stretch of equal batches, that runs will end
 *        end(now)    --->  what ends now gives tokens:   world_first_token, world_done
 *        start(now)  --->  the next batch is formed:     world_ran
 *
 * Nobody else changes an engine. While it runs a stretch of many steps it may be asked to take
 * a request: then it settles first, that is, it counts the steps that have ended before now. */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "sim/sim.h"
#include "sim/cache/tiers.h"

enum { NOBODY = UINT32_MAX };

struct world {
    const struct trace *trace;
    const struct sim_options *options;
    struct sim_result *result;
    uint32_t *want;         /* outputs after which a request leaves its replica */
    uint32_t *got;          /* outputs its user had when it came to its engine */
    uint32_t *ready;        /* tokens whose KV cache was transferred with it from the prefill pool */
    uint32_t *next;         /* the request behind it in the queue that it is in */
    struct tiers *tiers;    /* below the caches of all engines; NULL: none */
    void *shared;           /* what a scheduler keeps of requests; its first engine opens it */
    uint32_t *ended;        /* requests done in this moment */
    size_t ended_count;
    uint64_t restarts;      /* since a request was done */
};

/* A replica. A scheduler puts this first in a struct of its own. */
struct engine {
    const struct scheduler *scheduler;
    const struct sim_server *server;
    struct world *world;
    size_t index;                   /* of all replicas */
    double next;                    /* s; INFINITY: it has nothing to do */
    bool asks;                      /* a request that arrived may start another step now */
    size_t waiting, running;        /* requests */
    uint64_t tokens_left;           /* prompt and output tokens to process, of both */
    size_t blocks_used;             /* blocks of the cache in use */
    bool stalls;                    /* a step without decodes keeps some from decoding */
    double between;                 /* s of such steps since the last that decoded */
    bool tells_gaps;                /* by world_gap: its steps say nothing of them */
};

/* Settings of the reference runs; a scheduler adds its own. */
#define SIM_USUAL .block = 16, .chunk = 512, .max_num_seqs = 128, .accepted = 0.6

/* ---- moments -------------------------------------------------------------------------------- */

/* Sums of the same seconds in a different order differ by rounding, and so do the ends of
 * fast-forwarded runs and of single steps. Times that are this close count as one moment, in which
 * the world decides the order. If they were compared exactly, the last bits would decide which of two
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

/* ---- stretches: steps of the same decoding requests, whose contexts grow -------------------- */

struct stretch {
    double from;                    /* s, when its first step starts */
    double first, growth;           /* seconds of its first step, and more in each next one */
    uint64_t steps;
    struct sim_step step;           /* the first */
};
/* The longest run of at most `most` steps, each with one more cached token per request, over which
 * the step time grows linearly, so that its sum has a closed form. */
struct stretch stretch_of(const struct sim_server *server, double from, const struct sim_step *step,
                          uint64_t most);
/* Seconds of the first `steps` steps; number of steps that end before `now`. */
double stretch_seconds(const struct stretch *stretch, double steps);
uint64_t stretch_before(const struct stretch *stretch, double now);

/* ---- what engines tell the world ---------------------------------------------------------- */

/* A batch starts to run at `from` for `seconds`; the first `steps` steps of a stretch have run.
 * `waiting` of the engine is the queue's length in the meantime. */
void world_ran(struct engine *engine, double from, double seconds, const struct sim_step *step);
void world_stretched(struct engine *engine, const struct stretch *stretch, uint64_t steps);

void world_gap(struct world *world, double seconds);    /* between two tokens of a request */
void world_first_token(struct world *world, uint32_t id, double now);   /* the first one counts */
void world_done(struct world *world, uint32_t id, double now);
void world_restarted(struct world *world, uint32_t id);

/* Tokens of a request that must be processed before its next output; tokens when it is done. */
static inline uint64_t world_prompt(const struct world *world, uint32_t id)
{
    return (uint64_t)world->trace->prompt[id] + world->got[id];
}

static inline uint64_t world_total(const struct world *world, uint32_t id)
{
    return (uint64_t)world->trace->prompt[id] + world->want[id];
}

/* ---- queues of requests, linked through world->next ---------------------------------------- */

struct queue {
    uint32_t head, tail;
    size_t count;
};
#define QUEUE_EMPTY (struct queue){ NOBODY, NOBODY, 0 }
void queue_first(struct world *world, struct queue *queue, uint32_t id);    /* put at its head */
void queue_last(struct world *world, struct queue *queue, uint32_t id);
uint32_t queue_pop(struct world *world, struct queue *queue);
bool queue_remove(struct world *world, struct queue *queue, uint32_t id);

#endif
