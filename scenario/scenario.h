/* scenario -- what the words and options of a question mean.
 *
 *   words -> question -> scenario (rows + facts) -> answer (document + text)
 *
 * A question holds the words and options as they were written. A scenario is what they
 * mean: the book of rows, and the facts of the model, the machine and the options.
 * option.def lists the options; help, completion, the man page and the API are written
 * from it. */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "base/ranks.h"
#include "catalog/catalog.h"
#include "import/import.h"
#include "report/report.h"
#include "rows/rows.h"

enum option {
#define OPTION(name, key, argument, row, verbs, help) OPTION_##key,
#include "scenario/option.def"
#undef OPTION
    OPTION_COUNT
};

struct question {
    const char *verb;
    const char **words;             /* what stands beside the options */
    size_t word_count, word_room;
    const char *option[OPTION_COUNT];       /* NULL: not given; "" for a switch */
    const char **sets;              /* each "NAME=VALUE" */
    size_t set_count, set_room;
    const char **rows;              /* files of more rows */
    size_t rows_count, rows_room;
    const char **measured;          /* files of measurements */
    size_t measured_count, measured_room;
    const char **lanes;             /* each "NAME=N" */
    size_t lane_count, lane_room;
    const char **tiers;             /* each "NAME:KEY=VALUE,..." */
    size_t tier_count, tier_room;
    void (*progress)(double share);         /* who wants to see how far a long answer is; or NULL */
    const char *const *stores;      /* where the search was done already, to be merged */
    size_t store_count;
    const struct ranks *ranks;      /* the processes that answer together; NULL: this one */
};

/* `chalkline MODEL --on HARDWARE` is `brief`. Options go anywhere, --name VALUE or
 * --name=VALUE; -- ends them. */
bool question_read(struct arena *arena, int count, char **words, struct question *question,
                   struct error *error);

typedef bool ask_function(struct arena *arena, const struct question *question,
                          struct answer *answer, struct error *error);

struct verb {
    const char *name, *words, *summary, *example;
    ask_function *ask;              /* NULL: no question, but a tool of the command line */
};
extern const struct verb verbs[];   /* ended by one without a name */
const struct verb *verb_find(const char *name);         /* NULL: none */

struct option_row {
    const char *name, *argument, *row, *verbs, *help;
};
extern const struct option_row options[OPTION_COUNT];
int option_find(const char *name, size_t size);         /* -1: none */
bool option_fits(enum option option, const char *verb);
bool option_often(enum option option);          /* may it be given more than once? */

/* Options as numbers: `*value` stays where the option is not given. */
bool option_count(const struct question *question, enum option option, size_t *value,
                  struct error *error);
bool option_quantity(const struct question *question, enum option option, const char *unit,
                     double *value, struct error *error);
/* The same of any text; `label` is what messages call it. */
bool option_read_quantity(const char *label, const char *text, const char *unit, double *value,
                          struct error *error);

/* ---- scenario ------------------------------------------------------------------------- */

struct scenario {
    struct arena *arena;
    const struct question *question;
    struct book book;
    struct facts facts;
    struct catalog catalog;
    struct formats formats;
    const char *model, *machine;    /* titles; NULL: none given */
    const char *chosen_at;          /* of a curve: "context = 1 token", or NULL */
    bool lecture;
};

/* model and machine: names or paths, NULL for none. _read takes them as they are; _assume
 * adds what a real model needs and nobody gave, with a note for each; _open does both. */
bool scenario_read(struct scenario *scenario, struct arena *arena,
                   const struct question *question, const char *model, const char *machine,
                   struct error *error);
bool scenario_assume(struct scenario *scenario, struct error *error);
bool scenario_open(struct scenario *scenario, struct arena *arena,
                   const struct question *question, const char *model, const char *machine,
                   struct error *error);
/* "NAME=VALUE": a number with a unit, a range, a distribution, or an expression. */
bool scenario_set(struct scenario *scenario, const char *text, struct error *error);
bool scenario_set_row(struct scenario *scenario, const char *name, const char *value,
                      enum origin origin, const char *source, struct error *error);
/* The model and machine of `step MODEL --on MACHINE`: both are needed, the model once. */
bool scenario_pair(struct scenario *scenario, struct arena *arena,
                   const struct question *question, struct error *error);
/* A name that is no row; an option's name leads to the row that it sets. */
bool scenario_unknown(const struct scenario *scenario, const char *name, struct error *error);
/* "does not fit: needs 1.2 TB of 640 GB" of a model on a machine here; NULL: it does. */
const char *scenario_misfit(struct scenario *scenario);
void scenario_note_misfit(struct scenario *scenario);
/* A note where prompt and answer are longer than the model's configuration allows. */
void scenario_note_length(struct scenario *scenario);
/* The tiers of a user's file, --tiers FILE, in the place of those built in. */
bool tiers_read(struct scenario *scenario, const char *path, struct error *error);
/* What was assumed: lines of the text, and a list "assumed" in the document. */
void scenario_notes(const struct scenario *scenario, struct answer *answer);

/* ---- values ------------------------------------------------------------------------------ */

/* Expressions as a list, with values at the facts. A value that is not finite is an
 * error which names the row that has none. */
struct values {
    struct list list;
    double *at, *inputs;            /* of outputs, of inputs */
};

bool values_of(struct scenario *scenario, const char *const *texts, size_t count,
               struct values *values, struct error *error);
bool value_of(struct scenario *scenario, const char *text, double *value, struct error *error);
bool values_finite(const struct scenario *scenario, const struct list *list,
                   const double *inputs, struct error *error);
/* Does an input carry a range or distribution, given or (with `likely`) by its row? */
bool values_uncertain(struct scenario *scenario, struct values *values);
struct range {
    double low, high;
    const char *kind;               /* "range" or "5-95 %" */
};
struct range values_range(struct scenario *scenario, const struct values *values, size_t output);
struct unit scenario_unit(const struct scenario *scenario, const char *text);
bool unit_counts(struct unit unit);         /* 1 or token: what comes in whole numbers */
/* 671 B, 1.6 T, 162 M: counts too long to spell. */
const char *large_text(struct arena *arena, double value);
/* `share` of the way from low to high, even in the logarithm. */
double log_between(double low, double high, double share);

/* ---- what was given, what binds ---------------------------------------------------------- */

/* Does an output move with an input while all others stay? */
bool list_depends(struct arena *arena, const struct list *list, const char *input);
/* The options ("--set pp", "--batch") whose rows no expression reads; their number. */
size_t given_idle(struct scenario *scenario, const char *const *texts, size_t count,
                  const char ***labels);
/* A note for each: "--set pp has no effect on WHAT". */
void given_note(struct scenario *scenario, const char *const *texts, size_t count,
                const char *what);

#endif
