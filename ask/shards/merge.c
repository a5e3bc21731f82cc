/* merge: the answer of `plan` or `train` from the stores of its parts. The question is in them. */
#include "ask/ask.h"
#include "ask/shards/shards.h"

#include "search/store.h"

#include <string.h>

/* Of the first store, which all others must share. */
static bool read_questions(struct arena *arena, const struct command *command,
                           struct store_question *first, struct error *error)
{
    for (size_t i = 0; i < command->word_count; i++) {
        struct store *store;
        struct store_question one;
        struct error ignored;
        if (!store_open_old(arena, command->words[i], &store, &one, error))
            return false;
        store_close(store, &ignored);
        if (!i)
            *first = one;
        if (!store_same(first, command->words[0], &one, command->words[i], error))
            return false;
    }
    return true;
}

static bool of_this_version(const struct store_question *stored, const char *path,
                            struct error *error)
{
    struct store_question here = *stored;
    here.version = CHALKLINE_VERSION;
    return store_same(&here, "this program", stored, path, error);
}

/* How the answer is shown is asked now, as far as the verb has it. */
static bool take_shown(struct arena *arena, const struct command *command, struct command *asked,
                       struct error *error)
{
    for (size_t i = 0; i < command->value_count; i++) {
        const struct value *value = &command->values[i];
        const struct option *option = verb_option(asked->verb, value->option->name);
        if (!shard_words_shown(value->option->name))
            continue;
        if (!option) {
            error_set(error, "--%s is not an option of %s", value->option->name, asked->verb->name);
            return error_suggest(error, "`chalkline help %s` lists its options", asked->verb->name);
        }
        if (!command_put(arena, asked, option, value->text, error))
            return false;
    }
    return true;
}

static bool stored_question(struct arena *arena, const struct command *command,
                            struct command *asked, struct error *error)
{
    struct store_question stored;
    *asked = (struct command){ .verbs = command->verbs, .progress = command->progress,
                               .stores = command->words, .store_count = command->word_count };
    return read_questions(arena, command, &stored, error) &&
           of_this_version(&stored, command->words[0], error) &&
           shard_words_read(arena, command->words[0], stored.words, asked, error) &&
           take_shown(arena, command, asked, error);
}

bool ask_merge(struct arena *arena, const struct command *command, struct answer *answer,
               struct error *error)
{
    struct command *asked = arena_alloc(arena, sizeof *asked);
    if (!command->word_count) {
        error_set(error, "merge needs the stores of a search");
        return error_expected(error, "files that plan --store or train --store wrote, as in "
                              "`chalkline merge part1.store part2.store`");
    }
    if (!stored_question(arena, command, asked, error))
        return false;
    return asked->verb->ask(arena, asked, answer, error);
}

static const struct option merge_list[] = {
    { "plan", NULL, OPTION_SWITCH, .help = "of train: list the fastest layout at each memory need" },
    { "emit", "WHAT", OPTION_TEXT, .help = "of plan: print what starts the best deployment" },
    { "pick", "SPEED", OPTION_TEXT, .help = "of plan: speed per user of the deployment to start" },
    { 0 } };
static const struct option_group merge_options = { "Answer", merge_list };

const struct verb verb_merge = {
    "merge", "STORE...",
    "Merge the shards of a distributed `plan` or `train` search.",
    { "chalkline merge part1.store part2.store", "chalkline merge part1.store part2.store --emit k8s" },
    { &merge_options, &table_options, &plot_options, &output_options }, .ask = ask_merge };
