/* Statistics of the requests of a load. */
#ifndef MEASURE_POINTS_H
#define MEASURE_POINTS_H

#include "meter/measure/client.h"

/* Of a sample, s: quantiles by linear interpolation between order statistics. */
struct quantiles {
    size_t count;                   /* 0: the others mean nothing */
    double mean, p50, p90, p99;
};

/* One load: its requests in the order in which they were sent. */
struct load_point {
    size_t concurrency;             /* of a closed loop */
    double rate;                    /* requests per s of an open one; 0: none */
    uint32_t prompt_asked, output_asked;
    struct sent_request **requests;
    size_t count, room;
    double began, closed;           /* the first request that counts was sent; the last one was sent, s */
    size_t used, failed, left_out;  /* requests; left out: of the warm-up, and those that ran out */
    double prompt_tokens, output_tokens;    /* means of those used */
    struct quantiles ttft, tpot, itl;
    double throughput;              /* output tokens per s while the load was there */
    double client_overhead;         /* s of TTFT that were this program's, in the median; left out of it */
};
void point_count(struct arena *arena, struct load_point *point);
struct quantiles quantiles_of(double *values, size_t count);        /* sorts them */

#endif
