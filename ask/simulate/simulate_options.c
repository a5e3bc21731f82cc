/* The options of `simulate`: what is to be run. */
#include "scenario/server.h"
#include "build/row_names.h"
#include "ask/simulate/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers -------------------------------------------------------------------------------- */

static bool read_share(const struct question *question, enum option option, double *value,
                       struct error *error)
{
    if (!option_quantity(question, option, "1", value, error))
        return false;
    if (*value <= 1)
        return true;
    error_set(error, "--%s: '%.60s' is no share", options[option].name, question->option[option]);
    return error_hint(error, "from 0 to 1");
}

static bool above_zero(const struct question *question, enum option option, double value,
                       const char *hint, struct error *error)
{
    if (value > 0)
        return true;
    error_set(error, "--%s: '%.60s' is too small or too large", options[option].name,
              question->option[option]);
    return error_hint(error, "%s", hint);
}

/* ---- names ---------------------------------------------------------------------------------- */

bool simulate_read_name(const struct question *question, enum option option, const char *what,
                      const char *const *names, int count, int *at, struct error *error)
{
    const char *name = question->option[option];
    if (!name)
        return true;
    for (*at = 0; *at < count; ++*at)
        if (!strcmp(name, names[*at]))
            return true;
    char text[256] = "";
    for (int i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? ", " : "", names[i]);
    error_set(error, "no %s called '%.60s'", what, name);
    return error_hint(error, "one of: %s", text);
}

static const char usual_scheduler[] = "vllm-v1";

/* The schedulers, and "disaggregated": the usual one with a pool for prompts. */
static bool read_scheduler(struct simulation *simulation, struct error *error)
{
    const int names_count = (int)scheduler_count + 1;
    const char **names = arena_array(simulation->arena, (size_t)names_count, sizeof *names);
    int name = -1, router = ROUTER_COUNT;
    for (size_t i = 0; i < scheduler_count; i++)
        names[i] = schedulers[i]->name;
    names[scheduler_count] = "disaggregated";
    if (!simulate_read_name(simulation->question, OPTION_RULES, "rules are", names, names_count,
                            &name, error) ||
        !simulate_read_name(simulation->question, OPTION_ROUTER, "router is", router_names,
                            ROUTER_COUNT, &router, error))
        return false;
    const bool disaggregated = name == (int)scheduler_count;
    const struct scheduler *scheduler = name < 0 || disaggregated ? scheduler_named(usual_scheduler)
                                                                  : schedulers[name];
    simulation->options.split.replicas = disaggregated;
    simulation->options.server.scheduler = scheduler;
    simulation->options.router = router == ROUTER_COUNT ? scheduler->router : (enum router)router;
    return true;
}

static enum option option_of(const struct scheduler_setting *setting)
{
    int option = 0;
    while (strcmp(options[option].name, setting->name))
        option++;
    return (enum option)option;
}

/* A setting of another scheduler that this one has not; NULL: none is given. */
static const char *setting_of_others(const struct question *question,
                                     const struct sim_server *server)
{
    for (size_t i = 0; i < scheduler_count; i++)
        for (const struct scheduler_setting *setting = schedulers[i]->setting; setting->name;
             setting++)
            if (question->option[option_of(setting)] &&
                isnan(sim_setting(server, setting->name)))
                return setting->name;
    return NULL;
}

/* An option that only some schedulers read is a mistake elsewhere. */
static bool options_fit_scheduler(const struct question *question,
                                  const struct sim_server *server, struct error *error)
{
    static const struct { enum option option; unsigned needs; } only[] = {
        { OPTION_RANKS, SCHEDULER_RANKS },           { OPTION_DRAFT, SCHEDULER_DRAFTS },
        { OPTION_ACCEPTED, SCHEDULER_DRAFTS },       { OPTION_WATERMARK, SCHEDULER_WATERMARK },
        { OPTION_CHUNK, SCHEDULER_CHUNK },           { OPTION_SYNC, SCHEDULER_AHEAD },
        { OPTION_MAX_BATCH_TOKENS, SCHEDULER_BATCH_TOKENS },
        { OPTION_PREFILL_REPLICAS, SCHEDULER_POOLS }, { OPTION_MODEL, SCHEDULER_STEP_TIME },
    };
    const struct scheduler *scheduler = server->scheduler;
    const char *wrong = setting_of_others(question, server);
    for (size_t i = 0; i < sizeof only / sizeof *only; i++)
        if (question->option[only[i].option] && !(scheduler->can & only[i].needs))
            wrong = options[only[i].option].name;
    if (question->option[OPTION_ROUTER] && !scheduler->cached &&
        !strcmp(question->option[OPTION_ROUTER], router_names[ROUTER_PREFIX]))
        wrong = "router prefix";
    if (question->tier_count && !scheduler->fetched)
        wrong = "tier";
    if (question->lane_count && !(scheduler->can & SCHEDULER_LANES))
        wrong = "lane";
    if (!wrong)
        return true;
    error_set(error, "--%s means nothing to the rules %s", wrong, scheduler->name);
    return error_hint(error, "`chalkline help simulate` says to which it does");
}

/* ---- servers -------------------------------------------------------------------------------- */

/* A scheduler is an engine's: so are its constants, unless another is named. */
static const char *engine_of(const struct question *question, const struct scheduler *scheduler)
{
    return question->option[OPTION_ENGINE] ? question->option[OPTION_ENGINE] : scheduler->engine;
}

/* Rows that schedulers share with the prediction. */
static bool set_shared(const struct question *question, struct scenario *scenario,
                       struct error *error)
{
    static const struct { enum option option; const char *row; } shared[] = {
        { OPTION_RANKS, NAME_attention_dp }, { OPTION_DRAFT, NAME_draft_tokens },
        { OPTION_ACCEPTED, NAME_accepted_share }, { OPTION_CHUNK, NAME_prefill_size },
        { OPTION_MAX_SEQS, NAME_sequences_most }, { OPTION_BLOCKS, NAME_cache_blocks } };
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        const char *value = question->option[shared[i].option];
        if (value && !scenario_set_row(scenario, shared[i].row, value,
                                       ORIGIN_GIVEN,
                                       options[shared[i].option].name, error))
            return false;
    }
    return true;
}

/* Attention ranks of a model with experts, where nobody gave them, as `step` would have them for
 * such requests at such a rate. */
static bool choose_ranks(const struct simulation *simulation, struct scenario *scenario,
                         struct error *error)
{
    const struct trace *trace = &simulation->trace;
    const struct fact *sparse = facts_find(&scenario->facts, NAME_moe_layers);
    const double count = (double)trace->count, span = trace->arrival[trace->count - 1];
    double prompts = 0, outputs = 0;
    struct server *server = arena_alloc(simulation->arena, sizeof *server);
    if (facts_find(&scenario->facts, NAME_attention_dp) || !sparse || !(sparse->value > 0))
        return true;
    for (size_t i = 0; i < trace->count; i++) {
        prompts += trace->prompt[i];
        outputs += trace->output[i];
    }
    facts_set(&scenario->facts, NAME_prompt_tokens, prompts / count, ORIGIN_DERIVED, "the trace");
    facts_set(&scenario->facts, NAME_output_tokens, outputs / count, ORIGIN_DERIVED, "the trace");
    facts_set(&scenario->facts, NAME_arrival_rate, span > 0 ? count / span : 1, ORIGIN_DERIVED, "the trace");
    if (!server_open(server, scenario, error))
        return false;
    const struct fact *ranks = facts_find(&server->scenario.facts, NAME_attention_dp);
    if (ranks && ranks->value > 1) {
        facts_set(&scenario->facts, NAME_attention_dp, ranks->value, ORIGIN_CHOSEN, "assumed");
        facts_note(&scenario->facts, "server: attention DP %g, of those that divide the GPUs the one "
                   "with most tokens", ranks->value);
    }
    return true;
}

static bool is_set(const struct question *question, const char *row)
{
    for (size_t i = 0; i < question->set_count; i++)
        if (!strncmp(question->sets[i], row, strlen(row)) && question->sets[i][strlen(row)] == '=')
            return true;
    return false;
}

static bool open_model(struct simulation *simulation, struct scenario *scenario,
                       const char *machine, const char *gpus, struct sim_server *server,
                       double *token_bytes, struct error *error)
{
    struct question *own = arena_alloc(simulation->arena, sizeof *own);
    const char *model = simulation->question->option[OPTION_MODEL];
    *own = *simulation->question;
    own->option[OPTION_ON] = machine;
    own->option[OPTION_GPUS] = gpus;
    own->option[OPTION_ENGINE] = engine_of(own, server->scheduler);
    if (!is_set(own, NAME_batch) && !is_set(own, NAME_context))
        own->option[OPTION_BATCH] = own->option[OPTION_CONTEXT] = "1";      /* each step has its own */
    return scenario_open(scenario, simulation->arena, own, model, machine, error) &&
           set_shared(own, scenario, error) &&
           (!(server->scheduler->can & SCHEDULER_RANKS) ||
            choose_ranks(simulation, scenario, error)) &&
           simulate_predicted(scenario, server, token_bytes, error);
}

static bool read_model(struct simulation *simulation, struct answer *notes, struct error *error)
{
    const struct question *question = simulation->question;
    if (!question->option[OPTION_MODEL] || !question->option[OPTION_ON]) {
        error_set(error, "simulate needs the time of a step");
        return error_hint(error, "--model MODEL --on HARDWARE, or --step-time \"10ms + "
                                 "0.05ms*tokens + 8e-5ms*cached\" and --blocks N");
    }
    simulation->predicted = true;
    if (!open_model(simulation, &simulation->scenario, question->option[OPTION_ON],
                    question->option[OPTION_GPUS], &simulation->options.server,
                    &simulation->options.token_bytes, error))
        return false;
    scenario_notes(&simulation->scenario, notes);
    return value_of(&simulation->scenario, NAME_api_time, &simulation->api_time, error);
}

/* What no server has, and would only take memory. */
static bool not_too_many(const struct question *question, const struct sim_server *server,
                         struct error *error)
{
    const struct { enum option option; size_t value, most; } limits[] = {
        { OPTION_DRAFT, server->draft, 64 }, { OPTION_RANKS, server->ranks, 4096 },
        { OPTION_BLOCK_SIZE, server->block, 65536 } };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].value > limits[i].most) {
            error_set(error, "--%s: '%.60s' is too many", options[limits[i].option].name,
                      question->option[limits[i].option]);
            return error_hint(error, "%zu at most", limits[i].most);
        }
    return true;
}

static bool read_settings(const struct question *question, struct sim_server *server,
                          struct error *error)
{
    const struct scheduler_setting *setting = server->scheduler->setting;
    for (size_t i = 0; setting[i].name; i++) {
        const enum option option = option_of(&setting[i]);
        if (!setting[i].unit)
            server->own[i] = question->option[option] != NULL;
        else if (!option_quantity(question, option, setting[i].unit, &server->own[i], error) ||
                 !above_zero(question, option, server->own[i] >= setting[i].least,
                             setting[i].example, error))
            return false;
    }
    return true;
}

static bool read_server(const struct question *question, struct sim_server *server,
                        struct error *error)
{
    server->synchronous = question->option[OPTION_SYNC] != NULL;
    if (!option_count(question, OPTION_CHUNK, &server->chunk, error) ||
        !option_count(question, OPTION_MAX_SEQS, &server->sequences_most, error) ||
        !option_count(question, OPTION_MAX_BATCH_TOKENS, &server->batch_tokens_most, error) ||
        !option_count(question, OPTION_BLOCKS, &server->blocks, error) ||
        !option_count(question, OPTION_RANKS, &server->ranks, error) ||
        !option_count(question, OPTION_DRAFT, &server->draft, error) ||
        !read_share(question, OPTION_ACCEPTED, &server->accepted, error) ||
        !read_share(question, OPTION_WATERMARK, &server->watermark, error) ||
        !read_settings(question, server, error))
        return false;
    if (question->option[OPTION_BLOCK_SIZE]) {
        size_t block = server->block;
        if (!option_count(question, OPTION_BLOCK_SIZE, &block, error))
            return false;
        if (!question->option[OPTION_BLOCKS])           /* the same memory */
            server->blocks = server->blocks * server->block / block;
        server->block = block;
    }
    if (!not_too_many(question, server, error))
        return false;
    if (server->blocks || !(server->scheduler->can & SCHEDULER_BLOCKS))
        return true;
    error_set(error, "simulate needs the size of the cache");
    return error_hint(error, "--blocks N, of %zu tokens each", server->block);
}

static bool read_servers(struct simulation *simulation, struct answer *notes, struct error *error)
{
    const struct question *question = simulation->question;
    struct sim_server *server = &simulation->options.server;
    const char *formula = question->option[OPTION_STEP_TIME];
    *server = sim_server_of(server->scheduler);
    server->synchronous = question->option[OPTION_SYNC] != NULL;
    if (!options_fit_scheduler(question, server, error))
        return false;
    const bool model = question->option[OPTION_MODEL] || question->option[OPTION_ON];
    if ((server->scheduler->can & SCHEDULER_STEP_TIME) && (model || !formula) &&
        !read_model(simulation, notes, error))
        return false;
    if (formula && !simulate_formula(simulation->arena, formula, server, error))
        return false;                               /* a model's memory, and a time of one's own */
    return read_server(question, server, error);
}

/* A pool for prompts: the same server but for machine and chips. */
static bool read_split(struct simulation *simulation, struct error *error)
{
    const struct question *question = simulation->question;
    struct sim_split *split = &simulation->options.split;
    const char *machine = question->option[OPTION_PREFILL_ON];
    const char *gpus = question->option[OPTION_PREFILL_GPUS];
    double token_bytes;
    *split = (struct sim_split){ .replicas = split->replicas, .bandwidth = 50e9, .latency = 10e-6 };
    if (!option_count(question, OPTION_PREFILL_REPLICAS, &split->replicas, error) ||
        !option_quantity(question, OPTION_LINK, "B/s", &split->bandwidth, error) ||
        !option_quantity(question, OPTION_LINK_LATENCY, "s", &split->latency, error))
        return false;
    const double slowest = 1e6;
    if (question->option[OPTION_LINK] && split->bandwidth < slowest) {
        error_set(error, "--link: '%.60s' is below 1 MB/s", question->option[OPTION_LINK]);
        return error_hint(error, "50GB/s");
    }
    if (!split->replicas && (machine || gpus || question->option[OPTION_LINK] ||
                             question->option[OPTION_LINK_LATENCY])) {
        error_set(error, "%s without --prefill-replicas", machine ? "--prefill-on" : gpus ?
                  "--prefill-gpus" : "--link");
        return error_hint(error, "--prefill-replicas N");
    }
    if (split->replicas && !(simulation->options.token_bytes > 0)) {
        error_set(error, "--prefill-replicas: how many bytes a token takes is not known");
        return error_hint(error, "--model MODEL --on HARDWARE, beside --step-time or instead of it");
    }
    split->server = simulation->options.server;
    split->token_bytes = simulation->options.token_bytes;
    if (!split->replicas || !simulation->predicted)
        return true;
    return open_model(simulation, &simulation->prompts,
                      machine ? machine : question->option[OPTION_ON],
                      gpus || machine ? gpus : question->option[OPTION_GPUS], &split->server,
                      &token_bytes, error) &&
           read_server(question, &split->server, error);
}

/* ---- the world around them ------------------------------------------------------------------ */

static bool read_world(const struct question *question, struct simulation *simulation,
                       struct error *error)
{
    struct sim_options *sim = &simulation->options;
    size_t seed = 1;
    sim->replicas = 1;
    sim->stepping = question->option[OPTION_STEPPING] != NULL;
    sim->restart = 300;
    sim->scaling = (struct sim_scaling){ .every = 15, .start_up = 120,
                                         .load = (double)sim->server.sequences_most / 2 };
    simulation->scale = 1;
    simulation->ttft_most = simulation->tpot_most = INFINITY;
    simulation->met = 0.99;
    if (!option_count(question, OPTION_REPLICAS, &sim->replicas, error) ||
        !option_count(question, OPTION_USERS, &sim->users, error) ||
        !option_quantity(question, OPTION_THINK, "s", &sim->think, error) ||
        !option_count(question, OPTION_MAX_WAITING, &sim->waiting_most, error) ||
        !option_quantity(question, OPTION_PATIENCE, "s", &sim->patience, error) ||
        !option_quantity(question, OPTION_FAILS_EVERY, "s", &sim->fails_every, error) ||
        !option_quantity(question, OPTION_RESTART, "s", &sim->restart, error) ||
        !option_count(question, OPTION_SCALE_TO, &sim->scaling.most, error) ||
        !option_quantity(question, OPTION_SCALE_LOAD, "1", &sim->scaling.load, error) ||
        !option_quantity(question, OPTION_SCALE_EVERY, "s", &sim->scaling.every, error) ||
        !option_quantity(question, OPTION_START_UP, "s", &sim->scaling.start_up, error) ||
        !option_count(question, OPTION_SEED, &seed, error) ||
        !option_quantity(question, OPTION_API_TIME, "s", &simulation->api_time, error) ||
        !option_quantity(question, OPTION_TTFT, "s", &simulation->ttft_most, error) ||
        !option_quantity(question, OPTION_TPOT, "s", &simulation->tpot_most, error) ||
        !read_share(question, OPTION_MET, &simulation->met, error) ||
        !option_quantity(question, OPTION_TIME_SCALE, "1", &simulation->scale, error))
        return false;
    sim->seed = seed;
    return true;
}

/* Options that act only beside another. */
static bool partners_are_there(const struct question *question, struct error *error)
{
    static const struct { enum option option, needs[3]; } pairs[] = {
        { OPTION_THINK, { OPTION_USERS } },             { OPTION_RESTART, { OPTION_FAILS_EVERY } },
        { OPTION_MET, { OPTION_TTFT, OPTION_TPOT } },   { OPTION_START_UP, { OPTION_SCALE_TO } },
        { OPTION_SCALE_EVERY, { OPTION_SCALE_TO } },    { OPTION_SCALE_LOAD, { OPTION_SCALE_TO } },
        { OPTION_POINTS, { OPTION_SWEEP } },
        { OPTION_EVERY, { OPTION_SERIES, OPTION_PLOT, OPTION_TRACE } },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool there = !question->option[pairs[i].option];
        for (int j = 0; j < 3 && (j == 0 || pairs[i].needs[j]); j++)
            there = there || question->option[pairs[i].needs[j]];
        if (!there) {
            error_set(error, "--%s without --%s", options[pairs[i].option].name,
                      options[pairs[i].needs[0]].name);
            return error_hint(error, "--%s %s", options[pairs[i].needs[0]].name,
                              options[pairs[i].needs[0]].argument);
        }
    }
    return true;
}

static bool world_makes_sense(const struct simulation *simulation, struct error *error)
{
    const struct question *question = simulation->question;
    const struct sim_options *sim = &simulation->options;
    const struct { enum option option; double value; const char *hint; } positive[] = {
        { OPTION_TIME_SCALE, simulation->scale, "2: twice as many requests a second" },
        { OPTION_SCALE_EVERY, sim->scaling.every >= 1e-3, "1ms or more: 15s" },
        { OPTION_SCALE_LOAD, sim->scaling.load >= 1e-3, "32: a server for each 32 requests" },
        { OPTION_THINK, sim->think <= 1e9, "up to 1e9 s: 5s" },
        { OPTION_LINK, sim->split.bandwidth, "50GB/s" },
        { OPTION_PATIENCE, question->option[OPTION_PATIENCE] ? sim->patience : 1, "5s" },
        { OPTION_FAILS_EVERY, question->option[OPTION_FAILS_EVERY] ? sim->fails_every : 1, "10h" },
    };
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++)
        if (!above_zero(question, positive[i].option, positive[i].value, positive[i].hint, error))
            return false;
    if (!partners_are_there(question, error))
        return false;
    if (sim->scaling.most && sim->scaling.most <= sim->replicas) {
        error_set(error, "--scale-to %zu is no more than the %zu of --replicas", sim->scaling.most,
                  sim->replicas);
        return error_hint(error, "more than --replicas");
    }
    return true;
}

/* "possion:rate=5": a description of a kind that is not known, and no file. */
static bool looks_drawn(const struct arena *arena, const char *source)
{
    const char *colon = strchr(source, ':');
    return colon && strchr(colon, '=') && !file_there(arena, source);
}

static bool read_trace(struct simulation *simulation, struct error *error)
{
    const char *source = simulation->question->words[0];
    simulation->drawn = generate_is(source) || looks_drawn(simulation->arena, source);
    return simulation->drawn ? generate_trace(simulation->arena, source, &simulation->trace, error)
                             : trace_read(simulation->arena, source, 1, &simulation->trace, error);
}

/* Prefixes are found by whole blocks of the trace. */
static bool blocks_fit_names(const struct simulation *simulation, struct error *error)
{
    const size_t named = simulation->trace.block, block = simulation->options.server.block;
    if (!named || named % block == 0 || !simulation->options.server.scheduler->cached)
        return true;
    error_set(error, "the trace names prefixes by %zu tokens, which blocks of %zu do not divide",
              named, block);
    return error_hint(error, "--block-size %zu, or a divisor of it", named);
}

bool simulate_read(struct arena *arena, const struct question *question,
                   struct simulation *simulation, struct answer *notes, struct error *error)
{
    if (question->word_count != 1) {
        error_set(error, "simulate takes one trace, %zu were given", question->word_count);
        return error_hint(error, "chalkline simulate trace.csv --blocks 28000 --step-time ...");
    }
    *simulation = (struct simulation){ .arena = arena, .question = question };
    if (question->option[OPTION_HITS])                  /* of the trace alone */
        return read_trace(simulation, error);
    return read_scheduler(simulation, error) && read_trace(simulation, error) &&
           read_servers(simulation, notes, error) && read_split(simulation, error) &&
           read_world(question, simulation, error) && world_makes_sense(simulation, error) &&
           blocks_fit_names(simulation, error) &&
           simulate_lanes(simulation, error) && simulate_tiers(simulation, error);
}
