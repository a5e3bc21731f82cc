/* choice -- private to scenario/choice*.c: a server that is being chosen.
 *
 *     choice.c          what is left open, how far to look
 *       choice_search.c   the best setting of a space and its load
 *         servers.c         the space where the load is open, or is a rate of all replicas
 *         choice_space.c    the space where one replica's load, or the number of users, is known */
#ifndef SCENARIO_CHOICE_H
#define SCENARIO_CHOICE_H

#include "scenario/servers.h"

enum { LAYOUT_ROWS = 4 };           /* the first of servers_inputs: chips, ranks, stages, experts */

/* What the loads of the space are: sequences that each rank decodes; numbers of replicas, falling; or a
 * single one, which the facts have. */
enum choice_loads { LOADS_RUNNING, LOADS_REPLICAS, LOADS_KNOWN };
#define CHOICE_OVERLOADED 1e6       /* factor of a miss by overload, above every other */

struct choice {
    struct scenario *scenario;      /* whose facts the choice becomes */
    struct scenario trial;          /* a copy, in which layout and load are inputs */
    struct error *error;
    int load;                       /* of load_rows, that was given; -1: none */
    bool replicas_given, priced;
    enum choice_loads loads;
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

/* The space of a known load or of a number of users. Their inputs become facts of servers->scenario. */
bool choice_space(struct choice *choice, const struct servers *servers, struct search_space *space);
/* False with an error; else `found`, whose `any` is false where nothing fits. */
bool choose_best(struct choice *choice, struct found *found);

#endif
