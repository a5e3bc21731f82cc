/* waterfall -- from the bound of a step to the time between tokens that a server reaches: what each
 * cause adds, as formulas/serving/waterfall.chalk has it. The first row is the bound, the last the
 * prediction; the gaps between them add up to the difference. */
#ifndef SCENARIO_WATERFALL_H
#define SCENARIO_WATERFALL_H

#include "scenario/scenario.h"

enum { WATERFALL_ROWS = 11 };
extern const char *const waterfall_rows[WATERFALL_ROWS];

/* The values of these rows, in seconds, as a table with bars: gaps that nobody would see are added
 * up in one line. */
void waterfall_table(struct arena *arena, const double *at, struct buffer *out);
/* "12.3 ms bound + 3.25 operators in turn + ... = 49.9 ms", in milliseconds. */
const char *waterfall_sum(struct arena *arena, const double *at);
/* The rows, and "waterfall": their names in order. */
void waterfall_document(struct arena *arena, const double *at, struct doc *doc);

extern const struct record waterfall_record;

#endif
