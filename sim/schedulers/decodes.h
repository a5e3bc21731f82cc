/* decodes -- the requests of a replica that decode together, each one token per turn.
 *
 * The state of a request is stored relative to the number of turns, so that a turn takes constant time:
 * tokens cached = request's `cached` + turns launched; the turn of its last output is known when it
 * joins. The requests are a heap: the first to end is on top, and of those that end in the same turn
 * the one with the lowest id. */
#ifndef SIM_SCHEDULERS_DECODES_H
#define SIM_SCHEDULERS_DECODES_H

#include "sim/replica.h"

struct decode {
    uint64_t turn;                  /* the turn that gives its last output token */
    uint32_t id;
    uint32_t most;                  /* output tokens that were missing when it joined */
};

struct decodes {
    struct decode *heap;
    size_t count;
    uint64_t launched, read;        /* turns that were launched; whose results were read */
    int64_t cached;                 /* sum of the requests' cached tokens, each less `launched` */
};

void decodes_push(struct decodes *decodes, struct decode decode);
struct decode decodes_pop(struct decodes *decodes);
void decodes_remove(struct decodes *decodes, size_t at);
size_t decodes_find(const struct decodes *decodes, uint32_t id);

/* The next turn of all decoding requests, as a step. */
static inline struct sim_step decodes_step(const struct decodes *decodes)
{
    double count = (double)decodes->count;
    return (struct sim_step){
        .decoding = count, .sequences = count,
        .decode_cached = (double)(decodes->cached +
                                  (int64_t)(decodes->count * decodes->launched)) };
}

#endif
