/* picture_parts -- the parts of picture.h: ticks, texts, frames. Private to report/. */
#ifndef REPORT_PICTURE_PARTS_H
#define REPORT_PICTURE_PARTS_H

#include "report/picture.h"

/* ---- sizes, px ----------------------------------------------------------------------------- */
#define TITLE_SIZE 15.5
#define PANEL_SIZE 13.5
#define LABEL_SIZE 12.5
enum { TITLE_LINE = 21, LABEL_LINE = 16, GAP = 8 };

/* ---- texts that have been placed ------------------------------------------------------------- */
struct box { double left, top, right, bottom; };

/* Places for texts, and what they must not meet. */
struct boxes {
    struct arena *arena;
    struct box *list;
    size_t count, room;
};
void boxes_add(struct boxes *boxes, struct box box);
/* Does it meet any, or leave `inside`? */
bool boxes_free(const struct boxes *boxes, struct box box, struct box inside);

/* ---- an axis as it is drawn ------------------------------------------------------------------ */
enum { TICKS_MOST = 64 };
struct tick { double at; const char *name; };

/* Values from..to on px begin..end; `end` may be less than `begin`. */
struct scale {
    bool log;
    double from, to, begin, end;
    struct tick ticks[TICKS_MOST];
    size_t count;
};

/* A range rounded outwards to ticks that has all of low..high; of no values where low > high. */
void scale_range(struct scale *scale, const struct picture_axis *axis, double low, double high);
/* Its labels: no two of them meet. `upright`: one above the other. */
void scale_ticks(struct scale *scale, const struct picture_axis *axis, struct arena *arena,
                 double begin, double end, bool upright);
/* How far labels of a horizontal axis reach beyond one of its ends, px. */
double scale_overhang(const struct scale *scale, double edge);
/* Where a value stands, px: at most a million frames beyond the ends. */
double scale_at(const struct scale *scale, double value);
/* "1,024", "0.0231", "3.4 M": three digits. */
const char *picture_number(struct arena *arena, double value);
/* With so many decimals, and with the letter of `largest`; as a power of ten. */
const char *picture_decimals(struct arena *arena, double value, int decimals, double largest);
const char *picture_power(struct arena *arena, double value);

/* ---- drawing ------------------------------------------------------------------------------------- */
struct canvas {
    struct arena *arena;
    struct buffer *out;
    double left, top, width, height;        /* what this picture has; it may use more height */
    bool panel;
    struct boxes boxes;
};

extern const char *const picture_kind_names[PICTURE_KINDS];
extern const char *const picture_role_names[PICTURE_ROLES];

void svg_coordinate(struct buffer *out, double value);
/* A command of a path and a point: "L12.5 30". */
void svg_spot(struct buffer *out, const char *command, double x, double y);
/* Its tag is left open. */
void svg_circle(struct buffer *out, double x, double y, double radius, const char *class);
void svg_text_add(struct buffer *out, const char *text);
/* A line of text; anchor 's', 'm' or 'e'; `class` as in the style. It is a box from now on. */
void svg_text(struct canvas *canvas, double x, double y, char anchor, const char *class,
              const char *text, double size, bool bold);
struct box text_box(double x, double y, char anchor, const char *text, double size, bool bold);
/* From one point to another, with these attributes. */
void svg_line(struct canvas *canvas, double x1, double y1, double x2, double y2, const char *rest);
/* Title and name of the axis above a frame; returns where they end. */
double svg_head(struct canvas *canvas, const struct picture *picture, const char *above);
const char *axis_words(struct arena *arena, const struct picture_axis *axis);
/* Begins a group that says how pixels and values of a frame belong together. */
void svg_frame(struct canvas *canvas, struct box frame, const struct scale *x, const struct scale *y);
/* Labels and the name of an axis below a frame; returns where they end. */
double svg_below(struct canvas *canvas, const struct picture_axis *axis, const struct scale *x,
                 struct box frame);

/* The two sorts of pictures; each returns its height, px. */
double picture_draw_lines(struct canvas *canvas, const struct picture *picture);
double picture_draw_bars(struct canvas *canvas, const struct picture *picture);

#endif
