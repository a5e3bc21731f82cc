/* The live page for a report to bring along: packed, with the answer, behind a link in its foot. */
#include "serve/http_server.h"

#include <string.h>

#define BEFORE "<script id=\"state\" type=\"application/json\">"

/* The JSON of the words, and of their answer as `respond` wrote it. */
static void print_state(struct arena *arena, int count, char **words, const struct buffer *answer,
                        struct buffer *out)
{
    struct doc *list = doc_new(arena, DOC_ARRAY);
    for (int i = 1; i < count; i++)
        doc_add(arena, list, NULL, DOC_STRING)->string = words[i];
    buffer_print(out, "{\"words\": ");
    doc_print(out, list);
    buffer_print(out, ", \"answer\": ");
    buffer_add(out, answer->data, answer->size);
    buffer_print(out, "}");
}

/* Only a "<" could end a script or begin something in it; it stands in strings, where JSON has
 * another spelling. */
void report_add_json(struct buffer *html, const char *json)
{
    for (; *json; json++)
        if (*json == '<')
            buffer_add(html, "\\u003c", 6);
        else
            buffer_add(html, json, 1);
}

static void add_base64(struct buffer *out, struct text text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { THREE = 3, SIX = 63 };
    for (size_t i = 0; i < text.size; i += THREE) {
        char four[5] = "====";
        unsigned bits = 0;
        for (size_t k = 0; k < THREE; k++)
            bits = bits << 8 | (i + k < text.size ? (unsigned char)text.data[i + k] : 0u);
        for (size_t k = 0; k < 4 && i + k <= text.size; k++)
            four[k] = letters[bits >> (18 - 6 * k) & SIX];
        buffer_add(out, four, 4);
    }
}

/* What an error of the answer says, out of its JSON. */
static bool answer_failed(struct arena *arena, const struct buffer *answer, struct error *error)
{
    struct doc *doc;
    if (!json_read(arena, "answer", (struct text){ answer->data, answer->size }, &doc, error))
        return false;
    const struct doc *said = doc_get(doc, "error");
    error_set(error, "%s", doc_get(said, "what")->string);
    return doc_get(said, "expected") ? error_expected(error, "%s", doc_get(said, "expected")->string)
                                     : error_suggest(error, "%s", doc_get(said, "hint")->string);
}

static const char script[] =
    "<script>document.getElementById(\"live\").addEventListener(\"click\", async event => {\n"
    "  event.preventDefault();\n"
    "  const text = id => document.getElementById(id).textContent;\n"
    "  const packed = Uint8Array.from(atob(text(\"page\")), c => c.charCodeAt(0));\n"
    "  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream(\"gzip\"));\n"
    "  const page = await new Response(stream).text(), state = text(\"answer\");\n"
    "  const place = '<script id=\"state\" type=\"application/json\">';\n"
    "  document.open();\n"
    "  document.write(page.replace(place + \"null\", () => place + state));\n"
    "  document.close();\n"
    "});</script>\n";

bool report_live(struct arena *arena, const struct embedded *page, int count, char **words, const char **live,
                 struct error *error)
{
    struct buffer answer = { .arena = arena }, state = { .arena = arena }, out = { .arena = arena };
    struct text packed, plain;
    if (!handout_there(page, &packed, error) || !handout_unpack(arena, packed, &plain, error))
        return false;
    if (!strstr(plain.data, BEFORE "null</script>"))
        return error_set(error, "the page in this chalkline has no line for a state");
    if (!respond(arena, count, words, &answer))
        return answer_failed(arena, &answer, error);
    print_state(arena, count, words, &answer, &state);
    buffer_print(&out, "<script id=\"answer\" type=\"application/json\">");
    report_add_json(&out, state.data);
    buffer_print(&out, "</script>\n<script id=\"page\" type=\"application/octet-stream\">");
    add_base64(&out, packed);
    buffer_print(&out, "</script>\n%s", script);
    *live = out.data;
    return true;
}
