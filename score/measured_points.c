/* serving_points.csv: TTFT and TPOT at a concurrency: `silicon_sample.csv` of
 * ai-dynamo/aiconfigurator @095f58a (2026-08-21), most of it the nightly runs of InferenceX,
 * the rest that project's own ("auto-gap-analysis") or without a known setting ("gtl_"). */
#include "score/measured.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

struct sizes {                      /* of one server, or of the workers of one pool */
    double workers, chips, attention_dp, expert_parallel;       /* chips of one worker */
};

/* Guesses a step of sessions that are known to have used multi-token prediction: DeepSeek
 * under TensorRT-LLM on these dates, against their twins of other dates. */
static double draft_tokens(const struct measured *point, const struct sizes *sizes)
{
    if (!strstr(point->model, "DeepSeek") || strcmp(point->engine, "trtllm"))
        return 0;
    if (strstr(point->source, "measured=2026-01-14"))
        return 1;
    if (strstr(point->source, "measured=2026-02-05") ||
        strstr(point->source, "measured=2026-02-06"))
        return sizes->attention_dp > 1 ? 1 : 3;
    return 0;
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
    double spread = measured_number(csv, row, arena_print(arena, "%smoe_ep_size", pool));
    sizes.expert_parallel = fmin(fmax(spread, 1), sizes.chips);
    return sizes;
}

/* An fp4 checkpoint of a mixture of experts keeps all else in 16 bits, a dense one is fp4
 * throughout. The cache of a quantised model is fp8, of a bf16 one bf16, and of any under
 * vLLM on Hopper: the load at which TTFT jumps tells it. */
static void read_formats(const struct csv *csv, size_t row, struct measured *point)
{
    const char *precision = measured_word(csv, row, "precision");
    point->precision = !*precision ? "bf16" : precision;
    point->experts_only = !strcmp(precision, "fp4");
    bool hopper = strstr(point->machine, "h100") || strstr(point->machine, "h200");
    point->kv = !*precision || !strcmp(precision, "bf16") ||
                (hopper && !strcmp(point->engine, "vllm")) ? "bf16" : "fp8";
}

static void read_aggregated(struct arena *arena, const struct csv *csv, size_t row, bool equal,
                            struct measured *point)
{
    struct sizes sizes = read_sizes(arena, csv, row, "", equal);
    /* MiniMax rows of two dates claim attention ranks and repeat the values without */
    if (strstr(point->model, "MiniMax") && !strstr(point->source, "measured=2026-04-22"))
        sizes.attention_dp = 1;
    point->kind = "aggregated";
    point->chips = sizes.chips;
    double drafts = draft_tokens(point, &sizes);
    if (drafts > 0) {
        point->kind = "multi-token prediction";
        measured_input(point, NAME_draft_tokens, drafts);
    }
    measured_input(point, NAME_chips, sizes.chips);
    measured_input(point, NAME_attention_dp, sizes.attention_dp);
    measured_input(point, NAME_expert_parallel, sizes.expert_parallel);
    measured_input(point, NAME_fixed_lengths, equal);
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
    measured_input(point, NAME_chips, decode.chips);
    measured_input(point, NAME_attention_dp, decode.attention_dp);
    measured_input(point, NAME_expert_parallel, decode.expert_parallel);
    measured_input(point, NAME_prefill_expert_parallel, prefill.expert_parallel);
    measured_input(point, NAME_decode_workers, decode.workers);
    measured_input(point, NAME_prefill_workers, prefill.workers);
    measured_input(point, NAME_prefill_chips, prefill.chips);
    measured_input(point, NAME_prefill_attention_dp, prefill.attention_dp);
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
    bool equal = strstr(point->source, "auto-gap-analysis") != NULL;
    double scale = equal ? 1 : 0.9;                  /* drawn from 0.8x to 1.0x */
    double input = scale * measured_number(csv, row, "isl");
    double output = scale * measured_number(csv, row, "osl");
    if (split)
        read_disaggregated(arena, csv, row, point);
    else
        read_aggregated(arena, csv, row, equal, point);
    read_formats(csv, row, point);
    measured_input(point, NAME_concurrency, point->concurrency);
    measured_input(point, NAME_prompt_tokens, input);
    measured_input(point, NAME_output_tokens, output);
    measured_value(point, METRIC_TPOT, split ? NAME_disagg_tpot : NAME_predicted_tpot,
                   1e-3 * measured_number(csv, row, "silicon_tpot_ms"));
    measured_value(point, METRIC_TTFT, split ? NAME_disagg_ttft : NAME_predicted_ttft,
                   1e-3 * measured_number(csv, row, "silicon_ttft_ms"));
    if (strstr(point->source, "gtl_"))
        point->refused = "several replicas behind a router";
    else if (!point->refused && (point->concurrency < 1 || point->chips < 1 || !(input >= 1) ||
                                 !(output >= 1) || !point->value_count))
        point->refused = "sizes or load not stated";
}

/* ---- rows against each other --------------------------------------------------------------- */

/* Not by name of the model: DeepSeek V3 and R1 are one, often exported under both. */
static bool same_run(const struct measured *a, const struct measured *b)
{
    bool equal = a->input_count == b->input_count && a->value_count == b->value_count &&
                 !strcmp(a->machine, b->machine) && !strcmp(a->engine, b->engine) &&
                 !strcmp(a->precision, b->precision);
    for (int i = 0; i < a->input_count && equal; i++)
        equal = a->inputs[i].value == b->inputs[i].value;
    return equal;
}

/* The same measurement exported twice, or another night of it: the first is kept. */
static bool twins(const struct measured *a, const struct measured *b)
{
    bool equal = same_run(a, b);
    for (int i = 0; i < a->value_count && equal; i++)
        equal = fabs(a->values[i].value - b->values[i].value) <= 0.002 * b->values[i].value;
    return equal;
}

/* One session of SGLang has two values for most of its configurations, the faster with
 * multi-token prediction. */
static bool of_double_session(const struct measured *point)
{
    return !point->refused && strstr(point->model, "DeepSeek") && point->value_count == 2 &&
           !strcmp(point->engine, "sglang") && !strcmp(point->precision, "fp8") &&
           !strcmp(point->kind, "aggregated") && strstr(point->source, "measured=2026-03-25");
}

static void mark_faster(struct measured_list *list, size_t from)
{
    enum { DRAFTS = 3 };
    for (size_t i = from; i < list->count; i++)
        for (size_t j = from; j < i && of_double_session(&list->points[i]); j++) {
            struct measured *a = &list->points[i], *b = &list->points[j];
            if (!of_double_session(b) || !same_run(a, b))
                continue;
            struct measured *faster = a->values[0].value < b->values[0].value ? a : b;
            faster->kind = "multi-token prediction";
            measured_input(faster, NAME_draft_tokens, DRAFTS);
        }
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
    mark_faster(list, from);
}
