/* Makes draws and keeps them as cells of a logarithmic grid (32 per octave, 16 bits).
 *
 * Draws are made in blocks, by the rows of priors and prices (sampler.c), and quantized column by
 * column, so that a million draws fit in memory and a likelihood becomes a table lookup. The
 * histogram of each quantity under the prior is kept for comparison. Same seed, same draws. */
#include "infer/draws.h"

#include <math.h>
#include <string.h>

static const double *cell_logs(struct arena *arena)
{
    double *logs = arena_array(arena, DEDUCE_CELLS, sizeof *logs);
    for (int i = 0; i < DEDUCE_CELLS; i++)
        logs[i] = scalar_log((cell_low(i) + cell_low(i + 1)) / 2);
    return logs;
}

static size_t blocks_of(size_t count)
{
    return (count + BLOCK - 1) / BLOCK;
}

/* Whole blocks, as ranks share them. */
static uint16_t *new_cells(struct arena *arena, size_t count)
{
    return arena_array(arena, blocks_of(count) + 1, BLOCK * sizeof(uint16_t));
}

struct draws *draws_new(struct arena *arena, const struct sampler *sampler, uint64_t seed,
                        size_t count, bool all)
{
    struct draws *draws = arena_alloc(arena, sizeof *draws);
    draws->sampler = *sampler;
    draws->seed = seed;
    draws->count = count;
    draws->logs = cell_logs(arena);
    ziggurat_open(&draws->ziggurat);
    for (int i = 0; i < FIELD_COUNT; i++)
        draws->field[i] = new_cells(arena, count);
    for (int i = 0; i < QUANTITY_COUNT; i++)
        draws->quantity[i] = new_cells(arena, count);
    draws->all = all;
    for (int i = 0; all && i < UNKNOWN_COUNT; i++)
        draws->unknown[i] = new_cells(arena, count);
    draws->tier = arena_array(arena, blocks_of(count) + 1, BLOCK);
    return draws;
}

static void keep_column(uint16_t *cells, const double *values, size_t count)
{
    for (size_t k = 0; k < count; k++)
        cells[k] = cell_of(values[k]);
}

void draws_keep(struct draws *draws, const struct draw_block *block, size_t at, size_t count)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        keep_column(draws->field[i] + at, block->output[FIELDS_AT + i], count);
    for (int i = 0; i < QUANTITY_COUNT; i++)
        keep_column(draws->quantity[i] + at, block->output[QUANTITIES_AT + i], count);
    for (int i = 0; draws->all && i < UNKNOWN_COUNT; i++)
        keep_column(draws->unknown[i] + at, block->output[UNKNOWNS_AT + i], count);
    for (size_t k = 0; k < count; k++) {
        double tier = block->output[TIER_AT][k];
        draws->tier[at + k] = (uint8_t)(tier >= 0 && tier < DEDUCE_TIERS ? tier : DEDUCE_TIERS - 1);
    }
}

void cells_fill(double *histogram, const uint16_t *cells, const double *weight, size_t count)
{
    memset(histogram, 0, DEDUCE_CELLS * sizeof *histogram);
    for (size_t k = 0; k < count; k++)
        histogram[cells[k]] += weight ? weight[k] : 1;
}

static void keep_prior(struct arena *arena, struct draws *draws)
{
    for (int i = 0; i < QUANTITY_COUNT; i++) {
        double *histogram = arena_array(arena, DEDUCE_CELLS, sizeof *histogram);
        cells_fill(histogram, draws->quantity[i], NULL, draws->count);
        draws->prior[i] = histogram;
    }
}

/* Each rank has made its own blocks. */
static void share_blocks(struct arena *arena, struct draws *draws)
{
    enum { CELLS = BLOCK * sizeof(uint16_t) };
    const size_t blocks = blocks_of(draws->count);
    for (int i = 0; i < FIELD_COUNT; i++)
        ranks_share(draws->ranks, arena, draws->field[i], blocks, CELLS);
    for (int i = 0; i < QUANTITY_COUNT; i++)
        ranks_share(draws->ranks, arena, draws->quantity[i], blocks, CELLS);
    for (int i = 0; draws->all && i < UNKNOWN_COUNT; i++)
        ranks_share(draws->ranks, arena, draws->unknown[i], blocks, CELLS);
    ranks_share(draws->ranks, arena, draws->tier, blocks, BLOCK);
}

bool draws_make(struct arena *arena, const struct ranks *ranks, const struct formulas *formulas,
                const struct facts *facts, uint64_t seed, size_t count, bool all, struct draws **draws,
                struct error *error)
{
    struct sampler sampler;
    struct draw_block block;
    if (!sampler_open(arena, formulas, facts, &sampler, error))
        return false;
    *draws = draws_new(arena, &sampler, seed, count, all);
    (*draws)->ranks = ranks;
    block_open(arena, &sampler, &block);
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t size = count - at < BLOCK ? count - at : BLOCK;
        if (!ranks_mine(ranks, at / BLOCK))
            continue;
        block_draw(&sampler, &(*draws)->ziggurat, seed, at / BLOCK, &block);
        block_run(&block, size);
        draws_keep(*draws, &block, at, size);
    }
    share_blocks(arena, *draws);
    keep_prior(arena, *draws);
    return true;
}

bool draws_values(struct arena *arena, const struct formulas *formulas, const struct facts *facts,
                  uint64_t seed, size_t count, double *const field[FIELD_COUNT],
                  double *const quantity[QUANTITY_COUNT], struct error *error)
{
    struct sampler sampler;
    struct draw_block block;
    struct ziggurat ziggurat;
    if (!sampler_open(arena, formulas, facts, &sampler, error))
        return false;
    ziggurat_open(&ziggurat);
    block_open(arena, &sampler, &block);
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t size = count - at < BLOCK ? count - at : BLOCK;
        block_draw(&sampler, &ziggurat, seed, at / BLOCK, &block);
        block_run(&block, size);
        for (int i = 0; i < FIELD_COUNT; i++)
            memcpy(field[i] + at, block.output[FIELDS_AT + i], size * sizeof(double));
        for (int i = 0; i < QUANTITY_COUNT; i++)
            memcpy(quantity[i] + at, block.output[QUANTITIES_AT + i], size * sizeof(double));
    }
    return true;
}

size_t draws_count(const struct draws *draws)
{
    return draws->count;
}
