/* deck -- the named inputs of the lecture, data/decks.csv: which values it uses in which argument.
 *
 *     deck,row,value,source,note
 *
 * A deck sets rows as a sheet does: what the user gives on the command line takes the place of its
 * values. */
#ifndef SCENARIO_DECK_H
#define SCENARIO_DECK_H

#include "scenario/scenario.h"

/* Set the rows of "NAME; row=value; ..." in that order: names of decks, and single values. The error
 * lists the decks for a name that is none. */
bool deck_set(struct scenario *scenario, const char *text, struct error *error);
/* The same for rows that the command has not set. */
bool deck_complete(struct scenario *scenario, const char *text, struct error *error);

#endif
