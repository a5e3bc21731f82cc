/* bill -- what a workload costs.
 *
 *     workload file --> facts of the chapter "A workload", gaps ---+
 *     price list ----> prices of an entry ------------------------+--> rows at every request of
 *     data/caching.csv --> rules: how it bills what it has seen ---+    a task, added up: cost of
 *                                                                       a task in each scheme
 *
 * A scheme is a way to be billed: nothing cached, written for a time, cached by itself, stored by
 * the hour, or in a batch. A habit is the same rows at another point. A point is an entry under
 * its rule, at gaps so many times as long; many points go through the rows at once. */
#ifndef ASK_BILL_H
#define ASK_BILL_H

#include "ask/evidence/evidence.h"
#include "sim/sim.h"

/* ---- schemes: SCHEME(key, word, waits, name); its row is turn_cost_WORD ---------------------- */

#define BILL_SCHEMES(SCHEME)                                        \
    SCHEME(PLAIN,     plain,     false, "no caching")               \
    SCHEME(SHORT,     short,     false, "short-lived writes")       \
    SCHEME(LONG,      long,      false, "long-lived writes")        \
    SCHEME(AUTOMATIC, automatic, false, "automatic caching")        \
    SCHEME(STORED,    stored,    false, "stored for a task")        \
    SCHEME(KEPT,      kept,      false, "prefix always stored")     \
    SCHEME(BATCH,     batch,     true,  "batch, within a day")      \
    SCHEME(FLEX,      flex,      true,  "flex, when chips are spare")

enum scheme {
#define SCHEME(key, word, waits, name) SCHEME_##key,
    BILL_SCHEMES(SCHEME)
#undef SCHEME
    SCHEMES
};
struct scheme_row {
    const char *word, *row, *name;
    bool waits;                     /* answers come later */
};
extern const struct scheme_row schemes[SCHEMES];
extern const char *const scheme_words[SCHEMES];

/* ---- the workload ------------------------------------------------------------------------- */

/* From one request of a task to the next: drawn, or measured ones in order. */
struct gaps {
    const char *words;
    struct amount amount;
    double *measured;
    size_t count;                   /* 0: drawn */
};
/* Words of an amount, or a CSV file with a column "gap" in seconds; `where` it was read. */
bool gaps_read(struct arena *arena, const char *words, const char *where, struct gaps *gaps,
               struct error *error);
double gaps_mean(const struct gaps *gaps);
/* Share within a life, and mean when cut there, of gaps whose mean is `mean` and whose shape is
 * that of these; NAN: as they are. */
double gaps_within(const struct gaps *gaps, double mean, double life);
double gaps_cut(const struct gaps *gaps, double mean, double life);

struct workload {
    const char *name;               /* "agent" */
    struct gaps gaps;
    struct fact *facts;             /* of the chapter, and what --set says of it */
    size_t fact_count, fact_room;
};
/* A built in word or a file. Each value is checked against its row in `scenario`. */
bool workload_read(struct scenario *scenario, const char *name, struct workload *workload,
                   struct error *error);
/* The same from text, for who has it already; --gap counts for both. */
bool workload_parse(struct scenario *scenario, const char *file, struct text text,
                    struct workload *workload, struct error *error);
/* Give another scenario the same facts. */
void workload_apply(const struct workload *workload, struct scenario *scenario);

/* ---- rules: data/caching.csv ----------------------------------------------------------------- */

enum { RULES_FACTS = 7 };
extern const char *const rule_facts[RULES_FACTS];       /* rows, lives among them */
struct rule {
    const char *name;               /* "claude-opus-4.7" */
    struct { const char *part; bool seller; } match[4];
    size_t match_count;
    double at[RULES_FACTS];         /* NAN: the row's default */
    const char *mark[RULES_FACTS];  /* "assumed", "middle", or "" */
    bool asked;                     /* writes are asked for, and have their prices */
};
struct caching {
    struct rule *rule;
    size_t count;
};
void caching_read(struct arena *arena, struct caching *caching);
const struct rule *caching_find(const struct caching *caching, const struct price *price);

/* ---- the rows at every request ------------------------------------------------------------ */

struct bill_point {
    const struct price *price;
    const struct rule *rule;
    double mean_gap;                /* NAN: the workload's */
};

struct bill_cost {
    double task[SCHEMES];           /* NAN: not offered */
    double prompt_most, prompt, reply, read;        /* tokens: longest prompt; of a task, in all */
    enum scheme best;               /* cheapest of those that do not wait */
};

/* One row of the workload at another value; row NULL: none. */
struct bill_change {
    const char *row;
    double value;
};

enum { BILL_CHARGES = 40, BILL_INPUTS = 128 };
struct bill {
    struct scenario scenario;
    struct priors priors;
    struct price_sheet sheet;
    struct seen_rows rows;
    struct reading *readings;       /* of each price */
    struct arena *arena;
    const struct command *command;
    struct section *section;        /* the answer */
    struct error *error;
    struct workload workload;
    struct caching caching;
    struct graph graph;             /* the schemes, then prompt, reply and read */
    int charge_input[BILL_CHARGES];
    int number_input, summary_input;
    double rule_default[RULES_FACTS];       /* of the rows, or what --set says */
    bool rule_given[RULES_FACTS];
    double turns, compaction_turns;
    struct basis basis;             /* what the costs that are shown depend on */
};

bool bill_open_rows(struct bill *bill);
/* Rows of a fact: what the workload, --set or the row itself says. */
double bill_number(const struct bill *bill, const char *row);
void bill_costs(const struct bill *bill, const struct bill_point *points, size_t count,
                struct bill_change change, struct bill_cost *costs);
struct bill_cost bill_cost(const struct bill *bill, const struct price *price,
                           struct bill_change change);
/* "chalkline why turn_cost_short --set ...": the last turn of a task in a scheme, with all that
 * is not a default. */
const char *bill_why(struct bill *bill, const struct price *price, enum scheme scheme);
/* What the cost of a task depends on: all its requests together. */
void bill_basis(struct bill *bill, const struct price *price, enum scheme scheme, struct basis *basis);
/* USD of a month and such: a row of "A task and a month" at these costs. */
double bill_task_row(struct bill *bill, const char *row, double task_cost, double other_task_cost);

/* ---- answers ------------------------------------------------------------------------------ */

/* A row's value in its unit, as a figure of the section. */
struct figure *bill_figure(const struct bill *bill, struct section *section, const char *row, double value);
/* Who sells what, and in which scheme a task is cheapest. */
void bill_entry(const struct bill *bill, const struct reading *reading, const struct bill_cost *cost,
                struct section *entry);
/* bill_habits.c */
void bill_habits(struct bill *bill, const struct reading *reading, const struct bill_cost *now,
                 struct section *entry);
extern const struct record bill_habits_record;
/* bill_whole.c: into the list of entries, and a table of the cheapest. */
void bill_whole(struct bill *bill, struct section *list);
void bill_csv(struct bill *bill, struct buffer *out);
/* The cheapest entry that is not suspicious and takes the prompts, of those asked for; NULL. */
const struct reading *bill_cheapest(struct bill *bill, struct bill_cost *cost);
bool bill_chosen(const struct bill *bill, const struct price *price);   /* by --model, --seller */
/* Options that move nothing there. */
struct bill_idle {
    const char **labels;
    size_t count;
    bool asked;
};
/* bill_own.c; `status` 1: no own machines serve it. */
bool bill_own(struct bill *bill, struct bill_idle *idle, int *status);
extern const struct record bill_own_record;

#endif
