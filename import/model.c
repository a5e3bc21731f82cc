/* An imported model as a whole: norms, residual streams and embeddings around attention and feed-
 * forward blocks, layer by layer.
 *
 * attention.c, state.c and ffn.c build the halves of a layer; weights.c merges equal ones into
 * tables. What only some families have (residual streams of DeepSeek-V4, embeddings of each layer
 * in Gemma, attention over earlier blocks in Kimi-K3) is built here if the configuration says so.
 * Parts that are left out, such as vision towers, are named in a note. */
#include "import/model.h"

#include "build/row_names.h"

#include <string.h>

/* ---- the parts around attention and feed-forward ------------------------------------- */

/* MPT says for all of its biases that there are none. */
bool model_biased(struct model *model, unsigned trait)
{
    return model_has(model, trait) && !config_flag(model->config, "no_bias", false);
}

static void norm_add(struct model *model, const char *name)
{
    weight_vector(model, name, model->hidden);
    if (model_biased(model, NORM_BIAS))
        weight_vector(model, arena_print(model->config->arena, "%s.bias", name), model->hidden);
}

static void layer_norms(struct model *model)
{
    double hidden = model->hidden;
    if (model_has(model, NORM_ONE)) {
        weight_vector(model, "norm", hidden);
        return;
    }
    norm_add(model, "input_layernorm");
    norm_add(model, "post_attention_layernorm");
    if (model_has(model, NORMS_FOUR)) {
        weight_vector(model, "pre_feedforward_layernorm", hidden);
        weight_vector(model, "post_feedforward_layernorm", hidden);
    }
    if (model_has(model, LAYER_SCALE))
        weight_vector(model, "layer_scalar", 1);
}

/* Kimi-K3: each half of a layer attends to the outputs of earlier blocks. */
static void layer_residuals(struct model *model)
{
    if (!config_has(model->config, FIELD_residual_block))
        return;
    weight_vector(model, "self_attention_res_norm", model->hidden);
    weight_vector(model, "self_attention_res_proj", model->hidden);
    weight_vector(model, "mlp_res_norm", model->hidden);
    weight_vector(model, "mlp_res_proj", model->hidden);
}

/* Gemma-3n and Gemma-4: an embedding of each layer's own joins what the layer adds. */
static void layer_inputs(struct model *model)
{
    double size = config_count_or(model->config, FIELD_layer_input, 0);
    if (size == 0)
        return;
    weight_matrix(model, "per_layer_input_gate", model->hidden, size);
    weight_matrix(model, "per_layer_projection", size, model->hidden);
    weight_vector(model, "post_per_layer_input_norm", model->hidden);
}

static void model_inputs(struct model *model)
{
    double size = config_count_or(model->config, FIELD_layer_input, 0);
    if (size == 0)
        return;
    double rows = config_count_or(model->config, FIELD_layer_vocabulary, model->vocabulary);
    weight_add(model, (struct weight){ .name = "embed_tokens_per_layer", .in = rows,
                                       .out = model->layers * size, .role = ROLE_BASE,
                                       .lookup = true });
    weight_matrix(model, "per_layer_model_projection", model->hidden, model->layers * size);
    weight_vector(model, "per_layer_projection_norm", size);
}

/* DeepSeek-V4: each half reads n residual streams through weights made from them. */
static void float_weight(struct model *model, const char *name, double in, double out)
{
    weight_add(model, (struct weight){ .name = name, .in = in, .out = out, .role = ROLE_FLOAT });
}

static void layer_streams(struct model *model)
{
    if (!model_has(model, STREAMS))
        return;
    double n = model->streams, mixed = (2 + n) * n;
    float_weight(model, "attn_hc.fn", n * model->hidden, mixed);
    float_weight(model, "attn_hc.base", mixed, 1);
    float_weight(model, "attn_hc.scale", 3, 1);
    float_weight(model, "ffn_hc.fn", n * model->hidden, mixed);
    float_weight(model, "ffn_hc.base", mixed, 1);
    float_weight(model, "ffn_hc.scale", 3, 1);
}

static void model_streams(struct model *model)
{
    if (!model_has(model, STREAMS))
        return;
    double n = model->streams;
    float_weight(model, "hc_head.hc_fn", n * model->hidden, n);
    float_weight(model, "hc_head.hc_base", n, 1);
    float_weight(model, "hc_head.hc_scale", 1, 1);
}

/* ---- layers -------------------------------------------------------------------------- */

static bool build_layer(struct model *model, const struct plan *plan)
{
    const struct family *family = model->family;
    layer_norms(model);
    layer_residuals(model);
    layer_streams(model);
    layer_inputs(model);
    if (plan->mixer == MIXER_LINEAR && !family->linear)
        return config_fail(model->config, "a linear_attention layer, which model_type %s does "
                           "not have", family->name);
    if (plan->mixer == MIXER_LINEAR)
        family->linear(model, plan);
    else if (plan->mixer != MIXER_NONE)
        family->attention(model, plan);
    if (plan->ffn == FFN_MOE)
        family->experts(model, plan);
    else if (plan->ffn == FFN_DENSE)
        ffn_dense(model, plan);
    model->moe_layers += plan->ffn == FFN_MOE;
    return !model->config->failed;
}

static bool build_layers(struct model *model)
{
    for (model->layer = 0; model->layer < model->layers; model->layer++)
        if (!build_layer(model, &model->plan[(size_t)model->layer]))
            return false;
    model->layer = -1;
    return true;
}

/* MPT may say where words stand in the scores (ALiBi, rotation): then it has no table. */
static bool scores_have_positions(const struct config *config)
{
    const struct doc *attention = config_get(config, "attn_config");
    const struct doc *alibi = doc_get(attention, "alibi"), *rope = doc_get(attention, "rope");
    return (alibi && alibi->kind == DOC_BOOL && alibi->boolean) ||
           (rope && rope->kind == DOC_BOOL && rope->boolean);
}

static void model_positions(struct model *model)
{
    if (!model_has(model, POSITIONS) || !config_flag(model->config, "learned_pos_emb", true) ||
        scores_have_positions(model->config))
        return;
    weight_add(model, (struct weight){ .name = "embed_positions", .out = model->hidden,
                                       .in = config_count(model->config, FIELD_context),
                                       .role = ROLE_BASE, .lookup = true });
}

static void build_ends(struct model *model)
{
    bool tied = config_flag(model->config, "tie_word_embeddings", model_has(model, TIED));
    struct weight embedding = { .name = "embed_tokens", .in = model->vocabulary,
                                .out = model->hidden, .role = ROLE_BASE, .lookup = true };
    if (!tied)
        weight_add(model, embedding);
    model_positions(model);
    norm_add(model, "norm");
    if (config_has(model->config, FIELD_residual_block)) {
        weight_vector(model, "output_attn_res_norm", model->hidden);
        weight_vector(model, "output_attn_res_proj", model->hidden);
    }
    model_streams(model);
    model_inputs(model);
    weight_add(model, (struct weight){ .name = "lm_head", .in = model->hidden,
                                       .out = model->vocabulary, .role = ROLE_BASE });
    if (tied)
        facts_note(model->config->facts, "lm_head and the input embedding are one matrix");
}

/* ---- the whole ----------------------------------------------------------------------- */

static void note_left_out(struct model *model)
{
    static const char *const towers[] = { "vision_config", "audio_config", "visual" };
    struct config *config = model->config;
    double extra = config_count_or(config, FIELD_prediction_layers, 0);
    if (extra > 0)
        facts_set(config->facts, NAME_prediction_layers, extra, ORIGIN_MODEL, config->file);
    if (extra > 0)
        facts_note(config->facts, "%.0f multi-token-prediction layer%s left out of the forward "
                   "pass", extra, extra == 1 ? "" : "s");
    double hashed = config_count_or(config, FIELD_hash_layers, 0);
    if (hashed > 0)
        facts_note(config->facts, "%.0f layers choose experts by a table of token numbers, which "
                   "is left out", hashed);
    for (size_t i = 0; i < sizeof towers / sizeof *towers; i++)
        if (config_get(config, towers[i]))
            facts_note(config->facts, "the tower of %s is left out", towers[i]);
}

/* Nemotron-3 Ultra gives its layers as a list only. */
static double layer_count(struct config *config)
{
    const struct doc *list = config_get(config, "layers_block_type");
    if (!config_has(config, FIELD_layers) && list && list->count)
        return (double)list->count;
    return config_count(config, FIELD_layers);
}

static bool model_read(struct model *model)
{
    struct config *config = model->config;
    model->layers = layer_count(config);
    model->hidden = config_count(config, FIELD_hidden);
    model->vocabulary = config_count(config, FIELD_vocabulary);
    model->experts = config_count_or(config, FIELD_experts, 1);
    model->streams = model_has(model, STREAMS) ? config_count(config, FIELD_streams) : 1;
    model->top_k = 1;
    if (model->experts > 1)
        model->top_k = config_count(config, FIELD_top_k);
    else
        model->experts = 1;
    if (model->top_k > model->experts || model->top_k < 1)
        config_fail(config, "a token uses %.0f of %.0f experts", model->top_k, model->experts);
    return !config->failed;
}

bool model_build(struct model *model, const struct doc *root, const struct model_options *options)
{
    struct config *config = model->config;
    if (!config_open(config, root))
        return false;
    model->family = family_find(config);
    if (!model->family)
        return false;
    config->family = config->assume ? NULL : model->family->name;
    if (!precision_read(config, options, &model->precision)
        || !model_read(model) || !plan_layers(model) || !build_layers(model))
        return false;
    build_ends(model);
    note_left_out(model);
    return !config->failed;
}

bool model_finish(struct model *model, const struct model_options *options)
{
    const struct format *kv;
    const char *name = options->kv ? options->kv : "bf16";
    if (!formats_need(options->formats, name, "the cache", &kv, model->config->error))
        return false;
    model_facts(model, kv);
    return true;
}

bool model_config(struct arena *arena, const struct doc *root, const char *file,
                  const struct model_options *options, struct facts *facts,
                  struct error *error)
{
    struct model model = { .config = &(struct config){ .arena = arena, .file = file,
                                                       .facts = facts, .error = error,
                                                       .assume = options->assume } };
    return model_build(&model, root, options) && model_finish(&model, options);
}
