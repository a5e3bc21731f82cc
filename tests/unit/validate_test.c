/* plan --validate: the best is stable and within its limits where it is simulated; a layout that is not is tried at lower
 * loads; where none holds there is no best, and the answer says what was missed. */
#include "test.h"

#include "ask/ask.h"
#include "report/report.h"

#include <math.h>

static struct doc *ask(struct arena *arena, const char *words, int *status)
{
    struct command command = { .verbs = verbs };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    struct error error;
    char *given[64] = { "chalkline" };
    int count = 1;
    for (char *at = strtok(arena_copy(arena, words, strlen(words)), " "); at; at = strtok(NULL, " "))
        given[count++] = at;
    if (!command_read(arena, count, given, &command, &error) ||
        !command.verb->ask(arena, &command, &answer, &error))
        fail_msg("%s: %s (%s)", words, error.what, error.hint);
    *status = answer.status;
    return answer.doc;
}

static double number(const struct doc *doc, const char *name)
{
    const struct doc *found = doc_get(doc, name);
    if (!found || found->kind != DOC_NUMBER)
        fail_msg("%s is no number", name);
    return found->number;
}

/* What the answer promises of its best, it has simulated. */
static void the_best_holds(void **state)
{
    (void)state;
    static const struct { const char *words; double ttft, tpot; } plans[] = {
        { "plan llama-3.1-8b --on h100-sxm --gpus 2 --isl 1500 --osl 100 --ttft 500ms --tpot 30ms --validate 3", 0.5, 0.03 },
        { "plan qwen3-30b-a3b --on h200-sxm --gpus 1 --isl 500 --osl 100 --tpot 20ms --validate 2 --aggregated", 2, 0.02 },
        { "plan gemma-3-27b --on h100-sxm --gpus 2 --isl 2000 --osl 100 --validate 1 --aggregated --rate 3", 2, 0.05 } };
    for (size_t i = 0; i < COUNT(plans); i++) {
        struct arena arena = { 0 };
        int status;
        const struct doc *doc = ask(&arena, plans[i].words, &status);
        const struct doc *first = doc_get(doc, "validated")->first, *best = doc_get(doc, "best");
        double before = INFINITY;
        for (const struct doc *one = first; one; one = one->next) {
            const struct doc *verdict = doc_get(one, "verdict"), *confidence = doc_get(one, "confidence");
            const double goodput = number(one, "goodput_per_gpu");
            assert_true(goodput <= before);
            before = goodput;
            if (!(goodput > 0))
                continue;
            assert_string_equal(verdict->string, "stable");
            assert_true(doc_get(one, "steady")->boolean);
            assert_true(number(one, "ttft_mean") + number(confidence, "ttft_mean") <= plans[i].ttft);
            assert_true(number(one, "tpot_mean") + number(confidence, "tpot_mean") <= plans[i].tpot);
        }
        assert_string_equal(doc_get(best, "deployment")->string, doc_get(first, "deployment")->string);
        assert_true(number(best, "rate") == number(first, "rate"));
        assert_int_equal(status, 0);
        arena_free(&arena);
    }
}

/* Traffic that no layout of one GPU can take. */
static void there_is_no_best_that_misses(void **state)
{
    (void)state;
    static const struct { const char *traffic, *missed; } loads[] = {
        { "poisson:rate=40,count=8k,input=2k,output=200", "stability" },
        { "poisson:rate=2,count=4k,input=60k,output=20", "stability" },
        { "poisson:rate=1,count=8k,input=16k,output=100", "TTFT" } };
    for (size_t i = 0; i < COUNT(loads); i++) {
        struct arena arena = { 0 };
        int status;
        const struct doc *doc = ask(&arena, arena_print(&arena, "plan llama-3.1-8b --on h100-sxm --gpus 1 --isl 2000 "
                                    "--osl 200 --ttft 300ms --aggregated --validate 1 --traffic %s", loads[i].traffic), &status);
        const struct doc *first = doc_get(doc, "validated")->first;
        assert_int_equal(doc_get(doc, "best")->kind, DOC_NULL);
        assert_string_equal(doc_get(first, "missed")->string, loads[i].missed);
        assert_true(number(first, "goodput_per_gpu") == 0);
        if (!strcmp(loads[i].missed, "TTFT"))
            assert_true(number(first, "missed_value") > 0.3 && number(first, "missed_bound") == 0.3);
        assert_int_equal(status, 1);
        arena_free(&arena);
    }
}

/* Percentiles of TPOT by rows and in the simulator, which has 1 % wide classes; the median error is within 5 %. */
static void percentiles_of_tpot(void **state)
{
    (void)state;
    static const struct { const char *server, *lengths; int input, output; double rate; } loads[] = {
        { "llama-3.1-8b --on h100-sxm --gpus 1", "input=1000,output=200", 1000, 200, 10 },
        { "llama-3.1-8b --on h100-sxm --gpus 1", "input=4000,output=500", 4000, 500, 3 },
        { "llama-3.3-70b --on h100-sxm --gpus 4", "input=2000,output=300", 2000, 300, 2 },
        { "qwen3-32b --on h200-sxm --gpus 1", "input=500,output=1000", 500, 1000, 2 },
        { "gpt-oss-120b --on h100-sxm --gpus 2", "input=1000,output=500", 1000, 500, 5 } };
    double off[2 * COUNT(loads)];
    for (size_t i = 0; i < COUNT(loads); i++) {
        struct arena arena = { 0 };
        int status;
        const char *words = arena_print(&arena, "--model %s --engine vllm --chunked-prefill-size 2048 --replicas 1",
                                        loads[i].server);
        const struct doc *rows = ask(&arena, arena_print(&arena, "eval predicted_tpot_p95 predicted_tpot_p99 --isl %d "
                                     "--osl %d --rate %g --json %s", loads[i].input, loads[i].output, loads[i].rate, words),
                                     &status);
        const struct doc *run = ask(&arena, arena_print(&arena, "simulate poisson:rate=%g,count=8k,%s %s", loads[i].rate,
                                    loads[i].lengths, words), &status);
        const struct doc *tpot = doc_get(run, "tpot");
        for (size_t k = 0; k < 2; k++) {
            const double row = number(doc_get(rows, k ? "predicted_tpot_p99" : "predicted_tpot_p95"), "value");
            off[2 * i + k] = fabs(row / number(tpot, k ? "p99" : "p95") - 1);
        }
        print_message("%s: p95 off by %.1f %%, p99 by %.1f %%\n", loads[i].server, 100 * off[2 * i], 100 * off[2 * i + 1]);
        arena_free(&arena);
    }
    assert_true(sizes_quantile(off, COUNT(off), 0.5) < 0.05);
}

/* A limit with its percentile is asked for again by the answer's own words. */
static void limits_keep_their_percentile(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    int status;
    const struct doc *doc = ask(&arena, "plan llama-3.1-8b --on h100-sxm --gpus 1 --isl 1500 --osl 100 --tpot 20ms@p99 "
                                "--ttft 400ms@p95 --aggregated", &status);
    const struct doc *limits = doc_get(doc, "limits"), *best = doc_get(doc, "best");
    struct buffer words = { .arena = &arena };
    assert_true(number(limits, "tpot_limit") == 0.02 && number(limits, "tpot_limit_percentile") == 0.99);
    assert_true(number(limits, "ttft_limit") == 0.4 && number(limits, "ttft_limit_percentile") == 0.95);
    assert_true(number(doc_get(doc, "validated")->first, "ttft_at_limit") <= 0.4);
    for (const struct doc *word = doc_get(best, "words")->first; word; word = word->next)
        buffer_print(&words, " %s", word->string);
    const struct doc *again = ask(&arena, arena_print(&arena, "eval tpot_kept tpot_limit_percentile predicted_tpot%s",
                                                      words.data), &status);
    assert_true(number(doc_get(again, "tpot_limit_percentile"), "value") == 0.99);
    assert_true(number(doc_get(again, "predicted_tpot"), "value") == number(best, "predicted_tpot"));
    assert_true(number(doc_get(again, "tpot_kept"), "value") <= 0.02 * (1 + 1e-6));
    assert_true(number(doc_get(again, "tpot_kept"), "value") > number(best, "predicted_tpot"));
    arena_free(&arena);
}

/* What is told beside the best keeps a percentile too, and loads fall until one does. */
static void all_that_is_told_was_simulated(void **state)
{
    (void)state;
    static const char *const limits[] = { "200ms@p99 --tpot 20ms@p99", "100ms@p99" };
    for (size_t i = 0; i < COUNT(limits); i++) {
        struct arena arena = { 0 };
        int status;
        const struct doc *doc = ask(&arena, arena_print(&arena, "plan llama-3.1-8b --on h100-sxm --gpus 1 --isl 1000 "
                                                        "--osl 200 --ttft %s", limits[i]), &status);
        const struct doc *held = doc_get(doc, "validated")->first;
        assert_int_equal(status, 0);
        assert_true(number(held, "ttft_at_limit") <= number(doc_get(doc, "limits"), "ttft_limit"));
        assert_true(number(doc_get(doc, "simplest"), "rate") == number(held, "rate"));
        assert_true(number(doc_get(doc, "front")->first, "rate") == number(held, "rate") && !doc_get(doc, "front")->first->next);
        assert_true(i == 0 || number(held, "loads_above") > 4);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_best_holds),
                                        cmocka_unit_test(there_is_no_best_that_misses),
                                        cmocka_unit_test(percentiles_of_tpot),
                                        cmocka_unit_test(limits_keep_their_percentile),
                                        cmocka_unit_test(all_that_is_told_was_simulated) };
    return cmocka_run_group_tests_name("validate", tests, NULL, NULL);
}
