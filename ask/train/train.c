/* train: a training run: step time, MFU, memory, layout, duration, cost. */
#include "ask/ask.h"
#include "ask/train/train.h"
#include "build/row_names.h"

#include <math.h>
#include <string.h>

static const char example[] = "chalkline train llama-3.1-405b --on h100-sxm --gpus 16384 "
                              "--tokens 15.6T";

static bool read_words(struct train *train, const char **model)
{
    const struct question *question = train->question;
    const char *option = question->option[OPTION_MODEL];
    const size_t models = question->word_count + (option != NULL);
    *model = question->word_count ? question->words[0] : option;
    if (models == 1 && question->option[OPTION_ON])
        return true;
    if (models != 1)
        error_set(train->error, models ? "train takes one model, %zu were given"
                  : "train needs a model", models);
    else
        error_set(train->error, "train needs a machine: --on");
    return error_hint(train->error, "%s", example);
}

/* --gpus, or the row by its name, as a sweep gives it. */
static bool read_chips(struct train *train, const char **source)
{
    const char *text = train->question->option[OPTION_GPUS];
    const bool by_name = fact_given(facts_find(&train->scenario.facts, NAME_training_chip_count));
    *source = text ? "--gpus" : NAME_training_chip_count;
    if (text && by_name) {
        error_set(train->error, "--gpus and training_chip_count are both given");
        return error_hint(train->error, "one of them");
    }
    if (!text && !by_name) {
        error_set(train->error, "train needs a number of GPUs: --gpus");
        return error_hint(train->error, "%s", example);
    }
    return !text || scenario_set_row(&train->scenario, NAME_training_chip_count, text, ORIGIN_GIVEN, "--gpus",
                                     train->error);
}

static bool set_chips(struct train *train)
{
    enum { MOST = 10000000 };
    const char *source;
    if (!read_chips(train, &source) ||
        !value_of(&train->scenario, NAME_training_chip_count, &train->chips, train->error))
        return false;
    if (train->chips >= 1 && train->chips <= MOST && train->chips == floor(train->chips))
        return true;
    error_set(train->error, "%s: %.12g is no number of GPUs", source, train->chips);
    return error_hint(train->error, "a whole number from 1 to %d", MOST);
}

static bool check_recomputation(struct train *train)
{
    if (!(train_given(train, NAME_recompute_full) > 0 &&
          train_given(train, NAME_recompute_reversible) > 0))
        return true;
    error_set(train->error, "recompute_full and recompute_reversible both compute layers again");
    return error_hint(train->error, "one of them");
}

static void note_link(struct train *train)
{
    static const char *const shares[] = { NAME_offload_weights, NAME_offload_activations,
                                          NAME_offload_optimizer };
    struct facts *facts = &train->scenario.facts;
    bool offloaded = false;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        offloaded |= train_given(train, shares[i]) > 0;
    if (offloaded && !facts_find(facts, NAME_host_link))
        facts_note(facts, "link to the host as of an H100, PCIe 5 (host_link)");
}

/* What a setting gives stands at 1 or 0 until it does. What is given is whole. */
static bool set_inputs(struct train *train)
{
    static const struct { const char *row; double value; } rows[] = {
        { NAME_train_tp, 1 }, { NAME_train_pp, 1 }, { NAME_train_cp, 1 }, { NAME_train_ep, 1 },
        { NAME_train_chunks, 1 }, { NAME_micro_batch, 1 }, { NAME_sequence_parallel, 0 },
        { NAME_zero_stage, 1 }, { NAME_recompute_full, 0 }, { NAME_recompute_attention, 0 } };
    struct facts *facts = &train->scenario.facts;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double given = train_given(train, rows[i].row);
        if (isnan(given)) {
            facts_set(facts, rows[i].row, rows[i].value, ORIGIN_AXIS, "train");
        } else if (given != floor(given)) {
            error_set(train->error, "--set: %s: %.12g is no whole number", rows[i].row, given);
            return error_hint(train->error, "%s=%.0f", rows[i].row, floor(given));
        }
    }
    return true;
}

bool train_open(struct train *train)
{
    struct question *without = arena_alloc(train->arena, sizeof *without);
    const char *model;
    *without = *train->question;
    without->option[OPTION_GPUS] = NULL;
    if (!read_words(train, &model) ||
        !scenario_read(&train->scenario, train->arena, without, model,
                       train->question->option[OPTION_ON], train->error) ||
        !set_chips(train) || !check_recomputation(train) || !set_inputs(train))
        return false;
    note_link(train);
    train->title = arena_print(train->arena, "%s on %.0f x %s", train->scenario.model,
                               train->chips, train->scenario.machine);
    return train_space(train);
}

static bool sweep_alone(const struct question *question, struct error *error)
{
    if (!question->option[OPTION_PLAN])
        return true;
    error_set(error, "--sweep and --plan are both given");
    return error_hint(error, "one of them");
}

bool ask_train(struct arena *arena, const struct question *question, struct answer *answer,
               struct error *error)
{
    static const struct ranks alone = { 0, 1 };
    const struct ranks *ranks = question->ranks ? question->ranks : &alone;
    struct train *train = arena_alloc(arena, sizeof *train);
    *train = (struct train){ .arena = arena, .question = question, .answer = answer,
                             .error = error };
    if (question->option[OPTION_SWEEP])
        return sweep_alone(question, error) && parts_check(question, error) && train_sweep(train);
    if (!ranks_agree(ranks, parts_check(question, error) && train_open(train), error))
        return false;
    struct quest quest = { .arena = arena, .question = question, .answer = answer, .error = error,
                           .title = train->title, .spaces = &train->space, .count = 1 };
    if (!parts_search(&quest))
        return false;
    train->result = quest.result;
    return quest.elsewhere || train_answer(train);
}
