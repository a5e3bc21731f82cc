/* From coordinates to values: the rows of priors and prices at each draw, as one graph.
 *
 * Unknowns are bound to what is drawn for them; those that are given as facts replace their draws. Each
 * block of draws has a random stream of its own, so that draw i is the same whatever the total number.
 * Columns are padded because columns a power of two apart share cache sets. */
#include "infer/draws.h"

#include <string.h>

const struct field_row fields[FIELD_COUNT] = {
#define FIELD(key, cost, seen, label) { cost, seen, label },
#include "infer/field.def"
#undef FIELD
};

const char *const quantities[QUANTITY_COUNT] = {
#define QUANTITY(key, row) row,
#include "infer/quantity.def"
#undef QUANTITY
};

const char *const unknowns[UNKNOWN_COUNT] = {
#define UNKNOWN(row) NAME_##row,
#include "infer/unknown.def"
#undef UNKNOWN
};

static const char *const drawn[UNKNOWN_COUNT] = {
#define UNKNOWN(row) NAME_drawn_##row,
#include "infer/unknown.def"
#undef UNKNOWN
};

/* The facts, and for each unknown that none of them gives its draw. */
static bool bind_unknowns(struct arena *arena, const struct facts *facts, struct facts *bound, struct error *error)
{
    *bound = (struct facts){ .arena = arena, .tables = facts->tables, .table_count = facts->table_count,
                             .table_room = facts->table_count };
    for (size_t i = 0; i < facts->scalar_count; i++)
        *(struct fact *)arena_push(arena, &bound->scalars, &bound->scalar_count, &bound->scalar_room,
                                   sizeof(struct fact)) = facts->scalars[i];
    for (int i = 0; i < UNKNOWN_COUNT; i++) {
        const struct fact *fact = facts_find(facts, unknowns[i]);
        if (!fact)
            facts_bind(bound, unknowns[i], drawn[i], ORIGIN_AXIS, "prior");
        else if (fact->distribution != DISTRIBUTION_NONE) {
            error_set(error, "'%s' cannot be a range: its distribution is the prior", unknowns[i]);
            return error_expected(error, "a number, or other values for its prior: see `chalkline why %s`", drawn[i]);
        }
    }
    return true;
}

static const char *output_name(int output)
{
    return output == TIER_AT         ? NAME_drawn_tier
           : output >= UNKNOWNS_AT   ? unknowns[output - UNKNOWNS_AT]
           : output >= QUANTITIES_AT ? quantities[output - QUANTITIES_AT]
                                     : fields[output - FIELDS_AT].cost;
}

bool sampler_open(struct arena *arena, const struct formulas *formulas, const struct facts *facts,
                  struct sampler *sampler, struct error *error)
{
    const struct expr *wanted[OUTPUTS];
    const int first = formulas_find(formulas, NAME_draw_active);
    struct facts bound;
    *sampler = (struct sampler){ .arena = arena };
    for (int i = 0; i < COORDINATES; i++) {
        const struct row *row = formulas_row(formulas, (size_t)(first + i));
        sampler->coordinate[i] = row_name(row);
        sampler->normal[i] = row->low < 0;
    }
    if (!bind_unknowns(arena, facts, &bound, error))
        return false;
    for (int i = 0; i < OUTPUTS; i++)
        if (!expr_parse(formulas, NULL, 0, text_of(output_name(i)), &wanted[i], error))
            return false;
    return graph_build(arena, formulas, &bound, wanted, OUTPUTS, &sampler->graph, error);
}

/* Columns a power of two apart cost eightfold: pad them. */
static double *new_column(struct arena *arena)
{
    enum { PAD = 24 };
    return arena_align(arena, (BLOCK + PAD) * sizeof(double), 64);
}

void block_open(struct arena *arena, const struct sampler *sampler, struct draw_block *block)
{
    const struct graph *graph = &sampler->graph;
    block->inputs = arena_array(arena, graph->input_count + 1, sizeof *block->inputs);
    for (size_t i = 0; i < graph->input_count; i++)
        block->inputs[i] = (struct column){ &graph->inputs[i].value, 0 };
    for (int i = 0; i < COORDINATES; i++) {
        const int input = graph_input(graph, sampler->coordinate[i]);
        block->coordinate[i] = new_column(arena);
        if (input >= 0)
            block->inputs[input] = (struct column){ block->coordinate[i], 1 };
    }
    for (int i = 0; i < OUTPUTS; i++)
        block->output[i] = new_column(arena);
    block->program = graph_program_make(arena, NULL, graph, block->inputs);
}

void block_draw(const struct sampler *sampler, const struct ziggurat *ziggurat, uint64_t seed,
                size_t number, struct draw_block *block)
{
    struct random random;
    random_stream(&random, seed, "draws", number);
    for (int i = 0; i < COORDINATES; i++)
        if (sampler->normal[i])
            random_normals(&random, ziggurat, block->coordinate[i], BLOCK);
        else
            random_uniforms(&random, block->coordinate[i], BLOCK);
}

void block_run(const struct draw_block *block, size_t count)
{
    graph_program_run(block->program, block->inputs, block->output, count);
}
