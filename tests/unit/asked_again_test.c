/* Answers along a row, asked again.
 *
 * 1. Roots of `solve`: draw a model, a machine, an unknown and a quantity, and solve for a value that the quantity has
 *    nearby. `eval` with the words of each root and of each end of an interval gives the sides again: equal at a root.
 *    Some of them choose layout and load at each value, so that `eval` with the value alone gives the same.
 * 2. Points of `curve`, held and chosen: `eval` with the words of a point gives the same bits. With --choose `eval` with
 *    nothing but the value does too.
 * 3. The best deployment at each value of `plan --sweep`: `eval` with its words gives its rate and TPOT.
 * 4. A value that was chosen, or that is there by default, said aloud, changes no figure of the answer. */
#include "test.h"

#include "ask/ask.h"

#include <math.h>

enum { WORDS = 64 };

struct words {
    const char *at[WORDS];
    int count;
};

static void add(struct words *words, const char *word)
{
    assert_true(words->count < WORDS);
    words->at[words->count++] = word;
}

static struct words of(struct arena *arena, const char *line)
{
    struct words words = { { "chalkline" }, 1 };
    char *rest = arena_print(arena, "%s", line);
    for (const char *word; (word = strsep(&rest, " "));)
        if (*word)
            add(&words, word);
    return words;
}

static void add_list(struct words *words, const struct doc *list)
{
    assert_non_null(list);
    for (const struct doc *one = list->first; one; one = one->next)
        add(words, one->string);
}

/* The answer's document, or NULL where the question cannot be asked. */
static const struct doc *ask(struct arena *arena, const struct words *words)
{
    struct command command = { .verbs = verbs };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    struct error error = { .what = "" };
    char *given[WORDS];
    for (int i = 0; i < words->count; i++)
        given[i] = (char *)words->at[i];
    if (!command_read(arena, words->count, given, &command, &error) || !command.verb->ask(arena, &command, &answer, &error))
        return NULL;
    return answer.doc;
}

static double value_in(const struct doc *doc, const char *row)
{
    const struct doc *figure = doc ? doc_get(doc, row) : NULL, *value = figure ? doc_get(figure, "value") : NULL;
    return value && value->kind == DOC_NUMBER ? value->number : NAN;
}

/* ---- draws -------------------------------------------------------------------------------- */

static const char *const models[] = { "llama-3.1-8b", "llama-3.3-70b", "qwen3-32b", "qwen3-30b-a3b", "gpt-oss-120b",
                                      "deepseek-v3", "mixtral-8x7b", "gemma-3-27b" };
static const char *const machines[] = { "h100-sxm", "h200-sxm", "b200-sxm", "gb200-nvl72", "mi300x", "l40s" };
static const struct { const char *row; double low, high; bool of_load; } unknowns[] = {
    { "prompt_tokens", 500, 8000, false }, { "output_tokens", 100, 2000, false }, { "hbm_bandwidth", 1e12, 6e12, false },
    { "prefix_hit_share", 0.05, 0.9, false }, { "gpu_memory_utilization", 0.6, 0.95, false }, { "concurrency", 4, 200, false },
    { "users", 4, 400, true }, { "request_demand", 0.1, 20, true }, { "tokens_per_day", 1e6, 1e9, true },
    { "arrival_rate", 0.1, 5, true }, { "chips", 1, 5, true }, { "tensor_parallel", 1, 5, true },
    { "step_tokens", 512, 8192, false } };
static const char *const quantities[] = { "predicted_ttft", "predicted_tpot", "predicted_throughput", "predicted_e2e",
                                          "blended_cost_per_token", "predicted_energy_per_token", "step_time",
                                          "throughput_per_chip" };

struct question {
    const char *subject, *row, *quantity;
    double at;
    bool choose, of_load;
};

static struct question draw_question(struct arena *arena, uint64_t *state)
{
    const size_t u = (size_t)(draw(state) * COUNT(unknowns));
    struct question question = { .row = unknowns[u].row, .of_load = unknowns[u].of_load };
    question.subject = arena_print(arena, "--model %s --on %s", models[(size_t)(draw(state) * COUNT(models))],
                                   machines[(size_t)(draw(state) * COUNT(machines))]);
    question.quantity = quantities[(size_t)(draw(state) * COUNT(quantities))];
    question.at = unknowns[u].low * pow(unknowns[u].high / unknowns[u].low, draw(state));
    if (unknowns[u].low == 1)           /* a number of chips */
        question.at = floor(question.at);
    question.choose = draw(state) < 0.3;
    return question;
}

static double alone(struct arena *arena, const struct question *question, double x)
{
    const struct words words = of(arena, arena_print(arena, "eval %s %s --set %s=%.17g", question->quantity,
                                                     question->subject, question->row, x));
    return value_in(ask(arena, &words), question->quantity);
}

static double by_words(struct arena *arena, const struct question *question, const struct doc *list)
{
    struct words words = of(arena, arena_print(arena, "eval %s", question->quantity));
    add_list(&words, list);
    return value_in(ask(arena, &words), question->quantity);
}

/* ---- roots -------------------------------------------------------------------------------- */

static void roots_are_solutions(void **state)
{
    (void)state;
    const double near = 1e-6;
    uint64_t seed = 37;
    size_t roots = 0, chosen = 0, wrong = 0;
    for (int i = 0; i < rounds(24); i++) {
        struct arena arena = { 0 };
        struct question question = draw_question(&arena, &seed);
        question.choose &= !question.of_load;               /* the number of replicas jumps all along */
        const double wanted = alone(&arena, &question, question.at);
        const struct words words = of(&arena, arena_print(&arena, "solve %s --where %s=%.17g %s%s", question.row,
                                                          question.quantity, wanted, question.subject,
                                                          question.choose ? " --choose" : ""));
        const struct doc *answer = isfinite(wanted) ? ask(&arena, &words) : NULL;
        const struct doc *found = answer ? doc_get(answer, question.row) : NULL;
        if (found)
            assert_true(!question.choose || !doc_get(found, "held")->count);
        for (const struct doc *one = found ? doc_get(found, "intervals")->first : NULL; one; one = one->next) {
            const double low = doc_get(one, "low")->number;
            double at[] = { by_words(&arena, &question, doc_get(one, "words")), wanted };
            if (doc_get(one, "low_closed")->boolean && question.choose)
                at[1] = alone(&arena, &question, low);
            for (int k = 0; k < 2 && doc_get(one, "low_closed")->boolean; k++)
                if (!(fabs(at[k] / wanted - 1) < near)) {
                    print_message("%s = %.17g: %.17g, not %.17g: %s\n", question.row, low, at[k], wanted,
                                  question.subject);
                    wrong++;
                }
            roots++, chosen += question.choose;
        }
        arena_free(&arena);
    }
    print_message("%zu roots and intervals asked again, %zu of them with choices: %zu wrong\n", roots, chosen, wrong);
    assert_true(roots > (size_t)part_of(10));
    assert_int_equal(wrong, 0);
}

/* ---- curves ------------------------------------------------------------------------------- */

static void points_are_answers(void **state)
{
    (void)state;
    uint64_t seed = 38;
    size_t points = 0, chosen = 0, wrong = 0;
    for (int i = 0; i < rounds(16); i++) {
        struct arena arena = { 0 };
        const struct question question = draw_question(&arena, &seed);
        const struct words words = of(&arena, arena_print(&arena, "curve %s %s=%.17g..%.17g --points 6 %s%s",
                                                          question.quantity, question.row, question.at,
                                                          fmin(question.at * (question.at == 1 ? 4 : 1.5), strstr(question.row, "_share") ||
                                                               strstr(question.row, "_util") ? 0.99 : INFINITY),
                                                          question.subject, question.choose ? " --choose" : ""));
        const struct doc *answer = ask(&arena, &words), *list = answer ? doc_get(answer, "points") : NULL;
        for (const struct doc *one = list ? list->first : NULL; one; one = one->next) {
            const struct doc *value = doc_get(one, question.quantity);
            const double x = doc_get(one, question.row)->number;
            const double y = value->kind == DOC_NUMBER ? value->number : NAN;
            const double again = by_words(&arena, &question, doc_get(one, "words"));
            if (!same_bits(again, y) || (question.choose && !same_bits(alone(&arena, &question, x), y))) {
                print_message("%s = %.17g: %.17g, not %.17g: %s\n", question.row, x, again, y, question.subject);
                wrong++;
            }
            points++, chosen += question.choose;
        }
        arena_free(&arena);
    }
    print_message("%zu points asked again, %zu of them with choices: %zu wrong\n", points, chosen, wrong);
    assert_true(points > (size_t)part_of(30));
    assert_int_equal(wrong, 0);
}

static void swept_plans_are_answers(void **state)
{
    (void)state;
    static const char *const questions[] = {
        "plan llama-3.3-70b --on h100-sxm --sweep prompt_tokens=1000,8000",
        "plan qwen3-32b --on h200-sxm --sweep deployment_chips=8,16 --aggregated" };
    for (size_t i = 0; i < COUNT(questions); i++) {
        struct arena arena = { 0 };
        const struct words words = of(&arena, questions[i]);
        const struct doc *answer = ask(&arena, &words);
        assert_non_null(answer);
        for (const struct doc *one = doc_get(answer, "sweep")->first; one; one = one->next) {
            const bool pools = strstr(doc_get(one, "deployment")->string, " prefill + ");
            const char *rows[] = { pools ? "disagg_tpot" : "predicted_tpot", "rate" }, *keys[] = { "tpot", "rate" };
            for (int k = 0; k < 2; k++) {
                const struct question question = { .quantity = rows[k] };
                assert_true(same_bits(by_words(&arena, &question, doc_get(one, "words")), doc_get(one, keys[k])->number));
            }
        }
        arena_free(&arena);
    }
}

/* ---- said aloud --------------------------------------------------------------------------- */

/* Numbers of the answer that are its figures. */
static size_t differences(const struct doc *a, const struct doc *b)
{
    size_t count = 0;
    for (const struct doc *one = a->first; one; one = one->next) {
        const struct doc *other = one->key ? doc_get(b, one->key) : NULL;
        if (one->kind == DOC_NUMBER && other && other->kind == DOC_NUMBER && !same_bits(one->number, other->number)) {
            print_message("  %s: %.17g, not %.17g\n", one->key, other->number, one->number);
            count++;
        }
        if (one->kind == DOC_OBJECT && other && other->kind == DOC_OBJECT)
            count += differences(one, other);
    }
    return count;
}

/* A size of the layout that `step` chose. */
static void chosen_sizes_change_nothing(void **state)
{
    (void)state;
    static const char *const options[] = { "--gpus", "--dp", "--pp", "--ep", "--chunked-prefill-size" };
    uint64_t seed = 39;
    size_t asked = 0, wrong = 0;
    for (int i = 0; i < rounds(12); i++) {
        struct arena arena = { 0 };
        const char *model = models[(size_t)(draw(&seed) * COUNT(models))];
        const char *line = arena_print(&arena, "step %s --on %s%s", model, machines[(size_t)(draw(&seed) * COUNT(machines))],
                                       draw(&seed) < 0.3 ? " --rate 2" : "");
        const char *option = options[(size_t)(draw(&seed) * COUNT(options))];
        struct words words = of(&arena, line);
        const struct doc *answer = ask(&arena, &words), *said = answer ? doc_get(answer, "words")->first : NULL;
        while (said && strcmp(said->string, option))
            said = said->next;
        if (said) {
            add(&words, option), add(&words, said->next->string);
            const struct doc *again = ask(&arena, &words);
            const size_t found = again ? differences(answer, again) : 1;
            if (found)
                print_message("%s, said aloud: %s %s\n", line, option, said->next->string);
            wrong += found > 0, asked++;
        }
        arena_free(&arena);
    }
    print_message("%zu chosen sizes said aloud: %zu change a figure\n", asked, wrong);
    assert_true(asked > (size_t)part_of(5));
    assert_int_equal(wrong, 0);
}

/* Words that an answer has by default: the usual scheduler, no drafts, limits. */
static void defaults_change_nothing(void **state)
{
    (void)state;
    static const struct { const char *line, *said; } defaults[] = {
        { "simulate poisson:count=200,rate=3 --model gemma-3-27b --on gb300-nvl72 --gpus 1", "--scheduler vllm-v1" },
        { "simulate poisson:count=200 --model llama-3.1-8b --on h100-sxm", "--draft 0" },
        { "simulate poisson:count=200 --model llama-3.1-8b --on h100-sxm --engine sglang", "--draft 0" },
        { "bill agent --own llama-3.1-8b --on h100-sxm", "--tpot 50ms" },
    };
    for (size_t i = 0; i < COUNT(defaults); i++) {
        struct arena arena = { 0 };
        const struct words words = of(&arena, defaults[i].line);
        const struct words more = of(&arena, arena_print(&arena, "%s %s", defaults[i].line, defaults[i].said));
        const struct doc *answer = ask(&arena, &words), *again = ask(&arena, &more);
        if (!answer || !again || differences(answer, again))
            fail_msg("%s %s", defaults[i].line, defaults[i].said);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(roots_are_solutions), cmocka_unit_test(points_are_answers),
                                        cmocka_unit_test(swept_plans_are_answers),
                                        cmocka_unit_test(chosen_sizes_change_nothing),
                                        cmocka_unit_test(defaults_change_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
