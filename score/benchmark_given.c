/* What the options of a command give for a benchmark's file (benchmark.h). */
#include "score/benchmark.h"

#include "command/command.h"

#include <string.h>

/* The column of the schema that an option gives; NULL: the option is none of these. */
static const char *column_of(const struct option *option)
{
    static const struct { const char *option, *column; } texts[] = {
        { "model", "model" }, { "on", "machine" }, { "precision", "precision" }, { "engine", "engine" },
        { "kv-precision", "kv_precision" },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(texts[i].option, option->name))
            return texts[i].column;
    return option->kind == OPTION_ROW ? option->row : NULL;
}

void benchmark_given(const struct command *command, struct benchmark_facts *given)
{
    given->count = 0;
    for (size_t i = 0; i < command->value_count && given->count < BENCHMARK_FACTS; i++) {
        const struct value *value = &command->values[i];
        const char *column = column_of(value->option);
        if (column)
            given->facts[given->count++] =
                (struct benchmark_fact){ column, value->text, value->option->name };
    }
}

static bool is_rest(const struct option *option)
{
    return !column_of(option);
}

const struct command *benchmark_rest(struct arena *arena, const struct command *command)
{
    return command_only(arena, command, is_rest);
}
