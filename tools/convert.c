/* convert FILE -- write a sheet of measurements, or what a benchmark tool wrote, in the columns of the schema
 * (docs/formats.md).
 *
 * Which sheets and tools: the files of data/layouts. FILE "-" is standard input. Columns of a sheet that nothing reads
 * stand at the end, behind the empty column "unread", and are listed on standard error. */
#include "score/benchmark.h"
#include "score/layout.h"

#include <stdio.h>
#include <string.h>

static void fail(const struct error *error)
{
    fprintf(stderr, "convert: %s\n", error->what);
    if (*error->hint)
        fprintf(stderr, "  %s: %s\n", error_label(error), error->hint);
}

static bool convert(struct arena *arena, const char *path, struct buffer *out, struct error *error)
{
    enum { LIMIT = 64 << 20 };
    struct text text;
    struct csv csv, sheet;
    int *unread;
    if (!file_read(arena, path, LIMIT, &text, error) || !benchmark_open(arena, path, text, NULL, &csv, error))
        return false;
    for (size_t i = 0; i < csv.columns; i++)                /* a header of groups may repeat names */
        for (size_t k = i + 1; k < csv.columns; k++)
            if (*csv_header(&csv, i) && !strcmp(csv_header(&csv, i), csv_header(&csv, k))) {
                error_set(error, "%s: two columns have the name '%.100s'", path, csv_header(&csv, i));
                return error_expected(error, "a header that names each column once");
            }
    const size_t count = benchmark_unread(arena, path, text, &sheet, &unread);
    for (size_t row = 0; row <= csv.rows; row++) {          /* the header first, in both */
        for (size_t at = 0; at < csv.columns; at++) {
            buffer_print(out, at ? "," : "");
            csv_write_cell(out, csv_at(&csv, row * csv.columns + at));
        }
        buffer_print(out, count ? row ? "," : "," LAYOUT_UNREAD : "");
        for (size_t i = 0; i < count; i++) {
            buffer_print(out, ",");
            csv_write_cell(out, csv_at(&sheet, row * sheet.columns + (size_t)unread[i]));
        }
        buffer_print(out, "\n");
    }
    if (!text_check_lines((struct text){ out->data, out->size }, arena_print(arena, "%s, converted", path), error))
        return false;
    if (count)
        fprintf(stderr, "convert: nothing reads these columns, which stand at the end: %s\n",
                benchmark_unread_names(arena, &sheet, unread, count));
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
    const bool good = convert(&arena, words[1], &out, &error);
    const bool written = good && fwrite(out.data, 1, out.size, stdout) == out.size && !fflush(stdout);
    if (!good)
        fail(&error);
    else if (!written)
        perror("convert");
    arena_free(&arena);
    return written ? 0 : 2;
}
