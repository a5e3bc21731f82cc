/* limit: what binds a step. */
#include "report/report.h"

#include <math.h>

static const double alike = 0.01;       /* closer than this is balanced */

const char *limit_of(double compute, double weights, double cache, double hbm_share)
{
    double memory = weights + cache;
    if (hbm_share > 1)
        return "does not fit";
    if (fabs(memory - compute) <= alike * memory)
        return "balanced";
    if (compute > memory)
        return "compute";
    return weights >= cache ? "weights" : "KV cache";
}
