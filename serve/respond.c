/* Words to an answer as one JSON document. */
#include "serve/web.h"

void respond_error(struct arena *arena, const struct error *error, struct buffer *json)
{
    struct doc *doc = doc_new(arena, DOC_OBJECT);
    error_document(arena, error, doc);
    doc_print(json, doc);
}

bool respond_command(struct arena *arena, const struct command *command, struct buffer *json)
{
    struct error error = { .what = "" };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena,
                             .csv.arena = arena };
    struct doc *doc = doc_new(arena, DOC_OBJECT);
    if (!command_answer(arena, command, &answer, &error)) {
        respond_error(arena, &error, json);
        return false;
    }
    doc_add_number(arena, doc, "status", answer.status);
    doc_put(doc, "answer", answer.doc);
    doc_add_string(arena, doc, "text", answer.text.size ? answer.text.data : "");
    if (answer.csv.size)
        doc_add_string(arena, doc, "csv", answer.csv.data);
    doc_print(json, doc);
    return true;
}

bool respond(struct arena *arena, int count, char **words, struct buffer *json)
{
    struct error error = { .what = "" };
    struct command command = { .verbs = verbs };
    if (command_read(arena, count, words, &command, &error))
        return respond_command(arena, &command, json);
    respond_error(arena, &error, json);
    return false;
}
