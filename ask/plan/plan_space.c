/* The search spaces of `plan`: aggregated and disaggregated deployments of each machine and
 * format.
 *
 * An aggregated deployment is a layout of one replica. A disaggregated one is a layout of decode
 * workers and a number of them; all other chips prefill, with those prefill workers that no other
 * dominates in chips, time, capacity and number of ranks. With a demand the fewest chips are
 * wanted, so that smaller pools are added. Sizes of two pools are sampled: the GPUs divided among
 * 1 to 4 pairs, and larger pairs up to a fixed list. What the user gave excludes other settings. */
#include "ask/plan/plan.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "deploy/published.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct setting_input pools_inputs[] = {
#define X(row, axis) { NAME_##row, axis, 0 },
    PLAN_POOLS_INPUTS(X)
#undef X
};
enum { POOLS_COUNT = sizeof pools_inputs / sizeof *pools_inputs };

static const struct setting_input *inputs_of(enum plan_kind kind, size_t *count)
{
    *count = kind == PLAN_POOLS ? POOLS_COUNT : SERVERS_INPUTS;
    return kind == PLAN_POOLS ? pools_inputs : servers_inputs;
}

/* A layout of a prefill worker, and the time of one prompt on one of its ranks. */
struct prefill {
    struct layout layout;
    double time;
};

struct prefills {
    struct prefill *at;
    size_t count, room;
};

/* ---- settings --------------------------------------------------------------------------------- */

struct plan_settings {
    struct plan *plan;
    const struct setting_input *inputs;
    size_t input_count;
    double *at;                     /* NULL: settings are only counted */
    size_t count;                   /* of numbers */
    double gpus;
    double *only;                   /* [input_count] the user's number, or NAN */
};

/* Add a setting, unless a number that the user gave excludes it. */
static void add_setting(struct plan_settings *settings, const double *values)
{
    for (size_t i = 0; i < settings->input_count - 1; i++)      /* the last is the distance */
        if (!isnan(settings->only[i]) && settings->only[i] != values[i])
            return;
    if (settings->plan->tensor > 0 && values[0] / values[1] / values[2] != settings->plan->tensor)
        return;                     /* chips, attention_dp, pipeline_parallel */
    if (settings->at)
        memcpy(settings->at + settings->count, values, settings->input_count * sizeof *values);
    settings->count += settings->input_count;
}

/* Prefill servers that no other beats: fewer or as many chips, sooner done, more prompts, and as
 * many ranks to share a queue. Only those of the same TP and stages are compared, since engines ask for TP
 * and stages of two pools that match. */
static bool best_prefills(struct plan *plan, struct scenario *scenario,
                          const struct layouts *legal, struct prefills *best)
{
    static const char *const names[3] = { NAME_prefill_chips, NAME_prefill_attention_dp,
                                          NAME_prefill_pipeline_parallel };
    static const char *const rows[] = { NAME_disagg_prefill_time, NAME_pool_prefill_capacity,
                                        NAME_pool_prefill_fits };
    double *out[3];
    if (!layouts_rows(scenario, legal, names, rows, 3, out, plan->error))
        return false;
    for (size_t i = 0; i < legal->count; i++) {
        bool beaten = !(out[2][i] > 0);
        for (size_t j = 0; j < legal->count && !beaten; j++) {
            const struct layout *a = &legal->at[j], *b = &legal->at[i];
            const double a_tensor = a->chips / a->attention_dp / a->pipeline_parallel;
            const double b_tensor = b->chips / b->attention_dp / b->pipeline_parallel;
            bool as_good = out[2][j] > 0 && a->chips <= b->chips && a_tensor == b_tensor &&
                           a->pipeline_parallel == b->pipeline_parallel && out[0][j] <= out[0][i] &&
                           out[1][j] >= out[1][i] && a->attention_dp >= b->attention_dp;
            bool same = a->chips == b->chips && out[0][j] == out[0][i] &&
                        out[1][j] == out[1][i] && a->attention_dp == b->attention_dp;
            beaten = j != i && as_good && (!same || j < i);
        }
        if (!beaten)
            *(struct prefill *)arena_push(plan->arena, &best->at, &best->count, &best->room,
                                          sizeof *best->at) = (struct prefill){ legal->at[i], out[0][i] };
    }
    return true;
}

/* Sizes of two pools: the GPUs over 1, 2, 3, 4 pairs, or over as many more as a pair can be large;
 * for a demand, which takes as many pairs as it needs, the largest pair alone. */
enum { CELLS = 4 };
static size_t list_cells(const struct plan *plan, double gpus, double cells[CELLS])
{
    enum { LARGEST = 128, LARGEST_OF_DEMAND = 64 };
    const double pairs = ceil(gpus / LARGEST);
    size_t count = 0;
    if (plan->by_demand)
        return cells[0] = fmin(gpus, LARGEST_OF_DEMAND), 1;
    for (double more = 0; more < CELLS; more++) {
        double cell = floor(gpus / (pairs + more));
        if (cell >= 2 && (!count || cell < cells[count - 1]))
            cells[count++] = cell;
    }
    return count;
}

/* All pools with these decode servers: each size of the pools, each number of decode servers, and all
 * chips that they leave as prefill servers. For a demand the fewest chips are wanted, so that fewer
 * prefill servers are added too. */
static void add_pools(struct plan_settings *settings, const struct layout *decode, double experts,
                      double draft, const struct prefills *prefills)
{
    double cells[CELLS];
    const size_t count = list_cells(settings->plan, settings->gpus, cells);
    for (size_t k = 0; k < prefills->count; k++) {
        const struct layout *at = &prefills->at[k].layout;
        for (size_t c = 0; c < count; c++)
            for (double n = 1; n * decode->chips + at->chips <= cells[c]; n++) {
                const double most = floor((cells[c] - n * decode->chips) / at->chips);
                for (double m = settings->plan->by_demand ? 1 : most; m <= most; m++)
                    add_setting(settings, (double[POOLS_COUNT]){
                        decode->chips, decode->attention_dp, decode->pipeline_parallel, experts, draft,
                        at->chips, at->attention_dp, at->pipeline_parallel, prefills->at[k].time, n, m });
            }
    }
}

/* Set the distances of settings: that of the kind of worker that is further from published ones. */
static void place_pools(struct plan *plan, struct scenario *scenario, double *at, size_t count)
{
    enum {
#define X(row, axis) AT_##row,
        PLAN_POOLS_INPUTS(X)
#undef X
    };
    const struct published *published = published_open(scenario);
    double given;
    const bool known = given_number(scenario, NAME_layout_distance, &given);
    for (size_t i = 0; i < count; i++) {
        double *one = &at[i * POOLS_COUNT];
        const double ranks = one[AT_prefill_attention_dp], stages = one[AT_prefill_pipeline_parallel];
        const struct published_layout decode = { one[AT_chips], one[AT_attention_dp], one[AT_pipeline_parallel],
                                                 one[AT_expert_parallel] };
        const struct published_layout prefill = { one[AT_prefill_chips], ranks, stages,
                                                  ranks > 1 ? one[AT_prefill_chips] / stages : 1 };
        one[AT_layout_distance] = known ? given
            : fmax(published_distance(published, PUBLISHED_DECODE, &decode),
                   published_distance(published, PUBLISHED_PREFILL, &prefill));
    }
    settings_sort(plan->arena, at, count, POOLS_COUNT, AT_layout_distance);
}

/* ---- the list --------------------------------------------------------------------------------- */

bool plan_list(struct plan *plan, struct variant *variant, const char *const *texts, size_t count,
               struct graph *graph)
{
    size_t input_count;
    const struct setting_input *inputs = inputs_of(variant->kind, &input_count);
    if (variant->kind == PLAN_POOLS)                /* found before, by best_prefills */
        facts_set(&variant->scenario.facts, NAME_disagg_prefill_time, 1, ORIGIN_AXIS, "plan");
    return servers_list(plan->arena, &variant->scenario, inputs, input_count, texts, count, graph, plan->error);
}

/* Of aggregated deployments servers.h has the space. That of pools is every legal decode server, with
 * its experts spread or not and each number of draft tokens, beside the best prefill servers. */
bool plan_space(struct plan *plan, struct variant *variant, struct search_space *space)
{
    const char *texts[SERVERS_OUTPUTS] = {
        NAME_disagg_speed_per_user, NAME_disagg_throughput_per_chip " * " NAME_layout_trust, NAME_rank_running_max,
        NAME_disagg_deployment_ttft, NAME_disagg_tpot, NAME_pool_prompts_share, NAME_pool_slots_load,
        plan->in_flight ? NAME_pool_concurrency_used : "0", NAME_pool_gpus_needed };
    struct servers servers;
    struct layouts legal;
    struct prefills prefills = { 0 };
    struct plan_settings settings = { .plan = plan, .inputs = pools_inputs, .input_count = POOLS_COUNT,
                                 .gpus = variant->gpus };
    double draft_most;
    if (!given_number(&variant->scenario, NAME_draft_tokens, &draft_most))
        draft_most = command_number(plan->command, "draft");
    servers = (struct servers){
        .arena = plan->arena, .settings = plan->settings, .scenario = &variant->scenario, .chips = variant->gpus,
        .replica_least = 1, .replica_most = variant->reach, .ttft = variant->ttft,
        .tpot = plan->tpot, .tensor = plan->tensor, .draft_most = draft_most,
        .by_cost = plan->by_cost, .by_demand = plan->by_demand, .in_flight = plan->in_flight, .rule = variant->rule,
        .own_rows = command_given(plan->command, "rows") };
    if (!servers_read(&servers, plan->error))
        return false;
    if (variant->kind != PLAN_POOLS)
        return servers_space(&servers, space, plan->error);
    settings.only = arena_array(plan->arena, POOLS_COUNT, sizeof *settings.only);
    for (size_t i = 0; i < POOLS_COUNT; i++)
        if (!given_number(&variant->scenario, pools_inputs[i].row, &settings.only[i]))
            settings.only[i] = NAN;
    if (!servers_layouts(&servers, &legal, plan->error) ||
        !best_prefills(plan, &variant->scenario, &legal, &prefills))
        return false;
    for (int turn = 0; turn < 2; turn++) {          /* counted, then written */
        if (turn)
            settings.at = arena_array(plan->settings ? plan->settings : plan->arena, settings.count + 1, sizeof(double));
        settings.count = 0;
        for (size_t i = 0; i < legal.count; i++) {
            double experts[2];
            const size_t ways = layout_experts(&variant->scenario, &legal.at[i], experts);
            for (size_t e = 0; e < ways; e++)
                for (double draft = 0; draft <= draft_most; draft++)
                    add_pools(&settings, &legal.at[i], experts[e], draft, &prefills);
        }
    }
    size_t setting_count = settings.count / POOLS_COUNT;
    if (variant->rule == LAYOUT_STARTABLE &&
        !settings_keep(&variant->scenario, pools_inputs, POOLS_COUNT, NAME_pools_affordable, settings.at, &setting_count,
                       plan->error))
        return false;
    place_pools(plan, &variant->scenario, settings.at, setting_count);
    if (plan->by_demand)
        texts[SERVERS_WORTH] = plan->by_cost ? NAME_pool_fewest_rent " / " NAME_layout_trust
                                             : NAME_pool_fewest_gpus " / " NAME_layout_trust;
    else if (plan->by_cost)
        texts[SERVERS_WORTH] = NAME_pool_per_usd " * " NAME_layout_trust;
    *space = (struct search_space){ .speed = SERVERS_SPEED, .throughput = SERVERS_WORTH,
                                    .most = SERVERS_ROOM };
    if (!plan_list(plan, variant, texts, SERVERS_OUTPUTS, &space->graph))
        return false;
    servers_loads(&servers, space);
    space->settings = settings.at;
    space->setting_count = setting_count;
    servers_columns(plan->arena, pools_inputs, POOLS_COUNT, space);
    servers_limits(&servers, space);
    return true;
}

double plan_input(const struct plan *plan, const struct search_point *point, const char *row)
{
    const struct search_space *space = &plan->spaces[point->space];
    size_t count;
    const struct setting_input *inputs = inputs_of(plan->variants[point->space].kind, &count);
    if (!strcmp(row, NAME_rank_running_target))
        return space->loads[point->load];
    for (size_t i = 0; i < count; i++)
        if (!strcmp(inputs[i].row, row))
            return space->settings[point->setting * space->inputs + i];
    return NAN;
}

/* Facts that the user gave keep their source; an expression is not an input and stays. */
struct scenario plan_scenario(const struct plan *plan, const struct search_point *point)
{
    const struct variant *variant = &plan->variants[point->space];
    struct scenario scenario = variant->scenario;
    struct facts *facts = &scenario.facts;
    size_t count;
    const struct setting_input *inputs = inputs_of(variant->kind, &count);
    facts->scalar_room = facts->scalar_count + count + 1;
    facts->scalars = arena_array(plan->arena, facts->scalar_room, sizeof *facts->scalars);
    memcpy(facts->scalars, variant->scenario.facts.scalars, facts->scalar_count * sizeof *facts->scalars);
    for (size_t i = 0; i <= count; i++) {
        const char *row = i < count ? inputs[i].row : NAME_rank_running_target;
        const struct fact *fact = facts_find(facts, row);
        if (!fact || !fact->expression)
            facts_set(facts, row, plan_input(plan, point, row),
                      fact ? fact->origin : ORIGIN_AXIS, fact ? fact->source : "plan");
    }
    return scenario;
}
