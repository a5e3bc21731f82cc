/* The best setting of a space, and the load at which it runs.
 *
 * The loads of the space rise: more decoding sequences per attention rank or, for a given number of
 * users, fewer replicas to serve them. A known load is a single point. The worth of a setting
 * (SERVERS_WORTH: tokens/s per chip or per USD) rises with the load, and so do the outputs that have
 * limits (TTFT, TPOT, utilization), so that the best load of a setting is the highest within the limits.
 *
 * 1. Evaluate every setting at the lowest load. A setting that violates a limit there violates it at
 *    every load. If all do, widen the limits by the factor that the nearest setting needs.
 * 2. Find the highest load of each setting within the limits by bisection, for all settings together.
 *    A load that passed is a lower bound of the setting's worth; one that failed is an upper bound if it
 *    fits in the KV cache, for the worth falls again beyond what fits. Drop a setting as soon as its
 *    upper bound is far below the best lower bound. Most settings are dropped
 *    after a few steps.
 * 3. Limits and worth are not quite monotonic: they have ripples of a few parts in a thousand along the
 *    load, where a prompt needs one more chunk or a GEMM one more tile. So evaluate the settings that
 *    are within such a ripple of the best at every load, and take the best of these points. */
#include "deploy/choice.h"

#include <math.h>
#include <string.h>

/* A ripple moves limits and worth by less than this share of them. */
static const double NEAR = 0.97;

/* Settings that are evaluated together, each at a load of its own. */
struct sweepers {
    struct search_space space;      /* the searched space, restricted to these settings */
    double *settings;               /* [setting][input] the space's own, writable here */
    const struct graph_program *program;    /* the compiled graph of the space; shared by all batches */
    struct column *inputs;          /* [graph input] the columns that the program reads */
    double *column[SERVERS_INPUTS]; /* [setting] one input of the settings */
    double *load;                   /* [setting] the load at which each is evaluated */
    double *out[SERVERS_ALL];       /* [setting] results of the last run */
    size_t *low, *high;             /* [setting] index of the highest load that passed, the lowest that failed */
    double *least, *most;           /* [setting] lower and upper bound of its worth within the limits */
};

/* Allocate room for `count` settings; the caller fills them in. */
static struct sweepers sweepers_open(struct arena *arena, const struct search_space *space, size_t count)
{
    struct sweepers all = { .space = *space };
    all.settings = arena_array(arena, count * space->inputs + 1, sizeof(double));
    all.space.settings = all.settings;
    all.space.setting_count = count;
    all.inputs = arena_array(arena, space->graph.input_count + 1, sizeof *all.inputs);
    all.load = arena_array(arena, count + 1, sizeof(double));
    all.least = arena_array(arena, count + 1, sizeof(double));
    all.most = arena_array(arena, count + 1, sizeof(double));
    all.low = arena_array(arena, count + 1, sizeof *all.low);
    all.high = arena_array(arena, count + 1, sizeof *all.high);
    for (size_t k = 0; k < space->inputs; k++) {
        all.column[k] = arena_array(arena, count + 1, sizeof(double));
        if (space->input[k] != SEARCH_UNREAD)
            all.inputs[space->input[k]] = (struct column){ all.column[k], 1 };
    }
    if (space->column != SEARCH_UNREAD)
        all.inputs[space->column] = (struct column){ all.load, 1 };
    for (int i = 0; i < SERVERS_ALL; i++)
        all.out[i] = arena_array(arena, count + 1, sizeof(double));
    return all;
}

/* Copy `setting` to place `at`, in the space's settings and in the columns of the program. */
static void put_setting(struct sweepers *all, size_t at, const double *setting)
{
    const size_t inputs = all->space.inputs;
    memmove(all->settings + at * inputs, setting, inputs * sizeof *setting);
    for (size_t k = 0; k < inputs; k++)
        all->column[k][at] = all->settings[at * inputs + k];
}

/* Evaluate all settings, each at its load. */
static void run_settings(const struct sweepers *all)
{
    graph_program_run(all->program, all->inputs, all->out, all->space.setting_count);
}

/* The largest ratio of an output to its limit: above 1 a limit is violated, infinite if the load does
 * not fit in the KV cache. A known load that overloads a replica ranks below every slow replica, since
 * the TPOT of an overloaded replica depends only on its number of slots. */
static double worst_of(const struct choice *choice, const struct sweepers *all, size_t setting)
{
    const struct search_space *space = &all->space;
    const double room = choice->loads == LOADS_RUNNING ? all->load[setting] : 1;
    double worst = 0;
    if (!(all->out[SERVERS_ROOM][setting] >= room))
        return INFINITY;
    for (size_t l = 0; l < space->limit_count; l++) {
        const struct search_limit *limit = &space->limits[l];
        const double ratio = all->out[limit->output][setting] / limit->bound;
        const bool overload = limit->output == SERVERS_PROMPTS || limit->output == SERVERS_LOAD;
        worst = fmax(worst, choice->loads != LOADS_RUNNING && overload && ratio > 1
                            ? ratio * CHOICE_OVERLOADED : ratio);
    }
    return worst;
}

bool choice_by_size(const struct choice *choice)
{
    return choice->loads == LOADS_REPLICAS || (!choice->priced && !choice->servers.by_demand);
}

/* Chips of one replica, or of all replicas if their number is the load. */
static double chips_at(const struct choice *choice, const struct sweepers *all, size_t setting, double load)
{
    const double chips = all->settings[setting * all->space.inputs];
    return choice->loads == LOADS_REPLICAS ? chips * load : chips;
}

/* ---- bisection ----------------------------------------------------------------------------- */

/* Remove the settings that are not kept; the rest stay in order. */
static void keep_settings(struct sweepers *all, const bool *kept)
{
    size_t to = 0;
    for (size_t i = 0; i < all->space.setting_count; i++) {
        if (!kept[i])
            continue;
        put_setting(all, to, all->settings + i * all->space.inputs);
        all->low[to] = all->low[i];
        all->high[to] = all->high[i];
        all->least[to] = all->least[i];
        all->most[to++] = all->most[i];
    }
    all->space.setting_count = to;
}

/* Upper bound of the worth of a setting whose load failed. For a given request rate the worth depends on
 * a whole number of replicas, and a ripple may save one of them: add the worth of one. */
static double worth_at_most(const struct choice *choice, const struct sweepers *all, size_t setting)
{
    const double worth = all->out[SERVERS_WORTH][setting];
    return choice->servers.by_demand
           ? worth + fabs(worth) / all->out[SERVERS_REPLICAS][setting] : worth;
}

/* Drop the settings whose upper bound is below `far` of the best lower bound. The margin is wider than
 * that of near_ties, so that no dropped setting could have been chosen. */
static void leave_out(const struct choice *choice, struct arena *arena, struct sweepers *all)
{
    const double far = 0.9;
    const size_t count = all->space.setting_count;
    bool *kept = arena_array(arena, count + 1, sizeof *kept);
    const double *loads = all->space.loads;
    double chips = INFINITY, best = -INFINITY;
    if (choice->servers.own_rows)                   /* limits and worth may fall as the load rises */
        return;
    for (size_t i = 0; i < count && choice_by_size(choice); i++)
        if (all->least[i] > -INFINITY)
            chips = fmin(chips, chips_at(choice, all, i, loads[all->low[i]]));
    for (size_t i = 0; i < count; i++)
        if (chips_at(choice, all, i, loads[all->low[i]]) <= chips)
            best = fmax(best, all->least[i]);
    for (size_t i = 0; i < count; i++) {
        const size_t high = all->high[i] < all->space.load_count ? all->high[i] : all->high[i] - 1;
        const bool small = chips_at(choice, all, i, loads[high]) <= chips;
        const bool worth = !(all->most[i] < best - (1 - far) * fabs(best));
        kept[i] = small && (worth || choice->loads == LOADS_REPLICAS);
    }
    keep_settings(all, kept);
}

/* Bisect the highest load of each setting at which every output is at most `most` times its limit, and
 * evaluate the remaining settings there. */
static void raise_loads(const struct choice *choice, struct arena *arena, struct sweepers *all, double most)
{
    const double *loads = all->space.loads;
    for (size_t span = all->space.load_count; span > 1; span = (span + 1) / 2) {
        for (size_t i = 0; i < all->space.setting_count; i++)
            all->load[i] = loads[(all->low[i] + all->high[i]) / 2];
        run_settings(all);
        for (size_t i = 0; i < all->space.setting_count; i++) {
            const double worst = worst_of(choice, all, i);
            (worst <= most ? all->low : all->high)[i] = (all->low[i] + all->high[i]) / 2;
            if (worst <= most)
                all->least[i] = all->out[SERVERS_WORTH][i];
            else if (isfinite(worst))
                all->most[i] = worth_at_most(choice, all, i);
        }
        leave_out(choice, arena, all);
    }
    for (size_t i = 0; i < all->space.setting_count; i++)
        all->load[i] = loads[all->low[i]];
    run_settings(all);
}

/* ---- the best ------------------------------------------------------------------------------ */

/* Write a setting and its load to `found`, in the terms of the load that the command gave. */
static void take_setting(const struct choice *choice, const struct sweepers *all, size_t setting,
                         struct found *found)
{
    const double *values = all->settings + setting * all->space.inputs;
    memcpy(found->layout, values, sizeof found->layout);
    found->chunk = values[SETTING_CHUNK];
    found->any = true;
    if (choice->loads == LOADS_REPLICAS)
        found->replicas = all->load[setting];
    else if (choice->servers.by_demand)
        found->replicas = all->out[SERVERS_REPLICAS][setting];
    if (choice->loads != LOADS_RUNNING || choice->servers.by_demand)
        return;
    found->rate = rate_down(all->out[SERVERS_RATE][setting]);
    found->batch = fmax(1, all->load[setting] * values[1] / values[2]);     /* ranks, stages */
}

/* Is a setting, at its highest load within the limits, better than another? */
static bool preferred(const struct choice *choice, const struct sweepers *all, size_t a, size_t b)
{
    const double more = chips_at(choice, all, a, all->load[a]) - chips_at(choice, all, b, all->load[b]);
    if (choice_by_size(choice) && more != 0)
        return more < 0;
    return all->out[SERVERS_WORTH][a] > all->out[SERVERS_WORTH][b];
}

/* Evaluate the marked loads of the settings; marks are [setting][load]. */
static struct sweepers at_loads(struct arena *arena, const struct sweepers *all, const bool *marked)
{
    const struct search_space *space = &all->space;
    size_t points = 0, at = 0;
    for (size_t i = 0; i < space->setting_count * space->load_count; i++)
        points += marked[i];
    struct sweepers each = sweepers_open(arena, space, points);
    each.program = all->program;
    for (size_t i = 0; i < space->setting_count; i++)
        for (size_t l = 0; l < space->load_count; l++) {
            if (!marked[i * space->load_count + l])
                continue;
            put_setting(&each, at, all->settings + i * space->inputs);
            each.load[at++] = space->loads[l];
        }
    run_settings(&each);
    return each;
}

/* Evaluate the loads at which a wanted setting may be better than `worth`. But for ripples, limits and worth rise with the
 * load. So every STRIDE-th load is evaluated first, and the loads between two of these only if the lower one is within the
 * limits and the upper one is worth as much, both but for a ripple. */
static struct sweepers every_load(const struct choice *choice, struct arena *arena, const struct sweepers *all,
                                  const bool *wanted, double most, double worth)
{
    enum { STRIDE = 16 };
    const size_t settings = all->space.setting_count, loads = all->space.load_count;
    const bool monotonic = !choice->servers.own_rows && choice->loads == LOADS_RUNNING;
    bool *coarse = arena_array(arena, settings * loads + 1, sizeof *coarse);
    bool *marked = arena_array(arena, settings * loads + 1, sizeof *marked);
    for (size_t i = 0; i < settings; i++)
        for (size_t l = 0; l < loads; l++)
            coarse[i * loads + l] = wanted[i] && (!monotonic || l % STRIDE == 0 || l == loads - 1);
    const struct sweepers few = at_loads(arena, all, coarse);
    if (!monotonic)
        return few;
    for (size_t i = 0, at = 0; i < settings; i++) {
        if (!wanted[i])
            continue;
        for (size_t l = 0; l < loads - 1; l += STRIDE, at++) {
            const size_t end = l + STRIDE < loads - 1 ? l + STRIDE : loads - 1;
            const bool fits = isfinite(worst_of(choice, &few, at + 1));
            const bool open = worst_of(choice, &few, at) <= most / NEAR &&
                              (!fits || few.out[SERVERS_WORTH][at + 1] >= worth - (1 - NEAR) * fabs(worth));
            for (size_t k = l; k <= end; k++)
                marked[i * loads + k] |= open;
        }
        at++;
        marked[i * loads + all->low[i]] = true;         /* the load that the bisection found; there may be only one */
    }
    return at_loads(arena, all, marked);
}

/* Set `found` to the best point, over all loads, of the settings within NEAR of setting `best`: near
 * enough that a ripple may place one of them above it. */
static void near_ties(const struct choice *choice, const struct sweepers *all, double most,
                      size_t best, struct found *found)
{
    struct arena scratch = arena_beside(choice->trial.arena);
    const size_t count = all->space.setting_count;
    bool *wanted = arena_array(&scratch, count, sizeof *wanted);
    const double worth = all->out[SERVERS_WORTH][best];
    const double chips = chips_at(choice, all, best, all->load[best]);
    for (size_t i = 0; i < count; i++) {
        const double own = chips_at(choice, all, i, all->load[i]);
        const bool replicas = choice->loads == LOADS_REPLICAS;
        const bool worthy = all->out[SERVERS_WORTH][i] >= worth - (1 - NEAR) * fabs(worth);
        wanted[i] = worst_of(choice, all, i) <= most &&
                    (!choice_by_size(choice) ? worthy : replicas ? own <= chips / NEAR : own == chips && worthy);
    }
    struct sweepers each = every_load(choice, &scratch, all, wanted, most, worth);
    size_t top = 0;
    for (size_t i = 0; i < each.space.setting_count; i++)
        if (worst_of(choice, &each, i) <= most &&
            (worst_of(choice, &each, top) > most || preferred(choice, &each, i, top)))
            top = i;
    take_setting(choice, &each, top, found);
    arena_free(&scratch);
}

/* All settings at the lowest load, with the program for this and every other load. */
static struct sweepers open_all(struct arena *arena, const struct search_space *space)
{
    struct sweepers all = sweepers_open(arena, space, space->setting_count);
    for (size_t i = 0; i < space->setting_count; i++) {
        put_setting(&all, i, space->settings + i * space->inputs);
        all.load[i] = space->loads[0];
        all.high[i] = space->load_count;
        all.least[i] = -INFINITY;
        all.most[i] = INFINITY;
    }
    all.program = graph_program_make(arena, graph_run_set(), &space->graph, all.inputs);
    run_settings(&all);
    return all;
}

/* The three steps of the file's head, with everything but `found` in `arena`. */
static bool search(struct choice *choice, struct arena *arena, struct found *found)
{
    struct scenario trial = choice->trial;
    struct servers servers = choice->servers;
    struct search_space space;
    servers.scenario = &trial;
    servers.given = choice->scenario;
    servers.arena = trial.arena = arena;            /* nothing of the search is kept */
    if (!(choice->loads == LOADS_RUNNING ? servers_space(&servers, &space, choice->error)
                                         : choice_space(choice, &servers, &space)))
        return false;
    if (!space.setting_count)
        return true;
    struct sweepers all = open_all(arena, &space);
    double nearest = INFINITY;
    for (size_t i = 0; i < space.setting_count; i++)
        nearest = fmin(nearest, worst_of(choice, &all, i));
    if (!isfinite(nearest))
        return true;                                /* nothing fits */
    found->met = nearest <= 1;
    found->overloaded = nearest >= CHOICE_OVERLOADED;
    found->miss_by = found->overloaded ? nearest / CHOICE_OVERLOADED : nearest;
    const double most = found->met ? 1 : nearest * 1.01;
    bool *kept = arena_array(arena, space.setting_count, sizeof *kept);
    for (size_t i = 0; i < space.setting_count; i++) {
        kept[i] = worst_of(choice, &all, i) <= most;
        if (kept[i])
            all.least[i] = all.out[SERVERS_WORTH][i];
    }
    if (!choice->servers.own_rows)
        keep_settings(&all, kept);
    leave_out(choice, arena, &all);
    raise_loads(choice, arena, &all, most);
    size_t best = all.space.setting_count;
    for (size_t i = 0; i < all.space.setting_count; i++)
        if (worst_of(choice, &all, i) <= most && !isnan(all.out[SERVERS_WORTH][i]) &&
            (best == all.space.setting_count || preferred(choice, &all, i, best)))
            best = i;
    if (best == all.space.setting_count)
        return true;                                /* the worth of none is a number */
    near_ties(choice, &all, most, best, found);
    return true;
}

bool choose_best(struct choice *choice, struct found *found)
{
    struct arena scratch = arena_beside(choice->trial.arena);
    const bool done = search(choice, &scratch, found);
    arena_free(&scratch);
    return done;
}
