/* Any bytes as a benchmark file, with and without facts given: a sheet or an error, never a crash, a leak or
 * a wait. What was read is a sheet of the schema, and its points are read. */
#include "score/benchmark.h"
#include "score/measured.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void check_points(const struct measured_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        for (int k = 0; k < list->points[i].value_count; k++)
            assert(list->points[i].values[k].row && (list->points[i].values[k].value > 0 ||
                                                     list->points[i].values[k].from));
}

static void open_one(const char *data, size_t size, const struct benchmark_facts *given)
{
    enum { ROWS_MOST = 300 };                   /* rows are compared with each other */
    struct arena arena = { 0 };
    struct error error = { 0 };
    struct csv csv;
    struct measured_list list = { 0 };
    if (!benchmark_open(&arena, "fuzz", (struct text){ data, size }, given, &csv, &error))
        assert(*error.what);
    else if (csv.rows < ROWS_MOST && measured_read(&arena, &csv, &list, &error))
        check_points(&list);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct benchmark_facts given = {
        { { "model", "llama-3.1-8b", "model" }, { "machine", "h100-sxm", "on" }, { "chips", "4", "gpus" },
          { "tensor_parallel", "2", "tp" }, { "prompt_tokens", "512", "isl" }, { "output_tokens", "64",
          "osl" },
          { "concurrency", "8", "concurrency" } }, 7 };
    char *copy = malloc(size ? size : 1);       /* reads beyond the end are seen */
    memcpy(copy, data, size);
    open_one(copy, size, NULL);
    open_one(copy, size, &given);
    free(copy);
    return 0;
}
