/* list: everything that has a name: models, machines, tiers, prices, decks of the lecture, formats, rows.
 *
 * Each list is a table for people, and a document with all facts. A row is listed with its
 * aliases, unit and meaning. */
#include "ask/ask.h"

#include "catalog/meant.h"
#include "catalog/sheet.h"
#include "build/row_names.h"

#include <string.h>

static const char aliases[] = "aliases";

static void add_words(struct arena *arena, struct doc *list, const char *words)
{
    for (size_t size; *words; words += size + (words[size] != 0)) {
        size = strcspn(words, " ");
        doc_add_string(arena, list, NULL, arena_copy(arena, words, size));
    }
}

static void finish(struct arena *arena, const char *what, struct table *table,
                   struct answer *answer)
{
    struct doc *list = doc_add(arena, answer->doc, what, DOC_ARRAY);
    for (size_t i = table->columns; i < table->count; i += table->columns) {
        struct doc *one = doc_add(arena, list, NULL, DOC_OBJECT);
        for (size_t j = 0; j < table->columns; j++)
            if (strcmp(table->cells[j], aliases))
                doc_add_string(arena, one, table->cells[j], table->cells[i + j]);
            else
                add_words(arena, doc_add(arena, one, aliases, DOC_ARRAY), table->cells[i + j]);
    }
    table_print(table, &answer->text, "");
    table_csv(table, &answer->csv);
}

static void list_catalog(struct arena *arena, const struct catalog *catalog,
                         enum catalog_kind kind, const char *what, const char *const *facts,
                         size_t fact_count, struct answer *answer)
{
    struct table table = { .arena = arena, .columns = 2 + fact_count, .left = "llllllll" };
    table_cell(&table, "name");
    table_cell(&table, "title");
    for (size_t j = 0; j < fact_count; j++)
        table_cell(&table, "%s", facts[j]);
    for (size_t i = 0; i < catalog_count(catalog, kind); i++) {
        const struct catalog_entry *entry = catalog_entry(catalog, kind, i);
        table_cell(&table, "%s", entry->name);
        table_cell(&table, "%s", entry->title);
        for (size_t j = 0; j < fact_count; j++) {
            const char *cell = "";
            for (size_t k = 0; k < entry->rows; k++) {
                struct catalog_row row = catalog_row(entry, k);
                if (row.chosen && !strcmp(row.fact, facts[j]))
                    cell = strcmp(row.unit, "text") && *row.unit && strcmp(row.unit, "1")
                           ? arena_print(arena, "%s %s", row.value, row.unit) : row.value;
            }
            table_cell(&table, "%s", cell);
        }
    }
    finish(arena, what, &table, answer);
}

static void list_rows(struct arena *arena, struct answer *answer)
{
    const struct formulas *formulas = formulas_built_in(0);
    struct table table = { .arena = arena, .columns = 5, .left = "lllll" };
    static const char *const head[] = { "name", "unit", "symbol", "meaning", aliases };
    for (int i = 0; i < 5; i++)
        table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < formulas->count; i++) {
        table_cell(&table, "%s", row_name(formulas_row(formulas, i)));
        table_cell(&table, "%s", row_unit_text(formulas_row(formulas, i)));
        table_cell(&table, "%s", row_symbol(formulas_row(formulas, i)));
        table_cell(&table, "%s", row_meaning(formulas_row(formulas, i)));
        const char *also = row_aliases(formulas_row(formulas, i));
        table_cell(&table, "%s", also ? also : "");
    }
    finish(arena, "rows", &table, answer);
}

static void list_formats(struct arena *arena, struct answer *answer)
{
    const struct formats *formats = formats_built_in();
    struct table table = { .arena = arena, .columns = 3, .left = "lrl" };
    table_cell(&table, "name");
    table_cell(&table, "bytes");
    table_cell(&table, "peak");
    for (size_t i = 0; i < formats->count; i++) {
        table_cell(&table, "%s", formats->format[i].name);
        table_cell(&table, "%g", formats->format[i].bytes);
        table_cell(&table, "%s", formats->format[i].peak);
    }
    finish(arena, "formats", &table, answer);
}

/* The inputs that the lecture uses, for --deck: a line for each row of a deck. */
static void list_decks(struct arena *arena, struct answer *answer)
{
    static const char *const head[] = { "deck", "row", "value", "source", "note" };
    enum { COLUMNS = sizeof head / sizeof *head };
    const struct csv *csv = csv_built_in("data/decks.csv");
    struct table table = { .arena = arena, .columns = COLUMNS, .left = "lllll" };
    for (size_t j = 0; j < COLUMNS; j++)
        table_cell(&table, "%s", head[j]);
    for (size_t i = 0; i < csv->rows; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            table_cell(&table, "%s", csv_cell(csv, i, csv_column(csv, head[j])));
    finish(arena, "decks", &table, answer);
}

static const char names[] = "models, hardware, tiers, prices, decks, rows or formats";

bool ask_list(struct arena *arena, const struct command *command, struct answer *answer,
              struct error *error)
{
    static const char *const machine[] = { NAME_peak_bf16, NAME_peak_fp8, NAME_hbm_capacity,
                                           NAME_hbm_bandwidth, NAME_scale_up_chips, NAME_chip_price };
    static const char *const model[] = { "params_total_published", "params_active_published" };
    static const char *const tier[] = { NAME_tier_capacity, NAME_tier_bandwidth, NAME_tier_price };
    static const char *const price[] = { "input", "output", "cached_read" };
    const struct catalog *catalog = catalog_built_in();
    const char *what = command->word_count ? command->words[0] : "";
    if (command->word_count > 1) {
        error_set(error, "list takes one name, %zu were given", command->word_count);
        return error_expected(error, "%s", names);
    }
    if (!strcmp(what, "hardware") || !strcmp(what, "machines"))
        list_catalog(arena, catalog, CATALOG_MACHINE, "hardware", machine, 6, answer);
    else if (!strcmp(what, "models"))
        list_catalog(arena, catalog, CATALOG_MODEL, "models", model, 2, answer);
    else if (!strcmp(what, "tiers"))
        list_catalog(arena, catalog, CATALOG_TIER, "tiers", tier, 3, answer);
    else if (!strcmp(what, "prices"))
        list_catalog(arena, catalog, CATALOG_PRICE, "prices", price, 3, answer);
    else if (!strcmp(what, "rows"))
        list_rows(arena, answer);
    else if (!strcmp(what, "formats"))
        list_formats(arena, answer);
    else if (!strcmp(what, "decks"))
        list_decks(arena, answer);
    else {
        static const char *const lists[] = { "models", "hardware", "machines", "tiers", "prices", "decks", "rows", "formats" };
        const char *near = name_nearest(what, lists, sizeof lists / sizeof *lists);
        error_set(error, *what ? "unknown list '%.60s'" : "list needs a name", what);
        if (meant_explain("list", what, error))
            return false;
        return near ? error_did_you_mean(error, near, arena_print(arena, " The lists are %s", names))
                    : error_expected(error, "%s", names);
    }
    return true;
}

const struct verb verb_list = {
    "list", "models | hardware | tiers | prices | decks | rows | formats",
    "List models, hardware, tiers, prices, decks, rows or formats.",
    { "chalkline list hardware", "chalkline list rows --csv" },
    { &table_options, &output_options }, .ask = ask_list };
