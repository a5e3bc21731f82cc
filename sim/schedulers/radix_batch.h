/* radix_batch -- the common parts of the schedulers sglang and trtllm: requests that decode together
 * (decodes.h), a prefix cache in a radix tree (radix.h), one or two batches in flight (ahead.h).
 *
 *     waiting: queue --begin--> prompt: cut --add_prompt--> flight --read--> decodes --finish-->
 *
 * A scheduler puts struct radix_batch first in a struct of its own. It decides itself which
 * requests enter, which take part in a batch, and which have to restart.
 *
 * Memory is counted in units, the same as those of the tree: tokens or blocks. Units in use are
 * those that running requests lock in the tree, and those that they hold outside of it; what
 * nobody locks stays in the tree until its room is needed. */
#ifndef SIM_SCHEDULERS_RADIX_BATCH_H
#define SIM_SCHEDULERS_RADIX_BATCH_H

#include "sim/schedulers/ahead.h"
#include "sim/schedulers/decodes.h"
#include "sim/cache/radix.h"

struct radix_request {
    int64_t cached;                 /* tokens cached; while it decodes, minus the turns launched */
    uint64_t turn;                  /* the turn of its last output, once that is known */
    uint32_t had;                   /* output tokens received when it began */
    uint32_t node;                  /* the node of the tree up to which it locks its path */
    bool fresh;                     /* its prompt is in flight */
    bool over;                      /* it has ended */
    bool begun;                     /* part of its prompt has been in a batch since it entered */
};

struct radix_flight {                     /* a batch that was launched */
    uint32_t *prompts, *ends;       /* requests whose prompt, and whose output, it completes */
    size_t prompt_count, end_count;
    uint64_t tokens;                /* that it processes */
    bool turn;                      /* the decoding requests take part in it */
};

struct radix_batch {
    struct replica replica;
    struct radix_request *requests;
    struct queue queue;
    struct decodes decodes;
    struct radix *cache;
    size_t unit, capacity;          /* tokens per unit, 1 or a block; capacity in units */
    bool reuse;                     /* prefixes are kept in the tree for later requests */
    size_t outside;                 /* units held by running requests outside of the tree */
    int64_t left;                   /* tokens that no batch has been launched for */
    uint32_t cut;                   /* the request whose prompt was cut and continues; NOBODY: none */
    struct ahead ahead;
    struct radix_flight flights[AHEAD_MOST];
    /* Account for the units that `turns` turns take when they are launched: in `outside`, and in what the
     * scheduler keeps itself. Called before the turns are counted. */
    void (*grow)(struct radix_batch *batch, uint64_t turns);
};

/* Open an empty batch in the arena, with room for the server's sequences. */
void radix_batch_open(struct radix_batch *batch, struct arena *arena, struct simulation *simulation,
                      const struct sim_server *server, size_t unit, size_t capacity);

/* Tokens to prefill before a request's next output; the function below returns how many of them another pool
 * has cached. */
static inline uint64_t radix_batch_known(const struct radix_batch *batch, uint32_t id)
{
    return (uint64_t)batch->replica.simulation->trace->prompt[id] + batch->requests[id].had;
}

static inline uint64_t radix_batch_ready(const struct radix_batch *batch, uint32_t id)
{
    uint64_t known = radix_batch_known(batch, id), ready = batch->replica.simulation->ready[id];
    return ready < known ? ready : known - 1;
}

/* Tokens that it will have processed when it is done: its last output token is not an input. */
static inline uint64_t radix_batch_last(const struct radix_batch *batch, uint32_t id)
{
    return simulation_total(batch->replica.simulation, id) - 1;
}

static inline size_t radix_batch_in_use(const struct radix_batch *batch)
{
    return batch->outside + radix_used(batch->cache);
}

/* Output tokens that its user has received. */
uint32_t radix_batch_received(const struct radix_batch *batch, uint32_t id);
/* The cached prefix of its first `known` tokens, without the last one. */
struct radix_hit radix_batch_find(const struct radix_batch *batch, uint32_t id, uint64_t known);
/* Evict as many unlocked units as the running requests need. */
void radix_batch_make_room(struct radix_batch *batch);
/* For the simulation: waiting, tokens_left, blocks_used. */
void radix_batch_count(struct radix_batch *batch);

/* ---- requests come and go ------------------------------------------------------------------- */

/* It leaves the queue and runs: `hit` is in the tree, `start` tokens are cached there or came
 * with it, and it holds `units` in all. */
void radix_batch_begin(struct radix_batch *batch, uint32_t id, const struct radix_hit *hit,
                       uint64_t start, size_t units);
/* Add `tokens` tokens of its prompt to the batch that is formed. True: they complete the prompt. */
bool radix_batch_add_prompt(struct radix_batch *batch, struct radix_flight *flight, struct sim_step *step,
                            uint32_t id, uint64_t tokens);
/* It decodes from the next turn on, until `turn`. */
void radix_batch_join(struct radix_batch *batch, uint32_t id, uint64_t turn);
void radix_batch_leave(struct radix_batch *batch, uint32_t id);
/* Its prefix, as far as whole units go, is in the tree from now on. */
void radix_batch_keep(struct radix_batch *batch, uint32_t id, uint64_t tokens);
/* It stops running and releases the units that it holds. */
void radix_batch_let_go(struct radix_batch *batch, uint32_t id, size_t units);
void radix_batch_finish(struct radix_batch *batch, uint32_t id, size_t units, double now);
/* It starts again, having received `had` outputs; the scheduler puts it into the queue. */
void radix_batch_restart(struct radix_batch *batch, uint32_t id, uint32_t had, size_t units);

/* ---- batches -------------------------------------------------------------------------------- */

/* An empty batch after those in flight, not launched yet. */
struct radix_flight *radix_batch_flight(struct radix_batch *batch);
/* Add a turn of all decoding requests, which takes `units` units, to the batch. */
void radix_batch_add_turn(struct radix_batch *batch, struct radix_flight *flight, struct sim_step *step,
                          size_t units);
void radix_batch_launch(struct radix_batch *batch, const struct sim_step *step, double now);
/* The simulation is told when the first one in flight ends. */
void radix_batch_wait(struct radix_batch *batch);
/* Whether, given the batches in flight, only turns of the decoding requests can follow. */
bool radix_batch_only_decodes(const struct radix_batch *batch);
/* Start a fast-forward of `turns` turns; 0: none. */
void radix_batch_fast_forward(struct radix_batch *batch, uint64_t turns);
/* The first batch in flight, or the fast-forward, is over: that batch, until another one is formed.
 * NULL: the simulation called because somebody left the queue, and a batch goes on. */
const struct radix_flight *radix_batch_end(struct radix_batch *batch, double now);
/* Its prefill is complete and yielded a token. False: it has to restart. */
bool radix_batch_read(struct radix_batch *batch, uint32_t id, double now);

/* ---- what the simulation asks; the scheduler may have more to do ---------------------------- */

void radix_batch_take(struct replica *replica, uint32_t id, double now);
void radix_batch_settle(struct replica *replica, double now);
struct course radix_batch_course(const struct replica *replica);
bool radix_batch_drop(struct replica *replica, uint32_t id);
size_t radix_batch_cached(struct replica *replica, uint32_t id, double now);
uint32_t radix_batch_had(const struct replica *replica, uint32_t id);
/* A replica fails: `got` of those that wait, decode or are cut is set; then nothing is left. */
void radix_batch_forget(struct radix_batch *batch, double now);
void radix_batch_empty(struct radix_batch *batch);

#endif
