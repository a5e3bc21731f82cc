/* schedulers -- all of schedulers.def, each by a name of C. */
#ifndef SIM_SCHEDULERS_H
#define SIM_SCHEDULERS_H

#include "sim/sim.h"

#define SCHEDULER(name) extern const struct scheduler scheduler_##name;
#include "sim/schedulers/schedulers.def"
#undef SCHEDULER

#endif
