/* Plans replayed: the layouts on the fronts of plans through the simulator, under requests that come
 * at an even rate, against the formula's figures. */
#include "test.h"
#include "commands.h"

#include "ask/plan/plan.h"
#include "ask/simulate/simulate.h"

#include <math.h>

struct job {
    const char *model, *machine, *gpus, *precision, *isl, *osl, *ttft, *tpot, *engine;
};
static const struct job jobs[] = {
    { "llama-3.1-8b", "h100-sxm", "8", NULL, "1500", "300", "1s", "30ms", NULL },
    { "qwen3-32b", "h200-sxm", "32", "fp8", "4000", "500", "300ms", "10ms", NULL },
    { "qwen3-32b", "h200-sxm", "16", NULL, "4000", "500", "1s", "40ms", NULL },
    { "llama-3.3-70b", "h100-sxm", "16", "fp8", "2000", "400", "1s", "40ms", NULL },
    { "llama-3.3-70b", "b200", "8", "fp4", "1000", "1000", "1s", "20ms", NULL },
    { "llama-3.1-8b", "a100-sxm", "4", NULL, "500", "500", "500ms", "20ms", NULL },
    { "qwen3-30b-a3b", "h100-sxm", "8", "fp8", "2000", "500", "1s", "30ms", NULL },
    { "mixtral-8x7b", "h100-sxm", "8", NULL, "1000", "300", "1s", "50ms", NULL },
    { "deepseek-v3", "h200-sxm", "16", "fp8", "2000", "500", "2s", "50ms", NULL },
    { "deepseek-v3", "gb200-nvl72", "72", "fp4", "4000", "1000", "2s", "30ms", NULL },
    { "llama-3.1-8b", "h100-sxm", "8", NULL, "1500", "300", "1s", "30ms", "vllm" },
    { "llama-3.3-70b", "h200-sxm", "8", "fp8", "8000", "200", "3s", "50ms", "vllm" },
    { "qwen3-32b", "h100-sxm", "8", "fp8", "1000", "1000", "1s", "20ms", "vllm" },
    { "qwen3-32b", "h100-sxm", "8", "fp8", "1000", "1000", "1s", "20ms", "sglang" },
    { "llama-3.1-8b", "h100-sxm", "4", NULL, "2000", "200", "1s", "50ms", "sglang" },
    { "llama-3.3-70b", "h100-sxm", "8", "fp8", "1000", "500", "1s", "50ms", "trtllm" },
    { "llama-3.1-8b", "b200", "4", NULL, "3000", "300", "1s", "20ms", "trtllm" },
    { "gpt-oss-120b", "h100-sxm", "8", NULL, "1000", "500", "1s", "20ms", NULL },
    { "qwen3-32b", "mi300x", "8", NULL, "2000", "500", "1s", "50ms", NULL },
    { "llama-3.3-70b", "h100-sxm", "64", NULL, "6000", "300", "2s", "40ms", NULL },
};

struct fixture {
    struct arena arena;
    struct command command;
    struct answer answer;
    struct error error;
    struct plan plan;
};

static void open_job(struct fixture *fixture, const struct job *job)
{
    *fixture = (struct fixture){ .command = { .verb = &verb_plan } };
    struct arena *arena = &fixture->arena;
    struct command *command = &fixture->command;
    const struct { const char *option, *text; } given[] = {
        { "on", job->machine }, { "gpus", job->gpus }, { "precision", job->precision },
        { "isl", job->isl }, { "osl", job->osl }, { "ttft", job->ttft }, { "tpot", job->tpot },
        { "engine", job->engine } };
    command_put_word(arena, command, job->model);
    for (size_t i = 0; i < COUNT(given); i++)
        command_give(arena, command, given[i].option, given[i].text);
    command_give(arena, command, "arrivals", "even");       /* as the replay sends them */
    struct subject subject;
    command_models(command, &subject);
    fixture->plan = (struct plan){ .arena = arena, .command = command, .answer = &fixture->answer,
                                   .error = &fixture->error, .model = job->model,
                                   .subject = subject };
    if (!plan_spaces(&fixture->plan) ||
        !search_run(arena, fixture->plan.spaces, fixture->plan.count, &fixture->plan.result,
                    &fixture->error))
        fail_msg("%s: %s", job->model, fixture->error.what);
}

/* Of the requests before the last eighth, when as many run all the time: time of a token; their rate of ends. */
static void steady(const struct simulated *outcome, double *tpot, double *rate)
{
    const struct sim_result *result = &outcome->result;
    const size_t count = outcome->trace.count, from = count / 2, to = 7 * count / 8;
    double sum = 0, first = INFINITY, last = 0;
    for (size_t i = from; i < to; i++) {
        sum += (result->completed[i] - result->first_token[i]) / (outcome->trace.output[i] - 1);
        first = fmin(first, result->completed[i]);
        last = fmax(last, result->completed[i]);
    }
    *tpot = sum / (double)(to - from);
    *rate = (double)(to - from - 1) / (last - first);
}

/* The formula, in `point`, and the simulator. */
struct replay {
    double running, seats_taken;
    double tpot, rate;              /* of the simulator over the formula's */
    bool pools, ranks;
};

static void replay(struct fixture *fixture, const struct search_point *at, struct plan_point *point,
                   struct replay *out)
{
    struct plan *plan = &fixture->plan;
    struct simulate *simulate = arena_alloc(&fixture->arena, sizeof *simulate);
    struct simulated *outcome = arena_alloc(&fixture->arena, sizeof *outcome);
    const double held = plan_input(plan, at, NAME_rank_running_target);
    const double ranks = plan_input(plan, at, NAME_attention_dp);
    const struct variation as_asked = { .scale = 1 };
    double tpot, rate;
    assert_true(plan_read_point(plan, at, point));
    *out = (struct replay){ .running = held * ranks, .ranks = ranks > 1,
                            .seats_taken = held / point->figures[PLAN_rank_slots],
                            .pools = plan->variants[at->space].kind == PLAN_POOLS };
    const double all = out->running * point->figures[PLAN_replicas] *
                       (out->pools ? plan_input(plan, at, NAME_decode_workers) : 1);
    if (out->running < 8 || point->figures[PLAN_load] > 0.8 || out->seats_taken > 0.8)
        return;
    if (!plan_simulation(plan, plan->arena, point, "constant", (size_t)fmax(300, 16 * all), simulate) ||
        !simulate_run(plan->arena, simulate, &as_asked, NULL, outcome, plan->error))
        fail_msg("%s: %s (%s)", plan_deployment(plan, point), fixture->error.what,
                 fixture->error.hint);
    steady(outcome, &tpot, &rate);
    if (out->pools)                                 /* the formula has it in the first token's time */
        tpot -= outcome->result.moving / (double)outcome->all.requests /
                (outcome->trace.output[0] - 1);
    out->tpot = tpot / point->figures[PLAN_tpot];
    out->rate = rate / point->figures[PLAN_rate];
}

/* Pools that the simulator finds slower than the formula, where few decode workers take from many prefill workers:
 * not yet explained, and rare.
 * What else is further off than 2 % is told, and has one of two causes:
 * - attention ranks that also take prompts step together, so that the prompt of one holds all up;
 *   the formula counts a rank's own prompts only, and the experts' work as if all ranks had one;
 * - an answer sees a whole number of prompts, and the last part of a prompt may share a step with the
 *   next one: under 6 %, and rare. */
static void every_layout_of_a_front_is_replayed(void **state)
{
    (void)state;
    const size_t every = getenv("CHALKLINE_LONG") ? 1 : sample_only() ? 160 : 40;
    size_t count = 0, rare = 0, together = 0, slower = 0;
    for (size_t j = 0; j < COUNT(jobs); j++) {
        struct fixture fixture;
        open_job(&fixture, &jobs[j]);
        const struct search_front *front = &fixture.plan.result.front;
        for (size_t i = j % every; i < front->count; i += every) {
            struct plan_point point;
            struct replay one;
            replay(&fixture, &front->points[i], &point, &one);
            if (!(one.tpot > 0))
                continue;
            count++;
            if (fabs(one.tpot - 1) <= 0.02 && fabs(one.rate - 1) <= 0.02)
                continue;
            print_message("%s, engine %s: %s, load %.2f: TPOT %+.1f %%, rate %+.1f %%\n",
                          jobs[j].model, jobs[j].engine ? jobs[j].engine : "any",
                          plan_deployment(&fixture.plan, &point), point.figures[PLAN_load],
                          100 * (one.tpot - 1), 100 * (one.rate - 1));
            if (one.pools && one.rate < 0.98 && one.tpot > 1) {
                slower++;
                continue;
            }
            assert_true(fabs(one.rate - 1) <= 0.02);
            if (one.ranks && !one.pools) {
                assert_true(one.tpot > 0.9 && one.tpot < 1.35);
                together++;
            } else {
                assert_true(fabs(one.tpot - 1) <= 0.06);
                rare++;
            }
        }
        arena_free(&fixture.arena);
    }
    print_message("%zu layouts: %zu with ranks together, %zu others are over 2 %%\n", count, together,
                  rare);
    assert_true(count > 2000 / every);
    assert_true(sample_only() ? rare <= 3 : rare * 15 <= count);
    assert_true(slower <= 1 + count / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_layout_of_a_front_is_replayed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
