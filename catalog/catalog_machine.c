/* Machines, engines and tiers: lines of the catalog become facts in base units.
 *
 * A peak rate for a format that the chip has no units for is bound to the format to which engines
 * expand it. The topology becomes a number of torus axes, 0 for a switch. Constants are applied in
 * the order: all engines, the family of chips, the engine's base version, the engine, its backend for
 * these chips; a later one replaces an earlier one. One note each names doubtful figures and figures that nobody knows. */
#include "catalog/catalog.h"
#include "catalog/flags.h"
#include "catalog/sheet.h"

#include "build/row_names.h"
#include "rows/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

/* "data/hardware.csv:12: NVIDIA, 2025-03, memory", without the cost of printf: every question has
 * hundreds. */
static const char *row_origin(struct arena *arena, const struct catalog_entry *entry,
                              const struct catalog_row *row)
{
    enum { DIGITS = 16 };
    char digits[DIGITS], *line = digits + DIGITS;
    for (int rest = row->line; rest || line == digits + DIGITS; rest /= 10)
        *--line = (char)('0' + rest % 10);
    const struct text parts[] = {
        text_of(entry->sheet->csv.file), text_of(":"),
        { line, (size_t)(digits + DIGITS - line) }, text_of(": "), text_of(row->source),
        text_of(", "), text_of(row->date), text_of(*row->mark ? ", " : ""), text_of(row->mark) };
    size_t size = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        size += parts[i].size;
    char *origin = arena_alloc(arena, size + 1), *at = origin;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        memcpy(at, parts[i].data, parts[i].size);
        at += parts[i].size;
    }
    return origin;
}

static bool has_needed(const struct catalog_entry *entry, struct error *error)
{
    static const char *const needed[] = { NAME_hbm_capacity, NAME_hbm_bandwidth, NAME_scale_up_chips };
    const char *missing = NULL;
    double value;
    if (!catalog_number(entry, NAME_peak_bf16, &value) && !catalog_number(entry, NAME_peak_fp32, &value))
        missing = NAME_peak_bf16;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!catalog_number(entry, needed[i], &value) &&
            !(!strcmp(needed[i], NAME_scale_up_chips) &&
              catalog_number(entry, NAME_chips, &value)))   /* its name before 0.9 */
            missing = needed[i];
    if (missing) {
        error_set(error, "%s: %s has no %s", entry->sheet->csv.file, entry->name, missing);
        return error_expected(error, "a row %s,%s,...", entry->name, missing);
    }
    for (size_t i = 0; i < entry->rows; i++) {
        const struct catalog_row row = catalog_row(entry, i);
        if (!starts_with(row.fact, "peak_") || !row.chosen || !catalog_row_number(&row, &value) || value > 0)
            continue;
        error_set(error, "%s:%d: %s = %s: nothing can be computed at that rate", entry->sheet->csv.file, row.line, row.fact, row.value);
        return error_expected(error, "a rate above 0, or no row %s where nobody states a rate", row.fact);
    }
    return true;
}

/* Weights of a type that the chip has no units for are expanded: engines multiply 4-bit and fp8 ones as bf16
 * (Marlin: rules F1, F4 and F5 of vLLM 0.19). */
static void bind_peaks(const struct catalog_entry *entry, struct facts *facts)
{
    static const struct { const char *peak, *wider; } steps[] = {
        { NAME_peak_bf16, NAME_peak_fp32 }, { NAME_peak_int8, NAME_peak_bf16 },
        { NAME_peak_fp8, NAME_peak_bf16 }, { NAME_peak_fp4, NAME_peak_bf16 },
    };
    double value;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!catalog_number(entry, steps[i].peak, &value))
            facts_bind(facts, steps[i].peak, steps[i].wider, ORIGIN_SHEET, entry->sheet->csv.file);
    if (!catalog_number(entry, NAME_peak_fp32, &value))        /* nobody states it: the matrix rate bounds it */
        facts_bind(facts, NAME_peak_fp32, NAME_peak_bf16, ORIGIN_SHEET, entry->sheet->csv.file);
    if (!catalog_number(entry, NAME_scale_out_bandwidth, &value))      /* no faster than inside */
        facts_bind(facts, NAME_scale_out_bandwidth, NAME_scale_up_bandwidth, ORIGIN_SHEET, entry->sheet->csv.file);
}

/* One note for unverified figures, one for missing ones. */
static void note_doubts(const struct catalog_entry *entry, struct facts *facts)
{
    static const char *const wanted[] = {
        NAME_scale_up_bandwidth, NAME_scale_out_bandwidth, NAME_chip_power,
    };
    size_t memory = 0, announced = 0, assumed = 0;
    double value, chips = 1;
    for (size_t i = 0; i < entry->rows; i++) {
        struct catalog_row row = catalog_row(entry, i);
        if (!catalog_row_number(&row, &value))
            continue;
        memory += !strcmp(row.mark, "memory");
        announced += !strcmp(row.mark, "announced");
        assumed += !strcmp(row.mark, "assumed");
    }
    if (announced)
        facts_note(facts, "%s is announced: %zu of its figures are the vendor's plans",
                   entry->title, announced);
    if (assumed)
        facts_note(facts, "%zu figure%s of %s %s assumed: the vendor gives none", assumed,
                   assumed == 1 ? "" : "s", entry->title, assumed == 1 ? "is" : "are");
    if (memory)
        facts_note(facts, "%zu figure%s of %s %s unverified", memory,
                   memory == 1 ? "" : "s", entry->title, memory == 1 ? "is" : "are");
    char unknown[128] = "";
    catalog_number(entry, NAME_scale_up_chips, &chips);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        size_t used = strlen(unknown);
        bool link = i < 2;                      /* which a chip alone may lack */
        if (!catalog_number(entry, wanted[i], &value) && !(link && chips < 2))
            snprintf(unknown + used, sizeof unknown - used, "%s%s", used ? ", " : "", wanted[i]);
    }
    if (*unknown)
        facts_note(facts, "not known for %s, so the defaults hold: %s", entry->title, unknown);
}

/* "torus-3d" has three axes; a "mesh" has a link between every pair, and no switch on the way. */
static void set_topology(const struct catalog_entry *entry, struct facts *facts)
{
    const char *topology = catalog_text(entry, "scale_up_topology");
    int axes = 0;
    if (!topology)
        return;
    sscanf(topology, "torus-%dd", &axes);
    facts_set(facts, NAME_torus_axes, axes, ORIGIN_SHEET, entry->sheet->csv.file);
    if (!strcmp(topology, "mesh"))
        facts_set(facts, NAME_switch_links, 1, ORIGIN_SHEET, entry->sheet->csv.file);
}

/* The row's own name, where the sheet has an alias. A sheet may say "chips" of its scale-up
 * domain, as all did before 0.9. */
static const char *fact_row(const struct facts *facts, const struct catalog_row *row)
{
    const char *name = strcmp(row->fact, NAME_chips) ? row->fact : NAME_scale_up_chips;
    return formulas_name(formulas_built_in(FORMULAS_ALL), facts->arena, name);
}

/* Cards without a link of their own reach each other through the host. */
static void set_link(const struct catalog_entry *machine, struct facts *facts)
{
    const char *topology = catalog_text(machine, "scale_up_topology");
    if (catalog_is_card(machine) && (topology ? !strcmp(topology, "none") : !facts_find(facts, NAME_scale_up_bandwidth)))
        facts_set(facts, NAME_linked_by_host, 1, ORIGIN_SHEET, "PCI Express: no faster link is known");
    if (catalog_is_card(machine) && !facts_find(facts, NAME_scale_up_bandwidth))
        facts_bind(facts, NAME_scale_up_bandwidth, NAME_host_link, ORIGIN_SHEET, "PCI Express: no faster link is known");
}

/* A machine whose processor and graphics share their memory is a host of its own. */
static void set_host(const struct catalog_entry *machine, struct facts *facts)
{
    if (catalog_shares_memory(machine) && !facts_find(facts, NAME_host_chips))
        facts_set(facts, NAME_host_chips, 1, ORIGIN_SHEET, "a machine of its own");
}

/* The chips of an instance are one host, at that cloud's own price or none. */
static void set_instance(const struct catalog_called *called, const char *name, struct facts *facts)
{
    facts_set(facts, NAME_host_chips, called->chips, ORIGIN_SHEET, called->cloud);
    if (!isnan(called->price))
        facts_set(facts, NAME_chip_price, called->price / 3600, ORIGIN_SHEET, called->price_source);
    facts_note(facts, "%.100s is %.0f of %s, a host of %s; %s; --gpus says how many are used", name, called->chips,
               called->entry->title, called->cloud,
               isnan(called->price) ? "no price of it is known"
               : arena_print(facts->arena, "%.4g USD/h each: %s", called->price, called->price_source));
}

/* What was measured of a figure moves with the figure, so that stating another one still acts: what a driver keeps of
 * the memory remains, and the share of a peak that the best GEMM reaches. A measured value above the whole stays as it is. */
static void set_parts(struct facts *facts)
{
    static const struct { const char *measured, *whole, *part; bool share; } parts[] = {
        { NAME_hbm_reported, NAME_hbm_capacity, NAME_hbm_kept, false },
        { NAME_achieved_bf16, NAME_peak_bf16, NAME_achieved_share_bf16, true },
        { NAME_achieved_fp8, NAME_peak_fp8, NAME_achieved_share_fp8, true },
        { NAME_achieved_fp4, NAME_peak_fp4, NAME_achieved_usual_fp4, true } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct fact *whole = facts_find(facts, parts[i].whole), *measured = facts_find(facts, parts[i].measured);
        if (!whole || !measured || measured->value > whole->value || !(whole->value > 0))
            continue;
        facts_set(facts, parts[i].part, parts[i].share ? measured->value / whole->value : whole->value - measured->value,
                  ORIGIN_SHEET, measured->source);
        facts_remove(facts, parts[i].measured);
    }
}

/* The first of these that the sheet states. */
static double stated(const struct catalog_entry *entry, const char *fact, const char *other, double absent)
{
    double value;
    return catalog_number(entry, fact, &value) || catalog_number(entry, other, &value) ? value : absent;
}

/* The build of llama.cpp for one kind of card runs no card of another maker. */
static bool one_build(const struct catalog *catalog, const struct catalog_called *called, struct error *error)
{
    const struct catalog_entry *first = called->cards[0].entry;
    for (size_t i = 1; i < called->kinds; i++) {
        const struct catalog_entry *other = called->cards[i].entry;
        if (catalog_backend(catalog, "llamacpp", catalog_text(first, "family"), first->name) !=
            catalog_backend(catalog, "llamacpp", catalog_text(other, "family"), other->name)) {
            error_set(error, "%s and %s need different builds of llama.cpp", first->title, other->title);
            return error_expected(error, "cards of one maker");
        }
    }
    return true;
}

/* Cards of several kinds reach each other over PCI Express, whose rate the first states or the host: no bridge joins them. */
static void set_cards(const struct catalog_called *called, struct facts *facts)
{
    struct fact_table *table = facts_table(facts, "card");
    facts_remove(facts, NAME_hbm_reported);         /* of the first kind: the rows take that of the smallest */
    facts_set(facts, NAME_cards_unlike, 1, ORIGIN_SHEET, "the cards that were named");
    facts_set(facts, NAME_scale_up_chips, called->chips, ORIGIN_SHEET, "the cards that were named");
    const char *topology = catalog_text(called->entry, "scale_up_topology");
    if (topology && strcmp(topology, "none"))
        facts_bind(facts, NAME_scale_up_bandwidth, NAME_host_link, ORIGIN_SHEET, "PCI Express: no bridge joins unlike cards");
    for (size_t i = 0; i < called->kinds; i++) {
        const struct catalog_cards *card = &called->cards[i];
        const struct { const char *row; double value; } cells[] = {
            { NAME_cards_alike, card->chips }, { NAME_card_memory, card->memory > 0 ? card->memory : stated(card->entry, NAME_hbm_reported, NAME_hbm_capacity, NAN) },
            { NAME_card_bandwidth, stated(card->entry, NAME_hbm_bandwidth, NAME_hbm_bandwidth, NAN) },
            { NAME_card_peak_fp32, stated(card->entry, NAME_peak_fp32, NAME_peak_bf16, NAN) },
            { NAME_card_fp32_lanes, stated(card->entry, NAME_fp32_lanes, NAME_fp32_lanes, NAN) } };
        const size_t at = facts_entry(facts, table, i ? arena_print(facts->arena, "%s-%zu", card->entry->name, i + 1) : card->entry->name);
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++)
            if (!isnan(cells[c].value))
                facts_cell(facts, table, at, cells[c].row, cells[c].value, ORIGIN_SHEET, card->entry->sheet->csv.file);
    }
    facts_note(facts, "layers are split over %s by their memory, as llama.cpp does; memory is that of the smallest", called->title);
}

enum { BRIDGED = 4 };           /* cards that a bridge joins, at most: boards have more */

/* How many cards of this machine a bridge or a board joins. */
static double joined(const struct catalog_entry *entry)
{
    double chips = 1;
    catalog_number(entry, NAME_scale_up_chips, &chips);
    return chips;
}

/* Cards that stand alone or in a pair have a link for a bridge of two: more of them reach each other through the host. */
static bool past_bridge(const struct catalog_entry *entry, double chips)
{
    return catalog_is_card(entry) && catalog_text(entry, NAME_scale_up_bandwidth) && joined(entry) <= 2 && chips > 2;
}

static void set_past_bridge(struct facts *facts)
{
    static const char why[] = "PCI Express: a bridge joins two of them";
    facts_set(facts, NAME_linked_by_host, 1, ORIGIN_SHEET, why);
    facts_bind(facts, NAME_scale_up_bandwidth, NAME_host_link, ORIGIN_SHEET, why);
}

/* What the name said beside the machine: its memory, how many are linked, which of several is meant. */
static void set_called(const struct catalog_called *called, const char *name, struct facts *facts)
{
    const char *source = arena_print(facts->arena, "'%.100s'", name);
    if (called->cards)
        set_cards(called, facts);
    if (called->note)
        facts_note(facts, "%s", called->note);
    if (called->memory > 0)
        facts_set(facts, NAME_hbm_capacity, called->memory, ORIGIN_SHEET, source);
    if (called->chips > 0 && !called->cards)
        facts_set(facts, NAME_scale_up_chips, called->chips, ORIGIN_SHEET, source);
    if (called->chips > 0 && !called->cloud && catalog_is_card(called->entry) && joined(called->entry) <= BRIDGED)
        facts_set(facts, NAME_host_chips, called->chips, ORIGIN_SHEET, source);     /* cards in a host of their own */
    const bool apart = !called->cards && past_bridge(called->entry, called->chips);
    if (apart)
        set_past_bridge(facts);
    if (called->cloud)
        set_instance(called, name, facts);
    else if (called->chips > 0 && !called->cards)
        facts_note(facts, "%.100s is %.0f of %s, linked%s; --gpus says how many are used", name, called->chips,
                   called->entry->title, apart ? " by PCI Express, since a bridge joins two"
                   : catalog_text(called->entry, NAME_scale_up_bandwidth) || !catalog_is_card(called->entry) ? ""
                   : " by PCI Express");
}

bool catalog_machine(const struct catalog *catalog, const char *name, struct facts *facts,
                     struct error *error)
{
    struct catalog_called called = { .entry = NULL };
    const struct catalog_entry *entry = catalog_find(catalog, CATALOG_MACHINE, name, error);
    if (!entry || !has_needed(entry, error))
        return false;
    const char *file = entry->sheet->csv.file;
    const bool ours = (file == catalog->devices.csv.file || file == catalog->sheets[CATALOG_MACHINE].csv.file) &&
                      catalog_machine_called(catalog, name, &called, error);
    for (size_t i = 0; i < entry->rows; i++) {
        struct catalog_row row = catalog_row(entry, i);
        double value;
        if (!row.chosen || (called.cloud && starts_with(row.fact, NAME_chip_price)))
            continue;
        if (!strcmp(row.unit, "row"))
            facts_bind(facts, fact_row(facts, &row), row.value, ORIGIN_SHEET,
                       row_origin(facts->arena, entry, &row));
        else if (catalog_row_number(&row, &value))
            facts_set(facts, fact_row(facts, &row), value, ORIGIN_SHEET,
                      row_origin(facts->arena, entry, &row));
    }
    if (ours && called.cards && !one_build(catalog, &called, error))
        return false;
    bind_peaks(entry, facts);
    set_topology(entry, facts);
    set_link(entry, facts);
    set_host(entry, facts);
    set_parts(facts);
    note_doubts(entry, facts);
    if (ours)
        set_called(&called, name, facts);
    return true;
}

/* ---- engines ---------------------------------------------------------------------------- */

static void set_numbers(const struct catalog_entry *entry, struct facts *facts)
{
    for (size_t i = 0; i < entry->rows; i++) {
        struct catalog_row row = catalog_row(entry, i);
        double value;
        if (row.chosen && catalog_row_number(&row, &value))
            facts_set(facts, fact_row(facts, &row), value, ORIGIN_FITTED,
                      row_origin(facts->arena, entry, &row));
    }
}

bool catalog_is_family(const struct catalog_entry *entry)
{
    return catalog_text(entry, "family") != NULL;
}

/* Entries whose rows an engine's entry reads before its own: the engine that it is a version of, and
 * what all engines of its time have in common. */
enum { PARENTS = 2 };
static const char *const parent_facts[PARENTS] = { "version_of", "generation" };

/* NULL in `parent`: the entry has none. */
static bool parent_of(const struct catalog *catalog, const struct catalog_entry *own, const char *fact,
                      const struct catalog_entry **parent, struct error *error)
{
    const char *name = catalog_text(own, fact);
    *parent = name ? catalog_find(catalog, CATALOG_ENGINE, name, error) : NULL;
    return !name || *parent;
}

/* Does one of the words of a list begin the name? */
static bool begins(const char *list, const char *name)
{
    for (const char *word = list; name && *word; word += strspn(word, " ")) {
        const size_t size = strcspn(word, " ");
        if (size && !strncmp(name, word, size))
            return true;
        word += size;
    }
    return false;
}

/* What the engine reaches on these chips where it has other kernels for them. */
const struct catalog_entry *catalog_backend(const struct catalog *catalog, const char *engine, const char *family,
                                            const char *machine)
{
    for (size_t i = 0; i < catalog_count(catalog, CATALOG_ENGINE); i++) {
        const struct catalog_entry *entry = catalog_entry(catalog, CATALOG_ENGINE, i);
        const char *of = catalog_text(entry, "backend_of"), *families = catalog_text(entry, "families");
        if (of && families && !strcmp(of, engine) && (begins(families, family) || begins(families, machine)))
            return entry;
    }
    return NULL;
}

static void set_with_backend(const struct catalog *catalog, const struct catalog_entry *engine, const char *family,
                             const char *machine, struct facts *facts)
{
    const struct catalog_entry *backend = catalog_backend(catalog, engine->name, family, machine);
    set_numbers(engine, facts);
    if (backend)
        set_numbers(backend, facts);
}

bool catalog_engine(const struct catalog *catalog, const char *name, const char *family, const char *machine,
                    struct facts *facts, struct error *error)
{
    const struct catalog_entry *any = catalog_find(catalog, CATALOG_ENGINE, "any", error);
    const struct catalog_entry *own = name ? catalog_engine_at(catalog, name, error) : any;
    const struct catalog_entry *chips =
        family ? catalog_find(catalog, CATALOG_ENGINE, family, NULL) : NULL;
    if (!any || !own)
        return false;
    if (catalog_is_family(own))
        return error_set(error, "'%s' is a family of chips and not an engine", own->name);
    const struct catalog_entry *parents[PARENTS];
    for (size_t i = 0; i < PARENTS; i++)
        if (!parent_of(catalog, own, parent_facts[i], &parents[i], error))
            return false;
    set_numbers(any, facts);
    if (chips && catalog_is_family(chips))
        set_numbers(chips, facts);
    for (size_t i = 0; i < PARENTS; i++)
        if (parents[i])
            set_with_backend(catalog, parents[i], family, machine, facts);
    if (own != any)
        set_with_backend(catalog, own, family, machine, facts);
    return true;
}

int catalog_version_order(const char *a, const char *b)
{
    for (;;) {
        char *after_a, *after_b;
        const long x = strtol(a, &after_a, 10), y = strtol(b, &after_b, 10);
        if (x != y)
            return x < y ? -1 : 1;
        if (*after_a != '.' || *after_b != '.')
            return 0;
        a = after_a + 1, b = after_b + 1;
    }
}

/* "@0.11" of "vllm@0.11"; NULL: a name alone, or a file. */
static const char *version_part(const char *name)
{
    return !name || strstr(name, ".csv") ? NULL : strchr(name, '@');
}

/* Is a version between the first and the last that the sheets name for this engine? Else `error` lists them. */
static bool version_known(const char *engine, const char *version, struct error *error)
{
    static const char *const cells[][2] = { { "data/flags.csv", "value" }, { "data/rules.csv", "from" }, { "data/rules.csv", "until" },
                                            { "data/engines.csv", "from" }, { "data/engines.csv", "until" } };
    const char *first = NULL, *last = NULL;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        const struct csv *csv = csv_built_in(cells[i][0]);
        const int engines = csv_column(csv, "engine"), names = i ? -1 : csv_column(csv, "name");
        for (size_t r = 0; r < csv->rows; r++) {
            const char *cell = csv_cell(csv, r, csv_column(csv, cells[i][1]));
            if (!*cell || strcmp(csv_cell(csv, r, engines), engine) || (!i && strcmp(csv_cell(csv, r, names), "version")))
                continue;
            first = !first || catalog_version_order(cell, first) < 0 ? cell : first;
            last = !last || catalog_version_order(cell, last) > 0 ? cell : last;
        }
    }
    if (first && (!strcmp(version, first) || (*version >= '0' && *version <= '9' && catalog_version_order(version, first) >= 0 &&
                                              catalog_version_order(version, last) <= 0)))
        return true;
    if (!error)
        return false;
    error_set(error, "no version '%.40s' of the engine %s is known", version, engine);
    return error_expected(error, !first ? "the engine without a version" : first == last ? "%s" : "%s to %s", first, last);
}

/* The entry of an engine at a version: of its older versions the one whose `until` is the lowest that is not below it. */
static const struct catalog_entry *entry_of_version(const struct catalog *catalog, const struct catalog_entry *engine,
                                                    const char *version)
{
    const struct catalog_entry *found = engine;
    const char *last = NULL;
    for (size_t i = 0; i < catalog_count(catalog, CATALOG_ENGINE); i++) {
        const struct catalog_entry *entry = catalog_entry(catalog, CATALOG_ENGINE, i);
        const char *of = catalog_text(entry, "version_of"), *until = catalog_text(entry, "until");
        if (of && until && !strcmp(of, engine->name) && catalog_version_order(version, until) <= 0 &&
            (!last || catalog_version_order(until, last) < 0))
            found = entry, last = until;
    }
    return found;
}

const char *catalog_engine_then(const struct catalog *catalog, const char *name, const char *version)
{
    const struct catalog_entry *engine = name && version && !version_part(name) ? catalog_known(catalog, CATALOG_ENGINE, name)
                                                                                : NULL;
    if (version && *version == 'v')
        version++;
    return engine && *version >= '0' && *version <= '9' ? entry_of_version(catalog, engine, version)->name : name;
}

const struct catalog_entry *catalog_engine_at(const struct catalog *catalog, const char *name, struct error *error)
{
    const char *at = version_part(name), *base = name;
    char text[64];
    if (at) {
        snprintf(text, sizeof text, "%.*s", (int)(at - name), name);
        base = catalog_engine_base(catalog, text);
    }
    const struct catalog_entry *found = error ? catalog_find(catalog, CATALOG_ENGINE, base, error)
                                              : catalog_known(catalog, CATALOG_ENGINE, base);
    if (!found || !at)
        return found;
    return version_known(base, at + 1, error) ? entry_of_version(catalog, found, at + 1) : NULL;
}

const char *catalog_engine_version(const struct catalog *catalog, const char *name)
{
    struct flag version;
    const char *at = version_part(name);
    return at ? at + 1 : flag_find(catalog_engine_name(catalog, name), "version", &version) ? version.value : NULL;
}

const char *catalog_engine_name(const struct catalog *catalog, const char *name)
{
    const struct catalog_entry *own = catalog_engine_at(catalog, name ? name : "any", NULL);
    return own ? own->name : name;
}

const char *catalog_engine_base(const struct catalog *catalog, const char *name)
{
    name = catalog_engine_name(catalog, name);
    const struct catalog_entry *entry = catalog_known(catalog, CATALOG_ENGINE, name);
    const char *base = entry ? catalog_text(entry, "version_of") : NULL;
    return base ? base : name;
}

/* ---- tiers ------------------------------------------------------------------------------ */

static void tier_cells(const struct catalog_entry *entry, struct facts *facts,
                       struct fact_table *table, size_t at)
{
    for (size_t i = 0; i < entry->rows; i++) {
        struct catalog_row row = catalog_row(entry, i);
        double value;
        if (row.chosen && !strcmp(row.unit, "row"))
            facts_cell_bind(facts, table, at, row.fact, row.value,
                            ORIGIN_SHEET, row_origin(facts->arena, entry, &row));
        else if (row.chosen && catalog_row_number(&row, &value))
            facts_cell(facts, table, at, row.fact, value, ORIGIN_SHEET, row_origin(facts->arena, entry, &row));
    }
}

void catalog_tiers(const struct catalog *catalog, struct facts *facts)
{
    struct fact_table *table = facts_table(facts, "tier");
    for (size_t i = 0; i < catalog_count(catalog, CATALOG_TIER); i++) {
        const struct catalog_entry *entry = catalog_entry(catalog, CATALOG_TIER, i);
        if (catalog_text(entry, NAME_tier_capacity))       /* recomputing has none */
            tier_cells(entry, facts, table, facts_entry(facts, table, entry->name));
    }
}

static const char *tier_missing(const struct catalog_entry *entry)
{
    static const char *const needed[] = { NAME_tier_capacity, NAME_tier_bandwidth, NAME_tier_price };
    const char *missing = NULL;
    size_t count = sizeof needed / sizeof *needed, found = 0;
    for (size_t i = 0; i < count; i++)
        if (catalog_text(entry, needed[i]))
            found++;
        else if (!missing)
            missing = needed[i];
    return found ? missing : NULL;                      /* recomputing has none of them */
}

bool catalog_tiers_needed(const struct catalog *catalog, struct error *error)
{
    const struct catalog_sheet *sheet = &catalog->sheets[CATALOG_TIER];
    size_t tiers = 0;
    for (size_t i = 0; i < sheet->count; i++) {
        const struct catalog_entry *entry = &sheet->entries[i];
        const char *missing = tier_missing(entry);
        tiers += catalog_text(entry, NAME_tier_capacity) != NULL;
        if (missing) {
            error_set(error, "%s: %.60s has no %s", sheet->csv.file, entry->name, missing);
            return error_expected(error, "a row %.60s,%s,...", entry->name, missing);
        }
    }
    if (tiers)
        return true;
    error_set(error, "%s has no tier", sheet->csv.file);
    return error_expected(error, "rows NAME,tier_capacity,... NAME,tier_bandwidth,... "
                          "NAME,tier_price,...");
}
