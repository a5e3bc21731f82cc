/* The simulator against the theory of queues, where theory is exact: waits of one server with one
 * seat (M/M/1, M/D/1, M/G/1, and arrivals that are not Poisson), of several seats (Erlang), of a
 * server that all share (processor sharing), and Little's law counted from outside.
 *
 * A request is one prompt token and n - 1 more outputs, n steps of STEP s in all, so that its service
 * has the distribution of its output length. Means are within three standard errors, which come
 * from means of batches. */
#include "test.h"

#include "sim/traffic/generate.h"
#include "rows/random.h"
#include "sim/schedulers/schedulers.h"

#include <math.h>
#include <stdlib.h>

#define STEP 1e-3                   /* s; services are 1 s in the mean, 1000 steps */

/* A step takes as long for one as for many, or as long for each. */
static double for_all(void *context, const struct sim_step *step)
{
    (void)context;
    (void)step;
    return STEP;
}

static double for_each(void *context, const struct sim_step *step)
{
    (void)context;
    return STEP * step->sequences;
}

static const struct scheduler *const some[] = {
    &scheduler_sarathi, &scheduler_vllm_2023, &scheduler_vllm_v1 };

static struct sim_options server(const struct scheduler *scheduler, size_t seats,
                                 sim_seconds *seconds)
{
    enum { PLENTY = 1000000000 };
    const bool named = scheduler == &scheduler_vllm_v1;     /* it has something of each block */
    const size_t blocks = named ? 100000 : PLENTY;
    return (struct sim_options){ .replicas = 1,
                                 .server = { .scheduler = scheduler, .max_num_seqs = seats,
                                             .chunk = 1000, .batch_tokens_most = PLENTY,
                                             .block = 16, .blocks = blocks, .synchronous = true,
                                             .seconds = seconds } };
}

static void generate(struct arena *arena, const char *words, struct trace *trace)
{
    struct error error;
    if (!generate_trace(arena, words, trace, &error))
        fail_msg("%s: %s; %s", words, error.what, error.hint);
}

static void run(struct arena *arena, const struct trace *trace, const struct sim_options *options,
                struct sim_result *result)
{
    struct error error;
    if (!sim_run(arena, trace, options, result, &error))
        fail_msg("%s; %s", error.what, error.hint);
}

/* ---- means and their errors ----------------------------------------------------------------- */

struct estimate {
    double mean, error;
};

/* Of batches, each long enough to forget the one before; the first is left out, as the server was
 * empty when it began. */
static struct estimate estimate(const double *values, size_t count)
{
    enum { BATCHES = 80 };
    double sum = 0, squares = 0, size = (double)(count / BATCHES), batches = BATCHES - 1;
    for (size_t b = 1; b < BATCHES; b++) {
        double mean = 0;
        for (size_t i = 0; i < count / BATCHES; i++)
            mean += values[b * (count / BATCHES) + i] / size;
        sum += mean;
        squares += mean * mean;
    }
    double mean = sum / batches;
    return (struct estimate){ mean, sqrt((squares / batches - mean * mean) / (batches - 1)) };
}

/* `known`: how far the simulator's steps may take it from theory, s. */
static void check(const char *name, struct estimate seen, double theory, double known)
{
    print_message("%-44s %.4f +- %.4f s, theory %.4f: %+.1f errors\n", name, seen.mean, seen.error,
                  theory, (seen.mean - theory) / seen.error);
    if (!(fabs(seen.mean - theory) <= 3 * seen.error + known))
        fail_msg("%s: %g +- %g s, theory %g", name, seen.mean, seen.error, theory);
    assert_true(seen.error < 0.08 * theory);        /* or the test says nothing */
}

/* ---- one seat ------------------------------------------------------------------------------- */

/* Mean and mean square of services of mean 1 that vary so much. */
static double wait_mg1(double load, double variation)
{
    return load * (1 + variation * variation) / (2 * (1 - load));       /* Pollaczek, Khinchine */
}

/* Gaps between arrivals are gamma, services exponential: an arrival finds a busy server with
 * probability x, where x = E[exp(-(1 - x) gap)]; INFINITY: all gaps are the same. */
static double wait_gm1(double load, double shape)
{
    double x = load;
    for (int i = 0; i < 10000; i++)
        x = isinf(shape) ? exp(-(1 - x) / load) : pow(1 + (1 - x) / (load * shape), -shape);
    return x / (1 - x);
}

static const struct {
    const char *name, *words;       /* services of mean 1 */
    double load, variation;         /* of the services; below 0: services are exponential */
    double shape;                   /* of the gaps then */
} queues[] = {
    { "M/D/1, load 0.5", "poisson:rate=0.5,count=80k,output=1k", 0.5, 0, 0 },
    { "M/D/1, load 0.9", "poisson:rate=0.9,count=200k,output=1k", 0.9, 0, 0 },
    { "M/M/1, load 0.3", "poisson:rate=0.3,count=80k,output=exponential(1k)", 0.3, 1, 0 },
    { "M/M/1, load 0.8", "poisson:rate=0.8,count=200k,output=exponential(1k)", 0.8, 1, 0 },
    { "M/G/1, uniform, load 0.7", "poisson:rate=0.7,count=100k,output=1..1999", 0.7,
      0.57735 /* 1 / sqrt(3) */, 0 },
    { "M/G/1, lognormal, load 0.6",
      "poisson:rate=0.6,count=200k,output=lognormal(1k,cv=1.5)", 0.6, 1.5, 0 },
    { "G/M/1, bursts, load 0.6", "gamma:rate=0.6,cv=2,count=200k,output=exponential(1k)", 0.6,
      -1, 0.25 },
    { "G/M/1, even, load 0.8", "gamma:rate=0.8,cv=0.5,count=200k,output=exponential(1k)", 0.8,
      -1, 4 },
    { "D/M/1, load 0.8", "constant:rate=0.8,count=200k,output=exponential(1k)", 0.8, -1,
      INFINITY },
};

/* Who finds the server empty is served at once, for as many steps as it has outputs; that is what
 * a wait is what is left of. */
static void find_waits(const struct trace *trace, const struct sim_result *result, double *waits)
{
    double free_at = 0;
    for (size_t i = 0; i < trace->count; i++) {
        double service = STEP * trace->output[i];
        waits[i] = result->completed[i] - trace->arrival[i] - service;
        double expected = fmax(free_at - trace->arrival[i], 0);         /* Lindley */
        if (fabs(waits[i] - expected) > 1e-6)
            fail_msg("request %zu waits %.9f s, not %.9f", i, waits[i], expected);
        free_at = result->completed[i];
    }
}

static void one_seat(void **state)
{
    (void)state;
    for (size_t q = 0; q < COUNT(queues); q++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct sim_result result;
        struct sim_options options = server(some[q % COUNT(some)], 1, for_all);
        generate(&arena, arena_print(&arena, "%s,input=1,seed=%zu", queues[q].words, 11 + q), &trace);
        run(&arena, &trace, &options, &result);
        double *waits = arena_array(&arena, trace.count, sizeof *waits);
        find_waits(&trace, &result, waits);
        double theory = queues[q].variation < 0 ? wait_gm1(queues[q].load, queues[q].shape)
                                                : wait_mg1(queues[q].load, queues[q].variation);
        check(queues[q].name, estimate(waits, trace.count), theory, 2 * STEP);
        arena_free(&arena);
    }
}

/* Two kinds of requests, nine of ten short: hyperexponential services, by hand. */
static void two_kinds(void **state)
{
    (void)state;
    const double load = 0.7, shorter = 0.25, share = 0.9, longer = (1 - share * shorter) / 0.1;
    const double square = 2 * (share * shorter * shorter + 0.1 * longer * longer);
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_result result;
    struct sim_options options = server(&scheduler_sarathi, 1, for_all);
    struct random random;
    generate(&arena, "poisson:rate=0.7,count=400k,input=1,seed=5", &trace);
    random_stream(&random, 5, "kinds", 0);
    for (size_t i = 0; i < trace.count; i++) {
        double mean = random_uniform(&random) < share ? shorter : longer;
        trace.output[i] = 1 + (uint32_t)(random_exponential(&random) * mean / STEP);
    }
    run(&arena, &trace, &options, &result);
    double *waits = arena_array(&arena, trace.count, sizeof *waits);
    find_waits(&trace, &result, waits);
    check("M/G/1, two kinds, load 0.7", estimate(waits, trace.count),
          load * square / (2 * (1 - load)), 1e-3);
    arena_free(&arena);
}

/* ---- several servers and seats -------------------------------------------------------------- */

/* Each of three servers in turn gets every third arrival: gaps are gamma of shape 3. */
static void in_turn(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_result result;
    struct sim_options options = server(&scheduler_sarathi, 1, for_all);
    options.replicas = 3;
    options.router = ROUTER_ROUND_ROBIN;
    generate(&arena, "poisson:rate=2.4,count=400k,input=1,output=exponential(1k),seed=6", &trace);
    run(&arena, &trace, &options, &result);
    double *waits = arena_array(&arena, trace.count, sizeof *waits);
    for (size_t i = 0; i < trace.count; i++)
        waits[i] = result.completed[i] - trace.arrival[i] - STEP * trace.output[i];
    check("three servers in turn, load 0.8", estimate(waits, trace.count), wait_gm1(0.8, 3),
          2 * STEP);
    arena_free(&arena);
}

/* Erlang's C, the probability of a wait, by his B. */
static double wait_mmc(double rate, int seats)
{
    double b = 1;
    for (int i = 1; i <= seats; i++)
        b = rate * b / (i + rate * b);
    double load = rate / seats, c = b / (1 - load + load * b);
    return c / (seats - rate);
}

/* A batch steps as fast as one request: its seats are servers of one queue. Who comes waits for the
 * step to end too. */
static void several_seats(void **state)
{
    (void)state;
    static const struct { const char *words; double rate; int seats; } cases[] = {
        { "poisson:rate=1.7,count=200k", 1.7, 2 }, { "poisson:rate=7.2,count=200k", 7.2, 8 } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct sim_result result;
        struct sim_options options = server(&scheduler_sarathi, (size_t)cases[i].seats, for_all);
        generate(&arena, arena_print(&arena, "%s,input=1,output=exponential(1k),seed=7",
                                     cases[i].words), &trace);
        run(&arena, &trace, &options, &result);
        double *waits = arena_array(&arena, trace.count, sizeof *waits);
        for (size_t k = 0; k < trace.count; k++)
            waits[k] = result.completed[k] - trace.arrival[k] - STEP * trace.output[k];
        check(arena_print(&arena, "M/M/%d, load %g", cases[i].seats,
                          cases[i].rate / cases[i].seats),
              estimate(waits, trace.count), wait_mmc(cases[i].rate, cases[i].seats), 2 * STEP);
        arena_free(&arena);
    }
}

/* A step takes as long as there are requests in it: processor sharing, whose mean time in the
 * system is 1 / (1 - load) services whatever their distribution. A step's length is the error. */
static void all_share(void **state)
{
    (void)state;
    static const char *const outputs[] = { "1k", "exponential(1k)", "lognormal(1k,cv=2)" };
    const double load = 0.75;
    for (size_t i = 0; i < COUNT(outputs); i++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct sim_result result;
        struct sim_options options = server(&scheduler_sarathi, 100000, for_each);
        generate(&arena, arena_print(&arena, "poisson:rate=0.75,count=200k,input=1,output=%s,seed=8",
                                     outputs[i]), &trace);
        run(&arena, &trace, &options, &result);
        double *times = arena_array(&arena, trace.count, sizeof *times);
        for (size_t k = 0; k < trace.count; k++)
            times[k] = result.completed[k] - trace.arrival[k];
        check(arena_print(&arena, "processor sharing, %s", outputs[i]),
              estimate(times, trace.count), 1 / (1 - load), 2 * STEP * load / (1 - load));
        arena_free(&arena);
    }
}

/* ---- Little's law --------------------------------------------------------------------------- */

enum { LOOKS_MOST = 200000 };

/* What the simulator says of itself while it runs. */
struct looks {
    double time[LOOKS_MOST], number[LOOKS_MOST];
    size_t count;
};

static void look(void *context, double now, const struct sim_sample *sample)
{
    struct looks *looks = context;
    if (looks->count == LOOKS_MOST)
        return;
    looks->time[looks->count] = now;
    looks->number[looks->count++] = (double)(sample->waiting + sample->running);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *sorted(struct arena *arena, const double *values, size_t count)
{
    double *copy = arena_array(arena, count, sizeof *copy);
    memcpy(copy, values, count * sizeof *copy);
    qsort(copy, count, sizeof *copy, by_size);
    return copy;
}

/* Requests in the system over a window, counted at each coming and going; and at each look the
 * simulator's own count must be that one. */
static double sweep(const double *comes, const double *goes, size_t count, double from, double to,
                    const struct looks *looks)
{
    size_t in = 0, out = 0, at = 0, compared = 0;
    double area = 0, before = from;
    while (out < count) {
        double now = in < count && comes[in] <= goes[out] ? comes[in] : goes[out];
        for (; at < looks->count && looks->time[at] < now - 1e-9; at++, compared++)
            if ((double)(in - out) != looks->number[at])
                fail_msg("at %.9f s there are %zu requests, it says %g", looks->time[at], in - out,
                         looks->number[at]);
        while (at < looks->count && looks->time[at] <= now + 1e-9)      /* too close to say */
            at++;
        double until = fmin(fmax(now, from), to);
        area += (double)(in - out) * (until - before);
        before = until;
        if (in < count && comes[in] <= goes[out])
            in++;
        else
            out++;
    }
    assert_true(compared > 1000);
    return area / (to - from);
}

/* Rate times mean time, of those who come in the window, against the mean number there: they differ
 * by who is in at its ends. */
static void check_little(const char *name, struct arena *arena, const struct trace *trace,
                         struct sim_options *options)
{
    struct looks *looks = arena_alloc(arena, sizeof *looks);
    struct sim_result result;
    options->watch = (struct sim_watch){ .context = looks, .sample = look, .every = 0.73 };
    run(arena, trace, options, &result);
    const size_t count = trace->count;
    double *comes = sorted(arena, result.arrival, count), *goes = sorted(arena, result.completed, count);
    double from = comes[count / 5], to = comes[count / 5 * 4], came = 0, time = 0, most = 0;
    for (size_t i = 0; i < count; i++)
        if (result.arrival[i] >= from && result.arrival[i] < to) {
            came++;
            time += result.completed[i] - result.arrival[i];
            most = fmax(most, result.completed[i] - result.arrival[i]);
        }
    double number = sweep(comes, goes, count, from, to, looks);
    double rate = came / (to - from), mean = time / came;
    double ends = 2 * number * most / (to - from);
    print_message("%-28s %.4f in the system, %.4f/s of %.4f s: %.4f; %zu looks\n", name, number, rate,
                  mean, rate * mean, looks->count);
    assert_true(ends < 0.05 * number);              /* or the window is too short */
    if (!(fabs(number - rate * mean) <= ends))
        fail_msg("%s: %g in the system, %g", name, number, rate * mean);
    assert_true(number > 1);
}

static void littles_law(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_options options = server(&scheduler_sarathi, 1, for_all);
    generate(&arena, "poisson:rate=0.8,count=40k,input=1,output=exponential(1k)", &trace);
    check_little("M/M/1, load 0.8", &arena, &trace, &options);
    options = server(&scheduler_vllm_v1, 8, for_all);
    generate(&arena, "gamma:rate=7,cv=2,count=60k,input=1,output=lognormal(1k,cv=1)", &trace);
    check_little("eight seats, bursts", &arena, &trace, &options);
    arena_free(&arena);
}

/* Sessions that come back: who asks does so exactly `wait` after the answer, and the law holds for
 * their turns. Prompts in chunks beside decodes, with little room. */
static double real_step(void *context, const struct sim_step *step)
{
    (void)context;
    return 0.01 + 5e-5 * (step->prompt + step->decoding) +
           8e-8 * (step->prompt_cached + step->decode_cached);
}

static void sessions_come_back(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT(some); r++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct sim_result result;
        struct sim_options options = server(some[r], 64, real_step);
        options.server.blocks = 4000;
        options.server.synchronous = false;
        generate(&arena, "poisson:rate=0.6,count=8k,input=lognormal(300,cv=1),turns=geometric(3),"
                         "output=exponential(150),wait=exponential(20s)", &trace);
        run(&arena, &trace, &options, &result);
        for (size_t i = 0; i < trace.count; i++) {
            assert_true(result.arrival[i] >= trace.arrival[i]);
            assert_true(trace.before[i] == UINT32_MAX ||
                        result.arrival[i] == result.completed[trace.before[i]] + trace.wait[i]);
        }
        check_little(some[r]->name, &arena, &trace, &options);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_seat),
        cmocka_unit_test(two_kinds),
        cmocka_unit_test(in_turn),
        cmocka_unit_test(several_seats),
        cmocka_unit_test(all_share),
        cmocka_unit_test(littles_law),
        cmocka_unit_test(sessions_come_back),
    };
    return cmocka_run_group_tests_name("queue theory", tests, NULL, NULL);
}
