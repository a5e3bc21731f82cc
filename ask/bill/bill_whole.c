/* `bill` for a whole price list: every entry in its cheapest scheme, sorted by cost.
 *
 * Entries whose prices are suspicious, or that cannot take the workload's longest prompt, are
 * counted but not ranked. The text shows the cheapest ones, the CSV all of them. */
#include "ask/bill/bill.h"

#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct line {
    const struct reading *reading;
    struct bill_cost cost;
};

static int by_cost(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    double c = x->cost.task[x->cost.best], d = y->cost.task[y->cost.best];
    if (c != d)
        return c < d ? -1 : 1;
    return (x->reading > y->reading) - (x->reading < y->reading);
}

static bool takes(const struct line *line)
{
    return !(line->reading->price->context < line->cost.prompt_most);
}

static bool ranked(const struct line *line)
{
    return !line->reading->suspicious && takes(line);
}

/* List the selected entries, cheapest first. */
static struct line *list_lines(struct bill *bill, size_t *count)
{
    size_t all = bill->sheet.count;
    struct line *lines = arena_array(bill->arena, all + 1, sizeof *lines);
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

const struct reading *bill_cheapest(struct bill *bill, struct bill_cost *cost)
{
    size_t count, i = 0;
    const struct line *lines = list_lines(bill, &count);
    while (i < count && !ranked(&lines[i]))
        i++;
    if (i == count)
        return NULL;
    *cost = lines[i].cost;
    return lines[i].reading;
}

static void add_document(struct bill *bill, const struct line *line, struct doc *list)
{
    struct doc *one = doc_add(bill->arena, list, NULL, DOC_OBJECT);
    const struct price *price = line->reading->price;
    doc_add_string(bill->arena, one, "seller", price->seller);
    doc_add_string(bill->arena, one, "model", price->model);
    doc_add_string(bill->arena, one, "date", price->date);
    doc_add_string(bill->arena, one, "suspicious", reading_suspicious(bill->arena, line->reading));
    doc_add_bool(bill->arena, one, "takes_prompts", takes(line));
    doc_add_string(bill->arena, one, "cheapest", schemes[line->cost.best].word);
    struct doc *all = doc_add(bill->arena, one, NAME_task_cost, DOC_OBJECT);
    for (int i = 0; i < SCHEMES; i++)
        if (isfinite(line->cost.task[i]))
            doc_add_number(bill->arena, all, schemes[i].word, line->cost.task[i]);
}

static void add_row(struct bill *bill, const struct line *line, double month, struct table *table)
{
    const struct price *price = line->reading->price;
    double task = line->cost.task[line->cost.best], plain = line->cost.task[SCHEME_PLAIN];
    table_cell(table, "%s", price->seller);
    table_cell(table, "%s", price->model);
    table_cell(table, "%.4g", price->at[0][0][PRICE_INPUT] * 1e6);
    table_cell(table, "%.4g", price->at[0][0][PRICE_OUTPUT] * 1e6);
    table_cell(table, "%s", schemes[line->cost.best].name);
    table_cell(table, "%s", bill_usd(bill, task));
    table_cell(table, "%s", bill_usd(bill, month * task));
    table_cell(table, "%.0f %%", 100 * (1 - task / plain));
}

static void print_counts(struct bill *bill, const struct line *lines, size_t count, size_t shown)
{
    const struct price_sheet *sheet = &bill->sheet;
    size_t suspicious = 0, short_ = 0;
    for (size_t i = 0; i < count; i++) {
        suspicious += lines[i].reading->suspicious != 0;
        short_ += !lines[i].reading->suspicious && !takes(&lines[i]);
    }
    struct doc *doc = bill->answer->doc;
    doc_add_string(bill->arena, doc, "file", sheet->file);
    doc_add_number(bill->arena, doc, "billed", (double)count);
    doc_add_number(bill->arena, doc, "suspicious", (double)suspicious);
    doc_add_number(bill->arena, doc, "too_short", (double)short_);
    buffer_print(&bill->answer->text, "\n%zu of %zu entries billed (%s); the cheapest %zu are "
                 "shown, --csv has all.\n%zu have ratios outside the usual set and %zu take no "
                 "prompt of this length: not shown; --model bills one by name.\n",
                 count, sheet->count, sheet->kind, shown, suspicious, short_);
}

bool bill_whole(struct bill *bill)
{
    enum { SHOWN = 15 };
    static const char *const heads[] = { "seller", "model", "in", "out", "cheapest", "per task",
                                         "per month", "saved" };
    size_t count, shown = 0;
    const struct line *lines = list_lines(bill, &count);
    double month = bill_task_row(bill, NAME_month_cost, 1, 1);
    struct table table = { .arena = bill->arena, .columns = 8, .left = "llrrlrrr" };
    struct doc *list = doc_add(bill->arena, bill->answer->doc, "entries", DOC_ARRAY);
    for (int i = 0; i < 8; i++)
        table_cell(&table, "%s", heads[i]);
    for (size_t i = 0; i < count; i++) {
        add_document(bill, &lines[i], list);
        if (ranked(&lines[i]) && shown < SHOWN) {
            add_row(bill, &lines[i], month, &table);
            bill_basis(bill, lines[i].reading->price, lines[i].cost.best, &bill->basis);
            shown++;
        }
    }
    table_print(&table, &bill->answer->text, "");
    print_counts(bill, lines, count, shown);
    return true;
}

/* ---- CSV: a line for each scheme of each entry -------------------------------------------- */

static void add_csv(struct bill *bill, const struct line *line, double month, struct table *csv)
{
    const struct price *price = line->reading->price;
    for (int i = 0; i < SCHEMES; i++) {
        if (!isfinite(line->cost.task[i]))
            continue;
        table_cell(csv, "%s", price->seller);
        table_cell(csv, "%s", price->model);
        table_cell(csv, "%s", schemes[i].word);
        table_cell(csv, "%.17g", line->cost.task[i]);
        table_cell(csv, "%.17g", month * line->cost.task[i]);
        table_cell(csv, "%s", i == (int)line->cost.best ? "yes" : "no");
        table_cell(csv, "%s", takes(line) ? "yes" : "no");
        table_cell(csv, "%s", reading_suspicious(bill->arena, line->reading));
    }
}

void bill_csv(struct bill *bill)
{
    static const char *const heads[] = { "seller", "model", "scheme", NAME_task_cost, NAME_month_cost,
                                         "cheapest", "takes_prompts", "suspicious" };
    struct table csv = { .arena = bill->arena, .columns = 8 };
    double month = bill_task_row(bill, NAME_month_cost, 1, 1);
    size_t count;
    const struct line *lines = list_lines(bill, &count);
    for (int i = 0; i < 8; i++)
        table_cell(&csv, "%s", heads[i]);
    for (size_t i = 0; i < count; i++)
        add_csv(bill, &lines[i], month, &csv);
    table_csv(&csv, &bill->answer->csv);
}
