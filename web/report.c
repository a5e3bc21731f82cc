/* The page with its answer inside. */
#include "web/http_server.h"

#include <string.h>

#define BEFORE "<script id=\"state\" type=\"application/json\">"
#define NULL_STATE "null"
static const char place[] = BEFORE NULL_STATE "</script>";

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

bool report_page(struct arena *arena, const struct embedded *page, int count, char **words,
                 struct buffer *html, struct error *error)
{
    struct buffer answer = { .arena = arena }, state = { .arena = arena };
    struct text packed, plain;
    if (!handout_there(page, &packed, error) || !handout_unpack(arena, packed, &plain, error))
        return false;
    const char *found = strstr(plain.data, place);
    if (!found)
        return error_set(error, "the page in this chalkline has no line for a state");
    if (!respond(arena, count, words, &answer))
        return answer_failed(arena, &answer, error);
    print_state(arena, count, words, &answer, &state);
    size_t before = (size_t)(found - plain.data) + sizeof BEFORE - 1;
    size_t after = before + sizeof NULL_STATE - 1;
    buffer_add(html, plain.data, before);
    report_add_json(html, state.data);
    buffer_add(html, plain.data + after, plain.size - after);
    return true;
}
