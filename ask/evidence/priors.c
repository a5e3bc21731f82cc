/* Priors of `deduce` (data/priors.csv): ranges of unknowns, which machines may serve, which tiers
 * may keep a cache.
 *
 * Machines and tiers become tables whose entries have a probability and facts of the catalog. A
 * peak rate that a machine lacks is that of the next wider format. Everything is set as facts, so
 * that --set can replace any prior. */
#include "ask/evidence/evidence.h"
#include "build/row_names.h"
#include "catalog/sheet.h"

#include <math.h>
#include <string.h>

static const char *const FILE_NAME = "data/priors.csv";

static double or_zero(double x)
{
    return isnan(x) ? 0 : x;
}

static struct usual usual_at(const struct sheet *sheet, const char *name)
{
    return (struct usual){ sheet_number(sheet, name, "usual_low"),
                           sheet_number(sheet, name, "usual_high") };
}

static void read_beliefs(const struct sheet *sheet, struct priors *priors)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        const char *name = fields[i].cost;
        priors->belief[i] = (struct belief){
            .spread = sheet_number(sheet, name, "spread"),
            .policy = or_zero(sheet_number(sheet, name, "policy")),
            .policy_middle = or_zero(sheet_number(sheet, name, "policy_middle")),
            .policy_spread = or_zero(sheet_number(sheet, name, "policy_spread")),
        };
        priors->usual[i] = usual_at(sheet, name);
    }
    priors->priority = usual_at(sheet, NAME_priority_cost);
    priors->vendor_models = sheet_number(sheet, "vendor", "models");
    priors->vendor_span = sheet_number(sheet, "vendor", "price_span");
    priors->vendor_policy = sheet_number(sheet, "vendor", "policy");
}

/* ---- machines ---------------------------------------------------------------------------- */

struct offer {
    const char *name;
    double share, newer, peak[3], bandwidth, capacity, rent, own;   /* bf16, fp8, fp4 */
};

/* A rate that a machine lacks is that of the next wider type. */
static bool describe_offer(struct scenario *scenario, const char *machine, struct offer *offer)
{
    static const char *const peaks[] = { NAME_peak_bf16, NAME_peak_fp8, NAME_peak_fp4 };
    struct error ignored;
    const struct catalog_entry *entry = catalog_find(&scenario->catalog, CATALOG_MACHINE, machine,
                                                     &ignored);
    if (!entry || !catalog_number(entry, NAME_hbm_bandwidth, &offer->bandwidth) ||
        !catalog_number(entry, NAME_hbm_capacity, &offer->capacity) ||
        !catalog_number(entry, NAME_chip_price, &offer->rent))
        return false;
    for (int i = 0; i < 3; i++)
        if (!catalog_number(entry, peaks[i], &offer->peak[i])) {
            if (!i)
                return false;
            offer->peak[i] = offer->peak[i - 1];
        }
    if (!catalog_number(entry, "chip_price_own_neocloud", &offer->own))
        offer->own = offer->rent;
    return true;
}

static void add_offer(struct scenario *scenario, const struct offer *offer, double from,
                      double total)
{
    struct facts *facts = &scenario->facts;
    struct fact_table *table = facts_table(facts, "offer");
    size_t entry = facts_entry(facts, table, offer->name);
    const struct { const char *column; double value; } cells[] = {
        { NAME_offer_share, offer->share / total },   { NAME_offer_from, from / total },
        { NAME_offer_newer, offer->newer },           { NAME_offer_peak_bf16, offer->peak[0] },
        { NAME_offer_peak_fp8, offer->peak[1] },      { NAME_offer_peak_fp4, offer->peak[2] },
        { NAME_offer_bandwidth, offer->bandwidth },   { NAME_offer_capacity, offer->capacity },
        { NAME_offer_rent, offer->rent },             { NAME_offer_own, offer->own },
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        facts_cell(facts, facts_table(facts, "offer"), entry, cells[i].column, cells[i].value,
                   ORIGIN_SHEET, FILE_NAME);
}

static void read_offers(struct scenario *scenario, const struct sheet *sheet)
{
    enum { MOST = 64 };
    struct offer offers[MOST];
    size_t count = 0;
    double total = 0, from = 0;
    for (size_t i = 0; i < sheet->csv.rows && count < MOST; i++) {
        const char *name = csv_cell(&sheet->csv, i, sheet->name);
        if (strcmp(csv_cell(&sheet->csv, i, sheet->fact), NAME_offer_share))
            continue;
        const char *as = sheet_text(sheet, name, "as");
        struct offer *offer = &offers[count];
        *offer = (struct offer){ .name = name, .share = sheet_number(sheet, name, NAME_offer_share),
                                 .newer = as != NULL };
        if (describe_offer(scenario, as ? as : name, offer))
            total += offers[count++].share;
        else
            facts_note(&scenario->facts, "%s has no known rent: not among the machines "
                       "that may serve", name);
    }
    for (size_t i = 0; i < count; from += offers[i++].share)
        add_offer(scenario, &offers[i], from, total);
}

/* ---- tiers ------------------------------------------------------------------------------- */

static void read_tiers(struct scenario *scenario, const struct sheet *sheet,
                       struct priors *priors)
{
    static const char *const columns[] = { NAME_tier_rent, NAME_tier_rent_spread, NAME_tier_rate,
                                           NAME_tier_rate_spread };
    struct facts *facts = &scenario->facts;
    struct fact_table *table = facts_table(facts, "tier");
    double from = 0;
    for (size_t i = 0; i < table->entries && priors->tiers < DEDUCE_TIERS; i++) {
        const char *name = table->entry[i];
        double share = or_zero(sheet_number(sheet, name, NAME_tier_share));
        facts_cell(facts, table, i, NAME_tier_share, share, ORIGIN_SHEET, FILE_NAME);
        facts_cell(facts, table, i, NAME_tier_from, from, ORIGIN_SHEET, FILE_NAME);
        facts_cell(facts, table, i, NAME_tier_number, (double)i, ORIGIN_SHEET, FILE_NAME);
        for (size_t j = 0; j < sizeof columns / sizeof *columns; j++) {
            double value = sheet_number(sheet, name, columns[j]);
            if (!isnan(value))
                facts_cell(facts, table, i, columns[j], value, ORIGIN_SHEET, FILE_NAME);
        }
        from += share;
        priors->tier[priors->tiers] = name;
        priors->tier_share[priors->tiers++] = share;
    }
}

void priors_read(struct scenario *scenario, struct priors *priors)
{
    struct sheet sheet;
    *priors = (struct priors){ 0 };
    sheet_open(FILE_NAME, &sheet);
    read_beliefs(&sheet, priors);
    read_offers(scenario, &sheet);
    read_tiers(scenario, &sheet, priors);
}
