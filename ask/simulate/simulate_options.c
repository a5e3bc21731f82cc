/* Reads the options of `simulate` into what is to be run: schedulers, replicas, the load and the
 * environment.
 *
 * Options are refused where they have no effect with the chosen scheduler (`can` in schedulers.def
 * says what it reads). The step time comes from --step-time, or from the prediction for a model on a
 * machine; in the second case a layout that the command leaves open is chosen as `step` chooses
 * it, for requests of the trace's mean lengths, so that simulation and prediction describe the
 * same deployment. Quantities that the trace or the scheduler determines cannot be set as rows
 * too, since the run would not follow them. */
#include "deploy/server.h"
#include "build/row_names.h"
#include "ask/simulate/simulate.h"
#include "scenario/calibrated.h"
#include "scenario/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char usual_scheduler[] = "vllm-v1";

/* An engine names the rules of its steps too; "any" has the rules of vLLM. */
static const struct scheduler *rules_of_engine(struct arena *arena, const char *engine)
{
    struct catalog catalog;
    if (!engine)
        return scheduler_named(usual_scheduler);
    catalog_open(&catalog, arena);
    const struct scheduler *own = scheduler_of_engine(catalog_engine_base(&catalog, engine));
    return own ? own : scheduler_named(usual_scheduler);
}

/* Has the command named the rules themselves? */
static bool rules_named(const struct command *command)
{
    const char *name = command_text(command, "scheduler");
    return name && strcmp(name, "disaggregated") != 0;
}

/* The schedulers, and "disaggregated": the engine's with a pool for prompts. */
static bool read_scheduler(struct simulate *simulate, struct error *error)
{
    static const char split[] = "disaggregated";
    const char *name = command_text(simulate->command, "scheduler");
    const int router = command_choice(simulate->command, "router");
    const bool disaggregated = name && !strcmp(name, split);
    const struct scheduler *scheduler =
        rules_named(simulate->command) ? scheduler_named(name)
                                       : rules_of_engine(simulate->arena, command_text(simulate->command, "engine"));
    if (!scheduler) {
        struct buffer all = { .arena = simulate->arena };
        for (size_t i = 0; i < scheduler_count; i++)
            buffer_print(&all, "%s, ", schedulers[i]->name);
        error_set(error, "--scheduler: unknown scheduler '%.60s'", name);
        return error_expected(error, "one of: %s%s", all.data, split);
    }
    simulate->options.split.replicas = disaggregated;
    simulate->options.server.scheduler = scheduler;
    simulate->options.router = router < 0 ? scheduler->router : (enum router)router;
    return true;
}

/* Refuse an option that the chosen scheduler does not read: a setting of another scheduler, or a feature that
 * it lacks. `without` is the value that does not ask for the feature, which every scheduler takes; NAN: there is none. */
static bool options_fit_scheduler(const struct command *command, const struct sim_server *server, struct error *error)
{
    static const struct { const char *option; unsigned needs; double without; } only[] = {
        { "dp", SCHEDULER_RANKS, 1 },             { "draft", SCHEDULER_DRAFTS, 0 },
        { "acceptance", SCHEDULER_DRAFTS, NAN },  { "watermark", SCHEDULER_WATERMARK, NAN },
        { "chunked-prefill-size", SCHEDULER_CHUNK, NAN }, { "no-async-scheduling", SCHEDULER_AHEAD, NAN },
        { "max-batched-tokens", SCHEDULER_CHUNK | SCHEDULER_BATCH_TOKENS, NAN },
        { "prefill-replicas", SCHEDULER_POOLS, NAN }, { "model", SCHEDULER_STEP_TIME, NAN },
    };
    const struct scheduler *scheduler = server->scheduler;
    const char *wrong = NULL;
    for (size_t i = 0; i < scheduler_count; i++)
        for (const struct scheduler_setting *setting = schedulers[i]->setting; setting->name && !wrong;
             setting++)
            if (command_given(command, setting->name) && isnan(sim_setting(server, setting->name)))
                wrong = setting->name;
    for (size_t i = 0; i < sizeof only / sizeof *only; i++)
        if (command_given(command, only[i].option) && !(scheduler->can & only[i].needs) &&
            !(isfinite(only[i].without) && (double)command_count(command, only[i].option) == only[i].without))
            wrong = only[i].option;
    if (command_choice(command, "router") == ROUTER_PREFIX && !scheduler->cached)
        wrong = "router prefix";
    if (command_given(command, "tier") && !scheduler->fetched)
        wrong = "tier";
    if (command_given(command, "priority-class") && !(scheduler->can & SCHEDULER_CLASSES))
        wrong = "priority-class";
    if (!wrong)
        return true;
    error_set(error, "--%s has no effect with scheduler %s", wrong, scheduler->name);
    return error_suggest(error, "`chalkline help simulate` names the scheduler of each option");
}

/* ---- servers -------------------------------------------------------------------------------- */

/* Standard deviation over the mean. */
static double variation(double count, double sum, double squares)
{
    const double mean = sum / count;
    return mean > 0 ? sqrt(fmax(0, squares / count - mean * mean)) / mean : 0;
}

/* Facts by which a server is chosen: lengths of the trace, how many requests there are, limits. */
static void tell_load(const struct simulate *simulate, struct facts *facts, bool whole)
{
    const struct trace *trace = &simulate->trace;
    const struct command *command = simulate->command;
    const struct trace_sums sums = trace_sums_of(trace);
    const double count = (double)trace->count, span = sums.last;
    const double rate = command_given(command, "rate") ? command_number(command, "rate")
                        : span > 0 ? count / span * simulate->scale : 1;
    const double replicas = (double)command_count(command, "replicas");
    facts_set(facts, NAME_prompt_tokens, fmax(sums.prompts / count, 1), ORIGIN_AXIS, "the trace");
    facts_set(facts, NAME_output_tokens, fmax(sums.outputs / count, 1), ORIGIN_AXIS, "the trace");
    facts_set(facts, NAME_prompt_tokens_cv, variation(count, sums.prompts, sums.prompt_squares), ORIGIN_AXIS,
              "the trace");
    facts_set(facts, NAME_output_tokens_cv, variation(count, sums.outputs, sums.output_squares), ORIGIN_AXIS,
              "the trace");
    facts_set(facts, NAME_arrivals_cv2, trace->arrivals_cv2, ORIGIN_AXIS, "the trace");
    if (command_given(command, "ttft"))
        facts_set(facts, NAME_ttft_limit, command_number(command, "ttft"), ORIGIN_AXIS, "--ttft");
    if (command_given(command, "tpot"))
        facts_set(facts, NAME_tpot_limit, command_number(command, "tpot"), ORIGIN_AXIS, "--tpot");
    if (command_given(command, "users")) {
        const double users = command_number(command, "users");
        facts_set(facts, whole ? NAME_users : NAME_concurrency, whole ? users : users / replicas,
                  ORIGIN_AXIS, "--users");
    } else if (command_given(command, "concurrency"))
        facts_set(facts, NAME_concurrency, command_number(command, "concurrency"), ORIGIN_AXIS, "--concurrency");
    else if (whole)
        facts_set(facts, NAME_request_demand, rate, ORIGIN_AXIS, "the trace");
    else
        facts_set(facts, NAME_arrival_rate, rate / replicas, ORIGIN_AXIS, "the trace");
}

/* What nobody gave of the servers, as `step` chooses it for requests of the trace's mean lengths: the
 * layout, and with the chips as many servers as its requests need. */
static bool choose_server(struct simulate *simulate, struct scenario *scenario,
                          const struct scheduler *scheduler, struct error *error)
{
    static const char *const chosen[] = { NAME_chips, NAME_attention_dp, NAME_pipeline_parallel,
                                          NAME_expert_parallel, NAME_chunked_prefill_size, NAME_replicas };
    static const char *const asked[] = { NAME_predicted_tpot };
    struct facts *facts = &scenario->facts;
    struct scenario trial = *scenario;
    const bool free_replicas = !command_given(simulate->command, "replicas");
    const bool whole = free_replicas && (command_given(simulate->command, "min-gpus") ||
                                         command_given(simulate->command, "rate") ||
                                         command_given(simulate->command, "users") ||
                                         (!facts_find(facts, NAME_chips) &&
                                          !facts_find(facts, NAME_tensor_parallel)));
    calibrated_layout(scenario);
    trial.facts = facts_copy(facts);
    facts_remove(&trial.facts, NAME_batch);
    facts_remove(&trial.facts, NAME_context);
    tell_load(simulate, &trial.facts, whole);
    if (rules_named(simulate->command) && !(scheduler->can & SCHEDULER_RANKS))
        facts_set(&trial.facts, NAME_attention_dp, 1, ORIGIN_AXIS, scheduler->name);
    if (rules_named(simulate->command) && !(scheduler->can & SCHEDULER_STAGES))
        facts_set(&trial.facts, NAME_pipeline_parallel, 1, ORIGIN_AXIS, scheduler->name);
    const size_t notes = trial.facts.note_count;
    if (!scenario_choose(&trial, asked, 1, error))
        return false;
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        const struct fact *fact = facts_find(&trial.facts, chosen[i]);
        if (fact && fact->origin == ORIGIN_CHOSEN)
            facts_set(facts, chosen[i], fact->value, ORIGIN_CHOSEN, fact->source);
    }
    for (size_t i = notes; i < trial.facts.note_count; i++)
        facts_note(facts, "%s", trial.facts.notes[i]);
    return true;
}

/* A block holds what its tokens keep on average in requests of the trace's mean lengths. That is less than each token
 * wrote where layers have windows, and more where they have states. A number of blocks that was given stays. */
static bool count_windows(const struct simulate *simulate, const struct scenario *scenario, struct sim_server *server,
                          double *token_bytes, struct error *error)
{
    const double rounding = 1e-9;
    struct scenario trial = *scenario;
    double share;
    trial.facts = facts_copy(&scenario->facts);
    tell_load(simulate, &trial.facts, false);
    if (!value_of(&trial, NAME_kv_stored_share, &share, error))
        return false;
    if (!(share > 0 && share < INFINITY) || fabs(share - 1) < rounding)
        return true;
    *token_bytes *= share;
    if (!command_given(simulate->command, "blocks"))
        server->blocks = (size_t)fmax(floor((double)server->blocks / share), 1);
    return true;
}

/* The rules of vLLM in place of the engine's, with the engine's times, where the latter know no ranks, stages or
 * drafts that the layout has. */
static void usual_rules(struct sim_server *server)
{
    server->scheduler = scheduler_named(usual_scheduler);
    memset(server->own, 0, sizeof server->own);
}

static bool follow_layout(struct scenario *scenario, struct sim_server *server, struct error *error)
{
    static const char *const texts[] = { NAME_attention_dp, NAME_pipeline_parallel, NAME_draft_tokens " + 1" };
    static const unsigned needs[] = { SCHEDULER_RANKS, SCHEDULER_STAGES, SCHEDULER_DRAFTS };
    struct values values;
    if (!values_of(scenario, texts, sizeof texts / sizeof *texts, &values, error))
        return false;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (values.at[i] > 1 && !(server->scheduler->can & needs[i]))
            usual_rules(server);
    return true;
}

/* A server's scenario; chips 0: chosen. Steps have batches and contexts of their own. Options that the
 * scheduler and the prediction have in common are rows here. A pool for prompts has ranks and stages of
 * its own where the rows of the split server say so. */
static bool open_model(struct simulate *simulate, struct scenario *scenario, const char *machine, double chips, bool prompts,
                       struct sim_server *server, double *token_bytes, struct error *error)
{
    static const struct { const char *option, *source, *row; } shared[] = {
        { "dp", "--dp", NAME_attention_dp }, { "draft", "--draft", NAME_draft_tokens },
        { "acceptance", "--acceptance", NAME_acceptance_rate },
        { "max-batched-tokens", "--max-batched-tokens", NAME_step_tokens },
        { "chunked-prefill-size", "--chunked-prefill-size", NAME_chunked_prefill_size },
        { "max-seqs", "--max-seqs", NAME_max_num_seqs }, { "think", "--think", NAME_think_time },
        { "link", "--link", NAME_kv_transfer_bandwidth }, { "link-latency", "--link-latency", NAME_kv_transfer_latency },
        { "blocks", "--blocks", NAME_kv_blocks_reported } };
    static const struct { const char *from, *to; } of_prompts[] = {
        { NAME_prefill_attention_dp, NAME_attention_dp },
        { NAME_prefill_pipeline_parallel, NAME_pipeline_parallel },
        { NAME_prefill_expert_parallel, NAME_expert_parallel } };
    const struct command *command = simulate->command;
    struct subject subject = command_subject(command);
    struct facts *facts = &scenario->facts;
    subject.machine = machine;
    /* A scheduler that is named is an engine's: so are its constants, unless another engine is named. The usual one is
     * the default's, which has the constants of all engines. */
    if (!command_text(command, "engine") && rules_named(command) && strcmp(server->scheduler->name, usual_scheduler) != 0)
        subject.engine = server->scheduler->engine;
    if (!scenario_read(scenario, simulate->arena, command, subject, error) ||
        (chips > 0 &&
         !scenario_set_number(scenario, NAME_chips, chips, ORIGIN_GIVEN, "--gpus", error)))
        return false;
    if (!facts_find(facts, NAME_batch) && !facts_find(facts, NAME_context)) {
        facts_set(facts, NAME_batch, 1, ORIGIN_AXIS, "the batch");
        facts_set(facts, NAME_context, 1, ORIGIN_AXIS, "the batch");
    }
    if (!scenario_assume(scenario, error))
        return false;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (command_given(command, shared[i].option) &&
            !scenario_set_number(scenario, shared[i].row, command_number(command, shared[i].option),
                                 ORIGIN_GIVEN, shared[i].source, error))
            return false;
    if (!scenario_layout_agrees(scenario, error))
        return false;
    scenario_one_budget(scenario);
    if (command_given(command, "no-async-scheduling") &&
        !scenario_set_number(scenario, NAME_steps_ahead, 0, ORIGIN_GIVEN, "--no-async-scheduling", error))
        return false;
    if (prompts && facts_find(facts, NAME_prefill_attention_dp))
        facts_remove(facts, NAME_expert_parallel);      /* the prefill pool's own ranks give its EP, unless you do */
    for (size_t i = 0; prompts && i < sizeof of_prompts / sizeof *of_prompts; i++) {
        const struct fact *given = facts_find(facts, of_prompts[i].from);
        double value;
        if (!given)
            continue;
        if (!value_of(scenario, of_prompts[i].from, &value, error))
            return false;
        facts_set(facts, of_prompts[i].to, value, ORIGIN_GIVEN, given->source);
    }
    return (prompts || choose_server(simulate, scenario, server->scheduler, error)) &&
           (rules_named(command) || follow_layout(scenario, server, error)) &&
           simulate_predicted(scenario, server, token_bytes, error) &&
           count_windows(simulate, scenario, server, token_bytes, error);
}

/* The server of --model and --on. What the trace or its users say cannot be set as a row too: the run
 * would not follow. */
static bool read_model(struct simulate *simulate, struct error *error)
{
    static const struct { const char *row, *instead; } said[] = {
        { NAME_arrival_rate, "--rate of all replicas, or the trace's own arrival times" },
        { NAME_arrivals_cv2, "--arrivals" },
        { NAME_concurrency, "--users or --concurrency, or --max-seqs for the most running sequences" } };
    const struct command *command = simulate->command;
    if (!command_given(command, "model") || !command_given(command, "on")) {
        error_set(error, "simulate needs a step time");
        return error_expected(error, "--model MODEL --on HARDWARE, or --step-time \"10ms + "
                                 "0.05ms*tokens + 8e-5ms*cached\" and --blocks N");
    }
    simulate->predicted = true;
    if (!open_model(simulate, &simulate->scenario, command_text(command, "on"),
                    command_number(command, "gpus"), false, &simulate->options.server,
                    &simulate->options.token_bytes, error))
        return false;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const struct fact *fact = facts_find(&simulate->scenario.facts, said[i].row);
        if (!fact_given(fact) || !strcmp(fact->source, said[i].instead))
            continue;
        error_set(error, "%s: simulate cannot follow %s", fact->source, said[i].row);
        return error_expected(error, "%s", said[i].instead);
    }
    return value_of(&simulate->scenario, NAME_think_time, &simulate->options.think, error) &&
           value_of(&simulate->scenario, NAME_api_time, &simulate->options.before, error) &&
           value_of(&simulate->scenario, NAME_ttft_per_prompt_token, &simulate->options.before_token, error);
}

/* What the command says of a server, over what the prediction or the scheduler have. */
static bool read_server(const struct command *command, struct sim_server *server, struct error *error)
{
    command_take_count(command, "chunked-prefill-size", &server->chunk);
    if (command_given(command, "max-batched-tokens")) {
        server->batch_tokens_most = command_count(command, "max-batched-tokens");
        if (!(server->scheduler->can & SCHEDULER_BATCH_TOKENS) || server->batch_tokens_most < server->chunk ||
            !command_given(command, "chunked-prefill-size"))
            server->chunk = server->batch_tokens_most;
    }
    command_take_count(command, "max-seqs", &server->max_num_seqs);
    command_take_count(command, "blocks", &server->blocks);
    command_take_count(command, "dp", &server->ranks);
    command_take_count(command, "draft", &server->draft);
    command_take(command, "acceptance", &server->accepted);
    command_take(command, "watermark", &server->watermark);
    for (size_t i = 0; server->scheduler->setting[i].name; i++) {
        const struct scheduler_setting *setting = &server->scheduler->setting[i];
        if (setting->unit)
            command_take(command, setting->name, &server->own[i]);
        else if (command_given(command, setting->name))
            server->own[i] = 1;
    }
    if (command_given(command, "block-size")) {
        const size_t block = command_count(command, "block-size");
        if (!command_given(command, "blocks"))          /* the same memory */
            server->blocks = server->blocks * server->block / block;
        server->block = block;
    }
    if (server->blocks || !(server->scheduler->can & SCHEDULER_BLOCKS))
        return true;
    error_set(error, "simulate needs the size of the KV cache");
    return error_expected(error, "--blocks N, of %zu tokens each", server->block);
}

static bool read_servers(struct simulate *simulate, struct error *error)
{
    const struct command *command = simulate->command;
    struct sim_server *server = &simulate->options.server;
    const char *formula = command_text(command, "step-time");
    *server = sim_server_of(server->scheduler);
    server->synchronous = command_given(command, "no-async-scheduling");
    if (!options_fit_scheduler(command, server, error)) {
        if (rules_named(command) || !strcmp(server->scheduler->name, usual_scheduler))
            return false;
        usual_rules(server);
        if (!options_fit_scheduler(command, server, error))
            return false;
    }
    const bool model = command_given(command, "model") || command_given(command, "on");
    if ((server->scheduler->can & SCHEDULER_STEP_TIME) && (model || !formula) &&
        !read_model(simulate, error))
        return false;
    if (formula && !simulate_formula(simulate->arena, formula, server, error))
        return false;                               /* a model's memory, and a time of one's own */
    return read_server(command, server, error);
}

/* As given, or as chosen. */
static size_t replicas_asked(const struct simulate *simulate)
{
    const struct fact *replicas = facts_find(&simulate->scenario.facts, NAME_replicas);
    return replicas && replicas->origin == ORIGIN_CHOSEN ? (size_t)replicas->value
                                                         : command_count(simulate->command, "replicas");
}

/* The links between the pools, as the rows of the split server have them for requests of the trace's mean lengths. */
static bool read_link(struct simulate *simulate, double chips, struct error *error)
{
    enum { RATE, LATENCY, AFTER, BYTES, ROWS };
    static const char *const texts[ROWS] = { NAME_kv_transfer_rate, NAME_kv_transfer_latency, NAME_first_token_after_transfer,
                                             "AT(" NAME_kv_stored ", context = " NAME_prompt_tokens ") / " NAME_prompt_tokens };
    struct scenario trial = simulate->scenario;
    struct sim_split *split = &simulate->options.split;
    struct values values;
    trial.facts = facts_copy(&simulate->scenario.facts);
    tell_load(simulate, &trial.facts, false);
    const struct { const char *row; double value; } facts[] = {
        { NAME_prefill_workers, (double)split->replicas }, { NAME_prefill_chips, chips },
        { NAME_decode_workers, (double)replicas_asked(simulate) } };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].value > 0 && !fact_given(facts_find(&trial.facts, facts[i].row)))
            facts_set(&trial.facts, facts[i].row, facts[i].value, ORIGIN_AXIS, "simulate");
    if (!values_of(&trial, texts, ROWS, &values, error))
        return false;
    split->bandwidth = values.at[RATE];
    split->latency = values.at[LATENCY];
    split->first_after = values.at[AFTER] > 0;
    split->token_bytes = values.at[BYTES];
    return true;
}

/* The prefill pool: the same settings, except for machine and chips. */
static bool read_split(struct simulate *simulate, struct error *error)
{
    const struct command *command = simulate->command;
    struct sim_split *split = &simulate->options.split;
    const char *machine = command_text(command, "prefill-on");
    const bool gpus = command_given(command, "prefill-gpus");
    const bool link = command_given(command, "link") || command_given(command, "link-latency");
    double token_bytes;
    *split = (struct sim_split){ .replicas = split->replicas };
    command_take_count(command, "prefill-replicas", &split->replicas);
    if (!split->replicas && (machine || gpus || link)) {
        error_set(error, "%s without --prefill-replicas", machine ? "--prefill-on" : gpus ?
                  "--prefill-gpus" : "--link");
        return error_expected(error, "--prefill-replicas N");
    }
    if (machine && !gpus) {
        error_set(error, "--prefill-on without --prefill-gpus: the number of %s per prefill replica", machine);
        return error_expected(error, "--prefill-gpus N");
    }
    if (split->replicas && !(simulate->options.token_bytes > 0)) {
        error_set(error, "--prefill-replicas: the KV bytes per token are unknown");
        return error_expected(error, "--model MODEL --on HARDWARE, with or without --step-time");
    }
    split->server = simulate->options.server;
    split->token_bytes = simulate->options.token_bytes;
    if (!split->replicas || !simulate->predicted)
        return true;
    if (!read_link(simulate, command_number(command, gpus ? "prefill-gpus" : "gpus"), error))
        return false;
    if (!open_model(simulate, &simulate->prompts, machine ? machine : command_text(command, "on"),
                    command_number(command, gpus ? "prefill-gpus" : "gpus"), true, &split->server, &token_bytes, error) ||
        !read_server(command, &split->server, error))
        return false;
    if (split->server.scheduler != simulate->options.server.scheduler)
        usual_rules(&simulate->options.server);
    return true;
}

/* ---- the world around them ------------------------------------------------------------------ */

/* Refuse options that have an effect only together with another that is missing, and two that state the load. */
static bool options_fit_each_other(const struct command *command, struct error *error)
{
    static const struct { const char *option, *needs[4]; } pairs[] = {
        { "warm-up", { "users", "concurrency" } }, { "think", { "users", "concurrency" } },
        { "restart", { "fails-every" } },
        { "attainment", { "ttft", "tpot" } },        { "start-up", { "scale-to" } },
        { "scale-every", { "scale-to" } },    { "scale-load", { "scale-to" } },
        { "points", { "sweep" } },            { "every", { "series", "plot", "report", "trace" } },
    };
    static const char *const apart[][2] = {
        { "rate", "users" }, { "rate", "concurrency" }, { "rate", "time-scale" }, { "users", "concurrency" },
        { "concurrency", "min-gpus" }, { "concurrency", "scale-to" } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool there = !command_given(command, pairs[i].option);
        for (int j = 0; j < 4 && pairs[i].needs[j]; j++)
            there = there || command_given(command, pairs[i].needs[j]);
        if (!there) {
            const struct option *needed = verb_option(command->verb, pairs[i].needs[0]);
            error_set(error, "--%s without --%s", pairs[i].option, needed->name);
            return error_expected(error, "--%s %s", needed->name, needed->argument);
        }
    }
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (command_given(command, apart[i][0]) && command_given(command, apart[i][1])) {
            error_set(error, "--%s and --%s exclude each other", apart[i][0], apart[i][1]);
            return error_expected(error, "one of them");
        }
    return true;
}

/* Replicas, users, failures, autoscaling, limits, in base units. */
static bool read_world(struct simulate *simulate, struct error *error)
{
    const struct command *command = simulate->command;
    struct sim_options *sim = &simulate->options;
    if (!options_fit_each_other(command, error))
        return false;
    if (command_given(command, "refresh") && sim->router != ROUTER_LEAST_PENDING && sim->router != ROUTER_LEAST_TOKENS) {
        error_set(error, "--refresh has no effect with router %s", router_names[sim->router]);
        return error_expected(error, "--router least-tokens or least-pending");
    }
    command_take(command, "refresh", &sim->refresh);
    sim->replicas = replicas_asked(simulate);
    sim->users = simulate->users_each ? simulate->users_each * sim->replicas : command_count(command, "users");
    command_take(command, "think", &sim->think);
    command_take(command, "api-time", &sim->before);
    sim->waiting_most = command_count(command, "max-waiting");
    sim->restart = command_number(command, "restart");
    sim->scaling = (struct sim_scaling){ .most = command_count(command, "scale-to"),
                                         .every = command_number(command, "scale-every"),
                                         .start_up = command_number(command, "start-up"),
                                         .load = (double)sim->server.max_num_seqs / 2 };
    sim->stepping = command_given(command, "stepping");
    sim->seed = command_count(command, "seed");
    simulate->met = command_given(command, "attainment") ? command_number(command, "attainment") : 0;
    simulate->ttft_most = simulate->tpot_most = INFINITY;
    simulate->warm_up = NAN;
    command_take(command, "warm-up", &simulate->warm_up);
    command_take(command, "patience", &sim->patience);
    command_take(command, "fails-every", &sim->fails_every);
    command_take(command, "scale-load", &sim->scaling.load);
    command_take(command, "ttft", &simulate->ttft_most);
    command_take(command, "tpot", &simulate->tpot_most);
    simulate->ttft_share = command_given(command, "ttft") ? command_value(command, "ttft")->percentile : 0;
    simulate->tpot_share = command_given(command, "tpot") ? command_value(command, "tpot")->percentile : 0;
    if (command_given(command, "min-gpus") && sim->users && isinf(simulate->ttft_most) && isinf(simulate->tpot_most)) {
        error_set(error, "--min-gpus with --users and without a limit: any number of replicas answers them");
        return error_expected(error, "--ttft 2s, --tpot 50ms, or both");
    }
    if (!sim->scaling.most || sim->scaling.most > sim->replicas)
        return true;
    error_set(error, "--scale-to %zu is not above --replicas %zu", sim->scaling.most, sim->replicas);
    return error_expected(error, "more than --replicas");
}

/* Who needs each request, before the run or after it? Otherwise many requests are drawn while they are read. */
static bool keeps_requests(const struct command *command)
{
    static const char *const keep[] = { "users", "concurrency", "requests", "trace", "training-rows", "tier",
                                        "prefill-replicas", "hit-rates", "listen", "metrics", "scale-by" };
    for (size_t i = 0; i < sizeof keep / sizeof *keep; i++)
        if (verb_option(command->verb, keep[i]) && command_given(command, keep[i]))
            return true;
    return false;
}

/* "possion:rate=5", a description of a kind that is not known, is not looked for as a file. */
static bool read_trace(struct simulate *simulate, struct error *error)
{
    const struct command *command = simulate->command;
    const struct value *arrivals = command_value(command, "arrivals");
    const char *source = command->words[0], *colon = strchr(source, ':');
    struct trace *trace = &simulate->trace;
    simulate->scale = command_number(command, "time-scale");
    simulate->users_each = command_count(command, "concurrency");
    if (generate_is(source) || (colon && strchr(colon, '=') && !file_there(simulate->arena, source))) {
        struct generate_change *change = &simulate->change;
        change->arrivals = arrivals && text_number(text_of(arrivals->row_text), &change->cv2);
        change->rate = command_given(command, "rate") ? command_number(command, "rate") : 0;
        change->input = command_text(command, "isl");
        change->output = command_text(command, "osl");
        change->vary = command_count(command, "users") + simulate->users_each * command_count(command, "replicas") > 1;
        change->forget = !keeps_requests(command);
        simulate->drawn = source;
        return generate_changed(simulate->arena, source, change, trace, error);
    }
    if (command_given(command, "isl") || command_given(command, "osl")) {
        error_set(error, "--%s: %.100s has lengths of its own", command_given(command, "isl") ? "isl" : "osl", source);
        return error_expected(error, "a description of requests: poisson:rate=5,isl=4000,osl=500");
    }
    if (arrivals) {
        error_set(error, "--arrivals: %.100s has arrival times of its own", source);
        return error_expected(error, "a description of requests: poisson:rate=5,count=1000");
    }
    const bool read = trace_read(simulate->arena, source, 1, trace, error);
    trace->arrivals_cv2 = 1;
    return read && (!command_given(command, "rate") ||
                    trace_scale(trace, command_number(command, "rate"), &simulate->scale, error));
}

bool simulate_read(struct arena *arena, const struct command *command, struct simulate *simulate, struct error *error)
{
    if (command->word_count != 1) {
        error_set(error, command->word_count ? "simulate takes one trace, %zu were given"
                  : "simulate needs a trace", command->word_count);
        if (command_given(command, "trace"))
            return error_suggest(error, "--trace writes one; what is replayed stands alone: `chalkline simulate %.100s`",
                                 command_text(command, "trace"));
        return error_expected(error, "a file, or a description of requests: poisson:rate=5,count=1000");
    }
    *simulate = (struct simulate){ .arena = arena, .command = command,
                                   .scenario = { .command = command, .facts.arena = arena } };
    if (command_given(command, "hit-rates"))                  /* of the trace alone */
        return read_trace(simulate, error);
    if (!read_scheduler(simulate, error) || !read_trace(simulate, error) ||
        !read_servers(simulate, error) || !read_split(simulate, error) || !read_world(simulate, error))
        return false;
    /* Prefixes match by whole blocks: those of the KV cache must divide those of the trace. */
    const size_t named = simulate->trace.block, block = simulate->options.server.block;
    if (named && named % block != 0 && simulate->options.server.scheduler->cached) {
        error_set(error, "the trace names prefixes by %zu tokens, which blocks of %zu do not divide",
                  named, block);
        return error_expected(error, "--block-size %zu, or a divisor of it", named);
    }
    return simulate_classes(simulate, error) && simulate_tiers(simulate, error);
}
