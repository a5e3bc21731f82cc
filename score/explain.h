/* explain -- what the figures of a measurement say of their server, before any prediction is trusted.
 *
 *     points -> rows of "What a measurement reveals" -> findings of each point
 *
 * A finding is a cause that a source did not state, or a figure that cannot be: slots, a streaming
 * interval, a cached prompt. It stands on the point's own figures (bounds, Little's law), on those of
 * the same server with other answers, or on the reason beside an input; predictions only tell
 * what is usual for such a load. */
#ifndef SCORE_EXPLAIN_H
#define SCORE_EXPLAIN_H

#include "score/physics.h"

enum revelation { BUSY_SLOTS, STREAMING_INTERVAL, LATE_FIRST_TOKEN, CACHED_PROMPT, FASTER_THAN_MEMORY,
                  DOES_NOT_FIT, SAME_FIGURES, MEASURED_TWICE, PAST_SATURATION, START_UP, INFERRED_INPUT,
                  ASSUMED_INPUT, REVELATIONS };
extern const char *const revelation_words[REVELATIONS];     /* "busy_slots", ... */

struct finding {
    enum revelation what;
    double figure;                  /* base units; what it counts: docs/accuracy.md. NaN: there is none */
    const char *text;
};

struct explained {
    const struct measured *point;
    bool examined;                  /* false: its server cannot be modelled, so that nothing is known */
    struct finding *findings;
    size_t count, room;
    double factor;                  /* the largest factor by which a figure is off; 1: none is */
};

/* The points of the list with their findings: [list->count]. */
struct explained *explain_points(struct arena *arena, const struct command *command,
                                 const struct measured_list *list);

#endif
