/* The picture of a plan: the front, servers that do both apart from pools. */
#include "ask/plan/plan.h"
#include "report/plot.h"

#include <string.h>

bool plan_plot(struct plan *plan, const char *path)
{
    struct buffer script = { .arena = plan->arena };
    const struct search_front *front = &plan->result.front;
    bool kinds[PLAN_KINDS] = { false };
    if (!plot_open(&script, path, 1000, 640, plan->error))
        return false;
    for (size_t i = 0; i < front->count; i++)
        kinds[plan->variants[front->points[i].space].kind] = true;
    buffer_print(&script, "%sset title %s noenhanced\nset key top right\n"
                 "set xlabel 'token/s per user'\nset ylabel 'token/s per GPU'\nset yrange [0:*]\n",
                 strcmp(path, "-") ? "set grid lt 1 lc rgb '#dddddd'\n" : "",
                 plot_quoted(plan->arena, arena_print(plan->arena, "%s on %s",
                                                      plan->variants->scenario.model,
                                                      plan->scope)));
    buffer_print(&script, "plot ");
    if (kinds[PLAN_TOGETHER])
        buffer_print(&script, "'-' with points pt 7 ps 0.6 lc rgb '#0072b2' title 'servers that "
                     "do both'%s", kinds[PLAN_POOLS] ? ", " : "");
    if (kinds[PLAN_POOLS])
        buffer_print(&script, "'-' with points pt 5 ps 0.6 lc rgb '#d55e00' title 'two pools'");
    buffer_print(&script, "\n");
    for (int kind = 0; kind < PLAN_KINDS; kind++)
        if (kinds[kind]) {
            for (size_t i = 0; i < front->count; i++)
                if (plan->variants[front->points[i].space].kind == (enum plan_kind)kind)
                    buffer_print(&script, "%.9g %.9g\n", plan->front[i].figures[PLAN_speed_per_user],
                                 plan->front[i].figures[PLAN_per_gpu]);
            buffer_print(&script, "e\n");
        }
    return plot_draw(&script, path, plan->error);
}
