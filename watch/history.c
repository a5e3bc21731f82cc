/* What is kept between readings: the points of the fit, and arrivals.
 *
 * Arrivals are kept by at least a sixtieth of the window, so that there are never more than some tens of rates,
 * however often a server is read. */
#include "watch/parts.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

void history_open(struct history *history, const struct arena *beside, double window)
{
    *history = (struct history){ .arena = arena_beside(beside), .window = window,
                                 .fitted.refused = "no interval tells a point" };
}

void history_close(struct history *history)
{
    arena_free(&history->arena);
}

static void forget(struct history *history, double before)
{
    size_t old = 0;
    while (old < history->rate_count && history->rates[old].to < before)
        old++;
    if (history->rate_count - old == RATES_MOST)
        old++;
    history->rate_count -= old;
    memmove(history->rates, history->rates + old, history->rate_count * sizeof *history->rates);
}

const char *history_add(struct history *history, const struct load *load, double at)
{
    enum { PIECES = 60 };
    const double rate = load->seen[LOAD_ARRIVAL_RATE].value;
    struct rate_seen *last = history->rate_count ? &history->rates[history->rate_count - 1] : NULL;
    if (isfinite(rate) && load->span > 0) {
        if (last && last->to - last->from < history->window / PIECES) {
            last->arrivals += rate * load->span;
            last->to = at;
        } else {
            forget(history, at - history->window);
            history->rates[history->rate_count++] = (struct rate_seen){ at - load->span, at, rate * load->span };
        }
    }
    return fit_see(&history->fit, load, at);
}

size_t history_facts(const struct history *history, double at, double window, struct facts *facts)
{
    static const char from[] = "/metrics";
    struct fact_table *table = facts_table(facts, "arrivals_seen");
    size_t count = 0;
    for (size_t i = 0; i < history->rate_count; i++) {
        const struct rate_seen *rate = &history->rates[i];
        if (rate->to <= at - window || !(rate->to > rate->from))
            continue;
        const size_t entry = facts_entry(facts, table, arena_print(facts->arena, "interval_%zu", ++count));
        facts_cell(facts, table, entry, NAME_seen_ago, fmax(0, at - (rate->from + rate->to) / 2), ORIGIN_AXIS, from);
        facts_cell(facts, table, entry, NAME_seen_rate, fmax(0, rate->arrivals / (rate->to - rate->from)), ORIGIN_AXIS,
                   from);
    }
    return count;
}

double history_rate(const struct history *history)
{
    const double least = 60;
    double arrivals = 0, seconds = 0;
    for (size_t i = history->rate_count; i-- && (seconds < least || !(seconds > 0));) {
        arrivals += history->rates[i].arrivals;
        seconds += history->rates[i].to - history->rates[i].from;
    }
    return seconds > 0 ? arrivals / seconds : NAN;
}
