/* chalkline -- bounds and predictions for language models on real machines, for programs.
 *
 *     struct chalkline_library *library = chalkline_open(&error);
 *     struct chalkline_answer *answer;
 *     int status = chalkline_ask(library, "step", "{\"model\": \"llama-3.3-70b\", \"on\": \"h100-sxm\", \"gpus\": 4}", &answer);
 *     puts(chalkline_text(answer));
 *     chalkline_free(answer);
 *
 * An answer has the bytes that the command line prints. The library reads and writes no file, prints nothing, never ends
 * the process, and starts threads only for long searches.
 *
 * Functions may be called from several threads at once, without a lock, on the same library, compiled rows or server.
 * What one call opened, one call closes, when no other call uses it. Numbers are in base units: s, B, FLOP, token, USD,
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

/* NULL: no memory, and `error`, which may be NULL, says so. */
struct chalkline_library *chalkline_open(struct chalkline_error *error);
void chalkline_close(struct chalkline_library *library);

/* ---- questions ----------------------------------------------------------------------------- */

/* An answer with its texts, which live until it is freed. */
struct chalkline_answer;

/* Ask a verb of `chalkline help`. `json` is the body that `chalkline serve` takes: options by name, "words" for words
 * beside them, "files" for files, of which no others are read; NULL: "{}". Returns a status. *answer is NULL where
 * memory ran out; every function takes it. */
int chalkline_ask(struct chalkline_library *library, const char *verb, const char *json, struct chalkline_answer **answer);
/* The same answer as --json prints it, or {"error": {"what", "hint", "similar"}}; as text for people; as CSV. "": the
 * answer is not a table, or there is none. */
const char *chalkline_json(const struct chalkline_answer *answer);
const char *chalkline_text(const struct chalkline_answer *answer);
const char *chalkline_csv(const struct chalkline_answer *answer);
void chalkline_free(struct chalkline_answer *answer);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
