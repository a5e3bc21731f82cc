/* A cache of graphs that grow: one builder for each of the sets of facts that were used last.
 *
 * A question finds the builder whose facts are the same as its own, by content, since a scenario's facts are changed in
 * place; its first question costs a whole build, each further one only the nodes that it adds. When all places are taken,
 * the builder that has not been asked for longest gives up its place. A builder that fails is not used again: the question
 * is asked once more of a new one, whose error it then is. Scalars are compared with their texts; names of tables by
 * address, since the tables of a scenario live as long as it does.
 *
 * Where calls keep something for those after them (guard.h), builders stay, with the questions that they were asked. Facts
 * of the same shape, which differ in numbers that no graph is built by, take a builder that was asked the same questions so
 * far. As long as its next question is theirs nothing is built; where they ask another, they take another builder. So
 * calls before change no graph. */
#include "base/guard.h"
#include "rows/grow.h"

#include <assert.h>
#include <string.h>

enum { BUILDERS = 4 };

/* What a builder was asked: the expressions, each ended by a 0, and their nodes. */
struct asked_question {
    struct text text;
    size_t count;
    const int *nodes;
};

struct kept_builder {
    struct arena *arena;            /* of the builder and its facts */
    struct graph_builder *builder;  /* NULL: it failed */
    struct formulas formulas;
    struct facts facts;             /* its own arrays */
    const char **names, **expressions;      /* copies of the texts of its scalars */
    bool parts;
    struct text shape;              /* of its facts, if it stays for further calls */
    struct asked_question *questions;
    size_t question_count, question_room;
    size_t asked;                   /* number of them that were asked under these facts */
    bool taken;                     /* a place of this call has it */
    struct kept_builder *next;      /* used before this one */
};

/* The builders that stay: the one that was used last comes first. */
struct builder_list {
    struct arena *arena;
    struct kept_builder *first;
};

struct asked_graphs {
    struct arena *arena;
    struct asked_place {
        struct arena *arena;        /* of a builder that does not stay */
        struct kept_builder *kept;  /* NULL: the place is free */
        unsigned used;              /* when it was asked last */
    } places[BUILDERS];
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
static bool same_facts(const struct kept_builder *place, const struct facts *facts)
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

static void fill_facts(struct facts *copy, const struct facts *facts)
{
    if (facts->scalar_count)
        memcpy(copy->scalars, facts->scalars, facts->scalar_count * sizeof *copy->scalars);
    for (size_t i = 0; i < copy->table_count; i++) {
        const struct fact_table *table = &facts->tables[i];
        struct fact_table *to = &copy->tables[i];
        to->name = table->name;
        memcpy(to->entry, table->entry, table->entries * sizeof *table->entry);
        memcpy(to->column, table->column, table->columns * sizeof *table->column);
        memcpy(to->cell, table->cell, table->entries * table->columns * sizeof *table->cell);
    }
}

static void keep_facts(struct kept_builder *kept, const struct facts *facts)
{
    struct arena *arena = kept->arena;
    struct facts *copy = &kept->facts;
    *copy = (struct facts){ .arena = arena, .scalar_count = facts->scalar_count, .table_count = facts->table_count };
    copy->scalars = arena_array(arena, facts->scalar_count + 1, sizeof *copy->scalars);
    copy->tables = arena_array(arena, facts->table_count + 1, sizeof *copy->tables);
    kept->names = arena_array(arena, facts->scalar_count + 1, sizeof *kept->names);
    kept->expressions = arena_array(arena, facts->scalar_count + 1, sizeof *kept->expressions);
    for (size_t i = 0; i < facts->scalar_count; i++) {
        const struct fact *fact = &facts->scalars[i];
        kept->names[i] = arena_copy(arena, fact->name, strlen(fact->name));
        if (fact->expression)
            kept->expressions[i] = arena_copy(arena, fact->expression, strlen(fact->expression));
    }
    for (size_t i = 0; i < copy->table_count; i++) {
        struct fact_table *table = &copy->tables[i];
        *table = facts->tables[i];
        table->entry = arena_array(arena, table->entries + 1, sizeof *table->entry);
        table->column = arena_array(arena, table->columns + 1, sizeof *table->column);
        table->cell = arena_array(arena, table->entries * table->columns + 1, sizeof *table->cell);
    }
    fill_facts(copy, facts);
}

/* ---- builders that stay ---------------------------------------------------------------------------------------------- */

static void shape_count(struct buffer *shape, size_t count)
{
    buffer_add(shape, (const char *)&count, sizeof count);
}

static void shape_text(struct buffer *shape, const char *text)
{
    shape_count(shape, text ? strlen(text) : SIZE_MAX);
    if (text)
        buffer_add(shape, text, strlen(text));
}

static void shape_fact(struct buffer *shape, const struct fact *fact, bool exact)
{
    const double value = exact || fact->value == 0 || fact->value == 1 ? fact->value : 2;
    const char kind[] = { (char)fact->origin, (char)fact->distribution, fact->low == fact->high };
    shape_text(shape, fact->name);
    shape_text(shape, fact->expression);
    buffer_add(shape, kind, sizeof kind);
    buffer_add(shape, (const char *)&value, sizeof value);
}

/* All of the facts by which a graph is built: not the numbers of scalars, but for those that may be switches, or cells of
 * the model. */
static struct text shape_of(struct arena *arena, const struct facts *facts)
{
    struct buffer shape = { .arena = arena };
    shape_count(&shape, facts->scalar_count);
    for (size_t i = 0; i < facts->scalar_count; i++)
        shape_fact(&shape, &facts->scalars[i], strchr(facts->scalars[i].name, '[') != NULL);
    for (size_t i = 0; i < facts->table_count; i++) {
        const struct fact_table *table = &facts->tables[i];
        shape_text(&shape, table->name);
        shape_count(&shape, table->entries);
        shape_count(&shape, table->columns);
        for (size_t k = 0; k < table->entries; k++)
            shape_text(&shape, table->entry[k]);
        for (size_t k = 0; k < table->columns; k++)
            shape_text(&shape, table->column[k]);
        for (size_t k = 0; k < table->entries * table->columns; k++)
            shape_fact(&shape, &table->cell[k], true);
    }
    return (struct text){ shape.data, shape.size };
}

static struct text question_text(struct arena *arena, const struct expr *const *wanted, size_t count)
{
    struct buffer text = { .arena = arena };
    for (size_t i = 0; i < count; i++) {
        buffer_add(&text, expr_text(wanted[i]).data, expr_text(wanted[i]).size);
        buffer_add(&text, "", 1);
    }
    return (struct text){ text.data, text.size };
}

static bool text_equal(struct text a, struct text b)
{
    return a.size == b.size && !memcmp(a.data, b.data, a.size);
}

/* Was it asked all that `before` was, and then this, or nothing else? */
static bool goes_on(const struct kept_builder *kept, const struct kept_builder *before, struct text question)
{
    const size_t asked = before ? before->asked : 0;
    for (size_t i = 0; i < asked; i++)
        if (i == kept->question_count || !text_equal(kept->questions[i].text, before->questions[i].text))
            return false;
    return asked == kept->question_count || text_equal(kept->questions[asked].text, question);
}

/* The next question of this call: nothing is built where it was the next of an earlier one. */
static bool ask_next(struct kept_builder *kept, struct text text, const struct expr *const *wanted, size_t count, int *nodes,
                     struct error *error)
{
    builder_nodes(kept->builder)->question = (int)++kept->asked;
    if (kept->asked <= kept->question_count) {
        memcpy(nodes, kept->questions[kept->asked - 1].nodes, count * sizeof *nodes);
        return true;
    }
    if (!builder_grow(kept->builder, wanted, count, nodes, error))
        return false;
    int *keep = arena_array(kept->arena, count + 1, sizeof *keep);
    memcpy(keep, nodes, count * sizeof *nodes);
    *(struct asked_question *)arena_push(kept->arena, &kept->questions, &kept->question_count, &kept->question_room,
                                         sizeof *kept->questions) =
        (struct asked_question){ { arena_copy(kept->arena, text.data, text.size), text.size }, count, keep };
    return true;
}

/* A new one, which is asked what `before` was (NULL: nothing): that one did not fail. Labels of inputs lie in `labels`. */
static struct kept_builder *start(struct arena *arena, struct arena *labels, const struct formulas *formulas,
                                  const struct facts *facts, bool parts, const struct kept_builder *before)
{
    struct kept_builder *kept = arena_alloc(arena, sizeof *kept);
    *kept = (struct kept_builder){ .arena = arena, .formulas = *formulas, .parts = parts };
    kept->formulas.arena = arena;
    keep_facts(kept, facts);
    kept->builder = builder_open(arena, labels, &kept->formulas, &kept->facts, parts);
    for (size_t i = 0; before && i < before->asked; i++) {
        const struct asked_question *question = &before->questions[i];
        const struct expr **wanted = arena_array(arena, question->count + 1, sizeof *wanted);
        int *nodes = arena_array(arena, question->count + 1, sizeof *nodes);
        const char *at = question->text.data;
        bool asked = true;
        for (size_t k = 0; k < question->count; k++, at += strlen(at) + 1)
            asked &= expr_parse(&kept->formulas, NULL, 0, text_of(at), &wanted[k], NULL);
        asked = asked && ask_next(kept, question->text, wanted, question->count, nodes, NULL);
        assert(asked);
        (void)asked;
    }
    return kept;
}

static void release_all(void *what)
{
    struct builder_list *all = what;
    for (struct kept_builder *kept = all->first, *next; kept; kept = next) {
        next = kept->next;
        arena_end(kept->arena);
    }
    arena_end(all->arena);
}

/* A builder that was asked what `before` was (NULL: nothing), and then this question or nothing else. NULL: this call keeps
 * none, or the room is full. Only the program's own formulas stay as long as a builder. */
static struct kept_builder *take(const struct formulas *formulas, const struct facts *facts, bool parts,
                                 const struct kept_builder *before, struct text question)
{
    struct kept_beside *beside = kept_here();
    if (!beside || !formulas->shared || formulas->own_count)
        return NULL;
    if (!beside->what) {
        struct arena *arena = arena_new();
        struct builder_list *all = arena_alloc(arena, sizeof *all);
        all->arena = arena;
        *beside = (struct kept_beside){ release_all, all, beside->most };
    }
    struct builder_list *all = beside->what;
    struct arena scratch = { 0 };
    const struct text shape = shape_of(&scratch, facts);
    struct kept_builder **at = &all->first, *kept;
    size_t bytes = 0;
    for (; (kept = *at); at = &kept->next) {
        if (kept->builder && !kept->taken && kept->parts == parts && same_formulas(&kept->formulas, formulas) &&
            text_equal(kept->shape, shape) && goes_on(kept, before, question))
            break;
        bytes += kept->arena->taken;
    }
    if (kept) {
        *at = kept->next;
        fill_facts(&kept->facts, facts);
        builder_rebind(kept->builder);
        kept->asked = before ? before->asked : 0;
    } else if (bytes < beside->most) {
        struct arena *arena = arena_new();
        kept = start(arena, arena, formulas, facts, parts, before);
        kept->shape = (struct text){ arena_copy(arena, shape.data, shape.size), shape.size };
    }
    arena_free(&scratch);
    if (!kept)
        return NULL;
    kept->taken = true;
    kept->next = all->first;
    return all->first = kept;
}

void asked_graphs_trim(void)
{
    struct kept_beside *beside = kept_here();
    struct builder_list *all = beside ? beside->what : NULL;
    size_t bytes = 0;
    if (!all)
        return;
    for (struct kept_builder **at = &all->first, *kept; (kept = *at);) {
        kept->taken = false;
        if (kept->builder && bytes + kept->arena->taken <= beside->most / 2) {
            bytes += kept->arena->taken;
            at = &kept->next;
            continue;
        }
        *at = kept->next;
        arena_end(kept->arena);
    }
}

/* ---- asking ---------------------------------------------------------------------------------------------------------- */

/* The place is free. A builder that stays is another one's from now on, unless it failed. */
static void place_close(struct asked_place *place, bool failed)
{
    if (place->kept->shape.size) {
        place->kept->taken = false;
        if (failed)
            place->kept->builder = NULL;
    } else {
        arena_free(place->arena);
    }
    place->kept = NULL;
}

/* The place of these facts, or the one that is free or was not asked for longest. */
static struct asked_place *place_of(struct asked_graphs *asked, const struct formulas *formulas, const struct facts *facts,
                                    bool parts)
{
    struct asked_place *oldest = &asked->places[0];
    for (size_t i = 0; i < BUILDERS; i++) {
        struct asked_place *place = &asked->places[i];
        if (place->kept && place->kept->parts == parts && same_formulas(&place->kept->formulas, formulas) &&
            same_facts(place->kept, facts))
            return place;
        if (place->used < oldest->used)
            oldest = place;
    }
    if (oldest->kept)
        place_close(oldest, false);
    return oldest;
}

static bool place_ask(struct asked_graphs *asked, struct asked_place *place, const struct formulas *formulas,
                      const struct facts *facts, bool parts, const struct expr *const *wanted, size_t count, int *nodes,
                      struct error *error)
{
    struct arena scratch = arena_beside(asked->arena);
    const struct text text = question_text(&scratch, wanted, count);
    struct kept_builder *before = place->kept;
    if (!before || (before->shape.size && !goes_on(before, before, text))) {
        place->kept = take(formulas, facts, parts, before, text);
        if (before)
            before->taken = false;
    }
    if (!place->kept && !place->arena)
        place->arena = arena_inner(asked->arena);
    if (!place->kept)
        place->kept = start(place->arena, asked->arena, formulas, facts, parts, before);
    const bool done = place->kept->shape.size ? ask_next(place->kept, text, wanted, count, nodes, error)
                                              : builder_grow(place->kept->builder, wanted, count, nodes, error);
    arena_free(&scratch);
    return done;
}

static struct nodes *grown(struct asked_graphs *asked, const struct formulas *formulas, const struct facts *facts,
                           bool parts, const struct expr *const *wanted, size_t count, int *nodes,
                           struct error *error)
{
    struct asked_place *place = place_of(asked, formulas, facts, parts);
    bool fresh = !place->kept;
    for (;; fresh = true) {
        place->used = ++asked->questions;
        if (place_ask(asked, place, formulas, facts, parts, wanted, count, nodes, error))
            return builder_nodes(place->kept->builder);
        place_close(place, true);
        place->used = 0;
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
