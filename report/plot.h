/* plot -- pictures by gnuplot.
 *
 *     plot_open -> a script of gnuplot, to which the caller adds -> plot_draw
 *
 * A path ends in .png or .svg, or is "-": characters on the terminal. */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include "base/base.h"

/* The terminal and output for `path`; width and height in pixels, for pictures. */
bool plot_open(struct buffer *script, const char *path, int width, int height,
               struct error *error);
/* `text` as it may stand between single quotes. */
const char *plot_quoted(struct arena *arena, const char *text);
bool plot_draw(const struct buffer *script, const char *path, struct error *error);

#endif
