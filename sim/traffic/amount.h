/* amount -- a number that may be drawn, from words.
 *
 *     30s      10s..50s      exponential(2min)      lognormal(90s,cv=2)
 *
 * What is read can be drawn, and asked for its mean, for the share of draws up to a limit and for
 * the mean of draws that are cut there. */
#ifndef SIM_TRAFFIC_AMOUNT_H
#define SIM_TRAFFIC_AMOUNT_H

#include "rows/random.h"

enum amount_kind {
    AMOUNT_FIXED, AMOUNT_UNIFORM, AMOUNT_EXPONENTIAL, AMOUNT_LOGNORMAL, AMOUNT_GEOMETRIC
};

/* The number itself; both ends; the mean, and lognormal's cv. */
struct amount {
    enum amount_kind kind;
    double a, b;
};

/* false: not these words, or beyond least..most. */
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
