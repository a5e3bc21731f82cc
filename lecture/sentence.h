/* sentence -- a sentence of a sheet whose marks in braces stand for values of a scenario.
 *
 *     "At batch {batch} a step takes {bound_step}."  ->  "At batch 64 a step takes 7.23 ms."
 *
 *     {row}  {expression}   a value with its unit, 3 digits
 *     {row%}                a share in per cent
 *     {row@}                a large whole number: 671 B
 *     {row-}                with its range, where inputs have ranges
 *     {row.binds}           the operand that decides a max, min or sum, in words */
#ifndef LECTURE_SENTENCE_H
#define LECTURE_SENTENCE_H

#include "scenario/scenario.h"

/* The text with its marks as values, "unknown" for one without; `known`, if not NULL: whether each has one. */
const char *sentence_fill(struct scenario *scenario, const char *template, bool *known);

#endif
