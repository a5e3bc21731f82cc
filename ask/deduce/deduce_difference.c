/* `deduce` for two price lists of different dates: which prices changed, and which conclusions
 * move.
 *
 * Entries are matched by seller and model; lists from different makers spell these differently,
 * and are then matched by the model alone if the seller agrees. A conclusion is reported as moved
 * when its median changes by 5 % or more. */
#include "ask/deduce/deduce.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* The lecture's signals, as what is seen of them. */
static const struct { int field; const char *label; } signals[] = {
    { FIELD_INPUT, "input price" },          { FIELD_OUTPUT, "output/input spread" },
    { FIELD_HIT, "cache ratio" },            { FIELD_WRITE_SHORT, "write, short" },
    { FIELD_WRITE_LONG, "write, long" },     { FIELD_STEP_INPUT, "long-context step, in" },
    { FIELD_STEP_OUTPUT, "long-context step, out" }, { FIELD_FAST, "fast-mode premium" },
    { FIELD_BATCH_INPUT, "batch" },
};

struct change {
    const char *label;
    double before, after;
};

struct difference {
    struct deduction *deduction;
    struct price_sheet sheet;       /* the older */
    struct reading *readings;
    struct doc *list;
    size_t changed, gone, came;
};

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-6 * fabs(a);
}

static const struct reading *find(const struct reading *readings, size_t count,
                                  const struct price *price)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(readings[i].price->model, price->model) &&
            !strcmp(readings[i].price->seller, price->seller))
            return &readings[i];
    return NULL;
}

/* Sheets of other makers spell sellers and models otherwise: then by the model alone, if the
 * seller agrees. */
static const struct reading *find_like(const struct reading *readings, size_t count,
                                       const struct price *price)
{
    const struct reading *found = find(readings, count, price);
    for (size_t i = 0; !found && i < count; i++)
        if (name_same(price_model(readings[i].price), price_model(price)) &&
            name_same(readings[i].price->seller, price->seller))
            found = &readings[i];
    return found;
}

static const char *number_text(struct arena *arena, double value, double scale)
{
    return isfinite(value) ? arena_print(arena, "%.4g", value * scale) : "none";
}

static void add_change(struct difference *difference, struct doc *doc, const char *label,
                       const char *key, double before, double after, double scale)
{
    struct arena *arena = difference->deduction->arena;
    struct doc *one = doc_add(arena, doc, key, DOC_OBJECT);
    if (isfinite(before))
        doc_add_number(arena, one, "before", before);
    if (isfinite(after))
        doc_add_number(arena, one, "after", after);
    buffer_print(&difference->deduction->answer->text, "; %s %s -> %s", label,
                 number_text(arena, before, scale), number_text(arena, after, scale));
}

static void add_conclusion(struct difference *difference, const struct span *before,
                           const struct span *after, const char *label, double scale)
{
    if (fabs(scalar_log(after->q50 / before->q50)) < 0.05)
        return;
    buffer_print(&difference->deduction->answer->text, "\n    moves %s, 90 %%: %.3g .. %.3g -> %.3g "
                 ".. %.3g", label, before->q05 / scale, before->q95 / scale, after->q05 / scale,
                 after->q95 / scale);
}

static double ceiling(const struct reading *reading)
{
    return reading->price->context;
}

static void compare(struct difference *difference, const struct reading *before,
                    const struct reading *after)
{
    struct deduction *deduction = difference->deduction;
    const double million = 1e6, billion = 1e9;
    struct doc *doc = NULL;
    bool any = !same(ceiling(before), ceiling(after));
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        any |= !same(before->seen[signals[i].field], after->seen[signals[i].field]);
    if (!any)
        return;
    difference->changed++;
    doc = doc_add(deduction->arena, difference->list, NULL, DOC_OBJECT);
    doc_add_string(deduction->arena, doc, "seller", after->price->seller);
    doc_add_string(deduction->arena, doc, "model", after->price->model);
    buffer_print(&deduction->answer->text, "%s %s", after->price->seller, after->price->model);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        int field = signals[i].field;
        if (!same(before->seen[field], after->seen[field]))
            add_change(difference, doc, signals[i].label, fields[field].seen, before->seen[field],
                       after->seen[field], field == FIELD_INPUT ? million : 1);
    }
    if (!same(ceiling(before), ceiling(after)))
        add_change(difference, doc, "context ceiling", NAME_context, ceiling(before), ceiling(after), 1);
    add_conclusion(difference, &before->span[0], &after->span[0], "decode utilization", 1);
    add_conclusion(difference, &before->span[1], &after->span[1], "active parameters (B)", billion);
    buffer_print(&deduction->answer->text, "\n");
}

bool deduce_difference(struct deduction *deduction, const char *old_path)
{
    struct difference difference = { .deduction = deduction };
    struct answer *answer = deduction->answer;
    if (!readings_read(deduction->arena, old_path, &deduction->priors, &deduction->rows,
                       &difference.sheet, &difference.readings, deduction->error) ||
        !deduce_draw(deduction, false))
        return false;
    deduce_conclude(deduction, deduction->readings, deduction->sheet.count);
    deduce_conclude(deduction, difference.readings, difference.sheet.count);
    difference.list = doc_add(deduction->arena, answer->doc, "changed", DOC_ARRAY);
    for (size_t i = 0; i < deduction->sheet.count; i++) {
        const struct reading *after = &deduction->readings[i];
        const struct reading *before = find_like(difference.readings, difference.sheet.count,
                                                 after->price);
        if (before)
            compare(&difference, before, after);
        else
            difference.came++;
    }
    for (size_t i = 0; i < difference.sheet.count; i++)
        difference.gone += !find_like(deduction->readings, deduction->sheet.count,
                                      &difference.sheet.prices[i]);
    doc_add_number(deduction->arena, answer->doc, "came", (double)difference.came);
    doc_add_number(deduction->arena, answer->doc, "gone", (double)difference.gone);
    buffer_print(&answer->text, "%s%zu changed, %zu added, %zu removed (%s -> %s)\n",
                 answer->text.size ? "\n" : "", difference.changed, difference.came,
                 difference.gone, difference.sheet.file, deduction->sheet.file);
    return true;
}
