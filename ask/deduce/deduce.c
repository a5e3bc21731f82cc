/* deduce: what a price sheet says.
 *
 *     file -> prices -> readings -> one report a model, or a line each */
#include "ask/ask.h"
#include "ask/deduce/deduce.h"

#include <math.h>
#include <string.h>

/* ---- one model, or several with commas ---------------------------------------------------- */

static bool called(const struct price *price, const char *name)
{
    return name_same(price->model, name) || name_same(price_model(price), name);
}

/* A seller's own entry before those of resellers, whose names have the seller in front. */
static const struct reading *find_reading(const struct deduction *deduction, const char *name)
{
    const struct reading *found = NULL;
    for (size_t i = 0; i < deduction->sheet.count; i++) {
        const struct price *price = &deduction->sheet.prices[i];
        if (name_same(price->model, name))
            return &deduction->readings[i];
        if (!found && called(price, name))
            found = &deduction->readings[i];
    }
    return found;
}

static bool model_unknown(struct deduction *deduction, const char *name)
{
    const char **names = arena_array(deduction->arena, deduction->sheet.count, sizeof *names);
    for (size_t i = 0; i < deduction->sheet.count; i++)
        names[i] = price_model(&deduction->sheet.prices[i]);
    const char *near = name_nearest(name, names, deduction->sheet.count);
    error_set(deduction->error, "%.200s has no model '%.100s'", deduction->sheet.file, name);
    if (near)
        return error_hint(deduction->error, "%s", near);
    return error_hint(deduction->error, "one of its %zu: `chalkline deduce %.200s` lists them",
                      deduction->sheet.count, deduction->sheet.file);
}

static bool answer_models(struct deduction *deduction, const char *names)
{
    while (*names) {
        size_t size = strcspn(names, ",");
        const char *name = arena_copy(deduction->arena, names, size);
        const struct reading *reading = find_reading(deduction, name);
        if (!reading)
            return model_unknown(deduction, name);
        if (!deduce_model(deduction, reading))
            return false;
        names += size + (names[size] == ',');
    }
    return true;
}

/* ---- the question ------------------------------------------------------------------------- */

static bool read_count(const char *option, const char *text, double least, double most,
                       size_t *count, struct error *error)
{
    struct quantity quantity;
    struct error ignored;
    if (!text)
        return true;
    if (!quantity_parse(text_of(text), (struct unit){ { 0 } }, &quantity, &ignored) ||
        quantity.spread != SPREAD_NONE || !(quantity.value >= least && quantity.value <= most) ||
        quantity.value != floor(quantity.value)) {
        error_set(error, "--%s: '%.60s'", option, text);
        return error_hint(error, "a whole number, %.0f to %.0f", least, most);
    }
    *count = (size_t)quantity.value;
    return true;
}

bool deduce_draw(struct deduction *deduction, bool all)
{
    enum { ONE = 1 << 20, SHEET = 100000, LEAST = 1000, MOST = 1 << 24 };
    size_t count = all ? ONE : SHEET, seed = 1;
    const struct question *question = deduction->question;
    if (deduction->draws)
        return true;
    return read_count("draws", question->option[OPTION_DRAWS], LEAST, MOST, &count,
                      deduction->error) &&
           read_count("seed", question->option[OPTION_SEED], 0, 1e15, &seed, deduction->error) &&
           draws_make(deduction->arena, &deduction->scenario.book, &deduction->scenario.facts,
                      seed, count, all, &deduction->draws, deduction->error);
}

static bool read_words(const struct question *question, struct error *error)
{
    const char *const *option = question->option;
    if (question->word_count != 1) {
        error_set(error, question->word_count ? "deduce takes one price sheet, %zu were given"
                  : "deduce needs a price sheet", question->word_count);
        return error_hint(error, "the path of LiteLLM's JSON, of a CSV file, or `prices`, the built "
                          "in ones");
    }
    int ways = (option[OPTION_MODEL] != NULL) + (option[OPTION_MARKET] != NULL) +
               (option[OPTION_DIFF] != NULL);
    if (ways < 2)
        return true;
    error_set(error, "two of --model, --market and --diff are given");
    return error_hint(error, "one of them");
}

bool ask_deduce(struct arena *arena, const struct question *question, struct answer *answer,
                struct error *error)
{
    struct deduction *deduction = arena_alloc(arena, sizeof *deduction);
    *deduction = (struct deduction){ .arena = arena, .question = question, .answer = answer,
                                     .error = error };
    const char *const *option = question->option;
    if (!read_words(question, error) ||
        !scenario_read(&deduction->scenario, arena, question, NULL, NULL, error))
        return false;
    priors_read(&deduction->scenario, &deduction->priors);
    if (!seen_open(&deduction->scenario, &deduction->rows, error) ||
        !readings_read(arena, question->words[0], &deduction->priors, &deduction->rows,
                       &deduction->sheet, &deduction->readings, error))
        return false;
    if (option[OPTION_MODEL])
        return answer_models(deduction, option[OPTION_MODEL]);
    if (option[OPTION_MARKET])
        return deduce_market(deduction, option[OPTION_MARKET]);
    if (option[OPTION_DIFF])
        return deduce_difference(deduction, option[OPTION_DIFF]);
    return deduce_whole(deduction);
}
