/* The weights and the KV cache of attention layers, from a configuration: grouped, latent and
 * compressed attention. Each kind adds its matrices (with biases, norms and sinks) to the operators and
 * one entry to the caches. How fast they run is not decided here: the rows do that. */
#include "import/model.h"

#include "build/row_names.h"

#include <string.h>

/* Attention as numbers. d = head size, c = latent size, r = rotary part.
 *
 *                   one entry holds      score, value in decode     in prefill
 *     grouped       2 kv_heads d         d, d                       d, d
 *     latent        c + r                c + r, c   (absorbed)      nope + r, v
 *     compressed    d (key is value)     d, d                       d, d
 *
 * Absorbed: the up-projection of keys moves into the query and that of values into the
 * output, so a decode step reads the latent as it is (DeepSeek-V2, section 2.1). */

static const char *mixer_name(const struct layer_plan *plan)
{
    switch (plan->mixer) {
    case MIXER_SLIDING: return "sliding_attention";
    case MIXER_CHUNKED: return "chunked_attention";
    case MIXER_LINEAR:  return "linear_attention";
    case MIXER_FULL:
    case MIXER_NONE:    break;
    }
    return plan->crossed ? "cross_attention" : plan->sparse ? "sparse_attention" : "full_attention";
}

/* Entries kept: all, or those of a window. */
static void cache_span(struct model *model, const struct layer_plan *plan, struct cache *cache)
{
    struct config *config = model->config;
    cache->window_fill = plan->mixer == MIXER_CHUNKED ? 0.5 : 1;
    if (plan->crossed)
        return;                         /* entries of images, and none of the text */
    if (plan->mixer == MIXER_SLIDING)
        cache->window = config_count(config, FIELD_window);
    else if (plan->mixer == MIXER_CHUNKED)
        cache->window = config_count(config, FIELD_chunk);
    else
        cache->entries_per_token = 1;
}

/* ---- grouped queries ----------------------------------------------------------------- */

/* The heads of one layer: numbers of query and KV heads, sizes of a key and of a value. */
struct heads {
    double query, kv, key, value;
    bool key_is_value;
};

static double first_count(struct config *config, enum field field, double otherwise)
{
    return config_has(config, field) ? config_count(config, field) : otherwise;
}

static void heads_special(struct config *config, const struct layer_plan *plan, struct heads *heads)
{
    if (plan->mixer == MIXER_SLIDING) {
        heads->query = first_count(config, FIELD_window_heads, heads->query);
        heads->kv = first_count(config, FIELD_window_kv_heads, heads->kv);
        heads->value = first_count(config, FIELD_window_value_dim, heads->value);
        heads->key = first_count(config, FIELD_window_head_dim, heads->key);
    } else if (config_has(config, FIELD_full_head_dim)) {
        heads->key = heads->value = config_count(config, FIELD_full_head_dim);
        heads->key_is_value = config_flag(config, "attention_k_eq_v", false);
        if (heads->key_is_value)
            heads->kv = first_count(config, FIELD_full_kv_heads, heads->kv);
    }
}

/* Step: the windowed layers may have other heads, in an object of their own. */
static void heads_other(struct config *config, const struct layer_plan *plan, struct heads *heads)
{
    const struct doc *other = config_get(config, "attention_other_setting");
    if (!other || plan->mixer != MIXER_SLIDING)
        return;
    heads->query = config_count_in(config, other, FIELD_heads);
    heads->kv = config_count_in(config, other, FIELD_kv_heads);
    heads->key = heads->value = config_count_in(config, other, FIELD_head_dim);
}

bool falcon_grouped(struct config *config)
{
    const struct doc *said = config_get(config, "num_key_value_heads");
    const bool several = said && said->kind == DOC_NUMBER && said->number > 1 &&
                         said->number < config_count(config, FIELD_heads);
    return config_flag(config, "new_decoder_architecture", several || config_get(config, "n_head_kv") != NULL);
}

/* Falcon gave its number of key heads (num_kv_heads) two meanings; others say that there is one. */
static double kv_heads(struct model *model, double query)
{
    struct config *config = model->config;
    const struct doc *attention = config_get(config, "attn_config");
    if (model_has(model, TRAIT_BIT(multi_query)) && !config_get(config, "num_key_value_heads") && !falcon_grouped(config))
        return config_flag(config, "multi_query", true) ? 1 : query;
    if (!strcmp(doc_text(attention, "attn_type", ""), "multiquery_attention"))
        return 1;
    return config_count_or(config, FIELD_kv_heads, query);
}

static struct heads heads_read(struct model *model, const struct layer_plan *plan)
{
    struct config *config = model->config;
    struct heads heads = { .query = plan->query_heads > 0 ? plan->query_heads
                                                          : config_count(config, FIELD_heads) };
    heads.kv = plan->kv_heads > 0 ? plan->kv_heads : kv_heads(model, heads.query);
    if (!config_has(config, FIELD_head_dim) && (size_t)model->hidden % (size_t)heads.query)
        config_fail(config, "no head_dim, and hidden_size %.0f is not a multiple of "
                    "num_attention_heads %.0f", model->hidden, heads.query);
    heads.key = config_count_or(config, FIELD_head_dim, model->hidden / heads.query);
    heads.value = config_count_or(config, FIELD_value_dim, heads.key);
    heads_special(config, plan, &heads);
    heads_other(config, plan, &heads);
    if ((size_t)heads.query % (size_t)heads.kv)
        config_fail(config, "num_attention_heads %.0f is not a multiple of num_key_value_heads "
                    "%.0f", heads.query, heads.kv);
    return heads;
}

static void grouped_biases(struct model *model, const struct heads *heads, bool borrowed)
{
    if (model_rule(model, model->family->qkv_bias) || config_flag(model->config, "qkv_bias", false)) {
        weight_vector(model, "self_attn.q_proj.bias", heads->query * heads->key);
        if (!borrowed)
            weight_vector(model, "self_attn.k_proj.bias", heads->kv * heads->key);
        if (!borrowed && !heads->key_is_value)
            weight_vector(model, "self_attn.v_proj.bias", heads->kv * heads->value);
    }
    if (model_rule(model, model->family->output_bias))
        weight_vector(model, "self_attn.o_proj.bias", model->hidden);
}

static void grouped_norms(struct model *model, const struct layer_plan *plan, const struct heads *heads)
{
    struct config *config = model->config;
    const char *type = config_string(config, "qk_norm_type");
    bool wide = model->family->qk_wide;
    if (type)
        wide = !strcmp(type, "per_layer") || !strcmp(type, "multi_head");
    if (!model_rule(model, model->family->qk_norm) && !plan->crossed)
        return;
    double vectors = model_has(model, TRAIT_BIT(qk_norm_bias)) ? 2 : 1;
    weight_vector(model, "self_attn.q_norm", vectors * (wide ? heads->query : 1) * heads->key);
    if (!plan->borrowed)
        weight_vector(model, "self_attn.k_norm", vectors * (wide ? heads->kv : 1) * heads->key);
}

static void grouped_sinks(struct model *model, const struct layer_plan *plan, double heads)
{
    struct config *config = model->config;
    bool sinks = model_has(model, TRAIT_BIT(sinks));
    if (plan->mixer == MIXER_SLIDING)
        sinks = config_flag(config, "add_swa_attention_sink_bias", sinks);
    else
        sinks = config_flag(config, "add_full_attention_sink_bias", sinks);
    if (sinks)
        weight_vector(model, "self_attn.sinks", heads);
}

/* MiniMax-M3: one index key per token chooses blocks of entries for each of four groups. */
static void grouped_index(struct model *model, const struct layer_plan *plan, struct cache *cache)
{
    struct config *config = model->config;
    const struct doc *sparse = config_get(config, "sparse_attention_config");
    if (!plan->sparse || !sparse)
        return;
    double heads = config_count_in(config, sparse, FIELD_index_heads);
    double size = config_count_in(config, sparse, FIELD_index_dim);
    cache->top = config_count_in(config, sparse, FIELD_block_top)
               * config_count_in(config, sparse, FIELD_block_size);
    cache->index_elements = size;
    cache->index_macs = heads * size;
    weight_matrix(model, "self_attn.index_q_proj", model->hidden, heads * size);
    weight_matrix(model, "self_attn.index_k_proj", model->hidden, size);
    weight_vector(model, "self_attn.index_q_norm", size);
    weight_vector(model, "self_attn.index_k_norm", size);
}

void attention_grouped(struct model *model, const struct layer_plan *plan)
{
    struct config *config = model->config;
    struct heads heads = heads_read(model, plan);
    double hidden = model->hidden;
    if (model->query_groups == 0)
        model->query_groups = heads.query / heads.kv;
    bool gated = model_has(model, TRAIT_BIT(gated_query)) && config_flag(config, "attn_output_gate", true);
    weight_matrix(model, "self_attn.q_proj", hidden, heads.query * heads.key * (gated ? 2 : 1));
    if (!plan->borrowed) {
        weight_matrix(model, "self_attn.k_proj", hidden, heads.kv * heads.key);
        if (!heads.key_is_value)
            weight_matrix(model, "self_attn.v_proj", hidden, heads.kv * heads.value);
    }
    weight_matrix(model, "self_attn.o_proj", heads.query * heads.value, hidden);
    if (config_flag(config, "use_head_wise_attn_gate", false))
        weight_matrix(model, "self_attn.g_proj", hidden, heads.query);
    if (model_has(model, TRAIT_BIT(head_gate)))
        weight_matrix(model, "self_attn.gate_proj", hidden, heads.query * heads.value);
    if (model_has(model, TRAIT_BIT(sub_norms)))
        weight_vector(model, "self_attn.attn_sub_norm", heads.query * heads.value);
    grouped_biases(model, &heads, plan->borrowed);
    grouped_norms(model, plan, &heads);
    grouped_sinks(model, plan, heads.query);
    struct cache cache = {
        .name = mixer_name(plan), .elements = heads.kv * (heads.key + heads.value),
        .cut = heads.kv, .kernels = NAME_small_kernels_grouped,
        .top = 1e12, .index_bytes = 2, .query_heads = heads.query,
        .score = heads.key, .value = heads.value,
        .prefill_score = heads.key, .prefill_value = heads.value };
    if (model_has(model, TRAIT_BIT(encoder)))        /* every token attends to all, not to those before it */
        cache.prefill_score = cache.prefill_value = 2 * heads.key;
    cache_span(model, plan, &cache);
    grouped_index(model, plan, &cache);
    cache_add(model, plan, cache);
}

/* ---- latent (MLA) -------------------------------------------------------------------- */

/* DeepSeek-V3.2, inference/model.py: keys in fp8 with one fp32 scale per 128 elements. */
static const double index_key_bytes = 1 + 4.0 / 128;

static void latent_index(struct model *model, const struct layer_plan *plan, double query_rank,
                         struct cache *cache)
{
    struct config *config = model->config;
    if (!plan->sparse)
        return;
    cache->top = config_count(config, FIELD_index_top);
    if (!plan->indexed)
        return;                         /* uses the choice of an earlier layer */
    double heads = config_count(config, FIELD_index_heads);
    double size = config_count(config, FIELD_index_dim);
    cache->index_elements = size;
    cache->index_bytes = index_key_bytes;
    cache->index_macs = heads * size;
    weight_matrix(model, "self_attn.indexer.wq_b", query_rank, heads * size);
    weight_matrix(model, "self_attn.indexer.wk", model->hidden, size);
    weight_vector(model, "self_attn.indexer.k_norm.weight", size);
    weight_vector(model, "self_attn.indexer.k_norm.bias", size);
    weight_add(model, (struct weight){ .name = "self_attn.indexer.weights_proj",
                                       .in = model->hidden, .out = heads, .role = ROLE_BASE });
}

static void latent_query(struct model *model, double rank, double size)
{
    if (rank == 0) {
        weight_matrix(model, "self_attn.q_proj", model->hidden, size);
        return;
    }
    weight_matrix(model, "self_attn.q_a_proj", model->hidden, rank);
    weight_vector(model, "self_attn.q_a_layernorm", rank);
    weight_matrix(model, "self_attn.q_b_proj", rank, size);
}

void attention_latent(struct model *model, const struct layer_plan *plan)
{
    struct config *config = model->config;
    if (!config_flag(config, "use_mla", true)) {        /* DeepSeek-OCR: plain attention in the class of a latent one */
        attention_grouped(model, plan);
        return;
    }
    double hidden = model->hidden, heads = config_count(config, FIELD_heads);
    double query_rank = config_count_or(config, FIELD_query_rank, 0);
    double latent = config_count(config, FIELD_kv_rank);
    double nope = config_count(config, FIELD_nope_dim), rope = config_count(config, FIELD_rope_dim);
    double value = config_count_or(config, FIELD_value_dim, model->hidden / heads);
    struct cache cache = {
        .name = plan->sparse && !plan->indexed ? "latent_attention_shared_index"
              : plan->sparse ? "latent_attention_indexed" : "latent_attention",
        .cut = 1, .kernels = NAME_small_kernels_latent, .elements = latent + rope, .entries_per_token = 1, .window_fill = 1, .top = 1e12,
        .index_bytes = 2, .query_heads = heads, .score = latent + rope, .value = latent,
        .prefill_score = nope + rope, .prefill_value = value };
    latent_query(model, query_rank, heads * (nope + rope));
    weight_matrix(model, "self_attn.kv_a_proj_with_mqa", hidden, latent + rope);
    weight_vector(model, "self_attn.kv_a_layernorm", latent);
    weight_matrix(model, "self_attn.kv_b_proj", latent, heads * (nope + value));
    weight_matrix(model, "self_attn.o_proj", heads * value, hidden);
    if (config_flag(config, "mla_use_output_gate", false))
        weight_matrix(model, "self_attn.g_proj", hidden, heads * value);
    latent_index(model, plan, query_rank, &cache);
    cache_add(model, plan, cache);
}

/* LongCat-Flash: a layer has two attentions and two dense feed-forwards beside its experts. */
void attention_twice(struct model *model, const struct layer_plan *plan)
{
    for (int i = 0; i < 2; i++) {
        attention_latent(model, plan);
        ffn_dense(model, plan);
    }
}

/* ---- factored queries (Step-3) -------------------------------------------------------- */

/* Queries of all heads come from one narrower vector, keys and values are those of one head. */
void attention_factored(struct model *model, const struct layer_plan *plan)
{
    struct config *config = model->config;
    struct heads heads = heads_read(model, plan);
    double hidden = model->hidden, width = config_count(config, FIELD_query_width);
    heads.kv = config_count_or(config, FIELD_kv_heads, 1);
    weight_matrix(model, "self_attn.q_proj", hidden, width);
    weight_vector(model, "self_attn.inter_norm", width);
    weight_matrix(model, "self_attn.wq", width, heads.query * heads.key);
    weight_matrix(model, "self_attn.k_proj", hidden, heads.kv * heads.key);
    weight_matrix(model, "self_attn.v_proj", hidden, heads.kv * heads.value);
    weight_matrix(model, "self_attn.o_proj", heads.query * heads.value, hidden);
    struct cache cache = {
        .name = mixer_name(plan), .elements = heads.kv * (heads.key + heads.value), .cut = heads.kv,
        .kernels = NAME_small_kernels_grouped, .top = 1e12, .index_bytes = 2, .query_heads = heads.query,
        .score = heads.key, .value = heads.value,
        .prefill_score = heads.key, .prefill_value = heads.value };
    cache_span(model, plan, &cache);
    cache_add(model, plan, cache);
}

/* ---- compressed (DeepSeek-V4) -------------------------------------------------------- */

static void base_matrix(struct model *model, const char *name, double in, double out)
{
    weight_add(model, (struct weight){ .name = name, .in = in, .out = out, .role = ROLE_BASE });
}

/* A ratio of 4 makes two series per entry, each over its own window (section 2.3.1), so its
 * projections are twice as wide. They ship in bf16. */
static void compressor(struct model *model, const struct layer_plan *plan, double size)
{
    double wide = plan->indexed ? 2 * size : size;
    base_matrix(model, "self_attn.compressor.kv_proj", model->hidden, wide);
    base_matrix(model, "self_attn.compressor.gate_proj", model->hidden, wide);
    weight_add(model, (struct weight){ .name = "self_attn.compressor.position_bias",
                                       .in = wide, .out = plan->compression,
                                       .role = ROLE_FLOAT });
    weight_vector(model, "self_attn.compressor.kv_norm", size);
}

static void compressed_index(struct model *model, const struct layer_plan *plan, double query_rank,
                             struct cache *cache)
{
    struct config *config = model->config;
    double heads = config_count(config, FIELD_index_heads);
    double size = config_count(config, FIELD_index_dim);
    cache->top = config_count(config, FIELD_index_top);
    cache->index_elements = size;
    cache->index_bytes = index_key_bytes;
    cache->index_macs = heads * size;
    base_matrix(model, "self_attn.compressor.indexer.kv_proj", model->hidden, 2 * size);
    base_matrix(model, "self_attn.compressor.indexer.gate_proj", model->hidden, 2 * size);
    weight_add(model, (struct weight){ .name = "self_attn.compressor.indexer.position_bias",
                                       .in = 2 * size, .out = plan->compression,
                                       .role = ROLE_FLOAT });
    weight_vector(model, "self_attn.compressor.indexer.kv_norm", size);
    weight_matrix(model, "self_attn.compressor.indexer.q_b_proj", query_rank, heads * size);
    base_matrix(model, "self_attn.compressor.indexer.scorer.weights_proj", model->hidden, heads);
}

/* Compressed attention (DeepSeek-V4): queries and outputs of low rank, one shared key-value head, and a
 * cache in which an entry stands for plan->compression tokens. Sparse layers add an indexer. */
void attention_compressed(struct model *model, const struct layer_plan *plan)
{
    struct config *config = model->config;
    double hidden = model->hidden, heads = config_count(config, FIELD_heads);
    double size = config_count(config, FIELD_head_dim);
    double query_rank = config_count(config, FIELD_query_rank);
    double groups = config_count(config, FIELD_output_groups);
    double output_rank = config_count(config, FIELD_output_rank);
    struct cache cache = {
        .name = plan->indexed ? "compressed_sparse_attention"
              : plan->compression > 0 ? "heavily_compressed_attention" : "sliding_attention",
        .cut = 1, .kernels = NAME_small_kernels_latent, .elements = size, .entries_per_token = plan->compression > 0 ? 1 / plan->compression : 0,
        .window = config_count(config, FIELD_window), .window_fill = 1, .top = 1e12,
        .index_bytes = 2, .query_heads = heads, .score = size, .value = size,
        .prefill_score = size, .prefill_value = size };
    weight_matrix(model, "self_attn.q_a_proj", hidden, query_rank);
    weight_vector(model, "self_attn.q_a_norm", query_rank);
    weight_matrix(model, "self_attn.q_b_proj", query_rank, heads * size);
    weight_matrix(model, "self_attn.kv_proj", hidden, size);
    weight_vector(model, "self_attn.kv_norm", size);
    weight_add(model, (struct weight){ .name = "self_attn.o_a_proj", .in = heads * size / groups,
                                       .out = output_rank, .copies = groups });
    weight_matrix(model, "self_attn.o_b_proj", groups * output_rank, hidden);
    weight_add(model, (struct weight){ .name = "self_attn.sinks", .in = heads, .out = 1,
                                       .role = ROLE_FLOAT });
    if (plan->compression > 0)
        compressor(model, plan, size);
    if (plan->indexed)
        compressed_index(model, plan, query_rank, &cache);
    cache_add(model, plan, cache);
}
