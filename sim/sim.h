/* sim -- a discrete-event simulator of replicas: the queueing that formulas in closed form cannot show.
 *
 *     trace (arrivals, lengths)        or users with think times, sessions with several turns
 *        |  router: which replica
 *        v
 *     waiting -> [ running: prompt in chunks, then one token per step ] -> done
 *                      |
 *                      KV blocks; if none is free, a request is preempted and starts again
 *
 * A replica forms a batch, runs it for as long as the step time says, and forms the next.
 * The scheduler (schedulers/) decides what enters a batch. Between two events only the contexts of the
 * decoding requests grow, so that many steps can be fast-forwarded as one sum in closed form: the cost
 * of a run grows with the number of events, not of tokens. `stepping` runs every step instead; a test
 * shows that both give the same result. */
#ifndef SIM_H
#define SIM_H

#include "sim/traffic/amount.h"
#include "sim/traffic/generate.h"
#include "sim/cache/prefix.h"
#include "sim/cache/tiers.h"
#include "sim/traffic/trace.h"

struct replica;
struct simulation;
struct course;

/* ---- what runs ------------------------------------------------------------------------- */

/* Which replica gets a request: the next in turn; the one with the fewest waiting requests; the one with
 * the fewest tokens left to process, of waiting and running requests; or, among those that are not
 * overloaded, the one whose cache has most of the prompt. Ties go to the first. */
enum router {
    ROUTER_ROUND_ROBIN, ROUTER_LEAST_PENDING, ROUTER_LEAST_TOKENS, ROUTER_PREFIX, ROUTER_COUNT
};
extern const char *const router_names[ROUTER_COUNT + 1];         /* ended by NULL */

/* The work of one step, as numbers from which its time is computed. */
struct sim_step {
    double decoding, decode_cached;         /* requests that decode; their cached tokens in all */
    double drafts;                          /* draft tokens of all decoding requests */
    double prompt, prompt_cached;           /* prompt tokens; cached tokens of their requests */
    double prompt_pairs;                    /* pairs of a prompt token with a token before it */
    double sequences;                       /* requests, decoding or in prefill */
    double begun;                           /* requests whose prefill starts, or starts again */
    double imbalance;                       /* if attention ranks step together, this is the step of the
                                               rank with the most tokens, and this their ratio to the
                                               mean; else 0 or 1 */
};
/* One more sequence: `tokens` of it after `cached` ones, which decode (the last one, and drafts) or are of its prompt. */
static inline void sim_step_add(struct sim_step *step, double tokens, double cached, bool decodes)
{
    step->sequences++;
    if (decodes) {
        step->decoding++;
        step->decode_cached += cached;
        step->drafts += tokens - 1;
        return;
    }
    step->prompt += tokens;
    step->prompt_cached += cached;
    step->prompt_pairs += tokens * (cached + tokens / 2);
    step->begun += cached == 0;
}
/* Returns the time of the step in seconds, above 0. It must be convex in decode_cached while
 * everything else is fixed: fast-forwarding relies on that. */
typedef double sim_seconds(void *context, const struct sim_step *step);

/* The state of all replicas at one time. */
struct sim_sample {
    size_t waiting, running, replicas;      /* requests; replicas that are up */
    size_t blocks_used;
    uint64_t done, tokens;                  /* requests completed so far, and their output tokens */
};

enum { SETTINGS_MOST = 4 };

/* The configuration of a replica. The scheduler's `can` says which of these members it reads. */
struct sim_server {
    const struct scheduler *scheduler;
    size_t max_num_seqs;            /* most running requests of each attention rank */
    size_t chunk;                   /* token budget of a step, or of its prompts alone (sglang) */
    size_t batch_tokens_most;       /* vllm-2023: sequences times the longest prompt of a batch; sglang:
                                       prompt tokens of a batch */
    size_t blocks, block;           /* KV blocks of each attention rank (row kv_blocks_per_rank); tokens
                                       per block. A cache without blocks has blocks * block tokens */
    double watermark;               /* share of the blocks that admission keeps in reserve */
    bool synchronous;               /* a step is formed only when the previous one has ended */
    size_t ranks;                   /* attention ranks that step together, each with blocks and
                                       sequences of its own; 0 is 1 */
    size_t stages;                  /* pipeline stages: a step takes an equal part of its time in each,
                                       and one step per stage is in flight; 0 is 1 */
    size_t draft;                   /* draft tokens per decoding sequence and step */
    double accepted;                /* probability that a draft token is accepted, given that the one
                                       before it was */
    size_t class_most[TRACE_CLASSES]; /* sequences of a step that has one of the class; 0:
                                         max_num_seqs. Earlier classes go first */
    double own[SETTINGS_MOST];      /* values of scheduler->setting */
    sim_seconds *seconds;           /* the time of a step */
    void *context;                  /* of `seconds` */
};

/* Which members of struct sim_server a scheduler reads, and what it supports. It has a prefix cache if
 * its function `cached` is set, and uses tiers if `fetched` is set. */
enum scheduler_can {
    SCHEDULER_STEP_TIME = 1 << 0,   /* `seconds`; a scheduler without it has fixed step times */
    SCHEDULER_BLOCKS = 1 << 1,      /* `blocks`; without it memory is unlimited */
    SCHEDULER_CHUNK = 1 << 2,       /* `chunk`; without it a prompt is one chunk */
    SCHEDULER_BATCH_TOKENS = 1 << 3,
    SCHEDULER_WATERMARK = 1 << 4,
    SCHEDULER_AHEAD = 1 << 5,       /* forms the next step while one runs, unless `synchronous` */
    SCHEDULER_POOLS = 1 << 6,       /* a request may arrive with its KV cache from a prefill replica */
    SCHEDULER_RANKS = 1 << 7,       /* `ranks` */
    SCHEDULER_DRAFTS = 1 << 8,      /* `draft`, `accepted` */
    SCHEDULER_CLASSES = 1 << 9,     /* `class_most` */
    SCHEDULER_STAGES = 1 << 10,     /* `stages` */
};

/* A setting that only one scheduler has; `name` is also its option on the command line. */
struct scheduler_setting {
    const char *name, *unit;        /* unit NULL: a switch, 0 or 1 */
    double least;                   /* smallest value */
    const char *example;            /* a valid value for the message, if `least` is above 0 */
};

/* A scheduler decides which requests enter a batch. Each has a group of files in schedulers/ and a
 * row of schedulers.def; replica.h says what its functions have to do. */
struct scheduler {
    const char *name;
    const char *engine;             /* engine whose fitted constants apply; NULL: none */
    size_t size;                    /* B of a replica, which the calendar fetches ahead; 0: it does not */
    unsigned can;                   /* bits of enum scheduler_can */
    enum router router;             /* default router */
    struct sim_server usual;        /* default configuration of its replicas */
    struct scheduler_setting setting[SETTINGS_MOST + 1];    /* describe `own`; the last has no name */

    struct replica *(*open)(struct arena *arena, struct simulation *simulation,
                            const struct sim_server *server);
    /* Add request `id` to the queue. */
    void (*take)(struct replica *replica, uint32_t id, double now);
    /* End the step that runs; called at replica->next only. */
    void (*end)(struct replica *replica, double now);
    /* Form the next step, after `end` or when idle. */
    void (*start)(struct replica *replica, double now);
    /* The replica failed: it loses its requests, which the simulation routes again, and its cache. `got`
     * of each request is the number of outputs that its user has. */
    void (*clear)(struct replica *replica, double now);
    /* Count the steps of a fast-forward that ended before now, so that `tokens_left` and `blocks_used`
     * are up to date. NULL: they always are. */
    void (*settle)(struct replica *replica, double now);
    /* How tokens_left falls from now on, without settling. NULL: call settle first. */
    struct course (*course)(const struct replica *replica);
    /* Remove a request from the queue, after `settle`. A fast-forward ends, since the request behind it
     * may enter. False: it is not waiting. NULL: requests cannot be taken back. */
    bool (*drop)(struct replica *replica, uint32_t id);
    /* Number of tokens of a request's prompt that the prefix cache or a tier below it has. NULL: none. */
    size_t (*cached)(struct replica *replica, uint32_t id, double now);
    /* The blocks of a request that were fetched from a tier have arrived. NULL: it uses no tiers. */
    void (*fetched)(struct replica *replica, uint32_t id, double now);
    /* Number of output tokens that the user of a request has, once it has the first. The run must have
     * options->stepping. */
    uint32_t (*received)(const struct replica *replica, uint32_t id);
    /* The user of a request that runs has gone: it ends with the steps in flight, or else with its next token.
     * Returns its output tokens then, as `want` has them; 0: it has left, since its prompt was still being computed. NULL:
     * such a request runs to its end. */
    uint32_t (*cut)(struct replica *replica, uint32_t id);
    /* Number of blocks that a request cannot use even if it is alone. NULL: it can use all. */
    size_t (*spare)(const struct sim_server *server);
};

/* The schedulers that can be chosen by name, in the order of schedulers.def. Tests may run others. */
extern const struct scheduler *const schedulers[];
extern const size_t scheduler_count;
const struct scheduler *scheduler_named(const char *name);              /* NULL: none */
const struct scheduler *scheduler_of_engine(const char *engine);        /* the first; NULL: none */

/* The scheduler's usual server. */
struct sim_server sim_server_of(const struct scheduler *scheduler);
/* Read or set a setting that only its scheduler has, by name; NAN or false if there is none of that
 * name. */
double sim_setting(const struct sim_server *server, const char *name);
bool sim_set(struct sim_server *server, const char *name, double value);

/* Disaggregated serving: a pool of prefill replicas. `server` then only decodes, and the KV cache of
 * a prompt is transferred over a link of its prefill replica, which has one for each attention rank and
 * uses them in turn. Transfers of a link share it equally. */
struct sim_split {
    size_t replicas;                        /* of prefill; 0: serving is aggregated */
    struct sim_server server;
    double bandwidth, latency;              /* of a link: B/s, s */
    bool first_after;                       /* the user reads the first token when the transfer has ended */
    double token_bytes;                     /* KV cache per token, B */
};

/* Autoscaling: every `every` s the wanted number of replicas is set such that each has `load`
 * requests. A new replica takes requests after `start_up` s; a superfluous one takes no new requests
 * and leaves when it is empty. */
struct sim_scaling {
    size_t most;                            /* most replicas; 0: no autoscaling */
    double load, every, start_up;           /* requests per replica; s; s */
    size_t (*wanted)(void *context, double now);        /* replicas, in the place of those by `load`; or NULL */
    void *context;
};

/* Callbacks that observe a run; any may be NULL. They must not change it. */
struct sim_watch {
    void *context;
    /* Consecutive steps with the same requests; `first` is the first of them. */
    void (*ran)(void *context, size_t replica, double from, double seconds, uint64_t steps,
                const struct sim_step *first);
    /* A request was sent to a replica, which had `seen` without it. */
    void (*sent)(void *context, uint32_t id, size_t replica, double now, const struct sim_sample *seen);
    /* Called every `every` seconds. */
    void (*sample)(void *context, double now, const struct sim_sample *sample);
    double every;
    /* Now and then: requests that have left the run so far. */
    void (*left)(void *context, size_t requests);
};

/* Who reads what a run says of each request: the elements first <= id < end of its result, in order. NULL: they are read
 * after the run, for which the trace must not have a source. */
struct sim_reader {
    void *context;
    void (*left)(void *context, size_t first, size_t end);
};

/* Everything that a run depends on besides the trace. */
struct sim_options {
    struct sim_server server;
    /* A copy of `server` whose step times another thread may ask for at the same time; NULL: only one thread may. */
    struct sim_server (*own)(struct arena *arena, const struct sim_server *server);
    size_t replicas;
    enum router router;
    double refresh;                 /* s for which least-pending and least-tokens rely on one look (snapshot.h); 0: they
                                       see every queue at every moment */
    bool stepping;                  /* run every step by itself, without fast-forwards */
    size_t users;                   /* above 0: a closed loop of users, which ignores `arrival` */
    double stagger;                 /* s over which the users start, evenly; 0: all at once */
    double think;                   /* s from the end of an answer to the user's next request */
    double before, before_token;    /* s of a request and of a prompt token before the server, in TTFT (sim_before) */
    size_t waiting_most;            /* refuse a request when this many wait per replica; 0: never */
    double patience;                /* s after which a waiting request gives up; 0: never */
    double fails_every, restart;    /* s of a replica: mean time between failures; time to restart */
    uint64_t seed;                  /* of failures and draft acceptance */
    struct sim_split split;
    struct tier_options tier[TIERS_MOST];   /* KV tiers below the GPU memory, fastest first */
    size_t tiers;
    double token_bytes;                     /* KV cache per token, B, for the tiers */
    bool fetch_cheaper;                     /* fetch from a tier if that is cheaper than recomputing;
                                               false: if it is sooner */
    double replica_price;                   /* USD/s, for fetch_cheaper */
    uint64_t restarts_most;                 /* restarts without a completed request that are taken for
                                               an endless loop; 0: a million */
    struct sim_scaling scaling;
    struct sim_watch watch;
    struct sim_reader reader;               /* of a trace with a source, which has no users */
};

/* The time of a request of this many prompt tokens before it arrives at the server, s. */
static inline double sim_before(const struct sim_options *options, uint32_t prompt)
{
    return options->before + options->before_token * prompt;
}

/* ---- quantiles in fixed room ------------------------------------------------------------ */

/* A histogram with classes that are at most 2 % wide, so that a quantile is within 1 %. Sizes are from
 * 1 us to 1e6 s; smaller ones count as 0. */
enum { SKETCH_CLASSES = 1500 };
struct sketch {
    uint64_t count, zeros, classes[SKETCH_CLASSES];
    double sum, most;
};
void sketch_add(struct sketch *sketch, double size);
/* Add all sizes of another sketch. Its quantiles are those of one sketch of both: classes count. */
void sketch_merge(struct sketch *sketch, const struct sketch *other);
/* Add `count` sizes, of which each is larger than the one before by `growth`, each `weight` times. */
void sketch_add_line(struct sketch *sketch, double first, double growth, uint64_t count,
                     uint64_t weight);
double sketch_quantile(const struct sketch *sketch, double share);      /* 0 if it is empty */
double sketch_mean(const struct sketch *sketch);

/* ---- what comes out -------------------------------------------------------------------- */

/* What a run measured. Arrays have an element per request of the trace, which is forgotten once options->reader has read
 * it: after the run of a trace with a source they are NULL. Times are in s. */
struct sim_result {
    double *arrival;                        /* when each request arrived: from the trace, or its user */
    double *first_token, *completed;        /* when; below 0: never */
    uint32_t *restarts;                     /* times that each request was preempted or lost */
    uint64_t iterations, batch_tokens, preemptions;     /* steps; tokens processed in them */
    double makespan;                        /* end of the last request */
    double busy;                            /* time in which replicas ran steps, summed over replicas */
    double pool_busy[2], pool_there[2];     /* busy time and up time of the replicas: [0] those that
                                               decode, [1] prefill replicas */
    double sequence_seconds;                /* sum over steps of sequences times duration */
    double queued;                          /* part of `busy` in which some request waited */
    double waiting_at_last;                 /* requests that waited when the last one arrived */
    uint64_t refused, gave_up, unasked;     /* requests that found a full queue; that lost patience;
                                               turns that were never sent, since the turn before got
                                               no answer */
    uint64_t failures, lost;                /* failures of replicas; requests restarted by them */
    double class_seconds[TRACE_CLASSES];    /* of each class: its share of the sequences of each step,
                                               times the step's s; SCHEDULER_CLASSES */
    struct sketch *gaps;                    /* inter-token latency: time between two decode steps,
                                               weighted by their requests; with pipeline stages,
                                               between two tokens of a request */
    uint64_t cached_tokens, fetched_tokens; /* prompt tokens found in the prefix cache; in a tier */
    uint32_t *cached;                       /* of each request, of `cached_tokens`; NULL: not wanted */
    struct tier_use tier[TIERS_MOST];       /* summed over replicas */
    double moved_bytes, moving;             /* KV transfers between pools: bytes, summed durations */
};

/* Run the trace to its end. All arrays of the result have the length of the trace and live in the
 * arena. Fails if a request is too large for an empty replica, or if requests restart forever. The
 * result depends on the trace, the options and the seed only, never on threads or time. */
bool sim_run(struct arena *arena, const struct trace *trace, const struct sim_options *options,
             struct sim_result *result, struct error *error);

#endif
