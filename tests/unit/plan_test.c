/* Plans of real models against slower ways to the same answer: each point by the rows of a fresh
 * scenario; the loop of flow balance closed again; pools by every pair of servers that there is,
 * none left out and no chip filled up for free. */
#include "test.h"
#include "commands.h"
#include "scenario/values.h"

#include "ask/ask.h"
#include "ask/plan/plan.h"

#include <math.h>
#include <stdio.h>

struct job {
    const char *model, *machine, *gpus, *ttft, *tpot, *precision;
};
static const struct job jobs[] = {
    { "llama-3.1-8b", "h100-sxm", "8", NULL, NULL, NULL },
    { "qwen3-30b-a3b", "h100-sxm", "6", "400ms", "12ms", "fp8" },
    { "deepseek-v3", "b200", "8", "2s", NULL, "fp4" },
};

struct fixture {
    struct arena arena;
    struct command command;
    struct answer answer;
    struct error error;
    struct plan plan;
};

/* Few loads, so that every one can be tried by itself. */
static void open_job(struct fixture *fixture, const struct job *job)
{
    static const char *const sets[] = { "max_num_seqs=40", "output_tokens=300",
                                        "prompt_tokens=1500", "layout_distance=0" };
    *fixture = (struct fixture){ .command = { .verb = &verb_plan } };
    struct arena *arena = &fixture->arena;
    struct command *command = &fixture->command;
    for (size_t i = 0; i < COUNT(sets); i++)
        command_set(arena, command, "set", sets[i]);
    command_put_word(arena, command, job->model);
    command_give(arena, command, "on", job->machine);
    command_give(arena, command, "gpus", job->gpus);
    command_give(arena, command, "ttft", job->ttft);
    command_give(arena, command, "tpot", job->tpot);
    command_give(arena, command, "precision", job->precision);
    struct subject subject;
    command_models(command, &subject);
    fixture->plan = (struct plan){ .arena = &fixture->arena, .command = &fixture->command,
                                   .answer = &fixture->answer, .error = &fixture->error,
                                   .model = job->model, .subject = subject };
    if (!plan_spaces(&fixture->plan) ||
        !search_run(&fixture->arena, fixture->plan.spaces, fixture->plan.count,
                    &fixture->plan.result, &fixture->error))
        fail_msg("%s: %s", job->model, fixture->error.what);
}

static void set(struct scenario *scenario, const char *row, double value)
{
    facts_set(&scenario->facts, row, value, ORIGIN_GIVEN, "test");
}

/* The rows of a layout's scenario as a user would ask for them: the load is not given, the rate
 * is, and the loop finds the load. */
static void closed_loop(struct plan *plan, const struct plan_point *point)
{
    static const char *const rows[] = { "rank_running_mean", "predicted_tpot", "predicted_ttft",
                                        "predicted_throughput" };
    static const char *const layout[] = { "chips", "attention_dp", "pipeline_parallel",
                                          "expert_parallel", "draft_tokens", "chunked_prefill_size" };
    struct scenario scenario;
    struct values values;
    if (!scenario_read(&scenario, plan->arena,
                       plan->variants[point->at.space].scenario.command,
                       plan->variants[point->at.space].scenario.subject, plan->error))
        fail_msg("%s", plan->error->what);
    for (size_t i = 0; i < COUNT(layout); i++)
        set(&scenario, layout[i], plan_input(plan, &point->at, layout[i]));
    set(&scenario, "arrival_rate",
        point->figures[PLAN_rate] / point->figures[PLAN_replicas]);
    if (!values_of(&scenario, rows, COUNT(rows), &values, plan->error))
        fail_msg("%s", plan->error->what);
    const double held = plan_input(plan, &point->at, "rank_running_target");
    assert_float_equal(values.at[0], held, 5e-3 * held);    /* the rate is told to four digits */
    assert_float_equal(values.at[1], point->figures[PLAN_tpot], 1e-6 * values.at[1]);
    assert_float_equal(values.at[2], point->figures[PLAN_ttft], 1e-5 * values.at[2]);
    assert_float_equal(values.at[3] / plan_input(plan, &point->at, "chips"),
                       point->figures[PLAN_per_gpu], 1e-6 * point->figures[PLAN_per_gpu]);
}

static void loops_close(void **state)
{
    (void)state;
    size_t checked = 0;
    for (size_t j = 0; j < COUNT(jobs); j++) {
        struct fixture fixture;
        open_job(&fixture, &jobs[j]);
        const struct search_front *front = &fixture.plan.result.front;
        assert_true(front->count > 0);
        for (size_t i = 0; i < front->count; i += 1 + front->count / 8) {
            struct plan_point point;
            assert_true(plan_read_point(&fixture.plan, &front->points[i], &point));
            if (fixture.plan.variants[point.at.space].kind != PLAN_TOGETHER)
                continue;
            closed_loop(&fixture.plan, &point);
            checked++;
        }
        arena_free(&fixture.arena);
    }
    print_message("%zu loops closed\n", checked);
    assert_true(checked >= 6);
}

/* ---- every point by itself ---------------------------------------------------------------------- */

static bool beaten(const struct search_front *front, double speed, double throughput)
{
    for (size_t k = 0; k < front->count; k++)
        if (front->points[k].speed >= speed && front->points[k].throughput >= throughput)
            return true;
    return false;
}

static void none_is_better(void **state)
{
    (void)state;
    size_t points = 0;
    for (size_t j = 0; j < COUNT(jobs); j++) {
        struct fixture fixture;
        open_job(&fixture, &jobs[j]);
        const struct plan *plan = &fixture.plan;
        size_t met = 0, fits = 0;
        for (uint32_t s = 0; s < plan->count; s++) {
            const struct search_space *space = &plan->spaces[s];
            for (uint32_t i = 0; i < space->setting_count; i++)
                for (uint32_t load = 0; load < space->load_count; load += 3, points++) {
                    const struct search_point at = { .space = s, .setting = i, .load = load };
                    double out[16];
                    struct arena scratch = { 0 };
                    search_values(&scratch, plan->spaces, &at, out);
                    arena_free(&scratch);
                    bool good = space->loads[load] <= out[space->most];
                    fits += good;
                    for (size_t l = 0; l < space->limit_count; l++)
                        good &= out[space->limits[l].output] <= space->limits[l].bound;
                    met += good;
                    if (good)
                        assert_true(beaten(&plan->result.front, out[space->speed],
                                           out[space->throughput]));
                }
        }
        assert_true(met > 0 && fits > met / 2);
        arena_free(&fixture.arena);
    }
    print_message("%zu points tried\n", points);
}

/* ---- money ---------------------------------------------------------------------------------------- */

/* What prompts and answers cost apart is what all tokens cost together, and that is all the rent:
 * the chips of all rented hosts times their price, over what the deployment delivers. */
static void costs_divide_the_rent(void **state)
{
    (void)state;
    static const char *const rows[] = { "prompt_tokens", "output_tokens", "chip_price" };
    size_t seen[PLAN_KINDS] = { 0 };
    for (size_t j = 0; j < COUNT(jobs); j++) {
        struct fixture fixture;
        open_job(&fixture, &jobs[j]);
        const struct search_front *front = &fixture.plan.result.front;
        for (size_t i = 0; i < front->count; i += 1 + front->count / 10) {
            struct plan_point point;
            struct values values;
            assert_true(plan_read_point(&fixture.plan, &front->points[i], &point));
            struct variant *variant = &fixture.plan.variants[point.at.space];
            assert_true(values_of(&variant->scenario, rows, COUNT(rows), &values, &fixture.error));
            const double in = values.at[0], out = values.at[1], price = values.at[2];
            const double *at = point.figures;
            const double whole = at[PLAN_blended_cost_per_token] * (in + out);
            const double rent = at[PLAN_chips_paid] * price;
            const double rate = at[PLAN_per_gpu] * at[PLAN_deployment_chips] / out;
            assert_true(at[PLAN_input_cost_per_token] > 0 && at[PLAN_output_cost_per_token] > 0);
            assert_float_equal((at[PLAN_input_cost_per_token] * in +
                                at[PLAN_output_cost_per_token] * out) / whole, 1, 1e-12);
            assert_float_equal(whole * rate / rent, 1, 1e-12);
            seen[variant->kind]++;
        }
        arena_free(&fixture.arena);
    }
    assert_true(seen[PLAN_TOGETHER] > 5 && seen[PLAN_POOLS] > 5);
}

/* ---- the load's words ------------------------------------------------------------------------------- */

static double number_in(const struct doc *doc, const char *key)
{
    const struct doc *number = doc_get(doc, key);
    if (!number || number->kind != DOC_NUMBER)
        fail_msg("no number %s", key);
    return number->number;
}

static const struct doc *planned(struct arena *arena, const char *const (*options)[2], size_t count)
{
    struct command *command = arena_alloc(arena, sizeof *command);
    struct error error = { .what = "" };
    *command = (struct command){ .verb = &verb_plan };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    command_put_word(arena, command, "qwen3-32b");
    command_give(arena, command, "precision", "fp8");
    for (size_t i = 0; i < count; i++)
        command_give(arena, command, options[i][0], options[i][1]);
    if (!verb_plan.ask(arena, command, &answer, &error))
        fail_msg("%s (%s)", error.what, error.hint);
    return answer.doc;
}

/* By Little's law the users are the requests in flight; one replica fewer does not have them all. What a
 * budget and spare hosts leave is all that is used. Tokens a day are a rate by another word. */
static void loads_in_words(void **state)
{
    (void)state;
    static const char *const users[][2] = { { "on", "h200-sxm" }, { "users", "200" }, { "speed", "30" },
                                            { "isl", "8000" }, { "osl", "500" } };
    static const char *const budget[][2] = { { "on", "h100-sxm=64@2USD/h,h200-sxm=16@3USD/h" },
                                             { "budget", "50000USD/month" }, { "spare-hosts", "1" } };
    static const char *const day[][2] = { { "on", "h100-sxm" }, { "osl", "200" }, { "tokens-per-day", "216M" } };
    static const char *const second[][2] = { { "on", "h100-sxm" }, { "osl", "200" }, { "rate", "12.5" } };
    static const char *const told[] = { "rate", "replicas", "running", "ttft", "tpot", "output_cost_per_token" };
    struct arena arena = { 0 };
    const struct doc *by_day = doc_get(planned(&arena, day, COUNT(day)), "best");
    const struct doc *by_second = doc_get(planned(&arena, second, COUNT(second)), "best");
    for (size_t i = 0; i < COUNT(told); i++)
        assert_float_equal(number_in(by_day, told[i]), number_in(by_second, told[i]), 1e-12 * number_in(by_day, told[i]));
    const struct doc *best = doc_get(planned(&arena, users, COUNT(users)), "best");
    const double rate = number_in(best, "rate"), e2e = number_in(best, "e2e"), copies = number_in(best, "replicas");
    assert_true(rate * e2e > 200 * 0.999 && rate * e2e * (copies - 1) / copies < 200);
    assert_true(number_in(best, "speed_per_user") >= 30);
    best = doc_get(planned(&arena, budget, COUNT(budget)), "best");
    const double hosts = number_in(best, "hosts"), host = number_in(best, "host_chips");
    const bool first = strstr(doc_get(best, "machine")->string, "H100") != NULL;
    const double rent = host * (first ? 2 : 3) * 365 / 12 * 24;
    assert_true(number_in(best, "deployment_chips") <= (hosts - 1) * host);
    assert_true(hosts * rent <= 50000 && hosts * host <= (first ? 64 : 16));
    assert_float_equal(number_in(best, "deployment_rent"), number_in(best, "chips_paid") * (first ? 2 : 3) / 3600, 1e-9);
    arena_free(&arena);
}

/* The hosts of a deployment cost no more than the budget, and have all of its GPUs. */
static void budgets_are_kept(void **state)
{
    (void)state;
    static const double budgets[] = { 3000, 10000, 14000, 20000 };
    for (size_t i = 0; i < 2 * COUNT(budgets); i++) {
        struct arena arena = { 0 };
        const double most = budgets[i / 2];
        const char *const options[][2] = { { "on", "h100-sxm" }, { "budget", arena_print(&arena, "%g", most) },
                                           { "spare-hosts", i / 2 % 2 ? "1" : "0" }, { "aggregated", "" } };
        const struct doc *best = doc_get(planned(&arena, options, COUNT(options) - i % 2), "best");
        const double rent = number_in(best, "deployment_rent") * 365 / 12 * 86400;
        if (rent > most || rent < most / 3 || number_in(best, "deployment_chips") > number_in(best, "chips_paid"))
            fail_msg("%g USD/month%s: rent %g", most, i % 2 ? "" : " --aggregated", rent);
        arena_free(&arena);
    }
}

/* A host of eight H200 takes 8 x 1.73 kW at the meter, or 4/5 of that without cooling. All hosts, spare ones included, draw no more
 * than the site has, and more power serves no less. */
static void sites_power_whole_hosts(void **state)
{
    (void)state;
    static const double sites[] = { 15e3, 27.6e3, 27.7e3, 60e3, 100e3, 140e3, 500e3 };
    struct arena arena = { 0 };
    double before = 0;
    for (size_t i = 0; i < COUNT(sites); i++) {
        const char *const options[][2] = { { "on", "h200-sxm" }, { "site-power", arena_print(&arena, "%gW", sites[i]) } };
        const struct doc *best = doc_get(planned(&arena, options, COUNT(options)), "best");
        const double chips = number_in(best, "deployment_chips"), rate = number_in(best, "per_gpu") * chips;
        assert_true(chips > 0 && chips <= number_in(best, "chips_paid"));
        assert_true(number_in(best, "chips_paid") <= 8 * floor(sites[i] / (8 * 1730)));
        if (rate < before * (1 - 1e-9))
            fail_msg("%g W serve %g token/s, less power %g", sites[i], rate, before);
        before = rate;
    }
    const char *const rack[][2] = { { "on", "h200-sxm" }, { "site-power", "45kW" }, { "set", "pue=1" }, { "spare-hosts", "1" } };
    const struct doc *best = doc_get(planned(&arena, rack, COUNT(rack)), "best");
    assert_true(number_in(best, "hosts") == 4 && number_in(best, "deployment_chips") <= 24);
    arena_free(&arena);
}

/* ---- rules ---------------------------------------------------------------------------------------- */

/* A deployment that cannot be started says which rules it breaks; one that can breaks none. */
static void rules_say_why(void **state)
{
    (void)state;
    struct fixture fixture;
    open_job(&fixture, &(struct job){ "qwen3-30b-a3b", "h100-sxm", "7", "2s", "50ms", NULL });
    command_give(&fixture.arena, &fixture.command, "any-layout", "");
    struct answer answer = { .doc = doc_new(&fixture.arena, DOC_OBJECT),
                             .text.arena = &fixture.arena, .csv.arena = &fixture.arena };
    if (!verb_plan.ask(&fixture.arena, &fixture.command, &answer, &fixture.error))
        fail_msg("%s", fixture.error.what);
    size_t broken = 0, kept = 0;
    for (const struct doc *one = doc_get(answer.doc, "front")->first; one; one = one->next) {
        const struct doc *rules = doc_get(one, "broken_rules"), *pool = doc_get(one, "pool_startable");
        const bool startable = doc_get(one, "startable")->boolean;
        assert_int_equal(startable, !rules->count);
        assert_int_equal(startable, (pool ? pool : doc_get(one, "layout_startable"))->number > 0);
        const struct doc *servers = doc_get(one, "servers");
        bool whole = true;              /* all servers divide a host of 8 chips, or are whole hosts */
        for (const struct doc *server = servers->first; server; server = server->next) {
            const double chips = doc_get(server, "chips")->number;
            whole &= fmod(8, chips) == 0 || fmod(chips, 8) == 0;
        }
        bool said = false;
        for (const struct doc *rule = rules->first; rule; rule = rule->next)
            said |= !strcmp(rule->string, "H1");
        assert_int_equal(said, !whole);
        *(startable ? &kept : &broken) += 1;
    }
    assert_true(kept > 10 && broken > 10);
    arena_free(&fixture.arena);
}

/* ---- pools --------------------------------------------------------------------------------------- */

enum { POOL_INPUTS = 10, POOLS_MOST = 1 << 20 };
static const char *const pool_inputs[POOL_INPUTS] = {
    "chips", "attention_dp", "pipeline_parallel", "expert_parallel", "prefill_chips",
    "prefill_attention_dp", "prefill_pipeline_parallel", "decode_workers", "prefill_workers",
    "rank_running_target" };

struct pools {
    double *at[POOL_INPUTS];
    size_t count;
};

static void add_pool(struct pools *pools, const double *values)
{
    assert_true(pools->count < POOLS_MOST);
    for (int i = 0; i < POOL_INPUTS; i++)
        pools->at[i][pools->count] = values[i];
    pools->count++;
}

struct size {
    double chips, dp, pp;
};

/* Ways to cut so many chips, legal or not. */
static size_t sizes(double most, struct size *out)
{
    size_t count = 0;
    for (double chips = 1; chips <= most; chips++)
        for (double dp = 1; dp <= chips; dp++)
            for (double pp = 1; pp <= chips; pp++)
                if (fmod(chips, dp * pp) == 0)
                    out[count++] = (struct size){ chips, dp, pp };
    return count;
}

static void all_pools(double gpus, bool experts, struct pools *pools)
{
    struct size size[256];
    const size_t count = sizes(gpus - 1, size);
    for (size_t d = 0; d < count; d++)
        for (size_t p = 0; p < count; p++)
            for (double n = 1; n * size[d].chips < gpus; n++)
                for (double m = 1; n * size[d].chips + m * size[p].chips <= gpus; m++)
                    for (int whole = 0; whole <= experts; whole++)
                        for (double held = 1; held <= 40; held += 3)
                            add_pool(pools, (double[POOL_INPUTS]){
                                size[d].chips, size[d].dp, size[d].pp,
                                whole ? size[d].chips / size[d].pp : 1, size[p].chips, size[p].dp,
                                size[p].pp, n, m, held });
}

/* As plan_space asks, but of rows only, legality of both servers among them. */
static const char *const pool_rows[] = {
    "one_token / disagg_tpot", "disagg_throughput_per_chip", "rank_slots * replica_fits * pool_prefill_fits",
    "disagg_deployment_ttft", "disagg_tpot", "pool_load / prefill_utilization_max", "layout_packs * pool_startable",
    ("AT(layout_packs, chips = prefill_chips, attention_dp = prefill_attention_dp,"
     " pipeline_parallel = prefill_pipeline_parallel)"), "pool_slots_load / load_margin" };

static void run_pools(struct plan *plan, struct scenario *scenario, const struct pools *pools,
                      double **out)
{
    struct values values;
    if (!values_of(scenario, pool_rows, COUNT(pool_rows), &values, plan->error))
        fail_msg("%s", plan->error->what);
    struct column *inputs = arena_array(plan->arena, values.graph.input_count, sizeof *inputs);
    for (size_t i = 0; i < values.graph.input_count; i++)
        inputs[i] = (struct column){ &values.inputs[i], 0 };
    for (int i = 0; i < POOL_INPUTS; i++)
        if (graph_input(&values.graph, pool_inputs[i]) >= 0)
            inputs[graph_input(&values.graph, pool_inputs[i])] = (struct column){ pools->at[i], 1 };
    for (size_t r = 0; r < COUNT(pool_rows); r++)
        out[r] = arena_array(plan->arena, pools->count, sizeof(double));
    graph_run(&values.graph, inputs, out, pools->count);
}

static void check_pools(struct plan *plan, const struct scenario *variant)
{
    struct scenario scenario;
    struct pools pools = { .count = 0 };
    double *out[COUNT(pool_rows)];
    if (!scenario_read(&scenario, plan->arena, variant->command,
                       plan->variants[0].scenario.subject, plan->error))
        fail_msg("%s", plan->error->what);
    for (int i = 0; i < POOL_INPUTS; i++) {
        pools.at[i] = arena_array(plan->arena, POOLS_MOST, sizeof(double));
        set(&scenario, pool_inputs[i], 1);
    }
    set(&scenario, "deployment_chips", plan->gpus);
    facts_bind(&scenario.facts, "disagg_rank_running", "rank_running_target", ORIGIN_GIVEN, "test");
    set(&scenario, "open_loop", 1);
    const struct fact *sparse = facts_find(&scenario.facts, "moe_layers");
    all_pools(plan->gpus, sparse && sparse->value > 0, &pools);
    run_pools(plan, &scenario, &pools, out);
    size_t met = 0;
    for (size_t i = 0; i < pools.count; i++) {
        bool good = out[6][i] > 0 && out[7][i] > 0 && pools.at[9][i] <= out[2][i] &&
                    out[3][i] <= plan->ttft && out[4][i] <= plan->tpot && out[5][i] <= 1 &&
                    out[8][i] <= 1;
        met += good;
        if (good)
            assert_true(beaten(&plan->result.front, out[0][i], out[1][i]));
    }
    print_message("%s: %zu of %zu pools are within the limits, none beats the front\n",
                  plan->model, met, pools.count);
    assert_true(met > 100);
}

static void no_pools_are_better(void **state)
{
    (void)state;
    static const struct job small[] = {
        { "llama-3.1-8b", "h100-sxm", "6", NULL, NULL, NULL },
        { "qwen3-30b-a3b", "h100-sxm", "4", "1s", "15ms", NULL } };
    for (size_t j = 0; j < COUNT(small); j++) {
        struct fixture fixture;
        open_job(&fixture, &small[j]);
        check_pools(&fixture.plan, &fixture.plan.variants[0].scenario);
        arena_free(&fixture.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(loops_close),
                                        cmocka_unit_test(none_is_better),
                                        cmocka_unit_test(costs_divide_the_rent),
                                        cmocka_unit_test(loads_in_words), cmocka_unit_test(budgets_are_kept),
                                        cmocka_unit_test(sites_power_whole_hosts),
                                        cmocka_unit_test(rules_say_why),
                                        cmocka_unit_test(no_pools_are_better) };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
