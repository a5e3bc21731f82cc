/* choice -- private to scenario/choice*.c: a server that is being chosen.
 *
 *     choice.c: what is left open, how far to look -> choice_open.c:   the load is open too
 *                                                     choice_closed.c: one replica's load is known
 *               found <- the best, or the nearest  <- */
#ifndef SCENARIO_CHOICE_H
#define SCENARIO_CHOICE_H

#include "scenario/servers.h"

enum { LAYOUT_ROWS = 4 };           /* the first of servers_inputs: chips, ranks, stages, experts */

struct choice {
    struct scenario *scenario;      /* whose facts the choice becomes */
    struct scenario trial;          /* a copy, in which layout and load are inputs */
    struct error *error;
    int load;                       /* of load_rows, that was given; -1: none */
    bool replicas_given, priced;
    double chips, tensor;           /* given, or 0 */
    struct servers servers;
    double ttft_missed;             /* a usual limit that nothing keeps, or 0 */
    const char *rule;
};

/* The server that a search found. */
struct found {
    bool any, met;
    bool overloaded;                /* requests come faster than they are served */
    double miss_by;
    double layout[LAYOUT_ROWS];
    double chunk;                   /* 0: not chosen */
    double rate, batch, replicas;   /* requests a second of one replica, sequences of one pass; 0:
                                       follow from what was given */
};

/* False with an error; else `found`, whose `any` is false where nothing fits. */
bool choose_open(struct choice *choice, struct found *found);
bool choose_closed(struct choice *choice, struct found *found);

#endif
