/* cli -- the terminal, and help written from the tables of ask/. */
#ifndef CLI_H
#define CLI_H

#include "ask/ask.h"

/* help, --version, completion bash, man, reference: true when it answered,
 * with `error` filled when what it was asked for is unknown. */
bool help_answers(struct arena *arena, int count, char **words, struct buffer *out,
                  struct error *error);
/* The help of one verb, or of all with NULL. */
void help_print(struct buffer *out, const char *verb);

/* `chalkline report QUESTION...`, whose words are the question's: true when it answered, with
 * `error` filled when it could not. */
bool report_answers(struct arena *arena, int count, char **words, struct buffer *out,
                    struct error *error);
/* A verb that is no question: serve. */
bool tool_run(const struct question *question, struct error *error);

/* Every row with its algebra, unit and source, as Markdown. */
void reference_print(struct buffer *out);

#endif
