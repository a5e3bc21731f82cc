/* random -- random numbers that are the same on every machine.
 *
 *     struct random wait;
 *     random_stream(&wait, seed, "waits", 17);        a stream of its own by name and number
 *     seconds = 30 * random_exponential(&wait);
 *
 * PCG (O'Neill 2014, XSH RR 64/32): 64 bits of state, 32 bits per draw, 2^63 sequences. Logarithms
 * and exponentials are those of rows.h, so that a seed gives the same bits everywhere. */
#ifndef ROWS_RANDOM_H
#define ROWS_RANDOM_H

#include "base/base.h"

struct random {
    uint64_t state, increment;
};

/* As pcg32_srandom of the published program, for its check values. */
void random_open(struct random *random, uint64_t seed, uint64_t sequence);
/* Streams with different names or numbers are independent of each other. */
void random_stream(struct random *random, uint64_t seed, const char *name, uint64_t number);

uint32_t random_bits(struct random *random);
double random_uniform(struct random *random);           /* in (0, 1), ends left out; 52 bits */
size_t random_below(struct random *random, size_t count);       /* 0 to count - 1; count < 2^52 */
double random_exponential(struct random *random);       /* mean 1 */
double random_normal(struct random *random);            /* mean 0, deviation 1 */
double random_gamma(struct random *random, double shape);       /* mean and variance `shape` */
/* A lognormal draw with this mean and coefficient of variation. */
double random_lognormal(struct random *random, double mean, double variation);
/* Geometric: the number of trials until one succeeds, at least 1, with this mean. */
double random_geometric(struct random *random, double mean);

/* Many at once. Even ones have 32 bits; normal ones are Marsaglia and Tsang's ziggurat, in
 * Doornik's form (2005), whose tables `ziggurat_open` makes. */
struct ziggurat {
    double edge[129], inside[128];      /* right edges of the layers; share surely under the curve */
};
void ziggurat_open(struct ziggurat *ziggurat);
void random_uniforms(struct random *random, double *out, size_t count);
void random_normals(struct random *random, const struct ziggurat *ziggurat, double *out,
                    size_t count);

#endif
