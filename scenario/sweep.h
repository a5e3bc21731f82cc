/* sweep -- the values of a row that --sweep names, and the question of each. */
#ifndef SCENARIO_SWEEP_H
#define SCENARIO_SWEEP_H

#include "scenario/scenario.h"

enum { SWEEP_VALUES = 64 };

struct sweep {
    const char *row;
    struct unit unit;
    double values[SWEEP_VALUES];
    size_t count;
};

bool sweep_read(struct arena *arena, const struct question *question, struct sweep *sweep,
                struct error *error);
/* The question with the row at its i-th value, and no sweep. */
void sweep_question(struct arena *arena, const struct question *from, const struct sweep *sweep,
                    size_t i, struct question *question);

#endif
