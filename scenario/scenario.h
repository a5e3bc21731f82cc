/* scenario -- what a command means.
 *
 *   words -> command -> scenario (rows + facts) -> answer (document + text)
 *
 * A command (command.h) holds words and typed options. A scenario is what they mean: the formulas, and
 * the facts of the model, the machine and the options. A verb that compares several machines, formats
 * or values reads a scenario for each, with another subject or other facts; the command never changes. */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "catalog/catalog.h"
#include "import/import.h"
#include "report/figures.h"
#include "report/template.h"
#include "rows/rows.h"
#include "command/command.h"
#include "command/options.h"

/* ---- scenario ------------------------------------------------------------------------- */

/* The model, machine and formats of a scenario: names, or paths of files; NULL where not given. */
struct subject {
    const char *model, *machine;
    const char *precision, *experts_precision, *kv_precision;   /* formats */
    const char *engine;
    const char *version;            /* of the engine, where measurements state it */
    bool any_type;                  /* all file types are asked for: a GGUF repository need not name one */
    struct catalog_met *met;        /* shared by scenarios of this machine; NULL: each looks its name up */
};

/* How the replica was chosen, if the command leaves it open (scenario_choose). */
struct server_choice {
    bool made;                      /* a choice was necessary */
    bool fits;                      /* some layout fits in memory; else the members below say nothing */
    bool met;                       /* the chosen layout is within the limits */
    bool divides;                   /* ranks, heads and experts divide evenly in it */
    double miss_by;                 /* if not, the factor by which it exceeds its worst limit */
    double ttft_missed;             /* default TTFT limit, s, dropped since no layout met it; or 0 */
    const char *rule;               /* in words: "the best startable layout per GPU with ..." */
};

/* An input with what one per cent more of it does to an answer, as a report lists it. */
struct weighed {
    const struct row *row;
    int index;                      /* of the row, in its formulas */
    bool entry;                     /* of a table: `value` is that of its first entry */
    double value;                   /* in base units */
    enum origin origin;
    const char *source;             /* NULL: the row's own */
    double elasticity;              /* per cent for one per cent more, of this output */
    const char *output;             /* a row; NULL: what the answer is about */
};

/* The formulas and facts of one command. Lives in its arena. */
struct scenario {
    struct arena *arena;
    const struct command *command;
    struct subject subject;
    struct formulas formulas;
    struct facts facts;
    struct asked_graphs *graphs;    /* of values.c; shared with copies of this scenario */
    struct catalog catalog;
    struct formats formats;
    const char *model, *machine;    /* titles; NULL: none given */
    const char *network;            /* the catalog's name of the model whose config.json it has; NULL: of no catalog */
    const char *released, *trained_note;        /* of the model: its date, what its training tokens count; or NULL */
    const char *price_kind;         /* of chip_price: one of price_kinds; NULL: nobody says */
    const char *axis;               /* the rows that a curve, an equation or a program varies, with spaces
                                       between them, which are never chosen; or NULL */
    struct server_choice choice;
    const struct calibrated *calibrated;        /* --calibration FILE (calibrated.h), or NULL */
    bool named_precision;           /* the name of the model says the format of its weights */
    bool layouts;                   /* the answer is of many layouts, as that of a search */
    bool lecture;                   /* --lecture: the lecture's simplified formulas */
    const struct weighed *weighed;  /* by basis_notes: the inputs of the answer, the strongest first */
    size_t weighed_count;
    const char *const *weighed_notes;       /* the notes that say the same */
    size_t weighed_note_count, fitted_count;        /* constants that were fitted to measurements */
};

/* The subject that the options --model, --on, --precision ... name. */
struct subject command_subject(const struct command *command);
/* The same for a verb whose word may name the model. Returns how many models are named. */
size_t command_models(const struct command *command, struct subject *subject);
/* The same, with an error unless exactly one model and a machine are named. */
bool command_pair(const struct command *command, struct subject *subject, struct error *error);
/* A subject without model and machine, for questions about rows only. */
struct subject command_no_subject(const struct command *command);

/* Set what the engine reaches, before machine and model are read; where none is named, all engines' mean, or
 * llama.cpp. */
bool scenario_engine(struct scenario *scenario, struct error *error);
/* scenario_read reads the subject and the options; scenario_assume adds the defaults that a real model
 * needs, with a note for each; scenario_open does both. */
bool scenario_read(struct scenario *scenario, struct arena *arena, const struct command *command,
                   struct subject subject, struct error *error);
/* A hash of the options and facts, which all ranks of mpirun must have alike. */
uint64_t scenario_hash(const struct scenario *scenario);
/* A step has no more tokens of prompts than tokens: a given `step_tokens` limits prompts too, so that no limit of theirs
 * is chosen. */
void scenario_one_budget(struct scenario *scenario);
bool scenario_assume(struct scenario *scenario, struct error *error);
bool scenario_open(struct scenario *scenario, struct arena *arena, const struct command *command,
                   struct subject subject, struct error *error);
/* The row that "cache_elements[moe]" or a plain name speaks of; fails where there is no such row or entry. */
bool scenario_find_row(struct scenario *scenario, const char *name, const char *source, int *row, struct error *error);
/* Set a row as --set does, from "NAME=VALUE": a number with a unit, a range, a distribution, or an
 * expression. */
bool scenario_set(struct scenario *scenario, const char *text, struct error *error);
bool scenario_set_row(struct scenario *scenario, const char *name, const char *value,
                      enum origin origin, const char *source, struct error *error);
/* Set a row to a number. Fails if it is outside the row's range, or if the user gave a value already. */
bool scenario_set_number(struct scenario *scenario, const char *name, double value,
                         enum origin origin, const char *source, struct error *error);
/* If the expressions depend on a layout or a load that nobody gave, choose the best startable layout
 * within the limits (choice.c). What was chosen becomes facts of origin CHOSEN; scenario->choice says
 * how. Nothing is chosen without a model and a machine, or a second time. */
bool scenario_choose(struct scenario *scenario, const char *const *texts, size_t count,
                     struct error *error);
bool scenario_varies(const struct scenario *scenario, const char *row);    /* is it one of the axis? */
/* Along a row of the layout or the load, and where nothing fits, other rows of these stay open, and have the values of
 * their formulas. They become facts of origin CHOSEN at this value of the axis, so that the words of the scenario say
 * them. */
void scenario_hold(struct scenario *scenario);
/* Do the expressions read the batch, and does it follow from a rate that varies? Then each rate has a batch of its own:
 * the second gives an expression at that batch. */
bool scenario_batch_follows(const struct scenario *scenario, const char *const *texts, size_t count);
const char *scenario_at_batch(const struct scenario *scenario, const char *text);
/* Ways to pay for a chip, ended by NULL: --price-kind (paid.c); the one of this name, or NULL. */
extern const char *const price_kinds[];
const char *price_kind_named(const char *name);
/* Set what --price-kind and --region say (place.c), after the machine was read and before the user's rows are. */
bool scenario_pay(struct scenario *scenario, struct error *error);
/* An error where both --price-kind and a price are given. */
bool scenario_paid_once(const struct scenario *scenario, struct error *error);
/* Where --region is given, figures of the energy at the meter, the carbon and the water of an output token, of
 * an aggregated server or of pools. */
void scenario_footprint(const struct scenario *scenario, bool pools, struct section *section);
/* Words of the hosts of a deployment of `chips` chips: "hosts_paid" ("2 hosts of 8", "5 single GPUs"), "hosts_why" ("; 4
 * GPUs are idle: no cloud is known to rent fewer than 8", the source of parts of hosts, or "") and their number of idle
 * chips, "hosts_idle". */
void scenario_hosts(struct scenario *scenario, double chips, double hosts, double host_chips, struct section *section);
enum { FOOTPRINT_ROWS = 3 };
extern const char *const footprint_rows[2][FOOTPRINT_ROWS];
/* An error unless the price of the machine is known, for verbs that need one. */
bool scenario_priced(const struct scenario *scenario, const char *verb, struct error *error);
/* The same scenario in the lecture's view: the replica is a whole scale-up domain, at the cheapest batch
 * of the bound, unless the command gives these. */
bool scenario_lecture(const struct scenario *of, struct scenario *lecture, struct error *error);
/* Set the smallest batch that fits and whose bound costs at most 25 % more than the lowest cost. */
bool scenario_batch(struct scenario *scenario, struct error *error);
/* The words after a verb that repeat this scenario: those of the command, and an option for each fact
 * that was chosen or that a verb varies. */
const char *const *scenario_words(const struct scenario *scenario, size_t *count);
bool words_have_option(const char *row);    /* or is it --set that they set the row with? */
void scenario_words_document(const struct scenario *scenario, struct doc *doc);
/* The same under the key `name`. */
void scenario_words_named(const struct scenario *scenario, const char *name, struct doc *doc);
/* "held": the rows of layout and load that were chosen once and hold for all values of an axis; and as a line of text, ""
 * if there are none. */
void scenario_held_document(const struct scenario *scenario, struct doc *doc);
const char *scenario_held_text(const struct scenario *scenario);
/* Add the tokens of images to a prompt that was given; an error where they are not known. */
bool scenario_images(struct scenario *scenario, struct error *error);
/* The model and machine of `step MODEL --on MACHINE`: both are needed, the model once. */
bool scenario_open_pair(struct scenario *scenario, struct arena *arena,
                        const struct command *command, struct error *error);
/* Is it a number of chips of a layout? Its option takes whole numbers; --set takes what an equation has as its solution. */
bool scenario_counts_chips(const char *row);
/* Fill `error` with "unknown row"; if `name` is an option, suggest the row that it sets. */
bool scenario_unknown(const struct scenario *scenario, const char *name, struct error *error);
/* "needs 1.2 TB, has 640 GB" for the model on this machine; NULL: it fits. */
const char *scenario_misfit(struct scenario *scenario);
/* Why there is no server: `row` is above 1 or, where it `holds` of a server, below. It matters to figures that depend on
 * `input`, a setting that only a server has. `is` says so of the server, `fits` in a table, and `why` of the figures. */
enum { SCENARIO_ABSENCES = 4 };
struct scenario_absence {
    const char *row;
    bool holds;
    const char *input, *is, *fits, *why;
};
bool absence_at(const struct scenario_absence *absence, double value);      /* where the row has this value */
extern const struct scenario_absence scenario_absences[SCENARIO_ABSENCES];
/* The absence, if an expression of `asked` depends on a server that is not there: the exit status is 1 then. NULL: there is a
 * server, or all of `asked` holds without; a note is added that says so, or that it is absent in a part of a range. */
const struct scenario_absence *scenario_absent(struct scenario *scenario, const char *const *asked, size_t count);
/* The same in words: "out of memory: needs 1.2 TB, has 640 GB"; NULL. */
const char *scenario_no_server(struct scenario *scenario, const char *const *asked, size_t count);
/* Add a note if prompt and output are longer than the model's configuration allows. */
void scenario_note_length(struct scenario *scenario);
/* "3.3 USD per GPU-hour (3-year contract)": how the price of the scenario's machine is paid; with " of
 * MACHINE" unless `machine` is "". */
const char *rental_text(const struct scenario *scenario, double price, const char *machine);
/* Add that price as a note, where it is that of the machine's sheet. */
void scenario_note_price(struct scenario *scenario);
/* "3-year contract", "bought"; "rental" where the sheet does not say. */
const char *price_kind_text(const struct scenario *scenario);
/* Can several of the machine work together: is it a card, or a machine whose link is known? */
bool scenario_links(const struct scenario *scenario);
/* An error if several machines work together over a link that is not known. */
bool scenario_linked(const struct scenario *scenario, struct error *error);
/* An error if two options state one thing: a batch and requests in flight, these and a rate, a speed and a TPOT. */
bool scenario_said_once(const struct scenario *scenario, struct error *error);
/* The same where the command gave this row too, by the name. */
bool scenario_said_with(const struct scenario *scenario, const char *row, const char *name, struct error *error);
/* An error then, or if chips, TP, attention DP and PP are all given and contradict each other. */
bool scenario_layout_agrees(const struct scenario *scenario, struct error *error);
/* GGUF files, Apple's chips and processors: what people run there is llama.cpp, whose times follow a law of their
 * own. Its name, with a note in *why; NULL: another engine serves such a model there. */
const char *engine_usual(struct arena *arena, const struct catalog *catalog, const struct subject *subject,
                         const char **why);
/* A draft model of llama.cpp must be given whole; add a note on how often its tokens are taken as accepted. */
bool scenario_drafts(struct scenario *scenario, struct error *error);
/* Without a model: of which server the predictions in these texts are, for the first line of an answer; NULL: a model is
 * named, or they predict no server. */
const char *scenario_default_server(const struct scenario *scenario, const char *const *texts, size_t count);
/* Add the note "--set chip_price=1 is read as 1 USD/s: 3,600 USD/h", if the value has no unit. */
void scenario_note_bare(struct scenario *scenario, const char *option, const char *value, const char *unit_text);
/* Answer the command with its verb, and write the picture that --plot asks for. */
bool command_answer(struct arena *arena, const struct command *command, struct answer *answer,
                    struct error *error);
/* The machine of this name; NULL, with the error that a question about it has. */
const struct catalog_entry *scenario_machine(const struct catalog *catalog, const char *name, struct error *error);
/* Does --on name several machines, of which the verb answers for one? Then each is asked (machines.c): the document has
 * the answers "by_machine", the text is a table. */
bool machines_several(struct arena *arena, const struct command *command);
bool machines_answer(struct arena *arena, const struct command *command, struct answer *answer, struct error *error);
/* Read a user's tiers, --tiers FILE, in place of the built-in ones. */
bool scenario_read_tiers(struct scenario *scenario, const char *path, struct error *error);
/* Add what was assumed to the answer: lines of the text, and a list "assumed" in the document. */
void scenario_notes(const struct scenario *scenario, struct answer *answer);

#endif
