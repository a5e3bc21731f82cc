/* rules -- which layouts hosts and engines can start: data/rules.csv.
 *
 * A rule is a row of the blackboard that is 1 where a layout keeps it (formulas/serving/startable.chalk), or
 * a list of formats that a list of families of chips cannot run. The sheet says which engine, in which of
 * its versions, has which rule, in the engine's words and with the source. */
#ifndef SCENARIO_RULES_H
#define SCENARIO_RULES_H

#include "scenario/scenario.h"

/* Bind the inputs of startable.chalk to what the sheet says of the scenario's engine, machine and formats. */
void rules_bind(struct scenario *scenario);

/* Split a scenario of two pools: `scenario` becomes the decode worker, `prefill` the prefill worker. */
void rules_of_pools(struct scenario *scenario, struct scenario *prefill);

struct broken_rule {
    const char *id;                 /* "H1" */
    const char *engine;             /* "vllm", "hosts", "deepep" */
    const char *says, *message;     /* what it asks; what the engine prints, or "" */
};
/* The rules that a deployment breaks, each once: `kinds` are the scenarios of its replicas, or of its decode
 * workers and its prefill workers. If no engine was named: the rules of hosts, and those of the engine that breaks
 * the fewest. Returns their number. */
size_t rules_broken(struct scenario *const *kinds, size_t count, struct broken_rule **broken);
/* The rules that the trainer's layout of a training run breaks. */
size_t rules_broken_training(struct scenario *scenario, struct broken_rule **broken);
/* The engines that may be chosen and start the same servers, as "vLLM 0.19"; returns how many there are. */
enum { RULES_ENGINES = 3 };
size_t rules_starters(struct scenario *const *kinds, size_t count, const char *names[RULES_ENGINES]);
/* Of servers that can be started, which engines start them; of others, which rules they break. */
struct started {
    bool startable;                 /* false too where no engine is known to run on the machine */
    const char *unknown;            /* of rules_unknown */
    struct broken_rule *broken;
    size_t broken_count;
    const char *engines[RULES_ENGINES];
    size_t engine_count;
};
void rules_judge(bool startable, struct scenario *const *kinds, size_t count, struct started *started);
/* "no engine is known to run on TPU v5e", or of the engine that was named; NULL: it is known to. */
const char *rules_unknown(const struct scenario *scenario);
/* "vLLM does not start it: ... (V10)" */
const char *rule_text_of(struct arena *arena, const struct broken_rule *rule);

#endif
