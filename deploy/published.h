/* published -- how far a layout is from those of published servers: data/published.csv.
 *
 *     0  servers of this engine on machines of this family have it, in this role
 *     1  servers of another engine or on other machines have it, in this role
 *     2  its sizes were published, but not together
 *     3  one of its sizes was never published, or the model has too few experts for it
 *
 * Where no engine is named, any engine is this one. */
#ifndef SCENARIO_PUBLISHED_H
#define SCENARIO_PUBLISHED_H

#include "scenario/scenario.h"

enum { PUBLISHED_HERE, PUBLISHED_ELSEWHERE, PUBLISHED_APART, PUBLISHED_NEVER };
enum published_role { PUBLISHED_TOGETHER, PUBLISHED_PREFILL, PUBLISHED_DECODE };

/* The sizes of one replica's layout. */
struct published_layout {
    double chips, attention_dp, pipeline_parallel, expert_parallel;
};

/* The sheet as one scenario's engine and machine see it. */
struct published;
struct published *published_open(struct scenario *scenario);
double published_distance(const struct published *published, enum published_role role,
                          const struct published_layout *layout);
/* Set layout_distance of a scenario whose layout is known, unless it has one; llama.cpp has none. */
void published_set_distance(struct scenario *scenario);

#endif
