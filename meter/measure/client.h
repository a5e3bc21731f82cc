/* The client of `measure`: requests in flight, and the time of each of their chunks. */
#ifndef MEASURE_CLIENT_H
#define MEASURE_CLIENT_H

#include "meter/measure/measure.h"
#include "rows/random.h"

/* How an endpoint wants to be asked; the first way that it answers is taken. */
struct endpoint_way {
    bool chat;                      /* /v1/chat/completions; else /v1/completions */
    bool ids;                       /* the prompt is an array of token ids; else a text */
    bool exact;                     /* with ignore_eos and min_tokens, which not every server knows */
};

/* A request and what came of it. Times are in s since the client was opened; below 0: never. Of an
 * endpoint whose /clock is virtual they are the simulated times that it sends. */
struct sent_request {
    size_t point, concurrency;      /* of its load; concurrency 0: a question beside the loads, or an open loop */
    double rate;                    /* requests per s of an open loop; 0: none */
    uint32_t prompt_asked, output_asked;
    bool warm_up;                   /* one of the first of its load, which does not count */
    bool drained;                   /* it ended when no further ones were sent */
    double sent, first, last;
    uint32_t prompt_tokens, output_tokens, cached_tokens;   /* as the usage says */
    bool usage;                     /* else output tokens are chunks, and prompt tokens as asked */
    double *chunk_times;            /* [chunk_count] of chunks with text */
    size_t chunk_count, chunk_room;
    double overhead;                /* this program's own time before the first chunk, s; left out of TTFT */
    int status;                     /* of HTTP; 0: no answer */
    const char *error;              /* NULL: a whole answer */
};

struct client;
/* `key` NULL: none; `timeout`: s without a byte after which a request has failed; `longest`: s after which everything
 * ends, whatever comes; `seed`: of prompts. The arena outlives the client. False: no such URL, or libcurl does not
 * start. */
bool client_open(struct arena *arena, const char *url, const char *key, double timeout, double longest, uint64_t seed,
                 struct client **client, struct error *error);
void client_close(struct client *client);
/* Asks /v1/models for `wanted`, or the first where that is not listed or NULL; NULL and a message where there is
 * no answer or no model. *length_most: of a request in tokens, 0: not told. Finds out whether the endpoint has a
 * virtual clock, and what it shows. */
const char *client_model(struct client *client, const char *wanted, double *length_most, const char **message);
void client_set(struct client *client, const char *model, struct endpoint_way way, double bytes_per_token);
/* Send a request; what comes of it is in `request`, which client_wait returns when it is over. */
void client_send(struct client *client, struct sent_request *request);
/* Wait until a request is over, for at most `seconds`; NULL: none is. */
struct sent_request *client_wait(struct client *client, double seconds);
size_t client_in_flight(const struct client *client);
/* Break off all requests in flight, with this error; client_wait returns them. */
void client_break_off(struct client *client, const char *error);
/* Of a virtual clock: as many requests will be in flight from now on. No effect with others. */
void client_announce(struct client *client, size_t clients);
bool client_is_virtual(const struct client *client);
double client_now(const struct client *client);     /* s since it was opened; of a virtual clock, what it shows */
/* Processor time of this process over time of the clock since it was opened. */
double client_busy(const struct client *client);

#endif
