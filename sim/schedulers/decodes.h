/* decodes -- the requests of a replica that decode together, one token each a turn.
 *
 * What each has is a difference to the count of turns, so that a turn costs nothing by request:
 * tokens cached = request's `cached` + turns launched; the turn of its last output is known when
 * it joins. A heap: the next to end first, of those that end together the lowest number. */
#ifndef SIM_SCHEDULERS_DECODES_H
#define SIM_SCHEDULERS_DECODES_H

#include "sim/replica.h"

struct decode {
    uint64_t turn;                  /* that gives the last output */
    uint32_t id;
    uint32_t most;                  /* outputs that it lacked when it joined */
};

struct decodes {
    struct decode *heap;
    size_t count;
    uint64_t launched, read;        /* turns */
    int64_t cached;                 /* sum over all, less `launched` each */
};

void decodes_push(struct decodes *decodes, struct decode decode);
struct decode decodes_pop(struct decodes *decodes);
void decodes_remove(struct decodes *decodes, size_t at);
size_t decodes_find(const struct decodes *decodes, uint32_t id);

static inline struct sim_step decodes_step(const struct decodes *decodes)
{
    double count = (double)decodes->count;
    return (struct sim_step){
        .decoding = count, .sequences = count,
        .decode_cached = (double)(decodes->cached +
                                  (int64_t)(decodes->count * decodes->launched)) };
}

#endif
