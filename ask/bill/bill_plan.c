/* The deployment of own GPUs: `plan` is asked for the best one under the workload.
 *
 * The question is what a user would type: the model, the machine and every option that both verbs have,
 * and the mean request and rate of the workload. Pools for prefill and decode may be best; the load table is
 * of replicas alike, so that then the best of these is taken and the note says what the pools would do. Sizes of the
 * layout that the user gives restrict the plan, so that a size which plan chose changes nothing where it is given. */
#include "ask/ask.h"
#include "ask/bill/bill.h"
#include "build/row_names.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

/* What plan settles of a replica, and its load there, so that nothing is left to choose. */
static const char *const layout_rows[] = {
    NAME_chips, NAME_attention_dp, NAME_pipeline_parallel, NAME_expert_parallel, NAME_draft_tokens,
    NAME_chunked_prefill_size, NAME_arrival_rate };
enum { LAYOUT = sizeof layout_rows / sizeof *layout_rows, WORDS_MOST = 256 };

struct plan_words {
    struct arena *arena;
    const char *words[WORDS_MOST];
    int count;
};

static void say(struct plan_words *question, const char *option, const char *value)
{
    if (question->count + 2 > WORDS_MOST)
        return;
    question->words[question->count++] = arena_print(question->arena, "--%s", option);
    if (value)
        question->words[question->count++] = value;
}

static void say_number(struct plan_words *question, struct scenario *scenario, const char *option, const char *row)
{
    struct buffer number = { .arena = question->arena };
    struct error ignored;
    double value;
    if (fact_given(facts_find(&scenario->facts, row)) || !value_of(scenario, row, &value, &ignored))
        return;
    buffer_number(&number, value);
    say(question, option, number.data);
}

/* The options that both verbs have, but for what bill means otherwise: --gpus of bill are those of one replica. */
static void say_options(struct plan_words *question, const struct verb *plan, const struct command *command)
{
    static const char *const other[] = { "model", "own", "json", "csv", "plot", "report", "report-page" };
    for (size_t i = 0; i < command->value_count; i++) {
        const struct option *option = command->values[i].option;
        if (!strcmp(option->name, "gpus"))
            say(question, "set", arena_print(question->arena, "%s=%s", option->row, command->values[i].text));
        else if (verb_option(plan, option->name) && !name_listed(other, sizeof other / sizeof *other, option->name))
            say(question, option->name, option->kind == OPTION_SWITCH ? NULL : command->values[i].text);
    }
}

/* What the words of a deployment say after an option. */
static bool word_after(const struct doc *record, const char *option, double *value)
{
    const struct doc *words = doc_get(record, "words");
    for (const struct doc *word = words ? words->first : NULL; word && word->next; word = word->next)
        if (word->kind == DOC_STRING && !strcmp(word->string, option))
            return text_number(text_of(word->next->string), value);
    return false;
}

uint64_t bill_plan(struct bill *bill, struct scenario *scenario)
{
    const struct verb *const plan = verb_named(bill->command->verbs, "plan"), *const planning[] = { plan, NULL };
    struct arena *arena = bill->arena;
    struct plan_words question = { .arena = arena, .words = { "chalkline", "plan" }, .count = 2 };
    struct buffer rate = { .arena = arena };
    struct command command = { .verbs = planning };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    struct error ignored;
    double batch;
    question.words[question.count++] = command_text(bill->command, "own");
    say_options(&question, plan, bill->command);
    say_number(&question, scenario, "isl", NAME_prompt_tokens);
    say_number(&question, scenario, "osl", NAME_output_tokens);
    say_number(&question, scenario, "prefix-hit", NAME_prefix_hit_share);
    buffer_number(&rate, bill_number(bill, NAME_task_rate) * bill_number(bill, NAME_task_requests));
    say(&question, "rate", rate.data);
    char **words = arena_array(arena, (size_t)question.count, sizeof *words);
    for (int i = 0; i < question.count; i++)
        words[i] = arena_copy(arena, question.words[i], strlen(question.words[i]));
    if (!command_read(arena, question.count, words, &command, &ignored) ||
        !plan->ask(arena, &command, &answer, &ignored))
        return 0;
    const struct doc *best = doc_get(answer.doc, "best"), *alike = doc_get(answer.doc, "simplest");
    if (!best || best->kind != DOC_OBJECT)
        return 0;
    const bool pools = strcmp(doc_text(best, "kind", ""), "together") != 0;
    const struct doc *taken = pools ? alike : best;
    if (!taken || taken->kind != DOC_OBJECT)
        return 0;
    uint64_t hash = 1;
    for (int i = 0; i < LAYOUT; i++) {
        const double value = doc_number(taken, layout_rows[i], NAN);
        hash = strcmp(layout_rows[i], NAME_arrival_rate) ? hash_numbers(hash, &value, 1) : hash;
        if (!isnan(value) && !fact_given(facts_find(&scenario->facts, layout_rows[i])))
            facts_set(&scenario->facts, layout_rows[i], value, ORIGIN_CHOSEN, "plan");
    }
    if (word_after(taken, "--batch", &batch))
        facts_set(&scenario->facts, NAME_batch, batch, ORIGIN_CHOSEN, "plan");
    facts_note(&scenario->facts, "plan: %s, the best %sat the workload's load", doc_text(taken, "deployment", ""),
               pools ? "without pools " : "");
    if (pools)
        facts_note(&scenario->facts, "plan: with pools for prefill and decode %s, on %s GPUs instead of %s",
                   doc_text(best, "deployment", ""), count_text(arena, doc_number(best, NAME_deployment_chips, NAN), 4),
                   count_text(arena, doc_number(taken, NAME_deployment_chips, NAN), 4));
    return hash;
}
