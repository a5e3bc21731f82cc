/* fit -- text for a terminal of some columns.
 *
 * Lines may break between words, but never between a number and its unit ("2 s", "12.5 %", "4 x", "TP 8"). A line
 * that is too long goes on under the words behind its label; a command goes on with a backslash before each line
 * end, so that it can be pasted as it is. Columns are counted in characters. */
#ifndef REPORT_FIT_H
#define REPORT_FIT_H

#include "base/base.h"

/* Columns on the screen; a character of several bytes is one. */
size_t text_columns(struct text text);
/* The first words of `text` that fit `width` columns, at least one; `rest` begins with the word behind them. */
struct text text_part(struct text text, size_t width, struct text *rest);
/* The widest part that cannot be broken. */
size_t text_least(struct text text);
/* The text with no line wider than `width`; 0: as it is. */
void text_fit(struct buffer *out, struct text text, size_t width);

#endif
