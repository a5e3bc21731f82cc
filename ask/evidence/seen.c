/* A price list from its file to readings: its prices as inputs of rows, and signs that a price is wrong.
 *
 * A reading is one entry of a list, with the inputs that its prices set. It is suspicious where a
 * ratio of prices lies outside the usual range of data/priors.csv, or where many entries of a
 * seller have the same value, which then says more about the list than about costs. Suspicious
 * readings are marked and not removed. */
#include "ask/evidence/evidence.h"

#include "build/row_names.h"
#include "catalog/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PRIORITY = FIELD_COUNT, FILE_MOST = 64 << 20 };

static const char *const built_in = "data/prices.csv";

/* Where each input of the rows stands in a price. */
static const struct { const char *row; enum service_tier tier; int above; enum price_class class; }
inputs[] = {
    { NAME_seen_input, SERVICE_STANDARD, 0, PRICE_INPUT },
    { NAME_seen_output, SERVICE_STANDARD, 0, PRICE_OUTPUT },
    { NAME_seen_hit, SERVICE_STANDARD, 0, PRICE_HIT },
    { NAME_seen_write_short, SERVICE_STANDARD, 0, PRICE_WRITE_SHORT },
    { NAME_seen_write_long, SERVICE_STANDARD, 0, PRICE_WRITE_LONG },
    { NAME_seen_input_above, SERVICE_STANDARD, 1, PRICE_INPUT },
    { NAME_seen_output_above, SERVICE_STANDARD, 1, PRICE_OUTPUT },
    { NAME_seen_input_batch, SERVICE_BATCH, 0, PRICE_INPUT },
    { NAME_seen_output_batch, SERVICE_BATCH, 0, PRICE_OUTPUT },
    { NAME_seen_input_priority, SERVICE_PRIORITY, 0, PRICE_INPUT },
    { NAME_seen_storage, 0, 0, 0 },
    { NAME_seen_fast, 0, 0, 0 },
};

enum { STORAGE = 10, FAST = 11, INPUTS = 12 };

bool seen_open(struct scenario *scenario, struct seen_rows *rows, struct error *error)
{
    struct arena *arena = scenario->arena;
    const struct expr *wanted[FIELD_COUNT + 1];
    for (int i = 0; i <= FIELD_COUNT; i++)
        if (!expr_parse(&scenario->formulas, NULL, 0,
                        text_of(i < FIELD_COUNT ? fields[i].seen : NAME_seen_priority), &wanted[i],
                        error))
            return false;
    if (!graph_build(arena, &scenario->formulas, &scenario->facts, wanted, FIELD_COUNT + 1,
                     &rows->graph, error))
        return false;
    for (int i = 0; i < INPUTS; i++)
        rows->input[i] = graph_input(&rows->graph, inputs[i].row);
    return true;
}

/* Flex is what can wait, where batch is not sold. */
static double price_at(const struct price *price, int i)
{
    if (i == STORAGE || i == FAST)
        return i == STORAGE ? price->storage : price->fast;
    double value = price->at[inputs[i].tier][inputs[i].above][inputs[i].class];
    if (isnan(value) && inputs[i].tier == SERVICE_BATCH)
        value = price->at[SERVICE_FLEX][inputs[i].above][inputs[i].class];
    return value;
}

const char *reading_sets(struct arena *arena, const struct price_reading *reading)
{
    struct buffer out = { .arena = arena };
    buffer_add(&out, "", 0);
    for (int i = 0; i < INPUTS; i++) {
        double price = price_at(reading->price, i);
        if (!isnan(price))
            buffer_print(&out, " --set %s=%.9g", inputs[i].row, price);
    }
    return out.data;
}

static bool unusual(struct usual usual, double seen)
{
    const double slack = 1e-9;                  /* 0.1 / 0.2 is not a half */
    return !isnan(seen) && (seen < usual.low - slack * fabs(usual.low) ||
                            seen > usual.high + slack * fabs(usual.high));
}

void reading_make(struct arena *arena, const struct seen_rows *rows, const struct priors *priors,
                  const struct price *price, struct price_reading *reading)
{
    double values[64], seen[FIELD_COUNT + 1];
    *reading = (struct price_reading){ .price = price };
    for (size_t i = 0; i < rows->graph.input_count && i < 64; i++)
        values[i] = rows->graph.inputs[i].value;
    for (int i = 0; i < INPUTS; i++)
        if (rows->input[i] >= 0)
            values[rows->input[i]] = price_at(price, i);
    graph_value(arena, &rows->graph, values, NULL, seen);
    reading->priority = seen[PRIORITY];
    if (unusual(priors->priority, reading->priority))
        reading->suspicious |= 1u << PRIORITY;
    for (int i = 0; i < FIELD_COUNT; i++) {
        reading->seen[i] = seen[i];
        if (unusual(priors->usual[i], seen[i]))
            reading->suspicious |= 1u << i;
        bool used = isfinite(seen[i]) && !(reading->suspicious & 1u << i);
        reading->evidence.seen[i] = used ? seen[i] : NAN;
        reading->evidence.policy[i] = NAN;
    }
}

/* ---- one seller, one decision ------------------------------------------------------------- */

static bool same_value(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(a);
}

struct shown {                      /* a value of a field, at an input price */
    double value, price;
    struct price_reading *reading;
};

static int by_value(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->reading > y->reading) - (x->reading < y->reading);
}

/* So many readings of a seller that show one value, of `any` that show some. */
static void compare_alike(const struct shown *alike, size_t count, size_t any, int field,
                          const struct priors *priors)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, alike[i].price);
        high = fmax(high, alike[i].price);
    }
    bool policy = (double)count >= priors->vendor_models && high > priors->vendor_span * low;
    for (size_t i = 0; i < count; i++) {
        struct price_reading *reading = alike[i].reading;
        reading->same[field] = (int)count;
        reading->all[field] = (int)any;
        if (!policy)
            continue;
        reading->vendor |= 1u << field;
        reading->evidence.policy[field] = fmax(priors->vendor_policy,
                                               priors->belief[field].policy);
    }
}

/* `shown` has room for the group, the readings of one seller. */
static void compare_field(struct price_reading *const *group, size_t count, int field,
                          const struct priors *priors, struct shown *shown)
{
    size_t any = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(group[i]->seen[field]))
            shown[any++] = (struct shown){ group[i]->seen[field], group[i]->seen[FIELD_INPUT],
                                           group[i] };
    if (any)
        qsort(shown, any, sizeof *shown, by_value);
    for (size_t first = 0, end = 0; first < any; first = end) {
        while (end < any && same_value(shown[first].value, shown[end].value))
            end++;
        end = end > first ? end : first + 1;        /* infinite values are not the same */
        compare_alike(shown + first, end - first, any, field, priors);
    }
}

static int by_seller(const void *a, const void *b)
{
    const struct price_reading *x = *(struct price_reading *const *)a, *y = *(struct price_reading *const *)b;
    int order = strcmp(x->price->seller, y->price->seller);
    return order ? order : (x > y) - (x < y);
}

void readings_vendors(struct arena *arena, struct price_reading *readings, size_t count,
                      const struct priors *priors)
{
    struct price_reading **sorted = arena_array(arena, count + 1, sizeof *sorted);
    struct shown *shown = arena_array(arena, count + 1, sizeof *shown);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &readings[i];
    qsort(sorted, count, sizeof *sorted, by_seller);
    for (size_t first = 0, end = 0; first < count; first = end) {
        const char *seller = sorted[first]->price->seller;
        while (end < count && !strcmp(sorted[end]->price->seller, seller))
            end++;
        for (int field = FIELD_OUTPUT; *seller && field < FIELD_COUNT; field++)
            compare_field(sorted + first, end - first, field, priors, shown);
    }
}

const char *reading_suspicious(struct arena *arena, const struct price_reading *reading)
{
    struct buffer out = { .arena = arena };
    buffer_add(&out, "", 0);
    for (int i = 0; i <= FIELD_COUNT; i++)
        if (reading->suspicious & 1u << i)
            buffer_print(&out, "%s%s %.3g", out.size ? ", " : "",
                         i < FIELD_COUNT ? fields[i].label : "priority",
                         i == FIELD_INPUT ? reading->seen[i] * 1e6
                         : i < FIELD_COUNT ? reading->seen[i] : reading->priority);
    return out.data;
}

bool readings_read(struct arena *arena, const char *path, const struct priors *priors,
                   const struct seen_rows *rows, struct price_sheet *sheet,
                   struct price_reading **readings, struct error *error)
{
    bool ours = !strcmp(path, "prices");
    struct text text = text_built_in(built_in);
    if ((!ours && !file_read(arena, path, FILE_MOST, &text, error)) ||
        !prices_read(arena, ours ? built_in : path, text, sheet, error))
        return false;
    *readings = arena_array(arena, sheet->count, sizeof **readings);
    for (size_t i = 0; i < sheet->count; i++)
        reading_make(arena, rows, priors, &sheet->prices[i], &(*readings)[i]);
    readings_vendors(arena, *readings, sheet->count, priors);
    return true;
}
