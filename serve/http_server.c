/* The HTTP server of `serve`: connections, who may ask, and the order in which questions are
 * answered.
 *
 * One thread runs libmicrohttpd and the loop below; answers are computed in worker processes
 * (worker.c), so that a question cannot delay the others, exhaust their memory or crash the
 * server. A request passes through the stages: read its head, check origin, method, type and size,
 * read its body, wait for a worker, answer. Every stage has a deadline; clients that are too slow
 * are disconnected. Limits on connections, waiting requests and bytes are options, and every
 * refusal is counted for /metrics. The first signal closes the listener and lets the requests in
 * progress finish; the second does not wait for them. */
#define _GNU_SOURCE
#include "serve/http_server.h"
#include "base/clock.h"
#include "base/listen.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

enum {
    CONNECTIONS_MOST = 512,
    HEAD_MOST = 64 << 10,           /* bytes of a request's URL and headers */
    BODIES_MOST = 16,               /* limit of all bodies together, in largest bodies */
};

/* One connected client. It must have sent its whole request, or received its answer, by `until`. */
struct connection {
    bool there;
    int fd;
    double until;
};

enum stage { STAGE_COMING, STAGE_WAITING, STAGE_RUNNING, STAGE_SENT };

/* A request from its first header to its response. */
struct asked {
    struct arena arena;             /* it holds this struct too */
    struct asked *next, *before;
    struct http_server *server;
    struct connection *client;
    struct MHD_Connection *connection;
    struct request request;
    size_t route;
    enum stage stage;
    enum outcome outcome;           /* other than ANSWERED: it is refused */
    struct error error;
    struct buffer body;
    struct worker worker;
    double began;
};

struct http_server {
    const struct serve_options *terms;
    struct MHD_Daemon *daemon;
    int listener, signals;
    bool loopback, ending, hurried; /* listens on loopback only; got one signal to end; got two */
    bool again;                     /* libmicrohttpd has to be run before the next wait */
    double now;
    struct connection clients[CONNECTIONS_MOST];
    struct asked asked;             /* head of a ring of all requests, the oldest first */
    size_t held;                    /* bytes of all bodies in memory */
    struct buffer openapi;
    struct metrics metrics;
};

static struct worker_limits limits_of(const struct http_server *server)
{
    return (struct worker_limits){ server->terms->seconds, server->terms->memory,
                                   server->metrics.running + 1 };
}

/* ---- answers ------------------------------------------------------------------------------- */

static const char page_policy[] =
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src 'self' data: "
    "blob:; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static struct MHD_Response *response_make(struct text text, const char *type, const char *cache)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        text.size, (void *)(uintptr_t)text.data, MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, cache);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    return response;
}

/* Hands it to the client, and counts. */
static enum MHD_Result send_response(struct asked *asked, enum outcome outcome,
                                     struct MHD_Response *response)
{
    struct http_server *server = asked->server;
    double now = clock_seconds(CLOCK_MONOTONIC);
    asked->stage = STAGE_SENT;
    asked->client->until = now + server->terms->seconds;
    metrics_count(&server->metrics, asked->route, outcome, now - asked->began);
    enum MHD_Result result = MHD_queue_response(asked->connection,
                                                (unsigned)outcomes[outcome].status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_json(struct asked *asked, enum outcome outcome, struct text json)
{
    struct MHD_Response *response = response_make(json, "application/json", "no-store");
    if (outcome == OUTCOME_BUSY)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    if (outcome == OUTCOME_METHOD)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
                                route_verb(asked->route) ? "GET, HEAD, POST" : "GET, HEAD");
    return send_response(asked, outcome, response);
}

static enum MHD_Result send_error(struct asked *asked)
{
    struct buffer json = { .arena = &asked->arena };
    respond_error(&asked->arena, &asked->error, &json);
    return send_json(asked, asked->outcome, (struct text){ json.data, json.size });
}

static void refuse(struct asked *asked, enum outcome outcome, const char *hint)
{
    if (asked->outcome != OUTCOME_ANSWERED)
        return;                                     /* the first reason stands */
    asked->outcome = outcome;
    error_set(&asked->error, "%s", outcomes[outcome].meaning);
    error_expected(&asked->error, "%s", hint);
}

/* ---- who may ask, and what ----------------------------------------------------------------- */

static const char *header(const struct asked *asked, const char *name)
{
    return MHD_lookup_connection_value(asked->connection, MHD_HEADER_KIND, name);
}

static void check_origin(struct asked *asked)
{
    const char *host = header(asked, MHD_HTTP_HEADER_HOST), *origin = header(asked, "Origin");
    const char *site = header(asked, "Sec-Fetch-Site");
    const char *address = asked->server->terms->address;
    if (asked->server->loopback && host && !route_own_host(host, address))
        refuse(asked, OUTCOME_HOST, "localhost, or --bind for a server that others may reach");
    if ((site && !strcmp(site, "cross-site") && asked->route != ROUTE_PAGE) ||
        (origin && asked->server->loopback && !route_own_host(origin, address)))
        refuse(asked, OUTCOME_FOREIGN, "the server's own page, or a program");
}

static void check_method(struct asked *asked, const char *method)
{
    bool got = !strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD);
    asked->request.posted = !strcmp(method, MHD_HTTP_METHOD_POST);
    if (asked->route != ROUTE_NONE && !got && !(asked->request.posted && asked->request.verb))
        refuse(asked, OUTCOME_METHOD, asked->request.verb ? "GET or POST" : "GET");
}

/* A form, or plain text, is what a page of another site can send without being asked first. */
static void check_type(struct asked *asked)
{
    static const char json[] = "application/json";
    const char *type = header(asked, MHD_HTTP_HEADER_CONTENT_TYPE);
    if (asked->request.posted && (!type || strncasecmp(type, json, sizeof json - 1) ||
                                  !strchr("; ", type[sizeof json - 1])))
        refuse(asked, OUTCOME_TYPE, "Content-Type: application/json (curl --json '{...}')");
}

static void check_size(struct asked *asked, size_t size)
{
    const struct serve_options *terms = asked->server->terms;
    if (size > terms->body)
        refuse(asked, OUTCOME_LARGE,
               arena_print(&asked->arena, "at most %zu bytes, `chalkline serve --body-limit`",
                           terms->body));
    else if (asked->server->held + size - asked->body.size > BODIES_MOST * terms->body)
        refuse(asked, OUTCOME_BUSY, "again in a second");
}

static enum MHD_Result keep_pair(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    (void)kind;
    struct asked *asked = context;
    struct request *request = &asked->request;
    *(struct request_pair *)arena_push(&asked->arena, &request->pairs, &request->pair_count,
                               &request->pair_room, sizeof *request->pairs) =
        (struct request_pair){ arena_copy(&asked->arena, name, strlen(name)),
                       value ? arena_copy(&asked->arena, value, strlen(value)) : "" };
    return MHD_YES;
}

static void read_head(struct asked *asked, const char *path, const char *method)
{
    const char *length = header(asked, MHD_HTTP_HEADER_CONTENT_LENGTH);
    asked->route = route_find(path);
    asked->request.verb = route_verb(asked->route);
    check_origin(asked);
    check_method(asked, method);
    if (asked->outcome == OUTCOME_ANSWERED && asked->route == ROUTE_NONE) {
        asked->outcome = OUTCOME_NOWHERE;
        route_unknown(path, &asked->error);
    }
    check_type(asked);
    if (length)
        check_size(asked, strtoull(length, NULL, 10));
    MHD_get_connection_values(asked->connection, MHD_GET_ARGUMENT_KIND, keep_pair, asked);
}

/* ---- the routes of the server itself ------------------------------------------------------- */

/* A build without the page still answers a reader, with how to get it. */
static enum MHD_Result send_no_page(struct asked *asked)
{
    static const char html[] =
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
        "<title>chalkline: built without its page</title>"
        "<style>body{max-width:34em;margin:3em auto;padding:0 1em;font:17px/1.6 Georgia,serif;"
        "color:#1d1c1a;background:#fcfbf8}pre{background:#ece8df;padding:.6em 1em}"
        "h1{font-weight:400}</style><h1>This chalkline was built without its page</h1>"
        "<p>In its source tree, this builds the page and a chalkline that contains it:</p>"
        "<pre>make page</pre><p>It installs what it needs: Node, clang and the C library for "
        "WebAssembly. Then start the server again:</p><pre>./chalkline serve</pre>"
        "<p>Everything else is here already: <a href=\"/v1/openapi.json\">what this server "
        "answers</a>, as JSON over HTTP.</p></html>";
    struct MHD_Response *response = response_make((struct text){ html, sizeof html - 1 },
                                                  "text/html; charset=utf-8", "no-cache");
    MHD_add_response_header(response, "Content-Security-Policy", page_policy);
    return send_response(asked, OUTCOME_NOWHERE, response);
}

static enum MHD_Result send_page(struct asked *asked)
{
    struct text packed, text;
    if (!handout_there(asked->server->terms->page, &packed, &asked->error))
        return send_no_page(asked);
    const char *known = header(asked, MHD_HTTP_HEADER_IF_NONE_MATCH);
    bool gzip = handout_takes_gzip(header(asked, MHD_HTTP_HEADER_ACCEPT_ENCODING));
    const char *tag = arena_print(&asked->arena, "\"%08lx-%s\"",
                                  crc32(0, (const Bytef *)packed.data, (uInt)packed.size),
                                  gzip ? "gzip" : "plain");
    bool same = known && (strstr(known, tag) || !strcmp(known, "*"));
    text = same ? (struct text){ "", 0 } : packed;
    if (!same && !gzip && !handout_unpack(&asked->arena, packed, &text, &asked->error)) {
        asked->outcome = OUTCOME_BROKEN;
        return send_error(asked);
    }
    struct MHD_Response *response = response_make(text, "text/html; charset=utf-8", "no-cache");
    if (gzip && !same)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, tag);
    MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    MHD_add_response_header(response, "Content-Security-Policy", page_policy);
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    return send_response(asked, same ? OUTCOME_UNCHANGED : OUTCOME_ANSWERED, response);
}

static enum MHD_Result send_openapi(struct asked *asked)
{
    const struct buffer *json = &asked->server->openapi;
    return send_json(asked, OUTCOME_ANSWERED, (struct text){ json->data, json->size });
}

static enum MHD_Result send_metrics(struct asked *asked)
{
    struct buffer text = { .arena = &asked->arena };
    metrics_print(&asked->server->metrics, &text);
    return send_response(asked, OUTCOME_ANSWERED,
                         response_make((struct text){ text.data, text.size },
                                       "text/plain; version=0.0.4; charset=utf-8", "no-store"));
}

/* ---- a question's way through its stages --------------------------------------------------- */

static struct asked *asked_open(struct http_server *server, struct MHD_Connection *connection)
{
    struct arena arena = { 0 };
    struct asked *asked = arena_alloc(&arena, sizeof *asked);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    asked->arena = arena;
    asked->body.arena = &asked->arena;
    asked->server = server;
    asked->connection = connection;
    asked->client = info->socket_context;
    asked->began = clock_seconds(CLOCK_MONOTONIC);
    asked->next = &server->asked;
    asked->before = server->asked.before;
    asked->next->before = asked->before->next = asked;
    return asked;
}

static void asked_close(void *context, struct MHD_Connection *connection, void **place,
                        enum MHD_RequestTerminationCode code)
{
    (void)context, (void)connection, (void)code;
    struct asked *asked = *place;
    if (!asked)
        return;
    asked->client->until = clock_seconds(CLOCK_MONOTONIC) + asked->server->terms->seconds;
    asked->server->held -= asked->body.size;
    asked->next->before = asked->before;
    asked->before->next = asked->next;
    struct arena arena = asked->arena;
    arena_free(&arena);
}

static void asked_more(struct asked *asked, const char *data, size_t size)
{
    if (asked->request.posted)
        check_size(asked, asked->body.size + size);
    if (asked->outcome != OUTCOME_ANSWERED || !asked->request.posted)
        return;                                     /* read on, to be heard */
    buffer_add(&asked->body, data, size);
    asked->server->held += size;
}

static enum MHD_Result asked_wait(struct asked *asked)
{
    struct http_server *server = asked->server;
    asked->request.body = (struct text){ asked->body.data, asked->body.size };
    if (server->metrics.waiting >= server->terms->waiting || server->ending) {
        refuse(asked, OUTCOME_BUSY, "again in a second");
        return send_error(asked);
    }
    asked->stage = STAGE_WAITING;
    asked->client->until = INFINITY;
    asked->worker.until = clock_seconds(CLOCK_MONOTONIC) + server->terms->seconds;
    server->metrics.waiting++;
    MHD_suspend_connection(asked->connection);
    return MHD_YES;
}

static enum MHD_Result asked_whole(struct asked *asked)
{
    if (asked->outcome != OUTCOME_ANSWERED)
        return send_error(asked);
    switch (asked->route) {
    case ROUTE_PAGE:    return send_page(asked);
    case ROUTE_OPENAPI: return send_openapi(asked);
    case ROUTE_METRICS: return send_metrics(asked);
    default:            return asked_wait(asked);
    }
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *size, void **place)
{
    (void)version;
    struct asked *asked = *place;
    if (!asked) {
        asked = *place = asked_open(context, connection);
        read_head(asked, path, method);
        /* Nothing of too large a body is read. */
        return asked->outcome == OUTCOME_LARGE ? send_error(asked) : MHD_YES;
    }
    if (*size) {
        asked_more(asked, data, *size);
        *size = 0;
        return MHD_YES;
    }
    return asked->stage == STAGE_COMING ? asked_whole(asked) : MHD_YES;
}

static void resume(struct asked *asked)
{
    MHD_resume_connection(asked->connection);
    asked->server->again = true;
}

static void asked_finish(struct asked *asked, bool late)
{
    struct http_server *server = asked->server;
    struct worker_limits limits = limits_of(server);
    struct text json;
    server->metrics.running--;
    enum outcome outcome = worker_end(&asked->worker, &limits, late, &json);
    send_json(asked, outcome, json);
    resume(asked);
}

static void asked_start(struct asked *asked)
{
    struct http_server *server = asked->server;
    struct worker_limits limits = limits_of(server);
    server->metrics.waiting--;
    if (worker_start(&asked->worker, &asked->arena, &asked->request, &limits, server->now)) {
        asked->stage = STAGE_RUNNING;
        server->metrics.running++;
        return;
    }
    refuse(asked, OUTCOME_BUSY, "again in a second: no process could be started");
    send_error(asked);
    resume(asked);
}

/* Its turn has not come in time, or nobody waits for it any more. */
static void asked_give_up(struct asked *asked, enum outcome outcome)
{
    struct text ignored;
    struct worker_limits limits = limits_of(asked->server);
    if (asked->stage == STAGE_RUNNING) {
        asked->server->metrics.running--;
        worker_end(&asked->worker, &limits, true, &ignored);
    } else {
        asked->server->metrics.waiting--;
    }
    refuse(asked, outcome, "again in a second");
    send_error(asked);
    resume(asked);
}

/* ---- clients ------------------------------------------------------------------------------- */

static void on_client(void *context, struct MHD_Connection *connection, void **place,
                      enum MHD_ConnectionNotificationCode code)
{
    struct http_server *server = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        *(struct connection *)*place = (struct connection){ .there = false };
        server->metrics.connections--;
        /* At its limit of connections or files libmicrohttpd stops listening, and begins again only
         * when it is run after one has closed. */
        server->again = true;
        return;
    }
    struct connection *client = server->clients;
    while (client->there)                           /* libmicrohttpd keeps to their number */
        client++;
    assert(client < server->clients + CONNECTIONS_MOST);
    *client = (struct connection){
        true, MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
        clock_seconds(CLOCK_MONOTONIC) + server->terms->seconds };
    *place = client;
    server->metrics.connections++;
}

/* One that is slow, on purpose or not, is hung up on: libmicrohttpd sees its end and closes. */
static void hang_up(struct http_server *server)
{
    for (size_t i = 0; i < CONNECTIONS_MOST; i++)
        if (server->clients[i].there && server->clients[i].until <= server->now) {
            shutdown(server->clients[i].fd, SHUT_RDWR);
            server->clients[i].until = INFINITY;
        }
}

/* ---- the loop ------------------------------------------------------------------------------ */

struct watched {
    struct pollfd fds[2 + 2 * CONNECTIONS_MOST];
    nfds_t count;
};

static void watch(struct watched *watched, int fd, short events)
{
    watched->fds[watched->count++] = (struct pollfd){ .fd = fd, .events = events };
}

static short seen(const struct watched *watched, int fd)
{
    for (nfds_t i = 0; i < watched->count; i++)
        if (watched->fds[i].fd == fd)
            return watched->fds[i].revents;
    return 0;
}

/* What may happen next: a signal, something of libmicrohttpd's, an answer, a client that went. */
static void watch_all(struct http_server *server, struct watched *watched)
{
    watched->count = 0;
    watch(watched, server->signals, POLLIN);
    watch(watched, MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
          POLLIN);
    for (struct asked *asked = server->asked.next; asked != &server->asked; asked = asked->next) {
        if (asked->stage == STAGE_RUNNING)
            watch(watched, asked->worker.pipe, POLLIN);
        if (asked->stage == STAGE_RUNNING || asked->stage == STAGE_WAITING)
            watch(watched, asked->client->fd, POLLRDHUP);
    }
}

static int milliseconds_left(const struct http_server *server)
{
    MHD_UNSIGNED_LONG_LONG wanted;
    double until = server->again ? server->now : server->now + 3600;
    if (MHD_get_timeout(server->daemon, &wanted) == MHD_YES)
        until = fmin(until, server->now + 1e-3 * (double)wanted);
    for (size_t i = 0; i < CONNECTIONS_MOST; i++)
        if (server->clients[i].there)
            until = fmin(until, server->clients[i].until);
    for (const struct asked *asked = server->asked.next; asked != &server->asked;
         asked = asked->next)
        if (asked->stage == STAGE_RUNNING || asked->stage == STAGE_WAITING)
            until = fmin(until, asked->worker.until);
    return (int)ceil(1e3 * fmax(until - clock_seconds(CLOCK_MONOTONIC), 0));
}

static void take_signal(struct http_server *server)
{
    struct signalfd_siginfo signal;
    if (read(server->signals, &signal, sizeof signal) != sizeof signal)
        return;
    server->hurried = server->ending;
    server->ending = true;
    if (server->listener >= 0)
        close(MHD_quiesce_daemon(server->daemon));
    server->listener = -1;
}

static void step(const struct watched *watched, struct asked *asked)
{
    const struct http_server *server = asked->server;
    bool running = asked->stage == STAGE_RUNNING;
    if (!running && asked->stage != STAGE_WAITING)
        return;
    if (server->hurried)
        asked_give_up(asked, OUTCOME_BUSY);
    else if (running && seen(watched, asked->worker.pipe) && worker_read(&asked->worker))
        asked_finish(asked, false);
    else if (seen(watched, asked->client->fd))
        asked_give_up(asked, OUTCOME_GONE);
    else if (asked->worker.until <= server->now && running)
        asked_finish(asked, true);
    else if (asked->worker.until <= server->now)
        asked_give_up(asked, OUTCOME_BUSY);
    else if (!running && server->metrics.running < server->terms->at_once)
        asked_start(asked);
}

static void turn(struct http_server *server)
{
    struct watched watched;
    watch_all(server, &watched);
    if (poll(watched.fds, watched.count, milliseconds_left(server)) < 0 && errno != EINTR)
        return;
    server->now = clock_seconds(CLOCK_MONOTONIC);
    if (watched.fds[0].revents)
        take_signal(server);
    server->again = false;
    MHD_run(server->daemon);
    for (struct asked *asked = server->asked.next, *next; asked != &server->asked; asked = next) {
        next = asked->next;
        step(&watched, asked);
    }
    hang_up(server);
}

/* Somebody waits for an answer, or takes one. */
static bool is_needed(const struct http_server *server)
{
    for (const struct asked *asked = server->asked.next; asked != &server->asked;
         asked = asked->next)
        if (asked->stage != STAGE_COMING)
            return true;
    return false;
}

/* ---- beginning and end --------------------------------------------------------------------- */

static bool open_daemon(struct http_server *server, struct error *error)
{
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, server,
        MHD_OPTION_LISTEN_SOCKET, server->listener,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_MOST,
        MHD_OPTION_NOTIFY_COMPLETED, asked_close, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, on_client, server, MHD_OPTION_END);
    return server->daemon || error_set(error, "libmicrohttpd does not start: %s", strerror(errno));
}

static void serve_on(struct http_server *server)
{
    server->now = clock_seconds(CLOCK_MONOTONIC);
    while (!server->ending || (is_needed(server) && !server->hurried))
        turn(server);
    MHD_run(server->daemon);
    MHD_stop_daemon(server->daemon);
}

static void serve_until_signal(struct http_server *server, struct arena *arena,
                               void (*ready)(const char *url))
{
    sigset_t ends, before;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, &before);
    signal(SIGPIPE, SIG_IGN);
    server->signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    openapi_print(arena, &server->openapi);
    ready(listen_url(arena, server->listener, &server->loopback));
    serve_on(server);
    close(server->signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

bool serve(const struct serve_options *terms, void (*ready)(const char *url),
           struct error *error)
{
    static struct http_server server;                    /* large; a process has one */
    struct arena arena = { 0 };
    server = (struct http_server){ .terms = terms, .listener = -1, .openapi.arena = &arena };
    server.asked.next = server.asked.before = &server.asked;
    bool good = listen_open(terms->address, terms->port, "--port", &server.listener, error) &&
                open_daemon(&server, error);
    if (good)
        serve_until_signal(&server, &arena, ready);
    else if (server.listener >= 0)
        close(server.listener);
    arena_free(&arena);
    return good;
}
