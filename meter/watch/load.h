/* load -- what an engine's metrics say of its load. */
#ifndef WATCH_LOAD_H
#define WATCH_LOAD_H

#include "meter/watch/metrics.h"

/* A quantity that was read; value NAN: `source` says why there is none. */
struct seen_quantity {
    double value;
    const char *source;
};
enum load_quantity {
    LOAD_ARRIVAL_RATE, LOAD_PROMPT, LOAD_OUTPUT, LOAD_RUNNING, LOAD_WAITING, LOAD_HIT_SHARE, LOAD_PREEMPTION_RATE,
    LOAD_ACCEPTANCE, LOAD_TTFT, LOAD_ITL, LOAD_CACHE_USED, LOAD_COUNT
};
struct load {
    const struct engine *engine;
    const char *others;             /* engines whose metrics the page has too, and which are not read; NULL: there are none */
    const char *version, *model;    /* "" where no label has it */
    const char *role;               /* SGLang's engine_type: unified, prefill, decode; "" */
    double span;                    /* s between the scrapes, or since the start; NAN: not known */
    bool restarted;                 /* a counter fell: the sums since the start were taken */
    size_t servers, engines;        /* on the page; both 1 if no label distinguishes them */
    bool numbered;                  /* a label numbers the engines of a server */
    bool sharing;                   /* the engines of a server are attention ranks of one group of GPUs */
    double replicas;                /* equal predictions: the engines, until watch_place knows the layout */
    bool scaled;                    /* there were more or fewer of them before */
    size_t left_out;                /* further replicas that report what no server can have, ... */
    const char *left_out_why;       /* ... and the first such value; NULL: there are none */
    bool impossible;                /* load_read failed for such a value */
    double memory_share, block_tokens, blocks, tensor_parallel;     /* as labels tell; NAN: none does */
    double requests;                /* finished in the span */
    bool requests_derived;          /* from tokens, not counted */
    double prompt_tokens, output_tokens, prompt_seconds;    /* in the span; NAN: they are not counted */
    double in_flight;               /* requests with the engine on average, by Little's law of their times to the
                                       first token and of the gaps after it; NAN: not two scrapes */
    double tokens_per_gap;          /* of accepted draft tokens more than 1 */
    double in_flight_growth;        /* requests in flight more than before; NAN: not two scrapes */
    struct seen_quantity seen[LOAD_COUNT];
};

/* `since` NULL: one scrape; then `span` is the time since the start of the server, or NAN. False: metrics of
 * an engine that is not known, a prefill and a decode half on one page, or a value that no server can have and that is not of one replica of several. */
bool load_read(struct arena *arena, const char *file, const struct exposition *now,
               const struct exposition *since, double span, struct load *load, struct error *error);
/* Of an engine that counts tokens and no requests, given the lengths (NAN: unknown): requests and
 * arrivals by the output tokens, and the time to the first token. */
void load_assume_lengths(struct load *load, double prompt, double output);

#endif
