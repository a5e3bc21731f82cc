/* cli -- the terminal, and help written from the tables of ask/. */
#ifndef CLI_H
#define CLI_H

#include "ask/ask.h"

/* Questions and tools, then NULL. */
const struct verb *const *cli_verbs(void);

/* help, -h, --help, --version, completion, man: true when it answered, with `error` filled when
 * what it was asked for is unknown. */
bool help_answers(struct arena *arena, int count, char **words, struct buffer *out,
                  struct error *error);
/* A verb on one screen, or with all of its options; text fits `width` columns. */
void help_verb(struct arena *arena, struct buffer *out, const struct verb *verb, bool whole,
               size_t width);
void help_all(struct buffer *out, size_t width);
/* Text that goes on from column `at`, in lines of `width` columns, the further ones indented. */
void help_wrap(struct buffer *out, const char *text, size_t at, size_t indent, size_t width);
/* The width of the terminal at a file descriptor, or of the environment variable COLUMNS, 40 at least; 0: a file or a
 * pipe, whose lines may be of any width. */
size_t terminal_columns(int file);
size_t help_width(void);            /* of standard output, for help; 80 where it is no terminal */
/* Is the output a terminal with bold letters, whose user has not set NO_COLOR? */
bool terminal_bold(void);
/* Completion for bash, zsh or fish. */
bool completion_print(struct buffer *out, const char *shell, struct error *error);

/* What listens or calls is not in `chalkline` but in `chalkline-net`: serve, measure, watch, --listen, --on this. Either
 * program has its own file with these (companion.c, net.c) and with the functions that ask measure and watch; what
 * `chalkline` lacks it asks its companion, which takes its place and gets the same words. */
extern char **program_words;        /* those of main */
/* What comes before the answer, or in its place if it is something that goes on, such as serve or simulate --listen:
 * then it `ended`. False: it failed. */
bool net_begins(struct arena *arena, struct command *command, bool *ended, struct error *error);

/* Remember the answers of a quiz where the user's programs keep such things, unless told another place. */
void quiz_keep(struct arena *arena, struct command *command);
/* Is this a quiz on a terminal? Then ask its problems one by one, until the last or the end of the input. */
bool quiz_talks(const struct command *command);
bool quiz_talk(struct arena *arena, const struct command *command, struct error *error);

/* Do the words ask for the reference of all rows (`reference`), the OpenAPI document (`reference openapi`) or the page
 * (`page [-o FILE]`)? True with `error` filled: they do, and were refused. */
bool reference_answers(struct arena *arena, int count, char **words, struct buffer *out, struct error *error);

#endif
