/* The answer of a simulation: counts, latencies, caches, tiers, priority classes, cost and energy.
 *
 * Times are quantiles of sketches (1 % relative error). In a run with users, the start and the end
 * are left out of the statistics, and the answer says so. Cost and energy are rows
 * (formulas/serving/simulation.chalk) evaluated at what the run counted, once per pool. Requests
 * without an answer are counted by reason: refused, gave up, not asked because the turn before was
 * never answered. */
#include "ask/simulate/simulate.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

static const char *const time_names[SIMULATE_TIMES] = { "ttft", "tpot", "e2e" };

const char *simulate_seconds(struct arena *arena, double seconds)
{
    struct unit second;
    struct error ignored;
    unit_parse(text_of("s"), &second, &(double){ 0 }, &ignored);
    return quantity_text(arena, seconds, second, 4);
}

static const char *in_unit(struct arena *arena, double value, const char *text)
{
    struct unit unit;
    struct error ignored;
    unit_parse(text_of(text), &unit, &(double){ 0 }, &ignored);
    return quantity_text(arena, value, unit, 3);
}

/* "-" where no request has the time: a TPOT takes two tokens. */
static const char *or_dash(struct arena *arena, const struct sketch *sketch, double value)
{
    return sketch->count ? simulate_seconds(arena, value) : "-";
}

static const struct { const char *name; double share; } quantiles[] = {
    { "p50", 0.5 }, { "p90", 0.9 }, { "p95", 0.95 }, { "p99", 0.99 } };

static void answer_sketch(struct arena *arena, const char *name, const struct sketch *sketch,
                          struct doc *doc, struct table *table, struct buffer *csv)
{
    struct doc *one = doc_add(arena, doc, name, DOC_OBJECT);
    buffer_print(csv, "%s,%.9g", name, sketch_mean(sketch));
    doc_add_number(arena, one, "mean", sketch_mean(sketch));
    table_cell(table, "%s", or_dash(arena, sketch, sketch_mean(sketch)));
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        double value = sketch_quantile(sketch, quantiles[i].share);
        doc_add_number(arena, one, quantiles[i].name, value);
        buffer_print(csv, ",%.9g", value);
        table_cell(table, "%s", or_dash(arena, sketch, value));
    }
    doc_add_number(arena, one, "max", sketch->most);
    buffer_print(csv, ",%.9g\n", sketch->most);
    table_cell(table, "%s", or_dash(arena, sketch, sketch->most));
}

static void answer_class(struct arena *arena, const char *name, const struct class_score *priority_class,
                         struct doc *doc, struct table *table, struct buffer *csv)
{
    for (int i = 0; i < SIMULATE_TIMES; i++) {
        table_cell(table, *name ? "%s, %s" : "%s%s", time_names[i], name);
        buffer_print(csv, "%s,", name);
        answer_sketch(arena, time_names[i], &priority_class->times[i], doc, table, csv);
    }
}

static void answer_times(struct arena *arena, const struct simulated *outcome, struct answer *answer)
{
    const struct trace *trace = &outcome->trace;
    static const char *const head[] = { "", "mean", "p50", "p90", "p95", "p99", "max" };
    struct table table = { .arena = arena, .columns = 7, .left = "lrrrrrr" };
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        table_cell(&table, "%s", head[i]);
    buffer_print(&answer->csv, "class,time,mean,p50,p90,p95,p99,max\n");
    answer_class(arena, "", &outcome->all, answer->doc, &table, &answer->csv);
    table_cell(&table, "itl");
    buffer_print(&answer->csv, ",");
    answer_sketch(arena, "itl", outcome->result.gaps, answer->doc, &table, &answer->csv);
    struct doc *classes = trace->priority_classes
        ? doc_add(arena, answer->doc, "classes", DOC_OBJECT) : NULL;
    for (size_t i = 0; i < trace->priority_classes; i++)
        answer_class(arena, trace->class_names[i], &outcome->priority_classes[i],
                     doc_add(arena, classes, trace->class_names[i], DOC_OBJECT), &table,
                     &answer->csv);
    table_print(&table, &answer->text, "  ");
}

/* ---- counts --------------------------------------------------------------------------------- */

static void answer_counts(struct arena *arena, const struct simulated *outcome, struct answer *answer)
{
    const struct sim_result *result = &outcome->result;
    const double there = result->pool_there[0] + result->pool_there[1];
    const double utilisation = result->busy / there, queued = result->queued / there;
    const struct { const char *name; double value; } counts[] = {
        { "requests", (double)outcome->trace.count },
        { "answered", (double)outcome->all.answered },
        { "iterations", (double)result->iterations },
        { "batch_tokens", (double)result->batch_tokens },
        { "preemptions", (double)result->preemptions }, { "makespan", result->makespan },
        { "busy", utilisation },
        { "utilisation", utilisation },         /* the name of one version */
        { "queued", queued },
        { "waiting_at_last", result->waiting_at_last },
        { "requests_per_s", outcome->rate },      { "output_rate", outcome->output_rate },
        { "input_rate", outcome->input_rate },
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        doc_add_number(arena, answer->doc, counts[i].name, counts[i].value);
    buffer_print(&answer->text, "%zu requests in %.6f s: %llu iterations, %llu tokens, %llu "
                 "preemptions\n", outcome->trace.count, result->makespan,
                 (unsigned long long)result->iterations, (unsigned long long)result->batch_tokens,
                 (unsigned long long)result->preemptions);
    doc_add_string(arena, answer->doc, "verdict", outcome->verdict);
    buffer_print(&answer->text, "%s: busy %.1f %% of the time, requests waited in %.1f %% of it, %.0f "
                 "at the last arrival\n", outcome->verdict, 100 * utilisation, 100 * queued,
                 result->waiting_at_last);
    buffer_print(&answer->text, outcome->rate < 1000 ? "%.3g" : "%.0f", outcome->rate);
    buffer_print(&answer->text, " requests/s arrived; %.0f output and %.0f input tokens/s\n",
                 outcome->output_rate, outcome->input_rate);
    if (outcome->options.scaling.most) {
        doc_add_number(arena, answer->doc, "servers_mean", there / result->makespan);
        buffer_print(&answer->text, "%.2f replicas on average\n",
                     there / result->makespan);
    }
}

/* Say which requests of a run with users are left out: those of its start and its end, which say
 * nothing about the steady state. */
static void answer_left_out(struct arena *arena, const struct simulated *outcome,
                            struct answer *answer)
{
    const struct counted *counted = &outcome->counted;
    const size_t behind = outcome->trace.count - counted->end;
    struct doc *doc = doc_add(arena, answer->doc, "left_out", DOC_OBJECT);
    doc_add_number(arena, doc, "warm_up_s", counted->warm_up);
    doc_add_number(arena, doc, "requests", (double)(counted->first + behind));
    if (!counted->first && !behind)
        return;
    buffer_print(&answer->text, "not counted in rates, TTFT, TPOT and E2E: %zu requests of the first %s, the "
                 "warm-up", counted->first,
                 simulate_seconds(arena, counted->warm_up));
    if (behind)
        buffer_print(&answer->text, ", and the last %zu, when users ran out of requests", behind);
    buffer_print(&answer->text, "\n");
}

/* Count the requests that were not answered, by reason. */
static void answer_losses(struct arena *arena, const struct simulated *outcome, struct answer *answer)
{
    const struct sim_result *result = &outcome->result;
    const struct { const char *key, *text; uint64_t count; } losses[] = {
        { "refused", "refused by a full queue", result->refused },
        { "gave_up", "abandoned after --patience", result->gave_up },
        { "unasked", "not sent, later turns of these", result->unasked },
        { "failures", "failures of a replica", result->failures },
        { "lost", "restarted after one", result->lost },
    };
    const char *comma = "";
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        if (!losses[i].count)
            continue;
        doc_add_number(arena, answer->doc, losses[i].key, (double)losses[i].count);
        buffer_print(&answer->text, "%s%llu %s", comma, (unsigned long long)losses[i].count,
                     losses[i].text);
        comma = ", ";
    }
    if (*comma)
        buffer_print(&answer->text, "\n");
}

static void answer_goodput(struct arena *arena, const struct simulate *simulate,
                           const struct simulated *outcome, struct answer *answer)
{
    const struct trace *trace = &outcome->trace;
    const double share = (double)outcome->all.met / (double)outcome->all.requests;
    if (isinf(simulate->ttft_most) && isinf(simulate->tpot_most))
        return;
    doc_add_number(arena, answer->doc, "good_requests_per_s", outcome->goodput);
    doc_add_number(arena, answer->doc, "met", share);
    buffer_print(&answer->text, "goodput %.4g requests/s: %.2f %% meet", outcome->goodput, 100 * share);
    if (isfinite(simulate->ttft_most))
        buffer_print(&answer->text, " TTFT %s", simulate_seconds(arena, simulate->ttft_most));
    if (isfinite(simulate->tpot_most))
        buffer_print(&answer->text, " TPOT %s", simulate_seconds(arena, simulate->tpot_most));
    for (size_t i = 0; i < trace->priority_classes && outcome->priority_classes[i].requests; i++)
        buffer_print(&answer->text, "%s %s %.2f %%", i ? "," : ";", trace->class_names[i],
                     100 * (double)outcome->priority_classes[i].met /
                     (double)outcome->priority_classes[i].requests);
    buffer_print(&answer->text, "\n");
}

/* ---- caches --------------------------------------------------------------------------------- */

static double prompt_tokens(const struct trace *trace)
{
    double tokens = 0;
    for (size_t i = 0; i < trace->count; i++)
        tokens += trace->prompt[i];
    return tokens;
}

static void answer_caches(struct arena *arena, const struct simulated *outcome, struct answer *answer)
{
    const struct sim_result *result = &outcome->result;
    const double tokens = prompt_tokens(&outcome->trace);
    if (result->cached_tokens || result->fetched_tokens) {
        doc_add_number(arena, answer->doc, "cached_share", (double)result->cached_tokens / tokens);
        doc_add_number(arena, answer->doc, "fetched_share",
                       (double)result->fetched_tokens / tokens);
        buffer_print(&answer->text, "%.2f %% of the prompt tokens were in the cache",
                     100 * (double)result->cached_tokens / tokens);
        if (outcome->options.tiers)
            buffer_print(&answer->text, ", %.2f %% were fetched from tiers",
                         100 * (double)result->fetched_tokens / tokens);
        buffer_print(&answer->text, "\n");
    }
    if (outcome->options.split.replicas) {
        doc_add_number(arena, answer->doc, "moved_bytes", result->moved_bytes);
        doc_add_number(arena, answer->doc, "move_time",
                       result->moving / (double)outcome->all.requests);
        buffer_print(&answer->text, "%s of KV cache transferred from prefill to decode, %s each\n",
                     in_unit(arena, result->moved_bytes, "B"),
                     simulate_seconds(arena, result->moving / (double)outcome->all.requests));
    }
}

static void tier_lines(struct arena *arena, const struct simulate *simulate,
                         const struct simulated *outcome, struct answer *answer)
{
    const struct sim_options *sim = &outcome->options;
    static const char *const head[] = { "tier", "hits", "read", "written", "peak", "busy",
                                        "wear", "USD" };
    struct table table = { .arena = arena, .columns = 8, .left = "lrrrrrrr" };
    const double block_bytes = sim->token_bytes * (double)sim->server.block;
    const double tokens = prompt_tokens(&outcome->trace);
    if (!sim->tiers)
        return;
    struct doc *doc = doc_add(arena, answer->doc, "tiers", DOC_OBJECT);
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < sim->tiers; i++) {
        const struct tier_use *use = &outcome->result.tier[i];
        struct doc *one = doc_add(arena, doc, simulate->tier_names[i], DOC_OBJECT);
        double share = (double)use->fetched * (double)sim->server.block / tokens;
        double usd = fmax(use->hold_cost, use->write_cost);     /* either ends the same drive */
        doc_add_number(arena, one, "hit_share", share);
        doc_add_number(arena, one, "read_bytes", use->read_bytes);
        doc_add_number(arena, one, "written_bytes", use->written_bytes);
        doc_add_number(arena, one, "most_held_bytes", (double)use->used_most * block_bytes);
        doc_add_number(arena, one, "busy", use->busy);
        doc_add_number(arena, one, "wear", use->wear);
        doc_add_number(arena, one, "cost", usd);
        doc_add_number(arena, one, "expired", (double)use->expired);
        table_cell(&table, "%s", simulate->tier_names[i]);
        table_cell(&table, "%.2f %%", 100 * share);
        table_cell(&table, "%s", in_unit(arena, use->read_bytes, "B"));
        table_cell(&table, "%s", in_unit(arena, use->written_bytes, "B"));
        table_cell(&table, "%s", in_unit(arena, (double)use->used_most * block_bytes, "B"));
        table_cell(&table, "%s", simulate_seconds(arena, use->busy));
        table_cell(&table, "%.2g %%", 100 * use->wear);
        table_cell(&table, "%.3g", usd);
    }
    buffer_print(&answer->text, "\n");
    table_print(&table, &answer->text, "  ");
}

/* ---- money and energy ----------------------------------------------------------------------- */

/* All that decode or are read at a time: a step of a pipeline has those of one stage. */
double simulate_sequences(const struct simulated *outcome, int pool)
{
    const struct sim_server *server = pool ? &outcome->options.split.server
                                           : &outcome->options.server;
    const double stages = server->stages ? (double)server->stages : 1;
    return stages * outcome->result.sequence_seconds / outcome->result.busy;
}

/* Evaluate rows of a pool (formulas/serving/simulation.chalk) at what the run counted. */
static bool run_rows(struct scenario *scenario, const struct simulated *outcome, int pool,
                     const char *const *rows, size_t count, struct values *values,
                     struct error *error)
{
    const struct sim_result *result = &outcome->result;
    const double requests = (double)outcome->all.answered;
    const struct { const char *row; double value; } counted[] = {
        { NAME_replica_seconds, result->pool_there[pool] * outcome->counted.time_share },
        { NAME_replica_busy_seconds, result->pool_busy[pool] * outcome->counted.time_share },
        { NAME_run_outputs, (double)outcome->all.outputs },
        { NAME_run_sequences, simulate_sequences(outcome, pool) },
        { NAME_prompt_tokens, (double)outcome->all.inputs / requests },
        { NAME_output_tokens, (double)outcome->all.outputs / requests },
    };
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        facts_set(&scenario->facts, counted[i].row, counted[i].value, ORIGIN_DERIVED, "simulated");
    return values_of(scenario, rows, count, values, error);
}

/* Cost per token of each priority class, where classes share replicas. */
static bool answer_classes(struct arena *arena, struct simulate *simulate,
                           const struct simulated *outcome, struct answer *answer,
                           struct error *error)
{
    const struct sim_result *result = &outcome->result;
    struct facts *facts = &simulate->scenario.facts;
    double price;
    if (!(result->class_seconds[0] > 0))
        return true;
    struct doc *prices = doc_add(arena, answer->doc, "class_rent_per_token", DOC_OBJECT);
    for (size_t i = 0; i < outcome->trace.priority_classes; i++) {
        const char *name = outcome->trace.class_names[i];
        if (!outcome->priority_classes[i].outputs)
            continue;
        facts_set(facts, NAME_class_share, result->class_seconds[i] / result->busy, ORIGIN_DERIVED,
                  "simulated");
        facts_set(facts, NAME_class_outputs, (double)outcome->priority_classes[i].outputs,
                  ORIGIN_DERIVED, "simulated");
        if (!value_of(&simulate->scenario, NAME_class_cost_per_token, &price, error))
            return false;
        doc_add_number(arena, prices, name, price);
        buffer_print(&answer->text, "  %s: %s, by its share of the sequences of each step\n", name,
                     in_unit(arena, price, "USD/token"));
    }
    return true;
}

static bool answer_money(struct arena *arena, struct simulate *simulate,
                         const struct simulated *outcome, struct answer *answer,
                         struct error *error)
{
    enum { TOTAL, PER_TOKEN, ENERGY, ROWS };
    static const char *const rows[ROWS] = { NAME_run_rent, NAME_run_cost_per_token,
                                            NAME_run_energy_per_token };
    static const char *const beside[] = { NAME_run_cost, NAME_run_energy };
    struct facts *facts = &simulate->scenario.facts;
    struct values values;
    if (!simulate->predicted || !outcome->all.outputs)
        return true;
    if (outcome->options.split.replicas) {
        if (!run_rows(&simulate->prompts, outcome, 1, beside, 2, &values, error))
            return false;
        facts_set(facts, NAME_prefill_pool_cost, values.at[0], ORIGIN_DERIVED, "simulated");
        facts_set(facts, NAME_prefill_pool_energy, values.at[1], ORIGIN_DERIVED, "simulated");
    }
    if (!run_rows(&simulate->scenario, outcome, 0, rows, ROWS, &values, error))
        return false;
    doc_add_number(arena, answer->doc, "rent", values.at[TOTAL]);
    doc_add_number(arena, answer->doc, "rent_per_token", values.at[PER_TOKEN]);
    doc_add_number(arena, answer->doc, "joules_per_token", values.at[ENERGY]);
    buffer_print(&answer->text, "rental of the replicas over their lifetime, per output token: "
                 "%s; energy %s\n",
                 in_unit(arena, values.at[PER_TOKEN], "USD/token"),
                 in_unit(arena, values.at[ENERGY], "J/token"));
    return answer_classes(arena, simulate, outcome, answer, error);
}

/* The pool for prompts beside the servers that decode: what it has, and how long each ran. */
static void answer_prompts(struct arena *arena, const struct simulated *outcome, struct doc *settings,
                           struct buffer *text)
{
    const struct sim_split *split = &outcome->options.split;
    const struct sim_result *result = &outcome->result;
    if (!split->replicas)
        return;
    const struct sim_server *server = &split->server;
    const double decode = result->pool_busy[0] / result->pool_there[0];
    const double prompts = result->pool_busy[1] / result->pool_there[1];
    struct doc *pool = doc_add(arena, settings, "prompts", DOC_OBJECT);
    doc_add_number(arena, pool, "servers", (double)split->replicas);
    doc_add_number(arena, pool, "blocks", (double)server->blocks);
    doc_add_number(arena, pool, "max_seqs", (double)server->max_num_seqs);
    doc_add_number(arena, pool, "chunk", (double)server->chunk);
    doc_add_number(arena, pool, "ranks", (double)(server->ranks ? server->ranks : 1));
    doc_add_number(arena, pool, "stages", (double)(server->stages ? server->stages : 1));
    doc_add_number(arena, pool, "busy", prompts);
    doc_add_number(arena, settings, "decodes_busy", decode);
    buffer_print(text, "\n  %zu prefill replica%s ran %.1f %% of the time (%zu blocks, %zu tokens a "
                 "batch%s%s), %zu that decode %.1f %%\n", split->replicas,
                 split->replicas == 1 ? "" : "s", 100 * prompts, server->blocks, server->chunk,
                 server->ranks > 1 ? arena_print(arena, ", %zu attention ranks", server->ranks) : "",
                 server->stages > 1 ? arena_print(arena, ", %zu stages", server->stages) : "",
                 outcome->options.replicas, 100 * decode);
}

static void answer_settings(struct arena *arena, const struct simulated *outcome,
                            struct answer *answer)
{
    const struct sim_server *server = &outcome->options.server;
    const double cadence = sim_setting(server, "cadence");
    struct doc *doc = doc_add(arena, answer->doc, "settings", DOC_OBJECT);
    doc_add_string(arena, doc, "scheduler", server->scheduler->name);
    doc_add_string(arena, doc, "rules", server->scheduler->name);       /* the name of one version */
    doc_add_string(arena, doc, "router", router_names[outcome->options.router]);
    doc_add_number(arena, doc, "servers", (double)outcome->options.replicas);
    doc_add_number(arena, doc, "blocks", (double)server->blocks);
    doc_add_number(arena, doc, "block", (double)server->block);
    doc_add_number(arena, doc, "max_seqs", (double)server->max_num_seqs);
    doc_add_number(arena, doc, "chunk", (double)server->chunk);
    doc_add_number(arena, doc, "ranks", (double)(server->ranks ? server->ranks : 1));
    doc_add_number(arena, doc, "stages", (double)(server->stages ? server->stages : 1));
    doc_add_number(arena, doc, "ahead", !server->synchronous);
    answer_prompts(arena, outcome, doc, &answer->text);
    buffer_print(&answer->text, "\n  quantiles within 1 %%; scheduler %s; ", server->scheduler->name);
    if (!isnan(cadence)) {
        buffer_print(&answer->text, "a train of %zu requests leaves every %.6g s\n",
                     server->max_num_seqs, cadence);
        return;
    }
    const size_t tokens = server->scheduler->can & SCHEDULER_CHUNK ? server->chunk
                                                                   : server->batch_tokens_most;
    buffer_print(&answer->text, "per replica %zu blocks of %zu tokens, at most %zu sequences%s%s\n",
                 server->blocks, server->block, server->max_num_seqs,
                 tokens ? arena_print(arena, ", %zu tokens per step", tokens) : "",
                 server->ranks > 1 ? ", on each attention rank" : "");
    if (server->stages > 1)
        buffer_print(&answer->text, "  %zu pipeline stages, a step in each\n", server->stages);
}

bool simulate_answer(struct simulate *simulate, const struct simulated *outcome,
                     struct answer *answer, struct error *error)
{
    struct arena *arena = simulate->arena;
    answer_counts(arena, outcome, answer);
    answer_left_out(arena, outcome, answer);
    answer_losses(arena, outcome, answer);
    answer_goodput(arena, simulate, outcome, answer);
    answer_caches(arena, outcome, answer);
    struct answer times = { .doc = answer->doc, .text = { .arena = arena }, .csv = answer->csv };
    answer_times(arena, outcome, &times);
    answer->csv = times.csv;
    if (!answer_money(arena, simulate, outcome, answer, error))
        return false;
    buffer_print(&answer->text, "\n%s", times.text.data);
    tier_lines(arena, simulate, outcome, answer);
    answer_settings(arena, outcome, answer);
    return true;
}
