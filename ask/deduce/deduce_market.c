/* What the prices of several hosts say about an open model, by the laws fitted over the market of
 * open models (formulas/prices/price-list.chalk).
 *
 * Each host counts once, with its lowest price; prices more than ten times off the median are
 * errors of units and are dropped. The tenth percentile over hosts is the input of the laws.
 * Prices outside the range that a law was fitted on are refused. Where the model is in the
 * catalog, its true parameters are shown beside the estimate. */
#include "ask/deduce/deduce.h"

#include "build/row_names.h"
#include "score/score.h"

#include <math.h>
#include <string.h>

/* ---- hosts -------------------------------------------------------------------------------- */

struct hosts {
    double *input, *output;         /* each host's lowest */
    const char **sellers;
    size_t count, room, input_room, output_room;
    size_t entries;
};

struct wanted {
    const char *name;
    const struct catalog_entry *entry;      /* of the catalog, by any of its names; or NULL */
};

static bool open_wanted(struct deduction *deduction, const char *name, struct wanted *wanted)
{
    struct catalog *catalog = arena_alloc(deduction->arena, sizeof *catalog);
    struct error ignored;
    *wanted = (struct wanted){ name, NULL };
    catalog_open(catalog, deduction->arena);
    if (!strstr(name, ".csv"))              /* which would be read as a file */
        wanted->entry = catalog_find(catalog, CATALOG_MODEL, name, &ignored);
    return true;
}

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

static bool is_model(const struct wanted *wanted, const struct price *price)
{
    const char *model = price_model(price);
    return name_same(model, wanted->name) || name_same(price->model, wanted->name) ||
           entry_called(wanted->entry, model);
}

/* Keep one price per host: its lowest for this model. */
static void add_host(struct arena *arena, struct hosts *hosts, const struct reading *reading)
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

/* Drop prices more than ten times off the median, which are errors of units. */
static size_t drop_outliers(struct arena *arena, struct hosts *hosts)
{
    const double most = 10;
    if (!hosts->count)
        return 0;
    double *sorted = arena_array(arena, hosts->count, sizeof *sorted);
    memcpy(sorted, hosts->output, hosts->count * sizeof *sorted);
    double median = sizes_quantile(sorted, hosts->count, 0.5);
    size_t kept = 0, dropped = 0;
    for (size_t i = 0; i < hosts->count; i++) {
        double ratio = hosts->output[i] / median;
        if (ratio > most || ratio < 1 / most) {
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

static bool in_range(struct deduction *deduction, double price)
{
    const struct formulas *formulas = &deduction->scenario.formulas;
    const struct row *row = formulas->rows[formulas_find(formulas, NAME_market_output)];
    if (price >= row->low && price <= row->high)
        return true;
    error_set(deduction->error, "the low end of the output price is %s, out of range",
              quantity_text(deduction->arena, price, row->unit, 3));
    return error_hint(deduction->error, "%s to %s, for which the law was fitted",
                      quantity_text(deduction->arena, row->low, row->unit, 3),
                      quantity_text(deduction->arena, row->high, row->unit, 3));
}

static bool say(struct deduction *deduction, const char *row, const char *error_row,
                const char *label)
{
    struct arena *arena = deduction->arena;
    const char *const texts[] = { row, error_row };
    const double billion = 1e9;
    struct values values;
    if (!values_of(&deduction->scenario, texts, 2, &values, deduction->error))
        return false;
    double middle = values.at[0], factor = values.at[1];
    struct doc *one = doc_add(arena, deduction->answer->doc, row, DOC_OBJECT);
    doc_add_number(arena, one, "value", middle);
    doc_add_string(arena, one, "unit", "1");
    doc_add_number(arena, one, "q05", middle / factor);
    doc_add_number(arena, one, "q95", middle * factor);
    buffer_print(&deduction->answer->text, "  %-18s %.3g B, 90 %% %.3g .. %.3g B   (a factor of %.1f "
                 "either way)\n", label, middle / billion, middle / factor / billion,
                 middle * factor / billion, factor);
    return true;
}

/* Show the model's true parameters beside the estimate, where the catalog has them. */
static void say_truth(struct deduction *deduction, const struct catalog_entry *entry)
{
    static const char *const keys[] = { "params_total_published", "params_active_published" };
    const double billion = 1e9;
    double value;
    if (!entry)
        return;
    for (int i = 0; i < 2; i++)
        if (catalog_number(entry, keys[i], &value)) {
            buffer_print(&deduction->answer->text, "%s%s %.4g B", i ? ", " : "  known of it: ",
                         i ? "active" : "total", value / billion);
            doc_add_number(deduction->arena, deduction->answer->doc, keys[i], value);
        }
    buffer_print(&deduction->answer->text, "\n");
}

static bool market_unknown(struct deduction *deduction, const char *model, size_t hosts)
{
    const struct price_sheet *sheet = &deduction->sheet;
    if (hosts) {
        error_set(deduction->error, "%.200s: '%.100s' has %zu host%s", sheet->file, model, hosts,
                  hosts == 1 ? "" : "s");
        return error_hint(deduction->error, "3 hosts or more");
    }
    const char **names = arena_array(deduction->arena, sheet->count, sizeof *names);
    for (size_t i = 0; i < sheet->count; i++)
        names[i] = price_model(&sheet->prices[i]);
    const char *near = name_nearest(model, names, sheet->count);
    error_set(deduction->error, "%.200s has no model '%.100s'", sheet->file, model);
    return near ? error_suggest(deduction->error, "did you mean '%s'?", near)
                : error_hint(deduction->error, "a model with several hosts");
}

bool deduce_market(struct deduction *deduction, const char *model)
{
    enum { FEWEST = 3 };
    const double cheap = 0.1, million = 1e6;
    struct arena *arena = deduction->arena;
    struct buffer *text = &deduction->answer->text;
    struct hosts hosts = { 0 };
    struct wanted wanted;
    if (!open_wanted(deduction, model, &wanted))
        return false;
    for (size_t i = 0; i < deduction->sheet.count; i++)
        if (is_model(&wanted, &deduction->sheet.prices[i]))
            add_host(arena, &hosts, &deduction->readings[i]);
    size_t dropped = drop_outliers(arena, &hosts);
    if (hosts.count < FEWEST)
        return market_unknown(deduction, model, hosts.count);
    double output = sizes_quantile(hosts.output, hosts.count, cheap);
    double input = sizes_quantile(hosts.input, hosts.count, cheap);
    if (!in_range(deduction, output))
        return false;
    facts_set(&deduction->scenario.facts, NAME_market_output, output, ORIGIN_SHEET, deduction->sheet.file);
    facts_set(&deduction->scenario.facts, NAME_market_input, input, ORIGIN_SHEET, deduction->sheet.file);
    doc_add_number(arena, deduction->answer->doc, "hosts", (double)hosts.count);
    doc_add_number(arena, deduction->answer->doc, "dropped", (double)dropped);
    doc_add_number(arena, deduction->answer->doc, NAME_market_output, output);
    doc_add_number(arena, deduction->answer->doc, NAME_market_input, input);
    buffer_print(text, "%s, %zu hosts (%zu dropped: more than ten times off the median)\n"
                 "  tenth percentile: in %.4g, out %.4g USD/Mtoken\n", model,
                 hosts.count, dropped, input * million, output * million);
    if (!say(deduction, NAME_market_params_total, NAME_market_law_error, "total parameters") ||
        !say(deduction, NAME_market_params_active, NAME_market_active_error, "active parameters"))
        return false;
    buffer_print(text, "  KV bytes           not identifiable from prices of 26 open models\n");
    say_truth(deduction, wanted.entry);
    buffer_print(text, "The law holds for models that several hosts sell; one seller's own price "
                 "follows other laws.\n`chalkline why market_params_total` explains it.\n");
    return true;
}
