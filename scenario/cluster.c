#include "scenario/cluster.h"

#include "build/row_names.h"
#include "catalog/sheet.h"
#include "import/import.h"

#include <string.h>

static bool at_bf16(const struct fact *peak)
{
    return !peak->name || !peak->expression || !strcmp(peak->expression, NAME_peak_bf16);
}

/* Of the smallest weights: "bf16", "fp8" and "fp4", or "int8" and "int4" where they are expanded before the product. */
static const char *format_of(const struct facts *facts)
{
    const struct fact_table *table = facts_table_find(facts, "operator");
    const struct fact *peak = NULL;
    double least = 2;
    for (size_t i = 0; table && i < table->entries; i++) {
        const struct fact *bytes = NULL, *at = NULL;
        for (size_t j = 0; j < table->columns; j++) {
            const struct fact *cell = &table->cell[i * table->columns + j];
            bytes = strcmp(table->column[j], NAME_operator_bytes) ? bytes : cell;
            at = strcmp(table->column[j], NAME_operator_peak) ? at : cell;
        }
        if (bytes && bytes->name && bytes->value < least)
            least = bytes->value, peak = at;
    }
    const bool expanded = !peak || at_bf16(peak);
    return least > 1.5 ? "bf16" : least > 0.75 ? (expanded ? "int8" : "fp8") : expanded ? "int4" : "fp4";
}

const char *cluster_name(const struct scenario *scenario)
{
    const struct catalog *catalog = &scenario->catalog;
    const struct subject *subject = &scenario->subject;
    const struct catalog_entry *machine = subject->machine ? catalog_find(catalog, CATALOG_MACHINE, subject->machine, NULL)
                                                           : NULL;
    if (!scenario->network || !machine || !subject->engine)
        return NULL;
    return arena_print(scenario->arena, "%s %s %s %s", scenario->network, machine->name,
                       catalog_engine_base(catalog, subject->engine), format_of(&scenario->facts));
}

/* A cell of a cluster; NULL: the sheet does not have it. */
static const char *cell(const char *name, const char *column)
{
    const struct csv *csv = csv_built_in(CLUSTERS_FILE);
    const int cluster = csv_column(csv, "cluster");
    for (size_t i = 0; name && i < csv->rows; i++)
        if (!strcmp(csv_cell(csv, i, cluster), name))
            return csv_cell(csv, i, csv_column(csv, column));
    return NULL;
}

const char *cluster_since(const char *name, bool *forms)
{
    const char *seen = cell(name, "forms");
    if (forms && seen)
        *forms = !strcmp(seen, "yes");
    return cell(name, "since");
}

void cluster_set(struct scenario *scenario)
{
    const char *measured = scenario->network ? cell(cluster_name(scenario), "measured") : NULL;
    if (!scenario->network)
        return;
    facts_set(&scenario->facts, NAME_cluster_measured, measured && text_has_word(measured, "together"), ORIGIN_SHEET,
              CLUSTERS_FILE);
    facts_set(&scenario->facts, NAME_cluster_measured_split, measured && text_has_word(measured, "split"), ORIGIN_SHEET,
              CLUSTERS_FILE);
}
