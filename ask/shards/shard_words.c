/* What a search was asked, as JSON for a store, and back: the verb, the model, then options in the
 * order in which the verb declares them.
 *
 *     [ "plan", "qwen3-32b", "--on=h200-sxm", "--set=max_num_seqs=512" ] */
#include "ask/shards/shards.h"

#include "import/import.h"

#include <string.h>

static bool among(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name))
        names++;
    return *names != NULL;
}

bool shard_words_shown(const char *option)
{
    static const char *const shown[] = { "json", "csv", "plot", "emit", "pick", "plan", NULL };
    return among(shown, option);
}

/* The model goes first, whichever way it was given. */
static bool tells_apart(const char *option)
{
    static const char *const others[] = { "store", "shard", "model", NULL };
    return !shard_words_shown(option) && !among(others, option);
}

const char *shard_words_write(struct arena *arena, const struct command *command)
{
    struct doc *doc = doc_new(arena, DOC_ARRAY);
    struct buffer out = { .arena = arena };
    const struct option *option;
    doc_add_string(arena, doc, NULL, command->verb->name);
    doc_add_string(arena, doc, NULL, command->word_count ? command->words[0]
                                                          : command_text(command, "model"));
    for (struct option_at at = { 0 }; (option = verb_next_option(command->verb, &at));)
        for (size_t i = 0; i < command->value_count && tells_apart(option->name); i++)
            if (command->values[i].option == option)
                doc_add_string(arena, doc, NULL, arena_print(arena, "--%s=%s", option->name,
                                                             command->values[i].text));
    doc_print(&out, doc);
    return out.data;
}

/* "--on=h200-sxm" */
static bool read_option(struct arena *arena, const char *text, struct command *command)
{
    const char *equals = strchr(text, '=');
    struct error ignored;
    if (!equals || strncmp(text, "--", 2))
        return false;
    const char *name = arena_copy(arena, text + 2, (size_t)(equals - text - 2));
    const struct option *option = verb_option(command->verb, name);
    return option && tells_apart(name) && command_put(arena, command, option, equals + 1, &ignored);
}

static const struct verb *read_verb(const struct command *command, const struct doc *item)
{
    static const char *const searches[] = { "plan", "train", NULL };
    return item && item->kind == DOC_STRING && among(searches, item->string)
           ? verb_named(command->verbs, item->string) : NULL;
}

static bool read_items(struct arena *arena, const struct doc *doc, struct command *command)
{
    command->verb = doc->kind == DOC_ARRAY ? read_verb(command, doc->first) : NULL;
    const struct doc *model = command->verb ? doc->first->next : NULL;
    if (!model || model->kind != DOC_STRING)
        return false;
    for (const struct doc *item = model->next; item; item = item->next)
        if (item->kind != DOC_STRING || !read_option(arena, item->string, command))
            return false;
    command_put_word(arena, command, model->string);
    return true;
}

bool shard_words_read(struct arena *arena, const char *path, const char *words,
                      struct command *command, struct error *error)
{
    struct doc *doc;
    if (!json_read(arena, path, text_of(words), &doc, error))
        return false;
    if (read_items(arena, doc, command))
        return true;
    error_set(error, "%s: no question of a search is in it", path);
    return error_expected(error, "a file that plan --store or train --store wrote");
}

static const struct option shard_list[] = {
    { "store", "FILE", OPTION_FILE,
      .help = "keep finished chunks in FILE and resume from them" },
    { "shard", "I/N", OPTION_TEXT, .help = "search the I-th of N shards, into --store FILE" },
    { 0 } };
const struct option_group shard_options = { "Distributed search", shard_list };
