/* plan --validate: the best layouts through the simulator, under traffic that comes at random,
 * ranked by the requests a second that meet the limits there. The search knows means; the
 * simulator knows every request. */
#include "ask/plan/plan.h"
#include "ask/simulate/simulate.h"
#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 1000 };

struct trial_run {
    struct plan_point point;
    const char *skipped;            /* why it did not run, or NULL */
    double goodput;                 /* requests/s within the limits, for each GPU, while they came */
    double came, met, ttft, ttft_99, tpot, tpot_99;
    const char *verdict;
};

static bool traffic(struct plan *plan, struct trial_run *run, struct command *command)
{
    struct scenario *scenario = &plan->variants[run->point.at.space].scenario;
    struct values values;
    static const char *const rows[] = { NAME_prompt_tokens, NAME_output_tokens, NAME_prefix_cached };
    if (!values_of(scenario, rows, 3, &values, plan->error))
        return false;
    if (values.at[2] > 0 && !command_given(plan->command, "traffic")) {
        error_set(plan->error, "--validate: prefix_cached needs requests that share prefixes");
        return error_hint(plan->error, "--traffic TRACE with prefix blocks (Mooncake, Qwen-Bailian)");
    }
    const char *trace = command_text(plan->command, "traffic");
    command_put_word(plan->arena, command, trace ? trace
                     : arena_print(plan->arena, "poisson:rate=%.9g,count=%d,input=%.0f,output=%.0f",
                                   run->point.figures[PLAN_rate], REQUESTS, values.at[0],
                                   values.at[1]));
    return true;
}

static const char *rules_of(const struct plan *plan)
{
    const char *engine = plan->subject.engine;
    const struct scheduler *scheduler = scheduler_of_engine(engine ? engine : "vllm");
    return scheduler ? scheduler->name : engine;
}

/* The options of the plan that say the same to `simulate`; lengths come with the traffic. */
static void take_options(struct plan *plan, struct command *command)
{
    static const char *const same[] = { "set", "rows", "experts-precision", "assume" };
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)
        for (size_t i = 0; i < plan->command->value_count; i++)
            if (!strcmp(plan->command->values[i].option->name, same[k]))
                command_set(plan->arena, command, same[k], plan->command->values[i].text);
}

/* `simulate` as a user would ask it of this deployment. */
static bool trial_question(struct plan *plan, struct trial_run *run, struct command *command)
{
    const struct search_point *at = &run->point.at;
    const struct variant *variant = &plan->variants[at->space];
    const bool pools = variant->kind == PLAN_POOLS;
    const double copies = run->point.figures[PLAN_replicas];
    const struct { const char *option, *text; } names[] = {
        { "model", plan->model }, { "on", variant->machine }, { "precision", variant->precision },
        { "kv-precision", variant->kv }, { "engine", variant->scenario.subject.engine },
        { "rules", rules_of(plan) } };
    const struct { const char *option; double number; } numbers[] = {
        { "gpus", plan_input(plan, at, NAME_chips) },
        { "replicas", copies * (pools ? plan_input(plan, at, NAME_decode_workers) : 1) },
        { "prefill-replicas",
          pools ? copies * plan_input(plan, at, NAME_prefill_workers) : NAN },
        { "prefill-gpus", pools ? plan_input(plan, at, NAME_prefill_chips) : NAN },
        { "chunk", pools ? NAN : plan_input(plan, at, NAME_prefill_size) },
        { "draft", plan_input(plan, at, NAME_draft_tokens) },
        { "ttft", plan->ttft }, { "tpot", plan->tpot } };
    static const char *const layout[] = { NAME_attention_dp, NAME_expert_parallel };
    *command = (struct command){ .verb = &verb_simulate, .verbs = plan->command->verbs };
    take_options(plan, command);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].text)
            command_set(plan->arena, command, names[i].option, names[i].text);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].number > 0)
            command_set_number(plan->arena, command, numbers[i].option, numbers[i].number);
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++)
        command_set(plan->arena, command, "set",
                    arena_print(plan->arena, "%s=%.0f", layout[i], plan_input(plan, at, layout[i])));
    return traffic(plan, run, command);
}

/* What the simulator does not have. */
static const char *not_simulated(const struct plan *plan, const struct trial_run *run)
{
    const struct search_point *at = &run->point.at;
    const bool pools = plan->variants[at->space].kind == PLAN_POOLS;
    if (plan_input(plan, at, NAME_pipeline_parallel) > 1 ||
        (pools && plan_input(plan, at, NAME_prefill_pipeline_parallel) > 1))
        return "pipeline stages";
    if (pools && plan_input(plan, at, NAME_prefill_attention_dp) != plan_input(plan, at, NAME_attention_dp))
        return "pools with other attention ranks";
    return NULL;
}

static bool run_trial(struct plan *plan, struct trial_run *run)
{
    struct command *command = arena_alloc(plan->arena, sizeof *command);
    struct simulation *simulation = arena_alloc(plan->arena, sizeof *simulation);
    struct simulated *outcome = arena_alloc(plan->arena, sizeof *outcome);
    struct answer notes = { .text = { .arena = plan->arena } };
    const struct variation as_asked = { .scale = 1 };
    run->skipped = not_simulated(plan, run);
    if (run->skipped)
        return true;
    notes.doc = doc_new(plan->arena, DOC_OBJECT);
    if (!trial_question(plan, run, command) ||
        !simulate_read(plan->arena, command, simulation, &notes, plan->error) ||
        !simulate_run(plan->arena, simulation, &as_asked, NULL, outcome, plan->error))
        return false;
    const struct lane_score *all = &outcome->all;
    run->met = (double)all->met / (double)all->requests;
    run->came = outcome->rate;
    run->goodput = run->met * run->came / (run->point.figures[PLAN_replicas] *
                                           run->point.figures[PLAN_server_gpus]);
    run->ttft = sketch_mean(&all->times[SIMULATE_TTFT]);
    run->ttft_99 = sketch_quantile(&all->times[SIMULATE_TTFT], 0.99);
    run->tpot = sketch_mean(&all->times[SIMULATE_TPOT]);
    run->tpot_99 = sketch_quantile(&all->times[SIMULATE_TPOT], 0.99);
    run->verdict = outcome->verdict;
    return true;
}

static int by_goodput(const void *x, const void *y)
{
    const struct trial_run *a = x, *b = y;
    if (!a->skipped != !b->skipped)
        return a->skipped ? 1 : -1;
    return a->goodput > b->goodput ? -1 : a->goodput < b->goodput;
}

static const char *time_text(const struct plan *plan, double time)
{
    return quantity_text(plan->arena, time, unit_second, 3);
}

static void add_line(struct plan *plan, const struct trial_run *run, struct table *table,
                     struct doc *list)
{
    struct doc *doc = doc_add(plan->arena, list, NULL, DOC_OBJECT);
    doc_add_string(plan->arena, doc, "deployment", plan_deployment(plan, &run->point));
    if (run->skipped) {
        doc_add_string(plan->arena, doc, "skipped", run->skipped);
        for (int i = 0; i < 7; i++)
            table_cell(table, "-");
        table_cell(table, "%s: not simulated: %s", plan_deployment(plan, &run->point),
                   run->skipped);
        return;
    }
    const struct { const char *name; double value; } figures[] = {
        { "goodput_per_gpu", run->goodput }, { "came", run->came }, { "met", run->met }, { "ttft_mean", run->ttft },
        { "ttft_p99", run->ttft_99 }, { "tpot_mean", run->tpot }, { "tpot_p99", run->tpot_99 },
        { "ttft_predicted", run->point.figures[PLAN_ttft] },
        { "tpot_predicted", run->point.figures[PLAN_tpot] } };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        doc_add_number(plan->arena, doc, figures[i].name, figures[i].value);
    doc_add_string(plan->arena, doc, "verdict", run->verdict);
    table_cell(table, "%.4f", run->goodput);
    table_cell(table, "%.2f", run->came);
    table_cell(table, "%.0f %%", 100 * run->met);
    table_cell(table, "%s, %s", time_text(plan, run->ttft), time_text(plan, run->ttft_99));
    table_cell(table, "%s", time_text(plan, run->point.figures[PLAN_ttft]));
    table_cell(table, "%s, %s", time_text(plan, run->tpot), time_text(plan, run->tpot_99));
    table_cell(table, "%s", time_text(plan, run->point.figures[PLAN_tpot]));
    table_cell(table, "%s%s", plan_deployment(plan, &run->point),
               strcmp(run->verdict, "stable") ? arena_print(plan->arena, "; %s", run->verdict) : "");
}

bool plan_validate(struct plan *plan)
{
    static const char *const head[] = { "goodput/s a GPU", "came/s", "met", "TTFT mean, p99", "predicted",
                                        "TPOT mean, p99", "predicted", "deployment" };
    struct table table = { .arena = plan->arena, .columns = 8, .left = "rrrrrrrl" };
    const struct search_front *tops = &plan->result.tops;
    struct trial_run *runs;
    const size_t asked = command_count(plan->command, "validate");
    const size_t count = asked < tops->count ? asked : tops->count;
    runs = arena_array(plan->arena, count, sizeof *runs);
    for (size_t i = 0; i < count; i++)
        if (!plan_tell(plan, &tops->points[i], &runs[i].point) || !run_trial(plan, &runs[i]))
            return false;
    qsort(runs, count, sizeof *runs, by_goodput);
    struct doc *list = doc_add(plan->arena, plan->answer->doc, "validated", DOC_ARRAY);
    for (int i = 0; i < 8; i++)
        table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < count; i++)
        add_line(plan, &runs[i], &table, list);
    buffer_print(&plan->answer->text, "\n  the best layouts through the simulator, requests "
                 "within both limits; each goes to the server with the fewest tokens waiting:\n");
    table_print(&table, &plan->answer->text, "  ");
    return true;
}
