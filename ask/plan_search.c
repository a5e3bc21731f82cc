/* The search of a plan: whole, or in parts. */
#include "ask/plan.h"

static bool run_whole(struct plan *plan)
{
    return search_run(plan->arena, plan->spaces, plan->count, &plan->searches->result,
                      plan->error);
}

bool plan_search(struct plan *plan)
{
    plan->searches = arena_array(plan->arena, 1, sizeof *plan->searches);
    *plan->searches = (struct plan_search){ .spaces = plan->spaces };
    plan->search_count = 1;
    if (!(plan_parts_given(plan) ? plan_parts_run(plan) : run_whole(plan)))
        return false;
    plan->result = plan->searches->result;
    return true;
}
