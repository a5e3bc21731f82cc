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
        return error_suggest(deduction->error, "did you mean '%s'?", near);
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

bool deduce_draw(struct deduction *deduction, bool all)
{
    enum { ONE = 1 << 20, SHEET = 100000 };
    const struct command *command = deduction->command;
    size_t count = all ? ONE : SHEET;
    if (deduction->draws)
        return true;
    command_take_count(command, "draws", &count);
    return draws_make(deduction->arena, &deduction->scenario.formulas, &deduction->scenario.facts,
                      command_count(command, "seed"), count, all, &deduction->draws, deduction->error);
}

static bool read_words(const struct command *command, struct error *error)
{
    if (command->word_count != 1) {
        error_set(error, command->word_count ? "deduce takes one price list, %zu were given"
                  : "deduce needs a price list", command->word_count);
        return error_hint(error, "the path of LiteLLM's JSON or of a CSV file, or `prices` for the "
                          "built-in list");
    }
    int ways = (command_given(command, "model")) + (command_given(command, "market")) +
               (command_given(command, "diff"));
    if (ways < 2)
        return true;
    error_set(error, "--model, --market and --diff exclude each other");
    return error_hint(error, "one of them");
}

bool ask_deduce(struct arena *arena, const struct command *command, struct answer *answer,
                struct error *error)
{
    struct deduction *deduction = arena_alloc(arena, sizeof *deduction);
    *deduction = (struct deduction){ .arena = arena, .command = command, .answer = answer,
                                     .error = error };
    if (!read_words(command, error) ||
        !scenario_read(&deduction->scenario, arena, command, command_no_subject(command), error))
        return false;
    priors_read(&deduction->scenario, &deduction->priors);
    if (!seen_open(&deduction->scenario, &deduction->rows, error) ||
        !readings_read(arena, command->words[0], &deduction->priors, &deduction->rows,
                       &deduction->sheet, &deduction->readings, error))
        return false;
    if (command_text(command, "model"))
        return answer_models(deduction, command_text(command, "model"));
    if (command_text(command, "market"))
        return deduce_market(deduction, command_text(command, "market"));
    if (command_text(command, "diff"))
        return deduce_difference(deduction, command_text(command, "diff"));
    return deduce_whole(deduction);
}

static const struct option deduce_list[] = {
    { "model", "NAME", OPTION_TEXT, .help = "report on these entries of the price list, with commas" },
    { "market", "MODEL", OPTION_TEXT, .help = "infer the size of an open model from its hosts' prices" },
    { "diff", "OLD", OPTION_FILE, .help = "changes since an older price list" },
    { "draws", "N", OPTION_COUNT, .low = 1000, .high = 1 << 24,
      .otherwise = "1,048,576 for one model, 100,000 for a list", .help = "number of draws of the unknowns" },
    { "seed", "N", OPTION_COUNT, .high = 1e15, .fallback = "1", .help = "seed of the draws" },
    { 0 } };
static const struct option_group deduce_options = { "Price list", deduce_list };

const struct verb verb_deduce = {
    "deduce", "PRICES", "Infer costs and sizes from a price list, with credible intervals and its contradictions.",
    { "chalkline deduce prices --model claude-opus-4-7", "chalkline deduce litellm.json --csv",
      "chalkline deduce prices --diff older.csv" },
    { &deduce_options, &row_options, &table_options, &output_options }, .ask = ask_deduce };
