/* What happens around the engines: users, sessions, refusals, patience, failures, scaling, pools,
 * tiers, classes, drafts, ranks. Each against a law that is not ours, or a case by hand; and all
 * together, drawn at random, leaping against stepping. */
#include "test.h"

#include "sim/cache/blocks.h"
#include "sim/replica.h"
#include "sim/schedulers/schedulers.h"

#include <math.h>
#include <stdio.h>

struct cost {
    double base, by_token, by_cached;
};

static double linear(void *context, const struct sim_step *step)
{
    const struct cost *cost = context;
    return cost->base + cost->by_token * (step->decoding + step->drafts + step->prompt) +
           cost->by_cached * (step->decode_cached + step->prompt_cached);
}

static struct cost usual_cost = { 0.01, 5e-5, 8e-8 };

static struct sim_options usual_options(void)
{
    return (struct sim_options){
        .server = { .scheduler = &scheduler_vllm_v1, .max_num_seqs = 32, .chunk = 512,
                    .blocks = 4000, .block = 16, .seconds = linear, .context = &usual_cost },
        .replicas = 1, .router = ROUTER_LEAST_PENDING, .seed = 1 };
}

static void run(struct arena *arena, const struct trace *trace, const struct sim_options *options,
                struct sim_result *result)
{
    struct error error;
    if (!sim_run(arena, trace, options, result, &error))
        fail_msg("%s (users %zu, room %zu, patience %g, failures %g, scaling %zu, prompts %zu, "
                 "tiers %zu)", error.what, options->users, options->waiting_most, options->patience,
                 options->fails_every, options->scaling.most, options->split.replicas,
                 options->tiers);
}

static void generate(struct arena *arena, const char *words, struct trace *trace)
{
    struct error error;
    if (!generate_trace(arena, words, trace, &error))
        fail_msg("%s", error.what);
}

/* ---- everything at random: leaps are steps -------------------------------------------------- */

static void draw_trace(struct arena *arena, int turn, struct trace *trace)
{
    static const char *const kinds[] = {
        "poisson:rate=%d,count=80,input=uniform(1,400),output=uniform(1,200),seed=%d",
        "poisson:rate=%d,count=20,input=uniform(1,60),output=uniform(1,60),turns=4,"
        "wait=exponential(0.5s),seed=%d",
        "poisson:rate=%d,count=80,input=uniform(1,400),output=uniform(1,200),"
        "class=first(1)|second(2)|third(3),seed=%d" };
    generate(arena, arena_print(arena, kinds[turn % 3], 1 + turn % 60, turn), trace);
}

static void draw_world(uint64_t *seed, struct sim_options *options, struct tier_options *tier)
{
    static const struct scheduler *const some[] = {     /* all that have blocks */
        &scheduler_sarathi, &scheduler_vllm_2023, &scheduler_vllm_v1, &scheduler_sglang,
        &scheduler_trtllm };
    size_t most = (size_t)(draw(seed) * 8);
    struct sim_server *server = &options->server;
    *options = usual_options();
    server->max_num_seqs = 2 + (size_t)(draw(seed) * 30);
    server->chunk = 64 + (size_t)(draw(seed) * 400);
    server->blocks = 60 + (size_t)(draw(seed) * 300);
    server->synchronous = draw(seed) < 0.3;
    if (draw(seed) < 0.4)
        server->scheduler = some[(size_t)(draw(seed) * COUNT(some))];
    const bool named = server->scheduler == &scheduler_vllm_v1;
    const bool whole = !(server->scheduler->can & SCHEDULER_POOLS);
    server->batch_tokens_most = server->scheduler == &scheduler_vllm_2023 ? 4000 : 0;
    server->watermark = whole && draw(seed) < 0.5 ? 0.01 : 0;
    if (named && draw(seed) < 0.2) {
        server->draft = 1 + (size_t)(draw(seed) * 4);
        server->accepted = draw(seed);
        server->chunk = 4 + (size_t)(draw(seed) * 100);
    }
    if (named && draw(seed) < 0.3)
        server->ranks = 2 + (size_t)(draw(seed) * 3);
    if (named && draw(seed) < 0.15)
        server->stages = 2 + (size_t)(draw(seed) * 3);
    server->class_most[0] = most;                       /* of a trace with classes */
    server->class_most[1] = most ? 2 * most : 0;
    options->replicas = 1 + (size_t)(draw(seed) * 3);
    options->router = (enum router)(draw(seed) * ROUTER_COUNT);
    if (draw(seed) < 0.2) {
        options->users = 1 + (size_t)(draw(seed) * 20);
        options->think = draw(seed) < 0.3 ? 0 : draw(seed);
    }
    if (draw(seed) < 0.2)
        options->waiting_most = 1 + (size_t)(draw(seed) * 10);
    if (draw(seed) < 0.2)
        options->patience = 0.05 + 2 * draw(seed);
    if (draw(seed) < 0.2) {
        options->fails_every = 1 + 20 * draw(seed);
        options->restart = 2 * draw(seed);
    }
    if (draw(seed) < 0.2)
        options->scaling = (struct sim_scaling){ .most = options->replicas + 2, .load = 4,
                                                 .every = 0.5, .start_up = draw(seed) };
    if (!whole && draw(seed) < 0.2) {
        options->split = (struct sim_split){ .first_after = options->users % 2, .replicas = 1 + (size_t)(draw(seed) * 2),
                                             .server = *server, .bandwidth = 1e9, .latency = 1e-3,
                                             .token_bytes = 1e5 };
    }
    if (named && draw(seed) < 0.3) {
        *tier = (struct tier_options){ .capacity = 20 + (size_t)(draw(seed) * 500),
                                       .bandwidth = 1e9 + 1e10 * draw(seed), .latency = 1e-4,
                                       .lifetime = draw(seed) < 0.5 ? 0 : 5,
                                       .shared = draw(seed) < 0.5 };
        options->tier[0] = *tier;
        options->tiers = 1;
        options->token_bytes = 1e5;
    }
}

static void same_results(const struct trace *trace, const struct sim_result *a,
                         const struct sim_result *b)
{
    for (size_t i = 0; i < trace->count; i++)
        if (fabs(a->first_token[i] - b->first_token[i]) > 1e-9 ||
            fabs(a->completed[i] - b->completed[i]) > 1e-9 ||
            fabs(a->arrival[i] - b->arrival[i]) > 1e-9)
            fail_msg("request %zu: %.12f %.12f, and %.12f %.12f", i, a->first_token[i],
                     a->completed[i], b->first_token[i], b->completed[i]);
    assert_int_equal(a->iterations, b->iterations);
    assert_int_equal(a->batch_tokens, b->batch_tokens);
    assert_int_equal(a->preemptions, b->preemptions);
    assert_int_equal(a->refused, b->refused);
    assert_int_equal(a->gave_up, b->gave_up);
    assert_int_equal(a->lost, b->lost);
    assert_int_equal(a->cached_tokens, b->cached_tokens);
    assert_int_equal(a->fetched_tokens, b->fetched_tokens);
    assert_float_equal(a->busy, b->busy, 1e-9 * a->busy);
    assert_float_equal(a->queued, b->queued, 1e-9 * a->busy);
    assert_int_equal(a->gaps->count, b->gaps->count);
    assert_float_equal(a->gaps->sum, b->gaps->sum, 1e-9 * a->gaps->sum);
}

/* Who watches changes nothing. */
static void nobody_looks(void *context, double now, const struct sim_sample *sample)
{
    (void)context;
    (void)now;
    (void)sample;
}

static void same_bits_of(const struct trace *trace, const struct sim_result *a,
                         const struct sim_result *b)
{
    for (size_t i = 0; i < trace->count; i++)
        if (!same_bits(a->first_token[i], b->first_token[i]) ||
            !same_bits(a->completed[i], b->completed[i]))
            fail_msg("request %zu differs when it is watched", i);
    assert_int_equal(a->iterations, b->iterations);
}

static void leaps_are_steps(void **state)
{
    (void)state;
    uint64_t seed = 3, refused = 0, gave_up = 0, lost = 0, fetched = 0, cached = 0, moved = 0;
    for (int turn = 0; turn < rounds(1000); turn++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct sim_options options;
        struct tier_options tier;
        struct sim_result leaps, steps, watched;
        draw_trace(&arena, turn, &trace);
        draw_world(&seed, &options, &tier);
        run(&arena, &trace, &options, &leaps);
        options.watch = (struct sim_watch){ .sample = nobody_looks, .every = 0.05 };
        run(&arena, &trace, &options, &watched);
        same_bits_of(&trace, &leaps, &watched);
        options.stepping = true;
        run(&arena, &trace, &options, &steps);
        same_results(&trace, &leaps, &steps);
        uint64_t answered = 0;
        for (size_t i = 0; i < trace.count; i++)
            answered += leaps.completed[i] >= 0;
        assert_int_equal(answered + leaps.refused + leaps.gave_up + leaps.unasked, trace.count);
        refused += leaps.refused;
        gave_up += leaps.gave_up;
        lost += leaps.lost;
        fetched += leaps.fetched_tokens;
        cached += leaps.cached_tokens;
        moved += leaps.moved_bytes > 0;
        arena_free(&arena);
    }
    print_message("%d worlds: %llu refused, %llu gave up, %llu lost, %llu tokens cached, %llu "
                  "fetched, %llu with two pools\n", rounds(1000), (unsigned long long)refused,
                  (unsigned long long)gave_up, (unsigned long long)lost, (unsigned long long)cached,
                  (unsigned long long)fetched, (unsigned long long)moved);
    const uint64_t some = (uint64_t)part_of(100), many = (uint64_t)part_of(10000);
    assert_true(refused > some && gave_up > some && lost > some && fetched > many && cached > many && moved > some);
}

static double times_of(double seconds, double step)
{
    return step * floor(seconds / step);
}

/* Ends, arrivals, pauses, patience and looks come at multiples of a step, and coincide all the time.
 * A sum of 0.01 is rounded, one of 1/64 is not. */
static void leaps_are_steps_in_ties(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int turn = 0; turn < rounds(600); turn++) {
        const double step = draw(&seed) < 0.5 ? 0.01 : 1.0 / 64;
        struct cost cost = { step, draw(&seed) < 0.5 ? step / 16 : 0,
                             draw(&seed) < 0.2 ? step / 1024 : 0 };
        struct arena arena = { 0 };
        struct trace trace;
        struct sim_options options;
        struct tier_options tier;
        struct sim_result leaps, steps, watched;
        draw_trace(&arena, turn, &trace);
        draw_world(&seed, &options, &tier);
        for (size_t i = 0; i < trace.count; i++) {
            trace.arrival[i] = times_of(trace.arrival[i], step);
            if (trace.wait)
                trace.wait[i] = times_of(trace.wait[i], step);
        }
        options.server.context = options.split.server.context = &cost;
        if (draw(&seed) < 0.1 && !options.split.replicas && !options.tiers) {
            options.server.scheduler = &scheduler_batch_train;
            sim_set(&options.server, "cadence", step);
        }
        options.users = draw(&seed) < 0.5 ? options.users : 1 + (size_t)(draw(&seed) * 20);
        options.think = times_of(options.think, step);
        options.restart = times_of(options.restart, step);
        options.patience = times_of(options.patience, step);
        run(&arena, &trace, &options, &leaps);
        options.watch = (struct sim_watch){ .sample = nobody_looks, .every = step };
        run(&arena, &trace, &options, &watched);
        same_bits_of(&trace, &leaps, &watched);
        options.stepping = true;
        run(&arena, &trace, &options, &steps);
        same_results(&trace, &leaps, &steps);
        arena_free(&arena);
    }
}

/* Steps of 10 ms from 0 on, and a request that comes when the k-th one ends: the next step has it,
 * whether the sum of k times 10 ms is a little less than its time, or more. */
static void comes_when_a_step_ends(void **state)
{
    (void)state;
    static const struct scheduler *const some[] = {
        &scheduler_sarathi, &scheduler_vllm_2023, &scheduler_vllm_v1, &scheduler_sglang,
        &scheduler_trtllm };
    struct cost cost = { 0.01, 0, 0 };
    for (size_t s = 0; s < COUNT(some); s++)
        for (int k = 1; k <= 200; k++)
            for (int stepping = 0; stepping < 2; stepping++) {
                struct arena arena = { 0 };
                double arrival[] = { 0, 0.01 * k };
                uint32_t prompt[] = { 10, 10 }, output[] = { 300, 5 };
                const struct trace trace = { .count = 2, .arrival = arrival, .prompt = prompt,
                                             .output = output };
                struct sim_options options = usual_options();
                struct sim_result result;
                options.server.scheduler = some[s];
                options.server.context = &cost;
                options.server.batch_tokens_most = 4000;
                options.server.synchronous = true;
                options.stepping = stepping;
                run(&arena, &trace, &options, &result);
                if (fabs(result.first_token[1] - (arrival[1] + 0.01)) > 1e-9)
                    fail_msg("%s, %s, comes at %.17g: first token at %.17g", some[s]->name,
                             stepping ? "stepping" : "leaping", arrival[1], result.first_token[1]);
                arena_free(&arena);
            }
}

/* Two turns of a session beside each other decode the same tokens, and their blocks get the same
 * names within one stretch: which of them is found, and lives on, is as the steps have it. */
static void names_come_in_order(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    double arrival[4] = { 0 }, wait[4] = { 0 };
    uint32_t prompt[] = { 7, 58, 72, 60 }, output[] = { 40, 55, 49, 38 };
    uint32_t before[] = { NOBODY, NOBODY, 0, 1 };
    const struct trace trace = { .count = 4, .arrival = arrival, .prompt = prompt,
                                 .output = output, .before = before, .wait = wait };
    struct sim_options options = usual_options();
    struct sim_result leaps, steps;
    options.users = 5;
    options.server.blocks = 18;
    options.server.max_num_seqs = 5;
    options.server.synchronous = true;
    run(&arena, &trace, &options, &leaps);
    options.stepping = true;
    run(&arena, &trace, &options, &steps);
    same_results(&trace, &leaps, &steps);
    assert_true(leaps.preemptions > 0);
    arena_free(&arena);
}

/* Room for more is made when blocks are taken; what is found stays the same. */
static void blocks_are_found_when_there_are_more(void **state)
{
    (void)state;
    enum { NAME = 7, MANY = 1000 };
    struct arena arena = { 0 };
    struct blocks *blocks = blocks_open(&arena, MANY + 1);
    uint32_t first = blocks_take(blocks), second = blocks_take(blocks);
    blocks_name(blocks, second, NAME);
    blocks_name(blocks, first, NAME);
    for (int i = 2; i < MANY; i++) {
        assert_int_equal(blocks_find(blocks, NAME), first);
        blocks_name(blocks, blocks_take(blocks), NAME + (uint64_t)i);
    }
    for (int i = 2; i < MANY; i++)
        assert_true(blocks_find(blocks, NAME + (uint64_t)i) != BLOCKS_NONE);
    arena_free(&arena);
}

/* ---- who asks ------------------------------------------------------------------------------- */

/* One user: question, answer, pause, question. */
static void one_user(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_options options = usual_options();
    struct sim_result result;
    double now = 0;
    options.users = 1;
    options.think = 0.75;
    generate(&arena, "poisson:rate=100,count=50,input=100,output=uniform(1,30)", &trace);
    run(&arena, &trace, &options, &result);
    for (size_t i = 0; i < trace.count; i++) {
        assert_float_equal(result.arrival[i], now, 1e-9);
        assert_true(result.first_token[i] > now);
        now = result.completed[i] + 0.75;
    }
    arena_free(&arena);
}

/* As many users as there are: rate x (answer + pause) = users, but for the ends. */
static void users_are_conserved(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_options options = usual_options();
    struct sim_result result;
    double times = 0;
    options.users = 40;
    options.think = 2;
    generate(&arena, "poisson:rate=100,count=20000,input=300,output=exponential(100)", &trace);
    run(&arena, &trace, &options, &result);
    for (size_t i = 0; i < trace.count; i++)
        times += result.completed[i] - result.arrival[i] + options.think;
    assert_float_equal(times / result.makespan, 40, 0.2);
    arena_free(&arena);
}

/* A later turn is asked after the answer and the wait, and finds its session in the cache. */
static void sessions_go_on(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_options options = usual_options();
    struct sim_result result;
    uint64_t found = 0;
    generate(&arena, "poisson:rate=0.2,count=50,input=200,output=50,turns=5,wait=3s", &trace);
    run(&arena, &trace, &options, &result);
    for (size_t i = 0; i < trace.count; i++) {
        uint32_t before = trace.before[i];
        if (before == UINT32_MAX)
            continue;
        assert_float_equal(result.arrival[i], result.completed[before] + 3, 1e-9);
        found += (trace.prompt[before] + trace.output[before] - 1) / 16 * 16;
    }
    assert_int_equal(result.cached_tokens, found);      /* all but the last token of an answer */
    arena_free(&arena);
}

/* ---- who is not answered -------------------------------------------------------------------- */

/* One seat, exponential service by the length of the answer, arrivals at `load` of its rate. */
static void open_single(struct arena *arena, struct sim_options *options, double load,
                        struct trace *trace)
{
    static struct cost by_step = { 1e-4, 0, 0 };
    *options = usual_options();
    options->server.scheduler = &scheduler_sarathi;
    options->server.max_num_seqs = 1;
    options->server.chunk = 100000;
    options->server.blocks = 1000000;
    options->server.context = &by_step;
    generate(arena, arena_print(arena, "poisson:rate=%.9g,count=200000,input=1,"
                                "output=exponential(10000)", load), trace);
}

/* M/M/1/K refuses (1 - r) r^K / (1 - r^(K+1)), K with the one that is served. */
static void refusals(void **state)
{
    (void)state;
    static const struct { double load; size_t room; } cases[] = { { 0.8, 3 }, { 1.2, 2 }, { 2, 5 } };
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct sim_options options;
        struct sim_result result;
        double r = cases[c].load, k = (double)cases[c].room + 1;
        double law = (1 - r) * pow(r, k) / (1 - pow(r, k + 1));
        open_single(&arena, &options, r, &trace);
        options.waiting_most = cases[c].room;
        run(&arena, &trace, &options, &result);
        double share = (double)result.refused / (double)trace.count;
        double error = sqrt(law * (1 - law) / (double)trace.count) * 3;     /* refusals cluster */
        print_message("load %g, %zu places: %.4f refused, law %.4f\n", r, cases[c].room, share, law);
        assert_float_equal(share, law, 3 * error);
        arena_free(&arena);
    }
}

/* M/M/1 whose customers leave the queue after a time D: Barrer 1957. The share that leaves is
 * (1 - r) r e^(-(1 - r) D) / (1 - r^2 e^(-(1 - r) D)), with rate 1. */
static void lost_patience(void **state)
{
    (void)state;
    static const struct { double load, patience; } cases[] = { { 0.8, 1 }, { 0.9, 4 }, { 1.5, 2 } };
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct sim_options options;
        struct sim_result result;
        double r = cases[c].load, d = cases[c].patience, decay = exp(-(1 - r) * d);
        double law = (1 - r) * r * decay / (1 - r * r * decay);
        open_single(&arena, &options, r, &trace);
        options.patience = d;
        run(&arena, &trace, &options, &result);
        double share = (double)result.gave_up / (double)trace.count;
        print_message("load %g, patience %g: %.4f gave up, law %.4f\n", r, d, share, law);
        assert_float_equal(share, law, 9 * sqrt(law * (1 - law) / (double)trace.count));
        arena_free(&arena);
    }
}

/* ---- replicas that fail, come and go -------------------------------------------------------- */

/* A replica is up for fails_every of each fails_every + restart; all requests end. */
static void failures(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_options options = usual_options();
    struct sim_result result;
    options.replicas = 4;
    options.fails_every = 50;
    options.restart = 50;
    generate(&arena, "poisson:rate=2,count=40000,input=200,output=50", &trace);
    run(&arena, &trace, &options, &result);
    for (size_t i = 0; i < trace.count; i++)
        assert_true(result.completed[i] >= result.first_token[i] && result.first_token[i] > 0);
    double expected = 4 * result.makespan / 100;
    print_message("%llu failures, %.0f expected\n", (unsigned long long)result.failures, expected);
    assert_float_equal((double)result.failures, expected, 3 * sqrt(expected / 2));
    assert_true(result.lost > 0);
    arena_free(&arena);
}

/* A burst of four times the load: servers come, and leave afterwards. */
static void scaling(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace, burst;
    struct sim_options options = usual_options();
    struct sim_result fixed, scaled;
    generate(&arena, "poisson:rate=4,count=2000,input=300,output=200", &trace);
    burst = trace;
    for (size_t i = 500; i < 1500; i++)                 /* the middle half comes at once */
        burst.arrival[i] = trace.arrival[500] + (trace.arrival[i] - trace.arrival[500]) / 8;
    for (size_t i = 1500; i < 2000; i++)
        burst.arrival[i] -= (trace.arrival[1500] - trace.arrival[500]) * 7 / 8;
    options.replicas = 4;
    run(&arena, &burst, &options, &fixed);
    options.replicas = 1;
    options.scaling = (struct sim_scaling){ .most = 4, .load = 24, .every = 1, .start_up = 2 };
    run(&arena, &burst, &options, &scaled);
    print_message("servers there: %.0f s fixed, %.0f s with the load\n", fixed.pool_there[0],
                  scaled.pool_there[0]);
    assert_float_equal(fixed.pool_there[0], 4 * fixed.makespan, 1e-6);
    assert_true(scaled.pool_there[0] < 0.6 * fixed.pool_there[0]);
    assert_true(scaled.pool_there[0] > 1.1 * scaled.makespan);
    arena_free(&arena);
}

/* ---- two pools ------------------------------------------------------------------------------ */

/* One request: its prompt alone, its cache over the link, its decodes alone. */
static void pools_by_hand(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_options options = usual_options();
    struct sim_result result;
    const struct sim_step prompt = { .prompt = 500 };
    double now = linear(&usual_cost, &prompt);
    generate(&arena, "constant:rate=1,count=1,input=500,output=20", &trace);
    options.split = (struct sim_split){ .replicas = 1, .server = options.server, .bandwidth = 1e9,
                                        .latency = 0.002, .token_bytes = 1e5 };
    run(&arena, &trace, &options, &result);
    assert_float_equal(result.first_token[0], now, 1e-12);
    now += 0.002 + 500 * 1e5 / 1e9;
    for (int token = 1; token < 20; token++) {
        const struct sim_step decode = { .decoding = 1, .decode_cached = 499 + token };
        now += linear(&usual_cost, &decode);
    }
    assert_float_equal(result.completed[0], now, 1e-9);
    assert_float_equal(result.moved_bytes, 5e7, 1e-3);
    options.split.first_after = true;                   /* then the user reads nothing before */
    run(&arena, &trace, &options, &result);
    assert_float_equal(result.first_token[0], linear(&usual_cost, &prompt) + 0.002 + 500 * 1e5 / 1e9, 1e-12);
    assert_float_equal(result.completed[0], now, 1e-9);
    options.server.stages = options.split.server.stages = 2;
    for (int after = 0; after < 2; after++) {
        options.split.first_after = after;
        run(&arena, &trace, &options, &result);         /* of the gaps that its user sees, the transfer is the first */
        assert_float_equal(result.gaps->sum, result.completed[0] - result.first_token[0], 1e-9);
    }
    arena_free(&arena);
}

/* Two caches that set out together share the link. */
static void pools_share_the_link(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    double arrival[] = { 0, 0 };
    uint32_t prompt[] = { 256, 256 }, output[] = { 2, 2 };
    struct trace trace = { .count = 2, .arrival = arrival, .prompt = prompt, .output = output };
    struct sim_options options = usual_options();
    struct sim_result result;
    options.split = (struct sim_split){ .replicas = 1, .server = options.server, .bandwidth = 1e9,
                                        .token_bytes = 1e6 };
    run(&arena, &trace, &options, &result);
    const struct sim_step both = { .decoding = 2, .decode_cached = 512 };
    for (int i = 0; i < 2; i++)
        assert_float_equal(result.completed[i] - result.first_token[i],
                           2 * 256e6 / 1e9 + linear(&usual_cost, &both), 1e-9);
    arena_free(&arena);
}

/* ---- routers that look now and then ----------------------------------------------------------- */

/* Looking at every request is to see every queue; one look at empty replicas of equal requests, and then counting what was
 * sent, is to take turns. */
static void looks_at_both_ends(void **state)
{
    (void)state;
    static const struct scheduler *const some[] = { &scheduler_sarathi, &scheduler_vllm_v1, &scheduler_sglang,
                                                    &scheduler_trtllm };
    static const char *const words[] = { "poisson:rate=60,count=3000,input=1..900,output=exponential(100),seed=5",
                                         "poisson:rate=60,count=3000,input=500,output=100,seed=5" };
    for (size_t k = 0; k < 4 * COUNT(some); k++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct sim_options options = usual_options();
        struct sim_result known, often, turns, once;
        const bool failing = k / 2 % 2;
        options.server.scheduler = some[k / 4];
        options.replicas = 11;
        options.router = k % 2 ? ROUTER_LEAST_TOKENS : ROUTER_LEAST_PENDING;
        options.fails_every = failing ? 60 : 0;
        options.restart = 3;
        generate(&arena, words[0], &trace);
        run(&arena, &trace, &options, &known);
        options.refresh = 1e-9;
        run(&arena, &trace, &options, &often);
        assert_memory_equal(known.completed, often.completed, trace.count * sizeof(double));
        assert_memory_equal(known.first_token, often.first_token, trace.count * sizeof(double));
        assert_true(!failing || known.failures);
        generate(&arena, words[1], &trace);
        options.fails_every = 0;
        options.refresh = 1e6;
        run(&arena, &trace, &options, &once);
        options.router = ROUTER_ROUND_ROBIN;
        run(&arena, &trace, &options, &turns);
        assert_memory_equal(once.completed, turns.completed, trace.count * sizeof(double));
        arena_free(&arena);
    }
}

/* A replica that comes up does not get all that comes until the router would look again. */
static void replicas_come_back(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_options options = usual_options();
    struct sim_result result;
    double waited[2] = { 0 };
    options.replicas = 8;
    options.router = ROUTER_LEAST_TOKENS;
    options.fails_every = 500;
    options.restart = 30;
    generate(&arena, "poisson:rate=60,count=20000,input=500,output=100", &trace);
    for (int often = 0; often < 2; often++) {
        options.refresh = often ? 0 : 100;
        run(&arena, &trace, &options, &result);
        for (size_t i = 0; i < trace.count; i++)
            waited[often] += result.first_token[i] - result.arrival[i];
    }
    assert_true(result.failures > 3 && waited[0] < 1.2 * waited[1]);
    arena_free(&arena);
}

/* ---- long traces -------------------------------------------------------------------------------- */

struct copied {
    struct sim_result *from;
    double *arrival, *first_token, *completed;
    const double *pages;            /* of the run, where `completed` stands */
    uint32_t *restarts;
    size_t read;
};

static void copy_some(void *context, size_t first, size_t end)
{
    struct copied *copied = context;
    assert_true(first == copied->read && end > first);
    for (size_t i = first; i < end; i++) {
        copied->arrival[i] = copied->from->arrival[i];
        copied->first_token[i] = copied->from->first_token[i];
        copied->completed[i] = copied->from->completed[i];
        copied->restarts[i] = copied->from->restarts[i];
    }
    copied->pages = copied->from->completed;
    copied->read = end;
}

/* Requests that are drawn while they arrive and forgotten when they have left have the same bits as those that are kept. */
static void forgotten_requests_ran(void **state)
{
    (void)state;
    static const struct scheduler *const some[] = { &scheduler_sarathi, &scheduler_vllm_v1, &scheduler_sglang,
                                                    &scheduler_trtllm, &scheduler_vllm_v1 };
    const char *words = "poisson:rate=80,count=110000,input=50..500,output=exponential(60),seed=3";
    for (size_t k = 0; k < 2 * COUNT(some); k++) {
        struct arena arena = { 0 };
        struct error error;
        struct trace kept, drawn, again;
        struct generate_change forget = { .forget = true };
        struct sim_result *results = arena_array(&arena, 2, sizeof *results);
        struct copied copied = { .from = &results[1] };
        struct sim_options options = usual_options();
        options.server.scheduler = some[k / 2];
        options.server.stages = k / 2 < COUNT(some) - 1 ? 1 : 2;
        options.replicas = 3;
        options.router = ROUTER_LEAST_TOKENS;
        if (k % 2) {                                /* some leave without an answer, others come again */
            options.server.blocks = 500;
            options.patience = 2;
            options.waiting_most = 40;
            options.fails_every = 100;
            options.restart = 2;
        }
        generate(&arena, words, &kept);
        assert_true(generate_changed(&arena, words, &forget, &drawn, &error) && drawn.source && drawn.count == kept.count);
        generate_again(&arena, &drawn, 1, false, &again);
        copied.arrival = arena_array(&arena, kept.count, sizeof(double));
        copied.first_token = arena_array(&arena, kept.count, sizeof(double));
        copied.completed = arena_array(&arena, kept.count, sizeof(double));
        copied.restarts = arena_array(&arena, kept.count, sizeof(uint32_t));
        run(&arena, &kept, &options, &results[0]);
        options.reader = (struct sim_reader){ &copied, copy_some };
        run(&arena, &again, &options, &results[1]);
        assert_int_equal(copied.read, kept.count);
        assert_true(results[0].completed && !results[1].completed && !results[1].restarts);
        assert_memory_equal(copied.arrival, results[0].arrival, kept.count * sizeof(double));
        assert_memory_equal(copied.first_token, results[0].first_token, kept.count * sizeof(double));
        assert_memory_equal(copied.completed, results[0].completed, kept.count * sizeof(double));
        assert_memory_equal(copied.restarts, results[0].restarts, kept.count * sizeof(uint32_t));
        assert_true(results[0].makespan == results[1].makespan && results[0].busy == results[1].busy);
        assert_int_equal(results[0].iterations, results[1].iterations);
        assert_memory_equal(results[0].gaps, results[1].gaps, sizeof *results[0].gaps);
        assert_int_equal(results[0].gave_up + results[0].refused, results[1].gave_up + results[1].refused);
        assert_true(!(k % 2) || (results[0].gave_up && results[0].refused && results[0].failures && results[0].lost));
#ifdef __linux__
        assert_true(copied.pages[kept.count / 2] == 0);                 /* its page was given back */
#endif
        arena_free(&arena);
    }
}

/* ---- tiers ---------------------------------------------------------------------------------- */

/* Sessions that come one at a time through a cache too small to keep any: a tier below that is
 * fast and large finds what a cache without end would find, a slow one is not asked. */
static void tiers_find_again(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_options options = usual_options();
    struct sim_result none, large, slow, fast;
    generate(&arena, "constant:rate=0.5,count=200,input=100,output=50,turns=4,wait=500s", &trace);
    options.server.blocks = 1000000;
    run(&arena, &trace, &options, &large);
    options.server.blocks = 64;
    run(&arena, &trace, &options, &none);
    options.token_bytes = 1e5;
    options.tiers = 1;
    options.tier[0] = (struct tier_options){ .capacity = 1000000, .bandwidth = 1e12 };
    run(&arena, &trace, &options, &fast);
    options.tier[0].bandwidth = 1e3;
    run(&arena, &trace, &options, &slow);
    assert_true(large.cached_tokens > 100000);
    assert_int_equal(none.cached_tokens, 0);
    /* what is still in the small cache when its session ends is found nowhere else later */
    assert_true(fast.fetched_tokens + fast.cached_tokens <= large.cached_tokens);
    assert_true((double)(fast.fetched_tokens + fast.cached_tokens) >
                0.99 * (double)large.cached_tokens);
    assert_int_equal(slow.fetched_tokens, 0);
    arena_free(&arena);
}

/* A slow tier is not sooner, but cheaper than a dear machine. */
static void tiers_are_cheaper(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_options options = usual_options();
    struct sim_result sooner, cheaper, dear;
    generate(&arena, "constant:rate=0.5,count=100,input=200,output=50,turns=3,wait=500s", &trace);
    options.server.blocks = 64;
    options.token_bytes = 1e5;
    options.tiers = 1;
    options.tier[0] = (struct tier_options){ .capacity = 1000000, .bandwidth = 1e7,
                                             .fetch_price = 1e-12 };
    run(&arena, &trace, &options, &sooner);
    options.fetch_cheaper = true;
    options.replica_price = 1;
    run(&arena, &trace, &options, &cheaper);
    options.tier[0].fetch_price = 1;
    run(&arena, &trace, &options, &dear);
    assert_int_equal(sooner.fetched_tokens, 0);
    assert_true(cheaper.fetched_tokens > 10000);
    assert_int_equal(dear.fetched_tokens, 0);
    arena_free(&arena);
}

/* Requests that throw each other out are stopped, with the reason. */
static void loops_stop(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_options options = usual_options();
    struct sim_result result;
    struct error error;
    generate(&arena, "constant:rate=1000,count=30,input=20,output=600", &trace);
    options.server.blocks = 60;
    options.restarts_most = 3;
    assert_false(sim_run(&arena, &trace, &options, &result, &error));
    assert_non_null(strstr(error.what, "they throw each other out"));
    options.restarts_most = 0;
    run(&arena, &trace, &options, &result);             /* here they do not for ever */
    assert_true(result.preemptions > 3);
    arena_free(&arena);
}

/* ---- classes, drafts, ranks ----------------------------------------------------------------- */

/* With 4 sequences in a step that has a fast one, fast tokens take no longer than steps of 4;
 * slow ones only run beside them. */
static void fast_class(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_options options = usual_options();
    struct sim_result result;
    double slowest[2] = { 0, 0 }, ttft[2] = { 0, 0 };
    generate(&arena, "poisson:rate=4,count=2000,input=16,output=100,class=fast(1)|slow(9)", &trace);
    assert_int_equal(trace.priority_classes, 2);
    options.server.class_most[0] = 4;
    run(&arena, &trace, &options, &result);
    for (size_t i = 0; i < trace.count; i++) {
        double tpot = (result.completed[i] - result.first_token[i]) / (trace.output[i] - 1);
        slowest[trace.priority_class[i]] = fmax(slowest[trace.priority_class[i]], tpot);
        ttft[trace.priority_class[i]] = fmax(ttft[trace.priority_class[i]],
                                             result.first_token[i] - result.arrival[i]);
    }
    const struct sim_step four = { .decoding = 3, .prompt = 16, .decode_cached = 3 * 116 };
    print_message("slowest TPOT: fast %.4f, slow %.4f s; TTFT %.3f, %.3f\n", slowest[0], slowest[1],
                  ttft[0], ttft[1]);
    assert_true(slowest[0] <= linear(&usual_cost, &four));
    assert_true(slowest[1] > 2 * slowest[0]);
    assert_true(result.class_seconds[0] > 0);
    assert_float_equal(result.class_seconds[0] + result.class_seconds[1], result.busy,
                       1e-9 * result.busy);
    arena_free(&arena);
}

/* Guesses that always hold give 1 + k tokens a step, ones that never hold none more. */
static void drafts(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct sim_options options = usual_options();
    struct sim_result result;
    generate(&arena, "constant:rate=0.1,count=10,input=100,output=101", &trace);
    options.server.synchronous = true;                  /* else one more step flies when they end */
    options.server.draft = 3;
    options.server.accepted = 1;
    run(&arena, &trace, &options, &result);
    assert_int_equal(result.iterations, 10 * (1 + 25));
    options.server.accepted = 0;
    run(&arena, &trace, &options, &result);
    assert_int_equal(result.iterations, 10 * (1 + 100));
    options.server.accepted = 0.6;                      /* 1 + 0.6 + 0.36 + 0.216 a step */
    generate(&arena, "constant:rate=0.1,count=300,input=100,output=1001", &trace);
    run(&arena, &trace, &options, &result);
    double steps = (double)result.iterations / (double)trace.count - 1;
    assert_float_equal(1000 / steps, 2.176, 0.01);
    arena_free(&arena);
}

/* Two ranks that get the same requests run as one alone does. */
static void ranks_step_together(void **state)
{
    (void)state;
    enum { PAIRS = 40 };
    struct arena arena = { 0 };
    struct trace one, two;
    struct sim_options options = usual_options();
    struct sim_result alone, both;
    generate(&arena, "constant:rate=8,count=40,input=300,output=150", &one);
    two = one;
    two.count = 2 * PAIRS;
    two.arrival = arena_array(&arena, two.count, sizeof *two.arrival);
    two.prompt = arena_array(&arena, two.count, sizeof *two.prompt);
    two.output = arena_array(&arena, two.count, sizeof *two.output);
    for (size_t i = 0; i < two.count; i++) {
        two.arrival[i] = one.arrival[i / 2];
        two.prompt[i] = one.prompt[i / 2];
        two.output[i] = one.output[i / 2];
    }
    run(&arena, &one, &options, &alone);
    options.server.ranks = 2;
    run(&arena, &two, &options, &both);
    for (size_t i = 0; i < two.count; i++)
        assert_float_equal(both.completed[i], alone.completed[i / 2], 1e-9);
    assert_int_equal(both.iterations, alone.iterations);
    assert_int_equal(both.batch_tokens, 2 * alone.batch_tokens);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaps_are_steps),  cmocka_unit_test(leaps_are_steps_in_ties),
        cmocka_unit_test(comes_when_a_step_ends), cmocka_unit_test(names_come_in_order),
        cmocka_unit_test(blocks_are_found_when_there_are_more), cmocka_unit_test(one_user),
        cmocka_unit_test(users_are_conserved), cmocka_unit_test(sessions_go_on),
        cmocka_unit_test(refusals),         cmocka_unit_test(lost_patience),
        cmocka_unit_test(failures),         cmocka_unit_test(scaling),
        cmocka_unit_test(pools_by_hand),    cmocka_unit_test(pools_share_the_link),
        cmocka_unit_test(tiers_find_again), cmocka_unit_test(tiers_are_cheaper),
        cmocka_unit_test(loops_stop),       cmocka_unit_test(fast_class),
        cmocka_unit_test(drafts),           cmocka_unit_test(replicas_come_back), cmocka_unit_test(forgotten_requests_ran),
        cmocka_unit_test(looks_at_both_ends),
        cmocka_unit_test(ranks_step_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
