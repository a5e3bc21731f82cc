/* metrics -- the names of engines' metrics, read from data/metrics.csv.
 *
 *     engine,begins,says,name,kind,label,source,date
 *
 * All names of an engine begin alike, and tell it from others. */
#ifndef WATCH_METRICS_H
#define WATCH_METRICS_H

#include "meter/watch/exposition.h"

/* X(says): counters, gauges, histograms (named without _sum and _count), and a sample whose labels have the settings
 * of the cache. Lengths, queries and hits are of tokens; gap_time and gap_count are counters in the place of the
 * histogram gaps, token_means a histogram of each request's mean time for a token; prompt_time has the seconds from a slot to the first token; hit_share is a gauge in the place of
 * queries and hits; engines are the labels that number the engines of one server;
 * spelled is another beginning of all names. */
#define ENGINE_METRICS(X)                                                                                             \
    X(running) X(waiting) X(finished) X(prompt_tokens) X(output_tokens) X(prompt_lengths) X(output_lengths) X(ttft)   \
    X(gaps) X(token_means) X(gap_time) X(gap_count) X(prompt_time) X(queried) X(hits) X(hit_share) X(preempted) X(drafted)           \
    X(accepted) X(cache_used) X(info) X(engines)   \
    X(spelled)

/* The metrics of an engine, by what they say; alternatives are separated by '|'; NULL: it has none. */
struct engine {
    const char *name, *begins;      /* the name that an answer has; how its metrics begin */
    const char *predicted;          /* the engine of a prediction; NULL: it is a router */
    const char *running_label, *waiting_label;      /* NULL: series with any labels */
#define METRIC_NAME(says) const char *says;
    ENGINE_METRICS(METRIC_NAME)
#undef METRIC_NAME
};

/* The samples with the names that the sheet has, where a page spells their beginning another way. */
struct exposition metrics_spelled(struct arena *arena, const struct exposition *page);
/* The engine that comes first in the sheet of those whose metrics are there; NULL: of none. */
const struct engine *metrics_engine(struct arena *arena, const struct exposition *exposition);

/* The other engines of which the page has running requests, "sglang, TGI"; NULL: there are none. */
const char *metrics_others(struct arena *arena, const struct exposition *page, const struct engine *engine);

/* What a sample can be at most, from 0 on. */
struct metric_limit {
    double most;
    const char *expected;
};
/* False: the name is of no kind that has a limit. */
bool metrics_limit(const struct engine *engine, const char *name, struct metric_limit *limit);
/* Each way that an engine's metrics begin, once: "vllm:|sglang:|...". */
const char *metrics_beginnings(struct arena *arena);

#endif
