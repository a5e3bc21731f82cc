/* What `calibrate` makes of the requests that `measure` has sent, where the command says on which machine. */
#ifndef MEASURE_THEN_CALIBRATE_H
#define MEASURE_THEN_CALIBRATE_H

#include "meter/measure/measure.h"

struct then_calibrate {
    struct command *command;        /* `calibrate FILE ...`; NULL: no machine is given */
    const char *file;               /* of the requests; NULL: none is written */
    bool temporary;                 /* it is removed when all is done */
    struct arena *arena;
};
/* The command that will calibrate, before anything is measured: false for options that need what is not given. */
bool then_calibrate_open(struct arena *arena, const struct command *command, struct then_calibrate *then,
                         struct error *error);
/* Add the answer of the calibration under "calibration", and its text. A refusal is stated there and loses nothing
 * of what was measured: the exit status is then 1, and a temporary file stays. */
void then_calibrate(struct then_calibrate *then, struct answer *answer);
void then_calibrate_close(const struct then_calibrate *then);

#endif
