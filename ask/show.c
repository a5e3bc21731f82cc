/* show: one machine, model, tier, price or row with its sources. */
#include "ask/ask.h"

static void show_entry(struct arena *arena, const struct catalog_entry *entry,
                       struct answer *answer)
{
    static const char *const head[] = { "fact", "value", "unit", "mark", "date", "source", "note" };
    struct table table = { .arena = arena, .columns = 7, .left = "lllllll" };
    struct doc *facts = doc_add(arena, answer->doc, entry->name, DOC_ARRAY);
    for (int i = 0; i < 7; i++)
        table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < entry->rows; i++) {
        struct catalog_row row = catalog_row(entry, i);
        const char *cells[] = { row.fact, row.value, row.unit, row.mark, row.date, row.source,
                                row.note };
        struct doc *one = doc_add(arena, facts, NULL, DOC_OBJECT);
        for (int j = 0; j < 7; j++) {
            table_cell(&table, "%.200s", cells[j]);
            doc_add_string(arena, one, head[j], cells[j]);
        }
    }
    buffer_print(&answer->text, "%s (%s)\n", entry->title, entry->name);
    table_print(&table, &answer->text, "  ");
    table_csv(&table, &answer->csv);
}

static bool show_row(struct arena *arena, const char *name, struct answer *answer)
{
    struct formulas formulas;
    formulas_copy(&formulas, arena, formulas_built_in(FORMULAS_ALL));
    int index = formulas_find(&formulas, name);
    if (index < 0)
        return false;
    struct doc *list = doc_add(arena, answer->doc, name, DOC_ARRAY);
    if (row_aliases(formulas_row(&formulas, index)))
        buffer_print(&answer->text, "also: %s\n", row_aliases(formulas_row(&formulas, index)));
    for (const struct row *row = formulas_row(&formulas, index); row; row = row_before(row)) {
        struct doc *one = doc_add(arena, list, NULL, DOC_OBJECT);
        buffer_print(&answer->text, "%s : %s   %s%s%s\n  %s\n", row_name(row), row_unit_text(row),
                     row_symbol(row), row_with(row) ? "   WITH " : "", row_with(row) ? row_with(row) : "",
                     row_meaning(row));
        doc_add_string(arena, one, "unit", row_unit_text(row));
        doc_add_string(arena, one, "symbol", row_symbol(row));
        doc_add_string(arena, one, "meaning", row_meaning(row));
        doc_add_string(arena, one, "source", row_source(row));
        if (row_expr(row)) {
            struct buffer algebra = { .arena = arena };
            algebra_print(&algebra, &(struct algebra){ .formulas = &formulas }, row_expr(row));
            buffer_print(&answer->text, "  = %s%s\n", algebra.data, row->input ? ", unless given" : "");
            doc_add_string(arena, one, "algebra", algebra.data);
        } else {
            buffer_print(&answer->text, "  an input, %s by default, %s to %s\n",
                         quantity_text(arena, row->value, row->unit, 6),
                         quantity_text(arena, row->low, row->unit, 4),
                         quantity_text(arena, row->high, row->unit, 4));
            doc_add_number(arena, one, "default", row->value);
        }
        buffer_print(&answer->text, "  source: %s; %s:%d\n", *row_source(row) ? row_source(row) : "none",
                     row_file(row), row->line);
    }
    return true;
}

bool ask_show(struct arena *arena, const struct command *command, struct answer *answer,
              struct error *error)
{
    struct catalog catalog;
    struct error first = { .what = "" }, other;
    bool found = false;
    if (command->word_count != 1) {
        error_set(error, command->word_count ? "show takes one name, %zu were given" : "show needs a name",
                  command->word_count);
        return error_expected(error, "one name, as in `chalkline show h100-sxm`");
    }
    const char *name = command->words[0];
    catalog_open(&catalog, arena);
    for (int kind = 0; kind < CATALOG_KINDS; kind++) {
        const struct catalog_entry *entry = catalog_find(&catalog, (enum catalog_kind)kind, name,
                                                         kind ? &other : &first);
        if (entry)
            show_entry(arena, entry, answer);
        found |= entry != NULL;
    }
    found |= show_row(arena, name, answer);
    if (found)
        return true;
    error_set(error, "unknown name '%.100s' (looked in machines, models, tiers, prices, rows)", name);
    return error_suggest(error, "`chalkline list hardware` lists the machines; so do list models, tiers, "
                         "prices and rows");
}

const struct verb verb_show = {
    "show", "NAME", "Show a machine, model, tier, price list entry or row with its sources.",
    { "chalkline show h100-sxm", "chalkline show deepseek-v3", "chalkline show bound_step" },
    { &table_options, &output_options }, .ask = ask_show };
