#include "import/model.h"

#include <string.h>

static const struct family families[] = {
#define FAMILY(name, prefix, attention, linear, experts, traits) \
    { name, prefix, attention, linear, experts, traits },
#include "import/families.def"
#undef FAMILY
};

enum { family_count = sizeof families / sizeof *families };

bool model_has(const struct model *model, unsigned trait)
{
    return (model->family->traits & trait) != 0;
}

/* "qwen3_vl" is the whole model, "qwen3_vl_text" its language part: either names the row. */
static const struct family *by_type(const char *type)
{
    for (size_t i = 0; type && i < family_count; i++) {
        const char *name = families[i].name;
        size_t size = strlen(type);
        if (!strcmp(name, type) || (!strncmp(name, type, size) && !strcmp(name + size, "_text")))
            return &families[i];
    }
    return NULL;
}

/* The longest prefix of a class name wins: "DeepseekV32" before "DeepseekV3". */
static const struct family *by_class(const struct doc *list)
{
    const struct family *best = NULL;
    for (const struct doc *item = list ? list->first : NULL; item; item = item->next)
        for (size_t i = 0; i < family_count && item->kind == DOC_STRING; i++) {
            const char *prefix = families[i].class_prefix;
            if (prefix && !strncmp(item->string, prefix, strlen(prefix))
                && (!best || strlen(prefix) > strlen(best->class_prefix)))
                best = &families[i];
        }
    return best;
}

static const char *type_in(const struct doc *object)
{
    const struct doc *doc = doc_get(object, "model_type");
    return doc && doc->kind == DOC_STRING ? doc->string : NULL;
}

/* The simplest family that has the fields of this configuration. */
static const struct family *assumed(struct config *config, const char *type)
{
    bool latent = config_has(config, FIELD_kv_rank);
    facts_note(config->facts, "unknown architecture '%s' read as %s: norms, biases and gates are "
               "assumed to be the same", type, latent ? "deepseek_v3" : "mistral");
    return by_type(latent ? "deepseek_v3" : "mistral");
}

static const struct family *unknown(struct config *config, const char *type)
{
    if (config->assume)
        return assumed(config, type);
    const char *names[family_count];
    for (size_t i = 0; i < family_count; i++)
        names[i] = families[i].name;
    const char *near = name_nearest(type, names, family_count);
    struct buffer all = { .arena = config->arena };
    for (size_t i = 0; i < family_count && all.size < 400; i++)
        buffer_print(&all, "%s, ", names[i]);
    config_fail(config, "unknown model_type '%.100s'%s%s%s", type, near ? " (did you mean " : "",
                near ? near : "", near ? "?)" : "");
    config_expected(config, "one of: %s...; or --assume, to read it as a plain transformer", all.data);
    return NULL;
}

const struct family *family_find(struct config *config)
{
    const struct family *family = by_type(type_in(config->text));
    if (!family)
        family = by_type(type_in(config->root));
    if (family)
        return family;
    family = by_class(doc_get(config->text, "architectures"));
    if (!family)
        family = by_class(doc_get(config->root, "architectures"));
    const char *type = type_in(config->text) ? type_in(config->text) : type_in(config->root);
    config_plain(config, "model_type", type ? type : "");
    if (family && type)
        facts_note(config->facts, "model_type '%.60s' is unknown: read by its architecture, "
                   "as %s", type, family->name);
    if (!family && doc_get(config->root, "n_activated_experts"))
        family = by_type("deepseek-native");    /* DeepSeek's own files do not say */
    if (family)
        return family;
    return unknown(config, type ? type : "");
}
