/* The kind of each layer of a model: which mixer (full or windowed attention, a state), which
 * feed-forward network (dense or mixture of experts). Fills one plan for each layer; the sizes are read
 * later, by attention.c and state.c. */
#include "import/model.h"

#include <math.h>
#include <string.h>

/* Configurations describe the kind of each layer in a dozen ways. Each way is a row: a key that must be
 * present (or the count that the family's class gives where it is absent), a trait that the family must have,
 * and the function that reads it. The first row that applies is used. */
typedef bool pattern_reader(struct model *model, const struct doc *doc);
struct pattern_key {
    const char *key;            /* NULL: always */
    uint64_t trait;             /* 0: any family */
    pattern_reader *read;
    const char *count;          /* the name of its field in fields.def, for the class's value; NULL: none */
};

/* ---- helpers ------------------------------------------------------------------------- */

/* A list has one item per layer; some lists count the prediction layers too. */
static bool list_length(struct model *model, const struct doc *list, const char *key)
{
    struct config *config = model->config;
    double extra = config_count_or(config, FIELD_prediction_layers, 0);
    if (list->kind == DOC_ARRAY && (double)list->count >= model->layers
        && (double)list->count <= model->layers + extra)
        return true;
    if (list->kind != DOC_ARRAY)
        return config_fail(config, "%s is not a list", key);
    config_fail(config, "%s has %zu items for %.0f layers", key, list->count, model->layers);
    return config_expected(config, "one item per layer");
}

static bool list_integers(struct model *model, const struct doc *list, const char *key)
{
    if (!list_length(model, list, key))
        return false;
    for (const struct doc *item = list->first; item; item = item->next)
        if ((item->kind != DOC_NUMBER && item->kind != DOC_BOOL) || item->number < 0
            || item->number > 1e9)
            return config_fail(model->config, "%s has an item that is not a count", key);
    return true;
}

static bool item_true(const struct doc *item)
{
    return item->kind == DOC_BOOL ? item->boolean : item->number != 0;
}

static size_t count_of(const struct model *model)
{
    return (size_t)model->layers;
}

/* The layer that an item of a list names by number, the first of which is `first`; NULL: an error. */
static struct layer_plan *named(struct model *model, const struct doc *item, double first, const char *key)
{
    if (item->kind == DOC_NUMBER && item->number >= first && item->number < model->layers + first)
        return &model->plan[(size_t)(item->number - first)];
    config_fail(model->config, "%s names a layer that is not there", key);
    return NULL;
}

/* ---- names --------------------------------------------------------------------------- */

static const struct mixer_kind {
    const char *name;
    enum mixer mixer;
    double compression;         /* as compress_ratios would have it */
} kinds[] = {
    { "full_attention", MIXER_FULL, 1 },
    { "attention", MIXER_FULL, 1 },
    { "deepseek_sparse_attention", MIXER_FULL, 1 },
    { "sliding_attention", MIXER_SLIDING, 0 },
    { "chunked_attention", MIXER_CHUNKED, 1 },
    { "linear_attention", MIXER_LINEAR, 1 },
    { "mamba", MIXER_LINEAR, 1 },
    { "conv", MIXER_LINEAR, 1 },
    { "compressed_sparse_attention", MIXER_FULL, 4 },
    { "heavily_compressed_attention", MIXER_FULL, 128 },
};

static void set_compression(struct layer_plan *plan, double compression)
{
    plan->compression = compression;
    if (compression != 1)
        plan->sparse = plan->indexed = compression == 4;
}

/* Layers of one half each (Nemotron-H), by name and by letter. */
static const struct half {
    const char *name;
    char letter;
    enum mixer mixer;
    enum ffn ffn;
} halves[] = {
    { "mamba", 'M', MIXER_LINEAR, FFN_NONE },
    { "attention", '*', MIXER_FULL, FFN_NONE },
    { "moe", 'E', MIXER_NONE, FFN_MOE },
    { "mlp", '-', MIXER_NONE, FFN_DENSE },
};

static bool read_layer_types(struct model *model, const struct doc *list)
{
    size_t rows = sizeof kinds / sizeof *kinds, layer = 0;
    if (!list_length(model, list, "layer_types"))
        return false;
    for (const struct doc *item = list->first; layer < count_of(model); item = item->next) {
        size_t i = 0;
        while (i < rows && (item->kind != DOC_STRING || strcmp(kinds[i].name, item->string)))
            i++;
        if (i == rows) {
            config_fail(model->config, "layer %zu is of an unknown kind '%s'", layer,
                        item->kind == DOC_STRING ? item->string : "not a string");
            return config_expected(model->config, "full_attention, sliding_attention, "
                                       "chunked_attention, linear_attention, compressed_sparse_attention "
                                       "or heavily_compressed_attention");
        }
        if (model_has(model, TRAIT_BIT(streams)))
            set_compression(&model->plan[layer], kinds[i].compression);
        model->plan[layer++].mixer = kinds[i].mixer;
    }
    return true;
}

static bool unknown_half(struct model *model, size_t layer, const char *name)
{
    config_fail(model->config, "layer %zu is of an unknown kind '%s'", layer, name);
    return config_expected(model->config, "mamba (M), attention (*), moe (E) or mlp (-)");
}

static bool read_blocks_type(struct model *model, const struct doc *list)
{
    size_t rows = sizeof halves / sizeof *halves, layer = 0;
    if (!list_length(model, list, "layers_block_type"))
        return false;
    for (const struct doc *item = list->first; layer < count_of(model); item = item->next) {
        size_t i = 0;
        while (i < rows && (item->kind != DOC_STRING || strcmp(halves[i].name, item->string)))
            i++;
        if (i == rows)
            return unknown_half(model, layer, item->kind == DOC_STRING ? item->string : "");
        model->plan[layer].mixer = halves[i].mixer;
        model->plan[layer++].ffn = halves[i].ffn;
    }
    return true;
}

static bool read_letters(struct model *model, const struct doc *doc)
{
    size_t rows = sizeof halves / sizeof *halves;
    if (doc->kind != DOC_STRING || strlen(doc->string) != count_of(model)) {
        config_fail(model->config, "hybrid_override_pattern does not fit %.0f layers",
                    model->layers);
        return config_expected(model->config, "one letter per layer: M, *, E or -");
    }
    for (size_t layer = 0; layer < count_of(model); layer++) {
        size_t i = 0;
        while (i < rows && halves[i].letter != doc->string[layer])
            i++;
        if (i == rows)
            return unknown_half(model, layer, (char[]){ doc->string[layer], 0 });
        model->plan[layer].mixer = halves[i].mixer;
        model->plan[layer].ffn = halves[i].ffn;
    }
    return true;
}

/* ---- lists of numbers ---------------------------------------------------------------- */

/* `mark` where the item is true, `plain` elsewhere. */
static bool read_marks(struct model *model, const struct doc *list, const char *key,
                       enum mixer mark, enum mixer plain)
{
    if (!list_integers(model, list, key))
        return false;
    const struct doc *item = list->first;
    for (size_t layer = 0; layer < count_of(model); layer++, item = item->next)
        model->plan[layer].mixer = item_true(item) ? mark : plain;
    return true;
}

static bool read_hybrid(struct model *model, const struct doc *list)
{
    return read_marks(model, list, "hybrid_layer_pattern", MIXER_SLIDING, MIXER_FULL);
}

static bool read_attention_list(struct model *model, const struct doc *list)
{
    return read_marks(model, list, "attn_type_list", MIXER_FULL, MIXER_LINEAR);
}

/* DeepSeek-V4: tokens per cache entry. 0 keeps the window alone; a small ratio leaves so
 * many entries that an index picks among them, a large one does not. */
static bool read_ratios(struct model *model, const struct doc *list)
{
    if (!list_integers(model, list, "compress_ratios"))
        return false;
    const struct doc *item = list->first;
    for (size_t layer = 0; layer < count_of(model); layer++, item = item->next) {
        set_compression(&model->plan[layer], item->number);
        if (item->number != 0 && item->number != 4 && item->number != 128) {
            config_fail(model->config, "compress_ratios has %g", item->number);
            return config_expected(model->config, "0, 4 or 128");
        }
    }
    return true;
}

/* Kimi: two lists of layers, the first of which is 1. */
static bool read_linear_config(struct model *model, const struct doc *doc)
{
    const struct doc *list = doc_get(doc, "kda_layers");
    if (!list || list->kind != DOC_ARRAY)
        return config_fail(model->config, "linear_attn_config has no list kda_layers");
    for (const struct doc *item = list->first; item; item = item->next) {
        struct layer_plan *plan = named(model, item, 1, "kda_layers");
        if (!plan)
            return false;
        plan->mixer = MIXER_LINEAR;
    }
    return true;
}

/* ---- one object per layer (Nemotron-NAS) --------------------------------------------- */

static bool read_block_attention(struct model *model, struct layer_plan *plan, const struct doc *doc)
{
    struct config *config = model->config;
    if (doc_is(doc_get(doc, "replace_with_linear"), true))
        return config_fail(config, "block_configs replaces an attention by a linear layer, which "
                           "is not supported");
    if (doc_is(doc_get(doc, "no_op"), true)) {
        plan->mixer = MIXER_NONE;
        return true;
    }
    double heads = config_count(config, FIELD_heads), size = doc_number(doc, "n_heads_in_group", 0);
    plan->kv_heads = size >= 1 ? heads / size : 0;
    if (plan->kv_heads < 1 || plan->kv_heads != (double)(int64_t)plan->kv_heads)
        return config_fail(config, "a block of block_configs has an n_heads_in_group that does "
                           "not divide num_attention_heads %.0f", heads);
    return true;
}

/* Rounded up to 256 as modeling_decilm.py does. */
static bool read_block_ffn(struct model *model, struct layer_plan *plan, const struct doc *doc)
{
    struct config *config = model->config;
    if (doc_is(doc_get(doc, "replace_with_linear"), true))
        return config_fail(config, "block_configs replaces a feed-forward by a linear layer, which "
                           "is not supported");
    if (doc_is(doc_get(doc, "no_op"), true)) {
        plan->ffn = FFN_NONE;
        return true;
    }
    const struct doc *multiple = doc_get(doc, "ffn_mult");
    if (!multiple || multiple->kind != DOC_NUMBER || multiple->number <= 0
        || multiple->number > 1000)
        return config_fail(config, "a block of block_configs has no ffn_mult");
    double size = (double)(int64_t)(2 * multiple->number * model->hidden / 3);
    plan->intermediate = 256 * (double)(int64_t)((size + 255) / 256);
    return true;
}

static bool read_block_configs(struct model *model, const struct doc *list)
{
    if (!list_length(model, list, "block_configs"))
        return false;
    const struct doc *item = list->first;
    for (size_t layer = 0; layer < count_of(model); layer++, item = item->next)
        if (!read_block_attention(model, &model->plan[layer], doc_get(item, "attention"))
            || !read_block_ffn(model, &model->plan[layer], doc_get(item, "ffn")))
            return false;
    return true;
}

/* ---- rules --------------------------------------------------------------------------- */

/* Every n-th layer is full, the others are `rest`. */
static bool every(struct model *model, double n, enum mixer rest)
{
    for (size_t layer = 0; layer < count_of(model); layer++)
        model->plan[layer].mixer = (layer + 1) % (size_t)n ? rest : MIXER_FULL;
    return true;
}

static bool read_full_interval(struct model *model, const struct doc *doc)
{
    (void)doc;
    return every(model, config_count(model->config, FIELD_full_interval), MIXER_LINEAR);
}

static bool read_global_interval(struct model *model, const struct doc *doc)
{
    (void)doc;
    double n = config_count(model->config, FIELD_full_interval);
    if (!model_has(model, TRAIT_BIT(encoder)))
        return every(model, n, MIXER_SLIDING);
    for (size_t layer = 0; layer < count_of(model); layer++)        /* ModernBERT begins with a full one */
        model->plan[layer].mixer = layer % (size_t)n ? MIXER_SLIDING : MIXER_FULL;
    return true;
}

/* A number, or a letter per layer, over and over: "LLLG" (EXAONE). */
static bool read_window_pattern(struct model *model, const struct doc *doc)
{
    if (!config_has(model->config, FIELD_window))
        return true;
    size_t period = doc->kind == DOC_STRING ? strlen(doc->string) : 0;
    for (size_t layer = 0; period && layer < count_of(model); layer++)
        if (doc->string[layer % period] == 'L')
            model->plan[layer].mixer = MIXER_SLIDING;
    return period || every(model, config_count(model->config, FIELD_window_pattern), MIXER_SLIDING);
}

/* A window without a pattern: Qwen has a switch and a first windowed layer; Mistral windows
 * every layer. */
static bool read_window(struct model *model, const struct doc *doc)
{
    (void)doc;
    struct config *config = model->config;
    config_get(config, "sliding_window");       /* read, though a switch may leave it without effect */
    if (!config_flag(config, "use_sliding_window", !model->family->window_asked) || !config_has(config, FIELD_window))
        return true;
    double first = config_count_or(config, FIELD_window_first, 0);
    for (size_t layer = (size_t)first; layer < count_of(model); layer++)
        model->plan[layer].mixer = MIXER_SLIDING;
    return true;
}

/* What the class of the family does where its configuration says nothing. */
static bool read_family_windows(struct model *model, const struct doc *doc)
{
    const struct family *family = model->family;
    struct config *config = model->config;
    (void)doc;
    for (size_t layer = 1; model_has(model, TRAIT_BIT(alternating_state)) && layer < count_of(model); layer += 2)
        model->plan[layer].mixer = MIXER_LINEAR;
    if (family->chunked)
        return every(model, family->window_pattern, MIXER_CHUNKED);
    for (size_t layer = 0; family->full_first && config_has(config, FIELD_window) && layer < count_of(model); layer++)
        model->plan[layer].mixer = layer % (size_t)family->window_pattern ? MIXER_SLIDING : MIXER_FULL;
    if (family->window_pattern > 0 && !family->full_first && config_has(config, FIELD_window))
        every(model, family->window_pattern, MIXER_SLIDING);
    if (model_has(model, TRAIT_BIT(last_full)))
        model->plan[count_of(model) - 1].mixer = MIXER_FULL;
    return !family->windowed || read_window(model, doc);
}

/* ---- other mixers -------------------------------------------------------------------- */

/* Jamba: one attention in each period, the rest recurrent; RecurrentGemma's attention has a window. */
static bool read_attention_period(struct model *model, const struct doc *doc)
{
    (void)doc;
    struct config *config = model->config;
    double period = config_count(config, FIELD_attention_period);
    double offset = config_count_or(config, FIELD_attention_offset, 0);
    for (size_t layer = 0; layer < count_of(model); layer++)
        model->plan[layer].mixer = fmod((double)layer - offset, period) != 0 ? MIXER_LINEAR
                                 : model->family->windowed ? MIXER_SLIDING : MIXER_FULL;
    return true;
}

/* `listed` for the layers that the list names, from 0, `rest` for the others. */
static bool read_numbered(struct model *model, const struct doc *list, const char *key,
                          enum mixer listed, enum mixer rest)
{
    if (list->kind != DOC_ARRAY)
        return config_fail(model->config, "%s is not a list", key);
    for (size_t layer = 0; layer < count_of(model); layer++)
        model->plan[layer].mixer = rest;
    for (const struct doc *item = list->first; item; item = item->next) {
        struct layer_plan *plan = named(model, item, 0, key);
        if (!plan)
            return false;
        plan->mixer = listed;
    }
    return true;
}

static bool read_attention_numbers(struct model *model, const struct doc *list)
{
    return read_numbered(model, list, "attn_layer_indices", MIXER_FULL, MIXER_LINEAR);
}

static bool read_full_numbers(struct model *model, const struct doc *list)
{
    return read_numbered(model, list, "full_attn_idxs", MIXER_FULL, MIXER_LINEAR);
}

/* Llama 3.2 Vision: layers that attend to the tokens of images; the class has every fifth of 40 from 3 on. */
static bool read_crossed(struct model *model, const struct doc *list)
{
    for (size_t layer = 3; !list && model->layers == 40 && layer < 40; layer += 5)
        model->plan[layer].crossed = true;
    if (!list && model->layers != 40)
        return config_fail(model->config, "no field cross_attention_layers, and %.0f layers", model->layers) ||
               config_expected(model->config, "the numbers of the layers that attend to images, or 40 layers");
    if (!list)
        return true;
    for (const struct doc *item = list->first; item; item = item->next) {
        struct layer_plan *plan = named(model, item, 0, "cross_attention_layers");
        if (!plan)
            return false;
        plan->crossed = true;
    }
    return true;
}

/* RecurrentGemma: names of kinds, over and over. */
static bool read_block_types(struct model *model, const struct doc *list)
{
    const struct doc *item = list->first;
    if (list->kind != DOC_ARRAY || !item)
        return config_fail(model->config, "block_types is not a list of kinds of layers");
    for (size_t layer = 0; layer < count_of(model); layer++, item = item->next ? item->next : list->first) {
        const char *name = item->kind == DOC_STRING ? item->string : "";
        if (strcmp(name, "attention") && strcmp(name, "recurrent")) {
            config_fail(model->config, "layer %zu is of an unknown kind '%.60s'", layer, name);
            return config_expected(model->config, "recurrent or attention");
        }
        model->plan[layer].mixer = *name == 'a' ? MIXER_SLIDING : MIXER_LINEAR;
    }
    return true;
}

/* OpenELM: heads and width of each layer. */
static bool read_openelm(struct model *model, const struct doc *list)
{
    struct config *config = model->config;
    const struct doc *kv = config_get(config, "num_kv_heads"), *factor = config_get(config, "ffn_multipliers");
    double multiple = config_count_or(config, FIELD_width_multiple, 256);
    if (!kv || !factor || !list_integers(model, list, "num_query_heads") ||
        !list_integers(model, kv, "num_kv_heads") || !list_length(model, factor, "ffn_multipliers"))
        return config_fail(config, "num_query_heads, num_kv_heads and ffn_multipliers must be lists with one item per layer");
    const struct doc *query = list->first, *key = kv->first, *width = factor->first;
    for (size_t layer = 0; layer < count_of(model); layer++, query = query->next, key = key->next, width = width->next) {
        double inner = multiple * floor((width->number * model->hidden + multiple / 2) / multiple);
        model->plan[layer].query_heads = query->number;
        model->plan[layer].kv_heads = key->number;
        model->plan[layer].intermediate = fmax(inner, multiple);
    }
    return true;
}

static const struct pattern_key mixer_patterns[] = {
    { "layer_types", 0, read_layer_types, NULL },
    { "hybrid_layer_pattern", 0, read_hybrid, NULL },
    { "hybrid_override_pattern", 0, read_letters, NULL },
    { "layers_block_type", 0, read_blocks_type, NULL },
    { "attn_type_list", 0, read_attention_list, NULL },
    { "linear_attn_config", 0, read_linear_config, NULL },
    { "block_configs", 0, read_block_configs, NULL },
    { "full_attention_interval", 0, read_full_interval, "full_interval" },
    { "compress_ratios", 0, read_ratios, NULL },
    { "sliding_window_pattern", 0, read_window_pattern, NULL },
    { "global_attn_every_n_layers", 0, read_global_interval, NULL },
    { "attn_layer_indices", 0, read_attention_numbers, NULL },
    { "full_attn_idxs", 0, read_full_numbers, NULL },
    { "cross_attention_layers", TRAIT_BIT(crossed), read_crossed, NULL },
    { NULL, TRAIT_BIT(crossed), read_crossed, NULL },
    { "block_types", 0, read_block_types, NULL },
    { "_block_types", 0, read_block_types, NULL },
    { "attn_layer_period", 0, read_attention_period, "attention_period" },
    { "num_query_heads", 0, read_openelm, NULL },
    { NULL, 0, read_family_windows, NULL },
};

/* ---- feed-forward -------------------------------------------------------------------- */

static bool read_ffn_types(struct model *model, const struct doc *list)
{
    if (!list_length(model, list, "mlp_layer_types"))
        return false;
    const struct doc *item = list->first;
    for (size_t layer = 0; layer < count_of(model); layer++, item = item->next) {
        const char *name = item->kind == DOC_STRING ? item->string : "";
        bool dense = !strcmp(name, "dense");
        if (!dense && strcmp(name, "sparse") && strcmp(name, "moe") && strcmp(name, "hash_moe")) {
            config_fail(model->config, "mlp_layer_types of layer %zu is '%s'", layer, name);
            return config_expected(model->config, "dense, sparse, moe or hash_moe");
        }
        model->plan[layer].ffn = dense ? FFN_DENSE : FFN_MOE;
    }
    return true;
}

/* A list of flags, or every n-th layer after the first dense ones. */
static bool read_ffn_frequency(struct model *model, const struct doc *doc)
{
    struct config *config = model->config;
    if (doc->kind == DOC_ARRAY) {
        if (!list_integers(model, doc, "moe_layer_freq"))
            return false;
        const struct doc *item = doc->first;
        for (size_t layer = 0; layer < count_of(model); layer++, item = item->next)
            model->plan[layer].ffn = item_true(item) ? FFN_MOE : FFN_DENSE;
        return true;
    }
    double first = config_count_or(config, FIELD_dense_first, 0);
    double interval = config_count_or(config, FIELD_moe_interval, 1);
    for (size_t layer = 0; layer < count_of(model); layer++)
        model->plan[layer].ffn = (double)layer >= first && layer % (size_t)interval == 0
                               ? FFN_MOE : FFN_DENSE;
    return true;
}

/* The first layers may be dense though only the class says so. */
static bool read_ffn_default(struct model *model, const struct doc *doc)
{
    static const struct doc none = { .kind = DOC_NULL };
    (void)doc;
    return config_count_or(model->config, FIELD_dense_first, 0) == 0 || read_ffn_frequency(model, &none);
}

/* Llama-4 and Qwen count the layers from 1; Qwen also lists dense ones by number from 0. */
static bool read_ffn_step(struct model *model, const struct doc *doc)
{
    (void)doc;
    struct config *config = model->config;
    size_t step = (size_t)config_count(config, FIELD_moe_interval);
    for (size_t layer = 0; layer < count_of(model); layer++)
        model->plan[layer].ffn = (layer + 1) % step ? FFN_DENSE : FFN_MOE;
    const struct doc *dense = config_get(config, "mlp_only_layers");
    for (const struct doc *item = dense ? dense->first : NULL; item; item = item->next) {
        struct layer_plan *plan = named(model, item, 0, "mlp_only_layers");
        if (!plan)
            return false;
        plan->ffn = FFN_DENSE;
    }
    return true;
}

/* Step: "3,4,5,..." */
static bool read_ffn_numbers(struct model *model, const struct doc *doc)
{
    if (doc->kind != DOC_STRING)
        return config_fail(model->config, "moe_layers_enum is not a string of layer numbers");
    for (size_t layer = 0; layer < count_of(model); layer++)
        model->plan[layer].ffn = FFN_DENSE;
    struct text rest = text_of(doc->string);
    while (rest.size) {
        const char *comma = memchr(rest.data, ',', rest.size);
        struct text item = { rest.data, comma ? (size_t)(comma - rest.data) : rest.size };
        size_t taken = item.size + (comma != NULL);
        rest = (struct text){ rest.data + taken, rest.size - taken };
        double layer;
        if (!text_number(text_trim(item), &layer) || layer < 0 || layer >= model->layers)
            return config_fail(model->config, "moe_layers_enum names a layer that is not there");
        model->plan[(size_t)layer].ffn = FFN_MOE;
    }
    return true;
}

/* Jamba: experts in one layer of each period. */
static bool read_expert_period(struct model *model, const struct doc *doc)
{
    (void)doc;
    struct config *config = model->config;
    double period = config_count(config, FIELD_expert_period);
    double offset = config_count_or(config, FIELD_expert_offset, 0);
    for (size_t layer = 0; layer < count_of(model); layer++)
        model->plan[layer].ffn = fmod((double)layer - offset, period) == 0 ? FFN_MOE : FFN_DENSE;
    return true;
}

/* ERNIE: experts between two layers, in every n-th. */
static bool read_expert_range(struct model *model, const struct doc *doc)
{
    (void)doc;
    struct config *config = model->config;
    const struct doc *end = config_get(config, "moe_layer_end_index");
    double first = config_count(config, FIELD_expert_start), step = config_count_or(config, FIELD_moe_interval, 1);
    double last = end && end->kind == DOC_NUMBER && end->number >= 0 ? end->number : model->layers - 1;
    for (size_t layer = 0; layer < count_of(model); layer++)
        model->plan[layer].ffn = (double)layer >= first && (double)layer <= last &&
                                 (layer + 1) % (size_t)step == 0 ? FFN_MOE : FFN_DENSE;
    return true;
}

static const struct pattern_key ffn_patterns[] = {
    { "mlp_layer_types", 0, read_ffn_types, NULL },
    { "moe_layers_enum", 0, read_ffn_numbers, NULL },
    { "interleave_moe_layer_step", 0, read_ffn_step, NULL },
    { "decoder_sparse_step", 0, read_ffn_step, NULL },
    { "moe_layer_freq", 0, read_ffn_frequency, NULL },
    { "first_k_dense_replace", 0, read_ffn_frequency, NULL },
    { "n_dense_layers", 0, read_ffn_frequency, NULL },
    { "expert_layer_period", 0, read_expert_period, "expert_period" },
    { "moe_layer_start_index", 0, read_expert_range, "expert_start" },
    { NULL, 0, read_ffn_default, NULL },
};

/* ---- which layers attend to what an index chose -------------------------------------- */

static bool read_index_types(struct model *model, const struct doc *list)
{
    if (!list_length(model, list, "indexer_types"))
        return false;
    const struct doc *item = list->first;
    for (size_t layer = 0; layer < count_of(model); layer++, item = item->next)
        model->plan[layer].indexed = item->kind == DOC_STRING && !strcmp(item->string, "full");
    return true;
}

static bool read_sparse_config(struct model *model, const struct doc *doc)
{
    const struct doc *list = doc_get(doc, "sparse_attention_freq");
    if (!list || !list_integers(model, list, "sparse_attention_freq"))
        return config_fail(model->config, "sparse_attention_config has no sparse_attention_freq");
    const struct doc *item = list->first;
    for (size_t layer = 0; layer < count_of(model); layer++, item = item->next)
        model->plan[layer].sparse = model->plan[layer].indexed = item_true(item);
    return true;
}

static const struct pattern_key index_patterns[] = {
    { "indexer_types", TRAIT_BIT(sparse), read_index_types, NULL },
    { "sparse_attention_config", 0, read_sparse_config, NULL },
};

/* The first way of a table that applies: the file has its key, or its class says the count. NULL: none does. */
static const struct pattern_key *first_of(struct model *model, const struct pattern_key *patterns, size_t count)
{
    double value;
    for (size_t i = 0; i < count; i++)
        if ((!patterns[i].key || config_get(model->config, patterns[i].key) ||
             (patterns[i].count && family_default(model->family, patterns[i].count, &value))) &&
            (!patterns[i].trait || model_has(model, patterns[i].trait)))
            return &patterns[i];
    return NULL;
}

static bool apply(struct model *model, const struct pattern_key *pattern)
{
    return !pattern || pattern->read(model, pattern->key ? config_get(model->config, pattern->key) : NULL);
}

/* The last layers read the cache of the last layer that has one (Gemma-3n, Gemma-4). */
static void share_caches(struct model *model)
{
    double shared = config_count_or(model->config, FIELD_shared_cache, 0);
    for (size_t layer = 0; layer < count_of(model); layer++)
        model->plan[layer].borrowed = (double)layer >= model->layers - shared && shared > 0;
}

/* A family that may have recurrent layers must say which they are, even if there are none (granite-4.0-micro). */
static bool kinds_said(struct model *model, const struct pattern_key *mixers)
{
    const struct family *family = model->family;
    const bool windows = model_has(model, TRAIT_BIT(listed));
    const bool states = family->linear && family->attention && !model_has(model, TRAIT_BIT(parallel_state)) &&
                        !model_has(model, TRAIT_BIT(alternating_state));
    if (mixers->key || (!states && !windows))
        return true;
    config_fail(model->config, "nothing says which layers of %s %s", family->name,
                windows ? "have windows" : "are recurrent");
    if (windows)
        return config_expected(model->config, "layer_types or hybrid_layer_pattern");
    return config_expected(model->config, "layer_types, full_attention_interval, attn_type_list, "
                           "linear_attn_config, hybrid_override_pattern or layers_block_type");
}

bool plan_layers(struct model *model)
{
    const struct family *family = model->family;
    model->plan = arena_array(model->config->arena, count_of(model), sizeof *model->plan);
    for (size_t layer = 0; layer < count_of(model); layer++)
        model->plan[layer] = (struct layer_plan){
            .mixer = family->attention ? MIXER_FULL : MIXER_LINEAR,
            .ffn = family->ffn_kind == FFN_ABSENT ? FFN_NONE : model->experts > 1 ? FFN_MOE : FFN_DENSE,
            .recurrent = model_has(model, TRAIT_BIT(parallel_state)),
            .compression = 1, .sparse = model_has(model, TRAIT_BIT(sparse)),
            .indexed = model_has(model, TRAIT_BIT(sparse)) };
    const struct pattern_key *mixers = first_of(model, mixer_patterns, sizeof mixer_patterns / sizeof *mixer_patterns);
    bool good = apply(model, mixers)
             && apply(model, first_of(model, index_patterns, sizeof index_patterns / sizeof *index_patterns));
    if (good && model->experts > 1 && !model_has(model, TRAIT_BIT(halves)))     /* halves say it themselves */
        good = apply(model, first_of(model, ffn_patterns, sizeof ffn_patterns / sizeof *ffn_patterns));
    share_caches(model);
    return good && kinds_said(model, mixers) && !model->config->failed;
}
