/* One's own machine: the times of llama.cpp against fourteen answers of another implementation of the same
 * law, the scores on published runs where they are at hand, and what `can` answers. Runs in the root of the
 * tree. */
#include "test.h"
#include "lines.h"

#include "ask/ask.h"
#include "catalog/catalog.h"
#include "catalog/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct world {
    struct arena arena;
    struct answer answer;
    struct error error;
};

static int world_open(void **state)
{
    *state = calloc(1, sizeof(struct world));
    return !*state;
}

static int world_close(void **state)
{
    struct world *world = *state;
    arena_free(&world->arena);
    free(world);
    return 0;
}

static bool ask(struct world *world, const char *line)
{
    return line_asked(&world->arena, line, &world->answer, &world->error);
}

static double value_in(const struct doc *figures, const char *key)
{
    const struct doc *figure = doc_get(figures, key), *value = figure ? doc_get(figure, "value") : NULL;
    if (!value)
        fail_msg("no %s", key);
    return value->number;
}

static double figure(struct world *world, const char *line, const char *row)
{
    if (!ask(world, arena_print(&world->arena, "eval %s %s", row, line)))
        fail_msg("%s: %s", line, world->error.what);
    return value_in(world->answer.doc, row);
}

/* ---- the law ---------------------------------------------------------------------------------------- */

#define LS "--engine localscore --isl 1024 --osl 1625.8 --concurrency 1 --gpus 1 --model "
#define NOW "--engine llamacpp --gpus 1 --model "
/* The other implementation's constants, where ours were fitted again. */
#define GB10 " --on gb10 --set stream_efficiency=0.87 --set cache_stream_efficiency=0.71 --set layer_overhead=89us " \
             "--set layer_overhead_moe=0.72 --set unpack_work_batch=18 --set moe_batch_overhead=190us " \
             "--set distinct_experts_share=0.6"

/* A load, a row, and its value by the other implementation, in base units. Its mixtures and windows are counted
 * in round numbers, so that two agree less closely. */
static const struct {
    const char *words, *row;
    double value, within;
} law[] = {
    { LS "llama-3.1-8b --precision Q4_K_M --on rtx-3060", "predicted_tpot", 19.42e-3, 1e-3 },
    { LS "llama-3.1-8b --precision Q4_K_M --on rtx-3060", "steady_prefill_time", 517.7e-3, 1e-3 },
    { LS "llama-3.1-8b --precision Q4_K_M --on rtx-3060", "localscore_decode_speed", 51.5, 1e-3 },
    { LS "llama-3.1-8b --precision Q4_K_M --on rtx-3060", "localscore_prompt_speed", 1549, 1e-3 },
    { LS "llama-3.1-8b --precision Q4_K_M --on rtx-3060", "localscore_ttft", 0.889, 1e-3 },
    { LS "qwen2.5-14b --precision Q4_K_M --on rtx-2080-ti --set windows_host=1", "predicted_tpot", 28.01e-3, 1e-3 },
    { LS "qwen2.5-14b --precision Q4_K_M --on rtx-2080-ti --set windows_host=1", "localscore_ttft", 1.265, 1e-3 },
    { LS "llama-3.1-8b --precision Q4_K_M --on l40 --set slow_host=1", "predicted_tpot", 24.35e-3, 1e-3 },
    { LS "llama-3.1-8b --precision Q4_K_M --on l40 --set slow_host=1", "localscore_prompt_speed", 5193, 1e-3 },
    { LS "llama-3.1-8b --precision Q4_K_M --on m4-pro-16c", "predicted_tpot", 34.85e-3, 1e-3 },
    { LS "llama-3.1-8b --precision Q4_K_M --on m4-pro-16c", "steady_prefill_time", 3.188, 1e-3 },
    { LS "qwen2.5-14b --precision Q4_K_M --on rx-6800-xt", "predicted_tpot", 48.88e-3, 1e-3 },
    { LS "qwen2.5-14b --precision Q4_K_M --on rx-6800-xt", "steady_prefill_time", 1.691, 1e-3 },
    { NOW "llama-2-7b --precision Q4_0 --on rtx-4090 --isl 384 --osl 256 --concurrency 1", "decode_alone", 144.9, 1e-3 },
    { NOW "llama-2-7b --precision F16 --on m3-max --isl 384 --osl 256 --concurrency 1", "decode_alone", 25.4, 2e-3 },
    { NOW "qwen2.5-coder-7b --precision Q8_0" GB10 " --isl 32768 --osl 32 --concurrency 1", "decode_alone", 22.8, 2e-3 },
    { NOW "qwen3-30b-a3b --precision Q8_0" GB10 " --isl 8 --osl 16 --concurrency 1", "decode_alone", 59.3, 2e-3 },
    { NOW "qwen2.5-coder-7b --precision Q8_0" GB10 " --batch 16 --context 528", "step_time", 49.7e-3, 2e-3 },
    { NOW "gemma-3-4b --precision Q4_0" GB10 " --batch 8 --context 4112", "step_time", 26.7e-3, 2e-2 },
    { NOW "qwen3-30b-a3b --precision Q8_0" GB10 " --batch 8 --context 4112", "step_time", 69.2e-3, 2e-2 },
    { LS "llama-3.1-8b --precision Q4_K_M --on ryzen-7-7800x3d", "predicted_tpot", 99.33e-3, 1e-3 },
    { LS "llama-3.1-8b --precision Q4_K_M --on ryzen-7-7800x3d", "steady_prefill_time", 11.60, 1e-3 },
    { LS "qwen2.5-14b --precision Q4_K_M --on core-i7-1185g7", "predicted_tpot", 0.370, 1e-3 },
    { LS "qwen2.5-14b --precision Q4_K_M --on core-i7-1185g7", "steady_prefill_time", 120.3, 1e-3 },
};

static void the_law_as_another_computes_it(void **state)
{
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(law); i++) {
        const double value = figure(world, law[i].words, law[i].row);
        if (!(fabs(value / law[i].value - 1) <= law[i].within))
            fail_msg("%s %s: %g, expected %g", law[i].row, law[i].words, value, law[i].value);
    }
}

/* The parts of a step add up to it, and the waterfall to the prediction, as those of other engines do. */
static void parts_add_up(void **state)
{
    struct world *world = *state;
    static const char *const gaps = "bound_step+gap_batch+gap_overlap+gap_imbalance+gap_efficiency+gap_launch"
                                    "+gap_communication+gap_host+gap_draft+gap_prefill";
    static const char *const cards[] = { "rtx-3060", "ryzen-7-7800x3d", "m3-max", "rx-7900-xtx" };
    for (size_t i = 0; i < COUNT(cards); i++) {
        const char *words = arena_print(&world->arena, NOW "llama-3.1-8b --precision Q4_K_M --concurrency 1 --isl 500 "
                                        "--osl 300 --on %s", cards[i]);
        const double tpot = figure(world, words, "predicted_tpot");
        if (!ask(world, arena_print(&world->arena, "eval %s %s", gaps, words)))
            fail_msg("%s", world->error.what);
        assert_true(fabs(value_in(world->answer.doc, gaps) / tpot - 1) < 1e-9);
    }
}

/* Layers on the host: none change nothing, all are as slow as the host's memory, more are never faster. */
static void layers_on_the_host(void **state)
{
    struct world *world = *state;
    static const char words[] = NOW "llama-3.1-8b --precision Q4_K_M --concurrency 1 --isl 500 --osl 300 --on rtx-3060";
    double before = 0;
    for (int layers = 0; layers <= 32; layers += 4) {
        const char *more = arena_print(&world->arena, "%s --set host_layers=%d", words, layers);
        const double tpot = figure(world, more, "predicted_tpot");
        assert_true(tpot > before);
        before = tpot;
    }
    assert_true(before > figure(world, words, "macs_per_token*0.5B/host_memory_bandwidth"));
}

/* Layers on a second machine, by hand: half of Llama-3.1-8B's 32 layers; the machine reads at half the rate and
 * computes at a quarter. Vectors of 4,096 fp32 numbers go there and back at 125 MB/s, 0.2 ms each way. */
static void layers_on_a_second_machine(void **state)
{
    struct world *world = *state;
    static const char words[] = NOW "llama-3.1-8b --precision F16 --concurrency 1 --isl 500 --osl 300 --on rtx-4090";
    static const char away[] = "--set remote_layers=16 --set remote_memory_bandwidth=504GB/s "
                               "--set remote_peak_fp32=20TFLOP/s --set remote_link=125MB/s --set remote_latency=0.2ms";
    const char *more = arena_print(&world->arena, "%s %s", words, away);
    const double whole = figure(world, words, "gpu_decode_gemm_time");
    const double bytes = 32 * 218103808.0 * 2, head = 128256 * 4096 * 2.0, rate = 1008e9, efficiency =
        figure(world, words, "stream_efficiency"), unpack = figure(world, words, "decode_unpack_work"),
        fp32 = figure(world, words, "peak_fp32");
    const double here = hypot((bytes / 2 + head) / (rate * efficiency), bytes / 2 * unpack / fp32);
    const double there = hypot(bytes / 2 / (504e9 * efficiency), bytes / 2 * unpack / 20e12);
    assert_true(fabs(hypot((bytes + head) / (rate * efficiency), bytes * unpack / fp32) / whole - 1) < 1e-3);
    assert_true(fabs(here / figure(world, more, "gpu_decode_gemm_time") - 1) < 1e-3);
    assert_true(fabs(there / figure(world, more, "remote_decode_gemm_time") - 1) < 1e-3);
    assert_true(fabs(figure(world, more, "own_link_time") / (2 * (0.2e-3 + 4096 * 4 / 125e6)) - 1) < 1e-12);
    assert_true(figure(world, more, "predicted_tpot") > here + there + 2 * 0.2e-3);
    assert_true(fabs(figure(world, more, "weights_on_remote") / (bytes / 2) - 1) < 1e-3);
    assert_true(figure(world, more, "memory_needed") < figure(world, words, "memory_needed") - bytes / 2);
    /* An equal machine over a perfect link costs nothing but the two parts that no longer overlap. */
    const char *equal = arena_print(&world->arena, "%s --set remote_layers=16 --set remote_link=10TB/s "
                                    "--set remote_latency=0s", words);
    assert_true(fabs(figure(world, equal, "steady_prefill_time") / figure(world, words, "steady_prefill_time") - 1) < 1e-3);
    assert_true(fabs(figure(world, equal, "predicted_tpot") / figure(world, words, "predicted_tpot") - 1) < 0.01);
}

/* A processor that `measure` timed, by hand: what it reads and multiplies, not its clock and number of cores. One vector
 * overlaps with its reads, several do not; weights of four bits are multiplied by fours, each of which reads them again,
 * and fewer than four one after the other. */
static void a_measured_processor(void **state)
{
    struct world *world = *state;
    static const char timed[] = "--on ryzen-9-7950x --set drawn_by_one=25GB/s --set drawn_threads=1 --set hbm_bandwidth=25GB/s "
        "--set peak_fp32=160GFLOP/s --set peak_bf16=130GFLOP/s --set peak_int8=100GFLOP/s --context 33 "
        NOW "llama-3.1-8b";
    static const struct { const char *type; double rate; } dots[] = { { "Q8_0", 0.45 * 100e9 }, { "BF16", 0.57 * 130e9 } };
    for (size_t i = 0; i < COUNT(dots); i++) {
        const char *words = arena_print(&world->arena, "%s --precision %s --set cpu_cores=1 --batch", timed, dots[i].type);
        const char *one = arena_print(&world->arena, "%s 1", words), *three = arena_print(&world->arena, "%s 3", words);
        const double read = figure(world, one, "streamed_bytes") / 25e9, multiply = 2 * figure(world, one, "macs_per_token") / dots[i].rate;
        assert_true(fabs(figure(world, one, "cpu_decode_gemm_time") / pow(pow(read, 4) + pow(multiply, 4), 0.25) - 1) < 1e-9);
        assert_true(fabs(figure(world, three, "cpu_decode_gemm_time") / (0.85 * read + 3 * multiply) - 1) < 1e-9);
        const char *two = arena_print(&world->arena, "%s --precision %s --set cpu_cores=2 --batch 3", timed, dots[i].type);
        assert_true(fabs(figure(world, two, "cpu_decode_gemm_time-cpu_vectors_time") / (32 * 100e-6) - 1) < 1e-6);
        assert_true(figure(world, one, "cpu_prompt_flops") == figure(world, two, "cpu_prompt_flops"));
    }
    const char *words = arena_print(&world->arena, "%s --precision Q4_0 --set cpu_cores=1 --batch", timed);
    double times[10] = { 0 };
    for (int n = 1; n < 10; n++)
        times[n] = figure(world, arena_print(&world->arena, "%s %d", words, n), "cpu_decode_gemm_time");
    const char *one = arena_print(&world->arena, "%s 1", words);
    const double read = figure(world, one, "streamed_bytes") / 25e9, macs = figure(world, one, "macs_per_token");
    const double four = read + 4 * 2 * macs / (1.2 * 100e9), single = pow(pow(read, 4) + pow(2 * macs / (0.64 * 100e9), 4), 0.25);
    for (int n = 1; n < 10; n++)
        assert_true(fabs(times[n] / (n < 4 ? n * single : n / 4.0 * four) - 1) < 1e-9);
    assert_true(times[4] < times[3]);
}

/* A draft model, by hand: Qwen3-0.6B in Q8_0 drafts three tokens. Four vectors
 * are verified at once, and the geometric series of the acceptance is what a step yields. */
static void a_draft_model(void **state)
{
    struct world *world = *state;
    static const char words[] = NOW "qwen3-14b --precision Q4_K_M --concurrency 1 --isl 500 --osl 300 --on rtx-3090";
    const char *drafted = arena_print(&world->arena, "%s --set draft_tokens=3 --set acceptance_rate=0.8 "
        "--set draft_model_bytes=0.47GB --set draft_model_macs=0.44e9 --set draft_model_layers=28", words);
    const double rate = figure(world, words, "hbm_bandwidth"), fp32 = figure(world, words, "peak_fp32"),
                 efficiency = figure(world, words, "stream_efficiency"), unpack = figure(world, words, "unpack_work"),
                 batch = figure(world, words, "unpack_work_batch"), layer = figure(world, words, "layer_overhead");
    const double draft = hypot(0.47e9 / (rate * efficiency), 2 * 0.44e9 * unpack / fp32) + 28 * layer;
    assert_true(fabs(figure(world, drafted, "draft_time") / (3 * draft) - 1) < 1e-9);
    const double bytes = figure(world, words, "streamed_bytes"), macs = figure(world, words, "macs_per_token");
    const double verified = hypot(bytes / (rate * efficiency), 2 * macs * batch * 2 / fp32);    /* sqrt(4) */
    assert_true(fabs(figure(world, drafted, "gpu_decode_gemm_time") / verified - 1) < 1e-9);
    const double yield = 1 + 0.8 + 0.64 + 0.512, step = figure(world, drafted, "server_step");
    assert_true(fabs(figure(world, drafted, "acceptance_length") / yield - 1) < 1e-12);
    assert_true(fabs(figure(world, drafted, "predicted_tpot") / (step / yield) - 1) < 0.02);
    assert_true(fabs(figure(world, drafted, "memory_needed") - figure(world, words, "memory_needed") - 0.47e9) < 1);
    /* Without drafts nothing of it counts but the memory. */
    const char *off = arena_print(&world->arena, "%s --set draft_model_macs=0.44e9 --set draft_model_layers=28", words);
    assert_true(figure(world, off, "predicted_tpot") == figure(world, words, "predicted_tpot"));
    /* A part of it that is left out is asked for, and the answer says how many drafts it takes as accepted. */
    assert_false(ask(world, arena_print(&world->arena, "eval predicted_tpot %s --set draft_tokens=3 "
                                        "--set draft_model_bytes=0.47GB", words)));
    assert_non_null(strstr(world->error.what, "draft_model_macs"));
    assert_false(ask(world, arena_print(&world->arena, "eval predicted_tpot %s --set draft_tokens=3 "
        "--set draft_model_bytes=0.47GB --set draft_model_macs=0.44e9", words)));
    assert_non_null(strstr(world->error.what, "draft_model_layers"));
    assert_true(ask(world, arena_print(&world->arena, "eval predicted_tpot %s --set draft_tokens=3 "
        "--set draft_model_bytes=0.47GB --set draft_model_macs=0.44e9 --set draft_model_layers=28", words)));
    assert_non_null(strstr(world->answer.text.data, "58 % of the draft tokens taken as accepted"));
}

/* ---- published runs ---------------------------------------------------------------------------------- */

/* Medians of the errors, and the share of all rows, suspect and repeated ones among them, that is answered: those
 * that docs/own-machine.md states, rounded up. Of LocalScore's 568 rows, 37 are suspect to their source. */
static void published_runs(void **state)
{
    static const struct {
        const char *file, *metric;
        double median, answered;
    } sheets[] = {
        { "localscore.csv", "decode", 0.103, 0.95 * 531 / 568 }, { "localscore.csv", "prefill", 0.12, 0.95 * 531 / 568 },
        { "localscore.csv", "ttft", 0.12, 0.95 * 531 / 568 }, { "dgx_spark.csv", "decode", 0.04, 0.97 },
        { "dgx_spark.csv", "prefill", 0.08, 0.97 }, { "strix_halo_kyuz0.csv", "decode", 0.085, 0.84 },
        { "strix_halo_kyuz0.csv", "prefill", 0.14, 0.84 } };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(sheets); i++) {
        const char *path = shared_file(&world->arena, arena_print(&world->arena, "measurements/sources/%s",
                                                                  sheets[i].file));
        if (!path)
            skip();
        assert_true(ask(world, arena_print(&world->arena, "check --measured %s", path)));
        const struct doc *metric = doc_get(doc_get(world->answer.doc, "metrics"), sheets[i].metric);
        const double median = doc_get(metric, "median")->number;
        const double answered = doc_get(world->answer.doc, "scored")->number / doc_get(world->answer.doc, "rows")->number;
        printf("  %s %s: %.1f %%, %.0f %% of the rows answered\n", sheets[i].file, sheets[i].metric, 100 * median,
               100 * answered);
        if (!(median < sheets[i].median) || !(answered > sheets[i].answered))
            fail_msg("%s %s: %g, %g answered", sheets[i].file, sheets[i].metric, median, answered);
    }
}

/* ---- can ------------------------------------------------------------------------------------------------ */

/* The longest context fits, and one token more does not; a smaller type is smaller and faster. */
static void can_is_consistent(void **state)
{
    struct world *world = *state;
    assert_true(ask(world, "can llama-3.1-8b --on rtx-3060"));
    const struct doc *choices = doc_get(world->answer.doc, "choices");
    double bytes = INFINITY, speed = 0;
    size_t count = 0;
    for (const struct doc *one = choices->first; one; one = one->next, count++) {
        assert_true(value_in(one, "weights_stored") < bytes);
        assert_true(value_in(one, "decode_speed") > speed);
        bytes = value_in(one, "weights_stored");
        speed = value_in(one, "decode_speed");
    }
    assert_int_equal(count, 10);
    assert_string_equal(doc_get(world->answer.doc, "precision")->string, "Q8_0");
    const double most = value_in(world->answer.doc, "context_most"), memory = value_in(world->answer.doc, "memory");
    static const char needed[] = "--engine llamacpp --gpus 1 --precision Q8_0 --model llama-3.1-8b --on rtx-3060";
    assert_true(figure(world, arena_print(&world->arena, "%s --context %.0f", needed, most), "memory_needed") <= memory);
    assert_true(figure(world, arena_print(&world->arena, "%s --context %.0f", needed, most + 1), "memory_needed") > memory);
}

/* What is said of one scenario is the same whoever is asked: layers are split over all cards, and one conversation
 * is written where no load is given. */
static void step_and_can_agree(void **state)
{
    static const char *const machines[] = { "2x3090", "rtx-3090 --gpus 2", "m3-ultra", "2x5090", "rtx-3090-x2", "gb10-x8" };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(machines); i++) {
        assert_true(ask(world, arena_print(&world->arena, "can llama-3.3-70b --precision IQ3_XXS --on %s", machines[i])));
        const double speed = value_in(world->answer.doc, "decode_speed"), needed = value_in(world->answer.doc, "memory_needed");
        assert_true(ask(world, arena_print(&world->arena, "step llama-3.3-70b --precision IQ3_XXS --on %s --context 8192 "
                                           "--isl 4096 --osl 256", machines[i])));
        assert_true(1 / doc_get(world->answer.doc, "predicted_tpot")->number == speed);
        assert_true(doc_get(world->answer.doc, "concurrency")->number == 1);
        const char *words = arena_print(&world->arena, "--model llama-3.3-70b --precision IQ3_XXS --context 8192 --on %s",
                                        machines[i]);
        assert_true(figure(world, words, "memory_needed") == needed);
        assert_true(figure(world, words, "tensor_parallel") == 1);
    }
    static const char *const unlinked[] = { "--on m3-ultra --gpus 2", "--on m3-ultra-x2", "--on m3-ultra --set chips=2",
                                            "--on ryzen-7-7800x3d --gpus 2", "--on ryzen-7-7800x3d-x2" };
    for (size_t i = 0; i < sizeof unlinked / sizeof *unlinked; i++) {
        const char *line = arena_print(&world->arena, "step llama-3.1-8b --precision Q4_K_M %s", unlinked[i]);
        if (ask(world, line) || !strstr(world->error.what, "no link between several "))
            fail_msg("%s: %s", line, world->error.what);
        if (!ask(world, arena_print(&world->arena, "%s --set scale_up_bandwidth=5GB/s", line)))
            fail_msg("%s: with a link: %s", line, world->error.what);
    }
    /* A long answer widens the context as a long prompt does, and a TTFT asks for a smaller file as a speed does. */
    assert_true(ask(world, "can qwen3-14b --on rtx-4090 --osl 10000"));
    assert_true(doc_get(world->answer.doc, "context")->number == 20000 && doc_get(world->answer.doc, "prompt_tokens")->number == 10000);
    assert_true(ask(world, "can qwen3-14b --on rtx-4090 --ttft 1.12s") && value_in(world->answer.doc, "ttft") <= 1.12);
    assert_true(ask(world, "can qwen3-14b --on rtx-4090 --ttft 1ms") && doc_get(world->answer.doc, "caveat")->string[0]);
    /* The words of an answer give its figures again, to the bit; of the cards whose number nobody says there is one. */
    assert_true(ask(world, "can qwen3-14b --on rtx-3060 --context 6000"));
    struct buffer words = { .arena = &world->arena };
    static const struct { const char *key, *row; } same[] = { { "decode_speed", "speed_per_user" }, { "ttft", "predicted_ttft" },
        { "prefill_speed", "prefill_speed" }, { "memory_needed", "memory_needed" }, { "context_most", "context_most" } };
    const struct doc *can = world->answer.doc;
    for (const struct doc *word = doc_get(can, "words")->first; word; word = word->next)
        buffer_print(&words, "%s%s", words.size ? " " : "", word->string);
    for (size_t i = 0; i < COUNT(same); i++)
        assert_true(figure(world, words.data, same[i].row) == value_in(can, same[i].key));
    assert_true(ask(world, "step llama-3.3-70b --on rtx-3090 --precision Q4_K_M"));
    assert_int_equal(world->answer.status, 1);
    /* Three cards share no heads, as `plan` knows too, but layers they do. */
    assert_true(ask(world, "step llama-3.3-70b --on h100-sxm --precision fp8 --tp 3"));
    assert_int_equal(world->answer.status, 1);
    assert_non_null(strstr(doc_get(world->answer.doc, "infeasible")->string, "1, 2, 4, 8, 16"));
    assert_true(ask(world, "step llama-3.3-70b --on h100-sxm --precision fp8 --gpus 3"));
    assert_string_equal(doc_get(doc_get(world->answer.doc, "server"), "broken_rules")->first->string, "H1");
    assert_true(ask(world, "step llama-3.3-70b --on rtx-3090 --precision Q4_K_M --gpus 3"));
    assert_int_equal(world->answer.status, 0);
}

/* The words that start the server of `step LINE --emit ENGINE`, with one space between two. */
static const char *started(struct world *world, const char *line, const char *engine)
{
    struct buffer out = { .arena = &world->arena };
    if (!ask(world, arena_print(&world->arena, "step %s --emit %s", line, engine)))
        fail_msg("%s: %s (%s)", line, world->error.what, world->error.hint);
    const struct doc *server = doc_get(doc_get(world->answer.doc, "emit"), "servers")->first;
    for (const struct doc *word = doc_get(server, "command")->first; word; word = word->next)
        buffer_print(&out, "%s%s", word == doc_get(server, "command")->first ? "" : " ", word->string);
    return out.data;
}

/* A model of another's shape keeps its own name and its own context window; where nobody has its configuration, the
 * answer says whose numbers these are. */
static void models_of_one_shape(void **state)
{
    struct world *world = *state;
    static const struct { const char *model, *file; } models[] = {
        { "Qwen3-Coder-30B-A3B-Instruct", "Qwen3-Coder-30B-A3B-Instruct-Q4_K_M.gguf" },
        { "Qwen/Qwen3-30B-A3B-Thinking-2507", "Qwen3-30B-A3B-Thinking-2507-Q4_K_M.gguf" },
        { "Qwen2.5-Coder-14B-Instruct", "Qwen2.5-Coder-14B-Instruct-Q4_K_M.gguf" },
        { "qwen3-14b", "Qwen3-14B-Q4_K_M.gguf" },
        { "hf.co/bartowski/Qwen_Qwen3-14B-GGUF:Q4_K_M", "Qwen_Qwen3-14B-Q4_K_M.gguf" },
        { "bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf" },
        { "tests/fixtures/qwen-14b.json", "-m qwen-14b-Q4_K_M.gguf" } };
    static const char *const own[][2] = { { "config.json", "-m model-Q4_K_M.gguf" }, { "mine/config.json", "-m mine-Q4_K_M.gguf" } };
    static const char *const spelled[] = { "Q4_K_M", "q4_k_m", "Q4KM" };
    for (size_t i = 0; i < COUNT(models); i++) {
        assert_true(ask(world, arena_print(&world->arena, "can %s --on rtx-4090 --precision %s", models[i].model,
                                           spelled[i % COUNT(spelled)])));
        assert_non_null(strstr(doc_get(world->answer.doc, "command")->string, models[i].file));
    }
    for (size_t i = 0; i < COUNT(own); i++) {                   /* its folder's name: every model's file is called so */
        struct shelf_file file = { .path = own[i][0] };
        assert_true(file_read(&world->arena, "tests/fixtures/qwen-14b.json", 1 << 20, &file.text, &world->error));
        world->arena.shelf = &(struct shelf){ &file, 1 };
        const bool asked = ask(world, arena_print(&world->arena, "can %s --on rtx-4090 --precision Q4_K_M", own[i][0]));
        world->arena.shelf = NULL;
        assert_true(asked);
        assert_non_null(strstr(doc_get(world->answer.doc, "command")->string, own[i][1]));
    }
    assert_string_equal(started(world, "qwen3:14b-q4_K_M --on rtx-4090 --isl 4096 --osl 256 --concurrency 1", "llamacpp"),
                        "llama-server -m Qwen3-14B-Q4_K_M.gguf -c 5440 -np 1 -ngl 999");
    assert_true(figure(world, "--model qwen3-coder-30b-a3b", "max_context") == 262144);
    assert_true(figure(world, "--model qwen3-30b-a3b", "max_context") == 40960);
    assert_true(ask(world, "can Qwen/Qwen3-4B-Thinking-2507 --on rtx-4090"));
    assert_non_null(strstr(world->answer.text.data, "are those of Qwen3-4B"));
    assert_true(ask(world, "step Qwen2.5-Coder-14B-Instruct --on h100-sxm --emit vllm"));
    assert_non_null(strstr(world->answer.text.data, "vllm serve Qwen/Qwen2.5-Coder-14B-Instruct"));
}

static void can_says_no(void **state)
{
    struct world *world = *state;
    /* A file type in the model's name is that of --precision; other formats of a dense model are no MXFP4 file. */
    assert_true(ask(world, "can qwen3:14b-q4_K_M --on rtx-3090"));
    assert_string_equal(doc_get(world->answer.doc, "precision")->string, "Q4_K_M");
    assert_int_equal(doc_get(world->answer.doc, "choices")->count, 1);
    assert_true(ask(world, "can qwen3-14b-awq --on rtx-3090"));
    assert_string_equal(doc_get(world->answer.doc, "precision")->string, "Q8_0");
    assert_true(ask(world, "can deepseek-v3 --on rtx-3060"));
    assert_int_equal(world->answer.status, 1);
    /* The words about quality are of the file's bits, and the command has the context that was asked for. */
    assert_true(ask(world, "can qwen3-8b --on rtx-4090 --context 131072"));
    assert_string_equal(doc_get(world->answer.doc, "precision")->string, "IQ4_XS");
    assert_null(strstr(world->answer.text.data, "below four bits"));
    assert_non_null(strstr(world->answer.text.data, "was made for a context of 40,960 tokens"));
    assert_non_null(strstr(doc_get(world->answer.doc, "command")->string, "-c 131072 --rope-scaling yarn --rope-scale 4 "));
    assert_false(ask(world, "can qwen3-8b --on rtx-4090 --context 131072 --emit ollama"));
    assert_non_null(strstr(world->error.what, "made for a shorter context"));
    assert_true(ask(world, "can qwen3-8b --on rtx-4090 --precision Q2_K"));
    assert_non_null(strstr(world->answer.text.data, "below four bits per weight: this file has 3.20"));
    assert_null(strstr(doc_get(world->answer.doc, "command")->string, "rope"));
    assert_false(ask(world, "can llama-3.1-8x --on rtx-3060"));
    assert_non_null(strstr(world->error.hint, "llama-3.1-8b"));
    assert_false(ask(world, "can llama-3.1-8b"));
    assert_non_null(strstr(world->error.what, "needs a machine"));
}

/* ---- --emit ---------------------------------------------------------------------------------------------- */

/* Both verbs write the same command for the same conversation. */
static void can_and_step_start_alike(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *card, *model, *type;
        double context;
    } cases[] = { { "rtx-3060", "qwen3-14b", "Q5_K_M", 8192 }, { "m3-max", "llama-3.1-8b", "Q8_0", 32768 },
                  { "ryzen-9-7950x", "gpt-oss-20b", "MXFP4_MOE", 8192 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(ask(world, arena_print(&world->arena, "can %s --on %s --precision %s --context %.0f", cases[i].model,
                                           cases[i].card, cases[i].type, cases[i].context)));
        const char *command = doc_get(world->answer.doc, "command")->string;
        assert_string_equal(command, started(world, arena_print(&world->arena, "%s --on %s --precision %s --isl %.0f "
            "--osl 256 --concurrency 1 --set engine_max_model_len=%.0f", cases[i].model, cases[i].card, cases[i].type,
            cases[i].context / 2, cases[i].context), "llamacpp"));
    }
}

/* What a scenario states, as flags: counted by hand. Qwen3-14B has 40 layers, DeepSeek-V3 61 of which the first
 * three are dense; 5,440 is a quarter more than 4,096 + 256 tokens. */
static const struct {
    const char *line, *engine, *command;
} emitted[] = {
    { "qwen3-14b --on rtx-3060 --precision Q6_K --set host_layers=4 --isl 4096 --osl 256 --concurrency 1", "llamacpp",
      "llama-server -m Qwen3-14B-Q6_K.gguf -c 5440 -np 1 -ngl 37" },
    /* The flags of an engine as rows: 41 less 37 layers, and 61 less the three dense ones. */
    { "qwen3-14b --on rtx-3060 --precision Q6_K --set gpu_layers=37 --isl 4096 --osl 256 --concurrency 1", "llamacpp",
      "llama-server -m Qwen3-14B-Q6_K.gguf -c 5440 -np 1 -ngl 37" },
    { "deepseek-v3 --on rtx-5090 --precision IQ2_XXS --set cpu_moe_layers=61 --isl 4096 --osl 256 --concurrency 1",
      "llamacpp", "llama-server -m DeepSeek-V3-IQ2_XXS.gguf -c 5440 -np 1 -ngl 999 --n-cpu-moe 61" },
    { "qwen3-14b --on rtx-4090 --precision Q4_K_M --kv-precision Q8_0 --isl 4096 --osl 256 --concurrency 2 "
      "--set chunked_prefill_size=1024 --set ubatch_size=256 --set host_cores=6", "llamacpp",
      "llama-server -m Qwen3-14B-Q4_K_M.gguf -c 10880 -np 2 -ngl 999 -t 6 -b 1024 -ub 256 -fa on -ctk q8_0 -ctv q8_0" },
    { "qwen3-14b --on rtx-4090 --precision Q4_K_M --kv-precision q8_0/q5_1 --isl 4096 --osl 256 --concurrency 2", "llamacpp",
      "llama-server -m Qwen3-14B-Q4_K_M.gguf -c 10880 -np 2 -ngl 999 -b 8192 -fa on -ctk q8_0 -ctv q5_1" },
    { "deepseek-v3 --on rtx-5090 --precision IQ2_XXS --set host_expert_layers=58 --isl 4096 --osl 256 --concurrency 1",
      "llamacpp", "llama-server -m DeepSeek-V3-IQ2_XXS.gguf -c 5440 -np 1 -ngl 999 --n-cpu-moe 61" },
    { "llama-3.3-70b --on rtx-3090 --gpus 4 --tp 4 --precision Q4_K_M --isl 4096 --osl 256 --concurrency 1", "llamacpp",
      "llama-server -m Llama-3.3-70B-Q4_K_M.gguf -c 5440 -np 1 -ngl 999 -sm tensor" },
    { "qwen3-14b --on rtx-3090 --precision Q4_K_M --set draft_tokens=4 --set draft_model_bytes=0.5GB "
      "--set draft_model_macs=0.44e9 --set draft_model_layers=28 --isl 4096 --osl 256 --concurrency 1", "llamacpp", "llama-server -m Qwen3-14B-Q4_K_M.gguf -c 5440 -np 1 -ngl 999 -md DRAFT.gguf "
      "--spec-type draft-simple --spec-draft-n-max 4" },
    { "llama-3.3-70b --on gb10 --precision Q8_0 --set remote_layers=40 --isl 4096 --osl 256 --concurrency 1", "llamacpp",
      "llama-server -m Llama-3.3-70B-Q8_0.gguf -c 5440 -np 1 -ngl 999 --rpc $HOST_2:50052 -ts 40,41" },
    { "qwen3-14b --on m3-max --engine llamacpp --isl 4096 --osl 256 --concurrency 2", "mlx",
      "mlx_lm.server --model Qwen/Qwen3-14B --decode-concurrency 2" },
    { "qwen3-14b --on m3-max --engine llamacpp --precision int4 --isl 4096 --osl 256 --concurrency 2", "mlx",
      "mlx_lm.server --model CHECKPOINT --decode-concurrency 2" },
    { "qwen3-14b --on m3-max --engine llamacpp --precision bf16 --isl 4096 --osl 256 --concurrency 2", "mlx",
      "mlx_lm.server --model Qwen/Qwen3-14B --decode-concurrency 2" },
    { "qwen3-14b --on rtx-3060 --precision Q6_K --set host_layers=4 --isl 4096 --osl 256 --concurrency 1", "ollama",
      "ollama serve" },
    /* No slot is longer than the 40,960 tokens that the model was made for, nor all together than memory holds:
     * 11,413 tokens by `can`, two of 5,706. */
    { "qwen3-14b --on rtx-4090 --precision Q4_K_M --isl 30000 --osl 8000 --concurrency 2", "llamacpp",
      "llama-server -m Qwen3-14B-Q4_K_M.gguf -c 81920 -np 2 -ngl 999 -b 512" },
    { "qwen3-14b --on rtx-3060 --precision Q5_K_M --isl 9500 --osl 500 --concurrency 1", "llamacpp",
      "llama-server -m Qwen3-14B-Q5_K_M.gguf -c 11413 -np 1 -ngl 999" },
    { "qwen3-14b --on rtx-3060 --precision Q5_K_M --isl 4500 --osl 500 --concurrency 2", "llamacpp",
      "llama-server -m Qwen3-14B-Q5_K_M.gguf -c 11412 -np 2 -ngl 999 -b 8192" },
    { "qwen3-14b --on rtx-3060 --precision Q5_K_M --isl 5500 --osl 500 --concurrency 2", "llamacpp",
      "llama-server -m Qwen3-14B-Q5_K_M.gguf -c 7504 -np 1 -ngl 999" },
};

static void flags_say_the_scenario(void **state)
{
    struct world *world = *state;
    for (size_t i = 0; i < sizeof emitted / sizeof *emitted; i++)
        assert_string_equal(started(world, emitted[i].line, emitted[i].engine), emitted[i].command);
}

/* A limit that is missed is said above the command. */
static void missed_limits_are_said(void **state)
{
    struct world *world = *state;
    static const char line[] = "qwen3-14b --on rtx-4090 --precision Q4_K_M --isl 4096 --osl 256 --concurrency 1 --tpot %s";
    started(world, arena_print(&world->arena, line, "1s"), "llamacpp");
    assert_null(strstr(world->answer.text.data, "misses"));
    started(world, arena_print(&world->arena, line, "5ms"), "llamacpp");
    assert_non_null(strstr(world->answer.text.data, "# misses the limits: TPOT"));
}

static void ollama_has_a_file(void **state)
{
    struct world *world = *state;
    started(world, "qwen3-14b --on rtx-3060 --precision Q5_K_M --kv-precision q8_0 --set host_layers=4 --isl 4096 "
            "--osl 256 --concurrency 2", "ollama");
    const struct doc *server = doc_get(doc_get(world->answer.doc, "emit"), "servers")->first;
    const struct doc *file = doc_get(server, "file"), *environment = doc_get(server, "environment");
    assert_string_equal(doc_get(file, "FROM")->string, "./Qwen3-14B-Q5_K_M.gguf");
    assert_true(doc_get(file, "PARAMETER num_ctx")->number == 5440);
    assert_true(doc_get(file, "PARAMETER num_gpu")->number == 37);
    assert_string_equal(doc_get(environment, "OLLAMA_NUM_PARALLEL")->string, "2");
    assert_string_equal(doc_get(environment, "OLLAMA_KV_CACHE_TYPE")->string, "q8_0");
    assert_string_equal(doc_get(environment, "OLLAMA_FLASH_ATTENTION")->string, "1");
    assert_string_equal(doc_get(server, "after")->last->string, "Modelfile");
    assert_non_null(strstr(world->answer.text.data, "cat > Modelfile <<'END'\nFROM ./Qwen3-14B-Q5_K_M.gguf\n"
                           "PARAMETER num_ctx 5440\nPARAMETER num_gpu 37\nEND\n"));
}

/* What an engine of one's own cannot do is refused, with what to change. */
static void own_engines_refuse(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *line, *what, *hint;
    } refused[] = {
        { "llama-3.1-8b --on h100-sxm --precision fp8 --emit llamacpp", "fp8 is not a GGUF file type, and llama.cpp", "Q4_K_M" },
        { "llama-3.1-8b --on h100-sxm --emit llamacpp", "llama.cpp needs a GGUF file type", "Q4_K_M" },
        { "llama-3.1-8b --on h100-sxm --engine vllm --precision Q4_K_M --emit llamacpp", "made for another engine",
          "--engine llamacpp" },
        { "llama-3.1-8b --on h100-sxm --precision Q4_K_M --emit vllm", "does not match", "--engine vllm" },
        { "llama-3.1-8b --on rtx-3060 --precision Q4_K_M --kv-precision fp8 --emit llamacpp", "no KV cache in fp8", "q8_0" },
        { "llama-3.1-8b --on rtx-3090 --engine llamacpp --emit mlx", "not known to run on", "another --emit" },
        { "llama-3.1-8b --on m3-max --precision Q4_K_M --emit mlx", "does not read GGUF files such as Q4_K_M", "int4" },
        { "gpt-oss-120b --on rtx-5090 --precision MXFP4_MOE --set host_expert_layers=18 --concurrency 1 --emit ollama",
          "not experts alone", "--emit llamacpp" },
        { "llama-3.1-8b --on rtx-3060 --precision Q4_K_M --set remote_layers=8 --emit ollama", "one machine", "remote_layers=0" },
        { "llama-3.1-8b --on rtx-3060 --precision Q4_K_M --set draft_tokens=3 --emit llamacpp", "no layers that draft", "draft_model_bytes" },
        { "llama-3.3-70b --on rtx-3060 --gpus 1 --precision Q8_0 --emit llamacpp", "nothing to start", "serves its load" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (ask(world, arena_print(&world->arena, "step %s", refused[i].line)))
            fail_msg("%s: not refused", refused[i].line);
        if (!strstr(world->error.what, refused[i].what) || !strstr(world->error.hint, refused[i].hint))
            fail_msg("%s: %s (%s)", refused[i].line, world->error.what, world->error.hint);
    }
}

/* A formula stands in formulas/, so a flag's cells are names of rows. */
static void flags_take_rows(void **state)
{
    static const char *const forms[] = { "count", "share", "pair", "need", "bar" };
    const struct csv *csv = csv_built_in("data/flags.csv");
    const struct formulas *formulas = formulas_built_in(FORMULAS_MODEL | FORMULAS_MACHINE);
    size_t seen = 0;
    (void)state;
    for (size_t r = 0; r < csv->rows; r++) {
        const char *form = csv_cell(csv, r, csv_column(csv, "form"));
        const char *takes = csv_cell(csv, r, csv_column(csv, "takes")), *when = csv_cell(csv, r, csv_column(csv, "when"));
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
            if (!strcmp(form, forms[i]) && formulas_find(formulas, takes) < 0)
                fail_msg("data/flags.csv: '%s' is no row", takes);
        if (!strcmp(form, "pair") && formulas_find(formulas, csv_cell(csv, r, csv_column(csv, "value"))) < 0)
            fail_msg("data/flags.csv: the second of a pair is no row");
        if (strpbrk(when, "(+-*/,"))
            fail_msg("data/flags.csv: '%s' is an expression", when);
        const char *moves = csv_cell(csv, r, csv_column(csv, "moves")), *vary = csv_cell(csv, r, csv_column(csv, "vary"));
        if (*moves && formulas_find(formulas, moves) < 0)
            fail_msg("data/flags.csv: '%s' is no row", moves);
        if (*moves ? !text_has_word("double share step off cache tensor spread", vary) : *vary)
            fail_msg("data/flags.csv: '%s' is no way to vary '%s'", vary, moves);
        seen += !strcmp(form, "need");
    }
    assert_true(seen > 10);
}

/* What llama.cpp cannot start is still an answer: without a command, and with the reason. */
static void can_without_a_command(void **state)
{
    struct world *world = *state;
    assert_true(ask(world, "can llama-3.1-8b --on rtx-3060 --kv-precision fp8"));
    assert_string_equal(doc_get(world->answer.doc, "command")->string, "");
    const char *caveat = doc_get(world->answer.doc, "caveat")->string;
    assert_non_null(strstr(caveat, "no command starts it: llama.cpp main has no KV cache in fp8 (--kv-precision q8_0"));
    assert_non_null(strstr(world->answer.text.data, caveat));
    assert_null(strstr(world->answer.text.data, "start "));
    assert_true(ask(world, "can llama-3.3-70b --on gb10 --precision Q8_0 --set remote_layers=40"));
    assert_non_null(strstr(doc_get(world->answer.doc, "command")->string, "--rpc \"$HOST_2:50052\" -ts 40,41"));
    assert_non_null(strstr(world->answer.text.data, "HOST_2 is the address of the second machine; it runs rpc-server"));
    assert_true(ask(world, "step llama-3.3-70b --on gb10 --precision Q8_0 --set remote_layers=40 --concurrency 1 "
                    "--emit llamacpp"));
    assert_non_null(strstr(world->answer.text.data, "\n# HOST_2 is the address of the second machine; it runs"));
    assert_non_null(strstr(world->answer.text.data, "--rpc \"$HOST_2:50052\""));
}

/* ---- all models ------------------------------------------------------------------------------------- */

static bool same_figure(const struct doc *a, const struct doc *b, const char *key)
{
    static const char *const parts[] = { "value", "low", "high" };
    const struct doc *x = doc_get(a, key), *y = doc_get(b, key);
    for (size_t i = 0; x && y && i < COUNT(parts); i++) {
        const struct doc *p = doc_get(x, parts[i]), *q = doc_get(y, parts[i]);
        if (!p != !q || (p && memcmp(&p->number, &q->number, sizeof p->number)))
            return false;
    }
    return x && y;
}

static const struct doc *listed_model(const struct doc *rank, const char *name)
{
    const struct doc *one = doc_get(rank, "models")->first;
    while (one && strcmp(doc_get(one, "name")->string, name))
        one = one->next;
    return one;
}

static bool has_alias(const struct catalog_entry *entry, char with)
{
    for (size_t i = 0; i < entry->rows; i++)
        if (!strcmp(catalog_row(entry, i).fact, "alias") && strchr(catalog_row(entry, i).value, with) &&
            !strchr(catalog_row(entry, i).value, ' '))
            return true;
    return false;
}

/* Every model of the catalog, or each `step`-th: it is listed with what `can MODEL` answers, or there is a reason why not. */
static void rank_is_can(struct world *world, const char *words, size_t from, size_t step)
{
    struct arena kept = { 0 };
    struct answer rank;
    if (!line_asked(&kept, arena_print(&kept, "can %s", words), &rank, &world->error))
        fail_msg("%s", world->error.what);
    const double context = doc_get(rank.doc, "context")->number, enough = doc_get(rank.doc, "speed_wanted")->number;
    for (size_t i = from; i < catalog_count(catalog_built_in(), CATALOG_MODEL); i += step) {
        const struct catalog_entry *entry = catalog_entry(catalog_built_in(), CATALOG_MODEL, i);
        const struct doc *one = listed_model(rank.doc, entry->name);
        const bool folded = catalog_text(entry, "same_as") && catalog_text(entry, "quantization_config.quant_method");
        if (!ask(world, arena_print(&world->arena, "can %s %s", entry->name, words))) {
            assert_null(one);
        } else {
            const struct doc *doc = world->answer.doc;
            const bool fits = doc_get(doc, "fits")->boolean, listed =
                fits && !folded && has_alias(entry, '/') && value_in(doc, "decode_speed") >= enough;
            const double most = value_in(doc, "context_most");
            if (!one && listed && most >= context)
                fail_msg("%s: %s is not listed", words, entry->name);
            if (one && (!listed || most < context))
                fail_msg("%s: %s is listed", words, entry->name);
            if (one && (strcmp(doc_get(doc, "precision")->string, doc_get(one, "precision")->string) ||
                        !same_figure(doc, one, "decode_speed") || !same_figure(doc, one, "context_most") ||
                        !same_figure(doc, one, "memory_needed")))
                fail_msg("%s: the figures of %s are not those of can %s", words, entry->name, entry->name);
        }
        arena_free(&world->arena);
    }
    arena_free(&kept);
}

static void all_models(void **state)
{
    static const char *const machines[] = { "--on rtx-3060", "--on core-i7-1185g7", "--on m3-max", "--on 2x_rtx-3090",
                                            "--on b200" };
    for (size_t i = 0; i < COUNT(machines); i++)
        rank_is_can(*state, machines[i], i, 11);
    rank_is_can(*state, "--on rtx-4090 --context 32768 --speed 40 --precision Q4_K_M", 0, 9);
}

/* The order is that of --by, and counts add up to the catalog. */
static void all_models_in_order(void **state)
{
    struct world *world = *state;
    static const struct { const char *by, *key; } orders[] = {
        { "size", "params_total" }, { "speed", "decode_speed" }, { "context", "context_most" } };
    for (size_t i = 0; i < COUNT(orders); i++) {
        if (!ask(world, arena_print(&world->arena, "can --on rtx-4090 --by %s", orders[i].by)))
            fail_msg("%s", world->error.what);
        double before = INFINITY, count = 0;
        for (const struct doc *one = doc_get(world->answer.doc, "models")->first; one; one = one->next, count++) {
            assert_true(value_in(one, orders[i].key) <= before);
            before = value_in(one, orders[i].key);
        }
        for (const struct doc *why = doc_get(world->answer.doc, "left_out")->first; why; why = why->next)
            count += why->number;
        assert_true(count == (double)catalog_count(catalog_built_in(), CATALOG_MODEL));
    }
    assert_true(ask(world, "can --on rtx-3060 --speed 20000"));
    assert_int_equal(world->answer.status, 1);
    assert_null(doc_get(world->answer.doc, "models")->first);
}

/* ---- unlike cards ----------------------------------------------------------------------------------- */

/* Two cards of one kind through the law of unlike ones answer as two linked cards do. */
static void alike_as_unlike(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = { "memory_needed", "memory", "decode_speed", "prefill_speed", "ttft", "context_most" };
    static const char *const cards[] = { "rtx-4090", "rtx-3060", "h100-pcie", "rtx-2080-ti" };
    static const char *const models[] = { "qwen3-14b --precision Q4_K_M", "gpt-oss-20b", "gemma-3-12b --context 30000" };
    for (size_t i = 0; i < COUNT(cards); i++)
        for (size_t m = 0; m < COUNT(models); m++) {
            struct arena kept = { 0 };
            struct answer one;
            const char *line = arena_print(&kept, "can %s --set scale_up_bandwidth=20GB/s", models[m]);
            if (!line_asked(&kept, arena_print(&kept, "%s --on %s+%s", line, cards[i], cards[i]), &one, &world->error) ||
                !ask(world, arena_print(&kept, "%s --on %s --gpus 2", line, cards[i])))
                fail_msg("%s", world->error.what);
            for (size_t k = 0; k < COUNT(keys); k++)
                if (!(fabs(value_in(one.doc, keys[k]) / value_in(world->answer.doc, keys[k]) - 1) < 1e-14))
                    fail_msg("%s --on %s: %s", line, cards[i], keys[k]);
            arena_free(&kept);
        }
}

/* A bridge between two cards. By hand for Llama-3.1-8B on RTX 3090: NCCL takes 7.848 + 2 x 0.8329 = 9.514 us, through the host's
 * memory 2 x 1.6 us more; both directions busy leave 0.61 x 24.8 = 15.13 GB/s of PCIe 4. A published pair of 3090 writes 3 to
 * 5 % faster with the bridge and reads 35 to 49 % faster: the gains are to be right within a factor of 1.5. Messages of a prompt
 * are long and those of decoding short, so reading gains more than writing whatever the model, the engine and the card. */
static void a_bridge(void **state)
{
    struct world *world = *state;
    static const char *const models[] = { "--engine llamacpp --model llama-3.1-8b --precision Q4_K_M", "--engine llamacpp --model qwen3-14b --precision Q4_K_M",
                                          "--engine vllm --model llama-3.1-8b --precision int4", "--engine vllm --model qwen3-14b --precision int4" };
    static const char *const cards[] = { "rtx-3090", "rtx-a6000", "h100-nvl" };
    for (size_t m = 0; m < COUNT(models); m++)
        for (size_t c = 0; c < COUNT(cards); c++) {
            const char *load = arena_print(&world->arena, "%s --tp 2 --isl 2048 --osl 128 --concurrency 1", models[m]);
            const char *apart = arena_print(&world->arena, "%s --on %s --gpus 2", load, cards[c]);
            const char *joined = arena_print(&world->arena, "%s --on 2x_%s", load, cards[c]);
            const double writes = figure(world, apart, "predicted_tpot") / figure(world, joined, "predicted_tpot");
            const double reads = figure(world, apart, "predicted_ttft") / figure(world, joined, "predicted_ttft");
            if (!(writes > 1 && reads > writes))
                fail_msg("%s: a bridge gains %g in writing and %g in reading", apart, writes - 1, reads - 1);
        }
    const char *pair = "--engine llamacpp --model llama-3.1-8b --precision Q4_K_M --tp 2 --gpus 2 --isl 2048 --osl 128 --concurrency 1 --on rtx-3090";
    const char *given = arena_print(&world->arena, "%s --set scale_up_bandwidth=56GB/s", pair);
    assert_true(fabs(figure(world, pair, "all_reduce_start_time") - 12.714e-6) < 1e-9);
    assert_true(fabs(figure(world, given, "all_reduce_start_time") - 9.514e-6) < 1e-9);
    assert_true(fabs(figure(world, pair, "tp_bandwidth") - 15.128e9) < 1e6);
    const char *large = "--engine llamacpp --model qwen3.6-27b --precision Q4_K_M --tp 2 --gpus 2 --isl 2048 --osl 128 --concurrency 1 --on rtx-3090";
    const char *bridged = arena_print(&world->arena, "%s --set scale_up_bandwidth=56GB/s", large);
    const double writes = figure(world, large, "predicted_tpot") / figure(world, bridged, "predicted_tpot") - 1;
    const double reads = figure(world, large, "predicted_ttft") / figure(world, bridged, "predicted_ttft") - 1;
    if (!(writes > 0.03 / 1.5 && writes < 0.05 * 1.5 && reads > 0.35 / 1.5 && reads < 0.49 * 1.5))
        fail_msg("two RTX 3090 gain %g in writing and %g in reading", writes, reads);
    const char *none = "--engine vllm --model llama-3.1-8b --precision int4 --tp 2 --isl 2048 --osl 128 --concurrency 1 --on %s";
    assert_true(figure(world, arena_print(&world->arena, none, "2x_rtx-4090"), "predicted_tpot") ==
                figure(world, arena_print(&world->arena, none, "rtx-4090 --gpus 2"), "predicted_tpot"));
}

/* By hand, from the answers of each card alone: of decoding the times add by the shares of the memory; of a prompt in four
 * micro-batches three wait for the slower card. In the first two pairs one card is slower in reading and in arithmetic; in the
 * third each is slower in one of them, and the law, which waits for the slower one of each part, is 1 % above. */
static void unlike_cards(void **state)
{
    struct world *world = *state;
    static const char *const pairs[][2] = { { "rtx-4090", "rtx-3060" }, { "rtx-3060", "rtx-4090" }, { "rtx-5090", "rtx-4070-ti" } };
    static const char load[] = "--engine llamacpp --model qwen3-14b --precision Q4_K_M --isl 4096 --osl 256 --concurrency 1";
    static const char prompt[] = "AT(own_gemm_time,rank_running=0,prefill_chunk=2048token)";
    for (size_t i = 0; i < COUNT(pairs); i++) {
        double memory[2], gemm[2], cache[2], prompts[2], weights, kv;
        for (int c = 0; c < 2; c++) {
            const char *alone = arena_print(&world->arena, "%s --gpus 1 --on %s", load, pairs[i][c]);
            memory[c] = figure(world, alone, "hbm_reported");
            gemm[c] = figure(world, alone, "gpu_decode_gemm_time");
            cache[c] = figure(world, alone, "own_decode_attention_time");
            prompts[c] = figure(world, alone, prompt);
            weights = figure(world, alone, "replica_weights_per_chip");
            kv = figure(world, alone, "sequence_kv_per_chip");
        }
        const char *both = arena_print(&world->arena, "%s --on %s+%s --gpus 2 --pp 2", load, pairs[i][0], pairs[i][1]);
        const double a = memory[0] / (memory[0] + memory[1]), b = 1 - a, least = fmin(a, b);
        const double first = a * prompts[0], second = b * prompts[1];
        assert_true(fabs(figure(world, both, "gpu_decode_gemm_time") / (a * gemm[0] + b * gemm[1]) - 1) < 1e-12);
        assert_true(fabs(figure(world, both, "own_decode_attention_time") / (a * cache[0] + b * cache[1]) - 1) < 1e-12);
        const double exact = (first + second + 3 * fmax(first, second)) / 4, got = figure(world, both, prompt);
        assert_true(got / exact > 1 - 1e-12 && got / exact < (i < 2 ? 1 + 1e-12 : 1.02));
        assert_true(fabs(figure(world, both, "replica_weights_per_chip") / (weights * least) - 1) < 1e-12);
        assert_true(fabs(figure(world, both, "sequence_kv_per_chip") / (kv * least) - 1) < 1e-12);
        assert_true(figure(world, both, "hbm_reported") == fmin(memory[0], memory[1]));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_law_as_another_computes_it, world_open, world_close),
        cmocka_unit_test_setup_teardown(parts_add_up, world_open, world_close),
        cmocka_unit_test_setup_teardown(layers_on_the_host, world_open, world_close),
        cmocka_unit_test_setup_teardown(a_draft_model, world_open, world_close),
        cmocka_unit_test_setup_teardown(a_measured_processor, world_open, world_close),
        cmocka_unit_test_setup_teardown(layers_on_a_second_machine, world_open, world_close),
        cmocka_unit_test_setup_teardown(published_runs, world_open, world_close),
        cmocka_unit_test_setup_teardown(can_is_consistent, world_open, world_close),
        cmocka_unit_test_setup_teardown(step_and_can_agree, world_open, world_close),
        cmocka_unit_test_setup_teardown(models_of_one_shape, world_open, world_close),
        cmocka_unit_test_setup_teardown(can_says_no, world_open, world_close),
        cmocka_unit_test_setup_teardown(can_and_step_start_alike, world_open, world_close),
        cmocka_unit_test_setup_teardown(flags_say_the_scenario, world_open, world_close),
        cmocka_unit_test_setup_teardown(missed_limits_are_said, world_open, world_close),
        cmocka_unit_test_setup_teardown(ollama_has_a_file, world_open, world_close),
        cmocka_unit_test_setup_teardown(own_engines_refuse, world_open, world_close),
        cmocka_unit_test(flags_take_rows),
        cmocka_unit_test_setup_teardown(can_without_a_command, world_open, world_close),
        cmocka_unit_test_setup_teardown(a_bridge, world_open, world_close),
        cmocka_unit_test_setup_teardown(alike_as_unlike, world_open, world_close),
        cmocka_unit_test_setup_teardown(unlike_cards, world_open, world_close),
        cmocka_unit_test_setup_teardown(all_models, world_open, world_close),
        cmocka_unit_test_setup_teardown(all_models_in_order, world_open, world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
