/* plan --validate: the best layouts in the simulator, in steady state, and the best of them at the load that it can hold.
 *
 * Each layout becomes a command of `simulate` as a user would write it, with requests that arrive at the predicted rate,
 * or under the trace that --traffic names, and runs until its figures are known (sim/steady.h). A point holds if the
 * queue does not grow and every limit is met with its confidence: the upper end of the 95 % interval is within it. One
 * that does not hold is tried again at a lower load of the same layout, with the utilization that the simulator
 * measured lower by UTILIZATION_LESS: TRIES times, and on while that load is worth more than any that holds. Layouts are ranked by the requests per second and GPU (or USD)
 * at which they hold. Where a run is too short for the steady state, the figures of the rows stand for the layout.
 *
 * All layouts run side by side, a round for each load. */
#include "ask/plan/plan.h"
#include "ask/simulate/simulate.h"
#include "base/guard.h"
#include "build/row_names.h"
#include "scenario/values.h"
#include "sim/steady.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS_MOST = 131072, TRIES = 4 };
static const double utilization_less = 0.05;

/* The figures of a run; those of the limits are the last two. */
enum { TTFT_MEAN, TTFT_99, TPOT_MEAN, TPOT_99, FIGURES, TTFT_BOUND = FIGURES, TPOT_BOUND, FIGURES_ALL };

struct trial_run {
    struct plan_point point;
    const struct plan *plan;
    struct arena arena;             /* of one run */
    struct simulate *simulate;
    struct steady steady;
    struct error error;
    bool own_rate, pending, holds;
    size_t place;                   /* in the order of the search */
    int tries;                      /* loads that were tried before this one */
    const char *binds, *missed;     /* the limit that the load above does not meet; that this one does not meet */
    double value, bound;            /* of `missed`, s */
};

/* "constant" or "poisson" alone: requests of the plan's lengths that come so at the predicted rate. */
static bool traffic(struct plan *plan, struct arena *arena, const struct plan_point *point, const char *trace,
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
    command_put_word(arena, command, !predicted ? trace
                     : arena_print(arena, "%s:rate=%.9g,count=%zu,input=%.0f,output=%.0f",
                                   trace ? trace : "poisson", point->figures[PLAN_rate], count,
                                   values.at[0], values.at[1]));
    return true;
}

/* `simulate` as a user would ask it of this deployment. */
static bool trial_question(struct plan *plan, struct arena *arena, const struct plan_point *point, const char *trace,
                           size_t count, struct command *command)
{
    const struct search_point *at = &point->at;
    const struct variant *variant = &plan->variants[at->space];
    const bool pools = variant->kind == PLAN_POOLS;
    const double copies = point->figures[PLAN_replicas];
    const struct { const char *option, *text; } names[] = {
        { "model", plan->model }, { "on", variant->machine }, { "precision", variant->precision },
        { "kv-precision", variant->kv },
        { "engine", variant->scenario.subject.engine ? variant->scenario.subject.engine : "any" } };
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
    static const char *const same[] = { "set", "rows", "experts-precision", "as", "families", "assume" };
    static const char *const layout[] = { NAME_attention_dp, NAME_expert_parallel, NAME_pipeline_parallel };
    static const char *const prompts[] = { NAME_prefill_attention_dp, NAME_prefill_pipeline_parallel,
                                           NAME_decode_workers, NAME_prefill_workers };
    *command = (struct command){ .verb = &verb_simulate, .verbs = plan->command->verbs };
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)     /* lengths come with the traffic */
        for (size_t i = 0; i < plan->command->value_count; i++)
            if (!strcmp(plan->command->values[i].option->name, same[k]))
                command_set(arena, command, same[k], plan->command->values[i].text);
    for (size_t i = 0; i < plan->command->value_count; i++) {   /* the engine's limits, the link, the arrivals */
        const struct value *value = &plan->command->values[i];
        if (name_listed(limits, sizeof limits / sizeof *limits, value->option->name))
            command_set(arena, command, "set", arena_print(arena, "%s=%s", value->option->row, value->text));
        else if (!trace && !strcmp(value->option->name, "arrivals"))
            command_set(arena, command, "arrivals", value->text);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].text)
            command_set(arena, command, names[i].option, names[i].text);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].number > 0)
            command_set_number(arena, command, numbers[i].option, numbers[i].number);
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++)
        command_set(arena, command, "set",
                    arena_print(arena, "%s=%.0f", layout[i], plan_input(plan, at, layout[i])));
    for (size_t i = 0; pools && i < sizeof prompts / sizeof *prompts; i++)
        command_set(arena, command, "set",
                    arena_print(arena, "%s=%.0f", prompts[i], plan_input(plan, at, prompts[i])));
    return traffic(plan, arena, point, trace, count, command);
}

bool plan_simulation(struct plan *plan, struct arena *arena, const struct plan_point *point, const char *trace,
                     size_t count, struct simulate *simulate)
{
    struct command *command = arena_alloc(arena, sizeof *command);
    return trial_question(plan, arena, point, trace, count, command) &&
           simulate_read(arena, command, simulate, plan->error);
}

/* ---- one layout ------------------------------------------------------------------------------- */

static void run_one(void *context, size_t i)
{
    struct trial_run *run = (struct trial_run *)context + i;
    const struct plan *plan = run->plan;
    const struct steady_figure figures[FIGURES_ALL] = {
        [TTFT_MEAN] = { .time = STEADY_TTFT }, [TTFT_99] = { .time = STEADY_TTFT, .share = 0.99, .idle = true },
        [TPOT_MEAN] = { .time = STEADY_TPOT }, [TPOT_99] = { .time = STEADY_TPOT, .share = 0.99, .idle = true },
        [TTFT_BOUND] = { .time = STEADY_TTFT, .share = plan->ttft_share,
                         .bound = plan->variants[run->point.at.space].ttft },
        [TPOT_BOUND] = { .time = STEADY_TPOT, .share = plan->tpot_share, .bound = plan->tpot } };
    if (run->pending)
        simulate_steady(&run->arena, run->simulate, figures, FIGURES_ALL, &run->steady, &run->error);
}

/* Is the limit met with its confidence? */
static bool within(struct trial_run *run, const char *name, int figure, double bound)
{
    const struct steady_value *at = &run->steady.at[figure];
    if (at->value + at->half <= bound)
        return true;
    run->missed = name;
    run->value = at->value;
    run->bound = bound;
    return false;
}

/* Without a steady state the figures of the rows decide, which have no percentile of TTFT, nor of pools. */
static void judge(struct trial_run *run)
{
    const struct plan *plan = run->plan;
    const bool pools = plan->variants[run->point.at.space].kind == PLAN_POOLS;
    const struct steady *steady = &run->steady;
    run->missed = NULL;
    run->value = run->bound = NAN;
    if (steady->verdict && strcmp(steady->verdict, "stable"))
        run->missed = "stability";
    else if (!steady->steady)
        run->holds = plan_keeps(plan, &run->point) && !(plan->ttft_share > 0) && !(pools && plan->tpot_share > 0);
    else    /* the first limit that fails is told */
        run->holds = within(run, "TTFT", TTFT_BOUND, plan->variants[run->point.at.space].ttft) &&
                     within(run, "TPOT", TPOT_BOUND, plan->tpot);
    run->pending = false;
}

/* The next lower load of the same layout, whose utilization is lower by so much; false: there is none. */
static bool lower(struct plan *plan, struct trial_run *run)
{
    const struct variant *variant = &plan->variants[run->point.at.space];
    const double u = run->steady.e2e > 0 ? 1 - fmin(run->steady.alone / run->steady.e2e, 1) : 1;
    const double wanted = run->point.figures[PLAN_server_rate] * fmax(1 - utilization_less / u, 0.5);
    struct plan_point next = run->point;
    while (next.figures[PLAN_server_rate] > wanted) {
        if (!next.at.load)
            return false;
        next.at.load--;
        if (!plan_read_point(plan, &next.at, &next) || next.figures[PLAN_deployment_chips] > variant->gpus)
            return false;
    }
    run->binds = run->missed;
    run->point = next;
    run->tries++;
    return true;
}

/* All that are pending, at their loads. */
static bool run_round(struct plan *plan, struct trial_run *runs, size_t count, const char *trace)
{
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        struct trial_run *run = &runs[i];
        run->arena = arena_beside(plan->arena);
        run->error = (struct error){ .what = "" };
        if (!run->pending || !good)
            continue;
        run->simulate = arena_alloc(&run->arena, sizeof *run->simulate);
        good = plan_simulation(plan, &run->arena, &run->point, trace, REQUESTS_MOST, run->simulate);
    }
    if (good)
        parallel_each(count, true, run_one, runs);
    for (size_t i = 0; i < count; i++) {
        arena_free(&runs[i].arena);
        if (good && *runs[i].error.what) {
            *plan->error = runs[i].error;
            good = false;
        }
        if (good && runs[i].pending)
            judge(&runs[i]);
    }
    return good;
}

/* ---- the list --------------------------------------------------------------------------------- */

/* Requests per second that arrive: at the predicted rate, or at the rate of a trace of one's own. */
static double rate_of(const struct trial_run *run)
{
    return run->own_rate ? run->steady.rate : run->point.figures[PLAN_rate];
}

/* Requests per second for each GPU, or for each USD of rent where machines are compared; those at which a layout holds. */
static double worth_tried(const struct trial_run *run)
{
    const double *figures = run->point.figures;
    return rate_of(run) / (run->plan->by_cost ? figures[PLAN_rent] : figures[PLAN_deployment_chips]);
}

static double worth(const struct trial_run *run)
{
    return run->holds ? worth_tried(run) : 0;
}

static int by_worth(const void *x, const void *y)
{
    const struct trial_run *a = x, *b = y;
    return worth(a) != worth(b) ? (worth(a) > worth(b) ? -1 : 1) : a->place < b->place ? -1 : 1;
}

static const char *const time_keys[] = { "ttft_mean", "ttft_p99", "tpot_mean", "tpot_p99",
                                         "ttft_at_limit", "tpot_at_limit", "ttft_predicted", "tpot_predicted" };
enum { TIME_KEYS = sizeof time_keys / sizeof *time_keys };

static const struct record confidence_record = { "PlanConfidence", (const struct answer_field[]){
    { FIELD_NUMBER, .help = "half the width of its 95 % interval; null: not known", .unit = "s", .names = time_keys,
      .count = FIGURES_ALL, .always = true, .null = true },
    { 0 } } };
const struct record plan_validated = { "PlanValidated", (const struct answer_field[]){
    { FIELD_TEXT, "deployment", .help = "the deployment in words", .always = true },
    { FIELD_TEXTS, "words", .help = "words of the command that gives its figures again", .always = true },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_rate }, .count = 1, .always = true },   /* the highest at which it holds */
    { FIELD_NUMBER, "goodput_per_gpu", .help = "requests per second and GPU at which it is stable and within the limits; "
      "0: at none that was tried", .unit = "1/s", .always = true },
    { FIELD_NUMBER, "came", .help = "requests that arrived while they were counted", .unit = "1/s", .always = true,
      .null = true },
    { FIELD_NUMBER, .help = "mean or percentile, simulated; or predicted by the rows; null: not known", .unit = "s",
      .names = time_keys, .count = TIME_KEYS, .always = true, .null = true },
    { FIELD_SWITCH, "steady", .help = "the run was long enough for a steady state, and its queue does not grow",
      .always = true },
    { FIELD_TEXT, "reason", .help = "why it is not steady" },
    { FIELD_RECORD, "confidence", .help = "of the simulated figures", .record = &confidence_record, .always = true },
    { FIELD_TEXT, "verdict", .help = "stable, backlogged or overloaded; null: the run is too short to tell",
      .always = true, .null = true },
    { FIELD_NUMBER, "loads_above", .help = "higher loads that were tried and do not hold", .always = true },
    { FIELD_TEXT, "missed", .help = "the limit that it does not meet: TTFT, TPOT or stability" },
    { FIELD_NUMBER, "missed_value", .help = "simulated value of the missed limit; null: the queue grows", .unit = "s", .null = true },
    { FIELD_NUMBER, "missed_bound", .help = "that limit", .unit = "s", .null = true },
    { FIELD_TEXT_ONLY, .count = 6, .names = (const char *const[]){
          "ttft_half", "tpot_half", "ttft_tail", "tpot_tail", "ttft_beyond", "tpot_beyond" } },
    { 0 } } };

/* The percentile that the table has beside the mean. */
static const char *tail_name(struct arena *arena, double share)
{
    return arena_print(arena, "p%.6g", share > 0 ? 100 * share : 99);
}

static void add_run(struct plan *plan, const struct trial_run *run, struct section *list)
{
    const struct steady *steady = &run->steady;
    const double *figures = run->point.figures;
    struct scenario read = plan_read_scenario(plan, &run->point);
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    section_word(one, "deployment", plan_deployment(plan, &run->point));
    figures_words(&read, one);
    section_number(one, NAME_rate, rate_of(run), unit_one);
    section_number(one, "goodput_per_gpu", run->holds ? rate_of(run) / figures[PLAN_deployment_chips] : 0,
                   unit_one);
    section_number(one, "came", steady->rate > 0 ? steady->rate : NAN, unit_one);
    for (int k = 0; k < FIGURES_ALL; k++)
        section_number(one, time_keys[k], steady->at[k].value, unit_second);
    section_number(one, "ttft_predicted", figures[PLAN_ttft], unit_second);
    section_number(one, "tpot_predicted", figures[PLAN_tpot], unit_second);
    section_switch(one, "steady", steady->steady);
    if (!steady->steady)
        section_word(one, "reason", steady->why);
    struct section *confidence = section_add(one, "confidence", SECTION_RECORD);
    for (int k = 0; k < FIGURES_ALL; k++)
        section_number(confidence, time_keys[k], steady->at[k].half, unit_second);
    if (steady->verdict)
        section_word(one, "verdict", steady->verdict);
    else
        section_nothing(one, "verdict");
    section_number(one, "loads_above", run->tries, unit_one);
    section_word(one, "ttft_tail", tail_name(plan->arena, plan->ttft_share))->text_only = true;
    section_word(one, "tpot_tail", tail_name(plan->arena, plan->tpot_share))->text_only = true;
    section_number(one, "ttft_beyond", steady->at[plan->ttft_share > 0 ? TTFT_BOUND : TTFT_99].value, unit_second)
        ->text_only = true;
    section_number(one, "tpot_beyond", steady->at[plan->tpot_share > 0 ? TPOT_BOUND : TPOT_99].value, unit_second)
        ->text_only = true;
    section_number(one, "ttft_half", steady->at[TTFT_MEAN].half, unit_second)->text_only = true;
    section_number(one, "tpot_half", steady->at[TPOT_MEAN].half, unit_second)->text_only = true;
    if (run->holds || !run->missed)
        return;
    section_word(one, "missed", run->missed);
    section_number(one, "missed_value", run->value, unit_second);
    section_number(one, "missed_bound", run->bound, unit_second);
}

/* No row knows the limit: what is told beside the best are the loads that hold. */
static void keep_held(struct plan *plan, const struct trial_run *runs, size_t count)
{
    struct search_front *tops = &plan->result.tops, *front = &plan->result.front;
    tops->count = front->count = 0;
    front->points = arena_array(plan->arena, count, sizeof *front->points);
    plan->front = arena_array(plan->arena, count, sizeof *plan->front);
    for (size_t i = 0; i < count && runs[i].holds; i++) {
        struct search_point at = runs[i].point.at;
        at.speed = runs[i].point.figures[PLAN_speed_per_user];
        tops->points[tops->count++] = at;
        if (front->count && at.speed <= front->points[front->count - 1].speed)
            continue;
        plan->front[front->count] = runs[i].point;
        front->points[front->count++] = at;
    }
}

bool plan_validate(struct plan *plan, struct section *section)
{
    const struct search_front *tops = &plan->result.tops;
    const char *trace = command_text(plan->command, "traffic");
    const bool own_rate = trace && strcmp(trace, "poisson") && strcmp(trace, "constant");
    const size_t count = plan->validated < tops->count ? plan->validated : tops->count;
    struct trial_run *runs = arena_array(plan->arena, count, sizeof *runs);
    for (size_t i = 0; i < count; i++) {
        runs[i] = (struct trial_run){ .plan = plan, .place = i, .own_rate = own_rate, .pending = true };
        if (!plan_read_point(plan, &tops->points[i], &runs[i].point))
            return false;
    }
    size_t pending = count;
    for (int round = 0; pending; round++) {
        double best = 0;
        if (!run_round(plan, runs, count, trace))
            return false;
        for (size_t i = 0; i < count; i++)
            best = fmax(best, worth(&runs[i]));
        pending = 0;
        for (size_t i = 0; i < count && !own_rate; i++)
            pending += runs[i].pending = !runs[i].holds && (round < TRIES || worth_tried(&runs[i]) > best) &&
                                         lower(plan, &runs[i]);
    }
    qsort(runs, count, sizeof *runs, by_worth);
    struct section *list = section_add(section, "validated", SECTION_LIST);
    for (size_t i = 0; i < count; i++)
        add_run(plan, &runs[i], list);
    plan->best = runs[0].holds ? &runs[0].point : NULL;
    plan->best_binds = runs[0].binds;
    if (plan->tails && plan->best)
        keep_held(plan, runs, count);
    return true;
}
