/* The words of an operating point mean the same to every verb: rate, users, concurrency, arrivals, think time, engine, budget,
 * chunk, seats and link are given to `step`, `plan`, `simulate`, `serve`, `watch`, `--emit` and `--listen`, whose answers are
 * compared with the rows that `eval` has for these words. Where a word makes no sense, it is refused. */
#include "served.h"
#include "commands.h"

#include "ask/simulate/simulate.h"
#include "build/row_names.h"
#include "scenario/values.h"

#include <math.h>

#define SERVER "--on h100-sxm --gpus 1"
#define REQUESTS " --isl 1000 --osl 200 --replicas 1"

static const struct engine_words {
    const char *words, *engine;
    double budget, chunk, seats;
    const char *emit, *flags[2];
} engines[] = {
    { "--engine vllm --max-batched-tokens 1024 --max-seqs 24", "vllm", 1024, 0, 24, "vllm",
      { "--max-num-batched-tokens 1024 ", "--max-num-seqs 24 " } },
    { "--engine vllm@0.19 --max-batched-tokens 512 --max-seqs 40", "vllm", 512, 0, 40, "vllm",
      { "--max-num-batched-tokens 512 ", "--max-num-seqs 40 " } },
    { "--engine sglang@0.5.18 --chunked-prefill-size 2048 --max-seqs 24", "sglang", 2048, 2048, 24, "sglang",
      { "--chunked-prefill-size 2048 ", "--max-running-requests 24 " } },
};

static const struct load_words {
    const char *words;
    double rate, users, cv2, think;     /* 0: not given; users of the one replica */
    const char *generator;
} loads[] = {
    { "--rate 3", 3, 0, 1, 0, "--request-rate 3" },
    { "--rate 3 --arrivals even", 3, 0, 0, 0, "--request-rate 3 --burstiness" },
    { "--rate 180/min --arrivals 2", 3, 0, 4, 0, "--request-rate 3 --burstiness 0.25" },
    { "--users 12", 0, 12, 1, 0, "--max-concurrency 12" },
    { "--concurrency 12", 0, 12, 1, 0, "--max-concurrency 12" },
    { "--users 12 --think 2s", 0, 12, 1, 2, "--max-concurrency 12" },
};

static double number_of(const struct doc *doc, const char *key)
{
    const struct doc *at = doc ? doc_get(doc, key) : NULL;
    at = at && at->kind == DOC_OBJECT ? doc_get(at, "value") : at;
    if (!at || at->kind != DOC_NUMBER)
        fail_msg("no number %s", key);
    return at->number;
}

static const struct doc *answer_of(struct arena *arena, const char *line)
{
    return parse(arena, command(arena, line));
}

/* Exit 2, with these words in the message. */
static void refused(struct arena *arena, const char *line, const char *says)
{
    FILE *pipe = popen(arena_print(arena, "%s %s 2>&1", program(), line), "r");
    char out[2000] = "";
    assert_non_null(pipe);
    out[fread(out, 1, sizeof out - 1, pipe)] = 0;
    const int status = pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 2 || !strstr(out, says))
        fail_msg("chalkline %s: exit %d, not with '%s':\n%s", line, status, says, out);
}

static const char *const rows[] = {
    NAME_step_tokens, NAME_chunked_prefill_size, NAME_max_num_seqs, NAME_rank_seats, NAME_arrivals_cv2, NAME_think_time,
    NAME_arrival_rate, NAME_concurrency, NAME_users, NAME_rank_running_mean, NAME_predicted_tpot, NAME_predicted_ttft };

/* Every row of these words. */
static const struct doc *evaluated(struct arena *arena, const char *engine, const char *load)
{
    struct buffer line = { .arena = arena };
    buffer_print(&line, "eval");
    for (size_t i = 0; i < COUNT(rows); i++)
        buffer_print(&line, " %s", rows[i]);
    buffer_print(&line, " --model llama-3.1-8b " SERVER REQUESTS " %s %s --json", engine, load);
    return answer_of(arena, line.data);
}

/* ---- the rows --------------------------------------------------------------------------------------- */

static void words_set_their_rows(void **state)
{
    (void)state;
    for (size_t e = 0; e < COUNT(engines); e++)
        for (size_t l = 0; l < COUNT(loads); l++) {
            struct arena arena = { 0 };
            const struct doc *eval = evaluated(&arena, engines[e].words, loads[l].words);
            assert_true(number_of(eval, NAME_step_tokens) == engines[e].budget);
            assert_true(!engines[e].chunk || number_of(eval, NAME_chunked_prefill_size) == engines[e].chunk);
            assert_true(number_of(eval, NAME_max_num_seqs) == engines[e].seats);
            assert_true(number_of(eval, NAME_rank_seats) == engines[e].seats);      /* the cache has room for more */
            assert_true(number_of(eval, NAME_arrival_rate) == loads[l].rate);
            assert_true(!loads[l].users || (number_of(eval, NAME_concurrency) == loads[l].users &&
                                            number_of(eval, NAME_users) == loads[l].users));
            assert_true(number_of(eval, NAME_arrivals_cv2) == loads[l].cv2);
            assert_true(number_of(eval, NAME_think_time) == loads[l].think);
            arena_free(&arena);
        }
}

/* "--rate 3 --arrivals even" as a query of the API. */
static const char *query_of(struct arena *arena, const char *words)
{
    struct buffer out = { .arena = arena };
    for (const char *at = words; *at; at++)
        if (!strncmp(at, "--", 2) && (at == words || at[-1] == ' '))
            buffer_print(&out, "&"), at++;
        else if (*at == ' ' && strncmp(at + 1, "--", 2))
            buffer_print(&out, "=");
        else if (*at != ' ')
            buffer_print(&out, "%c", *at);
    return out.data;
}

static void step_and_serve_have_the_rows_of_eval(void **state)
{
    (void)state;
    struct arena whole = { 0 };
    const struct running server = serve_with(&whole, "--body-limit 100kB");
    for (size_t e = 0; e < COUNT(engines); e++)
        for (size_t l = 0; l < COUNT(loads); l++) {
            struct arena arena = { 0 };
            const char *words = arena_print(&arena, SERVER REQUESTS " %s %s", engines[e].words, loads[l].words);
            const struct doc *eval = evaluated(&arena, engines[e].words, loads[l].words);
            const struct doc *step = answer_of(&arena, arena_print(&arena, "step llama-3.1-8b %s --json", words));
            size_t found = 0;
            for (size_t i = 0; i < COUNT(rows); i++) {
                const struct doc *at = doc_get(step, strcmp(rows[i], NAME_rank_seats) ? rows[i] : "seats");
                if (!at || at->kind != DOC_NUMBER)
                    continue;
                found++;
                if (at->number != number_of(eval, rows[i]))
                    fail_msg("%s: %s is %.17g in step, %.17g in eval", words, rows[i], at->number, number_of(eval, rows[i]));
            }
            assert_true(found >= 7);
            const struct doc *replied = parse(&arena, get(&arena, server.port, arena_print(&arena, "/v1/step?words=llama-3.1-8b%s",
                                                           query_of(&arena, words)), "").body);
            struct buffer served = { .arena = &arena }, said = { .arena = &arena };
            assert_non_null(doc_get(replied, "answer"));
            doc_print(&served, doc_get(replied, "answer"));
            doc_print(&said, step);
            assert_string_equal(served.data, said.data);
            arena_free(&arena);
        }
    end(server, SIGTERM);
    arena_free(&whole);
}

/* ---- plan and --emit ---------------------------------------------------------------------------------- */

static void plans_and_commands_have_the_words(void **state)
{
    (void)state;
    for (size_t e = 0; e < COUNT(engines); e++)
        for (size_t l = 0; l < COUNT(loads); l++) {
            struct arena arena = { 0 };
            const char *server = arena_print(&arena, "llama-3.1-8b " SERVER " --isl 1000 --osl 200 %s %s", engines[e].words,
                                             loads[l].words);
            const char *started = command(&arena, arena_print(&arena, "step %s --replicas 1 --emit %s", server,
                                                              engines[e].emit)).data;
            for (int i = 0; i < 2; i++)
                assert_non_null(strstr(started, engines[e].flags[i]));
            if (!strstr(started, loads[l].generator))
                fail_msg("%s: no %s in\n%s", server, loads[l].generator, started);
            if (loads[l].think > 0) {               /* plan's users are a demand, which has no think time */
                arena_free(&arena);
                continue;
            }
            const struct doc *plan = answer_of(&arena, arena_print(&arena, "plan %s --aggregated --json", server));
            const struct doc *best = doc_get(plan, "best");
            assert_true(number_of(best, NAME_step_tokens) == engines[e].budget && number_of(best, "seats") == engines[e].seats);
            assert_string_equal(doc_get(best, "engine")->string, engines[e].engine);
            assert_true(number_of(best, NAME_arrivals_cv2) == loads[l].cv2);
            if (strstr(loads[l].words, "--concurrency")) {      /* nearly as many as allowed, in no replica more */
                const double flight = number_of(best, NAME_rate) * number_of(best, "e2e");
                assert_true(flight <= loads[l].users && flight > 0.85 * loads[l].users);
                assert_true(number_of(doc_get(plan, "limits"), NAME_concurrency_most) == loads[l].users);
            } else if (loads[l].rate)
                assert_true(number_of(best, NAME_rate) == loads[l].rate);
            else
                assert_true(number_of(doc_get(plan, "limits"), NAME_users_demand) == loads[l].users);
            started = command(&arena, arena_print(&arena, "plan %s --aggregated --emit %s", server, engines[e].emit)).data;
            for (int i = 0; i < 2; i++)
                assert_non_null(strstr(started, engines[e].flags[i]));
            arena_free(&arena);
        }
}

/* ---- simulate ----------------------------------------------------------------------------------------- */

/* "--rate 3 --arrivals even" as options of a command. */
static void give(struct arena *arena, struct command *command, const char *words)
{
    char *copy = arena_copy(arena, words, strlen(words)), *name, *value;
    while ((name = strsep(&copy, " ")) && (value = strsep(&copy, " ")))
        command_set(arena, command, name + 2, value);
}

static void simulations_have_the_rows_of_eval(void **state)
{
    (void)state;
    static const char *const shared[] = { NAME_step_tokens, NAME_chunked_prefill_size, NAME_max_num_seqs, NAME_think_time };
    for (size_t e = 0; e < COUNT(engines); e++)
        for (size_t l = 0; l < COUNT(loads); l++) {
            struct arena arena = { 0 };
            struct error error;
            struct simulate *simulate = arena_alloc(&arena, sizeof *simulate);
            struct command *command = arena_alloc(&arena, sizeof *command);
            const struct doc *eval = evaluated(&arena, engines[e].words, loads[l].words);
            *command = (struct command){ .verb = &verb_simulate };
            command_put_word(&arena, command, "poisson:count=20000,input=1000,output=200");
            give(&arena, command, "--model llama-3.1-8b " SERVER " --dp 1 --replicas 1");
            give(&arena, command, engines[e].words);
            give(&arena, command, loads[l].words);
            if (!simulate_read(&arena, command, simulate, &error))
                fail_msg("simulate %s %s: %s (%s)", engines[e].words, loads[l].words, error.what, error.hint);
            for (size_t i = 0; i < COUNT(shared); i++) {
                double value;
                if (!value_of(&simulate->scenario, shared[i], &value, &error))
                    fail_msg("%s: %s", shared[i], error.what);
                if (value != number_of(eval, shared[i]))
                    fail_msg("%s %s: %s is %g, not %g", engines[e].words, loads[l].words, shared[i], value,
                             number_of(eval, shared[i]));
            }
            const struct sim_options *options = &simulate->options;
            const struct trace *trace = &simulate->trace;
            double before;
            assert_true(value_of(&simulate->scenario, NAME_api_time " + 1000 * " NAME_ttft_per_prompt_token " * one_token", &before,
                                 &error) && before > 0 && sim_before(options, 1000) == before);
            assert_string_equal(options->server.scheduler->engine, engines[e].engine);
            assert_true((double)options->server.chunk == (engines[e].chunk ? engines[e].chunk : engines[e].budget));
            assert_true((double)options->server.max_num_seqs == number_of(eval, NAME_rank_seats));
            assert_true((double)(options->users / options->replicas) == loads[l].users && options->think == loads[l].think);
            if (loads[l].rate) {
                const double rate = (double)(trace->count - 1) / trace->arrival[trace->count - 1];
                assert_true(trace->arrivals_cv2 == loads[l].cv2 && fabs(rate / loads[l].rate - 1) < 0.05);
            }
            arena_free(&arena);
        }
}

/* The link between pools, which servers that do both have not. */
static void links_are_one_row(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const struct doc *eval = answer_of(&arena, "eval kv_transfer_bandwidth --model llama-3.1-8b " SERVER " --link 100GB/s --json");
    struct simulate *simulate = arena_alloc(&arena, sizeof *simulate);
    struct command *command = arena_alloc(&arena, sizeof *command);
    struct error error;
    double link;
    *command = (struct command){ .verb = &verb_simulate };
    command_put_word(&arena, command, "poisson:count=100");
    give(&arena, command, "--model llama-3.1-8b " SERVER " --prefill-replicas 1 --link 100GB/s");
    assert_true(simulate_read(&arena, command, simulate, &error) &&
                value_of(&simulate->scenario, NAME_kv_transfer_bandwidth, &link, &error));
    assert_true(link == 1e11 && link == number_of(eval, NAME_kv_transfer_bandwidth));
    refused(&arena, "simulate poisson --model llama-3.1-8b " SERVER " --link 100GB/s", "--link without --prefill-replicas");
    const struct doc *plan = answer_of(&arena, "plan llama-3.1-8b --on h100-sxm --gpus 2 --isl 1000 --osl 200 --link 100GB/s --json");
    bool said = false;
    for (const struct doc *word = doc_get(doc_get(plan, "best"), "words")->first; word; word = word->next)
        said |= !strcmp(word->string, "--link") && word->next && !strcmp(word->next->string, "100GB/s");
    assert_true(said);
    arena_free(&arena);
}

/* ---- watch -------------------------------------------------------------------------------------------- */

/* By the calibration that it writes, `watch` predicts what `eval` does at the load that the metrics show. */
static void watch_has_the_rows_of_eval(void **state)
{
    (void)state;
    static const char file[] = "build/operating_point.csv";
    static const char scrapes[] = "watch tests/fixtures/metrics/after.prom --since tests/fixtures/metrics/before.prom --seconds 60 "
                                  "--once --model llama-3.1-8b " SERVER;
    static const char *const words[] = { "--max-batched-tokens 1024 --max-seqs 24", "--max-seqs 40 --arrivals even",
                                         "--engine vllm@0.13 --max-batched-tokens 512", "--engine sglang --chunked-prefill-size 2048" };
    double tpot[COUNT(words)];
    for (size_t i = 0; i < COUNT(words); i++) {
        struct arena arena = { 0 };
        const struct doc *watch = answer_of(&arena, arena_print(&arena, "%s %s -o %s --json", scrapes, words[i], file));
        const struct doc *load = doc_get(watch, "load"), *predicted = doc_get(watch, "predicted");
        const struct doc *eval = answer_of(&arena, arena_print(&arena,
            "eval predicted_tpot predicted_ttft --model llama-3.1-8b " SERVER " %s --calibration %s --isl %.17g --osl %.17g "
            "--set arrival_rate=%.17g --json%s", words[i], file, number_of(load, NAME_prompt_tokens),
            number_of(load, NAME_output_tokens), number_of(load, NAME_arrival_rate),
            strstr(words[i], "--engine") ? "" : " --engine vllm"));
        tpot[i] = number_of(predicted, "tpot");
        assert_true(fabs(tpot[i] / number_of(eval, NAME_predicted_tpot) - 1) < 1e-9);
        assert_true(fabs(number_of(predicted, "ttft") / number_of(eval, NAME_predicted_ttft) - 1) < 1e-9);
        for (size_t j = 0; j < i; j++)
            assert_true(tpot[i] != tpot[j]);
        remove(file);
        arena_free(&arena);
    }
    static const char *const none[] = { "--rate 3", "--users 12", "--concurrency 12", "--think 2s" };
    for (size_t i = 0; i < COUNT(none); i++) {
        struct arena arena = { 0 };
        refused(&arena, arena_print(&arena, "%s %s", scrapes, none[i]), "the metrics count the arrivals");
        arena_free(&arena);
    }
}

/* ---- --listen ------------------------------------------------------------------------------------------- */

/* Clients of the endpoint measure what `simulate` says of as many users, with the same words; and other words give other
 * times. Users think for a moment that is shorter than a step, as clients do. */
static void endpoints_are_as_simulated(void **state)
{
    (void)state;
    static const char *const words[] = { "--engine vllm --max-batched-tokens 1024 --max-seqs 24",
                                         "--engine vllm --max-batched-tokens 1024 --max-seqs 2",
                                         "--engine vllm --max-batched-tokens 256 --max-seqs 24",
                                         "--engine sglang@0.5.18 --chunked-prefill-size 4096 --max-seqs 24" };
    double e2e[COUNT(words)];
    for (size_t i = 0; i < COUNT(words); i++) {
        struct arena arena = { 0 };
        const char *server = arena_print(&arena, "simulate constant:count=1000,input=1000,output=100 --model llama-3.1-8b " SERVER
                                         " --api-time 0s %s", words[i]);
        int out;
        end_left();
        left = begin(arena_print(&arena, "%s --listen 0 --clock virtual", server), &out);
        const struct running running = { left, read_port(out) };
        const struct doc *measured = answer_of(&arena, arena_print(&arena, "measure http://127.0.0.1:%u --loads 8 --isl 1000 --osl 100 "
                                                                   "--budget 1000s --json", running.port));
        end(running, SIGTERM);
        const struct doc *got = doc_get(measured, "points")->first;
        const struct doc *is = answer_of(&arena, arena_print(&arena, "%s --concurrency 8 --think 1us --json", server));
        const double tpot = number_of(doc_get(got, "tpot"), "mean"), ttft = number_of(doc_get(got, "ttft"), "mean");
        e2e[i] = ttft + 99 * tpot;
        const double said = number_of(doc_get(is, "ttft"), "mean") + 99 * number_of(doc_get(is, "tpot"), "mean");
        if (!(fabs(e2e[i] / said - 1) < 0.03))
            fail_msg("%s: E2E of 8 users %g s measured, %g s simulated", words[i], e2e[i], said);
        for (size_t j = 0; j < i; j++)
            assert_true(fabs(e2e[i] / e2e[j] - 1) > 0.002);
        arena_free(&arena);
    }
    static const char *const none[] = { "--rate 3", "--users 12", "--concurrency 12", "--arrivals even" };
    for (size_t i = 0; i < COUNT(none); i++) {
        struct arena arena = { 0 };
        refused(&arena, arena_print(&arena, "simulate constant:count=10 --model llama-3.1-8b " SERVER " --listen 0 %s", none[i]),
                "has no effect with --listen");
        arena_free(&arena);
    }
}

static int teardown(void **state)
{
    (void)state;
    end_left();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_set_their_rows),
        cmocka_unit_test(step_and_serve_have_the_rows_of_eval),
        cmocka_unit_test(plans_and_commands_have_the_words),
        cmocka_unit_test(simulations_have_the_rows_of_eval),
        cmocka_unit_test(links_are_one_row),
        cmocka_unit_test(watch_has_the_rows_of_eval),
        cmocka_unit_test(endpoints_are_as_simulated),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
