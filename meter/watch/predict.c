/* What follows for the load that was read: times, the rate at which the server saturates, what its flags would
 * change, the replicas that its arrivals want. The prediction is that of every verb, calibrated by the intervals
 * seen so far (fit.h). */
#include "meter/watch/parts.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "infer/posterior.h"

#include <math.h>
#include <string.h>

/* The rows that what is open is chosen for. */
static const char *const predicted[] = { NAME_own_rate_most, NAME_predicted_ttft, NAME_predicted_tpot,
                                         NAME_saturated_throughput };

/* ---- what the labels say ------------------------------------------------------------------------- */

/* "meta-llama/Llama-3.1-8B-Instruct" is Llama-3.1-8B: trained further, of the same sizes. NULL: not in the catalog. */
static const struct catalog_entry *entry_of(struct arena *arena, const char *model)
{
    const char *precision;
    return *model ? catalog_model_called(arena, catalog_built_in(), model, &precision, NULL) : NULL;
}

bool watch_same_model(struct arena *arena, const char *a, const char *b)
{
    const struct catalog_entry *one = entry_of(arena, a), *other = entry_of(arena, b);
    return !strcmp(a, b) || (one && other && !strcmp(one->name, other->name));
}

/* The label names a known model, and --model another one. */
static bool other_model(const struct watch *watch, const char *said)
{
    return entry_of(watch->arena, watch->load.model) && entry_of(watch->arena, said) &&
           !watch_same_model(watch->arena, watch->load.model, said);
}

static void find_subject(struct watch *watch, struct subject *subject)
{
    *subject = command_subject(watch->command);
    watch->model = subject->model;
    watch->model_from = "--model";
    if (!subject->model) {
        subject->model = watch->model = entry_of(watch->arena, watch->load.model) ? watch->load.model : NULL;
        watch->model_from = "the label model_name";
    } else {
        watch->other_model = other_model(watch, subject->model);
    }
    if (!subject->engine)
        subject->engine = watch->load.engine->predicted;
}

static void set_row(struct facts *facts, const char *row, double value)
{
    if (isfinite(value) && !fact_given(facts_find(facts, row)))
        facts_set(facts, row, value, ORIGIN_AXIS, "/metrics");
}

/* Lengths, hits, arrivals and settings of one replica, where the command does not say otherwise. */
static void set_load(const struct watch *watch, struct facts *facts)
{
    const struct load *load = &watch->load;
    const struct seen_quantity *seen = load->seen;
    const double now = seen[LOAD_ARRIVAL_RATE].value > 0 ? seen[LOAD_ARRIVAL_RATE].value : watch->now.rate.value;
    const double rate = now / load->replicas;
    set_row(facts, NAME_prompt_tokens, fmax(1, watch->prompt));
    set_row(facts, NAME_output_tokens, fmax(1, watch->output));
    set_row(facts, NAME_prefix_hit_share, seen[LOAD_HIT_SHARE].value);
    set_row(facts, NAME_acceptance_rate, seen[LOAD_ACCEPTANCE].value);
    set_row(facts, NAME_arrival_rate, rate > 0 ? rate : NAN);
    set_row(facts, NAME_gpu_memory_utilization, load->memory_share);
    set_row(facts, NAME_kv_block_tokens, load->block_tokens);
    set_row(facts, NAME_kv_blocks_reported, load->blocks);
    set_row(facts, NAME_tensor_parallel, load->tensor_parallel);
}

/* ---- engines ------------------------------------------------------------------------------------- */

/* The engines of a page belong to one server, and the layout that a command states is the whole server's. Engines that run
 * alone are predicted one by one, each on its part of the GPUs. Engines that share the experts of a model are attention
 * ranks of one prediction, like the ranks of SGLang's data-parallel attention. */

static double stated_value(const struct scenario *scenario, const char *row)
{
    const struct fact *fact = facts_find(&scenario->facts, row);
    return fact_given(fact) ? fact->value : NAN;
}

static void read_stated(struct watch *watch, struct stated_layout *stated)
{
    struct scenario scenario;
    struct subject subject;
    struct error ignored;
    *stated = (struct stated_layout){ .chips = NAN, .tensor = NAN, .stages = NAN, .ranks = NAN };
    find_subject(watch, &subject);
    if (!subject.model || !subject.machine || !scenario_read(&scenario, watch->arena, watch->command, subject, &ignored))
        return;
    stated->read = true;
    stated->chips = stated_value(&scenario, NAME_chips);
    stated->tensor = stated_value(&scenario, NAME_tensor_parallel);
    stated->stages = stated_value(&scenario, NAME_pipeline_parallel);
    stated->ranks = stated_value(&scenario, NAME_attention_dp);
    stated->experts = value_or_nan(&scenario, NAME_moe_layers) > 0;
}

/* Can the stated GPUs be divided among the engines of a server? If not, they are the GPUs of each engine. */
static bool is_divided(const struct stated_layout *stated, double engines)
{
    const double least = (stated->tensor > 1 ? stated->tensor : 1) * (stated->stages > 1 ? stated->stages : 1);
    return isnan(stated->chips) || (stated->chips >= engines * least && fmod(stated->chips, engines) == 0);
}

void watch_place(struct watch *watch)
{
    struct load *load = &watch->load;
    struct stated_layout *stated = &watch->history->stated;
    const double engines = ceil((double)load->engines / (double)load->servers);
    watch->engine_chips = watch->ranks = NAN;
    watch->of_server = 1;
    if (!load->numbered)
        return;
    if (!stated->read)
        read_stated(watch, stated);
    const double ranks = stated->ranks >= 1 ? stated->ranks : is_divided(stated, engines) ? engines : 1;
    const bool vllm = !strcmp(load->engine->predicted, "vllm");
    watch->of_server = fmax(engines, ranks);
    if (ranks > 1 && (load->sharing || (vllm && stated->experts))) {
        load->replicas /= ranks;
        watch->of_server /= ranks;
        watch->ranks = ranks;
    } else if (ranks > 1) {
        watch->engine_chips = stated->chips / ranks;
        watch->ranks = 1;
    }
}

/* Replace the server's layout by that of one prediction. */
static bool set_engine(struct watch *watch, struct error *error)
{
    struct facts *facts = &watch->scenario.facts;
    const double chips = watch->engine_chips;
    if (isfinite(chips) && chips != floor(chips)) {
        error_set(error, "--gpus: %.0f GPUs cannot be divided among the %.0f engines of the server", watch->history->stated.chips,
                  watch->history->stated.chips / chips);
        return error_expected(error, "--gpus of the whole server: a multiple of --dp");
    }
    if (isfinite(chips))
        facts_set(facts, NAME_chips, chips, ORIGIN_GIVEN, "of one engine");
    if (isfinite(watch->ranks))
        facts_set(facts, NAME_attention_dp, watch->ranks, ORIGIN_GIVEN, "of the server's engines");
    return true;
}

static const char *counted(struct arena *arena, double count, const char *noun)
{
    return arena_print(arena, "%.0f %s%s", count, noun, count == 1 ? "" : "s");
}

static void say_applied(struct watch *watch)
{
    struct arena *arena = watch->arena;
    const struct load *load = &watch->load;
    const struct stated_layout *stated = &watch->history->stated;
    const double engines = ceil((double)load->engines / (double)load->servers), of = watch->of_server;
    const double chips = value_or_nan(&watch->scenario, NAME_chips);
    const double ranks = value_or_nan(&watch->scenario, NAME_attention_dp);
    const char *gpus = counted(arena, chips, "GPU"), *each = load->servers > 1 ? "each server" : "the server";
    struct buffer out = { .arena = arena };
    if (load->servers == 1 && engines * of * ranks == 1)
        return;
    if (watch->ranks > 1)
        buffer_print(&out, "the %.0f engines of %s share %s: they are predicted together", ranks, each, gpus);
    else if (of > 1)
        buffer_print(&out, "each of the %.0f engines of %s has %s and is predicted alone: %s in all", of, each, gpus,
                     counted(arena, of * chips, "GPU"));
    else
        buffer_print(&out, "%s has %s", each, gpus);
    if (of > 1 && !(watch->ranks > 0) && isfinite(stated->chips))
        buffer_print(&out, "; the layout is taken to be that of one engine, since %s cannot be divided among %.0f%s",
                     counted(arena, stated->chips, "GPU"), of, stated->tensor > 1 ? " of that TP" : "");
    if (stated->ranks > engines)
        buffer_print(&out, "; the page has %.0f of the %.0f engines, and all figures but replicas are of %s",
                     engines, stated->ranks, engines == 1 ? "that one" : "those");
    if (stated->ranks >= 1 && stated->ranks < engines)
        buffer_print(&out, "; --dp says %.0f, the page numbers %.0f engines of %s", stated->ranks, engines, each);
    watch->applied = out.data;
}

/* ---- the prediction ------------------------------------------------------------------------------ */

/* Those that are stated; else of the intervals so far; of one scrape alone those since the server started. */
static void find_lengths(struct watch *watch)
{
    history_lengths(watch->history, &watch->prompt, &watch->output);
    if (isnan(watch->prompt) || isnan(watch->output)) {
        watch->prompt = watch->load.seen[LOAD_PROMPT].value;
        watch->output = watch->load.seen[LOAD_OUTPUT].value;
    }
    if (command_given(watch->command, "isl"))
        watch->prompt = command_number(watch->command, "isl");
    if (command_given(watch->command, "osl"))
        watch->output = command_number(watch->command, "osl");
}

static bool can_predict(struct watch *watch, const struct subject *subject)
{
    if (watch->mixed)
        watch->not_predicted = arena_print(watch->arena, "the page has several models (%s): --model takes one of them",
                                           watch->mixed);
    else if (!subject->model)
        watch->not_predicted = subject->machine ? "--model is needed: no metric names one of the catalog"
                                                : "--model and --on are needed: metrics tell neither";
    else if (!subject->machine)
        watch->not_predicted = "--on is needed: metrics do not tell the machine";
    else if (!isfinite(watch->prompt) || !isfinite(watch->output))
        watch->not_predicted = "the lengths of requests are not known: --isl and --osl";
    return !watch->not_predicted;
}

/* Again only when points have come, or changed by a quarter: most intervals say what the last one said. */
static bool calibrate(struct watch *watch, struct error *error)
{
    const double enough = 0.25;
    struct history *history = watch->history;
    struct watch_fitted *fitted = &history->fitted;
    if (history->fit.changed >= enough) {
        fit_make(watch->arena, &history->fit, &watch->scenario, watch->command, watch->source, fitted);
        fitted->text.data = arena_copy(&history->arena, fitted->text.data ? fitted->text.data : "", fitted->text.size);
        if (fitted->refused)
            fitted->refused = arena_copy(&history->arena, fitted->refused, strlen(fitted->refused));
        if (fitted->left_out_why)
            fitted->left_out_why = arena_copy(&history->arena, fitted->left_out_why, strlen(fitted->left_out_why));
        history->fit.changed = 0;
    }
    return fit_use(&watch->scenario, watch->source, fitted, error);
}

static void assume(struct watch *watch, const char *row, double value)
{
    struct facts *facts = &watch->scenario.facts;
    if (fact_given(facts_find(facts, row)) || !isfinite(value))
        return;
    facts_set(facts, row, value, ORIGIN_GIVEN, "what engines take unless told");
    watch->assumed[watch->assumed_count++] = row;
}

/* A server that runs has some prefill chunk, and no metric says which: it is that of a measurement which states none
 * (score/predictor.h), not the best one for its load. It has as many slots as its engine takes unless told. */
static void assume_settings(struct watch *watch)
{
    const char *engine = watch->load.engine->predicted;
    watch->assumed_count = 0;
    assume(watch, NAME_chunked_prefill_size, value_or_nan(&watch->scenario, NAME_chunked_prefill_size));
    assume(watch, NAME_max_num_seqs, engine ? watch_default_slots(engine) : NAN);
}

static const char *const layout_rows[LAYOUT_ROWS] = { NAME_chips, NAME_tensor_parallel, NAME_attention_dp,
                                                      NAME_pipeline_parallel, NAME_expert_parallel,
                                                      NAME_chunked_prefill_size };

static void set_layout(struct watch *watch)
{
    struct facts *facts = &watch->scenario.facts;
    const double *layout = watch->history->layout;
    for (int i = 0; i < LAYOUT_ROWS; i++)
        if (isfinite(layout[i]) && !fact_given(facts_find(facts, layout_rows[i])))
            facts_set(facts, layout_rows[i], layout[i], ORIGIN_GIVEN, "chosen for the first reading");
}

/* A server has one layout: what was chosen for the first reading stays, a setting like those that are given. */
static bool choose_layout(struct watch *watch, struct error *error)
{
    struct history *history = watch->history;
    assume_settings(watch);
    if (history->laid_out)
        set_layout(watch);
    if (!scenario_assume(&watch->scenario, error) ||
        !scenario_choose(&watch->scenario, predicted, sizeof predicted / sizeof *predicted, error))
        return false;
    for (int i = 0; i < LAYOUT_ROWS && !history->laid_out; i++)
        history->layout[i] = value_or_nan(&watch->scenario, layout_rows[i]);
    history->laid_out = true;
    set_layout(watch);
    return true;
}

/* The highest arrival rate of a server that keeps its limits, by halving. */
static void find_replica_rate(struct watch *watch)
{
    enum { ROUNDS = 15 };
    static const char *const rows[] = { NAME_own_keeps_limits, NAME_own_rate_least, NAME_own_rate_most };
    struct scenario trial = watch->scenario;
    struct values values;
    struct error ignored;
    double at[3];
    watch->replica_rate = NAN;
    watch->ttft_limit = value_or_nan(&watch->scenario, NAME_ttft_limit);
    watch->tpot_limit = value_or_nan(&watch->scenario, NAME_tpot_limit);
    trial.facts = facts_copy(&watch->scenario.facts);
    facts_set(&trial.facts, NAME_arrival_rate, 1, ORIGIN_AXIS, "/metrics");
    if (!values_known(&trial, rows, 3, &values, &ignored))
        return;
    const int input = graph_input(&values.graph, NAME_arrival_rate);
    double low = 2 * values.at[1], high = values.at[2];
    if (input < 0 || !(low > 0) || !(low < high))
        return;
    for (int round = 0; round < ROUNDS; round++) {
        const double rate = round ? sqrt(low * high) : low;
        struct arena scratch = arena_beside(watch->arena);
        values.inputs[input] = rate;
        graph_value(&scratch, &values.graph, values.inputs, NULL, at);
        arena_free(&scratch);
        const bool keeps = at[0] > 0;
        if (!round && !keeps)
            return;
        if (keeps)
            low = rate;
        else
            high = rate;
    }
    watch->replica_rate = low * watch->of_server;
}

/* ---- arrivals and replicas ----------------------------------------------------------------------- */

static double replicas_for(struct watch *watch, double rate)
{
    struct scenario trial = watch->scenario;
    double wanted;
    struct error ignored;
    if (!(watch->replica_rate > 0) || !isfinite(rate))
        return NAN;
    trial.facts = facts_copy(&watch->scenario.facts);
    facts_set(&trial.facts, NAME_own_request_rate, watch->replica_rate, ORIGIN_AXIS, "/metrics");
    facts_set(&trial.facts, NAME_request_demand, fmax(rate, 1e-6), ORIGIN_AXIS, "/metrics");
    return value_of(&trial, NAME_replicas_wanted, &wanted, &ignored) ? wanted : NAN;
}

static void want_replicas(struct watch *watch, struct expected *expected)
{
    const struct interval_of *rate = &expected->rate;
    expected->replicas = (struct interval_of){ replicas_for(watch, rate->value), replicas_for(watch, rate->low),
                                               replicas_for(watch, rate->high) };
}

/* The trend of the arrivals of the last `window` seconds, read `ahead` seconds from now. */
static struct interval_of trend(struct watch *watch, double window, double ahead, size_t *intervals)
{
    static const char *const rows[] = { NAME_trend_rate, NAME_trend_low, NAME_trend_high };
    static const double end = 0.9;
    struct scenario *scenario = arena_alloc(watch->arena, sizeof *scenario);
    struct interval_of rate = { NAN, NAN, NAN };
    struct values values;
    struct error ignored;
    *scenario = (struct scenario){ .arena = watch->arena, .command = watch->command, .facts.arena = watch->arena };
    formulas_copy(&scenario->formulas, watch->arena, formulas_built_in(0));
    scenario->formats = *formats_built_in();
    *intervals = history_facts(watch->history, watch->at, window, &scenario->facts);
    facts_set(&scenario->facts, NAME_trend_ahead, ahead, ORIGIN_AXIS, "watch");
    if (*intervals > 2)
        facts_set(&scenario->facts, NAME_trend_width, student_quantile(end, (double)*intervals - 2), ORIGIN_AXIS,
                  "watch");
    if (*intervals > 2 && values_known(scenario, rows, 3, &values, &ignored))
        rate = (struct interval_of){ values.at[0], values.at[1], values.at[2] };
    return rate;
}

/* An hour ahead is no more than some times as far as what was seen. */
static void look_ahead(struct watch *watch)
{
    const double hour = 3600, far = 4;
    const struct history *history = watch->history;
    size_t intervals = 0;
    watch->ahead.rate = (struct interval_of){ NAN, NAN, NAN };
    const double seen = history->rate_count ? watch->at - history->rates[0].from : 0;
    if (!(seen * far >= hour)) {
        watch->ahead.unknown = "a trend over an hour needs a quarter of an hour of intervals";
        return;
    }
    watch->ahead.rate = trend(watch, history->window, hour, &intervals);
    if (!isfinite(watch->ahead.rate.value))
        watch->ahead.unknown = "a trend needs three intervals";
}

/* Now is the last minute, or the trend of the last minutes where a new replica needs some to start. */
static void look_now(struct watch *watch)
{
    const double start_up = command_number(watch->command, "start-up");
    const double now = history_rate(watch->history);
    size_t intervals = 0;
    watch->now.rate = (struct interval_of){ now, NAN, NAN };
    if (isnan(now)) {
        watch->now.rate.value = watch->load.seen[LOAD_ARRIVAL_RATE].value;
        watch->now.unknown = isnan(watch->now.rate.value) ? watch->load.seen[LOAD_ARRIVAL_RATE].source : NULL;
    } else if (start_up > 0) {
        const struct interval_of then = trend(watch, fmax(600, 4 * start_up), start_up, &intervals);
        if (then.value > now)
            watch->now.rate = then;
    }
}

bool watch_predict(struct watch *watch, struct error *error)
{
    struct subject subject;
    struct outlook outlook;
    struct interval_of figures[OUTLOOK_COUNT];
    const struct interval_of none = { NAN, NAN, NAN };
    watch->saturation = watch->throughput = watch->tpot = watch->ttft = watch->now.replicas = watch->ahead.replicas = none;
    find_subject(watch, &subject);
    find_lengths(watch);
    look_now(watch);
    look_ahead(watch);
    watch->replica_rate = NAN;
    if (!can_predict(watch, &subject))
        return true;
    if (!scenario_read(&watch->scenario, watch->arena, watch->command, subject, error))
        return false;
    set_load(watch, &watch->scenario.facts);
    if (!set_engine(watch, error) || !choose_layout(watch, error) || !calibrate(watch, error) ||
        !outlook_open(&watch->scenario, &outlook, error))
        return false;
    const char *misfit = scenario_misfit(&watch->scenario);
    if (misfit) {
        watch->not_predicted = arena_print(watch->arena, "%s does not fit in %s (%s): do --model, --on and --gpus name this server?",
                                           subject.model, subject.machine, misfit);
        return true;
    }
    outlook_read(&outlook, NULL, 0, figures);
    watch->predicted = isfinite(figures[OUTLOOK_RATE].value) && figures[OUTLOOK_RATE].value > 0;
    watch->not_predicted = watch->predicted ? NULL : "the prediction has no value for this load";
    if (!watch->predicted)
        return true;
    watch->saturation = interval_scaled(figures[OUTLOOK_RATE], watch->load.replicas);
    watch->throughput = interval_scaled(figures[OUTLOOK_THROUGHPUT], watch->load.replicas);
    say_applied(watch);
    watch->tpot = figures[OUTLOOK_TPOT];
    watch->ttft = figures[OUTLOOK_TTFT];
    find_replica_rate(watch);
    if (!watch->brief)
        watch_flags(watch, &outlook);
    want_replicas(watch, &watch->now);
    want_replicas(watch, &watch->ahead);
    return true;
}
