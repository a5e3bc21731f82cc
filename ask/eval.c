/* eval: any rows or expressions, as numbers.
 *
 * A row of a table's chapter stands for its value at every entry. Ranges and distributions that
 * were given appear beside a value. The document has the same figures under the rows' names; these
 * are the reference that all other verbs must agree with, bit for bit. */
#include "ask/ask.h"
#include "scenario/basis.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "deploy/server.h"
#include "lecture/question.h"

#include <math.h>

/* A row of a table's chapter stands for its value at every entry. */
static void expand(struct scenario *scenario, const char *word, const char ***names,
                   size_t *count, size_t *room)
{
    int row = formulas_find(&scenario->formulas, word);
    const char *table = row < 0 ? NULL : row_table(formulas_row(&scenario->formulas, row));
    const struct fact_table *known = table ? facts_table_find(&scenario->facts, table) : NULL;
    size_t entries = known ? known->entries : 1;
    for (size_t i = 0; i < entries; i++) {
        const char *entry = known ? known->entry[i] : "default";
        *(const char **)arena_push(scenario->arena, names, count, room, sizeof **names) =
            table ? arena_print(scenario->arena, "%s[%s]", word, entry) : word;
    }
}

/* A line of the text and of --csv for each figure. */
static struct section *add_lines(const struct section *read, struct section *section)
{
    struct section *list = section_add(section, "figures", SECTION_LIST);
    list->text_only = true;
    bool ranges = false;                /* else --csv has no columns for them */
    for (size_t i = 0; i < read->count; i++)
        ranges |= read->figures[i].range.kind != NULL;
    for (size_t i = 0; i < read->count; i++) {
        const struct figure *figure = &read->figures[i];
        const struct range *range = figure->range.kind ? &figure->range : NULL;
        const bool interval = figure->low != figure->high;
        struct buffer unit = { .arena = list->arena };
        struct section *line = section_add(list, NULL, SECTION_RECORD);
        unit_print(&unit, figure->unit);
        section_word(line, "quantity", figure->name);
        struct figure *value = section_number(line, "value", figure->value, figure->unit);
        value->range = figure->range;
        section_word(line, "unit", unit.data);
        section_number(line, "low", interval ? figure->low : NAN, figure->unit);
        section_number(line, "high", interval ? figure->high : NAN, figure->unit);
        section_word(line, "origin", origin_name(figure->origin));
        section_word(line, "source", figure->source ? figure->source : "");
        section_number(line, "range_low", range ? range->low : NAN, figure->unit)->text_only = !ranges;
        section_number(line, "range_high", range ? range->high : NAN, figure->unit)->text_only = !ranges;
        section_word(line, "range_kind", range ? range->kind : "")->text_only = !ranges;
    }
    return list;
}

/* Without a model, a machine and inputs of one's own, a headline figure of the lecture has another value than it says: only its
 * deck has all inputs. Say which. */
static void note_decks(struct scenario *scenario, const char *const *names, size_t count)
{
    const struct command *command = scenario->command;
    if (scenario->model || scenario->machine || command_given(command, "deck") || command_given(command, "set"))
        return;
    for (size_t i = 0; i < count; i++) {
        const char *name = formulas_name(&scenario->formulas, scenario->arena, names[i]);
        const struct statement *statement = statement_of_row(scenario->arena, name, true);
        if (statement)
            facts_note(&scenario->facts, "the lecture's inputs for %s (%s): --deck '%s'", names[i], statement->id,
                       statement->deck);
    }
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
        return error_expected(error, "a row, as in `chalkline eval inference_tokens`; `chalkline list "
                              "rows` lists all rows");
    }
    if (!scenario_open(&scenario, arena, command, command_subject(command), error))
        return false;
    for (size_t i = 0; i < command->word_count; i++)
        expand(&scenario, command->words[i], &names, &count, &room);
    struct section *read = section_new(arena), *section = section_new(arena);
    if (!scenario_choose(&scenario, names, count, error) ||
        !figures_read(&scenario, names, count, &values, read, error))
        return false;
    if (!scenario.model && (values_depend(arena, &values, NAME_chip_price) ||
                            command_given(command, "price-kind")))
        scenario_note_price(&scenario);
    const struct fact *bought = facts_find(&scenario.facts, NAME_machine_cost);
    if (bought && isnan(bought->value) && values_depend(arena, &values, NAME_machine_cost))
        facts_note(&scenario.facts, "no purchase price of %s is known: --set machine_cost=40000USD", scenario.machine);
    for (size_t i = 0; i < count; i++) {
        const char *none = question_no_value(&scenario, names[i]);
        if (none)
            facts_note(&scenario.facts, "%s stands for none: %s", names[i], none);
    }
    note_decks(&scenario, names, count);
    assumed_notes(&scenario, &values, NULL, count);
    given_note_of(&scenario, names, count, &values, count == 1 ? names[0] : "any of these");
    if (values_depend(arena, &values, NAME_steps_ahead))
        server_note_load(&scenario, &scenario.facts);
    if (values_depend(arena, &values, NAME_prompt_tokens))
        scenario_note_length(&scenario);
    for (size_t i = 0; i < read->count; i++)
        figure_document(arena, &read->figures[i],
                        doc_add(arena, answer->doc, read->figures[i].name, DOC_OBJECT));
    const char *server = scenario_default_server(&scenario, names, count);
    if (server)
        section_word(section, "for", server);
    section_csv(add_lines(read, section), &answer->csv);
    const char *infeasible = scenario_no_server(&scenario, names, count);
    answer->status = infeasible != NULL;
    if (infeasible)
        section_word(section, "infeasible", infeasible);
    figures_notes(&scenario, section);
    figures_words(&scenario, section);
    section_document(section, answer->doc);
    template_print(template_built_in(arena, "ask/eval.template"), section, &answer->text);
    return true;
}

static const struct record line_record = { "EvalLine", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "quantity", "value", "range_kind", "range_low", "range_high" }, .count = 5 },
    { 0 } } };

static const struct record answer_eval = { "Eval", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again", .always = true },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer", .always = true },
    { FIELD_TEXT, "for", .help = "without a model: the server that the predictions are of" },
    { FIELD_OTHERS, .help = "one of the quantities, as it was asked", .record = &figure_record },
    { FIELD_TEXT_ONLY, "figures", .record = &line_record },
    { FIELD_TEXT, "infeasible", .help = "why no server has these figures" },
    { 0 } } };

const struct verb verb_eval = {
    "eval", "QUANTITY...", "Evaluate rows and expressions.",
    { "chalkline eval inference_tokens",
      "chalkline eval predicted_tpot throughput_per_chip --model llama-3.3-70b --on h100-sxm",
      "chalkline eval 'bound_step * 2' --set batch=64 --set hbm_bandwidth=3TB/s..5TB/s" },
    { ANSWER_OPTIONS, &table_options, &output_options }, ANSWERS(answer_eval), .ask = ask_eval, .ranges = true };
