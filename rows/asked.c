/* A cache of graphs that grow: one builder for each of the sets of facts that were used last.
 *
 * A question finds the builder whose facts are the same as its own, by content, since a scenario's facts are changed in
 * place; its first question costs a whole build, each further one only the nodes that it adds. When all places are taken,
 * the builder that has not been asked for longest gives up its place and its memory. A builder that fails is not used
 * again: the question is asked once more of a new one, whose error it then is. Scalars are compared with their texts;
 * names of tables by address, since the tables of a scenario live as long as it does. */
#include "rows/grow.h"

#include <string.h>

enum { BUILDERS = 4 };

struct kept_graph {
    struct arena *arena;            /* of the builder and its facts */
    struct graph_builder *builder;  /* NULL: the place is free */
    struct formulas formulas;
    struct facts facts;             /* its own arrays */
    const char **names, **expressions;      /* copies of the texts of its scalars */
    bool parts;
    unsigned used;                  /* when it was asked last */
};

struct asked_graphs {
    struct arena *arena;
    struct kept_graph places[BUILDERS];
    unsigned questions;
};

struct asked_graphs *asked_graphs_new(struct arena *arena)
{
    struct asked_graphs *asked = arena_alloc(arena, sizeof *asked);
    asked->arena = arena;
    return asked;
}

/* ---- the same facts ------------------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_table(const struct fact_table *a, const struct fact_table *b)
{
    return a->entries == b->entries && a->columns == b->columns && same_text(a->name, b->name) &&
           !memcmp(a->entry, b->entry, a->entries * sizeof *a->entry) &&
           !memcmp(a->column, b->column, a->columns * sizeof *a->column) &&
           !memcmp(a->cell, b->cell, a->entries * a->columns * sizeof *a->cell);
}

/* Texts of scalars are compared too: memory may have been given back and taken again. */
static bool same_facts(const struct kept_graph *place, const struct facts *facts)
{
    if (place->facts.scalar_count != facts->scalar_count || place->facts.table_count != facts->table_count ||
        (facts->scalar_count &&
         memcmp(place->facts.scalars, facts->scalars, facts->scalar_count * sizeof *facts->scalars)))
        return false;
    for (size_t i = 0; i < facts->scalar_count; i++)
        if (strcmp(place->names[i], facts->scalars[i].name) ||
            !same_text(place->expressions[i], facts->scalars[i].expression))
            return false;
    for (size_t i = 0; i < facts->table_count; i++)
        if (!same_table(&place->facts.tables[i], &facts->tables[i]))
            return false;
    return true;
}

static bool same_formulas(const struct formulas *a, const struct formulas *b)
{
    return a->places == b->places && a->count == b->count && a->index == b->index && a->conditions == b->conditions;
}

static void *copy_of(struct arena *arena, const void *data, size_t count, size_t size)
{
    void *copy = arena_array(arena, count + 1, size);
    if (count)
        memcpy(copy, data, count * size);
    return copy;
}

static void keep_facts(struct kept_graph *place, const struct facts *facts)
{
    struct arena *arena = place->arena;
    struct facts *copy = &place->facts;
    *copy = (struct facts){ .arena = arena, .scalar_count = facts->scalar_count, .table_count = facts->table_count };
    copy->scalars = copy_of(arena, facts->scalars, facts->scalar_count, sizeof *copy->scalars);
    copy->tables = copy_of(arena, facts->tables, facts->table_count, sizeof *copy->tables);
    place->names = arena_array(arena, facts->scalar_count + 1, sizeof *place->names);
    place->expressions = arena_array(arena, facts->scalar_count + 1, sizeof *place->expressions);
    for (size_t i = 0; i < facts->scalar_count; i++) {
        const struct fact *fact = &facts->scalars[i];
        place->names[i] = arena_copy(arena, fact->name, strlen(fact->name));
        if (fact->expression)
            place->expressions[i] = arena_copy(arena, fact->expression, strlen(fact->expression));
    }
    for (size_t i = 0; i < copy->table_count; i++) {
        struct fact_table *table = &copy->tables[i];
        table->entry = copy_of(arena, table->entry, table->entries, sizeof *table->entry);
        table->column = copy_of(arena, table->column, table->columns, sizeof *table->column);
        table->cell = copy_of(arena, table->cell, table->entries * table->columns, sizeof *table->cell);
    }
}

/* ---- asking ---------------------------------------------------------------------------------------------------------- */

/* The place of these facts, or the one that is free or was not asked for longest. */
static struct kept_graph *place_of(struct asked_graphs *asked, const struct formulas *formulas, const struct facts *facts,
                              bool parts)
{
    struct kept_graph *oldest = &asked->places[0];
    for (size_t i = 0; i < BUILDERS; i++) {
        struct kept_graph *place = &asked->places[i];
        if (place->builder && place->parts == parts && same_formulas(&place->formulas, formulas) &&
            same_facts(place, facts))
            return place;
        if (place->used < oldest->used)
            oldest = place;
    }
    if (oldest->builder)
        arena_free(oldest->arena);
    oldest->builder = NULL;
    return oldest;
}

static void place_open(struct asked_graphs *asked, struct kept_graph *place, const struct formulas *formulas,
                       const struct facts *facts, bool parts)
{
    if (!place->arena)
        place->arena = arena_inner(asked->arena);
    place->formulas = *formulas;
    place->parts = parts;
    keep_facts(place, facts);
    place->builder = builder_open(place->arena, asked->arena, &place->formulas, &place->facts, parts);
}

static void place_close(struct kept_graph *place)
{
    arena_free(place->arena);
    place->builder = NULL;
    place->used = 0;
}

static struct nodes *grown(struct asked_graphs *asked, const struct formulas *formulas, const struct facts *facts,
                           bool parts, const struct expr *const *wanted, size_t count, int *nodes,
                           struct error *error)
{
    struct kept_graph *place = place_of(asked, formulas, facts, parts);
    bool fresh = !place->builder;
    for (;; fresh = true) {
        place->used = ++asked->questions;
        if (!place->builder)
            place_open(asked, place, formulas, facts, parts);
        if (builder_grow(place->builder, wanted, count, nodes, error))
            return builder_nodes(place->builder);
        place_close(place);
        if (fresh)
            return NULL;
    }
}

bool graph_asked(struct asked_graphs *asked, struct arena *arena, const struct formulas *formulas,
                 const struct facts *facts, bool parts, const struct expr *const *wanted, size_t count,
                 struct graph *graph, double **values, struct error *error)
{
    int *nodes = arena_array(arena, count + 1, sizeof *nodes);
    struct nodes *set = grown(asked, formulas, facts, parts, wanted, count, nodes, error);
    if (!set)
        return false;
    nodes_value(set, nodes, count);
    nodes_finish(set, nodes, count, arena, graph, values);
    return true;
}

bool graph_asked_value(struct asked_graphs *asked, const struct formulas *formulas, const struct facts *facts,
                       const struct expr *wanted, double *value, struct error *error)
{
    int node;
    struct nodes *set = grown(asked, formulas, facts, false, &wanted, 1, &node, error);
    if (!set)
        return false;
    nodes_value(set, &node, 1);
    *value = set->known[node].value;
    return true;
}
