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

/* ---- slips ---------------------------------------------------------------------------------------- */

/* Add "slips": where published summaries contradict each other or the lecture, each with what is right and how its figures
 * are derived; of the slip that the command's word names, or of all. */
bool lecture_slips(struct arena *arena, const struct command *command, struct section *section, struct error *error);
extern const struct record slip_record;         /* the keys of one */

#endif
