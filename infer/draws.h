/* draws -- samples of the priors, run through the rows and kept as cells. Private to infer/.
 *
 * A block has BLOCK draws: coordinates (uniform in (0, 1) or standard normal), the unknowns that the
 * rows of priors make of them, and the prices that follow. Of a draw only the cell of each value in a
 * logarithmic grid is kept, 32 cells per octave. */
#ifndef INFER_DRAWS_H
#define INFER_DRAWS_H

#include "infer/infer.h"
#include "rows/random.h"

enum { BLOCK = 1024, COORDINATES = 64, UNKNOWNS = 64, KEPT = 64 };

/* How a block of coordinates becomes values: two sets of compiled rows, or one graph of nodes. */
struct sampler {
    struct arena *arena;
    const struct formulas *formulas;
    const struct facts *facts;
    const struct compiled *draw, *sheet;
    double *draw_fixed, *sheet_fixed;
    struct compiled_table *draw_tables, *sheet_tables;
    bool compiled;
    struct graph graph;             /* not compiled: sheet's rows, unknowns, the tier */
    bool normal[COORDINATES];       /* or even */
    bool known[UNKNOWNS];           /* a fact gives it */
    double value[UNKNOWNS];
    int field[FIELD_COUNT], quantity[QUANTITY_COUNT];   /* kept, or KEPT + unknown */
};

struct draw_block {                      /* columns of BLOCK numbers */
    double *coordinate[COORDINATES], *unknown[UNKNOWNS], *kept[KEPT], *tier;
};

bool sampler_open(struct arena *arena, const struct formulas *formulas, const struct facts *facts,
                  struct sampler *sampler, struct error *error);
void block_open(struct arena *arena, const struct sampler *sampler, struct draw_block *block);
/* The coordinates of block `number` of the draws of a seed. */
void block_draw(const struct sampler *sampler, const struct ziggurat *ziggurat, uint64_t seed,
                size_t number, struct draw_block *block);
void block_run(const struct sampler *sampler, struct draw_block *block, size_t count);
/* The column of a field or quantity. */
const double *block_column(const struct draw_block *block, int index);

struct draws {
    const struct ranks *ranks;
    struct sampler sampler;
    struct ziggurat ziggurat;
    uint64_t seed;
    size_t count;
    uint16_t *field[FIELD_COUNT], *quantity[QUANTITY_COUNT], *unknown[UNKNOWNS];
    uint8_t *tier;
    bool all;                       /* unknowns are kept too */
    const double *logs;             /* of the middle of each cell */
    const double *prior[QUANTITY_COUNT];    /* histograms of the quantities */
    double *share;                  /* prior over what they were drawn from; NULL: 1 */
    double *coordinate[COORDINATES];        /* kept where `seed` does not give them; or NULL */
};

struct draws *draws_new(struct arena *arena, const struct sampler *sampler, uint64_t seed,
                        size_t count, bool all);
/* Keep the first `count` draws of the block as draws at, at + 1, ... */
void draws_keep(struct draws *draws, const struct draw_block *block, size_t at, size_t count);

/* Add the cells to a histogram of DEDUCE_CELLS; without weights each counts 1. */
void cells_fill(double *histogram, const uint16_t *cells, const double *weight, size_t count);

/* ---- the grid ---------------------------------------------------------------------------- */

/* 2^-64 to 2^64, 32 cells an octave, even within it: the upper bits of a double. What is less,
 * 0 and below too, is in the first cell, what is more in the last. */
enum { CELL_BITS = 47, CELL_FIRST = (1023 - 64) << 5 };

static inline uint16_t cell_of(double x)
{
    int64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    int64_t cell = (bits >> CELL_BITS) - CELL_FIRST;
    return (uint16_t)(cell < 0 ? 0 : cell >= DEDUCE_CELLS ? DEDUCE_CELLS - 1 : cell);
}

static inline double cell_low(int cell)
{
    int64_t bits = (int64_t)(cell + CELL_FIRST) << CELL_BITS;
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
