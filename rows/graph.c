/* Builds the graph of some expressions.
 *
 * An expression is read in an environment, which says which rows have another value (inside AT, ROOT)
 * and at which entry of which table it is read (SUM, EACH). Every row or table that an environment can
 * change has a bit.
 *
 * 1. reach: find the rows that are needed, in an order in which each comes after the rows it reads, and
 *    give out the bits.
 * 2. depends[row]: the set of bits that can change the value of the row. Being inside a part, for
 *    graph_build_parts, is such a bit too.
 * 3. build: walk the expression trees. The node of each (row, environment restricted to depends[row])
 *    is memoized, so that a row which is read twice in the same environment is one node. Equal nodes
 *    are merged.
 * 4. finish (nodes.c): keep the nodes that the outputs reach, in order.
 *
 * A builder goes through these steps for each question and keeps what it made: rows that were reached, nodes, memos and
 * values serve the next question. A question may make a row changeable that was reached before, by an AT or a ROOT; then
 * step 2 is done again for all rows. Memos stay right, since a key lists only the bits that are changed. A question that
 * fails leaves the builder halfway, so it starts anew. */
#include "rows/grow.h"

#include <float.h>
#include <string.h>

/* Limits of the recursion, and of the work: nested ATs and SUMs multiply the rows that are read. */
enum { ROOTS = 60, DEEPEST = 2000, MOST_READS = 4000000 };

/* A table of EACH chapters, and its bit in the environment. */
struct chapter_table {
    const char *name;
    const struct fact_table *fact;  /* NULL: the table has only the entry "default" */
    int bit;
};

/* The node of a row in one environment. The key lists the bits of depends[row] that the environment
 * changes, each with its value there. */
struct node_memo {
    int row, node;
    int key, key_size;              /* the key's place in builder.keys; size 0: an unused memo */
};

/* An expression that a table's cell or "row[entry]" binds, parsed once per row. */
struct bound_cell {
    const struct fact *of;
    const struct expr *expr;
    struct bound_cell *next;
};

enum { UNSEEN, IN_PROGRESS, REACHED };

/* What the builder knows about one row of the formulas. */
struct builder_row {
    const struct fact *fact;
    const struct expr *bound;       /* the expression that the fact binds, parsed where the row is reached */
    struct bound_cell *cells;       /* those of its entries */
    const struct chapter_table *table;      /* of a reached row */
    int column;                     /* in the facts of its table; -1: none */
    int bit;                        /* -1: no environment changes the row */
    int node;                       /* if depends is empty: its only node; -1: not built yet */
    struct node_memo last;               /* otherwise the memo of its last reading, */
    unsigned version;               /*   and the version of that environment */
    int state;                      /* UNSEEN, IN_PROGRESS (on the path, so a cycle), REACHED */
};

struct graph_builder {
    struct arena *arena, *kept;     /* arenas of what ends with the builder; of graphs */
    const struct formulas *formulas;
    const struct facts *facts;
    struct error *error;            /* of this question */
    struct builder_row *places;           /* [rows] */
    int *order;                     /* rows, each after those it reads */
    size_t order_count;
    size_t depends_known;           /* of so many of them; 0: find all anew */
    struct chapter_table **tables;
    size_t table_count, table_room;
    int bits, bit_room;
    size_t words;                   /* 64-bit words of one set of bits */
    uint64_t *depends;              /* [rows * words] */
    uint64_t *changed;              /* [words] the environment: the bits that are changed, */
    int *value;                     /* [bits]   and their values: a row's node, a table's entry */
    unsigned version, versions;     /* number of this environment; how many there have been */
    bool entries_given;             /* some fact is of one entry: "cache_elements[moe]" */
    int inside;                     /* the bit of being inside a part; -1: parts get no scale factor */
    struct nodes set;
    struct node_memo *memos;
    size_t memo_size, memo_count;
    int *keys;
    size_t key_count, key_room;
    int roots, depth, reads;
    int *path;                      /* rows being reached, to name a cycle */
    size_t path_count, path_room;
};

/* ---- reach ------------------------------------------------------------------------------ */

static const struct chapter_table *table_of(struct graph_builder *builder, const char *name)
{
    for (size_t i = 0; i < builder->table_count; i++)
        if (builder->tables[i]->name == name || !strcmp(builder->tables[i]->name, name))
            return builder->tables[i];
    struct chapter_table *table = arena_alloc(builder->arena, sizeof *table);
    *table = (struct chapter_table){ arena_copy(builder->arena, name, strlen(name)), facts_table_find(builder->facts, name),
                                     builder->bits++ };
    *(struct chapter_table **)arena_push(builder->arena, &builder->tables, &builder->table_count,
                                 &builder->table_room, sizeof table) = table;
    return table;
}

static void may_change(struct graph_builder *builder, int row)
{
    if (builder->places[row].bit >= 0)
        return;
    builder->places[row].bit = builder->bits++;
    if (builder->places[row].state == REACHED)
        builder->depends_known = 0;
}

static bool too_deep(struct graph_builder *builder)
{
    error_set(builder->error, "rows nest too deep: more than %d steps down", DEEPEST);
    return error_expected(builder->error, "fewer rows on top of each other");
}

static bool is_given(const void *context, const char *name)
{
    const struct graph_builder *builder = context;
    const int row = formulas_find(builder->formulas, name);
    const struct fact *fact = row < 0 ? NULL : builder->places[row].fact;
    return fact && (fact->origin == ORIGIN_GIVEN || fact->origin == ORIGIN_AXIS);
}

/* A select that asks only what was given is the branch it takes, before dependence is looked at:
 * two rows may then each be written in terms of the other, for whichever is given. */
static const struct expr *branch_taken(const struct graph_builder *builder, const struct expr *expr)
{
    int branch;
    while (expr->op == OP_SELECT &&
           (branch = expr_branch_given(expr, is_given, builder)) != 0)
        expr = expr_kid(expr, branch);
    return expr;
}

static bool reach_row(struct graph_builder *builder, int row);

static bool reach_expr(struct graph_builder *builder, const struct expr *expr)
{
    if (builder->depth == DEEPEST)
        return too_deep(builder);
    builder->depth++;
    expr = branch_taken(builder, expr);
    if (expr->row >= 0 && !reach_row(builder, expr->row))
        return false;
    for (int i = 0; i < 3 && expr_kid(expr, i); i++)
        if (!reach_expr(builder, expr_kid(expr, i)))
            return false;
    for (const struct expr *at = expr_at(expr); at; at = expr_at(at)) {
        may_change(builder, at->row);
        if (!reach_expr(builder, expr_kid(at, 0)))
            return false;
    }
    if (expr->op == OP_ROOT)
        may_change(builder, expr->row);
    builder->depth--;
    return true;
}

static bool cycle(struct graph_builder *builder, int row)
{
    struct buffer path = { .arena = builder->arena };
    size_t i = builder->path_count;
    while (i > 0 && builder->path[i - 1] != row)
        i--;
    for (i -= i > 0; i < builder->path_count; i++)
        buffer_print(&path, "%s <- ", row_name(formulas_row(builder->formulas, builder->path[i])));
    error_set(builder->error, "a row depends on itself: %s%s", path.data,
              row_name(formulas_row(builder->formulas, row)));
    return error_suggest(builder->error, "give one of them a number");
}

static const struct expr *expr_of(const struct graph_builder *builder, int row)
{
    const struct builder_row *place = &builder->places[row];
    return place->fact ? place->bound : row_expr(formulas_row(builder->formulas, row));
}

static bool parse_bound(struct graph_builder *builder, const struct fact *fact,
                        const struct expr **expr)
{
    return expr_parse(builder->formulas, fact->source ? fact->source : fact->name, 0,
                      text_of(fact->expression), expr, builder->error);
}

static bool reach_row(struct graph_builder *builder, int row)
{
    struct builder_row *place = &builder->places[row];
    if (place->state == REACHED)
        return true;
    if (place->state == IN_PROGRESS)
        return cycle(builder, row);
    place->state = IN_PROGRESS;
    *(int *)arena_push(builder->arena, &builder->path, &builder->path_count,
                       &builder->path_room, sizeof row) = row;
    if (row_table(formulas_row(builder->formulas, row)))
        place->table = table_of(builder, row_table(formulas_row(builder->formulas, row)));
    if (place->fact && place->fact->expression && !parse_bound(builder, place->fact, &place->bound))
        return false;
    const struct expr *expr = expr_of(builder, row);
    if (expr && !reach_expr(builder, expr))
        return false;
    for (struct bound_cell *cell = place->cells; cell; cell = cell->next)
        if (!parse_bound(builder, cell->of, &cell->expr) || !reach_expr(builder, cell->expr))
            return false;
    builder->path_count--;
    builder->order[builder->order_count++] = row;
    place->state = REACHED;
    return true;
}

/* ---- dependence ------------------------------------------------------------------------ */

static uint64_t *depends_of(struct graph_builder *builder, int row)
{
    return builder->depends + (size_t)row * builder->words;
}

static void bit_set(uint64_t *set, int bit)
{
    set[bit / 64] |= (uint64_t)1 << bit % 64;
}

static bool bit_get(const uint64_t *set, int bit)
{
    return set[bit / 64] >> bit % 64 & 1;
}

/* What a bit was before it changed, to be put back. */
struct before {
    bool changed;
    int value;
    unsigned version;
};

static void depends_find(struct graph_builder *builder);

static struct before change(struct graph_builder *builder, int bit, int value)
{
    if (bit >= builder->bit_room)                   /* of a table that no row was reached of */
        depends_find(builder);
    const struct before before = { bit_get(builder->changed, bit), builder->value[bit],
                                   builder->version };
    builder->version = ++builder->versions;
    bit_set(builder->changed, bit);
    builder->value[bit] = value;
    return before;
}

static void change_back(struct graph_builder *builder, int bit, struct before before)
{
    if (!before.changed)
        builder->changed[bit / 64] &= ~((uint64_t)1 << bit % 64);
    builder->value[bit] = before.value;
    builder->version = before.version;
}

static void depends_expr(struct graph_builder *builder, const struct expr *expr, uint64_t *set)
{
    expr = branch_taken(builder, expr);
    if (expr->row >= 0) {
        const uint64_t *more = depends_of(builder, expr->row);
        for (size_t i = 0; i < builder->words; i++)
            set[i] |= more[i];
    }
    for (int i = 0; i < 3 && expr_kid(expr, i); i++)
        depends_expr(builder, expr_kid(expr, i), set);
    for (const struct expr *at = expr_at(expr); at; at = expr_at(at))
        depends_expr(builder, expr_kid(at, 0), set);
}

/* Room for all bits, with some to spare; sets of another width are found anew. */
static void bits_grow(struct graph_builder *builder)
{
    enum { SPARE = 64 };
    const int *value = builder->value, known = builder->bit_room;
    const uint64_t *changed = builder->changed;
    const size_t words = builder->words;
    if (builder->bits <= known && known)
        return;
    builder->bit_room = builder->bits + SPARE;
    builder->words = (size_t)builder->bit_room / 64 + 1;
    builder->depends = arena_array(builder->arena, builder->formulas->count * builder->words,
                                   sizeof *builder->depends);
    builder->changed = arena_array(builder->arena, builder->words, sizeof *builder->changed);
    builder->value = arena_array(builder->arena, (size_t)builder->bit_room, sizeof *builder->value);
    if (known) {
        memcpy(builder->value, value, (size_t)known * sizeof *value);
        memcpy(builder->changed, changed, words * sizeof *changed);
    }
    builder->depends_known = 0;
}

static void depends_find(struct graph_builder *builder)
{
    bits_grow(builder);
    for (; builder->depends_known < builder->order_count; builder->depends_known++) {
        const int row = builder->order[builder->depends_known];
        const struct builder_row *place = &builder->places[row];
        const struct expr *expr = expr_of(builder, row);
        uint64_t *set = depends_of(builder, row);
        if (place->bit >= 0)
            bit_set(set, place->bit);
        if (place->table)
            bit_set(set, place->table->bit);
        if (builder->inside >= 0 && row_part(formulas_row(builder->formulas, row)))
            bit_set(set, builder->inside);
        if (expr)
            depends_expr(builder, expr, set);
        for (const struct bound_cell *cell = place->cells; cell; cell = cell->next)
            depends_expr(builder, cell->expr, set);
    }
}

/* ---- rows and inputs ------------------------------------------------------------------------ */

static bool build_expr(struct graph_builder *builder, const struct expr *expr, int *node);

/* "name[entry]", without the cost of printf: a model has thousands. */
static const char *entry_label(struct arena *arena, const char *name, const char *entry)
{
    size_t n = strlen(name), m = strlen(entry);
    char *label = arena_alloc(arena, n + m + 3);
    memcpy(label, name, n);
    label[n] = '[';
    memcpy(label + n + 1, entry, m);
    label[n + 1 + m] = ']';
    return label;
}

/* The number of an input, and where it is from: the fact's, or the row's own. */
static struct input input_from(struct input input, const struct row *row, const struct fact *fact)
{
    input.value = input.low = input.high = row->value;
    if (fact) {
        input.value = fact->value;
        input.low = fact->low;
        input.high = fact->high;
        input.distribution = fact->distribution;
        input.origin = fact->origin;
        input.source = fact->source ? fact->source : "given";
    }
    return input;
}

static int input_of(struct graph_builder *builder, int row, int entry, const char *entry_name,
                    const struct fact *fact)
{
    const struct row *the = formulas_row(builder->formulas, row);
    const int known = nodes_input_find(&builder->set, row, entry);
    if (known >= 0)
        return known;
    const struct input input = { .row = row, .entry = entry, .least = the->input ? the->low : -DBL_MAX,
                                 .most = the->input ? the->high : DBL_MAX,
                                 .name = entry < 0 ? row_name(the) : entry_label(builder->kept, row_name(the), entry_name) };
    return nodes_input(&builder->set, input_from(input, the, fact));
}

/* A fact given for one entry, "cache_elements[moe]", goes before the table's. */
static const struct fact *entry_fact(const struct graph_builder *builder, int row,
                                     const struct fact_table *table, int entry)
{
    const char *name = row_name(formulas_row(builder->formulas, row));
    const char *entry_name = table ? table->entry[entry] : "default";
    for (size_t i = 0; builder->entries_given && i < builder->facts->scalar_count; i++) {
        const char *given = builder->facts->scalars[i].name;
        size_t size = strlen(name);
        if (!strncmp(given, name, size) && given[size] == '[' &&
            !strncmp(given + size + 1, entry_name, strlen(entry_name)) &&
            !strcmp(given + size + 1 + strlen(entry_name), "]"))
            return &builder->facts->scalars[i];
    }
    const int column = builder->places[row].column;
    if (!table || column < 0)
        return NULL;
    const struct fact *cell = &table->cell[(size_t)entry * table->columns + (size_t)column];
    return cell->name ? cell : NULL;
}

static const struct expr *cell_expr(const struct graph_builder *builder, int row, const struct fact *cell)
{
    const struct bound_cell *bound = builder->places[row].cells;
    while (bound->of->expression != cell->expression && strcmp(bound->of->expression, cell->expression))
        bound = bound->next;
    return bound->expr;
}

/* A row of a table's chapter, at the entry where we are. */
static bool build_cell(struct graph_builder *builder, int row, int *node)
{
    const struct row *the = formulas_row(builder->formulas, row);
    const struct chapter_table *table = builder->places[row].table;
    const int entry = builder->value[table->bit];
    const struct fact *cell = entry_fact(builder, row, table->fact, entry);
    const struct expr *expr = row_expr(the);
    if (cell && cell->expression) {
        expr = cell_expr(builder, row, cell);
    } else if (cell || !expr) {
        *node = input_of(builder, row, entry, table->fact ? table->fact->entry[entry] : "default",
                         cell);
        return true;
    }
    return build_expr(builder, expr, node);
}

static bool build_fresh(struct graph_builder *builder, int row, int *node)
{
    const struct row *the = formulas_row(builder->formulas, row);
    const struct fact *fact = builder->places[row].fact;
    if (row_table(the) && !fact) {
        if (bit_get(builder->changed, builder->places[row].table->bit))
            return build_cell(builder, row, node);
        error_set(builder->error, "'%s' has one value per %s", row_name(the), row_table(the));
        return error_expected(builder->error, "%s[entry], or SUM(%s, %s)", row_name(the), row_table(the),
                              row_name(the));
    }
    if (fact && !fact->expression) {
        *node = input_of(builder, row, -1, NULL, fact);
        return true;
    }
    if (!fact && !row_expr(the)) {
        *node = input_of(builder, row, -1, NULL, NULL);
        return true;
    }
    return build_expr(builder, expr_of(builder, row), node);
}

/* The outermost part is multiplied by its scale. */
static bool build_scaled(struct graph_builder *builder, int row, int *node)
{
    const struct row *the = formulas_row(builder->formulas, row);
    if (builder->inside < 0 || !row_part(the) || bit_get(builder->changed, builder->inside))
        return build_fresh(builder, row, node);
    struct before before = change(builder, builder->inside, 1);
    if (!build_fresh(builder, row, node))
        return false;
    change_back(builder, builder->inside, before);
    const struct input scale = {
        .row = row, .entry = INPUT_SCALE, .value = 1, .low = 1, .high = 1, .least = 0, .most = 1,
        .name = arena_print(builder->kept, "scale of %s", row_name(the)), .source = row_part(the) };
    const struct node scaled = node_of(OP_MUL, nodes_input(&builder->set, scale), *node, -1);
    *node = nodes_add(&builder->set, &scaled);
    return true;
}

/* ---- the memory of (row, changes that matter) -> node ----------------------------------------- */

enum { CHANGES = 32 };

/* The size of the key; more changes than it takes: SIZE_MAX. */
static size_t memo_key(const struct graph_builder *builder, int row, int key[2 * CHANGES])
{
    const uint64_t *depends = builder->depends + (size_t)row * builder->words;
    size_t size = 0;
    for (size_t i = 0; i < builder->words; i++)
        for (uint64_t left = depends[i] & builder->changed[i]; left; left &= left - 1) {
            const int bit = (int)(64 * i) + __builtin_ctzll(left);
            if (size == 2 * CHANGES)
                return SIZE_MAX;
            key[size++] = bit;
            key[size++] = builder->value[bit];
        }
    return size;
}

static bool same_key(const int *a, const int *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static struct node_memo *memo_place(struct graph_builder *builder, int row, const int *key, size_t size)
{
    uint64_t hash = (uint64_t)row;
    for (size_t i = 0; i < size; i += 2)
        hash = (hash ^ ((uint64_t)key[i] << 32 | (uint32_t)key[i + 1])) * 0x9e3779b97f4a7c15u ^
               hash >> 29;
    size_t at = (hash ^ hash >> 32) & (builder->memo_size - 1);
    for (;; at = (at + 1) & (builder->memo_size - 1)) {
        struct node_memo *memo = &builder->memos[at];
        if (!memo->key_size || (memo->row == row && memo->key_size == (int)size &&
                                same_key(builder->keys + memo->key, key, size)))
            return memo;
    }
}

static void memo_grow(struct graph_builder *builder)
{
    struct node_memo *old = builder->memos;
    size_t old_size = builder->memo_size;
    builder->memo_size = old_size ? 4 * old_size : 1024;
    builder->memos = arena_array(builder->arena, builder->memo_size, sizeof *builder->memos);
    for (size_t i = 0; i < old_size; i++)
        if (old[i].key_size)
            *memo_place(builder, old[i].row, builder->keys + old[i].key,
                        (size_t)old[i].key_size) = old[i];
}

/* -1: not built yet. */
static int memo_find(struct graph_builder *builder, int row, const int *key, size_t size)
{
    struct builder_row *place = &builder->places[row];
    if (!size)
        return place->node;
    if (place->last.key_size == (int)size &&
        same_key(builder->keys + place->last.key, key, size))
        return place->last.node;
    const struct node_memo *memo = memo_place(builder, row, key, size);
    if (!memo->key_size)
        return -1;
    place->last = *memo;
    return memo->node;
}

static void memo_add(struct graph_builder *builder, int row, const int *key, size_t size, int node)
{
    struct builder_row *place = &builder->places[row];
    if (!size) {
        place->node = node;
        return;
    }
    place->last = (struct node_memo){ row, node, (int)builder->key_count, (int)size };
    for (size_t i = 0; i < size; i++)
        *(int *)arena_push(builder->arena, &builder->keys, &builder->key_count, &builder->key_room,
                           sizeof *key) = key[i];
    if (2 * ++builder->memo_count >= builder->memo_size)
        memo_grow(builder);
    *memo_place(builder, row, key, size) = place->last;
}

static bool build_row(struct graph_builder *builder, int row, int *node)
{
    struct builder_row *place = &builder->places[row];
    if (place->bit >= 0 && bit_get(builder->changed, place->bit)) {
        *node = builder->value[place->bit];         /* bound by AT or ROOT */
        return true;
    }
    if (place->version == builder->version && place->last.key_size) {
        *node = place->last.node;
        return true;
    }
    int key[2 * CHANGES];
    size_t size = memo_key(builder, row, key);
    if (size == SIZE_MAX) {
        error_set(builder->error, "'%s' is read under too many changes",
                  row_name(formulas_row(builder->formulas, row)));
        return error_expected(builder->error, "fewer AT, SUM and ROOT inside each other");
    }
    *node = memo_find(builder, row, key, size);
    if (*node < 0) {
        if (!build_scaled(builder, row, node))
            return false;
        if (builder->set.nodes[*node].row < 0) {
            builder->set.nodes[*node].row = row;
            builder->set.known[*node].named = builder->set.question;
        }
        memo_add(builder, row, key, size, *node);
    }
    if (size)
        place->version = builder->version;
    return true;
}

/* ---- expressions ------------------------------------------------------------------------------ */

/* Is the sum so far, which is surely not -0, the same with a 0 added? */
static bool adds_nothing(const struct nodes *set, enum op op, int sum, int one)
{
    return op == OP_ADD && set->known[sum].plain && set->nodes[one].op == OP_NUMBER &&
           set->nodes[one].value == 0;
}

SELDOM static bool build_over(struct graph_builder *builder, const struct expr *expr, int *node)
{
    const struct chapter_table *table = table_of(builder, expr_name(expr));
    const size_t entries = table->fact ? table->fact->entries : 1;
    const enum op op = expr->op == OP_SUM ? OP_ADD : expr->op == OP_LEAST ? OP_MIN : OP_MAX;
    *node = expr->op == OP_SUM ? nodes_number(&builder->set, 0) : -1;
    for (size_t i = 0; i < entries; i++) {
        int one;
        struct before before = change(builder, table->bit, (int)i);
        if (!build_expr(builder, expr_kid(expr, 0), &one))
            return false;
        change_back(builder, table->bit, before);
        if (adds_nothing(&builder->set, op, *node, one))
            continue;
        const struct node joined = node_of(op, *node, one, -1);
        *node = *node < 0 ? one : nodes_add(&builder->set, &joined);
    }
    if (*node >= 0)
        return true;
    error_set(builder->error, "the table '%s' has no entries", expr_name(expr));
    return error_suggest(builder->error, "a model has operators and layers: --model");
}

SELDOM static bool build_entry(struct graph_builder *builder, const struct expr *expr, int *node)
{
    const struct chapter_table *table = builder->places[expr->row].table;
    const struct fact_table *fact = table->fact;
    size_t entries = fact ? fact->entries : 1, i = 0;
    while (i < entries && strcmp(fact ? fact->entry[i] : "default", expr_name(expr)))
        i++;
    if (i < entries) {
        struct before before = change(builder, table->bit, (int)i);
        bool built = build_row(builder, expr->row, node);
        change_back(builder, table->bit, before);
        return built;
    }
    struct buffer all = { .arena = builder->arena };
    for (i = 0; i < entries && all.size < 300; i++)
        buffer_print(&all, "%s%s", i ? ", " : "", fact ? fact->entry[i] : "default");
    error_set(builder->error, "the table '%s' has no entry '%.100s'", table->name, expr_name(expr));
    return error_expected(builder->error, "one of: %s", all.data ? all.data : "(none)");
}

SELDOM static bool build_at(struct graph_builder *builder, const struct expr *expr, int *node)
{
    enum { MOST = 16 };
    struct before before[MOST];
    int value[MOST], count = 0;
    for (const struct expr *at = expr_at(expr); at; at = expr_at(at), count++) {
        if (count == MOST)
            return error_set(builder->error, "AT changes more than %d rows", MOST);
        if (!build_expr(builder, expr_kid(at, 0), &value[count]))
            return false;
    }
    int bits[MOST], changes = 0;
    for (const struct expr *at = expr_at(expr); at; at = expr_at(at), changes++) {
        bits[changes] = builder->places[at->row].bit;
        before[changes] = change(builder, bits[changes], value[changes]);
    }
    if (!build_expr(builder, expr_kid(expr, 0), node))
        return false;
    while (changes-- > 0)
        change_back(builder, bits[changes], before[changes]);
    return true;
}

SELDOM static bool build_root(struct graph_builder *builder, const struct expr *expr, int *node)
{
    int low, high, f;
    if (builder->roots == ROOTS)
        return error_set(builder->error, "more than %d ROOTs in one answer", ROOTS);
    struct node var = node_of(OP_VAR, -1, -1, -1);
    var.value = builder->roots++;
    if (!build_expr(builder, expr_kid(expr, 0), &low) || !build_expr(builder, expr_kid(expr, 1), &high))
        return false;
    var.a = low;
    var.b = high;
    int first = nodes_add(&builder->set, &var);
    builder->set.nodes[first].row = expr->row;
    const int bit = builder->places[expr->row].bit;
    struct before before = change(builder, bit, first);
    if (!build_expr(builder, expr_kid(expr, 2), &f))
        return false;
    change_back(builder, bit, before);
    struct node root = node_of(OP_ROOT, low, high, f);
    root.first = first;
    *node = nodes_add(&builder->set, &root);
    return true;
}

/* The cell that a row of a table reads at the entry where we are, if it is a number of the model's
 * file: then nothing that varies the graph's inputs varies it. */
static const struct fact *model_cell(const struct graph_builder *builder, const struct expr *expr)
{
    if (expr->op != OP_ROW || !builder->places[expr->row].table || builder->places[expr->row].fact)
        return NULL;
    const struct chapter_table *table = builder->places[expr->row].table;
    if (!bit_get(builder->changed, table->bit))
        return NULL;
    const struct fact *cell = entry_fact(builder, expr->row, table->fact, builder->value[table->bit]);
    return cell && cell->origin == ORIGIN_MODEL && !cell->expression ? cell : NULL;
}

static int holds_settled(const struct graph_builder *builder, const struct expr *condition);

/* Is the row a constant, or a switch, 0 or 1, that an engine's sheet sets or that has its default, or else a rule's
 * choice of what otherwise follows? What was given or varies is none, nor is a share that may lie between, nor a price. */
static bool is_switch(const struct row *row, const struct fact *fact)
{
    const double value = fact ? fact->value : row->value;
    if (!fact && row->input && row->low == row->high)
        return true;
    return unit_same(row->unit, unit_one) && row->low == 0 && row->high == 1 && (value == 0 || value == 1) &&
           (!fact || (!fact->expression && fact->origin == (row_expr(row) ? ORIGIN_CHOSEN : ORIGIN_FITTED) &&
                      fact->distribution == DISTRIBUTION_NONE && fact->low == fact->high));
}

/* The number of an operand that no input of this graph varies: a number, a row that AT set to one, a cell of the
 * model's file, a switch, or a row that selects one of these. */
static bool settled_number(const struct graph_builder *builder, const struct expr *expr, double *number)
{
    if (expr->op == OP_SELECT) {
        const int holds = holds_settled(builder, expr_kid(expr, 0));
        return holds >= 0 && settled_number(builder, expr_kid(expr, holds ? 1 : 2), number);
    }
    if (expr->op == OP_NUMBER) {
        *number = expr->number;
        return true;
    }
    if (expr->op != OP_ROW)
        return false;
    const struct builder_row *place = &builder->places[expr->row];
    const struct row *row = formulas_row(builder->formulas, expr->row);
    if (place->bit >= 0 && bit_get(builder->changed, place->bit)) {
        const struct node *set = &builder->set.nodes[builder->value[place->bit]];
        *number = set->value;
        return set->op == OP_NUMBER;
    }
    if (!row_table(row) && !place->fact && row_expr(row))
        return row_expr(row)->op == OP_SELECT && settled_number(builder, row_expr(row), number);
    const struct fact *fact = row_table(row) ? model_cell(builder, expr) : place->fact;
    *number = fact ? fact->value : row->value;
    return row_table(row) ? fact != NULL : is_switch(row, fact);
}

/* 1: the condition holds whatever the inputs are, 0: it does not, -1: not known yet. */
static int holds_settled(const struct graph_builder *builder, const struct expr *condition)
{
    double a, b;
    switch (condition->op) {
    case OP_LESS: case OP_ATMOST:
        if (!settled_number(builder, expr_kid(condition, 0), &a) || !settled_number(builder, expr_kid(condition, 1), &b))
            return -1;
        return condition->op == OP_LESS ? a < b : a <= b;
    case OP_BOTH: case OP_EITHER: {
        const int left = holds_settled(builder, expr_kid(condition, 0)), decides = condition->op == OP_EITHER;
        const int right = left == decides ? decides : holds_settled(builder, expr_kid(condition, 1));
        return right == decides ? decides : left < 0 || right < 0 ? -1 : !decides;
    }
    case OP_GIVEN: return is_given(builder, expr_name(condition));
    default: return -1;
    }
}

static bool build_kids(struct graph_builder *builder, const struct expr *expr, int *node)
{
    int kid[3] = { -1, -1, -1 };
    for (int i = 0; i < 3 && expr_kid(expr, i); i++)
        if (!build_expr(builder, expr_kid(expr, i), &kid[i]))
            return false;
    const struct node made = node_of(expr->op, kid[0], kid[1], kid[2]);
    *node = nodes_add(&builder->set, &made);
    return true;
}

/* The other branch of a select whose condition is settled gets no nodes. */
static bool build_select(struct graph_builder *builder, const struct expr *expr, int *node)
{
    const int holds = holds_settled(builder, expr_kid(expr, 0));
    return holds < 0 ? build_kids(builder, expr, node) : build_expr(builder, expr_kid(expr, holds ? 1 : 2), node);
}

static bool build_kind(struct graph_builder *builder, const struct expr *expr, int *node)
{
    switch (expr->op) {
    case OP_NUMBER: *node = nodes_number(&builder->set, expr->number); return true;
    case OP_ROW:    return build_row(builder, expr->row, node);
    case OP_ENTRY:  return build_entry(builder, expr, node);
    case OP_AT:     return build_at(builder, expr, node);
    case OP_ROOT:   return build_root(builder, expr, node);
    case OP_SELECT: return build_select(builder, expr, node);
    case OP_GIVEN:
        *node = nodes_number(&builder->set, is_given(builder, expr_name(expr)));
        return true;
    case OP_SUM: case OP_LEAST: case OP_MOST: return build_over(builder, expr, node);
    default:        return build_kids(builder, expr, node);
    }
}

static bool build_expr(struct graph_builder *builder, const struct expr *expr, int *node)
{
    if (builder->depth == DEEPEST)
        return too_deep(builder);
    if (++builder->reads > MOST_READS || builder->set.too_tall) {
        error_set(builder->error, "the rows unfold to more than %d steps",
                  builder->set.too_tall ? NODES_TALLEST : MOST_READS);
        return error_expected(builder->error, "fewer AT, SUM and ROOT inside each other");
    }
    builder->depth++;
    bool built = build_kind(builder, branch_taken(builder, expr), node);
    builder->depth--;
    return built;
}

/* ---- facts -------------------------------------------------------------------------------- */

/* The row that "name" or "name[entry]" speaks of, or -1. */
static int row_of_fact(const struct graph_builder *builder, const char *name)
{
    size_t size = strcspn(name, "[");
    if (!name[size])
        return formulas_find(builder->formulas, name);
    return formulas_find(builder->formulas, arena_copy(builder->arena, name, size));
}

static void bind_cell(struct graph_builder *builder, const struct fact *cell)
{
    int row = cell->name && cell->expression ? row_of_fact(builder, cell->name) : -1;
    if (row < 0)
        return;
    struct bound_cell **cells = &builder->places[row].cells;
    for (const struct bound_cell *known = *cells; known; known = known->next)
        if (!strcmp(known->of->expression, cell->expression))
            return;
    struct bound_cell *bound = arena_alloc(builder->arena, sizeof *bound);
    *bound = (struct bound_cell){ .of = cell, .next = *cells };
    *cells = bound;
}

static void bind_table(struct graph_builder *builder, const struct fact_table *table)
{
    for (size_t j = 0; j < table->columns; j++) {
        int row = formulas_find(builder->formulas, table->column[j]);
        const char *of = row < 0 ? NULL : row_table(formulas_row(builder->formulas, row));
        if (of && !strcmp(of, table->name))
            builder->places[row].column = (int)j;
    }
    for (size_t i = 0; i < table->entries * table->columns; i++)
        bind_cell(builder, &table->cell[i]);
}

static void bind_facts(struct graph_builder *builder)
{
    for (size_t i = 0; i < builder->facts->scalar_count; i++) {
        const struct fact *fact = &builder->facts->scalars[i];
        if (strchr(fact->name, '[')) {
            builder->entries_given = true;
            bind_cell(builder, fact);
            continue;
        }
        int row = formulas_find(builder->formulas, fact->name);
        if (row < 0)
            continue;                               /* a fact no formula uses */
        builder->places[row].fact = fact;
    }
    for (size_t i = 0; i < builder->facts->table_count; i++)
        bind_table(builder, &builder->facts->tables[i]);
}

static void bind_all(struct graph_builder *builder, bool parts)
{
    const size_t rows = builder->formulas->count;
    builder->places = arena_array(builder->arena, rows + 1, sizeof *builder->places);
    builder->order = arena_array(builder->arena, rows + 1, sizeof *builder->order);
    builder->inside = parts ? builder->bits++ : -1;
    for (size_t i = 0; i < rows; i++)
        builder->places[i].column = builder->places[i].bit = builder->places[i].node = -1;
    memo_grow(builder);
    bind_facts(builder);
}

static bool reach_all(struct graph_builder *builder, const struct expr *const *wanted, size_t count,
                      struct error *error)
{
    builder->error = error;
    for (size_t i = 0; i < count; i++) {
        builder->depth = 0;
        if (!reach_expr(builder, wanted[i]))
            return false;
    }
    return true;
}

struct graph_builder *builder_open(struct arena *arena, struct arena *kept, const struct formulas *formulas,
                                   const struct facts *facts, bool parts)
{
    struct graph_builder *builder = arena_alloc(arena, sizeof *builder);
    *builder = (struct graph_builder){ .arena = arena, .set.arena = arena, .kept = kept, .formulas = formulas,
                                       .facts = facts };
    bind_all(builder, parts);
    return builder;
}

bool builder_grow(struct graph_builder *builder, const struct expr *const *wanted, size_t count, int *nodes,
                  struct error *error)
{
    builder->reads = 0;
    if (!reach_all(builder, wanted, count, error))
        return false;
    depends_find(builder);
    for (size_t i = 0; i < count; i++) {
        builder->depth = 0;
        if (!build_expr(builder, wanted[i], &nodes[i]))
            return false;
    }
    return true;
}

void builder_rebind(struct graph_builder *builder)
{
    struct nodes *set = &builder->set;
    for (size_t i = 0; i < set->input_count; i++) {
        struct input *input = &set->inputs[i];
        const double before = input->value;
        const struct builder_row *place = &builder->places[input->row];
        if (input->entry == INPUT_SCALE)
            continue;
        *input = input_from(*input, formulas_row(builder->formulas, input->row), input->entry < 0 ? place->fact :
                            entry_fact(builder, input->row, place->table->fact, input->entry));
        if (memcmp(&before, &input->value, sizeof before))
            set->known[input->node].valued = false;
    }
    for (size_t i = 0; i < set->count; i++) {
        const struct node *node = &set->nodes[i];
        const int operands[] = { node->a, node->b, node->c };
        for (int k = 0; k < 3; k++)
            if (operands[k] >= 0 && !set->known[operands[k]].valued)
                set->known[i].valued = false;
    }
}

struct nodes *builder_nodes(struct graph_builder *builder)
{
    return &builder->set;
}

static bool build_in(struct arena *arena, const struct formulas *formulas, const struct facts *facts,
                     const struct expr *const *wanted, size_t count, bool parts, struct graph *graph,
                     struct error *error)
{
    struct arena scratch = arena_beside(arena);
    int *nodes = arena_array(&scratch, count + 1, sizeof *nodes);
    struct graph_builder *builder = builder_open(&scratch, arena, formulas, facts, parts);
    const bool built = builder_grow(builder, wanted, count, nodes, error);
    if (built)
        nodes_finish(&builder->set, nodes, count, arena, graph, NULL);
    arena_free(&scratch);
    return built;
}

bool graph_build(struct arena *arena, const struct formulas *formulas, const struct facts *facts,
                 const struct expr *const *wanted, size_t count, struct graph *graph,
                 struct error *error)
{
    return build_in(arena, formulas, facts, wanted, count, false, graph, error);
}

bool graph_build_parts(struct arena *arena, const struct formulas *formulas, const struct facts *facts,
                       const struct expr *const *wanted, size_t count, struct graph *graph,
                       struct error *error)
{
    return build_in(arena, formulas, facts, wanted, count, true, graph, error);
}

bool graph_reach(const struct formulas *formulas, const struct facts *facts,
                 const struct expr *const *wanted, size_t count, bool *reached,
                 struct error *error)
{
    struct arena scratch = arena_beside(facts->arena);
    struct graph_builder *builder = builder_open(&scratch, facts->arena, formulas, facts, false);
    const bool done = reach_all(builder, wanted, count, error);
    for (size_t i = 0; done && i < formulas->count; i++)
        reached[i] = builder->places[i].state == REACHED;
    arena_free(&scratch);
    return done;
}

int graph_input(const struct graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->input_count; i++)
        if (!strcmp(graph->inputs[i].name, name))
            return (int)i;
    return -1;
}
