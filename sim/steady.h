/* steady -- the figures of a server in its steady state, with their confidence, and whether its queue grows.
 *
 *     empty server | warm-up: 3 tau | batch | batch | ... | batch |     arrivals go on until all counted are answered
 *
 * A server that starts empty approaches its steady state as exp(-t/tau). Requests share it: the more there are, the
 * longer a step, so that tau = E2E/(1 - u), where 1 - u is E2E of a request alone over E2E under this load. After the
 * warm-up (3 tau, never less than two E2E) requests are counted in batches, in the order of their arrival. A batch
 * lasts at least 2 tau, so that the means of batches are nearly independent, and their scatter gives the half-width of
 * the 95 % interval (batch means; Law, Simulation Modeling and Analysis, chapter 9). The number of requests is doubled
 * until every half-width is narrow, or half of the trace has come. No request is counted that was answered after the last arrival.
 *
 * All limits are counts of requests, so that the same input gives the same bits. */
#ifndef SIM_STEADY_H
#define SIM_STEADY_H

#include "sim/sim.h"

enum steady_time { STEADY_TTFT, STEADY_TPOT, STEADY_TIMES };
enum { STEADY_FIGURES = 8 };

/* A figure that is wanted: a percentile of a time, or with `share` 0 its mean. */
struct steady_figure {
    enum steady_time time;
    double share;                   /* 0.95: the 95th percentile */
    bool idle;                      /* the run does not go on for its sake, however wide its interval is */
    double bound;                   /* s; the run ends as soon as the whole interval is above it; 0: none */
};

/* Its value, s; half the width of its 95 % interval, NAN where none is known. */
struct steady_value {
    double value, half;
};

struct steady {
    bool steady;                    /* the run was long enough, and its queue does not grow */
    const char *why;                /* why it is not steady; NULL if it is */
    const char *verdict;            /* stable, backlogged or overloaded, by the growth of the queue; NULL: a closed
                                       loop, or too short a run to tell */
    double alone, e2e, tau;         /* s: E2E of a request alone; under the load; the time constant */
    double rate;                    /* requests/s that arrived while requests were counted; lately, where none were */
    size_t first, end;              /* the counted requests: first <= request < end; none: the run was too short */
    size_t came;                    /* all requests that arrived */
    struct steady_value at[STEADY_FIGURES];     /* of the figures, in their order */
    struct sim_result result;
};

/* Run the trace, which has as many requests as the run may take, until `count` figures are known to 2 % (of TTFT to
 * 5 %). With options->users it is a closed loop, whose outputs should differ in length: equal requests keep for ever the phases in
 * which their users started. Options that lose requests (`waiting_most`, `patience`) are not meant for it. */
bool sim_steady(struct arena *arena, const struct trace *trace, const struct sim_options *options,
                const struct steady_figure *figures, size_t count, struct steady *steady, struct error *error);

/* The time from one question of a user to the next, by Little's law, of a short run whose users come over the time that
 * the first request takes alone: over as long the users of a closed loop start, as they would be in the steady state. */
bool sim_round(const struct trace *trace, const struct sim_options *options, double *round, struct error *error);

/* The queue during a run, by the requests first <= id < end, read in order, some at a time. */
enum { STEADY_BATCHES = 20 };
struct steady_queue {
    size_t first, end, size;                    /* size: requests of a batch */
    double waits[STEADY_BATCHES];               /* sum of s to the first token */
    double came, last;                          /* when the first and the last request arrived, s */
};
struct steady_queue steady_queue_of(size_t first, size_t end);
void steady_queue_add(struct steady_queue *queue, const struct sim_result *result, size_t first, size_t end);
const char *steady_queue_verdict(const struct steady_queue *queue);

/* Of a run of sim_run: "overloaded", "backlogged" or "stable", by the requests between `first` and `end`; NULL where
 * these are too few to tell. */
const char *steady_verdict(const struct sim_result *result, size_t first, size_t end);

#endif
