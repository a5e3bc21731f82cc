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
/* Start a transfer that a request waits for. */
void link_add(struct link *link, double now, double bytes, uint32_t id);
/* Add bytes that no request waits for. Together they are one growing transfer, without latency. */
void link_write(struct link *link, double now, double bytes);
/* When the next transfer that a request waits for ends, if nothing is added; INFINITY: none. */
double link_next(struct link *link);
/* A transfer that has ended by now, in order of their ends; false: none is left. */
bool link_end(struct link *link, double now, uint32_t *id);

/* Seconds that `bytes` more bytes would take if nothing is added after them: exact without latency,
 * otherwise an upper limit. Takes time proportional to the transfers in progress. */
double link_seconds(struct link *link, double now, double bytes);
double link_behind(struct link *link, double now);      /* bytes still to write */
double link_busy(struct link *link, double now);        /* seconds during which it was busy, so far */

#endif
