/* The prediction against what must be true of it: never below the bound, and exact in the
 * limits where a part has nothing to do. */
#include "test.h"

#include "ask/ask.h"

#include <math.h>

static const char *const models[] = { "deepseek-v3", "llama-3.1-70b", "gpt-oss-120b", "qwen3-0.6b",
                                      "qwen3.5-397b-a17b", "mixtral-8x7b", "minimax-m2.5" };
static const char *const machines[] = { "h100-sxm", "b200-sxm", "gb200-nvl72", "mi300x", "rtx-4090" };

struct world {
    struct arena arena;
    struct scenario scenario;
    struct question question;
};

static void world_open(struct world *world, const char *model, const char *machine)
{
    struct error error;
    *world = (struct world){ 0 };
    world->question.option[OPTION_BATCH] = "64";
    if (!scenario_open(&world->scenario, &world->arena, &world->question, model, machine, &error))
        fail_msg("%s (%s)", error.what, error.hint);
}

static double value(struct world *world, const char *text)
{
    struct error error;
    double number;
    if (!value_of(&world->scenario, text, &number, &error))
        fail_msg("%s: %s (%s)", text, error.what, error.hint);
    return number;
}

static double drawn(uint64_t *state, double low, double high)
{
    return floor(low * pow(high / low, draw(state)) + 0.5);
}

/* 7 models x 5 machines x 200 draws of chips, ranks, batch, context. */
static void never_below_the_bound(void **state)
{
    (void)state;
    uint64_t seed = 20261121;
    size_t compared = 0;
    double closest = INFINITY;
    for (size_t m = 0; m < COUNT(models); m++)
        for (size_t h = 0; h < COUNT(machines); h++) {
            struct world world;
            world_open(&world, models[m], machines[h]);
            for (int k = 0; k < 200; k++) {
                double dp = drawn(&seed, 1, 16);
                facts_set(&world.scenario.facts, "attention_dp", dp, "test");
                facts_set(&world.scenario.facts, "chips", dp * drawn(&seed, 1, 16), "test");
                facts_set(&world.scenario.facts, "batch", drawn(&seed, 1, 20000), "test");
                facts_set(&world.scenario.facts, "context", drawn(&seed, 1, 200000), "test");
                double over = value(&world, "step_over_bound");
                closest = fmin(closest, over);
                if (!(over >= 1))
                    fail_msg("%s on %s: %.4f of the bound", models[m], machines[h], over);
                compared++;
            }
            arena_free(&world.arena);
        }
    print_message("%zu steps, the closest %.2f x its bound\n", compared, closest);
}

static void limits_hold(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-70b", "h100-sxm");
    /* one chip has nothing to reduce; a free network costs nothing */
    assert_true(value(&world, "AT(link_time, chips = 1)") == 0);
    assert_true(value(&world, "AT(link_time, scale_up_bandwidth = 1e200 * scale_up_bandwidth, reduce_start = 0,"
                              " reduce_per_chip = 0)") < 1e-15);
    /* without weights and cache to read, the products are left */
    double products = value(&world, "AT(products_time, hbm_bandwidth = 1e200 * hbm_bandwidth)");
    double compute = value(&world, "SUM(operator, operator_compute)");
    assert_true(fabs(products / compute - 1) < 1e-12);
    /* everything reached and nothing fixed is the bound, where memory binds */
    const char *ideal = "AT(step_time, reach_weights = 1, reach_kv = 1, reach_bf16 = 1,"
        " reach_attention = 1, reach_link = 1, launch_bf16 = 0, launch_fp8 = 0, launch_fp4 = 0, launch_attention = 0, launch_small = 0,"
        " launch_experts = 0, reduce_start = 0, reduce_per_chip = 0, scale_up_bandwidth = 1e200 * scale_up_bandwidth,"
        " host_step = 0, host_sequence = 0)";
    double over = value(&world, ideal) / value(&world, "bound_step");
    assert_true(over >= 1 && over < 1.02);
    arena_free(&world.arena);
}

/* By hand: Llama-3.1-70B, bf16, 8 x H100, batch 64, 4,096 tokens. */
static void counts_by_hand(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-70b", "h100-sxm");
    double reach = value(&world, "reach_kv"), read = 64.0 * 4096 * 2 * 80 * 8 * 128 * 2;
    double cache = read / (8 * 3.35e12 * reach);
    assert_true(fabs(value(&world, "SUM(layer, layer_cache_time)") / cache - 1) < 1e-12);
    double launches = 80 * ((3 + 2) * value(&world, "launch_large") +
                            (4 + 2) * value(&world, "launch_small"));
    assert_true(fabs(value(&world, "launch_time") / launches - 1) < 1e-12);
    double reduces = 2 * 80 * (value(&world, "reduce_start") + 8 * value(&world, "reduce_per_chip"));
    assert_true(fabs(value(&world, "reduce_fixed_time") / reduces - 1) < 1e-12);
    arena_free(&world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_below_the_bound),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(counts_by_hand),
    };
    return cmocka_run_group_tests_name("prediction", tests, NULL, NULL);
}
