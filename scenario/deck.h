/* deck -- the named inputs of the lecture, data/decks.csv: which values it uses in which argument.
 *
 *     deck,row,value,source,note
 *
 * A deck sets rows as a sheet does: what the user gives on the command line takes the place of its
 * values. */
#ifndef SCENARIO_DECK_H
#define SCENARIO_DECK_H

#include "scenario/scenario.h"

/* A part of such a text: the name of a deck, or a row and its value. */
struct deck_part {
    const char *name, *value;       /* value NULL: a deck */
};

/* Take the next part off "NAME; row=value; ..."; false: there is none left. */
bool deck_next(struct arena *arena, const char **text, struct deck_part *part);
/* Set the rows of "NAME; row=value; ..." in that order: names of decks, and single values. The error
 * lists the decks for a name that is none. */
bool deck_set(struct scenario *scenario, const char *text, struct error *error);
/* The same for rows that the command has not set. */
bool deck_complete(struct scenario *scenario, const char *text, struct error *error);

#endif
