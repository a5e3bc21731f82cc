/* choice -- private to scenario/choice*.c: choosing the replica that a command leaves open.
 *
 *     choice.c          decides whether anything is open, and how many chips to consider
 *       choice_search.c   finds the best setting of a space, and the load at which it runs
 *         servers.c         the space if no load is given, or a request rate of the whole deployment
 *         choice_space.c    the space if one replica's load, or the number of users, is given
 *
 * A setting is a layout with its prefill chunk and draft tokens (SERVERS_INPUTS numbers, servers.h). */
#ifndef SCENARIO_CHOICE_H
#define SCENARIO_CHOICE_H

#include "deploy/servers.h"

/* The inputs of a setting that make its layout: chips, attention_dp, pipeline_parallel and
 * expert_parallel. They are the first of servers_inputs. */
enum { LAYOUT_ROWS = 4 };

/* The load axis of the space. A higher index is always a higher load of each replica. */
enum choice_loads {
    LOADS_RUNNING,                  /* decoding sequences of each attention rank, rising */
    LOADS_REPLICAS,                 /* numbers of replicas for the given users, falling */
    LOADS_KNOWN                     /* a single point: the facts have the load */
};

/* An overloaded replica misses its limits by its overload times this factor, so that it ranks below
 * every replica that is only slow. */
#define CHOICE_OVERLOADED 1e6

struct choice {
    struct scenario *scenario;      /* the command's; the chosen values become its facts */
    struct scenario trial;          /* a copy, in which layout and load are inputs of the search */
    struct error *error;
    int load;                       /* index in load_rows of the row that gives the load; -1: none */
    bool replicas_given;            /* the command gives the replicas or the deployment's chips */
    bool priced;                    /* chip_price is known: compare tokens per chip, else chips */
    enum choice_loads loads;
    double chips, tensor;           /* chips of a replica and tensor parallelism, if given; else 0 */
    struct servers servers;         /* limits and layouts of the search */
    double ttft_missed;             /* default TTFT limit, s, dropped since no layout met it; 0: none */
    const char *rule;               /* source of the chosen facts: "the best startable layout per GPU with ..." */
};

/* The best setting of a search. */
struct found {
    bool any;                       /* a setting fits in memory */
    bool met;                       /* it is within all limits */
    bool overloaded;                /* requests arrive faster than it can serve them */
    double miss_by;                 /* largest ratio of an output to its limit, above 1 unless met */
    double layout[LAYOUT_ROWS];
    double chunk;                   /* prefill chunk, tokens; 0: not chosen */
    double rate;                    /* requests/s of one replica; 0: follows from the given load */
    double batch;                   /* sequences of one forward pass; 0: follows from the given load */
    double replicas;                /* 0: not chosen */
};

/* Build the space for a known load or a number of users. Inputs that nobody gave become facts of
 * servers->scenario, so that the search can vary them. */
bool choice_space(struct choice *choice, const struct servers *servers, struct search_space *space);
/* Search the space of choice->servers. Returns false with an error; otherwise sets `found`, whose `any`
 * is false if no layout fits in memory. */
bool choose_best(struct choice *choice, struct found *found);
/* Are settings compared by their chips before their worth? They are if there is no price, and for a
 * number of users, which few chips are to serve. */
bool choice_by_size(const struct choice *choice);

#endif
