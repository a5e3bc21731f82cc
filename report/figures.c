/* Sections of figures and their readings as JSON and CSV; figures.h tells the idea.
 *
 * The order of figures in a section is the order in which they were added, and stays the same in
 * every reading. A key that exists twice keeps its first figure. Numbers that are not known are
 * null in JSON. */
#include "report/figures.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct section *section_new(struct arena *arena)
{
    struct section *section = arena_alloc(arena, sizeof *section);
    section->arena = arena;
    return section;
}

void section_share(struct section *list, struct section *record)
{
    *(struct section **)arena_push(list->arena, &list->inside, &list->inside_count, &list->inside_room,
                                   sizeof record) = record;
}

struct section *section_add(struct section *parent, const char *name, enum section_kind kind)
{
    struct section *section = section_new(parent->arena);
    section->name = name;
    section->kind = kind;
    section_share(parent, section);
    return section;
}

/* Mostly two names differ in their first letter, or are the same text. */
static bool same_name(const char *a, const char *b)
{
    return a == b || (*a == *b && !strcmp(a, b));
}

static struct figure *add_figure(struct section *section, const char *name)
{
    for (size_t i = 0; name && i < section->count; i++)
        if (same_name(section->figures[i].name, name))
            return &section->figures[i];
    struct figure *figure = arena_push(section->arena, &section->figures, &section->count,
                                       &section->room, sizeof *figure);
    *figure = (struct figure){ .name = name };
    return figure;
}

struct figure *section_number(struct section *section, const char *name, double value,
                              struct unit unit)
{
    struct figure *figure = add_figure(section, name);
    figure->value = value;
    figure->unit = unit;
    return figure;
}

struct figure *section_quantity(struct section *section, const char *name, double value,
                                const char *unit)
{
    struct unit parsed = { { 0 } };
    struct error error;
    const bool known = unit_parse(text_of(unit), &parsed, &(double){ 0 }, &error);
    assert(known);
    (void)known;
    return section_number(section, name, value, parsed);
}

struct figure *section_word(struct section *section, const char *name, const char *word)
{
    struct figure *figure = add_figure(section, name);
    figure->word = word;
    return figure;
}

struct figure *section_switch(struct section *section, const char *name, bool on)
{
    struct figure *figure = section_number(section, name, on, unit_one);
    figure->as = FIGURE_SWITCH;
    return figure;
}

struct figure *section_nothing(struct section *section, const char *name)
{
    struct figure *figure = section_number(section, name, NAN, unit_one);
    figure->as = FIGURE_NOTHING;
    return figure;
}

const struct figure *section_find(const struct section *section, const char *name)
{
    const size_t size = strlen(name);
    for (size_t i = 0; i < section->count; i++) {
        const struct figure *figure = &section->figures[i];
        if (figure->name && *figure->name == *name && !strncmp(figure->name, name, size) &&
            (!figure->name[size] || figure->name[size] == '['))
            return figure;
    }
    return NULL;
}

double section_value(const struct section *section, const char *name)
{
    const struct figure *figure = section_find(section, name);
    return figure && !figure->word ? figure->value : NAN;
}

const struct section *section_inside(const struct section *section, const char *name)
{
    for (size_t i = 0; i < section->inside_count; i++)
        if (section->inside[i]->name && !strcmp(section->inside[i]->name, name))
            return section->inside[i];
    return NULL;
}

const char *origin_name(enum origin origin)
{
    static const char *const names[] = {
        [ORIGIN_DEFAULT] = "default", [ORIGIN_DERIVED] = "derived", [ORIGIN_SHEET] = "sheet",
        [ORIGIN_MODEL] = "model", [ORIGIN_FITTED] = "fitted", [ORIGIN_CHOSEN] = "chosen",
        [ORIGIN_GIVEN] = "given", [ORIGIN_AXIS] = "given" };
    return names[origin];
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void add_range(struct arena *arena, const struct range *range, struct doc *doc)
{
    struct doc *ends = doc_add(arena, doc, "range", DOC_ARRAY);
    doc_add_number(arena, ends, NULL, range->low);
    doc_add_number(arena, ends, NULL, range->high);
    doc_add_string(arena, doc, "range_kind", range->kind);
}

void figure_document(struct arena *arena, const struct figure *figure, struct doc *doc)
{
    struct buffer unit = { .arena = arena };
    unit_print(&unit, figure->unit);
    doc_add_number(arena, doc, "value", figure->value);
    if (figure->value != figure->value)
        doc_add_string(arena, doc, "reason", "no price of this machine is known: chip_price, machine_cost");
    doc_add_string(arena, doc, "unit", unit.data);
    if (figure->low != figure->high) {
        doc_add_number(arena, doc, "low", figure->low);
        doc_add_number(arena, doc, "high", figure->high);
    }
    if (figure->range.low != figure->range.high)
        add_range(arena, &figure->range, doc);
    doc_add_string(arena, doc, "origin", origin_name(figure->origin));
    if (figure->source)
        doc_add_string(arena, doc, "source", figure->source);
}

static void add_figures(const struct section *section, struct doc *doc)
{
    for (size_t i = 0; i < section->count; i++) {
        const struct figure *figure = &section->figures[i];
        if (figure->text_only || (figure->name && doc_get(doc, figure->name)))
            continue;
        if (figure->word)
            doc_add_string(section->arena, doc, figure->name, figure->word);
        else if (figure->as == FIGURE_SWITCH)
            doc_add_bool(section->arena, doc, figure->name, figure->value != 0);
        else if (figure->as == FIGURE_NOTHING)
            doc_add(section->arena, doc, figure->name, DOC_NULL);
        else
            doc_add_number(section->arena, doc, figure->name, figure->value);
    }
}

void section_document(const struct section *section, struct doc *doc)
{
    static const enum doc_kind kinds[] = {
        [SECTION_RECORD] = DOC_OBJECT, [SECTION_LIST] = DOC_ARRAY, [SECTION_KEYED] = DOC_OBJECT,
        [SECTION_MERGED] = DOC_OBJECT, [SECTION_TEXTS] = DOC_ARRAY };
    if (!doc)
        return;
    add_figures(section, doc);
    for (size_t i = 0; i < section->inside_count; i++) {
        const struct section *inside = section->inside[i];
        if (inside->text_only || (inside->name && doc_get(doc, inside->name)))
            continue;
        section_document(inside, section->kind == SECTION_MERGED
                                 ? doc : doc_add(section->arena, doc, inside->name, kinds[inside->kind]));
    }
}

/* ---- CSV ---------------------------------------------------------------------------------- */

static const char *cell_text(struct arena *arena, const struct figure *figure)
{
    struct buffer out = { .arena = arena };
    if (!figure)
        return "";
    if (figure->word)
        return figure->word;
    if (figure->value == figure->value)
        buffer_number(&out, figure->value);
    return out.data ? out.data : "";
}

void section_csv_of(const struct section *list, const char *const *columns, size_t count,
                    struct buffer *out)
{
    if (!out->arena)
        return;
    struct table table = { .arena = list->arena, .columns = count };
    for (size_t k = 0; k < count; k++)
        table_cell(&table, "%s", columns[k]);
    for (size_t i = 0; i < list->inside_count; i++)
        for (size_t k = 0; k < count; k++)
            table_cell(&table, "%s", cell_text(list->arena, section_find(list->inside[i], columns[k])));
    table_csv(&table, out);
}

void section_csv(const struct section *list, struct buffer *out)
{
    const struct section *first = list->inside_count ? list->inside[0] : NULL;
    const char **columns = arena_array(list->arena, first ? first->count + 1 : 1, sizeof *columns);
    size_t count = 0;
    for (size_t i = 0; first && i < first->count; i++)
        if (!first->figures[i].text_only)
            columns[count++] = first->figures[i].name;
    section_csv_of(list, columns, count, out);
}
