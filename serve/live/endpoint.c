/* The endpoint of `simulate --listen`: connections, the clock, and the loop that serves both.
 *
 * A request is counted (openai.c), asked of the run at its time of arrival plus the time that the engine's
 * front end takes, and answered from what the run tells: as chunks when it streams, else as a whole. The
 * moments of the run are points of the clock, never sleeps one after the other, so that no delay of this
 * process adds to the next. Connections without news are suspended; the loop sleeps until the next moment
 * or the next byte.
 *
 * A run has room for RUN_MOST requests. Once half of them are used and nothing is in flight, another run
 * takes its place; should all be used before, requests are refused until then.
 *
 * With --clock virtual, time stands until as many requests are in flight as the clients have announced
 * (POST /clock?clients=N), and then goes from moment to moment without waiting. Clients who always have N
 * requests in flight see the same times in every run, whatever the machine is doing. */
#define _GNU_SOURCE
#include "serve/live/endpoint.h"
#include "ask/simulate/simulate.h"
#include "base/clock.h"
#include "base/door.h"
#include "build/row_names.h"
#include "rows/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_MOST = 16 << 20, RUN_MOST = 1 << 20 };

struct endpoint;

/* A request, from its first header to the end of its answer. */
struct stream {
    struct exchange exchange;
    struct buffer out;              /* to be sent, from `sent` on */
    size_t sent;
    struct asked_for asked;
    struct answered answer;
    uint32_t id, restarts;          /* of the run; counted so far */
    bool in_run;
    double arrived, first, last;    /* simulated times of arrival, of the first and the latest token, s */
};

/* Steps as real kernels make them: a random factor longer or shorter; of a decode batch as long as of the next
 * size that was captured as a graph. */
struct jitter {
    sim_seconds *seconds;
    void *context;
    struct random random;
    double variation;
    bool captured;
};

struct endpoint {
    struct arena *arena;
    struct simulate simulate;
    struct sim_options options;
    struct jitter jitter, jitter_of_prompts;
    const char *models[3], *quoted[2];      /* the model's names, and NULL behind the last; each as JSON */
    double context_most;            /* tokens of the model's longest request; INFINITY: not known */
    struct arena run_arena;
    struct live *run;
    struct stream **streams;        /* [RUN_MOST] by request of the run; NULL: nobody listens */
    double run_began;               /* when the run began, simulated s */
    double clock_began, faster;     /* when the endpoint began, s of the clock; simulated s in one of the clock */
    double time;                    /* of a virtual clock */
    bool is_virtual, shows_time;
    size_t clients;                 /* requests in flight without which a virtual clock stands */
    size_t waiting_most;
    uint64_t number;                /* requests so far */
    struct replica_counts *counts;
    size_t replicas;
    double unix_began;
    struct door *door;
};

static struct endpoint *endpoint_of(const struct stream *stream)
{
    return door_context(stream->exchange.door);
}

static double now_of(const struct endpoint *endpoint)
{
    return endpoint->is_virtual ? endpoint->time
           : (clock_seconds(CLOCK_MONOTONIC) - endpoint->clock_began) * endpoint->faster;
}

/* ---- the run ---------------------------------------------------------------------------------- */

static const char json_type[] = "application/json", metrics_type[] = "text/plain; version=0.0.4; charset=utf-8";

static void reply(struct stream *stream, int status, const char *type, const struct buffer *text)
{
    exchange_add_header(&stream->exchange, "Cache-Control", "no-store");
    exchange_reply(&stream->exchange, status, type, (struct text){ text->data, text->size });
}

static void add_time(struct stream *stream)
{
    if (endpoint_of(stream)->shows_time)
        exchange_add_header(&stream->exchange, "X-Simulated-Arrival",
                            arena_print(&stream->exchange.arena, "%.9f", stream->arrived));
}

static void count_end(struct replica_counts *counts, const struct stream *stream)
{
    const double tokens = stream->answer.wanted;
    counts->finished[stream->asked.most ? FINISH_LENGTH : FINISH_STOP]++;
    counts_observe(counts, HISTOGRAM_E2E, stream->last - stream->arrived);
    counts_observe(counts, HISTOGRAM_DECODE, stream->last - stream->first);
    counts_observe(counts, HISTOGRAM_PROMPT, stream->asked.prompt);
    counts_observe(counts, HISTOGRAM_GENERATION, tokens);
    if (stream->asked.most)
        counts_observe(counts, HISTOGRAM_MAX_TOKENS, stream->asked.most);
    if (tokens > 1)
        counts_observe(counts, HISTOGRAM_TPOT, (stream->last - stream->first) / (tokens - 1));
}

/* The first token is one of the step that ended the prompt, which was counted without it. */
static void count_tokens(struct replica_counts *counts, struct stream *stream, uint32_t tokens, double now)
{
    if (!stream->answer.tokens) {
        counts->prompt_tokens += stream->asked.prompt;
        counts->histograms[HISTOGRAM_ITERATION].sum++;
        counts_observe(counts, HISTOGRAM_TTFT, now - stream->arrived);
        stream->first = now;
    } else {
        counts_observe(counts, HISTOGRAM_ITL, now - stream->last);
    }
    counts->generation_tokens += tokens - stream->answer.tokens;
    stream->last = now;
}

/* New tokens of a request. */
static void told(void *context, uint32_t id, size_t replica, uint32_t tokens, uint32_t fresh, double now)
{
    struct endpoint *endpoint = context;
    struct stream *stream = endpoint->streams[id];
    struct replica_counts *counts = &endpoint->counts[replica];
    if (!stream) {                                  /* whoever asked has gone; the replica goes on */
        counts->generation_tokens += fresh;
        return;
    }
    const uint32_t restarts = live_result(endpoint->run)->restarts[id];
    now += endpoint->run_began;
    counts->preemptions += restarts - stream->restarts;
    stream->restarts = restarts;
    stream->answer.cached = live_result(endpoint->run)->cached[id];
    count_tokens(counts, stream, tokens, now);
    stream->answer.at = endpoint->shows_time ? now : NAN;
    if (stream->asked.stream)
        openai_chunks(&stream->out, &stream->asked, &stream->answer, tokens);
    stream->answer.tokens = tokens;
    if (tokens == stream->answer.wanted) {
        count_end(counts, stream);
        endpoint->streams[id] = NULL;
        stream->in_run = false;
        if (!stream->asked.stream) {
            openai_whole(&stream->out, &stream->asked, &stream->answer);
            add_time(stream);
            reply(stream, 200, json_type, &stream->out);
        }
    }
    if (stream->asked.stream)
        exchange_go_on(&stream->exchange);
}

static void ran(void *context, size_t replica, double from, double seconds, uint64_t steps,
                const struct sim_step *step)
{
    struct endpoint *endpoint = context;
    (void)from, (void)seconds;
    for (; steps; steps--)
        counts_observe(&endpoint->counts[replica], HISTOGRAM_ITERATION, step->decoding + step->prompt);
}

/* vLLM's sizes: 1, 2, 4, then multiples of 8. */
static double captured_size(double decoding)
{
    return decoding <= 2 ? decoding : decoding <= 4 ? 4 : 8 * ceil(decoding / 8);
}

static double jittered(void *context, const struct sim_step *step)
{
    struct jitter *jitter = context;
    struct sim_step padded = *step;
    if (jitter->captured && !(step->prompt > 0))
        padded.decoding = captured_size(step->decoding);
    return jitter->seconds(jitter->context, &padded) *
           (jitter->variation > 0 ? random_lognormal(&jitter->random, 1, jitter->variation) : 1);
}

static struct sim_server shaken(struct arena *arena, const struct sim_server *server, struct jitter *jitter,
                                const struct command *command, uint64_t seed)
{
    const double variation = command_number(command, "jitter");
    const bool captured = command_given(command, "captured");
    struct sim_server own = simulate_own(arena, server, 0);
    if ((!(variation > 0) && !captured) || !own.seconds)
        return own;
    *jitter = (struct jitter){ .seconds = own.seconds, .context = own.context, .variation = variation,
                               .captured = captured };
    random_stream(&jitter->random, seed, "steps of an endpoint", 0);
    own.seconds = jittered;
    own.context = jitter;
    return own;
}

static bool open_run(struct endpoint *endpoint, struct error *error)
{
    arena_free(&endpoint->run_arena);
    endpoint->run_arena = arena_beside(endpoint->arena);
    endpoint->run_began = now_of(endpoint);
    endpoint->run = live_open(&endpoint->run_arena, &endpoint->options, RUN_MOST, told, endpoint, error);
    return endpoint->run != NULL;
}

static void advance(struct endpoint *endpoint, double now)
{
    live_advance(endpoint->run, now - endpoint->run_began);
}

/* ---- requests --------------------------------------------------------------------------------- */

static void send_refusal(struct stream *stream, const struct endpoint_refusal *refusal)
{
    struct buffer text = { .arena = &stream->exchange.arena };
    openai_refusal(&text, refusal);
    reply(stream, refusal->status, json_type, &text);
}

static bool is_full(const struct endpoint *endpoint)
{
    size_t waiting = 0;
    for (size_t i = 0; endpoint->waiting_most && i < endpoint->replicas; i++)
        waiting += live_replica(endpoint->run, i).waiting;
    return endpoint->waiting_most && waiting >= endpoint->waiting_most * endpoint->replicas;
}

static bool ask_run(struct stream *stream, struct endpoint_refusal *refusal)
{
    struct endpoint *endpoint = endpoint_of(stream);
    const struct trace *trace = &endpoint->simulate.trace;
    struct error error;
    const double now = now_of(endpoint);
    advance(endpoint, now);
    if (live_asked(endpoint->run) > RUN_MOST / 2 && !live_open_requests(endpoint->run) &&
        !open_run(endpoint, &error))
        return refuse(refusal, 500, "InternalServerError", "%.300s", error.what);
    stream->answer = (struct answered){ .model = endpoint->quoted[stream->asked.model], .number = ++endpoint->number,
                                        .created = (long)clock_seconds(CLOCK_REALTIME),
                                        .wanted = stream->asked.most };
    if (!stream->asked.most)                        /* as long as the next of the description */
        stream->answer.wanted = (uint32_t)fmax(1, fmin(trace->output[(endpoint->number - 1) % trace->count],
                                                       endpoint->context_most - stream->asked.prompt));
    if ((double)stream->asked.prompt + stream->answer.wanted > endpoint->context_most)
        return refuse(refusal, 400, "BadRequestError", "This model's maximum context length is %.0f tokens. However, you "
                      "requested %.0f tokens (%u in the prompt, %u in the completion).", endpoint->context_most,
                      (double)stream->asked.prompt + stream->answer.wanted, stream->asked.prompt, stream->answer.wanted);
    if (!live_fits(endpoint->run, stream->asked.prompt, stream->answer.wanted, &error))
        return refuse(refusal, 400, "BadRequestError", "%.300s", error.what);
    if (is_full(endpoint))
        return refuse(refusal, 429, "TooManyRequestsError", "the queue is full");
    if (door_signals(endpoint->door))
        return refuse(refusal, 503, "ServiceUnavailableError", "the server is ending");
    stream->arrived = stream->last = now;
    if (!live_ask(endpoint->run, now - endpoint->run_began + sim_before(&endpoint->simulate.options, stream->asked.prompt),
                  stream->asked.prompt, stream->answer.wanted, stream->asked.blocks, stream->asked.block_count,
                  &stream->id))
        return refuse(refusal, 503, "ServiceUnavailableError",
                      "%d requests were asked without a pause; the server needs one", RUN_MOST);
    endpoint->streams[stream->id] = stream;
    stream->in_run = true;
    return true;
}

static ssize_t read_more(struct exchange *exchange, char *to, size_t room)
{
    struct stream *stream = (struct stream *)exchange;
    size_t size = stream->out.size - stream->sent;
    if (!size)
        return stream->in_run ? 0 : -1;
    size = size < room ? size : room;
    memcpy(to, stream->out.data + stream->sent, size);
    stream->sent += size;
    if (stream->sent == stream->out.size)
        stream->sent = stream->out.size = 0;
    return (ssize_t)size;
}

static void on_question(struct stream *stream)
{
    struct endpoint_refusal refusal = { 0 };
    const bool chat = strstr(stream->exchange.path, "/chat/");
    const struct endpoint *endpoint = endpoint_of(stream);
    stream->out.arena = &stream->exchange.arena;
    const bool good = openai_read(&stream->exchange.arena, chat, endpoint->models, live_block(endpoint->run),
                                  stream->exchange.body, &stream->asked, &refusal);
    exchange_forget_body(&stream->exchange);
    if (!good || !ask_run(stream, &refusal)) {
        send_refusal(stream, &refusal);
    } else if (!stream->asked.stream) {
        exchange_wait(&stream->exchange);
    } else {
        exchange_add_header(&stream->exchange, "Cache-Control", "no-store");
        add_time(stream);
        exchange_stream(&stream->exchange, "text/event-stream; charset=utf-8", read_more);
    }
}

static void on_tokenize(struct stream *stream)
{
    struct endpoint_refusal refusal = { 0 };
    struct buffer text = { .arena = &stream->exchange.arena };
    uint32_t tokens;
    const bool good = openai_tokens(&stream->exchange.arena, stream->exchange.body, &tokens, &refusal);
    exchange_forget_body(&stream->exchange);
    if (!good) {
        send_refusal(stream, &refusal);
        return;
    }
    buffer_print(&text, "{\"count\":%u,\"tokens\":[", tokens);
    for (uint32_t i = 0; i < tokens; i++)
        buffer_print(&text, i ? ",1" : "1");
    buffer_print(&text, "],\"token_strs\":null}\n");
    reply(stream, 200, json_type, &text);
}

/* Longest request, where memory or the model bounds it; else 0. */
static size_t length_most(const struct endpoint *endpoint)
{
    const struct sim_server *server = &endpoint->options.server;
    double most = endpoint->context_most;
    if (server->scheduler->can & SCHEDULER_BLOCKS)
        most = fmin(most, (double)((server->blocks - (server->scheduler->spare ? server->scheduler->spare(server) : 0)) *
                                   server->block));
    return isfinite(most) ? (size_t)most : 0;
}

static void on_metrics(struct stream *stream)
{
    struct endpoint *endpoint = endpoint_of(stream);
    struct arena *arena = &stream->exchange.arena;
    struct buffer text = { .arena = arena };
    struct live_replica *now = arena_array(arena, endpoint->replicas, sizeof *now);
    advance(endpoint, now_of(endpoint));
    for (size_t i = 0; i < endpoint->replicas; i++)
        now[i] = live_replica(endpoint->run, i);
    counts_print(&text, endpoint->quoted[0], &endpoint->options.server, endpoint->counts, now,
                 endpoint->replicas, endpoint->unix_began);
    reply(stream, 200, metrics_type, &text);
}

/* How many requests there will be in flight; the answer has the simulated time. */
static void on_clock(struct stream *stream)
{
    struct endpoint *endpoint = endpoint_of(stream);
    struct buffer text = { .arena = &stream->exchange.arena };
    const char *clients = exchange_argument(&stream->exchange, "clients");
    struct endpoint_refusal refusal = { 0 };
    if (clients && (*clients < '0' || *clients > '9' || strlen(clients) > 6)) {
        refuse(&refusal, 400, "BadRequestError", "clients must be a whole number");
        send_refusal(stream, &refusal);
        return;
    }
    if (clients)
        endpoint->clients = strtoul(clients, NULL, 10);
    door_hurry(endpoint->door);
    buffer_print(&text, "{\"virtual\":%s,\"clients\":%zu,\"simulated_time\":%.9f}\n",
                 endpoint->is_virtual ? "true" : "false", endpoint->clients, now_of(endpoint));
    reply(stream, 200, json_type, &text);
}

static void on_health(struct stream *stream)
{
    reply(stream, 200, "text/plain", &(struct buffer){ 0 });
}

static void on_version(struct stream *stream)
{
    struct buffer text = { .arena = &stream->exchange.arena };
    buffer_print(&text, "{\"version\":\"chalkline %s\"}\n", CHALKLINE_VERSION);
    reply(stream, 200, json_type, &text);
}

static void on_models(struct stream *stream)
{
    const struct endpoint *endpoint = endpoint_of(stream);
    struct buffer text = { .arena = &stream->exchange.arena };
    openai_models(&text, endpoint->models, (long)endpoint->unix_began, length_most(endpoint));
    reply(stream, 200, json_type, &text);
}

static const struct {
    const char *path, *methods;
    void (*answer)(struct stream *stream);
} places[] = {
    { "/v1/models", "GET, HEAD", on_models }, { "/v1/completions", "POST", on_question },
    { "/v1/chat/completions", "POST", on_question }, { "/tokenize", "POST", on_tokenize }, { "/metrics", "GET, HEAD", on_metrics },
    { "/health", "GET, HEAD", on_health }, { "/ping", "GET, HEAD", on_health }, { "/version", "GET, HEAD", on_version },
    { "/clock", "GET, HEAD, POST", on_clock } };

static void on_whole(struct exchange *exchange)
{
    struct stream *stream = (struct stream *)exchange;
    struct endpoint_refusal refusal = { 0 };
    const size_t end = sizeof places / sizeof *places;
    size_t at = 0;
    while (at < end && strcmp(places[at].path, exchange->path))
        at++;
    if (at < end && strstr(places[at].methods, exchange->got ? "GET" : exchange->posted ? "POST" : ",,")) {     /* matches nothing */
        places[at].answer(stream);
        return;
    }
    if (at < end) {
        exchange_add_header(exchange, "Allow", places[at].methods);
        refuse(&refusal, 405, "MethodNotAllowedError", "%.20s %s: this path takes %s", exchange->method, exchange->path, places[at].methods);
    } else {
        refuse(&refusal, 404, "NotFoundError", "%.20s %.100s: there are /v1/models, /v1/completions, "
               "/v1/chat/completions, /tokenize, /metrics, /health, /version", exchange->method, exchange->path);
    }
    send_refusal(stream, &refusal);
}

static int print_refusal(char *to, size_t room, int status, const char *what, const char *hint)
{
    return snprintf(to, room, "{\"error\": {\"message\": \"%s; accepted: %s\", \"type\": \"%s\", \"param\": null, \"code\": %d}}\n", what,
                    hint, status == 503 ? "ServiceUnavailableError" : "BadRequestError", status);
}

/* The answer was sent, or the client has gone. */
static void on_end(struct exchange *exchange)
{
    struct stream *stream = (struct stream *)exchange;
    struct endpoint *endpoint = endpoint_of(stream);
    if (!stream->in_run)
        return;
    const size_t replica = live_where(endpoint->run, stream->id);
    stream->in_run = false;
    endpoint->streams[stream->id] = NULL;
    live_take_back(endpoint->run, stream->id, now_of(endpoint) - endpoint->run_began);
    endpoint->counts[replica].finished[FINISH_ABORT]++;
}

/* It has gone while it waited for its answer, or for more of it. */
static void on_left(struct exchange *exchange)
{
    static const struct endpoint_refusal gone = { 499, "ClientClosedRequestError", "the client has gone" };
    on_end(exchange);
    if (((struct stream *)exchange)->asked.stream)
        exchange_go_on(exchange);
    else
        send_refusal((struct stream *)exchange, &gone);
}

/* ---- the loop --------------------------------------------------------------------------------- */

/* Does a virtual clock go on? */
static bool goes_on(const struct endpoint *endpoint)
{
    const size_t open = live_open_requests(endpoint->run);
    return endpoint->is_virtual && open && open >= endpoint->clients;
}

/* The moment of the clock at which something of the run is due. */
static double due(const struct endpoint *endpoint)
{
    const double now = clock_seconds(CLOCK_MONOTONIC);
    if (endpoint->is_virtual)
        return goes_on(endpoint) ? now : INFINITY;
    return now + (live_next(endpoint->run) + endpoint->run_began - now_of(endpoint)) / endpoint->faster;
}

static void turn(struct endpoint *endpoint)
{
    door_turn(endpoint->door, due(endpoint));
    if (goes_on(endpoint))
        endpoint->time = fmax(endpoint->time, live_next(endpoint->run) + endpoint->run_began);
    advance(endpoint, now_of(endpoint));
}

/* ---- the command ------------------------------------------------------------------------------ */

bool live_asked_for(const struct command *command)
{
    return command->verb == &verb_simulate && command_given(command, "listen");
}

/* Options of a run over a given trace, which has an end. */
static bool fits_endpoint(const struct command *command, struct error *error)
{
    static const char *const runs[] = {
        "hit-rates", "time-scale", "rate", "users", "concurrency", "arrivals", "warm-up", "think", "priority-class", "patience",
        "ttft", "tpot", "attainment", "find-saturation", "min-gpus", "sweep", "band", "points", "repeat", "requests", "series", "training-rows",
        "every", "trace", "scale-to", "scale-by", "metrics", "metrics-every", "json", "csv", "plot", "report" };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (command_given(command, runs[i])) {
            error_set(error, "--%s has no effect with --listen", runs[i]);
            return error_suggest(error, "`chalkline simulate TRACE` without --listen runs a trace to its end");
        }
    return true;
}

static bool read_endpoint(struct endpoint *endpoint, struct arena *arena, const struct command *command,
                          struct error *error)
{
    static const char *const clocks[] = { "wall", "virtual" };
    struct command *own = arena_alloc(arena, sizeof *own);
    struct simulate *simulate = &endpoint->simulate;
    *own = *command;
    if (!own->word_count)                           /* lengths for which the server is chosen */
        command_put_word(arena, own, "poisson:rate=1");
    if (!fits_endpoint(command, error) || !simulate_read(arena, own, simulate, error))
        return false;
    endpoint->arena = arena;
    endpoint->options = simulate->options;
    endpoint->options.watch = (struct sim_watch){ .context = endpoint, .ran = ran };
    endpoint->waiting_most = simulate->options.waiting_most;
    endpoint->options.waiting_most = 0;
    endpoint->options.server = shaken(arena, &simulate->options.server, &endpoint->jitter, command,
                                      simulate->options.seed);
    endpoint->options.split.server = shaken(arena, &simulate->options.split.server,
                                            &endpoint->jitter_of_prompts, command,
                                            simulate->options.seed + 1);
    endpoint->faster = command_number(command, "faster");
    endpoint->is_virtual = !strcmp(clocks[command_choice(command, "clock")], "virtual");
    endpoint->shows_time = endpoint->is_virtual || endpoint->faster != 1;
    endpoint->clients = 1;
    const char *typed = command_text(command, "model");
    endpoint->models[0] = command_text(command, "served-name");
    if (!endpoint->models[0]) {
        endpoint->models[0] = simulate->scenario.model ? simulate->scenario.model : "sim";
        endpoint->models[1] = typed && strcmp(typed, endpoint->models[0]) ? typed : NULL;
    }
    const struct fact *context = facts_find(&simulate->scenario.facts, NAME_max_context);
    endpoint->context_most = context && context->value >= 1 ? context->value : INFINITY;
    for (size_t i = 0; endpoint->models[i]; i++) {
        struct buffer quoted = { .arena = arena };
        struct doc *name = doc_new(arena, DOC_STRING);
        name->string = endpoint->models[i];
        doc_print(&quoted, name);
        quoted.data[strcspn(quoted.data, "\n")] = 0;
        endpoint->quoted[i] = quoted.data;
    }
    return true;
}

/* From the first run to the last request. */
static bool serve_runs(struct endpoint *endpoint, struct arena *arena, const struct command *command,
                       void (*ready)(const char *url), struct error *error)
{
    static const struct door_calls calls = { sizeof(struct stream), NULL, on_whole, NULL, on_end, on_left, print_refusal, json_type };
    struct access access;
    if (!access_read(arena, command, &access, error))
        return false;
    const struct door_terms terms = {
        .address = access.address, .token = access.token, .insecure = access.insecure, .option = "--listen", .body = BODY_MOST, .patience = 30,
        .port = (unsigned)command_count(command, "listen"), .heeds_signals = true };
    endpoint->streams = arena_array(arena, RUN_MOST, sizeof *endpoint->streams);
    endpoint->clock_began = clock_seconds(CLOCK_MONOTONIC);
    endpoint->unix_began = clock_seconds(CLOCK_REALTIME);
    endpoint->run_arena = arena_beside(arena);
    if (!open_run(endpoint, error))
        return false;
    endpoint->replicas = live_replicas(endpoint->run);
    endpoint->counts = arena_array(arena, endpoint->replicas, sizeof *endpoint->counts);
    if (!door_open(arena, &terms, &calls, endpoint, &endpoint->door, error))
        return false;
    ready(door_url(endpoint->door));
    while (!door_signals(endpoint->door) ||
           (live_open_requests(endpoint->run) && door_signals(endpoint->door) < 2))
        turn(endpoint);
    door_close(endpoint->door);
    return true;
}

bool live_serve(struct arena *arena, const struct command *command, void (*ready)(const char *url),
                struct error *error)
{
    struct endpoint *endpoint = arena_alloc(arena, sizeof *endpoint);
    if (!read_endpoint(endpoint, arena, command, error))
        return false;
    const bool good = serve_runs(endpoint, arena, command, ready, error);
    arena_free(&endpoint->run_arena);
    return good;
}
