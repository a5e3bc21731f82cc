/* More draws where a sheet's weight lies, when the prior's own leave too few.
 *
 *   1. in coordinates that are all normal under the prior (even ones by their quantile)
 *   2. weights are flattened, w^0.8^j, until 400 draws carry them
 *   3. mean and covariance of what they carry, a little wider
 *   4. 0.3 of the new draws from the prior, 0.7 from Student's t with 8 degrees there
 *   5. each with prior over mixture as its share (Owen and Zhou 2000)
 */
#include "infer/weights.h"

#include <math.h>
#include <string.h>

enum { AGAIN = 65536, DEGREES = 8, CARRY = 400, SAMPLE = 4000 };

static const double FROM_PRIOR = 0.3, WIDER = 1.2, ROUNDER = 0.05, FLATTER = 0.8;

/* ---- the normal distribution -------------------------------------------------------------- */

/* Its integral (Hart 1968, in West's form 2005): 15 digits. */
static double normal_below(double x)
{
    static const double over[] = { 220.206867912376, 221.213596169931, 112.079291497871,
                                   33.912866078383, 6.37396220353165, 0.700383064443688,
                                   3.52624965998911e-2 };
    static const double under[] = { 440.413735824752, 793.826512519948, 637.333633378831,
                                    296.564248779674, 86.7807322029461, 16.064177579207,
                                    1.75566716318264, 8.83883476483184e-2 };
    double z = fabs(x), a = 0, b = 0, tail;
    if (z > 37)
        tail = 0;
    else if (z < 7.07106781186547) {
        for (int i = 6; i >= 0; i--)
            a = a * z + over[i];
        for (int i = 7; i >= 0; i--)
            b = b * z + under[i];
        tail = scalar_exp(-z * z / 2) * a / b;
    } else
        tail = scalar_exp(-z * z / 2) /
               (z + 1 / (z + 2 / (z + 3 / (z + 4 / (z + 0.65))))) / 2.506628274631;
    return x > 0 ? 1 - tail : tail;
}

static double ratio_of(const double *over, int count, const double *under, int under_count, double x)
{
    double a = 0, b = 0;
    for (int i = 0; i < count; i++)
        a = a * x + over[i];
    for (int i = 0; i < under_count; i++)
        b = b * x + under[i];
    return a / (b * x + 1);
}

/* Its quantile (Acklam 2003): 9 digits, enough to say where draws lie. */
static double normal_quantile(double p)
{
    static const double a[] = { -39.69683028665376, 220.9460984245205, -275.9285104469687,
                                138.357751867269, -30.66479806614716, 2.506628277459239 };
    static const double b[] = { -54.47609879822406, 161.5858368580409, -155.6989798598866,
                                66.80131188771972, -13.28068155288572 };
    static const double c[] = { -7.784894002430293e-3, -0.3223964580411365, -2.400758277161838,
                                -2.549732539343734, 4.374664141464968, 2.938163982698783 };
    static const double d[] = { 7.784695709041462e-3, 0.3224671290700398, 2.445134137142996,
                                3.754408661907416 };
    const double low = 0.02425;
    if (p < low)
        return ratio_of(c, 6, d, 4, sqrt(-2 * scalar_log(p)));
    if (p > 1 - low)
        return -ratio_of(c, 6, d, 4, sqrt(-2 * scalar_log(1 - p)));
    double q = p - 0.5;
    return q * ratio_of(a, 6, b, 5, q * q);
}

/* ln gamma(half / 2), for whole `half` from 1. */
static double log_gamma_half(int half)
{
    double sum = half % 2 ? 0.57236494292470008 : 0;       /* ln sqrt(pi) */
    for (int k = half % 2 ? 1 : 2; k < half; k += 2)
        sum += scalar_log(k / 2.0);
    return sum;
}

/* ---- where the weight lies ---------------------------------------------------------------- */

struct heavy_region {
    double mean[COORDINATES], root[COORDINATES][COORDINATES];   /* lower triangle */
    double points;                              /* that it was made from */
    double log_scale;                           /* of the t density */
};

/* Step 2: the power of the weights at which enough draws carry them; logs of those that are 0
 * are -INFINITY. Returns the sum of the flattened weights, which it leaves in `weight`. */
static double flatten(const double *logs, double *weight, size_t count)
{
    double power = 1, sum = 0;
    for (int j = 0; j < 40; j++, power *= FLATTER) {
        double squares = 0;
        sum = 0;
        for (size_t k = 0; k < count; k++) {
            double x = power * logs[k];
            weight[k] = x > -20 ? scalar_exp(x) : 0;
            sum += weight[k], squares += weight[k] * weight[k];
        }
        if (sum * sum >= CARRY * squares)
            break;
    }
    return sum;
}

/* The coordinates of one draw, normal ones. */
static void point_of(const struct draws *draws, const struct draw_block *block, size_t at, double *z)
{
    for (size_t i = 0; i < COORDINATES; i++) {
        double x = block->coordinate[i][at];
        z[i] = draws->sampler.normal[i] ? x : normal_quantile(x);
    }
}

static void load_block(const struct draws *draws, size_t number, struct draw_block *block)
{
    if (!draws->coordinate[0]) {
        block_draw(&draws->sampler, &draws->ziggurat, draws->seed, number, block);
        return;
    }
    for (size_t i = 0; i < COORDINATES; i++)
        memcpy(block->coordinate[i], draws->coordinate[i] + number * BLOCK,
               BLOCK * sizeof(double));
}

static void add_point(struct heavy_region *place, const double *z, double weight)
{
    for (size_t i = 0; i < COORDINATES; i++) {
        place->mean[i] += weight * z[i];
        for (size_t j = 0; j <= i; j++)
            place->root[i][j] += weight * z[i] * z[j];
    }
}

/* A few thousand of them, each as often as its weight says (systematic resampling). */
static void add_blocks(struct heavy_region *place, const struct draws *draws, struct draw_block *block,
                       const double *weight, double total)
{
    double z[COORDINATES], passed = 0, next = 0.5;
    for (size_t at = 0; at < draws->count; at += BLOCK) {
        size_t size = draws->count - at < BLOCK ? draws->count - at : BLOCK;
        bool loaded = false;
        for (size_t k = 0; k < size; k++) {
            double times = 0;
            for (passed += weight[at + k] / total * SAMPLE; passed > next; next++)
                times++;
            if (!times)
                continue;
            if (!loaded)
                load_block(draws, at / BLOCK, block);
            loaded = true;
            point_of(draws, block, k, z);
            add_point(place, z, times);
            place->points += times;
        }
    }
}

/* Sums become mean and covariance, then the root of the latter (Cholesky); its diagonal is at
 * least ROUNDER. */
static void close_place(struct heavy_region *place)
{
    double total = place->points;
    const size_t n = COORDINATES;
    double logs = 0;
    for (size_t i = 0; i < n; i++)
        place->mean[i] /= total;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            place->root[i][j] = WIDER * (place->root[i][j] / total - place->mean[i] * place->mean[j]) +
                                (i == j ? ROUNDER : 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = place->root[i][j];
            for (size_t k = 0; k < j; k++)
                sum -= place->root[i][k] * place->root[j][k];
            place->root[i][j] = i == j ? sqrt(fmax(sum, ROUNDER / 2)) : sum / place->root[j][j];
        }
    for (size_t i = 0; i < n; i++)
        logs += scalar_log(place->root[i][i]);
    /* t density over the normal's: the 2 pi of both nearly cancel */
    place->log_scale = log_gamma_half(DEGREES + (int)n) - log_gamma_half(DEGREES) -
                       (double)n / 2 * scalar_log(DEGREES / 2.0) - logs;
}

static void find_place(struct arena *arena, const struct posterior *posterior,
                       struct draw_block *block, struct heavy_region *place)
{
    const struct draws *draws = posterior->draws;
    double *weight = arena_array(arena, draws->count + 1, sizeof *weight);
    double *logs = arena_array(arena, draws->count + 1, sizeof *logs);
    *place = (struct heavy_region){ 0 };
    for (size_t k = 0; k < draws->count; k++)
        logs[k] = posterior->weight[k] > 0 ? scalar_log(posterior->weight[k] / posterior->largest)
                                           : -INFINITY;
    double total = flatten(logs, weight, draws->count);
    add_blocks(place, draws, block, weight, total);
    close_place(place);
}

/* ---- draws from there --------------------------------------------------------------------- */

/* `free`: as many normal draws as there are coordinates. */
static void draw_point(const struct heavy_region *place, struct random *random, const double *free,
                       double *z)
{
    if (random_uniform(random) < FROM_PRIOR) {
        memcpy(z, free, COORDINATES * sizeof *z);
        return;
    }
    double scale = sqrt(DEGREES / (2 * random_gamma(random, DEGREES / 2.0)));
    for (size_t i = 0; i < COORDINATES; i++) {
        double sum = 0;
        for (size_t j = 0; j <= i; j++)
            sum += place->root[i][j] * free[j];
        z[i] = place->mean[i] + scale * sum;
    }
}

/* Prior over mixture. */
static double share_of(const struct heavy_region *place, const double *z)
{
    double solved[COORDINATES], square = 0, prior = 0;
    for (size_t i = 0; i < COORDINATES; i++) {
        double sum = z[i] - place->mean[i];
        for (size_t j = 0; j < i; j++)
            sum -= place->root[i][j] * solved[j];
        solved[i] = sum / place->root[i][i];
        square += solved[i] * solved[i];
        prior += z[i] * z[i];
    }
    double log_t = place->log_scale -
                   (DEGREES + COORDINATES) / 2 * scalar_log(1 + square / DEGREES);
    return 1 / (FROM_PRIOR + (1 - FROM_PRIOR) * scalar_exp(fmin(log_t + prior / 2, 700)));
}

static void draw_block(const struct draws *draws, const struct heavy_region *place, size_t at,
                       uint64_t round, struct draw_block *block)
{
    double z[COORDINATES], free[COORDINATES];
    struct random random;
    random_stream(&random, draws->seed, "draws again", round << 32 | at / BLOCK);
    for (size_t k = 0; k < BLOCK; k++) {
        random_normals(&random, &draws->ziggurat, free, COORDINATES);
        draw_point(place, &random, free, z);
        draws->share[at + k] = share_of(place, z);
        for (size_t i = 0; i < COORDINATES; i++) {
            double even = draws->sampler.normal[i] ? 0 : normal_below(z[i]);
            block->coordinate[i][k] = draws->sampler.normal[i] ? z[i]
                                      : fmin(fmax(even, 0x1p-33), 1 - 0x1p-33);
        }
    }
}

const struct draws *draws_reweight(struct arena *arena, const struct posterior *posterior,
                                   uint64_t round)
{
    const struct draws *from = posterior->draws;
    struct draw_block block;
    struct heavy_region *place = arena_alloc(arena, sizeof *place);
    struct draws *draws = draws_new(arena, &from->sampler, from->seed, AGAIN, from->all);
    draws->ranks = from->ranks;
    block_open(arena, &from->sampler, &block);
    draws->share = arena_array(arena, AGAIN, sizeof(double));
    find_place(arena, posterior, &block, place);
    for (size_t i = 0; i < COORDINATES; i++)
        draws->coordinate[i] = arena_array(arena, AGAIN, sizeof(double));
    for (size_t at = 0; at < AGAIN; at += BLOCK) {
        draw_block(draws, place, at, round, &block);
        for (size_t i = 0; i < COORDINATES; i++)
            memcpy(draws->coordinate[i] + at, block.coordinate[i], BLOCK * sizeof(double));
        block_run(&block, BLOCK);
        draws_keep(draws, &block, at, BLOCK);
    }
    return draws;
}
