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
#include "rows/random.h"
#include "base/listen.h"

#include <errno.h>
#include <math.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS_MOST = 4000, BODY_MOST = 64 << 20, RUN_MOST = 1 << 20 };

struct endpoint;

/* A request, from its first header to the end of its answer. */
struct stream {
    struct arena arena;             /* it holds this struct too */
    struct endpoint *endpoint;
    struct MHD_Connection *connection;
    struct buffer body, out;        /* received; to be sent, from `sent` on */
    size_t sent;
    struct asked_for asked;
    struct answered answer;
    uint32_t id, restarts;          /* of the run; counted so far */
    bool in_run, whole, suspended, answers;     /* whole: all of the request is here; answers: queued */
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
    const char *model, *quoted;     /* its name; as JSON */
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
    struct MHD_Daemon *daemon;
    int listener, signals;
    bool ending, hurried, again;
};

static double now_of(const struct endpoint *endpoint)
{
    return endpoint->is_virtual ? endpoint->time
           : (clock_seconds(CLOCK_MONOTONIC) - endpoint->clock_began) * endpoint->faster;
}

/* ---- the run ---------------------------------------------------------------------------------- */

static void wake(struct stream *stream)
{
    if (!stream->suspended)
        return;
    stream->suspended = false;
    MHD_resume_connection(stream->connection);
    stream->endpoint->again = true;
}

static struct MHD_Response *response_of(const struct buffer *text, const char *type)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        text->size, text->data ? text->data : "", MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    return response;
}

static void add_time(struct MHD_Response *response, const struct stream *stream)
{
    char text[40];
    if (!stream->endpoint->shows_time)
        return;
    snprintf(text, sizeof text, "%.9f", stream->arrived);
    MHD_add_response_header(response, "X-Simulated-Arrival", text);
}

static enum MHD_Result reply(struct stream *stream, int status, struct MHD_Response *response)
{
    stream->answers = true;
    if (status == MHD_HTTP_TOO_MANY_REQUESTS || status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    enum MHD_Result result = MHD_queue_response(stream->connection, (unsigned)status, response);
    MHD_destroy_response(response);
    return result;
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
            struct MHD_Response *response = response_of(&stream->out, "application/json");
            add_time(response, stream);
            reply(stream, MHD_HTTP_OK, response);
        }
    }
    if (stream->asked.stream || !stream->in_run)
        wake(stream);
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

static enum MHD_Result send_refusal(struct stream *stream, const struct endpoint_refusal *refusal)
{
    struct buffer text = { .arena = &stream->arena };
    openai_refusal(&text, refusal);
    return reply(stream, refusal->status, response_of(&text, "application/json"));
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
    struct endpoint *endpoint = stream->endpoint;
    const struct trace *trace = &endpoint->simulate.trace;
    struct error error;
    const double now = now_of(endpoint);
    advance(endpoint, now);
    if (live_asked(endpoint->run) > RUN_MOST / 2 && !live_open_requests(endpoint->run) &&
        !open_run(endpoint, &error))
        return refuse(refusal, 500, "InternalServerError", "%.300s", error.what);
    stream->answer = (struct answered){ .model = endpoint->quoted, .number = ++endpoint->number,
                                        .created = (long)clock_seconds(CLOCK_REALTIME),
                                        .wanted = stream->asked.most };
    if (!stream->asked.most)                        /* as long as the next of the description */
        stream->answer.wanted = trace->output[(endpoint->number - 1) % trace->count];
    if (!live_fits(endpoint->run, stream->asked.prompt, stream->answer.wanted, &error))
        return refuse(refusal, 400, "BadRequestError", "%.300s", error.what);
    if (is_full(endpoint))
        return refuse(refusal, 429, "TooManyRequestsError", "the queue is full");
    if (endpoint->ending)
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

static ssize_t read_more(void *context, uint64_t position, char *to, size_t room)
{
    struct stream *stream = context;
    size_t size = stream->out.size - stream->sent;
    (void)position;
    if (size) {
        size = size < room ? size : room;
        memcpy(to, stream->out.data + stream->sent, size);
        stream->sent += size;
        if (stream->sent == stream->out.size)
            stream->sent = stream->out.size = 0;
        return (ssize_t)size;
    }
    if (!stream->in_run)
        return MHD_CONTENT_READER_END_OF_STREAM;
    stream->suspended = true;
    MHD_suspend_connection(stream->connection);
    return 0;
}

static enum MHD_Result on_question(struct stream *stream, bool chat)
{
    enum { PIECE = 1 << 14 };
    struct endpoint_refusal refusal = { 0 };
    const struct text body = { stream->body.data ? stream->body.data : "", stream->body.size };
    if (!openai_read(&stream->arena, chat, stream->endpoint->model, live_block(stream->endpoint->run), body,
                     &stream->asked, &refusal) ||
        !ask_run(stream, &refusal))
        return send_refusal(stream, &refusal);
    if (!stream->asked.stream) {
        stream->suspended = true;
        MHD_suspend_connection(stream->connection);
        return MHD_YES;
    }
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, read_more,
                                                                      stream, NULL);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream; charset=utf-8");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    add_time(response, stream);
    return reply(stream, MHD_HTTP_OK, response);
}

static enum MHD_Result on_tokenize(struct stream *stream)
{
    struct endpoint_refusal refusal = { 0 };
    struct buffer text = { .arena = &stream->arena };
    uint32_t tokens;
    if (!openai_tokens(&stream->arena, (struct text){ stream->body.data ? stream->body.data : "",
                                                      stream->body.size }, &tokens, &refusal))
        return send_refusal(stream, &refusal);
    buffer_print(&text, "{\"count\":%u,\"tokens\":[", tokens);
    for (uint32_t i = 0; i < tokens; i++)
        buffer_print(&text, i ? ",1" : "1");
    buffer_print(&text, "],\"token_strs\":null}\n");
    return reply(stream, MHD_HTTP_OK, response_of(&text, "application/json"));
}

/* Longest request, where memory bounds it. */
static size_t length_most(const struct endpoint *endpoint)
{
    const struct sim_server *server = &endpoint->options.server;
    if (!(server->scheduler->can & SCHEDULER_BLOCKS))
        return 0;
    return (server->blocks - (server->scheduler->spare ? server->scheduler->spare(server) : 0)) * server->block;
}

static enum MHD_Result on_metrics(struct stream *stream)
{
    struct endpoint *endpoint = stream->endpoint;
    struct buffer text = { .arena = &stream->arena };
    struct live_replica *now = arena_array(&stream->arena, endpoint->replicas, sizeof *now);
    advance(endpoint, now_of(endpoint));
    for (size_t i = 0; i < endpoint->replicas; i++)
        now[i] = live_replica(endpoint->run, i);
    counts_print(&text, endpoint->quoted, &endpoint->options.server, endpoint->counts, now,
                 endpoint->replicas, endpoint->unix_began);
    return reply(stream, MHD_HTTP_OK, response_of(&text, "text/plain; version=0.0.4; charset=utf-8"));
}

/* How many requests there will be in flight; the answer has the simulated time. */
static enum MHD_Result on_clock(struct stream *stream)
{
    struct endpoint *endpoint = stream->endpoint;
    struct buffer text = { .arena = &stream->arena };
    const char *clients = MHD_lookup_connection_value(stream->connection, MHD_GET_ARGUMENT_KIND, "clients");
    struct endpoint_refusal refusal = { 0 };
    if (clients && (*clients < '0' || *clients > '9' || strlen(clients) > 6)) {
        refuse(&refusal, 400, "BadRequestError", "clients must be a whole number");
        return send_refusal(stream, &refusal);
    }
    if (clients)
        endpoint->clients = strtoul(clients, NULL, 10);
    endpoint->again = true;
    buffer_print(&text, "{\"virtual\":%s,\"clients\":%zu,\"simulated_time\":%.9f}\n",
                 endpoint->is_virtual ? "true" : "false", endpoint->clients, now_of(endpoint));
    return reply(stream, MHD_HTTP_OK, response_of(&text, "application/json"));
}

static enum MHD_Result on_whole(struct stream *stream, const char *path, const char *method)
{
    struct endpoint *endpoint = stream->endpoint;
    struct buffer text = { .arena = &stream->arena };
    struct endpoint_refusal refusal = { 0 };
    const bool posted = !strcmp(method, MHD_HTTP_METHOD_POST);
    const bool got = !strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD);
    if (stream->body.size > BODY_MOST)
        refuse(&refusal, 413, "BadRequestError", "the request is larger than %d bytes", BODY_MOST);
    else if (posted && !strcmp(path, "/v1/completions"))
        return on_question(stream, false);
    else if (posted && !strcmp(path, "/v1/chat/completions"))
        return on_question(stream, true);
    else if (posted && !strcmp(path, "/tokenize"))
        return on_tokenize(stream);
    else if (!strcmp(path, "/clock"))
        return on_clock(stream);
    else if (got && !strcmp(path, "/metrics"))
        return on_metrics(stream);
    else if (got && (!strcmp(path, "/health") || !strcmp(path, "/ping")))
        return reply(stream, MHD_HTTP_OK, response_of(&text, "text/plain"));
    else if (got && !strcmp(path, "/version")) {
        buffer_print(&text, "{\"version\":\"chalkline %s\"}\n", CHALKLINE_VERSION);
        return reply(stream, MHD_HTTP_OK, response_of(&text, "application/json"));
    } else if (got && !strcmp(path, "/v1/models")) {
        openai_models(&text, endpoint->model, (long)endpoint->unix_began, length_most(endpoint));
        return reply(stream, MHD_HTTP_OK, response_of(&text, "application/json"));
    } else
        refuse(&refusal, 404, "NotFoundError", "%s %.100s: there are /v1/models, /v1/completions, "
               "/v1/chat/completions, /tokenize, /metrics, /health, /version", method, path);
    return send_refusal(stream, &refusal);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *data, size_t *size,
                                  void **place)
{
    struct stream *stream = *place;
    (void)version;
    if (!stream) {
        struct arena arena = { 0 };
        *place = stream = arena_alloc(&arena, sizeof *stream);
        stream->arena = arena;
        stream->body.arena = stream->out.arena = &stream->arena;
        stream->endpoint = context;
        stream->connection = connection;
        return MHD_YES;
    }
    if (*size) {
        if (stream->body.size <= BODY_MOST)
            buffer_add(&stream->body, data, *size);
        *size = 0;
        return MHD_YES;
    }
    if (stream->whole)                              /* resumed: its answer is queued */
        return MHD_YES;
    stream->whole = true;
    return on_whole(stream, path, method);
}

/* The answer was sent, or the client has gone. */
static void on_end(void *context, struct MHD_Connection *connection, void **place,
                   enum MHD_RequestTerminationCode code)
{
    struct endpoint *endpoint = context;
    struct stream *stream = *place;
    (void)connection, (void)code;
    if (!stream)
        return;
    if (stream->in_run) {
        const size_t replica = live_where(endpoint->run, stream->id);
        endpoint->streams[stream->id] = NULL;
        live_take_back(endpoint->run, stream->id, now_of(endpoint) - endpoint->run_began);
        endpoint->counts[replica].finished[FINISH_ABORT]++;
    }
    struct arena arena = stream->arena;
    arena_free(&arena);
}

/* Each token leaves at once. */
static void on_connection(void *context, struct MHD_Connection *connection, void **place,
                          enum MHD_ConnectionNotificationCode code)
{
    int yes = 1;
    (void)context, (void)place;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        setsockopt(MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
                   IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

/* ---- the loop --------------------------------------------------------------------------------- */

/* Does a virtual clock go on? */
static bool goes_on(const struct endpoint *endpoint)
{
    const size_t open = live_open_requests(endpoint->run);
    return endpoint->is_virtual && open && open >= endpoint->clients;
}

/* Seconds of the clock until something is due. */
static double seconds_left(const struct endpoint *endpoint)
{
    MHD_UNSIGNED_LONG_LONG wanted;
    double left = 3600;
    if (endpoint->again || goes_on(endpoint))
        return 0;
    if (MHD_get_timeout(endpoint->daemon, &wanted) == MHD_YES)
        left = fmin(left, 1e-3 * (double)wanted);
    if (!endpoint->is_virtual)
        left = fmin(left, (live_next(endpoint->run) + endpoint->run_began - now_of(endpoint)) / endpoint->faster);
    return fmax(left, 0);
}

static void take_signal(struct endpoint *endpoint)
{
    struct signalfd_siginfo signal;
    if (read(endpoint->signals, &signal, sizeof signal) != sizeof signal)
        return;
    endpoint->hurried = endpoint->ending;
    endpoint->ending = true;
    if (endpoint->listener >= 0)
        close(MHD_quiesce_daemon(endpoint->daemon));
    endpoint->listener = -1;
}

static void turn(struct endpoint *endpoint)
{
    struct pollfd fds[2] = {
        { .fd = endpoint->signals, .events = POLLIN },
        { .fd = MHD_get_daemon_info(endpoint->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, .events = POLLIN } };
    const double left = seconds_left(endpoint);
    const struct timespec wait = { (time_t)left, (long)(1e9 * (left - floor(left))) };
    if (ppoll(fds, 2, &wait, NULL) < 0 && errno != EINTR)
        return;
    if (fds[0].revents)
        take_signal(endpoint);
    endpoint->again = false;
    if (goes_on(endpoint))
        endpoint->time = fmax(endpoint->time, live_next(endpoint->run) + endpoint->run_began);
    advance(endpoint, now_of(endpoint));
    MHD_run(endpoint->daemon);
}

static bool open_daemon(struct endpoint *endpoint, struct error *error)
{
    struct rlimit files;
    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    endpoint->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, endpoint,
        MHD_OPTION_LISTEN_SOCKET, endpoint->listener,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST,
        MHD_OPTION_NOTIFY_COMPLETED, on_end, endpoint,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, endpoint, MHD_OPTION_END);
    return endpoint->daemon || error_set(error, "libmicrohttpd does not start: %s", strerror(errno));
}

static void serve_until_signal(struct endpoint *endpoint, void (*ready)(const char *url))
{
    sigset_t ends, before;
    bool loopback;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, &before);
    signal(SIGPIPE, SIG_IGN);
    endpoint->signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    ready(listen_url(endpoint->arena, endpoint->listener, &loopback));
    while (!endpoint->ending || (live_open_requests(endpoint->run) && !endpoint->hurried))
        turn(endpoint);
    MHD_run(endpoint->daemon);
    MHD_stop_daemon(endpoint->daemon);
    close(endpoint->signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
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
        "every", "trace", "scale-to", "json", "csv", "plot", "report" };
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
    endpoint->model = command_text(command, "served-name");
    if (!endpoint->model)
        endpoint->model = simulate->scenario.model ? simulate->scenario.model : "sim";
    struct buffer quoted = { .arena = arena };
    struct doc *name = doc_new(arena, DOC_STRING);
    name->string = endpoint->model;
    doc_print(&quoted, name);
    quoted.data[strcspn(quoted.data, "\n")] = 0;
    endpoint->quoted = quoted.data;
    return true;
}

/* From the first run to the last request. */
static bool serve_runs(struct endpoint *endpoint, struct arena *arena, const struct command *command,
                       void (*ready)(const char *url), struct error *error)
{
    const char *address = command_text(command, "bind");
    endpoint->streams = arena_array(arena, RUN_MOST, sizeof *endpoint->streams);
    endpoint->clock_began = clock_seconds(CLOCK_MONOTONIC);
    endpoint->unix_began = clock_seconds(CLOCK_REALTIME);
    endpoint->run_arena = arena_beside(arena);
    if (!open_run(endpoint, error))
        return false;
    endpoint->replicas = live_replicas(endpoint->run);
    endpoint->counts = arena_array(arena, endpoint->replicas, sizeof *endpoint->counts);
    if (!listen_open(address ? address : "127.0.0.1", (unsigned)command_count(command, "listen"), "--listen",
                     &endpoint->listener, error))
        return false;
    const bool good = open_daemon(endpoint, error);
    if (good)
        serve_until_signal(endpoint, ready);
    else
        close(endpoint->listener);
    return good;
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
