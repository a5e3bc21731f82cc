/* figures -- an answer before it is text, JSON or CSV.
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
 * as JSON, section_csv as a table. Numbers are in base units; a number that is not known, for want
 * of a price, is NAN: it does not exist for a template, and is null in JSON. A figure that does not
 * exist at all is not in its section. All live in the arena of the answer. */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "report/report.h"
#include "rows/facts.h"
#include "rows/rows.h"

/* Of what follows from ranges and distributions that were given. */
struct range {
    double low, high;               /* low = high: none */
    const char *kind;               /* "range" or "5-95 %" */
};

struct figure {
    const char *name;               /* a row, "row[entry]", or the key of a word */
    const char *word;               /* in place of a number, or NULL */
    double value;
    double low, high;               /* of a prediction its 80 % interval; low = high: none */
    struct range range;
    struct unit unit;
    enum origin origin;
    const char *source;             /* "data/hardware.csv:271", "--set"; NULL: not asked */
    enum { FIGURE_PLAIN, FIGURE_SWITCH, FIGURE_NOTHING } as;    /* in JSON true or false; null */
    bool text_only;                 /* in no document */
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
/* A figure more, which may then be completed; of a name that is there already, that one. */
struct figure *section_number(struct section *section, const char *name, double value,
                              struct unit unit);
/* The same with the base unit in words: "USD/token". */
struct figure *section_quantity(struct section *section, const char *name, double value,
                                const char *unit);
struct figure *section_word(struct section *section, const char *name, const char *word);
/* 1 or 0, true or false in JSON. */
struct figure *section_switch(struct section *section, const char *name, bool on);
/* The key of a record or word that there is not: null in JSON; for a template it does not exist. */
struct figure *section_nothing(struct section *section, const char *name);
/* A record that stands in another place too. */
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
