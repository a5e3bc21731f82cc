/* Tensors to modules: the packed weights of a matrix go together with their scales, zero points and order,
 * experts of one kind with each other. Shapes give inputs and outputs, and how many weights a packed word
 * holds:
 *
 *     GPTQ     qweight [in bits/32, out]   scales [in/g, out]   qzeros [in/g, out bits/32]
 *     AWQ      qweight [in, out bits/32]   scales [in/g, out]   qzeros [in/g, out bits/32]
 *     others   weight  [out, in bits/8 or bits/32], whose bits are the configuration's, or 4
 *
 * A table with a third dimension counts experts by its first. Names are read in tensor_classes.c. */
#include "import/tensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names --------------------------------------------------------------------------- */

/* Where the name of a module ends in that of one of its tensors. */
static size_t module_size(const char *name, bool scale)
{
    static const char *const ends[] = { ".weight", ".qweight", ".weight_packed", "_blocks", "_scales" };
    const size_t size = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i]))
            return size - strlen(ends[i]);
    const char *weight = scale ? strstr(name, ".weight") : NULL, *dot = scale ? strrchr(name, '.') : NULL;
    if (weight && weight[7] && (weight[7] == '.' || weight[7] == '_'))
        return (size_t)(weight - name);
    return dot ? (size_t)(dot - name) : size;
}

static bool digits(struct text part)
{
    for (size_t i = 0; i < part.size; i++)
        if (part.data[i] < '0' || part.data[i] > '9')
            return false;
    return part.size > 0 && part.size < 7;
}

static struct text next_part(struct text *rest)
{
    const char *dot = rest->size ? memchr(rest->data, '.', rest->size) : NULL;
    const size_t size = dot ? (size_t)(dot - rest->data) : rest->size;
    struct text part = { rest->data, size };
    const size_t taken = size + (dot != NULL);
    *rest = (struct text){ rest->data + taken, rest->size - taken };
    return part;
}

/* "model.layers.3.mlp.up_proj": layer 3, and what follows; -1 and all of the name: no layer. */
static double layer_of(struct text name, struct text *inside)
{
    static const char *const words[] = { "layers", "h", "blocks", "block", "blk", "layer" };
    struct text rest = name, before = { NULL, 0 };
    *inside = name;
    while (rest.size) {
        struct text part = next_part(&rest);
        bool counts = false;
        double number;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            counts |= before.data && text_is(before, words[i]);
        if (counts && rest.size && digits(part) && text_number(part, &number)) {
            *inside = rest;
            return number;
        }
        before = part;
    }
    return -1;
}

/* "mlp.experts.17.up_proj" is "mlp.experts.up_proj"; what wraps a language model is cut off. */
static const char *short_of(struct arena *arena, struct text inside, bool expert, bool outside)
{
    static const char *const tops[] = { "model", "language_model", "transformer", "backbone", "gpt_neox",
                                        "thinker", "decoder", "llm" };
    struct buffer out = { .arena = arena };
    bool top = outside;
    while (inside.size) {
        struct text part = next_part(&inside);
        bool wraps = false;
        for (size_t i = 0; top && inside.size && i < sizeof tops / sizeof *tops; i++)
            wraps |= text_is(part, tops[i]);
        top = wraps;
        if (!wraps && !(expert && digits(part)))
            buffer_print(&out, "%s%.*s", out.size ? "." : "", (int)part.size, part.data);
    }
    return out.data ? out.data : "";
}

/* ---- classes, each found once for all names that differ in numbers alone --------------- */

enum { memo_size = 4096 };
struct class_memo {
    const char *shape;
    enum tensor_class kind;
};

static const char *shape_of(struct arena *arena, const char *name)
{
    char *shape = arena_copy(arena, name, strlen(name)), *to = shape;
    for (const char *at = name; *at; at++)
        if (*at < '0' || *at > '9' || at == name || (at[-1] != '.' && (at[-1] < '0' || at[-1] > '9')))
            *to++ = *at;
    *to = 0;
    return shape;
}

static enum tensor_class class_of(struct arena *arena, struct class_memo *memo, const char *name)
{
    const char *shape = shape_of(arena, name);
    uint32_t hash = 2166136261u;
    for (const char *at = shape; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    struct class_memo *place = &memo[hash % memo_size];
    if (!place->shape || strcmp(place->shape, shape))
        *place = (struct class_memo){ shape, tensor_class_of(name) };
    return place->kind;
}

/* ---- a matrix ------------------------------------------------------------------------ */

/* The tensors of one module, sorted: its weights, then its scales. */
struct module_tensor {
    const struct tensor *tensor;
    const char *module;
    bool scale;
    enum tensor_class kind;
};

static int by_module(const void *a, const void *b)
{
    const struct module_tensor *x = a, *y = b;
    const int order = strcmp(x->module, y->module);
    if (order)
        return order;
    return x->scale != y->scale ? x->scale - y->scale : strcmp(x->tensor->name, y->tensor->name);
}

static const struct tensor *part_named(const struct module_tensor *parts, size_t count, const char *end)
{
    for (size_t i = 1; i < count; i++)
        if (ends_with(parts[i].tensor->name, end))
            return parts[i].tensor;
    return NULL;
}

/* Weights packed along one of the two dimensions of a GPTQ or AWQ matrix. */
static bool packed_words(const struct tensor *main, const struct module_tensor *parts, size_t count,
                         struct module *module)
{
    const struct tensor *scales = part_named(parts, count, ".scales");
    const struct tensor *zeros = part_named(parts, count, ".qzeros");
    if (!ends_with(main->name, ".qweight") || main->dimensions != 2 || !scales || scales->dimensions != 2 ||
        scales->dims[1] < 1)
        return false;
    module->out = scales->dims[1];
    if (main->dims[1] != module->out) {
        module->bits = 32 * main->dims[1] / module->out;
        module->in = main->dims[0];
        return true;
    }
    if (zeros && zeros->dimensions == 2)
        module->bits = 32 * zeros->dims[1] / module->out;
    module->in = module->bits > 0 ? main->dims[0] * 32 / module->bits : 0;
    return true;
}

/* Bits of a weight that is packed along the inputs; 0: it is not packed. */
static double packed_bits(const struct tensor *main, const struct module_tensor *parts, size_t count, double bits)
{
    const bool words = !strcmp(main->type, "I32") || !strcmp(main->type, "U32");
    const bool bytes = !strcmp(main->type, "U8") && count > 1;
    if (count > 1 && (words || bytes))
        return bits > 0 && bits <= 8 && !part_named(parts, count, ".absmax") ? bits : 4;
    return ends_with(main->name, "_blocks") ? 4 : 0;
}

static void shape_read(const struct tensor *main, double unpacked, struct module *module)
{
    const double *dims = main->dims;
    const size_t n = main->dimensions;
    const bool expert = module->kind == TENSOR_expert;
    double all = 1;
    for (size_t i = 0; i < n; i++)
        all *= dims[i];
    module->in = n ? dims[n - 1] * unpacked : 1;
    module->out = n > 1 ? dims[n - 2] : 1;
    if (expert && n == 2 && (ends_with(main->name, "bias") || ends_with(main->name, "_bias"))) {
        module->copies = dims[0];
        module->out = 1;
    } else if (expert && n > 2) {
        module->copies = dims[0];
        module->out = dims[1];
        module->in = all * unpacked / fmax(dims[0] * dims[1], 1);
    } else if (n > 2) {
        module->out = dims[0];
        module->in = all * unpacked / fmax(dims[0], 1);
    }
}

static struct module module_of(struct arena *arena, const struct module_tensor *parts, size_t count, double bits)
{
    const struct tensor *main = parts->tensor;
    struct module module = { .whole = main->name, .type = main->type, .kind = parts->kind, .copies = 1 };
    struct text inside;
    module.layer = layer_of(text_of(parts->module), &inside);
    module.name = short_of(arena, inside, module.kind == TENSOR_expert, module.layer < 0);
    if (!packed_words(main, parts, count, &module)) {
        const double word = !strcmp(main->type, "U8") ? 8 : 32;
        module.bits = packed_bits(main, parts, count, bits);
        shape_read(main, module.bits > 0 ? word / module.bits : 1, &module);
    }
    const struct tensor *tiles = part_named(parts, count, ".weight_scale_inv");
    module.blocks = tiles && tiles->dimensions == 2;
    module.tabled = part_named(parts, count, ".absmax") != NULL;
    module.elements = module.copies * module.in * module.out;
    for (size_t i = 0; i < count; i++)
        module.bytes += parts[i].tensor->bytes;
    return module;
}

/* ---- all ----------------------------------------------------------------------------- */

static struct module_tensor *parts_of(struct arena *arena, const struct tensors *tensors)
{
    struct class_memo *memo = arena_array(arena, memo_size, sizeof *memo);
    struct module_tensor *parts = arena_array(arena, tensors->count + 1, sizeof *parts);
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->at[i];
        enum tensor_class kind = class_of(arena, memo, tensor->name);
        const bool scale = kind == TENSOR_scale;
        const char *module = arena_copy(arena, tensor->name, module_size(tensor->name, scale));
        parts[i] = (struct module_tensor){ tensor, module, scale, scale ? class_of(arena, memo, module) : kind };
    }
    if (tensors->count)
        qsort(parts, tensors->count, sizeof *parts, by_module);
    return parts;
}

static int by_layer(const void *a, const void *b)
{
    const struct module *x = a, *y = b;
    if (x->layer != y->layer)
        return x->layer < 0 ? 1 : y->layer < 0 ? -1 : x->layer < y->layer ? -1 : 1;
    int order = strcmp(x->name, y->name);
    if (!order)
        order = x->in != y->in ? (x->in < y->in ? -1 : 1) : x->out != y->out ? (x->out < y->out ? -1 : 1) : 0;
    if (!order)
        order = x->bytes != y->bytes ? (x->bytes < y->bytes ? -1 : 1) : 0;
    return order ? order : strcmp(x->whole, y->whole);
}

/* Experts that are alike become one module with copies. */
static size_t join_experts(struct module *modules, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct module *last = kept ? &modules[kept - 1] : NULL;
        const struct module *next = &modules[i];
        if (last && next->kind == TENSOR_expert && last->kind == TENSOR_expert &&
            last->layer == next->layer &&
            !strcmp(last->name, next->name) && last->in == next->in && last->out == next->out &&
            last->bytes * next->copies == next->bytes * last->copies && !strcmp(last->type, next->type)) {
            last->copies += next->copies;
            last->elements += next->elements;
            last->bytes += next->bytes;
            continue;
        }
        modules[kept++] = *next;
    }
    return kept;
}

static bool in_language_model(enum tensor_class kind)
{
    return kind != TENSOR_tower && kind != TENSOR_projector && kind != TENSOR_prediction;
}

/* Of an encoder and a decoder, the encoder is beside what decodes. */
static void encoder_apart(struct modules *modules)
{
    bool decoder = false;
    for (size_t i = 0; i < modules->count; i++)
        decoder |= modules->at[i].layer >= 0 && strstr(modules->at[i].whole, "decoder.") != NULL;
    for (size_t i = 0; decoder && i < modules->count; i++)
        if (!strncmp(modules->at[i].whole, "encoder.", 8) || strstr(modules->at[i].whole, ".encoder."))
            modules->at[i].kind = TENSOR_tower;
}

void modules_of(struct arena *arena, const struct tensors *tensors, double bits, struct modules *modules)
{
    const struct module_tensor *parts = parts_of(arena, tensors);
    struct module *list = arena_array(arena, tensors->count + 1, sizeof *list);
    size_t count = 0;
    for (size_t i = 0, end; i < tensors->count; i = end) {
        end = i + 1;
        while (end < tensors->count && !strcmp(parts[end].module, parts[i].module))
            end++;
        list[count++] = module_of(arena, &parts[i], end - i, bits);
    }
    *modules = (struct modules){ .at = list, .count = count };
    encoder_apart(modules);
    if (count)
        qsort(list, count, sizeof *list, by_layer);
    modules->count = join_experts(list, count);
    for (size_t i = 0; i < modules->count; i++)
        if (in_language_model(list[i].kind))
            modules->layers = fmax(modules->layers, list[i].layer + 1);
}

const struct module *module_in(const struct modules *modules, double layer, enum tensor_class kind)
{
    for (size_t i = 0; i < modules->count; i++)
        if (modules->at[i].layer == layer && modules->at[i].kind == kind && modules->at[i].out > 1)
            return &modules->at[i];
    return NULL;
}
