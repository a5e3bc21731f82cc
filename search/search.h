/* search -- every point of some spaces, and those that nothing beats.
 *
 *     space:   settings (numbers on nested axes)  x  loads (a column)
 *                 |                                    |
 *              what moves with an axis is computed once for each of its values
 *                 |
 *     point -> verdict: the first limit that it breaks, or none
 *           -> front: points that no other beats both across and along
 *
 * A point is (space, setting, load). Points that break a limit are counted by the first one
 * that they break, never dropped in silence. The answer does not depend on the number of
 * threads: of equal points the first stays. Results live in the arena they were given. */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "engine/engine.h"

enum { SEARCH_LIMITS = 8 };
#define SEARCH_UNREAD ((size_t)-1)             /* of an input that the list does not have */

/* An output that must be at most so much. Where it never falls as the load grows, loads beyond
 * one that breaks it are counted with it unseen. */
struct search_limit {
    const char *name;
    size_t output;
    double bound;
    bool rises;
};

struct search_space {
    struct list list;               /* outputs as `across`, `along`, `most` and the limits say */
    const size_t *input;            /* [inputs] of the list that a setting gives */
    const int *axis;                /* [inputs] 0 is the outermost */
    size_t inputs;
    const double *settings;         /* [setting_count * inputs]; equal outer values stand together */
    size_t setting_count;
    size_t column;                  /* input of the list that takes the loads */
    const double *loads;            /* [load_count], rising */
    size_t load_count;
    size_t across, along;           /* outputs of which more is better */
    size_t most;                    /* output, the same for all loads: the highest load there is
                                       room for */
    const struct search_limit *limits;      /* in the order in which they are asked */
    size_t limit_count;
};

struct search_point {
    uint32_t space, setting, load;
    double across, along;
};

struct search_count {
    size_t points, seen, met;
    size_t no_fit, no_room;         /* settings without room for any load; for this one */
    size_t broken[SEARCH_LIMITS];   /* of the limits of the spaces, which are the same for all */
};

struct search_front {
    struct search_point *points;    /* rising across, falling along */
    size_t count;
};

struct search_result {
    struct search_front front;
    struct search_front tops;       /* the best along of each outermost setting, falling */
    struct search_count count;
    bool miss_found;                /* no point is within the limits, but there are some */
    struct search_point miss;       /* whose worst limit is broken least: */
    double miss_by;                 /* by this factor */
};

/* False: a list has a ROOT. */
bool search_run(struct arena *arena, const struct search_space *spaces, size_t count,
                struct search_result *result, struct error *error);

/* All outputs of a point's list. */
void search_values(struct arena *scratch, const struct search_space *spaces,
                   const struct search_point *point, double *outputs);

#endif
