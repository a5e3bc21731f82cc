/* parts -- the parts of `watch`: what is kept between readings, and the answer to one of them.
 *
 *   source.c --text--> load.c --load--> history.c (points of the fit, arrivals) --> predict.c --> answer.c
 *                                                                outlook.c, flags.c: at other settings
 *                                             follow.c: again and again; page.c: as metrics */
#ifndef WATCH_PARTS_H
#define WATCH_PARTS_H

#include "meter/watch/fit.h"
#include "scenario/values.h"

#include "ask/ask.h"
#include "catalog/flags.h"
#include "scenario/calibrated.h"

/* ---- history.c ------------------------------------------------------------------------------- */

enum { RATES_MOST = 90, LAYOUT_ROWS = 6 };
struct rate_seen {
    double from, to, arrivals;      /* s; s; requests */
    double finished, prompt, output;        /* requests, and their tokens */
};
/* The layout that the command states, read once; NAN: not stated. */
struct stated_layout {
    bool read;
    double chips, tensor, stages, ranks;
    bool experts;                   /* the model has some, which the engines of a server can share */
};
/* What is kept between readings. */
struct history {
    struct arena arena;
    struct watch_fit fit;
    struct watch_fitted fitted;
    struct rate_seen rates[RATES_MOST];
    size_t rate_count;
    double window;                  /* s of arrivals that the trend is of */
    double layout[LAYOUT_ROWS];     /* as it was chosen first, where the command leaves it open */
    bool laid_out;
    struct stated_layout stated;
};
void history_open(struct history *history, const struct arena *beside, double window);
void history_close(struct history *history);
/* Adds the interval that ended at `at`. Why it tells no point of the fit, or NULL. */
const char *history_add(struct history *history, const struct load *load, double at);
/* The arrivals as facts of a scenario, seen from `at`; those of the last `window` seconds. */
size_t history_facts(const struct history *history, double at, double window, struct facts *facts);
/* Arrivals per second of the last minute or of the last interval, if that is longer; NAN: none are known. */
double history_rate(const struct history *history);
/* Mean lengths of the last minute, or of the last hundred requests, if those are more; NAN: none finished. */
void history_lengths(const struct history *history, double *prompt, double *output);

/* ---- outlook.c ------------------------------------------------------------------------------- */

struct interval_of {
    double value, low, high;        /* 80 % interval; low, high NAN: not known */
};
struct interval_of interval_scaled(struct interval_of of, double by);
/* Of one replica: the rate at which it saturates, 1/s; output tokens per second there; times, s, NAN where it does not
 * keep up with its arrivals. */
enum { OUTLOOK_RATE, OUTLOOK_THROUGHPUT, OUTLOOK_TPOT, OUTLOOK_TTFT, OUTLOOK_COUNT };
struct outlook {
    struct arena *arena;
    const struct calibrated *calibrated;    /* NULL: nothing was measured */
    struct values values;
    struct calibrated_graph graph;
    double blocks;                  /* KV blocks of a rank that fit in memory, whatever the server reports */
};
struct watch_setting {
    const char *row;
    double value;
};
bool outlook_open(struct scenario *scenario, struct outlook *outlook, struct error *error);
/* What a row is set to; NAN: nothing depends on it. */
double outlook_setting(const struct outlook *outlook, const char *row);
/* The figures with some settings changed. */
void outlook_read(const struct outlook *outlook, const struct watch_setting *settings, size_t count,
                  struct interval_of figures[OUTLOOK_COUNT]);
/* The blocks that fit then. */
double outlook_blocks(const struct outlook *outlook, const struct watch_setting *settings, size_t count);

/* ---- predict.c ------------------------------------------------------------------------------- */

/* How the row that a flag moves is changed: the words of the column `vary`, in this order. */
enum vary { VARY_DOUBLE, VARY_SHARE, VARY_STEP, VARY_OFF, VARY_CACHE, VARY_TENSOR, VARY_EXPERTS, VARY_COUNT };
struct change {
    struct flag flag;
    enum vary vary;
    const char *also;               /* another flag that moves the same row, and is set alike; or NULL */
    double from, to;
    struct interval_of at[OUTLOOK_COUNT];
    const char *was, *becomes;      /* the two values as words of the engine; NULL: they are numbers */
    double chips;                   /* of a replica with the change */
    bool stated;                    /* the value that it has is known, not assumed */
};
enum { CHANGES_MOST = 20 };
struct expected {                   /* arrivals and the replicas for them */
    const char *unknown;            /* why they are, or NULL */
    struct interval_of rate, replicas;
};

/* One reading, and what follows from it. */
struct watch {
    struct arena *arena;
    const struct command *command;
    const char *source;
    double at;                      /* s, on the clock of the history */
    bool dated;                     /* which is Unix time */
    struct load load;
    size_t bad_lines;
    bool brief;                     /* nobody asks for flags */
    bool single;                    /* sums since the server started, no interval */
    struct history *history;
    const char *no_point;           /* why this interval tells none, or NULL */
    const char *model, *model_from;         /* the model that is predicted, and who says so; or NULL */
    struct scenario scenario;
    bool predicted;                 /* a model and a machine are known, and the lengths */
    const char *not_predicted;      /* why not */
    struct interval_of saturation, throughput, tpot, ttft;  /* 1/s, token/s, of all replicas; s */
    double replica_rate;            /* 1/s that a replica serves within the limits; NAN: not known */
    double ttft_limit, tpot_limit;
    double prompt, output;          /* lengths that are predicted for; NAN: not known */
    struct expected now, ahead;
    double engine_chips, ranks;     /* of a prediction, where they differ from the command's; else NAN */
    double of_server;               /* predictions that make up one server: its engines that run alone, or 1 */
    const char *applied;            /* how the layout was applied; NULL: to the only engine */
    const char *mixed;              /* models of one page whose counts are added; NULL: one model, or --model chose one */
    bool other_model;               /* the label names another known model than --model */
    struct change changes[CHANGES_MOST];
    size_t change_count;
    struct doc *notes, *unknown;
    const char *assumed[2];         /* rows that nobody states, set to what engines take */
    size_t assumed_count;
};
/* Are two names equal, or names of the same model of the catalog? */
bool watch_same_model(struct arena *arena, const char *a, const char *b);
/* Divide the layout that the command states among the engines of the page: sets load.replicas, the number of equal
 * predictions, and engine_chips, ranks and of_server. */
void watch_place(struct watch *watch);
bool watch_predict(struct watch *watch, struct error *error);

/* ---- flags.c --------------------------------------------------------------------------------- */

/* Sequences that run together where no flag says how many; NAN: the engine's own rows say. */
double watch_default_slots(const char *engine);
/* What each flag of the engine would change, as watch->changes: most tokens per GPU first. */
void watch_flags(struct watch *watch, const struct outlook *outlook);

/* ---- answer.c -------------------------------------------------------------------------------- */

void watch_json(struct watch *watch, struct doc *doc);
void watch_text(const struct watch *watch, struct buffer *out);
/* What binds, by the counters; NULL: they do not tell. */
const char *watch_binding(const struct load *load);

#endif
