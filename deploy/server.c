/* The prediction for one deployment: opens its rows, evaluates them, and describes it in words and
 * as a document.
 *
 * `step`, `brief`, the page's board and `bill` use it, so that the same deployment has the same
 * figures in all of them. The rows are read from one graph under the scenario's facts, including
 * the layout and load that choice.c chose. A deployment that does not fit or cannot keep up with
 * its arrivals is an answer with a verdict, not an error. The records declare its keys for the
 * API. */
#include "deploy/server.h"
#include "scenario/basis.h"
#include "scenario/figures.h"
#include "scenario/rules.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

const char *const server_rows[SERVER_ROW_COUNT] = {
#define X(name) NAME_##name,
    SERVER_ROWS(X)
#undef X
};

double server_at(const struct server *server, enum server_row row)
{
    return server->values.at[row];
}

static struct unit unit_of(const struct server *server, enum server_row row)
{
    const struct formulas *formulas = &server->scenario.formulas;
    return formulas_row(formulas, formulas_find(formulas, server_rows[row]))->unit;
}

const char *server_text(const struct server *server, enum server_row row, int digits)
{
    return quantity_text(server->scenario.arena, server_at(server, row), unit_of(server, row), digits);
}

const char *server_layout(const struct server *server)
{
    struct buffer out = { .arena = server->scenario.arena };
    buffer_print(&out, "TP %s", server_text(server, SERVER_tensor_parallel, 4));
    if (server_at(server, SERVER_attention_dp) > 1)
        buffer_print(&out, " x attention DP %s", server_text(server, SERVER_attention_dp, 6));
    if (server_at(server, SERVER_pipeline_parallel) > 1)
        buffer_print(&out, " x PP %s", server_text(server, SERVER_pipeline_parallel, 4));
    return out.data;
}

/* "1, 2, 4, 8": sizes of tensor parallelism up to the largest usual one that divide the heads. */
static const char *widths_divisible(const struct server *server)
{
    struct scenario scenario = server->scenario;
    struct buffer out = { .arena = scenario.arena };
    struct error ignored;
    double most = 0, divides;
    scenario.facts = facts_copy(&server->scenario.facts);
    value_of(&scenario, NAME_tensor_parallel_most, &most, &ignored);
    for (double width = 1; width <= most; width++) {
        facts_set(&scenario.facts, NAME_tensor_parallel, width, ORIGIN_AXIS, "");
        if (value_of(&scenario, NAME_heads_divisible, &divides, &ignored) && divides > 0)
            buffer_print(&out, "%s%.0f", out.size ? ", " : "", width);
    }
    return out.size ? out.data : "none";
}

double chips_holding(double share, double chips)
{
    return exp2(ceil(log2(share * chips)));
}

/* "; leave out --gpus, or give more GPUs, as in --gpus 16": what to do about weights that are larger than the memory. */
static const char *more_memory(const struct server *server)
{
    static const char *const options[] = { NAME_chips, NAME_tensor_parallel, NAME_pipeline_parallel };
    struct scenario scenario = server->scenario;
    struct buffer out = { .arena = scenario.arena };
    double share = 0;
    struct error ignored;
    buffer_add(&out, "", 0);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const struct fact *fact = facts_find(&scenario.facts, options[i]);
        if (fact_given(fact) && !strncmp(fact->source, "--", 2) && strcmp(fact->source, "--set"))
            buffer_print(&out, "%s%s", out.size ? " and " : ": leave out ", fact->source);
    }
    if (value_of(&scenario, NAME_weights_stored " / " NAME_hbm_usable, &share, &ignored) && share > 1)
        buffer_print(&out, "%s more GPUs, as in --gpus %.0f", out.size ? ", or give" : ": give",
                     chips_holding(share, server_at(server, SERVER_chips)));
    return out.data;
}

const char *server_verdict(const struct server *server)
{
    const double width = server_at(server, SERVER_tensor_parallel);
    const double ranks = server_at(server, SERVER_attention_dp);
    if (ranks != floor(ranks))
        return arena_print(server->scenario.arena, "no such layout: %s attention ranks",
                           server_text(server, SERVER_attention_dp, 4));
    if (width < 1 || width != floor(width))
        return arena_print(server->scenario.arena, "no such layout: %s GPUs per attention rank of a "
                           "stage", server_text(server, SERVER_tensor_parallel, 4));
    if (!(server_at(server, SERVER_heads_divisible) > 0))
        return arena_print(server->scenario.arena, "no such layout: TP %s does not divide the heads evenly, and no "
                           "engine starts it; TP that does: %s", server_text(server, SERVER_tensor_parallel, 4),
                           widths_divisible(server));
    if (!(server_at(server, SERVER_layout_exists) > 0)) {
        struct scenario same = server->scenario;
        return value_or_nan(&same, NAME_stages_have_layers) > 0
            ? arena_print(same.arena, "no such layout: EP %s does not divide the %.12g GPUs of a stage",
                          server_text(server, SERVER_expert_parallel, 9), width * ranks)
            : arena_print(same.arena, "no such layout: PP %s, and the model has %.12g layers",
                          server_text(server, SERVER_pipeline_parallel, 9), value_or_nan(&same, NAME_layers));
    }
    if (!(server_at(server, SERVER_replica_fits) > 0))
        return arena_print(server->scenario.arena, "out of memory: no request fits beside the weights%s",
                           more_memory(server));
    if (!(server_at(server, SERVER_stable) > 0))
        return arena_print(server->scenario.arena, "overloaded: %s requests/s need %s, "
                           "saturated throughput is %s",
                           count_text(server->scenario.arena, server_at(server, SERVER_arrival_rate), 6),
                           quantity_text(server->scenario.arena,
                                         server_at(server, SERVER_arrival_rate) *
                                         server_at(server, SERVER_output_tokens),
                                         unit_of(server, SERVER_saturated_throughput), 4),
                           server_text(server, SERVER_saturated_throughput, 4));
    return NULL;
}

void server_assumed(struct server *server)
{
    static const size_t told[] = { SERVER_predicted_tpot, SERVER_predicted_ttft, SERVER_output_cost_per_token };
    const bool keeps_up = server->row_count == SERVER_ROW_COUNT;
    assumed_notes(&server->scenario, &server->values, told, keeps_up ? 3 : 0);
}

bool server_infeasible(const struct server *server, struct doc *doc)
{
    static const char *const limits[] = { NAME_speed_wanted, NAME_tpot_limit, NAME_ttft_limit };
    const struct scenario *scenario = &server->scenario;
    const char *why = server_verdict(server);
    bool given = false;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        given |= fact_given(facts_find(&scenario->facts, limits[i]));
    if (!why && given && scenario->choice.made && !scenario->choice.met)
        why = scenario->choice.rule;
    if (!why && server_at(server, SERVER_replica_memory_share) > 1) {
        struct scenario same = *scenario;
        const char *misfit = scenario_misfit(&same);
        why = misfit ? arena_print(scenario->arena, "out of memory: %s", misfit) : NULL;
    }
    if (why)
        doc_add_string(scenario->arena, doc, "infeasible", why);
    return why != NULL;
}

/* Keys of the sizes of one kind of replica. */
#define SIZES(X)                                                                            \
    X(chips) X(tensor_parallel) X(attention_dp) X(pipeline_parallel) X(expert_parallel)     \
    X(context_parallel)

static const char *const size_rows[] = {
#define X(name) NAME_##name,
    SIZES(X)
#undef X
};

static const char *const roles[] = { "aggregated", "prefill", "decode" };

static const struct record kind_record = { "Server", (const struct answer_field[]){
    { FIELD_TEXT, "role", .help = "aggregated, prefill or decode", .names = roles, .count = 3,
      .always = true },
    { FIELD_NUMBER, "count", .help = "number of these servers", .always = true },
    { FIELD_TEXT, "machine", .help = "name of the machine in the catalog", .always = true },
    { FIELD_ROWS, .names = size_rows, .count = sizeof size_rows / sizeof *size_rows,
      .always = true },
    { FIELD_ROWS, .names = server_rows, .count = 1, .always = true },       /* null in an open loop */
    { FIELD_NUMBER, NAME_spare_experts, .help = "further copies of busy experts, which balance the ranks (EPLB)", .always = true },
    { FIELD_NUMBER, "prefill_chunk", .help = "most prompt tokens in one step", .unit = "token",
      .always = true },
    { 0 } } };

/* Keys of the hosts and chips that are paid for. */
static const char *const paid_rows[] = { NAME_deployment_chips, NAME_host_chips, NAME_hosts, NAME_chips_paid };

const struct record deployment_record = { "Deployment", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again", .always = true },
    { FIELD_LIST, "servers", .help = "groups of equal servers: role, count, layout", .record = &kind_record,
      .always = true },
    { FIELD_TEXT, "engine", .help = "engine whose fitted constants were used; any: fitted over all engines",
      .always = true },
    { FIELD_TEXT, "engine_version", .help = "engine version whose flags and rules were read", .null = true,
      .always = true },
    { FIELD_SWITCH, "startable", .help = "whether an engine is known to start this layout", .always = true },
    { FIELD_TEXTS, "broken_rules", .help = "rules of data/rules.csv that it breaks",
      .always = true },
    { FIELD_TEXTS, "started_by", .help = "engines that can start it, with the version whose rules were read",
      .always = true },
    { FIELD_TEXT, "unknown", .help = "that no engine is known to run on the machine (data/engines.csv)" },
    { FIELD_NUMBER, "distance", .help = "0: published servers have the layout; 1: published servers of other engines or machines have it; "
      "2: its sizes were published apart; 3: one of them never was", .always = true },
    { FIELD_ROWS, .names = paid_rows, .count = sizeof paid_rows / sizeof *paid_rows,
      .always = true },
    { 0 } } };

/* A deployment that keeps up with its arrivals has all rows. */
static const struct record served_record = { "ServerDeployment", (const struct answer_field[]){
    { FIELD_ALSO, .record = &deployment_record },
    { FIELD_ROWS, .names = server_rows, .count = SERVER_KNOWN, .always = true },
    { FIELD_ROWS, .names = server_rows + SERVER_KNOWN, .count = SERVER_ROW_COUNT - SERVER_KNOWN },
    { 0 } } };

const struct record server_record = { "ServerRows", (const struct answer_field[]){
    { FIELD_ROWS, .names = server_rows, .count = SERVER_KNOWN, .always = true },
    { FIELD_ROWS, .names = server_rows + SERVER_KNOWN, .count = SERVER_ROW_COUNT - SERVER_KNOWN },
    { FIELD_RECORD, "server", .help = "the deployment that has this replica",
      .record = &served_record, .always = true },
    { FIELD_RECORD, "parts", .help = "where the time of a token goes", .record = &parts_record },
    { FIELD_TEXT, "infeasible", .help = "why there is no such server, or none within the limits" },
    { FIELD_TEXT_ONLY, .count = 6,
      .names = (const char *const[]){ "server_layout", "verdict", "hosts_paid", "hosts_why", "hosts_idle", "load_line" } },
    { 0 } } };

void deployment_engine(const struct scenario *scenario, struct section *section)
{
    const char *engine = scenario->subject.engine;
    const char *version = catalog_engine_version(&scenario->catalog, engine);
    section_word(section, "engine", catalog_engine_name(&scenario->catalog, engine));
    if (version)
        section_word(section, "engine_version", version);
    else
        section_nothing(section, "engine_version");
}

void deployment_rules(const struct started *started, struct section *section)
{
    section_switch(section, "startable", started->startable);
    struct section *list = section_add(section, "broken_rules", SECTION_TEXTS);
    struct section *by = section_add(section, "started_by", SECTION_TEXTS);
    for (size_t i = 0; i < started->broken_count; i++)
        section_word(list, NULL, started->broken[i].id);
    for (size_t i = 0; i < started->engine_count; i++)
        section_word(by, NULL, started->engines[i]);
    if (started->unknown)
        section_word(section, "unknown", started->unknown);
}

static bool open_loop(const struct server *server)
{
    return server_at(server, SERVER_arrival_rate) > 0;
}

/* The users of one replica in a closed loop; an open loop has none. */
static void add_concurrency(const struct server *server, struct section *section)
{
    if (open_loop(server))
        section_nothing(section, NAME_concurrency);
    else
        section_number(section, NAME_concurrency, server_at(server, SERVER_concurrency), unit_one);
}

void server_deployment(const struct server *server, struct section *answer)
{
    static const enum server_row sizes[] = {
#define X(name) SERVER_##name,
        SIZES(X)
#undef X
    };
    struct section *section = section_add(answer, "server", SECTION_RECORD);
    struct section *servers = section_add(section, "servers", SECTION_LIST);
    struct section *one = section_add(servers, NULL, SECTION_RECORD);
    section_word(one, "role", "aggregated");
    section_number(one, "count", server_at(server, SERVER_replicas), unit_one);
    section_word(one, "machine", server->scenario.subject.machine);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        section_number(one, server_rows[sizes[i]], server_at(server, sizes[i]), unit_of(server, sizes[i]));
    add_concurrency(server, one);
    section_number(one, NAME_spare_experts, server_at(server, SERVER_spare_experts), unit_one);
    section_number(one, "prefill_chunk", server_at(server, SERVER_chunked_prefill_size),
                   unit_of(server, SERVER_chunked_prefill_size));
    struct scenario scenario = server->scenario, *const kinds[] = { &scenario };
    figures_words(&scenario, section);
    deployment_engine(&scenario, section);
    struct started started;
    rules_judge(server_at(server, SERVER_layout_startable) > 0, kinds, 1, &started);
    deployment_rules(&started, section);
    section_number(section, "distance", server_at(server, SERVER_layout_distance), unit_one);
    add_concurrency(server, section);
    for (size_t i = 1; i < server->row_count; i++)
        section_number(section, server_rows[i], server_at(server, i), unit_of(server, i));
}

/* All but the first values. */
static struct values values_from(const struct values *values, size_t first)
{
    struct values rest = *values;
    rest.at += first;
    rest.names += first;
    rest.drawn = rest.ends = NULL;
    rest.graph.outputs += first;
    rest.graph.output_count -= first;
    return rest;
}

const char *load_command(struct arena *arena, double rate, double users, double cv2, double prompt, double output)
{
    const double evenest = 1e6;     /* shape of gamma distributed gaps that are nearly equal */
    struct buffer out = { .arena = arena };
    buffer_print(&out, "vllm bench serve --random-input-len %.0f --random-output-len %.0f", prompt, output);
    if (users > 0)
        buffer_print(&out, " --max-concurrency %.0f", fmax(1, floor(users + 0.5)));
    else
        buffer_print(&out, " --request-rate %.6g", rate);
    if (!(users > 0) && cv2 != 1)
        buffer_print(&out, " --burstiness %.6g", fmin(evenest, 1 / cv2));
    return out.data;
}

const char *server_load(const struct server *server)
{
    const double users = open_loop(server) ? 0 : server_at(server, SERVER_concurrency) * server_at(server, SERVER_replicas);
    return load_command(server->scenario.arena, server_at(server, SERVER_arrival_rate) * server_at(server, SERVER_replicas),
                        users, server_at(server, SERVER_arrivals_cv2), server_at(server, SERVER_prompt_tokens),
                        server_at(server, SERVER_output_tokens));
}

void server_figures(struct server *server, const char *const *more, size_t count,
                    const struct template *template, struct section *section)
{
    struct values values = server_more(server), known = values_from(&server->values, open_loop(server));
    figures_of(&server->scenario, &values, more, count, template, section);
    if (open_loop(server))
        section_nothing(section, NAME_concurrency);
    figures_of(&server->scenario, &known, server_rows + open_loop(server), server->row_count - open_loop(server), template,
               section);
    section_word(section, "load_line", server_load(server))->text_only = true;
    scenario_hosts(&server->scenario, server_at(server, SERVER_deployment_chips), server_at(server, SERVER_hosts),
                   server_at(server, SERVER_host_chips), section);
    section_word(section, "server_layout", server_layout(server))->text_only = true;
    const char *verdict = server_verdict(server);
    section_word(section, "verdict", verdict ? verdict : "")->text_only = true;
    if (server->parts.count)
        breakdown_section(&server->scenario, &server->parts, unit_second, section);
}

bool server_open(struct server *server, const struct scenario *scenario, struct error *error)
{
    return server_open_with(server, scenario, NULL, 0, error);
}

struct values server_more(const struct server *server)
{
    return values_from(&server->values, SERVER_ROW_COUNT);
}

static void note_started(struct scenario *scenario, bool startable)
{
    struct scenario *const kinds[] = { scenario };
    struct started started;
    rules_judge(startable, kinds, 1, &started);
    if (started.unknown && scenario->machine)
        facts_note(&scenario->facts, "%s", started.unknown);
    for (size_t i = 0; i < started.broken_count; i++)
        facts_note(&scenario->facts, "%s", rule_text_of(scenario->arena, &started.broken[i]));
}

bool server_open_with(struct server *server, const struct scenario *scenario,
                      const char *const *more, size_t count, struct error *error)
{
    const char **texts = arena_array(scenario->arena, SERVER_ROW_COUNT + count, sizeof *texts);
    memcpy(texts, server_rows, sizeof server_rows);
    if (count)
        memcpy(texts + SERVER_ROW_COUNT, more, count * sizeof *texts);
    *server = (struct server){ .scenario = *scenario };
    server->scenario.facts = facts_copy(&scenario->facts);
    if (!scenario_choose(&server->scenario, texts, SERVER_ROW_COUNT + count, error) ||
        !values_of(&server->scenario, texts, SERVER_ROW_COUNT + count, &server->values, error))
        return false;
    server->row_count = server_at(server, SERVER_stable) > 0 ? SERVER_ROW_COUNT
                                                                    : SERVER_KNOWN;
    note_started(&server->scenario, server_at(server, SERVER_layout_startable) > 0);
    server_note_load(&server->scenario, &server->scenario.facts);
    scenario_note_length(&server->scenario);
    if (server_at(server, SERVER_band_exponent) > 1)
        facts_note(&server->scenario.facts, "few or no measurements of such GPUs: the prediction "
                   "interval is widened");
    return true;
}

bool server_open_parts(struct server *server, const struct scenario *scenario,
                       const char *const *more, size_t count, struct error *error)
{
    return server_open_with(server, scenario, more, count, error) &&
           (server_verdict(server) ||
            breakdown_of(&server->scenario, NAME_predicted_tpot, true, &server->parts, error));
}

void server_note_load(struct scenario *scenario, struct facts *noted)
{
    static const char *const gaps[] = {
        [1] = "users with equal think times may synchronize: TTFT may be off by 5 to 50 %",
        [2] = "pipeline stages under load are less sure: `chalkline simulate`",
        [3] = "attention ranks step together: TTFT with prompts longer than a step may be off by 40 %",
        [4] = "near the capacity TTFT may be off by 10 to 40 %: `chalkline simulate`",
        [5] = "arrivals in bursts: TTFT may be 10 to 50 % longer: `chalkline simulate`",
        [6] = "a prompt comes in every second step and runs first: TTFT and TPOT may be off by half: `chalkline simulate`" };
    struct error ignored;
    double gap;
    if (value_of(scenario, NAME_load_gap, &gap, &ignored) && gap >= 1 && gap < sizeof gaps / sizeof *gaps)
        facts_note(noted, "%s", gaps[(int)gap]);
}
