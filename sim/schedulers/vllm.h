/* vllm -- the parts of scheduler vllm-v1: vLLM v1 as of 0.19.
 *
 *     vllm.c        requests come, steps end, tokens are received
 *     vllm_form.c   a step is formed: who goes on, who has to go, who enters
 *     vllm_cache.c  blocks of the cache: their names, who shares them, what tiers bring back
 *     vllm_request.c        what a request is in a step
 *     vllm_group.c          the decoding requests of a rank as one group
 *     vllm_fast_forward.c   steps in which the same requests decode, many at once
 *
 * One budget of tokens for decodes and prompts, the last admitted starts again when blocks end,
 * prefixes are found in the cache, and two steps are in flight: the next but one is formed when
 * a step ends (asynchronous scheduling). Attention ranks have queues and caches of their own and
 * step together. With pipeline stages as many steps are in flight as there are stages, one behind
 * the other; a request whose token is in flight is passed over, a prompt's next part is not. */
#ifndef SIM_SCHEDULERS_VLLM_H
#define SIM_SCHEDULERS_VLLM_H

#include "sim/cache/blocks.h"
#include "sim/schedulers/decodes.h"

enum { FLIGHT = 2, CLASSES = 32 };      /* FLIGHT: steps in flight of one stage */

/* Setting even-stages (row stages_even): with pipeline stages, a step takes at most an equal share of the decoding
 * requests. Without it, as in vLLM, requests that arrive while no step can be formed all join the next
 * one, which grows, takes longer, and so collects even more. */
enum { VLLM_EVEN_STAGES };

/* What the scheduler keeps of a request. */
struct vllm_request {
    uint32_t known;                 /* prompt tokens and received output tokens */
    uint32_t computed;              /* tokens whose KV cache is computed or scheduled */
    uint16_t pending, in_flight;    /* output and draft tokens scheduled and not received; steps in
                                       flight that have it */
    uint32_t owed;                  /* tokens before its next output that no step has processed to its end */
    bool guesses;                   /* it has given a token since it entered, so draft tokens can follow */
    bool entered;                   /* admitted, but no step has had any of its prompt */
    uint32_t block_count, named;    /* the first `named` blocks have names (hashes) */
    uint8_t room;                   /* room of `blocks`, as the exponent of a power of two */
    uint8_t stale;                  /* fetches in flight that were started before its replica failed */
    bool grouped;                   /* its rank's group has it since step `joined`, of which nothing above tells */
    uint32_t order;                 /* of admission, in its rank */
    uint32_t take;                  /* class of the steps in which the group takes a block for it */
    uint64_t joined;
    uint32_t *blocks;               /* [block_count]; NULL where blocks are only counted */
};

/* What all replicas of a run share. */
struct shared {
    struct vllm_request *requests;
    double *told;                   /* with pipeline stages: when each request got its last token, s */
    bool own_names;                 /* no two requests share a prefix, and there are no tiers */
};

/* A request in a step. */
struct vllm_part {
    uint32_t id;
    uint8_t draft;                  /* draft tokens */
    bool decode;
    bool yields;                    /* its step gives a token and the accepted draft tokens */
    uint32_t prompt;                /* prompt tokens */
};

struct vllm_flight {                     /* a step that was launched */
    struct vllm_part *parts;
    size_t count, grouped;          /* parts; requests of the group beside them */
    double end;                     /* s of the clock */
    bool decode;                    /* every running request decodes one token */
};

static inline size_t vllm_sequences(const struct vllm_flight *flight)
{
    return flight->count + flight->grouped;
}

/* An attention rank. Among thousands of replicas all of it is read from memory: what each step reads is together. */
struct rank {
    struct vllm_flight *flights;         /* [as many as can be in flight] */
    struct blocks *blocks;
    uint32_t *running;
    size_t running_count, waiting;
    uint64_t preempted;             /* requests preempted while this step is formed */
    uint32_t admitted;              /* requests, so far */
    struct decodes group;           /* those that decode together */
    struct queue *takes;            /* [tokens per block] by the class of a step, its number modulo this: those of them that take
                                       a block; a count where nobody shares a prefix */
    size_t class;                   /* of the next step */
    uint32_t *taken;                /* blocks that they took and that no list of a request has yet */
    size_t taken_count, taken_room;
    uint32_t *loose;                /* the other running ones, in order of admission */
    size_t loose_count;
    struct queue queue[TRACE_CLASSES];      /* waiting requests, by priority class */
    struct queue fetching, fetched; /* requests whose cache comes from a tier, or has come */
    uint32_t *turns;                /* for a fast-forward: running requests by the turn of their next block */
    size_t *due;                    /* [tokens per block + 1]: where those of a turn begin in `turns` */
};

struct vllm {
    struct replica replica;
    struct shared *shared;
    struct rank *ranks;
    size_t rank_count, priority_classes, flight_count;
    bool groups;                    /* requests decode as a group where they can */
    double free_at;                 /* when the GPUs finish the launched steps, s */
    size_t stages;
    double *stage_free;             /* [stages] the same for each pipeline stage */
    struct fast_forward forward;    /* decode steps to come; steps 0: none */
    double now;                     /* when a step is formed */
    uint64_t *names;                /* of the prefix that is looked for in the tiers */
    size_t name_room;
    struct arena *arena;
    void *rooms[CLASSES];           /* by exponent: linked lists of unused arrays for request.blocks */
};

/* ---- vllm_request.c ------------------------------------------------------------------------- */

size_t vllm_class_of(const struct vllm *vllm, uint32_t id);
/* Most sequences of a step that contains a request of a class. */
size_t vllm_class_most(const struct vllm *vllm, size_t priority_class);
/* Tokens that a request lacks, of its prompt or its next output; whether so many are a decode. */
uint32_t vllm_tokens_left(const struct vllm *vllm, uint32_t id);
bool vllm_decodes(const struct vllm *vllm, uint32_t id, uint32_t tokens);

/* ---- vllm_cache.c --------------------------------------------------------------------------- */

/* A hash of two numbers. */
uint64_t vllm_mixed(uint64_t a, uint64_t b);
/* Full blocks whose tokens are known and scheduled get their names; the first only where another
 * request could look for them. */
void vllm_name_blocks(struct vllm *vllm, struct rank *rank, uint32_t id);
void vllm_name_now(struct vllm *vllm, struct rank *rank, uint32_t id);
/* Name the full blocks of the first `tokens` tokens. */
void vllm_name_first(struct vllm *vllm, struct rank *rank, uint32_t id, uint64_t tokens);

size_t vllm_blocks_for(const struct vllm *vllm, uint64_t tokens);
/* Take a free block; what it held moves to the tiers. */
uint32_t vllm_take_block(struct vllm *vllm, struct rank *rank);
void vllm_add_block(struct vllm *vllm, struct vllm_request *request, uint32_t block);
void vllm_add_taken(struct vllm *vllm, struct rank *rank, uint32_t block);      /* to the group's */
void vllm_take_blocks(struct vllm *vllm, struct rank *rank, uint32_t id, uint64_t tokens);
void vllm_leave_cache(struct vllm *vllm, struct rank *rank, uint32_t id);

/* Cached blocks of its prefix, up to the one before its last token; *idle: how many of them are free. */
size_t vllm_find_prefix(const struct vllm *vllm, const struct rank *rank, uint32_t id,
                        size_t *idle);
/* Blocks of its prefix that tiers have, from block `run` on; their names are in vllm->names. */
size_t vllm_find_below(struct vllm *vllm, uint32_t id, size_t run, size_t *per_tier);
/* Whether all its known tokens fit in the cache; *run: blocks of them that are cached already. */
bool vllm_has_room(const struct vllm *vllm, const struct rank *rank, uint32_t id, size_t *run);
void vllm_share_prefix(struct vllm *vllm, struct rank *rank, uint32_t id, size_t run);

/* ---- vllm_form.c ---------------------------------------------------------------------------- */

void vllm_stop_running(struct vllm *vllm, struct rank *rank, size_t at);
/* The place of the request to preempt: the last admitted of the last class. */
size_t vllm_last_of_all(const struct vllm *vllm, const struct rank *rank);
/* Add the step of a rank to that of the replica, whose time the fullest rank determines. */
void vllm_add_step(struct sim_step *all, struct sim_step *fullest, const struct sim_step *step);
double vllm_imbalance(const struct vllm *vllm, const struct sim_step *all,
                      const struct sim_step *fullest);
/* Charge each class its share of `seconds` of steps like the last one launched, by its sequences. */
void vllm_share_seconds(struct vllm *vllm, double seconds, double sequences);
/* Form a step and launch it after those in flight; false: nothing to do. */
bool vllm_launch(struct vllm *vllm, double now);
void vllm_count_requests(struct vllm *vllm);        /* for the simulation */
size_t vllm_depth(const struct vllm *vllm);         /* steps in flight */

/* ---- vllm_group.c --------------------------------------------------------------------------- */

/* Whether requests of this run can ever decode as a group. */
bool vllm_groups(const struct vllm *vllm);
void vllm_group_open(struct arena *arena, const struct vllm *vllm, struct rank *rank);
/* Put among those outside the group; take from them. */
void vllm_loosen(const struct vllm *vllm, struct rank *rank, uint32_t id);
void vllm_fasten(struct rank *rank, uint32_t id);
/* All that decode join; true: nobody else runs. */
bool vllm_group_join(struct vllm *vllm, struct rank *rank);
void vllm_group_leave(struct vllm *vllm, struct rank *rank, uint32_t id);
/* Whoever was launched for the last time leaves. */
void vllm_group_shed(struct vllm *vllm, struct rank *rank);
/* All that decode join, for the step that is formed; false: they have to be looked at one by one, and nobody is in the group. */
bool vllm_group_form(struct vllm *vllm, struct rank *rank);
/* Blocks that the group takes in a step, `turn` after the next; take those of the next `turns` steps. */
size_t vllm_group_takes(const struct vllm *vllm, const struct rank *rank, size_t turn);
/* name: a full block gets its name when the next is taken. */
void vllm_group_take(struct vllm *vllm, struct rank *rank, uint64_t turns, bool name);
/* A step ended: blocks that its tokens filled get their names. */
void vllm_group_name(struct vllm *vllm, struct rank *rank);
/* So many steps were launched, with a group or without one. */
void vllm_group_launched(const struct vllm *vllm, struct rank *rank, uint64_t steps);

/* ---- vllm_fast_forward.c -------------------------------------------------------------------- */

/* Start a fast-forward, if only decode steps can follow; false: not possible. */
bool vllm_try_fast_forward(struct vllm *vllm, double now);
/* Steps of the fast-forward, except its last, that gave their tokens before now. */
uint64_t vllm_received_before(const struct vllm *vllm, double now);
/* Leaves the fast-forward after `received` steps have given their tokens (with two in flight the one
 * that flew before is the first of them): one more step than that is launched. */
void vllm_leave_fast_forward(struct vllm *vllm, uint64_t received);

#endif
