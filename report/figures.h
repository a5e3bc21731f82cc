/* figures -- the numbers and words of an answer, before they are printed as text, JSON or CSV.
 *
 *     section   the answer itself
 *       figures   bound_step 12.25 ms · batch 392 · limited_by "weights"
 *       inside
 *         section "parts", a list
 *           section   one record: label "experts" · time 12.7 ms
 *           section   ...
 *
 * A figure is a number under the name of its row, or a word under a key. A verb fills sections once
 * (scenario/figures.c reads rows from one graph); template.h prints them for people, section_document
 * as JSON, section_csv as a table. Numbers are in base units. A number that is unknown, because a price
 * is, is NAN: it does not exist for a template, and is null in JSON. A figure that does not apply is
 * not in its section. All live in the arena of the answer. */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "report/report.h"
#include "rows/facts.h"
#include "rows/rows.h"

/* The range of a value that follows from the ranges and distributions of the inputs. */
struct range {
    double low, high;               /* low = high: none */
    const char *kind;               /* "range", "seen" or "5-95 %" */
};

struct figure {
    const char *name;               /* a row, "row[entry]", or the key of a word */
    const char *word;               /* the value, if it is a word; NULL: it is a number */
    double value;
    double low, high;               /* 80 % interval of a prediction; low = high: none */
    struct range range;
    struct unit unit;
    enum origin origin;
    const char *source;             /* "data/hardware.csv:271", "--set"; NULL: not looked up */
    enum { FIGURE_PLAIN, FIGURE_SWITCH, FIGURE_NOTHING } as;    /* SWITCH: true or false in JSON;
                                                                   NOTHING: null */
    bool text_only;                 /* not in JSON and CSV */
};

enum section_kind {
    SECTION_RECORD,                 /* figures, and sections inside */
    SECTION_LIST,                   /* records: an array of objects */
    SECTION_KEYED,                  /* records, each under its own name: an object of objects */
    SECTION_MERGED,                 /* records whose figures have names of their own: one object */
    SECTION_TEXTS                   /* words without keys: an array of strings */
};

struct section {
    struct arena *arena;
    enum section_kind kind;
    const char *name;               /* its key; NULL: the answer itself, or a record of a list */
    struct figure *figures;
    size_t count, room;
    struct section **inside;        /* of lists: their records */
    size_t inside_count, inside_room;
    bool text_only;                 /* in no document */
};

struct section *section_new(struct arena *arena);
struct section *section_add(struct section *parent, const char *name, enum section_kind kind);
/* Add a figure, which the caller may complete, and return it; if the name exists, return that figure. */
struct figure *section_number(struct section *section, const char *name, double value,
                              struct unit unit);
/* The same with the base unit in words: "USD/token". */
struct figure *section_quantity(struct section *section, const char *name, double value,
                                const char *unit);
struct figure *section_word(struct section *section, const char *name, const char *word);
/* 1 or 0, true or false in JSON. */
struct figure *section_switch(struct section *section, const char *name, bool on);
/* Add a key without a value: null in JSON; it does not exist for a template. */
struct figure *section_nothing(struct section *section, const char *name);
/* Add a record to a second list. */
void section_share(struct section *list, struct section *record);
/* The figure of that name, or of "NAME[entry]"; NULL: none. */
const struct figure *section_find(const struct section *section, const char *name);
/* The value of a figure; NAN: it has none. */
double section_value(const struct section *section, const char *name);
/* One of its sections; NULL: none. */
const struct section *section_inside(const struct section *section, const char *name);

/* "given", "sheet", "model", "fitted", "default", "derived" or "chosen". */
const char *origin_name(enum origin origin);

/* {"value", "unit", "low", "high", "range", "range_kind", "origin", "source"}, without what it lacks. */
void figure_document(struct arena *arena, const struct figure *figure, struct doc *doc);
/* Into an object, behind what is there; keys that are there already stay as they are. */
void section_document(const struct section *section, struct doc *doc);
/* A list as a table: a column for each figure of its first record, numbers in base units. */
void section_csv(const struct section *list, struct buffer *out);
/* The same with these columns, of which the template alone may have some. */
void section_csv_of(const struct section *list, const char *const *columns, size_t count,
                    struct buffer *out);

#endif
