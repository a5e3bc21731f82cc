/* question -- what a statement of the lecture asks of a model on a machine, and the answer.
 *
 *     statement + scenario --question_ask--> reply
 *
 * A statement keeps the inputs of its own question, such as 100 million tokens; model, machine and load set the rest:
 *
 *     1. The inputs that it keeps take the place of the scenario's.
 *     2. Where what it needs is not there, it does not apply, and a sentence says why.
 *     3. The lecture's equation has a value, `closed`; times its factors, each a named correction, that is the figure.
 *     4. The predicate compares two values. It decides whether a comparison or a number holds, and which sentence of
 *        an argument is true; an identity has none.
 *     5. The root is the value of the turning input nearest to the present one, by ratio, at which the predicate
 *        changes; there may be none. */
#ifndef LECTURE_QUESTION_H
#define LECTURE_QUESTION_H

#include "lecture/statements.h"

struct kept_input {
    const char *row;
    double value;
};

struct factor {
    const char *label;              /* "lookup" */
    const char *text;               /* "looked_up" */
    double value;
};

enum { KEPT_MOST = 8, FACTORS_MOST = 8 };

/* Numbers are in base units; NAN: none. Texts live in the arena of the scenario. */
struct reply {
    struct scenario scenario;       /* the one that was asked, with what the question keeps */
    struct kept_input kept[KEPT_MOST];
    size_t kept_count;
    const char *lacks;              /* why the statement does not apply: a sentence; NULL: it does */
    double figure, closed;
    struct factor factors[FACTORS_MOST];        /* figure = closed x their product */
    size_t factor_count;
    struct side left, right;        /* of the predicate; text NULL: there is none */
    enum holds predicate;           /* is it true? HOLDS_UNKNOWN: none, or a side has no value */
    enum holds holds;               /* the same of a comparison or a number; HOLDS_UNKNOWN of others */
    const char *conclusion;         /* a sentence, or NULL */
    const char *equation;           /* that holds at the root: "left=right"; "": no predicate */
    bool turns;
    double root, now;
};

/* Ask a statement in a scenario whose layout and load are chosen. With `keeps` the question's inputs are set; without, it
 * is asked at the scenario's own. Inputs in `own` (a deck) that the scenario sets stay. */
enum question_inputs { QUESTION_KEEPS, QUESTION_FREE, QUESTION_OF_DECK };
void question_ask(struct scenario *scenario, const struct statement *statement, enum question_inputs inputs,
                  struct reply *reply);
/* Fill the root of the reply; `now` where there is an input. */
void question_turns(struct reply *reply, const struct statement *statement);

/* Is a comparison true? Its sides, as the scenario reads them, go to `equation`. */
struct equation;
enum holds predicate_holds(struct scenario *scenario, const char *text, struct equation *equation, double *left,
                           double *right);

/* Where a row of data/ends.csv is the end of what is considered, since there is no such value: the sentence that says so.
 * NULL: there is one, or the row is none of these. */
const char *question_no_value(struct scenario *scenario, const char *row);

/* Add to a section: "question", "figure", "closed_form", "factors" and "predicate", and for the text how the equation
 * comes to its figure. */
void question_section(const struct statement *statement, struct reply *reply, struct section *section);
/* Keys of these, for the record of an answer. */
extern const struct record kept_record, factor_record, predicate_record;
#define QUESTION_FIELDS(there) \
    { FIELD_RECORD, "question", .help = "inputs that belong to the question, in base units", .record = &kept_record, \
      .always = there }, \
    { FIELD_TEXT, "figure_row", .help = "the row or expression that the question is about", .always = there }, \
    { FIELD_NUMBER, "figure", .help = "its value, in base units", .unit = "", .always = there, .null = true }, \
    { FIELD_TEXT, "closed_rows", .help = "the lecture's equation for it, over rows", .always = there }, \
    { FIELD_NUMBER, "closed_form", .help = "value of that equation; times the factors it is the figure", .unit = "", \
      .always = there, .null = true }, \
    { FIELD_LIST, "factors", .help = "corrections between the equation and the figure", .record = &factor_record, \
      .always = there }, \
    { FIELD_RECORD, "predicate", .help = "the comparison that decides; null: there is none", \
      .record = &predicate_record, .always = there, .null = true }, \
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "worked", "compared", "turning", "asked" }, .count = 4 }

/* Add the list "lines": the statements that have a line in a summary, each with its question's inputs; of two with one label
 * the first that applies. One without a value there, or that asks for a batch that does not fit, is left out. */
void question_lines(struct scenario *scenario, struct section *section);
extern const struct record summary_line_record;         /* its keys */

#endif
