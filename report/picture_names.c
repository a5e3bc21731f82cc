/* Names inside of a frame: each takes the first of its places that meets no other text, mark or edge, with
 * as little drawn below it as may be. */
#include "report/picture_lines.h"

#include <math.h>

/* Count what is drawn below a text that would stand here. */
static unsigned crossings(const struct drawing *drawing, struct box box)
{
    unsigned count = 0;
    for (size_t i = 0; i < drawing->picture->line_count; i++) {
        const struct picture_trace *trace = &drawing->traces[i];
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
struct name_place { struct box box; unsigned cost; bool found; };

static void consider(const struct drawing *drawing, struct name_place *best, double left, double top, double width,
                     double height)
{
    const struct box box = { left, top, left + width, top + height }, frame = drawing->frame;
    if (best->found && !best->cost)
        return;
    if (!boxes_free(&drawing->canvas->boxes, box, frame))
        return;
    const unsigned cost = crossings(drawing, box);
    if (!best->found || cost < best->cost)
        *best = (struct name_place){ box, cost, true };
}

/* Try the places around a spot, nearest first. */
static void consider_around(const struct drawing *drawing, struct name_place *best, struct spot at, double width,
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

/* Try all places in the frame; the nearest to the spot is best. */
static void consider_anywhere(const struct drawing *drawing, struct name_place *best, struct spot at, double width,
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

/* Print the name of a mark; false: it found no place. */
static bool print_mark_name(struct drawing *drawing, const struct picture_mark *mark, struct spot at,
                            const char *class)
{
    size_t count;
    const double most = fmax(80, (drawing->frame.right - drawing->frame.left) * 0.45);
    const char **lines = picture_text_lines(drawing->canvas->arena, mark->name, most, LABEL_SIZE, true);
    const double width = lines_width(lines, &count), height = LABEL_LINE * (double)count;
    struct name_place place = { .found = false };
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

bool print_marks(struct drawing *drawing)
{
    const struct picture *picture = drawing->picture;
    struct buffer *out = drawing->canvas->out;
    bool placed = true;
    for (size_t i = 0; i < picture->mark_count; i++)
        if (box_has(drawing->frame, spot_of(drawing, picture->marks[i].x, picture->marks[i].y)))
            keep_clear(drawing, spot_of(drawing, picture->marks[i].x, picture->marks[i].y), 6);
    if (picture->has_here)
        keep_clear(drawing, spot_of(drawing, picture->here.x, picture->here.y), 7);
    for (size_t i = 0; i < picture->mark_count; i++) {
        const struct picture_mark *mark = &picture->marks[i];
        const struct spot at = spot_of(drawing, mark->x, mark->y);
        if (!box_has(drawing->frame, at))
            continue;
        mark_begin(drawing, "mark", mark);
        svg_circle(out, at.x, at.y, 5.5, "paper");
        buffer_print(out, "/>");
        svg_ring(out, at, 5.5, mark->sets ? "hand" : "ink");
        placed = print_mark_name(drawing, mark, at, mark->sets ? "hand halo" : "ink halo") && placed;
        buffer_print(out, "</g>\n");
    }
    return placed;
}

/* Print where the reader stands: a disc, and a line down to its value. */
bool print_here(struct drawing *drawing)
{
    const struct picture_mark *here = &drawing->picture->here;
    struct buffer *out = drawing->canvas->out;
    if (!drawing->picture->has_here)
        return true;
    const struct spot at = spot_of(drawing, here->x, here->y);
    if (!box_has(drawing->frame, at))
        return true;
    mark_begin(drawing, "here", here);
    svg_line(drawing->canvas, at.x, at.y, at.x, drawing->frame.bottom,
             "class=\"hand\" stroke=\"currentColor\" stroke-width=\"1.2\"");
    svg_circle(out, at.x, at.y, 6, "hand");
    buffer_print(out, "/>\n");
    const bool placed = print_mark_name(drawing, here, at, "hand halo strong");
    buffer_print(out, "</g>\n");
    return placed;
}

/* Print the names of areas, at the top of each or near it. */
bool print_area_names(struct drawing *drawing)
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
        const char **lines = picture_text_lines(drawing->canvas->arena, area->name, fmax(110, wide - 8),
                                                LABEL_SIZE, true);
        const double width = lines_width(lines, &count), height = LABEL_LINE * (double)count;
        struct name_place place = { .found = false };
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

/* Print what the symbols of points mean, in the emptiest corner. */
bool print_key(struct drawing *drawing)
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
    struct name_place place = { .found = false };
    if (!rows)
        return true;
    const double left = frame.left + INSET, right = frame.right - INSET - width, top = frame.top + INSET / 2,
                 bottom = frame.bottom - INSET - height;
    consider(drawing, &place, left, bottom, width, height);
    consider(drawing, &place, right, top, width, height);
    consider(drawing, &place, left, top, width, height);
    consider(drawing, &place, right, bottom, width, height);
    if (!place.found)
        consider_anywhere(drawing, &place, (struct spot){ left + width / 2, bottom + height / 2 }, width,
                          height);
    if (!place.found)
        return false;
    double y = place.box.top + ROW / 2.0;
    for (unsigned i = 0; i < 2; i++)
        if (shown[i]) {
            svg_symbol(drawing->canvas->out, (struct spot){ place.box.left + 5, y }, i, i ? 4 : 3.8);
            buffer_print(drawing->canvas->out, "/>\n");
            svg_text(drawing->canvas, place.box.left + SYMBOL, y + 4.5, 's', "soft halo", names[i],
                     LABEL_SIZE, false);
            y += ROW;
        }
    return true;
}

/* ---- names of lines ------------------------------------------------------------------------------- */

/* Print the name of a line at the right side, with a hairline to the line where it was moved far. */
static void print_right_name(struct drawing *drawing, size_t index)
{
    const struct picture_label *label = &drawing->labels[index];
    const struct picture_trace *trace = &drawing->traces[index];
    const struct spot end = trace->spots[trace->count - 1];
    const struct picture_line *line = &drawing->picture->lines[index];
    const double x = drawing->frame.right + 9, middle = label->top + LABEL_LINE * (double)label->count / 2;
    if (fabs(middle - end.y) > 6 || end.x < drawing->frame.right - 3)
        svg_line(drawing->canvas, end.x + 1, end.y, x - 2, middle,
                 arena_print(drawing->canvas->arena, "class=\"%s\" stroke=\"currentColor\" "
                             "stroke-width=\".7\" stroke-opacity=\".6\"", line_colour(line)));
    print_lines_of(drawing, label->lines, x, label->top, 's',
                   arena_print(drawing->canvas->arena, "%s name%s", line_colour(line),
                               line->role == PICTURE_MAXIMUM ? " strong" : ""));
}

/* Print the name of a line along it, at the last place that is free. */
static bool print_inner_name(struct drawing *drawing, size_t index)
{
    static const double shares[] = { 1, .9, .75, .6, .45, .3, .15, 0 };
    const struct picture_label *label = &drawing->labels[index];
    const struct picture_trace *trace = &drawing->traces[index];
    const double height = LABEL_LINE * (double)label->count;
    struct name_place place = { .found = false };
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
                   arena_print(drawing->canvas->arena, "%s name halo%s", line_colour(line),
                               line->role == PICTURE_MAXIMUM ? " strong" : ""));
    return true;
}

bool print_names(struct drawing *drawing)
{
    bool placed = true;
    for (size_t i = 0; i < drawing->picture->line_count; i++)
        if (drawing->labels[i].right)
            print_right_name(drawing, i);
    for (size_t i = 0; i < drawing->picture->line_count; i++) {
        struct picture_label *label = &drawing->labels[i];
        if (label->right || !drawing->traces[i].count || !label->count || print_inner_name(drawing, i))
            continue;
        label->refused = true;
        placed = false;
    }
    return placed;
}
