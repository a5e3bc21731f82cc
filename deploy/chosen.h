/* chosen -- layout and load chosen at each value of a row, as --choose asks; without it they are held. */
#ifndef DEPLOY_CHOSEN_H
#define DEPLOY_CHOSEN_H

#include "scenario/equation.h"

/* Open the command's scenario with the row at a value, and choose for that value what is open of layout and load. The
 * words of the scenario ask for the same again. */
bool chosen_open(struct scenario *scenario, struct arena *arena, const struct command *command, const char *row, double value,
                 const char *const *texts, size_t count, struct error *error);
/* Both sides of an equation that was read, at a value; false: one of them is not known there. */
bool chosen_sides(const struct scenario *scenario, const struct equation *equation, const char *row, double x,
                  double sides[2]);
/* Its solutions: the sides are evaluated at some points of the range, and halved between two of different sign. Another
 * solution may be between two points, so that `proved` is false. */
void chosen_roots(const struct scenario *scenario, const struct equation *equation, const char *row, double low,
                  double high, struct solution *found);

#endif
