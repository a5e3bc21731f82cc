/* merge: the answer of a plan from the stores of its parts. The question is in them. */
#include "ask/plan.h"

#include "search/store.h"

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

/* How the answer is shown is asked now. */
static bool plan_question(struct arena *arena, const struct question *question,
                          struct question *asked, struct error *error)
{
    struct store_question stored;
    *asked = (struct question){ .progress = question->progress };
    if (!read_questions(arena, question, &stored, error) ||
        !of_this_version(&stored, question->words[0], error) ||
        !plan_words_read(arena, question->words[0], stored.words, asked, error))
        return false;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (plan_shown(i))
            asked->option[i] = question->option[i];
    return emit_asked(asked, error);
}

bool ask_merge(struct arena *arena, const struct question *question, struct answer *answer,
               struct error *error)
{
    struct question *asked = arena_alloc(arena, sizeof *asked);
    struct plan *plan = arena_alloc(arena, sizeof *plan);
    if (!question->word_count) {
        error_set(error, "merge needs the stores of a search, 0 were given");
        return error_hint(error, "chalkline merge part1.store part2.store: what plan --store "
                          "wrote");
    }
    if (!plan_question(arena, question, asked, error))
        return false;
    *plan = (struct plan){ .arena = arena, .question = asked, .answer = answer, .error = error,
                           .stores = question->words, .store_count = question->word_count };
    return plan_open(plan) && plan_search(plan) && (plan->elsewhere || plan_answer(plan));
}
