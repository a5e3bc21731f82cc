/* brief: one screen for a model on a machine: the prediction for the chosen deployment with its
 * waterfall, then the lecture's lower bounds for a whole scale-up domain. brief.template is
 * its text.
 *
 * Every figure is a row. One graph has all of them; it is evaluated at the chosen batch and at a few
 * others for the table, which are one user, powers between, the chosen batch, and the batch beyond
 * which nothing is gained. The lines below the table are statements of the lecture (data/lecture.csv), each asked
 * with the inputs of its own question. Ranges are refused, since no line has room for them. */
#include "ask/ask.h"
#include "report/picture.h"
#include "build/row_names.h"
#include "lecture/question.h"
#include "deploy/server.h"
#include "deploy/waterfall.h"
#include "scenario/basis.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

/* Figures of the head and of the table, read once at the chosen batch; the table reads the same graph at others. */
#define FIGURES(X)                                                                          \
    X(batch) X(context) X(chips) X(params_total) X(params_active) X(kv_per_token)           \
    X(recurrent_state)                                                                      \
    X(hbm_bandwidth_total) X(hbm_total) X(hbm_share) X(hbm_needed) X(chips_to_fit)          \
    X(sequences_that_fit) X(bound_step) X(bound_compute) X(bound_weights) X(bound_kv)       \
    X(user_speed) X(bound_throughput) X(bound_cost_per_token) X(bound_overlap)

enum shown {
#define X(name) FIGURE_##name,
    FIGURES(X)
#undef X
    FIGURES_COUNT
};

static const char *const figure_names[] = {
#define X(name) NAME_##name,
    FIGURES(X)
#undef X
};

/* Rows of the operating point, besides those of deploy/server.h. */
static const char *const point_rows[] = {
    NAME_bound_step, NAME_bound_compute, NAME_bound_weights, NAME_bound_kv, NAME_bound_memory,
    NAME_bound_cost_per_token, NAME_chips, NAME_context, NAME_tpot_over_bound };
enum { POINT_ROWS = sizeof point_rows / sizeof *point_rows, POINT_ALL = POINT_ROWS + WATERFALL_ROWS };

struct brief {
    struct scenario scenario;       /* of the lower bounds: a whole domain at their cheapest batch */
    struct arena *arena;
    struct values values;           /* FIGURES at that batch */
    struct server server;           /* the prediction for the chosen deployment */
    struct error *error;
};

static double at(const struct brief *brief, enum shown figure)
{
    return brief->values.at[figure];
}
#define AT(name) at(brief, FIGURE_##name)

/* ---- the table over batch --------------------------------------------------------------- */

enum { BATCHES = 6 };

static const enum shown columns[] = {
    FIGURE_bound_step, FIGURE_user_speed, FIGURE_bound_cost_per_token, FIGURE_bound_compute,
    FIGURE_bound_weights, FIGURE_bound_kv, FIGURE_hbm_share };
static const char *const column_rows[] = {
    NAME_bound_step, NAME_user_speed, NAME_bound_cost_per_token, NAME_bound_compute,
    NAME_bound_weights, NAME_bound_kv, NAME_hbm_share };
enum { COLUMNS = sizeof columns / sizeof *columns };

static void add_batch(double *batches, size_t *count, double batch)
{
    size_t i = *count;
    for (size_t k = 0; k < *count; k++)
        if (batches[k] == batch)
            return;
    for (; i > 0 && batches[i - 1] > batch; i--)
        batches[i] = batches[i - 1];
    batches[i] = batch;
    ++*count;
}

/* Batches of the table: one user, a few, many, the chosen one, and where nothing more is gained: balance, or
 * memory full. */
static size_t choose_batches(struct brief *brief, double balanced, double *batches)
{
    size_t count = 0;
    double chosen = AT(batch), fits = AT(sequences_that_fit);
    add_batch(batches, &count, 1);
    add_batch(batches, &count, chosen);
    if (fits < 1)
        return count;
    if (chosen > 128)
        add_batch(batches, &count, 64);
    if (chosen > 1024)
        add_batch(batches, &count, 512);
    if (balanced <= fits)
        add_batch(batches, &count, floor(balanced + 0.5));
    else if (fits > chosen)
        add_batch(batches, &count, fits);
    return count;
}

/* All figures at each batch, all else as it is. */
static void run_batches(struct brief *brief, const double *batches, size_t count, double **at_batch)
{
    const struct values *values = &brief->values;
    const size_t input_count = values->graph.input_count;
    struct column *inputs = arena_array(brief->arena, input_count + 1, sizeof *inputs);
    double *numbers = arena_array(brief->arena, input_count + 1, sizeof *numbers);
    const int batch = graph_input(&values->graph, NAME_batch);
    for (size_t i = 0; i < input_count; i++) {
        numbers[i] = values->graph.inputs[i].value;
        inputs[i] = (struct column){ &numbers[i], 0 };
    }
    if (batch >= 0)
        inputs[batch] = (struct column){ batches, 1 };
    graph_run(&values->graph, inputs, at_batch, count);
}

static void add_row(struct brief *brief, double batch, double *const *at_batch, size_t i,
                    struct section *list)
{
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    struct scenario scenario = brief->scenario;
    scenario.facts = facts_copy(&scenario.facts);
    facts_set(&scenario.facts, NAME_batch, batch, ORIGIN_CHOSEN, "the table");
    figures_words(&scenario, one);
    section_number(one, NAME_batch, batch, unit_one);
    for (int j = 0; j < COLUMNS; j++)
        section_number(one, column_rows[j], at_batch[columns[j]][i],
                       scenario_unit(&brief->scenario, column_rows[j]));
    section_word(one, "limited_by", limit_of(
        at_batch[FIGURE_bound_compute][i], at_batch[FIGURE_bound_weights][i],
        at_batch[FIGURE_bound_kv][i], at_batch[FIGURE_hbm_share][i]));
    const double share = batch / AT(chips);
    section_number(one, "batch_per_gpu", share < 10 ? floor(share * 10) / 10 : floor(share), unit_one)
        ->text_only = true;
    section_number(one, "throughput_per_gpu", at_batch[FIGURE_bound_throughput][i] / AT(chips), unit_one)
        ->text_only = true;
}

static bool add_table(struct brief *brief, struct section *section)
{
    static const char *const totals[] = { NAME_batch_balanced, NAME_domain_flops, NAME_server_price };
    struct values values;
    if (!values_known(&brief->scenario, totals, 3, &values, brief->error))
        return false;
    for (size_t i = 1; i < 3; i++)
        section_number(section, totals[i], values.at[i], scenario_unit(&brief->scenario, totals[i]))
            ->text_only = true;
    const double balanced = values.at[0];
    struct section *list = section_add(section, "batches", SECTION_LIST);
    double batches[BATCHES], column[FIGURES_COUNT][BATCHES], *at_batch[FIGURES_COUNT];
    for (int j = 0; j < FIGURES_COUNT; j++)
        at_batch[j] = column[j];
    const size_t count = choose_batches(brief, balanced, batches);
    run_batches(brief, batches, count, at_batch);
    for (size_t i = 0; i < count; i++)
        add_row(brief, batches[i], at_batch, i, list);
    return true;
}

/* ---- the lines -------------------------------------------------------------------------- */

static bool add_lecture(struct brief *brief, const struct template *template, struct section *lecture)
{
    figures_words(&brief->scenario, lecture);
    figures_of(&brief->scenario, &brief->values, figure_names, FIGURES_COUNT, template, lecture);
    figures_notes(&brief->scenario, lecture);
    return add_table(brief, lecture);
}

static void add_point(struct brief *brief, const char *const *texts, const struct template *template,
                      struct section *section)
{
    struct server *server = &brief->server;
    const struct server_choice *choice = &server->scenario.choice;
    section_word(section, "model", brief->scenario.model);
    section_word(section, "machine", brief->scenario.machine);
    const bool serves = !server_verdict(server);
    server_figures(server, texts, serves ? POINT_ALL : POINT_ROWS, template, section);
    if (serves)
        waterfall_section(section);
    section_word(section, "choice", choice->made ? choice->rule : "")->text_only = true;
    figures_words(&server->scenario, section);
    figures_notes(&server->scenario, section);
}

/* ---- what was given --------------------------------------------------------------------- */

/* The table goes over batches, so the batch is a number: an expression becomes one. */
static bool settle_batch(struct scenario *scenario, struct error *error)
{
    const struct fact *batch = facts_find(&scenario->facts, NAME_batch);
    double value;
    if (!batch || !batch->expression)
        return true;
    if (!value_of(scenario, NAME_batch, &value, error))
        return false;
    facts_note(&scenario->facts, "batch = %s = %s", batch->expression,
               quantity_text(scenario->arena, value, unit_one, 9));
    facts_set(&scenario->facts, NAME_batch, value, batch->origin, batch->source);
    return true;
}

/* All that the screen reads, for what has no effect on it: with its figures and the server's, rows of the lines. */
static void note_idle(struct brief *brief)
{
    static const char *const more[] = { NAME_batch_balanced, NAME_chip_price, NAME_drain_time, NAME_idle_chips,
                                        NAME_all_to_all_time_two_domains, NAME_output_input_ratio,
                                        NAME_unbatched_cost_ratio, NAME_hbm_hold_break_even, NAME_context_crossover,
                                        NAME_weights_per_chip, NAME_kv_per_chip, NAME_overtraining_high,
                                        NAME_time_to_live_short, NAME_time_to_live_long,
                                        "SUM(tier, tier_pause_cost)" };
    enum { MORE = sizeof more / sizeof *more };
    const char *texts[FIGURES_COUNT + MORE + SERVER_ROW_COUNT];
    memcpy(texts, figure_names, sizeof figure_names);
    memcpy(texts + FIGURES_COUNT, more, sizeof more);
    memcpy(texts + FIGURES_COUNT + MORE, server_rows, sizeof server_rows);
    given_note(&brief->server.scenario, texts, FIGURES_COUNT + MORE + SERVER_ROW_COUNT, "this screen");
}

/* ---- the picture: multiplying and reading, by the batch ------------------------------------------ */

static bool draw_step(struct brief *brief, struct picture **picture)
{
    enum { POINTS = 81 };
    static const char *const texts[] = { NAME_bound_compute, NAME_bound_weights, NAME_bound_kv,
                                         NAME_bound_step };
    static const struct { const char *name; enum picture_kind kind; enum picture_role role; } drawn[] = {
        { "multiply", PICTURE_COMPUTE, PICTURE_TERM }, { "read the weights", PICTURE_WEIGHTS, PICTURE_TERM },
        { "read the caches", PICTURE_CACHE, PICTURE_TERM }, { "the step", PICTURE_RESULT, PICTURE_MAXIMUM } };
    const double ms = 1e-3, wide = 2.5;
    double x[POINTS], at[4][POINTS], *const y[] = { at[0], at[1], at[2], at[3] };
    const struct fact *batch = facts_find(&brief->scenario.facts, NAME_batch);
    const double now = batch ? batch->value : 1;
    double balanced = NAN;
    struct error ignored;
    if (!value_of(&brief->scenario, NAME_batch_balanced, &balanced, &ignored) || !(balanced > 0))
        balanced = now;
    const double last = wide * fmax(balanced, now);
    for (int i = 0; i < POINTS; i++)
        x[i] = fmax(1, last * i / (POINTS - 1));
    if (!values_along(&brief->scenario, texts, 4, NAME_batch, x, POINTS, y, brief->error))
        return false;
    *picture = picture_new(brief->arena, arena_print(brief->arena, "One step of a whole domain, by the "
                                                     "batch: %s", brief->scenario.model));
    (*picture)->x = (struct picture_axis){ "sequences in the step", "", false, false, 0, last };
    (*picture)->y = (struct picture_axis){ "time of a step", "ms", false, false, NAN, NAN };
    for (int k = 0; k < 4; k++) {
        struct picture_line *line = picture_line_add(*picture, drawn[k].name, drawn[k].kind, drawn[k].role);
        for (int i = 0; i < POINTS; i++)
            picture_point_add(*picture, line, x[i], at[k][i] / ms);
    }
    return true;
}

bool ask_brief(struct arena *arena, const struct command *command, struct answer *answer,
               struct error *error)
{
    struct brief *brief = arena_alloc(arena, sizeof *brief);
    brief->arena = arena;
    brief->error = error;
    struct scenario point;
    const char *point_texts[POINT_ALL];
    memcpy(point_texts, point_rows, sizeof point_rows);
    memcpy(point_texts + POINT_ROWS, waterfall_rows, sizeof waterfall_rows);
    if (!scenario_open_pair(&point, arena, command, error) ||
        !server_open_with(&brief->server, &point, point_texts, POINT_ALL, error) ||
        !scenario_lecture(&point, &brief->scenario, error) ||
        !settle_batch(&brief->scenario, error) ||
        !values_of(&brief->scenario, figure_names, FIGURES_COUNT, &brief->values, error))
        return false;
    server_assumed(&brief->server);
    scenario_note_length(&brief->scenario);
    note_idle(brief);
    const struct template *template = template_built_in(arena, "ask/brief.template");
    struct section *section = section_new(arena);
    add_point(brief, point_texts, template, section);
    struct section *lecture = section_add(section, "lecture", SECTION_RECORD);
    if (!add_lecture(brief, template, lecture))
        return false;
    server_deployment(&brief->server, section);
    scenario_footprint(&brief->server.scenario, false, section);
    question_lines(&brief->scenario, lecture);          /* last: their inputs differ, and the graphs of others are let go */
    answer->section = section;
    if (command_draws(command) && !draw_step(brief, &answer->picture))
        return false;
    section_document(section, answer->doc);
    template_print(template, section, &answer->text);
    answer->status = server_infeasible(&brief->server, answer->doc);
    return true;
}

static const struct record batch_record = { "BriefBatch", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again", .always = true },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_batch }, .count = 1, .always = true },
    { FIELD_ROWS, .names = column_rows, .count = COLUMNS, .always = true },
    { FIELD_TEXT, "limited_by", .help = "the term that limits the step", .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "batch_per_gpu", "throughput_per_gpu" }, .count = 2 },
    { 0 } } };

static const struct record lecture_record = { "BriefLecture", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again", .always = true },
    { FIELD_ROWS, .names = figure_names, .count = FIGURES_COUNT, .always = true },
    { FIELD_LIST, "batches", .help = "the table of batch sizes", .record = &batch_record,
      .always = true },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions of those lines", .always = true },
    { FIELD_LIST, "lines", .help = "the lecture's statements with the figures of this model and machine", .record = &summary_line_record,
      .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ NAME_domain_flops, NAME_server_price }, .count = 2 },
    { 0 } } };

static const struct record answer_brief = { "Brief", (const struct answer_field[]){
    { FIELD_TEXT, "model", .help = "title", .always = true },
    { FIELD_TEXT, "machine", .help = "title", .always = true },
    { FIELD_ALSO, .record = &server_record },
    { FIELD_ALSO, .record = &waterfall_record },
    { FIELD_ROWS, .names = point_rows, .count = POINT_ROWS, .always = true },
    { FIELD_ROWS, .names = footprint_rows[0], .count = FOOTPRINT_ROWS },
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again", .always = true },
    { FIELD_RECORD, "lecture", .help = "the lecture's lines: a whole domain at the bound's batch",
      .record = &lecture_record, .always = true },
    { FIELD_TEXTS, "assumed", .help = "assumptions and defaults, with notes", .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "choice", "energy", "carbon", "water" }, .count = 4 },
    { 0 } } };

const struct verb verb_brief = {
    "brief", "MODEL --on HARDWARE", "Summarize bounds, predicted speed, cost and memory of a model on a machine.",
    { "chalkline deepseek-v3 --on gb200-nvl72",
      "chalkline brief llama-3.3-70b --on h100-sxm --gpus 8 --precision fp8",
      "chalkline brief ./config.json --on gb200-nvl72" },
    { SERVING_OPTIONS, &plot_options, &report_options, &output_options }, ANSWERS(answer_brief), .ask = ask_brief,
    .main = (const char *const[]){ NAME_chips, NAME_speed_per_user, NAME_predicted_tpot, NAME_predicted_ttft,
                                   NAME_throughput_per_chip, NAME_blended_cost_per_token, NULL } };
