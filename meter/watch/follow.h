/* follow -- readings again and again, until SIGINT. */
#ifndef WATCH_FOLLOW_H
#define WATCH_FOLLOW_H

#include "meter/watch/parts.h"
#include "meter/watch/source.h"

/* In watch.c: what a reading says of the load: of the one model of --model, where a page has several. */
bool watch_read(struct watch *watch, const struct exposition *now, const struct exposition *since, double span,
                struct error *error);
/* A reading, read beside the one before it, or NULL. */
bool watch_answer(struct watch *watch, const struct exposition *now, const struct exposition *since, double span,
                  struct answer *answer, struct error *error);
/* Everything that a recording has, or a Prometheus server of the last hour: the last answer. */
bool follow_once(struct arena *arena, const struct command *command, struct metrics_source *source, struct history *history,
                 struct answer *answer, struct error *error);

#endif
