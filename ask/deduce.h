/* deduce -- what a price sheet says: what was read, what it means, how it is told.
 *
 *     file -> prices -> ratios -> suspicious ones marked -> draws weighed -> report
 *
 * One model gets a report of its own, a sheet a line for each. */
#ifndef ASK_DEDUCE_H
#define ASK_DEDUCE_H

#include "ask/ask.h"
#include "deduce/deduce.h"
#include "import/prices.h"

struct usual {                      /* what ratios usually are; NAN: nothing is known */
    double low, high;
};

/* data/priors.csv, and what it takes from the sheets of machines and tiers. */
struct priors {
    struct belief belief[FIELD_COUNT];
    struct usual usual[FIELD_COUNT], priority;
    const char *tier[DEDUCE_TIERS];
    double tier_share[DEDUCE_TIERS];
    size_t tiers;
};
/* Fills the scenario's tables "offer" and "tier" too; notes machines without a rent. */
bool priors_read(struct scenario *scenario, struct priors *priors, struct error *error);

/* Prices of one entry as the rows of a sheet see them. */
struct reading {
    const struct price *price;
    struct evidence evidence;       /* suspicious fields left out */
    double seen[FIELD_COUNT];       /* with them */
    double priority;
    unsigned suspicious;            /* bits of fields; bit FIELD_COUNT: priority */
};

struct seen_rows {                  /* the rows "seen_..." as one list */
    struct list list;
    int input[16];
};
bool seen_open(struct scenario *scenario, struct seen_rows *rows, struct error *error);
void reading_make(struct arena *arena, const struct seen_rows *rows, const struct priors *priors,
                  const struct price *price, struct reading *reading);
/* "hit, write 1 h"; empty for none. */
const char *reading_suspicious(struct arena *arena, const struct reading *reading);

struct deduction {
    struct arena *arena;
    const struct question *question;
    struct answer *answer;
    struct error *error;
    struct scenario scenario;
    struct priors priors;
    struct price_sheet sheet;
    struct seen_rows rows;
    struct reading *readings;       /* of each price */
    struct draws *draws;
};

bool deduce_read(struct deduction *deduction, const char *path, struct price_sheet *sheet,
                 struct reading **readings);
bool deduce_model(struct deduction *deduction, const struct reading *reading);
bool deduce_whole(struct deduction *deduction);
bool deduce_market(struct deduction *deduction, const char *model);
bool deduce_difference(struct deduction *deduction, const char *new_path);

#endif
