/* JSON as programs write it (benchmark_parts.h): values in a row, NaN and Infinity, names that stand
 * twice. */
#include "score/benchmark_parts.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { DEPTH_MOST = 64 };

struct json {
    struct arena *arena;
    const char *file, *at, *end;
    int line;
    struct error *error;
};

static bool wrong(const struct json *json, const char *expected)
{
    const size_t left = (size_t)(json->end - json->at), shown = left < 20 ? left : 20;
    if (!left)
        error_set(json->error, "%s:%d: the text ends inside a JSON value", json->file, json->line);
    else
        error_set(json->error, "%s:%d: '%.*s' is not JSON", json->file, json->line,
                  (int)strnlen(json->at, shown), json->at);
    return error_expected(json->error, "%s", expected);
}

static void skip_space(struct json *json)
{
    for (; json->at < json->end && strchr(" \t\r\n", *json->at) && *json->at; json->at++)
        json->line += *json->at == '\n';
}

static bool take_character(struct json *json, char wanted)
{
    skip_space(json);
    if (json->at == json->end || *json->at != wanted)
        return false;
    json->at++;
    return true;
}

static void add_code(struct buffer *out, uint32_t code)
{
    char text[4];
    size_t size = 0;
    if (!code || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
        code = 0xfffd;
    if (code < 0x80) {
        text[size++] = (char)code;
    } else if (code < 0x800) {
        text[size++] = (char)(0xc0 | code >> 6);
    } else if (code < 0x10000) {
        text[size++] = (char)(0xe0 | code >> 12);
        text[size++] = (char)(0x80 | (code >> 6 & 63));
    } else {
        text[size++] = (char)(0xf0 | code >> 18);
        text[size++] = (char)(0x80 | (code >> 12 & 63));
        text[size++] = (char)(0x80 | (code >> 6 & 63));
    }
    if (code >= 0x80)
        text[size++] = (char)(0x80 | (code & 63));
    buffer_add(out, text, size);
}

/* Four hexadecimal digits after "\u". */
static bool hex(struct json *json, uint32_t *code)
{
    *code = 0;
    if (json->end - json->at < 4)
        return false;
    for (int i = 0; i < 4; i++, json->at++) {
        const char *digit = strchr("0123456789abcdef", tolower((unsigned char)*json->at));
        if (!digit || !*digit)
            return false;
        *code = 16 * *code + (uint32_t)(digit - "0123456789abcdef");
    }
    return true;
}

static bool take_escape(struct json *json, struct buffer *out)
{
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    if (json->at == json->end)
        return false;
    const char letter = *json->at++;
    const char *known = letter ? strchr(letters, letter) : NULL;
    uint32_t code, low;
    if (known) {
        buffer_add(out, &means[known - letters], 1);
        return true;
    }
    if (letter != 'u' || !hex(json, &code))
        return false;
    const char *after = json->at;
    if (code >= 0xd800 && code < 0xdc00 && json->end - after > 6 && after[0] == '\\' && after[1] == 'u') {
        json->at += 2;
        if (hex(json, &low) && low >= 0xdc00 && low < 0xe000)
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        else
            json->at = after;
    }
    add_code(out, code);
    return true;
}

static bool take_string(struct json *json, const char **string)
{
    struct buffer out = { .arena = json->arena };
    buffer_add(&out, "", 0);
    if (!take_character(json, '"'))
        return wrong(json, "a name or a text in quotation marks");
    for (;;) {
        const char *from = json->at;
        while (json->at < json->end && *json->at && !strchr("\"\\\n", *json->at))
            json->at++;
        buffer_add(&out, from, (size_t)(json->at - from));
        if (json->at == json->end || *json->at == '\n' || !*json->at)
            return wrong(json, "a text that ends in a quotation mark");
        if (*json->at++ == '"')
            break;
        if (!take_escape(json, &out))
            return wrong(json, "an escape such as \\n or \\u00e9");
    }
    *string = out.data;
    return true;
}

static bool take_word(struct json *json, const char *word)
{
    const size_t size = strlen(word);
    if ((size_t)(json->end - json->at) < size || memcmp(json->at, word, size))
        return false;
    json->at += size;
    return true;
}

static bool take_scalar(struct json *json, struct doc *doc)
{
    char digits[64];
    size_t size = 0;
    static const struct { const char *word; enum doc_kind kind; double number; } words[] = {
        { "null", DOC_NULL, 0 }, { "NaN", DOC_NULL, 0 }, { "true", DOC_BOOL, 1 }, { "false", DOC_BOOL, 0 },
        { "Infinity", DOC_NUMBER, INFINITY }, { "-Infinity", DOC_NUMBER, -INFINITY },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (take_word(json, words[i].word)) {
            *doc = (struct doc){ .kind = words[i].kind, .boolean = words[i].number > 0, .key = doc->key,
                                 .number = words[i].number };
            return true;
        }
    while (json->at + size < json->end && size + 1 < sizeof digits && json->at[size] &&
           strchr("+-.eE0123456789", json->at[size]))
        digits[size] = json->at[size], size++;
    digits[size] = 0;
    doc->kind = DOC_NUMBER;
    if (!text_number((struct text){ digits, size }, &doc->number))
        return wrong(json, "a number, a text, true, false, null, [ or {");
    json->at += size;
    return true;
}

static bool take_value(struct json *json, struct doc *doc, int depth);

static bool take_kids(struct json *json, struct doc *doc, int depth)
{
    const bool object = doc->kind == DOC_OBJECT;
    const char end = object ? '}' : ']';
    doc->number = json->line;
    if (depth == DEPTH_MOST)
        return error_set(json->error, "%s:%d: nested more than %d levels deep", json->file, json->line, DEPTH_MOST) ||
               error_expected(json->error, "arrays and objects in fewer levels");
    if (take_character(json, end))
        return true;
    do {
        const char *key = NULL;
        if (object && !take_string(json, &key))
            return false;
        if (object && !take_character(json, ':'))
            return wrong(json, "':' after a name");
        struct doc *kid = doc_new(json->arena, DOC_NULL);
        if (!take_value(json, kid, depth + 1))
            return false;
        doc_put(doc, key, kid);
    } while (take_character(json, ','));
    return take_character(json, end) || wrong(json, object ? "',' or '}'" : "',' or ']'");
}

static bool take_value(struct json *json, struct doc *doc, int depth)
{
    skip_space(json);
    if (json->at == json->end)
        return wrong(json, "a value");
    doc->kind = *json->at == '{' ? DOC_OBJECT : *json->at == '[' ? DOC_ARRAY : DOC_STRING;
    if (*json->at == '"')
        return take_string(json, &doc->string);
    if (doc->kind == DOC_STRING)
        return take_scalar(json, doc);
    json->at++;
    return take_kids(json, doc, depth);
}

bool json_next(struct arena *arena, const char *file, struct text *rest, int *line, struct doc **doc,
               struct error *error)
{
    struct json json = { .arena = arena, .file = file, .at = rest->data, .end = rest->data + rest->size,
                         .line = *line, .error = error };
    *doc = NULL;
    skip_space(&json);
    if (json.at < json.end) {
        *doc = doc_new(arena, DOC_NULL);
        if (!take_value(&json, *doc, 0))
            return false;
    }
    *rest = (struct text){ json.at, (size_t)(json.end - json.at) };
    *line = json.line;
    return true;
}
