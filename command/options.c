/* The options that several verbs share, in the groups under which help lists them. An option that sets a
 * row names it, so that its range and unit are those of the row; a default that is no number is in
 * words (`otherwise`). Options of a single verb stand beside the verb. */
#include "command/options.h"

#include "build/row_names.h"

static const char model_title[] = "Model and machine", layout_title[] = "Layout",
                  point_title[] = "Load", limit_title[] = "Limits",
                  run_title[] = "Training", row_title[] = "Rows", output_title[] = "Output";

#define GROUP(group, title, ...)                                                               \
    static const struct option group##_list[] = { __VA_ARGS__, { 0 } };                        \
    const struct option_group group = { title, group##_list };

GROUP(model_options, model_title,
    { "model", "NAME", OPTION_TEXT, .help = "a catalog name, or a config.json or GGUF file" })
GROUP(machine_options, model_title,
    { "on", "NAME", OPTION_TEXT, .help = "a catalog name, a CSV file, several with commas, or all" })
GROUP(chip_options, layout_title,
    { "gpus", "N", OPTION_ROW, .row = NAME_chips, .otherwise = "chosen",
      .help = "GPUs of one replica" })
GROUP(deployment_options, limit_title,
    { "gpus", "N", OPTION_ROW, .row = NAME_deployment_chips, .otherwise = "one scale-up domain",
      .help = "GPUs of the deployment, at most" })
GROUP(layout_options, layout_title,
    { "tp", "N", OPTION_ROW, .row = NAME_tensor_parallel, .otherwise = "chosen",
      .help = "tensor parallelism: GPUs that share each matrix" },
    { "pp", "N", OPTION_ROW, .row = NAME_pipeline_parallel, .otherwise = "chosen",
      .help = "pipeline parallelism: stages" },
    { "ep", "N", OPTION_ROW, .row = NAME_expert_parallel, .otherwise = "chosen",
      .help = "expert parallelism: GPUs that share the experts" },
    { "cp", "N", OPTION_ROW, .row = NAME_context_parallel, .otherwise = "1; in training chosen",
      .help = "context parallelism: GPUs that share a sequence" })
GROUP(rank_options, layout_title,
    { "dp", "N", OPTION_ROW, .row = NAME_attention_dp, .otherwise = "chosen",
      .help = "attention ranks of one replica" })
GROUP(replica_options, layout_title,
    { "replicas", "N", OPTION_ROW, .row = NAME_replicas, .otherwise = "1, or what --rate needs",
      .help = "number of replicas" })
GROUP(budget_options, layout_title,
    { "max-batched-tokens", "N", OPTION_ROW, .row = NAME_step_tokens, .otherwise = "as --chunked-prefill-size",
      .help = "budget: most tokens of one step of one rank" },
    { "chunked-prefill-size", "N", OPTION_ROW, .row = NAME_chunked_prefill_size, .otherwise = "chosen",
      .help = "most prompt tokens of one step" },
    { "max-seqs", "N", OPTION_ROW, .row = NAME_max_num_seqs,
      .help = "most requests that one rank runs" },
    { "link", "RATE", OPTION_ROW, .row = NAME_kv_transfer_bandwidth, .bare = "GB/s", .otherwise = "the machine's",
      .help = "bandwidth of a chip's link between pools" })
GROUP(choose_options, layout_title,
    { "choose", NULL, OPTION_SWITCH, .help = "choose layout and load at each value, not once for all" })
GROUP(weight_options, model_title,
    { "precision", "FORMAT", OPTION_TEXT, .otherwise = "the checkpoint's",
      .help = "format of the weights: bf16, fp8, fp4, int4, ..." },
    { "experts-precision", "FORMAT", OPTION_TEXT, .otherwise = "as --precision",
      .help = "format of the routed experts" })
GROUP(cache_options, model_title,
    { "kv-precision", "FORMAT", OPTION_TEXT, .otherwise = "bf16", .help = "format of the KV cache; keys and values apart: q8_0/f16" })
GROUP(engine_options, model_title,
    { "engine", "NAME[@VERSION]", OPTION_TEXT, .otherwise = "any: all engines, vLLM's steps",
      .help = "engine predicted: vllm, sglang, trtllm, llamacpp or none" })
GROUP(calibration_options, model_title,
    { "calibration", "FILE", OPTION_FILE, .otherwise = "none",
      .help = "a measured server: from `calibrate`, or its benchmark's file",
      .twice = "one calibration of a server: give all files of its measurements to one `chalkline calibrate`" })
GROUP(assume_options, model_title,
    { "as", "FAMILY", OPTION_TEXT, .otherwise = "by its model_type",
      .help = "read the model as one of this family, such as llama" },
    { "families", "FILE", OPTION_FILE, .otherwise = "data/families.csv, built in",
      .help = "more families: rows as data/families.csv has them" },
    { "assume", NULL, OPTION_SWITCH, .help = "treat an unknown architecture as a plain transformer" })
GROUP(point_options, point_title,
    { "batch", "N", OPTION_ROW, .row = NAME_batch, .otherwise = "from the load",
      .help = "sequences in one forward pass" },
    { "context", "N", OPTION_ROW, .row = NAME_context, .otherwise = "4096 with a model",
      .help = "context tokens per sequence" },
    { "lecture", NULL, OPTION_SWITCH, .help = "the lecture's formulas: all weights, no attention FLOPs" })
GROUP(length_options, point_title,
    { "isl", "N", OPTION_ROW, .row = NAME_prompt_tokens, .otherwise = "from --context",
      .help = "prompt tokens of a request" },
    { "osl", "N", OPTION_ROW, .row = NAME_output_tokens, .otherwise = "512, or less in a short context",
      .help = "output tokens of a request" },
    { "isl-cv", "CV", OPTION_ROW, .row = NAME_prompt_tokens_cv, .otherwise = "0: all alike",
      .help = "standard deviation of prompt tokens over their mean" },
    { "osl-cv", "CV", OPTION_ROW, .row = NAME_output_tokens_cv, .otherwise = "0: all alike",
      .help = "standard deviation of output tokens over their mean" },
    { "prefix-hit", "SHARE", OPTION_ROW, .row = NAME_prefix_hit_share,
      .help = "share of prompt tokens found in the KV cache" })
GROUP(image_options, point_title,
    { "images", "N", OPTION_ROW, .row = NAME_images, .otherwise = "0",
      .help = "images of a request, beside the text of --isl" })
GROUP(users_options, point_title,
    { "users", "N", OPTION_ROW, .row = NAME_users, .otherwise = "as many as the limits allow",
      .help = "closed loop: users of all replicas" },
    { "concurrency", "N", OPTION_ROW, .row = NAME_concurrency, .otherwise = "from --users",
      .help = "closed loop: users of one replica" })
GROUP(demand_options, point_title,
    { "rate", "RATE", OPTION_ROW, .row = NAME_request_demand, .otherwise = "from --tokens-per-day",
      .help = "requests per second to all replicas" },
    { "tokens-per-day", "N", OPTION_ROW, .row = NAME_tokens_per_day, .per = "day d", .otherwise = "from --rate",
      .help = "output tokens per day of all replicas" })
static const char *const arrival_words[] = { "even", "0", "random", "1", NULL };
GROUP(arrival_options, point_title,
    { "arrivals", "even|random|CV", OPTION_ROW, .row = NAME_arrivals_cv2, .named = arrival_words, .otherwise = "random",
      .help = "deviation of the gaps between requests over their mean" })
GROUP(think_options, point_title,
    { "think", "TIME", OPTION_ROW, .row = NAME_think_time,
      .help = "time from an answer to its user's next request" })
GROUP(limit_options, limit_title,
    { "speed", "SPEED", OPTION_ROW, .row = NAME_speed_wanted, .per = "user", .otherwise = "20 token/s",
      .help = "wanted token/s per user" },
    { "ttft", "TIME[@pN]", OPTION_ROW, .row = NAME_ttft_limit, TTFT_MEANT, .otherwise = "2 s, more for long prompts",
      .percentile = NAME_ttft_limit_percentile, .help = "limit of the mean time to first token, or of a percentile" },
    { "tpot", "TIME[@pN]", OPTION_ROW, .row = NAME_tpot_limit, TPOT_MEANT, .otherwise = "from --speed",
      .percentile = NAME_tpot_limit_percentile, .help = "limit of the mean time per output token, or of a percentile" })
GROUP(run_options, run_title,
    { "tokens", "N", OPTION_ROW, .row = NAME_training_tokens, TOKENS_MEANT, .help = "training tokens" },
    { "global-batch", "N", OPTION_ROW, .row = NAME_training_sequences,
      .help = "sequences per training step" },
    { "seq-length", "N", OPTION_ROW, .row = NAME_sequence_length,
      .help = "tokens per training sequence" })
GROUP(served_options, run_title,
    { "served", "N", OPTION_ROW, .row = NAME_served_tokens, .otherwise = "token_rate x model_lifetime",
      .help = "tokens that a model serves over its lifetime" })
GROUP(tier_options, point_title,
    { "tiers", "FILE", OPTION_FILE, .otherwise = "data/tiers.csv",
      .help = "memory tiers for the KV cache of idle conversations (CSV)" })
GROUP(row_options, row_title,
    { "set", "NAME=VALUE", OPTION_TEXT, .many = true,
      .help = "set any row to a number, range, distribution or expression" },
    { "rows", "FILE", OPTION_FILE, .many = true, .help = "read more rows, or new definitions of rows" })
GROUP(deck_options, row_title,
    { "deck", "NAME", OPTION_TEXT, .help = "set rows to inputs of the lecture: a name in data/decks.csv" })
GROUP(table_options, output_title,
    { "csv", NULL, OPTION_SWITCH, .help = "print the table as CSV" })
GROUP(plot_options, output_title,
    { "plot", "FILE", OPTION_FILE, .written = true, .help = "draw to a .png or .svg file, or - for the terminal" })
GROUP(report_options, output_title,
    { "report", "FILE", OPTION_FILE, .written = true, .help = "write a document too: one HTML file, which prints to A4" },
    { "report-page", NULL, OPTION_SWITCH, .help = "bring the live page along in the report, behind a link" })
GROUP(output_options, output_title,
    { "json", NULL, OPTION_SWITCH, .help = "print the answer as JSON" },
    { "help", NULL, OPTION_SWITCH, .letter = 'h', .help = "print this help; -h is shorter" },
    { "version", NULL, OPTION_SWITCH, .letter = 'V', .help = "print the version" })
