/* The page reads no benchmark files: a sheet is in the columns of the schema. */
#include "score/benchmark.h"

#include "scenario/command.h"

struct benchmark_facts benchmark_given(const struct command *command)
{
    (void)command;
    return (struct benchmark_facts){ .count = 0 };
}

const struct command *benchmark_rest(struct arena *arena, const struct command *command)
{
    (void)arena;
    return command;
}

bool benchmark_open(struct arena *arena, const char *path, struct text text, const struct benchmark_facts *given,
                    struct csv *out, struct error *error)
{
    (void)given;
    return csv_read(arena, path, text, out, error);
}
