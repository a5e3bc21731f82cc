/* evidence -- a price list as inputs of rows: ratios of prices, which of them look wrong, priors.
 *
 *     file -> prices -> ratios ("seen_..." rows) -> suspicious ones marked -> readings
 *
 * `deduce` weighs readings, `bill` skips the suspicious ones. */
#ifndef ASK_EVIDENCE_H
#define ASK_EVIDENCE_H

#include "import/prices.h"
#include "infer/infer.h"
#include "scenario/scenario.h"

struct usual {                      /* what ratios usually are; NAN: nothing is known */
    double low, high;
};

/* data/priors.csv, and what it takes from the sheets of machines and tiers. */
struct priors {
    struct belief belief[FIELD_COUNT];
    struct usual usual[FIELD_COUNT], priority;
    double vendor_models, vendor_span, vendor_policy;   /* when a value is a seller's policy */
    const char *tier[DEDUCE_TIERS];
    double tier_share[DEDUCE_TIERS];
    size_t tiers;
};
/* Fills the scenario's tables "offer" and "tier" too; notes machines without a rent. */
void priors_read(struct scenario *scenario, struct priors *priors);

/* What a line of a whole sheet tells. */
enum { DEDUCE_TOLD = 2 };
extern const enum quantity_key deduce_told[DEDUCE_TOLD];

/* Prices of one entry as the rows of a sheet see them. */
struct price_reading {
    const struct price *price;
    struct evidence evidence;       /* suspicious fields left out */
    double seen[FIELD_COUNT];       /* with them */
    double priority;
    unsigned suspicious;            /* bits of fields; bit FIELD_COUNT: priority */
    unsigned vendor;                /* bits of fields: the seller asks the same everywhere */
    int same[FIELD_COUNT], all[FIELD_COUNT];    /* entries of the seller that show this value; any */
    struct span span[DEDUCE_TOLD];  /* of a whole sheet */
    double effective;
};

struct seen_rows {                  /* the rows "seen_..." as one list */
    struct graph graph;
    int input[16];
};
bool seen_open(struct scenario *scenario, struct seen_rows *rows, struct error *error);
void reading_make(struct arena *arena, const struct seen_rows *rows, const struct priors *priors,
                  const struct price *price, struct price_reading *reading);
/* Mark values that many models of a seller share although their prices are far apart: such a value is
 * the seller's policy and says nothing about cost. */
void readings_vendors(struct arena *arena, struct price_reading *readings, size_t count,
                      const struct priors *priors);
/* " --set seen_input=5e-06 ...": what is published, for `why`. */
const char *reading_sets(struct arena *arena, const struct price_reading *reading);
/* "hit 0.8, write 1 h 23"; empty for none. */
const char *reading_suspicious(struct arena *arena, const struct price_reading *reading);

/* A price list, "prices" for the one built in, and a reading of each of its prices. */
bool readings_read(struct arena *arena, const char *path, const struct priors *priors,
                   const struct seen_rows *rows, struct price_sheet *sheet,
                   struct price_reading **readings, struct error *error);

#endif
