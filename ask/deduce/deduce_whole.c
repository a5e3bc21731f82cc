/* `deduce` for a whole price list: one line per entry, with the quantities that the prices
 * identify.
 *
 * Entries that show the same prices have the same posterior and are weighed once. All entries
 * share one set of draws. The summary counts suspicious entries, and those to which too few draws
 * come near. */
#include "ask/deduce/deduce.h"

#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const enum quantity_key deduce_told[DEDUCE_TOLD] = { QUANTITY_UTILISATION, QUANTITY_PARAMS_ACTIVE };

/* ---- each thing once ---------------------------------------------------------------------- */

/* In the order of what they show; absent fields are NAN, and as bits all alike. */
static int by_evidence(const void *a, const void *b)
{
    const struct reading *x = *(struct reading *const *)a, *y = *(struct reading *const *)b;
    int order = memcmp(&x->evidence, &y->evidence, sizeof x->evidence);
    return order ? order : (x > y) - (x < y);
}

void deduce_conclude(struct deduction *deduction, struct reading *readings, size_t count)
{
    struct reading **sorted = arena_array(deduction->arena, count + 1, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &readings[i];
    qsort(sorted, count, sizeof *sorted, by_evidence);
    for (size_t i = 0; i < count; i++) {
        struct reading *now = sorted[i], *before = i ? sorted[i - 1] : NULL;
        if (before && !memcmp(&now->evidence, &before->evidence, sizeof now->evidence)) {
            memcpy(now->span, before->span, sizeof now->span);
            now->effective = before->effective;
        } else
            deduce_spans(deduction->draws, deduction->priors.belief, &now->evidence, deduce_told,
                         DEDUCE_TOLD, now->span, &now->effective);
    }
}

/* ---- the table ---------------------------------------------------------------------------- */

static void number_cell(struct table *table, const char *format, double value)
{
    if (isfinite(value))
        table_cell(table, format, value);
    else
        table_cell(table, "%s", "");
}

static const char *step_text(struct arena *arena, const struct reading *reading)
{
    double in = reading->seen[FIELD_STEP_INPUT], out = reading->seen[FIELD_STEP_OUTPUT];
    if (!isfinite(in) || !isfinite(out) || isnan(reading->price->threshold))
        return "";
    return arena_print(arena, "%.3gx/%.3gx > %.0fk", in, out, reading->price->threshold / 1000);
}

static void add_row(struct arena *arena, struct table *table, const struct reading *reading)
{
    const struct span *use = &reading->span[0], *active = &reading->span[1];
    double million = 1e6, billion = 1e9;
    table_cell(table, "%s", reading->price->seller);
    table_cell(table, "%s", reading->price->model);
    number_cell(table, "%.4g", reading->seen[FIELD_INPUT] * million);
    number_cell(table, "%.3g", reading->seen[FIELD_OUTPUT]);
    number_cell(table, "%.3g", reading->seen[FIELD_HIT]);
    number_cell(table, "%.3g", reading->seen[FIELD_WRITE_SHORT]);
    number_cell(table, "%.3g", reading->seen[FIELD_WRITE_LONG]);
    table_cell(table, "%s", step_text(arena, reading));
    number_cell(table, "%.3g", use->q05);
    number_cell(table, "%.3g", use->q95);
    number_cell(table, "%.3g", active->q05 / billion);
    number_cell(table, "%.3g", active->q95 / billion);
    table_cell(table, "%s", reading_suspicious(arena, reading));
}

static void add_span(struct arena *arena, struct doc *doc, const char *key, struct span span)
{
    struct doc *one = doc_add(arena, doc, key, DOC_OBJECT);
    const double values[] = { span.q05, span.q25, span.q50, span.q75, span.q95 };
    static const char *const names[] = { "q05", "q25", "q50", "q75", "q95" };
    for (int i = 0; i < 5; i++)
        if (isfinite(values[i]))
            doc_add_number(arena, one, names[i], values[i]);
}

static void add_entry(struct arena *arena, struct doc *list, const struct reading *reading)
{
    struct doc *one = doc_add(arena, list, NULL, DOC_OBJECT);
    struct doc *ratios, *suspicious;
    doc_add_string(arena, one, "seller", reading->price->seller);
    doc_add_string(arena, one, "model", reading->price->model);
    doc_add_string(arena, one, "date", reading->price->date);
    ratios = doc_add(arena, one, "ratios", DOC_OBJECT);
    suspicious = doc_add(arena, one, "suspicious", DOC_ARRAY);
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (isfinite(reading->seen[i]))
            doc_add_number(arena, ratios, fields[i].seen, reading->seen[i]);
        if (reading->suspicious >> i & 1)
            doc_add_string(arena, suspicious, NULL, fields[i].seen);
    }
    if (reading->suspicious >> FIELD_COUNT & 1)
        doc_add_string(arena, suspicious, NULL, NAME_seen_priority);
    for (int i = 0; i < DEDUCE_TOLD; i++)
        add_span(arena, one, quantities[deduce_told[i]], reading->span[i]);
    doc_add_number(arena, one, "effective", reading->effective);
}

static void add_summary(struct deduction *deduction, size_t suspicious, size_t unlikely)
{
    const struct price_sheet *sheet = &deduction->sheet;
    struct doc *doc = deduction->answer->doc;
    doc_add_string(deduction->arena, doc, "file", sheet->file);
    doc_add_string(deduction->arena, doc, "kind", sheet->kind);
    doc_add_number(deduction->arena, doc, "read", (double)sheet->count);
    doc_add_number(deduction->arena, doc, "left_out", (double)sheet->left_out);
    doc_add_number(deduction->arena, doc, "suspicious", (double)suspicious);
    buffer_print(&deduction->answer->text, "\n%zu entries read (%s), %zu left out: not priced per text "
                 "token, or no price. %zu have ratios outside the usual set, which are not used.\n"
                 "Utilization is of decode over prefill, active parameters in billions: 90 %% intervals, "
                 "%zu draws; %zu entries lie outside the priors: fewer than 200 draws come near.\n"
                 "Active parameters depend on the price level (prior_multiple): --model shows how much.\n",
                 sheet->count, sheet->kind, sheet->left_out, suspicious,
                 draws_count(deduction->draws), unlikely);
}

bool deduce_whole(struct deduction *deduction)
{
    static const char *const heads[] = { "seller", "model", "in", "out/in", "hit", "w 5min", "w 1h",
                                         "step in/out", "util", "to", "active", "to",
                                         "suspicious" };
    enum { COLUMNS = sizeof heads / sizeof *heads, FEW = 200 };
    struct arena *arena = deduction->arena;
    struct table table = { .arena = arena, .columns = COLUMNS, .left = "llrrrrrlrrrrl" };
    size_t suspicious = 0, unlikely = 0;
    if (!deduce_draw(deduction, false))
        return false;
    deduce_conclude(deduction, deduction->readings, deduction->sheet.count);
    for (int i = 0; i < COLUMNS; i++)
        table_cell(&table, "%s", heads[i]);
    struct doc *list = doc_add(arena, deduction->answer->doc, "entries", DOC_ARRAY);
    for (size_t i = 0; i < deduction->sheet.count; i++) {
        const struct reading *reading = &deduction->readings[i];
        add_row(arena, &table, reading);
        add_entry(arena, list, reading);
        suspicious += reading->suspicious != 0;
        unlikely += reading->effective < FEW;
    }
    table_print(&table, &deduction->answer->text, "");
    table_csv(&table, &deduction->answer->csv);
    add_summary(deduction, suspicious, unlikely);
    return true;
}
