/* plot -- a picture as a file, or as characters on the terminal.
 *
 *     picture -> .svg      picture_svg, as everywhere
 *                .png      the same by rsvg-convert
 *                -         lines by gnuplot, bars by themselves */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include "report/picture.h"

/* Can a picture be written there? An error names what --plot takes. */
bool plot_check(const struct arena *arena, const char *path, struct error *error);
bool plot_write(const struct picture *picture, const char *path, struct error *error);
/* What gnuplot draws on the terminal. A title goes in as a string with its quotes, `noenhanced`: quotes
 * inside become typographic ones, since gnuplot reads its own '' in some places only. */
void plot_script(const struct picture *picture, struct buffer *script);
const char *plot_quoted(struct arena *arena, const char *text);
/* Bars as text. */
void plot_bars(const struct picture *picture, struct buffer *out);

#endif
