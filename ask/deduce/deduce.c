/* deduce: what a price list says. deduce.template is its text.
 *
 *     file -> prices -> readings -> one report a model, or a record each
 *
 * The verb reads the list, finds the models that were asked for, and leaves the rest to one file for
 * each kind of answer: some models (deduce_model.c), all of them (deduce_whole.c), one that several
 * hosts sell (deduce_market.c), what changed since an older list (deduce_difference.c). */
#include "ask/ask.h"
#include "ask/deduce/deduce.h"
#include "scenario/figures.h"

#include <string.h>

/* ---- one model, or several with commas ---------------------------------------------------- */

/* A seller's own entry before those of resellers, whose names have the seller in front. */
static const struct price_reading *find_reading(const struct deduction *deduction, const char *name)
{
    const struct price_reading *found = NULL;
    for (size_t i = 0; i < deduction->sheet.count; i++) {
        const struct price *price = &deduction->sheet.prices[i];
        if (name_same(price->model, name))
            return &deduction->readings[i];
        if (!found && name_same(price_model(price), name))
            found = &deduction->readings[i];
    }
    return found;
}

/* A report for each of these names, which have commas between. */
static bool add_models(struct deduction *deduction, const char *names)
{
    const struct price_sheet *sheet = &deduction->sheet;
    struct section *reports = section_add(deduction->section, "reports", SECTION_LIST);
    reports->text_only = true;
    while (*names) {
        const size_t size = strcspn(names, ",");
        const char *name = arena_copy(deduction->arena, names, size);
        const struct price_reading *reading = find_reading(deduction, name);
        if (reading) {
            if (!deduce_model(deduction, reading, reports))
                return false;
            names += size + (names[size] == ',');
            continue;
        }
        const char **all = arena_array(deduction->arena, sheet->count, sizeof *all);
        for (size_t i = 0; i < sheet->count; i++)
            all[i] = price_model(&sheet->prices[i]);
        const char *near = name_nearest(name, all, sheet->count);
        error_set(deduction->error, "%.200s has no model '%.100s'", sheet->file, name);
        if (near)
            return error_did_you_mean(deduction->error, near, "");
        return error_expected(deduction->error, "one of its %zu: `chalkline deduce %.200s` lists them",
                          sheet->count, sheet->file);
    }
    return true;
}

/* ---- the question ------------------------------------------------------------------------- */

static bool read_words(const struct command *command, struct error *error)
{
    if (command->word_count != 1) {
        error_set(error, command->word_count ? "deduce takes one price list, %zu were given"
                  : "deduce needs a price list", command->word_count);
        return error_expected(error, "the path of LiteLLM's JSON or of a CSV file, or `prices` for the "
                          "built-in list");
    }
    int ways = (command_given(command, "model")) + (command_given(command, "market")) +
               (command_given(command, "diff"));
    if (ways < 2)
        return true;
    error_set(error, "--model, --market and --diff exclude each other");
    return error_expected(error, "one of them");
}

static bool open_rows(struct deduction *deduction)
{
    const struct command *command = deduction->command;
    struct scenario *scenario = &deduction->scenario;
    if (!read_words(command, deduction->error) ||
        !scenario_read(scenario, deduction->arena, command, command_no_subject(command), deduction->error))
        return false;
    priors_read(scenario, &deduction->priors);
    return seen_open(scenario, &deduction->rows, deduction->error);
}

bool ask_deduce(struct arena *arena, const struct command *command, struct answer *answer,
                struct error *error)
{
    struct deduction *deduction = arena_alloc(arena, sizeof *deduction);
    *deduction = (struct deduction){ .arena = arena, .command = command, .section = section_new(arena),
                                     .csv = &answer->csv, .error = error };
    deduction->picture = picture_new(arena, "What the prices say, 90 % and 50 %; as a thin line what was "
                                            "thought before");
    if (!ranks_agree(command->ranks, open_rows(deduction), error) ||
        !deduce_read(deduction, command->words[0], &deduction->sheet, &deduction->readings))
        return false;
    const char *model = command_text(command, "model"), *market = command_text(command, "market");
    const char *old = command_text(command, "diff");
    if (!(model    ? add_models(deduction, model)
          : market ? deduce_market(deduction, market)
          : old    ? deduce_difference(deduction, old) : deduce_whole(deduction)))
        return false;
    section_document(deduction->section, answer->doc);
    answer->section = deduction->section;
    if (command_reports(command)) {
        figures_noted(deduction->section, arena_print(arena, "prices: %s, %zu entries", deduction->sheet.file,
                                                      deduction->sheet.count));
        figures_noted(deduction->section,
                      "what was thought of the unknowns before: data/priors.csv, each with its "
                                          "source; --set changes one");
        figures_noted(deduction->section, "prices are sums of costs times margins, by formulas/prices");
    }
    if (deduction->picture->panel_count || deduction->picture->bar_count)
        answer->picture = deduction->picture;
    template_print(template_built_in(arena, "ask/deduce/deduce.template"), deduction->section,
                   &answer->text);
    return true;
}

/* ---- the verb as declared ------------------------------------------------------------------- */

static const struct record answer_deduce = { "Deduced", (const struct answer_field[]){
    { FIELD_LIST, "entries", .help = "of a whole list", .record = &deduce_entry_record },
    { FIELD_TEXT, "file", .help = "of a whole list: its name" },
    { FIELD_TEXT, "kind", .help = "of a whole list: who made it" },
    { FIELD_NUMBER, "read", .help = "entries" },
    { FIELD_NUMBER, "left_out", .help = "entries without a price per text token" },
    { FIELD_NUMBER, "suspicious", .help = "entries with ratios outside the usual set" },
    { FIELD_LIST, "changed", .help = "--diff: entries whose prices changed",
      .record = &deduce_changed_record },
    { FIELD_LIST, "slips", .help = "--diff: entries a price of which is off by a factor of errors of units",
      .record = &deduce_changed_record },
    { FIELD_NUMBER, "came", .help = "--diff: entries that the older list has not" },
    { FIELD_NUMBER, "gone", .help = "--diff: entries that only the older list has" },
    { FIELD_ALSO, .record = &deduce_market_record },
    { FIELD_OTHERS, .help = "--model: a report, under the name of the entry",
      .record = &deduce_report_record },
    { FIELD_TEXT_ONLY, "reports", .record = &deduce_report_record },
    { FIELD_TEXT_ONLY, .count = 8, .names = (const char *const[]){
          "draws_made", "unlikely", "active_factor", "changes_found", "slips_found", "compared", "older", "newer" } },
    { 0 } } };

static const struct option deduce_list[] = {
    { "model", "NAME", OPTION_TEXT, .help = "report on these entries of the price list, comma-separated" },
    { "market", "MODEL", OPTION_TEXT, .help = "infer the size of an open model from its hosts' prices" },
    { "diff", "OLD", OPTION_FILE, .help = "changes since an older price list" },
    { "draws", "N", OPTION_COUNT, .low = 1000, .high = 1 << 22,
      .otherwise = "1,048,576 for one model, 100,000 for a list", .help = "number of draws of the unknowns, which take 0.1 kB each" },
    { "seed", "N", OPTION_COUNT, .high = 1e15, .fallback = "1", .help = "seed of the draws" },
    { 0 } };
static const struct option_group deduce_options = { "Price list", deduce_list };

static const struct instead instead[] = {
    { "prices", "deduce takes the price list without an option: `chalkline deduce FILE`" }, { NULL, NULL } };

const struct verb verb_deduce = {
    "deduce", "PRICES", "Infer costs and sizes from a price list, with credible intervals and its contradictions.",
    { "chalkline deduce prices --model claude-opus-4-7", "chalkline deduce litellm.json --csv",
      "chalkline deduce prices --diff older.csv" },
    { &deduce_options, &row_options, &table_options, &plot_options, &report_options, &output_options },
    .instead = instead, ANSWERS(answer_deduce), .ask = ask_deduce, .ranges = true, .divided = true };
