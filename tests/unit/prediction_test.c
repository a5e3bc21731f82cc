/* The prediction against what must be true of it: never below the bound, and exact in the
 * limits where a part has nothing to do. */
#include "test.h"
#include "commands.h"
#include "ask/ask.h"
#include "scenario/values.h"

#include "ask/ask.h"

#include <math.h>

static const char *const models[] = { "deepseek-v3", "llama-3.1-70b", "gpt-oss-120b", "qwen3-0.6b",
                                      "qwen3.5-397b-a17b", "mixtral-8x7b", "minimax-m2.5" };
static const char *const machines[] = { "h100-sxm", "b200-sxm", "gb200-nvl72", "mi300x", "rtx-4090" };

struct world {
    struct arena arena;
    struct scenario scenario;
    struct command command;
};

static void world_open(struct world *world, const char *model, const char *machine)
{
    struct error error;
    *world = (struct world){ 0 };
    world->command.verb = &verb_eval;
    command_set(&world->arena, &world->command, "batch", "64");
    if (!scenario_open(&world->scenario, &world->arena, &world->command, subject_of(model, machine),
                       &error))
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
            for (int k = 0; k < rounds(50); k++) {
                double dp = drawn(&seed, 1, 16), pp = k % 2 ? 1 : drawn(&seed, 1, 8);
                facts_set(&world.scenario.facts, "attention_dp", dp, ORIGIN_GIVEN, "test");
                facts_set(&world.scenario.facts, "pipeline_parallel", pp, ORIGIN_GIVEN, "test");
                facts_set(&world.scenario.facts, "chips", dp * pp * drawn(&seed, 1, 16), ORIGIN_GIVEN,
                          "test");
                facts_set(&world.scenario.facts, "batch", drawn(&seed, 1, 20000), ORIGIN_GIVEN, "test");
                facts_set(&world.scenario.facts, "context", drawn(&seed, 1, 200000), ORIGIN_GIVEN, "test");
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
    assert_true(value(&world, "AT(comm_time, chips = 1)") == 0);
    assert_true(value(&world, "AT(comm_time, scale_up_bandwidth = 1e200 * scale_up_bandwidth, all_reduce_latency = 0,"
                              " all_reduce_latency_per_chip = 0)") < 1e-15);
    /* without weights and cache to read, the products are left */
    double products = value(&world, "AT(gemm_time, hbm_bandwidth = 1e200 * hbm_bandwidth)");
    double compute = value(&world, "SUM(operator, operator_sustained_compute_time)");
    assert_true(fabs(products / compute - 1) < 1e-12);
    /* everything reached and nothing fixed is the bound, where memory binds */
    const char *ideal = "AT(step_time, bandwidth_efficiency_weights = 1, bandwidth_efficiency_kv = 1, efficiency_bf16 = 1,"
        " efficiency_attention = 1, all_reduce_efficiency = 1, kernel_overhead_bf16 = 0, kernel_overhead_fp8 = 0, kernel_overhead_fp4 = 0,"
        " kernel_overhead_attention = 0, kernel_overhead_small = 0, kernel_overhead_moe = 0, all_reduce_latency = 0,"
        " all_reduce_latency_per_chip = 0, scale_up_bandwidth = 1e200 * scale_up_bandwidth, host_overhead_per_step = 0, host_overhead_per_sequence = 0)";
    double over = value(&world, ideal) / value(&world, "bound_step");
    assert_true(over >= 1 && over < 1.02);
    /* the same where compute binds: at an endless batch a token costs what the bound says */
    facts_set(&world.scenario.facts, "batch", 1e6, ORIGIN_GIVEN, "test");
    facts_set(&world.scenario.facts, "context", 1, ORIGIN_GIVEN, "test");
    over = value(&world, ideal) / value(&world, "bound_step");
    assert_true(over >= 1 && over < 1.02);
    arena_free(&world.arena);
}

static bool near(double a, double b, double share)
{
    return fabs(a - b) <= share * fabs(b);
}

/* By hand: Llama-3.1-70B, bf16, 8 x H100, batch 64, 4,096 tokens. */
static void counts_by_hand(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-70b", "h100-sxm");
    double reach = value(&world, "bandwidth_efficiency_kv"), read = 64.0 * 4096 * 2 * 80 * 8 * 128 * 2;
    double cache = read / (8 * 3.35e12 * reach);
    assert_true(fabs(value(&world, "SUM(layer, layer_cache_time)") / cache - 1) < 1e-12);
    /* a layer: q with k and v, o, gate with up, down; attention; four small and two small; and
       the head once */
    double launches = 80 * (4 * value(&world, "kernel_overhead_bf16") + value(&world, "kernel_overhead_attention") +
                            (4 + 2) * value(&world, "kernel_overhead_small")) +
                      value(&world, "kernel_overhead_bf16");
    assert_true(fabs(value(&world, "kernel_overhead_time") / launches - 1) < 1e-12);
    /* a sequence that samples takes its own host time instead of a greedy one's */
    double sampled = 64 * (value(&world, "host_overhead_per_sampled") - value(&world, "host_overhead_per_sequence"));
    double more = value(&world, "AT(host_overhead_time, sampled_share = 0.5)") - value(&world, "host_overhead_time");
    assert_true(sampled > 0 && fabs(more / (sampled / 2) - 1) < 1e-12);
    double reduces = 2 * 80 * (value(&world, "all_reduce_latency") + 8 * value(&world, "all_reduce_latency_per_chip"));
    assert_true(fabs(value(&world, "all_reduce_latency_time") / reduces - 1) < 1e-12);
    arena_free(&world.arena);
}

/* By hand: DeepSeek-V3, fp8, 8 x H200 as one rank, batch 64, 4,096 tokens, cache in bf16: 61
 * layers with a latent of 576 for 128 heads, 58 with 256 experts of 3 x 7168 x 2048, 8 used. */
static void experts_and_latent_by_hand(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "deepseek-v3", "h200-sxm");
    double bandwidth = 4.8e12, tokens = 64.0 * 4096;
    double cache = tokens * 576 * 2 * 61 / (bandwidth * value(&world, "bandwidth_efficiency_kv"));
    double compute = tokens * 128 * (576 + 512) * 2 * 61 /
                     (8 * 989.5e12 * value(&world, "efficiency_attention"));
    assert_true(near(value(&world, "attention_decode_time"), cache + compute, 1e-3));
    double touched = 256 * (1 - pow(1 - 8.0 / 256, 64));
    double bytes = touched * 3 * 7168 * 2048 * 58 * (1 + 4.0 / (128 * 128));
    assert_true(near(value(&world, "SUM(operator, operator_routed * operator_sustained_read_time)"),
                     bytes / (8 * bandwidth * value(&world, "bandwidth_efficiency_moe")), 1e-9));
    double seen = value(&world, "acceptance_length");
    assert_true(seen == 1);
    assert_true(near(value(&world, "AT(acceptance_length, draft_tokens = 2, acceptance_rate = 0.5)"), 1.75, 1e-12));
    assert_true(near(value(&world, "AT(acceptance_length, draft_tokens = 2, acceptance_rate = 1)"), 3, 1e-12));
    arena_free(&world.arena);
}

/* One product for decode and prompt: dearer than either, cheaper than both, and as dear as
 * that many sequences where the head is left out. */
static void mixed_steps_are_priced_once(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-70b", "h100-sxm");
    double both = value(&world, "AT(gemm_time, prefill_chunk = 512 * one_token)");
    double decode = value(&world, "gemm_time");
    double prompt = value(&world, "AT(gemm_time, stage_running = 0, prefill_chunk = 512 * one_token)");
    assert_true(both > fmax(decode, prompt) && both < decode + prompt);
    double more = value(&world, "AT(gemm_time - SUM(operator, operator_head * operator_time),"
                                " batch = 576)");
    assert_true(near(both - value(&world, "SUM(operator, operator_head * operator_time)"), more,
                     1e-12));
    /* a chunk after others attends to them too: two halves are the whole */
    double whole = value(&world, "AT(prompt_attention_time, prefill_chunk = 4096 * one_token)");
    double halves = value(&world, "AT(prompt_attention_time, prefill_chunk = 2048 * one_token)"
                                  " + AT(prompt_attention_time, prefill_chunk = 2048 * one_token,"
                                  " prefill_done = 2048 * one_token)");
    assert_true(near(halves, whole, 1e-12));
    arena_free(&world.arena);
}

/* Between breakpoints a step is affine in the cached tokens: equal steps of context cost the
 * same. A window is a breakpoint. */
static void steps_are_affine(void **state)
{
    (void)state;
    static const struct { const char *model; double from; } cases[] = {
        { "llama-3.1-70b", 1 }, { "deepseek-v3", 1 }, { "gpt-oss-120b", 128 },
        { "qwen3.5-397b-a17b", 1 } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct world world;
        double step[3];
        world_open(&world, cases[i].model, "b200-sxm");
        for (int k = 0; k < 3; k++) {
            facts_set(&world.scenario.facts, "context", cases[i].from + 5000.0 * k, ORIGIN_GIVEN, "test");
            step[k] = value(&world, "step_time");
        }
        assert_true(near(step[2] - step[1], step[1] - step[0], 1e-9));
        arena_free(&world.arena);
    }
}

/* Two stages on twice the chips: each works on a batch of its own, as one stage would. */
static void stages_take_turns(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-70b", "h100-sxm");
    double one = value(&world, "AT(step_time, chips = 4, batch = 32)");
    double two = value(&world, "AT(step_time - pp_send_time, chips = 8, batch = 32,"
                       " pipeline_parallel = 2)");
    assert_true(near(two, one, 1e-12));
    assert_true(value(&world, "AT(pp_send_time, chips = 8, pipeline_parallel = 2)") > 0);
    arena_free(&world.arena);
}

/* An open loop at the rate that a closed one finishes at is the same server, but for the wake of random arrivals;
 * beyond what it can do it is not stable, and delivers what it can. */
static void loops_agree(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-70b", "h100-sxm");
    facts_set(&world.scenario.facts, "prompt_tokens", 2000, ORIGIN_GIVEN, "test");
    facts_set(&world.scenario.facts, "output_tokens", 500, ORIGIN_GIVEN, "test");
    double running = value(&world, "rank_running_mean"), tpot = value(&world, "predicted_tpot");
    assert_true(running > 0 && running < 64);
    facts_set(&world.scenario.facts, "arrival_rate", running / (499 * tpot), ORIGIN_GIVEN, "test");
    assert_true(near(value(&world, "rank_running_mean"), running, 0.03));
    assert_true(near(value(&world, "predicted_tpot"), tpot, 0.03));
    assert_true(value(&world, "stable") == 1);
    double most = value(&world, "saturated_throughput / output_tokens");
    facts_set(&world.scenario.facts, "arrival_rate", 1.5 * most, ORIGIN_GIVEN, "test");
    assert_true(value(&world, "stable") == 0 && value(&world, "utilization") > 1.49);
    assert_true(near(value(&world, "predicted_throughput / output_tokens"), most, 0.02));
    arena_free(&world.arena);
}

/* A prefill pool that never queues leaves the decode pool with all requests but those on
 * their way. */
static void pools_balance(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-70b", "h100-sxm");
    facts_set(&world.scenario.facts, "prefill_workers", 1000, ORIGIN_GIVEN, "test");
    facts_set(&world.scenario.facts, "prompt_tokens", 2000, ORIGIN_GIVEN, "test");
    facts_set(&world.scenario.facts, "output_tokens", 500, ORIGIN_GIVEN, "test");
    /* Little's law from outside: requests in the loop are the rate times a whole turn */
    double rate = value(&world, "disagg_throughput / output_tokens");
    double turn = value(&world, "disagg_ttft + decode_steps * disagg_tpot");
    assert_true(near(rate * turn, 64, 1e-6));
    double power = value(&world, "split_energy_per_token * disagg_throughput / disaggregated_chips");
    assert_true(power > 0.3 * 700 && power < 700);
    /* one prefill worker too few: it is the one that is full */
    facts_set(&world.scenario.facts, "prefill_workers", 1, ORIGIN_GIVEN, "test");
    facts_set(&world.scenario.facts, "prefill_chips", 1, ORIGIN_GIVEN, "test");
    facts_set(&world.scenario.facts, "batch", 512, ORIGIN_GIVEN, "test");
    double load = value(&world, "AT(disagg_prefill_utilization, rank_running = disagg_rank_running)");
    assert_true(load > 0.9 && load < 1);
    arena_free(&world.arena);
}

/* Little's law from outside, with seats for all and without. */
static void turns_add_up(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-70b", "h100-sxm");
    facts_set(&world.scenario.facts, "chips", 4, ORIGIN_GIVEN, "test");
    facts_set(&world.scenario.facts, "prompt_tokens", 4000, ORIGIN_GIVEN, "test");
    facts_set(&world.scenario.facts, "output_tokens", 500, ORIGIN_GIVEN, "test");
    for (double many = 8; many <= 2048; many *= 4) {
        facts_set(&world.scenario.facts, "concurrency", many, ORIGIN_GIVEN, "test");
        double rate = value(&world, "predicted_throughput / output_tokens");
        assert_true(near(rate * value(&world, "predicted_e2e"), many, 1e-9));
    }
    arena_free(&world.arena);
}

/* No server takes more prompts than one after the other, whatever its requests and rules. */
static void prompts_fit_in_time(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-70b", "h100-sxm");
    facts_set(&world.scenario.facts, "prompt_tokens", 8000, ORIGIN_GIVEN, "test");
    facts_set(&world.scenario.facts, "output_tokens", 50, ORIGIN_GIVEN, "test");
    for (int first = 0; first < 2; first++)
        for (int equal = 0; equal < 2; equal++) {
            facts_set(&world.scenario.facts, "prefill_first", first, ORIGIN_GIVEN, "test");
            facts_set(&world.scenario.facts, "fixed_lengths", equal, ORIGIN_GIVEN, "test");
            double busy = value(&world, "saturated_throughput / output_tokens * steady_prefill_time");
            assert_true(busy > 0.5 && busy <= 1);
        }
    /* arrivals at random queue, however equal the requests */
    facts_set(&world.scenario.facts, "arrival_rate", 0.5, ORIGIN_GIVEN, "test");
    for (int equal = 0; equal < 2; equal++) {
        facts_set(&world.scenario.facts, "fixed_lengths", equal, ORIGIN_GIVEN, "test");
        assert_true(value(&world, "prefill_queue_time") > 0);
    }
    arena_free(&world.arena);
}

/* A guess costs a layer and the head for one token of each sequence, whatever the depth. */
static void guesses_cost_alike(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "deepseek-v3", "h200-sxm");
    double one = value(&world, "AT(draft_time, draft_tokens = 1)");
    double four = value(&world, "AT(draft_time, draft_tokens = 4)");
    assert_true(near(four, 4 * one, 1e-12));
    double head = value(&world, "head_time"), step = value(&world, "device_time");
    assert_true(near(one, (step - head) / 61 + head, 1e-12));
    arena_free(&world.arena);
}

/* One user alone waits for nobody's prompt. */
static void one_user_waits_for_nobody(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-70b", "h100-sxm");
    facts_set(&world.scenario.facts, "concurrency", 1, ORIGIN_GIVEN, "test");
    assert_true(value(&world, "predicted_tpot") == value(&world, "decode_step"));
    arena_free(&world.arena);
}

/* Prompts overlap in stages: more stages, more prompts. */
static void stages_take_prompts(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-70b", "h100-sxm");
    facts_set(&world.scenario.facts, "prompt_tokens", 4000, ORIGIN_GIVEN, "test");
    facts_set(&world.scenario.facts, "concurrency", 64, ORIGIN_GIVEN, "test");
    double one = value(&world, "prefill_alone"), load = value(&world, "prefill_utilization");
    facts_set(&world.scenario.facts, "pipeline_parallel", 4, ORIGIN_GIVEN, "test");
    assert_true(value(&world, "prefill_alone") > 1.2 * one);
    assert_true(value(&world, "prefill_utilization") < load);
    arena_free(&world.arena);
}

/* vLLM 0.19 with Llama-3.1-8B in bf16 on an RTX 4090, at 0.90 of its memory and 2,048 tokens a
 * pass, has 2,588 blocks of 16 tokens, as its start-up log says. */
static void blocks_as_vllm_counts(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-8b", "rtx-4090");
    facts_set(&world.scenario.facts, "chips", 1, ORIGIN_GIVEN, "test");
    facts_set(&world.scenario.facts, "gpu_memory_utilization", 0.9, ORIGIN_GIVEN, "test");
    facts_set(&world.scenario.facts, "chunked_prefill_size", 2048, ORIGIN_GIVEN, "test");
    double blocks = value(&world, "kv_capacity_per_chip / (kv_per_token * kv_block_tokens)");
    assert_true(near(blocks, 2588, 0.03));
    double seats = value(&world, "AT(kv_slots, kv_blocks_reported = 2588)");
    assert_true(near(value(&world, "kv_slots"), seats, 0.03));
    arena_free(&world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_below_the_bound),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(counts_by_hand),
        cmocka_unit_test(experts_and_latent_by_hand),
        cmocka_unit_test(mixed_steps_are_priced_once),
        cmocka_unit_test(steps_are_affine),
        cmocka_unit_test(stages_take_turns),
        cmocka_unit_test(loops_agree),
        cmocka_unit_test(pools_balance),
        cmocka_unit_test(turns_add_up),
        cmocka_unit_test(prompts_fit_in_time),
        cmocka_unit_test(guesses_cost_alike),
        cmocka_unit_test(stages_take_prompts),
        cmocka_unit_test(one_user_waits_for_nobody),
        cmocka_unit_test(blocks_as_vllm_counts),
    };
    return cmocka_run_group_tests_name("prediction", tests, NULL, NULL);
}
