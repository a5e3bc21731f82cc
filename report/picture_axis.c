/* Axes of pictures: which range is shown, where its ticks are and what they are called.
 *
 * A linear range begins at zero unless its values do not, and ends on a tick; steps are 1, 2, 2.5 or 5
 * times a power of ten. A logarithmic range ends on 1, 2 or 5 times a power of ten; beyond 2.6 decades
 * only decades are labelled. Seconds of a clock have its steps. Labels that would meet are thinned out, but
 * two always stay. */
#include "report/picture_parts.h"

#include <math.h>
#include <string.h>

static const double decades_labelled_alone = 2.6;
enum { STEPS = 5 };                 /* of a linear axis, about */

static const struct { double at; const char *name; } clock_ticks[] = {
    { 1e-9, "1 ns" }, { 1e-6, "1 us" }, { 1e-5, "10 us" }, { 1e-4, "100 us" }, { 1e-3, "1 ms" },
    { 1e-2, "10 ms" }, { 0.1, "100 ms" }, { 1, "1 s" }, { 10, "10 s" }, { 60, "1 min" },
    { 600, "10 min" }, { 3600, "1 h" }, { 21600, "6 h" }, { 86400, "1 d" }, { 864000, "10 d" },
    { 8640000, "100 d" }, { 31536000, "1 year" }, { 315360000, "10 years" },
    { 3153600000, "100 years" } };
enum { CLOCK_TICKS = sizeof clock_ticks / sizeof *clock_ticks };

/* 1, 2 or 5 times a power of ten: the last at or below a value, or the first at or above it. */
static double one_two_five(double value, bool up)
{
    static const double steps[] = { 1, 2, 5, 10 };
    const double power = pow(10, floor(log10(value) + 1e-12)), slack = 1e-9;
    double found = up ? 10 * power : power;
    for (int i = 0; i < 4; i++) {
        const double step = steps[i] * power;
        if (up && step >= value * (1 - slack))
            return step;
        if (!up && step <= value * (1 + slack))
            found = step;
    }
    return found;
}

/* The smallest of 1, 2, 2.5, 5 and 10 times a power of ten that is not below. */
static double nice_step(double least)
{
    static const double steps[] = { 1, 2, 2.5, 5, 10 };
    const double power = pow(10, floor(log10(least) + 1e-12));
    for (int i = 0; i < 5; i++)
        if (steps[i] * power >= least * (1 - 1e-9))
            return steps[i] * power;
    return 10 * power;
}

/* End the axis where the values end, if there are two ticks between them. */
static void clock_range(struct scale *scale)
{
    const double first = clock_ticks[0].at, last = clock_ticks[CLOCK_TICKS - 1].at;
    int inside = 0, below = 0, above = CLOCK_TICKS - 1;
    scale->from = fmax(first, fmin(scale->from, last));
    scale->to = fmax(first, fmin(scale->to, last));
    for (int i = 0; i < CLOCK_TICKS; i++) {
        inside += clock_ticks[i].at >= scale->from && clock_ticks[i].at <= scale->to;
        if (clock_ticks[i].at <= scale->from && i + 1 < CLOCK_TICKS)
            below = i;
        if (clock_ticks[CLOCK_TICKS - 1 - i].at >= scale->to && i + 1 < CLOCK_TICKS)
            above = CLOCK_TICKS - 1 - i;
    }
    if (inside >= 2)
        return;
    scale->from = clock_ticks[below].at;
    scale->to = clock_ticks[above > below ? above : below + 1].at;
}

static void log_range(struct scale *scale, bool clock)
{
    if (clock) {
        clock_range(scale);
        return;
    }
    scale->from = one_two_five(scale->from, false);
    scale->to = one_two_five(scale->to, true);
    if (scale->to <= scale->from * (1 + 1e-9)) {
        scale->from = one_two_five(scale->from * 0.9, false);
        scale->to = one_two_five(scale->to * 1.1, true);
    }
}

static double linear_step(const struct scale *scale)
{
    return nice_step((scale->to - scale->from) / STEPS);
}

static void linear_range(struct scale *scale)
{
    const double least = fmax(fabs(scale->from), fabs(scale->to)) * 1e-6;
    if (!(scale->to - scale->from > least)) {
        if (scale->to > 0)
            scale->from = fmin(scale->from, 0);
        else if (scale->from < 0)
            scale->to = 0;
        else
            scale->to = 1;
    }
    const double step = linear_step(scale);
    scale->from = step * floor(scale->from / step + 1e-9);
    scale->to = step * ceil(scale->to / step - 1e-9);
}

void scale_range(struct scale *scale, const struct picture_axis *axis, double low, double high)
{
    scale->log = axis->log;
    if (low > high || (axis->log && !(high > 0)))
        low = axis->log, high = axis->log ? 10 : 1;
    if (axis->log && !(low > 0))
        low = high;
    scale->from = !isnan(axis->from) ? axis->from : axis->log ? low : fmin(low, 0);
    scale->to = !isnan(axis->to) ? axis->to : axis->log ? high : fmax(high, 0);
    if (scale->from > scale->to)                /* one end was said, and all values lie beyond it */
        *(isnan(axis->from) ? &scale->from : &scale->to) = isnan(axis->from) ? scale->to : scale->from;
    if (axis->log)
        log_range(scale, axis->time);
    else
        linear_range(scale);
}

double scale_at(const struct scale *scale, double value)
{
    const double far = 1e6;                     /* frames beyond it: lines are cut anyway */
    double share = scale->log ? value > 0 ? log(value / scale->from) / log(scale->to / scale->from) : -far
                              : (value - scale->from) / (scale->to - scale->from);
    share = fmax(-far, fmin(far, share));
    return scale->begin + (scale->end - scale->begin) * share;
}

/* ---- labels --------------------------------------------------------------------------------------- */

static bool in_range(const struct scale *scale, double at)
{
    const double slack = scale->log ? 0 : 1e-9 * (scale->to - scale->from);
    return scale->log ? at >= scale->from * (1 - 1e-9) && at <= scale->to * (1 + 1e-9)
                      : at >= scale->from - slack && at <= scale->to + slack;
}

static const char *log_name(struct arena *arena, double at)
{
    return at < 0.9e-3 || at > 1e15 ? picture_power(arena, at) : picture_number(arena, at);
}

static void add_tick(struct scale *scale, double at, const char *name)
{
    if (scale->count < TICKS_MOST && in_range(scale, at))
        scale->ticks[scale->count++] = (struct tick){ at, name };
}

/* Tick every `stride`th power of ten, or 1, 2 and 5 times each of them. */
static void log_ticks(struct scale *scale, struct arena *arena, int stride, unsigned parts)
{
    static const double times[] = { 1, 2, 5 };
    int first = (int)floor(log10(scale->from) + 1e-9), last = (int)ceil(log10(scale->to) - 1e-9);
    scale->count = 0;
    for (int power = first; power <= last; power++)
        for (unsigned i = 0; i < parts; i++) {
            double at = times[i] * pow(10, power);
            if (!(power % stride))
                add_tick(scale, at, log_name(arena, at));
        }
}

static void clock_axis_ticks(struct scale *scale, int stride)
{
    int seen = 0;
    scale->count = 0;
    for (int i = 0; i < CLOCK_TICKS; i++)
        if (in_range(scale, clock_ticks[i].at) && !(seen++ % stride))
            add_tick(scale, clock_ticks[i].at, clock_ticks[i].name);
}

/* The number of decimals that a step needs. */
static int step_decimals(double step)
{
    int decimals = -(int)floor(log10(step) + 1e-9);
    const double power = pow(10, -decimals);
    return decimals + (fabs(step / power - 2.5) < 1e-6);
}

static const char *linear_name(const struct picture_axis *axis, struct arena *arena, double at, int decimals,
                               double largest)
{
    if (!strcmp(axis->name, "year"))
        return arena_print(arena, "%.0f", at);
    if (largest < 1e-3 || largest >= 1e15)
        return picture_power(arena, at);
    return picture_decimals(arena, at, decimals, largest);
}

static void linear_ticks(struct scale *scale, const struct picture_axis *axis, struct arena *arena,
                         int stride)
{
    const double step = linear_step(scale), largest = fmax(fabs(scale->from), fabs(scale->to));
    const int decimals = step_decimals(step);
    long first = (long)floor(scale->from / step + 0.5), last = (long)floor(scale->to / step + 0.5);
    scale->count = 0;
    for (long k = first; k <= last && k - first < TICKS_MOST; k++) {
        double at = (double)k * step;
        if (k % stride)
            continue;
        add_tick(scale, at, k ? linear_name(axis, arena, at, decimals, largest) : "0");
    }
}

/* Choose ticks: the fewer, the more `tries` have failed because two labels met. */
static void choose_ticks(struct scale *scale, const struct picture_axis *axis, struct arena *arena,
                         int tries)
{
    const bool clock = axis->log && axis->time;
    const bool alone = scale->log && log10(scale->to / scale->from) > decades_labelled_alone;
    if (clock)
        clock_axis_ticks(scale, tries + 1);
    else if (!scale->log)
        linear_ticks(scale, axis, arena, tries + 1);
    else if (!alone && tries < 2)
        log_ticks(scale, arena, 1, tries ? 1 : 3);
    else
        log_ticks(scale, arena, alone ? tries + 1 : tries, 1);
}

/* Label the first and the last of the possible ticks; if there are none, the ends themselves. */
static void two_ticks(struct scale *scale, const struct picture_axis *axis, struct arena *arena)
{
    const double from = scale->from, to = scale->to;
    scale->count = 0;
    if (scale->log)
        choose_ticks(scale, axis, arena, 0);
    if (scale->count > 2) {
        scale->ticks[1] = scale->ticks[scale->count - 1];
        scale->count = 2;
    }
    if (scale->count == 2)
        return;
    scale->count = 0;
    add_tick(scale, from, from == 0 ? "0" : log_name(arena, from));
    add_tick(scale, to, to == 0 ? "0" : log_name(arena, to));
}

static bool labels_meet(const struct scale *scale, bool upright)
{
    for (size_t i = 1; i < scale->count; i++) {
        const struct tick *a = &scale->ticks[i - 1], *b = &scale->ticks[i];
        double apart = fabs(scale_at(scale, b->at) - scale_at(scale, a->at));
        double need = upright ? LABEL_LINE + 2
                              : (picture_text_width(a->name, LABEL_SIZE, false) +
                                 picture_text_width(b->name, LABEL_SIZE, false)) / 2 + GAP;
        if (apart < need)
            return true;
    }
    return false;
}

void scale_ticks(struct scale *scale, const struct picture_axis *axis, struct arena *arena, double begin,
                 double end, bool upright)
{
    scale->begin = begin;
    scale->end = end;
    for (int tries = 0; tries < TICKS_MOST; tries++) {
        choose_ticks(scale, axis, arena, tries);
        if (scale->count < 2)
            break;
        if (!labels_meet(scale, upright))
            return;
    }
    two_ticks(scale, axis, arena);
}

double scale_overhang(const struct scale *scale, double edge)
{
    double over = 0;
    for (size_t i = 0; i < scale->count; i++) {
        const double apart = fabs(scale_at(scale, scale->ticks[i].at) - edge);
        over = fmax(over, picture_text_width(scale->ticks[i].name, LABEL_SIZE, false) / 2 + 1 - apart);
    }
    return over;
}
