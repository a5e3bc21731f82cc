/* predictor -- measured points predicted, many with few lists.
 *
 * Points of one model, machine, format and engine share a list; what moves between them
 * (chips, load, lengths) are its inputs. For `check` and for the fit. */
#ifndef ASK_PREDICTOR_H
#define ASK_PREDICTOR_H

#include "ask/ask.h"
#include "import/measured.h"

enum { PREDICTOR_MOVES = 6, PREDICTOR_LOW = METRICS, PREDICTOR_HIGH = 2 * METRICS,
       PREDICTOR_OUTPUTS = 3 * METRICS };

struct setup {                      /* of one model, machine, formats and engine */
    const char *key;
    const char *refused;            /* the scenario could not be made: why */
    struct list list;               /* outputs: a value per metric, then the low and the
                                       high end of its band */
    int input[PREDICTOR_MOVES];
};

struct predictor {
    struct arena *arena;
    const struct question *question;        /* options that hold for all points */
    struct setup *setups;
    size_t count, room;
};

struct setup *predictor_find(struct predictor *predictor, const struct measured *point);
/* The inputs of the setup's list at this point, [input_count]. */
void predictor_inputs(const struct setup *setup, const struct measured *point, double *inputs);

#endif
