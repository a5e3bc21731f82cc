/* Training against what was published: memory of Megatron's models, FLOPs of a token, times of
 * steps; the reader of published runs; and all of them together where the sheet is at hand. */
#include "scenario/figures.h"
#include "training_world.h"

#include "ask/ask.h"
#include "lab/check/check.h"
#include "ask/train/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double gibibyte = 1024.0 * 1024 * 1024;

/* ---- cases --------------------------------------------------------------------------------- */

struct published {
    char model[32];
    double number[3];
};

/* The next line of this kind: "kind | model | numbers". */
static bool next(FILE *file, const char *kind, struct published *published)
{
    char line[200];
    double *number = published->number;
    size_t size = strlen(kind);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, kind, size) || line[size] != ' ')
            continue;
        int read = sscanf(line + size, " | %31s | %lf | %lf %lf", published->model, &number[0],
                          &number[1], &number[2]);
        return read == (strcmp(kind, "flops") ? 2 : 4);
    }
    return false;
}

static FILE *cases(void)
{
    FILE *file = fopen("tests/cases/training.cases", "r");
    assert_non_null(file);
    return file;
}

/* Megatron of 2022: one replica, scores written, gradients in 4 bytes. */
struct megatron {
    struct world world;
    double memory[3], relative[4], step[2];
};

static void megatron_open(struct megatron *megatron, const char *layout)
{
    char model[32];
    double at[5];
    if (sscanf(layout, "%31s | %lf %lf %lf %lf %lf", model, at, at + 1, at + 2, at + 3, at + 4) != 6)
        fail_msg("%s", layout);
    struct world *world = &megatron->world;
    world_open(world, model);
    give(world, "tensor_parallel", at[0]);
    give(world, "pipeline_parallel", at[1]);
    give(world, "virtual_stages", at[2]);
    give(world, "training_sequences", at[3]);
    give(world, "micro_batch", at[4]);
    give(world, "training_chips", at[0] * at[1]);
    give(world, "sequence_length", 2048);
    give(world, "zero_stage", 0);
    give(world, "gradient_bytes", 4);
    give(world, "gradient_overlap", 0);
    give(world, "attention_unfused", 1);
    give(world, "rotary_passes", 1);
}

static bool megatron_next(FILE *file, struct megatron *megatron)
{
    char line[200];
    bool open = false;
    while (fgets(line, sizeof line, file)) {
        if (!strncmp(line, "layout | ", 9)) {
            megatron_open(megatron, line + 9);
            open = true;
        } else if (open && line[0] == 'm') {
            sscanf(line, "memory | %lf %lf %lf", &megatron->memory[0], &megatron->memory[1],
                   &megatron->memory[2]);
        } else if (open && line[0] == 'r') {
            sscanf(line, "relative | %lf %lf %lf %lf", &megatron->relative[0],
                   &megatron->relative[1], &megatron->relative[2], &megatron->relative[3]);
        } else if (open && line[0] == 's') {
            return sscanf(line, "step | %lf %lf", &megatron->step[0], &megatron->step[1]) == 2;
        }
    }
    return false;
}

static void mode(struct megatron *megatron, bool cut, bool attention, bool full)
{
    give(&megatron->world, "sequence_parallel", cut);
    give(&megatron->world, "recompute_attention", attention);
    give(&megatron->world, "recompute_full", full);
}

/* Without the head's logits and the layer that is computed again, as the paper counts. */
static double activations(struct megatron *megatron)
{
    return value(&megatron->world, "layers_kept / train_pp * micro_in_flight") / gibibyte;
}

/* Of the layers' matrices alone: the paper leaves the embeddings out. */
static double state(struct megatron *megatron)
{
    return value(&megatron->world,
                 "train_state / chip_params * SUM(operator, operator_multiplies * "
                 "(1 - operator_head) * operator_layers * operator_weights) / train_tp / train_pp")
           / gibibyte;
}

static void within(const char *what, double ours, double theirs, double share)
{
    if (!(fabs(ours / theirs - 1) <= share))
        fail_msg("%s: %.5g, published %.5g: %+.2f %%", what, ours, theirs, 100 * (ours / theirs - 1));
}

static void memory_is_what_was_measured(void **unused)
{
    (void)unused;
    FILE *file = cases();
    struct megatron megatron;
    int models = 0;
    for (; megatron_next(file, &megatron); models++) {
        mode(&megatron, false, false, false);
        double none = activations(&megatron);
        within("state", state(&megatron), megatron.memory[0], 0.0005);
        within("no recomputation", none, megatron.memory[1], 0.0005);
        mode(&megatron, true, true, false);
        within("both", activations(&megatron), megatron.memory[2], 0.0005);
        static const bool modes[4][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 0 }, { 0, 0, 1 } };
        for (int i = 0; i < 4; i++) {
            mode(&megatron, modes[i][0], modes[i][1], modes[i][2]);
            within("relative", 100 * activations(&megatron) / none, megatron.relative[i], 0.0115);
        }
        arena_free(&megatron.world.arena);
    }
    fclose(file);
    assert_int_equal(models, 4);
}

/* calculon, with a curve set by hand: mean 3.65 %, largest 8.87 %. */
static void steps_are_nearer_than_calculon(void **unused)
{
    (void)unused;
    FILE *file = cases();
    struct megatron megatron;
    double sum = 0, most = 0;
    int steps = 0;
    while (megatron_next(file, &megatron)) {
        for (int i = 0; i < 2; i++, steps++) {
            mode(&megatron, i == 1, i == 1, i == 0);
            give(&megatron.world, "zero_stage", 1);
            double error = value(&megatron.world, "train_step") / megatron.step[i] - 1;
            print_message("%s %s %+.1f %%\n", megatron.world.scenario.model,
                          i ? "both" : "full", 100 * error);
            sum += fabs(error);
            most = fmax(most, fabs(error));
        }
        arena_free(&megatron.world.arena);
    }
    fclose(file);
    print_message("mean %.2f %%, largest %.2f %%\n", 100 * sum / steps, 100 * most);
    assert_int_equal(steps, 8);
    assert_true(sum / steps < 0.0365 && most < 0.0887);
}

static void flops_are_those_printed(void **unused)
{
    (void)unused;
    FILE *file = cases();
    struct published run;
    int runs = 0;
    for (; next(file, "flops", &run); runs++) {
        struct world world;
        world_open(&world, run.model);
        give(&world, "sequence_length", run.number[0]);
        give(&world, "train_attention_full", 1);
        within(run.model, value(&world, "train_model_flops"), 1e12 * run.number[2] / run.number[1],
               0.003);
        arena_free(&world.arena);
    }
    fclose(file);
    assert_int_equal(runs, 8);
}

static void parameters_are_those_published(void **unused)
{
    (void)unused;
    FILE *file = cases();
    struct published model;
    int models = 0;
    for (; next(file, "parameters", &model); models++) {
        struct world world;
        world_open(&world, model.model);
        assert_true(value(&world, "params_total") == model.number[0]);
        arena_free(&world.arena);
    }
    fclose(file);
    assert_int_equal(models, 6);
}

/* ---- by hand ------------------------------------------------------------------------------- */

/* Llama-2-7B on 8 A100, one replica each, 2 sequences of 4,096 a micro-batch. */
static void parts_by_hand(void **unused)
{
    (void)unused;
    struct world world;
    world_open(&world, "llama-2-7b");
    give(&world, "training_chips", 8);
    give(&world, "training_sequences", 64);
    give(&world, "micro_batch", 2);
    give(&world, "sequence_length", 4096);
    assert_true(value(&world, "train_micro_batches") == 4);         /* 64 / (8 x 2) */
    /* 400 W over 312 TFLOP/s are 1.282e-12 J/FLOP, the usual part is 1.28e-12 */
    double power = 400 / 312e12, rate = 271e12 * value(&world, "train_reach_bf16") *
        pow(power / 0.6e-12, value(&world, "train_power_across")) *
        pow(power / 1.28e-12, value(&world, "train_power_within"));
    within("rate", value(&world, "trained_bf16"), rate, 1e-12);
    /* q, k, v, o of 4096 x 4096; gate, up of 4096 x 11008 and down; 32 layers, 8,192 tokens */
    double h = 4096, f = 11008, m = 8192, k0 = 110;
    double forward = 2 * m * 32 / rate * ((4 * h * h + 2 * h * f) * (1 + k0 / h) +
                                          f * h * (1 + k0 / f));
    within("forward", value(&world, "SUM(operator, (1 - operator_head) * operator_forward_time)"),
           forward, 1e-12);
    /* scores and values: half of 4096 x 4096, 2 FLOPs, 2 x 128 elements, 32 heads, 2 sequences */
    double scores = 32 * 2 * 0.5 * 4096.0 * 4096 * 2 * 256 * 32;
    double reach = value(&world, "train_reach_attention") * 4096 / (4096 + 900.0);
    within("attention", value(&world, "attention_forward"), scores / (312e12 * reach), 1e-12);
    /* gradients of 2 B out and weights of 2 B back, 7/8 each at 0.74 x 300 GB/s, and the starts */
    double params = 6738415616, sum = 4 * params * 7 / 8 / (0.74 * 300e9) + 2 * 32 * 12e6 / (0.74 * 300e9);
    within("gradients", value(&world, "gradient_sum"), sum, 1e-12);
    /* ZeRO-1: 2 + 2 and 12 / 8 bytes; FSDP: 16 / 8 */
    within("state", value(&world, "train_state"), params * (4 + 12 / 8.0), 1e-12);
    give(&world, "zero_stage", 3);
    within("FSDP", value(&world, "train_state"), params * 2, 1e-12);
    arena_free(&world.arena);
}

/* Experts have replicas of their own: with as many chips as experts spread over, none. */
static void experts_have_their_own_replicas(void **unused)
{
    (void)unused;
    struct world world;
    world_open(&world, "mixtral-8x7b");
    give(&world, "training_chips", 8);
    give(&world, "expert_parallel", 8);
    double routed = 32 * 8 * 3 * 4096.0 * 14336, dense = value(&world, "params_total") - routed;
    within("kept", value(&world, "chip_updated"), dense / 8 + routed / 8, 1e-12);
    within("moved", value(&world, "params_move"), dense * 7 / 8 / (0.74 * 300e9), 1e-12);
    give(&world, "training_chips", 16);
    within("kept by 16", value(&world, "chip_updated"), dense / 16 + routed / 8 / 2, 1e-12);
    arena_free(&world.arena);
}

/* What `train` shows of a step is all of it, whatever the layout and the format. */
static void parts_add_up(void **unused)
{
    (void)unused;
    static const struct { const char *row; double value; } layouts[][8] = {
        { { "training_chips", 8 } },
        { { "training_chips", 256 }, { "expert_parallel", 8 }, { "pipeline_parallel", 4 }, { "tensor_parallel", 2 },
          { "context_parallel", 2 }, { "virtual_stages", 2 }, { "recompute_full", 1 } },
        { { "training_chips", 128 }, { "expert_parallel", 16 }, { "pipeline_parallel", 2 },
          { "zero_stage", 3 }, { "recompute_between", 0.5 }, { "attention_unfused", 1 },
          { "recompute_attention", 1 }, { "cuda_graphs", 1 } },
        { { "training_chips", 64 }, { "pipeline_parallel", 4 }, { "tensor_parallel", 2 },
          { "recompute_reversible", 1 }, { "offload_optimizer", 1 }, { "offload_weights", 0.5 },
          { "host_link", 5e9 } },
    };
    for (size_t i = 0; i < COUNT(layouts); i++)
        for (int narrow = 0; narrow < 2; narrow++) {
            struct world world = { 0 };
            struct error error;
            const struct subject subject = { .model = "mixtral-8x7b", .machine = "h100-sxm",
                                             .precision = narrow ? "fp8" : "bf16" };
            assert_true(scenario_open(&world.scenario, &world.arena, &world.command, subject,
                                      &error));
            give(&world, "tensor_parallel", 1);
            for (size_t j = 0; j < COUNT(layouts[i]) && layouts[i][j].row; j++)
                give(&world, layouts[i][j].row, layouts[i][j].value);
            struct breakdown parts;
            assert_true(breakdown_of(&world.scenario, "train_step", false, &parts, &error));
            double sum = 0;
            for (size_t j = 0; j < parts.count; j++)
                sum += parts.at[j].value;
            within("parts", sum, value(&world, "train_step"), 1e-9);
            assert_true(!narrow == (value(&world, "quantise_forward") == 0));
            arena_free(&world.arena);
        }
}

/* ---- the reader ---------------------------------------------------------------------------- */

static const char sheet[] =
    "model,hardware,gpus,tp,pp,ep,dp,precision,batch_concurrency,input_len,output_len,metric,value,"
    "unit,source,note,id\n"
    "GPT3-5B,H100-SXM,64,1,1,,64,fp8,2048,2048,,model_tflops_per_gpu,770,,NeMo 24.07,"
    "\"micro-batch 4, CP=1, VP=1\",a\n"
    "GPT3-5B,H100-SXM,64,1,1,,64,fp8,2048,2048,,tokens_per_s_per_gpu,23574,,NeMo 24.07,"
    "\"micro-batch 4, CP=1, VP=1\",b\n"
    "GPT3-5B,H100-SXM,64,1,1,,64,fp8,2048,2048,,time_to_train_mlperf,9,min,NeMo 24.07,,c\n"
    "Llama-3-8B,B200-SXM,1024,4,1,,16,fp8,4,1048576,,step_time,9,s,elsewhere,CP=16,d\n"
    "OPT-175B,A100-80GB,992,8,1,,124,fp16,,2048,,model_tflops_per_gpu,147,,OPT,,e\n"
    "MPT-7B,A100-80GB,8,1,1,,8,bf16,96,2048,,tokens_per_s_per_gpu,4641,,mosaicml/llm-foundry,"
    "\"FULL_SHARD, micro-batch 6, grad-accum 2, activation checkpointing True\",f\n"
    "Megatron,A100-80GB,64,8,1,,8,fp16,64,2048,,hardware_tflops_per_gpu,140,,arXiv 2104.04473,,g\n"
    "Megatron,A100-80GB,64,3,1,,8,fp16,64,2048,,step_time,1,s,me,,h\n"
    "Megatron,A100-80GB,64,8,1,,8,fp16,64,2048,,model_tflops_per_gpu,0,s,me,,i\n";

static double input_of(const struct measured *point, const char *name)
{
    for (int i = 0; i < point->input_count; i++)
        if (!strcmp(point->inputs[i].name, name))
            return point->inputs[i].value;
    return NAN;
}

static void a_run_is_one_point(void **unused)
{
    (void)unused;
    struct arena arena = { 0 };
    struct csv csv;
    struct error error;
    struct measured_list list = { 0 };
    assert_true(csv_read(&arena, "training.csv", text_of(sheet), &csv, &error));
    assert_true(measured_read(&arena, &csv, &list, &error));
    assert_int_equal(list.count, 9);
    const struct measured *points = list.points;
    assert_string_equal(points[0].refused, "another figure of a run that is scored");
    assert_null(points[1].refused);
    /* 2,048 sequences of 2,048 tokens at 23,574 a second on each of 64 chips */
    within("step", points[1].values[0].value, 2048.0 * 2048 / 64 / 23574, 1e-12);
    assert_true(input_of(&points[1], "micro_batch") == 4 && input_of(&points[1], "rotary_passes") == 1);
    assert_string_equal(points[2].refused, "a whole run, with its restarts and evaluations");
    /* 4 sequences on 256 groups of 4 chips: 64 share each */
    assert_true(input_of(&points[3], "context_parallel") == 64 && input_of(&points[3], "micro_batch") == 1);
    assert_true(points[3].values[0].value == 9);
    assert_string_equal(points[4].refused, "batch or layout not stated");
    assert_true(input_of(&points[5], "zero_stage") == 3);
    assert_true(input_of(&points[5], "recompute_full") == 1);
    assert_true(input_of(&points[5], "recompute_stops") == 1);
    assert_true(input_of(&points[5], "attention_portable") == 1);
    assert_string_equal(points[6].values[0].from, "stated_step");
    assert_true(input_of(&points[6], "stated_chip_flops") == 140e12);
    assert_true(input_of(&points[6], "recompute_counted") == 1);
    assert_string_equal(points[7].refused, "a layout that does not multiply to its chips");
    assert_int_equal(points[8].value_count, 0);
    arena_free(&arena);
}

/* Narayanan's own formula for hardware FLOPs, with everything computed again:
 * 96 B s L h^2 (1 + s / 6h + V / 16 L h). */
static void stated_flops_become_a_step(void **unused)
{
    (void)unused;
    struct world world;
    double L = 24, h = 2304, s = 2048, V = 51200, B = 512;
    world_open(&world, "gpt-1.7b");
    give(&world, "training_chips", 32);
    give(&world, "training_sequences", B);
    give(&world, "sequence_length", s);
    give(&world, "train_attention_full", 1);
    give(&world, "recompute_full", 1);
    give(&world, "recompute_counted", 1);
    give(&world, "stated_chip_flops", 137e12);
    double flops = 96 * B * s * L * h * h * (1 + s / (6 * h) + V / (16 * L * h));
    within("stated", value(&world, "stated_step"), flops / (32 * 137e12), 0.001);
    arena_free(&world.arena);
}

/* ---- all published runs --------------------------- ---------------------------------------- */

static double number_at(const struct doc *doc, const char *group, const char *key)
{
    const struct doc *found = doc_get(doc_get(doc, group), key);
    assert_non_null(found);
    return found->number;
}

static const char *runs_path(struct arena *arena)
{
    const char *path = shared_file(arena, "measurements/training.csv");
    if (!path)
        arena_free(arena);
    return path;
}

static bool read_runs(struct arena *arena, struct measured_list *list)
{
    enum { LIMIT = 1 << 24 };
    const char *path = runs_path(arena);
    struct error error;
    struct text text;
    struct csv csv;
    if (!path)
        return false;
    assert_true(file_read(arena, path, LIMIT, &text, &error));
    assert_true(csv_read(arena, path, text, &csv, &error));
    assert_true(measured_read(arena, &csv, list, &error));
    return true;
}

static void published_runs_are_near(void **unused)
{
    (void)unused;
    struct arena arena = { 0 };
    const char *path = runs_path(&arena);
    if (!path)
        skip();
    struct command command = { .verb = &verb_check };
    struct answer answer = { .doc = doc_new(&arena, DOC_OBJECT), .text.arena = &arena,
                             .csv.arena = &arena };
    struct error error;
    command_set(&arena, &command, "measured", path);
    if (!verb_check.ask(&arena, &command, &answer, &error))
        fail_msg("%s (%s)", error.what, error.hint);
    double median = number_at(answer.doc, "total", "median");
    double p90 = number_at(answer.doc, "total", "p90");
    print_message("%.0f runs: median %.2f %%, p90 %.2f %%, in band %.0f %%\n",
                  number_at(answer.doc, "total", "n"), 100 * median, 100 * p90,
                  100 * number_at(answer.doc, "total", "coverage"));
    assert_true(number_at(answer.doc, "total", "n") == 148);
    assert_true(median < 0.035 && p90 < 0.13);
    assert_true(number_at(answer.doc, "total", "coverage") >= 0.8);
    arena_free(&arena);
}

/* They ran, so they fitted: 134 of 148 by the notes of those who fitted the rows; the others do
 * what their sheet does not say (activations moved to the host, freed early, computed again). */
static void published_runs_fit(void **unused)
{
    (void)unused;
    struct arena arena = { 0 };
    struct measured_list list = { 0 };
    struct command command = { 0 };
    struct predictor predictor = { .arena = &arena, .command = &command };
    size_t fit = 0, runs = 0;
    if (!read_runs(&arena, &list))
        skip();
    for (size_t i = 0; i < list.count; i++) {
        struct measured *point = &list.points[i];
        struct prediction share[MEASURED_VALUES];
        if (point->refused)
            continue;
        point->values[0] = (struct measured_value){ .metric = METRIC_STEP, .row = "train_memory_share", .value = 1 };
        const struct setup *setup = predictor_find(&predictor, point);
        assert_null(setup->refused);
        double *inputs = arena_array(&arena, setup->graph.input_count + 1, sizeof *inputs);
        predictor_inputs(setup, point, inputs);
        predictor_predict(&arena, setup, point, inputs, share);
        runs++;
        fit += share[0].value <= 1.05;
        if (share[0].value > 1.05)
            print_message("line %d, %s on %s: %.2f of its memory\n", point->line, point->model,
                          point->machine, share[0].value);
    }
    print_message("%zu of %zu fit\n", fit, runs);
    assert_true(fit >= 133);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_what_was_measured),
        cmocka_unit_test(steps_are_nearer_than_calculon),
        cmocka_unit_test(flops_are_those_printed),
        cmocka_unit_test(parameters_are_those_published),
        cmocka_unit_test(parts_by_hand),
        cmocka_unit_test(experts_have_their_own_replicas),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(a_run_is_one_point),
        cmocka_unit_test(stated_flops_become_a_step),
        cmocka_unit_test(published_runs_are_near),
        cmocka_unit_test(published_runs_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
