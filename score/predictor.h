/* predictor -- measured points predicted, many with few lists.
 *
 * Points of one model, machine, format and engine that set the same inputs and ask for the
 * same rows share a list. For `check` and for the fit. */
#ifndef SCORE_PREDICTOR_H
#define SCORE_PREDICTOR_H

#include "scenario/scenario.h"
#include "score/measured.h"

struct prediction {
    double value, low, high;        /* of a row, and the ends of its band */
    double measured;                /* the same row, as measured */
};

struct setup {                      /* of one model, machine, formats, engine, inputs and rows */
    const char *key;
    const char *refused;            /* the scenario could not be made: why */
    struct graph graph;             /* outputs: four for each value of a point, as above */
    int input[MEASURED_INPUTS];     /* where the point's inputs are; -1: no row reads it */
};

struct predictor {
    struct arena *arena;
    const struct command *command;        /* options that hold for all points */
    struct setup *setups;
    size_t count, room;
};

/* The setup may move when another is made. */
struct setup *predictor_find(struct predictor *predictor, const struct measured *point);
/* The inputs of the setup's list at this point, [input_count]. */
void predictor_inputs(const struct setup *setup, const struct measured *point, double *inputs);
/* One for each value of the point. */
void predictor_predict(struct arena *scratch, const struct setup *setup,
                       const struct measured *point, const double *inputs,
                       struct prediction predictions[MEASURED_VALUES]);
/* Value i of the point, and its derivatives by all inputs, [input_count]. */
double predictor_gradient(struct arena *scratch, const struct setup *setup, int i,
                          const double *inputs, double *gradient);

#endif
