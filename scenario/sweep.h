/* sweep -- the values that --sweep gives a row.
 *
 * A search opens a scenario for each of them: scenario_read, then sweep_set. */
#ifndef SCENARIO_SWEEP_H
#define SCENARIO_SWEEP_H

#include "scenario/basis.h"
#include "scenario/scenario.h"

enum { SWEEP_VALUES = 64 };

struct sweep {
    const char *row;
    struct unit unit;
    bool whole;                     /* values are rounded to whole numbers */
    double values[SWEEP_VALUES];
    size_t count;
};

struct sweep_value {
    const char *row;                /* NULL: nothing is swept */
    double value;
};

/* Read the command's --sweep. Rows of the user's own files are accepted. */
bool sweep_read(struct arena *arena, const struct command *command, struct sweep *sweep,
                struct error *error);
struct sweep_value sweep_value(const struct sweep *sweep, size_t i);
/* What was assumed at any of the values: each note once, and each default with its largest elasticity.
 * It outlives the scenarios of the values. */
struct sweep_notes {
    struct scenario scenario;       /* of the first value; its facts have the notes */
    struct basis basis;
};
bool sweep_note(struct sweep_notes *notes, struct arena *arena, const struct scenario *scenario,
                struct error *error);
/* Set the row to a value, as if the user had given it. */
bool sweep_set(struct scenario *scenario, struct sweep_value value, struct error *error);

#endif
