/* What the counters, gauges and histograms of an engine say of its load.
 *
 * Everything is a difference between two scrapes, or the sum since the start of the server where there is
 * one. Engines and data-parallel ranks are summed. Means are sums over counts, never from buckets, which are
 * too coarse. Where the same can be read in two ways, the one that lags less comes first. A counter that fell
 * between the scrapes tells of a restart: then the second scrape counts alone. */
#include "watch/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct engine engines[] = {
    { .name = "vllm", .predicted = "vllm", .mark = "vllm:", .running = "vllm:num_requests_running", .waiting = "vllm:num_requests_waiting",
      .finished = "vllm:request_success_total", .prompt_tokens = "vllm:prompt_tokens_total",
      .output_tokens = "vllm:generation_tokens_total", .prompt_lengths = "vllm:request_prompt_tokens",
      .output_lengths = "vllm:request_generation_tokens", .ttft = "vllm:time_to_first_token_seconds",
      .gaps = "vllm:inter_token_latency_seconds|vllm:time_per_output_token_seconds",
      .queried = "vllm:prefix_cache_queries_total|vllm:gpu_prefix_cache_queries_total",
      .hits = "vllm:prefix_cache_hits_total|vllm:gpu_prefix_cache_hits_total",
      .preempted = "vllm:num_preemptions_total", .drafted = "vllm:spec_decode_num_draft_tokens_total",
      .accepted = "vllm:spec_decode_num_accepted_tokens_total",
      .cache_used = "vllm:kv_cache_usage_perc|vllm:gpu_cache_usage_perc", .info = "vllm:cache_config_info" },
    { .name = "sglang", .predicted = "sglang", .mark = "sglang:", .running = "sglang:num_running_reqs", .waiting = "sglang:num_queue_reqs",
      .finished = "sglang:num_requests_total|sglang:e2e_request_latency_seconds_count",
      .prompt_tokens = "sglang:prompt_tokens_total", .output_tokens = "sglang:generation_tokens_total",
      .ttft = "sglang:time_to_first_token_seconds",
      .gaps = "sglang:inter_token_latency_seconds|sglang:time_per_output_token_seconds",
      .queried = "sglang:prompt_tokens_total", .hits = "sglang:cached_tokens_total",
      .hit_share = "sglang:cache_hit_rate", .preempted = "sglang:num_retracted_requests_total",
      .cache_used = "sglang:token_usage" },
    { .name = "trtllm", .predicted = "trtllm", .mark = "trtllm_", .running = "trtllm_num_requests_running",
      .waiting = "trtllm_num_requests_waiting",
      .finished = "trtllm_num_requests_completed_total|trtllm_request_success_total",
      .prompt_tokens = "trtllm_prompt_tokens_total", .output_tokens = "trtllm_generation_tokens_total",
      .ttft = "trtllm_time_to_first_token_seconds", .gaps = "trtllm_time_per_output_token_seconds",
      .queried = "trtllm_prompt_tokens_total", .hits = "trtllm_prompt_cached_tokens_total",
      .drafted = "trtllm_spec_decode_num_draft_tokens_total",
      .accepted = "trtllm_spec_decode_num_accepted_tokens_total", .cache_used = "trtllm_kv_cache_utilization" },
    { .name = "trtllm", .predicted = "trtllm", .mark = "nv_trt_llm_", .running = "nv_trt_llm_request_metrics",
      .running_label = "request_type=scheduled", .waiting = "nv_trt_llm_request_metrics",
      .waiting_label = "request_type=waiting" },
    { .name = "llama.cpp", .predicted = "llamacpp", .mark = "llamacpp:", .running = "llamacpp:requests_processing",
      .waiting = "llamacpp:requests_deferred", .prompt_tokens = "llamacpp:prompt_tokens_total",
      .output_tokens = "llamacpp:tokens_predicted_total", .gap_time = "llamacpp:tokens_predicted_seconds_total",
      .gap_count = "llamacpp:tokens_predicted_total", .prompt_time = "llamacpp:prompt_seconds_total" },
    { .name = "llm-d", .mark = "inference_objective_", .running = "inference_objective_running_requests",
      .finished = "inference_objective_request_total", .prompt_lengths = "inference_objective_input_tokens",
      .output_lengths = "inference_objective_output_tokens", .ttft = "inference_objective_request_ttft_seconds" },
};

/* ---- differences ------------------------------------------------------------------------------ */

struct reading {
    struct arena *arena;
    const struct exposition *now, *since;
    const struct engine *engine;
    double span;
    bool several;                   /* engines: their series are told apart */
};

/* What a counter grew by, over its series; NAN: there is none. Where there are several engines one that has
 * restarted, or come, counts from its start, and one that has gone no more. */
static double grown(const struct reading *reading, const char *names)
{
    return names ? exposition_growth(reading->now, reading->since, names, reading->several) : NAN;
}

/* "A|B" with an ending: "A_sum|B_sum". */
static const char *with_end(struct arena *arena, const char *names, const char *end)
{
    struct buffer out = { .arena = arena };
    for (const char *at = names; at;) {
        const size_t size = strcspn(at, "|");
        buffer_print(&out, "%s%.*s%s", out.size ? "|" : "", (int)size, at, end);
        at = at[size] ? at + size + 1 : NULL;
    }
    return out.data;
}

/* The mean of a histogram in the span; NAN: it has no observation, or there is none. */
static double mean_of(const struct reading *reading, const char *names)
{
    if (!names)
        return NAN;
    const double sum = grown(reading, with_end(reading->arena, names, "_sum"));
    const double count = grown(reading, with_end(reading->arena, names, "_count"));
    return count > 0 ? sum / count : NAN;
}

static struct seen given(const struct reading *reading, double value, const char *source, const char *absent)
{
    return isfinite(value) ? (struct seen){ value, arena_print(reading->arena, "%.*s", (int)strcspn(source, "|"), source) }
                           : (struct seen){ NAN, absent };
}

/* ---- quantities ------------------------------------------------------------------------------- */

static double gauge(const struct reading *reading, const struct exposition *of, const char *names, const char *label)
{
    (void)reading;
    return names && of ? exposition_sum(of, names, label) : NAN;
}

static double in_flight(const struct reading *reading, const struct exposition *of)
{
    const struct engine *engine = reading->engine;
    const double running = gauge(reading, of, engine->running, engine->running_label),
    waiting = gauge(reading, of, engine->waiting, engine->waiting_label);
    return (isnan(running) ? 0 : running) + (isnan(waiting) ? 0 : waiting);
}

/* Finished requests, and those that are there more than before. */
static struct seen arrival_rate(const struct reading *reading)
{
    const struct engine *engine = reading->engine;
    const double finished = grown(reading, engine->finished);
    const double more = in_flight(reading, reading->now) - (reading->since ? in_flight(reading, reading->since) : 0);
    if (!engine->finished || isnan(finished))
        return (struct seen){ NAN, "the engine counts no requests" };
    if (!(reading->span > 0))
        return (struct seen){ NAN, "the time that the sums are of is not known: --since FILE --seconds T" };
    return given(reading, (finished + more) / reading->span, engine->finished, "");
}

/* By the histogram of finished requests, or tokens over requests. */
static struct seen mean_length(const struct reading *reading, const char *histogram, const char *tokens)
{
    const double mean = mean_of(reading, histogram), finished = grown(reading, reading->engine->finished);
    if (isfinite(mean))
        return given(reading, mean, histogram, "");
    const double all = grown(reading, tokens);
    if (isfinite(all) && finished > 0)
        return given(reading, all / finished, tokens, "");
    return (struct seen){ NAN, tokens && !reading->engine->finished ? "the engine counts no requests"
                                                                   : "no request has finished" };
}

/* Running on average, by Little's law of the gaps between tokens: their sum over the time. */
static struct seen running(const struct reading *reading)
{
    const struct engine *engine = reading->engine;
    const char *sums = engine->gaps ? with_end(reading->arena, engine->gaps, "_sum") : engine->gap_time;
    const double busy = sums ? grown(reading, sums) : NAN;
    if (reading->since && reading->span > 0 && isfinite(busy))
        return given(reading, busy / reading->span, sums, "");
    return given(reading, gauge(reading, reading->now, engine->running, engine->running_label),
                 engine->running ? engine->running : "", "the engine does not tell");
}

static struct seen share(const struct reading *reading, const char *part, const char *whole, const char *absent)
{
    const double of = grown(reading, whole), some = grown(reading, part);
    return of > 0 ? given(reading, some / of, part, absent) : (struct seen){ NAN, absent };
}

static struct seen hit_share(const struct reading *reading)
{
    const struct engine *engine = reading->engine;
    const struct seen counted = share(reading, engine->hits ? engine->hits : "", engine->queried,
                                      "no prefix cache is counted");
    if (isfinite(counted.value) || !engine->hit_share)
        return counted;
    return given(reading, gauge(reading, reading->now, engine->hit_share, NULL), engine->hit_share, counted.source);
}

/* Sums of times over the time that went by. */
static double mean_in_flight(const struct reading *reading)
{
    const struct engine *engine = reading->engine;
    if (!reading->since || !(reading->span > 0))
        return NAN;
    if (engine->gap_time)
        return (grown(reading, engine->gap_time) + grown(reading, engine->prompt_time)) / reading->span;
    if (!engine->gaps || !engine->ttft)
        return NAN;
    return (grown(reading, with_end(reading->arena, engine->gaps, "_sum")) +
            grown(reading, with_end(reading->arena, engine->ttft, "_sum"))) / reading->span;
}

/* Every token but the first of a request ends a gap, alone or with others. */
static double tokens_per_gap(const struct reading *reading)
{
    const struct engine *engine = reading->engine;
    if (!engine->drafted || !(grown(reading, engine->drafted) > 0) || !engine->gaps || !engine->ttft)
        return 1;
    const double firsts = grown(reading, with_end(reading->arena, engine->ttft, "_count"));
    const double gaps = grown(reading, with_end(reading->arena, engine->gaps, "_count"));
    const double tokens = grown(reading, engine->output_tokens) - firsts;
    return gaps > 0 && tokens >= gaps ? tokens / gaps : 1;
}

static void read_all(const struct reading *reading, struct load *load)
{
    const struct engine *engine = reading->engine;
    struct seen *seen = load->seen;
    const double preempted = grown(reading, engine->preempted);
    load->requests = grown(reading, engine->finished);
    load->prompt_tokens = grown(reading, engine->prompt_tokens);
    load->output_tokens = grown(reading, engine->output_tokens);
    load->prompt_seconds = grown(reading, engine->prompt_time);
    load->in_flight = mean_in_flight(reading);
    load->tokens_per_gap = tokens_per_gap(reading);
    load->in_flight_growth = reading->since ? in_flight(reading, reading->now) - in_flight(reading, reading->since) : NAN;
    seen[LOAD_ARRIVAL_RATE] = arrival_rate(reading);
    seen[LOAD_PROMPT] = mean_length(reading, engine->prompt_lengths, engine->prompt_tokens);
    seen[LOAD_OUTPUT] = mean_length(reading, engine->output_lengths, engine->output_tokens);
    seen[LOAD_RUNNING] = running(reading);
    seen[LOAD_WAITING] = given(reading, gauge(reading, reading->now, engine->waiting, engine->waiting_label),
                               engine->waiting ? engine->waiting : "", "the engine does not tell");
    seen[LOAD_HIT_SHARE] = hit_share(reading);
    seen[LOAD_PREEMPTION_RATE] = isnan(preempted) ? (struct seen){ NAN, "the engine counts no preemptions" }
        : load->requests > 0 ? given(reading, preempted / load->requests, engine->preempted, "")
                             : (struct seen){ NAN, "no request has finished" };
    seen[LOAD_ACCEPTANCE] = share(reading, engine->accepted ? engine->accepted : "", engine->drafted,
                                  "no draft tokens are counted");
    seen[LOAD_TTFT] = given(reading, mean_of(reading, engine->ttft), engine->ttft ? engine->ttft : "",
                            "no first token is timed");
    seen[LOAD_ITL] = given(reading, mean_of(reading, engine->gaps), engine->gaps ? engine->gaps : "",
                           "no gap between tokens is timed");
    if (engine->gap_time)
        seen[LOAD_ITL] = share(reading, engine->gap_time, engine->gap_count, "no token is timed");
    seen[LOAD_CACHE_USED] = given(reading, gauge(reading, reading->now, engine->cache_used, NULL) /
                                  (double)load->replicas, engine->cache_used ? engine->cache_used : "",
                                  "the engine does not tell");
}

/* ---- whose metrics these are ------------------------------------------------------------------ */

static const struct engine *engine_of(const struct exposition *exposition)
{
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++)
        for (size_t i = 0; i < exposition->count; i++)
            if (!strncmp(exposition->samples[i].name, engines[e].mark, strlen(engines[e].mark)))
                return &engines[e];
    return NULL;
}

static const char *any_label(const struct exposition *exposition, const struct engine *engine, const char *name)
{
    for (size_t i = 0; i < exposition->count; i++) {
        const char *value = sample_label(&exposition->samples[i], name);
        if (value && !strncmp(exposition->samples[i].name, engine->mark, strlen(engine->mark)))
            return value;
    }
    return "";
}

/* Samples of the gauge of running requests: one for each engine. */
static size_t count_replicas(const struct exposition *exposition, const struct engine *engine)
{
    size_t count = 0;
    for (size_t i = 0; i < exposition->count; i++)
        count += engine->running && !engine->running_label &&
                 !strcmp(exposition->samples[i].name, engine->running) &&
                 (!sample_label(&exposition->samples[i], "tp_rank") ||
                  !strcmp(sample_label(&exposition->samples[i], "tp_rank"), "0"));
    return count ? count : 1;
}

/* A number that a label of the engine's settings has; NAN: none has it. */
static double told(const struct exposition *exposition, const char *info, const char *name)
{
    for (size_t i = 0; info && i < exposition->count; i++) {
        const char *value = strcmp(exposition->samples[i].name, info) ? NULL
                                                                      : sample_label(&exposition->samples[i], name);
        double number;
        if (value && text_number(text_of(value), &number) && number > 0)
            return number;
    }
    return NAN;
}

/* Ranks of one engine; NAN where no label counts them. */
static double count_ranks(const struct exposition *exposition)
{
    double most = NAN;
    for (size_t i = 0; i < exposition->count; i++) {
        const char *rank = sample_label(&exposition->samples[i], "tp_rank");
        double number;
        if (rank && text_number(text_of(rank), &number) && number >= 0 && !(number + 1 <= most))
            most = number + 1;
    }
    return most;
}

static bool fell(const struct reading *reading)
{
    const struct engine *engine = reading->engine;
    const char *const counters[] = { engine->finished, engine->prompt_tokens, engine->output_tokens };
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (counters[i] && grown(reading, counters[i]) < 0)
            return true;
    return exposition_sum(reading->now, "process_start_time_seconds", NULL) >
           exposition_sum(reading->since, "process_start_time_seconds", NULL);
}

static bool any_fell(const struct reading *reading)
{
    const char *counted = reading->engine->output_tokens ? reading->engine->output_tokens : reading->engine->finished;
    return counted && exposition_fell(reading->now, reading->since, counted);
}

bool load_read(struct arena *arena, const char *file, const struct exposition *now,
               const struct exposition *since, double span, struct load *load, struct error *error)
{
    const struct engine *engine = engine_of(now);
    if (!engine) {
        error_set(error, "%s: metrics of no engine that is known", file);
        return error_expected(error, "metrics of vLLM, SGLang, TensorRT-LLM, Triton's backend of it, llama.cpp's "
                                     "server or llm-d's router");
    }
    if (since && engine_of(since) != engine) {
        error_set(error, "--since: metrics of another engine than %s", engine->name);
        return error_expected(error, "an earlier scrape of the same server");
    }
    struct reading reading = { arena, now, since, engine, span, false };
    *load = (struct load){ .engine = engine, .span = span, .version = any_label(now, engine, "version"),
                           .model = any_label(now, engine, "model_name"), .replicas = count_replicas(now, engine) };
    load->memory_share = told(now, engine->info, "gpu_memory_utilization");
    load->block_tokens = told(now, engine->info, "block_size");
    load->blocks = told(now, engine->info, "num_gpu_blocks");
    load->tensor_parallel = count_ranks(now);
    load->scaled = since && count_replicas(since, engine) != load->replicas;
    reading.several = since && (load->replicas > 1 || load->scaled);
    if (!strcmp(engine->mark, "nv_trt_llm_"))
        load->version = "";                         /* the label is of the model's files */
    if (reading.several) {
        load->restarted = any_fell(&reading);
    } else if (since && fell(&reading)) {
        reading.since = NULL;
        reading.span = load->span = NAN;
        load->restarted = true;
    }
    read_all(&reading, load);
    return true;
}

void load_assume_lengths(struct load *load, double prompt, double output)
{
    struct seen *seen = load->seen;
    if (isnan(seen[LOAD_PROMPT].value) && prompt > 0)
        seen[LOAD_PROMPT] = (struct seen){ prompt, "--isl" };
    if (!isnan(seen[LOAD_OUTPUT].value) || !(output > 0))
        return;
    seen[LOAD_OUTPUT] = (struct seen){ output, "--osl" };
    if (isnan(load->requests) && load->output_tokens >= 0)
        load->requests = load->output_tokens / output, load->requests_derived = true;
    if (isnan(seen[LOAD_TTFT].value) && load->requests > 0 && isfinite(load->prompt_seconds))
        seen[LOAD_TTFT] = (struct seen){ load->prompt_seconds / load->requests, load->engine->prompt_time };
    if (isnan(seen[LOAD_ARRIVAL_RATE].value) && load->requests > 0 && load->span > 0)
        seen[LOAD_ARRIVAL_RATE] = (struct seen){ load->requests / load->span, "output tokens over --osl" };
}
