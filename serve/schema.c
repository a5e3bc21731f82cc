/* JSON schemas of answers, from the records that verbs declare, so that a client generated from
 * the API has a named, typed field for every row.
 *
 * The unit and the meaning of a row's field come from the row. A number that is NaN or infinite
 * does not exist in an answer: it is null, and the schema says so. Records may share others; each
 * is described once and referenced. */
#include "serve/http_server.h"

#include <string.h>

struct schemas {
    struct arena *arena;
    const struct formulas *formulas;
    struct doc *all;                /* by name */
};

static void add_record(struct schemas *schemas, const struct record *record);

static void add_type(struct schemas *schemas, struct doc *one, const char *type, const char *help)
{
    if (type)
        doc_add_string(schemas->arena, one, "type", type);
    if (help)
        doc_add_string(schemas->arena, one, "description", help);
}

static void add_types(struct schemas *schemas, struct doc *one, const char *type, const char *other)
{
    struct doc *types = doc_add(schemas->arena, one, "type", DOC_ARRAY);
    doc_add_string(schemas->arena, types, NULL, type);
    doc_add_string(schemas->arena, types, NULL, other);
}

/* Nothing in an answer is NaN or infinite: such a number is null. */
static void add_number(struct schemas *schemas, struct doc *one, const char *unit,
                       const char *help, bool null)
{
    if (null)
        add_types(schemas, one, "number", "null");
    else
        doc_add_string(schemas->arena, one, "type", "number");
    if (!unit || *unit)
        doc_add_string(schemas->arena, one, "x-unit", unit ? unit : "1");
    if (help)
        doc_add_string(schemas->arena, one, "description", help);
}

static void add_reference(struct schemas *schemas, struct doc *one, const struct record *record)
{
    add_record(schemas, record);
    doc_add_string(schemas->arena, one, "$ref",
                   arena_print(schemas->arena, "#/components/schemas/%s", record->name));
}

static void add_items(struct schemas *schemas, struct doc *one, const char *type)
{
    struct doc *items = doc_add(schemas->arena, one, "items", DOC_OBJECT);
    doc_add_string(schemas->arena, items, "type", type);
}

static void add_object(struct schemas *schemas, struct doc *one, const struct answer_field *field)
{
    if (!field->record) {
        add_type(schemas, one, "object", field->help);
        doc_add_bool(schemas->arena, one, "additionalProperties", true);
    } else if (!field->null) {
        add_reference(schemas, one, field->record);
        doc_add_string(schemas->arena, one, "description", field->help);
    } else {
        struct doc *either = doc_add(schemas->arena, one, "anyOf", DOC_ARRAY);
        add_reference(schemas, doc_add(schemas->arena, either, NULL, DOC_OBJECT), field->record);
        doc_add_string(schemas->arena, doc_add(schemas->arena, either, NULL, DOC_OBJECT), "type",
                       "null");
        doc_add_string(schemas->arena, one, "description", field->help);
    }
}

static void add_text(struct schemas *schemas, struct doc *one, const struct answer_field *field)
{
    if (!field->null) {
        add_type(schemas, one, "string", field->help);
        return;
    }
    add_types(schemas, one, "string", "null");
    doc_add_string(schemas->arena, one, "description", field->help);
}

/* Write the JSON schema of one field into `one`. */
static void add_schema(struct schemas *schemas, struct doc *one, const struct answer_field *field)
{
    struct doc *list;
    switch (field->kind) {
    case FIELD_TEXT:
        add_text(schemas, one, field);
        list = field->count ? doc_add(schemas->arena, one, "enum", DOC_ARRAY) : NULL;
        for (size_t i = 0; i < field->count; i++)
            doc_add_string(schemas->arena, list, NULL, field->names[i]);
        break;
    case FIELD_SWITCH:
        add_type(schemas, one, "boolean", field->help);
        break;
    case FIELD_VALUE:
        add_types(schemas, one, "number", "string");
        doc_add_string(schemas->arena, one, "description", field->help);
        break;
    case FIELD_TEXTS:
        if (field->null)
            add_types(schemas, one, "array", "null");
        add_type(schemas, one, field->null ? NULL : "array", field->help);
        add_items(schemas, one, "string");
        break;
    case FIELD_NUMBERS:
        add_type(schemas, one, "array", field->help);
        add_items(schemas, one, "number");
        break;
    case FIELD_LIST:
        add_type(schemas, one, "array", field->help);
        list = doc_add(schemas->arena, one, "items", DOC_OBJECT);
        if (field->record)
            add_reference(schemas, list, field->record);
        break;
    case FIELD_RECORD:
        add_object(schemas, one, field);
        break;
    default:
        if (field->record) {        /* a number, or of several runs what they make together */
            list = doc_add(schemas->arena, one, "anyOf", DOC_ARRAY);
            add_number(schemas, doc_add(schemas->arena, list, NULL, DOC_OBJECT), field->unit, field->help,
                       field->null);
            add_reference(schemas, doc_add(schemas->arena, list, NULL, DOC_OBJECT), field->record);
        } else {
            add_number(schemas, one, field->unit, field->help, field->null);
        }
    }
}

/* A new property, or NULL where a field before has it already. */
static struct doc *new_property(struct schemas *schemas, struct doc *properties,
                                struct doc *required, const char *key, bool always)
{
    if (doc_get(properties, key))
        return NULL;
    if (always)
        doc_add_string(schemas->arena, required, NULL, key);
    return doc_add(schemas->arena, properties, key, DOC_OBJECT);
}

/* A row under a key: its name, or another that the answer has for it. */
static void add_row(struct schemas *schemas, struct doc *properties, struct doc *required,
                    const struct row *row, const char *key, bool always)
{
    struct doc *one = new_property(schemas, properties, required, key, always);
    if (!one)
        return;
    add_number(schemas, one, row_unit_text(row), row_meaning(row), true);
    if (strcmp(key, row_name(row)))
        doc_add_string(schemas->arena, one, "x-row", row_name(row));
}

static void add_rows(struct schemas *schemas, struct doc *properties, struct doc *required,
                     const struct answer_field *field)
{
    const struct formulas *formulas = schemas->formulas;
    for (size_t i = 0; i < field->count; i++) {
        const int index = field->names[i] ? formulas_find(formulas, field->names[i]) : -1;
        if (index < 0)
            continue;               /* an expression, which has no key of its own */
        add_row(schemas, properties, required, formulas_row(formulas, index),
                field->keys ? field->keys[i] : field->names[i], field->always);
        for (size_t k = 0; field->aliases && k < formulas->alias_count; k++)
            if (formulas->aliases[k].row == index)
                add_row(schemas, properties, required, formulas_row(formulas, index), formulas->aliases[k].name,
                        field->always);
    }
}

/* Whatever keys there are beside those that are named. */
static void add_others(struct schemas *schemas, struct doc *record, const struct answer_field *field)
{
    struct doc *one = doc_add(schemas->arena, record, "additionalProperties", DOC_OBJECT);
    if (!field->record) {
        add_number(schemas, one, field->unit, field->help, field->null);
    } else if (!field->arrays) {
        add_reference(schemas, one, field->record);
    } else {
        struct doc *either = doc_add(schemas->arena, one, "anyOf", DOC_ARRAY);
        add_reference(schemas, doc_add(schemas->arena, either, NULL, DOC_OBJECT), field->record);
        doc_add_string(schemas->arena, doc_add(schemas->arena, either, NULL, DOC_OBJECT), "type",
                       "array");
    }
}

static void add_fields(struct schemas *schemas, struct doc *record, struct doc *properties,
                       struct doc *required, const struct record *of)
{
    for (const struct answer_field *field = of->fields; field->kind != FIELD_END; field++) {
        struct doc *one;
        if (field->kind == FIELD_TEXT_ONLY)
            continue;
        if (field->kind == FIELD_ALSO) {
            add_fields(schemas, record, properties, required, field->record);
        } else if (field->kind == FIELD_OTHERS) {
            add_others(schemas, record, field);
        } else if (field->kind == FIELD_ROWS) {
            add_rows(schemas, properties, required, field);
        } else if (field->key) {
            one = new_property(schemas, properties, required, field->key, field->always);
            if (one)
                add_schema(schemas, one, field);
        } else {
            for (size_t i = 0; i < field->count; i++)
                if (field->names[i] && (one = new_property(schemas, properties, required,
                                                           field->names[i], field->always)))
                    add_schema(schemas, one, field);
        }
    }
}

static void add_record(struct schemas *schemas, const struct record *record)
{
    if (doc_get(schemas->all, record->name))
        return;
    struct doc *one = doc_add(schemas->arena, schemas->all, record->name, DOC_OBJECT);
    struct doc *properties = doc_new(schemas->arena, DOC_OBJECT);
    struct doc *required = doc_new(schemas->arena, DOC_ARRAY);
    doc_add_string(schemas->arena, one, "type", "object");
    add_fields(schemas, one, properties, required, record);
    if (required->count)
        doc_put(one, "required", required);
    if (properties->count)
        doc_put(one, "properties", properties);
}

void schema_add(struct arena *arena, struct doc *all, const struct formulas *formulas,
                const struct record *record)
{
    add_record(&(struct schemas){ arena, formulas, all }, record);
}
