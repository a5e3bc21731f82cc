/* market: what sellers of open models earn. market.template is its text.
 *
 * A request of given lengths has a price and a cost at each seller; formulas/prices/market.chalk has the margin. Each
 * end of the interval holds one cause or all of them together, so that a reader sees which of them decides. */
#include "ask/market/market.h"
#include "base/quantile.h"
#include "report/picture.h"
#include "report/template.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN, PRICE, COST, RENT, ROWS };
static const char *const rows[ROWS] = { NAME_market_margin, NAME_market_price, NAME_market_cost, NAME_zero_margin_rent };
static const char *const factors[MARKET_CAUSES] = { NAME_band_factor, NAME_rent_factor, NAME_engine_factor, NAME_sold_factor };
static const char *const charges[] = { "input", "output", "hit", "write" };
enum { CHARGES = sizeof charges / sizeof *charges };
static const int classes[CHARGES] = { PRICE_INPUT, PRICE_OUTPUT, PRICE_HIT, PRICE_WRITE_SHORT };

/* An offer beside its cost. */
struct earning {
    const struct market_offer *offer;
    const struct market_served *served;
    double at[ROWS], low[ROWS], high[ROWS];                 /* all causes together */
    double margin_low[MARKET_CAUSES], margin_high[MARKET_CAUSES];   /* each alone */
};

static double asked(const struct market_offer *offer, int class)
{
    return offer->price->at[SERVICE_STANDARD][0][class];
}

/* The rows at one end: side 0, or -1 or 1 with the causes from `first` to `end`. */
static bool read_end(struct scenario *scenario, const struct market_served *served, int side, int first, int end, double at[ROWS],
                     struct error *error)
{
    struct values values;
    facts_set(&scenario->facts, NAME_cost_side, side < 0 ? -1 : 1, ORIGIN_AXIS, "market");
    for (int i = 0; i < MARKET_CAUSES; i++)
        facts_set(&scenario->facts, factors[i], !side || i < first || i >= end ? 1
                  : side < 0 ? served->cause[i].low : served->cause[i].high, ORIGIN_AXIS, "market");
    if (!values_of(scenario, rows, ROWS, &values, error))
        return false;
    memcpy(at, values.at, ROWS * sizeof *at);
    return true;
}

static bool earn(const struct scenario *market, struct earning *earning, struct error *error)
{
    struct scenario scenario = *market;
    const struct market_offer *offer = earning->offer;
    const struct market_served *served = earning->served;
    double end[ROWS];
    scenario.facts = facts_copy(&market->facts);
    struct facts *facts = &scenario.facts;
    facts_set(facts, NAME_listed_input, asked(offer, PRICE_INPUT), ORIGIN_SHEET, offer->price->date);
    facts_set(facts, NAME_listed_output, asked(offer, PRICE_OUTPUT), ORIGIN_SHEET, offer->price->date);
    facts_set(facts, NAME_listed_hit, asked(offer, PRICE_HIT) > 0 ? asked(offer, PRICE_HIT) : asked(offer, PRICE_INPUT),
              ORIGIN_SHEET, offer->price->date);
    facts_set(facts, NAME_prompt_tokens, served->prompt_tokens, ORIGIN_AXIS, "plan");
    facts_set(facts, NAME_output_tokens, served->output_tokens, ORIGIN_AXIS, "plan");
    facts_set(facts, NAME_prefix_hit_share, served->hits, ORIGIN_AXIS, "plan");
    facts_set(facts, NAME_served_cost, served->token, ORIGIN_AXIS, "plan");
    facts_set(facts, NAME_served_hit, isnan(served->hit) ? 0 : served->hit, ORIGIN_AXIS, "eval");
    facts_set(facts, NAME_chip_price, served->rent, ORIGIN_AXIS, "plan");
    if (!read_end(&scenario, served, 0, 0, 0, earning->at, error) ||
        !read_end(&scenario, served, -1, 0, MARKET_CAUSES, earning->low, error) ||
        !read_end(&scenario, served, 1, 0, MARKET_CAUSES, earning->high, error))
        return false;
    for (int i = 0; i < MARKET_CAUSES; i++) {
        if (!read_end(&scenario, served, 1, i, i + 1, end, error))
            return false;
        earning->margin_low[i] = end[MARGIN];
        if (!read_end(&scenario, served, -1, i, i + 1, end, error))
            return false;
        earning->margin_high[i] = end[MARGIN];
    }
    return true;
}

/* The highest margin first; offers without a cost last. */
static int by_margin(const void *a, const void *b)
{
    const struct earning *x = a, *y = b;
    if (!x->served->why != !y->served->why)
        return x->served->why ? 1 : -1;
    const double p = x->at[MARGIN], q = y->at[MARGIN];
    if (!x->served->why && p != q)
        return p < q ? 1 : -1;
    const int models = strcmp(x->offer->model, y->offer->model);
    return models ? models : strcmp(x->offer->price->seller, y->offer->price->seller);
}

/* ---- the answer ----------------------------------------------------------------------------- */

static void add_figure(struct arena *arena, struct doc *doc, const char *key, double value, double low, double high,
                       const char *unit)
{
    struct figure *figure = section_quantity(section_new(arena), key, value, unit);
    figure->low = fmin(low, high);
    figure->high = fmax(low, high);
    figure->origin = ORIGIN_DERIVED;
    figure_document(arena, figure, doc_add(arena, doc, key, DOC_OBJECT));
}

/* "rents": whose interval of the margin is the widest. */
static const char *decides(const struct earning *earning)
{
    int widest = 0;
    for (int i = 1; i < MARKET_CAUSES; i++)
        if (earning->margin_high[i] - earning->margin_low[i] > earning->margin_high[widest] - earning->margin_low[widest])
            widest = i;
    return market_causes[widest];
}

static void add_prices(const struct market_offer *offer, struct arena *arena, struct doc *line)
{
    const struct price *before = offer->before;
    struct doc *price = doc_add(arena, line, "price", DOC_OBJECT), *change = NULL;
    for (int i = 0; i < CHARGES; i++)
        if (asked(offer, classes[i]) > 0)
            doc_add_number(arena, price, charges[i], asked(offer, classes[i]));
    if (before) {
        doc_add_string(arena, line, "since", before->date);
        change = doc_add(arena, line, "change", DOC_OBJECT);
    }
    for (int i = 0; before && i < CHARGES; i++) {
        const double was = before->at[SERVICE_STANDARD][0][classes[i]];
        if (was > 0 && asked(offer, classes[i]) > 0)
            doc_add_number(arena, change, charges[i], asked(offer, classes[i]) / was - 1);
    }
}

/* With which `eval market_margin` gives the margin again. */
static void add_rows(const struct earning *earning, struct arena *arena, struct doc *words)
{
    const struct market_offer *offer = earning->offer;
    const double hit = asked(offer, PRICE_HIT);
    const struct { const char *row; double value; } asks[] = {
        { NAME_listed_input, asked(offer, PRICE_INPUT) }, { NAME_listed_output, asked(offer, PRICE_OUTPUT) },
        { NAME_listed_hit, hit > 0 ? hit : asked(offer, PRICE_INPUT) } };
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        struct buffer number = { .arena = arena };
        buffer_number(&number, asks[i].value);
        doc_add_string(arena, words, NULL, "--set");
        doc_add_string(arena, words, NULL, arena_print(arena, "%s=%s", asks[i].row, number.data));
    }
    doc_add_string(arena, words, NULL, "--set");
    doc_add_string(arena, words, NULL, arena_print(arena, NAME_served_cost "=%s", earning->served->token_row));
    doc_add_string(arena, words, NULL, "--set");
    doc_add_string(arena, words, NULL, NAME_served_hit "=" NAME_cheapest_cost);
}

static void add_cost(const struct earning *earning, const struct scenario *scenario, struct arena *arena, struct doc *line)
{
    const struct market_served *served = earning->served;
    const double low = earning->low[COST] / earning->at[COST], high = earning->high[COST] / earning->at[COST];
    const double hold = isnan(served->hit) ? 0 : served->hit;
    const struct { double part, kept; } costs[CHARGES] = { { served->input, 0 }, { served->output, 0 }, { 0, served->hit },
                                                           { served->input, hold } };
    struct doc *cost = doc_add(arena, line, "cost", DOC_OBJECT);
    for (int i = 0; i < CHARGES; i++) {
        const double sold = isnan(costs[i].kept) ? NAN : market_part(scenario, NAME_sold_cost, costs[i].part, costs[i].kept);
        if (!isnan(sold))
            add_figure(arena, cost, charges[i], sold, sold * low, sold * high, "USD/token");
    }
    add_figure(arena, line, "margin", earning->at[MARGIN], earning->low[MARGIN], earning->high[MARGIN], "1");
    struct doc *causes = doc_add(arena, line, "margin_by", DOC_OBJECT);
    for (int i = 0; i < MARKET_CAUSES; i++)
        add_figure(arena, causes, market_causes[i], earning->at[MARGIN], earning->margin_low[i], earning->margin_high[i], "1");
    doc_add_string(arena, line, "decides", decides(earning));
    doc_add_string(arena, line, "binds", served->binds);
    add_figure(arena, line, "rent_at_zero", earning->at[RENT], earning->low[RENT], earning->high[RENT], "USD/s");
    doc_add_number(arena, line, "rent", served->rent);
    doc_add_string(arena, line, "machine", served->machine);
    doc_add_string(arena, line, "deployment", served->deployment);
    doc_add_string(arena, line, "input_row", served->input_row);
    struct doc *words = doc_add(arena, line, "words", DOC_ARRAY);
    for (const struct doc *word = served->words->first; word; word = word->next)
        doc_add_string(arena, words, NULL, word->string);
    add_rows(earning, arena, words);
    doc_add_number(arena, line, NAME_market_price, earning->at[PRICE]);
    add_figure(arena, line, NAME_market_cost, earning->at[COST], earning->low[COST], earning->high[COST], "USD/token");
    doc_add_bool(arena, line, "below_cost", earning->at[PRICE] < fmin(earning->low[COST], earning->high[COST]));
}

static void add_document(const struct earning *earning, const struct scenario *scenario, struct arena *arena, struct doc *list)
{
    const struct market_offer *offer = earning->offer;
    struct doc *line = doc_add(arena, list, NULL, DOC_OBJECT);
    doc_add_string(arena, line, "model", offer->model);
    doc_add_string(arena, line, "seller", offer->price->seller);
    doc_add_string(arena, line, "date", offer->price->date);
    add_prices(offer, arena, line);
    if (earning->served->why)
        doc_add_string(arena, line, "reason", earning->served->why);
    else
        add_cost(earning, scenario, arena, line);
}

/* A line of the table. */
static void add_line(const struct earning *earning, struct section *list)
{
    const struct market_offer *offer = earning->offer;
    struct section *line = section_add(list, NULL, SECTION_RECORD);
    section_word(line, "model", offer->model);
    section_word(line, "seller", offer->price->seller);
    section_word(line, "date", offer->price->date);
    section_quantity(line, "asks_input", asked(offer, PRICE_INPUT), "USD/token");
    section_quantity(line, "asks_output", asked(offer, PRICE_OUTPUT), "USD/token");
    if (earning->served->why) {
        section_word(line, "reason", earning->served->why);
        return;
    }
    section_quantity(line, NAME_market_price, earning->at[PRICE], "USD/token");
    section_quantity(line, NAME_market_cost, earning->at[COST], "USD/token");
    struct figure *margin = section_quantity(line, "margin", earning->at[MARGIN], "1");
    margin->low = fmin(earning->low[MARGIN], earning->high[MARGIN]);
    margin->high = fmax(earning->low[MARGIN], earning->high[MARGIN]);
    section_number(line, "margin_low", margin->low, unit_one);
    section_number(line, "margin_high", margin->high, unit_one);
    section_word(line, "reason", "");
    section_word(line, "decides", decides(earning));
    section_word(line, "binds", earning->served->binds);
    section_quantity(line, "rent_at_zero", earning->at[RENT], "USD/s");
    section_word(line, "machine", earning->served->machine);
}

static void add_bar(const struct earning *earning, struct picture *picture)
{
    enum { MOST = 40 };
    if (earning->served->why || picture->bar_count == MOST)
        return;
    struct picture_bar *bar = picture_bar_add(picture, arena_print(picture->arena, "%s, %s", earning->offer->model,
                                                                   earning->offer->price->seller));
    bar->range = (struct picture_range){ fmin(earning->low[MARGIN], earning->high[MARGIN]),
                                         fmax(earning->low[MARGIN], earning->high[MARGIN]) };
    bar->middle = earning->at[MARGIN];
}

/* How full the seller's machines are is not known, unless the command says it. */
static bool set_use(struct market *market, struct scenario *scenario)
{
    static const char *const ends[] = { NAME_use_factor_low, NAME_use_factor_high };
    struct values values;
    if (!values_of(scenario, ends, 2, &values, market->error))
        return false;
    const bool known = fact_given(facts_find(&scenario->facts, NAME_sold_share));
    for (size_t i = 0; i < market->served_count; i++) {
        market->served[i].cause[MARKET_USE].low = known ? 1 : values.at[0];
        market->served[i].cause[MARKET_USE].high = known ? 1 : values.at[1];
    }
    return true;
}

/* Errors of units: far off the median of their model, or, where it has fewer than three sellers, over its cost. */
static bool is_slip(const struct market *market, const struct earning *earning, const double *most, double *prices)
{
    size_t same = 0;
    for (size_t k = 0; k < market->count; k++)
        if (market->offers[k].served == earning->offer->served)
            prices[same++] = asked(&market->offers[k], PRICE_OUTPUT);
    if (same < 3)
        return !earning->served->why && earning->at[PRICE] > most[1] * earning->at[COST];
    numbers_sort(prices, same);
    return price_slips(asked(earning->offer, PRICE_OUTPUT), quantile_of(prices, same, 0.5), most[0]);
}

/* The earnings of every offer, less slips and other sellers than the one that was asked for. */
static bool earn_all(const struct market *market, const struct scenario *scenario, struct earning *earnings, size_t *count,
                     size_t *slips)
{
    const char *seller = command_text(market->command, "seller");
    static const char *const limits[] = { NAME_slip_ratio, NAME_slip_over_cost };
    double *prices = arena_array(market->arena, market->count + 1, sizeof *prices);
    struct scenario thresholds = *scenario;
    struct values most;
    *count = *slips = 0;
    if (!values_of(&thresholds, limits, 2, &most, market->error))
        return false;
    for (size_t i = 0; i < market->count; i++) {
        const struct market_offer *offer = &market->offers[i];
        struct earning one = { .offer = offer, .served = &market->served[offer->served] };
        if (seller && !name_same(offer->price->seller, seller))
            continue;
        if (!one.served->why && !earn(scenario, &one, market->error))
            return false;
        if (is_slip(market, &one, most.at, prices))
            (*slips)++;
        else
            earnings[(*count)++] = one;
    }
    if (*count || *slips || !seller)
        return true;
    error_set(market->error, "no seller '%.80s' of it is in the list", seller);
    return error_expected(market->error, "a seller that `chalkline market` lists");
}

/* What cannot be asked together. */
static bool read_words(const struct command *command, struct error *error)
{
    static const char *const others[] = { "closed", "plot", "schedule", "watch", "changes", "model", "seller" };
    enum { OTHERS = sizeof others / sizeof *others, FILTERS = 2 };
    if (command->word_count > 1) {
        error_set(error, "market takes one model or price list, %zu words were given", command->word_count);
        return error_expected(error, "chalkline market FILE --model MODEL");
    }
    if (command_given(command, "on") && !strcmp(command_text(command, "on"), "all")) {
        error_set(error, "--on all: market searches every layout of a model on each machine");
        return error_expected(error, "the machines to compare, as in --on h100-sxm,b200-sxm");
    }
    if (command_given(command, "closed") && command_given(command, "csv")) {
        error_set(error, "--closed with --csv: they are another table");
        return error_expected(error, "--json, which has both");
    }
    const char *alone = command_given(command, "schedule") ? "schedule" : command_given(command, "watch") ? "watch"
                        : command_given(command, "changes") ? "changes" : NULL;
    const bool lists = alone && !strcmp(alone, "changes");
    if (!alone)
        return true;
    for (size_t i = 0; i < OTHERS - (lists ? FILTERS : 0); i++)
        if (strcmp(alone, others[i]) && command_given(command, others[i])) {
            error_set(error, "--%s and --%s exclude each other", alone, others[i]);
            return error_expected(error, "one of them");
        }
    if (!command->word_count || lists)
        return true;
    error_set(error, "--%s takes no price list", alone);
    return error_expected(error, "chalkline market --%s", alone);
}

static bool ask_market(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    static const char *const columns[] = { "model", "seller", "date", "asks_input", "asks_output", NAME_market_price,
                                           NAME_market_cost, "margin", "margin_low", "margin_high", "decides",
                                           "binds", "rent_at_zero", "machine", "reason" };
    struct market market = { .arena = arena, .command = command, .error = error };
    struct scenario scenario;
    catalog_open(&market.catalog, arena);
    if (!read_words(command, error))
        return false;
    if (command_given(command, "watch"))
        return market_watch(command, arena, answer, error);
    if (command_given(command, "changes"))
        return market_changes(&market, answer);
    if (command_given(command, "schedule"))
        return market_schedule(&market, command_text(command, "schedule"), answer);
    if (!market_read(&market) || !market_serve(&market) ||
        !scenario_read(&scenario, arena, command_only(arena, command, market_of_rows), command_no_subject(command), error) ||
        !set_use(&market, &scenario))
        return false;
    struct earning *earnings = arena_array(arena, market.count, sizeof *earnings);
    size_t served = 0, count, slips;
    if (!earn_all(&market, &scenario, earnings, &count, &slips))
        return false;
    for (size_t i = 0; i < count; i++)
        served += !earnings[i].served->why;
    qsort(earnings, count, sizeof *earnings, by_margin);
    struct section *section = section_new(arena), *list = section_add(section, "offers", SECTION_LIST);
    const double share = value_or_nan(&scenario, NAME_sold_share);
    struct doc *offers = doc_add(arena, answer->doc, "offers", DOC_ARRAY);
    list->text_only = true;
    struct picture *picture = picture_new(arena, "Margin of each offer: 80 % interval");
    picture->x = (struct picture_axis){ "margin", "share of the price", false, false, NAN, NAN };
    for (size_t i = 0; i < count; i++) {
        add_document(&earnings[i], &scenario, arena, offers);
        add_line(&earnings[i], list);
        add_bar(&earnings[i], picture);
    }
    if (command_given(command, "closed") && !market_closed(&market, &scenario, section))
        return false;
    section_csv_of(list, columns, sizeof columns / sizeof *columns, &answer->csv);
    section_number(section, "models", (double)market.served_count, unit_one);
    section_number(section, "unknown", (double)market.unknown, unit_one);
    section_number(section, "slips", (double)slips, unit_one);
    section_number(section, "all", (double)count, unit_one)->text_only = true;
    section_number(section, "share", share, unit_one)->text_only = true;
    section_word(section, "first_model", market.served[0].model)->text_only = true;
    section_word(section, "prompt", count_text(arena, market.served[0].prompt_tokens, 9))->text_only = true;
    section_word(section, "reply", count_text(arena, market.served[0].output_tokens, 9))->text_only = true;
    section_document(section, answer->doc);
    answer->section = section;
    answer->picture = picture->bar_count ? picture : NULL;
    answer->status = !served;
    const size_t most = command_count(command, "most");
    list->inside_count = most && most < list->inside_count ? most : list->inside_count;
    section_number(section, "shown", (double)list->inside_count, unit_one)->text_only = true;
    template_print(template_built_in(arena, "ask/market/market.template"), section, &answer->text);
    return true;
}

#define FIGURE(key, text) { FIELD_RECORD, key, .help = text, .record = &figure_record }
static const struct record asked_record = { "MarketPrices", (const struct answer_field[]){
    { FIELD_NUMBER, .names = charges, .count = CHARGES, .help = "price of a token; absent: none is published",
      .unit = "USD/token" },
    { 0 } } };
static const struct record change_record = { "MarketChanges", (const struct answer_field[]){
    { FIELD_NUMBER, .names = charges, .count = CHARGES, .help = "price over the older one, less 1" }, { 0 } } };
static const struct record cost_record = { "MarketCosts", (const struct answer_field[]){
    { FIELD_RECORD, .names = charges, .count = CHARGES, .help = "predicted cost of a token, idle time of the machines included", .record = &figure_record }, { 0 } } };
static const struct record causes_record = { "MarketCauses", (const struct answer_field[]){
    { FIELD_RECORD, .names = market_causes, .count = MARKET_CAUSES, .help = "the margin, with the interval of this cause alone",
      .record = &figure_record }, { 0 } } };
static const struct record offer_record = { "MarketOffer", (const struct answer_field[]){
    { FIELD_TEXT, "model", .help = "its name in the catalog", .always = true }, { FIELD_TEXT, "seller", .always = true },
    { FIELD_TEXT, "date", .help = "of the prices", .always = true },
    { FIELD_RECORD, "price", .help = "prices of the offer", .record = &asked_record, .always = true },
    { FIELD_TEXT, "since", .help = "date of the older price; absent: there is none" },
    { FIELD_RECORD, "change", .help = "since then", .record = &change_record },
    { FIELD_RECORD, "cost", .help = "of the cheapest deployment", .record = &cost_record },
    FIGURE("margin", "share of the price that is not cost, with the interval of all causes together"),
    { FIELD_RECORD, "margin_by", .help = "each cause alone", .record = &causes_record },
    { FIELD_TEXT, "decides", .help = "the cause with the widest interval" },
    { FIELD_TEXT, "binds", .help = "what limits the deployment" },
    FIGURE("rent_at_zero", "rent of a chip at which nothing is earned"),
    { FIELD_NUMBER, "rent", .help = "of a chip, in the cost", .unit = "USD/s" },
    { FIELD_TEXT, "machine", .help = "of the cheapest deployment" }, { FIELD_TEXT, "deployment", .help = "the cheapest" },
    { FIELD_TEXT, "input_row", .help = "row of the input cost, for eval" },
    { FIELD_TEXTS, "words", .help = "of the deployment, for eval" },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_market_price }, .count = 1, .help = "per token of the request" },
    FIGURE(NAME_market_cost, "per token of the request"),
    { FIELD_SWITCH, "below_cost", .help = "true: the price is below the low end of the cost" },
    { FIELD_TEXT, "reason", .help = "why there is no cost" },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "asks_input", "asks_output", "margin_low", "margin_high" }, .count = 4 },
    { 0 } } };
static const struct record answer_market = { "Market", (const struct answer_field[]){
    { FIELD_LIST, "offers", .help = "the highest margin first", .record = &offer_record },
    { FIELD_NUMBER, .names = (const char *const[]){ "models", "unknown", "slips" }, .count = 3,
      .help = "models; offers of models that the catalog does not have; offers ten times off the median of their model" },
    { FIELD_LIST, "closed", .help = "--closed: closed models of data/prices.csv", .record = &market_closed_record },
    { FIELD_LIST, "schedule", .help = "--schedule: the lines of a price list", .record = &market_schedule_record },
    { FIELD_LIST, "stated", .help = "--schedule: what the lecture states of such prices", .record = &market_said_record },
    { FIELD_LIST, "changes", .help = "--changes: the largest factor first", .record = &market_change_record },
    { FIELD_NUMBER, .names = (const char *const[]){ "moved", "unchanged" }, .count = 2, .help = "--changes: prices that changed, and that did not" },
    { FIELD_LIST, "disclosures", .help = "--watch: published figures", .record = &market_disclosure_record },
    { FIELD_LIST, "pairs", .help = "--watch: two equations for one unknown", .record = &market_pair_record },
    { FIELD_LIST, "triggers", .help = "--watch: what would turn a thesis", .record = &market_trigger_record },
    { FIELD_LIST, "memory", .help = "--watch: memory's share of machines", .record = &market_share_record },
    { FIELD_RECORD, "memory_today", .help = "--watch: memory's share of all spending, said and published", .record = &market_today_record },
    { FIELD_NUMBER, .names = (const char *const[]){ "supports", "contradicts" }, .count = 2,
      .help = "--watch: figures that support the statement that they touch, and that contradict it" },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "all", "shown", "prompt", "reply", "first_model", "subject", "share" }, .count = 7 },
    { 0 } } };

static const struct option market_list[] = {
    { "model", "MODEL", OPTION_TEXT, .otherwise = "all of the list", .help = "an open model of the catalog" },
    { "closed", NULL, OPTION_SWITCH, .help = "also closed models, by their price lists alone" },
    { "schedule", "MODEL", OPTION_TEXT, .help = "the price list that the costs of a model imply" },
    { "long", "N", OPTION_COUNT, .low = 1, .high = 1e8, .fallback = "200000", .help = "with --schedule: prompt tokens of a long request" },
    { "watch", NULL, OPTION_SWITCH, .help = "what published figures say of the lecture's statements" },
    { "changes", NULL, OPTION_SWITCH, .help = "prices of two dates, the largest factor first" },
    { "seller", "NAME", OPTION_TEXT, .help = "the offers of one seller" },
    { "most", "N", OPTION_COUNT, .low = 1, .high = 10000, .fallback = "30", .help = "offers that the table shows" },
    { 0 } };
static const struct option_group market_options = { "Market", market_list };

const struct verb verb_market = {
    "market", "[MODEL|PRICES]", "Compare sellers' prices of open models with the cost of serving them.",
    { "chalkline market gpt-oss-120b", "chalkline market --seller deepinfra --on h100-sxm,b200-sxm",
      "chalkline market --schedule deepseek-v3 --on h200-sxm" },
    { &market_options, &deployment_options, &limit_options, &length_options, &machine_options, &weight_options, &cache_options,
      &engine_options, &price_options, &row_options, &table_options, &plot_options, &output_options },
    ANSWERS(answer_market), .ask = ask_market, .own_on = true };
