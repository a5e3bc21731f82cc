/* plan: the best deployments under limits.
 *
 *     MODEL, machines, formats -> variants -> spaces -> front -> the best of it */
#include "ask/ask.h"
#include "ask/plan/plan.h"
#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------------ */

/* "a,b" as names; none: NULL once. */
static size_t split_names(struct arena *arena, const char *text, const char ***names)
{
    size_t count = 0, room = 0;
    *names = NULL;
    for (const char *at = text ? text : ""; *at;) {
        size_t size = strcspn(at, ",");
        if (size)
            *(const char **)arena_push(arena, names, &count, &room, sizeof **names) =
                arena_copy(arena, at, size);
        at += size + (at[size] == ',');
    }
    if (!count)
        *(const char **)arena_push(arena, names, &count, &room, sizeof **names) = NULL;
    return count;
}

static bool traffic_alone(struct plan *plan)
{
    error_set(plan->error, "--traffic without --validate");
    return error_hint(plan->error, "--validate 8 --traffic %.200s",
                      plan->question->option[OPTION_TRAFFIC]);
}

static bool read_words(struct plan *plan)
{
    const struct question *question = plan->question;
    const char *option = question->option[OPTION_MODEL];
    const size_t models = question->word_count + (option != NULL);
    plan->model = question->word_count ? question->words[0] : option;
    if (models == 1 && question->option[OPTION_ON] &&
        question->option[OPTION_ON][strspn(question->option[OPTION_ON], ",")])
        return !question->option[OPTION_TRAFFIC] || question->option[OPTION_VALIDATE] ||
               traffic_alone(plan);
    if (models != 1)
        error_set(plan->error, models ? "plan takes one model, %zu were given"
                  : "plan needs a model", models);
    else
        error_set(plan->error, "plan needs a machine: --on");
    return error_hint(plan->error, "chalkline plan qwen3-32b --on h200-sxm --gpus 32; several "
                      "machines with commas");
}

/* ---- variants --------------------------------------------------------------------------------- */

/* Traffic comes at random, and the load is an input: what was found by closing the loop of flow
 * balance is given. */
static void open_loop(struct variant *variant)
{
    struct facts *facts = &variant->scenario.facts;
    static const char *const inputs[] = {
        NAME_chips, NAME_attention_dp, NAME_pipeline_parallel, NAME_expert_parallel, NAME_draft_tokens,
        NAME_prefill_size,
        NAME_prefill_chips, NAME_prefill_attention_dp, NAME_prefill_pipeline_parallel, NAME_decode_workers,
        NAME_prefill_workers };
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        const struct fact *fact = facts_find(facts, inputs[i]);
        bool taken = fact_given(fact);
        bool pool = variant->kind == PLAN_POOLS && !strcmp(inputs[i], NAME_prefill_size);
        if (!taken && !pool)
            facts_set(facts, inputs[i], !strcmp(inputs[i], NAME_draft_tokens) ? 0 : 1, ORIGIN_AXIS, "plan");
    }
    facts_bind(facts, NAME_loaded_running, NAME_held, ORIGIN_AXIS, "plan");
    facts_bind(facts, NAME_split_running, NAME_held, ORIGIN_AXIS, "plan");
    facts_bind(facts, NAME_arrival_rate, NAME_held_rate, ORIGIN_AXIS, "plan");
    facts_set(facts, NAME_others, 1, ORIGIN_AXIS, "plan");
    facts_set(facts, NAME_waves, 0, ORIGIN_AXIS, "plan");
}

static bool set_limit(struct plan *plan, struct scenario *scenario, enum option option,
                      const char *row, double *value)
{
    const char *text = plan->question->option[option];
    if ((text && !scenario_set_row(scenario, row, text,
                                   ORIGIN_GIVEN, arena_print(plan->arena, "--%s", options[option].name),
                                   plan->error)) ||
        !value_of(scenario, row, value, plan->error))
        return false;
    if (*value > 0)
        return true;
    error_set(plan->error, "--%s: '%.60s': nothing is so fast", options[option].name,
              text ? text : "0");
    return error_hint(plan->error, "a time above 0: 300ms, 2s");
}

static bool read_gpus(struct plan *plan, struct scenario *scenario, const char *text)
{
    enum { MOST = 10000000 };
    double gpus;
    if (!scenario_set_row(scenario, NAME_gpus_available, text, ORIGIN_GIVEN, "--gpus", plan->error) ||
        !value_of(scenario, NAME_gpus_available, &gpus, plan->error))
        return false;
    if (gpus >= 1 && gpus <= MOST && gpus == floor(gpus))
        return true;
    error_set(plan->error, "--gpus: '%.60s' is no number of GPUs", text);
    return error_hint(plan->error, "a whole number from 1 to %d", MOST);
}

/* Points have single numbers. */
static bool no_ranges(struct plan *plan, const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->facts.scalar_count; i++) {
        const struct fact *fact = &scenario->facts.scalars[i];
        if (fact->spread == SPREAD_NONE || !fact_given(fact))
            continue;
        error_set(plan->error, "%s: %s is a range or a distribution", fact->source, fact->name);
        return error_hint(plan->error, "a single number; `chalkline eval` takes ranges");
    }
    return true;
}

static bool set_by_user(const struct scenario *scenario, const char *row)
{
    return fact_given(facts_find(&scenario->facts, row));
}

static bool set_numbers(struct plan *plan, struct scenario *scenario)
{
    const char *gpus = plan->question->option[OPTION_GPUS];
    const double endless = 1e12;    /* where only a demand is given */
    double domain;
    plan->by_demand = set_by_user(scenario, NAME_demand);
    if (!value_of(scenario, NAME_scale_up_chips, &domain, plan->error))
        return false;
    if (gpus && !read_gpus(plan, scenario, gpus))
        return false;
    if (!gpus && !set_by_user(scenario, NAME_gpus_available))
        facts_set(&scenario->facts, NAME_gpus_available, plan->by_demand ? endless : domain,
                  ORIGIN_CHOSEN, "assumed");
    return value_of(scenario, NAME_gpus_available, &plan->gpus, plan->error) &&
           set_limit(plan, scenario, OPTION_TTFT, NAME_ttft_limit, &plan->ttft) &&
           set_limit(plan, scenario, OPTION_TPOT, NAME_tpot_limit, &plan->tpot);
}

/* TP follows from the other sizes: who gives it wants only layouts that have it. */
static bool take_tensor(struct plan *plan, struct question *question)
{
    static const char row[] = "tensor_parallel=";
    const char **kept = arena_array(plan->arena, question->set_count + 1, sizeof *kept);
    size_t count = 0;
    for (size_t i = 0; i < question->set_count; i++) {
        const char *set = question->sets[i];
        if (strncmp(set, row, sizeof row - 1)) {
            kept[count++] = set;
            continue;
        }
        const char *value = set + sizeof row - 1;
        if (!text_number(text_of(value), &plan->tensor) || !(plan->tensor >= 1) ||
            plan->tensor != floor(plan->tensor)) {
            error_set(plan->error, "--set: tensor_parallel: '%.60s' is no number of GPUs", value);
            return error_hint(plan->error, "a whole number");
        }
    }
    question->sets = kept;
    question->set_count = count;
    return true;
}

/* A scenario with these names in the place of lists. */
static bool read_variant(struct plan *plan, struct variant *variant)
{
    struct question *question = arena_alloc(plan->arena, sizeof *question);
    *question = *plan->question;
    question->option[OPTION_ON] = variant->machine;
    question->option[OPTION_PRECISION] = variant->precision;
    question->option[OPTION_KV] = variant->kv;
    question->option[OPTION_GPUS] = NULL;
    if (!take_tensor(plan, question))
        return false;
    if (question->option[OPTION_VALIDATE] && !question->option[OPTION_ENGINE])
        question->option[OPTION_ENGINE] = "vllm";           /* whose rules the simulator follows */
    if (!scenario_read(&variant->scenario, plan->arena, question, plan->model, variant->machine,
                       plan->error) ||
        !set_numbers(plan, &variant->scenario) || !no_ranges(plan, &variant->scenario))
        return false;
    open_loop(variant);
    return true;
}

static bool add_variant(struct plan *plan, const char *machine, const char *precision,
                        const char *kv, enum plan_kind kind)
{
    struct variant *variant = arena_push(plan->arena, &plan->variants, &plan->count, &plan->room,
                                         sizeof *variant);
    *variant = (struct variant){ .kind = kind, .machine = machine, .precision = precision,
                                 .kv = kv };
    return read_variant(plan, variant);
}

static bool all_have_rent(struct plan *plan)
{
    double rent;
    for (size_t i = 0; i < plan->count; i++)
        if (!value_of(&plan->variants[i].scenario, NAME_chip_price, &rent, plan->error) || !(rent > 0))
            return false;
    return true;
}

/* "32 x H200 SXM or H100 SXM" */
static const char *scope_text(struct plan *plan)
{
    struct buffer out = { .arena = plan->arena };
    const char *before = NULL;
    if (plan->by_demand && !plan->question->option[OPTION_GPUS])
        buffer_print(&out, "as many as needed of ");
    else
        buffer_print(&out, "%.0f x ", plan->gpus);
    for (size_t i = 0; i < plan->count; i++)
        if (plan->variants[i].machine != before) {
            buffer_print(&out, "%s%s", before ? " or " : "", plan->variants[i].scenario.machine);
            before = plan->variants[i].machine;
        }
    return out.data;
}

bool plan_spaces(struct plan *plan)
{
    const char *const *option = plan->question->option;
    const char **machines, **precisions, **kvs;
    size_t machine_count = split_names(plan->arena, option[OPTION_ON], &machines);
    size_t precision_count = split_names(plan->arena, option[OPTION_PRECISION], &precisions);
    size_t kv_count = split_names(plan->arena, option[OPTION_KV], &kvs);
    for (size_t m = 0; m < machine_count; m++)
        for (size_t p = 0; p < precision_count; p++)
            for (size_t k = 0; k < kv_count; k++)
                for (int kind = 0; kind < PLAN_KINDS; kind++)
                    if (!add_variant(plan, machines[m], precisions[p], kvs[k],
                                     (enum plan_kind)kind))
                        return false;
    plan->by_cost = machine_count > 1 && all_have_rent(plan);
    plan->scope = scope_text(plan);
    plan->spaces = arena_array(plan->arena, plan->count, sizeof *plan->spaces);
    for (size_t i = 0; i < plan->count; i++)
        if (!plan_space(plan, &plan->variants[i], &plan->spaces[i]))
            return false;
    return true;
}

/* From words and options to spaces; the same for all processes that answer together. */
static bool open_plan(struct plan *plan)
{
    static const struct ranks alone = { 0, 1 };
    const struct question *question = plan->question;
    const struct ranks *ranks = question->ranks ? question->ranks : &alone;
    return ranks_agree(ranks, read_words(plan) && parts_check(question, plan->error) &&
                              plan_spaces(plan), plan->error);
}

static bool sweep_alone(struct plan *plan)
{
    static const enum option others[] = { OPTION_EMIT, OPTION_PICK, OPTION_PLOT, OPTION_VALIDATE };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (plan->question->option[others[i]]) {
            error_set(plan->error, "--sweep and --%s are both given", options[others[i]].name);
            return error_hint(plan->error, "one of them");
        }
    return true;
}

bool ask_plan(struct arena *arena, const struct question *question, struct answer *answer,
              struct error *error)
{
    struct plan *plan = arena_alloc(arena, sizeof *plan);
    *plan = (struct plan){ .arena = arena, .question = question, .answer = answer,
                           .error = error };
    if (!plan_emit_asked(question, error))
        return false;
    if (question->option[OPTION_SWEEP])
        return sweep_alone(plan) && read_words(plan) && parts_check(question, error) &&
               plan_sweep(plan);
    if (!open_plan(plan))
        return false;
    struct quest quest = {
        .arena = arena, .question = question, .answer = answer, .error = error,
        .title = arena_print(arena, "%s on %s", plan->variants->scenario.model, plan->scope),
        .spaces = plan->spaces, .count = plan->count };
    if (!parts_search(&quest))
        return false;
    plan->result = quest.result;
    return quest.elsewhere || plan_answer(plan);
}
