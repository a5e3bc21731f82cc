/* `deduce` for two price lists of different dates: which prices changed, and which conclusions
 * move.
 *
 * Entries are matched by seller and model; lists from different makers spell these differently,
 * and are then matched by the model alone if the seller agrees. A conclusion is reported as moved
 * when its median changes by 5 % or more. Where a price is as far off the older one as errors of units are (price_slips), the entry
 * stands apart, and nothing is concluded from it. */
#include "ask/deduce/deduce.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

enum { CHANGED, SLIPS, TABLE, LISTS };

/* The lecture's signals, as what is seen of them. */
static const struct { int field; const char *label; } signals[] = {
    { FIELD_INPUT, "input price" },          { FIELD_OUTPUT, "output/input spread" },
    { FIELD_HIT, "cache ratio" },            { FIELD_WRITE_SHORT, "write, short" },
    { FIELD_WRITE_LONG, "write, long" },     { FIELD_STEP_INPUT, "long-context step, in" },
    { FIELD_STEP_OUTPUT, "long-context step, out" }, { FIELD_FAST, "fast-mode premium" },
    { FIELD_BATCH_INPUT, "batch" },
};

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-6 * fabs(a);
}

/* The reading of the same seller and model. Sheets of other makers spell these otherwise: then by the
 * model alone, if the seller agrees. */
static const struct price_reading *find_like(const struct price_reading *readings, size_t count,
                                       const struct price *price)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(readings[i].price->model, price->model) &&
            !strcmp(readings[i].price->seller, price->seller))
            return &readings[i];
    for (size_t i = 0; i < count; i++)
        if (name_same(price_model(readings[i].price), price_model(price)) &&
            name_same(readings[i].price->seller, price->seller))
            return &readings[i];
    return NULL;
}

/* A line for people; what is not there before or after is NAN. */
static struct section *add_line(struct section *changes, const char *label)
{
    struct section *line = section_add(changes, NULL, SECTION_RECORD);
    section_word(line, "label", label);
    return line;
}

/* Of an entry: for people, for programs, and for CSV. */
static void add_change(struct section *entry, struct section *changes, struct section *table, const char *label, const char *key,
                       double before, double after, struct unit unit)
{
    struct section *all[] = { section_add(entry, key, SECTION_RECORD), add_line(changes, label), section_add(table, NULL, SECTION_RECORD) };
    for (int i = 0; i < 3; i++) {
        if (isfinite(before))
            section_number(all[i], "before", before, unit);
        if (isfinite(after))
            section_number(all[i], "after", after, unit);
    }
    for (size_t i = 0; i < entry->count; i++)
        section_word(all[2], entry->figures[i].name, entry->figures[i].word);
    section_word(all[2], "figure", key);
    if (isfinite(before) && isfinite(after) && before != 0)
        section_number(all[2], "ratio", after / before, unit_one);
}

static bool slipped(const struct price_reading *before, const struct price_reading *after, double most)
{
    const double *was = before->price->at[SERVICE_STANDARD][0], *is = after->price->at[SERVICE_STANDARD][0];
    return price_slips(is[PRICE_INPUT], was[PRICE_INPUT], most) || price_slips(is[PRICE_OUTPUT], was[PRICE_OUTPUT], most);
}

/* An entry is in one of the lists where a price or its context changed; then its conclusions that move stand
 * beside the prices, for people alone. */
static void compare(struct deduction *deduction, const struct price_reading *before, const struct price_reading *after,
                    struct section *const lists[LISTS])
{
    static const struct { const char *label; int told; } conclusions[] = {
        { "decode utilization, 90 %", 0 }, { "active parameters, 90 %", 1 } };
    const double moves = 0.05, ceiling = before->price->context, now = after->price->context;
    bool any = !same(ceiling, now);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        any |= !same(before->seen[signals[i].field], after->seen[signals[i].field]);
    if (!any)
        return;
    const bool slip = slipped(before, after, value_or_nan(&deduction->scenario, NAME_slip_ratio));
    struct section *entry = section_add(lists[slip ? SLIPS : CHANGED], NULL, SECTION_RECORD);
    struct section *changes = section_add(entry, "changes", SECTION_LIST);
    changes->text_only = true;
    section_word(entry, "seller", after->price->seller);
    section_word(entry, "model", after->price->model);
    section_word(entry, "kind", slip ? "slip" : "change")->text_only = true;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        const int field = signals[i].field;
        if (!same(before->seen[field], after->seen[field]))
            add_change(entry, changes, lists[TABLE], signals[i].label, fields[field].seen, before->seen[field],
                       after->seen[field], scenario_unit(&deduction->scenario, fields[field].seen));
    }
    if (!same(ceiling, now))
        add_change(entry, changes, lists[TABLE], "context ceiling", NAME_context, ceiling, now, unit_one);
    for (size_t i = 0; !slip && i < sizeof conclusions / sizeof *conclusions; i++) {
        const int told = conclusions[i].told;
        const char *row = quantities[deduce_told[told]];
        const struct span *was = &before->span[told], *is = &after->span[told];
        if (fabs(scalar_log(is->q50 / was->q50)) < moves)
            continue;
        struct section *line = add_line(changes, conclusions[i].label);
        section_word(line, "before", deduce_range(deduction, row, was->q05, was->q95));
        section_word(line, "after", deduce_range(deduction, row, is->q05, is->q95));
    }
}

bool deduce_difference(struct deduction *deduction, const char *old_path)
{
    const struct price_sheet *sheet = &deduction->sheet;
    struct section *section = deduction->section;
    struct price_sheet old;
    struct price_reading *readings;
    size_t came = 0, gone = 0;
    if (!deduce_read(deduction, old_path, &old, &readings) || !deduce_draw(deduction, false))
        return false;
    deduce_conclude(deduction, deduction->readings, sheet->count);
    deduce_conclude(deduction, readings, old.count);
    static const char *const columns[] = { "kind", "seller", "model", "figure", "before", "after", "ratio" };
    struct section *const lists[LISTS] = { section_add(section, "changed", SECTION_LIST), section_add(section, "slips", SECTION_LIST),
                                           section_new(deduction->arena) };
    lists[TABLE]->kind = SECTION_LIST;
    for (size_t i = 0; i < sheet->count; i++) {
        const struct price_reading *after = &deduction->readings[i];
        const struct price_reading *before = find_like(readings, old.count, after->price);
        if (before)
            compare(deduction, before, after, lists);
        else
            came++;
    }
    for (size_t i = 0; i < old.count; i++)
        gone += !find_like(deduction->readings, sheet->count, &old.prices[i]);
    section_number(section, "came", (double)came, unit_one);
    section_number(section, "gone", (double)gone, unit_one);
    section_number(section, "changes_found", (double)lists[CHANGED]->inside_count, unit_one)->text_only = true;
    section_number(section, "slips_found", (double)lists[SLIPS]->inside_count, unit_one)->text_only = true;
    section_csv_of(lists[TABLE], columns, sizeof columns / sizeof *columns, deduction->csv);
    section_word(section, "compared", "compared")->text_only = true;
    section_word(section, "older", old.file)->text_only = true;
    section_word(section, "newer", sheet->file)->text_only = true;
    return true;
}

static const struct record before_record = { "BeforeAfter", (const struct answer_field[]){
    { FIELD_NUMBER, "before", .help = "in the older list", .unit = "" },
    { FIELD_NUMBER, "after", .help = "in the newer list", .unit = "" },
    { 0 } } };
static const struct record line_record = { "ChangeLine", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "label", "before", "after" }, .count = 3 },
    { 0 } } };

const struct record deduce_changed_record = { "ChangedEntry", (const struct answer_field[]){
    { FIELD_TEXT, "seller", .help = "who sells it", .always = true },
    { FIELD_TEXT, "model", .help = "as the seller calls it", .always = true },
    { FIELD_OTHERS, .help = "what changed, under the name of its row", .record = &before_record },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "kind" }, .count = 1 }, { FIELD_TEXT_ONLY, "changes", .record = &line_record },
    { 0 } } };
