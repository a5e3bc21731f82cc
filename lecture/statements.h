/* statements -- what the lecture states, as data, and whether it holds in a scenario.
 *
 *     data/lecture.csv --statements_read--> statements
 *     statement + its deck --verdict_of--> its figures, whether it holds there, and what follows
 *                          --verdict_turns--> where that would turn
 *
 * The lecture's own example of a statement is its deck. What it comes to for a user's model is asked with the question
 * that the statement keeps: question.h. */
#ifndef LECTURE_STATEMENTS_H
#define LECTURE_STATEMENTS_H

#include "scenario/scenario.h"

/* ---- statements ------------------------------------------------------------------------------ */

/* True by definition; true whichever way it turns; can be false; a figure about the world; about an example alone. */
enum question_kind { QUESTION_IDENTITY, QUESTION_ARGUMENT, QUESTION_COMPARISON, QUESTION_NUMBER, QUESTION_EXAMPLE };

/* What a statement asks of a model; texts over rows, "" where there is none. */
struct posed {
    enum question_kind kind;
    const char *asks_of;            /* "model machine batch": whose inputs all others are; "": nobody's */
    const char *keeps;              /* inputs that belong to the question: "hit_ratio=0.1; hold_time=5min" */
    const char *needs;              /* "experts > 1: The model has no routed experts." */
    const char *figure, *closed;    /* what is asked, and the lecture's equation for it */
    const char *factors;            /* "lookup=looked_up; attention=1/attention_growth": figure over closed */
    const char *predicate;          /* a comparison */
    const char *turning;            /* the input over which its root is sought */
    const char *here, *here_fails;  /* sentences where the predicate is true, or there is none, and where not */
};

/* A row of data/lecture.csv; texts are "" where the cell is empty. */
struct statement {
    const char *id;                 /* "experts.two_racks" */
    int chapter;                    /* 1.. */
    const char *time;               /* "0:33:47", the place in the talk; "": derived from it */
    const char *sentence;
    const char *kind;               /* the name of question.kind */
    struct posed question;
    const char *deck;               /* for deck_set */
    const char *equation;           /* as the lecture writes it */
    const char *asks;               /* the row or expression that it is about; "": words alone */
    const char *says;               /* the figure spoken */
    const char *exact;              /* the same recomputed from the deck */
    double tolerance;               /* factor that the lecture's rounding allows; NAN: none is stated */
    const char *holds, *fails;      /* what it concludes; fails "-": it is true of any model */
    const char *input, *turns;      /* the input that turns it, and the equation of the turning point */
    const char *reason;
    bool brief;                     /* part of the short form */
    const char *label;              /* of its line in a summary; "": it has none */
    const char *line, *line_fails;  /* and where its predicate is false; "": the same */
};

struct lecture {
    struct statement *at;
    size_t count;
};

/* A chapter, from data/chapters.csv. */
struct lecture_chapter {
    const char *id, *title, *time;
    const char *question;           /* what a reader should be able to answer after it */
    const char *main;               /* the statement whose equation stands for it */
};

void statements_read(struct arena *arena, struct lecture *lecture);
/* The chapters in order, ended by one without an id. */
const struct lecture_chapter *lecture_chapters(struct arena *arena);

/* ---- verdicts ---------------------------------------------------------------------------------- */

enum holds { HOLDS_NOT, HOLDS, HOLDS_UNKNOWN };

struct side {
    const char *text;               /* a row, an expression or a number; NULL: none */
    double value;                   /* base units; NAN: it has none */
};

/* What a statement comes to in its deck. */
struct verdict {
    struct side asks, left, right;
    enum holds holds;
    const char *conclusion;         /* a sentence, or NULL */
    bool turns;                     /* the equation has a root */
    double root, now;               /* the root nearest to the present value, and that value */
};

/* Does the figure of the lecture agree with this value? HOLDS_UNKNOWN: none was said. */
enum holds statement_agrees(const struct scenario *scenario, const struct statement *statement, double value);
/* The scenario of the statement's own deck, with what the command sets. */
bool statement_open(struct scenario *scenario, const struct command *command, const struct statement *statement,
                    struct arena *arena, struct error *error);
/* The statement in a scenario. `sign` is that of left less right in the lecture's deck, 0 where that is
 * this scenario. A row without a value there is NAN and no error. */
void verdict_of(struct scenario *scenario, const struct statement *statement, int sign, struct verdict *verdict);
/* The sign of left less right: 1, -1, or 0 for none. */
int verdict_sign(const struct verdict *verdict);
/* Find where the statement turns: the root of its equation, all else as it is. */
void verdict_turns(struct scenario *scenario, const struct statement *statement, struct verdict *verdict);
/* The command without what it sets: the rows of its files alone. */
struct command command_rows_only(struct arena *arena, const struct command *command);
/* The sign of its equation in the lecture's deck alone; the command gives further rows, --rows. */
bool statement_sign(struct arena *arena, const struct command *command, const struct statement *statement,
                    int *sign, struct error *error);
/* The statement whose question asks for this row or, with `deck`, whose example has it in a named deck: the first, those of the
 * short form before others; NULL: none. */
const struct statement *statement_of_row(struct arena *arena, const char *row, bool deck);

/* Add "flips": the equation that turns a verdict, its input, root and present value; null without an equation. */
void flips_section(const struct scenario *scenario, const char *input, const char *equation, bool turns, double root,
                   double now, struct section *section);
extern const struct record flips_record;        /* its keys */

#endif
