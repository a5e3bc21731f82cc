/* A user's sheet of tiers, checked against the rows that read it. */
#include "scenario/scenario.h"

#include <string.h>

static bool cell_in_range(const struct formulas *formulas, const struct catalog_entry *entry,
                          const struct catalog_row *row, struct arena *arena, struct error *error)
{
    int at = formulas_find(formulas, row->fact);
    const char *file = entry->sheet->csv.file;
    double value;
    if (at < 0 || !row->chosen)
        return true;
    const struct row *known = formulas_row(formulas, at);
    if (!strcmp(row->unit, "row")) {
        int of = formulas_find(formulas, row->value);
        if (of >= 0 && unit_same(formulas_row(formulas, of)->unit, known->unit))
            return true;
        error_set(error, "%s:%d: %s cannot be the row '%.60s'", file, row->line, row->fact,
                  row->value);
        return error_expected(error, "a row in %s", row_unit_text(known));
    }
    if (!catalog_row_number(row, &value) || row_expr(known) ||
        (value >= known->low && value <= known->high))
        return true;
    error_set(error, "%s:%d: %s = %s %s is out of range", file, row->line, row->fact,
              row->value, row->unit);
    return error_expected(error, "%s to %s", quantity_text(arena, known->low, known->unit, 4),
                          quantity_text(arena, known->high, known->unit, 4));
}

/* The rows of an entry are evaluated under the name row[entry]. */
static bool entry_good(const struct scenario *scenario, const struct catalog_entry *entry,
                       struct error *error)
{
    if (strpbrk(entry->name, "[]\"'\n")) {
        error_set(error, "%s: invalid name of a tier '%.60s'", entry->sheet->csv.file, entry->name);
        return error_expected(error, "letters, digits, '-' and '_'");
    }
    for (size_t i = 0; i < entry->rows; i++) {
        struct catalog_row row = catalog_row(entry, i);
        if (!cell_in_range(&scenario->formulas, entry, &row, scenario->arena, error))
            return false;
    }
    return true;
}

bool scenario_read_tiers(struct scenario *scenario, const char *path, struct error *error)
{
    enum { LARGEST = 16 << 20 };
    struct catalog *catalog = &scenario->catalog;
    struct text text;
    if (!file_read(scenario->arena, path, LARGEST, &text, error) ||
        !catalog_read(catalog, CATALOG_TIER, path, text, error) ||
        !catalog_tiers_needed(catalog, error))
        return false;
    for (size_t i = 0; i < catalog_count(catalog, CATALOG_TIER); i++)
        if (!entry_good(scenario, catalog_entry(catalog, CATALOG_TIER, i), error))
            return false;
    return true;
}
