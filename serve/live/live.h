/* live -- the simulator in real time: an endpoint that answers the OpenAI API with tokens at the times
 * its scheduler gives them.
 *
 *   HTTP -> endpoint.c -> openai.c (what is asked) -> sim/live.h: one run, all replicas
 *   HTTP <- endpoint.c <- openai.c (chunks)        <- its tokens -> vllm_metrics.c: /metrics
 *
 * One thread waits for sockets and for the next moment of the run, whichever is first. The time of the
 * run is the clock's, times a factor; or virtual: time advances only once all announced clients have a
 * request in flight, so that a test need not wait. */
#ifndef LIVE_H
#define LIVE_H

#include "ask/ask.h"

/* Is this command `simulate --listen`? */
bool live_asked_for(const struct command *command);
/* Serve until SIGINT or SIGTERM; `ready` gets the URL. */
bool live_serve(struct arena *arena, const struct command *command, void (*ready)(const char *url),
                struct error *error);

/* From now on `simulate` keeps what `watch` would see of a run, and has replicas that follow it (--metrics,
 * --scale-by). */
void live_attaches(void);

#endif
