/* The posterior of factors and a field: a server of four components that was worked out by hand elsewhere,
 * the same by brute force, and what must hold of any. */
#include "test.h"

#include "infer/posterior.h"
#include "rows/random.h"

#include <math.h>

enum { LOADS = 4, PARTS = 4 };

static const double milliseconds[LOADS][PARTS] = {
    { 4.0, 0.015, 2.0, 0 }, { 4.2, 0.24, 3.0, 0.5 }, { 4.4, 0.96, 5.0, 2.0 }, { 4.2, 0.24, 3.6, 3.5 } };
static const double loads[LOADS][3] = { { 1, 1000, 1000 }, { 16, 1000, 1000 }, { 64, 1000, 1000 }, { 16, 8000, 1000 } };
static const double times[LOADS] = { 7.0, 9.2, 15.0, 13.1 };

static struct posterior_prior prior_of_four(void)
{
    static const double spread[PARTS] = { 0.4, 0.8, 0.25, 0.5 };
    struct posterior_prior prior = { .field = { 0.09, 0.35 }, .length = 1.5, .noise = { 0.03, 0.12 }, .freedom = 4 };
    for (int k = 0; k < PARTS; k++)
        prior.covariance[k][k] = spread[k] * spread[k];
    return prior;
}

/* A value at factors x and the field r there. */
static struct posterior_value value_at(const double *parts, const double *load, const double *x, double r,
                                       double measured)
{
    struct posterior_value value = { .reach = { 1, 0 }, .seen = log(measured) };
    double sum = 0;
    for (int k = 0; k < PARTS; k++)
        sum += parts[k] * exp(x[k]);
    for (int k = 0; k < PARTS; k++)
        value.slope[k] = parts[k] * exp(x[k]) / sum;
    for (int i = 0; i < 3; i++)
        value.at[i] = log(load[i]);
    value.expected = log(sum) + r;
    return value;
}

struct fitted {
    struct arena arena;
    struct posterior_prior prior;
    struct posterior_value values[LOADS];
    struct factor_posterior posterior;
    double x[POSTERIOR_FACTORS], seen[LOADS];
};

static void fit(struct fitted *fitted, const int *given, size_t count)
{
    memset(fitted->x, 0, sizeof fitted->x);
    double field[LOADS][POSTERIOR_FIELDS] = { { 0 } };
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < count; i++)
            fitted->values[i] = value_at(milliseconds[given[i]], loads[given[i]], fitted->x, field[i][0],
                                         fitted->seen[given[i]]);
        assert_true(posterior_solve(&fitted->arena, &fitted->prior, fitted->values, count, fitted->x,
                                    (const double (*)[POSTERIOR_FIELDS])field, &fitted->posterior));
        for (size_t i = 0; i < count; i++)
            field[i][0] = posterior_field(&fitted->posterior, fitted->values[i].at, 0);
        memcpy(fitted->x, fitted->posterior.x, sizeof fitted->x);
    }
}

static struct fitted fitted_new(void)
{
    struct fitted fitted = { .prior = prior_of_four() };
    memcpy(fitted.seen, times, sizeof times);
    return fitted;
}

static struct posterior_value target(const struct fitted *fitted, const double *parts, const double *load)
{
    struct posterior_value value = value_at(parts, load, fitted->x, 0, 1);
    value.expected += posterior_field(&fitted->posterior, value.at, 0);
    return value;
}

static void assert_band(const struct fitted *fitted, int load, double middle, double low, double high)
{
    const struct posterior_value value = target(fitted, milliseconds[load], loads[load]);
    const double noise = fitted->prior.noise[0], t = student_quantile(0.9, fitted->posterior.freedom[0]);
    const double sd = sqrt(fitted->posterior.scale[0] * (posterior_variance(&fitted->posterior, &value) + noise * noise));
    assert_float_equal(exp(value.expected), middle, 2e-7);
    assert_float_equal(exp(value.expected - t * sd), low, 2e-7);
    assert_float_equal(exp(value.expected + t * sd), high, 2e-7);
}

/* Figures of the method as it was worked out elsewhere, in other code. */
static void one_load(void **state)
{
    (void)state;
    struct fitted fitted = fitted_new();
    static const double x[PARTS] = { 0.196517501, 0.038346927, 0.047227780, 0.030977684 };
    static const double sd[PARTS] = { 0.203343255, 0.797171342, 0.235896660, 0.497042976 };
    fit(&fitted, (int[]){ 1 }, 1);
    const struct factor_posterior *posterior = &fitted.posterior;
    for (int k = 0; k < PARTS; k++) {
        assert_float_equal(fitted.x[k], x[k], 1e-8);
        assert_float_equal(sqrt(posterior->covariance[k][k]), sd[k], 1e-8);
    }
    assert_float_equal(posterior->covariance[0][2] / sd[0] / sd[2], -0.594453709, 1e-8);
    assert_float_equal(posterior->misfit[0], 0.325483636, 1e-8);
    assert_float_equal(posterior->scale[0], 0.865096727, 1e-8);
    assert_float_equal(student_quantile(0.9, 5), 1.475884049, 1e-8);
    assert_band(&fitted, 0, 7.003177483, 5.792417218, 8.467016967);
    assert_band(&fitted, 1, 9.182068886, 8.664221793, 9.730866895);
    assert_band(&fitted, 2, 13.815101006, 11.892792177, 16.048125031);
    assert_band(&fitted, 3, 12.831556873, 10.373993240, 15.871308953);
    arena_free(&fitted.arena);
}

static void three_loads(void **state)
{
    (void)state;
    struct fitted fitted = fitted_new();
    static const double x[PARTS] = { 0.170016080, 0.284170655, 0.090707704, 0.213681307 };
    static const double sd[PARTS] = { 0.157301735, 0.714483048, 0.226768069, 0.417621780 };
    fit(&fitted, (int[]){ 0, 1, 2 }, 3);
    for (int k = 0; k < PARTS; k++) {
        assert_float_equal(fitted.x[k], x[k], 1e-8);
        assert_float_equal(sqrt(fitted.posterior.covariance[k][k]), sd[k], 1e-8);
    }
    assert_float_equal(fitted.posterior.misfit[0], 0.880820055, 1e-8);
    assert_float_equal(fitted.posterior.scale[0], 0.697260008, 1e-8);
    assert_band(&fitted, 3, 13.591355437, 11.441804202, 16.144739008);
    arena_free(&fitted.arena);
}

/* The mean variance over the four loads, and what each further load would leave of it. */
static void next_load(void **state)
{
    (void)state;
    struct fitted fitted = fitted_new();
    static const double left[2][LOADS] = { { 0.018237676, 0.014076516, 0.019593279, 0.023789317 },
                                           { 0.008828094, NAN, 0.009333404, 0.007122418 } };
    static const double before[2] = { 0.064199644, 0.013302178 };
    const double weights[LOADS] = { 0.25, 0.25, 0.25, 0.25 };
    for (int given = 0; given < 2; given++) {
        struct posterior_value all[LOADS];
        double mean = 0;
        fit(&fitted, (int[]){ 1 }, (size_t)given);
        if (!given)
            memset(fitted.x, 0, sizeof fitted.x);
        for (int i = 0; i < LOADS; i++) {
            all[i] = target(&fitted, milliseconds[i], loads[i]);
            mean += posterior_variance(&fitted.posterior, &all[i]) / LOADS;
        }
        assert_float_equal(mean, before[given], 1e-8);
        for (int i = 0; i < LOADS; i++)
            if (!isnan(left[given][i]))
                assert_float_equal(mean - posterior_gain(&fitted.arena, &fitted.posterior, &all[i], 1, all, weights,
                                                         LOADS), left[given][i], 1e-8);
    }
    arena_free(&fitted.arena);
}

static void wrong_load(void **state)
{
    (void)state;
    struct fitted fitted = fitted_new();
    static const double z[LOADS] = { 3.51282943, -3.98421703, 5.15185954, -0.79519152 };
    fitted.seen[2] = 30;
    fit(&fitted, (int[]){ 0, 1, 2, 3 }, 4);
    for (size_t i = 0; i < LOADS; i++)
        assert_float_equal(posterior_outlying(&fitted.posterior, i), z[i], 1e-7);
    assert_float_equal(fitted.posterior.misfit[0], 32.112308240, 1e-6);
    arena_free(&fitted.arena);
}

/* ---- by brute force --------------------------------------------------------------------------- */

/* Two factors on a grid, one value, no field: moments of the posterior by summing over the grid agree where
 * the prediction is nearly linear in the factors. */
static void brute_force(void **state)
{
    (void)state;
    struct fitted fitted = fitted_new();
    enum { STEPS = 401 };
    const double sd[2] = { 0.05, 0.04 }, parts[PARTS] = { 4, 0, 5, 0 }, wide = 6;
    double mass = 0, mean[2] = { 0 }, square[2] = { 0 }, cross = 0;
    memset(fitted.prior.covariance, 0, sizeof fitted.prior.covariance);
    memset(fitted.prior.field, 0, sizeof fitted.prior.field);
    fitted.prior.covariance[0][0] = sd[0] * sd[0];
    fitted.prior.covariance[2][2] = sd[1] * sd[1];
    for (int i = 0; i < STEPS; i++)
        for (int j = 0; j < STEPS; j++) {
            const double x = wide * sd[0] * (2.0 * i / (STEPS - 1) - 1), y = wide * sd[1] * (2.0 * j / (STEPS - 1) - 1);
            const double error = (log(4 * exp(x) + 5 * exp(y)) - log(9.4)) / 0.03;
            const double weight = exp(-(error * error + x * x / sd[0] / sd[0] + y * y / sd[1] / sd[1]) / 2);
            mass += weight, mean[0] += weight * x, mean[1] += weight * y;
            square[0] += weight * x * x, square[1] += weight * y * y, cross += weight * x * y;
        }
    double x[POSTERIOR_FACTORS] = { 0 };
    for (int round = 0; round < 50; round++) {
        fitted.values[0] = value_at(parts, loads[0], x, 0, 9.4);
        assert_true(posterior_solve(&fitted.arena, &fitted.prior, fitted.values, 1, x, NULL, &fitted.posterior));
        memcpy(x, fitted.posterior.x, sizeof x);
    }
    mean[0] /= mass, mean[1] /= mass;
    assert_float_equal(x[0], mean[0], 0.0005);
    assert_float_equal(x[2], mean[1], 0.0005);
    assert_float_equal(sqrt(fitted.posterior.covariance[0][0]), sqrt(square[0] / mass - mean[0] * mean[0]), 0.0005);
    assert_float_equal(sqrt(fitted.posterior.covariance[2][2]), sqrt(square[1] / mass - mean[1] * mean[1]), 0.0005);
    assert_float_equal(fitted.posterior.covariance[0][2], cross / mass - mean[0] * mean[1], 3e-5);
    arena_free(&fitted.arena);
}

/* ---- of any server --------------------------------------------------------------------------- */

/* A further value widens no variance, and the order of the values does not matter. */
static void any_server(void **state)
{
    (void)state;
    struct random random;
    random_open(&random, 7, 1);
    for (int round = 0; round < rounds(200); round++) {
        struct fitted one = fitted_new();
        double before[LOADS], x[POSTERIOR_FACTORS];
        for (int i = 0; i < LOADS; i++)
            one.seen[i] *= exp(0.4 * (random_uniform(&random) - 0.5));
        fit(&one, (int[]){ 0, 3 }, 2);
        for (int i = 0; i < LOADS; i++) {
            const struct posterior_value value = value_at(milliseconds[i], loads[i], one.x, 0, 1);
            before[i] = posterior_variance(&one.posterior, &value);
        }
        memcpy(x, one.x, sizeof x);
        struct posterior_value values[3] = { one.values[0], one.values[1],
                                             value_at(milliseconds[2], loads[2], one.x, 0, one.seen[2]) };
        assert_true(posterior_solve(&one.arena, &one.prior, values, 3, one.x, NULL, &one.posterior));
        for (int i = 0; i < LOADS; i++) {
            const struct posterior_value value = value_at(milliseconds[i], loads[i], one.x, 0, 1);
            assert_true(posterior_variance(&one.posterior, &value) <= before[i] + 1e-12);
        }
        fit(&one, (int[]){ 3, 0 }, 2);
        for (int k = 0; k < PARTS; k++)
            assert_float_equal(one.x[k], x[k], 1e-6);
        arena_free(&one.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(one_load), cmocka_unit_test(three_loads),
                                        cmocka_unit_test(next_load), cmocka_unit_test(wrong_load),
                                        cmocka_unit_test(brute_force), cmocka_unit_test(any_server) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
