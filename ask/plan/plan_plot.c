/* The picture of a plan: the front, with its intervals, and the limits as shaded edges. */
#include "ask/plan/plan.h"
#include "report/picture.h"

#include <math.h>

static const double wide_span = 50;

/* Deployments of one kind are a line: those in between are mixtures of both ends. */
static void add_kind(struct plan *plan, enum plan_kind kind, bool alone, struct picture *picture)
{
    const struct search_front *front = &plan->result.front;
    struct picture_line *line = picture_line_add(picture, kind == PLAN_POOLS ? "prefill and decode apart"
                                                          : alone ? "predicted" : "servers that do both",
                                                 PICTURE_RESULT, PICTURE_PREDICTED);
    line->scenario = kind == PLAN_POOLS && !alone;
    line->dots = true;
    for (size_t i = 0; i < front->count; i++) {
        const struct plan_point *point = &plan->front[i];
        const double *at = point->figures;
        if (plan->variants[point->at.space].kind != kind || !(at[PLAN_per_gpu] > 0))
            continue;
        picture_point_add(picture, line, at[PLAN_speed_per_user], at[PLAN_per_gpu]);
        if (isfinite(at[PLAN_throughput_low]) && at[PLAN_throughput_low] > 0)
            picture_band_add(picture, line, at[PLAN_speed_per_user],
                             at[PLAN_per_gpu] * at[PLAN_throughput_low],
                             at[PLAN_per_gpu] * at[PLAN_throughput_high]);
    }
}

/* What the limit of TPOT leaves out. */
static void add_limit(struct plan *plan, struct picture *picture)
{
    if (!(plan->tpot > 0) || !isfinite(plan->tpot))
        return;
    picture_area_add(picture, arena_print(plan->arena, "TPOT above %s",
                                          quantity_text(plan->arena, plan->tpot, unit_second, 3)))->to =
        1 / plan->tpot;
}

struct picture *plan_picture(struct plan *plan)
{
    const struct search_front *front = &plan->result.front;
    const struct plan_point *best = plan->front;
    bool kinds[PLAN_KINDS] = { false };
    double low = INFINITY, high = 0;
    if (!front->count)
        return NULL;
    struct picture *picture = picture_new(plan->arena, arena_print(plan->arena,
        "%s on %s: up to %s token/s per GPU, at %s token/s per user", plan->variants->scenario.model,
            plan->scope,
        quantity_text(plan->arena, best->figures[PLAN_per_gpu], unit_one, 3),
        quantity_text(plan->arena, best->figures[PLAN_speed_per_user], unit_one, 3)));
    for (size_t i = 0; i < front->count; i++) {
        const double *at = plan->front[i].figures;
        kinds[plan->variants[plan->front[i].at.space].kind] = true;
        low = fmin(low, fmin(at[PLAN_per_gpu], at[PLAN_speed_per_user]));
        high = fmax(high, fmax(at[PLAN_per_gpu], at[PLAN_speed_per_user]));
    }
    const bool log = low > 0 && high > wide_span * low;
    picture->x = (struct picture_axis){ "speed for each user", "token/s", log, false, NAN, NAN };
    picture->y = (struct picture_axis){ "throughput of a GPU", "token/s", log, false, NAN, NAN };
    for (int kind = 0; kind < PLAN_KINDS; kind++)
        if (kinds[kind])
            add_kind(plan, kind, !(kinds[PLAN_TOGETHER] && kinds[PLAN_POOLS]), picture);
    add_limit(plan, picture);
    picture_mark_add(picture, "the best", best->figures[PLAN_speed_per_user], best->figures[PLAN_per_gpu]);
    return picture;
}
