/* watch -- what a running server's /metrics say of its load, and what follows for it.
 *
 *   text --exposition.c--> samples --load.c--> load: lengths, rates, shares --predict.c--> where it saturates, how many
 *
 * One scrape has sums since the start of the server; two have rates. Without --once a server is followed. */
#ifndef WATCH_H
#define WATCH_H

#include "ask/ask.h"

extern const struct verb verb_watch;

/* Is this command `watch` of a server or a recording, without --once? */
bool watch_follows(const struct command *command);
/* Read again and again until SIGINT or SIGTERM, or until a recording ends, and print each answer. `ready` gets the
 * URL of --listen. */
bool watch_follow(struct arena *arena, const struct command *command, void (*ready)(const char *url),
                  struct error *error);

#endif
