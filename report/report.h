/* report -- an answer and its one printer.
 *
 * An answer has the same numbers twice: a document (JSON, names of rows as keys) and text for
 * people; where a table is the answer, also as CSV. Infeasible is an answer (status 1), not an
 * error. figures.h holds both before they are printed, template.h prints the text from a file beside
 * the verb; plot.h draws curves. */
#ifndef REPORT_H
#define REPORT_H

#include "rows/rows.h"

struct answer {
    struct doc *doc;                /* for --json */
    struct buffer text;             /* for people */
    struct buffer csv;              /* where a table is the answer; else empty */
    int status;                     /* 0 an answer, 1 nothing feasible */
};

/* ---- the keys of an answer ----------------------------------------------------------------- */

/* What writes an answer declares its keys beside itself, so that the API can type them: rows by the
 * table they are printed from, other keys one by one. */
enum answer_kind {
    FIELD_END,
    FIELD_ROWS,                     /* a number for each of `names`, in the unit of that row */
    FIELD_NUMBER,                   /* `key`, or each of `names`, in `unit`; or a `record` in its place */
    FIELD_TEXT,                     /* one of `names`, where there are any */
    FIELD_SWITCH,
    FIELD_TEXTS, FIELD_NUMBERS,     /* arrays of these */
    FIELD_RECORD,                   /* an object with the fields of `record` */
    FIELD_LIST,                     /* an array of those; without a record, of whatever */
    FIELD_ALSO,                     /* all fields of `record` stand here too */
    FIELD_OTHERS,                   /* whatever other keys there are: each a `record`, or a number;
                                       a template calls the latter by `names`, without their entries */
    FIELD_TEXT_ONLY,                /* no key: `names`, or the section `key` of `record`, are for the
                                       template alone */
};

struct answer_field {
    enum answer_kind kind;
    const char *key;                /* NULL: `names` has the keys */
    const char *help;               /* of rows their meaning */
    const char *unit;               /* of numbers; NULL: "1"; "": it depends */
    const char *const *names;       /* [count]; NULL in between is no key */
    size_t count;
    const char *const *keys;        /* FIELD_ROWS: old names of the same rows, as keys */
    const struct record *record;
    bool aliases;                   /* FIELD_ROWS: each also under the aliases of its row */
    bool arrays;                    /* FIELD_OTHERS: an array may stand in the place of a record */
    bool always;                    /* it is in each such object */
    bool null;                      /* a record, number or text: there may be none; of rows always */
};

struct record {
    const char *name;               /* of its schema: "Deployment" */
    const struct answer_field *fields;     /* ended by FIELD_END */
};

/* ---- what binds a step --------------------------------------------------------------------- */

/* Which of "compute", "weights" and "KV cache" limits a step, from their times; "balanced" within
 * 1 %. A step that "does not fit", hbm_share above 1, is limited by memory first. */
const char *limit_of(double compute, double weights, double cache, double hbm_share);

/* ---- numbers and tables as text ------------------------------------------------------------------------ */

/* "14,336" */
const char *count_text(struct arena *arena, double count, int digits);
/* 671 B, 1.6 T, 162 M: counts too long to spell. */
const char *large_text(struct arena *arena, double value);

struct table {
    struct arena *arena;
    size_t columns, count, room;
    const char **cells;             /* row by row; the first row is the header */
    const char *left;               /* per column: 'l' or 'r' */
};

void table_cell(struct table *table, const char *format, ...) BASE_PRINTF(2, 3);
void table_print(const struct table *table, struct buffer *out, const char *indent);
void table_csv(const struct table *table, struct buffer *out);

#endif
