/* /metrics of the simulated server, under the names, types and buckets of vLLM 0.25, so that dashboards,
 * routers and autoscalers read it as they read an engine. A replica is a value of the label `engine`, as
 * a data-parallel rank is one there. Times are simulated ones. What the simulator does not know (time in
 * the queue of one request, kinds of waiting) has no series, rather than zeros. */
#include "serve/live/endpoint.h"

static const double ttft[] = { .001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10,
                               20, 40, 80, 160, 640, 2560 },
                    gap[] = { .01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20,
                              40, 80 },
                    whole[] = { .3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480,
                                960, 1920, 7680 },
                    lengths[] = { 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000,
                                  100000, 200000, 500000 },
                    steps[] = { 1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384 };
#define BOUNDS(list) list, sizeof list / sizeof *list
static const struct histogram_row {
    const char *name;
    const double *bounds;
    size_t count;
    const char *help;
} rows[HISTOGRAM_COUNT] = {
    [HISTOGRAM_TTFT] = { "time_to_first_token_seconds", BOUNDS(ttft), "From arrival to the first token." },
    [HISTOGRAM_ITL] = { "inter_token_latency_seconds", BOUNDS(gap), "Between two outputs of a request." },
    [HISTOGRAM_TPOT] = { "request_time_per_output_token_seconds", BOUNDS(gap),
                         "Mean time per output token of a finished request." },
    [HISTOGRAM_E2E] = { "e2e_request_latency_seconds", BOUNDS(whole), "From arrival to the last token." },
    [HISTOGRAM_DECODE] = { "request_decode_time_seconds", BOUNDS(whole), "From the first to the last token." },
    [HISTOGRAM_PROMPT] = { "request_prompt_tokens", BOUNDS(lengths), "Prompt tokens of a finished request." },
    [HISTOGRAM_GENERATION] = { "request_generation_tokens", BOUNDS(lengths),
                               "Output tokens of a finished request." },
    [HISTOGRAM_MAX_TOKENS] = { "request_params_max_tokens", BOUNDS(lengths),
                               "max_tokens of a finished request that states it." },
    [HISTOGRAM_ITERATION] = { "iteration_tokens_total", BOUNDS(steps),
                              "Tokens of a step: computed prompt tokens and generated ones." },
};

void counts_observe(struct replica_counts *counts, enum live_histogram which, double value)
{
    struct histogram *histogram = &counts->histograms[which];
    size_t at = 0;
    while (at < rows[which].count && value > rows[which].bounds[at])
        at++;
    histogram->counts[at]++;
    histogram->count++;
    histogram->sum += value;
}

static void head(struct buffer *out, const char *name, const char *kind, const char *help)
{
    buffer_print(out, "# HELP vllm:%s %s\n# TYPE vllm:%s %s\n", name, help, name, kind);
}

/* Labels that tell a replica: a server of its own, with one engine. */
static const char *labels_of(struct arena *arena, size_t replica)
{
    return replica ? arena_print(arena, "engine=\"0\",instance=\"replica-%zu\"", replica) : "engine=\"0\"";
}

static void sample(struct buffer *out, const char *model, const char *name, size_t replica,
                   const char *more, double value)
{
    buffer_print(out, "vllm:%s{%s,%smodel_name=%s} ", name, labels_of(out->arena, replica), more, model);
    buffer_number(out, value);
    buffer_print(out, "\n");
}

static void print_histogram(struct buffer *out, const char *model, enum live_histogram which,
                            const struct replica_counts *counts, size_t replica)
{
    const struct histogram *histogram = &counts->histograms[which];
    const struct histogram_row *row = &rows[which];
    const char *labels = labels_of(out->arena, replica);
    uint64_t below = 0;
    for (size_t i = 0; i <= row->count; i++) {
        below += histogram->counts[i];
        buffer_print(out, "vllm:%s_bucket{%s,le=\"", row->name, labels);
        if (i == row->count)
            buffer_print(out, "+Inf");
        else
            buffer_number(out, row->bounds[i]);
        buffer_print(out, "\",model_name=%s} %llu\n", model, (unsigned long long)below);
    }
    buffer_print(out, "vllm:%s_count{%s,model_name=%s} %llu\n", row->name, labels, model,
                 (unsigned long long)histogram->count);
    buffer_print(out, "vllm:%s_sum{%s,model_name=%s} ", row->name, labels, model);
    buffer_number(out, histogram->sum);
    buffer_print(out, "\n");
}

static void print_gauges(struct buffer *out, const char *model, const struct sim_server *server,
                         const struct live_replica *now, size_t replicas)
{
    const double ranks = server->ranks > 1 ? (double)server->ranks : 1;
    head(out, "num_requests_running", "gauge", "Requests in the running batch.");
    for (size_t i = 0; i < replicas; i++)
        sample(out, model, "num_requests_running", i, "", (double)now[i].running);
    head(out, "num_requests_waiting", "gauge", "Requests in the queue.");
    for (size_t i = 0; i < replicas; i++)
        sample(out, model, "num_requests_waiting", i, "", (double)now[i].waiting);
    if (!(server->scheduler->can & SCHEDULER_BLOCKS))
        return;
    head(out, "kv_cache_usage_perc", "gauge", "Share of the KV blocks in use, 0 to 1.");
    for (size_t i = 0; i < replicas; i++)
        sample(out, model, "kv_cache_usage_perc", i, "",
               (double)now[i].blocks_used / (ranks * (double)now[i].blocks));
    head(out, "cache_config_info", "gauge", "The KV cache: blocks and tokens of a block, as labels.");
    for (size_t i = 0; i < replicas; i++)
        buffer_print(out, "vllm:cache_config_info{block_size=\"%zu\",enable_prefix_caching=\"False\","
                     "%s,num_gpu_blocks=\"%.0f\"} 1\n",
                     server->block, labels_of(out->arena, i), ranks * (double)now[i].blocks);
}

static void print_counter(struct buffer *out, const char *model, const char *name, const char *help,
                          const struct replica_counts *counts, size_t offset, size_t replicas)
{
    head(out, name, "counter", help);
    for (size_t i = 0; i < replicas; i++)
        sample(out, model, name, i, "", (double)*(const uint64_t *)((const char *)&counts[i] + offset));
}

void counts_print(struct buffer *out, const char *model, const struct sim_server *server,
                  const struct replica_counts *counts, const struct live_replica *now, size_t replicas,
                  double started)
{
    static const char *const reasons[FINISH_COUNT] = { "finished_reason=\"stop\",",
        "finished_reason=\"length\",", "finished_reason=\"abort\"," };
    buffer_print(out, "# HELP process_start_time_seconds Start of the process, Unix time in seconds.\n"
                      "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %.3f\n", started);
    print_gauges(out, model, server, now, replicas);
    print_counter(out, model, "prompt_tokens_total", "Prompt tokens of requests that have a first token.",
                  counts, offsetof(struct replica_counts, prompt_tokens), replicas);
    print_counter(out, model, "generation_tokens_total", "Generated tokens.", counts,
                  offsetof(struct replica_counts, generation_tokens), replicas);
    print_counter(out, model, "num_preemptions_total", "Requests that had to start again.", counts,
                  offsetof(struct replica_counts, preemptions), replicas);
    head(out, "request_success_total", "counter", "Finished requests, by reason.");
    for (size_t i = 0; i < replicas; i++)
        for (int reason = 0; reason < FINISH_COUNT; reason++)
            sample(out, model, "request_success_total", i, reasons[reason],
                   (double)counts[i].finished[reason]);
    for (int which = 0; which < HISTOGRAM_COUNT; which++) {
        head(out, rows[which].name, "histogram", rows[which].help);
        for (size_t i = 0; i < replicas; i++)
            print_histogram(out, model, (enum live_histogram)which, &counts[i], i);
    }
}
