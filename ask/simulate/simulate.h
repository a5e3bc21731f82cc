/* simulate -- the verb `simulate`, in parts.
 *
 *     options --simulate_read--> struct simulate --simulate_run--> struct simulated
 *                                        |                                |
 *                          searches, sweeps, repeats              table, JSON, files, pictures
 *
 * A simulation may be run many times with variations, also in threads, since a run does not change
 * it. */
#ifndef ASK_SIMULATE_H
#define ASK_SIMULATE_H

#include "ask/ask.h"
#include "sim/sim.h"

#include <stdio.h>

/* ---- what is to be run ---------------------------------------------------------------------- */

/* A simulation as the options describe it. */
struct simulate {
    void *attached;                 /* of simulate_attach; NULL: nothing */
    struct arena *arena;
    const struct command *command;
    struct scenario scenario, prompts;      /* of the replicas; of prefill replicas */
    bool predicted;                         /* step times are predicted, so the scenarios are open */
    struct sim_options options;
    struct trace trace;
    const char *drawn;                      /* the description that the trace is drawn from, by a seed; NULL: a file */
    struct generate_change change;          /* what the options change of it */
    double scale;                           /* factor on the arrival rate */
    size_t users_each;                      /* closed loop: users of one replica; 0: of all replicas, as in options */
    double ttft_most, tpot_most;            /* limits, s; INFINITY: none */
    double ttft_share, tpot_share;          /* 0.95: the limit is one of the 95th percentile; 0: of the mean */
    double warm_up;                         /* closed loop: s until requests count; NAN: two rounds of
                                               the users; 0: all start at once and every request
                                               counts */
    double met;                             /* share of requests that must meet both limits in place of that; 0: none */
    const char *tier_names[TIERS_MOST];
};

ask_function ask_simulate;
/* simulate_listen.c; the page has none of them. An error if any is given, as there is no endpoint here. */
extern const struct option_group simulate_server_options;
extern const struct option_group listen_options, metrics_options;
bool simulate_listens_not(const struct command *command, struct error *error);
bool simulate_read(struct arena *arena, const struct command *command, struct simulate *simulate, struct error *error);

/* simulate_step.c: seconds of a step by a formula that is linear in tokens, cached, sequences. */
bool simulate_formula(struct arena *arena, const char *formula, struct sim_server *server,
                      struct error *error);
/* By the prediction; also the blocks, sequences and tokens of a batch that the engine has, and
 * the bytes that a token takes in the cache. */
bool simulate_predicted(struct scenario *scenario, struct sim_server *server, double *token_bytes,
                        struct error *error);
/* A server for a run of its own, perhaps in a thread. `band`: factor on predicted step times (row step_band);
 * 0: 1. */
struct sim_server simulate_own(struct arena *arena, const struct sim_server *server, double band);

/* Where the time of a step goes: the contributions of rows. `parts` is NULL where the times are not predicted. Threads may
 * share it. */
struct step_parts;
bool simulate_parts_open(const struct simulate *simulate, struct step_parts **parts, struct error *error);
struct breakdown simulate_parts_of(struct arena *arena, const struct step_parts *parts, const struct sim_step *step);

/* step_time.c: times of single steps, s: as predicted, and at both ends of the 80 % interval (the same where it has none). One thread
 * uses it at a time. */
enum step_time_end { STEP_TIME, STEP_LOW, STEP_HIGH, STEP_TIMES };
struct step_times {
    struct sim_server at[STEP_TIMES];
};
bool step_times_ends(const struct simulate *simulate, double ends[STEP_TIMES], struct error *error);
void step_times_open(struct arena *arena, const struct simulate *simulate, const double ends[STEP_TIMES], struct step_times *times);
void step_times_of(const struct step_times *times, const struct sim_step *step, double seconds[], int count);

/* simulate_tiers.c: --priority-class and --tier, of the trace and the servers that are there. */
bool simulate_classes(struct simulate *simulate, struct error *error);
/* The classes of a trace in the order that another has them. */
void simulate_order_classes(struct trace *trace, const struct trace *like);
bool simulate_tiers(struct simulate *simulate, struct error *error);

/* ---- results -------------------------------------------------------------------------------- */

enum simulate_time { SIMULATE_TTFT, SIMULATE_TPOT, SIMULATE_E2E, SIMULATE_TIMES };

struct class_score {
    uint64_t requests, answered, met;       /* met: both limits */
    uint64_t ttft_met, tpot_met;
    uint64_t outputs, inputs;               /* tokens of the answered ones */
    struct sketch times[SIMULATE_TIMES];
};

/* Which requests count, in a closed loop: first <= request < end. Those before arrived during the warm-up,
 * those after when some users had no request left. */
struct counted {
    size_t first, end;
    double warm_up;                         /* when the first of them arrived, s */
    double time_share;                      /* share of the run during which they arrived */
};

struct simulated {
    struct trace trace;                     /* the requests that ran */
    struct counted counted;
    struct sim_options options;
    struct sim_result result;
    struct class_score all, *priority_classes; /* [trace.priority_classes] */
    double rate;                            /* requests/s that arrived */
    double goodput;                         /* requests/s that met the limits */
    double output_rate, input_rate;         /* token/s */
    bool overloaded;                        /* too many waited when the last one came */
    const char *verdict;                    /* stable, backlogged, overloaded; NULL: a closed loop */
};

/* A point at which a simulation may be run. */
struct variation {
    double scale;                           /* times that of the question */
    uint64_t seed;                          /* added to the question's seeds */
    double band;                            /* factor on predicted step times; 0: as predicted */
    size_t replicas, chunk, max_num_seqs, blocks, users, waiting_most;    /* 0: as asked */
};

bool simulate_run(struct arena *arena, const struct simulate *simulate,
                  const struct variation *variation, const struct sim_watch *watch,
                  struct simulated *outcome, struct error *error);
/* The steady state of the question: its figures with their confidence (sim/steady.h). */
struct steady;
struct steady_figure;
bool simulate_steady(struct arena *arena, const struct simulate *simulate, const struct steady_figure *figures,
                     size_t count, struct steady *steady, struct error *error);
bool simulate_has_limits(const struct simulate *simulate);
/* The means or percentiles are within the limits, or enough requests met both; without limits: the servers kept up. */
bool simulate_meets(const struct simulate *simulate, const struct simulated *outcome);

/* ---- answers -------------------------------------------------------------------------------- */

/* simulate_answer.c: one run. */
bool simulate_answer(struct simulate *simulate, const struct simulated *outcome, struct section *section,
                     struct error *error);
/* Sequences of a step, of all ranks and stages together, mean over the steps' time; `pool` 1: where
 * prompts have one of their own. */
double simulate_sequences(const struct simulated *outcome, int pool);
/* simulate_notes.c: what was assumed, once all else is told; `outcome` NULL: of several runs. */
void simulate_notes(struct simulate *simulate, const struct simulated *outcome,
                    struct section *section);

/* trials.c, --band: the run again at both ends of the interval of TPOT; adds "band". */
bool simulate_band(struct simulate *simulate, const struct simulated *outcome, struct section *section,
                   struct error *error);
/* Those ends, as factors on the step time; an error where no step times are predicted. */
bool simulate_band_ends(const struct simulate *simulate, double ends[2], struct error *error);

/* simulate_search.c: several runs; false in `asked`: none was asked for. `status` 1: none that was
 * searched for exists. */
bool simulate_search(const struct simulate *simulate, struct section *section, bool *asked, int *status,
                     struct error *error);

/* simulate_files.c: what is written while it runs, and after. */
struct recorder;
bool simulate_record(struct simulate *simulate, struct recorder **recorder,
                     struct sim_watch *watch, struct error *error);
void simulate_drop(struct recorder *recorder);     /* files that are not written to their end disappear; nothing to NULL */
bool simulate_write(struct recorder *recorder, const struct simulated *outcome,
                    struct answer *answer, struct error *error);

/* training_rows.c: --training-rows. */
struct training_rows;
struct training_rows *training_rows_open(struct arena *arena, size_t requests);
void training_rows_sent(struct training_rows *rows, uint32_t id, size_t replica, double now, const struct sim_sample *seen);
/* A line of JSON for each request that was answered; `blocks` of the cache of a replica. */
void training_rows_write(const struct training_rows *rows, const struct simulated *outcome, double blocks, FILE *file);

/* What a room of the command line alone attaches to a run, as its options ask: what `watch` sees of it, and
 * replicas that follow. NULL: nobody does. */
extern bool (*simulate_attach)(struct simulate *simulate, const struct simulated *outcome, struct sim_watch *watch,
                               struct error *error);
/* After the run: ends what it kept. False with an error where that could not be written. */
extern bool (*simulate_detach)(struct simulate *simulate, struct error *error);

extern const struct record answer_simulate;      /* the keys of the answer */

#endif
