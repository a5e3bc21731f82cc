/* parts -- private to search/: the blocks of a search, and what a rank found in its own, for all others.
 *
 * A block is the settings that share their outermost values; one rank walks it. The ranks run one program
 * on machines of one kind, so what they tell each other has the bytes of memory:
 *
 *     struct part | points of the front
 *
 * and each block as the rank that walked it left it. */
#ifndef SEARCH_PARTS_H
#define SEARCH_PARTS_H

#include "search/front.h"

struct search_found {
    bool met;                       /* some point is within the limits: */
    struct search_point best;       /*   the one of highest throughput */
    unsigned moved_found;           /* as in struct search_result */
    struct search_point moved[SEARCH_LIMITS];
};

struct search_block {
    uint32_t space;
    size_t first, end;              /* its settings: first <= setting < end */
    struct search_found found;
};

struct search {
    const struct ranks *ranks;
    const struct search_space *spaces;
    size_t space_count;
    struct search_block *blocks;
    size_t block_count;
};

/* What some blocks have together, beside a front. */
struct part {
    size_t points;                  /* of the front */
    struct search_count count;
    bool rooted;                    /* a graph has a ROOT, which was not searched */
    bool near_found;                /* the nearest miss was looked for, and there is one: */
    struct search_point nearest;
    double nearest_by;              /* the factor by which it exceeds its worst limit */
};

void count_add(struct search_count *sum, const struct search_count *one);
void part_add(struct part *sum, const struct part *one);
/* Add the other ranks' part, front and blocks to those of this one. */
bool parts_share(struct arena *arena, const struct search *search, struct part *part, struct front *front,
                 struct error *error);

#endif
