#include "sim/sim.h"

#include <math.h>

static const double least = 1e-6, width = 1.01 / 0.99;

static size_t class_of(double size)
{
    return (size_t)fmin(floor(log(size / least) / log(width)), SKETCH_CLASSES - 1);
}

static void add_many(struct sketch *sketch, double size, uint64_t count)
{
    *(size > least ? &sketch->classes[class_of(size)] : &sketch->zeros) += count;
}

void sketch_add(struct sketch *sketch, double size)
{
    sketch_add_line(sketch, size, 0, 1, 1);
}

/* Those of a class at once. */
void sketch_add_line(struct sketch *sketch, double first, double growth, uint64_t count,
                     uint64_t weight)
{
    const double last = first + growth * (double)(count - 1);
    if (!count)
        return;
    sketch->count += count * weight;
    sketch->sum += (double)weight * (first + last) / 2 * (double)count;
    sketch->most = fmax(sketch->most, last);
    for (uint64_t done = 0; done < count;) {
        double size = first + growth * (double)done;
        uint64_t same = count - done;
        if (growth > 0 && size > least) {
            double end = least * pow(width, (double)class_of(size) + 1);
            double more = fmax(ceil((end - size) / growth), 1);
            same = more < (double)same ? (uint64_t)more : same;
        }
        add_many(sketch, size, same * weight);
        done += same;
    }
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
