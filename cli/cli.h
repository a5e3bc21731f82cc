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

/* Every row with its algebra, unit and source, as Markdown. */
bool reference_print(struct arena *arena, struct buffer *out, struct error *error);

#endif
