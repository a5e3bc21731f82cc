#include "sim/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
        { "Timestamp", "Request tokens", "Response tokens" },
        { "arrived_at", "num_prefill_tokens", "num_decode_tokens" },
        { "workload_arrival_s", "input_tokens", "output_tokens" },
        { "arrival", "input", "output" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *columns = (struct columns){ csv_column(csv, names[i][0]), csv_column(csv, names[i][1]),
                                     csv_column(csv, names[i][2]) };
        if (columns->arrival >= 0 && columns->input >= 0 && columns->output >= 0)
            return true;
    }
    error_set(error, "%s: no trace that is understood: %zu columns, the first '%.40s'", csv->file,
              csv->columns, csv->columns ? csv->header[0] : "");
    return error_hint(error, "the columns TIMESTAMP,ContextTokens,GeneratedTokens (Azure), "
                             "Timestamp,Request tokens,Response tokens (BurstGPT), "
                             "arrived_at,num_prefill_tokens,num_decode_tokens (Vidur) or "
                             "arrival,input,output; or JSON lines as Mooncake's");
}

bool trace_length(const char *path, int line, double number, const char *words, uint32_t *length,
                  struct error *error)
{
    if (number >= 1 && number <= LENGTH_MOST && number == floor(number)) {
        *length = (uint32_t)number;
        return true;
    }
    error_set(error, "%s:%d: '%.40s' is no length of a request", path, line, words);
    return error_hint(error, "a whole number of tokens from 1 to %d", LENGTH_MOST);
}

bool trace_order(const char *path, int line, const struct trace *trace, size_t row,
                 struct error *error)
{
    if (!row || trace->arrival[row] >= trace->arrival[row - 1])
        return true;
    error_set(error, "%s:%d: arrives before the request above it", path, line);
    return error_hint(error, "requests in order of arrival");
}

static bool read_length(const struct csv *csv, size_t row, int column, uint32_t *length,
                        struct error *error)
{
    const char *cell = csv_cell(csv, row, column);
    double number = 0;
    if (!text_number(text_of(cell), &number))
        number = 0;
    return trace_length(csv->file, csv->lines[row], number, cell, length, error);
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
    if (!trace_order(csv->file, csv->lines[row], trace, row, error))
        return false;
    return read_length(csv, row, columns->input, &trace->prompt[row], error) &&
           read_length(csv, row, columns->output, &trace->output[row], error);
}

enum { NAMED_BLOCK = 16 };

/* "0-146 207 300-302": names of blocks of 16 tokens, runs of them as their ends. */
static bool read_names(struct arena *arena, const struct csv *csv, size_t row, int column,
                       struct trace *trace, size_t *count, size_t *room, struct error *error)
{
    const uint64_t largest = (uint64_t)1 << 62, most = trace->prompt[row] / NAMED_BLOCK + 1;
    const char *at = csv_cell(csv, row, column);
    trace->first[row] = *count;
    while (*at) {
        char *end;
        uint64_t from = strtoull(at, &end, 10), to = from;
        bool good = end > at && *at >= '0' && *at <= '9';
        if (good && *end == '-') {
            at = end + 1;
            to = strtoull(at, &end, 10);
            good = end > at && *at >= '0' && *at <= '9';
        }
        good = good && from <= to && to < largest &&
               to - from < most - (*count - trace->first[row]);
        if (!good || (*end && *end != ' ')) {
            error_set(error, "%s:%d: '%.40s' names no blocks", csv->file, csv->lines[row],
                      csv_cell(csv, row, column));
            return error_hint(error, "numbers and runs of them, as many as the prompt has blocks of "
                              "%d tokens: 0-146 207", NAMED_BLOCK);
        }
        for (uint64_t name = from; name <= to; name++)
            *(uint64_t *)arena_push(arena, &trace->blocks, count, room, sizeof name) = name;
        at = end + strspn(end, " ");
    }
    trace->first[row + 1] = *count;
    return true;
}

static bool read_all_names(struct arena *arena, const struct csv *csv, struct trace *trace,
                           struct error *error)
{
    int column = csv_column(csv, "prefix_block_ids_16");
    size_t count = 0, room = 0;
    if (column < 0)
        return true;
    trace->block = NAMED_BLOCK;
    trace->first = arena_array(arena, csv->rows + 1, sizeof *trace->first);
    for (size_t row = 0; row < csv->rows; row++)
        if (!read_names(arena, csv, row, column, trace, &count, &room, error))
            return false;
    return true;
}

static bool parse_csv(struct arena *arena, const char *path, struct text text, double scale,
                      struct trace *trace, struct error *error)
{
    struct csv csv;
    struct columns columns;
    struct stamp first;
    if (!csv_read(arena, path, text, &csv, error) || !find_columns(&csv, &columns, error))
        return false;
    *trace = (struct trace){ .count = csv.rows,
                             .arrival = arena_array(arena, csv.rows + 1, sizeof(double)),
                             .prompt = arena_array(arena, csv.rows + 1, sizeof(uint32_t)),
                             .output = arena_array(arena, csv.rows + 1, sizeof(uint32_t)) };
    if (csv.rows)
        read_time(csv_cell(&csv, 0, columns.arrival), &first);
    for (size_t row = 0; row < csv.rows; row++)
        if (!read_row(&csv, &columns, row, first, scale, trace, error))
            return false;
    return read_all_names(arena, &csv, trace, error);
}

bool trace_parse(struct arena *arena, const char *path, struct text text, double scale,
                 struct trace *trace, struct error *error)
{
    struct text start = text_trim(text);
    bool lines = start.size && start.data[0] == '{';
    if (!(lines ? trace_parse_lines(arena, path, text, scale, trace, error)
                : parse_csv(arena, path, text, scale, trace, error)))
        return false;
    if (!trace->blocks)
        trace->blocks = arena_alloc(arena, sizeof *trace->blocks);      /* none, and no NULL */
    if (trace->count)
        return true;
    error_set(error, "%s: no requests", path);
    return error_hint(error, "a line for each request");
}

bool trace_read(struct arena *arena, const char *path, double scale, struct trace *trace,
                struct error *error)
{
    const size_t limit = (size_t)1 << 30;
    struct text packed, text;
    return file_read(arena, path, limit, &packed, error) &&
           trace_unpack(arena, path, packed, limit, &text, error) &&
           trace_parse(arena, path, text, scale, trace, error);
}
