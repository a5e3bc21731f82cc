/* serving.csv: published serving figures, one a row. What the columns leave out (engine,
 * lengths drawn from a range, pools, speculation) is in the notes, which say it in a few
 * fixed phrases. */
#include "score/measured.h"

#include "build/row_names.h"

#include <stdlib.h>
#include <string.h>

/* What a metric of the file measures: the rows that predict it in one server and in a split
 * one (NULL: none does), and what turns the figure into base units of that row. */
static const struct figure {
    const char *name;
    enum metric metric;
    const char *row, *split;
    enum { AS_IS, MILLISECONDS, PER_CHIP, PER_NODE, PER_USER } scale;
} figures[] = {
    { "output_throughput_total", METRIC_THROUGHPUT, NAME_predicted_throughput, NAME_disagg_throughput,
      AS_IS },
    { "total_throughput_per_gpu", METRIC_THROUGHPUT, NAME_total_throughput_per_chip,
      NAME_split_total_throughput_per_chip, AS_IS },
    { "tpot_median", METRIC_TPOT, NAME_predicted_tpot, NAME_disagg_tpot, MILLISECONDS },
    { "tpot_mean", METRIC_TPOT, NAME_predicted_tpot, NAME_disagg_tpot, MILLISECONDS },
    { "itl_mean", METRIC_TPOT, NAME_predicted_tpot, NAME_disagg_tpot, MILLISECONDS },
    { "ttft_mean", METRIC_TTFT, NAME_predicted_ttft, NAME_disagg_ttft, MILLISECONDS },
    { "output_speed_per_user", METRIC_TPOT, NAME_predicted_tpot, NAME_disagg_tpot, PER_USER },
    { "energy_per_output_token", METRIC_ENERGY, NAME_predicted_energy_per_token,
      NAME_split_energy_per_token, AS_IS },
    { "prefill_throughput_total", METRIC_PREFILL, NAME_prefill_alone, NULL, AS_IS },
    { "prefill_input_throughput_total", METRIC_PREFILL, NAME_prefill_alone, NULL, AS_IS },
    { "prefill_input_throughput_per_gpu", METRIC_PREFILL, NAME_prefill_alone, NULL, PER_CHIP },
    { "prefill_input_throughput_per_8gpu_node", METRIC_PREFILL, NAME_prefill_alone, NULL, PER_NODE },
    { "decode_throughput_total", METRIC_DECODE, NAME_decode_alone, NULL, AS_IS },
    { "decode_output_throughput_per_gpu", METRIC_DECODE, NAME_decode_alone, NULL, PER_CHIP },
    { "decode_output_throughput_per_8gpu_node", METRIC_DECODE, NAME_decode_alone, NULL, PER_NODE },
};

enum { NODE_CHIPS = 8, OFFLINE_SEQUENCES = 4096 };      /* trtllm-bench: --max_batch_size */

struct reading {
    const struct figure *figure;
    const char *note;
    double chips, tensor, pipeline, data;       /* 0: not stated */
    double load, input, output;
    bool offline, split;
    bool at_speed;                              /* as many users as a stated speed allows */
};

static const struct figure *figure_of(const char *name)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!strcmp(figures[i].name, name))
            return &figures[i];
    return NULL;
}

static const char *engine_of(const char *note, const char *source)
{
    static const struct { const char *word, *engine; } words[] = {
        { "TensorRT-LLM", "trtllm" }, { "SGLang", "sglang" }, { "vLLM", "vllm" },
        { "sglang", "sglang" }, { "vllm", "vllm" }, { "llama.cpp", "llamacpp" },
        { "GPU-Benchmarks-on-LLM-Inference", "llamacpp" }, { "nim/", "trtllm" },
        { "lm-sys", "sglang" }, { "open-infra-index", "none" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(note, words[i].word) || strstr(source, words[i].word))
            return words[i].engine;
    return NULL;
}

/* ---- formats ------------------------------------------------------------------------------- */

static const char *cache_format(const char *precision)
{
    static const char *const narrow[] = { "fp8", "fp4", "nvfp4", "mxfp4" };
    if (strstr(precision, "kv fp16") || strstr(precision, "bf16 attention"))
        return "bf16";
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        if (!strncmp(precision, narrow[i], strlen(narrow[i])))
            return strcmp(narrow[i], "mxfp4") ? "fp8" : "bf16";
    return "bf16";
}

static void read_formats(struct arena *arena, const char *precision, struct measured *point)
{
    const char *word = arena_copy(arena, precision, strcspn(precision, " ;"));
    if (!strcmp(word, "f16"))
        word = "fp16";
    if (!strcmp(word, "uint4"))
        word = "int4";
    if (point->engine && !strcmp(point->engine, "llamacpp") && !strcmp(word, "mxfp4"))
        word = "mxfp4-a16";                     /* it multiplies in 16 bits */
    point->precision = *word ? word : NULL;
    point->experts_only = strstr(word, "fp4") != NULL;
    point->kv = cache_format(precision);
}

/* ---- sizes and load ------------------------------------------------------------------------ */

static double after_in(const char *from, const char *to, const char *key)
{
    const char *at = strstr(from, key);
    return at && at < to ? strtod(at + strlen(key), NULL) : 0;
}

/* "disaggregated 1 prefill TP2/EP2 DP-attention + 1 decode TP4". */
static void read_pools(const struct reading *reading, struct measured *point)
{
    const char *prefill = strstr(reading->note, "disaggregated ") + strlen("disaggregated ");
    const char *decode = strchr(prefill, '+');
    if (!decode) {
        point->refused = "disaggregated, its pools not stated";
        return;
    }
    const char *end = decode + strcspn(decode, ";");
    double prefill_chips = after_in(prefill, decode, "prefill TP");
    double decode_chips = after_in(decode, end, "decode TP");
    const char *prefill_dp = strstr(prefill, "DP-attention");
    const char *decode_dp = strstr(decode, "DP-attention");
    measured_input(point, NAME_chips, decode_chips);
    measured_input(point, NAME_attention_dp, decode_dp && decode_dp < end ? decode_chips : 1);
    measured_input(point, NAME_decode_workers, strtod(decode + 1, NULL));
    measured_input(point, NAME_prefill_workers, strtod(prefill, NULL));
    measured_input(point, NAME_prefill_chips, prefill_chips);
    measured_input(point, NAME_prefill_attention_dp,
                   prefill_dp && prefill_dp < decode ? prefill_chips : 1);
    if (!(prefill_chips >= 1) || !(decode_chips >= 1))
        point->refused = "disaggregated, its pools not stated";
}

/* A benchmark that may turn attention ranks on does so, where it is for throughput. */
static void read_layout(const struct reading *reading, struct measured *point)
{
    measured_input(point, NAME_chips, reading->chips);
    bool ranks = reading->data < 1 && (strstr(reading->note, "attention-DP and EP") ||
                                      strstr(reading->note, "attention DP and EP"));
    double data = ranks ? reading->tensor : reading->data;
    measured_input(point, NAME_attention_dp, data > 1 ? data : 1);
    if (reading->offline)
        measured_input(point, NAME_max_num_seqs, OFFLINE_SEQUENCES);
    if (reading->pipeline > 1)
        measured_input(point, NAME_pipeline_parallel, reading->pipeline);
    if (!(reading->tensor >= 1) && reading->chips != 1)
        point->refused = "layout not stated: tp";
}

static void read_drafts(const struct reading *reading, struct measured *point)
{
    enum { USUAL = 3 };
    const char *at = strstr(reading->note, "MTP ");
    if (!at || strstr(reading->note, "no MTP"))
        return;
    double drafts = measured_after(at, "MTP with ");
    measured_input(point, NAME_draft_tokens, drafts > 0 ? drafts : USUAL);
    point->kind = drafts > 0 ? "multi-token prediction" : "multi-token prediction, depth assumed";
}

/* A phase measured alone: a batch is requests, or where the note says so tokens or requests
 * per chip; llama-bench and DeepSeek leave out what they do not have. */
static void read_phase(struct reading *reading, struct measured *point)
{
    bool prefill = reading->figure->metric == METRIC_PREFILL;
    double pass = measured_after(reading->note, "ubatch ");
    if (prefill && strstr(reading->note, "tokens per GPU"))
        pass = reading->load;
    if (strstr(reading->note, "requests per GPU"))
        reading->load *= reading->chips;
    else if (prefill && pass > 0 && strstr(reading->note, "tokens per GPU"))
        reading->load = reading->input > 0 ? reading->chips * pass / reading->input : 0;
    /* a production server states neither: its published profile has these */
    enum { PROFILE_PASS = 16384, PROFILE_PROMPT = 4096 };
    double speed = measured_after(reading->note, "user speed ");
    if (prefill && !(reading->load > 0) && !reading->offline && !(reading->input > 0)) {
        pass = PROFILE_PASS;
        reading->input = PROFILE_PROMPT;
        reading->load = reading->chips * pass / reading->input;
    } else if (!prefill && !(reading->load > 0) && speed > 0) {
        measured_input(point, NAME_speed_wanted, speed);
        reading->at_speed = true;
    }
    if (pass > 0)
        measured_input(point, NAME_chunked_prefill_size, pass);
    if (strstr(reading->note, "two-batch overlap") || reading->chips > NODE_CHIPS)
        measured_input(point, NAME_comm_overlap_share, 1);
    if (!prefill && !(reading->input > 0))
        reading->input = 1;
}

static double value_of(const struct reading *reading, double value)
{
    double hits = strstr(reading->note, "cache-hit")
                  ? measured_after(reading->note, "INCLUDES ") / 100 : 0;
    switch (reading->figure->scale) {
    case MILLISECONDS: return 1e-3 * value;
    case PER_CHIP:     return value * reading->chips * (1 - hits);
    case PER_NODE:     return value * reading->chips / NODE_CHIPS * (1 - hits);
    case PER_USER:     return value > 0 ? 1 / value : 0;
    default:           return value;
    }
}

static const char *row_of(const struct reading *reading)
{
    if (reading->offline && reading->figure->metric == METRIC_THROUGHPUT)
        return NAME_saturated_throughput;
    if (reading->at_speed)
        return NAME_decode_at_speed;
    return reading->split ? reading->figure->split : reading->figure->row;
}

static const char *kind_of(const struct reading *reading)
{
    if (strstr(reading->note, "production"))
        return "production";
    if (reading->figure->metric == METRIC_PREFILL)
        return "prefill alone";
    if (reading->figure->metric == METRIC_DECODE)
        return "decode alone";
    return reading->split ? "disaggregated" : reading->offline ? "offline" : "aggregated";
}

static struct reading read_cells(const struct csv *csv, size_t row)
{
    return (struct reading){
        .figure = figure_of(measured_word(csv, row, "metric")),
        .note = measured_word(csv, row, "note"),
        .chips = measured_number(csv, row, "gpus"),
        .tensor = measured_number(csv, row, "tp"),
        .pipeline = measured_number(csv, row, "pp"),
        .data = measured_number(csv, row, "dp"),
        .load = measured_number(csv, row, "batch_concurrency"),
        .input = measured_number(csv, row, "input_len"),
        .output = measured_number(csv, row, "output_len"),
        .offline = !strcmp(measured_word(csv, row, "batch_concurrency"), "max"),
    };
}

static void read_row(struct arena *arena, const struct csv *csv, size_t row,
                     struct measured_list *list)
{
    struct measured *point = measured_add(arena, list, csv, row);
    struct reading reading = read_cells(csv, row);
    point->source = measured_word(csv, row, "source");
    point->kind = "aggregated";
    point->model = measured_word(csv, row, "model");
    point->machine = measured_word(csv, row, "hardware");
    point->engine = engine_of(reading.note, point->source);
    read_formats(arena, measured_word(csv, row, "precision"), point);
    const char *unit = measured_word(csv, row, "unit");
    if (reading.figure && *unit && (reading.figure->scale == MILLISECONDS) != !strcmp(unit, "ms")) {
        point->refused = "a unit that is not the metric's";
        return;
    }
    if (!reading.figure) {
        point->refused = strstr(measured_word(csv, row, "metric"), "mlperf")
                         ? "MLPerf: layout and lengths not stated" : "a metric no row predicts";
        return;
    }
    reading.split = strstr(reading.note, "disaggregated ") && strstr(reading.note, "prefill TP");
    point->kind = kind_of(&reading);
    if (reading.split)
        read_pools(&reading, point);
    else
        read_layout(&reading, point);
    read_drafts(&reading, point);
    enum metric metric = reading.figure->metric;
    bool phase = metric == METRIC_PREFILL || metric == METRIC_DECODE;
    if (phase)
        read_phase(&reading, point);
    double scale = strstr(reading.note, "0.8x to 1.0x") ? 0.9 : 1;      /* drawn from a range */
    double output = phase && !(reading.output > 0) ? 1 : scale * reading.output;
    point->chips = reading.chips;
    point->concurrency = reading.load;
    bool loaded = reading.load > 0 || reading.offline || reading.at_speed;
    if (reading.load > 0)
        measured_input(point, NAME_concurrency, reading.load);
    measured_input(point, NAME_prompt_tokens, scale * reading.input);
    measured_input(point, NAME_output_tokens, output);
    measured_value(point, reading.figure->metric, row_of(&reading),
                   value_of(&reading, measured_number(csv, row, "value")));
    if (!point->refused && (!loaded || !(reading.input >= 1) ||
                            !(output >= 1) || !point->value_count || !point->values[0].row))
        point->refused = "load or lengths not stated";
}

void measured_serving(struct arena *arena, const struct csv *csv, struct measured_list *list)
{
    for (size_t row = 0; row < csv->rows; row++)
        if (measured_trains(csv, row))
            measured_training(arena, csv, row, list);
        else
            read_row(arena, csv, row, list);
}
