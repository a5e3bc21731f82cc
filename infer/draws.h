/* draws -- samples of the priors, run through the rows and kept as cells. Private to infer/.
 *
 * A block has BLOCK draws: coordinates (uniform in (0, 1) or standard normal), the unknowns that the
 * rows of priors make of them, and the prices that follow. Of a draw only the cell of each value in a
 * logarithmic grid is kept, 32 cells per octave. */
#ifndef INFER_DRAWS_H
#define INFER_DRAWS_H

#include "infer/infer.h"
#include "rows/random.h"

#include "build/row_names.h"

/* The coordinates are the rows from draw_active to draw_multiple, in their order. */
enum { BLOCK = 1024, COORDINATES = ROW_draw_multiple - ROW_draw_active + 1 };

/* Where the values of a draw stand among the outputs of the graph. */
enum { FIELDS_AT = 0, QUANTITIES_AT = FIELD_COUNT, UNKNOWNS_AT = QUANTITIES_AT + QUANTITY_COUNT,
       TIER_AT = UNKNOWNS_AT + UNKNOWN_COUNT, OUTPUTS };

/* The graph from coordinates to prices. */
struct sampler {
    struct arena *arena;
    struct graph graph;
    const char *coordinate[COORDINATES];
    bool normal[COORDINATES];       /* or even */
};

struct draw_block {                 /* columns of BLOCK numbers */
    struct graph_program *program;
    struct column *inputs;          /* of the graph: coordinates, and what is the same for all draws */
    double *coordinate[COORDINATES], *output[OUTPUTS];
};

bool sampler_open(struct arena *arena, const struct formulas *formulas, const struct facts *facts,
                  struct sampler *sampler, struct error *error);
void block_open(struct arena *arena, const struct sampler *sampler, struct draw_block *block);
/* The coordinates of block `number` of the draws of a seed. */
void block_draw(const struct sampler *sampler, const struct ziggurat *ziggurat, uint64_t seed,
                size_t number, struct draw_block *block);
void block_run(const struct draw_block *block, size_t count);

struct draws {
    const struct ranks *ranks;
    struct sampler sampler;
    struct ziggurat ziggurat;
    uint64_t seed;
    size_t count;
    uint16_t *field[FIELD_COUNT], *quantity[QUANTITY_COUNT], *unknown[UNKNOWN_COUNT];
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
