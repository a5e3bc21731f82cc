/* An imported model as a whole: norms, residual streams and embeddings around attention and feed-
 * forward blocks, layer by layer.
 *
 * attention.c, state.c and ffn.c build the halves of a layer; weights.c merges equal ones into
 * tables. What only some families have (residual streams of DeepSeek-V4, embeddings of each layer
 * in Gemma, attention over earlier blocks in Kimi-K3) is built here if the configuration says so.
 * Parts that are left out, such as vision towers, are named in a note. */
#include "import/tensors.h"

#include "build/row_names.h"

#include <math.h>

/* ---- the parts around attention and feed-forward ------------------------------------- */

static void norm_add(struct model *model, const char *name)
{
    if (!model->family->norm_weights)
        return;
    weight_vector(model, name, model->hidden);
    if (model_rule(model, model->family->norm_bias))
        weight_vector(model, arena_print(model->config->arena, "%s.bias", name), model->hidden);
}

/* Attention and feed-forward of Falcon-7B share one norm, those of the larger ones have two. */
static double falcon_norms(struct config *config)
{
    if (falcon_grouped(config)) {
        const struct doc *count = config_get(config, "num_ln_in_parallel_attn");
        return count && count->kind == DOC_NUMBER && count->number == 1 ? 1 : 2;
    }
    return config_flag(config, "parallel_attn", true) ? 1 : 2;
}

static double norm_count(struct model *model)
{
    double norms = model->family->norms;
    if (model_has(model, TRAIT_BIT(falcon_norms)))
        return falcon_norms(model->config);
    if (model_has(model, TRAIT_BIT(parallel_asked)))
        norms -= config_flag(model->config, "use_parallel_residual", false);
    if (model_has(model, TRAIT_BIT(norms_behind)) && config_flag(model->config, "use_post_norm", false))
        norms += 2;
    return norms;
}

static void layer_norms(struct model *model)
{
    static const char *const names[] = { "input_layernorm", "post_attention_layernorm",
                                         "pre_feedforward_layernorm", "post_feedforward_layernorm" };
    const double norms = norm_count(model);
    for (size_t i = 0; i < norms && i < sizeof names / sizeof *names; i++)
        norm_add(model, model_has(model, TRAIT_BIT(halves)) ? "norm" : names[i]);
    if (model_has(model, TRAIT_BIT(layer_scale)))
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

/* Gemma-3n: of several copies of the residual stream one runs through a layer, the others are predicted
 * from it; a branch of low rank runs beside the attention. */
static void layer_altup(struct model *model)
{
    if (!model_has(model, TRAIT_BIT(altup)))
        return;
    double hidden = model->hidden, rank = config_count(model->config, FIELD_low_rank);
    double n = config_count(model->config, FIELD_copies);
    weight_matrix(model, "laurel.linear_left", hidden, rank);
    weight_matrix(model, "laurel.linear_right", rank, hidden);
    weight_vector(model, "laurel.post_laurel_norm", hidden);
    weight_vector(model, "altup.router_norm", hidden);
    weight_matrix(model, "altup.modality_router", hidden, n);
    weight_matrix(model, "altup.prediction_coefs", n, n * n);
    weight_matrix(model, "altup.correction_coefs", n, n);
    weight_vector(model, "altup.correct_output_scale", hidden);
}

static void model_altup(struct model *model)
{
    if (!model_has(model, TRAIT_BIT(altup)))
        return;
    double others = config_count(model->config, FIELD_copies) - 1;
    weight_matrix(model, "altup_projections", model->hidden, others * model->hidden);
    weight_matrix(model, "altup_unembed_projections", others * model->hidden, model->hidden);
}

/* DeepSeek-V4: each half reads n residual streams through weights made from them. */
static void layer_streams(struct model *model)
{
    if (!model_has(model, TRAIT_BIT(streams)))
        return;
    double n = model->streams, mixed = (2 + n) * n;
    weight_float(model, "attn_hc.fn", n * model->hidden, mixed);
    weight_float(model, "attn_hc.base", mixed, 1);
    weight_float(model, "attn_hc.scale", 3, 1);
    weight_float(model, "ffn_hc.fn", n * model->hidden, mixed);
    weight_float(model, "ffn_hc.base", mixed, 1);
    weight_float(model, "ffn_hc.scale", 3, 1);
}

static void model_streams(struct model *model)
{
    if (!model_has(model, TRAIT_BIT(streams)))
        return;
    double n = model->streams;
    weight_float(model, "hc_head.hc_fn", n * model->hidden, n);
    weight_float(model, "hc_head.hc_base", n, 1);
    weight_float(model, "hc_head.hc_scale", 1, 1);
}

/* ---- layers -------------------------------------------------------------------------- */

static void layer_mixer(struct model *model, const struct layer_plan *plan)
{
    const struct family *family = model->family;
    if (plan->mixer == MIXER_LINEAR || plan->recurrent)
        family->linear(model, plan);
    if (plan->mixer != MIXER_LINEAR && plan->mixer != MIXER_NONE)
        family->attention(model, plan);
    if (plan->crossed)
        weight_vector(model, "cross_attn_gates", 2);
}

static bool build_layer(struct model *model, const struct layer_plan *plan)
{
    const struct family *family = model->family;
    layer_norms(model);
    layer_altup(model);
    layer_residuals(model);
    layer_streams(model);
    layer_inputs(model);
    if (plan->mixer == MIXER_LINEAR && !family->linear)
        return config_fail(model->config, "a linear_attention layer, which model_type %s does "
                           "not have", family->name);
    if (plan->mixer != MIXER_LINEAR && plan->mixer != MIXER_NONE && !family->attention)
        return config_fail(model->config, "an attention layer, which model_type %s does not have", family->name);
    layer_mixer(model, plan);
    if (plan->ffn == FFN_MOE)
        ffn_experts(model, plan);
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

/* A model whose scores have positions (ALiBi, rotation) has no table of them. MPT's file says so, others' class. */
static bool scores_have_positions(struct model *model)
{
    const struct doc *attention = config_get(model->config, "attn_config");
    return (model_has(model, TRAIT_BIT(alibi)) && !attention) || doc_is(doc_get(attention, "alibi"), true) ||
           doc_is(doc_get(attention, "rope"), true);
}

static void model_positions(struct model *model)
{
    if (!model_has(model, TRAIT_BIT(positions)) || !config_flag(model->config, "learned_pos_emb", true) ||
        scores_have_positions(model))
        return;
    double more = model_has(model, TRAIT_BIT(positions_offset)) ? 2 : 0;
    weight_add(model, (struct weight){ .name = "embed_positions", .out = model->hidden,
                                       .in = config_count(model->config, FIELD_context) + more,
                                       .role = ROLE_BASE, .lookup = true });
}

/* A file that wraps a language model says for the whole whether head and embedding are one. */
static bool tied(struct model *model)
{
    static const char key[] = "tie_word_embeddings";
    const struct doc *outer = doc_get(model->config->root, key);
    if (outer && outer->kind == DOC_BOOL)
        return outer->boolean;
    return config_flag(model->config, key, model->family->tied);
}

/* OPT-350M: words are narrower than the model, with a projection on either side. */
static double embedding_width(struct model *model)
{
    if (!model_has(model, TRAIT_BIT(opt_projection)))
        return model->hidden;
    double width = config_count_or(model->config, FIELD_embedding, model->hidden);
    if (width != model->hidden) {
        weight_matrix(model, "project_in", width, model->hidden);
        weight_matrix(model, "project_out", model->hidden, width);
    }
    return width;
}

static void final_norm(struct model *model)
{
    if (model_has(model, TRAIT_BIT(embedding_norm)))
        norm_add(model, "embed_norm");
    if (!model_has(model, TRAIT_BIT(no_final_norm)) && !(model_has(model, TRAIT_BIT(opt_projection)) &&
        !config_flag(model->config, "do_layer_norm_before", true)))
        norm_add(model, "norm");
}

static void head_add(struct model *model, double width)
{
    if (model_has(model, TRAIT_BIT(reward_head))) {
        weight_matrix(model, "score", model->hidden, 1);
        weight_vector(model, "score.bias", 1);
        return;
    }
    weight_add(model, (struct weight){ .name = "lm_head", .in = width,
                                       .out = model->vocabulary, .role = ROLE_BASE });
    if (model_rule(model, model->family->head_bias))
        weight_vector(model, "lm_head.bias", model->vocabulary);
}

static void build_ends(struct model *model)
{
    const bool stored = model->precision.file &&
                        (file_type_head(model->precision.file) || model_has(model, TRAIT_BIT(head_stored)));
    const bool apart = model->precision.head && !model->precision.tables;   /* a quantized copy of the embedding */
    const bool one = tied(model) && !stored && !apart && !model_has(model, TRAIT_BIT(reward_head));
    /* Llama 3.2 Vision: eight more rows, for images, which are no outputs. */
    const double more = model_has(model, TRAIT_BIT(crossed)) ? 8 : 0, width = embedding_width(model);
    if (!one)
        weight_add(model, (struct weight){ .name = "embed_tokens", .in = model->vocabulary + more,
                                           .out = width, .role = ROLE_BASE, .lookup = true });
    model_positions(model);
    final_norm(model);
    if (config_has(model->config, FIELD_residual_block)) {
        weight_vector(model, "output_attn_res_norm", model->hidden);
        weight_vector(model, "output_attn_res_proj", model->hidden);
    }
    model_streams(model);
    model_inputs(model);
    model_altup(model);
    head_add(model, width);
    if (one)
        facts_note(model->config->facts, "lm_head and the input embedding are one matrix");
    if (one && model->precision.copied)
        facts_note(model->config->facts, "files of this method mostly store the head, which is the embedding, once more: %.0f B that "
                   "are not loaded", model->vocabulary * width * model->precision.base->bytes);
}

/* ---- the whole ----------------------------------------------------------------------- */

static void note_left_out(struct model *model)
{
    struct config *config = model->config;
    double extra = config_count_or(config, FIELD_prediction_layers, 0);
    if (extra > 0)
        facts_set(config->facts, NAME_prediction_layers, extra, ORIGIN_MODEL, config->file);
    if (extra > 0)
        facts_note(config->facts, "%.0f multi-token-prediction layer%s left out of the forward "
                   "pass", extra, extra == 1 ? "" : "s");
    ignore_unseen(config, model->precision.ignore, model->layers, extra);
    double hashed = config_count_or(config, FIELD_hash_layers, 0);
    if (hashed > 0)
        facts_note(config->facts, "%.0f layers choose experts by a table of token numbers, which "
                   "is left out", hashed);
}

/* Nemotron-3 Ultra gives its layers as a list only; LongCat-Flash counts its attentions, two in each. */
static double layer_count(struct model *model)
{
    struct config *config = model->config;
    const bool twice = model->family->attention == attention_twice;
    const struct doc *list = config_get(config, "layers_block_type"), *pairs = config_get(config, "num_layers");
    if (twice && pairs && pairs->kind == DOC_NUMBER && pairs->number >= 1 && pairs->number <= 1e3)
        return floor(pairs->number);
    if (!doc_get(config->text, "num_hidden_layers") && list && list->count)
        return (double)list->count;
    return floor(config_count(config, FIELD_layers) / (twice ? 2 : 1));
}

static bool model_read(struct model *model)
{
    struct config *config = model->config;
    model->layers = layer_count(model);
    model->hidden = config_count(config, FIELD_hidden);
    model->vocabulary = config_count(config, FIELD_vocabulary);
    model->experts = config_count_or(config, FIELD_experts, 1);
    model->streams = model_has(model, TRAIT_BIT(streams)) ? config_count(config, FIELD_streams) : 1;
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
    config->as = options->as;
    config->families = options->families;
    if (!config_open(config, root))
        return false;
    model->family = family_find(config);
    if (!model->family)
        return false;
    config->family = config->assumed ? NULL : model->family;
    if (!precision_read(config, options, &model->precision) || !model_read(model))
        return false;
    if (model->family->whole) {
        model->family->whole(model);
        return !config->failed;
    }
    if (!plan_layers(model) || !build_layers(model))
        return false;
    if (model_has(model, TRAIT_BIT(encoder)))
        encoder_ends(model);
    else
        build_ends(model);
    encoder_note_class(model);
    towers_add(model);
    images_add(model);
    note_left_out(model);
    return !config->failed && ((!config->assumed && !config->as) || config_all_read(config));
}

bool model_finish(struct model *model, const struct model_options *options)
{
    const struct format **cache = model->precision.cache;
    if (!options->kv && cache[0])
        facts_note(model->config->facts, "KV cache and attention in %s, as the checkpoint says", cache[0]->name);
    if ((options->kv || !cache[0]) && !formats_cache(options->formats, options->kv ? options->kv : "bf16", "the cache", cache,
                                                     model->config->error))
        return false;
    model_facts(model);
    return !model->config->failed;
}

bool model_index(struct arena *arena, const struct doc *root, const struct doc *index, const char *file,
                 const struct model_options *options, struct facts *facts, struct error *error)
{
    struct model model = { .config = &(struct config){ .arena = arena, .file = file,
                                                       .facts = facts, .error = error,
                                                       .assume = options->assume } };
    const bool built = model_build(&model, root, options);
    if (built && index && !options->weights && !options->experts)
        index_compare(&model, index);
    if (built && model_finish(&model, options))
        return true;
    return *error->hint ? false : error_expected(error, "a config.json as Hugging Face's transformers reads it");
}

bool model_config(struct arena *arena, const struct doc *root, const char *file,
                  const struct model_options *options, struct facts *facts,
                  struct error *error)
{
    return model_index(arena, root, NULL, file, options, facts, error);
}
