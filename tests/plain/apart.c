/* Replicas that never run apart. */
#include "sim/fleet.h"

bool sim_run(struct arena *arena, const struct trace *trace, const struct sim_options *options, struct sim_result *result,
             struct error *error)
{
    struct fleet_run *run = arena_alloc(arena, sizeof *run);
    return run_begin(arena, trace, options, result, run, error) && run_end(run, error);
}
