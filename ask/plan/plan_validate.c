/* plan --validate: the best layouts through the simulator, under traffic that comes at random,
 * ranked by the requests a second that meet the limits there. The search knows means; the
 * simulator knows every request. */
#include "ask/plan/plan.h"
#include "ask/simulate/simulate.h"
#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, REQUESTS = 1000 };

struct trial_run {
    struct plan_point point;
    const char *skipped;            /* why it did not run, or NULL */
    double goodput;                 /* requests/s within the limits, for each GPU, while they came */
    double came, met, ttft, ttft_99, tpot, tpot_99;
    const char *verdict;
};

static bool read_count(struct plan *plan, size_t *count)
{
    const char *text = plan->question->option[OPTION_VALIDATE];
    double number;
    if (text_number(text_of(text), &number) && number >= 1 && number <= MOST &&
        number == floor(number)) {
        *count = (size_t)number;
        return true;
    }
    error_set(plan->error, "--validate: '%.60s' is no count", text);
    return error_hint(plan->error, "1 to %d", MOST);
}

static const char *whole(const struct plan *plan, double number)
{
    return arena_print(plan->arena, "%.0f", number);
}

static void add_set(struct plan *plan, struct question *question, const char *row, double value)
{
    *(const char **)arena_push(plan->arena, &question->sets, &question->set_count,
                               &question->set_room, sizeof *question->sets) =
        arena_print(plan->arena, "%s=%.0f", row, value);
}

/* The sets of the plan that the simulator has rows for: lengths come with the traffic. */
static void copy_sets(struct plan *plan, struct question *question)
{
    const struct question *from = plan->question;
    question->sets = NULL;
    question->set_count = question->set_room = 0;
    for (size_t i = 0; i < from->set_count; i++)
        *(const char **)arena_push(plan->arena, &question->sets, &question->set_count,
                                   &question->set_room, sizeof *question->sets) = from->sets[i];
}

static bool traffic(struct plan *plan, struct trial_run *run, struct question *question)
{
    struct scenario *scenario = &plan->variants[run->point.at.space].scenario;
    struct values values;
    static const char *const rows[] = { NAME_prompt_tokens, NAME_output_tokens, NAME_prefix_cached };
    const char **words = arena_array(plan->arena, 1, sizeof *words);
    if (!values_of(scenario, rows, 3, &values, plan->error))
        return false;
    if (values.at[2] > 0 && !plan->question->option[OPTION_TRAFFIC]) {
        error_set(plan->error, "--validate: prefix_cached needs requests that share prefixes");
        return error_hint(plan->error, "--traffic TRACE with prefix blocks (Mooncake, Qwen-Bailian)");
    }
    words[0] = plan->question->option[OPTION_TRAFFIC]
               ? plan->question->option[OPTION_TRAFFIC]
               : arena_print(plan->arena, "poisson:rate=%.9g,count=%d,input=%.0f,output=%.0f",
                             run->point.figures[PLAN_rate], REQUESTS, values.at[0], values.at[1]);
    question->words = words;
    question->word_count = 1;
    return true;
}

static const char *rules_of(const struct plan *plan)
{
    const char *engine = plan->question->option[OPTION_ENGINE];
    const struct scheduler *scheduler = scheduler_of_engine(engine ? engine : "vllm");
    return scheduler ? scheduler->name : engine;
}

/* `simulate` as a user would ask it of this deployment. */
static bool trial_question(struct plan *plan, struct trial_run *run, struct question *question)
{
    const struct search_point *at = &run->point.at;
    const struct variant *variant = &plan->variants[at->space];
    const bool pools = variant->kind == PLAN_POOLS;
    const double copies = run->point.figures[PLAN_replicas];
    *question = (struct question){ .verb = "simulate", .rows = plan->question->rows,
                                   .rows_count = plan->question->rows_count };
    copy_sets(plan, question);
    const struct { enum option option; const char *text; } given[] = {
        { OPTION_MODEL, plan->model }, { OPTION_ON, variant->machine },
        { OPTION_PRECISION, variant->precision }, { OPTION_KV, variant->kv },
        { OPTION_EXPERTS, plan->question->option[OPTION_EXPERTS] },
        { OPTION_ENGINE, variant->scenario.question->option[OPTION_ENGINE] },
        { OPTION_ASSUME, plan->question->option[OPTION_ASSUME] },
        { OPTION_GPUS, whole(plan, plan_input(plan, at, NAME_chips)) },
        { OPTION_RULES, rules_of(plan) },
        { OPTION_REPLICAS, whole(plan, copies * (pools ? plan_input(plan, at, NAME_decode_workers)
                                                       : 1)) },
        { OPTION_PREFILL_REPLICAS,
          pools ? whole(plan, copies * plan_input(plan, at, NAME_prefill_workers)) : NULL },
        { OPTION_PREFILL_GPUS, pools ? whole(plan, plan_input(plan, at, NAME_prefill_chips)) : NULL },
        { OPTION_CHUNK, pools ? NULL : whole(plan, plan_input(plan, at, NAME_prefill_size)) },
        { OPTION_TTFT, arena_print(plan->arena, "%.9gs", plan->ttft) },
        { OPTION_TPOT, arena_print(plan->arena, "%.9gs", plan->tpot) } };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        question->option[given[i].option] = given[i].text;
    add_set(plan, question, NAME_attention_dp, plan_input(plan, at, NAME_attention_dp));
    add_set(plan, question, NAME_expert_parallel, plan_input(plan, at, NAME_expert_parallel));
    if (plan_input(plan, at, NAME_draft_tokens) > 0)
        question->option[OPTION_DRAFT] = whole(plan, plan_input(plan, at, NAME_draft_tokens));
    return traffic(plan, run, question);
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
    struct question *question = arena_alloc(plan->arena, sizeof *question);
    struct simulation *simulation = arena_alloc(plan->arena, sizeof *simulation);
    struct simulated *outcome = arena_alloc(plan->arena, sizeof *outcome);
    struct answer notes = { .text = { .arena = plan->arena } };
    const struct variation as_asked = { .scale = 1 };
    run->skipped = not_simulated(plan, run);
    if (run->skipped)
        return true;
    notes.doc = doc_new(plan->arena, DOC_OBJECT);
    if (!trial_question(plan, run, question) ||
        !simulate_read(plan->arena, question, simulation, &notes, plan->error) ||
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
    static const struct unit seconds = { { 2 } };
    return quantity_text(plan->arena, time, seconds, 3);
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
    size_t count = 0;
    if (!read_count(plan, &count))
        return false;
    count = count < tops->count ? count : tops->count;
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
