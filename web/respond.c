/* Words to an answer as one JSON document. */
#include "web/web.h"

static bool answer_words(struct arena *arena, int count, char **words, struct answer *answer,
                         struct error *error)
{
    static const struct ranks alone = { 0, 1 };
    struct question question = { .ranks = &alone };
    return question_read(arena, count, words, &question, error) &&
           verb_find(question.verb)->ask(arena, &question, answer, error);
}

bool respond(struct arena *arena, int count, char **words, struct buffer *json)
{
    struct error error = { .what = "" };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena,
                             .csv.arena = arena };
    struct doc *doc = doc_new(arena, DOC_OBJECT);
    bool good = answer_words(arena, count, words, &answer, &error);
    if (good) {
        doc_add_number(arena, doc, "status", answer.status);
        doc_put(doc, "answer", answer.doc);
        doc_add_string(arena, doc, "text", answer.text.size ? answer.text.data : "");
        if (answer.csv.size)
            doc_add_string(arena, doc, "csv", answer.csv.data);
    } else {
        struct doc *said = doc_add(arena, doc, "error", DOC_OBJECT);
        doc_add_string(arena, said, "what", error.what);
        doc_add_string(arena, said, "hint", error.hint);
    }
    doc_print(json, doc);
    return good;
}
