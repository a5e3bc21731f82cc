/* Single kernels: counts and times worked out by hand, limits, constants by family, and the
 * reader of their measurements. */
#include "scenario/values.h"
#include "test.h"

#include "ask/ask.h"
#include "score/measured.h"

#include <math.h>

struct world {
    struct arena arena;
    struct scenario scenario;
    struct command command;
};

struct fixed {
    const char *name;
    double value;
};

static void world_open(struct world *world, const char *machine, const char *engine)
{
    struct error error;
    *world = (struct world){ 0 };
    const struct subject subject = { .machine = machine, .engine = engine };
    if (!scenario_read(&world->scenario, &world->arena, &world->command, subject, &error))
        fail_msg("%s (%s)", error.what, error.hint);
}

static void fix(struct world *world, const struct fixed *fixed, size_t count)
{
    for (size_t i = 0; i < count; i++)
        facts_set(&world->scenario.facts, fixed[i].name, fixed[i].value, ORIGIN_GIVEN, "test");
}

static double value(struct world *world, const char *text)
{
    struct error error;
    double number;
    if (!value_of(&world->scenario, text, &number, &error))
        fail_msg("%s: %s (%s)", text, error.what, error.hint);
    return number;
}

static void near(struct world *world, const char *text, double expected)
{
    double got = value(world, text);
    if (!(fabs(got - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%s = %.12g, by hand %.12g", text, got, expected);
}

/* m 2,048, n 4,096, k 7,168 in fp8 with a scale a block, on 1,979 TFLOP/s and 3.35 TB/s. */
static void product_by_hand(void **state)
{
    (void)state;
    static const struct fixed fixed[] = {
        { "kernel_m", 2048 }, { "kernel_n", 4096 }, { "kernel_k", 7168 },
        { "gemm_launch_fp8_block", 5e-6 }, { "gemm_reach_fp8_block", 0.5 },
        { "gemm_reach_memory", 0.8 }, { "gemm_reach_quantise", 0.6 }, { "gemm_walk", 1e-9 },
    };
    struct world world;
    world_open(&world, "h100-sxm", NULL);
    fix(&world, fixed, COUNT(fixed));
    near(&world, "gemm_flops", 120259084288.0);
    near(&world, "AT(gemm_bytes, kernel_width = width_fp8)", 60817408.0);
    double compute = 120259084288.0 / (0.5 * 1979e12), memory = 60817408.0 / (0.8 * 3.35e12);
    double quantise = 3.0 * 2048 * 7168 / (0.6 * 3.35e12), walk = 7168e-9;
    near(&world, "gemm_fp8_block",
         5e-6 + quantise + sqrt(compute * compute + memory * memory + walk * walk));
    arena_free(&world.arena);
}

/* 8 sequences of 4,096 tokens, 32 heads on 8, 128 wide; then a prompt; then a latent cache. */
static void attention_by_hand(void **state)
{
    (void)state;
    static const struct fixed fixed[] = {
        { "kernel_batch", 8 }, { "kernel_context", 4096 }, { "kernel_heads", 32 },
        { "kernel_kv_heads", 8 }, { "kernel_head_dim", 128 },
        { "attention_decode_launch_bf16", 11e-6 }, { "attention_decode_reach", 0.8 },
        { "attention_decode_walk", 4e-10 }, { "attention_prefill_launch", 2e-5 },
        { "attention_prefill_reach_bf16", 0.5 }, { "attention_prefill_row", 5e-10 },
    };
    struct world world;
    world_open(&world, "h100-sxm", NULL);
    fix(&world, fixed, COUNT(fixed));
    near(&world, "AT(attention_decode_bytes, kernel_width = width_bf16)", 134348800.0);
    near(&world, "attention_decode_bf16",
         11e-6 + hypot(134348800.0 / (0.8 * 3.35e12), 4096 * 4e-10));
    near(&world, "AT(attention_prefill_flops, kernel_heads = 64)", 2199023255552.0);
    near(&world, "AT(attention_prefill_bf16, kernel_heads = 64)",
         2e-5 + 2199023255552.0 / (0.5 * 989e12) + 8 * 64 * 4096 * 5e-10);
    near(&world, "AT(mla_flops, kernel_batch = 16, kernel_heads = 128)", 18253611008.0);
    near(&world, "AT(mla_bytes, kernel_batch = 16, kernel_width = width_bf16)", 75497472.0);
    arena_free(&world.arena);
}

/* 64 tokens, 8 of 128 experts each, over 8 chips: 64 choices fall on a chip, on its 16. */
static void experts_by_hand(void **state)
{
    (void)state;
    static const struct fixed fixed[] = {
        { "kernel_tokens", 64 }, { "kernel_hidden", 4096 }, { "kernel_intermediate", 1536 },
        { "kernel_experts", 128 }, { "kernel_top_k", 8 }, { "kernel_moe_ep", 8 },
        { "experts_launch_bf16", 3e-5 }, { "experts_reach_bf16", 0.9 },
        { "experts_reach_memory", 0.88 }, { "experts_passes", 6 },
    };
    struct world world;
    world_open(&world, "h100-sxm", NULL);
    fix(&world, fixed, COUNT(fixed));
    near(&world, "expert_weights", 18874368.0);
    near(&world, "local_slots", 64);
    near(&world, "local_touched", 16);
    near(&world, "moe_bf16", 3e-5 + 2415919104.0 / (0.9 * 989e12) +
                             603979776.0 / (0.88 * 3.35e12) + 6 * 2 * 4096 * 128 / 3.35e12);
    near(&world, "AT(local_touched, kernel_tokens = 1 * one_token)", 1);
    near(&world, "AT(local_touched, kernel_tokens = 1 * one_token, kernel_moe_ep = 1)", 8);
    near(&world, "AT(moe_bf16, kernel_moe_tp = 8) - experts_launch_bf16 - experts_move",
         (2415919104.0 / (0.9 * 989e12) + 603979776.0 / (0.88 * 3.35e12)) / 8);
    arena_free(&world.arena);
}

/* Loads between 1 and 0.8 tokens: the busiest of 32 chips, and what 64 tokens touch. */
static void skew_by_hand(void **state)
{
    (void)state;
    static const struct fixed fixed[] = {
        { "kernel_tokens", 4096 }, { "kernel_experts", 128 }, { "kernel_top_k", 8 },
        { "kernel_moe_ep", 32 }, { "kernel_skew", 1 },
    };
    struct world world;
    world_open(&world, "h100-sxm", NULL);
    fix(&world, fixed, COUNT(fixed));
    near(&world, "skew_range", 3276.8);
    double r = 3276.8, spread = (r * r - 1) * log(r) / (2 * (r - 1) * (r - 1)) - 1;
    double hot = 1 + (sqrt(2 * log(32)) - 0.6) * sqrt(spread / 4);
    assert_true(hot > 2.7 && hot < 2.8);
    near(&world, "local_slots", 1024 * hot);
    near(&world, "AT(local_touched, kernel_tokens = 64 * one_token, kernel_moe_ep = 1)",
         128 * (1 + log(2 * 4 * log(51.2) / 50.2) / log(51.2)));
    near(&world, "AT(local_slots, kernel_skew = 0)", 1024);
    arena_free(&world.arena);
}

/* 16 MB over 8 chips with 450 GB/s each: 28 MB leave a chip in an all-reduce. */
static void collective_by_hand(void **state)
{
    (void)state;
    static const struct fixed fixed[] = {
        { "collective_ranks", 8 }, { "kernel_message", 16e6 }, { "nccl_start", 8e-6 },
        { "nccl_step", 1e-6 }, { "nccl_reach", 0.8 }, { "nccl_half", 4e6 },
        { "custom_start", 4e-6 }, { "custom_per_chip", 1e-7 }, { "custom_reach", 0.5 },
    };
    struct world world;
    world_open(&world, "h100-sxm", NULL);
    fix(&world, fixed, COUNT(fixed));
    double large = 22e-6 + (28e6 + sqrt(28e6 * 4e6)) / (0.8 * 450e9);
    near(&world, "nccl_all_reduce", large);
    near(&world, "custom_allreduce", large);
    near(&world, "nccl_all_gather", 15e-6 + (14e6 + sqrt(14e6 * 4e6)) / (0.8 * 450e9));
    near(&world, "AT(custom_allreduce, kernel_message = 64e3 * width_fp8)",
         4.8e-6 + 7 * 64e3 / (0.5 * 450e9));
    arena_free(&world.arena);
}

static void limits_hold(void **state)
{
    (void)state;
    static const char *const nothing[][2] = {
        { "AT(gemm_bf16, kernel_m = 1e-12 * one_token, kernel_n = 1e-12, kernel_k = 1e-12)",
          "gemm_launch_bf16" },
        { "AT(attention_decode_fp8, kernel_batch = 1e-12, kernel_context = 1e-12 * one_token)",
          "attention_decode_launch_fp8" },
        { "AT(attention_prefill_bf16, kernel_context = 1e-12 * one_token)",
          "attention_prefill_launch" },
        { "AT(mla_decode_bf16, kernel_batch = 1e-12, kernel_context = 1e-20 * one_token)",
          "mla_launch" },
        { "AT(moe_bf16, kernel_tokens = 1e-12 * one_token, kernel_hidden = 1e-12)",
          "experts_launch_bf16" },
        { "AT(nccl_all_reduce, kernel_message = 0)", "nccl_start + 14 * nccl_step" },
    };
    struct world world;
    world_open(&world, "b200-sxm", NULL);
    for (size_t i = 0; i < COUNT(nothing); i++)
        assert_true(fabs(value(&world, nothing[i][0]) / value(&world, nothing[i][1]) - 1) < 1e-6);
    /* with all bandwidth there is, a product multiplies */
    near(&world, "AT(gemm_fp4, hbm_bandwidth = 1e200 * hbm_bandwidth, gemm_launch_fp4 = 0,"
                 " gemm_walk_fp4 = 0)",
         value(&world, "gemm_flops / (peak_fp4 * gemm_reach_fp4)"));
    near(&world, "AT(moe_bf16, hbm_bandwidth = 1e200 * hbm_bandwidth, experts_launch_bf16 = 0)",
         value(&world, "AT(experts_compute, kernel_peak = peak_bf16,"
                       " kernel_reach = experts_reach_bf16)"));
    arena_free(&world.arena);
}

/* H200 is of the family of H100, MI300X of one that nobody measured. */
static void families_differ(void **state)
{
    (void)state;
    struct world h100, h200, mi300x, engine;
    world_open(&h100, "h100-sxm", NULL);
    world_open(&h200, "h200-sxm", NULL);
    world_open(&mi300x, "mi300x", NULL);
    world_open(&engine, "h100-sxm", "vllm");
    assert_true(value(&h100, "gemm_reach_bf16") == value(&h200, "gemm_reach_bf16"));
    assert_true(value(&h100, "gemm_reach_bf16") == value(&engine, "gemm_reach_bf16"));
    assert_true(value(&h100, "gemm_reach_bf16") != value(&mi300x, "gemm_reach_bf16"));
    assert_true(value(&h100, "host_overhead_per_step") != value(&engine, "host_overhead_per_step"));
    assert_true(value(&h100, "kernel_band_low") == value(&h100, "kernel_low"));
    assert_true(value(&mi300x, "kernel_band_low") < value(&h100, "kernel_band_low"));
    assert_true(value(&mi300x, "kernel_band_high") > value(&h100, "kernel_band_high"));
    struct world family = { 0 };
    const struct subject of_family = { .machine = "h100-sxm", .engine = "hopper" };
    struct error error;
    assert_false(scenario_read(&family.scenario, &family.arena, &family.command, of_family,
                               &error));
    struct world *all[] = { &h100, &h200, &mi300x, &engine, &family };
    for (size_t i = 0; i < COUNT(all); i++)
        arena_free(&all[i]->arena);
}

static double input_of(const struct measured *point, const char *name)
{
    for (int i = 0; i < point->input_count; i++)
        if (!strcmp(point->inputs[i].name, name))
            return point->inputs[i].value;
    return NAN;
}

static void rows_are_read(void **state)
{
    (void)state;
    static const char text[] =
        "hardware,op,dtype,shape,gpus,latency,unit,source\n"
        "H100-SXM,gemm,fp8_block,m=8 n=1024 k=8192,1,16.5,us,here\n"
        "H100-SXM,attention_decode,bfloat16/kv fp8,"
        "batch=4 heads=64 kv_heads=8 head_dim=128 context=2047,1,9.5,us,here\n"
        "H100-SXM,moe_experts,bfloat16,tokens=1 hidden=4096 inter=1536 topk=8 experts=128 "
        "moe_tp=1 moe_ep=32 routing=power_law_1.01,1,40,us,here\n"
        "H100-SXM,nccl_all_gather,int8,message_elements=4096,4,7.2,us,here\n"
        "H100-SXM,gemm,int3,m=8 n=1024 k=8192,1,16.5,us,here\n"
        "H100-SXM,gemm,fp8,m=8 n=1024,1,16.5,us,here\n"
        "H100-SXM,gemm,fp8,m=8 n=1024 k=8192,1,16.5,ms,here\n";
    struct arena arena = { 0 };
    struct measured_list list = { 0 };
    struct error error;
    struct csv csv;
    assert_true(csv_read(&arena, "k.csv", text_of(text), &csv, &error));
    assert_true(measured_read(&arena, &csv, &list, &error));
    assert_int_equal(list.count, 7);
    const struct measured *point = list.points;
    assert_string_equal(point[0].kind, "gemm fp8_block");
    assert_string_equal(point[0].values[0].row, "gemm_fp8_block");
    assert_true(!point[0].model && fabs(point[0].values[0].value - 16.5e-6) < 1e-15);
    assert_true(input_of(&point[0], "kernel_n") == 1024);
    assert_true(input_of(&point[1], "kernel_kv_heads") == 8);
    assert_true(input_of(&point[2], "kernel_skew") == 1);
    assert_true(input_of(&point[3], "kernel_message") == 4096);
    for (int i = 0; i < 4; i++)
        assert_null(point[i].refused);
    for (int i = 4; i < 7; i++)
        assert_non_null(point[i].refused);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product_by_hand),    cmocka_unit_test(attention_by_hand),
        cmocka_unit_test(experts_by_hand),    cmocka_unit_test(skew_by_hand),
        cmocka_unit_test(collective_by_hand), cmocka_unit_test(limits_hold),
        cmocka_unit_test(families_differ),    cmocka_unit_test(rows_are_read),
    };
    return cmocka_run_group_tests_name("kernels of a chip", tests, NULL, NULL);
}
