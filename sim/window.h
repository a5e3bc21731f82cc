/* window -- the requests of a run that are in memory.
 *
 *     0 ...... forgotten ...... told ...... oldest ......... arrived ...... drawn ...... count
 *      given back       left the run             in the run         to arrive      not drawn
 *
 * The arrays of a run have an element per request, by its number in the trace. Those of a long trace (trace->source) are
 * filled shortly before a request arrives. When a request and all before it have left the run, options->reader reads their
 * elements; when the steps that were in flight then have ended, the pages go back to the system. Numbers stay as they are,
 * so that a run has the same bits either way, and its memory is that of the requests between the oldest in it and the last.
 * Where the system cannot take pages back (arena_forget), all stay. */
#ifndef SIM_WINDOW_H
#define SIM_WINDOW_H

#include "sim/sim.h"

enum { WINDOW_ARRAYS = 24, WINDOW_STEP = 8192 };    /* least requests that are drawn and forgotten together */

struct window {
    struct { char *elements; size_t size; } arrays[WINDOW_ARRAYS];
    size_t array_count, count, step;            /* step: requests that are drawn and forgotten together */
    size_t drawn, oldest, told, forgotten;      /* the first request that is not drawn, in the run, not read by the reader, in
                                                   memory; without a source all are drawn at once */
    bool *left;                     /* [requests] it has left the run; NULL: no request is forgotten */
    size_t marked;                  /* requests before this one are forgotten after `safe`; 0: none is marked */
    double safe, steps_end;         /* s; steps_end: end of the last reported step */
};

void window_open(struct window *window, struct arena *arena, const struct trace *trace, size_t step);
/* Draw the next requests; returns the first of them. */
size_t window_draw(struct window *window, const struct trace *trace);
/* An array with an element per request, zeroed. */
void *window_array(struct window *window, struct arena *arena, size_t size);
/* The request has left the run. */
void window_left(struct window *window, uint32_t id);
/* After a moment: find the oldest in the run. */
void window_look(struct window *window);
/* Read and forget what can be, of the requests before the oldest. The trace, the options and the result are those of the run. */
void window_move(struct window *window, const struct sim_options *options, double now);
/* At the end of a run. */
void window_close(struct window *window, const struct sim_options *options);

/* Has this request, or one that was forgotten, left the run? */
static inline bool window_gone(const struct window *window, uint32_t id)
{
    return window->left && id < window->oldest;
}

#endif
