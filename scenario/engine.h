/* engine -- which engine runs on which chips: data/engines.csv.
 *
 * A release is known to run on a family of chips, or nothing is known: no function here says "no". All verbs
 * ask engine_runs: what `plan` says starts a deployment, what --emit writes commands for, what `step` and
 * `can` remark. */
#ifndef SCENARIO_ENGINE_H
#define SCENARIO_ENGINE_H

#include "scenario/scenario.h"

struct engine_release {         /* texts; "": not known */
    const char *resource, *image;   /* of containers: "nvidia.com/gpu", "vllm/vllm-openai:v0.19.1" */
    const char *visible;            /* environment variable that selects chips: "CUDA_VISIBLE_DEVICES" */
    const char *others;             /* if this release does not run there: others that do, "0.21.0 and later" */
};
/* Is the scenario's version of an engine, or the one whose flags were read, known to run on its machine?
 * `release` may be NULL. */
bool engine_runs(const struct scenario *scenario, const char *engine, struct engine_release *release);
/* The version of an engine in the scenario: the one that measurements state, or the one whose flags were read; NULL:
 * none is known. */
const char *engine_version(const struct scenario *scenario, const char *engine);
/* Is a version neither before `from` nor after `until`? "": no limit; a version that is not known is within all. */
bool engine_within(const char *version, const char *from, const char *until);
/* The family of the scenario's chips; NULL: no machine, or one whose sheet states none. */
const char *engine_family(const struct scenario *scenario);

#endif
