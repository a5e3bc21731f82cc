/* The answer of `life`: compute-optimal tokens and size over a model's lifetime, how uncertain
 * they are, and what other laws say.
 *
 * Intervals come from the standard errors of the law's exponents and from ranges that the user
 * gave, by seeded draws (graph_quantiles). The lines under "moves" evaluate the optimum again with
 * one input changed. A law that has no loss term can answer only a question about compute for
 * training, and its other columns stay empty. Sizes beyond the largest experiment of a law are
 * answered with a note. */
#include "ask/life/life.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

#define RULE(name) (life->chosen->rules[RULE_##name])
#define AT(name) (life->chosen->figures[LIFE_##name])

static const char *number_text(const struct life *life, double value, int digits)
{
    return quantity_text(life->arena, value, unit_one, digits);
}

static const char *flops_text(const struct life *life, double value)
{
    return arena_print(life->arena, "%s FLOP", number_text(life, value, 3));
}

static void line(struct life *life, const char *name, const char *text)
{
    buffer_print(&life->answer->text, "  %-14s%s\n", name, text);
}
#define LINE(name, ...) line(life, name, arena_print(life->arena, __VA_ARGS__))

/* ---- what was asked --------------------------------------------------------------------- */

/* "70.8 T tokens, 708 for each of 100 B active parameters: 35.4 x the 20 of Chinchilla" */
static void head_line(struct life *life)
{
    struct buffer *out = &life->answer->text;
    const struct life_law *law = life->chosen;
    const char *params = large_text(life->arena, law->params);
    const char *tokens = large_text(life->arena, law->tokens);
    const char *each = number_text(life, law->tokens / law->params, 3);
    if (life->kind == &life_kinds[LIFE_TOKENS])
        buffer_print(out, "%s%s%s tokens, %s per active parameter (%s): %s x the %s of "
                     "Chinchilla\n\n", life->scenario.model ? life->scenario.model : "",
                     life->scenario.model ? ": " : "", tokens, each, params,
                     number_text(life, AT(overtraining), 3),
                     number_text(life, AT(tokens_per_param), 3));
    else if (life->kind == &life_kinds[LIFE_BUDGET])
        buffer_print(out, "%s active parameters on %s tokens, %s per parameter: the lowest loss, %s, "
                     "for a lifetime compute of %s\n\n", params, tokens, each, number_text(life, AT(model_loss), 4),
                     flops_text(life, AT(life_flops)));
    else
        buffer_print(out, "%s active parameters on %s tokens, %s per parameter: the least lifetime "
                     "compute, %s, at a loss of %s\n\n", params, tokens, each,
                     flops_text(life, AT(life_flops)), number_text(life, AT(model_loss), 4));
}

static void served_line(struct life *life)
{
    const char *all = large_text(life->arena, AT(served_tokens));
    if (AT(inference_tokens) == AT(served_tokens) * AT(ship_probability) &&
        AT(ship_probability) < 1)
        LINE("served", "%s tokens: %s with probability %s of shipping",
             large_text(life->arena, AT(inference_tokens)), all,
             number_text(life, AT(ship_probability), 3));
    else
        LINE("served", "%s tokens", large_text(life->arena, AT(inference_tokens)));
}

static void compute_line(struct life *life)
{
    const double all = AT(life_flops) / 100;
    LINE("compute", "%s: pre-training %.0f %%, reinforcement learning %.0f %%, inference %.0f %%",
         flops_text(life, AT(life_flops)), AT(pretrain_flops) / all, AT(life_rl_flops) / all,
         AT(inference_flops) / all);
}

static void loss_line(struct life *life)
{
    LINE("loss", "%s: irreducible %s, from finite parameters %.3g, from finite tokens %.3g",
         number_text(life, AT(model_loss), 4), number_text(life, AT(loss_floor), 4),
         AT(loss_of_params), AT(loss_of_tokens));
}

/* What equal costs, or the tokens that the model had, waste. */
static void rule_line(struct life *life)
{
    const struct fact *given = facts_find(&life->scenario.facts, NAME_pretrain_tokens);
    const char *name = fact_given(given) ? "trained" : "rule";
    const char *what = fact_given(given) ? "" : "equal cost is ";
    const char *tokens = large_text(life->arena, RULE(pretrain_tokens));
    if (!(RULE(rule_room) > 0))
        LINE(name, "%s%s tokens: no number of parameters reaches this loss", what,
             tokens);
    else
        LINE(name, "%s%s tokens: this loss with %s parameters at %.3g %% more compute", what,
             tokens, large_text(life->arena, RULE(rule_params)), 100 * RULE(rule_excess));
    if (RULE(rule_exact_params) > 0)
        LINE("", "compute-optimal for %s parameters",
             large_text(life->arena, RULE(rule_exact_params)));
}

/* ---- how sure --------------------------------------------------------------------------- */

static void add_range(struct life *life, struct doc *doc, const char *row, struct range range)
{
    struct doc *ends = doc_add(life->arena, doc, row, DOC_ARRAY);
    doc_add_number(life->arena, ends, NULL, range.low);
    doc_add_number(life->arena, ends, NULL, range.high);
}

static const char *range_text(const struct life *life, struct range range)
{
    return arena_print(life->arena, "%s to %s", large_text(life->arena, range.low),
                       large_text(life->arena, range.high));
}

static void range_line(struct life *life, const char *name, const struct range *ranges,
                       const char *why)
{
    const double chinchilla = AT(params_active) * AT(tokens_per_param);
    if (life->kind == &life_kinds[LIFE_TOKENS])
        LINE(name, "%s tokens, %s to %s x: %s", range_text(life, ranges[1]),
             number_text(life, ranges[1].low / chinchilla, 3),
             number_text(life, ranges[1].high / chinchilla, 3), why);
    else
        LINE(name, "%s parameters, %s tokens: %s", range_text(life, ranges[0]),
             range_text(life, ranges[1]), why);
}

static void add_ranges(struct life *life, const char *name, const struct range *ranges)
{
    struct doc *doc = doc_add(life->arena, life->answer->doc, name, DOC_OBJECT);
    add_range(life, doc, life->kind->params, ranges[0]);
    add_range(life, doc, life->kind->tokens, ranges[1]);
}

/* Does anything vary beside the errors of the powers? */
static bool given_ranges(const struct life *life, const struct values *values,
                         const char *const *off)
{
    bool any = false;
    for (size_t i = 0; i < values->graph.input_count; i++) {
        const struct input *input = &values->graph.inputs[i];
        const char *name = life->scenario.formulas.rows[input->row]->name;
        any |= input->distribution != DISTRIBUTION_NONE && strcmp(name, off[0]) && strcmp(name, off[1]);
    }
    return any;
}

static bool law_range(struct life *life)
{
    const char *const rows[] = { life->kind->params, life->kind->tokens };
    static const char *const off[] = { NAME_loss_params_off, NAME_loss_tokens_off };
    struct scenario scenario = life_apart(&life->chosen->scenario);
    struct values values;
    struct range ranges[2];
    if (!life->chosen->uncertain)
        return true;
    for (int i = 0; i < 2; i++)
        if (!fact_given(facts_find(&scenario.facts, off[i])) &&
            !scenario_set_row(&scenario, off[i], "normal(0, 1)", ORIGIN_DERIVED, "life", life->error))
            return false;
    if (!values_of(&scenario, rows, 2, &values, life->error))
        return false;
    for (size_t i = 0; i < 2; i++)
        ranges[i] = values_range(&scenario, &values, i);
    add_ranges(life, "range_of_law", ranges);
    range_line(life, "90 % interval", ranges, given_ranges(life, &values, off)
               ? "from the standard errors of the exponents and the ranges given"
               : "from the standard errors of the exponents");
    return true;
}

/* Ends of a range that nothing moves differ by rounding alone. */
static bool wide(struct range range)
{
    return range.high - range.low > 1e-6 * range.high;
}

static const char *uncertain_inputs(const struct life *life, const struct values *values)
{
    struct buffer names = { .arena = life->arena };
    for (size_t i = 0; i < values->graph.input_count; i++)
        if (values->graph.inputs[i].distribution != DISTRIBUTION_NONE)
            buffer_print(&names, "%s%s", names.size ? ", " : "",
                         life->scenario.formulas.rows[values->graph.inputs[i].row]->name);
    return names.data;
}

static bool likely_range(struct life *life)
{
    const char *const rows[] = { life->kind->params, life->kind->tokens };
    struct scenario scenario = life_apart(&life->chosen->scenario);
    struct values values;
    struct range ranges[2];
    if (!values_of(&scenario, rows, 2, &values, life->error))
        return false;
    if (!values_uncertain(&scenario, &values))
        return true;
    for (size_t i = 0; i < 2; i++)
        ranges[i] = values_range(&scenario, &values, i);
    if (!wide(ranges[0]) && !wide(ranges[1]))
        return true;
    add_ranges(life, "range_of_inputs", ranges);
    range_line(life, life->chosen->uncertain ? "" : "90 % interval", ranges,
               arena_print(life->arena, "from the distribution of %s", uncertain_inputs(life, &values)));
    return true;
}

/* ---- what moves it ------------------------------------------------------------------------ */

/* What would be best with one input changed: "rl_share = 1". NULL: no answer there. */
static const char *changed_text(struct life *life, const char *change)
{
    const char *const texts[] = {
        arena_print(life->arena, "AT(%s, %s)", life->kind->params, change),
        arena_print(life->arena, "AT(%s, %s)", life->kind->tokens, change) };
    struct values values;
    struct error ignored;
    if (!values_of(&life->chosen->scenario, texts, 2, &values, &ignored))
        return NULL;
    const char *tokens = arena_print(life->arena, "%s tokens",
                                     large_text(life->arena, values.at[1]));
    return life->kind == &life_kinds[LIFE_TOKENS] ? tokens
           : arena_print(life->arena, "%s parameters, %s",
                         large_text(life->arena, values.at[0]), tokens);
}

static void moves_line(struct life *life)
{
    const char *more = changed_text(life, "rl_share = 1");
    LINE("per 1 %", "more served at this size: %+.2g %% tokens; more parameters: %+.2g %%",
         RULE(served_elasticity), RULE(params_elasticity));
    if (more)
        LINE("", "with as much reinforcement learning as pre-training: %s", more);
}

static void experts_line(struct life *life)
{
    const char *more = changed_text(life, "expert_quality = 1");
    double experts, gain;
    struct error ignored;
    if (!life->scenario.model || !more || RULE(expert_gain) != 1 ||
        !value_of(&life->chosen->scenario, NAME_experts, &experts, &ignored) || !(experts > 1) ||
        !value_of(&life->chosen->scenario, NAME_expert_gain_most, &gain, &ignored))
        return;
    LINE("experts", "only active parameters count; if %.0f experts were worth %.2f times",
         experts, gain);
    LINE("", "as many parameters (expert_quality=1): %s", more);
}

/* ---- laws beside each other ---------------------------------------------------------------- */

enum { COLUMNS = 9 };
static const char *const heads[COLUMNS] = {
    "law", "parameters", "tokens", "per parameter", "x Chinchilla", "inf./train.", "loss", "unserved",
    "equal cost" };
static const char *const csv_heads[COLUMNS] = {
    "law", NAME_params_active, "tokens", NAME_tokens_per_param, NAME_overtraining,
    NAME_inference_over_training, NAME_model_loss, "unserved_tokens_per_param", NAME_rule_excess };

/* What a law says, column by column; NAN: nothing. "unserved" are tokens for each parameter if
 * nothing is served, "equal cost" the compute that this rule wastes. */
static void law_numbers(const struct life_law *law, double *at)
{
    for (int i = 0; i < COLUMNS; i++)
        at[i] = NAN;
    if (!law->reached)
        return;
    at[1] = law->params;
    at[2] = law->tokens;
    at[3] = law->tokens / law->params;
    at[7] = law->unserved;
    if (law->frontier)                          /* says nothing of what is served */
        at[1] = at[2] = at[3] = NAN;
    else
        at[4] = law->figures[LIFE_overtraining];
    at[5] = law->frontier ? NAN : law->figures[LIFE_inference_over_training];
    at[6] = law->frontier ? NAN : law->figures[LIFE_model_loss];
    at[8] = law->frontier || !(law->rules[RULE_rule_room] > 0) ? NAN
            : law->rules[RULE_rule_excess];
}

static void law_row(struct life *life, const struct life_law *law, struct table *text,
                    struct table *csv)
{
    double at[COLUMNS];
    law_numbers(law, at);
    table_cell(text, "%s%s", law->chosen ? "> " : "  ", law->title);
    table_cell(csv, "%s", law->name);
    for (int i = 1; i < COLUMNS; i++) {
        const char *cell = isnan(at[i]) ? "" : i < 3 ? large_text(life->arena, at[i])
                           : number_text(life, at[i], i == 6 ? 4 : 3);
        if (i == 8)
            cell = !law->frontier && law->reached && isnan(at[i]) ? "never"
                   : isnan(at[i]) ? "" : arena_print(life->arena, "+%.3g %%", 100 * at[i]);
        if (!law->reached && i == 1)
            cell = "none";
        table_cell(text, "%s", cell);
        table_cell(csv, isnan(at[i]) ? "%.0s" : "%s", arena_print(life->arena, "%.9g", at[i]));
    }
}

static void law_document(struct life *life, const struct life_law *law, struct doc *list)
{
    struct doc *doc = doc_add(life->arena, list, NULL, DOC_OBJECT);
    double at[COLUMNS];
    law_numbers(law, at);
    doc_add_string(life->arena, doc, "law", law->name);
    doc_add_string(life->arena, doc, "title", law->title);
    for (int i = 1; i < COLUMNS; i++)
        if (!isnan(at[i]))
            doc_add_number(life->arena, doc, csv_heads[i], at[i]);
}

/* A law without a loss has an answer only to a compute of which nothing is served. */
static bool law_answers(const struct life_law *law)
{
    return law->reached || !law->frontier;
}

static void laws_table(struct life *life)
{
    struct table text = { .arena = life->arena, .columns = COLUMNS, .left = "lrrrrrrrr" };
    struct table csv = text;
    struct doc *list = doc_add(life->arena, life->answer->doc, "laws", DOC_ARRAY);
    for (int i = 0; i < COLUMNS; i++) {
        table_cell(&text, "%s%s", i ? "" : "  ", heads[i]);
        table_cell(&csv, "%s", csv_heads[i]);
    }
    for (size_t i = 0; i < life->count; i++)
        if (law_answers(&life->laws[i])) {
            law_row(life, &life->laws[i], &text, &csv);
            law_document(life, &life->laws[i], list);
        }
    buffer_print(&life->answer->text, "\n");
    table_print(&text, &life->answer->text, "");
    table_csv(&csv, &life->answer->csv);
    buffer_print(&life->answer->text, "\n");
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* No runs were so large; a law is stretched that far. */
static void note_beyond(struct life *life)
{
    const double params = AT(params_active) / AT(seen_params_high);
    const double tokens = AT(pretrain_tokens) / AT(seen_tokens_high);
    if (params > 1 || tokens > 1)
        facts_note(&life->scenario.facts, "the law holds beyond the runs it was fitted to, %s "
                   "parameters and %s tokens at most",
                   large_text(life->arena, AT(seen_params_high)),
                   large_text(life->arena, AT(seen_tokens_high)));
}

static void answer_document(struct life *life)
{
    struct doc *doc = life->answer->doc;
    doc_add_string(life->arena, doc, "question", life->kind->name);
    if (life->scenario.model)
        doc_add_string(life->arena, doc, "model", life->scenario.model);
    doc_add_string(life->arena, doc, "law", life->chosen->name);
    if (!life->chosen->reached)
        return;
    for (int i = 0; i < LIFE_FIGURE_COUNT; i++)
        doc_add_number(life->arena, doc, life_figures[i], life->chosen->figures[i]);
    struct doc *rule = doc_add(life->arena, doc, "rule", DOC_OBJECT);
    for (int i = 0; i < LIFE_RULE_COUNT; i++)
        if (!(i >= RULE_rule_params && i <= RULE_rule_excess) || RULE(rule_room) > 0)
            doc_add_number(life->arena, rule, life_rules[i], life->chosen->rules[i]);
}

static bool tell_floor(struct life *life)
{
    double wanted, lowest;
    if (!value_of(&life->chosen->scenario, NAME_target_loss, &wanted, life->error) ||
        !value_of(&life->chosen->scenario, NAME_loss_floor, &lowest, life->error))
        return false;
    buffer_print(&life->answer->text, "no size reaches a loss of %s: by this law none goes below "
                 "%s, %s away\n", number_text(life, wanted, 5), number_text(life, lowest, 5),
                 number_text(life, lowest - wanted, 3));
    return true;
}

static bool tell_budget(struct life *life)
{
    double budget, needed, served;
    if (!value_of(&life->chosen->scenario, NAME_life_budget, &budget, life->error) ||
        !value_of(&life->chosen->scenario, NAME_fixed_flop_per_param, &needed, life->error) ||
        !value_of(&life->chosen->scenario, NAME_inference_tokens, &served, life->error))
        return false;
    buffer_print(&life->answer->text, "no size serves %s tokens with %s: each parameter takes %s\n",
                 large_text(life->arena, served), flops_text(life, budget),
                 flops_text(life, needed));
    return true;
}

static bool answer_nothing(struct life *life)
{
    life->answer->status = 1;
    if (!(life->kind == &life_kinds[LIFE_LOSS] ? tell_floor(life) : tell_budget(life)))
        return false;
    laws_table(life);
    scenario_notes(&life->scenario, life->answer);
    return true;
}

bool life_answer(struct life *life)
{
    answer_document(life);
    if (!life->chosen->reached)
        return answer_nothing(life);
    head_line(life);
    served_line(life);
    compute_line(life);
    loss_line(life);
    rule_line(life);
    if (!law_range(life) || !likely_range(life))
        return false;
    moves_line(life);
    experts_line(life);
    laws_table(life);
    note_beyond(life);
    scenario_notes(&life->scenario, life->answer);
    return true;
}
