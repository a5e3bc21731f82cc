/* Requests, one a record or in parallel arrays, as figures over them (benchmark_parts.h).
 *
 *     request.count, .failed, .empty               answered with tokens; failed; answered without a token
 *     request.ttft.mean, .error, .p50, .p90, .p99  seconds; .error is the standard error of the mean
 *     request.tpot..., request.e2e...              time per output token of answers of two tokens and more
 *     request.input, request.output                tokens, means
 *     request.duration, .running, .most            from the first sending to the last answer; in flight on
 *                                                  average (Little's law) and at most
 *
 * What failed is counted, and enters nothing else; so do answers without a token, which have no first one. */
#include "score/benchmark_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct logged_request {
    double sent, ttft, e2e, tpot, input, output, cached;       /* NAN: not stated */
    bool failed;
    double rate, concurrency;                   /* of its load, where the file says it */
    const char *load;                           /* equal text, one load */
    const char *model;
    int line;
};

struct request_log {
    struct arena *arena;
    const char *file, *tool;
    struct logged_request *all;
    size_t count, room;
    struct error *error;
};

/* ---- documents ------------------------------------------------------------------------------------ */

/* What stands at "a.b"; NULL: nothing. */
static const struct doc *at_path(const struct doc *doc, const char *path)
{
    char key[64];
    while (doc && *path) {
        const size_t size = strcspn(path, ".");
        memcpy(key, path, size);
        key[size] = 0;
        doc = doc_get(doc, key);
        path += size + (path[size] == '.');
    }
    return doc;
}

static double number_at(const struct doc *doc, const char *path)
{
    const struct doc *value = at_path(doc, path);
    return value && value->kind == DOC_NUMBER && isfinite(value->number) ? value->number : NAN;
}

/* A number that must be one where it stands. */
static bool need_number(const struct request_log *requests, int line, const struct doc *record, const char *path,
                        bool optional, double *number)
{
    const struct doc *value = at_path(record, path);
    *number = value && value->kind == DOC_NUMBER ? value->number : NAN;
    if (isfinite(*number) || (optional && (!value || value->kind == DOC_NULL)))
        return true;
    error_set(requests->error, "%s:%d: %s is %s", requests->file, line, path,
              !value || value->kind == DOC_NULL ? "missing" : "not a number");
    return error_expected(requests->error, "a number");
}

static const char *text_at(const struct doc *doc, const char *path)
{
    const struct doc *value = at_path(doc, path);
    return value && value->kind == DOC_STRING ? value->string : NULL;
}

/* Null, false, "" and what is not there say that nothing went wrong. */
static bool says_error(const struct doc *value)
{
    return value && (value->kind == DOC_OBJECT || (value->kind == DOC_STRING && *value->string) ||
                     doc_is(value, true));
}

static struct logged_request *add_request(struct request_log *requests, int line)
{
    struct logged_request *request = arena_push(requests->arena, &requests->all, &requests->count, &requests->room,
                                         sizeof *request);
    *request = (struct logged_request){ .sent = NAN, .ttft = NAN, .e2e = NAN, .tpot = NAN, .input = NAN,
                                 .output = NAN, .cached = NAN, .rate = NAN, .concurrency = NAN, .load = "",
                                 .line = line };
    return request;
}

static void set_tpot(struct logged_request *request)
{
    if (request->output >= 2 && isfinite(request->ttft) && isfinite(request->e2e))
        request->tpot = (request->e2e - request->ttft) / (request->output - 1);
}

static bool in_order(const struct request_log *requests, const struct logged_request *request)
{
    if (request->failed || !(request->ttft < 0 || request->e2e < request->ttft))
        return true;
    error_set(requests->error, "%s:%d: a token before the request was sent, or the last before the first",
              requests->file, request->line);
    return error_expected(requests->error, "times in order: sent, first token, last token");
}

/* ---- our own: measure ------------------------------------------------------------------------------ */

static bool status_bad(const struct doc *status)
{
    if (!status || status->kind == DOC_NULL)
        return false;
    if (status->kind == DOC_NUMBER)
        return !(status->number >= 200 && status->number < 300);
    return status->kind != DOC_STRING || (strcmp(status->string, "ok") && status->string[0] != '2');
}

static const char *load_of(struct arena *arena, const struct doc *record)
{
    static const char *const keys[] = { "point", "concurrency", "rate" };
    struct buffer load = { .arena = arena };
    buffer_add(&load, "", 0);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct doc *value = doc_get(record, keys[i]);
        if (value && value->kind == DOC_NUMBER)
            buffer_print(&load, "%s %.17g ", keys[i], value->number);
        else if (value && value->kind == DOC_STRING)
            buffer_print(&load, "%s %s ", keys[i], value->string);
    }
    return load.data;
}

static bool read_own(struct request_log *requests, int line, const struct doc *record)
{
    const struct doc *chunks = doc_get(record, "chunk_times");
    double first, last, sent;
    if (doc_is(doc_get(record, "warm_up"), true))
        return true;
    struct logged_request *request = add_request(requests, line);
    request->load = load_of(requests->arena, record);
    request->model = text_at(record, "model");
    request->rate = number_at(record, "rate");
    request->concurrency = number_at(record, "concurrency");
    request->failed = says_error(doc_get(record, "error")) || status_bad(doc_get(record, "status"));
    if (!need_number(requests, line, record, "sent", false, &sent) ||
        !need_number(requests, line, record, "first", true, &first) ||
        !need_number(requests, line, record, "last", true, &last) ||
        !need_number(requests, line, record, "prompt_tokens", request->failed, &request->input) ||
        !need_number(requests, line, record, "output_tokens", request->failed, &request->output) ||
        !need_number(requests, line, record, "cached_tokens", true, &request->cached))
        return false;
    const bool listed = chunks && chunks->kind == DOC_ARRAY && chunks->first &&
                        chunks->first->kind == DOC_NUMBER && chunks->last->kind == DOC_NUMBER;
    first = isnan(first) && listed ? chunks->first->number : first;
    last = isnan(last) && listed ? chunks->last->number : last;
    request->sent = sent, request->ttft = first - sent, request->e2e = last - sent;
    set_tpot(request);
    return in_order(requests, request);
}

/* ---- AIPerf ---------------------------------------------------------------------------------------- */

static bool in_seconds(const struct request_log *requests, int line, const struct doc *metrics, const char *name,
                       double *seconds)
{
    static const struct { const char *unit; double seconds; } units[] = {
        { "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 }, { "sec", 1 },
    };
    const struct doc *metric = doc_get(metrics, name);
    const char *unit = text_at(metric, "unit");
    *seconds = NAN;
    if (!metric)
        return true;
    if (!need_number(requests, line, metric, "value", false, seconds))
        return false;
    for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++)
        if (!strcmp(units[i].unit, unit)) {
            *seconds *= units[i].seconds;
            return true;
        }
    error_set(requests->error, "%s:%d: %s is in '%.20s'", requests->file, line, name, unit ? unit : "");
    return error_expected(requests->error, "ns, us, ms or s");
}

/* What an AIPerf record says twice must agree: its TPOT, and that of its times. */
static bool agrees(const struct request_log *requests, const struct logged_request *request, double stated)
{
    if (!(fabs(request->tpot - stated) > 0.01 * stated + 1e-5))
        return true;
    error_set(requests->error, "%s:%d: inter_token_latency is %.4g s, but request_latency and "
              "time_to_first_token make %.4g s", requests->file, request->line, stated, request->tpot);
    return error_expected(requests->error, "times that agree within 1 %%");
}

static bool read_aiperf(struct request_log *requests, int line, const struct doc *record)
{
    const struct doc *metrics = doc_get(record, "metrics");
    const char *phase = text_at(record, "metadata.benchmark_phase");
    double stated;
    if (phase && strcmp(phase, "profiling"))
        return true;
    struct logged_request *request = add_request(requests, line);
    const struct doc *cancelled = at_path(record, "metadata.was_cancelled");
    request->failed = says_error(doc_get(record, "error")) || (cancelled && cancelled->boolean);
    request->sent = number_at(record, "metadata.request_start_ns") / 1e9;
    if (request->failed)
        return true;
    if (!in_seconds(requests, line, metrics, "time_to_first_token", &request->ttft) ||
        !in_seconds(requests, line, metrics, "request_latency", &request->e2e) ||
        !in_seconds(requests, line, metrics, "inter_token_latency", &stated) ||
        !need_number(requests, line, metrics, "input_sequence_length.value", true, &request->input) ||
        !need_number(requests, line, metrics, "output_sequence_length.value", true, &request->output))
        return false;
    set_tpot(request);
    return in_order(requests, request) && agrees(requests, request, stated);
}

/* ---- inference-perf -------------------------------------------------------------------------------- */

static bool read_inference_perf(struct request_log *requests, int line, const struct doc *record)
{
    const struct doc *times = at_path(record, "info.response_metrics.output_token_times");
    double start, end;
    struct logged_request *request = add_request(requests, line);
    times = times ? times : at_path(record, "info.output_token_times");
    request->failed = says_error(doc_get(record, "error"));
    if (!need_number(requests, line, record, "start_time", false, &start) ||
        !need_number(requests, line, record, "end_time", request->failed, &end))
        return false;
    request->sent = start;
    request->input = number_at(record, "info.input_tokens");
    request->output = number_at(record, "info.output_tokens");
    if (!times || times->kind != DOC_ARRAY || !times->first || times->first->kind != DOC_NUMBER ||
        times->last->kind != DOC_NUMBER)
        return true;
    request->output = isnan(request->output) ? (double)times->count : request->output;
    request->ttft = times->first->number - start;
    request->e2e = times->last->number - start;
    set_tpot(request);
    return in_order(requests, request);
}

/* ---- genai-perf, raw --------------------------------------------------------------------------------- */

/* A chunk that carries text: not the role alone, not the end. */
static bool carries_text(const char *chunk)
{
    static const char key[] = "\"content\":", text[] = "\"text\":";
    for (const char *at = chunk; at && (at = strstr(at, "\":")) != NULL; at += 2) {
        const bool content = at - chunk >= 8 && !strncmp(at - 8, key, sizeof key - 1);
        const bool plain = at - chunk >= 5 && !strncmp(at - 5, text, sizeof text - 1);
        const char *value = at + 2 + strspn(at + 2, " ");
        if ((content || plain) && value[0] == '"' && value[1] != '"')
            return true;
    }
    return false;
}

static bool read_raw_request(struct request_log *requests, int line, const struct doc *record, double rate,
                             double concurrency)
{
    const struct doc *times = doc_get(record, "response_timestamps");
    const struct doc *outputs = doc_get(record, "response_outputs");
    double sent, first = NAN, last = NAN;
    struct logged_request *request = add_request(requests, line);
    request->rate = rate, request->concurrency = concurrency, request->output = 0;
    if (!need_number(requests, line, record, "timestamp", false, &sent))
        return false;
    const struct doc *time = times && times->kind == DOC_ARRAY ? times->first : NULL;
    const struct doc *output = outputs && outputs->kind == DOC_ARRAY ? outputs->first : NULL;
    for (; time && output; time = time->next, output = output->next) {
        const char *chunk = text_at(output, "response");
        if (time->kind != DOC_NUMBER || !chunk || !carries_text(chunk))
            continue;
        first = isnan(first) ? time->number : first;
        last = time->number;
        request->output++;
    }
    request->failed = says_error(doc_get(record, "error"));
    request->sent = sent / 1e9, request->ttft = (first - sent) / 1e9, request->e2e = (last - sent) / 1e9;
    set_tpot(request);
    return in_order(requests, request);
}

static bool read_raw(struct request_log *requests, int line, const struct doc *file)
{
    const struct doc *all = doc_get(file, "experiments");
    (void)line;
    for (const struct doc *one = all->first; one; one = one->next) {
        const char *mode = text_at(one, "experiment.mode");
        const double value = number_at(one, "experiment.value");
        const struct doc *list = doc_get(one, "requests");
        const size_t from = requests->count;
        for (const struct doc *record = list && list->kind == DOC_ARRAY ? list->first : NULL; record;
             record = record->next)
            if (!read_raw_request(requests, record->kind == DOC_OBJECT ? (int)record->number : 0, record,
                                  mode && !strcmp(mode, "request_rate") ? value : NAN,
                                  mode && !strcmp(mode, "concurrency") ? value : NAN))
                return false;
        for (size_t i = from; i < requests->count; i++)
            requests->all[i].load = arena_print(requests->arena, "%s %.17g", mode ? mode : "", value);
    }
    return true;
}

/* ---- figures ----------------------------------------------------------------------------------------- */

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / (double)count : NAN;
}

static double error_of(const double *values, size_t count)
{
    const double mean = mean_of(values, count);
    double square = 0;
    for (size_t i = 0; i < count; i++)
        square += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? sqrt(square / (double)(count - 1) / (double)count) : NAN;
}

static void add_figure(struct records *records, const char *name, double *values, size_t count)
{
    static const struct { const char *name; double share; } ranks[] = {
        { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 },
    };
    if (!count)
        return;
    record_number(records, arena_print(records->arena, "request.%s.mean", name), mean_of(values, count));
    record_number(records, arena_print(records->arena, "request.%s.error", name), error_of(values, count));
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        record_number(records, arena_print(records->arena, "request.%s.%s", name, ranks[i].name),
                      sizes_quantile(values, count, ranks[i].share));
}

static const char tools_own[] = "chalkline measure";

struct members {
    const struct logged_request **list;                    /* that were answered with a token */
    size_t count, failed, empty;
    bool steady;                                    /* without those that ended after the last was sent */
    double *values;                                 /* room for `count` */
};

static size_t gather_times(const struct members *members, size_t offset)
{
    size_t count = 0;
    for (size_t i = 0; i < members->count; i++) {
        double value;
        memcpy(&value, (const char *)members->list[i] + offset, sizeof value);
        if (isfinite(value))
            members->values[count++] = value;
    }
    return count;
}

static double total(const struct members *members, size_t offset)
{
    const size_t count = gather_times(members, offset);
    return count ? mean_of(members->values, count) * (double)count : NAN;
}

/* In flight at most: +1 where one is sent, -1 where it ends; an end before a sending of the same time. */
struct flight_event { double time; int step; };

static int by_time(const void *a, const void *b)
{
    const struct flight_event *one = a, *other = b;
    return one->time != other->time ? (one->time > other->time) - (one->time < other->time)
                                    : one->step - other->step;
}

static void add_flight(struct arena *arena, struct records *records, const struct members *members)
{
    struct flight_event *events = arena_array(arena, 2 * members->count + 1, sizeof *events);
    size_t count = 0;
    int now = 0, most = 0;
    double busy = 0;
    for (size_t i = 0; i < members->count; i++) {
        const struct logged_request *request = members->list[i];
        if (!isfinite(request->sent) || !isfinite(request->e2e))
            return;
        events[count++] = (struct flight_event){ request->sent, 1 };
        events[count++] = (struct flight_event){ request->sent + request->e2e, -1 };
        busy += request->e2e;
    }
    qsort(events, count, sizeof *events, by_time);
    for (size_t i = 0; i < count; i++) {
        now += events[i].step;
        most = now > most ? now : most;
    }
    const double duration = count ? events[count - 1].time - events[0].time : 0;
    if (!(duration > 0))
        return;
    record_number(records, "request.duration", duration);
    record_number(records, "request.running", busy / duration);
    record_number(records, "request.most", most);
    if (members->steady)                            /* tokens of other requests came meanwhile */
        return;
    record_number(records, "request.rate", (double)members->count / duration);
    record_number(records, "request.output_rate",
                  total(members, offsetof(struct logged_request, output)) / duration);
}

static void add_figures(struct arena *arena, struct records *records, const struct members *members)
{
    static const struct { const char *name; size_t offset; } figures[] = {
        { "ttft", offsetof(struct logged_request, ttft) }, { "tpot", offsetof(struct logged_request, tpot) },
        { "e2e", offsetof(struct logged_request, e2e) },
    };
    record_number(records, "request.count", (double)members->count);
    record_number(records, "request.failed", (double)members->failed);
    record_number(records, "request.empty", (double)members->empty);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        add_figure(records, figures[i].name, members->values, gather_times(members, figures[i].offset));
    const double count = (double)members->count, input = total(members, offsetof(struct logged_request, input));
    record_number(records, "request.input", input / count);
    record_number(records, "request.output", total(members, offsetof(struct logged_request, output)) / count);
    record_number(records, "request.hit_share", total(members, offsetof(struct logged_request, cached)) / input);
    add_flight(arena, records, members);
}

/* Without the requests of a closed loop that ended when no further one was sent, so that fewer were in flight
 * beside them; with all where only a handful is left. */
static void keep_steady(struct members *members)
{
    enum { HANDFUL = 3 };
    double last = -INFINITY;
    size_t kept = 0;
    for (size_t i = 0; i < members->count; i++)
        last = fmax(last, members->list[i]->sent);
    for (size_t i = 0; i < members->count; i++)
        kept += members->list[i]->sent + members->list[i]->e2e <= last;
    if (kept < HANDFUL || kept == members->count)
        return;
    members->steady = true;
    kept = 0;
    for (size_t i = 0; i < members->count; i++)
        if (members->list[i]->sent + members->list[i]->e2e <= last)
            members->list[kept++] = members->list[i];
    members->count = kept;
}

/* The requests of one load: those from `first` on with its text. */
static void gather_load(const struct request_log *requests, size_t first, struct members *members)
{
    const char *load = requests->all[first].load;
    const size_t most = requests->count - first;
    *members = (struct members){ .list = arena_array(requests->arena, most, sizeof *members->list),
                                 .values = arena_array(requests->arena, most, sizeof(double)) };
    for (size_t i = first; i < requests->count; i++) {
        const struct logged_request *request = &requests->all[i];
        if (strcmp(request->load, load))
            continue;
        const bool empty = request->output == 0;
        members->failed += request->failed;
        members->empty += !request->failed && empty;
        if (!request->failed && !empty)
            members->list[members->count++] = request;
    }
    if (requests->tool && !strcmp(requests->tool, tools_own))
        keep_steady(members);
}

static bool told_before(const struct request_log *requests, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!strcmp(requests->all[i].load, requests->all[at].load))
            return true;
    return false;
}

static bool write_loads(const struct request_log *requests, struct records *records)
{
    enum { LOADS_MOST = 1000 };
    size_t loads = 0;
    for (size_t i = 0; i < requests->count; i++) {
        const struct logged_request *first = &requests->all[i];
        struct members members;
        if ((i && !strcmp(first->load, first[-1].load)) || told_before(requests, i))
            continue;
        if (++loads > LOADS_MOST)
            return error_set(requests->error, "%s: more than %d loads", requests->file, LOADS_MOST) ||
                   error_expected(requests->error, "a file of one run");
        gather_load(requests, i, &members);
        record_add(records, first->line);
        record_set(records, "request.tool", requests->tool);
        if (first->model)
            record_set(records, "request.model", first->model);
        record_number(records, "request.offered_rate", first->rate);
        record_number(records, "request.concurrency", first->concurrency);
        add_figures(requests->arena, records, &members);
    }
    return true;
}

/* ---- files ------------------------------------------------------------------------------------------- */

static const struct {
    const char *tool;
    const char *paths[3];                           /* what its records have */
    bool (*read)(struct request_log *requests, int line, const struct doc *record);
} tools[] = {
    { tools_own, { "sent", "output_tokens", "prompt_tokens" }, read_own },
    { "AIPerf", { "metadata.request_start_ns", "metrics", "metadata.benchmark_phase" }, read_aiperf },
    { "inference-perf", { "scheduled_time", "start_time", "info" }, read_inference_perf },
    { "genai-perf", { "service_kind", "experiments", "experiments" }, read_raw },
};

static int tool_of(const struct doc *record)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (at_path(record, tools[i].paths[0]) && at_path(record, tools[i].paths[1]) &&
            at_path(record, tools[i].paths[2]))
            return (int)i;
    return -1;
}

bool requests_told(const struct doc *first)
{
    return tool_of(first) >= 0;
}

bool requests_read(const char *file, struct doc *const *docs, size_t count, struct records *records,
                   struct error *error)
{
    struct request_log requests = { .arena = records->arena, .file = file, .error = error };
    const int tool = tool_of(docs[0]);
    requests.tool = tools[tool].tool;
    for (size_t i = 0; i < count; i++) {
        const int line = docs[i]->kind == DOC_OBJECT ? (int)docs[i]->number : 0;
        if (tool_of(docs[i]) != tool) {
            error_set(error, "%s:%d: not a record of %s, as the first is", file, line, requests.tool);
            return error_expected(error, "%s, %s and %s in each", tools[tool].paths[0], tools[tool].paths[1],
                                  tools[tool].paths[2]);
        }
        if (!tools[tool].read(&requests, line, docs[i]))
            return false;
    }
    if (!requests.count)
        return error_set(error, "%s: no requests but those of a warm-up", file) ||
               error_expected(error, "one request at least behind the warm-up");
    return write_loads(&requests, records);
}

static const struct doc *array_at(const struct doc *result, const char *key)
{
    const struct doc *array = doc_get(result, key);
    return array && array->kind == DOC_ARRAY ? array : NULL;
}

static double sum_of(const struct doc *array)
{
    double sum = 0;
    const struct doc *kid = array && array->kind == DOC_ARRAY ? array->first : NULL;
    for (; kid; kid = kid->next)
        sum += kid->kind == DOC_NUMBER ? kid->number : 0;
    return sum;
}

static double value_of(const struct doc **array)
{
    const double value = *array && (*array)->kind == DOC_NUMBER ? (*array)->number : NAN;
    *array = *array ? (*array)->next : NULL;
    return value;
}

static bool same_counts(const char *file, const struct doc *result, struct error *error)
{
    static const char *const keys[] = { "ttfts", "itls", "input_lens", "output_lens", "errors", "start_times" };
    for (size_t i = 1; i < sizeof keys / sizeof *keys; i++) {
        const struct doc *one = array_at(result, keys[0]), *other = array_at(result, keys[i]);
        if (!other || other->count == one->count)
            continue;
        error_set(error, "%s:%d: %zu ttfts and %zu %s", file, (int)result->number, one->count, other->count,
                  keys[i]);
        return error_expected(error, "one of each for every request");
    }
    return true;
}

bool requests_beside(const char *file, const struct doc *result, struct records *records, struct error *error)
{
    const struct doc *ttfts = array_at(result, "ttfts"), *itls = array_at(result, "itls");
    const struct doc *outputs = array_at(result, "output_lens");
    if (!ttfts || !itls || !outputs || !ttfts->count)
        return true;
    if (!same_counts(file, result, error))
        return false;
    struct request_log requests = { .arena = records->arena, .file = file, .error = error };
    const struct doc *inputs = array_at(result, "input_lens"), *starts = array_at(result, "start_times");
    const struct doc *errors = array_at(result, "errors");
    const struct doc *ttft = ttfts->first, *input = inputs ? inputs->first : NULL, *output = outputs->first;
    const struct doc *start = starts ? starts->first : NULL, *one = errors ? errors->first : NULL;
    for (const struct doc *gaps = itls->first; gaps; gaps = gaps->next) {
        struct logged_request *request = add_request(&requests, (int)result->number);
        request->ttft = value_of(&ttft);
        request->input = value_of(&input), request->output = value_of(&output);
        request->sent = value_of(&start);
        request->e2e = request->ttft + sum_of(gaps);
        request->failed = says_error(one) || !isfinite(request->ttft);
        one = one ? one->next : NULL;
        set_tpot(request);
    }
    struct members members;
    gather_load(&requests, 0, &members);
    add_figures(records->arena, records, &members);
    return true;
}
