/* The picture of `check`: predicted against measured values, a panel for each metric, both axes
 * logarithmic, with the line of equal values and the 80 % interval.
 *
 * The drawn interval is the median of the intervals of the points, since machines that nobody
 * measured have wider ones. */
#include "lab/check/check.h"
#include "report/picture.h"

#include <math.h>

static const char *const drawn_units[METRICS] = {
    [METRIC_TPOT] = "ms",            [METRIC_TTFT] = "s",          [METRIC_E2E] = "s",
    [METRIC_THROUGHPUT] = "token/s", [METRIC_PREFILL] = "token/s", [METRIC_DECODE] = "token/s",
    [METRIC_ENERGY] = "J/token",     [METRIC_KERNEL] = "us",       [METRIC_STEP] = "s",
};

struct scatter {
    struct arena *arena;
    const struct outcome *outcomes;
    size_t count;
};

static bool shows(const struct outcome *outcome, int metric)
{
    return !outcome->refused && (int)outcome->measured->metric == metric;
}

/* The middle of the bands' upper or lower ends, as shares of the prediction: bands are
 * one per metric, but wider for machines that nobody measured. */
static double band_edge(const struct scatter *scatter, int metric, bool high)
{
    double *shares = arena_array(scatter->arena, scatter->count, sizeof *shares);
    size_t count = 0;
    for (size_t i = 0; i < scatter->count; i++) {
        const struct prediction *predicted = &scatter->outcomes[i].predicted;
        if (shows(&scatter->outcomes[i], metric))
            shares[count++] = (high ? predicted->high : predicted->low) / predicted->value;
    }
    return sizes_quantile(shares, count, 0.5);
}

/* Equal values, and where a measurement lies inside the interval of its prediction: low <= measured /
 * predicted <= high, so predicted lies between measured / high and measured / low. */
static void add_diagonal(const struct scatter *scatter, int metric, struct picture *panel, double from,
                         double to)
{
    struct picture_line *line = picture_line_add(panel, "", PICTURE_RESULT, PICTURE_BOUND);
    const double low = band_edge(scatter, metric, false), high = band_edge(scatter, metric, true);
    for (int i = 0; i < 2; i++) {
        const double at = i ? to : from;
        picture_point_add(panel, line, at, at);
        if (low > 0 && high > 0)
            picture_band_add(panel, line, at, at / high, at / low);
    }
}

static void add_panel(const struct scatter *scatter, int metric, struct picture *picture, bool alone)
{
    struct picture *panel = alone ? picture : picture_panel(picture, metric_names[metric]);
    double scale = 1, from = INFINITY, to = 0;
    unit_scale(drawn_units[metric], &scale);
    for (size_t i = 0; i < scatter->count; i++) {
        const struct outcome *outcome = &scatter->outcomes[i];
        if (!shows(outcome, metric))
            continue;
        const double measured = outcome->measured->value / scale,
            predicted = outcome->predicted.value / scale;
        struct picture_dot *dot = picture_dot_add(panel, measured, predicted);
        dot->what = arena_print(scatter->arena, "%s on %s", outcome->point->model ? outcome->point->model
                                : "kernel",
                                outcome->point->machine);
        dot->source = outcome->point->source ? outcome->point->source : "";
        from = fmin(from, fmin(measured, predicted));
        to = fmax(to, fmax(measured, predicted));
    }
    panel->no_key = true;
    panel->x = (struct picture_axis){ alone ? arena_print(scatter->arena, "%s, measured",
                                                          metric_names[metric])
                                            : "measured", drawn_units[metric], true, false, from, to * 1.01 };
    panel->y = (struct picture_axis){ "predicted", drawn_units[metric], true, false, from, to * 1.01 };
    add_diagonal(scatter, metric, panel, from / 10, to * 10);
}

struct picture *scatter_picture(struct arena *arena, const struct outcome *outcomes, size_t count)
{
    const struct scatter scatter = { arena, outcomes, count };
    bool shown[METRICS] = { false };
    int panels = 0;
    for (int metric = 0; metric < METRICS; metric++) {
        for (size_t i = 0; i < count; i++)
            shown[metric] |= shows(&outcomes[i], metric);
        panels += shown[metric];
    }
    if (!panels)
        return NULL;
    struct picture *picture = picture_new(arena, "Predicted against measured values; they are equal on the "
                                                 "line, and the band is the middle 80 % interval");
    picture->columns = panels > 4 ? 3 : 2;
    for (int metric = 0; metric < METRICS; metric++)
        if (shown[metric])
            add_panel(&scatter, metric, picture, panels == 1);
    return picture;
}
