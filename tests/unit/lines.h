/* lines -- a line of words, as typed after `chalkline`, read as a command and answered, for tests. */
#ifndef TESTS_UNIT_LINES_H
#define TESTS_UNIT_LINES_H

#include "ask/ask.h"

#include <assert.h>
#include <string.h>

enum { LINE_WORDS = 64 };

/* Read the line, whose words are separated by single spaces; NULL, with the error, where it is refused. */
static inline struct command *line_command(struct arena *arena, const char *line, struct error *error)
{
    char *words[LINE_WORDS] = { (char *)"chalkline" }, *rest = arena_copy(arena, line, strlen(line));
    struct command *command = arena_alloc(arena, sizeof *command);
    int count = 1;
    *command = (struct command){ .verbs = verbs };
    for (char *word; (word = strsep(&rest, " "));) {
        assert(count < LINE_WORDS);
        words[count++] = word;
    }
    return command_read(arena, count, words, command, error) ? command : NULL;
}

/* Answer the command; false, with the error, where it has no answer. */
static inline bool line_answered(struct arena *arena, const struct command *command, struct answer *answer,
                                 struct error *error)
{
    *answer = (struct answer){ .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    return command->verb->ask(arena, command, answer, error);
}

/* Both. */
static inline bool line_asked(struct arena *arena, const char *line, struct answer *answer, struct error *error)
{
    const struct command *command = line_command(arena, line, error);
    return command && line_answered(arena, command, answer, error);
}

#endif
