/* Feed-forward layers of an imported model: gate, up- and down-projection, once, or once per
 * expert with a router and perhaps shared experts.
 *
 * Variants that models differ in are functions here: a correction bias of the router (DeepSeek's
 * "noaux_tc"), experts that work on a narrower latent (Nemotron-3 Ultra, Kimi-K3), biases, and a
 * dense block beside the experts (Gemma-4). */
#include "import/model.h"

#include <string.h>

/* Feed-forward layers: a gate, an up- and a down-projection, once, or once per expert with
 * a router in front and perhaps experts that every token uses. */

static const char *module_name(const struct model *model, const char *name)
{
    const char *half = model_has(model, MIXTRAL_NAMES) ? "block_sparse_moe."
                     : model_has(model, NORM_ONE) ? "mixer." : "mlp.";
    return arena_print(model->config->arena, "%s%s", half, name);
}

static void ffn_matrices(struct model *model, const char *prefix, double in, double inner,
                         struct weight proto)
{
    static const char *const names[2][3] = { { "gate_proj", "up_proj", "down_proj" },
                                             { "w1", "w3", "w2" } };
    bool mixtral = model_has(model, MIXTRAL_NAMES) && proto.role == ROLE_EXPERT;
    for (int i = model_has(model, UNGATED); i < 3; i++) {
        proto.name = arena_print(model->config->arena, "%s%s", prefix, names[mixtral][i]);
        proto.in = i < 2 ? in : inner;
        proto.out = i < 2 ? inner : in;
        weight_add(model, proto);
    }
}

void ffn_dense(struct model *model, const struct plan *plan)
{
    struct config *config = model->config;
    double inner = plan->intermediate;
    if (inner == 0 && model->experts > 1 && config_has(config, FIELD_dense_intermediate))
        inner = config_count(config, FIELD_dense_intermediate);
    else if (inner == 0 && !config_has(config, FIELD_intermediate) &&
             (model_has(model, POSITIONS) || config_has(config, FIELD_expansion)))
        inner = model->hidden * config_count_or(config, FIELD_expansion, 4);
    else if (inner == 0)
        inner = config_count(config, FIELD_intermediate);
    if (plan->borrowed && config_flag(config, "use_double_wide_mlp", false))
        inner *= 2;
    ffn_matrices(model, model_has(model, NORM_ONE) ? "mixer." : "mlp.", model->hidden, inner,
                 (struct weight){ .role = ROLE_MATRIX });
    if (config_flag(config, "mlp_bias", model_biased(model, BIASED))) {
        if (!model_has(model, UNGATED))
            weight_vector(model, "mlp.gate_proj.bias", inner);
        weight_vector(model, "mlp.up_proj.bias", inner);
        weight_vector(model, "mlp.down_proj.bias", model->hidden);
    }
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
    return config_flag(config, "use_routing_bias", model_has(model, CORRECTION) || sigmoid);
}

static void router(struct model *model)
{
    double experts = model->experts;
    weight_add(model, (struct weight){ .name = module_name(model, "gate"), .in = model->hidden,
                                       .out = experts, .role = ROLE_BASE });
    if (model_has(model, ROUTER_BIAS))
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
    double count = config_count_or(config, FIELD_shared_experts, model_has(model, SHARED_ONE));
    double size = config_count_or(config, FIELD_shared_intermediate, 0);
    if (size == 0)
        size = count * inner;
    if (size == 0)
        return;
    bool single = config_has(config, FIELD_shared_intermediate);
    ffn_matrices(model, module_name(model, single ? "shared_expert." : "shared_experts."),
                 model->hidden, size, (struct weight){ .role = ROLE_MATRIX });
    if (model_has(model, SHARED_GATE))
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

void ffn_experts(struct model *model, const struct plan *plan)
{
    (void)plan;
    double inner = expert_size(model->config);
    router(model);
    double width = latent_width(model);
    ffn_matrices(model, module_name(model, "experts."), width, inner,
                 (struct weight){ .copies = model->experts, .used = model->top_k,
                                  .routed = true, .role = ROLE_EXPERT });
    if (model_has(model, EXPERT_BIAS))
        expert_biases(model, inner);
    shared_experts(model, inner);
}

/* Gemma-4: every layer has a dense feed-forward and, beside it, experts with a router that
 * has a scale per channel and one per expert, and norms of their own. */
void ffn_gemma(struct model *model, const struct plan *plan)
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
