/* measured -- published measurements as points that can be predicted.
 *
 *     a CSV of points --measured_read--> what ran where, how loaded, and what was measured
 *
 * The columns of serving_points.csv are understood by what they hold, with the rules that
 * its rows need: sizes that multiply what they should list, lengths drawn from a range,
 * sessions that used multi-token prediction without saying so. A point that cannot be
 * predicted keeps the reason; none is dropped. */
#ifndef IMPORT_MEASURED_H
#define IMPORT_MEASURED_H

#include "base/base.h"

enum metric { METRIC_TPOT, METRIC_TTFT, METRICS };
extern const char *const metric_names[METRICS];

struct measured {
    const char *file;
    int line;
    const char *source, *model, *machine, *engine;
    const char *precision, *experts, *kv;       /* formats; experts NULL: as the others */
    double chips, attention_dp, concurrency;
    double input, output;                       /* tokens of a request, as they really were */
    bool lockstep;                              /* all lengths equal */
    double value[METRICS];                      /* s; 0: not measured */
    const char *refused;                        /* why it cannot be predicted, or NULL */
};

struct measured_list {
    struct measured *points;
    size_t count, room;
};

bool measured_read(struct arena *arena, const struct csv *csv, struct measured_list *list,
                   struct error *error);

#endif
