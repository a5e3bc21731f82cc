/* design: which FLOP/s and how many stacks of memory a chip should have for given traffic, under limits
 * of power, rent, area and time per token.
 *
 * Every count of stacks is tried, and the rest follows. At given FLOP/s a larger batch takes a longer step, makes no
 * fewer tokens per second and none dearer: weights are read once for more tokens. So the largest batch within the
 * limits, at the most FLOP/s that the limits leave besides the stacks, is best. Where memory binds it, FLOP/s
 * above balanced_flops only cost; where compute does, no further stack helps, and the smallest batch that computes all
 * the time is as good. Costs and times are the rows that `step` shows, with the chip's rows bound to those of
 * formulas/lecture/design.chalk. design.template is the text.
 *
 * A site of some power has as many whole domains as it powers. At given stacks a chip's tokens per watt too are most at the FLOP/s
 * that were found: fewer that compute all the time share the power of the stacks among fewer tokens, more than balanced_flops wait. */
#include "ask/ask.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "scenario/deck.h"

#include <math.h>
#include <string.h>

static const double flops_most = 1e20, stacks_most = 1000, batch_most = 1e9;   /* ends of the rows' ranges */
static const double rounding = 1e-12;       /* relative: rates this close are equal */

/* What the graph gives for each point, in this order. */
static const char *const figures[] = {
    NAME_bound_cost_per_token, NAME_bound_step, NAME_designed_power, NAME_designed_rent, NAME_designed_area,
    NAME_chip_stacks, NAME_hbm_share, NAME_bound_compute, NAME_bound_memory, NAME_bound_throughput_per_chip,
    NAME_balanced_flops, NAME_site_throughput };
enum { COST, STEP, POWER, RENT, AREA, STACKS, SHARE, COMPUTE, MEMORY, RATE, BALANCE, SITE, FIGURES };
enum aim { AIM_THROUGHPUT, AIM_COST, AIM_SITE };

struct limits {
    double power, rent, area, step, stacks;         /* INFINITY: none */
};

struct design_point {
    double flops, stacks, batch, at[FIGURES];
};

struct design {
    struct arena *arena;
    struct scenario *scenario;
    struct values values;                   /* figures, over the three inputs of a point */
    struct limits limits;
    double chips;                           /* of the domain */
    enum aim aim;                           /* what the best has most of, or least */
    size_t points;                          /* evaluated */
    struct error *error;
};

/* ---- the graph ------------------------------------------------------------------------------------- */

static bool bind_chip(struct design *design)
{
    static const char *const bound[][2] = {
        { NAME_peak_flops, NAME_designed_peak }, { NAME_hbm_bandwidth, NAME_designed_bandwidth },
        { NAME_hbm_capacity, NAME_designed_capacity }, { NAME_chip_price, NAME_designed_rent },
        { NAME_chip_power, NAME_designed_power }, { NAME_peak_bf16, NAME_chip_flops },
        { NAME_peak_fp8, NAME_designed_peak_fp8 }, { NAME_peak_int8, NAME_designed_peak_fp8 },
        { NAME_peak_fp4, NAME_designed_peak_fp4 } };
    struct facts *facts = &design->scenario->facts;
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++)
        if (!(design->scenario->model && !strcmp(bound[i][0], NAME_peak_flops)))
            facts_bind(facts, bound[i][0], bound[i][1], ORIGIN_AXIS, "design");
    if (!design->scenario->model)
        facts_bind(facts, NAME_mixer_layers, NAME_layers, ORIGIN_AXIS, "design");
    facts_set(facts, NAME_chip_flops, 1e15, ORIGIN_AXIS, "design");
    facts_set(facts, NAME_chip_stacks, 8, ORIGIN_AXIS, "design");
    facts_set(facts, NAME_chips, design->chips, ORIGIN_AXIS, "design");
    facts_set(facts, NAME_batch, 64, ORIGIN_AXIS, "design");
    return values_known(design->scenario, figures, FIGURES, &design->values, design->error);
}

static void set_input(const struct graph *graph, double *inputs, const char *name, double value)
{
    const int at = graph_input(graph, name);
    if (at >= 0)
        inputs[at] = value;
}

static void run_point(struct design *design, struct design_point *point)
{
    const struct graph *graph = &design->values.graph;
    struct arena scratch = arena_beside(design->arena);
    double *inputs = arena_array(&scratch, graph->input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < graph->input_count; i++)
        inputs[i] = graph->inputs[i].value;
    set_input(graph, inputs, NAME_chip_flops, point->flops);
    set_input(graph, inputs, NAME_chip_stacks, point->stacks);
    set_input(graph, inputs, NAME_batch, point->batch);
    graph_value(&scratch, graph, inputs, NULL, point->at);
    arena_free(&scratch);
    design->points++;
}

/* ---- the search -------------------------------------------------------------------------------------- */

static bool within(const struct limits *limits, const struct design_point *point)
{
    const double slack = 1 + 1e-9;
    return point->at[POWER] <= limits->power * slack && point->at[RENT] <= limits->rent * slack &&
           point->at[AREA] <= limits->area * slack && point->at[STEP] <= limits->step * slack &&
           point->at[SHARE] <= 1 && isfinite(point->at[COST]);
}

/* Whole domains need not fit in a site that is small. */
static bool powered(const struct design *design, const struct design_point *point)
{
    return design->aim != AIM_SITE || point->at[SITE] > 0;
}

/* The most FLOP/s that the limits allow besides the stacks: what each limit bounds is linear in FLOP/s. */
static double most_flops(struct design *design, double stacks)
{
    struct design_point none = { .stacks = stacks, .batch = 1 }, one = { .flops = 1e15, .stacks = stacks, .batch = 1 };
    const double limit[] = { design->limits.power, design->limits.rent, design->limits.area };
    double most = flops_most;
    run_point(design, &none);
    run_point(design, &one);
    for (int i = 0; i < 3; i++)
        if (isfinite(limit[i]))
            most = fmin(most, (limit[i] - none.at[POWER + i]) / ((one.at[POWER + i] - none.at[POWER + i]) / one.flops));
    return most;
}

static bool better(const struct design *design, const struct design_point *a, const struct design_point *b)
{
    const int most = design->aim == AIM_SITE ? SITE : RATE;
    if (design->aim != AIM_COST && fabs(a->at[most] - b->at[most]) > rounding * b->at[most])
        return a->at[most] > b->at[most];
    return a->at[COST] < b->at[COST];
}

/* The largest batch within the limits that makes fewer tokens per second than `rate`; 0: none. */
static double largest_batch(struct design *design, struct design_point point, double rate)
{
    double low = 0, high = batch_most + 1;
    while (high - low > 1) {
        point.batch = floor((low + high) / 2);
        run_point(design, &point);
        *(within(&design->limits, &point) && point.at[RATE] < rate ? &low : &high) = point.batch;
    }
    return low;
}

/* The best chip with these stacks, given the most FLOP/s that it may have; false: none is within the limits. */
static bool best_of_stacks(struct design *design, struct design_point *point)
{
    point->batch = largest_batch(design, *point, INFINITY);
    if (point->batch < 1)
        return false;
    run_point(design, point);
    if (point->at[BALANCE] < point->flops)
        point->flops = point->at[BALANCE];
    else
        point->batch = largest_batch(design, *point, point->at[RATE] * (1 - rounding)) + 1;
    run_point(design, point);
    return true;
}

static bool search(struct design *design, struct design_point *best)
{
    bool found = false;
    for (double stacks = 1; stacks <= fmin(design->limits.stacks, stacks_most); stacks++) {
        const double most = most_flops(design, stacks);
        struct design_point point = { .flops = most, .stacks = stacks };
        if (!(most > 0))
            break;
        if (!best_of_stacks(design, &point))
            continue;
        if (powered(design, &point) && (!found || better(design, &point, best))) {
            *best = point;
            found = true;
        }
        if (point.flops >= most)                    /* compute binds */
            break;
    }
    return found;
}

/* ---- the answer ---------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *option;
    int figure;
} limited[] = { { "power", "power", POWER }, { "rent", "rent", RENT }, { "area", "area", AREA },
                { "time per token", "tpot", STEP }, { "stacks", "stacks", STACKS } };
enum { LIMITED = sizeof limited / sizeof *limited, TRADED = LIMITED - 1 };      /* a tenth more of stacks is none */

static double *limit_at(struct limits *limits, size_t at)
{
    double *const all[] = { &limits->power, &limits->rent, &limits->area, &limits->step, &limits->stacks };
    return all[at];
}

/* What a tenth more of a limit, of a stack or of the domain changes. */
static void add_trades(struct design *design, const struct design_point *best, struct section *section)
{
    static const struct {
        const char *name, *row;
    } parts[] = { { "bandwidth of a stack", NAME_stack_bandwidth }, { "capacity of a stack", NAME_stack_capacity },
                  { "energy per FLOP", NAME_flop_energy }, { "rent per stack", NAME_stack_rent } };
    enum { PARTS = sizeof parts / sizeof *parts };
    struct section *list = section_add(section, "trades", SECTION_LIST);
    for (size_t i = 0; i < TRADED + PARTS; i++) {
        struct design other = *design;
        struct scenario scenario = *design->scenario;
        struct design_point moved;
        double value;
        other.scenario = &scenario;
        scenario.facts = facts_copy(&design->scenario->facts);
        if (i < TRADED) {
            double *limit = limit_at(&other.limits, i);
            if (!isfinite(*limit))
                continue;
            *limit *= 1.1;
        } else {
            if (!value_of(&scenario, parts[i - TRADED].row, &value, design->error))
                continue;
            facts_set(&scenario.facts, parts[i - TRADED].row, 1.1 * value, ORIGIN_AXIS, "design");
            if (!bind_chip(&other))
                continue;
        }
        if (!search(&other, &moved))
            continue;
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_word(one, "more_of", i < TRADED ? limited[i].name : parts[i - TRADED].name);
        section_number(one, "cost_change", moved.at[COST] / best->at[COST] - 1, unit_one);
        section_number(one, "throughput_change", moved.at[RATE] / best->at[RATE] - 1, unit_one);
        section_number(one, "flops_change", moved.flops / best->flops - 1, unit_one);
        section_number(one, NAME_chip_stacks, moved.stacks, unit_one);
        section_number(one, NAME_bound_step, moved.at[STEP], unit_second);
    }
}

static const char *binding_text(struct design *design, const struct design_point *best)
{
    struct buffer out = { .arena = design->arena };
    for (size_t i = 0; i < LIMITED; i++)
        if (best->at[limited[i].figure] > 0.99 * *limit_at(&design->limits, i))
            buffer_print(&out, "%s%s", out.size ? ", " : "", limited[i].name);
    const bool memory = best->at[MEMORY] > best->at[COMPUTE];
    buffer_print(&out, "%severy step is bound by %s", out.size ? "; " : "",
                 fabs(best->at[MEMORY] / best->at[COMPUTE] - 1) < 0.02 ? "compute and memory alike"
                 : memory ? "memory" : "compute");
    return out.data;
}

/* The figures of the best chip, in the order of the keys. */
static const char *const best_rows[] = {
    NAME_chip_flops, NAME_designed_bandwidth, NAME_designed_capacity, NAME_chip_stacks, NAME_designed_power,
    NAME_designed_rent, NAME_designed_area, NAME_chips, NAME_batch, NAME_bound_step, NAME_drain_time,
    NAME_bound_throughput, NAME_bound_cost_per_token, NAME_bound_mfu, NAME_designed_link, NAME_designed_link_reduce,
    NAME_designed_link_experts, NAME_hbm_share, NAME_context };
enum { BEST_ROWS = sizeof best_rows / sizeof *best_rows };
static const char *const site_rows[] = { NAME_site_power, NAME_site_chip_power, NAME_site_domains, NAME_site_throughput };
enum { SITE_ROWS = sizeof site_rows / sizeof *site_rows };

static bool add_best(struct design *design, const struct design_point *best, struct section *section)
{
    struct facts *facts = &design->scenario->facts;
    struct values values;
    facts_set(facts, NAME_chip_flops, best->flops, ORIGIN_CHOSEN, "design");
    facts_set(facts, NAME_chip_stacks, best->stacks, ORIGIN_CHOSEN, "design");
    facts_set(facts, NAME_batch, best->batch, ORIGIN_CHOSEN, "design");
    if (!values_known(design->scenario, best_rows, BEST_ROWS, &values, design->error))
        return false;
    figures_of(design->scenario, &values, best_rows, BEST_ROWS, NULL, section);
    if (fact_given(facts_find(facts, NAME_site_power))) {
        if (!values_known(design->scenario, site_rows, SITE_ROWS, &values, design->error))
            return false;
        figures_of(design->scenario, &values, site_rows, SITE_ROWS, NULL, section);
    }
    section_word(section, "binding", binding_text(design, best));
    return true;
}

static void read_limits(const struct command *command, struct limits *limits)
{
    *limits = (struct limits){ INFINITY, INFINITY, INFINITY, INFINITY, INFINITY };
    for (size_t i = 0; i < LIMITED; i++)
        command_take(command, limited[i].option, limit_at(limits, i));
}

static bool open_traffic(struct design *design, const struct command *command)
{
    struct subject subject = command_subject(command);
    static const char *const formats[] = { "precision", "experts-precision", "kv-precision" };
    struct scenario *scenario = design->scenario;
    for (size_t i = 0; i < sizeof formats / sizeof *formats && !subject.model; i++)
        if (command_given(command, formats[i])) {
            error_set(design->error, "--%s without a model", formats[i]);
            return error_expected(design->error, "--model MODEL, whose formats these are");
        }
    if (!subject.model)
        return scenario_read(scenario, design->arena, command, subject, design->error) &&
               (command_given(command, "deck") || deck_complete(scenario, "design", design->error));
    if (!scenario_open(scenario, design->arena, command, subject, design->error))
        return false;
    scenario->facts.note_count = 0;             /* they are about a machine of the catalog */
    return true;
}

static bool any_limit(const struct design *design, struct error *error)
{
    const struct limits *limits = &design->limits;
    if (isfinite(limits->power) || isfinite(limits->rent) || isfinite(limits->area))
        return true;
    error_set(error, "design needs a limit on the chip");
    return error_expected(error, "--power, --rent or --area, as in `%s`", "chalkline design --power 1000W");
}

static bool site_given(const struct design *design, struct error *error)
{
    if (design->aim != AIM_SITE || fact_given(facts_find(&design->scenario->facts, NAME_site_power)))
        return true;
    error_set(error, "--for site without --site-power");
    return error_expected(error, "the power of the site, as in --site-power 10MW");
}

bool ask_design(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    struct scenario scenario;
    double overlap;
    struct design design = { .arena = arena, .scenario = &scenario, .error = error,
                             .chips = command_number(command, "domain"),
                             .aim = (enum aim)command_choice(command, "for") };
    struct design_point best;
    struct section *section = section_new(arena);
    read_limits(command, &design.limits);
    if (!any_limit(&design, error) || !open_traffic(&design, command) || !site_given(&design, error) || !bind_chip(&design) ||
        !value_of(&scenario, NAME_bound_overlap, &overlap, error))
        return false;
    if (overlap >= 1) {
        error_set(error, "design finds a chip whose compute overlaps with all reads of memory, not with bound_overlap = %g", overlap);
        return error_expected(error, "%s", "bound_overlap = 0, the default");
    }
    const bool found = search(&design, &best);
    section_word(section, "traffic", scenario.model ? scenario.model : "the lecture's model");
    section_number(section, "points", (double)design.points, unit_one);
    if (found) {
        add_trades(&design, &best, section);
        if (!add_best(&design, &best, section))
            return false;
    }
    answer->status = !found;
    figures_notes(&scenario, section);
    section_document(section, answer->doc);
    template_print(template_built_in(arena, "ask/design/design.template"), section, &answer->text);
    return true;
}

static const struct record trade_record = { "DesignTrade", (const struct answer_field[]){
    { FIELD_TEXT, "more_of", .help = "the limit or input that is raised by a tenth", .always = true },
    { FIELD_NUMBER, .names = (const char *const[]){ "cost_change", "throughput_change", "flops_change" },
      .count = 3, .help = "change of the cost of a token, of the tokens per chip and of its FLOP/s, as a share",
      .always = true },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_chip_stacks, NAME_bound_step }, .count = 2, .always = true },
    { 0 } } };

static const struct record answer_design = { "Design", (const struct answer_field[]){
    { FIELD_TEXT, "traffic", .help = "the model that is served", .always = true },
    { FIELD_NUMBER, "points", .help = "designs evaluated", .always = true },
    { FIELD_ROWS, .names = best_rows, .count = BEST_ROWS }, { FIELD_ROWS, .names = site_rows, .count = SITE_ROWS },
    { FIELD_TEXT, "binding", .help = "the limits that bind, and what takes longest in a step" },
    { FIELD_LIST, "trades", .help = "what a tenth more of each limit would change", .record = &trade_record },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer", .always = true },
    { 0 } } };

static const char *const aims[] = { "throughput", "cost", "site", NULL };

static const struct option design_list[] = {
    { "for", "AIM", OPTION_CHOICE, .choices = aims, .fallback = "throughput",
      .help = "most tokens per chip, cheapest token, most of the site" },
    { "power", "W", OPTION_QUANTITY, .unit = "J/s", .bare = "W", .plausible = "1W..100kW", .otherwise = "none",
      .help = "limit on the power of a chip" },
    { "rent", "USD/h", OPTION_QUANTITY, .unit = "USD/s", PRICE_MEANT, .otherwise = "none",
      .help = "limit on the rent of a chip" },
    { "area", "MM2", OPTION_QUANTITY, .unit = "1", .low = 1, .high = 1e9, .otherwise = "none",
      .help = "limit on the area of the dies that multiply" },
    { "tpot", "TIME", OPTION_QUANTITY, .unit = "s", TPOT_MEANT, .otherwise = "none",
      .help = "limit of the time per output token" },
    { "stacks", "N", OPTION_COUNT, .low = 1, .high = 1000, .otherwise = "none",
      .help = "limit on the stacks of memory on a chip" },
    { "site-power", "W", OPTION_ROW, .row = NAME_site_power, .bare = "W", .plausible = "1kW..10GW", .otherwise = "none",
      .help = "power of the site, host, network and cooling included" },
    { "domain", "N", OPTION_COUNT, .low = 1, .high = 1e6, .fallback = "72", .help = "chips in a scale-up domain" },
    { 0 } };
static const struct option_group design_options = { "Limits", design_list };

static const char own_chip[] = "design finds a chip, so it takes no machine: `chalkline design --model llama-3.1-8b --power 700W`";
static const struct instead instead[] = {
    { "on", own_chip }, { "gpus", "--domain is the number of chips in a scale-up domain" }, { 0 } };

const struct verb verb_design = {
    "design", "", "Find the best chip for given traffic under limits of power, rent, area and time.",
    { "chalkline design --power 1000W --rent 2.9USD/h --area 1600",
      "chalkline design --power 700W --model deepseek-v3 --tpot 20ms --site-power 10MW",
      "chalkline design --power 200W --domain 256 --set stack_bandwidth=0.41TB/s --set stack_capacity=8GB" },
    { &design_options, &model_options, &weight_options, &cache_options, &assume_options, &row_options,
      &deck_options, &output_options }, ANSWERS(answer_design), .ask = ask_design, .instead = instead };
