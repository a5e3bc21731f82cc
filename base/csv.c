#include "base/base.h"

#include <string.h>

/* One record at a time: cells are unquoted into the arena. */
struct reader {
    struct arena *arena;
    const char *file;
    const char *at, *end;
    int line;
    const char **cells;
    size_t count, room;
};

static bool at_end_of_record(const struct reader *reader)
{
    return reader->at == reader->end || *reader->at == '\n' || *reader->at == '\r';
}

static bool read_quoted(struct reader *reader, struct buffer *cell, struct error *error)
{
    int opened = reader->line;
    for (reader->at++; reader->at < reader->end; reader->at++) {
        if (*reader->at == '"') {
            if (reader->at + 1 == reader->end || reader->at[1] != '"')
                break;
            reader->at++;
        }
        reader->line += *reader->at == '\n';
        buffer_add(cell, reader->at, 1);
    }
    if (reader->at == reader->end) {
        error_set(error, "%s:%d: a quote is opened and never closed", reader->file, opened);
        return error_hint(error, "write a quote inside a quoted cell twice: \"\"");
    }
    reader->at++;
    if (!at_end_of_record(reader) && *reader->at != ',') {
        error_set(error, "%s:%d: '%c' after the closing quote", reader->file, reader->line,
                  *reader->at);
        return error_hint(error, "a comma or the end of the line");
    }
    return true;
}

static bool read_cell(struct reader *reader, struct error *error)
{
    struct text cell = { reader->at, 0 };
    if (reader->at < reader->end && *reader->at == '"') {
        struct buffer unquoted = { .arena = reader->arena };
        buffer_add(&unquoted, "", 0);
        if (!read_quoted(reader, &unquoted, error))
            return false;
        cell = (struct text){ unquoted.data, unquoted.size };
    } else {
        while (!at_end_of_record(reader) && *reader->at != ',')
            reader->at++;
        cell.size = (size_t)(reader->at - cell.data);
    }
    if (cell.size && memchr(cell.data, 0, cell.size))
        return error_set(error, "%s:%d: a zero byte", reader->file, reader->line);
    const char **place = arena_push(reader->arena, &reader->cells, &reader->count,
                                    &reader->room, sizeof *reader->cells);
    *place = arena_copy(reader->arena, cell.data, cell.size);
    return true;
}

static bool read_record(struct reader *reader, struct error *error)
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

static void skip_blank(struct reader *reader)
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

bool csv_read_any(struct arena *arena, const char *file, struct text text, struct csv *csv,
                  struct error *error)
{
    if (text.size >= 3 && !memcmp(text.data, "\xef\xbb\xbf", 3))    /* byte order mark */
        text.data += 3, text.size -= 3;
    struct reader reader = { .arena = arena, .file = file, .at = text.data,
                             .end = text.data + text.size, .line = 1 };
    size_t line_count = 0, line_room = 0;
    *csv = (struct csv){ .file = file };
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
            return error_hint(error, "%zu cells, as in the header", csv->columns);
        }
        *(int *)arena_push(arena, &csv->lines, &line_count, &line_room, sizeof line) = line;
        csv->rows++;
    }
    if (!csv->columns)
        return error_set(error, "%s: empty; expected a header line", file);
    csv->header = reader.cells;
    csv->cells = reader.cells + csv->columns;
    return true;
}

bool csv_read(struct arena *arena, const char *file, struct text text, struct csv *csv,
              struct error *error)
{
    if (!csv_read_any(arena, file, text, csv, error))
        return false;
    for (size_t i = 0; i < csv->columns * (csv->rows + 1); i++) {
        struct text cell = text_of(csv->header[i]);         /* the cells follow the header */
        size_t column = i % csv->columns, row = i / csv->columns;
        if (text_plain(cell, "") == cell.size)
            continue;
        return text_check(cell, row ? arena_print(arena, "%s:%d: %s", file, csv->lines[row - 1],
                                                      csv->header[column])
                                        : arena_print(arena, "%s: the header", file), error);
    }
    return true;
}

int csv_column(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (!strcmp(csv->header[i], name))
            return (int)i;
    return -1;
}

const char *csv_cell(const struct csv *csv, size_t row, int column)
{
    return column < 0 ? "" : csv->cells[row * csv->columns + (size_t)column];
}
