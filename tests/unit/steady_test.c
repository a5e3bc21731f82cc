/* The steady state against what is known: M/M/1 and M/D/1, whether the half-widths hold the truth as often as they
 * say, queues that grow, and Little's law of users. */
#include "test.h"

#include "sim/schedulers/schedulers.h"
#include "sim/steady.h"

#include <math.h>

#define STEP 1e-3                   /* s; services are 1 s in the mean, 1000 steps */

static double for_all(void *context, const struct sim_step *step)
{
    (void)context;
    (void)step;
    return STEP;
}

static double for_each(void *context, const struct sim_step *step)
{
    (void)context;
    return STEP * (1 + 0.01 * step->sequences);
}

static struct sim_options server(size_t seats, sim_seconds *seconds)
{
    return (struct sim_options){ .replicas = 1,
                                 .server = { .scheduler = &scheduler_vllm_v1, .max_num_seqs = seats, .chunk = 1000,
                                             .block = 16, .blocks = 100000, .synchronous = true,
                                             .seconds = seconds } };
}

static struct steady steady_of(struct arena *arena, const char *words, const struct sim_options *options)
{
    static const struct steady_figure figures[] = {
        { .time = STEADY_TTFT }, { .time = STEADY_TPOT }, { .time = STEADY_TTFT, .share = 0.95 } };
    struct trace trace;
    struct steady steady;
    struct error error;
    if (!generate_trace(arena, words, &trace, &error) ||
        !sim_steady(arena, &trace, options, figures, 3, &steady, &error))
        fail_msg("%s: %s; %s", words, error.what, error.hint);
    return steady;
}

/* Waits of one seat (Pollaczek, Khinchine): of 20 seeds at least 17 hold the truth in their 95 % interval, and none is
 * off by more than three of them. */
static void intervals_hold_the_truth(void **state)
{
    (void)state;
    static const struct { const char *words; double wait; } queues[] = {
        { "poisson:rate=0.5,count=20k,output=exponential(1k)", 1 }, { "poisson:rate=0.7,count=20k,output=1k", 7.0 / 6 } };
    for (size_t q = 0; q < 2; q++) {
        int held = 0;
        for (int seed = 1; seed <= 20; seed++) {
            struct arena arena = { 0 };
            const struct sim_options options = server(1, for_all);
            const struct steady steady = steady_of(&arena, arena_print(&arena, "%s,seed=%d", queues[q].words, seed),
                                                   &options);
            const double off = fabs(steady.at[0].value - queues[q].wait);
            assert_true(steady.steady);
            assert_string_equal(steady.verdict, "stable");
            assert_true(off < 3 * steady.at[0].half);
            assert_true(steady.first >= 2 * (size_t)(steady.e2e * steady.rate * 0.9));
            held += off < steady.at[0].half + 2 * STEP;
            arena_free(&arena);
        }
        print_message("%s: %d of 20 intervals hold the mean wait\n", queues[q].words, held);
        assert_true(held >= 17);
    }
}

/* A server of one request a second. */
static void queues_that_grow_are_told(void **state)
{
    (void)state;
    static const struct { const char *words, *verdict; } loads[] = {
        { "poisson:rate=1.3,count=20k,output=1k", "overloaded" }, { "poisson:rate=2,count=20k,output=1k", "overloaded" },
        { "poisson:rate=1.03,count=40k,output=1k", "backlogged" }, { "constant:rate=0.9,count=20k,output=1k", "stable" } };
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct arena arena = { 0 };
        const struct sim_options options = server(1, for_all);
        const struct steady steady = steady_of(&arena, loads[i].words, &options);
        print_message("%s: %s after %zu requests\n", loads[i].words, steady.verdict ? steady.verdict : "no verdict",
                      steady.came);
        assert_non_null(steady.verdict);
        assert_string_equal(steady.verdict, loads[i].verdict);
        assert_int_equal(steady.steady, *steady.verdict == 's');
        arena_free(&arena);
    }
}

/* Users of a closed loop: as many as there are (Little 1961), and no verdict. */
static void users_have_no_verdict(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct sim_options options = server(64, for_each);
    options.users = 32;
    options.think = 0.5;
    const struct steady steady = steady_of(&arena, "constant:count=60k,input=100,output=lognormal(200,cv=0.1)", &options);
    const double e2e = steady.at[0].value + 199 * steady.at[1].value;
    assert_true(steady.steady);
    assert_null(steady.verdict);
    assert_float_equal(steady.rate * (e2e + options.think), 32, 0.01 * 32);
    arena_free(&arena);
}

/* Too few requests for a warm-up: no figures of an empty server. */
static void short_runs_have_no_figures(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const struct sim_options options = server(64, for_each);
    const struct steady steady = steady_of(&arena, "poisson:rate=20,count=300,output=1k", &options);
    assert_false(steady.steady);
    assert_true(steady.why && *steady.why);
    assert_true(isnan(steady.at[0].value) && isnan(steady.at[1].half));
    assert_null(steady.verdict);
    arena_free(&arena);
}

static void runs_are_reproducible(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const struct sim_options options = server(64, for_each);
    const struct steady a = steady_of(&arena, "poisson:rate=10,count=40k,output=1k", &options),
                        b = steady_of(&arena, "poisson:rate=10,count=40k,output=1k", &options);
    assert_true(a.steady);
    assert_memory_equal(a.at, b.at, 3 * sizeof *a.at);
    assert_int_equal(a.came, b.came);
    assert_true(a.came < 40000);                /* it ended where the figures were known */
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_hold_the_truth), cmocka_unit_test(queues_that_grow_are_told),
        cmocka_unit_test(users_have_no_verdict), cmocka_unit_test(short_runs_have_no_figures),
        cmocka_unit_test(runs_are_reproducible) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
