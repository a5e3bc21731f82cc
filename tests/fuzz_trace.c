/* Any bytes as a trace: an answer or an error, never a crash, a leak or a wait. What was read
 * is replayed, if short, and every request ends. */
#include "sim/prefix.h"
#include "sim/sim.h"

#include <assert.h>

static double seconds(void *context, const struct sim_step *step)
{
    (void)context;
    return 0.01 + 1e-4 * (step->decoding + step->prompt) + 1e-7 * step->decode_cached;
}

static void replay(struct arena *arena, const struct trace *trace)
{
    struct sim_options options = { .replicas = 2, .sequences_most = 8, .chunk = 64,
                                   .batch_tokens_most = 4096, .blocks = 256, .block = 16,
                                   .watermark = 0.01, .seconds = seconds };
    struct sim_result result;
    struct error error;
    for (int rules = 0; rules < RULES_COUNT; rules++) {
        options.rules = (enum rules)rules;
        if (!sim_run(arena, trace, &options, &result, &error))
            continue;
        for (size_t i = 0; i < trace->count; i++)
            assert(result.first_token[i] >= trace->arrival[i] &&
                   result.completed[i] >= result.first_token[i]);
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
    if (trace_unpack(&arena, "fuzz", text, LIMIT, &text, &error) &&
        trace_parse(&arena, "fuzz", text, 1, &trace, &error) && trace.count <= FEW) {
        trace_hit_ratio(&arena, &trace, 3);
        replay(&arena, &trace);
    }
    arena_free(&arena);
    return 0;
}
