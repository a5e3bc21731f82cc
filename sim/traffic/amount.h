/* amount -- a number or a distribution, as a user writes it.
 *
 *     30s      10s..50s      exponential(2min)      lognormal(90s,cv=2)
 *
 * An amount can be drawn, and has a mean, a share of draws up to a limit, and a mean of draws that are
 * cut at the limit. */
#ifndef SIM_TRAFFIC_AMOUNT_H
#define SIM_TRAFFIC_AMOUNT_H

#include "rows/random.h"

enum amount_kind {
    AMOUNT_FIXED, AMOUNT_UNIFORM, AMOUNT_EXPONENTIAL, AMOUNT_LOGNORMAL, AMOUNT_GEOMETRIC
};

/* a, b: FIXED the number; UNIFORM both ends; otherwise the mean and, for LOGNORMAL, the coefficient of
 * variation. */
struct amount {
    enum amount_kind kind;
    double a, b;
};

/* False if the text is not an amount, or not within least..most. */
bool amount_read(struct text text, const char *unit, double least, double most,
                 struct amount *amount);
double amount_draw(const struct amount *amount, struct random *random);

/* Of an amount that is not geometric. */
double amount_mean(const struct amount *amount);
double amount_within(const struct amount *amount, double limit);    /* share of draws up to it */
double amount_cut(const struct amount *amount, double limit);       /* mean of min(draw, limit) */
struct amount amount_times(const struct amount *amount, double factor);

/* ---- pieces of words, for readers that have more of them ---------------------------------- */

/* Up to a mark outside parentheses, which is taken off too; `more`: it was there. */
struct text amount_take(struct text *rest, char mark, bool *more);
bool amount_call(struct text text, const char *name, struct text *inside);     /* "name(inside)" */
/* One number, from least to most. */
bool amount_number(struct text text, const char *unit, double least, double most, double *number);

#endif
