/* What each flag of the engine would change (parts.h).
 *
 * A flag sets a row of the prediction. It is tried at values near the one that the server has: a count at half and at
 * twice, a share of memory five points up and down, drafts one more and one fewer, what is on or off the other way.
 * Where the server reports its KV blocks, a flag that changes the memory for the cache changes that count as it changes
 * the computed one. The flags are those of data/flags.csv with a cell `moves`. Tensor parallelism changes the GPUs of a
 * replica, so changes are ordered by tokens per GPU. */
#include "meter/watch/parts.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum vary vary_of(const struct flag *flag)
{
    static const char *const words[VARY_COUNT] = { "double", "share", "step", "off", "cache", "tensor", "spread" };
    const size_t vary = name_index(words, VARY_COUNT, flag->vary);
    assert(vary < VARY_COUNT);
    return (enum vary)vary;
}

double watch_default_slots(const char *engine)
{
    struct flag slots;
    double number;
    return flag_find(engine, "slots", &slots) && text_number(text_of(slots.value), &number) ? number : NAN;
}

/* ---- values to try ---------------------------------------------------------------------------------- */

/* Experts are spread over the GPUs of a stage whole, or each is cut over them. */
static double other_experts(struct watch *watch, double now)
{
    const double stage = value_or_nan(&watch->scenario, NAME_stage_chips);
    const double experts = value_or_nan(&watch->scenario, NAME_experts);
    return !(experts > 1) || !(stage > 1) ? NAN : now > 1 ? 1 : stage;
}

/* The first type of the cache that is not the engine's own: "bf16= q8_0=q8_0". `engine` or its name in formats.csv;
 * NULL: it has none. */
static const char *small_cache(struct arena *arena, const struct flag *flag, bool engine)
{
    for (const char *at = flag->value; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " "), name = strcspn(at, "=");
        if (name + 1 < length)
            return engine ? arena_copy(arena, at + name + 1, length - name - 1) : arena_copy(arena, at, name);
        at += length;
    }
    return NULL;
}

static bool is_stated(const struct watch *watch, const char *row)
{
    return !name_listed(watch->assumed, watch->assumed_count, row) &&
           fact_given(facts_find(&watch->scenario.facts, row));
}

/* The value to try on one side (0: down, 1: up); NAN: there is none. */
static double other_value(struct watch *watch, const struct change *change, int side)
{
    const double least = 0.5, most = 0.97, step = 0.05, now = change->from;
    const char *cache = change->vary == VARY_CACHE ? small_cache(watch->arena, &change->flag, false) : NULL;
    const struct format *small = cache ? formats_find(&watch->scenario.formats, cache) : NULL;
    double to = NAN;
    switch (change->vary) {
    case VARY_DOUBLE:  return side ? 2 * now : now >= 2 ? floor(now / 2) : NAN;
    case VARY_STEP:    return now >= 1 ? now + (side ? 1 : -1) : NAN;
    case VARY_OFF:     return side && now > 0 ? 0 : NAN;
    case VARY_CACHE:   return side && small && now > small->bytes ? small->bytes : NAN;
    case VARY_EXPERTS: return side ? other_experts(watch, now) : NAN;
    case VARY_TENSOR:
        to = side ? 2 * now : now / 2;
        return to >= 1 && to == floor(to) && to <= value_or_nan(&watch->scenario, NAME_scale_up_chips) ? to : NAN;
    case VARY_SHARE:
        to = side ? fmin(most, now + step) : fmax(least, now - step);
        return (side ? to > now : to < now) ? to : NAN;
    case VARY_COUNT:   break;
    }
    return NAN;
}

/* What the engine calls the two values, where they are no numbers of its own. */
static void name_values(struct arena *arena, struct change *change)
{
    const struct flag *flag = &change->flag;
    if (change->vary == VARY_OFF)       /* a switch that is given turns the row off; a setting has a value for that */
        change->was = *flag->standard ? flag->standard : "off", change->becomes = *flag->value ? flag->value : "on";
    else if (change->vary == VARY_CACHE)
        change->was = *flag->standard ? flag->standard : "auto", change->becomes = small_cache(arena, flag, true);
    else if (!strcmp(flag->form, "switch"))
        change->was = change->from > 1 ? "on" : "off", change->becomes = change->from > 1 ? "off" : "on";
}

/* ---- the prediction with it --------------------------------------------------------------------------- */

static bool changes_memory(enum vary vary)
{
    return vary == VARY_SHARE || vary == VARY_CACHE || vary == VARY_TENSOR || vary == VARY_EXPERTS;
}

/* The figures with the flag; false: they have no value. */
static bool read_change(const struct watch *watch, const struct outlook *outlook, struct change *change)
{
    struct watch_setting settings[3] = { { change->flag.moves, change->to }, { NAME_chips, change->chips } };
    size_t count = change->vary == VARY_TENSOR ? 2 : 1;
    const double blocks = watch->load.blocks;
    if (blocks > 0 && changes_memory(change->vary)) {
        const double now = outlook->blocks, then = outlook_blocks(outlook, settings, count);
        if (!(now > 0) || !(then > 0))
            return false;
        settings[count++] = (struct watch_setting){ NAME_kv_blocks_reported, floor(blocks * then / now) };
    }
    outlook_read(outlook, settings, count, change->at);
    return isfinite(change->at[OUTLOOK_THROUGHPUT].value) && change->at[OUTLOOK_THROUGHPUT].value > 0;
}

static bool try_flag(struct watch *watch, const struct outlook *outlook, struct change *change, int side)
{
    const double chips = outlook_setting(outlook, NAME_chips);
    change->from = outlook_setting(outlook, change->flag.moves);
    change->to = isfinite(change->from) ? other_value(watch, change, side) : NAN;
    if (isnan(change->to))
        return false;
    change->chips = change->vary == VARY_TENSOR ? chips * change->to / change->from : chips;
    change->stated = is_stated(watch, change->flag.moves);
    name_values(watch->arena, change);
    return read_change(watch, outlook, change);
}

/* Is this the second flag that moves a row? Then the changes of the first are of both. */
static bool is_second(struct watch *watch, const struct flag *flag)
{
    bool second = false;
    for (size_t i = 0; i < watch->change_count; i++)
        if (!strcmp(watch->changes[i].flag.moves, flag->moves))
            watch->changes[i].also = flag->name, second = true;
    return second;
}

/* Most tokens per GPU first; where these are the same to a thousandth, the shortest TPOT. */
static int by_throughput(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    const double p = floor(1e3 * log(x->at[OUTLOOK_THROUGHPUT].value / x->chips) + 0.5);
    const double q = floor(1e3 * log(y->at[OUTLOOK_THROUGHPUT].value / y->chips) + 0.5);
    if (p != q)
        return p < q ? 1 : -1;
    const double s = x->at[OUTLOOK_TPOT].value, t = y->at[OUTLOOK_TPOT].value;
    if (isfinite(s) != isfinite(t))
        return isfinite(s) ? -1 : 1;
    if (isfinite(s) && s != t)
        return s < t ? -1 : 1;
    const int order = strcmp(x->flag.name, y->flag.name);
    return order ? order : (x->to > y->to) - (x->to < y->to);
}

void watch_flags(struct watch *watch, const struct outlook *outlook)
{
    struct flag flag;
    for (size_t row = 0; watch->load.engine->predicted && flag_next(watch->load.engine->predicted, &row, &flag);)
        if (*flag.moves && !is_second(watch, &flag))
            for (int side = 0; side < 2 && watch->change_count < CHANGES_MOST; side++) {
                struct change change = { .flag = flag, .vary = vary_of(&flag) };
                if (try_flag(watch, outlook, &change, side))
                    watch->changes[watch->change_count++] = change;
            }
    qsort(watch->changes, watch->change_count, sizeof *watch->changes, by_throughput);
}
