/* watch -- what a running server's /metrics say of its load, and what follows for it.
 *
 *   text --exposition.c--> samples --load.c--> load: lengths, rates, shares --predict.c--> where it saturates, how many
 *
 * One scrape has sums since the start of the server; two have rates. Without --once a server is followed. */
#ifndef WATCH_H
#define WATCH_H

#include "ask/ask.h"

extern const struct verb verb_watch;
ask_function ask_watch;

/* `follows`: is this command `watch` of a server or a recording, without --once? False: the file cannot be read. */
bool watch_follows(struct arena *arena, const struct command *command, bool *follows, struct error *error);
/* Read again and again until SIGINT or SIGTERM, or until a recording ends, and print each answer. `ready` gets the
 * URL of --listen. */
bool watch_follow(struct arena *arena, const struct command *command, void (*ready)(const char *url),
                  struct error *error);

/* ---- for who follows a server by itself ------------------------------------------------------------ */

struct follower;
/* What a reading comes to; NAN: not known. */
struct followed {
    double wanted;                  /* replicas */
    double rate_of_one;             /* 1/s that a replica serves within its limits */
    double share;                   /* of that which it is given */
    double saturation;              /* 1/s of one replica */
};
/* With the options of `command`, a command of `watch`. */
struct follower *follower_open(struct arena *arena, const struct command *command);
/* A page of metrics, at a time. False: it cannot be read, or the command is wrong. */
bool follower_read(struct follower *follower, double at, struct text page, struct followed *followed,
                   struct error *error);
void follower_close(struct follower *follower);
/* A reading as a recording has it; the first with the head. */
void follower_record(struct buffer *out, double at, struct text page);

/* The time between the scrapes that are asked of a Prometheus server for a window: a minute, or so much longer that
 * no series has more points than it answers (11,000). */
double history_step(double window);

#endif
