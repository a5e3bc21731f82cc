/* Files of benchmark tools: the figures that each format says, in our units, on small files written here
 * (tests/fixtures/benchmarks) and on published samples; the traps of names, units and failed requests;
 * damaged files; and what is given for what a file does not say. */
#include "test.h"

#include "score/benchmark.h"
#include "score/measured.h"

#include <dirent.h>
#include <math.h>

#define FIXTURES "tests/fixtures/benchmarks/"

struct world {
    struct arena arena;
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

static struct text read_text(struct world *world, const char *path)
{
    struct text text;
    if (!file_read(&world->arena, path, 64 << 20, &text, &world->error))
        fail_msg("%s", world->error.what);
    return text;
}

static struct csv opened(struct world *world, const char *path, const struct benchmark_facts *given)
{
    struct csv csv;
    if (!benchmark_open(&world->arena, path, read_text(world, path), given, &csv, &world->error))
        fail_msg("%s", world->error.what);
    return csv;
}

static const char *cell(const struct csv *csv, size_t row, const char *column)
{
    return csv_cell(csv, row, csv_column(csv, column));
}

/* A time with its unit, in seconds; any other number as it is. */
static double base_value(const char *text)
{
    static const struct { const char *unit; double factor; } units[] = {
        { "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "us", 1e-6 }, { "ns", 1e-9 },
    };
    char *end;
    const double number = strtod(text, &end);
    for (size_t i = 0; i < COUNT(units) && end > text; i++)
        if (!strcmp(end, units[i].unit))
            return number * units[i].factor;
    return NAN;
}

/* A text, or a number that the cell has to nine digits; "" is an empty cell. */
struct wanted { const char *file; size_t row; const char *column, *text; double number; };

static void check_cell(const struct csv *csv, const struct wanted *wanted)
{
    const char *is = cell(csv, wanted->row, wanted->column);
    if (wanted->text && strcmp(is, wanted->text))
        fail_msg("%s, record %zu: %s is '%s', not '%s'", csv->file, wanted->row, wanted->column, is,
                 wanted->text);
    if (!wanted->text && !(fabs(base_value(is) - wanted->number) <= 1e-9 * fabs(wanted->number)))
        fail_msg("%s, record %zu: %s is '%s', not %.12g", csv->file, wanted->row, wanted->column, is,
                 wanted->number);
}

static void check_cells(struct world *world, const char *folder, const struct wanted *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *path = folder ? arena_print(&world->arena, "%s%s", folder, all[i].file)
                                  : shared_file(&world->arena, arena_print(&world->arena, "benchmarks/%s",
                                                                           all[i].file));
        if (!path)
            continue;
        const struct csv csv = opened(world, path, NULL);
        check_cell(&csv, &all[i]);
    }
}

#define TPOT "predicted_tpot"
#define TTFT "predicted_ttft"
#define LOAD "concurrency"
#define RATE "arrival_rate"
#define IN   "prompt_tokens"
#define OUT  "output_tokens"

/* ---- vLLM ----------------------------------------------------------------------------------------- */

static void test_vllm(void **state)
{
    static const struct wanted wanted[] = {
        { "vllm.json", 0, TPOT, NULL, 0.0125 },                     /* not the ITL of 11 ms, nor the median */
        { "vllm.json", 0, TPOT "_p50", NULL, 0.012 }, { "vllm.json", 0, TPOT "_p99", NULL, 0.019 },
        { "vllm.json", 0, TPOT "_error", NULL, 0.002 / sqrt(160) }, { "vllm.json", 0, TTFT, NULL, 0.25 },
        { "vllm.json", 0, TTFT "_error", NULL, 0.08 / sqrt(160) },
        { "vllm.json", 0, LOAD, NULL, 16 },                         /* not max_concurrent_requests */
        { "vllm.json", 0, IN, NULL, 1024 }, { "vllm.json", 0, OUT, NULL, 128 },    /* a request, not in all */
        { "vllm.json", 0, "predicted_throughput", NULL, 320 }, { "vllm.json", 0, "requests", NULL, 160 },
        { "vllm.json", 0, "chips", "2", 0 }, { "vllm.json", 0, "engine", "vllm", 0 },
        { "vllm.json", 0, "model", "meta-llama/Llama-3.1-8B-Instruct", 0 },
        { "vllm.json", 0, "machine", "", 0 },
        /* Several results: an open loop; one that fell behind; a closed loop in disguise; all at once. */
        { "vllm-appended.json", 0, RATE, NULL, 4 }, { "vllm-appended.json", 0, LOAD, "", 0 },
        { "vllm-appended.json", 0, "predicted_throughput", "", 0 },
        { "vllm-appended.json", 0, "kind", "open loop", 0 },
        { "vllm-appended.json", 1, "refused", "past saturation, where latency is the length of the run", 0 },
        { "vllm-appended.json", 2, LOAD, NULL, 32 }, { "vllm-appended.json", 2, RATE, "", 0 },
        { "vllm-appended.json", 2, "kind", "closed loop", 0 }, { "vllm-appended.json", 2, "line", "3", 0 },
        { "vllm-appended.json", 3, "kind", "all at once", 0 }, { "vllm-appended.json", 3, TTFT, "", 0 },
        { "vllm-appended.json", 3, "saturated_throughput", NULL, 2560 },
        { "vllm-appended.json", 4, "refused", "no request succeeded", 0 },
        { "vllm-appended.json", 4, TPOT, "", 0 },
        { "vllm-appended.json", 5, "refused", "more than half of the requests failed", 0 },
        { "vllm-appended.json", 5, TPOT, NULL, 0.007 },             /* the gaps' mean alone, and it says so */
        { "vllm-appended.json", 5, TPOT "_from", "a mean over gaps, which counts long answers more", 0 },
        /* The first of several runs has cold kernels. */
        { "sweep.json", 0, "refused", "the first of several runs, with cold kernels", 0 },
        { "sweep.json", 1, "refused", "", 0 }, { "sweep.json", 1, TTFT, NULL, 0.12 },
        { "sweep.json", 1, "max_num_seqs", NULL, 64 },
        { "sweep.csv", 0, TPOT, NULL, 0.011 }, { "sweep.csv", 1, TPOT, NULL, 0.01125 },
        { "sweep.csv", 1, TPOT "_error", NULL, 0.0009 / sqrt(80) }, { "sweep.csv", 1, "line", "3", 0 },
        { "console.txt", 0, TPOT, NULL, 0.015 }, { "console.txt", 0, TTFT "_p99", NULL, 0.3 },
        { "console.txt", 0, LOAD, NULL, 8 }, { "console.txt", 0, IN, NULL, 512 },
        { "console.txt", 1, "engine", "sglang", 0 }, { "console.txt", 1, LOAD, NULL, 16 },
        { "console.txt", 1, TPOT, NULL, 0.018 }, { "console.txt", 1, OUT, NULL, 256 },
    };
    check_cells(*state, FIXTURES, wanted, COUNT(wanted));
}

/* A chat's first gap of microseconds, an answer without a token whose TTFT is 0, and a failed request. */
static void test_requests_of_vllm(void **state)
{
    static const struct wanted wanted[] = {
        { "vllm-chat.json", 0, TPOT, NULL, 0.040005 / 4 },          /* the file's mean ITL is 8 ms */
        /* the file's mean, with the zero, is 48 ms */
        { "vllm-chat.json", 0, TTFT, NULL, 0.06 },
        { "vllm-chat.json", 0, TTFT "_p50", NULL, 0.055 }, { "vllm-chat.json", 0, TTFT "_p90", NULL, 0.074 },
        { "vllm-chat.json", 0, TTFT "_error", NULL, sqrt(0.0006 / 3 / 4) },
        { "vllm-chat.json", 0, "note", "its mean TTFT is another than that of its requests", 0 },
    };
    check_cells(*state, FIXTURES, wanted, COUNT(wanted));
}

/* ---- others ---------------------------------------------------------------------------------------- */

static void test_others(void **state)
{
    static const struct wanted wanted[] = {
        { "sglang.jsonl", 0, TPOT, NULL, 0.03 }, { "sglang.jsonl", 0, LOAD, NULL, 64 },     /* not 60 */
        { "sglang.jsonl", 0, IN, NULL, 1024 },
        { "sglang.jsonl", 0, OUT, NULL, 256 },       /* flags: 2048, 512 */
        { "sglang.jsonl", 0, RATE, "", 0 }, { "sglang.jsonl", 0, "chips", NULL, 4 },
        { "sglang.jsonl", 0, "attention_dp", NULL, 4 }, { "sglang.jsonl", 0, "engine_version", "0.5.18", 0 },
        { "sglang.jsonl", 0, "kv_precision", "fp8", 0 },
        { "sglang.jsonl", 0, TPOT "_error", NULL, 0.00253 / sqrt(640) },
        { "sglang.jsonl", 0, "model", "meta-llama/Llama-3.1-70B-Instruct", 0 },
        { "sglang.jsonl", 1, RATE, NULL, 2 }, { "sglang.jsonl", 1, "model", "", 0 },
        { "sglang.jsonl", 1, "line", "2", 0 },
        { "sglang.jsonl", 2, "refused", "prompts of several turns, whose tokens it does not count", 0 },
        { "guidellm.yaml", 0, TPOT, NULL, 0.012 },                  /* its time_per_output_token holds TTFT */
        { "guidellm.yaml", 0, TPOT "_error", NULL, 0.0001 },        /* over 100 requests, not 12,700 gaps */
        { "guidellm.yaml", 0, TTFT, NULL, 0.1 }, { "guidellm.yaml", 0, TTFT "_p90", NULL, 0.13 },
        { "guidellm.yaml", 0, LOAD, NULL, 8 }, { "guidellm.yaml", 0, "predicted_throughput", NULL, 640 },
        { "guidellm.yaml", 0, "line", "10", 0 }, { "guidellm.yaml", 1, RATE, NULL, 10 },
        { "guidellm.yaml", 1, "refused", "past saturation, where latency is the length of the run", 0 },
        /* Units stand beside the figures: s, us, ns. */
        { "aiperf.json", 0, TPOT, NULL, 0.015 }, { "aiperf.json", 0, TPOT "_p99", NULL, 0.02 },
        { "aiperf.json", 0, TPOT "_error", NULL, 1788.854382e-6 / sqrt(320) },
        { "aiperf.json", 0, TTFT, NULL, 0.5 },
        { "aiperf.json", 0, TTFT "_error", NULL, 0.1 / sqrt(320) }, { "aiperf.json", 0, LOAD, NULL, 32 },
        { "aiperf.json", 0, "machine", "H200", 0 }, { "aiperf.json", 0, "predicted_e2e", "", 0 },
        /* Of a name that stands twice the first; no warm-up; the cancelled request enters no mean. */
        { "aiperf.jsonl", 0, TTFT, NULL, 0.11 }, { "aiperf.jsonl", 0, TPOT, NULL, 0.011 },
        { "aiperf.jsonl", 0, TPOT "_error", NULL, 0.001 }, { "aiperf.jsonl", 0, TPOT "_p90", NULL, 0.0118 },
        { "aiperf.jsonl", 0, "requests", NULL, 2 }, { "aiperf.jsonl", 0, LOAD, NULL, 2 },
        { "aiperf.jsonl", 0, "predicted_throughput", NULL, 22 / 0.24 },
        { "genai-perf.csv", 0, TPOT, NULL, 0.009 }, { "genai-perf.csv", 0, TTFT "_p50", NULL, 0.079 },
        { "genai-perf.csv", 0, OUT, NULL, 101 }, { "genai-perf.csv", 0, "predicted_throughput", NULL, 400 },
        /* Chunks of the role and of the end carry no token: TTFT 50 and 60 ms, TPOT 10 and 20 ms. */
        { "genai-perf-raw.json", 0, TTFT, NULL, 0.055 }, { "genai-perf-raw.json", 0, TPOT, NULL, 0.015 },
        { "genai-perf-raw.json", 0, OUT, NULL, 2.5 }, { "genai-perf-raw.json", 0, LOAD, NULL, 2 },
        { "inferencex.json", 0, TPOT, NULL, 0.025 },                /* seconds */
        { "inferencex.json", 0, TPOT "_error", NULL, 0.001788854382 / sqrt(320) },
        { "inferencex.json", 0, "chips", NULL, 8 },                 /* not times ep */
        { "inferencex.json", 0, "attention_dp", NULL, 8 }, { "inferencex.json", 0, IN, NULL, 900 },
        { "inferencex.json", 0, "total_throughput_per_chip", NULL, 300 },
        { "inferencex.json", 0, "machine", "h200", 0 },
        { "inferencex.json", 0, "engine_version", "0.5.6", 0 },
        { "inferencex-split.json", 0, "disagg_tpot", NULL, 0.0125 },
        { "inferencex-split.json", 0, TPOT, "", 0 },
        { "inferencex-split.json", 0, "chips", NULL, 8 },
        { "inferencex-split.json", 0, "decode_workers", NULL, 3 },
        { "inferencex-split.json", 0, "prefill_chips", NULL, 4 },
        { "inferencex-split.json", 0, "draft_tokens", "3", 0 },
        { "inferencex-split.json", 0, "split_total_throughput_per_chip", NULL, 3000 },
        { "inferencex-split.json", 1, "refused", "a side file of InferenceX without figures", 0 },
        /* ms/token beside s; the unit is of each statistic; two replicas. */
        { "llm-d.yaml", 0, TPOT, NULL, 0.022 }, { "llm-d.yaml", 0, TTFT, NULL, 0.35 },
        { "llm-d.yaml", 0, RATE, NULL, 3 },
        { "llm-d.yaml", 0, "chips", NULL, 4 }, { "llm-d.yaml", 0, "machine", "H100", 0 },
        { "llm-d.yaml", 0, "requests", NULL, 280 }, { "llm-d.yaml", 0, "engine", "vllm", 0 },
        { "inference-perf.json", 0, TPOT, NULL, 0.02 }, { "inference-perf.json", 0, RATE, NULL, 10 },
        { "inference-perf.json", 0, "predicted_e2e", NULL, 1.4 },
        { "inference-perf.json", 0, "note", "most of its gaps are between chunks that were read together",
          0 },
        { "inference-perf.json", 1, "refused",
          "the client kept no schedule, so that its latencies leave out a wait", 0 },
        { "inference-perf.json", 2, TPOT, "", 0 },
        { "inference-perf-requests.json", 0, TTFT, NULL, 0.2 },
        { "inference-perf-requests.json", 0, TPOT, NULL, 0.1 },
        { "inference-perf-requests.json", 0, IN, NULL, 60 },
        { "inference-perf-requests.json", 0, "requests", NULL, 2 },
        { "trtllm.json", 0, TPOT, NULL, 0.014 }, { "trtllm.json", 0, TTFT, NULL, 0.2 },
        { "trtllm.json", 0, LOAD, NULL, 63 },
        /* issue_rate is how fast the client sends */
        { "trtllm.json", 0, RATE, "", 0 },
        { "trtllm.json", 0, "precision", "fp8", 0 }, { "trtllm.json", 0, "machine", "H100", 0 },
        /* Its inter-token latency of 10.2 ms has the first token in it. */
        { "llmperf.json", 0, TPOT, NULL, 1.47 / 149 }, { "llmperf.json", 0, TTFT, NULL, 0.06 }, { "llmperf.json", 0, LOAD, NULL, 8 },
        { "llmperf.json", 0, IN, NULL, 550.5 }, { "llmperf.json", 0, "predicted_throughput", NULL, 760 },
        { "llmperf.json", 0, TTFT "_error", NULL, 0.01 / sqrt(160) },
        { "llmperf-requests.json", 0, "refused", "a request of LLMPerf: its *_summary.json has the load", 0 },
        /* Results under keys of another program: the second of two runs. */
        { "wrapped.json", 0, LOAD, NULL, 8 }, { "wrapped.json", 1, LOAD, NULL, 16 }, { "wrapped.json", 1, TPOT, NULL, 0.0125 },
        { "wrapped.json", 1, "line", "6", 0 },
        { "mlperf.txt", 0, TPOT, NULL, 0.045 }, { "mlperf.txt", 0, TTFT, NULL, 0.4 },
        { "mlperf.txt", 0, RATE, NULL, 10.2 },
        { "mlperf.txt", 0, OUT, NULL, 250 }, { "mlperf.txt", 0, "predicted_e2e", NULL, 12 },
    };
    check_cells(*state, FIXTURES, wanted, COUNT(wanted));
}

static void test_llama(void **state)
{
    static const struct wanted wanted[] = {
        /* tokens over the mean time, not avg_ts */
        { "llama.jsonl", 0, "prefill_alone", NULL, 5120 },
        { "llama.jsonl", 0, IN, NULL, 2048 }, { "llama.jsonl", 0, "machine", "RTX 4090", 0 },
        { "llama.jsonl", 1, "decode_alone", NULL, 128 }, { "llama.jsonl", 1, IN, NULL, 4096 },
        { "llama.jsonl", 1, OUT, NULL, 128 }, { "llama.jsonl", 1, "kv_precision", "q8_0", 0 },
        { "llama.jsonl", 2, "predicted_e2e", NULL, 1.1 }, { "llama.jsonl", 2, "decode_alone", "", 0 },
        { "llama.jsonl", 0, "precision", "q4_k", 0 }, { "llama.jsonl", 0, "chunked_prefill_size", NULL, 512 },
        { "llama.csv", 0, "prefill_alone", NULL, 2560 }, { "llama.csv", 1, "decode_alone", NULL, 128 },
        { "llama.md", 0, "prefill_alone", NULL, 7340.20 }, { "llama.md", 1, "decode_alone", NULL, 96.40 },
        { "llama.md", 1, IN, NULL, 512 }, { "llama.md", 0, "precision", "q8_0", 0 },
        { "llama.md", 0, "line", "5", 0 },
        { "llama.md", 2, "predicted_e2e", NULL, (512 + 128) / 450.0 }, { "llama.md", 2, "refused", "", 0 },
        { "llama.md", 2, OUT, NULL, 128 },
        /* Fewer columns, as people paste them; the model is in the file's name, of which folders, part and file type are none. */
        { "llama-short.md", 0, "prefill_alone", NULL, 5340.20 }, { "llama-short.md", 1, "decode_alone", NULL, 90.40 },
        { "llama-short.md", 2, "predicted_e2e", NULL, (512 + 128) / 400.0 },
        { "llama-short.json", 0, "model", "Qwen3-8B", 0 }, { "llama-short.json", 1, "decode_alone", NULL, 32 / 0.361 },
        { "llama-short.json", 0, "precision", "q8_0", 0 }, { "llama-short.json", 0, "chips", "", 0 },
        { "llama-file.jsonl", 0, "model", "Qwen3-8B", 0 }, { "llama-file.jsonl", 0, "precision", "IQ4_XS", 0 },
        { "llama-file.jsonl", 0, "chips", "1", 0 }, { "llama-file.jsonl", 0, "prefill_alone", NULL, 4096 / 0.801565557 },
        { "llama-file.jsonl", 1, "model", "Llama-3.3-70B-Instruct", 0 }, { "llama-file.jsonl", 1, "chips", NULL, 2 },
        { "llama-file.jsonl", 1, "machine", "RTX 3090", 0 }, { "llama-file.jsonl", 1, "kv_precision", "q8_0/f16", 0 },
        { "llama.jsonl", 0, "model", "", 0 },                       /* m.gguf says none */
        { "llmfit.json", 0, "model", "llama3.1:8b", 0 }, { "llmfit.json", 0, "machine", "RTX 4090", 0 },
        { "llmfit.json", 0, TTFT, NULL, 0.04 }, { "llmfit.json", 0, TPOT, NULL, 0.76 / 99 }, { "llmfit.json", 0, "chips", "1", 0 },
        { "llmfit.json", 0, "predicted_e2e", NULL, 0.8 }, { "llmfit.json", 0, IN, "", 0 }, { "llmfit.json", 0, OUT, NULL, 100 },
        { "llama.sql", 0, "decode_alone", NULL, 128 }, { "llama.sql", 0, OUT, NULL, 64 },
        { "llama.log", 0, "decode_alone", NULL, 50 }, { "llama.log", 0, "precision", "fp16", 0 },
        { "batched.jsonl", 0, "prefill_alone", NULL, 2048 },
        { "batched.jsonl", 0, "decode_alone", NULL, 400 },
        { "batched.jsonl", 1, "prefill_alone", NULL, 2048 },        /* one prompt serves all */
        { "batched.jsonl", 0, LOAD, NULL, 8 }, { "batched.md", 0, LOAD, NULL, 4 },
        { "batched.md", 0, "prefill_alone", NULL, 2048 }, { "batched.md", 0, "decode_alone", NULL, 250 },
        { "localscore.json", 0, "prefill_alone", NULL, 4000 },
        { "localscore.json", 1, "decode_alone", NULL, 110 },
        { "localscore.json", 0, TTFT, NULL, 0.262 }, { "localscore.json", 1, OUT, NULL, 1536 },
    };
    check_cells(*state, FIXTURES, wanted, COUNT(wanted));
}

/* What a card does not keep, a processor alone, several cards: in JSON, CSV and Markdown. */
static void test_llama_host(void **state)
{
    static const char *const patterns = "tensors that the host keeps by patterns, ", *const cache = "the host keeps the KV cache (no_kv_offload)";
    const struct wanted wanted[] = {
        { "llama-host.jsonl", 0, "gpu_layers", NULL, 20 }, { "llama-host.jsonl", 0, "cpu_moe_layers", "", 0 },
        { "llama-host.jsonl", 1, "cpu_moe_layers", NULL, 40 }, { "llama-host.jsonl", 1, "gpu_layers", NULL, 99 },
        { "llama-host.jsonl", 2, "cpu_moe_layers", NULL, 1e4 }, { "llama-host.jsonl", 2, "refused", "", 0 },
        { "llama-host.jsonl", 3, "refused", arena_print(&((struct world *)*state)->arena, "%s%s", patterns, "blk.*ffn_up.*=CPU"), 0 },
        { "llama-host.jsonl", 4, "refused", cache, 0 }, { "llama-host.jsonl", 5, "refused", "", 0 },
        { "llama-host.jsonl", 5, "machine", "Ryzen 9 7950X", 0 }, { "llama-host.jsonl", 5, "chips", NULL, 1 },
        { "llama-host.jsonl", 5, "gpu_layers", "", 0 },
        { "llama-host.jsonl", 6, "machine", "RTX A6000", 0 }, { "llama-host.jsonl", 6, "chips", NULL, 2 },
        { "llama-host.jsonl", 6, "pipeline_parallel", "", 0 }, { "llama-host.jsonl", 7, "chips", NULL, 3 },
        { "llama-host.jsonl", 7, "pipeline_parallel", NULL, 3 }, { "llama-host.jsonl", 8, "chips", "", 0 },
        { "llama-host.jsonl", 8, "machine", "", 0 }, { "llama-host.jsonl", 9, "chips", NULL, 1 },
        { "llama-host.jsonl", 9, "machine", "RTX A6000", 0 }, { "llama-host.jsonl", 9, "pipeline_parallel", "", 0 },
        { "llama-host.csv", 0, "gpu_layers", NULL, 5 }, { "llama-host.csv", 0, "refused", "", 0 }, { "llama-host.csv", 1, "refused", cache, 0 },
        { "llama-host.md", 0, "gpu_layers", NULL, 20 }, { "llama-host.md", 0, "refused", "", 0 },
        { "llama-host.md", 1, "cpu_moe_layers", NULL, 48 },
        { "llama-host.md", 2, "refused", arena_print(&((struct world *)*state)->arena, "%s%s", patterns, "blk.1.*=CPU"), 0 },
        { "llama-host.md", 3, "refused", "the host keeps the KV cache (nkvo)", 0 },
    };
    check_cells(*state, FIXTURES, wanted, COUNT(wanted));
}

/* Names in lists and settings that lie flat; a cap that was not reached; times below 0; an older report. */
static void test_said(void **state)
{
    static const struct wanted wanted[] = {
        { "genai-perf-list.json", 0, "model", "llama-3.1-8b", 0 }, { "genai-perf-list.json", 0, LOAD, NULL, 4 },
        { "genai-perf-flat.json", 0, "model", "llama-3.1-8b", 0 }, { "genai-perf-flat.json", 0, LOAD, NULL, 6 },
        { "genai-perf-flat.json", 0, RATE, "", 0 }, { "aiperf-list.json", 0, RATE, NULL, 2 },
        { "aiperf-list.json", 0, "refused", "requests to several models, qwen3-8b among them", 0 },
        /* 21 in flight, and twice the root of it more, are below the cap of 32; 30 are not. */
        { "sglang-cap.jsonl", 0, RATE, NULL, 8 }, { "sglang-cap.jsonl", 0, LOAD, "", 0 }, { "sglang-cap.jsonl", 0, "refused", "", 0 },
        { "sglang-cap.jsonl", 1, RATE, "", 0 }, { "sglang-cap.jsonl", 1, LOAD, NULL, 32 },
        { "sglang-cap.jsonl", 2, "refused", "a mean TTFT below 0, -1 ms", 0 },
        { "vllm-cap.json", 0, RATE, NULL, 4 }, { "vllm-cap.json", 0, LOAD, "", 0 }, { "vllm-cap.json", 1, LOAD, NULL, 16 },
        { "vllm-cap.json", 2, "refused", "a mean TTFT below 0, -60 ms", 0 }, { "vllm-cap.json", 3, "refused", "a mean TPOT below 0, -9 ms", 0 },
        { "guidellm-old.json", 0, "refused", "a report before version 2, whose benchmarks have args; version 2 is read", 0 },
    };
    check_cells(*state, FIXTURES, wanted, COUNT(wanted));
}

/* Our own: loads apart, no warm-up, chunk times for what is not said, TPOT of two tokens and more. */
static void test_measure(void **state)
{
    static const struct wanted wanted[] = {
        { "measure.jsonl", 0, LOAD, NULL, 2 }, { "measure.jsonl", 0, TTFT, NULL, 0.2 },
        { "measure.jsonl", 0, TPOT, NULL, 0.15 }, { "measure.jsonl", 0, "requests", NULL, 2 },
        { "measure.jsonl", 0, "prefix_hit_share", NULL, 0.25 }, { "measure.jsonl", 0, OUT, NULL, 4 },
        { "measure.jsonl", 0, "predicted_throughput", NULL, 8 / 0.7 }, { "measure.jsonl", 0, "line", "2", 0 },
        { "measure.jsonl", 1, LOAD, NULL, 1 }, { "measure.jsonl", 1, TPOT, NULL, 0.2 },
        { "measure.jsonl", 1, TTFT, NULL, 0.3 }, { "measure.jsonl", 1, TTFT "_error", NULL, 0.1 },
        { "measure.jsonl", 1, TPOT "_error", "", 0 }, { "measure.jsonl", 1, "requests", NULL, 2 },
    };
    check_cells(*state, FIXTURES, wanted, COUNT(wanted));
}

/* ---- published samples -------------------------------------------------------------------------------- */

static void test_samples(void **state)
{
    static const struct wanted wanted[] = {
        { "vllm/bench_serve_v0.25.1.json", 0, TPOT, NULL, 11.265828258331112e-3 },
        { "vllm/bench_serve_v0.25.1.json", 0, TTFT, NULL, 215.53594200008774e-3 },
        { "vllm/bench_serve_v0.25.1.json", 0, TTFT "_error", NULL, 292.06819504885306e-3 / sqrt(8) },
        { "vllm/bench_serve_v0.25.1.json", 0, OUT, NULL, 16 },
        { "vllm/bench_serve_v0.25.1.json", 0, LOAD, NULL, 2 },
        { "vllm/bench_serve_all_failed_v0.25.1.json", 0, "refused", "no request succeeded", 0 },
        { "vllm/bench_serve_detailed_chat.json", 0, LOAD, NULL, 2 },
        { "vllm/bench_serve_detailed_chat.json", 0, TTFT, NULL, 51.314400199953525e-3 },
        { "vllm/bench_serve_detailed_chat.json", 0, "note", "", 0 },
        { "vllm/bench_serve_detailed_completions.json", 0, TTFT, NULL, 51.52990440001304e-3 },
        { "vllm/bench_serve_detailed_completions.json", 0, TTFT "_p99", NULL, 53.58110180022777e-3 },
        { "vllm/bench_serve_detailed_completions.json", 0, "requests", NULL, 5 },
        { "vllm/sweep_summary_v0.25.1.json", 0, "refused", "the first of several runs, with cold kernels",
          0 },
        { "vllm/sweep_summary_v0.25.1.json", 1, TTFT, NULL, 39.30731637592544e-3 },
        { "vllm/bench_serve_console.txt", 0, TPOT, NULL, 10.00e-3 },
        { "sglang/bench_serving.jsonl", 0, LOAD, NULL, 2 },
        { "sglang/bench_serving.jsonl", 1, LOAD, NULL, 2 },
        { "sglang/bench_serving.jsonl", 1, TPOT, NULL, 10.006156834624482e-3 },
        { "sglang/bench_serving_details.jsonl", 0, TTFT, NULL, 51.04443660002289e-3 },
        { "sglang/bench_serving_console.txt", 0, "engine", "sglang", 0 },
        { "guidellm/report_v2_one_benchmark.json", 0, TPOT, NULL, 1.1508464813232422e-3 },
        { "guidellm/report_v2_one_benchmark.json", 0, TTFT, NULL, 11.481165885925293e-3 },
        { "guidellm/report_v2_one_benchmark.json", 0, RATE, NULL, 2 },
        { "guidellm/report_v2_one_benchmark.json", 0, IN, NULL, 71.5 },
        { "aiperf/profile_export.jsonl", 0, TTFT, NULL, 0.255886568 },
        { "aiperf/profile_export.jsonl", 0, TPOT, NULL, 5.2048325e-3 },
        { "aiperf/profile_export.jsonl", 0, "requests", NULL, 1 },
        { "aiperf/profile_export_aiperf.json", 0, LOAD, NULL, 40 },
        { "aiperf/profile_export_aiperf.json", 0, "predicted_e2e", NULL, 2.62071 },
        { "aiperf/profile_export_aiperf.json", 0, "model", "meta-llama/Llama-3.1-8B-Instruct", 0 },
        { "genai-perf/profile_export_genai_perf.json", 0, TTFT, NULL, 0.04 },
        { "genai-perf/profile_export_genai_perf.json", 0, LOAD, NULL, 2 },
        { "genai-perf/profile_export_genai_perf.csv", 0, TPOT, NULL, 0.011 },
        { "genai-perf/profile_export.json", 0, OUT, NULL, 3 },
        { "inferencex/agg_single_node.json", 0, TPOT, NULL, 0.011265828258331112 },
        { "inferencex/agg_single_node.json", 0, "chips", NULL, 2 },
        { "inferencex/agg_disagg.json", 0, "decode_workers", NULL, 3 },
        { "inferencex/agg_disagg.json", 0, "split_total_throughput_per_chip", NULL, 62.16972805528105 },
        { "llm-d/br_v0_2_1_without_observability.yaml", 0, TTFT, NULL, 0.0368578234128654 },
        { "llm-d/br_v0_2_1_without_observability.yaml", 0, "chips", NULL, 8 },
        { "llm-d/br_v0_2_1_without_observability.yaml", 0, "refused", "a pool of a split server alone", 0 },
        { "inference-perf/stage_3_lifecycle_metrics.json", 0, TPOT, NULL, 0.012019587185668208 },
        { "inference-perf/stage_3_lifecycle_metrics.json", 0, RATE, NULL, 111.92 },
        { "inference-perf/stage_3_lifecycle_metrics.json", 0, "refused", "", 0 },
        { "inference-perf/summary_lifecycle_metrics.json", 0, "refused",
          "the client kept no schedule, so that its latencies leave out a wait", 0 },
        { "inference-perf/stage_3_prometheus_metrics.json", 0, TPOT, "", 0 },
        { "llama.cpp/llama-bench.jsonl", 0, "prefill_alone", NULL, 2048 / 24.510101037 },
        { "llama.cpp/llama-bench.jsonl", 1, "decode_alone", NULL, 256 / 16.151144837 },
        { "llama.cpp/llama-bench_decode.json", 0, IN, NULL, 512 },
        { "llama.cpp/llama-bench_prefill.json", 0, IN, NULL, 2048 },
        { "llama.cpp/harness_log_llama-bench_decode.txt", 0, "decode_alone", NULL, 256 / 16.151144837 },
        { "llama.cpp/llama-bench_2023.md", 1, "decode_alone", NULL, 131.42 },
        { "llama.cpp/batched-bench.jsonl", 1, "decode_alone", NULL, 2 * 128 / 11.106112 },
        { "llama.cpp/batched-bench.md", 5, "decode_alone", NULL, 32 * 128 / 8.801 },
        { "localscore/submission.json", 1, TTFT, NULL, 0.0178 },
        { "mlperf/mlperf_log_summary_Server.txt", 0, TPOT, NULL, 0.061742335 },
        { "mlperf/mlperf_log_summary_Server.txt", 0, TTFT, NULL, 0.58906455 },
        { "mlperf/mlperf_log_summary_Offline.txt", 0, "saturated_throughput", NULL, 819.624 },
        { "trtllm/trtllm-bench_report.json", 0, TPOT, NULL, 0.010 },
        { "trtllm/trtllm-bench_report.json", 0, TTFT, "", 0 },
        { "trtllm/trtllm-bench_report.json", 0, LOAD, NULL, 3.9 },
    };
    check_cells(*state, NULL, wanted, COUNT(wanted));
}

/* The mean ITL of the chat sample is 9.0 ms, for gaps that are 10.0 ms. */
static void test_chat_sample(void **state)
{
    struct world *world = *state;
    const char *path = shared_file(&world->arena, "benchmarks/vllm/bench_serve_detailed_chat.json");
    if (!path)
        return;
    const struct csv csv = opened(world, path, NULL);
    const double tpot = base_value(cell(&csv, 0, TPOT));
    assert_true(fabs(tpot - 9.994530496987338e-3) < 2e-6);
}

/* ---- damage ------------------------------------------------------------------------------------------- */

static void wrong(struct world *world, const char *text, const char *what, const char *hint)
{
    struct csv csv;
    memset(&world->error, 0, sizeof world->error);
    if (benchmark_open(&world->arena, "x", text_of(text), NULL, &csv, &world->error))
        fail_msg("read: %s", text);
    if (strcmp(world->error.what, what))
        fail_msg("'%s', not '%s'", world->error.what, what);
    if (!strstr(world->error.hint, hint))
        fail_msg("'%s', not '%s'", world->error.hint, hint);
}

#define REQUEST "\"prompt_tokens\": 5, \"output_tokens\": 3"

static void test_damaged(void **state)
{
    wrong(*state, "{\n\"a\": 1,\n\"b\"", "x:3: the text ends inside a JSON value", "':' after a name");
    wrong(*state, "{\"a\": 1 \"b\": 2}", "x:1: '\"b\": 2}' is not JSON", "',' or '}'");
    wrong(*state, "[1, 2\n", "x:2: the text ends inside a JSON value", "',' or ']'");
    wrong(*state, "{\"a\": \"b", "x:1: the text ends inside a JSON value",
          "a text that ends in a quotation mark");
    wrong(*state, "{\"a\": nil}", "x:1: 'nil}' is not JSON", "a number, a text");
    wrong(*state, "{\"a\": \"\\q\"}", "x:1: '\"}' is not JSON", "an escape");
    wrong(*state, "{\"a\": 1}", "x: unknown benchmark format", "vllm bench serve");
    wrong(*state, "{\"n_prompt\": 512, \"n_gen\": 0}", "x: looks like a result of llama-bench, but has no avg_ts", "all columns");
    wrong(*state, "{\"run\": {\"mean_ttft_ms\": 60, \"completed\": 9, \"total_output_tokens\": 9}}",
          "x: unknown benchmark format", "vllm bench serve");
    wrong(*state, "[]", "x: no record", "");
    wrong(*state, "", "x: the file is empty", "");
    wrong(*state, "# HELP vllm:prompt_tokens_total a\n", "x: metrics of a live server",
          "a benchmark's result");
    wrong(*state, ":::MLLOG {}\n", "x: the detailed log of MLPerf's load generator",
          "mlperf_log_summary.txt");
    wrong(*state, "Run Info,a\n", "x: GuideLLM's CSV, which leaves out the names of its percentiles",
          "its JSON");
    wrong(*state, "a: 1\n  b: 2\n", "x:2: 'b: 2' is not understood as YAML",
          "the indentation of the lines above");
    wrong(*state, "a:\n- b\n- c\n  d\n", "x:4: 'd' is not understood as YAML", "the indentation");
    wrong(*state, "a: &b 1\n", "x:1: 'a: &b 1' is not understood as YAML", "without anchors");
    wrong(*state, "| a | b |\n|---|---|\n| 1 |\n", "x:3: 1 cells", "2 cells, as in the header");
    wrong(*state, "INSERT INTO test (a, b) VALUES ('1');\n", "x:1: 1 values", "2 values, as there are names");
    wrong(*state, "{\"sent\": 1, " REQUEST "}\n{\"sent\": \"2\", " REQUEST "}", "x:2: sent is not a number",
          "a number");
    wrong(*state, "{\"sent\": 1, \"prompt_tokens\": 5, \"output_tokens\": null}",
          "x:1: output_tokens is missing",
          "a number");
    wrong(*state, "{\"sent\": 1, \"first\": 0.5, \"last\": 2, " REQUEST "}",
          "x:1: a token before the request was sent, or the last before the first", "times in order");
    wrong(*state, "{\"sent\": 1, \"first\": 3, \"last\": 2, " REQUEST "}",
          "x:1: a token before the request was sent, or the last before the first", "times in order");
    wrong(*state, "{\"sent\": 1, " REQUEST "}\n{\"a\": 1}",
          "x:2: not a record of chalkline measure, as the first is",
          "sent, output_tokens and prompt_tokens in each");
    wrong(*state, "{\"mean_ttft_ms\": 1, \"ttfts\": [1, 2], \"itls\": [[1]], \"output_lens\": [1, 2]}",
          "x:1: 2 ttfts and 1 itls", "one of each for every request");
}

#define AIPERF(ttft, latency, itl, unit) \
    "{\"metadata\": {\"request_start_ns\": 1, \"benchmark_phase\": \"profiling\"}, \"metrics\": {" \
    "\"time_to_first_token\": {\"value\": " ttft ", \"unit\": \"" unit "\"}, " \
    "\"request_latency\": {\"value\": " latency ", \"unit\": \"ms\"}, " \
    "\"inter_token_latency\": {\"value\": " itl ", \"unit\": \"ms\"}, " \
    "\"output_sequence_length\": {\"value\": 11, \"unit\": \"tokens\"}}, \"error\": null}"

/* What a record says twice must agree. */
static void test_contradictions(void **state)
{
    struct world *world = *state;
    struct csv csv;
    assert_true(benchmark_open(&world->arena, "x", text_of(AIPERF("100", "200", "10", "ms")), NULL, &csv,
                               &world->error));
    wrong(world, AIPERF("5", "200", "10", "ms"),
          "x:1: inter_token_latency is 0.01 s, but request_latency and "
          "time_to_first_token make 0.0195 s", "times that agree within 1 %");
    wrong(world, AIPERF("100", "200", "10", "min"), "x:1: time_to_first_token is in 'min'",
          "ns, us, ms or s");
    wrong(world, AIPERF("\"1\"", "200", "10", "ms"), "x:1: value is not a number", "a number");
}

/* Every fixture, cut short anywhere: an error that names the file, or a sheet. A JSON text of one value that
 * is cut is an error. */
static void test_cut(void **state)
{
    struct world *world = *state;
    DIR *folder = opendir(FIXTURES);
    assert_non_null(folder);
    int files = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        const char *path = arena_print(&world->arena, FIXTURES "%s", entry->d_name);
        const struct text text = read_text(world, path);
        const bool one = text.data[0] == '{' && strcmp(entry->d_name, "vllm-appended.json") &&
                         strcmp(entry->d_name, "inferencex-split.json") && strcmp(entry->d_name,
                                                                                  "inference-perf.json") &&
                         strstr(entry->d_name, ".json") && !strstr(entry->d_name, ".jsonl");
        files++;
        for (size_t size = 1; size + 3 < text.size; size += 1 + text.size / 150) {
            struct arena arena = { 0 };
            struct error error = { .what = "" };
            struct csv csv;
            const bool read = benchmark_open(&arena, path, (struct text){ text.data, size }, NULL, &csv,
                                             &error);
            if (read ? one : !strstr(error.what, path))
                fail_msg("%s cut after %zu bytes: '%s'", path, size, error.what);
            arena_free(&arena);
        }
    }
    closedir(folder);
    assert_true(files > 25);
}

/* ---- what is given ------------------------------------------------------------ */

static struct benchmark_facts facts_of(size_t count, const struct benchmark_fact *facts)
{
    struct benchmark_facts given = { .count = count };
    memcpy(given.facts, facts, count * sizeof *facts);
    return given;
}

static void refuses(struct world *world, const char *name, const struct benchmark_facts *given,
                    const char *what,
                    const char *hint)
{
    const char *path = arena_print(&world->arena, FIXTURES "%s", name);
    struct csv csv;
    if (benchmark_open(&world->arena, path, read_text(world, path), given, &csv, &world->error))
        fail_msg("%s was read", path);
    if (strcmp(world->error.what, arena_print(&world->arena, what, path)))
        fail_msg("'%s', not '%s'", world->error.what, what);
    if (strcmp(world->error.hint, hint))
        fail_msg("'%s', not '%s'", world->error.hint, hint);
}

static void test_asked(void **state)
{
    static const struct benchmark_fact all[] = {
        { "machine", "h100-sxm", "on" }, { "chips", "4", "gpus" }, { "model", "llama-3.1-70b", "model" },
        { "precision", "fp8", "precision" }, { "engine", "sglang", "engine" },
    };
    const struct benchmark_facts none = { .count = 0 }, machine = facts_of(1, all), chips = facts_of(2, all),
                                 model = facts_of(3, all), engine = facts_of(1, &all[4]);
    refuses(*state, "vllm.json", &none, "%s:1: no machine", "the file does not say it: --on NAME");
    refuses(*state, "sweep.csv", &machine, "%s:2: no number of chips",
            "the file does not say it: --gpus N, or --tp N");
    refuses(*state, "genai-perf.csv", &chips, "%s:1: no model, no load",
            "the file does not say it: --model NAME --concurrency N");
    refuses(*state, "vllm-chat.json", &chips, "%s:1: unknown model 'served'",
            "--model NAME says which it is, by our name");
    /* What the file says is not overruled. */
    refuses(*state, "vllm.json", &model, "%s:1: chips is 2 in the file, not 4",
            "without --gpus, what the file says holds");
    refuses(*state, "sweep.csv", &model, "%s:2: model is llama-3.1-8b in the file, not llama-3.1-70b",
            "without --model, what the file says holds");
    refuses(*state, "vllm.json", &engine, "%s:1: engine is vllm in the file, not sglang",
            "without --engine, what the file says holds");
    const struct benchmark_fact strange = { "machine", "h1000", "on" };
    const struct benchmark_facts unknown = facts_of(1, &strange);
    struct world *world = *state;
    struct csv csv;
    assert_false(benchmark_open(&world->arena, "x", read_text(world, FIXTURES "vllm.json"), &unknown, &csv,
                                &world->error));
    assert_non_null(strstr(world->error.what, "--on: unknown machine 'h1000'"));
}

static void test_given(void **state)
{
    static const struct benchmark_fact facts[] = {
        { "model", "llama-3.1-70b", "model" }, { "machine", "h100-sxm", "on" }, { "tensor_parallel", "4",
        "tp" },
        { "attention_dp", "2", "dp" }, { "precision", "fp8", "precision" },
    };
    const struct benchmark_facts given = facts_of(COUNT(facts), facts);
    const struct csv csv = opened(*state, FIXTURES "vllm-chat.json", &given);
    static const struct wanted wanted[] = {
        { NULL, 0, "model", "llama-3.1-70b", 0 }, { NULL, 0, "machine", "h100-sxm", 0 },
        { NULL, 0, "model_from", "given by --model, where the file says served", 0 },
        { NULL, 0, "machine_from", "given by --on", 0 }, { NULL, 0, "chips", "8", 0 },
        { NULL, 0, "chips_from", "given by --tp", 0 }, { NULL, 0, "attention_dp", "2", 0 },
        { NULL, 0, "precision", "fp8", 0 }, { NULL, 0, "engine", "vllm", 0 }, { NULL, 0, TTFT, NULL, 0.06 },
    };
    for (size_t i = 0; i < COUNT(wanted); i++)
        check_cell(&csv, &wanted[i]);
    /* A sheet of the schema is filled too, and is asked for nothing. */
    struct world *world = *state;
    struct csv plain;
    const struct benchmark_facts machine = facts_of(1, &facts[1]);
    const char sheet[] = "model,machine,chips,predicted_tpot\nllama-3.1-8b,,,9ms\n"
                         "llama-3.1-8b,H100 SXM,2,9ms\n";
    assert_true(benchmark_open(&world->arena, "x", text_of(sheet), &machine, &plain, &world->error));
    assert_string_equal(cell(&plain, 0, "machine"), "h100-sxm");
    assert_string_equal(cell(&plain, 1, "machine"), "H100 SXM");
    assert_string_equal(cell(&plain, 1, "chips"), "2");
    assert_int_equal(plain.lines[1], 3);
}

static struct csv opened_text(struct world *world, const char *text, const struct benchmark_facts *given)
{
    struct csv csv;
    if (!benchmark_open(&world->arena, "x", text_of(text), given, &csv, &world->error))
        fail_msg("%s", world->error.what);
    return csv;
}

/* Tools that do not say lengths or batch: figures follow from what is given. */
static void test_lengths_given(void **state)
{
    static const char latency[] = "{\"avg_latency\": 2.56, \"latencies\": [2.5, 2.62], "
                                  "\"percentiles\": {\"50\": 2.56}}";
    static const char throughput[] = "{\"elapsed_time\": 10.0, \"num_requests\": 1000, "
                                     "\"total_num_tokens\": 1152000, \"requests_per_second\": 100.0, "
                                     "\"tokens_per_second\": 115200.0}";
    static const struct benchmark_fact facts[] = {
        { "output_tokens", "128", "osl" }, { "prompt_tokens", "1024", "isl" }, { "concurrency", "8",
        "concurrency" },
        { "model", "llama-3.1-8b", "model" }, { "machine", "h100-sxm", "on" }, { "chips", "1", "gpus" },
    };
    const struct benchmark_facts given = facts_of(COUNT(facts), facts);
    const struct csv batch = opened_text(*state, latency, &given), all = opened_text(*state, throughput,
                                                                                     &given);
    const struct csv bare = opened_text(*state, latency, NULL);
    static const struct wanted of_batch[] = {
        { NULL, 0, "static_batch_tpot", NULL, 0.02 }, { NULL, 0, LOAD, NULL, 8 },
        { NULL, 0, "refused", "", 0 },
    }, of_all[] = {
        { NULL, 0, "saturated_throughput", NULL, 12800 },           /* tokens_per_second counts prompts */
        { NULL, 0, "requests", NULL, 1000 }, { NULL, 0, "refused", "", 0 },
    };
    for (size_t i = 0; i < COUNT(of_batch); i++)
        check_cell(&batch, &of_batch[i]);
    for (size_t i = 0; i < COUNT(of_all); i++)
        check_cell(&all, &of_all[i]);
    assert_string_equal(cell(&bare, 0, "refused"), "prompt length not stated: --isl");
}

#define RESULT "\"mean_ttft_ms\": 20, \"mean_tpot_ms\": 5, \"request_rate\": \"inf\", " \
    "\"max_concurrency\": 4, \"completed\": 10, \"total_input_tokens\": 1000, \"total_output_tokens\": 500"

/* Drafts a step and tokens a step, its own included. */
static void test_drafts(void **state)
{
    static const struct wanted of_vllm[] = {
        { NULL, 0, "draft_tokens", NULL, 3 }, { NULL, 0, "acceptance_length", NULL, 2.5 },
    };
    const struct csv vllm = opened_text(*state, "{" RESULT ", \"spec_decode_acceptance_rate\": 50.0, "
        "\"spec_decode_acceptance_length\": 2.5, \"spec_decode_num_drafts\": 100, "
        "\"spec_decode_draft_tokens\": 300}", NULL);
    const struct csv sglang = opened_text(*state, "{" RESULT ", \"total_output_tokens_retokenized\": 500, "
        "\"accept_length\": 2.5}", NULL);
    for (size_t i = 0; i < COUNT(of_vllm); i++)
        check_cell(&vllm, &of_vllm[i]);
    assert_string_equal(cell(&sglang, 0, "refused"), "drafts whose number is not stated");
}

static void test_small_formats(void **state)
{
    const struct csv batch = opened_text(*state,
                                         "{\"run_name\": \"a\", \"batch_size\": 16, \"input_len\": 512, "
        "\"output_len\": 64, \"prefill_latency\": 0.25, \"prefill_throughput\": 32768.0, "
        "\"median_decode_latency\": 0.01, \"median_decode_throughput\": 1600.0}", NULL);
    const struct csv old = opened_text(*state, "version: '0.1'\n"
        "scenario:\n  model:\n    name: llama-3.1-8b\n", NULL);
    const struct csv side = opened_text(*state, "{\"infmax_model_prefix\": \"a\", \"hw\": \"h200\"}", NULL);
    const struct csv server = opened_text(*state, "{\"load_summary\": {}, \"successes\": {\"count\": 3, "
        "\"request_latency\": {\"mean\": 1.7}}}", NULL);
    const struct csv many = opened_text(*state, "{\"metadata\": {\"guidellm_version\": \"0.9\", "
        "\"version\": 3}, \"benchmarks\": [{\"metrics\": {\"request_latency\": "
        "{\"successful\": {\"mean\": 1, \"count\": 4}}}}]}", NULL);
    static const struct wanted of_batch[] = {
        { NULL, 0, "prefill_alone", NULL, 32768 }, { NULL, 0, "decode_alone", NULL, 1600 },
        { NULL, 0, LOAD, NULL, 16 },
    };
    for (size_t i = 0; i < COUNT(of_batch); i++)
        check_cell(&batch, &of_batch[i]);
    assert_string_equal(cell(&old, 0, "refused"), "a report of version 0.1; 0.2 is read");
    assert_non_null(strstr(cell(&side, 0, "refused"), "a side file of InferenceX"));
    assert_non_null(strstr(cell(&server, 0, "refused"), "figures of the server"));
    assert_string_equal(cell(&many, 0, "refused"), "a report of version 3; version 2 is read");
}

/* The layout by --tp and --gpus: what is left of the chips is ranks of attention. */
static void test_layout_given(void **state)
{
    static const struct benchmark_fact facts[] = {
        { "model", "llama-3.1-70b", "model" }, { "machine", "h100-sxm", "on" }, { "tensor_parallel", "2",
        "tp" },
        { "chips", "8", "gpus" },
    };
    const struct benchmark_facts given = facts_of(COUNT(facts), facts), less = facts_of(3, facts);
    const struct csv csv = opened(*state, FIXTURES "vllm-chat.json", &given);
    assert_string_equal(cell(&csv, 0, "chips"), "8");
    assert_string_equal(cell(&csv, 0, "attention_dp"), "4");
    const struct csv other = opened(*state, FIXTURES "vllm-chat.json", &less);
    assert_string_equal(cell(&other, 0, "chips"), "2");
    assert_string_equal(cell(&other, 0, "attention_dp"), "1");
    /* Of a file that says its chips. */
    const struct benchmark_facts two = facts_of(2, &facts[1]);
    const struct csv same = opened(*state, FIXTURES "vllm.json", &two);
    assert_string_equal(cell(&same, 0, "chips"), "2");
    assert_string_equal(cell(&same, 0, "chips_from"), "");
    const struct benchmark_fact one[] = { facts[1], { "tensor_parallel", "1", "tp" } };
    const struct benchmark_facts halved = facts_of(2, one);
    const struct csv ranks = opened(*state, FIXTURES "vllm.json", &halved);
    assert_string_equal(cell(&ranks, 0, "chips"), "2");
    assert_string_equal(cell(&ranks, 0, "attention_dp"), "2");
}

/* ---- points ------------------------------------------------------------ */

static void test_points(void **state)
{
    static const struct benchmark_fact facts[] = { { "machine", "h100-sxm", "on" }, { "chips", "1",
        "gpus" } };
    const struct benchmark_facts given = facts_of(COUNT(facts), facts);
    struct world *world = *state;
    const struct csv csv = opened(world, FIXTURES "sweep.csv", &given);
    struct measured_list list = { 0 };
    assert_true(measured_read(&world->arena, &csv, &list, &world->error));
    assert_int_equal(list.count, 2);
    const struct measured *point = &list.points[1];
    assert_null(point->refused);
    assert_int_equal(point->line, 3);
    assert_true(point->requests == 80);
    assert_int_equal(point->value_count, 3);
    assert_int_equal(point->values[0].metric, METRIC_TPOT);
    assert_true(fabs(point->values[0].error - 0.0009 / sqrt(80)) < 1e-12);
    assert_true(point->values[1].error == 0 && point->values[0].p50 == 0);
}

/* Percentiles and errors stand beside figures; of other rows they are no columns. */
static void test_statistics(void **state)
{
    struct world *world = *state;
    struct csv csv;
    struct measured_list list = { 0 };
    const char good[] = "model,machine,requests,predicted_ttft_p99,predicted_ttft,predicted_ttft_error\n"
                        "llama-3.1-8b,h100,64,90ms,20ms,1.5ms\n";
    assert_true(csv_read(&world->arena, "x", text_of(good), &csv, &world->error));
    assert_true(measured_read(&world->arena, &csv, &list, &world->error));
    assert_true(list.points[0].requests == 64);
    assert_true(fabs(list.points[0].values[0].p99 - 0.09) < 1e-15);
    assert_true(fabs(list.points[0].values[0].error - 0.0015) < 1e-15);
    const char bad[] = "model,machine,chips_error\nllama-3.1-8b,h100,1\n";
    assert_true(csv_read(&world->arena, "x", text_of(bad), &csv, &world->error));
    assert_false(measured_read(&world->arena, &csv, &list, &world->error));
    assert_string_equal(world->error.what, "x: column 'chips_error'");
    const char unit[] = "model,machine,predicted_ttft,predicted_ttft_error\nllama-3.1-8b,h100,20ms,3GB\n";
    assert_true(csv_read(&world->arena, "x", text_of(unit), &csv, &world->error));
    assert_false(measured_read(&world->arena, &csv, &list, &world->error));
    assert_non_null(strstr(world->error.what, "x:2: predicted_ttft_error"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_vllm), TEST(test_requests_of_vllm), TEST(test_others), TEST(test_llama), TEST(test_llama_host), TEST(test_said), TEST(test_measure),
        TEST(test_samples), TEST(test_chat_sample), TEST(test_damaged), TEST(test_contradictions),
        TEST(test_cut),
        TEST(test_asked), TEST(test_given), TEST(test_lengths_given), TEST(test_small_formats),
        TEST(test_drafts),
        TEST(test_layout_given), TEST(test_points), TEST(test_statistics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
