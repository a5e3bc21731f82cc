/* The answer of one run, as figures: counts, rates, times, caches, tiers, cost and energy, settings.
 * simulate.template is its text.
 *
 * Times are quantiles of sketches (1 % relative error). In a run with users, the start and the end
 * are left out of the statistics, and the answer says so. Cost and energy are rows
 * (formulas/serving/simulation.chalk) evaluated at what the run counted, once per pool. Requests
 * without an answer are counted by reason: refused, gave up, not asked because the turn before was
 * never answered. Nothing is simulated here. */
#include "ask/simulate/simulate.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>

/* Counts and rates of all requests, those that are left out of the statistics (the start and the end
 * of a run with users), and those that met the limits, where there are limits. */
static void add_counts(const struct simulate *simulate, const struct simulated *outcome,
                       struct section *section)
{
    const struct sim_result *result = &outcome->result;
    const struct counted *counted = &outcome->counted;
    const size_t behind = outcome->trace.count - counted->end;
    const double there = result->pool_there[0] + result->pool_there[1];
    const struct { const char *name; double value; } counts[] = {
        { "requests", (double)outcome->trace.count },
        { "answered", (double)outcome->all.answered },
        { "iterations", (double)result->iterations },
        { "batch_tokens", (double)result->batch_tokens },
        { "preemptions", (double)result->preemptions },
        { "busy", result->busy / there },
        { "utilisation", result->busy / there },        /* as searches and sweeps call it */
        { "queued", result->queued / there },
        { "waiting_at_last", result->waiting_at_last },
        { "requests_per_s", outcome->rate }, { "output_rate", outcome->output_rate },
        { "input_rate", outcome->input_rate },
    }, losses[] = {                                     /* only those that there were */
        { "refused", (double)result->refused }, { "gave_up", (double)result->gave_up },
        { "unasked", (double)result->unasked }, { "failures", (double)result->failures },
        { "lost", (double)result->lost },
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        section_number(section, counts[i].name, counts[i].value, unit_one);
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (losses[i].value > 0)
            section_number(section, losses[i].name, losses[i].value, unit_one);
    section_number(section, "makespan", result->makespan, unit_second);
    if (outcome->verdict)
        section_word(section, "verdict", outcome->verdict);
    else
        section_nothing(section, "verdict");
    if (outcome->options.scaling.most)
        section_number(section, "servers_mean", there / result->makespan, unit_one);
    struct section *left_out = section_add(section, "left_out", SECTION_RECORD);
    section_number(left_out, "warm_up_s", counted->warm_up, unit_second);
    section_number(left_out, "requests", (double)(counted->first + behind), unit_one);
    section_number(left_out, "first", (double)counted->first, unit_one)->text_only = true;
    section_number(left_out, "last", (double)behind, unit_one)->text_only = true;
    if (!simulate_has_limits(simulate))
        return;
    section_number(section, "good_requests_per_s", outcome->goodput, unit_one);
    section_number(section, "met", (double)outcome->all.met / (double)outcome->all.requests, unit_one);
    if (isfinite(simulate->ttft_most))
        section_number(section, NAME_ttft_limit, simulate->ttft_most, unit_second)->text_only = true;
    if (isfinite(simulate->tpot_most))
        section_number(section, NAME_tpot_limit, simulate->tpot_most, unit_second)->text_only = true;
}

/* ---- times ---------------------------------------------------------------------------------- */

static const char *const time_names[SIMULATE_TIMES] = { "ttft", "tpot", "e2e" };

/* The quantiles of one time: a record under its name in `section`, and a line of the list `lines`,
 * which is the table for people and the CSV. A TPOT takes two tokens: without any, `count` is 0. */
static void add_time(const char *name, const char *class, const struct sketch *sketch,
                     struct section *section, struct section *lines)
{
    static const struct { const char *name; double share; } quantiles[] = {
        { "p50", 0.5 }, { "p90", 0.9 }, { "p95", 0.95 }, { "p99", 0.99 } };
    struct section *line = section_add(lines, NULL, SECTION_RECORD);
    struct section *both[] = { section_add(section, name, SECTION_RECORD), line };
    section_word(line, "class", class);
    section_word(line, "time", name);
    for (size_t k = 0; k < 2; k++) {
        section_number(both[k], "mean", sketch_mean(sketch), unit_second);
        for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
            section_number(both[k], quantiles[i].name, sketch_quantile(sketch, quantiles[i].share),
                           unit_second);
        section_number(both[k], "max", sketch->most, unit_second);
    }
    section_number(line, "count", (double)sketch->count, unit_one)->text_only = true;
}

/* TTFT, TPOT and E2E of all requests, the time between tokens of all, then those of each class. */
static void add_times(const struct simulated *outcome, struct section *section)
{
    const struct trace *trace = &outcome->trace;
    struct section *lines = section_add(section, "times", SECTION_LIST);
    lines->text_only = true;
    for (int i = 0; i < SIMULATE_TIMES; i++)
        add_time(time_names[i], "", &outcome->all.times[i], section, lines);
    add_time("itl", "", outcome->result.gaps, section, lines);
    if (!trace->priority_classes)
        return;
    struct section *classes = section_add(section, "classes", SECTION_KEYED);
    for (size_t i = 0; i < trace->priority_classes; i++) {
        struct section *one = section_add(classes, trace->class_names[i], SECTION_RECORD);
        for (int k = 0; k < SIMULATE_TIMES; k++)
            add_time(time_names[k], trace->class_names[i], &outcome->priority_classes[i].times[k], one,
                     lines);
    }
}

/* ---- caches and tiers ----------------------------------------------------------------------- */

static void add_caches(const struct simulate *simulate, const struct simulated *outcome,
                       struct section *section)
{
    const struct sim_result *result = &outcome->result;
    const struct sim_options *sim = &outcome->options;
    const double block_bytes = sim->token_bytes * (double)sim->server.block;
    const double tokens = trace_sums_of(&outcome->trace).prompts;
    if (result->cached_tokens || result->fetched_tokens) {
        section_number(section, "cached_share", (double)result->cached_tokens / tokens, unit_one);
        section_number(section, "fetched_share", (double)result->fetched_tokens / tokens, unit_one);
    }
    if (sim->split.replicas) {
        section_quantity(section, "moved_bytes", result->moved_bytes, "B");
        section_number(section, "move_time", result->moving / (double)outcome->all.requests, unit_second);
    }
    if (!sim->tiers)
        return;
    struct section *tiers = section_add(section, "tiers", SECTION_KEYED);
    for (size_t i = 0; i < sim->tiers; i++) {
        const struct tier_use *use = &result->tier[i];
        struct section *one = section_add(tiers, simulate->tier_names[i], SECTION_RECORD);
        section_word(one, "tier", simulate->tier_names[i])->text_only = true;
        section_number(one, "hit_share", (double)use->fetched * (double)sim->server.block / tokens,
                       unit_one);
        section_quantity(one, "read_bytes", use->read_bytes, "B");
        section_quantity(one, "written_bytes", use->written_bytes, "B");
        section_quantity(one, "most_held_bytes", (double)use->used_most * block_bytes, "B");
        section_number(one, "busy", use->busy, unit_second);
        section_number(one, "wear", use->wear, unit_one);
        /* Time and writes end the same drive: the dearer of the two is what it costs. */
        section_quantity(one, "cost", fmax(use->hold_cost, use->write_cost), "USD");
        section_number(one, "expired", (double)use->expired, unit_one);
    }
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
        { NAME_replicas, (double)(pool ? outcome->options.split.replicas : outcome->options.replicas) },
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

/* Rental and energy of the whole run; a pool for prompts is paid for beside the servers that decode. */
static bool add_cost(struct simulate *simulate, const struct simulated *outcome, struct section *section,
                     struct error *error)
{
    static const char *const rows[] = { NAME_run_rent, NAME_run_cost_per_token,
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
    if (!run_rows(&simulate->scenario, outcome, 0, rows, 3, &values, error))
        return false;
    section_quantity(section, "rent", values.at[0], "USD");
    section_quantity(section, "rent_per_token", values.at[1], "USD/token");
    section_quantity(section, "joules_per_token", values.at[2], "J/token");
    return true;
}

/* For each priority class the share of its requests that met the limits, and, where classes share
 * replicas, its cost per token: the classes divide each step by their sequences. */
static bool add_classes(struct simulate *simulate, const struct simulated *outcome, struct section *section,
                        struct error *error)
{
    const struct trace *trace = &outcome->trace;
    const struct sim_result *result = &outcome->result;
    struct facts *facts = &simulate->scenario.facts;
    const bool limits = simulate_has_limits(simulate);
    const bool priced = simulate->predicted && outcome->all.outputs && result->class_seconds[0] > 0;
    struct section *prices = priced ? section_add(section, "class_rent_per_token", SECTION_RECORD) : NULL;
    struct section *lines = section_add(section, "class_lines", SECTION_LIST);
    lines->text_only = true;
    for (size_t i = 0; i < trace->priority_classes && (limits || priced); i++) {
        const struct class_score *score = &outcome->priority_classes[i];
        struct section *line = section_add(lines, NULL, SECTION_RECORD);
        double price;
        section_word(line, "class", trace->class_names[i]);
        section_number(line, "class_met", limits && score->requests
                       ? (double)score->met / (double)score->requests : NAN, unit_one);
        if (!priced || !score->outputs)
            continue;
        facts_set(facts, NAME_class_share, result->class_seconds[i] / result->busy, ORIGIN_DERIVED,
                  "simulated");
        facts_set(facts, NAME_class_outputs, (double)score->outputs, ORIGIN_DERIVED, "simulated");
        if (!value_of(&simulate->scenario, NAME_class_cost_per_token, &price, error))
            return false;
        section_number(prices, trace->class_names[i], price, unit_one);
        section_quantity(line, "class_rent", price, "USD/token");
    }
    return true;
}

/* ---- settings ------------------------------------------------------------------------------- */

/* What servers of one pool have: `count` of them. */
static void add_servers(const struct sim_server *server, size_t count, struct section *section)
{
    const struct { const char *name; size_t value; } sizes[] = {
        { "servers", count }, { "blocks", server->blocks }, { "max_seqs", server->max_num_seqs },
        { "chunk", server->chunk }, { "ranks", server->ranks ? server->ranks : 1 },
        { "stages", server->stages ? server->stages : 1 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        section_number(section, sizes[i].name, (double)sizes[i].value, unit_one);
}

/* `engine`: whose step times are predicted; NULL: a formula gives them. */
static void add_settings(const struct simulated *outcome, const char *engine, struct section *section)
{
    const struct sim_options *sim = &outcome->options;
    const struct sim_server *server = &sim->server;
    const struct sim_result *result = &outcome->result;
    const size_t step_tokens = server->scheduler->can & SCHEDULER_CHUNK ? server->chunk
                                                                        : server->batch_tokens_most;
    struct section *settings = section_add(section, "settings", SECTION_RECORD);
    section_word(settings, "scheduler", server->scheduler->name);
    section_word(settings, "rules", server->scheduler->name);           /* a key that programs read */
    if (engine)
        section_word(settings, "engine", engine);
    section_word(settings, "router", router_names[sim->router]);
    if (sim->refresh > 0)
        section_number(settings, "refresh", sim->refresh, unit_second);
    add_servers(server, sim->replicas, settings);
    section_number(settings, "block", (double)server->block, unit_one);
    section_number(settings, "ahead", !server->synchronous, unit_one);
    section_number(settings, "cadence", sim_setting(server, "cadence"), unit_second)->text_only = true;
    if (sim_setting(server, "even-stages") > 0)
        section_number(settings, "even", 1, unit_one)->text_only = true;
    section_number(settings, "budget", (double)step_tokens, unit_one)->text_only = true;
    if (!sim->split.replicas)
        return;
    struct section *prompts = section_add(settings, "prompts", SECTION_RECORD);
    add_servers(&sim->split.server, sim->split.replicas, prompts);
    section_number(prompts, "busy", result->pool_busy[1] / result->pool_there[1], unit_one);
    section_number(settings, "decodes_busy", result->pool_busy[0] / result->pool_there[0], unit_one);
}

bool simulate_answer(struct simulate *simulate, const struct simulated *outcome, struct section *section,
                     struct error *error)
{
    add_counts(simulate, outcome, section);
    add_caches(simulate, outcome, section);
    add_times(outcome, section);
    const char *engine = simulate->scenario.subject.engine;
    add_settings(outcome, !simulate->predicted || command_given(simulate->command, "step-time") ? NULL : engine ? engine : "any",
                 section);
    return add_cost(simulate, outcome, section, error) &&
           add_classes(simulate, outcome, section, error);
}
