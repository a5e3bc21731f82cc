#include "scenario/options.h"

#include "build/row_names.h"

static const char model_title[] = "Model and machine", point_title[] = "Operating point",
                  run_title[] = "Training and life", row_title[] = "Rows", output_title[] = "Output";

#define GROUP(group, title, ...)                                                               \
    static const struct option group##_list[] = { __VA_ARGS__, { 0 } };                        \
    const struct option_group group = { title, group##_list };

GROUP(model_options, model_title,
    { "model", "NAME", OPTION_TEXT, .help = "a catalog name, or a config.json or GGUF file" })
GROUP(machine_options, model_title,
    { "on", "NAME", OPTION_TEXT, .help = "a catalog name, or a CSV file of the same columns" })
GROUP(chip_options, model_title,
    { "gpus", "N", OPTION_ROW, .row = NAME_chips, .otherwise = "one scale-up domain",
      .help = "chips in use" })
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
    { "batch", "N", OPTION_ROW, .row = NAME_batch,
      .otherwise = "the smallest within 25 % of the lowest cost",
      .help = "sequences in a step" },
    { "context", "N", OPTION_ROW, .row = NAME_context, .otherwise = "4096 with a model",
      .help = "tokens of context of each sequence" },
    { "lecture", NULL, OPTION_SWITCH, .help = "the lecture's form: all weights, no attention FLOPs" })
GROUP(length_options, point_title,
    { "isl", "N", OPTION_ROW, .row = NAME_prompt_tokens, .otherwise = "from --context",
      .help = "prompt tokens of a request" },
    { "osl", "N", OPTION_ROW, .row = NAME_output_tokens, .otherwise = "512, or less in a short context",
      .help = "output tokens of a request" })
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
