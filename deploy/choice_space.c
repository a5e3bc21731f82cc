/* The space of replicas for a known load: a concurrency or an arrival rate of one replica, or the
 * users of a whole deployment.
 *
 *     layouts x chunks x numbers of replicas  ->  fits, TTFT, TPOT, tokens/s per chip
 *
 * A known load is part of the facts, so that each setting is one point. A number of users is divided
 * over replicas whose number is chosen too. That number is the load axis of the search: it falls from
 * one user in each replica to a single replica. Above EACH_TO replicas the numbers are 0.5 % apart. */
#include "deploy/choice.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

enum { EACH_TO = 256 };             /* every number of replicas up to this one is tried */

/* Write the numbers of replicas to try for `users`, falling, and return how many there are. */
static size_t replica_counts(double users, double *loads)
{
    const double thinned = 1.005;
    size_t count = 0;
    for (double n = fmax(1, floor(users)); n >= 1;) {
        loads[count++] = n;
        n = n > EACH_TO ? fmax(EACH_TO, fmin(n - 1, floor(n / thinned))) : n - 1;
    }
    return count;
}

bool choice_space(struct choice *choice, const struct servers *servers, struct search_space *space)
{
    enum { INPUTS = SERVERS_INPUTS + 1, LOADS = 8192 };     /* enough for 1e12 users */
    static const double one = 1;
    const char *texts[SERVERS_OUTPUTS] = {
        NAME_speed_per_user, NAME_throughput_per_chip " * " NAME_layout_trust, NAME_replica_fits, NAME_predicted_ttft,
        NAME_tpot_kept, NAME_prefill_overload, NAME_slots_load, "0", NAME_chips };
    struct setting_input inputs[INPUTS];
    struct arena *arena = servers->arena;
    struct scenario *trial = servers->scenario;
    double users = 0;
    const size_t count = choice->loads == LOADS_REPLICAS ? INPUTS : SERVERS_INPUTS;
    memcpy(inputs, servers_inputs, SERVERS_INPUTS * sizeof *inputs);
    inputs[SERVERS_INPUTS] = (struct setting_input){ NAME_replicas, 0, 1 };
    *space = (struct search_space){ .speed = SERVERS_SPEED, .throughput = SERVERS_WORTH,
                                    .most = SERVERS_ROOM, .loads = &one, .load_count = 1 };
    for (size_t i = 0; i < count; i++)
        if (!fact_given(facts_find(&trial->facts, inputs[i].row)) &&
            strcmp(inputs[i].row, NAME_chunked_prefill_size))       /* its default is a good chunk */
            facts_set(&trial->facts, inputs[i].row, inputs[i].unset, ORIGIN_CHOSEN, "choice");
    if (choice->loads == LOADS_REPLICAS) {
        double *loads = arena_array(arena, LOADS, sizeof *loads);
        if (!value_of(trial, NAME_users, &users, choice->error))
            return false;
        space->load_count = replica_counts(users, loads);
        space->loads = loads;
    }
    if (!servers_settings(servers, &space->settings, &space->setting_count, choice->error) ||
        !servers_list(arena, trial, inputs, count, texts, SERVERS_OUTPUTS, &space->graph, choice->error))
        return false;
    servers_columns(arena, servers_inputs, SERVERS_INPUTS, space);
    const int column = graph_input(&space->graph, NAME_replicas);
    space->column = column < 0 || choice->loads != LOADS_REPLICAS ? SEARCH_UNREAD : (size_t)column;
    servers_limits(servers, space);
    return true;
}
