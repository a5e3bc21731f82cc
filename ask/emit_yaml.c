/* Documents as YAML, in the subset that all readers agree on: blocks of two spaces, and strings
 * as JSON writes them unless they are plain words. */
#include "ask/emit.h"

#include <string.h>

/* A word that no reader takes for something else: true, no, null, 1e3, a date. */
static bool is_word(const char *text)
{
    static const char *const taken[] = { "true", "false", "null", "yes", "no", "on", "off",
                                         "y", "n" };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_-./";
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (name_same(text, taken[i]))
            return false;
    return *text && strchr(letters, *text) && text[strspn(text, rest)] == '\0';
}

static void print_scalar(struct buffer *out, const struct doc *doc)
{
    struct buffer text = { .arena = out->arena };
    if (doc->kind == DOC_STRING && is_word(doc->string)) {
        buffer_print(out, "%s\n", doc->string);
        return;
    }
    doc_print(&text, doc);                      /* with the end of a line */
    buffer_add(out, text.data, text.size);
}

static void print_block(struct buffer *out, const struct doc *doc, int depth, bool begun);

static void print_value(struct buffer *out, const struct doc *doc, int depth)
{
    if (doc->kind != DOC_OBJECT && doc->kind != DOC_ARRAY) {
        buffer_print(out, " ");
        print_scalar(out, doc);
    } else if (!doc->first) {
        buffer_print(out, doc->kind == DOC_OBJECT ? " {}\n" : " []\n");
    } else {
        buffer_print(out, "\n");
        print_block(out, doc, depth, false);
    }
}

/* `begun`: the line has its indent already, behind the dash of a list. */
static void print_block(struct buffer *out, const struct doc *doc, int depth, bool begun)
{
    for (const struct doc *kid = doc->first; kid; kid = kid->next, begun = false) {
        buffer_print(out, "%*s", begun ? 0 : 2 * depth, "");
        if (doc->kind == DOC_OBJECT) {
            buffer_print(out, "%s:", kid->key);
            print_value(out, kid, depth + 1);
        } else if (kid->kind == DOC_OBJECT && kid->first) {
            buffer_print(out, "- ");
            print_block(out, kid, depth + 1, true);
        } else {
            buffer_print(out, "-");
            print_value(out, kid, depth + 1);
        }
    }
}

void emit_yaml(struct buffer *out, const struct doc *doc)
{
    print_block(out, doc, 0, false);
}
