/* Finds all intervals of one input on which an output is zero, by branch and bound.
 *
 * 1. Fix all other inputs (graph_specialize), so that only nodes that depend on the unknown are
 *    evaluated repeatedly.
 * 2. Evaluate the output on a grid of points. For the ranges between them, the widest first, interval
 *    arithmetic may show that the output is never zero there, or that it is monotonic, so that its
 *    values at both ends decide; other ranges are halved, down to neighbouring numbers.
 * 3. Narrow a change of sign by Newton's method inside a bracket that only shrinks, until both ends
 *    are neighbouring numbers. If the output is discontinuous or has a pole there, it is a jump, not
 *    a root.
 * 4. A value counts as zero if it is not larger than the sum of the rounding errors of its parts
 *    (graph_rounding). Neighbouring grid points that are zero form a run. If the slope falls to zero
 *    from both ends of a run, the run is one root: where the slope changes its sign, if it does. If
 *    not, the output is zero along the run, which is an extent.
 * 5. The ends of an extent are where interval arithmetic sees both sides of the equation become the
 *    same term (bounds_same). That is exact even if the output leaves zero so slowly that its values
 *    do not show it.
 *
 * Ranges that exceed the budget of interval evaluations, and ranges in which the output depends on a
 * ROOT, for whose slope interval arithmetic has no bounds, are searched on the grid only; `proved` is
 * then false. */
#include "rows/run.h"
#include "base/quantile.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { GRID = 2048, TURNS = 400, DEEPEST = 80 };
/* Nodes that all interval evaluations together may visit; nodes that one loop of a ROOT counts for. */
static const double budget_nodes = 4e5, loop_turns = 192;
/* Two sides whose relative difference is larger are not equal, whatever their rounding errors. */
#define NEAR_ZERO 1e-9

struct solve_point {
    double x, f;
    bool zero;                      /* f is zero within its rounding error */
};

struct zero_run {                        /* neighbouring points at which f is zero */
    double low, high;
};

struct root_search {
    struct arena *arena;
    struct graph graph;             /* specialized: only the unknown is left as an input */
    struct bounds bounds;
    struct solution *solution;
    double *nodes;
    double low, high;               /* the range */
    double usual;                   /* the median |f| of the grid, if f is not a difference */
    double step;                    /* (smallest) step of a linear grid; 0: the grid is geometric */
    double budget, reading;         /* nodes left to visit; nodes of one interval evaluation */
    bool loops;                     /* f depends on the unknown through a ROOT */
    struct zero_run *runs;
    size_t run_count, run_room;
};

/* ---- numbers -------------------------------------------------------------------------------- */

static int64_t order_of(double x)                   /* neighbours differ by one */
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double of_order(int64_t order)
{
    double x;
    int64_t bits = order < 0 ? INT64_MIN - order : order;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static bool neighbours(double a, double b)
{
    return b <= nextafter(a, INFINITY);
}

/* Halfway in the order of numbers, which reaches neighbours after 64 halvings at most. */
static double middle(double a, double b)
{
    const int64_t low = order_of(a), high = order_of(b);
    return of_order(low / 2 + high / 2 + (low % 2 + high % 2) / 2);
}

static double size_of(double a, double b)
{
    return fmax(fabs(a), fabs(b));
}

/* Of two neighbours the second if it has far fewer digits, else the first. */
static double rounder(double a, double b)
{
    uint64_t bits_a, bits_b;
    memcpy(&bits_a, &a, sizeof a);
    memcpy(&bits_b, &b, sizeof b);
    return bits_b == 0 || (bits_b & -bits_b) >> 20 > (bits_a & -bits_a) ? b : a;
}

/* ---- values --------------------------------------------------------------------------------- */

static double value_at(struct root_search *search, double x)
{
    search->solution->evaluations++;
    graph_value(search->arena, &search->graph, &x, search->nodes, NULL);
    return search->nodes[search->graph.outputs[0]];
}

/* How large the sides are where the nodes were computed last. */
static double sides_size(const struct root_search *search)
{
    const struct node *top = &search->graph.nodes[search->graph.outputs[0]];
    return top->op == OP_SUB ? size_of(search->nodes[top->a], search->nodes[top->b]) : search->usual;
}

/* What the last digits may add up to in f at x, and its slope there. Beside a pole that is as much
 * as f, but no reason to call it zero. */
static double rounding_at(struct root_search *search, double x, double *slope)
{
    value_at(search, x);
    const double digits = graph_rounding(search->arena, &search->graph, 0, search->nodes, 0, slope);
    return fmin(digits, NEAR_ZERO * sides_size(search));
}

static double slope_at(struct root_search *search, double x)
{
    double slope;
    rounding_at(search, x, &slope);
    return slope;
}

/* The parts of a difference say how small it is; what is not small needs no closer look. */
static bool is_zero(struct root_search *search, double x, double f)
{
    double slope;
    if (f == 0 || !isfinite(f))
        return f == 0;
    value_at(search, x);
    return fabs(f) <= NEAR_ZERO * sides_size(search) && fabs(f) <= rounding_at(search, x, &slope);
}

static struct solve_point point_at(struct root_search *search, double x)
{
    const double f = value_at(search, x);
    return (struct solve_point){ x, f, is_zero(search, x, f) };
}

/* ---- readings ------------------------------------------------------------------------------- */

enum found { FOUND_NONE, FOUND_MONOTONE, FOUND_NOTHING_SURE };

static bool can_read(const struct root_search *search)
{
    return search->budget >= search->reading;
}

/* What the interval reading says of f between two points. */
static enum found read_between(struct root_search *search, struct solve_point a, struct solve_point b)
{
    search->budget -= search->reading;
    search->solution->readings++;
    const struct interval box = { a.x, b.x }, f = bounds_read(&search->bounds, &box);
    const double least = f.low > 0 ? f.low : f.high < 0 ? -f.high : 0;
    const struct node *top = &search->graph.nodes[search->graph.outputs[0]];
    const struct interval *side = search->bounds.values;
    double size = search->usual;
    if (top->op == OP_SUB)
        size = fmax(size_of(side[top->a].low, side[top->a].high),
                    size_of(side[top->b].low, side[top->b].high));
    if (least > NEAR_ZERO * size)
        return FOUND_NONE;
    const struct interval slope = bounds_slope(&search->bounds, 0);
    if (least > bounds_rounding(&search->bounds))
        return FOUND_NONE;
    if (!isfinite(a.f) || !isfinite(b.f))
        return FOUND_NOTHING_SURE;
    return slope.low >= 0 || slope.high <= 0 ? FOUND_MONOTONE : FOUND_NOTHING_SURE;
}

/* Is f the difference of one term and itself everywhere between a and b? */
static bool same_between(struct root_search *search, double a, double b)
{
    const struct interval box = { a, b };
    if (search->loops)
        return false;
    search->solution->readings++;
    return bounds_same(search->arena, &search->bounds, &box);
}

/* From `good`, up to which all is one term, towards `to`: as far as that can be seen in halves. */
static double same_until(struct root_search *search, double good, double to, int depth)
{
    const double half = good + (to - good) / 2;
    if (same_between(search, fmin(good, to), fmax(good, to)))
        return to;
    if (!depth || half == good || half == to)
        return good;
    const double reached = same_until(search, good, half, depth - 1);
    return reached != half ? reached : same_until(search, half, to, depth - 1);
}

/* ---- what was found -------------------------------------------------------------------------- */

static void add_run(struct root_search *search, double low, double high)
{
    struct zero_run *last = search->run_count ? &search->runs[search->run_count - 1] : NULL;
    if (last && low <= nextafter(last->high, INFINITY)) {
        last->low = fmin(last->low, low);
        last->high = fmax(last->high, high);
        return;
    }
    *(struct zero_run *)arena_push(search->arena, &search->runs, &search->run_count,
                              &search->run_room, sizeof *last) = (struct zero_run){ low, high };
}

static void add_jump(struct root_search *search, struct solve_point a, struct solve_point b)
{
    struct solution *solution = search->solution;
    const struct jump jump = { rounder(a.x, b.x), a.x, b.x, a.f, b.f };
    struct jump *last = solution->jump_count ? &solution->jumps[solution->jump_count - 1] : NULL;
    if (last && last->last == a.x) {                /* a pole, at a number */
        last->last = b.x;
        last->at = a.x;
        last->before = last->before < 0 ? -INFINITY : INFINITY;
        last->after = b.f < 0 ? -INFINITY : INFINITY;
        return;
    }
    *(struct jump *)arena_push(search->arena, &solution->jumps, &solution->jump_count,
                               &solution->jump_room, sizeof jump) = jump;
}

/* The farthest zero from `from`, which is one, towards `to`: by steps that double, then halving. */
static double last_zero(struct root_search *search, double from, double to)
{
    const int64_t begin = order_of(from), end = order_of(to), way = end < begin ? -1 : 1;
    int64_t good = 0, bad = 0, most = way * (end - begin);
    for (int64_t step = 1; !bad; step = step > most / 2 ? most : step * 2) {
        const int64_t next = step < most - good ? good + step : most;
        if (next == good)
            return to;
        if (point_at(search, of_order(begin + way * next)).zero)
            good = next;
        else
            bad = next;
    }
    while (bad - good > 1) {
        const int64_t half = good + (bad - good) / 2;
        if (point_at(search, of_order(begin + way * half)).zero)
            good = half;
        else
            bad = half;
    }
    return of_order(begin + way * good);
}

/* A run around x between a and b. A root of the usual slope is alone there. */
static void add_zero(struct root_search *search, double x, double a, double b)
{
    double slope, digits = rounding_at(search, x, &slope);
    const double beside = 1e-9 * fabs(x);
    if (fabs(slope) * beside > 64 * digits && value_at(search, x - beside) != 0 &&
        value_at(search, x + beside) != 0)
        add_run(search, x, x);
    else
        add_run(search, last_zero(search, x, a), last_zero(search, x, b));
}

/* Shrink a bracket over which f changes its sign to neighbours, or to one zero: *a == *b. */
static void close_in(struct root_search *search, struct solve_point *a, struct solve_point *b)
{
    for (int turn = 0; turn < TURNS && !neighbours(a->x, b->x); turn++) {
        const bool near = fabs(a->f) < fabs(b->f);
        const struct solve_point *best = near ? a : b;
        double x = middle(a->x, b->x);
        if (turn % 4 == 0 || turn % 4 == 1) {
            const double slope = slope_at(search, best->x), step = best->x - best->f / slope;
            if (step > a->x && step < b->x)
                x = step;
            else if (fabs(best->f / slope) <= 8 * DBL_EPSILON * fabs(best->x))
                x = of_order(order_of(best->x) + (near ? 4 : -4));      /* from the other side */
        } else if (turn % 4 == 2) {
            x = of_order(order_of(best->x) + (near ? 4 : -4));
        }
        if (!(x > a->x && x < b->x))
            x = middle(a->x, b->x);
        const struct solve_point at = { x, value_at(search, x), false };
        if (at.f == 0) {
            *a = *b = at;
            return;
        }
        if (!isfinite(at.f))
            return;
        *((at.f > 0) == (a->f > 0) ? a : b) = at;
    }
}

/* Does f go through zero between neighbours, as its slope allows, or jump? Beside a pole it is
 * steep too, but the other way. */
static bool passes(struct root_search *search, struct solve_point a, struct solve_point b)
{
    double slope_a, slope_b;
    const double digits = rounding_at(search, a.x, &slope_a) + rounding_at(search, b.x, &slope_b);
    const double change = b.f - a.f, way = change > 0 ? 1 : -1;
    const double steepest = fmax(fmax(slope_a * way, slope_b * way), 0), width = b.x - a.x;
    return neighbours(a.x, b.x) && isfinite(steepest) &&
           fabs(change) <= 4 * (steepest * width + digits);
}

static bool is_pole(struct root_search *search, struct solve_point a, struct solve_point b)
{
    const double slope_a = slope_at(search, a.x), slope_b = slope_at(search, b.x);
    const double way = b.f > a.f ? 1 : -1, width = b.x - a.x;
    return (slope_a * way < 0 && fabs(slope_a) * width > 0.01 * fabs(a.f)) ||
           (slope_b * way < 0 && fabs(slope_b) * width > 0.01 * fabs(b.f));
}

/* f changes its sign between a and b. */
static void add_change(struct root_search *search, struct solve_point a, struct solve_point b)
{
    struct solve_point left = a, right = b;
    close_in(search, &left, &right);
    if (left.x == right.x)
        add_zero(search, left.x, a.x, b.x);
    else if (passes(search, left, right))
        add_zero(search, fabs(left.f) <= fabs(right.f) ? left.x : right.x, a.x, b.x);
    else if (is_pole(search, left, right))
        add_jump(search, (struct solve_point){ left.x, left.f < 0 ? -INFINITY : INFINITY, false },
                 (struct solve_point){ right.x, right.f < 0 ? -INFINITY : INFINITY, false });
    else
        add_jump(search, left, right);
}

static bool changes(struct solve_point a, struct solve_point b)
{
    return isfinite(a.f) && isfinite(b.f) && a.f != 0 && b.f != 0 && (a.f > 0) != (b.f > 0);
}

/* The ends say all: f only rises or only falls between them. */
static void add_monotone(struct root_search *search, struct solve_point a, struct solve_point b)
{
    if (a.zero && b.zero)
        add_run(search, a.x, b.x);
    else if (a.zero)
        add_run(search, a.x, last_zero(search, a.x, b.x));
    else if (b.zero)
        add_run(search, last_zero(search, b.x, a.x), b.x);
    else if (changes(a, b))
        add_change(search, a, b);
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Nothing more can be read: what the ends show. */
static void add_shown(struct root_search *search, struct solve_point a, struct solve_point b)
{
    search->solution->proved = false;
    if (a.zero)
        add_run(search, a.x, last_zero(search, a.x, b.x));
    if (!a.zero && !b.zero && changes(a, b))
        add_change(search, a, b);
    if (b.zero)
        add_run(search, last_zero(search, b.x, a.x), b.x);
}

/* Where f begins or ends to have a value; the rest is a cell of its own. */
static void search_cell(struct root_search *search, struct solve_point a, struct solve_point b, int depth);

static void search_edge(struct root_search *search, struct solve_point a, struct solve_point b)
{
    struct solve_point left = a, right = b;
    while (!neighbours(left.x, right.x)) {
        const struct solve_point half = point_at(search, middle(left.x, right.x));
        *(isfinite(half.f) == isfinite(a.f) ? &left : &right) = half;
    }
    if (isfinite(a.f)) {
        search_cell(search, a, left, 0);
        add_jump(search, left, right);
    } else {
        add_jump(search, left, right);
        search_cell(search, right, b, 0);
    }
}

/* All of some points between a and b are zero. */
static bool zero_between(struct root_search *search, struct solve_point a, struct solve_point b)
{
    enum { BETWEEN = 4 };
    if (!a.zero || !b.zero)
        return false;
    for (int i = 1; i < BETWEEN; i++)
        if (!point_at(search, a.x + (b.x - a.x) * i / BETWEEN).zero)
            return false;
    return true;
}

/* Between neighbours of the grid, and halves of that. */
static void search_cell(struct root_search *search, struct solve_point a, struct solve_point b, int depth)
{
    if (!(a.x < b.x)) {
        if (a.zero)
            add_run(search, a.x, a.x);
        return;
    }
    if (!isfinite(a.f) && !isfinite(b.f))
        return;
    if (isfinite(a.f) != isfinite(b.f)) {
        search_edge(search, a, b);
        return;
    }
    if (!can_read(search) || (search->loops && depth)) {
        add_shown(search, a, b);
        return;
    }
    switch (read_between(search, a, b)) {
    case FOUND_NONE: return;
    case FOUND_MONOTONE: add_monotone(search, a, b); return;
    case FOUND_NOTHING_SURE: break;
    }
    const double half = neighbours(a.x, b.x) ? a.x : b.x > 0 && a.x > 0 && b.x > 2 * a.x
                        ? middle(a.x, b.x) : a.x + (b.x - a.x) / 2;
    if (zero_between(search, a, b)) {
        add_run(search, a.x, b.x);
    } else if (depth == DEEPEST || !(half > a.x && half < b.x)) {
        if (a.zero || b.zero)
            add_monotone(search, a, b);
        else if (changes(a, b))
            add_change(search, a, b);
    } else {
        const struct solve_point between = point_at(search, half);
        search_cell(search, a, between, depth + 1);
        search_cell(search, between, b, depth + 1);
    }
}

/* What is known of the points of the grid before each: how many have which kind. */
struct sign_counts {
    uint16_t zeros, finite;
};

/* Between points i and k of the grid. */
static void search_grid(struct root_search *search, const struct solve_point *grid, const struct sign_counts *counts,
                        size_t i, size_t k)
{
    const size_t zeros = (size_t)(counts[k + 1].zeros - counts[i].zeros), points = k - i + 1;
    const size_t finite = (size_t)(counts[k + 1].finite - counts[i].finite);
    if (!finite)
        return;
    if (zeros == points && points > 2) {
        search->solution->proved &=
            same_until(search, grid[k].x, grid[i].x, DEEPEST) == grid[i].x;
        add_run(search, grid[i].x, grid[k].x);
        return;
    }
    if (k == i + 1 || !can_read(search)) {
        for (; i < k; i++)
            search_cell(search, grid[i], grid[i + 1], 0);
        return;
    }
    switch (finite == points ? read_between(search, grid[i], grid[k]) : FOUND_NOTHING_SURE) {
    case FOUND_NONE: return;
    case FOUND_MONOTONE: add_monotone(search, grid[i], grid[k]); return;
    case FOUND_NOTHING_SURE: break;
    }
    const size_t half = i + (k - i) / 2;
    search_grid(search, grid, counts, i, half);
    search_grid(search, grid, counts, half, k);
}

/* Between positive ends spaced evenly in the logarithm, else evenly. */
static double grid_point(double low, double high, size_t i)
{
    const double t = (double)i / (GRID - 1);
    if (i == 0 || i == GRID - 1)
        return i ? high : low;
    if (low > 0 && high / low > 8)
        return low * scalar_pow(high / low, t);
    if (low == 0 && high > 1e3) {                   /* from zero: finer near it */
        const double base = high * 1e-12;
        return base * scalar_pow(high / base, t);
    }
    return low + (high - low) * t;
}

/* The median size of the values that are not zero. */
static double usual_size(struct arena *arena, const double *f)
{
    double *sizes = arena_array(arena, GRID, sizeof *sizes);
    size_t count = 0;
    for (size_t i = 0; i < GRID; i++)
        if (f[i] != 0 && isfinite(f[i]))
            sizes[count++] = fabs(f[i]);
    numbers_sort(sizes, count);
    return count ? sizes[count / 2] : 0;
}

/* f at the points of the grid. The sides of the difference say which may be zero. */
static void grid_values(struct root_search *search, double low, double high, struct solve_point *grid)
{
    double *x = arena_array(search->arena, GRID, sizeof *x), *outputs[3];
    const struct column column = { x, 1 };
    struct graph graph = search->graph;
    const int top = graph.outputs[0];
    int wanted[] = { top, top, top };
    if (graph.nodes[top].op == OP_SUB) {
        wanted[1] = graph.nodes[top].a;
        wanted[2] = graph.nodes[top].b;
    }
    graph.outputs = wanted;
    graph.output_count = 3;
    for (size_t i = 0; i < 3; i++)
        outputs[i] = arena_array(search->arena, GRID, sizeof *x);
    for (size_t i = 0; i < GRID; i++)
        x[i] = grid_point(low, high, i);
    graph_run(&graph, &column, outputs, GRID);
    search->solution->evaluations += GRID;
    const bool difference = wanted[1] != top;
    search->usual = difference ? 0 : usual_size(search->arena, outputs[0]);
    for (size_t i = 0; i < GRID; i++) {
        const double f = outputs[0][i];
        const double size = difference ? size_of(outputs[1][i], outputs[2][i]) : search->usual;
        grid[i] = (struct solve_point){ x[i], f, f == 0 };
        if (!grid[i].zero && fabs(f) <= NEAR_ZERO * size)
            grid[i].zero = is_zero(search, x[i], f);
    }
}

static void search_range(struct root_search *search, const struct solve_point *grid)
{
    struct sign_counts *counts = arena_array(search->arena, GRID + 1, sizeof *counts);
    for (size_t i = 0; i < GRID; i++) {
        counts[i + 1].zeros = (uint16_t)(counts[i].zeros + grid[i].zero);
        counts[i + 1].finite = (uint16_t)(counts[i].finite + isfinite(grid[i].f));
    }
    search_grid(search, grid, counts, 0, GRID - 1);
}

/* ---- runs become roots and extents --------------------------------------------------------- */

/* The sign of the slope if it has one all the way from a to b, else 0. */
static int slope_sign(struct root_search *search, double a, double b)
{
    enum { POINTS = 9 };
    int sign = 0;
    for (int i = 0; i < POINTS; i++) {
        const double slope = slope_at(search, a + (b - a) * i / POINTS);
        const int one = (slope > 0) - (slope < 0);
        if (!one || (i && one != sign))
            return 0;
        sign = one;
    }
    return sign;
}

/* Where the slope changes its sign, from that at a, between a and b. */
static double turning(struct root_search *search, double a, double b)
{
    const bool rises = slope_at(search, a) > 0;
    while (!neighbours(a, b)) {
        const double half = a + (b - a) / 2, slope = slope_at(search, half);
        if (slope == 0 || half <= a || half >= b)
            return half;
        *((slope > 0) == rises ? &a : &b) = half;
    }
    return fabs(value_at(search, a)) < fabs(value_at(search, b)) ? a : b;
}

static void add_extent(struct root_search *search, struct extent extent)
{
    struct solution *solution = search->solution;
    *(struct extent *)arena_push(search->arena, &solution->extents, &solution->count,
                                  &solution->room, sizeof extent) = extent;
}

static void add_root(struct root_search *search, double x)
{
    add_extent(search, (struct extent){ x, x, true, true });
}

/* The run is one root; f outside of it says which kind. */
static void finish_root(struct root_search *search, struct zero_run run)
{
    struct solve_point a = point_at(search, fmax(search->low, nextafter(run.low, -INFINITY)));
    struct solve_point b = point_at(search, fmin(search->high, nextafter(run.high, INFINITY)));
    if (changes(a, b)) {
        close_in(search, &a, &b);
    } else if ((slope_at(search, a.x) > 0) != (slope_at(search, b.x) > 0)) {
        add_root(search, turning(search, a.x, b.x));
        return;
    } else {                                        /* at an end of the range */
        a = point_at(search, run.low);
        b = point_at(search, run.high);
    }
    add_root(search, fabs(a.f) <= fabs(b.f) ? a.x : b.x);
}

/* An end of an extent: `end` is zero, and `inside` is well within. The extent ends where f is no
 * longer the difference of equal terms, if from there on to `end` it has a slope. */
static void finish_end(struct root_search *search, double inside, double end, double far, double *at,
                       bool *closed)
{
    *at = end;
    *closed = end != far;                           /* it may go on beyond the range */
    if (end == far)
        return;
    const double begin = end + (inside - end) * 1e-3, same = same_until(search, begin, end, DEEPEST);
    if (same != begin && same != end && slope_sign(search, end, same)) {
        *at = same;
        return;
    }
    const struct solve_point last = point_at(search, end);
    const struct solve_point next = point_at(search, nextafter(end, far));
    const double slope = slope_at(search, next.x), width = fabs(next.x - end);
    double ignored;
    if (!isfinite(next.f) ||
        fabs(next.f - last.f) <= 4 * (fabs(slope) * width + rounding_at(search, next.x, &ignored)))
        return;
    *at = rounder(end, next.x);
    *closed = *at == end;
}

static void finish_run(struct root_search *search, struct zero_run run)
{
    const double width = run.high - run.low;
    const double size = fmax(size_of(run.low, run.high), search->step);
    bool narrow = width <= 1e-9 * size;
    if (!narrow && width < 0.1 * size)
        narrow = slope_sign(search, run.low, run.low + width / 4) &&
                 slope_sign(search, run.high, run.high - width / 4) &&
                 !same_between(search, run.low + width * 3 / 8, run.high - width * 3 / 8);
    if (narrow) {
        finish_root(search, run);
        return;
    }
    const double inside = run.low > 0 && run.high > 4 * run.low ? middle(run.low, run.high)
                                                                : run.low + width / 2;
    struct extent extent;
    finish_end(search, inside, run.low, search->low, &extent.low, &extent.low_closed);
    finish_end(search, inside, run.high, search->high, &extent.high, &extent.high_closed);
    add_extent(search, extent);
}

/* ---- inequalities ---------------------------------------------------------------------------- */

/* Is f positive between two numbers, where it keeps its sign? */
static bool positive(struct root_search *search, double a, double b)
{
    if (neighbours(a, b))
        return value_at(search, a) > 0;
    return value_at(search, a > 0 && b > 4 * a ? middle(a, b) : a + (b - a) / 2) > 0;
}

/* Join an extent to the last one where both meet. */
static void join_extent(struct root_search *search, struct extent next)
{
    struct solution *solution = search->solution;
    struct extent *last = solution->count ? &solution->extents[solution->count - 1] : NULL;
    if (last && next.low == last->high && (next.low_closed || last->high_closed)) {
        last->high = next.high;
        last->high_closed = next.high_closed;
    } else {
        add_extent(search, next);
    }
}

/* From where f is zero and where it jumps to where it is at least zero, or more than it. */
static void take_positive(struct root_search *search, bool zero_too)
{
    struct solution *solution = search->solution;
    const struct solution found = *solution;
    size_t i = 0, k = 0;
    struct extent gap = { .low = search->low, .low_closed = true };
    solution->extents = NULL;
    solution->count = solution->room = 0;
    for (bool more = true; more;) {
        const struct extent *zero = i < found.count ? &found.extents[i] : NULL;
        const struct jump *jump = k < found.jump_count ? &found.jumps[k] : NULL;
        if (zero && jump && jump->at < zero->low)
            zero = NULL;
        else if (zero)
            jump = NULL;
        gap.high = zero ? zero->low : jump ? jump->at : search->high;
        gap.high_closed = zero ? !zero->low_closed : jump ? jump->at == jump->first : true;
        if (gap.low < gap.high && positive(search, gap.low, gap.high))
            join_extent(search, gap);
        if (zero && zero_too)
            join_extent(search, *zero);
        gap.low = zero ? zero->high : gap.high;
        gap.low_closed = zero ? !zero->high_closed : jump ? jump->at == jump->last : false;
        i += zero != NULL;
        k += jump != NULL;
        more = zero || jump;
    }
    for (size_t n = 0; n < solution->count; n++) {
        struct extent *one = &solution->extents[n];
        one->low_closed &= one->low == one->high || one->low != search->low;
        one->high_closed &= one->low == one->high || one->high != search->high;
    }
}

/* ---- no solution ----------------------------------------------------------------------------- */

/* The least |f| of the grid, and by thirds between the neighbours of that. */
static void find_closest(struct root_search *search, const struct solve_point *grid)
{
    size_t least = 0;
    for (size_t i = 1; i < GRID; i++)
        if (!isfinite(grid[least].f) || fabs(grid[i].f) < fabs(grid[least].f))
            least = i;
    double low = grid[least - (least > 0)].x, high = grid[least + (least < GRID - 1)].x;
    double x = grid[least].x, f = grid[least].f;
    for (int turn = 0; turn < TURNS && high - low > 1e-13 * size_of(low, high); turn++) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        const double f_a = value_at(search, a), f_b = value_at(search, b);
        const bool first = fabs(f_a) <= fabs(f_b);
        *(first ? &high : &low) = first ? b : a;
        if (fabs(first ? f_a : f_b) < fabs(f)) {
            x = first ? a : b;
            f = first ? f_a : f_b;
        }
    }
    struct solution *solution = search->solution;
    solution->closest = x;
    double nearest = INFINITY;                      /* of the jumps past zero, if there are any */
    for (size_t i = 0; i < solution->jump_count; i++) {
        const struct jump *jump = &solution->jumps[i];
        const double beside = fmin(fabs(jump->before), fabs(jump->after));
        if (!isfinite(jump->before) || !isfinite(jump->after) || beside >= nearest)
            continue;
        nearest = beside;
        solution->nearest_jump = jump;
        solution->closest = jump->at;
    }
}

/* Farther away than the range: the first change of sign of a grid. */
static void find_beyond(struct root_search *search, struct solve_point *grid)
{
    const double low = search->low > 0 ? search->low * 1e-9 : search->low;
    const double high = search->high < 1e290 ? search->high * 1e9 : search->high;
    struct solution *solution = search->solution;
    grid_values(search, low, high, grid);
    for (size_t i = 0; i < GRID && !solution->beyond_found; i++) {
        struct solve_point a = grid[i - (i > 0)], b = grid[i];
        const bool change = i && changes(a, b);
        if (change)
            close_in(search, &a, &b);
        solution->beyond_found = b.f == 0 || (change && passes(search, a, b));
        solution->beyond = !solution->beyond_found ? 0 : fabs(a.f) < fabs(b.f) ? a.x : b.x;
    }
}

/* ---- */

static void fix_others(struct root_search *search, const struct graph *graph, size_t output, size_t input)
{
    struct arena *arena = search->arena;
    struct graph one = *graph;
    double *inputs = arena_array(arena, graph->input_count + 1, sizeof *inputs);
    bool *vary = arena_array(arena, graph->input_count + 1, sizeof *vary);
    int *top = arena_array(arena, 1, sizeof *top);
    for (size_t i = 0; i < graph->input_count; i++)
        inputs[i] = graph->inputs[i].value;
    *top = graph->outputs[output];
    one.outputs = top;
    one.output_count = 1;
    vary[input] = true;
    graph_specialize(arena, &one, inputs, vary, &search->graph);
    const struct graph *left = &search->graph;
    for (size_t i = 0; i < left->count; i++) {
        search->reading++;
        if (left->nodes[i].op != OP_ROOT)
            continue;
        search->loops = true;
        search->reading += loop_turns * (double)(i - (size_t)left->nodes[i].first);
    }
}

/* Nothing moves f: it is zero everywhere or nowhere. */
static bool stands_still(struct root_search *search)
{
    if (search->graph.input_count)
        return false;
    graph_value(search->arena, &search->graph, &search->low, search->nodes, NULL);
    if (search->nodes[search->graph.outputs[0]] == 0)
        add_extent(search, (struct extent){ search->low, search->high, false, false });
    search->solution->closest = search->low;
    return true;
}

void graph_solve(struct arena *arena, const struct graph *graph, size_t output, size_t input,
                 enum relation relation, double low, double high, struct solution *solution)
{
    struct root_search search = { .arena = arena, .solution = solution, .low = low, .high = high,
                             .budget = budget_nodes };
    struct solve_point *grid = arena_array(arena, GRID, sizeof *grid);
    *solution = (struct solution){ .proved = true };
    fix_others(&search, graph, output, input);
    search.nodes = arena_array(arena, search.graph.count + 1, sizeof *search.nodes);
    search.step = low > 0 && high / low > 8 ? 0
                : low == 0 && high > 1e3    ? high * 1e-12 : (high - low) / GRID;
    if (stands_still(&search))
        return;
    bounds_open(&search.bounds, arena, &search.graph, 0);
    grid_values(&search, low, high, grid);
    search_range(&search, grid);
    for (size_t i = 0; i < search.run_count; i++)
        finish_run(&search, search.runs[i]);
    if (relation != RELATION_EQUAL)
        take_positive(&search, relation == RELATION_AT_LEAST);
    if (solution->count)
        return;
    find_closest(&search, grid);
    find_beyond(&search, grid);
}
