/* waterfall -- from the bound of a step to the time between tokens that a server reaches: what each
 * cause adds, as formulas/serving/waterfall.chalk has it. The first row is the bound, the last the
 * prediction; the gaps between them add up to the difference. */
#ifndef SCENARIO_WATERFALL_H
#define SCENARIO_WATERFALL_H

#include "scenario/scenario.h"

enum { WATERFALL_ROWS = 11 };
extern const char *const waterfall_rows[WATERFALL_ROWS];

/* Of a section that has these rows: "waterfall", their names in order. For layouts also
 * "waterfall_lines", records of {"label", "gap", "time", "bar"} from the bound to the prediction, in
 * which gaps that nobody would see are added up, and "tpot_sum": "12.3 ms bound + 3.25 operators not
 * overlapped + ... = 49.9 ms". */
void waterfall_section(struct section *section);

extern const struct record waterfall_record;

#endif
