/* Any bytes as a description: an answer or an error. A trace that was made is in order, its turns
 * come after those before them, and it is the same when made again. Files are left alone. */
#include "sim/traffic/generate_plan.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void check(const struct trace *trace)
{
    assert(trace->count > 0 && trace->priority_classes <= TRACE_CLASSES && trace->arrival[0] == 0);
    for (size_t i = 0; i < trace->count; i++) {
        assert(trace->arrival[i] >= 0 && trace->arrival[i] <= TIME_MOST);
        assert(!i || trace->arrival[i] >= trace->arrival[i - 1]);
        assert(trace->prompt[i] >= 1 && trace->prompt[i] <= LENGTH_MOST);
        assert(trace->output[i] >= 1 && trace->output[i] <= LENGTH_MOST);
        assert(!trace->priority_class || trace->priority_class[i] < trace->priority_classes);
        if (!trace->before || trace->before[i] == UINT32_MAX)
            continue;
        size_t before = trace->before[i];
        assert(before < i && trace->wait[i] >= 0);
        assert(trace->prompt[i] > trace->prompt[before] + trace->output[before]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* What takes long is left alone: a file, and more turns than a fuzzer has time for. */
static bool is_small(const struct traffic_plan *plan)
{
    enum { FEW = 20000 };
    double sessions = plan->duration < INFINITY ? 1 + plan->rate * plan->duration
                                                : (double)plan->count;
    return sessions * plan->turns.a < FEW;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = { 0 };
    struct trace trace = { 0 }, again;
    struct traffic_plan plan;
    struct generate_change none = { 0 };
    struct error error = { 0 };
    const char *words = arena_copy(&arena, (const char *)data, size);
    bool file = strstr(words, "lengths") != NULL;
    if (!file && !generate_read(&arena, words, &none, &plan, &trace, &error)) {
        assert(*error.what && *error.hint);
    } else if (!file && is_small(&plan)) {
        assert(generate_is(words));
        if (generate_trace(&arena, words, &trace, &error)) {
            check(&trace);
            assert(generate_trace(&arena, words, &again, &error) && again.count == trace.count);
            assert(!memcmp(again.arrival, trace.arrival, trace.count * sizeof *trace.arrival));
            assert(!memcmp(again.prompt, trace.prompt, trace.count * sizeof *trace.prompt));
        } else {
            assert(*error.what && *error.hint);
        }
    }
    arena_free(&arena);
    return 0;
}
