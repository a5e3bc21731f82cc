/* Pictures of lines as SVG: areas, grid, bands, lines and points, and the order of all that is drawn. */
#include "report/picture_lines.h"

#include <math.h>

enum { FEW_DOTS = 80 };

const char *line_colour(const struct picture_line *line)
{
    return line->kind == PICTURE_RESULT ? line->scenario ? "soft" : "ink" : picture_kind_names[line->kind];
}

/* ---- what lies below ------------------------------------------------------------------------- */

static struct box area_box(const struct drawing *drawing, const struct picture_area *area)
{
    const struct scale *scale = area->of_y ? &drawing->y : &drawing->x;
    const double from = isnan(area->from) ? scale->begin : scale_at(scale, area->from);
    const double to = isnan(area->to) ? scale->end : scale_at(scale, area->to);
    const struct box frame = drawing->frame;
    struct box box = frame;
    if (area->of_y)
        box.top = fmax(frame.top, fmin(from, to)), box.bottom = fmin(frame.bottom, fmax(from, to));
    else
        box.left = fmax(frame.left, fmin(from, to)), box.right = fmin(frame.right, fmax(from, to));
    return box;
}

/* Of areas that follow each other, shade every second one. */
static void print_areas(struct drawing *drawing)
{
    struct buffer *out = drawing->canvas->out;
    bool shaded = false;
    for (size_t i = 0; i < drawing->picture->area_count; i++) {
        const struct picture_area *area = &drawing->picture->areas[i];
        const struct box box = area_box(drawing, area);
        shaded = !(shaded && i && area[-1].of_y == area->of_y && area[-1].to == area->from);
        if (!shaded || !(box.left < box.right && box.top < box.bottom))
            continue;
        buffer_print(out, "<path class=\"soft\" fill-opacity=\".09\" d=\"");
        svg_spot(out, "M", box.left, box.top);
        svg_spot(out, "L", box.right, box.top);
        svg_spot(out, "L", box.right, box.bottom);
        svg_spot(out, "L", box.left, box.bottom);
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
        const double in_a = sign * ((side < 2 ? a.x : a.y) - edge);
        const double in_b = sign * ((side < 2 ? b.x : b.y) - edge);
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
    struct spot *now = arena_array(arena, 6 * count + 16, sizeof *now);
    struct spot *next = arena_array(arena, 6 * count + 16, sizeof *next);
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
    buffer_print(out, "<path class=\"%s\" fill-opacity=\".12\" d=\"M", line_colour(line));
    for (size_t i = 0; i < count; i++)
        svg_spot(out, i ? "L" : "", now[i].x, now[i].y);
    buffer_print(out, "Z\"/>\n");
}

/* ---- lines and points ------------------------------------------------------------------------- */

static void print_path(struct buffer *out, const struct picture_trace *trace)
{
    bool open = false;
    for (size_t i = 0; i < trace->count; i++) {
        if (isnan(trace->spots[i].x)) {
            open = false;
            continue;
        }
        svg_spot(out, open ? "L" : "M", trace->spots[i].x, trace->spots[i].y);
        open = true;
    }
}

static void print_line(struct drawing *drawing, size_t index)
{
    static const double widths[PICTURE_ROLES] = { 2, 1.1, 2.8, 1.4, 4 };
    static const char *const dashes[PICTURE_SCENARIOS] = { "", "5 6", ".1 5", "9 6 .1 6" };
    static const double shades[PICTURE_SHADES] = { 1, .8, .65, .5 };
    const struct picture_line *line = &drawing->picture->lines[index];
    const struct picture_trace *trace = &drawing->traces[index];
    struct buffer *out = drawing->canvas->out;
    if (!trace->count)
        return;
    buffer_print(out, "<path class=\"%s line\" data-line=\"%zu\" fill=\"none\" stroke=\"currentColor\" "
                 "stroke-width=\"%.1f\" stroke-linejoin=\"round\" stroke-linecap=\"round\"",
                     line_colour(line), index,
                 widths[line->role]);
    if (line->role == PICTURE_SUM)
        buffer_print(out, " stroke-dasharray=\".1 4\"");
    else if (line->scenario)
        buffer_print(out, " stroke-dasharray=\"%s\"", dashes[line->scenario]);
    if (line->shade)
        buffer_print(out, " stroke-opacity=\"%.2f\"", shades[line->shade]);
    buffer_print(out, " d=\"");
    print_path(out, trace);
    buffer_print(out, "\"/>\n");
}

bool box_has(struct box box, struct spot spot)
{
    return spot.x >= box.left - 0.5 && spot.x <= box.right + 0.5 && spot.y >= box.top - 0.5 &&
           spot.y <= box.bottom + 0.5;
}

/* A disc of scenario A, a hollow square of any other. */
void svg_symbol(struct buffer *out, struct spot at, unsigned scenario, double size)
{
    if (scenario) {
        buffer_print(out, "<rect class=\"soft\" fill=\"none\" stroke=\"currentColor\" "
                     "stroke-width=\"1.5\" x=\"");
        svg_coordinate(out, at.x - size);
        buffer_print(out, "\" y=\"");
        svg_coordinate(out, at.y - size);
        buffer_print(out, "\" width=\"%.0f\" height=\"%.0f\"", 2 * size, 2 * size);
    } else {
        svg_circle(out, at.x, at.y, size, "ink");
    }
}

void svg_ring(struct buffer *out, struct spot at, double radius, const char *class)
{
    svg_circle(out, at.x, at.y, radius, class);
    buffer_print(out, " fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\"/>\n");
}

static void print_dot(struct drawing *drawing, size_t index)
{
    const struct picture_dot *dot = &drawing->picture->dots[index];
    const struct spot at = spot_of(drawing, dot->x, dot->y);
    struct buffer *out = drawing->canvas->out;
    if (!box_has(drawing->frame, at))
        return;
    svg_symbol(out, at, dot->scenario, dot->scenario ? 4 : 3.8);
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
        svg_ring(out, at, 7.5, "ink");
}

/* Many points are one path, whose ends are round. */
static void print_many_dots(struct drawing *drawing, bool others)
{
    struct buffer *out = drawing->canvas->out;
    size_t drawn = 0;
    for (size_t i = 0; i < drawing->picture->dot_count; i++) {
        const struct picture_dot *dot = &drawing->picture->dots[i];
        const struct spot at = spot_of(drawing, dot->x, dot->y);
        if ((dot->scenario != 0) != others || !box_has(drawing->frame, at))
            continue;
        if (!drawn++)
            buffer_print(out, "<path class=\"%s dots\" fill=\"none\" stroke=\"currentColor\" "
                         "stroke-width=\"4.4\" stroke-linecap=\"round\" stroke-opacity=\".5\" d=\"",
                         others ? "soft" : "ink");
        svg_spot(out, "M", at.x, at.y);
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
            if (isnan(line->points[k].x) || !box_has(drawing->frame, at))
                continue;
            svg_circle(drawing->canvas->out, at.x, at.y, line->count > FEW_DOTS ? 2.2 : 3.2,
                       line_colour(line));
            buffer_print(drawing->canvas->out, "/>\n");
        }
    if (picture->dot_count > FEW_DOTS) {
        print_many_dots(drawing, true);
        print_many_dots(drawing, false);
        return;
    }
    for (size_t i = 0; i < picture->dot_count; i++)
        print_dot(drawing, i);
}

static void print_emptiness(struct drawing *drawing)
{
    const struct picture *picture = drawing->picture;
    size_t drawn = picture->dot_count + picture->mark_count + picture->area_count + picture->has_here;
    for (size_t i = 0; i < picture->line_count; i++)
        drawn += drawing->traces[i].count;
    const struct box frame = drawing->frame;
    if (!drawn)
        svg_text(drawing->canvas, (frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2, 'm', "soft",
                 "no values", LABEL_SIZE, false);
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
