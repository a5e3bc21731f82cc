/* Documents as YAML, in a subset that all readers agree on: block style with two spaces; strings
 * plain where they are words or flags, as block scalars where they have several lines, and quoted
 * as in JSON otherwise.
 *
 * A string that some YAML version takes for a boolean, null, a number or a date is always quoted. */
#include "deploy/launch/launch.h"

#include <string.h>

/* What no reader takes for something else: true, no, null, 1e3, a date, an item of a list. */
static bool is_word(const char *text)
{
    static const char *const taken[] = { "true", "false", "null", "yes", "no", "on", "off",
                                         "y", "n" };
    static const char begin[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_-./";
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (name_same(text, taken[i]))
            return false;
    if (!strncmp(text, "--", 2))
        text += 2;
    return *text && strchr(begin, *text) && text[strspn(text, rest)] == '\0';
}

static bool has_lines(const char *text)
{
    const size_t size = strlen(text);
    return size > 1 && text[size - 1] == '\n' && *text != ' ' && *text != '\n' &&
           text[size - 2] != '\n' && text_plain(text_of(text), "\n") == size;
}

static void print_lines(struct buffer *out, const char *text, int depth)
{
    struct text rest = text_of(text);
    buffer_print(out, "|\n");
    while (rest.size) {
        struct text line = text_line(&rest);
        buffer_print(out, "%*s%.*s\n", 2 * depth, "", (int)line.size, line.data);
    }
}

/* A string on one line, a key or a value. */
static void print_string(struct buffer *out, const char *string)
{
    struct buffer text = { .arena = out->arena };
    doc_print(&text, &(struct doc){ .kind = DOC_STRING, .string = string });
    text.size--;                                /* without the end of the line */
    buffer_add(out, is_word(string) ? string : text.data, is_word(string) ? strlen(string)
                                                                          : text.size);
}

static void print_scalar(struct buffer *out, const struct doc *doc, int depth)
{
    struct buffer text = { .arena = out->arena };
    if (doc->kind == DOC_STRING && has_lines(doc->string)) {
        print_lines(out, doc->string, depth);
        return;
    }
    if (doc->kind == DOC_STRING) {
        print_string(out, doc->string);
        buffer_print(out, "\n");
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
        print_scalar(out, doc, depth);
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
            print_string(out, kid->key);
            buffer_print(out, ":");
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

void launch_yaml(struct buffer *out, const struct doc *doc)
{
    print_block(out, doc, 0, false);
}
