/* generate_plan -- a description such as poisson:rate=5, parsed; generate.c draws requests from it. */
#ifndef SIM_TRAFFIC_GENERATE_PLAN_H
#define SIM_TRAFFIC_GENERATE_PLAN_H

#include "sim/traffic/amount.h"
#include "sim/traffic/generate.h"

enum kind { KIND_POISSON, KIND_GAMMA, KIND_CONSTANT, KINDS };
extern const char *const generate_kinds[KINDS];

struct traffic_plan {
    enum kind kind;
    double rate, cv, duration;      /* duration INFINITY: `count` sessions */
    double peak, period;            /* 1/s, s: from `rate` to the peak and back; peak 0: always `rate` */
    struct rate_curve {             /* count 0: none; straight lines between, the ends beyond */
        size_t count;
        double *time, *rate, most;
    } curve;
    size_t count;
    struct amount input, output, turns, wait;
    struct trace_lengths lengths;   /* count 0: input and output are drawn */
    double shares[TRACE_CLASSES];   /* of the classes of the trace; together 1 */
    uint64_t seed;
};

/* Names the classes of the trace. */
bool generate_read(struct arena *arena, const char *words, struct generate_change *change, struct traffic_plan *plan,
                   struct trace *trace, struct error *error);

#endif
