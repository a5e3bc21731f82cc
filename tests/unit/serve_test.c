/* `chalkline serve` over the loopback: the numbers of the command line, refusals, limits. Then the page
 * and reports, with a page of the test's. */
#include "served.h"
#include "serve/http_server.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

static double metric(struct arena *arena, unsigned port, const char *name)
{
    struct reply reply = get(arena, port, "/metrics", "");
    const char *line = strstr(reply.body.data, arena_print(arena, "\n%s ", name));
    return line ? strtod(line + strlen(name) + 2, NULL) : 0;
}

/* ---- the same numbers ---------------------------------------------------------------------- */

static const struct {
    const char *verb, *words, *json, *query;
} same[] = {
    { "brief", "deepseek-v3 --on gb200-nvl72",
      "{\"words\": \"deepseek-v3\", \"on\": \"gb200-nvl72\"}",
      "words=deepseek-v3&on=gb200-nvl72" },
    { "step", "llama-3.3-70b --on h100-sxm --batch 64 --set chip_price=2USD/h --set context=1000",
      "{\"words\": [\"llama-3.3-70b\"], \"on\": \"h100-sxm\", \"batch\": 64,"
      " \"set\": {\"chip_price\": \"2USD/h\", \"context\": 1000}}",
      "words=llama-3.3-70b&on=h100-sxm&batch=64&set=chip_price%3D2USD/h&set=context=1000" },
    { "curve", "bound_step batch=1..64 --model llama-3.1-8b --on h100-sxm --points 5",
      "{\"words\": [\"bound_step\", \"batch=1..64\"], \"model\": \"llama-3.1-8b\","
      " \"on\": \"h100-sxm\", \"points\": 5}",
      "words=bound_step&words=batch=1..64&model=llama-3.1-8b&on=h100-sxm&points=5" },
    { "why", "bound_step --model deepseek-v3 --on gb200-nvl72 --deep",
      "{\"words\": \"bound_step\", \"model\": \"deepseek-v3\", \"on\": \"gb200-nvl72\","
      " \"deep\": true, \"lecture\": false}",
      "words=bound_step&model=deepseek-v3&on=gb200-nvl72&deep=1" },
    { "solve", "batch --where bound_compute=bound_weights",
      "{\"words\": \"batch\", \"where\": \"bound_compute=bound_weights\"}",
      "words=batch&where=bound_compute=bound_weights" },
    { "eval", "inference_tokens bound_step", "{\"words\": [\"inference_tokens\", \"bound_step\"]}",
      "words=inference_tokens&words=bound_step" },
    { "list", "hardware", "{\"words\": \"hardware\"}", "words=hardware" },
    { "show", "h100-sxm", "{\"words\": \"h100-sxm\"}", "words=h100-sxm" },
    { "check", "--by hardware", "{\"by\": \"hardware\"}", "by=hardware" },
    { "simulate", "poisson:rate=5,count=200 --model llama-3.1-8b --on h100-sxm --gpus 1",
      "{\"words\": \"poisson:rate=5,count=200\", \"model\": \"llama-3.1-8b\","
      " \"on\": \"h100-sxm\", \"gpus\": 1}",
      "words=poisson:rate=5,count=200&model=llama-3.1-8b&on=h100-sxm&gpus=1" },
    { "deduce", "prices --model claude-opus-4-7 --draws 20000",
      "{\"words\": \"prices\", \"model\": \"claude-opus-4-7\", \"draws\": 20000}",
      "words=prices&model=claude-opus-4-7&draws=20000" },
    { "tiers", "deepseek-v3 --on gb200-nvl72 --context 32768",
      "{\"words\": \"deepseek-v3\", \"on\": \"gb200-nvl72\", \"context\": 32768}",
      "words=deepseek-v3&on=gb200-nvl72&context=32768" },
    { "bill", "agent --model claude-opus-4-7",
      "{\"words\": \"agent\", \"model\": \"claude-opus-4-7\"}",
      "words=agent&model=claude-opus-4-7" },
    { "plan", "qwen3-32b --on h200-sxm --gpus 8 --ttft 1s",
      "{\"words\": \"qwen3-32b\", \"on\": \"h200-sxm\", \"gpus\": 8, \"ttft\": \"1s\"}",
      "words=qwen3-32b&on=h200-sxm&gpus=8&ttft=1s" },
    { "train", "llama-3.1-8b --on h100-sxm --gpus 64",
      "{\"words\": \"llama-3.1-8b\", \"on\": \"h100-sxm\", \"gpus\": 64}",
      "words=llama-3.1-8b&on=h100-sxm&gpus=64" },
    { "life", "deepseek-v3 --served 200T", "{\"words\": \"deepseek-v3\", \"served\": \"200T\"}",
      "words=deepseek-v3&served=200T" },
    { "quiz", "--count 5 --seed 3 --chapter 2", "{\"count\": 5, \"seed\": 3, \"chapter\": 2}",
      "count=5&seed=3&chapter=2" },
    { "lecture", "7 --model deepseek-v3 --on gb200-nvl72 --run",
      "{\"words\": \"7\", \"model\": \"deepseek-v3\", \"on\": \"gb200-nvl72\", \"run\": true}",
      "words=7&model=deepseek-v3&on=gb200-nvl72&run=true" },
    { "design", "--power 700W --domain 8", "{\"power\": \"700W\", \"domain\": 8}", "power=700W&domain=8" },
    { "can", "qwen3-14b --on rtx-3060", "{\"words\": \"qwen3-14b\", \"on\": \"rtx-3060\"}",
      "words=qwen3-14b&on=rtx-3060" },
    { "market", "--model gpt-oss-20b --seller groq --on h100-sxm",
      "{\"model\": \"gpt-oss-20b\", \"seller\": \"groq\", \"on\": \"h100-sxm\"}",
      "model=gpt-oss-20b&seller=groq&on=h100-sxm" },
    { "find", "machine balance", "{\"words\": \"machine balance\"}", "words=machine%20balance" },
};

/* The text of "answer" in a reply, two columns to the left: as --json prints it. */
static const char *answer_text(struct arena *arena, struct text body)
{
    static const char begins[] = "\n  \"answer\": ", ends[] = ",\n  \"text\": ";
    struct buffer out = { .arena = arena };
    const char *at = strstr(body.data, begins), *stop = strstr(body.data, ends);
    if (!at || !stop)
        fail_msg("no answer in '%.300s'", body.data);
    for (at += sizeof begins - 1; at < stop; at++) {
        buffer_add(&out, at, 1);
        at += *at == '\n' ? 2 : 0;
    }
    buffer_add(&out, "\n", 1);
    return out.data;
}

static void numbers_agree(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct running server = serve_with(&arena, "--at-once 2");
    for (size_t i = 0; i < COUNT(same); i++) {
        const char *path = arena_print(&arena, "/v1/%s", same[i].verb);
        struct text said = command(&arena, arena_print(&arena, "%s %s --json", same[i].verb,
                                                       same[i].words));
        struct reply posted = post(&arena, server.port, path, same[i].json);
        struct reply got = get(&arena, server.port,
                               arena_print(&arena, "%s?%s", path, same[i].query), "");
        if (posted.status != 200 || got.status != 200)
            fail_msg("%s: %s / %s", path, posted.body.data, got.body.data);
        assert_string_equal(answer_text(&arena, posted.body), said.data);
        assert_string_equal(answer_text(&arena, got.body), said.data);
    }
    for (size_t route = ROUTE_VERBS; route < route_count(); route++) {
        const char *verb = route_verb(route)->name;
        bool there = !strcmp(verb, "import") || !strcmp(verb, "calibrate") || !strcmp(verb, "step-time");   /* they need files */
        for (size_t i = 0; i < COUNT(same); i++)
            there |= !strcmp(same[i].verb, verb);
        if (!there)
            fail_msg("same[] of tests/unit/serve_test.c has no question of '%s'", verb);
    }
    assert_true(metric(&arena, server.port, "chalkline_requests_total{route=\"/v1/step\","
                                            "status=\"200\"}") == 2);
    end(server, SIGTERM);
    arena_free(&arena);
}

/* ---- refused ------------------------------------------------------------------------------- */

static const struct {
    const char *path, *json;
    int status;
    const char *says;
} refused[] = {
    { "/v1/step", "{\"words\": [1,}", 400, "request:1:14:" },
    { "/v1/step", "[1]", 400, "not an object" },
    { "/v1/step", "{} {}", 400, "end of file expected" },
    { "/v1/step", "{\"on\": \"a\", \"on\": \"b\"}", 400, "duplicate" },
    { "/v1/step", "{\"words\": \"deepseek-v3\", \"on\": \"gb200-nvl27\"}", 400, "gb200-nvl72" },
    { "/v1/step", "{\"batchh\": 1}", 400, "did you mean \\\"batch\\\"?" },
    { "/v1/step", "{\"hardware\": \"h100-sxm\"}", 400, "did you mean \\\"on\\\"?" },
    { "/v1/step", "{\"gpu\": \"h100-sxm\"}", 400, "did you mean \\\"gpus\\\"? --on names the machine; " },
    { "/v1/step", "{\"fp8\": true}", 400, "\"hint\": \"--precision fp8; /v1" },
    { "/v1/step", "{\"e2e\": \"5s\"}", 400, "\"hint\": \"a request's time is a row" },
    { "/v1/step", "{\"format\": \"json\"}", 400, "\"hint\": \"/v1/openapi.json lists" },
    { "/v1/step", "{\"html\": 1}", 400, "did you mean \\\"report\\\"?" },
    { "/v1/step", "{\"v\": 1}", 400, "\"hint\": \"/v1/openapi.json lists" },
    { "/v1/step", "{\"requests\": 5}", 400, "did you mean \\\"rate\\\"?" },
    { "/v1/step", "{\"json\": true}", 400, "has no \\\"json\\\"" },
    { "/v1/step", "{\"help\": true}", 400, "has no \\\"help\\\"" },
    { "/v1/step", "{\"port\": 1}", 400, "'step' has no" },
    { "/v1/step", "{\"where\": \"a=b\"}", 400, "it is an option of: solve" },
    { "/v1/step", "{\"lecture\": \"perhaps\"}", 400, "true or false" },
    { "/v1/step", "{\"batch\": [1, 2]}", 400, "a string or a number" },
    { "/v1/step", "{\"batch\": true}", 400, "a string or a number" },
    { "/v1/eval", "{\"words\": \"batch\", \"batch\": Infinity}", 400, "'inf' is neither a number nor a row" },
    { "/v1/step", "{\"set\": [[]]}", 400, "an array of strings" },
    { "/v1/step", "{\"words\": {}}", 400, "an array of strings" },
    { "/v1/step", "{\"files\": \"a\"}", 400, "an object" },
    { "/v1/step", "{\"files\": {\"a\": 1}}", 400, "a file as" },
    { "/v1/list", "{\"config\": {}}", 400, "'list' has no" },
    { "/v1/step", "{\"words\": [\"--help\"], \"on\": \"h100-sxm\"}", 400, "--help" },
    { "/v1/step", "{\"words\": \"deepseek-v3\", \"on\": \"--help\"}", 400, "--help" },
    { "/v1/step?on=h100-sxm", "{}", 400, "stands in the address of a POST" },
    { "/v1/stepp", "{}", 404, "/v1/step?" },
    { "/v1/serve", "{}", 404, "nothing is at" },
    { "/v1/report", "{}", 404, "nothing is at" },
    { "/metrics", "{}", 405, "GET" },
    /* Files that did not come along are neither read nor written. */
    { "/v1/step", "{\"words\": \"/etc/passwd\", \"on\": \"h100-sxm\"}", 400, "no such file came" },
    { "/v1/eval", "{\"words\": \"batch\", \"model\": \"tests/fixtures/configs/qwen2.5-7b.json\"}", 400,
      "no such file came" },
    { "/v1/eval", "{\"words\": \"batch\", \"rows\": \"/etc/passwd\"}", 400, "no such file came" },
    { "/v1/eval", "{\"words\": \"batch\", \"rows\": \"-\"}", 400, "no such file came" },
    { "/v1/eval", "{\"words\": \"batch\", \"on\": \"/etc/passwd\"}", 400, "/etc/passwd" },
    { "/v1/import", "{\"words\": \"/etc/passwd\"}", 400, "no such file came" },
    { "/v1/simulate", "{\"words\": \"/etc/passwd\", \"step-time\": \"1ms\", \"blocks\": 9}", 400,
      "/etc/passwd" },
    { "/v1/bill", "{\"words\": \"agent\", \"prices\": \"/etc/passwd\"}", 400, "no such file came" },
    { "/v1/deduce", "{\"words\": \"/etc/passwd\"}", 400, "no such file came" },
    { "/v1/check", "{\"measured\": \"/etc/passwd\"}", 400, "no such file came" },
    { "/v1/check", "{\"measured\": \"b\", \"files\": {\"b\": {\"mean_ttft_ms\": 9, \"request_rate\": 1,"
      " \"completed\": 8, \"total_input_tokens\": 80, \"total_output_tokens\": 80, \"request_throughput\": 1}}}",
      400, "b:1: no model, no machine, no number of chips" },
    { "/v1/curve", "{\"words\": [\"bound_step\", \"batch=1..9\"], \"plot\": \"serve_made.png\"}",
      400, "no file is written here" },
    { "/v1/step", "{\"words\": \"qwen3-32b\", \"on\": \"h200-sxm\", \"report\": \"serve_made.html\"}",
      400, "no file is written here" },
    { "/v1/step", "{\"words\": \"qwen3-32b\", \"on\": \"h200-sxm\", \"report-page\": true}",
      400, "has no report" },
    { "/v1/simulate", "{\"words\": \"poisson:rate=5,count=9\", \"step-time\": \"1ms\","
      " \"blocks\": 900, \"requests\": \"serve_made\"}", 400, "no file is written here" },
};

static const struct {
    const char *raw;
    int status;                     /* 0: any refusal, or hung up */
} raw_requests[] = {
    { "\x16\x03\x01\x02\r\n\r\n", 0 },
    { "GET\r\n\r\n", 0 },
    { "GET / HTTP/9.9\r\n\r\n", 0 },
    { "POST /v1/list HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 0 },
    { "POST /v1/list HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
      0 },
    { "POST /v1/list HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 0 },
    { "POST /v1/list HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n"
      "\r\n{}", 415 },
    { "POST /v1/list HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
      "Content-Length: 2\r\nConnection: close\r\n\r\n{}", 415 },
    { "DELETE /v1/list HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 405 },
    { "GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", 421 },
    { "GET /metrics HTTP/1.1\r\nHost: localhost.evil.example\r\nConnection: close\r\n\r\n", 421 },
    { "GET /metrics HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n", 200 },
    { "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", 200 },
    { "GET /metrics HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n"
      "Connection: close\r\n\r\n", 403 },
    { "GET /v1/list?words=models HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n"
      "Connection: close\r\n\r\n", 403 },
    { "GET /metrics HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: none\r\n"
      "Connection: close\r\n\r\n", 200 },
};

static void bad_requests(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct running server = serve_with(&arena, "--body-limit 100kB");
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct reply reply = post(&arena, server.port, refused[i].path, refused[i].json);
        if (reply.status != refused[i].status || !strstr(reply.body.data, refused[i].says))
            fail_msg("%s %s: %d %s", refused[i].path, refused[i].json, reply.status,
                     reply.body.data);
        const struct doc *error = doc_get(parse(&arena, reply.body), "error");
        assert_true(*doc_get(error, "what")->string != 0);
    }
    assert_int_not_equal(access("serve_made", F_OK), 0);
    assert_int_not_equal(access("serve_made.png", F_OK), 0);
    assert_int_not_equal(access("serve_made.html", F_OK), 0);
    for (size_t i = 0; i < COUNT(raw_requests); i++) {
        int fd = dial(server.port);
        tell(fd, raw_requests[i].raw, strlen(raw_requests[i].raw));
        shutdown(fd, SHUT_WR);
        struct reply reply = hear(&arena, fd);
        if (raw_requests[i].status ? reply.status != raw_requests[i].status
                                   : reply.status == 200 && i)
            fail_msg("%s: %d", raw_requests[i].raw, reply.status);
    }
    assert_non_null(strstr(get(&arena, server.port, "/v1/list", "X: 1\r\n").body.data, "error"));
    assert_true(metric(&arena, server.port, "chalkline_refused_total{reason=\"host\"}") == 2);
    assert_true(metric(&arena, server.port, "chalkline_questions_running") == 0);
    end(server, SIGINT);
    arena_free(&arena);
}

/* ---- files that come along ----------------------------------------------------------------- */

static const char *file_of(struct arena *arena, const char *path)
{
    struct error error;
    struct text text;
    if (!file_read(arena, path, 1 << 20, &text, &error))
        fail_msg("%s", error.what);
    return text.data;
}

/* A question with one file. */
static struct reply post_file(struct arena *arena, unsigned port, const char *path, const char *name,
                              const char *file, const char *const *members, size_t count)
{
    struct doc *doc = doc_new(arena, DOC_OBJECT);
    struct buffer json = { .arena = arena };
    doc_add_string(arena, doc_add(arena, doc, "files", DOC_OBJECT), name, file);
    for (size_t i = 0; i < count; i += 2)
        doc_add_string(arena, doc, members[i], members[i + 1]);
    doc_print(&json, doc);
    return post(arena, port, path, json.data);
}

/* Measurements come as files: read, scored and calibrated as on the command line; the calibration's text is in the
 * answer, for the next question. */
static void measurements_come(void **state)
{
    (void)state;
    static const char *const calibrate[] = { "words", "runs.csv", "output", "server.csv" };
    static const char *const check[] = { "measured", "vllm.json", "on", "h100-sxm" };
    static const char *const step[] = { "words", "qwen3-32b", "on", "h100-sxm", "engine", "vllm", "precision", "fp8",
                                        "isl", "2000", "osl", "1000", "concurrency", "24", "calibration", "server.csv" };
    static const char runs[] = "tests/fixtures/calibration/runs.csv";
    struct arena arena = { 0 };
    struct running server = serve_with(&arena, "--body-limit 100kB");
    struct reply reply = post_file(&arena, server.port, "/v1/calibrate", "runs.csv", file_of(&arena, runs), calibrate,
                                   COUNT(calibrate));
    assert_int_equal(reply.status, 200);
    const struct doc *answer = doc_get(parse(&arena, reply.body), "answer"), *file = doc_get(answer, "file");
    const struct doc *said = parse(&arena, command(&arena, arena_print(&arena, "calibrate %s --json", runs)));
    const struct doc *rows = doc_get(said, "rows"), *found = doc_get(answer, "rows");
    assert_int_equal(doc_get(answer, "written")->kind, DOC_NULL);
    assert_int_equal(rows->count, found->count);
    for (const struct doc *row = rows->first; row; row = row->next)
        assert_true(doc_get(doc_get(row, "posterior"), "value")->number ==
                    doc_get(doc_get(doc_get(found, row->key), "posterior"), "value")->number);
    assert_int_equal(file->kind, DOC_STRING);
    reply = post_file(&arena, server.port, "/v1/step", "server.csv", file->string, step, COUNT(step));
    assert_int_equal(reply.status, 200);
    assert_non_null(strstr(reply.body.data, "calibrated by server.csv (8 points of qwen3-32b on h100-sxm"));
    reply = post_file(&arena, server.port, "/v1/check", "vllm.json",
                      file_of(&arena, "tests/fixtures/benchmarks/vllm.json"), check, COUNT(check));
    assert_int_equal(reply.status, 200);
    assert_string_equal(answer_text(&arena, reply.body),
                        command(&arena, "check --measured tests/fixtures/benchmarks/vllm.json --on h100-sxm --json").data);
    reply = post_file(&arena, server.port, "/v1/calibrate", "runs.csv", "colour,shape\nred,round\n", calibrate,
                      COUNT(calibrate));
    assert_int_equal(reply.status, 400);
    assert_non_null(strstr(reply.body.data, "not the columns of measurements"));
    char *filler = arena_alloc(&arena, 200001);
    memset(filler, 'a', 200000);
    reply = post_file(&arena, server.port, "/v1/calibrate", "runs.csv", filler, calibrate, COUNT(calibrate));
    assert_int_equal(reply.status, 413);
    end(server, SIGTERM);
    arena_free(&arena);
}

static void brought_files(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct error error;
    struct text config, sheet;
    struct running server = serve_with(&arena, "--at-once 2");
    assert_true(file_read(&arena, "tests/fixtures/configs/qwen2.5-7b.json", 1 << 20, &config, &error));
    const char *json = arena_print(&arena, "{\"on\": \"h100-sxm\", \"config\": %s}", config.data);
    struct reply reply = post(&arena, server.port, "/v1/step", json);
    assert_int_equal(reply.status, 200);
    assert_non_null(strstr(reply.body.data, "config.json on H100 SXM"));
    /* a search for each value has an arena of its own, and the same files */
    json = arena_print(&arena, "{\"on\": \"h100-sxm\", \"gpus\": 16, \"sweep\": "
                       "\"sequence_length=2048,4096\", \"config\": %s}", config.data);
    reply = post(&arena, server.port, "/v1/train", json);
    assert_non_null(strstr(reply.body.data, "config.json on H100 SXM"));
    assert_int_equal(reply.status, 200);
    reply = post(&arena, server.port, "/v1/import",
                 arena_print(&arena, "{\"config\": %s}", config.data));
    assert_int_equal(reply.status, 200);
    reply = post(&arena, server.port, "/v1/eval",
                 "{\"words\": \"mine\", \"rows\": \"my.chalk\", \"files\": {\"my.chalk\": "
                 "\"mine : 1\\n    of a test (test)\\n    = 6 * 7\\n\"}}");
    assert_int_equal(reply.status, 200);
    assert_non_null(strstr(reply.body.data, "\"value\": 42"));
    /* A machine of the catalog, as a sheet of its own. */
    struct doc *doc = doc_new(&arena, DOC_OBJECT);
    struct buffer command = { .arena = &arena };
    assert_true(file_read(&arena, "data/hardware.csv", 1 << 20, &sheet, &error));
    doc_add_string(&arena, doc_add(&arena, doc, "files", DOC_OBJECT), "my.csv", sheet.data);
    doc_add_string(&arena, doc, "on", "my.csv:h100-sxm");
    doc_add_string(&arena, doc, "words", "llama-3.1-8b");
    doc_print(&command, doc);
    reply = post(&arena, server.port, "/v1/step", command.data);
    if (reply.status != 200 || !strstr(reply.body.data, "Llama-3.1-8B on H100 SXM"))
        fail_msg("%s", reply.body.data);
    end(server, SIGTERM);
    arena_free(&arena);
}

/* ---- limits -------------------------------------------------------------------------------- */

/* Seconds of one core, and much memory. */
static const char slow[] = "{\"words\": \"poisson:rate=100,count=1000000\", \"blocks\": 28000,"
                           " \"step-time\": \"10ms + 0.05ms*tokens\", \"stepping\": true}";

static void time_ends(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct running server = serve_with(&arena, "--time-limit 1s --memory-limit 64GB");
    double began = now();
    struct reply reply = post(&arena, server.port, "/v1/simulate", slow);
    if (reply.status != 504)
        fail_msg("%d %s", reply.status, reply.body.data);
    assert_true(now() - began < PATIENCE / 2);
    /* A request that comes byte by byte, or stops coming. */
    int idle = dial(server.port), half = dial(server.port), drops = dial(server.port);
    const char *text = post_text(&arena, "/v1/list", "{\"words\": \"hardware\"}");
    tell(half, text, strlen(text) - 5);
    began = now();
    for (size_t i = 0; text[i] && now() - began < 3; i++) {
        tell(drops, text + i, 1);
        poll(NULL, 0, 50);
    }
    assert_int_equal(hear(&arena, idle).status, 0);
    assert_int_equal(hear(&arena, half).status, 408);
    assert_int_equal(hear(&arena, drops).status, 408);
    assert_true(now() - began < PATIENCE / 2);
    assert_int_equal(get(&arena, server.port, "/v1/list?words=models", "").status, 200);
    end(server, SIGTERM);
    arena_free(&arena);
}

static void memory_ends(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct running server = serve_with(&arena, "--memory-limit 64MB");
    struct reply reply = post(&arena, server.port, "/v1/simulate", slow);
    if (reply.status != 422 && reply.status != 500)
        fail_msg("%d %s", reply.status, reply.body.data);
    assert_int_equal(get(&arena, server.port, "/v1/list?words=models", "").status, 200);
    end(server, SIGTERM);
    arena_free(&arena);
}

static void bodies_end(void **state)
{
    (void)state;
    enum { LARGE = 1 << 20 };
    struct arena arena = { 0 };
    struct running server = serve_with(&arena, "--body-limit 100kB");
    char *filler = arena_alloc(&arena, LARGE + 1);
    memset(filler, ' ', LARGE);
    assert_int_equal(post(&arena, server.port, "/v1/list", filler).status, 413);
    /* In chunks, so that nothing says beforehand how much will come. */
    int fd = dial(server.port);
    const char *head = "POST /v1/list HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                       "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    tell(fd, head, strlen(head));
    for (int i = 0; i < 4; i++) {
        const char *size = arena_print(&arena, "%x\r\n", LARGE);
        tell(fd, size, strlen(size));
        tell(fd, filler, LARGE);
        tell(fd, "\r\n", 2);
    }
    tell(fd, "0\r\n\r\n", 5);
    assert_int_equal(hear(&arena, fd).status, 413);
    /* A long address, and a head without an end. */
    memset(filler, 'a', LARGE);
    assert_int_not_equal(get(&arena, server.port, filler, "").status, 200);
    end(server, SIGTERM);
    arena_free(&arena);
}

static void many_at_once(void **state)
{
    (void)state;
    enum { MANY = 64 };
    struct arena arena = { 0 };
    struct running server = serve_with(&arena, "--at-once 1 --max-waiting 8");
    const char *text = post_text(&arena, "/v1/eval", "{\"words\": \"inference_tokens\"}");
    int fds[MANY], answered = 0, busy = 0;
    const char *first = NULL;
    for (int i = 0; i < MANY; i++) {
        fds[i] = dial(server.port);
        tell(fds[i], text, strlen(text));
    }
    for (int i = 0; i < MANY; i++) {
        struct reply reply = hear(&arena, fds[i]);
        answered += reply.status == 200;
        busy += reply.status == 503 && strstr(reply.head, "Retry-After: 1");
        if (reply.status == 200 && !first)
            first = reply.body.data;
        if (reply.status == 200)
            assert_string_equal(reply.body.data, first);
    }
    assert_int_equal(answered + busy, MANY);
    assert_true(answered >= 9 && busy > 0);
    assert_int_equal(get(&arena, server.port, "/v1/list?words=models", "").status, 200);
    end(server, SIGTERM);
    arena_free(&arena);
}

/* More connections than a server keeps: it listens again when they have gone, though it hears of
 * all their ends at one time. */
static void listens_again(void **state)
{
    (void)state;
    enum { MANY = 600 };
    struct arena arena = { 0 };
    struct running server = serve_with(&arena, "--at-once 1");
    int fds[MANY];
    for (int i = 0; i < MANY; i++)
        fds[i] = dial(server.port);
    poll(NULL, 0, 300);                             /* as many as it takes are accepted */
    kill(server.process, SIGSTOP);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    kill(server.process, SIGCONT);
    assert_int_equal(get(&arena, server.port, "/v1/list?words=models", "").status, 200);
    end(server, SIGTERM);
    arena_free(&arena);
}

/* Behind plans that take seconds each, a short question is answered first; and again the same, from memory. */
static void short_ones_first(void **state)
{
    (void)state;
    enum { PLANS = 8 };
    struct arena arena = { 0 };
    struct running server = serve_with(&arena, "--at-once 1 --time-limit 5min");
    int plans[PLANS];
    size_t answered = 0;
    for (size_t i = 0; i < PLANS; i++) {
        const char *text = post_text(&arena, "/v1/plan", arena_print(&arena, "{\"model\": \"deepseek-v3\", \"on\": "
                                     "\"gb200-nvl72\", \"gpus\": 576, \"isl\": %zu}", 1000 + i));
        plans[i] = dial(server.port);
        tell(plans[i], text, strlen(text));
    }
    const struct reply first = get(&arena, server.port, "/v1/eval?words=6*7", "");
    const struct reply second = get(&arena, server.port, "/v1/eval?words=6*7", "");
    for (size_t i = 0; i < PLANS; i++) {
        struct pollfd there = { .fd = plans[i], .events = POLLIN };
        answered += poll(&there, 1, 0) > 0;
        close(plans[i]);
    }
    assert_int_equal(first.status, 200);
    assert_string_equal(first.body.data, second.body.data);
    if (answered > PLANS / 2)
        fail_msg("%zu of %d plans were answered before", answered, PLANS);
    end(server, SIGTERM);
    arena_free(&arena);
}

/* A client that goes takes its question with it; a server that is told to end lets one finish,
 * and told again does not. */
static void clients_go(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct running server = serve_with(&arena, "--memory-limit 64GB");
    const char *text = post_text(&arena, "/v1/simulate", slow);
    double began = now();
    int fd = dial(server.port);
    tell(fd, text, strlen(text));
    while (metric(&arena, server.port, "chalkline_questions_running") < 1 && now() - began < 20)
        poll(NULL, 0, 20);
    close(fd);
    while (metric(&arena, server.port, "chalkline_refused_total{reason=\"gone\"}") < 1 &&
           now() - began < 20)
        poll(NULL, 0, 20);
    assert_true(metric(&arena, server.port, "chalkline_refused_total{reason=\"gone\"}") == 1);
    assert_true(metric(&arena, server.port, "chalkline_questions_running") == 0);
    fd = dial(server.port);
    tell(fd, text, strlen(text));
    while (metric(&arena, server.port, "chalkline_questions_running") < 1 && now() - began < 40)
        poll(NULL, 0, 20);
    kill(server.process, SIGTERM);
    poll(NULL, 0, 200);
    end(server, SIGTERM);
    assert_int_equal(hear(&arena, fd).status, 503);
    arena_free(&arena);
}

/* ---- the description ----------------------------------------------------------------------- */

static const struct doc *resolve(const struct doc *root, const char *path)
{
    char part[100];
    assert_true(!strncmp(path, "#/", 2));
    for (path += 2; *path; path += strcspn(path, "/"), path += *path == '/') {
        snprintf(part, sizeof part, "%.*s", (int)strcspn(path, "/"), path);
        root = doc_get(root, part);
        if (!root)
            fail_msg("no %s", part);
    }
    return root;
}

static void check_references(const struct doc *root, const struct doc *doc)
{
    for (const struct doc *kid = doc->first; kid; kid = kid->next) {
        if (kid->key && !strcmp(kid->key, "$ref"))
            resolve(root, kid->string);
        check_references(root, kid);
    }
}

static void check_parameters(const struct doc *root, const struct doc *list)
{
    for (const struct doc *a = list ? list->first : NULL; a; a = a->next) {
        const struct doc *one = resolve(root, doc_get(a, "$ref")->string);
        assert_string_equal(doc_get(one, "in")->string, "query");
        assert_non_null(doc_get(one, "schema"));
        for (const struct doc *b = a->next; b; b = b->next)
            assert_string_not_equal(doc_get(a, "$ref")->string, doc_get(b, "$ref")->string);
    }
}

/* Every path leads somewhere, every operation has responses with descriptions, names are given
 * once. */
static void openapi_holds(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct buffer json = { .arena = &arena };
    openapi_print(&arena, &json);
    const struct doc *root = parse(&arena, (struct text){ json.data, json.size });
    const struct doc *paths = doc_get(root, "paths");
    const char *ids[2 * ROUTES_MOST];
    size_t id_count = 0;
    assert_string_equal(doc_get(root, "openapi")->string, "3.1.0");
    assert_int_equal(paths->count, route_count() - 1);
    check_references(root, root);
    for (const struct doc *path = paths->first; path; path = path->next) {
        assert_int_not_equal(route_find(path->key), ROUTE_NONE);
        for (const struct doc *operation = path->first; operation; operation = operation->next) {
            const struct doc *responses = doc_get(operation, "responses");
            assert_true(responses && doc_get(responses, "200"));
            for (const struct doc *one = responses->first; one; one = one->next) {
                const struct doc *reference = doc_get(one, "$ref");
                const struct doc *row = reference ? resolve(root, reference->string) : one;
                assert_non_null(doc_get(row, "description"));
            }
            check_parameters(root, doc_get(operation, "parameters"));
            ids[id_count] = doc_get(operation, "operationId")->string;
            for (size_t i = 0; i < id_count; i++)
                assert_string_not_equal(ids[i], ids[id_count]);
            id_count++;
        }
    }
    arena_free(&arena);
}

/* The kind of a document as a schema calls it. */
static bool has_type(const struct doc *doc, const char *type)
{
    static const char *const names[] = {
        [DOC_NULL] = "null", [DOC_BOOL] = "boolean", [DOC_NUMBER] = "number",
        [DOC_STRING] = "string", [DOC_ARRAY] = "array", [DOC_OBJECT] = "object" };
    return !strcmp(type, names[doc->kind]) || (!strcmp(type, "integer") && doc->kind == DOC_NUMBER &&
                                               doc->number == (double)(long long)doc->number);
}

static bool has_types(const struct doc *doc, const struct doc *type)
{
    bool any = !type || (type->kind == DOC_STRING && has_type(doc, type->string));
    for (const struct doc *one = type ? type->first : NULL; one; one = one->next)
        any = any || has_type(doc, one->string);
    return any;
}

static const char *misfit(struct arena *arena, const struct doc *root, const struct doc *schema,
                          const struct doc *doc);

/* What is wrong with an object's keys: one that is not described, or one that must be there. */
static const char *misfit_keys(struct arena *arena, const struct doc *root,
                               const struct doc *schema, const struct doc *doc)
{
    const struct doc *properties = doc_get(schema, "properties");
    const struct doc *others = doc_get(schema, "additionalProperties");
    const struct doc *required = doc_get(schema, "required");
    for (const struct doc *kid = doc->first; kid; kid = kid->next) {
        const struct doc *one = properties ? doc_get(properties, kid->key) : NULL;
        one = one ? one : others;
        if (!one)
            return arena_print(arena, "%s: is not described", kid->key);
        const char *bad = one->kind == DOC_OBJECT ? misfit(arena, root, one, kid) : NULL;
        if (bad)
            return arena_print(arena, "%s: %s", kid->key, bad);
    }
    for (const struct doc *one = required ? required->first : NULL; one; one = one->next)
        if (!doc_get(doc, one->string))
            return arena_print(arena, "no %s", one->string);
    return NULL;
}

/* Why a document is not what a schema says, with no more keys than that; NULL: it is. */
static const char *misfit(struct arena *arena, const struct doc *root, const struct doc *schema,
                          const struct doc *doc)
{
    const struct doc *reference = doc_get(schema, "$ref"), *either = doc_get(schema, "anyOf");
    const struct doc *words = doc_get(schema, "enum"), *items = doc_get(schema, "items");
    const char *bad = NULL;
    if (reference)
        return misfit(arena, root, resolve(root, reference->string), doc);
    for (const struct doc *one = either ? either->first : NULL; one; one = one->next)
        if (!(bad = misfit(arena, root, one, doc)))
            return NULL;
    if (either)
        return bad;
    if (!has_types(doc, doc_get(schema, "type")))
        return arena_print(arena, "of kind %d", (int)doc->kind);
    bool known = !words;
    for (const struct doc *one = words ? words->first : NULL; one; one = one->next)
        known = known || !strcmp(one->string, doc->string);
    if (!known)
        return arena_print(arena, "'%s' is none of its words", doc->string);
    for (const struct doc *kid = doc->kind == DOC_ARRAY ? doc->first : NULL; kid; kid = kid->next)
        if (items && (bad = misfit(arena, root, items, kid)))
            return arena_print(arena, "an item: %s", bad);
    return doc->kind == DOC_OBJECT ? misfit_keys(arena, root, schema, doc) : NULL;
}

/* Each key that is a row's name has that row's unit and meaning; but for one of a deployment, which is
 * the most that a step may take, and one of a market, which counts sellers. */
static size_t check_rows(const struct doc *schemas)
{
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    size_t count = 0;
    for (const struct doc *schema = schemas->first; schema; schema = schema->next) {
        const struct doc *properties = doc_get(schema, "properties");
        for (const struct doc *one = properties ? properties->first : NULL; one; one = one->next) {
            const int index = formulas_find(formulas, one->key);
            const struct doc *unit = doc_get(one, "x-unit");
            if (index < 0 || !unit || doc_get(one, "x-row") || !strcmp(one->key, "prefill_chunk") ||
                (!strcmp(one->key, "hosts") && !strcmp(schema->key, "Deduced")))
                continue;
            assert_string_equal(unit->string, row_unit_text(formulas_row(formulas, index)));
            assert_string_equal(doc_get(one, "description")->string, row_meaning(formulas_row(formulas, index)));
            count++;
        }
    }
    return count;
}

static const struct doc *answer_of(struct arena *arena, const char *line)
{
    char *words[WORDS_MOST], *rest = arena_copy(arena, line, strlen(line));
    struct buffer json = { .arena = arena };
    int count = 0;
    for (char *word; (word = strsep(&rest, " "));)
        words[count++] = word;
    if (!respond(arena, count, words, &json))
        fail_msg("%s: %s", line, json.data);
    return parse(arena, (struct text){ json.data, json.size });
}

/* Answers have the keys that the description says, and no other. */
static void answers_are_described(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "chalkline step llama-3.3-70b --on h100-sxm",
        "chalkline step deepseek-v3 --on gb200-nvl72 --batch 64",
        "chalkline step llama-3.1-8b --on rtx-4090 --context 4000000",
        "chalkline step qwen3-32b --on h200-sxm --gpus 8 --rate 1000 --isl 4000 --osl 500",
        "chalkline brief deepseek-v3 --on gb200-nvl72",
        "chalkline brief llama-3.1-8b --on h100-sxm",
        "chalkline eval inference_tokens predicted_tpot --model llama-3.1-8b --on h100-sxm",
        "chalkline eval bound_step --model llama-3.1-8b --on h100-sxm --set hbm_bandwidth=3TB/s..5TB/s",
        "chalkline why bound_step --model deepseek-v3 --on gb200-nvl72",
        "chalkline why input_cost_per_token --model llama-3.3-70b --on h100-sxm",
        "chalkline why batch --model deepseek-v3 --on gb200-nvl72",
        "chalkline why predicted_ttft", "chalkline eval predicted_tpot",
        "chalkline curve predicted_tpot batch=1..64 --points 3", "chalkline solve batch --where predicted_tpot=100ms",
        "chalkline why predicted_tpot --model llama-3.3-70b --on h100-sxm",
        "chalkline plan llama-3.1-8b --on h100-sxm --gpus 2 --isl 500 --osl 100 --ttft 1s --tpot 50ms "
        "--validate 1",
        "chalkline plan llama-3.1-8b --on h100-sxm --gpus 2 --isl 500 --osl 100 --tpot 1us",
        "chalkline plan qwen3-32b --on h200-sxm --precision fp8,bf16 --rate 4 --isl 4000 --osl 500 "
        "--ttft 300ms --tpot 10ms --emit vllm",
        "chalkline plan qwen3-32b --on h200-sxm --gpus 16 --isl 4000 --osl 500 --ttft 300ms --tpot 10ms",
        "chalkline plan llama-3.1-8b --on h100-sxm --gpus 2 --sweep hbm_bandwidth=3TB/s,4TB/s",
        "chalkline curve batch=1..64 bound_step bound_throughput --points 4",
        "chalkline curve context=1k,2k bound_step*2 --model llama-3.1-8b --on h100-sxm",
        "chalkline curve on=h100-sxm,h200-sxm predicted_tpot --model llama-3.1-8b",
        "chalkline solve batch --where bound_compute=bound_weights",
        "chalkline solve batch --where bound_compute>=bound_weights --model llama-3.1-8b --on h100-sxm",
        "chalkline solve batch --where bound_step=1us --model llama-3.1-8b --on h100-sxm",
        "chalkline train llama-3.1-8b --on h100-sxm --gpus 64 --plan",
        "chalkline train llama-3.1-405b --on h100-sxm --gpus 8 --set offload_optimizer=1",
        "chalkline train llama-3.1-8b --on h100-sxm --gpus 7 --global-batch 16 --seq-length 4096",
        "chalkline train llama-3.1-8b --on h100-sxm --gpus 8 --sweep sequence_length=4096,8192",
        "chalkline tiers deepseek-v3 --on gb200-nvl72 --context 32768",
        "chalkline tiers",
        "chalkline bill agent",
        "chalkline bill agent --model claude-opus-4-7",
        "chalkline bill document-chat --seller google --model gemini-2.5-pro",
        "chalkline bill agent --model deepseek-v3.2 --own deepseek-v3 --on h200-sxm --gpus 8",
        "chalkline bill agent --model deepseek-v3.2 --own llama-3.1-70b --on rtx-4090 --gpus 1",
        "chalkline simulate poisson:rate=5,count=60 --model llama-3.1-8b --on h100-sxm --gpus 1 --ttft 1s",
        "chalkline simulate poisson:rate=5,count=60,class=fast(1)|slow(2) --model llama-3.1-8b "
        "--on h100-sxm --gpus 1 --tier ddr --prefill-replicas 1",
        "chalkline simulate constant:rate=5,count=40 --users 4 --blocks 2000 --step-time 10ms",
        "chalkline simulate poisson:rate=5,count=40 --model llama-3.1-8b --on h100-sxm --gpus 1 --repeat 3",
        "chalkline simulate poisson:rate=5,count=40 --model llama-3.1-8b --on h100-sxm --gpus 1 --ttft 1s "
        "--find-saturation",
        "chalkline simulate poisson:rate=5,count=40 --model llama-3.1-8b --on h100-sxm --gpus 1 --ttft 1s "
        "--min-gpus",
        "chalkline simulate poisson:rate=5,count=40 --model llama-3.1-8b --on h100-sxm --gpus 1 "
        "--sweep replicas=1..2 --points 2",
        "chalkline deduce prices --model claude-opus-4-7,gemini-2.5-pro --draws 2000",
        "chalkline quiz --count 40 --seed 6", "chalkline quiz --grade value:problem.2:0=2400 --grade "
        "reason:batch.floor:1=a --grade value:batch.drain:1=3GB",
        "chalkline check --worst 2", "chalkline life deepseek-v3 --served 200T",
        "chalkline step llama-3.1-8b --on h100-sxm,b200-sxm", "chalkline brief llama-3.1-8b --on h100-sxm,b200-sxm",
        "chalkline can qwen3-14b --on rtx-4090,rtx-3060,m3-max", "chalkline can qwen3-32b --on rtx-4090,gtx-1060-3gb",
        "chalkline can --on rtx-4090,rtx-3060", "chalkline eval hbm_bandwidth --on rtx-4090,rtx-3060",
        "chalkline life --loss 1.0", "chalkline life --budget 1e24FLOP --served 0",
        "chalkline deduce prices --draws 1000", "chalkline deduce prices --market gpt-oss-120b",
        "chalkline deduce tests/fixtures/prices/new.csv --diff tests/fixtures/prices/old.csv --draws 1000" };
    struct arena arena = { 0 };
    struct buffer json = { .arena = &arena };
    openapi_print(&arena, &json);
    const struct doc *root = parse(&arena, (struct text){ json.data, json.size });
    assert_true(check_rows(resolve(root, "#/components/schemas")) > 150);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char verb[20];
        sscanf(lines[i], "chalkline %19s", verb);
        const struct doc *operation = doc_get(doc_get(doc_get(root, "paths"), arena_print(
            &arena, "/v1/%s", verb)), "post");
        const struct doc *good = doc_get(doc_get(operation, "responses"), "200");
        const struct doc *content = doc_get(resolve(root, doc_get(good, "$ref")->string), "content");
        const struct doc *schema = doc_get(doc_get(content, "application/json"), "schema");
        const char *bad = misfit(&arena, root, schema, answer_of(&arena, lines[i]));
        if (bad)
            fail_msg("%s: %s", lines[i], bad);
    }
    arena_free(&arena);
}

/* A key too many, one too few, and a word in the place of a number are seen. */
static void misfits_are_seen(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct buffer json = { .arena = &arena };
    openapi_print(&arena, &json);
    const struct doc *root = parse(&arena, (struct text){ json.data, json.size });
    const struct doc *schema = resolve(root, "#/components/schemas/Part");
    static const struct { const char *json, *bad; } cases[] = {
        { "{\"label\": \"head\", \"time\": 1, \"saved_if_free\": 0.5}", NULL },
        { "{\"label\": \"head\", \"time\": 1, \"saved_if_free\": null}", "saved_if_free: of kind 0" },
        { "{\"label\": \"head\"}", "no time" },
        { "{\"label\": \"head\", \"time\": 1, \"share\": 1}", "share: is not described" },
        { "{\"label\": \"head\", \"time\": \"1 s\"}", "time: of kind 3" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *bad = misfit(&arena, root, schema, parse(&arena, text_of(cases[i].json)));
        assert_true(!bad == !cases[i].bad);
        if (bad)
            assert_string_equal(bad, cases[i].bad);
    }
    arena_free(&arena);
}

/* ---- the page, and reports ----------------------------------------------------------------- */

static const char html[] =
    "<!doctype html><title>t</title>\n"
    "<script id=\"state\" type=\"application/json\">null</script>\n<p>after</p>\n";

static struct text pack(struct arena *arena, const char *text)
{
    enum { GZIP_WINDOW = 15 + 16, ROOM = 4096 };
    char *data = arena_alloc(arena, ROOM);
    z_stream stream = { .next_in = (Bytef *)(uintptr_t)text, .avail_in = (uInt)strlen(text),
                        .next_out = (Bytef *)data, .avail_out = ROOM };
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, GZIP_WINDOW, 8, 0), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return (struct text){ data, stream.total_out };
}

static int port_pipe;

static void say_port(const char *url)
{
    dprintf(port_pipe, "%s\n", url);
}

static struct running serve_page(const struct embedded *page)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t process = fork();
    if (!process) {
        struct serve_options terms = { .access = { .address = "127.0.0.1" }, .seconds = 10, .memory = 1 << 30,
                                       .body = 1 << 20, .at_once = 1, .waiting = 1, .page = page };
        struct error error;
        port_pipe = ends[1];
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        _exit(!serve(&terms, say_port, &error));
    }
    close(ends[1]);
    return (struct running){ process, read_port(ends[0]) };
}

static void page_is_handed_out(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct text packed = pack(&arena, html);
    const struct embedded page[] = { { "page", packed.data, packed.size }, { 0, 0, 0 } };
    struct running server = serve_page(page);
    struct reply plain = get(&arena, server.port, "/", "");
    struct reply zipped = get(&arena, server.port, "/", "Accept-Encoding: br, gzip\r\n");
    assert_int_equal(plain.status, 200);
    assert_string_equal(plain.body.data, html);
    assert_non_null(strstr(plain.head, "'wasm-unsafe-eval'"));
    assert_non_null(strstr(plain.head, "X-Content-Type-Options: nosniff"));
    assert_null(strstr(plain.head, "Content-Encoding"));
    assert_int_equal(zipped.status, 200);
    assert_non_null(strstr(zipped.head, "Content-Encoding: gzip"));
    assert_int_equal(zipped.body.size, packed.size);
    assert_memory_equal(zipped.body.data, packed.data, packed.size);
    const char *tag = strstr(zipped.head, "ETag: ") + strlen("ETag: ");
    struct reply same_page = get(&arena, server.port, "/", arena_print(&arena,
        "Accept-Encoding: gzip\r\nIf-None-Match: %.*s\r\n", (int)strcspn(tag, "\r"), tag));
    assert_int_equal(same_page.status, 304);
    assert_int_equal(same_page.body.size, 0);
    end(server, SIGTERM);
    static const struct embedded none[] = { { 0, 0, 0 } };
    server = serve_page(none);
    plain = get(&arena, server.port, "/", "");
    assert_int_equal(plain.status, 404);
    assert_non_null(strstr(plain.head, "text/html"));
    assert_non_null(strstr(plain.body.data, "<!doctype html>"));
    assert_non_null(strstr(plain.body.data, "make page"));
    end(server, SIGTERM);
    arena_free(&arena);
}

static void encodings_are_read(void **state)
{
    (void)state;
    assert_true(handout_takes_gzip("gzip"));
    assert_true(handout_takes_gzip("br;q=1.0, GZIP;q=0.5"));
    assert_true(handout_takes_gzip("*"));
    assert_false(handout_takes_gzip("gzip;q=0"));
    assert_false(handout_takes_gzip("gzip;q=0.00, br"));
    assert_false(handout_takes_gzip("br, gzipped"));
    assert_false(handout_takes_gzip(""));
    assert_false(handout_takes_gzip(NULL));
}

/* The page that a report brings along: packed, and the answer beside it as JSON that ends no script. */
static void report_holds_its_state(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct error error;
    struct text packed = pack(&arena, html);
    const struct embedded page[] = { { "page", packed.data, packed.size }, { 0, 0, 0 } };
    const struct embedded none[] = { { 0, 0, 0 } };
    char *words[] = { "chalkline", "eval", "x", "--rows", "</script>" };
    char *asked[] = { "chalkline", "eval", "inference_tokens", "--set", "token_rate=1e7" };
    struct shelf_file file = { "</script>",
                               text_of("x : 1\n    </script><!-- (test)\n    = 6 * 7\n") };
    struct shelf shelf = { &file, 1 };
    struct buffer answer = { .arena = &arena };
    const char *live;
    arena.shelf = &shelf;
    assert_true(report_live(&arena, page, 5, words, &live, &error));
    const char *start = strstr(live, "json\">") + 6, *stop = strstr(start, "</script>");
    const struct doc *doc = parse(&arena, (struct text){ start, (size_t)(stop - start) });
    assert_string_equal(doc_get(doc, "words")->last->string, "</script>");
    size_t scripts = 0;
    for (const char *at = live; (at = strstr(at, "</script>")); at++)
        scripts++;
    assert_int_equal(scripts, 3);
    assert_true(report_live(&arena, page, 5, asked, &live, &error));
    assert_true(respond(&arena, 5, asked, &answer));
    assert_non_null(strstr(live, answer.data));
    asked[2] = "inference_tokenz";
    assert_false(report_live(&arena, page, 5, asked, &live, &error));
    assert_non_null(strstr(error.hint, "inference_tokens"));
    assert_false(report_live(&arena, none, 5, words, &live, &error));
    assert_non_null(strstr(error.hint, "make page"));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(openapi_holds),
        cmocka_unit_test(answers_are_described),
        cmocka_unit_test(misfits_are_seen),
        cmocka_unit_test(encodings_are_read),
        cmocka_unit_test(report_holds_its_state),
        cmocka_unit_test(page_is_handed_out),
        cmocka_unit_test(bad_requests),
        cmocka_unit_test(brought_files),
        cmocka_unit_test(measurements_come),
        cmocka_unit_test(time_ends),
        cmocka_unit_test(memory_ends),
        cmocka_unit_test(bodies_end),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(listens_again),
        cmocka_unit_test(clients_go), cmocka_unit_test(short_ones_first),
        cmocka_unit_test(numbers_agree),
    };
    atexit(end_left);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
