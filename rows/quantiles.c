/* Quantiles of outputs when inputs are uncertain: seeded draws of every input that has a range
 * or a distribution, one run over all of them, and the sorted values.
 *
 * The stream of an input is seeded by its name, so that adding a row does not change what the
 * others draw. A distribution is truncated at the range of its row by drawing again. Inputs are
 * independent. */
#include "rows/rows.h"
#include "base/quantile.h"

#include <math.h>

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
    switch (input->distribution) {
    case DISTRIBUTION_NONE:      return input->value;
    case DISTRIBUTION_NORMAL:    return low + high * draw_normal(state);
    case DISTRIBUTION_LOGNORMAL: return low * scalar_exp(scalar_log(high) * draw_normal(state));
    case DISTRIBUTION_RANGE:
        if (low > 0 && high > 10 * low)
            return low * scalar_pow(high / low, draw_unit(state));
        break;
    case DISTRIBUTION_UNIFORM: break;
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

/* By its name, so that other rows do not change what an input draws. */
static uint64_t name_seed(const char *name)
{
    return hash_text(HASH_START, name);
}

void graph_quantiles(struct arena *arena, const struct graph *graph, uint64_t seed, size_t samples, const double *at,
                     size_t count, double *quantiles)
{
    struct arena scratch = arena_beside(arena);
    struct column *columns = arena_array(&scratch, graph->input_count + 1, sizeof *columns);
    double **outputs = arena_array(&scratch, graph->output_count + 1, sizeof *outputs);
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct input *input = &graph->inputs[i];
        bool spread = input->distribution != DISTRIBUTION_NONE;
        double *data = arena_array(&scratch, spread ? samples : 1, sizeof *data);
        uint64_t state = seed ^ name_seed(input->name);
        draw(&state);
        for (size_t k = 0; k < (spread ? samples : 1); k++)
            data[k] = draw_input(input, &state);
        columns[i] = (struct column){ data, spread };
    }
    for (size_t i = 0; i < graph->output_count; i++)
        outputs[i] = arena_array(&scratch, samples, sizeof(double));
    graph_run(graph, columns, outputs, samples);
    for (size_t i = 0; i < graph->output_count; i++) {
        size_t finite = 0;
        for (size_t k = 0; k < samples; k++)
            if (isfinite(outputs[i][k]))
                outputs[i][finite++] = outputs[i][k];
        numbers_sort(outputs[i], finite);
        for (size_t q = 0; q < count; q++)
            *quantiles++ = finite ? outputs[i][(size_t)(at[q] * (double)(finite - 1) + 0.5)] : NAN;
    }
    arena_free(&scratch);
}
