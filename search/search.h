/* search -- evaluate every point of some spaces and keep those on the Pareto front.
 *
 *     space:   settings (numbers on nested axes)  x  loads (a column)
 *                 |                                    |
 *              a node of the graph is computed once for each value of the axes it depends on
 *                 |
 *     point -> verdict: the first limit that it violates, or none
 *           -> front: points that no other exceeds in both `speed` and `throughput`
 *
 * A point is (space, setting, load). Points that violate a limit are counted under the first one
 * that they violate, never dropped in silence. The result does not depend on the number of threads:
 * of equal points the first is kept. Results live in the arena they were given. */
#ifndef SEARCH_H
#define SEARCH_H

#include "base/ranks.h"
#include "rows/rows.h"

enum { SEARCH_LIMITS = 8 };
#define SEARCH_UNREAD ((size_t)-1)             /* index of an input that the graph does not read */

/* An output that must not exceed `bound`. If it `rises` with the load, all loads above one that violates
 * it are counted as violations without being evaluated; if the output is seen to fall within a chunk of
 * loads, all loads of the chunk are evaluated. */
struct search_limit {
    const char *name;
    size_t output;
    double bound;
    bool rises;
    double wider;                   /* a relaxed value of `bound` that is searched too; 0: none */
};

/* A space: settings x loads, with the graph that evaluates its points. */
struct search_space {
    struct graph graph;             /* its outputs are those of `speed`, `throughput`, `most`, limits */
    const size_t *input;            /* [inputs] inputs of the graph that a setting fixes */
    const int *axis;                /* [inputs] the nested axis of each; 0 is the outermost */
    size_t inputs;
    const double *settings;         /* [setting_count * inputs]; equal outer values stand together */
    size_t setting_count;
    size_t column;                  /* the input of the graph that takes the loads */
    const double *loads;            /* [load_count], rising */
    size_t load_count;
    size_t speed, throughput;       /* outputs to be maximized, the axes of the front */
    size_t most;                    /* output: the highest load that fits in memory; it does not
                                       depend on the load */
    const struct search_limit *limits;      /* in the order in which they are checked */
    size_t limit_count;
};

struct search_point {
    uint32_t space, setting, load;
    double speed, throughput;
};

/* Numbers of points. */
struct search_count {
    size_t settings;
    size_t points, seen, met;       /* of the space; evaluated; within all limits */
    size_t no_fit, no_room;         /* points where no load fits in memory; where this load does not */
    size_t broken[SEARCH_LIMITS];   /* points by the first limit that they break */
};

/* Points of the Pareto front, in order of rising speed and so of falling throughput. */
struct search_front {
    struct search_point *points;
    size_t count;
};

struct search_result {
    struct search_front front;
    struct search_front tops;       /* the point of highest throughput of each outermost setting, falling */
    struct search_count count;
    bool miss_found;                /* no point is within the limits, but some fit in memory: */
    struct search_point miss;       /*   the one that is nearest to the limits */
    double miss_by;                 /*   factor by which it exceeds its worst limit */
    unsigned moved_found;           /* bit i: points exist that only the relaxed limit i admits */
    struct search_point moved[SEARCH_LIMITS];   /* the point of highest throughput among these */
};

/* Search all spaces, in parallel. Limits have the same order in all of them. The result does not
 * depend on the number of threads. Fails if a graph has a ROOT, which a loop nest cannot hold. */
bool search_run(struct arena *arena, const struct search_space *spaces, size_t count,
                struct search_result *result, struct error *error);
/* The same, by all ranks: each walks its share of the settings, and all have the whole result. Every rank calls it
 * with the same spaces. */
bool search_ranks(struct arena *arena, const struct ranks *ranks, const struct search_space *spaces, size_t count,
                  struct search_result *result, struct error *error);

/* Many spaces may be searched one after another, each without the settings of those before:
 *
 *     search_run(&scratch, &spaces[i], 1, &one, &error)
 *     search_keep(arena, &spaces[i], i, &one)      keep in `arena` the settings of its points alone, which are now points
 *                                                  of space i
 *     search_add(arena, &sum, &one)                the result of a search of all spaces up to this one
 *
 * `sum` begins as zeros. */
void search_keep(struct arena *arena, struct search_space *space, size_t number, struct search_result *one);
void search_add(struct arena *arena, struct search_result *sum, const struct search_result *one);

/* Evaluate all outputs of the graph of a point's space at that point. */
void search_values(struct arena *scratch, const struct search_space *spaces,
                   const struct search_point *point, double *outputs);

#endif
