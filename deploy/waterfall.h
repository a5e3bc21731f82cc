/* waterfall -- what each cause adds between the bound of a step and the predicted TPOT, as defined in
 * formulas/serving/waterfall.chalk. The first row is the bound, the last the prediction; each row in
 * between includes one cause more. */
#ifndef SCENARIO_WATERFALL_H
#define SCENARIO_WATERFALL_H

#include "report/picture.h"
#include "scenario/scenario.h"

enum { WATERFALL_ROWS = 12 };
extern const char *const waterfall_rows[WATERFALL_ROWS];

/* Add to a section that has these rows "waterfall", their names in order. For the template also add
 * "waterfall_lines", records of {"label", "gap", "time", "bar"} from the bound to the prediction, in
 * which gaps that are too small to see are added up, and "tpot_sum": "12.3 ms bound + 3.25 operators
 * not overlapped + ... = 49.9 ms". */
void waterfall_section(struct section *section);

extern const struct record waterfall_record;

/* The same as bars; of a section without a prediction the bound alone, without a bound NULL. */
struct picture *waterfall_picture(const struct section *section, const char *title);

#endif
