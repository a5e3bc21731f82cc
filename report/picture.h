/* picture -- one description of a picture, drawn alike on the page, in a report and by --plot.
 *
 *     verb ------> struct picture --+
 *     JSON text -> picture_read ----+-> picture_svg -> SVG
 *
 * A description says what is shown, never how: lines, bars and points have a kind, which is their colour
 * everywhere, and a role, which is their weight; ticks, frames and the places of all names are chosen here.
 * No two texts of a picture meet and none is cut: where the height that was asked for has no room, the
 * picture becomes higher. The same description gives the same bytes.
 *
 * As JSON, where every member but title, x and y may be left out:
 *
 *   { "title": "the answer", "x": AXIS, "y": AXIS,
 *     "lines":  [{ "name", "kind", "role", "of": "A", "shade": 0, "dots": false,
 *                  "points": [[x, y], null for a gap, ...], "band": [[x, low, high], ...] }],
 *     "bars":   [{ "name", "parts": [{ "kind", "value", "name", "beyond": false }], "total": false,
 *                  "role", "from": value, "band": [low, high], "measured": value, "text": "12.3 ms",
 *                  "range": [low, high], "inner": [low, high], "prior": [low, high], "middle": value }],
 *     "points": [{ "x", "y", "of", "what", "source", "date", "near": false }],
 *     "marks":  [{ "name", "x", "y", "sets": "row" }],
 *     "areas":  [{ "name", "of": "x", "from", "to" }],
 *     "here":   { "x", "y", "sets": "row", "name" },
 *     "table":  { "columns": ["..."], "rows": [["...", 1], ...] },
 *     "key": true, "columns": 1, "panels": [pictures without panels] }
 *   AXIS: { "name", "unit", "log": false, "time": false, "from", "to" }
 *
 * `kind` is compute, weights, cache, network, host or result; `role` of a line is term, bound, predicted,
 * sum or result, of a bar term or bound; `of` is the scenario, A to D. With bars, x is their axis and y is
 * not read. A bar begins at `from`; without it a total begins at 0, and any other where the bar
 * before it has ended. A range without from or to is that of the values. `time`: seconds, whose
 * ticks are those of a clock. */
#ifndef REPORT_PICTURE_H
#define REPORT_PICTURE_H

#include "base/base.h"

enum picture_kind {
    PICTURE_RESULT, PICTURE_COMPUTE, PICTURE_WEIGHTS, PICTURE_CACHE, PICTURE_NETWORK, PICTURE_HOST,
    PICTURE_KINDS
};
enum picture_role {
    PICTURE_TERM, PICTURE_BOUND, PICTURE_PREDICTED, PICTURE_SUM, PICTURE_MAXIMUM, PICTURE_ROLES
};

/* SVG by itself follows the reader's preference; with PICTURE_PAGE it has no style of its own, since
 * the page has that of picture_style. Paper and print are light. */
enum picture_theme { PICTURE_AUTO, PICTURE_LIGHT, PICTURE_DARK, PICTURE_PAGE };

enum { PICTURE_SCENARIOS = 4, PICTURE_SHADES = 4, PICTURE_LONGEST = 400, PICTURE_SIZE_MOST = 8 << 20 };

struct picture_axis {
    const char *name, *unit;        /* in words; "" where the name says it all */
    bool log, time;
    double from, to;                /* in `unit`; NAN: that of the values */
};

struct picture_point { double x, y; };                  /* x NAN: a gap in the line */
struct picture_span { double x, low, high; };
struct picture_range { double low, high; };             /* low NAN: none */

struct picture_line {
    const char *name;
    enum picture_kind kind;
    enum picture_role role;
    unsigned scenario, shade;       /* 0: A; 0: the kind's own colour */
    bool dots;                      /* each point is marked */
    struct picture_point *points;
    size_t count, room;
    struct picture_span *band;
    size_t band_count, band_room;
};

struct picture_part {
    const char *name;               /* NULL: that of the bar */
    enum picture_kind kind;
    double value;                   /* negative: to the left */
    bool beyond;                    /* more than its bound: hatched */
};

struct picture_bar {
    const char *name, *text;        /* text at its end; NULL: its sum */
    bool total, thin;               /* thin: a bound */
    double from;                    /* NAN: as said above */
    struct picture_part *parts;
    size_t count, room;
    struct picture_range band;      /* whiskers at its end */
    double measured;                /* NAN: none */
    struct picture_range range, inner, prior;   /* an interval in the place of parts */
    double middle;
};

struct picture_dot {
    double x, y;
    unsigned scenario;
    const char *what, *source, *date;
    bool near;                      /* the nearest to what was asked */
};

struct picture_mark {
    const char *name, *sets;        /* sets: the input that follows when it is dragged; NULL: none */
    double x, y;
};

struct picture_area {
    const char *name;
    bool of_y;                      /* between values of y; else of x */
    double from, to;                /* NAN: the edge of the frame */
};

struct picture_table {
    const char **columns;
    size_t column_count, rows;
    const char **cells;             /* [rows][column_count] */
    bool *numbers;                  /* the same: is the cell a number? */
};

struct picture {
    struct arena *arena;
    const char *title;
    struct picture_axis x, y;
    struct picture_line *lines;
    struct picture_bar *bars;
    struct picture_dot *dots;
    struct picture_mark *marks;
    struct picture_area *areas;
    size_t line_count, bar_count, dot_count, mark_count, area_count;
    size_t line_room, bar_room, dot_room, mark_room, area_room;
    struct picture_mark here;
    bool has_here, no_key;
    struct picture_table table;
    struct picture *panels;         /* beside and below each other, each with axes of its own */
    size_t panel_count, panel_room, columns;
};

/* An empty picture; names are not copied. */
struct picture *picture_new(struct arena *arena, const char *title);
struct picture *picture_panel(struct picture *picture, const char *title);
struct picture_line *picture_line_add(struct picture *picture, const char *name,
                                      enum picture_kind kind, enum picture_role role);
void picture_point_add(struct picture *picture, struct picture_line *line, double x, double y);
void picture_band_add(struct picture *picture, struct picture_line *line, double x, double low,
                      double high);
struct picture_bar *picture_bar_add(struct picture *picture, const char *name);
struct picture_part *picture_part_add(struct picture *picture, struct picture_bar *bar,
                                      enum picture_kind kind, double value);
struct picture_dot *picture_dot_add(struct picture *picture, double x, double y);
struct picture_mark *picture_mark_add(struct picture *picture, const char *name, double x, double y);
struct picture_area *picture_area_add(struct picture *picture, const char *name);

/* A description in JSON. Members that nobody knows, values that are no finite number and sizes beyond
 * all sense are errors, which name the place: "lines[1].points[3]". */
bool picture_read(struct arena *arena, const char *file, struct text json, struct picture **picture,
                  struct error *error);
/* The same from a document that has been read. */
bool picture_of_document(struct arena *arena, const char *file, const struct doc *doc,
                         struct picture **picture, struct error *error);

/* The picture as SVG of this width and at least this height, in CSS pixels; height 0: as high as it
 * wants to be. Width at least 200. */
void picture_svg(struct buffer *out, const struct picture *picture, double width, double height,
                 enum picture_theme theme);
/* The CSS of all pictures: what a page with PICTURE_PAGE needs once. Colours are the properties --paper,
 * --ink, --soft, --rule, --grid, --hand and one for each kind, for both themes; a root element may say
 * data-theme="dark" or "light". */
void picture_style(struct buffer *out, enum picture_theme theme);

/* The kind of a quantity, by the name of its row or of a part of a time. */
enum picture_kind picture_kind_of(const char *name);

/* Most of the width that a text can take in a sans face, px; NULL: none. */
double picture_text_width(const char *text, double size, bool bold);
/* A text broken into lines no wider than `width`: a list ended by NULL. */
const char **picture_text_lines(struct arena *arena, const char *text, double width, double size,
                                bool bold);

#endif
