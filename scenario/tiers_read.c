/* A user's sheet of tiers, checked against the rows that read it. */
#include "scenario/scenario.h"

#include <string.h>

/* A cell may be another row, of the same unit. */
static bool row_fits(const struct formulas *formulas, const struct catalog_entry *entry, const struct catalog_row *row,
                     struct error *error)
{
    const int at = formulas_find(formulas, row->fact), of = formulas_find(formulas, row->value);
    if (at < 0 || !row->chosen || strcmp(row->unit, "row"))
        return true;
    const struct row *known = formulas_row(formulas, at);
    if (of >= 0 && unit_same(formulas_row(formulas, of)->unit, known->unit))
        return true;
    error_set(error, "%s:%d: %s cannot be the row '%.60s'", entry->sheet->csv.file, row->line, row->fact, row->value);
    return error_expected(error, "a row in %s", row_unit_text(known));
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
        if (!row_fits(&scenario->formulas, entry, &row, error))
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
