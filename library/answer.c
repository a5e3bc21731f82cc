/* A question and its answer: the memory of the question is freed, the texts of the answer are kept. */
#include "library/library.h"

struct chalkline_answer {
    struct arena *arena;
    const char *json, *text, *csv;
};

struct asking {
    const char *verb, *json;
    int status;
    struct chalkline_answer *kept;
};

static const char *text_kept(struct arena *arena, const struct buffer *text)
{
    return arena_copy(arena, text->data, text->size);
}

static void keep(struct asking *asking, const struct buffer *json, const struct answer *answer)
{
    struct arena *arena = arena_new();
    struct chalkline_answer *kept = arena_alloc(arena, sizeof *kept);
    *kept = (struct chalkline_answer){ arena, text_kept(arena, json), text_kept(arena, &answer->text),
                                       text_kept(arena, &answer->csv) };
    asking->status = answer->status;
    asking->kept = kept;
}

static void refuse(struct asking *asking, struct arena *arena, int status, const struct error *error)
{
    const struct answer answer = { .status = status };
    struct buffer json = { .arena = arena };
    respond_error(arena, error, &json);
    keep(asking, &json, &answer);
}

static void ask(void *context)
{
    struct asking *asking = context;
    struct arena arena = { 0 };
    struct error error = { .what = "" };
    struct request_command asked = { 0 };
    struct answer answer = { .doc = doc_new(&arena, DOC_OBJECT), .text.arena = &arena, .csv.arena = &arena };
    struct buffer json = { .arena = &arena };
    if (library_command(&arena, asking->verb, asking->json, &asked, &error) &&
        command_answer(&arena, &asked.command, &answer, &error)) {
        doc_print(&json, answer.doc);
        keep(asking, &json, &answer);
    } else {
        refuse(asking, &arena, CHALKLINE_REFUSED, &error);
    }
    arena_free(&arena);
}

static void ask_no_more(void *context)
{
    const struct error error = { .what = "cancelled" };
    struct arena arena = { 0 };
    refuse(context, &arena, CHALKLINE_CANCELLED, &error);
    arena_free(&arena);
}

int chalkline_ask(struct chalkline_library *library, const char *verb, const char *json, struct chalkline_answer **answer)
{
    struct asking asking = { .verb = verb, .json = json };
    int status = library_call(library, ask, &asking, NULL);
    if (status == CHALKLINE_CANCELLED)
        status = library_call(NULL, ask_no_more, &asking, NULL);
    *answer = asking.kept;
    return status ? status : asking.status;
}

const char *chalkline_json(const struct chalkline_answer *answer)
{
    static const char none[] = "{\n  \"error\": {\n    \"what\": \"out of memory\",\n    \"hint\": \"\",\n"
                               "    \"similar\": []\n  }\n}\n";
    return answer ? answer->json : none;
}

const char *chalkline_text(const struct chalkline_answer *answer)
{
    return answer ? answer->text : "";
}

const char *chalkline_csv(const struct chalkline_answer *answer)
{
    return answer ? answer->csv : "";
}

void chalkline_free(struct chalkline_answer *answer)
{
    if (answer)
        arena_end(answer->arena);
}
