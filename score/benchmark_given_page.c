/* The page fills in nothing: the first option that would is all that it needs to know. */
#include "score/benchmark.h"

#include "scenario/command.h"

void benchmark_given(const struct command *command, struct benchmark_facts *given)
{
    given->count = 0;
    for (size_t i = 0; i < command->value_count; i++) {
        const struct option *option = command->values[i].option;
        if (option->kind == OPTION_ROW || (option->kind == OPTION_TEXT && !option->many))
            given->count = 1, given->facts[0].option = option->name;
    }
}

const struct command *benchmark_rest(struct arena *arena, const struct command *command)
{
    (void)arena;
    return command;
}
