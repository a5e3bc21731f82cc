#include "scenario/server.h"

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
    const struct book *book = &server->scenario.book;
    return book->rows[book_find(book, server_rows[row])]->unit;
}

const char *server_text(const struct server *server, enum server_row row, int digits)
{
    return quantity_text(server->scenario.arena, server_at(server, row), unit_of(server, row),
                         digits);
}

const char *server_count(const struct server *server, enum server_row row)
{
    return quantity_text(server->scenario.arena, server_at(server, row), unit_one, 6);
}

const char *server_band(const struct server *server, enum server_row row, enum server_row low,
                        enum server_row high, int digits)
{
    struct arena *arena = server->scenario.arena;
    struct unit unit = unit_of(server, row);
    double value = server_at(server, row);
    return arena_print(arena, "%s to %s",
                       quantity_text(arena, value * server_at(server, low), unit, digits),
                       quantity_text(arena, value * server_at(server, high), unit, digits));
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

const char *server_verdict(const struct server *server)
{
    double width = server_at(server, SERVER_tensor_parallel);
    if (width < 1 || width != floor(width))
        return arena_print(server->scenario.arena, "no such server: %s GPUs to each attention rank of "
                           "a stage", server_text(server, SERVER_tensor_parallel, 4));
    if (!(server_at(server, SERVER_server_fits) > 0))
        return "no request fits beside the weights: nothing is served";
    if (!(server_at(server, SERVER_server_stable) > 0))
        return arena_print(server->scenario.arena, "not stable: %s requests a second want %s, "
                           "it can do %s", server_count(server, SERVER_arrival_rate),
                           quantity_text(server->scenario.arena,
                                         server_at(server, SERVER_arrival_rate) *
                                         server_at(server, SERVER_output_tokens),
                                         unit_of(server, SERVER_saturated_throughput), 4),
                           server_text(server, SERVER_saturated_throughput, 4));
    return NULL;
}

void server_assumed(struct server *server)
{
    static const size_t told[] = { SERVER_predicted_tpot, SERVER_predicted_ttft,
                                   SERVER_output_cost_per_token };
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
    if (why)
        doc_add_string(scenario->arena, doc, "infeasible", why);
    return why != NULL;
}

static void add_row(const struct server *server, struct doc *doc, size_t row)
{
    if (!doc_get(doc, server_rows[row]))
        doc_add_number(server->scenario.arena, doc, server_rows[row], server->values.at[row]);
}

/* The sizes of one kind of server. */
#define SIZES(X)                                                                            \
    X(chips) X(tensor_parallel) X(attention_dp) X(pipeline_parallel) X(expert_parallel)     \
    X(context_parallel) X(concurrency)

static const char *const size_rows[] = {
#define X(name) NAME_##name,
    SIZES(X)
#undef X
};

static const char *const roles[] = { "aggregated", "prefill", "decode" };

static const struct record kind_record = { "Server", (const struct answer_field[]){
    { FIELD_TEXT, "role", .help = "what it does", .names = roles, .count = 3, .always = true },
    { FIELD_NUMBER, "count", .help = "how many of them", .always = true },
    { FIELD_TEXT, "machine", .help = "its chips, as the catalog calls them", .always = true },
    { FIELD_ROWS, .names = size_rows, .count = sizeof size_rows / sizeof *size_rows,
      .always = true },
    { FIELD_NUMBER, "prefill_chunk", .help = "prompt tokens in one step at most", .unit = "token",
      .always = true },
    { 0 } } };

/* What is paid for. */
static const char *const paid_rows[] = { NAME_deployment_chips, NAME_host_chips, NAME_hosts,
                                         NAME_chips_paid };

const struct record deployment_record = { "Deployment", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "the question that gives these figures again", .always = true },
    { FIELD_LIST, "servers", .help = "its kinds of servers", .record = &kind_record,
      .always = true },
    { FIELD_SWITCH, "startable", .help = "do engines start this layout?", .always = true },
    { FIELD_ROWS, .names = paid_rows, .count = sizeof paid_rows / sizeof *paid_rows,
      .always = true },
    { 0 } } };

/* One that keeps up has all rows. */
static const struct record served_record = { "ServerDeployment", (const struct answer_field[]){
    { FIELD_ALSO, .record = &deployment_record },
    { FIELD_ROWS, .names = server_rows, .count = SERVER_KNOWN, .always = true },
    { FIELD_ROWS, .names = server_rows + SERVER_KNOWN, .count = SERVER_ROW_COUNT - SERVER_KNOWN },
    { 0 } } };

static const struct record part_record = { "Part", (const struct answer_field[]){
    { FIELD_NUMBER, "time", .help = "what it contributes", .unit = "s", .always = true },
    { FIELD_NUMBER, "saved_if_free", .help = "what all would fall by if it took no time", .unit = "s",
      .always = true },
    { 0 } } };

const struct record parts_record = { "Parts", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a part of the time of a token", .record = &part_record },
    { 0 } } };

const struct record server_record = { "ServerRows", (const struct answer_field[]){
    { FIELD_ROWS, .names = server_rows, .count = SERVER_KNOWN, .always = true },
    { FIELD_ROWS, .names = server_rows + SERVER_KNOWN, .count = SERVER_ROW_COUNT - SERVER_KNOWN },
    { FIELD_RECORD, "server", .help = "the deployment of which this is one replica",
      .record = &served_record, .always = true },
    { FIELD_RECORD, "parts", .help = "where the time of a token goes", .record = &parts_record },
    { FIELD_TEXT, "infeasible", .help = "why there is no such server, or none within the limits" },
    { 0 } } };

void server_deployment(const struct server *server, struct doc *doc)
{
    static const enum server_row sizes[] = {
#define X(name) SERVER_##name,
        SIZES(X)
#undef X
    };
    struct arena *arena = server->scenario.arena;
    scenario_words_document(&server->scenario, doc);
    struct doc *one = doc_add(arena, doc_add(arena, doc, "servers", DOC_ARRAY), NULL, DOC_OBJECT);
    doc_add_string(arena, one, "role", "aggregated");
    doc_add_number(arena, one, "count", server_at(server, SERVER_replicas));
    doc_add_string(arena, one, "machine", server->scenario.subject.machine);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        add_row(server, one, sizes[i]);
    doc_add_number(arena, one, "prefill_chunk", server_at(server, SERVER_prefill_size));
    doc_add_bool(arena, doc, "startable", server_at(server, SERVER_layout_startable) > 0);
    for (size_t i = 0; i < server->row_count; i++)
        add_row(server, doc, i);
}

void server_document(const struct server *server, struct doc *doc)
{
    for (size_t i = 0; i < server->row_count; i++)
        add_row(server, doc, i);
    server_deployment(server, doc_add(server->scenario.arena, doc, "server", DOC_OBJECT));
    if (!server->part_count)
        return;
    struct doc *parts = doc_add(server->scenario.arena, doc, "parts", DOC_OBJECT);
    for (size_t i = 0; i < server->part_count; i++) {
        struct doc *part = doc_add(server->scenario.arena, parts, server->parts[i].name, DOC_OBJECT);
        doc_add_number(server->scenario.arena, part, "time", server->parts[i].time);
        doc_add_number(server->scenario.arena, part, "saved_if_free", server->parts[i].saved);
    }
}

bool server_open(struct server *server, const struct scenario *scenario, struct error *error)
{
    return server_open_with(server, scenario, NULL, 0, error);
}

struct values server_more(const struct server *server)
{
    struct values more = server->values;
    more.at += SERVER_ROW_COUNT;
    more.list.outputs += SERVER_ROW_COUNT;
    more.list.output_count -= SERVER_ROW_COUNT;
    return more;
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
    server->row_count = server_at(server, SERVER_server_stable) > 0 ? SERVER_ROW_COUNT
                                                                    : SERVER_KNOWN;
    if (!(server_at(server, SERVER_heads_divide) > 0))
        facts_note(&server->scenario.facts, "no engine runs this server: TP %s does not cut the heads "
                   "evenly", server_text(server, SERVER_tensor_parallel, 4));
    if (server_at(server, SERVER_family_band) > 1)
        facts_note(&server->scenario.facts, "few or no measurements of such chips: the server's "
                   "band is widened");
    return true;
}

/* ---- where the time goes -------------------------------------------------------------------- */

enum kind { ATTENTION_PROJECTIONS, EXPERTS, SHARED, DENSE, ROUTER, HEAD, KINDS };

/* By name, the first that matches; what matches none belongs to a mixer. */
static const struct {
    const char *start, *part;       /* how it begins, and what it contains */
    enum kind kind;
} kinds[] = {
    { "experts.", "", EXPERTS }, { "shared_expert", "", SHARED }, { "lm_head", "", HEAD },
    { "", "norm", ROUTER },
    { "gate_proj", "", DENSE }, { "up_proj", "", DENSE }, { "down_proj", "", DENSE },
    { "gate", "", ROUTER }, { "router", "", ROUTER }, { "embed_tokens", "", ROUTER },
    { "", "", ATTENTION_PROJECTIONS },
};

static enum kind kind_of(const char *name)
{
    size_t i = 0;
    while (strncmp(name, kinds[i].start, strlen(kinds[i].start)) || !strstr(name, kinds[i].part))
        i++;
    return kinds[i].kind;
}

/* "operator_time[q_proj] + operator_time[k_proj]"; NULL for a kind that has none */
static const char *operators_text(struct server *server, enum kind kind)
{
    const struct fact_table *table = facts_table(&server->scenario.facts, "operator");
    struct buffer out = { .arena = server->scenario.arena };
    for (size_t i = 0; i < table->entries; i++)
        if (kind_of(table->entry[i]) == kind)
            buffer_print(&out, "%soperator_time[%s]", out.size ? " + " : "", table->entry[i]);
    return out.data;
}

/* A part of the time in `row`, which is a step, with the tokens it yields, or one token. */
struct source {
    const char *name, *row, *time, *tokens;
};
enum { PARTS = KINDS + 6 };

static size_t list_sources(struct server *server, struct source *sources)
{
    static const char *const names[KINDS] = {
        [ATTENTION_PROJECTIONS] = "attention projections", [EXPERTS] = "experts",
        [SHARED] = "shared experts", [DENSE] = "dense FFN", [ROUTER] = "router and norms",
        [HEAD] = "head" };
    static const struct source others[PARTS - KINDS] = {
        { "attention over the cache", NAME_step_time, NAME_attention_decode_time, NAME_accepted },
        { "kernel launches", NAME_step_time, NAME_launch_time, NAME_accepted },
        { "transfers", NAME_step_time, "link_time - links_hidden * min(chip_time, link_time)",
          NAME_accepted },
        { "host", NAME_step_time, NAME_host_exposed, NAME_accepted },
        { "guesses", NAME_draft_time, NAME_draft_time, NAME_accepted },
        { "prompts of others", NAME_prefill_per_token, "running * others * prefill_per_token", "1" } };
    size_t count = 0;
    for (int i = 0; i < KINDS; i++) {
        const char *time = operators_text(server, (enum kind)i);
        if (time && i == EXPERTS)
            time = arena_print(server->scenario.arena, "%s + expert_copies_time", time);
        if (time)
            sources[count++] = (struct source){ names[i], NAME_step_time, time, NAME_accepted };
    }
    memcpy(sources + count, others, sizeof others);
    return count + sizeof others / sizeof *others;
}

/* A switch for each part: the rows that hold them are bound to themselves less what is
 * switched off, so that one list answers for all, the loop around the step closed again. */
static bool add_switches(struct scenario *scenario, const struct source *sources, size_t count,
                         struct error *error)
{
    struct arena *arena = scenario->arena;
    struct buffer rows = { .arena = arena };
    for (size_t i = 0; i < count; i++)
        buffer_print(&rows, "part_%zu_free : 1 = 0 in 0..1\n    1: it takes no time (a switch)\n\n",
                     i);
    if (!book_read(&scenario->book, "where the time goes",
                   (struct text){ rows.data, rows.size }, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *row = sources[i].row;
        const struct fact *fact = facts_find(&scenario->facts, row);
        struct text text = scenario->book.rows[book_find(&scenario->book, row)]->text;
        const char *before = fact && fact->expression ? fact->expression
                                                      : arena_copy(arena, text.data, text.size);
        const char *off = strcmp(row, NAME_step_time) ? before : sources[i].time;
        facts_bind(&scenario->facts, row, arena_print(arena, "(%s) - part_%zu_free * (%s)", before,
                                                      i, off), ORIGIN_DERIVED, "a switch");
    }
    return true;
}

/* A point with all switches off, then one for each part in which only its switch is on. */
static void run_switches(const struct values *values, struct arena *arena, size_t count,
                         double *const *outputs)
{
    const struct list *list = &values->list;
    struct column *inputs = arena_array(arena, list->input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < list->input_count; i++)
        inputs[i] = (struct column){ &values->inputs[i], 0 };
    for (size_t i = 0; i < count; i++) {
        int input = list_input(list, arena_print(arena, "part_%zu_free", i));
        double *on = arena_array(arena, count + 1, sizeof *on);
        on[i + 1] = 1;
        if (input >= 0)
            inputs[input] = (struct column){ on, 1 };
    }
    list_run(list, inputs, outputs, count + 1);
}

/* The texts: a token's time, then the time of each part in it. */
static const char **part_texts(struct arena *arena, const struct source *sources, size_t count)
{
    const char **texts = arena_array(arena, count + 1, sizeof *texts);
    texts[0] = NAME_predicted_tpot;
    for (size_t i = 0; i < count; i++)
        texts[i + 1] = arena_print(arena, "AT((%s) / %s, running = loaded_running, context = "
                                   "mean_context, prefill_chunk = 0)", sources[i].time,
                                   sources[i].tokens);
    return texts;
}

bool server_parts(struct server *server, struct error *error)
{
    struct scenario switched = server->scenario;
    struct arena *arena = switched.arena;
    struct source sources[PARTS];
    struct values values;
    double *columns[PARTS + 1];
    const size_t count = server->part_count = list_sources(server, sources);
    server->parts = arena_array(arena, PARTS, sizeof *server->parts);
    switched.facts = facts_copy(&server->scenario.facts);
    if (!add_switches(&switched, sources, count, error) ||
        !values_of(&switched, part_texts(arena, sources, count), count + 1, &values, error))
        return false;
    for (size_t i = 0; i <= count; i++)
        columns[i] = arena_array(arena, count + 1, sizeof *columns[i]);
    run_switches(&values, arena, count, columns);
    for (size_t i = 0; i < count; i++)
        server->parts[i] = (struct server_part){
            sources[i].name, columns[i + 1][0],
            server_at(server, SERVER_predicted_tpot) - columns[0][i + 1] };
    return true;
}

/* ---- single rows --------------------------------------------------------------------------- */

void server_note_unstable(struct scenario *scenario, const struct list *list)
{
    struct error ignored;
    double stable;
    if (list_depends(scenario->arena, list, NAME_arrival_rate) &&
        value_of(scenario, NAME_server_stable, &stable, &ignored) && !(stable > 0))
        facts_note(&scenario->facts, "not stable: more arrives than the server can do, and queues "
                   "grow without end");
}
