/* ask -- the questions: a file or a room for each verb, called by command line, page and API.
 *
 * A verb is its words, its options and its function, declared together at the end of its file;
 * verbs.def names them all. What a command means is scenario/, what answers look like report/. */
#ifndef ASK_H
#define ASK_H

#include "scenario/scenario.h"

#define VERB(name, ...) extern const struct verb verb_##name;
#include "ask/verbs.def"
#undef VERB

extern const struct verb *const verbs[];        /* all of them, then NULL */

#endif
