/* A link shared equally by its transfers: egalitarian processor sharing by attained service
 * (Kleinrock 1967; as virtual time in Demers, Keshav and Shenker 1989).
 *
 * `served` counts the bytes that each transfer in progress has received since the link was last
 * idle, which is the same for all of them; a transfer ends when that count reaches its value at
 * the start plus the transfer's bytes. A heap by that end and a queue of transfers still in their
 * latency suffice: no transfer is updated while others start or end. Background writes share as
 * one transfer. A forecast repeats the same changes on a copy and does not affect the state. */
#include "sim/cache/link.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct link_transfer {
    double at;                      /* pending: when it begins, s; in the heap: `served` at its end, B;
                                       ended: when it ended, s */
    double bytes;
    uint32_t order, id;
};

struct transfer_queue {                       /* a first-in, first-out queue */
    struct link_transfer *all;
    size_t first, count, room;      /* those from `first` to `count` */
};

/* How far the transfers in progress are. */
struct pace {
    double at;                      /* time of the last change, s */
    double served;                  /* bytes that each transfer had received by then */
    double written;                 /* `served` at which the background writes are done */
    size_t sharing;                 /* transfers in progress, including the background writes */
    bool writing;                   /* background writes are in progress */
};

struct link {
    struct arena *arena;
    double bandwidth, latency;      /* B/s; s */
    struct pace pace;
    struct link_transfer *heap;          /* in progress, the first to end on top */
    size_t count, room;
    struct transfer_queue pending, ended;     /* in their latency; ended and not yet reported */
    uint32_t order;                 /* transfers so far, which breaks ties */
    double now, busy, next;         /* time; time with a transfer; next end: s */
    bool known, settled;            /* `next` is up to date; nothing is due by `now` */
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

struct link *link_open(struct arena *arena, double bandwidth, double latency)
{
    struct link *link = arena_alloc(arena, sizeof *link);
    assert(bandwidth > 0 && bandwidth < INFINITY && latency >= 0);
    *link = (struct link){ .arena = arena, .bandwidth = bandwidth, .latency = latency };
    return link;
}

/* ---- a line, a heap ---------------------------------------------------------------------- */

static void line_add(struct arena *arena, struct transfer_queue *line, struct link_transfer transfer)
{
    if (line->count == line->room && line->first > line->room / 2) {
        line->count -= line->first;
        memmove(line->all, &line->all[line->first], line->count * sizeof *line->all);
        line->first = 0;
    }
    *(struct link_transfer *)arena_push(arena, &line->all, &line->count, &line->room,
                                   sizeof transfer) = transfer;
}

static struct link_transfer *line_first(const struct transfer_queue *line)
{
    return line->first < line->count ? &line->all[line->first] : NULL;
}

static void line_pop(struct transfer_queue *line)
{
    if (++line->first == line->count)
        line->first = line->count = 0;
}

static bool sooner(const struct link_transfer *a, const struct link_transfer *b)
{
    return a->at < b->at || (a->at == b->at && (int32_t)(a->order - b->order) < 0);
}

static void heap_push(struct link *link, struct link_transfer transfer)
{
    arena_push(link->arena, &link->heap, &link->count, &link->room, sizeof transfer);
    size_t at = link->count - 1;
    for (; at && sooner(&transfer, &link->heap[(at - 1) / 2]); at = (at - 1) / 2)
        link->heap[at] = link->heap[(at - 1) / 2];
    link->heap[at] = transfer;
}

static struct link_transfer heap_pop(struct link *link)
{
    struct link_transfer top = link->heap[0], last = link->heap[--link->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < link->count; at = child) {
        if (child + 1 < link->count && sooner(&link->heap[child + 1], &link->heap[child]))
            child++;
        if (!sooner(&link->heap[child], &last))
            break;
        link->heap[at] = link->heap[child];
    }
    link->heap[at] = last;
    return top;
}

/* ---- the pace ---------------------------------------------------------------------------- */

/* When each has got so much. */
static double pace_when(const struct pace *pace, double bandwidth, double served)
{
    return pace->at + larger(served - pace->served, 0) * (double)pace->sharing / bandwidth;
}

static double pace_served(const struct pace *pace, double bandwidth, double now)
{
    if (!pace->sharing)
        return 0;
    return pace->served + larger(now - pace->at, 0) * bandwidth / (double)pace->sharing;
}

static void pace_pass(struct pace *pace, double bandwidth, double now)
{
    pace->served = pace_served(pace, bandwidth, now);
    pace->at = larger(pace->at, now);
}

static double pace_writes_until(const struct pace *pace, double bandwidth)
{
    return pace->writing ? pace_when(pace, bandwidth, pace->written) : INFINITY;
}

static void pace_stop_writing(struct pace *pace, double now)
{
    pace->served = pace->written;
    pace->at = now;
    pace->writing = false;
    pace->sharing--;
}

/* ---- what happens by itself -------------------------------------------------------------- */

static void begin(struct link *link, struct link_transfer transfer)
{
    pace_pass(&link->pace, link->bandwidth, transfer.at);
    link->pace.sharing++;
    transfer.at = link->pace.served + transfer.bytes;
    heap_push(link, transfer);
}

static void end(struct link *link, double now)
{
    struct link_transfer top = heap_pop(link);
    link->pace.served = top.at;
    link->pace.at = top.at = now;
    link->pace.sharing--;
    line_add(link->arena, &link->ended, top);
}

/* The first change, if it comes by now; of changes at once, ends before beginnings. */
static bool change(struct link *link, double now)
{
    struct pace *pace = &link->pace;
    const struct link_transfer *pending = line_first(&link->pending);
    double begins = pending ? pending->at : INFINITY;
    double ends = link->count ? pace_when(pace, link->bandwidth, link->heap[0].at) : INFINITY;
    double written = pace_writes_until(pace, link->bandwidth);
    double first = smaller(begins, smaller(ends, written)), before = pace->at;
    if (!(first <= now) || first == INFINITY)
        return false;
    link->busy += pace->sharing ? larger(first - before, 0) : 0;
    if (ends == first) {
        end(link, first);
    } else if (written == first) {
        pace_stop_writing(pace, first);
    } else {
        begin(link, *pending);
        line_pop(&link->pending);
    }
    return true;
}

/* What happens by now; returns now, or the last time that was called now. */
static double settle(struct link *link, double now)
{
    if (link->settled && now <= link->now)
        return link->now;
    link->now = larger(link->now, now);
    while (change(link, link->now))
        link->known = false;
    link->settled = true;
    return link->now;
}

/* The same changes on a copy of the pace, until the first end. */
static double forecast(const struct link *link)
{
    struct pace pace = link->pace;
    double least = link->count ? link->heap[0].at : INFINITY;
    for (size_t i = link->pending.first;;) {
        const struct link_transfer *pending = i < link->pending.count ? &link->pending.all[i] : NULL;
        if (least == INFINITY && !pending)
            return INFINITY;
        double begins = pending ? pending->at : INFINITY;
        double ends = least < INFINITY ? pace_when(&pace, link->bandwidth, least) : INFINITY;
        double written = pace_writes_until(&pace, link->bandwidth);
        if (ends <= smaller(begins, written))
            return ends;
        if (written <= begins) {
            pace_stop_writing(&pace, written);
            continue;
        }
        pace_pass(&pace, link->bandwidth, begins);
        pace.sharing++;
        least = smaller(least, pace.served + pending->bytes);
        i++;
    }
}

/* ---- calls ------------------------------------------------------------------------------- */

void link_add(struct link *link, double now, double bytes, uint32_t id)
{
    assert(bytes >= 0);
    now = settle(link, now);
    line_add(link->arena, &link->pending,
             (struct link_transfer){ .at = now + link->latency, .bytes = bytes,
                                .order = link->order++, .id = id });
    link->known = link->settled = false;
    settle(link, now);
}

void link_write(struct link *link, double now, double bytes)
{
    struct pace *pace = &link->pace;
    now = settle(link, now);
    link->known = link->known && link->next == INFINITY;
    if (pace->writing) {
        pace->written += bytes;
        return;
    }
    link->settled = false;
    link->busy += pace->sharing ? larger(now - pace->at, 0) : 0;
    pace_pass(pace, link->bandwidth, now);
    pace->writing = true;
    pace->sharing++;
    pace->written = pace->served + bytes;
}

double link_next(struct link *link)
{
    const struct link_transfer *ended = line_first(&link->ended);
    if (ended)
        return ended->at;
    if (!link->known) {
        link->next = forecast(link);
        link->known = true;
    }
    return link->next;
}

bool link_end(struct link *link, double now, uint32_t *id)
{
    settle(link, now);
    const struct link_transfer *ended = line_first(&link->ended);
    if (!ended)
        return false;
    *id = ended->id;
    line_pop(&link->ended);
    return true;
}

/* While it gets its bytes, each of the others gets as many, or what it still needs. */
double link_seconds(struct link *link, double now, double bytes)
{
    now = settle(link, now);
    double served = pace_served(&link->pace, link->bandwidth, now), sum = bytes;
    for (size_t i = 0; i < link->count; i++)
        sum += smaller(link->heap[i].at - served, bytes);
    for (size_t i = link->pending.first; i < link->pending.count; i++)
        sum += smaller(link->pending.all[i].bytes, bytes);
    if (link->pace.writing)
        sum += smaller(link->pace.written - served, bytes);
    return link->latency + sum / link->bandwidth;
}

double link_behind(struct link *link, double now)
{
    now = settle(link, now);
    return link->pace.writing
               ? link->pace.written - pace_served(&link->pace, link->bandwidth, now) : 0;
}

double link_busy(struct link *link, double now)
{
    now = settle(link, now);
    return link->busy + (link->pace.sharing ? larger(now - link->pace.at, 0) : 0);
}
