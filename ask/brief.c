/* brief: the whole lecture for one model on one machine, on one screen. */
#include "ask/ask.h"
#include "build/row_names.h"
#include "scenario/server.h"
#include "scenario/waterfall.h"

#include <math.h>
#include <string.h>

/* Every figure of the screen is a row, read once at the chosen batch. */
#define FIGURES(X)                                                                          \
    X(batch) X(context) X(chips) X(params_total) X(params_active) X(kv_per_token)           \
    X(peak_flops) X(hbm_bandwidth_total) X(hbm_total) X(chip_price) X(weights_stored)       \
    X(latency_floor) X(hbm_share) X(hbm_share_weights) X(cached_tokens_that_fit)            \
    X(users_that_fit) X(hbm_needed) X(chips_to_fit) X(bound_step) X(bound_memory)           \
    X(bound_throughput) X(bound_cost_per_token) X(experts) X(experts_per_chip)              \
    X(expert_chips) X(idle_chips) X(expert_copies_to_fill) X(exchange_time)                 \
    X(exchange_time_two_racks) X(drain_time) X(hbm_hold_break_even) X(output_input_ratio)   \
    X(token_rate) X(racks_for_rate) X(inference_tokens) X(pretrain_tokens) X(overtraining)  \
    X(speed_ratio) X(unbatched_cost) X(cost_floor) X(unbatched_cost_ratio)                  \
    X(weights_per_chip) X(kv_per_chip) X(recompute_cost) X(pipeline_parallel) X(overlap)

enum figure {
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

/* What is shown of the operating point beside the server's rows. */
static const char *const point_rows[] = {
    NAME_bound_step, NAME_bound_compute, NAME_bound_weights, NAME_bound_kv, NAME_bound_memory,
    NAME_bound_cost_per_token, NAME_chips, NAME_context };
enum { POINT_ROWS = sizeof point_rows / sizeof *point_rows, POINT_ALL = POINT_ROWS + WATERFALL_ROWS };

struct brief {
    struct scenario scenario;       /* the lecture's: a whole domain at the bound's batch */
    struct arena *arena;
    struct values values;
    struct server server;
    struct answer *answer;
    struct error *error;
};

static double at(const struct brief *brief, enum figure figure)
{
    return brief->values.at[figure];
}

static const char *text_of_figure(const struct brief *brief, enum figure figure, int digits)
{
    const struct row *row = brief->scenario.book.rows[book_find(&brief->scenario.book,
                                                                 figure_names[figure])];
    return quantity_text(brief->arena, at(brief, figure), row->unit, digits);
}
#define TEXT(name, digits) text_of_figure(brief, FIGURE_##name, digits)
#define AT(name) at(brief, FIGURE_##name)

/* A rate to its nearest whole number, wherever it is printed. */
static const char *rounded_text(struct arena *arena, double value)
{
    return count_text(arena, floor(value + 0.5), 9);
}

static void line(struct brief *brief, const char *name, const char *text)
{
    buffer_print(&brief->answer->text, "  %-9s %s\n", name, text);
}
#define LINE(name, ...) line(brief, name, arena_print(brief->arena, __VA_ARGS__))

/* ---- the table over batch --------------------------------------------------------------- */

enum { COLUMN_STEP, COLUMN_USER, COLUMN_CHIP, COLUMN_COST, COLUMN_COMPUTE, COLUMN_WEIGHTS,
       COLUMN_KV, COLUMN_SHARE, COLUMNS, BATCHES = 6 };

static const char *const column_rows[COLUMNS] = {
    NAME_bound_step, NAME_user_speed, "bound_throughput / chips", NAME_bound_cost_per_token,
    NAME_bound_compute, NAME_bound_weights, NAME_bound_kv, NAME_hbm_share };

static const char *limited_by(double *const *columns, size_t i)
{
    return limit_of(columns[COLUMN_COMPUTE][i], columns[COLUMN_WEIGHTS][i],
                    columns[COLUMN_KV][i], columns[COLUMN_SHARE][i])->name;
}

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

/* One user, a few, many, the one chosen, and where nothing more is gained: balance, or
 * memory full. */
static size_t choose_batches(struct brief *brief, double *batches)
{
    size_t count = 0;
    double chosen = AT(batch), balanced, fits = AT(users_that_fit);
    struct error ignored;
    add_batch(batches, &count, 1);
    add_batch(batches, &count, chosen);
    if (fits < 1)
        return count;
    if (chosen > 128)
        add_batch(batches, &count, 64);
    if (chosen > 1024)
        add_batch(batches, &count, 512);
    if (value_of(&brief->scenario, NAME_batch_balanced, &balanced, &ignored) &&
        balanced <= fits)
        add_batch(batches, &count, floor(balanced + 0.5));
    else if (fits > chosen)
        add_batch(batches, &count, fits);
    return count;
}

/* The columns at each batch, all else as it is. */
static bool run_batches(struct brief *brief, const double *batches, size_t count,
                        double *const *columns)
{
    struct values values;
    if (!values_of(&brief->scenario, column_rows, COLUMNS, &values, brief->error))
        return false;
    struct column *inputs = arena_array(brief->arena, values.list.input_count + 1,
                                        sizeof *inputs);
    int batch = list_input(&values.list, NAME_batch);
    for (size_t i = 0; i < values.list.input_count; i++)
        inputs[i] = (struct column){ &values.inputs[i], 0 };
    if (batch >= 0)
        inputs[batch] = (struct column){ batches, 1 };
    list_run(&values.list, inputs, columns, count);
    return true;
}

static void batch_document(struct brief *brief, struct doc *list, double batch,
                           double *const *columns, size_t i)
{
    struct doc *one = doc_add(brief->arena, list, NULL, DOC_OBJECT);
    struct scenario at = brief->scenario;
    at.facts = facts_copy(&at.facts);
    facts_set(&at.facts, NAME_batch, batch, ORIGIN_CHOSEN, "the table");
    scenario_words_document(&at, one);
    doc_add_number(brief->arena, one, NAME_batch, batch);
    for (int j = 0; j < COLUMNS; j++)
        if (j != COLUMN_CHIP)
            doc_add_number(brief->arena, one, column_rows[j], columns[j][i]);
    doc_add_string(brief->arena, one, "limited_by", limited_by(columns, i));
}

static void batch_line(struct brief *brief, struct table *table, double batch,
                       double *const *columns, size_t i)
{
    struct arena *arena = brief->arena;
    double share = batch / AT(chips);
    table_cell(table, "%s%s", batch == AT(batch) ? "> " : "", count_text(arena, batch, 9));
    table_cell(table, "%s", count_text(arena, share < 10 ? floor(share * 10) / 10
                                                         : floor(share), 9));
    table_cell(table, "%.2f", columns[COLUMN_STEP][i] * 1000);
    table_cell(table, "%s", rounded_text(arena, columns[COLUMN_USER][i]));
    table_cell(table, "%s", rounded_text(arena, columns[COLUMN_CHIP][i]));
    table_cell(table, "%s", isnan(columns[COLUMN_COST][i]) ? "" :
               arena_print(arena, "%.3f", columns[COLUMN_COST][i] * 1e6));
    table_cell(table, "%s", limited_by(columns, i));
}

static bool answer_table(struct brief *brief, struct doc *lecture)
{
    static const char *const head[] = { "batch", "a GPU", "step ms", "user tok/s", "GPU tok/s",
                                        "USD/M out", "limited by" };
    double batches[BATCHES], column[COLUMNS][BATCHES], *columns[COLUMNS];
    struct table table = { .arena = brief->arena, .columns = 7, .left = "rrrrrrl" };
    size_t count = choose_batches(brief, batches);
    for (int j = 0; j < COLUMNS; j++)
        columns[j] = column[j];
    if (!run_batches(brief, batches, count, columns))
        return false;
    for (int j = 0; j < 7; j++)
        table_cell(&table, "%s", head[j]);
    struct doc *list = doc_add(brief->arena, lecture, "batches", DOC_ARRAY);
    for (size_t i = 0; i < count; i++) {
        batch_document(brief, list, batches[i], columns, i);
        batch_line(brief, &table, batches[i], columns, i);
    }
    table_print(&table, &brief->answer->text, "  ");
    buffer_print(&brief->answer->text, "\n");
    return true;
}

/* Lines of WIDTH at most, broken between words, under the first. */
static const char *wrapped(struct arena *arena, const char *text)
{
    enum { WIDTH = 68 };
    char *copy = arena_copy(arena, text, strlen(text));
    struct buffer out = { .arena = arena };
    size_t column = 0;
    buffer_add(&out, "", 0);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        bool wrap = column && column + 1 + strlen(word) > WIDTH;
        buffer_print(&out, "%s%s", wrap ? "\n            " : column ? " " : "", word);
        column = wrap ? strlen(word) : column + (column > 0) + strlen(word);
    }
    return out.data;
}

/* ---- the lines -------------------------------------------------------------------------- */

static void head_lines(struct brief *brief)
{
    struct scenario *scenario = &brief->scenario;
    struct buffer *out = &brief->answer->text;
    buffer_print(out, "%s on %s%s: %s\n\n", scenario->model, AT(chips) == 1 ? "one " : "",
                 scenario->machine, limit_claim(AT(overlap)));
    LINE("model", "%s parameters, %s active, KV %s", large_text(brief->arena, AT(params_total)),
         large_text(brief->arena, AT(params_active)), TEXT(kv_per_token, 3));
    static const struct unit flops = { { -2, 0, 2 } }, usd_per_s = { { -2, 0, 0, 0, 2 } };
    const char *price = isnan(AT(chip_price)) ? "" : arena_print(brief->arena, ", %s", quantity_text(
        brief->arena, AT(chip_price) * AT(chips), usd_per_s, 3));
    LINE("machine", "%s GPU%s, %s, %s and %s HBM%s", count_text(brief->arena, AT(chips), 6),
         AT(chips) == 1 ? "" : "s",
         quantity_text(brief->arena, AT(peak_flops) * AT(chips), flops, 3),
         TEXT(hbm_bandwidth_total, 3), TEXT(hbm_total, 3), price);
    struct buffer assumed = { .arena = brief->arena };
    for (size_t i = 0; i < scenario->facts.note_count; i++)
        buffer_print(&assumed, "%s%s", i ? "; " : "", scenario->facts.notes[i]);
    if (assumed.size)
        line(brief, "assumed", wrapped(brief->arena, assumed.data));
    buffer_print(out, "\n");
}

static void fast_line(struct brief *brief)
{
    double batch, cost, limit;
    struct error ignored;
    if (AT(batch) <= 1 || isnan(AT(chip_price)))
        return;
    if (value_of(&brief->scenario, NAME_fast_mode_batch, &batch, &ignored) &&
        value_of(&brief->scenario, NAME_fast_mode_cost_ratio, &cost, &ignored))
        LINE("fast", "%s x the speed of > costs %s x (batch %s)",
             count_text(brief->arena, AT(speed_ratio), 3), count_text(brief->arena, cost, 2),
             count_text(brief->arena, floor(batch), 9));
    else if (value_of(&brief->scenario, "bound_step / AT(bound_step, batch = 1)", &limit,
                      &ignored))
        LINE("fast", "no batch is %s x as fast as >: alone one user gets %s x",
             count_text(brief->arena, AT(speed_ratio), 3), count_text(brief->arena, limit, 3));
}

static void memory_lines(struct brief *brief)
{
    double fits = AT(users_that_fit);
    if (AT(hbm_share) > 1 && fits >= 1)
        LINE("memory", "batch %s needs %s, has %s; %s such users fit",
             count_text(brief->arena, AT(batch), 9), TEXT(hbm_needed, 3), TEXT(hbm_total, 3),
             count_text(brief->arena, fits, 9));
    else if (AT(hbm_share) > 1)
        LINE("memory", "does not fit: needs %s, has %s; %s GPUs would hold it",
             TEXT(hbm_needed, 3), TEXT(hbm_total, 3), TEXT(chips_to_fit, 6));
    else
        LINE("memory", "weights %.0f %%; room for %s cached tokens, %s such users",
             100 * AT(hbm_share_weights), large_text(brief->arena, AT(cached_tokens_that_fit)),
             count_text(brief->arena, AT(users_that_fit), 9));
    struct error ignored;
    double halved;
    if (value_of(&brief->scenario, "AT(weights_per_chip, pipeline_stages = 2)", &halved, &ignored)) {
        static const struct unit bytes = { { 0, 2 } };
        LINE("pipeline", "two stages halve a GPU's weights to %s; its cache stays %s",
             quantity_text(brief->arena, halved, bytes, 3), TEXT(kv_per_chip, 3));
    }
}

static void expert_line(struct brief *brief)
{
    double per_chip = AT(experts_per_chip);
    const char *each = count_text(brief->arena, per_chip, 6);
    if (AT(chips) == 1)
        LINE("experts", "all %s on the one GPU: nothing is exchanged", TEXT(experts, 6));
    else if (per_chip * AT(chips) == AT(experts))
        LINE("experts", "%s over %s GPUs: %s on each", TEXT(experts, 6), TEXT(chips, 6), each);
    else
        LINE("experts", "%s over %s do not divide: %s on each of %s (%s idle), or %s copies",
             TEXT(experts, 6), TEXT(chips, 6), each, TEXT(expert_chips, 6), TEXT(idle_chips, 6),
             TEXT(expert_copies_to_fill, 6));
}

static void exchange_line(struct brief *brief)
{
    bool hides = AT(exchange_time) <= AT(bound_step);
    bool hides_two = AT(exchange_time_two_racks) <= AT(bound_step);
    if (AT(chips) > 1)
        LINE("exchange", "all-to-all %.2f of %.2f ms, %s; over two racks %.3g ms, %s",
             1000 * AT(exchange_time), 1000 * AT(bound_step), hides ? "hides" : "does not hide",
             1000 * AT(exchange_time_two_racks), hides_two ? "hides" : "does not");
}

static void context_line(struct brief *brief)
{
    struct error ignored;
    double context;
    if (value_of(&brief->scenario, "select(context_crossover < context_most, context_crossover, 0)",
                 &context, &ignored) && context > 0)
        LINE("context", "beyond %s tokens reading the cache costs more than compute",
             count_text(brief->arena, floor(context), 9));
    else
        LINE("context", "reading the cache never costs more than compute");
}

static const double *waterfall_at(const struct brief *brief)
{
    return brief->server.values.at + SERVER_ROW_COUNT + POINT_ROWS;
}

/* What a server reaches, and how that comes from the bound of the same step. */
static void served_lines(struct brief *brief)
{
    const struct server *server = &brief->server;
    struct arena *arena = brief->arena;
    const char *verdict = server_verdict(server);
    const double bound = server->values.at[SERVER_ROW_COUNT];
    const char *batch = count_text(arena, server_at(server, SERVER_batch), 4);
    if (verdict) {
        LINE("served", "%s, batch %s", server_layout(server), batch);
        LINE("", "%s", verdict);
        buffer_print(&brief->answer->text, "\n");
        return;
    }
    LINE("served", "%s, batch %s; %s", server_layout(server), batch,
         server_text(server, SERVER_predicted_energy_per_token, 2));
    LINE("", "TPOT %s (%s), %.3g x its bound; TTFT %s",
         server_text(server, SERVER_predicted_tpot, 3),
         server_band(server, SERVER_predicted_tpot, SERVER_tpot_band_low, SERVER_tpot_band_high, 3),
         server_at(server, SERVER_predicted_tpot) / bound,
         server_text(server, SERVER_predicted_ttft, 3));
    const double in = server_at(server, SERVER_input_cost_per_token);
    LINE("", "%s user tok/s, %s GPU tok/s%s",
         count_text(arena, server_at(server, SERVER_speed_per_user), 3),
         rounded_text(arena, server_at(server, SERVER_throughput_per_chip)),
         isnan(in) ? "" : arena_print(arena, "; %.3f USD/M in, %.3f out", 1e6 * in,
                                      1e6 * server_at(server, SERVER_output_cost_per_token)));
    if (server->scenario.choice.made)
        line(brief, "", wrapped(arena, server->scenario.choice.rule));
    line(brief, "TPOT", wrapped(arena, waterfall_sum(arena, waterfall_at(brief))));
    buffer_print(&brief->answer->text, "\n");
}

/* Where a paused conversation is cheapest kept: a tier's name, or computing it again. */
static const char *cheapest_place(struct brief *brief, const char *hold_time)
{
    struct scenario *scenario = &brief->scenario;
    const struct fact_table *tiers = facts_table(&scenario->facts, "tier");
    const char **texts = arena_array(brief->arena, tiers->entries + 1, sizeof *texts);
    const char *best = "recompute";
    struct values values;
    struct error ignored;
    texts[tiers->entries] = NAME_recompute_pause_cost;
    for (size_t i = 0; i < tiers->entries; i++)
        texts[i] = arena_print(brief->arena, "AT(tier_pause_cost[%s], hold_time = %s)",
                               tiers->entry[i], hold_time);
    if (!values_of(scenario, texts, tiers->entries + 1, &values, &ignored))
        return "?";
    double least = values.at[tiers->entries];
    for (size_t i = 0; i < tiers->entries; i++)
        if (values.at[i] < least) {
            least = values.at[i];
            best = tiers->entry[i];
        }
    return best;
}

static void training_line(struct brief *brief)
{
    struct range range = { 0, 0, NULL };
    if (values_uncertain(&brief->scenario, &brief->values))
        range = values_range(&brief->scenario, &brief->values, FIGURE_overtraining);
    LINE("training", "to match %s served tokens: %s x Chinchilla%s",
         large_text(brief->arena, AT(inference_tokens)),
         rounded_text(brief->arena, AT(overtraining)),
         range.kind ? arena_print(brief->arena, " (%s..%s)",
                                  large_text(brief->arena, floor(range.low + 0.5)),
                                  large_text(brief->arena, floor(range.high + 0.5))) : "");
}

/* Lines on the speed and the cost of a step make sense only for one that fits. */
static void lecture_lines(struct brief *brief)
{
    bool fits = AT(hbm_share) <= 1;
    LINE("latency", "%s to read every weight once; all of HBM takes %s",
         TEXT(latency_floor, 3), TEXT(drain_time, 3));
    if (fits && !isnan(AT(unbatched_cost_ratio))) {
        LINE("batching", "one user alone pays %s x the lowest cost",
             count_text(brief->arena, AT(unbatched_cost_ratio), 3));
        fast_line(brief);
    }
    memory_lines(brief);
    if (AT(experts) > 1)
        expert_line(brief);
    if (AT(experts) > 1 && fits)
        exchange_line(brief);
    context_line(brief);
    LINE("cache", "keep a token in HBM %s; for five minutes: %s; an hour: %s",
         TEXT(hbm_hold_break_even, 2), cheapest_place(brief, NAME_time_to_live_short),
         cheapest_place(brief, NAME_time_to_live_long));
    if (fits)
        LINE("domain", "%s tok/s, %s make %s; output / input price %s from costs",
             large_text(brief->arena, floor(AT(bound_throughput) + 0.5)),
             count_text(brief->arena, ceil(AT(racks_for_rate)), 9),
             large_text(brief->arena, AT(token_rate)), TEXT(output_input_ratio, 2));
    training_line(brief);
}

/* The operating point's figures, and under "lecture" those of the lecture's lines. */
static struct doc *answer_document(struct brief *brief)
{
    struct arena *arena = brief->arena;
    struct doc *doc = brief->answer->doc;
    doc_add_string(arena, doc, "model", brief->scenario.model);
    doc_add_string(arena, doc, "machine", brief->scenario.machine);
    server_document(&brief->server, doc);
    if (!server_verdict(&brief->server))
        waterfall_document(arena, waterfall_at(brief), doc);
    for (int i = 0; i < POINT_ROWS; i++)
        if (!doc_get(doc, point_rows[i]))
            doc_add_number(arena, doc, point_rows[i], brief->server.values.at[SERVER_ROW_COUNT + i]);
    scenario_words_document(&brief->server.scenario, doc);
    struct doc *lecture = doc_add(arena, doc, "lecture", DOC_OBJECT);
    scenario_words_document(&brief->scenario, lecture);
    for (int i = 0; i < FIGURES_COUNT; i++)
        doc_add_number(arena, lecture, figure_names[i], brief->values.at[i]);
    struct doc *assumed = doc_add(arena, doc, "assumed", DOC_ARRAY);
    const struct facts *facts = &brief->server.scenario.facts;
    for (size_t i = 0; i < facts->note_count; i++)
        doc_add_string(arena, assumed, NULL, facts->notes[i]);
    assumed = doc_add(arena, lecture, "assumed", DOC_ARRAY);
    facts = &brief->scenario.facts;
    for (size_t i = 0; i < facts->note_count; i++)
        doc_add_string(arena, assumed, NULL, facts->notes[i]);
    return lecture;
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

/* Only the training line has room for a range. */
static bool no_ranges(struct brief *brief)
{
    static const enum figure training[] = { FIGURE_inference_tokens, FIGURE_pretrain_tokens,
                                            FIGURE_overtraining };
    const struct list *list = &brief->values.list;
    const char *texts[FIGURES_COUNT];
    size_t count = 0;
    struct values rest;
    for (int i = 0; i < FIGURES_COUNT; i++)
        if (i != (int)training[0] && i != (int)training[1] && i != (int)training[2])
            texts[count++] = figure_names[i];
    for (size_t i = 0; i < list->input_count; i++) {
        const struct input *input = &list->inputs[i];
        if (input->spread == SPREAD_NONE)
            continue;
        if (!values_of(&brief->scenario, texts, count, &rest, brief->error))
            return false;
        if (!list_depends(brief->arena, &rest.list, input->name))
            continue;
        error_set(brief->error, "brief: %s is given a %s, by %s", input->name,
                  input->spread == SPREAD_RANGE ? "range" : "distribution", input->source);
        return error_hint(brief->error, "a number here; `chalkline step` and `chalkline eval` "
                          "take ranges");
    }
    return true;
}

/* All that the screen reads, for what has no effect on it. */
static void note_idle(struct brief *brief)
{
    static const char *const more[] = { NAME_fast_mode_batch, NAME_fast_mode_cost_ratio,
                                        NAME_context_crossover, NAME_batch_balanced,
                                        NAME_time_to_live_short, NAME_time_to_live_long,
                                        "SUM(tier, tier_pause_cost)" };
    enum { MORE = sizeof more / sizeof *more };
    const char *texts[FIGURES_COUNT + COLUMNS + MORE + SERVER_ROW_COUNT];
    memcpy(texts, figure_names, sizeof figure_names);
    memcpy(texts + FIGURES_COUNT, column_rows, sizeof column_rows);
    memcpy(texts + FIGURES_COUNT + COLUMNS, more, sizeof more);
    memcpy(texts + FIGURES_COUNT + COLUMNS + MORE, server_rows, sizeof server_rows);
    given_note(&brief->scenario, texts, FIGURES_COUNT + COLUMNS + MORE + SERVER_ROW_COUNT,
               "this screen");
}

bool ask_brief(struct arena *arena, const struct command *command, struct answer *answer,
               struct error *error)
{
    struct brief *brief = arena_alloc(arena, sizeof *brief);
    brief->arena = arena;
    brief->answer = answer;
    brief->error = error;
    struct scenario point;
    const char *point_texts[POINT_ALL];
    memcpy(point_texts, point_rows, sizeof point_rows);
    memcpy(point_texts + POINT_ROWS, waterfall_rows, sizeof waterfall_rows);
    if (!scenario_open_pair(&point, arena, command, error) ||
        !server_open_with(&brief->server, &point, point_texts, POINT_ALL, error) ||
        !scenario_lecture(&point, &brief->scenario, error) ||
        !settle_batch(&brief->scenario, error) ||
        !values_of(&brief->scenario, figure_names, FIGURES_COUNT, &brief->values, error) ||
        !no_ranges(brief))
        return false;
    server_assumed(&brief->server);
    note_idle(brief);
    struct doc *lecture = answer_document(brief);
    head_lines(brief);
    served_lines(brief);
    if (!answer_table(brief, lecture))
        return false;
    lecture_lines(brief);
    answer->status = server_infeasible(&brief->server, answer->doc);
    return true;
}

static const struct record batch_record = { "BriefBatch", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "the question that gives these figures again", .always = true },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_batch }, .count = 1, .always = true },
    { FIELD_ROWS, .names = column_rows, .count = COLUMNS, .always = true },
    { FIELD_TEXT, "limited_by", .help = "what binds the step", .always = true },
    { 0 } } };

static const struct record lecture_record = { "BriefLecture", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "the question that gives these figures again", .always = true },
    { FIELD_ROWS, .names = figure_names, .count = FIGURES_COUNT, .always = true },
    { FIELD_LIST, "batches", .help = "the table over batches", .record = &batch_record,
      .always = true },
    { FIELD_TEXTS, "assumed", .help = "what nobody gave of those lines", .always = true },
    { 0 } } };

const struct record answer_brief = { "Brief", (const struct answer_field[]){
    { FIELD_TEXT, "model", .help = "its title", .always = true },
    { FIELD_TEXT, "machine", .help = "its title", .always = true },
    { FIELD_ALSO, .record = &server_record },
    { FIELD_ALSO, .record = &waterfall_record },
    { FIELD_ROWS, .names = point_rows, .count = POINT_ROWS, .always = true },
    { FIELD_TEXTS, "words", .help = "the question that gives these figures again", .always = true },
    { FIELD_RECORD, "lecture", .help = "the lecture's lines: a whole domain at the bound's batch",
      .record = &lecture_record, .always = true },
    { FIELD_TEXTS, "assumed", .help = "what nobody gave, and what to know of it", .always = true },
    { 0 } } };

const struct verb verb_brief = {
    "brief", "MODEL --on HARDWARE", "the whole lecture for this model on this machine",
    { "chalkline deepseek-v3 --on gb200-nvl72",
      "chalkline brief llama-3.3-70b --on h100-sxm --gpus 8 --precision fp8",
      "chalkline brief ./config.json --on gb200-nvl72" },
    { ANSWER_OPTIONS, &output_options }, .ask = ask_brief };
