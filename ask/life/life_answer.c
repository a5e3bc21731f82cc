/* The answer of `life`, as figures: compute-optimal tokens and size over a model's lifetime, how
 * uncertain they are, and what other laws say. life.template is its text.
 *
 * Intervals come from the standard errors of the law's exponents and from ranges that the user
 * gave, by seeded draws (graph_quantiles). The lines under "moves" evaluate the optimum again with
 * one input changed. A law that has no loss term can answer only a question about compute for
 * training, and its other columns stay empty. Sizes beyond the largest experiment of a law are
 * answered with a note. */
#include "ask/life/life.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

#define RULE(name) (life->chosen->rules[RULE_##name])
#define AT(name) (life->chosen->figures[LIFE_##name])

static struct unit unit_of(const struct life *life, const char *row)
{
    return scenario_unit(&life->scenario, row);
}

static void tell_number(struct section *section, const char *name, double value)
{
    section_number(section, name, value, unit_one)->text_only = true;
}

static void tell_word(struct section *section, const char *name, const char *word)
{
    section_word(section, name, word)->text_only = true;
}

/* ---- the optimum -------------------------------------------------------------------------- */

/* The best size and tokens, and under "rule" the tokens at which both costs are equal, or the tokens that the model
 * had. */
static void add_optimum(struct life *life)
{
    const struct life_law *law = life->chosen;
    struct section *section = life->section;
    const double all = AT(life_flops);
    const bool ships = AT(inference_tokens) == AT(served_tokens) * AT(ship_probability) &&
                       AT(ship_probability) < 1;
    for (int i = 0; i < LIFE_FIGURE_COUNT; i++)
        if (!isnan(law->figures[i]))
            section_number(section, life_figures[i], law->figures[i], unit_of(life, life_figures[i]));
    tell_number(section, "tokens_each", law->tokens / law->params);
    tell_number(section, "pretrain_share", AT(pretrain_flops) / all);
    tell_number(section, "rl_compute_share", AT(life_rl_flops) / all);
    tell_number(section, "inference_share", AT(inference_flops) / all);
    tell_word(section, "shipping", ships ? "ships" : "");
    if (law->frontier)
        return;
    struct section *rule = section_add(section, "rule", SECTION_RECORD);
    for (int i = 0; i < LIFE_RULE_COUNT; i++)
        if (!(i >= RULE_rule_params && i <= RULE_rule_excess) || RULE(rule_room) > 0)
            section_number(rule, life_rules[i], law->rules[i], unit_of(life, life_rules[i]));
    tell_number(rule, "excess", 100 * RULE(rule_excess));
    tell_word(rule, "trained", fact_given(facts_find(&life->scenario.facts, NAME_pretrain_tokens))
              ? "trained" : "");
}

/* ---- how sure --------------------------------------------------------------------------- */

static const char *between(const struct life *life, struct range range)
{
    return arena_print(life->arena, "%s to %s", large_text(life->arena, range.low),
                       large_text(life->arena, range.high));
}

/* The ends for size and tokens under their rows, and a line for people. */
static void add_interval(struct life *life, const char *name, const struct range *ranges,
                         const char *grounds, struct section *lines)
{
    const char *const rows[] = { life->kind->params, life->kind->tokens };
    const double chinchilla = AT(params_active) * AT(tokens_per_param);
    struct section *section = section_add(life->section, name, SECTION_RECORD);
    for (int i = 0; i < 2; i++) {
        struct section *ends = section_add(section, rows[i], SECTION_TEXTS);
        section_number(ends, NULL, ranges[i].low, unit_one);
        section_number(ends, NULL, ranges[i].high, unit_one);
    }
    struct section *line = section_add(lines, NULL, SECTION_RECORD);
    section_word(line, "following", lines->inside_count > 1 ? "following" : "");
    section_word(line, "in_tokens", life->kind == &life_kinds[LIFE_TOKENS] ? "tokens" : "");
    section_word(line, "params_between", between(life, ranges[0]));
    section_word(line, "tokens_between", between(life, ranges[1]));
    section_number(line, "times_low", ranges[1].low / chinchilla, unit_one);
    section_number(line, "times_high", ranges[1].high / chinchilla, unit_one);
    section_word(line, "grounds", grounds);
}

/* From the standard errors of the law's powers, with what was given as a range. */
static bool add_law_interval(struct life *life, struct section *lines)
{
    const char *const rows[] = { life->kind->params, life->kind->tokens };
    static const char *const off[] = { NAME_loss_params_off, NAME_loss_tokens_off };
    struct scenario scenario = life_apart(&life->chosen->scenario);
    struct values values;
    struct range ranges[2];
    bool given = false;             /* does anything vary beside the errors of the powers? */
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
    for (size_t i = 0; i < values.graph.input_count; i++) {
        const struct input *input = &values.graph.inputs[i];
        const char *name = row_name(formulas_row(&life->scenario.formulas, input->row));
        given |= input->distribution != DISTRIBUTION_NONE && strcmp(name, off[0]) && strcmp(name, off[1]);
    }
    add_interval(life, "range_of_law", ranges,
                 given ? "from the standard errors of the exponents and the ranges given"
                       : "from the standard errors of the exponents", lines);
    return true;
}

/* Ends of a range that nothing moves differ by rounding alone. */
static bool wide(struct range range)
{
    return range.high - range.low > 1e-6 * range.high;
}

/* From the inputs alone that have a distribution. */
static bool add_input_interval(struct life *life, struct section *lines)
{
    const char *const rows[] = { life->kind->params, life->kind->tokens };
    struct scenario scenario = life_apart(&life->chosen->scenario);
    struct values values;
    struct range ranges[2];
    struct buffer names = { .arena = life->arena };
    if (!values_of(&scenario, rows, 2, &values, life->error))
        return false;
    if (!values_uncertain(&scenario, &values))
        return true;
    for (size_t i = 0; i < 2; i++)
        ranges[i] = values_range(&scenario, &values, i);
    if (!wide(ranges[0]) && !wide(ranges[1]))
        return true;
    for (size_t i = 0; i < values.graph.input_count; i++)
        if (values.graph.inputs[i].distribution != DISTRIBUTION_NONE)
            buffer_print(&names, "%s%s", names.size ? ", " : "",
                         row_name(formulas_row(&life->scenario.formulas, values.graph.inputs[i].row)));
    add_interval(life, "range_of_inputs", ranges,
                 arena_print(life->arena, "from the distribution of %s", names.data), lines);
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

/* Reinforcement learning as large as pre-training, and experts that count as parameters. */
static void add_moves(struct life *life)
{
    const char *with_rl = changed_text(life, "rl_share = 1");
    const char *with_experts = changed_text(life, "expert_quality = 1");
    double experts, gain;
    struct error ignored;
    tell_word(life->section, "with_rl", with_rl ? with_rl : "");
    if (!life->scenario.model || !with_experts || RULE(expert_gain) != 1 ||
        !value_of(&life->chosen->scenario, NAME_experts, &experts, &ignored) || !(experts > 1) ||
        !value_of(&life->chosen->scenario, NAME_expert_gain_most, &gain, &ignored))
        return;
    tell_word(life->section, "with_experts", with_experts);
    tell_number(life->section, NAME_experts, experts);
    tell_number(life->section, NAME_expert_gain_most, gain);
}

/* ---- what its makers say --------------------------------------------------------------------- */

/* The tokens that a named model had, or that nobody states them and what would cost least over a range of lives. */
static bool add_published(struct life *life)
{
    static const char *const rows[] = {
        NAME_trained_tokens, NAME_trained_over_optimal, NAME_published_context, NAME_overtraining_low,
        NAME_overtraining_high, NAME_traffic_low, NAME_traffic_high, NAME_lifetime_low, NAME_lifetime_high };
    const struct scenario *scenario = &life->scenario;
    const struct fact *trained = facts_find(&scenario->facts, NAME_trained_tokens);
    struct values values;
    if (!scenario->model || life->kind != &life_kinds[LIFE_TOKENS])
        return true;
    if (!values_known(&life->chosen->scenario, rows, sizeof rows / sizeof *rows, &values, life->error))
        return false;
    struct section *section = section_add(life->section, "published", SECTION_RECORD);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        section_number(section, rows[i], values.at[i], unit_of(life, rows[i]));
    section_word(section, "trained_source", trained ? trained->source : "");
    const struct fact *context = facts_find(&scenario->facts, NAME_published_context);
    section_word(section, "context_source", context ? context->source : "");
    section_word(section, "trained_note", scenario->trained_note ? scenario->trained_note : "");
    section_word(section, "released", scenario->released ? scenario->released : "");
    return true;
}

/* ---- laws beside each other ---------------------------------------------------------------- */

static const char *const law_keys[] = {
    NAME_params_active, "tokens", NAME_tokens_per_param, NAME_overtraining, NAME_inference_over_training,
    NAME_model_loss, "unserved_tokens_per_param", NAME_rule_excess };
enum { LAW_KEYS = sizeof law_keys / sizeof *law_keys };

/* What each law says; a key that a law says nothing of is left out. "unserved" are tokens for each
 * parameter if nothing is served, "equal cost" the compute that this rule wastes. A law without a loss
 * says nothing of served tokens, and has a size and tokens only where none are served. */
static void add_laws(struct life *life, struct buffer *csv)
{
    struct section *list = section_add(life->section, "laws", SECTION_LIST);
    for (size_t i = 0; i < life->count; i++) {
        const struct life_law *law = &life->laws[i];
        const double *figures = law->figures, excess = law->rules[RULE_rule_excess];
        const bool full = law->reached && (life->alone || !law->frontier), room = full && law->rules[RULE_rule_room] > 0;
        const double numbers[LAW_KEYS] = {
            full ? law->params : NAN, full ? law->tokens : NAN, full ? law->tokens / law->params : NAN,
            full ? figures[LIFE_overtraining] : NAN, full ? figures[LIFE_inference_over_training] : NAN,
            full ? figures[LIFE_model_loss] : NAN, law->reached ? law->unserved : NAN,
            room ? excess : NAN };
        if (!law->reached && law->frontier)
            continue;
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_word(one, "law", law->name);
        section_word(one, "title", law->title);
        for (int k = 0; k < LAW_KEYS; k++)
            if (!isnan(numbers[k]))
                section_number(one, law_keys[k], numbers[k], unit_one);
        /* An empty word hides the answer's figure of that name in the table. */
        for (int k = 0; k < LAW_KEYS; k++)
            if (isnan(numbers[k]))
                tell_word(one, law_keys[k], "");
        tell_number(one, "excess", 100 * excess);
        tell_word(one, "asked", law->chosen ? "asked" : "");
        tell_word(one, "none", law->reached ? "" : "none");
        tell_word(one, "never", full && !room && !law->frontier ? "never" : "");
    }
    const char *columns[LAW_KEYS + 1] = { "law" };
    memcpy(columns + 1, law_keys, sizeof law_keys);
    section_csv_of(list, columns, LAW_KEYS + 1, csv);
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* No size reaches the loss, or serves the tokens with the compute: what would be needed. */
static bool add_nothing(struct life *life)
{
    struct scenario *scenario = &life->chosen->scenario;
    struct section *section = life->section;
    double wanted, needed, served;
    if (life->kind == &life_kinds[LIFE_LOSS]) {
        if (!value_of(scenario, NAME_target_loss, &wanted, life->error) ||
            !value_of(scenario, NAME_loss_floor, &needed, life->error))
            return false;
        tell_number(section, "wanted_loss", wanted);
        tell_number(section, "lowest_loss", needed);
        tell_number(section, "loss_gap", needed - wanted);
        return true;
    }
    if (!value_of(scenario, NAME_life_budget, &wanted, life->error) ||
        !value_of(scenario, NAME_fixed_flop_per_param, &needed, life->error) ||
        !value_of(scenario, NAME_inference_tokens, &served, life->error))
        return false;
    tell_number(section, "wanted_budget", wanted);
    tell_number(section, "needed_flops", needed);
    tell_number(section, "wanted_tokens", served);
    return true;
}

bool life_answer(struct life *life, struct answer *answer)
{
    struct section *section = life->section, *lines;
    section_word(section, "question", life->kind->name);
    if (life->scenario.model)
        section_word(section, "model", life->scenario.model);
    section_word(section, "law", life->chosen->name);
    if (life->chosen->reached) {
        add_optimum(life);
        lines = section_add(section, "intervals", SECTION_LIST);
        lines->text_only = true;
        if (!life->chosen->frontier) {
            if (!add_law_interval(life, lines) || !add_input_interval(life, lines))
                return false;
            add_moves(life);
        }
        if (!add_published(life))
            return false;
        if (AT(params_active) > AT(seen_params_high) || AT(pretrain_tokens) > AT(seen_tokens_high))
            facts_note(&life->scenario.facts, "the law holds beyond the runs it was fitted to, %s "
                       "parameters and %s tokens at most",
                       large_text(life->arena, AT(seen_params_high)),
                       large_text(life->arena, AT(seen_tokens_high)));
    } else if (!add_nothing(life)) {
        return false;
    }
    answer->status = !life->chosen->reached;
    add_laws(life, &answer->csv);
    if (command_draws(life->command) && !life_picture(life, &answer->picture))
        return false;
    figures_notes(&life->scenario, section);
    answer->section = section;
    section_document(section, answer->doc);
    template_print(template_built_in(life->arena, "ask/life/life.template"), section, &answer->text);
    return true;
}

static const struct record rule_record = { "LifeRule", (const struct answer_field[]){
    { FIELD_ROWS, .names = life_rules, .count = LIFE_RULE_COUNT },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "excess", "trained" }, .count = 2 },
    { 0 } } };
static const struct record range_record = { "LifeRange", (const struct answer_field[]){
    { FIELD_NUMBERS, NAME_params_active, .help = "low and high end" },
    { FIELD_NUMBERS, NAME_optimal_pretrain_tokens, .help = "low and high end" },
    { FIELD_NUMBERS, NAME_budget_params, .help = "low and high end, --budget" },
    { FIELD_NUMBERS, NAME_budget_tokens, .help = "low and high end, --budget" },
    { FIELD_NUMBERS, NAME_target_params, .help = "low and high end, --loss" },
    { FIELD_NUMBERS, NAME_target_tokens, .help = "low and high end, --loss" },
    { 0 } } };
static const struct record interval_record = { "LifeInterval", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .count = 7, .names = (const char *const[]){
          "following", "in_tokens", "params_between", "tokens_between", "times_low", "times_high",
          "grounds" } },
    { 0 } } };
static const struct record law_record = { "ScalingLaw", (const struct answer_field[]){
    { FIELD_TEXT, "law", .help = "its name", .always = true },
    { FIELD_TEXT, "title", .help = "who published it", .always = true },
    { FIELD_ROWS, .count = 6, .names = (const char *const[]){
          NAME_params_active, NAME_tokens_per_param, NAME_overtraining, NAME_inference_over_training,
          NAME_model_loss, NAME_rule_excess } },
    { FIELD_NUMBER, "tokens", .help = "compute-optimal", .unit = "token" },
    { FIELD_NUMBER, "unserved_tokens_per_param", .help = "the same per parameter, if nothing is served" },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "excess", "asked", "none", "never" }, .count = 4 },
    { 0 } } };

static const struct record published_record = { "LifePublished", (const struct answer_field[]){
    { FIELD_ROWS, .count = 9, .names = (const char *const[]){
          NAME_trained_tokens, NAME_trained_over_optimal, NAME_published_context, NAME_overtraining_low,
          NAME_overtraining_high, NAME_traffic_low, NAME_traffic_high, NAME_lifetime_low, NAME_lifetime_high } },
    { FIELD_TEXT, "trained_source", .help = "who states the tokens, or that they are not published", .always = true },
    { FIELD_TEXT, "context_source", .help = "who states the context; empty: nobody", .always = true },
    { FIELD_TEXT, "trained_note", .help = "what is counted; empty: all of pre-training, about", .always = true },
    { FIELD_TEXT, "released", .help = "date, and how it is known; empty: not known", .always = true },
    { 0 } } };

const struct record answer_life = { "Life", (const struct answer_field[]){
    { FIELD_TEXT, "question", .help = "tokens, budget or loss", .always = true },
    { FIELD_TEXT, "model", .help = "title" },
    { FIELD_TEXT, "law", .help = "that was asked for", .always = true },
    { FIELD_ROWS, .names = life_figures, .count = LIFE_FIGURE_COUNT },
    { FIELD_RECORD, "rule", .help = "with the tokens of equal costs, or those given",
      .record = &rule_record },
    { FIELD_RECORD, "range_of_law", .help = "90 % interval of the law", .record = &range_record },
    { FIELD_RECORD, "range_of_inputs", .help = "90 % interval of the inputs", .record = &range_record },
    { FIELD_RECORD, "published", .help = "of a named model, what its makers state; 0: they do not",
      .record = &published_record },
    { FIELD_LIST, "laws", .help = "what each law says", .record = &law_record, .always = true },
    { FIELD_TEXTS, "assumed", .help = "what nobody gave, and what to know of it", .always = true },
    { FIELD_TEXT_ONLY, "intervals", .record = &interval_record },
    { FIELD_TEXT_ONLY, .count = 15, .names = (const char *const[]){
          "tokens_each", "pretrain_share", "rl_compute_share", "inference_share", "shipping", "with_rl",
          "with_experts", NAME_experts, NAME_expert_gain_most, "wanted_loss", "lowest_loss", "loss_gap",
          "wanted_budget", "needed_flops", "wanted_tokens" } },
    { 0 } } };
