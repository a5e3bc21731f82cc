/* check -- scores predictions against published measurements.
 *
 *     files -> points -> outcomes -> scores, counts, lines, worst, picture
 *
 * Every row that was read is scored or refused with a reason. */
#ifndef ASK_CHECK_H
#define ASK_CHECK_H

#include "ask/ask.h"
#include "score/physics.h"
#include "score/score.h"

enum grouping { BY_MODEL, BY_HARDWARE, BY_SOURCE, BY_CLUSTER };

enum { REFUSED_SHOWN = 4 };
struct refused_rows {
    const char *reason;
    size_t count, order;            /* order of first meeting */
    const char *file, *lines;       /* of the first rows: "runs.csv:3, 7" */
};

struct check_label {                      /* one spelling of a machine's or model's name */
    const char *spelling, *label;   /* label: the first spelling met of the same entry */
    const struct catalog_entry *entry;
};

struct peer {                       /* the prediction, or a formula of others */
    const char *name;
    const char *rows[METRICS];      /* that predict each metric; NULL: it says nothing of it */
    struct scores scores;
};

struct check {
    struct arena *arena;
    const struct command *command;
    struct section *section;        /* the answer */
    struct error *error;
    enum grouping by;
    struct catalog catalog;
    struct check_label *labels;
    size_t label_count, label_room;
    struct measured_list points;
    struct predictor predictor;
    struct physics physics;
    bool stated;                    /* points with an inferred input are refused */
    struct outcome *outcomes;
    size_t outcome_count, outcome_room;
    struct scores all, metrics, groups;
    struct peer *peers;             /* --peers: the first is the prediction, over the same values */
    size_t peer_count;
    struct refused_rows *refusals;
    size_t refusal_count, refusal_room, refused;
    struct { size_t series, given, left_out, pairs; } calibrated;      /* --calibrate */
};

/* For each point of the answer: why it is not scored, or its values with their predictions. */
void check_refuse(struct check *check, const struct measured *point, const char *reason);
void check_outcomes(struct check *check, size_t at, const struct prediction *predictions);
const char *check_predict(struct check *check, const struct measured *point,
                          struct prediction predictions[MEASURED_VALUES]);
/* check_calibrate.c, with --calibrate N: of each series N points are given, the others scored; with --to those
 * of servers that differ from it so. */
void check_calibrate(struct check *check, size_t given);
extern const char *const check_to[];
extern const struct record check_calibrate_record;

/* check_peers.c, with --peers: find the formulas, then score what they say of each value of a point that
 * was scored, outcomes[point->value_count]. */
bool peers_open(struct check *check);
void peers_score(struct check *check, const struct measured *point, const struct outcome *outcomes);

/* Each adds its part to the answer. */
void check_scores(struct check *check);
void check_peers(struct check *check);              /* scores of --peers */
void check_counts(struct check *check);             /* rows read, scored, refused and why */
void check_worst(struct check *check, size_t most);
/* The share of good choices, and a line of CSV for each choice. */
bool check_rank(struct check *check, struct buffer *csv);
extern const struct record check_rank_record;
/* What the rows reveal, of `most` rows (0: of all), and a line of CSV for each finding. */
bool check_explain(struct check *check, size_t most, struct buffer *csv);
extern const struct record check_explain_record;
/* A line per value or refused row. */
void check_csv(const struct check *check, struct buffer *out);

/* NULL: nothing was scored. */
struct picture *scatter_picture(struct arena *arena, const struct outcome *outcomes, size_t count);

/* A score under its name in `section`, and where anything was scored as a line of `lines`; `banded`: it
 * has an interval, whose coverage counts. Returns the record. */
struct section *check_score(const struct check *check, const struct score *score, const char *name,
                            struct section *section, struct section *lines, bool banded);

/* One name for all spellings of a machine or model: the first one that was read. */
const char *check_label(struct check *check, enum catalog_kind kind, const char *spelling);

extern const struct record answer_check;      /* the keys of the answer */

#endif
