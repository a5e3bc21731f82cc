/* Fields of a Hugging Face configuration: found under the names that families use, checked, and
 * marked as read.
 *
 * A field has several spellings and places (fields.def); a missing one may have the default of the
 * family's own class. Numbers must be finite, whole where they count something, and within bounds.
 * Every key that is used is marked, and keys that nobody used are reported by ignore.c, so that an
 * unknown feature of a new model is not silently left out. */
#include "import/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct config_field {
    const char *name;
    double least, most;
    const char *keys[14];
};

static const struct config_field rows[FIELD_COUNT] = {
#define FIELD(name, least, most, ...) [FIELD_##name] = { #name, least, most, { __VA_ARGS__ } },
#include "import/fields.def"
#undef FIELD
};

bool config_fail(struct config *config, const char *format, ...)
{
    if (config->failed)
        return false;
    config->failed = true;
    char message[600];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    config->error->hint[0] = 0;
    return error_set(config->error, "%s: %s", config->file, message);
}

bool config_expected(struct config *config, const char *format, ...)
{
    if (config->error->hint[0])
        return false;               /* of the first error */
    char message[sizeof config->error->hint];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return error_expected(config->error, "%s", message);
}

static const struct doc *part_of(const struct doc *object, const char *key)
{
    const struct doc *part = doc_get(object, key);
    return part && part->kind == DOC_OBJECT ? part : NULL;
}

bool config_open(struct config *config, const struct doc *root)
{
    static const char *const parts[] = { "text_config", "llm_config", "language_config", "thinker_config" };
    if (!root || root->kind != DOC_OBJECT)
        return config_fail(config, "not a configuration: the file is not one JSON object");
    config->root = config->text = root;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct doc *part = part_of(root, parts[i]);
        if (part)
            config->text = part_of(part, "text_config") ? part_of(part, "text_config") : part;
    }
    return true;
}

const struct doc *config_get(struct config *config, const char *key)
{
    const struct doc *const places[] = { config->text, config->root, part_of(config->text, "attn_config"),
                                         part_of(config->text, "ffn_config") };
    const struct doc *doc = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && (!doc || doc->kind == DOC_NULL); i++)
        doc = doc_get(places[i], key);
    if (!doc || doc->kind == DOC_NULL)
        return NULL;
    const struct doc **place = arena_push(config->arena, &config->read, &config->read_count,
                                          &config->read_room, sizeof *config->read);
    *place = doc;
    return doc;
}

/* ---- counts -------------------------------------------------------------------------- */

/* What the family's own class would put there. A null is an answer, though, and a file that is no part of
 * another gives its layers and its width. */
static const struct doc *field_default(struct config *config, enum field field)
{
    const struct doc *said = doc_get(config->text, rows[field].keys[0]);
    double value;
    bool shape = (field == FIELD_layers || field == FIELD_hidden) && config->text == config->root;
    if (!config->family || said || shape || !family_default(config->family, rows[field].name, &value))
        return NULL;
    struct doc *doc = doc_new(config->arena, DOC_NUMBER);
    doc->number = value;
    facts_note(config->facts, "no %s: %.0f, the default of %s", rows[field].keys[0], value,
               config->family->name);
    return doc;
}

static const struct field_place *field_find(struct config *config, enum field field)
{
    struct field_place *place = &config->places[field];
    if (place->looked)
        return place;
    *place = (struct field_place){ .looked = true, .key = rows[field].keys[0] };
    for (const char *const *name = rows[field].keys; *name && !place->doc; name++) {
        place->doc = config_get(config, *name);
        if (place->doc)
            place->key = *name;
    }
    if (!place->doc)
        place->doc = field_default(config, field);
    return place;
}

/* One number, or a list with the same one for each layer. */
static const struct doc *same_number(const struct doc *doc)
{
    if (doc->kind != DOC_ARRAY || doc->count < 2)
        return doc;
    for (const struct doc *item = doc->first; item; item = item->next)
        if (item->kind != DOC_NUMBER || item->number != doc->first->number)
            return doc;
    return doc->first;
}

const char *doc_said(struct arena *arena, const struct doc *doc)
{
    static const char *const kinds[] = { "null", "true or false", "", "a string", "a list", "an object" };
    return doc->kind == DOC_NUMBER ? arena_print(arena, "%.17g", doc->number) : kinds[doc->kind];
}

static double field_number(struct config *config, enum field field, const char *key,
                           const struct doc *doc)
{
    double least = rows[field].least, most = rows[field].most;
    doc = same_number(doc);
    if (doc->kind == DOC_NUMBER && doc->number >= least && doc->number <= most
        && floor(doc->number) == doc->number)
        return doc->number;
    config_fail(config, "%s is %s", key, doc_said(config->arena, doc));
    config_expected(config, "a whole number from %.0f to %.0f", least, most);
    return fmax(least, 1);
}

static void field_missing(struct config *config, enum field field)
{
    struct buffer names = { .arena = config->arena };
    buffer_print(&names, "%s", rows[field].keys[0]);
    for (const char *const *name = rows[field].keys + 1; *name; name++)
        buffer_print(&names, " or %s", *name);
    config_fail(config, "no field %s", rows[field].keys[0]);
    config_expected(config, "a whole number named %s", names.data);
}

bool config_has(struct config *config, enum field field)
{
    return field_find(config, field)->doc != NULL;
}

double config_count(struct config *config, enum field field)
{
    const struct field_place *place = field_find(config, field);
    if (place->doc)
        return field_number(config, field, place->key, place->doc);
    field_missing(config, field);
    return fmax(rows[field].least, 1);
}

double config_count_or(struct config *config, enum field field, double absent)
{
    struct field_place *place = &config->places[field];
    bool first = !place->looked;
    field_find(config, field);
    if (place->doc)
        return field_number(config, field, place->key, place->doc);
    if (config->assume && first && absent > 0)
        facts_note(config->facts, "assumed %s = %.0f, which %s does not say", place->key, absent,
                   config->file);
    return absent;
}

double config_count_in(struct config *config, const struct doc *object, enum field field)
{
    for (const char *const *name = rows[field].keys; *name; name++) {
        const struct doc *doc = doc_get(object, *name);
        if (doc && doc->kind != DOC_NULL)
            return field_number(config, field, *name, doc);
    }
    field_missing(config, field);
    return fmax(rows[field].least, 1);
}

/* ---- what was left unread ------------------------------------------------------------ */

static bool was_read(const struct config *config, const struct doc *doc)
{
    for (size_t i = 0; i < config->read_count; i++)
        if (config->read[i] == doc)
            return true;
    return false;
}

/* Numbers that change neither a shape nor a byte: import/harmless.def. */
static bool harmless(const char *key)
{
    static const char *const parts[] = {
#define HARMLESS(part) part,
#include "import/harmless.def"
#undef HARMLESS
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(key, parts[i]))
            return true;
    return false;
}

static bool not_plain(struct config *config, const char *what, const char *key)
{
    config_plain(config, "a key", key);
    config_fail(config, "%s %.100s: an unknown architecture cannot be read as a plain transformer", what, key);
    return config_expected(config, "a known model_type, or the model as GGUF, whose header has all shapes");
}

/* A plain transformer has a gate, which goes with silu, and says whether its head is tied. */
static bool plain_transformer(struct config *config)
{
    static const char *const gated[] = { "silu", "swish", "swiglu" };
    const char *activation = config_string(config, "hidden_act");
    if (!activation)
        return not_plain(config, "no", "hidden_act");
    if (!name_listed(gated, sizeof gated / sizeof *gated, activation))
        return not_plain(config, "not silu, as of gated blocks, is", "hidden_act");
    return config_get(config, "tie_word_embeddings") || not_plain(config, "no", "tie_word_embeddings");
}

bool config_all_read(struct config *config)
{
    if (config->assumed && !plain_transformer(config))
        return false;
    for (const struct doc *item = config->text->first; item; item = item->next)
        if ((item->kind == DOC_NUMBER || item->kind == DOC_ARRAY || item->kind == DOC_OBJECT) && item->key &&
            !harmless(item->key) && !(item->kind == DOC_NUMBER && item->number == 0) && item != config->text &&
            !was_read(config, item) && strcmp(item->key, "architectures")) {
            if (config->assumed)
                return not_plain(config, "not understood:", item->key);
            config_plain(config, "a key", item->key);
            facts_note(config->facts, "%.100s is not understood, and left out", item->key);
        }
    return true;
}

/* ---- flags and names ----------------------------------------------------------------- */

bool config_flag(struct config *config, const char *key, bool absent)
{
    const struct doc *doc = config_get(config, key);
    if (!doc)
        return absent;
    if (doc->kind == DOC_BOOL)
        return doc->boolean;
    if (doc->kind == DOC_NUMBER && (doc->number == 0 || doc->number == 1))
        return doc->number == 1;
    config_fail(config, "%s is neither true nor false", key);
    return absent;
}

const char *config_string(struct config *config, const char *key)
{
    const struct doc *doc = config_get(config, key);
    if (!doc)
        return NULL;
    if (doc->kind != DOC_STRING) {
        config_fail(config, "%s is not a string", key);
        return NULL;
    }
    config_plain(config, key, doc->string);
    return doc->string;
}

void config_plain(struct config *config, const char *key, const char *string)
{
    struct error error;
    if (!text_check(text_of(string), key, &error)) {
        config_fail(config, "%s", error.what);
        config_expected(config, "%s", error.hint);
    }
}

bool model_rule(struct model *model, struct family_rule rule)
{
    if (!rule.key)
        return rule.absent;
    return config_flag(model->config, rule.key, rule.absent) != rule.denied;
}
