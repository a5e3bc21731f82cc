/* report -- answers, and how they are printed.
 *
 * An answer has the same numbers twice: as a document (JSON, with names of rows as keys) and as text for
 * people; if the answer is a table, also as CSV. Infeasible is an answer (status 1), not an error. A verb
 * collects its numbers as figures (figures.h); its template (template.h), a file beside the verb, says
 * where the text shows them. picture.h describes and draws pictures, plot.h writes them. */
#ifndef REPORT_H
#define REPORT_H

#include "rows/rows.h"

struct picture;
struct section;

struct answer {
    struct doc *doc;                /* printed by --json; NULL: nobody reads it, and it is not built */
    struct buffer text;             /* printed without --json and --csv */
    struct buffer csv;              /* printed by --csv; empty if the answer has no table */
    int status;                     /* exit status: 0 an answer, 1 nothing feasible */
    struct picture *picture;        /* if the command draws (command_draws); NULL: there is nothing to draw */
    const struct section *section;  /* the figures of the text, for a report; NULL: none are kept */
};

/* ---- the keys of an answer ----------------------------------------------------------------- */

/* The code that writes an answer declares its keys, so that the OpenAPI document has their types: rows by
 * the table of names that they are printed from, other keys one by one. */
enum answer_kind {
    FIELD_END,
    FIELD_ROWS,                     /* a number for each row of `names`, in the unit of that row */
    FIELD_NUMBER,                   /* `key`, or each of `names`: a number in `unit`, or an object
                                       `record` that has the number */
    FIELD_TEXT,                     /* a string; one of `names`, if there are any */
    FIELD_VALUE,                    /* a number or a string */
    FIELD_SWITCH,                   /* true or false */
    FIELD_TEXTS, FIELD_NUMBERS,     /* arrays of strings; of numbers */
    FIELD_RECORD,                   /* an object with the fields of `record` */
    FIELD_LIST,                     /* an array of such objects; without a record, of any values */
    FIELD_ALSO,                     /* include all fields of `record` here */
    FIELD_OTHERS,                   /* all keys that are not declared: each an object `record`, or a
                                       number; a template calls the numbers by `names` */
    FIELD_TEXT_ONLY,                /* no key of the document: `names`, or the section `key` of
                                       `record`, which only the template reads */
};

struct answer_field {
    enum answer_kind kind;
    const char *key;                /* NULL: `names` has the keys */
    const char *help;               /* description; rows are described by their meaning */
    const char *unit;               /* of numbers; NULL: "1"; "": not the same in every answer */
    const char *const *names;       /* [count]; NULL entries are skipped */
    size_t count;
    const char *const *keys;        /* FIELD_ROWS: short names of the same rows, as additional keys */
    const struct record *record;
    bool aliases;                   /* FIELD_ROWS: each number also appears under its row's aliases */
    bool arrays;                    /* FIELD_OTHERS: an array may take the place of a record */
    bool always;                    /* the key is in every such object */
    bool null;                      /* the value may be null; rows may always be null */
};

/* The keys of one kind of object. */
struct record {
    const char *name;               /* of its schema: "Deployment" */
    const struct answer_field *fields;     /* ended by FIELD_END */
};

/* ---- what binds a step --------------------------------------------------------------------- */

/* Which of "compute", "weights" and "KV cache" limits a step, from the times of each; "balanced" if
 * compute and memory are within 1 %; "does not fit" if hbm_share is above 1. */
const char *limit_of(double compute, double weights, double cache, double hbm_share);

/* ---- numbers and tables as text ------------------------------------------------------------------------ */

/* "14,336" */
const char *count_text(struct arena *arena, double count, int digits);
/* Large counts with a prefix: "671 B", "1.6 T", "162 M". */
const char *large_text(struct arena *arena, double value);

/* A table that is filled cell by cell and printed with aligned columns. Where the buffer is for a terminal that is
 * too narrow (buffer.columns), cells are broken into lines, and rows if that does not suffice. */
struct table {
    struct arena *arena;
    size_t columns, count, room;
    const char **cells;             /* row by row; the first row is the header */
    const char *left;               /* alignment, a letter per column: 'l' left or 'r' right */
};

void table_cell(struct table *table, const char *format, ...) BASE_PRINTF(2, 3);
void table_print(const struct table *table, struct buffer *out, const char *indent);
void table_csv(const struct table *table, struct buffer *out);

#endif
