/* What the counters, gauges and histograms of an engine say of its load.
 *
 * Everything is a difference between two scrapes, or the sum since the start of the server where there is
 * one. Engines and data-parallel ranks are summed. Means are sums over counts, never from buckets, which are
 * too coarse. Where the same can be read in two ways, the one that lags less comes first. A counter that fell
 * between the scrapes tells of a restart: then the second scrape counts alone.
 *
 * Every value is checked before any is used. A replica with a value that no server can have is left out of both
 * scrapes, as all of its values are in doubt; if it is the only one, load_read fails. NaN is no value: engines
 * report it where nothing was observed yet. */
#include "meter/watch/load.h"

#include "rows/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- differences ------------------------------------------------------------------------------ */

struct metrics_reader {
    struct arena *arena;
    const struct exposition *now, *since;
    const struct engine *engine;
    double span;
    bool several;                   /* engines: their series are told apart */
};

/* What a counter grew by, over its series; NAN: there is none. Where there are several engines one that has
 * restarted, or come, counts from its start, and one that has gone no more. */
static double grown(const struct metrics_reader *reading, const char *names)
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
static double mean_of(const struct metrics_reader *reading, const char *names)
{
    if (!names)
        return NAN;
    const double sum = grown(reading, with_end(reading->arena, names, "_sum"));
    const double count = grown(reading, with_end(reading->arena, names, "_count"));
    return count > 0 ? sum / count : NAN;
}

static struct seen_quantity given(const struct metrics_reader *reading, double value, const char *source, const char *absent)
{
    if (value < 0)
        return (struct seen_quantity){ NAN, "the counters do not fit: less is counted than before" };
    return isfinite(value) ? (struct seen_quantity){ value, arena_print(reading->arena, "%.*s", (int)strcspn(source, "|"), source) }
                           : (struct seen_quantity){ NAN, absent };
}

/* ---- values that no server can have ------------------------------------------------------------ */

static const double TOKENS_MOST = 1e7;      /* of a request, as --isl takes them */

/* A label that has a number. */
static bool check_label(const struct sample *sample, const char *name, double most, const char *expected,
                        struct error *error)
{
    const char *text = sample_label(sample, name);
    double number;
    if (!text || !text_number(text_of(text), &number) || (number >= 0 && number <= most))
        return true;
    error_set(error, "the label %s of %.200s is %.60s", name, sample->name, text);
    return error_expected(error, "%s", expected);
}

/* "vllm:num_requests_running{engine=\"1\"}", of the labels that tell replicas apart. */
static const char *series_name(struct arena *arena, const struct sample *sample)
{
    struct buffer out = { .arena = arena };
    buffer_print(&out, "%s", sample->name);
    for (size_t i = 0; i < sample->label_count; i++)
        buffer_print(&out, "%s%s=\"%.60s\"%s", i ? "," : "{", sample->labels[i].name, sample->labels[i].value,
                     i + 1 == sample->label_count ? "}" : "");
    return out.data;
}

static bool check_sample(struct arena *arena, const struct engine *engine, const struct sample *sample,
                         struct error *error)
{
    struct metric_limit limit;
    if (isnan(sample->value))
        return true;
    if (metrics_limit(engine, sample->name, &limit) && !(sample->value >= 0 && sample->value <= limit.most)) {
        error_set(error, "%s is %s", series_name(arena, sample), quantity_text(arena, sample->value, unit_one, 6));
        return error_expected(error, "%s", limit.expected);
    }
    if (engine->info && !strcmp(sample->name, engine->info) &&
        (!check_label(sample, "gpu_memory_utilization", 1, "a share from 0 to 1", error) ||
         !check_label(sample, "block_size", 1e6, "tokens of a block, from 1 to 1e6", error) ||
         !check_label(sample, "num_gpu_blocks", 1e12, "a number of blocks up to 1e12", error)))
        return false;
    return strncmp(sample->name, engine->begins, strlen(engine->begins)) ||
           check_label(sample, "tp_rank", 1e5, "a rank from 0 to 1e5", error);
}

static bool is_replica(const struct engine *engine, const struct sample *sample)
{
    return engine->running && !engine->running_label && !strcmp(sample->name, engine->running);
}

/* Has the sample all labels of a replica's gauge, but for the rank? */
static bool belongs(const struct sample *sample, const struct sample *replica)
{
    for (size_t i = 0; i < replica->label_count; i++) {
        const struct metric_label *label = &replica->labels[i];
        const char *value = is_rank_label(label->name) ? label->value : sample_label(sample, label->name);
        if (!value || strcmp(value, label->value))
            return false;
    }
    return replica->label_count > 0;
}

static struct exposition without(struct arena *arena, const struct exposition *from, const struct sample *replica)
{
    struct exposition kept = { 0 };
    for (size_t i = 0; i < from->count; i++)
        if (!belongs(&from->samples[i], replica))
            exposition_add(arena, &kept, &from->samples[i]);
    return kept;
}

/* Samples of the gauge of running requests: one for each engine. */
static size_t count_engines(const struct exposition *exposition, const struct engine *engine)
{
    size_t count = 0;
    for (size_t i = 0; i < exposition->count; i++)
        count += is_replica(engine, &exposition->samples[i]);
    return count;
}

/* Leave the replica of a bad sample out of both scrapes. False if its labels do not tell which it is, or if no
 * other would be left. */
static bool leave_out(struct arena *arena, const struct engine *engine, const struct sample *bad,
                      const struct exposition *within, struct exposition *now, struct exposition *since)
{
    const struct sample *replica = NULL;
    for (size_t i = 0; i < within->count && !replica; i++)
        if (is_replica(engine, &within->samples[i]) && belongs(bad, &within->samples[i]))
            replica = &within->samples[i];
    if (!replica)
        return false;
    *now = without(arena, now, replica);
    *since = without(arena, since, replica);
    return count_engines(now, engine) > 0;
}

static bool check_scrapes(struct arena *arena, const char *file, struct exposition *now, struct exposition *since,
                          struct load *load, struct error *error)
{
    struct exposition *const both[] = { now, since };
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k]->count;) {
            struct error bad;
            if (check_sample(arena, load->engine, &both[k]->samples[i], &bad)) {
                i++;
                continue;
            }
            if (!leave_out(arena, load->engine, &both[k]->samples[i], both[k], now, since)) {
                load->impossible = true;
                error_set(error, "%s: %s", k ? "--since" : file, bad.what);
                return error_hint_of(error, &bad);
            }
            if (!load->left_out++)
                load->left_out_why = arena_print(arena, "%s%s, not %s", k ? "before, " : "", bad.what, bad.hint);
            i = 0;                                  /* the samples have moved */
        }
    return true;
}

/* ---- quantities ------------------------------------------------------------------------------- */

static double gauge(const struct exposition *of, const char *names, const char *label)
{
    return names && of ? exposition_sum(of, names, label) : NAN;
}

static double in_flight(const struct metrics_reader *reading, const struct exposition *of)
{
    const struct engine *engine = reading->engine;
    const double running = gauge(of, engine->running, engine->running_label),
    waiting = gauge(of, engine->waiting, engine->waiting_label);
    return (isnan(running) ? 0 : running) + (isnan(waiting) ? 0 : waiting);
}

/* Finished requests, and those that are there more than before. */
static struct seen_quantity arrival_rate(const struct metrics_reader *reading)
{
    const struct engine *engine = reading->engine;
    const double finished = grown(reading, engine->finished);
    const double more = in_flight(reading, reading->now) - (reading->since ? in_flight(reading, reading->since) : 0);
    if (!engine->finished || isnan(finished))
        return (struct seen_quantity){ NAN, "the engine counts no requests" };
    if (!(reading->span > 0))
        return (struct seen_quantity){ NAN, "the time that the sums are of is not known: --since FILE --seconds T" };
    if (finished + more < 0)
        return (struct seen_quantity){ NAN, "more requests have left than have finished: they were aborted, or the counters do not fit" };
    return given(reading, (finished + more) / reading->span, engine->finished, "");
}

/* By the histogram of finished requests, or tokens over requests. */
static struct seen_quantity mean_length(const struct metrics_reader *reading, const char *histogram, const char *tokens)
{
    double mean = mean_of(reading, histogram);
    const char *source = histogram;
    if (!isfinite(mean)) {
        const double finished = grown(reading, reading->engine->finished);
        mean = finished > 0 ? grown(reading, tokens) / finished : NAN;
        source = tokens;
    }
    if (mean < 0 || mean > TOKENS_MOST)
        return (struct seen_quantity){ NAN, "the mean of the counts is not between 0 and 1e7 tokens" };
    if (isfinite(mean))
        return given(reading, mean, source, "");
    return (struct seen_quantity){ NAN, tokens && !reading->engine->finished ? "the engine counts no requests"
                                                                   : "no request has finished" };
}

/* Running on average, by Little's law of the gaps between tokens: their sum over the time. */
static struct seen_quantity running(const struct metrics_reader *reading)
{
    const struct engine *engine = reading->engine;
    const char *sums = engine->gaps ? with_end(reading->arena, engine->gaps, "_sum") : engine->gap_time;
    const double busy = sums ? grown(reading, sums) : NAN;
    if (reading->since && reading->span > 0 && isfinite(busy))
        return given(reading, busy / reading->span, sums, "");
    return given(reading, gauge(reading->now, engine->running, engine->running_label),
                 engine->running ? engine->running : "", "the engine does not tell");
}

static struct seen_quantity ratio(const struct metrics_reader *reading, const char *part, const char *whole, double most,
                         const char *absent)
{
    const double of = grown(reading, whole), some = grown(reading, part);
    if (of > 0 && (some < 0 || some / of > most))
        return (struct seen_quantity){ NAN, "more is counted of a part than of the whole" };
    return of > 0 ? given(reading, some / of, part, absent) : (struct seen_quantity){ NAN, absent };
}

static struct seen_quantity hit_share(const struct metrics_reader *reading)
{
    const struct engine *engine = reading->engine;
    const struct seen_quantity counted = ratio(reading, engine->hits ? engine->hits : "", engine->queried, 1,
                                      "no prefix cache is counted");
    if (isfinite(counted.value) || !engine->hit_share)
        return counted;
    return given(reading, gauge(reading->now, engine->hit_share, NULL), engine->hit_share, counted.source);
}

/* Sums of times over the time that went by. */
static double mean_in_flight(const struct metrics_reader *reading)
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
static double tokens_per_gap(const struct metrics_reader *reading)
{
    const struct engine *engine = reading->engine;
    if (!engine->drafted || !(grown(reading, engine->drafted) > 0) || !engine->gaps || !engine->ttft)
        return 1;
    const double firsts = grown(reading, with_end(reading->arena, engine->ttft, "_count"));
    const double gaps = grown(reading, with_end(reading->arena, engine->gaps, "_count"));
    const double tokens = grown(reading, engine->output_tokens) - firsts;
    return gaps > 0 && tokens >= gaps ? tokens / gaps : 1;
}

static void read_all(const struct metrics_reader *reading, struct load *load)
{
    const struct engine *engine = reading->engine;
    struct seen_quantity *seen = load->seen;
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
    seen[LOAD_WAITING] = given(reading, gauge(reading->now, engine->waiting, engine->waiting_label),
                               engine->waiting ? engine->waiting : "", "the engine does not tell");
    seen[LOAD_HIT_SHARE] = hit_share(reading);
    seen[LOAD_PREEMPTION_RATE] = isnan(preempted) ? (struct seen_quantity){ NAN, "the engine counts no preemptions" }
        : load->requests > 0 ? given(reading, preempted / load->requests, engine->preempted, "")
                             : (struct seen_quantity){ NAN, "no request has finished" };
    seen[LOAD_ACCEPTANCE] = ratio(reading, engine->accepted ? engine->accepted : "", engine->drafted, 1,
                                  "no draft tokens are counted");
    seen[LOAD_TTFT] = given(reading, mean_of(reading, engine->ttft), engine->ttft ? engine->ttft : "",
                            "no first token is timed");
    seen[LOAD_ITL] = given(reading, mean_of(reading, engine->gaps), engine->gaps ? engine->gaps : "",
                           "no gap between tokens is timed");
    if (engine->token_means && isnan(seen[LOAD_ITL].value))
        seen[LOAD_ITL] = given(reading, mean_of(reading, engine->token_means), engine->token_means, "no request has finished");
    if (engine->gap_time)
        seen[LOAD_ITL] = ratio(reading, engine->gap_time, engine->gap_count, INFINITY, "no token is timed");
    seen[LOAD_CACHE_USED] = given(reading, engine->cache_used ? exposition_mean(reading->now, engine->cache_used) : NAN,
                                  engine->cache_used ? engine->cache_used : "", "the engine does not tell");
}

/* ---- whose metrics these are ------------------------------------------------------------------ */

static const char *any_label(const struct exposition *exposition, const struct engine *engine, const char *name)
{
    for (size_t i = 0; i < exposition->count; i++) {
        const char *value = sample_label(&exposition->samples[i], name);
        if (value && !strncmp(exposition->samples[i].name, engine->begins, strlen(engine->begins)))
            return value;
    }
    return "";
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

static double rank_of(const struct sample *sample)
{
    const char *rank = sample_label(sample, "tp_rank");
    double number;
    return rank && text_number(text_of(rank), &number) ? number : NAN;
}

/* Ranks of one engine, if more than the first of them report; NAN: no label counts them. */
static double count_ranks(const struct exposition *exposition, const struct engine *engine)
{
    double most = NAN;
    for (size_t i = 0; i < exposition->count; i++)
        for (size_t j = 0; is_replica(engine, &exposition->samples[i]) && j < exposition->count; j++)
            if (is_replica(engine, &exposition->samples[j]) &&
                exposition_alike(&exposition->samples[i], &exposition->samples[j], NULL))
                most = fmax(most, rank_of(&exposition->samples[j]) - rank_of(&exposition->samples[i]) + 1);
    return most > 1 ? most : NAN;
}

/* A prefill and a decode pool both count each request: two replicas that one label tells apart by these words. */
static bool check_halves(const struct exposition *page, const char *file, const struct engine *engine, struct error *error)
{
    const char *names[] = { "prefill", "decode" }, *seen[2] = { NULL, NULL };
    for (size_t i = 0; i < page->count; i++)
        for (size_t k = 0; is_replica(engine, &page->samples[i]) && k < page->samples[i].label_count; k++)
            for (int half = 0; half < 2; half++)
                if (strstr(page->samples[i].labels[k].value, names[half]))
                    seen[half] = page->samples[i].labels[k].name;
    if (!seen[0] || !seen[1] || strcmp(seen[0], seen[1]))
        return true;
    error_set(error, "%s: the label %s tells a prefill half from a decode half, and each request counts in both", file, seen[0]);
    return error_expected(error, "the page of one half, or of a Prometheus server with --job; `plan` predicts both halves together");
}

/* Servers and their engines, by the gauge of running requests. The ranks of all engines of a server are counted through
 * where the engines are attention ranks of one group; engines that run alone each begin at rank 0. */
static void count_servers(const struct exposition *exposition, const struct engine *engine, struct load *load)
{
    const struct sample *samples = exposition->samples;
    for (size_t i = 0; i < exposition->count; i++) {
        bool known = false;
        if (!is_replica(engine, &samples[i]))
            continue;
        for (size_t j = 0; j < i && !known; j++)
            known = is_replica(engine, &samples[j]) && exposition_alike(&samples[i], &samples[j], engine->engines);
        load->engines++;
        load->servers += !known;
        load->sharing = load->sharing || (known && rank_of(&samples[i]) > 0);
        for (size_t k = 0; k < samples[i].label_count; k++)
            load->numbered = load->numbered || is_one_of(samples[i].labels[k].name, engine->engines);
    }
    load->engines = load->engines ? load->engines : 1;
    load->servers = load->servers ? load->servers : 1;
}

static bool fell(const struct metrics_reader *reading)
{
    const struct engine *engine = reading->engine;
    const char *const counters[] = { engine->finished, engine->prompt_tokens, engine->output_tokens };
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (counters[i] && grown(reading, counters[i]) < 0)
            return true;
    return exposition_sum(reading->now, "process_start_time_seconds", NULL) >
           exposition_sum(reading->since, "process_start_time_seconds", NULL);
}

static bool any_fell(const struct metrics_reader *reading)
{
    const char *counted = reading->engine->output_tokens ? reading->engine->output_tokens : reading->engine->finished;
    return counted && exposition_fell(reading->now, reading->since, counted);
}

bool load_read(struct arena *arena, const char *file, const struct exposition *now,
               const struct exposition *since, double span, struct load *load, struct error *error)
{
    const struct engine *engine = metrics_engine(arena, now);
    if (!engine) {
        error_set(error, "%s: metrics of no engine that is known", file);
        return error_expected(error, "metrics of vLLM, SGLang, TensorRT-LLM, Triton's backend of it, llama.cpp's "
                                     "server, TGI or llm-d's router");
    }
    const struct engine *before = since ? metrics_engine(arena, since) : engine;
    if (!before || strcmp(before->begins, engine->begins)) {
        error_set(error, "--since: metrics of another engine than %s", engine->name);
        return error_expected(error, "an earlier scrape of the same server");
    }
    if (!check_halves(now, file, engine, error))
        return false;
    *load = (struct load){ .engine = engine, .others = metrics_others(arena, now, engine), .span = span };
    struct exposition checked = exposition_first_ranks(arena, now), checked_since = { 0 };
    if (since)
        checked_since = exposition_first_ranks(arena, since);
    load->tensor_parallel = count_ranks(now, engine);
    count_servers(&checked, engine, load);
    if (!check_scrapes(arena, file, &checked, &checked_since, load, error))
        return false;
    now = &checked;
    since = since ? &checked_since : NULL;
    struct metrics_reader reading = { arena, now, since, engine, span, false };
    const size_t engines = count_engines(now, engine);
    load->version = any_label(now, engine, "version");
    load->model = any_label(now, engine, "model_name");
    load->role = strcmp(engine->name, "sglang") ? "" : any_label(now, engine, "engine_type");
    load->replicas = engines ? (double)engines : 1;
    load->memory_share = told(now, engine->info, "gpu_memory_utilization");
    load->block_tokens = told(now, engine->info, "block_size");
    load->blocks = told(now, engine->info, "num_gpu_blocks");
    load->scaled = since && count_engines(since, engine) != engines;
    reading.several = since && (load->replicas > 1 || load->scaled);
    if (!strcmp(engine->begins, "nv_trt_llm_"))
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
    struct seen_quantity *seen = load->seen;
    if (isnan(seen[LOAD_PROMPT].value) && prompt > 0)
        seen[LOAD_PROMPT] = (struct seen_quantity){ prompt, "--isl" };
    if (!isnan(seen[LOAD_OUTPUT].value) || !(output > 0))
        return;
    seen[LOAD_OUTPUT] = (struct seen_quantity){ output, "--osl" };
    if (isnan(load->requests) && load->output_tokens >= 0)
        load->requests = load->output_tokens / output, load->requests_derived = true;
    if (isnan(seen[LOAD_TTFT].value) && load->requests > 0 && isfinite(load->prompt_seconds))
        seen[LOAD_TTFT] = (struct seen_quantity){ load->prompt_seconds / load->requests, load->engine->prompt_time };
    if (isnan(seen[LOAD_ARRIVAL_RATE].value) && load->requests > 0 && load->span > 0)
        seen[LOAD_ARRIVAL_RATE] = (struct seen_quantity){ load->requests / load->span, "output tokens over --osl" };
}
