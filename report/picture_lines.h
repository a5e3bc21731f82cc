/* picture_lines -- a picture of lines while it is laid out. Private to report/. */
#ifndef REPORT_PICTURE_LINES_H
#define REPORT_PICTURE_LINES_H

#include "report/picture_parts.h"

struct spot { double x, y; };                   /* px; NAN: a gap */

struct trace {
    struct spot *spots;
    size_t count, room;
};

struct label {
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
    struct label *labels;           /* [line_count] */
    struct trace *traces;           /* [line_count] */
    double bottom;
};

bool segment_clip(struct box box, struct spot *a, struct spot *b);
struct spot spot_of(const struct drawing *drawing, double x, double y);
/* Everything as SVG; false where a name found no place: `grow` the frame, or have it at the right side. */
bool drawing_print(struct drawing *drawing, bool *grow);

#endif
