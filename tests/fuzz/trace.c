/* Any bytes as a trace: an answer or an error, never a crash, a leak or a wait. What was read
 * is replayed, if short, and every request ends. */
#include "sim/cache/prefix.h"
#include "sim/replica.h"
#include "sim/schedulers/schedulers.h"
#include "sim/traffic/trace_read.h"

#include <assert.h>
#include <math.h>

static double seconds(void *context, const struct sim_step *step)
{
    (void)context;
    return 0.01 + 1e-4 * (step->decoding + step->prompt) + 1e-7 * step->decode_cached;
}

/* When a request must come: as the trace says, and a later turn after the answer before it. */
static double asked(const struct trace *trace, const struct sim_result *result, size_t i)
{
    if (!trace->before || trace->before[i] == UINT32_MAX)
        return trace->arrival[i];
    double answered = result->completed[trace->before[i]];
    return isnan(trace->wait[i]) ? fmax(trace->arrival[i], answered) : answered + trace->wait[i];
}

static void replay(struct arena *arena, const struct trace *trace)
{
    struct sim_options options = { .replicas = 2,
                                   .server = { .max_num_seqs = 8, .chunk = 64,
                                               .batch_tokens_most = 4096, .blocks = 256,
                                               .block = 16, .watermark = 0.01,
                                               .seconds = seconds } };
    struct sim_result result;
    struct error error;
    for (size_t s = 0; s < scheduler_count; s++) {
        options.server.scheduler = schedulers[s];
        sim_set(&options.server, "cadence", 1);
        if (!sim_run(arena, trace, &options, &result, &error))
            continue;
        for (size_t i = 0; i < trace->count; i++)       /* a later turn comes in the moment of the answer */
            assert(result.arrival[i] >= asked(trace, &result, i) && result.arrival[i] <= moment_end(asked(trace, &result, i)) &&
                   result.first_token[i] >= result.arrival[i] &&
                   result.completed[i] >= result.first_token[i]);
    }
}

static void check(const struct trace *trace)
{
    assert(trace->priority_classes <= TRACE_CLASSES &&
           (!trace->priority_classes || trace->priority_class));
    for (size_t i = 0; i < trace->count; i++) {
        assert(trace->arrival[i] >= 0 && trace->arrival[i] <= TIME_MOST);
        assert(!i || trace->arrival[i] >= trace->arrival[i - 1]);
        assert(!trace->priority_class || trace->priority_class[i] < trace->priority_classes);
        assert(!trace->before || trace->before[i] < i || trace->before[i] == UINT32_MAX);
        assert(!trace->wait || isnan(trace->wait[i]) || trace->wait[i] >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { FEW = 200, LIMIT = 1 << 20 };
    struct arena arena = { 0 };
    struct trace trace;
    struct error error;
    struct text text = { (const char *)data, size };
    struct trace_lengths lengths;
    if (trace_unpack(&arena, "fuzz", text, LIMIT, &text, &error) &&
        trace_parse(&arena, "fuzz", text, 1, &trace, &error)) {
        check(&trace);
        trace_hit_ratio(&arena, &trace, 3);
        if (trace.count <= FEW)
            replay(&arena, &trace);
    }
    trace_parse_csv_lengths(&arena, "fuzz", text, &lengths, &error);
    arena_free(&arena);
    return 0;
}
