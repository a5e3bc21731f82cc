/* The verb `simulate` as declared: its options, in groups, with unit, range, default and help.
 *
 * Help, completion, the man page and the API are generated from these tables, and command.c checks
 * values against them. What an option means for a run is read in simulate_options.c. */
#include "ask/ask.h"
#include "ask/simulate/simulate.h"
#include "build/row_names.h"

static const char *const fetch_ways[] = { "sooner", "cheaper", NULL };

static const struct option server_list[] = {
    { "gpus", "N", OPTION_COUNT, .low = 1, .otherwise = "chosen",
      .help = "GPUs of one replica" },
    { "scheduler", "NAME", OPTION_TEXT, .otherwise = "--engine's, or vllm-v1",
      .help = "vllm-v1, sglang, trtllm, sarathi, vllm-2023 or train" },
    { "max-batched-tokens", "N", OPTION_COUNT, .low = 1, .otherwise = "the engine's with a model",
      .fallback = "512", .help = "budget: most tokens of one step of one rank" },
    { "chunked-prefill-size", "N", OPTION_COUNT, .low = 1, .otherwise = "as --max-batched-tokens",
      .help = "most prompt tokens of one step" },
    { "chunk", "N", OPTION_COUNT, .low = 1, .now = "max-batched-tokens", .help = "old name of --max-batched-tokens" },
    { "max-seqs", "N", OPTION_COUNT, .low = 1, .otherwise = "the engine's with a model",
      .fallback = "128", .help = "most requests that one rank runs" },
    { "blocks", "N", OPTION_COUNT, .low = 1, .otherwise = "from the memory left by weights",
      .help = "KV cache blocks per attention rank" },
    { "block-size", "N", OPTION_COUNT, .low = 1, .high = 65536,
      .otherwise = "the engine's with a model", .fallback = "16", .help = "tokens per KV block" },
    { "watermark", "SHARE", OPTION_QUANTITY, .unit = "1", .high = 1,
      .otherwise = "0; 0.01 for sarathi and vllm-2023", .help = "share of the KV blocks that admission keeps in reserve" },
    { "dp", "N", OPTION_COUNT, .low = 1, .high = 4096,
      .otherwise = "chosen with a model", .fallback = "1",
      .help = "vllm-v1: attention ranks of one replica" },
    { "draft", "N", OPTION_COUNT, .low = 0, .high = 64, .otherwise = "draft_tokens with a model",
      .help = "vllm-v1: draft tokens proposed per decode step" },
    { "acceptance", "SHARE", OPTION_QUANTITY, .unit = "1", .high = 1,
      .otherwise = "acceptance_rate with a model", .fallback = "0.6",
      .help = "probability that a draft token is accepted" },
    { "no-async-scheduling", NULL, OPTION_SWITCH,
      .help = "schedule each step only after the last one has ended" },
    { "mixed-chunk", NULL, OPTION_SWITCH, .help = "sglang: decodes join prefill batches" },
    { "max-utilization", NULL, OPTION_SWITCH,
      .help = "trtllm: admit while memory lasts, preempt when it runs out" },
    { "conservativeness", "X", OPTION_QUANTITY, .unit = "1", .otherwise = "1",
      .help = "sglang: factor on the reserve for future output tokens" },
    { "cadence", "TIME", OPTION_QUANTITY, .unit = "s", .bare = "ms", .low = 1e-6, .otherwise = "20ms",
      .help = "train: interval between departures" },
    { "step-time", "FORMULA", OPTION_TEXT, .otherwise = "predicted for the model on the machine",
      .help = "linear in tokens, cached, sequences: 10ms + 0.05ms*tokens" },
    { "api-time", "TIME", OPTION_QUANTITY, .unit = "s", .bare = "ms", .otherwise = "the engine's with a model",
      .fallback = "0s", .help = "time per request outside the engine, in TTFT and E2E" },
    { 0 } };

static const struct option cache_list[] = {
    { "tier", "NAME[:KEY=VALUE,...]", OPTION_TEXT, .many = true,
      .help = "vllm-v1: KV tiers below GPU memory, fastest first" },
    { "fetch", "HOW", OPTION_CHOICE, .choices = fetch_ways, .fallback = "sooner",
      .help = "fetch from a tier where that beats recomputing" },
    { "hit-rates", NULL, OPTION_SWITCH,
      .help = "report only the prefix hit rate over cache sizes" },
    { 0 } };

static const struct option pool_list[] = {
    { "replicas", "N", OPTION_COUNT, .low = 1, .otherwise = "1, or what --rate or --users need", .fallback = "1",
      .help = "number of replicas" },
    { "router", "NAME", OPTION_CHOICE, .choices = router_names,
      .otherwise = "least-tokens or least-pending, by scheduler",
      .help = "how requests are routed to replicas" },
    { "refresh", "TIME", OPTION_QUANTITY, .unit = "s", .low = 1e-9, .high = 1e6, .bare = "s", .otherwise = "always up to date",
      .help = "interval at which the router looks at the replicas' load" },
    { "prefill-replicas", "N", OPTION_COUNT, .low = 1,
      .help = "prefill replicas; the others only decode" },
    { "prefill-on", "NAME", OPTION_TEXT, .otherwise = "--on", .help = "machine of the prefill replicas" },
    { "prefill-gpus", "N", OPTION_COUNT, .low = 1, .otherwise = "--gpus; needed with --prefill-on",
      .help = "GPUs per prefill replica" },
    { "link", "RATE", OPTION_QUANTITY, .unit = "B/s", .low = 1e6, .bare = "GB/s", .otherwise = "the machine's",
      .help = "bandwidth of a chip's link between pools" },
    { "link-latency", "TIME", OPTION_QUANTITY, .unit = "s", .high = 10, .bare = "us", .otherwise = "the engine's",
      .help = "latency of a KV transfer" },
    { "fails-every", "TIME", OPTION_QUANTITY, .unit = "s", .low = 1e-6,
      .help = "mean time between failures of a replica" },
    { "restart", "TIME", OPTION_QUANTITY, .unit = "s", .fallback = "5min",
      .help = "time to restart a failed replica" },
    { "scale-to", "N", OPTION_COUNT, .low = 1,
      .help = "autoscale between --replicas and N replicas" },
    { "scale-load", "N", OPTION_QUANTITY, .unit = "1", .low = 1e-3,
      .otherwise = "half of --max-seqs", .help = "requests per replica that the autoscaler aims at" },
    { "scale-every", "TIME", OPTION_QUANTITY, .unit = "s", .low = 1e-3, .fallback = "15s",
      .help = "interval of the autoscaler" },
    { "start-up", "TIME", OPTION_QUANTITY, .unit = "s", .fallback = "2min",
      .help = "time until a new replica takes requests" },
    { 0 } };

static const struct option load_list[] = {
    { "time-scale", "X", OPTION_QUANTITY, .unit = "1", .low = 1e-9, .fallback = "1",
      .help = "factor on the arrival rate" },
    { "rate", "RATE", OPTION_QUANTITY, .unit = "1/s", .low = 1e-6, .high = 1e9, .otherwise = "the trace's",
      .help = "requests per second to all replicas" },
    { "isl", "N", OPTION_TEXT, .otherwise = "the trace's", .help = "new tokens of a prompt, as isl= of a description" },
    { "osl", "N", OPTION_TEXT, .otherwise = "the trace's", .help = "output tokens of a request, as osl=" },
    { "users", "N", OPTION_COUNT, .low = 1,
      .help = "closed loop: N users send the requests one after another" },
    { "concurrency", "N", OPTION_COUNT, .low = 1, .high = 1000000000,
      .help = "closed loop: users of one replica" },
    { "warm-up", "TIME", OPTION_QUANTITY, .unit = "s", .high = 1e9, .otherwise = "two rounds of the users",
      .help = "closed loop: time until requests count; 0s: burst at start" },
    { "think", "TIME", OPTION_QUANTITY, .unit = "s", .high = 1e9, .fallback = "0s",
      .help = "think time between an answer and the next request" },
    { "priority-class", "NAME=N", OPTION_TEXT, .many = true,
      .help = "vllm-v1: at most N sequences in a step with class NAME" },
    { "max-waiting", "N", OPTION_COUNT, .low = 1,
      .help = "refuse a request when N wait per replica" },
    { "patience", "TIME", OPTION_QUANTITY, .unit = "s", .low = 1e-9,
      .help = "a request that waits longer is abandoned" },
    { "ttft", "TIME[@pN]", OPTION_QUANTITY, .unit = "s", TTFT_MEANT, .percentile = NAME_ttft_limit_percentile,
      .help = "limit of the mean time to first token, or of a percentile" },
    { "tpot", "TIME[@pN]", OPTION_QUANTITY, .unit = "s", TPOT_MEANT, .percentile = NAME_tpot_limit_percentile,
      .help = "limit of the mean time per output token, or of a percentile" },
    { "attainment", "SHARE", OPTION_QUANTITY, .unit = "1", .high = 1, .otherwise = "means and percentiles",
      .help = "share of requests that must meet both limits instead" },
    { "seed", "N", OPTION_COUNT, .low = 1, .fallback = "1",
      .help = "seed of failures and draft acceptance, not of arrivals" },
    { "stepping", NULL, OPTION_SWITCH,
      .help = "run every step, no fast-forward: slower, same result" },
    { 0 } };

static const struct option search_list[] = {
    { "find-saturation", NULL, OPTION_SWITCH,
      .help = "find the highest rate that meets the limits, or is stable" },
    { "min-gpus", NULL, OPTION_SWITCH, .help = "find the fewest replicas that meet the limits" },
    { "sweep", "NAME=LOW..HIGH", OPTION_TEXT,
      .help = "a run per value of time-scale, replicas, users, blocks, ..." },
    { "band", NULL, OPTION_SWITCH,
      .help = "also run at both ends of the 80 % interval of the step time" },
    { "points", "N", OPTION_COUNT, .low = 1, .fallback = "10",
      .help = "number of runs of a --sweep" },
    { "repeat", "N", OPTION_COUNT, .low = 1, .high = 100000,
      .help = "runs with other seeds: means with 95 % intervals" },
    { 0 } };

static const struct option file_list[] = {
    { "requests", "FILE", OPTION_FILE, .written = true, .help = "write a CSV line per request; - for the terminal" },
    { "training-rows", "FILE", OPTION_FILE, .written = true, .help = "write rows for llm-d: what a router saw at each request" },
    { "series", "FILE", OPTION_FILE, .written = true, .help = "write the numbers of waiting and running requests over time" },
    { "every", "TIME", OPTION_QUANTITY, .unit = "s", .low = 1e-9,
      .otherwise = "a 200th of the trace", .help = "interval between lines of --series" },
    { "trace", "FILE", OPTION_FILE, .written = true,
      .help = "write steps and requests as trace events for Perfetto" },
    { 0 } };

const struct option_group simulate_server_options = { "Replica", server_list };
static const struct option_group kv_options = { "Cache", cache_list },
                                 pool_options = { "Deployment", pool_list },
                                 load_options = { "Load and limits", load_list },
                                 search_options = { "Several runs", search_list },
                                 file_options = { "Files", file_list };

/* The keys of a description of requests, as options for help. */
static bool description_key(size_t at, struct option *key)
{
    if (at >= generate_key_count)
        return false;
    const struct generate_key *known = &generate_keys[at];
    *key = (struct option){ .name = known->name, .help = known->help, .argument = known->accepted,
                            .fallback = known->usual };
    return true;
}

const struct verb verb_simulate = {
    "simulate", "TRACE | poisson:rate=5,...",
    "Replay a trace through an engine's scheduler: TTFT, TPOT, goodput, queues.",
    { "chalkline simulate trace.csv --blocks 28000 --step-time '10ms + 0.05ms*tokens + 8e-5ms*cached'",
      "chalkline simulate poisson:rate=2,count=2000,input=1000,output=200 --model llama-3.1-8b "
      "--on h100-sxm --gpus 1",
      "chalkline simulate trace.csv --model qwen3-32b --on h200-sxm --gpus 2 --ttft 2s --min-gpus" },
    { &simulate_server_options, &layout_options, &kv_options, &pool_options, &arrival_options, &load_options, &search_options, &file_options,
      &listen_options, &access_options, &metrics_options,
      &model_options, &machine_options, &weight_options, &cache_options, &engine_options, &calibration_options,
      &assume_options, &price_options, &row_options, &table_options, &plot_options, &report_options, &output_options },
    ANSWERS(answer_simulate), .ask = ask_simulate, .divided = true,
    .main = (const char *const[]){ "verdict", "requests_per_s", "output_rate", "ttft.mean", "tpot.mean", "busy", NULL },
    .key_title = "Requests by description: poisson:KEY=VALUE,... (also gamma and constant)",
      .key = description_key };
