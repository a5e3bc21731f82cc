/* tiers -- the cheapest memory tier for the KV cache of an idle conversation.
 *
 *   cost of a pause
 *     |        hbm /        _ ddr
 *     |           /     _--'             ____ recompute
 *     |          /  _--'      __________/____ flash
 *     |         /--'    ____/
 *     |________/___________________________________ pause
 *         hbm  |    ddr    |    flash    | recompute
 *
 * A place is a tier or recomputation. The cost of a pause in each place is a row, tier_pause_cost or
 * recompute_pause_cost, evaluated here as a function of hold_time; the path is the sequence of
 * cheapest places from the shortest pause to the longest. A tier that brings the cache back later
 * than resume_limit has the cost of recomputation and is never the cheapest. Times in s, costs in
 * USD. */
#ifndef ASK_TIERS_H
#define ASK_TIERS_H

#include "ask/ask.h"

struct stretch {                    /* pauses for which one place is the cheapest: from <= pause < until */
    size_t place;
    double from, until;             /* s; until INFINITY: up to the longest pause */
};

struct places {                     /* lives in the scenario's arena */
    struct scenario *scenario;
    size_t tiers;                   /* number of tiers; the place of this index is recomputation */
    const char **names;             /* [tiers + 1] */
    struct graph graph;             /* outputs: cost of a pause in each place; input: the pause */
    double *at;                     /* [tiers + 1] result of the last places_costs, USD */
    double longest;                 /* longest pause, s */
    size_t points;
    double *grid, *costs;           /* [points] pauses; [tiers + 1][points] */
    struct stretch *path;
    size_t path_count, path_room;
};

bool places_open(struct scenario *scenario, struct places *places, struct error *error);
/* Cost of a pause in each place; valid until the next call. */
const double *places_costs(struct places *places, double pause);
/* The cheapest place, the first of several; recomputation where no tier is cheaper. */
size_t places_best(struct places *places, double pause);
/* The same at a point of the grid. */
size_t places_best_of(const struct places *places, size_t point);
/* The break-even interval: the pause from which on recomputation costs no more. 0: always,
 * INFINITY: never. */
double places_again(struct places *places, size_t tier);
bool places_on_path(const struct places *places, size_t place);

/* ---- the answer ------------------------------------------------------------------ */

/* Rows of a tier, and of the whole: documents and tables carry them under these names. A new one is
 * in JSON and CSV; which columns the text has, tiers_answer.c says. */
#define TIER_FIGURES(X)                                                                     \
    X(tier_capacity) X(tier_bandwidth) X(tier_price) X(tier_hold) X(tier_retrieve)          \
    X(tier_drain_time) X(tier_time_to_live) X(tier_break_even) X(tier_fetch_time)           \
    X(tier_conversations) X(tier_wear) X(tier_write_cost) X(tier_endurance)                 \
    X(tier_daily_writes) X(tier_wear_time) X(tier_in_place)
#define WHOLE_FIGURES(X)                                                                    \
    X(context) X(kv_per_token) X(kv_stored) X(hold_time) X(resume_limit)                    \
    X(copy_occupancy) X(recompute_cost) X(recompute_pause_cost) X(recompute_pause_time)     \
    X(cheapest_pause_cost) X(sequences_that_fit) X(host_conversations)                          \
    X(memory_share_of_cost) X(memory_share_quoted)

enum tier_figure {
#define X(name) TIER_##name,
    TIER_FIGURES(X)
#undef X
    TIER_FIGURE_COUNT
};
enum whole_figure {
#define X(name) WHOLE_##name,
    WHOLE_FIGURES(X)
#undef X
    WHOLE_FIGURE_COUNT
};
extern const char *const tier_figures[], *const whole_figures[];

struct tier_answer {
    const char *name, *title;
    double at[TIER_FIGURE_COUNT];               /* NAN: no finite value */
    double quoted, quoted_low, quoted_high;     /* drain time in the lecture; NAN: none */
    double again;                               /* places_again */
    const char *never;                          /* why it is never the cheapest; NULL: it is */
    bool beaten;                                /* because another tier costs less, or as much */
};

struct tiers_answer {
    struct scenario scenario;
    struct places places, rented;   /* with the wear of writes, as it is; by rent and retrieval alone */
    double whole[WHOLE_FIGURE_COUNT];           /* NAN: no finite value */
    struct range memory;                        /* of memory_share_of_cost */
    bool memory_known;                          /* the machine's price is */
    double memory_listed_low, memory_listed_high;   /* in its bill of materials; NAN: none */
    struct tier_answer *tier;                   /* [places.tiers] */
    double *pauses;                             /* a ladder, the borders, hold_time */
    size_t pause_count;
};

void tiers_answer(struct tiers_answer *tiers, struct answer *answer);
/* "DeepSeek-V3 on H200 SXM", or what stands for them. */
const char *tiers_title(const struct tiers_answer *tiers);
/* Does the cache come back from there later than resume_limit? */
bool tiers_late(const struct tiers_answer *tiers, size_t place);
struct picture *tiers_picture(const struct tiers_answer *tiers);

extern const struct record answer_tiers;      /* the keys of the answer */

#endif
