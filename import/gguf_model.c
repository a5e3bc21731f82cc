/* Models from a GGUF header. Its metadata, renamed to the fields of a Hugging Face configuration, give the
 * layers through the same builders as config.json; its tensors give the operators, each with the format
 * that it has, as those of a safetensors file do. The layers of an architecture that is not in the table
 * here are read from the shapes of the tensors (shapes.c). Only the header is needed, not the weights. */
#include "import/tensors.h"

#include <string.h>

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
    { "ssm.state_size", "ssm_state_size" },
    { "wkv.head_size", "ssm_state_size" },
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

/* One number, or the same for all layers; the largest of them where the tensors tell each layer's. */
static bool add_field(struct config *gguf, struct doc *made, const char *key, const char *field,
                      const struct doc *doc, bool known)
{
    double number = doc->kind == DOC_ARRAY && doc->first ? doc->first->number : doc->number;
    for (const struct doc *item = doc->first; item; item = item->next) {
        if (known && item->number != number)
            return config_fail(gguf, "%s differs from layer to layer, which is not supported", key);
        number = item->number > number ? item->number : number;
    }
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

/* The words of its tokenizer: vocab_size is for files that have none. */
static double vocabulary(const struct config *gguf, const char *architecture)
{
    const struct doc *tokens = doc_get(gguf->root, "tokenizer.ggml.tokens");
    const double count = !tokens ? 0 : tokens->kind == DOC_ARRAY ? (double)tokens->count : tokens->number;
    return count > 0 ? count : value_number(gguf, architecture, "vocab_size", 0);
}

/* Layers without heads of keys have no attention. */
static void add_key_heads(const struct config *gguf, const char *architecture, struct doc *made)
{
    const struct doc *own = value(gguf, architecture, "attention.head_count_kv");
    if (!own || own->kind != DOC_ARRAY)
        return;
    struct doc *list = doc_add(gguf->arena, made, "kv_heads_by_layer", DOC_ARRAY);
    for (const struct doc *item = own->first; item; item = item->next)
        doc_add_number(gguf->arena, list, NULL, item->number);
}

static struct doc *gguf_config(struct config *gguf, const char *architecture, double pattern, bool known)
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
            && !add_field(gguf, made, keys[i].key, keys[i].field, doc, known))
            return NULL;
    }
    if (latent)
        add_latent(gguf, architecture, made);
    if (!strcmp(architecture, "llama4") && !doc_get(made, "attention_chunk_size"))
        doc_add_number(gguf->arena, made, "attention_chunk_size", 8192);
    add_windows(gguf, architecture, made, pattern);
    add_key_heads(gguf, architecture, made);
    return made;
}

/* ---- tensors ------------------------------------------------------------------------- */

static bool has_tensor(const struct doc *tensors, const char *name)
{
    for (const struct doc *item = tensors->first; item; item = item->next)
        if (!strcmp(doc_get(item, "name")->string, name))
            return true;
    return false;
}

/* As a safetensors file would have it: the fastest dimension last. */
static bool tensor_add(struct config *gguf, const struct formats *formats, const struct doc *item,
                       struct tensors *tensors)
{
    const struct doc *dims = doc_get(item, "dims");
    const struct format *format;
    struct tensor tensor = { .name = doc_get(item, "name")->string, .type = doc_get(item, "type")->string,
                             .dimensions = dims->count };
    size_t i = dims->count;
    if (!formats_need(formats, tensor.type, gguf->file, &format, gguf->error))
        return false;
    tensor.bytes = format->bytes;
    for (const struct doc *dim = dims->first; dim; dim = dim->next) {
        tensor.dims[--i] = dim->number;
        tensor.bytes *= dim->number;
    }
    *(struct tensor *)arena_push(gguf->arena, &tensors->at, &tensors->count, &tensors->room,
                                 sizeof tensor) = tensor;
    return true;
}

/* The up-projection of a latent is left out where the two halves, of which it is a copy, are there too. */
static bool tensors_of(struct config *gguf, const struct formats *formats, const struct doc *list,
                       struct tensors *tensors)
{
    const bool halves = has_tensor(list, "blk.0.attn_k_b.weight");
    for (const struct doc *item = list->first; item; item = item->next)
        if (!(halves && ends_with(doc_get(item, "name")->string, ".attn_kv_b.weight")) &&
            !tensor_add(gguf, formats, item, tensors))
            return false;
    return true;
}

/* ---- do keys and tensors agree? --------------------------------------------------------
 *
 * llama.cpp makes each tensor's shape from the keys, and does not load a file whose tensors have another. */

/* A size of a tensor, the fastest first, and the key that is this size, or two whose product is. An architecture that is not
 * in the table of families may cut its tensors in other ways: of it only the rows marked `any` hold. */
static const struct { const char *tensor; size_t dim; const char *count, *size; bool any; } sizes[] = {
    { "token_embd.weight", 0, "embedding_length", NULL, true },
    { "attn_norm.weight", 0, "embedding_length", NULL, true },
    { "ffn_gate_exps.weight", 2, "expert_count", NULL, true },
    { "ffn_up_exps.weight", 2, "expert_count", NULL, true },
    { "ffn_down_exps.weight", 2, "expert_count", NULL, true },
    { "ffn_gate_inp.weight", 1, "expert_count", NULL, false },
    { "output.weight", 0, "embedding_length", NULL, false },
    { "attn_q.weight", 0, "embedding_length", NULL, false },
    { "attn_q.weight", 1, "attention.head_count", "attention.key_length", false },
    { "attn_q_a.weight", 1, "attention.q_lora_rank", NULL, false },
    { "attn_q_b.weight", 1, "attention.head_count", "attention.key_length", false },
    { "attn_kv_b.weight", 0, "attention.kv_lora_rank", NULL, false },
    { "attn_k.weight", 1, "attention.head_count_kv", "attention.key_length", false },
    { "attn_v.weight", 1, "attention.head_count_kv", "attention.value_length", false },
    { "attn_output.weight", 0, "attention.head_count", "attention.value_length", false },
    { "ffn_gate.weight", 1, "feed_forward_length", NULL, false },
    { "ffn_up.weight", 1, "feed_forward_length", NULL, false },
    { "ffn_down.weight", 0, "feed_forward_length", NULL, false },
    { "ffn_up_exps.weight", 1, "expert_feed_forward_length", NULL, false },
    { "ffn_down_exps.weight", 0, "expert_feed_forward_length", NULL, false },
};

static const char *shape_said(struct arena *arena, const struct tensor *tensor)
{
    struct buffer out = { .arena = arena };
    for (size_t i = tensor->dimensions; i-- > 0; )
        buffer_print(&out, "%s%.0f", out.size ? " x " : "", tensor->dims[i]);
    return out.data ? out.data : "one number";
}

/* A key that is a number, the same in all layers; 0: it is not. */
static double said(const struct config *gguf, const char *architecture, const char *key)
{
    const struct doc *doc = value(gguf, architecture, key);
    return value_number(gguf, architecture, key, doc && doc->kind == DOC_ARRAY && doc->first ? doc->first->number : 0);
}

/* The size of a head by its key, which latent attention calls otherwise; values are as large as keys if nothing says more,
 * and without any key the heads share the width. */
static double head_said(const struct config *gguf, const char *architecture, const char **key)
{
    static const char *const names[] = { "attention.value_length_mla", "attention.value_length",
                                         "attention.key_length_mla", "attention.key_length" };
    for (size_t i = strcmp(*key, names[1]) ? 2 : 0; i < sizeof names / sizeof *names; i++)
        if (value(gguf, architecture, names[i])) {
            *key = names[i];
            return said(gguf, architecture, *key);
        }
    *key = NULL;
    const double heads = said(gguf, architecture, "attention.head_count");
    return heads > 0 ? said(gguf, architecture, "embedding_length") / heads : 0;
}

static bool size_agrees(struct config *gguf, const char *architecture, size_t row, const struct tensor *tensor)
{
    struct arena *arena = gguf->arena;
    const char *count = sizes[row].count, *size = sizes[row].size;
    if (!strcmp(count, "attention.head_count_kv") && !value(gguf, architecture, count))
        count = "attention.head_count";
    const double one = said(gguf, architecture, count);
    const double made = one * (size ? head_said(gguf, architecture, &size) : 1);
    const double stored = sizes[row].dim < tensor->dimensions ? tensor->dims[tensor->dimensions - 1 - sizes[row].dim] : 1;
    if (one > 0 && !(made > 0) && !value(gguf, architecture, "attention.head_count"))
        return config_fail(gguf, "no %s.attention.head_count: how large a head is is not said", architecture) ||
               config_expected(gguf, "attention.head_count, or attention.key_length");
    if (!(made > 0) || stored == made)
        return true;
    config_fail(gguf, "%s.%s is %.0f%s, but the tensor %s is %s", architecture, count, one,
                size ? arena_print(arena, ", with %s.%s %.0f", architecture, size, made / one)
                     : sizes[row].size ? arena_print(arena, ", with heads of %.0f", made / one) : "",
                tensor->name, shape_said(arena, tensor));
    return config_expected(gguf, "keys and tensors of one model: the keys make %.0f of that size, the tensor has %.0f", made,
                           stored);
}

/* The layer of a tensor "blk.3.attn_q.weight", and what follows; -1: none. */
static double layer_of(const char *name, const char **inside)
{
    double layer = -1;
    const char *dot = strncmp(name, "blk.", 4) ? NULL : strchr(name + 4, '.');
    *inside = name;
    if (dot && text_number((struct text){ name + 4, (size_t)(dot - name - 4) }, &layer))
        *inside = dot + 1;
    return layer;
}

/* block_count has next-token layers too, which not every file stores. */
static bool layers_agree(struct config *gguf, const char *architecture, const struct tensors *tensors, bool known)
{
    const double blocks = value_number(gguf, architecture, "block_count", 0);
    const double extra = value_number(gguf, architecture, "nextn_predict_layers", 0);
    bool *there = arena_array(gguf->arena, tensors->count + 1, sizeof *there);
    const struct tensor *last = NULL;
    const char *inside;
    double layers = 0, missing = 0;
    for (size_t i = 0; i < tensors->count; i++) {
        const double layer = layer_of(tensors->at[i].name, &inside);
        if (layer >= 0 && layer < (double)tensors->count)
            there[(size_t)layer] = true;
        if (layer < layers)
            continue;
        layers = layer + 1;
        last = &tensors->at[i];
    }
    while (there[(size_t)missing])
        missing++;
    if (!(blocks > 0))
        return config_fail(gguf, "no %s.block_count: how many layers it has is not said", architecture) ||
               config_expected(gguf, "%.0f, by its tensors", layers);
    if (layers > 0 ? layers > blocks || layers < blocks - extra : known)
        return config_fail(gguf, "%s.block_count is %.0f, but its tensors have %.0f layer%s%s%s", architecture, blocks, layers,
                           layers == 1 ? "" : "s", last ? "; the last is that of " : "", last ? last->name : "") ||
               config_expected(gguf, "a block_count of %.0f, or tensors of as many layers", layers);
    if (known && missing < layers)
        return config_fail(gguf, "%s.block_count is %.0f, but no tensor begins with blk.%.0f.", architecture, blocks, missing) ||
               config_expected(gguf, "tensors of each layer");
    return true;
}

static bool keys_agree(struct config *gguf, const char *architecture, const struct tensors *tensors, bool known)
{
    const double words = vocabulary(gguf, architecture);
    if (!layers_agree(gguf, architecture, tensors, known))
        return false;
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->at[i];
        const char *inside;
        layer_of(tensor->name, &inside);
        if (!strcmp(inside, "token_embd.weight") && words > 0 && tensor->dimensions == 2 && tensor->dims[0] != words)
            return config_fail(gguf, "the vocabulary has %.0f words, but the tensor %s is %s", words, tensor->name,
                               shape_said(gguf->arena, tensor)) ||
                   config_expected(gguf, "%.0f in tokenizer.ggml.tokens, or without them in %s.vocab_size", tensor->dims[0],
                                   architecture);
        for (size_t row = 0; row < sizeof sizes / sizeof *sizes; row++)
            if ((known || sizes[row].any) && !strcmp(inside, sizes[row].tensor) &&
                !size_agrees(gguf, architecture, row, tensor))
                return false;
    }
    return true;
}

/* ---- the whole ----------------------------------------------------------------------- */

/* The row of an architecture; the number of rows: it is read by its tensors. */
static size_t family_row(const char *architecture)
{
    size_t i = 0;
    while (i < sizeof families / sizeof *families && strcmp(families[i].architecture, architecture))
        i++;
    return i;
}

bool model_gguf(struct arena *arena, const struct doc *root, const char *file,
                const struct model_options *options, struct facts *facts,
                struct error *error)
{
    struct config gguf = { .arena = arena, .file = file, .root = root, .text = root,
                           .facts = facts, .error = error, .assume = options->assume };
    const char *architecture = config_string(&gguf, "general.architecture");
    const struct doc *list = doc_get(root, "tensors");
    struct tensors tensors = { 0 };
    if (!architecture || !list || !list->first)
        return config_fail(&gguf, "no general.architecture, or no tensors: not a model");
    const size_t row = family_row(architecture);
    const bool known = row < sizeof families / sizeof *families;
    struct doc *config = gguf_config(&gguf, architecture, known ? families[row].window_pattern : 0, known);
    if (!config || !tensors_of(&gguf, options->formats, list, &tensors) || !keys_agree(&gguf, architecture, &tensors, known))
        return false;
    if (known)
        doc_add_string(arena, config, "model_type", families[row].family);
    return model_of_tensors(arena, &tensors, config, false, file, options, facts, error);
}
