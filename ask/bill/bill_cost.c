/* Costs of a task: the rows of a turn (formulas/prices/bill.chalk) at every request of the task,
 * for many price points at once.
 *
 * Each point is a price, a caching rule and the shares of gaps; its columns are run through one
 * graph, and the requests of a task are added up with their multiplicity, since turns between two
 * compactions repeat. The cost of a scheme that the seller has no price for is NAN: it is not
 * offered. A fact that neither the rule nor the price list states is the row's default, and is
 * reported as assumed. */
#include "ask/bill/bill.h"
#include "scenario/basis.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

const struct scheme_row schemes[SCHEMES] = {
#define SCHEME(key, word, waits, name) { #word, NAME_turn_cost_##word, name, waits },
    BILL_SCHEMES(SCHEME)
#undef SCHEME
};

const char *const scheme_words[SCHEMES] = {
#define SCHEME(key, word, waits, name) #word,
    BILL_SCHEMES(SCHEME)
#undef SCHEME
};

/* Name of the i-th input that a point sets: prices, cache granularity and lifetimes, shares of gaps. */
static const struct {
    const char *row;
    enum service_tier tier;
    int above;
    enum price_class class;
} priced[] = {
    { NAME_listed_input, SERVICE_STANDARD, 0, PRICE_INPUT },
    { NAME_listed_output, SERVICE_STANDARD, 0, PRICE_OUTPUT },
    { NAME_listed_hit, SERVICE_STANDARD, 0, PRICE_HIT },
    { NAME_listed_write_short, SERVICE_STANDARD, 0, PRICE_WRITE_SHORT },
    { NAME_listed_write_long, SERVICE_STANDARD, 0, PRICE_WRITE_LONG },
    { NAME_listed_input_above, SERVICE_STANDARD, 1, PRICE_INPUT },
    { NAME_listed_output_above, SERVICE_STANDARD, 1, PRICE_OUTPUT },
    { NAME_listed_hit_above, SERVICE_STANDARD, 1, PRICE_HIT },
    { NAME_listed_write_short_above, SERVICE_STANDARD, 1, PRICE_WRITE_SHORT },
    { NAME_listed_write_long_above, SERVICE_STANDARD, 1, PRICE_WRITE_LONG },
    { NAME_batch_input, SERVICE_BATCH, 0, PRICE_INPUT },
    { NAME_batch_output, SERVICE_BATCH, 0, PRICE_OUTPUT },
    { NAME_flex_input, SERVICE_FLEX, 0, PRICE_INPUT },
    { NAME_flex_output, SERVICE_FLEX, 0, PRICE_OUTPUT },
    { NAME_flex_hit, SERVICE_FLEX, 0, PRICE_HIT },
};
enum { PRICED = sizeof priced / sizeof *priced };

/* Rows that depend on the gaps and on a cache lifetime: the share of gaps within it, and the mean time
 * that a cache entry is kept. */
static const struct {
    const char *reuse, *kept, *life;
} counted[] = {
    { NAME_short_reuse, NAME_short_kept, NAME_time_to_live_short },
    { NAME_long_reuse, NAME_long_kept, NAME_time_to_live_long },
    { NAME_automatic_reuse, NAME_automatic_kept, NAME_automatic_life },
    { NAME_stored_reuse, NAME_stored_kept, NAME_stored_life },
};
enum {
    COUNTED = sizeof counted / sizeof *counted,
    STORAGE = PRICED, THRESHOLD, RULE, COUNT = RULE + RULES_FACTS, CHARGES = COUNT + 2 * COUNTED
};
enum { PROMPT = SCHEMES, REPLY, READ, OUTPUTS };
_Static_assert((int)CHARGES <= (int)BILL_CHARGES, "room for what a point gives");

static const char *charge_row(int i)
{
    if (i < PRICED)
        return priced[i].row;
    if (i < RULE)
        return i == STORAGE ? NAME_listed_storage : NAME_listed_threshold;
    if (i < COUNT)
        return rule_facts[i - RULE];
    return (i - COUNT) % 2 ? counted[(i - COUNT) / 2].kept : counted[(i - COUNT) / 2].reuse;
}

static bool is_given(const struct bill *bill, const char *row)
{
    const struct fact *fact = facts_find(&bill->scenario.facts, row);
    return fact_given(fact);
}

bool bill_open_rows(struct bill *bill)
{
    struct scenario varied = bill->scenario, *scenario = &varied;
    const char *texts[OUTPUTS] = { [PROMPT] = NAME_turn_prompt, [REPLY] = NAME_turn_reply,
                                   [READ] = NAME_automatic_read };
    struct values values;
    for (int i = 0; i < SCHEMES; i++)
        texts[i] = schemes[i].row;
    varied.facts = facts_copy(&varied.facts);
    facts_set(&varied.facts, NAME_turn_summary, 0, ORIGIN_AXIS, "bill");
    if (!values_of(scenario, texts, OUTPUTS, &values, bill->error))
        return false;
    bill->graph = values.graph;
    for (int i = 0; i < CHARGES; i++)
        bill->charge_input[i] = is_given(bill, charge_row(i))
                                ? -1 : graph_input(&bill->graph, charge_row(i));
    bill->number_input = graph_input(&bill->graph, NAME_turn_number);
    bill->summary_input = graph_input(&bill->graph, NAME_turn_summary);
    /* What is the same for all points is read once. */
    for (int i = 0; i < RULES_FACTS; i++) {
        bill->rule_default[i] = bill_number(bill, rule_facts[i]);
        bill->rule_given[i] = is_given(bill, rule_facts[i]);
    }
    bill->turns = bill_number(bill, NAME_task_turns);
    bill->compaction_turns = bill_number(bill, NAME_compaction_turns);
    return bill->graph.input_count <= BILL_INPUTS ||
           error_set(bill->error, "the rows of a turn read %zu inputs", bill->graph.input_count);
}

double bill_number(const struct bill *bill, const char *row)
{
    struct scenario scenario = bill->scenario;
    struct error ignored;
    double value = 0;
    value_of(&scenario, row, &value, &ignored);
    return value;
}

/* ---- a point ------------------------------------------------------------------------------ */

static double or_zero(double x)
{
    return isnan(x) ? 0 : x;
}

/* A fact comes from the rule, unless --set gives it or the rule does not state it. */
static double fact_of(const struct bill *bill, const struct caching_rule *rule, int i)
{
    return isnan(rule->at[i]) || bill->rule_given[i] ? bill->rule_default[i] : rule->at[i];
}

static void fill_charges(const struct bill *bill, const struct bill_point *point, double *at)
{
    const struct price *price = point->price;
    for (int i = 0; i < PRICED; i++)
        at[i] = or_zero(price->at[priced[i].tier][priced[i].above][priced[i].class]);
    at[STORAGE] = or_zero(price->storage);
    at[THRESHOLD] = or_zero(price->threshold);
    for (int i = 0; i < RULES_FACTS; i++)
        at[RULE + i] = fact_of(bill, point->rule, i);
    for (int i = 0; i < COUNTED; i++) {
        const double life = fact_of(bill, point->rule, (int)name_index(rule_facts, RULES_FACTS, counted[i].life));
        at[COUNT + 2 * i] = gaps_within(&bill->workload.gaps, point->mean_gap, life);
        at[COUNT + 2 * i + 1] = gaps_cut(&bill->workload.gaps, point->mean_gap, life);
    }
}

/* The last further step below the prompt's length; NULL: none. */
static const struct price_step *step_of(const struct price *price, double prompt)
{
    const struct price_step *step = NULL;
    for (size_t i = 0; i < price->further_count; i++)
        if (prompt > price->further[i].from)
            step = &price->further[i];
    return step;
}

/* Does a step have a value of its own for this charge? */
static bool is_of_step(int charge)
{
    return charge == THRESHOLD || (charge < PRICED && priced[charge].above);
}

static double step_charge(const struct price_step *step, int charge)
{
    return charge == THRESHOLD ? step->from : or_zero(step->at[priced[charge].class]);
}

/* Does the seller offer the scheme? It does if it published the prices that the scheme needs. */
static bool offered(const struct bill_point *point, enum scheme scheme)
{
    const struct price *price = point->price;
    const double *standard = price->at[SERVICE_STANDARD][0];
    bool hit = standard[PRICE_HIT] > 0;
    switch (scheme) {
    case SCHEME_SHORT:     return hit && point->rule->asked && standard[PRICE_WRITE_SHORT] > 0;
    case SCHEME_LONG:      return hit && point->rule->asked && standard[PRICE_WRITE_LONG] > 0;
    case SCHEME_AUTOMATIC: return hit && !point->rule->asked;
    case SCHEME_STORED:
    case SCHEME_KEPT:      return hit && price->storage > 0;
    case SCHEME_BATCH:     return price->at[SERVICE_BATCH][0][PRICE_INPUT] > 0 &&
                                  price->at[SERVICE_BATCH][0][PRICE_OUTPUT] > 0;
    case SCHEME_FLEX:      return price->at[SERVICE_FLEX][0][PRICE_INPUT] > 0 &&
                                  price->at[SERVICE_FLEX][0][PRICE_OUTPUT] > 0;
    default:               return true;
    }
}

/* ---- requests of a task ------------------------------------------------------------------- */

/* The requests of a task: its turns, and after some of them a compaction, which summarizes the
 * conversation. */
struct task_requests {
    double *number, *summary;       /* number of the turn; 1 for a compaction, else 0 */
    size_t count;
};

static struct task_requests list_requests(struct arena *arena, double turns, double compaction)
{
    size_t most = 2 * (size_t)turns;
    struct task_requests requests = { arena_array(arena, most, sizeof(double)),
                                 arena_array(arena, most, sizeof(double)), 0 };
    for (double turn = 1; turn <= turns; turn++) {
        requests.number[requests.count++] = turn;
        if (compaction < 1 || turn == turns || fmod(turn, compaction) != 0)
            continue;
        requests.summary[requests.count] = 1;
        requests.number[requests.count++] = turn;
    }
    return requests;
}

/* ---- running ------------------------------------------------------------------------------- */

/* The columns of one evaluation: a line for each request of each point. */
struct bill_run {
    const struct bill *bill;
    struct arena *scratch;
    struct bill_change change;
    struct task_requests requests;
    double scalars[BILL_INPUTS];    /* inputs that are the same in all lines */
    double *tiled[2];               /* number and summary, once for each point of a block */
    double *charges[CHARGES], *outputs[OUTPUTS];
    struct column columns[BILL_INPUTS];
};

enum { BLOCK_ROWS = 1 << 15 };

static void open_run(struct bill_run *run, size_t points)
{
    const struct graph *graph = &run->bill->graph;
    size_t requests = run->requests.count, rows = points * requests;
    for (size_t i = 0; i < graph->input_count; i++) {
        run->scalars[i] = graph->inputs[i].value;
        if (run->change.row && !strcmp(graph->inputs[i].name, run->change.row))
            run->scalars[i] = run->change.value;
        run->columns[i] = (struct column){ &run->scalars[i], 0 };
    }
    for (int i = 0; i < 2; i++) {
        int input = i ? run->bill->summary_input : run->bill->number_input;
        run->tiled[i] = arena_array(run->scratch, rows, sizeof(double));
        for (size_t k = 0; k < rows; k++)
            run->tiled[i][k] = (i ? run->requests.summary : run->requests.number)[k % requests];
        if (input >= 0)
            run->columns[input] = (struct column){ run->tiled[i], 1 };
    }
    for (int i = 0; i < CHARGES; i++) {
        int input = run->bill->charge_input[i];
        bool changed = run->change.row && !strcmp(charge_row(i), run->change.row);
        run->charges[i] = arena_array(run->scratch, rows, sizeof(double));
        if (input >= 0 && !changed)
            run->columns[input] = (struct column){ run->charges[i], 1 };
    }
    for (int i = 0; i < OUTPUTS; i++)
        run->outputs[i] = arena_array(run->scratch, rows, sizeof(double));
}

/* The rows have one step. If a list has further ones, each request takes the step for its prompt, which is an output of the
 * graph: true if the block must run again with other prices. */
static bool choose_steps(struct bill_run *run, const struct bill_point *points, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct price *price = points[i].price;
        for (size_t k = 0; k < run->requests.count && price->further_count; k++) {
            const size_t line = i * run->requests.count + k;
            const struct price_step *step = step_of(price, run->outputs[PROMPT][line]);
            for (int j = 0; step && j <= THRESHOLD; j++)
                if (is_of_step(j))
                    run->charges[j][line] = step_charge(step, j);
            any = any || step;
        }
    }
    return any;
}

/* Run a block of points through the graph, and add up the requests of each. */
static void run_block(struct bill_run *run, const struct bill_point *points, size_t count,
                      struct bill_cost *costs)
{
    const size_t requests = run->requests.count;
    for (size_t i = 0; i < count; i++) {
        double at[CHARGES];
        fill_charges(run->bill, &points[i], at);
        for (int j = 0; j < CHARGES; j++)
            for (size_t k = 0; k < requests; k++)
                run->charges[j][i * requests + k] = at[j];
    }
    graph_run(&run->bill->graph, run->columns, run->outputs, count * requests);
    if (choose_steps(run, points, count))
        graph_run(&run->bill->graph, run->columns, run->outputs, count * requests);
    for (size_t at = 0; at < count; at++) {
        struct bill_cost *cost = &costs[at];
        double sums[OUTPUTS] = { 0 };
        *cost = (struct bill_cost){ .best = SCHEME_PLAIN };
        for (size_t k = 0; k < requests; k++) {
            for (int i = 0; i < OUTPUTS; i++)
                sums[i] += run->outputs[i][at * requests + k];
            cost->prompt_most = fmax(cost->prompt_most, run->outputs[PROMPT][at * requests + k]);
        }
        for (int i = 0; i < SCHEMES; i++)
            cost->task[i] = offered(&points[at], (enum scheme)i) && isfinite(sums[i]) ? sums[i] : NAN;
        for (int i = SCHEME_STORED; i <= SCHEME_KEPT; i++)      /* too short to be stored: no scheme */
            if (sums[i] == sums[SCHEME_PLAIN])
                cost->task[i] = NAN;
        cost->prompt = sums[PROMPT], cost->reply = sums[REPLY], cost->read = sums[READ];
        for (int i = 0; i < SCHEMES; i++)
            if (!schemes[i].waits && cost->task[i] < cost->task[cost->best])
                cost->best = (enum scheme)i;
    }
}

void bill_costs(const struct bill *bill, const struct bill_point *points, size_t count,
                struct bill_change change, struct bill_cost *costs)
{
    struct arena scratch = arena_beside(bill->arena);
    struct bill_run *run = arena_alloc(&scratch, sizeof *run);
    double turns = bill->turns, compaction = bill->compaction_turns;
    if (change.row && !strcmp(change.row, NAME_task_turns))
        turns = change.value;
    if (change.row && !strcmp(change.row, NAME_compaction_turns))
        compaction = change.value;
    *run = (struct bill_run){ .bill = bill, .scratch = &scratch, .change = change,
                         .requests = list_requests(&scratch, turns, compaction) };
    size_t block = BLOCK_ROWS / run->requests.count + 1;
    open_run(run, count < block ? count : block);
    for (size_t i = 0; i < count; i += block)
        run_block(run, points + i, count - i < block ? count - i : block, costs + i);
    arena_free(&scratch);
}

struct bill_cost bill_cost(const struct bill *bill, const struct price *price,
                           struct bill_change change)
{
    struct bill_point point = { price, caching_find(&bill->caching, price), NAN };
    struct bill_cost cost;
    bill_costs(bill, &point, 1, change, &cost);
    return cost;
}

double bill_task_row(struct bill *bill, const char *row, double task_cost, double other_task_cost)
{
    struct scenario scenario = bill->scenario;
    struct error ignored;
    double value = 0;
    facts_set(&scenario.facts, NAME_task_cost, task_cost, ORIGIN_DERIVED, "bill");
    facts_set(&scenario.facts, NAME_other_task_cost, other_task_cost, ORIGIN_DERIVED, "bill");
    value_of(&scenario, row, &value, &ignored);
    return value;
}

/* ---- what it depends on ------------------------------------------------------------------------ */

/* Is the input said by the price list, the rule or the counts of gaps? A fact that the rule leaves
 * open is the row's default. */
static bool is_charged(const struct bill *bill, const struct caching_rule *rule, size_t input)
{
    for (int i = 0; i < CHARGES; i++)
        if (bill->charge_input[i] == (int)input)
            return i < RULE || i >= COUNT || !isnan(rule->at[i - RULE]);
    return false;
}

void bill_basis(struct bill *bill, const struct price *price, enum scheme scheme, struct basis *basis)
{
    struct arena scratch = arena_beside(bill->arena);
    const struct graph *graph = &bill->graph;
    const struct bill_point point = { price, caching_find(&bill->caching, price), NAN };
    const struct task_requests requests = list_requests(&scratch, bill->turns, bill->compaction_turns);
    double *inputs = arena_array(&scratch, graph->input_count + 1, sizeof *inputs);
    double *slopes = arena_array(&scratch, graph->input_count + 1, sizeof *slopes);
    double *pulls = arena_array(&scratch, graph->input_count + 1, sizeof *pulls);
    double *nodes = arena_array(&scratch, graph->count + 1, sizeof *nodes);
    double charges[CHARGES], outputs[OUTPUTS], whole = 0;
    fill_charges(bill, &point, charges);
    for (size_t i = 0; i < graph->input_count; i++)
        inputs[i] = graph->inputs[i].value;
    for (size_t k = 0; k < requests.count; k++) {
        if (bill->number_input >= 0)
            inputs[bill->number_input] = requests.number[k];
        if (bill->summary_input >= 0)
            inputs[bill->summary_input] = requests.summary[k];
        for (int i = 0; i < CHARGES; i++)
            if (bill->charge_input[i] >= 0)
                inputs[bill->charge_input[i]] = charges[i];
        graph_value(&scratch, graph, inputs, nodes, outputs);
        const struct price_step *step = step_of(price, outputs[PROMPT]);
        for (int i = 0; step && i <= THRESHOLD; i++)
            if (is_of_step(i) && bill->charge_input[i] >= 0)
                inputs[bill->charge_input[i]] = step_charge(step, i);
        if (step)
            graph_value(&scratch, graph, inputs, nodes, outputs);
        graph_slopes(&scratch, graph, (size_t)scheme, nodes, slopes);
        whole += outputs[scheme];
        for (size_t i = 0; i < graph->input_count; i++)
            pulls[i] += slopes[i] * inputs[i];
    }
    for (size_t i = 0; i < graph->input_count; i++) {
        const bool moved = (int)i == bill->number_input || (int)i == bill->summary_input;
        pulls[i] = moved || is_charged(bill, point.rule, i) ? 0 : pulls[i] / whole;
    }
    basis_add(&bill->scenario, graph, pulls, basis);
    arena_free(&scratch);
}

/* ---- asking why ---------------------------------------------------------------------------- */

const char *bill_why(struct bill *bill, const struct price *price, enum scheme scheme)
{
    struct scenario *scenario = &bill->scenario;
    struct bill_point point = { price, caching_find(&bill->caching, price), NAN };
    struct buffer out = { .arena = bill->arena };
    struct values values;
    struct error ignored;
    double charges[CHARGES];
    fill_charges(bill, &point, charges);
    const struct price_step *step = step_of(price, bill_cost(bill, price, (struct bill_change){ NULL, 0 }).prompt_most);
    for (int i = 0; step && i <= THRESHOLD; i++)
        charges[i] = is_of_step(i) ? step_charge(step, i) : charges[i];
    buffer_print(&out, "chalkline why %s", schemes[scheme].row);
    if (!values_of(scenario, &schemes[scheme].row, 1, &values, &ignored))
        return out.data;
    for (size_t i = 0; i < values.graph.input_count; i++) {
        const struct input *input = &values.graph.inputs[i];
        const struct row *row = formulas_row(&scenario->formulas, input->row);
        double at = strcmp(input->name, NAME_turn_number) ? input->value : bill->turns;
        for (int k = 0; k < CHARGES; k++)
            if (!strcmp(charge_row(k), input->name) && bill->charge_input[k] >= 0)
                at = charges[k];
        if (at != row->value)
            buffer_print(&out, " --set %s=%.10g", input->name, at);
    }
    return out.data;
}
