/* Rows as figures: their values with unit, 80 % interval, origin and source.
 *
 * All rows asked for are read from one graph. Predictions have an interval: the value times the
 * band rows of their metric, which are read from the same graph. A figure's origin says how its
 * value came about (given, sheet, model, derived, ...), so that an answer can state what it rests
 * on. */
#include "scenario/figures.h"
#include "scenario/scenario.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "scenario/calibrated.h"

#include <math.h>
#include <string.h>

/* Predictions, and measured over predicted at both ends of 80 % of all measurements. */
static const struct band {
    const char *row, *low, *high;
} bands[] = {
    { NAME_predicted_tpot, NAME_tpot_band_low, NAME_tpot_band_high },
    { NAME_predicted_ttft, NAME_ttft_band_low, NAME_ttft_band_high },
    { NAME_speed_per_user, NAME_speed_band_low, NAME_speed_band_high },
    { NAME_prefill_speed, NAME_prefill_band_low, NAME_prefill_band_high },
    { NAME_predicted_e2e, NAME_e2e_band_low, NAME_e2e_band_high },
    { NAME_predicted_throughput, NAME_throughput_band_low, NAME_throughput_band_high },
    { NAME_disagg_tpot, NAME_disagg_tpot_band_low, NAME_disagg_tpot_band_high },
    { NAME_disagg_ttft, NAME_disagg_ttft_band_low, NAME_disagg_ttft_band_high },
    { NAME_disagg_throughput, NAME_throughput_band_low, NAME_throughput_band_high },
    { NAME_throughput_per_chip, NAME_throughput_band_low, NAME_throughput_band_high },
    { NAME_predicted_energy_per_token, NAME_energy_band_low, NAME_energy_band_high },
    { NAME_train_step, NAME_step_band_low, NAME_step_band_high },
};
enum { BANDS = sizeof bands / sizeof *bands };

/* What the calibration of a server covers. */
static bool is_served(const char *name)
{
    static const char *const rows[] = { NAME_predicted_tpot, NAME_predicted_ttft, NAME_predicted_e2e,
                                        NAME_predicted_throughput, NAME_throughput_per_chip,
                                        NAME_speed_per_user, NAME_prefill_speed };
    return name_listed(rows, sizeof rows / sizeof *rows, name);
}

static const struct band *band_of(const char *name)
{
    for (size_t i = 0; i < BANDS; i++)
        if (!strcmp(bands[i].row, name))
            return &bands[i];
    return NULL;
}

/* ---- where a number comes from ---------------------------------------------------------------- */

/* The table cell of a name such as "operator_in[gate_proj]", or NULL. */
static const struct fact *cell_of(const struct scenario *scenario, const struct row *row,
                                  const char *entry, size_t size)
{
    const struct fact_table *table = facts_table_find(&scenario->facts, row_table(row));
    size_t at = 0;
    while (table && at < table->entries &&
           (strncmp(table->entry[at], entry, size) || table->entry[at][size]))
        at++;
    const size_t column = table ? name_index(table->column, table->columns, row_name(row)) : 0;
    if (!table || at == table->entries || column == table->columns)
        return NULL;
    const struct fact *cell = &table->cell[at * table->columns + column];
    return cell->name ? cell : NULL;
}

enum origin default_origin(const struct row *row)
{
    static const char calibration[] = "calibration ";
    const bool fitted = row_fit(row) && strncmp(row_fit(row), calibration, sizeof calibration - 1) != 0;
    return fitted ? ORIGIN_FITTED : ORIGIN_DEFAULT;
}

static void set_origin(const struct scenario *scenario, struct figure *figure)
{
    const char *entry = strchr(figure->name, '[');
    const int index = formulas_find(&scenario->formulas, !entry ? figure->name : arena_copy(
        scenario->arena, figure->name, (size_t)(entry - figure->name)));
    if (index < 0) {
        figure->origin = ORIGIN_DERIVED;        /* an expression */
        return;
    }
    const struct row *row = formulas_row(&scenario->formulas, index);
    const struct fact *fact = row_table(row) && entry
                              ? cell_of(scenario, row, entry + 1, strcspn(entry + 1, "]"))
                              : facts_find(&scenario->facts, row_name(row));
    figure->origin = fact ? fact->origin : row_expr(row) ? ORIGIN_DERIVED
                   : default_origin(row);
    figure->source = fact ? fact->source : row_source(row);
}

static struct unit unit_of(const struct scenario *scenario, const char *name)
{
    const int row = formulas_find(&scenario->formulas, name);
    return row < 0 ? scenario_unit(scenario, name) : formulas_row(&scenario->formulas, row)->unit;
}

/* ---- figures ---------------------------------------------------------------------------------- */

static const double *value_named(const struct values *values, const char *const *names, size_t count,
                                 const char *name)
{
    const size_t at = name_index(names, count, name);
    return at < count ? &values->at[at] : NULL;
}

static void set_interval(const struct values *values, const char *const *names, size_t count,
                         struct figure *figure)
{
    const struct band *band = band_of(figure->name);
    const double *low = band ? value_named(values, names, count, band->low) : NULL;
    const double *high = band ? value_named(values, names, count, band->high) : NULL;
    if (!low || !high || isnan(figure->value))
        return;
    figure->low = figure->value * *low;
    figure->high = figure->value * *high;
}

static struct figure *figure_named(struct section *section, const char *name)
{
    for (size_t i = 0; i < section->count; i++)
        if (!strcmp(section->figures[i].name, name))
            return &section->figures[i];
    return NULL;
}

/* The intervals of a calibrated server, in place of those of all servers. */
static void set_calibrated(struct scenario *scenario, const char *const *names, size_t count,
                           struct section *section)
{
    struct arena *arena = scenario->arena;
    const char **rows = arena_array(arena, count + 1, sizeof *rows);
    struct figure **of = arena_array(arena, count + 1, sizeof *of);
    size_t banded = 0;
    for (size_t i = 0; i < count; i++) {
        struct figure *figure = is_served(names[i]) ? figure_named(section, names[i]) : NULL;
        if (figure && figure->low != figure->high) {
            of[banded] = figure;
            rows[banded++] = strcmp(names[i], NAME_speed_per_user) ? names[i] : NAME_predicted_tpot;
        }
    }
    double *low = arena_array(arena, 2 * banded + 1, sizeof *low), *high = low + banded;
    if (!calibrated_bands(scenario, rows, banded, low, high))
        return;
    for (size_t i = 0; i < banded; i++) {
        const bool inverse = !strcmp(of[i]->name, NAME_speed_per_user);     /* of TPOT, whose ends it has */
        of[i]->low = inverse ? of[i]->value / high[i] : of[i]->value * low[i];
        of[i]->high = inverse ? of[i]->value / low[i] : of[i]->value * high[i];
    }
}

/* Add figures for the first `count` of the `all` names. */
static void fill_section(struct scenario *scenario, struct values *values, const char *const *names, size_t count,
                         size_t all, const struct template *template, struct section *section)
{
    const bool uncertain = values_uncertain(scenario, values);
    for (size_t i = 0; i < count; i++) {
        struct figure *figure = section_number(section, names[i], values->at[i],
                                               unit_of(scenario, names[i]));
        set_origin(scenario, figure);
        set_interval(values, names, all, figure);
        if (uncertain && (!template || template_has_range(template, names[i])))
            figure->range = values_range(scenario, values, i);
    }
    if (scenario->calibrated)
        set_calibrated(scenario, names, count, section);
}

void figures_of(struct scenario *scenario, struct values *values, const char *const *names,
                size_t count, const struct template *template, struct section *section)
{
    fill_section(scenario, values, names, count, count, template, section);
}

bool figures_read(struct scenario *scenario, const char *const *names, size_t count,
                  struct values *values, struct section *section, struct error *error)
{
    const char **all = arena_array(scenario->arena, 3 * count + 1, sizeof *all);
    size_t all_count = count;
    memcpy(all, names, count * sizeof *all);
    for (size_t i = 0; i < count; i++) {
        const struct band *band = band_of(names[i]);
        if (!band)
            continue;
        all[all_count++] = band->low;
        all[all_count++] = band->high;
    }
    if (!values_of(scenario, all, all_count, values, error))
        return false;
    fill_section(scenario, values, all, count, all_count, NULL, section);
    values->graph.output_count = count;
    return true;
}

void figures_row(struct section *section, const char *name, double value)
{
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    const int row = formulas_find(formulas, name);
    const struct unit unit = formulas_row(formulas, row)->unit;
    section_number(section, name, value, unit);
    for (size_t i = 0; i < formulas->alias_count; i++)
        if (formulas->aliases[i].row == row)
            section_number(section, formulas->aliases[i].name, value, unit);
}

static void add_inputs(const struct scenario *scenario, struct section *list)
{
    for (size_t i = 0; i < scenario->weighed_count; i++) {
        const struct weighed *input = &scenario->weighed[i];
        const char *source = input->source ? input->source : row_source(input->row);
        if (input->origin == ORIGIN_AXIS)
            continue;
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_word(one, "input", row_name(input->row));
        section_word(one, "meaning", row_meaning(input->row));
        if (!input->entry)
            section_number(one, "value", input->value, input->row->unit);
        section_word(one, "origin", origin_name(input->origin));
        section_word(one, "source", source ? source : "");
        section_number(one, "elasticity", input->elasticity, unit_one);
        section_word(one, "output", input->output ? input->output : "");
    }
}

void figures_notes(const struct scenario *scenario, struct section *section)
{
    struct section *list = section_add(section, "assumed", SECTION_TEXTS);
    for (size_t i = 0; i < scenario->facts.note_count; i++)
        section_word(list, NULL, scenario->facts.notes[i]);
    if (!command_given(scenario->command, "report"))
        return;
    struct section *inputs = section_add(section, "inputs", SECTION_LIST);
    struct section *noted = section_add(section, "noted", SECTION_TEXTS);
    inputs->text_only = noted->text_only = true;
    for (size_t i = 0; i < scenario->facts.note_count; i++)
        if (!name_listed(scenario->weighed_notes, scenario->weighed_note_count, scenario->facts.notes[i]))
            section_word(noted, NULL, scenario->facts.notes[i]);
    add_inputs(scenario, inputs);
    section_number(section, "fitted_constants", (double)scenario->fitted_count, unit_one)->text_only = true;
}

void figures_noted(struct section *section, const char *note)
{
    struct section *noted = NULL;
    for (size_t i = 0; i < section->inside_count; i++)
        if (section->inside[i]->name && !strcmp(section->inside[i]->name, "noted"))
            noted = section->inside[i];
    if (!noted) {
        noted = section_add(section, "noted", SECTION_TEXTS);
        noted->text_only = true;
    }
    section_word(noted, NULL, note);
}

void figures_words(const struct scenario *scenario, struct section *section)
{
    struct section *list = section_add(section, "words", SECTION_TEXTS);
    size_t count;
    const char *const *words = scenario_words(scenario, &count);
    for (size_t i = 0; i < count; i++)
        section_word(list, NULL, words[i]);
}

static const char *const origins[] = { "given", "sheet", "model", "fitted", "default", "derived",
                                       "chosen" };

const struct record figure_record = { "Figure", (const struct answer_field[]){
    { FIELD_NUMBER, "value", .help = "value in base units", .unit = "", .always = true,
      .null = true },
    { FIELD_TEXT, "reason", .help = "why there is no value" },
    { FIELD_TEXT, "unit", .help = "unit of the value", .always = true },
    { FIELD_NUMBER, "low", .help = "lower end of the 80 % interval of a prediction",
      .unit = "" },
    { FIELD_NUMBER, "high", .help = "upper end", .unit = "" },
    { FIELD_NUMBERS, "range", .help = "ends of the range that follows from given ranges or distributions" },
    { FIELD_TEXT, "range_kind", .help = "range: of the given ranges, proved; seen: least and most of draws in them; 5-95 %: of draws" },
    { FIELD_TEXT, "origin", .help = "given, sheet, model, fitted, default, derived or chosen",
      .names = origins,
      .count = sizeof origins / sizeof *origins, .always = true },
    { FIELD_TEXT, "source", .help = "where the value comes from, in words" },
    { 0 } } };
