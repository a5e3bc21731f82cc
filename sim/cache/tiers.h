/* tiers -- memory tiers below HBM, which keep KV blocks that were evicted from the cache.
 *
 *     HBM of a replica --put--> host memory --> flash --> disk --> gone
 *            ^                       |            |         |
 *            +-------- fetch --------+------------+---------+
 *
 * A block that leaves HBM is written to the first tier; the least recently used block there, if it has
 * to make room, is written to the next. A block that is found stays where it is, becomes the most
 * recently used, and is copied up. Being put into a tier or fetched from it is a use; a block that is
 * not used for its lifetime is dropped, and not written further.
 *
 * A tier is shared by all replicas, or each has its own. Fetches share its bandwidth (link.h);
 * writes are one transfer in the background, and a block is found from the moment it is put.
 * Reading a block to write it further down costs nothing: the tier below is the slower one.
 *
 * Names are the 64-bit names of prefix blocks. Time never goes back, as in link.h. The memory that the
 * simulator needs grows with the blocks that a tier really holds, not with its capacity. */
#ifndef SIM_CACHE_TIERS_H
#define SIM_CACHE_TIERS_H

#include "base/base.h"

enum { TIERS_MOST = 4 };

struct tier_options {
    size_t capacity;                /* blocks; 0: a block that is put here goes to the next tier */
    double bandwidth, latency;      /* B/s; s per fetch */
    double lifetime;                /* s since the last use after which a block is dropped; 0: none */
    double endurance;               /* B that can be written until it is worn out; 0: no limit */
    double behind_most;             /* B that may wait to be written; further blocks are lost; 0: no
                                       limit */
    double hold_price;              /* USD/B/s for stored blocks */
    double fetch_price;             /* USD/B for fetched blocks */
    double write_price;             /* USD/B for the wear of writing */
    bool shared;                    /* one tier for all replicas; false: one for each */
};

/* What a tier did until now. */
struct tier_use {
    uint64_t fetched, written, known;       /* blocks; known: were already here when put */
    uint64_t evicted, expired, lost;        /* blocks; lost: could not be written in time */
    size_t used, used_most;                 /* blocks stored: now; at most */
    double held;                            /* blocks stored, integrated over time: blocks times s */
    double read_bytes, written_bytes;
    double behind_most;                     /* largest backlog of writes, B */
    double busy;                            /* s during which a transfer ran */
    double wear;                            /* share of the endurance used; 0 if endurance is 0 */
    double hold_cost, write_cost;           /* USD */
};

struct tiers;

/* Tiers from the fastest to the slowest; at most TIERS_MOST. */
struct tiers *tiers_open(struct arena *arena, const struct tier_options *options, size_t count,
                         size_t replicas, double bytes_per_block);
/* A block leaves the HBM of a replica. */
void tiers_put(struct tiers *tiers, size_t replica, uint64_t name, double now);
/* How many of the first names, without a gap, are in some tier, and how many in each (the fastest tier that
 * has a name counts): per_tier[TIERS_MOST], or NULL. Does not count as a use. */
size_t tiers_find(struct tiers *tiers, size_t replica, const uint64_t *names, size_t count,
                  double now, size_t *per_tier);
/* Seconds to fetch per_tier blocks, if nothing else is fetched after them. */
double tiers_seconds(struct tiers *tiers, size_t replica, const size_t *per_tier, double now);
/* Start a fetch of the blocks that tiers_find finds, the first one as the most recently used; returns their
 * number. A fetch of 0 blocks never ends. An id may be in flight more than once. */
size_t tiers_fetch(struct tiers *tiers, size_t replica, const uint64_t *names, size_t count,
                   double now, uint32_t id);
/* No fetch ends before this time; INFINITY: nothing is in flight. */
double tiers_next(struct tiers *tiers);
/* A fetch that has ended by now, all parts of it; false: none is left. */
bool tiers_end(struct tiers *tiers, double now, uint32_t *id);
/* A replica fails: its own tiers lose their content. Fetches in flight still end. */
void tiers_clear(struct tiers *tiers, size_t replica, double now);
struct tier_use tiers_use(struct tiers *tiers, size_t replica, size_t tier, double now);

#endif
