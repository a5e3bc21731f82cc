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
/* A text as a string of a script, with its quotes; `noenhanced` has to follow, or its braces and
 * underscores are read as marks. Quotes inside become typographic ones: gnuplot reads its own '' in
 * some places only, and data have no way to write ". */
const char *plot_quoted(struct arena *arena, const char *text);
/* A cell of a script's data, in its quotes. */
const char *plot_cell(struct arena *arena, const char *text);
bool plot_draw(const struct buffer *script, const char *path, struct error *error);

#endif
