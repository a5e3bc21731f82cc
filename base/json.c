/* JSON by jansson, as a document. */
#include "base/base.h"

#include <jansson.h>
#include <string.h>

/* A configuration is kilobytes and some dozen levels deep at most; a price list or a
 * trace may be long, but not deep. */
enum { json_size_limit = 256 << 20, json_depth_limit = 64 };

static bool convert(struct arena *arena, const char *file, const json_t *json, const char *key,
                    struct doc *parent, struct doc **made, int depth, struct error *error);

static bool convert_children(struct arena *arena, const char *file, const json_t *json,
                             struct doc *doc, int depth, struct error *error)
{
    if (depth == json_depth_limit)
        return error_set(error, "%s: nested more than %d levels deep", file, json_depth_limit) ||
               error_expected(error, "arrays and objects in fewer levels");
    if (json_is_array(json)) {
        size_t count = json_array_size(json);
        for (size_t i = 0; i < count; i++)
            if (!convert(arena, file, json_array_get(json, i), NULL, doc, NULL, depth + 1, error))
                return false;
        return true;
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
        if (!convert(arena, file, value, key, doc, NULL, depth + 1, error))
            return false;
    return true;
}

static bool convert(struct arena *arena, const char *file, const json_t *json, const char *key,
                    struct doc *parent, struct doc **made, int depth, struct error *error)
{
    enum doc_kind kind = json_is_object(json) ? DOC_OBJECT : json_is_array(json) ? DOC_ARRAY
                       : json_is_string(json) ? DOC_STRING : json_is_number(json) ? DOC_NUMBER
                       : json_is_boolean(json) ? DOC_BOOL : DOC_NULL;
    struct doc *doc = parent ? doc_add(arena, parent, key, kind) : doc_new(arena, kind);
    if (made)
        *made = doc;
    doc->number = json_number_value(json);
    doc->boolean = json_is_true(json);
    if (kind == DOC_STRING)
        doc->string = arena_copy(arena, json_string_value(json), json_string_length(json));
    if (kind != DOC_OBJECT && kind != DOC_ARRAY)
        return true;
    return convert_children(arena, file, json, doc, depth, error);
}

/* Python writes Infinity and -Infinity, which JSON does not have: the text "inf" or "-inf" over them, the
 * rest blank, so that columns in messages stay true. It is no "null": a question that has it would lose an option. */
static void quote_infinity(char *data, size_t size)
{
    static const char infinity[] = "Infinity";
    size_t length = sizeof infinity - 1;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '"')
            quoted = !quoted;
        else if (quoted)
            i += data[i] == '\\';
        else if (i + length <= size && !memcmp(data + i, infinity, length)) {
            const bool negative = i && data[i - 1] == '-';
            memcpy(data + i - negative, negative ? "\"-inf\"   " : "\"inf\"   ", length + negative);
            i += length - 1;
        }
    }
}

static void forget(void *json)
{
    json_decref(json);
}

bool json_read(struct arena *arena, const char *file, struct text text, struct doc **doc,
               struct error *error)
{
    text = text_without_mark(text);
    if (text.size > json_size_limit)
        return error_set(error, "%s: %zu bytes of JSON; at most %d are read", file, text.size,
                         (int)json_size_limit);
    if (!text_trim(text).size) {
        error_set(error, "%s: the file is empty", file);
        return error_expected(error, "one JSON value");
    }
    char *copy = arena_copy(arena, text.data, text.size);
    quote_infinity(copy, text.size);
    json_error_t problem;
    struct holding *held = arena_hold(arena, forget, NULL);
    json_t *json = held->what = json_loadb(copy, text.size,
                              JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL | JSON_DECODE_ANY,
                              &problem);
    if (!json && !*problem.text)
        arena_exhausted(arena);
    if (!json) {
        const enum json_error_code code = json_error_code(&problem);      /* libjansson explains two of them by its own flags */
        error_set(error, "%s:%d:%d: %s", file, problem.line, problem.column,
                  code == json_error_null_character || code == json_error_null_byte_in_key
                  ? "a string has \\u0000" : problem.text);
        error_expected(error, "one JSON value, each name once in its object");
    }
    bool good = json && convert(arena, file, json, NULL, NULL, doc, 0, error);
    arena_let_go(held);
    return good;
}
