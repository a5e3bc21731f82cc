/* limit: what binds a step. */
#include "report/report.h"

#include <math.h>

static const struct limit limits[] = {
    { "compute", "limited by compute", "most of it compute" },
    { "weights", "limited by reading weights", "most of it reading weights" },
    { "KV cache", "limited by reading the KV cache", "most of it reading the KV cache" },
    { "balanced", "compute and memory balanced", "compute and memory alike" },
    { "does not fit", "if it did fit in memory", "if it did fit in memory" },
};
enum { COMPUTE, WEIGHTS, CACHE, BALANCED, NO_FIT };

static const double alike = 0.01;       /* closer than this is balanced */

const char *limit_claim(double overlap)
{
    return overlap < 1 ? "what nothing on this machine can beat"
           : overlap < 2 ? "with reading the KV cache not overlapped"
                         : "with nothing overlapped";
}

const struct limit *limit_of(double compute, double weights, double cache, double hbm_share)
{
    double memory = weights + cache;
    if (hbm_share > 1)
        return &limits[NO_FIT];
    if (fabs(memory - compute) <= alike * memory)
        return &limits[BALANCED];
    if (compute > memory)
        return &limits[COMPUTE];
    return &limits[weights >= cache ? WEIGHTS : CACHE];
}
