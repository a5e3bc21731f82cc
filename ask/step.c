/* step: one forward pass, what binds it, what it yields. */
#include "ask/ask.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    "bound_step", "bound_compute", "bound_weights", "bound_kv", "bound_memory", "bound_mfu",
    "bound_mbu", "user_speed", "bound_throughput", "bound_cost_per_token", "hbm_share",
    "weights_per_chip", "kv_per_chip", "exchange_time", "batch", "context", "chips",
    "overlap", "step_time", "step_over_bound", "products_time", "attention_decode_time",
    "launch_time", "link_time", "host_time", "tensor_parallel", "attention_dp" };
enum { STEP, COMPUTE, WEIGHTS, KV, MEMORY, MFU, MBU, USER, THROUGHPUT, COST, SHARE, CHIP_WEIGHTS,
       CHIP_KV, EXCHANGE, BATCH, CONTEXT, CHIPS, OVERLAP, REAL, OVER, PRODUCTS, ATTENTION, LAUNCH, TRANSFER,
       HOST, TP, DP, COUNT, SHOWN = 6 };

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
    static const struct unit seconds = { { 2 } };
    struct table lines = { .arena = arena, .columns = 3, .left = "lrr" };
    table_cell(&lines, "operator");
    table_cell(&lines, "compute");
    table_cell(&lines, "read");
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        table_cell(&lines, "%s", shares[i].name);
        table_cell(&lines, "%s", quantity_text(arena, shares[i].compute, seconds, 3));
        table_cell(&lines, "%s", quantity_text(arena, shares[i].read, seconds, 3));
    }
    buffer_print(&answer->text, "\n");
    table_print(&lines, &answer->text, "  ");
    if (count > SHOWN)
        buffer_print(&answer->text, "  and %zu smaller\n", count - SHOWN);
}

/* The weights operator by operator: what each must compute and read. */
static bool answer_operators(struct scenario *scenario, struct answer *answer,
                             struct error *error)
{
    struct arena *arena = scenario->arena;
    const struct fact_table *table = facts_table(&scenario->facts, "operator");
    struct share *shares = arena_array(arena, table->entries + 1, sizeof *shares);
    struct doc *list = doc_add(arena, answer->doc, "operators", DOC_OBJECT);
    size_t count;
    const char **texts = operator_texts(scenario, &count);
    struct values values;
    if (!values_of(scenario, texts, count, &values, error))
        return false;
    for (size_t i = 0; i < table->entries; i++) {
        shares[i] = (struct share){ table->entry[i], values.at[2 * i], values.at[2 * i + 1] };
        struct doc *one = doc_add(arena, list, table->entry[i], DOC_OBJECT);
        doc_add_number(arena, one, "operator_compute_time", shares[i].compute);
        doc_add_number(arena, one, "operator_read_time", shares[i].read);
    }
    qsort(shares, table->entries, sizeof *shares, longest_first);
    answer_longest(arena, shares, table->entries, answer);
    return true;
}

static void note_idle(struct scenario *scenario)
{
    size_t count;
    const char **operators = operator_texts(scenario, &count);
    const char **texts = arena_array(scenario->arena, count + COUNT, sizeof *texts);
    memcpy(texts, operators, count * sizeof *texts);
    memcpy(texts + count, names, sizeof names);
    given_note(scenario, texts, count + COUNT, "the step");
}

static const struct limit *limit_at(const struct values *values)
{
    return limit_of(values->at[COMPUTE], values->at[WEIGHTS], values->at[KV], values->at[SHARE]);
}

/* "192,000 tokens (range 128,000 to 256,000)" */
static const char *context_text(const struct scenario *scenario, double value,
                                struct range range)
{
    static const struct unit one = { { 0 } };
    struct arena *arena = scenario->arena;
    const char *text = arena_print(arena, "%s token%s", quantity_text(arena, value, one, 4),
                                   value == 1 ? "" : "s");
    if (range.low == range.high)
        return text;
    return arena_print(arena, "%s (%s %s to %s)", text, range.kind,
                       quantity_text(arena, range.low, one, 4),
                       quantity_text(arena, range.high, one, 4));
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

static void answer_lines(struct scenario *scenario, const struct values *values,
                         struct answer *answer)
{
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
    buffer_print(out, "  server  %s as servers do it, %s x the bound (TP %s%s%s): matrices %s,\n"
                 "          attention %s, kernel launches %s, transfers %s, host %s\n", text[REAL],
                 text[OVER], text[TP], values->at[DP] > 1 ? ", attention DP " : "",
                 values->at[DP] > 1 ? text[DP] : "", text[PRODUCTS], text[ATTENTION],
                 text[LAUNCH], text[TRANSFER], text[HOST]);
    buffer_print(out, "  use     MFU %.1f %%, MBU %.1f %%%s%s\n", 100 * values->at[MFU],
                 100 * values->at[MBU], values->at[EXCHANGE] > 0 ? "; exchange between GPUs " : "",
                 values->at[EXCHANGE] > 0 ? text[EXCHANGE] : "");
    buffer_print(out, "  speed   %s a user, %s in all\n", text[USER], text[THROUGHPUT]);
    buffer_print(out, "  cost    %s of output\n", text[COST]);
    buffer_print(out, "  memory  weights %s + KV %s a GPU: %.0f %% of it%s\n", text[CHIP_WEIGHTS],
                 text[CHIP_KV], 100 * values->at[SHARE],
                 values->at[SHARE] > 1 ? ", does not fit" : "");
}

bool ask_step(struct arena *arena, const struct question *question, struct answer *answer,
              struct error *error)
{
    struct scenario scenario;
    struct values values;
    if (!scenario_pair(&scenario, arena, question, error) ||
        !values_of(&scenario, names, COUNT, &values, error))
        return false;
    values_uncertain(&scenario, &values);
    note_idle(&scenario);
    doc_add_string(arena, answer->doc, "model", scenario.model);
    doc_add_string(arena, answer->doc, "machine", scenario.machine);
    for (int i = 0; i < COUNT; i++)
        doc_add_number(arena, answer->doc, names[i], values.at[i]);
    doc_add_string(arena, answer->doc, "limited_by", limit_at(&values)->name);
    answer_lines(&scenario, &values, answer);
    if (!answer_operators(&scenario, answer, error))
        return false;
    buffer_print(&answer->text, "\n");
    scenario_notes(&scenario, answer);
    answer->status = values.at[SHARE] > 1;
    return true;
}
