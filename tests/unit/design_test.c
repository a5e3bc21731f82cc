/* `design`: its constants fitted again from the sheet of machines, five chips found again from their limits, also
 * with each left out of the fit, the link by hand, limits that are loosened, and random chips that must not be
 * better. Runs in the root of the tree. */
#include "test.h"
#include "lines.h"

#include "ask/ask.h"
#include "scenario/values.h"

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

/* ---- five chips -------------------------------------------------------------------------------------- */

/* Each has the power, area and stacks of the chip as limits, with stacks of its generation. */
static const struct {
    const char *name, *words;
} chips[] = {
    { "b200-sxm", "--power 1000W --area 1600 --stacks 8" },
    { "h100-sxm", "--power 700W --area 814 --stacks 5 --set stack_bandwidth=0.67TB/s "
                  "--set stack_capacity=16GB" },
    { "mi300x", "--power 750W --stacks 8 --set stack_bandwidth=0.67TB/s" },
    { "tpu-v5p", "--power 400W --stacks 6 --set stack_bandwidth=0.46TB/s --set stack_capacity=16GB" },
    { "tpu-v5e", "--power 200W --domain 256 --stacks 2 --set stack_bandwidth=0.41TB/s "
                 "--set stack_capacity=8GB" },
};

static double worst_factor(struct world *world, size_t k)
{
    static const char *const published[][2] = { { "chip_flops", "peak_bf16" }, { "designed_bandwidth", "hbm_bandwidth" },
                                                { "designed_capacity", "hbm_capacity" } };
    struct error error;
    const struct catalog_entry *entry = catalog_find(&world->catalog, CATALOG_MACHINE, chips[k].name, &error);
    double worst = 1;
    printf("%s:", chips[k].name);
    for (size_t i = 0; i < COUNT(published); i++) {
        const double factor = figure(world, published[i][0]) / fact(entry, published[i][1]);
        printf(" %.2f x its %s", factor, published[i][1]);
        worst = fmax(worst, fmax(factor, 1 / factor));
    }
    puts("");
    return worst;
}

static void chips_are_found_again(void **state)
{
    struct world *world = *state;
    for (size_t k = 0; k < COUNT(chips); k++) {
        double energy, stack, rent, stack_rent;
        assert_true(try(world, arena_print(&world->arena, "design %s", chips[k].words)));
        assert_true(worst_factor(world, k) < 1.3);
        fit(world, "chip_power", false, chips[k].name, &energy, &stack);
        fit(world, "chip_price", true, chips[k].name, &rent, &stack_rent);
        assert_true(try(world, arena_print(&world->arena, "design %s --set flop_energy=%.6g --set stack_power=%.6g "
                                           "--set flop_rent=%.6g --set stack_rent=%.6g", chips[k].words, energy,
                                           stack, rent, stack_rent)));
        printf("  left out of the fit, ");
        assert_true(worst_factor(world, k) < 1.5);
    }
}

/* ---- the link --------------------------------------------------------------------------------------------- */

static void close_to(double value, double expected)
{
    if (!(fabs(value / expected - 1) < 1e-9))
        fail_msg("%.12g, not %.12g", value, expected);
}

/* Llama-3.3-70B: 80 layers with two all-reduces each of 8,192 numbers of 2 bytes a token, over 72 chips. DeepSeek-V3:
 * 61 layers, of which 58 have experts; 7,168 numbers a token, sent in 1 byte to chips and back in 2. */
static void link_carries_the_exchange(void **state)
{
    struct world *world = *state;
    assert_true(try(world, "design --model llama-3.3-70b --tpot 10ms --power 1000W"));
    double rate = figure(world, "batch") / figure(world, "bound_step");
    close_to(figure(world, "designed_link"), 80 * 2 * (2 * 71 / 72.0) * 8192 * 2 * rate);
    assert_true(figure(world, "designed_link_experts") == 0);
    assert_true(try(world, "design --model deepseek-v3 --power 700W --tpot 20ms"));
    rate = figure(world, "batch") / figure(world, "bound_step");
    close_to(figure(world, "designed_link_reduce"), (61 + 3) * (2 * 71 / 72.0) * 7168 * 2 * rate);
    /* 256 experts over 72 chips, 4 on each of 64: a token misses a chip if its 8 are among the other 252. */
    double missed = 1;
    for (int i = 0; i < 4; i++)
        missed *= (248.0 - i) / (256 - i);
    close_to(figure(world, "designed_link_experts"),
             58 * rate / 72 * 64 * (1 - missed) * 7168 * (1 + 2) * (71 / 72.0));
    assert_true(try(world, "design --model deepseek-v3 --power 700W --tpot 20ms --set attention_dp=72"));
    assert_true(figure(world, "designed_link_reduce") == 0);
}

/* ---- the site --------------------------------------------------------------------------------------------- */

/* A chip of 700 W takes 700 x 1.736 x 1.25 W of a site. More power serves no less, with --for site no less than with other chips. */
static void sites_power_whole_domains(void **state)
{
    struct world *world = *state;
    static const char *const aims[] = { "throughput", "cost", "site" };
    double before[COUNT(aims)] = { 0 };
    uint64_t seed = 3;
    for (double site = 20e3; site < 2e7; site *= 1 + draw(&seed)) {
        double served[COUNT(aims)];
        for (size_t k = 0; k < COUNT(aims); k++) {
            assert_true(try(world, arena_print(&world->arena, "design --model deepseek-v3 --tpot 20ms --power 700W --for %s "
                                               "--site-power %.9gW", aims[k], site)));
            served[k] = world->answer.status ? 0 : figure(world, "site_throughput");
            assert_true(served[k] >= before[k] * (1 - 1e-12));
            before[k] = served[k];
            if (world->answer.status)
                continue;
            const double chip = figure(world, "designed_power") * 1.736 * 1.25, domains = floor(site / (72 * chip));
            close_to(figure(world, "site_chip_power"), chip);
            assert_true(fabs(served[k] - domains * figure(world, "bound_throughput")) <= 1e-9 * served[k]);
        }
        assert_true(served[2] >= served[0] * (1 - 1e-12) && served[2] >= served[1] * (1 - 1e-12));
    }
    assert_true(before[2] > before[0]);
}

/* ---- nothing is better ---------------------------------------------------------------------------------- */

static const char *const traffic[] = { "llama-3.3-70b", "deepseek-v3", "qwen3-next-80b-a3b" };

/* What a limit or a part of the chip is, and how it is loosened: `up` 1 by more of it, -1 by less. */
static const struct knob {
    const char *words;
    double low, high;
    int up;
} knobs[] = {
    { "--power %.9gW", 300, 2000, 1 }, { "--rent %.9gUSD/h", 0.8, 5, 1 }, { "--area %.9g", 200, 3000, 1 },
    { "--tpot %.9gs", 0.002, 0.1, 1 }, { "--stacks %.0f", 3, 20, 1 }, { "--domain %.0f", 8, 200, 1 },
    { "--set stack_capacity=%.9gB", 8e9, 48e9, 1 }, { "--set stack_bandwidth=%.9gB/s", 0.4e12, 3e12, 1 },
    { "--set flop_density=%.9gFLOP/s", 0.3e12, 3e12, 1 }, { "--set flop_energy=%.9gJ/FLOP", 1e-13, 6e-13, -1 },
    { "--set stack_power=%.9gW", 20, 80, -1 }, { "--set flop_rent=%.9gUSD/FLOP", 5e-20, 5e-19, -1 },
    { "--set stack_rent=%.9gUSD/h", 0.03, 0.3, -1 } };

/* Tokens per chip and second, or tokens for a dollar; 0: no chip. */
static double worth(struct world *world, const double *at, const char *subject, bool cheapest)
{
    struct buffer line = { .arena = &world->arena };
    buffer_print(&line, "design --for %s%s%s", cheapest ? "cost" : "throughput", *subject ? " --model " : "", subject);
    for (size_t k = 0; k < COUNT(knobs); k++)
        if (at[k] > 0) {
            buffer_print(&line, " ");
            buffer_print(&line, knobs[k].words, at[k]);
        }
    if (!try(world, line.data))
        fail_msg("%s: %s", line.data, world->error.what);
    return world->answer.status ? 0 : cheapest ? 1 / figure(world, "bound_cost_per_token")
                                               : figure(world, "bound_throughput") / figure(world, "chips");
}

/* Loosening one of them makes no optimum worse. Of the limits on chip and time some are given; steps are small and large. */
static void looser_is_no_worse(void **state)
{
    struct world *world = *state;
    uint64_t seed = 7;
    int none = 0, better = 0;
    for (int i = 0; i < rounds(300); i++) {
        double at[COUNT(knobs)];
        for (size_t k = 0; k < COUNT(knobs); k++) {
            at[k] = knobs[k].low * pow(knobs[k].high / knobs[k].low, draw(&seed));
            if (k < 6 && k != 5 && draw(&seed) < 0.4 && (k || at[0] == 0))
                at[k] = 0;
        }
        if (at[0] + at[1] + at[2] == 0)
            at[0] = 900;
        for (int k = 4; k < 6; k++)
            at[k] = floor(at[k]);
        const char *subject = draw(&seed) < 0.25 ? "" : traffic[(size_t)(draw(&seed) * COUNT(traffic))];
        const bool cheapest = draw(&seed) < 0.5;
        const double before = worth(world, at, subject, cheapest);
        size_t moved;
        do
            moved = (size_t)(draw(&seed) * COUNT(knobs));
        while (at[moved] == 0);
        const double step = 1 + pow(10, -2 * draw(&seed));
        at[moved] = knobs[moved].up > 0 ? at[moved] * step : at[moved] / step;
        if (moved == 4 || moved == 5)
            at[moved] = ceil(at[moved]);
        const double after = worth(world, at, subject, cheapest);
        none += after == 0;
        better += after > before * (1 + 1e-9);
        if (after < before * (1 - 1e-9))
            fail_msg("round %d: %.12g with %s looser, %.12g before", i, after, knobs[moved].words, before);
        arena_free(&world->arena);
    }
    printf("%d of %d better with one of them looser, %d without a chip\n", better, rounds(300), none);
    assert_true(better > rounds(50) && none < rounds(100));
}

/* Rows of a chip by its FLOP/s, stacks and batch, bound here to what `design` binds. */
static const char *const chip_rows[] = { "bound_throughput_per_chip", "bound_cost_per_token", "designed_power",
                                         "designed_rent", "designed_area", "bound_step", "hbm_share" };
enum { TRIED = 50000, ROWS = COUNT(chip_rows) };

static void run_chips(struct world *world, const char *model, double *const *x, double **out)
{
    static const char *const varied[] = { "chip_flops", "chip_stacks", "batch" };
    struct scenario *scenario = arena_alloc(&world->arena, sizeof *scenario);
    struct values values;
    const struct command *command = line_command(&world->arena, arena_print(&world->arena, "eval batch --model %s "
        "--set chips=72 --set peak_bf16=chip_flops --set peak_fp8=2*chip_flops --set peak_int8=2*chip_flops "
        "--set peak_fp4=4*chip_flops --set hbm_bandwidth=designed_bandwidth --set hbm_capacity=designed_capacity "
        "--set chip_price=designed_rent", model), &world->error);
    if (!command || !scenario_open(scenario, &world->arena, command, command_subject(command), &world->error))
        fail_msg("%s", world->error.what);
    for (size_t i = 0; i < COUNT(varied); i++)
        facts_set(&scenario->facts, varied[i], 1, ORIGIN_AXIS, "test");
    if (!values_known(scenario, chip_rows, ROWS, &values, &world->error))
        fail_msg("%s", world->error.what);
    struct column *inputs = arena_array(&world->arena, values.graph.input_count, sizeof *inputs);
    for (size_t i = 0; i < values.graph.input_count; i++)
        inputs[i] = (struct column){ &values.inputs[i], 0 };
    for (size_t i = 0; i < COUNT(varied); i++)
        inputs[graph_input(&values.graph, varied[i])] = (struct column){ x[i], 1 };
    graph_run(&values.graph, inputs, out, TRIED);
}

/* Random chips, half of them close to the best, for models whose rows are evaluated by graph_run. */
static void chips_of_models_are_no_better(void **state)
{
    struct world *world = *state;
    double *x[3], *out[ROWS];
    uint64_t seed = 11;
    for (size_t i = 0; i < 3; i++)
        x[i] = malloc(TRIED * sizeof *x[i]);
    for (size_t i = 0; i < ROWS; i++)
        out[i] = malloc(TRIED * sizeof *out[i]);
    enum { THROUGHPUT, COST, SITE };
    static const char *const aims[] = { "throughput", "cost", "site --site-power 10GW" };
    for (int round = 0; round < rounds(9); round++) {
        const char *model = traffic[round % (int)COUNT(traffic)];
        const int aim = round / (int)COUNT(traffic) % 3;
        const double power = 500 + 1000 * draw(&seed), rent = 1 + 3 * draw(&seed), tpot = 0.005 + 0.03 * draw(&seed);
        const double area = 800 + 1600 * draw(&seed);
        assert_true(try(world, arena_print(&world->arena, "design --model %s --for %s --power %.17gW --rent %.17gUSD/h "
                                           "--area %.17g --tpot %.17gs", model, aims[aim], power,
                                           rent, area, tpot)));
        if (world->answer.status)
            continue;
        const double best[] = { figure(world, "chip_flops"), figure(world, "chip_stacks"), figure(world, "batch") };
        const double rate = figure(world, "bound_throughput") / 72, cost = figure(world, "bound_cost_per_token");
        const double watt = rate / figure(world, "designed_power");
        for (size_t i = 0; i < TRIED; i++) {
            const bool near = i % 2;
            x[0][i] = near ? best[0] * (0.95 + 0.07 * draw(&seed)) : 4e15 * draw(&seed);
            x[1][i] = near ? best[1] : 1 + floor(30 * draw(&seed));
            x[2][i] = near ? floor(best[2] * (0.95 + 0.07 * draw(&seed))) + 1 : floor(pow(1e6, draw(&seed)));
        }
        run_chips(world, model, x, out);
        double most = 0;
        size_t count = 0;
        for (size_t i = 0; i < TRIED; i++) {
            if (!(out[2][i] <= power && out[3][i] <= rent / 3600 && out[4][i] <= area && out[5][i] <= tpot && out[6][i] <= 1))
                continue;
            most = fmax(most, aim == COST ? cost / out[1][i] : aim == SITE ? out[0][i] / out[2][i] / watt : out[0][i] / rate);
            if (aim == THROUGHPUT && out[0][i] > rate * (1 - 1e-12))
                assert_true(out[1][i] >= cost * (1 - 1e-9));
            count++;
        }
        printf("%s: the best of %zu chips within the limits is %.6f as good\n", model, count, most);
        assert_true(most <= 1 + (aim == SITE ? 1e-4 : 1e-9) && most > 0.97 && count > TRIED / 20);     /* whole domains of a site */
        arena_free(&world->arena);
    }
    for (size_t i = 0; i < 3; i++)
        free(x[i]);
    for (size_t i = 0; i < ROWS; i++)
        free(out[i]);
}

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
        for (int k = 0; k < 3; k++)
            u[k] = draw(&seed);
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
    assert_true(most <= best * (1 + 1e-9));
    assert_true(most > 0.9 * best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(constants_are_fitted, world_open, world_close),
        cmocka_unit_test_setup_teardown(chips_are_found_again, world_open, world_close),
        cmocka_unit_test_setup_teardown(link_carries_the_exchange, world_open, world_close),
        cmocka_unit_test_setup_teardown(sites_power_whole_domains, world_open, world_close),
        cmocka_unit_test_setup_teardown(looser_is_no_worse, world_open, world_close),
        cmocka_unit_test_setup_teardown(chips_of_models_are_no_better, world_open, world_close),
        cmocka_unit_test_setup_teardown(random_chips_are_no_better, world_open, world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
