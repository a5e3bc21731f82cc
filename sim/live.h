/* live -- a run whose requests are not known beforehand: they are asked while it goes on.
 *
 *     live_ask(now) -> id      live_next: when something happens      live_advance(now) -> told: tokens
 *
 * Time is the caller's, in seconds, and never goes back: a wall clock makes the run a server, a counter
 * makes it a test. Every step is run by itself, so that each token has its time. */
#ifndef SIM_LIVE_H
#define SIM_LIVE_H

#include "sim/sim.h"

/* A request has `tokens` output tokens, `fresh` of them new, as of `now`, the time at which the last of them
 * came. */
typedef void live_told(void *context, uint32_t id, size_t replica, uint32_t tokens, uint32_t fresh, double now);

/* Lives in the arena it was opened in. */
struct live;

/* `options` as for sim_run, without users, patience and a limit of the queue, which are the caller's;
 * `most`: requests that the run can take in all. */
struct live *live_open(struct arena *arena, const struct sim_options *options, size_t most,
                       live_told *told, void *context, struct error *error);
/* False: no empty replica has room for a request of these lengths. */
bool live_fits(const struct live *live, uint32_t prompt, uint32_t output, struct error *error);
/* Tokens of a block of the prefix cache; 0: the replicas have none. */
size_t live_block(const struct live *live);
/* A request arrives at `at`, which is not before any time given so far. `blocks`: a name for each of the first
 * blocks of its prompt and all before it, so that equal names are equal prefixes. False: there were `most`
 * already. */
bool live_ask(struct live *live, double at, uint32_t prompt, uint32_t output, const uint64_t *blocks, size_t count,
              uint32_t *id);
/* The replica that a request is at; the first for one that has not been routed. */
size_t live_where(const struct live *live, uint32_t id);
/* The user of a request has gone. It is forgotten if it still waits, or while its prompt is still being computed (true); one
 * that arrives later is forgotten then; one that gives tokens ends as soon as its scheduler can end it. */
bool live_take_back(struct live *live, uint32_t id, double now);
double live_next(const struct live *live);      /* the next moment, s; INFINITY: nothing is planned */
/* Let everything happen that happens until `until`. */
void live_advance(struct live *live, double until);

/* What is there: requests asked so far, and those that have neither their last token nor left. */
size_t live_asked(const struct live *live);
size_t live_open_requests(const struct live *live);
size_t live_replicas(const struct live *live);
struct live_replica {
    size_t waiting, running, blocks_used, blocks;
};
struct live_replica live_replica(const struct live *live, size_t replica);
const struct sim_result *live_result(const struct live *live);

#endif
