/* The picture of a bill: what a month costs, by what is paid for; with --own what a task costs by the load.
 *
 * Costs are sums of tokens times prices, so the part of a price is the slope of the cost along it times the
 * price, and the parts add up (Euler). Where they do not, as where a rule compares two prices just here,
 * the bar has no parts. */
#include "ask/bill/bill.h"
#include "build/row_names.h"
#include "report/picture.h"
#include "scenario/values.h"

#include <math.h>

struct charge {
    const char *name;
    enum picture_kind kind;
    unsigned classes;               /* bits of enum price_class */
    bool storage;
};
static const struct charge charges[] = {
    { "input", PICTURE_COMPUTE, 1u << PRICE_INPUT, false },
    { "cache hits", PICTURE_CACHE, 1u << PRICE_HIT, false },
    { "cache writes and storage", PICTURE_HOST, 1u << PRICE_WRITE_SHORT | 1u << PRICE_WRITE_LONG, true },
    { "output", PICTURE_WEIGHTS, 1u << PRICE_OUTPUT, false } };
enum { CHARGES = sizeof charges / sizeof *charges };

static const double day = 86400;

void bill_draw_own(struct bill *bill, const struct bill_load *loads, size_t count, double pays_rate, double pays_cost)
{
    if (!bill->picture)
        return;
    bill->picture = picture_new(bill->arena, "A task on own GPUs and bought, by the load");
    bill->picture->x = (struct picture_axis){ "tasks", "per day", true, false, NAN, NAN };
    bill->picture->y = (struct picture_axis){ "cost of a task", "USD", true, false, NAN, NAN };
    struct picture_line *own = picture_line_add(bill->picture, "own GPUs", PICTURE_COMPUTE, PICTURE_PREDICTED);
    for (size_t i = 0; i < count; i++) {
        picture_point_add(bill->picture, own, day * loads[i].rate, loads[i].own);
        picture_band_add(bill->picture, own, day * loads[i].rate, loads[i].own_low, loads[i].own_high);
    }
    struct picture_line *bought = picture_line_add(bill->picture, "bought", PICTURE_RESULT, PICTURE_MAXIMUM);
    for (size_t i = 0; i < count; i++)
        picture_point_add(bill->picture, bought, day * loads[i].rate, loads[i].bought);
    if (pays_rate > 0)
        picture_mark_add(bill->picture, "owning pays", day * pays_rate, pays_cost);
}

static const double slightly = 1e-4;

/* The entry with these prices a little higher. */
static struct price dearer(struct arena *arena, const struct price *price, const struct charge *charge, double share)
{
    struct price moved = *price;
    moved.further = arena_array(arena, price->further_count + 1, sizeof *moved.further);
    for (size_t i = 0; i < price->further_count; i++) {
        moved.further[i] = price->further[i];
        for (int class = 0; class < PRICE_CLASSES; class++)
            moved.further[i].at[class] *= charge->classes >> class & 1 ? 1 + share : 1;
    }
    for (int tier = 0; tier < SERVICE_TIERS; tier++)
        for (int above = 0; above < 2; above++)
            for (int class = 0; class < PRICE_CLASSES; class++)
                if (charge->classes >> class & 1)
                    moved.at[tier][above][class] *= 1 + share;
    if (charge->storage)
        moved.storage *= 1 + share;
    return moved;
}

void bill_bar(struct bill *bill, const char *name, const struct price *price, enum scheme scheme,
              double month)
{
    static const struct bill_change as_it_is = { NULL, 0 };
    const struct caching_rule *rule = caching_find(&bill->caching, price);
    const struct bill_point whole_point = { price, rule, NAN };
    double parts[CHARGES], sum = 0;
    struct bill_cost cost, less;
    if (!bill->picture)
        return;
    bill_costs(bill, &whole_point, 1, as_it_is, &cost);
    const double whole = cost.task[scheme];
    for (int i = 0; i < CHARGES; i++) {
        const struct price up = dearer(bill->arena, price, &charges[i], slightly),
            down = dearer(bill->arena, price, &charges[i], -slightly);
        const struct bill_point above = { &up, rule, NAN }, below = { &down, rule, NAN };
        bill_costs(bill, &above, 1, as_it_is, &cost);
        bill_costs(bill, &below, 1, as_it_is, &less);
        parts[i] = (cost.task[scheme] - less.task[scheme]) / (2 * slightly);
        sum += parts[i];
    }
    struct picture_bar *bar = picture_bar_add(bill->picture, name);
    bar->total = true;
    bar->text = quantity_text(bill->arena, month * whole, scenario_unit(&bill->scenario, NAME_month_cost), 3);
    if (!(fabs(sum - whole) <= slightly * whole)) {
        picture_part_add(bill->picture, bar, PICTURE_RESULT, month * whole);
        return;
    }
    for (int i = 0; i < CHARGES; i++)
        picture_part_add(bill->picture, bar, charges[i].kind, month * parts[i])->name = charges[i].name;
}
