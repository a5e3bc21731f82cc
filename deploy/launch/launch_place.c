/* Servers on hosts.
 *
 * 1. A server that one host can hold is one part. One that it cannot is cut: into as many
 *    equal parts as it takes, or where the engine lets each part say which attention ranks it
 *    has, into whole ranks, as many as a host can hold.
 * 2. Parts go in order, each to the first host with room: prompts' servers first. */
#include "deploy/launch/launch.h"

#include <math.h>
#include <string.h>

/* Equal parts of whole ranks, or ranks of whole parts. */
static size_t equal_parts(const struct launch *launch, const struct launch_pool *pool, bool whole)
{
    for (double n = ceil(pool->chips / launch->host_chips); n < pool->chips; n++) {
        const double each = pool->chips / n;
        bool fits = each == floor(each) &&
                    (!whole || fmod(each, pool->rank_chips) == 0 ||
                     fmod(pool->rank_chips, each) == 0);
        if (fits)
            return (size_t)n;
    }
    return (size_t)pool->chips;
}

static void cut(const struct launch *launch, struct launch_pool *pool)
{
    const char *spread = launch_about(launch, "spread", NULL)->value;
    const bool ranks = !strcmp(spread, "ranks");
    const double room = floor(launch->host_chips / pool->rank_chips);
    pool->parts = 1;
    pool->by_ranks = false;
    if (pool->chips <= launch->host_chips || !strcmp(spread, "launcher"))
        return;
    pool->by_ranks = ranks && !launch->pods && pool->ranks > 1 && room >= 1;
    pool->parts = pool->by_ranks ? (size_t)ceil(pool->ranks / room)
                                 : equal_parts(launch, pool, ranks);
}

/* Its chips; of a server that its launcher spreads, those of its largest share of a host. */
static struct launch_part make_part(const struct launch *launch, enum launch_role role, size_t server,
                                    size_t at)
{
    const struct launch_pool *pool = &launch->pool[role];
    const double room = floor(launch->host_chips / pool->rank_chips);
    struct launch_part part = { .role = role, .server = server, .part = at,
                                .chips = fmin(pool->chips / (double)pool->parts,
                                              launch->host_chips) };
    if (!pool->by_ranks)
        return part;
    part.start = (double)at * room;
    part.local = fmin(room, pool->ranks - part.start);
    part.chips = part.local * pool->rank_chips;
    return part;
}

struct host {
    double used;
    size_t servers;
};

/* Onto the first host with room, or the first that is empty; a launcher's server fills the
 * hosts after it too. */
static void put(struct launch *launch, struct launch_part *part, struct host *hosts, bool spread)
{
    const struct launch_pool *pool = &launch->pool[part->role];
    const double share = pool->parts > 1 ? part->chips : pool->chips;
    size_t at = 0;
    while (at < launch->hosts && hosts[at].used + (spread ? launch->host_chips : part->chips) >
                                 launch->host_chips)
        at++;
    launch->hosts += at == launch->hosts;
    part->host = at;
    part->first_chip = (size_t)hosts[at].used;
    part->index = hosts[at].servers;
    hosts[at].used += part->chips;
    hosts[at].servers++;
    for (double left = share - part->chips; left > 0; left -= launch->host_chips)
        hosts[launch->hosts++].used = launch->host_chips;
    *(struct launch_part *)arena_push(launch->arena, &launch->parts, &launch->part_count,
                                      &launch->part_room, sizeof *launch->parts) = *part;
}

/* Names for what the user knows: a host, the first host of a server. */
static void name_parts(struct launch *launch)
{
    for (size_t i = 0; i < launch->part_count; i++) {
        struct launch_part *part = &launch->parts[i];
        size_t first = i - part->part;
        part->here = "$HOST";
        part->address = arena_print(launch->arena, "$HOST_%zu", part->host + 1);
        part->leader = launch->parts[first].address;
        part->rank = arena_print(launch->arena, "%zu", part->part);
        part->index = launch->parts[first].index;
    }
}

void launch_place(struct launch *launch)
{
    size_t all = 0;
    for (int role = 0; role < LAUNCH_ROUTER; role++) {
        if (launch->pool[role].count > 0)
            cut(launch, &launch->pool[role]);
        all += (size_t)launch->pool[role].count * (size_t)ceil(launch->pool[role].chips);
    }
    struct host *hosts = arena_array(launch->arena, all + 1, sizeof *hosts);
    for (int role = 0; role < LAUNCH_ROUTER; role++)
        for (size_t s = 0; s < (size_t)launch->pool[role].count; s++)
            for (size_t p = 0; p < launch->pool[role].parts; p++) {
                struct launch_part part = make_part(launch, (enum launch_role)role, s, p);
                put(launch, &part, hosts, launch->pool[role].parts == 1 &&
                    launch->pool[role].chips > launch->host_chips);
            }
    name_parts(launch);
}
