#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct columns {
    int arrival, input, output;
};

/* Days apart from seconds, whose difference would lose its last digits in a large number. */
struct stamp {
    double days, seconds;
};

/* "2023-11-16 18:15:46.6805900"; false: not a time. */
static bool read_date(const char *text, struct stamp *stamp)
{
    int year, month, day, hour, minute, used = 0;
    double second;
    if (sscanf(text, "%4d-%2d-%2d%*1[ T]%2d:%2d:%n", &year, &month, &day, &hour, &minute,
               &used) != 5 || !used || month < 1 || month > 12 || day < 1 || day > 31 ||
        hour < 0 || hour > 23 || minute < 0 || minute > 59)
        return false;
    if (!text_number(text_of(text + used), &second) || second < 0 || second >= 61)
        return false;
    int y = year - (month <= 2), m = (month + 9) % 12;          /* a year from March on */
    stamp->days = 365.0 * y + y / 4 - y / 100 + y / 400 + (m * 306 + 5) / 10 + (day - 1);
    stamp->seconds = hour * 3600 + minute * 60 + second;
    return true;
}

static bool read_time(const char *text, struct stamp *stamp)
{
    *stamp = (struct stamp){ 0, 0 };
    return text_number(text_of(text), &stamp->seconds) || read_date(text, stamp);
}

static double between(struct stamp from, struct stamp to)
{
    enum { DAY = 86400 };
    return (to.days - from.days) * DAY + (to.seconds - from.seconds);
}

static bool find_columns(const struct csv *csv, struct columns *columns, struct error *error)
{
    static const char *const names[][3] = {
        { "TIMESTAMP", "ContextTokens", "GeneratedTokens" },
        { "arrival", "input", "output" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *columns = (struct columns){ csv_column(csv, names[i][0]), csv_column(csv, names[i][1]),
                                     csv_column(csv, names[i][2]) };
        if (columns->arrival >= 0 && columns->input >= 0 && columns->output >= 0)
            return true;
    }
    error_set(error, "%s: no trace that is understood", csv->file);
    return error_hint(error, "the columns TIMESTAMP,ContextTokens,GeneratedTokens (Azure) or "
                             "arrival,input,output");
}

static bool read_length(const struct csv *csv, size_t row, int column, uint32_t *length,
                        struct error *error)
{
    const char *cell = csv_cell(csv, row, column);
    double number;
    if (text_number(text_of(cell), &number) && number >= 1 && number <= LENGTH_MOST &&
        number == floor(number)) {
        *length = (uint32_t)number;
        return true;
    }
    error_set(error, "%s:%d: '%.40s' is no length of a request", csv->file, csv->lines[row], cell);
    return error_hint(error, "a whole number of tokens from 1 to %d", LENGTH_MOST);
}

static bool read_row(const struct csv *csv, const struct columns *columns, size_t row,
                     struct stamp first, double scale, struct trace *trace, struct error *error)
{
    const char *cell = csv_cell(csv, row, columns->arrival);
    struct stamp time;
    if (!read_time(cell, &time)) {
        error_set(error, "%s:%d: '%.40s' is no time", csv->file, csv->lines[row], cell);
        return error_hint(error, "seconds, or 2023-11-16 18:15:46.68");
    }
    trace->arrival[row] = between(first, time) / scale;
    if (row && trace->arrival[row] < trace->arrival[row - 1]) {
        error_set(error, "%s:%d: arrives before the request above it", csv->file, csv->lines[row]);
        return error_hint(error, "requests in order of arrival");
    }
    return read_length(csv, row, columns->input, &trace->prompt[row], error) &&
           read_length(csv, row, columns->output, &trace->output[row], error);
}

bool trace_read(struct arena *arena, const char *path, double scale, struct trace *trace,
                struct error *error)
{
    enum { LIMIT = 1 << 30 };
    struct text text;
    struct csv csv;
    struct columns columns;
    struct stamp first;
    if (!file_read(arena, path, LIMIT, &text, error) || !csv_read(arena, path, text, &csv, error) ||
        !find_columns(&csv, &columns, error))
        return false;
    if (!csv.rows) {
        error_set(error, "%s: no requests", path);
        return error_hint(error, "a line for each request below the names of the columns");
    }
    *trace = (struct trace){ .count = csv.rows,
                             .arrival = arena_array(arena, csv.rows, sizeof(double)),
                             .prompt = arena_array(arena, csv.rows, sizeof(uint32_t)),
                             .output = arena_array(arena, csv.rows, sizeof(uint32_t)) };
    read_time(csv_cell(&csv, 0, columns.arrival), &first);
    for (size_t row = 0; row < csv.rows; row++)
        if (!read_row(&csv, &columns, row, first, scale, trace, error))
            return false;
    return true;
}
