/* scenario -- what a command means.
 *
 *   words -> command -> scenario (rows + facts) -> answer (document + text)
 *
 * A command (command.h) holds words and typed options. A scenario is what they mean: the formulas
 * of rows, and the facts of the model, the machine and the options. A verb that compares
 * several machines, formats or values reads a scenario for each, with another subject or with
 * facts of its own; the command stays as it is. */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "catalog/catalog.h"
#include "import/import.h"
#include "report/figures.h"
#include "report/template.h"
#include "rows/rows.h"
#include "scenario/command.h"
#include "scenario/options.h"

/* ---- scenario ------------------------------------------------------------------------- */

/* The model, machine and formats of a scenario: names, or paths of files; NULL where not given. */
struct subject {
    const char *model, *machine;
    const char *precision, *experts_precision, *kv_precision;   /* formats */
    const char *engine;
};

/* The server that was chosen where the command leaves it open. */
struct server_choice {
    bool made;
    bool fits;                      /* something does; else the other two say nothing */
    bool met;                       /* it is within the limits; else over them by this factor: */
    double miss_by;
    double ttft_missed;             /* a usual limit that no server keeps and that was given up; or 0 */
    const char *rule;
};

struct scenario {
    struct arena *arena;
    const struct command *command;
    struct subject subject;
    struct formulas formulas;
    struct facts facts;
    struct catalog catalog;
    struct formats formats;
    const char *model, *machine;    /* titles; NULL: none given */
    const char *axis;               /* row that a curve or an equation moves, or NULL: of it
                                       nothing is chosen */
    struct server_choice choice;
    bool lecture;
};

/* The subject that the options --model, --on, --precision ... name. */
struct subject command_subject(const struct command *command);
/* The same for a verb whose word may name the model; how many models are named. */
size_t command_models(const struct command *command, struct subject *subject);
/* The same; an error unless one model and a machine are named. */
bool command_pair(const struct command *command, struct subject *subject, struct error *error);
/* A subject without model and machine, for questions about rows only. */
struct subject command_no_subject(const struct command *command);

/* _read takes the subject as it is; _assume adds defaults that a real model needs, with a
 * note for each; _open does both. */
bool scenario_read(struct scenario *scenario, struct arena *arena, const struct command *command,
                   struct subject subject, struct error *error);
bool scenario_assume(struct scenario *scenario, struct error *error);
bool scenario_open(struct scenario *scenario, struct arena *arena, const struct command *command,
                   struct subject subject, struct error *error);
/* "NAME=VALUE": a number with a unit, a range, a distribution, or an expression. */
bool scenario_set(struct scenario *scenario, const char *text, struct error *error);
bool scenario_set_row(struct scenario *scenario, const char *name, const char *value,
                      enum origin origin, const char *source, struct error *error);
/* Sets a row to a number. Fails if it is outside the row's range, or the user gave one already. */
bool scenario_set_number(struct scenario *scenario, const char *name, double value,
                         enum origin origin, const char *source, struct error *error);
/* Chooses, once, what the rows that are asked depend on and nobody gave of a server and its load:
 * the cheapest server that can be started and meets the limits. Facts of origin CHOSEN, in
 * scenario->choice how. Without a model and a machine nothing is chosen. */
bool scenario_choose(struct scenario *scenario, const char *const *texts, size_t count,
                     struct error *error);
/* An error where the machine has no price that is known, for who needs one. */
bool scenario_priced(const struct scenario *scenario, const char *verb, struct error *error);
/* The same scenario as the lecture looks at it: a whole scale-up domain as one machine at the
 * bound's cheapest batch, where the command gives neither. */
bool scenario_lecture(const struct scenario *of, struct scenario *lecture, struct error *error);
/* Sets the smallest batch within 25 % of the bound's lowest cost, of those that fit. */
bool scenario_batch(struct scenario *scenario, struct error *error);
/* The words after a verb that ask the same again: those that were given, and an option for each
 * fact that was chosen, or that a verb moves. */
const char *const *scenario_words(const struct scenario *scenario, size_t *count);
void scenario_words_document(const struct scenario *scenario, struct doc *doc);
/* The model and machine of `step MODEL --on MACHINE`: both are needed, the model once. */
bool scenario_open_pair(struct scenario *scenario, struct arena *arena,
                        const struct command *command, struct error *error);
/* A name that is no row; an option's name leads to the row that it sets. */
bool scenario_unknown(const struct scenario *scenario, const char *name, struct error *error);
/* "does not fit: needs 1.2 TB of 640 GB" of a model on a machine here; NULL: it does. */
const char *scenario_misfit(struct scenario *scenario);
void scenario_note_misfit(struct scenario *scenario);
/* A note where prompt and answer are longer than the model's configuration allows. */
void scenario_note_length(struct scenario *scenario);
/* "3.3 USD per GPU-hour (rental)"; of `machine` where that is not "". */
const char *rental_text(struct arena *arena, double price, const char *machine);
/* Do GPUs and layout of a replica agree, where all of them are given, and is there one load? */
bool scenario_layout_agrees(const struct scenario *scenario, struct error *error);
/* A note for each name in the command that a row had until the last version: its new one. */
void scenario_note_old_names(struct scenario *scenario);
/* The answer of the command's verb; its document has rows under their old names too. */
bool command_answer(struct arena *arena, const struct command *command, struct answer *answer,
                    struct error *error);
/* The tiers of a user's file, --tiers FILE, in the place of those built in. */
bool scenario_read_tiers(struct scenario *scenario, const char *path, struct error *error);
/* What was assumed: lines of the text, and a list "assumed" in the document. */
void scenario_notes(const struct scenario *scenario, struct answer *answer);

/* ---- values ------------------------------------------------------------------------------ */

/* Expressions as a list, with values at the facts. A value that is not finite is an
 * error which names the row that has none; NAN is what depends on a price that nobody knows. */
struct values {
    struct graph graph;
    double *at, *inputs, *nodes;    /* of outputs, of inputs, of all nodes */
    const char **names;             /* of outputs: what was asked; NULL: not kept */
};

/* Without a price that is known what reads it has no value, whatever a min or a comparison makes
 * of that: such outputs become NAN. */
void values_unpriced(const struct graph *graph, const double *inputs, double *at);
bool values_of(struct scenario *scenario, const char *const *texts, size_t count,
               struct values *values, struct error *error);
/* The same bits, of a list whose outputs have breakdowns (graph_build_parts). */
bool values_of_parts(struct scenario *scenario, const char *const *texts, size_t count,
                     struct values *values, struct error *error);
/* The same where not all are known: what has no finite value is NAN. */
bool values_known(struct scenario *scenario, const char *const *texts, size_t count,
                  struct values *values, struct error *error);
bool value_of(struct scenario *scenario, const char *text, double *value, struct error *error);
bool values_finite(const struct scenario *scenario, const struct graph *graph,
                   const double *inputs, struct error *error);
/* Does an input carry a range or a distribution? */
bool values_uncertain(struct scenario *scenario, struct values *values);
struct range values_range(struct scenario *scenario, const struct values *values, size_t output);
/* Rows or expressions as figures, with unit, origin and source, from values that are known: those
 * of `names` in their order. A prediction gets its 80 % interval, for which the ends of its band must
 * be among the names. Ranges are looked for where the template prints them, or of all if it is NULL. */
void figures_of(struct scenario *scenario, struct values *values, const char *const *names,
                size_t count, const struct template *template, struct section *section);
/* The same from one new graph, in which the bands are too; `values` has the names first. */
bool figures_read(struct scenario *scenario, const char *const *names, size_t count,
                  struct values *values, struct section *section, struct error *error);
/* The notes, and the words that ask the same again: lists "assumed" and "words". */
void figures_notes(const struct scenario *scenario, struct section *section);
void figures_words(const struct scenario *scenario, struct section *section);
/* A number under the name of its row and under its aliases, by which it may be known. */
void figures_row(struct section *section, const char *name, double value);
struct unit scenario_unit(const struct scenario *scenario, const char *text);
/* Into a document, under the name of the row and under its aliases, by which it may be known. */
void doc_add_row(struct arena *arena, struct doc *doc, const char *name, double value);
bool unit_counts(struct unit unit);         /* 1 or token: counts, and shares too */
/* `share` of the way from low to high, even in the logarithm. */
double log_between(double low, double high, double share);

/* ---- parts: what an output is made of ---------------------------------------------------- */

struct breakdown {
    struct contribution *at;        /* largest first */
    size_t count;
    double whole;                   /* the output */
};

/* Of an output of values_of_parts; what each saves too if that is asked. */
struct breakdown breakdown_of(struct scenario *scenario, const struct values *values, size_t output,
                      bool saved);
/* What the parts leave of the whole: 0 but for the last digits. */
double breakdown_other(const struct breakdown *parts);
/* "GEMMs 63 %, attention 28 %": the largest, those of one label together. */
const char *breakdown_largest(struct arena *arena, const struct breakdown *parts, int most);
/* A section "parts": {"ROW": {"label", "time", "saved_if_free"}}; of what is no time "contribution".
 * For the text each has its "row" and its "share" of the whole too. */
void breakdown_section(const struct scenario *scenario, const struct breakdown *parts, struct unit unit,
                       struct section *section);
void breakdown_document(const struct scenario *scenario, const struct breakdown *parts, struct unit unit,
                    struct doc *doc);
/* The keys of parts of a time; and of whatever quantity. */
extern const struct record parts_record, any_parts_record;

/* ---- what was given, what binds ---------------------------------------------------------- */

/* Does an output move with an input while all others stay? */
bool graph_depends(struct arena *arena, const struct graph *graph, const char *input);
/* The options ("--set pp", "--batch") whose rows no expression reads; their number. */
size_t given_idle(struct scenario *scenario, const char *const *texts, size_t count,
                  const char ***labels);
/* A note for each: "--set pp has no effect on WHAT". */
void given_note(struct scenario *scenario, const char *const *texts, size_t count,
                const char *what);
/* Notes on the defaults that outputs of `values` depend on, the strongest first, and a count of the fitted
 * constants. `outputs` NULL: the first `output_count`. */
void assumed_notes(struct scenario *scenario, const struct values *values,
                   const size_t *outputs, size_t output_count);
/* given_note for texts whose values are known already, so that no graph is built again. */
void given_note_of(struct scenario *scenario, const char *const *texts, size_t count,
                   const struct values *values, const char *what);
/* assumed_notes for several points or scenarios: gather elasticities of numbers by the inputs of a graph
 * (basis_add), or of the outputs of values (basis_values), then write the notes. Lives in the scenario's
 * arena. */
struct rested;
struct basis {
    struct rested *at;
    size_t count, room;
    const char **fitted;            /* names of rows that were fitted to measurements */
    size_t fitted_count, fitted_room;
    const char *output;             /* the row that the next basis_add is about; NULL: the answer itself */
};
void basis_add(struct scenario *scenario, const struct graph *graph, const double *pulls,
               struct basis *basis);
void basis_values(struct scenario *scenario, const struct values *values, const size_t *outputs,
                  size_t count, struct basis *basis);
/* Of the texts that have a value. */
void basis_texts(struct scenario *scenario, const char *const *texts, size_t count, struct basis *basis);
void basis_notes(struct scenario *scenario, struct basis *basis);
/* assumed_notes and given_note_of for an answer that shows these texts; texts without a value are left out.
 * `what` NULL: assumed_notes only. */
void shown_notes(struct scenario *scenario, const char *const *texts, size_t count,
                 const char *what);

#endif
