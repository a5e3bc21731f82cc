/* The offers of price lists: each seller's price of each open model, the latest, with the one before it. */
#include "ask/market/market.h"
#include "base/embedded.h"
#include "catalog/meant.h"
#include "catalog/sheet.h"

#include <string.h>
#include <unistd.h>

enum { FILE_MOST = 64 << 20 };
static const char dated[] = "data/prices/";             /* one list a day, in the order of the days */
static const char closed[] = "data/prices.csv";

static size_t served_of(struct market *market, const char *model)
{
    for (size_t i = 0; i < market->served_count; i++)
        if (!strcmp(market->served[i].model, model))
            return i;
    struct market_served *served = arena_push(market->arena, &market->served, &market->served_count, &market->served_room,
                                       sizeof *served);
    *served = (struct market_served){ .model = model };
    return market->served_count - 1;
}

static void add_offer(struct market *market, const char *model, const struct price *price)
{
    for (size_t i = 0; i < market->count; i++) {
        struct market_offer *offer = &market->offers[i];
        if (strcmp(offer->model, model) || strcmp(offer->price->seller, price->seller))
            continue;
        const int order = strcmp(price->date, offer->price->date);
        if (order < 0) {
            if (!offer->before || strcmp(price->date, offer->before->date) > 0)
                offer->before = price;
            return;
        }
        if (order > 0)
            offer->before = offer->price;
        else if (price->at[SERVICE_STANDARD][0][PRICE_OUTPUT] >= offer->price->at[SERVICE_STANDARD][0][PRICE_OUTPUT])
            return;                     /* of two prices in one list the lower */
        offer->price = price;
        return;
    }
    struct market_offer *offer = arena_push(market->arena, &market->offers, &market->count, &market->room, sizeof *offer);
    *offer = (struct market_offer){ .price = price, .model = model, .served = served_of(market, model) };
}

static void add_sheet(struct market *market, const struct price_sheet *sheet, const char *only)
{
    const char *precision, *cache;
    for (size_t i = 0; i < sheet->count; i++) {
        const struct price *price = &sheet->prices[i];
        const double *at = price->at[SERVICE_STANDARD][0];
        if (!(at[PRICE_INPUT] > 0) || !(at[PRICE_OUTPUT] > 0))
            continue;
        const struct catalog_entry *entry = catalog_model_called(market->arena, &market->catalog, price_model(price),
                                                                 &precision, &cache);
        if (!entry)
            market->unknown++;
        else if (!only || !strcmp(entry->name, only))
            add_offer(market, entry->name, price);
    }
}

/* A list; NULL: a model stands in its place, as in `chalkline market qwen3-32b`, or nothing. */
static const char *list_of(struct market *market)
{
    const char *word = market->command->word_count ? market->command->words[0] : NULL;
    return word && access(word, F_OK) && !name_within(word, ".csv") && !name_within(word, ".json") ? NULL : word;
}

/* The name in the catalog of the model that was asked for; NULL with no error: all are. */
static bool wanted(struct market *market, const char *list, const char **only)
{
    const struct command *command = market->command;
    const char *name = command_text(command, "model"), *precision, *cache;
    name = !name && command->word_count && !list ? command->words[0] : name;
    *only = NULL;
    if (!name)
        return true;
    const struct catalog_entry *entry = catalog_find(&market->catalog, CATALOG_MODEL, name, market->error);
    if (!entry)
        entry = catalog_model_called(market->arena, &market->catalog, name, &precision, &cache);
    if (!entry)
        meant_explain("model", name, market->error);
    *only = entry ? entry->name : NULL;
    return entry != NULL;
}

static bool add_list(struct market *market, const char *file, struct text text)
{
    struct price_sheet *sheet = arena_alloc(market->arena, sizeof *sheet);
    if (!prices_read(market->arena, file, text, sheet, market->error))
        return false;
    *(struct price_sheet **)arena_push(market->arena, &market->sheets, &market->sheet_count, &market->sheet_room, sizeof sheet) = sheet;
    return true;
}

bool market_sheets(struct market *market, bool closed_too)
{
    const char *list = list_of(market);
    struct text text;
    if (list)
        return file_read(market->arena, list, FILE_MOST, &text, market->error) && add_list(market, list, text);
    for (const struct embedded *file = embedded_data; file->path; file++)
        if (!strncmp(file->path, dated, sizeof dated - 1) && !add_list(market, file->path, text_built_in(file->path)))
            return false;
    return !closed_too || add_list(market, closed, text_built_in(closed));
}

bool market_read(struct market *market)
{
    const char *only;
    if (!wanted(market, list_of(market), &only) || !market_sheets(market, false))
        return false;
    for (size_t i = 0; i < market->sheet_count; i++)
        add_sheet(market, market->sheets[i], only);
    if (market->count)
        return true;
    error_set(market->error, "no seller of %s is in the list", only ? only : "an open model");
    return error_expected(market->error, "a model that `chalkline market` lists");
}
