/* Pictures from JSON: every member is checked, and an unknown one is refused with its place. */
#include "report/picture_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINES_MOST = 64, POINTS_MOST = 20000, BARS_MOST = 200, PARTS_MOST = 32, DOTS_MOST = 20000,
       MARKS_MOST = 32, PANELS_MOST = 12, COLUMNS_MOST = 24, ROWS_MOST = 5000 };
static const double largest = 1e30;

/* A member while it is read: its document, and the way there for messages. */
struct picture_member {
    struct arena *arena;
    const char *file, *path;
    const struct doc *doc;
    struct error *error;
};

static bool refuse(const struct picture_member *node, const char *what, const char *expected)
{
    error_set(node->error, "%s: %s %s", node->file, *node->path ? node->path : "the picture", what);
    return error_expected(node->error, "%s", expected);
}

static struct picture_member member(const struct picture_member *node, const char *key)
{
    struct picture_member inner = *node;
    inner.path = *node->path ? arena_print(node->arena, "%s.%s", node->path, key) : key;
    inner.doc = doc_get(node->doc, key);
    return inner;
}

static struct picture_member element(const struct picture_member *list, const struct doc *doc, size_t index)
{
    struct picture_member inner = *list;
    inner.path = arena_print(list->arena, "%s[%zu]", list->path, index);
    inner.doc = doc;
    return inner;
}

/* Is it an object with no members but these? */
static bool read_object(const struct picture_member *node, const char *const *keys, size_t count)
{
    if (!node->doc || node->doc->kind != DOC_OBJECT)
        return refuse(node, "is not an object", "an object, as report/picture.h shows it");
    for (const struct doc *kid = node->doc->first; kid; kid = kid->next) {
        if (name_listed(keys, count, kid->key))
            continue;
        const char *near = name_nearest(kid->key, keys, count);
        refuse(node, arena_print(node->arena, "has a member '%.60s'", kid->key), "members of a picture");
        return near ? error_did_you_mean(node->error, near, "") : false;
    }
    return true;
}
#define READ_OBJECT(node, ...) read_object((node), (const char *const[]){ __VA_ARGS__ }, \
                                           sizeof (const char *const[]){ __VA_ARGS__ } / sizeof(char *))

static bool read_list(const struct picture_member *node, size_t most)
{
    if (node->doc->kind != DOC_ARRAY)
        return refuse(node, "is not a list", "a list");
    if (node->doc->count > most)
        return refuse(node, "is too long", arena_print(node->arena, "at most %zu entries", most));
    return true;
}

static bool read_number(const struct picture_member *node, double *number)
{
    if (node->doc->kind != DOC_NUMBER)
        return refuse(node, "is not a number", "a finite number");
    if (!(fabs(node->doc->number) <= largest))
        return refuse(node, "is out of range", "a number between -1e30 and 1e30");
    *number = node->doc->number;
    return true;
}

/* Read a number; an absent member leaves it as it is. */
static bool read_member_number(const struct picture_member *node, const char *key, bool needed, double *number)
{
    const struct picture_member inner = member(node, key);
    if (!inner.doc)
        return !needed || refuse(node, arena_print(node->arena, "has no '%s'", key), "a number");
    return read_number(&inner, number);
}

static bool read_text(const struct picture_member *node, const char **text)
{
    if (node->doc->kind != DOC_STRING)
        return refuse(node, "is not a text", "a text");
    if (strlen(node->doc->string) > PICTURE_LONGEST)
        return refuse(node, "is too long", "a text of at most 400 bytes");
    if (!text_check(text_of(node->doc->string), arena_print(node->arena, "%s: %s", node->file, node->path),
                    node->error))
        return false;
    *text = node->doc->string;
    return true;
}

static bool read_member_text(const struct picture_member *node, const char *key, bool needed, const char **text)
{
    const struct picture_member inner = member(node, key);
    if (!inner.doc || (inner.doc->kind == DOC_NULL && !needed))
        return !needed || refuse(node, arena_print(node->arena, "has no '%s'", key), "a text");
    return read_text(&inner, text);
}

static bool read_switch(const struct picture_member *node, const char *key, bool *on)
{
    const struct picture_member inner = member(node, key);
    if (!inner.doc)
        return true;
    if (inner.doc->kind != DOC_BOOL)
        return refuse(&inner, "is not a switch", "true or false");
    *on = inner.doc->boolean;
    return true;
}

static bool read_choice(const struct picture_member *node, const char *key, const char *const *names, size_t count,
                        unsigned *chosen)
{
    const struct picture_member inner = member(node, key);
    struct buffer all = { .arena = node->arena };
    if (!inner.doc)
        return true;
    for (unsigned i = 0; i < count; i++) {
        if (inner.doc->kind == DOC_STRING && !strcmp(inner.doc->string, names[i])) {
            *chosen = i;
            return true;
        }
        buffer_print(&all, "%s%s", i ? ", " : "", names[i]);
    }
    return refuse(&inner, "is not one of its words", all.data);
}

static bool read_scenario(const struct picture_member *node, unsigned *scenario)
{
    static const char *const names[] = { "A", "B", "C", "D" };
    return read_choice(node, "of", names, PICTURE_SCENARIOS, scenario);
}

/* [low, high] */
static bool read_range(const struct picture_member *node, const char *key, struct picture_range *range)
{
    const struct picture_member inner = member(node, key);
    if (!inner.doc)
        return true;
    if (!read_list(&inner, 2))
        return false;
    if (inner.doc->count != 2)
        return refuse(&inner, "is not a range", "[low, high]");
    const struct picture_member low = element(&inner, inner.doc->first, 0), high = element(&inner, inner.doc->last, 1);
    if (!read_number(&low, &range->low) || !read_number(&high, &range->high))
        return false;
    return range->low <= range->high || refuse(&inner, "ends before it begins", "[low, high]");
}

/* ---- the parts ----------------------------------------------------------------------------------- */

static bool read_axis(const struct picture_member *picture, const char *key, struct picture_axis *axis)
{
    const struct picture_member node = member(picture, key);
    struct picture_member end;
    if (!node.doc)
        return true;
    if (!READ_OBJECT(&node, "name", "unit", "log", "time", "from", "to") ||
        !read_member_text(&node, "name", false, &axis->name) ||
        !read_member_text(&node, "unit", false, &axis->unit) || !read_switch(&node, "log", &axis->log) ||
        !read_switch(&node, "time", &axis->time))
        return false;
    end = member(&node, "from");
    if (end.doc && end.doc->kind != DOC_NULL && !read_number(&end, &axis->from))
        return false;
    end = member(&node, "to");
    if (end.doc && end.doc->kind != DOC_NULL && !read_number(&end, &axis->to))
        return false;
    if (axis->from >= axis->to)
        return refuse(&node, "ends before it begins", "from < to");
    if (axis->log && (axis->from <= 0 || axis->to <= 0))
        return refuse(&node, "is logarithmic and does not begin above 0", "from > 0");
    if (axis->log && (axis->from < 1 / largest))
        return refuse(&node, "begins too low", "from at least 1e-30");
    return *axis->name || *axis->unit || refuse(&node, "has neither name nor unit", "\"name\": \"...\"");
}

/* [x, y], or [x, low, high] */
static bool read_tuple(const struct picture_member *node, size_t count, double *numbers)
{
    if (!read_list(node, count))
        return false;
    if (node->doc->count != count)
        return refuse(node, "has not as many numbers as it should", count == 2 ? "[x, y]" : "[x, low, high]");
    size_t i = 0;
    for (const struct doc *kid = node->doc->first; kid; kid = kid->next, i++) {
        const struct picture_member inner = element(node, kid, i);
        if (!read_number(&inner, &numbers[i]))
            return false;
    }
    return true;
}

/* The path of a point is written only where it is refused: a picture has thousands. */
static bool quick_tuple(const struct doc *doc, size_t count, double *numbers)
{
    if (doc->kind != DOC_ARRAY || doc->count != count)
        return false;
    for (const struct doc *kid = doc->first; kid; kid = kid->next) {
        if (kid->kind != DOC_NUMBER || !(fabs(kid->number) <= largest))
            return false;
        *numbers++ = kid->number;
    }
    return true;
}

static bool read_points(const struct picture_member *line, struct picture *picture, struct picture_line *to)
{
    const struct picture_member points = member(line, "points"), band = member(line, "band");
    double numbers[3];
    size_t i = 0;
    if (!points.doc)
        return refuse(line, "has no 'points'", "a list of [x, y]");
    if (!read_list(&points, POINTS_MOST) || (band.doc && !read_list(&band, POINTS_MOST)))
        return false;
    for (const struct doc *kid = points.doc->first; kid; kid = kid->next, i++) {
        if (kid->kind == DOC_NULL)
            numbers[0] = numbers[1] = NAN;
        else if (!quick_tuple(kid, 2, numbers)) {
            const struct picture_member point = element(&points, kid, i);
            return read_tuple(&point, 2, numbers);
        }
        picture_point_add(picture, to, numbers[0], numbers[1]);
    }
    i = 0;
    for (const struct doc *kid = band.doc ? band.doc->first : NULL; kid; kid = kid->next, i++) {
        const struct picture_member span = element(&band, kid, i);
        if (!quick_tuple(kid, 3, numbers))
            return read_tuple(&span, 3, numbers);
        if (numbers[1] > numbers[2])
            return refuse(&span, "ends before it begins", "[x, low, high]");
        picture_band_add(picture, to, numbers[0], numbers[1], numbers[2]);
    }
    return true;
}

static bool read_line(const struct picture_member *node, struct picture *picture)
{
    const char *name = "";
    unsigned kind = PICTURE_RESULT, role = PICTURE_TERM, scenario = 0;
    double shade = 0;
    bool dots = false;
    if (!READ_OBJECT(node, "name", "kind", "role", "of", "shade", "dots", "points", "band") ||
        !read_member_text(node, "name", true, &name) ||
        !read_choice(node, "kind", picture_kind_names, PICTURE_KINDS, &kind) ||
        !read_choice(node, "role", picture_role_names, PICTURE_ROLES, &role) ||
        !read_scenario(node, &scenario) || !read_switch(node, "dots", &dots) ||
        !read_member_number(node, "shade", false, &shade))
        return false;
    if (!(shade >= 0 && shade < PICTURE_SHADES) || shade != floor(shade))
        return refuse(node, "has no such shade", "0, 1, 2 or 3");
    struct picture_line *line = picture_line_add(picture, name, kind, role);
    line->scenario = scenario;
    line->shade = (unsigned)shade;
    line->dots = dots;
    return read_points(node, picture, line);
}

static bool read_part(const struct picture_member *node, struct picture *picture, struct picture_bar *bar)
{
    unsigned kind = PICTURE_RESULT;
    double value = 0;
    struct picture_part *part = picture_part_add(picture, bar, PICTURE_RESULT, 0);
    if (!READ_OBJECT(node, "kind", "value", "name", "beyond") ||
        !read_choice(node, "kind", picture_kind_names, PICTURE_KINDS, &kind) ||
        !read_member_number(node, "value", true, &value) ||
        !read_member_text(node, "name", false, &part->name) || !read_switch(node, "beyond", &part->beyond))
        return false;
    part->kind = kind;
    part->value = value;
    return true;
}

static bool read_bar(const struct picture_member *node, struct picture *picture)
{
    static const char *const roles[] = { "term", "bound" };
    struct picture_bar *bar = picture_bar_add(picture, "");
    const struct picture_member parts = member(node, "parts");
    unsigned role = 0;
    size_t i = 0;
    if (!READ_OBJECT(node, "name", "parts", "total", "role", "from", "band", "measured", "text", "range",
                     "inner", "prior", "middle") ||
        !read_member_text(node, "name", true, &bar->name) ||
        !read_member_text(node, "text", false, &bar->text) || !read_switch(node, "total", &bar->total) ||
        !read_choice(node, "role", roles, 2, &role) || !read_member_number(node, "from", false, &bar->from) ||
        !read_member_number(node, "measured", false, &bar->measured) ||
        !read_member_number(node, "middle", false, &bar->middle) || !read_range(node, "band", &bar->band) ||
        !read_range(node, "range", &bar->range) || !read_range(node, "inner", &bar->inner) ||
        !read_range(node, "prior", &bar->prior) || (parts.doc && !read_list(&parts, PARTS_MOST)))
        return false;
    bar->thin = role == 1;
    for (const struct doc *kid = parts.doc ? parts.doc->first : NULL; kid; kid = kid->next, i++) {
        const struct picture_member part = element(&parts, kid, i);
        if (!read_part(&part, picture, bar))
            return false;
    }
    return true;
}

static bool read_dot(const struct picture_member *node, struct picture *picture)
{
    struct picture_dot *dot = picture_dot_add(picture, 0, 0);
    return READ_OBJECT(node, "x", "y", "of", "what", "source", "date", "near") &&
           read_member_number(node, "x", true, &dot->x) && read_member_number(node, "y", true, &dot->y) &&
           read_scenario(node, &dot->scenario) && read_member_text(node, "what", false, &dot->what) &&
           read_member_text(node, "source", false, &dot->source) &&
           read_member_text(node, "date", false, &dot->date) && read_switch(node, "near", &dot->near);
}

static bool read_mark_into(const struct picture_member *node, bool named, struct picture_mark *mark)
{
    mark->name = "";
    return READ_OBJECT(node, "name", "x", "y", "sets") &&
           read_member_text(node, "name", named, &mark->name) &&
           read_member_number(node, "x", true, &mark->x) && read_member_number(node, "y", true, &mark->y) &&
           read_member_text(node, "sets", false, &mark->sets);
}

static bool read_mark(const struct picture_member *node, struct picture *picture)
{
    return read_mark_into(node, true, picture_mark_add(picture, "", 0, 0));
}

static bool read_area(const struct picture_member *node, struct picture *picture)
{
    static const char *const axes[] = { "x", "y" };
    struct picture_area *area = picture_area_add(picture, "");
    unsigned axis = 0;
    if (!READ_OBJECT(node, "name", "of", "from", "to") ||
        !read_member_text(node, "name", true, &area->name) ||
        !read_choice(node, "of", axes, 2, &axis) || !read_member_number(node, "from", false, &area->from) ||
        !read_member_number(node, "to", false, &area->to))
        return false;
    area->of_y = axis == 1;
    return true;
}

static bool read_here(const struct picture_member *picture, struct picture *to)
{
    const struct picture_member node = member(picture, "here");
    to->has_here = node.doc && node.doc->kind != DOC_NULL;
    return !to->has_here || read_mark_into(&node, false, &to->here);
}

static bool read_cells(const struct picture_member *node, struct picture_table *table, const struct doc *row,
                       size_t index)
{
    const struct picture_member at = element(node, row, index);
    size_t i = 0;
    if (!read_list(&at, table->column_count))
        return false;
    if (row->count != table->column_count)
        return refuse(&at, "has fewer cells than there are columns", "a cell for each column");
    for (const struct doc *kid = row->first; kid; kid = kid->next, i++) {
        const struct picture_member cell = element(&at, kid, i);
        struct buffer text = { .arena = node->arena };
        const size_t place = index * table->column_count + i;
        table->numbers[place] = kid->kind == DOC_NUMBER;
        if (kid->kind == DOC_NULL)
            table->cells[place] = "";
        else if (kid->kind != DOC_NUMBER && !read_text(&cell, &table->cells[place]))
            return false;
        else if (kid->kind == DOC_NUMBER) {
            buffer_number(&text, kid->number);
            table->cells[place] = text.data;
        }
    }
    return true;
}

static bool read_table(const struct picture_member *picture, struct picture_table *table)
{
    const struct picture_member node = member(picture, "table");
    if (!node.doc)
        return true;
    const struct picture_member columns = member(&node, "columns"), rows = member(&node, "rows");
    if (!READ_OBJECT(&node, "columns", "rows"))
        return false;
    if (!columns.doc || !rows.doc)
        return refuse(&node, "is not whole", "columns and rows");
    if (!read_list(&columns, COLUMNS_MOST) || !read_list(&rows, ROWS_MOST))
        return false;
    *table = (struct picture_table){ .column_count = columns.doc->count, .rows = rows.doc->count };
    table->columns = arena_array(node.arena, table->column_count + 1, sizeof *table->columns);
    table->cells = arena_array(node.arena, table->column_count * table->rows + 1, sizeof *table->cells);
    table->numbers = arena_array(node.arena, table->column_count * table->rows + 1, sizeof *table->numbers);
    size_t i = 0;
    for (const struct doc *kid = columns.doc->first; kid; kid = kid->next, i++) {
        const struct picture_member column = element(&columns, kid, i);
        if (!read_text(&column, &table->columns[i]))
            return false;
    }
    i = 0;
    for (const struct doc *kid = rows.doc->first; kid; kid = kid->next, i++)
        if (!read_cells(&rows, table, kid, i))
            return false;
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------------- */

typedef bool read_one(const struct picture_member *node, struct picture *picture);

static bool read_all(const struct picture_member *picture, const char *key, size_t most, read_one *read,
                     struct picture *to)
{
    const struct picture_member list = member(picture, key);
    size_t i = 0;
    if (!list.doc)
        return true;
    if (!read_list(&list, most))
        return false;
    for (const struct doc *kid = list.doc->first; kid; kid = kid->next, i++) {
        const struct picture_member one = element(&list, kid, i);
        if (!read(&one, to))
            return false;
    }
    return true;
}

static bool read_picture(const struct picture_member *node, bool panel, struct picture *picture);

static bool read_panel(const struct picture_member *node, struct picture *picture)
{
    return read_picture(node, true, picture_panel(picture, ""));
}

static bool read_axes(const struct picture_member *node, bool panel, struct picture *picture)
{
    const bool bars = doc_get(node->doc, "bars") && doc_get(node->doc, "bars")->first;
    const bool panels = !panel && doc_get(node->doc, "panels");
    if (!read_axis(node, "x", &picture->x) || (!bars && !read_axis(node, "y", &picture->y)))
        return false;
    if (!panels && !doc_get(node->doc, "x"))
        return refuse(node, "has no 'x'", "an axis");
    return panels || bars || doc_get(node->doc, "y") || refuse(node, "has no 'y'", "an axis");
}

static bool read_picture(const struct picture_member *node, bool panel, struct picture *picture)
{
    bool key = true;
    double columns = 1;
    if (!READ_OBJECT(node, "title", "x", "y", "lines", "bars", "points", "marks", "areas", "here", "table",
                     "key", "columns", "panels") ||
        !read_member_text(node, "title", !panel, &picture->title) || !read_axes(node, panel, picture) ||
        !read_all(node, "lines", LINES_MOST, read_line, picture) ||
        !read_all(node, "bars", BARS_MOST, read_bar, picture) ||
        !read_all(node, "points", DOTS_MOST, read_dot, picture) ||
        !read_all(node, "marks", MARKS_MOST, read_mark, picture) ||
        !read_all(node, "areas", MARKS_MOST, read_area, picture) || !read_here(node, picture) ||
        !read_table(node, &picture->table) || !read_switch(node, "key", &key) ||
        !read_member_number(node, "columns", false, &columns))
        return false;
    picture->no_key = !key;
    picture->columns = columns >= 1 && columns <= PANELS_MOST ? (size_t)columns : 1;
    if (panel && doc_get(node->doc, "panels"))
        return refuse(node, "has panels of its own", "panels of the picture alone");
    return read_all(node, "panels", PANELS_MOST, read_panel, picture);
}

bool picture_of_document(struct arena *arena, const char *file, const struct doc *doc,
                         struct picture **picture, struct error *error)
{
    const struct picture_member node = { arena, file, "", doc, error };
    *picture = picture_new(arena, "");
    return read_picture(&node, false, *picture);
}

bool picture_read(struct arena *arena, const char *file, struct text json, struct picture **picture,
                  struct error *error)
{
    struct doc *doc;
    return json_read(arena, file, json, &doc, error) && picture_of_document(arena, file, doc, picture, error);
}
