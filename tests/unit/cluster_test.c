/* Clusters of servers, and the intervals that are made of them: names, the chance to meet a limit beside tables of the
 * normal distribution, no interval beyond the bound, and a benchmark's file in the place of a calibration. */
#include "test.h"

#include "ask/ask.h"
#include "build/row_names.h"
#include "scenario/cluster.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* The words of a command, separated by single spaces. */
static void read_command(struct arena *arena, const char *line, struct command *command)
{
    char *words[64], *rest = arena_copy(arena, line, strlen(line));
    struct error error;
    int count = 0;
    *command = (struct command){ .verbs = verbs };
    for (char *word; count < 64 && (word = strsep(&rest, " "));)
        words[count++] = word;
    if (!command_read(arena, count, words, command, &error))
        fail_msg("%s: %s", line, error.what);
}

static const struct doc *ask(struct arena *arena, const char *line)
{
    struct command command;
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    struct error error;
    read_command(arena, line, &command);
    if (!command_answer(arena, &command, &answer, &error))
        fail_msg("%s: %s", line, error.what);
    return answer.doc;
}

static double value(const struct doc *doc, const char *row)
{
    const struct doc *figure = doc_get(doc, row);
    return figure ? doc_get(figure, "value")->number : NAN;
}

/* What differs in name alone is one cluster; what nobody measured is none. */
static void clusters_are_named(void **state)
{
    static const struct { const char *words, *name; bool measured; } cases[] = {
        { "deepseek-r1 --on b200 --engine sglang --precision fp4", "deepseek-v3 b200-sxm sglang fp4", true },
        { "deepseek-v3.1 --on b200-sxm --engine sglang --experts-precision nvfp4", "deepseek-v3 b200-sxm sglang fp4", true },
        { "deepseek-v3 --on b200 --engine sglang", "deepseek-v3 b200-sxm sglang fp8", true },
        { "llama-3.3-70b --on h100-sxm --engine vllm@0.12.0 --precision fp8", "llama-3.1-70b h100-sxm vllm fp8", true },
        { "llama-3.3-70b --on h100-sxm --engine vllm-0.13 --precision fp8", "llama-3.1-70b h100-sxm vllm fp8", true },
        { "kimi-k2.5 --on b200 --engine vllm", "kimi-k2.5 b200-sxm vllm int4", true },
        { "qwen3-32b --on h100-sxm --engine trtllm", "qwen3-32b h100-sxm trtllm bf16", false },
        { "llama-3.1-70b --on mi300x --engine vllm", "llama-3.1-70b mi300x vllm bf16", false },
        { "llama-3.1-70b --on h100-sxm", NULL, false } };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct command command;
        struct scenario scenario;
        struct error error;
        struct subject subject;
        read_command(&arena, arena_print(&arena, "chalkline step %s", cases[i].words), &command);
        if (!command_pair(&command, &subject, &error) || !scenario_read(&scenario, &arena, &command, subject, &error))
            fail_msg("%s: %s", cases[i].words, error.what);
        const char *name = cluster_name(&scenario);
        if ((name && cases[i].name) ? strcmp(name, cases[i].name) : name != cases[i].name)
            fail_msg("%s: %s", cases[i].words, name ? name : "no name");
        const struct fact *measured = facts_find(&scenario.facts, NAME_cluster_measured);
        assert_true(measured && (measured->value > 0) == cases[i].measured);
        arena_free(&arena);
    }
}

/* Abramowitz and Stegun, table 26.1: the normal distribution at these deviations. */
static void chances_are_normal(void **state)
{
    static const struct { double at, share; } table[] = {
        { 0, 0.5 }, { 0.5, 0.6914625 }, { 1, 0.8413447 }, { 1.5, 0.9331928 }, { 2, 0.9772499 }, { 2.5, 0.9937903 },
        { 3, 0.9986501 }, { -1, 0.1586553 }, { -2, 0.0227501 } };
    (void)state;
    for (size_t i = 0; i < COUNT(table); i++) {
        struct arena arena = { 0 };
        const double low = 0.7, high = 1.6, end = 1.2815516;
        const double spread = table[i].at < 0 ? -log(low) / end : log(high) / end;
        const struct doc *doc = ask(&arena, arena_print(&arena, "chalkline eval chance --set chance_ratio=%.12f --set "
                                                        "chance_low=0.7 --set chance_high=1.6", exp(table[i].at * spread)));
        if (!(fabs(value(doc, "chance") - table[i].share) < 3e-4))
            fail_msg("%g deviations: %.6f where the table has %.6f", table[i].at, value(doc, "chance"), table[i].share);
        arena_free(&arena);
    }
}

/* A limit at the ends of the interval is met by one server in ten and by nine. */
static void ends_are_nine_in_ten(void **state)
{
    static const char *const servers[] = {
        "--model qwen3-32b --on h100-sxm --tp 2 --gpus 2 --engine vllm --concurrency 16 --isl 1024 --osl 256",
        "--model llama-3.1-70b --on mi300x --tp 4 --gpus 4 --engine vllm --concurrency 200 --isl 2048 --osl 512 --chunked-prefill-size 2048",
        "--model deepseek-v3 --on gb300-nvl72 --gpus 8 --tp 8 --dp 1 --pp 1 --ep 8 --replicas 1 --engine trtllm --rate 3 --isl 4096 --osl 1024 --chunked-prefill-size 2048" };
    (void)state;
    for (size_t i = 0; i < COUNT(servers); i++)
        for (int high = 0; high < 2; high++) {
            struct arena arena = { 0 };
            const struct doc *doc = ask(&arena, arena_print(&arena, "chalkline eval predicted_tpot tpot_band_low "
                                                            "tpot_band_high tpot_bound %s", servers[i]));
            const double limit = value(doc, "predicted_tpot") * value(doc, high ? "tpot_band_high" : "tpot_band_low");
            assert_true(limit >= value(doc, "tpot_bound") * (1 - 1e-12));
            doc = ask(&arena, arena_print(&arena, "chalkline eval tpot_chance %s --tpot %.12fms", servers[i], 1e3 * limit));
            if (!(fabs(value(doc, "tpot_chance") - (high ? 0.9 : 0.1)) < 5e-4))
                fail_msg("%s: %g at the %s end", servers[i], value(doc, "tpot_chance"), high ? "upper" : "lower");
            arena_free(&arena);
        }
}

/* One band is measured, and narrower wherever it is drawn. The interval ends at the bound where that is nearer. */
static void intervals_end_at_the_bound(void **state)
{
    struct arena arena = { 0 };
    static const char *const server = "--model llama-3.1-8b --on h100-sxm --gpus 1 --engine vllm --isl 512 --osl 512";
    (void)state;
    for (int users = 1; users <= 256; users *= 4) {
        const struct doc *doc = ask(&arena, arena_print(&arena, "chalkline eval predicted_tpot tpot_band_low tpot_bound %s "
            "--concurrency %d --set tpot_scatter_low=0.02 --set tpot_low=0.02", server, users));
        const double low = value(doc, "predicted_tpot") * value(doc, "tpot_band_low"), bound = value(doc, "tpot_bound");
        if (!(fabs(low / bound - 1) < 1e-12))
            fail_msg("%d users: an interval from %g, the bound is %g", users, low, bound);
    }
    arena_free(&arena);
}

/* A file of measurements calibrates as the calibration that `calibrate` makes of it. */
static void a_benchmark_calibrates(void **state)
{
    static const char *const server = "qwen3-32b --on h100-sxm --engine vllm --gpus 2 --tp 2 --isl 1024 --osl 256";
    static const char *const rows[] = { NAME_predicted_tpot, NAME_predicted_ttft };
    struct arena arena = { 0 };
    char folder[] = "/tmp/cluster_test.XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    const char *bench = arena_print(&arena, "%s/bench.csv", folder), *made = arena_print(&arena, "%s/made.csv", folder);
    FILE *out = fopen(bench, "w");
    assert_non_null(out);
    fprintf(out, "model,machine,chips,tensor_parallel,engine,prompt_tokens,output_tokens,concurrency,predicted_tpot,"
                 "predicted_ttft\nqwen3-32b,h100-sxm,2,2,vllm,1024,256,16,30ms,400ms\n");
    fclose(out);
    ask(&arena, arena_print(&arena, "chalkline calibrate %s -o %s", bench, made));
    const struct doc *one = ask(&arena, arena_print(&arena, "chalkline step %s --concurrency 48 --calibration %s", server, bench));
    const struct doc *other = ask(&arena, arena_print(&arena, "chalkline step %s --concurrency 48 --calibration %s", server, made));
    const struct doc *without = ask(&arena, arena_print(&arena, "chalkline step %s --concurrency 48", server));
    /* a file that does not say its machine is no measurement of two */
    const char *bare = arena_print(&arena, "%s/bare.csv", folder);
    out = fopen(bare, "w");
    assert_non_null(out);
    fprintf(out, "concurrency,isl,osl,tpot,ttft\n16,1024,256,30ms,400ms\n");
    fclose(out);
    ask(&arena, arena_print(&arena, "chalkline step %s --concurrency 48 --calibration %s", server, bare));
    const struct doc *both = doc_get(ask(&arena, arena_print(&arena, "chalkline step qwen3-32b --on h100-sxm,b200-sxm --engine vllm "
        "--gpus 2 --tp 2 --isl 1024 --osl 256 --concurrency 48 --calibration %s", made)), "by_machine");
    assert_int_equal(both->count, 2);
    struct command command;
    struct answer answer = { .doc = doc_new(&arena, DOC_OBJECT), .text.arena = &arena, .csv.arena = &arena };
    struct error error;
    read_command(&arena, arena_print(&arena, "chalkline step qwen3-32b --on h100-sxm,b200-sxm --engine vllm --calibration %s",
                                     bare), &command);
    assert_false(command_answer(&arena, &command, &answer, &error));
    assert_non_null(strstr(error.what, "--calibration"));
    unlink(bare);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_true(doc_get(one, rows[i])->number == doc_get(other, rows[i])->number);
        assert_true(doc_get(one, rows[i])->number > 1.1 * doc_get(without, rows[i])->number);
    }
    unlink(bench);
    unlink(made);
    rmdir(folder);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_are_named),
        cmocka_unit_test(chances_are_normal),
        cmocka_unit_test(ends_are_nine_in_ten),
        cmocka_unit_test(intervals_end_at_the_bound),
        cmocka_unit_test(a_benchmark_calibrates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
