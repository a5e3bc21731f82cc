/* In a page, in the place of json.c: JSON by the browser's own parser.
 *
 * The page parses the text and hands the value back as bytes, each value after the other:
 *
 *     n t f         null, true, false
 *     d ........    a number, 8 bytes
 *     s size bytes  a string; sizes are 4 bytes
 *     [ count ...   an array
 *     { count (size bytes value)...
 *     ! size bytes  what is wrong with the text
 *
 * Little-endian, as this memory is. */
#include "base/base.h"

#include <string.h>

__attribute__((import_module("page"), import_name("parse")))
const unsigned char *page_parse(const char *text, size_t size);

enum { json_depth_limit = 64 };

struct bytes {
    struct arena *arena;
    const unsigned char *at;
};

static uint32_t take_count(struct bytes *bytes)
{
    uint32_t count;
    memcpy(&count, bytes->at, sizeof count);
    bytes->at += sizeof count;
    return count;
}

static const char *take_string(struct bytes *bytes)
{
    uint32_t size = take_count(bytes);
    const char *string = arena_copy(bytes->arena, (const char *)bytes->at, size);
    bytes->at += size;
    return string;
}

static bool take_value(struct bytes *bytes, struct doc *parent, const char *key, struct doc **made,
                       int depth);

static bool take_all(struct bytes *bytes, struct doc *doc, int depth)
{
    uint32_t count = take_count(bytes);
    if (depth == json_depth_limit)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const char *key = doc->kind == DOC_OBJECT ? take_string(bytes) : NULL;
        if (!take_value(bytes, doc, key, NULL, depth + 1))
            return false;
    }
    return true;
}

static bool take_value(struct bytes *bytes, struct doc *parent, const char *key, struct doc **made,
                       int depth)
{
    char kind = (char)*bytes->at++;
    enum doc_kind kinds = kind == '{' ? DOC_OBJECT : kind == '[' ? DOC_ARRAY
                        : kind == 's' ? DOC_STRING : kind == 'd' ? DOC_NUMBER
                        : kind == 'n' ? DOC_NULL : DOC_BOOL;
    struct doc *doc = parent ? doc_add(bytes->arena, parent, key, kinds)
                             : doc_new(bytes->arena, kinds);
    if (made)
        *made = doc;
    doc->boolean = kind == 't';
    if (kinds == DOC_STRING)
        doc->string = take_string(bytes);
    if (kinds == DOC_NUMBER) {
        memcpy(&doc->number, bytes->at, sizeof doc->number);
        bytes->at += sizeof doc->number;
    }
    return (kinds != DOC_OBJECT && kinds != DOC_ARRAY) || take_all(bytes, doc, depth);
}

bool json_read(struct arena *arena, const char *file, struct text text, struct doc **doc,
               struct error *error)
{
    text = text_without_mark(text);
    struct bytes bytes = { arena, page_parse(text.data, text.size) };
    if (*bytes.at == '!') {
        bytes.at++;
        error_set(error, "%s: %.300s", file, take_string(&bytes));
        return error_expected(error, "one JSON value");
    }
    return take_value(&bytes, NULL, NULL, doc, 0) ||
           error_set(error, "%s: nested more than %d levels deep", file, json_depth_limit);
}
