/* From coordinates to values: the rows of priors and prices at each draw, compiled or interpreted.
 *
 * Where no formula was changed, two kernels that the build compiled are used; otherwise one graph
 * goes from coordinates to prices. Both give the same bits. Unknowns that are given as facts
 * replace their draws. Each block of draws has a random stream of its own, so that draw i is the
 * same whatever the total number. Columns are padded because columns a power of two apart share
 * cache sets. */
#include "infer/draws.h"

#include "build/row_names.h"

#include <assert.h>
#include <math.h>
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

/* ---- what is fixed ------------------------------------------------------------------------ */

/* Values of rows at the facts. */
static bool row_values(struct sampler *sampler, const char *const *names, size_t count,
                       double *values, struct error *error)
{
    struct graph graph;
    const struct expr **wanted = arena_array(sampler->arena, count + 1, sizeof *wanted);
    for (size_t i = 0; i < count; i++)
        if (!expr_parse(sampler->formulas, NULL, 0, text_of(names[i]), &wanted[i], error))
            return false;
    if (!graph_build(sampler->arena, sampler->formulas, sampler->facts, wanted, count, &graph, error))
        return false;
    double *inputs = arena_array(sampler->arena, graph.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < graph.input_count; i++)
        inputs[i] = graph.inputs[i].value;
    graph_value(sampler->arena, &graph, inputs, NULL, values);
    return true;
}

static double cell_value(const struct fact_table *table, size_t entry, const struct row *row)
{
    for (size_t j = 0; table && j < table->columns; j++) {
        const struct fact *cell = &table->cell[entry * table->columns + j];
        if (!strcmp(table->column[j], row_name(row)) && cell->name && !cell->expression)
            return cell->value;
    }
    return row->value;
}

/* The columns of their tables, in the order of the formulas' rows. */
static struct compiled_table *lay_tables(const struct sampler *sampler, const struct compiled *compiled)
{
    struct compiled_table *tables = arena_array(sampler->arena, compiled->table_count + 1,
                                                sizeof *tables);
    for (size_t t = 0; t < compiled->table_count; t++) {
        const struct fact_table *known = facts_table_find(sampler->facts, compiled->tables[t]);
        size_t entries = known ? known->entries : 1, count = 0;
        const double **columns = arena_array(sampler->arena, sampler->formulas->count, sizeof *columns);
        for (size_t r = 0; r < sampler->formulas->count; r++) {
            const struct row *row = formulas_row(sampler->formulas, r);
            if (!row_table(row) || row_expr(row) || strcmp(row_table(row), compiled->tables[t]))
                continue;
            double *column = arena_array(sampler->arena, entries, sizeof *column);
            for (size_t i = 0; i < entries; i++)
                column[i] = cell_value(known, i, row);
            columns[count++] = column;
        }
        tables[t] = (struct compiled_table){ entries, columns };
    }
    return tables;
}

static int index_of(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return (int)i;
    return -1;
}

/* A row that the user has redefined is not compiled. */
static bool formulas_kept(const struct sampler *sampler)
{
    const struct compiled *sheet = sampler->sheet;
    for (size_t i = 0; i < sampler->formulas->count; i++)
        if (row_before(formulas_row(sampler->formulas, i)))
            return false;
    for (size_t i = 0; i < sampler->facts->scalar_count; i++) {
        const char *name = sampler->facts->scalars[i].name;
        int row = formulas_find(sampler->formulas, name);
        if (row >= 0 && row_expr(formulas_row(sampler->formulas, row)) &&
            index_of(sheet->vary, sheet->vary_count, name) < 0)
            return false;
    }
    return true;
}

static bool find_known(struct sampler *sampler, struct error *error)
{
    for (size_t i = 0; i < sampler->sheet->vary_count; i++) {
        const char *name = sampler->sheet->vary[i];
        const struct fact *fact = facts_find(sampler->facts, name);
        if (!fact)
            continue;
        sampler->known[i] = true;
        if (fact->distribution != DISTRIBUTION_NONE) {
            error_set(error, "'%s' cannot be a range: its distribution is the prior", name);
            return error_expected(error, "a number, or other values for its prior: see `chalkline why %s`",
                                  sampler->draw->keep[i]);
        }
        if (!row_values(sampler, &name, 1, &sampler->value[i], error))
            return false;
    }
    return true;
}

/* ---- interpreted -------------------------------------------------------------------------- */

/* Unknowns are bound to what is drawn for them, so that one list goes from draws to costs. The
 * one of draws keeps them in the order in which that of sheets takes them. */
static bool open_list(struct sampler *sampler, struct error *error)
{
    const struct compiled *sheet = sampler->sheet;
    struct facts bound = { .arena = sampler->arena };
    size_t count = sheet->keep_count + sheet->vary_count + 1;
    const struct expr **wanted = arena_array(sampler->arena, count, sizeof *wanted);
    for (size_t i = 0; i < sampler->facts->scalar_count; i++)
        *(struct fact *)arena_push(sampler->arena, &bound.scalars, &bound.scalar_count,
                                   &bound.scalar_room, sizeof(struct fact)) =
            sampler->facts->scalars[i];
    bound.tables = sampler->facts->tables;
    bound.table_count = bound.table_room = sampler->facts->table_count;
    for (size_t i = 0; i < sheet->vary_count; i++)
        if (!sampler->known[i])
            facts_bind(&bound, sheet->vary[i],
                       sampler->draw->keep[i], ORIGIN_AXIS, "prior");
    for (size_t i = 0; i < count; i++) {
        const char *name = i < sheet->keep_count ? sheet->keep[i]
                         : i + 1 < count ? sheet->vary[i - sheet->keep_count] : NAME_drawn_tier;
        if (!expr_parse(sampler->formulas, NULL, 0, text_of(name), &wanted[i], error))
            return false;
    }
    return graph_build(sampler->arena, sampler->formulas, &bound, wanted, count, &sampler->graph, error);
}

static void run_list(const struct sampler *sampler, struct draw_block *block, size_t count)
{
    const struct graph *graph = &sampler->graph;
    const struct compiled *draw = sampler->draw, *sheet = sampler->sheet;
    struct column inputs[512];
    double *outputs[KEPT + UNKNOWNS + 1];
    assert(graph->input_count <= 512);
    for (size_t i = 0; i < graph->input_count; i++) {
        int at = index_of(draw->vary, draw->vary_count, graph->inputs[i].name);
        inputs[i] = at < 0 ? (struct column){ &graph->inputs[i].value, 0 }
                           : (struct column){ block->coordinate[at], 1 };
    }
    memcpy(outputs, block->kept, sheet->keep_count * sizeof *outputs);
    memcpy(outputs + sheet->keep_count, block->unknown, sheet->vary_count * sizeof *outputs);
    outputs[sheet->keep_count + sheet->vary_count] = block->tier;
    graph_run(graph, inputs, outputs, count);
}

/* ---- both --------------------------------------------------------------------------------- */

static const struct compiled *compiled_here(const char *name)
{
    const struct compiled *compiled = compiled_find(graph_run_set(), name);
    return compiled ? compiled : compiled_find("portable", name);
}

static int column_of(const struct compiled *sheet, const char *row)
{
    int at = index_of(sheet->keep, sheet->keep_count, row);
    int unknown = index_of(sheet->vary, sheet->vary_count, row);
    assert(at >= 0 || unknown >= 0);
    return at >= 0 ? at : KEPT + unknown;
}

bool sampler_open(struct arena *arena, const struct formulas *formulas, const struct facts *facts,
                  struct sampler *sampler, struct error *error)
{
    *sampler = (struct sampler){ .arena = arena, .formulas = formulas, .facts = facts,
                                 .draw = compiled_here("draws"), .sheet = compiled_here("sheet") };
    const struct compiled *draw = sampler->draw, *sheet = sampler->sheet;
    assert(draw && sheet && draw->vary_count <= COORDINATES && sheet->vary_count <= UNKNOWNS &&
           sheet->keep_count <= KEPT && draw->keep_count == sheet->vary_count + 1);
    for (size_t i = 0; i < sheet->vary_count; i++)
        assert(!strcmp(draw->keep[i] + strlen("drawn_"), sheet->vary[i]));
    for (size_t i = 0; i < draw->vary_count; i++)
        sampler->normal[i] = formulas_row(formulas, formulas_find(formulas, draw->vary[i]))->low < 0;
    for (int i = 0; i < FIELD_COUNT; i++)
        sampler->field[i] = column_of(sheet, fields[i].cost);
    for (int i = 0; i < QUANTITY_COUNT; i++)
        sampler->quantity[i] = column_of(sheet, quantities[i]);
    sampler->compiled = formulas_kept(sampler);
    if (!find_known(sampler, error) || (!sampler->compiled && !open_list(sampler, error)))
        return false;
    sampler->draw_tables = lay_tables(sampler, draw);
    sampler->sheet_tables = lay_tables(sampler, sheet);
    sampler->draw_fixed = arena_array(arena, draw->fixed_count + 1, sizeof(double));
    sampler->sheet_fixed = arena_array(arena, sheet->fixed_count + 1, sizeof(double));
    return row_values(sampler, draw->fixed, draw->fixed_count, sampler->draw_fixed, error) &&
           row_values(sampler, sheet->fixed, sheet->fixed_count, sampler->sheet_fixed, error);
}

/* Columns a power of two apart cost eightfold: pad them. */
static double *new_column(struct arena *arena)
{
    enum { PAD = 24 };
    return arena_align(arena, (BLOCK + PAD) * sizeof(double), 64);
}

void block_open(struct arena *arena, const struct sampler *sampler, struct draw_block *block)
{
    for (size_t i = 0; i < sampler->draw->vary_count; i++)
        block->coordinate[i] = new_column(arena);
    for (size_t i = 0; i < sampler->sheet->vary_count; i++)
        block->unknown[i] = new_column(arena);
    for (size_t i = 0; i < sampler->sheet->keep_count; i++)
        block->kept[i] = new_column(arena);
    block->tier = new_column(arena);
}

void block_draw(const struct sampler *sampler, const struct ziggurat *ziggurat, uint64_t seed,
                size_t number, struct draw_block *block)
{
    struct random random;
    random_stream(&random, seed, "draws", number);
    for (size_t i = 0; i < sampler->draw->vary_count; i++)
        if (sampler->normal[i])
            random_normals(&random, ziggurat, block->coordinate[i], BLOCK);
        else
            random_uniforms(&random, block->coordinate[i], BLOCK);
}

static void run_compiled(const struct sampler *sampler, struct draw_block *block, size_t count)
{
    const struct compiled *draw = sampler->draw, *sheet = sampler->sheet;
    double *drawn[UNKNOWNS + 1];
    memcpy(drawn, block->unknown, sheet->vary_count * sizeof *drawn);
    drawn[sheet->vary_count] = block->tier;
    draw->run(sampler->draw_fixed, sampler->draw_tables, (const double *const *)block->coordinate,
              drawn, count);
    for (size_t i = 0; i < sheet->vary_count; i++)
        for (size_t k = 0; sampler->known[i] && k < count; k++)
            block->unknown[i][k] = sampler->value[i];
    sheet->run(sampler->sheet_fixed, sampler->sheet_tables, (const double *const *)block->unknown,
               block->kept, count);
}

void block_run(const struct sampler *sampler, struct draw_block *block, size_t count)
{
    if (sampler->compiled)
        run_compiled(sampler, block, count);
    else
        run_list(sampler, block, count);
}

const double *block_column(const struct draw_block *block, int index)
{
    return index < KEPT ? block->kept[index] : block->unknown[index - KEPT];
}
