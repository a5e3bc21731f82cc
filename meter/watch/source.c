/* Where readings come from (source.h). Whatever it is, a reading is text in Prometheus' format: of a Prometheus
 * server the answer of its query API is written so, with a native histogram as its sum and its count. So a
 * recording replays what was read, bit for bit, from wherever it was. */
#define _GNU_SOURCE
#include "meter/watch/source.h"

#include "meter/measure/fetch.h"
#include "meter/watch/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char recording_head[] = "# chalkline watch 1\n";

static bool is_url(const char *source)
{
    return !strncmp(source, "http://", 7) || !strncmp(source, "https://", 8);
}

static double milliseconds(double seconds)
{
    return floor(seconds * 1e3 + 0.5) / 1e3;
}

static double clock_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return milliseconds((double)time.tv_sec + 1e-9 * (double)time.tv_nsec);
}

/* ---- pages ------------------------------------------------------------------------------------- */

/* A server without a path has its metrics at /metrics. */
static const char *metrics_url(struct arena *arena, const char *url)
{
    const char *host = strstr(url, "://") + 3, *path = strchr(host, '/');
    return !path || !path[1] ? arena_print(arena, "%.*s/metrics", (int)(path ? (size_t)(path - url) : strlen(url)), url)
                             : url;
}

static bool has_line(struct text text, const char *begin)
{
    while (text.size) {
        const struct text line = text_line(&text);
        if (line.size >= strlen(begin) && !strncmp(line.data, begin, strlen(begin)))
            return true;
    }
    return false;
}

/* The first page says whether a Prometheus server is asked for its own metrics; then it is asked for those that
 * it has read. */
static bool look(struct arena *arena, const struct command *command, struct metrics_source *source, struct error *error)
{
    struct text text;
    source->url = metrics_url(arena, source->name);
    if (!fetch_text(arena, source->url, source->patience, &text, error))
        return !command_given(command, "once");
    source->fresh = text.data;
    source->fresh_size = text.size;
    source->fresh_at = clock_now();
    if (has_line(text, "prometheus_build_info") && strcmp(source->url, source->name)) {
        const char *host = strstr(source->name, "://") + 3;
        source->kind = SOURCE_PROMETHEUS;
        source->url = arena_copy(arena, source->name, (size_t)(host - source->name) + strcspn(host, "/"));
    }
    return true;
}

/* "localhost:8000", no file of that name: a server, as curl takes it. */
static bool is_host(struct arena *arena, const char *word)
{
    const char *colon = strrchr(word, ':');
    const size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    return digits && colon > word && (!colon[1 + digits] || colon[1 + digits] == '/') && !file_there(arena, word);
}

bool source_open(struct arena *arena, const struct command *command, struct metrics_source *source, struct error *error)
{
    const char *word = command->word_count ? command->words[0] : "";
    if (is_host(arena, word) && !is_url(word))
        word = arena_print(arena, "http://%s", word);
    *source = (struct metrics_source){ .kind = SOURCE_FILE, .name = word, .url = word, .job = command_text(command, "job"),
                               .patience = command_number(command, "patience") };
    if (command->word_count != 1) {
        error_set(error, "watch needs one URL or file, %zu were given", command->word_count);
        return error_expected(error, "chalkline watch http://127.0.0.1:8000/metrics --once");
    }
    if (is_url(word) && source->job) {
        source->kind = SOURCE_PROMETHEUS;
        source->url = arena_copy(arena, word, strlen(word) - (word[strlen(word) - 1] == '/'));
        return true;
    }
    if (source->job) {
        error_set(error, "--job: '%.200s' is no Prometheus server", word);
        return error_expected(error, "the URL of one, as in `%s`", command->verb->examples[2]);
    }
    if (is_url(word)) {
        source->kind = SOURCE_URL;
        return look(arena, command, source, error);
    }
    if (!file_read(arena, word, 1u << 30, &source->recording, error))
        return false;
    if (text_starts_with(source->recording, recording_head)) {
        source->kind = SOURCE_RECORDING;
        source->recording.data += strlen(recording_head);
        source->recording.size -= strlen(recording_head);
    }
    return true;
}

void source_close(struct metrics_source *source)
{
    source->fresh = NULL;
}

/* ---- a Prometheus server ------------------------------------------------------------------------ */

static void add_escaped(struct buffer *out, const char *text)
{
    for (; *text; text++)
        if ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || (*text >= '0' && *text <= '9'))
            buffer_add(out, text, 1);
        else
            buffer_print(out, "%%%02X", (unsigned char)*text);
}

/* The series of engines, without the buckets of their histograms, which nothing here reads. */
static const char *selector(struct arena *arena, const struct metrics_source *source)
{
    struct buffer plain = { .arena = arena }, out = { .arena = arena };
    buffer_print(&plain, "{__name__=~\"(%s).+%s\",__name__!~\".+_bucket\"", metrics_beginnings(arena),
                 source->job ? "|process_start_time_seconds" : "");
    if (source->job) {
        buffer_print(&plain, ",job=\"");
        for (const char *at = source->job; *at; at++)
            buffer_print(&plain, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
        buffer_print(&plain, "\"");
    }
    buffer_print(&plain, "}");
    add_escaped(&out, plain.data);
    return out.data;
}

static void write_series(struct buffer *out, const struct doc *metric, const char *end, const char *value)
{
    const struct doc *name = doc_get(metric, "__name__");
    const char *mark = "{";
    buffer_print(out, "%s%s", name && name->kind == DOC_STRING ? name->string : "", end);
    for (const struct doc *label = metric->first; label; label = label->next) {
        if (label == name || label->kind != DOC_STRING || !label->key)
            continue;
        buffer_print(out, "%s%s=\"", mark, label->key);
        for (const char *at = label->string; *at; at++)
            buffer_print(out, *at == '"' || *at == '\\' ? "\\%c" : *at == '\n' ? "\\n" : "%c", *at);
        buffer_print(out, "\"");
        mark = ",";
    }
    buffer_print(out, "%s %s\n", *mark == ',' ? "}" : "", value);
}

/* [time, "value"], or of a native histogram [time, {"count": "5", "sum": "0.3", ...}]. */
static double write_sample(struct buffer *out, const struct doc *metric, const struct doc *sample)
{
    const struct doc *time = sample->first, *value = time ? time->next : NULL;
    if (!value || time->kind != DOC_NUMBER)
        return NAN;
    if (value->kind == DOC_STRING && out) {
        write_series(out, metric, "", value->string);
    } else if (value->kind == DOC_OBJECT && out) {
        const struct doc *count = doc_get(value, "count"), *sum = doc_get(value, "sum");
        if (count && count->kind == DOC_STRING)
            write_series(out, metric, "_count", count->string);
        if (sum && sum->kind == DOC_STRING)
            write_series(out, metric, "_sum", sum->string);
    }
    return time->number;
}

static bool no_api(const struct metrics_source *source, const char *why, struct error *error)
{
    error_set(error, "%.200s: %.300s", source->name, why);
    return error_expected(error, "a Prometheus server, whose /api/v1/query answers");
}

/* The list of series that a query gives; NULL: an error. */
static const struct doc *ask(const struct metrics_source *source, struct arena *arena, const char *words, struct error *error)
{
    struct text text;
    struct doc *doc;
    struct error ignored;
    const char *url = arena_print(arena, "%s/api/v1/%s&query=%s", source->url, words, selector(arena, source));
    if (!fetch_text(arena, url, source->patience, &text, error)) {
        const char *colon = strstr(error->what, ": ");      /* behind the URL, which is long */
        no_api(source, arena_print(arena, "%s", colon ? colon + 2 : error->what), error);
        return NULL;
    }
    if (!json_read(arena, source->name, text, &doc, &ignored)) {
        no_api(source, "its answer is no JSON", error);
        return NULL;
    }
    const struct doc *result = doc_get(doc_get(doc, "data"), "result");
    if (strcmp(doc_text(doc, "status", ""), "success") || !result || result->kind != DOC_ARRAY) {
        no_api(source, doc_text(doc, "error", "its answer has no series"), error);
        return NULL;
    }
    return result;
}

static bool no_series(const struct metrics_source *source, struct error *error)
{
    error_set(error, "%.200s: no series of an engine%s%.100s", source->name, source->job ? " has the label job=" : "",
              source->job ? source->job : "");
    return error_expected(error, "the name of a scrape job of vLLM, SGLang, TensorRT-LLM, llama.cpp's server or "
                                 "llm-d's router: --job NAME");
}

static bool query_now(const struct metrics_source *source, struct arena *arena, struct scrape *scrape, struct error *error)
{
    struct buffer out = { .arena = arena };
    scrape->at = clock_now();
    const struct doc *result = ask(source, arena, arena_print(arena, "query?time=%.3f", scrape->at), error);
    if (!result)
        return false;
    for (const struct doc *series = result->first; series; series = series->next) {
        const struct doc *metric = doc_get(series, "metric"), *value = doc_get(series, "value");
        value = value ? value : doc_get(series, "histogram");
        if (metric && value)
            write_sample(&out, metric, value);
    }
    if (!out.size)
        return no_series(source, error);
    scrape->text = (struct text){ out.data, out.size };
    return true;
}

bool source_history(struct metrics_source *source, struct arena *arena, double seconds, double step,
                    struct scrape **scrapes, size_t *count, struct error *error)
{
    const double end = clock_now(), begin = end - step * floor(seconds / step);
    const size_t most = (size_t)floor(seconds / step) + 1;
    struct buffer *texts = arena_array(arena, most, sizeof *texts);
    const struct doc *result = ask(source, arena, arena_print(arena, "query_range?start=%.3f&end=%.3f&step=%.3f", begin,
                                                              end, step), error);
    *count = 0;
    if (!result)
        return false;
    for (const struct doc *series = result->first; series; series = series->next) {
        const struct doc *metric = doc_get(series, "metric"), *values = doc_get(series, "values");
        values = values ? values : doc_get(series, "histograms");
        for (const struct doc *one = metric && values ? values->first : NULL; one; one = one->next) {
            const double at = write_sample(NULL, metric, one), place = floor((at - begin) / step + 0.5);
            if (place >= 0 && place < (double)most) {
                texts[(size_t)place].arena = arena;
                write_sample(&texts[(size_t)place], metric, one);
            }
        }
    }
    *scrapes = arena_array(arena, most, sizeof **scrapes);
    for (size_t i = 0; i < most; i++)
        if (texts[i].size)
            (*scrapes)[(*count)++] = (struct scrape){ .at = milliseconds(begin + (double)i * step), .past = true,
                                                      .text = { texts[i].data, texts[i].size } };
    return *count || no_series(source, error);
}

/* ---- recordings ----------------------------------------------------------------------------------- */

void source_record(struct buffer *out, const struct scrape *scrape)
{
    if (!out->size)
        buffer_print(out, "%s", recording_head);
    if (scrape->away)
        buffer_print(out, "# at %.3f away %s\n", scrape->at, scrape->away);
    else
        buffer_print(out, "# at %.3f %s %zu\n", scrape->at, scrape->past ? "past" : "bytes", scrape->text.size);
    if (!scrape->away)
        buffer_add(out, scrape->text.data, scrape->text.size);
}

static bool bad_recording(const struct metrics_source *source, struct error *error)
{
    error_set(error, "%.200s: the recording is damaged, %zu bytes before its end", source->name,
              source->recording.size);
    return error_expected(error, "a file that `chalkline watch URL --record FILE` wrote");
}

/* A file that was cut off in its last reading has none at that time: the writer may be at work still. */
static bool next_recorded(struct metrics_source *source, struct arena *arena, struct scrape *scrape, bool *ended,
                          struct error *error)
{
    struct text line = text_line(&source->recording);
    char *head = arena_copy(arena, line.data, line.size), *rest;
    *ended = !line.size && !source->recording.size;
    if (*ended)
        return true;
    if (strncmp(head, "# at ", 5))
        return bad_recording(source, error);
    scrape->at = strtod(head + 5, &rest);
    if (!(scrape->at > 0 && scrape->at < 1e11) || *rest != ' ')         /* Unix time */
        return bad_recording(source, error);
    if (!strncmp(rest, " away ", 6)) {
        scrape->away = rest + 6;
        return true;
    }
    scrape->past = !strncmp(rest, " past ", 6);
    if (!scrape->past && strncmp(rest, " bytes ", 7))
        return bad_recording(source, error);
    const size_t size = strtoul(rest + (scrape->past ? 6 : 7), NULL, 10);
    if (size > source->recording.size) {
        source->recording.size = 0;
        scrape->away = "the recording ends in the middle of this reading";
        return true;
    }
    scrape->text = (struct text){ source->recording.data, size };
    source->recording.data += size;
    source->recording.size -= size;
    return true;
}

/* ---- readings -------------------------------------------------------------------------------------- */

static bool read_page(struct metrics_source *source, struct arena *arena, struct scrape *scrape, struct error *error)
{
    if (source->fresh) {
        *scrape = (struct scrape){ .at = source->fresh_at, .text = { source->fresh, source->fresh_size } };
        source->fresh = NULL;
        return true;
    }
    const double began = clock_now();
    const bool good = fetch_text(arena, source->url, source->patience, &scrape->text, error);
    scrape->at = milliseconds((began + clock_now()) / 2);
    return good;
}

bool source_read(struct metrics_source *source, struct arena *arena, struct scrape *scrape, struct error *error)
{
    *scrape = (struct scrape){ .at = NAN };
    if (source->kind == SOURCE_PROMETHEUS)
        return query_now(source, arena, scrape, error);
    if (source->kind == SOURCE_URL)
        return read_page(source, arena, scrape, error);
    scrape->text = source->recording;
    return true;
}

bool source_next(struct metrics_source *source, struct arena *arena, struct scrape *scrape, struct error *error)
{
    bool ended = false;
    error->what[0] = error->hint[0] = 0;
    *scrape = (struct scrape){ .at = clock_now() };
    if (source->kind == SOURCE_RECORDING)
        return next_recorded(source, arena, scrape, &ended, error) && !ended;
    if (!source_read(source, arena, scrape, error)) {
        if (!isfinite(scrape->at))
            scrape->at = clock_now();
        scrape->away = arena_copy(arena, error->what, strcspn(error->what, "\n"));
        error->what[0] = error->hint[0] = 0;
    }
    return true;
}
