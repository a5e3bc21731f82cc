/* This machine, measured: the verb `measure` without a URL. */
#ifndef MEASURE_MACHINE_H
#define MEASURE_MACHINE_H

#include "meter/measure/measure.h"

bool ask_machine(struct arena *arena, const struct command *command, struct answer *answer,
                 struct error *error);

#endif
