/* market --closed: models whose weights are not published. `deduce` infers the input price over its cost from their price
 * lists, with an interval that hardly differs from its priors'. */
#include "ask/market/market.h"
#include "catalog/sheet.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

static const char built_in[] = "data/prices.csv";
enum { LOW, MIDDLE, HIGH, ENDS };
static const char *const quantiles[ENDS] = { "q05", "q50", "q95" };

/* A seller of open models has names of its own for them too: "deepseek-chat". */
static bool sells_open(struct market *market, const struct price_sheet *sheet, const char *seller)
{
    const char *precision, *cache;
    for (size_t i = 0; i < sheet->count; i++)
        if (!strcmp(sheet->prices[i].seller, seller) &&
            catalog_model_called(market->arena, &market->catalog, price_model(&sheet->prices[i]), &precision, &cache))
            return true;
    return false;
}

/* "gpt-5,claude-opus-4-7": models of the list that the catalog does not have. */
static const char *closed_names(struct market *market, const struct price_sheet *sheet)
{
    struct buffer names = { .arena = market->arena };
    const char *precision, *cache;
    buffer_add(&names, "", 0);
    for (size_t i = 0; i < sheet->count; i++)
        if (!sells_open(market, sheet, sheet->prices[i].seller) &&
            !catalog_model_called(market->arena, &market->catalog, price_model(&sheet->prices[i]), &precision, &cache))
            buffer_print(&names, "%s%s", names.size ? "," : "", price_model(&sheet->prices[i]));
    return names.data;
}

static bool margin_at(const struct scenario *scenario, double over_cost, double *margin, struct error *error)
{
    struct scenario held = *scenario;
    held.facts = facts_copy(&scenario->facts);
    facts_set(&held.facts, NAME_price_margin, over_cost, ORIGIN_AXIS, "deduce");
    return value_of(&held, NAME_closed_margin, margin, error);
}

static bool add_model(struct market *market, const struct scenario *scenario, const struct doc *report, struct section *list)
{
    const struct doc *found = doc_get(doc_get(report, "quantities"), NAME_price_margin), *posterior = doc_get(found, "posterior");
    double ends[ENDS];
    if (!posterior)
        return true;
    for (int i = 0; i < ENDS; i++)
        if (!margin_at(scenario, doc_number(posterior, quantiles[i], NAN), &ends[i], market->error))
            return false;
    struct section *line = section_add(list, NULL, SECTION_RECORD);
    section_word(line, "model", report->key);
    section_word(line, "seller", doc_text(report, "seller", ""));
    section_word(line, "date", doc_text(report, "date", ""));
    struct figure *margin = section_number(line, "margin", ends[MIDDLE], unit_one);
    margin->low = ends[LOW];
    margin->high = ends[HIGH];
    section_number(line, "margin_low", ends[LOW], unit_one);
    section_number(line, "margin_high", ends[HIGH], unit_one);
    section_number(line, "bits", doc_number(found, "bits", NAN), unit_one);
    return true;
}

bool market_closed(struct market *market, const struct scenario *scenario, struct section *section)
{
    const struct verb *const verb = verb_named(market->command->verbs, "deduce"), *const deducing[] = { verb, NULL };
    struct arena *arena = market->arena;
    struct command deduce = { .verbs = deducing };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text = { .arena = arena }, .csv = { .arena = arena } };
    struct price_sheet *sheet = arena_alloc(arena, sizeof *sheet);
    if (!prices_read(arena, built_in, text_built_in(built_in), sheet, market->error))
        return false;
    const char *words[] = { "chalkline", "deduce", "prices", "--draws", "100000", "--model", closed_names(market, sheet) };
    struct section *list = section_add(section, "closed", SECTION_LIST);
    if (!command_read(arena, sizeof words / sizeof *words, (char **)words, &deduce, market->error) ||
        !verb->ask(arena, &deduce, &answer, market->error))
        return false;
    for (const struct doc *report = answer.doc->first; report; report = report->next)
        if (!add_model(market, scenario, report, list))
            return false;
    return true;
}

const struct record market_closed_record = { "MarketClosed", (const struct answer_field[]){
    { FIELD_TEXT, "model", .help = "as the list calls it", .always = true }, { FIELD_TEXT, "seller", .help = "who sells it", .always = true },
    { FIELD_TEXT, "date", .help = "of the prices", .always = true },
    { FIELD_NUMBER, .names = (const char *const[]){ "margin", "margin_low", "margin_high" }, .count = 3,
      .help = "share of the input price that is not cost: the median and the 90 % interval", .always = true },
    { FIELD_NUMBER, "bits", .help = "information of the prices beyond the priors", .always = true }, { 0 } } };
