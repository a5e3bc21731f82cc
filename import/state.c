/* The weights and the state of layers without attention: delta rules, Kimi's variant, Mamba and
 * lightning attention. Adds their matrices to the operators and one state of fixed size to the caches. */
#include "import/model.h"

/* Layers whose memory of the past is a state of fixed size.
 *
 * The state is kept in 32 bits by all of them; beside it the last inputs of the short
 * convolution, in the base format (2 bytes). A delta rule reads, corrects and queries its
 * state, three multiply-adds for each of its elements; a plain gated sum two. */
enum { state_bytes = 4, input_bytes = 2, delta_macs = 3, sum_macs = 2 };

static void state_cache(struct model *model, const struct plan *plan, double elements,
                        double macs, double inputs)
{
    cache_add(model, plan, (struct cache){
        .name = "linear_attention", .window_fill = 1, .top = 1e12, .index_bytes = 2,
        .state_size = elements * state_bytes + inputs * input_bytes,
        .state_macs = elements * macs });
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
void state_delta(struct model *model, const struct plan *plan)
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
void state_kimi(struct model *model, const struct plan *plan)
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
    if (full && full->kind == DOC_BOOL && full->boolean) {
        weight_matrix(model, "self_attn.g_proj", hidden, all);
    } else {
        weight_matrix(model, "self_attn.g_a_proj", hidden, size);
        weight_matrix(model, "self_attn.g_b_proj", size, all);
    }
    weight_vector(model, "self_attn.o_norm", size);
    weight_matrix(model, "self_attn.o_proj", all, hidden);
    state_cache(model, plan, heads * size * size, delta_macs, 3 * all * (kernel - 1));
}

/* Mamba-2 (modeling_nemotron_h.py). */
void state_mamba(struct model *model, const struct plan *plan)
{
    struct config *config = model->config;
    double hidden = model->hidden;
    double heads = config_count(config, FIELD_state_heads);
    double inner = heads * config_count(config, FIELD_state_head_dim);
    double size = config_count(config, FIELD_state_size);
    double kernel = config_count(config, FIELD_convolution);
    double channels = inner + 2 * config_count(config, FIELD_state_groups) * size;
    weight_matrix(model, "mixer.in_proj", hidden, inner + channels + heads);
    convolution(model, "mixer.conv1d", channels, kernel, ROLE_BASE);
    if (config_flag(config, "use_conv_bias", true))
        weight_vector(model, "mixer.conv1d.bias", channels);
    if (config_flag(config, "mamba_proj_bias", false)) {
        weight_vector(model, "mixer.in_proj.bias", inner + channels + heads);
        weight_vector(model, "mixer.out_proj.bias", hidden);
    }
    float_vector(model, "mixer.dt_bias", heads);
    float_vector(model, "mixer.A_log", heads);
    float_vector(model, "mixer.D", heads);
    weight_vector(model, "mixer.norm", inner);
    weight_matrix(model, "mixer.out_proj", inner, hidden);
    state_cache(model, plan, inner * size, sum_macs, channels * (kernel - 1));
}

/* Lightning attention (modeling_minimax_m1.py): no convolution, a fixed decay per head. */
void state_lightning(struct model *model, const struct plan *plan)
{
    struct config *config = model->config;
    double hidden = model->hidden, heads = config_count(config, FIELD_heads);
    double size = config_count(config, FIELD_head_dim), all = heads * size;
    weight_matrix(model, "self_attn.qkv_proj", hidden, 3 * all);
    weight_matrix(model, "self_attn.output_gate", hidden, all);
    weight_vector(model, "self_attn.norm", all);
    weight_matrix(model, "self_attn.out_proj", all, hidden);
    state_cache(model, plan, heads * size * size, sum_macs, 0);
}
