/* Weighs draws by one price list: likelihoods, quantiles, and what the list says against the
 * prior.
 *
 * Draws are kept as cells of a logarithmic grid, so that the likelihood of a price is a table over
 * cells and the weight of a draw a product of a few entries. A price is either its cost times a
 * margin that is lognormal, or, with a given probability, policy that has nothing to do with cost;
 * the likelihood is their mixture. Quantiles are sums over histograms, uniform within a cell.
 * Information is the Kullback-Leibler divergence of the posterior from the prior in bins of a
 * quarter of an octave. */
#include "infer/weights.h"

#include <math.h>
#include <string.h>

/* ---- likelihoods as tables --------------------------------------------------------------- */

static double normal_density(double x, double middle, double deviation)
{
    const double root_2pi = 2.5066282746310005;
    double z = (x - middle) / deviation;
    return scalar_exp(-0.5 * z * z) / (deviation * root_2pi);
}

static bool is_seen(const struct evidence *evidence, int field)
{
    return evidence->seen[field] > 0;           /* a premium of nothing says nothing: no logarithm */
}

static double policy_of(const struct belief *belief, const struct evidence *evidence, int field)
{
    double given = evidence->policy[field];
    return isnan(given) ? belief->policy : given;
}

double belief_policy(const struct belief *belief, double seen)
{
    if (!(belief->policy_spread > 0))
        return 0;
    return normal_density(scalar_log(seen), scalar_log(belief->policy_middle),
                          belief->policy_spread);
}

/* A price that strays by more deviations is not worth a number. */
static const double STRAY_MOST = 12;

void weights_open(struct weights *weights, const double *logs, const struct belief *beliefs,
                  const struct evidence *evidence)
{
    weights->count = 0;
    for (int field = 0; field < FIELD_COUNT; field++) {
        if (!is_seen(evidence, field))
            continue;
        const struct belief *belief = &beliefs[field];
        double seen = scalar_log(evidence->seen[field]);
        double share = policy_of(belief, evidence, field);
        double asked = share * belief_policy(belief, evidence->seen[field]);
        double *table = weights->table[weights->count];
        weights->field[weights->count] = field;
        weights->asked[weights->count++] = asked;
        for (int i = 0; i < DEDUCE_CELLS; i++) {
            bool near = fabs(seen - logs[i]) < STRAY_MOST * belief->spread;
            table[i] = asked + (near ? (1 - share) *
                                normal_density(seen, logs[i], belief->spread) : 0);
        }
    }
}

double weights_run(const struct weights *weights, const struct draws *draws, double *weight)
{
    const uint16_t *cells[FIELD_COUNT];
    double sum = 0;
    for (size_t j = 0; j < weights->count; j++)
        cells[j] = draws->field[weights->field[j]];
    for (size_t k = 0; k < draws->count; k++)
        weight[k] = draws->share ? draws->share[k] : 1;
    for (size_t j = 0; j < weights->count; j++) {
        const uint16_t *cell = cells[j];
        const double *table = weights->table[j];
        for (size_t k = 0; k < draws->count; k++)
            weight[k] *= table[cell[k]];
    }
    for (size_t k = 0; k < draws->count; k++)
        sum += weight[k];
    return sum;
}

/* ---- histograms --------------------------------------------------------------------------- */

/* Where the cumulated share passes `at`, even within the cell. */
static double quantile(const double *histogram, double total, double at)
{
    double sum = 0;
    for (int i = 0; i < DEDUCE_CELLS; i++) {
        double next = sum + histogram[i];
        if (histogram[i] > 0 && next >= at * total) {
            double low = cell_low(i), high = cell_low(i + 1);
            return low + (high - low) * (at * total - sum) / histogram[i];
        }
        sum = next;
    }
    return NAN;
}

static struct span span_of(const double *histogram)
{
    double total = 0;
    for (int i = 0; i < DEDUCE_CELLS; i++)
        total += histogram[i];
    if (!(total > 0))
        return (struct span){ NAN, NAN, NAN, NAN, NAN };
    return (struct span){ quantile(histogram, total, 0.05), quantile(histogram, total, 0.25),
                          quantile(histogram, total, 0.5), quantile(histogram, total, 0.75),
                          quantile(histogram, total, 0.95) };
}

/* Kullback-Leibler of the posterior against the prior, in bins of a quarter of an octave. */
static double bits_between(const double *after, const double *before)
{
    enum { BIN = 8 };
    double total_after = 0, total_before = 0, sum = 0;
    for (int i = 0; i < DEDUCE_CELLS; i++)
        total_after += after[i], total_before += before[i];
    for (int i = 0; i < DEDUCE_CELLS; i += BIN) {
        double p = 0, q = 0;
        for (int j = 0; j < BIN; j++)
            p += after[i + j] / total_after, q += before[i + j] / total_before;
        if (p > 0 && q > 0)
            sum += p * scalar_log(p / q);
    }
    return fmax(sum, 0) / scalar_log(2);
}

static void read_quantities(struct posterior *posterior, const struct draws *prior)
{
    double after[DEDUCE_CELLS];
    const struct draws *draws = posterior->draws;
    for (int i = 0; i < QUANTITY_COUNT; i++) {
        cells_fill(after, draws->quantity[i], posterior->weight, draws->count);
        posterior->span[i] = span_of(after);
        posterior->prior[i] = span_of(prior->prior[i]);
        posterior->bits[i] = bits_between(after, prior->prior[i]);
    }
    memset(posterior->tier, 0, sizeof posterior->tier);
    for (size_t k = 0; k < draws->count; k++)
        posterior->tier[draws->tier[k]] += posterior->weight[k];
}

/* ---- cost or policy ----------------------------------------------------------------------- */

/* Under the posterior: the mean of policy's part in the likelihood, and of policy's over cost's
 * density, are what the evidence says for policy. */
static void read_policy(struct posterior *posterior, const struct weights *weights,
                        const struct belief *beliefs, const struct evidence *evidence)
{
    const struct draws *draws = posterior->draws;
    for (int field = 0; field < FIELD_COUNT; field++)
        posterior->policy[field] = posterior->gain[field] = NAN;
    for (size_t j = 0; j < weights->count; j++) {
        int field = weights->field[j];
        double share = policy_of(&beliefs[field], evidence, field), asked = weights->asked[j];
        double policy = 0;
        const uint16_t *cells = draws->field[field];
        if (!(asked > 0))
            continue;
        for (size_t k = 0; k < draws->count; k++)
            if (posterior->weight[k] > 0)
                policy += posterior->weight[k] * asked / weights->table[j][cells[k]];
        posterior->policy[field] = policy;
        if (share < 1)
            posterior->gain[field] = scalar_log(policy / share) -
                                     scalar_log(fmax(1 - policy, 1e-300) / (1 - share));
    }
}

/* ---- a sheet ------------------------------------------------------------------------------ */

static void normalise(struct posterior *posterior, double sum)
{
    double squares = 0, largest = 0;
    size_t count = posterior->draws->count;
    for (size_t k = 0; k < count; k++) {
        double weight = sum > 0 ? posterior->weight[k] / sum : 1.0 / (double)count;
        posterior->weight[k] = weight;
        squares += weight * weight;
        largest = fmax(largest, weight);
    }
    posterior->effective = sum > 0 ? 1 / squares : 0;
    posterior->largest = largest;
    posterior->log_evidence = sum > 0 ? scalar_log(sum / (double)count) : -INFINITY;
}

static void weigh_all(struct arena *arena, const struct weights *weights, const struct draws *draws,
                      struct posterior *posterior)
{
    posterior->draws = draws;
    posterior->weight = arena_array(arena, draws->count + 1, sizeof(double));
    normalise(posterior, weights_run(weights, draws, posterior->weight));
}

void deduce_sheet(struct arena *arena, const struct draws *draws, const struct belief *beliefs,
                  const struct evidence *evidence, bool again, struct posterior *posterior)
{
    enum { ENOUGH = 400, ROUNDS = 2 };
    struct weights *weights = arena_alloc(arena, sizeof *weights);
    *posterior = (struct posterior){ 0 };
    weights_open(weights, draws->logs, beliefs, evidence);
    weigh_all(arena, weights, draws, posterior);
    bool any = posterior->effective > 0;
    for (int round = 0; again && any && round < ROUNDS && posterior->effective < ENOUGH; round++) {
        struct posterior better = { 0 };
        weigh_all(arena, weights, draws_reweight(arena, posterior, (uint64_t)round), &better);
        if (better.effective > posterior->effective)
            *posterior = better;
    }
    posterior->outside = posterior->effective < ENOUGH / 2;
    read_quantities(posterior, draws);
    read_policy(posterior, weights, beliefs, evidence);
}

void deduce_spans(const struct draws *draws, const struct belief *beliefs,
                  const struct evidence *evidence, const enum quantity_key *wanted, size_t count,
                  struct span *spans, double *effective)
{
    struct arena scratch = arena_beside(draws->sampler.arena);
    struct weights *weights = arena_alloc(&scratch, sizeof *weights);
    struct posterior posterior = { 0 };
    double histogram[DEDUCE_CELLS];
    weights_open(weights, draws->logs, beliefs, evidence);
    weigh_all(&scratch, weights, draws, &posterior);
    for (size_t i = 0; i < count; i++) {
        cells_fill(histogram, draws->quantity[wanted[i]], posterior.weight, draws->count);
        spans[i] = span_of(histogram);
    }
    *effective = posterior.effective;
    arena_free(&scratch);
}

/* ---- what it rests on --------------------------------------------------------------------- */

struct moments {
    double x, xx, xy;
};

void deduce_shares(const struct posterior *posterior, enum quantity_key quantity, double share[UNKNOWN_COUNT])
{
    const struct draws *draws = posterior->draws;
    const uint16_t *cells = draws->quantity[quantity];
    const double *logs = draws->logs;
    double y = 0, yy = 0;
    for (size_t k = 0; k < draws->count; k++) {
        y += posterior->weight[k] * logs[cells[k]];
        yy += posterior->weight[k] * logs[cells[k]] * logs[cells[k]];
    }
    for (size_t i = 0; i < UNKNOWN_COUNT; i++) {
        struct moments m = { 0, 0, 0 };
        if (!ranks_mine(draws->ranks, i))
            continue;
        for (size_t k = 0; k < draws->count; k++) {
            double x = logs[draws->unknown[i][k]], weight = posterior->weight[k];
            m.x += weight * x, m.xx += weight * x * x, m.xy += weight * x * logs[cells[k]];
        }
        double both = m.xy - m.x * y, spread = (m.xx - m.x * m.x) * (yy - y * y);
        share[i] = spread > 1e-12 ? both * both / spread : 0;
    }
    ranks_share(draws->ranks, draws->sampler.arena, share, UNKNOWN_COUNT, sizeof *share);
}
