/* plan: the best deployments under limits.
 *
 *     MODEL, machines, formats -> variants -> spaces -> front -> the best of it
 *
 * This file turns words and options into variants and runs the search. Each combination of machine,
 * formats and kind of deployment is a variant with a scenario of its own, in which the load is an
 * input. What the user gave is held: sizes exclude other layouts, a demand asks for the fewest GPUs.
 * What the search finds by itself cannot be given.
 * Spaces are listed in plan_space.c, points evaluated in plan_point.c, and told in plan_answer.c;
 * processes that search together agree here on what goes wrong before the search begins. */
#include "ask/ask.h"
#include "deploy/launch/launch.h"
#include "ask/plan/plan.h"
#include "build/row_names.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------------ */

/* "a,b" as names; none: NULL once. */
static size_t split_names(struct arena *arena, const char *text, const char ***names)
{
    size_t count = 0, room = 0;
    *names = NULL;
    for (const char *at = text ? text : ""; *at;) {
        size_t size = strcspn(at, ",");
        if (size)
            *(const char **)arena_push(arena, names, &count, &room, sizeof **names) =
                arena_copy(arena, at, size);
        at += size + (at[size] == ',');
    }
    if (!count)
        *(const char **)arena_push(arena, names, &count, &room, sizeof **names) = NULL;
    return count;
}

static bool read_words(struct plan *plan)
{
    const struct command *command = plan->command;
    if (!command_pair(command, &plan->subject, plan->error))
        return false;
    const char *machines = plan->subject.machine;
    plan->model = plan->subject.model;
    if (!machines[strspn(machines, ",")]) {
        error_set(plan->error, "plan needs a machine: --on");
        return error_expected(plan->error, "one machine, or several separated by commas, as in `%s`",
                          command->verb->examples[0]);
    }
    if (!command_given(command, "traffic") || command_given(command, "validate"))
        return true;
    error_set(plan->error, "--traffic without --validate");
    return error_expected(plan->error, "--validate 8 --traffic %.200s", command_text(command, "traffic"));
}

/* ---- variants --------------------------------------------------------------------------------- */

/* Make the load an input; in disaggregated deployments the prefill workers too. */
static void open_loop(struct variant *variant)
{
    struct facts *facts = &variant->scenario.facts;
    static const char *const inputs[] = {
        NAME_prefill_chips, NAME_prefill_attention_dp, NAME_prefill_pipeline_parallel,
        NAME_decode_workers, NAME_prefill_workers };
    const struct fact *chunk = facts_find(facts, NAME_chunked_prefill_size);
    const struct fact before = chunk ? *chunk : (struct fact){ 0 };
    servers_open_loop(facts, "plan");
    if (variant->kind != PLAN_POOLS)
        return;
    if (chunk)                                  /* of pools it is no input */
        facts_set(facts, NAME_chunked_prefill_size, before.value, before.origin, before.source);
    else
        facts_remove(facts, NAME_chunked_prefill_size);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (!fact_given(facts_find(facts, inputs[i])))
            facts_set(facts, inputs[i], 1, ORIGIN_AXIS, "plan");
    facts_bind(facts, NAME_disagg_rank_running, NAME_rank_running_target, ORIGIN_AXIS, "plan");
}

static bool read_limit(struct plan *plan, struct scenario *scenario, const char *row, double *value)
{
    const struct fact *fact = facts_find(&scenario->facts, row);
    if (!value_of(scenario, row, value, plan->error))
        return false;
    if (*value > 0)
        return true;
    error_set(plan->error, "%s: invalid time '%g'", fact ? fact->source : row, *value);
    return error_expected(plan->error, "a time above 0: 300ms, 2s");
}

/* Refuse loads and sizes that the search finds itself: who gives one would not see it followed. */
static bool check_given(struct plan *plan, const struct scenario *scenario)
{
    static const char *const found[] = { NAME_users, NAME_concurrency, NAME_replicas, NAME_batch,
                                         NAME_arrival_rate };
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        const struct fact *fact = facts_find(&scenario->facts, found[i]);
        if (!fact_given(fact))
            continue;
        error_set(plan->error, "%s: plan chooses %s itself", fact->source, found[i]);
        return error_expected(plan->error, "--rate or --tokens-per-day for the load of the deployment, --gpus "
                                       "for its size; `chalkline step` takes %s", fact->source);
    }
    return true;
}

/* The demand, where there is one, as requests per second; the number of GPUs, which is one scale-up
 * domain where nobody gave it, and no limit at all where only a demand is given; TTFT and TPOT. */
static bool read_limits(struct plan *plan, struct scenario *scenario, enum plan_kind kind)
{
    enum { MOST = 10000000 };
    const bool capped = plan_capped(scenario);
    const struct fact *tokens = facts_find(&scenario->facts, NAME_tokens_per_day);
    const bool chips_given = fact_given(facts_find(&scenario->facts, NAME_deployment_chips));
    double domain, demand;
    if (fact_given(tokens)) {
        if (!value_of(scenario, NAME_request_demand, &demand, plan->error))
            return false;
        facts_set(&scenario->facts, NAME_request_demand, demand, ORIGIN_GIVEN, tokens->source);
    }
    const struct fact *users = facts_find(&scenario->facts, NAME_users_demand);
    if (fact_given(users))          /* Little's law: each has one request in flight */
        facts_bind(&scenario->facts, NAME_request_demand, kind == PLAN_POOLS
                   ? NAME_users_demand " / " NAME_pool_e2e : NAME_users_demand " / " NAME_predicted_e2e,
                   ORIGIN_AXIS, users->source);
    plan->in_flight = fact_given(facts_find(&scenario->facts, NAME_concurrency_most));
    plan->by_demand = facts_find(&scenario->facts, NAME_request_demand) != NULL;
    if (!value_of(scenario, NAME_scale_up_chips, &domain, plan->error))
        return false;
    plan->alone = command_given(plan->command, "aggregated") && !plan->by_demand && !chips_given && !capped;
    if (!plan->alone && !chips_given)
        facts_set(&scenario->facts, NAME_deployment_chips, plan->by_demand || capped ? ENDLESS : domain,
                  plan->by_demand || capped ? ORIGIN_CHOSEN : ORIGIN_GIVEN, "assumed");
    if (!value_of(scenario, NAME_deployment_chips, &plan->gpus, plan->error))
        return false;
    if (chips_given && !(plan->gpus >= 1 && plan->gpus <= MOST && plan->gpus == floor(plan->gpus))) {
        error_set(plan->error, "%s: invalid number of GPUs '%.12g'",
                  facts_find(&scenario->facts, NAME_deployment_chips)->source, plan->gpus);
        return error_expected(plan->error, "a whole number from 1 to %d", MOST);
    }
    return read_limit(plan, scenario, NAME_ttft_limit, &plan->ttft) &&
           read_limit(plan, scenario, NAME_tpot_limit, &plan->tpot) &&
           value_of(scenario, NAME_ttft_limit_percentile, &plan->ttft_share, plan->error) &&
           value_of(scenario, NAME_tpot_limit_percentile, &plan->tpot_share, plan->error);
}

/* With --aggregated and no number of GPUs, servers are looked at that a command without a server
 * would choose from (scenario_choose): as many scale-up domains as its choice needed, the same rule
 * of layouts, and a usual TTFT that nothing keeps given up. Without a price the smallest server is
 * wanted, so that none larger than the chosen one is looked at. */
static bool take_reach(struct plan *plan, struct variant *variant, struct scenario *chosen)
{
    static const char *const texts[] = { NAME_predicted_tpot, NAME_arrival_rate };
    const struct fact *price = facts_find(&chosen->facts, NAME_chip_price);
    double chips, startable, most;
    if (!scenario_choose(chosen, texts, 2, plan->error) ||
        !value_of(chosen, NAME_chips, &chips, plan->error) ||
        !value_of(chosen, NAME_layout_startable, &startable, plan->error) ||
        !value_of(chosen, NAME_replica_chips_max, &most, plan->error) ||
        !value_of(chosen, NAME_scale_up_chips, &variant->reach, plan->error))
        return false;
    while (variant->reach < chips)
        variant->reach *= 2;
    variant->reach = fmin(variant->reach, fmax(chips, most));
    if (plan->alone && !(price && (price->expression || price->value > 0)))
        variant->reach = chips;
    if (!(startable > 0))
        variant->rule = LAYOUT_EVEN;
    if (chosen->choice.ttft_missed > 0)
        variant->ttft = INFINITY;
    if (plan->alone)
        plan->gpus = variant->gpus = variant->reach;
    return true;
}

/* TP follows from the other sizes: who gives it wants only layouts that have it. */
static bool take_tensor(struct plan *plan, struct scenario *scenario)
{
    const struct fact *fact = facts_find(&scenario->facts, NAME_tensor_parallel);
    if (!fact_given(fact))
        return true;
    if (!value_of(scenario, NAME_tensor_parallel, &plan->tensor, plan->error))
        return false;
    if (!(plan->tensor >= 1) || plan->tensor != floor(plan->tensor)) {
        error_set(plan->error, "%s: tensor_parallel: invalid number of GPUs '%g'", fact->source, plan->tensor);
        return error_expected(plan->error, "a whole number");
    }
    facts_remove(&scenario->facts, NAME_tensor_parallel);
    return true;
}

/* Open a scenario with one machine and format of the lists. */
static bool open_scenario(struct plan *plan, const struct machine_wanted *wanted, const char *precision, const char *kv,
                          struct scenario *scenario)
{
    struct subject subject = plan->subject;
    subject.machine = wanted->name;
    subject.precision = precision;
    subject.kv_precision = kv;
    return scenario_read(scenario, plan->arena, plan->command, subject, plan->error) &&
           plan_set_price(plan, scenario, wanted) && sweep_set(scenario, plan->swept, plan->error) &&
           scenario_images(scenario, plan->error) && check_given(plan, scenario);
}

/* Add a kind of deployment in that scenario, of which each has a copy. */
static bool add_variant(struct plan *plan, const struct machine_wanted *wanted, const char *precision,
                        const char *kv, enum plan_kind kind, const struct scenario *opened)
{
    struct variant *variant = arena_push(plan->arena, &plan->variants, &plan->count, &plan->room,
                                         sizeof *variant);
    *variant = (struct variant){ .kind = kind, .machine = wanted->name, .precision = precision, .kv = kv,
                                 .scenario = *opened };
    struct scenario *scenario = &variant->scenario, asked;
    scenario->facts = facts_copy(&opened->facts);
    scenario->graphs = NULL;
    asked = *scenario;
    asked.facts = facts_copy(&scenario->facts);
    if (!take_tensor(plan, scenario) || !read_limits(plan, scenario, kind) ||
        !plan_read_room(plan, scenario, wanted, &variant->gpus))
        return false;
    variant->ttft = plan->ttft;
    variant->rule = command_given(plan->command, "any-layout") ? LAYOUT_EVEN : LAYOUT_STARTABLE;
    if (command_given(plan->command, "aggregated") &&
        !fact_given(facts_find(&scenario->facts, NAME_deployment_chips)) && !take_reach(plan, variant, &asked))
        return false;
    variant->asked = variant->read = *scenario;
    variant->asked.facts = facts_copy(&scenario->facts);
    variant->read.facts = facts_copy(&scenario->facts);
    open_loop(variant);
    return true;
}

/* "32 x H200 SXM or H100 SXM", "16 x H100 SXM or 8 x H200 SXM" */
static const char *scope_text(struct plan *plan)
{
    struct buffer out = { .arena = plan->arena };
    const bool swept = plan->swept.row && !strcmp(plan->swept.row, NAME_deployment_chips);
    const struct variant *before = NULL;
    for (const struct variant *variant = plan->variants; variant < plan->variants + plan->count; variant++) {
        if (before && before->machine == variant->machine)
            continue;
        buffer_print(&out, "%s", before ? " or " : "");
        if (plan->alone && !before)
            buffer_print(&out, "one replica of ");
        else if (!plan->alone && !(variant->gpus < ENDLESS) && !before)
            buffer_print(&out, "as many as needed of ");
        else if (!plan->alone && !swept && variant->gpus < ENDLESS && (!before || before->gpus != variant->gpus))
            buffer_print(&out, "%.0f x ", variant->gpus);
        buffer_print(&out, "%s", variant->scenario.machine);
        before = variant;
    }
    return out.data;
}

/* Read the variants, without their spaces. */
static bool read_variants(struct plan *plan)
{
    const struct subject *subject = &plan->subject;
    const char **machines, **precisions, **kvs;
    struct machine_wanted *wanted;
    const int kinds = command_given(plan->command, "aggregated") ? PLAN_TOGETHER + 1 : PLAN_KINDS;
    size_t machine_count = split_names(plan->arena, subject->machine, &machines);
    wanted = arena_array(plan->arena, machine_count, sizeof *wanted);
    for (size_t m = 0; m < machine_count; m++)
        if (!plan_read_machine(plan, machines[m], &wanted[m]))
            return false;
    size_t precision_count = split_names(plan->arena, subject->precision, &precisions);
    size_t kv_count = split_names(plan->arena, subject->kv_precision, &kvs);
    for (size_t m = 0; m < machine_count; m++)
        for (size_t p = 0; p < precision_count; p++)
            for (size_t k = 0; k < kv_count; k++) {
                struct scenario opened;
                if (!open_scenario(plan, &wanted[m], precisions[p], kvs[k], &opened))
                    return false;
                for (int kind = 0; kind < kinds; kind++)
                    if (!add_variant(plan, &wanted[m], precisions[p], kvs[k], (enum plan_kind)kind, &opened))
                        return false;
            }
    plan->by_cost = machine_count > 1;
    for (size_t i = 0; i < plan->count && plan->by_cost; i++) {
        double rent;
        plan->by_cost = value_of(&plan->variants[i].scenario, NAME_chip_price, &rent, plan->error) && rent > 0;
    }
    plan->scope = scope_text(plan);
    plan->spaces = arena_array(plan->arena, plan->count, sizeof *plan->spaces);
    return true;
}

static bool build_space(struct plan *plan, size_t i)
{
    return plan_space(plan, &plan->variants[i], &plan->spaces[i]) && plan_sizes(plan, &plan->variants[i]);
}

bool plan_spaces(struct plan *plan)
{
    bool good = read_variants(plan);
    for (size_t i = 0; good && i < plan->count; i++)
        good = build_space(plan, i);
    return good;
}

/* Processes that search together fail together. */
static bool search_variant(struct plan *plan, size_t i)
{
    const struct ranks *ranks = plan->command->ranks;
    struct arena settings = arena_beside(plan->arena);
    struct search_result one;
    plan->settings = &settings;
    const bool good = ranks_agree(ranks, build_space(plan, i), plan->error) &&
                      search_ranks(&settings, ranks, &plan->spaces[i], 1, &one, plan->error);
    plan->settings = NULL;
    if (good) {
        search_keep(plan->arena, &plan->spaces[i], i, &one);
        search_add(plan->arena, &plan->result, &one);
    }
    arena_free(&settings);
    return good;
}

bool plan_search(struct plan *plan)
{
    bool good = ranks_agree(plan->command->ranks, read_variants(plan), plan->error);
    for (size_t i = 0; good && i < plan->count; i++)
        good = search_variant(plan, i);
    return good;
}

/* Is a point of the front worth its cost after the one before it? A front ends where more GPUs hardly make it faster. */
static bool worth_more(const struct search_point *before, const struct search_point *point, double gain)
{
    const double cost = point->throughput > 0 ? before->throughput / point->throughput
                                              : point->throughput / before->throughput;
    return log(point->speed / before->speed) >= gain * log(cost);
}

/* Evaluate the front's points, and drop those that then exceed a limit or are not worth their cost. */
static bool keep_front(struct plan *plan)
{
    struct search_front *front = &plan->result.front;
    size_t kept = 0;
    double gain;
    if (!value_of(&plan->variants->scenario, NAME_front_gain_least, &gain, plan->error))
        return false;
    plan->front = arena_array(plan->arena, front->count + 1, sizeof *plan->front);
    if (!plan_read_points(plan, front->points, front->count, plan->front))
        return false;
    for (size_t i = 0; i < front->count; i++)
        if (plan_keeps(plan, &plan->front[i]) &&
            (!kept || worth_more(&front->points[kept - 1], &front->points[i], gain))) {
            plan->front[kept] = plan->front[i];
            front->points[kept++] = front->points[i];
        }
    front->count = kept;
    return true;
}

bool ask_plan(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    static const char *const not_swept[] = { "emit", "front", "pick", "plot", "report", "validate" };
    const bool sweeps = command_given(command, "sweep");
    struct plan *plan = arena_alloc(arena, sizeof *plan);
    *plan = (struct plan){ .arena = arena, .command = command, .answer = answer,
                           .error = error };
    if (!plan_emit_asked(command, error))
        return false;
    for (size_t i = 0; i < sizeof not_swept / sizeof *not_swept && sweeps; i++)
        if (command_given(command, not_swept[i])) {
            error_set(error, "--sweep and --%s exclude each other", not_swept[i]);
            return error_expected(error, "one of them");
        }
    if (!ranks_agree(command->ranks, read_words(plan), error))
        return false;
    enum { OF_PERCENTILE = 4 };             /* no row has one of TTFT, nor of pools */
    const struct value *ttft = command_value(command, "ttft"), *tpot = command_value(command, "tpot");
    plan->tails = !sweeps && ((ttft && ttft->percentile > 0) ||
                              (tpot && tpot->percentile > 0 && !command_given(command, "aggregated")));
    plan->validated = command_given(command, "validate") ? command_count(command, "validate")
                      : plan->tails ? OF_PERCENTILE : 0;
    if (sweeps && ttft && ttft->percentile > 0) {
        error_set(error, "--sweep compares means of TTFT, not --ttft %s", ttft->text);
        return error_expected(error, "--ttft %s, or no --sweep", ttft->row_text);
    }
    return sweeps ? plan_sweep(plan) : plan_search(plan) && keep_front(plan) && plan_answer(plan);
}

static const struct option search_list[] = {
    { "aggregated", NULL, OPTION_SWITCH,
      .help = "aggregated replicas alone; one without a limit of GPUs" },
    { "any-layout", NULL, OPTION_SWITCH,
      .help = "also layouts that cannot be started, with the broken rules" },
    { "front", NULL, OPTION_SWITCH, .help = "also list the Pareto front: the best at other speeds" },
    { "draft", "N", OPTION_COUNT, .low = 0, .high = 16, .fallback = "0",
      .help = "also layouts with up to N draft tokens" },
    { "sweep", "NAME=LOW..HIGH", OPTION_TEXT,
      .help = "best deployment at each value of a row; also NAME=A,B,C" },
    { "points", "N", OPTION_COUNT, .low = 2, .high = SWEEP_VALUES, .fallback = "7",
      .help = "number of values of a --sweep over a range" },
    { "validate", "N", OPTION_COUNT, .low = 1, .high = 64,
      .help = "simulate the best N layouts and rank them by goodput" },
    { "traffic", "TRACE", OPTION_TEXT, .otherwise = "Poisson at the predicted rate",
      .help = "requests of --validate: a trace, a description or constant" },
    { 0 } };
static const struct option pick_list[] = {
    { "pick", "SPEED", OPTION_QUANTITY, .unit = "token/s", .low = 1e-9, .otherwise = "the best",
      .help = "speed per user of the deployment that --emit takes" },
    { 0 } };
static const struct option_group search_options = { "Search", search_list },
                                 pick_options = { "Launch", pick_list };

static const struct instead instead[] = {
    { NAME_users, "plan chooses how many requests each replica has in flight: --users says how many there are in all" },
    { NAME_replicas, "plan chooses the number of replicas: --gpus limits the whole deployment" },
    { NULL, NULL } };

const struct verb verb_plan = {
    "plan", "MODEL --on HARDWARE",
    "Find the best deployments under TTFT, TPOT and GPU limits, with the extent of the search.",
    { "chalkline plan qwen3-32b --on h200-sxm --gpus 32 --isl 4000 --osl 500 --ttft 300ms --tpot 10ms",
      "chalkline plan deepseek-v3 --on gb200-nvl72,h200-sxm --precision fp8,fp4 --rate 50",
      "chalkline plan llama-3.3-70b --on h100-sxm --gpus 8 --emit vllm" },
    { &deployment_options, &room_options, &limit_options, &length_options, &image_options, &demand_options, &layout_options, &rank_options,
      &budget_options, &arrival_options, &think_options,      &search_options, &launch_options, &pick_options, &model_options,
      &machine_options, &weight_options, &cache_options, &engine_options, &calibration_options, &assume_options,
      &price_options, &row_options, &table_options, &plot_options, &report_options, &output_options },
    ANSWERS(answer_plan), .ask = ask_plan, .divided = true, .own_on = true,
    .instead = instead };
