/* The plot of `check`: predicted against measured values, one panel per metric, both axes
 * logarithmic, with the diagonal and the 80 % interval.
 *
 * The drawn interval is the median of the intervals of the points, since machines that nobody
 * measured have wider ones. Panels are side by side in a picture, and one after the other on a
 * terminal. */
#include "report/plot.h"
#include "score/score.h"

#include <math.h>
#include <string.h>

enum { PANEL = 400 };               /* pixels, both ways */

static const char *const drawn_units[METRICS] = {
    [METRIC_TPOT] = "ms",            [METRIC_TTFT] = "s",          [METRIC_E2E] = "s",
    [METRIC_THROUGHPUT] = "token/s", [METRIC_PREFILL] = "token/s", [METRIC_DECODE] = "token/s",
    [METRIC_ENERGY] = "J/token",     [METRIC_KERNEL] = "us",       [METRIC_STEP] = "s",
};

struct scatter {
    struct arena *arena;
    struct buffer script;
    const struct outcome *outcomes;
    size_t count;
    bool terminal;
};

static bool shows(const struct outcome *outcome, int metric)
{
    return !outcome->refused && (int)outcome->measured->metric == metric;
}

/* The middle of the bands' upper or lower ends, as shares of the prediction: bands are
 * one per metric, but wider for machines that nobody measured. */
static double band_edge(struct scatter *scatter, int metric, bool high)
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

static void panel_range(struct scatter *scatter, int metric, double scale)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < scatter->count; i++) {
        const struct outcome *outcome = &scatter->outcomes[i];
        if (!shows(outcome, metric))
            continue;
        low = fmin(low, fmin(outcome->measured->value, outcome->predicted.value));
        high = fmax(high, fmax(outcome->measured->value, outcome->predicted.value));
    }
    buffer_print(&scatter->script, "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n",
                 low / scale / 1.3, high / scale * 1.3, low / scale / 1.3, high / scale * 1.3);
}

static void panel(struct scatter *scatter, int metric)
{
    struct buffer *script = &scatter->script;
    double scale = 1, low = band_edge(scatter, metric, false),
           high = band_edge(scatter, metric, true);
    unit_scale(drawn_units[metric], &scale);
    panel_range(scatter, metric, scale);
    buffer_print(script, "set title '%s, %s' noenhanced\n", metric_names[metric],
                 drawn_units[metric]);
    if (scatter->terminal)
        buffer_print(script, "plot x with dots, '-' using 1:2 with points pt 'o'\n");
    else        /* inside the band: low <= measured / predicted <= high */
        buffer_print(script, "plot '-' using 1:2 with points pt 7 ps 0.45 lc rgb '#800072b2', "
                     "x lc rgb '#000000', x / %.9g dt 2 lc rgb '#666666', "
                     "x / %.9g dt 2 lc rgb '#666666'\n", low, high);
    for (size_t i = 0; i < scatter->count; i++)
        if (shows(&scatter->outcomes[i], metric))
            buffer_print(script, "%.9g %.9g\n", scatter->outcomes[i].measured->value / scale,
                         scatter->outcomes[i].predicted.value / scale);
    buffer_print(script, "e\n");
}

static void axes(struct scatter *scatter, int lines, int columns)
{
    buffer_print(&scatter->script, "set logscale xy\nset xlabel 'measured'\n"
                 "set ylabel 'predicted'\nunset key\n");
    if (!scatter->terminal)
        buffer_print(&scatter->script, "set size square\nset grid lt 1 lc rgb '#dddddd'\n"
                     "set format xy '10^{%%L}'\nset multiplot layout %d,%d\n", lines, columns);
}

bool scatter_plot(struct arena *arena, const char *path, const struct outcome *outcomes,
                  size_t count, struct error *error)
{
    struct scatter scatter = { .arena = arena, .script.arena = arena, .outcomes = outcomes,
                               .count = count, .terminal = !strcmp(path, "-") };
    bool shown[METRICS] = { false };
    int panels = 0;
    for (int metric = 0; metric < METRICS; metric++) {
        for (size_t i = 0; i < count; i++)
            shown[metric] |= shows(&outcomes[i], metric);
        panels += shown[metric];
    }
    /* side by side, in two lines beyond three; on the terminal one after the other */
    int lines = panels > 3 ? 2 : 1, columns = (panels + lines - 1) / lines;
    if (!plot_open(&scatter.script, path, PANEL * columns, PANEL * lines, error))
        return false;
    if (!panels) {
        error_set(error, "--plot: no value was scored");
        return error_suggest(error, "without --plot, `check` says why");
    }
    axes(&scatter, lines, columns);
    for (int metric = 0; metric < METRICS; metric++)
        if (shown[metric])
            panel(&scatter, metric);
    return plot_draw(&scatter.script, path, error);
}
