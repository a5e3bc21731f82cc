/* lecture -- the verb `lecture`: the lecture told, each statement with its numbers and its verdict
 * (lecture), and what can be run of it. */
#ifndef ASK_LECTURE_H
#define ASK_LECTURE_H

#include "ask/ask.h"
#include "lecture/statements.h"

/* ---- what runs ------------------------------------------------------------------------------------ */

/* Add "run": a reversible net that trains and undoes its training, a cipher round by round, the avalanche
 * in both, and an attack on two rounds. */
bool lecture_run(struct arena *arena, const struct command *command, struct section *section, struct error *error);
extern const struct record run_record;          /* the keys of "run" */

#endif
