/* The posterior of factors and fields (posterior.h): a Gaussian process with a linear part, by the Cholesky
 * root of the covariance of the values that were seen. */
#include "infer/posterior.h"

#include "rows/rows.h"

#include <math.h>

/* ---- linear algebra ------------------------------------------------------------------------ */

bool cholesky(double *matrix, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < j; k++)
            matrix[j * n + j] -= matrix[j * n + k] * matrix[j * n + k];
        if (!(matrix[j * n + j] > 0))
            return false;
        matrix[j * n + j] = sqrt(matrix[j * n + j]);
        for (size_t i = j + 1; i < n; i++) {
            for (size_t k = 0; k < j; k++)
                matrix[i * n + j] -= matrix[i * n + k] * matrix[j * n + k];
            matrix[i * n + j] /= matrix[j * n + j];
        }
    }
    return true;
}

/* The first half of a solution: root^-1 vector. */
static void solve_lower(const double *root, size_t n, double *vector)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            vector[i] -= root[i * n + k] * vector[k];
        vector[i] /= root[i * n + i];
    }
}

void cholesky_solve(const double *root, size_t n, double *vector)
{
    solve_lower(root, n, vector);
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            vector[i] -= root[k * n + i] * vector[k];
        vector[i] /= root[i * n + i];
    }
}

/* ---- the prior ------------------------------------------------------------------------------- */

double posterior_likeness(const struct posterior_prior *prior, const double *a, const double *b)
{
    double square = 0;
    for (int i = 0; i < POSTERIOR_AXES; i++)
        square += (a[i] - b[i]) * (a[i] - b[i]);
    return scalar_exp(-square / (2 * prior->length * prior->length));
}

double posterior_between(const struct posterior_prior *prior, const struct posterior_value *a,
                         const struct posterior_value *b)
{
    double sum = 0, alike = posterior_likeness(prior, a->at, b->at);
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        for (int l = 0; l < POSTERIOR_FACTORS; l++)
            sum += a->slope[k] * prior->covariance[k][l] * b->slope[l];
    for (int m = 0; m < POSTERIOR_FIELDS; m++)
        sum += a->reach[m] * b->reach[m] * prior->field[m] * prior->field[m] * alike;
    return sum;
}

/* Covariance of a value with factor k. */
static double by_factor(const struct posterior_prior *prior, const struct posterior_value *value, int k)
{
    double sum = 0;
    for (int l = 0; l < POSTERIOR_FACTORS; l++)
        sum += prior->covariance[k][l] * value->slope[l];
    return sum;
}

static double noise_of(const struct posterior_prior *prior, const struct posterior_value *value)
{
    return value->noise > 0 ? value->noise : prior->noise[value->kind];
}

/* ---- the posterior ----------------------------------------------------------------------------- */

static void fill_root(const struct factor_posterior *posterior)
{
    const struct posterior_prior *prior = posterior->prior;
    const size_t n = posterior->count;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            const double noise = noise_of(prior, &posterior->values[i]);
            posterior->root[i * n + j] = posterior_between(prior, &posterior->values[i], &posterior->values[j]) +
                                         (i == j ? noise * noise : 0);
        }
}

/* What is left of a value after the prediction at the prior's mean and a field of 0, by the slopes. */
static double residual_of(const struct factor_posterior *posterior, size_t i, const double *x,
                          const double (*at_values)[POSTERIOR_FIELDS])
{
    const struct posterior_value *value = &posterior->values[i];
    double expected = value->expected;
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        expected -= value->slope[k] * (x[k] - posterior->prior->mean[k]);
    for (int m = 0; at_values && m < POSTERIOR_FIELDS; m++)
        expected -= value->reach[m] * at_values[i][m];
    return value->seen - expected;
}

static void set_factors(struct arena *scratch, struct factor_posterior *posterior)
{
    const struct posterior_prior *prior = posterior->prior;
    const size_t n = posterior->count;
    double *half = arena_array(scratch, POSTERIOR_FACTORS * (n + 1), sizeof *half);
    for (int k = 0; k < POSTERIOR_FACTORS; k++) {
        posterior->x[k] = prior->mean[k];
        for (size_t i = 0; i < n; i++) {
            half[(size_t)k * n + i] = by_factor(prior, &posterior->values[i], k);
            posterior->x[k] += half[(size_t)k * n + i] * posterior->weight[i];
        }
        if (n)
            solve_lower(posterior->root, n, half + (size_t)k * n);
    }
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        for (int l = 0; l < POSTERIOR_FACTORS; l++) {
            posterior->covariance[k][l] = prior->covariance[k][l];
            for (size_t i = 0; i < n; i++)
                posterior->covariance[k][l] -= half[(size_t)k * n + i] * half[(size_t)l * n + i];
        }
}

/* The misfit of the values of one kind, by their own covariance, and what it says of the scale. */
static void set_scale(struct arena *scratch, struct factor_posterior *posterior, const double *residuals, int kind)
{
    size_t count = 0;
    size_t *of = arena_array(scratch, posterior->count + 1, sizeof *of);
    for (size_t i = 0; i < posterior->count; i++)
        if (posterior->values[i].kind == kind)
            of[count++] = i;
    double *matrix = arena_array(scratch, count * count + 1, sizeof *matrix);
    double *half = arena_array(scratch, count + 1, sizeof *half), misfit = 0;
    const double noise = posterior->prior->noise[kind];
    for (size_t i = 0; i < count; i++) {
        half[i] = residuals[of[i]];
        for (size_t j = 0; j <= i; j++)
            matrix[i * count + j] = posterior_between(posterior->prior, &posterior->values[of[i]],
                                                      &posterior->values[of[j]]) + (i == j ? noise * noise : 0);
    }
    if (count && cholesky(matrix, count)) {
        solve_lower(matrix, count, half);
        for (size_t i = 0; i < count; i++)
            misfit += half[i] * half[i];
    }
    posterior->misfit[kind] = misfit;
    posterior->freedom[kind] = posterior->prior->freedom + (double)count;
    posterior->scale[kind] = (posterior->prior->freedom + misfit) / posterior->freedom[kind];
}

bool posterior_solve(struct arena *arena, const struct posterior_prior *prior,
                     const struct posterior_value *values, size_t count, const double *x,
                     const double (*at_values)[POSTERIOR_FIELDS], struct factor_posterior *posterior)
{
    struct arena scratch = arena_beside(arena);
    *posterior = (struct factor_posterior){ .prior = prior, .values = values, .count = count,
                                     .root = arena_array(arena, count * count + 1, sizeof(double)),
                                     .weight = arena_array(arena, count + 1, sizeof(double)) };
    double *residuals = arena_array(&scratch, count + 1, sizeof *residuals);
    fill_root(posterior);
    for (size_t i = 0; i < count; i++)
        residuals[i] = posterior->weight[i] = residual_of(posterior, i, x, at_values);
    const bool positive = cholesky(posterior->root, count);
    if (positive) {
        cholesky_solve(posterior->root, count, posterior->weight);
        set_factors(&scratch, posterior);
        for (int kind = 0; kind < POSTERIOR_FIELDS; kind++)
            set_scale(&scratch, posterior, residuals, kind);
    }
    arena_free(&scratch);
    return positive;
}

double posterior_weight(const struct factor_posterior *posterior, size_t i, int field)
{
    const double sd = posterior->prior->field[field];
    return sd * sd * posterior->values[i].reach[field] * posterior->weight[i];
}

double posterior_field(const struct factor_posterior *posterior, const double *at, int field)
{
    double sum = 0;
    for (size_t i = 0; i < posterior->count; i++)
        sum += posterior_weight(posterior, i, field) *
               posterior_likeness(posterior->prior, posterior->values[i].at, at);
    return sum;
}

double posterior_left(const struct factor_posterior *posterior, const struct posterior_value *a,
                      const struct posterior_value *b)
{
    enum { SMALL = 64 };
    double room[2 * SMALL], left = posterior_between(posterior->prior, a, b);
    const size_t n = posterior->count;
    struct arena scratch = { 0 };
    double *half = n <= SMALL ? room : arena_array(&scratch, 2 * n, sizeof *half), *other = half + n;
    for (size_t i = 0; i < n; i++) {
        half[i] = posterior_between(posterior->prior, a, &posterior->values[i]);
        other[i] = posterior_between(posterior->prior, b, &posterior->values[i]);
    }
    solve_lower(posterior->root, n, half);
    solve_lower(posterior->root, n, other);
    for (size_t i = 0; i < n; i++)
        left -= half[i] * other[i];
    arena_free(&scratch);
    return left;
}

double posterior_variance(const struct factor_posterior *posterior, const struct posterior_value *value)
{
    return fmax(0, posterior_left(posterior, value, value));
}

double posterior_outlying(const struct factor_posterior *posterior, size_t i)
{
    const size_t n = posterior->count;
    struct arena scratch = { 0 };
    double *unit = arena_array(&scratch, n, sizeof *unit);
    unit[i] = 1;
    cholesky_solve(posterior->root, n, unit);
    const double outlying = posterior->weight[i] / sqrt(unit[i]);
    arena_free(&scratch);
    return outlying;
}

double posterior_evidence(const struct factor_posterior *posterior)
{
    double sum = 0;
    for (size_t i = 0; i < posterior->count; i++)
        sum += scalar_log(posterior->root[i * posterior->count + i]);
    return -sum - (posterior->misfit[0] + posterior->misfit[1]) / 2;
}

/* ---- which value next ------------------------------------------------------------------------ */

double posterior_gain(struct arena *scratch, const struct factor_posterior *posterior,
                      const struct posterior_value *candidates, size_t candidate_count,
                      const struct posterior_value *targets, const double *weights, size_t target_count)
{
    const size_t n = candidate_count;
    double *root = arena_array(scratch, n * n + 1, sizeof *root);
    double *half = arena_array(scratch, n + 1, sizeof *half), gain = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            const double noise = posterior->prior->noise[candidates[i].kind];
            root[i * n + j] = posterior_left(posterior, &candidates[i], &candidates[j]) +
                              (i == j ? noise * noise : 0);
        }
    if (!n || !cholesky(root, n))
        return 0;
    for (size_t t = 0; t < target_count; t++) {
        for (size_t i = 0; i < n; i++)
            half[i] = posterior_left(posterior, &candidates[i], &targets[t]);
        solve_lower(root, n, half);
        for (size_t i = 0; i < n; i++)
            gain += weights[t] * half[i] * half[i];
    }
    return gain;
}

/* ---- quantiles -------------------------------------------------------------------------------- */

/* The share of Student's distribution below t, for whole and other degrees of freedom: the density is
 * integrated by Simpson's rule from 0, over u of t = sqrt(freedom) tan(u). */
static double student_below(double t, double freedom)
{
    enum { STEPS = 400 };
    const double end = atan(t / sqrt(freedom)), step = end / STEPS;
    int sign;                       /* lgamma would write it to a variable that threads share */
    const double top = scalar_exp(lgamma_r((freedom + 1) / 2, &sign) - lgamma_r(freedom / 2, &sign)) / sqrt(acos(-1.0));
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double part = pow(cos(step * i), freedom - 1);
        sum += part * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
    }
    return 0.5 + top * sum * step / 3;
}

double student_quantile(double share, double freedom)
{
    enum { HALVINGS = 100 };
    double low = -1e3, high = 1e3;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        const double below = freedom > 0 ? student_below(middle, freedom) : erfc(-middle / sqrt(2.0)) / 2;
        *(below < share ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

double student_half_width(double freedom)
{
    return student_quantile(0.9, freedom);
}
