/* The picture of `tiers`: cost of a pause by its length, both axes logarithmic, the cheapest place of each
 * stretch above it, the borders marked.
 *
 * The range covers all pauses at which the cheapest place changes, with at least 100 ms to a day. Places
 * that would coincide with recomputation, or that are zero everywhere, have no line. */
#include "ask/tiers/tiers.h"
#include "report/picture.h"

#include <math.h>

struct view {
    double short_end, long_end;     /* pauses, s */
    double low, high;               /* costs, USD a million */
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

/* Some way beyond the first and last border. */
static struct view choose_view(const struct places *places)
{
    struct view view = { .short_end = 1, .long_end = 86400 };
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

/* The line of a tier that is late would be that of computing again; on a logarithmic axis
 * nothing has no line. */
static bool is_drawn(const struct tiers_answer *tiers, size_t place)
{
    const struct places *places = &tiers->places;
    return !tiers_late(tiers, place) && cost_at(places, place, places->points - 1) > 0;
}

/* Where the cheapest place changes, with its cost there. */
static void add_borders(const struct tiers_answer *tiers, struct picture *picture)
{
    struct arena *arena = tiers->scenario.arena;
    const struct places *places = &tiers->places;
    for (size_t i = 0; i < places->path_count; i++) {
        const struct stretch *stretch = &places->path[i];
        struct picture_area *area = picture_area_add(picture, places->names[stretch->place]);
        if (i)
            area->from = stretch->from;
        if (i + 1 < places->path_count)
            area->to = stretch->until;
        size_t k = 1;
        while (k + 1 < places->points && places->grid[k] < stretch->from)
            k++;
        if (i && least_at(places, k) > 0)
            picture_mark_add(picture, quantity_text(arena, stretch->from, unit_second, 3), stretch->from,
                             least_at(places, k));
    }
}

/* From near to far: the shades of a cache. */
static void add_place(const struct tiers_answer *tiers, const struct view *view, size_t place,
                      struct picture *picture)
{
    enum { EVERY = 4 };
    const struct places *places = &tiers->places;
    const bool again = place == places->tiers;
    struct picture_line *line = picture_line_add(picture, again ? "computing it again" : places->names[place],
                                                 again ? PICTURE_COMPUTE : PICTURE_CACHE, PICTURE_TERM);
    line->shade = again ? 0 : (unsigned)(place < PICTURE_SHADES ? place : PICTURE_SHADES - 1);
    for (size_t k = 1; k < places->points; k += EVERY) {
        const double cost = cost_at(places, place, k);
        if (places->grid[k] >= view->short_end / 2 && places->grid[k] <= view->long_end * 2 && cost > 0)
            picture_point_add(picture, line, places->grid[k], cost);
    }
}

/* "until 10.8 ms hbm, until 33.2 min ddr, then recompute" */
static const char *path_words(const struct tiers_answer *tiers)
{
    struct arena *arena = tiers->scenario.arena;
    const struct places *places = &tiers->places;
    struct buffer out = { .arena = arena };
    buffer_add(&out, "", 0);
    for (size_t i = 0; i < places->path_count; i++) {
        const struct stretch *stretch = &places->path[i];
        const char *name = places->names[stretch->place];
        if (i + 1 < places->path_count)
            buffer_print(&out, "%s until %s, ", name, quantity_text(arena, stretch->until, unit_second, 3));
        else
            buffer_print(&out, i ? "then %s" : "always %s", name);
    }
    return out.data;
}

struct picture *tiers_picture(const struct tiers_answer *tiers)
{
    struct arena *arena = tiers->scenario.arena;
    const struct view view = choose_view(&tiers->places);
    const char *title = arena_print(arena, "What a pause of %s tokens of %s costs: %s",
                                    quantity_text(arena, tiers->whole[WHOLE_context], unit_one, 9),
                                    tiers_title(tiers), path_words(tiers));
    struct picture *picture = picture_new(arena, title);
    picture->x = (struct picture_axis){ "pause of a conversation", "s", true, true, view.short_end,
                                        view.long_end };
    picture->y = (struct picture_axis){ "cost of a million such pauses", "USD", true, false, view.low / 2,
                                        view.high };
    add_borders(tiers, picture);
    for (size_t i = 0; i <= tiers->places.tiers; i++)
        if (is_drawn(tiers, i))
            add_place(tiers, &view, i, picture);
    return picture;
}
