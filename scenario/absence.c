/* Why there is no server that the figures could be of: the model does not fit, nor one request, no replica can have this
 * layout, or arrivals exceed its capacity. */
#include "scenario/scenario.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <string.h>

const char *scenario_misfit(struct scenario *scenario)
{
    static const char *const texts[] = { NAME_replica_memory_share, NAME_replica_memory_share " * " NAME_hbm_usable,
                                         NAME_hbm_usable };
    struct values values;
    struct error ignored;
    if (!scenario->model || !scenario->machine ||
        !values_of(scenario, texts, 3, &values, &ignored) || !(values.at[0] > 1))
        return NULL;
    const char *needed = "", *room = "";
    struct unit unit = scenario_unit(scenario, texts[2]);
    for (int digits = 3; digits < 10; digits += 2) {
        needed = quantity_text(scenario->arena, values.at[1], unit, digits);
        room = quantity_text(scenario->arena, values.at[2], unit, digits);
        if (strcmp(needed, room))
            break;
    }
    return arena_print(scenario->arena, "needs %s, has %s", needed, room);
}

const struct scenario_absence scenario_absences[SCENARIO_ABSENCES] = {
    { NAME_replica_memory_share, false, NAME_gpu_memory_utilization, "does not fit in memory", "no", "out of memory" },
    { NAME_replica_fits, true, NAME_max_num_seqs, "has no room for one request", "no",
      "out of memory: no request fits beside the weights" },
    { NAME_layout_exists, true, NAME_max_num_seqs, "cannot have this layout", "no",
      "no such layout: TP, DP, PP or EP does not divide the GPUs, the heads, the layers or the experts evenly" },
    { NAME_stable, true, NAME_prefill_load_max, "is overloaded", "overloaded",
      "overloaded: arrivals exceed the capacity of the replica, and queues grow without bound" } };

bool absence_at(const struct scenario_absence *absence, double value)
{
    return absence->holds ? value < 1 : value > 1;
}

/* Does a figure need this input, and is there no server? `partly`: is it so in a part of the ranges that were given? */
static bool is_absent(struct scenario *scenario, const struct scenario_absence *absence, const char *input,
                      const struct values *asked, bool *partly)
{
    struct values values;
    struct error ignored;
    *partly = false;
    if (!values_depend(scenario->arena, asked, input) || !values_of(scenario, &absence->row, 1, &values, &ignored))
        return false;
    const struct range range = values_range(scenario, &values, 0);
    *partly = absence_at(absence, range.low) || absence_at(absence, range.high);
    return absence_at(absence, values.at[0]);
}

static bool has_ranges(const struct facts *facts)
{
    for (size_t i = 0; i < facts->scalar_count; i++)
        if (fact_given(&facts->scalars[i]) && facts->scalars[i].distribution != DISTRIBUTION_NONE)
            return true;
    return false;
}

const struct scenario_absence *scenario_absent(struct scenario *scenario, const char *const *asked, size_t count)
{
    const struct scenario_absence *overload = &scenario_absences[SCENARIO_ABSENCES - 1];
    struct values values;
    struct error ignored;
    bool partly;
    if (scenario->choice.made && scenario->choice.met && !scenario->axis && !has_ranges(&scenario->facts) &&
        scenario->choice.divides)
        return NULL;                            /* a server within the limits was found for this load */
    const char *misfit = scenario_misfit(scenario);
    const bool known = count && values_of(scenario, asked, count, &values, &ignored);
    for (size_t i = 0; i < SCENARIO_ABSENCES && known; i++) {
        const struct scenario_absence *absence = &scenario_absences[i];
        if (is_absent(scenario, absence, absence->input, &values, &partly))
            return absence;
        if (partly)
            facts_note(&scenario->facts, "in a part of the range the server %s, and no figure holds there", absence->is);
    }
    if (known && is_absent(scenario, overload, NAME_arrival_rate, &values, &partly))
        facts_note(&scenario->facts, "%s", overload->why);
    if (misfit)
        facts_note(&scenario->facts, "no such server fits in memory (%s): figures of the model alone hold", misfit);
    return NULL;
}

const char *scenario_no_server(struct scenario *scenario, const char *const *asked, size_t count)
{
    const struct scenario_absence *absence = scenario_absent(scenario, asked, count);
    return absence == scenario_absences ? arena_print(scenario->arena, "%s: %s", absence->why, scenario_misfit(scenario))
           : absence ? absence->why : NULL;
}
