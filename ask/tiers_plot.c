/* The picture of `tiers`: cost of a pause against its length, both logarithmic. */
#include "ask/plot.h"
#include "ask/tiers.h"

#include <math.h>
#include <string.h>

struct view {
    double short_end, long_end;     /* pauses, s */
    double low, high;               /* costs, USD a million */
    bool terminal;
};

static const double million = 1e6;

static double cost_at(const struct places *places, size_t place, size_t point)
{
    return million * places->costs[place * places->points + point];
}

static double least_at(const struct places *places, size_t point)
{
    double least = cost_at(places, places->tiers, point);
    for (size_t i = 0; i < places->tiers; i++)
        least = fmin(least, cost_at(places, i, point));
    return least;
}

/* A decade beyond the first and last border, at least 1 s to a day. */
static struct view choose_view(const struct places *places, bool terminal)
{
    struct view view = { .short_end = 1, .long_end = 86400, .terminal = terminal };
    for (size_t i = 1; i < places->path_count; i++) {
        view.short_end = fmin(view.short_end, places->path[i].from);
        view.long_end = fmax(view.long_end, places->path[i].from);
    }
    view.short_end = fmax(view.short_end / 10, places->grid[1]);
    view.long_end = fmin(view.long_end * 10, places->longest);
    view.low = INFINITY;
    for (size_t k = 1; k < places->points; k++)
        if (places->grid[k] >= view.short_end && least_at(places, k) > 0)
            view.low = fmin(view.low, least_at(places, k));
    view.high = 5 * cost_at(places, places->tiers, 0);
    if (!(view.low < view.high))
        view.low = view.high / 1e6;
    return view;
}

static void plot_axes(const struct tiers_answer *tiers, const struct view *view,
                      struct buffer *script)
{
    static const struct { double at; const char *name; } marks[] = {
        { 1e-6, "1 us" }, { 1e-3, "1 ms" }, { 1e-2, "10 ms" }, { 0.1, "100 ms" }, { 1, "1 s" },
        { 10, "10 s" }, { 60, "1 min" }, { 600, "10 min" }, { 3600, "1 h" }, { 21600, "6 h" },
        { 86400, "1 d" }, { 864000, "10 d" }, { 8640000, "100 d" }, { 31536000e1, "10 years" } };
    buffer_print(script, "set title '%s, %s' noenhanced\nset logscale xy\n"
                 "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n"
                 "set xlabel 'pause of a conversation'\nset ylabel 'USD a million pauses'\n"
                 "set xtics nomirror (",
                 plot_quoted(tiers->scenario.arena, tiers_title(tiers)),
                 quantity_text(tiers->scenario.arena, tiers->whole[WHOLE_context],
                               (struct unit){ { 0, 0, 0, 2 } }, 9),
                 view->short_end, view->long_end, view->low / 2, view->high);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        buffer_print(script, "%s'%s' %.9g", i ? ", " : "", marks[i].name, marks[i].at);
    buffer_print(script, ")\n%s%s", view->terminal ? "set key outside bottom center maxrows 2\n"
                                                   : "set key outside right top Left reverse\n",
                 view->terminal ? "" : "set grid lt 1 lc rgb '#e5e5e5'\n"
                                       "set format y '10^{%T}'\n");
}

/* A line at each border, with its pause at the top. */
static void plot_borders(const struct tiers_answer *tiers, const struct view *view,
                         struct buffer *script)
{
    static const struct unit seconds = { { 2 } };
    const struct places *places = &tiers->places;
    for (size_t i = 1; i < places->path_count && !view->terminal; i++) {
        double at = places->path[i].from;
        buffer_print(script, "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead dt 2 "
                     "lc rgb '#888888'\nset label '%s' at %.9g, graph 0.03 offset 0.6,0 "
                     "tc rgb '#555555'\n", at, at,
                     quantity_text(tiers->scenario.arena, at, seconds, 3), at);
    }
}

/* Of a tier that is late, only its name: its line would be that of computing again. */
static bool is_late(const struct tiers_answer *tiers, size_t place)
{
    return place < tiers->places.tiers && tiers->tier[place].at[TIER_tier_fetch_time] >
                                          tiers->whole[WHOLE_resume_limit];
}

static void plot_lines(const struct tiers_answer *tiers, struct buffer *script)
{
    static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                           "#56b4e9" };
    enum { COLOURS = sizeof colours / sizeof *colours };
    const struct places *places = &tiers->places;
    buffer_print(script, "plot '-' with lines lw 9 lc rgb '#f0e060' title 'cheapest'");
    for (size_t i = 0; i <= places->tiers; i++) {
        const char *name = plot_quoted(tiers->scenario.arena, places->names[i]);
        if (is_late(tiers, i))
            buffer_print(script, ", NaN with lines lc rgb '#ffffff' title '%s: late' noenhanced",
                         name);
        else
            buffer_print(script, ", '-' with lines lw 2 lc rgb '%s' title '%s' noenhanced",
                         i < places->tiers ? colours[i % COLOURS] : "#000000", name);
    }
    buffer_print(script, "\n");
}

static void plot_points(const struct tiers_answer *tiers, const struct view *view,
                        struct buffer *script)
{
    enum { EVERY = 4 };
    const struct places *places = &tiers->places;
    for (size_t i = 0; i <= places->tiers + 1; i++) {
        bool least = i == 0;
        if (!least && is_late(tiers, i - 1))
            continue;
        for (size_t k = 1; k < places->points; k += EVERY) {
            double cost = least ? least_at(places, k) : cost_at(places, i - 1, k);
            if (places->grid[k] >= view->short_end / 2 && places->grid[k] <= view->long_end * 2 &&
                cost > 0)
                buffer_print(script, "%.9g %.9g\n", places->grid[k], cost);
        }
        buffer_print(script, "e\n");
    }
}

bool tiers_plot(struct tiers_answer *tiers, const char *path, struct error *error)
{
    struct buffer script = { .arena = tiers->scenario.arena };
    struct view view = choose_view(&tiers->places, !strcmp(path, "-"));
    if (!plot_open(&script, path, 1000, 640, error))
        return false;
    plot_axes(tiers, &view, &script);
    plot_borders(tiers, &view, &script);
    plot_lines(tiers, &script);
    plot_points(tiers, &view, &script);
    return plot_draw(&script, path, error);
}
