/* fleet -- the replicas of a run and what happens to them: routing, KV transfers from the prefill
 * pool to the decode pool, failures, autoscaling.
 *
 * simulation.c runs the clock: it asks for the next event here and for the next end of a batch from the
 * replicas, and takes the earlier. All events of one moment are acted on in a fixed order. */
#ifndef SIM_FLEET_H
#define SIM_FLEET_H

#include "sim/replica.h"
#include "sim/cache/link.h"
#include "rows/random.h"

enum event_kind {
    EVENT_ASK,              /* request `id` comes to the router */
    EVENT_GIVE_UP,          /* its patience ends */
    EVENT_MOVED,            /* its cache is where it will decode */
    EVENT_FETCHED,          /* its cache has come from a tier */
    EVENT_FAIL, EVENT_RETURN, EVENT_READY,      /* replica `id`: lost; back; started */
    EVENT_LOOK,             /* are they enough? */
    EVENT_SAMPLE,
};

struct event {
    double time;
    uint64_t order;         /* of one moment the first planned */
    enum event_kind kind;
    uint32_t id;
};

enum { FLEET_MOST = 60000 };

enum replica_state {
    REPLICA_DOWN, REPLICA_STARTING, REPLICA_UP, REPLICA_LEAVING, REPLICA_FAILED
};

struct pool {               /* replicas from `first` on, for the router */
    size_t first, count;
    uint64_t turn;
};

struct run {
    struct simulation simulation;
    struct arena *arena;
    struct replica **replicas;
    size_t replica_count;
    bool *stirred;          /* replicas whose batch ended in this moment */
    size_t arrived;         /* requests of the trace that came, or that users asked */
    size_t left;            /* requests not yet gone */
    bool last_came;         /* in this moment */
    uint32_t *after;        /* a turn that follows; NULL: no turn of the trace follows another */
    uint32_t *beside;       /* another turn that follows the same one */
    uint64_t done, tokens;  /* requests answered; their outputs */

    double now;             /* s, where the clock is */
    struct event *heap, *due;           /* planned; due in this moment, from due[due_at] on */
    size_t event_count, event_room, due_at, due_count, due_room;
    uint64_t planned;       /* events, ever */
    size_t promised;        /* events that bring a request or a replica */
    struct pool prompts, decodes;       /* the first only where pools are split */
    enum replica_state *state;
    bool *doomed;           /* its next failure is planned */
    double *since;          /* that a replica is there */
    uint16_t *where;        /* the replica that has a request */
    struct queue homeless;  /* requests for which no replica is up */
    struct link *link;
    struct random random;
};

/* Replicas in all, and what each is. */
size_t fleet_size(const struct sim_options *options);
const struct sim_server *fleet_server(const struct sim_options *options, size_t index);
void fleet_open(struct arena *arena, struct run *run);
void fleet_close(struct run *run);

/* Route the request to a replica, or refuse it. */
void fleet_route(struct run *run, uint32_t id, double now);
/* Start the KV transfer of a request whose prefill has ended. */
void fleet_move(struct run *run, uint32_t id, double now);

void fleet_plan(struct run *run, double time, enum event_kind kind, uint32_t id);
double fleet_next(const struct run *run);                   /* INFINITY: nothing is planned */
/* The next event, if it is due by `until`; the clock advances to it. */
bool fleet_due(struct run *run, double until, struct event *event);
void fleet_act(struct run *run, const struct event *event, double now);
bool fleet_expects(const struct run *run);                  /* a request or a replica will come */

/* simulation.c: a request is gone, with its answer or without. */
void run_leave(struct run *run, uint32_t id, bool answered, double now);

#endif
