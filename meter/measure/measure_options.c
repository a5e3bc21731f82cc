/* The verb `measure`: its words and options. */
#include "command/options.h"
#include "meter/measure/measure.h"

#include "build/row_names.h"

static const struct option list[] = {
    { "served-name", "NAME", OPTION_TEXT, .otherwise = "--model if the endpoint has it, else its first",
      .help = "model to ask the endpoint for" },
    { "budget", "TIME", OPTION_QUANTITY, .unit = "s", .low = 1, .high = 86400, .fallback = "1min",
      .help = "time for all loads together" },
    { "tokens", "N", OPTION_COUNT, .low = 1, .high = 1e12, .otherwise = "no limit",
      .help = "most tokens to spend, of prompts and answers" },
    { "loads", "N,N,...", OPTION_TEXT, .otherwise = "1, 4, 16 and 64",
      .help = "requests in flight, one load after the other" },
    { "rate", "RATE", OPTION_QUANTITY, .unit = "1/s", .low = 1e-3, .high = 1e4, .otherwise = "closed loops",
      .help = "open loop: send requests at random times at this rate" },
    { "isl", "N", OPTION_COUNT, .low = 1, .high = 1e6, .fallback = "512", .help = "prompt tokens" },
    { "osl", "N", OPTION_COUNT, .low = 1, .high = 1e6, .fallback = "128", .help = "output tokens" },
    { "vary", "SHARE", OPTION_QUANTITY, .unit = "1", .high = 0.5, .otherwise = "none of --isl and --osl",
      .fallback = "0.3", .help = "standard deviation of both lengths over their means" },
    { "timeout", "TIME", OPTION_QUANTITY, .unit = "s", .low = 0.1, .high = 86400, .fallback = "1min",
      .help = "a request of which nothing comes for so long has failed" },
    { "seed", "N", OPTION_COUNT, .low = 0, .high = 1e9, .otherwise = "another each time, which the answer states",
      .help = "of prompts and arrivals" },
    { "key-file", "FILE", OPTION_FILE, .otherwise = "CHALKLINE_API_KEY", .help = "file with the key of the API" },
    { "output", "FILE", OPTION_FILE, .written = true, .letter = 'o',
      .help = "a JSON line per request; without a URL: the machine as CSV" },
    { "calibration-out", "FILE", OPTION_FILE, .written = true, .letter = 'c', .otherwise = "it is only printed",
      .help = "with --on: what calibrate makes of the requests, as --calibration takes it" },
    { 0 } };
static const struct option_group measure_options = { "Measurement", list };

const struct verb verb_measure = {
    "measure", "[URL]", "Send traffic to an endpoint and time its tokens; without a URL: time this machine.",
    { "chalkline measure http://127.0.0.1:8000 --budget 5min -o mine.jsonl",
      "chalkline measure http://127.0.0.1:8000 --model qwen3-32b --on h100-sxm --gpus 2 -c my-server.csv",
      "chalkline measure -o machine.csv" },
    { &measure_options, &model_options, &machine_options, &chip_options, &layout_options, &rank_options,
      &weight_options, &cache_options, &engine_options, &assume_options, &row_options, &output_options },
    .ask = ask_measure, .documented = true, .own_on = true };
