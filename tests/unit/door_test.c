/* The three doors of the program, attacked: `serve`, `simulate --listen` and `watch --listen` refuse the same requests with
 * the same status, hang up on those that do not go on, bound what they hold, and answer others all the while. */
#include "served.h"

#include <poll.h>
#include <stdio.h>

#ifdef __SANITIZE_ADDRESS__
enum { TIMES = 3 };                                 /* it keeps for a while what was freed */
#else
enum { TIMES = 1 };
#endif

static const char *const doors[] = {
    "serve --port 0", "simulate --step-time 10ms --blocks 100 --listen 0", "watch http://127.0.0.1:9 --listen 0" };

/* What each says beside the reason of a refusal. */
static const char *const forms[] = { "\"hint\": \"", "\"code\": ", "; accepted: " };

static pid_t children[COUNT(doors)];

/* Each says where it is on standard output, or on standard error. */
static unsigned open_door(struct arena *arena, size_t i, const char *more)
{
    int out;
    const char *line = arena_print(arena, "exec %s %s %s 2>&1", program(), doors[i], more);
    char *words[] = { "sh", "-c", (char *)(uintptr_t)line, NULL };
    int ends[2];
    posix_spawn_file_actions_t actions;
    assert_int_equal(pipe(ends), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    assert_int_equal(posix_spawn(&children[i], "/bin/sh", &actions, NULL, words, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    out = ends[0];
    char text[200] = "";
    for (size_t size = 0; size < sizeof text - 1 && !strchr(text, '\n'); size++)
        if (read(out, text + size, 1) != 1)
            fail_msg("%s does not start: '%s'", doors[i], text);
    const char *colon = strstr(text, "http://127.0.0.1:");
    assert_non_null(colon);
    return (unsigned)strtoul(colon + strlen("http://127.0.0.1:"), NULL, 10);
}

static int close_doors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(doors); i++)
        if (children[i]) {
            kill(children[i], SIGKILL);
            waitpid(children[i], NULL, 0);
            children[i] = 0;
        }
    return 0;
}

static void ends_well(size_t i)
{
    int status;
    kill(children[i], SIGTERM);
    assert_int_equal(waitpid(children[i], &status, 0), children[i]);
    children[i] = 0;
    assert_true(WIFEXITED(status));
}

/* A text that is repeated. */
static const char *many(struct arena *arena, const char *text, size_t count)
{
    struct buffer all = { .arena = arena };
    for (size_t i = 0; i < count; i++)
        buffer_print(&all, "%s", text);
    return all.data;
}

static void refused_alike(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const char *const head = "Connection: close\r\n";
    const struct {
        const char *what, *line, *headers;
        int status;
    } requests[] = {
        { "well", "GET /metrics HTTP/1.1\r\n", "Host: localhost\r\n", 200 },
        { "another host", "GET /metrics HTTP/1.1\r\n", "Host: evil.example\r\n", 421 },
        { "another origin", "GET /metrics HTTP/1.1\r\n", "Host: localhost\r\nOrigin: http://evil.example\r\n", 403 },
        { "another site", "GET /metrics HTTP/1.1\r\n", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n", 403 },
        { "1,500 arguments", arena_print(&arena, "GET /metrics?%s HTTP/1.1\r\n", many(&arena, "a=1&", 1500)),
          "Host: localhost\r\n", 414 },
        { "a long address", arena_print(&arena, "GET /metrics?a=%s HTTP/1.1\r\n", many(&arena, "a", 20000)),
          "Host: localhost\r\n", 414 },
        { "a NUL in an argument", "GET /metrics?a=b%00c HTTP/1.1\r\n", "Host: localhost\r\n", 400 },
        { "a NUL in a path", "GET /metrics%00x HTTP/1.1\r\n", "Host: localhost\r\n", 400 },
        { "a percent sign", "GET /metrics?a=%2500 HTTP/1.1\r\n", "Host: localhost\r\n", 200 },
        { "a large head", "GET /metrics HTTP/1.1\r\n",
          arena_print(&arena, "Host: localhost\r\nX: %s\r\n", many(&arena, "a", 40000)), 431 },
        { "two lengths", "POST /metrics HTTP/1.1\r\n", "Host: localhost\r\nContent-Length: 2\r\nContent-Length: 40\r\n", 400 },
        { "a length and chunks", "POST /metrics HTTP/1.1\r\n",
          "Host: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n", 400 },
        { "a negative length", "POST /metrics HTTP/1.1\r\n", "Host: localhost\r\nContent-Length: -5\r\n", 400 },
        { "a body beyond all", "POST /metrics HTTP/1.1\r\n", "Host: localhost\r\nContent-Length: 90000000000\r\n", 413 },
        { "a coding", "POST /metrics HTTP/1.1\r\n", "Host: localhost\r\nTransfer-Encoding: gzip\r\n", 400 },
        { "a coding of chunks", "POST /metrics HTTP/1.1\r\n", "Host: localhost\r\nTransfer-Encoding: gzip, chunked\r\n", 400 },
        { "no host", "GET /metrics HTTP/1.1\r\n", "", 400 },
        { "no host, as of old", "GET /metrics HTTP/1.0\r\n", "", 200 },
        { "two hosts", "GET /metrics HTTP/1.1\r\n", "Host: localhost\r\nHost: localhost\r\n", 400 },
        { "a blank in a name", "POST /metrics HTTP/1.1\r\n", "Host: localhost\r\nContent-Length : 5\r\n", 400 },
        { "a whole address", "GET http://localhost/metrics HTTP/1.1\r\n", "Host: localhost\r\n", 200 },
        { "a whole address of another host", "GET http://evil.example/metrics HTTP/1.1\r\n", "Host: localhost\r\n", 421 },
        { "another method", "OPTIONS /metrics HTTP/1.1\r\n", "Host: localhost\r\n", 405 },
        { "another protocol", "PRI * HTTP/2.0\r\n", "", 505 },
    };
    for (size_t i = 0; i < COUNT(doors); i++) {
        const unsigned port = open_door(&arena, i, "");
        for (size_t k = 0; k < COUNT(requests); k++) {
            const struct reply reply =
                http(&arena, port, arena_print(&arena, "%s%s%s\r\n", requests[k].line, requests[k].headers, head));
            if (reply.status != requests[k].status)
                fail_msg("%s, %s: %d in place of %d", doors[i], requests[k].what, reply.status, requests[k].status);
            if (reply.status == 405 && !strstr(reply.head, "\r\nAllow: GET, HEAD\r\n"))
                fail_msg("%s, %s: no Allow in '%s'", doors[i], requests[k].what, reply.head);
            const char *body = reply.body.data;
            if (reply.status >= 400 && !strstr(body, "<html") && !strstr(body, forms[i]))      /* libmicrohttpd has pages */
                fail_msg("%s, %s: '%s' lacks '%s'", doors[i], requests[k].what, body, forms[i]);
        }
        ends_well(i);
    }
    arena_free(&arena);
}

/* A question whose address is refused is not asked: another that is answered after it is the only one that is counted. */
static void refused_is_not_asked(void **state)
{
    (void)state;
    static const char question[] = "{\"prompt\": \"hello\", \"max_tokens\": 5}";
    struct arena arena = { 0 };
    const unsigned port = open_door(&arena, 1, "");
    const char *const paths[] = { "/v1/completions%00x", arena_print(&arena, "/v1/completions?a=%s", many(&arena, "a", 20000)) };
    assert_int_equal(post(&arena, port, paths[0], question).status, 400);
    assert_int_equal(post(&arena, port, paths[1], question).status, 414);
    assert_int_equal(post(&arena, port, "/v1/completions", question).status, 200);
    const char *line = get(&arena, port, "/metrics", "").body.data;
    for (int count = 0; (line = strstr(line, "\nvllm:request_success_total{")); count++) {
        const char *end = strchr(++line, '\n');
        assert_int_equal(strtol(strchr(line, ' '), NULL, 10), strstr(line, "\"length\"") && strstr(line, "\"length\"") < end);
        assert_true(count < 9);
    }
    ends_well(1);
    arena_free(&arena);
}

/* ---- clients that do not go on ------------------------------------------------------------------------- */

enum { HALVES = 300, FIRST = 8 };

/* All that arrives before the end is a refusal with 408 in the form of its door; nothing, where nothing was sent. */
static void wait_for_end(int fd, const char *form, bool sent, double until)
{
    char said[2048] = "";
    for (size_t size = 0;;) {
        struct pollfd end = { .fd = fd, .events = POLLIN };
        if (now() > until || poll(&end, 1, (int)(1e3 * (until - now())) + 1) <= 0)
            fail_msg("it is not hung up on");
        const ssize_t more = read(fd, said + size, sizeof said - 1 - size);
        if (more <= 0 && (sent ? strncmp(said, "HTTP/1.1 408", 12) || !strstr(said, form) : *said))
            fail_msg("it is hung up on with '%s'", said);
        if (more <= 0)
            return;
        size += (size_t)more;
    }
}

/* A whole request, and its answer, which has no body. */
static void ask_first(int fd)
{
    static const char line[] = "HEAD /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char said[2048] = "";
    tell(fd, line, sizeof line - 1);
    for (size_t size = 0; !strstr(said, "\r\n\r\n");) {
        const ssize_t more = read(fd, said + size, sizeof said - 1 - size);
        assert_true(more > 0);
        size += (size_t)more;
    }
}

/* Half a head, half a body, and a chunk that is said to have 2^64 - 1 bytes, are hung up on within seconds; others are answered. */
static void halves_end(void **state)
{
    (void)state;
    static const char *const halves[] = {
        "GET /metrics HTTP/1.1\r\nHost: lo", "",
        "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}\r\n" };
    struct arena arena = { 0 };
    int fds[COUNT(doors)][HALVES];
    unsigned ports[COUNT(doors)];
    for (size_t i = 0; i < COUNT(doors); i++) {
        ports[i] = open_door(&arena, i, "");
        for (size_t k = 0; k < HALVES; k++) {
            fds[i][k] = dial(ports[i]);
            if (k < FIRST)                              /* the half is of its second request */
                ask_first(fds[i][k]);
            tell(fds[i][k], halves[k % COUNT(halves)], strlen(halves[k % COUNT(halves)]));
        }
        assert_int_equal(get(&arena, ports[i], "/metrics", "").status, 200);
    }
    const double until = now() + 20;
    for (size_t i = 0; i < COUNT(doors); i++) {
        for (size_t k = 0; k < HALVES; k++) {
            if (k >= FIRST || *halves[k % COUNT(halves)])   /* who is silent after an answer may stay */
                wait_for_end(fds[i][k], forms[i], *halves[k % COUNT(halves)], until);
            close(fds[i][k]);
        }
        assert_int_equal(get(&arena, ports[i], "/metrics", "").status, 200);
        ends_well(i);
    }
    arena_free(&arena);
}

/* ---- what is held --------------------------------------------------------------------------------------- */

static double megabytes(pid_t process)
{
    char path[64], line[200];
    double kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/status", process);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, "VmRSS:", 6))
            kilobytes = strtod(line + 6, NULL);
    fclose(file);
    return kilobytes / 1024;
}

/* Bodies that never end are bounded in sum: 40 clients want to leave 15 MB each, and 16 may. */
static void bodies_are_bounded(void **state)
{
    (void)state;
    enum { CLIENTS = 40, PART = 15000000, MOST = 320 * TIMES };
    struct arena arena = { 0 };
    char *part = arena_alloc(&arena, PART);
    memset(part, ' ', PART);
    for (size_t i = 0; i < 2; i++) {
        const unsigned port = open_door(&arena, i, "");
        const char *head = arena_print(&arena, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                       "Content-Length: 15900000\r\n\r\n", i ? "/v1/completions" : "/v1/list");
        int fds[CLIENTS];
        for (size_t k = 0; k < CLIENTS; k++) {
            fds[k] = dial(port);
            setsockopt(fds[k], SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){ 2, 0 }, sizeof(struct timeval));
            tell(fds[k], head, strlen(head));
            tell(fds[k], part, PART);
        }
        assert_int_equal(get(&arena, port, "/metrics", "").status, 200);
        if (megabytes(children[i]) > MOST)
            fail_msg("%s holds %.0f MB", doors[i], megabytes(children[i]));
        for (size_t k = 0; k < CLIENTS; k++)
            close(fds[k]);
        ends_well(i);
    }
    arena_free(&arena);
}

/* What was read of a body of 3,000,000 token ids is not kept beside the answer, which its client has begun to read. */
static void questions_are_forgotten(void **state)
{
    (void)state;
    enum { MOST = 300 * TIMES };
    static const char *const paths[] = { "/tokenize", "/v1/completions" };
    struct arena arena = { 0 };
    const unsigned port = open_door(&arena, 1, "");
    char first;
    int fds[4];
    for (int k = 0; k < 4; k++) {
        const char *body = arena_print(&arena, "{\"max_tokens\":900,\"stream\":true,%s[%s1]}",
                                       k % 2 ? "\"prompt\":\"hi\",\"ids\":" : "\"prompt\":", many(&arena, "1,", 3000000));
        const char *head = arena_print(&arena, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n", paths[k % 2],
                                       strlen(body));
        fds[k] = dial(port);
        tell(fds[k], head, strlen(head));
        tell(fds[k], body, strlen(body));
        assert_int_equal(read(fds[k], &first, 1), 1);
    }
    if (megabytes(children[1]) > MOST)
        fail_msg("%s holds %.0f MB", doors[1], megabytes(children[1]));
    for (int k = 0; k < 4; k++)
        close(fds[k]);
    ends_well(1);
    arena_free(&arena);
}

/* ---- who may ask ---------------------------------------------------------------------------------------- */

static void tokens(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        int status;
    } sent[] = { { "", 401 }, { "Authorization: Bearer secre\r\n", 401 }, { "Authorization: Bearer secret2\r\n", 401 },
                 { "Authorization: Basic secret\r\n", 401 }, { "Authorization: Bearer \r\n", 401 },
                 { "Authorization: bearer secret\r\n", 200 }, { "Authorization: Bearer  secret \t\r\n", 200 } };
    char path[] = "/tmp/chalkline-token-XXXXXX";
    struct arena arena = { 0 };
    const int file = mkstemp(path);
    assert_int_equal(write(file, "secret\n", 7), 7);
    close(file);
    for (size_t i = 0; i < COUNT(doors); i++) {
        const unsigned port = open_door(&arena, i, arena_print(&arena, "--token-file %s", path));
        for (size_t k = 0; k < COUNT(sent); k++)
            assert_int_equal(get(&arena, port, "/metrics", sent[k].header).status, sent[k].status);
        ends_well(i);
        const char *open = arena_print(&arena, "%s --bind 0.0.0.0", doors[i]);
        int out, status;
        const pid_t child = begin(open, &out);
        close(out);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    }
    unlink(path);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(refused_alike, close_doors),
        cmocka_unit_test_teardown(refused_is_not_asked, close_doors), cmocka_unit_test_teardown(halves_end, close_doors),
        cmocka_unit_test_teardown(bodies_are_bounded, close_doors), cmocka_unit_test_teardown(questions_are_forgotten, close_doors),
        cmocka_unit_test_teardown(tokens, close_doors) };
    return cmocka_run_group_tests_name("door", tests, NULL, NULL);
}
