/* The page reads no benchmark files, and fills in nothing: a sheet is in the columns of the schema. */
#include "score/benchmark.h"

bool benchmark_open(struct arena *arena, const char *path, struct text text,
                    const struct benchmark_facts *given, struct csv *out, struct error *error)
{
    if (given->count)
        return error_set(error, "%s: no --%s in the page", path, given->facts[0].option);
    return csv_read(arena, path, text, out, error);
}
