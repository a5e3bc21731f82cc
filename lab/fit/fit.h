/* fit -- fit the constants of the prediction to published measurements.
 *
 *     fit servers [cluster|pair] [--hold ROW=VALUE]... [--without ENTRY]... [--with FILE]... FILE...
 *     fit kernels FILE
 *     fit training [source|generation] FILE
 *     fit personal [device|model] FILE...
 *     fit calibration FILE...
 *
 * Constants are declared under their rows in formulas/ (constants.c), in sections without EACH. --hold fixes a row:
 * a constant in the unit of its declaration, another row as --set does; --without leaves an entry to the constants of
 * all: what a term is worth.
 * --with adds somebody's own sheet: which constants it moves, and what that does to every cluster.
 *
 * The fit minimizes the soft-L1 loss of ln(predicted / measured) over the logarithms of the constants,
 * by Levenberg-Marquardt (cminpack) with derivatives from the graphs. Each constant has bounds and a
 * prior, from which it deviates at a cost. The output is rows for data/efficiency.csv, then the errors. */
#ifndef SCORE_FIT_H
#define SCORE_FIT_H

#include "base/ranks.h"
#include "score/physics.h"
#include "score/predictor.h"
#include "score/score.h"

enum { CONSTANTS_MOST = 160, INPUTS_MOST = 8192, ENTRIES = 6 };

/* A constant of an engine or a family of chips, `entry` (NULL: of all that have none of their own), with
 * bounds and the median of its prior in `unit`. */
struct constant {
    const char *name, *entry, *unit;
    double low, high, prior;
};

/* What to fit, and with which loss. */
struct problem {
    const char *group;              /* the word after "fit:" in the rows of the constants */
    double soft, prior_weight;      /* scale of the loss; weight of the priors */
    double weight_of[METRICS];      /* weight of each metric; 0: not in the fit */
    bool cauchy;                    /* that loss instead of soft-L1 */
    bool given;                     /* a value that a later entry states, without a fit of it, holds there */
};

/* A measured point in a fit. */
struct fitted {
    const struct measured *point;
    struct setup *setup;
    const char *family;             /* family of the machine's chip; "" if it has none */
    const struct catalog_entry *machine;
    const struct catalog_entry *entries[ENTRIES];   /* of data/efficiency.csv that the point reads, in this
                                       order: family, version_of and its backend, generation, engine and its
                                       backend; NULL: none */
    double measured[MEASURED_VALUES];
    int input[CONSTANTS_MOST];      /* the graph's input for each constant; -1: does not apply here */
    double weight;
    bool left_out;                  /* held out of the fit, to score it */
    bool added;                     /* of a sheet that --with names */
};

struct fit {
    const struct ranks *ranks;      /* divide the rows of a fit; NULL: this process has all */
    const struct problem *problem;
    struct constant constants[CONSTANTS_MOST];
    int constant_count;
    struct arena arena, scratch;
    struct predictor predictor;
    struct physics physics;
    struct fitted *rows;
    size_t count, room;
    double scale[CONSTANTS_MOST];                           /* of a constant's unit */
    double start[CONSTANTS_MOST], x[CONSTANTS_MOST];        /* logarithms, in that unit */
    bool warm;                                              /* a fit begins at x instead of at start */
    double deviation[CONSTANTS_MOST];                       /* of x, by fit_deviations; NAN: not known */
};

/* Fits that do not depend on each other, each without some of the rows. */
struct fits {
    bool **out;                     /* [count][rows] */
    size_t count, room;
    struct fit_end {
        double x[CONSTANTS_MOST];
        int reason;                 /* why it stopped */
    } *found;                       /* [count] by fit_each */
};

/* Ends the program, and with it all ranks. */
void fit_give_up(const char *what);

/* The constants that rows declare for a fit, in reading order, at most CONSTANTS_MOST; their
 * number. */
int constants_of(struct arena *arena, const char *group, struct constant *constants);

/* Reads the points that a row predicts. Points without a model are kernels. `words`: options --hold and
 * --without, then paths. */
void fit_open(struct fit *fit, const struct problem *problem, char *const *words, int count);
/* Fits the constants, into x, to the rows that are not left out. */
void fit_minimise(struct fit *fit);
/* A further fit; the caller says which rows are out of it. */
bool *fits_add(struct fit *fit, struct fits *fits);
/* All of them, which ranks divide. If `warm`, each begins at the x of before. */
void fit_each(struct fit *fit, struct fits *fits);
/* The constants of the fit at an index, and its rows that are left out. */
void fit_take(struct fit *fit, const struct fits *fits, size_t index);
/* Standard errors of x, which are shares of the constants: robust against rows of one publisher, model and
 * machine that err together. */
void fit_deviations(struct fit *fit);
/* A constant in its unit, inside its bounds. */
double fit_constant(const struct fit *fit, int k);
/* ln(predicted / measured) of a row's value j. */
double fit_error(struct fit *fit, const struct fitted *row, int j);
/* ln(predicted / measured) of all rows' values, [MEASURED_VALUES] a row, NAN where none. */
double *fit_errors(struct fit *fit);
typedef bool fit_alike(const struct fitted *a, const struct fitted *b);
/* The same of fits without them: each row by a fit to those that are not `out` with it. All
 * that are `scored` with it are so with all of their own, and among those out. A row that is not with itself has none. */
double *fit_leave_out(struct fit *fit, fit_alike *out, fit_alike *scored);
/* Whether each constant moves each value of each row, [rows][MEASURED_VALUES][constants]: a row may read a constant
 * and multiply it by nothing. */
bool *fit_moves(struct fit *fit);
/* Rows for data/efficiency.csv: constants of `entry` (NULL: of all entries) that move a value
 * in the fit, each with the error of the values it moves. `name` stands for all. */
void fit_print_constants(struct fit *fit, const char *name, const char *what);
const char *fit_today(void);

/* Is a point for checking alone: in no fit, and in no interval? Stages of constant rate, what production
 * servers did on average, personal machines. */
bool fit_for_checking(const struct measured *point);
/* Is the point of a server under load, of whose clusters intervals are made? */
bool fit_of_server(const struct measured *point);
/* Servers of one cluster (scenario/cluster.h), or of one network on one machine. */
bool fit_same_cluster(const struct fitted *a, const struct fitted *b);
bool fit_same_pair(const struct fitted *a, const struct fitted *b);
/* Scores by class, clusters in view and new ones apart, then the intervals as rows for data/efficiency.csv: of `left_out`,
 * errors of fits without the cluster of each row, and `seen`, of the fit of all. `what` was left out, in words. */
void fit_clusters(struct fit *fit, const double *left_out, const double *seen, const char *what);
/* The bias and the scatter of each cluster. `before`, where not NULL, are errors to compare with. */
void fit_cluster_lines(struct fit *fit, const double *before, const double *errors);

/* Reads the sheets of servers and weighs their rows. */
void fit_open_servers(struct fit *fit, char **words, int count);
void fit_servers(struct fit *fit, char **words, int count);
void fit_kernels(struct fit *fit, char **words, int count);
void fit_training(struct fit *fit, char **words, int count);
void fit_personal(struct fit *fit, char **words, int count);
void fit_calibration(struct fit *fit, char **words, int count);

#endif
