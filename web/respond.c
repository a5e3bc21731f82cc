/* Words to an answer as one JSON document. */
#include "web/web.h"

static bool answer_words(struct arena *arena, int count, char **words, struct answer *answer,
                         struct error *error)
{
    static const struct ranks alone = { 0, 1 };
    struct question question = { .ranks = &alone };
    if (!question_read(arena, count, words, &question, error))
        return false;
    const struct verb *verb = verb_find(question.verb);
    if (verb->ask)
        return verb->ask(arena, &question, answer, error);
    error_set(error, "'%s' is no question", verb->name);
    return error_hint(error, "the command line has it");
}

void respond_error(struct arena *arena, const struct error *error, struct buffer *json)
{
    struct doc *doc = doc_new(arena, DOC_OBJECT);
    struct doc *said = doc_add(arena, doc, "error", DOC_OBJECT);
    doc_add_string(arena, said, "what", error->what);
    doc_add_string(arena, said, "hint", error->hint);
    doc_print(json, doc);
}

bool respond(struct arena *arena, int count, char **words, struct buffer *json)
{
    struct error error = { .what = "" };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena,
                             .csv.arena = arena };
    struct doc *doc = doc_new(arena, DOC_OBJECT);
    if (!answer_words(arena, count, words, &answer, &error)) {
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
