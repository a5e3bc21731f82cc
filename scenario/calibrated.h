/* calibrated -- a scenario whose server was measured: factors on the prediction, with their covariance.
 *
 *     chalkline calibrate --> my-server.csv --calibration--> facts of a scenario, intervals of its figures
 *
 * The file has facts in the columns of a catalog sheet: what server it was, the factors, their covariance, and
 * each value that was given with its slopes, from which the field of what the form misses is computed. For
 * another server the factors are carried with the correlation that open series show (data/calibration.csv),
 * and the field is none; of layouts both are kept, since a search varies them. */
#ifndef SCENARIO_CALIBRATED_H
#define SCENARIO_CALIBRATED_H

#include "infer/posterior.h"
#include "scenario/scenario.h"

/* The rows whose logarithms are fitted; of each field the factor that moves with it, the factor that is set
 * to it, the row that computes that, and the column of the table of loads. */
extern const char *const calibrated_factors[POSTERIOR_FACTORS];
extern const struct calibrated_field {
    const char *anchor, *residual, *found, *weight;
} calibrated_fields[POSTERIOR_FIELDS];
extern const char *const calibrated_axes[POSTERIOR_AXES];       /* rows: the load */
enum { CALIBRATED_SIZES = 4 };
/* A row of the layout, and the row with that of the calibrated server. */
extern const struct calibrated_size {
    const char *row, *given;
} calibrated_sizes[CALIBRATED_SIZES];

/* What server was measured; NULL: not stated. */
struct calibrated_server {
    const char *model, *machine, *engine, *version, *precision, *kv;
    double weight_bytes;                        /* of the formats; NAN: not known */
    double size[CALIBRATED_SIZES];
    double chunk;                               /* prefill; NAN: not known */
};

struct calibrated {
    const char *file, *title, *constants;
    struct calibrated_server server;
    struct posterior_prior prior;
    double x[POSTERIOR_FACTORS], covariance[POSTERIOR_FACTORS][POSTERIOR_FACTORS];
    struct posterior_value *values;             /* [count], those that were fitted */
    double *weight;                             /* [count] as in struct factor_posterior */
    size_t count, points;
    double facts;                               /* that the file says it has; NAN: an earlier version wrote it */
    bool stale;                                 /* fitted with other constants: variances are those of the file
                                                   times a factor */
    double scale[POSTERIOR_FIELDS], freedom[POSTERIOR_FIELDS];
    double half_width[POSTERIOR_FIELDS], carried_half_width;    /* of 80 % intervals, in deviations: here, elsewhere */
    struct factor_posterior posterior;                 /* of the values, at the estimate */
    /* in a scenario: */
    const char *relation;                       /* "another model"; NULL: the same but for the layout */
    double own[POSTERIOR_FACTORS];              /* correlation of the factors with those here, same layout */
    double carried[POSTERIOR_FACTORS];          /* and with another layout */
};

/* What is thought of a server before it is measured, and a number of data/calibration.csv. */
void calibrated_prior(struct posterior_prior *prior);
double calibrated_number(const char *name, const char *fact);

/* In what a server differs from the one that was measured. */
struct calibrated_difference { bool model, machine, engine, precision, version, layout; };
/* How much of what was found holds for it: the correlation of each factor, 1 for the same server. */
void calibrated_correlation(const struct calibrated_difference *difference, double rho[POSTERIOR_FACTORS]);
/* The variance of ln of a value of such a server, whose field is not known, and the degrees of freedom of its
 * interval; `covariance` of the logarithms of the factors that were found. Without noise. */
double calibrated_carried(const struct posterior_prior *prior,
                          const double (*covariance)[POSTERIOR_FACTORS], const double *rho,
                          const struct posterior_value *value);

/* The constants that factors are relative to, as a sum of their text. */
const char *calibrated_constants(struct arena *arena);
/* Is it a file that `calibrate` wrote, by its columns? */
bool calibrated_told(struct text text);
bool calibrated_parse(struct arena *arena, const char *file, struct text text, struct calibrated *calibrated,
                      struct error *error);
/* Take a calibration as facts of a scenario that has a model and a machine; what the user set stays. */
void calibrated_use(struct scenario *scenario, struct calibrated *calibrated);
/* Take the scenario's --calibration as facts: after its model and machine, before what the user sets. */
bool calibrated_apply(struct scenario *scenario, const char *path, struct error *error);
/* Where the server is the one that was measured, and no other layout is asked for, take its layout and its
 * prefill chunk. */
void calibrated_layout(struct scenario *scenario);
/* Add a note on how near the server of this scenario is to the one that was measured. */
void calibrated_note(struct scenario *scenario);

/* The graph of some rows, in which the factors are inputs. */
struct calibrated_graph {
    struct graph graph;         /* outputs: the rows, given_layout, the load, bounds of the rows */
    size_t rows;
    int factor[POSTERIOR_FACTORS], anchor[POSTERIOR_FIELDS];    /* inputs; -1: not read */
};
bool calibrated_graph_build(const struct scenario *scenario, const char *const *rows, size_t count,
                            struct calibrated_graph *graph, struct error *error);
/* The ends of the 80 % interval of each row, over its value, for inputs of the graph, whose factors are set. */
void calibrated_intervals(struct arena *scratch, const struct calibrated *calibrated,
                          const struct calibrated_graph *graph, double *inputs, double *low, double *high);
/* The same at the facts of a scenario, with a new graph; false: the scenario is not calibrated. */
bool calibrated_bands(const struct scenario *scenario, const char *const *rows, size_t count, double *low,
                      double *high);

#endif
