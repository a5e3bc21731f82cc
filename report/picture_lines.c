/* Pictures of lines: where the frame stands, and which name goes where.
 *
 *     values -> ranges -> frame -> traces (lines in pixels, cut at the frame) -> names -> SVG
 *
 * A line that reaches the right side has its name there, moved apart from the others; any other has it at
 * the first place along itself that meets no text, mark or point, with the fewest lines across. Where a
 * name finds no place it goes to the right side too, and where the names there or those of the marks have
 * no room, the frame grows. */
#include "report/picture_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 24, GROWTH = 40, LABEL_GAP = 9 };

/* ---- ranges ------------------------------------------------------------------------------------ */

struct axis_extent { double low, high; };

static void reach(struct axis_extent *extent, double value, bool log)
{
    if (isnan(value) || (log && !(value > 0)))
        return;
    extent->low = fmin(extent->low, value);
    extent->high = fmax(extent->high, value);
}

static void choose_ranges(struct drawing *drawing)
{
    const struct picture *picture = drawing->picture;
    const bool xl = picture->x.log, yl = picture->y.log;
    struct axis_extent x = { INFINITY, -INFINITY }, y = x;
    for (size_t i = 0; i < picture->line_count; i++) {
        const struct picture_line *line = &picture->lines[i];
        for (size_t k = 0; k < line->count; k++)
            reach(&x, line->points[k].x, xl), reach(&y, line->points[k].y, yl);
        for (size_t k = 0; k < line->band_count; k++) {
            reach(&x, line->band[k].x, xl);
            reach(&y, line->band[k].low, yl), reach(&y, line->band[k].high, yl);
        }
    }
    for (size_t i = 0; i < picture->dot_count; i++)
        reach(&x, picture->dots[i].x, xl), reach(&y, picture->dots[i].y, yl);
    for (size_t i = 0; i < picture->mark_count; i++)
        reach(&x, picture->marks[i].x, xl), reach(&y, picture->marks[i].y, yl);
    if (picture->has_here)
        reach(&x, picture->here.x, xl), reach(&y, picture->here.y, yl);
    scale_range(&drawing->x, &picture->x, x.low, x.high);
    scale_range(&drawing->y, &picture->y, y.low, y.high);
}

/* ---- traces -------------------------------------------------------------------------------------- */

bool segment_clip(struct box box, struct spot *a, struct spot *b)
{
    const double dx = b->x - a->x, dy = b->y - a->y;
    const double p[] = { -dx, dx, -dy, dy };
    const double q[] = { a->x - box.left, box.right - a->x, a->y - box.top, box.bottom - a->y };
    double from = 0, to = 1;
    for (int i = 0; i < 4; i++) {
        if (p[i] == 0) {
            if (q[i] < 0)
                return false;
            continue;
        }
        const double t = q[i] / p[i];
        if (p[i] < 0)
            from = fmax(from, t);
        else
            to = fmin(to, t);
    }
    if (from > to)
        return false;
    const struct spot start = *a;
    if (from > 0)
        *a = (struct spot){ start.x + from * dx, start.y + from * dy };
    if (to < 1)
        *b = (struct spot){ start.x + to * dx, start.y + to * dy };
    return true;
}

static void trace_spot(struct drawing *drawing, struct picture_trace *trace, struct spot spot)
{
    *(struct spot *)arena_push(drawing->canvas->arena, &trace->spots, &trace->count, &trace->room,
                               sizeof spot) = spot;
}

struct spot spot_of(const struct drawing *drawing, double x, double y)
{
    return (struct spot){ scale_at(&drawing->x, x), scale_at(&drawing->y, y) };
}

/* The line in pixels, cut at the frame; gaps are spots that are NAN. */
static void make_trace(struct drawing *drawing, size_t index)
{
    static const struct spot gap = { NAN, NAN };
    const struct picture_line *line = &drawing->picture->lines[index];
    struct picture_trace *trace = &drawing->traces[index];
    struct spot before = gap;
    *trace = (struct picture_trace){ 0 };
    for (size_t k = 0; k < line->count; k++) {
        const struct spot here = isnan(line->points[k].x) ? gap
                               : spot_of(drawing, line->points[k].x, line->points[k].y);
        struct spot a = isnan(before.x) ? here : before, b = here;
        const bool alone = isnan(before.x) && (k + 1 == line->count || isnan(line->points[k + 1].x));
        if (!isnan(here.x) && (!isnan(before.x) || alone) && segment_clip(drawing->frame, &a, &b)) {
            const struct spot *last = trace->count ? &trace->spots[trace->count - 1] : NULL;
            if (!last || fabs(last->x - a.x) + fabs(last->y - a.y) > 1e-6) {
                if (last)
                    trace_spot(drawing, trace, gap);
                trace_spot(drawing, trace, a);
            }
            trace_spot(drawing, trace, b);
        }
        before = here;
    }
}

/* ---- layout -------------------------------------------------------------------------------------- */

/* The name of a line; a single line needs none where the axis already says it. */
static const char *name_of(const struct picture *picture, size_t index)
{
    const char *name = picture->lines[index].name;
    return picture->line_count == 1 && !strcmp(name, picture->y.name) ? "" : name;
}

/* The largest share of the width that names at the right may take, px. */
static double most_right(const struct drawing *drawing)
{
    return fmax(48, drawing->canvas->width * 0.3 - LABEL_GAP);
}

static void break_names(struct drawing *drawing)
{
    const struct picture *picture = drawing->picture;
    for (size_t i = 0; i < picture->line_count; i++) {
        struct picture_label *label = &drawing->labels[i];
        label->lines = picture_text_lines(drawing->canvas->arena, name_of(picture, i),
                                          most_right(drawing), LABEL_SIZE, true);
        for (label->count = 0; label->lines[label->count]; label->count++)
            label->width = fmax(label->width, picture_text_width(label->lines[label->count], LABEL_SIZE,
                                                                 true));
    }
}

/* The room right of the frame: names, and half of the last label of x. */
static double right_margin(const struct drawing *drawing)
{
    double margin = 0;
    for (size_t i = 0; i < drawing->picture->line_count; i++)
        if (drawing->labels[i].right)
            margin = fmax(margin, drawing->labels[i].width + LABEL_GAP + 2);
    return margin;
}

static double widest(const struct scale *scale)
{
    double width = 0;
    for (size_t i = 0; i < scale->count; i++)
        width = fmax(width, picture_text_width(scale->ticks[i].name, LABEL_SIZE, false));
    return width;
}

static double natural_height(const struct canvas *canvas)
{
    return canvas->panel ? fmax(115, fmin(240, canvas->width * 0.34))
        : fmax(150, fmin(330, canvas->width * 0.46));
}

/* Make the frame and the labels of both axes, given the names placed so far. */
static void make_frame(struct drawing *drawing, double top, double extra)
{
    struct canvas *canvas = drawing->canvas;
    const struct picture *picture = drawing->picture;
    struct box *frame = &drawing->frame;
    const double right = canvas->left + canvas->width, below = 45, least = 110;
    double high = canvas->height > 0 ? canvas->height - (top - canvas->top) - below : natural_height(canvas);
    frame->top = top;
    frame->bottom = top + fmax(least, high) + extra;
    scale_ticks(&drawing->y, &picture->y, canvas->arena, frame->bottom, frame->top, true);
    frame->left = canvas->left + widest(&drawing->y) + GAP;
    frame->right = fmax(frame->left + 40, right - right_margin(drawing));
    scale_ticks(&drawing->x, &picture->x, canvas->arena, frame->left, frame->right, false);
    frame->left = fmax(frame->left, canvas->left + scale_overhang(&drawing->x, frame->left));
    frame->right = fmin(frame->right, right - scale_overhang(&drawing->x, frame->right));
    scale_ticks(&drawing->x, &picture->x, canvas->arena, frame->left, frame->right, false);
}

static bool at_right_side(const struct drawing *drawing, const struct picture_trace *trace)
{
    return trace->count && trace->spots[trace->count - 1].x > drawing->frame.right - 3;
}

struct wanted { size_t index; double y, height; };

static int by_height(const void *a, const void *b)
{
    const struct wanted *one = a, *two = b;
    if (one->y != two->y)
        return one->y < two->y ? -1 : 1;
    return one->index < two->index ? -1 : 1;
}

/* Names at the right side, pushed down from each other and up from the foot of the frame. Returns the
 * height that they lack. */
static double push_apart(struct drawing *drawing)
{
    const size_t count = drawing->picture->line_count;
    struct wanted *all = arena_array(drawing->canvas->arena, count + 1, sizeof *all);
    const double top = drawing->frame.top - 4, bottom = drawing->frame.bottom + 4;
    size_t used = 0;
    double total = 0;
    for (size_t i = 0; i < count; i++)
        if (drawing->labels[i].right) {
            const struct picture_trace *trace = &drawing->traces[i];
            all[used++] = (struct wanted){ i, trace->spots[trace->count - 1].y,
                                           LABEL_LINE * (double)drawing->labels[i].count + 1 };
            total += all[used - 1].height;
        }
    if (total > bottom - top)
        return total - (bottom - top);
    qsort(all, used, sizeof *all, by_height);
    double from = top;
    for (size_t i = 0; i < used; i++) {
        double at = fmax(from, all[i].y - all[i].height / 2);
        drawing->labels[all[i].index].top = at;
        from = at + all[i].height;
    }
    double until = bottom;
    for (size_t i = used; i-- > 0;) {
        struct picture_label *label = &drawing->labels[all[i].index];
        label->top = fmin(label->top, until - all[i].height);
        until = label->top;
    }
    return 0;
}

/* Try a layout once; returns the height that it lacks. */
static double try_layout(struct drawing *drawing, double top, double extra)
{
    const struct picture *picture = drawing->picture;
    make_frame(drawing, top, extra);
    for (size_t i = 0; i < picture->line_count; i++)
        make_trace(drawing, i);
    bool moved = false;
    for (size_t i = 0; i < picture->line_count; i++) {
        struct picture_label *label = &drawing->labels[i];
        const bool right = drawing->traces[i].count && label->count &&
                           (label->refused || at_right_side(drawing, &drawing->traces[i]));
        moved |= right != label->right;
        label->right = right;
    }
    if (moved) {
        make_frame(drawing, top, extra);
        for (size_t i = 0; i < picture->line_count; i++)
            make_trace(drawing, i);
    }
    return push_apart(drawing);
}

double picture_draw_lines(struct canvas *canvas, const struct picture *picture)
{
    struct drawing drawing = { .canvas = canvas, .picture = picture };
    const size_t count = picture->line_count + 1, written = canvas->out->size, placed = canvas->boxes.count;
    double extra = 0;
    drawing.labels = arena_array(canvas->arena, count, sizeof *drawing.labels);
    drawing.traces = arena_array(canvas->arena, count, sizeof *drawing.traces);
    choose_ranges(&drawing);
    break_names(&drawing);
    for (int tries = 0; tries < TRIES; tries++) {
        bool grow = false;
        canvas->out->size = written;
        canvas->boxes.count = placed;
        const double top = svg_head(canvas, picture, axis_words(canvas->arena, &picture->y));
        const double lacking = try_layout(&drawing, top, extra);
        if (!(lacking > 0) && drawing_print(&drawing, &grow))
            break;
        extra += lacking > 0 ? lacking + 1 : grow ? GROWTH : 0;
    }
    return drawing.bottom - canvas->top;
}
