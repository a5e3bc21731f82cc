/* search -- evaluate every point of some spaces and keep those on the Pareto front.
 *
 *     space:   settings (numbers on nested axes)  x  loads (a column)
 *                 |                                    |
 *              what depends on an axis is computed once for each of its values
 *                 |
 *     point -> verdict: the first limit that it breaks, or none
 *           -> front: points that no other dominates in `across` and `along`
 *
 * A point is (space, setting, load). Points that break a limit are counted by the first one
 * that they break, never dropped in silence. The answer does not depend on the number of
 * threads: of equal points the first stays. Results live in the arena they were given. */
#ifndef SEARCH_H
#define SEARCH_H

#include "rows/rows.h"

enum { SEARCH_LIMITS = 8 };
#define SEARCH_UNREAD ((size_t)-1)             /* of an input that the graph does not have */

/* An output that must not exceed `bound`. If it `rises` with the load, all loads above one that breaks
 * it are counted as breaking it without being evaluated; in a block where the output is seen to fall,
 * all loads are evaluated. */
struct search_limit {
    const char *name;
    size_t output;
    double bound;
    bool rises;
    double wider;                   /* a relaxed value of `bound` that is searched too; 0: none */
};

struct search_space {
    struct graph graph;             /* outputs: those of `speed`, `throughput`, `most`, limits */
    const size_t *input;            /* [inputs] inputs of the graph that a setting fixes */
    const int *axis;                /* [inputs] 0 is the outermost */
    size_t inputs;
    const double *settings;         /* [setting_count * inputs]; equal outer values stand together */
    size_t setting_count;
    size_t column;                  /* the input of the graph that takes the loads */
    const double *loads;            /* [load_count], rising */
    size_t load_count;
    size_t speed, throughput;       /* outputs to be maximized, the axes of the front */
    size_t most;                    /* output, the same for all loads: the highest load there is
                                       room for */
    const struct search_limit *limits;      /* in the order in which they are checked */
    size_t limit_count;
};

struct search_point {
    uint32_t space, setting, load;
    double speed, throughput;
};

struct search_count {
    size_t points, seen, met;
    size_t no_fit, no_room;         /* points where no load fits in memory; where this load does not */
    size_t broken[SEARCH_LIMITS];   /* points by the first limit that they break */
};

struct search_front {
    struct search_point *points;    /* rising speed, falling throughput */
    size_t count;
};

struct search_result {
    struct search_front front;
    struct search_front tops;       /* the best throughput of each outermost setting, falling */
    struct search_count count;
    bool miss_found;                /* no point is within the limits, but there are some */
    struct search_point miss;       /* whose worst limit is broken least: */
    double miss_by;                 /* by this factor */
    unsigned moved_found;           /* bits of limits: wider, each lets something in; the best is */
    struct search_point moved[SEARCH_LIMITS];
};

/* Search all spaces, in parallel. Limits have the same order in all of them. The result does not
 * depend on the number of threads. Fails if a graph has a ROOT, which a loop nest cannot hold. */
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
    bool found;                     /* something within the limits, the best throughput of which is */
    struct search_point best;
    struct search_point miss;       /* else the nearest, by this factor; 0: there is none */
    double miss_by;
    unsigned moved_found;           /* bits of limits: */
    struct search_point moved[SEARCH_LIMITS];   /* the best of those that only a wider one lets in */
};

/* Divide the search into blocks, in order, with nothing found yet. */
struct search_block *search_blocks(struct arena *arena, const struct search_space *spaces,
                                   size_t count, size_t *blocks);
/* The shard, of `shards`, to which a block belongs. Any range of blocks is divided almost evenly over
 * the shards, and no period of the settings coincides with them. */
uint32_t search_shard(const struct search_block *block, uint32_t shards);

/* Receives finished blocks, one at a time, in any order; a refusal ends the search. A block's front
 * is valid only during the call. */
struct search_keeper {
    bool (*keep)(void *context, const struct search_block *block, struct error *error);
    void *context;
};
bool search_each(const struct search_space *spaces, struct search_block *const *wanted,
                 size_t count, const struct search_keeper *keeper, struct error *error);
void search_join(struct arena *arena, const struct search_block *blocks, size_t count,
                 struct search_result *result);

/* Evaluate all outputs of the graph of a point's space at that point. */
void search_values(struct arena *scratch, const struct search_space *spaces,
                   const struct search_point *point, double *outputs);

#endif
