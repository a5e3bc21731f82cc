/* The workload of `bill` on the user's own GPUs: the load that one replica can serve (by the prediction
 * of `step`), the cost of a task as a function of load, and the load above which own GPUs are cheaper
 * than the cheapest seller.
 *
 * The highest rate within the limits is searched on a grid of rates, which is narrowed ROUNDS
 * times. The lifetime of a cached conversation is a fixed point: a longer lifetime saves
 * recomputation, which admits more requests, whose tokens fill the cache sooner; it is found by
 * bisection. The engine's cache has blocks of its own size, includes outputs, and is not billed. */
#include "ask/bill/bill.h"
#include "build/row_names.h"
#include "deploy/server.h"
#include "scenario/basis.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

/* One replica on own GPUs under the workload. */
struct own {
    struct bill *bill;
    struct scenario scenario;               /* model and machine, with the load of the workload */
    struct server server;                   /* its prediction at `life` */
    const struct price_reading *bought;           /* the cheapest entry of the price list, for comparison */
    struct bill_cost bought_cost;
    double life;                            /* time that a conversation stays in the KV cache, s */
    double request_rate;                    /* highest rate of one replica within the limits, 1/s; 0: none */
};

/* ---- requests on an engine ---------------------------------------------------------------- */

/* Count the tokens that an engine's prefix cache saves. It has blocks of its own size and includes
 * outputs, and neither reads nor writes are billed. */
static void count_requests(const struct own *own, const struct scenario *scenario,
                           struct bill_cost *cost)
{
    const struct bill *bill = own->bill;
    static const struct price none = { .seller = "", .model = "" };
    struct scenario here = *scenario;
    struct caching_rule rule = { .name = "own" };
    struct bill engine = *bill;
    struct error ignored;
    double block = 1;
    value_of(&here, NAME_kv_block_tokens, &block, &ignored);
    for (int i = 0; i < RULES_FACTS; i++) {
        const char *fact = rule_facts[i];
        rule.at[i] = !strcmp(fact, NAME_output_cached) ? 1
                     : !strcmp(fact, NAME_automatic_life) ? own->life
                     : !strncmp(fact, "cache_", 6) ? block : NAN;
        engine.rule_given[i] = false;
    }
    bill_costs(&engine, &(struct bill_point){ &none, &rule, NAN }, 1,
               (struct bill_change){ NULL, 0 }, cost);
}

/* Set a row, unless the user gave it. */
static void set_request(struct own *own, const char *row, double value)
{
    const struct fact *before = facts_find(&own->scenario.facts, row);
    if (!fact_given(before))
        facts_set(&own->scenario.facts, row, value, ORIGIN_AXIS, "the workload");
}

static bool open_scenario(struct own *own, struct error *error)
{
    struct bill *bill = own->bill;
    struct subject subject = command_subject(bill->command);
    subject.model = command_text(bill->command, "own");
    if (!scenario_read(&own->scenario, bill->arena, bill->command, subject, error))
        return false;
    if (!scenario_priced(&own->scenario, "bill --own", error))
        return false;
    workload_apply(&bill->workload, &own->scenario);
    struct bill_cost cost = bill_cost(bill, own->bought->price, (struct bill_change){ NULL, 0 });
    double requests = bill_number(bill, NAME_task_requests);
    set_request(own, NAME_context, (cost.prompt + cost.reply / 2) / requests);
    set_request(own, NAME_prompt_tokens, cost.prompt / requests);
    set_request(own, NAME_output_tokens, cost.reply / requests);
    return scenario_assume(&own->scenario, error);
}

/* ---- what a server takes ------------------------------------------------------------------ */

enum { GRID = 129, ROUNDS = 3 };

/* The highest rate on a grid that keeps the limits; the next one of the grid does not. */
static void search(const struct arena *arena, const struct values *values, size_t input,
                   double *low, double *high)
{
    struct arena scratch = arena_beside(arena);
    const struct graph *graph = &values->graph;
    struct column *columns = arena_array(&scratch, graph->input_count, sizeof *columns);
    double rate[GRID], kept[GRID], *outputs[1] = { kept };
    for (size_t i = 0; i < graph->input_count; i++)
        columns[i] = (struct column){ &values->inputs[i], 0 };
    columns[input] = (struct column){ rate, 1 };
    for (int i = 0; i < GRID; i++)
        rate[i] = log_between(*low, *high, (double)i / (GRID - 1));
    graph_run(graph, columns, outputs, GRID);
    int last = 0;
    while (last + 1 < GRID && kept[last + 1] > 0)
        last++;
    *low = kept[0] > 0 ? rate[last] : 0;
    *high = last + 1 < GRID ? rate[last + 1] : rate[last];
    arena_free(&scratch);
}

static bool find_rate(struct own *own, struct error *error)
{
    static const char *const kept[] = { NAME_own_keeps_limits };
    static const char *const ends[] = { NAME_own_rate_least, NAME_own_rate_most };
    const double above = 2;
    struct values values, limits;
    if (!values_of(&own->server.scenario, kept, 1, &values, error) ||
        !values_of(&own->server.scenario, ends, 2, &limits, error))
        return false;
    int input = graph_input(&values.graph, NAME_arrival_rate);
    double low = above * limits.at[0], high = limits.at[1];
    for (int round = 0; round < ROUNDS && input >= 0 && low > 0 && low < high; round++)
        search(own->bill->arena, &values, (size_t)input, &low, &high);
    own->request_rate = input < 0 ? 0 : low;
    return true;
}

/* The server at a rate of tasks, beside a price at which a task can be bought. */
static struct scenario own_scenario(const struct own *own, double task_rate, double task_cost)
{
    const struct { const char *row; double value; } facts[] = {
        { NAME_own_request_rate, own->request_rate }, { NAME_arrival_rate, own->request_rate },
        { NAME_own_life, own->life }, { NAME_task_rate, task_rate }, { NAME_task_cost, task_cost } };
    struct scenario scenario = own->server.scenario;
    scenario.facts = facts_copy(&scenario.facts);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        facts_set(&scenario.facts, facts[i].row, facts[i].value, ORIGIN_AXIS, "bill");
    return scenario;
}

static double own_row(struct own *own, const char *row, double task_rate, double task_cost)
{
    struct scenario scenario = own_scenario(own, task_rate, task_cost);
    struct error ignored;
    double value = 0;
    value_of(&scenario, row, &value, &ignored);
    return value;
}

/* The share of prompts that a cache finds which keeps a conversation for `life`. */
static void set_life(struct own *own, double life)
{
    struct bill_cost cost;
    own->life = life;
    count_requests(own, &own->scenario, &cost);
    set_request(own, NAME_prefix_hit_share, cost.read / cost.prompt);
}

/* A server whose cache keeps a conversation for `life`, and the rate that it takes. Does an older conversation still lie
 * in the cache at that rate? */
static bool open_with(struct own *own, double life, bool *lasts, struct error *error)
{
    set_life(own, life);
    if (!server_open(&own->server, &own->scenario, error) || !find_rate(own, error))
        return false;
    *lasts = !(own->request_rate > 0) || own_row(own, NAME_own_cache_lasts, 1, 1) > life;
    return true;
}

/* The cache keeps a conversation until newer tokens have filled it. The longer that is, the fewer
 * tokens are computed again and the more requests come, which fill it sooner: halve what lies
 * between. */
static bool open_steady(struct own *own, struct error *error)
{
    enum { HALVES = 14 };
    const struct fact *given = facts_find(&own->bill->scenario.facts, NAME_own_life);
    double low = 1, high = 1e6;
    bool lasts;
    if (given)
        return open_with(own, bill_number(own->bill, NAME_own_life), &lasts, error);
    for (int round = 0; round < HALVES; round++) {
        double life = log_between(low, high, 0.5);
        if (!open_with(own, life, &lasts, error))
            return false;
        *(lasts ? &low : &high) = life;
    }
    return true;
}

/* The best deployment depends on the share of prompts that its cache finds, and this share on the deployment: plan again
 * until the layout stays. The first plan is for a usual lifetime, so that sizes which plan chose change nothing where the
 * user gives them. */
static bool open_planned(struct own *own, struct error *error)
{
    enum { ROUNDS_MOST = 4 };
    const size_t notes = own->scenario.facts.note_count;
    uint64_t before = 0, layout = 0;
    set_life(own, bill_number(own->bill, NAME_own_life));
    for (int round = 0; round < ROUNDS_MOST && (!round || layout != before); round++) {
        before = layout;
        own->scenario.facts.note_count = notes;
        layout = bill_plan(own->bill, &own->scenario);
        if ((layout != before || !round) && !open_steady(own, error))
            return false;
    }
    return true;
}

/* ---- the answer --------------------------------------------------------------------------- */

/* Cost of a task on own machines and bought, for the workload's load and for loads around it. */
static void add_loads(struct own *own, struct section *section)
{
    static const double times[] = { 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100 };
    struct bill *bill = own->bill;
    const double now = bill_number(bill, NAME_task_rate);
    struct section *list = section_add(section, "loads", SECTION_LIST);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const double rate = now * times[i];
        const struct bill_cost at = bill_cost(bill, own->bought->price,
                                              (struct bill_change){ NAME_task_rate, rate });
        const double bought = at.task[at.best];
        const struct scenario asked = own_scenario(own, rate, bought);
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        figures_words(&asked, one);
        bill_figure(bill, one, NAME_task_rate, rate);
        bill_figure(bill, one, NAME_own_servers, own_row(own, NAME_own_servers, rate, bought));
        bill_figure(bill, one, NAME_own_task_cost, own_row(own, NAME_own_task_cost, rate, bought));
        bill_figure(bill, one, NAME_task_cost, bought);
        section_word(one, "now", times[i] == 1 ? "now" : "")->text_only = true;
    }
}

/* The picture over the loads of the table, with many between them. In the 80 % interval of throughput a replica
 * takes so many more or fewer tasks. */
static void draw(struct own *own)
{
    enum { POINTS = 121 };
    const double widest = 100;
    struct bill *bill = own->bill;
    struct bill_load loads[POINTS];
    if (!bill->picture)
        return;
    const double now = bill_number(bill, NAME_task_rate);
    const double band[] = { own_row(own, NAME_throughput_band_low, now, 1),
                            own_row(own, NAME_throughput_band_high, now, 1) };
    for (int i = 0; i < POINTS; i++) {
        const double rate = log_between(now / widest, now * widest, (double)i / (POINTS - 1));
        const struct bill_cost at = bill_cost(bill, own->bought->price, (struct bill_change){ NAME_task_rate, rate });
        loads[i] = (struct bill_load){ rate, own_row(own, NAME_own_task_cost, rate, 1),
                                       own_row(own, NAME_own_task_cost, rate / band[1], 1) / band[1],
                                       own_row(own, NAME_own_task_cost, rate / band[0], 1) / band[0],
                                       at.task[at.best] };
    }
    const double bought = own->bought_cost.task[own->bought_cost.best];
    bill_draw_own(bill, loads, POINTS, own_row(own, NAME_own_pays_rate, now, bought), bought);
}

/* The server, its rate, and from which load it is cheaper than buying. */
static void add_server(struct own *own, struct section *section)
{
    static const char *const rows[] = {
        NAME_server_task_rate, NAME_own_rent, NAME_prefix_hit_share, NAME_own_cache_lasts,
        NAME_own_pays_rate, NAME_own_pays_surely, NAME_own_pays_tokens, NAME_own_pays_users,
        NAME_own_pays_share, NAME_own_pays_users_low, NAME_own_pays_users_high, NAME_own_pays_share_low,
        NAME_own_pays_share_high };
    struct bill *bill = own->bill;
    const struct price *price = own->bought->price;
    const double now = bill_number(bill, NAME_task_rate);
    const double bought = own->bought_cost.task[own->bought_cost.best];
    const struct scenario asked = own_scenario(own, now, bought);
    section_word(section, "model", own->server.scenario.model);
    section_word(section, "machine", own->server.scenario.machine);
    figures_words(&asked, section);
    bill_figure(bill, section, NAME_own_request_rate, own->request_rate);
    bill_figure(bill, section, NAME_own_life, own->life);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        bill_figure(bill, section, rows[i], own_row(own, rows[i], now, bought));
    bill_figure(bill, section, NAME_chips, own_row(own, NAME_chips, now, bought))->text_only = true;
    bill_figure(bill, section, NAME_own_cost_least, own_row(own, NAME_own_cost_least, now, bought))
        ->text_only = true;
    scenario_footprint(&asked, false, section);
    section_word(section, "layout", server_layout(&own->server))->text_only = true;
    section_word(section, "bought_model", price->model)->text_only = true;
    section_word(section, "bought_seller", price->seller)->text_only = true;
    section_word(section, "bought_scheme", schemes[own->bought_cost.best].name)->text_only = true;
    section_quantity(section, "bought_cost", bought, "USD")->text_only = true;
}

/* Notes on what the figures depend on, and on given options without effect. */
static void note_own(struct own *own, struct bill_idle *idle)
{
    static const char *const rows[] = {
        NAME_own_task_cost, NAME_server_task_rate, NAME_own_cache_lasts, NAME_prefix_hit_share,
        NAME_predicted_ttft, NAME_predicted_tpot, NAME_own_keeps_limits, NAME_own_pays_rate };
    enum { ROWS = sizeof rows / sizeof *rows };
    struct arena *arena = own->bill->arena;
    struct facts *facts = &own->bill->scenario.facts;
    const struct facts *served = &own->server.scenario.facts;
    const double ttft = own_row(own, NAME_ttft_limit, 1, 1), tpot = own_row(own, NAME_tpot_limit, 1, 1);
    facts_note(facts, "own: TTFT within %s, TPOT within %s (ttft_limit, tpot_limit)",
               quantity_text(arena, ttft, unit_second, 3), quantity_text(arena, tpot, unit_second, 3));
    if (own->request_rate > 0)
        facts_note(facts, "own: a conversation stays in the KV cache for %s (own_life); "
                   "newer tokens fill it after %s",
                   quantity_text(arena, own->life, unit_second, 2),
                   quantity_text(arena, own_row(own, NAME_own_cache_lasts, 1, 1), unit_second, 2));
    facts_note(facts, "own: whole replicas that run all day; every request is the mean one");
    for (size_t i = 0; i < served->note_count; i++)
        facts_note(facts, "own: %s", served->notes[i]);
    struct scenario asked = own_scenario(own, bill_number(own->bill, NAME_task_rate),
                                         own->bought_cost.task[own->bought_cost.best]);
    const size_t before = asked.facts.note_count;
    shown_notes(&asked, rows, ROWS, NULL);
    for (size_t i = before; i < asked.facts.note_count; i++)
        facts_note(facts, "own: %s", asked.facts.notes[i]);
    idle->asked = true;
    idle->count = given_idle(&asked, rows, ROWS, &idle->labels);
}

bool bill_own(struct bill *bill, struct bill_idle *idle, int *status)
{
    struct own *own = arena_alloc(bill->arena, sizeof *own);
    *own = (struct own){ .bill = bill };
    own->bought = bill_cheapest(bill, &own->bought_cost);
    if (!own->bought) {
        error_set(bill->error, "no entry of the price list takes these prompts");
        return error_expected(bill->error, "another --prices, --model or --seller");
    }
    if (!open_scenario(own, bill->error))
        return false;
    if (!open_planned(own, bill->error))
        return false;
    note_own(own, idle);
    struct section *section = section_add(bill->section, "own", SECTION_RECORD);
    if (own->request_rate > 0) {
        add_server(own, section);
        add_loads(own, section);
        draw(own);
        return true;
    }
    /* No replica fits, or none meets the limits. */
    const double width = server_at(&own->server, SERVER_tensor_parallel);
    const bool runs = server_at(&own->server, SERVER_replica_fits) > 0 && width >= 1 &&
                      width == floor(width);
    section_word(section, "verdict", runs ? "no load, however small, meets ttft_limit and tpot_limit"
                                          : server_verdict(&own->server));
    *status = 1;
    return true;
}

static const struct record load_record = { "OwnLoad", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives this load again", .always = true },
    { FIELD_ROWS, .count = 4, .always = true, .names = (const char *const[]){
          NAME_task_rate, NAME_own_servers, NAME_own_task_cost, NAME_task_cost } },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "now" }, .count = 1 },
    { 0 } } };

const struct record bill_own_record = { "OwnMachines", (const struct answer_field[]){
    { FIELD_TEXT, "verdict", .help = "why there is no such server" },
    { FIELD_TEXT, "model", .help = "title of the model" },
    { FIELD_TEXT, "machine", .help = "title of the machine" },
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again" },
    { FIELD_ROWS, .count = 15, .names = (const char *const[]){
          NAME_own_request_rate, NAME_server_task_rate, NAME_own_rent, NAME_prefix_hit_share,
          NAME_own_life, NAME_own_cache_lasts, NAME_own_pays_rate, NAME_own_pays_surely, NAME_own_pays_tokens,
          NAME_own_pays_users, NAME_own_pays_share, NAME_own_pays_users_low, NAME_own_pays_users_high,
          NAME_own_pays_share_low, NAME_own_pays_share_high } },
    { FIELD_ROWS, .names = footprint_rows[0], .count = FOOTPRINT_ROWS },
    { FIELD_LIST, "loads", .help = "cost of a task against load", .record = &load_record },
    { FIELD_TEXT_ONLY, .count = 10, .names = (const char *const[]){
          NAME_chips, NAME_own_cost_least, "layout", "bought_model", "bought_seller", "bought_scheme",
          "bought_cost", "energy", "carbon", "water" } },
    { 0 } } };
