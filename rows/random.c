/* Random numbers that are the same on every machine: PCG (O'Neill 2014) with streams by name, and
 * distributions.
 *
 * A stream's state and increment are both mixed from seed, name and number, because PCG's
 * sequences of one seed differ only by an affine map. Logarithms and powers are those of the rows.
 * Normal draws use Marsaglia's polar method, or the ziggurat where there are many; gamma draws
 * Marsaglia and Tsang (2000). */
#include "rows/random.h"

#include "rows/rows.h"

#include <math.h>

static const uint64_t MULTIPLIER = 6364136223846793005u;

static uint32_t output_of(uint64_t state)
{
    uint32_t shifted = (uint32_t)((state >> 18 ^ state) >> 27), turn = (uint32_t)(state >> 59);
    return shifted >> turn | shifted << (-turn & 31);
}

uint32_t random_bits(struct random *random)
{
    uint64_t old = random->state;
    random->state = old * MULTIPLIER + random->increment;
    return output_of(old);
}

void random_open(struct random *random, uint64_t seed, uint64_t sequence)
{
    *random = (struct random){ 0, sequence << 1 | 1 };
    random_bits(random);
    random->state += seed;
    random_bits(random);
}

/* The finish of SplitMix64 (Steele 2014): every bit depends on every bit. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Sequences of one seed differ by an affine map only, so that each gets a seed of its own too. */
void random_stream(struct random *random, uint64_t seed, const char *name, uint64_t number)
{
    const uint64_t golden = 0x9e3779b97f4a7c15u;
    uint64_t words = 0;
    for (; *name; name++)
        words = mix((words ^ (unsigned char)*name) + golden);
    uint64_t sequence = mix((words ^ number) + golden);
    random_open(random, mix(seed + golden) ^ sequence, sequence);
}

double random_uniform(struct random *random)
{
    uint64_t high = random_bits(random), low = random_bits(random);
    return ((double)((high << 32 | low) >> 12) + 0.5) * 0x1p-52;
}

size_t random_below(struct random *random, size_t count)
{
    return (size_t)(random_uniform(random) * (double)count);
}

double random_exponential(struct random *random)
{
    return -scalar_log(random_uniform(random));
}

/* Marsaglia's polar method; its second draw is thrown away. */
double random_normal(struct random *random)
{
    double x, square;
    do {
        x = 2 * random_uniform(random) - 1;
        double y = 2 * random_uniform(random) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    return x * sqrt(-2 * scalar_log(square) / square);
}

/* Marsaglia and Tsang 2000, shape at least 1: d v is accepted with v = (1 + c x)^3, x normal. */
static double gamma_large(struct random *random, double shape)
{
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = random_normal(random), root = 1 + c * x, v = root * root * root;
        if (root <= 0)
            continue;
        double u = random_uniform(random);
        if (scalar_log(u) < 0.5 * x * x + d - d * v + d * scalar_log(v))
            return d * v;
    }
}

double random_gamma(struct random *random, double shape)
{
    if (shape >= 1)
        return gamma_large(random, shape);
    double large = gamma_large(random, shape + 1);
    return large * scalar_exp(scalar_log(random_uniform(random)) / shape);
}

double random_lognormal(struct random *random, double mean, double variation)
{
    double variance = scalar_log(1 + variation * variation);
    return mean * scalar_exp(sqrt(variance) * random_normal(random) - variance / 2);
}

double random_geometric(struct random *random, double mean)
{
    double u = random_uniform(random);
    return mean > 1 ? 1 + floor(scalar_log(u) / scalar_log(1 - 1 / mean)) : 1;
}

/* ---- many at once ------------------------------------------------------------------------ */

static const double ZIGGURAT_RIGHT = 3.442619855899;   /* where the tail begins, 128 layers */

static double bell(double x)
{
    return scalar_exp(-0.5 * x * x);
}

void ziggurat_open(struct ziggurat *ziggurat)
{
    const double area = 9.91256303526217e-3;            /* of each layer */
    double *edge = ziggurat->edge;
    edge[0] = area / bell(ZIGGURAT_RIGHT);
    edge[1] = ZIGGURAT_RIGHT;
    edge[128] = 0;
    for (int i = 2; i < 128; i++)
        edge[i] = sqrt(-2 * scalar_log(area / edge[i - 1] + bell(edge[i - 1])));
    for (int i = 0; i < 128; i++)
        ziggurat->inside[i] = edge[i + 1] / edge[i];
}

void random_uniforms(struct random *random, double *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = ((double)random_bits(random) + 0.5) * 0x1p-32;
}

/* Beyond the last edge (Marsaglia 1964). */
static double normal_tail(struct random *random)
{
    for (;;) {
        double x = scalar_log(random_uniform(random)) / ZIGGURAT_RIGHT;
        double y = scalar_log(random_uniform(random));
        if (-2 * y >= x * x)
            return ZIGGURAT_RIGHT - x;
    }
}

/* Not surely under the curve: in the tail, or near the edge of a layer; 0 draws again. */
static double normal_rest(struct random *random, const struct ziggurat *ziggurat, int layer,
                          double even)
{
    const double *edge = ziggurat->edge;
    if (!layer)
        return even < 0 ? -normal_tail(random) : normal_tail(random);
    double x = even * edge[layer], square = x * x;
    double above = scalar_exp(-0.5 * (edge[layer] * edge[layer] - square));
    double below = scalar_exp(-0.5 * (edge[layer + 1] * edge[layer + 1] - square));
    return below + random_uniform(random) * (above - below) < 1 ? x : 0;
}

void random_normals(struct random *random, const struct ziggurat *ziggurat, double *out,
                    size_t count)
{
    for (size_t i = 0; i < count;) {
        uint64_t high = random_bits(random), low = random_bits(random);
        int layer = low & 127;
        double even = ((double)((high << 32 | low) >> 11) + 0.5) * 0x1p-52 - 1;
        if (fabs(even) < ziggurat->inside[layer])
            out[i++] = even * ziggurat->edge[layer];
        else if ((out[i] = normal_rest(random, ziggurat, layer, even)) != 0)
            i++;
    }
}
