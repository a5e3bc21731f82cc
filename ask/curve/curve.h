/* curve -- any quantity as a function of one row, or for several machines or models.
 *
 *   words -> axis, quantities -> points -> table, document
 *                                     +--> picture: lines over a row, bars over names */
#ifndef ASK_CURVE_H
#define ASK_CURVE_H

#include "ask/ask.h"
#include "report/picture.h"
#include "scenario/basis.h"

enum { MOST_QUANTITIES = 8 };

struct axis {
    const char *name;               /* a row, or "on", "model", as asked */
    const char *row;                /* the row's own name */
    const char *value;              /* "1..4096", "8,72,576", "a100,h100" */
    bool named;                     /* over machines or models */
};

struct curve {
    struct arena *arena;
    const struct command *command;
    struct answer *answer;
    struct error *error;
    struct axis axis;
    const char *quantities[MOST_QUANTITIES];
    size_t quantity_count;
    struct unit x_unit, units[MOST_QUANTITIES];
    bool batch_follows;             /* from the axis, a rate */
    size_t points;
    double *x, *y[MOST_QUANTITIES];  /* [points] */
    const char **labels;            /* of a named axis */
    struct scenario *notes;
    struct scenario **at;           /* of a named axis, or with --choose: one a point; else NULL */
    const char **fits;              /* "yes", "no", "overloaded"; NULL: no model or no machine */
    const char *infeasible;         /* why no point along a row has a server; NULL: some have one */
    const char **idle;              /* over names: options without effect at any */
    size_t idle_count;
    struct basis basis;             /* over names: what any of them depends on */
};

struct picture *curve_picture(struct curve *curve);

extern const struct record answer_curve;      /* the keys of the answer */

#endif
