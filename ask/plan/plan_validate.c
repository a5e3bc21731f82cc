/* plan --validate: the best layouts through the simulator, under traffic that comes at random,
 * ranked by the requests per second that meet the limits there. The search knows means; the
 * simulator knows every request.
 *
 * Each layout becomes a command of `simulate` as a user would write it, with the rules of the engine
 * and at the rate that was predicted, or under the trace that --traffic names. The figures of the
 * rows stand beside those of the simulation; nothing of the plan is corrected by them. */
#include "ask/plan/plan.h"
#include "ask/simulate/simulate.h"
#include "build/row_names.h"
#include "scenario/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 1000 };

struct trial_run {
    struct plan_point point;
    double goodput;                 /* requests/s within the limits, for each GPU, while they came */
    double came, met, ttft, ttft_99, tpot, tpot_99;
    const char *verdict;
};

/* "constant" or "poisson" alone: requests of the plan's lengths that come so at the predicted rate. */
static bool traffic(struct plan *plan, const struct plan_point *point, const char *trace,
                    size_t count, struct command *command)
{
    struct scenario *scenario = &plan->variants[point->at.space].scenario;
    struct values values;
    static const char *const rows[] = { NAME_prompt_tokens, NAME_output_tokens, NAME_prefix_hit_share };
    const bool predicted = !trace || !strcmp(trace, "poisson") || !strcmp(trace, "constant");
    if (!values_of(scenario, rows, 3, &values, plan->error))
        return false;
    if (values.at[2] > 0 && predicted) {
        error_set(plan->error, "--validate: prefix_hit_share needs requests that share prefixes");
        return error_expected(plan->error, "--traffic TRACE with prefix blocks (Mooncake, Qwen-Bailian)");
    }
    command_put_word(plan->arena, command, !predicted ? trace
                     : arena_print(plan->arena, "%s:rate=%.9g,count=%zu,input=%.0f,output=%.0f",
                                   trace ? trace : "poisson", point->figures[PLAN_rate], count,
                                   values.at[0], values.at[1]));
    return true;
}

/* The rules of the engine; those of vLLM where no engine is named, or where the engine's rules know
 * nothing of what the layout has: they stand for its own then, with its times. */
static const char *rules_of(const struct plan *plan, const struct search_point *at)
{
    const char *engine = plan->subject.engine;
    const struct scheduler *usual = scheduler_of_engine("vllm");
    const struct scheduler *own = engine ? scheduler_of_engine(engine) : NULL;
    const bool pools = plan->variants[at->space].kind == PLAN_POOLS;
    unsigned needed = plan_input(plan, at, NAME_draft_tokens) > 0 ? SCHEDULER_DRAFTS : 0;
    if (plan_input(plan, at, NAME_attention_dp) > 1 ||
        (pools && plan_input(plan, at, NAME_prefill_attention_dp) > 1))
        needed |= SCHEDULER_RANKS;
    if (plan_input(plan, at, NAME_pipeline_parallel) > 1 ||
        (pools && plan_input(plan, at, NAME_prefill_pipeline_parallel) > 1))
        needed |= SCHEDULER_STAGES;
    return own && (own->can & needed) == needed ? own->name : usual->name;
}

/* `simulate` as a user would ask it of this deployment. */
static bool trial_question(struct plan *plan, const struct plan_point *point, const char *trace,
                           size_t count, struct command *command)
{
    const struct search_point *at = &point->at;
    const struct variant *variant = &plan->variants[at->space];
    const bool pools = variant->kind == PLAN_POOLS;
    const double copies = point->figures[PLAN_replicas];
    const struct { const char *option, *text; } names[] = {
        { "model", plan->model }, { "on", variant->machine }, { "precision", variant->precision },
        { "kv-precision", variant->kv },
        { "engine", variant->scenario.subject.engine ? variant->scenario.subject.engine : "any" },
        { "scheduler", rules_of(plan, at) } };
    const struct { const char *option; double number; } numbers[] = {
        { "gpus", plan_input(plan, at, NAME_chips) },
        { "replicas", copies * (pools ? plan_input(plan, at, NAME_decode_workers) : 1) },
        { "prefill-replicas",
          pools ? copies * plan_input(plan, at, NAME_prefill_workers) : NAN },
        { "prefill-gpus", pools ? plan_input(plan, at, NAME_prefill_chips) : NAN },
        { "chunked-prefill-size", pools ? NAN : plan_input(plan, at, NAME_chunked_prefill_size) },
        { "draft", plan_input(plan, at, NAME_draft_tokens) },
        { "ttft", plan->ttft }, { "tpot", plan->tpot } };
    static const char *const limits[] = { "max-batched-tokens", "max-seqs", "link" };
    static const char *const same[] = { "set", "rows", "experts-precision", "assume" };
    static const char *const layout[] = { NAME_attention_dp, NAME_expert_parallel,
                                          NAME_pipeline_parallel };
    static const char *const prompts[] = { NAME_prefill_attention_dp, NAME_prefill_pipeline_parallel };
    *command = (struct command){ .verb = &verb_simulate, .verbs = plan->command->verbs };
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)     /* lengths come with the traffic */
        for (size_t i = 0; i < plan->command->value_count; i++)
            if (!strcmp(plan->command->values[i].option->name, same[k]))
                command_set(plan->arena, command, same[k], plan->command->values[i].text);
    for (size_t i = 0; i < plan->command->value_count; i++) {   /* the engine's limits, the link, the arrivals */
        const struct value *value = &plan->command->values[i];
        if (name_listed(limits, sizeof limits / sizeof *limits, value->option->name))
            command_set(plan->arena, command, "set", arena_print(plan->arena, "%s=%s", value->option->row, value->text));
        else if (!trace && !strcmp(value->option->name, "arrivals"))
            command_set(plan->arena, command, "arrivals", value->text);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].text)
            command_set(plan->arena, command, names[i].option, names[i].text);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].number > 0)
            command_set_number(plan->arena, command, numbers[i].option, numbers[i].number);
    const struct scheduler *rules = scheduler_named(rules_of(plan, at));
    const char *engine = plan->subject.engine;
    if ((rules->can & SCHEDULER_STAGES) && (!engine || rules != scheduler_of_engine(engine)))
        /* They stand for no engine's own: stages are as even as the plan has them. */
        command_set(plan->arena, command, "even-stages", "");
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++)
        command_set(plan->arena, command, "set",
                    arena_print(plan->arena, "%s=%.0f", layout[i], plan_input(plan, at, layout[i])));
    for (size_t i = 0; pools && i < sizeof prompts / sizeof *prompts; i++)
        command_set(plan->arena, command, "set",
                    arena_print(plan->arena, "%s=%.0f", prompts[i], plan_input(plan, at, prompts[i])));
    return traffic(plan, point, trace, count, command);
}

bool plan_trial(struct plan *plan, const struct plan_point *point, const char *trace, size_t count,
                struct simulate *simulate, struct simulated *outcome)
{
    struct command *command = arena_alloc(plan->arena, sizeof *command);
    const struct variation as_asked = { .scale = 1 };
    return trial_question(plan, point, trace, count, command) &&
           simulate_read(plan->arena, command, simulate, plan->error) &&
           simulate_run(plan->arena, simulate, &as_asked, NULL, outcome, plan->error);
}

static int by_goodput(const void *x, const void *y)
{
    const struct trial_run *a = x, *b = y;
    return a->goodput > b->goodput ? -1 : a->goodput < b->goodput;
}

static const char *const time_keys[] = { "ttft_mean", "ttft_p99", "tpot_mean", "tpot_p99",
                                         "ttft_predicted", "tpot_predicted" };
enum { TIME_KEYS = sizeof time_keys / sizeof *time_keys };

const struct record plan_validated = { "PlanValidated", (const struct answer_field[]){
    { FIELD_TEXT, "deployment", .help = "the deployment in words", .always = true },
    { FIELD_NUMBER, "goodput_per_gpu", .help = "requests per second and GPU within the limits", .unit = "1/s",
      .always = true },
    { FIELD_NUMBER, "came", .help = "requests that arrived", .unit = "1/s", .always = true },
    { FIELD_NUMBER, "met", .help = "share of requests within both limits", .always = true },
    { FIELD_NUMBER, .help = "mean or 99th percentile, simulated; or predicted by the rows", .unit = "s",
      .names = time_keys, .count = TIME_KEYS, .always = true, .null = true },
    { FIELD_TEXT, "verdict", .help = "stable, backlogged or overloaded", .always = true },
    { 0 } } };

bool plan_validate(struct plan *plan, struct section *section)
{
    const struct search_front *tops = &plan->result.tops;
    const size_t asked = command_count(plan->command, "validate");
    const size_t count = asked < tops->count ? asked : tops->count;
    struct trial_run *runs = arena_array(plan->arena, count, sizeof *runs);
    for (size_t i = 0; i < count; i++) {
        struct trial_run *run = &runs[i];
        struct simulate *simulate = arena_alloc(plan->arena, sizeof *simulate);
        struct simulated *outcome = arena_alloc(plan->arena, sizeof *outcome);
        if (!plan_read_point(plan, &tops->points[i], &run->point) ||
            !plan_trial(plan, &run->point, command_text(plan->command, "traffic"), REQUESTS, simulate,
                        outcome))
            return false;
        const struct class_score *all = &outcome->all;
        run->met = (double)all->met / (double)all->requests;
        run->came = outcome->rate;
        run->goodput = run->met * run->came / (run->point.figures[PLAN_replicas] *
                                               run->point.figures[PLAN_server_gpus]);
        run->ttft = sketch_mean(&all->times[SIMULATE_TTFT]);
        run->ttft_99 = sketch_quantile(&all->times[SIMULATE_TTFT], 0.99);
        run->tpot = sketch_mean(&all->times[SIMULATE_TPOT]);
        run->tpot_99 = sketch_quantile(&all->times[SIMULATE_TPOT], 0.99);
        run->verdict = outcome->verdict;
    }
    qsort(runs, count, sizeof *runs, by_goodput);
    struct section *list = section_add(section, "validated", SECTION_LIST);
    for (size_t i = 0; i < count; i++) {
        const struct trial_run *run = &runs[i];
        const double times[TIME_KEYS] = { run->ttft, run->ttft_99, run->tpot, run->tpot_99,
                                          run->point.figures[PLAN_ttft], run->point.figures[PLAN_tpot] };
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_word(one, "deployment", plan_deployment(plan, &run->point));
        section_number(one, "goodput_per_gpu", run->goodput, unit_one);
        section_number(one, "came", run->came, unit_one);
        section_number(one, "met", run->met, unit_one);
        for (int k = 0; k < TIME_KEYS; k++)
            section_number(one, time_keys[k], times[k], unit_second);
        section_word(one, "verdict", run->verdict);
    }
    return true;
}
