/* command -- a question as typed values: a verb, its words, and a value for each given option.
 *
 *     words of a command line --command_read--+
 *                                             +--> command --> scenario, answer
 *     members of a request --command_put------+
 *
 * A verb declares its options in groups: some are shared with other verbs (options.h), some are its
 * own. An option declares the kind, unit, bounds and default of its value; help, completion, the man
 * page and the API are generated from these declarations. A value is parsed once, when it is put into a
 * command; code reads the number, and the text is kept only to print it. */
#ifndef SCENARIO_COMMAND_H
#define SCENARIO_COMMAND_H

#include "base/ranks.h"
#include "rows/rows.h"

/* ---- declarations -------------------------------------------------------------------------- */

enum option_kind {
    OPTION_SWITCH,                  /* stands alone */
    OPTION_COUNT,                   /* a whole number */
    OPTION_QUANTITY,                /* a number in `unit` */
    OPTION_CHOICE,                  /* one of `choices` */
    OPTION_ROW,                     /* sets `row`: a number, a range, a distribution, an expression */
    OPTION_TEXT,
    OPTION_FILE,                    /* a path; - is the terminal where the verb says so */
};

struct option {
    const char *name;               /* "gpus"; NULL ends an array of options */
    const char *argument;           /* name of its value in the help: "N"; NULL for a switch */
    enum option_kind kind;
    const char *row;                /* OPTION_ROW: has unit, range and default */
    const char *unit;               /* OPTION_QUANTITY: "s", "B/s", "1" */
    double low, high;               /* bounds, inclusive; high 0: 1e9 for a count, otherwise none */
    const char *bare;               /* "ms": the unit of a number without one; NULL: the base unit */
    const char *per;                /* "token tok": words that "/" or "per" may put behind a value, that the option's unit already implies; or NULL */
    const char *plausible;          /* "0.1ms..5s", "1M..100T": what a person means; other numbers are refused; or NULL */
    const char *fallback;           /* the default, as one would type it; NULL: none */
    const char *otherwise;          /* the default in words, or the case that comes before `fallback` */
    const char *const *choices;     /* OPTION_CHOICE, ended by NULL */
    const char *help;               /* one line, without its default and range */
    const char *const *named;       /* OPTION_ROW: a word, the row's value, ..., NULL; a number otherwise is set squared */
    const char *percentile;         /* the row that "@p95" behind a value sets, to 0.95; NULL: there is none */
    const char *now;                /* an old name: the option that it sets; or NULL */
    bool many;                      /* may be given more than once */
    char letter;                    /* 'o' of -o; 0: none */
    const char *twice;              /* what to do where it is given twice; NULL: give it once */
    bool written;                   /* the command writes this file, so none of its other words may name it */
    bool goes_on;                   /* this output may replace the file of --calibration, from which it is computed */
};

struct option_group {
    const char *title;              /* groups with the same title are printed together in the help */
    const struct option *options;   /* the last has no name */
};

struct command;
struct value;
struct answer;
typedef bool ask_function(struct arena *arena, const struct command *command,
                          struct answer *answer, struct error *error);

enum { VERB_GROUPS = 32, VERB_EXAMPLES = 3 };
/* What a verb takes in place of an option that it lacks; a list ends with a NULL. */
struct instead {
    const char *option, *hint;
};

/* The member `answers` of a verb. The page has no API, and does without the keys and what they mean. */
#ifdef __wasm__
#define ANSWERS(record) .answers = 0 ? &record : NULL
#else
#define ANSWERS(record) .answers = &record
#endif

struct verb {
    const char *name, *words, *summary;
    const char *examples[VERB_EXAMPLES];
    const struct option_group *groups[VERB_GROUPS];     /* NULL: no more */
    ask_function *ask;              /* NULL: a tool of the command line, which the API does not offer */
    const struct record *answers;   /* the keys of its answer, which the API types; NULL: they are not declared */
    bool documented;                /* its text is written from its document */
    bool divided;                   /* the ranks of mpirun divide its work; to other verbs the first one answers alone */
    const char *also;               /* another name, or NULL */
    const char *key_title;          /* of help: what the keys describe */
    const struct instead *instead;  /* options of other verbs, and what to give here; NULL: none */
    bool ranges;                    /* an input may be a range or a distribution: the answer is one then */
    bool here;                      /* asks of the machine that it runs on, where it names no machine */
    bool own_on;                    /* --on A,B means something of its own to it, or it is about a server: never asked of each */
    const char *const *main;        /* keys of its answer that a table of several machines shows; NULL: the first figures */
    const char *words_are;          /* the option whose values its words are: `check FILE`; NULL: words are words */
    /* The at-th key of its word, such as rate of poisson:rate=5; false after the last. NULL: it has none. */
    bool (*key)(size_t at, struct option *key);
};

/* All options of a verb: `at` starts as { 0 }; NULL after the last. */
struct option_at {
    size_t group, option;
};
const struct option *verb_next_option(const struct verb *verb, struct option_at *at);
/* The option with this name; NULL: none. */
const struct option *verb_option(const struct verb *verb, const char *name);
/* The name of the verb's option that people or other programs call `name` (data/meant.csv), in `meant`; NULL: none. `has` says
 * which of its options may be named; NULL: all. */
const char *verb_option_meant(const struct verb *verb, const char *name, bool (*has)(const struct option *), char meant[64]);
/* What data/meant.csv says of the name; "": nothing, or it names an option that the verb lacks. */
const char *verb_option_hint(const struct verb *verb, const char *name, bool (*has)(const struct option *));
/* In a list of verbs that NULL ends. */
const struct verb *verb_named(const struct verb *const *verbs, const char *name);

/* "plan, train": the verbs that have an option of this name; "" for none. */
const char *verbs_with(struct arena *arena, const struct verb *const *verbs, const char *name);

/* The default of a COUNT or QUANTITY, from `fallback`; NAN: no default. */
double option_default(const struct option *option);
/* The unit of its value; "1" for a switch, a choice or a text. */
struct unit option_unit(const struct option *option);
/* Parse a text as the value of an option, and check its bounds or choices. */
bool option_parse(struct arena *arena, const struct option *option, const char *text, struct value *value,
                  struct error *error);
/* The unit of a number without one: "ms"; NULL: a number has no unit. */
const char *option_bare(const struct option *option);
/* "1 to 64", "0 s or more"; "" if there are no bounds. */
const char *option_range(struct arena *arena, const struct option *option);

/* ---- commands ------------------------------------------------------------------------------ */

/* The value of a given option. */
struct value {
    const struct option *option;
    const char *text;               /* as it was given; a bare number with the unit that it is read in */
    const char *bare;               /* the number as it was given, if it got a unit; otherwise NULL */
    double percentile;              /* 0.95 of "2s@p95"; 0: none */
    const char *row_text;           /* what the row is set to, if that is not `text`; otherwise NULL */
    const char *was;                /* the old name under which it was given; otherwise NULL */
    struct quantity quantity;       /* COUNT, QUANTITY */
    int choice;                     /* CHOICE: its place in the list */
};

/* Lives in the arena that its values were put in. */
struct command {
    const struct verb *verb;
    const char **words;             /* words that are neither options nor their values */
    size_t word_count, word_room;
    struct value *values;
    size_t value_count, value_room;
    const struct verb *const *verbs;        /* all verbs, for messages */
    void (*progress)(double share); /* shows how far a long answer is; or NULL */
    const struct ranks *ranks;      /* the processes that answer together; NULL: this one */
    bool reported;                  /* as with --report, but the document is the caller's */
    bool one_of_several;            /* the machine is one of those that --on lists */
    size_t columns;                 /* width of the terminal that the text is for; 0: lines have any width */
};

/* Does the answer need what its report says? */
bool command_reports(const struct command *command);
/* Does it need its picture: for --plot, or for a report? */
bool command_draws(const struct command *command);

/* The words of a command line, words[0] being the program. Without a verb it is the first of the
 * list. Options go anywhere, --name VALUE or --name=VALUE; -- ends them. command->verbs says which
 * verbs there are; ranks and progress stay as they are. */
bool command_read(struct arena *arena, int count, char **words, struct command *command,
                  struct error *error);
/* Adds an option of the verb, as text. Counts and quantities outside
 * their bounds are refused here; the range of a row is checked by scenario_read. */
bool command_put(struct arena *arena, struct command *command, const struct option *option,
                 const char *text, struct error *error);
void command_put_word(struct arena *arena, struct command *command, const char *word);
/* The same, from code: names are the verb's, numbers within bounds and in base units. */
void command_set(struct arena *arena, struct command *command, const char *name, const char *text);
void command_set_number(struct arena *arena, struct command *command, const char *name,
                        double number);
/* The command with only those of its options that `kept` takes. */
struct command *command_only(struct arena *arena, const struct command *command,
                             bool (*kept)(const struct option *option));
/* Checks what options ask of each other; after the last was put. */
bool command_complete(const struct command *command, struct error *error);
const struct value *command_value(const struct command *command, const char *name);    /* the last; NULL: not given */
bool command_given(const struct command *command, const char *name);
/* Does a text of --on, "this" or "rtx-5090,this", name the machine that it runs on? *at is where. */
bool names_this(const char *on, size_t *at);
/* Is it about the machine that it runs on? */
bool command_asks_here(const struct command *command);
const char *command_text(const struct command *command, const char *name);  /* as given, or NULL */
/* COUNT, QUANTITY: as given, or the default, or NAN. */
double command_number(const struct command *command, const char *name);
size_t command_count(const struct command *command, const char *name);      /* or 0 */
int command_choice(const struct command *command, const char *name);        /* or the default's, or -1 */
/* All values of an option that may be given more than once; their number. */
size_t command_texts(struct arena *arena, const struct command *command, const char *name,
                     const char *const **texts);
/* Overwrites *value if the option is given. */
void command_take(const struct command *command, const char *name, double *value);
void command_take_count(const struct command *command, const char *name, size_t *value);

#endif
