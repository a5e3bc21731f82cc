/* train: a training run: step time, MFU, memory, layout, duration, cost. */
#include "ask/train.h"

#include <math.h>
#include <string.h>

static bool read_words(struct train *train, const char **model)
{
    const struct question *question = train->question;
    const char *option = question->option[OPTION_MODEL];
    const size_t models = question->word_count + (option != NULL);
    *model = question->word_count ? question->words[0] : option;
    if (models == 1 && question->option[OPTION_ON] && question->option[OPTION_GPUS])
        return true;
    if (models != 1)
        error_set(train->error, models ? "train takes one model, %zu were given"
                  : "train needs a model", models);
    else
        error_set(train->error, "train needs %s", question->option[OPTION_ON]
                  ? "a number of GPUs: --gpus" : "a machine: --on");
    return error_hint(train->error, "chalkline train llama-3.1-405b --on h100-sxm --gpus 16384 "
                      "--tokens 15.6T");
}

static bool set_chips(struct train *train)
{
    enum { MOST = 10000000 };
    const char *text = train->question->option[OPTION_GPUS];
    if (!scenario_set_row(&train->scenario, "training_chip_count", text, "--gpus", train->error) ||
        !value_of(&train->scenario, "training_chip_count", &train->chips, train->error))
        return false;
    if (train->chips >= 1 && train->chips <= MOST && train->chips == floor(train->chips))
        return true;
    error_set(train->error, "--gpus: '%.60s' is no number of GPUs", text);
    return error_hint(train->error, "a whole number from 1 to %d", MOST);
}

static bool check_recomputation(struct train *train)
{
    if (!(train_given(train, "recompute_full") > 0 && train_given(train, "recompute_reversible") > 0))
        return true;
    error_set(train->error, "recompute_full and recompute_reversible both compute layers again");
    return error_hint(train->error, "one of them");
}

static void note_link(struct train *train)
{
    static const char *const shares[] = { "offload_weights", "offload_activations",
                                          "offload_optimizer" };
    struct facts *facts = &train->scenario.facts;
    bool offloaded = false;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        offloaded |= train_given(train, shares[i]) > 0;
    if (offloaded && !facts_find(facts, "host_link"))
        facts_note(facts, "link to the host as of an H100, PCIe 5 (host_link)");
}

/* What a setting gives stands at 1 or 0 until it does. */
static void set_inputs(struct train *train)
{
    static const struct { const char *row; double value; } rows[] = {
        { "train_tp", 1 }, { "train_pp", 1 }, { "train_cp", 1 }, { "train_ep", 1 },
        { "train_chunks", 1 }, { "micro_batch", 1 }, { "sequence_parallel", 0 },
        { "zero_stage", 1 }, { "recompute_full", 0 }, { "recompute_attention", 0 } };
    struct facts *facts = &train->scenario.facts;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct fact *fact = facts_find(facts, rows[i].row);
        if (!given_fact(fact))
            facts_set(facts, rows[i].row, rows[i].value, "train");
    }
}

bool ask_train(struct arena *arena, const struct question *question, struct answer *answer,
               struct error *error)
{
    struct train *train = arena_alloc(arena, sizeof *train);
    struct question *without = arena_alloc(arena, sizeof *without);
    const char *model;
    *train = (struct train){ .arena = arena, .question = question, .answer = answer,
                             .error = error };
    *without = *question;
    without->option[OPTION_GPUS] = NULL;
    if (!read_words(train, &model) ||
        !scenario_read(&train->scenario, arena, without, model, question->option[OPTION_ON], error) ||
        !set_chips(train) || !check_recomputation(train))
        return false;
    set_inputs(train);
    note_link(train);
    return train_space(train) &&
           search_run(arena, &train->space, 1, &train->result, error) && train_answer(train);
}
