/* The tiers against a second program with plain lists, against the hit table that came with the
 * Mooncake traces, and against the theory of a time to live. */
#include "test.h"

#include "sim/cache/link.h"
#include "sim/cache/tiers.h"
#include "sim/traffic/trace.h"

#include <math.h>
#include <stdio.h>

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%.17g, expected %.17g", found, expected);
}

/* ---- by hand ----------------------------------------------------------------------------- */

static void by_hand(void **state)
{
    (void)state;
    static const struct tier_options options[] = {
        { .capacity = 2, .bandwidth = 100, .endurance = 1000, .hold_price = 0.01 },
        { .capacity = 9, .bandwidth = 10, .latency = 1, .lifetime = 20, .write_price = 2 } };
    static const uint64_t names[] = { 3, 2, 1, 7 };
    struct arena arena = { 0 };
    struct tiers *tiers = tiers_open(&arena, options, 2, 1, 10);
    size_t per_tier[TIERS_MOST];
    uint32_t id;
    for (uint64_t name = 1; name <= 3; name++)
        tiers_put(tiers, 0, name, 0);                       /* 1 goes further down */
    assert_int_equal(tiers_find(tiers, 0, names, 4, 10, per_tier), 3);
    assert_int_equal(per_tier[0], 2);
    assert_int_equal(per_tier[1], 1);
    near(tiers_seconds(tiers, 0, per_tier, 10), 2);         /* 0.2 s; 1 s and 1 s */
    assert_int_equal(tiers_fetch(tiers, 0, names, 4, 10, 77), 3);
    near(tiers_next(tiers), 10.2);
    assert_false(tiers_end(tiers, 10.2, &id));              /* the slower part is missing */
    near(tiers_next(tiers), 12);
    assert_true(tiers_end(tiers, 12, &id));
    assert_int_equal(id, 77);
    assert_true(tiers_next(tiers) == INFINITY);
    tiers_put(tiers, 0, 4, 12);                             /* 2 is less recent than 3, its root */
    assert_int_equal(tiers_find(tiers, 0, names, 4, 29, per_tier), 3);
    assert_int_equal(per_tier[0], 1);
    assert_int_equal(per_tier[1], 2);
    assert_int_equal(tiers_find(tiers, 0, &names[2], 1, 30, NULL), 0);      /* last used at 10 */
    assert_int_equal(tiers_fetch(tiers, 0, &names[2], 1, 30, 78), 0);
    struct tier_use fast = tiers_use(tiers, 0, 0, 40), slow = tiers_use(tiers, 0, 1, 40);
    assert_int_equal(fast.fetched, 2);
    assert_int_equal(fast.written, 4);
    assert_int_equal(fast.evicted, 2);
    assert_int_equal(fast.used, 2);
    near(fast.held, 80);
    near(fast.hold_cost, 8);
    near(fast.wear, 0.04);
    near(fast.busy, 0.3 + 0.2 + 0.1);
    assert_int_equal(slow.fetched, 1);
    assert_int_equal(slow.expired, 2);                      /* at 30 and at 32 */
    assert_int_equal(slow.used, 0);
    assert_int_equal(slow.used_most, 2);
    near(slow.held, 50);
    near(slow.read_bytes, 10);
    near(slow.written_bytes, 20);
    near(slow.write_cost, 40);
    arena_free(&arena);
}

/* Two replicas: what they share they find and wait for together; what is their own they do not. */
static void shared_or_not(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        struct tier_options options = { .capacity = 8, .bandwidth = 10, .shared = shared };
        struct arena arena = { 0 };
        struct tiers *tiers = tiers_open(&arena, &options, 1, 2, 10);
        uint64_t names[] = { 1, 2 };
        uint32_t id;
        tiers_put(tiers, 0, 1, 0);
        assert_int_equal(tiers_find(tiers, 1, names, 2, 5, NULL), shared);
        tiers_put(tiers, 1, 1, 5);
        assert_int_equal(tiers_use(tiers, 1, 0, 5).written, 1);
        assert_int_equal(tiers_use(tiers, 1, 0, 5).known, shared);
        assert_int_equal(tiers_fetch(tiers, 0, names, 2, 10, 5), 1);
        assert_int_equal(tiers_fetch(tiers, 1, names, 2, 10, 6), 1);
        near(tiers_next(tiers), shared ? 12 : 11);
        assert_true(tiers_end(tiers, tiers_next(tiers), &id) && id == 5);
        assert_true(tiers_end(tiers, tiers_next(tiers), &id) && id == 6);
        tiers_fetch(tiers, 0, names, 1, 20, 7);
        tiers_clear(tiers, 0, 20);
        assert_int_equal(tiers_find(tiers, 0, names, 1, 20, NULL), shared);
        assert_int_equal(tiers_find(tiers, 1, names, 1, 20, NULL), 1);
        assert_true(tiers_end(tiers, 21, &id) && id == 7);
        assert_int_equal(tiers_use(tiers, 0, 0, 30).used, shared);
        tiers_put(tiers, 0, 2, 30);
        assert_int_equal(tiers_find(tiers, 0, &names[1], 1, 30, NULL), 1);
        arena_free(&arena);
    }
}

/* A tier that cannot be written as fast as blocks come. */
static void falls_behind(void **state)
{
    (void)state;
    struct tier_options options = { .capacity = 100, .bandwidth = 10, .behind_most = 30 };
    struct arena arena = { 0 };
    struct tiers *tiers = tiers_open(&arena, &options, 1, 1, 10);
    for (uint64_t k = 0; k < 40; k++)
        tiers_put(tiers, 0, k, 0.5 * (double)k);            /* two a second, of which one can be */
    struct tier_use use = tiers_use(tiers, 0, 0, 20);
    assert_int_equal(use.written + use.lost, 40);
    assert_in_range(use.written, 21, 23);
    near(use.behind_most, 30);
    near(use.busy, 20);
    arena_free(&arena);
}

/* A call with an earlier time than the last one counts as made at the same time. */
static void comes_late(void **state)
{
    (void)state;
    struct tier_options options = { .capacity = 8, .bandwidth = 10, .lifetime = 10 };
    struct arena arena = { 0 };
    struct tiers *tiers = tiers_open(&arena, &options, 1, 1, 10);
    tiers_put(tiers, 0, 1, 20);
    tiers_put(tiers, 0, 2, 5);
    assert_int_equal(tiers_find(tiers, 0, (uint64_t[]){ 2, 1 }, 2, 29, NULL), 2);
    assert_int_equal(tiers_find(tiers, 0, (uint64_t[]){ 2 }, 1, 30, NULL), 0);
    near(tiers_use(tiers, 0, 0, 40).held, 20);
    arena_free(&arena);
}

static void no_tiers(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct tiers *tiers = tiers_open(&arena, NULL, 0, 1, 10);
    size_t per_tier[TIERS_MOST];
    uint32_t id;
    tiers_put(tiers, 0, 1, 0);
    assert_int_equal(tiers_find(tiers, 0, (uint64_t[]){ 1 }, 1, 0, per_tier), 0);
    assert_int_equal(tiers_fetch(tiers, 0, (uint64_t[]){ 1 }, 1, 0, 1), 0);
    assert_true(tiers_next(tiers) == INFINITY);
    assert_false(tiers_end(tiers, INFINITY, &id));
    arena_free(&arena);
}

/* Room is by what was held, not by what could be. */
static void room_costs_nothing(void **state)
{
    (void)state;
    struct tier_options options = { .capacity = (size_t)1 << 50, .bandwidth = 1e12 };
    struct arena arena = { 0 };
    struct tiers *tiers = tiers_open(&arena, &options, 1, 1, 1e6);
    assert_true(arena.taken < 4096);
    for (uint64_t k = 0; k < 10000; k++)
        tiers_put(tiers, 0, k * k, (double)k);
    for (uint64_t k = 0; k < 10000; k++)
        assert_int_equal(tiers_find(tiers, 0, (uint64_t[]){ k * k }, 1, 1e4, NULL), 1);
    assert_true(arena.taken < 16384 * 2 * 48);
    arena_free(&arena);
}

/* ---- a second program, slow and plain ---------------------------------------------------- */

enum { MOST = 64, REPLICAS = 2, NAMES = 60, FLIGHTS = 4000 };

struct tier_room {                      /* a tier of a replica; the least recent first */
    const struct tier_options *options;
    struct link *link;
    uint64_t name[MOST];
    double used[MOST], since[MOST];
    size_t count;
    struct tier_use use;
};

struct plain {
    struct tier_room shelf[TIERS_MOST][REPLICAS];
    size_t count;
    double block, end[FLIGHTS];
    size_t parts[FLIGHTS];
    uint32_t flights;
};

static struct tier_room *shelf_of(struct plain *p, size_t replica, size_t tier)
{
    return &p->shelf[tier][p->shelf[tier][0].options->shared ? 0 : replica];
}

static size_t plain_place(const struct tier_room *shelf, uint64_t name)
{
    size_t at = 0;
    while (at < shelf->count && shelf->name[at] != name)
        at++;
    return at;
}

static void plain_drop(struct tier_room *shelf, size_t at, double now)
{
    shelf->use.held += now - shelf->since[at];
    for (shelf->count--; at < shelf->count; at++) {
        shelf->name[at] = shelf->name[at + 1];
        shelf->used[at] = shelf->used[at + 1];
        shelf->since[at] = shelf->since[at + 1];
    }
}

static void plain_add(struct tier_room *shelf, uint64_t name, double now, double since)
{
    shelf->name[shelf->count] = name;
    shelf->used[shelf->count] = now;
    shelf->since[shelf->count++] = since;
}

static void plain_refresh(struct tier_room *shelf, size_t at, double now)
{
    uint64_t name = shelf->name[at];
    double since = shelf->since[at];
    plain_drop(shelf, at, since);
    plain_add(shelf, name, now, since);
}

static void plain_expire(struct plain *p, double now)
{
    for (size_t t = 0; t < p->count; t++)
        for (size_t r = 0; r < REPLICAS; r++)
            for (size_t i = 0; i < p->shelf[t][r].count; i++) {
                struct tier_room *shelf = &p->shelf[t][r];
                double end = shelf->used[i] + shelf->options->lifetime;
                if (shelf->options->lifetime > 0 && end <= now) {
                    plain_drop(shelf, i--, end);
                    shelf->use.expired++;
                }
            }
}

static void plain_put(struct plain *p, size_t replica, size_t tier, uint64_t name, double now)
{
    if (tier == p->count)
        return;
    struct tier_room *shelf = shelf_of(p, replica, tier);
    size_t at = plain_place(shelf, name);
    double most = shelf->options->behind_most;
    if (!shelf->options->capacity) {
        plain_put(p, replica, tier + 1, name, now);
    } else if (at < shelf->count) {
        plain_refresh(shelf, at, now);
        shelf->use.known++;
    } else if (most > 0 && link_behind(shelf->link, now) + p->block > most) {
        shelf->use.lost++;
    } else {
        link_write(shelf->link, now, p->block);
        shelf->use.written++;
        if (shelf->count == shelf->options->capacity) {
            shelf->use.evicted++;
            plain_put(p, replica, tier + 1, shelf->name[0], now);
            plain_drop(shelf, 0, now);
        }
        plain_add(shelf, name, now, now);
        if (shelf->count > shelf->use.used_most)
            shelf->use.used_most = shelf->count;
    }
}

/* The tier of a name, or the number of tiers. */
static size_t plain_tier(struct plain *p, size_t replica, uint64_t name)
{
    size_t t = 0;
    while (t < p->count &&
           plain_place(shelf_of(p, replica, t), name) == shelf_of(p, replica, t)->count)
        t++;
    return t;
}

static size_t plain_find(struct plain *p, size_t replica, const uint64_t *names, size_t count,
                         size_t *per_tier)
{
    size_t run = 0;
    memset(per_tier, 0, TIERS_MOST * sizeof *per_tier);
    for (size_t t; run < count && (t = plain_tier(p, replica, names[run])) < p->count; run++)
        per_tier[t]++;
    return run;
}

static void plain_fetch(struct plain *p, size_t replica, const uint64_t *names, size_t run,
                        const size_t *per_tier, double now)
{
    uint32_t id = p->flights++;
    assert_true(id < FLIGHTS);
    p->parts[id] = 0;
    p->end[id] = 0;
    for (size_t i = run; i--;) {
        struct tier_room *shelf = shelf_of(p, replica, plain_tier(p, replica, names[i]));
        plain_refresh(shelf, plain_place(shelf, names[i]), now);
    }
    for (size_t t = 0; t < p->count; t++) {
        struct tier_room *shelf = shelf_of(p, replica, t);
        if (!per_tier[t])
            continue;
        link_add(shelf->link, now, (double)per_tier[t] * p->block, id);
        shelf->use.fetched += per_tier[t];
        p->parts[id]++;
    }
}

/* All that ends by a time, part by part. */
static void plain_run(struct plain *p, double until)
{
    uint32_t id;
    for (size_t t = 0; t < p->count; t++)
        for (size_t r = 0; r < REPLICAS; r++)
            for (struct link *link = p->shelf[t][r].link; link_next(link) <= until;) {
                double at = link_next(link);
                assert_true(link_end(link, at, &id));
                p->parts[id]--;
                p->end[id] = fmax(p->end[id], at);
            }
}

static double plain_next(struct plain *p)
{
    double next = INFINITY;
    for (size_t t = 0; t < p->count; t++)
        for (size_t r = 0; r < REPLICAS; r++)
            next = fmin(next, link_next(p->shelf[t][r].link));
    return next;
}

static size_t both_until(struct plain *p, struct tiers *tiers, double until)
{
    uint32_t id;
    size_t ended = 0;
    assert_true(same_bits(tiers_next(tiers), plain_next(p)));
    plain_run(p, until);
    while (tiers_next(tiers) <= until) {
        double at = tiers_next(tiers);
        while (tiers_end(tiers, at, &id)) {
            assert_int_equal(p->parts[id], 0);
            assert_true(same_bits(p->end[id], at));
            p->end[id] = -1;                                /* once */
            ended++;
        }
        assert_true(tiers_next(tiers) > at);
    }
    return ended;
}

static void same_use(struct plain *p, struct tiers *tiers, size_t replica, size_t tier, double now)
{
    const struct tier_room *shelf = shelf_of(p, replica, tier);
    struct tier_use use = tiers_use(tiers, replica, tier, now), plain = shelf->use;
    for (size_t i = 0; i < shelf->count; i++)
        plain.held += now - shelf->since[i];
    assert_int_equal(use.fetched, plain.fetched);
    assert_int_equal(use.written, plain.written);
    assert_int_equal(use.known, plain.known);
    assert_int_equal(use.evicted, plain.evicted);
    assert_int_equal(use.expired, plain.expired);
    assert_int_equal(use.lost, plain.lost);
    assert_int_equal(use.used, shelf->count);
    assert_int_equal(use.used_most, plain.used_most);
    near(use.held, plain.held);
    near(use.busy, link_busy(shelf->link, now));
    near(use.read_bytes, (double)plain.fetched * p->block);
    near(use.written_bytes, (double)plain.written * p->block);
}

static size_t draw_size(uint64_t *seed, size_t most)        /* 0 to most - 1 */
{
    return (size_t)(draw(seed) * (double)most);
}

static void draw_tiers(uint64_t *seed, struct arena *arena, struct plain *p,
                       struct tier_options *options)
{
    *p = (struct plain){ .count = 1 + draw_size(seed, TIERS_MOST), .block = draw_in(seed, 1, 20) };
    for (size_t t = 0; t < p->count; t++) {
        options[t] = (struct tier_options){
            .capacity = draw_size(seed, 12) * (1 + t), .bandwidth = draw_in(seed, 5, 400),
            .latency = draw(seed) < 0.5 ? draw(seed) : 0, .shared = draw(seed) < 0.5,
            .lifetime = draw(seed) < 0.5 ? draw_in(seed, 5, 60) : 0,
            .behind_most = draw(seed) < 0.3 ? draw_in(seed, 20, 200) : 0 };
        for (size_t r = 0; r < REPLICAS; r++)
            p->shelf[t][r] = (struct tier_room){
                .options = &options[t],
                .link = link_open(arena, options[t].bandwidth, options[t].latency) };
    }
}

/* Prefixes: runs of names that begin at a few places. */
static size_t draw_names(uint64_t *seed, uint64_t *names)
{
    size_t count = 1 + draw_size(seed, 10), from = 10 * draw_size(seed, NAMES / 10);
    for (size_t i = 0; i < count; i++)
        names[i] = 1000003 * (from + i);
    return count;
}

static void lists_and_tables_agree(void **state)
{
    (void)state;
    static struct plain p;
    size_t found = 0, ended = 0, cascades = 0, expired = 0, fetches = 0;
    uint64_t seed = 17;
    for (int turn = 0; turn < rounds(200); turn++) {
        struct arena arena = { 0 };
        struct tier_options options[TIERS_MOST];
        draw_tiers(&seed, &arena, &p, options);
        struct tiers *tiers = tiers_open(&arena, options, p.count, REPLICAS, p.block);
        double now = draw_in(&seed, 0, 10);
        for (int k = 0; k < 600; k++) {
            uint64_t names[16];
            size_t per_tier[TIERS_MOST], plain_per_tier[TIERS_MOST];
            size_t count = draw_names(&seed, names), replica = draw_size(&seed, REPLICAS);
            now += draw(&seed) < 0.3 ? 0 : -log(1 - draw(&seed));
            ended += both_until(&p, tiers, now);
            plain_expire(&p, now);
            if (draw(&seed) < 0.6) {
                for (size_t i = count; i--;) {
                    tiers_put(tiers, replica, names[i], now);
                    plain_put(&p, replica, 0, names[i], now);
                }
                continue;
            }
            size_t run = plain_find(&p, replica, names, count, plain_per_tier);
            assert_int_equal(tiers_find(tiers, replica, names, count, now, per_tier), run);
            assert_memory_equal(per_tier, plain_per_tier, sizeof per_tier);
            found += run;
            if (!run || draw(&seed) < 0.2)
                continue;
            double seconds = 0;
            for (size_t t = 0; t < p.count; t++)
                if (per_tier[t])
                    seconds = fmax(seconds, link_seconds(shelf_of(&p, replica, t)->link, now,
                                                         (double)per_tier[t] * p.block));
            near(tiers_seconds(tiers, replica, per_tier, now), seconds);
            assert_int_equal(tiers_fetch(tiers, replica, names, count, now, p.flights), run);
            plain_fetch(&p, replica, names, run, per_tier, now);
            fetches++;
        }
        now += 1e4;
        ended += both_until(&p, tiers, now);
        plain_expire(&p, now);
        for (size_t t = 0; t < p.count; t++)
            for (size_t r = 0; r < REPLICAS; r++) {
                same_use(&p, tiers, r, t, now);
                cascades += p.shelf[t][r].use.evicted;
                expired += p.shelf[t][r].use.expired;
            }
        arena_free(&arena);
    }
    print_message("%zu found, %zu fetches, %zu evicted, %zu expired\n", found, fetches, cascades,
                  expired);
    assert_int_equal(fetches, ended);
    const size_t many = (size_t)part_of(10000);
    assert_true(found > many && cascades > many && expired > many);
}

/* ---- the least recently used ------------------------------------------------------------- */

/* Token hits where one tier is all there is: every block of a request is put, the last first. */
static double hit_ratio(struct arena *arena, const struct trace *trace, size_t capacity)
{
    struct tier_options options = { .capacity = capacity ? capacity : SIZE_MAX, .bandwidth = 1e15 };
    struct tiers *tiers = tiers_open(arena, &options, 1, 1, 1e6);
    double hits = 0, all = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const uint64_t *names = &trace->blocks[trace->first[i]];
        size_t count = trace->first[i + 1] - trace->first[i];
        size_t run = tiers_find(tiers, 0, names, count, trace->arrival[i], NULL);
        hits += fmin((double)(run * trace->block), trace->prompt[i]);
        all += trace->prompt[i];
        while (count)
            tiers_put(tiers, 0, names[--count], trace->arrival[i]);
    }
    return hits / all;
}

/* The table that came with the Mooncake traces; files that a fresh clone does not have. */
static void hit_tables(void **state)
{
    (void)state;
    static const size_t rooms[] = { 1000, 3000, 10000, 30000, 50000, 100000, 0 };
    static const struct { const char *file; double ratio[COUNT(rooms)]; } tables[] = {
        { "mooncake_conversation", { 0.0454, 0.0666, 0.2157, 0.3322, 0.3615, 0.3708, 0.3736 } },
        { "mooncake_synthetic", { 0.0857, 0.1942, 0.4318, 0.6356, 0.6512, 0.6512, 0.6512 } } };
    for (size_t i = 0; i < COUNT(tables); i++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct error error;
        const char *path = shared_file(&arena, arena_print(&arena, "traces/%s.jsonl.gz",
                                                           tables[i].file));
        if (!path) {
            arena_free(&arena);
            continue;
        }
        if (!trace_read(&arena, path, 1, &trace, &error))
            fail_msg("%s", error.what);
        for (size_t k = 0; k < COUNT(rooms); k++) {
            double ratio = hit_ratio(&arena, &trace, rooms[k]);
            print_message("%s%.4f", k ? "  " : "", ratio);
            assert_true(fabs(ratio - tables[i].ratio[k]) < 5.1e-5);
        }
        print_message("  %s\n", tables[i].file);
        arena_free(&arena);
    }
}

/* ---- theory ------------------------------------------------------------------------------ */

/* Names that are asked for independently, each at its own rate, in a tier without limit: a name
 * is there when the time since it was asked for last is below the lifetime; it is held for the
 * lifetime or until it is asked for again. */
static void lifetimes_follow_theory(void **state)
{
    (void)state;
    enum { BY_RATE = 50, ASKED = 400000 };
    static const double rates[] = { 0.01, 0.1, 0.3, 1, 3 };
    double hits[COUNT(rates)] = { 0 }, asked[COUNT(rates)] = { 0 }, all = 0, present = 0, now = 0;
    double lifetime = 2;
    struct tier_options options = { .capacity = SIZE_MAX, .bandwidth = 1e9, .lifetime = lifetime };
    struct arena arena = { 0 };
    struct tiers *tiers = tiers_open(&arena, &options, 1, 1, 1);
    uint64_t seed = 23;
    for (size_t c = 0; c < COUNT(rates); c++) {
        all += BY_RATE * rates[c];
        present += BY_RATE * (1 - exp(-rates[c] * lifetime));
    }
    for (size_t k = 0; k < ASKED; k++) {
        double which = draw(&seed) * all;
        uint32_t id;
        size_t c = 0;
        for (; c + 1 < COUNT(rates) && which >= BY_RATE * rates[c]; c++)
            which -= BY_RATE * rates[c];
        uint64_t name = c * BY_RATE + draw_size(&seed, BY_RATE);
        now -= log(1 - draw(&seed)) / all;
        while (tiers_end(tiers, now, &id))
            ;
        asked[c]++;
        if (tiers_fetch(tiers, 0, &name, 1, now, 1))
            hits[c]++;
        else
            tiers_put(tiers, 0, name, now);
    }
    for (size_t c = 0; c < COUNT(rates); c++) {
        double ratio = hits[c] / asked[c], theory = 1 - exp(-rates[c] * lifetime);
        double error = sqrt(theory * (1 - theory) / asked[c]);
        print_message("rate %g: %.5f +- %.5f, theory %.5f\n", rates[c], ratio, error, theory);
        assert_true(fabs(ratio - theory) < 3 * error);
    }
    double held = tiers_use(tiers, 0, 0, now).held / now;
    print_message("present: %.3f, theory %.3f\n", held, present);
    assert_true(fabs(held / present - 1) < 0.005);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(shared_or_not),
        cmocka_unit_test(falls_behind),
        cmocka_unit_test(comes_late),
        cmocka_unit_test(no_tiers),
        cmocka_unit_test(room_costs_nothing),
        cmocka_unit_test(lists_and_tables_agree),
        cmocka_unit_test(hit_tables),
        cmocka_unit_test(lifetimes_follow_theory),
    };
    return cmocka_run_group_tests_name("tiers", tests, NULL, NULL);
}
