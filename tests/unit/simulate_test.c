/* The verb `simulate`: what it says of a run with users against laws that are not ours, how long the
 * run may be, and that no key of its statistics is the name of a row. */
#include "test.h"
#include "commands.h"

#include "ask/ask.h"
#include "ask/simulate/simulate.h"

#include <math.h>

struct given {
    const char *option, *text;
};

static struct doc *ask(struct arena *arena, const char *trace, const struct given *given)
{
    struct command *command = arena_alloc(arena, sizeof *command);
    struct answer *answer = arena_alloc(arena, sizeof *answer);
    struct error error;
    *command = (struct command){ .verb = &verb_simulate };
    *answer = (struct answer){ .doc = doc_new(arena, DOC_OBJECT), .text = { .arena = arena },
                               .csv = { .arena = arena } };
    command_put_word(arena, command, trace);
    for (; given->option; given++)
        command_set(arena, command, given->option, given->text);
    if (!ask_simulate(arena, command, answer, &error))
        fail_msg("%s: %s (%s)", trace, error.what, error.hint);
    return answer->doc;
}

static double number(const struct doc *doc, const char *name)
{
    const struct doc *found = doc_get(doc, name);
    if (!found)
        fail_msg("no %s", name);
    return found->number;
}

/* As many users as there are: rate x (answer + pause) (Little 1961). What was left out is said. */
static void users_keep_the_law_of_little(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    static const struct given given[] = {
        { "users", "60" }, { "think", "1s" }, { "blocks", "28000" },
        { "step-time", "10ms + 0.05ms*tokens + 8e-5ms*cached" }, { 0 } };
    const struct doc *doc = ask(&arena, "poisson:count=3000,input=800,output=uniform(50,250)", given);
    const struct doc *left_out = doc_get(doc, "left_out");
    const double users = number(doc, "requests_per_s") * (number(doc_get(doc, "e2e"), "mean") + 1);
    assert_float_equal(users, 60, 0.02 * 60);
    assert_true(number(left_out, "warm_up_s") > 0);
    assert_true(number(left_out, "requests") > 60 && number(left_out, "requests") < 1500);
    assert_true(number(doc, "requests") == 3000);
    arena_free(&arena);
}

/* All at once, and all count: what a load generator does. */
static void users_may_begin_at_once(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    static const struct given given[] = {
        { "users", "60" }, { "warm-up", "0s" }, { "blocks", "28000" },
        { "step-time", "10ms + 0.05ms*tokens" }, { 0 } };
    const struct doc *doc = ask(&arena, "poisson:count=300,input=800,output=100", given);
    assert_true(number(doc_get(doc, "left_out"), "requests") == 0);
    assert_true(number(doc, "answered") == 300);
    /* sixty prompts of 800 tokens in passes of 512 are 48,000 tokens, 50 us each */
    assert_true(number(doc_get(doc, "ttft"), "max") > 48000 * 0.05e-3);
    arena_free(&arena);
}

/* Ten times as long a run asks for as many servers. */
static void fewest_servers_do_not_depend_on_length(void **state)
{
    (void)state;
    static const char *const counts[] = { "1000", "10000" };
    double servers[2];
    for (int i = 0; i < 2; i++) {
        struct arena arena = { 0 };
        static const struct given given[] = {
            { "users", "100" }, { "min-gpus", "" }, { "model", "qwen3-32b" }, { "on", "h200-sxm" },
            { "gpus", "2" }, { "ttft", "2s" }, { "tpot", "33ms" }, { 0 } };
        servers[i] = number(ask(&arena, arena_print(&arena, "poisson:rate=100,count=%s,input=8000,"
                                                    "output=512", counts[i]), given), "servers");
        arena_free(&arena);
    }
    assert_float_equal(servers[0], servers[1], 1);
    assert_true(servers[0] >= 4 && servers[0] <= 8);
}

static void no_key_is_a_row(const struct formulas *formulas, const struct doc *doc, size_t *keys)
{
    for (const struct doc *one = doc->first; one; one = one->next) {
        if (one->key && formulas_find(formulas, one->key) >= 0)
            fail_msg("'%s' is the name of a row", one->key);
        *keys += one->key != NULL;
        no_key_is_a_row(formulas, one, keys);
    }
}

static void keys_are_no_rows(void **state)
{
    (void)state;
    static const char model[] = "llama-3.1-8b", machine[] = "h100-sxm";
    static const struct given asked[][9] = {
        { { "model", model }, { "on", machine }, { "gpus", "1" }, { "ttft", "1s" } },
        { { "model", model }, { "on", machine }, { "gpus", "1" }, { "users", "8" }, { "ttft", "1s" },
          { "min-gpus", "" } },
        { { "model", model }, { "on", machine }, { "gpus", "1" }, { "ttft", "1s" },
          { "find-saturation", "" } },
        { { "model", model }, { "on", machine }, { "gpus", "1" }, { "ttft", "1s" }, { "band", "" } },
        { { "model", model }, { "on", machine }, { "gpus", "1" }, { "sweep", "replicas=1..2" } },
        { { "model", model }, { "on", machine }, { "gpus", "1" }, { "repeat", "2" } },
        { { "model", model }, { "on", machine }, { "gpus", "1" }, { "prefill-replicas", "1" },
          { "tier", "ddr:capacity=100GB" }, { "tier", "flash" }, { "scale-to", "2" },
          { "fails-every", "10s" } },
    };
    const struct formulas *formulas = formulas_built_in(FORMULAS_MODEL | FORMULAS_MACHINE);
    size_t keys = 0;
    for (size_t i = 0; i < COUNT(asked); i++) {
        struct arena arena = { 0 };
        no_key_is_a_row(formulas, ask(&arena, "poisson:rate=3,count=100,class=a(1)|b(1)", asked[i]),
                        &keys);
        arena_free(&arena);
    }
    assert_true(keys > 200);
}

static double banded(const struct doc *doc, const char *name, const char *end)
{
    return number(doc_get(doc_get(doc, "band"), name), end);
}

/* Each end of --band is a run of its own, with every step longer by that factor; with more requests than
 * fit beside each other, a step that is a fifth longer costs more than a fifth. */
static void the_ends_of_the_band_are_runs(void **state)
{
    (void)state;
    static const char trace[] = "poisson:rate=12,count=600,input=exponential(900),output=exponential(180)";
    static const char *const ends[] = { "low", "high" };
    struct arena arena = { 0 };
    static const struct given given[] = {
        { "model", "llama-3.1-8b" }, { "on", "h100-sxm" }, { "gpus", "1" }, { "replicas", "2" },
        { "prefill-replicas", "1" }, { "prefill-gpus", "1" }, { "ttft", "150ms" }, { "tpot", "11ms" },
        { "band", "" }, { 0 } };
    const struct doc *doc = ask(&arena, trace, given), *band = doc_get(doc, "band");
    const double factors[] = { number(band, "factor_low"), number(band, "factor_high") };
    assert_true(factors[0] < 1 && factors[1] > 1);
    for (int i = 0; i < 2; i++) {
        const struct given of_end[] = {
            { "model", "llama-3.1-8b" }, { "on", "h100-sxm" }, { "gpus", "1" }, { "replicas", "2" },
            { "prefill-replicas", "1" }, { "prefill-gpus", "1" }, { "ttft", "150ms" }, { "tpot", "11ms" },
            { "set", arena_print(&arena, "step_scale=%.17g", factors[i]) }, { 0 } };
        const struct doc *end = ask(&arena, trace, of_end);
        assert_true(same_bits(banded(doc, "tpot_mean", ends[i]), number(doc_get(end, "tpot"), "mean")));
        assert_true(same_bits(banded(doc, "ttft_mean", ends[i]), number(doc_get(end, "ttft"), "mean")));
        assert_true(same_bits(banded(doc, "e2e_p99", ends[i]), number(doc_get(end, "e2e"), "p99")));
        /* slow steps meet fewer limits */
        assert_true(same_bits(banded(doc, "good_requests_per_s", ends[!i]),
                              number(end, "good_requests_per_s")));
        assert_string_equal(doc_get(band, i ? "verdict_high" : "verdict_low")->string,
                            doc_get(end, "verdict")->string);
    }
    static const char *const times[] = { "tpot", "ttft", "e2e" };
    for (size_t i = 0; i < COUNT(times); i++) {
        const char *name = arena_print(&arena, "%s_mean", times[i]);
        assert_true(same_bits(banded(doc, name, "value"), number(doc_get(doc, times[i]), "mean")));
        assert_true(banded(doc, name, "low") < banded(doc, name, "value") &&
                    banded(doc, name, "value") < banded(doc, name, "high"));
    }
    assert_true(banded(doc, "tpot_mean", "high") > factors[1] * banded(doc, "tpot_mean", "value"));
    arena_free(&arena);
}

/* A rate that saturates slow steps is below that of fast ones, by about as much. */
static void saturation_has_a_band(void **state)
{
    (void)state;
    static const char trace[] = "poisson:rate=12,count=600,input=exponential(900),output=exponential(180)";
    struct arena arena = { 0 };
    static const struct given given[] = {
        { "model", "llama-3.1-8b" }, { "on", "h100-sxm" }, { "gpus", "1" }, { "tpot", "15ms" },
        { "find-saturation", "" }, { "band", "" }, { 0 } };
    const struct doc *doc = ask(&arena, trace, given);
    const double low = banded(doc, "requests_per_s", "low"), value = banded(doc, "requests_per_s", "value"),
                 high = banded(doc, "requests_per_s", "high");
    assert_true(low < value && value < high);
    assert_true(same_bits(value, number(doc, "requests_per_s")));
    static const struct given slow[] = {
        { "model", "llama-3.1-8b" }, { "on", "h100-sxm" }, { "gpus", "1" }, { "tpot", "15ms" },
        { "find-saturation", "" }, { "set", "step_scale=tpot_band_high" }, { 0 } };
    assert_true(same_bits(low, number(ask(&arena, trace, slow), "requests_per_s")));
    static const struct given users[] = {
        { "model", "llama-3.1-8b" }, { "on", "h100-sxm" }, { "gpus", "1" }, { "tpot", "11ms" },
        { "users", "16" }, { "find-saturation", "" }, { "band", "" }, { 0 } };
    doc = ask(&arena, trace, users);
    assert_true(number(doc, "users") == banded(doc, "most_users", "value"));
    assert_true(banded(doc, "most_users", "low") < banded(doc, "most_users", "value") &&
                banded(doc, "most_users", "value") < banded(doc, "most_users", "high"));
    arena_free(&arena);
}

/* One word, one engine: its rules and its step times, unless the rules are named, or know less than the layout. */
static void rules_and_times_are_one_engines(void **state)
{
    (void)state;
    static const struct { struct given given[3]; const char *scheduler, *engine; } rows[] = {
        { { { 0 } }, "vllm-v1", "any" },
        { { { "engine", "any" } }, "vllm-v1", "any" },
        { { { "engine", "sglang" } }, "sglang", "sglang" },
        { { { "engine", "trtllm" } }, "trtllm", "trtllm" },
        { { { "engine", "vllm-0.13" } }, "vllm-v1", "vllm-0.13" },
        { { { "engine", "sglang@0.5.18" } }, "sglang", "sglang@0.5.18" },
        { { { "scheduler", "sglang" } }, "sglang", "sglang" },
        { { { "scheduler", "vllm-v1" } }, "vllm-v1", "any" },        /* the default, said aloud */
        { { { "scheduler", "vllm-v1" }, { "engine", "sglang" } }, "vllm-v1", "sglang" },
        { { { "engine", "sglang" }, { "draft", "1" } }, "vllm-v1", "sglang" },
        { { { "scheduler", "disaggregated" }, { "engine", "sglang" } }, "sglang", "sglang" },
    };
    double tpot[2] = { 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        struct given given[8] = { { "model", "llama-3.1-8b" }, { "on", "h100-sxm" }, { "gpus", "1" } };
        memcpy(given + 3, rows[i].given, sizeof rows[i].given);
        const struct doc *doc = ask(&arena, "constant:rate=5,count=100", given), *settings = doc_get(doc, "settings");
        assert_string_equal(doc_get(settings, "scheduler")->string, rows[i].scheduler);
        assert_string_equal(doc_get(settings, "engine")->string, rows[i].engine);
        if (i < 2)
            tpot[i] = number(doc_get(doc, "tpot"), "mean");
        arena_free(&arena);
    }
    assert_true(tpot[0] == tpot[1]);
}

/* What the operating point says of a step reaches the servers, by any of its words. */
static void words_of_a_step_reach_the_servers(void **state)
{
    (void)state;
    static const struct { struct given given[4]; double chunk, seats; } rows[] = {
        { { { "max-batched-tokens", "1000" }, { "max-seqs", "9" } }, 1000, 9 },
        { { { "chunk", "1000" }, { "max-seqs", "9" } }, 1000, 9 },
        { { { "set", "step_tokens=1000" }, { "set", "max_num_seqs=9" } }, 1000, 9 },
        { { { "chunked-prefill-size", "1000" }, { "max-seqs", "9" } }, 1000, 9 },
        { { { "max-batched-tokens", "1000" }, { "chunked-prefill-size", "300" }, { "max-seqs", "9" } }, 1000, 9 },
        { { { "engine", "sglang" }, { "max-batched-tokens", "1000" }, { "chunked-prefill-size", "300" } }, 300, 1024 },
        { { { "engine", "sglang" }, { "max-batched-tokens", "300" }, { "chunked-prefill-size", "1000" } }, 300, 1024 },
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        const bool formula = i % 2;
        struct given given[8] = { { formula ? "blocks" : "model", formula ? "20000" : "llama-3.1-8b" },
                                  { formula ? "step-time" : "on", formula ? "10ms" : "h100-sxm" },
                                  { formula ? "seed" : "gpus", "1" } };
        memcpy(given + 3, rows[i / 2].given, sizeof rows[i / 2].given);
        if (formula && !strcmp(given[3].option, "set"))
            continue;
        const struct doc *settings = doc_get(ask(&arena, "constant:rate=5,count=100", given), "settings");
        assert_true(number(settings, "chunk") == rows[i / 2].chunk);
        assert_true(number(settings, "max_seqs") == rows[i / 2].seats || (formula && rows[i / 2].seats == 1024));
        arena_free(&arena);
    }
}

/* Stages have equal shares, as the prediction has them, unless steps form as vLLM's. */
static void stages_are_as_predicted(void **state)
{
    (void)state;
    double tpot[2];
    for (int even = 0; even < 2; even++) {
        struct arena arena = { 0 };
        const struct given given[] = {
            { "model", "kimi-k2" }, { "on", "b200-sxm" }, { "gpus", "16" }, { "tp", "4" }, { "pp", "4" },
            { "set", even ? "step_scale=1" : "stages_even=0" }, { 0 } };
        tpot[even] = number(doc_get(ask(&arena, "constant:rate=4,count=300,input=1000,output=300", given), "tpot"), "mean");
        arena_free(&arena);
    }
    assert_true(tpot[1] < 0.7 * tpot[0]);
    assert_float_equal(tpot[1], 14.1e-3, 1.4e-3);       /* as eval predicted_tpot has it at this rate */
}

/* A lone transfer takes the time of the row, and is in TTFT or in TPOT. Workers have links of their own: as many
 * transfers as there are workers take the time of one. */
static void transfers_are_as_predicted(void **state)
{
    (void)state;
    enum { AFTER, BEFORE, SLOW, WORKERS, RUNS };
    static const char *const sets[RUNS] = { "first_token_after_transfer=1", "first_token_after_transfer=0",
                                            "kv_transfer_efficiency=0.01", "kv_transfer_efficiency=0.01" };
    double ttft[RUNS], tpot[RUNS], moved[RUNS];
    for (int i = 0; i < RUNS; i++) {
        struct arena arena = { 0 };
        const struct given given[] = {
            { "model", "llama-3.1-8b" }, { "on", "h100-sxm" }, { "gpus", "1" }, { "prefill-gpus", "1" }, { "engine", "any" },
            { "prefill-replicas", i == WORKERS ? "8" : "1" }, { "router", "round-robin" }, { "link", "50GB/s" },
            { "set", sets[i] }, { 0 } };
        const struct doc *doc = ask(&arena, i == WORKERS ? "constant:rate=4,count=100,input=4000,output=100"
                                                          : "constant:rate=0.5,count=100,input=4000,output=100", given);
        ttft[i] = number(doc_get(doc, "ttft"), "mean");
        tpot[i] = number(doc_get(doc, "tpot"), "mean");
        moved[i] = number(doc, "move_time");
        arena_free(&arena);
    }
    assert_float_equal(moved[SLOW], 0.02766 + 4000 * 131072 / 0.5e9, 1e-3);
    assert_float_equal(ttft[AFTER] - ttft[BEFORE], moved[AFTER], 1e-3);
    assert_float_equal((tpot[BEFORE] - tpot[AFTER]) * 99, moved[BEFORE], 1e-3);
    assert_float_equal(moved[WORKERS], moved[SLOW], 1e-3);
}

/* A replica that reads a prompt has it left, by the rules of any engine: a pool of prefill replicas gets as many each. */
static void prompts_are_balanced(void **state)
{
    (void)state;
    static const char *const rules[] = { "vllm-v1", "sglang", "trtllm" };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        double ttft[2];
        for (int turns = 0; turns < 2; turns++) {
            struct arena arena = { 0 };
            const struct given given[] = {
                { "model", "llama-3.1-8b" }, { "on", "h100-sxm" }, { "gpus", "1" }, { "prefill-gpus", "1" },
                { "prefill-replicas", "4" }, { "scheduler", rules[i] }, { "router", turns ? "round-robin" : "least-tokens" },
                { "link-latency", "0s" }, { 0 } };
            const struct doc *doc = ask(&arena, "poisson:rate=22.4,count=2000,input=556,output=166,seed=1014", given);
            ttft[turns] = number(doc_get(doc, "ttft"), "mean");
            arena_free(&arena);
        }
        if (!(ttft[0] < 1.02 * ttft[1]))
            fail_msg("%s: %g by tokens left, %g in turn", rules[i], ttft[0], ttft[1]);
    }
}

/* A rank holds as many requests as by the rows, with windows and with states. */
static void caches_hold_what_the_rows_say(void **state)
{
    (void)state;
    static const char *const models[] = { "gemma-3-27b", "gpt-oss-20b", "nemotron-nano-12b-v2", "llama-3.1-8b" };
    static const char slots[] = "AT(kv_slots, slot_tokens = prompt_uncached + output_decoded)";
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct arena arena = { 0 };
        struct command command = { .verb = &verb_eval };
        struct answer answer = { .doc = doc_new(&arena, DOC_OBJECT), .text = { .arena = &arena }, .csv = { .arena = &arena } };
        struct error error;
        const struct given given[] = { { "model", models[i] }, { "on", "h200-sxm" }, { "gpus", "2" }, { "tp", "2" },
                                       { "max-batched-tokens", "2048" }, { 0 } };
        const struct doc *settings = doc_get(ask(&arena, "constant:rate=1,count=20,input=2000,output=300", given), "settings");
        command_put_word(&arena, &command, slots);
        for (const struct given *one = given; one->option; one++)
            command_set(&arena, &command, one->option, one->text);
        command_set(&arena, &command, "isl", "2000");
        command_set(&arena, &command, "osl", "300");
        if (!verb_eval.ask(&arena, &command, &answer, &error))
            fail_msg("%s: %s (%s)", models[i], error.what, error.hint);
        const double rows = number(doc_get(answer.doc, slots), "value");
        assert_float_equal(number(settings, "blocks") * number(settings, "block") / (2000 + 150), rows, 1e-3 * rows);
        arena_free(&arena);
    }
}

/* Users of equal requests keep their phases: outputs vary where the description leaves them open, and the answer says so. */
static void users_lose_their_phases(void **state)
{
    (void)state;
    static const struct { const char *trace, *users, *same, *note; } rows[] = {
        { "poisson:count=200", "8", "poisson:count=200,output=lognormal(200,cv=0.1)", "outputs vary" },
        { "gamma:output=50,seed=7,count=200", "8", "gamma:output=lognormal(50,cv=0.1),seed=7,count=200", "outputs vary" },
        { "constant:count=200", "8", NULL, "equal requests" },
        { "poisson:count=200,output=100..300", "8", NULL, NULL },
        { "poisson:count=200,output=1", "8", NULL, NULL },
        { "poisson:count=200", "1", "constant:count=200", NULL } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        const struct given given[] = { { "blocks", "28000" }, { "step-time", "10ms + 0.05ms*tokens" }, { "users", rows[i].users },
                                       { 0 } };
        const struct doc *doc = ask(&arena, rows[i].trace, given), *assumed = doc_get(doc, "assumed");
        if (!rows[i].note)
            assert_null(assumed);
        else
            assert_true(!strncmp(assumed->first->string, rows[i].note, strlen(rows[i].note)));
        if (rows[i].same)
            assert_true(number(doc, "output_rate") == number(ask(&arena, rows[i].same, given), "output_rate"));
        arena_free(&arena);
    }
}

/* Arrivals are drawn as --arrivals says, whatever the description's kind; a file has its own. */
static void arrivals_are_those_that_were_named(void **state)
{
    (void)state;
    static const struct { const char *trace, *arrivals, *same; } rows[] = {
        { "poisson:rate=5,count=500", "even", "constant:rate=5,count=500" },
        { "constant:rate=5,count=500", "random", "poisson:rate=5,count=500" },
        { "poisson:rate=5,count=500", "3", "gamma:cv=3,rate=5,count=500" },
        { "constant", "1", "poisson" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        struct given given[] = { { "blocks", "28000" }, { "step-time", "10ms + 0.05ms*tokens" }, { "arrivals", rows[i].arrivals },
                                 { 0 } };
        const double named = number(doc_get(ask(&arena, rows[i].trace, given), "ttft"), "mean");
        given[2] = (struct given){ 0 };
        assert_true(named == number(doc_get(ask(&arena, rows[i].same, given), "ttft"), "mean"));
        arena_free(&arena);
    }
}

/* --rate and --concurrency are the words of the description and of --users, for requests and for replicas. */
static void loads_have_the_words_of_other_verbs(void **state)
{
    (void)state;
    static const struct { const char *trace; struct given given[3]; } same[][2] = {
        { { "poisson:count=300", { { "rate", "780/min" }, { "replicas", "1" } } },
          { "poisson:count=300,rate=13", { { "replicas", "1" } } } },
        { { "gamma:count=300,turns=4", { { "rate", "12" }, { "replicas", "1" } } },
          { "gamma:count=300,turns=4,rate=3", { { "replicas", "1" } } } },
        { { "tests/fixtures/traces/plain.csv", { { "rate", "5" } } }, { "tests/fixtures/traces/plain.csv", { { 0 } } } },
        { { "poisson:count=300", { { "users", "600" } } }, { "poisson:count=300", { { "users", "600" }, { "replicas", "3" } } } },
        { { "poisson:count=300", { { "concurrency", "6" }, { "replicas", "3" } } },
          { "poisson:count=300", { { "users", "18" }, { "replicas", "3" } } } },
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct arena arena = { 0 };
        const struct doc *doc[2];
        for (int j = 0; j < 2; j++) {
            struct given given[8] = { { "model", "llama-3.1-8b" }, { "on", "h100-sxm" }, { "gpus", "1" },
                                      { "max-batched-tokens", "2048" } };
            memcpy(given + 4, same[i][j].given, sizeof same[i][j].given);
            doc[j] = ask(&arena, same[i][j].trace, given);
        }
        const char *const rate = "requests_per_s";
        if (strchr(same[i][0].trace, ':'))
            assert_true(number(doc_get(doc[0], "ttft"), "mean") == number(doc_get(doc[1], "ttft"), "mean") &&
                        number(doc[0], rate) == number(doc[1], rate));
        else
            assert_true(fabs(number(doc[0], rate) - 5) < 1e-9 && fabs(number(doc[1], rate) - 5) > 0.1);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_keep_the_law_of_little),
        cmocka_unit_test(users_may_begin_at_once),
        cmocka_unit_test(fewest_servers_do_not_depend_on_length),
        cmocka_unit_test(keys_are_no_rows),
        cmocka_unit_test(the_ends_of_the_band_are_runs),
        cmocka_unit_test(saturation_has_a_band),
        cmocka_unit_test(rules_and_times_are_one_engines),
        cmocka_unit_test(words_of_a_step_reach_the_servers),
        cmocka_unit_test(caches_hold_what_the_rows_say),
        cmocka_unit_test(users_lose_their_phases),
        cmocka_unit_test(prompts_are_balanced),
        cmocka_unit_test(transfers_are_as_predicted),
        cmocka_unit_test(stages_are_as_predicted),
        cmocka_unit_test(arrivals_are_those_that_were_named),
        cmocka_unit_test(loads_have_the_words_of_other_verbs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
