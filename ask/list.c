/* list: everything that has a name: models, machines, tiers, prices, decks of the lecture, formats, rows.
 *
 * Each list is a table for people, and a document with all facts. A row is listed with its
 * aliases, unit and meaning. */
#include "ask/ask.h"

#include "catalog/meant.h"
#include "catalog/sheet.h"
#include "build/row_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char aliases[] = "aliases";

static void add_words(struct arena *arena, struct doc *list, const char *words)
{
    for (size_t size; *words; words += size + (words[size] != 0)) {
        size = strcspn(words, " ");
        doc_add_string(arena, list, NULL, arena_copy(arena, words, size));
    }
}

/* "32", "8TB/s" and "2.36 USD/h", not "0: compute overlaps". */
static bool is_number(const char *cell)
{
    char *rest;
    struct unit unit;
    double scale;
    struct error error;
    if (!isdigit((unsigned char)*cell))
        return false;
    strtod(cell, &rest);
    rest += *rest == ' ';
    return !*rest || unit_parse(text_of(rest), &unit, &scale, &error);
}

/* Keeps the lines that have all words, in whatever cell that is no number; false: none has. */
static bool keep(struct table *table, const char *const *words, size_t count)
{
    size_t kept = table->columns;
    for (size_t i = table->columns; i < table->count; i += table->columns) {
        size_t found = 0;
        for (size_t k = 0; k < count; k++)
            for (size_t j = 0, more = 1; j < table->columns && more; j++)
                found += !(more = is_number(table->cells[i + j]) || !name_within(table->cells[i + j], words[k]));
        for (size_t j = 0; found == count && j < table->columns; j++)
            table->cells[kept++] = table->cells[i + j];
    }
    table->count = kept;
    return kept > table->columns;
}

static void finish(struct arena *arena, const char *what, const struct table *table, struct answer *answer)
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

static struct table list_catalog(struct arena *arena, const struct catalog *catalog, enum catalog_kind kind,
                                 const char *const *facts, size_t fact_count)
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
    return table;
}

static struct table list_rows(struct arena *arena)
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
    return table;
}

static struct table list_formats(struct arena *arena)
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
    return table;
}

/* The inputs that the lecture uses, for --deck: a line for each row of a deck. */
static struct table list_decks(struct arena *arena)
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
    return table;
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
    struct table table;
    if (!strcmp(what, "machines"))
        what = "hardware";
    if (!strcmp(what, "hardware"))
        table = list_catalog(arena, catalog, CATALOG_MACHINE, machine, 6);
    else if (!strcmp(what, "models"))
        table = list_catalog(arena, catalog, CATALOG_MODEL, model, 2);
    else if (!strcmp(what, "tiers"))
        table = list_catalog(arena, catalog, CATALOG_TIER, tier, 3);
    else if (!strcmp(what, "prices"))
        table = list_catalog(arena, catalog, CATALOG_PRICE, price, 3);
    else if (!strcmp(what, "rows"))
        table = list_rows(arena);
    else if (!strcmp(what, "formats"))
        table = list_formats(arena);
    else if (!strcmp(what, "decks"))
        table = list_decks(arena);
    else {
        static const char *const lists[] = { "models", "hardware", "machines", "tiers", "prices", "decks", "rows", "formats" };
        const char *near = name_nearest(what, lists, sizeof lists / sizeof *lists);
        error_set(error, *what ? "unknown list '%.60s'" : "list needs a name", what);
        if (meant_explain("list", what, error))
            return false;
        return near ? error_did_you_mean(error, near, arena_print(arena, " The lists are %s", names))
                    : error_expected(error, "%s", names);
    }
    if (command->word_count > 1 && !keep(&table, command->words + 1, command->word_count - 1)) {
        error_set(error, "list %s: nothing has '%.60s'%s", what, command->words[1], command->word_count > 2 ? " and the other words" : "");
        return error_suggest(error, "`chalkline list %s` lists all; words may stand in a name, a title, a meaning", what);
    }
    finish(arena, what, &table, answer);
    return true;
}

const struct verb verb_list = {
    "list", "models | hardware | tiers | prices | decks | rows | formats [WORD...]",
    "List models, hardware, tiers, prices, decks, rows or formats; those with a WORD.",
    { "chalkline list hardware", "chalkline list models qwen3", "chalkline list rows --csv" },
    { &table_options, &output_options }, .ask = ask_list };
