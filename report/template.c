/* Prints the figures of an answer as its template says; template.h has the language.
 *
 * A name is looked up from the innermost record outward. Formats convert a figure to text with
 * unit, digits, interval or bar; conditions are evaluated on figures and words, and a comparison
 * with a missing figure is false. Rows of cells are collected into a table first, so that columns
 * align over all records. Nothing is computed: every number is in the section already. */
#include "report/template_parts.h"

#include "report/fit.h"

#include <math.h>
#include <string.h>

/* A section whose figures are looked for first, and the one around it. */
struct template_scope {
    const struct section *section;
    const struct template_scope *outer;
};

/* ---- figures ---------------------------------------------------------------------------------- */

/* "a; b": the words of a list of texts. */
static const char *joined(const struct section *texts)
{
    struct buffer out = { .arena = texts->arena };
    buffer_add(&out, "", 0);
    for (size_t i = 0; i < texts->count; i++)
        buffer_print(&out, "%s%s", i ? "; " : "", texts->figures[i].word);
    return out.data;
}

static const struct section *find_section(const struct template_scope *scope, const char *name)
{
    const struct section *found = NULL;
    for (; scope && !found; scope = scope->outer)
        found = section_inside(scope->section, name);
    return found;
}

/* From the innermost record outward; a name that is nowhere is a word without letters. */
static struct figure find_figure(const struct template_scope *scope, const char *name)
{
    for (; *name == '^' && scope->outer; name++)
        scope = scope->outer;
    for (const struct template_scope *at = scope; at; at = at->outer) {
        const struct figure *figure = section_find(at->section, name);
        if (figure)
            return *figure;
    }
    const struct section *section = find_section(scope, name);
    return (struct figure){ .name = name, .word = !section ? ""
                            : section->kind == SECTION_TEXTS ? joined(section)
                            : section->inside_count || section->count ? name : "" };
}

static bool exists(const struct figure *figure)
{
    return figure->word ? *figure->word != 0 : !isnan(figure->value);
}

static bool compares(double a, enum compare compare, double b)
{
    switch (compare) {
    case LESS:     return a < b;
    case MORE:     return a > b;
    case AT_MOST:  return a <= b;
    case AT_LEAST: return a >= b;
    case EQUAL:    return a == b;
    default:       return a != b && !isnan(a) && !isnan(b);
    }
}

static bool one_holds(const struct template_scope *scope, const struct template_condition *condition)
{
    const struct figure figure = find_figure(scope, condition->name);
    if (condition->compare == HAS_VALUE)
        return exists(&figure);
    if (condition->compare == HAS_INTERVAL)
        return figure.low != figure.high;
    if (condition->compare == HAS_RANGE)
        return figure.range.low != figure.range.high;
    if (condition->word)
        return (figure.word && !strcmp(figure.word, condition->word)) == (condition->compare == EQUAL);
    if (!condition->other)
        return !figure.word && compares(figure.value, condition->compare, condition->number);
    const struct figure other = find_figure(scope, condition->other);
    return !figure.word && !other.word && compares(figure.value, condition->compare, other.value);
}

static bool holds(const struct template_scope *scope, const struct template_condition *condition)
{
    for (; condition; condition = condition->next)
        if (one_holds(scope, condition) == condition->negated)
            return false;
    return true;
}

/* ---- formats ---------------------------------------------------------------------------------- */

/* Lines of `width` at most, broken between words, under the first. */
static void print_wrapped(struct buffer *out, const char *text, size_t width)
{
    size_t begin = out->size;
    while (begin && out->data[begin - 1] != '\n')
        begin--;
    const size_t indent = text_columns((struct text){ out->data + begin, out->size - begin });
    const size_t room = out->columns > indent + width / 4 ? out->columns - indent : width;
    struct text rest = text_of(text);
    for (bool first = true; rest.size; first = false) {
        const struct text part = text_part(rest, room < width ? room : width, &rest);
        buffer_print(out, "%s%*s%.*s", first ? "" : "\n", first ? 0 : (int)indent, "", (int)part.size, part.data);
    }
}

static void print_ends(struct buffer *out, double low, double high, struct unit unit, int digits)
{
    buffer_print(out, "%s", quantity_range(out->arena, low, high, unit, digits));
}

static void print_value(struct buffer *out, const struct template_part *part, const struct figure *figure,
                        struct unit unit)
{
    quantity_print(out, figure->value / part->scale, unit, part->digits);
    if (!part->range || figure->range.low == figure->range.high)
        return;
    buffer_print(out, " (%s ", figure->range.kind);
    print_ends(out, figure->range.low, figure->range.high, unit, part->digits);
    buffer_print(out, ")");
}

/* The column where a share of a bar ends; a bar is never longer than five times `columns`. */
static int bar_column(double share, int columns)
{
    return (int)(fmax(0, fmin(share, 5)) * columns + 0.5);
}

/* From 0 to the value, or from one end of a range to the other; a range is a line at least. */
static void print_bar(struct buffer *out, const struct figure *figure, int columns)
{
    const bool range = figure->range.low != figure->range.high;
    const int first = range ? bar_column(figure->range.low, columns) : 0;
    const int last = bar_column(range ? figure->range.high : figure->value, columns);
    buffer_print(out, "%*s", first, "");
    for (int i = first; i < last; i++)
        buffer_print(out, "\u2588");
    if (range && first == last)
        buffer_print(out, "\u258f");
}

static void print_figure(struct buffer *out, const struct template_scope *scope, const struct template_part *part)
{
    const struct figure figure = find_figure(scope, part->name);
    const double value = figure.value / part->scale;
    if (figure.word && part->format == '<') {
        print_wrapped(out, figure.word, (size_t)part->digits);
        return;
    }
    if (figure.word || isnan(value)) {
        buffer_print(out, "%s", figure.word ? figure.word : "unknown");
        return;
    }
    switch (part->format) {
    case '#': print_value(out, part, &figure, unit_one); break;
    case '-': print_ends(out, figure.range.low, figure.range.high, figure.unit, part->digits); break;
    case '~': print_ends(out, figure.low, figure.high, figure.unit, part->digits); break;
    case '%': share_print(out, value, part->digits); break;
    case '@': buffer_print(out, "%s", large_text(out->arena, floor(value + 0.5))); break;
    case '=': print_bar(out, &figure, part->digits); break;
    case '.':
        if (part->digits)
            decimal_print(out, value, part->digits);
        else
            quantity_print(out, floor(value + 0.5), unit_one, 9);
        break;
    default: print_value(out, part, &figure, figure.unit);
    }
}

/* ---- parts ------------------------------------------------------------------------------------ */

static void print_parts(struct buffer *out, const struct template_scope *scope, const struct template_part *part);

static void add_cell(struct table *table, const struct template_scope *scope, const struct template_part *cell)
{
    struct buffer out = { .arena = table->arena };
    buffer_add(&out, "", 0);
    print_parts(&out, scope, cell->then);
    while (out.size && out.data[out.size - 1] == ' ')
        out.data[--out.size] = 0;
    table_cell(table, "%s", out.data);
}

static void add_cells(struct table *table, const struct template_scope *scope, const struct template_part *row)
{
    for (const struct template_part *cell = row->cells; cell; cell = cell->next) {
        const struct section *each = cell->kind == PART_EACH ? find_section(scope, cell->name) : NULL;
        for (size_t i = 0; each && i < each->inside_count; i++)
            add_cell(table, &(struct template_scope){ each->inside[i], scope }, cell);
        if (cell->kind != PART_EACH)
            add_cell(table, scope, cell);
    }
}

/* The heads, if there are any, then a row for each record. */
static struct table make_table(struct arena *arena, const struct template_scope *scope, const struct section *section,
                               size_t count, const struct template_part *head)
{
    const struct template_scope first = { section->inside[0], scope };
    struct table table = { .arena = arena };
    struct buffer sides = { .arena = arena };
    const struct template_part *row = head;
    for (const struct template_part *cell = head->cells; cell; cell = cell->next) {
        const struct section *each = cell->kind == PART_EACH ? find_section(&first, cell->name) : NULL;
        const size_t columns = cell->kind != PART_EACH ? 1 : each ? each->inside_count : 0;
        for (size_t i = 0; i < columns; i++)
            buffer_add(&sides, cell->right ? "r" : "l", 1);
    }
    table.columns = sides.size;
    table.left = sides.data;
    for (; row->next; row = row->next)
        add_cells(&table, &first, row);
    for (size_t i = 0; i < count; i++)
        add_cells(&table, &(struct template_scope){ section->inside[i], scope }, row);
    return table;
}

static size_t records_shown(const struct section *section, const struct template_part *part)
{
    const size_t most = part->digits ? (size_t)part->digits : section->inside_count;
    return section->inside_count < most ? section->inside_count : most;
}

static void print_texts(struct buffer *out, const struct template_scope *scope, const struct section *texts,
                        const struct template_part *part)
{
    for (size_t i = 0; i < texts->count; i++) {
        struct section *one = section_new(out->arena);
        section_word(one, "text", texts->figures[i].word);
        section_word(one, "first", i ? "" : "first");
        print_parts(out, &(struct template_scope){ one, scope }, part->then);
    }
}

static void print_records(struct buffer *out, const struct template_scope *scope, const struct template_part *part)
{
    const struct section *section = find_section(scope, part->name);
    if (!section)
        return;
    if (section->kind == SECTION_TEXTS) {
        print_texts(out, scope, section, part);
        return;
    }
    if (section->kind == SECTION_RECORD) {
        print_parts(out, &(struct template_scope){ section, scope }, part->then);
        return;
    }
    const size_t count = records_shown(section, part);
    if (count && part->then && part->then->kind == PART_CELLS) {
        const struct table table = make_table(out->arena, scope, section, count, part->then);
        table_print(&table, out, part->then->text);
    } else
        for (size_t i = 0; i < count; i++)
            print_parts(out, &(struct template_scope){ section->inside[i], scope }, part->then);
    if (section->inside_count > count) {
        struct section *rest = section_new(out->arena);
        section_number(rest, "more", (double)(section->inside_count - count), unit_one);
        print_parts(out, &(struct template_scope){ rest, scope }, part->other);
    }
}

static void print_parts(struct buffer *out, const struct template_scope *scope, const struct template_part *part)
{
    for (; part; part = part->next) {
        if (part->kind == PART_TEXT)
            buffer_print(out, "%s", part->text);
        else if (part->kind == PART_FIGURE)
            print_figure(out, scope, part);
        else if (part->kind == PART_EACH)
            print_records(out, scope, part);
        else if (part->kind == PART_IF)
            print_parts(out, scope, holds(scope, part->condition) ? part->then : part->other);
    }
}

void template_print(const struct template *template, const struct section *section, struct buffer *out)
{
    print_parts(out, &(struct template_scope){ section, NULL }, template->parts);
}

/* ---- tables as cells ------------------------------------------------------------------------------ */

/* Without the columns in which nothing stands below the heads. */
static const struct table *without_empty(const struct table *table, size_t heads)
{
    struct table *kept = arena_alloc(table->arena, sizeof *kept);
    struct buffer sides = { .arena = table->arena };
    const size_t rows = table->count / table->columns;
    *kept = (struct table){ .arena = table->arena };
    bool *full = arena_array(table->arena, table->columns, sizeof *full);
    for (size_t k = 0; k < table->columns; k++) {
        for (size_t i = heads; i < rows; i++)
            full[k] |= *table->cells[i * table->columns + k] != 0;
        if (full[k])
            buffer_add(&sides, &table->left[k], 1);
    }
    kept->columns = sides.size;
    kept->left = sides.data;
    for (size_t i = 0; i < table->count; i++)
        if (full[i % table->columns])
            table_cell(kept, "%s", table->cells[i]);
    return kept;
}

static const struct table *find_table(struct arena *arena, const struct template_scope *scope, const struct template_part *part,
                                      size_t *heads)
{
    const struct table *found = NULL;
    for (; part && !found; part = part->next) {
        if (part->kind == PART_IF)
            found = find_table(arena, scope, holds(scope, part->condition) ? part->then : part->other, heads);
        const struct section *section = part->kind == PART_EACH ? find_section(scope, part->name) : NULL;
        if (!section || section->kind == SECTION_TEXTS)
            continue;
        if (section->kind == SECTION_RECORD) {
            found = find_table(arena, &(struct template_scope){ section, scope }, part->then, heads);
            continue;
        }
        const size_t count = records_shown(section, part);
        if (!count || !part->then)
            continue;
        if (part->then->kind != PART_CELLS) {
            found = find_table(arena, &(struct template_scope){ section->inside[0], scope }, part->then, heads);
            continue;
        }
        const struct table table = make_table(arena, scope, section, count, part->then);
        *heads = table.count / table.columns - count;
        found = without_empty(&table, *heads);
    }
    return found;
}

const struct table *template_table(const struct template *template, const struct section *section,
                                   struct arena *arena, size_t *heads)
{
    *heads = 0;
    return find_table(arena, &(struct template_scope){ section, NULL }, template->parts, heads);
}

static bool prints_range(const struct template_part *part, const char *name)
{
    for (; part; part = part->next) {
        const bool here = part->kind == PART_FIGURE && (part->range || part->format == '-') &&
                          !strcmp(part->name, name);
        if (here || prints_range(part->then, name) || prints_range(part->other, name) ||
            prints_range(part->cells, name))
            return true;
    }
    return false;
}

bool template_has_range(const struct template *template, const char *name)
{
    return prints_range(template->parts, name);
}
