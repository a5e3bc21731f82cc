/* plan --emit: chooses a point of the front and makes the scenario from which deploy/launch writes
 * commands or manifests.
 *
 * The point is the best one, or the one whose speed is closest to --pick. If the engine cannot run
 * it, the answer names the nearest point that it can. Where nothing is feasible the text becomes
 * comments, since it may be piped into a shell. */
#include "deploy/launch/launch.h"
#include "ask/plan/plan.h"

#include "build/row_names.h"

#include <math.h>

bool plan_emit_asked(const struct command *command, struct error *error)
{
    const bool emit = command_given(command, "emit");
    if (!emit && command_given(command, "pick")) {
        error_set(error, "--pick without --emit");
        return error_expected(error, "--emit vllm --pick %.60s", command_text(command, "pick"));
    }
    if (emit && command_given(command, "csv")) {
        error_set(error, "--csv and --emit exclude each other");
        return error_expected(error, "--csv for the table, --emit for the commands, --json for both");
    }
    return true;
}

/* ---- the point --------------------------------------------------------------------------- */

static bool launch_point(struct plan *plan, const struct search_point *at, struct deployment *deployment)
{
    struct plan_point point;
    if (!plan_read_point(plan, at, &point))
        return false;
    const struct variant *variant = &plan->variants[point.at.space];
    const double copies = point.figures[PLAN_replicas];
    *deployment = (struct deployment){
        .scenario = plan_scenario(plan, &point.at), .model = plan->model,
        .machine = variant->machine, .weights = variant->precision,
        .experts = command_text(plan->command, "experts-precision"), .cache = variant->kv,
        .title = plan_deployment(plan, &point),
        .searched = true, .any_layout = command_given(plan->command, "any-layout"),
        .load = plan_load(plan, &point), .gpus = plan->alone ? point.figures[PLAN_deployment_chips] : plan->gpus,
        .predicted = arena_print(plan->arena, "%s per GPU, %s per user, TTFT %s, TPOT %s",
                                 plan_text(plan, &point, PLAN_per_gpu, 4),
                                 plan_text(plan, &point, PLAN_speed_per_user, 3),
                                 plan_text(plan, &point, PLAN_ttft, 3),
                                 plan_text(plan, &point, PLAN_tpot, 3)) };
    if (variant->kind == PLAN_TOGETHER) {
        deployment->count[LAUNCH_TOGETHER] = copies;
    } else {
        deployment->count[LAUNCH_PREFILL] = copies * plan_input(plan, &point.at, NAME_prefill_workers);
        deployment->count[LAUNCH_DECODE] = copies * plan_input(plan, &point.at, NAME_decode_workers);
    }
    return true;
}

/* "--pick 101.3 for 4 x TP 8, 14 running, or ": the nearest of the front that it can run. */
static const char *other_point(struct plan *plan, const struct launch *launch, size_t from)
{
    enum { TRIES = 100 };
    const struct search_front *front = &plan->result.front;
    for (size_t n = 2; n < 2 * TRIES; n++) {
        const size_t far = n / 2, at = n % 2 ? from - far : from + far;
        struct launch other = *launch;
        struct deployment deployment;
        if (n % 2 ? far > from : at >= front->count)
            continue;
        if (!launch_point(plan, &front->points[at], &deployment) ||
            !launch_take(&other, &deployment, plan->error))
            return "";
        if (!other.reason)
            return arena_print(plan->arena, "--pick %.6g for %s, or ", front->points[at].speed,
                               deployment.title);
    }
    return "";
}

/* ---- answer ------------------------------------------------------------------------------ */

/* Where nothing is feasible the answer stays, as comments, since it may go to a shell. */
static void comment_answer(struct plan *plan)
{
    struct buffer out = { .arena = plan->arena };
    struct text rest = { plan->answer->text.data, plan->answer->text.size };
    while (rest.size) {
        struct text line = text_line(&rest);
        launch_comment(&out, "%.*s", (int)line.size, line.data);
    }
    plan->answer->text = out;
}

bool plan_emit(struct plan *plan)
{
    const struct search_front *front = &plan->result.front;
    const double speed = command_number(plan->command, "pick");
    struct deployment deployment;
    struct launch launch;
    if (!front->count || !plan->best) {
        comment_answer(plan);
        return true;
    }
    size_t at = 0;                      /* the best, or the one whose speed is nearest to --pick */
    for (size_t i = 1; !isnan(speed) && i < front->count; i++)
        if (fabs(log(front->points[i].speed / speed)) < fabs(log(front->points[at].speed / speed)))
            at = i;
    if (!launch_point(plan, isnan(speed) ? &plan->best->at : &front->points[at], &deployment) ||
        !launch_open(&launch, plan->arena, &deployment, command_text(plan->command, "emit"),
                     plan->subject.engine, plan->error))
        return false;
    const char *other = launch.reason ? other_point(plan, &launch, at) : "";
    return launch_runs(&launch, other, plan->error) && launch_print(&launch, plan->answer, plan->error);
}
