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
static bool row_values(struct stage *stage, const char *const *names, size_t count,
                       double *values, struct error *error)
{
    struct list list;
    const struct expr **wanted = arena_array(stage->arena, count + 1, sizeof *wanted);
    for (size_t i = 0; i < count; i++)
        if (!expr_parse(stage->book, NULL, 0, text_of(names[i]), &wanted[i], error))
            return false;
    if (!list_build(stage->arena, stage->book, stage->facts, wanted, count, &list, error))
        return false;
    double *inputs = arena_array(stage->arena, list.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < list.input_count; i++)
        inputs[i] = list.inputs[i].value;
    list_value(stage->arena, &list, inputs, NULL, values);
    return true;
}

static double cell_value(const struct fact_table *table, size_t entry, const struct row *row)
{
    for (size_t j = 0; table && j < table->columns; j++) {
        const struct fact *cell = &table->cell[entry * table->columns + j];
        if (!strcmp(table->column[j], row->name) && cell->name && !cell->expression)
            return cell->value;
    }
    return row->value;
}

/* The columns of a kernel's tables, in the order of the book's rows. */
static struct kernel_table *lay_tables(const struct stage *stage, const struct kernel *kernel)
{
    struct kernel_table *tables = arena_array(stage->arena, kernel->table_count + 1,
                                              sizeof *tables);
    for (size_t t = 0; t < kernel->table_count; t++) {
        const struct fact_table *known = facts_table_find(stage->facts, kernel->tables[t]);
        size_t entries = known ? known->entries : 1, count = 0;
        const double **columns = arena_array(stage->arena, stage->book->count, sizeof *columns);
        for (size_t r = 0; r < stage->book->count; r++) {
            const struct row *row = stage->book->rows[r];
            if (!row->table || row->expr || strcmp(row->table, kernel->tables[t]))
                continue;
            double *column = arena_array(stage->arena, entries, sizeof *column);
            for (size_t i = 0; i < entries; i++)
                column[i] = cell_value(known, i, row);
            columns[count++] = column;
        }
        tables[t] = (struct kernel_table){ entries, columns };
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

/* A formula that somebody gave another form is not in the kernels. */
static bool formulas_kept(const struct stage *stage)
{
    const struct kernel *sheet = stage->sheet;
    for (size_t i = 0; i < stage->book->count; i++)
        if (stage->book->rows[i]->before)
            return false;
    for (size_t i = 0; i < stage->facts->scalar_count; i++) {
        const char *name = stage->facts->scalars[i].name;
        int row = book_find(stage->book, name);
        if (row >= 0 && stage->book->rows[row]->expr &&
            index_of(sheet->vary, sheet->vary_count, name) < 0)
            return false;
    }
    return true;
}

static bool find_known(struct stage *stage, struct error *error)
{
    for (size_t i = 0; i < stage->sheet->vary_count; i++) {
        const char *name = stage->sheet->vary[i];
        const struct fact *fact = facts_find(stage->facts, name);
        if (!fact)
            continue;
        stage->known[i] = true;
        if (fact->spread != SPREAD_NONE) {
            error_set(error, "'%s' is drawn from its prior, a range was given", name);
            return error_hint(error, "a number, or the rows of its prior: `chalkline why %s`",
                              stage->draw->keep[i]);
        }
        if (!row_values(stage, &name, 1, &stage->value[i], error))
            return false;
    }
    return true;
}

/* ---- interpreted -------------------------------------------------------------------------- */

/* Unknowns are bound to what is drawn for them, so that one list goes from draws to costs. The
 * kernel of draws keeps them in the order in which the kernel of sheets takes them. */
static bool open_list(struct stage *stage, struct error *error)
{
    const struct kernel *sheet = stage->sheet;
    struct facts bound = { .arena = stage->arena };
    size_t count = sheet->keep_count + sheet->vary_count + 1;
    const struct expr **wanted = arena_array(stage->arena, count, sizeof *wanted);
    for (size_t i = 0; i < stage->facts->scalar_count; i++)
        *(struct fact *)arena_push(stage->arena, &bound.scalars, &bound.scalar_count,
                                   &bound.scalar_room, sizeof(struct fact)) =
            stage->facts->scalars[i];
    bound.tables = stage->facts->tables;
    bound.table_count = bound.table_room = stage->facts->table_count;
    for (size_t i = 0; i < sheet->vary_count; i++)
        if (!stage->known[i])
            facts_bind(&bound, sheet->vary[i],
                       stage->draw->keep[i], ORIGIN_AXIS, "prior");
    for (size_t i = 0; i < count; i++) {
        const char *name = i < sheet->keep_count ? sheet->keep[i]
                         : i + 1 < count ? sheet->vary[i - sheet->keep_count] : NAME_drawn_tier;
        if (!expr_parse(stage->book, NULL, 0, text_of(name), &wanted[i], error))
            return false;
    }
    return list_build(stage->arena, stage->book, &bound, wanted, count, &stage->list, error);
}

static void run_list(const struct stage *stage, struct block *block, size_t count)
{
    const struct list *list = &stage->list;
    const struct kernel *draw = stage->draw, *sheet = stage->sheet;
    struct column inputs[512];
    double *outputs[KEPT + UNKNOWNS + 1];
    assert(list->input_count <= 512);
    for (size_t i = 0; i < list->input_count; i++) {
        int at = index_of(draw->vary, draw->vary_count, list->inputs[i].name);
        inputs[i] = at < 0 ? (struct column){ &list->inputs[i].value, 0 }
                           : (struct column){ block->coordinate[at], 1 };
    }
    memcpy(outputs, block->kept, sheet->keep_count * sizeof *outputs);
    memcpy(outputs + sheet->keep_count, block->unknown, sheet->vary_count * sizeof *outputs);
    outputs[sheet->keep_count + sheet->vary_count] = block->tier;
    list_run(list, inputs, outputs, count);
}

/* ---- both --------------------------------------------------------------------------------- */

static const struct kernel *kernel_here(const char *name)
{
    const struct kernel *kernel = kernel_find(list_run_set(), name);
    return kernel ? kernel : kernel_find("portable", name);
}

static int column_of(const struct kernel *sheet, const char *row)
{
    int at = index_of(sheet->keep, sheet->keep_count, row);
    int unknown = index_of(sheet->vary, sheet->vary_count, row);
    assert(at >= 0 || unknown >= 0);
    return at >= 0 ? at : KEPT + unknown;
}

bool stage_open(struct arena *arena, const struct book *book, const struct facts *facts,
                struct stage *stage, struct error *error)
{
    *stage = (struct stage){ .arena = arena, .book = book, .facts = facts,
                             .draw = kernel_here("draws"), .sheet = kernel_here("sheet") };
    const struct kernel *draw = stage->draw, *sheet = stage->sheet;
    assert(draw && sheet && draw->vary_count <= COORDINATES && sheet->vary_count <= UNKNOWNS &&
           sheet->keep_count <= KEPT && draw->keep_count == sheet->vary_count + 1);
    for (size_t i = 0; i < sheet->vary_count; i++)
        assert(!strcmp(draw->keep[i] + strlen("drawn_"), sheet->vary[i]));
    for (size_t i = 0; i < draw->vary_count; i++)
        stage->normal[i] = book->rows[book_find(book, draw->vary[i])]->low < 0;
    for (int i = 0; i < FIELD_COUNT; i++)
        stage->field[i] = column_of(sheet, fields[i].cost);
    for (int i = 0; i < QUANTITY_COUNT; i++)
        stage->quantity[i] = column_of(sheet, quantities[i]);
    stage->compiled = formulas_kept(stage);
    if (!find_known(stage, error) || (!stage->compiled && !open_list(stage, error)))
        return false;
    stage->draw_tables = lay_tables(stage, draw);
    stage->sheet_tables = lay_tables(stage, sheet);
    stage->draw_fixed = arena_array(arena, draw->fixed_count + 1, sizeof(double));
    stage->sheet_fixed = arena_array(arena, sheet->fixed_count + 1, sizeof(double));
    return row_values(stage, draw->fixed, draw->fixed_count, stage->draw_fixed, error) &&
           row_values(stage, sheet->fixed, sheet->fixed_count, stage->sheet_fixed, error);
}

/* Columns a power of two apart cost eightfold: pad them. */
static double *new_column(struct arena *arena)
{
    enum { PAD = 24 };
    return arena_align(arena, (BLOCK + PAD) * sizeof(double), 64);
}

void block_open(struct arena *arena, const struct stage *stage, struct block *block)
{
    for (size_t i = 0; i < stage->draw->vary_count; i++)
        block->coordinate[i] = new_column(arena);
    for (size_t i = 0; i < stage->sheet->vary_count; i++)
        block->unknown[i] = new_column(arena);
    for (size_t i = 0; i < stage->sheet->keep_count; i++)
        block->kept[i] = new_column(arena);
    block->tier = new_column(arena);
}

void block_draw(const struct stage *stage, const struct ziggurat *ziggurat, uint64_t seed,
                size_t number, struct block *block)
{
    struct random random;
    random_stream(&random, seed, "draws", number);
    for (size_t i = 0; i < stage->draw->vary_count; i++)
        if (stage->normal[i])
            random_normals(&random, ziggurat, block->coordinate[i], BLOCK);
        else
            random_uniforms(&random, block->coordinate[i], BLOCK);
}

static void run_kernels(const struct stage *stage, struct block *block, size_t count)
{
    const struct kernel *draw = stage->draw, *sheet = stage->sheet;
    double *drawn[UNKNOWNS + 1];
    memcpy(drawn, block->unknown, sheet->vary_count * sizeof *drawn);
    drawn[sheet->vary_count] = block->tier;
    draw->run(stage->draw_fixed, stage->draw_tables, (const double *const *)block->coordinate,
              drawn, count);
    for (size_t i = 0; i < sheet->vary_count; i++)
        for (size_t k = 0; stage->known[i] && k < count; k++)
            block->unknown[i][k] = stage->value[i];
    sheet->run(stage->sheet_fixed, stage->sheet_tables, (const double *const *)block->unknown,
               block->kept, count);
}

void block_run(const struct stage *stage, struct block *block, size_t count)
{
    if (stage->compiled)
        run_kernels(stage, block, count);
    else
        run_list(stage, block, count);
}

const double *block_column(const struct block *block, int index)
{
    return index < KEPT ? block->kept[index] : block->unknown[index - KEPT];
}
