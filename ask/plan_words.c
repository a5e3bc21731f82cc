/* What a plan was asked, as JSON for a store, and back.
 *
 *     { "model": "qwen3-32b", "options": { "on": "h200-sxm", ... }, "set": [...], "rows": [...] } */
#include "ask/plan.h"

#include "import/import.h"

#include <string.h>

/* These say where blocks and answers go, not what is searched. */
static bool tells_apart(int option)
{
    return option != OPTION_STORE && option != OPTION_SHARD && option != OPTION_JSON &&
           option != OPTION_CSV && option != OPTION_PLOT && option != OPTION_MODEL;
}

static void add_list(struct arena *arena, struct doc *doc, const char *key,
                     const char *const *texts, size_t count)
{
    struct doc *list = doc_add(arena, doc, key, DOC_ARRAY);
    for (size_t i = 0; i < count; i++)
        doc_add_string(arena, list, NULL, texts[i]);
}

const char *plan_words(const struct plan *plan)
{
    const struct question *question = plan->question;
    struct doc *doc = doc_new(plan->arena, DOC_OBJECT);
    struct buffer out = { .arena = plan->arena };
    doc_add_string(plan->arena, doc, "model", plan->model);
    struct doc *given = doc_add(plan->arena, doc, "options", DOC_OBJECT);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (question->option[i] && tells_apart(i))
            doc_add_string(plan->arena, given, options[i].name, question->option[i]);
    add_list(plan->arena, doc, "set", question->sets, question->set_count);
    add_list(plan->arena, doc, "rows", question->rows, question->rows_count);
    doc_print(&out, doc);
    return out.data;
}

static bool read_options(const struct doc *given, struct question *question)
{
    for (const struct doc *one = given ? given->first : NULL; one; one = one->next) {
        int at = 0;
        while (at < OPTION_COUNT && strcmp(options[at].name, one->key))
            at++;
        if (at == OPTION_COUNT || !tells_apart(at) || one->kind != DOC_STRING)
            return false;
        question->option[at] = one->string;
    }
    return given && given->kind == DOC_OBJECT;
}

static bool read_list(struct arena *arena, const struct doc *list, const char ***texts,
                      size_t *count, size_t *room)
{
    for (const struct doc *one = list ? list->first : NULL; one; one = one->next) {
        if (one->kind != DOC_STRING)
            return false;
        *(const char **)arena_push(arena, texts, count, room, sizeof **texts) = one->string;
    }
    return list && list->kind == DOC_ARRAY;
}

bool plan_words_read(struct arena *arena, const char *path, const char *words,
                     struct question *question, struct error *error)
{
    struct doc *doc;
    if (!json_read(arena, path, text_of(words), &doc, error))
        return false;
    const struct doc *model = doc_get(doc, "model");
    const char **word = arena_alloc(arena, sizeof *word);
    if (!model || model->kind != DOC_STRING || !read_options(doc_get(doc, "options"), question) ||
        !read_list(arena, doc_get(doc, "set"), &question->sets, &question->set_count,
                   &question->set_room) ||
        !read_list(arena, doc_get(doc, "rows"), &question->rows, &question->rows_count,
                   &question->rows_room)) {
        error_set(error, "%s: no question of a plan is in it", path);
        return error_hint(error, "a file that plan --store wrote");
    }
    *word = model->string;
    question->verb = "plan";
    question->words = word;
    question->word_count = 1;
    return true;
}
