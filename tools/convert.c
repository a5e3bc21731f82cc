/* convert FILE -- write a sheet of measurements, or what a benchmark tool wrote, in the columns of the schema
 * (docs/formats.md).
 *
 * Which sheets and tools: the files of data/layouts. FILE "-" is standard input. */
#include "score/benchmark.h"

#include <stdio.h>

static int fail(const struct error *error)
{
    fprintf(stderr, "convert: %s\n", error->what);
    if (*error->hint)
        fprintf(stderr, "  %s: %s\n", error_label(error), error->hint);
    return 2;
}

static bool convert(struct arena *arena, const char *path, struct buffer *out, struct error *error)
{
    enum { LIMIT = 64 << 20 };
    struct text text;
    struct csv csv;
    if (!file_read(arena, path, LIMIT, &text, error) || !benchmark_open(arena, path, text, NULL, &csv, error))
        return false;
    for (size_t i = 0; i < csv.columns * (csv.rows + 1); i++) {
        csv_write_cell(out, csv_at(&csv, i));
        buffer_print(out, (i + 1) % csv.columns ? "," : "\n");
    }
    return true;
}

int main(int count, char **words)
{
    struct arena arena = { 0 };
    struct buffer out = { .arena = &arena };
    struct error error = { 0 };
    if (count != 2) {
        fprintf(stderr, "convert FILE > OUT.csv\n");
        return 2;
    }
    if (!convert(&arena, words[1], &out, &error))
        return fail(&error);
    const bool written = fwrite(out.data, 1, out.size, stdout) == out.size && !fflush(stdout);
    if (!written)
        perror("convert");
    arena_free(&arena);
    return written ? 0 : 2;
}
