/* step: one forward pass: its lower bound, what binds, what it yields, and beside it the predicted
 * time of a deployment and where that time goes. step.template is its text.
 *
 * Every number is a row, read from one graph at the scenario's point: rows of the bound, rows of
 * the prediction (deploy/server.c), the waterfall between them, and two times of each operator.
 * Parts of TPOT below one per cent are shown together. With --emit the text is what starts the replica. */
#include "ask/ask.h"
#include "deploy/launch/launch.h"
#include "build/row_names.h"
#include "deploy/server.h"
#include "deploy/waterfall.h"
#include "scenario/basis.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    NAME_bound_step, NAME_bound_compute, NAME_bound_weights, NAME_bound_kv, NAME_bound_memory, NAME_bound_mfu,
    NAME_bound_mbu, NAME_user_speed, NAME_bound_throughput, NAME_bound_cost_per_token, NAME_hbm_share,
    NAME_all_to_all_time, NAME_recurrent_state, NAME_batch, NAME_context, NAME_chips,
    NAME_bound_overlap, NAME_step_time, NAME_step_over_bound, NAME_tpot_over_bound };
enum { COUNT = sizeof names / sizeof *names, OPERATORS = COUNT + WATERFALL_ROWS };

/* All that is asked beside server_rows: `names`, the waterfall, then two times of each operator. */
static const char **asked_texts(struct scenario *scenario, size_t *count)
{
    struct arena *arena = scenario->arena;
    const struct fact_table *table = facts_table(&scenario->facts, "operator");
    const char **texts = arena_array(arena, OPERATORS + 2 * table->entries, sizeof *texts);
    memcpy(texts, names, sizeof names);
    memcpy(texts + COUNT, waterfall_rows, sizeof waterfall_rows);
    *count = OPERATORS;
    for (size_t i = 0; i < table->entries; i++) {
        texts[(*count)++] = arena_print(arena, "operator_compute_time[%s]", table->entry[i]);
        texts[(*count)++] = arena_print(arena, "operator_read_time[%s]", table->entry[i]);
    }
    return texts;
}

static void note_idle(struct server *server, const char *const *asked, size_t count)
{
    struct scenario *scenario = &server->scenario;
    const char **texts = arena_array(scenario->arena, SERVER_ROW_COUNT + count, sizeof *texts);
    memcpy(texts, server_rows, SERVER_ROW_COUNT * sizeof *texts);
    memcpy(texts + SERVER_ROW_COUNT, asked, count * sizeof *texts);
    given_note_of(scenario, texts, SERVER_ROW_COUNT + count, &server->values, "the step");
}

/* "H100 SXM x 8"; "4 x RTX 4090" has its count already. */
static const char *hardware_text(const struct scenario *scenario, double count)
{
    const char *title = scenario->machine, *chips = count_text(scenario->arena, count, 4);
    size_t digits = strspn(title, "0123456789");
    if (!digits || strncmp(title + digits, " x ", 3))
        return arena_print(scenario->arena, "%s x %s", title, chips);
    if (strlen(chips) == digits && !strncmp(title, chips, digits))
        return title;
    return arena_print(scenario->arena, "%s x %s", title + digits + 3, chips);
}

static double longer(const struct section *operator)
{
    const double compute = operator->figures[0].value, read = operator->figures[1].value;
    return compute > read ? compute : read;
}

/* Operators that take as long as each other go by name, so that the order is the same everywhere. */
static int longest_first(const void *a, const void *b)
{
    const struct section *p = *(struct section *const *)a, *q = *(struct section *const *)b;
    const double x = longer(p), y = longer(q);
    return x != y ? (x < y) - (x > y) : strcmp(p->figures[0].name, q->figures[0].name);
}

/* The weights operator by operator: what each must compute and read. */
static void add_operators(struct scenario *scenario, struct values values, const char *const *texts,
                          struct section *section)
{
    const struct fact_table *table = facts_table(&scenario->facts, "operator");
    struct section *list = section_add(section, "operators", SECTION_MERGED);
    for (size_t i = 0; i < table->entries; i++, texts += 2, values.at += 2) {
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_number(one, texts[0], values.at[0], unit_second);
        section_number(one, texts[1], values.at[1], unit_second);
        section_word(one, "operator", table->entry[i])->text_only = true;
    }
    qsort(list->inside, list->inside_count, sizeof *list->inside, longest_first);
}

/* The parts of a token's time, those below a hundredth together. */
static void add_shares(const struct breakdown *parts, struct section *section)
{
    struct section *list = section_add(section, "shares", SECTION_LIST);
    double smaller = 0;
    size_t count = 0;
    list->text_only = true;
    for (size_t i = 0; i < parts->count; i++) {
        const struct contribution *part = &parts->at[i];
        if (part->value < 0.01 * parts->whole) {
            smaller += part->value;
            count++;
            continue;
        }
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_word(one, "label", part->label);
        section_number(one, "time", part->value, unit_second);
        if (isfinite(part->saved))
            section_number(one, "saved_if_free", part->saved, unit_second);
        else
            section_word(one, "saved_if_free", "-");
        section_number(one, "share", part->value / parts->whole, unit_one);
    }
    if (!count)
        return;
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    section_word(one, "label", arena_print(section->arena, "%zu smaller parts", count));
    section_number(one, "time", smaller, unit_second);
    section_word(one, "saved_if_free", "");
    section_number(one, "share", smaller / parts->whole, unit_one);
}

/* Words and figures for the text; of a layout that misses the limits, by how much it does. */
static void add_words(const struct scenario *scenario, const struct server_choice *choice,
                      struct section *section)
{
    section_word(section, "missed", choice->made && choice->fits && !choice->met ? choice->rule : "")
        ->text_only = true;
    section_word(section, "limited_by", limit_of(section_value(section, NAME_bound_compute),
                                                 section_value(section, NAME_bound_weights),
                                                 section_value(section, NAME_bound_kv),
                                                 section_value(section, NAME_hbm_share)));
    section_word(section, "hardware", hardware_text(scenario, section_value(section, NAME_chips)))
        ->text_only = true;
}

/* "TPOT 59.9 ms, not within 20 ms" of the limits that were given; NULL: it meets them. */
static const char *missed_limits(struct server *server)
{
    struct scenario *scenario = &server->scenario;
    static const struct { const char *name, *row, *given[2]; enum server_row predicted; } limits[] = {
        { "TPOT", NAME_tpot_limit, { NAME_tpot_limit, NAME_speed_wanted }, SERVER_predicted_tpot },
        { "TTFT", NAME_ttft_limit, { NAME_ttft_limit, NAME_ttft_limit }, SERVER_predicted_ttft } };
    struct buffer out = { .arena = scenario->arena };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const double limit = value_or_nan(scenario, limits[i].row);
        bool given = false;
        for (int k = 0; k < 2; k++)
            given |= fact_given(facts_find(&scenario->facts, limits[i].given[k]));
        if (given && server_at(server, limits[i].predicted) > limit)
            buffer_print(&out, "%s%s %s, not within %s", out.size ? "; " : "", limits[i].name,
                         server_text(server, limits[i].predicted, 3),
                         quantity_text(scenario->arena, limit, unit_second, 4));
    }
    return out.size ? out.data : NULL;
}

/* --emit: what starts the deployment that was predicted, in place of the text. */
static bool emit(struct server *server, const struct command *command, struct answer *answer, struct error *error)
{
    struct scenario *scenario = &server->scenario;
    const char *verdict = server_verdict(server);
    struct subject subject;
    struct launch launch;
    if (verdict) {
        error_set(error, "--emit: nothing to start: %s", verdict);
        error_expected(error, "a deployment that serves its load; without --emit the answer says more");
        error->infeasible = true;
        return false;
    }
    command_models(command, &subject);
    facts_set(&scenario->facts, NAME_rank_running_target, server_at(server, SERVER_rank_running_mean), ORIGIN_CHOSEN,
              "the load");
    struct deployment deployment = {
        .scenario = *scenario, .model = subject.model, .machine = subject.machine,
        .weights = subject.precision, .experts = subject.experts_precision, .cache = subject.kv_precision,
        .gpus = server_at(server, SERVER_deployment_chips),
        .title = arena_print(scenario->arena, server_at(server, SERVER_arrival_rate) > 0 ? "%s, %s running"
                             : "%s, concurrency %s", server_layout(server),
                             server_text(server, server_at(server, SERVER_arrival_rate) > 0 ? SERVER_running
                                         : SERVER_concurrency, 3)),
        .predicted = arena_print(scenario->arena, "%s per user, TTFT %s, TPOT %s",
                                 server_text(server, SERVER_speed_per_user, 3),
                                 server_text(server, SERVER_predicted_ttft, 3),
                                 server_text(server, SERVER_predicted_tpot, 3)) };
    deployment.load = server_load(server);
    deployment.count[LAUNCH_TOGETHER] = server_at(server, SERVER_replicas);
    deployment.missed = missed_limits(server);
    return launch_open(&launch, scenario->arena, &deployment, command_text(command, "emit"), subject.engine, error) &&
           launch_print(&launch, answer, error);
}

static void note_ranges(struct facts *facts)
{
    for (size_t i = 0; i < facts->scalar_count; i++)
        if (fact_given(&facts->scalars[i]) && facts->scalars[i].distribution != DISTRIBUTION_NONE)
            facts_note(facts, "the server is predicted for the middle of %s; `chalkline eval predicted_tpot` answers with a range",
                       facts->scalars[i].name);
}

bool ask_step(struct arena *arena, const struct command *command, struct answer *answer,
              struct error *error)
{
    struct scenario scenario;
    struct server server;
    if (!scenario_open_pair(&scenario, arena, command, error))
        return false;
    size_t count;
    const char **texts = asked_texts(&scenario, &count);
    if (!server_open_parts(&server, &scenario, texts, count, error))
        return false;
    const struct template *template = template_built_in(arena, "ask/step.template");
    struct section *section = section_new(arena);
    struct values values = server_more(&server);
    section_word(section, "model", scenario.model);
    section_word(section, "machine", scenario.machine);
    server_figures(&server, texts, server.parts.count ? OPERATORS : COUNT, template, section);
    values.at += OPERATORS;
    add_words(&scenario, &server.scenario.choice, section);
    if (server.parts.count) {
        waterfall_section(section);
        add_shares(&server.parts, section);
    }
    add_operators(&scenario, values, texts + OPERATORS, section);
    note_ranges(&server.scenario.facts);
    server_assumed(&server);
    note_idle(&server, texts, count);
    figures_words(&server.scenario, section);
    figures_notes(&server.scenario, section);
    server_deployment(&server, section);
    scenario_footprint(&server.scenario, false, section);
    section_document(section, answer->doc);
    template_print(template, section, &answer->text);
    answer->section = section;
    if (command_draws(command))
        answer->picture = waterfall_picture(section, "From the lower bound of a step to a token of a server");
    answer->status = server_infeasible(&server, answer->doc);
    return !command_given(command, "emit") || emit(&server, command, answer, error);
}

static const struct record share_record = { "StepShare", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .count = 4,
      .names = (const char *const[]){ "label", "time", "saved_if_free", "share" } },
    { 0 } } };

static const struct record operators_record = { "Operators", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "operator_compute_time and operator_read_time of one operator",
      .unit = "s", .count = 2, .names = (const char *const[]){
          NAME_operator_compute_time, NAME_operator_read_time } },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "operator" }, .count = 1 },
    { 0 } } };

static const struct record answer_step = { "Step", (const struct answer_field[]){
    { FIELD_TEXT, "model", .help = "title", .always = true },
    { FIELD_TEXT, "machine", .help = "title", .always = true },
    { FIELD_ROWS, .names = names, .count = COUNT, .always = true },
    { FIELD_TEXT, "limited_by", .help = "the term that limits the step, by the bound", .always = true },
    { FIELD_ALSO, .record = &server_record },
    { FIELD_ALSO, .record = &waterfall_record },
    { FIELD_ROWS, .names = footprint_rows[0], .count = FOOTPRINT_ROWS },
    { FIELD_RECORD, "operators", .help = "times of each operator that reads weights",
      .record = &operators_record, .always = true },
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again", .always = true },
    { FIELD_TEXTS, "assumed", .help = "assumptions and defaults, with notes", .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "hardware", "missed", "energy", "carbon", "water" }, .count = 5 },
    { FIELD_TEXT_ONLY, "shares", .record = &share_record },
    { FIELD_RECORD, "emit", .help = "--emit: commands or manifests that start the deployment" },
    { 0 } } };

const struct verb verb_step = {
    "step", "MODEL --on HARDWARE", "Bound and predict one forward pass: time, binding limit, throughput, cost, memory.",
    { "chalkline step llama-3.3-70b --on h100-sxm --batch 64",
      "chalkline step deepseek-v3 --on gb200-nvl72 --isl 4000 --osl 500 --engine sglang",
      "chalkline step qwen3-32b --on h200-sxm --gpus 8 --precision fp8 --json" },
    { SERVING_OPTIONS, &launch_options, &plot_options, &report_options, &output_options },
    ANSWERS(answer_step), .ask = ask_step, .ranges = true,
    .main = (const char *const[]){ NAME_chips, NAME_bound_step, NAME_predicted_tpot, NAME_predicted_ttft,
                                   NAME_throughput_per_chip, NAME_blended_cost_per_token, NULL } };
