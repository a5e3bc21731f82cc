/* picture_lines -- a picture of lines while it is laid out. Private to report/. */
#ifndef REPORT_PICTURE_LINES_H
#define REPORT_PICTURE_LINES_H

#include "report/picture_parts.h"

struct spot { double x, y; };                   /* px; NAN: a gap */

struct picture_trace {
    struct spot *spots;
    size_t count, room;
};

struct picture_label {
    const char **lines;
    size_t count;
    double width, top;
    bool right;                     /* stands right of the frame */
    bool refused;                   /* found no place inside */
};

struct drawing {
    struct canvas *canvas;
    const struct picture *picture;
    struct scale x, y;
    struct box frame;
    struct picture_label *labels;           /* [line_count] */
    struct picture_trace *traces;           /* [line_count] */
    double bottom;
};

/* The part of a segment that is inside; false: none of it. */
bool segment_clip(struct box box, struct spot *a, struct spot *b);
struct spot spot_of(const struct drawing *drawing, double x, double y);
bool box_has(struct box box, struct spot spot);
const char *line_colour(const struct picture_line *line);      /* its class */
/* A disc of scenario A, a hollow square of any other, its tag left open; a ring. */
void svg_symbol(struct buffer *out, struct spot at, unsigned scenario, double size);
void svg_ring(struct buffer *out, struct spot at, double radius, const char *class);

/* Marks, the reader's place, areas, the key of points, lines: false where a name found no place. */
bool print_marks(struct drawing *drawing);
bool print_here(struct drawing *drawing);
bool print_area_names(struct drawing *drawing);
bool print_key(struct drawing *drawing);
bool print_names(struct drawing *drawing);

/* Everything as SVG; false where a name found no place: `grow` the frame, or have it at the right side. */
bool drawing_print(struct drawing *drawing, bool *grow);

#endif
