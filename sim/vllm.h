/* vllm -- rule set vllm-v1: an engine of its own, whose blocks have names. */
#ifndef SIM_VLLM_H
#define SIM_VLLM_H

#include "sim/sim.h"

/* Fills a result whose arrays are there; every request must fit into an empty replica. */
void sim_run_vllm(struct arena *arena, const struct trace *trace,
                  const struct sim_options *options, struct sim_result *result);

#endif
