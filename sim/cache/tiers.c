/* KV blocks in memory tiers below HBM: host memory, flash, disk, each with least-recently-used
 * eviction.
 *
 * A tier has a hash from block name to entry (linear probing, deletion by moving back: Knuth,
 * volume 3, 6.4, algorithm R) and a doubly linked list in the order of use. Blocks of a prefix are
 * touched so that no block leaves before those that follow it. A block that is evicted is written
 * to the next tier if that tier's link has room for the write, and is lost otherwise. Transfers
 * share a link as processor sharing (link.c). A tournament tree over the links gives the next
 * transfer that ends, so that the cost of a step does not grow with the number of replicas. */
#include "sim/cache/tiers.h"

#include "sim/cache/link.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { NONE = UINT32_MAX, ROOM_FIRST = 256 };
#define EMPTY UINT64_MAX

struct held {                       /* a block in a tier */
    uint64_t name;
    double used;                    /* s, the last time */
    uint32_t next, before;          /* in the order of use, the least recent first; next: spare */
};

/* One tier of one replica, or of all replicas if it is shared. */
struct tier {
    const struct tier_options *options;
    struct link *link;
    struct held *all;
    uint64_t *slots;                /* [mask + 1] the hash: two slots for each of `room` */
    size_t count, room, mask;       /* blocks in `all`; its room; number of slots - 1 */
    uint32_t first, last, spare;    /* least and most recently used block; an unused element */
    double at;                      /* time up to which use.held is integrated, s */
    bool stale;                     /* its link has changed since tiers->next was computed */
    struct tier_use use;
};

/* A fetch of one request, with a part for each tier that has some of its blocks. */
struct fetch {
    uint32_t id, parts;             /* parts in flight; if unused, the next unused fetch */
};

struct tiers {
    struct arena *arena;
    struct tier_options options[TIERS_MOST];
    size_t count, replicas;
    double block;                   /* B */
    double now;                     /* time of the last call, s */
    struct tier *all;
    size_t all_count, from[TIERS_MOST];     /* from[t]: tier t of the first replica, in `all` */
    double *next;                   /* tournament tree over the links' next end of a transfer, s */
    size_t leaves;
    uint32_t *stale;                /* indices of tiers whose leaf must be updated */
    size_t stale_count;
    struct fetch *fetches;
    size_t fetch_count, fetch_room;
    uint32_t spare;
};

/* As fmax and fmin without NaN; those are calls. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* ---- blocks of a tier, by name and in order of use --------------------------------------- */

/* The upper half of a product with the golden ratio: names that follow each other, as those of
 * traces do, fall far apart (Knuth, volume 3, 6.4). */
static uint32_t hash_of(uint64_t name)
{
    return (uint32_t)((name ^ name >> 32) * 0x9e3779b97f4a7c15u >> 32);
}

/* Slots are probed one after the other, and hold the hash beside the number, so that a name that
 * is not there is rarely looked for in `all`. */
static uint64_t slot_with(const struct tier *tier, uint32_t at)
{
    return (uint64_t)hash_of(tier->all[at].name) << 32 | at;
}

static size_t home_of(const struct tier *tier, uint64_t slot)
{
    return (size_t)(slot >> 32) & tier->mask;
}

static uint32_t find(const struct tier *tier, uint64_t name)
{
    const uint32_t hash = hash_of(name);
    if (!tier->room)
        return NONE;
    for (size_t i = hash & tier->mask; tier->slots[i] != EMPTY; i = (i + 1) & tier->mask)
        if (tier->slots[i] >> 32 == hash && tier->all[(uint32_t)tier->slots[i]].name == name)
            return (uint32_t)tier->slots[i];
    return NONE;
}

static void slot_add(struct tier *tier, uint32_t at)
{
    const uint64_t slot = slot_with(tier, at);
    size_t i = home_of(tier, slot);
    while (tier->slots[i] != EMPTY)
        i = (i + 1) & tier->mask;
    tier->slots[i] = slot;
}

/* What was pushed on by the one that leaves moves back (Knuth, volume 3, 6.4, algorithm R). */
static void slot_remove(struct tier *tier, uint32_t at)
{
    const uint64_t slot = slot_with(tier, at);
    size_t i = home_of(tier, slot);
    while (tier->slots[i] != slot)
        i = (i + 1) & tier->mask;
    for (size_t j = (i + 1) & tier->mask; tier->slots[j] != EMPTY; j = (j + 1) & tier->mask)
        if (((j - home_of(tier, tier->slots[j])) & tier->mask) >= ((j - i) & tier->mask)) {
            tier->slots[i] = tier->slots[j];
            i = j;
        }
    tier->slots[i] = EMPTY;
}

static void order_remove(struct tier *tier, uint32_t at)
{
    const struct held *held = &tier->all[at];
    *(held->before == NONE ? &tier->first : &tier->all[held->before].next) = held->next;
    *(held->next == NONE ? &tier->last : &tier->all[held->next].before) = held->before;
}

/* Less recent than `next`; NONE: the most recent. */
static void order_add(struct tier *tier, uint32_t at, uint32_t next)
{
    struct held *held = &tier->all[at];
    held->next = next;
    held->before = next == NONE ? tier->last : tier->all[next].before;
    *(held->before == NONE ? &tier->first : &tier->all[held->before].next) = at;
    *(next == NONE ? &tier->last : &tier->all[next].before) = at;
}

static void grow(struct tier *tier, struct arena *arena)
{
    size_t room = tier->room ? 2 * tier->room : ROOM_FIRST;
    struct held *all = arena_array(arena, room, sizeof *all);
    assert(room < NONE);
    if (tier->count)
        memcpy(all, tier->all, tier->count * sizeof *all);
    tier->all = all;
    tier->room = room;
    tier->mask = 2 * room - 1;
    tier->slots = arena_array(arena, 2 * room, sizeof *tier->slots);
    memset(tier->slots, 0xff, 2 * room * sizeof *tier->slots);
    for (uint32_t at = tier->first; at != NONE; at = all[at].next)
        slot_add(tier, at);
}

static uint32_t take_block(struct tier *tier, struct arena *arena)
{
    uint32_t at = tier->spare;
    if (at != NONE) {
        tier->spare = tier->all[at].next;
        return at;
    }
    if (tier->count == tier->room)
        grow(tier, arena);
    return (uint32_t)tier->count++;
}

static void count_held(struct tier *tier, double now)
{
    tier->use.held += (double)tier->use.used * larger(now - tier->at, 0);
    tier->at = larger(tier->at, now);
}

static void drop(struct tier *tier, uint32_t at)
{
    slot_remove(tier, at);
    order_remove(tier, at);
    tier->all[at].next = tier->spare;
    tier->spare = at;
    tier->use.used--;
}

static void expire(struct tier *tier, double now)
{
    double lifetime = tier->options->lifetime;
    while (lifetime > 0 && tier->first != NONE && tier->all[tier->first].used + lifetime <= now) {
        count_held(tier, tier->all[tier->first].used + lifetime);
        drop(tier, tier->first);
        tier->use.expired++;
    }
}

/* ---- when something ends ----------------------------------------------------------------- */

static void tree_stale(struct tiers *tiers, struct tier *tier)
{
    if (!tier->stale)
        tiers->stale[tiers->stale_count++] = (uint32_t)(tier - tiers->all);
    tier->stale = true;
}

static void tree_set(struct tiers *tiers, struct tier *tier)
{
    size_t at = tiers->leaves + (size_t)(tier - tiers->all);
    double next = link_next(tier->link);
    tier->stale = false;
    if (tiers->next[at] == next)
        return;
    for (tiers->next[at] = next; at /= 2;)
        tiers->next[at] = smaller(tiers->next[2 * at], tiers->next[2 * at + 1]);
}

static double tree_least(struct tiers *tiers)
{
    while (tiers->stale_count)
        tree_set(tiers, &tiers->all[tiers->stale[--tiers->stale_count]]);
    return tiers->next[1];
}

static struct tier *tree_first(const struct tiers *tiers)
{
    size_t at = 1;
    while (at < tiers->leaves)
        at = 2 * at + (tiers->next[2 * at] > tiers->next[2 * at + 1]);
    return &tiers->all[at - tiers->leaves];
}

static uint32_t fetch_open(struct tiers *tiers, uint32_t id, uint32_t parts)
{
    uint32_t at = tiers->spare;
    if (at == NONE) {
        at = (uint32_t)tiers->fetch_count;
        arena_push(tiers->arena, &tiers->fetches, &tiers->fetch_count, &tiers->fetch_room,
                   sizeof *tiers->fetches);
    } else {
        tiers->spare = tiers->fetches[at].parts;
    }
    tiers->fetches[at] = (struct fetch){ id, parts };
    return at;
}

/* ---- calls ------------------------------------------------------------------------------- */

static struct tier *tier_of(const struct tiers *tiers, size_t replica, size_t tier)
{
    return &tiers->all[tiers->from[tier] + (tiers->options[tier].shared ? 0 : replica)];
}

struct tiers *tiers_open(struct arena *arena, const struct tier_options *options, size_t count,
                         size_t replicas, double bytes_per_block)
{
    struct tiers *tiers = arena_alloc(arena, sizeof *tiers);
    assert(count <= TIERS_MOST && replicas && bytes_per_block > 0);
    *tiers = (struct tiers){ .arena = arena, .count = count, .replicas = replicas,
                             .block = bytes_per_block, .leaves = 1, .spare = NONE };
    for (size_t i = 0; i < count; i++) {
        tiers->options[i] = options[i];
        tiers->from[i] = tiers->all_count;
        tiers->all_count += options[i].shared ? 1 : replicas;
    }
    tiers->all = arena_array(arena, tiers->all_count, sizeof *tiers->all);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < (options[i].shared ? 1 : replicas); k++)
            tiers->all[tiers->from[i] + k] =
                (struct tier){ .options = &tiers->options[i],
                               .link = link_open(arena, options[i].bandwidth, options[i].latency),
                               .first = NONE, .last = NONE, .spare = NONE };
    while (tiers->leaves < tiers->all_count)
        tiers->leaves *= 2;
    tiers->next = arena_array(arena, 2 * tiers->leaves, sizeof *tiers->next);
    tiers->stale = arena_array(arena, tiers->all_count, sizeof *tiers->stale);
    for (size_t i = 0; i < 2 * tiers->leaves; i++)
        tiers->next[i] = INFINITY;
    return tiers;
}

static double later(struct tiers *tiers, double now)
{
    return tiers->now = larger(tiers->now, now);
}

/* Its bytes go to the link; false: too many wait already. */
static bool write_block(struct tiers *tiers, struct tier *tier, double now)
{
    double most = tier->options->behind_most, behind = link_behind(tier->link, now) + tiers->block;
    if (most > 0 && behind > most) {
        tier->use.lost++;
        return false;
    }
    link_write(tier->link, now, tiers->block);
    tree_stale(tiers, tier);
    tier->use.behind_most = larger(tier->use.behind_most, behind);
    tier->use.written++;
    return true;
}

/* True: another block, whose name comes back, has to go further down for it. */
static bool put(struct tiers *tiers, struct tier *tier, uint64_t *name, double now)
{
    uint32_t at = find(tier, *name);
    uint64_t out = 0;
    if (at != NONE) {
        order_remove(tier, at);
        order_add(tier, at, NONE);
        tier->all[at].used = now;
        tier->use.known++;
        return false;
    }
    if (!write_block(tiers, tier, now))
        return false;
    count_held(tier, now);
    bool full = tier->use.used == tier->options->capacity;
    if (full) {
        out = tier->all[tier->first].name;
        drop(tier, tier->first);
        tier->use.evicted++;
    }
    at = take_block(tier, tiers->arena);
    tier->all[at] = (struct held){ .name = *name, .used = now };
    slot_add(tier, at);
    order_add(tier, at, NONE);
    if (++tier->use.used > tier->use.used_most)
        tier->use.used_most = tier->use.used;
    *name = out;
    return full;
}

void tiers_put(struct tiers *tiers, size_t replica, uint64_t name, double now)
{
    now = later(tiers, now);
    for (size_t i = 0; i < tiers->count; i++) {
        struct tier *tier = tier_of(tiers, replica, i);
        if (!tier->options->capacity)
            continue;
        expire(tier, now);
        if (!put(tiers, tier, &name, now))
            return;
    }
}

size_t tiers_find(struct tiers *tiers, size_t replica, const uint64_t *names, size_t count,
                  double now, size_t *per_tier)
{
    struct tier *tier[TIERS_MOST];
    size_t found[TIERS_MOST] = { 0 }, run = 0;
    now = later(tiers, now);
    for (size_t i = 0; i < tiers->count; i++)
        expire(tier[i] = tier_of(tiers, replica, i), now);
    for (; run < count; run++) {
        size_t i = 0;
        while (i < tiers->count && find(tier[i], names[run]) == NONE)
            i++;
        if (i == tiers->count)
            break;
        found[i]++;
    }
    if (per_tier)
        memcpy(per_tier, found, sizeof found);
    return run;
}

double tiers_seconds(struct tiers *tiers, size_t replica, const size_t *per_tier, double now)
{
    double most = 0;
    now = later(tiers, now);
    for (size_t i = 0; i < tiers->count; i++)
        if (per_tier[i])
            most = larger(most, link_seconds(tier_of(tiers, replica, i)->link, now,
                                           (double)per_tier[i] * tiers->block));
    return most;
}

/* Each less recent than the one found before it in its tier, so that no block of a prefix goes
 * before those that follow it. */
static size_t touch(struct tiers *tiers, size_t replica, const uint64_t *names, size_t count,
                    double now, size_t *per_tier)
{
    uint32_t behind[TIERS_MOST] = { NONE, NONE, NONE, NONE };
    for (size_t run = 0; run < count; run++) {
        struct tier *tier = NULL;
        uint32_t at = NONE;
        size_t i = 0;
        for (; i < tiers->count && at == NONE; i++)
            at = find(tier = tier_of(tiers, replica, i), names[run]);
        if (at == NONE)
            return run;
        per_tier[--i]++;
        tier->all[at].used = now;
        if (at == behind[i])
            continue;
        order_remove(tier, at);
        order_add(tier, at, behind[i]);
        behind[i] = at;
    }
    return count;
}

size_t tiers_fetch(struct tiers *tiers, size_t replica, const uint64_t *names, size_t count,
                   double now, uint32_t id)
{
    size_t per_tier[TIERS_MOST] = { 0 }, found;
    uint32_t parts = 0;
    now = later(tiers, now);
    for (size_t i = 0; i < tiers->count; i++)
        expire(tier_of(tiers, replica, i), now);
    found = touch(tiers, replica, names, count, now, per_tier);
    for (size_t i = 0; i < tiers->count; i++)
        parts += per_tier[i] > 0;
    if (!found)
        return 0;
    uint32_t fetch = fetch_open(tiers, id, parts);
    for (size_t i = 0; i < tiers->count; i++) {
        struct tier *tier = tier_of(tiers, replica, i);
        if (!per_tier[i])
            continue;
        link_add(tier->link, now, (double)per_tier[i] * tiers->block, fetch);
        tree_stale(tiers, tier);
        tier->use.fetched += per_tier[i];
    }
    return found;
}

double tiers_next(struct tiers *tiers)
{
    return tree_least(tiers);
}

bool tiers_end(struct tiers *tiers, double now, uint32_t *id)
{
    now = later(tiers, now);
    while (tree_least(tiers) <= now && tiers->next[1] < INFINITY) {
        struct tier *tier = tree_first(tiers);
        uint32_t at;
        bool ended = link_end(tier->link, now, &at);
        tree_stale(tiers, tier);
        if (!ended || --tiers->fetches[at].parts)
            continue;
        *id = tiers->fetches[at].id;
        tiers->fetches[at].parts = tiers->spare;
        tiers->spare = at;
        return true;
    }
    return false;
}

void tiers_clear(struct tiers *tiers, size_t replica, double now)
{
    now = later(tiers, now);
    for (size_t i = 0; i < tiers->count; i++) {
        struct tier *tier = tier_of(tiers, replica, i);
        if (tier->options->shared || !tier->room)
            continue;
        expire(tier, now);
        count_held(tier, now);
        memset(tier->slots, 0xff, 2 * tier->room * sizeof *tier->slots);
        tier->first = tier->last = tier->spare = NONE;
        tier->count = tier->use.used = 0;
    }
}

struct tier_use tiers_use(struct tiers *tiers, size_t replica, size_t index, double now)
{
    struct tier *tier = tier_of(tiers, replica, index);
    const struct tier_options *options = tier->options;
    struct tier_use *use = &tier->use;
    now = later(tiers, now);
    expire(tier, now);
    count_held(tier, now);
    use->read_bytes = (double)use->fetched * tiers->block;
    use->written_bytes = (double)use->written * tiers->block;
    use->busy = link_busy(tier->link, now);
    use->wear = options->endurance > 0 ? use->written_bytes / options->endurance : 0;
    use->hold_cost = use->held * tiers->block * options->hold_price;
    use->write_cost = use->written_bytes * options->write_price;
    return *use;
}
