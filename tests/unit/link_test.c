/* The shared link against a second program that moves every byte of every transfer, and against
 * the theory of processor sharing. */
#include "test.h"

#include "sim/cache/link.h"

#include <math.h>

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%.17g, expected %.17g", found, expected);
}

static void ends(struct link *link, double at, uint32_t id)
{
    uint32_t found;
    near(link_next(link), at);
    assert_true(link_end(link, link_next(link), &found));
    assert_int_equal(found, id);
}

/* ---- by hand ----------------------------------------------------------------------------- */

static void by_hand(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct link *link = link_open(&arena, 10, 1);
    uint32_t id;
    assert_true(link_next(link) == INFINITY);
    assert_false(link_end(link, 5, &id));
    link_add(link, 10, 40, 1);              /* begins at 11, alone until 12 */
    near(link_next(link), 15);
    near(link_seconds(link, 10, 40), 9);
    link_add(link, 11, 20, 2);              /* from 12 on each gets 5 B/s */
    ends(link, 16, 2);
    ends(link, 17, 1);
    assert_true(link_next(link) == INFINITY);
    near(link_busy(link, 20), 6);
    link_write(link, 20, 30);               /* until 23, were it alone */
    assert_true(link_next(link) == INFINITY);
    link_add(link, 20, 10, 3);              /* from 21 on shares with 20 B */
    near(link_behind(link, 21), 20);
    near(link_next(link), 23);
    link_write(link, 22, 5);                /* grows and still has one share */
    near(link_next(link), 23);
    near(link_behind(link, 23), 15);
    ends(link, 23, 3);
    near(link_behind(link, 24), 5);
    near(link_busy(link, 30), 10.5);
    link_add(link, 40, 0, 4);               /* nothing to move */
    ends(link, 41, 4);
    link_add(link, 50, 10, 5);
    link_add(link, 50, 10, 6);              /* at once: in the order they came */
    ends(link, 53, 5);
    ends(link, 53, 6);
    arena_free(&arena);
}

/* Who comes late gets all that ended, in order; a time before the last one counts as that. */
static void comes_late(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct link *link = link_open(&arena, 1, 0);
    uint32_t id;
    link_add(link, 0, 3, 1);
    link_add(link, 0, 1, 2);
    link_add(link, 0, 2, 3);
    near(link_next(link), 3);
    link_add(link, 100, 1, 4);
    near(link_next(link), 3);
    for (uint32_t k = 0; k < 3; k++) {
        assert_true(link_end(link, 100, &id));
        assert_int_equal(id, (k + 1) % 3 + 1);
    }
    assert_false(link_end(link, 100, &id));
    link_add(link, 50, 1, 5);
    ends(link, 102, 4);
    ends(link, 102, 5);
    arena_free(&arena);
}

/* ---- a second program, slow and plain ---------------------------------------------------- */

enum { MOST = 4096 };

struct plain {
    double bandwidth, now, writes, busy;
    double begins[MOST], left[MOST];
    uint32_t id[MOST];
    size_t count;
};

static size_t plain_active(const struct plain *p)
{
    size_t active = p->writes > 0;
    for (size_t i = 0; i < p->count; i++)
        active += p->begins[i] <= p->now;
    return active;
}

/* The bytes that each can get until something changes, by `until` at most. */
static double plain_span(const struct plain *p, double until, double *time)
{
    double active = (double)plain_active(p), least = p->writes > 0 ? p->writes : INFINITY;
    *time = until;
    for (size_t i = 0; i < p->count; i++)
        if (p->begins[i] <= p->now)
            least = fmin(least, p->left[i]);
        else
            *time = fmin(*time, p->begins[i]);
    if (!active)
        return 0;
    if (p->now + least * active / p->bandwidth <= *time) {
        *time = p->now + least * active / p->bandwidth;
        return least;
    }
    return (*time - p->now) * p->bandwidth / active;
}

/* Until something ends, and its place, or until a time: MOST. */
static size_t plain_run(struct plain *p, double until)
{
    for (;;) {
        for (size_t i = 0; i < p->count; i++)
            if (p->begins[i] <= p->now && p->left[i] <= 0)
                return i;
        if (p->now >= until)
            return MOST;
        double time, each = plain_span(p, until, &time);
        p->busy += plain_active(p) ? time - p->now : 0;
        for (size_t i = 0; i < p->count; i++)
            if (p->begins[i] <= p->now)
                p->left[i] -= each;
        p->writes -= p->writes > 0 ? each : 0;
        p->now = time;
    }
}

static void plain_add(struct plain *p, double begins, double bytes, uint32_t id)
{
    assert_true(p->count < MOST);
    p->begins[p->count] = begins;
    p->left[p->count] = bytes;
    p->id[p->count++] = id;
}

static void plain_remove(struct plain *p, size_t at)
{
    for (p->count--; at < p->count; at++) {
        p->begins[at] = p->begins[at + 1];
        p->left[at] = p->left[at + 1];
        p->id[at] = p->id[at + 1];
    }
}

/* Everything that ends by a time ends on both sides, at the same time. */
static size_t both_until(struct plain *p, struct link *link, double until)
{
    size_t done = 0;
    uint32_t id;
    for (size_t at; (at = plain_run(p, until)) != MOST; done++) {
        near(link_next(link), p->now);
        assert_true(link_end(link, link_next(link), &id));
        assert_int_equal(id, p->id[at]);
        plain_remove(p, at);
    }
    assert_true(link_next(link) > until * (1 - 1e-9));
    return done;
}

/* How long it would take now, in truth. */
static double plain_seconds(const struct plain *p, double latency, double bytes)
{
    static struct plain copy;
    copy = *p;
    plain_add(&copy, p->now + latency, bytes, UINT32_MAX);
    for (;;) {
        size_t at = plain_run(&copy, INFINITY);
        if (copy.id[at] == UINT32_MAX)
            return copy.now - p->now;
        plain_remove(&copy, at);
    }
}

static void words_and_heap_agree(void **state)
{
    (void)state;
    static struct plain p;
    uint64_t seed = 11;
    size_t done = 0;
    for (int turn = 0; turn < rounds(60); turn++) {
        struct arena arena = { 0 };
        double bandwidth = pow(10, draw_in(&seed, 0, 11));
        double mean = draw_in(&seed, 0.5, 3) * bandwidth;
        double latency = turn % 3 ? draw_in(&seed, 0, 4) : 0, bytes = 0;
        struct link *link = link_open(&arena, bandwidth, latency);
        p = (struct plain){ .bandwidth = bandwidth };
        size_t added = 0, ended = 0;
        for (uint32_t k = 0; k < 300; k++) {
            double size = draw(&seed) < 0.05 ? 0 : -log(1 - draw(&seed)) * mean;
            ended += both_until(&p, link, p.now + (draw(&seed) < 0.2 ? 0 : draw_in(&seed, 0, 3)));
            near(link_behind(link, p.now) / bandwidth, p.writes / bandwidth);
            double guess = link_seconds(link, p.now, size);
            double truth = plain_seconds(&p, latency, size);
            latency > 0 ? assert_true(guess > truth - 1e-9) : near(guess, truth);
            if (draw(&seed) < 0.3) {
                link_write(link, p.now, size);
                p.writes += size;
            } else {
                link_add(link, p.now, size, k);
                plain_add(&p, p.now + latency, size, k);
                added++;
            }
            bytes += size;
        }
        ended += both_until(&p, link, p.now + 1e5);
        assert_int_equal(ended, added);
        near(link_busy(link, p.now), p.busy);
        near(p.busy * bandwidth / bytes, 1);            /* no byte lost, none made */
        assert_true(link_next(link) == INFINITY);
        done += ended;
        arena_free(&arena);
    }
    print_message("%zu transfers\n", done);
}

/* How often it is asked changes no bit. */
static void asking_changes_nothing(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct link *quiet = link_open(&arena, 3, 0.1), *asked = link_open(&arena, 3, 0.1);
    uint64_t seed = 5;
    double now = 0;
    for (uint32_t k = 0; k < 2000; k++) {
        uint32_t a, b;
        double until = now - log(1 - draw(&seed)), size = draw_in(&seed, 0, 5.5);
        for (double t = now; t < until; t += 0.37)
            link_next(asked), link_behind(asked, t), link_busy(asked, t), link_seconds(asked, t, 1);
        while (link_next(quiet) <= until) {
            assert_true(same_bits(link_next(quiet), link_next(asked)));
            assert_true(link_end(quiet, link_next(quiet), &a));
            assert_true(link_end(asked, link_next(asked), &b));
            assert_int_equal(a, b);
        }
        now = until;
        (k % 4 ? (void)(link_add(quiet, now, size, k), link_add(asked, now, size, k))
               : (void)(link_write(quiet, now, size), link_write(asked, now, size)));
    }
    arena_free(&arena);
}

/* ---- theory ------------------------------------------------------------------------------ */

enum { GROUPS = 60, GROUP = 16000, WARM = 16000 };

struct sizes {
    const char *name;
    double small, share;            /* of two sizes, mean 1; share 0: exponential, 1: all equal */
    double load;
};

static double size_of(const struct sizes *sizes, uint64_t *seed)
{
    if (!sizes->share)
        return -log(1 - draw(seed));
    if (sizes->share == 1 || draw(seed) < sizes->share)
        return sizes->small;
    return (1 - sizes->share * sizes->small) / (1 - sizes->share);
}

static double mean_and_error(const double *sum, const double *count, double *error)
{
    double mean = 0, squares = 0;
    for (size_t g = 0; g < GROUPS; g++)
        mean += sum[g] / count[g] / GROUPS;
    for (size_t g = 0; g < GROUPS; g++)
        squares += pow(sum[g] / count[g] - mean, 2);
    *error = sqrt(squares / (GROUPS - 1) / GROUPS);
    return mean;
}

/* M/G/1 with processor sharing: a transfer of any size takes size / (1 - load) on average,
 * whatever the sizes of the others are (Kleinrock 1967). */
static void shares_as_theory_says(void **state)
{
    (void)state;
    static const struct sizes cases[] = {
        { "exponential", 0, 0, 0.5 }, { "exponential", 0, 0, 0.8 }, { "equal", 1, 1, 0.7 },
        { "nine small, one large", 0.2, 0.9, 0.7 }, { "99 small, one large", 0.1, 0.99, 0.6 } };
    static double arrival[WARM + GROUPS * GROUP], size[WARM + GROUPS * GROUP];
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct arena arena = { 0 };
        struct link *link = link_open(&arena, 1, 0);
        double sum[3][GROUPS] = { { 0 } }, count[3][GROUPS] = { { 0 } }, now = 0;
        uint64_t seed = 100 + c;
        for (uint32_t k = 0, id; k < WARM + GROUPS * GROUP; k++) {
            now -= log(1 - draw(&seed)) / cases[c].load;
            while (link_next(link) <= now) {
                double at = link_next(link);
                assert_true(link_end(link, at, &id));
                if (id < WARM)
                    continue;
                size_t g = (id - WARM) / GROUP, kind = size[id] > 1 ? 2 : 1;
                sum[0][g] += at - arrival[id];
                count[0][g]++;
                sum[kind][g] += (at - arrival[id]) / size[id];
                count[kind][g]++;
            }
            arrival[k] = now;
            size[k] = size_of(&cases[c], &seed);
            link_add(link, now, size[k], k);
        }
        for (size_t kind = 0; kind < (cases[c].share > 0 && cases[c].share < 1 ? 3 : 1); kind++) {
            double error, mean = mean_and_error(sum[kind], count[kind], &error);
            double theory = 1 / (1 - cases[c].load);
            print_message("%s, load %g, %s: %.4f +- %.4f, theory %.4f\n", cases[c].name,
                          cases[c].load, kind ? kind == 1 ? "small, per byte" : "large, per byte"
                                              : "seconds", mean, error, theory);
            assert_true(fabs(mean - theory) < 3 * error);
            assert_true(error < 0.05 * theory);
        }
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(comes_late),
        cmocka_unit_test(words_and_heap_agree),
        cmocka_unit_test(asking_changes_nothing),
        cmocka_unit_test(shares_as_theory_says),
    };
    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
