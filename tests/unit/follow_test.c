/* `watch` over recordings and over servers that misbehave: the trend against sums by hand, counters of replicas
 * that come, go and restart, a recording that is damaged, and what a server can do wrong. */
#define _GNU_SOURCE
#include "test.h"

#include "base/base.h"

#include <arpa/inet.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *program(void)
{
    const char *path = getenv("CHALKLINE");
    return path ? path : "./chalkline";
}

static int status;

static char *run(struct arena *arena, const char *format, ...) BASE_PRINTF(2, 3);
static char *run(struct arena *arena, const char *format, ...)
{
    char line[900];
    struct buffer out = { .arena = arena };
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    buffer_add(&out, "", 0);
    for (size_t got; (got = fread(line, 1, sizeof line, pipe));)
        buffer_add(&out, line, got);
    status = WEXITSTATUS(pclose(pipe));
    return out.data ? out.data : "";
}

static const struct doc *json_of(struct arena *arena, const char *text)
{
    struct doc *doc;
    struct error error;
    if (!json_read(arena, "the answer", text_of(text), &doc, &error))
        fail_msg("%s in:\n%s", error.what, text);
    return doc;
}

static double number_at(const struct doc *doc, const char *key, const char *inside, const char *deeper)
{
    const struct doc *at = doc_get(doc, key);
    at = at && inside ? doc_get(at, inside) : at;
    at = at && deeper ? doc_get(at, deeper) : at;
    if (!at)
        fail_msg("no %s.%s.%s", key, inside ? inside : "", deeper ? deeper : "");
    return at->kind == DOC_NUMBER ? at->number : NAN;
}

static void check_near(const char *what, double got, double expected, double share)
{
    if (!(fabs(got - expected) <= share * fabs(expected)))
        fail_msg("%s: %.8g, expected %.8g", what, got, expected);
}

/* A file that is gone with the test. */
static const char *temporary(struct arena *arena, const struct buffer *text)
{
    char *path = arena_print(arena, "/tmp/chalkline-follow-XXXXXX");
    const int file = mkstemp(path);
    assert_true(write(file, text->data, text->size) == (ssize_t)text->size);
    close(file);
    return path;
}

static void add_reading(struct buffer *record, double at, const char *page)
{
    if (!record->size)
        buffer_print(record, "# chalkline watch 1\n");
    buffer_print(record, "# at %.3f bytes %zu\n%s", at, strlen(page), page);
}

/* ---- the trend ------------------------------------------------------------------------------------ */

/* Rates 1, 2, 2, 4, 5 per second in intervals of 1,000 s. By hand, in thousands of seconds: the mean 2.8 is 2.5 ago,
 * the slope is 1, the line after 3.6 at 2.8 + 6.1. Squared residuals are 0.8 together, squared times 10; so the
 * error is sqrt(0.8 / 3 * (1 + 1/5 + 6.1^2 / 10)), and Student's 90 % quantile at 3 degrees 1.637744. */
static void test_trend(void **state)
{
    (void)state;
    static const double rates[] = { 1, 2, 2, 4, 5 };
    const double error = sqrt(0.8 / 3 * (1 + 1 / 5.0 + 6.1 * 6.1 / 10)), quantile = 1.637744353696;
    struct arena arena = { 0 };
    struct buffer record = { .arena = &arena };
    double finished = 0;
    for (int i = 0; i <= 5; i++) {
        add_reading(&record, 5000 + 1000 * i,
                    arena_print(&arena, "vllm:request_success_total %.0f\nvllm:num_requests_running 0\n", finished));
        finished += i < 5 ? 1000 * rates[i] : 0;
    }
    const char *path = temporary(&arena, &record);
    const struct doc *answer = json_of(&arena, run(&arena, "%s watch %s --once --json --window 2h", program(), path));
    check_near("in an hour", number_at(answer, "arrivals", "in_an_hour", "value"), 2.8 + 6.1, 1e-9);
    check_near("its lower end", number_at(answer, "arrivals", "in_an_hour", "low"), 8.9 - quantile * error, 1e-6);
    check_near("its upper end", number_at(answer, "arrivals", "in_an_hour", "high"), 8.9 + quantile * error, 1e-6);
    check_near("now", number_at(answer, "arrivals", "now", "value"), 5, 1e-9);
    /* Without a quarter of an hour there is none. */
    answer = json_of(&arena, run(&arena, "%s watch tests/fixtures/metrics/after.prom --since "
                                 "tests/fixtures/metrics/before.prom --seconds 26.72 --once --json", program()));
    assert_true(isnan(number_at(answer, "arrivals", "in_an_hour", "value")));
    assert_non_null(doc_get(doc_get(doc_get(answer, "arrivals"), "in_an_hour"), "reason"));
    unlink(path);
    arena_free(&arena);
}

/* ---- replicas ------------------------------------------------------------------------------------- */

/* Engine 0 goes on, 1 restarts, 2 goes and 3 comes: 10 + 4 + 0 + 7 requests in 10 s. */
static void test_replicas(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct buffer record = { .arena = &arena };
    add_reading(&record, 1000, "vllm:request_success_total{engine=\"0\"} 100\nvllm:request_success_total{engine=\"1\"} 50\n"
                "vllm:request_success_total{engine=\"2\"} 30\nvllm:num_requests_running{engine=\"0\"} 0\n"
                "vllm:num_requests_running{engine=\"1\"} 0\nvllm:num_requests_running{engine=\"2\"} 0\n");
    add_reading(&record, 1010, "vllm:request_success_total{engine=\"0\"} 110\nvllm:request_success_total{engine=\"1\"} 4\n"
                "vllm:request_success_total{engine=\"3\"} 7\nvllm:num_requests_running{engine=\"0\"} 0\n"
                "vllm:num_requests_running{engine=\"1\"} 0\nvllm:num_requests_running{engine=\"3\"} 0\n");
    const char *path = temporary(&arena, &record);
    const struct doc *answer = json_of(&arena, run(&arena, "%s watch %s --once --json", program(), path));
    check_near("requests", number_at(answer, "requests", NULL, NULL), 21, 0);
    check_near("arrivals", number_at(answer, "load", "arrival_rate", "value"), 2.1, 1e-12);
    assert_non_null(strstr(run(&arena, "%s watch %s --once", program(), path), "3 replicas"));
    unlink(path);
    arena_free(&arena);
}

/* ---- recordings ----------------------------------------------------------------------------------- */

static void test_recordings(void **state)
{
    (void)state;
    static const struct { const char *text, *says; int status, lines; } rows[] = {
        { "# chalkline watch 1\n", "no reading", 2, 0 },
        { "# chalkline watch 1\nhello\n", "damaged, 0 bytes before its end", 2, 0 },
        { "# chalkline watch 1\n# at x bytes 3\na 1\n", "damaged", 2, 0 },
        { "# chalkline watch 1\n# at 1000 bytes 8\nother 1\n", "no engine that is known", 2, 0 },
        { "# chalkline watch 1\n# at 1000 bytes 8\n<html>\n\n", "not a line", 2, 0 },
        { "# chalkline watch 1\n# at 1000 away refused\n", "away: refused", 0, 1 },
        /* Garbage later on is told, and what comes after it counts from before. */
        { "# chalkline watch 1\n# at 1000 bytes 29\nvllm:request_success_total 5\n# at 1005 bytes 8\n<html>\n\n"
          "# at 1010 bytes 29\nvllm:request_success_total 9\n", "0.4 requests/s", 0, 3 },
        /* A reading that is still being written is none. */
        { "# chalkline watch 1\n# at 1000 bytes 29\nvllm:request_success_total 5\n# at 1005 bytes 29\nvllm:req",
          "since its start", 0, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        struct buffer record = { .arena = &arena };
        buffer_print(&record, "%s", rows[i].text);
        const char *path = temporary(&arena, &record);
        const char *once = rows[i].lines ? "" : " --once";
        const char *said = run(&arena, "%s watch %s%s 2>&1", program(), path, once);
        int lines = 0;
        for (const char *at = said; (at = strstr(at, " UTC  ")); at++)
            lines++;
        if (!strstr(said, rows[i].says) || status != rows[i].status || lines != rows[i].lines)
            fail_msg("recording %zu: exit %d, %d readings, expected '%s' in:\n%s", i, status, lines, rows[i].says, said);
        unlink(path);
        arena_free(&arena);
    }
}

/* ---- servers -------------------------------------------------------------------------------------- */

/* A server that answers every connection with these bytes and closes; NULL: it never says a word. */
static pid_t serve(const char *bytes, int *port)
{
    struct sockaddr_in place = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof place;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&place, size), 0);
    assert_int_equal(listen(listener, 5), 0);
    getsockname(listener, (struct sockaddr *)&place, &size);
    *port = ntohs(place.sin_port);
    const pid_t child = fork();
    if (child) {
        close(listener);
        return child;
    }
    for (;;) {
        char asked[4096];
        const int fd = accept(listener, NULL, NULL);
        while (!bytes)
            pause();
        if (read(fd, asked, sizeof asked) > 0 && write(fd, bytes, strlen(bytes)) >= 0)
            close(fd);
    }
}

static void test_servers(void **state)
{
    (void)state;
    static const struct { const char *bytes, *says; } rows[] = {
        { NULL, "imed out" },
        { "", "mpty reply" },
        { "\x80\x81 not HTTP at all\n", "HTTP/0.9" },
        { "HTTP/1.1 500 no\r\nContent-Length: 0\r\n\r\n", "HTTP status 500" },
        { "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nvllm:num_requests_running 1\n", "transfer closed" },
        { "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n<html></html>\n", "not a line" },
        { "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "no metrics" },
        { "HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\ngo_goroutines 12\n", "no engine that is known" },
        { "HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\nprometheus_build_info 1\n\n", "its answer is no JSON" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        int port;
        const pid_t server = serve(rows[i].bytes, &port);
        const char *said = run(&arena, "%s watch http://127.0.0.1:%d --once --patience 1s 2>&1", program(), port);
        if (status != 2 || !strstr(said, rows[i].says) || !strstr(said, "expected:"))
            fail_msg("server %zu: exit %d, expected '%s' in:\n%s", i, status, rows[i].says, said);
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
        if (!i) {                                       /* now nobody listens there */
            said = run(&arena, "%s watch http://127.0.0.1:%d --once 2>&1", program(), port);
            assert_true(status == 2 && strstr(said, "onnect"));
        }
        arena_free(&arena);
    }
}

static void test_commands(void **state)
{
    (void)state;
    static const struct { const char *words, *says; } rows[] = {
        { "", "one URL or file" },
        { "a b", "one URL or file" },
        { "/nowhere/at-all", "/nowhere/at-all" },
        { "tests/fixtures/metrics/after.prom --job x", "is no Prometheus server" },
        { "tests/fixtures/metrics/after.prom --since tests/fixtures/metrics/before.prom", "go together" },
        { "http://127.0.0.1:9 --record /nowhere/at-all --every 1s", "--record: /nowhere/at-all" },
        { "http://127.0.0.1:9 --listen 0 --bind 300.1.1.1", "--bind" },
    };
    struct arena arena = { 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *said = run(&arena, "%s watch %s 2>&1", program(), rows[i].words);
        if (status != 2 || !strstr(said, rows[i].says))
            fail_msg("watch %s: exit %d, expected '%s' in:\n%s", rows[i].words, status, rows[i].says, said);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_trend), cmocka_unit_test(test_replicas),
                                        cmocka_unit_test(test_recordings), cmocka_unit_test(test_servers),
                                        cmocka_unit_test(test_commands) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
