/* A model from the tensors of its file. The configuration beside it gives the layers and their caches,
 * through the same builders as without a file; the tensors give the operators, with their exact bytes.
 * Where the two count weights differently, a note says in what, and the file is right: it is what a server
 * loads.
 *
 * Without a configuration, or with one of an unknown architecture, shapes.c makes the layers. Left out of a
 * step of decoding, each with a note: towers, next-token layers, a second copy of the embedding, and
 * buffers. */
#include "import/tensors.h"

#include <math.h>
#include <string.h>

/* ---- formats ------------------------------------------------------------------------- */

/* By the type alone, where no configuration says more. */
static const char *format_name(const struct module *module)
{
    static const struct { const char *type, *format; } plain[] = {
        { "F32", "fp32" }, { "F16", "fp16" }, { "I8", "int8" }, { "BF16", "bf16" } };
    if (module->tabled)
        return "nf4";
    if (module->bits > 4)
        return "int8-a16";
    if (module->bits > 0 && strcmp(module->type, "U8"))
        return "int4";
    if (module->bits > 0)
        return ends_with(module->whole, "_blocks") ? "mxfp4" : "nvfp4";
    if (!strncmp(module->type, "F8_", 3))
        return module->blocks ? "fp8-block" : "fp8";
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!strcmp(plain[i].type, module->type))
            return plain[i].format;
    return "bf16";
}

/* What the configuration says of a quantised matrix, if it is of about as many bytes: whether activations are
 * narrow too, which no shape tells. */
static const struct format *format_said(const struct model *model, const struct module *module, double bytes)
{
    const enum role role = module->kind == TENSOR_expert ? ROLE_EXPERT : ROLE_MATRIX;
    const struct format *said = precision_of(&model->precision, role, module->whole);
    return said && fabs(said->bytes - bytes) < 0.2 * bytes ? said : NULL;
}

/* A format with the bytes that this file has, scales included. */
static const struct format *exact(const struct model *model, const struct format *base, double bytes)
{
    if (base->bytes == bytes)
        return base;
    for (size_t i = 0; i < model->weight_count; i++) {
        const struct format *known = model->weights[i].format;
        if (known->bytes == bytes && !strcmp(known->name, base->name))
            return known;
    }
    struct format *format = arena_alloc(model->config->arena, sizeof *format);
    *format = *base;
    format->bytes = bytes;
    return format;
}

static bool quantised(const struct module *module)
{
    static const char *const plain[] = { "F64", "F32", "F16", "BF16", "fp32", "fp16", "bf16" };
    return !name_listed(plain, sizeof plain / sizeof *plain, module->type);
}

static bool quantisable(const struct module *module)
{
    const enum weight_part part = tensor_part(module->kind);
    return module->out > 1 && (part == PART_MIXER || part == PART_EXPERTS || part == PART_SHARED ||
                               part == PART_DENSE) && module->kind != TENSOR_convolution;
}

/* A type of GGUF, which is a format; NULL: a type of safetensors. */
static const struct format *gguf_type(const struct formats *formats, const char *type)
{
    const struct format *format = formats_find(formats, type);
    return format && !strcmp(format->name, type) ? format : NULL;
}

/* The file's; NULL: the user's, by role. */
static const struct format *module_format(struct model *model, const struct module *module,
                                          const struct model_options *options)
{
    const struct format *of_file = gguf_type(options->formats, module->type);
    const double bytes = module->elements > 0 ? module->bytes / module->elements : 0;
    if (options->weights && (!of_file || quantised(module)))
        return NULL;
    if (of_file)
        return of_file;
    const struct format *base = quantised(module) ? format_said(model, module, bytes) : NULL;
    if (!base)
        base = formats_find(options->formats, format_name(module));
    return bytes > 0 && bytes <= 16 ? exact(model, base, bytes) : base;
}

/* ---- operators ----------------------------------------------------------------------- */

struct left_out {
    double prediction, buffers, copies;
};

static bool is_prediction(const struct model *model, const struct module *module)
{
    return module->kind == TENSOR_prediction || module->layer >= model->layers;
}

/* Is a head of its own in the file the embedding once more? */
static bool copied_head(const struct modules *modules, bool tied)
{
    const struct module *head = module_in(modules, -1, TENSOR_head);
    const struct module *embedding = module_in(modules, -1, TENSOR_embedding);
    return tied && head && embedding && head->elements == embedding->elements;
}

/* A head over the vocabulary, or a classifier in its place. */
static bool has_head(const struct modules *modules)
{
    for (size_t i = 0; i < modules->count; i++)
        if (modules->at[i].layer < 0 && modules->at[i].kind == TENSOR_head)
            return true;
    return false;
}

static const char *operator_name(const struct module *module, bool tied)
{
    if (module->out > 1 && module->layer < 0 && module->kind == TENSOR_head)
        return "lm_head";
    if (module->out > 1 && module->layer < 0 && module->kind == TENSOR_embedding)
        return tied ? "lm_head" : "embed_tokens";
    return module->name;
}

static void module_add(struct model *model, const struct module *module, const struct format *format,
                       bool tied)
{
    const bool expert = module->kind == TENSOR_expert;
    struct weight weight = { .name = operator_name(module, tied), .in = module->in, .out = module->out,
                             .copies = module->copies, .routed = expert, .format = format,
                             .role = expert ? ROLE_EXPERT : quantisable(module) ? ROLE_MATRIX : ROLE_BASE };
    weight.lookup = module->out > 1 && (module->kind == TENSOR_positions ||
                                        (module->kind == TENSOR_embedding && strcmp(weight.name, "lm_head")));
    if (expert && weight.copies == 1 && model->experts > 1 && fmod(weight.out, model->experts) == 0) {
        weight.copies = model->experts;         /* stacked along the outputs (DBRX) */
        weight.out /= model->experts;
    }
    if (expert && weight.copies >= model->top_k)
        weight.used = model->top_k;
    if (weight.lookup) {                        /* a table has a row for each of its inputs */
        weight.in = module->out;
        weight.out = module->in;
    }
    if (module->tabled && module->out > 1 && fmod(module->elements, model->hidden) == 0) {
        weight.in = model->hidden;              /* stored as one column (bitsandbytes) */
        weight.out = module->elements / model->hidden;
    }
    weight_add(model, weight);
}

static void note_left_out(struct model *model, const struct left_out *left)
{
    struct facts *facts = model->config->facts;
    if (left->prediction > 0)
        facts_note(facts, "next-token layers of %.0f weights are left out of the forward pass",
                   left->prediction);
    if (left->copies > 0)
        facts_note(facts,
                   "the file stores the head, which is the embedding, once more: %.0f weights left out",
                   left->copies);
    if (left->buffers > 0)
        facts_note(facts, "buffers of %.0f B are left out: masks, positions, rotations", left->buffers);
    if (model->apart > 0)
        facts_note(facts, "towers and projectors of the file have %.0f weights, which decoding does not run",
                   model->apart);
}

/* The operators of a model, in place of those that its configuration has. `tied`: the configuration says that
 * the head is the embedding. */
static bool operators_of(struct model *model, const struct modules *modules, bool tied,
                         const struct model_options *options)
{
    const bool copied = copied_head(modules, tied), one = copied || !has_head(modules);
    struct left_out left = { 0 };
    model->weights = NULL;
    model->weight_count = model->weight_room = 0;
    model->apart = model->apart_bytes = 0;
    for (size_t i = 0; i < modules->count && !model->config->failed; i++) {
        const struct module *module = &modules->at[i];
        if (module->kind == TENSOR_tower || module->kind == TENSOR_projector) {
            model->apart += module->elements;
            model->apart_bytes += module->bytes;
        } else if (module->kind == TENSOR_buffer) {
            left.buffers += module->bytes;
        } else if (is_prediction(model, module)) {
            left.prediction += module->elements;
        } else if (copied && module->kind == TENSOR_head && module->out > 1) {
            left.copies += module->elements;
        } else if (module->elements > 0) {
            module_add(model, module, module_format(model, module, options), one);
        }
    }
    note_left_out(model, &left);
    if (one && !tied)
        facts_note(model->config->facts, "lm_head and the input embedding are one matrix");
    return !model->config->failed;
}

/* ---- configuration and file ---------------------------------------------------------- */

/* What is compared: kinds of matrices, all mixers as one since families cut them differently. */
static enum tensor_class compared(enum tensor_class kind)
{
    const bool beside = kind == TENSOR_tower || kind == TENSOR_buffer || kind == TENSOR_prediction;
    if (kind == TENSOR_projector)
        return TENSOR_tower;
    return tensor_part(kind) == PART_MIXER && !beside ? TENSOR_attention : kind;
}

static double weight_elements(const struct weight *weight)
{
    return weight->layers * weight->copies * weight->in * weight->out;
}

/* Tensors of a kind in the file of which the configuration has none of that size, or else the first of
 * them. */
static const char *strangers(const struct model *model, const struct modules *modules, enum tensor_class kind)
{
    enum { MOST = 3 };
    struct buffer names = { .arena = model->config->arena };
    const char *first = NULL;
    int count = 0;
    for (size_t i = 0; i < modules->count && count < MOST; i++) {
        const struct module *module = &modules->at[i];
        bool known = false;
        if (compared(module->kind) != kind)
            continue;
        first = first ? first : module->whole;
        for (size_t j = 0; j < model->weight_count; j++)
            known |= compared(tensor_class_of(model->weights[j].name)) == kind &&
                     model->weights[j].in * model->weights[j].out == module->in * module->out;
        if (!known)
            buffer_print(&names, "%s%s", count++ ? ", " : "", module->whole);
    }
    return count ? names.data : first ? first : "no tensor";
}

static void compare(struct model *model, const struct modules *modules, bool tied)
{
    double here[TENSOR_CLASS_COUNT] = { 0 }, there[TENSOR_CLASS_COUNT] = { 0 };
    const bool copied = copied_head(modules, tied);
    for (size_t i = 0; i < modules->count; i++) {
        const struct module *module = &modules->at[i];
        const bool left = is_prediction(model, module) || (copied && module->kind == TENSOR_head);
        here[compared(module->kind)] += left ? 0 : module->elements;
    }
    for (size_t i = 0; i < model->weight_count; i++) {
        const struct weight *weight = &model->weights[i];
        const bool both = !strcmp(weight->name, "lm_head") && tied;
        there[both ? TENSOR_embedding : compared(tensor_class_of(weight->name))] += weight_elements(weight);
    }
    there[TENSOR_tower] = model->apart;
    for (int i = 0; i < TENSOR_CLASS_COUNT; i++)
        if (here[i] != there[i] && i != TENSOR_buffer && i != TENSOR_prediction)
            facts_note(model->config->facts,
                       "%s: %.0f weights in the file (%s), %.0f by its configuration; the file's "
                       "are taken", tensor_class_name((enum tensor_class)i), here[i],
                       strangers(model, modules, (enum tensor_class)i), there[i]);
}

/* Layers and width decide the caches, which are the configuration's: it must be of this model. Layers behind those that it
 * counts are for prediction if it says so, or their tensors do. */
static bool config_agrees(struct model *model, const struct modules *modules)
{
    struct config *config = model->config;
    const double extra = config_count_or(config, FIELD_prediction_layers, 0);
    const double narrow = config_count_or(config, FIELD_embedding, model->hidden);
    const struct module *embedding = NULL, *first = NULL, *last = NULL;
    bool prediction = extra > 0, wide = false;
    for (size_t i = 0; i < modules->count; i++) {
        const struct module *module = &modules->at[i];
        const bool apart = module->kind == TENSOR_tower || module->kind == TENSOR_projector;
        prediction |= module->kind == TENSOR_prediction;
        if (module->kind == TENSOR_embedding && module->out > 1 && module->bits == 0) {
            embedding = embedding ? embedding : module;
            wide |= module->in == model->hidden || module->in == narrow;
        }
        if (apart || module->layer < 0)
            continue;
        first = first ? first : module;
        last = !last || module->layer > last->layer ? module : last;
    }
    const char *number = first ? strstr(first->whole, ".0.") : NULL;
    const bool stack = number && !strncmp(first->whole, last->whole, (size_t)(number - first->whole) + 1);
    if (stack && (modules->layers < model->layers || (modules->layers > model->layers && !prediction)))
        return config_fail(config, "its config.json has %s %.0f, but the file's tensors have %.0f layer%s; the last is that of %s",
                           config->places[FIELD_layers].key, model->layers, modules->layers, modules->layers == 1 ? "" : "s",
                           last->whole) ||
               config_expected(config, "config.json and tensors of one model, with all of its parts");
    if (embedding && !wide)
        return config_fail(config, "its config.json has %s %.0f, but the file's tensor %s is %.0f x %.0f",
                           config->places[FIELD_hidden].key, model->hidden, embedding->whole, embedding->out, embedding->in) ||
               config_expected(config, "config.json and tensors of one model");
    return true;
}

static bool config_ties(const struct model *model)
{
    for (size_t i = 0; i < model->weight_count; i++)
        if (!strcmp(model->weights[i].name, "embed_tokens"))
            return false;
    return true;
}

/* The layers by the configuration; false: its architecture is unknown, or there is none. */
static bool config_build(struct model *model, const struct doc *config, const struct model_options *options)
{
    struct model_options plain = *options;
    const size_t notes = model->config->facts->note_count;
    plain.assume = false;
    if (config && model_build(model, config, &plain))
        return true;
    if (!model->family)
        model->config->facts->note_count = notes;
    return false;
}

static double config_bits(const struct doc *config)
{
    static const char *const keys[] = { "bits", "num_bits" };
    const struct doc *quantization = doc_get(config, "quantization_config");
    if (!quantization)
        quantization = doc_get(config, "quantization");
    const struct doc *groups = doc_get(quantization, "config_groups");
    const struct doc *places[] = { quantization, groups && groups->first ? doc_get(groups->first,
                                                                                   "weights") : NULL };
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 2; k++) {
            const double bits = doc_number(places[i], keys[k], 0);
            if (bits >= 1 && bits <= 8)
                return bits;
        }
    return 0;
}

bool model_of_tensors(struct arena *arena, const struct tensors *tensors, const struct doc *config,
                      bool apart,
                      const char *file, const struct model_options *options, struct facts *facts,
                      struct error *error)
{
    struct modules modules;
    struct config opened = { .arena = arena, .file = file, .facts = facts, .error = error, .exact = true };
    struct model model = { .config = &opened };
    if (!tensors->count) {
        error_set(error, "%s: no tensors", file);
        return error_expected(error, "the header of a model");
    }
    modules_of(arena, tensors, config_bits(config), &modules);
    if (config_build(&model, config, options)) {
        const bool tied = config_ties(&model);
        if (apart && !model.family->whole && !config_agrees(&model, &modules))
            return false;
        if (apart && !model.family->whole)
            compare(&model, &modules, tied);
        return operators_of(&model, &modules, tied, options) && model_finish(&model, options);
    }
    if (config && model.family)
        return false;                   /* a field is missing, or impossible */
    opened = (struct config){ .arena = arena, .file = file, .facts = facts, .error = error, .exact = true,
                              .assume = options->assume, .shown = options->shown };
    model = (struct model){ .config = &opened };
    if (!config_open(&opened, config ? config : doc_new(arena, DOC_OBJECT)) ||
        !precision_read(&opened, options, &model.precision) || !shapes_build(&model, &modules))
        return false;
    return operators_of(&model, &modules, false, options) && model_finish(&model, options);
}
