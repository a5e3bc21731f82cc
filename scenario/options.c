#include "scenario/options.h"

#include "build/row_names.h"

static const char model_title[] = "Model and machine", layout_title[] = "Layout",
                  point_title[] = "Load", limit_title[] = "Limits",
                  run_title[] = "Training and life", row_title[] = "Rows", output_title[] = "Output";

#define GROUP(group, title, ...)                                                               \
    static const struct option group##_list[] = { __VA_ARGS__, { 0 } };                        \
    const struct option_group group = { title, group##_list };

GROUP(model_options, model_title,
    { "model", "NAME", OPTION_TEXT, .help = "a catalog name, or a config.json or GGUF file" })
GROUP(machine_options, model_title,
    { "on", "NAME", OPTION_TEXT, .help = "a catalog name, or a CSV file of the same columns" })
GROUP(chip_options, layout_title,
    { "gpus", "N", OPTION_ROW, .row = NAME_chips, .otherwise = "chosen",
      .help = "GPUs of one replica" })
GROUP(layout_options, layout_title,
    { "tp", "N", OPTION_ROW, .row = NAME_tensor_parallel, .otherwise = "chosen",
      .help = "tensor parallelism: GPUs that share a matrix" },
    { "pp", "N", OPTION_ROW, .row = NAME_pipeline_parallel, .otherwise = "chosen",
      .help = "pipeline stages" },
    { "ep", "N", OPTION_ROW, .row = NAME_expert_parallel, .otherwise = "chosen",
      .help = "GPUs over which whole experts are spread" },
    { "cp", "N", OPTION_ROW, .row = NAME_context_parallel, .otherwise = "1; in training chosen",
      .help = "GPUs that share a sequence" })
GROUP(replica_options, layout_title,
    { "dp", "N", OPTION_ROW, .row = NAME_attention_dp, .otherwise = "chosen",
      .help = "attention ranks of one replica" },
    { "replicas", "N", OPTION_ROW, .row = NAME_replicas, .otherwise = "1, or what --rate needs",
      .help = "replicas beside each other" })
GROUP(weight_options, model_title,
    { "precision", "FORMAT", OPTION_TEXT, .otherwise = "the checkpoint's",
      .help = "format of the weights: bf16, fp8, fp4, int4, ..." },
    { "experts-precision", "FORMAT", OPTION_TEXT, .otherwise = "as --precision",
      .help = "format of the routed experts" })
GROUP(cache_options, model_title,
    { "kv-precision", "FORMAT", OPTION_TEXT, .otherwise = "bf16", .help = "format of the KV cache" })
GROUP(engine_options, model_title,
    { "engine", "NAME", OPTION_TEXT, .otherwise = "what all engines share",
      .help = "vllm, sglang, trtllm, llamacpp or none: host times of the prediction" })
GROUP(assume_options, model_title,
    { "assume", NULL, OPTION_SWITCH, .help = "read an unknown architecture as a plain transformer" })
GROUP(point_options, point_title,
    { "batch", "N", OPTION_ROW, .row = NAME_batch, .otherwise = "those of the load",
      .help = "sequences in a step" },
    { "context", "N", OPTION_ROW, .row = NAME_context, .otherwise = "4096 with a model",
      .help = "tokens of context of each sequence" },
    { "lecture", NULL, OPTION_SWITCH, .help = "the lecture's form: all weights, no attention FLOPs" })
GROUP(length_options, point_title,
    { "isl", "N", OPTION_ROW, .row = NAME_prompt_tokens, .otherwise = "from --context",
      .help = "prompt tokens of a request" },
    { "osl", "N", OPTION_ROW, .row = NAME_output_tokens, .otherwise = "512, or less in a short context",
      .help = "output tokens of a request" },
    { "prefix-hit", "SHARE", OPTION_ROW, .row = NAME_prefix_hit_share,
      .help = "share of a prompt that is in the cache" })
GROUP(rate_options, point_title,
    { "users", "N", OPTION_ROW, .row = NAME_users, .otherwise = "as many as keep the limits",
      .help = "requests in flight, in all replicas" },
    { "concurrency", "N", OPTION_ROW, .row = NAME_concurrency, .otherwise = "from --users",
      .help = "requests in flight, in one replica" },
    { "rate", "RATE", OPTION_ROW, .row = NAME_request_demand, .otherwise = "from --tokens-per-day",
      .help = "requests a second, to all replicas" },
    { "tokens-per-day", "N", OPTION_ROW, .row = NAME_tokens_per_day, .otherwise = "from --rate",
      .help = "output tokens a day, of all replicas" })
GROUP(limit_options, limit_title,
    { "speed", "SPEED", OPTION_ROW, .row = NAME_speed_wanted, .otherwise = "20 token/s",
      .help = "token/s that each user is to see" },
    { "ttft", "TIME", OPTION_ROW, .row = NAME_ttft_limit, .otherwise = "2 s, more for long prompts",
      .help = "limit of the time to first token" },
    { "tpot", "TIME", OPTION_ROW, .row = NAME_tpot_limit, .otherwise = "from --speed",
      .help = "limit of the time per output token" })
GROUP(run_options, run_title,
    { "tokens", "N", OPTION_ROW, .row = NAME_training_tokens, .help = "tokens of a training run" },
    { "sequences", "N", OPTION_ROW, .row = NAME_training_sequences,
      .help = "sequences of one training step" },
    { "length", "N", OPTION_ROW, .row = NAME_sequence_length,
      .help = "tokens of a training sequence" })
GROUP(served_options, run_title,
    { "served", "N", OPTION_ROW, .row = NAME_served_tokens, .otherwise = "token_rate x lifetime",
      .help = "tokens that a model serves in its life" })
GROUP(tier_options, point_title,
    { "tiers", "FILE", OPTION_FILE, .otherwise = "data/tiers.csv",
      .help = "tiers where the cache of a paused conversation may wait (CSV)" })
GROUP(row_options, row_title,
    { "set", "NAME=VALUE", OPTION_TEXT, .many = true,
      .help = "a number, range, distribution or expression for any row" },
    { "rows", "FILE", OPTION_FILE, .many = true, .help = "more rows, or other definitions of rows" })
GROUP(table_options, output_title,
    { "csv", NULL, OPTION_SWITCH, .help = "the answer as CSV, where it is a table" })
GROUP(plot_options, output_title,
    { "plot", "FILE", OPTION_FILE, .help = "draw to a .png or .svg file, or - for the terminal" })
GROUP(output_options, output_title,
    { "json", NULL, OPTION_SWITCH, .help = "the answer as JSON" },
    { "help", NULL, OPTION_SWITCH, .letter = 'h', .help = "this help; -h is short" },
    { "version", NULL, OPTION_SWITCH, .letter = 'V', .help = "the version" })
