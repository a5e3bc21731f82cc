/* Tables and lists of plain text, as records (benchmark_parts.h). */
#include "score/benchmark_parts.h"

#include <ctype.h>
#include <string.h>

enum { COLUMNS_MOST = 64 };

/* Where it begins in the text, or NULL. */
static const char *find(struct text text, const char *wanted)
{
    const size_t size = strlen(wanted);
    for (size_t at = 0; at + size <= text.size; at++)
        if (!memcmp(text.data + at, wanted, size))
            return text.data + at;
    return NULL;
}

/* "Mean TTFT (ms)" is mean_ttft_ms. */
static const char *plain_name(struct arena *arena, struct text text)
{
    struct buffer out = { .arena = arena };
    bool gap = false;
    buffer_add(&out, "", 0);
    for (size_t i = 0; i < text.size; i++) {
        const char c = (char)tolower((unsigned char)text.data[i]);
        if (!isalnum((unsigned char)c) || (c & 0x80)) {
            gap = out.size > 0;
            continue;
        }
        if (gap)
            buffer_add(&out, "_", 1);
        gap = false;
        buffer_add(&out, &c, 1);
    }
    return out.data;
}

/* ---- Markdown ------------------------------------------------------------------------------------ */

struct markdown_row {
    struct text cells[COLUMNS_MOST];
    size_t count;
};

static void split_row(struct text line, struct markdown_row *row)
{
    row->count = 0;
    line = text_trim(line);
    if (line.size && line.data[line.size - 1] == '|')
        line.size--;
    for (size_t i = 1, from = 1; i <= line.size && row->count < COLUMNS_MOST; i++)
        if (i == line.size || line.data[i] == '|') {
            row->cells[row->count++] = text_trim((struct text){ line.data + from, i - from });
            from = i + 1;
        }
}

static bool is_rule(const struct markdown_row *row)
{
    for (size_t i = 0; row->count && i < row->cells[0].size; i++)
        if (row->cells[0].data[i] != '-' && row->cells[0].data[i] != ':')
            return false;
    return row->count && row->cells[0].size;
}

bool markdown_read(struct text text, const char *file, struct records *records, struct error *error)
{
    struct markdown_row header = { .count = 0 }, row;
    if (!text_check_lines(text, file, error))
        return false;
    for (int number = 1; text.size; number++) {
        const struct text line = text_trim(text_line(&text));
        if (!line.size || line.data[0] != '|') {
            header.count = line.size ? 0 : header.count;        /* other text ends a table */
            continue;
        }
        split_row(line, &row);
        if (is_rule(&row))
            continue;
        if (!header.count) {
            header = row;
            continue;
        }
        if (row.count != header.count) {
            error_set(error, "%s:%d: %zu cells", file, number, row.count);
            return error_expected(error, "%zu cells, as in the header", header.count);
        }
        record_add(records, number);
        for (size_t i = 0; i < row.count; i++)
            record_set(records, plain_name(records->arena, header.cells[i]),
                       arena_copy(records->arena, row.cells[i].data, row.cells[i].size));
    }
    return true;
}

/* ---- SQL ------------------------------------------------------------------------------------------- */

/* What stands between the next two parentheses, by its commas, without quotation marks. */
static bool take_list(struct text *line, struct markdown_row *row)
{
    const char *open = line->size ? memchr(line->data, '(', line->size) : NULL;
    const char *end = line->data + line->size;
    row->count = 0;
    const char *at = open ? open + 1 : NULL, *from = at;
    for (; at && at < end && row->count < COLUMNS_MOST; at++) {
        if (*at == '\'') {
            const char *close = memchr(at + 1, '\'', (size_t)(end - at - 1));
            if (!close)
                return false;
            at = close;
        } else if (*at == ',' || *at == ')') {
            struct text cell = text_trim((struct text){ from, (size_t)(at - from) });
            if (cell.size >= 2 && cell.data[0] == '\'')
                cell = (struct text){ cell.data + 1, cell.size - 2 };
            row->cells[row->count++] = cell;
            from = at + 1;
            if (*at == ')') {
                *line = (struct text){ from, (size_t)(end - from) };
                return true;
            }
        }
    }
    return false;
}

bool sql_read(struct text text, const char *file, struct records *records, struct error *error)
{
    struct markdown_row names, values;
    if (!text_check_lines(text, file, error))
        return false;
    for (int number = 1; text.size; number++) {
        struct text line = text_trim(text_line(&text));
        if (line.size < 11 || memcmp(line.data, "INSERT INTO", 11))
            continue;
        if (!take_list(&line, &names) || !take_list(&line, &values)) {
            error_set(error, "%s:%d: not a record", file, number);
            return error_expected(error, "INSERT INTO table (name, ...) VALUES ('value', ...);");
        }
        if (names.count != values.count) {
            error_set(error, "%s:%d: %zu values", file, number, values.count);
            return error_expected(error, "%zu values, as there are names", names.count);
        }
        record_add(records, number);
        for (size_t i = 0; i < names.count; i++)
            record_set(records, plain_name(records->arena, names.cells[i]),
                       arena_copy(records->arena, values.cells[i].data, values.cells[i].size));
    }
    return true;
}

/* ---- labels ------------------------------------------------------------------------------------------ */

void labels_read(struct text text, struct records *records)
{
    size_t before = 0;                                          /* cells of other records */
    for (int number = 1; text.size; number++) {
        const struct text line = text_trim(text_line(&text));
        const char *colon = line.size ? memchr(line.data, ':', line.size) : NULL;
        const bool begins = line.size && line.data[0] == '=' && find(line, "Benchmark Result");
        if (!records->rows || (begins && records->cell_count > before)) {
            record_add(records, number);
            before = records->cell_count;
        }
        if (!colon) {
            if (line.size && line.data[0] != '-')
                record_set(records, "title", plain_name(records->arena, line));
            continue;
        }
        const size_t size = (size_t)(colon - line.data);
        const struct text value = text_trim((struct text){ colon + 1, line.size - size - 1 });
        record_set(records, plain_name(records->arena, (struct text){ line.data, size }),
                   arena_copy(records->arena, value.data, value.size));
    }
}

/* ---- metrics ------------------------------------------------------------------------------------------ */

static const char *metric_name(struct arena *arena, const struct csv *csv, size_t row, size_t column)
{
    return arena_print(arena, "%s.%s", plain_name(arena, text_of(csv_cell(csv, row, 0))),
                       plain_name(arena, text_of(csv_header(csv, column))));
}

bool metrics_read(struct text text, const char *file, struct records *records, struct error *error)
{
    record_add(records, 1);
    while (text.size) {
        const char *gap = find(text, "\n\n"), *wide = find(text, "\n\r\n");
        gap = !gap || (wide && wide < gap) ? wide : gap;
        struct text table = { text.data, gap ? (size_t)(gap - text.data) + 1 : text.size };
        struct csv csv;
        if (text_trim(table).size && !csv_read_groups(records->arena, file, table, &csv, error))
            return false;
        for (size_t row = 0; text_trim(table).size && row < csv.rows; row++)
            for (size_t column = 1; column < csv.columns; column++)
                record_set(records, metric_name(records->arena, &csv, row, column),
                           csv_cell(&csv, row, (int)column));
        text.data += table.size, text.size -= table.size;
        while (text.size && strchr("\r\n", *text.data) && *text.data)
            text.data++, text.size--;
    }
    return true;
}
