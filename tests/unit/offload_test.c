/* Training with reversible layers, and with what waits in host memory: by hand, and beside another
 * tool's own example. */
#include "training_world.h"

#include <math.h>

static void within(const char *what, double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance * fabs(wanted)))
        fail_msg("%s: %.12g, expected %.12g", what, got, wanted);
}

/* Llama-2-7B on 8 A100, one replica each, 2 sequences of 4,096 a micro-batch, 4 of those a step. */
static const double P = 6738415616, L = 32, h = 4096, f = 11008, m = 8192, V = 32000;

static void llama_open(struct world *world)
{
    world_open(world, "llama-2-7b");
    give(world, "training_chips", 8);
    give(world, "training_sequences", 64);
    give(world, "micro_batch", 2);
    give(world, "sequence_length", 4096);
}

/* What fused layers keep of a token: 8 bytes an element of the stream; q, k, v and the output in
 * 2 bytes, h elements each; gate, up and down, f elements of 2 bytes each. */
static double kept(void)
{
    return m * (8 * h + 4 * h * 2 + 3 * f * 2);
}

/* Of 8 replicas, three doublings. */
static double jitter(struct world *world)
{
    return 1 + 3 * value(world, "straggler_per_doubling");
}

/* ---- reversible layers ------------------------------------------------------------------------- */

static void reversible_layers_keep_their_output(void **unused)
{
    (void)unused;
    struct world world;
    llama_open(&world);
    within("kept", value(&world, "train_activations"), L * kept() + 6 * m * V, 1e-12);
    give(&world, "recompute_reversible", 1);
    /* two halves of h elements in 4 bytes, and the layer that is computed again */
    within("reversible", value(&world, "layers_kept"), 2 * 4 * m * h, 1e-12);
    within("reversible", value(&world, "train_activations"), 2 * 4 * m * h + kept() + 6 * m * V,
           1e-12);
    arena_free(&world.arena);
    /* the same of 96 layers, h = 12,288 */
    world_open(&world, "gpt-3-175b");
    give(&world, "training_chips", 8);
    give(&world, "micro_batch", 4);
    give(&world, "sequence_length", 2048);
    give(&world, "recompute_reversible", 1);
    within("96 layers", value(&world, "layers_kept"), 2 * 4 * m * 12288, 1e-12);
    /* of each of 2 pieces of 4 stages its output */
    give(&world, "pipeline_parallel", 4);
    give(&world, "virtual_stages", 2);
    within("pieces", value(&world, "layers_kept"), 4 * 2 * 2 * 4 * m * 12288, 1e-12);
    arena_free(&world.arena);
}

/* Lecture 2:10:41: 8 FLOPs of a weight in the place of 6; the head is no reversible layer. */
static void reversible_layers_cost_a_third(void **unused)
{
    (void)unused;
    struct world world;
    llama_open(&world);
    double before = value(&world, "layers_time"), forward = value(&world, "layers_forward");
    give(&world, "recompute_reversible", 1);
    within("time", value(&world, "layers_time"), before + forward, 1e-12);
    within("again", value(&world, "train_flops_again"),
           (value(&world, "reversible_flops") - 1) *
           (value(&world, "train_model_flops") - 6 * h * V), 1e-12);
    give(&world, "recompute_full", 1);              /* once is enough */
    within("once", value(&world, "layers_time"), before + forward, 1e-12);
    arena_free(&world.arena);
}

/* e_n = e_n-2 + l e_n-1 + r, a coupling at a time, stays below the row and near it. */
static void inversion_error_is_the_sum(void **unused)
{
    (void)unused;
    struct world world;
    llama_open(&world);
    static const double slopes[] = { 1e-6, 0.01, 0.1, 1 };
    for (size_t i = 0; i < COUNT(slopes); i++) {
        double round = 4 * ldexp(1, -24), before = 0, error = 0;
        for (int n = 0; n < 2 * 32; n++) {
            double next = before + slopes[i] * error + round;
            before = error;
            error = next;
        }
        give(&world, "coupling_slope", slopes[i]);
        double row = value(&world, "train_inversion_error");
        if (!(error <= row && row <= 2 * error))
            fail_msg("slope %g: %g, the sum is %g", slopes[i], row, error);
    }
    arena_free(&world.arena);
}

/* ---- host memory ------------------------------------------------------------------------------- */

/* PCIe 4 carries 24.8 GB/s each way. */
static void optimizer_goes_there_and_back(void **unused)
{
    (void)unused;
    struct world world;
    llama_open(&world);
    double before = value(&world, "train_step");
    give(&world, "offload_optimizer", 0.5);
    /* 12 bytes, of which an eighth is this chip's, of which half is moved; ZeRO-1 */
    within("state", value(&world, "train_state"), P * (2 + 2 + 12 / 8.0 / 2), 1e-12);
    within("host", value(&world, "train_host_memory"), P * 12 / 8 / 2, 1e-12);
    /* beside the optimizer's own step: 30 bytes of each at 0.8 of 2,039 GB/s */
    double shows = P * 12 / 8 / 2 / 24.8e9 - P / 8 * 30 / (0.8 * 2039e9);
    within("shows", value(&world, "optimizer_transfer"), shows, 1e-12);
    within("step", value(&world, "train_step"), before + shows * jitter(&world), 1e-12);
    /* with 10 TB/s nothing does */
    give(&world, "host_link", 1e13);
    assert_true(value(&world, "optimizer_transfer") == 0);
    within("hidden", value(&world, "train_step"), before, 1e-12);
    /* FSDP: weights in 2, since their master does not stay, and the gradients in 4 go along */
    give(&world, "zero_stage", 3);
    give(&world, "offload_optimizer", 1);
    within("FSDP", value(&world, "train_state"), P / 8 * 2, 1e-12);
    within("FSDP", value(&world, "train_host_memory"), P / 8 * (12 + 4), 1e-12);
    arena_free(&world.arena);
}

static void activations_go_forward_and_come_back(void **unused)
{
    (void)unused;
    struct world world;
    llama_open(&world);
    double before = value(&world, "train_step");
    double forward = value(&world, "layers_forward"), backward = value(&world, "layers_backward");
    give(&world, "offload_activations", 1);
    double there = L * kept() / 24.8e9;
    within("forward", value(&world, "host_forward"), there - 0.9 * forward, 1e-12);
    within("backward", value(&world, "host_backward"), fmax(0, there - 0.9 * backward), 1e-12);
    within("step", value(&world, "train_step"),
           before + 4 * jitter(&world) * (value(&world, "host_forward + host_backward")), 1e-12);
    /* two layers stay, and the logits */
    within("chip", value(&world, "train_activations"), 2 * kept() + 6 * m * V, 1e-12);
    within("host", value(&world, "train_host_memory"), L * kept(), 1e-12);
    /* where two stages have two micro-batches on their way, a chip's host holds as much */
    give(&world, "pipeline_parallel", 2);
    within("stages", value(&world, "train_host_memory"), L * kept(), 1e-12);
    within("a stage", value(&world, "host_forward"), (there - 0.9 * forward) / 2, 1e-12);
    arena_free(&world.arena);
}

/* Weights come twice for each micro-batch, gradients go once; both ways at once. */
static void weights_come_twice(void **unused)
{
    (void)unused;
    struct world world;
    llama_open(&world);
    give(&world, "offload_weights", 1);
    within("state", value(&world, "train_state"), P * 12 / 8, 1e-12);
    within("layers", value(&world, "train_gathered"), 2 * 2 * P / L, 1e-12);
    within("host", value(&world, "train_host_memory"), P * (2 + 2), 1e-12);
    give(&world, "host_link", 1e9);
    double forward = value(&world, "layers_forward"), backward = value(&world, "layers_backward");
    within("forward", value(&world, "host_forward"), 2 * P / 1e9 - 0.9 * forward, 1e-12);
    within("backward", value(&world, "host_backward"), 2 * P / 1e9 - 0.9 * backward, 1e-12);
    give(&world, "gradient_bytes", 4);
    within("gradients", value(&world, "host_backward"), 4 * P / 1e9 - 0.9 * backward, 1e-12);
    give(&world, "offload_activations", 1);
    within("both", value(&world, "host_forward"), L * kept() / 1e9 - 0.9 * forward, 1e-12);
    within("both", value(&world, "host_backward"), (2 * P + L * kept()) / 1e9 - 0.9 * backward,
           1e-12);
    arena_free(&world.arena);
}

/* calculon's own example (README, @caa4b11): Turing-530B on 5,128 A100, TP 8 x DP 641, micro-batches
 * of 3, scores computed again, all in host memory at 0.95 of 32 GB/s: 17.3 s, 7.85 GiB on the chip
 * and 165.33 GiB beside it. It is another's model, not a measurement: nothing is fitted to it. Here
 * embeddings count too, gradients' sums show more (+13 %), and a layer's own gradients less. */
static void as_far_from_calculon_as_told(void **unused)
{
    (void)unused;
    static const struct { const char *row; double value; } job[] = {
        { "training_chips", 5128 }, { "training_sequences", 1923 },
        { "sequence_length", 2048 }, { "tensor_parallel", 8 }, { "micro_batch", 3 }, { "zero_stage", 2 },
        { "sequence_parallel", 1 }, { "attention_unfused", 1 }, { "recompute_attention", 1 },
        { "rotary_passes", 1 }, { "offload_weights", 1 }, { "offload_activations", 1 },
        { "offload_optimizer", 1 }, { "host_link", 0.95 * 32e9 } };
    const double gibibyte = 1024.0 * 1024 * 1024;
    struct world world;
    world_open(&world, "gpt-530b");
    for (size_t i = 0; i < COUNT(job); i++)
        give(&world, job[i].row, job[i].value);
    print_message("%.1f s, %.2f GiB, %.1f GiB\n", value(&world, "train_step"),
                  value(&world, "train_memory") / gibibyte,
                  value(&world, "train_host_memory") / gibibyte);
    within("step", value(&world, "train_step"), 17.2993, 0.15);
    within("host", value(&world, "train_host_memory") / gibibyte, 165.33, 0.1);
    within("chip", value(&world, "train_memory") / gibibyte, 7.85, 0.3);
    arena_free(&world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reversible_layers_keep_their_output),
        cmocka_unit_test(reversible_layers_cost_a_third),
        cmocka_unit_test(inversion_error_is_the_sum),
        cmocka_unit_test(optimizer_goes_there_and_back),
        cmocka_unit_test(activations_go_forward_and_come_back),
        cmocka_unit_test(weights_come_twice),
        cmocka_unit_test(as_far_from_calculon_as_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
