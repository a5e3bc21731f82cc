/* predictor -- predict many measured points with few graphs, for `check` and for the fit.
 *
 * Points of the same model, machine, formats and engine that set the same inputs and are predicted by
 * the same rows share a graph (a setup). */
#ifndef SCORE_PREDICTOR_H
#define SCORE_PREDICTOR_H

#include "scenario/scenario.h"
#include "score/measured.h"

struct prediction {
    double value, low, high;        /* predicted value, and the ends of its 80 % interval */
    double measured;                /* the measured value */
};

struct setup {                      /* shared by points that differ only in the values of their inputs */
    const char *key;                /* names what they share */
    const char *refused;            /* why the scenario could not be made, or NULL */
    const char *cluster;            /* scenario/cluster.h; NULL: not known */
    struct graph graph;             /* outputs: the four members above for each value of a point */
    bool narrow;                    /* the graph has only the inputs that vary (calibration.c) */
    int input[MEASURED_INPUTS];     /* the graph's input for each of a point; -1: no row reads it */
    const struct calibrated *calibrated;            /* of the command, or NULL */
    const struct calibrated_graph *intervals;       /* then: of the values' rows */
};

struct predictor {
    struct arena *arena;
    const struct command *command;        /* its options apply to all points */
    const char *const *rows;        /* in place of the points' own figures, these rows are the outputs */
    size_t row_count;               /* 0: the points' own */
    struct setup *setups;
    size_t count, room;
};

/* Find or make the setup of a point. The pointer is valid until another setup is made. */
struct setup *predictor_find(struct predictor *predictor, const struct measured *point);
/* What is assumed of prefill where points do not state their chunk, for a list "assumed"; NULL: all state it, or
 * the command does. */
const char *predictor_chunk_note(struct arena *arena, const struct command *command,
                                 const struct measured_list *list);
/* Write the inputs of the setup's graph at this point: inputs[graph.input_count]. */
void predictor_inputs(const struct setup *setup, const struct measured *point, double *inputs);
/* The values of predictor->rows at the point. */
void predictor_rows(struct arena *scratch, const struct setup *setup, const struct measured *point,
                    double *values);
/* Predict each value of the point. */
void predictor_predict(struct arena *scratch, const struct setup *setup,
                       const struct measured *point, const double *inputs,
                       struct prediction predictions[MEASURED_VALUES]);
/* Predict all values of a point, with their derivatives by all inputs: gradients[value_count][input_count]. */
void predictor_gradients(struct arena *scratch, const struct setup *setup, const struct measured *point,
                         const double *inputs, double *values, double *gradients);
/* Predict value i of the point, with its derivatives by all inputs: gradient[graph.input_count]. */
double predictor_gradient(struct arena *scratch, const struct setup *setup, int i,
                          const double *inputs, double *gradient);

#endif
