/* The picture of a curve: lines over a row, bars over names; a panel for each unit.
 *
 * An axis of values is logarithmic where they span more than a factor of 50, and so is a row whose points are
 * spaced so. Values are drawn in the unit that their largest likes best. */
#include "ask/curve/curve.h"

#include <math.h>
#include <string.h>

static const double wide_span = 50, log_spaced = 8;

/* The unit that values are drawn in: its name and its scale. */
static const char *drawn_unit(struct curve *curve, const double *values, struct unit unit, double *scale)
{
    double largest = 0;
    for (size_t i = 0; i < curve->points; i++)
        if (isfinite(values[i]))
            largest = fmax(largest, fabs(values[i]));
    const char *name = strchr(quantity_text(curve->arena, largest, unit, 3), ' ');
    *scale = 1;
    return name && unit_scale(name + 1, scale) ? name + 1 : "";
}

/* The first of the quantities with this unit has its scale for all of them. */
static double common_scale(struct curve *curve, size_t first, const char **name)
{
    double scale = 1, most = 0;
    *name = "";
    for (size_t j = first; j < curve->quantity_count; j++) {
        double one, largest = 0;
        if (!unit_same(curve->units[j], curve->units[first]))
            continue;
        const char *unit = drawn_unit(curve, curve->y[j], curve->units[j], &one);
        for (size_t i = 0; i < curve->points; i++)
            if (isfinite(curve->y[j][i]))
                largest = fmax(largest, fabs(curve->y[j][i]));
        if (largest > most || !*name) {
            most = largest;
            scale = one;
            *name = unit;
        }
    }
    return scale;
}

/* Do the values with this unit span enough for a logarithmic axis? */
static bool spans_much(const struct curve *curve, size_t first)
{
    double low = INFINITY, high = 0;
    for (size_t j = first; j < curve->quantity_count; j++)
        for (size_t i = 0; i < curve->points && unit_same(curve->units[j], curve->units[first]); i++) {
            if (isfinite(curve->y[j][i]))
                low = fmin(low, curve->y[j][i]);
            high = fmax(high, isfinite(curve->y[j][i]) ? curve->y[j][i] : 0);
        }
    return low > 0 && high > wide_span * low;
}

static bool first_of_its_unit(const struct curve *curve, size_t quantity)
{
    for (size_t j = 0; j < quantity; j++)
        if (unit_same(curve->units[j], curve->units[quantity]))
            return false;
    return true;
}

/* Quantities of one kind in one picture are told apart as scenarios are, by their dashes. */
static unsigned dash_of(const struct curve *curve, size_t quantity)
{
    unsigned before = 0;
    for (size_t j = 0; j < quantity; j++)
        before += picture_kind_of(curve->quantities[j]) == picture_kind_of(curve->quantities[quantity]) &&
                  unit_same(curve->units[j], curve->units[quantity]);
    return before % PICTURE_SCENARIOS;
}

static void add_lines(struct curve *curve, size_t first, struct picture *picture)
{
    double scale, x_scale;
    const double low = curve->x[0], high = curve->x[curve->points - 1];
    const char *unit = drawn_unit(curve, curve->x, curve->x_unit, &x_scale);
    picture->x = (struct picture_axis){ curve->axis.name, unit, low > 0 && high > log_spaced * low, false,
                                        low / x_scale, high / x_scale };
    if (!(low < high))
        picture->x.from = picture->x.to = NAN;
    scale = common_scale(curve, first, &picture->y.unit);
    picture->y.log = spans_much(curve, first);
    for (size_t j = first; j < curve->quantity_count; j++) {
        if (!unit_same(curve->units[j], curve->units[first]))
            continue;
        struct picture_line *line = picture_line_add(picture, curve->quantities[j],
                                                     picture_kind_of(curve->quantities[j]), PICTURE_TERM);
        line->scenario = dash_of(curve, j);
        for (size_t i = 0; i < curve->points; i++)
            picture_point_add(picture, line, curve->x[i] / x_scale, curve->y[j][i] / scale);
    }
    picture->y.name = picture->line_count == 1 ? curve->quantities[first] : "";
    if (!*picture->y.name && !*picture->y.unit)
        picture->y.name = "value";
}

static void add_bars(struct curve *curve, size_t quantity, struct picture *picture)
{
    double scale;
    picture->x.name = curve->quantities[quantity];
    picture->x.unit = drawn_unit(curve, curve->y[quantity], curve->units[quantity], &scale);
    for (size_t i = 0; i < curve->points; i++) {
        const double value = curve->y[quantity][i];
        struct picture_bar *bar = picture_bar_add(picture, curve->labels[i]);
        bar->total = true;
        bar->text = isfinite(value) ? quantity_text(curve->arena, value, curve->units[quantity], 3) : "none";
        if (isfinite(value))
            picture_part_add(picture, bar, picture_kind_of(curve->quantities[quantity]), value / scale);
    }
}

static const char *title_of(struct curve *curve)
{
    const struct scenario *notes = curve->notes;
    struct buffer out = { .arena = curve->arena };
    for (size_t j = 0; j < curve->quantity_count; j++)
        buffer_print(&out, "%s%s", j ? j + 1 < curve->quantity_count ? ", " : " and " : "",
                     curve->quantities[j]);
    buffer_print(&out, " by %s", curve->axis.named && !strcmp(curve->axis.name, "on") ? "machine"
                 : curve->axis.name);
    if (notes && notes->model)
        buffer_print(&out, ": %s%s%s", notes->model, notes->machine ? " on " : "",
                     notes->machine ? notes->machine : "");
    return out.data;
}

struct picture *curve_picture(struct curve *curve)
{
    struct picture *picture = picture_new(curve->arena, title_of(curve));
    size_t panels = 0;
    for (size_t j = 0; j < curve->quantity_count; j++)
        panels += curve->axis.named || first_of_its_unit(curve, j);
    for (size_t j = 0; j < curve->quantity_count; j++) {
        if (!curve->axis.named && !first_of_its_unit(curve, j))
            continue;
        struct picture *panel = panels > 1 ? picture_panel(picture, "") : picture;
        if (curve->axis.named)
            add_bars(curve, j, panel);
        else
            add_lines(curve, j, panel);
    }
    return picture;
}
