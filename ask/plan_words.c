/* What a plan was asked, as JSON for a store, and back: the model, then options in the order of
 * option.def.
 *
 *     [ "qwen3-32b", "--on=h200-sxm", "--set=sequences_most=512" ] */
#include "ask/plan.h"

#include "import/import.h"

#include <string.h>

bool plan_shown(int option)
{
    return option == OPTION_JSON || option == OPTION_CSV || option == OPTION_PLOT ||
           option == OPTION_EMIT || option == OPTION_PICK;
}

/* The model goes first, whichever way it was given. */
static bool tells_apart(int option)
{
    return !plan_shown(option) && option != OPTION_STORE && option != OPTION_SHARD &&
           option != OPTION_MODEL;
}

static void add_option(const struct plan *plan, struct doc *doc, int option, const char *value)
{
    doc_add_string(plan->arena, doc, NULL,
                   arena_print(plan->arena, "--%s=%s", options[option].name, value));
}

const char *plan_words(const struct plan *plan)
{
    const struct question *question = plan->question;
    struct doc *doc = doc_new(plan->arena, DOC_ARRAY);
    struct buffer out = { .arena = plan->arena };
    doc_add_string(plan->arena, doc, NULL, plan->model);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (question->option[i] && tells_apart(i))
            add_option(plan, doc, i, question->option[i]);
    for (size_t i = 0; i < question->set_count; i++)
        add_option(plan, doc, OPTION_SET, question->sets[i]);
    for (size_t i = 0; i < question->rows_count; i++)
        add_option(plan, doc, OPTION_ROWS, question->rows[i]);
    doc_print(&out, doc);
    return out.data;
}

static int option_at(const char *text, size_t size)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strlen(options[i].name) == size && !memcmp(options[i].name, text, size))
            return i;
    return -1;
}

/* "--on=h200-sxm" */
static bool read_option(struct arena *arena, const char *text, struct question *question)
{
    const char *equals = strchr(text, '=');
    const int option = equals && !strncmp(text, "--", 2)
                       ? option_at(text + 2, (size_t)(equals - text - 2)) : -1;
    if (option < 0 || !tells_apart(option))
        return false;
    if (option == OPTION_SET)
        *(const char **)arena_push(arena, &question->sets, &question->set_count,
                                   &question->set_room, sizeof *question->sets) = equals + 1;
    else if (option == OPTION_ROWS)
        *(const char **)arena_push(arena, &question->rows, &question->rows_count,
                                   &question->rows_room, sizeof *question->rows) = equals + 1;
    else
        question->option[option] = equals + 1;
    return true;
}

static bool read_items(struct arena *arena, const struct doc *doc, struct question *question)
{
    const char **model = arena_alloc(arena, sizeof *model);
    if (doc->kind != DOC_ARRAY || !doc->first)
        return false;
    for (const struct doc *item = doc->first; item; item = item->next)
        if (item->kind != DOC_STRING ||
            (item != doc->first && !read_option(arena, item->string, question)))
            return false;
    *model = doc->first->string;
    question->verb = "plan";
    question->words = model;
    question->word_count = 1;
    return true;
}

bool plan_words_read(struct arena *arena, const char *path, const char *words,
                     struct question *question, struct error *error)
{
    struct doc *doc;
    if (!json_read(arena, path, text_of(words), &doc, error))
        return false;
    if (read_items(arena, doc, question))
        return true;
    error_set(error, "%s: no question of a plan is in it", path);
    return error_hint(error, "a file that plan --store wrote");
}
