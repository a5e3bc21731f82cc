/* random -- draws that are the same on every machine.
 *
 *     struct random wait;
 *     random_stream(&wait, seed, "waits", 17);        a stream of its own by name and number
 *     seconds = 30 * random_exponential(&wait);
 *
 * PCG (O'Neill 2014, XSH RR 64/32): 64 bits of state, 32 bits a draw, 2^63 sequences. Logarithms
 * and exponentials are the engine's, so that a seed gives the same bits everywhere. */
#ifndef ROWS_RANDOM_H
#define ROWS_RANDOM_H

#include "base/base.h"

struct random {
    uint64_t state, increment;
};

/* As pcg32_srandom of the published program, for its check values. */
void random_open(struct random *random, uint64_t seed, uint64_t sequence);
/* Sequences of other names or numbers start elsewhere: they have nothing to do with each other. */
void random_stream(struct random *random, uint64_t seed, const char *name, uint64_t number);

uint32_t random_bits(struct random *random);
double random_uniform(struct random *random);           /* in (0, 1), ends left out; 52 bits */
size_t random_below(struct random *random, size_t count);       /* 0 to count - 1; count < 2^52 */
double random_exponential(struct random *random);       /* mean 1 */
double random_normal(struct random *random);            /* mean 0, deviation 1 */
double random_gamma(struct random *random, double shape);       /* mean and variance `shape` */
/* exp of a normal draw, by the mean and the coefficient of variation of what comes out. */
double random_lognormal(struct random *random, double mean, double variation);
/* Trials until one succeeds, at least 1, `mean` of them. */
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
