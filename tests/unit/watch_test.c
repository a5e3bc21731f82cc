/* meter/watch: the text format, and what it says of a load. The scrapes of tests/fixtures/metrics are of our own
 * endpoint, before and after `measure` with 32 clients, prompts of 1,000 tokens and answers of 200; published
 * ones are compared too where CHALKLINE_SHARED is set. */
#include "test.h"

#include "meter/watch/load.h"

#include <math.h>
#include <string.h>

static void check_near(const char *what, double got, double expected, double share)
{
    if (!(fabs(got - expected) <= share * fabs(expected)))
        fail_msg("%s: %.6g, expected %.6g", what, got, expected);
}

static struct exposition read_text(struct arena *arena, const char *text)
{
    struct exposition exposition;
    struct error error;
    size_t bad;
    if (!exposition_read(arena, "text", text_of(text), &exposition, &bad, &error))
        fail_msg("%s", error.what);
    return exposition;
}

static struct exposition read_file(struct arena *arena, const char *path)
{
    struct text text;
    struct error error;
    if (!file_read(arena, path, 1 << 24, &text, &error))
        fail_msg("%s", error.what);
    return read_text(arena, arena_copy(arena, text.data, text.size));
}

static void test_format(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const struct exposition exposition = read_text(&arena,
        "# HELP a something\n# TYPE a counter\na 1\na_total{x=\"1\"} 2.5e3 1700000000000\n"
        "a_total{x=\"2\", y=\"say \\\"hi\\\"\\n\\\\\",} 4\r\nb{} NaN\nc +Inf\nd{tp_rank=\"0\"} 3\nd{tp_rank=\"1\"} 3\n\n# EOF");
    assert_int_equal(exposition.count, 7);
    check_near("a", exposition_sum(&exposition, "a", NULL), 1, 0);
    check_near("all of a_total", exposition_sum(&exposition, "a_total", NULL), 2504, 0);
    check_near("one of a_total", exposition_sum(&exposition, "a_total", "x=2"), 4, 0);
    check_near("the first that is there", exposition_sum(&exposition, "none|a|a_total", NULL), 1, 0);
    const struct exposition first = exposition_first_ranks(&arena, &exposition);
    check_near("all ranks", exposition_sum(&exposition, "d", NULL), 6, 0);
    check_near("the first rank", exposition_sum(&first, "d", NULL), 3, 0);
    check_near("the earliest of two starts", exposition_least(&exposition, "a_total"), 4, 0);
    assert_true(isnan(exposition_least(&exposition, "none")));
    assert_true(isnan(exposition_sum(&exposition, "b", NULL)) && isnan(exposition_sum(&exposition, "c", NULL)));
    assert_true(isnan(exposition_sum(&exposition, "a_total", "x=3")));
    assert_string_equal(sample_label(&exposition.samples[2], "y"), "say \"hi\"\n\\");
    arena_free(&arena);
}

static void test_bad(void **state)
{
    (void)state;
    static const struct { const char *text, *says; } bad[] = {
        { "", "no metrics" }, { "# only comments\n", "no metrics" }, { "<html>\n<body>hello</body>", "text:1: not a line" },
        { "a 1\nb{x=\"1} 2\n", "text:2: not a line" }, { "a 1\nb{x=1} 2\n", "text:2: not a line" },
        { "a 1\nb\n", "text:2: not a line" }, { "a 1\nb one\n", "text:2: not a line" },
        { "{\"iter\": 1}", "text:1: not a line" }, { "some_metric 1\n", "no engine that is known" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena arena = { 0 };
        struct exposition exposition;
        struct load load;
        struct error error = { .what = "" };
        size_t lines;
        if (exposition_read(&arena, "text", text_of(bad[i].text), &exposition, &lines, &error) &&
            load_read(&arena, "text", &exposition, NULL, NAN, &load, &error))
            fail_msg("'%s' is no error", bad[i].text);
        if (!strstr(error.what, bad[i].says) || !*error.hint)
            fail_msg("'%s': %s (%s)", bad[i].text, error.what, error.hint);
        arena_free(&arena);
    }
}

/* Values that no server can have: the message names the series, and says what it may be. */
static void test_impossible(void **state)
{
    (void)state;
    static const struct { const char *text, *says, *expected; } bad[] = {
        { "vllm:num_requests_running 1\nvllm:kv_cache_usage_perc 1e307\n", "text: vllm:kv_cache_usage_perc is 1e307",
          "a share from 0 to 1" },
        { "vllm:gpu_cache_usage_perc{engine=\"0\"} -0.5\n", "vllm:gpu_cache_usage_perc{engine=\"0\"} is -0.5", "a share" },
        { "vllm:num_requests_running +Inf\n", "vllm:num_requests_running is infinite", "a number of requests" },
        { "vllm:num_requests_waiting -1\n", "vllm:num_requests_waiting is -1", "a number of requests" },
        { "sglang:cache_hit_rate 2\n", "sglang:cache_hit_rate is 2", "a share" },
        { "sglang:token_usage -Inf\n", "sglang:token_usage is -infinite", "a share" },
        { "trtllm_kv_cache_utilization 1.5\n", "trtllm_kv_cache_utilization is 1.5", "a share" },
        { "nv_trt_llm_request_metrics{request_type=\"waiting\"} 1e300\n",
          "nv_trt_llm_request_metrics{request_type=\"waiting\"} is 1e300", "a number of requests" },
        { "llamacpp:requests_processing 1e12\n", "llamacpp:requests_processing is 1e12", "a number of requests" },
        { "llamacpp:prompt_seconds_total -1\n", "llamacpp:prompt_seconds_total is -1", "a finite count" },
        { "inference_objective_request_ttft_seconds_sum 1e300\n", "_ttft_seconds_sum is 1e300", "a finite count" },
        { "vllm:request_prompt_tokens_count -3\n", "vllm:request_prompt_tokens_count is -3", "a finite count" },
        { "vllm:num_requests_running 1\nprocess_start_time_seconds 1e300\n", "process_start_time_seconds is 1e300", "Unix" },
        { "vllm:cache_config_info{block_size=\"16\",gpu_memory_utilization=\"90\"} 1\n",
          "the label gpu_memory_utilization of vllm:cache_config_info is 90", "a share" },
        { "sglang:num_running_reqs{tp_rank=\"1e300\"} 1\n", "the label tp_rank of sglang:num_running_reqs is 1e300", "a rank" },
        { "vllm:num_requests_running{engine=\"0\"} -1\nvllm:num_requests_running{engine=\"1\"} -1\n",
          "vllm:num_requests_running{engine=\"1\"} is -1", "a number of requests" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena arena = { 0 };
        const struct exposition exposition = read_text(&arena, bad[i].text);
        struct load load;
        struct error error;
        if (load_read(&arena, "text", &exposition, NULL, NAN, &load, &error) || !load.impossible)
            fail_msg("'%s' is no error", bad[i].text);
        if (!strstr(error.what, bad[i].says) || !strstr(error.hint, bad[i].expected))
            fail_msg("'%s': %s (%s)", bad[i].text, error.what, error.hint);
        arena_free(&arena);
    }
}

static struct load read_load(struct arena *arena, const struct exposition *now, const struct exposition *since,
                             double span)
{
    struct load load;
    struct error error;
    if (!load_read(arena, "text", now, since, span, &load, &error))
        fail_msg("%s", error.what);
    return load;
}

/* 353 requests, of which 32 had shorter first answers and one was a probe of 16 and 4 tokens. */
static void test_two_scrapes(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const double span = 26.72;
    const struct exposition before = read_file(&arena, "tests/fixtures/metrics/before.prom"),
    after = read_file(&arena, "tests/fixtures/metrics/after.prom");
    struct load load = read_load(&arena, &after, &before, span);
    assert_string_equal(load.engine->name, "vllm");
    assert_string_equal(load.model, "Llama-3.1-8B");
    assert_int_equal(load.requests, 353);
    check_near("arrivals", load.seen[LOAD_ARRIVAL_RATE].value, 353 / span, 1e-12);
    check_near("prompt", load.seen[LOAD_PROMPT].value, (352 * 1000.0 + 16) / 353, 1e-12);
    check_near("answer", load.seen[LOAD_OUTPUT].value, 67316 / 353.0, 1e-9);
    /* Little's law: gaps of all answers over the time. */
    check_near("running", load.seen[LOAD_RUNNING].value, load.seen[LOAD_ITL].value * (67316 - 353) / span, 1e-9);
    check_near("ITL", load.seen[LOAD_ITL].value, 0.01166, 0.001);
    assert_true(isnan(load.seen[LOAD_HIT_SHARE].value) && *load.seen[LOAD_HIT_SHARE].source);
    /* The other way round it was a restart: then the second scrape counts alone. */
    load = read_load(&arena, &before, &after, span);
    assert_true(load.restarted && isnan(load.span) && isnan(load.seen[LOAD_ARRIVAL_RATE].value));
    arena_free(&arena);
}

static void test_arrivals_in_flight(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const struct exposition before = read_text(&arena, "vllm:request_success_total 10\nvllm:num_requests_running 2\n"
                                               "vllm:num_requests_waiting 0\n"),
    after = read_text(&arena, "vllm:request_success_total 30\nvllm:num_requests_running 8\n"
                              "vllm:num_requests_waiting 4\nvllm:gpu_prefix_cache_queries_total 200\n"
                              "vllm:gpu_prefix_cache_hits_total 50\nvllm:num_preemptions_total 5\n"
                              "vllm:spec_decode_num_draft_tokens_total 100\n"
                              "vllm:spec_decode_num_accepted_tokens_total 60\n");
    const struct load load = read_load(&arena, &after, &before, 10);
    check_near("arrivals", load.seen[LOAD_ARRIVAL_RATE].value, (20 + 12 - 2) / 10.0, 0);
    check_near("hits", load.seen[LOAD_HIT_SHARE].value, 0.25, 0);
    check_near("preemptions", load.seen[LOAD_PREEMPTION_RATE].value, 0.25, 0);
    check_near("acceptance", load.seen[LOAD_ACCEPTANCE].value, 0.6, 0);
    arena_free(&arena);
}

/* Requests that leave without finishing are no negative rate; TGI's mean over requests of the time for a token. */
static void test_aborted(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const struct exposition before = read_text(&arena, "vllm:request_success_total 10\nvllm:num_requests_running 14\n"
                                               "vllm:generation_tokens_total 900\n"),
    after = read_text(&arena, "vllm:request_success_total 13\nvllm:num_requests_running 0\nvllm:generation_tokens_total 900\n"),
    tgi = read_text(&arena, "tgi_batch_current_size 3\ntgi_request_success 20\ntgi_request_mean_time_per_token_duration_sum 0.5\n"
                            "tgi_request_mean_time_per_token_duration_count 20\n");
    struct load load = read_load(&arena, &after, &before, 10);
    assert_true(isnan(load.seen[LOAD_ARRIVAL_RATE].value));
    assert_non_null(strstr(load.seen[LOAD_ARRIVAL_RATE].source, "aborted"));
    load = read_load(&arena, &tgi, NULL, NAN);
    check_near("TPOT of TGI", load.seen[LOAD_ITL].value, 0.5 / 20, 1e-12);
    assert_null(load.others);
    arena_free(&arena);
}

/* A prefill and a decode half on one page count each request twice; a page of one half is read. Of two engines one is read,
 * and the other is named. */
static void test_halves(void **state)
{
    (void)state;
    static const struct { const char *text, *says; } pages[] = {
        { "sglang:num_running_reqs{engine_type=\"prefill\",tp_rank=\"0\"} 1\nsglang:num_running_reqs{engine_type=\"decode\",tp_rank=\"0\"} 9\n",
          "the label engine_type tells" },
        { "vllm:num_requests_running{engine=\"0\",job=\"llama-prefill\"} 1\nvllm:num_requests_running{engine=\"0\",job=\"llama-decode\"} 9\n",
          "the label job tells" },
        { "sglang:num_running_reqs{engine_type=\"decode\"} 9\n", NULL },
        { "vllm:num_requests_running{job=\"prefill\",pod=\"a\"} 9\nvllm:num_requests_running{job=\"prefill\",pod=\"b\"} 9\n", NULL },
    };
    struct arena arena = { 0 };
    struct load load;
    struct error error;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        const struct exposition page = read_text(&arena, pages[i].text);
        if (load_read(&arena, "text", &page, NULL, NAN, &load, &error) == (pages[i].says != NULL))
            fail_msg("page %zu", i);
        if (pages[i].says)
            assert_non_null(strstr(error.what, pages[i].says));
    }
    const struct exposition two = read_text(&arena, "sglang:num_running_reqs 5\ntgi_batch_current_size 2\nvllm:num_requests_running 3\n");
    load = read_load(&arena, &two, NULL, NAN);
    assert_string_equal(load.others, "sglang, TGI");
    check_near("running of vLLM", load.seen[LOAD_RUNNING].value, 3, 0);
    arena_free(&arena);
}

static void test_labels(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const struct exposition vllm = read_text(&arena, "vllm:num_requests_running{engine=\"0\"} 1\nvllm:num_requests_running{"
                                             "engine=\"1\"} 1\nvllm:cache_config_info{block_size=\"32\",cache_dtype=\"auto\","
                                             "gpu_memory_utilization=\"0.85\",num_gpu_blocks=\"1234\"} 1\n"),
    sglang = read_text(&arena, "sglang:num_running_reqs{tp_rank=\"0\"} 3\nsglang:num_running_reqs{tp_rank=\"3\"} 3\n");
    struct load load = read_load(&arena, &vllm, NULL, NAN);
    assert_int_equal(load.replicas, 2);
    check_near("blocks", load.blocks, 1234, 0);
    check_near("tokens of a block", load.block_tokens, 32, 0);
    check_near("memory", load.memory_share, 0.85, 0);
    assert_true(isnan(load.tensor_parallel));
    load = read_load(&arena, &sglang, NULL, NAN);
    check_near("ranks", load.tensor_parallel, 4, 0);
    check_near("running", load.seen[LOAD_RUNNING].value, 3, 0);
    assert_int_equal(load.replicas, 1);
    arena_free(&arena);
}

/* Of several replicas the one with an impossible value is left out of both scrapes; NaN is no value. */
static void test_left_out(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    static const char format[] =
        "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 2\nvllm:num_requests_running{engine=\"1\",model_name=\"m\"} 5\n"
        "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} %s\nvllm:kv_cache_usage_perc{engine=\"1\",model_name=\"m\"} 0.5\n"
        "vllm:request_success_total{engine=\"0\",finished_reason=\"stop\",model_name=\"m\"} %d\n"
        "vllm:request_success_total{engine=\"1\",finished_reason=\"stop\",model_name=\"m\"} %d\n";
    const struct exposition bad = read_text(&arena, arena_print(&arena, format, "1e307", 100, 200)),
    good = read_text(&arena, arena_print(&arena, format, "0.25", 1000, 230)),
    unknown = read_text(&arena, arena_print(&arena, format, "NaN", 1000, 230));
    const struct { const struct exposition *now, *since; } pairs[] = { { &good, &bad }, { &bad, NULL } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct load load = read_load(&arena, pairs[i].now, pairs[i].since, 10);
        assert_int_equal(load.replicas, 1);
        assert_int_equal(load.left_out, 1);
        assert_non_null(strstr(load.left_out_why, "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} is 1e307"));
        check_near("cache of the other", load.seen[LOAD_CACHE_USED].value, 0.5, 0);
        check_near("requests of the other", load.requests, i ? 200 : 30, 0);
    }
    const struct load load = read_load(&arena, &unknown, NULL, NAN);
    assert_true(load.replicas == 2 && !load.left_out && load.seen[LOAD_CACHE_USED].value == 0.5);
    arena_free(&arena);
}

/* Means of an interval: requests in flight by the sums of their times, tokens of a gap where drafts are accepted. */
static void test_interval(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    static const char format[] = "vllm:request_success_total %d\nvllm:num_requests_running %d\nvllm:generation_tokens_total "
        "%d\nvllm:time_to_first_token_seconds_sum %d\nvllm:time_to_first_token_seconds_count %d\n"
        "vllm:inter_token_latency_seconds_sum %d\nvllm:inter_token_latency_seconds_count %d\n"
        "vllm:spec_decode_num_draft_tokens_total %d\nvllm:spec_decode_num_accepted_tokens_total %d\n";
    const struct exposition before = read_text(&arena, arena_print(&arena, format, 10, 4, 1000, 5, 10, 20, 500, 100, 60)),
    after = read_text(&arena, arena_print(&arena, format, 50, 8, 5000, 15, 50, 120, 2700, 500, 260));
    const struct load load = read_load(&arena, &after, &before, 20);
    check_near("in flight", load.in_flight, (10 + 100) / 20.0, 1e-12);
    check_near("tokens of a gap", load.tokens_per_gap, (4000 - 40) / 2200.0, 1e-12);
    check_near("more in flight", load.in_flight_growth, 4, 1e-12);
    arena_free(&arena);
}

/* llama.cpp's server counts tokens and no requests: with their lengths stated the requests follow, and Little's law
 * gives those in flight. 100,000 prompt and 50,000 output tokens in 600 s, of 500 and 250. */
static void test_llama_cpp(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    static const char format[] = "llamacpp:prompt_tokens_total %d\nllamacpp:prompt_seconds_total %d\n"
        "llamacpp:tokens_predicted_total %d\nllamacpp:tokens_predicted_seconds_total %d\nllamacpp:requests_processing %d\n"
        "llamacpp:requests_deferred 0\n";
    const struct exposition before = read_text(&arena, arena_print(&arena, format, 1000, 1, 500, 10, 2)),
    after = read_text(&arena, arena_print(&arena, format, 101000, 21, 50500, 1010, 3));
    struct load load = read_load(&arena, &after, &before, 600);
    assert_true(isnan(load.seen[LOAD_ARRIVAL_RATE].value) && isnan(load.seen[LOAD_OUTPUT].value));
    check_near("ITL", load.seen[LOAD_ITL].value, 0.02, 1e-12);
    check_near("running", load.seen[LOAD_RUNNING].value, 1000 / 600.0, 1e-12);
    check_near("in flight", load.in_flight, 1020 / 600.0, 1e-12);
    load_assume_lengths(&load, NAN, NAN);
    assert_true(isnan(load.seen[LOAD_ARRIVAL_RATE].value) && isnan(load.requests));
    load_assume_lengths(&load, 500, 250);
    check_near("requests", load.requests, 200, 0);
    check_near("prompt tokens", load.prompt_tokens, 100000, 0);
    check_near("arrivals", load.seen[LOAD_ARRIVAL_RATE].value, 200 / 600.0, 1e-12);
    check_near("prompt", load.seen[LOAD_PROMPT].value, 500, 0);
    check_near("TTFT", load.seen[LOAD_TTFT].value, 0.1, 1e-12);
    /* What is counted is not replaced. */
    const struct exposition vllm = read_file(&arena, "tests/fixtures/metrics/after.prom");
    load = read_load(&arena, &vllm, NULL, NAN);
    const double counted = load.seen[LOAD_PROMPT].value;
    load_assume_lengths(&load, 7, 7);
    check_near("prompt as counted", load.seen[LOAD_PROMPT].value, counted, 0);
    arena_free(&arena);
}

static void test_published(void **state)
{
    (void)state;
    static const struct { const char *file, *engine; enum load_quantity quantity; double value; } rows[] = {
        { "vllm_0.25.1_loaded.prom", "vllm", LOAD_PROMPT, 512 },
        { "vllm_0.25.1_loaded.prom", "vllm", LOAD_OUTPUT, 256 },
        { "vllm_0.25.1_loaded.prom", "vllm", LOAD_RUNNING, 64 },
        { "vllm_0.25.1_loaded.prom", "vllm", LOAD_WAITING, 64 },
        { "vllm_0.25.1_loaded.prom", "vllm", LOAD_HIT_SHARE, 2480 / 339968.0 },
        { "vllm_0.25.1_loaded.prom", "vllm", LOAD_TTFT, 0.1329 },
        { "vllm_0.25.1_loaded.prom", "vllm", LOAD_ITL, 0.00606 },
        { "vllm_0.25.1_loaded.prom", "vllm", LOAD_PREEMPTION_RATE, 0 },
        { "vllm_0.25.1_idle.prom", "vllm", LOAD_RUNNING, 0 },
        { "sglang_docs.prom", "sglang", LOAD_RUNNING, 162 },
        { "sglang_docs.prom", "sglang", LOAD_WAITING, 2826 },
        { "sglang_docs.prom", "sglang", LOAD_PROMPT, 8.128902e6 / 11228 },
        { "sglang_docs.prom", "sglang", LOAD_HIT_SHARE, 0.00750755 },
        { "triton_tensorrtllm_backend_readme.prom", "trtllm", LOAD_WAITING, 1 },
        { "llama.cpp_server.prom", "llama.cpp", LOAD_ITL, 279.178 / 7801 },
        { "epp_testdata.prom", "llm-d", LOAD_RUNNING, 2 },
    };
    const char *shared = getenv("CHALKLINE_SHARED");
    struct arena arena = { 0 };
    if (!shared || !*shared) {
        print_message("skipped: published scrapes, without CHALKLINE_SHARED\n");
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct exposition now = read_file(&arena, arena_print(&arena, "%s/data/benchmarks/metrics/%s", shared,
                                                                    rows[i].file));
        const struct load load = read_load(&arena, &now, NULL, NAN);
        assert_string_equal(load.engine->name, rows[i].engine);
        check_near(rows[i].file, load.seen[rows[i].quantity].value, rows[i].value, 1e-3);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_format), cmocka_unit_test(test_bad), cmocka_unit_test(test_impossible), cmocka_unit_test(test_left_out),
                                        cmocka_unit_test(test_two_scrapes), cmocka_unit_test(test_arrivals_in_flight),
                                        cmocka_unit_test(test_labels), cmocka_unit_test(test_aborted), cmocka_unit_test(test_halves), cmocka_unit_test(test_interval), cmocka_unit_test(test_llama_cpp),
                                        cmocka_unit_test(test_published) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
