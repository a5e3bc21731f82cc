/* `bill` for a whole price list: every entry in its cheapest scheme, sorted by cost.
 *
 * Entries whose prices are suspicious, or that cannot take the workload's longest prompt, are
 * counted but not ranked. The text shows the cheapest ones, JSON all of them, and the CSV all
 * schemes of each. What a task costs is computed in bill_cost.c, for all entries at once. */
#include "ask/bill/bill.h"

#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>

struct bill_line {
    const struct price_reading *reading;
    struct bill_cost cost;
};

static int by_cost(const void *a, const void *b)
{
    const struct bill_line *x = a, *y = b;
    double c = x->cost.task[x->cost.best], d = y->cost.task[y->cost.best];
    if (c != d)
        return c < d ? -1 : 1;
    return (x->reading > y->reading) - (x->reading < y->reading);
}

static bool takes(const struct bill_line *line)
{
    return !(line->reading->price->context < line->cost.prompt_most);
}

static bool ranked(const struct bill_line *line)
{
    return !line->reading->suspicious && takes(line);
}

/* List the selected entries, cheapest first. */
static struct bill_line *list_lines(struct bill *bill, size_t *count)
{
    size_t all = bill->sheet.count;
    struct bill_line *lines = arena_array(bill->arena, all + 1, sizeof *lines);
    struct bill_point *points = arena_array(bill->arena, all + 1, sizeof *points);
    struct bill_cost *costs = arena_array(bill->arena, all + 1, sizeof *costs);
    *count = 0;
    for (size_t i = 0; i < all; i++) {
        const struct price *price = &bill->sheet.prices[i];
        if (!bill_chosen(bill, price))
            continue;
        points[*count] = (struct bill_point){ price, caching_find(&bill->caching, price), NAN };
        lines[(*count)++].reading = &bill->readings[i];
    }
    bill_costs(bill, points, *count, (struct bill_change){ NULL, 0 }, costs);
    for (size_t i = 0; i < *count; i++)
        lines[i].cost = costs[i];
    qsort(lines, *count, sizeof *lines, by_cost);
    return lines;
}

const struct price_reading *bill_cheapest(struct bill *bill, struct bill_cost *cost)
{
    size_t count, i = 0;
    const struct bill_line *lines = list_lines(bill, &count);
    while (i < count && !ranked(&lines[i]))
        i++;
    if (i == count)
        return NULL;
    *cost = lines[i].cost;
    return lines[i].reading;
}

/* Of a report: the cheapest entry, how much the dearest of those shown costs beside it, and the habit that
 * saves most there. */
static void add_cheapest(struct bill *bill, const struct bill_line *line, const struct section *shown)
{
    struct section *one = section_add(bill->section, "cheapest_entry", SECTION_RECORD);
    struct section *scratch = section_new(bill->arena);
    const struct section *first = shown->inside[0], *last = shown->inside[shown->inside_count - 1];
    double most = 0;
    one->text_only = true;
    section_word(one, "seller", line->reading->price->seller);
    section_word(one, "model", line->reading->price->model);
    bill_figure(bill, one, NAME_month_cost, section_value(first, NAME_month_cost));
    section_number(one, "dearest_ratio", section_value(last, NAME_month_cost) /
                   section_value(first, NAME_month_cost), unit_one);
    bill_habits(bill, line->reading, &line->cost, scratch);
    const struct section *habits = section_inside(scratch, "habits");
    for (size_t i = 0; habits && i < habits->inside_count; i++) {
        const double saving = section_value(habits->inside[i], NAME_month_saving);
        if (!(saving > most))
            continue;
        most = saving;
        section_word(one, "habit", section_find(habits->inside[i], "habit")->word);
        bill_figure(bill, one, NAME_month_saving, saving)->value = saving;
    }
}

void bill_whole(struct bill *bill, struct section *list)
{
    enum { SHOWN = 15, DRAWN = 12 };
    struct section *section = bill->section, *shown = section_add(section, "ranked", SECTION_LIST);
    const double month = bill_task_row(bill, NAME_month_cost, 1, 1);
    size_t count, suspicious = 0, too_short = 0;
    const struct bill_line *lines = list_lines(bill, &count), *cheapest = NULL;
    shown->text_only = true;
    for (size_t i = 0; i < count; i++) {
        const struct price_reading *reading = lines[i].reading;
        const struct bill_cost *cost = &lines[i].cost;
        struct section *entry = section_add(list, NULL, SECTION_RECORD);
        bill_entry(bill, reading, cost, entry);
        struct section *costs = section_add(entry, NAME_task_cost, SECTION_RECORD);
        for (int k = 0; k < SCHEMES; k++)
            if (isfinite(cost->task[k]))
                bill_figure(bill, costs, schemes[k].word, cost->task[k]);
        suspicious += reading->suspicious != 0;
        too_short += !reading->suspicious && !takes(&lines[i]);
        if (!ranked(&lines[i]) || shown->inside_count == SHOWN)
            continue;
        const double best = cost->task[cost->best], *price = reading->price->at[SERVICE_STANDARD][0];
        section_share(shown, entry);
        cheapest = cheapest ? cheapest : &lines[i];
        if (shown->inside_count <= DRAWN)
            bill_bar(bill, arena_print(bill->arena, "%s, %s", reading->price->model, reading->price->seller),
                     reading->price, cost->best, month);
        bill_basis(bill, reading->price, cost->best, &bill->basis);
        section_word(entry, "cheapest_name", schemes[cost->best].name)->text_only = true;
        bill_figure(bill, entry, NAME_listed_input, price[PRICE_INPUT])->text_only = true;
        bill_figure(bill, entry, NAME_listed_output, price[PRICE_OUTPUT])->text_only = true;
        bill_figure(bill, entry, NAME_month_cost, month * best)->text_only = true;
        section_quantity(entry, "best_cost", best, "USD")->text_only = true;
        section_number(entry, "saved", 1 - best / cost->task[SCHEME_PLAIN], unit_one)->text_only = true;
    }
    if (cheapest && command_reports(bill->command))
        add_cheapest(bill, cheapest, shown);
    section_word(section, "file", bill->sheet.file);
    section_number(section, "billed", (double)count, unit_one);
    section_number(section, "suspicious", (double)suspicious, unit_one);
    section_number(section, "too_short", (double)too_short, unit_one);
    section_number(section, "read", (double)bill->sheet.count, unit_one)->text_only = true;
    section_number(section, "shown", (double)shown->inside_count, unit_one)->text_only = true;
    section_word(section, "kind", bill->sheet.kind)->text_only = true;
}

/* A line for each scheme of each entry that was asked for. */
void bill_csv(struct bill *bill, struct buffer *out)
{
    struct section *csv = section_add(section_new(bill->arena), NULL, SECTION_LIST);
    const double month = bill_task_row(bill, NAME_month_cost, 1, 1);
    size_t count;
    const struct bill_line *lines = list_lines(bill, &count);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < SCHEMES; k++) {
            const struct bill_cost *cost = &lines[i].cost;
            if (!isfinite(cost->task[k]))
                continue;
            struct section *one = section_add(csv, NULL, SECTION_RECORD);
            section_word(one, "seller", lines[i].reading->price->seller);
            section_word(one, "model", lines[i].reading->price->model);
            section_word(one, "scheme", schemes[k].word);
            bill_figure(bill, one, NAME_task_cost, cost->task[k]);
            bill_figure(bill, one, NAME_month_cost, month * cost->task[k]);
            section_word(one, "cheapest", k == (int)cost->best ? "yes" : "no");
            section_word(one, "takes_prompts", takes(&lines[i]) ? "yes" : "no");
            section_word(one, "suspicious", reading_suspicious(bill->arena, lines[i].reading));
        }
    section_csv(csv, out);
}
