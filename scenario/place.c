/* How a chip is paid for and where it stands: --price-kind and --region.
 *
 * A machine's sheet has prices by the hour of several kinds (chip_price_spot, ...). A chip that is bought costs
 * owned_chip_price, a row. The sheet data/grids.csv has the electricity of regions. */
#include "scenario/scenario.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "catalog/sheet.h"

#include <string.h>

static const struct option list[] = {
    { "price", "PRICE", OPTION_ROW, .row = NAME_chip_price, PRICE_MEANT, .otherwise = "the machine's, from data/hardware.csv",
      .help = "what an hour of a chip costs" },
    { "price-kind", "KIND", OPTION_CHOICE, .choices = price_kinds, .otherwise = "the kind of the machine's price",
      .help = "how a chip is paid for" },
    { "region", "NAME", OPTION_TEXT, .otherwise = "the United States",
      .help = "grid: carbon, water, price of electricity" },
    { 0 } };
const struct option_group price_options = { "Price and place", list };

/* ---- kinds of prices ---------------------------------------------------------------------- */

enum { OWNED = 4 };
static const char *const kind_facts[OWNED] = { "chip_price_on_demand", "chip_price_spot", "chip_price_contract_1y",
                                               "chip_price_contract_3y" };

static size_t kind_at(const char *kind)
{
    size_t at = 0;
    while (price_kinds[at] && price_kinds[at] != kind)
        at++;
    return at;
}

/* "contract-3y, on-demand": the kinds that the machine's sheet knows. */
static const char *known_kinds(const struct scenario *scenario)
{
    struct buffer out = { .arena = scenario->arena };
    buffer_add(&out, "", 0);
    for (size_t i = 0; i < OWNED; i++)
        if (facts_find(&scenario->facts, kind_facts[i]) || i == kind_at(scenario->price_kind))
            buffer_print(&out, "--price-kind %s, ", price_kinds[i]);
    return out.data;
}

static bool kind_unknown(const struct scenario *scenario, size_t at, struct error *error)
{
    error_set(error, "--price-kind %s: no such price of %s is known", price_kinds[at], scenario->machine);
    return error_expected(error, "%s--price 2USD/h", known_kinds(scenario));
}

/* A card is sold without the computer around it: its sheet has the price at launch. */
static bool pay_by_owning(struct scenario *scenario, struct error *error)
{
    struct facts *facts = &scenario->facts;
    const struct fact *card = facts_find(facts, "purchase_price");
    bool given = facts_find(facts, NAME_machine_cost) != NULL;
    const char *const *sets;
    const size_t count = command_texts(scenario->arena, scenario->command, "set", &sets);
    for (size_t i = 0; i < count && !given; i++)
        given = !strncmp(sets[i], NAME_machine_cost "=", sizeof NAME_machine_cost);
    if (!given && !card) {
        error_set(error, "--price-kind owned: no purchase price of %s is known", scenario->machine);
        return error_expected(error, "--set " NAME_machine_cost "=40000USD, its price per chip");
    }
    if (!given) {
        facts_set(facts, NAME_machine_cost, card->value, ORIGIN_SHEET, card->source);
        facts_note(facts, "bought: %s at %s, the card alone", scenario->machine,
                   quantity_text(scenario->arena, card->value, scenario_unit(scenario, NAME_machine_cost), 4));
    }
    facts_bind(facts, NAME_chip_price, NAME_owned_chip_price, ORIGIN_SHEET, "--price-kind owned");
    return true;
}

static bool pay_kind(struct scenario *scenario, const char *kind, struct error *error)
{
    const size_t at = kind_at(price_kind_named(kind));
    if (!scenario->machine && command_text(scenario->command, "on"))
        return true;                    /* the verb has another scenario with the machine */
    if (!scenario->machine) {
        error_set(error, "--price-kind %s: prices are of a machine, and none is named", kind);
        return error_expected(error, "--on MACHINE, or --price 2USD/h");
    }
    if (at != OWNED && at != kind_at(scenario->price_kind)) {
        const struct fact *fact = facts_find(&scenario->facts, kind_facts[at]);
        if (!fact)
            return kind_unknown(scenario, at, error);
        facts_set(&scenario->facts, NAME_chip_price, fact->value, ORIGIN_SHEET, fact->source);
    }
    scenario->price_kind = price_kinds[at];
    return at != OWNED || pay_by_owning(scenario, error);
}

/* ---- regions ------------------------------------------------------------------------------ */

/* The name under which the sheet has a region, or an alias of it; NULL: none. */
static const char *region_name(const struct sheet *sheet, const char *name)
{
    for (size_t i = 0; i < sheet->csv.rows; i++)
        if (name_same(csv_cell(&sheet->csv, i, sheet->name), name) ||
            (strcmp(csv_cell(&sheet->csv, i, sheet->unit), "text") == 0 &&
             name_same(csv_cell(&sheet->csv, i, sheet->value), name)))
            return csv_cell(&sheet->csv, i, sheet->name);
    return NULL;
}

static const char *cell(const struct sheet *sheet, size_t line, const char *column)
{
    return csv_cell(&sheet->csv, line, csv_column(&sheet->csv, column));
}

/* The line of a region's fact; the number of lines: it has none. */
static size_t line_of(const struct sheet *sheet, const char *region, const char *fact)
{
    size_t line = 0;
    while (line < sheet->csv.rows && (strcmp(csv_cell(&sheet->csv, line, sheet->name), region) ||
                                      strcmp(csv_cell(&sheet->csv, line, sheet->fact), fact)))
        line++;
    return line;
}

static bool region_unknown(struct scenario *scenario, const struct sheet *sheet, const char *name,
                           struct error *error)
{
    struct buffer all = { .arena = scenario->arena };
    const char *before = "";
    for (size_t i = 0; i < sheet->csv.rows; i++) {
        const char *at = csv_cell(&sheet->csv, i, sheet->name);
        if (strcmp(at, before))
            buffer_print(&all, "%s%s", *before ? ", " : "", at);
        before = at;
    }
    error_set(error, "--region: unknown region '%.60s'", name);
    return error_expected(error, "one of %s", all.data);
}

static bool stand_in(struct scenario *scenario, const char *name, struct error *error)
{
    static const char *const rows[] = { NAME_grid_carbon, NAME_grid_water, NAME_electricity_price };
    const char *file = "data/grids.csv";
    struct sheet sheet;
    struct buffer missing = { .arena = scenario->arena };
    sheet_open(file, &sheet);
    const char *region = region_name(&sheet, name);
    if (!region)
        return region_unknown(scenario, &sheet, name, error);
    buffer_add(&missing, "", 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t line = line_of(&sheet, region, rows[i]);
        if (line == sheet.csv.rows)
            buffer_print(&missing, "%s%s", missing.size ? ", " : "", rows[i]);
        else
            facts_set(&scenario->facts, rows[i], sheet_number(&sheet, region, rows[i]), ORIGIN_SHEET,
                      arena_print(scenario->arena, "%s:%d: %s, %s", file, sheet.csv.lines[line],
                                  cell(&sheet, line, "source"), cell(&sheet, line, "date")));
    }
    const double carbon = sheet_number(&sheet, region, NAME_grid_carbon);
    facts_note(&scenario->facts, "electricity of %s: %s, mean of %s", sheet_text(&sheet, region, "title"),
               quantity_text(scenario->arena, carbon, scenario_unit(scenario, NAME_grid_carbon), 3),
               cell(&sheet, line_of(&sheet, region, NAME_grid_carbon), "date"));
    if (missing.size)
        facts_note(&scenario->facts, "not known of %s, so the defaults hold: %s",
                   sheet_text(&sheet, region, "title"), missing.data);
    return true;
}

bool scenario_pay(struct scenario *scenario, struct error *error)
{
    const char *kind = command_text(scenario->command, "price-kind");
    const char *region = command_text(scenario->command, "region");
    return (!region || stand_in(scenario, region, error)) && (!kind || pay_kind(scenario, kind, error));
}

bool scenario_paid_once(const struct scenario *scenario, struct error *error)
{
    if (!command_given(scenario->command, "price-kind") ||
        !fact_given(facts_find(&scenario->facts, NAME_chip_price)))
        return true;
    error_set(error, "--price-kind says how a chip is paid for, and %s what it costs",
              facts_find(&scenario->facts, NAME_chip_price)->source);
    return error_expected(error, "one of them");
}

/* ---- energy, carbon and water ------------------------------------------------------------- */

const char *const footprint_rows[2][FOOTPRINT_ROWS] = {
    { NAME_metered_energy_per_token, NAME_carbon_per_token, NAME_water_per_token },
    { NAME_pool_metered_energy_per_token, NAME_pool_carbon_per_token, NAME_pool_water_per_token } };

void scenario_footprint(const struct scenario *scenario, bool pools, struct section *section)
{
    static const char *const names[FOOTPRINT_ROWS] = { "energy", "carbon", "water" };
    struct scenario copy = *scenario;
    struct values values;
    struct error ignored;
    if (!command_given(scenario->command, "region") ||
        !values_of(&copy, footprint_rows[pools], FOOTPRINT_ROWS, &values, &ignored))
        return;
    for (int i = 0; i < FOOTPRINT_ROWS; i++) {
        const struct unit unit = scenario_unit(scenario, footprint_rows[pools][i]);
        section_number(section, footprint_rows[pools][i], values.at[i], unit);
        section_number(section, names[i], values.at[i], unit)->text_only = true;
    }
}
