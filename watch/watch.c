/* watch: a server's /metrics, and what follows from them.
 *
 * The load is read from the metrics alone (load.c). With --model and --on the prediction for that load says at
 * which rate the server saturates, how many replicas its arrivals need, and what its flags would change. What
 * cannot be known is listed, each with what would tell it. */
#include "watch/load.h"
#include "watch/watch.h"

#include "build/row_names.h"
#include "measure/fetch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct watch {
    struct arena *arena;
    const struct command *command;
    struct load load;
    size_t bad_lines;
    struct scenario scenario;
    bool predicted;                 /* a model and a machine were given, and the lengths are known */
    const char *not_predicted;      /* why not */
    double saturation, low, high;   /* 1/s of all replicas; its 80 % interval */
    struct doc *unknown;
};

/* ---- reading ---------------------------------------------------------------------------------- */

static bool is_url(const char *source)
{
    return !strncmp(source, "http://", 7) || !strncmp(source, "https://", 8);
}

/* A server without a path has its metrics at /metrics. */
static const char *metrics_url(struct arena *arena, const char *url)
{
    const char *host = strstr(url, "://") + 3, *path = strchr(host, '/');
    return !path || !path[1] ? arena_print(arena, "%.*s/metrics", (int)(path ? (size_t)(path - url) : strlen(url)), url)
                             : url;
}

static bool read_source(struct arena *arena, const char *source, double patience, struct text *text,
                        struct error *error)
{
    enum { LARGEST = 64 << 20 };
    return is_url(source) ? fetch_text(arena, metrics_url(arena, source), patience, text, error)
                          : file_read(arena, source, LARGEST, text, error);
}

/* Since when a server that answers now has been there; NAN: it does not tell, or a file does. */
static double lifetime(const char *source, const struct exposition *now)
{
    const double began = exposition_sum(now, "process_start_time_seconds", NULL);
    return is_url(source) ? (double)time(NULL) - began : NAN;
}

static bool read_load(struct watch *watch, struct error *error)
{
    struct arena *arena = watch->arena;
    const char *source = watch->command->words[0], *since_path = command_text(watch->command, "since");
    struct exposition *now = arena_alloc(arena, sizeof *now), *since = NULL;
    struct text text;
    size_t bad;
    double span = command_number(watch->command, "seconds");
    if (!read_source(arena, source, command_number(watch->command, "patience"), &text, error) ||
        !exposition_read(arena, source, text, now, &watch->bad_lines, error))
        return false;
    if (since_path) {
        since = arena_alloc(arena, sizeof *since);
        if (!file_read(arena, since_path, 64 << 20, &text, error) ||
            !exposition_read(arena, since_path, text, since, &bad, error))
            return false;
    } else {
        span = lifetime(source, now);
    }
    return load_read(arena, source, now, since, span, &watch->load, error);
}

/* ---- figures ---------------------------------------------------------------------------------- */

static struct doc *add_figure(struct watch *watch, struct doc *in, const char *key, double value,
                              const char *unit, const char *source)
{
    struct doc *figure = doc_add(watch->arena, in, key, DOC_OBJECT);
    doc_add_number(watch->arena, figure, "value", value);
    doc_add_string(watch->arena, figure, "unit", unit);
    if (isfinite(value)) {
        doc_add_string(watch->arena, figure, "origin", "derived");
        doc_add_string(watch->arena, figure, "source", source);
    } else {
        doc_add_string(watch->arena, figure, "reason", source);
    }
    return figure;
}

static void add_unknown(struct watch *watch, const char *what)
{
    doc_add(watch->arena, watch->unknown, NULL, DOC_STRING)->string = what;
}

static const struct quantity_row {
    const char *key, *unit, *title;
    double scale;
    const char *shown;
} quantity_rows[LOAD_COUNT] = {
    [LOAD_ARRIVAL_RATE] = { NAME_arrival_rate, "1/s", "arrivals", 1, "requests/s" },
    [LOAD_PROMPT] = { NAME_prompt_tokens, "token", "prompt", 1, "tokens" },
    [LOAD_OUTPUT] = { NAME_output_tokens, "token", "answer", 1, "tokens" },
    [LOAD_RUNNING] = { NAME_rank_running, "1", "running", 1, "requests" },
    [LOAD_WAITING] = { "waiting", "1", "waiting", 1, "requests" },
    [LOAD_HIT_SHARE] = { NAME_prefix_hit_share, "1", "prefix hits", 100, "% of prompt tokens" },
    [LOAD_PREEMPTION_RATE] = { "preemption_rate", "1", "preemptions", 100, "% of requests" },
    [LOAD_ACCEPTANCE] = { NAME_acceptance_rate, "1", "acceptance", 100, "% of draft tokens" },
    [LOAD_TTFT] = { "ttft", "s", "TTFT", 1e3, "ms, mean" },
    [LOAD_ITL] = { "itl", "s", "ITL", 1e3, "ms, mean" },
    [LOAD_CACHE_USED] = { "cache_used", "1", "KV cache", 100, "% in use" },
};

static void add_load(struct watch *watch, struct doc *doc)
{
    struct doc *load = doc_add(watch->arena, doc, "load", DOC_OBJECT);
    for (int i = 0; i < LOAD_COUNT; i++)
        add_figure(watch, load, quantity_rows[i].key, watch->load.seen[i].value, quantity_rows[i].unit,
                   watch->load.seen[i].source);
}

/* ---- what binds ------------------------------------------------------------------------------- */

/* By the counters: whoever waits while the cache has room waits for a seat. */
static const char *binding_of(const struct load *load)
{
    const double full = 0.95;
    const double waiting = load->seen[LOAD_WAITING].value, used = load->seen[LOAD_CACHE_USED].value;
    if (load->seen[LOAD_PREEMPTION_RATE].value > 0 || (waiting > 0 && used >= full))
        return "KV cache";
    if (isnan(waiting))
        return NULL;
    if (waiting >= 1 && isnan(used))
        return "seats or KV cache";
    return waiting >= 1 ? "seats" : "nothing";
}

/* ---- the prediction --------------------------------------------------------------------------- */

enum { RATE, TTFT, TPOT, LOW, HIGH, CAPACITY, PREDICTED };
static const char *const predicted_rows[PREDICTED] = {
    NAME_own_rate_most, NAME_predicted_ttft, NAME_predicted_tpot, NAME_throughput_band_low,
    NAME_throughput_band_high, NAME_saturated_throughput };

/* Lengths, hits and arrivals of one replica, where the command does not say otherwise. */
static void set_load(const struct watch *watch, struct facts *facts, double rate)
{
    const struct seen *seen = watch->load.seen;
    const struct { const char *row; double value; } found[] = {
        { NAME_prompt_tokens, fmax(1, seen[LOAD_PROMPT].value) },
        { NAME_output_tokens, fmax(1, seen[LOAD_OUTPUT].value) },
        { NAME_prefix_hit_share, seen[LOAD_HIT_SHARE].value },
        { NAME_acceptance_rate, seen[LOAD_ACCEPTANCE].value },
        { NAME_arrival_rate, rate } };
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        if (isfinite(found[i].value) && !fact_given(facts_find(facts, found[i].row)))
            facts_set(facts, found[i].row, found[i].value, ORIGIN_AXIS, "/metrics");
}

static bool predict(struct watch *watch, struct error *error)
{
    const struct seen *seen = watch->load.seen;
    struct subject subject = command_subject(watch->command);
    struct values values;
    if (!subject.model || !subject.machine) {
        watch->not_predicted = "--model and --on are needed: metrics tell neither the model nor the machine";
        return true;
    }
    if (!isfinite(seen[LOAD_PROMPT].value) || !isfinite(seen[LOAD_OUTPUT].value)) {
        watch->not_predicted = "the lengths of requests are not known";
        return true;
    }
    if (!subject.engine && strcmp(watch->load.engine->name, "llm-d"))
        subject.engine = watch->load.engine->name;
    if (!scenario_read(&watch->scenario, watch->arena, watch->command, subject, error))
        return false;
    const double rate = seen[LOAD_ARRIVAL_RATE].value / (double)watch->load.replicas;
    set_load(watch, &watch->scenario.facts, isfinite(rate) && rate > 0 ? rate : NAN);
    if (!scenario_assume(&watch->scenario, error) ||
        !scenario_choose(&watch->scenario, predicted_rows, PREDICTED, error) ||
        !values_known(&watch->scenario, predicted_rows, PREDICTED, &values, error))
        return false;
    watch->predicted = isfinite(values.at[RATE]) && values.at[RATE] > 0;
    watch->not_predicted = "the prediction has no value for this load";
    watch->saturation = values.at[RATE] * (double)watch->load.replicas;
    watch->low = watch->saturation * values.at[LOW];       /* factors */
    watch->high = watch->saturation * values.at[HIGH];
    return true;
}

/* ---- flags ------------------------------------------------------------------------------------ */

/* A flag of an engine that sets a row; it is tried at half and at twice its value. */
static const struct flag {
    const char *engine, *flag, *row;
} flag_rows[] = {
    { "vllm", "--max-num-seqs", NAME_max_num_seqs },
    { "vllm", "--max-num-batched-tokens", NAME_chunked_prefill_size },
    { "sglang", "--max-running-requests", NAME_max_num_seqs },
    { "sglang", "--chunked-prefill-size", NAME_chunked_prefill_size },
    { "trtllm", "--max_batch_size", NAME_max_num_seqs },
    { "trtllm", "--max_num_tokens", NAME_chunked_prefill_size },
};

struct change {
    const struct flag *flag;
    double from, to, at[PREDICTED];
};

static int by_throughput(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->at[CAPACITY] != y->at[CAPACITY])
        return x->at[CAPACITY] < y->at[CAPACITY] ? 1 : -1;
    const int flags = strcmp(x->flag->flag, y->flag->flag);
    return flags ? flags : (x->to > y->to) - (x->to < y->to);
}

static size_t try_flags(struct watch *watch, struct change *changes)
{
    static const double factors[] = { 0.5, 2 };
    const char *engine = watch->load.engine->name;
    size_t count = 0;
    for (size_t f = 0; f < sizeof flag_rows / sizeof *flag_rows && watch->predicted; f++)
        for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
            struct scenario trial = watch->scenario;
            struct change *change = &changes[count];
            struct values values;
            struct error ignored;
            if (strcmp(flag_rows[f].engine, engine) ||
                !value_of(&trial, flag_rows[f].row, &change->from, &ignored))
                continue;
            change->flag = &flag_rows[f];
            change->to = fmax(1, floor(factors[i] * change->from));
            trial.facts = facts_copy(&watch->scenario.facts);
            facts_set(&trial.facts, flag_rows[f].row, change->to, ORIGIN_GIVEN, flag_rows[f].flag);
            if (!values_known(&trial, predicted_rows, PREDICTED, &values, &ignored) ||
                !isfinite(values.at[CAPACITY]))
                continue;
            memcpy(change->at, values.at, sizeof change->at);
            count++;
        }
    qsort(changes, count, sizeof *changes, by_throughput);
    return count;
}

static void add_flags(struct watch *watch, const struct change *changes, size_t count, struct doc *doc)
{
    struct doc *list = doc_add(watch->arena, doc, "flags", DOC_ARRAY);
    for (size_t i = 0; i < count; i++) {
        const struct change *change = &changes[i];
        struct doc *one = doc_add(watch->arena, list, NULL, DOC_OBJECT);
        const char *none = "the server would not keep up with its arrivals";
        const char *seen = isfinite(watch->load.seen[LOAD_ARRIVAL_RATE].value) ? "predicted at the arrivals seen"
                                                                               : "predicted at the assumed load";
        doc_add_string(watch->arena, one, "flag", change->flag->flag);
        doc_add_number(watch->arena, one, "from", change->from);
        doc_add_number(watch->arena, one, "to", change->to);
        add_figure(watch, one, "throughput", change->at[CAPACITY] * (double)watch->load.replicas, "token/s",
                   "most output tokens a second, predicted");
        add_figure(watch, one, "tpot", change->at[TPOT], "s",
                   isfinite(change->at[TPOT]) ? seen : none);
        add_figure(watch, one, "ttft", change->at[TTFT], "s",
                   isfinite(change->at[TTFT]) ? seen : none);
    }
}

/* ---- the answer ------------------------------------------------------------------------------- */

static void list_unknown(struct watch *watch)
{
    const struct load *load = &watch->load;
    if (load->restarted)
        add_unknown(watch, "the server has restarted between the scrapes: these are sums since it started");
    if (!command_given(watch->command, "since"))
        add_unknown(watch, "rates of now: these are means since the server started, right only if its load was "
                           "steady; --since FILE --seconds T compares two scrapes");
    if (load->requests < 100)
        add_unknown(watch, "means of fewer than 100 finished requests are uncertain");
    if (watch->bad_lines)
        add_unknown(watch, arena_print(watch->arena, "%zu lines could not be read", watch->bad_lines));
    add_unknown(watch, "the chip, the layout and the formats: they are in no metric; --model, --on, --tp and so on");
    add_unknown(watch, "requests that were refused, and the network between clients and server");
    add_unknown(watch, "the load in an hour: it needs more than two scrapes");
}

static void add_json(struct watch *watch, const struct change *changes, size_t count, struct doc *doc)
{
    struct arena *arena = watch->arena;
    const struct load *load = &watch->load;
    const char *binding = binding_of(load);
    doc_add_string(arena, doc, "engine", load->engine->name);
    doc_add_string(arena, doc, "version", load->version);
    if (!*load->version)
        doc->last->kind = DOC_NULL;
    doc_add_string(arena, doc, "model", load->model);
    if (!*load->model)
        doc->last->kind = DOC_NULL;
    doc_add_number(arena, doc, "span_s", load->span);
    doc_add_number(arena, doc, "requests", load->requests);
    add_load(watch, doc);
    doc_add_string(arena, doc, "binding", binding ? binding : "");
    if (!binding)
        doc->last->kind = DOC_NULL;
    struct doc *rate = add_figure(watch, doc, "saturation_rate", watch->predicted ? watch->saturation : NAN, "1/s",
                                  watch->predicted ? "predicted for these lengths" : watch->not_predicted);
    if (watch->predicted && isfinite(watch->low) && isfinite(watch->high)) {
        doc_add_number(arena, rate, "low", watch->low);
        doc_add_number(arena, rate, "high", watch->high);
    }
    add_flags(watch, changes, count, doc);
    struct doc *replicas = doc_add(arena, doc, "replicas", DOC_OBJECT);
    const double arrivals = load->seen[LOAD_ARRIVAL_RATE].value;
    doc_add_number(arena, replicas, "now", watch->predicted && isfinite(arrivals)
                   ? fmax(1, ceil(arrivals / (watch->saturation / (double)load->replicas))) : NAN);
    doc_add_number(arena, replicas, "in_an_hour", NAN);
    watch->unknown = doc_add(arena, doc, "unknown", DOC_ARRAY);
    list_unknown(watch);
}

static void add_text(const struct watch *watch, const struct change *changes, size_t count, struct buffer *out)
{
    const struct load *load = &watch->load;
    const char *binding = binding_of(load);
    buffer_print(out, "%s%s%s, ", load->engine->name, *load->model ? " serving " : "", load->model);
    if (isfinite(load->span))
        buffer_print(out, "%.4g s, %.0f requests finished\n", load->span, isfinite(load->requests) ? load->requests : 0);
    else
        buffer_print(out, "since its start\n");
    for (int i = 0; i < LOAD_COUNT; i++)
        if (isfinite(load->seen[i].value))
            buffer_print(out, "  %-12s %8.4g %s\n", quantity_rows[i].title,
                         quantity_rows[i].scale * load->seen[i].value, quantity_rows[i].shown);
    if (binding)
        buffer_print(out, "  what binds: %s\n", binding);
    if (watch->predicted) {
        buffer_print(out, "  saturates at %.4g requests/s of these lengths", watch->saturation);
        if (isfinite(watch->low))
            buffer_print(out, " (80 %% interval %.4g to %.4g)", watch->low, watch->high);
        buffer_print(out, "\n");
    } else {
        buffer_print(out, "  saturation: %s\n", watch->not_predicted);
    }
    for (size_t i = 0; i < count; i++) {
        buffer_print(out, "  %s %.0f -> %.0f: at most %.4g tokens/s, ", changes[i].flag->flag,
                     changes[i].from, changes[i].to, changes[i].at[CAPACITY] * (double)load->replicas);
        if (isfinite(changes[i].at[TPOT]))
            buffer_print(out, "TPOT %.4g ms\n", 1e3 * changes[i].at[TPOT]);
        else
            buffer_print(out, "less than arrives\n");
    }
    for (const struct doc *one = watch->unknown->first; one; one = one->next)
        buffer_print(out, "  unknown: %s\n", one->string);
}

static bool ask_watch(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    struct watch *watch = arena_alloc(arena, sizeof *watch);
    struct change changes[2 * sizeof flag_rows / sizeof *flag_rows];
    *watch = (struct watch){ .arena = arena, .command = command };
    if (command->word_count != 1) {
        error_set(error, "watch needs one URL or file, %zu were given", command->word_count);
        return error_expected(error, "chalkline watch http://127.0.0.1:8000/metrics --once");
    }
    if (command_given(command, "since") != command_given(command, "seconds")) {
        error_set(error, "--since and --seconds go together");
        return error_expected(error, "--since FILE.prom --seconds 600: an earlier scrape, and how long ago it was");
    }
    if (!read_load(watch, error) || !predict(watch, error))
        return false;
    const size_t count = try_flags(watch, changes);
    add_json(watch, changes, count, answer->doc);
    add_text(watch, changes, count, &answer->text);
    return true;
}

static const struct option list[] = {
    { "once", NULL, OPTION_SWITCH, .help = "one scrape, or two with --since; the only way so far" },
    { "since", "FILE", OPTION_FILE, .help = "an earlier scrape of the same server" },
    { "seconds", "TIME", OPTION_QUANTITY, .unit = "s", .low = 1e-3, .high = 1e9, .help = "time between the two scrapes" },
    { "patience", "TIME", OPTION_QUANTITY, .unit = "s", .low = 0.1, .high = 3600, .fallback = "10s",
      .help = "longest wait for an answer" },
    { 0 } };
static const struct option_group watch_options = { "Metrics", list };

const struct verb verb_watch = {
    "watch", "URL | FILE.prom", "Read a server's /metrics: its load, what binds, where it saturates.",
    { "chalkline watch http://127.0.0.1:8000/metrics --once",
      "chalkline watch http://127.0.0.1:8000 --since before.prom --seconds 600 --model llama-3.1-8b --on h100-sxm" },
    { &watch_options, &model_options, &machine_options, &chip_options, &layout_options, &rank_options,
      &weight_options, &cache_options, &engine_options, &assume_options, &row_options, &output_options },
    .ask = ask_watch };
