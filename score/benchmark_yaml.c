/* YAML as programs write it (benchmark_parts.h): blocks of "name: value" and "- value" by indentation,
 * scalars plain or in quotation marks, and JSON in a line. Anchors, tags and texts over several lines are
 * errors, except block texts after | and >, which are left out. */
#include "score/benchmark_parts.h"

#include <math.h>
#include <string.h>

enum { DEPTH_MOST = 64 };

struct yaml_line {
    int number, indent;
    struct text text;                   /* without its indentation and comment */
};

struct yaml {
    struct arena *arena;
    const char *file;
    struct yaml_line *lines;
    size_t count, room, at;
    struct error *error;
};

static bool wrong(const struct yaml *yaml, const struct yaml_line *line, const char *expected)
{
    error_set(yaml->error, "%s:%d: '%.*s' is not understood as YAML", yaml->file, line->number,
              (int)(line->text.size < 40 ? line->text.size : 40), line->text.data);
    return error_expected(yaml->error, "%s", expected);
}

/* Without a comment that begins after a space, outside of quotation marks. */
static struct text without_comment(struct text text)
{
    char quote = 0;
    for (size_t i = 0; i < text.size; i++)
        if (quote ? text.data[i] == quote : text.data[i] == '"' || text.data[i] == '\'')
            quote = quote ? 0 : i && text.data[i - 1] != ' ' ? 0 : text.data[i];
        else if (!quote && text.data[i] == '#' && (!i || text.data[i - 1] == ' '))
            text.size = i;
    return text_trim(text);
}

static void read_lines(struct yaml *yaml, struct text text)
{
    for (int number = 1; text.size; number++) {
        const struct text line = text_line(&text);
        int indent = 0;
        while ((size_t)indent < line.size && line.data[indent] == ' ')
            indent++;
        const struct text content = without_comment(line);
        if (!content.size || text_is(content, "---") || text_is(content, "..."))
            continue;
        *(struct yaml_line *)arena_push(yaml->arena, &yaml->lines, &yaml->count, &yaml->room,
                                   sizeof(struct yaml_line)) = (struct yaml_line){ number, indent, content };
    }
}

static bool is_item(const struct yaml_line *line)
{
    return line->text.data[0] == '-' && (line->text.size == 1 || line->text.data[1] == ' ');
}

/* The size of the name before ": " or a ':' at the end; 0: there is none. */
static size_t name_size(struct text text)
{
    char quote = text.data[0] == '"' || text.data[0] == '\'' ? text.data[0] : 0;
    for (size_t i = quote ? 1 : 0; i < text.size; i++) {
        if (quote && text.data[i] == quote)
            quote = 0;
        else if (!quote && text.data[i] == ':' && (i + 1 == text.size || text.data[i + 1] == ' '))
            return i;
    }
    return 0;
}

static const char *unquoted(struct arena *arena, struct text text)
{
    if (text.size >= 2 && (text.data[0] == '"' || text.data[0] == '\'') &&
        text.data[text.size - 1] == text.data[0])
        text.data++, text.size -= 2;
    return arena_copy(arena, text.data, text.size);
}

static bool read_scalar(struct yaml *yaml, const struct yaml_line *line, struct text text, struct doc *doc)
{
    static const struct { const char *word; enum doc_kind kind; double number; } words[] = {
        { "null", DOC_NULL, 0 }, { "~", DOC_NULL, 0 }, { ".nan", DOC_NULL, 0 }, { "true", DOC_BOOL, 1 },
        { "false", DOC_BOOL, 0 }, { ".inf", DOC_NUMBER, INFINITY }, { "-.inf", DOC_NUMBER, -INFINITY },
    };
    if (text.data[0] == '{' || text.data[0] == '[') {
        int number = line->number;
        struct doc *value;
        if (!json_next(yaml->arena, yaml->file, &text, &number, &value, yaml->error))
            return false;
        value->key = doc->key, value->next = doc->next;
        *doc = *value;
        return true;
    }
    if (strchr("&*!%@`", text.data[0]))
        return wrong(yaml, line, "a plain or quoted value, without anchors and tags");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (text_is(text, words[i].word)) {
            doc->kind = words[i].kind, doc->boolean = words[i].number > 0, doc->number = words[i].number;
            return true;
        }
    doc->kind = text_number(text, &doc->number) ? DOC_NUMBER : DOC_STRING;
    doc->string = doc->kind == DOC_STRING ? unquoted(yaml->arena, text) : NULL;
    return true;
}

static bool read_block(struct yaml *yaml, int indent, struct doc *doc, int depth);

/* What stands after "name:" or, if that is nothing, the deeper block below it. */
static bool read_value(struct yaml *yaml, const struct yaml_line *line, struct text rest, bool named,
                       struct doc *doc, int depth)
{
    rest = text_trim(rest);
    if (rest.size && (rest.data[0] == '|' || rest.data[0] == '>')) {
        while (yaml->at < yaml->count && yaml->lines[yaml->at].indent > line->indent)
            yaml->at++;
        return true;
    }
    if (rest.size)
        return read_scalar(yaml, line, rest, doc);
    if (yaml->at == yaml->count)
        return true;
    const struct yaml_line *next = &yaml->lines[yaml->at];
    if (next->indent > line->indent || (named && next->indent == line->indent && is_item(next)))
        return read_block(yaml, next->indent, doc, depth + 1);
    return true;
}

/* "- name: value" begins an object that is indented by what stands before the name. */
static bool read_item(struct yaml *yaml, struct yaml_line *line, struct doc *doc, int depth)
{
    struct text rest = { line->text.data + 1, line->text.size - 1 };
    rest = text_trim(rest);
    if (!rest.size || rest.data[0] == '{' || rest.data[0] == '[' ||
        (!name_size(rest) && !(rest.data[0] == '-' && rest.size > 1 && rest.data[1] == ' '))) {
        yaml->at++;
        return read_value(yaml, line, rest, false, doc, depth);
    }
    line->indent += (int)(rest.data - line->text.data);
    line->text = rest;
    return read_block(yaml, line->indent, doc, depth + 1);
}

static bool read_entry(struct yaml *yaml, const struct yaml_line *line, const char **key, struct doc *kid,
                       int depth)
{
    const size_t size = name_size(line->text);
    if (!size)
        return wrong(yaml, line, "name: value");
    *key = unquoted(yaml->arena, text_trim((struct text){ line->text.data, size }));
    yaml->at++;
    const struct text rest = { line->text.data + size + 1, line->text.size - size - 1 };
    return read_value(yaml, line, rest, true, kid, depth);
}

static bool read_block(struct yaml *yaml, int indent, struct doc *doc, int depth)
{
    const bool items = is_item(&yaml->lines[yaml->at]);
    doc->kind = items ? DOC_ARRAY : DOC_OBJECT;
    doc->number = yaml->lines[yaml->at].number;
    if (depth == DEPTH_MOST)
        return wrong(yaml, &yaml->lines[yaml->at], "at most 64 levels");
    while (yaml->at < yaml->count && yaml->lines[yaml->at].indent >= indent) {
        struct yaml_line *line = &yaml->lines[yaml->at];
        const char *key = NULL;
        struct doc *kid = doc_new(yaml->arena, DOC_NULL);
        if (line->indent == indent && is_item(line) != items)
            return items || wrong(yaml, line, "name: value, as in the lines above");
        if (line->indent > indent)
            return wrong(yaml, line, "the indentation of the lines above");
        if (!(items ? read_item(yaml, line, kid, depth) : read_entry(yaml, line, &key, kid, depth)))
            return false;
        doc_put(doc, key, kid);
    }
    return true;
}

bool yaml_read(struct arena *arena, const char *file, struct text text, struct doc **doc, struct error *error)
{
    struct yaml yaml = { .arena = arena, .file = file, .error = error };
    *doc = doc_new(arena, DOC_NULL);
    if (!text_check_lines(text, file, error))
        return false;
    read_lines(&yaml, text);
    if (!yaml.count)
        return error_set(error, "%s: the file is empty", file) || error_expected(error, "the YAML that a benchmark tool wrote");
    if (!read_block(&yaml, yaml.lines[0].indent, *doc, 0))
        return false;
    return yaml.at == yaml.count || wrong(&yaml, &yaml.lines[yaml.at], "the indentation of the lines above");
}
