/* fleet -- the replicas of a run and what happens to them: routing, KV transfers from the prefill
 * pool to the decode pool, failures, autoscaling.
 *
 * simulation.c runs the clock: it takes the next event from here and the next end of a step from the
 * replicas, and handles the earlier. All events of one moment are handled in a fixed order. */
#ifndef SIM_FLEET_H
#define SIM_FLEET_H

#include "sim/replica.h"
#include "sim/calendar.h"
#include "sim/loads.h"
#include "sim/snapshot.h"
#include "sim/cache/link.h"
#include "rows/random.h"

enum event_kind {
    EVENT_ASK,              /* request `id` arrives at the router */
    EVENT_GIVE_UP,          /* the patience of request `id` ends */
    EVENT_MOVED,            /* the KV cache of request `id` has reached its decode replica */
    EVENT_FETCHED,          /* the KV blocks of request `id` have arrived from a tier */
    EVENT_FAIL, EVENT_RETURN, EVENT_READY,      /* replica `id` fails; has restarted; has started */
    EVENT_LOOK,             /* the autoscaler compares load and replicas */
    EVENT_SAMPLE,           /* sim_watch.sample is called */
};

struct event {
    double time;
    uint64_t order;         /* events of one moment are handled in the order in which they were planned */
    enum event_kind kind;
    uint32_t id;
};

enum { FLEET_MOST = 60000, FLEET_NOWHERE = UINT16_MAX };   /* replicas; run->where of a request that is at none */

enum replica_state {
    REPLICA_DOWN, REPLICA_STARTING, REPLICA_UP, REPLICA_LEAVING, REPLICA_FAILED
};

struct replica_pool {               /* the replicas among which the router chooses */
    size_t first, count;
    uint64_t turn;          /* requests routed so far, for round-robin */
    struct loads loads;
    struct snapshot seen;   /* with options->refresh, in the place of `loads` */
};

/* Replicas that one thread runs while others run theirs (apart.c). */
struct strand {
    size_t first, end;
    struct arena *arena;
    struct sim_server server;
    struct simulation simulation;   /* that of the run, but for what a thread counts by itself */
    struct sim_result result;
    size_t done;                    /* requests completed since the last look */
    double now;                     /* when the last of its replicas was last called, s */
    double stuck;                   /* when requests began to restart for ever, s; NAN: they do not */
};

struct coming {                     /* requests of a replica of a strand: sent, and to arrive; sent, and not completed */
    struct queue queue;
    size_t left;
};

/* The state of one run of the simulator. */
struct fleet_run {
    struct simulation simulation;
    struct arena *arena;
    struct replica **replicas;
    size_t replica_count;
    struct calendar calendar;
    bool *stirred;          /* replicas whose batch ended in this moment */
    size_t arrived;         /* requests of the trace that have arrived, or that users have sent */
    size_t left;            /* requests that are neither completed nor lost */
    bool last_came;         /* the last request of the trace arrived in this moment */
    uint32_t *after;        /* [requests] a turn that follows it; NULL: the trace has no sessions */
    uint32_t *beside;       /* [requests] another turn that follows the same one */
    uint64_t done, tokens;  /* requests completed; their output tokens */

    double now;             /* the clock, s */
    struct event *heap, *due;           /* planned; due in this moment, from due[due_at] on */
    size_t event_count, event_room, due_at, due_count, due_room;
    uint64_t planned;       /* number of events so far */
    size_t promised;        /* planned events after which a request or a replica is there */
    struct replica_pool prompts, decodes;       /* the first only in disaggregated serving */
    enum replica_state *state;          /* [replicas] */
    bool *doomed;           /* [replicas] its next failure is planned */
    double *since;          /* [replicas] when it came up, s */
    uint16_t *where;        /* [requests] the replica that has it */
    struct queue homeless;  /* requests that arrived when no replica was up */
    struct link **links;    /* [link_count], those of one prefill replica after the other; NULL: none */
    size_t link_count;
    uint64_t *moves;        /* [prefill replicas] transfers so far */
    double moved_next;      /* when the next transfer ends, s */
    struct random random;

    struct strand *strands;         /* [strand_count], which have all replicas between them; 0: there are none */
    size_t strand_count;
    struct coming *coming;          /* [replicas] with strands */
};

/* Replicas in all, and what each is. */
size_t fleet_size(const struct sim_options *options);
const struct sim_server *fleet_server(const struct sim_options *options, size_t index);
void fleet_open(struct arena *arena, struct fleet_run *run);
void fleet_close(struct fleet_run *run);

/* A function of a scheduler was called now that may have changed the replica: the calendar and the router look at it again. */
void fleet_touch(struct fleet_run *run, struct replica *replica, double now);
/* Would the router look at the replicas now? The replica that it sends a request to; NULL: none is up. */
bool fleet_looks(const struct fleet_run *run, double now);
struct replica *fleet_choose(struct fleet_run *run, uint32_t id, double now);
/* Route the request to a replica, or refuse it. */
void fleet_route(struct fleet_run *run, uint32_t id, double now);
/* Start the KV transfer of a request whose prefill has ended. */
void fleet_move(struct fleet_run *run, uint32_t id, double now);

void fleet_plan(struct fleet_run *run, double time, enum event_kind kind, uint32_t id);
double fleet_next(const struct fleet_run *run);                   /* INFINITY: nothing is planned */
/* The next event, if it is due by `until`; the clock advances to it. */
bool fleet_due(struct fleet_run *run, double until, struct event *event);
void fleet_act(struct fleet_run *run, const struct event *event, double now);
bool fleet_expects(const struct fleet_run *run);      /* will a planned event bring a request or a replica? */

/* Take a request back that waits; false: its prompt is being read, or it decodes. */
bool fleet_take_back(struct fleet_run *run, uint32_t id, double now);
void fleet_forget(struct fleet_run *run, uint32_t id, double now);     /* no replica has it any more, and nobody waits */

/* In simulation.c: a request leaves the run, answered or not. */
void run_leave(struct fleet_run *run, uint32_t id, bool answered, double now);
/* The next requests are drawn. */
void run_draw(struct fleet_run *run);
/* Do the same requests throw each other out for ever? run_stuck returns false, with the message of that, or of requests
 * that wait for nothing. */
bool run_loops(const struct simulation *simulation);
bool run_stuck(const struct fleet_run *run, double now, struct error *error);
/* A run in parts: opened, then one moment after the other. */
bool run_open(struct arena *arena, const struct trace *trace, const struct sim_options *options,
              struct sim_result *result, struct fleet_run *run, struct error *error);
double run_next(const struct fleet_run *run);             /* the next moment, s; INFINITY: nothing is planned */
void run_moment(struct fleet_run *run, double next);
/* A run of a whole trace in parts: begun, with its users if it has any, then one moment after the other while
 * run->left; false: a request fits nowhere, or requests restart for ever. */
bool run_begin(struct arena *arena, const struct trace *trace, const struct sim_options *options,
               struct sim_result *result, struct fleet_run *run, struct error *error);
bool run_go_on(struct fleet_run *run, struct error *error);
bool run_end(struct fleet_run *run, struct error *error);          /* all that is left of it */
/* Can the request, of `tokens` tokens in all, run on an empty replica? */
bool run_fits(const struct sim_server *server, size_t id, uint64_t tokens, struct error *error);

#endif
