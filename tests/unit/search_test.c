/* The search against a plain program: every point by itself, and a front by comparing each point
 * with each other one. */
#include "test.h"

#include "search/search.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char rows[] =
    "a : 1 = 1 in 0..1e9\n    on the outer axis\n\n"
    "b : 1 = 1 in 0..1e9\n    on the middle axis\n\n"
    "c : 1 = 1 in 0..1e9\n    on the inner axis\n\n"
    "x : 1 = 1 in 0..1e9\n    the load\n\n"
    "k : 1 = 1 in 0..1e9\n    of the space\n\n";

enum { SPEED, THROUGHPUT, MOST, FIRST, SECOND, OUTPUTS, INPUTS = 3, SPACES = 60 };

/* Step and rate of a toy server, with rounding so that equal points occur. */
static const char *const texts[OUTPUTS] = {
    "floor(8000 / (3 + k * x / a + b * max(x, 9 * c)))",
    "floor(1000 * x * a / (3 + k * x / a + b * max(x, 9 * c)))",
    "60 * a * (1 + b) - 40 * c", "0.01 * x * b + c", "3 + k * x / a" };

struct toy {
    struct arena arena;
    struct search_space spaces[2];
    size_t input[INPUTS];
    int axis[INPUTS];
    struct search_limit limits[2];
    double loads[400], settings[2][64 * INPUTS];
};

static void build_list(struct toy *toy, double k, struct graph *graph)
{
    struct formulas formulas;
    struct facts facts = { .arena = &toy->arena };
    const struct expr *wanted[OUTPUTS];
    struct error error;
    formulas_open(&formulas, &toy->arena, 0);
    facts_set(&facts, "k", k, ORIGIN_GIVEN, "test");
    if (!formulas_read(&formulas, "test", text_of(rows), &error))
        fail_msg("%s", error.what);
    for (int i = 0; i < OUTPUTS; i++)
        if (!expr_parse(&formulas, "test", 1, text_of(texts[i]), &wanted[i], &error))
            fail_msg("%s", error.what);
    if (!graph_build(&toy->arena, &formulas, &facts, wanted, OUTPUTS, graph, &error))
        fail_msg("%s", error.what);
}

static void add_settings(struct toy *toy, struct search_space *space, double *settings,
                         uint64_t *seed)
{
    for (double a = 1; a < draw_in(seed, 2, 5); a++)
        for (double b = 0; b < draw_in(seed, 1, 4); b++)
            for (double c = 1; c < draw_in(seed, 2, 5); c++) {
                double *to = settings + INPUTS * space->setting_count++;
                to[0] = a;
                to[1] = b / 2;
                to[2] = c;
            }
    space->settings = settings;
    space->input = toy->input;
    space->axis = toy->axis;
    space->inputs = INPUTS;
}

static void make_toy(struct toy *toy, uint64_t *seed)
{
    static const char *const names[INPUTS] = { "a", "b", "c" };
    *toy = (struct toy){ .axis = { 0, 1, 2 } };
    const double tight = draw_in(seed, 0, 1);
    toy->limits[0] = (struct search_limit){ "first", FIRST, 1 + 5 * tight, draw(seed) < 0.5, 0 };
    toy->limits[1] = (struct search_limit){ "second", SECOND, 3 + 90 * tight, draw(seed) < 0.5, 0 };
    for (int l = 0; l < 2; l++)
        if (draw(seed) < 0.7)
            toy->limits[l].wider = toy->limits[l].bound * draw_in(seed, 1, 2);
    if (draw(seed) < 0.2)
        toy->limits[0].bound = 0.5;                 /* nothing is within it */
    for (size_t i = 0; i < COUNT(toy->loads); i++)
        toy->loads[i] = (double)(i + 1);
    for (int s = 0; s < 2; s++) {
        struct search_space *space = &toy->spaces[s];
        *space = (struct search_space){ .speed = SPEED, .throughput = THROUGHPUT, .most = MOST,
                                        .loads = toy->loads, .limits = toy->limits,
                                        .limit_count = 2 };
        space->load_count = (size_t)draw_in(seed, 100, COUNT(toy->loads));
        build_list(toy, floor(draw_in(seed, 1, 4)), &space->graph);
        for (int i = 0; i < INPUTS; i++)
            toy->input[i] = (size_t)graph_input(&space->graph, names[i]);
        space->column = (size_t)graph_input(&space->graph, "x");
        add_settings(toy, space, toy->settings[s], seed);
    }
}

/* ---- the plain program ---------------------------------------------------------------------- */

struct plain {
    struct search_point *met;
    size_t met_count, points, no_room, broken[2];
    double nearest;
    bool moved_found[2];
    struct search_point moved[2];
};

/* The best of the points that would be within the limits if limit l alone were wider. */
static void plain_moved(const struct toy *toy, const double *out, int l, struct search_point point,
                        struct plain *plain)
{
    const struct search_limit *other = &toy->limits[1 - l];
    struct search_point *best = &plain->moved[l];
    if (out[toy->limits[l].output] > toy->limits[l].wider || out[other->output] > other->bound)
        return;
    if (plain->moved_found[l] &&
        (point.throughput < best->throughput || (point.throughput == best->throughput &&
                                                                          point.speed <= best->speed)))
        return;
    plain->moved_found[l] = true;
    *best = point;
}

static void plain_point(struct toy *toy, struct search_point point, struct plain *plain)
{
    const struct search_space *space = &toy->spaces[point.space];
    double out[OUTPUTS], worst = 1;
    search_values(&toy->arena, toy->spaces, &point, out);
    plain->points++;
    if (space->loads[point.load] > out[MOST]) {
        plain->no_room++;
        return;
    }
    for (int l = 0; l < 2; l++)
        worst = fmax(worst, out[toy->limits[l].output] / toy->limits[l].bound);
    plain->nearest = fmin(plain->nearest, worst);
    point.speed = out[SPEED];
    point.throughput = out[THROUGHPUT];
    for (int l = 0; l < 2; l++)
        if (out[toy->limits[l].output] > toy->limits[l].bound) {
            plain->broken[l]++;
            plain_moved(toy, out, l, point, plain);
            return;
        }
    plain->met[plain->met_count++] = point;
}

static void plain_search(struct toy *toy, struct plain *plain)
{
    *plain = (struct plain){ .nearest = INFINITY };
    plain->met = arena_array(&toy->arena, 2 * 64 * COUNT(toy->loads), sizeof *plain->met);
    for (uint32_t s = 0; s < 2; s++)
        for (uint32_t i = 0; i < toy->spaces[s].setting_count; i++)
            for (uint32_t load = 0; load < toy->spaces[s].load_count; load++)
                plain_point(toy, (struct search_point){ .space = s, .setting = i, .load = load },
                            plain);
}

/* Nothing is as good both ways and better in one; of equals the first. */
static bool on_front(const struct plain *plain, size_t i)
{
    const struct search_point *p = &plain->met[i];
    for (size_t j = 0; j < plain->met_count; j++) {
        const struct search_point *q = &plain->met[j];
        bool better = q->speed > p->speed || q->throughput > p->throughput || j < i;
        if (j != i && q->speed >= p->speed && q->throughput >= p->throughput && better)
            return false;
    }
    return true;
}

static bool same_point(const struct search_point *p, const struct search_point *q)
{
    return p->space == q->space && p->setting == q->setting && p->load == q->load &&
           p->speed == q->speed && p->throughput == q->throughput;
}

static void check_front(const struct plain *plain, const struct search_result *result)
{
    size_t found = 0;
    for (size_t i = 0; i < plain->met_count; i++) {
        if (!on_front(plain, i))
            continue;
        bool there = false;
        for (size_t k = 0; k < result->front.count && !there; k++)
            there = same_point(&result->front.points[k], &plain->met[i]);
        assert_true(there);
        found++;
    }
    assert_int_equal(found, result->front.count);
    for (size_t k = 1; k < result->front.count; k++) {
        assert_true(result->front.points[k].speed > result->front.points[k - 1].speed);
        assert_true(result->front.points[k].throughput < result->front.points[k - 1].throughput);
    }
}

static void check_counts(struct toy *toy, const struct plain *plain,
                         const struct search_result *result)
{
    const struct search_count *count = &result->count;
    bool rises = toy->limits[0].rises && toy->limits[1].rises;
    assert_int_equal(count->points, plain->points);
    assert_int_equal(count->no_room + count->no_fit, plain->no_room);
    assert_int_equal(count->met, plain->met_count);
    assert_int_equal(count->broken[0] + count->broken[1], plain->broken[0] + plain->broken[1]);
    if (!rises) {
        assert_int_equal(count->broken[0], plain->broken[0]);
        assert_int_equal(count->seen, plain->points - plain->no_room);
    }
    assert_true(count->seen <= plain->points - plain->no_room);
}

/* ---- the same by blocks -------------------------------------------------------------------- */

/* ---- three threads in the place of ranks: these functions are linked instead of those of base/ ---- */

enum { RANKS = 3 };
static pthread_barrier_t all_here;
static struct text told[RANKS];

bool ranks_agree(const struct ranks *ranks, bool good, struct error *error)
{
    (void)ranks, (void)error;
    return good;
}

/* All have copied what the others told before anybody goes on. */
struct text *ranks_gather(const struct ranks *ranks, struct arena *arena, struct text mine)
{
    struct text *all = arena_array(arena, RANKS, sizeof *all);
    told[ranks->rank] = mine;
    pthread_barrier_wait(&all_here);
    for (int i = 0; i < RANKS; i++)
        all[i] = (struct text){ arena_copy(arena, told[i].data, told[i].size), told[i].size };
    pthread_barrier_wait(&all_here);
    return all;
}

struct runner {
    struct ranks ranks;
    struct arena arena;
    const struct toy *toy;
    size_t spaces;                  /* it searches the first so many */
    struct search_result result;
    struct error error;
    bool good;
};

static void *run_rank(void *context)
{
    struct runner *runner = context;
    runner->good = search_ranks(&runner->arena, &runner->ranks, runner->toy->spaces, runner->spaces,
                                &runner->result, &runner->error);
    return NULL;
}

static void run_ranks(const struct toy *toy, struct runner *runners)
{
    pthread_t threads[RANKS];
    assert_int_equal(pthread_barrier_init(&all_here, NULL, RANKS), 0);
    for (int i = 0; i < RANKS; i++) {
        runners[i].ranks = (struct ranks){ i, RANKS };
        runners[i].toy = toy;
        assert_int_equal(pthread_create(&threads[i], NULL, run_rank, &runners[i]), 0);
    }
    for (int i = 0; i < RANKS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&all_here);
}

static void check_points(const struct search_front *a, const struct search_front *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        assert_true(same_point(&a->points[i], &b->points[i]));
}

/* Every rank has the result of a search by one process. */
static void by_ranks(const struct toy *toy, const struct search_result *whole)
{
    struct runner runners[RANKS] = { { .spaces = 2 }, { .spaces = 2 }, { .spaces = 2 } };
    run_ranks(toy, runners);
    for (int i = 0; i < RANKS; i++) {
        const struct search_result *one = &runners[i].result;
        assert_true(runners[i].good);
        check_points(&one->front, &whole->front);
        check_points(&one->tops, &whole->tops);
        assert_memory_equal(&one->count, &whole->count, sizeof one->count);
        assert_int_equal(one->miss_found, whole->miss_found);
        if (whole->miss_found)
            assert_true(same_point(&one->miss, &whole->miss) && one->miss_by == whole->miss_by);
        assert_int_equal(one->moved_found, whole->moved_found);
        for (unsigned l = 0; l < SEARCH_LIMITS; l++)
            if (whole->moved_found >> l & 1)
                assert_true(same_point(&one->moved[l], &whole->moved[l]));
        arena_free(&runners[i].arena);
    }
}

/* One rank has fewer spaces than the others: all see it. */
static void other_questions_are_refused(void **state)
{
    struct runner runners[RANKS] = { { .spaces = 2 }, { .spaces = 1 }, { .spaces = 2 } };
    uint64_t seed = 1;
    struct toy toy;
    (void)state;
    make_toy(&toy, &seed);
    run_ranks(&toy, runners);
    for (int i = 0; i < RANKS; i++) {
        assert_false(runners[i].good);
        assert_non_null(strstr(runners[i].error.what, "another question"));
        arena_free(&runners[i].arena);
    }
    arena_free(&toy.arena);
}

/* Each rank has as many items of a stretch as another, and its part of those in step. */
static void ranks_are_even(void **state)
{
    (void)state;
    for (int count = 1; count <= 16; count++)
        for (uint32_t step = 1; step <= 12; step++) {
            const struct ranks ranks = { 0, count };
            size_t items[16] = { 0 }, least = SIZE_MAX, most = 0;
            for (uint32_t i = 0; i < 160; i++) {
                const int rank = ranks_of(&ranks, i * step);
                assert_true(rank >= 0 && rank < count);
                items[rank]++;
            }
            for (int r = 0; r < count; r++) {
                least = items[r] < least ? items[r] : least;
                most = items[r] > most ? items[r] : most;
            }
            assert_true(step > 1 ? most <= 2 * 160 / (size_t)count : most - least <= 3);
        }
}

/* Two points of the same numbers; the settings of one space have been renumbered. */
static void same_place(const struct toy *toy, const struct search_space *kept, const struct search_point *a,
                       const struct search_point *b)
{
    assert_true(a->space == b->space && a->load == b->load && a->speed == b->speed && a->throughput == b->throughput);
    assert_memory_equal(toy->spaces[a->space].settings + a->setting * INPUTS,
                        kept[b->space].settings + b->setting * INPUTS, INPUTS * sizeof(double));
}

/* One space after another, each without the settings of the one before: the same result. */
static void one_by_one(struct toy *toy, const struct search_result *whole)
{
    struct search_space kept[2] = { toy->spaces[0], toy->spaces[1] };
    struct search_result sum = { 0 }, one;
    struct error error;
    for (size_t s = 0; s < 2; s++) {
        assert_true(search_run(&toy->arena, &kept[s], 1, &one, &error));
        search_keep(&toy->arena, &kept[s], s, &one);
        search_add(&toy->arena, &sum, &one);
    }
    assert_memory_equal(&sum.count, &whole->count, sizeof sum.count);
    assert_int_equal(sum.front.count, whole->front.count);
    assert_int_equal(sum.tops.count, whole->tops.count);
    for (size_t i = 0; i < sum.front.count; i++)
        same_place(toy, kept, &whole->front.points[i], &sum.front.points[i]);
    for (size_t i = 0; i < sum.tops.count; i++)
        same_place(toy, kept, &whole->tops.points[i], &sum.tops.points[i]);
    assert_int_equal(sum.miss_found, whole->miss_found);
    assert_int_equal(sum.moved_found, whole->moved_found);
    if (sum.miss_found) {
        assert_true(sum.miss_by == whole->miss_by);
        same_place(toy, kept, &whole->miss, &sum.miss);
    }
    for (int l = 0; l < SEARCH_LIMITS; l++)
        if (sum.moved_found >> l & 1)
            same_place(toy, kept, &whole->moved[l], &sum.moved[l]);
}

static void as_the_plain_program(void **state)
{
    (void)state;
    uint64_t seed = 20261123;
    size_t fronts = 0, empty = 0, moved = 0;
    for (int n = 0; n < rounds(SPACES); n++) {
        struct toy toy;
        struct plain plain;
        struct search_result result;
        struct error error;
        make_toy(&toy, &seed);
        plain_search(&toy, &plain);
        assert_true(search_run(&toy.arena, toy.spaces, 2, &result, &error));
        check_front(&plain, &result);
        check_counts(&toy, &plain, &result);
        assert_int_equal(result.miss_found, !result.front.count && isfinite(plain.nearest));
        if (result.miss_found)
            assert_true(result.miss_by == plain.nearest);
        for (int l = 0; l < 2; l++) {
            assert_int_equal(result.moved_found >> l & 1, plain.moved_found[l]);
            if (plain.moved_found[l])
                assert_true(same_point(&result.moved[l], &plain.moved[l]));
            moved += plain.moved_found[l];
        }
        by_ranks(&toy, &result);
        one_by_one(&toy, &result);
        fronts += result.front.count;
        empty += !result.front.count;
        arena_free(&toy.arena);
    }
    print_message("%d spaces, %zu points on fronts, %zu without any, %zu that a wider limit lets in\n",
                  rounds(SPACES), fronts, empty, moved);
    assert_true(fronts > (size_t)part_of(500) && empty > (size_t)part_of(3) && moved > (size_t)part_of(20));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(as_the_plain_program),
                                        cmocka_unit_test(other_questions_are_refused),
                                        cmocka_unit_test(ranks_are_even) };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
