/* Pictures of bars and of intervals: a name, what it is made of, and its value at the end.
 *
 *     reads   |###|
 *     bound   |---|
 *     links       |////|          beyond the bound: hatched
 *     total   |########+---|      with its interval
 *
 * The axis is below; names stand left of it, or above each bar where there is no room. */
#include "report/picture_parts.h"

#include <math.h>
#include <string.h>

enum { THICK = 15, THIN = 4, ROW = 27, ROW_MOST = 38, WHISKER = 5, PLOT_LEAST = 120 };
static const double names_share = 0.36, texts_share = 0.28;    /* of the width, at most */

struct bar_row {
    double from, to;                /* value */
    double top, middle, height;     /* px */
    const char **names, **texts;    /* left of it, at its end: broken into lines */
    size_t name_lines, text_lines;
};

struct chart {
    struct canvas *canvas;
    const struct picture *picture;
    struct scale x;
    struct box frame;
    struct bar_row *rows;
    bool above;                     /* names stand above their bars */
    double name_width, text_width;
};

static double sum_of(const struct picture_bar *bar)
{
    double sum = 0;
    for (size_t i = 0; i < bar->count; i++)
        sum += bar->parts[i].value;
    return sum;
}

static bool has_range(struct picture_range range)
{
    return !isnan(range.low);
}

static void reach(double *low, double *high, double value)
{
    if (isnan(value))
        return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

/* Choose where each bar begins and ends, and the range that holds all of them. */
static void choose_range(struct chart *chart)
{
    const struct picture *picture = chart->picture;
    double low = INFINITY, high = -INFINITY, end = 0;
    for (size_t i = 0; i < picture->bar_count; i++) {
        const struct picture_bar *bar = &picture->bars[i];
        struct bar_row *row = &chart->rows[i];
        row->from = !isnan(bar->from) ? bar->from : bar->total ? 0 : end;
        row->to = row->from + sum_of(bar);
        if (bar->count) {
            end = row->to;
            reach(&low, &high, row->to);
            if (!picture->x.log || row->from > 0)
                reach(&low, &high, row->from);
            double at = row->from;
            for (size_t k = 0; k < bar->count; k++)
                reach(&low, &high, at += bar->parts[k].value);
        }
        const double more[] = { bar->band.low, bar->band.high, bar->measured, bar->range.low,
                                bar->range.high, bar->inner.low, bar->inner.high, bar->prior.low,
                                bar->prior.high, bar->middle };
        for (size_t k = 0; k < sizeof more / sizeof *more; k++)
            reach(&low, &high, more[k]);
    }
    scale_range(&chart->x, &picture->x, low, high);
}

static const char *end_text(struct chart *chart, size_t index)
{
    const struct picture_bar *bar = &chart->picture->bars[index];
    if (bar->text)
        return bar->text;
    if (!bar->count)
        return isnan(bar->middle) ? isnan(bar->measured) ? ""
                                  : picture_number(chart->canvas->arena, bar->measured)
                                  : picture_number(chart->canvas->arena, bar->middle);
    return picture_number(chart->canvas->arena, sum_of(bar));
}

static double lines_of(struct canvas *canvas, const char *text, double most, const char ***lines,
                       size_t *count)
{
    double width = 0;
    *lines = picture_text_lines(canvas->arena, text, most, LABEL_SIZE, true);
    for (*count = 0; (*lines)[*count]; ++*count)
        width = fmax(width, picture_text_width((*lines)[*count], LABEL_SIZE, true) + 1);
    return width;
}

static bool strong(const struct picture_bar *bar)
{
    return bar->total || (!bar->count && !isnan(bar->measured));
}

/* Break names and texts into lines that fit the room there is. */
static void break_texts(struct chart *chart)
{
    const struct picture *picture = chart->picture;
    struct canvas *canvas = chart->canvas;
    for (size_t i = 0; i < picture->bar_count; i++) {
        struct bar_row *row = &chart->rows[i];
        chart->text_width = fmax(chart->text_width,
                                 lines_of(canvas, end_text(chart, i), fmax(70, canvas->width * texts_share),
                                          &row->texts, &row->text_lines));
        chart->name_width = fmax(chart->name_width,
                                 lines_of(canvas, picture->bars[i].name,
                                          fmax(100, canvas->width * names_share),
                                          &row->names, &row->name_lines));
    }
    chart->above = canvas->width - chart->name_width - chart->text_width - 2 * GAP < PLOT_LEAST;
    for (size_t i = 0; i < picture->bar_count && chart->above; i++)
        lines_of(canvas, picture->bars[i].name, canvas->width - 2, &chart->rows[i].names,
                 &chart->rows[i].name_lines);
}

/* Give each row its natural height and a share of what height is left over. */
static double place_rows(struct chart *chart, double top)
{
    const struct picture *picture = chart->picture;
    const struct canvas *canvas = chart->canvas;
    double y = top, each = ROW;
    if (canvas->height > 0 && picture->bar_count)
        each = fmin(ROW_MOST, fmax(ROW, (canvas->height - (top - canvas->top) - 50) /
                                        (double)picture->bar_count));
    for (size_t i = 0; i < picture->bar_count; i++) {
        struct bar_row *row = &chart->rows[i];
        const double names = LABEL_LINE * (double)row->name_lines;
        const double bar = fmax(each, LABEL_LINE * (double)row->text_lines + 6);
        row->top = y;
        row->height = chart->above ? names + bar : fmax(bar, names + 6);
        row->middle = y + row->height - (chart->above ? bar : row->height) / 2;
        y += row->height;
    }
    return y;
}

/* ---- drawing ----------------------------------------------------------------------------------- */

static const char *colour_of(const struct picture_part *part)
{
    return part->kind == PICTURE_RESULT ? "ink" : picture_kind_names[part->kind];
}

static void rectangle(struct buffer *out, double left, double top, double right, double bottom,
                      const char *rest)
{
    buffer_print(out, "<rect x=\"");
    svg_coordinate(out, left);
    buffer_print(out, "\" y=\"");
    svg_coordinate(out, top);
    buffer_print(out, "\" width=\"");
    svg_coordinate(out, fmax(0, right - left));
    buffer_print(out, "\" height=\"");
    svg_coordinate(out, bottom - top);
    buffer_print(out, "\" %s", rest);
}

/* Strokes at 45 degrees inside of a rectangle. */
static void hatch(struct buffer *out, double left, double top, double right, double bottom,
                  const char *class)
{
    enum { APART = 5 };
    const double high = bottom - top;
    bool any = false;
    for (double at = left + APART; at < right + high; at += APART) {
        const double x1 = fmax(left, at - high), x2 = fmin(right, at);
        if (x2 <= x1)
            continue;
        buffer_print(out, "%s", any ? "M" : "<path d=\"M");
        svg_coordinate(out, x1);
        buffer_print(out, " ");
        svg_coordinate(out, top + (at - x1));
        buffer_print(out, "L");
        svg_coordinate(out, x2);
        buffer_print(out, " ");
        svg_coordinate(out, top + (at - x2));
        any = true;
    }
    if (any)
        buffer_print(out, "\" class=\"%s\" stroke=\"currentColor\" stroke-width=\"1.6\" fill=\"none\"/>\n",
                     class);
}

static void print_part(struct chart *chart, const struct picture_bar *bar, const struct bar_row *row,
                       const struct picture_part *part, double from)
{
    struct buffer *out = chart->canvas->out;
    struct arena *arena = chart->canvas->arena;
    const struct box frame = chart->frame;
    const double a = from > 0 || !chart->x.log ? scale_at(&chart->x, from) : frame.left;
    const double b = scale_at(&chart->x, from + part->value);
    const double left = fmax(frame.left, fmin(a, b)), right = fmin(frame.right, fmax(a, b));
    const double half = bar->thin ? THIN / 2.0 : THICK / 2.0;
    const char *class = colour_of(part);
    if (!(right >= left))
        return;
    rectangle(out, left, row->middle - half, fmax(right, left + 0.6), row->middle + half,
              arena_print(arena, part->beyond ? "class=\"%s\" fill=\"none\" stroke=\"currentColor\">"
                                              : "class=\"%s\">", class));
    buffer_print(out, "<title>");
    svg_text_add(out, arena_print(arena, "%s: %s %s", part->name ? part->name : bar->name,
                                  picture_number(arena, part->value), chart->picture->x.unit));
    buffer_print(out, "</title></rect>\n");
    if (part->beyond)
        hatch(out, left, row->middle - half, right, row->middle + half, class);
}

static void whiskers(struct chart *chart, const struct bar_row *row, struct picture_range band, double inside_to)
{
    const struct box frame = chart->frame;
    const double low = fmax(frame.left, scale_at(&chart->x, band.low));
    const double high = fmin(frame.right, scale_at(&chart->x, band.high));
    const double split = fmin(high, fmax(low, scale_at(&chart->x, inside_to)));
    /* light on the bar, dark beyond it */
    svg_line(chart->canvas, low, row->middle, split, row->middle, "class=\"paper\" stroke=\"currentColor\" "
             "stroke-width=\"1.5\"");
    svg_line(chart->canvas, low, row->middle - WHISKER, low, row->middle + WHISKER, low < split - 0.1
             ? "class=\"paper\" stroke=\"currentColor\" stroke-width=\"1.5\""
             : "class=\"ink\" stroke=\"currentColor\" stroke-width=\"1.5\"");
    svg_line(chart->canvas, split, row->middle, high, row->middle, "class=\"ink\" stroke=\"currentColor\" "
             "stroke-width=\"1.5\"");
    svg_line(chart->canvas, high, row->middle - WHISKER, high, row->middle + WHISKER,
             "class=\"ink\" stroke=\"currentColor\" stroke-width=\"1.5\"");
}

static void span(struct chart *chart, const struct bar_row *row, struct picture_range range, double half,
                 const char *rest)
{
    const struct box frame = chart->frame;
    if (!has_range(range))
        return;
    const double left = fmax(frame.left, scale_at(&chart->x, range.low));
    const double right = fmin(frame.right, scale_at(&chart->x, range.high));
    if (right >= left)
        rectangle(chart->canvas->out, left, row->middle - half, fmax(right, left + 1), row->middle + half,
                  rest);
}

/* An interval: what was thought before as a hairline, then 90 % and 50 %, and the middle. */
static void print_interval(struct chart *chart, const struct picture_bar *bar, const struct bar_row *row)
{
    span(chart, row, bar->prior, 0.75, "class=\"soft\" fill-opacity=\".8\"/>\n");
    span(chart, row, bar->range, 4, "class=\"ink\" fill-opacity=\".35\"/>\n");
    span(chart, row, bar->inner, 6.5, "class=\"ink\" fill-opacity=\".75\"/>\n");
    if (!isnan(bar->middle)) {
        const double x = scale_at(&chart->x, bar->middle);
        svg_line(chart->canvas, x, row->middle - 9, x, row->middle + 9,
                 "class=\"ink\" stroke=\"currentColor\" stroke-width=\"2.2\"");
    }
}

/* The right end of everything that a row shows, px. */
static double row_end(const struct chart *chart, const struct picture_bar *bar, const struct bar_row *row)
{
    double end = bar->count ? fmax(scale_at(&chart->x, row->to), scale_at(&chart->x, row->from))
                            : chart->frame.left;
    double at = row->from;
    for (size_t i = 0; i < bar->count; i++)
        end = fmax(end, scale_at(&chart->x, at += bar->parts[i].value));
    const double more[] = { bar->band.high, bar->range.high, bar->prior.high, bar->middle };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (!isnan(more[i]))
            end = fmax(end, scale_at(&chart->x, more[i]));
    if (!isnan(bar->measured))
        end = fmax(end, scale_at(&chart->x, bar->measured) + 6);
    return fmin(fmax(end, chart->frame.left), chart->frame.right);
}

static void print_measured(struct chart *chart, const struct picture_bar *bar, const struct bar_row *row)
{
    struct buffer *out = chart->canvas->out;
    const double x = scale_at(&chart->x, bar->measured);
    if (!bar->count)
        svg_line(chart->canvas, chart->frame.left, row->middle, x, row->middle,
                 "class=\"soft\" stroke=\"currentColor\" stroke-dasharray=\"1 3\"");
    buffer_print(out, "<circle class=\"ink\" r=\"5\" cx=\"");
    svg_coordinate(out, x);
    buffer_print(out, "\" cy=\"");
    svg_coordinate(out, row->middle);
    buffer_print(out, "\"/>\n");
}

/* The name at the left, or above; the value at the end of all that is drawn. */
static void print_row_texts(struct chart *chart, const struct picture_bar *bar, const struct bar_row *row)
{
    struct canvas *canvas = chart->canvas;
    const char *class = strong(bar) ? "ink strong" : bar->count ? colour_of(bar->parts) : "ink";
    const double x = chart->above ? canvas->left : chart->frame.left - GAP;
    const double end = row_end(chart, bar, row) + 7;
    double y = chart->above ? row->top + 13 : row->middle - LABEL_LINE * (double)row->name_lines / 2 + 12.5;
    for (size_t i = 0; i < row->name_lines; i++, y += LABEL_LINE)
        svg_text(canvas, x, y, chart->above ? 's' : 'e', class, row->names[i], LABEL_SIZE, true);
    y = row->middle - LABEL_LINE * (double)row->text_lines / 2 + 12.5;
    for (size_t i = 0; i < row->text_lines; i++, y += LABEL_LINE)
        svg_text(canvas, end, y, 's', strong(bar) ? "ink strong" : "ink", row->texts[i], LABEL_SIZE, true);
}

static void print_row(struct chart *chart, size_t index)
{
    const struct picture_bar *bar = &chart->picture->bars[index];
    const struct bar_row *row = &chart->rows[index];
    struct canvas *canvas = chart->canvas;
    double at = row->from;
    if (index && bar->count && isnan(bar->from) && !bar->total && chart->picture->bars[index - 1].count) {
        const double x = scale_at(&chart->x, row->from);
        svg_line(canvas, x, chart->rows[index - 1].middle, x, row->middle,
                 "class=\"soft\" stroke=\"currentColor\" stroke-width=\".8\"");
    }
    for (size_t i = 0; i < bar->count; at += bar->parts[i++].value)
        print_part(chart, bar, row, &bar->parts[i], at);
    if (!bar->count)
        print_interval(chart, bar, row);
    if (has_range(bar->band))
        whiskers(chart, row, bar->band, row->to);
    if (!isnan(bar->measured))
        print_measured(chart, bar, row);
    print_row_texts(chart, bar, row);
}

/* Print the names of the parts of the first bar that has several, above it and moved apart. */
static double print_part_names(struct chart *chart, double top)
{
    const struct picture *picture = chart->picture;
    struct canvas *canvas = chart->canvas;
    const struct picture_bar *named = NULL;
    for (size_t i = 0; i < picture->bar_count; i++)
        for (size_t k = 0; k < picture->bars[i].count; k++)
            if (picture->bars[i].parts[k].name && (!named || picture->bars[i].count > named->count))
                named = &picture->bars[i];
    if (!named)
        return top;
    enum { SQUARE = 9, INDENT = 14, AFTER = 14 };
    const double begin = chart->above ? canvas->left : chart->frame.left,
        right = canvas->left + canvas->width;
    double x = begin, y = top + 12;
    for (size_t k = 0; k < named->count; k++) {
        const struct picture_part *part = &named->parts[k];
        const char **lines;
        size_t count;
        const double width = INDENT + lines_of(canvas, part->name ? part->name : "", right - begin - INDENT,
                                               &lines,
                                               &count);
        if (!count)
            continue;
        if (x > begin && x + width > right)
            x = begin, y += LABEL_LINE + 2;
        rectangle(canvas->out, x, y - SQUARE, x + SQUARE, y, arena_print(canvas->arena,
                  part->beyond ? "class=\"%s\" fill=\"none\" stroke=\"currentColor\"/>\n"
                               : "class=\"%s\"/>\n", colour_of(part)));
        for (size_t i = 0; i < count; i++, y += i < count ? LABEL_LINE : 0)
            svg_text(canvas, x + INDENT, y, 's', colour_of(part), lines[i], LABEL_SIZE, true);
        x += width + AFTER;
    }
    return y + 8;
}

double picture_draw_bars(struct canvas *canvas, const struct picture *picture)
{
    struct chart chart = { .canvas = canvas, .picture = picture };
    chart.rows = arena_array(canvas->arena, picture->bar_count + 1, sizeof *chart.rows);
    choose_range(&chart);
    break_texts(&chart);
    const double top = svg_head(canvas, picture, NULL), right = canvas->left + canvas->width;
    chart.frame.left = canvas->left + (chart.above ? 1 : chart.name_width + GAP);
    chart.frame.right = fmax(chart.frame.left + 60, right - chart.text_width - GAP);
    const double names = print_part_names(&chart, top);
    chart.frame.top = names;
    chart.frame.bottom = place_rows(&chart, names) + 4;
    scale_ticks(&chart.x, &picture->x, canvas->arena, chart.frame.left, chart.frame.right, false);
    chart.frame.left = fmax(chart.frame.left, canvas->left + scale_overhang(&chart.x, chart.frame.left));
    chart.frame.right = fmin(chart.frame.right, right - scale_overhang(&chart.x, chart.frame.right));
    scale_ticks(&chart.x, &picture->x, canvas->arena, chart.frame.left, chart.frame.right, false);
    svg_frame(canvas, chart.frame, &chart.x, NULL);
    for (size_t i = 0; i < chart.x.count; i++) {
        const double x = scale_at(&chart.x, chart.x.ticks[i].at);
        svg_line(canvas, x, chart.frame.top, x, chart.frame.bottom, "class=\"grid\" stroke=\"currentColor\"");
    }
    const double zero = chart.x.log ? chart.frame.left : scale_at(&chart.x, 0);
    svg_line(canvas, zero, chart.frame.top, zero, chart.frame.bottom,
             "class=\"soft\" stroke=\"currentColor\"");
    const double bottom = svg_below(canvas, &picture->x, &chart.x, chart.frame);
    for (size_t i = 0; i < picture->bar_count; i++)
        print_row(&chart, i);
    buffer_print(canvas->out, "</g>\n");
    return bottom - canvas->top;
}
