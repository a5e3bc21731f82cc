/* What the prices of several hosts say about an open model, by the laws fitted over the market of
 * open models (formulas/prices/price-list.chalk).
 *
 * Each host counts once, with its lowest price; prices far off the median (slip_ratio) are errors
 * of units and are dropped. The tenth percentile over hosts is the input of the laws.
 * Prices outside the range that a law was fitted on are refused. Where the model is in the
 * catalog, its true parameters are shown beside the estimate. */
#include "ask/deduce/deduce.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* ---- hosts -------------------------------------------------------------------------------- */

struct hosts {
    double *input, *output;         /* each host's lowest */
    const char **sellers;
    size_t count, room, input_room, output_room;
    size_t entries;
};

/* "deepseek-ai/DeepSeek-V3-0324", by what comes after the slash. */
static bool entry_called(const struct catalog_entry *entry, const char *model)
{
    if (!entry || name_same(entry->name, model))
        return entry != NULL;
    for (size_t i = 0; i < entry->rows; i++) {
        struct catalog_row row = catalog_row(entry, i);
        const char *slash = strrchr(row.value, '/');
        if (!strcmp(row.fact, "alias") && name_same(slash ? slash + 1 : row.value, model))
            return true;
    }
    return false;
}

/* Keep one price per host: its lowest for this model. */
static void add_host(struct arena *arena, struct hosts *hosts, const struct price_reading *reading)
{
    double input = reading->price->at[0][0][PRICE_INPUT];
    double output = reading->price->at[0][0][PRICE_OUTPUT];
    hosts->entries++;
    for (size_t i = 0; i < hosts->count; i++)
        if (!strcmp(hosts->sellers[i], reading->price->seller)) {
            hosts->input[i] = fmin(hosts->input[i], input);
            hosts->output[i] = fmin(hosts->output[i], output);
            return;
        }
    size_t inputs = hosts->count, outputs = hosts->count;
    *(double *)arena_push(arena, &hosts->input, &inputs, &hosts->input_room, sizeof(double)) = input;
    *(double *)arena_push(arena, &hosts->output, &outputs, &hosts->output_room, sizeof(double)) =
        output;
    *(const char **)arena_push(arena, &hosts->sellers, &hosts->count, &hosts->room,
                               sizeof(char *)) = reading->price->seller;
}

/* Drop prices far off the median, which are errors of units. */
static size_t drop_outliers(struct arena *arena, struct hosts *hosts, double most)
{
    if (!hosts->count)
        return 0;
    double *sorted = arena_array(arena, hosts->count, sizeof *sorted);
    memcpy(sorted, hosts->output, hosts->count * sizeof *sorted);
    double median = sizes_quantile(sorted, hosts->count, 0.5);
    size_t kept = 0, dropped = 0;
    for (size_t i = 0; i < hosts->count; i++) {
        if (price_slips(hosts->output[i], median, most)) {
            dropped++;
            continue;
        }
        hosts->input[kept] = hosts->input[i];
        hosts->output[kept++] = hosts->output[i];
    }
    hosts->count = kept;
    return dropped;
}

/* ---- what they say ------------------------------------------------------------------------ */

/* A law's estimate and its 90 % interval: a factor either way. */
static bool add_estimate(struct deduction *deduction, const char *row, const char *error_row,
                         const char *label, struct section *lines)
{
    const char *const texts[] = { row, error_row };
    struct values values;
    if (!values_of(&deduction->scenario, texts, 2, &values, deduction->error))
        return false;
    const double middle = values.at[0], factor = values.at[1];
    struct section *one = section_add(deduction->section, row, SECTION_RECORD);
    section_number(one, "value", middle, unit_one);
    section_word(one, "unit", "1");
    section_number(one, "q05", middle / factor, unit_one);
    section_number(one, "q95", middle * factor, unit_one);
    struct section *line = section_add(lines, NULL, SECTION_RECORD);
    section_word(line, "label", label);
    section_number(line, "middle", middle, unit_one);
    section_word(line, "most", deduce_range(deduction, NAME_params_total, middle / factor, middle * factor));
    section_number(line, "factor", factor, unit_one);
    return true;
}

static bool market_unknown(struct deduction *deduction, const char *model, size_t hosts)
{
    const struct price_sheet *sheet = &deduction->sheet;
    if (hosts) {
        error_set(deduction->error, "%.200s: '%.100s' has %zu host%s", sheet->file, model, hosts,
                  hosts == 1 ? "" : "s");
        return error_expected(deduction->error, "3 hosts or more");
    }
    const char **names = arena_array(deduction->arena, sheet->count, sizeof *names);
    for (size_t i = 0; i < sheet->count; i++)
        names[i] = price_model(&sheet->prices[i]);
    const char *near = name_nearest(model, names, sheet->count);
    error_set(deduction->error, "%.200s has no model '%.100s'", sheet->file, model);
    return near ? error_did_you_mean(deduction->error, near, "")
                : error_expected(deduction->error, "a model with several hosts");
}

bool deduce_market(struct deduction *deduction, const char *model)
{
    enum { FEWEST = 3 };
    static const char *const published[] = { "params_total_published", "params_active_published" };
    const double cheap = 0.1;
    struct arena *arena = deduction->arena;
    struct section *section = deduction->section;
    struct facts *facts = &deduction->scenario.facts;
    const struct formulas *formulas = &deduction->scenario.formulas;
    struct catalog *catalog = arena_alloc(arena, sizeof *catalog);
    struct hosts hosts = { 0 };
    catalog_open(catalog, arena);
    /* A name with .csv would be read as a file. */
    const struct catalog_entry *entry = strstr(model, ".csv") ? NULL
                                        : catalog_find(catalog, CATALOG_MODEL, model, NULL);
    for (size_t i = 0; i < deduction->sheet.count; i++) {
        const struct price *price = &deduction->sheet.prices[i];
        if (name_same(price_model(price), model) || name_same(price->model, model) ||
            entry_called(entry, price_model(price)))
            add_host(arena, &hosts, &deduction->readings[i]);
    }
    const size_t dropped = drop_outliers(arena, &hosts, value_or_nan(&deduction->scenario, NAME_slip_ratio));
    if (hosts.count < FEWEST)
        return market_unknown(deduction, model, hosts.count);
    const double output = sizes_quantile(hosts.output, hosts.count, cheap);
    const double input = sizes_quantile(hosts.input, hosts.count, cheap);
    const struct row *row = formulas_row(formulas, formulas_find(formulas, NAME_market_output));
    if (!(output >= row->low && output <= row->high)) {
        error_set(deduction->error, "the low end of the output price is %s, out of range",
                  quantity_text(arena, output, row->unit, 3));
        return error_expected(deduction->error, "%s to %s, for which the law was fitted",
                          quantity_text(arena, row->low, row->unit, 3),
                          quantity_text(arena, row->high, row->unit, 3));
    }
    facts_set(facts, NAME_market_output, output, ORIGIN_SHEET, deduction->sheet.file);
    facts_set(facts, NAME_market_input, input, ORIGIN_SHEET, deduction->sheet.file);
    section_number(section, "hosts", (double)hosts.count, unit_one);
    section_number(section, "dropped", (double)dropped, unit_one);
    section_number(section, NAME_market_output, output, row->unit);
    section_number(section, NAME_market_input, input, row->unit);
    section_word(section, "market", model)->text_only = true;
    struct section *lines = section_add(section, "estimates", SECTION_LIST);
    lines->text_only = true;
    if (!add_estimate(deduction, NAME_market_params_total, NAME_market_law_error, "total parameters",
                      lines) ||
        !add_estimate(deduction, NAME_market_params_active, NAME_market_active_error,
                      "active parameters", lines))
        return false;
    for (int i = 0; entry && i < 2; i++) {
        double value;                       /* of the catalog: the truth, beside the estimate */
        if (catalog_number(entry, published[i], &value))
            section_number(section, published[i], value, unit_one);
    }
    return true;
}

static const struct record line_record = { "EstimateLine", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "label", "middle", "most", "factor" }, .count = 4 },
    { 0 } } };
static const struct record estimate_record = { "Estimate", (const struct answer_field[]){
    { FIELD_NUMBER, "value", .help = "by the law of the market", .always = true },
    { FIELD_TEXT, "unit", .help = "of the value", .always = true },
    { FIELD_NUMBER, "q05", .help = "low end of its 90 % interval", .always = true },
    { FIELD_NUMBER, "q95", .help = "high end of it", .always = true },
    { 0 } } };

const struct record deduce_market_record = { "MarketSizes", (const struct answer_field[]){
    { FIELD_NUMBER, "hosts", .help = "that sell the model" },
    { FIELD_NUMBER, "dropped", .help = "prices more than ten times off the median" },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_market_output, NAME_market_input }, .count = 2 },
    { FIELD_RECORD, .help = "a size by the law of the market", .record = &estimate_record, .count = 2,
      .names = (const char *const[]){ NAME_market_params_total, NAME_market_params_active } },
    { FIELD_NUMBER, "params_total_published", .help = "of the catalog" },
    { FIELD_NUMBER, "params_active_published", .help = "of the catalog" },
    { FIELD_TEXT_ONLY, "estimates", .record = &line_record },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "market" }, .count = 1 },
    { 0 } } };
