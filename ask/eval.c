/* eval: any rows or expressions, as numbers. */
#include "ask/ask.h"
#include "scenario/server.h"

#include <string.h>

/* A row of a table's chapter stands for its value at every entry. */
static void expand(struct scenario *scenario, const char *word, const char ***names,
                   size_t *count, size_t *room)
{
    int row = book_find(&scenario->book, word);
    const char *table = row < 0 ? NULL : scenario->book.rows[row]->table;
    const struct fact_table *known = table ? facts_table_find(&scenario->facts, table) : NULL;
    size_t entries = known ? known->entries : 1;
    for (size_t i = 0; i < entries; i++) {
        const char *entry = known ? known->entry[i] : "default";
        *(const char **)arena_push(scenario->arena, names, count, room, sizeof **names) =
            table ? arena_print(scenario->arena, "%s[%s]", word, entry) : word;
    }
}

static void answer_one(struct scenario *scenario, const struct values *values, size_t i,
                       const char *name, bool uncertain, struct table *table,
                       struct answer *answer)
{
    struct unit unit = scenario_unit(scenario, name);
    struct buffer words = { .arena = scenario->arena };
    struct doc *one = doc_add(scenario->arena, answer->doc, name, DOC_OBJECT);
    unit_print(&words, unit);
    doc_add_number(scenario->arena, one, "value", values->at[i]);
    if (values->at[i] != values->at[i])
        doc_add_string(scenario->arena, one, "reason", "no price of a GPU is known: chip_price");
    doc_add_string(scenario->arena, one, "unit", words.data);
    table_cell(table, "%s", name);
    table_cell(table, "%s", quantity_text(scenario->arena, values->at[i], unit, 6));
    struct range range = { 0, 0, NULL };
    if (uncertain)
        range = values_range(scenario, values, i);
    if (range.low == range.high) {
        table_cell(table, "%s", "");
        return;
    }
    struct doc *ends = doc_add(scenario->arena, one, "range", DOC_ARRAY);
    doc_add_number(scenario->arena, ends, NULL, range.low);
    doc_add_number(scenario->arena, ends, NULL, range.high);
    doc_add_string(scenario->arena, one, "range_kind", range.kind);
    table_cell(table, "%s %s to %s", range.kind,
               quantity_text(scenario->arena, range.low, unit, 4),
               quantity_text(scenario->arena, range.high, unit, 4));
}

bool ask_eval(struct arena *arena, const struct command *command, struct answer *answer,
              struct error *error)
{
    struct scenario scenario;
    struct values values;
    const char **names = NULL;
    size_t count = 0, room = 0;
    if (!command->word_count) {
        error_set(error, "eval needs the name of a row");
        return error_hint(error, "chalkline eval inference_tokens; `chalkline list rows` shows "
                          "all");
    }
    if (!scenario_open(&scenario, arena, command, command_subject(command), error))
        return false;
    for (size_t i = 0; i < command->word_count; i++)
        expand(&scenario, command->words[i], &names, &count, &room);
    if (!scenario_choose(&scenario, names, count, error) ||
        !values_of(&scenario, names, count, &values, error))
        return false;
    assumed_notes(&scenario, &values, NULL, count);
    given_note_of(&scenario, names, count, &values, count == 1 ? names[0] : "any of these");
    server_note_unstable(&scenario, &values.list);
    bool uncertain = values_uncertain(&scenario, &values);
    struct table table = { .arena = arena, .columns = 3, .left = "lrl" };
    for (size_t i = 0; i < count; i++)
        answer_one(&scenario, &values, i, names[i], uncertain, &table, answer);
    table_print(&table, &answer->text, "");
    scenario_notes(&scenario, answer);
    const char *misfit = scenario_misfit(&scenario);
    if (misfit)                     /* for people: a program asks for hbm_share */
        buffer_print(&answer->text, "%s%s\n", scenario.facts.note_count ? "           "
                                                                        : "  assumed  ", misfit);
    return true;
}

static const struct record figure_record = { "Figure", (const struct answer_field[]){
    { FIELD_NUMBER, "value", .help = "in base units", .unit = "", .always = true,
      .null = true },
    { FIELD_TEXT, "reason", .help = "why there is no value" },
    { FIELD_TEXT, "unit", .help = "of the value", .always = true },
    { FIELD_NUMBERS, "range", .help = "its ends, where something given has one" },
    { FIELD_TEXT, "range_kind", .help = "a range of what was given, or a share of the draws" },
    { 0 } } };

const struct record answer_eval = { "Eval", (const struct answer_field[]){
    { FIELD_TEXTS, "assumed", .help = "what nobody gave, and what to know of it", .always = true },
    { FIELD_OTHERS, .help = "one of the quantities, as it was asked", .record = &figure_record },
    { 0 } } };

const struct verb verb_eval = {
    "eval", "QUANTITY...", "any rows or expressions, as numbers",
    { "chalkline eval inference_tokens",
      "chalkline eval predicted_tpot throughput_per_chip --model llama-3.3-70b --on h100-sxm",
      "chalkline eval 'bound_step * 2' --set batch=64 --set hbm_bandwidth=3TB/s..5TB/s" },
    { ANSWER_OPTIONS, &output_options }, .ask = ask_eval };
