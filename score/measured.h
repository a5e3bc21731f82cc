/* measured -- published measurements as points that can be predicted.
 *
 *     a CSV of measurements --measured_read--> what ran where, how loaded, what was measured
 *
 * A file is known by its columns; each kind has a reader with the rules that its rows need
 * (sizes that multiply what they should list, lengths drawn from a range, sessions that used
 * multi-token prediction without saying so). A point names the inputs it sets and, for each
 * figure measured, the row that predicts it. A point that cannot be predicted keeps the
 * reason; none is dropped. */
#ifndef SCORE_MEASURED_H
#define SCORE_MEASURED_H

#include "base/base.h"

enum metric { METRIC_TPOT, METRIC_TTFT, METRIC_E2E, METRIC_THROUGHPUT, METRIC_PREFILL,
              METRIC_DECODE, METRIC_ENERGY, METRIC_KERNEL, METRIC_STEP, METRICS };
/* Of a metric m: the rows m_band_low and m_band_high are its band, as shares of the value. */
extern const char *const metric_names[METRICS];
/* The rows of its 80 % band, as factors of the value. */
extern const struct metric_band { const char *low, *high; } metric_bands[METRICS];

struct measured_input {
    const char *name;
    double value;                               /* base units */
};

struct measured_value {
    enum metric metric;
    const char *row;                            /* that predicts it */
    double value;                               /* base units, above 0 */
    const char *from;                           /* the row that is it, where a source states
                                                   another figure; value is then 0 */
};

enum { MEASURED_INPUTS = 32, MEASURED_VALUES = 3 };

struct measured {
    const char *file;
    int line;
    const char *source;                         /* who measured, as the file says */
    const char *kind;                           /* what ran: "aggregated", "disaggregated", ... */
    const char *model, *machine, *engine;       /* model NULL: a kernel alone; engine NULL: any */
    const char *precision, *kv;                 /* formats; NULL: the model's own */
    bool experts_only;                          /* the format is of the routed experts alone,
                                                   where the model has any; the rest bf16 */
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

/* Adds the points of a file. False: no reader knows its columns. */
bool measured_read(struct arena *arena, const struct csv *csv, struct measured_list *list,
                   struct error *error);

/* For readers. `measured_value` adds nothing where the value is not above 0. */
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
