/* `deduce` for a whole price list: one record per entry, with the quantities that the prices
 * identify.
 *
 * Entries that show the same prices have the same posterior and are weighed once. All entries
 * share one set of draws. The summary counts suspicious entries, and those to which too few draws
 * come near. */
#include "ask/deduce/deduce.h"
#include "base/quantile.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const enum quantity_key deduce_told[DEDUCE_TOLD] = { QUANTITY_UTILISATION, QUANTITY_PARAMS_ACTIVE };

/* ---- each thing once ---------------------------------------------------------------------- */

/* In the order of what they show; absent fields are NAN, and as bits all alike. */
static int by_evidence(const void *a, const void *b)
{
    const struct price_reading *x = *(struct price_reading *const *)a, *y = *(struct price_reading *const *)b;
    int order = memcmp(&x->evidence, &y->evidence, sizeof x->evidence);
    return order ? order : (x > y) - (x < y);
}

void deduce_conclude(struct deduction *deduction, struct price_reading *readings, size_t count)
{
    const struct ranks *ranks = deduction->command->ranks;
    struct told { struct span span[DEDUCE_TOLD]; double effective; } *told =
        arena_array(deduction->arena, count + 1, sizeof *told);
    struct price_reading **sorted = arena_array(deduction->arena, count + 1, sizeof *sorted);
    size_t *number = arena_array(deduction->arena, count + 1, sizeof *number), numbers = 0;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &readings[i];
    qsort(sorted, count, sizeof *sorted, by_evidence);
    for (size_t i = 0; i < count; i++) {
        const struct evidence *now = &sorted[i]->evidence;
        const bool again = i && !memcmp(now, &sorted[i - 1]->evidence, sizeof *now);
        number[i] = again ? numbers - 1 : numbers++;
        if (!again && ranks_mine(ranks, number[i]))
            deduce_spans(deduction->draws, deduction->priors.belief, now, deduce_told, DEDUCE_TOLD,
                         told[number[i]].span, &told[number[i]].effective);
    }
    ranks_share(ranks, deduction->arena, told, numbers, sizeof *told);
    for (size_t i = 0; i < count; i++) {
        memcpy(sorted[i]->span, told[number[i]].span, sizeof sorted[i]->span);
        sorted[i]->effective = told[number[i]].effective;
    }
}

/* ---- the answer --------------------------------------------------------------------------- */

static const char *const seen_rows[] = {
    NAME_seen_input, NAME_seen_output_over_input, NAME_seen_hit_cost, NAME_seen_write_short_premium,
    NAME_seen_write_long_premium };
enum { SEEN = sizeof seen_rows / sizeof *seen_rows };

/* For the table and the CSV: what the record has in sections of its own, as figures. */
static void add_cells(struct deduction *deduction, const struct price_reading *reading, struct section *entry)
{
    static const int seen[SEEN] = { FIELD_INPUT, FIELD_OUTPUT, FIELD_HIT, FIELD_WRITE_SHORT,
                                    FIELD_WRITE_LONG };
    const double step_in = reading->seen[FIELD_STEP_INPUT], step_out = reading->seen[FIELD_STEP_OUTPUT];
    const struct span *use = &reading->span[0], *active = &reading->span[1];
    const bool stepped = isfinite(step_in) && isfinite(step_out) && !isnan(reading->price->threshold);
    const struct { const char *name; double value; } ends[] = {
        { "decode_utilisation_low", use->q05 }, { "decode_utilisation_high", use->q95 },
        { "params_active_low", active->q05 }, { "params_active_high", active->q95 } };
    for (int i = 0; i < SEEN; i++)
        section_number(entry, seen_rows[i], isfinite(reading->seen[seen[i]]) ? reading->seen[seen[i]] : NAN,
                       scenario_unit(&deduction->scenario, seen_rows[i]))->text_only = true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        section_number(entry, ends[i].name, ends[i].value, unit_one)->text_only = true;
    section_word(entry, "step", !stepped ? "" : arena_print(deduction->arena, "%.3g x / %.3g x above %s",
                                                           step_in, step_out,
                                                           count_text(deduction->arena,
                                                                      reading->price->threshold, 6)))
        ->text_only = true;
    section_word(entry, "use_most", deduce_range(deduction, quantities[deduce_told[0]], use->q05, use->q95))
        ->text_only = true;
    section_word(entry, "active_most",
                 deduce_range(deduction, quantities[deduce_told[1]], active->q05, active->q95))
        ->text_only = true;
    section_word(entry, "suspicious", reading_suspicious(deduction->arena, reading))->text_only = true;
}

/* Of a report: what each entry says of the active parameters. */
static void add_interval(struct deduction *deduction, const struct price_reading *reading)
{
    enum { MOST = 40 };
    const double billion = 1e9;
    const struct span *active = &reading->span[1];
    struct picture *picture = deduction->picture;
    if (picture->bar_count == MOST || !(active->q05 > 0) || !isfinite(active->q95))
        return;
    picture->title = "Active parameters, by the prices of each model: 90 % and 50 %";
    picture->x = (struct picture_axis){ "active parameters", "billions", true, false, NAN, NAN };
    struct picture_bar *bar = picture_bar_add(picture, arena_print(deduction->arena, "%s, %s",
                                                                   price_model(reading->price),
                                                                   reading->price->seller));
    bar->range = (struct picture_range){ active->q05 / billion, active->q95 / billion };
    bar->inner = (struct picture_range){ active->q25 / billion, active->q75 / billion };
    bar->middle = active->q50 / billion;
}

static void add_entry(struct deduction *deduction, const struct price_reading *reading, struct section *list)
{
    struct section *entry = section_add(list, NULL, SECTION_RECORD);
    section_word(entry, "seller", reading->price->seller);
    section_word(entry, "model", reading->price->model);
    section_word(entry, "date", reading->price->date);
    struct section *ratios = section_add(entry, "ratios", SECTION_RECORD);
    struct section *suspicious = section_add(entry, "suspicious", SECTION_TEXTS);
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (isfinite(reading->seen[i]))
            section_number(ratios, fields[i].seen, reading->seen[i],
                           scenario_unit(&deduction->scenario, fields[i].seen));
        if (reading->suspicious >> i & 1)
            section_word(suspicious, NULL, fields[i].seen);
    }
    if (reading->suspicious >> FIELD_COUNT & 1)
        section_word(suspicious, NULL, NAME_seen_priority);
    for (int i = 0; i < DEDUCE_TOLD; i++)
        deduce_add_span(entry, quantities[deduce_told[i]], reading->span[i]);
    section_number(entry, "effective", reading->effective, unit_one);
    if (command_draws(deduction->command))
        add_interval(deduction, reading);
    add_cells(deduction, reading, entry);
}

/* By which factor, either way, active parameters are known for half of the models; NAN: for none. */
static double active_factor(const struct deduction *deduction)
{
    const size_t count = deduction->sheet.count;
    double *factors = arena_array(deduction->arena, count + 1, sizeof *factors);
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        const struct span *active = &deduction->readings[i].span[1];
        if (active->q05 > 0 && isfinite(active->q95))
            factors[known++] = sqrt(active->q95 / active->q05);
    }
    numbers_sort(factors, known);
    return known ? factors[known / 2] : NAN;
}

bool deduce_whole(struct deduction *deduction)
{
    static const char *const columns[] = {
        "seller", "model", NAME_seen_input, NAME_seen_output_over_input, NAME_seen_hit_cost,
        NAME_seen_write_short_premium, NAME_seen_write_long_premium, "decode_utilisation_low",
        "decode_utilisation_high", "params_active_low", "params_active_high", "suspicious" };
    enum { FEW = 200 };
    const struct price_sheet *sheet = &deduction->sheet;
    struct section *section = deduction->section;
    size_t suspicious = 0, unlikely = 0;
    if (!deduce_draw(deduction, false))
        return false;
    deduce_conclude(deduction, deduction->readings, sheet->count);
    struct section *list = section_add(section, "entries", SECTION_LIST);
    for (size_t i = 0; i < sheet->count; i++) {
        add_entry(deduction, &deduction->readings[i], list);
        suspicious += deduction->readings[i].suspicious != 0;
        unlikely += deduction->readings[i].effective < FEW;
    }
    section_csv_of(list, columns, sizeof columns / sizeof *columns, deduction->csv);
    section_word(section, "file", sheet->file);
    section_word(section, "kind", sheet->kind);
    section_number(section, "read", (double)sheet->count, unit_one);
    section_number(section, "left_out", (double)sheet->left_out, unit_one);
    section_number(section, "suspicious", (double)suspicious, unit_one);
    section_number(section, "draws_made", (double)draws_count(deduction->draws), unit_one)->text_only = true;
    section_number(section, "unlikely", (double)unlikely, unit_one)->text_only = true;
    section_number(section, "active_factor", active_factor(deduction), unit_one)->text_only = true;
    return true;
}

static const struct record seen_record = { "SeenRatios", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a ratio that its prices show, under the name of its row", .unit = "" },
    { 0 } } };

const struct record deduce_entry_record = { "DeducedEntry", (const struct answer_field[]){
    { FIELD_TEXT, "seller", .help = "who sells it", .always = true },
    { FIELD_TEXT, "model", .help = "as the seller calls it", .always = true },
    { FIELD_TEXT, "date", .help = "of the prices", .always = true },
    { FIELD_RECORD, "ratios", .help = "of its prices", .record = &seen_record, .always = true },
    { FIELD_TEXTS, "suspicious", .help = "ratios outside the usual set, which are not used",
      .always = true },
    { FIELD_RECORD, .help = "quantiles of the posterior", .record = &deduce_span_record, .count = 2,
      .names = (const char *const[]){ NAME_decode_utilisation, NAME_params_active }, .always = true },
    { FIELD_NUMBER, "effective", .help = "sample size of its draws", .always = true },
    { FIELD_TEXT_ONLY, .names = seen_rows, .count = SEEN },
    { FIELD_TEXT_ONLY, .count = 7, .names = (const char *const[]){
          "step", "use_most", "active_most", "decode_utilisation_low",
          "decode_utilisation_high", "params_active_low", "params_active_high" } },
    { 0 } } };
