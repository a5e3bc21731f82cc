#include "ask/predictor.h"

#include <string.h>

static const char *const predictions[PREDICTOR_OUTPUTS] = {
    "predicted_tpot", "predicted_ttft", "predicted_tpot_low", "predicted_ttft_low",
    "predicted_tpot_high", "predicted_ttft_high" };
static const char *const moves[PREDICTOR_MOVES] = { "chips", "attention_dp", "concurrency",
                                                    "prompt_tokens", "output_tokens",
                                                    "interference" };

static void setup_make(struct predictor *predictor, const struct measured *point,
                       struct setup *setup)
{
    struct arena *arena = predictor->arena;
    struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
    struct question *question = arena_alloc(arena, sizeof *question);
    struct expr *wanted[PREDICTOR_OUTPUTS];
    struct error error;
    *question = *predictor->question;
    question->option[OPTION_PRECISION] = point->precision;
    question->option[OPTION_EXPERTS] = point->experts;
    question->option[OPTION_KV] = point->kv;
    question->option[OPTION_ENGINE] = point->engine;
    bool made = scenario_read(scenario, arena, question, point->model, point->machine, &error);
    for (int i = 0; i < PREDICTOR_MOVES && made; i++)
        facts_set(&scenario->facts, moves[i], 1, "measured");
    for (int i = 0; i < PREDICTOR_OUTPUTS && made; i++)
        made = expr_parse(&scenario->book, NULL, 0, text_of(predictions[i]), &wanted[i], &error);
    made = made && list_build(arena, &scenario->book, &scenario->facts, wanted, PREDICTOR_OUTPUTS,
                              &setup->list, &error);
    if (!made) {
        setup->refused = arena_copy(arena, error.what, strlen(error.what));
        return;
    }
    for (int i = 0; i < PREDICTOR_MOVES; i++)
        setup->input[i] = list_input(&setup->list, moves[i]);
}

struct setup *predictor_find(struct predictor *predictor, const struct measured *point)
{
    const char *key = arena_print(predictor->arena, "%s|%s|%s|%s|%s|%s", point->model,
                                  point->machine, point->precision,
                                  point->experts ? point->experts : "", point->kv, point->engine);
    for (size_t i = 0; i < predictor->count; i++)
        if (!strcmp(predictor->setups[i].key, key))
            return &predictor->setups[i];
    struct setup *setup = arena_push(predictor->arena, &predictor->setups, &predictor->count,
                                     &predictor->room, sizeof *setup);
    *setup = (struct setup){ .key = key };
    setup_make(predictor, point, setup);
    return setup;
}

/* Equal requests under a scheduler that prefills first run in lockstep: a decode waits
 * only for the prompts behind it. */
static double interference_of(const struct measured *point)
{
    return point->lockstep && !strcmp(point->engine, "sglang") ? 0.5 : 1;
}

void predictor_inputs(const struct setup *setup, const struct measured *point, double *inputs)
{
    const double at[PREDICTOR_MOVES] = { point->chips, point->attention_dp, point->concurrency,
                                         point->input, point->output, interference_of(point) };
    for (size_t i = 0; i < setup->list.input_count; i++)
        inputs[i] = setup->list.inputs[i].value;
    for (int i = 0; i < PREDICTOR_MOVES; i++)
        if (setup->input[i] >= 0)
            inputs[setup->input[i]] = at[i];
}
