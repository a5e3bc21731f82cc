/* sim -- what queues do that formulas cannot.
 *
 *     trace (arrivals, lengths)        or users who think, sessions that come back
 *        |  router: which replica
 *        v
 *     waiting -> [ running: prompts in chunks, then one token a step ] -> done
 *                      |
 *                      blocks of the cache; none free: somebody starts again
 *
 * A replica forms a batch, runs it for as long as the step time says, and forms the next.
 * What enters a batch is a rule set (engine.h). Between two events a batch of decoding requests
 * only gets longer contexts, so that a stretch of steps is one sum: cost is by event and not by
 * token. `stepping` runs every step instead; a test shows that both agree. */
#ifndef SIM_H
#define SIM_H

#include "sim/traffic/amount.h"
#include "sim/traffic/generate.h"
#include "sim/cache/prefix.h"
#include "sim/cache/tiers.h"
#include "sim/traffic/trace.h"

/* ---- what runs ------------------------------------------------------------------------- */

enum rules {
    RULES_SARATHI, RULES_VLLM_2023, RULES_VLLM_V1, RULES_SGLANG, RULES_TRTLLM, RULES_TRAIN,
    RULES_COUNT
};
const char *rules_name(enum rules rules);

/* Which replica takes a request: each in turn; the fewest that wait; the fewest tokens left to
 * do, of those that wait and run; the most of its prompt in the cache, of those that are not
 * overloaded. Of equals the first. */
enum router {
    ROUTER_ROUND_ROBIN, ROUTER_LEAST_PENDING, ROUTER_LEAST_TOKENS, ROUTER_PREFIX, ROUTER_COUNT
};
extern const char *const router_names[ROUTER_COUNT];

/* What a step holds. */
struct sim_step {
    double decoding, decode_cached;         /* requests that decode; tokens they had before */
    double drafts;                          /* tokens they guess ahead, all together */
    double prompt, prompt_cached;           /* prompt tokens; tokens their requests had before */
    double prompt_pairs;                    /* of prompt tokens with those before them */
    double sequences;                       /* requests in all */
    double imbalance;                       /* where ranks step together this is the fullest one, with
                                               so many times the mean's tokens; else 0 or 1 */
};
/* Its seconds, above 0; convex in decode_cached while all else stays. */
typedef double sim_seconds(void *context, const struct sim_step *step);

/* A moment, over all replicas. */
struct sim_sample {
    size_t waiting, running, replicas;      /* requests; replicas that are up */
    size_t blocks_used;
    uint64_t done, tokens;                  /* requests done, outputs of these, until now */
};

/* A replica. */
struct sim_server {
    enum rules rules;
    size_t sequences_most;
    size_t chunk;                   /* tokens of a batch; sglang: of prompts */
    size_t batch_tokens_most;       /* vllm-2023: sequences times the longest prompt */
    size_t blocks, block;           /* of each rank; tokens of one */
    double watermark;               /* share of the blocks that admission leaves free */
    bool synchronous;               /* a step is formed when the one before has ended */
    size_t ranks;                   /* vllm-v1: attention ranks that step together, each with blocks
                                       and sequences of its own; 0 is 1 */
    size_t draft;                   /* vllm-v1: tokens that each decode proposes */
    double accepted;                /* probability that one is accepted after those before it */
    size_t lane_most[TRACE_LANES];  /* vllm-v1: sequences of a step that has one of the lane; 0:
                                       sequences_most. Earlier lanes go first */
    bool mixed_chunk;               /* sglang: decodes join the prompts */
    bool eager;                     /* trtllm: MAX_UTILIZATION instead of GUARANTEED_NO_EVICT */
    double conservativeness;        /* sglang: of the memory kept for tokens to come */
    double cadence;                 /* train: s between two departures */
    sim_seconds *seconds;
    void *context;                  /* of `seconds` */
};

/* A pool of its own for prompts: `server` then only decodes, and the cache of a prompt moves over
 * a link that all transfers share equally. */
struct sim_split {
    size_t replicas;                        /* 0: no such pool */
    struct sim_server server;
    double bandwidth, latency;              /* of the link: B/s, s */
    double token_bytes;                     /* of the cache */
};

/* Replicas that come and go with the load: looked at every `every` s, as many are wanted as keep
 * `load` requests each; a new one takes requests `start_up` s later, one too many takes none any
 * more and leaves when it is empty. */
struct sim_scaling {
    size_t most;                            /* 0: their number stays */
    double load, every, start_up;
};

/* What somebody may want to see while it runs; either may be NULL. */
struct sim_watch {
    void *context;
    /* Steps with the same requests, one behind the other; `first` is the first of them. */
    void (*ran)(void *context, size_t replica, double from, double seconds, uint64_t steps,
                const struct sim_step *first);
    /* Every `every` s. */
    void (*sample)(void *context, double now, const struct sim_sample *sample);
    double every;
};

struct sim_options {
    struct sim_server server;
    size_t replicas;
    enum router router;
    bool stepping;                  /* every step by itself */
    size_t users;                   /* above 0: who ask one after the other, whatever `arrival` */
    double think;                   /* s from an answer to the user's next question */
    size_t waiting_most;            /* refused where so many wait for each replica; 0: never */
    double patience;                /* s in the queue after which a request gives up; 0: never */
    double fails_every, restart;    /* s, of a replica: mean time to a failure; until it is back */
    uint64_t seed;                  /* of failures */
    struct sim_split split;
    struct tier_options tier[TIERS_MOST];   /* where blocks go that leave the chips: vllm-v1 */
    size_t tiers;
    double token_bytes;                     /* of the cache, for tiers */
    bool fetch_cheaper;                     /* fetch where it costs less than computing again, and
                                               not where it is sooner */
    double replica_price;                   /* USD/s, for that */
    uint64_t restarts_most;                 /* with none done in between: a loop; 0: a million */
    struct sim_scaling scaling;
    struct sim_watch watch;
};

/* ---- quantiles in fixed room ------------------------------------------------------------ */

/* Counts by size, each class 2 % wide at most, so that a quantile is within 1 %; sizes from 1 us
 * to 1e6 s, smaller ones count as 0. */
enum { SKETCH_CLASSES = 1500 };
struct sketch {
    uint64_t count, zeros, classes[SKETCH_CLASSES];
    double sum, most;
};
void sketch_add(struct sketch *sketch, double size);
/* `count` sizes, the first and each next one larger by `growth`, each `weight` times. */
void sketch_add_line(struct sketch *sketch, double first, double growth, uint64_t count,
                     uint64_t weight);
double sketch_quantile(const struct sketch *sketch, double share);      /* 0 of none */
double sketch_mean(const struct sketch *sketch);

/* ---- what comes out -------------------------------------------------------------------- */

struct sim_result {
    double *arrival;                        /* s, of each request, from the trace or its user */
    double *first_token, *completed;        /* s; below 0: never */
    uint32_t *restarts;
    uint64_t iterations, batch_tokens, preemptions;
    double makespan;
    double busy;                            /* s that replicas ran batches, all together */
    double pool_busy[2], pool_there[2];     /* s of replicas: of the pool of prompts in [1] */
    double sequence_seconds;                /* sequences of steps, times their s */
    double queued;                          /* of the busy ones, s in which some request waited */
    double waiting_at_last;                 /* requests that waited when the last one came */
    uint64_t refused, gave_up, unasked;     /* requests: found a full queue; lost patience; turns
                                               of a session whose turn before was never answered */
    uint64_t failures, lost;                /* of replicas; requests that had to begin again */
    double lane_seconds[TRACE_LANES];       /* of each class: its share of the sequences of each step,
                                               times the step's s; vllm-v1 */
    struct sketch *gaps;                    /* s between two steps that decode, by their requests */
    uint64_t cached_tokens, fetched_tokens; /* of prompts, that the cache had, or a tier below */
    struct tier_use tier[TIERS_MOST];       /* all replicas together */
    double moved_bytes, moving;             /* over the link between pools: bytes, s all together */
};

/* Error: a request that no empty replica could take. */
bool sim_run(struct arena *arena, const struct trace *trace, const struct sim_options *options,
             struct sim_result *result, struct error *error);

#endif
