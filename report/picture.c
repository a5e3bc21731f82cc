/* Pictures: how one is put together, its style, and what all frames have in common. */
#include "report/picture_parts.h"

#include <math.h>

const char *const picture_kind_names[PICTURE_KINDS] = {
    "result", "compute", "weights", "cache", "network", "host" };
const char *const picture_role_names[PICTURE_ROLES] = {
    "term", "bound", "predicted", "sum", "result" };

/* ---- building -------------------------------------------------------------------------------- */

static void blank(struct picture *picture, struct arena *arena, const char *title)
{
    *picture = (struct picture){ .arena = arena, .title = title, .columns = 1,
        .x = { "", "", false, false, NAN, NAN }, .y = { "", "", false, false, NAN, NAN } };
}

struct picture *picture_new(struct arena *arena, const char *title)
{
    struct picture *picture = arena_alloc(arena, sizeof *picture);
    blank(picture, arena, title);
    return picture;
}

#define PUSH(picture, list, count, room) \
    arena_push((picture)->arena, &(picture)->list, &(picture)->count, &(picture)->room, \
               sizeof *(picture)->list)

struct picture *picture_panel(struct picture *picture, const char *title)
{
    struct picture *panel = PUSH(picture, panels, panel_count, panel_room);
    blank(panel, picture->arena, title);
    return panel;
}

struct picture_line *picture_line_add(struct picture *picture, const char *name, enum picture_kind kind,
                                      enum picture_role role)
{
    struct picture_line *line = PUSH(picture, lines, line_count, line_room);
    *line = (struct picture_line){ .name = name, .kind = kind, .role = role };
    return line;
}

void picture_point_add(struct picture *picture, struct picture_line *line, double x, double y)
{
    struct picture_point *point = arena_push(picture->arena, &line->points, &line->count, &line->room,
                                             sizeof *point);
    *point = isfinite(x) && isfinite(y) ? (struct picture_point){ x, y }
                                        : (struct picture_point){ NAN, NAN };
}

void picture_band_add(struct picture *picture, struct picture_line *line, double x, double low, double high)
{
    struct picture_span *span = arena_push(picture->arena, &line->band, &line->band_count,
                                           &line->band_room, sizeof *span);
    *span = (struct picture_span){ x, low, high };
}

struct picture_bar *picture_bar_add(struct picture *picture, const char *name)
{
    struct picture_bar *bar = PUSH(picture, bars, bar_count, bar_room);
    *bar = (struct picture_bar){ .name = name, .from = NAN, .measured = NAN, .middle = NAN,
        .band = { NAN, NAN }, .range = { NAN, NAN }, .inner = { NAN, NAN }, .prior = { NAN, NAN } };
    return bar;
}

struct picture_part *picture_part_add(struct picture *picture, struct picture_bar *bar,
                                      enum picture_kind kind, double value)
{
    struct picture_part *part = arena_push(picture->arena, &bar->parts, &bar->count, &bar->room,
                                           sizeof *part);
    *part = (struct picture_part){ .kind = kind, .value = value };
    return part;
}

struct picture_dot *picture_dot_add(struct picture *picture, double x, double y)
{
    struct picture_dot *dot = PUSH(picture, dots, dot_count, dot_room);
    *dot = (struct picture_dot){ .x = x, .y = y, .what = "", .source = "", .date = "" };
    return dot;
}

struct picture_mark *picture_mark_add(struct picture *picture, const char *name, double x, double y)
{
    struct picture_mark *mark = PUSH(picture, marks, mark_count, mark_room);
    *mark = (struct picture_mark){ .name = name, .x = x, .y = y };
    return mark;
}

struct picture_area *picture_area_add(struct picture *picture, const char *name)
{
    struct picture_area *area = PUSH(picture, areas, area_count, area_room);
    *area = (struct picture_area){ .name = name, .from = NAN, .to = NAN };
    return area;
}

/* ---- style ----------------------------------------------------------------------------------- */

static const struct { const char *name, *light, *dark; } palette[] = {
    { "paper", "#fcfbf8", "#16191b" }, { "ink", "#1d1c1a", "#ecebe6" }, { "soft", "#5f5b54", "#a6a59d" },
    { "rule", "#e0dbd0", "#33383b" }, { "grid", "#ece8df", "#24292c" }, { "hand", "#96301a", "#ff7a4a" },
    { "compute", "#0b6bc7", "#6c9cfa" }, { "weights", "#946600", "#f0b429" },
    { "cache", "#1b7760", "#25c495" }, { "network", "#72258b", "#e3a6ea" },
    { "host", "#6b665f", "#aaa59d" } };
enum { COLOURS = sizeof palette / sizeof *palette };

static const char *value_of(size_t colour, bool dark)
{
    return dark ? palette[colour].dark : palette[colour].light;
}

/* The colours as properties, for what this selector finds. */
static void print_properties(struct buffer *out, const char *selector, bool dark)
{
    buffer_print(out, "%s{", selector);
    for (size_t i = 0; i < COLOURS; i++)
        buffer_print(out, "%s--%s:%s", i ? ";" : "", palette[i].name, value_of(i, dark));
    buffer_print(out, "}");
}

/* A class for each colour. Readers of SVG that know no properties keep the first of the two. */
static void print_classes(struct buffer *out, bool dark, bool properties)
{
    for (size_t i = 0; i < COLOURS; i++) {
        const char *value = value_of(i, dark);
        buffer_print(out, ".chart .%s{color:%s", palette[i].name, value);
        if (properties)
            buffer_print(out, ";color:var(--%s,%s)", palette[i].name, value);
        buffer_print(out, "}");
    }
    buffer_print(out, ".chart .strong{font-weight:600}.chart .halo{paint-order:stroke;stroke:%s;",
                 value_of(0, dark));
    if (properties)
        buffer_print(out, "stroke:var(--paper,%s);", value_of(0, dark));
    buffer_print(out, "stroke-width:3px;stroke-linejoin:round}.chart .title{font-size:15.5px;font-weight:600}"
                 ".chart .panel{font-size:13.5px;font-weight:600}.chart .over{color:#fff}");
}

void picture_style(struct buffer *out, enum picture_theme theme)
{
    const bool dark = theme == PICTURE_DARK;
    if (theme == PICTURE_PAGE) {
        print_properties(out, ":root", false);
        buffer_print(out, "@media (prefers-color-scheme:dark){");
        print_properties(out, ":root:not([data-theme=light])", true);
        buffer_print(out, "}");
        print_properties(out, ":root[data-theme=dark]", true);
        buffer_print(out, "@media print{");
        print_properties(out, ":root,:root[data-theme]", false);
        buffer_print(out, "}@media (forced-colors:active){.chart path,.chart text{color:CanvasText}"
                     ".chart .hand{color:Highlight}}");
    } else if (theme == PICTURE_AUTO) {
        print_properties(out, ".chart", false);
        buffer_print(out, "@media (prefers-color-scheme:dark){");
        print_properties(out, ".chart", true);
        buffer_print(out, "}@media print{");
        print_properties(out, ".chart", false);
        buffer_print(out, "}");
    }
    print_classes(out, dark, theme == PICTURE_PAGE || theme == PICTURE_AUTO);
}

/* ---- texts and their boxes ---------------------------------------------------------------------- */

void boxes_add(struct boxes *boxes, struct box box)
{
    *(struct box *)arena_push(boxes->arena, &boxes->list, &boxes->count, &boxes->room, sizeof box) = box;
}

static bool boxes_meet(struct box a, struct box b)
{
    return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

bool boxes_free(const struct boxes *boxes, struct box box, struct box inside)
{
    if (box.left < inside.left || box.right > inside.right || box.top < inside.top ||
        box.bottom > inside.bottom)
        return false;
    for (size_t i = 0; i < boxes->count; i++)
        if (boxes_meet(box, boxes->list[i]))
            return false;
    return true;
}

struct box text_box(double x, double y, char anchor, const char *text, double size, bool bold)
{
    const double width = picture_text_width(text, size, bold), ascent = 0.95, descent = 0.26;
    const double left = anchor == 's' ? x : anchor == 'e' ? x - width : x - width / 2;
    return (struct box){ left, y - ascent * size, left + width, y + descent * size };
}

void svg_text(struct canvas *canvas, double x, double y, char anchor, const char *class, const char *text,
              double size, bool bold)
{
    struct buffer *out = canvas->out;
    buffer_print(out, "<text x=\"");
    svg_coordinate(out, x);
    buffer_print(out, "\" y=\"");
    svg_coordinate(out, y);
    buffer_print(out, "\"%s class=\"%s\">", anchor == 'e' ? " text-anchor=\"end\""
                                           : anchor == 'm' ? " text-anchor=\"middle\"" : "", class);
    svg_text_add(out, text);
    buffer_print(out, "</text>\n");
    boxes_add(&canvas->boxes, text_box(x, y, anchor, text, size, bold));
}

void svg_line(struct canvas *canvas, double x1, double y1, double x2, double y2, const char *rest)
{
    buffer_print(canvas->out, "<path d=\"");
    svg_spot(canvas->out, "M", x1, y1);
    svg_spot(canvas->out, "L", x2, y2);
    buffer_print(canvas->out, "\" %s/>\n", rest);
}

/* ---- what stands around a frame ------------------------------------------------------------------- */

const char *axis_words(struct arena *arena, const struct picture_axis *axis)
{
    if (!*axis->unit || (axis->time && axis->log))
        return axis->name;
    return *axis->name ? arena_print(arena, "%s (%s)", axis->name, axis->unit) : axis->unit;
}

double svg_head(struct canvas *canvas, const struct picture *picture, const char *above)
{
    const double size = canvas->panel ? PANEL_SIZE : TITLE_SIZE;
    double y = canvas->top;
    const char **lines = picture_text_lines(canvas->arena, picture->title, canvas->width, size, true);
    for (size_t i = 0; lines[i]; i++, y += TITLE_LINE)
        svg_text(canvas, canvas->left, y + 16, 's', canvas->panel ? "ink panel" : "ink title", lines[i], size,
                 true);
    if (!above)
        return y + GAP;
    y += lines[0] ? 4 : 0;
    lines = picture_text_lines(canvas->arena, above, canvas->width, LABEL_SIZE, false);
    for (size_t i = 0; lines[i]; i++, y += LABEL_LINE)
        svg_text(canvas, canvas->left, y + 13, 's', "soft", lines[i], LABEL_SIZE, false);
    return y + GAP;
}

static void frame_axis(struct buffer *out, char letter, const struct scale *scale)
{
    buffer_print(out, " data-%c=\"", letter);
    buffer_number(out, scale->from);
    buffer_print(out, " ");
    buffer_number(out, scale->to);
    buffer_print(out, " %s\"", scale->log ? "log" : "linear");
}

void svg_frame(struct canvas *canvas, struct box frame, const struct scale *x, const struct scale *y)
{
    const double at[] = { frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top };
    buffer_print(canvas->out, "<g class=\"frame\" data-box=\"");
    for (int i = 0; i < 4; i++) {
        buffer_print(canvas->out, "%s", i ? " " : "");
        svg_coordinate(canvas->out, at[i]);
    }
    buffer_print(canvas->out, "\"");
    frame_axis(canvas->out, 'x', x);
    if (y)
        frame_axis(canvas->out, 'y', y);
    buffer_print(canvas->out, ">\n");
}

double svg_below(struct canvas *canvas, const struct picture_axis *axis, const struct scale *x,
                 struct box frame)
{
    enum { TICK = 5, LABEL = 19, ROOM_FOR_A_WORD = 76 };
    for (size_t i = 0; i < x->count; i++) {
        const double at = scale_at(x, x->ticks[i].at);
        svg_line(canvas, at, frame.bottom, at, frame.bottom + TICK, "class=\"soft\" stroke=\"currentColor\"");
        svg_text(canvas, at, frame.bottom + LABEL, 'm', "soft", x->ticks[i].name, LABEL_SIZE, false);
    }
    double y = frame.bottom + LABEL + 4;
    const double right = canvas->left + canvas->width;
    const double end = fmin(right, fmax(frame.right, canvas->left + canvas->width / 2));
    const char **lines = picture_text_lines(canvas->arena, axis_words(canvas->arena, axis),
                                            fmax(72, end - canvas->left - ROOM_FOR_A_WORD), LABEL_SIZE,
                                                false);
    for (size_t i = 0; lines[i]; i++, y += LABEL_LINE)
        svg_text(canvas, end, y + 13, 'e', "soft", lines[i], LABEL_SIZE, false);
    return y + 6;
}

/* ---- the whole ------------------------------------------------------------------------------------ */

static double draw_one(struct canvas *canvas, const struct picture *picture)
{
    return picture->bar_count ? picture_draw_bars(canvas, picture) : picture_draw_lines(canvas, picture);
}

/* Panels in rows, each as high as its highest. */
static double draw_panels(struct canvas *canvas, const struct picture *picture, double least)
{
    enum { BETWEEN = 28, NARROWEST = 200 };
    size_t columns = picture->columns ? picture->columns : 1;
    while (columns > 1 && (canvas->width - BETWEEN * (double)(columns - 1)) / (double)columns < NARROWEST)
        columns--;
    const size_t rows = (picture->panel_count + columns - 1) / columns;
    const double width = (canvas->width - BETWEEN * (double)(columns - 1)) / (double)columns;
    double y = canvas->top, high = 0;
    if (*picture->title)
        y = svg_head(canvas, picture, NULL);
    const double each = least > 0 ? (least - (y - canvas->top)) / (double)rows - BETWEEN / 2.0 : 0;
    for (size_t i = 0; i < picture->panel_count; i++) {
        struct canvas panel = *canvas;
        panel.panel = true;
        panel.left = canvas->left + (double)(i % columns) * (width + BETWEEN);
        panel.top = y;
        panel.width = width;
        panel.height = each > 0 ? each : 0;
        panel.boxes.count = panel.boxes.room = 0;
        panel.boxes.list = NULL;
        high = fmax(high, draw_one(&panel, &picture->panels[i]));
        if ((i + 1) % columns == 0 && i + 1 < picture->panel_count)
            y += high + BETWEEN / 2.0, high = 0;
    }
    return y + high - canvas->top;
}

static void print_root(struct buffer *out, const struct picture *picture, double width, double height,
                       enum picture_theme theme)
{
    buffer_print(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" width=\"");
    svg_coordinate(out, width);
    buffer_print(out, "\" height=\"");
    svg_coordinate(out, height);
    buffer_print(out, "\" viewBox=\"0 0 ");
    svg_coordinate(out, width);
    buffer_print(out, " ");
    svg_coordinate(out, height);
    buffer_print(out, "\" font-family=\"Inter,ui-sans-serif,system-ui,sans-serif\" font-size=\"12.5\""
                 " fill=\"currentColor\">\n<title>");
    svg_text_add(out, picture->title);
    buffer_print(out, "</title>\n");
    if (theme == PICTURE_PAGE)
        return;
    buffer_print(out, "<style>");
    picture_style(out, theme);
    buffer_print(out, "</style>\n<path class=\"paper\" d=\"M0 0H");
    svg_coordinate(out, width);
    buffer_print(out, "V");
    svg_coordinate(out, height);
    buffer_print(out, "H0Z\"/>\n");
}

void picture_svg(struct buffer *out, const struct picture *picture, double width, double height,
                 enum picture_theme theme)
{
    enum { NARROWEST = 200, WIDEST = 10000, MARGIN = 12 };
    const double edge = theme == PICTURE_PAGE ? 0 : MARGIN;
    struct arena scratch = arena_beside(out->arena);
    struct buffer body = { .arena = &scratch };
    width = fmax(NARROWEST, fmin(width, WIDEST));
    struct canvas canvas = { .arena = &scratch, .out = &body, .left = edge, .top = edge,
                             .width = width - 2 * edge, .height = fmin(height, WIDEST) - 2 * edge,
                             .boxes = { .arena = &scratch } };
    if (!(canvas.height > 0))
        canvas.height = 0;
    buffer_add(&body, "", 0);
    const double used = picture->panel_count ? draw_panels(&canvas, picture, canvas.height)
                                             : draw_one(&canvas, picture);
    print_root(out, picture, width, ceil(used + 2 * edge), theme);
    buffer_add(out, body.data, body.size);
    buffer_print(out, "</svg>\n");
    arena_free(&scratch);
}
