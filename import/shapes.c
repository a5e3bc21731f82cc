/* The layers of a model from the shapes of its tensors: for a file without a configuration, or with one of
 * an unknown architecture, or a GGUF file of one.
 *
 * What a layer is shows in its tensors: keys and values, a latent, a recurrent state, a short convolution,
 * experts. Shapes give the width, the vocabulary, the size of a cache entry and the experts. They do not
 * give how rows are cut into heads (unless queries have a norm of a head's size), how many experts a token
 * uses, windows, or the size of a state: these are read from the configuration's fields, under any name
 * that some family has for them, and asked for by name where there is none. */
#include "import/tensors.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* What was found in one layer. */
struct layer {
    const struct module *of[TENSOR_CLASS_COUNT];    /* the first matrix of each kind */
    const struct module *query_up, *output, *query_norm, *latent_norm, *sinks;
    double inputs;              /* numbers that its short convolutions keep */
    bool recurrent, mixes_time;
};

/* Any kind of layer: what is not the same in each is read from its tensors. */
static const struct family any_family = {
    .name = "generic", .attention = attention_grouped, .ffn_kind = FFN_GATED, .norm_weights = true,
    .windowed = true };

/* ---- what is there ------------------------------------------------------------------- */

static void layer_see(struct layer *layer, const struct module *module)
{
    const char *name = module->name;
    if (module->out > 1 && !layer->of[module->kind])
        layer->of[module->kind] = module;
    if (module->kind == TENSOR_convolution && module->out > 1)
        layer->inputs += module->out * (module->in - 1);
    layer->recurrent |= module->kind == TENSOR_recurrent || module->kind == TENSOR_state_output ||
                        module->kind == TENSOR_convolution;
    layer->mixes_time |= module->kind == TENSOR_recurrent && strstr(name, "time_") != NULL;
    if (module->out > 1 && (ends_with(name, "q_b_proj") || ends_with(name, "attn_q_b")))
        layer->query_up = module;
    if (module->out > 1 && (ends_with(name, "o_proj") || ends_with(name, "attn_output")))
        layer->output = module;
    if (ends_with(name, "attn.q_norm") || ends_with(name, "attn_q_norm"))
        layer->query_norm = module;
    if (ends_with(name, "kv_a_layernorm") || ends_with(name, "attn_kv_a_norm"))
        layer->latent_norm = module;
    if (ends_with(name, "attn.sinks") || ends_with(name, "attn_sinks"))
        layer->sinks = module;
}

static struct layer *layers_see(struct model *model, const struct modules *modules)
{
    struct layer *layers = arena_array(model->config->arena, (size_t)model->layers, sizeof *layers);
    for (size_t i = 0; i < modules->count; i++) {
        const struct module *module = &modules->at[i];
        const bool apart = module->kind == TENSOR_tower || module->kind == TENSOR_projector ||
                           module->kind == TENSOR_prediction;
        if (module->layer >= 0 && module->layer < model->layers && !apart)
            layer_see(&layers[(size_t)module->layer], module);
    }
    return layers;
}

/* ---- what no shape tells --------------------------------------------------------------- */

static bool ask_for(struct model *model, const char *fields, const char *why)
{
    config_fail(model->config, "%s: the shapes of the tensors do not tell %s", fields, why);
    return config_expected(model->config, "%s, in a config.json beside the file or in its metadata", fields);
}

/* The size of one query head of a layer whose query matrix has `rows` rows; 0: unknown. */
static double head_size(struct model *model, const struct layer *layer, double rows)
{
    struct config *config = model->config;
    if (layer->query_norm && layer->query_norm->in < rows && fmod(rows, layer->query_norm->in) == 0)
        return layer->query_norm->in;
    if (config_has(config, FIELD_head_dim))
        return config_count(config, FIELD_head_dim);
    if (config_has(config, FIELD_heads))
        return rows / config_count(config, FIELD_heads);
    if (layer->sinks)
        return rows / layer->sinks->in;
    return 0;
}

static bool heads_unknown(struct model *model)
{
    struct config *config = model->config;
    if (!config->assume && !config->shown)
        return ask_for(model, "num_attention_heads, and head_dim and sliding_window if it has them",
                       "how queries are cut into heads");
    facts_note(config->facts, config->assume ? "assumed heads of 128: shapes do not tell"
               : "shapes do not tell num_attention_heads, or whether layers have a sliding_window: a "
                 "prediction needs them from a config.json beside the file");
    return true;
}

/* ---- caches -------------------------------------------------------------------------- */

static void span(struct model *model, const struct layer_plan *plan, struct cache *cache)
{
    cache->window_fill = plan->mixer == MIXER_CHUNKED ? 0.5 : 1;
    cache->entries_per_token = plan->mixer == MIXER_FULL;
    if (plan->mixer == MIXER_SLIDING)
        cache->window = config_count(model->config, FIELD_window);
    if (plan->mixer == MIXER_CHUNKED)
        cache->window = config_count(model->config, FIELD_chunk);
    cache->name = plan->mixer == MIXER_SLIDING ? "sliding_attention"
                : plan->mixer == MIXER_CHUNKED ? "chunked_attention" : "full_attention";
}

/* Rows of queries, keys and values, of matrices of their own or of one for all. */
struct rows {
    double query, key, value;
};

static struct rows rows_of(struct model *model, const struct layer *layer)
{
    const struct module *query = layer->of[TENSOR_query], *key = layer->of[TENSOR_key];
    const struct module *value = layer->of[TENSOR_value], *joined = layer->of[TENSOR_joined];
    struct config *config = model->config;
    if (!joined || key)
        return (struct rows){ query ? query->out : layer->query_up ? layer->query_up->out : model->hidden,
                              key->out, value ? value->out : key->out };
    const double all = joined->out == model->hidden ? joined->in : joined->out;
    const double heads = config_count_or(config, FIELD_heads, 0);
    const double size = config_count_or(config, FIELD_head_dim, heads > 0 ? model->hidden / heads : 0);
    if (heads == 0 || heads * size >= all) {
        ask_for(model, "num_attention_heads", "which rows of the joined matrix are queries, keys and values");
        return (struct rows){ 1, 1, 1 };
    }
    return (struct rows){ heads * size, (all - heads * size) / 2, (all - heads * size) / 2 };
}

static void grouped(struct model *model, const struct layer *layer, const struct layer_plan *plan, bool *told)
{
    const struct rows rows = rows_of(model, layer);
    double size = model->config->failed ? 1 : head_size(model, layer, rows.query);
    struct cache cache = { .elements = rows.key + rows.value, .kernels = NAME_small_kernels_grouped,
                           .top = 1e12, .index_bytes = 2 };
    if (size == 0 && !*told)
        *told = heads_unknown(model);
    if (size == 0 && model->config->assume)
        size = 128;
    if (size > 0) {
        const double kv = fmax(floor(rows.key / size), 1);
        cache.cut = kv;
        cache.query_heads = fmax(floor(rows.query / size), 1);
        cache.score = cache.prefill_score = size;
        cache.value = cache.prefill_value = rows.value / kv;
        if (model->query_groups == 0)
            model->query_groups = cache.query_heads / kv;
    }
    span(model, plan, &cache);
    cache_add(model, plan, cache);
}

static void latent(struct model *model, const struct layer *layer, const struct layer_plan *plan)
{
    const double all = layer->of[TENSOR_latent]->out;
    const struct module *norm = layer->latent_norm;
    const double rank = norm ? norm->in : config_count(model->config, FIELD_kv_rank);
    const struct module *query = layer->query_up ? layer->query_up : layer->of[TENSOR_query];
    if (!config_has(model->config, FIELD_heads) || !query || !layer->output) {
        ask_for(model, "num_attention_heads", "how queries are cut into heads");
        return;
    }
    const double heads = config_count(model->config, FIELD_heads);
    struct cache cache = { .cut = 1, .kernels = NAME_small_kernels_latent, .elements = all, .top = 1e12,
                           .index_bytes = 2, .query_heads = heads, .score = all, .value = rank,
                           .prefill_score = query->out / heads, .prefill_value = layer->output->in / heads };
    span(model, plan, &cache);
    cache.name = "latent_attention";
    cache_add(model, plan, cache);
}

/* The size of the state of each inner channel; a short convolution alone has none. */
static void state(struct model *model, const struct layer *layer, const struct layer_plan *plan)
{
    static const enum field sizes[] = { FIELD_state_size, FIELD_linear_key_dim };
    const struct module *out = layer->of[TENSOR_state_output];
    const double inner = out ? out->in : layer->mixes_time ? model->hidden : 0;
    double size = 0;
    for (size_t i = 0; i < 2 && size == 0; i++)
        size = config_count_or(model->config, sizes[i], 0);
    if (inner > 0 && size == 0) {
        ask_for(model, "ssm_state_size (or mamba_d_state, linear_key_head_dim)",
                "the size of the recurrent state");
        return;
    }
    state_cache(model, plan, inner * size, 3, layer->mixes_time ? 2 * model->hidden : layer->inputs);
}

/* ---- a layer ------------------------------------------------------------------------- */

static bool has_attention(const struct layer *layer, const struct layer_plan *plan)
{
    return !plan->no_keys && !layer->mixes_time &&
           (layer->of[TENSOR_key] || layer->of[TENSOR_joined] || layer->of[TENSOR_latent]);
}

static bool layer_unknown(struct model *model, size_t number, const struct layer *layer)
{
    const struct module *own = layer->of[TENSOR_attention], *module = own ? own : layer->of[TENSOR_cross];
    config_fail(model->config, "layer %zu has an attention of an unknown kind: %s", number,
                module ? module->whole : "?");
    return config_expected(model->config,
                           "keys and values, a joined projection, a latent or a recurrent state");
}

static bool build_one(struct model *model, size_t number, const struct layer *layer, bool *told)
{
    struct layer_plan plan = model->plan[number];
    const bool attention = has_attention(layer, &plan) && !(plan.mixer == MIXER_LINEAR && layer->recurrent);
    if (plan.mixer == MIXER_LINEAR || plan.mixer == MIXER_NONE)
        plan.mixer = MIXER_FULL;
    if (attention && layer->of[TENSOR_latent])
        latent(model, layer, &plan);
    else if (attention)
        grouped(model, layer, &plan, told);
    plan.mixer = MIXER_LINEAR;
    if (layer->recurrent)
        state(model, layer, &plan);
    if (!attention && !layer->recurrent && (layer->of[TENSOR_attention] || layer->of[TENSOR_cross]))
        return layer_unknown(model, number, layer);
    model->moe_layers += layer->of[TENSOR_expert] != NULL;
    return !model->config->failed;
}

/* ---- the whole ----------------------------------------------------------------------- */

static double most_experts(const struct modules *modules)
{
    double most = 1;
    for (size_t i = 0; i < modules->count; i++)
        if (modules->at[i].kind == TENSOR_expert)
            most = fmax(most, modules->at[i].copies);
    return most;
}

static bool sizes_read(struct model *model, const struct modules *modules)
{
    struct config *config = model->config;
    const struct module *embedding = module_in(modules, -1, TENSOR_embedding);
    double extra = config_count_or(config, FIELD_prediction_layers, 0);
    if (!embedding && (!config_has(config, FIELD_hidden) || !config_has(config, FIELD_vocabulary))) {
        config_fail(config, "no embedding of words among its tensors");
        return config_expected(config, "a language model, with all of its parts (shards) beside each other");
    }
    model->layers = config_count_or(config, FIELD_layers, fmax(modules->layers - extra, 1));
    model->hidden = embedding ? embedding->in : config_count(config, FIELD_hidden);
    model->vocabulary = embedding ? embedding->out : config_count(config, FIELD_vocabulary);
    model->streams = model->top_k = 1;
    model->experts = fmax(most_experts(modules), config_count_or(config, FIELD_experts, 1));
    if (model->layers > 2e3)
        return config_fail(config, "%.0f layers", model->layers);
    if (model->experts > 1 && !config_has(config, FIELD_top_k))
        return ask_for(model, "num_experts_per_tok", "how many experts a token uses");
    if (model->experts > 1)
        model->top_k = config_count(config, FIELD_top_k);
    if (model->top_k > model->experts || model->top_k < 1)
        config_fail(config, "a token uses %.0f of %.0f experts", model->top_k, model->experts);
    return !config->failed;
}

/* GGUF: no key heads in a layer, though its tensors are called as those of attention. */
static void keys_absent(struct model *model)
{
    const struct doc *list = config_get(model->config, "kv_heads_by_layer");
    const struct doc *item = list ? list->first : NULL;
    for (size_t i = 0; item && i < (size_t)model->layers; i++, item = item->next)
        model->plan[i].no_keys = item->kind == DOC_NUMBER && item->number == 0;
}

bool shapes_build(struct model *model, const struct modules *modules)
{
    bool told = false;
    model->family = &any_family;
    if (!sizes_read(model, modules) || !plan_layers(model))
        return false;
    keys_absent(model);
    const struct layer *layers = layers_see(model, modules);
    for (size_t i = 0; i < (size_t)model->layers; i++)
        if (!build_one(model, i, &layers[i], &told))
            return false;
    facts_note(model->config->facts, "layers read from the shapes of the tensors");
    return !model->config->failed;
}
