/* Servers on hosts.
 *
 * 1. A server that one host can hold is one part. One that it cannot is cut: into as many
 *    equal parts as it takes, or where the engine lets each part say which attention ranks it
 *    has, into whole ranks, as many as a host can hold.
 * 2. Parts go in order, each to the first host with room: prompts' servers first. */
#include "ask/launch/launch.h"

#include <math.h>
#include <string.h>

/* Equal parts of whole ranks, or ranks of whole parts. */
static size_t equal_parts(const struct emit *emit, const struct emit_pool *pool, bool whole)
{
    for (double n = ceil(pool->chips / emit->host_chips); n < pool->chips; n++) {
        const double each = pool->chips / n;
        bool fits = each == floor(each) &&
                    (!whole || fmod(each, pool->rank_chips) == 0 ||
                     fmod(pool->rank_chips, each) == 0);
        if (fits)
            return (size_t)n;
    }
    return (size_t)pool->chips;
}

static void cut(const struct emit *emit, struct emit_pool *pool)
{
    const char *spread = emit_about(emit, "spread", NULL)->value;
    const bool ranks = !strcmp(spread, "ranks");
    const double room = floor(emit->host_chips / pool->rank_chips);
    pool->parts = 1;
    pool->by_ranks = false;
    if (pool->chips <= emit->host_chips || !strcmp(spread, "launcher"))
        return;
    pool->by_ranks = ranks && !emit->manifest && pool->ranks > 1 && room >= 1;
    pool->parts = pool->by_ranks ? (size_t)ceil(pool->ranks / room)
                                 : equal_parts(emit, pool, ranks);
}

/* Its chips; of a server that its launcher spreads, those of its largest share of a host. */
static struct emit_part make_part(const struct emit *emit, enum emit_role role, size_t server,
                                  size_t at)
{
    const struct emit_pool *pool = &emit->pool[role];
    const double room = floor(emit->host_chips / pool->rank_chips);
    struct emit_part part = { .role = role, .server = server, .part = at,
                              .chips = fmin(pool->chips / (double)pool->parts,
                                            emit->host_chips) };
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
static void put(struct emit *emit, struct emit_part *part, struct host *hosts, bool spread)
{
    const struct emit_pool *pool = &emit->pool[part->role];
    const double share = pool->parts > 1 ? part->chips : pool->chips;
    size_t at = 0;
    while (at < emit->hosts && hosts[at].used + (spread ? emit->host_chips : part->chips) >
                               emit->host_chips)
        at++;
    emit->hosts += at == emit->hosts;
    part->host = at;
    part->first_chip = (size_t)hosts[at].used;
    part->index = hosts[at].servers;
    hosts[at].used += part->chips;
    hosts[at].servers++;
    for (double left = share - part->chips; left > 0; left -= emit->host_chips)
        hosts[emit->hosts++].used = emit->host_chips;
    *(struct emit_part *)arena_push(emit->arena, &emit->parts, &emit->part_count,
                                    &emit->part_room, sizeof *emit->parts) = *part;
}

/* Names for what the user knows: a host, the first host of a server. */
static void name_parts(struct emit *emit)
{
    for (size_t i = 0; i < emit->part_count; i++) {
        struct emit_part *part = &emit->parts[i];
        size_t first = i - part->part;
        part->here = "$HOST";
        part->address = arena_print(emit->arena, "$HOST_%zu", part->host + 1);
        part->leader = emit->parts[first].address;
        part->rank = arena_print(emit->arena, "%zu", part->part);
        part->index = emit->parts[first].index;
    }
}

void emit_place(struct emit *emit)
{
    size_t all = 0;
    for (int role = 0; role < EMIT_ROUTER; role++) {
        if (emit->pool[role].count > 0)
            cut(emit, &emit->pool[role]);
        all += (size_t)emit->pool[role].count * (size_t)ceil(emit->pool[role].chips);
    }
    struct host *hosts = arena_array(emit->arena, all + 1, sizeof *hosts);
    for (int role = 0; role < EMIT_ROUTER; role++)
        for (size_t s = 0; s < (size_t)emit->pool[role].count; s++)
            for (size_t p = 0; p < emit->pool[role].parts; p++) {
                struct emit_part part = make_part(emit, (enum emit_role)role, s, p);
                put(emit, &part, hosts, emit->pool[role].parts == 1 &&
                    emit->pool[role].chips > emit->host_chips);
            }
    name_parts(emit);
}
