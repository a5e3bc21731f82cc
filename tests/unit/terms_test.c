/* Terms of a prediction that only some servers have, each against its formula by hand: engines of 2024,
 * grouped queries in them, messages that go through NCCL, open loops, static batches. */
#include "test.h"
#include "commands.h"
#include "ask/ask.h"
#include "scenario/values.h"

#include <math.h>

struct world {
    struct arena arena;
    struct scenario scenario;
    struct command command;
};

static void world_open(struct world *world, const char *model, const char *machine, const char *engine)
{
    struct subject subject = subject_of(model, machine);
    struct error error;
    *world = (struct world){ 0 };
    world->command.verb = &verb_eval;
    command_set(&world->arena, &world->command, "batch", "64");
    subject.engine = engine;
    if (!scenario_open(&world->scenario, &world->arena, &world->command, subject, &error))
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


static void set(struct world *world, const char *name, double number)
{
    facts_set(&world->scenario.facts, name, number, ORIGIN_GIVEN, "test");
}

static bool near(double a, double b, double share)
{
    return fabs(a - b) <= share * fabs(b);
}

/* An engine of 2024 is its engine, with what engines of that time share: worker processes that
 * start a step later where there are several, and NCCL's start of an all-reduce. */
static void engines_of_2024(void **state)
{
    (void)state;
    static const char *const engines[][2] = { { "vllm", "vllm-2024" }, { "trtllm", "trtllm-2024" } };
    for (size_t i = 0; i < COUNT(engines); i++) {
        struct world now, then;
        world_open(&now, "llama-3.1-70b", "h100-sxm", engines[i][0]);
        world_open(&then, "llama-3.1-70b", "h100-sxm", engines[i][1]);
        assert_true(value(&now, "steps_ahead") == 1 && value(&then, "steps_ahead") == 0);
        assert_true(value(&now, "host_overhead_workers") == 0);
        assert_true(value(&now, "host_overhead_per_step") == value(&then, "host_overhead_per_step"));
        assert_true(value(&now, "ttft_base") == value(&then, "ttft_base"));
        double workers = value(&then, "host_overhead_workers");
        double more = value(&then, "AT(host_overhead_time, chips = 4)");
        double less = value(&then, "AT(host_overhead_time, chips = 1)");
        assert_true(workers > 0 && near(more - less, workers, 1e-9));
        assert_true(less == value(&now, "AT(host_overhead_time, chips = 4)"));
        /* 80 layers, two all-reduces each */
        double start = value(&then, "all_reduce_latency"), step = value(&then, "all_reduce_latency_per_chip");
        assert_true(near(value(&then, "AT(all_reduce_latency_time, chips = 4)"), 160 * (start + 4 * step),
                         1e-12));
        assert_true(start > 2 * value(&now, "all_reduce_latency"));
        arena_free(&now.arena);
        arena_free(&then.arena);
    }
}

/* 64 sequences of 4,096 tokens on one H100 in bf16: Llama-3-8B has 32 query heads for 8 KV heads, which
 * engines of 2024 read more than once; Llama-2-7B has one KV head for each. */
static void grouped_queries_of_2024(void **state)
{
    (void)state;
    static const struct { const char *model; double kv_heads; bool grouped; } cases[] = {
        { "llama-3-8b", 8, true }, { "llama-2-7b", 32, false } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct world now, then;
        world_open(&now, cases[i].model, "h100-sxm", "vllm");
        world_open(&then, cases[i].model, "h100-sxm", "vllm-2024");
        double read = 64.0 * 4096 * 32 * 2 * cases[i].kv_heads * 128 * 2 / 3.35e12;
        double plain = read / value(&now, "bandwidth_efficiency_kv");
        double share = value(&then, "kv_group_efficiency");
        assert_true(share < 1);
        assert_true(near(value(&now, "AT(SUM(layer, layer_cache_time), chips = 1)"), plain, 1e-12));
        plain = read / value(&then, "bandwidth_efficiency_kv");
        assert_true(near(value(&then, "AT(SUM(layer, layer_cache_time), chips = 1)"),
                         cases[i].grouped ? plain / share : plain, 1e-12));
        arena_free(&now.arena);
        arena_free(&then.arena);
    }
}

/* Offline, 32 prompts of 1,000 tokens and 200 tokens each: 32,000 tokens in passes of 8,000, 199 steps of
 * 32 sequences with 1,100 tokens each on average, and 200 tokens for each request. */
static void static_batches(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3-8b", "h100-sxm", "vllm-2024");
    set(&world, "chips", 1);
    set(&world, "concurrency", 32);
    set(&world, "prompt_tokens", 1000);
    set(&world, "output_tokens", 200);
    set(&world, "chunked_prefill_size", 8000);
    double pass = value(&world, "AT(step_time - prompt_attention_time, rank_running = rank_running_min,"
                                " context = 1100 * one_token, prefill_chunk = 8000 * one_token)") +
                  8 * value(&world, "request_overhead");
    double attention = value(&world, "AT(prompt_attention_time, prefill_chunk = 1000 * one_token,"
                                     " prefill_done = 0)");
    double step = value(&world, "AT(step_time, batch = 32, context = 1100 * one_token, prefill_chunk = 0)");
    double time = 4 * pass + 32 * attention + 199 * step;
    assert_true(near(value(&world, "static_batch_time"), time, 1e-9));
    assert_true(near(value(&world, "static_batch_tpot"), time / 200, 1e-9));
    /* one token each is the prompts alone */
    set(&world, "output_tokens", 1);
    assert_true(near(value(&world, "static_batch_tpot"), 4 * pass + 32 * attention, 1e-6));
    arena_free(&world.arena);
}

/* Experts are read at rates of their own, other matrices at that of their width: gpt-oss has
 * 36 layers of 128 experts of 3 x 2880 x 2880 with 4.25 bits a weight, of which 8 sequences touch some. */
static void experts_are_read_at_their_own_rate(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "gpt-oss-120b", "b200-sxm", NULL);
    set(&world, "chips", 1);
    set(&world, "batch", 8);
    double bytes = 36 * 128 * (1 - pow(1 - 4.0 / 128, 8)) * 3 * 2880 * 2880 * 0.53125;
    double read = bytes / (value(&world, "hbm_bandwidth") * value(&world, "bandwidth_efficiency_moe_fp4"));
    const char *experts = "SUM(operator, operator_routed * operator_sustained_read_time)";
    assert_true(near(value(&world, experts), read, 5e-3));       /* and their biases */
    /* neither of the others moves it, nor it the others */
    const char *both = "AT(SUM(operator, operator_routed * operator_sustained_read_time),"
                       " bandwidth_efficiency_weights = 0.1, bandwidth_efficiency_weights_fp4 = 0.1)";
    assert_true(value(&world, both) == value(&world, experts));
    const char *rest = "SUM(operator, (1 - operator_routed) * operator_sustained_read_time)";
    assert_true(value(&world, arena_print(&world.arena, "AT(%s, bandwidth_efficiency_moe = 0.1,"
                                          " bandwidth_efficiency_moe_fp4 = 0.1)", rest)) ==
                value(&world, rest));
    arena_free(&world.arena);
}

/* DeepSeek-V4-Pro: 61 layers of attention and of experts with four residual streams of 7,168 in 16 bits. A
 * pass of 1,000 tokens moves every stream four times around each half. Its indexer, in 30 of the layers with
 * a ratio of 4, multiplies 64 heads of 128 with every entry, and reads keys of 8 bits with their scales. */
static void streams_and_indexers(void **state)
{
    (void)state;
    struct world world, plain;
    world_open(&world, "deepseek-v4-pro", "b200-sxm", NULL);
    world_open(&plain, "deepseek-v3", "b200-sxm", NULL);
    double bytes = 2.0 * 61 * 1000 * 4 * 4 * 7168 * 2;
    double rate = value(&world, "hbm_bandwidth * bandwidth_efficiency_weights");
    assert_true(near(value(&world, "AT(stream_time, stream_passes = 4, stage_running = 0,"
                                   " prefill_chunk = 1000 * one_token)"), bytes / rate, 1e-9));
    double streams = value(&world, "kernel_overhead_time - AT(kernel_overhead_time, residual_streams = 1)");
    assert_true(near(streams, 2 * 61 * 3 * value(&world, "kernel_overhead_small"), 1e-9));
    /* they are part of a step and of a prompt's pass */
    double step = value(&world, "stream_time");
    double less = value(&world, "step_time - AT(step_time, stream_passes = 0)");
    assert_true(step > 0 && near(less, step, 1e-9));
    double pass = value(&world, "AT(step_time, prefill_chunk = 1000 * one_token)"
                                " - AT(step_time, prefill_chunk = 1000 * one_token, stream_passes = 0)");
    assert_true(near(pass, value(&world, "AT(stream_time, prefill_chunk = 1000 * one_token)"), 1e-9));
    double scores = value(&world, "SUM(layer, layers_alike * index_macs * entries_per_token)");
    double keys = value(&world, "SUM(layer, layers_alike * entries_per_token * index_elements"
                                " * index_bytes)");
    assert_true(near(scores, 30.0 * 64 * 128 / 4, 1e-9));
    assert_true(near(keys, 30.0 * 128 * (1 + 4.0 / 128) / 4, 1e-9));
    /* a model without streams has none of it */
    assert_true(value(&plain, "residual_streams") == 1 && value(&plain, "stream_time") == 0);
    assert_true(value(&plain, "AT(kernel_overhead_time, small_kernels_streams = 9)") ==
                value(&plain, "kernel_overhead_time"));
    arena_free(&world.arena);
    arena_free(&plain.arena);
}

/* Llama-3.1-70B over 8 H100: 160 all-reduces of vectors of 8,192 in 16 bits over 450 GB/s. Those of 64
 * sequences run in the engine's own kernel, those of 8,192 prompt tokens through NCCL. */
static void long_messages_go_through_nccl(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-70b", "h100-sxm", "vllm");
    double link = value(&world, "scale_up_bandwidth"), bytes = 2.0 * 7 / 8 * 64 * 8192 * 2;
    double own = bytes / link / value(&world, "all_reduce_efficiency") +
                 sqrt(bytes / link * value(&world, "all_reduce_transition_time"));
    assert_true(near(value(&world, "all_reduce_transfer_time"), 160 * own, 1e-9));
    bytes = 2.0 * 7 / 8 * 8192 * 8192 * 2;
    double nccl = (bytes + sqrt(bytes * value(&world, "nccl_half"))) / (link * value(&world, "nccl_reach")) +
                  value(&world, "nccl_start") + 2 * 7 * value(&world, "nccl_step") -
                  value(&world, "all_reduce_latency") - 8 * value(&world, "all_reduce_latency_per_chip");
    const char *prompt = "AT(all_reduce_transfer_time, stage_running = 0, prefill_chunk = 8192 * one_token)";
    assert_true(near(value(&world, prompt), 160 * nccl, 1e-9));
    assert_true(nccl < bytes / link / value(&world, "all_reduce_efficiency") +
                       sqrt(bytes / link * value(&world, "all_reduce_transition_time")));
    /* more tokens take longer, wherever the two meet */
    double before = 0;
    for (double tokens = 1; tokens < 1e5; tokens *= 1.3) {
        double time = value(&world, arena_print(&world.arena, "AT(all_reduce_transfer_time, batch = %g)",
                                                tokens));
        assert_true(time > before);
        before = time;
    }
    arena_free(&world.arena);
}

/* Requests that arrive at a rate find an idle server at first, whose step with their prompt is all they wait for besides
 * the API; a busy one has half a step left, and one more in flight. Only a benchmark's loop has a load generator's time. */
static void open_loops(void **state)
{
    (void)state;
    static const char *const engines[] = { "vllm", "vllm-2024" };
    for (size_t i = 0; i < COUNT(engines); i++) {
        struct world world;
        world_open(&world, "llama-3.1-70b", "h100-sxm", engines[i]);
        set(&world, "prompt_tokens", 2000);
        set(&world, "output_tokens", 200);
        const char *rest = "ttft_admitted - burst_wait_time - prefill_queue_time - ttft_per_prompt_token * prompt_tokens";
        set(&world, "arrival_rate", 1e-6);
        double alone = value(&world, "AT(prompt_step, rank_running = rank_running_min)");
        assert_true(near(value(&world, rest), 5e-3 + alone, 5e-3));
        set(&world, "arrival_rate", 2);
        double steps = i == 0 ? 2.5 : 1.5, met = value(&world, "ttft_steps_time / decode_step");
        assert_true(met > steps - 0.1 && met < 2 * steps);
        assert_true(value(&world, "burst_wait_time") == 0);
        set(&world, "arrival_rate", 0);
        double loop = value(&world, "ttft_admitted");
        set(&world, "load_generator", 1);
        assert_true(near(value(&world, "ttft_admitted - burst_wait_time"), loop + value(&world, "ttft_base + prompt_launch_time - api_time"),
                         1e-9));
        arena_free(&world.arena);
    }
}

/* An engine that sends 20 tokens together keeps the first until the 20th, or the last of a short output;
 * the last token comes as it would. */
static void streaming_intervals(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3.1-70b", "b200-sxm", "trtllm");
    set(&world, "prompt_tokens", 1000);
    set(&world, "output_tokens", 200);
    double first = value(&world, "predicted_ttft"), whole = value(&world, "predicted_e2e");
    double tpot = value(&world, "predicted_tpot"), split = value(&world, "disagg_ttft");
    double split_tpot = value(&world, "disagg_tpot");
    set(&world, "streaming_interval", 20);
    assert_true(near(value(&world, "predicted_ttft"), first + 19 * tpot, 1e-9));
    assert_true(near(value(&world, "disagg_ttft"), split + 19 * split_tpot, 1e-9));
    assert_true(value(&world, "predicted_e2e") == whole && value(&world, "predicted_tpot") == tpot);
    set(&world, "output_tokens", 8);
    assert_true(near(value(&world, "stream_delay"), 7 * value(&world, "predicted_tpot"), 1e-9));
    arena_free(&world.arena);
}

/* A chip draws its idle power while kernels are launched and while the host schedules; more while it reads,
 * draws tokens or computes, up to its limit. */
static void power_by_hand(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "llama-3-8b", "h100-sxm", "vllm");
    set(&world, "chips", 1);
    double context = value(&world, "mean_context");
    set(&world, "context", context);
    double step = value(&world, "step_time");
    double idle = value(&world, "kernel_overhead_time + host_overhead_time");
    assert_true(near(value(&world, "chip_busy"), 1 - idle / step, 1e-9));
    /* 64 tokens times 7.50e9 weights of all matrices but the embedding's */
    double compute = value(&world, "SUM(operator, operator_sustained_compute_time)"), weights = 7504924672.0;
    assert_true(near(compute, 2 * 64 * weights / value(&world, "sustained_bf16"), 1e-3));
    assert_true(near(value(&world, "chip_computing"), compute / step, 1e-9));
    double share = value(&world, "idle_power") + value(&world, "busy_power") * (1 - idle / step) +
                   value(&world, "compute_power") * compute / step;
    assert_true(share < 1 && near(value(&world, "chip_power_share"), share, 1e-9));
    /* drawing tokens takes host time that is the chip's */
    double drawn = 64 * value(&world, "host_overhead_per_sampled");
    double fixed = value(&world, "kernel_overhead_time + host_time_fixed");
    set(&world, "sampled_share", 1);
    assert_true(near(value(&world, "chip_busy"), 1 - fixed / (value(&world, "step_time")), 1e-9));
    assert_true(near(value(&world, "sampling_time"), drawn, 1e-9));
    assert_true(value(&world, "AT(chip_power_share, compute_power = 2, busy_power = 2)") == 1);
    arena_free(&world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_of_2024),
        cmocka_unit_test(grouped_queries_of_2024),
        cmocka_unit_test(static_batches),
        cmocka_unit_test(experts_are_read_at_their_own_rate),
        cmocka_unit_test(streams_and_indexers),
        cmocka_unit_test(long_messages_go_through_nccl),
        cmocka_unit_test(open_loops),
        cmocka_unit_test(streaming_intervals),
        cmocka_unit_test(power_by_hand),
    };
    return cmocka_run_group_tests_name("terms", tests, NULL, NULL);
}
