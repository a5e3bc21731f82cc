/* The searches of a plan: what was asked, and the same with one limit a quarter wider each. */
#include "ask/plan.h"

#include <math.h>
#include <string.h>

static void add_search(struct plan *plan, const struct search_space *spaces, size_t limit)
{
    *(struct plan_search *)arena_push(plan->arena, &plan->searches, &plan->search_count,
                                      &plan->search_room, sizeof *plan->searches) =
        (struct plan_search){ .spaces = spaces, .limit = limit };
}

static const struct search_space *wider(const struct plan *plan, size_t limit, double times)
{
    struct search_space *spaces = arena_array(plan->arena, plan->count, sizeof *spaces);
    memcpy(spaces, plan->spaces, plan->count * sizeof *spaces);
    for (size_t s = 0; s < plan->count; s++) {
        struct search_limit *limits = arena_array(plan->arena, SEARCH_LIMITS, sizeof *limits);
        memcpy(limits, spaces[s].limits, spaces[s].limit_count * sizeof *limits);
        limits[limit].bound *= times;
        spaces[s].limits = limits;
    }
    return spaces;
}

static void list_searches(struct plan *plan)
{
    static const double times = 1.25;
    add_search(plan, plan->spaces, 0);
    for (size_t l = 0; l < plan->spaces->limit_count; l++) {
        const struct search_limit *limit = &plan->spaces->limits[l];
        bool time = !strcmp(limit->name, "TTFT") || !strcmp(limit->name, "TPOT");
        if (time && isfinite(limit->bound))
            add_search(plan, wider(plan, l, times), l);
    }
}

/* Without a front there is nothing to be moved. */
static bool run_whole(struct plan *plan)
{
    for (size_t i = 0; i < plan->search_count; i++) {
        struct plan_search *search = &plan->searches[i];
        if (!search_run(plan->arena, search->spaces, plan->count, &search->result, plan->error))
            return false;
        if (!plan->searches->result.front.count)
            break;
    }
    return true;
}

bool plan_search(struct plan *plan)
{
    list_searches(plan);
    if (!(plan_parts_given(plan) ? plan_parts_run(plan) : run_whole(plan)))
        return false;
    plan->result = plan->searches->result;
    return true;
}
