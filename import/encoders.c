/* Models that read with an encoder: BERT and its kin, which only encode, and T5, BART and Whisper, whose
 * decoder attends to what the encoder made.
 *
 * A step of decoding runs the decoder alone. So the weights of an encoder, and the projections of what it
 * made to keys and values, are kept apart as a tower is: stored, and not run by a token. */
#include "import/model.h"

#include "build/row_names.h"
#include "catalog/meant.h"

#include <math.h>
#include <string.h>

/* ---- encoders alone ------------------------------------------------------------------ */

/* ALBERT stores one layer, which every layer uses. */
static void share_layer(struct model *model)
{
    for (size_t i = 0; i < model->weight_count; i++)
        if (model->weights[i].layers == model->layers) {
            model->weights[i].used *= model->layers;
            model->weights[i].layers = 1;
        }
}

static void table_add(struct model *model, const char *name, double rows, double width)
{
    if (rows > 0)
        weight_add(model, (struct weight){ .name = name, .in = rows, .out = width, .role = ROLE_BASE,
                                           .lookup = true });
}

static void encoder_tables(struct model *model, double width)
{
    struct config *config = model->config;
    table_add(model, "embeddings.word_embeddings", model->vocabulary, width);
    if (model_has(model, TRAIT_BIT(no_tables)))
        return;
    if (config_flag(config, "position_biased_input", true))
        table_add(model, "embeddings.position_embeddings", config_count(config, FIELD_context), width);
    table_add(model, "embeddings.token_type_embeddings", config_count_or(config, FIELD_types, 0), width);
}

/* DeBERTa: a table of distances for all layers, and a convolution beside the first. */
static void encoder_distances(struct model *model)
{
    struct config *config = model->config;
    double hidden = model->hidden, kernel = config_count_or(config, FIELD_relative_kernel, 0);
    if (!model_has(model, TRAIT_BIT(relative)) || !config_flag(config, "relative_attention", false))
        return;
    double reach = config_count_or(config, FIELD_relative_positions, config_count(config, FIELD_context));
    const char *norm = config_string(config, "norm_rel_ebd");
    table_add(model, "encoder.rel_embeddings", 2 * reach, hidden);
    if (norm && strstr(norm, "layer_norm"))
        weight_vector(model, "encoder.norm", 2 * hidden);
    if (kernel > 0) {
        weight_matrix(model, "encoder.conv", kernel * hidden, hidden);
        weight_vector(model, "encoder.conv.bias", 3 * hidden);
    }
}

/* What stands before and behind the layers of an encoder. */
void encoder_ends(struct model *model)
{
    struct config *config = model->config;
    double hidden = model->hidden, width = config_count_or(config, FIELD_embedding, hidden);
    bool bare = model_has(model, TRAIT_BIT(no_tables));
    if (model_has(model, TRAIT_BIT(one_layer)))
        share_layer(model);
    encoder_tables(model, width);
    encoder_distances(model);
    weight_vector(model, "embeddings.norm", bare ? width : 2 * width);
    if (width != hidden) {
        weight_matrix(model, "embeddings_project", width, hidden);
        weight_vector(model, "embeddings_project.bias", hidden);
    }
    if (!bare && !model_has(model, TRAIT_BIT(no_pooler))) {
        weight_matrix(model, "pooler.dense", hidden, hidden);
        weight_vector(model, "pooler.dense.bias", hidden);
    }
    facts_set(config->facts, NAME_decodes, 0, ORIGIN_MODEL, config->file);
    facts_note(config->facts, "an encoder: one pass over the input, without a cache");
}

/* ---- decoders that write no tokens -------------------------------------------------------- */

void encoder_note_class(struct model *model)
{
    const struct doc *classes = doc_get(model->config->root, "architectures");
    const struct doc *first = classes ? classes->first : NULL;
    const char *with = first && first->kind == DOC_STRING ? model_reads("", first->string) : NULL;
    if (with)
        facts_note(model->config->facts, MODEL_READS_NOTE, first->string, with);
}

/* ---- encoders with decoders ---------------------------------------------------------- */

/* One stack of layers: attention of `all` columns, a feed-forward of width `inner`, in some with experts. */
struct stack {
    double layers, hidden, all, inner;
    double sparse, experts;     /* layers with experts; how many experts each has */
    bool biased, key_bias, gated;
};

static double stack_attention(const struct stack *stack)
{
    double biases = stack->biased ? (2 + stack->key_bias) * stack->all + stack->hidden : 0;
    return 4 * stack->hidden * stack->all + biases;
}

static double stack_ffn(const struct stack *stack)
{
    double matrices = (stack->gated ? 3 : 2) * stack->hidden * stack->inner;
    return matrices + (stack->biased ? stack->inner + stack->hidden : 0);
}

/* What the experts of a stack have more than one feed-forward in their place. */
static double stack_experts(const struct stack *stack)
{
    return stack->sparse * ((stack->experts - 1) * stack_ffn(stack) + stack->hidden * stack->experts);
}

/* The k-th of `sparse` layers is the last of its share. */
static bool stack_sparse(const struct stack *stack, double layer)
{
    double every = stack->sparse > 0 ? floor(stack->layers / stack->sparse) : 0;
    return every > 0 && fmod(layer + 1, every) == 0 && layer < every * stack->sparse;
}

static void decoder_experts(struct model *model, const struct stack *stack)
{
    struct weight up = { .name = "mlp.experts.up_proj", .in = stack->hidden, .out = stack->inner,
                         .copies = stack->experts, .used = 1, .routed = true, .role = ROLE_EXPERT };
    struct weight down = up;
    down.name = "mlp.experts.down_proj";
    down.in = stack->inner;
    down.out = stack->hidden;
    weight_add(model, up);
    weight_add(model, down);
    weight_add(model, (struct weight){ .name = "mlp.router", .in = stack->hidden, .out = stack->experts,
                                       .role = ROLE_BASE });
    model->moe_layers++;
}

static void biased_matrix(struct model *model, const struct stack *stack, const char *name, double in,
                          double out, bool biased)
{
    weight_matrix(model, name, in, out);
    if (stack->biased && biased)
        weight_vector(model, arena_print(model->config->arena, "%s.bias", name), out);
}

/* A decoder's layer without the keys and values of what the encoder made, which are made once. */
static void decoder_layer(struct model *model, const struct stack *stack)
{
    double hidden = stack->hidden, all = stack->all;
    biased_matrix(model, stack, "self_attn.q_proj", hidden, all, true);
    biased_matrix(model, stack, "self_attn.k_proj", hidden, all, stack->key_bias);
    biased_matrix(model, stack, "self_attn.v_proj", hidden, all, true);
    biased_matrix(model, stack, "self_attn.o_proj", all, hidden, true);
    biased_matrix(model, stack, "encoder_attn.q_proj", hidden, all, true);
    biased_matrix(model, stack, "encoder_attn.out_proj", all, hidden, true);
    if (stack->gated)
        biased_matrix(model, stack, "mlp.gate_proj", hidden, stack->inner, true);
    if (stack_sparse(stack, model->layer)) {
        decoder_experts(model, stack);
    } else {
        biased_matrix(model, stack, "mlp.up_proj", hidden, stack->inner, true);
        biased_matrix(model, stack, "mlp.down_proj", stack->inner, hidden, true);
    }
    for (int i = 0; i < 3; i++)
        weight_vector(model, "norm", (stack->biased ? 2 : 1) * hidden);
}

static void decoder_caches(struct model *model, const struct stack *stack, double heads, double crossed)
{
    const struct layer_plan plan = { .mixer = MIXER_FULL };
    double size = stack->all / heads;
    struct cache own = { .name = "full_attention", .elements = 2 * stack->all, .cut = heads,
        .kernels = NAME_small_kernels_grouped, .entries_per_token = 1, .window_fill = 1, .top = 1e12,
        .index_bytes = 2, .query_heads = heads, .score = size, .value = size,
        .prefill_score = size, .prefill_value = size };
    struct cache cross = { .name = "cross_attention", .window_fill = 1, .top = 1e12, .index_bytes = 2,
        .cross_elements = crossed * 2 * stack->all, .state_macs = crossed * 2 * stack->all };
    for (model->layer = 0; model->layer < stack->layers; model->layer++) {
        decoder_layer(model, stack);
        cache_add(model, &plan, own);
        if (crossed > 0)
            cache_add(model, &plan, cross);
    }
    model->layer = -1;
}

static void stored_apart(struct model *model, double weights)
{
    struct config *config = model->config;
    model->apart = weights;
    facts_note(config->facts, "an encoder and a decoder: a step of decoding runs the decoder; %.0f weights run once "
               "over the input", weights);
}

static void words_add(struct model *model, bool tied)
{
    if (!tied)
        table_add(model, "embed_tokens", model->vocabulary, model->hidden);
    weight_add(model, (struct weight){ .name = "lm_head", .in = model->hidden, .out = model->vocabulary,
                                       .role = ROLE_BASE });
}

/* T5, mT5 and umT5 (modeling_t5.py): heads need not have the model's width together; relative positions. */
void t5_build(struct model *model)
{
    struct config *config = model->config;
    const char *kind = config_string(config, "feed_forward_proj");
    double heads = config_count(config, FIELD_heads), hidden = model->hidden;
    struct stack stack = { .layers = model->layers, .hidden = hidden,
                           .all = heads * config_count(config, FIELD_kv_size),
                           .inner = config_count(config, FIELD_intermediate),
                           .gated = kind && !strncmp(kind, "gated-", 6) };
    if (model_has(model, TRAIT_BIT(sparse_stacks))) {
        stack.experts = model->experts;
        stack.sparse = config_count_or(config, FIELD_sparse_encoder, 0);
    }
    double tables = config_count(config, FIELD_biases) * heads;
    bool each = model_has(model, TRAIT_BIT(biases_each));
    double encoder = stack.layers * (stack_attention(&stack) + stack_ffn(&stack) + 2 * hidden) + hidden
                   + stack_experts(&stack) + tables * (each ? stack.layers : 1);
    stack.layers = model->layers = config_count_or(config, FIELD_decoder_layers, stack.layers);
    if (model_has(model, TRAIT_BIT(sparse_stacks)))
        stack.sparse = config_count_or(config, FIELD_sparse_decoder, 0);
    decoder_caches(model, &stack, heads, 0);
    weight_vector(model, "norm", hidden);
    weight_vector(model, "relative_attention_bias", tables * (each ? stack.layers : 1));
    words_add(model, config_flag(config, "tie_word_embeddings", model->family->tied));
    stored_apart(model, encoder + stack.layers * 2 * hidden * stack.all);
    facts_note(config->facts, "each token of the input adds %.0f cached elements for the decoder to attend to",
               stack.layers * 2 * stack.all);
}

static double speech_input(struct config *config, double hidden)
{
    const double width = 3;             /* of both convolutions */
    double mels = config_count(config, FIELD_mels);
    return mels * width * hidden + hidden + hidden * width * hidden + hidden
         + config_count(config, FIELD_source_positions) * hidden;
}

/* BART and its kin, Whisper: learned positions, biases, a norm after the embedding or at the end. */
void bart_build(struct model *model)
{
    struct config *config = model->config;
    bool speech = model_has(model, TRAIT_BIT(speech)), tables = model_has(model, TRAIT_BIT(positions));
    double heads = config_count(config, FIELD_heads), hidden = model->hidden;
    double ends = 2 * hidden * (model_has(model, TRAIT_BIT(norms_embedded)) + model_has(model, TRAIT_BIT(norms_final)));
    double positions = tables ? config_count(config, FIELD_context) + 2 : 0;
    struct stack stack = { .layers = model->layers, .hidden = hidden, .all = hidden, .biased = true,
                           .key_bias = !speech, .inner = config_count(config, FIELD_intermediate) };
    double encoder = stack.layers * (stack_attention(&stack) + stack_ffn(&stack) + 4 * hidden) + ends
                   + (speech ? speech_input(config, hidden) : positions * hidden);
    stack.layers = model->layers = config_count_or(config, FIELD_decoder_layers, stack.layers);
    stack.inner = config_count_or(config, FIELD_decoder_intermediate, stack.inner);
    decoder_caches(model, &stack, heads, speech ? config_count(config, FIELD_source_positions) : 0);
    if (speech)
        positions = config_count(config, FIELD_target_positions);
    table_add(model, "embed_positions", positions, hidden);
    if (ends > 0)
        weight_vector(model, "norm", ends);
    words_add(model, true);
    double once = 2 * hidden * hidden + (1 + stack.key_bias) * hidden;      /* keys and values of the input */
    stored_apart(model, encoder + stack.layers * once);
}
