/* Lists: what some expressions need, as nodes.
 *
 * An expression is read in an environment: frames that say which inputs have another
 * value (AT, ROOT) and at which entry of which table we are (SUM, EACH).
 *
 * 1. depends[row]: the rows and tables whose value can reach a row, as bits.
 * 2. build: walk the trees; the node of (row, the frames its depends touch) is kept, so
 *    that a row read twice at the same point is one node. Equal nodes are one.
 * 3. finish (nodes.c): keep what the outputs reach, in order. */
#include "rows/nodes.h"

#include <float.h>
#include <string.h>

/* Walks are recursive, and operators such as AT multiply what they read: both end. */
enum { ROOTS = 60, DEEPEST = 2000, MOST_READS = 4000000 };

struct frame {
    const struct frame *up;
    int row;                        /* bound row, or -1 for an entry */
    int node;
    const struct fact_table *table; /* NULL for the one default entry */
    const char *table_name;
    int table_bit;
    int entry;
};

struct memo {
    int row, node;
    size_t key_size;
    const int *key;
};

/* An expression that a table's cell or "row[entry]" binds, parsed once per row. */
struct bound_cell {
    const char *text;
    const struct expr *expr;
    struct bound_cell *next;
};

struct builder {
    struct arena *arena;
    const struct book *book;
    const struct facts *facts;
    struct error *error;
    size_t words;                   /* of one depends set */
    uint64_t *depends;              /* [rows * words]; bit row, or rows + table */
    uint8_t *state;                 /* 0 unseen, 1 in progress, 2 known */
    const struct expr **bound;      /* [rows] the expression a fact binds, parsed */
    struct bound_cell **cells;      /* [rows] those of its entries */
    const struct fact **fact;       /* [rows] */
    bool entries_given;             /* some fact is of one entry: "cache_elements[moe]" */
    struct nodes set;
    struct memo *memos;
    size_t memo_size, memo_count;
    int roots, depth, reads;
    int *path;                      /* rows being built, to name a cycle */
    size_t path_count, path_room;
};

/* ---- dependence ------------------------------------------------------------------------ */

static uint64_t *depends_of(struct builder *builder, int row)
{
    return builder->depends + (size_t)row * builder->words;
}

static int table_bit(const struct builder *builder, const char *table)
{
    for (size_t i = 0; i < builder->book->chapter_count; i++)
        if (builder->book->chapters[i].table && !strcmp(builder->book->chapters[i].table, table))
            return (int)(builder->book->count + i);
    return -1;
}

static void bit_set(uint64_t *set, int bit)
{
    set[bit / 64] |= (uint64_t)1 << bit % 64;
}

static bool bit_get(const uint64_t *set, int bit)
{
    return set[bit / 64] >> bit % 64 & 1;
}

static bool too_deep(struct builder *builder)
{
    error_set(builder->error, "rows nest too deep: more than %d steps down", DEEPEST);
    return error_hint(builder->error, "fewer rows on top of each other");
}

static bool depends_row(struct builder *builder, int row);
static bool depends_kids(struct builder *builder, const struct expr *expr, uint64_t *set);

static bool depends_expr(struct builder *builder, const struct expr *expr, uint64_t *set)
{
    if (builder->depth == DEEPEST)
        return too_deep(builder);
    builder->depth++;
    bool known = depends_kids(builder, expr, set);
    builder->depth--;
    return known;
}

static bool depends_kids(struct builder *builder, const struct expr *expr, uint64_t *set)
{
    if (expr->row >= 0) {
        if (!depends_row(builder, expr->row))
            return false;
        const uint64_t *more = depends_of(builder, expr->row);
        for (size_t i = 0; i < builder->words; i++)
            set[i] |= more[i];
    }
    for (int i = 0; i < 3; i++)
        if (expr->kid[i] && !depends_expr(builder, expr->kid[i], set))
            return false;
    for (const struct binding *at = expr->at; at; at = at->next)
        if (!depends_expr(builder, at->value, set))
            return false;
    return true;
}

static bool cycle(struct builder *builder, int row)
{
    struct buffer path = { .arena = builder->arena };
    size_t i = builder->path_count;
    while (i > 0 && builder->path[i - 1] != row)
        i--;
    for (i -= i > 0; i < builder->path_count; i++)
        buffer_print(&path, "%s <- ", builder->book->rows[builder->path[i]]->name);
    error_set(builder->error, "a row depends on itself: %s%s", path.data,
              builder->book->rows[row]->name);
    return error_hint(builder->error, "give one of them a number");
}

static bool depends_row(struct builder *builder, int row)
{
    if (builder->state[row] == 2)
        return true;
    if (builder->state[row] == 1)
        return cycle(builder, row);
    builder->state[row] = 1;
    *(int *)arena_push(builder->arena, &builder->path, &builder->path_count,
                       &builder->path_room, sizeof row) = row;
    const struct row *the = builder->book->rows[row];
    uint64_t *set = depends_of(builder, row);
    bit_set(set, row);
    if (the->table)
        bit_set(set, table_bit(builder, the->table));
    const struct fact *fact = builder->fact[row];
    const struct expr *expr = fact ? builder->bound[row] : the->expr;
    bool known = !expr || depends_expr(builder, expr, set);
    for (const struct bound_cell *cell = builder->cells[row]; cell && known; cell = cell->next)
        known = depends_expr(builder, cell->expr, set);
    builder->path_count--;
    builder->state[row] = 2;
    return known;
}

/* ---- rows and inputs ------------------------------------------------------------------------ */

static bool build_expr(struct builder *builder, const struct expr *expr,
                       const struct frame *frame, int *node);

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

static int input_of(struct builder *builder, int row, int entry, const char *entry_name,
                    const struct fact *fact)
{
    const struct row *the = builder->book->rows[row];
    struct input input = { .row = row, .entry = entry, .name = the->name, .value = the->value,
                           .low = the->value, .high = the->value,
                           .least = the->expr ? -DBL_MAX : the->low,
                           .most = the->expr ? DBL_MAX : the->high };
    if (entry >= 0)
        input.name = entry_label(builder->arena, the->name, entry_name);
    if (fact) {
        input.value = fact->value;
        input.low = fact->low;
        input.high = fact->high;
        input.spread = fact->spread;
        input.source = fact->source ? fact->source : "given";
    }
    return nodes_input(&builder->set, input);
}

static const struct fact *cell_find(const struct frame *frame, const char *column)
{
    const struct fact_table *table = frame->table;
    for (size_t j = 0; table && j < table->columns; j++)
        if (!strcmp(table->column[j], column)) {
            const struct fact *cell = &table->cell[(size_t)frame->entry * table->columns + j];
            return cell->name ? cell : NULL;
        }
    return NULL;
}

/* A fact given for one entry, "cache_elements[moe]", goes before the table's. */
static const struct fact *entry_fact(struct builder *builder, const struct frame *frame,
                                     const char *row)
{
    const char *entry = frame->table ? frame->table->entry[frame->entry] : "default";
    for (size_t i = 0; builder->entries_given && i < builder->facts->scalar_count; i++) {
        const char *name = builder->facts->scalars[i].name;
        size_t size = strlen(row);
        if (!strncmp(name, row, size) && name[size] == '[' &&
            !strncmp(name + size + 1, entry, strlen(entry)) &&
            !strcmp(name + size + 1 + strlen(entry), "]"))
            return &builder->facts->scalars[i];
    }
    return cell_find(frame, row);
}

static bool parse_bound(struct builder *builder, const struct fact *fact,
                        const struct expr **expr)
{
    return expr_parse(builder->book, fact->source ? fact->source : fact->name, 0,
                      text_of(fact->expression), expr, builder->error);
}

static const struct expr *cell_expr(const struct builder *builder, int row, const struct fact *cell)
{
    const struct bound_cell *bound = builder->cells[row];
    while (strcmp(bound->text, cell->expression))
        bound = bound->next;
    return bound->expr;
}

/* A row of a table's chapter: `entry` says which entry, `frame` all that changed. */
static bool build_cell(struct builder *builder, int row, const struct frame *entry,
                       const struct frame *frame, int *node)
{
    const struct row *the = builder->book->rows[row];
    const struct fact *cell = entry_fact(builder, entry, the->name);
    const struct expr *expr = the->expr;
    if (cell && cell->expression) {
        expr = cell_expr(builder, row, cell);
    } else if (cell || !expr) {
        *node = input_of(builder, row, entry->entry,
                         entry->table ? entry->table->entry[entry->entry] : "default", cell);
        return true;
    }
    return build_expr(builder, expr, frame, node);
}

static const struct frame *frame_of_table(const struct frame *frame, const char *table)
{
    while (frame && (frame->row >= 0 || strcmp(frame->table_name, table)))
        frame = frame->up;
    return frame;
}

static bool build_fresh(struct builder *builder, int row, const struct frame *frame, int *node)
{
    const struct row *the = builder->book->rows[row];
    const struct fact *fact = builder->fact[row];
    if (the->table && !fact) {
        const struct frame *entry = frame_of_table(frame, the->table);
        if (entry)
            return build_cell(builder, row, entry, frame, node);
        error_set(builder->error, "'%s' has one value per %s", the->name, the->table);
        return error_hint(builder->error, "%s[entry], or SUM(%s, %s)", the->name, the->table,
                          the->name);
    }
    if (fact && !fact->expression) {
        *node = input_of(builder, row, -1, NULL, fact);
        return true;
    }
    if (!fact && !the->expr) {
        *node = input_of(builder, row, -1, NULL, NULL);
        return true;
    }
    return build_expr(builder, fact ? builder->bound[row] : the->expr, frame, node);
}

/* ---- the memory of (row, frames that matter) -> node -------------------------------------- */

static size_t memo_key(struct builder *builder, int row, const struct frame *frame, int *key,
                       size_t room)
{
    const uint64_t *set = depends_of(builder, row);
    size_t size = 0;
    for (; frame && size + 2 <= room; frame = frame->up) {
        int bit = frame->row >= 0 ? frame->row : frame->table_bit;
        if (!bit_get(set, bit))
            continue;
        bool hidden = false;                        /* by a frame further in */
        for (size_t i = 0; i < size; i += 2)
            hidden |= key[i] == bit;
        if (hidden)
            continue;
        key[size++] = bit;
        key[size++] = frame->row >= 0 ? frame->node : frame->entry;
    }
    return frame ? SIZE_MAX : size;
}

static struct memo *memo_place(struct builder *builder, int row, const int *key, size_t size)
{
    uint64_t hash = (uint64_t)row * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint64_t)key[i]) * 1099511628211u ^ hash >> 31;
    size_t at = hash & (builder->memo_size - 1);
    for (;; at = (at + 1) & (builder->memo_size - 1)) {
        struct memo *memo = &builder->memos[at];
        bool equal = memo->row == row && memo->key_size == size &&
                     (!size || !memcmp(memo->key, key, size * sizeof *key));
        if (memo->node < 0 || equal)
            return memo;
    }
}

static void memo_grow(struct builder *builder)
{
    struct memo *old = builder->memos;
    size_t old_size = builder->memo_size;
    builder->memo_size = old_size ? 2 * old_size : 1024;
    builder->memos = arena_array(builder->arena, builder->memo_size, sizeof *builder->memos);
    for (size_t i = 0; i < builder->memo_size; i++)
        builder->memos[i].node = -1;
    for (size_t i = 0; i < old_size; i++)
        if (old[i].node >= 0)
            *memo_place(builder, old[i].row, old[i].key, old[i].key_size) = old[i];
}

static bool build_row(struct builder *builder, int row, const struct frame *frame, int *node)
{
    for (const struct frame *at = frame; at; at = at->up)
        if (at->row == row) {                       /* bound by AT or ROOT */
            *node = at->node;
            return true;
        }
    if (!depends_row(builder, row))
        return false;
    int key[64];
    size_t size = memo_key(builder, row, frame, key, sizeof key / sizeof *key);
    if (size == SIZE_MAX) {
        error_set(builder->error, "'%s' is read under too many changes",
                  builder->book->rows[row]->name);
        return error_hint(builder->error, "fewer AT, SUM and ROOT inside each other");
    }
    struct memo *memo = memo_place(builder, row, key, size);
    if (memo->node >= 0) {
        *node = memo->node;
        return true;
    }
    if (!build_fresh(builder, row, frame, node))
        return false;
    if (builder->set.nodes[*node].row < 0)
        builder->set.nodes[*node].row = row;
    if (2 * ++builder->memo_count >= builder->memo_size)
        memo_grow(builder);
    int *kept = arena_array(builder->arena, size + 1, sizeof *kept);
    memcpy(kept, key, size * sizeof *key);
    *memo_place(builder, row, key, size) = (struct memo){ row, *node, size, kept };
    return true;
}

/* ---- expressions ------------------------------------------------------------------------------ */

static struct frame entry_frame(struct builder *builder, const char *table,
                                const struct frame *up, int entry)
{
    return (struct frame){ .up = up, .row = -1, .table = facts_table_find(builder->facts, table),
                           .table_name = table, .table_bit = table_bit(builder, table),
                           .entry = entry };
}

static bool build_over(struct builder *builder, const struct expr *expr,
                       const struct frame *frame, int *node)
{
    const struct fact_table *table = facts_table_find(builder->facts, expr->name);
    size_t entries = table ? table->entries : 1;
    enum op op = expr->op == OP_SUM ? OP_ADD : expr->op == OP_LEAST ? OP_MIN : OP_MAX;
    *node = expr->op == OP_SUM ? nodes_number(&builder->set, 0) : -1;
    for (size_t i = 0; i < entries; i++) {
        struct frame inner = entry_frame(builder, expr->name, frame, (int)i);
        int one;
        if (!build_expr(builder, expr->kid[0], &inner, &one))
            return false;
        *node = *node < 0 ? one : nodes_add(&builder->set, node_of(op, *node, one, -1));
    }
    if (*node < 0)
        return error_set(builder->error, "the table '%s' has no entries", expr->name);
    return true;
}

static bool build_entry(struct builder *builder, const struct expr *expr,
                        const struct frame *frame, int *node)
{
    const char *name = builder->book->rows[expr->row]->table;
    const struct fact_table *table = facts_table_find(builder->facts, name);
    size_t entries = table ? table->entries : 1, i = 0;
    while (i < entries && strcmp(table ? table->entry[i] : "default", expr->name))
        i++;
    if (i < entries) {
        struct frame inner = entry_frame(builder, name, frame, (int)i);
        return build_row(builder, expr->row, &inner, node);
    }
    struct buffer all = { .arena = builder->arena };
    for (i = 0; i < entries && all.size < 300; i++)
        buffer_print(&all, "%s%s", i ? ", " : "", table ? table->entry[i] : "default");
    error_set(builder->error, "the table '%s' has no entry '%.100s'", name, expr->name);
    return error_hint(builder->error, "one of: %s", all.data ? all.data : "(none)");
}

static bool build_at(struct builder *builder, const struct expr *expr,
                     const struct frame *frame, int *node)
{
    struct frame inner[16];
    size_t count = 0;
    const struct frame *up = frame;
    for (const struct binding *at = expr->at; at; at = at->next, count++) {
        if (count == sizeof inner / sizeof *inner)
            return error_set(builder->error, "AT changes more than 16 rows");
        inner[count] = (struct frame){ .up = up, .row = at->row };
        if (!build_expr(builder, at->value, frame, &inner[count].node))
            return false;
        up = &inner[count];
    }
    return build_expr(builder, expr->kid[0], up, node);
}

static bool build_root(struct builder *builder, const struct expr *expr,
                       const struct frame *frame, int *node)
{
    int low, high, f;
    if (builder->roots == ROOTS)
        return error_set(builder->error, "more than %d ROOTs in one answer", ROOTS);
    struct node var = node_of(OP_VAR, -1, -1, -1);
    var.value = builder->roots++;
    if (!build_expr(builder, expr->kid[0], frame, &low) ||
        !build_expr(builder, expr->kid[1], frame, &high))
        return false;
    var.a = low;
    var.b = high;
    int first = nodes_add(&builder->set, var);
    builder->set.nodes[first].row = expr->row;
    struct frame inner = { .up = frame, .row = expr->row, .node = first };
    if (!build_expr(builder, expr->kid[2], &inner, &f))
        return false;
    struct node root = node_of(OP_ROOT, low, high, f);
    root.first = first;
    *node = nodes_add(&builder->set, root);
    return true;
}

static bool build_kind(struct builder *builder, const struct expr *expr,
                       const struct frame *frame, int *node);

static bool build_expr(struct builder *builder, const struct expr *expr,
                       const struct frame *frame, int *node)
{
    if (builder->depth == DEEPEST)
        return too_deep(builder);
    if (++builder->reads > MOST_READS || builder->set.too_tall) {
        error_set(builder->error, "the rows unfold to more than %d steps",
                  builder->set.too_tall ? NODES_TALLEST : MOST_READS);
        return error_hint(builder->error, "fewer AT, SUM and ROOT inside each other");
    }
    builder->depth++;
    bool built = build_kind(builder, expr, frame, node);
    builder->depth--;
    return built;
}

static bool build_kind(struct builder *builder, const struct expr *expr,
                       const struct frame *frame, int *node)
{
    switch (expr->op) {
    case OP_NUMBER: *node = nodes_number(&builder->set, expr->number); return true;
    case OP_ROW:    return build_row(builder, expr->row, frame, node);
    case OP_ENTRY:  return build_entry(builder, expr, frame, node);
    case OP_AT:     return build_at(builder, expr, frame, node);
    case OP_ROOT:   return build_root(builder, expr, frame, node);
    case OP_SUM: case OP_LEAST: case OP_MOST:
        return build_over(builder, expr, frame, node);
    default: break;
    }
    int kid[3] = { -1, -1, -1 };
    for (int i = 0; i < 3 && expr->kid[i]; i++)
        if (!build_expr(builder, expr->kid[i], frame, &kid[i]))
            return false;
    *node = nodes_add(&builder->set, node_of(expr->op, kid[0], kid[1], kid[2]));
    return true;
}

/* The row that "name" or "name[entry]" speaks of, or -1. */
static int row_of_fact(const struct builder *builder, const char *name)
{
    size_t size = strcspn(name, "[");
    if (!name[size])
        return book_find(builder->book, name);
    return book_find(builder->book, arena_copy(builder->arena, name, size));
}

static bool bind_cell(struct builder *builder, const struct fact *cell)
{
    int row = cell->name && cell->expression ? row_of_fact(builder, cell->name) : -1;
    if (row < 0)
        return true;
    for (const struct bound_cell *known = builder->cells[row]; known; known = known->next)
        if (!strcmp(known->text, cell->expression))
            return true;
    struct bound_cell *bound = arena_alloc(builder->arena, sizeof *bound);
    *bound = (struct bound_cell){ .text = cell->expression, .next = builder->cells[row] };
    if (!parse_bound(builder, cell, &bound->expr))
        return false;
    builder->cells[row] = bound;
    return true;
}

static bool bind_cells(struct builder *builder)
{
    for (size_t t = 0; t < builder->facts->table_count; t++) {
        const struct fact_table *table = &builder->facts->tables[t];
        for (size_t i = 0; i < table->entries * table->columns; i++)
            if (!bind_cell(builder, &table->cell[i]))
                return false;
    }
    return true;
}

static bool prepare(struct builder *builder)
{
    size_t rows = builder->book->count;
    builder->words = (rows + builder->book->chapter_count) / 64 + 1;
    builder->depends = arena_array(builder->arena, rows * builder->words, sizeof(uint64_t));
    builder->state = arena_alloc(builder->arena, rows + 1);
    builder->bound = arena_array(builder->arena, rows + 1, sizeof *builder->bound);
    builder->fact = arena_array(builder->arena, rows + 1, sizeof *builder->fact);
    builder->cells = arena_array(builder->arena, rows + 1, sizeof *builder->cells);
    memo_grow(builder);
    for (size_t i = 0; i < builder->facts->scalar_count; i++) {
        const struct fact *fact = &builder->facts->scalars[i];
        if (strchr(fact->name, '[')) {
            builder->entries_given = true;
            if (!bind_cell(builder, fact))
                return false;
            continue;
        }
        int row = book_find(builder->book, fact->name);
        if (row < 0)
            continue;                               /* a fact no formula uses */
        builder->fact[row] = fact;
        if (fact->expression && !parse_bound(builder, fact, &builder->bound[row]))
            return false;
    }
    return bind_cells(builder);
}

bool list_build(struct arena *arena, const struct book *book, const struct facts *facts,
                const struct expr *const *wanted, size_t count, struct list *list,
                struct error *error)
{
    struct builder builder = { .arena = arena, .set.arena = arena, .book = book, .facts = facts, .error = error };
    if (!prepare(&builder))
        return false;
    int *nodes = arena_array(arena, count + 1, sizeof *nodes);
    for (size_t i = 0; i < count; i++) {
        builder.depth = 0;
        if (!build_expr(&builder, wanted[i], NULL, &nodes[i]))
            return false;
    }
    nodes_finish(&builder.set, nodes, count, list);
    return true;
}

int list_input(const struct list *list, const char *name)
{
    for (size_t i = 0; i < list->input_count; i++)
        if (!strcmp(list->inputs[i].name, name))
            return (int)i;
    return -1;
}
