/* measured -- published measurements as points that can be predicted.
 *
 *     a CSV of measurements --measured_read--> model, machine, load, and measured values
 *
 * The columns of a file tell its kind. Each kind has a reader with the corrections that its data need
 * (sizes that multiply what they should list, lengths drawn from a range, sessions that used multi-token
 * prediction without saying so). A point has the inputs that it sets and, for each measured value, the
 * row that predicts it. A point that cannot be predicted is kept with the reason. */
#ifndef SCORE_MEASURED_H
#define SCORE_MEASURED_H

#include "base/base.h"

enum metric { METRIC_TPOT, METRIC_TTFT, METRIC_E2E, METRIC_THROUGHPUT, METRIC_PREFILL,
              METRIC_DECODE, METRIC_ENERGY, METRIC_KERNEL, METRIC_STEP, METRICS };
extern const char *const metric_names[METRICS];
/* The rows with the ends of a metric's 80 % interval, as factors of the predicted value. */
extern const struct metric_band { const char *low, *high; } metric_bands[METRICS];

struct measured_input {
    const char *name;
    double value;                               /* base units */
};

struct measured_value {
    enum metric metric;
    const char *row;                            /* the row that predicts it */
    double value;                               /* base units, above 0 */
    const char *from;                           /* a row that computes the measured value from other
                                                   figures of the source; `value` is then 0 */
};

enum { MEASURED_INPUTS = 32, MEASURED_VALUES = 3 };

/* One row of a CSV file of measurements. */
struct measured {
    const char *file;
    int line;
    const char *source;                         /* who measured, as the file says */
    const char *kind;                           /* what ran: "aggregated", "disaggregated", ... */
    const char *model, *machine, *engine;       /* model NULL: a kernel alone; engine NULL: any */
    const char *precision, *kv;                 /* formats; NULL: the model's own */
    bool experts_only;                          /* `precision` is that of the routed experts, if the
                                                   model has any; all other weights are bf16 */
    double chips, concurrency;                  /* 0: not stated */
    struct measured_input inputs[MEASURED_INPUTS];
    int input_count;
    struct measured_value values[MEASURED_VALUES];
    int value_count;
    const char *refused;                        /* why it cannot be predicted, or NULL */
};

struct measured_list {
    struct measured *points;
    size_t count, room;
};

/* Add the points of a file to `list`. Returns false with an error if no reader knows its columns. */
bool measured_read(struct arena *arena, const struct csv *csv, struct measured_list *list,
                   struct error *error);

/* For readers of files. measured_value ignores a value that is not above 0. */
struct measured *measured_add(struct arena *arena, struct measured_list *list,
                              const struct csv *csv, size_t row);
void measured_input(struct measured *point, const char *name, double value);
void measured_value(struct measured *point, enum metric metric, const char *row, double value);
void measured_from(struct measured *point, enum metric metric, const char *row, const char *from);
/* Cell text ("" where there is none), cell as number (0 where there is none), and the number
 * that follows `key` in a text (0 where it does not). */
const char *measured_word(const struct csv *csv, size_t row, const char *column);
double measured_number(const struct csv *csv, size_t row, const char *column);
double measured_after(const char *text, const char *key);

/* The readers, each of one set of columns. */
void measured_points(struct arena *arena, const struct csv *csv, struct measured_list *list);
void measured_serving(struct arena *arena, const struct csv *csv, struct measured_list *list);
void measured_load(struct arena *arena, const struct csv *csv, struct measured_list *list);
void measured_kernels(struct arena *arena, const struct csv *csv, struct measured_list *list);
/* Of the columns of measured_serving: is a row of a training run, and one such row. */
bool measured_trains(const struct csv *csv, size_t row);
void measured_training(struct arena *arena, const struct csv *csv, size_t row,
                       struct measured_list *list);

#endif
