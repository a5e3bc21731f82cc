/* `market`: an offer's margin by hand, the newest of two prices, prices of another unit, and the whole built-in market. */
#define _GNU_SOURCE
#include "test.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct doc *asked(struct arena *arena, const char *words)
{
    const char *program = getenv("CHALKLINE") ? getenv("CHALKLINE") : "build/gcc/chalkline";
    struct buffer out = { .arena = arena };
    struct doc *doc;
    struct error error;
    char piece[4096];
    FILE *pipe = popen(arena_print(arena, "%s %s --json 2>&1", program, words), "r");
    assert_non_null(pipe);
    buffer_add(&out, "", 0);
    for (size_t got; (got = fread(piece, 1, sizeof piece, pipe));)
        buffer_add(&out, piece, got);
    if (pclose(pipe) || !json_read(arena, "the answer", text_of(out.data), &doc, &error))
        fail_msg("%s\n%.600s", words, out.data);
    return doc;
}

static double value_at(const struct doc *doc, const char *key)
{
    const struct doc *found = doc_get(doc, key);
    if (!found)
        fail_msg("no %s", key);
    return found->kind == DOC_OBJECT ? doc_number(found, "value", NAN) : found->number;
}

static void near_to(double value, double expected)
{
    if (!(fabs(value / expected - 1) < 1e-9))
        fail_msg("%.12g instead of %.12g", value, expected);
}

/* Several lists in one: older prices before and behind a newer one, prices of another unit with and without others of their
 * model, and a model that is in no catalog. */
static const char list[] =
    "provider,model,fact,value,unit,source,date,mark\n"
    "a,qwen/qwen3-32b,input,0.01,USD/Mtoken,x,2025-01-01,\na,qwen/qwen3-32b,output,0.02,USD/Mtoken,x,2025-01-01,\n"
    "e,qwen3-8b,input,1000,USD/Mtoken,x,2026-01-01,\ne,qwen3-8b,output,3000,USD/Mtoken,x,2026-01-01,\n"
    "a,qwen3-32b,input,0.2,USD/Mtoken,x,2026-01-01,\na,qwen3-32b,output,0.8,USD/Mtoken,x,2026-01-01,\n"
    "a,qwen3-32b,cached_read,0.1,USD/Mtoken,x,2026-01-01,\n"
    "b,qwen3-32b,input,0.1,USD/Mtoken,x,2026-01-01,\nb,qwen3-32b,output,0.3,USD/Mtoken,x,2026-01-01,\n"
    "c,qwen3-32b,input,100000,USD/Mtoken,x,2026-01-01,\nc,qwen3-32b,output,300000,USD/Mtoken,x,2026-01-01,\n"
    "a,alibaba/qwen3-32b,input,0.02,USD/Mtoken,x,2025-06-01,\na,alibaba/qwen3-32b,output,0.02,USD/Mtoken,x,2025-06-01,\n"
    "d,no-such-model,input,1,USD/Mtoken,x,2026-01-01,\nd,no-such-model,output,1,USD/Mtoken,x,2026-01-01,\n";

static const struct doc *offer_of(const struct doc *answer, const char *seller)
{
    for (const struct doc *one = doc_get(answer, "offers")->first; one; one = one->next)
        if (!strcmp(doc_text(one, "seller", ""), seller))
            return one;
    return NULL;
}

static void check_margin(const struct doc *offer, double price)
{
    const double hits = 0.5, prompt = 3000, reply = 500;
    const struct doc *cost = doc_get(offer, "cost"), *margin = doc_get(offer, "margin");
    const double token = (prompt * value_at(cost, "input") + reply * value_at(cost, "output")
                          + hits * prompt * value_at(cost, "hit")) / (prompt + reply);
    assert_true(fabs(value_at(offer, "market_price") / price - 1) < 1e-12);
    assert_true(fabs(value_at(offer, "market_cost") / token - 1) < 1e-9);
    assert_true(fabs(value_at(offer, "margin") - (1 - token / price)) < 1e-9);
    assert_true(fabs(value_at(offer, "rent_at_zero") / (value_at(offer, "rent") * price / token) - 1) < 1e-9);
    assert_true(doc_number(margin, "low", NAN) < value_at(offer, "margin") && value_at(offer, "margin") < doc_number(margin, "high", NAN));
    for (const struct doc *cause = doc_get(offer, "margin_by")->first; cause; cause = cause->next) {
        assert_true(doc_number(cause, "low", value_at(offer, "margin")) >= doc_number(margin, "low", NAN));
        assert_true(doc_number(cause, "high", value_at(offer, "margin")) <= doc_number(margin, "high", NAN));
    }
}

static void margins_by_hand(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    char file[] = "/tmp/chalkline-market-XXXXXX.csv";
    const int descriptor = mkstemps(file, 4);
    assert_true(write(descriptor, list, sizeof list - 1) == (ssize_t)sizeof list - 1);
    close(descriptor);
    const char *question = arena_print(&arena, "market %s --on h100-sxm --isl 3000 --osl 500 --prefix-hit 0.5", file);
    const struct doc *answer = asked(&arena, question);
    unlink(file);
    check_margin(offer_of(answer, "a"), (1500 * 0.2e-6 + 1500 * 0.1e-6 + 500 * 0.8e-6) / 3500);
    check_margin(offer_of(answer, "b"), (3000 * 0.1e-6 + 500 * 0.3e-6) / 3500);      /* no price of hits: that of the input */
    assert_null(offer_of(answer, "c"));
    assert_null(offer_of(answer, "e"));
    assert_string_equal(doc_text(offer_of(answer, "a"), "since", ""), "2025-06-01");
    assert_int_equal(value_at(answer, "slips"), 2);
    assert_int_equal(value_at(answer, "unknown"), 1);
    assert_string_equal(doc_text(doc_get(answer, "offers")->first, "seller", ""), "a");      /* the highest margin first */
    arena_free(&arena);
}

/* `eval` of a row with the words of a deployment, and one more. */
static double evaluated(struct arena *arena, const struct doc *of, const char *row, const char *more)
{
    struct buffer words = { .arena = arena };
    buffer_print(&words, "eval %s %s", row, more);
    for (const struct doc *word = doc_get(of, "words")->first; word; word = word->next)
        buffer_print(&words, " '%s'", word->string);
    return value_at(asked(arena, words.data), row);
}

static void costs_are_those_of_eval(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    static const char *const questions[] = { "market gpt-oss-20b --on h100-sxm", "market --model llama-3.3-70b --on h200-sxm" };
    for (int i = 0; i < 2; i++) {
        const struct doc *offer = doc_get(asked(&arena, questions[i]), "offers")->first;
        assert_true(fabs(evaluated(&arena, offer, doc_text(offer, "input_row", ""), "") / 0.6 / value_at(doc_get(offer, "cost"), "input") - 1) < 1e-12);
        assert_true(fabs(evaluated(&arena, offer, "market_margin", "") - value_at(offer, "margin")) < 1e-12);
        assert_true(fabs(evaluated(&arena, offer, "zero_margin_rent", "") / value_at(offer, "rent_at_zero") - 1) < 1e-12);
    }
    arena_free(&arena);
}

/* 15 models at three sellers or more, none of whose prices is below the low end of its cost; some changed since July. */
static void whole_market(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const struct doc *answer = asked(&arena, sample_only() ? "market --on mi355x" : "market");
    size_t offers = 0, below = 0, changed = 0, models = 0;
    for (const struct doc *one = doc_get(answer, "offers")->first; one; one = one->next) {
        const char *model = doc_text(one, "model", "");
        size_t before = 0, sellers = 0;
        offers++;
        if (doc_get(one, "reason"))
            fail_msg("%s: %s", model, doc_text(one, "reason", ""));
        below += doc_get(one, "below_cost")->boolean;
        changed += doc_get(one, "change") && doc_number(doc_get(one, "change"), "output", 0) != 0;
        for (const struct doc *other = doc_get(answer, "offers")->first; other; other = other->next)
            if (!strcmp(doc_text(other, "model", ""), model)) {
                sellers++;
                before += other < one;
            }
        models += !before && sellers >= 3;
    }
    printf("  %zu offers, %zu models at three sellers or more, %zu below their cost, %zu changed\n", offers, models, below, changed);
    assert_true(models >= 15 && !below && changed > 5);
    arena_free(&arena);
}

/* Each price of each line is what `eval` says; a fast request is dearer, a slow one is not,
 * and nor is one without a limit. */
static void lines_of_a_schedule(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    static const struct { const char *kind, *hold; bool input; } kept[] = {
        { "hit", "--set hold_time=5min", false }, { "write_5m", "--set hold_time=5min", true }, { "write_1h", "--set hold_time=1h", true } };
    double base = NAN, before = NAN;
    size_t lines = 0;
    const struct doc *answer = asked(&arena, "market --schedule deepseek-v3 --on h200-sxm --gpus 16 --long 100000 --tpot 45ms --ttft 3s --isl 4000");
    for (const struct doc *line = doc_get(answer, "schedule")->first; line; line = line->next, lines++) {
        const char *tier = doc_text(line, "tier", "");
        assert_true(evaluated(&arena, line, doc_text(line, "input_row", ""), "") == value_at(line, "input"));
        assert_true(evaluated(&arena, line, doc_text(line, "output_row", ""), "") == value_at(line, "output"));
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            assert_true((kept[i].input ? value_at(line, "input") : 0) + evaluated(&arena, line, "cheapest_cost", kept[i].hold) ==
                        value_at(line, kept[i].kind));
        const double request = value_at(line, "token");
        if (!strcmp(tier, "fast"))
            assert_true(request > base);
        else
            assert_true(!strcmp(tier, "base") || request <= before);
        base = strcmp(tier, "base") ? base : request;
        before = strcmp(tier, "fast") ? request : before;
    }
    assert_int_equal(lines, 8);
    /* The lecture's six times the price and its half more for a long prompt, each beside the quotient of two lines. */
    const struct doc *first = doc_get(answer, "schedule")->first;
    size_t stated = 0;
    for (const struct doc *one = doc_get(answer, "stated")->first; one; one = one->next) {
        const char *ratio = doc_text(one, "ratio", "");
        if (doc_get(one, "said"))
            near_to(value_at(one, "factor"), value_at(one, "here") / value_at(one, "said"));
        if (!strcmp(ratio, "fast.token/base.token"))
            near_to(value_at(one, "here"), value_at(first->next, "over_base")), near_to(value_at(one, "said"), 6);
        if (!strcmp(ratio, "long.token/base.token"))
            near_to(value_at(one, "here"), value_at(first->next->next->next->next, "over_base")), near_to(value_at(one, "said"), 1.5);
        if (!strcmp(ratio, "base.output/base.input"))
            near_to(value_at(one, "here"), value_at(first, "output") / value_at(first, "input"));
        stated++;
    }
    assert_int_equal(stated, 8);
    for (const struct doc *line = first; line; line = line->next)
        assert_true(value_at(line, "token_low") < value_at(line, "token") && value_at(line, "token") < value_at(line, "token_high"));
    arena_free(&arena);
}

/* A closed model's margin is that of `deduce`, and its interval has the median. */
static void closed_models(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const struct doc *answer = asked(&arena, "market --model gpt-oss-20b --on h100-sxm --seller groq --closed");
    const struct doc *deduced = asked(&arena, "deduce prices --model gpt-5 --draws 100000");
    const struct doc *multiple = doc_get(doc_get(doc_get(doc_get(deduced, "gpt-5"), "quantities"), "price_margin"), "posterior");
    size_t count = 0;
    for (const struct doc *one = doc_get(answer, "closed")->first; one; one = one->next, count++) {
        assert_true(value_at(one, "margin_low") < value_at(one, "margin") && value_at(one, "margin") < value_at(one, "margin_high"));
        if (strcmp(doc_text(one, "model", ""), "gpt-5"))
            continue;
        assert_true(fabs(value_at(one, "margin") - (1 - 1 / value_at(multiple, "q50"))) < 1e-9);
        assert_true(fabs(value_at(one, "margin_low") - (1 - 1 / value_at(multiple, "q05"))) < 1e-9);
    }
    assert_true(count >= 8);
    arena_free(&arena);
}

/* DeepSeek's day in February 2025: 168e9 output tokens on 226.75 nodes of eight H800, 87,072 USD for 776e9 tokens. A request as
 * its tokens, hits and mean context imply, groups of 22 nodes, and the overlap of two batches are in the same overview. */
static void a_published_day(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const double rate = 168e9 / 86400 / (226.75 * 8), cost = 87072 / 776e9;
    const struct doc *best = doc_get(asked(&arena, "plan deepseek-v3 --on h800-sxm --gpus 176 --isl 4384 --osl 1211 --prefix-hit 0.5625"
        " --tpot 50ms --ttft 5s --price 2USD/h --set comm_overlap_share=1"), "best");
    printf("  %.3f of the rate, %.3f of the cost\n", value_at(best, "per_gpu") / rate,
           value_at(best, "pool_blended_cost_per_token") / cost);
    assert_true(fabs(value_at(best, "per_gpu") / rate - 1) < 0.15);
    assert_true(fabs(value_at(best, "pool_blended_cost_per_token") / cost - 1) < 0.15);
    arena_free(&arena);
}

/* The row of --watch with this figure: of a model, or on a machine. */
static const struct doc *disclosed(const struct doc *answer, const char *kind, const char *of)
{
    for (const struct doc *one = doc_get(answer, "disclosures")->first; one; one = one->next)
        if (!strcmp(doc_text(one, "kind", ""), kind) &&
            (!strcmp(doc_text(one, "of", ""), of) || (!*doc_text(one, "of", "") && !strcmp(doc_text(one, "on", ""), of))))
            return one;
    fail_msg("no %s of %s", kind, of);
    return NULL;
}

/* Each figure has a date, a source, a verdict and a statement of the lecture; what some imply follows by hand: 1e11 parameters of a
 * byte over 300 tokens of balance; a quarter of the price for five minutes; 3.75 USD an hour of storage over an input of 1.25. */
static void published_figures(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const struct doc *answer = asked(&arena, "market --watch"), *statements = doc_get(asked(&arena, "lecture"), "statements");
    size_t rows = 0;
    for (const struct doc *one = doc_get(answer, "disclosures")->first; one; one = one->next, rows++) {
        const struct doc *statement = statements->first;
        while (statement && strcmp(doc_text(statement, "id", ""), doc_text(one, "statement", "-")))
            statement = statement->next;
        if (!statement || !*doc_text(one, "source", "") || !*doc_text(one, "date", "") || !strcmp(doc_text(one, "verdict", ""), "open") ||
            !doc_get(one, "implied"))
            fail_msg("%s of %s, %s", doc_text(one, "kind", ""), doc_text(one, "who", ""), doc_text(one, "statement", ""));
    }
    assert_true(rows >= 60);
    near_to(value_at(disclosed(answer, "context_step", "claude-sonnet-4-5"), "implied"), 1e11 / (300 * 200000.));
    near_to(value_at(disclosed(answer, "context_step", "gpt-5.4"), "implied"), 1e11 / (300 * 272000.));
    near_to(value_at(disclosed(answer, "write_short_over_input", "claude-opus-4-7"), "implied"), 0.25 / 300);
    near_to(value_at(disclosed(answer, "write_long_over_input", "claude-opus-4-7"), "implied"), 0.75 / 3300);
    near_to(value_at(disclosed(answer, "storage_over_input", "gemini-2.5-pro"), "value"), 4.5 / 1.25 / 3600);
    near_to(value_at(disclosed(answer, "fast_speed", "claude-opus-5.5"), "implied"), 1 + 1.5 * 6 / 5);
    near_to(value_at(disclosed(answer, "experts_over_domain", "deepseek-v3"), "value"), 256 / 72.);
    for (const struct doc *pair = doc_get(answer, "pairs")->first; pair; pair = pair->next) {
        const double one = value_at(pair, "implied"), other = value_at(pair, "other_implied");
        assert_string_not_equal(doc_text(pair, "kind", ""), doc_text(pair, "other_kind", ""));
        near_to(value_at(pair, "factor"), one > other ? one / other : other / one);
    }
    arena_free(&arena);
}

/* A list of two dates: a price that fell to a quarter in a year comes before one that grew by half; one that is a thousand times the
 * older one is an error of units. The built-in lists have years. */
static void prices_move(void **state)
{
    (void)state;
    static const char *const days[] = { "2025-01-01", "2026-01-01" };
    static const double prices[][2] = { { 4, 1 }, { 1, 1.5 }, { 2, 2000 }, { 3, 3 } };
    struct arena arena = { 0 };
    struct buffer text = { .arena = &arena };
    char file[] = "/tmp/chalkline-moves-XXXXXX.csv";
    buffer_print(&text, "provider,model,fact,value,unit,source,date,mark\n");
    for (size_t k = 0; k < COUNT(prices); k++)
        for (size_t day = 0; day < COUNT(days); day++)
            for (int out = 0; out < 2; out++)
                buffer_print(&text, "s,%sm%zu,%s,%g,USD/Mtoken,x,%s,\n", day ? "" : "s/", k, out ? "output" : "input", prices[k][day], days[day]);
    const int descriptor = mkstemps(file, 4);
    assert_true(write(descriptor, text.data, text.size) == (ssize_t)text.size);
    close(descriptor);
    const struct doc *answer = asked(&arena, arena_print(&arena, "market %s --changes", file)), *first = doc_get(answer, "changes")->first;
    unlink(file);
    assert_true(value_at(answer, "moved") == 4 && value_at(answer, "unchanged") == 2 && value_at(answer, "slips") == 2);
    assert_string_equal(doc_text(first, "model", ""), "m0");
    near_to(value_at(first, "ratio"), 0.25);
    assert_true(fabs(value_at(first, "per_year") - 0.25) < 0.001);
    answer = asked(&arena, "market --changes");
    double before = INFINITY;
    size_t years = 0;
    for (const struct doc *one = doc_get(answer, "changes")->first; one; one = one->next) {
        const double ratio = value_at(one, "ratio"), factor = fabs(log(ratio));
        near_to(ratio, value_at(one, "after") / value_at(one, "before"));
        assert_true(factor <= before && factor > 0 && strcmp(doc_text(one, "from", ""), doc_text(one, "to", "")) < 0);
        before = factor;
        years += doc_get(one, "per_year") != NULL;
    }
    assert_true(years >= 4);
    arena_free(&arena);
}

/* A comparison turns where its figure is moved across, and so does a trigger's. */
static void comparisons_turn(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    static const struct { const char *kind, *of, *set, *verdict; } moved[] = {
        { "output_over_input", "gpt-5", "output_input_price=2.9", "contradicts" },
        { "output_over_input", "gpt-5", "output_input_price=3", "supports" },
        { "context_step", "claude-sonnet-4-5", "price_step_context=301000token", "contradicts" },
        { "hbm_price", "b200-sxm", "hbm_cost=90USD/GB", "supports" }, { "hbm_price", "b200-sxm", "hbm_cost=80USD/GB", "contradicts" },
        { "hit_over_input", "gpt-5", "hit_ratio=0.2", "contradicts" } };
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        const struct doc *answer = asked(&arena, arena_print(&arena, "market --watch --set %s", moved[i].set));
        assert_string_equal(doc_text(disclosed(answer, moved[i].kind, moved[i].of), "verdict", ""), moved[i].verdict);
    }
    const struct doc *answer = asked(&arena, "market --watch");
    size_t turned = 0, triggers = 0;
    for (const struct doc *one = doc_get(answer, "triggers")->first; one; one = one->next, triggers++) {
        const double left = value_at(one, "left"), right = value_at(one, "right");
        assert_int_equal(doc_get(one, "flipped")->boolean, left >= right);
        near_to(value_at(one, "distance"), left > right ? left / right : right / left);
        turned += left >= right;
    }
    assert_true(turned && turned < triggers);
    for (const struct doc *one = doc_get(answer, "memory")->first; one; one = one->next)
        for (int k = 0; k < 2; k++) {
            const char *name = k ? "fleet" : "share";
            assert_true(value_at(one, arena_print(&arena, "%s_low", name)) <= value_at(one, name));
            assert_true(value_at(one, name) <= value_at(one, arena_print(&arena, "%s_high", name)));
        }
    /* 72 GB200: 186 GiB of HBM at 15.1 USD/GB, 236 GB at 10.2, 16 TB of flash at 0.365; 52,083 USD a chip, 1.735 times in its place. */
    const struct doc *shares = doc_get(answer, "memory")->first;
    while (strcmp(doc_text(shares, "machine", ""), "gb200-nvl72"))
        shares = shares->next;
    const double flash = 16000 * 0.365;
    near_to(value_at(shares, "fleet"), (186 * 1.073741824 * 15.1 + 236 * 10.2 + flash) / (52083 * 1.735 + flash));
    near_to(value_at(doc_get(answer, "memory_today"), "memory_share_quoted"), 0.5);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(margins_by_hand), cmocka_unit_test(costs_are_those_of_eval),
                                        cmocka_unit_test(lines_of_a_schedule), cmocka_unit_test(a_published_day), cmocka_unit_test(closed_models),
                                        cmocka_unit_test(whole_market), cmocka_unit_test(published_figures), cmocka_unit_test(prices_move),
                                        cmocka_unit_test(comparisons_turn) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
