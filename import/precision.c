/* The formats of a checkpoint's weights, from the quantization section of its configuration.
 *
 *   1. The base format (torch_dtype) is that of everything the quantizer left alone.
 *   2. The method says the format of the matrices that it took, perhaps another for the experts.
 *   3. A list of modules, under one of three names, says what was left alone (ignore.c).
 *
 * --precision replaces the format of what the checkpoint quantizes, or would quantize; --experts-
 * precision that of the experts alone. A method that is not known is an error and never a guess. */
#include "import/model.h"

#include <string.h>

/* What a quantiser did: 1. the format everything had before (torch_dtype), 2. the format
 * of the matrices it took, perhaps another for the experts, 3. the modules it left. */

static bool same(const char *a, const char *b)
{
    return a && !strcmp(a, b);
}

static bool set_in(const struct doc *object, const char *key)
{
    const struct doc *doc = doc_get(object, key);
    return doc && doc->kind != DOC_NULL;
}

/* modelopt: the algorithm's name says everything. */
static const char *algorithm_format(const char *algorithm)
{
    static const struct { const char *algorithm, *format; } rows[] = {
        { "FP8", "fp8" }, { "FP8_PB_WO", "fp8-block" }, { "FP8_PER_CHANNEL_PER_TOKEN", "fp8" },
        { "NVFP4", "nvfp4" }, { "NVFP4_AWQ", "nvfp4" }, { "W4A16_AWQ", "int4" },
        { "W4A8_AWQ", "int4" }, { "W8A8_SQ_PER_CHANNEL", "int8" }, { "W8A16", "int8-a16" },
        { "W4A16", "int4" }, { "MXFP4", "mxfp4" }, { "MXFP8", "mxfp8" },
        { "W4A8_MXFP4_MXFP8", "mxfp4-a8" }, { "W4A16_MXFP4", "mxfp4-a16" },
        { "W4A8_NVFP4_FP8", "nvfp4" }, { "W4A16_NVFP4", "nvfp4-a16" },
    };
    for (size_t i = 0; algorithm && i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].algorithm, algorithm))
            return rows[i].format;
    return NULL;
}

/* int4 with one scale per `group` weights, and perhaps a zero point. */
static const char *int4_format(double group, bool zeros)
{
    static const char *const names[2][3] = { { "int4-g32", "int4-g64", "int4" },
                                             { "int4-zp-g32", "int4-zp-g64", "int4-zp" } };
    return names[zeros][group == 32 ? 0 : group == 64 ? 1 : 2];
}

/* MLX does not name itself. */
static bool is_mlx(const struct doc *quantization)
{
    return !doc_text(quantization, "quant_method", NULL) && !doc_text(quantization, "quant_algo", NULL) &&
           doc_number(quantization, "bits", 0) > 0;
}

/* MLX: a scale and a bias in 16 bits for each group of 64 or 32, or the formats of others. */
static const char *mlx_format(const struct doc *quantization)
{
    static const struct { const char *mode; double bits, group; const char *format; } rows[] = {
        { "mxfp4", 4, 32, "mxfp4-a16" }, { "nvfp4", 4, 16, "nvfp4-a16" }, { "mxfp8", 8, 32, "mxfp8" },
        { "affine", 4, 64, "mlx-q4" }, { "affine", 8, 64, "mlx-q8" }, { "affine", 6, 64, "mlx-q6" },
        { "affine", 3, 64, "mlx-q3" }, { "affine", 4, 32, "mlx-q4-g32" }, { "affine", 8, 32, "mlx-q8-g32" } };
    const char *mode = doc_text(quantization, "mode", NULL);
    const double bits = doc_number(quantization, "bits", 0), group = doc_number(quantization, "group_size", 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].mode, mode ? mode : "affine") && bits == rows[i].bits && group == rows[i].group)
            return rows[i].format;
    return NULL;
}

/* compressed-tensors: bits and type of the weights; without a scheme for activations
 * the product is in 16 bits. */
static const char *group_format(const struct doc *group, const char *packing)
{
    const struct doc *weights = doc_get(group, "weights");
    bool wide = !set_in(group, "input_activations");
    bool real = same(doc_text(weights, "type", NULL), "float");
    double bits = doc_number(weights, "num_bits", 0), size = doc_number(weights, "group_size", 0);
    if (packing && strstr(packing, "mxfp4"))
        return wide ? "mxfp4-a8" : "mxfp4";     /* engines make the activations mxfp8 */
    if (bits == 8 && real)
        return wide ? "fp8-a16" : set_in(weights, "block_structure") ? "fp8-block" : "fp8";
    if (bits == 8)
        return wide ? "int8-a16" : "int8";
    if (bits == 4 && real)
        return size == 32 ? (wide ? "mxfp4-a8" : "mxfp4") : (wide ? "nvfp4-a16" : "nvfp4");
    const struct doc *symmetric = doc_get(weights, "symmetric");
    return bits == 4 ? int4_format(size, symmetric && symmetric->kind == DOC_BOOL &&
                                   !symmetric->boolean) : NULL;
}

/* ModelOpt's list of modules with an algorithm each. */
static const struct doc *mixed_list(const struct doc *quantization)
{
    const struct doc *list = doc_get(quantization, "quantized_layers");
    return list && list->kind == DOC_OBJECT && list->first ? list : NULL;
}

static bool is_mixed(const struct doc *quantization)
{
    const struct doc *groups = doc_get(quantization, "config_groups");
    return mixed_list(quantization) || (groups && groups->kind == DOC_OBJECT && groups->count > 1);
}

static const char *one_group(const struct doc *quantization, const struct doc *group)
{
    const char *packing = doc_text(group, "format", NULL);
    return group_format(group, packing ? packing : doc_text(quantization, "format", NULL));
}

static const char *groups_format(const struct doc *quantization)
{
    const struct doc *groups = doc_get(quantization, "config_groups");
    if (!groups || groups->kind != DOC_OBJECT || !groups->first)
        return NULL;
    return one_group(quantization, groups->first);
}

/* 16 values from a table with one scale for 64 weights, which may be in 8 bits with scales of their own. */
static const char *bitsandbytes_format(const struct doc *quantization)
{
    static const char *const wide[] = { "load_in_8bit", "_load_in_8bit" };
    for (size_t i = 0; i < 2; i++) {
        const struct doc *flag = doc_get(quantization, wide[i]);
        if (flag && flag->kind == DOC_BOOL && flag->boolean)
            return "int8";
    }
    const struct doc *twice = doc_get(quantization, "bnb_4bit_use_double_quant");
    return twice && twice->kind == DOC_BOOL && !twice->boolean ? "nf4-plain" : "nf4";
}

static const char *method_format(const struct doc *quantization)
{
    const char *method = doc_text(quantization, "quant_method", NULL);
    const char *named = algorithm_format(doc_text(quantization, "quant_algo", NULL));
    if (named)
        return named;
    double bits = doc_number(quantization, "bits", 0), group = doc_number(quantization, "group_size", 0);
    if (same(method, "fp8") || same(method, "fbgemm_fp8"))
        return set_in(quantization, "weight_block_size") ? "fp8-block" : "fp8";
    if (same(method, "mxfp4"))
        return "mxfp4";
    if (same(method, "mxfp8"))
        return "mxfp8";
    if (same(method, "bitnet"))
        return "bitnet";
    if (same(method, "gptq") || same(method, "awq") || same(method, "auto-round"))
        return bits == 8 ? "int8-zp" : bits == 4 || bits == 0 ? int4_format(group, true) : NULL;
    if (same(method, "bitsandbytes"))
        return bitsandbytes_format(quantization);
    if (is_mlx(quantization))
        return mlx_format(quantization);
    return is_mixed(quantization) ? NULL : groups_format(quantization);
}

static const char *base_format(struct config *config)
{
    const char *name = config_string(config, "torch_dtype");
    if (!name)
        name = config_string(config, "dtype");
    if (!name)
        facts_note(config->facts, "no torch_dtype: what is not quantised taken as bf16");
    if (!name || same(name, "bfloat16") || same(name, "fp8") || same(name, "bf16"))
        return "bf16";                  /* "fp8" is DeepSeek's own word for both */
    if (same(name, "float16") || same(name, "float32"))
        return same(name, "float16") ? "fp16" : "fp32";
    config_fail(config, "torch_dtype is '%s'", name);
    config_expected(config, "bfloat16, float16 or float32");
    return "bf16";
}

static const struct format *need(struct config *config, const struct model_options *options,
                                 const char *name)
{
    const struct format *format = NULL;
    if (!config->failed && !formats_need(options->formats, name, config->file, &format,
                                         config->error))
        config->failed = true;
    return format;
}

/* The modules left alone go by three names. */
static const struct doc *left_alone(const struct doc *quantization)
{
    static const char *const keys[] = { "ignore", "modules_to_not_convert", "exclude_modules",
                                        "ignored_layers" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (set_in(quantization, keys[i]))
            return doc_get(quantization, keys[i]);
    return NULL;
}

static void cache_scheme_note(struct config *config, const struct doc *quantization,
                              const struct model_options *options)
{
    bool scheme = set_in(quantization, "kv_cache_scheme")
               || set_in(quantization, "kv_cache_quant_algo");
    if (scheme && !options->kv)
        facts_note(config->facts, "the checkpoint has scales for a cache of 8 bits; the cache is "
                   "taken as bf16 unless another format is asked for");
}

/* ---- formats by module ----------------------------------------------------------------- */

static void algorithms_add(struct config *config, const struct doc *list, const struct model_options *options,
                           struct mixed *mixed)
{
    for (const struct doc *item = list->first; item && !config->failed; item = item->next) {
        const char *algorithm = doc_text(item, "quant_algo", NULL), *name = algorithm_format(algorithm);
        if (!name) {
            config_fail(config, "quantized_layers: '%.100s' has an algorithm that is not known", item->key);
            config_expected(config, "FP8, NVFP4, W4A16_NVFP4, W4A16_AWQ or another of ModelOpt's");
        } else {
            mixed_add(config, mixed, item->key, need(config, options, name));
        }
    }
}

/* Several groups of compressed-tensors, each for the modules that it lists. */
static void groups_add(struct config *config, const struct doc *quantization,
                       const struct model_options *options,
                       struct mixed *mixed)
{
    const struct doc *groups = doc_get(quantization, "config_groups");
    for (const struct doc *group = groups->first; group && !config->failed; group = group->next) {
        const char *name = one_group(quantization, group);
        const struct doc *targets = doc_get(group, "targets");
        if (!name) {
            config_fail(config, "config_groups: the weights of '%.100s' are not understood", group->key);
            config_expected(config, "num_bits of 4 or 8, of type int or float");
        }
        for (const struct doc *item = targets ? targets->first : NULL; item && name; item = item->next)
            if (item->kind == DOC_STRING)
                mixed_add(config, mixed, item->string, need(config, options, name));
    }
}

static struct mixed *mixed_read(struct config *config, const struct doc *quantization,
                                const struct model_options *options)
{
    const struct doc *list = mixed_list(quantization);
    if (options->weights || config->failed || !is_mixed(quantization))
        return NULL;
    struct mixed *mixed = mixed_new(config);
    if (list)
        algorithms_add(config, list, options, mixed);
    else
        groups_add(config, quantization, options, mixed);
    mixed_close(mixed);
    return mixed;
}

/* Names of formats; NULL for experts that are as the other matrices. */
struct precision_formats {
    const char *base, *matrix, *expert;
};

static bool choice_read(struct config *config, const struct doc *quantization,
                        const struct model_options *options, struct precision_formats *choice)
{
    choice->matrix = method_format(quantization);
    if (!choice->matrix)
        choice->matrix = options->weights ? options->weights : config->exact ? choice->base : NULL;
    if (!choice->matrix && is_mixed(quantization))
        choice->matrix = choice->base;          /* of what no entry names */
    if (!choice->matrix) {
        const char *method = doc_text(quantization, "quant_method", NULL);
        config_fail(config, "quantization_config of method '%s' is not understood",
                    method ? method : "");
        return config_expected(config, "fp8, mxfp4, modelopt, compressed-tensors, gptq, awq, "
                                "bitsandbytes; or choose a format for the weights");
    }
    cache_scheme_note(config, quantization, options);
    if (same(doc_text(quantization, "quant_method", NULL), "mxfp4")) {       /* gpt-oss */
        choice->expert = choice->matrix;
        choice->matrix = choice->base;
    }
    return true;
}

/* The user's format, for what the checkpoint quantises, or would: of one that quantises its experts
 * alone for these, unless they get a format of their own. */
static void choice_replace(struct precision_formats *choice, const char *weights, bool experts_apart)
{
    bool experts_only = choice->expert && choice->matrix == choice->base && !experts_apart;
    choice->expert = weights;
    if (!experts_only)
        choice->matrix = weights;
}

bool precision_read(struct config *config, const struct model_options *options,
                    struct precision *precision)
{
    const struct doc *quantization = config_get(config, "quantization_config");
    struct precision_formats choice = { .base = base_format(config) };
    choice.matrix = choice.base;
    if (!quantization)
        quantization = config_get(config, "compression_config");
    if (!quantization)
        quantization = config_get(config, "quantization");          /* MLX */
    if (quantization) {
        precision->ignore = ignore_new(config, left_alone(quantization));
        if (!choice_read(config, quantization, options, &choice))
            return false;
        precision->mixed = mixed_read(config, quantization, options);
        precision->tables = is_mlx(quantization) && !options->weights;
    } else if (same(config_string(config, "dtype"), "fp8")) {
        choice.matrix = "fp8-block";            /* DeepSeek's own configurations */
    }
    if (same(config_string(config, "expert_dtype"), "fp4"))
        choice.expert = "mxfp4-a8";             /* DeepSeek-V4: fp4 with a scale per 32 */
    const bool experts_only = choice.expert && choice.matrix == choice.base;
    precision->formats = options->formats;
    precision->arena = config->arena;
    precision->file = file_type_find(config->arena, options->weights);
    precision->experts_apart = options->experts != NULL;
    if (options->weights && options->experts && experts_only)
        precision->ignore = NULL;               /* what the checkpoint leaves alone has a format too */
    if (options->weights)
        choice_replace(&choice, precision->file ? file_type_base(precision->file) : options->weights,
                       options->experts != NULL);
    if (options->experts)
        choice.expert = options->experts;
    precision->base = need(config, options, choice.base);
    precision->matrix = need(config, options, choice.matrix);
    precision->expert = need(config, options, choice.expert ? choice.expert : choice.matrix);
    precision->whole = need(config, options, "fp32");
    return !config->failed;
}

const struct format *precision_of(const struct precision *precision, enum role role,
                                  const char *module)
{
    if (role == ROLE_FLOAT)
        return precision->whole;
    if (role == ROLE_BASE || ignore_match(precision->ignore, module))
        return precision->base;
    const struct format *own = precision->mixed ? mixed_format(precision->arena, precision->mixed,
                                                               module) : NULL;
    if (own)
        return own;
    return role == ROLE_EXPERT ? precision->expert : precision->matrix;
}
