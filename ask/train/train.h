/* train -- time, memory and cost of a training run, and the layout for it: words -> scenario -> space
 * of all layouts -> search -> the fastest one that fits. What the user gives is not an axis of the
 * space; if everything is given, the space is a single layout. */
#ifndef ASK_TRAIN_H
#define ASK_TRAIN_H

#include "ask/ask.h"
#include "scenario/figures.h"
#include "search/search.h"
#include "scenario/sweep.h"

#include "build/row_names.h"

/* The inputs of a setting, besides micro_batch, which is the load axis (column) of the search. */
struct train_axis {
    const char *row, *told;
    int loop;
    double least, most, start;
    bool free;
};
enum {
#define AXIS(row, ...) TRAIN_AT_##row,
#include "ask/train/train_axes.def"
#undef AXIS
    TRAIN_AXES
};
extern const struct train_axis train_axes[TRAIN_AXES];

/* The figures of a layout. */
#define TRAIN_FIGURES(X)                                                                    \
    X(train_step) X(train_mfu) X(train_flops_per_chip) X(train_tokens_per_chip)             \
    X(train_memory) X(train_memory_share) X(train_state) X(train_activations)               \
    X(data_parallel) X(train_micro_batches) X(train_steps) X(train_duration) X(train_chip_time)  \
    X(train_run_cost) X(train_run_energy) X(train_goodput) X(run_failure_time)              \
    X(checkpoint_interval) X(hbm_reported) X(train_host_memory) \
    X(lora_params) X(generation_share)

enum train_figure {
#define X(name) TRAIN_##name,
    TRAIN_FIGURES(X)
#undef X
    TRAIN_FIGURE_COUNT
};

/* One run of `train`, or one value of its --sweep. */
struct train {
    struct arena *arena;
    const struct command *command;
    struct sweep_value swept;       /* by --sweep: this is one of its values */
    struct answer *answer;
    struct error *error;
    struct scenario scenario;
    double chips;
    struct search_space space;
    struct search_result result;
    struct graph report;            /* of the figures; the first, the step time, has parts */
};

struct train_point {
    struct search_point at;
    double figures[TRAIN_FIGURE_COUNT];
    struct breakdown parts;         /* of its step time */
};

extern const char *const train_figures[TRAIN_FIGURE_COUNT];

/* Read words and options into a scenario; then build the space. */
bool train_open(struct train *train);
/* The same, and search it, by all ranks. */
bool train_search(struct train *train);
bool train_space(struct train *train);
/* The number that the user gave a row, or NAN. */
double train_given(const struct train *train, const char *row);
bool train_host_known(const struct train *train);
double train_input(const struct train *train, const struct search_point *at, const char *row);
void train_read_point(const struct train *train, const struct search_point *at,
                      struct train_point *point);
/* The first rule of divisibility that a layout violates; train_uneven counts layouts by it. */
enum train_even { TRAIN_EVEN_HEADS, TRAIN_EVEN_STAGES, TRAIN_EVEN_EXPERTS, TRAIN_EVEN_SEQUENCE,
                  TRAIN_EVEN_BATCH, TRAIN_EVEN_COUNT };
bool train_uneven(struct train *train, size_t counts[TRAIN_EVEN_COUNT]);
/* Add lines to a list that say why no layout divides evenly. */
bool train_nothing(struct train *train, struct section *lines);

/* "TP 8 x PP 16 x DP 128, VPP 8, micro-batches of 1, ZeRO 1" */
const char *train_layout(const struct train *train, const struct train_point *point);
/* Gather the defaults that a point's figures depend on, and the options without effect on them, in the
 * arena of `noted`, which has the same rows. */
void train_basis(const struct train *train, const struct train_point *point, struct scenario *noted,
                 struct basis *basis, const char ***idle, size_t *idle_count);
/* One step of a layout. */
struct picture *train_picture(const struct train *train, const struct train_point *point);
bool train_answer(struct train *train);
/* The best layout at each value of a row, as --sweep says: a list of such records. */
bool train_sweep(struct train *train);
extern const struct record train_swept;

extern const struct record answer_train;      /* the keys of the answer */

#endif
