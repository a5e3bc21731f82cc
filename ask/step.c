/* step: one forward pass, what binds it, what it yields. */
#include "ask/ask.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    "bound_step", "bound_compute", "bound_weights", "bound_kv", "bound_memory", "bound_mfu",
    "bound_mbu", "user_speed", "bound_throughput", "bound_cost_per_token", "hbm_share",
    "weights_per_chip", "kv_per_chip", "exchange_time", "batch", "context", "chips" };
enum { STEP, COMPUTE, WEIGHTS, KV, MEMORY, MFU, MBU, USER, THROUGHPUT, COST, SHARE, CHIP_WEIGHTS,
       CHIP_KV, EXCHANGE, BATCH, CONTEXT, CHIPS, COUNT, OPERATORS = 6 };

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

/* The weights operator by operator: what each must compute and read. */
static bool answer_operators(struct scenario *scenario, struct answer *answer,
                             struct error *error)
{
    struct arena *arena = scenario->arena;
    const struct fact_table *table = facts_table(&scenario->facts, "operator");
    struct share *shares = arena_array(arena, table->entries + 1, sizeof *shares);
    static const struct unit seconds = { { 2 } };
    struct doc *list = doc_add(arena, answer->doc, "operators", DOC_OBJECT);
    const char **texts = arena_array(arena, 2 * table->entries + 1, sizeof *texts);
    for (size_t i = 0; i < table->entries; i++) {
        texts[2 * i] = arena_print(arena, "operator_compute_time[%s]", table->entry[i]);
        texts[2 * i + 1] = arena_print(arena, "operator_read_time[%s]", table->entry[i]);
    }
    struct values values;
    if (!values_of(scenario, texts, 2 * table->entries, &values, error))
        return false;
    for (size_t i = 0; i < table->entries; i++) {
        shares[i] = (struct share){ table->entry[i], values.at[2 * i], values.at[2 * i + 1] };
        struct doc *one = doc_add(arena, list, table->entry[i], DOC_OBJECT);
        doc_add_number(arena, one, "operator_compute_time", shares[i].compute);
        doc_add_number(arena, one, "operator_read_time", shares[i].read);
    }
    qsort(shares, table->entries, sizeof *shares, longest_first);
    struct table lines = { .arena = arena, .columns = 3, .left = "lrr" };
    table_cell(&lines, "operator");
    table_cell(&lines, "compute");
    table_cell(&lines, "read");
    for (size_t i = 0; i < table->entries && i < OPERATORS; i++) {
        table_cell(&lines, "%s", shares[i].name);
        table_cell(&lines, "%s", quantity_text(arena, shares[i].compute, seconds, 3));
        table_cell(&lines, "%s", quantity_text(arena, shares[i].read, seconds, 3));
    }
    buffer_print(&answer->text, "\n");
    table_print(&lines, &answer->text, "  ");
    if (table->entries > OPERATORS)
        buffer_print(&answer->text, "  and %zu smaller\n", table->entries - OPERATORS);
    return true;
}

static const char *binds(const struct values *values)
{
    if (values->at[COMPUTE] >= values->at[MEMORY])
        return "compute";
    return values->at[WEIGHTS] >= values->at[KV] ? "reading weights" : "reading the KV cache";
}

static void answer_lines(struct scenario *scenario, const struct values *values,
                         struct answer *answer)
{
    struct arena *arena = scenario->arena;
    struct buffer *out = &answer->text;
    const char *text[COUNT];
    for (int i = 0; i < COUNT; i++)
        text[i] = quantity_text(arena, values->at[i], scenario_unit(scenario, names[i]), 4);
    buffer_print(out, "%s on %s x %s, batch %s, context %ss\n\n", scenario->model,
                 scenario->machine, text[CHIPS], text[BATCH], text[CONTEXT]);
    buffer_print(out, "  step    %s, limited by %s (a bound: nothing is faster)\n", text[STEP],
                 binds(values));
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
}

bool ask_step(struct arena *arena, const struct question *question, struct answer *answer,
              struct error *error)
{
    struct scenario scenario;
    struct values values;
    const char *model = question->word_count ? question->words[0] : question->option[OPTION_MODEL];
    const char *machine = question->option[OPTION_ON];
    if (!model || !machine || question->word_count > 1) {
        error_set(error, !model ? "step needs a model" : !machine ? "step needs a machine: --on"
                         : "step takes one model, %zu words were given", question->word_count);
        return error_hint(error, "chalkline step llama-3.3-70b --on h100-sxm --batch 64");
    }
    if (!scenario_open(&scenario, arena, question, model, machine, error) ||
        !values_of(&scenario, names, COUNT, &values, error))
        return false;
    doc_add_string(arena, answer->doc, "model", scenario.model);
    doc_add_string(arena, answer->doc, "machine", scenario.machine);
    for (int i = 0; i < COUNT; i++)
        doc_add_number(arena, answer->doc, names[i], values.at[i]);
    doc_add_string(arena, answer->doc, "limited_by", binds(&values));
    answer_lines(&scenario, &values, answer);
    if (!answer_operators(&scenario, answer, error))
        return false;
    buffer_print(&answer->text, "\n");
    scenario_notes(&scenario, answer);
    answer->status = values.at[SHARE] > 1;
    return true;
}
