/* Requests over libcurl, all in one thread.
 *
 * The time of a chunk is when the wait for sockets ended that brought it, not when its turn came to be
 * read: what this program does with the other streams is no latency of the server. A request counts from
 * when its first byte could leave, after the connection was there. What was left out is stated. Streams
 * are read as they come, whatever is in them: a line that is no event, an event that is no JSON, an end
 * before the end are errors of the request and not of the program. A stream ends at the latest with the time of all
 * requests together, or where it has far more chunks or bytes than the tokens that were asked for.
 *
 * The key goes into a header in memory, never into a URL, a file or the words of a process. */
#define _GNU_SOURCE
#include "meter/measure/client.h"
#include "meter/measure/fetch.h"

#include "base/clock.h"
#include "build/row_names.h"

#include <curl/curl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { LINE_MOST = 1 << 20, BODY_MOST = 4 << 20, HEAD_MOST = 300 };
/* Of a stream: chunks beyond twice the tokens asked; bytes, and bytes a token. */
enum { CHUNKS_MORE = 64, STREAM_MOST = 16 << 20, TOKEN_MOST = 16 << 10 };
static const double clock_most = 1e11;  /* s of a virtual clock */

/* A request in flight. */
struct http_transfer {
    struct arena arena;             /* of its body and its lines */
    struct http_transfer *next, *before;
    struct client *client;
    struct sent_request *request;
    CURL *easy;
    struct buffer line, refusal;    /* the line that comes; the body of an answer that is no stream */
    double began, heard;            /* when it was given to libcurl; the latest byte */
    size_t bytes;                   /* of its body, so far */
    bool over, finished;            /* [DONE] came; a finish reason came */
    bool events;                    /* at least one event came */
    double arrived;                 /* X-Simulated-Arrival, s; NAN: none */
};

struct client {
    struct arena *arena;
    const char *base, *model;       /* "http://host:8000/v1" without the /v1 */
    struct endpoint_way way;
    double bytes_per_token, timeout, opened, woke;
    double until;                   /* when everything ends */
    CURLM *multi;
    CURL *aside;                    /* for short questions beside the load */
    struct curl_slist *headers;
    struct http_transfer transfers;          /* head of a ring */
    size_t in_flight;
    struct sent_request **over;             /* those that ended and were not fetched yet */
    size_t over_count, over_room;
    bool is_virtual;
    double simulated;               /* the latest time of a virtual clock, s */
    struct random random;
};

double client_now(const struct client *client)
{
    return client->is_virtual ? client->simulated : clock_seconds(CLOCK_MONOTONIC) - client->opened;
}

double client_busy(const struct client *client)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    const double cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                       1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    return cpu / (clock_seconds(CLOCK_MONOTONIC) - client->opened);
}

size_t client_in_flight(const struct client *client)
{
    return client->in_flight;
}

bool client_is_virtual(const struct client *client)
{
    return client->is_virtual;
}

/* ---- opening ---------------------------------------------------------------------------------- */

static void add_header(struct client *client, const char *header, bool *good)
{
    struct curl_slist *more = curl_slist_append(client->headers, header);
    *good = *good && more;
    client->headers = more ? more : client->headers;
}

bool client_open(struct arena *arena, const char *url, const char *key, double timeout, double longest, uint64_t seed,
                 struct client **out, struct error *error)
{
    struct client *client = *out = arena_alloc(arena, sizeof *client);
    size_t size = strlen(url);
    if ((strncmp(url, "http://", 7) && strncmp(url, "https://", 8)) || strchr(url, '@')) {
        error_set(error, strchr(url, '@') ? "the URL has a user name" : "'%.100s' is not the URL of an endpoint", url);
        return error_expected(error, "http://HOST:PORT or https://HOST; a key from --key-file or CHALKLINE_API_KEY");
    }
    while (size && url[size - 1] == '/')
        size--;
    static const char *const ends[] = { "/chat/completions", "/completions", "/models", "/v1" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t end = strlen(ends[i]);
        if (size > end && !strncmp(url + size - end, ends[i], end))
            size -= end;
    }
    *client = (struct client){ .arena = arena, .base = arena_copy(arena, url, size), .timeout = timeout,
                               .opened = clock_seconds(CLOCK_MONOTONIC), .model = "", .bytes_per_token = 4 };
    client->until = client->opened + longest;
    client->transfers.next = client->transfers.before = &client->transfers;
    random_stream(&client->random, seed, "prompts", 0);
    bool good = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK && (client->multi = curl_multi_init()) &&
                (client->aside = curl_easy_init());
    if (!good)
        return error_set(error, "libcurl does not start");
    curl_multi_setopt(client->multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, 4096L);
    add_header(client, "Content-Type: application/json", &good);
    add_header(client, "Expect:", &good);
    if (key) {
        char header[600];
        snprintf(header, sizeof header, "Authorization: Bearer %s", key);
        add_header(client, header, &good);
        memset(header, 0, sizeof header);
    }
    return good || error_set(error, "libcurl has no memory");
}

void client_close(struct client *client)
{
    if (!client || !client->multi)
        return;
    client_break_off(client, "broken off");
    curl_easy_cleanup(client->aside);
    curl_multi_cleanup(client->multi);
    curl_slist_free_all(client->headers);
    curl_global_cleanup();
}

void client_set(struct client *client, const char *model, struct endpoint_way way, double bytes_per_token)
{
    client->model = model;
    client->way = way;
    client->bytes_per_token = bytes_per_token;
}

/* ---- short questions -------------------------------------------------------------------------- */

static size_t keep_body(char *data, size_t one, size_t size, void *context)
{
    struct buffer *buffer = context;
    (void)one;
    if (buffer->size + size > BODY_MOST)
        return 0;
    buffer_add(buffer, data, size);
    return size;
}

/* The body of a GET, or of a POST without one; NULL and a message for no answer, *status its status. */
static const char *ask_aside(struct client *client, const char *path, bool post, long *status,
                             const char **message)
{
    struct buffer body = { .arena = client->arena };
    char reason[CURL_ERROR_SIZE] = "";
    buffer_add(&body, "", 0);
    *status = 0;
    curl_easy_reset(client->aside);
    const double left = client->until - clock_seconds(CLOCK_MONOTONIC);
    fetch_begin(client->aside, arena_print(client->arena, "%s%s", client->base, path));
    curl_easy_setopt(client->aside, CURLOPT_HTTPHEADER, client->headers);
    curl_easy_setopt(client->aside, CURLOPT_WRITEFUNCTION, keep_body);
    curl_easy_setopt(client->aside, CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(client->aside, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(client->aside, CURLOPT_TIMEOUT_MS, (long)fmax(1e3 * fmin(client->timeout, left), 1));
    if (post)
        curl_easy_setopt(client->aside, CURLOPT_POSTFIELDS, "");
    const CURLcode code = curl_easy_perform(client->aside);
    curl_easy_getinfo(client->aside, CURLINFO_RESPONSE_CODE, status);
    if (code == CURLE_OK)
        return body.data ? body.data : "";
    *message = arena_print(client->arena, "%s", *reason ? reason : fetch_reason((int)code));
    return NULL;
}

void client_announce(struct client *client, size_t clients)
{
    const char *message;
    long status;
    if (client->is_virtual)
        ask_aside(client, arena_print(client->arena, "/clock?clients=%zu", clients), true, &status, &message);
}

/* The model of the list with this name; else the first. */
static const struct doc *listed(const struct doc *data, const char *wanted)
{
    for (const struct doc *one = data ? data->first : NULL; one && wanted; one = one->next)
        if (!strcmp(doc_text(one, "id", ""), wanted))
            return one;
    return data ? data->first : NULL;
}

static void read_clock(struct client *client)
{
    struct error error;
    struct doc *doc;
    const char *message;
    long status;
    const char *body = ask_aside(client, "/clock", false, &status, &message);
    if (!body || status != 200 || !json_read(client->arena, "/clock", text_of(body), &doc, &error))
        return;
    const struct doc *is_virtual = doc_get(doc, "virtual"), *now = doc_get(doc, "simulated_time");
    client->is_virtual = doc_is(is_virtual, true) && now && now->kind == DOC_NUMBER && now->number >= 0 && now->number < clock_most;
    if (client->is_virtual)
        client->simulated = now->number;
}

const char *client_model(struct client *client, const char *wanted, double *length_most, const char **message)
{
    struct error error;
    struct doc *doc;
    long status;
    *length_most = 0;
    read_clock(client);
    const char *body = ask_aside(client, "/v1/models", false, &status, message);
    if (!body)
        return NULL;
    if (status != 200) {
        *message = arena_print(client->arena, "GET /v1/models: HTTP status %ld", status);
        return NULL;
    }
    if (json_read(client->arena, "/v1/models", text_of(body), &doc, &error)) {
        const struct doc *one = listed(doc_get(doc, "data"), wanted);
        const struct doc *id = one ? doc_get(one, "id") : NULL, *most = one ? doc_get(one, "max_model_len") : NULL;
        if (most && most->kind == DOC_NUMBER)
            *length_most = most->number;
        if (id && id->kind == DOC_STRING)
            return id->string;
    }
    *message = "GET /v1/models: no list of models";
    return NULL;
}

/* ---- a chunk ---------------------------------------------------------------------------------- */

static bool has_text(const struct doc *text)
{
    return text && text->kind == DOC_STRING && *text->string;
}

static void set_error(struct http_transfer *transfer, const char *what)
{
    if (transfer->request->error)
        return;                                     /* the first stands */
    transfer->request->error = arena_copy(transfer->client->arena, what, strlen(what));
}

/* More than this nobody was asked for: twice the tokens, and some. */
static size_t chunks_most(const struct sent_request *request)
{
    return 2 * (size_t)request->output_asked + CHUNKS_MORE;
}

static void take_usage(struct http_transfer *transfer, const struct doc *usage)
{
    struct sent_request *request = transfer->request;
    const struct doc *prompt = doc_get(usage, NAME_prompt_tokens), *output = doc_get(usage, "completion_tokens");
    const struct doc *details = doc_get(usage, "prompt_tokens_details");
    const struct doc *cached = details && details->kind == DOC_OBJECT ? doc_get(details, "cached_tokens") : NULL;
    if (!prompt || !output || prompt->kind != DOC_NUMBER || output->kind != DOC_NUMBER ||
        !(prompt->number >= 0 && prompt->number < 1e9) || !(output->number >= 0 && output->number < 1e9))
        return;
    if (output->number > (double)chunks_most(request))
        set_error(transfer, arena_print(transfer->client->arena, "the usage counts %.0f output tokens, and %u were asked for",
                                        output->number, request->output_asked));
    request->usage = true;
    request->prompt_tokens = (uint32_t)prompt->number;
    request->output_tokens = (uint32_t)output->number;
    if (cached && cached->kind == DOC_NUMBER && cached->number >= 0 && cached->number < 1e9)
        request->cached_tokens = (uint32_t)cached->number;
}

/* The choice of a chunk: does it carry text? */
static bool take_choice(struct http_transfer *transfer, const struct doc *choice)
{
    const struct doc *delta = doc_get(choice, "delta"), *reason = doc_get(choice, "finish_reason");
    transfer->finished |= reason && reason->kind == DOC_STRING;
    if (delta && delta->kind == DOC_OBJECT)
        return has_text(doc_get(delta, "content")) || has_text(doc_get(delta, "reasoning_content")) ||
               has_text(doc_get(delta, "reasoning"));
    return has_text(doc_get(choice, "text"));
}

static void take_event(struct http_transfer *transfer, const char *data)
{
    struct sent_request *request = transfer->request;
    struct client *client = transfer->client;
    struct arena arena = { 0 };
    struct error error;
    struct doc *doc;
    transfer->events = true;
    if (!strcmp(data, "[DONE]")) {
        transfer->over = true;
        return;
    }
    if (!json_read(&arena, "a chunk", text_of(data), &doc, &error) || doc->kind != DOC_OBJECT) {
        set_error(transfer, "the stream has an event that is no JSON object");
        arena_free(&arena);
        return;
    }
    const struct doc *failed = doc_get(doc, "error"), *choices = doc_get(doc, "choices");
    const struct doc *usage = doc_get(doc, "usage"), *at = doc_get(doc, "simulated_time");
    double now = client->woke - client->opened;
    if (at && at->kind == DOC_NUMBER && !isnan(transfer->arrived)) {
        now = at->number;
        if (!(now >= fmax(transfer->arrived, request->last) && now < clock_most)) {
            set_error(transfer, "the virtual clock of the endpoint runs backwards, or beyond all times");
            arena_free(&arena);
            return;
        }
        client->simulated = fmax(client->simulated, now);
    }
    if (failed && failed->kind == DOC_OBJECT)
        set_error(transfer, doc_text(failed, "message", "the server reports an error"));
    if (usage && usage->kind == DOC_OBJECT)
        take_usage(transfer, usage);
    if (choices && choices->kind == DOC_ARRAY && choices->first && take_choice(transfer, choices->first)) {
        if (!request->chunk_count) {
            request->first = now;
            request->overhead = fmax(clock_seconds(CLOCK_MONOTONIC) - client->woke, 0);
        }
        request->last = now;
        if (request->chunk_count > chunks_most(request))
            set_error(transfer, arena_print(client->arena, "the stream does not end: it has %zu chunks, and %u tokens were asked for",
                                            request->chunk_count, request->output_asked));
        *(double *)arena_push(client->arena, &request->chunk_times, &request->chunk_count, &request->chunk_room,
                              sizeof(double)) = now;
    }
    arena_free(&arena);
}

static void take_line(struct http_transfer *transfer)
{
    static const char data[] = "data:";
    char *line = transfer->line.data;
    size_t size = transfer->line.size;
    while (size && (line[size - 1] == '\r' || line[size - 1] == '\n'))
        line[--size] = 0;
    transfer->line.size = 0;
    if (!size || *line == ':')                      /* the end of an event; a comment */
        return;
    if (!strncmp(line, data, sizeof data - 1))
        take_event(transfer, line + sizeof data - 1 + (line[sizeof data - 1] == ' '));
    else if (strncmp(line, "event:", 6) && strncmp(line, "id:", 3) && strncmp(line, "retry:", 6))
        set_error(transfer, "the answer is not a stream of server-sent events");
}

static size_t on_data(char *data, size_t one, size_t size, void *context)
{
    struct http_transfer *transfer = context;
    long status = 0;
    (void)one;
    transfer->heard = transfer->client->woke;
    transfer->bytes += size;
    if (transfer->bytes > STREAM_MOST + (size_t)TOKEN_MOST * transfer->request->output_asked)
        set_error(transfer, arena_print(transfer->client->arena, "the answer does not end: it has %.0f MB, and %u tokens were asked for",
                                        1e-6 * (double)transfer->bytes, transfer->request->output_asked));
    if (transfer->request->error)
        return 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) {
        if (transfer->refusal.size < HEAD_MOST)
            buffer_add(&transfer->refusal, data, size < HEAD_MOST ? size : HEAD_MOST);
        return size;
    }
    for (size_t from = 0; from < size;) {
        const char *end = memchr(data + from, '\n', size - from);
        const size_t length = end ? (size_t)(end - data) + 1 - from : size - from;
        if (transfer->line.size + length > LINE_MOST) {
            set_error(transfer, "the stream has a line of more than 1 MiB");
            return 0;
        }
        buffer_add(&transfer->line, data + from, length);
        if (end)
            take_line(transfer);
        from += length;
    }
    return size;
}

static size_t on_header(char *data, size_t one, size_t size, void *context)
{
    static const char name[] = "x-simulated-arrival:";
    struct http_transfer *transfer = context;
    struct text value = { data + sizeof name - 1, size - (sizeof name - 1) };
    (void)one;
    double arrived;
    if (transfer->client->is_virtual && size >= sizeof name && !strncasecmp(data, name, sizeof name - 1) &&
        text_number(text_trim(value), &arrived) && arrived >= 0 && arrived < clock_most)
        transfer->request->sent = transfer->arrived = arrived;
    return size;
}

/* ---- a request -------------------------------------------------------------------------------- */

static void add_ids(struct client *client, struct buffer *body, uint32_t count)
{
    enum { FIRST = 256, KINDS = 8192 };             /* ids that every vocabulary of a served model has */
    buffer_print(body, "[");
    for (uint32_t i = 0; i < count; i++)
        buffer_print(body, i ? ",%zu" : "%zu", FIRST + random_below(&client->random, KINDS));
    buffer_print(body, "]");
}

/* Words of random letters, so that no prompt shares its beginning with another. */
static void add_text(struct client *client, struct buffer *body, uint32_t count)
{
    const size_t bytes = (size_t)fmax(1, round(count * client->bytes_per_token));
    buffer_print(body, "\"");
    for (size_t i = 0; i < bytes; i++) {
        const char letter = i % 5 == 4 ? ' ' : (char)('a' + random_below(&client->random, 26));
        buffer_add(body, &letter, 1);
    }
    buffer_print(body, "\"");
}

static void add_body(struct client *client, struct buffer *body, const struct sent_request *request)
{
    struct doc *name = doc_new(body->arena, DOC_STRING);
    const struct endpoint_way *way = &client->way;
    name->string = client->model;
    buffer_print(body, "{\"model\":");
    doc_print(body, name);
    buffer_print(body, way->chat ? ",\"messages\":[{\"role\":\"user\",\"content\":" : ",\"prompt\":");
    (way->ids ? add_ids : add_text)(client, body, request->prompt_asked);
    buffer_print(body, "%s,\"%s\":%u,\"temperature\":0,\"stream\":true,\"stream_options\":"
                 "{\"include_usage\":true}", way->chat ? "}]" : "",
                 way->chat && !way->exact ? "max_completion_tokens" : "max_tokens", request->output_asked);
    if (way->exact)
        buffer_print(body, ",\"ignore_eos\":true,\"min_tokens\":%u", request->output_asked);
    buffer_print(body, "}");
}

static void hand_back(struct client *client, struct sent_request *request)
{
    *(struct sent_request **)arena_push(client->arena, &client->over, &client->over_count, &client->over_room,
                                   sizeof *client->over) = request;
}

void client_send(struct client *client, struct sent_request *request)
{
    struct arena arena = { 0 };
    struct http_transfer *transfer = arena_alloc(&arena, sizeof *transfer);
    transfer->arena = arena;
    transfer->client = client;
    transfer->request = request;
    transfer->line.arena = transfer->refusal.arena = &transfer->arena;
    transfer->arrived = NAN;
    struct buffer body = { .arena = &transfer->arena };
    add_body(client, &body, request);
    request->first = request->last = -1;
    CURL *easy = transfer->easy = curl_easy_init();
    if (!easy) {
        request->sent = clock_seconds(CLOCK_MONOTONIC) - client->opened;
        request->error = "libcurl has no memory";
        arena = transfer->arena;
        arena_free(&arena);
        hand_back(client, request);
        return;
    }
    fetch_begin(easy, arena_print(&transfer->arena, "%s/v1/%scompletions", client->base, client->way.chat ? "chat/" : ""));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, client->headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.size);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.data);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 0L);
    transfer->next = &client->transfers;
    transfer->before = client->transfers.before;
    transfer->next->before = transfer->before->next = transfer;
    client->in_flight++;
    transfer->began = transfer->heard = clock_seconds(CLOCK_MONOTONIC);
    request->sent = transfer->began - client->opened;
    curl_multi_add_handle(client->multi, easy);
}

/* What an answer without a stream says: the message of its error, or its beginning. */
static const char *refusal_of(struct http_transfer *transfer)
{
    struct arena *arena = transfer->client->arena;
    struct error error;
    struct doc *doc;
    if (!transfer->refusal.size)
        return arena_print(arena, "HTTP status %d", transfer->request->status);
    const struct text text = { transfer->refusal.data, transfer->refusal.size };
    if (json_read(&transfer->arena, "the answer", text, &doc, &error) && doc->kind == DOC_OBJECT) {
        const struct doc *inner = doc_get(doc, "error"), *what = doc_get(inner && inner->kind == DOC_OBJECT
                                                                          ? inner : doc, "message");
        if (what && what->kind == DOC_STRING)
            return arena_print(arena, "HTTP status %d: %.200s", transfer->request->status, what->string);
    }
    return arena_print(arena, "HTTP status %d: %.*s", transfer->request->status,
                       (int)(text.size < 200 ? text.size : 200), text.data);
}

/* A request is over: what it says of itself becomes its result. */
static void finish(struct http_transfer *transfer, CURLcode code)
{
    struct client *client = transfer->client;
    struct sent_request *request = transfer->request;
    curl_off_t before = 0;
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(transfer->easy, CURLINFO_PRETRANSFER_TIME_T, &before);
    request->status = (int)status;
    if (transfer->line.size && status == 200)
        take_line(transfer);
    if (isnan(transfer->arrived)) {                     /* one wait may end with the connection and the first chunk */
        const double most = request->first >= 0 ? request->first - request->sent : INFINITY;
        const double connecting = fmin(1e-6 * (double)before, most);
        request->sent += connecting;
        request->overhead += connecting;
    } else {
        request->overhead = 0;                         /* the endpoint's own clock */
    }
    if (!request->usage) {
        request->prompt_tokens = request->prompt_asked;
        request->output_tokens = (uint32_t)request->chunk_count;
    }
    if (status && status != 200)
        set_error(transfer, refusal_of(transfer));
    else if (code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING)
        set_error(transfer, transfer->events ? "the connection was closed in the middle of the answer"
                                         : "the connection was closed without an answer");
    else if (code != CURLE_OK)
        set_error(transfer, fetch_reason((int)code));
    else if (!transfer->events)
        set_error(transfer, "the answer is not a stream of server-sent events");
    else if (!transfer->over && !transfer->finished)
        set_error(transfer, "the stream ended in the middle of the answer");
    else if (!request->chunk_count)
        set_error(transfer, "the answer has no text");
    curl_multi_remove_handle(client->multi, transfer->easy);
    curl_easy_cleanup(transfer->easy);
    transfer->next->before = transfer->before;
    transfer->before->next = transfer->next;
    client->in_flight--;
    hand_back(client, request);
    struct arena arena = transfer->arena;
    arena_free(&arena);
}

void client_break_off(struct client *client, const char *error)
{
    while (client->in_flight) {
        struct http_transfer *transfer = client->transfers.next;
        set_error(transfer, error);
        finish(transfer, CURLE_OK);
    }
}

/* ---- waiting ---------------------------------------------------------------------------------- */

static struct sent_request *fetch(struct client *client)
{
    if (!client->over_count)
        return NULL;
    struct sent_request *request = client->over[0];
    client->over_count--;
    memmove(client->over, client->over + 1, client->over_count * sizeof *client->over);
    return request;
}

/* Requests of which nothing was heard for too long. */
static void time_out(struct client *client)
{
    for (struct http_transfer *transfer = client->transfers.next, *next; transfer != &client->transfers; transfer = next) {
        next = transfer->next;
        if (client->woke - transfer->heard < client->timeout)
            continue;
        set_error(transfer, arena_print(client->arena, "nothing came for %.4g s", client->timeout));
        finish(transfer, CURLE_OK);
    }
}

struct sent_request *client_wait(struct client *client, double seconds)
{
    const double until = clock_seconds(CLOCK_MONOTONIC) + seconds;
    struct sent_request *request = fetch(client);
    while (!request) {
        int running, left;
        CURLMsg *message;
        client->woke = clock_seconds(CLOCK_MONOTONIC);
        curl_multi_perform(client->multi, &running);
        while ((message = curl_multi_info_read(client->multi, &left))) {
            struct http_transfer *transfer;
            const CURLcode code = message->data.result;
            if (message->msg != CURLMSG_DONE)
                continue;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
            finish(transfer, code);
        }
        time_out(client);
        if (client->woke >= client->until)
            client_break_off(client, "--budget and --timeout together are over");
        if ((request = fetch(client)) || client->woke >= until || !client->in_flight)
            break;
        curl_multi_poll(client->multi, NULL, 0, (int)(1e3 * fmin(fmin(until, client->until) - client->woke, 0.1)) + 1, NULL);
    }
    return request;
}
