#include "import/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const metric_names[METRICS] = { "tpot", "ttft" };

static const char *word(const struct csv *csv, size_t row, const char *column)
{
    return csv_cell(csv, row, csv_column(csv, column));
}

static double number(const struct csv *csv, size_t row, const char *column)
{
    double value;
    return text_number(text_of(word(csv, row, column)), &value) ? value : 0;
}

static double after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtod(at + strlen(key), NULL) : 0;
}

/* ---- serving_points.csv ------------------------------------------------------------------ */

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
static void read_sizes(const struct csv *csv, size_t row, bool plain, struct measured *point)
{
    double experts = number(csv, row, "moe_tp_size"), tensor = number(csv, row, "tp_size");
    double data = fmax(number(csv, row, "attention_dp_size"), 1);
    point->chips = plain ? tensor * data : experts > 1 ? experts : fmax(tensor, data);
    point->attention_dp = fmin(data, point->chips);
    /* MiniMax rows of two dates claim attention ranks and repeat the values without */
    if (strstr(point->model, "MiniMax") && !strstr(point->source, "measured=2026-04-22"))
        point->attention_dp = 1;
}

/* An fp4 checkpoint of a mixture of experts keeps all else in 16 bits, a dense one is fp4
 * throughout; the cache of a quantised model is fp8, of a bf16 one bf16. */
static void read_formats(const struct csv *csv, size_t row, struct measured *point)
{
    const char *precision = word(csv, row, "precision");
    bool sparse = *word(csv, row, "moe_quant_mode") && number(csv, row, "moe_ep_size") > 0 &&
                  !strstr(point->model, "Llama") && !strstr(point->model, "Qwen3-32B");
    point->precision = !*precision ? "bf16" : !strcmp(precision, "fp4") && sparse ? "bf16"
                                                                                 : precision;
    point->experts = !strcmp(precision, "fp4") && sparse ? "fp4" : NULL;
    point->kv = !*precision || !strcmp(precision, "bf16") ? "bf16" : "fp8";
}

static const char *reason_against(const struct csv *csv, size_t row, const struct measured *point)
{
    if (!strcmp(word(csv, row, "mode"), "disagg"))
        return "disaggregated";
    if (strstr(point->source, "gtl_"))
        return "several replicas behind a router";
    if (speculative(point))
        return "multi-token prediction";
    if (!strcmp(point->machine, "gb200-nvl72") && point->chips >= 12)
        return "a split server without its pools";
    if (point->concurrency < 1 || point->chips < 1 || point->input < 1 || point->output < 1)
        return "sizes or load not stated";
    return NULL;
}

static void read_point(struct arena *arena, const struct csv *csv, size_t row,
                       struct measured_list *list)
{
    struct measured *point = arena_push(arena, &list->points, &list->count, &list->room,
                                        sizeof *point);
    const char *system = word(csv, row, "system");
    *point = (struct measured){ .file = csv->file, .line = csv->lines[row] };
    point->source = word(csv, row, "silicon_data_source");
    point->model = word(csv, row, "model_path");
    point->machine = !strcmp(system, "gb200") ? "gb200-nvl72" : system;
    point->engine = word(csv, row, "backend");
    point->lockstep = strstr(point->source, "gap-analysis") || strstr(point->source, "gap_analysis");
    double scale = point->lockstep ? 1 : 0.9;           /* drawn from 0.8x to 1.0x */
    point->concurrency = after(point->source, "silicon_concurrency=");
    point->input = scale * number(csv, row, "isl");
    point->output = scale * number(csv, row, "osl");
    point->value[METRIC_TPOT] = 1e-3 * number(csv, row, "silicon_tpot_ms");
    point->value[METRIC_TTFT] = 1e-3 * number(csv, row, "silicon_ttft_ms");
    read_sizes(csv, row, point->lockstep, point);
    read_formats(csv, row, point);
    point->refused = reason_against(csv, row, point);
}

/* The same measurement exported twice, or another night of it: the first is kept. */
static bool twins(const struct measured *a, const struct measured *b)
{
    bool equal = a->chips == b->chips && a->concurrency == b->concurrency &&
                 a->input == b->input && a->output == b->output &&
                 !strcmp(a->machine, b->machine) && !strcmp(a->engine, b->engine) &&
                 !strcmp(a->precision, b->precision);
    for (int i = 0; i < METRICS && equal; i++)
        equal = fabs(a->value[i] - b->value[i]) <= 0.002 * fabs(b->value[i]);
    return equal;
}

static void refuse_twins(struct measured_list *list, size_t from)
{
    for (size_t i = from; i < list->count; i++)
        for (size_t j = from; j < i && !list->points[i].refused; j++)
            if (!list->points[j].refused && twins(&list->points[i], &list->points[j]))
                list->points[i].refused = "the same measurement again";
}

bool measured_read(struct arena *arena, const struct csv *csv, struct measured_list *list,
                   struct error *error)
{
    size_t from = list->count;
    if (csv_column(csv, "silicon_tpot_ms") < 0) {
        error_set(error, "%s: no measurements that are understood", csv->file);
        return error_hint(error, "the columns of serving_points.csv");
    }
    for (size_t row = 0; row < csv->rows; row++)
        read_point(arena, csv, row, list);
    refuse_twins(list, from);
    return true;
}
