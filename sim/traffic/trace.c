/* Traces: reads a file of requests in any known format, as a table or as JSON lines, and checks
 * it.
 *
 * Arrivals must not go back, lengths must be whole and positive. All times are divided by
 * `scale`. Names of priority classes become numbers in the order of their first
 * appearance. */
#include "sim/traffic/trace_read.h"

#include <math.h>
#include <string.h>

static bool none(const char *path, struct error *error)
{
    error_set(error, "%s: no requests", path);
    return error_expected(error, "a line for each request");
}

static bool is_lines(struct text text)
{
    struct text start = text_trim(text);
    return start.size && start.data[0] == '{';
}

static bool stretch(const char *path, double scale, struct trace *trace, struct error *error)
{
    double most = trace->arrival[trace->count - 1] / scale;
    for (size_t i = 0; i < trace->count; i++)
        trace->arrival[i] /= scale;
    for (size_t i = 0; trace->wait && i < trace->count; i++)
        most = fmax(most, trace->wait[i] /= scale);         /* of a number and NAN the number */
    if (most <= TIME_MOST)
        return true;
    error_set(error, "%s: has times up to %g s at this scale", path, most);
    return error_expected(error, "at most %d s", TIME_MOST);
}

bool trace_parse(struct arena *arena, const char *path, struct text text, double scale,
                 struct trace *trace, struct error *error)
{
    text = text_without_mark(text);
    if (!(is_lines(text) ? trace_parse_lines(arena, path, text, trace, error)
                         : trace_parse_csv(arena, path, text, trace, error)))
        return false;
    if (!trace->blocks)
        trace->blocks = arena_alloc(arena, sizeof *trace->blocks);      /* none, and no NULL */
    return trace->count ? stretch(path, scale, trace, error) : none(path, error);
}

static bool read_text(struct arena *arena, const char *path, struct text *text,
                      struct error *error)
{
    const size_t limit = (size_t)1 << 30;
    struct text packed;
    return file_read(arena, path, limit, &packed, error) &&
           trace_unpack(arena, path, packed, limit, text, error);
}

bool trace_read(struct arena *arena, const char *path, double scale, struct trace *trace,
                struct error *error)
{
    struct text text;
    return read_text(arena, path, &text, error) &&
           trace_parse(arena, path, text, scale, trace, error);
}

bool trace_lengths(struct arena *arena, const char *path, struct trace_lengths *lengths,
                   struct error *error)
{
    struct text text;
    if (!read_text(arena, path, &text, error))
        return false;
    if (is_lines(text)) {
        struct trace trace;
        if (!trace_parse_lines(arena, path, text, &trace, error))
            return false;
        *lengths = (struct trace_lengths){ trace.count, trace.prompt, trace.output };
    } else if (!trace_parse_csv_lengths(arena, path, text, lengths, error)) {
        return false;
    }
    return lengths->count || none(path, error);
}

void trace_sums_add(struct trace_sums *sums, size_t i, double arrival, uint32_t prompt, uint32_t output)
{
    const uint64_t all = (uint64_t)prompt + output;
    sums->prompts += prompt;
    sums->outputs += output;
    sums->prompt_squares += (double)prompt * prompt;
    sums->output_squares += (double)output * output;
    sums->longest = all > sums->most ? i : sums->longest;
    sums->most = all > sums->most ? all : sums->most;
    sums->longest_prompt = prompt > sums->most_prompt ? i : sums->longest_prompt;
    sums->most_prompt = prompt > sums->most_prompt ? prompt : sums->most_prompt;
    sums->last = arrival;
}

struct trace_sums trace_sums_of(const struct trace *trace)
{
    struct trace_sums sums = { 0 };
    if (trace->source)
        return trace->source->sums;
    for (size_t i = 0; i < trace->count; i++)
        trace_sums_add(&sums, i, trace->arrival[i], trace->prompt[i], trace->output[i]);
    return sums;
}

bool trace_scale(const struct trace *trace, double rate, double *scale, struct error *error)
{
    const double span = trace->arrival[trace->count - 1];
    *scale = rate * span / (double)(trace->count - 1);
    if (span > 0)
        return true;
    error_set(error, "--rate: all requests of the trace arrive at once");
    return error_expected(error, "a description of requests: poisson:count=1000");
}
