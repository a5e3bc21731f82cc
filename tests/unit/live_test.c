/* sim/live.h: requests that are asked one after the other, at times that nobody told beforehand, get
 * their first and last tokens when sim_run gives them to the same trace, and each of their tokens once. */
#include "test.h"

#include "sim/live.h"

#include <math.h>
#include <string.h>

enum { MOST = 400 };

static double linear(void *context, const struct sim_step *step)
{
    const double *cost = context;
    return cost[0] + cost[1] * (step->decoding + step->drafts + step->prompt) +
           cost[2] * (step->decode_cached + step->prompt_cached);
}

struct seen {
    uint32_t tokens[MOST];
    double first[MOST], last[MOST];
    size_t calls, jumps;            /* calls that told more than one token at once */
    const struct trace *trace;
};

static void told(void *context, uint32_t id, size_t replica, uint32_t tokens, uint32_t fresh, double now)
{
    struct seen *seen = context;
    (void)replica;
    assert_int_equal(fresh, tokens - seen->tokens[id]);
    assert_true(tokens > seen->tokens[id] && tokens <= seen->trace->output[id]);
    assert_true(now >= seen->last[id]);
    if (!seen->tokens[id])
        seen->first[id] = now;
    seen->jumps += tokens > seen->tokens[id] + 1;
    seen->tokens[id] = tokens;
    seen->last[id] = now;
    seen->calls++;
}

static void one_run(struct arena *arena, const struct scheduler *scheduler, uint64_t seed)
{
    double cost[3] = { 0.01, 5e-5, 1e-7 };
    struct trace *trace = arena_alloc(arena, sizeof *trace);
    struct error error;
    char words[200];
    snprintf(words, sizeof words, "poisson:rate=%.3f,count=%d,input=200,output=60,seed=%u",
             2 + 20 * draw(&seed), MOST, 1 + (unsigned)(draw(&seed) * 1000));
    assert_true(generate_trace(arena, words, trace, &error));
    struct sim_options options = { .server = sim_server_of(scheduler), .router = scheduler->router };
    struct sim_server *server = &options.server;
    server->seconds = linear;
    server->context = cost;
    server->blocks = 300 + (size_t)(draw(&seed) * 600);
    server->max_num_seqs = 4 + (size_t)(draw(&seed) * 30);
    server->synchronous = draw(&seed) < 0.3;
    if ((scheduler->can & SCHEDULER_DRAFTS) && draw(&seed) < 0.5)
        server->draft = 3;
    options.replicas = 1 + (size_t)(draw(&seed) * 3);
    if (draw(&seed) < 0.3) {
        options.fails_every = 20;
        options.restart = 1;
    }
    options.stepping = true;
    struct sim_result result;
    if (!sim_run(arena, trace, &options, &result, &error))
        fail_msg("%s: %s", scheduler->name, error.what);

    struct seen *seen = arena_alloc(arena, sizeof *seen);
    seen->trace = trace;
    struct live *live = live_open(arena, &options, MOST, told, seen, &error);
    assert_non_null(live);
    for (size_t i = 0; i < trace->count; i++) {
        uint32_t id;
        live_advance(live, nextafter(trace->arrival[i], 0));
        assert_true(live_fits(live, trace->prompt[i], trace->output[i], &error));
        assert_true(live_ask(live, trace->arrival[i], trace->prompt[i], trace->output[i], NULL, 0, &id));
        assert_int_equal(id, i);
    }
    assert_false(live_ask(live, INFINITY, 1, 1, NULL, 0, &(uint32_t){ 0 }));
    while (live_open_requests(live))
        live_advance(live, live_next(live));
    for (size_t i = 0; i < trace->count; i++) {
        assert_int_equal(seen->tokens[i], trace->output[i]);
        if (fabs(seen->first[i] - result.first_token[i]) > 1e-9 ||
            fabs(seen->last[i] - result.completed[i]) > 1e-9)
            fail_msg("%s, request %zu: first %.9f, last %.9f; in a run %.9f, %.9f", scheduler->name, i,
                     seen->first[i], seen->last[i], result.first_token[i], result.completed[i]);
    }
    assert_int_equal(live_result(live)->preemptions, result.preemptions);
    if (!server->draft && seen->jumps > result.preemptions)
        fail_msg("%s: %zu times several tokens at once", scheduler->name, seen->jumps);
}

static void test_as_in_a_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < scheduler_count; i++)
        for (uint64_t seed = 1; seed <= 12; seed++) {
            struct arena arena = { 0 };
            one_run(&arena, schedulers[i], 1000 * i + seed);
            arena_free(&arena);
        }
}

/* Who waits can be taken back, who gives tokens cannot, and the others have their tokens all the same. */
static void test_taken_back(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    double cost[3] = { 0.01, 0, 0 };
    struct seen *seen = arena_alloc(&arena, sizeof *seen);
    struct trace trace = { .output = (uint32_t[]){ 5, 5, 5, 0, 0 } };
    struct sim_options options = { .server = sim_server_of(scheduler_named("vllm-v1")), .replicas = 1 };
    struct error error;
    uint32_t id;
    options.server.seconds = linear;
    options.server.context = cost;
    options.server.blocks = 100;
    options.server.max_num_seqs = 1;
    seen->trace = &trace;
    struct live *live = live_open(&arena, &options, 5, told, seen, &error);
    for (int i = 0; i < 3; i++)
        live_ask(live, 0, 10, 5, NULL, 0, &id);
    live_advance(live, 0.015);
    assert_true(live_take_back(live, 1, 0.015));
    assert_int_equal(live_open_requests(live), 2);
    assert_int_equal(live_replica(live, 0).waiting, 1);
    live_advance(live, 10);
    assert_int_equal(live_open_requests(live), 0);
    assert_int_equal(seen->tokens[0], 5);
    assert_int_equal(seen->tokens[1], 0);
    assert_int_equal(seen->tokens[2], 5);
    live_ask(live, 10, 1500, 5, NULL, 0, &id);      /* three steps of prompt; the second request comes between them */
    live_ask(live, 10.012, 10, 5, NULL, 0, &id);
    assert_false(live_take_back(live, 4, 10.005));
    live_advance(live, 10.005);
    assert_int_equal(live_replica(live, 0).running, 1);
    assert_true(live_take_back(live, 3, 10.005));
    assert_int_equal(live_replica(live, 0).blocks_used, 0);
    live_advance(live, 20);
    assert_int_equal(live_open_requests(live), 0);
    assert_int_equal(seen->tokens[3] + seen->tokens[4], 0);
    assert_false(live_fits(live, 100 * 16, 5, &error));
    arena_free(&arena);
}

/* Of a full batch each second request is left by its user at a time of its own: it ends with the steps in
 * flight, its blocks are free again, and the others have their tokens. */
static void test_cut(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct arena arena = { 0 };
        double cost[3] = { 0.01, 1e-5, 0 };
        uint64_t draws = seed;
        enum { ALL = 40, OUTPUT = 50 };
        uint32_t output[ALL], id, had[ALL];
        struct seen *seen = arena_alloc(&arena, sizeof *seen);
        struct trace trace = { .output = output };
        struct sim_options options = { .server = sim_server_of(scheduler_named("vllm-v1")), .replicas = 1 };
        struct error error;
        options.server.seconds = linear;
        options.server.context = cost;
        options.server.blocks = 100 + (size_t)(draw(&draws) * 200);
        options.server.max_num_seqs = 20;
        options.server.draft = draw(&draws) < 0.5 ? 2 : 0;
        options.server.synchronous = draw(&draws) < 0.5;
        seen->trace = &trace;
        struct live *live = live_open(&arena, &options, ALL, told, seen, &error);
        for (int i = 0; i < ALL; i++) {
            output[i] = OUTPUT;
            live_ask(live, 0, 100, OUTPUT, NULL, 0, &id);
        }
        double now = 0;
        for (uint32_t i = 0; i < ALL; i += 2) {
            now += 0.04 * draw(&draws);
            live_advance(live, now);
            had[i] = seen->tokens[i];
            if (live_take_back(live, i, now))
                output[i] = 0;
        }
        while (live_open_requests(live))
            live_advance(live, live_next(live));
        for (uint32_t i = 0; i < ALL; i++) {
            const uint32_t more = i % 2 ? 0 : seen->tokens[i] - had[i];
            if (i % 2 ? seen->tokens[i] != OUTPUT : output[i] ? more > 8 : seen->tokens[i] != 0)
                fail_msg("seed %d, request %u: %u tokens, %u of them after its user had gone", (int)seed, i,
                         seen->tokens[i], more);
        }
        assert_int_equal(live_replica(live, 0).blocks_used, 0);
        assert_int_equal(live_replica(live, 0).running, 0);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_as_in_a_run),
                                        cmocka_unit_test(test_taken_back), cmocka_unit_test(test_cut) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
