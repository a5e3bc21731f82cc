/* figures -- values as figures of an answer, and what a value is made of. */
#ifndef SCENARIO_FIGURES_H
#define SCENARIO_FIGURES_H

#include "scenario/values.h"

/* Add `names`, rows or expressions, to the section as figures with unit, origin and source. `values` has
 * them as its first outputs, in the same order. A prediction gets its 80 % interval if the ends of its
 * band are among the names. Ranges that follow from uncertain inputs are computed for the figures whose
 * range the template prints, or for all if it is NULL. */
void figures_of(struct scenario *scenario, struct values *values, const char *const *names,
                size_t count, const struct template *template, struct section *section);
/* The same, from a new graph that also has the bands; sets `values`, with `names` as first outputs. */
bool figures_read(struct scenario *scenario, const char *const *names, size_t count,
                  struct values *values, struct section *section, struct error *error);
extern const struct record figure_record;       /* a figure as an object of an answer: figure_document */
/* Add the lists "assumed" (the notes) and "words" (scenario_words) to a section; of a
 * report also "inputs", the weighed inputs, and "noted", the notes that say something else. */
void figures_notes(const struct scenario *scenario, struct section *section);
/* Of a report: a line more of what it rests on. */
void figures_noted(struct section *section, const char *note);
void figures_words(const struct scenario *scenario, struct section *section);
/* Add a number under the name of its row and under the row's aliases. */
void figures_row(struct section *section, const char *name, double value);
/* The same for a document. */
void doc_add_row(struct arena *arena, struct doc *doc, const char *name, double value);

/* ---- parts: what an output is made of ---------------------------------------------------- */

struct breakdown {
    struct contribution *at;        /* largest first */
    size_t count;
    double whole;                   /* the output */
};

/* Break an expression into parts; with `saved`, also compute contribution.saved. */
bool breakdown_of(struct scenario *scenario, const char *text, bool saved, struct breakdown *parts,
                  struct error *error);
/* The rest of the whole that no part explains: 0 except for rounding. */
double breakdown_other(const struct breakdown *parts);
/* "GEMMs 63 %, attention 28 %": the `most` largest parts; parts with the same label are added. */
const char *breakdown_largest(struct arena *arena, const struct breakdown *parts, int most);
/* Add a section "parts": {"ROW": {"label", "time", "saved_if_free"}}, with "contribution" instead of
 * "time" if the unit is not s. The template also sees the "row" and the "share" of each part. */
void breakdown_section(const struct scenario *scenario, const struct breakdown *parts, struct unit unit,
                       struct section *section);
void breakdown_document(const struct scenario *scenario, const struct breakdown *parts, struct unit unit,
                    struct doc *doc);
/* The keys of these parts: of a time, and of any quantity. */
extern const struct record parts_record, any_parts_record;

#endif
