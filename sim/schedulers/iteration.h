/* turns -- the parts of schedulers sarathi, which cuts prompts, and vllm-2023, which does not:
 * whole requests in order of arrival, blocks without names.
 *
 *     iteration.c        requests come, batches end, fast-forwards of turns
 *     iteration_form.c   a batch is formed: who goes on, who starts again, who enters
 *     iteration_group.c  those that decode, and the blocks they take, as one group
 *
 * A turn is a step in which all that decode take a token. */
#ifndef SIM_SCHEDULERS_ITERATION_H
#define SIM_SCHEDULERS_ITERATION_H

#include "sim/replica.h"

/* What a request has done. A request is named by its place in the trace, so that order of
 * arrival is order of numbers. */
struct requests {
    uint32_t *prompt;       /* grows when a request starts again: what it had is its prompt */
    uint32_t *total;        /* prompt and output */
    int64_t *done;          /* tokens processed; while it decodes, less the replica's turns */
};

struct finish {             /* of a decoding request: the turn that completes it */
    uint64_t turn;
    uint32_t id;
};

struct part {               /* of a batch: a prompt's chunk, or a step of `stepping` */
    uint32_t id, tokens;
};

/* The decoding requests of a replica advance together, one token a turn, so that what they
 * have done is a difference to the count of turns, and a turn costs nothing by request. When
 * blocks run short the order in which they take one decides: then a step goes through them. */
struct iteration {
    struct replica replica;
    struct requests *requests;
    struct queue queue;             /* those that wait */
    uint32_t *running;              /* in order of arrival: decoding and in their prompt */
    size_t running_count;
    uint32_t *prefills;             /* in order of arrival: those in their prompt */
    size_t prefill_count;
    struct finish *finishes;        /* heap: the next to complete first */
    size_t decoding;
    int64_t done_sum;               /* of the decoding ones, less the turns */
    uint64_t turns;
    size_t *takes;                  /* [block]: those that take a block when turns % block is so */
    size_t free_blocks;
    struct part *parts;             /* of the batch that runs */
    size_t part_count;
    bool cuts;                      /* prompts, into chunks; else they run alone, before decodes */
    bool busy, turn, exact;         /* a batch runs; it is a turn; it went through all */
    struct fast_forward forward;    /* of turns that run instead of a batch; steps 0: none */
};

/* ---- iteration_group.c ---------------------------------------------------------------------- */

/* Of so many tokens; that admission leaves free. */
size_t iteration_blocks_for(const struct iteration *iteration, uint64_t tokens);
size_t iteration_spare_blocks(const struct sim_server *server);
/* A decoding request takes a block when what it has done is more than its blocks hold. */
size_t iteration_blocks_held(const struct iteration *iteration, uint32_t id, uint64_t done);
/* Into a list in order of arrival, mostly at its end. */
void iteration_list_insert(uint32_t *list, size_t *count, uint32_t id);
void iteration_list_remove(uint32_t *list, size_t *count, uint32_t id);
/* The one that completes first leaves the group. */
uint32_t iteration_heap_pop(struct iteration *iteration);
/* The class of turns in which a request that has done so much takes its next blocks. */
size_t iteration_take_class(const struct iteration *iteration, uint32_t id, uint64_t done);
/* It decodes from the next turn on; done: tokens processed. */
void iteration_join_decoding(struct iteration *iteration, uint32_t id, uint64_t done);
/* Tokens they have, all together. */
uint64_t iteration_cached_sum(const struct iteration *iteration);
/* All that decode leave the common count: what each has done is a number. */
void iteration_leave(struct iteration *iteration);
/* Whether all that decode can take a turn without anybody looking at blocks. */
bool iteration_is_safe(const struct iteration *iteration);
/* The blocks that so many turns take. */
void iteration_take_blocks(struct iteration *iteration, uint64_t turns);
/* Turns for which blocks suffice whoever takes them. */
uint64_t iteration_with_blocks(const struct iteration *iteration);

/* ---- iteration_form.c ----------------------------------------------------------------------- */

/* And runs it: replica.next is its end, or INFINITY where there is nothing to run. */
void iteration_form_batch(struct iteration *iteration, double now);

#endif
