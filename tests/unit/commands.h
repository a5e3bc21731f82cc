/* commands -- commands put together option by option, for tests. */
#ifndef TESTS_UNIT_COMMANDS_H
#define TESTS_UNIT_COMMANDS_H

#include "scenario/scenario.h"

#include <string.h>

static inline struct subject subject_of(const char *model, const char *machine)
{
    return (struct subject){ .model = model, .machine = machine };
}

/* The option's only value from now on; NULL: it is not given. */
static inline void command_give(struct arena *arena, struct command *command, const char *name,
                                const char *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < command->value_count; i++)
        if (strcmp(command->values[i].option->name, name))
            command->values[kept++] = command->values[i];
    command->value_count = kept;
    if (text)
        command_set(arena, command, name, text);
}

#endif
