/* The cheapest place along the pause.
 *
 * 1. The costs of all places are evaluated on a grid of pauses that is even in the logarithm.
 * 2. Where the cheapest place differs between two points, the interval is halved until two pauses
 *    are neighbours among the numbers of the machine: the second begins the next stretch.
 *
 * A place that is the cheapest only between two neighbouring points of the grid is not found. */
#include "ask/tiers/tiers.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>

enum { POINTS = 4000 };
static const double shortest = 1e-9;            /* s, of the grid after 0 */

/* ---- one pause -------------------------------------------------------------------- */

const double *places_costs(struct places *places, double pause)
{
    graph_value(places->scenario->arena, &places->graph, &pause, NULL, places->at);
    return places->at;
}

/* Costs of place i at costs[i * stride]. */
static size_t cheapest(const double *costs, size_t stride, size_t tiers)
{
    size_t best = tiers;
    for (size_t i = 0; i < tiers; i++)
        if (costs[i * stride] < costs[best * stride])
            best = i;
    return best;
}

size_t places_best(struct places *places, double pause)
{
    return cheapest(places_costs(places, pause), 1, places->tiers);
}

double places_again(struct places *places, size_t tier)
{
    const double *costs = places_costs(places, 0);
    double low = 0, high = places->longest;
    if (costs[tier] >= costs[places->tiers])
        return 0;
    costs = places_costs(places, high);
    if (costs[tier] < costs[places->tiers])
        return INFINITY;
    for (double middle; middle = low + (high - low) / 2, middle > low && middle < high;) {
        costs = places_costs(places, middle);
        if (costs[tier] < costs[places->tiers])
            low = middle;
        else
            high = middle;
    }
    return high;
}

bool places_on_path(const struct places *places, size_t place)
{
    for (size_t i = 0; i < places->path_count; i++)
        if (places->path[i].place == place)
            return true;
    return false;
}

/* ---- the path ------------------------------------------------------------------------ */

size_t places_best_of(const struct places *places, size_t point)
{
    return cheapest(places->costs + point, places->points, places->tiers);
}

/* The first pause above `low` at which `place` is no longer the cheapest, as at `high`. */
static double border(struct places *places, size_t place, double low, double high)
{
    for (double middle; middle = low + (high - low) / 2, middle > low && middle < high;)
        if (places_best(places, middle) == place)
            low = middle;
        else
            high = middle;
    return high;
}

static void add_stretch(struct places *places, size_t place, double from)
{
    if (places->path_count)
        places->path[places->path_count - 1].until = from;
    *(struct stretch *)arena_push(places->scenario->arena, &places->path, &places->path_count,
                                  &places->path_room, sizeof *places->path) =
        (struct stretch){ place, from, INFINITY };
}

static void find_path(struct places *places)
{
    size_t now = places_best_of(places, 0);
    add_stretch(places, now, 0);
    for (size_t i = 1; i < places->points; i++) {
        double low = places->grid[i - 1];
        while (low < places->grid[i] && now != places_best_of(places, i)) {
            low = border(places, now, low, places->grid[i]);
            now = places_best(places, low);
            add_stretch(places, now, low);
        }
    }
}

bool places_open(struct scenario *scenario, struct places *places, struct error *error)
{
    struct arena *arena = scenario->arena;
    const struct fact_table *table = facts_table(&scenario->facts, "tier");
    const size_t tiers = table->entries;
    struct values values;
    *places = (struct places){ .scenario = scenario, .tiers = tiers, .points = POINTS };
    places->names = arena_array(arena, tiers + 1, sizeof *places->names);
    const char **texts = arena_array(arena, tiers + 1, sizeof *texts);
    for (size_t i = 0; i < tiers; i++) {
        places->names[i] = table->entry[i];
        texts[i] = arena_print(arena, "tier_pause_cost[%s]", table->entry[i]);
    }
    places->names[tiers] = "recompute";
    texts[tiers] = NAME_recompute_pause_cost;
    if (!values_of(scenario, texts, tiers + 1, &values, error))
        return false;

    /* All but the pause is a number from here on. */
    bool *vary = arena_array(arena, values.graph.input_count + 1, sizeof *vary);
    const int pause = graph_input(&values.graph, NAME_hold_time);
    if (pause >= 0)
        vary[pause] = true;
    graph_specialize(arena, &values.graph, values.inputs, vary, &places->graph);
    places->at = values.at;

    places->longest = formulas_row(&scenario->formulas, formulas_find(&scenario->formulas, NAME_hold_time))->high;
    places->grid = arena_array(arena, POINTS, sizeof *places->grid);
    places->costs = arena_array(arena, (tiers + 1) * POINTS, sizeof *places->costs);
    double **columns = arena_array(arena, tiers + 1, sizeof *columns);
    for (size_t i = 1; i < POINTS; i++)
        places->grid[i] = log_between(shortest, places->longest, (double)(i - 1) / (POINTS - 2));
    places->grid[POINTS - 1] = places->longest;
    for (size_t i = 0; i <= tiers; i++)
        columns[i] = places->costs + i * POINTS;
    graph_run(&places->graph, &(struct column){ places->grid, 1 }, columns, POINTS);
    find_path(places);
    return true;
}
