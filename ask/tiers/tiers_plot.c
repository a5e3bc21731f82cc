/* The plot of `tiers`: cost of a pause by its length, both axes logarithmic.
 *
 * The range covers all pauses at which the cheapest place changes, with at least 100 ms to a
 * month. The lower envelope is drawn under the curves of a picture, and over those of a terminal
 * plot. Curves that would coincide with recomputation, or that are zero everywhere, are left out. */
#include "report/plot.h"
#include "ask/tiers/tiers.h"

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

/* Some way beyond the first and last border, at least 100 ms to a month. */
static struct view choose_view(const struct places *places, bool terminal)
{
    struct view view = { .short_end = 1, .long_end = 86400, .terminal = terminal };
    for (size_t i = 1; i < places->path_count; i++) {
        view.short_end = fmin(view.short_end, places->path[i].from);
        view.long_end = fmax(view.long_end, places->path[i].from);
    }
    view.short_end = fmax(view.short_end / 10, places->grid[1]);
    view.long_end = fmin(view.long_end * 30, places->longest);
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
    static const struct { const char *name; double at; bool wide; } marks[] = {
        { "1 us", 1e-6, false },   { "1 ms", 1e-3, false },   { "10 ms", 1e-2, true },
        { "100 ms", 0.1, false },  { "1 s", 1, true },        { "10 s", 10, false },
        { "1 min", 60, false },    { "10 min", 600, true },   { "1 h", 3600, false },
        { "6 h", 21600, true },    { "1 d", 86400, false },   { "10 d", 864000, true },
        { "100 d", 8640000, false }, { "10 years", 315360000, false } };
    struct arena *arena = tiers->scenario.arena;
    buffer_print(script, "set title %s noenhanced%s\nset logscale xy\n"
                 "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n"
                 "set xlabel 'pause of a conversation'\nset ylabel 'USD per million pauses'\n"
                 "set xtics nomirror (",
                 plot_quoted(arena, arena_print(arena, "%s, %s tokens", tiers_title(tiers),
                                                quantity_text(arena, tiers->whole[WHOLE_context],
                                                              unit_one, 9))),
                 view->terminal ? "" : " offset 0,1",
                 view->short_end, view->long_end, view->low / 2, view->high);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        buffer_print(script, "%s'%s' %.9g", i ? ", " : "",
                     view->terminal && marks[i].wide ? "" : marks[i].name, marks[i].at);
    buffer_print(script, ")\n%s%s", view->terminal ? "set key outside bottom center maxrows 2\n"
                                                   : "set key outside right top Left reverse\n",
                 view->terminal ? "" : "set grid lt 1 lc rgb '#e5e5e5'\n"
                                       "set format y '10^{%T}'\n");
}

/* A line at each border with its pause, and between two of them the place. */
static void plot_borders(const struct tiers_answer *tiers, const struct view *view,
                         struct buffer *script)
{
    const struct places *places = &tiers->places;
    for (size_t i = 0; i < places->path_count && !view->terminal; i++) {
        const struct stretch *stretch = &places->path[i];
        double from = fmax(stretch->from, view->short_end), until = fmin(stretch->until,
                                                                         view->long_end);
        buffer_print(script, "set label %s at %.9g, graph 1.025 center noenhanced\n",
                     plot_quoted(tiers->scenario.arena, places->names[stretch->place]),
                     log_between(from, until, 0.5));
        if (i)
            buffer_print(script, "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead dt 2 "
                         "lc rgb '#888888'\nset label '%s' at %.9g, graph 0.03 offset 0.6,0 "
                         "tc rgb '#555555'\n", from, from,
                         quantity_text(tiers->scenario.arena, from, unit_second, 3), from);
    }
}

/* The line of a tier that is late would be that of computing again; on a logarithmic axis
 * nothing has no line. */
static bool is_drawn(const struct tiers_answer *tiers, size_t place)
{
    const struct places *places = &tiers->places;
    return !tiers_late(tiers, place) && cost_at(places, place, places->points - 1) > 0;
}

static void plot_points(const struct tiers_answer *tiers, const struct view *view, bool least,
                        size_t place, struct buffer *script)
{
    enum { EVERY = 4 };
    const struct places *places = &tiers->places;
    for (size_t k = 1; k < places->points; k += EVERY) {
        double cost = least ? least_at(places, k) : cost_at(places, place, k);
        if (places->grid[k] >= view->short_end / 2 && places->grid[k] <= view->long_end * 2 &&
            cost > 0)
            buffer_print(script, "%.9g %.9g\n", places->grid[k], cost);
    }
    buffer_print(script, "e\n");
}

/* A line for each place and one for the cheapest, which lies under the lines of a picture, and over the
 * characters of a terminal. */
static void plot_all(const struct tiers_answer *tiers, const struct view *view,
                     struct buffer *script)
{
    static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                           "#56b4e9" };
    enum { COLOURS = sizeof colours / sizeof *colours };
    struct arena *arena = tiers->scenario.arena;
    const size_t count = tiers->places.tiers + 1;
    const bool free = !(least_at(&tiers->places, tiers->places.points - 1) > 0);
    const char *cheapest = free ? "NaN with lines lc rgb '#ffffff' title 'cheapest: free'"
                                : "'-' with lines lw 9 lc rgb '#f0e060' title 'cheapest'";
    buffer_print(script, "plot %s", view->terminal ? "" : cheapest);
    for (size_t i = 0; i < count; i++) {
        const char *name = tiers->places.names[i];
        buffer_print(script, "%s", i || !view->terminal ? ", " : "");
        if (is_drawn(tiers, i))
            buffer_print(script, "'-' with lines lw 2 lc rgb '%s' title %s noenhanced",
                         i < tiers->places.tiers ? colours[i % COLOURS] : "#000000",
                         plot_quoted(arena, name));
        else
            buffer_print(script, "NaN with lines lc rgb '#ffffff' title %s noenhanced", plot_quoted(
                arena, arena_print(arena, "%s: %s", name, tiers_late(tiers, i) ? "late" : "free")));
    }
    buffer_print(script, "%s%s\n", view->terminal ? ", " : "", view->terminal ? cheapest : "");
    if (!view->terminal && !free)
        plot_points(tiers, view, true, 0, script);
    for (size_t i = 0; i < count; i++)
        if (is_drawn(tiers, i))
            plot_points(tiers, view, false, i, script);
    if (view->terminal && !free)
        plot_points(tiers, view, true, 0, script);
}

bool tiers_plot(struct tiers_answer *tiers, const char *path, struct error *error)
{
    struct buffer script = { .arena = tiers->scenario.arena };
    struct view view = choose_view(&tiers->places, !strcmp(path, "-"));
    if (!plot_open(&script, path, 1000, 640, error))
        return false;
    plot_axes(tiers, &view, &script);
    plot_borders(tiers, &view, &script);
    plot_all(tiers, &view, &script);
    return plot_draw(&script, path, error);
}
