/* life: compute-optimal tokens and size of a model over its lifetime, training and serving
 * included.
 *
 * The question has one of three forms: the tokens for a given size, size and tokens for a compute
 * budget, or for a target loss. The verb decides which from what was given, evaluates the chosen
 * law (life_laws.c) and answers (life_answer.c). Tokens that the model was actually trained on
 * take the place of the rule's, so that the answer says what they waste. */
#include "ask/ask.h"
#include "ask/life/life.h"
#include "build/row_names.h"
#include "scenario/basis.h"
#include "scenario/values.h"


static bool read_words(struct life *life, struct subject *subject)
{
    const struct command *command = life->command;
    const size_t models = command_models(command, subject);
    if (models > 1) {
        error_set(life->error, "life takes one model, %zu were given", models);
        return error_expected(life->error, "chalkline life deepseek-v3 --served 200T");
    }
    life->kind = &life_kinds[command_given(command, "budget") ? LIFE_BUDGET
                             : command_given(command, "loss") ? LIFE_LOSS : LIFE_TOKENS];
    if (!command_given(command, "budget") || !command_given(command, "loss"))
        return true;
    error_set(life->error, "--budget and --loss exclude each other");
    return error_expected(life->error, "one of them");
}

/* A size comes from a model or from --set, or it is what is asked for. */
static bool check_size(struct life *life)
{
    const struct fact *size = facts_find(&life->scenario.facts, NAME_params_active);
    if (life->kind != &life_kinds[LIFE_TOKENS] || life->scenario.model || fact_given(size))
        return true;
    error_set(life->error, "life needs a model, or a size");
    return error_expected(life->error, "chalkline life deepseek-v3, --set params_active=100B, or "
                          "--budget 1e26 or --loss 1.95 for the best size");
}

/* Tokens that the model had stand where the rule's would. */
static bool take_tokens(struct life *life)
{
    struct facts *facts = &life->scenario.facts;
    if (!command_given(life->command, "tokens"))
        return true;
    if (fact_given(facts_find(facts, NAME_pretrain_tokens))) {
        error_set(life->error, "pretrain_tokens is set twice: by --set and by --tokens");
        return error_expected(life->error, "one of them");
    }
    facts_bind(facts, NAME_pretrain_tokens, NAME_training_tokens, ORIGIN_GIVEN, "--tokens");
    return true;
}

/* Rows that are formulas have no range of their own. */
static bool check_counts(struct life *life)
{
    static const char *const rows[] = { NAME_served_tokens, NAME_inference_tokens, NAME_pretrain_tokens,
                                        NAME_params_active };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct fact *fact = facts_find(&life->scenario.facts, rows[i]);
        double value, least = i < 2 ? 0 : 1;
        if (!fact_given(fact))
            continue;
        if (!value_of(&life->scenario, rows[i], &value, life->error))
            return false;
        if (value >= least && !(fact->distribution != DISTRIBUTION_NONE && fact->low < least &&
                                fact->distribution <= DISTRIBUTION_UNIFORM))
            continue;
        error_set(life->error, "%s: %s = %.6g is out of range", fact->source, rows[i], fact->low < value
                  && fact->distribution != DISTRIBUTION_NONE ? fact->low : value);
        return error_expected(life->error, least > 0 ? "1 or more" : "0 or more");
    }
    return true;
}

static bool row_given(const struct life *life, const char *row)
{
    return fact_given(facts_find(&life->scenario.facts, row));
}

/* A question that gives a compute or a loss and nothing about serving is about training alone. One that gives tokens or a
 * model serves as much as the lecture's provider. */
static void note_assumed(struct life *life)
{
    struct facts *facts = &life->scenario.facts;
    const bool served = row_given(life, NAME_served_tokens) || row_given(life, NAME_inference_tokens);
    life->alone = life->kind != &life_kinds[LIFE_TOKENS] && !served && !row_given(life, NAME_token_rate) &&
                  !row_given(life, NAME_model_lifetime);
    if (life->alone) {
        facts_set(facts, NAME_served_tokens, 0, ORIGIN_CHOSEN, "training alone");
        facts_note(facts, "training alone: nothing is served (--served N: tokens that the model is to serve)");
    } else if (!served && (!row_given(life, NAME_token_rate) || !row_given(life, NAME_model_lifetime)))
        facts_note(facts, "the lecture's provider: 500 million token/s over 60 days (--served, or "
                   "--set token_rate, lifetime)");
    if (!row_given(life, NAME_rl_share) && !row_given(life, NAME_rl_tokens_fixed))
        facts_note(facts, "no reinforcement learning (rl_share; the lecture's equal thirds: 1)");
    if (!life->alone && !row_given(life, NAME_inference_efficiency))
        facts_note(facts, "serving utilizes GPUs a third as well as training (inference_efficiency)");
    if (life->kind != &life_kinds[LIFE_TOKENS] && life->scenario.model)
        facts_note(facts, "the size is the unknown: of the model only its experts are used");
}

bool ask_life(struct arena *arena, const struct command *command, struct answer *answer,
              struct error *error)
{
    struct life *life = arena_alloc(arena, sizeof *life);
    struct subject subject;
    *life = (struct life){ .arena = arena, .command = command, .section = section_new(arena),
                           .error = error };
    if (!read_words(life, &subject) ||
        !scenario_read(&life->scenario, arena, command, subject, error) ||
        !check_size(life) || !check_counts(life) || !take_tokens(life))
        return false;
    note_assumed(life);
    const struct life_kind *kind = life->kind;
    const char *const texts[] = { kind->params, kind->tokens, NAME_rule_excess, NAME_overtraining };
    given_note(&life->scenario, texts, 4, "this answer");
    return life_laws(life) && life_answer(life, answer);
}

static const struct option life_list[] = {
    { "tokens", "N", OPTION_ROW, .row = NAME_training_tokens, TOKENS_MEANT, .otherwise = "compute-optimal",
      .help = "tokens that the model was trained on" },
    { "served", "N", OPTION_ROW, .row = NAME_served_tokens, .otherwise = "token_rate x model_lifetime",
      .help = "tokens that the model serves over its lifetime" },
    { "budget", "FLOP", OPTION_ROW, .row = NAME_life_budget,
      .help = "lifetime compute; finds size and tokens of the lowest loss" },
    { "loss", "X", OPTION_ROW, .row = NAME_target_loss,
      .help = "target loss; finds size and tokens of the least compute" },
    { "law", "NAME", OPTION_TEXT, .otherwise = "besiroglu",
      .help = "scaling law of data/loss_laws.csv; the others are listed too" },
    { 0 } };
static const struct option_group life_options = { "Scaling", life_list };

const struct verb verb_life = {
    "life", "[MODEL]",
    "Choose the training tokens and the size of a model for the least compute of training and serving.",
    { "chalkline life deepseek-v3 --served 200T", "chalkline life --budget 1e26",
      "chalkline life --budget 3.8e25 --law llama-3" },
    { &life_options, &model_options, &assume_options, &row_options, &table_options,
      &plot_options, &report_options, &output_options }, ANSWERS(answer_life), .ask = ask_life, .ranges = true, .also = "scaling" };
