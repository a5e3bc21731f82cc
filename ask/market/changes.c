/* market --changes: how each seller's price of each kind of token of a model moved from one dated list to the next that has it, the
 * largest factor first. An error of units in one of the lists is no change (price_slips). */
#include "ask/market/market.h"
#include "catalog/sheet.h"
#include "report/template.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[PRICE_CLASSES] = {
    [PRICE_INPUT] = "input", [PRICE_OUTPUT] = "output", [PRICE_HIT] = "hit", [PRICE_WRITE_SHORT] = "write_5m", [PRICE_WRITE_LONG] = "write_1h" };

struct quote {
    const char *seller, *model, *date;
    int class;
    double price;
};

struct moved {
    const struct quote *first, *last;
    double ratio, years;
};

/* "2025-02" or "2025-02-08" in years. */
static double years_of(const char *date)
{
    int year = 0, month = 1, day = 1;
    sscanf(date, "%d-%d-%d", &year, &month, &day);
    return year + (month - 1) / 12.0 + (day - 1) / 365.25;
}

/* By seller, model and kind, then by date. */
static int by_subject(const void *a, const void *b)
{
    const struct quote *x = a, *y = b;
    const int sellers = strcmp(x->seller, y->seller), models = strcmp(x->model, y->model);
    return sellers ? sellers : models ? models : x->class != y->class ? x->class - y->class : strcmp(x->date, y->date);
}

static int by_factor(const void *a, const void *b)
{
    const struct moved *x = a, *y = b;
    const double p = fabs(log(x->ratio)), q = fabs(log(y->ratio));
    return p != q ? (p < q ? 1 : -1) : by_subject(x->first, y->first);
}

struct quotes {
    struct market *market;
    struct quote *at;
    size_t count, room;
};

/* Add a price, of a model by its name in the catalog where that has it. */
static void add_quote(struct quotes *quotes, const char *seller, const char *model, const char *date, int class, double price)
{
    struct market *market = quotes->market;
    const char *only_seller = command_text(market->command, "seller"), *only = command_text(market->command, "model"), *precision, *cache;
    if (!(price > 0) || !*date || (only_seller && !name_same(only_seller, seller)))
        return;
    const struct catalog_entry *entry = catalog_model_called(market->arena, &market->catalog, model, &precision, &cache);
    model = entry ? entry->name : model;
    if (!only || name_same(only, model))
        *(struct quote *)arena_push(market->arena, &quotes->at, &quotes->count, &quotes->room, sizeof *quotes->at) =
            (struct quote){ seller, model, date, class, price };
}

/* The sheet of earlier days, whose rows have one price each. */
static bool add_earlier(struct quotes *quotes)
{
    static const char *const facts[PRICE_CLASSES] = { "input", "output", "cached_read", "cache_write_5m", "cache_write_1h" };
    const struct csv *csv = csv_built_in("data/earlier_prices.csv");
    struct unit unit;
    struct quantity price;
    struct error *error = quotes->market->error;
    double scale;
    if (!unit_parse(text_of("USD/token"), &unit, &scale, error))
        return false;
    for (size_t i = 0; i < csv->rows; i++) {
        const char *cells[] = { "provider", "model", "date", "fact", "value", "unit" };
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++)
            cells[k] = csv_cell(csv, i, csv_column(csv, cells[k]));
        if (!quantity_parse(text_of(arena_print(quotes->market->arena, "%s%s", cells[4], cells[5])), unit, &price, error))
            return false;
        for (int k = 0; k < PRICE_CLASSES; k++)
            if (!strcmp(facts[k], cells[3]))
                add_quote(quotes, cells[0], cells[1], cells[2], k, price.value);
    }
    return true;
}

/* Every dated price of the lists, by seller, model and kind. */
static bool read_quotes(struct quotes *quotes)
{
    struct market *market = quotes->market;
    if (!market_sheets(market, true))
        return false;
    for (size_t s = 0; s < market->sheet_count; s++)
        for (size_t i = 0; i < market->sheets[s]->count; i++) {
            const struct price *price = &market->sheets[s]->prices[i];
            for (int k = 0; k < PRICE_CLASSES; k++)
                add_quote(quotes, price->seller, price_model(price), price->date, k, price->at[SERVICE_STANDARD][0][k]);
        }
    if (market->sheet_count > 1 && !add_earlier(quotes))
        return false;
    if (quotes->count)
        qsort(quotes->at, quotes->count, sizeof *quotes->at, by_subject);
    return true;
}

static bool same_price(const struct quote *one, const struct quote *other)
{
    return one->class == other->class && !strcmp(one->seller, other->seller) && !strcmp(one->model, other->model);
}

static void add_change(const struct moved *moved, struct section *list)
{
    struct section *line = section_add(list, NULL, SECTION_RECORD);
    section_word(line, "seller", moved->first->seller);
    section_word(line, "model", moved->first->model);
    section_word(line, "kind", kinds[moved->first->class]);
    section_word(line, "from", moved->first->date);
    section_quantity(line, "before", moved->first->price, "USD/token");
    section_word(line, "to", moved->last->date);
    section_quantity(line, "after", moved->last->price, "USD/token");
    section_number(line, "ratio", moved->ratio, unit_one);
    if (moved->years >= 0.5)
        section_number(line, "per_year", pow(moved->ratio, 1 / moved->years), unit_one);
}

bool market_changes(struct market *market, struct answer *answer)
{
    static const char *const columns[] = { "seller", "model", "kind", "from", "before", "to", "after", "ratio", "per_year" };
    struct section *section = section_new(market->arena), *list = section_add(section, "changes", SECTION_LIST);
    struct scenario scenario;
    double most, counts[3] = { 0 };
    enum { MOVED, SAME, SLIPPED };
    struct quotes read = { .market = market };
    size_t moves = 0;
    if (!scenario_read(&scenario, market->arena, command_only(market->arena, market->command, market_of_rows),
                       command_no_subject(market->command), market->error) ||
        !value_of(&scenario, NAME_slip_ratio, &most, market->error) || !read_quotes(&read))
        return false;
    const struct quote *quotes = read.at;
    const size_t count = read.count;
    struct moved *moved = arena_array(market->arena, count + 1, sizeof *moved);
    for (size_t i = 1; i < count; i++) {
        const struct quote *first = &quotes[i - 1], *last = &quotes[i];
        if (!same_price(first, last) || !strcmp(first->date, last->date))
            continue;
        const bool unit = first->class <= PRICE_OUTPUT && price_slips(last->price, first->price, most);
        const int what = unit ? SLIPPED : fabs(last->price / first->price - 1) < 1e-9 ? SAME : MOVED;
        counts[what]++;
        if (what == MOVED)
            moved[moves++] = (struct moved){ first, last, last->price / first->price, years_of(last->date) - years_of(first->date) };
    }
    qsort(moved, moves, sizeof *moved, by_factor);
    for (size_t i = 0; i < moves; i++)
        add_change(&moved[i], list);
    section_number(section, "moved", counts[MOVED], unit_one);
    section_number(section, "unchanged", counts[SAME], unit_one);
    section_number(section, "slips", counts[SLIPPED], unit_one);
    section_csv_of(list, columns, sizeof columns / sizeof *columns, &answer->csv);
    section_document(section, answer->doc);
    answer->section = section;
    answer->status = !moves;
    const size_t shown = command_count(market->command, "most");
    list->inside_count = shown < list->inside_count ? shown : list->inside_count;
    section_number(section, "shown", (double)list->inside_count, unit_one)->text_only = true;
    template_print(template_built_in(market->arena, "ask/market/changes.template"), section, &answer->text);
    return true;
}

const struct record market_change_record = { "MarketChange", (const struct answer_field[]){
    { FIELD_TEXT, .names = (const char *const[]){ "seller", "model", "kind", "from", "to" }, .count = 5,
      .help = "the seller, the model, the kind of token, and the dates of a price and of the next", .always = true },
    { FIELD_NUMBER, .names = (const char *const[]){ "before", "after" }, .count = 2, .help = "its prices then", .unit = "USD/token",
      .always = true },
    { FIELD_NUMBER, "ratio", .help = "the second over the first", .always = true },
    { FIELD_NUMBER, "per_year", .help = "the same per year, over half a year or more" }, { 0 } } };
