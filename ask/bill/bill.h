/* bill -- what a workload costs.
 *
 *     workload file --> facts of the chapter "A workload", gaps ---+
 *     price list ----> prices of an entry ------------------------+--> rows at every request of
 *     data/caching.csv --> rules: how it bills what it has seen ---+    a task, added up: cost of
 *                                                                       a task in each scheme
 *
 * A scheme is a way to be billed: nothing cached, written for a time, cached by itself, stored by
 * the hour, or in a batch. A habit is the same rows at another point. A point is an entry under
 * its rule, with all gaps scaled by a factor; many points are evaluated in one pass over the rows. */
#ifndef ASK_BILL_H
#define ASK_BILL_H

#include "ask/evidence/evidence.h"
#include "scenario/basis.h"
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

/* A way of being billed for a task: how its prompts are cached, and whether answers may come later. */
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

/* The times between the requests of a task: a distribution, or measured values in order. */
struct gaps {
    const char *words;              /* as the user wrote them */
    struct amount amount;
    double *measured;
    size_t count;                   /* of `measured`; 0: `amount` is the distribution */
};
/* Read words of a distribution, or a CSV file with a column "gap" in seconds. `where` begins messages. */
bool gaps_read(struct arena *arena, const char *words, const char *where, struct gaps *gaps,
               struct error *error);
double gaps_mean(const struct gaps *gaps);
/* Of gaps with this distribution's shape and the mean `mean` (NAN: its own): the share that is shorter
 * than `life`, and the mean of min(gap, life). */
double gaps_within(const struct gaps *gaps, double mean, double life);
double gaps_cut(const struct gaps *gaps, double mean, double life);

struct workload {
    const char *name;               /* "agent" */
    struct gaps gaps;
    struct fact *facts;             /* rows of the chapter "A workload", from the file and --set */
    size_t fact_count, fact_room;
};
/* Read a built-in workload or a file. Each value is checked against its row in `scenario`. */
bool workload_read(struct scenario *scenario, const char *name, struct workload *workload,
                   struct error *error);
/* The same from text that was read already. --gap applies to both. */
bool workload_parse(struct scenario *scenario, const char *file, struct text text,
                    struct workload *workload, struct error *error);
/* Give another scenario the same facts. */
void workload_apply(const struct workload *workload, struct scenario *scenario);

/* ---- the sellers' caching rules: data/caching.csv --------------------------------------------- */

enum { RULES_FACTS = 7 };
extern const char *const rule_facts[RULES_FACTS];       /* rows of a rule: cache lifetimes and others */
/* How a seller caches prompts of some of his models. */
struct caching_rule {
    const char *name;               /* "claude-opus-4.7" */
    struct { const char *part; bool seller; } match[4];
    size_t match_count;
    double at[RULES_FACTS];         /* NAN: the row's default */
    const char *mark[RULES_FACTS];  /* "assumed", "middle", or "" */
    bool asked;                     /* the client requests cache writes, which have a price */
};
struct caching {
    struct caching_rule *rule;
    size_t count;
};
void caching_read(struct arena *arena, struct caching *caching);
const struct caching_rule *caching_find(const struct caching *caching, const struct price *price);

/* ---- the rows at every request ------------------------------------------------------------ */

/* A point at which the rows of a turn are evaluated. */
struct bill_point {
    const struct price *price;
    const struct caching_rule *rule;
    double mean_gap;                /* NAN: the workload's */
};

struct bill_cost {
    double task[SCHEMES];           /* USD per task; NAN: the seller does not offer the scheme */
    double prompt_most;             /* tokens of the longest prompt */
    double prompt, reply, read;     /* tokens per task: prompts, outputs, cache reads */
    enum scheme best;               /* the cheapest scheme whose answers come at once */
};

/* A row of the workload that is evaluated at another value; row NULL: none. */
struct bill_change {
    const char *row;
    double value;
};

enum { BILL_CHARGES = 40, BILL_INPUTS = 128 };
struct bill {
    struct scenario scenario;
    struct priors priors;
    struct price_sheet sheet;       /* the price list */
    struct seen_rows rows;
    struct price_reading *readings;       /* what each entry of the price list says */
    struct arena *arena;
    const struct command *command;
    struct section *section;        /* the answer */
    struct error *error;
    struct workload workload;
    struct caching caching;
    struct graph graph;             /* outputs: the cost of a turn in each scheme, then its tokens */
    int charge_input[BILL_CHARGES]; /* inputs of the graph that a point sets; -1: it does not read it */
    int number_input, summary_input;        /* inputs: number of the turn; 1 if it is a compaction */
    double rule_default[RULES_FACTS];       /* the row's default, or the value of --set */
    bool rule_given[RULES_FACTS];           /* by --set */
    double turns, compaction_turns;
    struct basis basis;             /* the defaults that the printed costs depend on */
    struct picture *picture;        /* what a month costs; NULL: none is wanted */
};

bool bill_open_rows(struct bill *bill);
/* The value of a row: from the workload, --set or its default. */
double bill_number(const struct bill *bill, const char *row);
void bill_costs(const struct bill *bill, const struct bill_point *points, size_t count,
                struct bill_change change, struct bill_cost *costs);
struct bill_cost bill_cost(const struct bill *bill, const struct price *price,
                           struct bill_change change);
/* "chalkline why turn_cost_short --set ...": the last turn of a task in a scheme, with all that
 * is not a default. */
const char *bill_why(struct bill *bill, const struct price *price, enum scheme scheme);
/* Add the defaults that the cost of a task depends on, over all its requests, to `basis`. */
void bill_basis(struct bill *bill, const struct price *price, enum scheme scheme, struct basis *basis);
/* A row of the chapter "A task and a month", such as USD per month, at these costs per task. */
double bill_task_row(struct bill *bill, const char *row, double task_cost, double other_task_cost);

/* ---- answers ------------------------------------------------------------------------------ */

/* A row's value in its unit, as a figure of the section. */
struct figure *bill_figure(const struct bill *bill, struct section *section, const char *row, double value);
/* Fill a section for one entry of the price list: its prices, and the cost of a task in each scheme. */
void bill_entry(const struct bill *bill, const struct price_reading *reading, const struct bill_cost *cost,
                struct section *entry);
/* bill_habits.c */
void bill_habits(struct bill *bill, const struct price_reading *reading, const struct bill_cost *now,
                 struct section *entry);
extern const struct record bill_habits_record;
/* bill_whole.c: into the list of entries, and a table of the cheapest. */
void bill_whole(struct bill *bill, struct section *list);
void bill_csv(struct bill *bill, struct buffer *out);
/* bill_plot.c: of a report, a bar for what a month costs in this scheme; its total, USD. */
void bill_bar(struct bill *bill, const char *name, const struct price *price, enum scheme scheme,
              double month);
/* Of --own: cost of a task on own machines and bought, over the load, in the place of the bars. */
struct bill_load {
    double rate, own, own_low, own_high, bought;        /* tasks per second; USD per task, with the 80 % interval */
};
void bill_draw_own(struct bill *bill, const struct bill_load *loads, size_t count, double pays_rate, double pays_cost);
/* The cheapest entry that is not suspicious and takes the prompts, of those asked for; NULL. */
const struct price_reading *bill_cheapest(struct bill *bill, struct bill_cost *cost);
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
/* bill_plan.c: set the layout of a replica to that of the best deployment that `plan` finds for the workload, with a
 * note. Returns a hash of the layout, 0 where plan finds none. */
uint64_t bill_plan(struct bill *bill, struct scenario *scenario);

#endif
