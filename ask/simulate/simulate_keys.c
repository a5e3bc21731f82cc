/* The keys of the answer of `simulate`, as records for the API, its schemas and the template.
 *
 * Every kind of answer is here: one run, a sweep or a search, --repeat, --hit-rates. No statistic is
 * the name of a row. tests/unit/serve_test.c checks that an answer has no other keys. */
#include "ask/simulate/trials.h"

#include "build/row_names.h"

static const struct record quantiles_record = { "Quantiles", (const struct answer_field[]){
#define NUMBER(key, words) { FIELD_NUMBER, key, .help = words, .unit = "s", .always = true, .null = true },
    NUMBER("mean", "mean of all requests")
    NUMBER("p50", "median")
    NUMBER("p90", "90th percentile")
    NUMBER("p95", "95th percentile")
    NUMBER("p99", "99th percentile")
    NUMBER("max", "maximum")
#undef NUMBER
    { 0 } } };

static const char *const times[] = { "ttft", "tpot", "e2e" };

static const struct record class_record = { "SimulatedClass", (const struct answer_field[]){
    { FIELD_RECORD, .help = "times of the requests of this class", .names = times, .count = 3,
      .record = &quantiles_record, .always = true },
    { 0 } } };
static const struct record classes_record = { "SimulatedClasses", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a class, by its name", .record = &class_record },
    { 0 } } };

static const struct record left_out_record = { "LeftOut", (const struct answer_field[]){
    { FIELD_NUMBER, "warm_up_s", .help = "length of the warm-up", .unit = "s", .always = true },
    { FIELD_NUMBER, "requests", .help = "requests of the warm-up", .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "first", "last" }, .count = 2 },
    { 0 } } };

/* Lines of tables and reports that people read, and the CSV. */
static const struct record time_record = { "SimulatedTime", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .count = 9, .names = (const char *const[]){
          "class", "time", "mean", "p50", "p90", "p95", "p99", "max", "count" } },
    { 0 } } };
static const struct record class_line_record = { "ClassLine", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "class", "class_met", "class_rent" }, .count = 3 },
    { 0 } } };
static const struct record interval_record = { "Interval", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .count = 4,
      .names = (const char *const[]){ "name", "mean", "half_interval", "is_share" } },
    { 0 } } };

static const struct record tier_record = { "SimulatedTier", (const struct answer_field[]){
    { FIELD_NUMBER, "hit_share", .help = "share of the looked-up blocks found in this tier",
      .always = true, .null = true },
    { FIELD_NUMBER, "read_bytes", .help = "bytes fetched from the tier", .unit = "B", .always = true },
    { FIELD_NUMBER, "written_bytes", .help = "bytes written to the tier", .unit = "B", .always = true },
    { FIELD_NUMBER, "most_held_bytes", .help = "most bytes held at one time", .unit = "B", .always = true },
    { FIELD_NUMBER, "busy", .help = "time during which its link is busy", .unit = "s", .always = true },
    { FIELD_NUMBER, "wear", .help = "share of its write endurance used up", .always = true, .null = true },
    { FIELD_NUMBER, "cost", .help = "cost of holding, fetching and writing", .unit = "USD", .always = true,
      .null = true },
    { FIELD_NUMBER, "expired", .help = "blocks that expired", .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "tier" }, .count = 1 },
    { 0 } } };
static const struct record tiers_record = { "SimulatedTiers", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a tier, by its words", .record = &tier_record },
    { 0 } } };

static const struct record rents_record = { "ClassRents", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "rent per output token of the class", .unit = "USD/token", .null = true },
    { 0 } } };

static const char *const sizes[] = { "servers", "blocks", "max_seqs", "chunk", "ranks", "stages" };

static const struct record prompts_record = { "PromptPool", (const struct answer_field[]){
    { FIELD_NUMBER, .help = "sizes of the prefill servers", .names = sizes, .count = 6, .always = true },
    { FIELD_NUMBER, "busy", .help = "share of the time during which they are busy", .always = true },
    { 0 } } };

static const struct record settings_record = { "SimulatedServers", (const struct answer_field[]){
    { FIELD_TEXT, "scheduler", .help = "which requests enter a step", .always = true },
    { FIELD_TEXT, "rules", .help = "the same as scheduler", .always = true },
    { FIELD_TEXT, "engine", .help = "whose step times are predicted; any: all engines together; absent: a formula gives them" },
    { FIELD_TEXT, "router", .help = "where a request goes", .always = true },
    { FIELD_NUMBER, "refresh", .help = "interval at which the router looks; absent: it is always up to date", .unit = "s" },
    { FIELD_NUMBER, .help = "sizes of the servers", .names = sizes, .count = 6, .always = true },
    { FIELD_NUMBER, "block", .help = "tokens per KV block", .unit = "token", .always = true },
    { FIELD_NUMBER, "ahead", .help = "1: asynchronous scheduling, a step is prepared while another runs", .always = true },
    { FIELD_RECORD, "prompts", .help = "the prefill pool", .record = &prompts_record },
    { FIELD_NUMBER, "decodes_busy", .help = "share of the time during which the decode servers are busy" },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "cadence", "budget", "even" }, .count = 3 },
    { 0 } } };

static const struct record hit_record = { "CacheHits", (const struct answer_field[]){
    { FIELD_NUMBER, "blocks", .help = "blocks of the cache; absent: without limit" },
    { FIELD_NUMBER, "found_share", .help = "share of prompt tokens found", .always = true },
    { 0 } } };

static const struct record run_record = { "SimulatedRun", (const struct answer_field[]){
    { FIELD_TEXT, "verdict", .help = "stable, backlogged or overloaded; null: a closed loop", .always = true,
      .null = true },
    { FIELD_OTHERS, .help = "the quantity that was varied, and numbers of the run", .unit = "", .null = true,
      .names = number_names, .count = NUMBER_COUNT },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "at", "misses" }, .count = 2 },
    { 0 } } };

static const struct record repeated_record = { "Repeated", (const struct answer_field[]){
    { FIELD_NUMBER, "mean", .help = "mean of all runs", .unit = "", .always = true, .null = true },
    { FIELD_NUMBER, "half_interval", .help = "half the width of its 95 % interval", .unit = "",
      .always = true,
      .null = true },
    { 0 } } };

static const struct record banded_record = { "SimulatedBand", (const struct answer_field[]){
    { FIELD_NUMBER, "value", .help = "with steps as predicted", .unit = "", .always = true, .null = true },
    { FIELD_NUMBER, "low", .help = "lower end of its interval", .unit = "", .always = true, .null = true },
    { FIELD_NUMBER, "high", .help = "upper end of its interval", .unit = "", .always = true, .null = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "name", "is_share" }, .count = 2 },
    { 0 } } };
static const char *const most_users[] = { "most_users" };
static const struct record band_record = { "SimulatedBands", (const struct answer_field[]){
    { FIELD_NUMBER, "factor_low", .help = "factor on the step time of the fast run" },
    { FIELD_NUMBER, "factor_high", .help = "of the slow run" },
    { FIELD_TEXT, "verdict_low", .help = "of the fast run", .null = true },
    { FIELD_TEXT, "verdict_high", .help = "of the slow run", .null = true },
    { FIELD_RECORD, .help = "a number of the run, or where it saturates", .names = number_names,
      .count = NUMBER_COUNT, .record = &banded_record },
    { FIELD_RECORD, .help = "--find-saturation of users", .names = most_users, .count = 1,
      .record = &banded_record },
    { 0 } } };

/* --find-saturation of users: as many as meet the limits. */
static const char *const found_rows[] = { NAME_users };

/* Of one run; with a search or a sweep `runs`, with --repeat means; with --hit-rates that alone. */
const struct record answer_simulate = { "Simulate", (const struct answer_field[]){
#define COUNT(key, words) { FIELD_NUMBER, key, .help = words },
    COUNT("requests", "requests of the trace")
    COUNT("answered", "requests that were answered")
    COUNT("iterations", "engine steps of all servers")
    COUNT("batch_tokens", "tokens that all steps processed")
    COUNT("preemptions", "preemptions: sequences that began again because KV blocks ran out")
    COUNT("queued", "share of the time in which requests waited")
    COUNT("waiting_at_last", "requests that waited when the last request arrived")
    COUNT("servers_mean", "mean number of servers")
    COUNT("refused", "requests refused because the queue was full")
    COUNT("gave_up", "requests abandoned after --patience")
    COUNT("unasked", "later turns of refused or abandoned requests, which were never asked")
    COUNT("failures", "failures of a server")
    COUNT("lost", "requests that began again after a failure")
    COUNT("cached_share", "share of prompt tokens found in the KV cache")
    COUNT("fetched_share", "share of prompt tokens fetched from a tier")
    COUNT("repeats", "number of runs of --repeat")
    COUNT("time_scale", "--find-saturation: factor by which requests arrive faster than in the trace")
    COUNT("servers", "--min-gpus: fewest servers that meet the limits")
    COUNT("gpus", "--min-gpus: GPUs of these servers")
#undef COUNT
    { FIELD_ROWS, .names = found_rows, .count = 1 },
    { FIELD_NUMBER, "makespan", .help = "from the first arrival to the last token", .unit = "s" },
    { FIELD_NUMBER, "busy", .help = "share of the time in which replicas ran" },
    { FIELD_NUMBER, "utilisation", .help = "the same as busy",
      .record = &repeated_record },
    { FIELD_NUMBER, "requests_per_s", .help = "requests that arrived per second", .unit = "1/s",
      .record = &repeated_record },
    { FIELD_NUMBER, "good_requests_per_s", .help = "requests per second that met the limits",
      .unit = "1/s", .null = true,
      .record = &repeated_record },
    { FIELD_NUMBER, "met", .help = "share of requests that met the limits", .null = true,
      .record = &repeated_record },
    { FIELD_NUMBER, "output_rate", .help = "output tokens", .unit = "token/s",
      .record = &repeated_record },
    { FIELD_NUMBER, "input_rate", .help = "prompt tokens", .unit = "token/s" },
    { FIELD_TEXT, "verdict", .help = "stable, backlogged or overloaded: whether the queue grows; null: a closed loop",
      .null = true },
    { FIELD_RECORD, "ttft", .help = "time to the first token", .record = &quantiles_record },
    { FIELD_RECORD, "tpot", .help = "time per output token after the first", .record = &quantiles_record },
    { FIELD_RECORD, "e2e", .help = "time from arrival to last token", .record = &quantiles_record },
    { FIELD_RECORD, "itl", .help = "inter-token latency: time between two decode steps",
      .record = &quantiles_record },
    { FIELD_RECORD, "classes", .help = "the same times for each class", .record = &classes_record },
    { FIELD_RECORD, "left_out", .help = "in a closed loop, the warm-up that is not counted",
      .record = &left_out_record },
    { FIELD_NUMBER, "moved_bytes", .help = "KV cache moved from prefill to decode", .unit = "B" },
    { FIELD_NUMBER, "move_time", .help = "time of one KV transfer", .unit = "s", .null = true },
    { FIELD_RECORD, "tiers", .help = "KV tiers below GPU memory", .record = &tiers_record },
    { FIELD_NUMBER, "rent", .help = "rent of the servers while they were up", .unit = "USD", .null = true },
    { FIELD_NUMBER, "rent_per_token", .help = "per output token", .unit = "USD/token",
      .null = true, .record = &repeated_record },
    { FIELD_NUMBER, "joules_per_token", .help = "per output token", .unit = "J/token",
      .null = true },
    { FIELD_RECORD, "class_rent_per_token", .help = "rent per output token of each class",
      .record = &rents_record },
    { FIELD_RECORD, "settings", .help = "sizes of the servers", .record = &settings_record },
    { FIELD_RECORD, "band", .help = "--band: 80 % intervals, from runs at both ends of the step time's interval",
      .record = &band_record },
    { FIELD_TEXT_ONLY, "band_lines", .record = &banded_record },
    { FIELD_LIST, "hits", .help = "--hit-rates: share of prompt tokens found, for several cache sizes",
      .record = &hit_record },
    { FIELD_LIST, "runs", .help = "the runs of a search or a sweep", .record = &run_record },
    { FIELD_NUMBER, .help = "--repeat", .unit = "", .names = number_names, .count = NUMBER_COUNT,
      .record = &repeated_record, .null = true },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer" },
    { FIELD_TEXT_ONLY, "times", .record = &time_record },
    { FIELD_TEXT_ONLY, "class_lines", .record = &class_line_record },
    { FIELD_TEXT_ONLY, "intervals", .record = &interval_record },
    { FIELD_TEXT_ONLY, .count = 11, .names = (const char *const[]){
          NAME_ttft_limit, NAME_tpot_limit, "block_tokens", "varied", "limited", "priced",
          "never_saturates", "times_lower", "prompt_servers", "servers_tried", "fewer_miss" } },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "traffic", "model", "machine" }, .count = 3 },
    { 0 } } };
