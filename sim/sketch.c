#include "sim/sim.h"

#include <math.h>

static const double least = 1e-6, width = 1.01 / 0.99;

void sketch_add(struct sketch *sketch, double size)
{
    sketch->count++;
    sketch->sum += size;
    sketch->most = fmax(sketch->most, size);
    if (!(size > least)) {
        sketch->zeros++;
        return;
    }
    double class = floor(log(size / least) / log(width));
    sketch->classes[(size_t)fmin(class, SKETCH_CLASSES - 1)]++;
}

/* The middle of the class that holds the request of that rank. */
double sketch_quantile(const struct sketch *sketch, double share)
{
    if (!sketch->count)
        return 0;
    uint64_t rank = (uint64_t)fmax(ceil(share * (double)sketch->count) - 1, 0);
    uint64_t seen = sketch->zeros;
    if (rank < seen)
        return 0;
    for (size_t i = 0; i < SKETCH_CLASSES; i++) {
        seen += sketch->classes[i];
        if (rank < seen)
            return fmin(least * pow(width, (double)i) * 2 * width / (1 + width), sketch->most);
    }
    return sketch->most;
}

double sketch_mean(const struct sketch *sketch)
{
    return sketch->count ? sketch->sum / (double)sketch->count : 0;
}
