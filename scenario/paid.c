/* How a chip is paid for: a machine's sheet says of which kind its chip_price is, and every answer that uses it
 * names the kind. The options that choose another are place.c's. */
#include "scenario/figures.h"
#include "scenario/scenario.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

const char *const price_kinds[] = { "on-demand", "spot", "contract-1y", "contract-3y", "owned", NULL };

const char *price_kind_named(const char *name)
{
    for (const char *const *kind = price_kinds; name && *kind; kind++)
        if (!strcmp(*kind, name))
            return *kind;
    return NULL;
}

const char *price_kind_text(const struct scenario *scenario)
{
    static const char *const words[] = { "on demand", "spot, which may be taken away", "1-year contract",
                                         "3-year contract", "bought" };
    if (fact_given(facts_find(&scenario->facts, NAME_chip_price)))
        return "your price";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (scenario->price_kind == price_kinds[i])
            return words[i];
    return "rental";
}

const char *rental_text(const struct scenario *scenario, double price, const char *machine)
{
    static const double seconds_per_hour = 3600;
    const struct fact *fact = facts_find(&scenario->facts, NAME_chip_price);
    struct scenario copy = *scenario;
    struct error ignored;
    if (fact && fact->expression && !value_of(&copy, NAME_chip_price, &price, &ignored))
        price = NAN;
    return arena_print(scenario->arena, "%s USD per GPU-hour%s%s (%s)",
                       count_text(scenario->arena, price * seconds_per_hour, 4), *machine ? " of " : "",
                       machine, price_kind_text(scenario));
}

void scenario_hosts(struct scenario *scenario, double chips, double hosts, double host_chips, struct section *section)
{
    struct arena *arena = scenario->arena;
    const struct fact *rented = facts_find(&scenario->facts, NAME_rented_chips);
    const double board = value_or_nan(scenario, NAME_board_chips), spare = ceil(value_or_nan(scenario, NAME_spare_hosts));
    const double idle = (hosts - spare) * host_chips - chips;
    const bool part = host_chips < board;
    const char *why = "", *plural = hosts > 1 ? "s" : "";
    if (part)
        why = rented ? arena_print(arena, "; clouds rent parts of hosts of %.0f (%s)", board, rented->source) : "";
    else if (idle > 0)
        why = arena_print(arena, "; %.0f GPU%s idle: %s", idle, idle > 1 ? "s are" : " is",
                          rented ? "the replicas do not fit a smaller part of a host that a cloud rents"
                                 : arena_print(arena, "no cloud is known to rent fewer than %.0f", host_chips));
    const char *paid = part && host_chips <= 1 ? arena_print(arena, "%.0f single GPU%s", hosts, plural)
                                               : arena_print(arena, "%.0f host%s of %.0f", hosts, plural, host_chips);
    if (spare > 0)
        paid = arena_print(arena, "%s, %.0f of them spare", paid, spare);
    section_word(section, "hosts_paid", paid)->text_only = true;
    section_word(section, "hosts_why", why)->text_only = true;
    section_number(section, "hosts_idle", idle, unit_one)->text_only = true;
}

void scenario_note_price(struct scenario *scenario)
{
    const struct fact *price = facts_find(&scenario->facts, NAME_chip_price);
    if (scenario->machine && price && price->origin == ORIGIN_SHEET && (price->expression || price->value > 0))
        facts_note(&scenario->facts, "%s", rental_text(scenario, price->value, ""));
}
