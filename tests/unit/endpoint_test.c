/* `simulate --listen` and `measure` against each other, over sockets: on a virtual clock the measured times
 * are those that `simulate` states for the same traffic; on the wall clock no token comes early; /metrics
 * agrees with what was asked; requests that cannot be answered are refused as an engine refuses them. */
#define _GNU_SOURCE
#include "test.h"

#include "base/base.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP " --step-time 10ms+0.05ms*tokens+8e-5ms*cached --blocks 28000"

static const char *program(void)
{
    const char *path = getenv("CHALKLINE");
    return path ? path : "./chalkline";
}

struct server {
    FILE *pipe;
    char url[100];
    pid_t process;
};

/* The shell says its own number and becomes the program, which says where it listens. */
static void start(struct server *server, const char *words)
{
    char line[700];
    snprintf(line, sizeof line, "echo $$; exec %s simulate %s --listen 0", program(), words);
    server->pipe = popen(line, "r");
    assert_non_null(server->pipe);
    assert_non_null(fgets(line, sizeof line, server->pipe));
    server->process = (pid_t)strtol(line, NULL, 10);
    if (!fgets(server->url, sizeof server->url, server->pipe))
        fail_msg("simulate %s --listen 0 does not start", words);
    server->url[strcspn(server->url, "\n")] = 0;
}

static void stop(struct server *server)
{
    kill(server->process, SIGINT);
    assert_int_equal(pclose(server->pipe), 0);
}

static char *run(struct arena *arena, const char *format, ...) BASE_PRINTF(2, 3);
static char *run(struct arena *arena, const char *format, ...)
{
    char line[50000];
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
    pclose(pipe);
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

static double number_at(const struct doc *doc, const char *key, const char *inside)
{
    const struct doc *at = doc_get(doc, key);
    at = at && inside ? doc_get(at, inside) : at;
    if (!at || at->kind != DOC_NUMBER)
        fail_msg("no number %s.%s", key, inside ? inside : "");
    return at->number;
}

static void check_near(const char *what, double got, double expected, double share)
{
    if (!(fabs(got - expected) <= share * expected))
        fail_msg("%s: %.6g, expected %.6g within %.1f %%", what, got, expected, 100 * share);
}

/* ---- the same traffic, measured and simulated ----------------------------------------------------- */

/* Users think for a moment that is shorter than any step: a client cannot ask in the instant in which it
 * is answered, when the next step has been formed already. */
static const struct traffic {
    const char *server, *load;
    int users, prompt, output;
    double ttft, share;             /* tolerances */
} traffics[] = {
    { STEP, "", 1, 200, 40, 1e-3, 1e-3 },
    { STEP, "", 8, 200, 40, 0.01, 0.01 },
    { STEP, "", 32, 600, 60, 0.5, 0.03 },       /* TTFT depends on how users bunch */
    { STEP " --no-async-scheduling", "", 4, 200, 40, 0.02, 0.01 },
    { STEP " --scheduler sarathi", "", 8, 300, 40, 0.05, 0.02 },
    { STEP " --scheduler sglang --max-batched-tokens 8192", "", 8, 300, 40, 0.05, 0.02 },
    { STEP " --scheduler trtllm", "", 8, 300, 40, 0.05, 0.02 },
    { "--model llama-3.1-8b --on h100-sxm --gpus 1 --api-time 0s --chunked-prefill-size 512", "", 8, 1000, 100, 0.05, 0.02 },
    { STEP, " --replicas 2 --router round-robin", 8, 200, 40, 0.05, 0.02 },
};

static void test_as_simulated(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof traffics / sizeof *traffics; i++) {
        const struct traffic *traffic = &traffics[i];
        struct arena arena = { 0 };
        struct server server;
        char words[500], where[560];
        snprintf(words, sizeof words, "constant:rate=1,count=1000,input=%d,output=%d %s%s", traffic->prompt,
                 traffic->output, traffic->server, traffic->load);
        start(&server, arena_print(&arena, "%s --clock virtual", words));
        const char *measured = run(&arena, "%s measure %s --loads %d --isl %d --osl %d --budget 1000s --json",
                                   program(), server.url, traffic->users, traffic->prompt, traffic->output);
        stop(&server);
        const char *simulated = run(&arena, "%s simulate %s --users %d --think 1us --json", program(), words,
                                    traffic->users);
        const struct doc *got = doc_get(json_of(&arena, measured), "points")->first, *is = json_of(&arena, simulated);
        snprintf(where, sizeof where, "%s, %d users", words, traffic->users);
        assert_int_equal(number_at(got, "failed", NULL), 0);
        check_near(arena_print(&arena, "TPOT of %s", where), number_at(got, "tpot", "mean"),
                   number_at(is, "tpot", "mean"), traffic->share);
        check_near(arena_print(&arena, "TTFT of %s", where), number_at(got, "ttft", "mean"),
                   number_at(is, "ttft", "mean"), traffic->ttft);
        check_near(arena_print(&arena, "throughput of %s", where), number_at(got, "throughput", NULL),
                   number_at(is, "output_rate", NULL), 2 * traffic->share + 0.01);
        arena_free(&arena);
    }
}

/* ---- the wall clock ------------------------------------------------------------------------------- */

/* A step is 30 ms: medians, since others use this machine too. Deadlines are absolute, so no delay adds up. */
static void test_wall_clock(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct server server;
    start(&server, "--step-time 30ms+0.1ms*tokens --blocks 28000");
    const struct doc *point = doc_get(json_of(&arena, run(&arena, "%s measure %s --loads 2 --isl 100 --osl 12 "
                                                          "--budget 3s --json", program(), server.url)), "points")->first;
    stop(&server);
    const double tpot = number_at(point, "tpot", "p50"), ttft = number_at(point, "ttft", "p50");
    if (!(tpot > 0.0295 && tpot < 0.06 && ttft > 0.039 && ttft < 0.14))
        fail_msg("TTFT %.4f s and TPOT %.4f s of steps of 30 ms", ttft, tpot);
    assert_true(number_at(point, "client_overhead", NULL) < 0.02);
    arena_free(&arena);
}

/* ---- /metrics ------------------------------------------------------------------------------------- */

/* Sum of the samples of a name, over its labels. */
static double metric(const char *text, const char *name)
{
    double sum = 0;
    bool found = false;
    const size_t size = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (!strncmp(line, name, size) && (line[size] == '{' || line[size] == ' ')) {
            const char *value = line + size + strcspn(line + size, "}\n");
            sum += strtod(value + (*value == '}'), NULL);
            found = true;
        }
    if (!found)
        fail_msg("/metrics has no %s", name);
    return sum;
}

static void test_metrics(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct server server;
    start(&server, STEP " --replicas 2 --clock virtual");
    const struct doc *answer = json_of(&arena, run(&arena, "%s measure %s --loads 6 --isl 150 --osl 20 --budget 1000s "
                                                   "--json", program(), server.url));
    const char *text = run(&arena, "curl -s -m 20 %smetrics", server.url);
    const struct doc *point = doc_get(answer, "points")->first;
    const double requests = number_at(point, "requests", NULL) + number_at(point, "left_out", NULL) + 1;
    const double generated = metric(text, "vllm:generation_tokens_total"),
    prompts = metric(text, "vllm:prompt_tokens_total");
    assert_int_equal(metric(text, "vllm:request_success_total"), requests);
    assert_int_equal(metric(text, "vllm:time_to_first_token_seconds_count"), requests);
    assert_int_equal(metric(text, "vllm:inter_token_latency_seconds_count"), generated - requests);
    assert_int_equal(metric(text, "vllm:iteration_tokens_total_sum"), prompts + generated);
    assert_int_equal(metric(text, "vllm:request_prompt_tokens_sum"), prompts);
    assert_int_equal(metric(text, "vllm:request_generation_tokens_sum"), generated);
    assert_int_equal(prompts + generated, number_at(answer, "tokens_spent", NULL));
    assert_int_equal(metric(text, "vllm:num_requests_running"), 0);
    assert_int_equal(metric(text, "vllm:num_requests_waiting"), 0);
    assert_int_equal(metric(text, "vllm:num_preemptions_total"), 0);
    stop(&server);
    arena_free(&arena);
}

/* What `watch` makes of two scrapes is the load that was there, and near the prediction that made it. */
static void test_watched(void **state)
{
    (void)state;
    static const char model[] = "--model llama-3.1-8b --on h100-sxm --gpus 1";
    struct arena arena = { 0 };
    struct server server;
    char path[] = "/tmp/chalkline-scrape-XXXXXX";
    close(mkstemp(path));
    start(&server, arena_print(&arena, "%s --clock virtual", model));
    const char *measure = arena_print(&arena, "%s measure %s --loads 24 --isl 800 --osl 100 --budget 1000s --json",
                                      program(), server.url);
    run(&arena, "%s", measure);                     /* what came before does not count */
    run(&arena, "curl -s -m 20 %smetrics >%s", server.url, path);
    const double began = number_at(json_of(&arena, run(&arena, "curl -s -m 20 %sclock", server.url)), "simulated_time", NULL);
    const struct doc *answer = json_of(&arena, run(&arena, "%s", measure)), *point = doc_get(answer, "points")->first;
    const double span = number_at(json_of(&arena, run(&arena, "curl -s -m 20 %sclock", server.url)), "simulated_time",
                                  NULL) - began;
    const struct doc *got = json_of(&arena, run(&arena, "%s watch %s --since %s --seconds %.6f --once --json %s",
                                                program(), server.url, path, span, model));
    const struct doc *load = doc_get(got, "load");
    const double requests = number_at(point, "requests", NULL) + number_at(point, "left_out", NULL) + 1;
    check_near("arrivals", number_at(load, "arrival_rate", "value"), requests / span, 1e-6);
    check_near("prompt", number_at(load, "prompt_tokens", "value"), 800, 0.01);
    check_near("answer", number_at(load, "output_tokens", "value"), 100, 0.06);
    check_near("ITL", number_at(load, "itl", "value"), number_at(point, "itl", "mean"), 0.03);
    check_near("running", number_at(load, "rank_running", "value"), 24, 0.15);
    if (!(number_at(got, "saturation_rate", "value") > number_at(load, "arrival_rate", "value")) ||
        !(number_at(got, "saturation_rate", "low") < number_at(got, "saturation_rate", "value")))
        fail_msg("saturates at %.4g", number_at(got, "saturation_rate", "value"));
    assert_string_equal(doc_get(got, "binding")->string, "nothing");
    assert_int_equal(doc_get(got, "flags")->count, 8);
    stop(&server);
    unlink(path);
    arena_free(&arena);
}

/* A prefix that was computed before is found: blocks of 16 tokens, the last token never; whoever hangs up is
 * counted where it ran. */
static void test_prefixes(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct server server;
    double took[3];
    start(&server, "--step-time 5ms+0.1ms*tokens --blocks 1000 --clock virtual --replicas 2 --router round-robin");
    for (int i = 0; i < 5; i++) {                   /* each replica in turn */
        const char *body = arena_print(&arena, "{\"prompt\":\"%*s\",\"max_tokens\":2}", 400, i == 4 ? "else" : "x");
        const char *out = run(&arena, "curl -s -m 20 -D- %sv1/completions -d '%s'", server.url, body);
        const struct doc *answer = json_of(&arena, strstr(out, "\n{")), *usage = doc_get(answer, "usage");
        const struct doc *details = doc_get(usage, "prompt_tokens_details");
        assert_int_equal(number_at(usage, "prompt_tokens", NULL), 100);
        assert_int_equal(details ? number_at(details, "cached_tokens", NULL) : 0, i < 2 ? 0 : 96);
        if (i % 2 == 0)
            took[i / 2] = number_at(answer, "simulated_time", NULL) - strtod(strstr(out, "X-Simulated-Arrival:") + 20, NULL);
    }
    check_near("a new prompt", took[0], 0.0201, 1e-6);
    check_near("a known one", took[1], 0.0201 - 96 * 0.1e-3, 1e-6);
    const char *before = run(&arena, "curl -s %smetrics", server.url);
    assert_int_equal(metric(before, "vllm:generation_tokens_total"), 10);
    stop(&server);
    start(&server, "--step-time 20ms+1ms*tokens --blocks 1000 --replicas 2 --router round-robin");
    for (int i = 0; i < 8; i++)                     /* while it gives tokens, or reads its prompt; as a stream, or as a whole */
        run(&arena, "curl -s -m %s %sv1/completions --json '{\"prompt\":\"%*s\",\"max_tokens\":%d,\"stream\":%s}'",
            i % 2 ? "0.3" : "20", server.url, i % 4 == 3 ? 40000 : 2, "hi", i % 2 ? 900 : 3, i > 3 ? "false" : "true");
    run(&arena, "sleep 0.2");
    const char *text = run(&arena, "curl -s %smetrics", server.url);
    for (int i = 0; i < 2; i++) {                   /* the second replica has all that were broken off */
        char name[100];
        snprintf(name, sizeof name, "vllm:request_success_total{engine=\"0\"%s,finished_reason=\"abort\"", i ? ",instance=\"replica-1\"" : "");
        assert_int_equal(strtod(strstr(strstr(text, name), "} ") + 2, NULL), i ? 4 : 0);
    }
    assert_int_equal(metric(text, "vllm:num_requests_running"), 0);
    stop(&server);
    arena_free(&arena);
}

/* What was measured is calibrated at once, and the file is one that predictions take. */
static void test_calibrates(void **state)
{
    (void)state;
    static const char model[] = "--model llama-3.1-8b --on h100-sxm --gpus 1";
    struct arena arena = { 0 };
    struct server server;
    char path[] = "/tmp/chalkline-found-XXXXXX";
    close(mkstemp(path));
    start(&server, arena_print(&arena, "%s --set work_factor=1.5 --clock virtual --served-name mine", model));
    const struct doc *answer = json_of(&arena, run(&arena, "%s measure %s --loads 1,16 --isl 500 --osl 100 --vary 0.3 %s "
                                                   "-c %s --json", program(), server.url, model, path));
    const struct doc *found = doc_get(answer, "calibration"), *rows = doc_get(found, "rows");
    check_near("work_factor", number_at(doc_get(doc_get(rows, "work_factor"), "posterior"), "value", NULL), 1.5, 0.1);
    assert_string_equal(doc_get(answer, "model")->string, "mine");
    assert_string_equal(doc_get(found, "written")->string, path);
    const double truth = number_at(doc_get(answer, "points")->last, "tpot", "mean");
    check_near("TPOT", number_at(json_of(&arena, run(&arena, "%s step %s --isl 500 --osl 100 --concurrency 16 --calibration "
                                                     "%s --json", program(), model, path)), "predicted_tpot", NULL),
               truth, 0.03);
    const char *out = run(&arena, "%s measure %s --loads 1 --osl 20 --model deepseek-v3 --on h100-sxm --gpus 1; echo $?", program(),
                          server.url);
    const char *kept = strstr(out, "the requests are in ");
    assert_non_null(strstr(out, "not calibrated: "));
    assert_non_null(strstr(out, "tokens/s"));
    assert_non_null(kept);
    kept += strlen("the requests are in ");
    assert_int_equal(unlink(arena_copy(&arena, kept, strcspn(kept, ","))), 0);
    assert_string_equal(out + strlen(out) - 2, "1\n");
    stop(&server);
    unlink(path);
    arena_free(&arena);
}

/* ---- what is refused ------------------------------------------------------------------------------ */

static void check_status(struct arena *arena, const struct server *server, const char *path, const char *body,
                         int status, const char *says)
{
    const char *out = run(arena, "curl -s -m 20 -w '\\n%%{http_code}' %s%s %s%s%s", server->url, path,
                          *body ? "--json '" : "", body, *body ? "'" : "");
    if (!strstr(out, says) || !strstr(out, arena_print(arena, "\n%d", status)))
        fail_msg("%s %s: expected %d and '%s' in:\n%s", path, body, status, says, out);
}

static void test_refused(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct server server;
    start(&server, "--step-time 10ms --blocks 100 --clock virtual --served-name tiny");
    static const char completions[] = "v1/completions", chat[] = "v1/chat/completions";
    check_status(&arena, &server, "v1/models", "", 200, "\"id\": \"tiny\"");
    check_status(&arena, &server, "health", "", 200, "");
    check_status(&arena, &server, "nothing", "", 404, "NotFoundError");
    check_status(&arena, &server, completions, "{\"prompt\":\"hi\",\"max_tokens\":3}", 200, "\"finish_reason\":\"length\"");
    check_status(&arena, &server, completions, "{\"prompt\":[1,2,3,4,5],\"max_tokens\":3}", 200, "\"prompt_tokens\":5,");
    check_status(&arena, &server, completions, "{\"prompt\":[[1,2,3]],\"max_tokens\":2}", 200, "\"prompt_tokens\":3,");
    check_status(&arena, &server, completions, "{\"prompt\":\"12345678 \",\"max_tokens\":2}", 200, "\"prompt_tokens\":3,");
    check_status(&arena, &server, chat, "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
                 "\"12345678\"}]}],\"max_completion_tokens\":2}", 200, "\"content\":\" a a\"");
    check_status(&arena, &server, completions, "{\"prompt\":\"hi\",\"max_tokens\":3,\"model\":\"other\"}", 404,
                 "The model `other` does not exist.");
    check_status(&arena, &server, completions, "{\"prompt\":\"hi\",\"max_tokens\":2000}", 400, "KV blocks");
    check_status(&arena, &server, completions, "{\"prompt\":\"hi\",\"n\":2}", 400, "n: only 1");
    check_status(&arena, &server, completions, "{\"prompt\":\"hi\",\"max_tokens\":-1}", 400, "max_tokens");
    check_status(&arena, &server, completions, "{\"prompt\":\"hi\",\"max_tokens\":1e18}", 400, "from 1 to 100000000");
    check_status(&arena, &server, completions, "", 405, "MethodNotAllowedError");
    assert_non_null(strstr(run(&arena, "curl -s -m 20 -i -X OPTIONS %s%s", server.url, chat), "\nAllow: POST\r\n"));
    check_status(&arena, &server, completions, "{\"prompt\":[\"a\",\"b\"]}", 400, "several prompts");
    check_status(&arena, &server, completions, "{\"prompt\":{}}", 400, "prompt:");
    check_status(&arena, &server, completions, "[]", 400, "JSON object");
    check_status(&arena, &server, completions, "{\"prompt\":", 400, "BadRequestError");
    check_status(&arena, &server, chat, "{\"prompt\":\"hi\"}", 400, "messages:");
    check_status(&arena, &server, "tokenize", "{\"prompt\":\"12345678\"}", 200, "\"count\":2,");
    check_status(&arena, &server, "clock?clients=x", "{}", 400, "whole number");
    check_status(&arena, &server, chat, "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"max_tokens\":2,"
                 "\"stream\":true,\"stream_options\":{\"include_usage\":true}}", 200,
                 "\"delta\":{\"role\":\"assistant\",\"content\":\"\"}");
    stop(&server);
    start(&server, "--model llama-3.1-8b --on h200-sxm --gpus 1 --clock virtual");     /* its cache holds 900,000 tokens */
    check_status(&arena, &server, "v1/models", "", 200, "\"max_model_len\": 131072");
    check_status(&arena, &server, completions, "{\"prompt\":\"hi\",\"max_tokens\":3,\"model\":\"llama-3.1-8b\"}", 200, "\"model\":\"llama-3.1-8b\",");
    check_status(&arena, &server, completions, "{\"prompt\":\"hi\",\"max_tokens\":3,\"model\":\"Llama-3.1-8B\"}", 200, "\"model\":\"Llama-3.1-8B\",");
    check_status(&arena, &server, completions, "{\"prompt\":\"hi\",\"max_tokens\":3,\"model\":\"llama-3.1-70b\"}", 404, "does not exist");
    check_status(&arena, &server, completions, "{\"prompt\":\"hi\",\"max_tokens\":131072}", 400, "maximum context length is 131072");
    stop(&server);
    arena_free(&arena);
}

/* Of a description the endpoint takes the lengths; what only a whole run has is refused. */
static void test_options(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct server server;
    start(&server, "poisson:rate=1,count=2,input=10,output=7" STEP " --clock virtual");
    check_status(&arena, &server, "v1/completions", "{\"prompt\":\"hi\"}", 200, "\"completion_tokens\":7,");
    stop(&server);
    assert_non_null(strstr(run(&arena, "%s simulate" STEP " --listen 0 --users 3 2>&1", program()),
                           "--users has no effect with --listen"));
    assert_non_null(strstr(run(&arena, "%s simulate" STEP " --listen 0 --metrics /dev/null 2>&1", program()),
                           "--metrics has no effect with --listen"));
    assert_non_null(strstr(run(&arena, "%s simulate --model deepseek-v3 --on rtx-4090 --gpus 1 --listen 0 2>&1; echo $?",
                               program()), "or --blocks\n1\n"));
    assert_non_null(strstr(run(&arena, "%s simulate poisson:rate=1" STEP " --jitter 0.1 2>&1", program()), "without --listen"));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_as_simulated), cmocka_unit_test(test_wall_clock),
                                        cmocka_unit_test(test_metrics), cmocka_unit_test(test_watched),
                                        cmocka_unit_test(test_prefixes), cmocka_unit_test(test_calibrates),
                                        cmocka_unit_test(test_refused),
                                        cmocka_unit_test(test_options) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
