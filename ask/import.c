/* import: what a config.json, GGUF or safetensors file says, as facts.
 *
 * The tables of operators and layers are shown as the importer made them: entries as rows, columns
 * for the document, and a selection of columns for the screen. Parameters are printed with every
 * digit, since they are counted and not measured. */
#include "ask/ask.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <string.h>

static void answer_scalars(struct scenario *scenario, struct answer *answer)
{
    struct arena *arena = scenario->arena;
    struct doc *facts = doc_add(arena, answer->doc, "facts", DOC_OBJECT);
    for (size_t i = 0; i < scenario->facts.scalar_count; i++) {
        const struct fact *fact = &scenario->facts.scalars[i];
        if (fact->expression)
            doc_add_string(arena, facts, fact->name, fact->expression);
        else
            doc_add_number(arena, facts, fact->name, fact->value);
    }
}

static const char *cell_text(struct arena *arena, const struct fact_table *table, size_t entry, const char *column)
{
    for (size_t j = 0; j < table->columns; j++) {
        const struct fact *cell = &table->cell[entry * table->columns + j];
        if (cell->name && !strcmp(table->column[j], column))
            return cell->expression ? cell->expression : quantity_text(arena, cell->value, unit_one, 6);
    }
    return "";
}

/* A table as the importer left it: entries down, columns across for the document, only
 * the telling ones for the screen. */
static void answer_table(struct scenario *scenario, const char *name, const char *const *shown,
                         size_t shown_count, struct answer *answer)
{
    struct arena *arena = scenario->arena;
    const struct fact_table *known = facts_table(&scenario->facts, name);
    struct table lines = { .arena = arena, .columns = shown_count + 1, .left = "lrrrrrrrr" };
    struct doc *list = doc_add(arena, answer->doc, name, DOC_OBJECT);
    table_cell(&lines, "%s", name);
    for (size_t j = 0; j < shown_count; j++)
        table_cell(&lines, "%s", shown[j]);
    for (size_t i = 0; i < known->entries; i++) {
        struct doc *one = doc_add(arena, list, known->entry[i], DOC_OBJECT);
        for (size_t j = 0; j < known->columns; j++) {
            const struct fact *cell = &known->cell[i * known->columns + j];
            if (cell->name && cell->expression)
                doc_add_string(arena, one, known->column[j], cell->expression);
            else if (cell->name)
                doc_add_number(arena, one, known->column[j], cell->value);
        }
        table_cell(&lines, "%s", known->entry[i]);
        for (size_t j = 0; j < shown_count; j++)
            table_cell(&lines, "%s", cell_text(arena, known, i, shown[j]));
    }
    buffer_print(&answer->text, "\n");
    table_print(&lines, &answer->text, "  ");
}

/* Every digit, in threes: parameters are counted, not measured. */
static const char *whole_text(struct arena *arena, double value)
{
    const char *digits = arena_print(arena, "%.0f", value);
    struct buffer out = { .arena = arena };
    for (size_t left = strlen(digits); left; left--, digits++)
        buffer_print(&out, "%c%s", *digits, left > 1 && left % 3 == 1 ? "," : "");
    return out.data;
}

bool ask_import(struct arena *arena, const struct command *command, struct answer *answer,
                struct error *error)
{
    static const char *const operator_columns[] = { NAME_operator_layers, NAME_operator_copies,
        NAME_operator_used, NAME_operator_in, NAME_operator_out, NAME_operator_bytes };
    static const char *const layer_columns[] = { NAME_layers_alike, NAME_cache_elements,
        NAME_entries_per_token, NAME_attention_window, NAME_query_heads, NAME_state_elements };
    static const char *const names[] = { NAME_params_total, NAME_params_active, NAME_kv_per_token,
                                         NAME_weights_stored, NAME_recurrent_state, NAME_image_tokens, NAME_audio_token_rate };
    enum { NAMES = sizeof names / sizeof *names, ALWAYS = 4 };
    struct scenario scenario;
    struct values values;
    if (command->word_count != 1) {
        error_set(error, command->word_count ? "import takes one model, %zu were given"
                  : "import needs a model", command->word_count);
        return error_expected(error, "a config.json, a GGUF or safetensors file, an index of these, or a catalog name");
    }
    struct subject subject = command_no_subject(command);
    subject.model = command->words[0];
    if (!scenario_read(&scenario, arena, command, subject, error) ||
        !values_of(&scenario, names, NAMES, &values, error))
        return false;
    buffer_print(&answer->text, "%s\n\n", scenario.model);
    doc_add_string(arena, answer->doc, "model", scenario.model);
    for (int i = 0; i < NAMES; i++) {
        if (i >= ALWAYS && values.at[i] == 0)
            continue;                   /* a model without states, that neither sees nor hears */
        doc_add_number(arena, answer->doc, names[i], values.at[i]);
        buffer_print(&answer->text, "  %-15s %s\n", names[i],
                     i < 2 ? whole_text(arena, values.at[i])
                           : quantity_text(arena, values.at[i],
                                           scenario_unit(&scenario, names[i]), 5));
    }
    answer_scalars(&scenario, answer);
    answer_table(&scenario, "operator", operator_columns, 6, answer);
    answer_table(&scenario, "layer", layer_columns, 6, answer);
    buffer_print(&answer->text, "\n");
    scenario_notes(&scenario, answer);
    return true;
}

static const struct instead instead[] = {
    { "model", "import takes the model without an option: `chalkline import FILE`" }, { NULL, NULL } };

const struct verb verb_import = {
    "import", "FILE", "Read a config.json, GGUF or safetensors file and print its facts.",
    { "chalkline import config.json", "chalkline import model.gguf --json" },
    { &weight_options, &cache_options, &assume_options, &row_options, &output_options },
    .instead = instead, .ask = ask_import };
