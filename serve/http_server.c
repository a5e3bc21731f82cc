/* The HTTP server of `serve`: what is asked where, who is answered next, and how.
 *
 * The door (base/door.h) has the connections and what a client may hold; answers are computed in worker processes
 * (worker.c), so that a question cannot delay the others, exhaust their memory or crash the server. A question waits for
 * its turn, runs, and is answered; what is asked again is answered from memory (remembered.c).
 *
 * Turns are fair among the clients' addresses: next is the oldest question of the address that has fewest running. One
 * that takes longer than `quick_seconds` makes room for another and goes on among the long ones, at a lower priority;
 * of these as many run as of the quick, and the others stand still until one has ended. A client who is refused because
 * too many wait hears it after a second or more, so that who asks again at once does not take the server's time. The first
 * signal closes the listener and lets the requests in progress finish; the second does not wait for them. */
#define _GNU_SOURCE
#include "serve/http_server.h"
#include "base/clock.h"
#include "base/door.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <zlib.h>

enum {
    AT_ONCE_MOST = 256,
    LONG_MOST = 8,                  /* long questions that run or stand still, per --at-once */
    LONG_NICE = 10,
    PAUSED_FEW = 512,               /* pauses last twice as long where so many do */
};
static const double quick_seconds = 0.1, least_seconds = 0.03, pause_seconds = 1;

enum stage { STAGE_COMING, STAGE_WAITING, STAGE_QUICK, STAGE_LONG, STAGE_STILL, STAGE_PAUSED, STAGE_SENT, STAGES };

TAILQ_HEAD(asked_queue, asked);

/* A request from its first header to its response. */
struct asked {
    struct exchange exchange;
    struct request request;
    size_t route;
    enum stage stage;
    TAILQ_ENTRY(asked) beside;      /* of its stage, the first to enter first */
    struct error error;
    struct worker worker;
    struct door_watch pipe;        /* the worker's */
    double until, left;             /* when its stage ends, s; of its time, while it stands still */
    double spent, slow;             /* the worker's processor time as it began, s; when it may have run for long */
};

struct http_server {
    const struct serve_options *terms;
    struct door *door;
    double now;
    struct asked_queue queues[STAGES];      /* but of the first and the last */
    size_t counts[STAGES];
    struct worker idle[AT_ONCE_MOST];       /* that wait for a question */
    size_t idle_count;
    struct remembered *remembered;
    struct buffer openapi;
    struct metrics metrics;
};

static struct http_server *server_of(const struct asked *asked)
{
    return door_context(asked->exchange.door);
}

static struct asked *asked_of(struct exchange *exchange)
{
    return (struct asked *)exchange;
}

static struct worker_limits limits_of(const struct http_server *server)
{
    return (struct worker_limits){ server->terms->seconds, server->terms->memory };
}

/* ---- answers ------------------------------------------------------------------------------- */

static const char page_policy[] =
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src 'self' data: "
    "blob:; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static bool is_queued(enum stage stage)
{
    return stage != STAGE_COMING && stage != STAGE_SENT;
}

static void asked_enter(struct asked *asked, enum stage stage, double until)
{
    struct http_server *server = server_of(asked);
    if (is_queued(asked->stage)) {
        TAILQ_REMOVE(&server->queues[asked->stage], asked, beside);
        server->counts[asked->stage]--;
    }
    if (is_queued(stage)) {
        TAILQ_INSERT_TAIL(&server->queues[stage], asked, beside);
        server->counts[stage]++;
    }
    asked->stage = stage;
    asked->until = until;
    door_hurry(server->door);                       /* somebody's turn may have come */
}

/* Hands it to the client, and counts. */
static void send(struct asked *asked, enum outcome outcome, const char *type, const char *cache, struct text text)
{
    struct http_server *server = server_of(asked);
    asked_enter(asked, STAGE_SENT, INFINITY);
    metrics_count(&server->metrics, asked->route, outcome, clock_seconds(CLOCK_MONOTONIC) - asked->exchange.began);
    exchange_add_header(&asked->exchange, "Cache-Control", cache);
    exchange_reply(&asked->exchange, outcomes[outcome].status, type, text);
}

static void send_json(struct asked *asked, enum outcome outcome, struct text json)
{
    if (outcome == OUTCOME_METHOD)
        exchange_add_header(&asked->exchange, "Allow", route_verb(asked->route) ? "GET, HEAD, POST" : "GET, HEAD");
    send(asked, outcome, "application/json", "no-store", json);
}

static enum outcome outcome_of(int status)
{
    enum outcome outcome = OUTCOME_ANSWERED;
    while (outcome < OUTCOME_BROKEN && outcomes[outcome].status != status)
        outcome++;
    return status == outcomes[OUTCOME_BUSY].status ? OUTCOME_BUSY : outcome;
}

static void send_error(struct asked *asked, enum outcome outcome)
{
    struct buffer json = { .arena = &asked->exchange.arena };
    respond_error(&asked->exchange.arena, &asked->error, &json);
    send_json(asked, outcome, (struct text){ json.data, json.size });
}

static void asked_refused(struct exchange *exchange)
{
    struct asked *asked = asked_of(exchange);
    if (!*asked->error.what) {
        error_set(&asked->error, "%s", exchange->what);
        error_expected(&asked->error, "%s", exchange->hint);
    }
    send_error(asked, outcome_of(exchange->refused));
}

static int print_refusal(char *to, size_t room, int status, const char *what, const char *hint)
{
    (void)status;
    return snprintf(to, room, "{\"error\": {\"what\": \"%s\", \"hint\": \"%s\", \"expected\": \"%s\", \"similar\": []}}\n", what, hint,
                    hint);
}

static void refuse(struct asked *asked, enum outcome outcome, const char *hint)
{
    exchange_refuse(&asked->exchange, outcomes[outcome].status, outcomes[outcome].meaning, hint);
}

/* ---- what is asked ------------------------------------------------------------------------- */

static void check_method(struct asked *asked)
{
    const struct exchange *exchange = &asked->exchange;
    asked->request.posted = exchange->posted;
    if (asked->route != ROUTE_NONE && !exchange->got && !(exchange->posted && asked->request.verb))
        refuse(asked, OUTCOME_METHOD, asked->request.verb ? "GET or POST" : "GET");
}

/* A form, or plain text, is what a page of another site can send without being asked first. */
static void check_type(struct asked *asked)
{
    static const char json[] = "application/json";
    const char *type = exchange_header(&asked->exchange, "Content-Type");
    if (asked->request.posted && (!type || strncasecmp(type, json, sizeof json - 1) ||
                                  !strchr("; ", type[sizeof json - 1])))
        refuse(asked, OUTCOME_TYPE, "Content-Type: application/json (curl --json '{...}')");
}

static void keep_pair(struct exchange *exchange, const char *name, const char *value)
{
    struct request *request = &asked_of(exchange)->request;
    struct arena *arena = &exchange->arena;
    *(struct request_pair *)arena_push(arena, &request->pairs, &request->pair_count, &request->pair_room,
                                       sizeof *request->pairs) =
        (struct request_pair){ arena_copy(arena, name, strlen(name)), arena_copy(arena, value, strlen(value)) };
}

static void asked_head(struct exchange *exchange)
{
    struct asked *asked = asked_of(exchange);
    asked->route = route_find(exchange->path);
    asked->request.verb = route_verb(asked->route);
    check_method(asked);
    if (!exchange->refused && asked->route == ROUTE_NONE) {
        refuse(asked, OUTCOME_NOWHERE, "");
        route_unknown(exchange->path, &asked->error);
    }
    check_type(asked);
    exchange_arguments(exchange, keep_pair);
}

/* ---- the routes of the server itself ------------------------------------------------------- */

/* A build without the page still answers a reader, with how to get it. */
static void send_no_page(struct asked *asked)
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
    exchange_add_header(&asked->exchange, "Content-Security-Policy", page_policy);
    send(asked, OUTCOME_NOWHERE, "text/html; charset=utf-8", "no-cache", (struct text){ html, sizeof html - 1 });
}

static void send_page(struct asked *asked)
{
    struct exchange *exchange = &asked->exchange;
    struct text packed, text;
    if (!handout_there(server_of(asked)->terms->page, &packed, &asked->error)) {
        send_no_page(asked);
        return;
    }
    const char *known = exchange_header(exchange, "If-None-Match");
    bool gzip = handout_takes_gzip(exchange_header(exchange, "Accept-Encoding"));
    const char *tag = arena_print(&exchange->arena, "\"%08lx-%s\"",
                                  crc32(0, (const Bytef *)packed.data, (uInt)packed.size),
                                  gzip ? "gzip" : "plain");
    bool same = known && (strstr(known, tag) || !strcmp(known, "*"));
    text = same ? (struct text){ "", 0 } : packed;
    if (!same && !gzip && !handout_unpack(&exchange->arena, packed, &text, &asked->error)) {
        send_error(asked, OUTCOME_BROKEN);
        return;
    }
    if (gzip && !same)
        exchange_add_header(exchange, "Content-Encoding", "gzip");
    exchange_add_header(exchange, "ETag", tag);
    exchange_add_header(exchange, "Vary", "Accept-Encoding");
    exchange_add_header(exchange, "Content-Security-Policy", page_policy);
    exchange_add_header(exchange, "Referrer-Policy", "no-referrer");
    send(asked, same ? OUTCOME_UNCHANGED : OUTCOME_ANSWERED, "text/html; charset=utf-8", "no-cache", text);
}

static void send_metrics(struct asked *asked)
{
    struct http_server *server = server_of(asked);
    struct buffer text = { .arena = &asked->exchange.arena };
    server->metrics.connections = door_connections(server->door);
    server->metrics.running = server->counts[STAGE_QUICK] + server->counts[STAGE_LONG] + server->counts[STAGE_STILL];
    server->metrics.waiting = server->counts[STAGE_WAITING];
    metrics_print(&server->metrics, &text);
    send(asked, OUTCOME_ANSWERED, "text/plain; version=0.0.4; charset=utf-8", "no-store",
         (struct text){ text.data, text.size });
}

/* ---- a question's way through its stages --------------------------------------------------- */

static size_t count_of(const struct http_server *server, enum stage stage, uint64_t from)
{
    size_t count = 0;
    const struct asked *asked;
    TAILQ_FOREACH(asked, &server->queues[stage], beside)
        count += asked->exchange.from == from;
    return count;
}

static void asked_pause(struct asked *asked)
{
    const double crowd = (double)server_of(asked)->counts[STAGE_PAUSED] / PAUSED_FEW;
    const struct asked *last = TAILQ_LAST(&server_of(asked)->queues[STAGE_PAUSED], asked_queue);
    const double until = clock_seconds(CLOCK_MONOTONIC) + pause_seconds * (1 + crowd);
    asked_enter(asked, STAGE_PAUSED, last ? fmax(until, last->until) : until);
}

/* The newest that waits, of a client of whom another waits, makes room; false: there is none. */
static bool make_room(struct http_server *server)
{
    struct asked *asked;
    TAILQ_FOREACH_REVERSE(asked, &server->queues[STAGE_WAITING], asked_queue, beside)
        if (count_of(server, STAGE_WAITING, asked->exchange.from) > 1) {
            asked_pause(asked);
            return true;
        }
    return false;
}

static void asked_wait(struct asked *asked)
{
    struct http_server *server = server_of(asked);
    struct exchange *exchange = &asked->exchange;
    struct text known;
    asked->request.body = exchange->body;
    if (remembered_find(server->remembered, &exchange->arena, asked->route, &asked->request, &known)) {
        send_json(asked, OUTCOME_ANSWERED, known);
        return;
    }
    bool full = server->counts[STAGE_WAITING] >= server->terms->waiting;
    if (full && !count_of(server, STAGE_WAITING, exchange->from))
        full = !make_room(server);
    if (full || door_signals(server->door))
        asked_pause(asked);
    else
        asked_enter(asked, STAGE_WAITING, clock_seconds(CLOCK_MONOTONIC) + server->terms->seconds);
    exchange_wait(exchange);
}

static void asked_whole(struct exchange *exchange)
{
    struct asked *asked = asked_of(exchange);
    const struct buffer *openapi = &server_of(asked)->openapi;
    switch (asked->route) {
    case ROUTE_PAGE:    send_page(asked); break;
    case ROUTE_OPENAPI: send_json(asked, OUTCOME_ANSWERED, (struct text){ openapi->data, openapi->size }); break;
    case ROUTE_METRICS: send_metrics(asked); break;
    default:            asked_wait(asked);
    }
}

static void asked_finish(struct asked *asked, bool late)
{
    struct http_server *server = server_of(asked);
    struct worker_limits limits = limits_of(server);
    struct text json;
    const bool quick = asked->stage == STAGE_QUICK;     /* at the priority of the quick it is the next one's too */
    door_unwatch(server->door, &asked->pipe);
    enum outcome outcome = worker_end(&asked->worker, &limits, late, quick, &json);
    if (asked->worker.process)
        server->idle[server->idle_count++] = asked->worker;
    if (outcome == OUTCOME_ANSWERED)
        remembered_keep(server->remembered, asked->route, &asked->request, json);
    send_json(asked, outcome, json);
}

/* Its turn has not come in time, or nobody waits for it any more. */
static void asked_give_up(struct asked *asked, enum outcome outcome)
{
    struct http_server *server = server_of(asked);
    if (asked->worker.process) {
        door_unwatch(server->door, &asked->pipe);
        worker_close(&asked->worker);
    }
    error_set(&asked->error, "%s", outcomes[outcome].meaning);
    error_expected(&asked->error, "again in a second");
    send_error(asked, outcome);
}

static void asked_left(struct exchange *exchange)
{
    asked_give_up(asked_of(exchange), OUTCOME_GONE);
}

static void worker_said(struct door_watch *watch)
{
    struct asked *asked = (struct asked *)((char *)watch - offsetof(struct asked, pipe));
    if (worker_read(&asked->worker))
        asked_finish(asked, false);
}

static void asked_start(struct asked *asked)
{
    struct http_server *server = server_of(asked);
    struct worker_limits limits = limits_of(server);
    const size_t running = server->counts[STAGE_QUICK] + server->counts[STAGE_LONG] + 1;
    size_t threads = server->terms->at_once / running;
    threads = threads > THREADS_CONFINED ? THREADS_CONFINED : threads ? threads : 1;
    if (server->idle_count) {
        asked->worker = server->idle[--server->idle_count];
    } else if (!worker_open(&asked->worker, &limits)) {
        asked_give_up(asked, OUTCOME_BUSY);         /* no process could be started */
        return;
    }
    asked->spent = worker_seconds(&asked->worker);
    asked->slow = server->now + quick_seconds;
    asked->pipe = (struct door_watch){ asked->worker.socket, worker_said };
    door_watch(server->door, &asked->pipe);
    asked_enter(asked, STAGE_QUICK, server->now + server->terms->seconds);
    if (!worker_ask(&asked->worker, &asked->exchange.arena, asked->route, &asked->request, threads))
        asked_finish(asked, false);
}

/* If it has run for long, it goes on among the long ones, or stands still until there is room. */
static void asked_slow(struct asked *asked)
{
    struct http_server *server = server_of(asked);
    const size_t at_once = server->terms->at_once;
    if (worker_seconds(&asked->worker) - asked->spent < least_seconds) {
        asked->slow = server->now + quick_seconds;  /* it has waited for a processor */
        return;
    }
    const size_t longs = server->counts[STAGE_LONG];
    if (longs < at_once) {
        asked_enter(asked, STAGE_LONG, asked->until);
        setpriority(PRIO_PROCESS, (id_t)asked->worker.process, LONG_NICE);
    } else if (longs + server->counts[STAGE_STILL] < LONG_MOST * at_once) {
        kill(asked->worker.process, SIGSTOP);
        asked->left = asked->until - server->now;
        asked_enter(asked, STAGE_STILL, server->now + server->terms->seconds);
    } else {
        asked_give_up(asked, OUTCOME_BUSY);
    }
}

static void asked_go_on(struct asked *asked)
{
    const struct http_server *server = server_of(asked);
    asked_enter(asked, STAGE_LONG, server->now + asked->left);
    setpriority(PRIO_PROCESS, (id_t)asked->worker.process, LONG_NICE);
    kill(asked->worker.process, SIGCONT);
}

/* ---- whose turn it is ---------------------------------------------------------------------- */

/* The oldest question in a stage, of the client that has fewest running; NULL: there is none. */
static struct asked *fairest(const struct http_server *server, enum stage stage)
{
    struct asked *best = NULL, *asked;
    size_t least = SIZE_MAX;
    TAILQ_FOREACH(asked, &server->queues[stage], beside) {
        const uint64_t from = asked->exchange.from;
        if (best && from == best->exchange.from)
            continue;
        const size_t running = count_of(server, STAGE_LONG, from) +
                               (stage == STAGE_WAITING ? count_of(server, STAGE_QUICK, from) : 0);
        if (running < least)
            best = asked, least = running;
        if (!least)
            break;
    }
    return best;
}

static void give_turns(struct http_server *server)
{
    struct asked *asked;
    while (server->counts[STAGE_QUICK] < server->terms->at_once && (asked = fairest(server, STAGE_WAITING)))
        asked_start(asked);
    while (server->counts[STAGE_LONG] < server->terms->at_once && (asked = fairest(server, STAGE_STILL)))
        asked_go_on(asked);
}

/* ---- the loop ------------------------------------------------------------------------------ */

/* Of those that wait and pause the first is due first; of the others there are few. */
static bool is_ordered(enum stage stage)
{
    return stage == STAGE_WAITING || stage == STAGE_PAUSED;
}

static double due(const struct http_server *server)
{
    const struct asked *asked;
    double until = INFINITY;
    for (int stage = STAGE_WAITING; stage <= STAGE_PAUSED; stage++)
        TAILQ_FOREACH(asked, &server->queues[stage], beside) {
            until = fmin(until, stage == STAGE_QUICK ? fmin(asked->until, asked->slow) : asked->until);
            if (is_ordered(stage))
                break;
        }
    return until;
}

/* What the clock, or a second signal, does to a question; false: nothing. */
static bool step(struct asked *asked, bool hurried)
{
    const struct http_server *server = server_of(asked);
    const bool runs = asked->stage == STAGE_QUICK || asked->stage == STAGE_LONG;
    if (hurried || (asked->until <= server->now && !runs))
        asked_give_up(asked, OUTCOME_BUSY);
    else if (asked->until <= server->now)
        asked_finish(asked, true);
    else if (asked->stage == STAGE_QUICK && asked->slow <= server->now)
        asked_slow(asked);
    else
        return false;
    return true;
}

static void turn(struct http_server *server)
{
    door_turn(server->door, due(server));
    server->now = clock_seconds(CLOCK_MONOTONIC);
    const bool hurried = door_signals(server->door) > 1;
    for (int stage = STAGE_WAITING; stage <= STAGE_PAUSED; stage++)
        for (struct asked *asked = TAILQ_FIRST(&server->queues[stage]), *next; asked; asked = next) {
            next = TAILQ_NEXT(asked, beside);
            if (!step(asked, hurried) && is_ordered(stage))
                break;
        }
    give_turns(server);
}

bool serve(const struct serve_options *terms, void (*ready)(const char *url), struct error *error)
{
    static const struct door_calls calls = { sizeof(struct asked), asked_head, asked_whole, asked_refused, NULL, asked_left,
                                             print_refusal, "application/json" };
    const struct door_terms door = {
        .address = terms->access.address, .option = "--port", .port = terms->port, .body = terms->body,
        .body_option = "`chalkline serve --body-limit`", .patience = terms->seconds, .token = terms->access.token, .insecure = terms->access.insecure,
        .heeds_signals = true };
    struct arena arena = { 0 };
    static struct http_server server;               /* large; a process has one */
    server = (struct http_server){ .terms = terms, .openapi.arena = &arena, .now = clock_seconds(CLOCK_MONOTONIC),
                                  .remembered = remembered_new(&arena) };
    for (int stage = 0; stage < STAGES; stage++)
        TAILQ_INIT(&server.queues[stage]);
    const bool good = door_open(&arena, &door, &calls, &server, &server.door, error);
    if (good) {
        openapi_print(&arena, &server.openapi);
        ready(door_url(server.door));
        while (!door_signals(server.door) ||
               (door_is_answering(server.door) && door_signals(server.door) < 2))
            turn(&server);
        while (server.idle_count)
            worker_close(&server.idle[--server.idle_count]);
        door_close(server.door);
    }
    remembered_free(server.remembered);
    arena_free(&arena);
    return good;
}
