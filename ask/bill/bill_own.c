/* The workload of `bill` on one's own machines: what one replica serves by the prediction behind
 * `step`, the cost of a task by load, and the load above which owning is cheaper.
 *
 * The highest rate within the limits is searched on a grid of rates, which is narrowed ROUNDS
 * times. The lifetime of a cached conversation is a fixed point: a longer lifetime saves
 * recomputation, which admits more requests, whose tokens fill the cache sooner; it is found by
 * bisection. The engine's cache has blocks of its own size, includes outputs, and is not billed. */
#include "ask/bill/bill.h"
#include "build/row_names.h"
#include "scenario/server.h"

#include <math.h>
#include <string.h>

struct own {
    struct bill *bill;
    struct scenario scenario;               /* model and machine, under the workload */
    struct server server;                   /* the same, at `life` */
    const struct reading *bought;           /* the cheapest entry */
    struct bill_cost bought_cost;
    double life;                            /* s that a conversation stays in its cache */
    double request_rate;                    /* of a server; 0: none that keeps the limits */
};

/* ---- requests on an engine ---------------------------------------------------------------- */

/* An engine's cache: blocks of its own size, answers included; nothing is billed. */
static void count_requests(const struct own *own, const struct scenario *scenario,
                           struct bill_cost *cost)
{
    const struct bill *bill = own->bill;
    static const struct price none = { .seller = "", .model = "" };
    struct scenario here = *scenario;
    struct rule rule = { .name = "own" };
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

static bool open_server(struct own *own, struct error *error)
{
    struct bill_cost cost;
    count_requests(own, &own->scenario, &cost);
    set_request(own, NAME_prefix_hit_share, cost.read / cost.prompt);
    return server_open(&own->server, &own->scenario, error);
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

/* Does what is older than `life` still lie in the cache at the rate that the server then takes? */
static bool open_with(struct own *own, double life, bool *lasts, struct error *error)
{
    own->life = life;
    if (!open_server(own, error) || !find_rate(own, error))
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

/* ---- the answer --------------------------------------------------------------------------- */

static const char *rate_text(const struct own *own, double rate)
{
    const double day = 86400;
    return quantity_text(own->bill->arena, rate * day, unit_one, 4);
}

/* A line for the workload's load and for loads around it. */
static void answer_loads(struct own *own, struct doc *doc)
{
    static const double times[] = { 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100 };
    static const char *const heads[] = { "", "tasks per day", "servers", "own, per task", "bought" };
    struct bill *bill = own->bill;
    double now = bill_number(bill, NAME_task_rate);
    struct table table = { .arena = bill->arena, .columns = 5, .left = "lrrrr" };
    struct doc *list = doc_add(bill->arena, doc, "loads", DOC_ARRAY);
    for (int i = 0; i < 5; i++)
        table_cell(&table, "%s", heads[i]);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        double rate = now * times[i];
        struct bill_cost at = bill_cost(bill, own->bought->price,
                                        (struct bill_change){ NAME_task_rate, rate });
        double bought = at.task[at.best], servers = own_row(own, NAME_own_servers, rate, bought);
        double cost = own_row(own, NAME_own_task_cost, rate, bought);
        struct doc *one = doc_add(bill->arena, list, NULL, DOC_OBJECT);
        struct scenario asked = own_scenario(own, rate, bought);
        scenario_words_document(&asked, one);
        doc_add_number(bill->arena, one, NAME_task_rate, rate);
        doc_add_number(bill->arena, one, NAME_own_servers, servers);
        doc_add_number(bill->arena, one, NAME_own_task_cost, cost);
        doc_add_number(bill->arena, one, NAME_task_cost, bought);
        table_cell(&table, "%s", times[i] == 1 ? ">" : "");
        table_cell(&table, "%s", rate_text(own, rate));
        table_cell(&table, "%.0f", servers);
        table_cell(&table, "%s", bill_usd(bill, cost));
        table_cell(&table, "%s", bill_usd(bill, bought));
    }
    table_print(&table, &bill->answer->text, "  ");
}

static void answer_break_even(struct own *own, struct doc *doc)
{
    struct bill *bill = own->bill;
    struct buffer *out = &bill->answer->text;
    double now = bill_number(bill, NAME_task_rate);
    double bought = own->bought_cost.task[own->bought_cost.best];
    double pays = own_row(own, NAME_own_pays_rate, now, bought);
    double surely = own_row(own, NAME_own_pays_surely, now, bought);
    doc_add_number(bill->arena, doc, NAME_own_pays_rate, pays);
    doc_add_number(bill->arena, doc, NAME_own_pays_surely, surely);
    if (!(pays > 0))
        buffer_print(out, "  owning never pays: a task costs %s on a full replica, %s bought\n",
                     bill_usd(bill, own_row(own, NAME_own_cost_least, now, bought)),
                     bill_usd(bill, bought));
    else if (surely > pays)
        buffer_print(out, "  owning pays from %s tasks per day, at any load from %s on\n",
                     rate_text(own, pays), rate_text(own, surely));
    else
        buffer_print(out, "  owning pays from %s tasks per day\n", rate_text(own, pays));
}

static void answer_server(struct own *own, struct doc *doc)
{
    struct bill *bill = own->bill;
    struct scenario *scenario = &own->server.scenario;
    struct buffer *out = &bill->answer->text;
    double now = bill_number(bill, NAME_task_rate);
    double tasks = own_row(own, NAME_server_task_rate, now, 1);
    double rent = own_row(own, NAME_server_price, now, 1);
    double cached = own_row(own, NAME_prefix_hit_share, now, 1);
    doc_add_string(bill->arena, doc, "model", scenario->model);
    doc_add_string(bill->arena, doc, "machine", scenario->machine);
    struct scenario asked = own_scenario(own, now, own->bought_cost.task[own->bought_cost.best]);
    scenario_words_document(&asked, doc);
    doc_add_number(bill->arena, doc, NAME_own_request_rate, own->request_rate);
    doc_add_number(bill->arena, doc, NAME_server_task_rate, tasks);
    doc_add_number(bill->arena, doc, NAME_server_price, rent);
    doc_add_number(bill->arena, doc, NAME_prefix_hit_share, cached);
    doc_add_number(bill->arena, doc, NAME_own_life, own->life);
    doc_add_number(bill->arena, doc, NAME_own_cache_lasts, own_row(own, NAME_own_cache_lasts, now, 1));
    buffer_print(out, "\nown GPUs: %s on %s, %s GPUs per replica, %s; %s\n", scenario->model,
                 scenario->machine, quantity_text(bill->arena, own_row(own, NAME_chips, now, 1),
                                                  unit_one, 6),
                 server_layout(&own->server), quantity_text(bill->arena, rent, unit_usd_per_second, 4));
    buffer_print(out, "  a replica serves %.3g requests/s, %s tasks per day; %.0f %% of a prompt is "
                 "cached\n", own->request_rate, rate_text(own, tasks), 100 * cached);
    buffer_print(out, "  bought: %s of %s, %s\n\n", own->bought->price->model,
                 *own->bought->price->seller ? own->bought->price->seller : "the price list",
                 schemes[own->bought_cost.best].name);
}

/* Notes on what the figures depend on, and on given options without effect. */
static void note_shown(struct own *own, struct bill_idle *idle)
{
    static const char *const rows[] = {
        NAME_own_task_cost, NAME_server_task_rate, NAME_own_cache_lasts, NAME_prefix_hit_share,
        NAME_predicted_ttft, NAME_predicted_tpot, NAME_own_keeps_limits, NAME_own_pays_rate };
    enum { ROWS = sizeof rows / sizeof *rows };
    struct scenario asked = own_scenario(own, bill_number(own->bill, NAME_task_rate),
                                         own->bought_cost.task[own->bought_cost.best]);
    const size_t before = asked.facts.note_count;
    shown_notes(&asked, rows, ROWS, NULL);
    for (size_t i = before; i < asked.facts.note_count; i++)
        facts_note(&own->bill->scenario.facts, "own: %s", asked.facts.notes[i]);
    idle->asked = true;
    idle->count = given_idle(&asked, rows, ROWS, &idle->labels);
}

static void note_own(struct own *own)
{
    struct arena *arena = own->bill->arena;
    struct facts *facts = &own->bill->scenario.facts;
    const struct scenario *scenario = &own->server.scenario;
    double ttft = own_row(own, NAME_ttft_limit, 1, 1), tpot = own_row(own, NAME_tpot_limit, 1, 1);
    facts_note(facts, "own: TTFT within %s, TPOT within %s (ttft_limit, tpot_limit)",
               quantity_text(arena, ttft, unit_second, 3), quantity_text(arena, tpot, unit_second, 3));
    if (own->request_rate > 0)
        facts_note(facts, "own: a conversation stays in the KV cache for %s (own_life); "
                   "newer tokens fill it after %s",
                   quantity_text(arena, own->life, unit_second, 2),
                   quantity_text(arena, own_row(own, NAME_own_cache_lasts, 1, 1), unit_second, 2));
    facts_note(facts, "own: whole replicas that run all day; every request is the mean one");
    for (size_t i = 0; i < scenario->facts.note_count; i++)
        facts_note(facts, "own: %s", scenario->facts.notes[i]);
}

/* No replica fits, or none meets the limits. */
static void answer_none(struct own *own, struct doc *doc)
{
    struct bill *bill = own->bill;
    double width = server_at(&own->server, SERVER_tensor_parallel);
    bool runs = server_at(&own->server, SERVER_replica_fits) > 0 && width >= 1 &&
                width == floor(width);
    const char *verdict = runs ? "no load, however small, meets ttft_limit and tpot_limit"
                               : server_verdict(&own->server);
    buffer_print(&bill->answer->text, "\nown GPUs: %s\n", verdict);
    doc_add_string(bill->arena, doc, "verdict", verdict);
    bill->answer->status = 1;
}

bool bill_own(struct bill *bill, struct bill_idle *idle)
{
    struct own *own = arena_alloc(bill->arena, sizeof *own);
    *own = (struct own){ .bill = bill };
    own->bought = bill_cheapest(bill, &own->bought_cost);
    if (!own->bought) {
        error_set(bill->error, "no entry of the price list takes these prompts");
        return error_hint(bill->error, "another --prices, --model or --seller");
    }
    if (!open_scenario(own, bill->error) || !open_steady(own, bill->error))
        return false;
    note_own(own);
    note_shown(own, idle);
    struct doc *doc = doc_add(bill->arena, bill->answer->doc, "own", DOC_OBJECT);
    if (!(own->request_rate > 0)) {
        answer_none(own, doc);
        return true;
    }
    answer_server(own, doc);
    answer_loads(own, doc);
    answer_break_even(own, doc);
    return true;
}
