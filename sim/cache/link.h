/* link -- a wire whose bandwidth is shared equally by the transfers in progress.
 *
 *     add --> [ latency ] --> [ in progress: each of n gets bandwidth / n ] --> ended
 *     write -----------------> [ one of these n: all that is written in the background ]
 *
 * Bytes that one of them has got since the wire was last idle are the same for all: a transfer
 * ends when this count, `served`, reaches what it was when the transfer began, plus its bytes.
 * A heap ordered by that end costs O(log n) for each transfer; nobody is updated on the way.
 *
 * Bytes, seconds. Time never goes back: a call with an earlier time than the last one counts as
 * made at the same time. What is asked changes nothing: same transfers, same bits. */
#ifndef SIM_CACHE_LINK_H
#define SIM_CACHE_LINK_H

#include "base/base.h"

struct link;

struct link *link_open(struct arena *arena, double bandwidth, double latency);
/* Bytes that somebody waits for. */
void link_add(struct link *link, double now, double bytes, uint32_t id);
/* Bytes that nobody waits for. They share as one transfer, that grows, and wait for no latency. */
void link_write(struct link *link, double now, double bytes);
/* When the next one ends that somebody waits for, if nothing is added; INFINITY: there is none. */
double link_next(struct link *link);
/* One that has ended by now, in order of their ends; false: none is left. */
bool link_end(struct link *link, double now, uint32_t *id);

/* How long so many bytes more would take if nothing is added after them: exact without latency,
 * else at most this. Cost is by transfers in progress. */
double link_seconds(struct link *link, double now, double bytes);
double link_behind(struct link *link, double now);      /* bytes still to write */
double link_busy(struct link *link, double now);        /* seconds it was not idle, so far */

#endif
