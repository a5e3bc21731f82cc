/* measure -- traffic sent to an endpoint of the OpenAI API, and what came back; this machine itself.
 *
 *   loads, lengths --plan--> requests --client.c (libcurl)--> chunks and their times --> FILE.jsonl
 *                                                        \--> points.c: TTFT, TPOT, ITL, throughput
 *
 * A load is a closed loop of `concurrency` clients, each of which asks again when it has its answer. */
#ifndef MEASURE_H
#define MEASURE_H

#include "ask/ask.h"

extern const struct verb verb_measure;
ask_function ask_measure;

/* `--on this` of any verb becomes the file of this machine, which is timed if it has not been: *note says
 * which it is, NULL where the command does not ask for it. */
bool measure_this(struct arena *arena, struct command *command, const char **note, struct error *error);

#endif
