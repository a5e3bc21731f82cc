/* Pictures of lines as SVG: grid, bands, lines, points, marks, and the names between them. */
#include "report/picture_lines.h"

#include <math.h>
#include <string.h>

enum { FEW_DOTS = 80 };

static const char *colour_of(const struct picture_line *line)
{
    return line->kind == PICTURE_RESULT ? line->scenario ? "soft" : "ink" : picture_kind_names[line->kind];
}

/* ---- what lies below ------------------------------------------------------------------------- */

static void print_areas(struct drawing *drawing)
{
    const struct box frame = drawing->frame;
    for (size_t i = 0; i < drawing->picture->area_count; i++) {
        const struct picture_area *area = &drawing->picture->areas[i];
        const struct scale *scale = area->of_y ? &drawing->y : &drawing->x;
        double from = isnan(area->from) ? scale->begin : scale_at(scale, area->from);
        double to = isnan(area->to) ? scale->end : scale_at(scale, area->to);
        struct box box = frame;
        if (area->of_y)
            box.top = fmax(frame.top, fmin(from, to)), box.bottom = fmin(frame.bottom, fmax(from, to));
        else
            box.left = fmax(frame.left, fmin(from, to)), box.right = fmin(frame.right, fmax(from, to));
        if (!(box.left < box.right && box.top < box.bottom))
            continue;
        struct buffer *out = drawing->canvas->out;
        const double at[] = { box.left, box.top, box.right, box.bottom };
        buffer_print(out, "<path class=\"soft\" fill-opacity=\".09\" d=\"");
        for (int k = 0; k < 4; k++) {
            buffer_print(out, "%s", &"M\0 \0H\0V"[2 * k]);
            svg_coordinate(out, at[k]);
        }
        buffer_print(out, "H");
        svg_coordinate(out, box.left);
        buffer_print(out, "Z\"/>\n");
    }
}

static void print_grid(struct drawing *drawing)
{
    const struct box frame = drawing->frame;
    struct canvas *canvas = drawing->canvas;
    for (size_t i = 0; i < drawing->y.count; i++) {
        const double y = scale_at(&drawing->y, drawing->y.ticks[i].at);
        if (y < frame.bottom - 1)
            svg_line(canvas, frame.left, y, frame.right, y, "class=\"grid\" stroke=\"currentColor\"");
        svg_text(canvas, frame.left - GAP, y + 4.5, 'e', "soft", drawing->y.ticks[i].name, LABEL_SIZE,
                 false);
    }
    const double zero = scale_at(&drawing->y, 0);
    if (!drawing->y.log && drawing->y.from < 0 && zero > frame.top)
        svg_line(canvas, frame.left, zero, frame.right, zero, "class=\"rule\" stroke=\"currentColor\"");
    svg_line(canvas, frame.left, frame.bottom, frame.right, frame.bottom,
             "class=\"soft\" stroke=\"currentColor\"");
}

/* The part of a polygon on one side of a line: side 0 to 3 is left, right, top, bottom. */
static size_t clip_side(const struct spot *from, size_t count, struct spot *to, struct box box, int side)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        const struct spot a = from[i], b = from[(i + 1) % count];
        const double edge = side == 0 ? box.left : side == 1 ? box.right : side == 2 ? box.top : box.bottom;
        const double sign = side % 2 ? -1 : 1;
        const double in_a = sign * ((side < 2 ? a.x : a.y) - edge), in_b = sign * ((side < 2 ? b.x : b.y) - edge);
        if (in_a >= 0)
            to[made++] = a;
        if ((in_a < 0) != (in_b < 0)) {
            const double t = in_a / (in_a - in_b);
            to[made++] = (struct spot){ a.x + t * (b.x - a.x), a.y + t * (b.y - a.y) };
        }
    }
    return made;
}

static void print_band(struct drawing *drawing, const struct picture_line *line)
{
    struct arena *arena = drawing->canvas->arena;
    struct buffer *out = drawing->canvas->out;
    size_t count = 2 * line->band_count;
    struct spot *now = arena_array(arena, 4 * count + 16, sizeof *now);
    struct spot *next = arena_array(arena, 4 * count + 16, sizeof *next);
    for (size_t i = 0; i < line->band_count; i++) {
        const struct picture_span *span = &line->band[i];
        now[i] = spot_of(drawing, span->x, span->high);
        now[count - 1 - i] = spot_of(drawing, span->x, span->low);
    }
    for (int side = 0; side < 4; side++) {
        count = clip_side(now, count, next, drawing->frame, side);
        struct spot *swap = now;
        now = next, next = swap;
    }
    if (count < 3)
        return;
    buffer_print(out, "<path class=\"%s\" fill-opacity=\".12\" d=\"M", colour_of(line));
    for (size_t i = 0; i < count; i++) {
        buffer_add(out, i ? "L" : "", i ? 1 : 0);
        svg_coordinate(out, now[i].x);
        buffer_add(out, " ", 1);
        svg_coordinate(out, now[i].y);
    }
    buffer_print(out, "Z\"/>\n");
}

/* ---- lines and points ------------------------------------------------------------------------- */

static void print_path(struct buffer *out, const struct trace *trace)
{
    bool open = false;
    for (size_t i = 0; i < trace->count; i++) {
        if (isnan(trace->spots[i].x)) {
            open = false;
            continue;
        }
        buffer_add(out, open ? "L" : "M", 1);
        svg_coordinate(out, trace->spots[i].x);
        buffer_add(out, " ", 1);
        svg_coordinate(out, trace->spots[i].y);
        open = true;
    }
}

static void print_line(struct drawing *drawing, size_t index)
{
    static const double widths[PICTURE_ROLES] = { 2, 1.1, 2.8, 1.4, 4 };
    static const char *const dashes[PICTURE_SCENARIOS] = { "", "6 4", "2 3", "9 3 2 3" };
    static const double shades[PICTURE_SHADES] = { 1, .8, .65, .5 };
    const struct picture_line *line = &drawing->picture->lines[index];
    const struct trace *trace = &drawing->traces[index];
    struct buffer *out = drawing->canvas->out;
    if (!trace->count)
        return;
    buffer_print(out, "<path class=\"%s line\" data-line=\"%zu\" fill=\"none\" stroke=\"currentColor\" "
                 "stroke-width=\"%.1f\" stroke-linejoin=\"round\"", colour_of(line), index,
                 widths[line->role]);
    if (line->role == PICTURE_SUM)
        buffer_print(out, " stroke-dasharray=\"1 4\" stroke-linecap=\"round\"");
    else if (line->scenario)
        buffer_print(out, " stroke-dasharray=\"%s\"", dashes[line->scenario]);
    if (line->shade)
        buffer_print(out, " stroke-opacity=\"%.2f\"", shades[line->shade]);
    buffer_print(out, " d=\"");
    print_path(out, trace);
    buffer_print(out, "\"/>\n");
}

static bool inside(struct box box, struct spot spot)
{
    return spot.x >= box.left - 0.5 && spot.x <= box.right + 0.5 && spot.y >= box.top - 0.5 &&
           spot.y <= box.bottom + 0.5;
}

/* A disc of scenario A, a hollow square of any other. */
static void print_symbol(struct buffer *out, struct spot at, unsigned scenario, double size)
{
    if (scenario) {
        buffer_print(out, "<rect class=\"soft\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\" x=\"");
        svg_coordinate(out, at.x - size);
        buffer_print(out, "\" y=\"");
        svg_coordinate(out, at.y - size);
        buffer_print(out, "\" width=\"%.0f\" height=\"%.0f\"", 2 * size, 2 * size);
    } else {
        buffer_print(out, "<circle class=\"ink\" r=\"%.1f\" cx=\"", size);
        svg_coordinate(out, at.x);
        buffer_print(out, "\" cy=\"");
        svg_coordinate(out, at.y);
        buffer_print(out, "\"");
    }
}

static void print_ring(struct buffer *out, struct spot at, double radius, const char *class)
{
    buffer_print(out, "<circle class=\"%s\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\" "
                 "r=\"%.1f\" cx=\"", class, radius);
    svg_coordinate(out, at.x);
    buffer_print(out, "\" cy=\"");
    svg_coordinate(out, at.y);
    buffer_print(out, "\"/>\n");
}

static void print_dot(struct drawing *drawing, size_t index)
{
    const struct picture_dot *dot = &drawing->picture->dots[index];
    const struct spot at = spot_of(drawing, dot->x, dot->y);
    struct buffer *out = drawing->canvas->out;
    if (!inside(drawing->frame, at))
        return;
    print_symbol(out, at, dot->scenario, dot->scenario ? 4 : 3.8);
    buffer_print(out, " data-dot=\"%zu\">", index);
    if (*dot->what || *dot->source) {
        buffer_print(out, "<title>");
        svg_text_add(out, arena_print(drawing->canvas->arena, "%s%s%s%s%s", dot->what,
                                      *dot->what && *dot->source ? "; " : "", dot->source,
                                      *dot->date ? ", " : "", dot->date));
        buffer_print(out, "</title>");
    }
    buffer_print(out, "</%s>\n", dot->scenario ? "rect" : "circle");
    if (dot->near)
        print_ring(out, at, 7.5, "ink");
}

/* Many points are one path, whose ends are round. */
static void print_many_dots(struct drawing *drawing, bool others)
{
    struct buffer *out = drawing->canvas->out;
    size_t drawn = 0;
    for (size_t i = 0; i < drawing->picture->dot_count; i++) {
        const struct picture_dot *dot = &drawing->picture->dots[i];
        const struct spot at = spot_of(drawing, dot->x, dot->y);
        if ((dot->scenario != 0) != others || !inside(drawing->frame, at))
            continue;
        if (!drawn++)
            buffer_print(out, "<path class=\"%s dots\" fill=\"none\" stroke=\"currentColor\" "
                         "stroke-width=\"4.4\" stroke-linecap=\"round\" stroke-opacity=\".5\" d=\"",
                         others ? "soft" : "ink");
        buffer_add(out, "M", 1);
        svg_coordinate(out, at.x);
        buffer_add(out, " ", 1);
        svg_coordinate(out, at.y);
        buffer_add(out, "h0", 2);
    }
    if (drawn)
        buffer_print(out, "\"/>\n");
}

static void print_dots(struct drawing *drawing)
{
    const struct picture *picture = drawing->picture;
    for (size_t i = 0; i < picture->line_count; i++)
        for (size_t k = 0; picture->lines[i].dots && k < picture->lines[i].count; k++) {
            const struct picture_line *line = &picture->lines[i];
            const struct spot at = spot_of(drawing, line->points[k].x, line->points[k].y);
            if (isnan(line->points[k].x) || !inside(drawing->frame, at))
                continue;
            buffer_print(drawing->canvas->out, "<circle class=\"%s\" r=\"%.1f\" cx=\"", colour_of(line),
                         line->count > FEW_DOTS ? 2.2 : 3.2);
            svg_coordinate(drawing->canvas->out, at.x);
            buffer_print(drawing->canvas->out, "\" cy=\"");
            svg_coordinate(drawing->canvas->out, at.y);
            buffer_print(drawing->canvas->out, "\"/>\n");
        }
    if (picture->dot_count > FEW_DOTS) {
        print_many_dots(drawing, true);
        print_many_dots(drawing, false);
        return;
    }
    for (size_t i = 0; i < picture->dot_count; i++)
        print_dot(drawing, i);
}

/* ---- names between the lines -------------------------------------------------------------------- */

/* How much is drawn below a text that would stand here. */
static unsigned crossings(const struct drawing *drawing, struct box box)
{
    unsigned count = 0;
    for (size_t i = 0; i < drawing->picture->line_count; i++) {
        const struct trace *trace = &drawing->traces[i];
        bool crossed = false;
        for (size_t k = 1; k < trace->count && !crossed; k++) {
            struct spot a = trace->spots[k - 1], b = trace->spots[k];
            if (isnan(a.x) || isnan(b.x) || fmax(a.x, b.x) < box.left || fmin(a.x, b.x) > box.right ||
                fmax(a.y, b.y) < box.top || fmin(a.y, b.y) > box.bottom)
                continue;
            crossed = segment_clip(box, &a, &b);
        }
        count += 2 * crossed;
    }
    for (size_t i = 0; i < drawing->picture->dot_count; i++) {
        const struct spot at = spot_of(drawing, drawing->picture->dots[i].x, drawing->picture->dots[i].y);
        count += at.x > box.left - 5 && at.x < box.right + 5 && at.y > box.top - 5 && at.y < box.bottom + 5;
    }
    return count;
}

/* The best of some places so far. */
struct place { struct box box; unsigned cost; bool found; };

static void consider(const struct drawing *drawing, struct place *best, double left, double top, double width,
                     double height)
{
    const struct box box = { left, top, left + width, top + height }, frame = drawing->frame;
    if (best->found && !best->cost)
        return;
    if (!boxes_free(&drawing->canvas->boxes, box, frame))
        return;
    const unsigned cost = crossings(drawing, box);
    if (!best->found || cost < best->cost)
        *best = (struct place){ box, cost, true };
}

/* Around a spot, nearest first. */
static void consider_around(const struct drawing *drawing, struct place *best, struct spot at, double width,
                            double height, double gap)
{
    consider(drawing, best, at.x + gap, at.y - gap - height, width, height);
    consider(drawing, best, at.x - gap - width, at.y - gap - height, width, height);
    consider(drawing, best, at.x - width / 2, at.y - gap - height, width, height);
    consider(drawing, best, at.x + gap, at.y - height / 2, width, height);
    consider(drawing, best, at.x + gap, at.y + gap, width, height);
    consider(drawing, best, at.x - width / 2, at.y + gap, width, height);
    consider(drawing, best, at.x - gap - width, at.y + gap, width, height);
    consider(drawing, best, at.x - gap - width, at.y - height / 2, width, height);
}

/* Anywhere in the frame, the nearest to a spot. */
static void consider_anywhere(const struct drawing *drawing, struct place *best, struct spot at, double width,
                              double height)
{
    enum { STEP = 10, DIRECTIONS = 16, FARTHEST = 1200 };
    for (double radius = STEP; radius < FARTHEST && !best->found; radius += STEP)
        for (int i = 0; i < DIRECTIONS && !best->found; i++) {
            const double angle = 2 * M_PI * i / DIRECTIONS;
            consider(drawing, best, at.x + radius * cos(angle) - width / 2,
                     at.y + radius * sin(angle) - height / 2, width, height);
        }
}

static void print_lines_of(struct drawing *drawing, const char **lines, double x, double top, char anchor,
                           const char *class)
{
    for (size_t i = 0; lines[i]; i++)
        svg_text(drawing->canvas, x, top + 12 + LABEL_LINE * (double)i, anchor, class, lines[i], LABEL_SIZE,
                 true);
}

static double lines_width(const char **lines, size_t *count)
{
    double width = 0;
    for (*count = 0; lines[*count]; ++*count)
        width = fmax(width, picture_text_width(lines[*count], LABEL_SIZE, true));
    return width;
}

/* The name of a mark; false: nowhere. */
static bool print_mark_name(struct drawing *drawing, const struct picture_mark *mark, struct spot at,
                            const char *class)
{
    size_t count;
    const double most = fmax(80, (drawing->frame.right - drawing->frame.left) * 0.45);
    const char **lines = picture_text_lines(drawing->canvas->arena, mark->name, most, LABEL_SIZE, true);
    const double width = lines_width(lines, &count), height = LABEL_LINE * (double)count;
    struct place place = { .found = false };
    if (!count)
        return true;
    consider_around(drawing, &place, at, width, height, 8);
    consider_anywhere(drawing, &place, at, width, height);
    if (!place.found)
        return false;
    print_lines_of(drawing, lines, place.box.left, place.box.top, 's', class);
    return true;
}

static void keep_clear(struct drawing *drawing, struct spot at, double radius)
{
    boxes_add(&drawing->canvas->boxes, (struct box){ at.x - radius, at.y - radius, at.x + radius,
                                                     at.y + radius });
}

static void mark_begin(struct drawing *drawing, const char *class, const struct picture_mark *mark)
{
    struct buffer *out = drawing->canvas->out;
    buffer_print(out, "<g class=\"%s\" data-at=\"", class);
    buffer_number(out, mark->x);
    buffer_print(out, " ");
    buffer_number(out, mark->y);
    buffer_print(out, "\" data-name=\"");
    svg_text_add(out, mark->name ? mark->name : "");
    buffer_print(out, "\"");
    if (mark->sets) {
        buffer_print(out, " data-sets=\"");
        svg_text_add(out, mark->sets);
        buffer_print(out, "\"");
    }
    buffer_print(out, ">\n");
}

static bool print_marks(struct drawing *drawing)
{
    const struct picture *picture = drawing->picture;
    struct buffer *out = drawing->canvas->out;
    bool placed = true;
    for (size_t i = 0; i < picture->mark_count; i++)
        if (inside(drawing->frame, spot_of(drawing, picture->marks[i].x, picture->marks[i].y)))
            keep_clear(drawing, spot_of(drawing, picture->marks[i].x, picture->marks[i].y), 6);
    if (picture->has_here)
        keep_clear(drawing, spot_of(drawing, picture->here.x, picture->here.y), 7);
    for (size_t i = 0; i < picture->mark_count; i++) {
        const struct picture_mark *mark = &picture->marks[i];
        const struct spot at = spot_of(drawing, mark->x, mark->y);
        if (!inside(drawing->frame, at))
            continue;
        mark_begin(drawing, "mark", mark);
        buffer_print(out, "<circle class=\"paper\" r=\"5.5\" cx=\"");
        svg_coordinate(out, at.x);
        buffer_print(out, "\" cy=\"");
        svg_coordinate(out, at.y);
        buffer_print(out, "\"/>");
        print_ring(out, at, 5.5, mark->sets ? "hand" : "ink");
        placed = print_mark_name(drawing, mark, at, mark->sets ? "hand halo" : "ink halo") && placed;
        buffer_print(out, "</g>\n");
    }
    return placed;
}

/* Where the reader stands: a disc, and a line down to its value. */
static bool print_here(struct drawing *drawing)
{
    const struct picture_mark *here = &drawing->picture->here;
    struct buffer *out = drawing->canvas->out;
    if (!drawing->picture->has_here)
        return true;
    const struct spot at = spot_of(drawing, here->x, here->y);
    if (!inside(drawing->frame, at))
        return true;
    mark_begin(drawing, "here", here);
    svg_line(drawing->canvas, at.x, at.y, at.x, drawing->frame.bottom,
             "class=\"hand\" stroke=\"currentColor\" stroke-width=\"1.2\"");
    buffer_print(out, "<circle class=\"hand\" r=\"6\" cx=\"");
    svg_coordinate(out, at.x);
    buffer_print(out, "\" cy=\"");
    svg_coordinate(out, at.y);
    buffer_print(out, "\"/>\n");
    const bool placed = print_mark_name(drawing, here, at, "hand halo strong");
    buffer_print(out, "</g>\n");
    return placed;
}

/* The names of areas, at the top of each or near it. */
static bool print_area_names(struct drawing *drawing)
{
    const struct box frame = drawing->frame;
    for (size_t i = 0; i < drawing->picture->area_count; i++) {
        const struct picture_area *area = &drawing->picture->areas[i];
        const struct scale *scale = area->of_y ? &drawing->y : &drawing->x;
        const double low = fmin(scale->begin, scale->end), high = fmax(scale->begin, scale->end);
        double from = isnan(area->from) ? scale->begin : scale_at(scale, area->from);
        double to = isnan(area->to) ? scale->end : scale_at(scale, area->to);
        from = fmax(low, fmin(high, from)), to = fmax(low, fmin(high, to));
        const double middle = (from + to) / 2, wide = area->of_y ? frame.right - frame.left : fabs(to - from);
        size_t count;
        const char **lines = picture_text_lines(drawing->canvas->arena, area->name, fmax(70, wide - 8),
                                                LABEL_SIZE, true);
        const double width = lines_width(lines, &count), height = LABEL_LINE * (double)count;
        struct place place = { .found = false };
        const struct spot at = area->of_y ? (struct spot){ frame.left + width / 2 + 6, middle }
                                          : (struct spot){ middle, frame.top + height / 2 + 2 };
        if (!count || from == to)
            continue;
        consider(drawing, &place, at.x - width / 2, at.y - height / 2, width, height);
        consider(drawing, &place, at.x - width / 2, frame.bottom - height - 3, width, height);
        if (!place.found || place.cost)
            consider_anywhere(drawing, &place, at, width, height);
        if (!place.found)
            return false;
        print_lines_of(drawing, lines, place.box.left, place.box.top, 's', "soft halo");
    }
    return true;
}

/* What the symbols of points mean, in the emptiest corner. */
static bool print_key(struct drawing *drawing)
{
    static const char *const names[] = { "measured", "measured, B" };
    const struct picture *picture = drawing->picture;
    const struct box frame = drawing->frame;
    enum { INSET = 8, SYMBOL = 16, ROW = 18 };
    bool shown[2] = { false, false };
    for (size_t i = 0; i < picture->dot_count && !picture->no_key; i++)
        shown[picture->dots[i].scenario != 0] = true;
    const double rows = (double)(shown[0] + shown[1]), height = ROW * rows;
    const double width = SYMBOL + picture_text_width(names[shown[1]], LABEL_SIZE, false);
    struct place place = { .found = false };
    if (!rows)
        return true;
    const double left = frame.left + INSET, right = frame.right - INSET - width, top = frame.top + INSET / 2,
                 bottom = frame.bottom - INSET - height;
    consider(drawing, &place, left, bottom, width, height);
    consider(drawing, &place, right, top, width, height);
    consider(drawing, &place, left, top, width, height);
    consider(drawing, &place, right, bottom, width, height);
    if (!place.found)
        consider_anywhere(drawing, &place, (struct spot){ left + width / 2, bottom + height / 2 }, width, height);
    if (!place.found)
        return false;
    double y = place.box.top + ROW / 2.0;
    for (unsigned i = 0; i < 2; i++)
        if (shown[i]) {
            print_symbol(drawing->canvas->out, (struct spot){ place.box.left + 5, y }, i, i ? 4 : 3.8);
            buffer_print(drawing->canvas->out, "/>\n");
            svg_text(drawing->canvas, place.box.left + SYMBOL, y + 4.5, 's', "soft halo", names[i],
                     LABEL_SIZE, false);
            y += ROW;
        }
    return true;
}

/* ---- names of lines ------------------------------------------------------------------------------- */

/* At the right side, with a hairline to its line where it was moved far. */
static void print_right_name(struct drawing *drawing, size_t index)
{
    const struct label *label = &drawing->labels[index];
    const struct trace *trace = &drawing->traces[index];
    const struct spot end = trace->spots[trace->count - 1];
    const struct picture_line *line = &drawing->picture->lines[index];
    const double x = drawing->frame.right + 9, middle = label->top + LABEL_LINE * (double)label->count / 2;
    if (fabs(middle - end.y) > 6 || end.x < drawing->frame.right - 3)
        svg_line(drawing->canvas, end.x + 1, end.y, x - 2, middle,
                 arena_print(drawing->canvas->arena, "class=\"%s\" stroke=\"currentColor\" stroke-width=\".7\" "
                             "stroke-opacity=\".6\"", colour_of(line)));
    print_lines_of(drawing, label->lines, x, label->top, 's',
                   arena_print(drawing->canvas->arena, "%s name%s", colour_of(line),
                               line->role == PICTURE_MAXIMUM ? " strong" : ""));
}

/* Along its line, from its end back. */
static bool print_inner_name(struct drawing *drawing, size_t index)
{
    static const double shares[] = { 1, .9, .75, .6, .45, .3, .15, 0 };
    const struct label *label = &drawing->labels[index];
    const struct trace *trace = &drawing->traces[index];
    const double height = LABEL_LINE * (double)label->count;
    struct place place = { .found = false };
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        const struct spot at = trace->spots[(size_t)(shares[i] * (double)(trace->count - 1))];
        if (isnan(at.x))
            continue;
        if (!i)
            consider(drawing, &place, at.x + 7, at.y - height / 2, label->width, height);
        consider_around(drawing, &place, at, label->width, height, 5);
    }
    if (!place.found)
        return false;
    const struct picture_line *line = &drawing->picture->lines[index];
    print_lines_of(drawing, label->lines, place.box.left, place.box.top, 's',
                   arena_print(drawing->canvas->arena, "%s name halo%s", colour_of(line),
                               line->role == PICTURE_MAXIMUM ? " strong" : ""));
    return true;
}

static bool print_names(struct drawing *drawing)
{
    bool placed = true;
    for (size_t i = 0; i < drawing->picture->line_count; i++)
        if (drawing->labels[i].right)
            print_right_name(drawing, i);
    for (size_t i = 0; i < drawing->picture->line_count; i++) {
        struct label *label = &drawing->labels[i];
        if (label->right || !drawing->traces[i].count || !label->count || print_inner_name(drawing, i))
            continue;
        label->refused = true;
        placed = false;
    }
    return placed;
}

static void print_emptiness(struct drawing *drawing)
{
    const struct picture *picture = drawing->picture;
    size_t drawn = picture->dot_count + picture->mark_count + picture->area_count + picture->has_here;
    for (size_t i = 0; i < picture->line_count; i++)
        drawn += drawing->traces[i].count;
    if (!drawn)
        svg_text(drawing->canvas, (drawing->frame.left + drawing->frame.right) / 2,
                 (drawing->frame.top + drawing->frame.bottom) / 2, 'm', "soft", "no values", LABEL_SIZE, false);
}

bool drawing_print(struct drawing *drawing, bool *grow)
{
    const struct picture *picture = drawing->picture;
    svg_frame(drawing->canvas, drawing->frame, &drawing->x, &drawing->y);
    print_areas(drawing);
    print_grid(drawing);
    drawing->bottom = svg_below(drawing->canvas, &picture->x, &drawing->x, drawing->frame);
    for (size_t i = 0; i < picture->line_count; i++)
        if (picture->lines[i].band_count > 1)
            print_band(drawing, &picture->lines[i]);
    for (int last = 0; last < 2; last++)            /* the bold maximum is drawn last */
        for (size_t i = 0; i < picture->line_count; i++)
            if ((picture->lines[i].role == PICTURE_MAXIMUM) == (last == 1))
                print_line(drawing, i);
    print_dots(drawing);
    print_emptiness(drawing);
    *grow = !print_marks(drawing) || !print_here(drawing) || !print_area_names(drawing) ||
            !print_key(drawing);
    const bool named = print_names(drawing);
    buffer_print(drawing->canvas->out, "</g>\n");
    return !*grow && named;
}
