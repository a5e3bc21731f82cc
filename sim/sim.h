/* sim -- what queues do that formulas cannot.
 *
 *     trace (arrivals, lengths)
 *        |  router: which replica
 *        v
 *     waiting -> [ running: prompts in chunks, then one token a step ] -> done
 *                      |
 *                      blocks of the cache; none free: somebody starts again
 *
 * A replica forms a batch, runs it for as long as the step time says, and forms the next.
 * What enters a batch is a rule set. Between two events a batch of decoding requests only
 * gets longer contexts, so that a stretch of steps is one sum: cost is by event and not by
 * token. `stepping` runs every step instead; a test shows that both agree. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "sim/trace.h"

/* ---- what runs ------------------------------------------------------------------------- */

enum rules { RULES_SARATHI, RULES_VLLM_2023, RULES_VLLM_V1, RULES_COUNT };
extern const char *const rules_names[RULES_COUNT];

/* Which replica takes a request: each in turn; the fewest that wait; the fewest tokens left to
 * do, of those that wait and run. Of equals the first. */
enum router { ROUTER_ROUND_ROBIN, ROUTER_LEAST_PENDING, ROUTER_LEAST_TOKENS, ROUTER_COUNT };
extern const char *const router_names[ROUTER_COUNT];

/* What a step holds. */
struct sim_step {
    double decoding, decode_cached;         /* requests that decode; tokens they had before */
    double prompt, prompt_cached;           /* prompt tokens; tokens their requests had before */
    double prompt_pairs;                    /* of prompt tokens with those before them */
    double sequences;                       /* requests in all */
};
/* Its seconds, above 0; convex in decode_cached while all else stays. */
typedef double sim_seconds(void *context, const struct sim_step *step);

struct sim_options {
    enum rules rules;
    enum router router;
    size_t replicas;
    size_t sequences_most;          /* in a replica */
    size_t chunk;                   /* sarathi, vllm-v1: tokens of a batch */
    size_t batch_tokens_most;       /* vllm-2023: sequences times the longest prompt */
    size_t blocks, block;           /* of a replica; tokens of one */
    double watermark;               /* share of the blocks that admission leaves free */
    sim_seconds *seconds;
    void *context;                  /* of `seconds` */
    bool stepping;                  /* every step by itself; vllm-v1 always does */
    bool synchronous;               /* vllm-v1: a step is formed when the one before has ended */
};

/* ---- what comes out -------------------------------------------------------------------- */

struct sim_result {
    double *first_token, *completed;        /* s, of each request */
    uint32_t *restarts;
    uint64_t iterations, batch_tokens, preemptions;
    double makespan;
    double busy;                            /* s that replicas ran batches, all together */
    double queued;                          /* of these, s in which some request waited */
    double waiting_at_last;                 /* requests that waited when the last one came */
};

/* Error: a request that no empty replica could take. */
bool sim_run(struct arena *arena, const struct trace *trace, const struct sim_options *options,
             struct sim_result *result, struct error *error);

/* ---- quantiles in fixed room ------------------------------------------------------------ */

/* Counts by size, each class 2 % wide, so that a quantile is within 1 %; sizes from 1 us to
 * 1e6 s, smaller ones count as 0. */
enum { SKETCH_CLASSES = 1400 };
struct sketch {
    uint64_t count, zeros, classes[SKETCH_CLASSES];
    double sum, most;
};
void sketch_add(struct sketch *sketch, double size);
double sketch_quantile(const struct sketch *sketch, double share);      /* 0 of none */
double sketch_mean(const struct sketch *sketch);

#endif
