/* train: the time, memory, utilization and cost of training steps, over all layouts of a number of
 * GPUs or for a given one.
 *
 * The verb sets the inputs of the rows, searches the space of layouts (train_space.c), and
 * answers. What the user gives is held. Layout sizes must be whole. Where no layout is possible,
 * train_nothing.c says why. */
#include "ask/ask.h"
#include "ask/train/train.h"
#include "build/row_names.h"
#include "scenario/sweep.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

/* --gpus, or the row by its name, as a sweep gives it. */
static bool set_chips(struct train *train)
{
    enum { MOST = 10000000 };
    const struct fact *chips = facts_find(&train->scenario.facts, NAME_training_chips);
    if (!fact_given(chips)) {
        error_set(train->error, "train needs a number of GPUs: --gpus");
        return error_expected(train->error, "a number, as in `%s`", train->command->verb->examples[0]);
    }
    if (!value_of(&train->scenario, NAME_training_chips, &train->chips, train->error))
        return false;
    if (train->chips >= 1 && train->chips <= MOST && train->chips == floor(train->chips))
        return true;
    error_set(train->error, "%s: invalid number of GPUs '%.12g'", chips->source, train->chips);
    return error_expected(train->error, "a whole number from 1 to %d", MOST);
}

/* What a setting gives stands at its start until it does. What is given is whole. */
static bool set_input(struct train *train, const char *row, double start, double least,
                      double most)
{
    const double given = train_given(train, row);
    const struct fact *fact = facts_find(&train->scenario.facts, row);
    const char *source = fact ? fact->source : "";
    if (isnan(given)) {
        facts_set(&train->scenario.facts, row, start, ORIGIN_AXIS, "train");
    } else if (given != floor(given)) {
        error_set(train->error, "%s: %s: '%.12g' is not a whole number", source, row, given);
        return error_expected(train->error, "%s=%.0f", row, floor(given));
    } else if (given < least || given > most) {
        error_set(train->error, "%s: %s = %.12g is out of range", source, row, given);
        return error_expected(train->error, "%s to %s", count_text(train->arena, least, 9),
                          count_text(train->arena, most, 9));
    }
    return true;
}

static const char *const methods[] = { "sft", "dpo", "grpo", NULL };
static const char *const trainers[] = { "megatron", "torchtitan", NULL };

static void set_unless_given(struct facts *facts, const char *row, double value)
{
    if (!fact_given(facts_find(facts, row)))
        facts_set(facts, row, value, ORIGIN_AXIS, "train");
}

/* --method and --trainer, which are rows in the words of the answer: DPO and GRPO have a reference model, and a
 * step of GRPO generates what it trains on. */
static void set_method(struct train *train)
{
    static const struct { const char *row, *expression; } bound[] = {
        { NAME_generation_time, NAME_rollout_time }, { NAME_chips, NAME_rollout_chips },
        { NAME_concurrency, NAME_rollout_running } };     /* the server, so that none is chosen beside it */
    struct facts *facts = &train->scenario.facts;
    const char *method = command_text(train->command, "method"), *trainer = command_text(train->command, "trainer");
    const bool grpo = method && !strcmp(method, "grpo");
    if (trainer && !strcmp(trainer, "torchtitan"))
        set_unless_given(facts, NAME_torchtitan_trains, 1);
    if (grpo || (method && !strcmp(method, "dpo")))
        set_unless_given(facts, NAME_reference_passes, 1);
    for (size_t i = 0; grpo && i < sizeof bound / sizeof *bound; i++)
        if (!fact_given(facts_find(facts, bound[i].row)))
            facts_bind(facts, bound[i].row, bound[i].expression, ORIGIN_AXIS, "--method grpo");
}

bool train_open(struct train *train)
{
    static const char *const shares[] = { NAME_offload_weights, NAME_offload_activations,
                                          NAME_offload_optimizer };
    struct facts *facts = &train->scenario.facts;
    struct subject subject;
    bool offloaded = false;
    if (!command_pair(train->command, &subject, train->error) ||
        !scenario_read(&train->scenario, train->arena, train->command, subject, train->error) ||
        !sweep_set(&train->scenario, train->swept, train->error) || !set_chips(train))
        return false;
    set_method(train);
    if (train_given(train, NAME_recompute_full) > 0 && train_given(train, NAME_recompute_reversible) > 0) {
        error_set(train->error, "recompute_full and recompute_reversible exclude each other");
        return error_expected(train->error, "one of them");
    }
    for (int i = 0; i < TRAIN_AXES; i++)
        if (!set_input(train, train_axes[i].row, train_axes[i].start, train_axes[i].least,
                       train_axes[i].most))
            return false;
    if (!set_input(train, NAME_micro_batch, 1, 1, 1e7))
        return false;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        offloaded |= train_given(train, shares[i]) > 0;
    if (offloaded && !facts_find(facts, NAME_host_link))
        facts_note(facts, "host link as of an H100, PCIe 5 (host_link)");
    const struct fact *tokens = facts_find(facts, NAME_training_tokens);
    if (train->scenario.model && !fact_given(tokens))
        facts_note(facts, tokens ? "training tokens as its makers state them (--tokens)"
                                 : "no published count of its training tokens is known: 15 T taken (--tokens)");
    scenario_note_price(&train->scenario);
    return train_space(train);
}

/* Processes that search together fail together. */
bool train_search(struct train *train)
{
    const struct ranks *ranks = train->command->ranks;
    return ranks_agree(ranks, train_open(train), train->error) &&
           search_ranks(train->arena, ranks, &train->space, 1, &train->result, train->error);
}

bool ask_train(struct arena *arena, const struct command *command, struct answer *answer,
               struct error *error)
{
    struct train *train = arena_alloc(arena, sizeof *train);
    *train = (struct train){ .arena = arena, .command = command, .answer = answer,
                             .error = error };
    if (command_given(command, "sweep") && command_given(command, "plan")) {
        error_set(error, "--sweep and --plan exclude each other");
        return error_expected(error, "one of them");
    }
    if (command_given(command, "sweep"))
        return train_sweep(train);
    return train_search(train) && train_answer(train);
}

static const struct option train_list[] = {
    { "gpus", "N", OPTION_ROW, .row = NAME_training_chips,
      .otherwise = "none, required", .help = "GPUs of the training run" },
    { "lora", "RANK", OPTION_ROW, .row = NAME_lora_rank, .otherwise = "all weights are trained",
      .help = "train adapters of this rank; the base stays in --precision" },
    { "method", "NAME", OPTION_CHOICE, .choices = methods, .fallback = "sft",
      .help = "training alone, or with DPO's reference or GRPO's rollouts" },
    { "trainer", "NAME", OPTION_CHOICE, .choices = trainers, .fallback = "megatron",
      .help = "software whose rules say which layouts start" },
    { "plan", NULL, OPTION_SWITCH, .help = "list the fastest layout at each memory need" },
    { "sweep", "NAME=LOW..HIGH", OPTION_TEXT,
      .help = "best layout at each value of a row; also NAME=A,B,C" },
    { "points", "N", OPTION_COUNT, .low = 2, .high = SWEEP_VALUES, .fallback = "7",
      .help = "number of values of a --sweep over a range" },
    { 0 } };
static const struct option_group train_options = { "Training run", train_list };

const struct verb verb_train = {
    "train", "MODEL --on HARDWARE --gpus N",
    "Find the best layout of a training run: step time, MFU, memory, duration and cost.",
    { "chalkline train llama-3.1-405b --on h100-sxm --gpus 16384 --tokens 15.6T --global-batch "
      "2048 --seq-length 8192",
      "chalkline train llama-3.1-8b --on rtx-4090 --gpus 1 --lora 16 --precision nf4 --tokens 10M --global-batch 8",
      "chalkline train deepseek-v3 --on h800-sxm --gpus 2048 --plan --csv" },
    { &train_options, &run_options, &layout_options, &model_options, &machine_options, &weight_options,
      &assume_options, &price_options, &row_options, &table_options, &plot_options, &report_options, &output_options },
          ANSWERS(answer_train), .ask = ask_train, .divided = true,
    .main = (const char *const[]){ "best.layout", "best." NAME_train_step, "best." NAME_train_mfu,
                                   "best." NAME_train_duration, "best." NAME_train_run_cost, NULL } };
