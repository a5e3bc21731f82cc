/* iteration -- what the schedulers sarathi, which cuts prompts into chunks, and vllm-2023, which does
 * not, have in common: requests are admitted whole, in order of arrival; KV blocks have no hashes.
 *
 *     iteration.c        requests arrive, batches end, turns are fast-forwarded
 *     iteration_form.c   a batch is formed: which requests continue, restart and enter
 *     iteration_group.c  the decoding requests and the blocks that they take, as one group
 *
 * A turn is a step in which every decoding request gets one token. */
#ifndef SIM_SCHEDULERS_ITERATION_H
#define SIM_SCHEDULERS_ITERATION_H

#include "sim/replica.h"

/* The progress of each request. The id of a request is its index in the trace, so ids are in order
 * of arrival. */
struct request_progress {
    uint32_t *prompt;       /* tokens; a restarted request has its outputs so far in its prompt */
    uint32_t *total;        /* tokens of prompt and output */
    int64_t *done;          /* tokens processed; while it decodes, minus the replica's count of turns */
};

struct finish {             /* the turn in which a decoding request completes */
    uint64_t turn;
    uint32_t id;
};

struct batch_part {               /* part of a batch: a prefill chunk, or with --stepping a decode */
    uint32_t id, tokens;
};

/* The decoding requests of a replica advance together, one token per turn. The progress of a request is
 * kept as a difference to the count of turns, so a turn does no work per request. When blocks run short,
 * the order in which requests take them matters, and a step then goes through all requests. */
struct iteration {
    struct replica replica;
    struct request_progress *requests;
    struct queue queue;             /* waiting requests */
    uint32_t *running;              /* ids in order of arrival: in prefill or decode */
    size_t running_count;
    uint32_t *prefills;             /* ids in order of arrival: in prefill */
    size_t prefill_count;
    struct finish *finishes;        /* heap: the next to complete first */
    size_t decoding;                /* number of decoding requests */
    int64_t done_sum;               /* sum of `done` of the decoding requests */
    uint64_t turns;
    size_t *takes;                  /* [tokens per block]: requests that take a block at this turns % block */
    size_t free_blocks;
    struct batch_part *parts;             /* of the running batch */
    size_t part_count;
    bool cuts;                      /* prompts are cut into chunks; else they run alone, before decodes */
    bool busy, turn, exact;         /* a batch runs; it is a turn; it went through the requests one by one */
    uint64_t flying;                 /* tokens of that batch */
    struct fast_forward forward;    /* turns that run instead of a batch; steps 0: none */
};

/* ---- iteration_group.c ---------------------------------------------------------------------- */

/* Number of blocks that hold `tokens` tokens. */
size_t iteration_blocks_for(const struct iteration *iteration, uint64_t tokens);
/* Number of blocks that admission keeps in reserve. */
size_t iteration_spare_blocks(const struct sim_server *server);
/* Blocks of a request that has processed `done` tokens: a decoding request takes one when its are full. */
size_t iteration_blocks_held(const struct iteration *iteration, uint32_t id, uint64_t done);
/* Insert into a list in order of arrival; most insertions are at its end. */
void iteration_list_insert(uint32_t *list, size_t *count, uint32_t id);
void iteration_list_remove(uint32_t *list, size_t *count, uint32_t id);
/* Remove the request that completes first from the group and return it. */
uint32_t iteration_heap_pop(struct iteration *iteration);
/* The value of turns % block at which a request that has processed `done` tokens takes its next block. */
size_t iteration_take_class(const struct iteration *iteration, uint32_t id, uint64_t done);
/* The request decodes from the next turn on; done: tokens processed. */
void iteration_join_decoding(struct iteration *iteration, uint32_t id, uint64_t done);
/* Cached tokens of all decoding requests. */
uint64_t iteration_cached_sum(const struct iteration *iteration);
/* Store the progress of each decoding request by itself, no longer relative to the count of turns. */
void iteration_leave(struct iteration *iteration);
/* Whether a turn of all decoding requests cannot run out of blocks. */
bool iteration_is_safe(const struct iteration *iteration);
/* Take the blocks that `turns` turns need. */
void iteration_take_blocks(struct iteration *iteration, uint64_t turns);
/* Number of turns for which the free blocks suffice in any order. */
uint64_t iteration_with_blocks(const struct iteration *iteration);

/* ---- iteration_form.c ----------------------------------------------------------------------- */

/* Form the next batch and start it: replica.next is its end, or INFINITY where there is nothing to run. */
void iteration_form_batch(struct iteration *iteration, double now);

#endif
