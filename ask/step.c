/* step: one forward pass, what binds it, what it yields; beside it what a server reaches,
 * and where its time goes. */
#include "ask/ask.h"
#include "build/row_names.h"
#include "scenario/server.h"
#include "scenario/waterfall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    NAME_bound_step, NAME_bound_compute, NAME_bound_weights, NAME_bound_kv, NAME_bound_memory, NAME_bound_mfu,
    NAME_bound_mbu, NAME_user_speed, NAME_bound_throughput, NAME_bound_cost_per_token, NAME_hbm_share,
    NAME_weights_per_chip, NAME_kv_per_chip, NAME_exchange_time, NAME_batch, NAME_context, NAME_chips,
    NAME_overlap, NAME_step_time, NAME_step_over_bound };
enum { STEP, COMPUTE, WEIGHTS, KV, MEMORY, MFU, MBU, USER, THROUGHPUT, COST, SHARE, CHIP_WEIGHTS,
       CHIP_KV, EXCHANGE, BATCH, CONTEXT, CHIPS, OVERLAP, COUNT = OVERLAP + 3, WATERFALL = COUNT, OPERATORS = WATERFALL + WATERFALL_ROWS,
       SHOWN = 6 };

struct share {
    const char *name;
    double compute, read;
};

static double longer(const struct share *share)
{
    return share->compute > share->read ? share->compute : share->read;
}

static int longest_first(const void *a, const void *b)
{
    double x = longer(a), y = longer(b);
    return (x < y) - (x > y);
}

/* The times of each operator, two texts an entry. */
static const char **operator_texts(struct scenario *scenario, size_t *count)
{
    struct arena *arena = scenario->arena;
    const struct fact_table *table = facts_table(&scenario->facts, "operator");
    const char **texts = arena_array(arena, 2 * table->entries + 1, sizeof *texts);
    *count = 2 * table->entries;
    for (size_t i = 0; i < table->entries; i++) {
        texts[2 * i] = arena_print(arena, "operator_compute_time[%s]", table->entry[i]);
        texts[2 * i + 1] = arena_print(arena, "operator_read_time[%s]", table->entry[i]);
    }
    return texts;
}

static void answer_longest(struct arena *arena, const struct share *shares, size_t count,
                           struct answer *answer)
{
    struct table lines = { .arena = arena, .columns = 3, .left = "lrr" };
    table_cell(&lines, "operator");
    table_cell(&lines, "compute");
    table_cell(&lines, "read");
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        table_cell(&lines, "%s", shares[i].name);
        table_cell(&lines, "%s", quantity_text(arena, shares[i].compute, unit_second, 3));
        table_cell(&lines, "%s", quantity_text(arena, shares[i].read, unit_second, 3));
    }
    buffer_print(&answer->text, "\n");
    table_print(&lines, &answer->text, "  ");
    if (count > SHOWN)
        buffer_print(&answer->text, "  and %zu smaller\n", count - SHOWN);
}

/* The weights operator by operator: what each must compute and read. */
static void answer_operators(struct scenario *scenario, const double *times,
                             struct answer *answer)
{
    struct arena *arena = scenario->arena;
    const struct fact_table *table = facts_table(&scenario->facts, "operator");
    struct share *shares = arena_array(arena, table->entries + 1, sizeof *shares);
    struct doc *list = doc_add(arena, answer->doc, "operators", DOC_OBJECT);
    for (size_t i = 0; i < table->entries; i++) {
        shares[i] = (struct share){ table->entry[i], times[2 * i], times[2 * i + 1] };
        doc_add_number(arena, list, arena_print(arena, "operator_compute_time[%s]",
                                                table->entry[i]), shares[i].compute);
        doc_add_number(arena, list, arena_print(arena, "operator_read_time[%s]",
                                                table->entry[i]), shares[i].read);
    }
    qsort(shares, table->entries, sizeof *shares, longest_first);
    answer_longest(arena, shares, table->entries, answer);
}

/* All that is shown beside server_rows: `names`, the waterfall, then the times of each operator. */
static const char **asked_texts(struct scenario *scenario, size_t *count)
{
    size_t operators;
    const char **times = operator_texts(scenario, &operators);
    const char **texts = arena_array(scenario->arena, OPERATORS + operators, sizeof *texts);
    memcpy(texts, names, sizeof names);
    memcpy(texts + WATERFALL, waterfall_rows, sizeof waterfall_rows);
    memcpy(texts + OPERATORS, times, operators * sizeof *texts);
    *count = OPERATORS + operators;
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

static const struct limit *limit_at(const struct values *values)
{
    return limit_of(values->at[COMPUTE], values->at[WEIGHTS], values->at[KV], values->at[SHARE]);
}

/* "192,000 tokens (range 128,000 to 256,000)" */
static const char *context_text(const struct scenario *scenario, double value,
                                struct range range)
{
    struct arena *arena = scenario->arena;
    const char *text = arena_print(arena, "%s token%s", quantity_text(arena, value, unit_one, 4),
                                   value == 1 ? "" : "s");
    if (range.low == range.high)
        return text;
    return arena_print(arena, "%s (%s %s to %s)", text, range.kind,
                       quantity_text(arena, range.low, unit_one, 4),
                       quantity_text(arena, range.high, unit_one, 4));
}

/* "3.5 ms", of some with its range where something given has one. */
static const char *spread_text(struct scenario *scenario, const struct values *values, int i)
{
    bool wide = i == STEP || i == USER || i == THROUGHPUT || i == COST || i == BATCH ||
                i == CONTEXT;
    struct unit unit = scenario_unit(scenario, names[i]);
    const char *text = quantity_text(scenario->arena, values->at[i], unit, 4);
    struct range range = { 0, 0, NULL };
    if (wide)
        range = values_range(scenario, values, (size_t)i);
    if (i == CONTEXT)
        return context_text(scenario, values->at[i], range);
    if (range.low == range.high)
        return text;
    return arena_print(scenario->arena, "%s (%s %s to %s)", text, range.kind,
                       quantity_text(scenario->arena, range.low, unit, 4),
                       quantity_text(scenario->arena, range.high, unit, 4));
}

/* "H100 SXM x 8"; "4 x RTX 4090" has its count already. */
static const char *machine_text(const struct scenario *scenario, const char *chips)
{
    const char *title = scenario->machine;
    size_t digits = strspn(title, "0123456789");
    if (!digits || strncmp(title + digits, " x ", 3))
        return arena_print(scenario->arena, "%s x %s", title, chips);
    if (strlen(chips) == digits && !strncmp(title, chips, digits))
        return title;
    return arena_print(scenario->arena, "%s x %s", title + digits + 3, chips);
}

/* ---- the server ------------------------------------------------------------------------- */

static void load_line(const struct server *server, struct buffer *out)
{
    buffer_print(out, "          load %.2f of what it can do with every seat taken: ",
                 server_at(server, SERVER_server_load));
    if (server_at(server, SERVER_arrival_rate) > 0)
        buffer_print(out, "%s requests a second\n", server_count(server, SERVER_arrival_rate));
    else
        buffer_print(out, "%s of %s a rank\n", server_text(server, SERVER_loaded_running, 3),
                     server_text(server, SERVER_rank_seats, 4));
}

static void server_lines(const struct server *server, double bound, struct buffer *out)
{
    const char *verdict = server_verdict(server);
    bool open = server_at(server, SERVER_arrival_rate) > 0;
    if (verdict) {
        buffer_print(out, "\n  server  %s\n          %s\n", verdict, server_layout(server));
        return;
    }
    buffer_print(out, "\n  server  %s a token%s; 4 of 5 lie in %s\n",
                 server_text(server, SERVER_predicted_tpot, 3),
                 open ? "" : arena_print(server->scenario.arena, ", %.3g x the bound",
                                         server_at(server, SERVER_predicted_tpot) / bound),
                 server_band(server, SERVER_predicted_tpot, SERVER_tpot_band_low,
                             SERVER_tpot_band_high, 3));
    buffer_print(out, "          first token after %s; 4 of 5 in %s\n",
                 server_text(server, SERVER_predicted_ttft, 3),
                 server_band(server, SERVER_predicted_ttft, SERVER_ttft_band_low,
                             SERVER_ttft_band_high, 3));
    buffer_print(out, "          %s; %s%s tokens in, %s out\n", server_layout(server),
                 open ? "requests of "
                      : arena_print(server->scenario.arena, "%s at once, each ",
                                    server_count(server, SERVER_concurrency)),
                 server_count(server, SERVER_prompt_tokens),
                 server_count(server, SERVER_output_tokens));
    load_line(server, out);
    buffer_print(out, "          %s in all, %s a GPU, %s a user; %s\n",
                 server_text(server, SERVER_predicted_throughput, 4),
                 server_text(server, SERVER_throughput_per_chip, 4),
                 server_text(server, SERVER_speed_per_user, 3),
                 server_text(server, SERVER_predicted_energy_per_token, 3));
    buffer_print(out, "          %s in, %s out, %s blended\n",
                 server_text(server, SERVER_input_cost_per_token, 3),
                 server_text(server, SERVER_output_cost_per_token, 3),
                 server_text(server, SERVER_blended_cost_per_token, 3));
}

static void answer_lines(struct server *server, const struct values *values,
                         struct answer *answer)
{
    struct scenario *scenario = &server->scenario;
    struct buffer *out = &answer->text;
    const char *text[COUNT];
    for (int i = 0; i < COUNT; i++)
        text[i] = spread_text(scenario, values, i);
    const struct limit *limit = limit_at(values);
    bool overlapped = values->at[OVERLAP] < 1;
    buffer_print(out, "%s on %s, batch %s, context %s\n\n", scenario->model,
                 machine_text(scenario, text[CHIPS]), text[BATCH], text[CONTEXT]);
    buffer_print(out, "  step    %s, %s (%s)\n", text[STEP],
                 overlapped ? limit->overlapped : limit->added,
                 overlapped ? "a bound: nothing is faster" : limit_claim(values->at[OVERLAP]));
    buffer_print(out, "          compute %s; weights %s + KV %s = memory %s\n", text[COMPUTE],
                 text[WEIGHTS], text[KV], text[MEMORY]);
    buffer_print(out, "  use     MFU %.1f %%, MBU %.1f %%%s%s\n", 100 * values->at[MFU],
                 100 * values->at[MBU], values->at[EXCHANGE] > 0 ? "; exchange between GPUs " : "",
                 values->at[EXCHANGE] > 0 ? text[EXCHANGE] : "");
    buffer_print(out, "  speed   %s a user, %s in all\n", text[USER], text[THROUGHPUT]);
    buffer_print(out, "  cost    %s of output\n", text[COST]);
    buffer_print(out, "  memory  weights %s + KV %s a GPU: %.0f %% of it%s\n", text[CHIP_WEIGHTS],
                 text[CHIP_KV], 100 * values->at[SHARE],
                 values->at[SHARE] > 1 ? ", does not fit" : "");
    server_lines(server, values->at[STEP], out);
}

enum { BAR = 20 };

static const char *bar_of(struct arena *arena, double share)
{
    struct buffer out = { .arena = arena };
    buffer_add(&out, "", 0);
    for (int i = 0; i < (int)(share * BAR + 0.5); i++)
        buffer_print(&out, "\u2588");
    return out.data;
}

static void part_line(struct table *table, const char *label, double value, const char *saved,
                      double whole)
{
    table_cell(table, "%s", label);
    table_cell(table, "%s", quantity_text(table->arena, value, unit_second, 3));
    table_cell(table, "%s", saved);
    table_cell(table, "%.0f %%", 100 * value / whole);
    table_cell(table, "%s", bar_of(table->arena, value / whole));
}

/* Where the time of a token goes: a bar for each part, those below a hundredth together. */
static void answer_parts(const struct server *server, struct buffer *out)
{
    static const char *const head[] = { "a token's time", "time", "saved if free", "share", "" };
    struct arena *arena = server->scenario.arena;
    struct table table = { .arena = arena, .columns = 5, .left = "lrrrl" };
    const double tpot = server_at(server, SERVER_predicted_tpot);
    double smaller = 0;
    size_t count = 0;
    for (int i = 0; i < 5; i++)
        table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < server->parts.count; i++) {
        const struct contribution *part = &server->parts.at[i];
        if (part->value < 0.01 * tpot) {
            smaller += part->value;
            count++;
        } else
            part_line(&table, part->label, part->value, isfinite(part->saved)
                      ? quantity_text(arena, part->saved, unit_second, 3) : "-", tpot);
    }
    if (count)
        part_line(&table, arena_print(arena, "%zu smaller parts", count), smaller, "", tpot);
    buffer_print(out, "\n");
    table_print(&table, out, "  ");
}

static void answer_bound(const struct scenario *scenario, const struct values *values,
                         struct answer *answer)
{
    doc_add_string(scenario->arena, answer->doc, "model", scenario->model);
    doc_add_string(scenario->arena, answer->doc, "machine", scenario->machine);
    for (int i = 0; i < COUNT; i++)
        if (!doc_get(answer->doc, names[i]))
            doc_add_number(scenario->arena, answer->doc, names[i], values->at[i]);
    doc_add_string(scenario->arena, answer->doc, "limited_by", limit_at(values)->name);
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
    struct values values = server_more(&server);
    values_uncertain(&server.scenario, &values);
    server_assumed(&server);
    note_idle(&server, texts, count);
    answer_bound(&scenario, &values, answer);
    server_document(&server, answer->doc);
    scenario_words_document(&server.scenario, answer->doc);
    answer_lines(&server, &values, answer);
    if (server.parts.count) {
        waterfall_document(arena, values.at + WATERFALL, answer->doc);
        buffer_print(&answer->text, "\n");
        waterfall_table(arena, values.at + WATERFALL, &answer->text);
        answer_parts(&server, &answer->text);
    }
    answer_operators(&scenario, values.at + OPERATORS, answer);
    buffer_print(&answer->text, "\n");
    scenario_notes(&server.scenario, answer);
    answer->status = server_infeasible(&server, answer->doc);
    return true;
}

static const struct record operators_record = { "Operators", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "operator_compute_time and operator_read_time of one operator",
      .unit = "s" },
    { 0 } } };

const struct record answer_step = { "Step", (const struct answer_field[]){
    { FIELD_TEXT, "model", .help = "its title", .always = true },
    { FIELD_TEXT, "machine", .help = "its title", .always = true },
    { FIELD_ROWS, .names = names, .count = COUNT, .always = true },
    { FIELD_TEXT, "limited_by", .help = "what binds the bound of the step", .always = true },
    { FIELD_ALSO, .record = &server_record },
    { FIELD_ALSO, .record = &waterfall_record },
    { FIELD_RECORD, "operators", .help = "the weights, operator by operator",
      .record = &operators_record, .always = true },
    { FIELD_TEXTS, "words", .help = "the question that gives these figures again", .always = true },
    { FIELD_TEXTS, "assumed", .help = "what nobody gave, and what to know of it", .always = true },
    { 0 } } };

const struct verb verb_step = {
    "step", "MODEL --on HARDWARE", "one forward pass: time, what binds, tokens/s, cost, memory",
    { "chalkline step llama-3.3-70b --on h100-sxm --batch 64",
      "chalkline step deepseek-v3 --on gb200-nvl72 --isl 4000 --osl 500 --engine sglang",
      "chalkline step qwen3-32b --on h200-sxm --gpus 8 --precision fp8 --json" },
    { ANSWER_OPTIONS, &output_options }, .ask = ask_step };
