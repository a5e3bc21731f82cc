/* plan --emit: which point of the front is started, and its scenario for ask/launch. */
#include "ask/launch/launch.h"
#include "ask/plan/plan.h"

#include "build/row_names.h"

#include <math.h>

/* ---- options ----------------------------------------------------------------------------- */

static bool speed_asked(const char *text, struct quantity *speed, struct error *error)
{
    struct unit unit;
    double scale;
    if (!unit_parse(text_of("token/s"), &unit, &scale, error))
        return false;
    if (quantity_parse(text_of(text), unit, speed, error) && speed->spread == SPREAD_NONE &&
        speed->value > 0)
        return true;
    error_set(error, "--pick: '%.60s' is no speed", text);
    return error_hint(error, "tokens a second of a user, as the first column of the table has "
                      "them: 80");
}

bool plan_emit_asked(const struct question *question, struct error *error)
{
    const char *name = question->option[OPTION_EMIT], *pick = question->option[OPTION_PICK];
    struct quantity speed;
    if (!name && pick) {
        error_set(error, "--pick without --emit");
        return error_hint(error, "--emit vllm --pick %.60s", pick);
    }
    if (name && question->option[OPTION_CSV]) {
        error_set(error, "--csv and --emit are both given");
        return error_hint(error, "--csv for the table, --emit for the commands, --json for both");
    }
    return (!name || emit_known(name, error)) && (!pick || speed_asked(pick, &speed, error));
}

/* ---- the point --------------------------------------------------------------------------- */

/* Of the front the best, or that whose speed is nearest. */
static bool choose_point(struct plan *plan, size_t *chosen)
{
    const char *pick = plan->question->option[OPTION_PICK];
    const struct search_front *front = &plan->result.front;
    struct quantity speed;
    *chosen = 0;
    if (pick && !speed_asked(pick, &speed, plan->error))
        return false;
    for (size_t i = 1; pick && i < front->count; i++)
        if (fabs(log(front->points[i].across / speed.value)) <
            fabs(log(front->points[*chosen].across / speed.value)))
            *chosen = i;
    return true;
}

static bool launch_point(struct plan *plan, size_t at, struct launch *launch)
{
    struct plan_point point;
    if (!plan_tell(plan, &plan->result.front.points[at], &point))
        return false;
    const struct variant *variant = &plan->variants[point.at.space];
    const double copies = point.figures[PLAN_replicas];
    *launch = (struct launch){
        .scenario = plan_scenario(plan, &point.at), .model = plan->model,
        .machine = variant->machine, .weights = variant->precision,
        .experts = plan->question->option[OPTION_EXPERTS], .cache = variant->kv,
        .title = plan_deployment(plan, &point), .gpus = plan->gpus,
        .predicted = arena_print(plan->arena, "%s a GPU, %s a user, TTFT %s, TPOT %s",
                                 plan_text(plan, &point, PLAN_per_gpu, 4),
                                 plan_text(plan, &point, PLAN_speed_per_user, 3),
                                 plan_text(plan, &point, PLAN_ttft, 3),
                                 plan_text(plan, &point, PLAN_tpot, 3)) };
    if (variant->kind == PLAN_TOGETHER) {
        launch->count[EMIT_TOGETHER] = copies;
    } else {
        launch->count[EMIT_PREFILL] = copies * plan_input(plan, &point.at, NAME_prefill_workers);
        launch->count[EMIT_DECODE] = copies * plan_input(plan, &point.at, NAME_decode_workers);
    }
    return true;
}

/* "--pick 101.3 for 4 x TP 8, 14 at once, or ": the nearest of the front that it can run. */
static const char *other_point(struct plan *plan, const struct emit *emit, size_t from)
{
    enum { TRIES = 100 };
    const struct search_front *front = &plan->result.front;
    const char *reason, *way_out;
    for (size_t n = 2; n < 2 * TRIES; n++) {
        const size_t far = n / 2, at = n % 2 ? from - far : from + far;
        struct emit other = *emit;
        struct launch launch;
        if (n % 2 ? far > from : at >= front->count)
            continue;
        if (!launch_point(plan, at, &launch) ||
            !emit_take(&other, &launch, &reason, &way_out, plan->error))
            return "";
        if (!reason)
            return arena_print(plan->arena, "--pick %.6g for %s, or ", front->points[at].across,
                               launch.title);
    }
    return "";
}

static bool can_run(struct plan *plan, const struct emit *emit, size_t at, const char *reason,
                    const char *way_out)
{
    if (!reason)
        return true;
    error_set(plan->error, "--emit: %s cannot run %s: %s", emit->title, emit->launch->title,
              reason);
    return error_hint(plan->error, "%s%s", other_point(plan, emit, at), way_out);
}

/* ---- answer ------------------------------------------------------------------------------ */

/* Where nothing is feasible what was said stays, as comments: it may go to a shell. */
static bool comment_all(struct plan *plan)
{
    struct buffer out = { .arena = plan->arena };
    struct text rest = { plan->answer->text.data, plan->answer->text.size };
    while (rest.size) {
        struct text line = text_line(&rest);
        emit_comment(&out, "%.*s", (int)line.size, line.data);
    }
    plan->answer->text = out;
    return true;
}

bool plan_emit(struct plan *plan)
{
    const char *const *option = plan->question->option;
    struct buffer out = { .arena = plan->arena };
    const char *reason, *way_out;
    struct launch launch;
    struct emit emit;
    size_t at;
    if (!plan->result.front.count)
        return comment_all(plan);
    if (!choose_point(plan, &at) || !launch_point(plan, at, &launch) ||
        !emit_open(&emit, plan->arena, &launch, option[OPTION_EMIT], option[OPTION_ENGINE],
                   plan->error) ||
        !emit_take(&emit, &launch, &reason, &way_out, plan->error) ||
        !can_run(plan, &emit, at, reason, way_out))
        return false;
    struct doc *doc = doc_add(plan->arena, plan->answer->doc, "emit", DOC_OBJECT);
    if (!emit_write(&emit, &out, doc, plan->error))
        return false;
    plan->answer->text = out;
    return true;
}
