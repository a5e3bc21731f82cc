/* The spaces of `plan`: which layouts there are, and what is asked of each. */
#include "ask/plan/plan.h"

#include "build/row_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct plan_input {
    const char *row;
    int axis;
};
static const struct plan_input together_inputs[] = {
#define X(row, axis) { NAME_##row, axis },
    PLAN_TOGETHER_INPUTS(X)
};
static const struct plan_input pools_inputs[] = {
    PLAN_POOLS_INPUTS(X)
#undef X
};
enum { TOGETHER_COUNT = sizeof together_inputs / sizeof *together_inputs,
       POOLS_COUNT = sizeof pools_inputs / sizeof *pools_inputs };

static const struct plan_input *inputs_of(enum plan_kind kind, size_t *count)
{
    *count = kind == PLAN_POOLS ? POOLS_COUNT : TOGETHER_COUNT;
    return kind == PLAN_POOLS ? pools_inputs : together_inputs;
}

/* A number that the user gave, perhaps as an expression: the row is no axis then. */
static bool given(const struct scenario *scenario, const char *row, double *value)
{
    const struct fact *fact = facts_find(&scenario->facts, row);
    struct scenario same = *scenario;
    struct error ignored;
    if (!fact_given(fact))
        return false;
    *value = fact->value;
    return !fact->expression || value_of(&same, row, value, &ignored);
}

/* ---- layouts --------------------------------------------------------------------------------- */

struct layout {
    double chips, attention_dp, pipeline_parallel;
};

struct layouts {
    struct layout *at;
    size_t count, room;
};

/* A server that only takes prompts, and what one takes of a rank. */
struct prefill {
    struct layout layout;
    double time;
};

struct prefills {
    struct prefill *at;
    size_t count, room;
};

/* All ways to write a number of chips as ranks, stages and what is left for each. */
static void add_ways(struct arena *arena, double chips, struct layouts *layouts)
{
    for (double dp = 1; dp <= chips; dp++)
        for (double pp = 1; pp <= chips / dp; pp++)
            if (fmod(chips, dp * pp) == 0)
                *(struct layout *)arena_push(arena, &layouts->at, &layouts->count, &layouts->room,
                                             sizeof *layouts->at) = (struct layout){ chips, dp, pp };
}

/* A list at many points: named inputs get a column each, where it has them. */
static void run_columns(struct arena *arena, const struct values *values, const char *const *names,
                        const double *const *columns, size_t count, double *const *outputs,
                        size_t points)
{
    struct column *inputs = arena_array(arena, values->list.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < values->list.input_count; i++)
        inputs[i] = (struct column){ &values->inputs[i], 0 };
    for (size_t i = 0; i < count; i++) {
        int input = list_input(&values->list, names[i]);
        if (input >= 0)
            inputs[input] = (struct column){ columns[i], 1 };
    }
    list_run(&values->list, inputs, outputs, points);
}

/* Rows of every layout; the names say where chips, ranks and stages go. */
static bool layout_rows(struct plan *plan, struct scenario *scenario, const struct layouts *layouts,
                        const char *const names[3], const char *const *rows, size_t row_count,
                        double **out)
{
    struct arena *arena = plan->arena;
    struct values values;
    double *columns[3];
    for (int k = 0; k < 3; k++)
        columns[k] = arena_array(arena, layouts->count + 1, sizeof(double));
    for (size_t i = 0; i < layouts->count; i++) {
        columns[0][i] = layouts->at[i].chips;
        columns[1][i] = layouts->at[i].attention_dp;
        columns[2][i] = layouts->at[i].pipeline_parallel;
    }
    for (size_t r = 0; r < row_count; r++)
        out[r] = arena_array(arena, layouts->count + 1, sizeof(double));
    if (!values_of(scenario, rows, row_count, &values, plan->error))
        return false;
    run_columns(arena, &values, names, (const double *const *)columns, 3, out, layouts->count);
    return true;
}

/* The legal ones, in rising order. */
static bool list_layouts(struct plan *plan, struct scenario *scenario, struct layouts *legal)
{
    static const char *const names[3] = { NAME_chips, NAME_attention_dp, NAME_pipeline_parallel };
    static const char *const rows[] = { NAME_layout_legal, NAME_server_chips_most };
    struct layouts all = { 0 };
    double most, *out[2];
    *legal = (struct layouts){ 0 };
    if (!value_of(scenario, rows[1], &most, plan->error))
        return false;
    for (double chips = 1; chips <= fmin(most, plan->gpus); chips++)
        add_ways(plan->arena, chips, &all);
    if (!layout_rows(plan, scenario, &all, names, rows, 1, out))
        return false;
    for (size_t i = 0; i < all.count; i++)
        if (out[0][i] > 0)
            *(struct layout *)arena_push(plan->arena, &legal->at, &legal->count, &legal->room,
                                         sizeof *legal->at) = all.at[i];
    return true;
}

/* Whole experts on each chip, or each expert cut over all. */
static size_t expert_ways(const struct scenario *scenario, const struct layout *layout,
                          double ways[2])
{
    const struct fact *sparse = facts_find(&scenario->facts, NAME_moe_layers);
    const double stage = layout->chips / layout->pipeline_parallel;
    if (!sparse || !(sparse->value > 0) || stage == 1)
        return ways[0] = 1, 1;
    return ways[0] = stage, ways[1] = 1, 2;
}

/* ---- settings --------------------------------------------------------------------------------- */

struct settings {
    struct plan *plan;
    const struct scenario *scenario;
    const struct plan_input *inputs;
    size_t input_count;
    double *at;
    size_t count, room;             /* of numbers */
    double draft_most;
    double *only;                   /* [input_count] the user's number, or NAN */
};

/* Those that the user's numbers exclude are left out. */
static void add_setting(struct settings *settings, const double *values)
{
    for (size_t i = 0; i < settings->input_count; i++)
        if (!isnan(settings->only[i]) && settings->only[i] != values[i])
            return;
    if (settings->plan->tensor > 0 && values[0] / values[1] / values[2] != settings->plan->tensor)
        return;                     /* chips, attention_dp, pipeline_parallel */
    for (size_t i = 0; i < settings->input_count; i++)
        *(double *)arena_push(settings->plan->arena, &settings->at, &settings->count,
                              &settings->room, sizeof(double)) = values[i];
}

static void add_together(struct settings *settings, const struct layout *layout, double experts)
{
    static const double chunks[] = { 512, 1024, 2048, 4096, 8192, 16384 };
    double chunk;
    bool fixed = given(settings->scenario, NAME_prefill_size, &chunk);
    for (double draft = 0; draft <= settings->draft_most; draft++)
        for (size_t i = 0; i < (fixed ? 1 : sizeof chunks / sizeof *chunks); i++)
            add_setting(settings, (double[TOGETHER_COUNT]){
                layout->chips, layout->attention_dp, layout->pipeline_parallel, experts, draft,
                fixed ? chunk : chunks[i] });
}

/* Every number of servers that decode; all chips that they leave take prompts. For a demand the
 * fewest chips are wanted: then also fewer. */
static void add_pools(struct settings *settings, const struct layout *decode, double experts,
                      double draft, const struct prefill *prefill, double cell)
{
    const struct layout *at = &prefill->layout;
    for (double n = 1; n * decode->chips + at->chips <= cell; n++) {
        const double most = floor((cell - n * decode->chips) / at->chips);
        for (double m = settings->plan->by_demand ? 1 : most; m <= most; m++)
            add_setting(settings, (double[POOLS_COUNT]){
                decode->chips, decode->attention_dp, decode->pipeline_parallel, experts, draft,
                at->chips, at->attention_dp, at->pipeline_parallel, prefill->time, n, m });
    }
}

static void add_prefill(struct arena *arena, struct prefills *prefills, const struct layout *layout,
                        double time)
{
    *(struct prefill *)arena_push(arena, &prefills->at, &prefills->count, &prefills->room,
                                  sizeof *prefills->at) = (struct prefill){ *layout, time };
}

/* Prefill servers that no other beats: fewer or as many chips, sooner done, more prompts, and as
 * many ranks to share a queue. */
static bool best_prefills(struct plan *plan, struct scenario *scenario,
                          const struct layouts *legal, struct prefills *best)
{
    static const char *const names[3] = { NAME_prefill_chips, NAME_prefill_attention_dp,
                                          NAME_prefill_pipeline_parallel };
    static const char *const rows[] = { NAME_split_prefill, NAME_pool_prefill_capacity,
                                        NAME_pool_prefill_fits };
    double *out[3];
    if (!layout_rows(plan, scenario, legal, names, rows, 3, out))
        return false;
    for (size_t i = 0; i < legal->count; i++) {
        bool beaten = !(out[2][i] > 0);
        for (size_t j = 0; j < legal->count && !beaten; j++) {
            const struct layout *a = &legal->at[j], *b = &legal->at[i];
            bool as_good = out[2][j] > 0 && a->chips <= b->chips && out[0][j] <= out[0][i] &&
                           out[1][j] >= out[1][i] && a->attention_dp >= b->attention_dp;
            bool same = a->chips == b->chips && out[0][j] == out[0][i] &&
                        out[1][j] == out[1][i] && a->attention_dp == b->attention_dp;
            beaten = j != i && as_good && (!same || j < i);
        }
        if (!beaten)
            add_prefill(plan->arena, best, &legal->at[i], out[0][i]);
    }
    return true;
}

/* Sizes of two pools: the GPUs over 1, 2, 3, 4 pairs, or over as many more as a pair can be large;
 * for a demand, which takes as many pairs as it needs, the largest pair alone. */
enum { CELLS = 4 };
static size_t list_cells(const struct plan *plan, double cells[CELLS])
{
    enum { LARGEST = 128, LARGEST_OF_DEMAND = 64 };
    const double pairs = ceil(plan->gpus / LARGEST);
    size_t count = 0;
    if (plan->by_demand)
        return cells[0] = fmin(plan->gpus, LARGEST_OF_DEMAND), 1;
    for (double more = 0; more < CELLS; more++) {
        double cell = floor(plan->gpus / (pairs + more));
        if (cell >= 2 && (!count || cell < cells[count - 1]))
            cells[count++] = cell;
    }
    return count;
}

static void add_pool_sizes(struct settings *settings, const struct layout *decode, double experts,
                           double draft, const struct prefills *prefills)
{
    double cells[CELLS];
    const size_t count = list_cells(settings->plan, cells);
    for (size_t k = 0; k < prefills->count; k++)
        for (size_t c = 0; c < count; c++)
            add_pools(settings, decode, experts, draft, &prefills->at[k], cells[c]);
}

static bool list_settings(struct plan *plan, struct variant *variant, struct settings *settings)
{
    struct layouts legal;
    struct prefills prefills = { 0 };
    if (!list_layouts(plan, &variant->scenario, &legal) ||
        (variant->kind == PLAN_POOLS &&
         !best_prefills(plan, &variant->scenario, &legal, &prefills)))
        return false;
    for (size_t i = 0; i < legal.count; i++) {
        double experts[2];
        size_t ways = expert_ways(&variant->scenario, &legal.at[i], experts);
        for (size_t e = 0; e < ways; e++) {
            if (variant->kind == PLAN_TOGETHER)
                add_together(settings, &legal.at[i], experts[e]);
            else
                for (double draft = 0; draft <= settings->draft_most; draft++)
                    add_pool_sizes(settings, &legal.at[i], experts[e], draft, &prefills);
        }
    }
    return true;
}

/* ---- the list --------------------------------------------------------------------------------- */

enum { ACROSS, ALONG, MOST, TTFT, TPOT, PROMPTS, GPUS, OUTPUTS };

/* What is searched, by kind. */
static void search_texts(const struct plan *plan, enum plan_kind kind, const char **texts)
{
    static const char *const what[PLAN_KINDS][OUTPUTS] = {
        { NAME_speed_per_user, NAME_deployed_per_gpu, NAME_held_most, NAME_predicted_ttft, NAME_predicted_tpot,
          NAME_prompts_share, NAME_gpus_needed },
        { NAME_pool_speed, NAME_pool_per_gpu, NAME_held_most, NAME_pool_ttft, NAME_split_tpot,
          NAME_pool_prompts_share, NAME_pool_gpus_needed } };
    static const char *const cost[PLAN_KINDS] = { NAME_deployed_per_usd, NAME_pool_per_usd };
    static const char *const count[PLAN_KINDS] = { "0 - gpus_needed", "0 - pool_gpus_needed" };
    static const char *const rent[PLAN_KINDS] = { "0 - gpus_needed * chip_price",
                                                  "0 - pool_gpus_needed * chip_price" };
    memcpy(texts, what[kind], sizeof what[kind]);
    if (plan->by_demand)
        texts[ALONG] = plan->by_cost ? rent[kind] : count[kind];
    else if (plan->by_cost)
        texts[ALONG] = cost[kind];
}

static struct interval range_of(const char *input)
{
    if (!strcmp(input, NAME_draft_tokens))
        return (struct interval){ 0, 64 };
    if (!strcmp(input, NAME_split_prefill))
        return (struct interval){ 0, INFINITY };
    if (!strcmp(input, NAME_held))
        return (struct interval){ 1e-3, 1e7 };
    return (struct interval){ 1, 1e7 };
}

/* What varies is known to be 1 or more, which decides many conditions. */
bool plan_list(struct plan *plan, struct variant *variant, const char *const *texts,
                       size_t count, struct list *list)
{
    size_t input_count;
    const struct plan_input *inputs = inputs_of(variant->kind, &input_count);
    struct values values;
    struct list left;
    if (variant->kind == PLAN_POOLS)                /* found before, by best_prefills */
        facts_set(&variant->scenario.facts, NAME_split_prefill, 1, ORIGIN_AXIS, "plan");
    if (!values_of(&variant->scenario, texts, count, &values, plan->error))
        return false;
    bool *vary = arena_array(plan->arena, values.list.input_count + 1, sizeof *vary);
    for (size_t i = 0; i <= input_count; i++) {
        int input = list_input(&values.list, i < input_count ? inputs[i].row : NAME_held);
        if (input >= 0)
            vary[input] = true;
    }
    list_fix(plan->arena, &values.list, values.inputs, vary, &left);
    struct interval *ranges = arena_array(plan->arena, left.input_count + 1, sizeof *ranges);
    for (size_t i = 0; i < left.input_count; i++)
        ranges[i] = range_of(left.inputs[i].name);
    list_within(plan->arena, &left, ranges, list);
    return true;
}

/* Sequences that a rank decodes on average: less than one where it mostly waits, then by quarters,
 * and whole ones where a quarter is little. */
static size_t fill_loads(double *loads, double most)
{
    enum { HALVINGS = 4, QUARTERS_TO = 16 };
    size_t count = 0;
    for (int i = HALVINGS; i > 0; i--)
        loads[count++] = ldexp(1, -i);
    for (double load = 1; load <= most; load += load < QUARTERS_TO ? 0.25 : 1)
        loads[count++] = load;
    return count;
}

static bool set_loads(struct plan *plan, struct variant *variant, struct search_space *space)
{
    enum { LOADS_MOST = 65536, MORE = 128 };
    double most, *loads;
    if (!value_of(&variant->scenario, NAME_sequences_most, &most, plan->error))
        return false;
    most = fmin(floor(most), LOADS_MOST);
    loads = arena_array(plan->arena, (size_t)most + MORE, sizeof *loads);
    space->loads = loads;
    if (given(&variant->scenario, NAME_held, loads))
        space->load_count = 1;
    else
        space->load_count = fill_loads(loads, most);
    return true;
}

/* An answer of one token has no time between tokens. */
static bool set_limits(struct plan *plan, struct variant *variant, struct search_space *space)
{
    double outputs;
    if (!value_of(&variant->scenario, NAME_output_tokens, &outputs, plan->error))
        return false;
    const bool one_token = outputs < 2;
    struct search_limit *limits = arena_array(plan->arena, SEARCH_LIMITS, sizeof *limits);
    static const double wider = 1.25;       /* what a quarter more of either would be worth */
    const bool rises = !command_given(plan->command, "rows");         /* of our own rows it is known */
    limits[0] = (struct search_limit){ "prompts", PROMPTS, 1, rises, 0 };
    limits[1] = (struct search_limit){ "TTFT", TTFT, plan->ttft, rises,
                                      plan->ttft * wider };
    limits[2] = (struct search_limit){ "TPOT", TPOT, one_token ? INFINITY : plan->tpot, rises,
                                      one_token ? 0 : plan->tpot * wider };
    limits[3] = (struct search_limit){ "GPUs", GPUS, plan->gpus, false, 0 };
    space->limits = limits;
    space->limit_count = plan->by_demand ? 4 : 3;
    return true;
}

static void set_inputs(struct plan *plan, const struct variant *variant, struct search_space *space)
{
    const struct plan_input *inputs = inputs_of(variant->kind, &space->inputs);
    size_t *input = arena_array(plan->arena, space->inputs, sizeof *input);
    int *axis = arena_array(plan->arena, space->inputs, sizeof *axis);
    for (size_t i = 0; i < space->inputs; i++) {
        int at = list_input(&space->list, inputs[i].row);
        input[i] = at < 0 ? SEARCH_UNREAD : (size_t)at;
        axis[i] = inputs[i].axis;
    }
    int held = list_input(&space->list, NAME_held);
    space->input = input;
    space->axis = axis;
    space->column = held < 0 ? SEARCH_UNREAD : (size_t)held;
}

/* The most guesses that layouts have. */
static double draft_most(struct plan *plan, const struct variant *variant)
{
    double most;
    return given(&variant->scenario, NAME_draft_tokens, &most)
           ? most : command_number(plan->command, "draft");
}

bool plan_space(struct plan *plan, struct variant *variant, struct search_space *space)
{
    const char *texts[OUTPUTS];
    struct settings settings = { .plan = plan, .scenario = &variant->scenario };
    settings.inputs = inputs_of(variant->kind, &settings.input_count);
    settings.only = arena_array(plan->arena, settings.input_count, sizeof *settings.only);
    for (size_t i = 0; i < settings.input_count; i++)
        if (!given(&variant->scenario, settings.inputs[i].row, &settings.only[i]))
            settings.only[i] = NAN;
    search_texts(plan, variant->kind, texts);
    *space = (struct search_space){ .across = ACROSS, .along = ALONG, .most = MOST };
    settings.draft_most = draft_most(plan, variant);
    if (!list_settings(plan, variant, &settings) ||
        !plan_list(plan, variant, texts, OUTPUTS, &space->list) ||
        !set_loads(plan, variant, space))
        return false;
    space->settings = settings.at;
    space->setting_count = settings.count / settings.input_count;
    set_inputs(plan, variant, space);
    return set_limits(plan, variant, space);
}

double plan_input(const struct plan *plan, const struct search_point *point, const char *row)
{
    const struct search_space *space = &plan->spaces[point->space];
    size_t count;
    const struct plan_input *inputs = inputs_of(plan->variants[point->space].kind, &count);
    if (!strcmp(row, NAME_held))
        return space->loads[point->load];
    for (size_t i = 0; i < count; i++)
        if (!strcmp(inputs[i].row, row))
            return space->settings[point->setting * space->inputs + i];
    return NAN;
}

/* What the user gave keeps its source; an expression is no input, and stays. */
struct scenario plan_scenario(const struct plan *plan, const struct search_point *point)
{
    const struct variant *variant = &plan->variants[point->space];
    struct scenario scenario = variant->scenario;
    struct facts *facts = &scenario.facts;
    size_t count;
    const struct plan_input *inputs = inputs_of(variant->kind, &count);
    facts->scalar_room = facts->scalar_count + count + 1;
    facts->scalars = arena_array(plan->arena, facts->scalar_room, sizeof *facts->scalars);
    memcpy(facts->scalars, variant->scenario.facts.scalars,
           facts->scalar_count * sizeof *facts->scalars);
    for (size_t i = 0; i <= count; i++) {
        const char *row = i < count ? inputs[i].row : NAME_held;
        const struct fact *fact = facts_find(facts, row);
        if (!fact || !fact->expression)
            facts_set(facts, row, plan_input(plan, point, row),
                      fact ? fact->origin : ORIGIN_AXIS, fact ? fact->source : "plan");
    }
    return scenario;
}
