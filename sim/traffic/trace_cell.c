/* What a cell of a trace may be, in whatever form the file is: lengths, times in order, words of classes. */
#include "sim/traffic/trace_read.h"

#include <math.h>
#include <string.h>

bool trace_length(const char *path, int line, double number, const char *words, uint32_t *length,
                  struct error *error)
{
    if (number >= 1 && number <= LENGTH_MOST && number == floor(number)) {
        *length = (uint32_t)number;
        return true;
    }
    if (words)
        error_set(error, "%s:%d: invalid length of a request '%.40s'", path, line, words);
    else
        error_set(error, "%s:%d: invalid length of a request '%.17g'", path, line, number);
    return error_expected(error, "a whole number of tokens from 1 to %d", LENGTH_MOST);
}

bool trace_order(const char *path, int line, const struct trace *trace, size_t row,
                 struct error *error)
{
    if (row && trace->arrival[row] < trace->arrival[row - 1]) {
        error_set(error, "%s:%d: arrives %.9g s before the request above it", path, line,
                  trace->arrival[row - 1] - trace->arrival[row]);
        return error_expected(error, "requests in order of arrival");
    }
    if (trace->arrival[row] <= TIME_MOST)
        return true;
    error_set(error, "%s:%d: arrives %g s after the first request", path, line,
              trace->arrival[row]);
    return error_expected(error, "a trace of at most %d s", TIME_MOST);
}

bool trace_word(const char *word)
{
    enum { LONGEST = 40 };
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t size = strspn(word, good);
    return size > 0 && size <= LONGEST && !word[size];
}

size_t trace_class(struct trace *trace, const char *word)
{
    const size_t priority_class = name_index(trace->class_names, trace->priority_classes, word);
    if (priority_class == trace->priority_classes && priority_class < TRACE_CLASSES)
        trace->class_names[trace->priority_classes++] = word;
    return priority_class;
}

/* ---- files --------------------------------------------------------------------------------- */
