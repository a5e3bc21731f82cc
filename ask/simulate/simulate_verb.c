/* The verb `simulate` as declared: its options, in groups, with unit, range, default and help.
 *
 * Help, completion, the man page and the API are generated from these tables, and command.c checks
 * values against them. What an option means for a run is read in simulate_options.c. */
#include "ask/ask.h"
#include "ask/simulate/simulate.h"

static const char *const fetch_ways[] = { "sooner", "cheaper", NULL };

static const struct option server_list[] = {
    { "gpus", "N", OPTION_COUNT, .low = 1, .otherwise = "chosen",
      .help = "GPUs of one replica" },
    { "rules", "NAME", OPTION_TEXT, .fallback = "vllm-v1",
      .help = "the scheduler: vllm-v1, sglang, trtllm, sarathi, vllm-2023 or train" },
    { "chunk", "N", OPTION_COUNT, .low = 1, .otherwise = "of a model its engine's",
      .fallback = "512", .help = "tokens of a batch; sglang: of its prompts" },
    { "max-seqs", "N", OPTION_COUNT, .low = 1, .otherwise = "of a model its engine's",
      .fallback = "128", .help = "sequences of a server, of each attention rank" },
    { "max-batch-tokens", "N", OPTION_COUNT, .low = 1,
      .otherwise = "4,096 and 16,384",
      .help = "vllm-2023: sequences x longest prompt; sglang: tokens of all prompts" },
    { "blocks", "N", OPTION_COUNT, .low = 1, .otherwise = "what is left of its memory",
      .help = "cache blocks of a server, of each attention rank" },
    { "block-size", "N", OPTION_COUNT, .low = 1, .high = 65536,
      .otherwise = "of a model its engine's", .fallback = "16", .help = "tokens of a block" },
    { "watermark", "SHARE", OPTION_QUANTITY, .unit = "1", .high = 1,
      .otherwise = "0; of sarathi and vllm-2023 0.01", .help = "share of the blocks that admission leaves free" },
    { "dp", "N", OPTION_COUNT, .low = 1, .high = 4096,
      .otherwise = "of a model chosen", .fallback = "1", .was = "ranks",
      .help = "vllm-v1: attention ranks of one replica" },
    { "draft", "N", OPTION_COUNT, .low = 1, .high = 64, .otherwise = "of a model its draft_tokens",
      .help = "vllm-v1: tokens that each decode guesses ahead" },
    { "accepted", "SHARE", OPTION_QUANTITY, .unit = "1", .high = 1,
      .otherwise = "of a model its acceptance_rate", .fallback = "0.6",
      .help = "probability that a guess is right after right ones" },
    { "sync", NULL, OPTION_SWITCH, .help = "a step is formed when the one before has ended" },
    { "even-stages", NULL, OPTION_SWITCH,
      .help = "vllm-v1: pipeline stages have equal parts of those that decode" },
    { "mixed-chunk", NULL, OPTION_SWITCH, .help = "sglang: decodes join the batches of prompts" },
    { "max-utilization", NULL, OPTION_SWITCH,
      .help = "trtllm: requests start while memory lasts, and pause when it ends" },
    { "conservativeness", "X", OPTION_QUANTITY, .unit = "1", .otherwise = "1",
      .help = "sglang: of the memory kept for tokens to come" },
    { "cadence", "TIME", OPTION_QUANTITY, .unit = "s", .low = 1e-6, .otherwise = "20ms",
      .help = "train: from one departure to the next" },
    { "step-time", "FORMULA", OPTION_TEXT, .otherwise = "the model's on the machine",
      .help = "linear in tokens, cached and sequences: \"10ms + 0.05ms*tokens\"" },
    { "api-time", "TIME", OPTION_QUANTITY, .unit = "s", .otherwise = "of a model its engine's",
      .fallback = "0s", .help = "of each request outside the engine, in TTFT and E2E" },
    { 0 } };

static const struct option cache_list[] = {
    { "tier", "NAME[:KEY=VALUE,...]", OPTION_TEXT, .many = true,
      .help = "vllm-v1: where blocks go that leave the chips, fastest first" },
    { "fetch", "HOW", OPTION_CHOICE, .choices = fetch_ways, .fallback = "sooner",
      .help = "from a tier where that is sooner than recomputing, or cheaper" },
    { "hits", NULL, OPTION_SWITCH,
      .help = "only what caches of several sizes would have had of the prefixes" },
    { 0 } };

static const struct option pool_list[] = {
    { "replicas", "N", OPTION_COUNT, .low = 1, .fallback = "1",
      .help = "servers beside each other" },
    { "router", "NAME", OPTION_CHOICE, .choices = router_names,
      .otherwise = "the scheduler's: least-tokens or least-pending",
      .help = "which of them takes a request" },
    { "prefill-replicas", "N", OPTION_COUNT, .low = 1,
      .help = "a pool of N servers for prompts; the others only decode" },
    { "prefill-on", "NAME", OPTION_TEXT, .otherwise = "--on", .help = "their machine" },
    { "prefill-gpus", "N", OPTION_COUNT, .low = 1, .otherwise = "--gpus; needed with --prefill-on",
      .help = "chips of each" },
    { "link", "BANDWIDTH", OPTION_QUANTITY, .unit = "B/s", .low = 1e6, .fallback = "50GB/s",
      .help = "from prompts to decodes, shared by all that move" },
    { "link-latency", "TIME", OPTION_QUANTITY, .unit = "s", .fallback = "10us",
      .help = "before its first byte" },
    { "fails-every", "TIME", OPTION_QUANTITY, .unit = "s", .low = 1e-6,
      .help = "mean time to the failure of a server; its requests begin again elsewhere" },
    { "restart", "TIME", OPTION_QUANTITY, .unit = "s", .fallback = "5min",
      .help = "until a failed server is back" },
    { "scale-to", "N", OPTION_COUNT, .low = 1,
      .help = "servers come and go with the load, from --replicas to N" },
    { "scale-load", "N", OPTION_QUANTITY, .unit = "1", .low = 1e-3,
      .otherwise = "half of --max-seqs", .help = "requests for each server that are wanted" },
    { "scale-every", "TIME", OPTION_QUANTITY, .unit = "s", .low = 1e-3, .fallback = "15s",
      .help = "from one look at the load to the next" },
    { "start-up", "TIME", OPTION_QUANTITY, .unit = "s", .fallback = "2min",
      .help = "until a new server takes requests" },
    { 0 } };

static const struct option load_list[] = {
    { "time-scale", "X", OPTION_QUANTITY, .unit = "1", .low = 1e-9, .fallback = "1",
      .help = "requests arrive X times as fast" },
    { "users", "N", OPTION_COUNT, .low = 1,
      .help = "N users ask the requests one after the other, whatever their times" },
    { "warm-up", "TIME", OPTION_QUANTITY, .unit = "s", .high = 1e9, .otherwise = "two of their turns",
      .help = "requests of users count from then on; 0s: users all begin at once" },
    { "think", "TIME", OPTION_QUANTITY, .unit = "s", .high = 1e9, .fallback = "0s",
      .help = "from an answer to the user's next question" },
    { "lane", "NAME=N", OPTION_TEXT, .many = true,
      .help = "vllm-v1: at most N sequences in a step that has one of class NAME" },
    { "max-waiting", "N", OPTION_COUNT, .low = 1,
      .help = "a request that finds N waiting for each server is refused" },
    { "patience", "TIME", OPTION_QUANTITY, .unit = "s", .low = 1e-9,
      .help = "a request that waits longer gives up" },
    { "ttft", "TIME", OPTION_QUANTITY, .unit = "s",
      .help = "limit of the time to the first token, for goodput and searches" },
    { "tpot", "TIME", OPTION_QUANTITY, .unit = "s", .help = "limit of the time of a token after it" },
    { "met", "SHARE", OPTION_QUANTITY, .unit = "1", .high = 1, .fallback = "0.99",
      .help = "share of the requests that must meet the limits, for searches" },
    { "seed", "N", OPTION_COUNT, .low = 1, .fallback = "1",
      .help = "of failures and guesses; arrivals have their own" },
    { "stepping", NULL, OPTION_SWITCH,
      .help = "every step by itself instead of leaping: slower, the same answer" },
    { 0 } };

static const struct option search_list[] = {
    { "find-saturation", NULL, OPTION_SWITCH,
      .help = "the highest rate at which the limits are met, or nothing piles up" },
    { "min-gpus", NULL, OPTION_SWITCH, .help = "the fewest servers that meet the limits" },
    { "sweep", "NAME=LOW..HIGH", OPTION_TEXT,
      .help = "a run at each value of time-scale, replicas, chunk, max-seqs, ..." },
    { "points", "N", OPTION_COUNT, .low = 1, .fallback = "10",
      .help = "runs of a --sweep" },
    { "repeat", "N", OPTION_COUNT, .low = 1, .high = 100000,
      .help = "runs with other seeds: means with their 95 % intervals" },
    { 0 } };

static const struct option file_list[] = {
    { "requests", "FILE", OPTION_FILE, .help = "write a line for each request; - for the terminal" },
    { "series", "FILE", OPTION_FILE, .help = "write what waits and runs, at every --every" },
    { "every", "TIME", OPTION_QUANTITY, .unit = "s", .low = 1e-9,
      .otherwise = "a 200th of the trace", .help = "from one line of --series to the next" },
    { "trace", "FILE", OPTION_FILE,
      .help = "write steps and requests as trace events, for Perfetto" },
    { 0 } };

static const struct option_group server_options = { "Server", server_list },
                                 kv_options = { "Cache", cache_list },
                                 pool_options = { "Servers", pool_list },
                                 load_options = { "Load and limits", load_list },
                                 search_options = { "Several runs", search_list },
                                 file_options = { "Files", file_list };

const struct verb verb_simulate = {
    "simulate", "TRACE | poisson:rate=5,...",
    "replay requests through a server's scheduler: TTFT, TPOT, queues",
    { "chalkline simulate trace.csv --blocks 28000 --step-time '10ms + 0.05ms*tokens + 8e-5ms*cached'",
      "chalkline simulate poisson:rate=2,count=2000,input=1000,output=200 --model llama-3.1-8b "
      "--on h100-sxm --gpus 1",
      "chalkline simulate trace.csv --model qwen3-32b --on h200-sxm --gpus 2 --ttft 2s --min-gpus" },
    { &server_options, &layout_options, &kv_options, &pool_options, &load_options, &search_options, &file_options,
      &model_options, &machine_options, &weight_options, &cache_options, &engine_options,
      &assume_options, &row_options, &table_options, &plot_options, &output_options }, .ask = ask_simulate };
