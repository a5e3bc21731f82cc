/* The search space of serving layouts: which layouts of a number of chips are valid, with which
 * loads and limits.
 *
 * All ways of writing the chips as attention ranks x stages x tensor parallelism are listed, and
 * the rows layout_valid and layout_packs, evaluated at all of them at once, remove those that no
 * engine runs; layout_startable, those settings that none starts. Loads are the decoding sequences of a rank, from less than one in steps of a
 * quarter to what fits. `plan` and the choice of a deployment for `step` search the same space.
 * What the user gave excludes other settings. */
#include "deploy/servers.h"
#include "deploy/published.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct setting_input servers_inputs[SERVERS_INPUTS] = {
    [SETTING_CHIPS] = { NAME_chips, 0, 1 }, [SETTING_ATTENTION_DP] = { NAME_attention_dp, 0, 1 },
    [SETTING_PIPELINE_PARALLEL] = { NAME_pipeline_parallel, 0, 1 },
    [SETTING_EXPERT_PARALLEL] = { NAME_expert_parallel, 0, 1 }, [SETTING_DRAFT] = { NAME_draft_tokens, 1, 0 },
    [SETTING_CHUNK] = { NAME_chunked_prefill_size, 2, 1 }, [SETTING_DISTANCE] = { NAME_layout_distance, 0, 0 } };

void servers_open_loop(struct facts *facts, const char *source)
{
    for (size_t i = 0; i < SERVERS_INPUTS; i++)
        if (!fact_given(facts_find(facts, servers_inputs[i].row)))
            facts_set(facts, servers_inputs[i].row, servers_inputs[i].unset, ORIGIN_CHOSEN, source);
    facts_bind(facts, NAME_rank_running_mean, NAME_rank_running_target, ORIGIN_AXIS, source);
    facts_bind(facts, NAME_arrival_rate, NAME_rate_at_target, ORIGIN_AXIS, source);
    facts_set(facts, NAME_open_loop, 1, ORIGIN_CHOSEN, source);
}

double rate_down(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.3e", value);
    double rounded = strtod(text, NULL);
    if (rounded > value) {
        snprintf(text, sizeof text, "%.3e", value - 1e-3 * pow(10, floor(log10(value))));
        rounded = strtod(text, NULL);
    }
    return rounded;
}

bool servers_read(struct servers *servers, struct error *error)
{
    static const char *const texts[] = { NAME_scale_up_chips, NAME_replica_chips_max,
                                         NAME_max_num_seqs, NAME_output_tokens, NAME_load_margin,
                                         NAME_ttft_limit, NAME_tpot_limit };
    struct values values;
    if (!values_of(servers->scenario, texts, sizeof texts / sizeof *texts, &values, error))
        return false;
    servers->domain = values.at[0];
    servers->chips_most = values.at[1];
    servers->max_num_seqs = values.at[2];
    servers->output_tokens = values.at[3];
    servers->margin = values.at[4];
    if (!(servers->ttft > 0))
        servers->ttft = values.at[5];
    if (!(servers->tpot > 0))
        servers->tpot = values.at[6];
    return true;
}

static struct arena *settings_arena(const struct servers *servers)
{
    return servers->settings ? servers->settings : servers->arena;
}

/* ---- layouts --------------------------------------------------------------------------------- */

/* All ways to write a number of chips as ranks, stages and what is left for each. */
static void add_ways(struct arena *arena, double chips, struct layouts *layouts)
{
    for (double dp = 1; dp <= chips; dp++)
        for (double pp = 1; fmod(chips, dp) == 0 && pp <= chips / dp; pp++)
            if (fmod(chips / dp, pp) == 0)
                *(struct layout *)arena_push(arena, &layouts->at, &layouts->count, &layouts->room,
                                             sizeof *layouts->at) = (struct layout){ chips, dp, pp };
}

/* A graph at many points: named inputs get a column each, where it has them. */
static void run_columns(struct arena *arena, const struct values *values, const char *const *names,
                        const double *const *columns, size_t count, double *const *outputs, size_t points)
{
    struct column *inputs = arena_array(arena, values->graph.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < values->graph.input_count; i++)
        inputs[i] = (struct column){ &values->inputs[i], 0 };
    for (size_t i = 0; i < count; i++) {
        int input = graph_input(&values->graph, names[i]);
        if (input >= 0)
            inputs[input] = (struct column){ columns[i], 1 };
    }
    graph_run(&values->graph, inputs, outputs, points);
}

bool layouts_rows(struct scenario *scenario, const struct layouts *layouts,
                  const char *const names[3], const char *const *rows, size_t row_count,
                  double **out, struct error *error)
{
    struct arena *arena = scenario->arena;
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
    if (!values_of(scenario, rows, row_count, &values, error))
        return false;
    run_columns(arena, &values, names, (const double *const *)columns, 3, out, layouts->count);
    return true;
}

bool settings_keep(struct scenario *scenario, const struct setting_input *inputs, size_t input_count,
                   const char *row, double *settings, size_t *count, struct error *error)
{
    struct arena scratch = arena_beside(scenario->arena);
    struct scenario same = *scenario;
    struct values values;
    same.arena = &scratch;
    enum { PART = 4096 };
    const char **names = arena_array(&scratch, input_count, sizeof *names);
    double **columns = arena_array(&scratch, input_count, sizeof *columns);
    double *kept = arena_array(&scratch, PART, sizeof *kept);
    if (!values_of(&same, &row, 1, &values, error))
        return arena_free(&scratch), false;
    for (size_t k = 0; k < input_count; k++) {
        names[k] = inputs[k].row;
        columns[k] = arena_array(&scratch, PART, sizeof(double));
    }
    size_t left = 0;
    for (size_t first = 0; first < *count; first += PART) {
        const size_t size = *count - first < PART ? *count - first : PART;
        const double *part = &settings[first * input_count];
        struct arena once = arena_beside(&scratch);
        for (size_t i = 0; i < size * input_count; i++)
            columns[i % input_count][i / input_count] = part[i];
        run_columns(&once, &values, names, (const double *const *)columns, input_count, &kept, size);
        arena_free(&once);
        for (size_t i = 0; i < size; i++)
            if (kept[i] > 0)
                memmove(&settings[left++ * input_count], &part[i * input_count], input_count * sizeof *settings);
    }
    *count = left;
    arena_free(&scratch);
    return true;
}

bool servers_layouts(const struct servers *servers, struct layouts *layouts, struct error *error)
{
    static const char *const names[3] = { NAME_chips, NAME_attention_dp, NAME_pipeline_parallel };
    static const char *const rows[] = { [LAYOUT_STARTABLE] = NAME_layout_packs, [LAYOUT_EVEN] = NAME_layout_valid };
    struct layouts all = { 0 };
    const struct formulas *formulas = &servers->scenario->formulas;
    const double step = fmax(servers->replica_step, 1);
    double most = fmin(servers->chips_most, servers->chips), *out[1];
    *layouts = (struct layouts){ 0 };
    if (servers->replica_most > 0)
        most = fmin(servers->chips, servers->replica_most);
    most = scenario_links(servers->scenario) ? fmin(most, formulas_row(formulas, (size_t)formulas_find(formulas, NAME_chips))->high) : 1;
    for (double chips = step * ceil(servers->replica_least / step); chips <= most; chips += step)
        add_ways(settings_arena(servers), chips, &all);
    if (servers->rule == LAYOUT_ANY) {
        *layouts = all;
        return true;
    }
    if (!layouts_rows(servers->scenario, &all, names, &rows[servers->rule], 1, out, error))
        return false;
    for (size_t i = 0; i < all.count; i++)
        if (out[0][i] > 0)
            *(struct layout *)arena_push(settings_arena(servers), &layouts->at, &layouts->count,
                                         &layouts->room, sizeof *layouts->at) = all.at[i];
    return true;
}

size_t layout_experts(const struct scenario *scenario, const struct layout *layout, double ways[2])
{
    const struct fact *sparse = facts_find(&scenario->facts, NAME_moe_layers);
    const double stage = layout->chips / layout->pipeline_parallel;
    if (!sparse || !(sparse->value > 0) || stage == 1)
        return ways[0] = 1, 1;
    return ways[0] = stage, ways[1] = 1, 2;
}

/* ---- settings --------------------------------------------------------------------------------- */

struct server_settings {
    const struct servers *servers;
    double *at;
    size_t count, room;             /* of numbers */
    double only[SERVERS_INPUTS];    /* the user's number, or NAN */
};

/* Add a setting, unless a number that the user gave excludes it. */
static void add_setting(struct server_settings *settings, const double values[SERVERS_INPUTS])
{
    const double tensor = settings->servers->tensor;
    for (size_t i = 0; i < SETTING_DISTANCE; i++)
        if (!isnan(settings->only[i]) && settings->only[i] != values[i])
            return;
    if (tensor > 0 && values[0] / values[1] / values[2] != tensor)
        return;                     /* chips, attention_dp, pipeline_parallel */
    if (settings->servers->by_layers && values[1] > 1)
        return;
    for (size_t i = 0; i < SERVERS_INPUTS; i++)
        *(double *)arena_push(settings_arena(settings->servers), &settings->at, &settings->count,
                              &settings->room, sizeof(double)) = values[i];
}

static void add_layout(struct server_settings *settings, const struct layout *layout, double experts)
{
    static const double usual[] = { 512, 1024, 2048, 4096, 8192, 16384 };
    const double *only = settings->only, *chunks = usual;
    size_t count = sizeof usual / sizeof *usual;
    double draft = 0, most = settings->servers->draft_most, chunk = isnan(only[SETTING_CHUNK]) ? 0 : only[SETTING_CHUNK];
    if (chunk > 0)
        chunks = &chunk, count = 1;
    for (; draft <= most; draft++)
        for (size_t i = 0; i < count; i++)
            add_setting(settings, (double[SERVERS_INPUTS]){
                layout->chips, layout->attention_dp, layout->pipeline_parallel, experts, draft, chunks[i] });
}

/* In place, since settings may be most of the memory: each is put where it belongs, and what stood there next. */
void settings_sort(struct arena *arena, double *settings, size_t count, size_t inputs, size_t distance)
{
    struct arena scratch = arena_beside(arena);
    const size_t size = inputs * sizeof *settings;
    uint32_t *to = arena_array(&scratch, count + 1, sizeof *to), done = 0;
    double *held = arena_array(&scratch, 2 * inputs, sizeof *held), *next = held + inputs;
    for (int at = 0; at <= PUBLISHED_NEVER; at++)
        for (size_t i = 0; i < count; i++) {
            const double here = settings[i * inputs + distance];
            if ((!at || here > at - 1) && (at == PUBLISHED_NEVER || here <= at))
                to[i] = done++;
        }
    for (size_t i = 0; i < count; i++) {
        memcpy(held, &settings[i * inputs], size);
        for (uint32_t at = (uint32_t)i, place; to[at] != at; at = place) {
            place = to[at];
            memcpy(next, &settings[place * inputs], size);
            memcpy(&settings[place * inputs], held, size);
            memcpy(held, next, size);
            to[at] = at;
        }
    }
    arena_free(&scratch);
}

/* Set the distances of settings, and let those nearest to published servers come first. */
static void place_settings(const struct servers *servers, double *at, size_t count)
{
    const struct published *published = published_open(servers->scenario);
    double given;
    const bool known = given_number(servers->given ? servers->given : servers->scenario, NAME_layout_distance, &given);
    for (size_t i = 0; i < count; i++) {
        double *one = &at[i * SERVERS_INPUTS];
        const struct published_layout layout = { one[SETTING_CHIPS], one[SETTING_ATTENTION_DP],
                                                 one[SETTING_PIPELINE_PARALLEL], one[SETTING_EXPERT_PARALLEL] };
        one[SETTING_DISTANCE] = known ? given : published_distance(published, PUBLISHED_TOGETHER, &layout);
    }
    settings_sort(servers->arena, at, count, SERVERS_INPUTS, SETTING_DISTANCE);
}

bool servers_settings(const struct servers *servers, const double **at, size_t *count, struct error *error)
{
    const struct scenario *given = servers->given ? servers->given : servers->scenario;
    struct server_settings settings = { .servers = servers };
    struct layouts layouts;
    if (!servers_layouts(servers, &layouts, error))
        return false;
    for (size_t i = 0; i < SERVERS_INPUTS; i++)
        if (!given_number(given, servers_inputs[i].row, &settings.only[i]))
            settings.only[i] = NAN;
    for (size_t i = 0; i < layouts.count; i++) {
        double experts[2];
        size_t ways = layout_experts(servers->scenario, &layouts.at[i], experts);
        if (!isnan(settings.only[SETTING_EXPERT_PARALLEL]))     /* any that divides the experts, if it is given */
            experts[0] = settings.only[SETTING_EXPERT_PARALLEL], ways = 1;
        for (size_t e = 0; e < ways; e++)
            add_layout(&settings, &layouts.at[i], experts[e]);
    }
    *at = settings.at;
    *count = settings.count / SERVERS_INPUTS;
    if (servers->rule == LAYOUT_STARTABLE &&
        !settings_keep(servers->scenario, servers_inputs, SERVERS_INPUTS, NAME_layout_startable, settings.at, count,
                       error))
        return false;
    place_settings(servers, settings.at, *count);
    return true;
}

/* ---- the graph -------------------------------------------------------------------------------- */

static struct interval range_of(const char *input)
{
    if (!strcmp(input, NAME_draft_tokens))
        return (struct interval){ 0, 64 };
    if (!strcmp(input, NAME_layout_distance))
        return (struct interval){ 0, PUBLISHED_NEVER };
    if (!strcmp(input, NAME_disagg_prefill_time))
        return (struct interval){ 0, INFINITY };
    if (!strcmp(input, NAME_rank_running_target))
        return (struct interval){ 1e-3, 1e7 };
    return (struct interval){ 1, 1e7 };
}

/* The inputs that vary are known to be at least 1, which decides many conditions in the graph. */
bool servers_list(struct arena *arena, struct scenario *scenario,
                  const struct setting_input *inputs, size_t input_count,
                  const char *const *texts, size_t count, struct graph *graph, struct error *error)
{
    struct arena scratch = arena_beside(arena);
    struct scenario same = *scenario;
    struct values values;
    struct graph left;
    same.arena = &scratch;
    if (!values_of(&same, texts, count, &values, error))
        return arena_free(&scratch), false;
    bool *vary = arena_array(&scratch, values.graph.input_count + 1, sizeof *vary);
    for (size_t i = 0; i <= input_count; i++) {
        int input = graph_input(&values.graph, i < input_count ? inputs[i].row : NAME_rank_running_target);
        if (input >= 0)
            vary[input] = true;
    }
    graph_specialize_nodes(&scratch, &values.graph, values.nodes, vary, &left);
    struct interval *ranges = arena_array(&scratch, left.input_count + 1, sizeof *ranges);
    for (size_t i = 0; i < left.input_count; i++)
        ranges[i] = range_of(left.inputs[i].name);
    graph_simplify(arena, &left, ranges, graph);
    arena_free(&scratch);
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

void servers_loads(const struct servers *servers, struct search_space *space)
{
    enum { LOADS_MOST = 65536, MORE = 128 };
    double most = fmin(floor(servers->max_num_seqs), LOADS_MOST), *loads;
    loads = arena_array(servers->arena, (size_t)most + MORE, sizeof *loads);
    space->loads = loads;
    if (given_number(servers->scenario, NAME_rank_running_target, loads))
        space->load_count = 1;
    else
        space->load_count = fill_loads(loads, most);
}

/* With a single output token there is no time between tokens, and no limit of TPOT. */
void servers_limits(const struct servers *servers, struct search_space *space)
{
    const bool one_token = servers->output_tokens < 2, rises = !servers->own_rows;
    const double wider = 1.25;      /* what a quarter more of either would be worth */
    struct search_limit *limits = arena_array(servers->arena, SEARCH_LIMITS, sizeof *limits);
    limits[0] = (struct search_limit){ "prompts", SERVERS_PROMPTS, 1, rises, 0 };
    limits[1] = (struct search_limit){ "stability", SERVERS_LOAD, servers->margin, rises, 0 };
    limits[2] = (struct search_limit){ "TTFT", SERVERS_TTFT, servers->ttft, rises, servers->ttft * wider };
    limits[3] = (struct search_limit){ "TPOT", SERVERS_TPOT, one_token ? INFINITY : servers->tpot,
                                       rises, one_token ? 0 : servers->tpot * wider };
    limits[4] = (struct search_limit){ NAME_concurrency, SERVERS_FLIGHT, 1, rises, 0 };
    limits[5] = (struct search_limit){ "GPUs", SERVERS_CHIPS, servers->chips, false, 0 };
    space->limits = limits;
    space->limit_count = servers->by_demand ? 6 : 5;
}

void servers_columns(struct arena *arena, const struct setting_input *inputs, size_t count,
                     struct search_space *space)
{
    size_t *input = arena_array(arena, count, sizeof *input);
    int *axis = arena_array(arena, count, sizeof *axis);
    for (size_t i = 0; i < count; i++) {
        int at = graph_input(&space->graph, inputs[i].row);
        input[i] = at < 0 ? SEARCH_UNREAD : (size_t)at;
        axis[i] = inputs[i].axis;
    }
    int held = graph_input(&space->graph, NAME_rank_running_target);
    space->inputs = count;
    space->input = input;
    space->axis = axis;
    space->column = held < 0 ? SEARCH_UNREAD : (size_t)held;
}

bool servers_space(const struct servers *servers, struct search_space *space, struct error *error)
{
    const char *texts[SERVERS_ALL] = {
        NAME_speed_per_user, NAME_deployment_throughput_per_chip " * " NAME_layout_trust, NAME_rank_running_max, NAME_predicted_ttft,
        NAME_tpot_kept, NAME_prefill_overload, NAME_slots_load, servers->in_flight ? NAME_concurrency_used : "0", NAME_gpus_needed,
        NAME_rate_at_target, NAME_replicas_needed };
    if (servers->by_demand)
        texts[SERVERS_WORTH] = servers->by_cost ? NAME_fewest_rent " / " NAME_layout_trust
                                                : NAME_fewest_gpus " / " NAME_layout_trust;
    else if (servers->by_cost)
        texts[SERVERS_WORTH] = NAME_deployed_per_usd " * " NAME_layout_trust;
    *space = (struct search_space){ .speed = SERVERS_SPEED, .throughput = SERVERS_WORTH,
                                    .most = SERVERS_ROOM };
    if (!servers_settings(servers, &space->settings, &space->setting_count, error) ||
        !servers_list(servers->arena, servers->scenario, servers_inputs, SERVERS_INPUTS, texts,
                      servers->tell_rate ? SERVERS_ALL : SERVERS_OUTPUTS, &space->graph, error))
        return false;
    servers_loads(servers, space);
    servers_columns(servers->arena, servers_inputs, SERVERS_INPUTS, space);
    servers_limits(servers, space);
    return true;
}
