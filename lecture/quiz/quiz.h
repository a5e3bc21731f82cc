/* quiz -- the verb `quiz`: problems with drawn numbers, graded answers, spaced repetition.
 *
 *     statements, rows, own problems --quiz_open--> sources
 *     kind + source + seed --problem_make--> a problem with its answer, or none
 *     problem + text --problem_grade--> right or wrong, and the slip that would explain it
 *
 * The id of a problem, KIND:SOURCE:SEED, makes it again: numbers are drawn from a stream of their own.
 * Where a problem would be ambiguous it is not made: a second root, a tie, a wrong unit that the
 * tolerance would let pass. */
#ifndef ASK_QUIZ_H
#define ASK_QUIZ_H

#include "ask/ask.h"
#include "lecture/statements.h"
#include "rows/random.h"

/* ---- sources --------------------------------------------------------------------------------- */

enum problem_kind {
    PROBLEM_VALUE,                  /* what a row is */
    PROBLEM_BINDS,                  /* which operand sets a maximum or minimum, or is most of a sum */
    PROBLEM_DIRECTION,              /* what a change of an input does to a row */
    PROBLEM_INVERSE,                /* which input gives this value */
    PROBLEM_MAGNITUDE,              /* a value to half an order of magnitude */
    PROBLEM_REASON,                 /* why a statement is so, by choice */
    PROBLEM_KINDS
};
extern const char *const problem_kinds[];       /* "value" and so on, ended by NULL */

/* What problems are made of: a statement of the lecture, a problem of data/problems.csv, or a row. */
struct problem_source {
    const char *name;               /* "batch.roofline", "problem.12", "bound_step" */
    int chapter;                    /* of the lecture; 0: none */
    const char *deck;               /* inputs, for deck_set; "" */
    const char *asks;               /* row or expression; "": words alone */
    const char *reason;             /* "" */
    const struct statement *statement;      /* or NULL */
    const char *question;           /* of a problem of our own, with fixed numbers; or NULL */
    enum problem_kind only;         /* the kind of such a problem */
};

struct quiz {
    struct arena *arena;
    const struct command *command;
    struct lecture lecture;
    struct problem_source *sources;
    size_t count;
};

void quiz_open(struct quiz *quiz, struct arena *arena, const struct command *command);
const struct problem_source *quiz_source(const struct quiz *quiz, const char *name);    /* NULL: none */
/* May this source have a problem of this kind? Making it may fail all the same. */
bool source_suits(const struct quiz *quiz, const struct problem_source *source, enum problem_kind kind);

/* ---- problems -------------------------------------------------------------------------------- */

struct problem_given {
    const char *row, *text;         /* "hbm_bandwidth", "8 TB/s", which reads back as the same number */
};

enum { CHOICES = 4, SLIPS = 32 };

/* A factor by which a known mistake moves the answer. */
struct slip {
    double factor;
    const char *words;              /* "multiply-adds for FLOPs" */
};

/* Lives in its arena. */
struct quiz_problem {
    const char *id;
    enum problem_kind kind;
    const struct problem_source *source;
    const char *question;
    struct problem_given *given;
    size_t given_count;
    const char *asks;               /* row or expression whose value it is about; "" for a reason */
    const char *explain;            /* the row that `why` explains; NULL: none */
    struct unit unit;               /* of the answer */
    double answer;
    double tolerance;               /* as a factor, 1.02; 1 for a choice */
    const char *choices[CHOICES];
    size_t choice_count, right;     /* 0 choices: a number is asked for */
    struct slip slips[SLIPS];       /* those that would move this answer */
    size_t slip_count;
};

/* Make the problem of this kind, source and seed. Returns false where there is none: the same for the
 * same arguments. */
bool problem_make(struct quiz *quiz, enum problem_kind kind, const struct problem_source *source, uint64_t seed,
                  struct arena *arena, struct quiz_problem *problem);
/* Make the problem of an id again. */
bool problem_again(struct quiz *quiz, const char *id, struct quiz_problem *problem, struct error *error);
/* A drawn problem of a kind (PROBLEM_KINDS: any) and chapter (0: any). Fails if there is none. */
bool problem_draw(struct quiz *quiz, struct random *random, int kind, int chapter, struct quiz_problem *problem,
                  struct error *error);
/* The scenario of its given values. */
bool problem_scenario(const struct quiz *quiz, const struct quiz_problem *problem, struct arena *arena,
                      struct scenario *scenario, struct error *error);

/* ---- drawn numbers --------------------------------------------------------------------------- */

/* An input that moves the value of an expression, and what it is now. */
struct lever {
    const char *name;               /* "batch", "tier_capacity[flash]" */
    const struct row *row;
    double value, elasticity;
    bool stated;                    /* has to be said in the problem */
    bool drawn;                     /* its value may be drawn */
};

/* The inputs of the expression under the facts, in the order of the graph; their number. */
size_t levers_of(struct scenario *scenario, const char *asks, struct lever **levers);
/* A round value near the present one, or in the plausible range of the row if that has one. */
double lever_draw(struct arena *arena, const struct lever *lever, struct random *random);
/* Find the mistakes that would move the answer by a known factor. */
void slips_find(struct quiz_problem *problem, const struct lever *levers, size_t count);
/* Is a mistake so small that the tolerance would let it pass? */
bool slips_hide(const struct quiz_problem *problem);

/* ---- answers --------------------------------------------------------------------------------- */

struct grade {
    bool right;
    const char *slip;               /* the mistake that explains the answer, or NULL */
    const char *wrong_unit;         /* the unit of the answer, where another kind of quantity was given */
};

/* Grade a text: a number with its unit, a number in base units, the letter of a choice or its words. An
 * answer that cannot be read is an error. */
bool problem_grade(const struct quiz_problem *problem, struct arena *arena, const char *text, struct grade *grade,
                   struct error *error);
/* Explain the answer: the row as `why` has it at these numbers, and the reason. */
const char *problem_why(struct quiz *quiz, const struct quiz_problem *problem);

/* ---- repetition -------------------------------------------------------------------------------------
 *
 * Five boxes (Leitner): a right answer moves a kind of a source to the next box, a wrong one back to the
 * first. It is due again after 4, 8, 16, 32 or 64 further answers. */
enum { BOXES = 5 };

struct repetition {
    double answers;                 /* graded so far */
    struct item {
        const char *name;           /* "value:batch.roofline" */
        int box;                    /* 1 to BOXES */
        double due;                 /* the number of answers from which on it is due */
    } *items;
    size_t count, room;
};

/* Read the file of --state; without one, or where it does not exist, nothing was answered so far. */
bool repetition_read(const struct quiz *quiz, struct repetition *repetition, struct error *error);
/* Sort the items: those due first, among them the lowest box and the longest due. Returns how many are. */
size_t repetition_due(struct repetition *repetition);
void repetition_note(const struct quiz *quiz, struct repetition *repetition, const struct quiz_problem *problem,
                     bool right);
/* Write the file of --state, whole or not at all; without one, do nothing. */
bool repetition_write(const struct quiz *quiz, const struct repetition *repetition, struct error *error);

#endif
