/* Models from a GGUF header. It is read twice: its metadata, renamed to the fields of a Hugging
 * Face configuration, give the layers through the same builders as config.json; its tensors give
 * the operators.
 *
 * Experts of one kind are one tensor whose last dimension counts them. Tensors that are copies of
 * others, rotation tables and multi-token prediction layers are left out. The format of a tensor
 * is its GGUF type, so that mixed quantization is exact. Only the header is needed, not the
 * weights. */
#include "import/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A GGUF header is read twice: its metadata, renamed to the fields of a configuration, give
 * the table of layers through the same builders; its tensors give the table of operators. */

static const struct { const char *architecture, *family; double window_pattern; } families[] = {
    { "llama", "llama", 0 },        /* Mixtral too: experts are a matter of expert_count */
    { "mistral3", "mistral", 0 },
    { "llama4", "llama4_text", 0 },
    { "qwen2", "qwen2", 0 },
    { "qwen2moe", "qwen2_moe", 0 },
    { "qwen3", "qwen3", 0 },
    { "qwen3vl", "qwen3", 0 },
    { "qwen3moe", "qwen3_moe", 0 },
    { "qwen3vlmoe", "qwen3_moe", 0 },
    { "gemma", "gemma", 0 },
    { "gemma2", "gemma2", 0 },
    { "gemma3", "gemma3_text", 0 },
    { "gpt-oss", "gpt_oss", 0 },
    { "glm4moe", "glm4_moe", 0 },
    { "minimax-m2", "minimax_m2", 0 },
    { "deepseek2", "deepseek_v3", 0 },
};

/* What follows the architecture's name in a key, and the field of a configuration. */
static const struct { const char *key, *field; } keys[] = {
    { "embedding_length", "hidden_size" },
    { "context_length", "max_position_embeddings" },
    { "feed_forward_length", "intermediate_size" },
    { "attention.head_count", "num_attention_heads" },
    { "attention.head_count_kv", "num_key_value_heads" },
    { "attention.key_length", "head_dim" },
    { "attention.value_length", "v_head_dim" },
    { "attention.sliding_window", "sliding_window" },
    { "attention.shared_kv_layers", "num_kv_shared_layers" },
    { "attention.chunk_size", "attention_chunk_size" },
    { "attention.q_lora_rank", "q_lora_rank" },
    { "attention.kv_lora_rank", "kv_lora_rank" },
    { "expert_count", "num_experts" },
    { "expert_used_count", "num_experts_per_tok" },
    { "expert_feed_forward_length", "moe_intermediate_size" },
    { "leading_dense_block_count", "first_k_dense_replace" },
    { "interleave_moe_layer_step", "interleave_moe_layer_step" },
};

static const struct doc *value(const struct config *gguf, const char *architecture, const char *key)
{
    return doc_get(gguf->root, arena_print(gguf->arena, "%s.%s", architecture, key));
}

static double value_number(const struct config *gguf, const char *architecture, const char *key,
                           double absent)
{
    const struct doc *doc = value(gguf, architecture, key);
    return doc && doc->kind == DOC_NUMBER ? doc->number : absent;
}

/* ---- metadata to a configuration ----------------------------------------------------- */

/* One number, or the same for all layers. */
static bool add_field(struct config *gguf, struct doc *made, const char *key, const char *field,
                      const struct doc *doc)
{
    double number = doc->kind == DOC_ARRAY && doc->first ? doc->first->number : doc->number;
    for (const struct doc *item = doc->first; item; item = item->next)
        if (item->number != number)
            return config_fail(gguf, "%s differs from layer to layer, which is not supported", key);
    if (number > 0)
        doc_add_number(gguf->arena, made, field, number);
    return true;
}

/* Keys and values of latent attention have two sizes, as cached and as computed. */
static void add_latent(const struct config *gguf, const char *architecture, struct doc *made)
{
    double rope = value_number(gguf, architecture, "rope.dimension_count", 64);
    double key = value_number(gguf, architecture, "attention.key_length_mla",
                              value_number(gguf, architecture, "attention.key_length", 192));
    double size = value_number(gguf, architecture, "attention.value_length_mla",
                               value_number(gguf, architecture, "attention.value_length", 128));
    doc_add_number(gguf->arena, made, "qk_rope_head_dim", rope);
    doc_add_number(gguf->arena, made, "qk_nope_head_dim", key - rope);
    doc_add_number(gguf->arena, made, "v_head_dim", size);
}

static void add_windows(const struct config *gguf, const char *architecture, struct doc *made,
                        double pattern)
{
    const struct doc *own = value(gguf, architecture, "attention.sliding_window_pattern");
    if (own && own->kind == DOC_ARRAY) {
        struct doc *list = doc_add(gguf->arena, made, "hybrid_layer_pattern", DOC_ARRAY);
        for (const struct doc *item = own->first; item; item = item->next)
            doc_add_number(gguf->arena, list, NULL,
                           item->kind == DOC_BOOL ? item->boolean : item->number);
        return;
    }
    if (own && own->kind == DOC_NUMBER)
        pattern = own->number;
    if (pattern > 0 && value(gguf, architecture, "attention.sliding_window"))
        doc_add_number(gguf->arena, made, "sliding_window_pattern", pattern);
}

static double vocabulary(const struct config *gguf, const char *architecture)
{
    const struct doc *tokens = doc_get(gguf->root, "tokenizer.ggml.tokens");
    double count = !tokens ? 0 : tokens->kind == DOC_ARRAY ? (double)tokens->count : tokens->number;
    return value_number(gguf, architecture, "vocab_size", count);
}

static struct doc *gguf_config(struct config *gguf, const char *architecture, double pattern)
{
    struct doc *made = doc_new(gguf->arena, DOC_OBJECT);
    double blocks = value_number(gguf, architecture, "block_count", 0);
    double extra = value_number(gguf, architecture, "nextn_predict_layers", 0);
    bool latent = value(gguf, architecture, "attention.kv_lora_rank") != NULL;
    doc_add_number(gguf->arena, made, "num_hidden_layers", blocks - extra);
    doc_add_number(gguf->arena, made, "num_nextn_predict_layers", extra);
    doc_add_number(gguf->arena, made, "vocab_size", vocabulary(gguf, architecture));
    doc_add_string(gguf->arena, made, "torch_dtype", "bfloat16");
    doc_add_bool(gguf->arena, made, "tie_word_embeddings", false);     /* the tensors tell */
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct doc *doc = value(gguf, architecture, keys[i].key);
        bool value_length = !strcmp(keys[i].field, "v_head_dim");
        if (doc && !(latent && value_length)
            && !add_field(gguf, made, keys[i].key, keys[i].field, doc))
            return NULL;
    }
    if (latent)
        add_latent(gguf, architecture, made);
    if (!strcmp(architecture, "llama4") && !doc_get(made, "attention_chunk_size"))
        doc_add_number(gguf->arena, made, "attention_chunk_size", 8192);
    add_windows(gguf, architecture, made, pattern);
    return made;
}

/* ---- tensors to operators ------------------------------------------------------------ */

struct tensor {
    const char *name;           /* without block and ".weight" */
    double block;               /* -1: outside the blocks */
    double dims[4];
    size_t dimensions;
    const char *type;
};

static void tensor_name(struct arena *arena, struct tensor *tensor, const char *name)
{
    tensor->block = -1;
    if (!strncmp(name, "blk.", 4)) {
        char *end;
        unsigned long block = strtoul(name + 4, &end, 10);
        if (*end == '.' && block < 100000) {
            tensor->block = (double)block;
            name = end + 1;
        }
    }
    size_t size = strlen(name);
    if (size > 7 && !strcmp(name + size - 7, ".weight"))
        size -= 7;
    tensor->name = arena_copy(arena, name, size);
}

static struct tensor tensor_of(struct arena *arena, const struct doc *doc)
{
    struct tensor tensor = { .type = doc_get(doc, "type")->string, .dims = { 1, 1, 1, 1 } };
    tensor_name(arena, &tensor, doc_get(doc, "name")->string);
    for (const struct doc *item = doc_get(doc, "dims")->first; item; item = item->next)
        tensor.dims[tensor.dimensions++] = item->number;
    return tensor;
}

/* Experts of one kind are one tensor, the last dimension counting them; so are the heads of
 * a latent attention's up-projections. */
static void add_tensor(struct model *model, const struct tensor *tensor, const struct format *format,
                       bool tied)
{
    bool experts = strstr(tensor->name, "_exps") != NULL;
    bool flat = experts && tensor->dimensions == 2;             /* biases of experts */
    bool embedding = !strcmp(tensor->name, "token_embd");
    struct weight weight = {
        .name = embedding && tied ? "output" : tensor->name, .in = tensor->dims[0],
        .out = flat ? 1 : tensor->dims[1], .lookup = embedding && !tied,
        .copies = flat ? tensor->dims[1] : tensor->dims[2] * tensor->dims[3],
        .routed = experts, .format = format };
    if (experts && weight.copies >= model->top_k)
        weight.used = model->top_k;
    weight_add(model, weight);
}

/* Left out: prediction layers, tables of rotations, and the latent up-projection where its
 * two halves, of which it is a copy, are there too. */
static bool left_out(const struct model *model, const struct tensor *tensor, bool halves)
{
    return tensor->block >= model->layers || !strncmp(tensor->name, "rope_", 5)
        || (halves && !strcmp(tensor->name, "attn_kv_b"));
}

static const struct format *tensor_format(struct model *model, const struct tensor *tensor,
                                          const struct model_options *options)
{
    const struct format *format = NULL;
    bool quantised = strncmp(tensor->type, "fp", 2) && strcmp(tensor->type, "bf16");
    const char *name = quantised && options->weights ? options->weights : tensor->type;
    if (!formats_need(options->formats, name, model->config->file, &format, model->config->error))
        model->config->failed = true;
    return format;
}

static bool has_tensor(const struct doc *tensors, const char *name)
{
    for (const struct doc *item = tensors->first; item; item = item->next)
        if (!strcmp(doc_get(item, "name")->string, name))
            return true;
    return false;
}

static bool gguf_operators(struct model *model, const struct doc *tensors,
                           const struct model_options *options)
{
    bool tied = !has_tensor(tensors, "output.weight");
    bool halves = has_tensor(tensors, "blk.0.attn_k_b.weight");
    model->weights = NULL;
    model->weight_count = model->weight_room = 0;
    for (const struct doc *item = tensors->first; item; item = item->next) {
        struct tensor tensor = tensor_of(model->config->arena, item);
        if (left_out(model, &tensor, halves))
            continue;
        const struct format *format = tensor_format(model, &tensor, options);
        if (!format)
            return false;
        add_tensor(model, &tensor, format, tied);
    }
    if (tied)
        facts_note(model->config->facts, "the output and the input embedding are one matrix");
    return !model->config->failed;
}

/* ---- the whole ----------------------------------------------------------------------- */

static size_t family_row(struct config *gguf, const char *architecture)
{
    size_t count = sizeof families / sizeof *families;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(families[i].architecture, architecture))
            return i;
    const char *names[sizeof families / sizeof *families];
    for (size_t i = 0; i < count; i++)
        names[i] = families[i].architecture;
    const char *near = name_nearest(architecture, names, count);
    if (gguf->assume) {
        facts_note(gguf->facts, "unknown architecture '%.100s' read as llama", architecture);
        return 0;
    }
    config_fail(gguf, "unknown general.architecture '%.100s'%s%s%s", architecture,
                near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    config_expected(gguf, "one of: llama, qwen2, qwen2moe, qwen3, qwen3moe, gemma, gemma2, gemma3, "
                    "gpt-oss, glm4moe, deepseek2, llama4, minimax-m2, mistral3");
    return count;
}

bool model_gguf(struct arena *arena, const struct doc *root, const char *file,
                const struct model_options *options, struct facts *facts,
                struct error *error)
{
    struct config gguf = { .arena = arena, .file = file, .root = root, .text = root,
                           .facts = facts, .error = error, .assume = options->assume };
    const char *architecture = config_string(&gguf, "general.architecture");
    const struct doc *tensors = doc_get(root, "tensors");
    if (!architecture || !tensors || !tensors->first)
        return config_fail(&gguf, "no general.architecture, or no tensors: not a model");
    size_t row = family_row(&gguf, architecture);
    if (gguf.failed)
        return false;
    struct doc *config = gguf_config(&gguf, architecture, families[row].window_pattern);
    if (!config)
        return false;
    doc_add_string(arena, config, "model_type", families[row].family);
    struct model model = { .config = &(struct config){ .arena = arena, .file = file,
                                                       .facts = facts, .error = error } };
    struct model_options plain = *options;
    plain.weights = NULL;
    return model_build(&model, config, &plain) && gguf_operators(&model, tensors, options)
        && model_finish(&model, options);
}
