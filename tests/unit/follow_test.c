/* `watch` over recordings and over servers that misbehave: the trend against sums by hand, counters of replicas
 * that come, go and restart, a recording that is damaged, and what a server can do wrong. */
#define _GNU_SOURCE
#include "tests/unit/emit_readers.h"

#include "base/base.h"
#include "meter/watch/watch.h"

#include <arpa/inet.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
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
    static const char *const more[] = { "--once --record /dev/null", "--once --listen 0", "--once --every 3s", "--once --insecure",
                                        "--bind ::1" };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (!strstr(run(&arena, "%s watch %s %s 2>&1", program(), path, more[i]), i < 3 ? "on one reading" : "without --listen"))
            fail_msg("watch FILE %s is no error", more[i]);
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
    assert_non_null(strstr(run(&arena, "%s watch %s --once", program(), path), "3 engines of one server"));
    unlink(path);
    arena_free(&arena);
}

/* One server's scrape: counts after `seconds` of a steady load on each engine, 7.5 requests/s of 500 + 100 tokens. */
static void print_engine(struct buffer *out, const char *begins, const char *labels, double seconds)
{
    const double requests = 7.5 * seconds;
    const bool sglang = !strncmp(begins, "sglang", 6);
    buffer_print(out, "%s%s{%s} 9\n%s%s{%s} 0\n", begins, sglang ? "num_running_reqs" : "num_requests_running", labels, begins,
                 sglang ? "num_queue_reqs" : "num_requests_waiting", labels);
    buffer_print(out, "%s%s{%s} %.0f\n%sprompt_tokens_total{%s} %.0f\n%sgeneration_tokens_total{%s} %.0f\n", begins,
                 sglang ? "num_requests_total" : "request_success_total", labels, requests, begins, labels, 500 * requests,
                 begins, labels, 100 * requests);
    buffer_print(out, "%stime_to_first_token_seconds_sum{%s} %.3f\n%stime_to_first_token_seconds_count{%s} %.0f\n", begins,
                 labels, 0.06 * requests, begins, labels, requests);
    buffer_print(out, "%sinter_token_latency_seconds_sum{%s} %.3f\n%sinter_token_latency_seconds_count{%s} %.0f\n", begins,
                 labels, 0.0105 * 99 * requests, begins, labels, 99 * requests);
}

struct page_case {
    const char *begins, *engines[4];        /* labels of each engine */
    const char *options;
    double servers, times;                  /* servers that are counted; saturation over that of one engine, one GPU */
    const char *applied;                    /* part of the line on the layout; NULL: there is no such line */
};

static double saturation_of(struct arena *arena, const struct page_case *page, const char **layout, double *servers,
                            double *of_one)
{
    struct buffer record = { .arena = arena };
    for (int at = 0; at < 2; at++) {
        struct buffer text = { .arena = arena };
        for (int i = 0; i < 4 && page->engines[i]; i++)
            print_engine(&text, page->begins, page->engines[i], at ? 160 : 100);
        add_reading(&record, at ? 1060 : 1000, text.data);
    }
    const char *path = temporary(arena, &record);
    const struct doc *answer = json_of(arena, run(arena, "%s watch %s --once --json %s", program(), path, page->options));
    *layout = doc_text(answer, "layout_applied", NULL);
    *servers = number_at(answer, "servers", NULL, NULL);
    *of_one = number_at(answer, "replicas", "rate_of_one", "value");
    unlink(path);
    return number_at(answer, "saturation_rate", "value", NULL);
}

/* The engines of a page are one server, and the layout that is given is the whole server's. Engines of a dense model are
 * predicted alone, so that the server's rate is a multiple of that of one engine, whatever options say the layout. */
static void test_engines(void **state)
{
    (void)state;
#define DENSE "--model qwen3-8b --on a100-sxm "
#define SPARSE "--model qwen3-30b-a3b --on h100-sxm "
    static const struct page_case one = { "vllm:", { "engine=\"0\"" }, DENSE "--gpus 1", 1, 1, NULL };
    static const struct page_case pages[] = {
        { "vllm:", { "engine=\"0\"", "engine=\"1\"" }, DENSE "--gpus 2 --dp 2", 1, 2, "each of the 2 engines of the server has 1 GPU" },
        { "vllm:", { "engine=\"0\"", "engine=\"1\"" }, DENSE "--gpus 2", 1, 2, "2 GPUs in all" },
        { "vllm:", { "engine=\"0\"", "engine=\"1\"" }, DENSE "--gpus 1", 1, 2, "is taken to be that of one engine, since 1 GPU" },
        { "vllm:", { "engine=\"0\"", "engine=\"1\"" }, DENSE "--tp 1", 1, 2, "2 GPUs in all" },
        { "vllm:", { "engine=\"0\"", "engine=\"1\"", "engine=\"2\"" }, DENSE "--gpus 3 --dp 3", 1, 3, "3 GPUs in all" },
        { "vllm:", { "engine=\"0\"", "engine=\"1\"", "engine=\"2\"" }, DENSE "--gpus 2 --dp 2", 1, 3, "--dp says 2, the page numbers 3 engines" },
        /* Two pods of two engines each, as Prometheus stores them; two pods of one; a server behind Ray. */
        { "vllm:", { "engine=\"0\",instance=\"a\"", "engine=\"1\",instance=\"a\"", "engine=\"0\",instance=\"b\"",
                     "engine=\"1\",instance=\"b\"" }, DENSE "--gpus 2", 2, 4, "each of the 2 engines of each server has 1 GPU" },
        { "vllm:", { "engine=\"0\",pod=\"a\"", "engine=\"0\",pod=\"b\"" }, DENSE "--gpus 1", 2, 2, "each server has 1 GPU" },
        { "ray_vllm_", { "WorkerId=\"x\",engine=\"0\"", "WorkerId=\"y\",engine=\"0\"" }, DENSE "--gpus 1", 2, 2, "each server has" },
        /* One of the two engines of a server whose ranks have pages of their own. */
        { "vllm:", { "engine=\"1\"" }, DENSE "--gpus 2 --dp 2", 1, 1, "the page has 1 of the 2 engines" },
        /* Of two models on a page the one of --model. */
        { "vllm:", { "engine=\"0\",model_name=\"Qwen/Qwen3-8B\"", "engine=\"0\",model_name=\"other\"" }, DENSE "--gpus 1", 1, 1, NULL },
    };
    struct arena arena = { 0 };
    const char *layout;
    double servers, of_one, of_server;
    const double alone = saturation_of(&arena, &one, &layout, &servers, &of_one);
    assert_null(layout);
    assert_true(alone > 0 && of_one > 0);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        const double found = saturation_of(&arena, &pages[i], &layout, &servers, &of_server);
        check_near(arena_print(&arena, "page %zu: saturation", i), found, pages[i].times * alone, 1e-6);
        check_near("servers", servers, pages[i].servers, 0);
        const double shown = pages[i].times / pages[i].servers;
        check_near("rate of one server", of_server, of_one * (i == 9 ? 2 : shown), 1e-6);
        if (!layout != !pages[i].applied || (layout && !strstr(layout, pages[i].applied)))
            fail_msg("page %zu: layout '%s', expected '%s'", i, layout ? layout : "", pages[i].applied ? pages[i].applied : "");
    }
    /* vLLM's engines share the experts of a model: one prediction of all. So do SGLang's ranks of data-parallel attention,
     * which number their GPUs on, and not its plain data-parallel ranks, each of which begins at GPU 0. Only the first rank
     * of an engine counts, and where it alone reports nothing follows for TP. */
    static const struct page_case shared[] = {
        { "vllm:", { "engine=\"0\"", "engine=\"1\"" }, SPARSE "--gpus 2 --dp 2", 1, 0, "2 engines of the server share 2 GPUs" },
        { "vllm:", { "engine=\"0\"", "engine=\"1\"" }, SPARSE "--gpus 2", 1, 0, "2 engines of the server share 2 GPUs" },
        { "sglang:", { "dp_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"", "dp_rank=\"1\",pp_rank=\"0\",tp_rank=\"1\"" },
          SPARSE "--gpus 2 --dp 2", 1, 0, "2 engines of the server share 2 GPUs" },
    };
    double first = NAN;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        const double found = saturation_of(&arena, &shared[i], &layout, &servers, &of_server);
        assert_non_null(strstr(layout, shared[i].applied));
        if (i == 1)
            check_near("with --dp and without", found, first, 1e-9);
        first = found;
    }
    static const struct page_case sglang[] = {
        { "sglang:", { "dp_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"", "dp_rank=\"1\",pp_rank=\"0\",tp_rank=\"0\"" },
          SPARSE "--gpus 2 --dp 2", 1, 2, "each of the 2 engines of the server has 1 GPU" },
        { "sglang:", { "pp_rank=\"0\",tp_rank=\"0\"", "pp_rank=\"1\",tp_rank=\"0\"" }, SPARSE "--gpus 1", 1, 1, NULL },
    };
    static const struct page_case plain = { "sglang:", { "pp_rank=\"0\",tp_rank=\"0\"" }, SPARSE "--gpus 1", 1, 1, NULL };
    const double sparse = saturation_of(&arena, &plain, &layout, &servers, &of_one);
    for (size_t i = 0; i < sizeof sglang / sizeof *sglang; i++)
        check_near("SGLang", saturation_of(&arena, &sglang[i], &layout, &servers, &of_server), sglang[i].times * sparse, 1e-6);
    /* Two models and no --model: nothing is predicted. */
    const struct page_case mixed = { "vllm:", { "model_name=\"Qwen/Qwen3-8B\"", "model_name=\"other\"" }, "--on a100-sxm --gpus 1", 1, 0, NULL };
    assert_true(isnan(saturation_of(&arena, &mixed, &layout, &servers, &of_one)));
    /* TGI's names; an engine whose flags nothing knows. */
    struct buffer tgi = { .arena = &arena };
    buffer_print(&tgi, "tgi_batch_current_size 3\ntgi_queue_size 1\ntgi_request_success{kind=\"stream\"} 50\ntgi_request_input_length_sum "
                 "5000\ntgi_request_input_length_count 50\ntgi_request_generated_tokens_sum 2500\ntgi_request_generated_tokens_count 50\n");
    const char *page = temporary(&arena, &tgi);
    const struct doc *said = json_of(&arena, run(&arena, "%s watch %s --once --json --model llama-3.1-8b --on h100-sxm --gpus 1", program(), page));
    check_near("prompt", number_at(said, "load", "prompt_tokens", "value"), 100, 0);
    check_near("answer", number_at(said, "load", "output_tokens", "value"), 50, 0);
    assert_true(number_at(said, "saturation_rate", "value", NULL) > 0 && !doc_get(said, "flags")->first);
    unlink(page);
    /* The published scrapes of two engines: each is one GPU, so the server reaches what two servers of one GPU do. */
    const char *after = shared_file(&arena, "../field/engines2-after.prom");
    const char *before = shared_file(&arena, "../field/engines2-before.prom");
    for (int i = 0; after && before && i < 3; i++) {
        static const char *const layouts[] = { "--gpus 2 --dp 2", "--gpus 2", "--gpus 1" };
        const struct doc *answer = json_of(&arena, run(&arena, "%s watch %s --since %s --seconds 60 --model llama-3.1-8b --on h100-sxm "
                                                       "%s --json", program(), after, before, layouts[i]));
        check_near(layouts[i], number_at(answer, "saturation_rate", "value", NULL), 39.6, 0.02);
    }
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
        /* The last reading is what --once answers: where it is garbage there is no answer. */
        { "# chalkline watch 1\n# at 1000 bytes 29\nvllm:request_success_total 5\n# at 1005 bytes 8\n<html>\n\n",
          "not a line", 2, 0 },
        /* Values that no server can have are told, and the next reading is answered, even after a first one. */
        { "# chalkline watch 1\n# at 1000 bytes 35\nvllm:request_success_total -1e300\n\n# at 1010 bytes 29\n"
          "vllm:request_success_total 9\n", "away: /tmp/", 0, 2 },
        { "# chalkline watch 1\n# at 1000 bytes 29\nvllm:request_success_total 5\n# at 1005 bytes 35\n"
          "vllm:request_success_total -1e300\n\n# at 1010 bytes 29\nvllm:request_success_total 9\n",
          "0.4 requests/s", 0, 3 },
        { "# chalkline watch 1\n# at 1e300 bytes 29\nvllm:request_success_total 5\n", "damaged", 2, 0 },
        /* A reading that is still being written is told, and is none. */
        { "# chalkline watch 1\n# at 1000 bytes 29\nvllm:request_success_total 5\n# at 1005 bytes 29\nvllm:req",
          "since its start", 0, 2 },
        { "# chalkline watch 1\n# at 1000 bytes 29\nvllm:request_success_total 5\n# at 1005 bytes 29\nvllm:req",
          "away: the recording ends in the middle of this reading", 0, 2 },
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
        { "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nvllm:num_requests_running 1\n", "before the whole answer" },
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

/* What a Prometheus server has stored of native histograms: no text, but the objects of its query API. */
static void test_native_histograms(void **state)
{
    (void)state;
    static const char *const names[] = { "vllm:request_prompt_tokens", "vllm:request_generation_tokens" };
    static const double sums[] = { 400, 80 };
    struct arena arena = { 0 };
    struct buffer json = { .arena = &arena };
    const long now = (long)time(NULL);
    int port;
    buffer_print(&json, "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{\"__name__\":"
                 "\"vllm:request_success_total\",\"job\":\"x\",\"instance\":\"a\\\"b\"},\"values\":[[%ld,\"0\"],[%ld,\"4\"]]}",
                 now - 120, now - 60);
    for (int i = 0; i < 2; i++)
        buffer_print(&json, ",{\"metric\":{\"__name__\":\"%s\"},\"histograms\":[[%ld,{\"count\":\"0\",\"sum\":\"0\"}],"
                     "[%ld,{\"count\":\"4\",\"sum\":\"%.0f\",\"buckets\":[[0,\"1\",\"256\",\"4\"]]}]]}", names[i], now - 120,
                     now - 60, sums[i]);
    buffer_print(&json, "]}}");
    const pid_t server = serve(arena_print(&arena, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", json.size,
                                           json.data), &port);
    const struct doc *got = json_of(&arena, run(&arena, "%s watch http://127.0.0.1:%d --job x --once --json", program(),
                                                port));
    check_near("prompt", number_at(got, "load", "prompt_tokens", "value"), 100, 0);
    check_near("answer", number_at(got, "load", "output_tokens", "value"), 20, 0);
    check_near("requests", number_at(got, "requests", NULL, NULL), 4, 0);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    arena_free(&arena);
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

/* ---- flags ---------------------------------------------------------------------------------------------- */

/* Counters of an engine by a prefix, after `n` requests of 1,000 + 200 tokens: a fifth of each prompt was cached. */
static const char *counters(struct arena *arena, const char *prefix, bool sglang, int n)
{
    struct buffer out = { .arena = arena };
    static const char *const names[][2] = {
        { "num_requests_completed_total", "num_requests_total" }, { "prompt_tokens_total", "prompt_tokens_total" },
        { "generation_tokens_total", "generation_tokens_total" }, { "prompt_cached_tokens_total", "cached_tokens_total" } };
    const int each[] = { 1, 1000, 200, 200 };
    for (int i = 0; i < 4; i++)
        buffer_print(&out, "%s%s %d\n", prefix, names[i][sglang], n * each[i]);
    buffer_print(&out, "%s%s 0\n%s%s 0\n", prefix, sglang ? "num_running_reqs" : "num_requests_running", prefix,
                 sglang ? "num_queue_reqs" : "num_requests_waiting");
    buffer_print(&out, "%stime_to_first_token_seconds_sum %g\n%stime_to_first_token_seconds_count %d\n", prefix,
                 0.1 * n, prefix, n);
    buffer_print(&out, "%stime_per_output_token_seconds_sum %g\n%stime_per_output_token_seconds_count %d\n", prefix,
                 0.012 * 199 * n, prefix, 199 * n);
    return temporary(arena, &out);
}

static const struct doc *flags_of(struct arena *arena, const char *words)
{
    struct doc *doc;
    struct error error;
    const char *said = run(arena, "%s watch %s --json --once", program(), words);
    if (!json_read(arena, "watch", text_of(said), &doc, &error))
        fail_msg("watch %s: %s in %s", words, error.what, said);
    const struct doc *list = doc_get(doc, "flags");
    for (const struct doc *one = list->first; one; one = one->next)
        if (doc_get(one, "source")->kind != DOC_STRING)
            fail_msg("%s has no row in data/flags.csv", doc_get(one, "flag")->string);
    return list;
}

/* The throughput with this flag at this value, 0: any; NAN: the flag is not tried so. */
static double with_flag(const struct doc *list, const char *flag, double to)
{
    for (const struct doc *one = list->first; one; one = one->next) {
        const struct doc *value = doc_get(one, "to");
        if (!strcmp(doc_get(one, "flag")->string, flag) &&
            (!(to > 0) || (value->kind == DOC_NUMBER && fabs(value->number - to) < 1e-9)))
            return number_at(one, "throughput", "value", NULL);
    }
    return NAN;
}

/* The flags of each engine by its own names; more memory for the cache never takes tokens, and less never adds any. */
static void test_flags(void **state)
{
    (void)state;
    static const struct { const char *prefix; bool sglang; const char *flags[6]; } engines[] = {
        { "sglang:", true, { "--max-running-requests", "--chunked-prefill-size", "--mem-fraction-static",
                             "--disable-radix-cache", "--speculative-num-steps", "--ep-size" } },
        { "trtllm_", false, { "--max_batch_size", "--max_num_tokens", "--free_gpu_memory_fraction",
                              "kv_cache_config.enable_block_reuse", "speculative_config.num_nextn_predict_layers",
                              "--ep_size" } } };
    static const char *const vllm[] = { "--max-num-seqs", "--max-num-batched-tokens", "--gpu-memory-utilization",
                                        "--kv-cache-dtype", "--tensor-parallel-size" };
    struct arena arena = { 0 };
    const struct doc *list = flags_of(&arena, "tests/fixtures/metrics/after.prom --since tests/fixtures/metrics/before.prom "
                                              "--seconds 26.72 --model llama-3.1-8b --on h100-sxm --gpus 1");
    for (size_t i = 0; i < sizeof vllm / sizeof *vllm; i++)
        if (!(with_flag(list, vllm[i], 0) > 0))
            fail_msg("%s is not tried", vllm[i]);
    const double same = with_flag(list, "--max-num-seqs", 2048), less = with_flag(list, "--gpu-memory-utilization", 0.87);
    assert_true(with_flag(list, "--gpu-memory-utilization", 0.97) >= same && less <= same);
    assert_true(with_flag(list, "--kv-cache-dtype", 0) > same);
    /* The chunk that nobody states is that of `calibrate`, 8,192, and not the best one for the load. */
    assert_true(with_flag(list, "--max-num-batched-tokens", 4096) > 0 && with_flag(list, "--max-num-batched-tokens", 16384) > 0);
    assert_true(isnan(with_flag(list, "--no-enable-prefix-caching", 0)));            /* nothing is found in the cache */
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
        const char *since = counters(&arena, engines[e].prefix, engines[e].sglang, 100);
        const char *now = counters(&arena, engines[e].prefix, engines[e].sglang, 700);
        list = flags_of(&arena, arena_print(&arena, "%s --since %s --seconds 60 --model qwen3-30b-a3b --on h100-sxm "
                                            "--gpus 2 --set draft_tokens=2 --set acceptance_rate=0.7 "
                                            "--set chunked_prefill_size=2048", now, since));
        for (int i = 0; i < 6; i++)
            if (!(with_flag(list, engines[e].flags[i], 0) > 0))
                fail_msg("%s is not tried", engines[e].flags[i]);
        unlink(since), unlink(now);
        assert_true(with_flag(list, engines[e].flags[3], 0) < with_flag(list, engines[e].flags[1], 4096));
    }
    arena_free(&arena);
}

/* llama.cpp's flags, of a server with four slots unless -np says otherwise. */
static void test_llama_cpp(void **state)
{
    (void)state;
    static const char *const flags[] = { "-np", "-b", "-ub", "-ctk and -ctv", "--no-cache-prompt", "--spec-draft-n-max" };
    static const char page[] = "llamacpp:prompt_tokens_total %d\nllamacpp:prompt_seconds_total %d\n"
        "llamacpp:tokens_predicted_total %d\nllamacpp:tokens_predicted_seconds_total %d\n";
    struct arena arena = { 0 };
    struct buffer before = { .arena = &arena }, after = { .arena = &arena };
    buffer_print(&before, page, 1000, 1, 500, 10);
    buffer_print(&after, page, 101000, 21, 50500, 510);
    const char *since = temporary(&arena, &before), *now = temporary(&arena, &after);
    const char *words = arena_print(&arena, "%s --since %s --seconds 600 --model llama-3.1-8b --precision Q4_K_M --on "
                                    "rtx-4090 --set draft_tokens=2 --set acceptance_rate=0.7 --set prefix_hit_share=0.3",
                                    now, since);
    assert_null(flags_of(&arena, words)->first);                /* nobody says how long requests are */
    const struct doc *list = flags_of(&arena, arena_print(&arena, "%s --isl 500 --osl 250", words));
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!(with_flag(list, flags[i], 0) > 0))
            fail_msg("%s is not tried", flags[i]);
    assert_true(with_flag(list, "-np", 8) > with_flag(list, "-np", 2));
    unlink(since), unlink(now);
    arena_free(&arena);
}

/* What a flag would change, and its interval, are what the other verbs say of a server that is started with it. */
static void test_flags_asked_again(void **state)
{
    (void)state;
    static const struct { const char *flag, *set; double to; } rows[] = {
        { "--max-num-seqs", "max_num_seqs=512", 512 }, { "--max-num-seqs", "max_num_seqs=16", 16 },
        { "--gpu-memory-utilization", "gpu_memory_utilization=0.87", 0.87 }, { "--kv-cache-dtype", "kv_bytes=1", 0 },
        { "--max-num-batched-tokens", "chunked_prefill_size=4096", 4096 } };
    static const char server[] = "--on h100-sxm --gpus 1 --engine vllm --isl 1000 --osl 190";
    struct arena arena = { 0 };
    struct buffer text = { .arena = &arena };
    buffer_print(&text, "vllm:request_success_total 10\nvllm:num_requests_running 0\n");
    const char *page = temporary(&arena, &text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *now = rows[i].to == 16 ? "--set max_num_seqs=32" : "";
        /* One scrape: nothing is calibrated, and the arrivals are those that are stated. */
        const struct doc *list = flags_of(&arena, arena_print(&arena, "%s --model llama-3.1-8b %s "
                                                              "--set arrival_rate=5 %s", page, server, now));
        const struct doc *one = list->first;
        while (one && (strcmp(doc_get(one, "flag")->string, rows[i].flag) ||
                       (rows[i].to > 0 && fabs(doc_get(one, "to")->number - rows[i].to) > 1e-9)))
            one = one->next;
        if (!one)
            fail_msg("%s is not tried", rows[i].set);
        const char *chunk = strstr(rows[i].set, "chunk") ? "" : "--set chunked_prefill_size=8192";
        const struct doc *step = json_of(&arena, run(&arena, "%s step llama-3.1-8b %s --rate 5 --tp 1 --set %s %s --json",
                                                     program(), server, rows[i].set, chunk));
        const double tpot = number_at(step, "predicted_tpot", NULL, NULL);
        const double most = number_at(step, "saturated_throughput", NULL, NULL);
        check_near(rows[i].set, number_at(one, "tpot", "value", NULL), tpot, 1e-12);
        check_near("low", number_at(one, "tpot", "low", NULL), tpot * number_at(step, "tpot_band_low", NULL, NULL), 1e-12);
        check_near("high", number_at(one, "tpot", "high", NULL), tpot * number_at(step, "tpot_band_high", NULL, NULL),
                   1e-12);
        check_near("throughput", number_at(one, "throughput", "value", NULL), most, 1e-12);
        check_near("at most", number_at(one, "throughput", "high", NULL),
                   most * number_at(step, "throughput_band_high", NULL, NULL), 1e-12);
    }
    unlink(page);
    arena_free(&arena);
}

/* A calibration that starts from its own file keeps one value of each load, however often it starts. */
static void test_restarts(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct buffer empty = { .arena = &arena };
    struct error error;
    struct text text;
    size_t sizes[4] = { 0 };
    buffer_add(&empty, "", 0);
    const char *path = temporary(&arena, &empty);
    for (int i = 0; i < 4; i++) {
        run(&arena, "%s watch tests/fixtures/metrics/after.prom --since tests/fixtures/metrics/before.prom --seconds 26.72 "
            "--model llama-3.1-8b --on h100-sxm --gpus 1 %s %s -o %s", program(), i ? "--calibration" : "", i ? path : "",
            path);
        assert_int_equal(status, 0);
        assert_true(file_read(&arena, path, 1 << 20, &text, &error));
        for (const char *at = text.data; (at = strstr(at, ",value ")); at++)
            sizes[i]++;
    }
    unlink(path);
    assert_true(sizes[0] > 0);
    for (int i = 1; i < 4; i++)
        assert_int_equal(sizes[i], sizes[0]);
    arena_free(&arena);
}

/* A Prometheus server answers at most 11,000 points of a series. */
static void test_steps(void **state)
{
    (void)state;
    const double windows[] = { 60, 3600, 6e5, 6.7e5, 1e7 };
    check_near("an hour's step", history_step(3600), 60, 0);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        assert_true(floor(windows[i] / history_step(windows[i])) + 1 <= 11000);
}

/* ---- what the server itself reports ------------------------------------------------------------------ */

/* Simulated servers whose constants are moved. For an hour the load rises from a tenth of what each serves to three
 * quarters; `watch` is told the model, the machine and the chunk, and has to find how fast the server is. The truth
 * is a run of the simulator with as many users as it can serve. */
static void test_recovers(void **state)
{
    (void)state;
    static const char server[] = "--model llama-3.1-8b --on h100-sxm --gpus 1 --set chunked_prefill_size=2048";
    static const char lengths[] = "input=lognormal(800,cv=0.8),output=lognormal(200,cv=0.8)";
    static const char *const moved[] = {
        "--set fixed_factor=1.674 --set sequence_factor=2.386 --set work_factor=1.017 --set prefill_factor=0.737",
        "--set fixed_factor=0.646 --set sequence_factor=1.019 --set work_factor=0.775 --set prefill_factor=0.563",
        "--set fixed_factor=0.649 --set sequence_factor=1.306 --set work_factor=1.019 --set prefill_factor=1.334" };
    double sum = 0, before = 0;
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        struct arena arena = { 0 };
        struct buffer nothing = { .arena = &arena };
        buffer_add(&nothing, "", 0);
        const char *path = temporary(&arena, &nothing);
        const double truth = number_at(json_of(&arena, run(&arena, "%s simulate 'poisson:rate=10,count=5000,%s' %s %s "
                                                           "--concurrency 600 --json", program(), lengths, server, moved[i])),
                                       "requests_per_s", NULL, NULL);
        run(&arena, "%s simulate 'poisson:rate=%.3f,peak=%.3f,period=2h,duration=1h,%s' %s %s --metrics %s "
            "--metrics-every 150s", program(), 0.1 * truth, 0.75 * truth, lengths, server, moved[i], path);
        const struct doc *got = json_of(&arena, run(&arena, "%s watch %s --once --json %s", program(), path, server));
        const double found = number_at(got, "saturation_rate", "value", NULL);
        const double plain = number_at(json_of(&arena, run(&arena, "%s eval own_rate_most %s --isl 800 --osl 200 --json",
                                                           program(), server)), "own_rate_most", "value", NULL);
        if (!(number_at(got, "calibration", "points", NULL) >= 5) ||
            !(number_at(got, "saturation_rate", "low", NULL) < found) ||
            !(number_at(got, "saturation_rate", "high", NULL) > found))
            fail_msg("server %zu: %.0f points", i, number_at(got, "calibration", "points", NULL));
        print_message("      saturates at %.4g requests/s; found %.4g, without a calibration %.4g\n", truth, found, plain);
        check_near(moved[i], found, truth, 0.08);
        sum += fabs(found / truth - 1);
        before += fabs(plain / truth - 1);
        unlink(path);
        arena_free(&arena);
    }
    assert_true(sum < 0.05 * 3 && sum < before / 2);
}

/* One scrape has sums over all that was; it says so and calibrates nothing. */
static void test_single(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const struct doc *got = json_of(&arena, run(&arena, "%s watch tests/fixtures/metrics/after.prom --once --json --on "
                                                "h100-sxm --gpus 1", program()));
    assert_int_equal(number_at(got, "calibration", "points", NULL), 0);
    assert_string_equal(doc_get(got, "predicted_model")->string, "Llama-3.1-8B");
    assert_string_equal(doc_get(got, "predicted_model_from")->string, "the label model_name");
    assert_non_null(strstr(doc_get(got, "unknown")->first->string, "right only if its load was steady"));
    /* What cannot be held saturates nowhere. */
    assert_non_null(strstr(run(&arena, "%s watch tests/fixtures/metrics/after.prom --once --model llama-3.1-70b --on rtx-4090 "
                               "--gpus 1", program()), "saturation: llama-3.1-70b does not fit in rtx-4090 (needs 141 GB"));
    arena_free(&arena);
}

/* ---- an autoscaler --------------------------------------------------------------------------------- */

/* A day in short: the load rises fivefold within ten minutes, a replica starts in one. Replicas that follow `watch`,
 * which has to find how fast they are, against those of somebody who knows arrivals and servers. */
static void test_scales(void **state)
{
    (void)state;
    static const char *const who[] = { "watch", "known" };
    struct arena arena = { 0 };
    double hours[2], met[2];
    for (int i = 0; i < 2; i++) {
        const struct doc *got = json_of(&arena, run(&arena, "%s simulate 'poisson:rate=8,peak=40,period=20min,"
            "duration=20min,input=lognormal(800,cv=0.8),output=lognormal(200,cv=0.8)' --model llama-3.1-8b --on h100-sxm "
            "--gpus 1 --set chunked_prefill_size=2048 --set fixed_factor=1.3 --set prefill_factor=1.2 "
            "--set sequence_factor=1.5 --scale-to 6 --scale-by %s --start-up 1min --metrics-every 30s --scale-every 30s "
            "--ttft 2s --tpot 50ms --json", program(), who[i]));
        hours[i] = number_at(got, "servers_mean", NULL, NULL) * number_at(got, "makespan", NULL, NULL) / 3600;
        met[i] = number_at(got, "met", NULL, NULL);
    }
    print_message("      watch %.3f GPU-hours, limits met by %.2f %%; known %.3f, %.2f %%\n", hours[0], 100 * met[0], hours[1],
                  100 * met[1]);
    assert_true(hours[0] < 1.2 * hours[1] && met[0] > met[1] - 0.01);
    static const struct { const char *words, *says; } bad[] = {
        { "--scale-to 2 --scale-by watch", "nothing is predicted" }, { "--scale-by known", "without --scale-to" },
        { "--metrics /nowhere/at-all", "--metrics: /nowhere/at-all" },
        { "--users 3 --metrics /tmp/x", "--users has no effect with --metrics" } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *said = run(&arena, "%s simulate poisson:rate=1 --step-time 10ms --blocks 1000 %s 2>&1", program(),
                               bad[i].words);
        if (status != 2 || !strstr(said, bad[i].says))
            fail_msg("%s: exit %d, expected '%s' in:\n%s", bad[i].words, status, bad[i].says, said);
    }
    arena_free(&arena);
}

/* ---- manifests ------------------------------------------------------------------------------------- */

/* The two of docs/watch.md are YAML, and ask for a gauge that there is. */
static void test_manifests(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct text text;
    struct error error;
    size_t count = 0;
    assert_true(file_read(&arena, "docs/watch.md", 1 << 20, &text, &error));
    for (const char *at = arena_copy(&arena, text.data, text.size); (at = strstr(at, "```yaml\n")); count++) {
        at += strlen("```yaml\n");
        const char *end = strstr(at, "```");
        const char *one = arena_copy(&arena, at, (size_t)(end - at));
        const struct doc *spec = doc_get(yaml_read(&arena, one), "spec");
        assert_non_null(doc_get(spec, "scaleTargetRef"));
        const struct doc *list = doc_get(spec, count ? "metrics" : "triggers");
        assert_true(list && list->kind == DOC_ARRAY && list->count == 1);
        const struct doc *query = count ? doc_get(doc_get(doc_get(list->first, "external"), "metric"), "name")
                                        : doc_get(doc_get(list->first, "metadata"), "query");
        assert_non_null(strstr(query->string, "chalkline_watch_replicas_wanted"));
    }
    assert_int_equal(count, 2);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_trend), cmocka_unit_test(test_replicas), cmocka_unit_test(test_engines),
                                        cmocka_unit_test(test_recordings), cmocka_unit_test(test_servers),
                                        cmocka_unit_test(test_commands), cmocka_unit_test(test_flags), cmocka_unit_test(test_llama_cpp), cmocka_unit_test(test_flags_asked_again),
                                        cmocka_unit_test(test_restarts), cmocka_unit_test(test_steps),
                                        cmocka_unit_test(test_native_histograms),
                                        cmocka_unit_test(test_single), cmocka_unit_test(test_manifests),
                                        cmocka_unit_test(test_recovers), cmocka_unit_test(test_scales) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
