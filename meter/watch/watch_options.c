/* The verb `watch`: its words and options. */
#include "command/options.h"
#include "meter/watch/watch.h"

#include "build/row_names.h"

static const struct option list[] = {
    { "once", NULL, OPTION_SWITCH, .help = "print one reading and exit" },
    { "since", "FILE", OPTION_FILE, .help = "an earlier scrape of the same server" },
    { "seconds", "TIME", OPTION_QUANTITY, .unit = "s", .low = 1e-3, .high = 1e9,
      .help = "time between the two scrapes" },
    { "every", "TIME", OPTION_QUANTITY, .unit = "s", .low = 0.1, .high = 86400, .fallback = "15s",
      .help = "time from one reading to the next" },
    { "window", "TIME", OPTION_QUANTITY, .unit = "s", .low = 60, .high = 1e7, .fallback = "1h",
      .help = "time whose arrivals the trend is fitted to" },
    { "start-up", "TIME", OPTION_QUANTITY, .unit = "s", .low = 0, .high = 86400, .fallback = "0s",
      .help = "until a new replica answers: as early replicas are wanted" },
    { "ttft", "TIME", OPTION_ROW, .row = NAME_ttft_limit, TTFT_MEANT, .help = "limit of the mean time to first token" },
    { "tpot", "TIME", OPTION_ROW, .row = NAME_tpot_limit, TPOT_MEANT, .help = "limit of the mean time per output token" },
    { "isl", "N", OPTION_COUNT, .low = 1, .high = 1e7, .otherwise = "as the metrics count them",
      .help = "prompt tokens of a request" },
    { "osl", "N", OPTION_COUNT, .low = 1, .high = 1e7, .otherwise = "as the metrics count them",
      .help = "output tokens of a request" },
    { "job", "NAME", OPTION_TEXT, .otherwise = "all of the server's series",
      .help = "of a Prometheus server: the series with this label job" },
    { "output", "FILE", OPTION_FILE, .written = true, .goes_on = true, .letter = 'o', .otherwise = "nothing is written",
      .help = "the calibration by what was read, as --calibration takes it" },
    { "record", "FILE", OPTION_FILE, .written = true, .otherwise = "nothing is written",
      .help = "keep every reading in a file that `watch` reads again" },
    { "listen", "PORT", OPTION_COUNT, .low = 0, .high = 65535, .otherwise = "nobody is answered",
      .help = "serve the findings as metrics; 0: any free port" },
    { "patience", "TIME", OPTION_QUANTITY, .unit = "s", .low = 0.1, .high = 3600, .fallback = "10s",
      .help = "longest wait for an answer" },
    { 0 } };
static const struct option_group watch_options = { "Metrics", list };

static const struct instead instead[] = {
    { "rate", "the metrics count the arrivals" }, { "users", "the metrics count the arrivals, whoever sends them" },
    { "concurrency", "the metrics count the arrivals, whoever sends them" },
    { "think", "the metrics count the arrivals, whenever users send them" }, { NULL, NULL } };

const struct verb verb_watch = {
    "watch", "URL | FILE", "Read a server's /metrics: its load, what binds, where it saturates.",
    { "chalkline watch http://127.0.0.1:8000/metrics --once",
      "chalkline watch http://127.0.0.1:8000 --model llama-3.1-8b --on h100-sxm --gpus 1",
      "chalkline watch http://prometheus:9090 --job vllm --on h100-sxm --listen 9464" },
    { &watch_options, &access_options, &model_options, &machine_options, &chip_options, &layout_options, &rank_options,
      &budget_options, &arrival_options, &weight_options, &cache_options, &engine_options, &calibration_options, &assume_options, &row_options,
      &output_options },
    .ask = ask_watch, .documented = true, .own_on = true, .instead = instead };
