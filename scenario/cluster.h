/* cluster -- servers that err alike: one network on one machine under one engine in one format. The intervals of
 * predictions are made of whole clusters, and a cluster that was measured has a narrower one.
 *
 *     "deepseek-v3 b200-sxm sglang fp4"
 *
 * The network is that of the catalog's models which share a config.json; the format is that of the smallest weights,
 * by their bits and by what multiplies them. */
#ifndef SCENARIO_CLUSTER_H
#define SCENARIO_CLUSTER_H

#include "scenario/scenario.h"

#define CLUSTERS_FILE "data/clusters.csv"

/* NULL where model, machine or engine is not one of the catalog's, or none is named. */
const char *cluster_name(const struct scenario *scenario);
/* Since when its measurements are open, by data/clusters.csv; NULL: it is not there. `forms`, where not NULL, receives
 * whether they were in view while forms of the prediction were chosen. */
const char *cluster_since(const char *name, bool *forms);
/* Sets the rows `cluster_measured` and `cluster_measured_split`. */
void cluster_set(struct scenario *scenario);

#endif
