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

enum grouping { BY_MODEL, BY_HARDWARE, BY_SOURCE };

struct refusal {
    const char *reason;
    size_t count, order;            /* order of first meeting */
};

struct label {                      /* one spelling of a machine's or model's name */
    const char *spelling, *label;   /* label: the first spelling met of the same entry */
    const struct catalog_entry *entry;
};

struct check {
    struct arena *arena;
    const struct command *command;
    struct section *section;        /* the answer */
    struct error *error;
    enum grouping by;
    struct catalog catalog;
    struct label *labels;
    size_t label_count, label_room;
    struct measured_list points;
    struct predictor predictor;
    struct physics physics;
    bool stated;                    /* points with an inferred input are refused */
    struct outcome *outcomes;
    size_t outcome_count, outcome_room;
    struct scores all, metrics, groups;
    struct refusal *refusals;
    size_t refusal_count, refusal_room, refused;
};

/* Each adds its part to the answer. */
void check_scores(struct check *check);
void check_counts(struct check *check);             /* rows read, scored, refused and why */
void check_worst(struct check *check, size_t most);
/* The share of good choices, and a line of CSV for each choice. */
bool check_rank(struct check *check, struct buffer *csv);
extern const struct record check_rank_record;
/* A line per value or refused row. */
void check_csv(const struct check *check, struct buffer *out);

/* NULL: nothing was scored. */
struct picture *scatter_picture(struct arena *arena, const struct outcome *outcomes, size_t count);

/* One name for all spellings of a machine or model: the first one that was read. */
const char *check_label(struct check *check, enum catalog_kind kind, const char *spelling);

#endif
