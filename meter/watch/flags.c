/* What each flag of the engine would change (parts.h).
 *
 * A flag sets a row of the prediction. It is tried at values near the one that the server has: a count at half and at
 * twice, a share of memory five points up and down, drafts one more and one fewer, what is on or off the other way.
 * Where the server reports its KV blocks, a flag that changes the memory for the cache changes that count as it changes
 * the computed one. Names and sources are rows of data/flags.csv. Tensor parallelism changes the GPUs of a replica, so
 * changes are ordered by tokens per GPU. */
#include "meter/watch/parts.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "catalog/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct flag flags[] = {
    { "vllm", "--max-num-seqs", NULL, NAME_max_num_seqs, VARY_DOUBLE },
    { "vllm", "--max-num-batched-tokens", NULL, NAME_chunked_prefill_size, VARY_DOUBLE },
    { "vllm", "--gpu-memory-utilization", NULL, NAME_gpu_memory_utilization, VARY_SHARE },
    { "vllm", "--no-enable-prefix-caching", NULL, NAME_prefix_hit_share, VARY_OFF },
    { "vllm", "--speculative-config.num_speculative_tokens", NULL, NAME_draft_tokens, VARY_STEP },
    { "vllm", "--kv-cache-dtype", NULL, NAME_kv_bytes, VARY_CACHE },
    { "vllm", "--tensor-parallel-size", NULL, NAME_tensor_parallel, VARY_TENSOR },
    { "vllm", "--enable-expert-parallel", NULL, NAME_expert_parallel, VARY_EXPERTS },
    { "sglang", "--max-running-requests", NULL, NAME_max_num_seqs, VARY_DOUBLE },
    { "sglang", "--chunked-prefill-size", NULL, NAME_chunked_prefill_size, VARY_DOUBLE },
    { "sglang", "--mem-fraction-static", NULL, NAME_gpu_memory_utilization, VARY_SHARE },
    { "sglang", "--disable-radix-cache", NULL, NAME_prefix_hit_share, VARY_OFF },
    { "sglang", "--speculative-num-steps", NULL, NAME_draft_tokens, VARY_STEP },
    { "sglang", "--kv-cache-dtype", NULL, NAME_kv_bytes, VARY_CACHE },
    { "sglang", "--tp-size", NULL, NAME_tensor_parallel, VARY_TENSOR },
    { "sglang", "--ep-size", NULL, NAME_expert_parallel, VARY_EXPERTS },
    { "trtllm", "--max_batch_size", NULL, NAME_max_num_seqs, VARY_DOUBLE },
    { "trtllm", "--max_num_tokens", NULL, NAME_chunked_prefill_size, VARY_DOUBLE },
    { "trtllm", "--free_gpu_memory_fraction", NULL, NAME_kv_fraction_of_free, VARY_SHARE },
    { "trtllm", "kv_cache_config.enable_block_reuse", NULL, NAME_prefix_hit_share, VARY_OFF },
    { "trtllm", "speculative_config.num_nextn_predict_layers", NULL, NAME_draft_tokens, VARY_STEP },
    { "trtllm", "kv_cache_config.dtype", NULL, NAME_kv_bytes, VARY_CACHE },
    { "trtllm", "--tp_size", NULL, NAME_tensor_parallel, VARY_TENSOR },
    { "trtllm", "--ep_size", NULL, NAME_expert_parallel, VARY_EXPERTS },
    { "llamacpp", "-np", NULL, NAME_max_num_seqs, VARY_DOUBLE },
    { "llamacpp", "-b", NULL, NAME_chunked_prefill_size, VARY_DOUBLE },
    { "llamacpp", "-ub", NULL, NAME_ubatch_size, VARY_DOUBLE },
    { "llamacpp", "--no-cache-prompt", NULL, NAME_prefix_hit_share, VARY_OFF },
    { "llamacpp", "--spec-draft-n-max", NULL, NAME_draft_tokens, VARY_STEP },
    { "llamacpp", "-ctk", "-ctv", NAME_kv_bytes, VARY_CACHE },
    { "llamacpp", "--n-cpu-moe", NULL, NAME_host_expert_layers, VARY_STEP },
};

/* A cell of an engine's row of the sheet, or NULL. */
static const char *cell(const char *engine, const char *name, const char *column)
{
    const struct csv *csv = csv_built_in("data/flags.csv");
    const int engines = csv_column(csv, "engine"), names = csv_column(csv, "name");
    for (size_t row = 0; row < csv->rows; row++)
        if (!strcmp(csv_cell(csv, row, engines), engine) && !strcmp(csv_cell(csv, row, names), name))
            return csv_cell(csv, row, csv_column(csv, column));
    return NULL;
}

static const char *source_of(struct arena *arena, const struct flag *flag)
{
    const char *source = cell(flag->engine, flag->flag, "source"), *date = cell(flag->engine, flag->flag, "date");
    return source ? arena_print(arena, "%s, %s", source, date) : NULL;
}

double watch_default_slots(const char *engine)
{
    const char *slots = cell(engine, "slots", "value");
    double number;
    return slots && text_number(text_of(slots), &number) ? number : NAN;
}

/* ---- values to try ---------------------------------------------------------------------------------- */

/* Experts are spread over the GPUs of a stage whole, or each is cut over them. */
static double other_experts(struct watch *watch, double now)
{
    const double stage = value_or_nan(&watch->scenario, NAME_stage_chips);
    const double experts = value_or_nan(&watch->scenario, NAME_experts);
    return !(experts > 1) || !(stage > 1) ? NAN : now > 1 ? 1 : stage;
}

/* The first type of the cache that is not the engine's own: "bf16= q8_0=q8_0". `engine` or its name in formats.csv;
 * NULL: it has none. */
static const char *small_cache(struct arena *arena, const struct flag *flag, bool engine)
{
    const char *types = cell(flag->engine, flag->flag, "value");
    for (const char *at = types ? types : ""; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " "), name = strcspn(at, "=");
        if (name + 1 < length)
            return engine ? arena_copy(arena, at + name + 1, length - name - 1) : arena_copy(arena, at, name);
        at += length;
    }
    return NULL;
}

static bool is_stated(const struct watch *watch, const char *row)
{
    for (size_t i = 0; i < watch->assumed_count; i++)
        if (!strcmp(watch->assumed[i], row))
            return false;
    return fact_given(facts_find(&watch->scenario.facts, row));
}

/* The value to try on one side (0: down, 1: up); NAN: there is none. */
static double other_value(struct watch *watch, const struct flag *flag, double now, int side)
{
    const double least = 0.5, most = 0.97, step = 0.05;
    const char *cache = flag->vary == VARY_CACHE ? small_cache(watch->arena, flag, false) : NULL;
    const struct format *small = cache ? formats_find(&watch->scenario.formats, cache) : NULL;
    double to = NAN;
    switch (flag->vary) {
    case VARY_DOUBLE:  return side ? 2 * now : now >= 2 ? floor(now / 2) : NAN;
    case VARY_STEP:    return now >= 1 ? now + (side ? 1 : -1) : NAN;
    case VARY_OFF:     return side && now > 0 ? 0 : NAN;
    case VARY_CACHE:   return side && small && now > small->bytes ? small->bytes : NAN;
    case VARY_EXPERTS: return side ? other_experts(watch, now) : NAN;
    case VARY_TENSOR:
        to = side ? 2 * now : now / 2;
        return to >= 1 && to == floor(to) && to <= value_or_nan(&watch->scenario, NAME_scale_up_chips) ? to : NAN;
    case VARY_SHARE:
        to = side ? fmin(most, now + step) : fmax(least, now - step);
        return (side ? to > now : to < now) ? to : NAN;
    }
    return NAN;
}

/* What the engine calls the two values, where they are no numbers of its own. */
static void name_values(struct arena *arena, struct change *change)
{
    const enum vary vary = change->flag->vary;
    const char *standard = cell(change->flag->engine, change->flag->flag, "default");
    const bool reuse = strstr(change->flag->flag, "enable_block_reuse") != NULL;
    if (vary == VARY_OFF)
        change->was = reuse ? "true" : "off", change->becomes = reuse ? "false" : "on";
    else if (vary == VARY_CACHE)
        change->was = standard && *standard ? standard : "auto",
        change->becomes = small_cache(arena, change->flag, true);
    else if (vary == VARY_EXPERTS && !strcmp(change->flag->engine, "vllm"))
        change->was = change->from > 1 ? "on" : "off", change->becomes = change->from > 1 ? "off" : "on";
}

/* ---- the prediction with it --------------------------------------------------------------------------- */

static bool changes_memory(enum vary vary)
{
    return vary == VARY_SHARE || vary == VARY_CACHE || vary == VARY_TENSOR || vary == VARY_EXPERTS;
}

/* The figures with the flag; false: they have no value. */
static bool read_change(const struct watch *watch, const struct outlook *outlook, struct change *change)
{
    struct setting settings[3] = { { change->flag->row, change->to }, { NAME_chips, change->chips } };
    size_t count = change->flag->vary == VARY_TENSOR ? 2 : 1;
    const double blocks = watch->load.blocks;
    if (blocks > 0 && changes_memory(change->flag->vary)) {
        const double now = outlook->blocks, then = outlook_blocks(outlook, settings, count);
        if (!(now > 0) || !(then > 0))
            return false;
        settings[count++] = (struct setting){ NAME_kv_blocks_reported, floor(blocks * then / now) };
    }
    outlook_read(outlook, settings, count, change->at);
    return isfinite(change->at[OUTLOOK_THROUGHPUT].value) && change->at[OUTLOOK_THROUGHPUT].value > 0;
}

static bool try_flag(struct watch *watch, const struct outlook *outlook, const struct flag *flag, int side,
                     struct change *change)
{
    const double now = outlook_setting(outlook, flag->row), chips = outlook_setting(outlook, NAME_chips);
    const double to = isfinite(now) ? other_value(watch, flag, now, side) : NAN;
    if (isnan(to))
        return false;
    *change = (struct change){ .flag = flag, .from = now, .to = to, .source = source_of(watch->arena, flag),
                               .chips = flag->vary == VARY_TENSOR ? chips * to / now : chips };
    change->stated = is_stated(watch, flag->row);
    name_values(watch->arena, change);
    return read_change(watch, outlook, change);
}

/* Most tokens per GPU first; where these are the same to a thousandth, the shortest TPOT. */
static int by_throughput(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    const double p = floor(1e3 * log(x->at[OUTLOOK_THROUGHPUT].value / x->chips) + 0.5);
    const double q = floor(1e3 * log(y->at[OUTLOOK_THROUGHPUT].value / y->chips) + 0.5);
    if (p != q)
        return p < q ? 1 : -1;
    const double s = x->at[OUTLOOK_TPOT].value, t = y->at[OUTLOOK_TPOT].value;
    if (isfinite(s) != isfinite(t))
        return isfinite(s) ? -1 : 1;
    if (isfinite(s) && s != t)
        return s < t ? -1 : 1;
    const int order = strcmp(x->flag->flag, y->flag->flag);
    return order ? order : (x->to > y->to) - (x->to < y->to);
}

void watch_flags(struct watch *watch, const struct outlook *outlook)
{
    const char *engine = watch->load.engine->predicted;
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
        for (int side = 0; side < 2; side++)
            if (!strcmp(flags[f].engine, engine) && watch->change_count < CHANGES_MOST &&
                try_flag(watch, outlook, &flags[f], side, &watch->changes[watch->change_count]))
                watch->change_count++;
    qsort(watch->changes, watch->change_count, sizeof *watch->changes, by_throughput);
}
