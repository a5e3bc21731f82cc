/* ask -- the questions: a file or a room for each verb; command line, page and API all call these.
 *
 * ask.def lists the verbs; what a question means is scenario/, what answers look like report/. */
#ifndef ASK_H
#define ASK_H

#include "scenario/scenario.h"

#define ASK(name, words, summary, example) ask_function ask_##name;
#include "ask/ask.def"
#undef ASK

#endif
