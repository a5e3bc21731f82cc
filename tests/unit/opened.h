/* opened -- a scenario of a line of words, as `eval` would read it, for tests. */
#ifndef TESTS_UNIT_OPENED_H
#define TESTS_UNIT_OPENED_H

#include "scenario/values.h"
#include "test.h"

#include "ask/ask.h"
#include "build/row_names.h"

#include <string.h>

static inline void open_words(struct arena *arena, const char *text, struct scenario *scenario)
{
    enum { WORDS = 80 };
    char *words[WORDS] = { "chalkline", "eval", NAME_layout_startable };
    int count = 3;
    for (const char *at = text; *at; at += strspn(at, " ")) {
        const size_t size = strcspn(at, " ");
        assert_true(count < WORDS);
        words[count++] = arena_copy(arena, at, size);
        at += size;
    }
    struct command *command = arena_alloc(arena, sizeof *command);
    *command = (struct command){ .verbs = verbs };
    struct error error = { .what = "" };
    if (!command_read(arena, count, words, command, &error) ||
        !scenario_open(scenario, arena, command, command_subject(command), &error))
        fail_msg("%s: %s (%s)", text, error.what, error.hint);
}

static inline double row_of(struct scenario *scenario, const char *row)
{
    struct error error = { .what = "" };
    double value;
    if (!value_of(scenario, row, &value, &error))
        fail_msg("%s: %s", row, error.what);
    return value;
}

#endif
