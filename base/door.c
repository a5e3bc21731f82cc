/* The door of the servers (door.h), on libmicrohttpd.
 *
 * libmicrohttpd accepts, parses and sends; its descriptors, the signals, those that the server watches and the clients
 * whose answers are awaited are in one epoll. Addresses are resolved, since "localhost" may be ::1 and 127.0.0.1, and the
 * first that can be bound is taken. A client that is slow, on purpose or not, is hung up on: libmicrohttpd sees its end and
 * closes. Deadlines are looked at every quarter of a second, so that a turn does not cost what is connected. */
#define _GNU_SOURCE
#include "base/door.h"
#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <linux/tcp.h>
#include <microhttpd.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BACKLOG = 1024,
    CONNECTIONS_MOST = 4096,
    FILES_OURS = 64,                /* descriptors that are not those of clients */
    FILES_LEAST = FILES_OURS + 16,
    HEAD_MOST = 32 << 10, URI_MOST = 16 << 10, ARGUMENTS_MOST = 1000,
    POOL = 128 << 10,               /* libmicrohttpd's for a connection: a head, its arguments, and what it sends */
    BODIES_MOST = 16,               /* limit of all bodies and answers together, in largest bodies */
    EVENTS = 64,
    REFUSAL_MOST = 500,             /* bytes of what is said of one */
};
static const double head_seconds = 5, stall_seconds = 5, look_seconds = 0.25;

/* A connected client: it must have sent what is due, or taken its answer, by `until`. */
struct door_client {
    struct door_watch watch;       /* while its answer is awaited: has it gone? */
    struct exchange *exchange;      /* which is awaited; NULL: none */
    bool there, due;                /* due: its request is not answered yet */
    bool refused;                   /* at once: libmicrohttpd, which has read it, goes on nevertheless */
    double until, idle;             /* s; idle: until when it need not begin its next request */
    uint64_t received;              /* bytes of it when its last request was answered */
    uint64_t from;
};

struct door {
    struct arena *arena;
    struct door_terms terms;
    struct door_calls calls;
    void *context;
    const char *url;
    bool loopback;
    struct MHD_Daemon *daemon;
    int listener, signal_fd, epoll;
    sigset_t before;
    int signals;
    bool hurried;                   /* libmicrohttpd has to be run before the next wait */
    struct door_client *clients;   /* [client_most] */
    size_t client_most, connections;
    struct exchange ring;           /* its head */
    size_t held;                    /* bytes of bodies and answers in memory */
    struct epoll_event events[EVENTS];      /* of this turn; those of a watch that ends are taken out */
    int event_count;
    double looked;                  /* when deadlines were looked at, s */
};

/* ---- the socket ----------------------------------------------------------------------------------------- */

static int listen_at(const struct addrinfo *place)
{
    int fd = socket(place->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!bind(fd, place->ai_addr, place->ai_addrlen) && !listen(fd, BACKLOG))
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static bool listen_open(struct door *door, struct error *error)
{
    static const char own_address[] = "an address of this machine: 127.0.0.1, ::1, 0.0.0.0";
    const struct door_terms *terms = &door->terms;
    struct addrinfo wanted = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *found;
    char digits[16];
    snprintf(digits, sizeof digits, "%u", terms->port);
    int status = getaddrinfo(terms->address, digits, &wanted, &found);
    if (status) {
        error_set(error, "--bind: '%.100s': %s", terms->address, gai_strerror(status));
        return error_expected(error, "%s", own_address);
    }
    for (const struct addrinfo *at = found; at && door->listener < 0; at = at->ai_next)
        door->listener = listen_at(at);
    int reason = errno;
    freeaddrinfo(found);
    if (door->listener >= 0)
        return true;
    error_set(error, "cannot listen at %s, port %s: %s", terms->address, digits, strerror(reason));
    if (reason == EADDRNOTAVAIL)
        return error_expected(error, "%s", own_address);
    return error_expected(error, "another %s; 0 is any that is free", terms->option);
}

static void find_url(struct door *door)
{
    struct sockaddr_storage place;
    socklen_t size = sizeof place;
    char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
    getsockname(door->listener, (struct sockaddr *)&place, &size);
    getnameinfo((struct sockaddr *)&place, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    const bool six = place.ss_family == AF_INET6;
    door->loopback = six ? !strcmp(host, "::1") : !strncmp(host, "127.", 4);
    door->url = arena_print(door->arena, six ? "http://[%s]:%s/" : "http://%s:%s/", host, port);
}

/* ---- who may ask ---------------------------------------------------------------------------------------- */

const char *exchange_header(const struct exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

const char *exchange_argument(const struct exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* A page of a stranger's site may have its own name lead to this machine (DNS rebinding); the browser then sends that
 * name. */
static bool is_own(const char *host, const char *address)
{
    const char *const names[] = { "localhost", "127.0.0.1", "[::1]", address };
    const char *scheme = strstr(host, "://");
    if (scheme)
        host = scheme + 3;
    const size_t size = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == size && !strncasecmp(names[i], host, size) && (!host[size] || host[size] == ':'))
            return true;
    return false;
}

static void check_origin(struct exchange *exchange)
{
    const struct door *door = exchange->door;
    const char *host = exchange->host, *origin = exchange_header(exchange, "Origin");
    const char *site = exchange_header(exchange, "Sec-Fetch-Site");
    const bool page = exchange->got && !strcmp(exchange->path, "/");
    if (door->loopback && host && !is_own(host, door->terms.address))
        exchange_refuse(exchange, MHD_HTTP_MISDIRECTED_REQUEST, "the Host header is not one of the names of this server",
                        "localhost, or --bind for a server that others may reach");
    if ((site && !strcmp(site, "cross-site") && !page) ||
        (origin && door->loopback && !is_own(origin, door->terms.address)))
        exchange_refuse(exchange, MHD_HTTP_FORBIDDEN, "the request comes from a page of another site",
                        "the server's own page, or a program");
}

/* In a time that does not depend on where the two differ. */
static bool same_secret(const char *a, const char *b)
{
    const size_t size = strlen(a), other = strlen(b);
    unsigned different = size != other;
    for (size_t i = 0; i < other; i++)
        different |= (unsigned char)(a[size ? i % size : 0] ^ b[i]);
    return !different;
}

static void check_token(struct exchange *exchange)
{
    static const char bearer[] = "Bearer ";
    const char *token = exchange->door->terms.token, *sent = exchange_header(exchange, MHD_HTTP_HEADER_AUTHORIZATION);
    if (token && sent && !strncasecmp(sent, bearer, sizeof bearer - 1)) {
        const struct text given = text_trim(text_of(sent + sizeof bearer - 1));
        if (same_secret(token, arena_copy(&exchange->arena, given.data, given.size)))
            return;
    }
    if (!token)
        return;
    exchange_add_header(exchange, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    exchange_refuse(exchange, MHD_HTTP_UNAUTHORIZED, "the request has not the token of this server",
                    "Authorization: Bearer TOKEN");
}

static uint64_t received(int fd)
{
    struct tcp_info info = { 0 };
    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &(socklen_t){ sizeof info });
    return info.tcpi_bytes_received;
}

/* ---- the head and the body ------------------------------------------------------------------------------ */

static enum MHD_Result count_pair(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    size_t *count = context;
    (void)kind, (void)name, (void)value;
    ++*count;
    return MHD_YES;
}

/* What makes a head ambiguous, so that a proxy before this server may read it in another way. */
struct head_counts {
    size_t lengths, hosts, codings, odd;        /* codings other than chunked; names with a blank */
};

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct head_counts *counts = context;
    const bool coding = !strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING);
    (void)kind;
    counts->lengths += coding || !strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH);
    counts->hosts += !strcasecmp(name, MHD_HTTP_HEADER_HOST);
    counts->codings += coding && (!value || strcasecmp(value, "chunked"));
    counts->odd += strpbrk(name, " \t") != NULL;
    return MHD_YES;
}

static void check_head(struct exchange *exchange)
{
    size_t arguments = 0;
    struct head_counts counts = { 0 };
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, count_header, &counts);
    MHD_get_connection_values(exchange->connection, MHD_GET_ARGUMENT_KIND, count_pair, &arguments);
    if (counts.lengths > 1)
        exchange_refuse(exchange, MHD_HTTP_BAD_REQUEST, "the request says twice how long it is",
                        "one of Content-Length and Transfer-Encoding");
    if (counts.codings)
        exchange_refuse(exchange, MHD_HTTP_BAD_REQUEST, "the body has a Transfer-Encoding that is not known",
                        "Transfer-Encoding: chunked, or Content-Length");
    if (counts.hosts > 1 || (!counts.hosts && exchange->hosted))
        exchange_refuse(exchange, MHD_HTTP_BAD_REQUEST, counts.hosts ? "the request has two Host headers"
                        : "the request has no Host header", "one Host header");
    if (counts.odd)
        exchange_refuse(exchange, MHD_HTTP_BAD_REQUEST, "the name of a header has a blank", "a colon right behind the name");
    if (info && info->header_size > HEAD_MOST)
        exchange_refuse(exchange, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE, "the head of the request is too large",
                        "at most 32 kB");
    if (arguments > ARGUMENTS_MOST)
        exchange_refuse(exchange, MHD_HTTP_URI_TOO_LONG, "the address has too many arguments", "at most 1,000; a POST has more");
}

static void check_size(struct exchange *exchange, size_t size)
{
    const struct door *door = exchange->door;
    const struct door_terms *terms = &door->terms;
    if (size > terms->body)
        exchange_refuse(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large",
                        arena_print(&exchange->arena, terms->body_option ? "at most %zu bytes, %s" : "at most %zu bytes",
                                    terms->body, terms->body_option));
    else if (door->held + size - exchange->body.size > BODIES_MOST * terms->body)
        exchange_refuse(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "too much is being sent", "again in a second");
}

struct argument_call {
    struct exchange *exchange;
    void (*each)(struct exchange *exchange, const char *name, const char *value);
};

static enum MHD_Result call_argument(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    const struct argument_call *call = context;
    (void)kind;
    call->each(call->exchange, name, value ? value : "");
    return MHD_YES;
}

void exchange_arguments(struct exchange *exchange, void (*each)(struct exchange *exchange, const char *name, const char *value))
{
    struct argument_call call = { exchange, each };
    MHD_get_connection_values(exchange->connection, MHD_GET_ARGUMENT_KIND, call_argument, &call);
}

/* A target may be a whole address, as proxies get it: "http://127.0.0.1:8080/v1/step". Its host stands for the header. */
static void take_target(struct exchange *exchange, const char *path)
{
    static const char scheme[] = "http://";
    struct arena *arena = &exchange->arena;
    if (!strncasecmp(path, scheme, sizeof scheme - 1)) {
        path += sizeof scheme - 1;
        const size_t size = strcspn(path, "/");
        exchange->host = arena_copy(arena, path, size);
        path = path[size] ? path + size : "/";
    }
    exchange->path = arena_copy(arena, path, strlen(path));
}

static struct door_client *client_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static struct exchange *exchange_open(struct door *door, struct MHD_Connection *connection, const char *path,
                                      const char *method, const char *version)
{
    struct arena arena = { 0 };
    struct exchange *exchange = arena_alloc(&arena, door->calls.size);
    exchange->arena = arena;
    exchange->body = text_of("");
    exchange->door = door;
    exchange->connection = connection;
    exchange->client = client_of(connection);
    exchange->from = exchange->client->from;
    exchange->began = clock_seconds(CLOCK_MONOTONIC);
    exchange->host = exchange_header(exchange, MHD_HTTP_HEADER_HOST);
    exchange->hosted = strcmp(version, MHD_HTTP_VERSION_1_0) > 0;
    take_target(exchange, path);
    exchange->method = arena_copy(&exchange->arena, method, strlen(method));
    exchange->got = !strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD);
    exchange->posted = !strcmp(method, MHD_HTTP_METHOD_POST);
    exchange->client->until = exchange->began + door->terms.patience;
    exchange->client->idle = 0;
    exchange->next = &door->ring;
    exchange->before = door->ring.before;
    exchange->next->before = exchange->before->next = exchange;
    return exchange;
}

static void read_head(struct exchange *exchange)
{
    const char *length = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH);
    check_head(exchange);
    check_origin(exchange);
    check_token(exchange);
    if (length)
        check_size(exchange, strtoull(length, NULL, 10));
    if (exchange->door->calls.head)
        exchange->door->calls.head(exchange);
}

void exchange_forget_body(struct exchange *exchange)
{
    if (exchange->room)
        munmap((void *)(uintptr_t)exchange->body.data, exchange->room);
    exchange->door->held -= exchange->body.size;
    exchange->body = text_of("");
    exchange->room = 0;
}

/* Addresses for as much as the head says, or as may be. Each small page of them becomes memory when it is written. */
static bool make_room(struct exchange *exchange)
{
    const char *length = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const size_t room = (length ? strtoull(length, NULL, 10) : exchange->door->terms.body) + 1;
    void *data = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
        return false;
    madvise(data, room, MADV_NOHUGEPAGE);
    exchange->body.data = data;
    exchange->room = room;
    return true;
}

/* A body that is refused is read on, so that its client hears why. */
static void read_body(struct exchange *exchange, const char *data, size_t size)
{
    exchange->client->until = fmin(exchange->began + exchange->door->terms.patience,
                                   clock_seconds(CLOCK_MONOTONIC) + stall_seconds);
    check_size(exchange, exchange->body.size + size);
    if (!exchange->refused && !exchange->room && !make_room(exchange))
        exchange_refuse(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "there is no memory for the body", "again in a second");
    if (exchange->refused)
        return;
    memcpy((char *)(uintptr_t)exchange->body.data + exchange->body.size, data, size);
    exchange->body.size += size;
    exchange->door->held += size;
}

/* The size of a refusal in `body`, which has room for REFUSAL_MOST. */
static size_t print_clamped(const struct door_calls *calls, char *body, int status, const char *what, const char *hint)
{
    const int size = calls->print(body, REFUSAL_MOST, status, what, hint);
    return size < REFUSAL_MOST ? (size_t)size : REFUSAL_MOST - 1;
}

static void refused(struct exchange *exchange)
{
    const struct door_calls *calls = &exchange->door->calls;
    if (calls->refused) {
        calls->refused(exchange);
        return;
    }
    char *body = arena_alloc(&exchange->arena, REFUSAL_MOST);
    const size_t size = print_clamped(calls, body, exchange->refused, exchange->what, exchange->hint);
    exchange_add_header(exchange, "Cache-Control", "no-store");
    exchange_reply(exchange, exchange->refused, calls->type, (struct text){ body, size });
}

static bool is_too_large(const struct exchange *exchange)
{
    return exchange->refused == MHD_HTTP_CONTENT_TOO_LARGE || exchange->refused == MHD_HTTP_BAD_REQUEST;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                                  const char *version, const char *data, size_t *size, void **place)
{
    struct door *door = context;
    struct exchange *exchange = *place;
    if (!exchange) {
        if (client_of(connection)->refused)
            return MHD_NO;
        exchange = *place = exchange_open(door, connection, path, method, version);
        read_head(exchange);
        if (is_too_large(exchange))                     /* nothing of it is read */
            refused(exchange);
        return MHD_YES;
    }
    if (*size) {
        read_body(exchange, data, *size);
        *size = 0;
        return MHD_YES;
    }
    if (exchange->whole || exchange->replied)           /* resumed: its answer is queued */
        return MHD_YES;
    exchange->whole = true;
    if (exchange->refused)
        refused(exchange);
    else
        door->calls.whole(exchange);
    return exchange->replied || exchange->suspended ? MHD_YES : MHD_NO;
}

/* A head takes 5 s; the client may begin it within `idle` s. */
static void await_head(const struct door *door, struct door_client *client, double idle)
{
    const double now = clock_seconds(CLOCK_MONOTONIC);
    client->due = true;
    client->until = now + fmin(head_seconds, door->terms.patience);
    client->idle = now + idle;
}

static void on_end(void *context, struct MHD_Connection *connection, void **place, enum MHD_RequestTerminationCode code)
{
    struct door *door = context;
    struct exchange *exchange = *place;
    (void)connection, (void)code;
    if (!exchange)
        return;
    if (door->calls.gone)
        door->calls.gone(exchange);
    await_head(door, exchange->client, door->terms.patience);
    exchange_forget_body(exchange);
    door->held -= exchange->answer;
    exchange->next->before = exchange->before;
    exchange->before->next = exchange->next;
    struct arena arena = exchange->arena;
    arena_free(&arena);
}

void exchange_refuse(struct exchange *exchange, int status, const char *what, const char *hint)
{
    if (exchange->refused)
        return;
    exchange->refused = status;
    exchange->what = what;
    exchange->hint = hint;
}

/* ---- answers -------------------------------------------------------------------------------------------- */

void exchange_add_header(struct exchange *exchange, const char *name, const char *value)
{
    if (exchange->header_count < sizeof exchange->headers / sizeof *exchange->headers)
        exchange->headers[exchange->header_count++] = (struct header_pair){ name, value };
}

static void left(struct door_watch *watch)
{
    struct exchange *exchange = ((struct door_client *)watch)->exchange;
    exchange->door->calls.left(exchange);
}

void exchange_wait(struct exchange *exchange)
{
    struct door_client *client = exchange->client;
    exchange->suspended = true;
    client->until = INFINITY;
    MHD_suspend_connection(exchange->connection);
    if (!exchange->door->calls.left || client->exchange)
        return;
    client->exchange = exchange;
    client->watch.seen = left;
    struct epoll_event event = { .events = EPOLLRDHUP, .data.ptr = &client->watch };
    epoll_ctl(exchange->door->epoll, EPOLL_CTL_ADD, client->watch.fd, &event);
}

void exchange_go_on(struct exchange *exchange)
{
    if (!exchange->suspended)
        return;
    exchange->suspended = false;
    if (exchange->client->exchange)
        door_unwatch(exchange->door, &exchange->client->watch);
    exchange->client->exchange = NULL;
    MHD_resume_connection(exchange->connection);
    exchange->door->hurried = true;
}

static void send_response(struct exchange *exchange, int status, const char *type, struct MHD_Response *response)
{
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    for (size_t i = 0; i < exchange->header_count; i++)
        MHD_add_response_header(response, exchange->headers[i].name, exchange->headers[i].value);
    if (status == MHD_HTTP_TOO_MANY_REQUESTS || status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    exchange->replied = true;
    exchange->client->due = false;
    exchange->client->received = received(exchange->client->watch.fd);
    MHD_queue_response(exchange->connection, (unsigned)status, response);
    MHD_destroy_response(response);
}

void exchange_reply(struct exchange *exchange, int status, const char *type, struct text body)
{
    exchange->client->until = clock_seconds(CLOCK_MONOTONIC) + exchange->door->terms.patience;
    exchange->answer = body.size;
    exchange->door->held += body.size;
    send_response(exchange, status, type,
                  MHD_create_response_from_buffer(body.size, (void *)(uintptr_t)(body.data ? body.data : ""),
                                                  MHD_RESPMEM_PERSISTENT));
    exchange_go_on(exchange);
}

static ssize_t read_more(void *context, uint64_t position, char *to, size_t room)
{
    struct exchange *exchange = context;
    (void)position;
    const ssize_t size = exchange->more(exchange, to, room);
    if (!size)
        exchange_wait(exchange);
    else
        exchange->client->until = clock_seconds(CLOCK_MONOTONIC) + exchange->door->terms.patience;
    return size < 0 ? MHD_CONTENT_READER_END_OF_STREAM : size;
}

void exchange_stream(struct exchange *exchange, const char *type,
                     ssize_t (*more)(struct exchange *exchange, char *to, size_t room))
{
    enum { PIECE = 1 << 14 };
    exchange->more = more;
    exchange->client->until = clock_seconds(CLOCK_MONOTONIC) + exchange->door->terms.patience;
    send_response(exchange, MHD_HTTP_OK, type,
                  MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, read_more, exchange, NULL));
}

/* ---- clients -------------------------------------------------------------------------------------------- */

/* An address of IPv4, or the network of one of IPv6: a client of that may have all of its addresses. */
static uint64_t address_of(const struct sockaddr *place)
{
    uint64_t from = 0;
    if (place->sa_family == AF_INET) {
        from = ((const struct sockaddr_in *)place)->sin_addr.s_addr;
    } else if (place->sa_family == AF_INET6) {
        const unsigned char *bytes = ((const struct sockaddr_in6 *)place)->sin6_addr.s6_addr;
        for (size_t i = 0; i < 8; i++)
            from = from << 8 | bytes[i];
        from = IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)place)->sin6_addr) ? 1 : from;
    }
    return from;
}

static void on_client(void *context, struct MHD_Connection *connection, void **place,
                      enum MHD_ConnectionNotificationCode code)
{
    struct door *door = context;
    struct door_client *client = *place;
    int yes = 1;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        client->there = false;
        door->connections--;
        /* At its limit of connections or files libmicrohttpd stops listening, and begins again only when it is run after
         * one has closed. */
        door->hurried = true;
        return;
    }
    for (client = door->clients; client->there;)       /* libmicrohttpd keeps to their number */
        client++;
    *client = (struct door_client){
        .there = true, .watch.fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
        .from = address_of(MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr) };
    setsockopt(client->watch.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    await_head(door, client, 0);
    *place = client;
    door->connections++;
}

/* Answer without libmicrohttpd, where it cannot, and end the connection. */
static void refuse_at_once(const struct door *door, struct door_client *client, int status, const char *reason, const char *what, const char *hint)
{
    char body[REFUSAL_MOST], text[2 * REFUSAL_MOST];
    const size_t size = print_clamped(&door->calls, body, status, what, hint);
    const int all = snprintf(text, sizeof text, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nConnection: close\r\n"
                             "Content-Length: %zu\r\n\r\n%s", status, reason, door->calls.type, size, body);
    client->refused = true;
    send(client->watch.fd, text, (size_t)all, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(client->watch.fd, SHUT_RDWR);
}

/* A client that is silent hears nothing: browsers open connections before they need them. */
static void hang_up(struct door *door, double now)
{
    door->looked = now;
    for (struct door_client *client = door->clients; client < door->clients + door->client_most; client++) {
        if (!client->there || client->until > now)
            continue;
        const bool begun = client->due && received(client->watch.fd) != client->received;
        if (now < client->idle) {
            client->until = begun ? now + head_seconds : fmin(now + head_seconds, client->idle);
            client->idle = begun ? 0 : client->idle;
            continue;
        }
        if (begun)
            refuse_at_once(door, client, 408, "Request Timeout", "the request did not come whole in time",
                           "a head within 5 s, and a body that does not stand still for 5 s");
        shutdown(client->watch.fd, SHUT_RDWR);
        client->until = INFINITY;
    }
}

/* ---- the loop ------------------------------------------------------------------------------------------- */

void door_watch(struct door *door, struct door_watch *watch)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };
    epoll_ctl(door->epoll, EPOLL_CTL_ADD, watch->fd, &event);
}

void door_unwatch(struct door *door, struct door_watch *watch)
{
    epoll_ctl(door->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    for (int i = 0; i < door->event_count; i++)
        if (door->events[i].data.ptr == watch)
            door->events[i].data.ptr = door->daemon;
}

static void take_signal(struct door *door)
{
    struct signalfd_siginfo signal;
    if (read(door->signal_fd, &signal, sizeof signal) != sizeof signal)
        return;
    door->signals++;
    if (door->listener >= 0)
        close(MHD_quiesce_daemon(door->daemon));
    door->listener = -1;
}

static int milliseconds_left(const struct door *door, double until)
{
    MHD_UNSIGNED_LONG_LONG wanted;
    const double now = clock_seconds(CLOCK_MONOTONIC);
    if (door->hurried)
        return 0;
    if (MHD_get_timeout(door->daemon, &wanted) == MHD_YES)
        until = fmin(until, now + 1e-3 * (double)wanted);
    if (door->connections)
        until = fmin(until, door->looked + look_seconds);
    return (int)ceil(1e3 * fmin(fmax(until - now, 0), 3600));
}

void door_turn(struct door *door, double until)
{
    door->event_count = epoll_wait(door->epoll, door->events, EVENTS, milliseconds_left(door, until));
    door->hurried = false;
    for (int i = 0; i < door->event_count; i++) {
        void *of = door->events[i].data.ptr;
        if (of == &door->signal_fd)
            take_signal(door);
        else if (of != door->daemon)
            ((struct door_watch *)of)->seen(of);
    }
    door->event_count = 0;
    MHD_run(door->daemon);
    const double now = clock_seconds(CLOCK_MONOTONIC);
    if (now >= door->looked + look_seconds)
        hang_up(door, now);
}

/* ---- beginning and end ---------------------------------------------------------------------------------- */

static bool few_files(struct error *error, rlim_t files)
{
    error_set(error, "a server needs at least %d open files, and may have %ju", FILES_LEAST, (uintmax_t)files);
    return error_expected(error, "ulimit -n %d or more", FILES_LEAST);
}

static bool size_clients(struct door *door, struct error *error)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files))
        return error_set(error, "the limit of open files is not known: %s", strerror(errno));
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < FILES_LEAST)
        return few_files(error, files.rlim_cur);
    const rlim_t most = files.rlim_cur - FILES_OURS;
    door->client_most = most < CONNECTIONS_MOST ? (size_t)most : CONNECTIONS_MOST;
    door->clients = arena_array(door->arena, door->client_most + 1, sizeof *door->clients);
    return true;
}

/* An address that is too long, or that libmicrohttpd would cut, before it is taken apart. */
static void *on_address(void *context, const char *uri, struct MHD_Connection *connection)
{
    struct door_client *client = client_of(connection);
    if (strlen(uri) > URI_MOST)
        refuse_at_once(context, client, 414, "URI Too Long", "the address is too long", "at most 16 kB");
    else if (strstr(uri, "%00"))
        refuse_at_once(context, client, 400, "Bad Request", "the address has %00", "an address without a NUL");
    return NULL;
}

static bool open_daemon(struct door *door, struct error *error)
{
    const unsigned most = (unsigned)door->client_most;
    door->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, door,
        MHD_OPTION_LISTEN_SOCKET, door->listener, MHD_OPTION_CONNECTION_LIMIT, most,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (most + 1) / 2, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL,
        MHD_OPTION_URI_LOG_CALLBACK, on_address, door,
        MHD_OPTION_NOTIFY_COMPLETED, on_end, door, MHD_OPTION_NOTIFY_CONNECTION, on_client, door, MHD_OPTION_END);
    return door->daemon || error_set(error, "libmicrohttpd does not start: %s", strerror(errno));
}

static bool heed_signals(struct door *door)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = &door->signal_fd };
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, &door->before);
    door->signal_fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    return door->signal_fd >= 0 && !epoll_ctl(door->epoll, EPOLL_CTL_ADD, door->signal_fd, &event);
}

static bool open_loop(struct door *door, struct error *error)
{
    struct epoll_event requests = { .events = EPOLLIN, .data.ptr = door->daemon };
    signal(SIGPIPE, SIG_IGN);
    door->epoll = epoll_create1(EPOLL_CLOEXEC);
    return (door->epoll >= 0 && (!door->terms.heeds_signals || heed_signals(door)) &&
            !epoll_ctl(door->epoll, EPOLL_CTL_ADD,
                       MHD_get_daemon_info(door->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, &requests)) ||
           error_set(error, "the server's loop does not start: %s", strerror(errno));
}

bool door_open(struct arena *arena, const struct door_terms *terms, const struct door_calls *calls, void *context,
                struct door **opened, struct error *error)
{
    struct door *door = arena_alloc(arena, sizeof *door);
    *door = (struct door){ .arena = arena, .terms = *terms, .calls = *calls, .context = context, .listener = -1,
                             .signal_fd = -1, .epoll = -1, .looked = clock_seconds(CLOCK_MONOTONIC) };
    door->ring.next = door->ring.before = &door->ring;
    *opened = door;
    if (!size_clients(door, error) || !listen_open(door, error))
        return false;
    find_url(door);
    if (!door->loopback && !door->terms.token && !door->terms.insecure) {
        close(door->listener);
        error_set(error, "others can reach %s, and anybody could ask", door->url);
        return error_expected(error, "a token in --token-file or CHALKLINE_TOKEN, or --insecure");
    }
    if (!door->loopback && !door->terms.token)
        fprintf(stderr, "chalkline: everybody who reaches %s may ask (--insecure)\n", door->url);
    if (open_daemon(door, error) && open_loop(door, error))
        return true;
    door_close(door);
    return false;
}

void door_close(struct door *door)
{
    for (struct exchange *exchange = door_first(door); exchange; exchange = door_next(exchange))
        exchange_go_on(exchange);                       /* libmicrohttpd closes what it runs */
    if (door->daemon) {
        MHD_run(door->daemon);
        MHD_stop_daemon(door->daemon);
    } else if (door->listener >= 0) {
        close(door->listener);
    }
    if (door->epoll >= 0)
        close(door->epoll);
    if (door->signal_fd >= 0) {
        close(door->signal_fd);
        sigprocmask(SIG_SETMASK, &door->before, NULL);
    }
}

const char *door_url(const struct door *door)
{
    return door->url;
}

void *door_context(const struct door *door)
{
    return door->context;
}

size_t door_connections(const struct door *door)
{
    return door->connections;
}

void door_hurry(struct door *door)
{
    door->hurried = true;
}

int door_signals(const struct door *door)
{
    return door->signals;
}

struct exchange *door_first(const struct door *door)
{
    return door->ring.next != &door->ring ? door->ring.next : NULL;
}

struct exchange *door_next(const struct exchange *exchange)
{
    return exchange->next != &exchange->door->ring ? exchange->next : NULL;
}

bool door_is_answering(const struct door *door)
{
    for (const struct exchange *exchange = door_first(door); exchange; exchange = door_next(exchange))
        if (exchange->whole)
            return true;
    return false;
}
