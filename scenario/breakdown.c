/* Parts of an output for people and programs: the contributions of the rows that have a part name
 * (rows/breakdown.c), which the answers of `step`, `why`, `plan` and `train` show alike.
 *
 * For an output of degree one in its parts, as a time made of times is, the parts add up to it.
 * Rows that share a label are added for people; the document has each row by its name. */
#include "scenario/figures.h"
#include "scenario/scenario.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

bool breakdown_of(struct scenario *scenario, const char *text, bool saved, struct breakdown *parts, struct error *error)
{
    struct values values;
    *parts = (struct breakdown){ 0 };
    if (!values_of_parts(scenario, &text, 1, &values, error))
        return false;
    parts->whole = values.at[0];
    parts->at = graph_breakdown(scenario->arena, &scenario->formulas, &values.graph, 0, values.nodes, &parts->count);
    if (saved)
        graph_saved(&values.graph, 0, values.nodes, parts->at, parts->count);
    return true;
}

double breakdown_other(const struct breakdown *parts)
{
    double sum = 0;
    for (size_t i = parts->count; i-- > 0;)
        sum += parts->at[i].value;
    return parts->whole - sum;
}

/* The parts with the label of part `first`, added; 0 where an earlier part has that label. */
static double of_label(const struct breakdown *parts, size_t first)
{
    double sum = 0;
    for (size_t i = 0; i < parts->count; i++)
        if (!strcmp(parts->at[i].label, parts->at[first].label)) {
            if (i < first)
                return 0;
            sum += parts->at[i].value;
        }
    return sum;
}

const char *breakdown_largest(struct arena *arena, const struct breakdown *parts, int most)
{
    struct buffer out = { .arena = arena };
    double *sums = arena_array(arena, parts->count + 1, sizeof *sums);
    for (size_t i = 0; i < parts->count; i++)
        sums[i] = of_label(parts, i);
    buffer_add(&out, "", 0);
    while (most-- > 0) {
        size_t largest = 0;
        for (size_t i = 1; i < parts->count; i++)
            if (sums[i] > sums[largest])
                largest = i;
        if (!parts->count || !(sums[largest] / parts->whole >= 0.005))
            break;
        buffer_print(&out, "%s%s %.0f %%", out.size ? ", " : "", parts->at[largest].label,
                     100 * sums[largest] / parts->whole);
        sums[largest] = 0;
    }
    return out.data;
}

static const char *const for_layouts[] = { "row", "share" };

static const struct record part_record = { "Part", (const struct answer_field[]){
    { FIELD_TEXT, "label", .help = "name for people", .always = true },
    { FIELD_NUMBER, "time", .help = "its share of the total, as a time", .unit = "s", .always = true },
    { FIELD_NUMBER, "saved_if_free", .unit = "s",
      .help = "how much the total would fall if this part took no time; absent where it was not computed" },
    { FIELD_TEXT_ONLY, .names = for_layouts, .count = 2 },
    { 0 } } };

const struct record parts_record = { "Parts", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a row", .record = &part_record },
    { 0 } } };

static const struct record any_part_record = { "AnyPart", (const struct answer_field[]){
    { FIELD_TEXT, "label", .help = "name for people", .always = true },
    { FIELD_NUMBER, "time", .help = "its part of a time, in s", .unit = "s" },
    { FIELD_NUMBER, "contribution", .unit = "",
      .help = "its part of another quantity, in the unit of that quantity" },
    { FIELD_NUMBER, "saved_if_free", .unit = "", .help = "how much the total would fall without this part" },
    { FIELD_TEXT_ONLY, .names = for_layouts, .count = 2 },
    { 0 } } };

const struct record any_parts_record = { "AnyParts", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a row", .record = &any_part_record },
    { 0 } } };

void breakdown_section(const struct scenario *scenario, const struct breakdown *parts, struct unit unit,
                       struct section *section)
{
    struct section *list = section_add(section, "parts", SECTION_KEYED);
    const char *key = unit_same(unit, unit_second) ? "time" : "contribution";
    for (size_t i = 0; i < parts->count; i++) {
        const struct contribution *part = &parts->at[i];
        const char *row = row_name(formulas_row(&scenario->formulas, part->row));
        struct section *one = section_add(list, row, SECTION_RECORD);
        section_word(one, "label", part->label);
        section_word(one, "row", row)->text_only = true;
        section_number(one, "share", part->value / parts->whole, unit_one)->text_only = true;
        section_number(one, key, part->value, unit);
        if (isfinite(part->saved))
            section_number(one, "saved_if_free", part->saved, unit);
    }
}

void breakdown_document(const struct scenario *scenario, const struct breakdown *parts, struct unit unit,
                        struct doc *doc)
{
    struct section *section = section_new(scenario->arena);
    breakdown_section(scenario, parts, unit, section);
    section_document(section, doc);
}
