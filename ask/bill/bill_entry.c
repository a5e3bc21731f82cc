/* An entry of the price list in an answer: whether it was asked for, and what every answer says of it. */
#include "ask/bill/bill.h"

#include <string.h>

struct figure *bill_figure(const struct bill *bill, struct section *section, const char *row, double value)
{
    return section_number(section, row, value, scenario_unit(&bill->scenario, row));
}

static bool in_names(struct arena *arena, const char *names, const char *whole, const char *short_)
{
    while (*names) {
        size_t size = strcspn(names, ",");
        const char *name = arena_copy(arena, names, size);
        if (name_same(name, whole) || name_same(name, short_))
            return true;
        names += size + (names[size] == ',');
    }
    return false;
}

bool bill_chosen(const struct bill *bill, const struct price *price)
{
    const char *model = command_text(bill->command, "model");
    const char *seller = command_text(bill->command, "seller");
    return (!model || in_names(bill->arena, model, price->model, price_model(price))) &&
           (!seller || in_names(bill->arena, seller, price->seller, price->seller));
}

void bill_entry(const struct bill *bill, const struct price_reading *reading, const struct bill_cost *cost,
                struct section *entry)
{
    const struct price *price = reading->price;
    section_word(entry, "seller", price->seller);
    section_word(entry, "model", price->model);
    section_word(entry, "date", price->date);
    section_word(entry, "suspicious", reading_suspicious(bill->arena, reading));
    section_switch(entry, "takes_prompts", !(price->context < cost->prompt_most));
    section_word(entry, "cheapest", schemes[cost->best].word);
}
