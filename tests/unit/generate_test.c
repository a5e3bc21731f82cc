/* Draws against published values and against their moments; traces from descriptions; the
 * columns of traces that name classes and sessions; and what is said of bad ones. */
#include "test.h"

#include "sim/traffic/generate.h"
#include "sim/traffic/trace_read.h"
#include "rows/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

/* ---- draws ---------------------------------------------------------------------------------- */

/* What O'Neill's check program prints for seed 42, sequence 54: bits, coins, rolls of a die. */
static void pcg_as_published(void **state)
{
    (void)state;
    static const uint32_t bits[] = { 0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                     0x83d2f293, 0xbfa4784b, 0xcbed606e };
    static const char coins[] = "HHTTTHTHHHTHTTTHHHHHTTTHHHTHTHTHTTHTTTHHHHHHTTTTHHTTTTTHTTTTTTTHT";
    struct random random;
    random_open(&random, 42, 54);
    for (size_t i = 0; i < COUNT(bits); i++)
        assert_int_equal(random_bits(&random), bits[i]);
    for (size_t i = 0; coins[i]; i++)
        assert_int_equal(random_bits(&random) % 2 ? 'H' : 'T', coins[i]);
}

struct moments {
    double count, sum, squares, cubes, fourths;
};

static void add(struct moments *m, double x)
{
    m->count++;
    m->sum += x;
    m->squares += x * x;
    m->cubes += x * x * x;
    m->fourths += x * x * x * x;
}

/* Draws are added less their expected mean, so that both are within four standard errors. */
static void check_moments(const char *name, const struct moments *m, double mean, double variance)
{
    double shift = m->sum / m->count, second = m->squares / m->count;
    double error = sqrt(variance / m->count);
    double spread = sqrt(fmax(m->fourths / m->count - second * second, 0) / m->count);
    print_message("%-18s mean %.5g, %.1f errors off; variance %.5g, %.1f errors off\n", name,
                  mean + shift, shift / fmax(error, 1e-300), second,
                  (second - variance) / fmax(spread, 1e-300));
    if (fabs(shift) > 4 * error || fabs(second - variance) > 4 * spread)
        fail_msg("%s: mean %g, not %g +- %g; variance %g, not %g +- %g", name, mean + shift, mean,
                 error, second, variance, spread);
}

enum { DRAWS = 400000 };

static double draw_kind(struct random *random, int kind, double a, double b)
{
    switch (kind) {
    case 0:  return random_uniform(random);
    case 1:  return random_exponential(random);
    case 2:  return random_normal(random);
    case 3:  return random_gamma(random, a);
    case 4:  return random_lognormal(random, a, b);
    case 5:  return random_geometric(random, a);
    default: return (double)random_below(random, (size_t)a);
    }
}

static const struct {
    const char *name;
    int kind;
    double a, b, mean, variance;
} kinds[] = {
    { "uniform", 0, 0, 0, 0.5, 1.0 / 12 },
    { "exponential", 1, 0, 0, 1, 1 },
    { "normal", 2, 0, 0, 0, 1 },
    { "gamma 0.1", 3, 0.1, 0, 0.1, 0.1 },
    { "gamma 0.9", 3, 0.9, 0, 0.9, 0.9 },
    { "gamma 1", 3, 1, 0, 1, 1 },
    { "gamma 7.5", 3, 7.5, 0, 7.5, 7.5 },
    { "gamma 1e4", 3, 1e4, 0, 1e4, 1e4 },
    { "lognormal 200 0.5", 4, 200, 0.5, 200, 1e4 },
    { "lognormal 1 0.01", 4, 1, 0.01, 1, 1e-4 },
    { "geometric 1", 5, 1, 0, 1, 0 },
    { "geometric 1.5", 5, 1.5, 0, 1.5, 0.75 },
    { "geometric 40", 5, 40, 0, 40, 1560 },
    { "below 6", 6, 6, 0, 2.5, 35.0 / 12 },
};

static void moments_are_right(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        struct moments moments = { 0 };
        struct random random;
        random_stream(&random, 2026, kinds[k].name, 0);
        for (int i = 0; i < DRAWS; i++) {
            double x = draw_kind(&random, kinds[k].kind, kinds[k].a, kinds[k].b);
            add(&moments, x - kinds[k].mean);
            assert_true(isfinite(x) && (kinds[k].kind == 2 || x >= 0));
        }
        check_moments(kinds[k].name, &moments, kinds[k].mean, kinds[k].variance);
    }
}

/* Sequences that differ in name or number only: no step of one goes with a step of the other. */
static void sequences_are_apart(void **state)
{
    (void)state;
    static const struct { const char *name; uint64_t number, seed; } others[] = {
        { "input", 0, 1 }, { "wait", 1, 0 }, { "input", 1, 0 }, { "wait", 0, 1 }, { "wait", 2, 0 },
        { "wait", 1ull << 63, 0 }, { "tiaw", 0, 0 }, { "wait", UINT64_MAX, 0 } };
    enum { LAGS = 3 };
    for (size_t k = 0; k < COUNT(others); k++)
        for (int lag = -LAGS; lag <= LAGS; lag++) {
            struct random a, b;
            double sum = 0;
            random_stream(&a, 0, "wait", 0);
            random_stream(&b, others[k].seed, others[k].name, others[k].number);
            for (int i = 0; i < lag; i++)
                random_uniform(&a);
            for (int i = 0; i < -lag; i++)
                random_uniform(&b);
            for (int i = 0; i < DRAWS / 8; i++)
                sum += 12 * (random_uniform(&a) - 0.5) * (random_uniform(&b) - 0.5);
            assert_true(fabs(sum) < 4.5 * sqrt(DRAWS / 8));
        }
}

/* ---- the same bits -------------------------------------------------------------------------- */

static uint64_t hash(uint64_t sum, uint64_t bits)
{
    return (sum ^ bits) * 0x100000001b3u;
}

static uint64_t hash_of(const struct trace *trace)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < trace->count; i++) {
        sum = hash(hash(hash(sum, bits_of(trace->arrival[i])), trace->prompt[i]), trace->output[i]);
        if (trace->before)
            sum = hash(hash(sum, trace->before[i]), trace->before[i] == UINT32_MAX
                                                        ? 0 : bits_of(trace->wait[i]));
        sum = hash(sum, trace->priority_class ? trace->priority_class[i] : 0);
    }
    return sum;
}

static void must(struct arena *arena, const char *words, struct trace *trace)
{
    struct error error;
    if (!generate_trace(arena, words, trace, &error))
        fail_msg("%s: %s; %s", words, error.what, error.hint);
}

/* Sums that gcc's program made; every compiler must make the same. */
static void same_bits_everywhere(void **state)
{
    (void)state;
    static const struct { const char *words; uint64_t sum; } cases[] = {
        { "poisson:count=5000", 0x0131aca8f57a274e },
        { "gamma:cv=3,count=5000,input=exponential(300),output=5..50", 0x1492c83e170268ac },
        { "gamma:cv=0.5,count=5000,output=lognormal(200,cv=1)", 0x345322df746ad8fd },
        { "poisson:rate=3,count=2000,turns=geometric(4),wait=exponential(30s),"
          "class=fast(1)|slow(9),seed=18446744073709551615", 0x9846d7e6b2db15aa },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct trace one, two;
        must(&arena, cases[i].words, &one);
        must(&arena, cases[i].words, &two);
        assert_int_equal(hash_of(&one), hash_of(&two));
        if (hash_of(&one) != cases[i].sum)
            fail_msg("%s: 0x%016llx", cases[i].words, (unsigned long long)hash_of(&one));
        arena_free(&arena);
    }
}

/* ---- descriptions --------------------------------------------------------------------------- */

static void check_gaps(const char *words, double rate, double cv)
{
    struct arena arena = { 0 };
    struct trace trace;
    struct moments gaps = { 0 };
    must(&arena, words, &trace);
    assert_true(trace.arrival[0] == 0);
    for (size_t i = 1; i < trace.count; i++)
        add(&gaps, (trace.arrival[i] - trace.arrival[i - 1]) * rate - 1);
    check_moments(words, &gaps, 1, cv * cv);
    arena_free(&arena);
}

static void arrivals_keep_their_rate(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    check_gaps("poisson:rate=300/min,count=100k", 5, 1);
    check_gaps("poisson:rate=5 req/s,count=100k", 5, 1);
    check_gaps("gamma:rate=20,count=100k,cv=2.5", 20, 2.5);
    check_gaps("gamma:rate=20,count=100k,cv=0.2", 20, 0.2);
    must(&arena, "constant:rate=8,count=1000", &trace);
    for (size_t i = 0; i < trace.count; i++)
        assert_true(trace.arrival[i] == (double)i / 8);
    must(&arena, "constant:rate=8,duration=2s", &trace);        /* what arrives at 2 s is out */
    assert_int_equal(trace.count, 16);
    must(&arena, "poisson:rate=10,duration=1h", &trace);
    assert_true(fabs((double)trace.count - 36000) < 4 * sqrt(36000));
    assert_true(trace.arrival[trace.count - 1] < 3600);
    arena_free(&arena);
}

static void check_lengths(const char *words, double mean, double variance)
{
    struct arena arena = { 0 };
    struct trace trace;
    struct moments moments = { 0 };
    const char *all = arena_print(&arena, "poisson:count=100k,output=%s", words);
    must(&arena, all, &trace);
    for (size_t i = 0; i < trace.count; i++) {
        add(&moments, trace.output[i] - mean);
        assert_int_equal(trace.prompt[i], 1000);
    }
    check_moments(words, &moments, mean, variance);
    assert_null(trace.before);
    assert_null(trace.priority_class);
    arena_free(&arena);
}

static void lengths_keep_their_mean(void **state)
{
    (void)state;
    check_lengths("uniform(1, 6)", 3.5, 35.0 / 12);
    check_lengths("100..300", 200, (201.0 * 201 - 1) / 12);
    check_lengths("exponential(2k)", 2000, 4e6);
    check_lengths("lognormal(500, cv = 0.6)", 500, 9e4);
}

/* Pairs of a file: those and no others, as often as each stands there. */
static void pairs_stay_together(void **state)
{
    (void)state;
    static const uint32_t pairs[][2] = { { 3772, 54 }, { 2015, 156 }, { 3858, 133 } };
    struct arena arena = { 0 };
    struct trace trace;
    double seen[COUNT(pairs)] = { 0 };
    must(&arena, "poisson:count=30k,lengths=tests/fixtures/traces/vidur-lengths.csv", &trace);
    for (size_t i = 0; i < trace.count; i++) {
        size_t k = 0;
        while (k < COUNT(pairs) && trace.prompt[i] != pairs[k][0])
            k++;
        assert_true(k < COUNT(pairs));
        assert_int_equal(trace.output[i], pairs[k][1]);
        seen[k]++;
    }
    for (size_t k = 0; k < COUNT(pairs); k++)
        assert_true(fabs(seen[k] - 1e4) < 4 * sqrt(3e4 * 2 / 9));
    must(&arena, "constant:count=10,lengths=tests/fixtures/traces/mooncake.jsonl.gz", &trace);
    assert_true(trace.prompt[0] == 700 || trace.prompt[0] == 900);
    must(&arena, "constant:count=10,lengths=tests/fixtures/traces/sessions.csv", &trace);
    must(&arena, "constant:count=10,lengths=tests/fixtures/traces/vllm-lengths.csv", &trace);
    arena_free(&arena);
}

/* The first turn of each request's session. */
static size_t root(const struct trace *trace, size_t i)
{
    while (trace->before && trace->before[i] != UINT32_MAX)
        i = trace->before[i];
    return i;
}

static void sessions_add_up(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct moments waits = { 0 }, turns = { 0 };
    must(&arena, "poisson:rate=2,count=20k,input=10..90,output=exponential(30),turns=geometric(4),"
                 "wait=exponential(0.5min),class=fast(1)|slow(9)", &trace);
    size_t *count = arena_array(&arena, trace.count, sizeof *count), fast = 0;
    for (size_t i = 0; i < trace.count; i++) {
        size_t before = trace.before[i];
        count[root(&trace, i)]++;
        assert_true(!i || trace.arrival[i] >= trace.arrival[i - 1]);
        if (before == UINT32_MAX) {
            assert_true(isnan(trace.wait[i]) && trace.prompt[i] >= 10 && trace.prompt[i] <= 90);
            fast += trace.priority_class[i] == 0;
            continue;
        }
        uint32_t new = trace.prompt[i] - trace.prompt[before] - trace.output[before];
        assert_true(before < i && new >= 10 && new <= 90);
        assert_true(trace.arrival[i] == trace.arrival[before] + trace.wait[i]);
        assert_int_equal(trace.priority_class[i], trace.priority_class[before]);
        add(&waits, trace.wait[i] - 30);
    }
    for (size_t i = 0; i < trace.count; i++)
        if (trace.before[i] == UINT32_MAX)
            add(&turns, (double)count[i] - 4);
    check_moments("waits", &waits, 30, 900);
    check_moments("turns", &turns, 4, 12);
    assert_true(turns.count == 20000);
    assert_int_equal(trace.priority_classes, 2);
    assert_string_equal(trace.class_names[1], "slow");
    assert_true(fabs((double)fast - 2000) < 4 * sqrt(20000 * 0.09));
    must(&arena, "constant:rate=1,count=3,turns=2,wait=2.5s", &trace);      /* 0 1 2 2.5 3.5 4.5 */
    static const uint32_t before[] = { UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, 1, 2 };
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(trace.before[i], before[i]);
    arena_free(&arena);
}

/* One thing changes and the others stay: of each session's turns, by its place among arrivals. */
static void check_stays(const char *a, const char *b, bool arrivals, bool prompts, bool outputs)
{
    struct arena arena = { 0 };
    struct trace one, two;
    must(&arena, arena_print(&arena, "poisson:rate=3,%s", a), &one);
    must(&arena, arena_print(&arena, "poisson:rate=3,%s", b), &two);
    size_t i = 0, k = 0, same = 0;
    for (;; i++, k++, same++) {
        while (i < one.count && root(&one, i) != i)
            i++;
        while (k < two.count && root(&two, k) != k)
            k++;
        if (i == one.count || k == two.count)
            break;
        if ((arrivals && one.arrival[i] != two.arrival[k]) ||
            (prompts && one.prompt[i] != two.prompt[k]) ||
            (outputs && one.output[i] != two.output[k]))
            fail_msg("%s, %s: session %zu differs", a, b, same);
    }
    assert_true(same >= 300);
    arena_free(&arena);
}

static void one_change_leaves_the_rest(void **state)
{
    (void)state;
#define DRAWN "input=exponential(500),output=lognormal(99,cv=1)"
    check_stays(DRAWN ",count=300", DRAWN ",count=900", true, true, true);
    check_stays(DRAWN ",count=300", DRAWN ",duration=1h", true, true, true);
    check_stays(DRAWN, DRAWN ",class=a|b", true, true, true);
    check_stays(DRAWN, DRAWN ",turns=geometric(5),wait=exponential(9s)", true, true, true);
    check_stays(DRAWN ",turns=3,wait=5s", DRAWN ",turns=3,wait=exponential(5s)", true, true, true);
    check_stays(DRAWN, "input=exponential(500),output=7", true, true, false);
    check_stays(DRAWN, "input=7,output=lognormal(99,cv=1)", true, false, true);
    check_stays(DRAWN, "lengths=tests/fixtures/traces/plain.csv", true, false, false);
}

/* Arrivals between two times. */
static double arrivals_in(const struct trace *trace, double from, double to)
{
    double count = 0;
    for (size_t i = 0; i < trace->count; i++)
        count += trace->arrival[i] >= from && trace->arrival[i] < to;
    return count;
}

/* Counts of a curve within four deviations of its integral: of a day from 2 to 10 per second the mean is 6, the
 * quarter about the peak has 2 + 8 * 121/128 and that about the trough 2 + 8 * 7/128; of a sheet, a triangle. */
static void rates_change(void **state)
{
    (void)state;
    static const struct { const char *words; double from, to, expected; } rows[] = {
        { "poisson:rate=2,peak=10,period=1h,duration=4h", 0, 14400, 6 * 14400 },
        { "poisson:rate=2,peak=10,period=1h,duration=4h", 1350, 2250, 900 * (2 + 8 * 121 / 128.0) },
        { "poisson:rate=2,peak=10,period=1h,duration=4h", 3150, 4050, 900 * (2 + 8 * 7 / 128.0) },
        { "poisson:rate=2,peak=2,period=1h,duration=1h", 0, 3600, 7200 },
        { "poisson:curve=tests/fixtures/traces/triangle.csv,count=1M", 0, 1000, 25000 },
        { "poisson:curve=tests/fixtures/traces/triangle.csv,count=1M", 0, 500, 12500 },
        { "poisson:curve=tests/fixtures/traces/triangle.csv,count=1M", 250, 750, 18750 },
        { "poisson:curve=tests/fixtures/traces/triangle.csv,count=1M", 1000, 1e9, 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct error error;
        if (!generate_trace(&arena, rows[i].words, &trace, &error))
            fail_msg("%s: %s", rows[i].words, error.what);
        const double count = arrivals_in(&trace, rows[i].from, rows[i].to);
        if (!(fabs(count - rows[i].expected) <= 4 * sqrt(rows[i].expected) + 1))
            fail_msg("%s: %.0f arrivals from %g to %g, expected %.0f", rows[i].words, count, rows[i].from, rows[i].to,
                     rows[i].expected);
        arena_free(&arena);
    }
}

static void bad_descriptions(void **state)
{
    (void)state;
    static const struct { const char *words, *what, *hint; } cases[] = {
        { "uniform:rate=3", "unknown description of requests 'uniform:rate=3'",
          "poisson, gamma or constant: poisson:rate=5,count=1000" },
        { "poisson:", "poisson: '' is not key=value", "key=value, with the keys rate, peak, period, curve, cv, "
          "count, duration, input or isl, output or osl, lengths, turns, wait or think, class, seed" },
        { "poisson:rate=1,", "poisson: '' is not key=value", NULL },
        { "poisson:rate", "poisson: 'rate' is not key=value", "did you mean rate=?" },
        { "poisson:rats=3", "poisson: unknown key 'rats'", "did you mean rate=?" },
        { "poisson:rate=1,rate=2", "poisson: rate is set twice", "once" },
        { "poisson:isl=1,input=2", "poisson: input is set twice", "once" },
        { "poisson:rate=5,peak=4", "poisson: invalid peak '4'", NULL },
        { "poisson:rate=5,period=1h", "poisson: period has no effect without peak", NULL },
        { "gamma:rate=5,peak=9", "gamma: peak has no effect without poisson", NULL },
        { "poisson:rate=5,curve=x.csv", "poisson: curve has no effect beside rate", NULL },
        { "poisson:curve=tests/fixtures/traces/plain.csv", "tests/fixtures/traces/plain.csv: no rates above 0",
          "the columns time and rate, in s and 1/s" },
        { "poisson:curve=/nowhere.csv", "/nowhere.csv: No such file or directory", NULL },
        { "poisson:rate=0", "poisson: invalid rate '0'",
          "1e-9 to 1e9: 5, 5/s, 300/min (sessions that arrive per second)" },
        { "poisson:rate=5/fortnight", "poisson: invalid rate '5/fortnight'", NULL },
        { "poisson:rate=5s", "poisson: invalid rate '5s'", NULL },
        { "poisson:rate=5/", "poisson: invalid rate '5/'", NULL },
        { "poisson:cv=2", "poisson: cv has no effect without gamma",
          "cv: gamma: deviation of the gaps between arrivals over their mean; arrivals= is the same" },
        { "gamma:cv=0", "gamma: invalid cv '0'", NULL },
        { "poisson:count=0", "poisson: invalid count '0'",
          "a whole number from 1 to 1e9 (number of sessions)" },
        { "poisson:count=1.5", "poisson: invalid count '1.5'", NULL },
        { "poisson:count=1001M", "poisson: invalid count '1001M'", NULL },
        { "poisson:count=3,duration=3s", "poisson: duration has no effect beside count",
          "duration: time during which sessions arrive, instead of count" },
        { "poisson:duration=0", "poisson: invalid duration '0'", NULL },
        { "poisson:input=0", "poisson: invalid input '0'", "a whole number, "
          "LOW..HIGH, exponential(MEAN) or lognormal(MEAN,cv=X), each from 1 to 10M (new tokens of a prompt; isl= is the same)" },
        { "poisson:input=300..100", "poisson: invalid input '300..100'", NULL },
        { "poisson:input=1.5..3", "poisson: invalid input '1.5..3'", NULL },
        { "poisson:input=normal(100, 10)", "poisson: invalid input 'normal(100, 10)'", NULL },
        { "poisson:output=lognormal(200,0.8)", "poisson: invalid output 'lognormal(200,0.8)'",
          NULL },
        { "poisson:output=lognormal(200,cv=-1)",
          "poisson: invalid output 'lognormal(200,cv=-1)'", NULL },
        { "poisson:output=exponential(200", "poisson: invalid output 'exponential(200'", NULL },
        { "poisson:output=200GB", "poisson: invalid output '200GB'", NULL },
        { "poisson:lengths=nothere.csv", "nothere.csv: No such file or directory", "" },
        { "poisson:lengths=nothere.csv,input=3", "poisson: lengths has no effect beside input",
          "lengths: pairs of lengths drawn from a file, instead of input and output" },
        { "poisson:lengths=tests/fixtures/bad/trace-zero.csv",
          "tests/fixtures/bad/trace-zero.csv:2: invalid length of a request '0'", NULL },
        { "poisson:turns=0", "poisson: invalid turns '0'",
          "a whole number or geometric(MEAN), from 1 to 10000 (requests per session)" },
        { "poisson:turns=2.5", "poisson: invalid turns '2.5'", NULL },
        { "poisson:turns=geometric(0.5)", "poisson: invalid turns 'geometric(0.5)'", NULL },
        { "poisson:wait=3s", "poisson: wait has no effect without turns",
          "wait: time from an answer to the next turn; think= is the same" },
        { "poisson:turns=2,wait=-3s", "poisson: invalid wait '-3s'", "a time, LOW..HIGH, "
          "exponential(MEAN) or lognormal(MEAN,cv=X), up to 1e6 s (time from an answer to the next turn; think= is the same)" },
        { "poisson:turns=2,wait=3 tokens", "poisson: invalid wait '3 tokens'", NULL },
        { "poisson:class=", "poisson: invalid class ''", "NAME(SHARE)|NAME(SHARE), at "
          "most 8: words of letters, digits, '-', '_' and '.' (classes, in proportion to their shares)" },
        { "poisson:class=a|a", "poisson: invalid class 'a|a'", NULL },
        { "poisson:class=a(0)|b", "poisson: invalid class 'a(0)|b'", NULL },
        { "poisson:class=a|b(1", "poisson: invalid class 'a|b(1'", NULL },
        { "poisson:class=a|", "poisson: invalid class 'a|'", NULL },
        { "poisson:class=a b", "poisson: invalid class 'a b'", NULL },
        { "poisson:class=a|b|c|d|e|f|g|h|i", "poisson: invalid class 'a|b|c|d|e|f|g|h|i'", NULL },
        { "poisson:seed=-1", "poisson: invalid seed '-1'",
          "a whole number below 2^64 (seed of the draws)" },
        { "poisson:seed=18446744073709551616", "poisson: invalid seed '18446744073709551616'",
          NULL },
        { "poisson:input=1e7,turns=20,count=1",
          "poisson: turn 10 of session 1 has a prompt of 100001800",
          "at most 100000000: fewer turns, or smaller numbers" },
        { "constant:rate=1e-9,count=3", "constant: turn 1 of session 3 has a time of 2000000000",
          "at most 1000000000: fewer turns, or smaller numbers" },
        { "poisson:count=10M,turns=2", "poisson: more than 10000000 requests",
          "a lower rate or count, a shorter duration, or fewer turns; more without turns, users and --requests, which keep each" },
        { "poisson:count=20M", "poisson: more than 10000000 requests", NULL },
        { "constant:rate=1e9,duration=1e9", "constant: more than 10000000 requests", NULL },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct error error;
        if (generate_trace(&arena, cases[i].words, &trace, &error))
            fail_msg("%s: is taken", cases[i].words);
        assert_string_equal(error.what, cases[i].what);
        if (cases[i].hint)
            assert_string_equal(error.hint, cases[i].hint);
        arena_free(&arena);
    }
    assert_true(generate_is("poisson") && generate_is("gamma:") && generate_is("constant:x"));
    assert_false(generate_is("poisson.csv") || generate_is("") || generate_is("./poisson:x"));
}

/* ---- names of other verbs, and changes ------------------------------------------------------ */

static bool same_trace(const struct trace *a, const struct trace *b)
{
    bool same = a->count == b->count && a->arrivals_cv2 == b->arrivals_cv2 && !a->wait == !b->wait;
    for (size_t i = 0; same && i < a->count; i++)
        same = same_bits(a->arrival[i], b->arrival[i]) && a->prompt[i] == b->prompt[i] && a->output[i] == b->output[i] &&
               (!a->wait || same_bits(a->wait[i], b->wait[i]));
    return same;
}

/* Names of options and of rows read as the keys do; a change draws what the changed words draw. */
static void words_of_other_verbs(void **state)
{
    (void)state;
    static const struct { const char *words, *as; struct generate_change change; } rows[] = {
        { "poisson:isl=300,osl=40", "poisson:input=300,output=40", { .rate = 0 } },
        { "poisson: prompt_tokens = exponential(300), output_tokens=9", "poisson:input=exponential(300),output=9", { .rate = 0 } },
        { "gamma:arrivals=3,turns=2,think=5s", "gamma:cv=3,turns=2,wait=5s", { .rate = 0 } },
        { "poisson:rate=2", "poisson:rate=2,input=300,output=lognormal(40,cv=1)",
          { .input = "300", .output = "lognormal(40,cv=1)" } },
        { "poisson:turns=4", "poisson:turns=4,rate=0.5", { .rate = 2 } },
        { "poisson:rate=3", "constant:rate=3", { .arrivals = true, .cv2 = 0 } },
        { "constant:rate=3", "gamma:rate=3,cv=2", { .arrivals = true, .cv2 = 4 } },
        { "poisson: seed = 5 ,rate=3", "poisson:rate=3,seed=8", { .seed = 3 } },
        { "poisson:seed=18446744073709551615", "poisson:seed=1", { .seed = 2 } },
        { "poisson:osl=1k", "poisson:osl=lognormal(1000,cv=0.1)", { .vary = true } },
        { "constant:osl=1k", "constant:osl=1k", { .vary = true } } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena arena = { 0 };
        struct trace one, two;
        struct error error;
        struct generate_change change = rows[i].change;
        must(&arena, rows[i].as, &two);
        if (!generate_changed(&arena, rows[i].words, &change, &one, &error))
            fail_msg("%s: %s", rows[i].words, error.what);
        if (!same_trace(&one, &two))
            fail_msg("%s and %s differ", rows[i].words, rows[i].as);
        arena_free(&arena);
    }
}

/* ---- columns of files ----------------------------------------------------------------------- */

/* A generated trace as the plain CSV, read again. */
static void columns_come_back(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace one, two;
    struct error error;
    struct buffer csv = { .arena = &arena };
    must(&arena, "gamma:count=500,input=exponential(99),turns=geometric(3),wait=0..9s,class=b|a(3)",
         &one);
    buffer_print(&csv, "wait,input,class,arrival,session,output\n");    /* in any order */
    for (size_t i = 0; i < one.count; i++) {
        if (root(&one, i) != i)
            buffer_print(&csv, "%.17g", one.wait[i]);
        buffer_print(&csv, ",%u,%s,%.17g,s%zu,%u\n", one.prompt[i],
                     one.class_names[one.priority_class[i]], one.arrival[i], root(&one, i),
                     one.output[i]);
    }
    if (!trace_parse(&arena, "csv", (struct text){ csv.data, csv.size }, 1, &two, &error))
        fail_msg("%s", error.what);
    assert_int_equal(one.count, two.count);
    assert_int_equal(two.priority_classes, 2);
    for (size_t i = 0; i < one.count; i++) {
        assert_true(same_bits(one.arrival[i], two.arrival[i]));
        assert_true(same_bits(one.wait[i], two.wait[i]));
        assert_int_equal(one.before[i], two.before[i]);
        assert_int_equal(one.prompt[i], two.prompt[i]);
        assert_int_equal(one.output[i], two.output[i]);
        assert_string_equal(one.class_names[one.priority_class[i]],
                            two.class_names[two.priority_class[i]]);
    }
    arena_free(&arena);
}

static void check_before(const char *file, size_t count, const uint32_t *before)
{
    struct arena arena = { 0 };
    struct trace trace;
    struct error error;
    if (!trace_read(&arena, arena_print(&arena, "tests/fixtures/traces/%s", file), 1, &trace, &error))
        fail_msg("%s", error.what);
    assert_int_equal(trace.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(trace.before[i], before[i]);
    arena_free(&arena);
}

static void sessions_are_read(void **state)
{
    (void)state;
    enum { NONE = UINT32_MAX };
    struct arena arena = { 0 };
    struct trace trace;
    struct error error;
    check_before("sessions.csv", 6, (const uint32_t[]){ NONE, NONE, 0, 1, NONE, 2 });
    check_before("burst.csv", 4, (const uint32_t[]){ NONE, NONE, NONE, 0 });
    check_before("turns.jsonl", 5, (const uint32_t[]){ NONE, NONE, 0, 0, 2 });
    assert_true(trace_read(&arena, "tests/fixtures/traces/sessions.csv", 2, &trace, &error));
    assert_true(trace.arrival[5] == 1.5 && trace.wait[2] == 15 && trace.wait[3] == 0);
    assert_true(isnan(trace.wait[0]) && isnan(trace.wait[5]));
    assert_int_equal(trace.priority_classes, 2);
    assert_string_equal(trace.class_names[0], "chat");
    assert_int_equal(trace.priority_class[3], 1);
    assert_true(trace_read(&arena, "tests/fixtures/traces/plain.csv", 1, &trace, &error));
    assert_true(!trace.before && !trace.wait && !trace.priority_class && !trace.priority_classes);
    assert_true(trace_read(&arena, "tests/fixtures/traces/qwen.jsonl", 1, &trace, &error));
    assert_true(!trace.before && !trace.wait);
    assert_true(trace_read(&arena, "tests/fixtures/traces/zone.csv", 1, &trace, &error));
    assert_true(fabs(trace.arrival[2] - 1.49007) < 1e-9);
    arena_free(&arena);
}

/* Many sessions, more than fit where the table begins; words that differ in their last letter. */
static void many_sessions(void **state)
{
    (void)state;
    enum { ALL = 20000 };
    struct arena arena = { 0 };
    struct trace trace;
    struct error error;
    struct buffer csv = { .arena = &arena };
    buffer_print(&csv, "arrival,input,output,session\n");
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < ALL; i++)
            buffer_print(&csv, "%d,1,1,user-%d\n", turn, turn ? ALL - 1 - i : i);
    assert_true(trace_parse(&arena, "csv", (struct text){ csv.data, csv.size }, 1, &trace, &error));
    for (uint32_t i = 0; i < ALL; i++) {
        assert_int_equal(trace.before[i], UINT32_MAX);
        assert_int_equal(trace.before[ALL + i], ALL - 1 - i);
    }
    arena_free(&arena);
}

static void bad_traces(void **state)
{
    (void)state;
    static const struct { const char *text, *what, *hint; } cases[] = {
        { "arrival,input,output\n0,10,1\n2,10,1\n1.5,10,1\n",
          "csv:4: arrives 0.5 s before the request above it",
          "requests in order of arrival" },
        { "arrival,input,output\n0,10,1\n1e10,10,1\n",
          "csv:3: arrives 1e+10 s after the first request", "a trace of at most 1000000000 s" },
        { "when,prompt,output\n0,10,1\n",
          "csv: no trace that is understood: 3 columns, the first 'when'",
          "the columns TIMESTAMP,ContextTokens,GeneratedTokens (Azure), Timestamp,Request tokens,"
          "Response tokens (BurstGPT), arrived_at,num_prefill_tokens,num_decode_tokens (Vidur) or "
          "arrival,input,output[,class][,session][,wait]; or JSON lines as Mooncake's" },
        { "arrival,input,output\n0,1e30,1\n", "csv:2: invalid length of a request '1e30'",
          "a whole number of tokens from 1 to 100000000" },
        { "arrival,input,output\n0,10,100000001\n",
          "csv:2: invalid length of a request '100000001'", NULL },
        { "arrival,input,output\n0,-5,1\n", "csv:2: invalid length of a request '-5'", NULL },
        { "arrival,input,output,input\n0,10,1,20\n", "csv: two columns have the name 'input'",
          "a header that names each column once" },
        { "arrival,input,output,class,class\n0,10,1,a,b\n",
          "csv: two columns have the name 'class'", NULL },
        { "input,output\n10,1\n", "csv: lengths without arrivals: the columns input,output",
          "a column 'arrival', or arrivals made for these lengths: "
          "poisson:rate=5/s,count=1000,lengths=csv" },
        { "prompt_len,output_len\n10,1\n",
          "csv: lengths without arrivals: the columns prompt_len,output_len", NULL },
        { "arrival,input,output,class\n0,10,1,\n", "csv:2: '' is not a class",
          "a word of letters, digits, '-', '_' and '.'" },
        { "arrival,input,output,class\n0,1,1,a\n0,1,1,b\n0,1,1,c\n0,1,1,d\n0,1,1,e\n0,1,1,f\n"
          "0,1,1,g\n0,1,1,h\n0,1,1,a\n0,1,1,i\n", "csv:11: 'i' is one class too many",
          "at most 8" },
        { "arrival,input,output,session,wait\n0,10,1,a,\n0,10,1,a,-1\n", "csv:3: '-1' is not a wait",
          "seconds from 0 to 1000000000 after the turn before is answered, or an empty cell" },
        { "arrival,input,output,session,wait\n0,10,1,a,3\n",
          "csv:2: '3' waits for nothing: no turn of its session is above it",
          "an empty cell for the first turn of a session, and a column 'session'" },
        { "arrival,input,output,wait\n0,10,1,3\n",
          "csv:2: '3' waits for nothing: no turn of its session is above it", NULL },
        { "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,4,0,4,A\n",
          "csv:2: invalid length of a request '0'",
          "a file without the requests that failed: BurstGPT_without_fails_1.csv" },
        { "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00+0,5,5\n",
          "csv:2: '2024-05-10 00:00:00+0' is not a time", NULL },
        { "{\"timestamp\":0,\"input_length\":1,\"output_length\":2}\n"
          "{\"timestamp\":0,\"input_length\":1.5,\"output_length\":2}\n",
          "csv:2: invalid length of a request '1.5'", NULL },
        { "{\"timestamp\":0,\"input_length\":1,\"output_length\":2}\n"
          "{\"timestamp\":1,\"input_length\":1,\"output_length\":2,\"chat_id\":1}\n",
          "csv:2: a chat_id, unlike the lines above",
          "all lines as Mooncake's (ms), or all as Qwen-Bailian's (s)" },
        { "{\"timestamp\":0,\"input_length\":1,\"output_length\":2,\"chat_id\":\"a\"}\n",
          "csv:1: 'chat_id' is not a whole number",
          "chat_id: 159, parent_chat_id: 55, or -1 for none" },
        { "{\"timestamp\":0,\"input_length\":1,\"output_length\":2,\"hash_ids\":3}\n",
          "csv:1: invalid block names in 'hash_ids'", "a list of whole numbers: [46, 47, 48]" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct error error;
        if (trace_parse(&arena, "csv", text_of(cases[i].text), 1, &trace, &error))
            fail_msg("%s: is taken", cases[i].text);
        assert_string_equal(error.what, cases[i].what);
        if (cases[i].hint)
            assert_string_equal(error.hint, cases[i].hint);
        arena_free(&arena);
    }
    struct arena arena = { 0 };
    struct trace trace;
    struct error error;
    assert_false(trace_parse(&arena, "csv", text_of("arrival,input,output\n0,1,1\n9,1,1\n"), 1e-9,
                             &trace, &error));
    assert_string_equal(error.what, "csv: has times up to 9e+09 s at this scale");
    arena_free(&arena);
}

static void files_that_are_cut(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct trace_lengths lengths;
    struct error error;
    assert_false(trace_read(&arena, "tests/fixtures/bad/trace-cut.gz", 1, &trace, &error));
    assert_string_equal(error.what, "tests/fixtures/bad/trace-cut.gz: gzip file is truncated");
    assert_false(trace_lengths(&arena, "tests/fixtures/bad/trace-cut.gz", &lengths, &error));
    assert_string_equal(error.what, "tests/fixtures/bad/trace-cut.gz: gzip file is truncated");
    assert_false(trace_lengths(&arena, "tests/fixtures/bad/trace-none.csv", &lengths, &error));
    assert_string_equal(error.what, "tests/fixtures/bad/trace-none.csv: no requests");
    arena_free(&arena);
}

/* What the libraries pack: text of a size, as two frames of zstd or two members of gzip. */
static struct text pack(struct arena *arena, struct text text, bool zstd)
{
    const size_t room = 2 * (ZSTD_compressBound(text.size) + 1000);
    char *out = arena_array(arena, room, 1);
    size_t size = 0;
    for (int half = 0; half < 2; half++) {
        const size_t begin = half ? text.size / 2 : 0, end = half ? text.size : text.size / 2;
        if (zstd) {
            ZSTD_CCtx *context = ZSTD_createCCtx();
            ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
            size += ZSTD_compress2(context, out + size, room - size, text.data + begin, end - begin);
            ZSTD_freeCCtx(context);
        } else {
            z_stream stream = { .next_in = (unsigned char *)text.data + begin, .avail_in = (unsigned)(end - begin),
                                .next_out = (unsigned char *)out + size, .avail_out = (unsigned)(room - size) };
            assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
            assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
            size += stream.total_out;
            deflateEnd(&stream);
        }
    }
    return (struct text){ out, size };
}

static void packed_files(void **state)
{
    (void)state;
    static const size_t sizes[] = { 2, 1000, 65536, 131072, 131073, 1000000 };
    uint64_t seed = 5;
    for (size_t i = 0; i < 2 * COUNT(sizes); i++) {
        struct arena arena = { 0 };
        const bool zstd = i % 2;
        const size_t size = sizes[i / 2];
        char *data = arena_array(&arena, size, 1);
        struct text unpacked;
        struct error error;
        for (size_t k = 0; k < size; k++)
            data[k] = (char)('0' + draw_bits(&seed) % 10);
        const struct text packed = pack(&arena, (struct text){ data, size }, zstd);
        const char *const kind = zstd ? "zstd" : "gzip";
        if (!trace_unpack(&arena, "a", packed, size, &unpacked, &error))
            fail_msg("%s of %zu bytes: %s", kind, size, error.what);
        assert_true(unpacked.size == size && !memcmp(unpacked.data, data, size));
        assert_false(trace_unpack(&arena, "a", packed, size - 1, &unpacked, &error));
        assert_string_equal(error.what, arena_print(&arena, "a: unpacks to more than %zu bytes", size - 1));
        assert_false(trace_unpack(&arena, "a", (struct text){ packed.data, packed.size - 3 }, size, &unpacked, &error));
        assert_string_equal(error.what, arena_print(&arena, "a: %s file is truncated", kind));
        ((char *)packed.data)[packed.size - 6] ^= 1;            /* of the last data, or of what checks it */
        assert_false(trace_unpack(&arena, "a", packed, size, &unpacked, &error));
        assert_string_equal(error.what, arena_print(&arena, "a: %s file is damaged", kind));
        arena_free(&arena);
    }
}

/* A published file of lengths. */
static void real_lengths(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const char *path = shared_file(&arena, "traces/arxiv_summarization_lengths.csv.gz");
    struct trace_lengths lengths;
    struct error error;
    if (path) {
        assert_true(trace_lengths(&arena, path, &lengths, &error));
        assert_int_equal(lengths.count, 28257);
        assert_int_equal(lengths.prompt[1], 2015);
        assert_int_equal(lengths.output[1], 156);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pcg_as_published),
        cmocka_unit_test(moments_are_right),
        cmocka_unit_test(sequences_are_apart),
        cmocka_unit_test(same_bits_everywhere),
        cmocka_unit_test(arrivals_keep_their_rate),
        cmocka_unit_test(lengths_keep_their_mean),
        cmocka_unit_test(pairs_stay_together),
        cmocka_unit_test(sessions_add_up),
        cmocka_unit_test(one_change_leaves_the_rest),
        cmocka_unit_test(rates_change), cmocka_unit_test(bad_descriptions), cmocka_unit_test(words_of_other_verbs),
        cmocka_unit_test(columns_come_back),
        cmocka_unit_test(sessions_are_read),
        cmocka_unit_test(many_sessions),
        cmocka_unit_test(bad_traces),
        cmocka_unit_test(files_that_are_cut),
        cmocka_unit_test(packed_files),
        cmocka_unit_test(real_lengths),
    };
    return cmocka_run_group_tests_name("generate", tests, NULL, NULL);
}
