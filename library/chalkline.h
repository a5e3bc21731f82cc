/* chalkline -- bounds and predictions for language models on real machines, for programs.
 *
 *     struct chalkline_library *library = chalkline_open(&error);
 *     struct chalkline_answer *answer;
 *     chalkline_ask(library, "step", "{\"model\": \"llama-3.3-70b\", \"on\": \"h100-sxm\"}", &answer);
 *     fputs(chalkline_text(answer), stdout);
 *     chalkline_free(answer);
 *
 * An answer has the bytes that the command line prints. The library reads and writes no file, prints nothing, never ends
 * the process, and starts threads only for long searches and repeated simulations.
 *
 * Functions may be called from several threads at once, without a lock, on the same library, compiled rows or server.
 * Numbers are in base units: s, B, FLOP, token, USD,
 * J; shares are 0 to 1. Texts are UTF-8 and end with a 0. */
#ifndef CHALKLINE_H
#define CHALKLINE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* What was wrong with a call: with which word, what would have been accepted, and names that may have been meant, each
 * with a newline behind it. Texts may be empty. */
struct chalkline_error {
    char what[768], hint[512], similar[256];
};

/* How a call ended. The first three are the exit statuses of the command line. */
enum chalkline_status {
    CHALKLINE_ANSWERED,
    CHALKLINE_INFEASIBLE,           /* an answer: no configuration does what was asked */
    CHALKLINE_REFUSED,              /* the question is wrong */
    CHALKLINE_NO_MEMORY,
    CHALKLINE_CANCELLED             /* by the function of chalkline_progress */
};

/* The version as it is printed by `chalkline --version`: "0.1.0". */
const char *chalkline_version(void);

/* ---- a library ----------------------------------------------------------------------------- */

/* Formulas and sheets, ready for questions. */
struct chalkline_library;

/* Open a library. NULL: memory ran out, and `error` says so, which may be NULL in every function. */
struct chalkline_library *chalkline_open(struct chalkline_error *error);

/* Close it, when no call uses it. Answers, compiled rows and servers live on. NULL is accepted. */
void chalkline_close(struct chalkline_library *library);

/* Watch and cancel calls. From now on calls of this library call `function` again and again, on the thread that made
 * them, with the share of the simulation or search in progress that is done. A call may run several searches or
 * simulations, each from 0 to 1. If it runs none, the share is 0. `function` returns 0 to go on, and may make calls of its
 * own, for which it is not called; any other number cancels. NULL: nothing is called. Set it before other threads begin. */
void chalkline_progress(struct chalkline_library *library, int (*function)(void *context, double share), void *context);

/* ---- questions ----------------------------------------------------------------------------- */

/* An answer with its texts, which live until it is freed. */
struct chalkline_answer;

/* Ask a verb of `chalkline help`. `json` is the body that `chalkline serve` takes: options by name; "words": positional
 * words; "files": contents by name (no other file is read); NULL means "{}". Returns a status. *answer is NULL if memory
 * ran out; the functions below accept NULL. */
int chalkline_ask(struct chalkline_library *library, const char *verb, const char *json, struct chalkline_answer **answer);

/* The same question, answered as a document: chalkline_text is one HTML file with the answer's pictures, as --report writes
 * it. Refused where the verb has no report. */
int chalkline_report(struct chalkline_library *library, const char *verb, const char *json, struct chalkline_answer **answer);

/* The answer as --json prints it; of a call that was refused, cancelled or without memory {"error": {"what", "hint",
 * "similar"}}. */
const char *chalkline_json(const struct chalkline_answer *answer);

/* The same answer as text for people, and as --csv prints it. "": there is none, or it is not a table. */
const char *chalkline_text(const struct chalkline_answer *answer);
const char *chalkline_csv(const struct chalkline_answer *answer);

/* Free an answer and its texts. */
void chalkline_free(struct chalkline_answer *answer);

/* ---- rows over arrays ------------------------------------------------------------------------
 *
 * Rows, or expressions over rows, as functions of some inputs, all else fixed: by the body, whose members are options of
 * `eval`, and by defaults and choices as `curve` makes them. Units are those of the rows (`chalkline why ROW`). */
struct chalkline_compiled;

/* `rows` and `inputs` are names that NULL ends; an input is any row that the body does not set, named once. Returns a status:
 * CHALKLINE_ANSWERED, or *compiled is NULL and `error` says why. */
int chalkline_compile(struct chalkline_library *library, const char *json, const char *const *rows,
                      const char *const *inputs, struct chalkline_compiled **compiled, struct chalkline_error *error);

/* The rows at `count` points: columns[i][k] is input i at point k, and values[j][k] becomes row j there, NAN where it has
 * no finite value. Arrays are read and written in place. `gradients` may be NULL, or gradients[j * inputs + i][k] becomes
 * the derivative of row j by input i there. CHALKLINE_REFUSED: a value is outside the range of its row; nothing was written. */
int chalkline_run(const struct chalkline_compiled *compiled, const double *const *columns, size_t count,
                  double *const *values, double *const *gradients, struct chalkline_error *error);

/* Bounds of the rows where input i lies anywhere in low[i][k] to high[i][k], and each input that the body sets to a range
 * lies anywhere in that range. CHALKLINE_REFUSED: an end is outside the range of its row, or a low end is above its high
 * end; nothing was written. */
int chalkline_intervals(const struct chalkline_compiled *compiled, const double *const *low, const double *const *high,
                        size_t count, double *const *values_low, double *const *values_high, struct chalkline_error *error);

/* Free compiled rows, when no call uses them. NULL is accepted. */
void chalkline_compiled_free(struct chalkline_compiled *compiled);

/* ---- the time of a step ---------------------------------------------------------------------- */

/* A replica, whose steps `simulate` would time. */
struct chalkline_server;

/* One step of a replica, or of the attention rank of it that has the most tokens: sums over its sequences. */
struct chalkline_batch {
    double sequences;               /* that decode, or have prompt tokens here */
    double decoding;                /* sequences that decode */
    double decode_cached;           /* tokens in their caches, all together */
    double drafts;                  /* draft tokens that they verify; read with "step-time" alone: with a model, "draft" sets them */
    double prompt;                  /* prompt tokens that are processed */
    double prompt_cached;           /* tokens of the same sequences processed before */
    double prompt_pairs;            /* pairs of a prompt token with a token before it */
    double begun;                   /* sequences of which these are the first prompt tokens */
    double imbalance;               /* of attention ranks: tokens of this one over their mean; 0: they have the same */
};

/* `json` has options of `simulate`, without a trace: "model", "on" and "gpus", or "step-time" and "blocks". Returns a
 * status as chalkline_compile does. */
int chalkline_step_open(struct chalkline_library *library, const char *json, struct chalkline_server **server,
                        struct chalkline_error *error);

/* Add a sequence to a batch, which begins as zeros: `tokens` that the step processes after `cached` ones. If it decodes,
 * the tokens are its last one and drafts; otherwise they are a part of its prompt, which may be one token too. */
void chalkline_batch_add(struct chalkline_batch *batch, double tokens, double cached, int decodes);

/* Seconds of the step; NAN: memory ran out, or a sum of the batch is negative, NAN or infinite. `interval` may be NULL, or becomes
 * the low and high end of the 80 % interval; with "step-time" both are the value. */
double chalkline_step(const struct chalkline_server *server, const struct chalkline_batch *batch, double interval[2]);

/* A part of the time of a step: what the row `name` adds to it. The name lives as long as the server. */
struct chalkline_part {
    const char *name;
    double seconds;
};

/* Write the parts of a step, the largest first, up to `most` of them. Returns how many there are, whose seconds add up to
 * the step; 0 with "step-time", or if memory ran out or a sum of the batch is negative or NAN. */
size_t chalkline_step_parts(const struct chalkline_server *server, const struct chalkline_batch *batch,
                            struct chalkline_part *parts, size_t most);

/* Close a server, when no call uses it. NULL is accepted. */
void chalkline_step_close(struct chalkline_server *server);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
