/* What is kept between readings: the points of the fit, and arrivals.
 *
 * Arrivals are kept by at least a sixtieth of the window, so that there are never more than some tens of rates,
 * however often a server is read. */
#include "meter/watch/parts.h"
#include "meter/watch/watch.h"

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
    const struct seen_quantity *seen = load->seen;
    const double rate = seen[LOAD_ARRIVAL_RATE].value;
    struct rate_seen *last = history->rate_count ? &history->rates[history->rate_count - 1] : NULL;
    if (isfinite(rate) && load->span > 0) {
        if (!last || !(last->to - last->from < history->window / PIECES)) {
            forget(history, at - history->window);
            last = &history->rates[history->rate_count++];
            *last = (struct rate_seen){ .from = at - load->span };
        }
        last->to = at;
        last->arrivals += rate * load->span;
        if (isfinite(seen[LOAD_PROMPT].value) && isfinite(seen[LOAD_OUTPUT].value) && load->requests > 0) {
            last->finished += load->requests;
            last->prompt += load->requests * seen[LOAD_PROMPT].value;
            last->output += load->requests * seen[LOAD_OUTPUT].value;
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

void history_lengths(const struct history *history, double *prompt, double *output)
{
    const double least = 60, enough = 100;
    double seconds = 0, requests = 0;
    *prompt = *output = 0;
    for (size_t i = history->rate_count; i-- && (seconds < least || requests < enough);) {
        const struct rate_seen *rate = &history->rates[i];
        seconds += rate->to - rate->from;
        requests += rate->finished;
        *prompt += rate->prompt;
        *output += rate->output;
    }
    *prompt = requests > 0 ? *prompt / requests : NAN;
    *output = requests > 0 ? *output / requests : NAN;
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

double history_step(double window)
{
    const double minute = 60, most = 10000;
    return minute * fmax(1, ceil(window / (minute * most)));
}
