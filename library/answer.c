/* A question and its answer: the arena of the question is freed, the texts of the answer are kept. */
#include "library/library.h"

#include <stdlib.h>
#include <string.h>

struct chalkline_answer {
    size_t text, csv;               /* where they begin in `texts`, whose beginning is the JSON */
    char texts[];
};

static struct chalkline_answer *answer_of(const struct buffer *json, const struct buffer *text, const struct buffer *csv)
{
    struct chalkline_answer *answer = malloc(sizeof *answer + json->size + text->size + csv->size + 3);
    if (!answer)
        return NULL;
    answer->text = json->size + 1;
    answer->csv = answer->text + text->size + 1;
    memcpy(answer->texts, json->size ? json->data : "", json->size + 1);
    memcpy(answer->texts + answer->text, text->size ? text->data : "", text->size + 1);
    memcpy(answer->texts + answer->csv, csv->size ? csv->data : "", csv->size + 1);
    return answer;
}

int chalkline_ask(struct chalkline_library *library, const char *verb, const char *json, struct chalkline_answer **to)
{
    struct arena arena = { 0 };
    struct error error = { .what = "" };
    struct request_command asked = { 0 };
    struct answer answer = { .doc = doc_new(&arena, DOC_OBJECT), .text.arena = &arena, .csv.arena = &arena,
                             .status = CHALKLINE_REFUSED };
    struct buffer document = { .arena = &arena };
    (void)library;
    if (library_command(&arena, verb, json, &asked, &error) &&
        command_answer(&arena, &asked.command, &answer, &error))
        doc_print(&document, answer.doc);
    else {
        answer = (struct answer){ .status = CHALKLINE_REFUSED };
        respond_error(&arena, &error, &document);
    }
    *to = answer_of(&document, &answer.text, &answer.csv);
    arena_free(&arena);
    return *to ? answer.status : CHALKLINE_NO_MEMORY;
}

const char *chalkline_json(const struct chalkline_answer *answer)
{
    return answer ? answer->texts : "{\"error\": {\"what\": \"out of memory\", \"hint\": \"\", \"similar\": []}}\n";
}

const char *chalkline_text(const struct chalkline_answer *answer)
{
    return answer ? answer->texts + answer->text : "";
}

const char *chalkline_csv(const struct chalkline_answer *answer)
{
    return answer ? answer->texts + answer->csv : "";
}

void chalkline_free(struct chalkline_answer *answer)
{
    free(answer);
}
