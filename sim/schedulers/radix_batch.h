/* radix_batch -- what SGLang and TensorRT-LLM have in common: requests that decode together
 * (decodes.h), prefixes kept in a tree (radix.h), one batch or two in flight (ahead.h).
 *
 *     waiting: queue --begin--> prompt: cut --add_prompt--> flight --read--> decodes --finish-->
 *
 * A scheduler puts struct radix_batch first in a struct of its own. What it decides itself is who
 * enters, who takes part in a batch, and who has to start again.
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
    int64_t cached;                 /* tokens cached; while it decodes, less the turns launched */
    uint64_t turn;                  /* that of its last output, from when that is known */
    uint32_t had;                   /* outputs received when it began */
    uint32_t node;                  /* what it locks of the tree */
    bool fresh;                     /* its prompt is in flight */
    bool over;
    bool begun;                     /* of its prompt something was in a batch, since it entered */
};

struct flight {                     /* a batch that was launched */
    uint32_t *prompts, *ends;       /* requests whose prompts it ends; that are done with it */
    size_t prompt_count, end_count;
    bool turn;                      /* those that decode are in it */
};

struct radix_batch {
    struct replica replica;
    struct radix_request *requests;
    struct queue queue;
    struct decodes decodes;
    struct radix *cache;
    size_t unit, capacity;          /* tokens of a unit, 1 or a block; units */
    bool reuse;                     /* what was read is kept in the tree */
    size_t outside;                 /* units held by running requests outside of the tree */
    int64_t left;                   /* tokens to process */
    uint32_t cut;                   /* the prompt that goes on; NOBODY */
    struct ahead ahead;
    struct flight flights[AHEAD_MOST];
    /* Counts what so many turns take when they are launched: `outside`, and what the scheduler
     * keeps by turns. Called before the turns count. */
    void (*grow)(struct radix_batch *batch, uint64_t turns);
};

/* Empty, in the arena, with room for the server's sequences. */
void radix_batch_open(struct radix_batch *batch, struct arena *arena, struct simulation *simulation,
                      const struct sim_server *server, size_t unit, size_t capacity);

/* Tokens to read before its next output; of these cached by another pool. */
static inline uint64_t radix_batch_known(const struct radix_batch *batch, uint32_t id)
{
    return (uint64_t)batch->replica.simulation->trace->prompt[id] + batch->requests[id].had;
}

static inline uint64_t radix_batch_ready(const struct radix_batch *batch, uint32_t id)
{
    uint64_t known = radix_batch_known(batch, id), ready = batch->replica.simulation->ready[id];
    return ready < known ? ready : known - 1;
}

/* Tokens that it will have read when it is done: its last output is not an input. */
static inline uint64_t radix_batch_last(const struct radix_batch *batch, uint32_t id)
{
    return simulation_total(batch->replica.simulation, id) - 1;
}

static inline size_t radix_batch_in_use(const struct radix_batch *batch)
{
    return batch->outside + radix_used(batch->cache);
}

/* Outputs that its user has. */
uint32_t radix_batch_received(const struct radix_batch *batch, uint32_t id);
/* What the tree has of its first `known` tokens, but for the last one. */
struct radix_hit radix_batch_find(const struct radix_batch *batch, uint32_t id, uint64_t known);
/* Of what nobody uses so much goes that the rest has room. */
void radix_batch_make_room(struct radix_batch *batch);
/* For the simulation: waiting, tokens_left, blocks_used. */
void radix_batch_count(struct radix_batch *batch);

/* ---- requests come and go ------------------------------------------------------------------- */

/* It leaves the queue and runs: `hit` is in the tree, `start` tokens are cached there or came
 * with it, and it holds `units` in all. */
void radix_batch_begin(struct radix_batch *batch, uint32_t id, const struct radix_hit *hit,
                       uint64_t start, size_t units);
/* So many tokens of its prompt join the batch that is formed. True: they are its last ones. */
bool radix_batch_add_prompt(struct radix_batch *batch, struct flight *flight, struct sim_step *step,
                            uint32_t id, uint64_t tokens);
/* It decodes from the next turn on, until `turn`. */
void radix_batch_join(struct radix_batch *batch, uint32_t id, uint64_t turn);
void radix_batch_leave(struct radix_batch *batch, uint32_t id);
/* Its prefix, as far as whole units go, is in the tree from now on. */
void radix_batch_keep(struct radix_batch *batch, uint32_t id, uint64_t tokens);
/* It runs no more and gives back the units that it holds. */
void radix_batch_let_go(struct radix_batch *batch, uint32_t id, size_t units);
void radix_batch_finish(struct radix_batch *batch, uint32_t id, size_t units, double now);
/* It starts again, having received `had` outputs; the scheduler puts it into the queue. */
void radix_batch_restart(struct radix_batch *batch, uint32_t id, uint32_t had, size_t units);

/* ---- batches -------------------------------------------------------------------------------- */

/* An empty one behind those in flight, which is not launched yet. */
struct flight *radix_batch_flight(struct radix_batch *batch);
/* All that decode take part in it, and so many units for that; the turn is launched. */
void radix_batch_add_turn(struct radix_batch *batch, struct flight *flight, struct sim_step *step,
                          size_t units);
void radix_batch_launch(struct radix_batch *batch, const struct sim_step *step, double now);
/* The simulation is told when the first one in flight ends. */
void radix_batch_wait(struct radix_batch *batch);
/* Whether nothing can happen but turns of those that decode, as far as those in flight say. */
bool radix_batch_only_decodes(const struct radix_batch *batch);
/* So many turns are a fast-forward; 0: there is none. */
void radix_batch_fast_forward(struct radix_batch *batch, uint64_t turns);
/* The first batch in flight, or the fast-forward, is over: that batch, until another one is formed.
 * NULL: the simulation called because somebody left the queue, and a batch goes on. */
const struct flight *radix_batch_end(struct radix_batch *batch, double now);
/* Its prompt has been read and gave a token. False: it has to start again. */
bool radix_batch_read(struct radix_batch *batch, uint32_t id, double now);

/* ---- what the simulation asks; the scheduler may have more to do ---------------------------- */

void radix_batch_take(struct replica *replica, uint32_t id, double now);
void radix_batch_settle(struct replica *replica, double now);
bool radix_batch_drop(struct replica *replica, uint32_t id);
size_t radix_batch_cached(struct replica *replica, uint32_t id, double now);
/* A replica fails: `got` of those that wait, decode or are cut is set; then nothing is left. */
void radix_batch_forget(struct radix_batch *batch, double now);
void radix_batch_empty(struct radix_batch *batch);

#endif
