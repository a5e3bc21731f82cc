/* The formats of a checkpoint's weights, from the quantization section of its configuration.
 *
 *   1. The base format (torch_dtype) is that of everything the quantizer left alone.
 *   2. The method says the format of the matrices that it took, perhaps others for experts, head or single modules, and
 *      that of the KV cache (quantizer.c).
 *   3. Lists of modules say what was left alone (ignore.c).
 *
 * --precision replaces the format of what the checkpoint quantizes, or would quantize; --experts-
 * precision that of the experts alone. A method that is not known is an error and never a guess. */
#include "import/model.h"

#include <string.h>

static bool same(const char *a, const char *b)
{
    return a && !strcmp(a, b);
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

/* ---- the section ------------------------------------------------------------------------ */

/* What the checkpoint, and then the user, says of its matrices. */
struct precision_formats {
    const struct format *base, *matrix, *expert;
};

/* Does one description hold for all matrices: is it that of the class Linear? */
static bool for_all(const struct doc *own)
{
    const struct doc *targets = own && own->count == 1 ? doc_get(own->first, "targets") : NULL;
    for (const struct doc *item = targets ? targets->first : NULL; item; item = item->next)
        if (item->kind != DOC_STRING || strcmp(item->string, "Linear"))
            return false;
    return targets != NULL;
}

static bool not_understood(struct config *config, const struct quantizer *by, const char *method, const char *said)
{
    const char *refused = by ? quantizer_refused(by) : NULL;
    if (refused) {
        config_fail(config, "quantization_config of method '%s' does not tell its bytes", method);
        return config_expected(config, "%s", refused);
    }
    if (by && !said) {
        config_fail(config, "quantization_config of method '%s' does not say what its weights are in", method);
        return config_expected(config, "one of its fields %s", quantizer_fields(config->arena, by));
    }
    config_fail(config, "quantization_config of method '%s' is not understood%s%s%s", method, said ? ": '" : "",
                said ? said : "", said ? "'" : "");
    return config_expected(config, "%s; or choose a format for the weights: --precision int4, for instance",
                           quantizer_methods(config->arena));
}

static struct mixed *mixed_read(struct config *config, const struct quantizer *by, const struct doc *section,
                                const struct formats *formats, struct precision_formats *choice)
{
    struct mixed *mixed = mixed_new(config);
    const struct format *matrix = choice->matrix;
    const bool tags = quantizer_flag(by, "tags") && !doc_get(doc_get(section, "quant_config"), "weight_quant_params");
    quantizer_modules(config, formats, by, section, choice->base, mixed);
    if (quantizer_some(config, section, matrix, mixed) || tags ||
        (quantizer_own(by, section) && quantizer_flag(by, "named")))
        choice->matrix = choice->base;
    mixed_close(mixed);
    return mixed;
}

static bool section_read(struct config *config, const struct doc *section, const struct model_options *options,
                         struct precision *precision, struct precision_formats *choice)
{
    const struct doc *inside = doc_get(section, "quantization"), *method = doc_get(section, "quant_method");
    if (inside && inside->kind == DOC_OBJECT)
        section = inside;                                       /* hf_quant_config.json in config.json */
    if (method && method->kind != DOC_STRING && method->kind != DOC_NULL) {
        config_fail(config, "quantization_config: quant_method is %s", doc_said(config->arena, method));
        return config_expected(config, "a word such as gptq");
    }
    const struct quantizer *by = quantizer_find(config->arena, section);
    const struct doc *own = by ? quantizer_own(by, section) : NULL, *lists[16];
    const bool chosen = options->weights || config->exact, one = for_all(own);
    const char *said = NULL;
    if (by && !quantizer_refused(by) && !chosen && !quantizer_checked(config, by, section))
        return false;
    precision->ignore = ignore_new(config, lists, quantizer_left(section, lists, sizeof lists / sizeof *lists),
                                   by && quantizer_flag(by, "within"));
    const struct format *format = by && !quantizer_refused(by)
        ? quantizer_format(config, options->formats, by, one ? own->first : section, section, &said) : NULL;
    precision->cache[0] = precision->cache[1] = quantizer_cache(config, options->formats, section);
    if (!format && !chosen && (!by || quantizer_refused(by) || said || !(own || precision->cache[0])))
        return not_understood(config, by, doc_text(section, "quant_method", ""), said);
    if (!by)
        return true;
    choice->matrix = format ? format : choice->base;
    if (quantizer_flag(by, "routed")) {                        /* gpt-oss */
        choice->expert = choice->matrix;
        choice->matrix = choice->base;
        precision->native = true;
    }
    if (quantizer_flag(by, "int4_experts"))
        choice->expert = need(config, options, "int4");
    if (options->weights)
        return true;
    if (format) {
        precision->tables = quantizer_flag(by, "tables") ||
                            doc_is(doc_get(section, "include_input_output_embeddings"), true);      /* torchao */
        precision->copied = quantizer_flag(by, "copy");
        precision->head = quantizer_head(config, options->formats, by, section, format);
    }
    if (!one)
        precision->mixed = mixed_read(config, by, section, options->formats, choice);
    precision->tables |= precision->mixed && mixed_tables(precision->mixed);
    if (format && !precision->head && quantizer_linears(by, section) && !ignore_table(precision->ignore, "lm_head"))
        precision->head = choice->matrix;
    quantizer_unread(config, by, section);
    return !config->failed;
}

/* Formats that nobody quantizes to are for all weights, norms and vocabulary too. */
static bool is_plain(const struct format *format)
{
    static const char *const plain[] = { "fp32", "bf16", "fp16" };
    return name_listed(plain, sizeof plain / sizeof *plain, format->name);
}

/* The user's format, for what the checkpoint quantises, or would: of one that quantises its experts
 * alone for these, unless they get a format of their own. */
static void choice_replace(struct precision_formats *choice, const struct format *weights, bool experts_apart)
{
    bool experts_only = choice->expert && choice->matrix == choice->base && !experts_apart;
    if (is_plain(weights))
        choice->base = weights;
    choice->expert = weights;
    if (!experts_only || is_plain(weights))
        choice->matrix = weights;
}

/* The format that was asked for: MLX's are for embedding and head too, ExLlama's have bits for the head. */
static void chosen_read(struct config *config, const struct model_options *options, struct precision *precision,
                        struct precision_formats *choice)
{
    double bits, head;
    const bool exl = format_bits(options->weights, &bits, &head);
    const struct format *weights = need(config, options, exl ? "exl" : precision->file ? file_type_base(precision->file)
                                                                                       : options->weights);
    if (!weights)
        return;
    if (exl) {
        precision->head = format_with_bits(config->arena, weights, head);
        weights = format_with_bits(config->arena, weights, bits);
    }
    precision->tables = !strncmp(weights->name, "mlx-", 4);
    if (precision->tables)
        precision->ignore = NULL;               /* MLX quantizes what the checkpoint left alone */
    choice_replace(choice, weights, options->experts || precision->tables);
}

bool precision_read(struct config *config, const struct model_options *options,
                    struct precision *precision)
{
    static const char *const sections[] = { "quantization_config", "compression_config", "quantization" };  /* MLX: last */
    const struct doc *section = NULL;
    for (size_t i = 0; i < sizeof sections / sizeof *sections && !section; i++)
        section = config_get(config, sections[i]);
    struct precision_formats choice = { .base = need(config, options, base_format(config)) };
    choice.matrix = choice.base;
    if (section && section->kind != DOC_OBJECT)
        return config_fail(config, "quantization_config is not an object") ||
               config_expected(config, "an object such as {\"quant_method\": \"gptq\", \"bits\": 4}");
    if (section && section->first) {
        if (config->failed || !section_read(config, section, options, precision, &choice))
            return false;
    } else if (same(config_string(config, "dtype"), "fp8")) {
        choice.matrix = need(config, options, "fp8-block");     /* DeepSeek's own configurations */
    }
    if (same(config_string(config, "expert_dtype"), "fp4"))
        choice.expert = need(config, options, "mxfp4-a8");      /* DeepSeek-V4: fp4 with a scale per 32 */
    const bool experts_only = choice.expert && choice.matrix == choice.base;
    precision->formats = options->formats;
    precision->arena = config->arena;
    precision->file = file_type_find(config->arena, options->weights);
    precision->experts_apart = options->experts != NULL;
    if (options->weights && options->experts && experts_only)
        precision->ignore = NULL;               /* what the checkpoint leaves alone has a format too */
    if (options->weights)
        chosen_read(config, options, precision, &choice);
    if (options->experts)
        choice.expert = need(config, options, options->experts);
    precision->base = choice.base;
    precision->matrix = choice.matrix;
    precision->expert = choice.expert ? choice.expert : choice.matrix;
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
