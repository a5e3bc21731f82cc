/* What a search was asked, as JSON for a store, and back: the verb, the model, then options in the
 * order of option.def.
 *
 *     [ "plan", "qwen3-32b", "--on=h200-sxm", "--set=sequences_most=512" ] */
#include "ask/shards/shards.h"

#include "import/import.h"

#include <string.h>

bool words_shown(int option)
{
    return option == OPTION_JSON || option == OPTION_CSV || option == OPTION_PLOT ||
           option == OPTION_EMIT || option == OPTION_PICK || option == OPTION_PLAN;
}

/* The model goes first, whichever way it was given. */
static bool tells_apart(int option)
{
    return !words_shown(option) && option != OPTION_STORE && option != OPTION_SHARD &&
           option != OPTION_MODEL;
}

static void add_option(struct arena *arena, struct doc *doc, int option, const char *value)
{
    doc_add_string(arena, doc, NULL, arena_print(arena, "--%s=%s", options[option].name, value));
}

const char *words_write(struct arena *arena, const struct question *question)
{
    struct doc *doc = doc_new(arena, DOC_ARRAY);
    struct buffer out = { .arena = arena };
    doc_add_string(arena, doc, NULL, question->verb);
    doc_add_string(arena, doc, NULL, question->word_count ? question->words[0]
                                                          : question->option[OPTION_MODEL]);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (question->option[i] && tells_apart(i))
            add_option(arena, doc, i, question->option[i]);
    for (size_t i = 0; i < question->set_count; i++)
        add_option(arena, doc, OPTION_SET, question->sets[i]);
    for (size_t i = 0; i < question->rows_count; i++)
        add_option(arena, doc, OPTION_ROWS, question->rows[i]);
    doc_print(&out, doc);
    return out.data;
}

/* "--on=h200-sxm" */
static bool read_option(struct arena *arena, const char *text, struct question *question)
{
    const char *equals = strchr(text, '=');
    const int option = equals && !strncmp(text, "--", 2)
                       ? option_find(text + 2, (size_t)(equals - text - 2)) : -1;
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

static const char *read_verb(const struct doc *item)
{
    static const char *const searches[] = { "plan", "train" };
    for (size_t i = 0; item && item->kind == DOC_STRING && i < 2; i++)
        if (!strcmp(item->string, searches[i]))
            return searches[i];
    return NULL;
}

static bool read_items(struct arena *arena, const struct doc *doc, struct question *question)
{
    const char **model = arena_alloc(arena, sizeof *model);
    question->verb = doc->kind == DOC_ARRAY ? read_verb(doc->first) : NULL;
    const struct doc *first = question->verb ? doc->first->next : NULL;
    if (!first || first->kind != DOC_STRING)
        return false;
    for (const struct doc *item = first->next; item; item = item->next)
        if (item->kind != DOC_STRING || !read_option(arena, item->string, question))
            return false;
    *model = first->string;
    question->words = model;
    question->word_count = 1;
    return true;
}

bool words_read(struct arena *arena, const char *path, const char *words,
                struct question *question, struct error *error)
{
    struct doc *doc;
    if (!json_read(arena, path, text_of(words), &doc, error))
        return false;
    for (const struct doc *item = doc->first; item; item = item->next)
        if (item->kind == DOC_STRING && !text_check(text_of(item->string), path, error))
            return false;
    if (read_items(arena, doc, question))
        return true;
    error_set(error, "%s: no question of a search is in it", path);
    return error_hint(error, "a file that plan --store or train --store wrote");
}
