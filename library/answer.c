/* A question and its answer: the memory of the question is freed, the texts of the answer are kept. */
#include "library/library.h"

struct chalkline_answer {
    struct arena *arena;
    const char *json, *text, *csv;
};

struct asking {
    const char *verb, *json;
    bool report;                    /* its text is a document */
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

/* The words of a command line that asks the same, which NULL ends. */
static char **words_of(struct arena *arena, const struct command *command)
{
    char **words = arena_array(arena, command->word_count + 2 * command->value_count + 3, sizeof *words);
    size_t count = 0;
    words[count++] = arena_print(arena, "chalkline");
    words[count++] = arena_print(arena, "%s", command->verb->name);
    for (size_t i = 0; i < command->word_count; i++)
        words[count++] = arena_print(arena, "%s", command->words[i]);
    for (size_t i = 0; i < command->value_count; i++) {
        words[count++] = arena_print(arena, "--%s", command->values[i].option->name);
        if (command->values[i].option->kind != OPTION_SWITCH)
            words[count++] = arena_print(arena, "%s", command->values[i].text);
    }
    return words;
}

/* The answer, with a document in place of its text. */
static bool answer_report(struct arena *arena, struct command *command, struct answer *answer, struct error *error)
{
    char **words = words_of(arena, command);
    if (!verb_option(command->verb, "report")) {
        error_set(error, "'%s' has no report", command->verb->name);
        return error_suggest(error, "verbs with a report: %s", verbs_with(arena, command->verbs, "report"));
    }
    command->reported = true;
    if (!command_answer(arena, command, answer, error))
        return false;
    answer->text = (struct buffer){ .arena = arena };
    return report_html(arena, command, words, answer, NULL, &answer->text, error);
}

static void ask(void *context)
{
    struct asking *asking = context;
    struct arena arena = { 0 };
    struct error error = { .what = "" };
    struct request_command asked = { 0 };
    struct answer answer = { .doc = doc_new(&arena, DOC_OBJECT), .text.arena = &arena, .csv.arena = &arena };
    struct buffer json = { .arena = &arena };
    if (library_command(&arena, asking->verb ? asking->verb : "", asking->json, &asked, &error) &&
        (asking->report ? answer_report(&arena, &asked.command, &answer, &error)
                        : command_answer(&arena, &asked.command, &answer, &error))) {
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

static int answered(struct chalkline_library *library, struct asking *asking, struct chalkline_answer **answer)
{
    int status = library_call(library, ask, asking, NULL);
    if (status == CHALKLINE_CANCELLED)
        status = library_call(NULL, ask_no_more, asking, NULL);
    *answer = asking->kept;
    return status ? status : asking->status;
}

int chalkline_ask(struct chalkline_library *library, const char *verb, const char *json, struct chalkline_answer **answer)
{
    return answered(library, &(struct asking){ .verb = verb, .json = json }, answer);
}

int chalkline_report(struct chalkline_library *library, const char *verb, const char *json, struct chalkline_answer **answer)
{
    return answered(library, &(struct asking){ .verb = verb, .json = json, .report = true }, answer);
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
