/* Breakdowns: what rows with a part name contribute to an output, and what is saved without one.
 *
 * The oracle knows nothing of scales nor of slopes. It writes every row that is made of parts once
 * more, as text: NAME_inside reads what NAME reads, by the names _inside. A part then is its own
 * _inside times a number, NAME_times, so that outside of all parts the number counts and inside of one it does
 * not. With 0 in the place of 1 the value is that without the part; between 1 - h and 1 + h, the
 * value of every ROOT bound as a number, it has the slope that is the contribution. */
#include "test.h"
#include "commands.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "ask/ask.h"
#include "deploy/waterfall.h"

#include <math.h>

static const struct {
    const char *model, *machine, *sets[8];
    bool open;                      /* requests arrive at a rate: rent does not follow from times */
} worlds[] = {
    { "llama-3.1-8b", "h100-sxm", { "chips=1", "concurrency=32" }, false },
    { "llama-3.1-70b", "h100-sxm",
      { "chips=8", "concurrency=64", "prompt_tokens=2000", "output_tokens=300" }, false },
    { "deepseek-v3", "gb200-nvl72",
      { "chips=72", "attention_dp=72", "concurrency=4608", "prompt_tokens=4000",
        "output_tokens=500" }, false },
    { "deepseek-v3", "gb200-nvl72",
      { "chips=72", "attention_dp=72", "concurrency=2304", "draft_tokens=2", "comm_overlap_share=0.5" },
      false },
    { "deepseek-v3", "gb200-nvl72",
      { "chips=72", "attention_dp=8", "arrival_rate=5", "prompt_tokens=2000",
        "output_tokens=500" }, true },
    { "deepseek-v3", "h100-sxm",
      { "chips=16", "pipeline_parallel=2", "concurrency=64", "chunked_prefill_size=2048" }, false },
    { "gpt-oss-120b", "mi300x",
      { "chips=2", "concurrency=100", "prompt_tokens=1000", "output_tokens=300" }, false },
    { "qwen3.5-397b-a17b", "b200-sxm", { "chips=8", "concurrency=128" }, false },
    { "mixtral-8x7b", "a100-sxm",
      { "chips=4", "arrival_rate=1", "prompt_tokens=500", "output_tokens=200" }, true },
    { "qwen3-0.6b", "rtx-4090", { "chips=1", "concurrency=8" }, false },
    { "mixtral-8x7b", "h100-sxm",
      { "tensor_parallel=1", "pipeline_parallel=4", "recompute_full=1", "virtual_stages=8",
        "zero_stage=2", "micro_batch=8", "expert_parallel=1", "concurrency=64" }, false },
};

static const char *const outputs[] = { "predicted_tpot", "predicted_ttft", "train_step",
                                       "output_cost_per_token" };
enum { TPOT, TTFT, TRAIN, COST };

static void open_world(size_t i, struct arena *arena, struct command *command,
                       struct scenario *scenario)
{
    struct error error;
    *command = (struct command){ .verb = &verb_eval };
    for (int k = 0; k < 8 && worlds[i].sets[k]; k++)
        command_set(arena, command, "set", worlds[i].sets[k]);
    command_set(arena, command, "set", "training_chips=64");
    if (!scenario_open(scenario, arena, command, subject_of(worlds[i].model, worlds[i].machine),
                       &error) ||
        !scenario_choose(scenario, outputs, COUNT(outputs), &error))
        fail_msg("%s: %s (%s)", worlds[i].model, error.what, error.hint);
}

/* ---- the oracle: rows of parts written twice --------------------------------------------------- */

struct twice {
    struct scenario scenario;       /* with formulas of its own */
    size_t rows;                    /* of the formulas as it was */
    int *made;                      /* is a row made of parts: 1, 2: no; 3: and written twice */
    struct graph graph;             /* of the output, with the numbers of parts among its inputs */
    double *inputs;
};

/* The rows that an expression names, those of bindings among them. */
static bool any_row(const struct expr *expr, bool (*is)(void *, int), void *context)
{
    bool any = expr->row >= 0 && expr->op != OP_ROOT && is(context, expr->row);
    for (int i = 0; i < 3 && expr_kid(expr, i); i++)
        any |= any_row(expr_kid(expr, i), is, context);
    for (const struct expr *at = expr_at(expr); at; at = expr_at(at))
        any |= any_row(expr_kid(at, 0), is, context);
    return any;
}

static const struct expr *expr_here(struct twice *twice, int row)
{
    const struct formulas *formulas = &twice->scenario.formulas;
    const struct fact *fact = facts_find(&twice->scenario.facts, row_name(formulas_row(formulas, row)));
    const struct expr *expr = row_expr(formulas_row(formulas, row));
    struct error error;
    if (fact && fact->expression)
        assert_true(expr_parse(formulas, "fact", 0, text_of(fact->expression), &expr, &error));
    return fact && !fact->expression ? NULL : expr;
}

static bool of_parts(void *context, int row)
{
    struct twice *twice = context;
    if (twice->made[row])
        return twice->made[row] != 2;
    const struct expr *expr = expr_here(twice, row);
    twice->made[row] = 2;                   /* what asks GIVEN may come back here */
    const bool made = row_part(formulas_row(&twice->scenario.formulas, row)) ||
                      (expr && any_row(expr, of_parts, twice));
    twice->made[row] = made ? 1 : 2;
    return made;
}

static bool is_letter(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* The text with _inside behind the names of rows that are made of parts. */
static const char *inside_text(struct twice *twice, struct text text)
{
    struct buffer out = { .arena = twice->scenario.arena };
    for (size_t i = 0; i < text.size;) {
        size_t end = i;
        while (end < text.size && is_letter(text.data[end]))
            end++;
        if (end == i) {
            buffer_add(&out, text.data + i++, 1);
            continue;
        }
        const char *word = arena_copy(out.arena, text.data + i, end - i);
        const int row = formulas_find(&twice->scenario.formulas, word);
        buffer_print(&out, "%s%s", word, row >= 0 && (size_t)row < twice->rows &&
                                         of_parts(twice, row) ? "_inside" : "");
        i = end;
    }
    return out.data;
}

/* Its copy, after those of the rows that it reads. */
static bool write_twice(void *context, int row)
{
    struct twice *twice = context;
    struct scenario *scenario = &twice->scenario;
    struct error error;
    if (!of_parts(twice, row) || twice->made[row] == 3)
        return false;
    twice->made[row] = 3;
    const struct row *the = formulas_row(&scenario->formulas, row);
    const struct fact *fact = facts_find(&scenario->facts, row_name(the));
    const struct expr *expr = expr_here(twice, row);
    assert_null(row_table(the));
    if (expr)
        any_row(expr, write_twice, twice);
    struct text text = fact && fact->expression ? text_of(fact->expression) : row_text(the);
    const char *rows = !expr
        ? arena_print(scenario->arena, "%s_inside : %s = %.17g in -1e99..1e99\n    copy (test)\n",
                      row_name(the), row_unit_text(the), fact ? fact->value : the->value)
        : arena_print(scenario->arena, "%s_inside : %s\n    copy (test)\n    = %s\n", row_name(the),
                      row_unit_text(the), inside_text(twice, text));
    if (!formulas_read(&scenario->formulas, "twice", text_of(rows), &error))
        fail_msg("%s: %s (%s)", rows, error.what, error.hint);
    return false;
}

/* Inputs whose default is an expression, such as a rate that follows from a demand, as numbers. */
static void fix_defaults(struct scenario *scenario)
{
    struct facts facts = facts_copy(&scenario->facts);
    for (size_t i = 0; i < scenario->formulas.count; i++) {
        const struct row *row = formulas_row(&scenario->formulas, i);
        struct error error;
        double value;
        if (row->input && row_expr(row) && !row_table(row) && !facts_find(&scenario->facts, row_name(row)) &&
            value_of(scenario, row_name(row), &value, &error))
            facts_set(&facts, row_name(row), value, ORIGIN_DERIVED, "test");
    }
    scenario->facts = facts;
}

static void write_all(struct twice *twice, const struct scenario *scenario, const char *output)
{
    struct arena *arena = scenario->arena;
    struct error error;
    *twice = (struct twice){ .scenario = *scenario };
    struct formulas *formulas = &twice->scenario.formulas;
    formulas_copy(formulas, arena, &scenario->formulas);
    formulas->open = true;
    twice->scenario.facts = facts_copy(&scenario->facts);
    fix_defaults(&twice->scenario);
    twice->rows = scenario->formulas.count;
    twice->made = arena_array(arena, twice->rows + 1, sizeof *twice->made);
    write_twice(twice, formulas_find(formulas, output));
    for (size_t i = 0; i < twice->rows; i++) {
        const char *name = row_name(formulas_row(formulas, i));
        if (!row_part(formulas_row(formulas, i)) || twice->made[i] != 3)
            continue;
        if (!formulas_read(formulas, "twice", text_of(arena_print(arena, "%s_times : 1 = 1 in 0..2\n    number (test)\n", name)),
                           &error))
            fail_msg("%s_times: %s (%s)", name, error.what, error.hint);
        facts_bind(&twice->scenario.facts, name, arena_print(arena, "%s_times * %s_inside", name, name), ORIGIN_DERIVED, "test");
    }
    const struct expr *wanted;
    if (!expr_parse(formulas, NULL, 0, text_of(output), &wanted, &error) ||
        !graph_build(arena, formulas, &twice->scenario.facts, &wanted, 1, &twice->graph, &error))
        fail_msg("%s: %s (%s)", output, error.what, error.hint);
    twice->inputs = arena_array(arena, twice->graph.input_count + 1, sizeof *twice->inputs);
    for (size_t i = 0; i < twice->graph.input_count; i++)
        twice->inputs[i] = twice->graph.inputs[i].value;
}

/* The output where one part is multiplied by `times`. */
static double with_part(struct twice *twice, int part, double times)
{
    const struct formulas *formulas = &twice->scenario.formulas;
    const int row = formulas_find(formulas, arena_print(twice->scenario.arena, "%s_times", row_name(formulas_row(formulas, part))));
    double value;
    size_t i = 0;
    while (i < twice->graph.input_count && twice->graph.inputs[i].row != row)
        i++;
    if (i == twice->graph.input_count)
        fail_msg("%s is no part of the output", row_name(formulas_row(formulas, part)));
    twice->inputs[i] = times;
    graph_value(twice->scenario.arena, &twice->graph, twice->inputs, NULL, &value);
    twice->inputs[i] = 1;
    return value;
}

/* ---- the tests --------------------------------------------------------------------------------- */

static struct breakdown parts_at(struct scenario *scenario, int output, bool saved)
{
    struct error error;
    struct breakdown parts;
    if (!breakdown_of(scenario, outputs[output], saved, &parts, &error))
        fail_msg("%s: %s (%s)", outputs[output], error.what, error.hint);
    return parts;
}

/* Rent does not follow from times where requests come at a rate. */
static bool made_of_times(size_t world, int output)
{
    return output != COST || !worlds[world].open;
}

static void parts_add_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(worlds); i++)
        for (int output = 0; output < (int)COUNT(outputs); output++) {
            struct arena arena = { 0 };
            struct command command;
            struct scenario scenario;
            struct values values;
            struct error error;
            double plain;
            open_world(i, &arena, &command, &scenario);
            const struct breakdown parts = parts_at(&scenario, output, false);
            if (!value_of(&scenario, outputs[output], &plain, &error) ||
                !values_of_parts(&scenario, &outputs[output], 1, &values, &error))
                fail_msg("%s: %s (%s)", outputs[output], error.what, error.hint);
            assert_true(same_bits(plain, values.at[0]));
            assert_true(parts.count >= 4);
            if (made_of_times(i, output) &&
                !(fabs(breakdown_other(&parts)) < 1e-9 * parts.whole))
                fail_msg("%s on %s: the parts of %s leave %.3g of %.12g", worlds[i].model,
                         worlds[i].machine, outputs[output], breakdown_other(&parts), parts.whole);
            for (size_t k = 0; k < parts.count && (output == TPOT || output == TRAIN); k++)
                if (!(parts.at[k].value > 0))
                    fail_msg("%s: %s contributes %g s", worlds[i].model, parts.at[k].label,
                             parts.at[k].value);
            arena_free(&arena);
        }
}

static void as_rows_written_twice(void **state)
{
    (void)state;
    size_t saved = 0, slopes = 0;
    for (size_t i = 0; i < COUNT(worlds); i++)
        for (int output = 0; output < (int)COUNT(outputs); output++) {
            struct arena arena = { 0 };
            struct command command;
            struct scenario scenario;
            struct twice twice, held;
            struct error error;
            double running = 0;
            open_world(i, &arena, &command, &scenario);
            const struct breakdown parts = parts_at(&scenario, output, true);
            write_all(&twice, &scenario, outputs[output]);
            if (output != TRAIN) {
                assert_true(value_of(&scenario, "rank_running_mean", &running, &error));
                facts_set(&scenario.facts, "rank_running_mean", running, ORIGIN_GIVEN, "test");
                assert_true(value_of(&scenario, "closed_wait_steps", &running, &error));
                facts_set(&scenario.facts, "closed_wait_steps", running, ORIGIN_GIVEN, "test");
            }
            write_all(&held, &scenario, outputs[output]);
            for (size_t k = 0; k < parts.count; k++) {
                const struct contribution *part = &parts.at[k];
                const double without = parts.whole - with_part(&twice, part->row, 0);
                if (!(fabs(part->saved - without) < 1e-9 * parts.whole))
                    fail_msg("%s: %s without %s saves %.12g, by hand %.12g", worlds[i].model,
                             outputs[output], row_name(formulas_row(&scenario.formulas, part->row)), part->saved,
                             without);
                saved++;
                if (!made_of_times(i, output))
                    continue;               /* the rate and what can be done are the same number */
                const double slope = (with_part(&held, part->row, 1.000001) - with_part(&held, part->row, 0.999999)) / 2e-6;
                if (!(fabs(part->value - slope) < 1e-7 * parts.whole))
                    fail_msg("%s: %s contributes %.12g to %s, by hand %.12g", worlds[i].model,
                             row_name(formulas_row(&scenario.formulas, part->row)), part->value, outputs[output],
                             slope);
                slopes++;
            }
            arena_free(&arena);
        }
    print_message("%zu contributions and %zu savings as by hand\n", slopes, saved);
    assert_true(saved > 300);
}

/* The lists of expressions over rows that answers had before parts were read from the rows; that of
 * the experts has the permutation in it. */
static void as_the_lists_said(void **state)
{
    (void)state;
    static const struct {
        const char *label, *beside, *text;
    } steps[] = {
        { "experts", "expert permutation",
          "SUM(operator, operator_routed * operator_time) + moe_permute_time" },
        { "shared experts", "", "SUM(operator, operator_shared * operator_time)" },
        { "dense FFN", "", "SUM(operator, operator_dense_ffn * operator_time)" },
        { "router and norms", "", "SUM(operator, operator_router * operator_time)" },
        { "head", "", "SUM(operator, operator_head * operator_time)" },
        { "attention projections", "",
          "SUM(operator, operator_time) - SUM(operator, (operator_routed + operator_shared"
          " + operator_dense_ffn + operator_router + operator_head) * operator_time)" },
        { "attention over the KV cache", "", "attention_decode_time" },
        { "launch overhead", "", "kernel_overhead_time" },
        { "communication", "", "comm_time" },
        { "host overhead", "", "host_exposed" },
        { "prefill interference", "", "prefill_wait" },
    }, train[] = {
        { "GEMMs", "", "train_micro_batches * (gemm_forward + gemm_backward)" },
        { "attention", "", "train_micro_batches * (attention_forward + attention_backward)" },
        { "elementwise", "",
          "train_micro_batches * (elementwise_forward + elementwise_backward + quantise_forward"
          " + quantise_backward + kernel_gap_time + kernel_gap_time)" },
        { "recomputation", "", "train_micro_batches * activation_recompute_time" },
        { "TP communication", "", "train_micro_batches * (tensor_forward + tensor_backward)" },
        { "CP communication", "", "train_micro_batches * 2 * ring_forward" },
        { "experts", "",
          "train_micro_batches * ((1 + permute_back) * permute_forward + 2 * exchange_forward"
          " + expert_gaps)" },
        { "head", "", "train_micro_batches * head_train_time" },
        { "uneven stages", "",
          "train_micro_batches * (pipeline_parallel * micro_batch_interval - layers_time"
          " - head_train_time)" },
        { "pipeline fill", "", "pipeline_parallel * pipeline_fill" },
        { "DP communication", "", "pipeline_parallel * dp_comm_time" },
        { "optimizer", "", "pipeline_parallel * (optimizer_time + step_overhead)" },
        { "host memory", "",
          "train_micro_batches * pipeline_parallel * (host_forward + host_backward)"
          " + pipeline_parallel * optimizer_transfer" },
        { "stragglers", "",
          "pipeline_parallel * (train_step - (pipeline_time + dp_comm_time + optimizer_time"
          " + optimizer_transfer + step_overhead))" },
    };
    for (size_t i = 0; i < COUNT(worlds); i++) {
        struct arena arena = { 0 };
        struct command command;
        struct scenario scenario;
        struct error error;
        open_world(i, &arena, &command, &scenario);
        const struct breakdown of_step = parts_at(&scenario, TPOT, false);
        const struct breakdown of_train = parts_at(&scenario, TRAIN, false);
        /* the list gave all that overlaps to the links */
        const bool overlaps = facts_find(&scenario.facts, "comm_overlap_share") != NULL;
        for (size_t k = overlaps ? COUNT(steps) : 0; k < COUNT(steps) + COUNT(train); k++) {
            const bool step = k < COUNT(steps);
            const struct breakdown *parts = step ? &of_step : &of_train;
            const char *label = step ? steps[k].label : train[k - COUNT(steps)].label;
            const char *beside = step ? steps[k].beside : train[k - COUNT(steps)].beside;
            const bool of_host = !strcmp(label, "host overhead") || !strcmp(label, "prefill interference");
            const char *text = step
                ? arena_print(&arena, "AT((%s) * %s / acceptance_length, rank_running = rank_running_seen, context = mean_context,"
                              " prefill_chunk = 0)", steps[k].text, of_host ? "1" : "stage_unevenness")
                : arena_print(&arena, "(%s) / pipeline_parallel", train[k - COUNT(steps)].text);
            double sum = 0, said;
            if (!value_of(&scenario, text, &said, &error))
                fail_msg("%s: %s (%s)", text, error.what, error.hint);
            for (size_t n = 0; n < parts->count; n++)
                if (!strcmp(parts->at[n].label, label) || !strcmp(parts->at[n].label, beside))
                    sum += parts->at[n].value;
            if (!(fabs(sum - said) < 1e-12 * parts->whole))
                fail_msg("%s: %s contributes %.15g, was %.15g", worlds[i].model, label, sum, said);
        }
        arena_free(&arena);
    }
}

/* A part inside a part does not count, one that is read at two points does so twice, and the value
 * of a ROOT is held. */
static void small_parts(void **state)
{
    (void)state;
    static const char rows[] =
        "== Small\n\n"
        "n : 1 = 3 in 0..10\n    count (test)\n"
        "load : s = 2 in 0..10\n    input (test)\n    part: load\n"
        "inner : s\n    inside (test)\n    part: inner\n    = 5s\n\n"
        "outer : s\n    around (test)\n    part: outer\n    = n * inner + load\n\n"
        "root : 1\n    held (test)\n    = ROOT(n, 0, 10, inner * n - 4 * load)\n\n"
        "sum : s\n    all (test)\n    = AT(outer, n = 1) + AT(outer, n = root) + 2 * inner"
        " - load / 2 + 0.25s\n";
    struct arena arena = { 0 };
    struct formulas formulas;
    struct facts facts = { .arena = &arena };
    struct error error;
    struct graph graph;
    const struct expr *sum;
    size_t count;
    formulas_open(&formulas, &arena, 0);
    if (!formulas_read(&formulas, "small", text_of(rows), &error) ||
        !expr_parse(&formulas, NULL, 0, text_of("sum"), &sum, &error) ||
        !graph_build_parts(&arena, &formulas, &facts, &sum, 1, &graph, &error))
        fail_msg("%s (%s)", error.what, error.hint);
    double inputs[8], *nodes = arena_array(&arena, graph.count, sizeof *nodes), value;
    assert_true(graph.input_count <= COUNT(inputs));
    for (size_t i = 0; i < graph.input_count; i++)
        inputs[i] = graph.inputs[i].value;
    graph_value(&arena, &graph, inputs, nodes, &value);
    /* n = 4 * 2 / 5 where the ROOT is zero; outer is 5 + 2 and 5 * 1.6 + 2 */
    assert_true(fabs(value - (7 + 10 + 10 - 1 + 0.25)) < 1e-9);
    struct contribution *parts = graph_breakdown(&arena, &formulas, &graph, 0, nodes, &count);
    graph_saved(&graph, 0, nodes, parts, count);
    assert_int_equal(count, 3);
    static const struct { const char *label; double value, saved; } expected[] = {
        { "outer", 17, 17 }, { "inner", 10, NAN }, { "load", -1, NAN } };
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(parts[i].label, expected[i].label);
        assert_true(fabs(parts[i].value - expected[i].value) < 1e-9);
        if (!isnan(expected[i].saved))
            assert_true(fabs(parts[i].saved - expected[i].saved) < 1e-9);
    }
    /* without `inner` the ROOT has no change of sign; without `load` it is 0, where outer is 2 */
    assert_true(isnan(parts[1].saved));
    assert_true(fabs(parts[2].saved - (value - (7 + 2 + 10 + 0.25))) < 1e-9);
    arena_free(&arena);
}

/* ---- from the bound to the prediction ---------------------------------------------------------- */

static void read_waterfall(size_t world, const char *const *sets, size_t count, double *at)
{
    struct arena arena = { 0 };
    struct command command;
    struct scenario scenario;
    struct values values;
    struct error error;
    open_world(world, &arena, &command, &scenario);
    for (size_t i = 0; i < count; i++)
        facts_set(&scenario.facts, sets[i], 1, ORIGIN_GIVEN, "the test");
    if (!values_of(&scenario, waterfall_rows, WATERFALL_ROWS, &values, &error))
        fail_msg("%s: %s", worlds[world].model, error.what);
    memcpy(at, values.at, WATERFALL_ROWS * sizeof *at);
    arena_free(&arena);
}

/* The bound and the gaps are the prediction. Only guesses and sequences that wait for their prompts
 * can make a token come earlier. */
static void gaps_add_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(worlds); i++) {
        double at[WATERFALL_ROWS], sum = 0;
        read_waterfall(i, NULL, 0, at);
        for (int k = 0; k < WATERFALL_ROWS - 1; k++) {
            sum += at[k];
            if (at[k] < -1e-12 && strcmp(waterfall_rows[k], "gap_draft") &&
                strcmp(waterfall_rows[k], "gap_batch"))
                fail_msg("%s: %s is %g s", worlds[i].model, waterfall_rows[k], at[k]);
        }
        if (!(fabs(sum / at[WATERFALL_ROWS - 1] - 1) < 1e-9))
            fail_msg("%s: bound and gaps are %.15g, TPOT %.15g", worlds[i].model, sum,
                     at[WATERFALL_ROWS - 1]);
    }
}

/* Kernels that reach all of the peak leave no gap below it: of a dense model, where no tokens are
 * sorted by expert. */
static void no_gap_at_the_peak(void **state)
{
    (void)state;
    static const char *const shares[] = {
        "software_efficiency", "efficiency_bf16", "efficiency_fp8", "efficiency_fp4", "efficiency_int8", "efficiency_moe",
        "bandwidth_efficiency_weights", "bandwidth_efficiency_weights_fp4", "bandwidth_efficiency_kv", "efficiency_attention" };
    int below = 0;
    while (strcmp(waterfall_rows[below], "gap_efficiency"))
        below++;
    for (size_t i = 0; i < 2; i++) {
        double as_fitted[WATERFALL_ROWS], at_peak[WATERFALL_ROWS];
        read_waterfall(i, NULL, 0, as_fitted);
        read_waterfall(i, shares, COUNT(shares), at_peak);
        assert_true(as_fitted[below] > 1e-4);
        assert_true(fabs(at_peak[below]) < 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_parts),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(as_rows_written_twice),
        cmocka_unit_test(as_the_lists_said),
        cmocka_unit_test(gaps_add_up),
        cmocka_unit_test(no_gap_at_the_peak),
    };
    return cmocka_run_group_tests_name("breakdown", tests, NULL, NULL);
}
