/* The simulator against a second program of the same rules in words, against its own stepping
 * path, against reference runs where they are present, and against the theory of queues. */
#include "test.h"

#include "sim/cache/prefix.h"
#include "sim/schedulers/schedulers.h"
#include "sim/traffic/trace_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds of a step with so many tokens, cached tokens before them, and sequences. */
struct cost {
    double base, by_token, by_cached, by_sequence;
};

static double cost_of(const struct cost *cost, double tokens, double cached, double sequences)
{
    return cost->base + cost->by_token * tokens + cost->by_cached * cached +
           cost->by_sequence * sequences;
}

static double linear(void *context, const struct sim_step *step)
{
    return cost_of(context, step->decoding + step->prompt,
                   step->decode_cached + step->prompt_cached, step->sequences);
}

/* ---- a second program, slow and plain ----------------------------------------------------- */

enum { MOST = 400 };

struct plain {
    const struct trace *trace;
    const struct sim_options *options;
    uint64_t prompt[MOST], total[MOST], done[MOST], blocks[MOST];
    bool admitted[MOST];
    size_t waiting[MOST], running[MOST], batch[MOST], waiting_count, running_count, batch_count;
    uint64_t take[MOST], free_blocks, iterations, preemptions, arrived;
    double now, first[MOST], last[MOST];
};

static void drop(size_t *list, size_t *count, size_t at)
{
    memmove(&list[at], &list[at + 1], (--*count - at) * sizeof *list);
}

static void put_first(size_t *list, size_t *count, size_t id)
{
    memmove(&list[1], &list[0], (*count)++ * sizeof *list);
    list[0] = id;
}

static uint64_t ceiling(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

static void plain_restart(struct plain *p, size_t id)
{
    p->free_blocks += p->blocks[id];
    p->blocks[id] = 0;
    p->admitted[id] = false;
    p->prompt[id] = p->done[id];
    p->done[id] = 0;
    p->preemptions++;
    put_first(p->waiting, &p->waiting_count, id);
}

static void plain_add(struct plain *p, size_t id, uint64_t tokens)
{
    p->batch[p->batch_count] = id;
    p->take[p->batch_count++] = tokens;
}

static uint64_t plain_tokens(const struct plain *p)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < p->batch_count; i++)
        sum += p->take[i];
    return sum;
}

static size_t plain_admitted(const struct plain *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->trace->count; i++)
        count += p->admitted[i];
    return count;
}

static int by_id(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Rule 4 of the words: sort, walk, preempt; returns those in their prompt. */
static size_t plain_walk(struct plain *p, size_t *aside)
{
    size_t count = 0;
    qsort(p->running, p->running_count, sizeof *p->running, by_id);
    while (p->running_count && p->batch_count < p->options->server.max_num_seqs) {
        size_t id = p->running[0];
        drop(p->running, &p->running_count, 0);
        if (p->done[id] < p->prompt[id]) {
            aside[count++] = id;
            continue;
        }
        while (!p->free_blocks && p->running_count)
            plain_restart(p, p->running[--p->running_count]);
        if (!p->free_blocks) {
            plain_restart(p, id);
            break;
        }
        if (p->done[id] > p->blocks[id] * p->options->server.block) {
            p->blocks[id]++;
            p->free_blocks--;
        }
        plain_add(p, id, 1);
    }
    return count;
}

static bool plain_admit(struct plain *p)
{
    const struct sim_options *o = p->options;
    if (!p->waiting_count || plain_admitted(p) == o->server.max_num_seqs ||
        p->batch_count == o->server.max_num_seqs)
        return false;
    size_t id = p->waiting[0];
    uint64_t needed = ceiling(p->prompt[id], o->server.block), tokens = p->prompt[id];
    if (p->free_blocks < needed + (uint64_t)floor(o->server.watermark * (double)o->server.blocks))
        return false;
    if (o->server.scheduler == &scheduler_sarathi) {
        uint64_t used = plain_tokens(p);
        if (used >= o->server.chunk)
            return false;
        tokens = tokens < o->server.chunk - used ? tokens : o->server.chunk - used;
    } else {
        uint64_t longest = tokens;
        for (size_t i = 0; i < p->batch_count; i++)
            longest = p->prompt[p->batch[i]] > longest ? p->prompt[p->batch[i]] : longest;
        if ((p->batch_count + 1) * longest > o->server.batch_tokens_most)
            return false;
    }
    drop(p->waiting, &p->waiting_count, 0);
    p->free_blocks -= needed;
    p->blocks[id] = needed;
    p->admitted[id] = true;
    plain_add(p, id, tokens);
    return true;
}

static void plain_form(struct plain *p)
{
    size_t aside[MOST], count = 0;
    p->batch_count = 0;
    if (p->options->server.scheduler == &scheduler_vllm_2023) {
        while (plain_admit(p))
            ;
        if (!p->batch_count)
            count = plain_walk(p, aside);
    } else {
        count = plain_walk(p, aside);
        for (size_t i = 0; i < count; i++) {
            uint64_t used = plain_tokens(p), rest = p->prompt[aside[i]] - p->done[aside[i]];
            if (used < p->options->server.chunk)
                plain_add(p, aside[i], rest < p->options->server.chunk - used ? rest
                                                                       : p->options->server.chunk - used);
            else
                p->running[p->running_count++] = aside[i];
        }
        while (plain_admit(p))
            ;
    }
}

static void plain_end(struct plain *p)
{
    for (size_t i = 0; i < p->batch_count; i++) {
        size_t id = p->batch[i];
        p->done[id] += p->take[i];
        if (p->done[id] == p->prompt[id]) {
            p->done[id]++;
            if (p->first[id] < 0)
                p->first[id] = p->now;
        }
        if (p->done[id] == p->total[id]) {
            p->last[id] = p->now;
            p->free_blocks += p->blocks[id];
            p->admitted[id] = false;
        } else {
            p->running[p->running_count++] = id;
        }
    }
}

static void plain_arrivals(struct plain *p, double until)
{
    for (; p->arrived < p->trace->count && p->trace->arrival[p->arrived] <= until; p->arrived++)
        p->waiting[p->waiting_count++] = p->arrived;
}

static void plain_run(struct plain *p, const struct trace *trace, const struct sim_options *o)
{
    *p = (struct plain){ .trace = trace, .options = o, .free_blocks = o->server.blocks };
    for (size_t i = 0; i < trace->count; i++) {
        p->prompt[i] = trace->prompt[i];
        p->total[i] = trace->prompt[i] + trace->output[i];
        p->first[i] = -1;
    }
    for (;;) {
        plain_arrivals(p, p->now);
        plain_form(p);
        if (!p->batch_count) {
            if (p->arrived == trace->count)
                return;
            p->now = trace->arrival[p->arrived];
            continue;
        }
        double tokens = 0, cached = 0;
        for (size_t i = 0; i < p->batch_count; i++) {
            tokens += (double)p->take[i];
            cached += (double)p->done[p->batch[i]];
        }
        p->now += cost_of(o->server.context, tokens, cached, (double)p->batch_count);
        p->iterations++;
        plain_end(p);
    }
}

/* ---- random workloads ----------------------------------------------------------------------- */

static void draw_trace(struct arena *arena, uint64_t *seed, struct trace *trace)
{
    size_t count = 2 + (size_t)(draw(seed) * (draw(seed) < 0.2 ? MOST - 3 : 60));
    double now = 0, pace = pow(10, -2 + 2 * draw(seed));
    *trace = (struct trace){ .count = count, .arrival = arena_array(arena, count, sizeof(double)),
                             .prompt = arena_array(arena, count, sizeof(uint32_t)),
                             .output = arena_array(arena, count, sizeof(uint32_t)) };
    for (size_t i = 0; i < count; i++) {
        trace->arrival[i] = now;
        trace->prompt[i] = 1 + (uint32_t)(draw(seed) * 300);
        trace->output[i] = 1 + (uint32_t)(draw(seed) * 120);
        if (draw(seed) > 0.2)                       /* some arrive together */
            now += -log(1 - draw(seed)) * pace;
    }
}

static void draw_options(uint64_t *seed, struct sim_options *options, struct cost *cost)
{
    static const size_t sizes[] = { 1, 4, 16 };
    *options = (struct sim_options){
        .server.scheduler = draw(seed) < 0.5 ? &scheduler_sarathi : &scheduler_vllm_2023,
        .replicas = 1, .server.max_num_seqs = 1 + (size_t)(draw(seed) * 40), .server.chunk = 8 + (size_t)(draw(seed) * 300),
        .server.batch_tokens_most = 600 + (size_t)(draw(seed) * 2000),
        .server.block = sizes[(size_t)(draw(seed) * 3)], .server.watermark = draw(seed) < 0.5 ? 0 : 0.01,
        .server.seconds = linear, .server.context = cost,
    };
    *cost = (struct cost){ 0.01 * draw(seed) + 1e-4, 1e-4 * draw(seed), 1e-6 * draw(seed),
                           1e-4 * draw(seed) };
    options->server.blocks = (size_t)(460 / options->server.block * (1 + 8 * draw(seed) * draw(seed)));
}

static void same_times(const struct trace *trace, const double *first, const double *last,
                       const struct sim_result *result)
{
    for (size_t i = 0; i < trace->count; i++) {
        if (fabs(first[i] - result->first_token[i]) > 1e-9 ||
            fabs(last[i] - result->completed[i]) > 1e-9)
            fail_msg("request %zu: %.12f %.12f, and %.12f %.12f", i, first[i], last[i],
                     result->first_token[i], result->completed[i]);
    }
}

static void words_and_leaps_agree(void **state)
{
    (void)state;
    static struct plain plain;
    uint64_t seed = 7, preemptions = 0, iterations = 0;
    for (int turn = 0; turn < rounds(1000); turn++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct sim_options options;
        struct sim_result leaps, steps;
        struct error error;
        draw_trace(&arena, &seed, &trace);
        struct cost cost;
        draw_options(&seed, &options, &cost);
        if (!sim_run(&arena, &trace, &options, &leaps, &error))
            fail_msg("%s", error.what);
        options.stepping = true;
        assert_true(sim_run(&arena, &trace, &options, &steps, &error));
        plain_run(&plain, &trace, &options);
        same_times(&trace, plain.first, plain.last, &leaps);
        same_times(&trace, steps.first_token, steps.completed, &leaps);
        assert_int_equal(plain.iterations, leaps.iterations);
        assert_int_equal(plain.preemptions, leaps.preemptions);
        assert_int_equal(steps.iterations, leaps.iterations);
        preemptions += leaps.preemptions;
        iterations += leaps.iterations;
        arena_free(&arena);
    }
    print_message("%d workloads, %llu iterations, %llu preemptions\n", rounds(1000),
                  (unsigned long long)iterations, (unsigned long long)preemptions);
    assert_true(preemptions > 1000);
}

/* Replicas: each in turn is as many servers with a part of the trace each. Every third request
 * is a long one, so that in turn they meet on one server, and by tokens they do not. */
static void share_by(struct arena *arena, const struct trace *trace, struct sim_options *options)
{
    size_t servers = options->replicas;
    double wait[ROUTER_COUNT] = { 0 };
    for (int router = 0; router < ROUTER_COUNT; router++) {
        struct sim_result together, alone;
        struct error error;
        options->router = (enum router)router;
        options->replicas = servers;
        assert_true(sim_run(arena, trace, options, &together, &error));
        assert_true(together.busy > 0 && together.busy <= (double)servers * together.makespan);
        for (size_t i = 0; i < trace->count; i++)
            wait[router] += (together.first_token[i] - trace->arrival[i]) / (double)trace->count;
        options->replicas = 1;
        for (size_t r = 0; r < servers && router == ROUTER_ROUND_ROBIN; r++) {
            struct trace part = { .arrival = arena_array(arena, trace->count, sizeof(double)),
                                  .prompt = arena_array(arena, trace->count, sizeof(uint32_t)),
                                  .output = arena_array(arena, trace->count, sizeof(uint32_t)) };
            for (size_t i = r; i < trace->count; i += servers, part.count++) {
                part.arrival[part.count] = trace->arrival[i];
                part.prompt[part.count] = trace->prompt[i];
                part.output[part.count] = trace->output[i];
            }
            assert_true(sim_run(arena, &part, options, &alone, &error));
            for (size_t i = 0; i < part.count; i++)
                assert_true(fabs(alone.completed[i] - together.completed[r + i * servers]) < 1e-9);
        }
    }
    options->replicas = servers;
    print_message("%s: wait %.3f s in turn, %.3f least pending, %.3f least tokens\n",
                  options->server.scheduler->name, wait[0], wait[1], wait[2]);
    assert_true(wait[ROUTER_LEAST_TOKENS] < 0.8 * wait[ROUTER_ROUND_ROBIN]);
}

static void routers_share(void **state)
{
    (void)state;
    enum { ALL = 3000, SERVERS = 3 };
    struct arena arena = { 0 };
    uint64_t seed = 11;
    struct cost cost = { 0.01, 5e-5, 8e-8, 0 };
    struct sim_options options = { .replicas = SERVERS, .server.max_num_seqs = 16, .server.chunk = 256,
                                   .server.blocks = 4000, .server.block = 16, .server.watermark = 0.01,
                                   .server.seconds = linear, .server.context = &cost };
    struct trace trace = { .count = ALL, .arrival = arena_array(&arena, ALL, sizeof(double)),
                           .prompt = arena_array(&arena, ALL, sizeof(uint32_t)),
                           .output = arena_array(&arena, ALL, sizeof(uint32_t)) };
    double now = 0;
    for (size_t i = 0; i < ALL; i++) {
        trace.arrival[i] = now += -log(1 - draw(&seed)) * 0.08;
        trace.prompt[i] = 1 + (uint32_t)(-log(1 - draw(&seed)) * 600);
        trace.output[i] = 1 + (uint32_t)(draw(&seed) * (i % SERVERS ? 200 : 600));
    }
    options.server.scheduler = &scheduler_sarathi;
    share_by(&arena, &trace, &options);
    options.server.scheduler = &scheduler_vllm_v1;
    share_by(&arena, &trace, &options);
    arena_free(&arena);
}

/* ---- vllm-v1 ------------------------------------------------------------------------------ */

static double by_part(void *context, const struct sim_step *step)
{
    (void)context;
    return 1 + (step->prompt > 0 ? 1 : 0);          /* a step with prompts takes twice as long */
}

/* By hand, steps of 1 s, of 2 s with prompts in them, at most 100 tokens. Request 0 has 250
 * tokens, so three steps of 2 s, and 4 outputs; request 1 comes at 1 with 50 and 2 outputs. In
 * step order with two in flight: steps 1 and 2 are formed at 0, step 3 (50 of 0, 50 of 1) at the
 * end of 1. First tokens at 6; then decodes: 0 ends after three more steps, 1 after one. */
static void vllm_by_hand(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    double arrival[] = { 0, 1 };
    uint32_t prompt[] = { 250, 50 }, output[] = { 4, 2 };
    struct trace trace = { .count = 2, .arrival = arrival, .prompt = prompt, .output = output };
    struct sim_options options = { .server.scheduler = &scheduler_vllm_v1, .replicas = 1,
                                   .server.max_num_seqs = 8,
                                   .server.chunk = 100, .server.blocks = 100, .server.block = 16, .server.seconds = by_part };
    struct sim_result result;
    struct error error;
    assert_true(sim_run(&arena, &trace, &options, &result, &error));
    assert_true(result.first_token[0] == 6 && result.first_token[1] == 6);
    assert_true(result.completed[0] == 9 && result.completed[1] == 7);
    assert_int_equal(result.iterations, 6);
    /* at 5.5, in step 3: seen at its end, two steps in flight, so in step 5, shown at its end;
       without steps ahead one step sooner */
    arrival[1] = 5.5;
    assert_true(sim_run(&arena, &trace, &options, &result, &error));
    assert_true(result.first_token[1] == 9);
    options.server.synchronous = true;
    assert_true(sim_run(&arena, &trace, &options, &result, &error));
    assert_true(result.first_token[1] == 8);
    arena_free(&arena);
}

/* The second request finds two of its three full blocks; the last token is always computed. */
static void vllm_finds_prefixes(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct error error;
    struct sim_options options = { .server.scheduler = &scheduler_vllm_v1, .replicas = 1,
                                   .server.max_num_seqs = 8,
                                   .server.chunk = 100, .server.blocks = 100, .server.block = 16, .server.seconds = by_part };
    struct sim_result result;
    assert_true(trace_read(&arena, "tests/fixtures/traces/names.csv", 1, &trace, &error));
    assert_true(sim_run(&arena, &trace, &options, &result, &error));
    assert_int_equal(result.batch_tokens, 40 + 9 + (60 - 2 * 16) + 9);
    arena_free(&arena);
}

/* Random traffic with too little room: all end, and what is processed is what was asked, what
 * prefixes spared and what preemption made again. */
static void vllm_ends(void **state)
{
    (void)state;
    uint64_t seed = 5, preemptions = 0;
    for (int turn = 0; turn < rounds(300); turn++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct cost cost;
        struct sim_options options;
        struct sim_result result;
        struct error error;
        uint64_t least = 0;
        draw_trace(&arena, &seed, &trace);
        draw_options(&seed, &options, &cost);
        options.server.scheduler = &scheduler_vllm_v1;
        options.server.watermark = 0;
        options.server.blocks += 2;
        options.server.synchronous = turn % 2;
        if (!sim_run(&arena, &trace, &options, &result, &error))
            fail_msg("%s", error.what);
        for (size_t i = 0; i < trace.count; i++) {
            least += trace.prompt[i] + trace.output[i] - 1;
            assert_true(result.first_token[i] > trace.arrival[i]);
            assert_true(result.completed[i] >= result.first_token[i]);
        }
        assert_true(result.batch_tokens >= least);
        assert_true(result.preemptions || result.batch_tokens == least);
        preemptions += result.preemptions;
        arena_free(&arena);
    }
    print_message("%llu preemptions\n", (unsigned long long)preemptions);
    assert_true(preemptions > 100);
}

/* A stretch of steps in one sum is every step by itself. */
static void vllm_leaps_agree(void **state)
{
    (void)state;
    uint64_t seed = 11, preemptions = 0;
    for (int turn = 0; turn < rounds(1000); turn++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct cost cost;
        struct sim_options options;
        struct sim_result leaps, steps;
        struct error error;
        draw_trace(&arena, &seed, &trace);
        draw_options(&seed, &options, &cost);
        options.server.scheduler = &scheduler_vllm_v1;
        options.server.watermark = 0;
        options.server.blocks += 2;
        options.server.synchronous = turn % 2;
        options.replicas = 1 + (size_t)turn % 3;
        options.router = (enum router)(turn % ROUTER_COUNT);
        assert_true(sim_run(&arena, &trace, &options, &leaps, &error));
        options.stepping = true;
        assert_true(sim_run(&arena, &trace, &options, &steps, &error));
        same_times(&trace, steps.first_token, steps.completed, &leaps);
        assert_int_equal(steps.iterations, leaps.iterations);
        assert_int_equal(steps.preemptions, leaps.preemptions);
        assert_int_equal(steps.batch_tokens, leaps.batch_tokens);
        assert_float_equal(steps.busy, leaps.busy, 1e-9 * steps.busy);
        preemptions += leaps.preemptions;
        arena_free(&arena);
    }
    print_message("%llu preemptions\n", (unsigned long long)preemptions);
    assert_true(preemptions > 1000);
}

/* A real run of vLLM, with steps that grow as its own do; a file that a fresh clone does not
 * have. A program of these rules with measured steps had 6,140 of them and 196 preemptions. */
static double like_a_4090(void *context, const struct sim_step *step)
{
    (void)context;
    return 0.0187 + 1.2e-4 * step->prompt + 1.6e-7 * step->decode_cached;
}

static void vllm_real_run(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct error error;
    struct sim_options options = { .server.scheduler = &scheduler_vllm_v1, .replicas = 1,
                                   .server.max_num_seqs = 256,
                                   .server.chunk = 2048, .server.blocks = 2588, .server.block = 16,
                                   .server.seconds = like_a_4090 };
    struct sim_result result;
    const char *path = shared_file(&arena, "traces/vllm-ground-truth/RTX4090_Llama-3.1-8B.csv");
    if (!path) {
        arena_free(&arena);
        return;
    }
    if (!trace_read(&arena, path, 1, &trace, &error))
        fail_msg("%s", error.what);
    assert_true(sim_run(&arena, &trace, &options, &result, &error));
    print_message("%llu steps, %llu preemptions\n", (unsigned long long)result.iterations,
                  (unsigned long long)result.preemptions);
    assert_true(result.iterations > 6050 && result.iterations < 6230);
    assert_true(result.preemptions > 170 && result.preemptions < 220);
    arena_free(&arena);
}

/* ---- theory --------------------------------------------------------------------------------- */

/* One server, one request at a time, Poisson arrivals: the mean wait is
 * rho / (1 - rho) * (1 + cv^2) / 2 services. Batches of 100 requests give its error. */
static void waits_follow_theory(void **state)
{
    (void)state;
    enum { COUNT_ALL = 200000, GROUP = 2000, SCALE = 10000 };
    static const struct { double load, spread; } cases[] = {
        { 0.5, 0 }, { 0.8, 0 }, { 0.5, 1 }, { 0.7, 1 } };
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct arena arena = { 0 };
        struct sim_options options = { .replicas = 1, .server.scheduler = &scheduler_sarathi,
                                       .server.max_num_seqs = 1, .server.chunk = 1000000000,
                                       .server.blocks = 1000000000, .server.block = 16, .server.seconds = linear,
                                       .server.context = &(struct cost){ 0, 1.0 / SCALE, 0, 0 } };
        struct trace trace = { .count = COUNT_ALL,
                               .arrival = arena_array(&arena, COUNT_ALL, sizeof(double)),
                               .prompt = arena_array(&arena, COUNT_ALL, sizeof(uint32_t)),
                               .output = arena_array(&arena, COUNT_ALL, sizeof(uint32_t)) };
        struct sim_result result;
        struct error error;
        uint64_t seed = 20261121 + c;
        double now = 0, sum = 0, squares = 0;
        for (size_t i = 0; i < COUNT_ALL; i++) {
            double service = cases[c].spread > 0 ? -log(1 - draw(&seed)) : 1;
            trace.arrival[i] = now;
            trace.prompt[i] = 1 + (uint32_t)(service * SCALE);
            trace.output[i] = 1;
            now += -log(1 - draw(&seed)) / cases[c].load;
        }
        if (!sim_run(&arena, &trace, &options, &result, &error))
            fail_msg("%s", error.what);
        for (size_t g = 0; g < COUNT_ALL / GROUP; g++) {
            double mean = 0;
            for (size_t i = g * GROUP; i < (g + 1) * GROUP; i++)
                mean += (result.completed[i] - trace.arrival[i] - (double)trace.prompt[i] / SCALE) /
                        GROUP;
            sum += mean;
            squares += mean * mean;
        }
        double groups = COUNT_ALL / GROUP, mean = sum / groups;
        double error_of_mean = sqrt((squares / groups - mean * mean) / groups);
        double theory = cases[c].load / (1 - cases[c].load) *
                        (1 + cases[c].spread * cases[c].spread) / 2;
        if (fabs(mean - theory) > 3 * error_of_mean + 2e-3 * theory)
            fail_msg("load %g: wait %g +- %g, theory %g", cases[c].load, mean, error_of_mean, theory);
        arena_free(&arena);
    }
}

/* Sizes of several distributions, s. */
static double draw_size(int kind, uint64_t *seed)
{
    const double u = draw(seed), v = draw(seed);
    switch (kind) {
    case 0: return pow(10, -5 + 9 * u);
    case 1: return 0.02 + 0.01 * u;
    case 2: return -0.5 * log(1 - u);
    case 3: return exp(sqrt(-2 * log(1 - u)) * cos(2 * M_PI * v));     /* lognormal */
    case 4: return 1e-3 / pow(1 - u, 1 / 1.2);                          /* Pareto: the mean is far above the median */
    case 5: return v < 0.9 ? 0.01 * (1 + u) : 100 * (1 + u);            /* two that are far apart */
    default: return 0.25;
    }
}

static int in_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quantiles are within 1 % of those of the sizes themselves, in one sketch or in two that are merged. */
static void sketches_are_close(void **state)
{
    (void)state;
    enum { SIZES = 20000, KINDS = 7 };
    static double sizes[SIZES];
    struct sketch *sketch = calloc(3, sizeof *sketch);
    uint64_t seed = 3;
    for (int kind = 0; kind < KINDS; kind++) {
        double sum = 0;
        memset(sketch, 0, 3 * sizeof *sketch);
        for (size_t i = 0; i < SIZES; i++) {
            sizes[i] = draw_size(kind, &seed);
            sum += sizes[i];
            sketch_add(&sketch[0], sizes[i]);
            sketch_add(&sketch[1 + (i % 3 == 0)], sizes[i]);
        }
        sketch_merge(&sketch[1], &sketch[2]);
        assert_memory_equal(sketch[0].classes, sketch[1].classes, sizeof sketch->classes);
        assert_true(sketch[1].count == SIZES && sketch[1].zeros == sketch->zeros && sketch[1].most == sketch->most);
        *sketch = sketch[1];
        qsort(sizes, SIZES, sizeof *sizes, in_order);
        for (int k = 0; k <= 1000; k++) {
            const double right = sizes[(size_t)fmax(ceil(k / 1000.0 * SIZES) - 1, 0)];
            if (right > 1e-6 && fabs(sketch_quantile(sketch, k / 1000.0) / right - 1) > 0.0101)
                fail_msg("distribution %d, quantile %g: %g, exactly %g", kind, k / 1000.0,
                         sketch_quantile(sketch, k / 1000.0), right);
        }
        assert_true(sketch->most == sizes[SIZES - 1] && fabs(sketch_mean(sketch) * SIZES / sum - 1) < 1e-12);
    }
    free(sketch);
}

/* ---- traces -------------------------------------------------------------------------------- */

static void formats_agree(void **state)
{
    (void)state;
    static const struct { const char *file; size_t count, block; double last; uint32_t input; } files[] = {
        { "plain.csv", 3, 0, 0.5, 30 },        { "azure.csv", 2, 0, 4.314579, 396 },
        { "mooncake.jsonl", 2, 512, 0.25, 900 }, { "mooncake.jsonl.gz", 2, 512, 0.25, 900 },
        { "qwen.jsonl", 1, 16, 0, 20 } };
    for (size_t i = 0; i < COUNT(files); i++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct error error;
        char path[256];
        snprintf(path, sizeof path, "tests/fixtures/traces/%s", files[i].file);
        if (!trace_read(&arena, path, 1, &trace, &error))
            fail_msg("%s", error.what);
        size_t last = trace.count - 1;
        assert_int_equal(trace.count, files[i].count);
        assert_int_equal(trace.block, files[i].block);
        assert_int_equal(trace.prompt[last], files[i].input);
        assert_true(fabs(trace.arrival[last] - files[i].last) < 1e-9);
        arena_free(&arena);
    }
}

/* Two requests share a block of 512: 512 of 700 + 900 tokens, with room for one block or more. */
static void hits_by_hand(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct trace trace;
    struct error error;
    assert_true(trace_read(&arena, "tests/fixtures/traces/mooncake.jsonl", 1, &trace, &error));
    for (size_t room = 0; room < 4; room++)
        assert_true(trace_hit_ratio(&arena, &trace, room) == 512.0 / 1600);
    arena_free(&arena);
}

/* The table that came with the Mooncake traces; files that a fresh clone does not have. */
static void hit_tables(void **state)
{
    (void)state;
    static const size_t rooms[] = { 1000, 3000, 10000, 30000, 50000, 100000, 0 };
    static const struct { const char *file; double ratio[COUNT(rooms)]; } tables[] = {
        { "mooncake_conversation", { 0.0454, 0.0666, 0.2157, 0.3322, 0.3615, 0.3708, 0.3736 } },
        { "mooncake_synthetic", { 0.0857, 0.1942, 0.4318, 0.6356, 0.6512, 0.6512, 0.6512 } } };
    for (size_t i = 0; i < COUNT(tables); i++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct error error;
        const char *path = shared_file(&arena, arena_print(&arena, "traces/%s.jsonl.gz",
                                                           tables[i].file));
        if (!path) {
            arena_free(&arena);
            continue;
        }
        if (!trace_read(&arena, path, 1, &trace, &error))
            fail_msg("%s", error.what);
        for (size_t k = 0; k < COUNT(rooms); k++)
            assert_true(fabs(trace_hit_ratio(&arena, &trace, rooms[k]) - tables[i].ratio[k]) < 5.1e-5);
        arena_free(&arena);
    }
}

/* ---- reference runs ------------------------------------------------------------------------- */

/* Every request of it, to 1e-9 s but for the last digit that is written. */
static void same_requests(struct arena *arena, const char *name, const struct trace *trace,
                          const struct sim_result *result)
{
    const char *path = shared_file(arena, arena_print(arena, "traces/reference-runs/vidur_%s.csv.gz",
                                                      name));
    struct text packed, text;
    struct csv csv;
    struct error error;
    double first, last, restarts;
    if (!path || !file_read(arena, path, 1u << 30, &packed, &error) ||
        !trace_unpack(arena, path, packed, 1u << 30, &text, &error) ||
        !csv_read(arena, path, (struct text){ text.data + 2, text.size - 2 }, &csv, &error))
        fail_msg("%s", path ? error.what : name);       /* without its "# " */
    const int columns[3] = { csv_column(&csv, "first_token_at"), csv_column(&csv, "completed_at"),
                             csv_column(&csv, "restarts") };
    assert_int_equal(csv.rows, trace->count);
    for (size_t i = 0; i < trace->count; i++) {
        assert_true(text_number(text_of(csv_cell(&csv, i, columns[0])), &first) &&
                    text_number(text_of(csv_cell(&csv, i, columns[1])), &last) &&
                    text_number(text_of(csv_cell(&csv, i, columns[2])), &restarts));
        if (fabs(first - result->first_token[i]) > 1.6e-9 ||
            fabs(last - result->completed[i]) > 1.6e-9 || restarts != result->restarts[i])
            fail_msg("%s, request %zu: %.9f %.9f, and %.12f %.12f", name, i, first, last,
                     result->first_token[i], result->completed[i]);
    }
}

/* Runs of another simulator with these rules; files that a fresh clone does not have. */
static void reference_runs(void **state)
{
    (void)state;
    static const struct { const char *name, *trace; size_t blocks;
                          uint64_t iterations, tokens, preempted; double makespan; } runs[] = {
        { "R1", "azure2023_conv.csv", 28000, 177366, 26431169, 0, 3505.61807 },
        { "R3", "azure2023_code.csv", 28000, 52803, 18297051, 0, 3459.454332 },
        { "R4", "azure2023_conv.csv", 3000, 177019, 26501018, 51, 3505.622386 } };
    for (size_t i = 0; i < COUNT(runs); i++) {
        struct arena arena = { 0 };
        struct sim_options options = { .replicas = 1, .server.scheduler = &scheduler_sarathi,
                                       .server.max_num_seqs = 128, .server.chunk = 512,
                                       .server.blocks = runs[i].blocks, .server.block = 16, .server.watermark = 0.01,
                                       .server.seconds = linear,
                                       .server.context = &(struct cost){ 0.01, 5e-5, 8e-8, 0 } };
        struct trace trace;
        struct sim_result result;
        struct error error;
        const char *path = shared_file(&arena, arena_print(&arena, "traces/%s", runs[i].trace));
        if (!path) {
            arena_free(&arena);
            continue;
        }
        if (!trace_read(&arena, path, 1, &trace, &error))
            fail_msg("%s", error.what);
        assert_true(sim_run(&arena, &trace, &options, &result, &error));
        assert_int_equal(result.iterations, runs[i].iterations);
        assert_int_equal(result.batch_tokens, runs[i].tokens);
        assert_int_equal(result.preemptions, runs[i].preempted);
        assert_true(fabs(result.makespan - runs[i].makespan) < 1e-6);
        same_requests(&arena, runs[i].name, &trace, &result);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_leaps_agree),
        cmocka_unit_test(routers_share),
        cmocka_unit_test(vllm_by_hand),
        cmocka_unit_test(vllm_finds_prefixes),
        cmocka_unit_test(vllm_ends),
        cmocka_unit_test(vllm_leaps_agree),
        cmocka_unit_test(vllm_real_run),
        cmocka_unit_test(waits_follow_theory),
        cmocka_unit_test(sketches_are_close),
        cmocka_unit_test(formats_agree),
        cmocka_unit_test(hits_by_hand),
        cmocka_unit_test(hit_tables),
        cmocka_unit_test(reference_runs),
    };
    return cmocka_run_group_tests_name("sim", tests, NULL, NULL);
}
