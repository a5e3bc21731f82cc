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
#ifndef SEARCH_H
#define SEARCH_H

#include "rows/rows.h"

enum { SEARCH_LIMITS = 8 };
#define SEARCH_UNREAD ((size_t)-1)             /* of an input that the list does not have */

/* An output that must be at most so much. Where it `rises` with the load, loads beyond one that
 * breaks it are counted with it unseen; in a block where it is seen to fall all are looked at. */
struct search_limit {
    const char *name;
    size_t output;
    double bound;
    bool rises;
    double wider;                   /* what it would be worth if it were so much; 0: not asked */
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
    unsigned moved_found;           /* bits of limits: wider, each lets something in; the best is */
    struct search_point moved[SEARCH_LIMITS];
};

/* False: a list has a ROOT. */
bool search_run(struct arena *arena, const struct search_space *spaces, size_t count,
                struct search_result *result, struct error *error);

/* ---- blocks: a search in parts ------------------------------------------------------------
 *
 *     search_blocks -> [ block 0 | block 1 | ... ] -> search_each -> keep(block) -> search_join
 *
 * A block is what the settings with the same outermost values give by themselves. Blocks of all
 * numbers, found wherever and in whatever order, joined are what search_run gives, bit for bit. */
struct search_block {
    uint32_t number, space;
    size_t first, end;              /* settings */
    struct search_count count;
    struct search_front front;
    bool found;                     /* something within the limits, the best along of which is */
    struct search_point best;
    struct search_point miss;       /* else the nearest, by this factor; 0: there is none */
    double miss_by;
    unsigned moved_found;           /* bits of limits: */
    struct search_point moved[SEARCH_LIMITS];   /* the best of those that only a wider one lets in */
};

/* All blocks, in order, with nothing found yet. */
struct search_block *search_blocks(struct arena *arena, const struct search_space *spaces,
                                   size_t count, size_t *blocks);
/* Which of so many shards a block is of: of any stretch each has nearly as many as another, in
 * step with no period of the settings. */
uint32_t search_shard(const struct search_block *block, uint32_t shards);

/* Who keeps blocks as they are found: one at a time, until one is refused. A block's front is
 * there only during the call. */
struct search_keeper {
    bool (*keep)(void *context, const struct search_block *block, struct error *error);
    void *context;
};
bool search_each(const struct search_space *spaces, struct search_block *const *wanted,
                 size_t count, const struct search_keeper *keeper, struct error *error);
void search_join(struct arena *arena, const struct search_block *blocks, size_t count,
                 struct search_result *result);

/* All outputs of a point's list. */
void search_values(struct arena *scratch, const struct search_space *spaces,
                   const struct search_point *point, double *outputs);

#endif
