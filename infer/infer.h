/* infer -- from a public price back to what must be true.
 *
 *     draws ----rows: priors----> unknowns ----rows: costs----> what a sheet would show
 *                                     |                                  | against what it shows
 *                                     +------ weighed by the likelihood -+--> quantiles
 *
 * Many draws are made once, from the priors (formulas/prices/priors.chalk), and run through the rows
 * of a sheet (formulas/prices/price-list.chalk), compiled where nobody changed a formula. A sheet only
 * weighs them, so that thousands of sheets share one set of draws. What is kept of a draw is a
 * cell of a fixed grid in the logarithm, 32 an octave: a likelihood is then a table, a weight a
 * product of a few of its entries, and a quantile a sum over a histogram.
 *
 * A price is its cost times a margin that strays by `spread` in the logarithm, or with
 * probability `policy` what sellers ask whatever it costs. Fields are independent given the
 * unknowns. Where few draws are left for a sheet, more are made where its weight lies.
 *
 * Same seed, same bits. Results live in the arena they were given. */
#ifndef INFER_H
#define INFER_H

#include "rows/rows.h"

enum field {
#define FIELD(key, cost, seen, label) FIELD_##key,
#include "infer/field.def"
#undef FIELD
    FIELD_COUNT
};

enum quantity_key {
#define QUANTITY(key, row) QUANTITY_##key,
#include "infer/quantity.def"
#undef QUANTITY
    QUANTITY_COUNT
};

struct field_row {
    const char *cost, *seen, *label;
};
extern const struct field_row fields[FIELD_COUNT];
extern const char *const quantities[QUANTITY_COUNT];

/* How a price strays from its cost; data/priors.csv. */
struct belief {
    double spread;                              /* deviation of ln price over cost */
    double policy;                              /* probability that cost has no part in it */
    double policy_middle, policy_spread;        /* what is asked then: median, deviation of ln */
};

/* What one sheet shows, as the rows `fields[].seen`; NAN: nothing. */
struct evidence {
    double seen[FIELD_COUNT];
    double policy[FIELD_COUNT];                 /* instead of the belief's; NAN: the belief's */
};

/* ---- draws ------------------------------------------------------------------------------- */

enum { DEDUCE_CELLS = 4096, DEDUCE_TIERS = 16 };

struct draws;

/* The rows and priors that the facts give. Tables "offer" and "tier" are filled by the caller.
 * A fact for an unknown ("params_active") makes it known. `all`: keep what deduce_shares needs. */
bool draws_make(struct arena *arena, const struct formulas *formulas, const struct facts *facts,
                uint64_t seed, size_t count, bool all, struct draws **draws,
                struct error *error);
size_t draws_count(const struct draws *draws);
bool draws_compiled(const struct draws *draws);         /* or interpreted: a formula was changed */
size_t draws_unknowns(const struct draws *draws);
const char *draws_unknown(const struct draws *draws, size_t index);    /* "params_active" */
/* One draw's true value of a field or quantity, for who makes sheets of it (tests). */
bool draws_values(struct arena *arena, const struct formulas *formulas, const struct facts *facts,
                  uint64_t seed, size_t count, double *const field[FIELD_COUNT],
                  double *const quantity[QUANTITY_COUNT], struct error *error);

/* ---- one sheet --------------------------------------------------------------------------- */

struct span {                       /* quantiles; q05 = NAN: nothing is known */
    double q05, q25, q50, q75, q95;
};

struct posterior {
    const struct draws *draws;      /* those that were weighed: the shared ones, or made again */
    double *weight;                 /* of each draw; sum 1 */
    double effective;               /* 1 / sum of squared weights */
    double largest;
    double log_evidence;            /* ln of the mean likelihood */
    bool outside;                   /* few draws are left even so: the sheet lies outside the priors */
    struct span span[QUANTITY_COUNT], prior[QUANTITY_COUNT];
    double bits[QUANTITY_COUNT];    /* what the sheet adds to the prior of each */
    double policy[FIELD_COUNT];     /* probability that cost has no part in it; NAN: not seen */
    double gain[FIELD_COUNT];       /* ln evidence for that, over its being cost */
    double tier[DEDUCE_TIERS];      /* probability of each tier */
};

/* `again`: make more draws where fewer than 400 effective ones are left. */
void deduce_sheet(struct arena *arena, const struct draws *draws, const struct belief *beliefs,
                  const struct evidence *evidence, bool again, struct posterior *posterior);
/* Only the spans of some quantities, for a whole sheet. */
void deduce_spans(const struct draws *draws, const struct belief *beliefs,
                  const struct evidence *evidence, const enum quantity_key *wanted, size_t count,
                  struct span *spans, double *effective);
/* Share of the variance of ln quantity under the posterior that each unknown has by itself:
 * squared correlation of logarithms. */
void deduce_shares(const struct posterior *posterior, enum quantity_key quantity,
                   double *share /* [draws_unknowns] */);

#endif
