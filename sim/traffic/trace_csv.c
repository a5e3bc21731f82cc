/* Traces as CSV tables: recognizes a published format by its column names and reads it.
 *
 * A format says how arrival, prompt length, output length, class, session and block names are
 * called, and in which unit times are. Dates are kept as days and seconds, since their difference
 * in a single double would lose digits. Arrivals become seconds from the first request. A row
 * whose numbers are missing, negative or too large is an error that names line and column; nothing
 * is skipped silently. */
#include "sim/traffic/trace_read.h"

#include "build/row_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace_columns {
    const char *arrival, *input, *output, *class, *session, *wait;
    const char *whole;              /* the file where no request has failed, of length 0 */
};

static const struct trace_columns formats[] = {
    { .arrival = "TIMESTAMP", .input = "ContextTokens", .output = "GeneratedTokens" },
    { .arrival = "Timestamp", .input = "Request tokens", .output = "Response tokens",
      .session = "Session ID", .whole = "BurstGPT_without_fails_1.csv" },
    { .arrival = "arrived_at", .input = "num_prefill_tokens", .output = "num_decode_tokens" },
    { .arrival = "workload_arrival_s", .input = "input_tokens", .output = "output_tokens" },
    { .arrival = "arrival", .input = "input", .output = "output", .class = "class",
      .session = "session", .wait = "wait" },
    { .arrival = "arrival", .input = "isl", .output = "osl", .class = "class", .session = "session", .wait = "wait" },
    { .arrival = "arrival", .input = NAME_prompt_tokens, .output = NAME_output_tokens, .class = "class",
      .session = "session", .wait = "wait" },
    { .arrival = "arrival", .input = "prompt_len", .output = "output_len" },
};
enum { FORMATS = sizeof formats / sizeof *formats };

struct trace_csv_reader {
    struct arena *arena;
    struct csv csv;
    const struct trace_columns *format;
    int arrival, input, output, class, session, wait, names;    /* columns, or -1 */
    struct trace *trace;
    struct trace_turns turns;
    size_t block_count, block_room;
    struct error *error;
};

static bool wrong(const struct trace_csv_reader *reader, size_t row, int column, const char *what)
{
    return error_set(reader->error, "%s:%d: '%.40s' %s", reader->csv.file,
                     reader->csv.lines[row], csv_cell(&reader->csv, row, column), what);
}

/* ---- columns ------------------------------------------------------------------------------- */

/* false: it stands there twice. Not there, or no name: -1. */
static bool find_column(const struct trace_csv_reader *reader, const char *name, int *column)
{
    *column = name ? csv_column(&reader->csv, name) : -1;
    size_t again = *column < 0 ? reader->csv.columns : (size_t)*column + 1;
    while (again < reader->csv.columns && strcmp(csv_header(&reader->csv, again), name))
        again++;
    if (again >= reader->csv.columns)
        return true;
    error_set(reader->error, "%s: the header has the column '%s' twice", reader->csv.file, name);
    return error_expected(reader->error, "one column of that name");
}

static bool has(const struct csv *csv, const char *column)
{
    return column && csv_column(csv, column) >= 0;
}

static bool unknown(const struct trace_csv_reader *reader)
{
    const struct csv *csv = &reader->csv;
    error_set(reader->error, "%s: no trace that is understood: %zu columns, the first '%.40s'",
              csv->file, csv->columns, csv->columns ? csv_header(csv, 0) : "");
    return error_expected(reader->error,
                          "the columns TIMESTAMP,ContextTokens,GeneratedTokens (Azure), "
                          "Timestamp,Request tokens,Response tokens (BurstGPT), "
                          "arrived_at,num_prefill_tokens,num_decode_tokens (Vidur) or "
                          "arrival,input,output[,class][,session][,wait]; or JSON lines as Mooncake's");
}

/* The first format all of whose columns there are; its arrivals only if they are `wanted`. */
static bool find_format(struct trace_csv_reader *reader, bool wanted)
{
    const struct csv *csv = &reader->csv;
    const struct trace_columns *at = NULL, *untimed = NULL;
    for (int i = 0; i < FORMATS && !at; i++) {
        const struct trace_columns *one = &formats[i];
        if (!has(csv, one->input) || !has(csv, one->output))
            continue;
        untimed = one;
        if (!wanted || has(csv, one->arrival))
            at = one;
    }
    reader->format = at;
    if (at)
        return find_column(reader, wanted ? at->arrival : NULL, &reader->arrival) &&
               find_column(reader, at->input, &reader->input) &&
               find_column(reader, at->output, &reader->output) &&
               find_column(reader, at->class, &reader->class) &&
               find_column(reader, at->session, &reader->session) &&
               find_column(reader, at->wait, &reader->wait) &&
               find_column(reader, "prefix_block_ids_16", &reader->names);
    if (!untimed)
        return unknown(reader);
    error_set(reader->error, "%s: lengths without arrivals: the columns %s,%s", csv->file,
              untimed->input, untimed->output);
    return error_expected(reader->error, "a column '%s', or arrivals made for these lengths: "
                                         "poisson:rate=5/s,count=1000,lengths=%.200s",
                          untimed->arrival, csv->file);
}

/* ---- times ---------------------------------------------------------------------------------- */

/* Days apart from seconds, whose difference would lose its last digits in a large number. */
struct stamp {
    double days, seconds;
};

/* What a time is ahead of UTC: "", "Z", "+00:00", "-07:30". */
static bool read_zone(const char *text, double *ahead)
{
    int hours, minutes, used = 0;
    *ahead = 0;
    if (!*text || !strcmp(text, "Z"))
        return true;
    if (sscanf(text, "%*1[+-]%2d:%2d%n", &hours, &minutes, &used) != 2 || !used || text[used] ||
        hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
        return false;
    *ahead = (*text == '-' ? -60 : 60) * (60 * hours + minutes);
    return true;
}

/* So many digits and one of the characters after them; sscanf would take most of the reading. */
static bool read_digits(const char **text, int count, const char *after, int *number)
{
    for (*number = 0; count > 0; count--, ++*text) {
        if (**text < '0' || **text > '9')
            return false;
        *number = 10 * *number + (**text - '0');
    }
    return **text && strchr(after, *(*text)++);
}

/* "2023-11-16 18:15:46.6805900", "2024-05-10T00:00:00.009930+00:00"; false: not a time. */
static bool read_date(const char *text, struct stamp *stamp)
{
    int year, month, day, hour, minute;
    double second, ahead;
    if (!read_digits(&text, 4, "-", &year) || !read_digits(&text, 2, "-", &month) ||
        !read_digits(&text, 2, " T", &day) || !read_digits(&text, 2, ":", &hour) ||
        !read_digits(&text, 2, ":", &minute) || month < 1 || month > 12 || day < 1 || day > 31 ||
        hour > 23 || minute > 59)
        return false;
    struct text seconds = { text, strspn(text, "0123456789.") };
    if (!text_number(seconds, &second) || second < 0 || second >= 61 ||
        !read_zone(seconds.data + seconds.size, &ahead))
        return false;
    int y = year - (month <= 2), m = (month + 9) % 12;          /* a year from March on */
    stamp->days = 365.0 * y + y / 4 - y / 100 + y / 400 + (m * 306 + 5) / 10 + (day - 1);
    stamp->seconds = hour * 3600 + minute * 60 + second - ahead;
    return true;
}

static bool read_time(const char *text, struct stamp *stamp)
{
    *stamp = (struct stamp){ 0, 0 };
    return read_date(text, stamp) || text_number(text_of(text), &stamp->seconds);
}

static double between(struct stamp from, struct stamp to)
{
    enum { DAY = 86400 };
    return (to.days - from.days) * DAY + (to.seconds - from.seconds);
}

static bool read_arrivals(struct trace_csv_reader *reader)
{
    const struct csv *csv = &reader->csv;
    struct stamp first = { 0, 0 }, time;
    for (size_t row = 0; row < csv->rows; row++) {
        if (!read_time(csv_cell(csv, row, reader->arrival), &time)) {
            wrong(reader, row, reader->arrival, "is not a time");
            return error_expected(reader->error, "seconds, or 2023-11-16 18:15:46.68");
        }
        if (!row)
            first = time;
        reader->trace->arrival[row] = between(first, time);
        if (!trace_order(csv->file, csv->lines[row], reader->trace, row, reader->error))
            return false;
    }
    return true;
}

/* ---- lengths -------------------------------------------------------------------------------- */

static bool read_length(struct trace_csv_reader *reader, size_t row, int column, uint32_t *length)
{
    const struct csv *csv = &reader->csv;
    const char *cell = csv_cell(csv, row, column);
    double number = 0;
    if (!text_number(text_of(cell), &number))
        number = 0;
    if (trace_length(csv->file, csv->lines[row], number, cell, length, reader->error))
        return true;
    if (reader->format->whole && text_is(text_of(cell), "0"))
        error_expected(reader->error, "a file without the requests that failed: %s",
                       reader->format->whole);
    return false;
}

static bool read_lengths(struct trace_csv_reader *reader, uint32_t **prompt, uint32_t **output)
{
    size_t rows = reader->csv.rows;
    *prompt = arena_array(reader->arena, rows + 1, sizeof **prompt);
    *output = arena_array(reader->arena, rows + 1, sizeof **output);
    for (size_t row = 0; row < rows; row++)
        if (!read_length(reader, row, reader->input, &(*prompt)[row]) ||
            !read_length(reader, row, reader->output, &(*output)[row]))
            return false;
    return true;
}

/* ---- classes and sessions ------------------------------------------------------------------- */

static bool read_classes(struct trace_csv_reader *reader)
{
    struct trace *trace = reader->trace;
    if (reader->class < 0)
        return true;
    trace->priority_class = arena_array(reader->arena, trace->count + 1, sizeof *trace->priority_class);
    for (size_t row = 0; row < trace->count; row++) {
        const char *word = csv_cell(&reader->csv, row, reader->class);
        if (!trace_word(word)) {
            wrong(reader, row, reader->class, "is not a class");
            return error_expected(reader->error, "a word of letters, digits, '-', '_' and '.'");
        }
        size_t priority_class = trace_class(trace, word);
        if (priority_class == TRACE_CLASSES) {
            wrong(reader, row, reader->class, "is one class too many");
            return error_expected(reader->error, "at most %d", TRACE_CLASSES);
        }
        trace->priority_class[row] = (uint8_t)priority_class;
    }
    return true;
}

/* Seconds after the answer of the turn before; an empty cell: none are given. */
static bool read_wait(struct trace_csv_reader *reader, size_t row)
{
    struct trace *trace = reader->trace;
    const char *cell = csv_cell(&reader->csv, row, reader->wait);
    double number;
    if (!*cell)
        return true;
    if (!text_number(text_of(cell), &number) || number < 0 || number > TIME_MOST) {
        wrong(reader, row, reader->wait, "is not a wait");
        return error_expected(reader->error, "seconds from 0 to %d after the turn before is "
                                             "answered, or an empty cell", TIME_MOST);
    }
    if (trace->before[row] == UINT32_MAX) {
        wrong(reader, row, reader->wait, "waits for nothing: no turn of its session is above it");
        return error_expected(reader->error, "an empty cell for the first turn of a session, and a "
                                             "column 'session'");
    }
    trace->wait[row] = number;
    return true;
}

static bool read_sessions(struct trace_csv_reader *reader)
{
    struct trace *trace = reader->trace;
    bool later = false;
    if (reader->session < 0 && reader->wait < 0)
        return true;
    trace->before = arena_array(reader->arena, trace->count + 1, sizeof *trace->before);
    trace->wait = arena_array(reader->arena, trace->count + 1, sizeof *trace->wait);
    for (size_t row = 0; row < trace->count; row++) {
        const char *session = csv_cell(&reader->csv, row, reader->session);
        trace->wait[row] = NAN;
        trace->before[row] = !*session ? UINT32_MAX
                             : trace_turns_put(reader->arena, &reader->turns, 0, session,
                                               (uint32_t)row);
        later |= trace->before[row] != UINT32_MAX;
        if (!read_wait(reader, row))
            return false;
    }
    if (!later)
        trace->before = NULL, trace->wait = NULL;
    return true;
}

/* ---- names of blocks ------------------------------------------------------------------------ */

enum { NAMED_BLOCK = 16 };

/* "0-146 207 300-302": names of blocks of 16 tokens, runs of them as their ends. */
static bool read_names(struct trace_csv_reader *reader, size_t row)
{
    struct trace *trace = reader->trace;
    const uint64_t largest = (uint64_t)1 << 62, most = trace->prompt[row] / NAMED_BLOCK + 1;
    const char *at = csv_cell(&reader->csv, row, reader->names);
    trace->first[row] = reader->block_count;
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
               to - from < most - (reader->block_count - trace->first[row]);
        if (!good || (*end && *end != ' ')) {
            wrong(reader, row, reader->names, "is not a list of blocks");
            return error_expected(reader->error, "numbers and runs of them, as many as the prompt has "
                                  "blocks of %d tokens: 0-146 207", NAMED_BLOCK);
        }
        for (uint64_t name = from; name <= to; name++)
            *(uint64_t *)arena_push(reader->arena, &trace->blocks, &reader->block_count,
                                    &reader->block_room, sizeof name) = name;
        at = end + strspn(end, " ");
    }
    trace->first[row + 1] = reader->block_count;
    return true;
}

static bool read_all_names(struct trace_csv_reader *reader)
{
    struct trace *trace = reader->trace;
    if (reader->names < 0)
        return true;
    trace->block = NAMED_BLOCK;
    trace->first = arena_array(reader->arena, trace->count + 1, sizeof *trace->first);
    for (size_t row = 0; row < trace->count; row++)
        if (!read_names(reader, row))
            return false;
    return true;
}

/* ---- tables --------------------------------------------------------------------------------- */

bool trace_parse_csv(struct arena *arena, const char *path, struct text text, struct trace *trace,
                     struct error *error)
{
    struct trace_csv_reader reader = { .arena = arena, .trace = trace, .error = error };
    if (!csv_read_any(arena, path, text, &reader.csv, error) || !find_format(&reader, true))
        return false;
    *trace = (struct trace){ .count = reader.csv.rows,
                             .arrival = arena_array(arena, reader.csv.rows + 1, sizeof(double)) };
    return read_arrivals(&reader) && read_lengths(&reader, &trace->prompt, &trace->output) &&
           read_classes(&reader) && read_sessions(&reader) && read_all_names(&reader);
}

bool trace_parse_csv_lengths(struct arena *arena, const char *path, struct text text,
                             struct trace_lengths *lengths, struct error *error)
{
    struct trace_csv_reader reader = { .arena = arena, .error = error };
    if (!csv_read_any(arena, path, text, &reader.csv, error) || !find_format(&reader, false))
        return false;
    lengths->count = reader.csv.rows;
    return read_lengths(&reader, &lengths->prompt, &lengths->output);
}
