/* Schedulers: each conserves requests and leaps as it steps, and so does one that only this test has
 * (sample_scheduler.c); that one by hand; and the rows of the table. */
#include "test.h"

#include "sim/sim.h"

#include <math.h>

extern const struct scheduler scheduler_fcfs;

struct cost {
    double base, by_token, by_cached;
};

static double linear(void *context, const struct sim_step *step)
{
    const struct cost *cost = context;
    return cost->base + cost->by_token * (step->decoding + step->drafts + step->prompt) +
           cost->by_cached * (step->decode_cached + step->prompt_cached);
}

/* ---- every request comes to one end --------------------------------------------------------- */

static void draw_options(uint64_t *seed, struct sim_options *options)
{
    struct sim_server *server = &options->server;
    server->max_num_seqs = 1 + (size_t)(draw(seed) * 30);
    server->chunk = 16 + (size_t)(draw(seed) * 400);
    server->blocks = 60 + (size_t)(draw(seed) * 200);
    server->synchronous = draw(seed) < 0.3;
    options->replicas = 1 + (size_t)(draw(seed) * 3);
    options->router = (enum router)(draw(seed) * ROUTER_COUNT);
    options->seed = draw_bits(seed);
    if (draw(seed) < 0.2) {
        options->users = 1 + (size_t)(draw(seed) * 20);
        options->think = draw(seed);
    }
    if (draw(seed) < 0.3)
        options->waiting_most = 1 + (size_t)(draw(seed) * 10);
    if (draw(seed) < 0.3)
        options->patience = 0.05 + 2 * draw(seed);
    if (draw(seed) < 0.3) {
        options->fails_every = 1 + 20 * draw(seed);
        options->restart = 2 * draw(seed);
    }
    if (draw(seed) < 0.2)
        options->scaling = (struct sim_scaling){ .most = options->replicas + 2, .load = 4,
                                                 .every = 0.5, .start_up = draw(seed) };
}

struct ends {
    uint64_t answered, refused, gave_up, unasked, lost;
};

/* Each is answered in order of its times, or was refused, gave up, or was never asked. */
static void check_ends(const char *what, const struct trace *trace, const struct sim_result *result,
                       struct ends *ends)
{
    uint64_t answered = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const double came = result->arrival[i], first = result->first_token[i];
        if (result->completed[i] < 0)
            continue;
        answered++;
        if (!(first > came && result->completed[i] >= first))
            fail_msg("%s: request %zu came at %g, first token %g, last %g", what, i, came, first,
                     result->completed[i]);
    }
    if (answered + result->refused + result->gave_up + result->unasked != trace->count)
        fail_msg("%s: %zu requests, of which %llu answered, %llu refused, %llu gave up, %llu not "
                 "asked", what, trace->count, (unsigned long long)answered,
                 (unsigned long long)result->refused, (unsigned long long)result->gave_up,
                 (unsigned long long)result->unasked);
    ends->answered += answered;
    ends->refused += result->refused;
    ends->gave_up += result->gave_up;
    ends->unasked += result->unasked;
    ends->lost += result->lost;
}

/* The sample computes each token once, and gives each output but the first after a gap: nobody
 * starts again, nothing is guessed, no step is formed before it is known who goes on. */
static void check_tokens(const struct trace *trace, const struct sim_result *result)
{
    uint64_t tokens = 0, gaps = 0;
    for (size_t i = 0; i < trace->count; i++)
        if (result->completed[i] >= 0) {
            tokens += trace->prompt[i] + trace->output[i] - 1;
            gaps += trace->output[i] - 1;
        }
    assert_int_equal(result->preemptions, 0);
    assert_int_equal(result->batch_tokens, tokens);
    assert_int_equal(result->gaps->count, gaps);
}

/* One replica reads prompts in the order in which requests came. */
static void check_order(const struct trace *trace, const struct sim_result *result)
{
    double last = 0;
    for (size_t i = 0; i < trace->count; i++)
        if (result->completed[i] >= 0) {
            assert_true(result->first_token[i] >= last);
            last = result->first_token[i];
        }
}

static void check_steps(const char *what, const struct trace *trace, const struct sim_result *leaps,
                        const struct sim_result *steps)
{
    for (size_t i = 0; i < trace->count; i++)
        if (fabs(leaps->first_token[i] - steps->first_token[i]) > 1e-9 ||
            fabs(leaps->completed[i] - steps->completed[i]) > 1e-9)
            fail_msg("%s: request %zu: %.12f %.12f, stepping %.12f %.12f", what, i,
                     leaps->first_token[i], leaps->completed[i], steps->first_token[i],
                     steps->completed[i]);
    assert_int_equal(leaps->iterations, steps->iterations);
    assert_int_equal(leaps->batch_tokens, steps->batch_tokens);
}

static void conserves(const struct scheduler *scheduler, uint64_t seed)
{
    static const char *const kinds[] = {
        "poisson:rate=%d,count=80,input=uniform(1,400),output=uniform(1,200),seed=%d",
        "poisson:rate=%d,count=20,input=uniform(1,60),output=uniform(1,60),turns=4,"
        "wait=exponential(0.5s),seed=%d" };
    struct ends ends = { 0 };
    for (int turn = 0; turn < 500; turn++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct cost cost = { 0.002 + 0.01 * draw(&seed), 1e-4 * draw(&seed), 1e-6 * draw(&seed) };
        struct sim_options options = { .server = sim_server_of(scheduler) };
        struct sim_result result, steps;
        struct error error;
        const char *what = arena_print(&arena, "%s, workload %d", scheduler->name, turn);
        const char *words = arena_print(&arena, kinds[turn % 2], 1 + turn % 60, turn);
        if (!generate_trace(&arena, words, &trace, &error))
            fail_msg("%s", error.what);
        options.server.seconds = linear;
        options.server.context = &cost;
        draw_options(&seed, &options);
        if (!sim_run(&arena, &trace, &options, &result, &error))
            fail_msg("%s: %s", what, error.what);
        check_ends(what, &trace, &result, &ends);
        options.stepping = true;
        assert_true(sim_run(&arena, &trace, &options, &steps, &error));
        check_steps(what, &trace, &result, &steps);
        if (scheduler == &scheduler_fcfs && !options.fails_every)
            check_tokens(&trace, &result);
        if (scheduler == &scheduler_fcfs && !options.fails_every && !options.users &&
            !trace.before && options.replicas == 1 && !options.scaling.most)
            check_order(&trace, &result);
        arena_free(&arena);
    }
    print_message("%-9s %llu answered, %llu refused, %llu gave up, %llu not asked, %llu lost\n",
                  scheduler->name, (unsigned long long)ends.answered,
                  (unsigned long long)ends.refused, (unsigned long long)ends.gave_up,
                  (unsigned long long)ends.unasked, (unsigned long long)ends.lost);
    assert_true(ends.answered > 10000 && ends.refused > 100 && ends.gave_up > 100 &&
                ends.unasked > 10 && ends.lost > 100);
}

static void requests_are_conserved(void **state)
{
    (void)state;
    for (size_t i = 0; i < scheduler_count; i++)
        conserves(schedulers[i], 40 + i);
}

static void sample_conserves(void **state)
{
    (void)state;
    conserves(&scheduler_fcfs, 30);
}

/* ---- the sample by hand --------------------------------------------------------------------- */

static double by_part(void *context, const struct sim_step *step)
{
    (void)context;
    return 1 + (step->prompt > 0 ? 1 : 0);          /* a step with prompts takes twice as long */
}

/* Each holds one block. With one block in all, 1 waits until 0 is done: its prompt runs until 2, its
 * decodes until 4. With two it enters at 2, beside the first decode of 0. */
static void sample_by_hand(void **state)
{
    (void)state;
    static double arrival[] = { 0, 0.5 };
    static uint32_t prompt[] = { 10, 10 }, output[] = { 3, 2 };
    const struct trace trace = { .count = 2, .arrival = arrival, .prompt = prompt,
                                 .output = output };
    struct arena arena = { 0 };
    struct sim_options options = { .server = sim_server_of(&scheduler_fcfs), .replicas = 1 };
    struct sim_result result;
    struct error error;
    options.server.seconds = by_part;
    options.server.blocks = 1;
    assert_true(sim_run(&arena, &trace, &options, &result, &error));
    assert_true(result.first_token[0] == 2 && result.completed[0] == 4);
    assert_true(result.first_token[1] == 6 && result.completed[1] == 7);
    assert_int_equal(result.iterations, 5);
    options.server.blocks = 2;
    assert_true(sim_run(&arena, &trace, &options, &result, &error));
    assert_true(result.first_token[0] == 2 && result.completed[0] == 5);
    assert_true(result.first_token[1] == 4 && result.completed[1] == 5);
    assert_int_equal(result.iterations, 3);
    options.server.blocks = 0;
    assert_false(sim_run(&arena, &trace, &options, &result, &error));
    assert_non_null(strstr(error.what, "request 0 needs 1 KV blocks"));
    arena_free(&arena);
}

/* ---- the table ------------------------------------------------------------------------------ */

static void rows_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < scheduler_count; i++) {
        const struct scheduler *scheduler = schedulers[i];
        struct sim_server server = sim_server_of(scheduler);
        assert_true(scheduler->open && scheduler->take && scheduler->end && scheduler->start &&
                    scheduler->clear);
        assert_ptr_equal(scheduler_named(scheduler->name), scheduler);
        assert_ptr_equal(server.scheduler, scheduler);
        assert_true(server.block && server.max_num_seqs && server.chunk);
        for (size_t s = 0; scheduler->setting[s].name; s++) {
            const struct scheduler_setting *setting = &scheduler->setting[s];
            assert_true(server.own[s] >= setting->least);
            assert_true(!(setting->least > 0) || setting->example);
            assert_true(sim_set(&server, setting->name, 7) && server.own[s] > 6);
            assert_true(sim_setting(&server, setting->name) > 6);
        }
        assert_false(sim_set(&server, "no-such", 1));
        assert_true(isnan(sim_setting(&server, "no-such")));
    }
    assert_string_equal(scheduler_of_engine("sglang")->name, "sglang");
    assert_string_equal(scheduler_of_engine("vllm")->name, "vllm-v1");
    assert_null(scheduler_of_engine("llamacpp"));
    assert_null(scheduler_named("fcfs"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_conserved), cmocka_unit_test(sample_conserves),
        cmocka_unit_test(sample_by_hand),         cmocka_unit_test(rows_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
