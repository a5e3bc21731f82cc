/* Feed-forward layers of an imported model: gate, up- and down-projection, once, or once per
 * expert with a router and perhaps shared experts.
 *
 * Variants that models differ in are functions here: a correction bias of the router (DeepSeek's
 * "noaux_tc"), experts that work on a narrower latent (Nemotron-3 Ultra, Kimi-K3), biases, and a
 * dense block beside the experts (Gemma-4). */
#include "import/model.h"

#include <math.h>
#include <string.h>

/* Feed-forward layers: a gate, an up- and a down-projection, once, or once per expert with
 * a router in front and perhaps experts that every token uses. */

static const char *module_name(const struct model *model, const char *name)
{
    const char *half = model_has(model, TRAIT_BIT(mixtral_names)) ? "block_sparse_moe."
                     : model_has(model, TRAIT_BIT(halves)) ? "mixer." : "mlp.";
    return arena_print(model->config->arena, "%s%s", half, name);
}

static void ffn_matrices(struct model *model, const char *prefix, double in, double inner,
                         struct weight proto)
{
    static const char *const names[2][3] = { { "gate_proj", "up_proj", "down_proj" },
                                             { "w1", "w3", "w2" } };
    bool mixtral = model_has(model, TRAIT_BIT(mixtral_names)) && proto.role == ROLE_EXPERT;
    for (int i = model->family->ffn_kind == FFN_PLAIN; i < 3; i++) {
        proto.name = arena_print(model->config->arena, "%s%s", prefix, names[mixtral][i]);
        proto.in = i < 2 ? in : inner;
        proto.out = i < 2 ? inner : in;
        weight_add(model, proto);
    }
}

/* LFM2: two thirds of the width given, times a factor, rounded up to a multiple. */
static double width_adjusted(struct config *config, double inner)
{
    const struct doc *factor = config_get(config, "block_ffn_dim_multiplier");
    if (!config_flag(config, "block_auto_adjust_ff_dim", true))
        return inner;
    double multiple = config_count_or(config, FIELD_width_multiple, 256);
    inner = floor(2 * inner / 3);
    if (factor && factor->kind == DOC_NUMBER && factor->number > 0 && factor->number < 1e3)
        inner = floor(inner * factor->number);
    return multiple * ceil(inner / multiple);
}

static double dense_width(struct model *model, const struct layer_plan *plan)
{
    struct config *config = model->config;
    bool expansion = model_has(model, TRAIT_BIT(four_hidden)) || config_has(config, FIELD_expansion);
    double inner = plan->intermediate;
    if (inner == 0 && config_has(config, FIELD_adjusted_intermediate))
        inner = config_count(config, FIELD_adjusted_intermediate);
    if (inner == 0 && model_has(model, TRAIT_BIT(dense_shared)) &&
        (model->experts > 1 || config_get(config, "shared_intermediate_size") || !config_has(config, FIELD_intermediate)))
        inner = config_count_or(config, FIELD_shared_intermediate, 0);
    if (inner == 0 && model->experts > 1 && config_has(config, FIELD_dense_intermediate))
        inner = config_count(config, FIELD_dense_intermediate);
    else if (inner == 0 && expansion && !config_has(config, FIELD_intermediate))
        inner = model->hidden * config_count_or(config, FIELD_expansion, 4);
    else if (inner == 0)
        inner = config_count(config, FIELD_intermediate);
    if (plan->borrowed && config_flag(config, "use_double_wide_mlp", false))
        inner *= 2;
    if (model_has(model, TRAIT_BIT(half_width)))
        inner /= 2;
    return model_has(model, TRAIT_BIT(adjusted_width)) ? width_adjusted(config, inner) : inner;
}

void ffn_dense(struct model *model, const struct layer_plan *plan)
{
    const struct family *family = model->family;
    double inner = dense_width(model, plan);
    ffn_matrices(model, model_has(model, TRAIT_BIT(halves)) ? "mixer." : "mlp.", model->hidden, inner,
                 (struct weight){ .role = ROLE_MATRIX });
    bool biased = model_rule(model, family->ffn_bias);
    if (biased && family->ffn_kind == FFN_GATED)
        weight_vector(model, "mlp.gate_proj.bias", inner);
    if (biased)
        weight_vector(model, "mlp.up_proj.bias", inner);
    if (biased || family->down_bias)
        weight_vector(model, "mlp.down_proj.bias", model->hidden);
    if (model_has(model, TRAIT_BIT(sub_norms)))
        weight_vector(model, "mlp.ffn_sub_norm", inner);
    if (model_has(model, TRAIT_BIT(activation_scalars)))
        weight_vector(model, "mlp.act_fn", 2);
}

/* ---- experts ------------------------------------------------------------------------- */

/* "noaux_tc" is DeepSeek's balancing by a bias that only chooses; a sigmoid score comes with
 * it wherever topk_method is not given. */
static bool correction(struct model *model)
{
    struct config *config = model->config;
    const char *method = config_string(config, "topk_method");
    if (method)
        return !strcmp(method, "noaux_tc");
    const char *score = config_string(config, "scoring_func");
    if (!score)
        score = config_string(config, "score_func");
    bool sigmoid = score && !strcmp(score, "sigmoid");
    return config_flag(config, "use_routing_bias", model_has(model, TRAIT_BIT(correction)) || sigmoid);
}

static void router(struct model *model)
{
    double experts = model->experts + config_count_or(model->config, FIELD_zero_experts, 0);
    weight_add(model, (struct weight){ .name = module_name(model, "gate"), .in = model->hidden,
                                       .out = experts, .role = ROLE_BASE });
    if (model_has(model, TRAIT_BIT(router_bias)))
        weight_vector(model, module_name(model, "gate.bias"), experts);
    double hashed = config_count_or(model->config, FIELD_hash_layers, 0);
    if (model->layer >= hashed && correction(model))
        weight_add(model, (struct weight){
            .name = module_name(model, "gate.e_score_correction_bias"), .in = experts, .out = 1,
            .role = ROLE_FLOAT });
}

static void shared_experts(struct model *model, double inner)
{
    struct config *config = model->config;
    double count = config_count_or(config, FIELD_shared_experts, model_has(model, TRAIT_BIT(shared_one)));
    double size = config_count_or(config, FIELD_shared_intermediate, 0);
    if (size == 0 && count > 0 && model_has(model, TRAIT_BIT(shared_dense)))
        inner = config_count(config, FIELD_intermediate);
    if (size == 0)
        size = count * inner;
    if (size == 0)
        return;
    bool single = config_has(config, FIELD_shared_intermediate);
    ffn_matrices(model, module_name(model, single ? "shared_expert." : "shared_experts."),
                 model->hidden, size, (struct weight){ .role = ROLE_MATRIX });
    if (model_has(model, TRAIT_BIT(shared_gate)))
        weight_add(model, (struct weight){ .name = module_name(model, "shared_expert_gate"),
                                           .in = model->hidden, .out = 1, .role = ROLE_BASE });
}

/* Experts that work on a narrower vector (Nemotron-3 Ultra, Kimi-K3): projections before and
 * after them, which every token uses. */
static double latent_width(struct model *model)
{
    struct config *config = model->config;
    double hidden = model->hidden;
    if (!config_has(config, FIELD_expert_hidden))
        return hidden;
    double width = config_count(config, FIELD_expert_hidden);
    weight_add(model, (struct weight){ .name = module_name(model, "latent_down_proj"),
                                       .in = hidden, .out = width, .role = ROLE_BASE });
    weight_add(model, (struct weight){ .name = module_name(model, "latent_up_proj"),
                                       .in = width, .out = hidden, .role = ROLE_BASE });
    if (config_flag(config, "latent_moe_use_norm", false))
        weight_vector(model, module_name(model, "latent_norm"), width);
    return width;
}

static void expert_biases(struct model *model, double inner)
{
    struct weight gate_up = { .name = "mlp.experts.gate_up_proj_bias", .in = 2 * inner, .out = 1,
                              .copies = model->experts, .used = model->top_k, .routed = true,
                              .role = ROLE_BASE };
    struct weight down = gate_up;
    down.name = "mlp.experts.down_proj_bias";
    down.in = model->hidden;
    weight_add(model, gate_up);
    weight_add(model, down);
}

static double expert_size(struct config *config)
{
    return config_has(config, FIELD_expert_intermediate)
         ? config_count(config, FIELD_expert_intermediate)
         : config_count(config, FIELD_intermediate);
}

/* The experts that a token uses; those that only pass it on have no weights (LongCat-Flash). */
static double experts_used(struct model *model)
{
    double zero = config_count_or(model->config, FIELD_zero_experts, 0);
    return model->top_k * model->experts / (model->experts + zero);
}

/* Gemma-4: every layer has a dense feed-forward and, beside it, experts with a router that
 * has a scale per channel and one per expert, and norms of their own. */
static void gemma_experts(struct model *model, const struct layer_plan *plan)
{
    ffn_dense(model, plan);
    ffn_matrices(model, "mlp.experts.", model->hidden, expert_size(model->config),
                 (struct weight){ .copies = model->experts, .used = model->top_k,
                                  .routed = true, .role = ROLE_EXPERT });
    weight_add(model, (struct weight){ .name = "mlp.router.proj", .in = model->hidden,
                                       .out = model->experts, .role = ROLE_BASE });
    weight_vector(model, "mlp.router.scale", model->hidden);
    weight_vector(model, "mlp.router.per_expert_scale", model->experts);
    weight_vector(model, "post_feedforward_layernorm_1", model->hidden);
    weight_vector(model, "post_feedforward_layernorm_2", model->hidden);
    weight_vector(model, "pre_feedforward_layernorm_2", model->hidden);
}

void ffn_experts(struct model *model, const struct layer_plan *plan)
{
    if (model_has(model, TRAIT_BIT(gemma_experts))) {
        gemma_experts(model, plan);
        return;
    }
    double inner = expert_size(model->config);
    router(model);
    double width = latent_width(model);
    ffn_matrices(model, module_name(model, "experts."), width, inner,
                 (struct weight){ .copies = model->experts, .used = experts_used(model),
                                  .routed = true, .role = ROLE_EXPERT });
    if (model_has(model, TRAIT_BIT(expert_bias)))
        expert_biases(model, inner);
    shared_experts(model, inner);
    if (config_flag(model->config, "residual_moe", model_has(model, TRAIT_BIT(dense_beside))) &&
        !config_has(model->config, FIELD_shared_intermediate))
        ffn_dense(model, plan);
}
