/* serving_points.csv: TTFT and TPOT at a concurrency, most of them dumps of InferenceX. */
#include "import/measured.h"

#include <math.h>
#include <string.h>

struct sizes {                      /* of one server, or of the workers of one pool */
    double workers, chips, attention_dp;    /* chips of one worker */
};

/* Sessions that are known to have used multi-token prediction. */
static bool speculative(const struct measured *point)
{
    static const char *const sessions[] = { "measured=2026-01-14", "measured=2026-02-05",
                                            "measured=2026-02-06" };
    if (!strstr(point->model, "DeepSeek"))
        return false;
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++)
        if (strstr(point->source, sessions[i]) && !strcmp(point->engine, "trtllm"))
            return true;
    return strstr(point->source, "measured=2026-03-25") && !strcmp(point->engine, "sglang");
}

/* The size columns of most files multiply what they should list: the width of the experts
 * or, without, the larger of tensor and attention-data ranks is the chips. Those of the
 * gap analysis are plain. */
static struct sizes read_sizes(struct arena *arena, const struct csv *csv, size_t row,
                               const char *pool, bool plain)
{
    double experts = measured_number(csv, row, arena_print(arena, "%smoe_tp_size", pool));
    double tensor = measured_number(csv, row, arena_print(arena, "%stp_size", pool));
    double data = measured_number(csv, row, arena_print(arena, "%sattention_dp_size", pool));
    struct sizes sizes = { .workers = 1 };
    data = fmax(data, 1);
    if (*pool)
        sizes.workers = measured_number(csv, row, arena_print(arena, "%snum_workers", pool));
    sizes.chips = plain ? tensor * data : experts > 1 ? experts : fmax(tensor, data);
    sizes.attention_dp = fmin(data, sizes.chips);
    return sizes;
}

/* An fp4 checkpoint of a mixture of experts keeps all else in 16 bits, a dense one is fp4
 * throughout; the cache of a quantised model is fp8, of a bf16 one bf16. */
static void read_formats(const struct csv *csv, size_t row, struct measured *point)
{
    const char *precision = measured_word(csv, row, "precision");
    bool sparse = *measured_word(csv, row, "moe_quant_mode") &&
                  measured_number(csv, row, "moe_ep_size") > 0 &&
                  !strstr(point->model, "Llama") && !strstr(point->model, "Qwen3-32B");
    point->precision = !*precision ? "bf16" : !strcmp(precision, "fp4") && sparse ? "bf16"
                                                                                 : precision;
    point->experts = !strcmp(precision, "fp4") && sparse ? "fp4" : NULL;
    point->kv = !*precision || !strcmp(precision, "bf16") ? "bf16" : "fp8";
}

static void read_aggregated(struct arena *arena, const struct csv *csv, size_t row, bool lockstep,
                            struct measured *point)
{
    struct sizes sizes = read_sizes(arena, csv, row, "", lockstep);
    /* MiniMax rows of two dates claim attention ranks and repeat the values without */
    if (strstr(point->model, "MiniMax") && !strstr(point->source, "measured=2026-04-22"))
        sizes.attention_dp = 1;
    point->kind = "aggregated";
    point->chips = sizes.chips;
    measured_input(point, "chips", sizes.chips);
    measured_input(point, "attention_dp", sizes.attention_dp);
    /* equal requests under a scheduler that prefills first run in lockstep: a decode waits
       only for the prompts behind it */
    measured_input(point, "interference", lockstep && !strcmp(point->engine, "sglang") ? 0.5 : 1);
    if (!strcmp(point->machine, "gb200-nvl72") && point->chips >= 12)
        point->refused = "a split server without its pools";
}

static void read_disaggregated(struct arena *arena, const struct csv *csv, size_t row,
                               struct measured *point)
{
    struct sizes prefill = read_sizes(arena, csv, row, "prefill_", false);
    struct sizes decode = read_sizes(arena, csv, row, "decode_", false);
    point->kind = "disaggregated";
    point->chips = prefill.workers * prefill.chips + decode.workers * decode.chips;
    measured_input(point, "chips", decode.chips);
    measured_input(point, "attention_dp", decode.attention_dp);
    measured_input(point, "decode_workers", decode.workers);
    measured_input(point, "prefill_workers", prefill.workers);
    measured_input(point, "prefill_chips", prefill.chips);
    measured_input(point, "prefill_attention_dp", prefill.attention_dp);
    if (!(prefill.workers >= 1) || !(decode.workers >= 1))
        point->refused = "disaggregated, its pools not stated";
}

static void read_point(struct arena *arena, const struct csv *csv, size_t row,
                       struct measured_list *list)
{
    struct measured *point = measured_add(arena, list, csv, row);
    const char *system = measured_word(csv, row, "system");
    bool split = !strcmp(measured_word(csv, row, "mode"), "disagg");
    point->source = measured_word(csv, row, "silicon_data_source");
    point->model = measured_word(csv, row, "model_path");
    point->machine = !strcmp(system, "gb200") ? "gb200-nvl72" : system;
    point->engine = measured_word(csv, row, "backend");
    point->concurrency = measured_after(point->source, "silicon_concurrency=");
    bool lockstep = strstr(point->source, "gap-analysis") || strstr(point->source, "gap_analysis");
    double scale = lockstep ? 1 : 0.9;                  /* drawn from 0.8x to 1.0x */
    double input = scale * measured_number(csv, row, "isl");
    double output = scale * measured_number(csv, row, "osl");
    if (split)
        read_disaggregated(arena, csv, row, point);
    else
        read_aggregated(arena, csv, row, lockstep, point);
    read_formats(csv, row, point);
    measured_input(point, "concurrency", point->concurrency);
    measured_input(point, "prompt_tokens", input);
    measured_input(point, "output_tokens", output);
    measured_value(point, METRIC_TPOT, split ? "split_tpot" : "predicted_tpot",
                   1e-3 * measured_number(csv, row, "silicon_tpot_ms"));
    measured_value(point, METRIC_TTFT, split ? "split_ttft" : "predicted_ttft",
                   1e-3 * measured_number(csv, row, "silicon_ttft_ms"));
    if (strstr(point->source, "gtl_"))
        point->refused = "several replicas behind a router";
    else if (speculative(point) && !split)
        point->refused = "multi-token prediction";
    else if (!point->refused && (point->concurrency < 1 || point->chips < 1 || !(input >= 1) ||
                                 !(output >= 1) || !point->value_count))
        point->refused = "sizes or load not stated";
}

/* The same measurement exported twice, or another night of it: the first is kept. */
static bool twins(const struct measured *a, const struct measured *b)
{
    bool equal = a->input_count == b->input_count && a->value_count == b->value_count &&
                 !strcmp(a->machine, b->machine) && !strcmp(a->engine, b->engine) &&
                 !strcmp(a->precision, b->precision);
    for (int i = 0; i < a->input_count && equal; i++)
        equal = a->inputs[i].value == b->inputs[i].value;
    for (int i = 0; i < a->value_count && equal; i++)
        equal = fabs(a->values[i].value - b->values[i].value) <= 0.002 * b->values[i].value;
    return equal;
}

void measured_points(struct arena *arena, const struct csv *csv, struct measured_list *list)
{
    size_t from = list->count;
    for (size_t row = 0; row < csv->rows; row++)
        read_point(arena, csv, row, list);
    for (size_t i = from; i < list->count; i++)
        for (size_t j = from; j < i && !list->points[i].refused; j++)
            if (!list->points[j].refused && twins(&list->points[i], &list->points[j]))
                list->points[i].refused = "the same measurement again";
}
