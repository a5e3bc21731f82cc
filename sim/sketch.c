#include "sim/sim.h"

#include <math.h>

/* Classes are even in a function that goes with the binary logarithm: the exponent, and a parabola
 * through the mantissa (Masson, Rim, Lee 2019: quadratic interpolation). It takes no logarithm, so
 * that the same times fall into the same classes on every machine. */
static const double least = 1e-6;
static const double classes_per_octave = 37.5;     /* the widest class is 2.02 % wide */

/* Of a normal number above 0: its exponent, and its mantissa m from 1 to 2. */
static double place_of(double size)
{
    const uint64_t bits = (union { double number; uint64_t bits; }){ size }.bits;
    const double m = (union { uint64_t bits; double number; }){ (bits & (UINT64_MAX >> 12)) | UINT64_C(1023) << 52 }.number;
    return (int)(bits >> 52) - 1023 + (m * (6 - m) - 5) / 3;
}

static double size_at(double place)
{
    const double octave = floor(place), rest = place - octave;
    return ldexp(3 - sqrt(4 - 3 * rest), (int)octave);
}

static size_t class_of(double size)
{
    const double at = (place_of(size) - place_of(least)) * classes_per_octave;
    return at < SKETCH_CLASSES - 1 ? (size_t)at : SKETCH_CLASSES - 1;
}

/* Where a class begins. */
static double class_begins(size_t class)
{
    return size_at(place_of(least) + (double)class / classes_per_octave);
}

static void add_many(struct sketch *sketch, double size, uint64_t count)
{
    *(size > least ? &sketch->classes[class_of(size)] : &sketch->zeros) += count;
}

void sketch_add(struct sketch *sketch, double size)
{
    sketch_add_line(sketch, size, 0, 1, 1);
}

void sketch_merge(struct sketch *sketch, const struct sketch *other)
{
    sketch->count += other->count;
    sketch->zeros += other->zeros;
    for (size_t i = 0; i < SKETCH_CLASSES; i++)
        sketch->classes[i] += other->classes[i];
    sketch->sum += other->sum;
    sketch->most = other->most > sketch->most ? other->most : sketch->most;
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
    sketch->most = last > sketch->most ? last : sketch->most;
    for (uint64_t done = 0; done < count;) {
        double size = first + growth * (double)done;
        uint64_t same = count - done;
        if (growth > 0 && size > least) {
            double end = class_begins(class_of(size) + 1);
            double more = fmax(ceil((end - size) / growth), 1);
            same = more < (double)same ? (uint64_t)more : same;
        }
        add_many(sketch, size, same * weight);
        done += same;
    }
}

/* As far in ratio from both ends. */
static double middle_of(size_t class)
{
    const double low = class_begins(class), high = class_begins(class + 1);
    return 2 * low * high / (low + high);
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
            return fmin(middle_of(i), sketch->most);
    }
    return sketch->most;
}

double sketch_mean(const struct sketch *sketch)
{
    return sketch->count ? sketch->sum / (double)sketch->count : 0;
}
