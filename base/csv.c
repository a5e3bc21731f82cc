/* Reads CSV (RFC 4180) one record at a time: cells are unquoted into one run of bytes.
 *
 * A cell with its terminator needs no more room than it takes in the file with its comma, so that
 * one allocation of the file's size is sufficient. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

struct csv_reader {
    struct arena *arena;
    const char *file;
    const char *at, *end;
    int line;
    char *text;
    size_t size;                    /* of `text`, so far */
    uint32_t *cells;
    size_t count, room;
};

static bool at_end_of_record(const struct csv_reader *reader)
{
    return reader->at == reader->end || *reader->at == '\n' || *reader->at == '\r';
}

static bool read_quoted(struct csv_reader *reader, struct error *error)
{
    int opened = reader->line;
    for (reader->at++; reader->at < reader->end; reader->at++) {
        if (*reader->at == '"') {
            if (reader->at + 1 == reader->end || reader->at[1] != '"')
                break;
            reader->at++;
        }
        reader->line += *reader->at == '\n';
        reader->text[reader->size++] = *reader->at;
    }
    if (reader->at == reader->end) {
        error_set(error, "%s:%d: a quote is opened and never closed", reader->file, opened);
        return error_suggest(error, "a quote inside a quoted cell is written twice: \"\"");
    }
    reader->at++;
    if (!at_end_of_record(reader) && *reader->at != ',') {
        error_set(error, "%s:%d: '%c' after the closing quote", reader->file, reader->line,
                  *reader->at);
        return error_expected(error, "a comma or the end of the line");
    }
    return true;
}

static bool read_cell(struct csv_reader *reader, struct error *error)
{
    const size_t first = reader->size;
    if (reader->at < reader->end && *reader->at == '"') {
        if (!read_quoted(reader, error))
            return false;
    } else {
        while (!at_end_of_record(reader) && *reader->at != ',')
            reader->text[reader->size++] = *reader->at++;
    }
    if (memchr(reader->text + first, 0, reader->size - first))
        return error_set(error, "%s:%d: a zero byte", reader->file, reader->line) || error_expected(error, "cells of text");
    reader->text[reader->size++] = 0;
    *(uint32_t *)arena_push(reader->arena, &reader->cells, &reader->count, &reader->room,
                            sizeof *reader->cells) = (uint32_t)first;
    return true;
}

static bool read_record(struct csv_reader *reader, struct error *error)
{
    for (;;) {
        if (!read_cell(reader, error))
            return false;
        if (at_end_of_record(reader))
            break;
        reader->at++;                                   /* the comma */
    }
    if (reader->at < reader->end && *reader->at == '\r')
        reader->at++;
    if (reader->at < reader->end && *reader->at == '\n')
        reader->at++, reader->line++;
    return true;
}

static void skip_blank(struct csv_reader *reader)
{
    while (reader->at < reader->end) {
        if (*reader->at == '#') {
            while (reader->at < reader->end && *reader->at != '\n')
                reader->at++;
        } else if (*reader->at == '\n') {
            reader->at++, reader->line++;
        } else if (*reader->at == '\r') {
            reader->at++;
        } else {
            return;
        }
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A name that two columns have says nothing: which of them is meant? Columns without a name are not read. */
static bool check_header(struct arena *arena, const struct csv *csv, struct error *error)
{
    struct arena scratch = arena_beside(arena);
    const char **names = arena_array(&scratch, csv->columns, sizeof *names);
    const char *twice = NULL;
    for (size_t i = 0; i < csv->columns; i++)
        names[i] = csv_header(csv, i);
    qsort(names, csv->columns, sizeof *names, compare_names);
    for (size_t i = 1; i < csv->columns && !twice; i++)
        twice = *names[i] && !strcmp(names[i - 1], names[i]) ? names[i] : NULL;
    arena_free(&scratch);
    if (!twice)
        return true;
    error_set(error, "%s: two columns have the name '%.100s'", csv->file, twice);
    return error_expected(error, "a header that names each column once");
}

bool csv_read_groups(struct arena *arena, const char *file, struct text text, struct csv *csv,
                     struct error *error)
{
    text = text_without_mark(text);
    if (text.size >= UINT32_MAX)
        return error_set(error, "%s: %zu bytes; at most %u", file, text.size, UINT32_MAX - 1);
    struct csv_reader reader = { .arena = arena, .file = file, .at = text.data,
                             .end = text.data + text.size, .line = 1,
                             .text = arena_alloc(arena, text.size + 1) };
    int *lines = NULL;
    size_t line_count = 0, line_room = 0;
    *csv = (struct csv){ .file = file, .text = reader.text };
    for (skip_blank(&reader); reader.at < reader.end; skip_blank(&reader)) {
        int line = reader.line;
        size_t before = reader.count;
        if (!read_record(&reader, error))
            return false;
        if (!csv->columns) {
            csv->columns = reader.count;
            continue;
        }
        if (reader.count - before != csv->columns) {
            error_set(error, "%s:%d: %zu cells", file, line, reader.count - before);
            return error_expected(error, "%zu cells, as in the header", csv->columns);
        }
        *(int *)arena_push(arena, &lines, &line_count, &line_room, sizeof line) = line;
        csv->rows++;
    }
    if (!csv->columns) {
        error_set(error, "%s: the file is empty", file);
        return error_expected(error, "a header line with the names of its columns, which are in docs/formats.md");
    }
    csv->cells = reader.cells;
    csv->lines = lines;
    return true;
}

bool csv_read_any(struct arena *arena, const char *file, struct text text, struct csv *csv,
                  struct error *error)
{
    return csv_read_groups(arena, file, text, csv, error) && check_header(arena, csv, error);
}

bool csv_read(struct arena *arena, const char *file, struct text text, struct csv *csv,
              struct error *error)
{
    if (!csv_read_any(arena, file, text, csv, error))
        return false;
    for (size_t i = 0; i < csv->columns * (csv->rows + 1); i++) {
        struct text cell = text_of(csv_at(csv, i));
        size_t column = i % csv->columns, row = i / csv->columns;
        if (text_plain(cell, "") == cell.size)
            continue;
        return text_check(cell, row ? arena_print(arena, "%s:%d: %s", file, csv->lines[row - 1],
                                                      csv_header(csv, column))
                                        : arena_print(arena, "%s: the header", file), error);
    }
    return true;
}

const char *csv_at(const struct csv *csv, size_t cell)
{
    return csv->text + (csv->near ? csv->near[cell] : csv->cells[cell]);
}

const char *csv_header(const struct csv *csv, size_t column)
{
    return csv_at(csv, column);
}

int csv_column(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (!strcmp(csv_header(csv, i), name))
            return (int)i;
    return -1;
}

const char *csv_cell(const struct csv *csv, size_t row, int column)
{
    return column < 0 ? "" : csv_at(csv, (row + 1) * csv->columns + (size_t)column);
}

void csv_write_cell(struct buffer *out, const char *text)
{
    if (!text || !strpbrk(text, ",\"\n")) {
        buffer_print(out, "%s", text ? text : "");
        return;
    }
    buffer_print(out, "\"");
    for (; *text; text++)
        buffer_print(out, *text == '"' ? "\"\"" : "%c", *text);
    buffer_print(out, "\"");
}
