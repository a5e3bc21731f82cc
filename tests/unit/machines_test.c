/* One question of several machines: each answer is, letter by letter, the one that the verb gives for that machine alone;
 * what one machine cannot answer is its error; a name that is not known ends the question. */
#include "test.h"
#include "lines.h"

#include "ask/ask.h"

static bool answered(struct arena *arena, const char *line, struct answer *answer, struct error *error)
{
    const struct command *command = line_command(arena, line, error);
    *answer = (struct answer){ .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    return command && command_answer(arena, command, answer, error);
}

static const char *printed(struct arena *arena, const struct doc *doc)
{
    struct buffer out = { .arena = arena };
    doc_print(&out, doc);
    return out.data;
}

static void each_is_as_alone(void **state)
{
    (void)state;
    static const char *const machines[] = { "rtx-3060", "h100-sxm", "m3-max" };
    static const char *const questions[] = {
        "can qwen3-32b", "can qwen3-8b --context 20000 --precision Q8_0", "step qwen3-32b", "brief qwen3-8b --users 4",
        "eval predicted_tpot hbm_bandwidth --model qwen3-8b", "why predicted_tpot --model qwen3-8b", "tiers llama-3.1-8b",
        "curve bound_step batch=1..64 --model llama-3.1-8b", "solve users --where speed_per_user=8 --model llama-3.1-8b --gpus 1",
        "simulate poisson:rate=1,count=50 --model llama-3.1-8b", "lecture 2 --model qwen3-8b", "can llama-3.1-405b" };
    for (size_t q = 0; q < COUNT(questions); q++) {
        struct arena arena = { 0 };
        struct answer all, one;
        struct error error;
        bool any = false;
        const bool some = answered(&arena, arena_print(&arena, "%s --on rtx-3060,h100-sxm,m3-max", questions[q]), &all, &error);
        for (size_t m = 0; m < COUNT(machines); m++) {
            const struct doc *by = some ? doc_get(doc_get(all.doc, "by_machine"), machines[m]) : NULL;
            if (answered(&arena, arena_print(&arena, "%s --on %s", questions[q], machines[m]), &one, &error)) {
                assert_true(by && !strcmp(printed(&arena, by), printed(&arena, one.doc)));
                any |= one.status == 0;
            } else if (by) {
                assert_string_equal(doc_get(doc_get(by, "error"), "what")->string, error.what);
            }
        }
        if (some)
            assert_int_equal(all.status, !any);
        else
            assert_false(any);
        arena_free(&arena);
    }
}

static void lists(void **state)
{
    (void)state;
    static const struct { const char *line, *what; } wrong[] = {
        { "step qwen3-8b --on h100-sxm,rtx-9999", "unknown machine 'rtx-9999'" },
        { "step qwen3-8b --on h100-sxm,h100-sxm", "named twice" },
        { "step qwen3-8b --on ,", "names no machine" },
        { "step nosuch --on h100-sxm,b200", "unknown model 'nosuch'" },
        { "can qwen3-8b --on rtx-3060,rtx-4090 --emit ollama", "--emit is of one machine" } };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct arena arena = { 0 };
        struct answer answer;
        struct error error;
        if (answered(&arena, wrong[i].line, &answer, &error) || !strstr(error.what, wrong[i].what))
            fail_msg("%s: %s", wrong[i].line, error.what);
        arena_free(&arena);
    }
    struct arena arena = { 0 };
    struct answer answer;
    struct error error;
    assert_true(answered(&arena, "eval hbm_bandwidth --on all", &answer, &error));
    assert_int_equal(doc_get(answer.doc, "by_machine")->count, catalog_count(catalog_built_in(), CATALOG_MACHINE));
    assert_true(answered(&arena, "plan llama-3.1-8b --on h100-sxm,b200 --gpus 1", &answer, &error));
    assert_non_null(doc_get(answer.doc, "best"));               /* it plans with both, as before */
    arena_free(&arena);
}

/* What answers say: tokens that there is room for are whole, and the nearest deployment names each limit that it exceeds. */
static void sentences(void **state)
{
    (void)state;
    static const struct { const char *line, *says; } asked[] = {
        { "brief llama-3.1-8b --on rtx-3090", "room for 74,075 tokens, 18 sequences" },
        { "plan llama-3.3-70b --on h100-sxm --gpus 8 --isl 100000 --osl 500 --ttft 1s --tpot 5ms",
          "nearest, with TTFT relaxed to 6.68 x, TPOT by 167 %:" },
        { "plan llama-3.3-70b --on h100-sxm --gpus 8 --isl 8000 --osl 500 --ttft 150ms --tpot 20ms",
          "nearest, with TTFT relaxed by 132 %:" } };
    for (size_t i = 0; i < COUNT(asked); i++) {
        struct arena arena = { 0 };
        struct answer answer;
        struct error error;
        assert_true(answered(&arena, asked[i].line, &answer, &error));
        if (!strstr(answer.text.data, asked[i].says))
            fail_msg("%s lacks '%s':\n%s", asked[i].line, asked[i].says, answer.text.data);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_is_as_alone), cmocka_unit_test(lists), cmocka_unit_test(sentences) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
