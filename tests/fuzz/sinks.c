/* Any bytes as a text, at each place that text leaves by: what was quoted reads back as the text, and
 * no byte stands there that a terminal, a shell, gnuplot, YAML or a page acts on. */
#include "deploy/launch/launch.h"
#include "report/plot.h"
#include "serve/web.h"

#include <assert.h>
#include <string.h>

static bool is_plain(const char *text, const char *allowed)
{
    return text_plain(text_of(text), allowed) == strlen(text);
}

/* 'it'\''s' or a word of letters, as a shell reads it. */
static const char *shell_reads(struct arena *arena, const char *word)
{
    struct buffer out = { .arena = arena };
    bool quoted = false;
    buffer_add(&out, "", 0);
    for (; *word; word++) {
        if (*word == '\'')
            quoted = !quoted;
        else if (quoted || *word != '\\')
            buffer_add(&out, word, 1);
        else
            buffer_add(&out, ++word, 1);
        assert(quoted || !strpbrk(word, " \t\n$`;&|<>()\"*?[#~") || strchr(word, '\''));
    }
    assert(!quoted);
    return out.data;
}

static void shell(struct arena *arena, const char *text)
{
    struct buffer word = { .arena = arena }, comment = { .arena = arena };
    launch_word(&word, text);
    assert(!strcmp(shell_reads(arena, word.data), text));
    launch_comment(&comment, "%s", text);
    assert(*comment.data == '#' && strchr(comment.data, '\n') == comment.data + comment.size - 1);
    assert(is_plain(comment.data, "\n"));
}

static void gnuplot(struct arena *arena, const char *text)
{
    const char *string = plot_quoted(arena, text);
    assert(is_plain(string, ""));
    assert(*string == '\'' && strchr(string + 1, '\'') == string + strlen(string) - 1);
}

/* JSON reads back as the text, but for what is no UTF-8. */
static void page(struct arena *arena, const char *text)
{
    struct buffer json = { .arena = arena }, html = { .arena = arena };
    struct doc *doc = doc_new(arena, DOC_OBJECT), *read;
    struct error error;
    doc_add_string(arena, doc, text, text);
    doc_print(&json, doc);
    report_add_json(&html, json.data);
    assert(is_plain(html.data, "\n") && !strchr(html.data, '<'));
    bool reads = json_read(arena, "page", text_of(html.data), &read, &error);
    assert(reads && !strcmp(read->first->key, read->first->string));
    for (struct text rest = text_of(text), got = text_of(read->first->string); rest.size;) {
        uint32_t code, other;
        size_t size = text_character(rest, &code), taken = text_character(got, &other);
        assert(taken && other == (size ? code : 0xfffd));
        rest.data += size ? size : 1, rest.size -= size ? size : 1;
        got.data += taken, got.size -= taken;
    }
}

/* A value of one line is a plain word or JSON; lines behind a bar are those of the text. */
static void yaml(struct arena *arena, const char *text)
{
    struct buffer out = { .arena = arena }, json = { .arena = arena };
    struct doc *doc = doc_new(arena, DOC_OBJECT);
    doc_add_string(arena, doc, "key", text);
    launch_yaml(&out, doc);
    doc_print(&json, doc->first);
    assert(is_plain(out.data, "\n") && !strncmp(out.data, "key: ", 5));
    if (!strncmp(out.data + 5, "|\n", 2)) {
        struct buffer lines = { .arena = arena };
        struct text rest = { out.data + 7, out.size - 7 };
        while (rest.size) {
            struct text line = text_line(&rest);
            assert(line.size >= 2 && !memcmp(line.data, "  ", 2));
            buffer_print(&lines, "%.*s\n", (int)line.size - 2, line.data + 2);
        }
        assert(!strcmp(lines.data, text));
    } else if (out.data[5] == '"') {
        assert(!strcmp(out.data + 5, json.data));
    } else {
        assert(!strncmp(out.data + 5, text, strlen(text)) && !strcmp(out.data + 5 + strlen(text), "\n"));
        assert(!strpbrk(text, ":#{}[],&*!|>'\"%@`= "));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = { 0 };
    struct error error;
    const char *text = arena_copy(&arena, (const char *)data, size);
    struct buffer shown = { .arena = &arena };
    buffer_add_plain(&shown, text_of(text), "\n");
    assert(is_plain(shown.data, "\n"));
    assert(text_check(text_of(text), "fuzz", &error) == is_plain(text, ""));
    if (!is_plain(text, ""))
        assert(!strncmp(error.what, "fuzz: ", 6) && is_plain(error.what, ""));
    shell(&arena, text);
    gnuplot(&arena, text);
    page(&arena, text);
    yaml(&arena, text);
    arena_free(&arena);
    return 0;
}
