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
 * What enters a batch is the scheduler's (schedulers/). Between two events a batch of decoding
 * requests only gets longer contexts, so that a fast-forward of steps is one sum: cost is by event and
 * not by token. `stepping` runs every step instead; a test shows that both agree. */
#ifndef SIM_H
#define SIM_H

#include "sim/traffic/amount.h"
#include "sim/traffic/generate.h"
#include "sim/cache/prefix.h"
#include "sim/cache/tiers.h"
#include "sim/traffic/trace.h"

struct replica;
struct simulation;

/* ---- what runs ------------------------------------------------------------------------- */

/* Which replica takes a request: each in turn; the fewest that wait; the fewest tokens left to
 * do, of those that wait and run; the most of its prompt in the cache, of those that are not
 * overloaded. Of equals the first. */
enum router {
    ROUTER_ROUND_ROBIN, ROUTER_LEAST_PENDING, ROUTER_LEAST_TOKENS, ROUTER_PREFIX, ROUTER_COUNT
};
extern const char *const router_names[ROUTER_COUNT + 1];         /* ended by NULL */

/* What a step holds. */
struct sim_step {
    double decoding, decode_cached;         /* requests that decode; tokens they had before */
    double drafts;                          /* draft tokens of all of them together */
    double prompt, prompt_cached;           /* prompt tokens; tokens their requests had before */
    double prompt_pairs;                    /* of prompt tokens with those before them */
    double sequences;                       /* requests in all */
    double begun;                           /* of them prompts that begin, or begin again */
    double imbalance;                       /* where ranks step together this is the fullest one, with
                                               so many times the mean's tokens; else 0 or 1 */
};
/* Seconds of the step, above 0. It must be convex in decode_cached with everything else fixed:
 * fast-forwarding relies on that. */
typedef double sim_seconds(void *context, const struct sim_step *step);

/* The state of all replicas at one time. */
struct sim_sample {
    size_t waiting, running, replicas;      /* requests; replicas that are up */
    size_t blocks_used;
    uint64_t done, tokens;                  /* requests completed so far, and their output tokens */
};

enum { SETTINGS_MOST = 4 };

/* A replica. Its scheduler says in `can` what of this it reads. */
struct sim_server {
    const struct scheduler *scheduler;
    size_t max_num_seqs;
    size_t chunk;                   /* tokens of a batch, or of its prompts */
    size_t batch_tokens_most;       /* sequences of a batch times the longest, or its prompts */
    size_t blocks, block;           /* of the KV cache, of each attention rank (row kv_blocks_per_rank);
                                       tokens of one. A cache by tokens has blocks * block */
    double watermark;               /* share of the blocks that admission leaves free */
    bool synchronous;               /* a step is formed only when the previous one has ended */
    size_t ranks;                   /* attention ranks that step together, each with blocks and
                                       sequences of its own; 0 is 1 */
    size_t stages;                  /* pipeline stages: a step takes an equal part of its seconds in
                                       each, and as many steps are in flight; 0 is 1 */
    size_t draft;                   /* tokens that each decode proposes */
    double accepted;                /* probability that one is accepted after those before it */
    size_t class_most[TRACE_CLASSES]; /* sequences of a step that has one of the class; 0:
                                         max_num_seqs. Earlier classes go first */
    double own[SETTINGS_MOST];      /* settings that only this scheduler has */
    sim_seconds *seconds;
    void *context;                  /* of `seconds` */
};

/* What a scheduler reads of a server, and what it supports. It finds cached prefixes if it has the
 * function `cached`, and uses tiers if it has `fetched`. */
enum scheduler_can {
    SCHEDULER_STEP_TIME = 1 << 0,   /* `seconds`: without it, steps take a time of their own */
    SCHEDULER_BLOCKS = 1 << 1,      /* `blocks`: without them there is always room */
    SCHEDULER_CHUNK = 1 << 2,       /* `chunk`: without it prompts are not cut */
    SCHEDULER_BATCH_TOKENS = 1 << 3,
    SCHEDULER_WATERMARK = 1 << 4,
    SCHEDULER_AHEAD = 1 << 5,       /* `synchronous`: else the next step is formed while one runs */
    SCHEDULER_POOLS = 1 << 6,       /* a request may come with its cache, from a pool for prompts */
    SCHEDULER_RANKS = 1 << 7,
    SCHEDULER_DRAFTS = 1 << 8,      /* `draft`, `accepted` */
    SCHEDULER_CLASSES = 1 << 9,
    SCHEDULER_STAGES = 1 << 10,     /* `stages` */
};

/* A setting that only one scheduler has, as its option is called. */
struct scheduler_setting {
    const char *name, *unit;        /* unit NULL: a switch, 0 or 1 */
    double least;
    const char *example;            /* where `least` is above 0: what to give instead */
};

/* A scheduler decides which requests enter a batch. Each has a group of files in schedulers/ and a
 * row of schedulers.def; replica.h says what its functions have to do. */
struct scheduler {
    const char *name;
    const char *engine;             /* the sheet of constants that goes with it; NULL: none does */
    unsigned can;                   /* of enum scheduler_can */
    enum router router;             /* where none is chosen */
    struct sim_server usual;        /* a server of it, where nothing says otherwise */
    struct scheduler_setting setting[SETTINGS_MOST + 1];    /* of `own`; ended by no name */

    struct replica *(*open)(struct arena *arena, struct simulation *simulation,
                            const struct sim_server *server);
    void (*take)(struct replica *replica, uint32_t id, double now);
    void (*end)(struct replica *replica, double now);       /* called at `next` only */
    void (*start)(struct replica *replica, double now);     /* called after `end`, or when idle */
    /* The replica failed: it loses its requests, which the simulation routes again, and its cache. `got`
     * of each request is the number of outputs that its user has. */
    void (*clear)(struct replica *replica, double now);
    /* Count the steps of a fast-forward that ended before now, so that `tokens_left` and `blocks_used`
     * are up to date. NULL: they always are. */
    void (*settle)(struct replica *replica, double now);
    /* tokens_left as of now, without settling. NULL: call settle first. */
    uint64_t (*left)(const struct replica *replica, double now);
    /* Remove a request from the queue, after `settle`. A fast-forward ends, since the request behind it
     * may enter. False: it is not waiting. NULL: requests cannot be taken back. */
    bool (*drop)(struct replica *replica, uint32_t id);
    /* Tokens of a request's prompt that the cache or a tier below it has. NULL: none. */
    size_t (*cached)(struct replica *replica, uint32_t id, double now);
    /* The blocks of a request that were fetched from a tier have arrived. NULL: it uses no tiers. */
    void (*fetched)(struct replica *replica, uint32_t id, double now);
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
 * a prompt is transferred over a link that all transfers share equally. */
struct sim_split {
    size_t replicas;                        /* 0: no such pool */
    struct sim_server server;
    double bandwidth, latency;              /* of the link: B/s, s */
    double token_bytes;                     /* of the cache */
};

/* Autoscaling: every `every` s the wanted number of replicas is set such that each has `load`
 * requests. A new replica takes requests after `start_up` s; a superfluous one takes no new requests
 * and leaves when it is empty. */
struct sim_scaling {
    size_t most;                            /* 0: their number stays */
    double load, every, start_up;
};

/* Callbacks that observe a run; either may be NULL. They must not change it. */
struct sim_watch {
    void *context;
    /* Consecutive steps with the same requests; `first` is the first of them. */
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
    double stagger;                 /* s in which they come, one after the other; 0: all at once */
    double think;                   /* s from an answer to the user's next question */
    size_t waiting_most;            /* a request is refused where this many wait per replica; 0: never */
    double patience;                /* s in the queue after which a request gives up; 0: never */
    double fails_every, restart;    /* s, of a replica: mean time to a failure; until it is back */
    uint64_t seed;                  /* of failures */
    struct sim_split split;
    struct tier_options tier[TIERS_MOST];   /* where blocks go that leave the chips */
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
    double class_seconds[TRACE_CLASSES];    /* of each class: its share of the sequences of each step,
                                               times the step's s; SCHEDULER_CLASSES */
    struct sketch *gaps;                    /* s between two steps that decode, by their requests;
                                               with stages between two tokens of a request */
    uint64_t cached_tokens, fetched_tokens; /* of prompts, that the cache had, or a tier below */
    struct tier_use tier[TIERS_MOST];       /* all replicas together */
    double moved_bytes, moving;             /* over the link between pools: bytes, s all together */
};

/* Run the trace to its end. All arrays of the result have the length of the trace and live in the
 * arena. Fails if a request is too large for an empty replica, or if requests restart forever. The
 * result depends on the trace, the options and the seed only, never on threads or time. */
bool sim_run(struct arena *arena, const struct trace *trace, const struct sim_options *options,
             struct sim_result *result, struct error *error);

#endif
