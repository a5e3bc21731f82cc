/* Documents: trees of objects, arrays, strings, numbers and booleans, and their text as JSON.
 *
 * A number is printed with the fewest digits that read back to the same bits; one that is NaN or
 * infinite is null. Strings are escaped such that no control character and no invalid UTF-8
 * reaches the output: a byte that is not valid becomes U+FFFD. Keys keep their order. */
#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct doc *doc_new(struct arena *arena, enum doc_kind kind)
{
    struct doc *doc = arena_alloc(arena, sizeof *doc);
    doc->kind = kind;
    return doc;
}

void doc_put(struct doc *parent, const char *key, struct doc *kid)
{
    if (!parent)
        return;
    kid->key = key;
    if (parent->last)
        parent->last->next = kid;
    else
        parent->first = kid;
    parent->last = kid;
    parent->count++;
}

struct doc *doc_add(struct arena *arena, struct doc *parent, const char *key, enum doc_kind kind)
{
    if (!parent)
        return NULL;
    struct doc *doc = doc_new(arena, kind);
    doc_put(parent, key ? arena_copy(arena, key, strlen(key)) : NULL, doc);
    return doc;
}

struct doc *doc_copy(struct arena *arena, const struct doc *doc)
{
    struct doc *copy = doc_new(arena, doc->kind);
    copy->boolean = doc->boolean;
    copy->number = doc->number;
    copy->string = doc->string ? arena_copy(arena, doc->string, strlen(doc->string)) : NULL;
    for (const struct doc *one = doc->first; one; one = one->next)
        doc_put(copy, one->key ? arena_copy(arena, one->key, strlen(one->key)) : NULL, doc_copy(arena, one));
    return copy;
}

void doc_add_number(struct arena *arena, struct doc *object, const char *key, double number)
{
    if (object)
        doc_add(arena, object, key, DOC_NUMBER)->number = number;
}

void doc_add_string(struct arena *arena, struct doc *object, const char *key, const char *string)
{
    if (object)
        doc_add(arena, object, key, DOC_STRING)->string = arena_copy(arena, string, strlen(string));
}

void doc_add_bool(struct arena *arena, struct doc *object, const char *key, bool boolean)
{
    if (object)
        doc_add(arena, object, key, DOC_BOOL)->boolean = boolean;
}

const struct doc *doc_get(const struct doc *object, const char *key)
{
    if (!object || object->kind != DOC_OBJECT)
        return NULL;
    for (const struct doc *child = object->first; child; child = child->next)
        if (*child->key == *key && !strcmp(child->key, key))
            return child;
    return NULL;
}

const char *doc_text(const struct doc *object, const char *key, const char *absent)
{
    const struct doc *doc = doc_get(object, key);
    return doc && doc->kind == DOC_STRING ? doc->string : absent;
}

double doc_number(const struct doc *object, const char *key, double absent)
{
    const struct doc *doc = doc_get(object, key);
    return doc && doc->kind == DOC_NUMBER ? doc->number : absent;
}

bool doc_is(const struct doc *doc, bool value)
{
    return doc && doc->kind == DOC_BOOL && doc->boolean == value;
}

/* ---- JSON ------------------------------------------------------------------------- */

/* What is no plain text is escaped, for terminals and for readers of YAML; a byte that is no UTF-8,
 * of a stranger or of a message cut short, becomes U+FFFD. */
static void print_string(struct buffer *out, const char *string)
{
    buffer_add(out, "\"", 1);
    for (struct text rest = text_of(string); rest.size;) {
        uint32_t code;
        size_t size = text_character(rest, &code);
        struct text one = { rest.data, size };
        if (code == '"' || code == '\\')
            buffer_print(out, "\\%c", (int)code);
        else if (!size)
            buffer_print(out, "\\ufffd");
        else if (!text_plain(one, ""))
            buffer_print(out, "\\u%04x", (unsigned)code);     /* all of them are below 0x10000 */
        else
            buffer_add(out, one.data, one.size);
        rest.data += size ? size : 1, rest.size -= size ? size : 1;
    }
    buffer_add(out, "\"", 1);
}

void buffer_number(struct buffer *out, double number)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {     /* shortest that reads back */
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    buffer_print(out, "%s", isfinite(number) ? text : "null");
}

static void print_indent(struct buffer *out, int depth)
{
    buffer_print(out, "\n%*s", 2 * depth, "");
}

static void print_doc(struct buffer *out, const struct doc *doc, int depth)
{
    switch (doc->kind) {
    case DOC_NULL:   buffer_print(out, "null"); return;
    case DOC_BOOL:   buffer_print(out, doc->boolean ? "true" : "false"); return;
    case DOC_NUMBER: buffer_number(out, doc->number); return;
    case DOC_STRING: print_string(out, doc->string); return;
    case DOC_ARRAY:
    case DOC_OBJECT: break;
    }
    bool object = doc->kind == DOC_OBJECT;
    buffer_print(out, object ? "{" : "[");
    for (const struct doc *child = doc->first; child; child = child->next) {
        print_indent(out, depth + 1);
        if (object) {
            print_string(out, child->key);
            buffer_print(out, ": ");
        }
        print_doc(out, child, depth + 1);
        if (child->next)
            buffer_print(out, ",");
    }
    if (doc->first)
        print_indent(out, depth);
    buffer_print(out, object ? "}" : "]");
}

void doc_print(struct buffer *out, const struct doc *doc)
{
    print_doc(out, doc, 0);
    buffer_print(out, "\n");
}

void error_document(struct arena *arena, const struct error *error, struct doc *object)
{
    struct doc *said = doc_add(arena, object, "error", DOC_OBJECT);
    doc_add_string(arena, said, "what", error->what);
    doc_add_string(arena, said, "hint", error->hint);
    if (error->expected)
        doc_add_string(arena, said, "expected", error->hint);
    struct doc *similar = doc_add(arena, said, "similar", DOC_ARRAY);
    for (struct text rest = text_of(error->similar), name; rest.size;) {
        name = text_line(&rest);
        doc_add_string(arena, similar, NULL, arena_copy(arena, name.data, name.size));
    }
}
