/* `measure` against endpoints that misbehave: each is a process of this test that answers every connection
 * in its own bad way. What comes of it is a message, a line a request in the file, and a stated exit code. */
#define _GNU_SOURCE
#include "test.h"

#include "base/base.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char models[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
                             "{\"object\":\"list\",\"data\":[{\"id\":\"m\"}]}";
static const char *models_said = models;            /* "": nothing, for ever */
#define STREAM "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
#define CHUNKED "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
#define CHUNK "data: {\"choices\":[{\"index\":0,\"text\":\" a\",\"finish_reason\":null}]}\n\n"
#define LAST "data: {\"choices\":[{\"index\":0,\"text\":\" a\",\"finish_reason\":\"length\"}]}\n\n"
#define USAGE "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":2}}\n\n"
#define DONE "data: [DONE]\n\n"
#define STATUS(line) "HTTP/1.1 " line "\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"

/* What is sent for a completion, and what then. */
static const struct manner {
    const char *name, *answer;
    bool hangs;                     /* the connection stays open and silent */
    int good;                       /* as many requests are answered well before; of 1000: all but each third */
    int status;                     /* exit code of `measure` */
    const char *says;               /* in its output */
} manners[] = {
    { "answers well", STREAM CHUNK LAST USAGE DONE, false, 0, 0, "tokens/s" },
    { "has no usage and no [DONE]", STREAM CHUNK LAST, false, 0, 0, "tokens/s" },
    { "has carriage returns and comments", STREAM ": hello\r\n\r\n" "data:{\"choices\":[{\"text\":\"x\"}]}\r\n\r\n" DONE,
      false, 0, 0, "tokens/s" },
    { "hangs", "", true, 0, 1, "nothing came for 1 s" },
    { "hangs in the middle", STREAM CHUNK, true, 0, 1, "nothing came for 1 s" },
    { "closes at once", "", false, 0, 1, "closed without an answer" },
    { "closes in the middle", STREAM CHUNK, false, 0, 1, "ended in the middle of the answer" },
    { "closes in the middle of a chunk", CHUNKED "100\r\n" CHUNK, false, 0, 1, "closed in the middle of the answer" },
    { "streams garbage", STREAM "\x01\x02 garbage \xff\n\n", false, 0, 1, "not a stream of server-sent events" },
    { "streams broken JSON", STREAM "data: {\"choices\":[\n\n" DONE, false, 0, 1, "no JSON object" },
    { "streams JSON of other kinds", STREAM "data: {\"choices\":{\"text\":1},\"usage\":[]}\n\n" DONE, false, 0, 1,
      "the answer has no text" },
    { "has an absurd usage", STREAM CHUNK LAST "data: {\"usage\":{\"prompt_tokens\":-5,\"completion_tokens\":1e300}}\n\n"
      DONE, false, 0, 0, "tokens/s" },
    { "reports an error in the stream", STREAM CHUNK "data: {\"error\":{\"message\":\"out of memory\"}}\n\n" DONE,
      false, 0, 1, "out of memory" },
    { "answers with a page", STATUS("200 OK") "<html><body>hello</body></html>", false, 0, 1,
      "not a stream of server-sent events" },
    { "fails", STATUS("500 Internal Server Error") "{\"error\":{\"message\":\"injected\"}}", false, 0, 1,
      "HTTP status 500: injected" },
    { "wants a key", STATUS("401 Unauthorized") "{\"error\":{\"message\":\"no key\"}}", false, 0, 1,
      "HTTP status 401: no key" },
    { "knows no such path", STATUS("404 Not Found") "{}", false, 0, 1, "HTTP status 404" },
    { "fails after six", STATUS("503 Service Unavailable") "busy", false, 6, 0,
      "10 requests failed one after the other: HTTP status 503: busy" },
    { "knows no such model", STATUS("404 Not Found") "{\"error\":{\"message\":\"The model `m` does not exist.\"}}",
      false, 0, 1, "HTTP status 404: The model `m` does not exist." },
    { "fails now and then", STATUS("500 Internal Server Error") "{}", false, 1000, 0, "requests failed" },
};

/* It has no text completions: the two requests that try them fail, the loads do not. Or it lists no models. */
static const struct manner chats = { .name = "has chats alone", .answer = STREAM CHUNK LAST USAGE DONE };
static const struct manner slow = { .name = "is slow", .answer = STREAM CHUNK LAST USAGE DONE };

/* ---- the endpoint ------------------------------------------------------------------------------ */

static bool read_request(int fd, char *head, size_t room)
{
    size_t size = 0, body = 0;
    char *end = NULL;
    while (size + 1 < room) {
        ssize_t got = read(fd, head + size, room - 1 - size);
        if (got <= 0)
            return false;
        size += (size_t)got;
        head[size] = 0;
        if (!end && (end = strstr(head, "\r\n\r\n"))) {
            const char *length = strcasestr(head, "content-length:");
            body = length && length < end ? strtoul(length + 15, NULL, 10) : 0;
        }
        if (end && size >= (size_t)(end + 4 - head) + body)
            return true;
    }
    return false;
}

static void say(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) < 0)
        _exit(1);
}

static void answer_all(int listener, const struct manner *manner)
{
    static char head[1 << 16];
    signal(SIGPIPE, SIG_IGN);
    for (int asked = 0;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0 || !read_request(fd, head, sizeof head)) {
            close(fd);
            continue;
        }
        if (!strncmp(head, "GET /v1/models", 14)) {
            say(fd, models_said);
            if (!*models_said)
                continue;                           /* it hangs */
        } else if (strncmp(head, "POST /v1/", 9)) {
            say(fd, STATUS("404 Not Found") "{}");
        } else {
            const bool well = manner->good == 1000 ? asked % 3 != 2 : asked < manner->good;
            asked++;
            if (manner == &slow)
                usleep(20000);
            say(fd, manner == &chats && !strncmp(head, "POST /v1/completions", 20) ? STATUS("404 Not Found") "{}" : well ? manners[0].answer : manner->answer);
            if (!well && manner->hangs)
                continue;                           /* the descriptor stays open */
        }
        shutdown(fd, SHUT_WR);
        close(fd);
    }
}

static int listen_here(unsigned *port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in place = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof place;
    assert_true(fd >= 0 && !bind(fd, (struct sockaddr *)&place, size) && !listen(fd, 64));
    getsockname(fd, (struct sockaddr *)&place, &size);
    *port = ntohs(place.sin_port);
    return fd;
}

/* ---- what measure makes of it ------------------------------------------------------------------ */

static int run(const char *words, char *out, size_t room)
{
    char line[600];
    const char *program = getenv("CHALKLINE");
    snprintf(line, sizeof line, "%s %s 2>&1", program ? program : "./chalkline", words);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    out[fread(out, 1, room - 1, pipe)] = 0;
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static size_t lines_of(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t lines = 0;
    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

static void check_file(const char *path, const struct manner *manner)
{
    struct arena arena = { 0 };
    struct text text, line;
    struct error error;
    size_t failed = 0, whole = 0;
    assert_true(file_read(&arena, path, 1 << 20, &text, &error));
    while (text.size) {
        struct doc *doc;
        line = text_line(&text);
        if (!json_read(&arena, path, line, &doc, &error))
            fail_msg("%s: %s", manner->name, error.what);
        assert_non_null(doc_get(doc, "sent"));
        assert_non_null(doc_get(doc, "chunk_times"));
        if (doc_get(doc, "error")->kind == DOC_STRING)
            failed++;
        else
            whole++;
    }
    if ((manner->status == 0) != (whole > 1) || (manner->says != manners[0].says) != (failed > 0))
        fail_msg("%s: %zu whole answers and %zu failed ones in the file", manner->name, whole, failed);
    arena_free(&arena);
}

static void test_manners(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof manners / sizeof *manners; i++) {
        char words[300], out[1 << 14], path[] = "/tmp/chalkline-measure-XXXXXX";
        unsigned port;
        int listener = listen_here(&port), file = mkstemp(path);
        close(file);
        pid_t server = fork();
        if (!server) {
            answer_all(listener, &manners[i]);
            _exit(0);
        }
        close(listener);
        snprintf(words, sizeof words, "measure http://127.0.0.1:%u --loads 1,2 --isl 16 --osl 2 --budget 2s "
                 "--timeout 1s -o %s", port, path);
        const int status = run(words, out, sizeof out);
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
        if (status != manners[i].status || !strstr(out, manners[i].says))
            fail_msg("an endpoint that %s: exit %d, not %d with '%s':\n%s", manners[i].name, status,
                     manners[i].status, manners[i].says, out);
        check_file(path, &manners[i]);
        unlink(path);
    }
}

/* A request that only tried what the endpoint can do, and failed, is a note: the answer is there. */
static void test_probes(void **state)
{
    (void)state;
    static const struct { const struct manner *manner; const char *models, *says; } cases[] = {
        { &chats, models, "a request that only tested the endpoint failed; no figure includes it: HTTP status 404" },
        { &manners[0], STATUS("404 Not Found") "{}", "no figure includes it: GET /v1/models: HTTP status 404" },
        { &manners[0], models, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[300], out[1 << 14];
        unsigned port;
        int listener = listen_here(&port);
        pid_t server = fork();
        if (!server) {
            models_said = cases[i].models;
            answer_all(listener, cases[i].manner);
            _exit(0);
        }
        close(listener);
        snprintf(words, sizeof words, "measure http://127.0.0.1:%u --loads 1 --isl 16 --osl 2 --budget 2s --timeout 1s "
                 "--served-name m --json", port);
        const int status = run(words, out, sizeof out);
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
        if (status || strstr(out, "\"error\"") || !strstr(out, cases[i].says ? cases[i].says : "\"notes\": []"))
            fail_msg("an endpoint that %s: exit %d, not '%s':\n%s", cases[i].manner->name, status,
                     cases[i].says ? cases[i].says : "notes", out);
    }
}

/* A list of models that is none: nothing is asked, and the message says what came. */
static void test_models(void **state)
{
    (void)state;
    static const struct { const char *answer, *says; } lists[] = {
        { STATUS("200 OK") "{\"data\":7}", "GET /v1/models: no list of models" },
        { STATUS("200 OK") "\x01\x02{{", "GET /v1/models: no list of models" },
        { STATUS("401 Unauthorized") "{}", "GET /v1/models: HTTP status 401" },
        { "", "timed out" } };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char words[200], out[1 << 12];
        unsigned port;
        int listener = listen_here(&port);
        pid_t server = fork();
        if (!server) {
            models_said = lists[i].answer;
            answer_all(listener, &manners[0]);
            _exit(0);
        }
        close(listener);
        snprintf(words, sizeof words, "measure http://127.0.0.1:%u --budget 2s --timeout 1s", port);
        const int status = run(words, out, sizeof out);
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
        if (status != 1 || !strstr(out, lists[i].says))
            fail_msg("exit %d, no '%s' in:\n%s", status, lists[i].says, out);
    }
}

static void test_nobody_there(void **state)
{
    (void)state;
    char words[200], out[1 << 12];
    unsigned port;
    close(listen_here(&port));
    snprintf(words, sizeof words, "measure http://127.0.0.1:%u --budget 2s", port);
    assert_int_equal(run(words, out, sizeof out), 1);
    assert_non_null(strstr(out, "no request succeeded: Failed to connect"));
    assert_int_equal(run("measure ftp://127.0.0.1/", out, sizeof out), 2);
    assert_int_equal(run("measure http://me:secret@127.0.0.1:1/", out, sizeof out), 2);
    assert_null(strstr(out, "secret"));
    assert_int_equal(run("measure http://127.0.0.1:1 --loads 1,,2", out, sizeof out), 2);
    assert_int_equal(run("measure http://127.0.0.1:1 --loads 0", out, sizeof out), 2);
    assert_int_equal(run("measure http://127.0.0.1:1 --key-file /nonexistent", out, sizeof out), 2);
    assert_int_equal(run("measure http://127.0.0.1:1 -o /nonexistent/file", out, sizeof out), 2);
    assert_int_equal(run("measure http://127.0.0.1:1 --rate 3 --loads 1", out, sizeof out), 2);
    assert_int_equal(run("measure http://127.0.0.1:1 --rate 0", out, sizeof out), 2);
    assert_int_equal(run("measure http://127.0.0.1:1 --calibration-out /tmp/x.csv", out, sizeof out), 2);
    assert_non_null(strstr(out, "--on MACHINE"));
    assert_int_equal(run("measure http://127.0.0.1:1 http://127.0.0.1:2", out, sizeof out), 2);
}

/* Ctrl-C: what was measured stays, and is answered. The key is in no file, output or process list. */
static void test_interrupted(void **state)
{
    (void)state;
    char words[500], out[1 << 13], path[] = "/tmp/chalkline-measure-XXXXXX";
    unsigned port;
    int listener = listen_here(&port), file = mkstemp(path);
    close(file);
    pid_t server = fork();
    if (!server) {
        answer_all(listener, &slow);
        _exit(0);
    }
    close(listener);
    setenv("CHALKLINE_API_KEY", "sk-very-secret", 1);
    snprintf(words, sizeof words, "measure http://127.0.0.1:%u --loads 1,1,1,1,1,1,1,1 --isl 16 --osl 2 --budget 60s "
             "-o %s & p=$!; for i in $(seq 300); do [ $(wc -l <%s) -gt 5 ] && break; sleep 0.1; done; "
             "tr '\\0' ' ' </proc/$p/cmdline; kill -INT $p; wait $p", port, path, path);
    const int status = run(words, out, sizeof out);
    unsetenv("CHALKLINE_API_KEY");
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    assert_int_equal(status, 0);
    assert_non_null(strstr(out, "tokens/s"));
    assert_non_null(strstr(out, "--budget 60s"));   /* the words of the process */
    assert_non_null(strstr(out, "stopped: interrupted"));
    assert_null(strstr(out, "sk-very"));
    assert_true(lines_of(path) > 5);
    struct arena arena = { 0 };
    struct text text;
    struct error error;
    assert_true(file_read(&arena, path, 1 << 24, &text, &error));
    assert_null(strstr(arena_copy(&arena, text.data, text.size), "sk-very"));
    arena_free(&arena);
    unlink(path);
}

static const struct doc *answer_of(struct arena *arena, const char *words, char *out, size_t room)
{
    struct doc *doc;
    struct error error;
    assert_int_equal(run(words, out, room), 0);
    if (!json_read(arena, "measure", text_of(out), &doc, &error))
        fail_msg("%s:\n%s", error.what, out);
    return doc;
}

static double of_point(const struct doc *answer, const char *key)
{
    const struct doc *value = doc_get(doc_get(answer, "points")->first, key);
    return value && value->kind == DOC_NUMBER ? value->number : -1;
}

/* Requests at a rate, whatever the answers: their number is that of a Poisson process, and the same seed has the
 * same arrivals. Answers of one token have no TPOT. */
static void test_open_loop(void **state)
{
    (void)state;
    char words[300], out[1 << 14];
    unsigned port;
    struct arena arena = { 0 };
    int listener = listen_here(&port);
    pid_t server = fork();
    if (!server) {
        answer_all(listener, &manners[0]);
        _exit(0);
    }
    close(listener);
    double sent[2];
    for (int i = 0; i < 2; i++) {
        snprintf(words, sizeof words, "measure http://127.0.0.1:%u --rate 60/s --isl 16 --osl 2 --budget 2s --timeout 1s "
                 "--seed 7 --json", port);
        const struct doc *answer = answer_of(&arena, words, out, sizeof out);
        sent[i] = of_point(answer, "requests") + of_point(answer, "left_out");
        assert_int_equal(of_point(answer, "failed"), 0);
        assert_true(of_point(answer, "rate") == 60 && of_point(answer, "concurrency") == -1);
        assert_true(doc_get(answer, "seed")->number == 7);
    }
    if (!(sent[0] > 80 && sent[0] < 165 && sent[1] > sent[0] - 3 && sent[1] < sent[0] + 3))
        fail_msg("%g and %g requests at 60 a second in 2 s", sent[0], sent[1]);
    snprintf(words, sizeof words, "measure http://127.0.0.1:%u --loads 1 --isl 16 --osl 1 --budget 1s", port);
    assert_int_equal(run(words, out, sizeof out), 0);
    assert_non_null(strstr(out, "tokens/s"));
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    arena_free(&arena);
}

/* ---- this machine ------------------------------------------------------------------------------- */

static double fact(const struct doc *facts, const char *row)
{
    const struct doc *figure = doc_get(facts, row), *value = figure ? doc_get(figure, "value") : NULL;
    if (!value || value->kind != DOC_NUMBER || !(value->number > 0))
        fail_msg("no %s of this machine", row);
    return value->number;
}

/* What is measured is a machine that --on reads back, by its file and as `this`. */
static void test_machine(void **state)
{
    (void)state;
    static const char *const rows[] = { "hbm_capacity", "hbm_bandwidth", "peak_fp32", "peak_bf16", "peak_int8" };
    char words[300], out[1 << 14], folder[] = "/tmp/chalkline-state-XXXXXX";
    struct arena arena = { 0 };
    struct error error;
    struct doc *measured, *read;
    assert_non_null(mkdtemp(folder));
    setenv("XDG_STATE_HOME", folder, 1);
    snprintf(words, sizeof words, "measure -o %s/machine.csv --json", folder);
    assert_int_equal(run(words, out, sizeof out), 0);
    assert_true(json_read(&arena, "measure", text_of(out), &measured, &error));
    const struct doc *facts = doc_get(measured, "facts");
    for (int on_this = 0; on_this < 2; on_this++) {
        snprintf(words, sizeof words, "eval hbm_capacity hbm_bandwidth peak_fp32 peak_bf16 peak_int8 --json --on "
                 "%s%s 2>/dev/null </dev/null; true", on_this ? "this" : folder, on_this ? "" : "/machine.csv");
        assert_int_equal(run(words, out, sizeof out), 0);
        assert_true(json_read(&arena, "eval", text_of(out), &read, &error));
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const double here = fact(facts, rows[i]), there = fact(read, rows[i]);
            if (!(there > 0.9999 * here && there < 1.0001 * here))
                fail_msg("%s: measured %g, read back %g", rows[i], here, there);
        }
    }
    assert_int_equal(run("measure --loads 3", out, sizeof out), 2);
    snprintf(words, sizeof words, "%s/machine.csv", folder);
    unlink(words);
    snprintf(words, sizeof words, "%s/chalkline/this.csv", folder);
    assert_int_equal(unlink(words), 0);
    snprintf(words, sizeof words, "%s/chalkline", folder);
    rmdir(words);
    rmdir(folder);
    unsetenv("XDG_STATE_HOME");
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_manners), cmocka_unit_test(test_probes), cmocka_unit_test(test_models),
                                        cmocka_unit_test(test_nobody_there),
                                        cmocka_unit_test(test_interrupted), cmocka_unit_test(test_open_loop),
                                        cmocka_unit_test(test_machine) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
