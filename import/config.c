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

struct field_row {
    double least, most;
    const char *keys[8];
};

static const struct field_row rows[FIELD_COUNT] = {
#define FIELD(name, least, most, ...) [FIELD_##name] = { least, most, { __VA_ARGS__ } },
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

bool config_open(struct config *config, const struct doc *root)
{
    static const char *const parts[] = { "text_config", "llm_config", "language_config" };
    if (!root || root->kind != DOC_OBJECT)
        return config_fail(config, "not a configuration: the file is not one JSON object");
    config->root = config->text = root;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct doc *part = doc_get(root, parts[i]);
        if (part && part->kind == DOC_OBJECT)
            config->text = part;
    }
    return true;
}

const struct doc *config_get(const struct config *config, const char *key)
{
    const struct doc *doc = doc_get(config->text, key);
    if (!doc || doc->kind == DOC_NULL)
        doc = doc_get(config->root, key);
    return doc && doc->kind != DOC_NULL ? doc : NULL;
}

/* ---- counts -------------------------------------------------------------------------- */

/* What the family's own class would put there. */
static const struct doc *field_default(struct config *config, enum field field)
{
    static const struct {
        const char *family;
        enum field field;
        double value;
    } defaults[] = {
#define DEFAULT(family, field, value) { family, FIELD_##field, value },
#include "import/defaults.def"
#undef DEFAULT
    };
    for (size_t i = 0; config->family && i < sizeof defaults / sizeof *defaults; i++)
        if (defaults[i].field == field && !strcmp(defaults[i].family, config->family)) {
            struct doc *doc = doc_new(config->arena, DOC_NUMBER);
            doc->number = defaults[i].value;
            facts_note(config->facts, "no %s: %.0f, the default of %s", rows[field].keys[0],
                       doc->number, config->family);
            return doc;
        }
    return NULL;
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

static double field_number(struct config *config, enum field field, const char *key,
                           const struct doc *doc)
{
    double least = rows[field].least, most = rows[field].most;
    if (doc->kind == DOC_NUMBER && doc->number >= least && doc->number <= most
        && floor(doc->number) == doc->number)
        return doc->number;
    static const char *const kinds[] = { "null", "true or false", "", "a string", "a list",
                                         "an object" };
    if (doc->kind == DOC_NUMBER)
        config_fail(config, "%s is %.17g", key, doc->number);
    else
        config_fail(config, "%s is %s", key, kinds[doc->kind]);
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
