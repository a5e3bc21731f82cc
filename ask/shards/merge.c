/* merge: the answer of `plan` or `train` from the stores of its parts. The question is in them. */
#include "ask/ask.h"
#include "ask/shards/shards.h"

#include "search/store.h"

#include <string.h>

/* Of the first store, which all others must share. */
static bool read_questions(struct arena *arena, const struct question *question,
                           struct store_question *first, struct error *error)
{
    for (size_t i = 0; i < question->word_count; i++) {
        struct store *store;
        struct store_question one;
        struct error ignored;
        if (!store_open_old(arena, question->words[i], &store, &one, error))
            return false;
        store_close(store, &ignored);
        if (!i)
            *first = one;
        if (!store_same(first, question->words[0], &one, question->words[i], error))
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
static bool take_shown(const struct question *question, struct question *asked,
                       struct error *error)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!words_shown(i) || !question->option[i])
            continue;
        asked->option[i] = question->option[i];
        if (!option_fits((enum option)i, asked->verb)) {
            error_set(error, "--%s means nothing to '%s'", options[i].name, asked->verb);
            return error_hint(error, "it goes with: %s", options[i].verbs);
        }
    }
    return true;
}

static bool stored_question(struct arena *arena, const struct question *question,
                            struct question *asked, struct error *error)
{
    struct store_question stored;
    *asked = (struct question){ .progress = question->progress, .stores = question->words,
                                .store_count = question->word_count };
    return read_questions(arena, question, &stored, error) &&
           of_this_version(&stored, question->words[0], error) &&
           words_read(arena, question->words[0], stored.words, asked, error) &&
           take_shown(question, asked, error);
}

bool ask_merge(struct arena *arena, const struct question *question, struct answer *answer,
               struct error *error)
{
    struct question *asked = arena_alloc(arena, sizeof *asked);
    if (!question->word_count) {
        error_set(error, "merge needs the stores of a search, 0 were given");
        return error_hint(error, "chalkline merge part1.store part2.store: what plan --store or "
                          "train --store wrote");
    }
    if (!stored_question(arena, question, asked, error))
        return false;
    return verb_find(asked->verb)->ask(arena, asked, answer, error);
}
