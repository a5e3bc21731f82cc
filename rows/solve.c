/* Solving, and answers under uncertain inputs. */
#include "rows/run.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 2048, TURNS = 200 };

struct search {
    struct arena *arena;
    const struct list *list;
    size_t output, input;
    double *inputs, *gradient, *outputs;
    int evaluations;
};

static double value_at(struct search *search, double x)
{
    search->inputs[search->input] = x;
    search->evaluations++;
    list_value(search->arena, search->list, search->inputs, NULL, search->outputs);
    return search->outputs[search->output];
}

/* Newton inside a bracket that only shrinks; halving where Newton leaves it or is slow. */
static double close_in(struct search *search, double low, double high, double f_low)
{
    double x = low + (high - low) / 2;
    for (int turn = 0; turn < TURNS; turn++) {
        search->inputs[search->input] = x;
        search->evaluations++;
        double f = list_gradient(search->arena, search->list, search->output, search->inputs,
                                 search->gradient);
        if (f == 0)
            return x;
        if ((f > 0) == (f_low > 0))
            low = x;
        else
            high = x;
        double step = x - f / search->gradient[search->input];
        double middle = low + (high - low) / 2;
        double next = step > low && step < high && turn % 4 != 3 ? step : middle;
        if (next == x || next == low || next == high ||
            fabs(next - x) <= DBL_EPSILON * fabs(x))
            return turn % 4 == 3 || next == x ? next : middle == low ? high : next;
        x = next;
    }
    return x;
}

/* Between positive ends spaced evenly in the logarithm, else evenly. */
static double grid_point(double low, double high, size_t i, size_t count)
{
    double t = (double)i / (double)(count - 1);
    if (i == 0)
        return low;
    if (i == count - 1)
        return high;
    if (low > 0 && high / low > 8)
        return low * scalar_pow(high / low, t);
    if (low == 0 && high > 1e3) {                   /* from zero: finer near it */
        double base = high * 1e-12;
        return base * scalar_pow(high / base, t);
    }
    return low + (high - low) * t;
}

static void grid_values(struct search *search, const double *x, double *f, size_t count)
{
    struct column *columns = arena_array(search->arena, search->list->input_count + 1,
                                         sizeof *columns);
    double **outputs = arena_array(search->arena, search->list->output_count, sizeof *outputs);
    for (size_t i = 0; i < search->list->input_count; i++)
        columns[i] = (struct column){ &search->inputs[i], 0 };
    columns[search->input] = (struct column){ x, 1 };
    for (size_t i = 0; i < search->list->output_count; i++)
        outputs[i] = i == search->output ? f : arena_array(search->arena, count, sizeof(double));
    list_run(search->list, columns, outputs, count);
    search->evaluations += (int)count;
}

static void add_root(struct roots *roots, double x)
{
    if (roots->count && fabs(roots->at[roots->count - 1] - x) <= 1e-12 * fabs(x))
        return;
    if (roots->count < sizeof roots->at / sizeof *roots->at)
        roots->at[roots->count++] = x;
    else
        roots->more++;
}

/* Where f touches zero without crossing it: the least |f| between the neighbours of the
 * least grid point, by thirds. */
static void scan_touching(struct search *search, double low, double high, struct roots *roots)
{
    double around = fmax(fabs(value_at(search, low)), fabs(value_at(search, high)));
    for (int turn = 0; turn < TURNS && high - low > 4 * DBL_EPSILON * fabs(high); turn++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (fabs(value_at(search, a)) <= fabs(value_at(search, b)))
            high = b;
        else
            low = a;
    }
    double x = low + (high - low) / 2;
    if (fabs(value_at(search, x)) <= 1e-12 * around)
        add_root(roots, x);
}

static void scan(struct search *search, double low, double high, struct roots *roots)
{
    double *x = arena_array(search->arena, GRID, sizeof *x);
    double *f = arena_array(search->arena, GRID, sizeof *f);
    for (size_t i = 0; i < GRID; i++)
        x[i] = grid_point(low, high, i, GRID);
    grid_values(search, x, f, GRID);
    size_t least = 0;
    roots->closest_value = INFINITY;
    for (size_t i = 0; i < GRID; i++) {
        if (fabs(f[i]) < fabs(roots->closest_value)) {
            roots->closest_value = f[i];
            roots->closest = x[i];
        }
        if (f[i] == 0)
            add_root(roots, x[i]);
        else if (i && isfinite(f[i]) && isfinite(f[i - 1]) && f[i - 1] != 0 &&
                 (f[i] > 0) != (f[i - 1] > 0)) {
            double root = close_in(search, x[i - 1], x[i], f[i - 1]);
            double scale = fabs(f[i] - f[i - 1]);
            if (fabs(value_at(search, root)) <= 1e-6 * scale)       /* not a jump */
                add_root(roots, root);
        }
        if (i && i + 1 < GRID && x[i] == roots->closest)
            least = i;
    }
    if (!roots->count && least && isfinite(roots->closest_value))
        scan_touching(search, x[least - 1], x[least + 1], roots);
}

void list_roots(struct arena *arena, const struct list *list, size_t output, size_t input,
                double low, double high, struct roots *roots)
{
    struct search search = { .arena = arena, .list = list, .output = output, .input = input };
    search.inputs = arena_array(arena, list->input_count + 1, sizeof(double));
    search.gradient = arena_array(arena, list->input_count + 1, sizeof(double));
    search.outputs = arena_array(arena, list->output_count + 1, sizeof(double));
    for (size_t i = 0; i < list->input_count; i++)
        search.inputs[i] = list->inputs[i].value;
    *roots = (struct roots){ 0 };
    scan(&search, low, high, roots);
    if (!roots->count) {
        struct roots outside = { 0 };
        scan(&search, low > 0 ? low * 1e-9 : low, high < 1e290 ? high * 1e9 : high, &outside);
        roots->beyond_found = outside.count > 0;
        roots->beyond = outside.at[0];
    }
    roots->evaluations = search.evaluations;
}

/* ---- uncertain inputs ---------------------------------------------------------------------- */

/* PCG XSH RR 64/32 (O'Neill 2014). */
static uint32_t draw(uint64_t *state)
{
    uint64_t old = *state;
    *state = old * 6364136223846793005u + 1442695040888963407u;
    uint32_t mixed = (uint32_t)(((old >> 18) ^ old) >> 27), turn = (uint32_t)(old >> 59);
    return mixed >> turn | mixed << (-turn & 31);
}

static double draw_unit(uint64_t *state)                /* in (0, 1) */
{
    double high = draw(state), low = draw(state);
    return (high * 67108864.0 + floor(low / 64)) / 288230376151711744.0 + 0x1p-60;
}

static double draw_normal(uint64_t *state)              /* Marsaglia's polar method, 1964 */
{
    for (;;) {
        double u = 2 * draw_unit(state) - 1, v = 2 * draw_unit(state) - 1;
        double square = u * u + v * v;
        if (square > 0 && square < 1)
            return u * sqrt(-2 * scalar_log(square) / square);
    }
}

static double draw_freely(const struct input *input, uint64_t *state)
{
    double low = input->low, high = input->high;
    switch (input->spread) {
    case SPREAD_NONE:      return input->value;
    case SPREAD_NORMAL:    return low + high * draw_normal(state);
    case SPREAD_LOGNORMAL: return low * scalar_exp(scalar_log(high) * draw_normal(state));
    case SPREAD_RANGE:
        if (low > 0 && high > 10 * low)
            return low * scalar_pow(high / low, draw_unit(state));
        break;
    case SPREAD_UNIFORM: break;
    }
    return low + (high - low) * draw_unit(state);
}

/* A distribution is cut off at the range of its row: draws outside are drawn again. */
static double draw_input(const struct input *input, uint64_t *state)
{
    enum { TRIES = 1000 };
    double x = input->value;
    for (int i = 0; i < TRIES; i++) {
        x = draw_freely(input, state);
        if (x >= input->least && x <= input->most)
            return x;
    }
    return fmin(fmax(x, input->least), input->most);
}

static int by_value(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* By its name (FNV-1a), so that other rows do not change what an input draws. */
static uint64_t name_seed(const char *name)
{
    uint64_t hash = 14695981039346656037u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return hash;
}

void list_quantiles(struct arena *arena, const struct list *list, size_t output,
                    uint64_t seed, size_t samples, const double *at, size_t count,
                    double *quantiles)
{
    struct arena scratch = arena_beside(arena);
    struct column *columns = arena_array(&scratch, list->input_count + 1, sizeof *columns);
    double **outputs = arena_array(&scratch, list->output_count + 1, sizeof *outputs);
    for (size_t i = 0; i < list->input_count; i++) {
        const struct input *input = &list->inputs[i];
        bool spread = input->spread != SPREAD_NONE;
        double *data = arena_array(&scratch, spread ? samples : 1, sizeof *data);
        uint64_t state = seed ^ name_seed(input->name);
        draw(&state);
        for (size_t k = 0; k < (spread ? samples : 1); k++)
            data[k] = draw_input(input, &state);
        columns[i] = (struct column){ data, spread };
    }
    for (size_t i = 0; i < list->output_count; i++)
        outputs[i] = arena_array(&scratch, samples, sizeof(double));
    list_run(list, columns, outputs, samples);
    double *values = outputs[output];
    size_t finite = 0;
    for (size_t k = 0; k < samples; k++)
        if (isfinite(values[k]))
            values[finite++] = values[k];
    qsort(values, finite, sizeof *values, by_value);
    for (size_t q = 0; q < count; q++)
        quantiles[q] = finite ? values[(size_t)(at[q] * (double)(finite - 1) + 0.5)] : NAN;
    arena_free(&scratch);
}
