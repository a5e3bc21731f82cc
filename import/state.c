/* The weights and the state of layers without attention: delta rules, Kimi's variant, Mamba and
 * lightning attention. Adds their matrices to the operators and one state of fixed size to the caches. */
#include "import/model.h"

#include <math.h>
#include <string.h>

/* Layers whose memory of the past is a state of fixed size, and the last inputs of their short
 * convolution. A delta rule reads, corrects and queries its state, three multiply-adds for each of
 * its elements; a plain gated sum two. */
enum { delta_macs = 3, sum_macs = 2 };

/* The format that the configuration states for the states of its layers. */
static double stated_bytes(struct model *model)
{
    static const char *const keys[] = { "mamba_ssm_cache_dtype", "mamba_ssm_dtype" };
    static const char *const words[] = { "bfloat16", "float16", "float32" };
    double bytes = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct doc *stated = config_get(model->config, keys[i]);
        for (size_t k = 0; stated && stated->kind == DOC_STRING && k < sizeof words / sizeof *words; k++)
            bytes = strcmp(stated->string, words[k]) ? bytes : k < 2 ? 2 : 4;
    }
    return bytes;
}

void state_cache(struct model *model, const struct layer_plan *plan, double elements, double macs, double inputs)
{
    model->state_bytes = stated_bytes(model);
    cache_add(model, plan, (struct cache){
        .name = "linear_attention", .window_fill = 1, .top = 1e12, .index_bytes = 2,
        .state_elements = elements, .state_inputs = inputs, .state_macs = elements * macs });
}

static void float_vector(struct model *model, const char *name, double size)
{
    weight_add(model, (struct weight){ .name = name, .in = size, .out = 1, .role = ROLE_FLOAT });
}

static void convolution(struct model *model, const char *name, double channels, double kernel,
                        enum role role)
{
    weight_add(model, (struct weight){ .name = name, .in = kernel, .out = channels,
                                       .role = role });
}

/* Gated delta net: Qwen3-Next and Qwen3.5 (modeling_qwen3_next.py). Qwen3.5 splits the same
 * projections otherwise, the counts are equal. */
void state_delta(struct model *model, const struct layer_plan *plan)
{
    struct config *config = model->config;
    double hidden = model->hidden;
    double key_heads = config_count(config, FIELD_linear_key_heads);
    double heads = config_count(config, FIELD_linear_value_heads);
    double key = config_count(config, FIELD_linear_key_dim);
    double value = config_count(config, FIELD_linear_value_dim);
    double kernel = config_count(config, FIELD_convolution);
    double channels = 2 * key_heads * key + heads * value;
    weight_matrix(model, "linear_attn.in_proj_qkv", hidden, channels);
    weight_matrix(model, "linear_attn.in_proj_z", hidden, heads * value);
    weight_matrix(model, "linear_attn.in_proj_b", hidden, heads);
    weight_matrix(model, "linear_attn.in_proj_a", hidden, heads);
    convolution(model, "linear_attn.conv1d", channels, kernel, ROLE_BASE);
    float_vector(model, "linear_attn.dt_bias", heads);
    float_vector(model, "linear_attn.A_log", heads);
    weight_vector(model, "linear_attn.norm", value);
    weight_matrix(model, "linear_attn.out_proj", heads * value, hidden);
    state_cache(model, plan, heads * key * value, delta_macs, channels * (kernel - 1));
}

/* Kimi delta attention (modeling_kimi.py): a decay per channel, through a low rank. */
void state_kimi(struct model *model, const struct layer_plan *plan)
{
    struct config *config = model->config;
    const struct doc *linear = config_get(config, "linear_attn_config");
    double hidden = model->hidden;
    double heads = config_count_in(config, linear, FIELD_delta_heads);
    double size = config_count_in(config, linear, FIELD_head_dim);
    double kernel = config_count_in(config, linear, FIELD_convolution);
    const struct doc *full = doc_get(linear, "use_full_rank_gate");
    double all = heads * size;
    weight_matrix(model, "self_attn.q_proj", hidden, all);
    weight_matrix(model, "self_attn.k_proj", hidden, all);
    weight_matrix(model, "self_attn.v_proj", hidden, all);
    convolution(model, "self_attn.q_conv1d", all, kernel, ROLE_FLOAT);
    convolution(model, "self_attn.k_conv1d", all, kernel, ROLE_FLOAT);
    convolution(model, "self_attn.v_conv1d", all, kernel, ROLE_FLOAT);
    float_vector(model, "self_attn.A_log", heads);
    weight_matrix(model, "self_attn.f_a_proj", hidden, size);
    weight_matrix(model, "self_attn.f_b_proj", size, all);
    float_vector(model, "self_attn.dt_bias", all);
    weight_matrix(model, "self_attn.b_proj", hidden, heads);
    if (doc_is(full, true)) {
        weight_matrix(model, "self_attn.g_proj", hidden, all);
    } else {
        weight_matrix(model, "self_attn.g_a_proj", hidden, size);
        weight_matrix(model, "self_attn.g_b_proj", size, all);
    }
    weight_vector(model, "self_attn.o_norm", size);
    weight_matrix(model, "self_attn.o_proj", all, hidden);
    state_cache(model, plan, heads * size * size, delta_macs, 3 * all * (kernel - 1));
}

/* The width of a Mamba's inside: given, as heads of a size, as its class says, or as a multiple of the model's. */
static double state_inner(struct model *model, double heads)
{
    struct config *config = model->config;
    const struct doc *size = config_get(config, "mamba_d_head");
    if (config_get(config, "mamba_d_ssm") || (!size && config_has(config, FIELD_state_inner)))
        return config_count(config, FIELD_state_inner);
    if (size && size->kind == DOC_NUMBER)
        return heads * size->number;
    if (config_has(config, FIELD_state_head_dim) && !size)
        return heads * config_count(config, FIELD_state_head_dim);
    return floor(config_count(config, FIELD_state_expansion) * model->hidden);
}

/* Mamba-2 (modeling_nemotron_h.py, modeling_mamba2.py). */
void state_mamba(struct model *model, const struct layer_plan *plan)
{
    struct config *config = model->config;
    double hidden = model->hidden;
    double heads = config_count(config, FIELD_state_heads);
    double inner = state_inner(model, heads);
    double size = config_count(config, FIELD_state_size);
    double kernel = config_count(config, FIELD_convolution);
    double channels = inner + 2 * config_count(config, FIELD_state_groups) * size;
    weight_matrix(model, "mixer.in_proj", hidden, inner + channels + heads);
    convolution(model, "mixer.conv1d", channels, kernel, ROLE_BASE);
    if (config_flag(config, "use_conv_bias", config_flag(config, "mamba_conv_bias", true)))
        weight_vector(model, "mixer.conv1d.bias", channels);
    if (config_flag(config, "mamba_proj_bias", config_flag(config, "use_bias", false))) {
        weight_vector(model, "mixer.in_proj.bias", inner + channels + heads);
        weight_vector(model, "mixer.out_proj.bias", hidden);
    }
    float_vector(model, "mixer.dt_bias", heads);
    float_vector(model, "mixer.A_log", heads);
    float_vector(model, "mixer.D", heads);
    if (config_flag(config, "mamba_rms_norm", !model_has(model, TRAIT_BIT(parallel_state))))
        weight_vector(model, "mixer.norm", inner);
    weight_matrix(model, "mixer.out_proj", inner, hidden);
    state_cache(model, plan, inner * size, sum_macs, channels * (kernel - 1));
}

/* The rank of the step, a sixteenth of the width where the file says "auto". */
static double state_rank(struct model *model)
{
    static const char *const keys[] = { "mamba_dt_rank", "time_step_rank" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct doc *rank = config_get(model->config, keys[i]);
        if (rank && rank->kind == DOC_NUMBER)
            return config_count(model->config, FIELD_state_rank);
    }
    return ceil(model->hidden / 16);
}

static void mamba1_inner(struct model *model, double inner, double size, double rank)
{
    weight_matrix(model, "mixer.x_proj", inner, rank + 2 * size);
    weight_matrix(model, "mixer.dt_proj", rank, inner);
    weight_vector(model, "mixer.dt_proj.bias", inner);
    weight_float(model, "mixer.A_log", size, inner);
    float_vector(model, "mixer.D", inner);
    if (!model_has(model, TRAIT_BIT(state_norms)))
        return;
    weight_vector(model, "mixer.dt_layernorm", rank);
    weight_vector(model, "mixer.b_layernorm", size);
    weight_vector(model, "mixer.c_layernorm", size);
}

/* Mamba (modeling_mamba.py, modeling_jamba.py): a decay for each channel and element of the state. */
void state_mamba1(struct model *model, const struct layer_plan *plan)
{
    struct config *config = model->config;
    double hidden = model->hidden;
    bool alone = model->family->attention == NULL && config_has(config, FIELD_intermediate);
    double inner = alone ? config_count(config, FIELD_intermediate)
                         : floor(config_count(config, FIELD_state_expansion) * hidden);
    double size = config_count(config, FIELD_state_size);
    double kernel = config_count(config, FIELD_convolution);
    bool biased = config_flag(config, "mamba_proj_bias", config_flag(config, "use_bias", false));
    weight_matrix(model, "mixer.in_proj", hidden, 2 * inner);
    convolution(model, "mixer.conv1d", inner, kernel, ROLE_BASE);
    if (config_flag(config, "mamba_conv_bias", config_flag(config, "use_conv_bias", true)))
        weight_vector(model, "mixer.conv1d.bias", inner);
    mamba1_inner(model, inner, size, state_rank(model));
    weight_matrix(model, "mixer.out_proj", inner, hidden);
    if (biased)
        weight_vector(model, "mixer.in_proj.bias", 2 * inner);
    if (biased)
        weight_vector(model, "mixer.out_proj.bias", hidden);
    state_cache(model, plan, inner * size, sum_macs, inner * (kernel - 1));
}

/* Gated short convolution (modeling_lfm2.py): its last inputs are all the state there is. */
void state_convolution(struct model *model, const struct layer_plan *plan)
{
    double hidden = model->hidden, kernel = config_count(model->config, FIELD_convolution);
    weight_matrix(model, "conv.in_proj", hidden, 3 * hidden);
    convolution(model, "conv.conv", hidden, kernel, ROLE_BASE);
    weight_matrix(model, "conv.out_proj", hidden, hidden);
    if (config_flag(model->config, "conv_bias", false)) {
        weight_vector(model, "conv.in_proj.bias", 3 * hidden);
        weight_vector(model, "conv.conv.bias", hidden);
        weight_vector(model, "conv.out_proj.bias", hidden);
    }
    state_cache(model, plan, 0, sum_macs, hidden * (kernel - 1));
}

/* Real-gated linear recurrence (modeling_recurrent_gemma.py), gates in blocks, one a head. */
void state_recurrent(struct model *model, const struct layer_plan *plan)
{
    struct config *config = model->config;
    double hidden = model->hidden, heads = config_count(config, FIELD_heads);
    double width = config_count_or(config, FIELD_state_width, hidden), block = width / heads;
    double kernel = config_count(config, FIELD_convolution);
    weight_matrix(model, "temporal_block.linear_y", hidden, width);
    weight_matrix(model, "temporal_block.linear_x", hidden, width);
    weight_matrix(model, "temporal_block.linear_out", width, hidden);
    weight_vector(model, "temporal_block.biases", 2 * width + hidden);
    convolution(model, "temporal_block.conv_1d", width, kernel, ROLE_BASE);
    weight_vector(model, "temporal_block.conv_1d.bias", width);
    weight_vector(model, "temporal_block.rg_lru.recurrent_param", width);
    weight_add(model, (struct weight){ .name = "temporal_block.rg_lru.gates", .in = block, .out = block,
                                       .copies = 2 * heads });
    weight_vector(model, "temporal_block.rg_lru.biases", 2 * width);
    state_cache(model, plan, width, sum_macs, width * (kernel - 1));
}

/* RWKV-4 (modeling_rwkv.py): both halves of a layer mix a token with the one before it. */
void state_rwkv(struct model *model, const struct layer_plan *plan)
{
    struct config *config = model->config;
    double hidden = model->hidden, width = config_count_or(config, FIELD_state_width, hidden);
    double inner = config_count_or(config, FIELD_intermediate, 4 * hidden);
    weight_vector(model, "attention.time_decay", width);
    weight_vector(model, "attention.time_first", width);
    weight_vector(model, "attention.time_mix", 3 * hidden);
    weight_matrix(model, "attention.key", hidden, width);
    weight_matrix(model, "attention.value", hidden, width);
    weight_matrix(model, "attention.receptance", hidden, width);
    weight_matrix(model, "attention.output", width, hidden);
    weight_vector(model, "feed_forward.time_mix", 2 * hidden);
    weight_matrix(model, "feed_forward.key", hidden, inner);
    weight_matrix(model, "feed_forward.receptance", hidden, hidden);
    weight_matrix(model, "feed_forward.value", inner, hidden);
    state_cache(model, plan, 3 * width, sum_macs, 2 * hidden);
}

/* Lightning attention (modeling_minimax_m1.py): no convolution, a fixed decay per head. */
void state_lightning(struct model *model, const struct layer_plan *plan)
{
    struct config *config = model->config;
    double hidden = model->hidden, heads = config_count(config, FIELD_heads);
    double size = config_count_or(config, FIELD_head_dim, hidden / heads), all = heads * size;
    weight_matrix(model, "self_attn.qkv_proj", hidden, 3 * all);
    weight_matrix(model, "self_attn.output_gate", hidden, all);
    weight_vector(model, "self_attn.norm", all);
    weight_matrix(model, "self_attn.out_proj", all, hidden);
    state_cache(model, plan, heads * size * size, sum_macs, 0);
}
