/* --training-rows: what a router saw of a replica when it sent each request, beside the times that came of it, in the form that
 * llm-d's latency predictor learns from.
 *
 * Source of the form: llm-d/llm-d-latency-predictor, training_server.py at 147d369. There a request runs from when it is
 * sent, so that those that wait are among those that run. */
#include "ask/simulate/simulate.h"

#include <math.h>
#include <stdlib.h>

struct sent {
    double now;
    size_t replica, waiting, running, blocks_used;
    bool seen;
};

struct training_rows {
    struct arena *arena;
    struct sent *sent;              /* [requests] */
    uint32_t *order;                /* in which they were sent, the first time each */
    size_t count;
};

struct training_rows *training_rows_open(struct arena *arena, size_t requests)
{
    struct training_rows *rows = arena_alloc(arena, sizeof *rows);
    *rows = (struct training_rows){ .arena = arena, .sent = arena_array(arena, requests + 1, sizeof *rows->sent),
                                    .order = arena_array(arena, requests + 1, sizeof *rows->order) };
    return rows;
}

void training_rows_sent(struct training_rows *rows, uint32_t id, size_t replica, double now, const struct sim_sample *seen)
{
    if (rows->sent[id].seen)        /* sent again, since its replica failed */
        return;
    rows->sent[id] = (struct sent){ now, replica, seen->waiting, seen->running, seen->blocks_used, true };
    rows->order[rows->count++] = id;
}

/* Tokens of the prompts, and of the answers so far, of the requests on the same replica that have not ended. */
static void in_flight(const struct training_rows *rows, const struct simulated *outcome, size_t at, double *prompts, double *answers,
                      uint32_t *open, size_t *open_count)
{
    const struct sent *sent = &rows->sent[rows->order[at]];
    const struct sim_result *result = &outcome->result;
    size_t kept = 0;
    *prompts = *answers = 0;
    for (size_t i = 0; i < *open_count; i++) {
        const uint32_t id = open[i];
        const double first = result->first_token[id], last = result->completed[id], output = outcome->trace.output[id];
        if (last >= 0 && last <= sent->now)
            continue;
        open[kept++] = id;
        if (rows->sent[id].replica != sent->replica)
            continue;
        *prompts += outcome->trace.prompt[id];
        if (first >= 0 && first <= sent->now && last > first)
            *answers += floor(1 + (output - 1) * (sent->now - first) / (last - first));
    }
    open[kept++] = rows->order[at];
    *open_count = kept;
}

void training_rows_write(const struct training_rows *rows, const struct simulated *outcome, double blocks, FILE *file)
{
    const struct sim_result *result = &outcome->result;
    uint32_t *open = arena_array(rows->arena, rows->count + 1, sizeof *open);
    size_t open_count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const uint32_t id = rows->order[i];
        const struct sent *sent = &rows->sent[id];
        const double first = result->first_token[id], last = result->completed[id], prompt = outcome->trace.prompt[id];
        const uint32_t output = outcome->trace.output[id];
        double prompts, answers;
        in_flight(rows, outcome, i, &prompts, &answers, open, &open_count);
        if (!(last >= 0))           /* never answered */
            continue;
        fprintf(file, "{\"kv_cache_percentage\": %.6f, \"input_token_length\": %.0f, \"num_request_waiting\": %zu, \"num_request_running\": %zu,"
                " \"num_tokens_generated\": %u, \"actual_ttft_ms\": %.6f, \"actual_tpot_ms\": %.6f, \"prefix_cache_score\": %.6f,"
                " \"pod_type\": \"\", \"prefill_tokens_in_flight\": %.0f, \"decode_tokens_in_flight\": %.0f}\n",
                blocks > 0 ? (double)sent->blocks_used / blocks : 0, prompt, sent->waiting, sent->waiting + sent->running, output,
                1e3 * (first - result->arrival[id]), output > 1 ? 1e3 * (last - first) / (output - 1) : 0,
                result->cached && prompt > 0 ? result->cached[id] / prompt : 0, prompts, answers);
    }
}
