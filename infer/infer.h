/* infer -- what published prices say about models and machines: Bayesian inference by importance sampling.
 *
 *     draws ----rows: priors----> unknowns ----rows: costs----> prices that these would lead to
 *                                     |                                  | likelihood of the prices
 *                                     |                                  | in the list
 *                                     +---------- weighted draws --------+--> posterior quantiles
 *
 * Draws are made once from the priors (formulas/prices/priors.chalk) and run through the cost rows of a
 * price list (formulas/prices/price-list.chalk). A
 * price list only weights the draws, so that thousands of lists share one set. Each quantity of a draw
 * is stored as a cell of a logarithmic grid with 32 cells per octave: a likelihood is then a table, a
 * weight a product of a few table entries, and a quantile a sum over a histogram.
 *
 * A price is its cost times a margin with standard deviation `spread` in the logarithm; with probability
 * `policy` it is instead a customary price that has nothing to do with the cost. Prices are independent
 * given the unknowns. If the weights leave few effective draws, more are drawn where the weight is.
 *
 * The same seed gives the same bits. Results live in the arena that was given. */
#ifndef INFER_H
#define INFER_H

#include "base/ranks.h"
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

enum unknown {
#define UNKNOWN(row) UNKNOWN_##row,
#include "infer/unknown.def"
#undef UNKNOWN
    UNKNOWN_COUNT
};

/* A price of the list: the row of its cost, the row of the published price, its name in text. */
struct field_row {
    const char *cost, *seen, *label;
};
extern const struct field_row fields[FIELD_COUNT];
extern const char *const quantities[QUANTITY_COUNT];
extern const char *const unknowns[UNKNOWN_COUNT];       /* "params_active" */

/* The prior of a price given its cost (data/priors.csv). */
struct belief {
    double spread;                              /* standard deviation of ln(price / cost) */
    double policy;                              /* probability that the price ignores the cost */
    double policy_middle, policy_spread;        /* median, and deviation of ln, of such a price */
};

/* The prices of one list, by the rows `fields[].seen`; NAN: not in the list. */
struct evidence {
    double seen[FIELD_COUNT];
    double policy[FIELD_COUNT];                 /* replaces the belief's probability; NAN: does not */
};

/* ---- draws ------------------------------------------------------------------------------- */

enum { DEDUCE_CELLS = 4096, DEDUCE_TIERS = 16 };

struct draws;

/* Draw `count` times from the priors under the facts; `ranks` divide the draws, and what deduce_shares does. The caller has filled the tables "offer" and "tier".
 * A fact for an unknown ("params_active") makes it known. `all`: keep what deduce_shares needs. */
bool draws_make(struct arena *arena, const struct ranks *ranks, const struct formulas *formulas,
                const struct facts *facts, uint64_t seed, size_t count, bool all, struct draws **draws,
                struct error *error);
size_t draws_count(const struct draws *draws);
/* The exact values of the draws, for tests that make price lists from them. */
bool draws_values(struct arena *arena, const struct formulas *formulas, const struct facts *facts,
                  uint64_t seed, size_t count, double *const field[FIELD_COUNT],
                  double *const quantity[QUANTITY_COUNT], struct error *error);

/* ---- one price list ---------------------------------------------------------------------- */

struct span {                       /* quantiles; q05 = NAN: not known */
    double q05, q25, q50, q75, q95;
};

struct posterior {
    const struct draws *draws;      /* the weighted draws: the shared ones, or new ones for this list */
    double *weight;                 /* [draws] weight of each; their sum is 1 */
    double effective;               /* effective sample size, 1 / sum of squared weights */
    double largest;                 /* the largest weight */
    double log_evidence;            /* ln of the mean likelihood */
    bool outside;                   /* too few effective draws: the prices are outside the priors */
    struct span span[QUANTITY_COUNT], prior[QUANTITY_COUNT];
    double bits[QUANTITY_COUNT];    /* information gained over the prior, bits */
    double policy[FIELD_COUNT];     /* posterior probability that the price ignores the cost; NAN: no
                                       such price in the list */
    double gain[FIELD_COUNT];       /* ln of the evidence ratio, policy over cost */
    double tier[DEDUCE_TIERS];      /* posterior probability of each tier */
};

/* Weight the draws by the prices of one list. `again`: draw more if fewer than 400 are effective. */
void deduce_sheet(struct arena *arena, const struct draws *draws, const struct belief *beliefs,
                  const struct evidence *evidence, bool again, struct posterior *posterior);
/* Compute only the spans of some quantities; for many lists in a row. */
void deduce_spans(const struct draws *draws, const struct belief *beliefs,
                  const struct evidence *evidence, const enum quantity_key *wanted, size_t count,
                  struct span *spans, double *effective);
/* For each unknown, the share of the posterior variance of ln(quantity) that it explains alone: the
 * squared correlation of their logarithms. */
void deduce_shares(const struct posterior *posterior, enum quantity_key quantity,
                   double share[UNKNOWN_COUNT]);

#endif
