/* measured -- published measurements as points that can be predicted.
 *
 *     a CSV of measurements --measured_read--> model, machine, load, and measured figures
 *
 * One schema (docs/formats.md): what ran as words (model, machine, engine, precision, ...), then columns
 * that are named after rows: inputs that a point sets, and figures, each of which has a row that predicts
 * it (figures.def). A sheet in other columns is written in the schema first (score/layout.h), and so are
 * the files of benchmark tools (score/benchmark.h). A point that cannot be predicted is kept with the
 * reason. */
#ifndef SCORE_MEASURED_H
#define SCORE_MEASURED_H

#include "base/base.h"

enum metric { METRIC_TPOT, METRIC_TTFT, METRIC_E2E, METRIC_THROUGHPUT, METRIC_PREFILL,
              METRIC_DECODE, METRIC_ENERGY, METRIC_KERNEL, METRIC_STEP, METRICS };
extern const char *const metric_names[METRICS];

struct measured_input {
    const char *name;
    double value;                               /* base units */
};

struct measured_value {
    enum metric metric;
    const char *row;                            /* the row that predicts it */
    const char *bound;                          /* the row that it cannot be below, or NULL */
    double value;                               /* base units, above 0 */
    const char *from;                           /* a row that computes the measured value from other
                                                   figures of the source; `value` is then 0 */
    double error;                               /* standard error of a mean over requests; 0: not stated */
    double p50, p90, p99;                       /* over requests; 0: not stated */
};

/* The rows with the ends of the 80 % interval of what predicts a value, as factors of it. */
struct metric_band { const char *low, *high; };
struct metric_band metric_band_of(const struct measured_value *value);

enum { MEASURED_INPUTS = 40, MEASURED_VALUES = 3 };

struct measured_reason {
    const char *column;                         /* whose cell is not the source's own */
    const char *reason;                         /* why it is as it is; "inferred: ..." of a guess */
};

/* What two rows of a file say of each other. */
enum measured_twin { TWIN_NONE, TWIN_AGAIN,     /* the same measurement again */
                     TWIN_FIGURE,               /* another figure of one run */
                     TWIN_LAYOUT,               /* the same figures under another layout */
                     TWIN_APART };              /* one server measured twice, far apart */

/* One row of a CSV file of measurements. Words are "" where the file has none. */
struct measured {
    const char *file;
    int line;
    const char *source, *publisher;             /* where it stands; who measured */
    const char *series;                         /* one server at one time, at all its loads */
    bool series_stated;                         /* a column of the file says so, none of ours */
    const char *kind;                           /* what ran: "aggregated", "disaggregated", ... */
    const char *model, *machine, *engine;       /* model NULL: a kernel alone; engine NULL: any */
    const char *version;                        /* of the engine, or NULL */
    const char *precision, *kv;                 /* formats; NULL: the model's own */
    const char *beside;                         /* the format of all but the routed experts, in a model
                                                   that has any; NULL: `precision` */
    double requests;                            /* that the figures are taken over; 0: not stated */
    double rank;                                /* of points of one series and one load that give one
                                                   metric, the lowest is scored */
    struct measured_input inputs[MEASURED_INPUTS];
    int input_count;
    struct measured_value values[MEASURED_VALUES];
    int value_count;
    struct measured_reason *reasons;            /* [reason_count] */
    int reason_count;
    const char *inferred;                       /* the first of a guess, or NULL */
    enum measured_twin twin;                    /* why it is refused, if another row is the reason */
    size_t twin_at;                             /* that row, in the list */
    const char *refused;                        /* why it cannot be predicted, or NULL */
};

struct measured_list {
    struct measured *points;
    size_t count, room;
};

/* Add the points of a file to `list`. Returns false with an error if its columns are neither those of the
 * schema nor of a known layout, or if a cell is not a quantity of its row. */
bool measured_read(struct arena *arena, const struct csv *csv, struct measured_list *list,
                   struct error *error);

/* Are these the columns of the schema: does it have a machine, a reason to refuse rows, or a figure that a row predicts? */
bool measured_schema(const struct csv *csv);
/* What a point sets as this row, or `absent`. */
double measured_input(const struct measured *point, const char *row, double absent);
/* The server that was measured: its series if the file says one, else model, machine, engine, version, formats
 * and layout. */
const char *measured_server(struct arena *arena, const struct measured *point);
/* Is the layout the same: chips, all parallel sizes, and workers? */
bool measured_same_layout(const struct measured *a, const struct measured *b);
/* What a point lacks to be predicted, or NULL. */
const char *measured_missing(const struct measured *point);
/* Does a reason say that the value is a guess about this very row? */
bool measured_guess(const char *reason);
/* All chips of the point's server, of both pools of a split one; 0: not stated. */
double measured_chips(const struct measured *point);

#endif
