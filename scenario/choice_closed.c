/* The best replica for a known load: a concurrency, or an arrival rate, of one replica.
 *
 * Each layout that engines and hosts can start is one point. Of those within the limits the one
 * with the most tokens per chip is chosen; if there is none, the one that exceeds a limit by the
 * least. Overloaded candidates are compared by how much they are overloaded, since their TPOT only
 * says how many slots there are. */
#include "scenario/choice.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

enum { FITS, TTFT, TPOT, WORTH, LOAD, PROMPTS, OUTPUTS };

/* Candidate settings: a column for each input of the layout. */
struct candidates {
    double *columns[LAYOUT_ROWS];
    size_t count;
};

static bool list_candidates(const struct choice *choice, struct candidates *candidates)
{
    struct servers servers = choice->servers;
    const double *settings;
    servers.given = choice->scenario;
    servers.layouts_only = true;
    if (!servers_settings(&servers, &settings, &candidates->count, choice->error))
        return false;
    for (int k = 0; k < LAYOUT_ROWS; k++) {
        candidates->columns[k] = arena_array(servers.arena, candidates->count + 1, sizeof(double));
        for (size_t i = 0; i < candidates->count; i++)
            candidates->columns[k][i] = settings[i * SERVERS_INPUTS + (size_t)k];
    }
    return true;
}

/* The candidate within the limits that delivers the most tokens per chip; if there is none, the one
 * that misses them by the least. */
static void best_closed(const struct choice *choice, const struct candidates *candidates,
                        double *const *outputs, struct found *found)
{
    const double overloaded = 1e6;
    size_t best = 0;
    for (size_t i = 0; i < candidates->count; i++) {
        if (!(outputs[FITS][i] > 0))
            continue;
        const double slow = fmax(outputs[TTFT][i] / choice->servers.ttft,
                                 outputs[TPOT][i] / choice->servers.tpot);
        const double busy = fmax(outputs[LOAD][i] / choice->servers.margin,
                                 outputs[PROMPTS][i]);   /* 0 in a closed loop */
        /* of the overloaded the least so comes first: their TPOT says only how many slots there are */
        const double miss = busy > 1 ? overloaded * busy : slow;
        const bool met = miss <= 1;
        const bool fewer = candidates->columns[0][i] < candidates->columns[0][best];
        const bool more = outputs[WORTH][i] > outputs[WORTH][best];
        bool better = !found->any || (met && !found->met) ||
                      (!met && !found->met && miss < found->miss_by);
        if (found->any && met && found->met)
            better = choice->priced ? more
                   : fewer || (candidates->columns[0][i] == candidates->columns[0][best] && more);
        if (!better)
            continue;
        best = i;
        found->any = true;
        found->met = met;
        found->miss_by = miss;
    }
    found->overloaded = found->miss_by >= overloaded;
    if (found->overloaded)
        found->miss_by /= overloaded;
    for (int k = 0; k < LAYOUT_ROWS && found->any; k++)
        found->layout[k] = candidates->columns[k][best];
}

bool choose_closed(struct choice *choice, struct found *found)
{
    static const char *const texts[OUTPUTS] = {
        NAME_replica_fits, NAME_predicted_ttft, NAME_predicted_tpot, NAME_throughput_per_chip,
        NAME_slots_load, NAME_prefill_overload };
    struct arena *arena = choice->trial.arena;
    struct candidates candidates = { .count = 0 };
    struct values values;
    double *outputs[OUTPUTS];
    for (int i = 0; i < LAYOUT_ROWS; i++)
        facts_set(&choice->trial.facts, servers_inputs[i].row, 1, ORIGIN_CHOSEN, "choice");
    if (!list_candidates(choice, &candidates))
        return false;
    if (!candidates.count)
        return true;
    if (!values_of(&choice->trial, texts, OUTPUTS, &values, choice->error))
        return false;
    struct column *inputs = arena_array(arena, values.graph.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < values.graph.input_count; i++)
        inputs[i] = (struct column){ &values.inputs[i], 0 };
    for (int i = 0; i < LAYOUT_ROWS; i++) {
        const int input = graph_input(&values.graph, servers_inputs[i].row);
        if (input >= 0)
            inputs[input] = (struct column){ candidates.columns[i], 1 };
    }
    for (int i = 0; i < OUTPUTS; i++)
        outputs[i] = arena_array(arena, candidates.count, sizeof *outputs[i]);
    graph_run(&values.graph, inputs, outputs, candidates.count);
    best_closed(choice, &candidates, outputs, found);
    return true;
}
