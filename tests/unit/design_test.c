/* `design`: its constants fitted again from the sheet of machines, three chips found again from their
 * price and power, also with each left out of the fit, and random chips that must not be better. Runs
 * in the root of the tree. */
#include "test.h"
#include "lines.h"

#include "ask/ask.h"

#include <math.h>
#include <stdlib.h>

struct world {
    struct arena arena;
    struct answer answer;
    struct error error;
    struct catalog catalog;
};

static int world_open(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    *state = world;
    if (world)
        catalog_open(&world->catalog, &world->arena);
    return !world;
}

static int world_close(void **state)
{
    struct world *world = *state;
    arena_free(&world->arena);
    free(world);
    return 0;
}

static double figure(struct world *world, const char *key)
{
    const struct doc *found = doc_get(world->answer.doc, key);
    if (!found)
        fail_msg("no %s", key);
    return found->number;
}

static bool try(struct world *world, const char *line)
{
    return line_asked(&world->arena, line, &world->answer, &world->error);
}

/* ---- the fits -------------------------------------------------------------------------------------- */

static double fact(const struct catalog_entry *entry, const char *name)
{
    double value;
    for (size_t i = 0; i < entry->rows; i++) {
        const struct catalog_row row = catalog_row(entry, i);
        if (row.chosen && !strcmp(row.fact, name) && catalog_row_number(&row, &value))
            return value;
    }
    return NAN;
}

/* y = a flops + b stacks, by least squares of what is relative to y, over the machines that have all
 * three; `without` is left out. */
static size_t fit(const struct world *world, const char *y_name, bool rents, const char *without, double *a,
                  double *b)
{
    double ff = 0, fs = 0, ss = 0, f1 = 0, s1 = 0;
    size_t count = 0;
    for (size_t i = 0; i < catalog_count(&world->catalog, CATALOG_MACHINE); i++) {
        const struct catalog_entry *entry = catalog_entry(&world->catalog, CATALOG_MACHINE, i);
        const double y = fact(entry, y_name), flops = fact(entry, "peak_bf16"), stacks = fact(entry, "chip_stacks");
        /* Rents of one source and one contract: accelerators of 2022 and later that are sold. */
        const bool of_kind = !rents || (fact(entry, "utility_power") > 0 && fact(entry, "release_year") >= 2022);
        if (isnan(y) || isnan(flops) || isnan(stacks) || !of_kind || (without && !strcmp(entry->name, without)))
            continue;
        const double f = flops / y, s = stacks / y;
        ff += f * f;
        fs += f * s;
        ss += s * s;
        f1 += f;
        s1 += s;
        count++;
    }
    *a = (f1 * ss - s1 * fs) / (ff * ss - fs * fs);
    *b = (s1 * ff - f1 * fs) / (ff * ss - fs * fs);
    return count;
}

static double row_default(const char *name)
{
    const struct formulas *formulas = formulas_built_in(0);
    return formulas_row(formulas, formulas_find(formulas, name))->value;
}

static void constants_are_fitted(void **state)
{
    struct world *world = *state;
    double a, b;
    size_t count = fit(world, "chip_power", false, NULL, &a, &b);
    printf("power: %zu machines, %.4g J/FLOP, %.4g W a stack\n", count, a, b);
    assert_int_equal(count, 18);
    assert_true(fabs(a / row_default("flop_energy") - 1) < 0.005);
    assert_true(fabs(b / row_default("stack_power") - 1) < 0.005);
    count = fit(world, "chip_price", true, NULL, &a, &b);
    printf("rent: %zu machines, %.4g USD/FLOP, %.4g USD/h a stack\n", count, a, 3600 * b);
    assert_int_equal(count, 7);
    assert_true(fabs(a / row_default("flop_rent") - 1) < 0.005);
    assert_true(fabs(b / row_default("stack_rent") - 1) < 0.005);
}

/* ---- three chips ------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *words;
} chips[] = {
    { "b200-sxm", "--power 1000W --rent 2.9USD/h --area 1600" },
    { "h100-sxm", "--power 700W --rent 1.3USD/h --area 814 --set stack_bandwidth=0.67TB/s --set stack_capacity=16GB" },
    { "tpu-v5e", "--power 200W --rent 1.2USD/h --domain 256 --set stack_bandwidth=0.41TB/s --set stack_capacity=8GB" },
};

static double worst_factor(struct world *world, size_t k)
{
    struct error error;
    const struct catalog_entry *entry = catalog_find(&world->catalog, CATALOG_MACHINE, chips[k].name, &error);
    const double flops = figure(world, "chip_flops") / fact(entry, "peak_bf16");
    const double bandwidth = figure(world, "designed_bandwidth") / fact(entry, "hbm_bandwidth");
    printf("%s: %.2f x its FLOP/s, %.2f x its bandwidth\n", chips[k].name, flops, bandwidth);
    return fmax(fmax(flops, 1 / flops), fmax(bandwidth, 1 / bandwidth));
}

static void chips_are_found_again(void **state)
{
    struct world *world = *state;
    for (size_t k = 0; k < COUNT(chips); k++) {
        double energy, stack, rent, stack_rent;
        assert_true(try(world, arena_print(&world->arena, "design %s", chips[k].words)));
        assert_true(worst_factor(world, k) < 1.5);
        fit(world, "chip_power", false, chips[k].name, &energy, &stack);
        fit(world, "chip_price", true, chips[k].name, &rent, &stack_rent);
        assert_true(try(world, arena_print(&world->arena, "design %s --set flop_energy=%.6g --set stack_power=%.6g "
                                           "--set flop_rent=%.6g --set stack_rent=%.6g", chips[k].words, energy,
                                           stack, rent, stack_rent)));
        printf("  left out of the fit, ");
        assert_true(worst_factor(world, k) < 1.5);
    }
}

/* ---- nothing is better ---------------------------------------------------------------------------------- */

/* By the lecture's formulas written here: random chips within the limits, with a random batch. */
static void random_chips_are_no_better(void **state)
{
    struct world *world = *state;
    const double params = 1e11, total = 8e11, kv = 1e4 / 6 * 2e5, domain = 72;
    uint64_t seed = 5;
    assert_true(try(world, "design --power 900W --rent 2USD/h --tpot 15ms"));
    const double best = figure(world, "bound_throughput");
    double most = 0;
    for (int i = 0; i < rounds(400000); i++) {
        double u[3];
        for (int k = 0; k < 3; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            u[k] = (double)(seed >> 11) / 9007199254740992.0;
        }
        const double stacks = 1 + floor(20 * u[0]), flops = 3.5e15 * u[1];
        const double room = domain * stacks * 24e9 - total;
        const double batch = floor(pow(fmax(room / kv, 1), u[2]));
        const double step = fmax(2 * batch * params / (domain * 2 * flops),
                                 (total + batch * kv) / (domain * stacks * 1e12));
        if (flops * 2.77e-13 + stacks * 50.7 > 900 || flops * 1.829e-19 + stacks * 0.1192 / 3600 > 2.0 / 3600 ||
            step > 0.015 || total + batch * kv > domain * stacks * 24e9)
            continue;
        most = fmax(most, batch / step);
    }
    printf("%.5g token/s; the best of random chips %.5g\n", best, most);
    assert_true(most <= best * 1.003);
    assert_true(most > 0.9 * best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(constants_are_fitted, world_open, world_close),
        cmocka_unit_test_setup_teardown(chips_are_found_again, world_open, world_close),
        cmocka_unit_test_setup_teardown(random_chips_are_no_better, world_open, world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
